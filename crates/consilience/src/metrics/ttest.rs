//! Whether two methods differ by more than chance over the same data sets.

use statrs::function::beta::beta_reg;

use crate::error::{Error, Result};

/// The outcome of a paired t-test.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TTest {
    /// The mean of the differences, first minus second.
    pub mean_difference: f64,
    /// The statistic, $\bar d / (s_d / \sqrt m)$. Infinite where all differences are the same and not
    /// 0.
    pub t: f64,
    /// Degrees of freedom, $m - 1$.
    pub df: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// The paired t-test of two lists of scores of the same length $m \ge 2$: entry $i$ of both is about
/// the same data set or repeat.
///
/// *Degenerate cases.* All differences 0: $t = 0$, $p = 1$. All differences equal and not 0: $t$ is
/// infinite, $p = 0$.
///
/// # Errors
///
/// If the lists differ in length, hold fewer than two scores, or a score is not finite.
///
/// ```
/// use consilience::metrics::paired_t_test;
/// let test = paired_t_test(&[0.71, 0.75, 0.70], &[0.70, 0.72, 0.68])?;
/// assert!(test.p > 0.05);
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn paired_t_test(a: &[f64], b: &[f64]) -> Result<TTest> {
    if a.len() != b.len() {
        return Err(Error::Length {
            what: "the second list of scores".to_owned(),
            got: b.len(),
            expected_by: "the first".to_owned(),
            expected: a.len(),
        });
    }
    if a.len() < 2 {
        return Err(Error::parameter("scores", "at least two pairs", a.len()));
    }
    if let Some(row) = a.iter().zip(b).position(|(a, b)| !a.is_finite() || !b.is_finite()) {
        return Err(Error::Value {
            what: "scores".to_owned(),
            row,
            column: None,
            problem: "a score must be a finite number".to_owned(),
        });
    }
    let m = a.len() as f64;
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let mean = differences.iter().sum::<f64>() / m;
    let df = m - 1.0;
    let variance = differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / df;
    // The mean of equal differences may be rounded, leaving a variance that is not quite 0.
    let (t, p) = if differences.iter().all(|d| *d == differences[0]) {
        if differences[0] == 0.0 { (0.0, 1.0) } else { (f64::INFINITY.copysign(mean), 0.0) }
    } else {
        let t = mean / (variance / m).sqrt();
        // Both tails of Student's distribution at once, with all digits however small they are.
        (t, beta_reg(df / 2.0, 0.5, df / (df + t * t)))
    };
    Ok(TTest { mean_difference: mean, t, df, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_case() {
        // Differences 1, 2, 3, 4: mean 2.5, s = 1.29099, t = 3.87298.
        let test = paired_t_test(&[2.0, 4.0, 6.0, 8.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((test.mean_difference, test.df), (2.5, 3.0));
        assert!((test.t - 15f64.sqrt()).abs() < 1e-14);
        let swapped = paired_t_test(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 6.0, 8.0]).unwrap();
        assert_eq!((swapped.t, swapped.p), (-test.t, test.p));
    }

    /// `scipy.stats.ttest_rel` of SciPy 1.17.
    #[test]
    fn as_scipy_has_it() {
        let cases: [(&[f64], &[f64], f64, f64); 2] = [
            (
                &[2.0, 4.0, 6.0, 8.0, 10.5],
                &[1.0, 2.0, 3.0, 4.0, 5.0],
                3.969_143_277_919_775_5,
                0.016_550_539_701_028_155,
            ),
            (
                &[0.81, 0.79, 0.9, 0.7],
                &[0.8, 0.8, 0.85, 0.71],
                std::f64::consts::FRAC_1_SQRT_2,
                0.530_477_770_932_956_9,
            ),
        ];
        for (a, b, t, p) in cases {
            let found = paired_t_test(a, b).unwrap();
            assert!((found.t - t).abs() < 1e-12 && (found.p - p).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn differences_that_do_not_vary() {
        let same = paired_t_test(&[0.1, 0.2], &[0.1, 0.2]).unwrap();
        assert_eq!((same.t, same.p), (0.0, 1.0));
        let shifted = paired_t_test(&[1.5, 2.5, 3.5], &[2.0, 3.0, 4.0]).unwrap();
        assert_eq!((shifted.t, shifted.p), (f64::NEG_INFINITY, 0.0));
    }

    #[test]
    fn what_cannot_be_tested_is_refused() {
        assert!(paired_t_test(&[1.0], &[1.0]).is_err());
        assert!(paired_t_test(&[1.0, 2.0], &[1.0]).is_err());
        assert!(paired_t_test(&[1.0, f64::NAN], &[1.0, 2.0]).is_err());
        assert!(paired_t_test(&[1.0, 2.0], &[1.0, f64::INFINITY]).is_err());
    }
}
