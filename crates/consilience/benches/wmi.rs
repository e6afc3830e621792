//! h-MI beside the building of the profiles it runs on: 10⁶ objects, 20 members of 5 to 20 clusters.
//!
//! `cargo bench -p consilience --bench wmi` prints the times and their ratio.

#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use consilience::consensus::{Settings, combine, method};
use consilience::ensemble::{Canonical, Ensemble, HardMember, Profiles};
use consilience::{Rng, Run, Stream};

/// `n` points of a mixture of `k` round clusters in `d` dimensions, labelled by `r` members: each
/// gives a point to the nearest of 5 to 20 points drawn from the same mixture.
fn ensemble(n: usize, d: usize, k: usize, r: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let centres: Vec<f64> = (0..k * d).map(|_| 4.0 * rng.unit()).collect();
    let draw = |rng: &mut Rng| {
        let centre = rng.below(k);
        (0..d).map(|j| centres[centre * d + j] + 0.5 * rng.normal()).collect::<Vec<f64>>()
    };
    let points: Vec<f64> = (0..n).flat_map(|_| draw(&mut rng)).collect();
    let members = (0..r).map(|h| {
        let seeds: Vec<Vec<f64>> = (0..rng.between(5, 20)).map(|_| draw(&mut rng)).collect();
        let labels = points.chunks_exact(d).map(|x| {
            let distance =
                |seed: &[f64]| x.iter().zip(seed).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            let nearest =
                |a: &usize, b: &usize| distance(&seeds[*a]).total_cmp(&distance(&seeds[*b]));
            (0..seeds.len()).min_by(nearest).map(|c| c as i64)
        });
        HardMember::from_integers(h.to_string(), labels.collect::<Vec<_>>()).into()
    });
    Ensemble::new(members.collect()).expect("members of one length")
}

fn seconds<T>(work: impl Fn() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = work();
    let mut best = start.elapsed().as_secs_f64();
    for _ in 0..2 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (value, best)
}

fn main() {
    if std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    let run = Run::new(0).threads(2);
    for d in [2, 3] {
        let ensemble = ensemble(1_000_000, d, 10, 20);
        let (profiles, building) = seconds(|| Profiles::new(&ensemble, &run).expect("profiles"));
        let (_, ordering) = seconds(|| run.install(|| Canonical::new(&profiles)));
        println!(
            "{d} dimensions, u = {}: profiles {building:.3} s, canonical order {ordering:.3} s",
            profiles.len()
        );
        for name in ["h-mi", "w-mi"] {
            let info = method(name).expect("a method of ours");
            let method = info.with(Some(10), &Settings::default()).expect("defaults are right");
            let fit = || run.install(|| method.fit(&profiles, None, &run)).expect("an answer");
            let (consensus, fitting) = seconds(fit);
            let (_, all) = seconds(|| combine(&profiles, method.as_ref(), None, &run));
            println!(
                "    {name}: {fitting:.3} s in {} passes, {:.1} times the building; with order and \
                 confidence {all:.3} s, {:.1} times",
                consensus.convergence.iterations,
                fitting / building,
                all / building
            );
        }
    }
}
