//! Eigenvalues and eigenvectors of dense symmetric matrices.
//!
//! Tridiagonalisation, divide and conquer, and back-transformation are faer's. Here they are put
//! together so that the given matrix is used up as workspace and only the eigenvectors asked for
//! are transformed back; eigenvalues fall, and signs are fixed, so that results can be compared.

use faer::diag::{DiagMut, DiagRef};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{
    ComputeEigenvectors, self_adjoint_evd_scratch, tridiag, tridiagonal_self_adjoint_evd,
};
use faer::linalg::{householder, qr};
use faer::{Conj, Mat, MatMut};

use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::linalg::product::parallel;
use crate::run::Run;

/// The name of the routine in errors.
const WHAT: &str = "symmetric eigendecomposition";

/// Eigenpairs of a symmetric matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, from the largest down. There may be more of them than of vectors.
    pub values: Vec<f64>,
    /// Orthonormal eigenvectors, one a *row*, in the order of the values. Of each the entry of
    /// largest magnitude is positive.
    pub vectors: Matrix,
}

/// All eigenvalues of the symmetric matrix `a`, from the largest down.
///
/// Only the upper half of `a` is read.
///
/// # Errors
///
/// If `a` has an entry that is not finite, if the iteration fails, or if the run is cancelled.
///
/// # Cost
///
/// Time $O(n^3)$, about half of [`eigen`]; no further matrix.
pub fn eigenvalues(a: Matrix, run: &Run) -> Result<Vec<f64>> {
    let n = check(&a)?;
    if n < 2 {
        return Ok(a.into_vec());
    }
    let reduced = Tridiagonal::new(a, run)?;
    let mut values = vec![0.0; n];
    reduced.solve(&mut values, None)?;
    values.reverse();
    Ok(values)
}

/// All eigenvalues of the symmetric matrix `a`, from the largest down, and the eigenvectors of the
/// largest: as many as `count` says once it has seen the eigenvalues.
///
/// Only the upper half of `a` is read.
///
/// # Errors
///
/// If `a` has an entry that is not finite, if the iteration fails, or if the run is cancelled.
///
/// # Cost
///
/// Time $O(n^3)$; three further $n \times n$ matrices, and one for the eigenvectors.
pub fn eigen(a: Matrix, count: impl FnOnce(&[f64]) -> usize, run: &Run) -> Result<Eigen> {
    let n = check(&a)?;
    if n < 2 {
        let values = a.into_vec();
        let count = count(&values).min(n);
        return Ok(Eigen { values, vectors: Matrix::from_vec(count, n, vec![1.0; count * n]) });
    }
    let reduced = Tridiagonal::new(a, run)?;
    let mut values = vec![0.0; n];
    let mut inner = Mat::zeros(n, n);
    reduced.solve(&mut values, Some(inner.as_mut()))?;
    run.check()?;
    values.reverse();
    let count = count(&values).min(n);
    // Columns of faer's matrix are rows of ours.
    let mut vectors = Matrix::zeros(count, n);
    for j in 0..count {
        let column = inner.col(n - 1 - j);
        vectors.row_mut(j).iter_mut().zip(column.iter()).for_each(|(to, from)| *to = *from);
    }
    drop(inner);
    reduced.transform_back(&mut vectors);
    fix_signs(&mut vectors);
    Ok(Eigen { values, vectors })
}

/// Makes of every row the entry of largest magnitude positive.
pub(crate) fn fix_signs(vectors: &mut Matrix) {
    for j in 0..vectors.nrows() {
        let row = vectors.row_mut(j);
        let largest = row.iter().fold(0.0_f64, |max, x| if x.abs() > max.abs() { *x } else { max });
        if largest < 0.0 {
            row.iter_mut().for_each(|x| *x = -*x);
        }
    }
}

/// The order of `a`, which must be square and finite.
fn check(a: &Matrix) -> Result<usize> {
    assert_eq!(a.nrows(), a.ncols(), "a square matrix");
    if a.as_slice().iter().all(|x| x.is_finite()) {
        return Ok(a.nrows());
    }
    Err(Error::Numerical {
        what: WHAT,
        problem: "the matrix has entries that are not finite".into(),
    })
}

/// $A = Q T Q^T$ with $T$ tridiagonal and $Q$ a product of Householder reflections.
struct Tridiagonal {
    diagonal: Vec<f64>,
    below: Vec<f64>,
    /// Below the diagonal of its transpose: the reflections.
    basis: Matrix,
    factor: Mat<f64>,
}

impl Tridiagonal {
    fn new(mut a: Matrix, run: &Run) -> Result<Self> {
        run.check()?;
        let n = a.nrows();
        let block = qr::no_pivoting::factor::recommended_block_size::<f64>(n, n);
        let mut factor = Mat::zeros(block, n - 1);
        let need = tridiag::tridiag_in_place_scratch::<f64>(n, parallel(), Default::default());
        // faer works down columns; of a symmetric matrix, our rows are as good.
        tridiag::tridiag_in_place(
            MatMut::from_column_major_slice_mut(a.as_mut_slice(), n, n),
            factor.as_mut(),
            parallel(),
            MemStack::new(&mut workspace(need)?),
            Default::default(),
        );
        run.check()?;
        let diagonal = (0..n).map(|i| a[(i, i)]).collect();
        let below = (0..n).map(|i| if i + 1 < n { a[(i, i + 1)] } else { 0.0 }).collect();
        Ok(Tridiagonal { diagonal, below, basis: a, factor })
    }

    /// The eigenvalues of $T$, rising, and its eigenvectors as columns.
    fn solve(&self, values: &mut [f64], vectors: Option<MatMut<'_, f64>>) -> Result<()> {
        let wanted =
            if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        // The workspace of the whole decomposition covers that of its middle part.
        let n = self.diagonal.len();
        let need = self_adjoint_evd_scratch::<f64>(n, wanted, parallel(), Default::default());
        tridiagonal_self_adjoint_evd(
            DiagRef::from_slice(&self.diagonal),
            DiagRef::from_slice(&self.below),
            DiagMut::from_slice_mut(values),
            vectors,
            parallel(),
            MemStack::new(&mut workspace(need)?),
            Default::default(),
        )
        .map_err(|_| Error::Numerical { what: WHAT, problem: "no convergence".to_owned() })
    }

    /// Turns eigenvectors of $T$ (rows) into eigenvectors of $A$.
    fn transform_back(&self, vectors: &mut Matrix) {
        let (count, n) = (vectors.nrows(), vectors.ncols());
        if count == 0 {
            return;
        }
        let need = householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(
            n - 1,
            self.factor.nrows(),
            count,
        );
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            self.basis.as_faer().transpose().submatrix(1, 0, n - 1, n - 1),
            self.factor.as_ref(),
            Conj::No,
            MatMut::from_column_major_slice_mut(vectors.as_mut_slice(), n, count)
                .subrows_mut(1, n - 1),
            parallel(),
            MemStack::new(&mut MemBuffer::new(need)),
        );
    }
}

/// Working memory for faer, refused rather than aborted on if the machine has none left.
fn workspace(need: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(need)
        .map_err(|_| Error::Numerical { what: WHAT, problem: "out of memory".to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::product;
    use crate::rng::{Rng, Stream};

    fn random_symmetric(n: usize, seed: u64) -> Matrix {
        let mut rng = Rng::new(seed, Stream::Data);
        let half = Matrix::from_vec(n, n, (0..n * n).map(|_| rng.normal()).collect());
        Matrix::from_fn(n, n, |i, j| half[(i.min(j), i.max(j))])
    }

    fn all(a: &Matrix) -> Eigen {
        eigen(a.clone(), <[f64]>::len, &Run::new(0)).unwrap()
    }

    proptest! {
        #[test]
        fn pairs_solve_the_eigenproblem(n in 1..60usize, seed: u64, wanted in 0..60usize) {
            let a = random_symmetric(n, seed);
            let run = Run::new(0);
            let Eigen { values, vectors } = eigen(a.clone(), |_| wanted, &run).unwrap();
            prop_assert!(values.is_sorted_by(|x, y| x >= y));
            prop_assert_eq!((vectors.nrows(), vectors.ncols()), (wanted.min(n), n));
            let image = product(vectors.as_faer(), a.as_faer());
            for j in 0..vectors.nrows() {
                for i in 0..n {
                    // Backward stable: n * epsilon * norm is below 1e-12 here.
                    prop_assert!((image[(j, i)] - values[j] * vectors[(j, i)]).abs() < 1e-12);
                }
                let largest = vectors.row(j).iter().max_by(|x, y| x.abs().total_cmp(&y.abs()));
                prop_assert!(*largest.unwrap() > 0.0);
            }
            let gram = product(vectors.as_faer(), vectors.as_faer().transpose());
            for i in 0..gram.nrows() {
                for j in 0..gram.ncols() {
                    prop_assert!((gram[(i, j)] - f64::from(i == j)).abs() < 1e-12);
                }
            }
            let alone = eigenvalues(a, &run).unwrap();
            prop_assert!(alone.iter().zip(&values).all(|(x, y)| (x - y).abs() < 1e-12));
        }
    }

    /// The second difference matrix has eigenvalues $2 - 2 \cos(j \pi / (n + 1))$; 300 is past the
    /// size where divide and conquer begins.
    #[test]
    fn a_known_spectrum_is_found() {
        let n = 300;
        let a = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let exact =
            |j: usize| 2.0 - 2.0 * ((n - j) as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
        let found = all(&a);
        for (j, value) in found.values.iter().enumerate() {
            assert!((value - exact(j)).abs() < 1e-12, "{j}: {value} {}", exact(j));
        }
        assert_eq!(found.vectors.nrows(), n);
    }

    #[test]
    fn sizes_nought_and_one_are_answered() {
        let run = Run::new(0);
        assert_eq!(eigenvalues(Matrix::zeros(0, 0), &run), Ok(vec![]));
        let one = eigen(Matrix::from_vec(1, 1, vec![-3.0]), |_| 1, &run).unwrap();
        assert_eq!((one.values, one.vectors.into_vec()), (vec![-3.0], vec![1.0]));
    }

    #[test]
    fn infinite_entries_are_an_error() {
        let a = Matrix::from_vec(2, 2, vec![1.0, f64::NAN, f64::NAN, 1.0]);
        assert!(matches!(eigenvalues(a, &Run::new(0)), Err(Error::Numerical { .. })));
    }

    #[test]
    fn cancelling_stops_it() {
        let flag = crate::run::CancelFlag::default();
        flag.cancel();
        let run = Run::new(0).cancel_flag(flag);
        assert_eq!(eigenvalues(random_symmetric(5, 0), &run), Err(Error::Cancelled));
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let a = random_symmetric(400, 1);
        let on = |threads| Run::new(0).threads(threads).install(|| all(&a));
        assert_eq!(on(1), on(2));
    }
}
