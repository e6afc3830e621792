//! Lloyd's iteration from given centres, with everything skipped that cannot change.
//!
//! * Rows meet all centres in a [blocked product](crate::base::panels), panel by panel.
//! * A row that was found nearer to its centre than to any other by a margin $m$ needs no new
//!   search until the centres have moved that far: its own centre away, another one closer. This is
//!   Hamerly's bound (SDM 2010), kept as one number a row. With $\delta_j$ the length of centre
//!   $j$'s move in an iteration, let $C_a$ be the sum of $\delta_a + \max_{j \ne a} \delta_j$ over
//!   all iterations so far. A row with label $a$ stays while $C_a$ grew by less than $m$ since the
//!   row's last search: one comparison, nothing to update. A panel is skipped when all its rows are.
//! * [Sums of rows](crate::base::exact_sum) are exact, so that only rows that change their cluster
//!   are added and subtracted.
//!
//! None of this changes a bit of the result: labels and centres are those of the plain iteration.

use rayon::prelude::*;

use crate::base::distance::{inertia, squared_distance};
use crate::base::exact_sum::{ClusterSums, Quanta};
use crate::base::kmeans::KMeansFit;
use crate::base::panels::{Frame, PANEL, PackedCentres, Search};
use crate::base::stats::Stats;
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::run::{Run, Stop};

/// Panels of one unit of parallel work.
const PANELS: usize = 32;

/// The label of a row before its first search.
const NONE: u32 = u32::MAX;

/// What all fits to one table share.
pub(super) struct Problem<'a, T> {
    data: Table<'a, T>,
    weights: Option<&'a [f64]>,
    quanta: Quanta,
    frame: Frame,
    /// The rows in panels, the last filled up with zeros.
    panels: Vec<f32>,
    /// Upper bounds on the norms of the rows in the panels.
    norms: Vec<f32>,
    /// The weighted variance of each column, averaged over the columns.
    variance: f64,
}

/// A row that changed its cluster.
#[derive(Clone, Copy)]
struct Move {
    row: usize,
    from: u32,
    to: u32,
}

/// The state of one fit.
struct State {
    labels: Vec<u32>,
    /// How large $C_a$ may grow before the row must be searched for again.
    until: Vec<f64>,
    /// $C_a$ for every label.
    travelled: Vec<f64>,
    sums: ClusterSums,
}

impl<'a, T: Float> Problem<'a, T> {
    /// Reads and packs the table.
    pub(super) fn new(data: Table<'a, T>, weights: Option<&'a [f64]>, run: &Run) -> Result<Self> {
        let (n, d) = (data.nrows(), data.ncols());
        let count = n.div_ceil(PANEL);
        let bytes = count * PANEL * (size_of::<f32>() * (d + 1));
        let hint = "cluster a sample of the rows, or fewer columns";
        run.ask_memory(&format!("k-means on {n} rows and {d} columns"), bytes as u64, hint)?;
        let stats = Stats::new(&data, weights, run)?;
        let frame = Frame::new(stats.mean(), stats.largest());
        let mut panels = vec![0.0; count * PANEL * d];
        let mut norms = vec![0.0; count * PANEL];
        let pack = |(chunk, (panels, norms)): (usize, (&mut [f32], &mut [f32]))| {
            run.check()?;
            let mut squares = 0.0;
            let each = panels.chunks_exact_mut(PANEL * d).zip(norms.chunks_exact_mut(PANEL));
            for (p, (panel, norms)) in each.enumerate() {
                let first = (chunk * PANELS + p) * PANEL;
                let mut row = first;
                let rows = (first..n.min(first + PANEL)).map(|i| data.row(i));
                frame.pack(rows, panel, norms, |square| {
                    squares += weights.map_or(1.0, |w| w[row]) * square;
                    row += 1;
                });
            }
            Ok(squares)
        };
        let chunks = panels.par_chunks_mut(PANELS * PANEL * d);
        let chunks = chunks.zip(norms.par_chunks_mut(PANELS * PANEL)).enumerate();
        let squares: Vec<f64> = chunks.map(pack).collect::<Result<_>>()?;
        let squares = squares.iter().sum::<f64>() / frame.scale() / frame.scale();
        let variance = squares / stats.weight() / d as f64;
        let quanta = Quanta::new(&stats, n);
        Ok(Problem { data, weights, quanta, frame, panels, norms, variance })
    }

    /// The table.
    pub(super) fn data(&self) -> &Table<'a, T> {
        &self.data
    }

    /// The weights of the rows, if any.
    pub(super) fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Iterates from `centres`.
    pub(super) fn fit(
        &self,
        mut centres: Matrix,
        max_iter: usize,
        tol: f64,
        run: &Run,
    ) -> Result<KMeansFit> {
        let (n, k) = (self.data.nrows(), centres.nrows());
        let tolerance = tol * self.variance;
        let mut state = State {
            labels: vec![NONE; n],
            until: vec![f64::NEG_INFINITY; n],
            travelled: vec![0.0; k],
            sums: ClusterSums::zeros(k, self.data.ncols()),
        };
        self.assign(&centres, &mut state, run)?;
        let (mut iterations, mut stop) = (0, Stop::MaxIterations);
        while iterations < max_iter {
            iterations += 1;
            self.repair(&mut state, &centres);
            let before = centres.clone();
            state.sums.means_into(&mut centres);
            let moves: Vec<f64> = before
                .iter_rows()
                .zip(centres.iter_rows())
                .map(|(a, b)| squared_distance(a, b))
                .collect();
            self.travel(&mut state.travelled, &moves);
            let changed = self.assign(&centres, &mut state, run)?;
            let moved: f64 = moves.iter().sum();
            if !changed || (tol > 0.0 && moved <= tolerance) {
                stop = Stop::Converged;
                break;
            }
        }
        let inertia = inertia(&self.data, self.weights, &centres, &state.labels);
        Ok(KMeansFit { centres, labels: state.labels, inertia, iterations, stop })
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// Adds to every $C_a$ how far its centre and any other moved, by their squared moves.
    fn travel(&self, travelled: &mut [f64], moves: &[f64]) {
        // Rounded up, for it is a bound.
        let lengths: Vec<f64> =
            moves.iter().map(|m| m.sqrt() * self.frame.scale() * (1.0 + 1e-9)).collect();
        let most = |skip: usize| {
            let others = lengths.iter().enumerate().filter(|(j, _)| *j != skip);
            others.fold((0.0, usize::MAX), |a, (j, &l)| if l > a.0 { (l, j) } else { a })
        };
        let (first, at) = most(usize::MAX);
        let (second, _) = most(at);
        for (a, travelled) in travelled.iter_mut().enumerate() {
            let other = if a == at { second } else { first };
            *travelled = (*travelled + lengths[a] + other) * (1.0 + 1e-12);
        }
    }

    /// Labels every row with its nearest centre and brings the sums up to date; says whether a
    /// label changed.
    fn assign(&self, centres: &Matrix, state: &mut State, run: &Run) -> Result<bool> {
        let packed = PackedCentres::new(centres, &self.frame);
        let (d, travelled) = (self.data.ncols(), &state.travelled);
        let of_chunk = |(chunk, (labels, until)): (usize, (&mut [u32], &mut [f64]))| {
            run.check()?;
            let mut search = Search::new(&packed);
            let mut moves = Vec::new();
            let each = labels.chunks_mut(PANEL).zip(until.chunks_mut(PANEL));
            for (p, (labels, until)) in each.enumerate() {
                let mut seen = labels.iter().zip(until.iter());
                if seen.all(|(&a, &until)| a != NONE && travelled[a as usize] < until) {
                    continue;
                }
                let first = (chunk * PANELS + p) * PANEL;
                let panel = &self.panels[first * d..(first + PANEL) * d];
                let norms = &self.norms[first..first + PANEL];
                let row = |l: usize| self.data.row(first + l);
                search.panel(panel, norms, labels.len(), row, |l, to, margin| {
                    until[l] = travelled[to as usize] + f64::from(margin);
                    let from = std::mem::replace(&mut labels[l], to);
                    if from != to {
                        moves.push(Move { row: first + l, from, to });
                    }
                });
            }
            Ok(moves)
        };
        let chunks = state.labels.par_chunks_mut(PANELS * PANEL);
        let chunks = chunks.zip(state.until.par_chunks_mut(PANELS * PANEL)).enumerate();
        let moves: Vec<Vec<Move>> = chunks.map(of_chunk).collect::<Result<_>>()?;
        let moves: Vec<Move> = moves.into_iter().flatten().collect();
        self.apply(&moves, &mut state.sums);
        Ok(!moves.is_empty())
    }

    /// Brings the sums up to date.
    fn apply(&self, moves: &[Move], sums: &mut ClusterSums) {
        let part_of = |moves: &[Move], sums: &mut ClusterSums| {
            vectorised(
                #[inline(always)]
                || {
                    for m in moves {
                        let (row, weight) = (self.data.row(m.row), self.weight(m.row));
                        if m.from == NONE {
                            sums.add(m.to as usize, row, weight, &self.quanta);
                        } else {
                            sums.shift(m.from as usize, m.to as usize, row, weight, &self.quanta);
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
            let mut own = ClusterSums::zeros(sums.k(), self.data.ncols());
            part_of(moves, &mut own);
            own
        };
        let parts: Vec<ClusterSums> = moves.par_chunks(part).map(of_part).collect();
        parts.iter().for_each(|own| sums.merge(own));
    }

    /// Gives every empty cluster the row farthest from its centre, the first of equals, together
    /// with all rows of the same content: a weight must do what repeated rows do. Clusters whose
    /// rows are all alike give none away.
    fn repair(&self, state: &mut State, centres: &Matrix) {
        let k = centres.nrows();
        let State { labels, until, sums, .. } = state;
        for empty in 0..k {
            if sums.n_rows(empty) > 0 {
                continue;
            }
            let mixed = self.mixed_clusters(k, labels);
            let mut farthest = (0.0, None);
            for (i, &label) in labels.iter().enumerate() {
                if mixed[label as usize] {
                    let distance = squared_distance(self.data.row(i), centres.row(label as usize));
                    if distance > farthest.0 {
                        farthest = (distance, Some(i));
                    }
                }
            }
            // No cluster is mixed: there are fewer distinct rows than clusters.
            let Some(chosen) = farthest.1 else { return };
            let (row, from) = (self.data.row(chosen), labels[chosen]);
            for i in 0..labels.len() {
                if labels[i] == from && self.data.row(i) == row {
                    sums.shift(from as usize, empty, row, self.weight(i), &self.quanta);
                    labels[i] = empty as u32;
                    until[i] = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// Which clusters have rows of different content.
    fn mixed_clusters(&self, k: usize, labels: &[u32]) -> Vec<bool> {
        let mut first = vec![None; k];
        let mut mixed = vec![false; k];
        for (i, &label) in labels.iter().enumerate() {
            let first = *first[label as usize].get_or_insert(i);
            mixed[label as usize] |= self.data.row(first) != self.data.row(i);
        }
        mixed
    }
}
