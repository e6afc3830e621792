//! Lloyd's iteration from given centres, with everything skipped that cannot change.
//!
//! * A row that was found nearer to its centre than to any other by a margin $m$ needs no new
//!   search until the centres have moved that far: its own centre away, another one closer. This is
//!   Hamerly's bound (SDM 2010), kept as one number per row. With $\delta_j$ the length of centre
//!   $j$'s move in an iteration, let $C_a$ be the sum of $\delta_a + \max_{j \ne a} \delta_j$ over
//!   all iterations so far. A row with label $a$ stays while $C_a$ grew by less than $m$ since the
//!   row's last search: one comparison, nothing to update.
//! * [Sums of rows](crate::base::exact_sum) are exact, so that only rows that change their cluster
//!   are added and subtracted.
//! * Several fits to the same rows go side by side: a lot of rows is searched for all of them while
//!   it is in the cache. A fit that ends makes room for the next.
//!
//! None of this changes a bit of the result: labels and centres are those of the plain iteration,
//! one fit after the other.

use rayon::prelude::*;

use crate::base::distance::squared_distance;
use crate::base::exact_sum::ClusterSums;
use crate::base::kmeans::KMeansFit;
use crate::base::kmeans::points::{Lot, Move, NONE, Points};
use crate::base::start::Rows as _;
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};
use crate::run::{Run, Stop};

/// When a fit ends.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_iter: usize,
    pub(super) tol: f64,
}

/// Fits that go side by side at most. More would gain little: what they share is then no longer
/// what takes the time.
const WIDTH: usize = 8;

/// One fit on its way.
struct Going {
    /// Which of the fits it is.
    index: usize,
    labels: Vec<u32>,
    /// How large $C_a$ may grow before the row must be searched for again.
    until: Vec<f64>,
    /// $C_a$ for every label.
    travelled: Vec<f64>,
    sums: ClusterSums,
    iterations: usize,
    /// The squared move of all centres together, in the last iteration.
    moved: f64,
}

impl Going {
    fn new(index: usize, n: usize, centres: &Matrix) -> Self {
        let k = centres.nrows();
        Going {
            index,
            labels: vec![NONE; n],
            until: vec![f64::NEG_INFINITY; n],
            travelled: vec![0.0; k],
            sums: ClusterSums::zeros(k, centres.ncols()),
            iterations: 0,
            moved: f64::INFINITY,
        }
    }

    /// Whether the last search, which changed a label or not, ends the fit.
    fn end(&self, changed: bool, limits: Limits, variance: f64) -> Option<Stop> {
        let settled = !changed || (limits.tol > 0.0 && self.moved <= limits.tol * variance);
        if self.iterations > 0 && settled {
            Some(Stop::Converged)
        } else if self.iterations == limits.max_iter {
            Some(Stop::MaxIterations)
        } else {
            None
        }
    }
}

/// Iterates from `centres`.
pub(super) fn fit<P: Points>(
    points: &P,
    centres: Matrix,
    limits: Limits,
    run: &Run,
) -> Result<KMeansFit> {
    let mut fits = fit_all(points, vec![centres], limits, run, |_, fit| Ok::<_, Error>(fit))?;
    Ok(fits.pop().expect("one start, one fit"))
}

/// Iterates from each of `starts`, and hands every fit to `finish` as soon as it is done; what that
/// makes of them comes back in the order of the starts.
pub(super) fn fit_all<P: Points, T: Send, E: Send + From<Error>>(
    points: &P,
    starts: Vec<Matrix>,
    limits: Limits,
    run: &Run,
    finish: impl Fn(usize, KMeansFit) -> std::result::Result<T, E> + Sync,
) -> std::result::Result<Vec<T>, E> {
    let n = points.rows().nrows();
    let each = (n * (size_of::<u32>() + size_of::<f64>())) as u64;
    let width = (run.memory_ceiling() / 8 / each.max(1)).clamp(1, WIDTH as u64) as usize;
    let mut made: Vec<Option<T>> = starts.iter().map(|_| None).collect();
    let mut waiting = starts.into_iter().enumerate();
    let (mut going, mut centres) = (Vec::new(), Vec::new());
    loop {
        for (index, start) in waiting.by_ref().take(width - going.len()) {
            going.push(Going::new(index, n, &start));
            centres.push(start);
        }
        if going.is_empty() {
            break;
        }
        let changed = assign(points, &centres, &mut going, run)?;
        let step = |((mut fit, mut centres), changed): ((Going, Matrix), bool)| {
            let Some(stop) = fit.end(changed, limits, points.variance()) else {
                fit.step(points, &mut centres);
                return Ok(Step::On(Box::new((fit, centres))));
            };
            let Going { index, labels, iterations, .. } = fit;
            let inertia = points.inertia(&centres, &labels);
            let fit = KMeansFit { centres, labels, inertia, iterations, stop };
            finish(index, fit).map(|made| Step::Done(index, made))
        };
        let each = going.into_par_iter().zip(centres).zip(changed);
        let steps: Vec<Step<T>> = each.map(step).collect::<std::result::Result<_, E>>()?;
        (going, centres) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::On(on) => {
                    let (fit, at) = *on;
                    going.push(fit);
                    centres.push(at);
                }
                Step::Done(index, it) => made[index] = Some(it),
            }
        }
    }
    Ok(made.into_iter().map(|made| made.expect("every fit ends")).collect())
}

enum Step<T> {
    On(Box<(Going, Matrix)>),
    Done(usize, T),
}

/// Labels every row with its nearest centre, in all fits, and brings the sums up to date; says for
/// each whether a label changed.
fn assign<P: Points>(
    points: &P,
    centres: &[Matrix],
    going: &mut [Going],
    run: &Run,
) -> Result<Vec<bool>> {
    let packed: Vec<P::Packed<'_>> = centres.par_iter().map(|c| points.pack(c)).collect();
    let size = points.lot();
    let count = points.rows().nrows().div_ceil(size);
    let mut lots: Vec<Vec<Lot<'_>>> = Vec::new();
    lots.resize_with(count, || Vec::with_capacity(packed.len()));
    for fit in going.iter_mut() {
        let (labels, until) = (fit.labels.chunks_mut(size), fit.until.chunks_mut(size));
        for (at, (labels, until)) in labels.zip(until).enumerate() {
            lots[at].push(Lot { first: at * size, labels, until, travelled: &fit.travelled });
        }
    }
    let search = |mut lots: Vec<Lot<'_>>| {
        run.check()?;
        let each = lots.iter_mut().zip(&packed);
        Ok(each.map(|(lot, centres)| points.search(centres, lot)).collect())
    };
    let moves: Vec<Vec<Vec<Move>>> = lots.into_par_iter().map(search).collect::<Result<_>>()?;
    let update = |(m, fit): (usize, &mut Going)| {
        let moves: Vec<Move> = moves.iter().flat_map(|of_lot| &of_lot[m]).copied().collect();
        apply(points, &moves, &mut fit.sums);
        !moves.is_empty()
    };
    Ok(going.par_iter_mut().enumerate().map(update).collect())
}

/// Brings the sums up to date.
fn apply<P: Points>(points: &P, moves: &[Move], sums: &mut ClusterSums) {
    let part_of = |moves: &[Move], sums: &mut ClusterSums| {
        vectorised(
            #[inline(always)]
            || {
                for m in moves {
                    if m.from == NONE {
                        points.add(m.row, m.to as usize, sums);
                    } else {
                        points.shift(m.row, m.from as usize, m.to as usize, sums);
                    }
                }
            },
        );
    };
    // Each part has sums of its own, which pays only if it has many more rows than clusters.
    let part = (8 * sums.k()).max(256);
    if moves.len() <= part {
        part_of(moves, sums);
        return;
    }
    let of_part = |moves: &[Move]| {
        let mut own = ClusterSums::zeros(sums.k(), points.rows().ncols());
        part_of(moves, &mut own);
        own
    };
    let parts: Vec<ClusterSums> = moves.par_chunks(part).map(of_part).collect();
    parts.iter().for_each(|own| sums.merge(own));
}

impl Going {
    /// Moves the centres to the means of their rows.
    fn step<P: Points>(&mut self, points: &P, centres: &mut Matrix) {
        self.iterations += 1;
        self.repair(points, centres);
        let before = centres.clone();
        self.sums.means_into(centres);
        let moves: Vec<f64> = before
            .iter_rows()
            .zip(centres.iter_rows())
            .map(|(a, b)| squared_distance(a, b))
            .collect();
        self.travel(&moves, points.unit());
        self.moved = moves.iter().sum();
    }

    /// Adds to every $C_a$ how far its centre and any other moved, by their squared moves.
    fn travel(&mut self, moves: &[f64], unit: f64) {
        // Rounded up, for it is a bound.
        let lengths: Vec<f64> = moves.iter().map(|m| m.sqrt() * unit * (1.0 + 1e-9)).collect();
        let most = |skip: usize| {
            let others = lengths.iter().enumerate().filter(|(j, _)| *j != skip);
            others.fold((0.0, usize::MAX), |a, (j, &l)| if l > a.0 { (l, j) } else { a })
        };
        let (first, at) = most(usize::MAX);
        let (second, _) = most(at);
        for (a, travelled) in self.travelled.iter_mut().enumerate() {
            let other = if a == at { second } else { first };
            *travelled = (*travelled + lengths[a] + other) * (1.0 + 1e-12);
        }
    }

    /// Gives every empty cluster the row farthest from its centre, the first of equals, together
    /// with all rows of the same content: a weight must do what repeated rows do. Clusters whose
    /// rows are all alike give none away.
    fn repair<P: Points>(&mut self, points: &P, centres: &Matrix) {
        let k = centres.nrows();
        let Going { labels, until, sums, .. } = self;
        for empty in 0..k {
            if sums.n_rows(empty) > 0 {
                continue;
            }
            let mixed = mixed_clusters(points, k, labels);
            let mut farthest = (0.0, None);
            for (i, &label) in labels.iter().enumerate() {
                if mixed[label as usize] {
                    let distance = points.distance(i, centres.row(label as usize));
                    if distance > farthest.0 {
                        farthest = (distance, Some(i));
                    }
                }
            }
            // No cluster is mixed: there are fewer distinct rows than clusters.
            let Some(chosen) = farthest.1 else { return };
            let from = labels[chosen];
            for i in 0..labels.len() {
                if labels[i] == from && points.rows().same(i, chosen) {
                    points.shift(i, from as usize, empty, sums);
                    labels[i] = empty as u32;
                    until[i] = f64::NEG_INFINITY;
                }
            }
        }
    }
}

/// Which clusters have rows of different content.
fn mixed_clusters<P: Points>(points: &P, k: usize, labels: &[u32]) -> Vec<bool> {
    let mut first = vec![None; k];
    let mut mixed = vec![false; k];
    for (i, &label) in labels.iter().enumerate() {
        let first = *first[label as usize].get_or_insert(i);
        mixed[label as usize] |= !points.rows().same(first, i);
    }
    mixed
}
