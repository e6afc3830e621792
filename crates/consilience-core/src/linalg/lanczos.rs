//! The largest eigenpairs of a symmetric operator that is known only by what it does to vectors.
//!
//! Block Lanczos with full orthogonalisation and thick restarts: the space spanned by a block of
//! approximate eigenvectors and the images under a few powers of the operator is searched
//! (Rayleigh and Ritz), and the best of it is the next block. A *block*, wider than the number of
//! pairs wanted, because graphs with several components have multiple eigenvalues, of which a
//! single starting vector would see one copy.

use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::linalg::eigen::{Eigen, eigen, fix_signs};
use crate::linalg::product::{product, subtract_product};
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Blocks in the space that is searched.
const DEPTH: usize = 4;
/// Restarts before giving up.
const MAX_RESTARTS: usize = 300;
/// Residuals, relative to the largest magnitude of an eigenvalue, at which pairs count as found.
const TOLERANCE: f64 = 1e-11;
/// Residuals that are still accepted after the last restart.
const LAST_TOLERANCE: f64 = 1e-7;

/// The `count` largest eigenpairs of the symmetric operator of order `n` that `apply` applies to the
/// *columns* of an $n \times b$ matrix.
///
/// Starts from fixed pseudo-random vectors: the same operator gives the same answer.
///
/// # Errors
///
/// If some pair does not converge, or if the run is cancelled.
///
/// # Cost
///
/// With $b$ about $1.25$ `count` $+ 8$: three applications to $b$ columns and $O(n b^2)$ a restart;
/// some ten $n \times b$ matrices.
pub fn largest(
    n: usize,
    count: usize,
    apply: impl Fn(&Matrix) -> Matrix,
    run: &Run,
) -> Result<Eigen> {
    let count = count.min(n);
    let width = count + count / 4 + 8;
    if n <= DEPTH * width {
        // The space to search would be all there is.
        let identity = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
        let mut all = eigen(apply(&identity), |_| count, run)?;
        all.values.truncate(count);
        return Ok(all);
    }
    let mut rng = Rng::new(0, Stream::Inner(0));
    let start = Matrix::from_vec(n, width, (0..n * width).map(|_| rng.normal()).collect());
    let mut basis = Vec::with_capacity(DEPTH);
    extend(&mut basis, start, 0.0, run)?;
    let mut images: Vec<Matrix> = basis.iter().map(&apply).collect();

    let mut scale = 0.0_f64;
    let mut worst = f64::INFINITY;
    for _ in 0..MAX_RESTARTS {
        while basis.len() < DEPTH {
            let next = images.last().expect("one image a block").clone();
            if !extend(&mut basis, next, 1e-14 * scale, run)? {
                break;
            }
            images.push(apply(&basis[basis.len() - 1]));
        }
        let ritz = search(&basis, &images, width, run)?;
        let vectors = combine(&basis, &ritz.vectors);
        let image = combine(&images, &ritz.vectors);
        scale = ritz.values.iter().fold(0.0, |max, x| x.abs().max(max));
        worst = worst_residual(&vectors, &image, &ritz.values[..count]);
        if worst <= TOLERANCE * scale {
            return Ok(finish(&vectors, ritz.values, count));
        }
        basis = vec![vectors];
        images = vec![image];
    }
    if worst <= LAST_TOLERANCE * scale {
        let values = search(&basis, &images, width, run)?.values;
        return Ok(finish(&basis[0], values, count));
    }
    Err(Error::Numerical {
        what: "Lanczos iteration",
        problem: format!("residual {:e} after {MAX_RESTARTS} restarts", worst / scale),
    })
}

/// Appends to an orthonormal basis what the columns of `block` have outside its span, but for
/// columns that have at most `floor` there; says whether there was any.
fn extend(basis: &mut Vec<Matrix>, mut block: Matrix, floor: f64, run: &Run) -> Result<bool> {
    // The first pass leaves rounding errors as large as 1e-16 of what it removes, so a column of
    // which it leaves no more is noise. The second removes those errors; a column that shrinks
    // under it was made of them.
    for (floor, share) in [(floor, 1e-13), (0.0, 0.1)] {
        run.check()?;
        let before = column_lengths(&block);
        for known in basis.iter() {
            let inside = product(known.as_faer().transpose(), block.as_faer());
            subtract_product(&mut block, known.as_faer(), inside.as_faer());
        }
        // Columns differ by orders of magnitude once some have converged; unit length keeps the
        // directions of the small ones.
        let lengths = column_lengths(&block);
        let kept: Vec<usize> =
            (0..lengths.len()).filter(|&j| lengths[j] > floor.max(share * before[j])).collect();
        if kept.is_empty() {
            return Ok(false);
        }
        block = Matrix::from_fn(block.nrows(), kept.len(), |i, j| {
            block[(i, kept[j])] / lengths[kept[j]]
        });
        let gram = product(block.as_faer().transpose(), block.as_faer());
        let independent = |values: &[f64]| values.iter().filter(|&&x| x > 1e-10).count();
        let Eigen { values, vectors: mut turn } = eigen(gram, independent, run)?;
        for j in 0..turn.nrows() {
            turn.row_mut(j).iter_mut().for_each(|x| *x /= values[j].sqrt());
        }
        block = product(block.as_faer(), turn.as_faer().transpose());
    }
    basis.push(block);
    Ok(true)
}

/// The `width` largest eigenpairs of the operator restricted to the basis: $V^T A V$.
fn search(basis: &[Matrix], images: &[Matrix], width: usize, run: &Run) -> Result<Eigen> {
    let offsets: Vec<usize> = basis
        .iter()
        .scan(0, |end, block| {
            *end += block.ncols();
            Some(*end - block.ncols())
        })
        .collect();
    let m: usize = basis.iter().map(Matrix::ncols).sum();
    let mut restricted = Matrix::zeros(m, m);
    for (v, &row) in basis.iter().zip(&offsets) {
        for (w, &column) in images.iter().zip(&offsets) {
            let part = product(v.as_faer().transpose(), w.as_faer());
            for i in 0..part.nrows() {
                restricted.row_mut(row + i)[column..column + part.ncols()]
                    .copy_from_slice(part.row(i));
            }
        }
    }
    let mut ritz = eigen(restricted, |_| width, run)?;
    ritz.values.truncate(width);
    Ok(ritz)
}

/// $\sum_i B_i Y_i$, where the rows of `turn` are the columns of $Y$ and block $B_i$ meets its part.
fn combine(blocks: &[Matrix], turn: &Matrix) -> Matrix {
    let mut sum = Matrix::zeros(blocks[0].nrows(), turn.nrows());
    let mut first = 0;
    for block in blocks {
        let part = turn.as_faer().subcols(first, block.ncols()).transpose();
        let added = product(block.as_faer(), part);
        sum.as_mut_slice().iter_mut().zip(added.as_slice()).for_each(|(sum, x)| *sum += x);
        first += block.ncols();
    }
    sum
}

/// The largest $\lVert A x - \theta x \rVert$ over the pairs with these values.
pub(super) fn worst_residual(vectors: &Matrix, image: &Matrix, values: &[f64]) -> f64 {
    let mut squares = vec![0.0; values.len()];
    for (x, y) in vectors.iter_rows().zip(image.iter_rows()) {
        for (j, square) in squares.iter_mut().enumerate() {
            *square += (y[j] - values[j] * x[j]).powi(2);
        }
    }
    squares.into_iter().fold(0.0, f64::max).sqrt()
}

pub(super) fn column_lengths(block: &Matrix) -> Vec<f64> {
    let mut squares = vec![0.0; block.ncols()];
    for row in block.iter_rows() {
        squares.iter_mut().zip(row).for_each(|(square, x)| *square += x * x);
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// The first `count` pairs, vectors as rows.
pub(super) fn finish(vectors: &Matrix, mut values: Vec<f64>, count: usize) -> Eigen {
    values.truncate(count);
    let mut vectors = Matrix::from_fn(count, vectors.nrows(), |j, i| vectors[(i, j)]);
    fix_signs(&mut vectors);
    Eigen { values, vectors }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Rng, Stream};

    /// $Q \operatorname{diag}(\lambda) Q^T$ with a random orthonormal $Q$.
    fn with_spectrum(values: &[f64], seed: u64) -> Matrix {
        let n = values.len();
        let mut rng = Rng::new(seed, Stream::Data);
        let random = Matrix::from_vec(n, n, (0..n * n).map(|_| rng.normal()).collect());
        let symmetric = product(random.as_faer(), random.as_faer().transpose());
        let q = eigen(symmetric, <[f64]>::len, &Run::new(0)).unwrap().vectors;
        Matrix::from_fn(n, n, |i, j| {
            let (i, j) = (i.min(j), i.max(j));
            (0..n).map(|l| values[l] * q[(l, i)] * q[(l, j)]).sum()
        })
    }

    /// $V^T V$ over the first `count` rows: the projector, which does not depend on the basis.
    fn projector(found: &Eigen, count: usize) -> Matrix {
        let rows: Vec<usize> = (0..count).collect();
        let v = found.vectors.select_rows(&rows);
        product(v.as_faer().transpose(), v.as_faer())
    }

    fn check(values: &[f64], count: usize, seed: u64) {
        let a = with_spectrum(values, seed);
        let run = Run::new(0);
        let dense = eigen(a.clone(), |_| count, &run).unwrap();
        let apply = |x: &Matrix| product(a.as_faer(), x.as_faer());
        let found = largest(values.len(), count, apply, &run).unwrap();
        for j in 0..count {
            assert!((found.values[j] - dense.values[j]).abs() < 1e-10, "value {j}");
        }
        let (p, q) = (projector(&found, count), projector(&dense, count));
        let gap = p.as_slice().iter().zip(q.as_slice()).map(|(x, y)| (x - y).abs());
        assert!(gap.fold(0.0, f64::max) < 1e-8);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn agrees_with_the_dense_decomposition(n in 1..150usize, seed: u64, count in 1..12usize) {
            let count = count.min(n);
            let mut rng = Rng::new(seed, Stream::Data);
            // A gap after the pairs wanted makes their space well determined.
            let value = |j| if j < count { 2.0 + rng.unit() } else { 2.0 * rng.unit() - 1.0 };
            let mut values: Vec<f64> = (0..n).map(value).collect();
            values.sort_by(|x, y| y.total_cmp(x));
            check(&values, count, seed);
        }
    }

    #[test]
    fn every_copy_of_a_multiple_eigenvalue_is_found() {
        let values: Vec<f64> = (0..120).map(|j| if j < 7 { 1.0 } else { 0.5 }).collect();
        check(&values, 7, 3);
    }

    #[test]
    fn low_rank_and_zero_operators_are_answered() {
        let values: Vec<f64> =
            (0..100).map(|j| if j < 3 { 3.0 - f64::from(j) } else { 0.0 }).collect();
        check(&values, 3, 4);
        let zero = largest(50, 2, |x| Matrix::zeros(50, x.ncols()), &Run::new(0)).unwrap();
        assert_eq!(zero.values, [0.0, 0.0]);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let values: Vec<f64> = (0..200).map(|j| 1.0 / (1.0 + f64::from(j))).collect();
        let a = with_spectrum(&values, 5);
        let on = |threads| {
            let run = Run::new(0).threads(threads);
            run.install(|| largest(200, 5, |x| product(a.as_faer(), x.as_faer()), &run).unwrap())
        };
        assert_eq!(on(1), on(2));
    }
}
