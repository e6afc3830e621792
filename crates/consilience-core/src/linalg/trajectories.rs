//! How alike random walks are.

use crate::error::Result;
use crate::linalg::{Matrix, eigen, product_into, symmetric_product_into};
use crate::run::Run;

/// The cosines of the trajectories of a random walk, of which entry $(i, j)$ of `walk` is the
/// probability to go from $i$ to $j$. The trajectory of $i$ is row $i$ of $P, P^2, \dots, P^t$ one
/// after the other. One that can go nowhere is like none but itself.
///
/// # Errors
///
/// If the run is cancelled; the flag is read after every step.
///
/// # Cost
///
/// Time $O(t n^3)$; four further $n \times n$ matrices.
///
/// # Panics
///
/// If `walk` is not square.
pub fn trajectory_cosines(walk: &Matrix, steps: usize, run: &Run) -> Result<Matrix> {
    let n = walk.nrows();
    let mut cosines = Matrix::zeros(n, n);
    let mut here = walk.clone();
    // The square of a step, then the next step.
    let mut space = Matrix::zeros(n, n);
    for step in 1..=steps {
        run.check()?;
        symmetric_product_into(&mut space, here.as_faer(), here.as_faer().transpose());
        let sums = cosines.as_mut_slice().iter_mut().zip(space.as_slice());
        sums.for_each(|(sum, x)| *sum += x);
        if step < steps {
            product_into(&mut space, here.as_faer(), walk.as_faer());
            std::mem::swap(&mut here, &mut space);
        }
    }
    to_cosines(&mut cosines);
    Ok(cosines)
}

/// The same for a walk that goes from $i$ to $j$ in proportion to a symmetric `similarity` with a diagonal of 0.
///
/// With $D$ the degrees and $D^{-1/2} S D^{-1/2} = V \Lambda V^T$ the walk is
/// $P = D^{-1/2} V \Lambda V^T D^{1/2}$, so $\sum_t P^t (P^t)^T$ is, but for scales of rows and columns that
/// cosines do not see, $V (V^T D V \circ \sum_t (\lambda_i \lambda_j)^t) V^T$: one eigenproblem and three
/// products, however long the walk.
///
/// # Errors
///
/// If the run is cancelled, or the iteration for the eigenvalues fails.
///
/// # Cost
///
/// Time $O(n^3)$; four further $n \times n$ matrices.
///
/// # Panics
///
/// If `similarity` is not square.
pub fn symmetric_trajectory_cosines(
    mut similarity: Matrix,
    steps: usize,
    run: &Run,
) -> Result<Matrix> {
    let n = similarity.nrows();
    let degrees: Vec<f64> = similarity.iter_rows().map(|row| row.iter().sum()).collect();
    let root = |i: usize| if degrees[i] > 0.0 { 1.0 / degrees[i].sqrt() } else { 0.0 };
    let roots: Vec<f64> = (0..n).map(root).collect();
    for i in 0..n {
        let row = similarity.row_mut(i).iter_mut();
        row.zip(&roots).for_each(|(x, other)| *x *= roots[i] * other);
    }
    let found = eigen(similarity, <[f64]>::len, run)?;
    let mut scaled = found.vectors.clone();
    for j in 0..n {
        scaled.row_mut(j).iter_mut().zip(&degrees).for_each(|(x, degree)| *x *= degree);
    }
    let mut inner = Matrix::zeros(n, n);
    symmetric_product_into(&mut inner, scaled.as_faer(), found.vectors.as_faer().transpose());
    for i in 0..n {
        for (x, other) in inner.row_mut(i).iter_mut().zip(&found.values) {
            let power = found.values[i] * other;
            *x *= (0..steps).fold(0.0, |sum, _| power * (1.0 + sum));
        }
    }
    run.check()?;
    product_into(&mut scaled, inner.as_faer(), found.vectors.as_faer());
    symmetric_product_into(&mut inner, found.vectors.as_faer().transpose(), scaled.as_faer());
    // What can go nowhere has a trajectory of nothing but rounding.
    for i in (0..n).filter(|&i| degrees[i] == 0.0) {
        inner[(i, i)] = 0.0;
    }
    to_cosines(&mut inner);
    Ok(inner)
}

/// Inner products below this share of the lengths are rounding: trajectories that never meet.
const ROUNDING: f64 = 1e-12;

/// Inner products of all pairs → cosines; those of length 0 are like none but themselves.
fn to_cosines(products: &mut Matrix) {
    let n = products.nrows();
    let lengths: Vec<f64> = (0..n).map(|i| products[(i, i)].sqrt()).collect();
    for i in 0..n {
        for (j, x) in products.row_mut(i).iter_mut().enumerate() {
            let scale = lengths[i] * lengths[j];
            *x = if i == j {
                1.0
            } else if scale > 0.0 && *x > ROUNDING * scale {
                (*x / scale).min(1.0)
            } else {
                0.0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::product;
    use crate::rng::{Rng, Stream};

    proptest! {
        /// Trajectories written out and compared one by one.
        #[test]
        fn cosines_are_those_of_trajectories(n in 1..15usize, steps in 1..5usize, seed: u64) {
            let mut rng = Rng::new(seed, Stream::Data);
            let drawn = (0..n * n).map(|_| if rng.unit() < 0.5 { 0.0 } else { rng.unit() });
            let p = Matrix::from_vec(n, n, drawn.collect());
            let mut trajectories = vec![Vec::new(); n];
            let mut power = p.clone();
            for _ in 0..steps {
                (0..n).for_each(|i| trajectories[i].extend_from_slice(power.row(i)));
                power = product(power.as_faer(), p.as_faer());
            }
            let dot = |i: usize, j: usize| -> f64 {
                trajectories[i].iter().zip(&trajectories[j]).map(|(x, y)| x * y).sum()
            };
            let found = trajectory_cosines(&p, steps, &Run::new(0).threads(1)).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let scale = (dot(i, i) * dot(j, j)).sqrt();
                    let expected = if i == j {
                        1.0
                    } else if scale > 0.0 {
                        dot(i, j) / scale
                    } else {
                        0.0
                    };
                    prop_assert!((found[(i, j)] - expected).abs() < 1e-12);
                }
            }
        }

        #[test]
        fn a_symmetric_walk_needs_no_steps(n in 1..15usize, steps in 1..25usize, seed: u64) {
            let mut rng = Rng::new(seed, Stream::Data);
            let mut similarity = Matrix::zeros(n, n);
            for i in 0..n {
                for j in 0..i {
                    let x = if rng.unit() < 0.6 { 0.0 } else { rng.unit() };
                    (similarity[(i, j)], similarity[(j, i)]) = (x, x);
                }
            }
            let sums: Vec<f64> = similarity.iter_rows().map(|row| row.iter().sum()).collect();
            let share = |i: usize, j: usize| similarity[(i, j)] / sums[i].max(f64::MIN_POSITIVE);
            let walk = Matrix::from_fn(n, n, share);
            let run = Run::new(0).threads(1);
            let expected = trajectory_cosines(&walk, steps, &run).unwrap();
            let found = symmetric_trajectory_cosines(similarity, steps, &run).unwrap();
            for (x, y) in found.as_slice().iter().zip(expected.as_slice()) {
                prop_assert!((x - y).abs() < 1e-9, "{} {}", x, y);
            }
        }
    }
}
