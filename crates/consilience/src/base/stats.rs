//! What base clusterers need to know of a table's columns, in one pass.

use rayon::prelude::*;

use crate::base::distance::CHUNK;
use crate::base::sparse_matrix::SparseMatrix;
use crate::base::table::{Float, LARGEST, Table, no_values, unusable_value};
use crate::error::Result;
use crate::linalg::vectorised;
use crate::run::Run;

/// Weighted sums of the columns and of their magnitudes.
#[derive(Clone, Debug)]
pub(super) struct Stats {
    /// $\sum_i w_i$.
    weight: f64,
    /// $\sum_i w_i x_{ij}$.
    sums: Vec<f64>,
    /// $\sum_i w_i |x_{ij}|$.
    magnitudes: Vec<f64>,
    /// The largest magnitude in each column.
    largest: Vec<f64>,
}

impl Stats {
    /// Reads the table once, in parallel.
    ///
    /// # Errors
    ///
    /// If [the table](Table::check) is not usable, or the run is cancelled.
    pub(super) fn new<T: Float>(
        data: &Table<'_, T>,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Self> {
        let (n, d) = (data.nrows(), data.ncols());
        let of_chunk = |chunk: usize| {
            run.check()?;
            let mut stats = Stats {
                weight: 0.0,
                sums: vec![0.0; d],
                magnitudes: vec![0.0; d],
                largest: vec![0.0; d],
            };
            let rows = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
            vectorised(
                #[inline(always)]
                || {
                    for i in rows.clone() {
                        stats.add(data.row(i), weights.map_or(1.0, |w| w[i]));
                    }
                },
            );
            Ok(stats)
        };
        let chunks: Vec<Stats> =
            (0..n.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect::<Result<_>>()?;
        let whole = chunks.into_iter().reduce(|mut whole, chunk| {
            let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            add(&mut whole.sums, &chunk.sums);
            add(&mut whole.magnitudes, &chunk.magnitudes);
            whole.weight += chunk.weight;
            let most = |(a, b): (&mut f64, &f64)| *a = a.max(*b);
            whole.largest.iter_mut().zip(&chunk.largest).for_each(most);
            whole
        });
        match whole {
            Some(stats) if stats.is_usable() => Ok(stats),
            _ => Err(data.check().expect_err("an unusable value was met")),
        }
    }

    /// Reads a sparse table, all rows of weight 1; what is summed is summed as in the table written
    /// out.
    pub(super) fn sparse(data: &SparseMatrix) -> Result<Self> {
        let (n, d) = (data.nrows(), data.ncols());
        let mut stats = Stats {
            weight: n as f64,
            sums: vec![0.0; d],
            magnitudes: vec![0.0; d],
            largest: vec![0.0; d],
        };
        // The sums over one chunk, and the columns that it has met.
        let (mut sums, mut magnitudes) = (vec![0.0; d], vec![0.0; d]);
        let mut met = Vec::new();
        for first in (0..n).step_by(CHUNK) {
            for i in first..n.min(first + CHUNK) {
                let (columns, values) = data.row(i);
                for (&j, &x) in columns.iter().zip(values) {
                    let j = j as usize;
                    if magnitudes[j] == 0.0 {
                        met.push(j);
                    }
                    sums[j] += x;
                    magnitudes[j] += x.abs();
                    stats.largest[j] = stats.largest[j].max(x.abs());
                }
            }
            for j in met.drain(..) {
                stats.sums[j] += std::mem::take(&mut sums[j]);
                stats.magnitudes[j] += std::mem::take(&mut magnitudes[j]);
            }
        }
        if n > 0 && d > 0 && stats.is_usable() {
            return Ok(stats);
        }
        let unusable = |x: &f64| !x.is_finite() || x.abs() > LARGEST;
        let place = (0..n).find_map(|i| {
            let (columns, values) = data.row(i);
            values.iter().position(unusable).map(|at| (i, columns[at], values[at]))
        });
        Err(match place {
            Some((i, j, x)) => unusable_value(i, j as usize, x),
            None => no_values(n, d),
        })
    }

    #[inline(always)]
    fn add<T: Float>(&mut self, row: &[T], weight: f64) {
        self.weight += weight;
        let d = row.len();
        let (sums, magnitudes) = (&mut self.sums[..d], &mut self.magnitudes[..d]);
        let largest = &mut self.largest[..d];
        for j in 0..d {
            let x = row[j].to_f64();
            sums[j] += weight * x;
            magnitudes[j] += weight * x.abs();
            largest[j] = if x.abs() > largest[j] { x.abs() } else { largest[j] };
        }
    }

    /// Whether no value is too large or not a number: the comparison passes over the latter, but
    /// sums do not.
    fn is_usable(&self) -> bool {
        self.largest() <= LARGEST && self.magnitudes.iter().all(|m| m.is_finite())
    }

    /// The weighted mean of every column.
    pub(super) fn mean(&self) -> Vec<f64> {
        self.sums.iter().map(|s| s / self.weight).collect()
    }

    /// The largest magnitude of any value.
    pub(super) fn largest(&self) -> f64 {
        self.largest.iter().fold(0.0, |a, &b| a.max(b))
    }

    /// $\sum_i w_i |x_{ij}|$ for every column.
    pub(super) fn magnitudes(&self) -> &[f64] {
        &self.magnitudes
    }

    /// The sum of the weights.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_largest_values() {
        let values = [1.0, -2.0, 3.0, 4.0];
        let data = Table::new(2, 2, &values);
        let stats = Stats::new(&data, Some(&[1.0, 3.0]), &Run::new(0)).unwrap();
        assert_eq!(stats.mean(), [10.0 / 4.0, 10.0 / 4.0]);
        assert_eq!(stats.magnitudes(), [10.0, 14.0]);
        assert_eq!((stats.weight(), stats.largest()), (4.0, 4.0));
    }

    #[test]
    fn unusable_values_are_found_anywhere() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e200] {
            let mut values = vec![1.0; 3000 * 3];
            values[2222 * 3 + 1] = bad;
            let refusal = Stats::new(&Table::new(3000, 3, &values), None, &Run::new(0));
            let refusal = refusal.unwrap_err().to_string();
            assert!(refusal.starts_with("the data, row 2222, column `1`"), "{refusal}");
        }
    }
}
