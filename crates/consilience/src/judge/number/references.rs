//! Tables without clusters that look like the one at hand otherwise.
//!
//! Two are drawn by turns, along the principal axes of the rows: one Gaussian of the same covariance, and
//! rows evenly spread over the box of the axes. What they show by chance is what the rows at hand must
//! exceed (R. Tibshirani, G. Walther, T. Hastie. *Estimating the number of clusters in a data set via the
//! gap statistic.* Journal of the Royal Statistical Society B 63, 2001; C. R. John et al. *M3C: Monte
//! Carlo reference-based consensus clustering.* Scientific Reports 10, 2020).

use crate::base::principal_components;
use crate::error::Result;
use crate::linalg::Matrix;
use crate::rng::Rng;
use crate::run::Run;

/// The most axes that are looked at.
const AXES: usize = 50;
/// Axes with less than this share of the largest spread are rounding.
const FLAT: f64 = 1e-9;

/// Rows along their principal axes.
pub(super) struct Axes {
    /// Their coordinates.
    pub(super) rows: Matrix,
    /// The standard deviation along each axis.
    spreads: Vec<f64>,
    /// The ends of the rows along each axis.
    ends: Vec<(f64, f64)>,
}

impl Axes {
    pub(super) fn new(rows: &Matrix, run: &Run) -> Result<Self> {
        let (n, d) = (rows.nrows(), rows.ncols().min(AXES));
        let scores = principal_components(rows, d, run)?.scores;
        let spread = |j: usize| {
            let squares = (0..n).map(|i| scores[(i, j)] * scores[(i, j)]);
            (squares.sum::<f64>() / n.max(1) as f64).sqrt()
        };
        let spreads: Vec<f64> = (0..d).map(spread).collect();
        let largest = spreads.iter().copied().fold(0.0, f64::max);
        let used: Vec<usize> = (0..d).filter(|&j| spreads[j] > FLAT * largest).collect();
        let rows = Matrix::from_fn(n, used.len(), |i, j| scores[(i, used[j])]);
        let spreads = used.iter().map(|&j| spreads[j]).collect();
        let ends = (0..used.len()).map(|j| {
            let values = (0..n).map(|i| rows[(i, j)]);
            let nothing = (f64::INFINITY, f64::NEG_INFINITY);
            values.fold(nothing, |(low, high), x| (low.min(x), high.max(x)))
        });
        let ends = ends.collect();
        Ok(Axes { rows, spreads, ends })
    }

    /// Reference `i` of `n` rows: a Gaussian if `i` is even, otherwise evenly spread.
    pub(super) fn reference(&self, i: usize, n: usize, rng: &mut Rng) -> Matrix {
        let d = self.spreads.len();
        let value = |j: usize| {
            if i.is_multiple_of(2) {
                self.spreads[j] * rng.normal()
            } else {
                let (low, high) = self.ends[j];
                low + (high - low) * rng.unit()
            }
        };
        Matrix::from_vec(n, d, (0..n).flat_map(|_| 0..d).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn references_spread_as_the_rows_do() {
        let run = Run::new(0);
        // A long and a short side, turned, and a column that says the same again.
        let point = |i: usize, j: usize| {
            let (long, short) = (9.0 * (i as f64 * 0.37).sin(), (i as f64 * 1.7).cos());
            if j == 1 { long - short } else { long + short }
        };
        let axes = Axes::new(&Matrix::from_fn(400, 3, point), &run).unwrap();
        assert_eq!(axes.spreads.len(), 2);
        for i in 0..2 {
            let drawn = axes.reference(i, 4000, &mut run.rng(Stream::Restart(i as u64)));
            for j in 0..2 {
                let values = || (0..4000).map(|i| drawn[(i, j)]);
                let spread = (values().map(|x| x * x).sum::<f64>() / 4000.0).sqrt();
                // A box has a deviation of its length over the root of 12.
                let (low, high) = axes.ends[j];
                let expected = [axes.spreads[j], (high - low) / 12_f64.sqrt()][i];
                assert!((spread / expected - 1.0).abs() < 0.1, "{i} {j}: {spread} {expected}");
                assert!(i == 0 || values().all(|x| (low..=high).contains(&x)));
            }
        }
        let flat = Axes::new(&Matrix::zeros(5, 2), &run).unwrap();
        assert_eq!(flat.rows.ncols(), 0);
    }
}
