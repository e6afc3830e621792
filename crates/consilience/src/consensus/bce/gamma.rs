//! $\psi$ and $\ln\Gamma$ without branches, so that loops over them vectorise.
//!
//! Both have asymptotic series that are exact to the last digits from 10 on. With $z = x + 10$ and
//! $P(x) = x (x + 1) \cdots (x + 9)$,
//!
//! $$ \psi(x) = \psi(z) - \frac{P'(x)}{P(x)}, \qquad \ln\Gamma(x) = \ln\Gamma(z) - \ln P(x), $$
//!
//! and as $(x + i)(x + 9 - i) = y + i (9 - i)$ with $y = x^2 + 9 x$, $P$ has degree 5 in $y$. Nothing in
//! $P'/P$ cancels. Good for $0 < x < 10^{20}$.

use crate::linalg::ln_branchless;

/// $\psi(x)$ as $\ln z + t$: gives $z$ and $t$.
#[inline(always)]
pub(super) fn digamma_parts(x: f64) -> (f64, f64) {
    let z = x + 10.0;
    let (p, slope) = rising(x);
    let inverse = 1.0 / z;
    let q = inverse * inverse;
    let series = q
        * (1.0 / 12.0
            - q * (1.0 / 120.0
                - q * (1.0 / 252.0
                    - q * (1.0 / 240.0 - q * (1.0 / 132.0 - q * (691.0 / 32_760.0))))));
    (z, -(slope / p) - (0.5 * inverse + series))
}

/// $\psi(x) = \ln z + t$ and $\ln\Gamma(x) = (z - \tfrac12) \ln z + g - \ln P(x)$ with one $z$.
pub(super) struct Parts {
    pub(super) z: f64,
    /// $t$.
    pub(super) digamma: f64,
    /// $g$.
    pub(super) ln_gamma: f64,
    /// $P(x)$.
    pub(super) rising: f64,
}

/// The parts of $\psi(x)$ and $\ln\Gamma(x)$.
#[inline(always)]
pub(super) fn parts(x: f64) -> Parts {
    const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;
    let (z, digamma) = digamma_parts(x);
    let inverse = 1.0 / z;
    let q = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - q * (1.0 / 360.0
                - q * (1.0 / 1260.0
                    - q * (1.0 / 1680.0 - q * (1.0 / 1188.0 - q * (691.0 / 360_360.0))))));
    Parts { z, digamma, ln_gamma: series + HALF_LN_TAU - z, rising: rising(x).0 }
}

/// $\psi(x)$.
#[inline(always)]
pub(super) fn digamma(x: f64) -> f64 {
    let (z, t) = digamma_parts(x);
    ln_branchless(z) + t
}

/// $\ln\Gamma(x)$.
#[inline(always)]
pub(super) fn ln_gamma(x: f64) -> f64 {
    let Parts { z, ln_gamma, rising, .. } = parts(x);
    (z - 0.5) * ln_branchless(z) + ln_gamma - ln_branchless(rising)
}

/// $P(x)$ and $P'(x)$.
#[inline(always)]
fn rising(x: f64) -> (f64, f64) {
    let y = x * (x + 9.0);
    let p = y * ((((y + 60.0) * y + 1308.0) * y + 12_176.0) * y + 40_320.0);
    let by_y = (((5.0 * y + 240.0) * y + 3924.0) * y + 24_352.0) * y + 40_320.0;
    (p, by_y * (2.0 * x + 9.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::function::gamma as reference;

    use super::*;

    #[test]
    fn known_places() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + EULER).abs() < 1e-14);
        assert!((digamma(0.5) + EULER + 4f64.ln()).abs() < 1e-14);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn they_agree_with_the_library(x in prop_oneof![1e-6..1.0, 1.0..30.0, 30.0..1e5]) {
            for (fast, slow) in [
                (digamma(x), reference::digamma(x)),
                (ln_gamma(x), reference::ln_gamma(x)),
            ] {
                prop_assert!((fast - slow).abs() < 1e-12 * (1.0 + slow.abs()), "{x}: {fast} {slow}");
            }
        }

        /// $\psi(x + 1) = \psi(x) + 1/x$, and the same of its exponential's parts.
        #[test]
        fn psi_climbs_by_the_inverse(x in 1e-3..100.0f64) {
            let climb = digamma(x + 1.0) - digamma(x);
            prop_assert!((climb * x - 1.0).abs() < 1e-12 * (1.0 + x * 10.0));
        }
    }
}
