//! Element-centric similarity of all pairs of 100 clusterings of 10^5 objects, from the overlaps of all
//! clusters, beside a table of objects for every pair.
//!
//! `cargo bench -p consilience --bench element_centric` prints the times and their ratio; a number after `--`
//! takes as many objects.

#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use consilience::ensemble::{Contingency, Ensemble, HardMember, Profiles};
use consilience::metrics::{ElementCentric, element_similarity};
use consilience::{Rng, Run, Stream};

/// Objects, unless said, and members.
const N: usize = 100_000;
const R: usize = 100;

/// Members of 10 to 50 intervals of a line that the objects are drawn on, each cut somewhere else, as many
/// resolutions of one structure are; a tenth of the objects lie anywhere.
fn ensemble(n: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let places: Vec<f64> = (0..n)
        .map(|_| if rng.unit() < 0.1 { rng.unit() } else { (rng.below(200) as f64 + 0.5) / 200.0 })
        .collect();
    let member = |h: usize| {
        let mut cuts: Vec<f64> = (0..9 + rng.below(41)).map(|_| rng.unit()).collect();
        cuts.sort_by(f64::total_cmp);
        let label = |x: &f64| Some(cuts.partition_point(|cut| cut < x) as i64);
        HardMember::from_integers(h.to_string(), places.iter().map(label)).into()
    };
    Ensemble::new((0..R).map(member).collect()).expect("members of one length")
}

fn main() {
    // `cargo bench` passes `--bench`.
    let n = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(N);
    let ensemble = ensemble(n);
    let run = Run::new(0);
    let begin = Instant::now();
    let profiles = Profiles::new(&ensemble, &run).expect("profiles");
    let together = run.install(|| ElementCentric::of(&profiles));
    let ours = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let members = ensemble.members();
    let mut furthest = 0.0_f64;
    for p in 0..R {
        for q in 0..p {
            let table = Contingency::new(&members[p], &members[q], None).expect("one length");
            let apart = element_similarity(&table) - together.similarity[(p, q)];
            furthest = furthest.max(apart.abs());
        }
    }
    let pairwise = begin.elapsed().as_secs_f64();
    assert!(furthest < 1e-9, "{furthest}");
    println!(
        "{n} x {R} labels, {} distinct, {} clusters: all pairs, consistency of every object and inconsistency \
         {:.4} from overlaps in {ours:.2} s; the pairs one by one in {pairwise:.2} s, {:.1} times as long",
        profiles.len(),
        profiles.n_clusters(),
        together.inconsistency(),
        pairwise / ours
    );
}
