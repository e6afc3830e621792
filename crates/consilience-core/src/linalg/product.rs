//! Matrix products, the same bits at any number of threads.

use faer::linalg::matmul;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::linalg::Matrix;

/// How many ways faer may split its work.
///
/// The split decides the order of additions, so it is fixed: with fewer threads the same pieces
/// are done one after the other, and the bits are the same.
#[cfg(not(target_family = "wasm"))]
pub(crate) const PAR_DEGREE: usize = 8;

/// faer's parallelism, of [fixed degree](PAR_DEGREE).
#[cfg(not(target_family = "wasm"))]
pub(crate) fn parallel() -> Par {
    Par::rayon(PAR_DEGREE)
}

/// faer's parallelism: in a browser it has none.
#[cfg(target_family = "wasm")]
pub(crate) fn parallel() -> Par {
    Par::Seq
}

/// $A B$. Transposes are views: `product(a.as_faer().transpose(), b.as_faer())` is $A^T B$.
///
/// # Panics
///
/// If `a` does not have as many columns as `b` has rows.
pub fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    product_into(&mut out, a, b);
    out
}

/// Writes $A B$ into `out`.
///
/// # Panics
///
/// If the shapes do not fit.
pub fn product_into(out: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::matmul(as_faer_mut(out), Accum::Replace, a, b, 1.0, parallel());
}

/// Subtracts $A B$ from `out`.
///
/// # Panics
///
/// If the shapes do not fit.
pub fn subtract_product(out: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::matmul(as_faer_mut(out), Accum::Add, a, b, -1.0, parallel());
}

/// Writes $A B$, known to be symmetric, into `out`: one half is computed, at half the cost of
/// [`product_into`], the other copied.
///
/// # Panics
///
/// If the shapes do not fit.
pub fn symmetric_product_into(out: &mut Matrix, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::triangular::matmul(
        as_faer_mut(out),
        BlockStructure::TriangularLower,
        Accum::Replace,
        a,
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        1.0,
        parallel(),
    );
    mirror_lower(out);
}

/// Copies the lower half of a square matrix to the upper.
///
/// # Panics
///
/// If `a` is not square.
pub fn mirror_lower(a: &mut Matrix) {
    /// Rows of a tile: two tiles fit the first-level cache.
    const TILE: usize = 32;
    let n = a.nrows();
    assert_eq!(a.ncols(), n, "a square matrix");
    // Rows are split into those above, to be written, and those below, read; the parts of the rows
    // above to the right of the diagonal are the columns of those below.
    for first in (0..n).step_by(TILE) {
        let last = (first + TILE).min(n);
        let (upper, lower) = a.as_mut_slice()[first * n..].split_at_mut((last - first) * n);
        for i in 0..last - first {
            for j in i + 1..last - first {
                upper[i * n + first + j] = upper[j * n + first + i];
            }
        }
        upper.par_chunks_exact_mut(n).enumerate().for_each(|(i, row)| {
            for (x, below) in row[last..].iter_mut().zip(lower.chunks_exact(n)) {
                *x = below[first + i];
            }
        });
    }
}

/// A view of `matrix` for faer's routines to write.
pub(crate) fn as_faer_mut(matrix: &mut Matrix) -> MatMut<'_, f64> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    MatMut::from_row_major_slice_mut(matrix.as_mut_slice(), rows, columns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::run::Run;

    fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut rng = Rng::new(seed, Stream::Data);
        let values = (0..rows * columns).map(|_| rng.normal()).collect();
        Matrix::from_vec(rows, columns, values)
    }

    /// The definition.
    fn slow(a: &Matrix, b: &Matrix) -> Matrix {
        let entry = |i, j| (0..a.ncols()).map(|l| a[(i, l)] * b[(l, j)]).sum();
        Matrix::from_fn(a.nrows(), b.ncols(), entry)
    }

    fn close(a: &Matrix, b: &Matrix) -> bool {
        a.as_slice().iter().zip(b.as_slice()).all(|(x, y)| (x - y).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn products_agree_with_the_definition(n in 1..40usize, m in 1..40usize, l in 0..20usize) {
            let (a, b) = (random(n, l, 1), random(l, m, 2));
            prop_assert!(close(&product(a.as_faer(), b.as_faer()), &slow(&a, &b)));
            let mut left = random(n, m, 3);
            let expected = Matrix::from_fn(n, m, |i, j| left[(i, j)] - slow(&a, &b)[(i, j)]);
            subtract_product(&mut left, a.as_faer(), b.as_faer());
            prop_assert!(close(&left, &expected));
        }

        #[test]
        fn a_symmetric_product_is_whole_and_symmetric(n in 1..100usize, l in 1..20usize) {
            let a = random(n, l, 4);
            let transposed = Matrix::from_fn(l, n, |i, j| a[(j, i)]);
            let mut out = random(n, n, 5);
            symmetric_product_into(&mut out, a.as_faer(), a.as_faer().transpose());
            prop_assert!(close(&out, &slow(&a, &transposed)));
            prop_assert!((0..n).all(|i| (0..n).all(|j| out[(i, j)] == out[(j, i)])));
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (a, b) = (random(300, 257, 6), random(257, 311, 7));
        let on = |threads| {
            let run = Run::new(0).threads(threads);
            run.install(|| {
                let mut symmetric = Matrix::zeros(300, 300);
                symmetric_product_into(&mut symmetric, a.as_faer(), a.as_faer().transpose());
                (product(a.as_faer(), b.as_faer()), symmetric)
            })
        };
        assert_eq!(on(1), on(2));
    }
}
