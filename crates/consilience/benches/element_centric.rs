//! Element-centric similarity of all pairs of 100 clusterings of 10^5 objects and the consistency of every object,
//! from the overlaps of all clusters, beside the formula written down: for every pair a table counted object by object,
//! then the share of every object. Both on one thread.
//!
//! `cargo bench -p consilience --bench element_centric` prints the times and their ratio; a number after `--`
//! takes as many objects.

#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use consilience::ensemble::{Ensemble, HardMember, Member, Profiles};
use consilience::metrics::ElementCentric;
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

/// The labels of a member, one number per object.
fn plain(member: &Member) -> Vec<u32> {
    let Member::Hard(member) = member else { panic!("members are hard") };
    member.labels().iter().map(|label| label.expect("none is missing") as u32).collect()
}

/// The similarity of two clusterings; that of every object is added to `all`.
fn pair(a: &[u32], b: &[u32], all: &mut [f64]) -> f64 {
    let count = |labels: &[u32]| labels.iter().max().map_or(0, |&most| most as usize + 1);
    let (rows, columns) = (count(a), count(b));
    let (mut table, mut of_a, mut of_b) =
        (vec![0_u32; rows * columns], vec![0_u32; rows], vec![0_u32; columns]);
    for (&a, &b) in a.iter().zip(b) {
        table[a as usize * columns + b as usize] += 1;
        of_a[a as usize] += 1;
        of_b[b as usize] += 1;
    }
    let mut sum = 0.0;
    for ((&a, &b), own) in a.iter().zip(b).zip(&mut *all) {
        let (a, b) = (a as usize, b as usize);
        let share = f64::from(table[a * columns + b]) / f64::from(of_a[a].max(of_b[b]));
        sum += share;
        *own += share;
    }
    sum / all.len() as f64
}

fn main() {
    // `cargo bench` passes `--bench`.
    let n = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(N);
    let ensemble = ensemble(n);
    let run = Run::new(0).threads(1);
    let begin = Instant::now();
    let profiles = Profiles::new(&ensemble, &run).expect("profiles");
    let together = run.install(|| ElementCentric::of(&profiles));
    let ours = begin.elapsed().as_secs_f64();
    let labels: Vec<Vec<u32>> = ensemble.members().iter().map(plain).collect();
    let begin = Instant::now();
    let mut consistency = vec![0.0; n];
    let mut furthest = 0.0_f64;
    for p in 0..R {
        for q in 0..p {
            let mean = pair(&labels[p], &labels[q], &mut consistency);
            furthest = furthest.max((mean - together.similarity[(p, q)]).abs());
        }
    }
    let pairwise = begin.elapsed().as_secs_f64();
    let pairs = (R * (R - 1) / 2) as f64;
    for (sum, &s) in consistency.iter().zip(profiles.map()) {
        let ours = together.consistency[s as usize].expect("every member labels it");
        furthest = furthest.max((sum / pairs - ours).abs());
    }
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
