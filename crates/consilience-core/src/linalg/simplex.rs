//! The simplex: nearest points and quadratic minima on it.

use crate::linalg::Matrix;

/// Moves `x` to the nearest point of the weighted simplex: the minimiser of
/// $\sum_i w_i (y_i - x_i)^2$ over $y \ge 0$, $\sum_i w_i y_i = 1$. `order` is workspace.
///
/// The answer is $\max(x - \theta, 0)$ with the threshold $\theta$ at which the weighted sum is 1;
/// it is found among the sorted entries. Cost: $O(n \log n)$.
///
/// # Panics
///
/// If `x` is empty or there is not one weight an entry. Weights must be positive.
///
/// ```
/// use consilience_core::linalg::project_to_simplex;
/// let mut x = [0.9, 0.5, -1.0];
/// project_to_simplex(&mut x, &[1.0; 3], &mut Vec::new());
/// assert!((x[0] - 0.7).abs() < 1e-15 && (x[1] - 0.3).abs() < 1e-15 && x[2] == 0.0);
/// ```
pub fn project_to_simplex(x: &mut [f64], weights: &[f64], order: &mut Vec<u32>) {
    assert!(!x.is_empty(), "an empty simplex has no points");
    assert_eq!(x.len(), weights.len(), "one weight an entry");
    order.clear();
    order.extend(0..x.len() as u32);
    order.sort_unstable_by(|&i, &j| x[j as usize].total_cmp(&x[i as usize]).then(i.cmp(&j)));
    let (mut sum, mut mass, mut threshold) = (-1.0, 0.0, f64::NEG_INFINITY);
    for &i in order.iter() {
        let i = i as usize;
        if threshold >= x[i] {
            break;
        }
        sum += weights[i] * x[i];
        mass += weights[i];
        threshold = sum / mass;
    }
    x.iter_mut().for_each(|x| *x = (*x - threshold).max(0.0));
}

/// Minimises $x^T A x - 2 b^T x$ over the simplex from `x`, for $A$ positive semidefinite.
///
/// Accelerated projected gradient with restarts: equal rows of $A$ and $b$ with equal starts keep
/// equal coordinates, so where the minimum is not unique the answer does not depend on the order
/// of coordinates. Cost: $O(n^2)$ an iteration, at most ten thousand iterations.
///
/// # Panics
///
/// If the sizes do not fit.
pub fn minimise_on_simplex(a: &Matrix, b: &[f64], x: &mut Vec<f64>) {
    const MAX_ITER: usize = 10_000;
    let n = b.len();
    assert_eq!((a.nrows(), a.ncols(), x.len()), (n, n, n), "a square problem");
    let row_sum = |row: &[f64]| row.iter().map(|a| a.abs()).sum::<f64>();
    let steepest = a.iter_rows().map(row_sum).fold(0.0, f64::max);
    // Without curvature the scale of b sets the step.
    let scale = b.iter().fold(steepest, |max, b| max.max(b.abs()));
    if scale == 0.0 {
        return;
    }
    let step = 1.0 / steepest.max(1e-3 * scale);
    let (ones, mut order) = (vec![1.0; n], Vec::new());
    let mut ahead = x.clone();
    let mut momentum = 1.0_f64;
    for _ in 0..MAX_ITER {
        let mut next: Vec<f64> = (0..n)
            .map(|i| {
                let gradient: f64 = a.row(i).iter().zip(&ahead).map(|(a, x)| a * x).sum();
                ahead[i] - step * (gradient - b[i])
            })
            .collect();
        project_to_simplex(&mut next, &ones, &mut order);
        let change = next.iter().zip(&*x).map(|(y, x)| (y - x).abs()).fold(0.0, f64::max);
        // Momentum that points uphill is dropped.
        let uphill: f64 = (0..n).map(|i| (ahead[i] - next[i]) * (next[i] - x[i])).sum();
        let grown = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt());
        let carry = if uphill > 0.0 { 0.0 } else { (momentum - 1.0) / grown };
        momentum = if uphill > 0.0 { 1.0 } else { grown };
        ahead = next.iter().zip(&*x).map(|(y, x)| y + carry * (y - x)).collect();
        *x = next;
        if change < 1e-14 && carry == 0.0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Nearest: no point of the simplex makes an acute angle with the way back.
        #[test]
        fn projection_satisfies_its_variational_inequality(
            pairs in prop::collection::vec((-3.0..3.0f64, 0.1..5.0f64), 1..12),
        ) {
            let (v, w): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let mut x = v.clone();
            project_to_simplex(&mut x, &w, &mut Vec::new());
            prop_assert!(x.iter().all(|&x| x >= 0.0));
            prop_assert!((x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() - 1.0).abs() < 1e-12);
            // The corners of the simplex are e_j / w_j.
            let back: f64 = (0..x.len()).map(|i| w[i] * (v[i] - x[i]) * x[i]).sum();
            for j in 0..x.len() {
                prop_assert!(v[j] - x[j] - back < 1e-10);
            }
        }

        /// Optimal: at the minimum the gradient is least just where the mass is.
        #[test]
        fn quadratic_minima_are_stationary(
            rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 4), 1..7),
            shift in -2.0..2.0f64,
        ) {
            let n = rows.len();
            let dot = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(x, y)| x * y).sum();
            let a = Matrix::from_fn(n, n, dot);
            let b: Vec<f64> = rows.iter().map(|row| row[0] + shift).collect();
            let mut x = vec![1.0 / n as f64; n];
            minimise_on_simplex(&a, &b, &mut x);
            let gradient: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| a[(i, j)] * x[j]).sum::<f64>() - b[i]).collect();
            let least = gradient.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (x, g) in x.iter().zip(&gradient) {
                prop_assert!(x * (g - least) < 1e-6, "{x} {g} {least}");
            }
        }
    }

    #[test]
    fn equal_coordinates_stay_equal() {
        let a = Matrix::from_fn(4, 4, |i, j| if (i < 2) == (j < 2) { 1.0 } else { 0.5 });
        let mut x = vec![0.25; 4];
        minimise_on_simplex(&a, &[0.9, 0.9, 0.4, 0.4], &mut x);
        assert_eq!((x[0], x[2]), (x[1], x[3]));
        assert!(x[0] > x[2]);
    }
}
