//! The rows of the co-association matrix as points, and their k-means.
//!
//! Two rows of $S = H H^T / r$, taken over all $n$ objects, have the squared distance
//! $(h_s - h_t)^T G (h_s - h_t) / r^2$ with the $K \times K$ Gram matrix $G = H^T W H = V \Lambda V^T$.
//! The points $z_s = \Lambda^{1/2} V^T h_s / r$ have just these distances in at most $K$ dimensions.
//! Where $u < K$ the rows themselves are shorter, column $t$ scaled by $\sqrt{w_t}$.

use crate::base::{KMeansFit, KMeansParams};
use crate::ensemble::{Factor, Profiles};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, eigen};
use crate::rng::Stream;
use crate::run::Run;

/// Eigenvalues below this share of the largest are rounding.
const NOUGHT: f64 = 1e-12;

/// Points with the distances of the rows of $S$ over all objects, one row a profile.
///
/// # Cost
///
/// Time $O(u r^2 + K^3 + u r K)$, memory $O(K^2 + u K)$; with $u < K$ time $O(u^2 r)$.
pub fn consensus_rows(profiles: &Profiles, run: &Run) -> Result<Matrix> {
    let (u, n_clusters, weights) = (profiles.len(), profiles.n_clusters(), profiles.weights());
    let r = profiles.n_members() as f64;
    if u < n_clusters {
        let factor = Factor::new(profiles, vec![1.0; u], vec![1.0; n_clusters]);
        let mut rows = factor.affinity();
        let scale: Vec<f64> = weights.iter().map(|w| w.sqrt() / r).collect();
        for s in 0..u {
            rows.row_mut(s).iter_mut().zip(&scale).for_each(|(x, a)| *x *= a);
        }
        return Ok(rows);
    }
    let used = |values: &[f64]| values.partition_point(|&value| value > NOUGHT * values[0]);
    let found = eigen(profiles.gram(weights), used, run)?;
    let turn = Matrix::from_fn(n_clusters, found.vectors.nrows(), |c, j| {
        found.vectors[(j, c)] * found.values[j].sqrt() / r
    });
    Ok(profiles.spread(&turn))
}

/// k-means on the rows of $S$ with the objects' weights, the best of `restarts` starts; at most as
/// many clusters as there are different rows. Restart `i` draws from [`Stream::Inner`].
pub fn cluster_consensus_rows(
    profiles: &Profiles,
    k: usize,
    restarts: usize,
    run: &Run,
) -> Result<KMeansFit> {
    let rows = consensus_rows(profiles, run)?;
    let fit = |k: usize| {
        let kmeans = KMeansParams::new(k).n_init(restarts).check()?;
        kmeans.fit_weighted(&rows, profiles.weights(), run, Stream::Inner)
    };
    match fit(k) {
        Err(Error::TooFewRows { distinct, .. }) => fit(distinct),
        answer => answer,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    proptest! {
        #[test]
        fn distances_are_those_of_the_matrix(ensemble in ensembles(Kinds::ALL, 20, 4)) {
            let profiles = profiles(&ensemble);
            let (u, r, w) = (profiles.len(), profiles.n_members() as f64, profiles.weights());
            let h = dense_incidence(&profiles);
            let dot = |s: usize, t: usize| -> f64 {
                h.row(s).iter().zip(h.row(t)).map(|(a, b)| a * b / r).sum()
            };
            let rows = consensus_rows(&profiles, &Run::new(0).threads(1)).unwrap();
            for s in 0..u {
                for t in 0..s {
                    let between = rows.row(s).iter().zip(rows.row(t));
                    let found: f64 = between.map(|(a, b)| (a - b) * (a - b)).sum();
                    let expected: f64 =
                        (0..u).map(|v| w[v] * (dot(s, v) - dot(t, v)).powi(2)).sum();
                    prop_assert!((found - expected).abs() < 1e-10 * (1.0 + expected));
                }
            }
        }
    }
}
