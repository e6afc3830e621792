//! How alike random walks are.

use crate::error::Result;
use crate::linalg::{Matrix, product_into, symmetric_product_into};
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
    let lengths: Vec<f64> = (0..n).map(|i| cosines[(i, i)].sqrt()).collect();
    for i in 0..n {
        for (j, x) in cosines.row_mut(i).iter_mut().enumerate() {
            let scale = lengths[i] * lengths[j];
            *x = if i == j {
                1.0
            } else if scale > 0.0 {
                (*x / scale).min(1.0)
            } else {
                0.0
            };
        }
    }
    Ok(cosines)
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
    }
}
