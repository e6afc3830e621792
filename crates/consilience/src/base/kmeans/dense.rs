//! The rows of a table, read and packed once for many fits.
//!
//! Rows meet all centres in a [blocked product](crate::base::panels), panel by panel. A panel is
//! skipped when all its rows are.

use rayon::prelude::*;

use crate::base::distance::{inertia, squared_distance};
use crate::base::exact_sum::{ClusterSums, Quanta};
use crate::base::kmeans::points::{Lot, Move, Points};
use crate::base::panels::{Frame, PANEL, PackedCentres, Search};
use crate::base::stats::Stats;
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// The most panels of one unit of parallel work, and the most bytes: what several fits read one
/// after the other is to stay in the cache of a core.
const PANELS: usize = 32;
const BYTES: usize = 1 << 18;

/// A table and its panels.
pub(crate) struct Dense<'a, T> {
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

impl<'a, T: Float> Dense<'a, T> {
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
        Ok(Dense { data, weights, quanta, frame, panels, norms, variance })
    }
}

impl<'a, T: Float> Points for Dense<'a, T> {
    type Rows = Table<'a, T>;
    type Packed<'c> = PackedCentres<'c>;

    fn rows(&self) -> &Table<'a, T> {
        &self.data
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights
    }

    fn lot(&self) -> usize {
        let panel = size_of::<f32>() * PANEL * self.data.ncols();
        PANEL * (BYTES / panel).clamp(1, PANELS)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.panels[..])
    }

    fn unit(&self) -> f64 {
        self.frame.scale()
    }

    fn variance(&self) -> f64 {
        self.variance
    }

    fn pack<'c>(&self, centres: &'c Matrix) -> PackedCentres<'c> {
        PackedCentres::new(centres, &self.frame)
    }

    fn search(&self, centres: &PackedCentres<'_>, lot: &mut Lot<'_>) -> Vec<Move> {
        let (d, start, travelled) = (self.data.ncols(), lot.first, lot.travelled);
        let mut search = Search::new(centres);
        let mut moves = Vec::new();
        let each = lot.labels.chunks_mut(PANEL).zip(lot.until.chunks_mut(PANEL));
        for (p, (labels, until)) in each.enumerate() {
            let mut seen = labels.iter().zip(until.iter());
            if seen.all(|(&label, &until)| Lot::stays(travelled, label, until)) {
                continue;
            }
            let first = start + p * PANEL;
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
        moves
    }

    #[inline(always)]
    fn add(&self, i: usize, to: usize, sums: &mut ClusterSums) {
        sums.add(to, self.data.row(i), self.weight(i), &self.quanta);
    }

    #[inline(always)]
    fn shift(&self, i: usize, from: usize, to: usize, sums: &mut ClusterSums) {
        sums.shift(from, to, self.data.row(i), self.weight(i), &self.quanta);
    }

    fn distance(&self, i: usize, centre: &[f64]) -> f64 {
        squared_distance(self.data.row(i), centre)
    }

    fn inertia(&self, centres: &Matrix, labels: &[u32]) -> f64 {
        inertia(&self.data, self.weights, centres, labels)
    }
}
