//! The errors of one pair in closed form (Theorem 3).
//!
//! For a pair of objects with consensus $a = \tilde A_{pq}$, $b = \tilde A_{qp}$ and connective value
//! $c$ of some member, the error $x$ minimises
//!
//! $$ f(x) = -(a + b) \log (c - x) - (2 - a - b) \log (1 - c + x) + 2 \lambda_1 |x|,
//!    \qquad c - 1 \le x \le c. \tag{14} $$
//!
//! With $s = (a + b) / 2$ and the *cleaned* value $y = c - x$, $f$ is convex with a kink at $y = c$,
//! its stationary point on the side $x < 0$ is $y_0(s)$ and on the other $y_1(s)$ (15, 16), so the
//! paper's better of two candidates is
//!
//! $$ y = \min ( \max (c, y_0(s)), y_1(s) ), \qquad
//!    y_0(s) = \frac{2 s}{1 + \lambda_1 + \sqrt{(1 + \lambda_1)^2 - 4 \lambda_1 s}}, \qquad
//!    y_1(s) = 1 - y_0(1 - s). $$
//!
//! Members that do not reach the bounds do not differ here, so a pair needs the two bounds and how
//! many members lie beyond each: no error matrix is kept.

use crate::math;

/// The bounds $y_0 \le y_1$ and their complements, each without cancellation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) low: f64,
    pub(super) high: f64,
    /// $1 - y_0$.
    pub(super) above_low: f64,
    /// $1 - y_1$.
    pub(super) above_high: f64,
}

impl Bounds {
    /// The bounds for the mean consensus `s`, in (0, 1).
    #[inline(always)]
    pub(super) fn new(s: f64, lambda: f64) -> Self {
        let rest = 1.0 - s;
        let (sum, difference) = (1.0 + lambda, 1.0 - lambda);
        // The two roots belong to s and 1 - s; `max` guards against rounding at lambda = 1.
        let root = (sum * sum - 4.0 * lambda * s).max(0.0).sqrt();
        let root_of_rest = (sum * sum - 4.0 * lambda * rest).max(0.0).sqrt();
        let high = |s: f64, root_of_rest: f64| {
            if lambda < 1.0 {
                2.0 * s / (difference + root_of_rest)
            } else {
                (root_of_rest - difference) / (2.0 * lambda)
            }
        };
        Bounds {
            low: 2.0 * s / (sum + root),
            high: high(s, root_of_rest),
            above_low: high(rest, root),
            above_high: 2.0 * rest / (sum + root_of_rest),
        }
    }
}

/// What the cleaned values of all members say about one pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cleaned {
    /// How many members observe the pair, $m$.
    pub(super) observed: f64,
    /// $C_{pq} = \sum_i \log ((1 - y_i) / y_i)$.
    pub(super) c: f64,
    /// $\sum_i \log (1 - y_i)$.
    pub(super) log_rest: f64,
    /// $\sum_i |E^{(i)}_{pq}|$.
    pub(super) error: f64,
}

impl Cleaned {
    /// Adds members with connective values `values`, in [0, 1].
    pub(super) fn add_soft(&mut self, bounds: &Bounds, values: impl Iterator<Item = f64>) {
        /// Factors are above 1e-17, so a product of as many is a normal number.
        const FACTORS: u32 = 16;
        let (mut at_high, mut at_low) = (0.0, 0.0);
        let (mut product, mut product_of_rests, mut factors) = (1.0_f64, 1.0_f64, 0);
        for c in values {
            self.observed += 1.0;
            if c >= bounds.high {
                at_high += 1.0;
                self.error += c - bounds.high;
            } else if c <= bounds.low {
                at_low += 1.0;
                self.error += bounds.low - c;
            } else {
                product *= c;
                product_of_rests *= 1.0 - c;
                factors += 1;
                if factors == FACTORS {
                    self.c += math::ln(product_of_rests / product);
                    self.log_rest += math::ln(product_of_rests);
                    (product, product_of_rests, factors) = (1.0, 1.0, 0);
                }
            }
        }
        if factors > 0 {
            self.c += math::ln(product_of_rests / product);
            self.log_rest += math::ln(product_of_rests);
        }
        self.add_bounds(bounds, at_high, at_low);
    }

    fn add_bounds(&mut self, bounds: &Bounds, at_high: f64, at_low: f64) {
        if at_high > 0.0 {
            self.c += at_high * math::ln(bounds.above_high / bounds.high);
            self.log_rest += at_high * math::ln(bounds.above_high);
        }
        if at_low > 0.0 {
            self.c += at_low * math::ln(bounds.above_low / bounds.low);
            self.log_rest += at_low * math::ln(bounds.above_low);
        }
    }
}

/// $|E^{(i)}_{pq}|$ of a member with connective value `c`.
pub(super) fn error(bounds: &Bounds, c: f64) -> f64 {
    (c - bounds.high).max(bounds.low - c).max(0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// (14), with $0 \log 0 = 0$.
    fn f(x: f64, a: f64, b: f64, c: f64, lambda: f64) -> f64 {
        let part = |share: f64, y: f64| if share == 0.0 { 0.0 } else { -share * y.ln() };
        part(a + b, c - x) + part(2.0 - a - b, 1.0 - c + x) + 2.0 * lambda * x.abs()
    }

    /// Any consensus that can occur, and any penalty of the paper's grid.
    fn cases() -> impl Strategy<Value = (f64, f64, f64, f64)> {
        let a = || prop_oneof![1e-12..1e-6, 1e-6..0.999_999, (1e-12..1e-6).prop_map(|x| 1.0 - x)];
        let c = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
        (a(), a(), c, (-4.0..4.0).prop_map(|e| 10f64.powf(e)))
    }

    proptest! {
        /// Theorem 3: no error is better than the closed form's.
        #[test]
        fn the_closed_form_beats_a_fine_grid((a, b, c, lambda) in cases()) {
            let bounds = Bounds::new(f64::midpoint(a, b), lambda);
            let y = c.max(bounds.low).min(bounds.high);
            let (x, own) = (c - y, f(c - y, a, b, c, lambda));
            prop_assert!((c - 1.0..=c).contains(&x));
            for step in 1..4000 {
                let x = c - f64::from(step) / 4000.0;
                let other = f(x, a, b, c, lambda);
                prop_assert!(own <= other + 1e-12 * other.abs(), "{} {}: {} {}", y, x, own, other);
            }
            // Finer around the optimum.
            for step in -50..=50 {
                let x = c - (y * (1.0 + 1e-3 * f64::from(step))).clamp(1e-300, 1.0 - 1e-16);
                prop_assert!(own <= f(x, a, b, c, lambda) + 1e-9 * own.abs());
            }
        }

        /// The paper's words: the better of two candidates.
        #[test]
        fn the_clipped_form_is_the_better_of_the_papers_candidates((a, b, c, lambda) in cases()) {
            let root = ((lambda + 1.0).powi(2) - 2.0 * lambda * (a + b)).sqrt();
            let x1 = ((2.0 * lambda * c - lambda - 1.0 + root) / (2.0 * lambda)).min(0.0);
            let root = ((1.0 - lambda).powi(2) + 2.0 * lambda * (a + b)).sqrt();
            let x2 = ((lambda - 2.0 * lambda * c - 1.0 + root) / (-2.0 * lambda)).max(0.0);
            let bounds = Bounds::new(f64::midpoint(a, b), lambda);
            let x = c - c.max(bounds.low).min(bounds.high);
            // The paper's formulas cancel for small lambda, so theirs may be worse, never ours.
            let theirs = [x1, x2].map(|x| f(x, a, b, c, lambda));
            let best = theirs.into_iter().filter(|f| !f.is_nan()).fold(f64::INFINITY, f64::min);
            // Near 1 the logarithm's argument is rounded to 1e-16.
            prop_assert!(f(x, a, b, c, lambda) <= best + 1e-12 * best.abs() + 1e-15);
            if lambda > 0.1 {
                prop_assert!((x - x1).abs().min((x - x2).abs()) < 1e-12);
            }
            prop_assert!((error(&bounds, c) - x.abs()).abs() < 1e-15);
        }

        /// Lemma 3: of the two roots of (16) one is never inside, the other always is.
        #[test]
        fn lemma_3((a, b, c, lambda) in cases()) {
            let root = ((lambda + 1.0).powi(2) - 2.0 * lambda * (a + b)).sqrt();
            let middle = 2.0 * lambda * c - lambda - 1.0;
            // Compared after multiplying by 2 lambda, so that rounding is not blown up.
            let slack = 1e-15 * (1.0 + lambda);
            let (lower, upper) = (2.0 * lambda * (c - 1.0), 2.0 * lambda * c);
            prop_assert!(middle - root <= lower + slack);
            prop_assert!(lower <= middle + root + slack);
            prop_assert!(middle + root <= upper + slack);
        }

        #[test]
        fn complements_are_complements(s in 1e-12..1.0f64, e in -4.0..4.0f64) {
            let bounds = Bounds::new(s, 10f64.powf(e));
            prop_assert!((bounds.low + bounds.above_low - 1.0).abs() < 1e-15);
            prop_assert!((bounds.high + bounds.above_high - 1.0).abs() < 1e-15);
            prop_assert!(bounds.low <= s * (1.0 + 1e-15) && s <= bounds.high * (1.0 + 1e-15));
        }
    }
}
