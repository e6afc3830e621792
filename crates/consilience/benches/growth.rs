//! How the time of methods that claim to be linear grows from 10⁴ to 10⁵ objects: 20 members of 5 to
//! 20 clusters, 10 clusters sought. Ten times the objects have nearly ten times the profiles.
//!
//! `cargo bench -p consilience --bench growth` prints times and ratios; names of methods after `--`
//! choose among them.

#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use consilience::consensus::{ChoosesK, Settings, combine, method};
use consilience::ensemble::{Ensemble, HardMember, Profiles};
use consilience::{Rng, Run, Stream};

/// Methods whose time is claimed to be linear in the number of profiles.
const LINEAR: &[&str] =
    &["mcla", "hbgf", "lwgp", "ecpcs-mc", "qmi", "mmec", "bce", "nmfc", "kc", "relabel-vote"];

/// The most that ten times the objects may cost.
const MOST: f64 = 12.0;

/// `n` points of a mixture of 10 round clusters in five dimensions, labelled by 20 members: each
/// gives a point to the nearest of 5 to 20 points drawn from the same mixture.
fn ensemble(n: usize) -> Ensemble {
    const D: usize = 5;
    let mut rng = Rng::new(1, Stream::Data);
    let centres: Vec<f64> = (0..10 * D).map(|_| 4.0 * rng.unit()).collect();
    let draw = |rng: &mut Rng| -> [f64; D] {
        let centre = rng.below(10);
        std::array::from_fn(|j| centres[centre * D + j] + 0.5 * rng.normal())
    };
    let seeds: Vec<Vec<[f64; D]>> =
        (0..20).map(|_| (0..rng.between(5, 20)).map(|_| draw(&mut rng)).collect()).collect();
    let points: Vec<[f64; D]> = (0..n).map(|_| draw(&mut rng)).collect();
    let members = seeds.iter().enumerate().map(|(h, seeds)| {
        let label = |x: &[f64; D]| {
            let distance = |seed: &[f64; D]| -> f64 {
                x.iter().zip(seed).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            let nearest =
                |a: &usize, b: &usize| distance(&seeds[*a]).total_cmp(&distance(&seeds[*b]));
            (0..seeds.len()).min_by(nearest).map(|c| c as i64)
        };
        HardMember::from_integers(h.to_string(), points.iter().map(label).collect::<Vec<_>>())
            .into()
    });
    Ensemble::new(members.collect()).expect("members of one length")
}

/// The least of three times.
fn seconds<T>(work: impl Fn() -> T) -> f64 {
    let once = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    let asked: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|arg| !arg.starts_with("--")).collect();
    let run = Run::new(0);
    let small = Profiles::new(&ensemble(10_000), &run).expect("profiles");
    let large = Profiles::new(&ensemble(100_000), &run).expect("profiles");
    println!("u = {} and {}, {} clusters in all", small.len(), large.len(), large.n_clusters());
    for name in LINEAR.iter().filter(|name| asked.is_empty() || asked.contains(name)) {
        let info = method(name).expect("a method of ours");
        let k = if info.chooses_k == ChoosesK::Always { None } else { Some(10) };
        let method = info.with(k, &Settings::default()).expect("defaults are right");
        let time = |profiles: &Profiles| {
            seconds(|| combine(profiles, method.as_ref(), None, &run).expect("an answer"))
        };
        let (few, many) = (time(&small), time(&large));
        let verdict = if many <= MOST * few { "" } else { "  ABOVE 12" };
        println!("{name:>12}: {few:.3} s, {many:.3} s, x{:.1}{verdict}", many / few);
    }
}
