//! Merging equal label tuples: the time of [`Profiles::new`] beside the straightforward version,
//! the ratio of the two, and the memory it takes beyond the ensemble.
//!
//! `cargo bench -p consilience --bench profiles` measures up to 10⁷ objects by 20 members and
//! prints the ratios and the memory first; `-- NAME` restricts the criterion measurements.

#![allow(clippy::print_stdout, missing_docs)]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use consilience::ensemble::{Canonical, Ensemble, HardMember, Labels, Member, Profiles};
use consilience::{Rng, Run, Stream};
use criterion::{BenchmarkId, Criterion};

const MEMBERS: usize = 20;
const DISTINCT: usize = 200_000;

/// `n` objects that show `distinct` label tuples in random order, or each its own; members have 4
/// to 42 clusters.
fn ensemble(n: usize, distinct: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let shown = (0..n).map(|i| if distinct == n { i } else { rng.below(distinct) });
    let shown: Vec<usize> = shown.collect();
    let members = (0..MEMBERS).map(|h| {
        let labels: Vec<i64> = (0..distinct).map(|_| rng.below(4 + 2 * h) as i64).collect();
        HardMember::from_integers(h.to_string(), shown.iter().map(|&s| Some(labels[s]))).into()
    });
    Ensemble::new(members.collect()).expect("members of one length")
}

/// The straightforward version: a map from tuples, an allocated key for each object.
fn by_hash_map(columns: &[&[u8]]) -> (Vec<u32>, Vec<f64>) {
    let mut seen: HashMap<Vec<u8>, u32> = HashMap::new();
    let mut weights = Vec::new();
    let map = (0..columns[0].len())
        .map(|i| {
            let tuple = columns.iter().map(|column| column[i]).collect();
            let s = *seen.entry(tuple).or_insert_with(|| {
                weights.push(0.0);
                weights.len() as u32 - 1
            });
            weights[s as usize] += 1.0;
            s
        })
        .collect();
    (map, weights)
}

fn columns(ensemble: &Ensemble) -> Vec<&[u8]> {
    fn codes(member: &Member) -> &[u8] {
        let Member::Hard(member) = member else { unreachable!("all members are hard") };
        let Labels::U8(codes) = member.labels() else { unreachable!("fewer than 256 clusters") };
        codes
    }
    ensemble.members().iter().map(codes).collect()
}

fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed().as_secs_f64())
}

/// The process's resident memory and its peak since [`reset_peak`], in bytes (Linux).
fn memory(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

fn reset_peak() {
    // Where the kernel has no such file the peak stays that of the whole run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn summary(n: usize, distinct: usize) {
    let ensemble = ensemble(n, distinct);
    let (one, two) = (Run::new(0).threads(1), Run::new(0).threads(2));
    reset_peak();
    let before = memory("VmRSS:");
    let profiles = Profiles::new(&ensemble, &two).expect("profiles");
    let peak = memory("VmHWM:");
    // By turns, and the best of each.
    let (mut with_one, mut with_two) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let again = |run: &Run| seconds(|| Profiles::new(&ensemble, run).expect("profiles")).1;
        with_one = with_one.min(again(&one));
        with_two = with_two.min(again(&two));
    }
    let (_, canonical) = seconds(|| two.install(|| Canonical::new(&profiles)));
    let ((map, weights), simple) = seconds(|| by_hash_map(&columns(&ensemble)));
    assert_eq!(profiles.map(), map);
    assert_eq!(profiles.weights(), weights);
    println!(
        "n = {n}, u = {}: {with_one:.3} s with 1 thread, {with_two:.3} s with 2, {:.2} times as fast; \
         canonical order {canonical:.3} s; hash map {simple:.3} s, {:.1} and {:.1} times as long",
        profiles.len(),
        with_one / with_two,
        simple / with_one,
        simple / with_two,
    );
    if let (Some(before), Some(peak)) = (before, peak) {
        let bytes = peak.saturating_sub(before) as f64 / n as f64;
        println!("    peak memory beyond the ensemble: {bytes:.1} bytes an object");
    }
}

fn main() {
    let listing = std::env::args().any(|arg| arg == "--list" || arg == "--test");
    if !listing {
        for n in [1_000_000, 10_000_000] {
            summary(n, DISTINCT);
            summary(n, n);
        }
    }
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("profiles");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    for n in [1_000_000, 10_000_000] {
        let ensemble = ensemble(n, DISTINCT);
        let columns = columns(&ensemble);
        for threads in [1, 2] {
            let run = Run::new(0).threads(threads);
            group.bench_function(BenchmarkId::new(format!("merge, {threads} threads"), n), |b| {
                b.iter(|| Profiles::new(black_box(&ensemble), &run));
            });
        }
        group.bench_function(BenchmarkId::new("hash map", n), |b| {
            b.iter(|| by_hash_map(black_box(&columns)));
        });
    }
    group.finish();
    criterion.final_summary();
}
