//! One iteration of RCE beside what it cannot do without: one symmetric eigendecomposition and three
//! matrix products of the same size, 2000 distinct objects.
//!
//! `cargo bench -p consilience --bench rce` prints the times and their ratios; a number after `--`
//! takes as many objects.

#![allow(clippy::print_stdout, missing_docs)]

use std::sync::{Arc, Mutex};
use std::time::Instant;

use consilience::Matrix;
use consilience::consensus::{Settings, combine, method};
use consilience::ensemble::{Ensemble, HardMember, Profiles};
use consilience::{Observer, Rng, Run, Stream};
use consilience_core::linalg::{eigen, product_into};

/// Objects, unless said.
const N: usize = 2000;
const ITERATIONS: usize = 4;

/// 20 members of 20 clusters, each with two fifths of its labels drawn at random.
fn ensemble(n: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let member = |h: usize| {
        let label = |i: usize| if rng.unit() < 0.4 { rng.below(20) } else { i % 20 };
        let labels: Vec<_> = (0..n).map(label).map(|c| Some(c as i64)).collect();
        HardMember::from_integers(h.to_string(), labels).into()
    };
    Ensemble::new((0..20).map(member).collect()).expect("members of one length")
}

/// Notes when each iteration begins.
#[derive(Default)]
struct Clock(Mutex<Vec<Instant>>);

impl Observer for Clock {
    fn progress(&self, stage: &'static str, _: u64, _: Option<u64>) {
        if stage == "learning the consensus matrix" {
            self.0.lock().expect("nobody panics while noting").push(Instant::now());
        }
    }

    fn warn(&self, _: &str) {}
}

/// The fastest of the iterations but the last, whose end is not told.
fn iteration(profiles: &Profiles) -> f64 {
    let clock = Arc::new(Clock::default());
    let run = Run::new(0).threads(2).observer(clock.clone());
    let settings = Settings::from_iter([
        ("max_iter", &ITERATIONS.to_string()[..]),
        // None of them is the last because little changes.
        ("tol", "1e-12"),
    ]);
    let rce = method("rce").and_then(|info| info.with(Some(20), &settings)).expect("valid");
    combine(profiles, rce.as_ref(), None, &run).expect("an answer");
    let begun = clock.0.lock().expect("nobody panics while noting");
    let times = begun.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
    times.fold(f64::INFINITY, f64::min)
}

/// One decomposition and three products.
fn needed(u: usize) -> (f64, f64) {
    let run = Run::new(0).threads(2);
    let mut rng = Rng::new(2, Stream::Data);
    let half = Matrix::from_vec(u, u, (0..u * u).map(|_| rng.unit()).collect());
    let symmetric = Matrix::from_fn(u, u, |i, j| half[(i.min(j), i.max(j))]);
    let mut out = Matrix::zeros(u, u);
    let copy = symmetric.clone();
    run.install(|| {
        let start = Instant::now();
        let found = eigen(copy, <[f64]>::len, &run).expect("it converges");
        let decomposing = start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..3 {
            product_into(&mut out, found.vectors.as_faer(), symmetric.as_faer());
        }
        (decomposing, start.elapsed().as_secs_f64())
    })
}

fn main() {
    if std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    let n = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(N);
    let profiles = Profiles::new(&ensemble(n), &Run::new(0)).expect("profiles");
    let u = profiles.len();
    // By turns, and the best of each: the machine may be busy with other work. More objects take
    // minutes a turn.
    let turns = if n > N { 1 } else { 3 };
    let (mut decomposing, mut multiplying, mut iterating) = (f64::MAX, f64::MAX, f64::MAX);
    for _ in 0..turns {
        let (one, three) = needed(u);
        (decomposing, multiplying) = (decomposing.min(one), multiplying.min(three));
        iterating = iterating.min(iteration(&profiles));
    }
    println!(
        "u = {u}: eigendecomposition {decomposing:.3} s, three products {multiplying:.3} s, one \
         iteration {iterating:.3} s: {:.2} times both, {:.2} times the decomposition",
        iterating / (decomposing + multiplying),
        iterating / decomposing
    );
}
