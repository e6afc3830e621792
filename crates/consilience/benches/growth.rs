//! How the time of the methods grows from 10⁴ to 10⁵ objects: 20 members of 5 to 20 clusters, k = 10.
//!
//! `cargo bench -p consilience --bench growth` prints both times and their ratio for every method
//! whose cost is linear in the number of objects; names after `--` pick others. Ten times the
//! objects should take at most twelve times as long.

#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use consilience::consensus::{ChoosesK, METHODS, MethodInfo, Settings, combine, prepare};
use consilience::ensemble::{Ensemble, HardMember};
use consilience::{Rng, Run, Stream};

/// The methods that claim linear time, as far as they are there.
const LINEAR: [&str; 8] = ["mcla", "hbgf", "qmi", "mmec", "bce", "relabel-vote", "nmfc", "kc"];

/// `n` objects in ten groups; every member merges and splits the groups in its own way and errs on
/// a tenth of the objects.
fn ensemble(n: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let groups: Vec<usize> = (0..n).map(|_| rng.below(10)).collect();
    let members = (0..20).map(|h| {
        let k = rng.between(5, 20);
        let name: Vec<[usize; 2]> = (0..10).map(|_| [rng.below(k), rng.below(k)]).collect();
        let label = |rng: &mut Rng, group: usize| {
            if rng.unit() < 0.1 { rng.below(k) } else { name[group][usize::from(rng.unit() < 0.3)] }
        };
        let labels: Vec<Option<i64>> =
            groups.iter().map(|&group| Some(label(&mut rng, group) as i64)).collect();
        HardMember::from_integers(h.to_string(), labels).into()
    });
    Ensemble::new(members.collect()).expect("members of one length")
}

/// Seconds that the method takes, front door included, and the number of profiles.
fn seconds(info: &'static MethodInfo, ensemble: &Ensemble, run: &Run) -> (f64, usize, usize) {
    let profiles = prepare(ensemble, info, run).expect("profiles");
    let k = if info.chooses_k == ChoosesK::Always { None } else { Some(10) };
    let method = info.with(k, &Settings::default()).expect("defaults are right");
    let start = Instant::now();
    let consensus = combine(&profiles, method.as_ref(), None, run).expect("an answer");
    (start.elapsed().as_secs_f64(), profiles.len(), consensus.convergence.iterations)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    let asked: Vec<&str> =
        args.iter().map(String::as_str).filter(|arg| !arg.starts_with("--")).collect();
    let asked = if asked.is_empty() { LINEAR.to_vec() } else { asked };
    let run = Run::new(0).threads(2);
    let (small, large) = (ensemble(10_000), ensemble(100_000));
    for info in METHODS.iter().filter(|info| asked.contains(&info.name)) {
        let (of_small, u_small, steps_small) = seconds(info, &small, &run);
        let (of_large, u_large, steps_large) = seconds(info, &large, &run);
        println!(
            "{}: {of_small:.3} s (u = {u_small}, {steps_small} iterations), {of_large:.3} s \
             (u = {u_large}, {steps_large} iterations), ratio {:.1}",
            info.name,
            of_large / of_small
        );
    }
}
