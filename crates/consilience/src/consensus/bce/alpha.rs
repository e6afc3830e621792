//! $\alpha$ of a Dirichlet distribution, by Newton's method.

use statrs::function::gamma::{digamma, ln_gamma};

/// Where $\alpha_h$ may lie. Outside, the model hardly changes and its logarithms lose their digits.
pub(super) const ALPHA: std::ops::RangeInclusive<f64> = 1e-6..=1e4;

/// What $\alpha$ should make large, a unit of weight.
fn alpha_objective(alpha: &[f64], mean: &[f64]) -> f64 {
    let terms = alpha.iter().zip(mean).map(|(&a, s)| (a - 1.0) * s - ln_gamma(a));
    ln_gamma(alpha.iter().sum()) + terms.sum::<f64>()
}

/// A few steps of Newton's method for $\alpha$, given the mean of $\ln \theta$ over the objects; the
/// Hessian is diagonal but for a constant, so a step is $O(k)$.
pub(super) fn improve_alpha(alpha: &mut Vec<f64>, mean: &[f64]) {
    const STEPS: usize = 20;
    const HALVINGS: usize = 30;
    // A Dirichlet distribution over one cluster has no shape.
    if alpha.len() < 2 {
        return;
    }
    let mut height = alpha_objective(alpha, mean);
    for _ in 0..STEPS {
        let sum: f64 = alpha.iter().sum();
        let (psi, z) = (digamma(sum), trigamma(sum));
        let g: Vec<f64> = alpha.iter().zip(mean).map(|(&a, s)| s + psi - digamma(a)).collect();
        let d: Vec<f64> = alpha.iter().map(|&a| -trigamma(a)).collect();
        let b = g.iter().zip(&d).map(|(g, d)| g / d).sum::<f64>()
            / (1.0 / z + d.iter().map(|d| 1.0 / d).sum::<f64>());
        let step: Vec<f64> = g.iter().zip(&d).map(|(g, d)| (g - b) / d).collect();
        let mut length = 1.0;
        let mut better = None;
        for _ in 0..HALVINGS {
            let next: Vec<f64> = alpha.iter().zip(&step).map(|(a, x)| a - length * x).collect();
            if next.iter().all(|a| ALPHA.contains(a)) {
                let reached = alpha_objective(&next, mean);
                // Near the top rounding decides which of two heights is larger.
                if reached >= height - 1e-13 * (1.0 + height.abs()) {
                    better = Some((next, reached));
                    break;
                }
            }
            length /= 2.0;
        }
        let Some((next, reached)) = better else { return };
        // By the step and not by the height, which is flat near the top: the last digits of alpha
        // would be left to chance.
        let settled = step.iter().zip(&*alpha).all(|(x, a)| x.abs() <= 1e-10 * a);
        (*alpha, height) = (next, reached);
        if settled {
            return;
        }
    }
}

/// $\psi'(x)$ for $x > 0$: the recurrence up to 10, then the asymptotic series.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    // Bernoulli numbers 1/6, -1/30, 1/42, -1/30, 5/66.
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + 1.0 / x + y / 2.0 + y / x * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigamma_of_known_places() {
        let pi2 = std::f64::consts::PI.powi(2);
        assert!((trigamma(1.0) - pi2 / 6.0).abs() < 1e-13);
        assert!((trigamma(0.5) - pi2 / 2.0).abs() < 1e-13);
        for x in [1e-6, 0.3, 2.5, 40.0, 1e4] {
            let recurrence = trigamma(x) - trigamma(x + 1.0);
            assert!((recurrence * x * x - 1.0).abs() < 1e-6, "{x}");
            let step = 1e-4 * x;
            let slope = (digamma(x + step) - digamma(x - step)) / (2.0 * step);
            assert!((slope / trigamma(x) - 1.0).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn alpha_of_known_means_is_found() {
        // E ln theta_h = psi(alpha_h) - psi(sum): the maximum is at that alpha.
        let truth = [0.3, 2.0, 5.0];
        let mean: Vec<f64> =
            truth.iter().map(|&a| digamma(a) - digamma(truth.iter().sum())).collect();
        let mut alpha = vec![1.0; 3];
        improve_alpha(&mut alpha, &mean);
        for (a, b) in alpha.iter().zip(truth) {
            assert!((a - b).abs() < 1e-5 * b, "{alpha:?}");
        }
    }
}
