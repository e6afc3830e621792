//! Shrinking of singular values: the step that makes a matrix of low rank.

use crate::error::Result;
use crate::linalg::{Matrix, eigen, product, product_into};
use crate::run::Run;

/// The matrix $U (\Sigma - \tau I)_+ V^T$ of a square $X = U \Sigma V^T$, and the sum of its
/// singular values: the minimiser of $\tau \lVert Q \rVert_* + \frac 1 2 \lVert Q - X \rVert^2$.
///
/// It is had from the eigenvectors of $X^T X$. That squares the condition, so singular values below
/// about $10^{-8}$ of the largest are uncertain; as they are multiplied by what they measure, the
/// answer is off by no more than that.
///
/// # Errors
///
/// If `x` has an entry that is not finite or the run is cancelled.
///
/// # Cost
///
/// Time $O(n^3)$, but $O(n^2)$ where $\tau$ is above the Frobenius norm; five further
/// $n \times n$ matrices.
pub fn shrink_singular_values(x: &Matrix, threshold: f64, run: &Run) -> Result<(Matrix, f64)> {
    // No singular value is above the root of the sum of all squares.
    let squares: f64 = x.as_slice().iter().map(|value| value * value).sum();
    if squares.sqrt() <= threshold {
        return Ok((Matrix::zeros(x.nrows(), x.ncols()), 0.0));
    }
    let view = x.as_faer();
    let found = eigen(
        product(view.transpose(), view),
        |values| values.partition_point(|&value| value.max(0.0).sqrt() > threshold),
        run,
    )?;
    run.check()?;
    let vectors = found.vectors;
    let mut image = product(view, vectors.as_faer().transpose());
    let singular: Vec<f64> =
        found.values[..vectors.nrows()].iter().map(|value| value.sqrt()).collect();
    for i in 0..image.nrows() {
        let row = image.row_mut(i).iter_mut().zip(&singular);
        row.for_each(|(y, s)| *y *= 1.0 - threshold / s);
    }
    let mut out = Matrix::zeros(x.nrows(), x.ncols());
    product_into(&mut out, image.as_faer(), vectors.as_faer());
    Ok((out, singular.iter().map(|s| s - threshold).sum()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::eigenvalues;
    use crate::rng::{Rng, Stream};

    proptest! {
        /// The minimiser is known by its subgradient: $(X - Q) / \tau$ has no singular value above 1
        /// and its inner product with $Q$ is the nuclear norm of $Q$.
        #[test]
        fn the_rest_is_a_subgradient(n in 1..25usize, seed: u64, threshold in 0.01..30.0f64) {
            let mut rng = Rng::new(seed, Stream::Data);
            let x = Matrix::from_vec(n, n, (0..n * n).map(|_| rng.normal()).collect());
            let run = Run::new(0);
            let (q, nuclear) = shrink_singular_values(&x, threshold, &run).unwrap();
            let rest = Matrix::from_fn(n, n, |i, j| (x[(i, j)] - q[(i, j)]) / threshold);
            let inner: f64 = rest.as_slice().iter().zip(q.as_slice()).map(|(a, b)| a * b).sum();
            prop_assert!((inner - nuclear).abs() < 1e-7 * (1.0 + nuclear));
            let gram = product(rest.as_faer().transpose(), rest.as_faer());
            prop_assert!(eigenvalues(gram, &run).unwrap()[0] < 1.0 + 1e-7);
        }
    }
}
