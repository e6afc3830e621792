//! Squared Euclidean distances, and the nearest of several centres.

use rayon::prelude::*;

use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};

/// Rows of one unit of parallel work. Fixed, so that sums over chunks have the same bits on any
/// number of threads.
pub(super) const CHUNK: usize = 1024;

/// The lanes that sums of squares are kept in. Fixed and without fused operations, so that a
/// distance has the same bits on every machine, however wide its registers.
const LANES: usize = 8;

/// $\lVert a - b \rVert^2$.
#[inline(always)]
pub(super) fn squared_distance<T: Float>(a: &[T], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            let difference = a[l].to_f64() - b[l];
            sums[l] += difference * difference;
        }
    }
    // Lanes by constant index: otherwise the sums would have to leave their registers.
    for l in 0..LANES {
        if l < a_rest.len().min(b_rest.len()) {
            let difference = a_rest[l].to_f64() - b_rest[l];
            sums[l] += difference * difference;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

/// The nearest of `centres` and its squared distance; the lowest index among equals.
#[inline(always)]
pub(super) fn nearest<T: Float>(row: &[T], centres: &Matrix) -> (u32, f64) {
    let mut best = (0, f64::INFINITY);
    for (j, centre) in centres.iter_rows().enumerate() {
        let distance = squared_distance(row, centre);
        if distance < best.1 {
            best = (j as u32, distance);
        }
    }
    best
}

/// Fails unless `centres` has as many columns as the data.
pub(super) fn check_columns(columns: usize, centres: &Matrix) -> Result<()> {
    if centres.ncols() == columns {
        return Ok(());
    }
    Err(Error::Length {
        what: "a row of the data".to_owned(),
        got: columns,
        expected_by: "a centre".to_owned(),
        expected: centres.ncols(),
    })
}

/// $\sum_i w_i \lVert x_i - c_{y_i} \rVert^2$, added up chunk by chunk.
pub(super) fn inertia<T: Float>(
    data: &Table<'_, T>,
    weights: Option<&[f64]>,
    centres: &Matrix,
    labels: &[u32],
) -> f64 {
    let of_chunk = |(chunk, labels): (usize, &[u32])| {
        let mut sum = 0.0;
        vectorised(
            #[inline(always)]
            || {
                for (i, &label) in labels.iter().enumerate() {
                    let i = chunk * CHUNK + i;
                    let distance = squared_distance(data.row(i), centres.row(label as usize));
                    sum += weights.map_or(1.0, |w| w[i]) * distance;
                }
            },
        );
        sum
    };
    let partial: Vec<f64> = labels.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
    partial.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn distances_are_those_of_the_formula(
            pairs in prop::collection::vec((-1e3..1e3, -1e3..1e3), 0..40)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
            // Two orders of at most 40 additions.
            let close = (squared_distance(&a, &b) - plain).abs() <= 80.0 * f64::EPSILON * plain;
            prop_assert!(close);
        }
    }
}
