//! As many clusters as there are dominating eigenvalues.
//!
//! X. Wang, C. Yang, J. Zhou. *Spectral Aggregation for Clustering Ensemble.* ICPR 2008, section
//! 2.2. Equation numbers are the paper's.
//!
//! The non-zero eigenvalues of the 0-1 affinity matrix of *one* clustering are the sizes of its
//! clusters (observations 1 and 2). In the mean of many, agreement adds up in the leading
//! eigenvalues and noise is spread over the others, so the number of clusters is the number of
//! eigenvalues that together first exceed a share $\epsilon$ of all:
//!
//! $$ k = \min \Bigl\\{ s : \sum_{i \le s} \psi_i > \epsilon \sum_i \psi_i \Bigr\\} \tag{3} $$
//!
//! This summarises the ensemble; it is no absolute estimate. Members of many small clusters give a
//! large $k$.

/// How much the share must exceed $\epsilon$: five equal clusters have shares of 1/5, whose sum
/// over four is 0.8 in exact arithmetic and must not exceed 0.8 by rounding.
const MARGIN: f64 = 1e-9;

/// The number of eigenvalues, from the largest down, that together first exceed the share `epsilon`
/// of `trace`; `None` if those given do not.
///
/// `values` may be the largest only; negative ones count as nought.
pub(crate) fn dominating(values: &[f64], trace: f64, epsilon: f64) -> Option<usize> {
    let shares = cumulative_shares(values, trace);
    shares.iter().position(|&share| share > epsilon + MARGIN).map(|at| at + 1)
}

/// The share of `trace` that the first, the first two, ... of `values` have; negative ones count as
/// nought.
pub(crate) fn cumulative_shares(values: &[f64], trace: f64) -> Vec<f64> {
    let mut sum = 0.0;
    values
        .iter()
        .map(|value| {
            sum += value.max(0.0);
            sum / trace
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inequality_is_strict_for_five_equal_clusters() {
        for size in [1.0, 3.0, 0.1, 7.77] {
            assert_eq!(dominating(&[size; 5], 5.0 * size, 0.8), Some(5));
        }
    }

    #[test]
    fn few_large_eigenvalues_are_enough() {
        assert_eq!(dominating(&[6.0, 3.0, 0.5, 0.5], 10.0, 0.8), Some(2));
        assert_eq!(dominating(&[9.0, 1.0, -1e-17], 10.0, 0.8), Some(1));
    }

    #[test]
    fn too_few_eigenvalues_do_not_decide() {
        assert_eq!(dominating(&[4.0, 3.0], 10.0, 0.8), None);
        assert_eq!(dominating(&[], 10.0, 0.8), None);
    }
}
