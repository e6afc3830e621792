//! Memberships of a few rows at a time, each in a lane of a register.

use crate::base::fuzzy_kmeans::memberships_at;
use crate::base::table::{Float, Table};
use crate::linalg::Matrix;
use crate::math;

/// Rows that are worked on at a time, one a lane of a register. Every lane does what one row alone
/// would have done to it, in the same order, so the results are those of rows one by one.
pub(super) const LANES: usize = 4;

/// Features whose squares, and whose sums, are kept apart: as direct distances keep them.
const APART: usize = 8;

/// A few rows, feature by feature, and their memberships.
pub(super) struct Lanes {
    /// How many lanes are rows; the others repeat the first.
    rows: usize,
    x: Vec<[f64; LANES]>,
    /// Distances, then memberships, a centre each.
    u: Vec<[f64; LANES]>,
    /// The distances or memberships of one row.
    alone: Vec<f64>,
}

impl Lanes {
    pub(super) fn new(k: usize, d: usize) -> Self {
        Lanes { rows: 0, x: vec![[0.0; LANES]; d], u: vec![[0.0; LANES]; k], alone: vec![0.0; k] }
    }

    /// How many lanes are rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes the rows from `first` on.
    #[inline(always)]
    pub(super) fn load<T: Float>(&mut self, data: &Table<'_, T>, first: usize) {
        self.rows = LANES.min(data.nrows() - first);
        let rows: [&[T]; LANES] =
            std::array::from_fn(|l| data.row(first + if l < self.rows { l } else { 0 }));
        for (f, x) in self.x.iter_mut().enumerate() {
            *x = std::array::from_fn(|l| rows[l][f].to_f64());
        }
    }

    /// Finds the memberships and returns every row's share of $J$.
    #[inline(always)]
    pub(super) fn memberships(&mut self, centres: &Matrix, m: f64) -> [f64; LANES] {
        let mut least = [f64::INFINITY; LANES];
        for (u, centre) in self.u.iter_mut().zip(centres.iter_rows()) {
            *u = distances(&self.x, centre);
            for l in 0..LANES {
                least[l] = least[l].min(u[l]);
            }
        }
        if m != 2.0 || least.contains(&0.0) {
            return self.one_by_one(m);
        }
        let mut sum = [0.0; LANES];
        for u in &mut self.u {
            for l in 0..LANES {
                u[l] = least[l] / u[l];
                sum[l] += u[l];
            }
        }
        for u in &mut self.u {
            for l in 0..LANES {
                u[l] /= sum[l];
            }
        }
        std::array::from_fn(|l| least[l] / sum[l])
    }

    /// The memberships from distances, row by row.
    fn one_by_one(&mut self, m: f64) -> [f64; LANES] {
        let mut shares = [0.0; LANES];
        for (l, share) in shares.iter_mut().enumerate() {
            self.alone.iter_mut().zip(&self.u).for_each(|(alone, u)| *alone = u[l]);
            *share = memberships_at(&mut self.alone, m);
            self.u.iter_mut().zip(&self.alone).for_each(|(u, alone)| u[l] = *alone);
        }
        shares
    }

    /// Writes the memberships into `group` and returns the largest change.
    #[inline(always)]
    pub(super) fn keep(&self, group: &mut [[f64; LANES]]) -> f64 {
        let mut change = [0.0; LANES];
        for (old, new) in group.iter_mut().zip(&self.u) {
            for l in 0..LANES {
                change[l] = f64::max(change[l], (new[l] - old[l]).abs());
            }
            *old = *new;
        }
        change.into_iter().fold(0.0, f64::max)
    }

    /// Adds the rows, weighted, and their weights to the sums of every cluster.
    #[inline(always)]
    pub(super) fn add_to<T: Float>(
        &self,
        sums: &mut Matrix,
        data: &Table<'_, T>,
        first: usize,
        m: f64,
    ) {
        let d = data.ncols();
        for (j, u) in self.u.iter().enumerate() {
            let weights: [f64; LANES] =
                std::array::from_fn(|l| if m == 2.0 { u[l] * u[l] } else { math::pow(u[l], m) });
            let (sums, total) = sums.row_mut(j).split_at_mut(d);
            let (chunks, rest) = sums.as_chunks_mut::<APART>();
            let done = chunks.len() * APART;
            for (c, sums) in chunks.iter_mut().enumerate() {
                let mut held = *sums;
                for (l, weight) in weights[..self.rows].iter().enumerate() {
                    let x = &data.row(first + l).as_chunks::<APART>().0[c];
                    for i in 0..APART {
                        held[i] += weight * x[i].to_f64();
                    }
                }
                *sums = held;
            }
            for (l, weight) in weights[..self.rows].iter().enumerate() {
                let x = &data.row(first + l)[done..];
                rest.iter_mut().zip(x).for_each(|(sum, x)| *sum += weight * x.to_f64());
                total[0] += weight;
            }
        }
    }
}

/// The squared distances of the rows from a centre, added up as direct distances are.
#[inline(always)]
fn distances(x: &[[f64; LANES]], centre: &[f64]) -> [f64; LANES] {
    let mut sums = [[0.0; LANES]; APART];
    let (x, x_rest) = x.as_chunks::<APART>();
    let (centre, c_rest) = centre.as_chunks::<APART>();
    for (x, c) in x.iter().zip(centre) {
        for i in 0..APART {
            for l in 0..LANES {
                let difference = x[i][l] - c[i];
                sums[i][l] += difference * difference;
            }
        }
    }
    for i in 0..APART {
        if i < x_rest.len().min(c_rest.len()) {
            for l in 0..LANES {
                let difference = x_rest[i][l] - c_rest[i];
                sums[i][l] += difference * difference;
            }
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    std::array::from_fn(|l| ((a[l] + b[l]) + (c[l] + d[l])) + ((e[l] + f[l]) + (g[l] + h[l])))
}
