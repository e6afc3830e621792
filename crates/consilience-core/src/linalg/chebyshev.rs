//! The largest eigenpairs of a sparse operator whose eigenvalues crowd at the upper end, as those of
//! graphs do.
//!
//! Y. Zhou, Y. Saad, M. L. Tiago, J. R. Chelikowsky. *Self-consistent-field calculations using
//! Chebyshev-filtered subspace iteration.* Journal of Computational Physics 219(1), 2006.
//!
//! A block of vectors is multiplied by a Chebyshev polynomial of the operator that is small on
//! everything below the block's least Ritz value and grows as fast as a polynomial can above it. That
//! is many products with the operator for one orthogonalisation: the right trade where a product is
//! cheap, and where [Lanczos](super::largest) would search its short spaces hundreds of times.

use crate::error::Result;
use crate::linalg::Matrix;
use crate::linalg::eigen::{Eigen, eigen};
use crate::linalg::lanczos::{column_lengths, finish, worst_residual};
use crate::linalg::product::product;
use crate::math;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// The largest degree of a polynomial.
const MAX_DEGREE: f64 = 200.0;
/// By how much a polynomial may raise one direction over another: more would drown the latter.
const GROWTH: f64 = 1e6;
/// Rounds before what there is has to do.
const MAX_ROUNDS: usize = 60;
/// Residuals at which pairs count as found.
const TOLERANCE: f64 = 1e-9;

/// The `count` largest eigenpairs of the symmetric operator of order `n`, with eigenvalues in [-1, 1],
/// that `apply` applies to the *columns* of an $n \times b$ matrix.
///
/// Starts from fixed pseudo-random vectors: the same operator gives the same answer. Pairs that nearly
/// coincide with ones not asked for may be mixtures of them: after 60 rounds the iteration ends with what
/// it has.
///
/// # Errors
///
/// If an image is not finite, or if the run is cancelled.
///
/// # Cost
///
/// With $b$ about $1.25$ `count` $+ 8$: up to 200 products with $b$ columns and $O(n b^2)$ a round, and
/// some six $n \times b$ matrices.
pub fn largest_filtered(
    n: usize,
    count: usize,
    apply: impl Fn(&Matrix) -> Matrix,
    run: &Run,
) -> Result<Eigen> {
    let count = count.min(n);
    let width = count + count / 4 + 8;
    if n <= 4 * width {
        let identity = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
        let mut all = eigen(apply(&identity), |_| count, run)?;
        all.values.truncate(count);
        return Ok(all);
    }
    let mut rng = Rng::new(0, Stream::Inner(0));
    let mut block = Matrix::from_vec(n, width, (0..n * width).map(|_| rng.normal()).collect());
    let mut round = 0;
    loop {
        // Twice: the first leaves what rounding made of nearly parallel columns.
        block = orthonormal(orthonormal(block, run)?, run)?;
        let image = apply(&block);
        let inner = product(block.as_faer().transpose(), image.as_faer());
        let Eigen { values, vectors } = eigen(inner, <[f64]>::len, run)?;
        let turn = vectors.as_faer().transpose();
        block = product(block.as_faer(), turn);
        let image = product(image.as_faer(), turn);
        round += 1;
        let found = count.min(values.len());
        let settled = worst_residual(&block, &image, &values[..found]) <= TOLERANCE;
        if settled || round == MAX_ROUNDS {
            return Ok(finish(&block, values, found));
        }
        block = filtered(block, image, values[values.len() - 1], &apply, run)?;
    }
}

/// The block times the Chebyshev polynomial that is at most 1 on [-1, `low`]; `image` is the block times
/// the operator.
fn filtered(
    block: Matrix,
    image: Matrix,
    low: f64,
    apply: impl Fn(&Matrix) -> Matrix,
    run: &Run,
) -> Result<Matrix> {
    let low = low.clamp(-0.9, 1.0 - 1e-9);
    let (middle, half) = (0.5 * (low - 1.0), 0.5 * (low + 1.0));
    let degree =
        (math::ln(2.0 * GROWTH) / math::acosh((1.0 - middle) / half)).clamp(2.0, MAX_DEGREE);
    // 2 (A - c) / e times one less another; the first step has no other and no 2.
    let step = |scale: f64, mut image: Matrix, one: &Matrix, other: Option<&Matrix>| {
        let pairs = image.as_mut_slice().iter_mut().zip(one.as_slice());
        pairs.for_each(|(y, x)| *y = scale * (*y - middle * x));
        if let Some(other) = other {
            image.as_mut_slice().iter_mut().zip(other.as_slice()).for_each(|(y, x)| *y -= x);
        }
        image
    };
    let mut next = step(1.0 / half, image, &block, None);
    let mut last = block;
    for _ in 1..degree as usize {
        run.check()?;
        let image = step(2.0 / half, apply(&next), &next, Some(&last));
        last = std::mem::replace(&mut next, image);
    }
    Ok(next)
}

/// An orthonormal basis of what the columns span, but for directions that are rounding.
fn orthonormal(mut block: Matrix, run: &Run) -> Result<Matrix> {
    let lengths = column_lengths(&block);
    let columns = lengths.len();
    for row in block.as_mut_slice().chunks_exact_mut(columns) {
        row.iter_mut().zip(&lengths).for_each(|(x, l)| *x /= l.max(f64::MIN_POSITIVE));
    }
    let gram = product(block.as_faer().transpose(), block.as_faer());
    let kept = |values: &[f64]| values.partition_point(|&value| value > 1e-12 * values[0]);
    let Eigen { values, vectors } = eigen(gram, kept, run)?;
    let turn = Matrix::from_fn(columns, vectors.nrows(), |i, j| vectors[(j, i)] / values[j].sqrt());
    Ok(product(block.as_faer(), turn.as_faer()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The walk on a ring of `n` places with two kinds of steps, whose eigenvalues are known.
    fn ring(n: usize) -> impl Fn(&Matrix) -> Matrix {
        move |x: &Matrix| {
            Matrix::from_fn(n, x.ncols(), |i, c| {
                let at = |step: usize| x[((i + step) % n, c)];
                0.25 * (at(1) + at(n - 1) + at(2) + at(n - 2))
            })
        }
    }

    #[test]
    fn crowded_eigenvalues_are_those_of_theory() {
        for n in [30, 200, 900] {
            let found = largest_filtered(n, 5, ring(n), &Run::new(0)).unwrap();
            let value = |j: usize| {
                let angle = std::f64::consts::TAU * j.div_ceil(2) as f64 / n as f64;
                0.5 * (angle.cos() + (2.0 * angle).cos())
            };
            for (j, found) in found.values.iter().enumerate() {
                assert!((found - value(j)).abs() < 1e-12, "order {n}, pair {j}: {found}");
            }
            let vectors = Matrix::from_fn(n, 5, |i, j| found.vectors[(j, i)]);
            let image = ring(n)(&vectors);
            assert!(worst_residual(&vectors, &image, &found.values) < 1e-8);
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let on = |threads| {
            let run = Run::new(0).threads(threads);
            run.install(|| largest_filtered(300, 4, ring(300), &run).unwrap())
        };
        assert_eq!(on(1), on(2));
    }
}
