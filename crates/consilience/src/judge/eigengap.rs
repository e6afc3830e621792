//! The gap in the spectrum of the bipartite graph of objects and clusters.
//!
//! The normalised cut of that graph into $k$ parts is good if the $k$ leading eigenvalues of
//!
//! $$ D_r^{-1/2} H D_c^{-1} H^T D_r^{-1/2} $$
//!
//! are near 1 and the next is not. They are also those of a $K \times K$ matrix between the clusters
//! (the *transfer cut* of Li, Wu and Chang, CVPR 2012), so no graph of objects is built.

use std::ops::RangeInclusive;

use crate::ensemble::{Factor, Profiles};
use crate::error::Result;
use crate::linalg::{Matrix, eigenvalues};
use crate::run::Run;

/// Gaps closer than this are equal.
const TIE: f64 = 1e-9;

/// The eigenvalues of the normalised bipartite graph, falling from 1; those that are not nought, at
/// most $\min(u, K)$.
///
/// # Cost
///
/// With $s = \min(u, K)$: time $O(u r^2 + s^3)$ or $O(u^2 r + s^3)$, memory $O(s^2)$.
///
/// # Errors
///
/// If the run is cancelled or the eigenvalues cannot be found.
pub(super) fn bipartite_eigenvalues(profiles: &Profiles, run: &Run) -> Result<Vec<f64>> {
    let (u, weights) = (profiles.len(), profiles.weights());
    let sizes = profiles.cluster_weights();
    let counts = profiles.label_counts();
    let scale: Vec<f64> = weights.iter().zip(&counts).map(|(w, &o)| w / f64::from(o)).collect();
    let used: Vec<f64> = sizes.iter().map(|&size| if size > 0.0 { size } else { 1.0 }).collect();
    let columns = used.iter().map(|size| 1.0 / size.sqrt()).collect();
    let factor = Factor::new(profiles, vec![1.0; u], columns);
    let matrix = if profiles.n_clusters() <= u {
        factor.gram(&scale)
    } else {
        let root: Vec<f64> = scale.iter().map(|x| x.sqrt()).collect();
        let affinity = factor.affinity();
        Matrix::from_fn(u, u, |s, t| root[s] * affinity[(s, t)] * root[t])
    };
    eigenvalues(matrix, run)
}

/// The number in `range` after which the next of the falling `values` is smaller by most, the first
/// of equals; `None` if the range holds none that can be looked at. Past the last value stands 0.
pub(super) fn largest_gap(values: &[f64], range: RangeInclusive<usize>) -> Option<usize> {
    let value = |i: usize| values.get(i).copied().unwrap_or(0.0).max(0.0);
    let gap = |k: usize| value(k - 1) - value(k);
    let candidates = (1..=values.len()).filter(|k| range.contains(k));
    candidates.reduce(|best, k| if gap(k) > gap(best) + TIE { k } else { best })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::eigen;
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    #[test]
    fn as_many_ones_as_parts_that_no_member_joins() {
        let all = profiles(&hard_ensemble(&[
            [0, 0, 1, 1, 2, 2, 3, 3],
            [0, 0, 1, 2, 3, 3, 3, 3],
            [0, 0, 1, 1, 2, 3, 3, 2],
        ]));
        let values = bipartite_eigenvalues(&all, &Run::new(0)).unwrap();
        assert!(values[2] > 1.0 - 1e-9 && values[3] < 0.9, "{values:?}");
        assert_eq!(largest_gap(&values, 2..=8), Some(3));
    }

    #[test]
    fn gaps_are_looked_for_in_the_range_only() {
        let values = [1.0, 0.9, 0.2, 0.15];
        assert_eq!(largest_gap(&values, 2..=4), Some(2));
        assert_eq!(largest_gap(&values, 3..=9), Some(4));
        assert_eq!(largest_gap(&values, 5..=9), None);
        assert_eq!(largest_gap(&[1.0, 0.5, 0.0], 1..=3), Some(1));
    }

    proptest! {
        /// The eigenvalues of the graph of objects itself, whichever side is built.
        #[test]
        fn both_sides_have_the_same_spectrum(ensemble in ensembles(Kinds::ALL, 12, 5)) {
            let all = profiles(&ensemble);
            let fast = bipartite_eigenvalues(&all, &Run::new(0)).unwrap();
            let (h, w) = (dense_incidence(&all), all.weights());
            let sizes = all.cluster_weights();
            let u = all.len();
            let row = |s: usize| h.row(s).iter().sum::<f64>();
            let slow = Matrix::from_fn(u, u, |s, t| {
                let shared: f64 =
                    (0..all.n_clusters()).map(|c| h[(s, c)] * h[(t, c)] / sizes[c]).sum();
                shared * (w[s] * w[t] / (row(s) * row(t))).sqrt()
            });
            let slow = eigen(slow, |_| 0, &Run::new(0)).unwrap().values;
            for (a, b) in fast.iter().zip(&slow) {
                prop_assert!((a - b).abs() < 1e-9, "{:?} {:?}", fast, slow);
            }
        }
    }
}
