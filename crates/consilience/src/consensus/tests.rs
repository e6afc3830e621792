//! Costs grow as documented: terms, not seconds, counted while the profiles grow fourfold.
//!
//! What is counted is what methods add up over labels ([`tally`](crate::ensemble::tally)) and over
//! pairs of groups in linkage. Algebra with dense matrices is not, nor is k-means on embedded rows: of
//! the methods made of these it is checked that they read labels no more often than they say.

use super::{ChoosesK, METHODS, MethodInfo, Settings, combine, method};
use crate::ensemble::{Ensemble, HardMember, Profiles, tallied};
use crate::rng::{Rng, Stream};
use crate::run::Run;

const MEMBERS: usize = 20;
const CLUSTERS: usize = 5;

/// `n` objects in five clusters; each of many members labels a seventh of them at random, so that most
/// objects are profiles of their own, and yet any number of them has the same clusters, for those
/// methods that look for their number.
fn noisy(n: usize) -> Profiles {
    let mut rng = Rng::new(1, Stream::Data);
    let member = |h: usize| {
        let label = |i: usize| {
            let own = if rng.unit() < 0.15 { rng.below(CLUSTERS) } else { i % CLUSTERS };
            Some(own as i64)
        };
        HardMember::from_integers(h.to_string(), (0..n).map(label).collect::<Vec<_>>()).into()
    };
    let ensemble = Ensemble::new((0..MEMBERS).map(member).collect()).expect("of one length");
    Profiles::new(&ensemble, &Run::new(0).threads(1)).expect("profiles")
}

/// The terms that a method adds up. How many iterations it takes is no matter of its cost, so they
/// are few, wherever their number can be set.
fn terms(info: &MethodInfo, profiles: &Profiles) -> u64 {
    let few = [("max_iter", "3"), ("restarts", "2"), ("init", "random")];
    let known = |name: &str| info.parameters.iter().any(|parameter| parameter.name == name);
    let settings: Settings = few.into_iter().filter(|(name, _)| known(name)).collect();
    let k = (info.chooses_k != ChoosesK::Always).then_some(CLUSTERS);
    let method = info.with(k, &settings).expect("right settings");
    let run = Run::new(0).threads(1);
    // The caller's thread, and the one that the run has.
    tallied();
    run.install(tallied);
    combine(profiles, method.as_ref(), None, &run).expect("an answer");
    tallied() + run.install(tallied)
}

/// The power of the number of profiles in a documented time: of u, and of v, which is about as many,
/// in the largest term of the first O(...), which is that of the default settings.
fn power(time: &str) -> u32 {
    let from = time.find("O(").expect("a time has an O") + 2;
    let mut depth = 1;
    let inside = time[from..].chars().take_while(|c| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth > 0
    });
    let of_term = |term: &str| -> u32 {
        let factors = term.split(|c: char| !c.is_alphanumeric() && c != '^');
        let of = |factor: &str| match factor.split_once('^').unwrap_or((factor, "1")) {
            ("u" | "v", power) => power.parse().expect("a whole power"),
            _ => 0,
        };
        factors.map(of).sum()
    };
    // A logarithm is no power.
    let inside = inside.collect::<String>().replace("log u", "").replace("log v", "");
    inside.split('+').map(of_term).max().expect("there is a term")
}

/// Whether so many terms for `u` profiles, and so many for more, fit the documented time, but for a
/// half: logarithms, and rounds that fewer profiles get by without. A power too many would be a factor
/// of about four.
fn fits(time: &str, small: (usize, u64), large: (usize, u64)) -> bool {
    let growth = (large.0 as f64 / small.0 as f64).powi(power(time) as i32);
    large.1 as f64 <= 1.5 * growth * small.1 as f64
}

/// Sizes at which a method of this power takes moments.
fn sizes(power: u32) -> [usize; 2] {
    if power == 1 { [1000, 4000] } else { [150, 600] }
}

#[test]
fn costs_grow_as_documented() {
    let of = |power: u32| sizes(power).map(noisy);
    let (linear, others) = (of(1), of(2));
    let mut misfits = Vec::new();
    // What works on a network grows with its edges, of which these ensembles have none.
    for info in METHODS.iter().filter(|info| !info.edges) {
        let profiles = if power(info.time) == 1 { &linear } else { &others };
        let [small, large] = [&profiles[0], &profiles[1]].map(|p| (p.len(), terms(info, p)));
        let reads_all = small.1 >= (small.0 * MEMBERS) as u64;
        if !reads_all || !fits(info.time, small, large) {
            let (name, time) = (info.name, info.time);
            misfits.push(format!("{name}, {time}: (u, terms) are {small:?} and {large:?}"));
        }
    }
    assert!(misfits.is_empty(), "{}", misfits.join("\n"));
}

/// Comparing all pairs is found out if it is said to be linear.
#[test]
fn a_false_documentation_is_found_out() {
    for name in ["ea-al", "ea-sl", "voting"] {
        let info = method(name).expect("a method of ours");
        let [small, large] = sizes(2).map(noisy).map(|p| (p.len(), terms(info, &p)));
        assert!(!fits("O(u r)", small, large), "{name}: {small:?} {large:?}");
    }
}

#[test]
fn powers_are_read_off() {
    for (time, expected) in [
        ("O(t u r k) a restart", 1),
        ("O(t (u^3 + u^2 r))", 3),
        ("O(u) for full support of complete labels, else O(u^2 r)", 1),
        ("O(v u r) and the cut, v <= u + 100 k", 2),
        ("O(v r log v log k), v <= u + 100 k", 1),
        ("O(u^2 r), 64 pairs at once", 2),
        ("O(u r^2 + t u (r k + k^2))", 1),
    ] {
        assert_eq!(power(time), expected, "{time}");
    }
}
