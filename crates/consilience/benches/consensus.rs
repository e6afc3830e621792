//! Consensus methods at size: each beside the building of the profiles it works on.
//!
//! `cargo bench -p consilience --bench consensus` takes 10⁶ objects and 20 members of 5 to 20
//! clusters, and prints for every method the time of `fit` and of the whole `combine` as multiples
//! of the time of `Profiles::new` in the same run, by the clock and in time of processors, and the
//! peak memory. Before that it prints what the machine can do at best: how fast memory is copied, and
//! how many numbers a product of matrices multiplies and adds in a second; and for the profiles how
//! long their labels would take to be read at that speed. `-- NAME...` restricts it to the methods
//! named, a number takes as many objects, and `PARAMETER=VALUE` sets what all of them know:
//! `-- 10000000 mmec bce tol=1e-5`.
//!
//! Three ensembles: points of a mixture in two and in three dimensions, each member giving a point
//! to the nearest of a few others (u = 4,300 and 31,000); and cells of a planted partition that
//! each member labels alike, but for one object in ten (u = 76,000). Their names are `mixture-2`,
//! `mixture-3` and `planted`, and restrict it to those that are named.

#![allow(clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use consilience::Matrix;
use consilience::consensus::{ChoosesK, Settings, combine, method};
use consilience::ensemble::{Ensemble, HardMember, Profiles};
use consilience::{Rng, Run, Stream};
use consilience_core::linalg::product_into;
use rayon::prelude::*;

/// Objects, unless said.
const OBJECTS: usize = 1_000_000;
const MEMBERS: usize = 20;
/// The clusters there are, and the clusters asked for.
const CLUSTERS: usize = 10;
/// Seconds.
const LONG: f64 = 3.0;
const METHODS: [&str; 3] = ["sa", "scec", "h-mi"];
/// The ensembles, by name.
const ENSEMBLES: &[(&str, fn(usize) -> Ensemble)] =
    &[("mixture-2", |n| mixture(n, 2)), ("mixture-3", |n| mixture(n, 3)), ("planted", planted)];

/// `n` points of a mixture of round clusters in `d` dimensions: each member gives a point to the
/// nearest of 5 to 20 points drawn from the same mixture.
fn mixture(n: usize, d: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let centres: Vec<f64> = (0..CLUSTERS * d).map(|_| 4.0 * rng.unit()).collect();
    let draw = |rng: &mut Rng| {
        let centre = rng.below(CLUSTERS);
        (0..d).map(|j| centres[centre * d + j] + 0.5 * rng.normal()).collect::<Vec<f64>>()
    };
    let points: Vec<f64> = (0..n).flat_map(|_| draw(&mut rng)).collect();
    let members = (0..MEMBERS).map(|h| {
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

/// `n` objects in planted clusters, seen by members that merge or split them. Objects come in cells
/// that each member labels alike, mostly right; one object in ten has labels of its own in a few
/// members, which makes a profile of it.
fn planted(n: usize) -> Ensemble {
    const CELLS: usize = 500;
    let mut rng = Rng::new(1, Stream::Data);
    let cells: Vec<usize> = (0..n).map(|_| rng.below(CELLS)).collect();
    let strayed: Vec<u32> =
        (0..n).map(|_| if rng.below(10) == 0 { rng.bits() as u32 } else { 0 }).collect();
    let members = (0..MEMBERS).map(|h| {
        let k_h = 5 + (15 * h) / (MEMBERS - 1);
        let of_cell: Vec<usize> = (0..CELLS)
            .map(|cell| {
                let cluster = cell % CLUSTERS;
                match rng.below(20) {
                    0 => rng.below(k_h),
                    _ if k_h <= CLUSTERS => cluster * k_h / CLUSTERS,
                    // The clusters beyond the tenth take a part of one of the first ten each.
                    part if part < 10 && cluster + CLUSTERS < k_h => cluster + CLUSTERS,
                    _ => cluster,
                }
            })
            .collect();
        let label = |(&cell, &strays): (&usize, &u32)| {
            // One in eight members goes astray with an object that strays.
            if strays != 0 && (strays >> h).trailing_zeros() >= 3 {
                return Some(rng.below(k_h) as i64);
            }
            Some(of_cell[cell] as i64)
        };
        HardMember::from_integers(h.to_string(), cells.iter().zip(&strayed).map(label)).into()
    });
    Ensemble::new(members.collect()).expect("members of one length")
}

/// The shortest time of three, and the least time that all threads together were at work. What takes
/// long is measured once.
fn seconds<T>(mut work: impl FnMut() -> T) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for round in 0..3 {
        if round > 0 && best.0 > LONG {
            break;
        }
        let (start, before) = (Instant::now(), processor_time());
        black_box(work());
        best.0 = best.0.min(start.elapsed().as_secs_f64());
        best.1 = best.1.min(processor_time() - before);
    }
    best
}

/// The seconds that all threads of the process were at work (Linux; elsewhere 0). Unlike the time of
/// the clock it says something on a machine that is busy with other things too.
fn processor_time() -> f64 {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0.0 };
    let of_thread = |path: std::path::PathBuf| {
        let times = std::fs::read_to_string(path.join("schedstat")).ok()?;
        times.split_whitespace().next()?.parse::<f64>().ok()
    };
    threads.flatten().filter_map(|thread| of_thread(thread.path())).sum::<f64>() * 1e-9
}

/// What the machine can do at best, with two threads.
struct Limits {
    /// Bytes of memory read, and as many written, in a second, together.
    copied: f64,
    /// Multiplications, each with an addition, in a second.
    multiplied: f64,
}

impl Limits {
    fn of(run: &Run) -> Self {
        const NUMBERS: usize = 1 << 25;
        const ORDER: usize = 1024;
        let (from, mut to) = (vec![1.0f64; NUMBERS], vec![0.0f64; NUMBERS]);
        let copying = seconds(|| {
            run.install(|| {
                let chunks = to.par_chunks_mut(1 << 16).zip(from.par_chunks(1 << 16));
                chunks.for_each(|(to, from)| to.copy_from_slice(from));
            });
            black_box(&mut to);
        });
        let square = Matrix::from_fn(ORDER, ORDER, |i, j| ((i * 7 + j) % 13) as f64);
        let mut out = Matrix::zeros(ORDER, ORDER);
        let multiplying = seconds(|| {
            run.install(|| product_into(&mut out, square.as_faer(), square.as_faer()));
            black_box(&mut out);
        });
        Limits {
            copied: (16 * NUMBERS) as f64 / copying.0,
            multiplied: ORDER.pow(3) as f64 / multiplying.0,
        }
    }
}

/// The process's resident memory at its peak since [`reset_peak`], in MiB (Linux).
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

fn reset_peak() {
    // Where the kernel has no such file the peak stays that of the whole run.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn measure(
    title: &str,
    ensemble: &Ensemble,
    (methods, settings): (&[&str], &Settings),
    limits: &Limits,
    run: &Run,
) {
    let labels = (ensemble.n_objects() * MEMBERS) as f64 / f64::from(1 << 20);
    let build = || Profiles::new(ensemble, run).expect("profiles");
    let building = seconds(build);
    let profiles = build();
    // Labels are read, and the profile of every object is written.
    let moved = (ensemble.n_objects() * (MEMBERS + size_of::<u32>())) as f64;
    let shape = (profiles.len(), profiles.n_clusters());
    println!(
        "{title}, u = {}, K = {}: profiles {:.4} s, processors {:.4} s; at the speed of copies {:.4} s; \
         u r k additions at the speed of products {:.5} s",
        shape.0,
        shape.1,
        building.0,
        building.1,
        moved / limits.copied,
        (shape.0 * MEMBERS * CLUSTERS) as f64 / limits.multiplied,
    );
    drop(profiles);
    for &name in methods {
        let info = method(name).expect("a method of ours");
        let k = (info.chooses_k != ChoosesK::Always).then_some(CLUSTERS);
        let method = info.with(k, settings).expect("settings that it knows");
        reset_peak();
        let profiles = build();
        let consensus = combine(&profiles, method.as_ref(), None, run).expect("a consensus");
        // All that is resident: labels, profiles, the method, the answer.
        let peak = peak().unwrap_or(f64::NAN);
        let fit =
            seconds(|| run.install(|| method.solve(&profiles, None, run).expect("an answer")));
        let whole = seconds(|| combine(&profiles, method.as_ref(), None, run).expect("an answer"));
        println!(
            "    {name}: fit {:.4} s = {:.2} x profiles ({:.2} x of processors), combine {:.3} s = \
             {:.2} x ({:.2} x); {} iterations, objective {:.7e}; peak {peak:.0} MiB with the \
             labels' {labels:.0}",
            fit.0,
            fit.0 / building.0,
            fit.1 / building.1,
            whole.0,
            whole.0 / building.0,
            whole.1 / building.1,
            consensus.convergence.iterations,
            consensus.convergence.objective.unwrap_or(f64::NAN),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|arg| arg == "--list" || arg == "--test") {
        return;
    }
    let mut objects = OBJECTS;
    let (mut methods, mut ensembles, mut settings) = (Vec::new(), Vec::new(), Vec::new());
    for word in arguments.iter().map(String::as_str).filter(|arg| !arg.starts_with('-')) {
        if let Some(setting) = word.split_once('=') {
            settings.push(setting);
            continue;
        }
        match word.parse() {
            Ok(number) => objects = number,
            Err(_) if ENSEMBLES.iter().any(|(title, _)| *title == word) => ensembles.push(word),
            Err(_) => methods.push(word),
        }
    }
    let methods = if methods.is_empty() { &METHODS[..] } else { &methods };
    let settings = Settings::from_iter(settings);
    let run = Run::new(0).threads(2);
    let limits = Limits::of(&run);
    println!(
        "copies: {:.2} GB/s read and written; products: {:.2} * 10^9 multiplications a second",
        limits.copied * 1e-9,
        limits.multiplied * 1e-9
    );
    for (title, make) in ENSEMBLES {
        if ensembles.is_empty() || ensembles.contains(title) {
            measure(title, &make(objects), (methods, &settings), &limits, &run);
        }
    }
}
