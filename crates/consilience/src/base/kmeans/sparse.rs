//! The rows of a sparse table.
//!
//! With $q_j = \lVert c_j \rVert^2$, the squared distance of $x$ from $c_j$ is
//! $\lVert x \rVert^2 - 2 x \cdot c_j + q_j$, and the product takes only the entries of $x$ that are
//! not 0. What rounding can do to it is bounded; where two centres are too close to call, the row is
//! written out and their distances are those of the dense search. So the labels are the same, and
//! with them, sums being exact, the centres.

use rayon::prelude::*;

use crate::base::distance::{CHUNK, squared_distance};
use crate::base::exact_sum::{ClusterSums, Quanta};
use crate::base::kmeans::points::{Lot, Move, NONE, Points};
use crate::base::sparse_matrix::SparseMatrix;
use crate::base::start::Rows;
use crate::base::stats::Stats;
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;

/// Rows of one unit of parallel work.
const LOT: usize = 256;

/// A sparse table, its rows all of weight 1.
pub(crate) struct Sparse<'a> {
    data: &'a SparseMatrix,
    quanta: Quanta,
    /// $\lVert x_i \rVert^2$.
    squares: Vec<f64>,
    variance: f64,
}

impl<'a> Sparse<'a> {
    /// Reads the table.
    pub(super) fn new(data: &'a SparseMatrix) -> Result<Self> {
        let (n, d) = (data.nrows(), data.ncols());
        let stats = Stats::sparse(data)?;
        let square = |i: usize| data.row(i).1.iter().map(|x| x * x).sum::<f64>();
        let squares: Vec<f64> = (0..n).map(square).collect();
        let mean = stats.mean().iter().map(|m| m * m).sum::<f64>();
        let variance = (squares.iter().sum::<f64>() / n as f64 - mean).max(0.0) / d as f64;
        Ok(Sparse { data, quanta: Quanta::new(&stats, n), squares, variance })
    }
}

/// Centres, feature by feature, and their squares.
pub(crate) struct SparsePacked<'c> {
    centres: &'c Matrix,
    values: Vec<f64>,
    squares: Vec<f64>,
    /// The largest norm of a centre.
    largest: f64,
}

impl Points for Sparse<'_> {
    type Rows = SparseMatrix;
    type Packed<'c> = SparsePacked<'c>;

    fn rows(&self) -> &SparseMatrix {
        self.data
    }

    fn weights(&self) -> Option<&[f64]> {
        None
    }

    fn lot(&self) -> usize {
        LOT
    }

    fn bytes(&self) -> usize {
        (size_of::<u32>() + size_of::<f64>()) * self.data.n_entries()
    }

    fn unit(&self) -> f64 {
        1.0
    }

    fn variance(&self) -> f64 {
        self.variance
    }

    fn pack<'c>(&self, centres: &'c Matrix) -> SparsePacked<'c> {
        let (k, d) = (centres.nrows(), centres.ncols());
        let mut values = vec![0.0; k * d];
        for (j, centre) in centres.iter_rows().enumerate() {
            values.iter_mut().skip(j).step_by(k).zip(centre).for_each(|(v, c)| *v = *c);
        }
        let squares: Vec<f64> =
            centres.iter_rows().map(|c| c.iter().map(|c| c * c).sum()).collect();
        let largest = squares.iter().fold(0.0, |a: f64, &b| a.max(b)).sqrt();
        SparsePacked { centres, values, squares, largest }
    }

    fn search(&self, centres: &SparsePacked<'_>, lot: &mut Lot<'_>) -> Vec<Move> {
        let d = self.data.ncols();
        let mut distances = vec![0.0; centres.squares.len()];
        let mut written = Vec::new();
        let mut moves = Vec::new();
        for l in 0..lot.labels.len() {
            if Lot::stays(lot.travelled, lot.labels[l], lot.until[l]) {
                continue;
            }
            let i = lot.first + l;
            self.distances_from(centres, i, &mut distances);
            // Sums of d terms at most, here and in the direct distance, rounded in any order.
            let reach = self.squares[i].sqrt() + centres.largest;
            let terms = 8.0 * (d + 16) as f64;
            let error = terms * (f64::EPSILON * reach * reach + f64::MIN_POSITIVE);
            let (mut to, mut least, mut second) = (0, f64::INFINITY, f64::INFINITY);
            for (j, &distance) in distances.iter().enumerate() {
                if distance < least {
                    (to, second, least) = (j, least, distance);
                } else {
                    second = second.min(distance);
                }
            }
            let mut margin = f64::NEG_INFINITY;
            if second - least > 2.0 * error {
                // The roots are rounded, and the bounds are.
                let near = (least + error).max(0.0).sqrt() * (1.0 + 1e-12);
                let far = (second - error).max(0.0).sqrt() * (1.0 - 1e-12);
                margin = far - near;
            } else {
                written.resize(d, 0.0);
                self.data.write(i, &mut written);
                let mut best = f64::INFINITY;
                for (j, centre) in centres.centres.iter_rows().enumerate() {
                    // What is not finite is farther for sure neither.
                    let farther = distances[j] - least > 2.0 * error;
                    if !farther {
                        let distance = squared_distance(&written, centre);
                        if distance < best {
                            (to, best) = (j, distance);
                        }
                    }
                }
            }
            lot.until[l] = lot.travelled[to] + margin;
            let from = std::mem::replace(&mut lot.labels[l], to as u32);
            if from != to as u32 {
                moves.push(Move { row: i, from, to: to as u32 });
            }
        }
        moves
    }

    fn add(&self, i: usize, to: usize, sums: &mut ClusterSums) {
        sums.add_sparse(to, self.data.row(i), &self.quanta);
    }

    fn shift(&self, i: usize, from: usize, to: usize, sums: &mut ClusterSums) {
        sums.shift_sparse(from, to, self.data.row(i), &self.quanta);
    }

    fn distance(&self, i: usize, centre: &[f64]) -> f64 {
        let mut written = vec![0.0; centre.len()];
        self.data.write(i, &mut written);
        squared_distance(&written, centre)
    }

    fn inertia(&self, centres: &Matrix, labels: &[u32]) -> f64 {
        let squares: Vec<f64> =
            centres.iter_rows().map(|c| c.iter().map(|c| c * c).sum()).collect();
        let of_chunk = |(chunk, labels): (usize, &[u32])| {
            let of_row = |(i, &label): (usize, &u32)| {
                let (columns, values) = self.data.row(chunk * CHUNK + i);
                let centre = centres.row(label as usize);
                let products = columns.iter().zip(values).map(|(&j, x)| x * centre[j as usize]);
                let product: f64 = products.sum();
                let square = self.squares[chunk * CHUNK + i];
                (square - 2.0 * product + squares[label as usize]).max(0.0)
            };
            labels.iter().enumerate().map(of_row).sum()
        };
        let partial: Vec<f64> = labels.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        partial.iter().sum()
    }
}

impl Sparse<'_> {
    /// The squared distances of row `i` from all centres, roughly.
    fn distances_from(&self, centres: &SparsePacked<'_>, i: usize, distances: &mut [f64]) {
        let (columns, values) = self.data.row(i);
        let k = distances.len();
        vectorised(
            #[inline(always)]
            || {
                distances.fill(0.0);
                for (&j, &x) in columns.iter().zip(values) {
                    let of_feature = &centres.values[j as usize * k..][..k];
                    distances.iter_mut().zip(of_feature).for_each(|(sum, c)| *sum += x * c);
                }
                for (distance, square) in distances.iter_mut().zip(&centres.squares) {
                    *distance = self.squares[i] - 2.0 * *distance + square;
                }
            },
        );
    }
}

/// The nearest of `centres` for every row.
pub(in crate::base) fn nearest_of_sparse(
    data: &SparseMatrix,
    centres: &Matrix,
    run: &Run,
) -> Result<Vec<u32>> {
    let points = Sparse::new(data)?;
    let packed = points.pack(centres);
    let travelled = vec![0.0; centres.nrows()];
    let mut labels = vec![NONE; data.nrows()];
    labels.par_chunks_mut(LOT).enumerate().try_for_each(|(lot, labels)| {
        run.check()?;
        let until = &mut vec![f64::NEG_INFINITY; labels.len()];
        let mut lot = Lot { first: lot * LOT, labels, until, travelled: &travelled };
        points.search(&packed, &mut lot);
        Ok(())
    })?;
    Ok(labels)
}

impl Rows for SparseMatrix {
    fn nrows(&self) -> usize {
        SparseMatrix::nrows(self)
    }

    fn ncols(&self) -> usize {
        SparseMatrix::ncols(self)
    }

    fn same(&self, a: usize, b: usize) -> bool {
        self.row(a) == self.row(b)
    }

    fn order(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let entries = |i: usize| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values)
        };
        let mut pairs = entries(a).zip(entries(b));
        let differ = pairs.find_map(|((i, x), (j, y))| {
            Some(i.cmp(j).then(x.total_cmp(y))).filter(|order| order.is_ne())
        });
        differ.unwrap_or_else(|| self.row(a).0.len().cmp(&self.row(b).0.len()))
    }

    fn write(&self, i: usize, into: &mut [f64]) {
        into.fill(0.0);
        let (columns, values) = self.row(i);
        columns.iter().zip(values).for_each(|(&j, &x)| into[j as usize] = x);
    }

    fn distances(&self, first: usize, point: &[f64], into: &mut [f64]) {
        let mut written = vec![0.0; point.len()];
        for (i, distance) in into.iter_mut().enumerate() {
            self.write(first + i, &mut written);
            *distance = vectorised(
                #[inline(always)]
                || squared_distance(&written, point),
            );
        }
    }
}
