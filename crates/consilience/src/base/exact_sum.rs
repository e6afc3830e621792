//! Sums of rows by cluster that do not depend on the order of their terms.
//!
//! Lloyd's iteration moves few rows from one cluster to another once it has settled, and it would
//! be a waste to add up all rows again. Adding and subtracting floats, however, rounds, and the
//! rounding depends on the path: centres would drift, and the labels of near-ties with them. So
//! each term is first cut into two parts, each a multiple of a quantum so coarse that all sums of
//! such multiples are exact in `f64` (pre-rounded summation: Rump, Ogita and Oishi 2008; Demmel and
//! Nguyen 2013). A sum is then the same bits whichever way it came about: by chunks, on any number
//! of threads, or by differences.
//!
//! With $B_j = \sum_i w_i |x_{ij}|$ and $n$ rows, what a term loses is at most $2^{-100} n B_j$:
//! nothing at all unless its magnitude is far below the mean, and then less than the rounding of an
//! ordinary sum.

use crate::base::stats::Stats;
use crate::base::table::Float;
use crate::linalg::Matrix;

/// How terms of each column are cut; shared by all sums over one table.
#[derive(Clone, Debug)]
pub(super) struct Quanta {
    /// One constant a column, the weights last. Adding it and subtracting it again rounds to a
    /// multiple of the column's coarse quantum.
    coarse: Vec<f64>,
    /// The same for the remainder.
    fine: Vec<f64>,
}

impl Quanta {
    /// The quanta for sums over `n` rows, each at most once in every cluster.
    pub(super) fn new(stats: &Stats, n: usize) -> Self {
        let bounds = stats.magnitudes().iter().copied().chain([stats.weight()]);
        // 1.5 * 2^52 quanta: a sum with a term of magnitude below 2^51 quanta stays in the binade
        // whose spacing is the quantum. Bounds are doubled because they are rounded sums.
        let constant = |bound: f64| 1.5 * power_above(2.0 * bound);
        let coarse: Vec<f64> = bounds.map(|b| constant(2.0 * b)).collect();
        let quantum = |constant: f64| constant / 1.5 / (1u64 << 52) as f64;
        let fine = coarse.iter().map(|&c| constant(quantum(c) * n as f64)).collect();
        Quanta { coarse, fine }
    }
}

/// The smallest power of two above `x >= 0`; 0 if `x` is subnormal, for then sums are exact anyway.
fn power_above(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    2.0 * f64::from_bits(x.to_bits() & EXPONENT)
}

/// Weighted sums of rows and weights, one per cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClusterSums {
    /// Coarse parts, k rows of d + 1: the columns, then the weights.
    coarse: Vec<f64>,
    /// Fine parts.
    fine: Vec<f64>,
    /// How many rows are in each cluster.
    rows: Vec<i64>,
    width: usize,
}

impl ClusterSums {
    /// Empty sums of `k` clusters in `d` columns.
    pub(super) fn zeros(k: usize, d: usize) -> Self {
        let width = d + 1;
        let zeros = vec![0.0; k * width];
        ClusterSums { coarse: zeros.clone(), fine: zeros, rows: vec![0; k], width }
    }

    /// Puts a row into cluster `to`.
    #[inline(always)]
    pub(super) fn add<T: Float>(&mut self, to: usize, row: &[T], weight: f64, quanta: &Quanta) {
        self.change(to, 1.0, row, weight, quanta);
    }

    /// Moves a row from cluster `from` to cluster `to`, another one.
    #[inline(always)]
    pub(super) fn shift<T: Float>(
        &mut self,
        from: usize,
        to: usize,
        row: &[T],
        weight: f64,
        quanta: &Quanta,
    ) {
        self.change(from, -1.0, row, weight, quanta);
        self.change(to, 1.0, row, weight, quanta);
    }

    /// Adds a row, or takes it away.
    #[inline(always)]
    fn change<T: Float>(
        &mut self,
        cluster: usize,
        sign: f64,
        row: &[T],
        weight: f64,
        quanta: &Quanta,
    ) {
        self.rows[cluster] += sign as i64;
        let coarse = &mut self.coarse[cluster * self.width..][..self.width];
        let fine = &mut self.fine[cluster * self.width..][..self.width];
        // Slices of one length let the loop run in wide registers.
        let d = row.len();
        let (q_coarse, q_fine) = (&quanta.coarse[..=d], &quanta.fine[..=d]);
        let (coarse, fine) = (&mut coarse[..=d], &mut fine[..=d]);
        for j in 0..d {
            let (high, low) = parts(weight * row[j].to_f64(), q_coarse[j], q_fine[j]);
            coarse[j] += sign * high;
            fine[j] += sign * low;
        }
        let (high, low) = parts(weight, q_coarse[d], q_fine[d]);
        coarse[d] += sign * high;
        fine[d] += sign * low;
    }

    /// Puts a row into cluster `to` of which only the entries at `columns` are not 0.
    pub(super) fn add_sparse(
        &mut self,
        to: usize,
        (columns, values): (&[u32], &[f64]),
        quanta: &Quanta,
    ) {
        self.change_sparse(to, 1.0, (columns, values), quanta);
    }

    /// Moves such a row from cluster `from` to cluster `to`, another one.
    pub(super) fn shift_sparse(
        &mut self,
        from: usize,
        to: usize,
        row: (&[u32], &[f64]),
        quanta: &Quanta,
    ) {
        self.change_sparse(from, -1.0, row, quanta);
        self.change_sparse(to, 1.0, row, quanta);
    }

    /// Adds a row of weight 1, or takes it away: parts of 0 are 0.
    fn change_sparse(
        &mut self,
        cluster: usize,
        sign: f64,
        (columns, values): (&[u32], &[f64]),
        quanta: &Quanta,
    ) {
        self.rows[cluster] += sign as i64;
        let d = self.width - 1;
        let coarse = &mut self.coarse[cluster * self.width..][..self.width];
        let fine = &mut self.fine[cluster * self.width..][..self.width];
        let entries = columns.iter().map(|&j| j as usize).zip(values.iter().copied());
        for (j, x) in entries.chain([(d, 1.0)]) {
            let (high, low) = parts(x, quanta.coarse[j], quanta.fine[j]);
            coarse[j] += sign * high;
            fine[j] += sign * low;
        }
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &ClusterSums) {
        let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.coarse, &other.coarse);
        add(&mut self.fine, &other.fine);
        self.rows.iter_mut().zip(&other.rows).for_each(|(a, b)| *a += b);
    }

    /// The number of clusters.
    pub(super) fn k(&self) -> usize {
        self.rows.len()
    }

    /// How many rows cluster `c` has.
    pub(super) fn n_rows(&self, c: usize) -> usize {
        self.rows[c] as usize
    }

    /// Writes the weighted means into the rows of `centres`; an empty cluster's row is left alone.
    pub(super) fn means_into(&self, centres: &mut Matrix) {
        for c in (0..self.rows.len()).filter(|&c| self.rows[c] > 0) {
            let at = |j: usize| self.coarse[c * self.width + j] + self.fine[c * self.width + j];
            let weight = at(self.width - 1);
            for (j, mean) in centres.row_mut(c).iter_mut().enumerate() {
                *mean = at(j) / weight;
            }
        }
    }
}

/// Cuts a term in two.
#[inline(always)]
fn parts(term: f64, coarse: f64, fine: f64) -> (f64, f64) {
    let high = (term + coarse) - coarse;
    let low = ((term - high) + fine) - fine;
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::table::Table;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![-1e3..1e3, -1e-6..1e-6, -1e12..1e12, Just(0.0)]
    }

    proptest! {
        #[test]
        fn sums_do_not_depend_on_the_way(
            rows in prop::collection::vec((prop::array::uniform3(value()), 1e-3..1e3, 0..3usize), 1..60),
            weighted: bool,
        ) {
            let values: Vec<f64> = rows.iter().flat_map(|(x, _, _)| *x).collect();
            let weights: Vec<f64> = rows.iter().map(|(_, w, _)| *w).collect();
            let weights = weighted.then_some(&weights[..]);
            let data = Table::new(rows.len(), 3, &values);
            let stats = Stats::new(&data, weights, &crate::Run::new(0)).unwrap();
            let quanta = Quanta::new(&stats, rows.len());
            let weight = |i: usize| weights.map_or(1.0, |w| w[i]);

            let mut forward = ClusterSums::zeros(3, 3);
            let mut detour = ClusterSums::zeros(3, 3);
            let mut second = ClusterSums::zeros(3, 3);
            for i in (0..rows.len()).rev() {
                let half = if i % 2 == 0 { &mut detour } else { &mut second };
                half.add((rows[i].2 + 1) % 3, data.row(i), weight(i), &quanta);
            }
            detour.merge(&second);
            for (i, (_, _, c)) in rows.iter().enumerate() {
                forward.add(*c, data.row(i), weight(i), &quanta);
                detour.shift((c + 1) % 3, *c, data.row(i), weight(i), &quanta);
            }
            prop_assert_eq!(&forward, &detour);

            let mut means = Matrix::zeros(3, 3);
            forward.means_into(&mut means);
            for c in 0..3 {
                let inside: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].2 == c).collect();
                let total: f64 = inside.iter().map(|&i| weight(i)).sum();
                for j in 0..3 {
                    if inside.is_empty() {
                        prop_assert_eq!(means[(c, j)], 0.0);
                        continue;
                    }
                    let plain: f64 = inside.iter().map(|&i| weight(i) * rows[i].0[j]).sum();
                    let size: f64 = inside.iter().map(|&i| weight(i) * rows[i].0[j].abs()).sum();
                    let all: f64 = (0..rows.len()).map(|i| weight(i) * rows[i].0[j].abs()).sum();
                    // The rounding of the plain sum, and n terms that lose n B / 2^100 each.
                    let lost = (rows.len() * rows.len()) as f64 * all / 2f64.powi(100);
                    let slack = (60.0 * f64::EPSILON * size + lost) / total;
                    prop_assert!((means[(c, j)] - plain / total).abs() <= slack);
                }
            }
        }
    }
}
