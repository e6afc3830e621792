//! KC: k-means on the rows of the consensus matrix.
//!
//! Every object is described by its row of the co-association matrix $S = H H^T / r$: how often it
//! is put together with each of the others. The rows are clustered by k-means. Of unclear origin; it
//! is the plainest of the rivals in papers on consensus matrices (for instance T. Li, C. Ding, M. I.
//! Jordan. *Solving Consensus and Semi-supervised Clustering Problems Using Nonnegative Matrix
//! Factorization.* ICDM 2007).
//!
//! # Without the matrix
//!
//! The squared distance of rows $a$ and $b$ of $S$ over all $n$ columns is
//!
//! $$ \lVert S_a - S_b \rVert^2 = \frac{1}{r^2} (h_a - h_b)^T G (h_a - h_b), \qquad G = H^T W H, $$
//!
//! with $h_a$ the label tuple as a row of $H$ and $G$ the $K \times K$ table of cluster overlaps. So
//! no row of $S$ is ever formed: with the centre $m_c$ the mean of its $h_a$, a distance is $r$
//! look-ups in the table of all $G m_c$.
//!
//! # Decisions
//!
//! A missing label agrees with none, and $S$ is divided by $r$ all the same. The best of ten starts
//! counts, by turns at profiles drawn by weight and at profiles far apart (greedy k-means++).
//!
//! # Cost
//!
//! Time $O(u r^2)$ for $G$ and $O(t (u r k + K^2 k))$ for $t$ iterations per restart; memory
//! $O(K^2 + u \log k + K k)$.

use crate::consensus::driver::{Effort, SAMPLE};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{at_least, params};
use crate::consensus::row_kmeans::{RowKMeans, Rows};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::run::Run;

/// What there is to know about KC.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "kc",
    title: "k-means on the rows of the consensus matrix, through the Gram matrix of clusters",
    reference: "A rival in T. Li, C. Ding, M. I. Jordan. Solving Consensus and Semi-supervised \
                Clustering Problems Using Nonnegative Matrix Factorization. ICDM 2007.",
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    takes_start: true,
    time: "O(u r^2), and O(t (u r k + K^2 k)) per restart",
    memory: "O(K^2 + u log k + K k)",
    ..Kc::DECLARED
};

params! {
    /// [KC](self): k-means on the rows of the consensus matrix, through the Gram matrix of
    /// clusters.
    pub struct Kc(k): INFO {
        /// Starts, by turns at random objects and at objects far apart; the one of least squares
        /// within clusters wins.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of iterations of a start.
        max_iter: usize = 300, at_least(1.0);
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
    }
}

impl ConsensusMethod for Kc {
    fn cost(&self, shape: &Shape) -> u64 {
        RowKMeans::cost(Rows::Coassociation, shape.u, shape.total_clusters, self.k)
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let rows = RowKMeans::new(profiles, Rows::Coassociation, self.k, start);
        rows.fit(self.sample, Effort::new(self.restarts, self.max_iter), run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    #[test]
    fn refuses_zero() {
        assert!(Kc::new(0).check().is_err());
        assert!(Kc::new(2).restarts(0).check().is_err());
        assert!(Kc::new(2).max_iter(0).check().is_err());
    }

    proptest! {
        /// The objective is the sum of squares of the rows of S, written out over all objects.
        #[test]
        fn the_objective_is_that_of_the_matrix(
            ensemble in ensembles(Kinds { weights: false, ..Kinds::ALL }, 12, 5), k in 1usize..4,
        ) {
            let profiles = profiles(&ensemble);
            let k = k.min(profiles.len());
            let kc = Kc::new(k);
            let consensus = kc.solve(&profiles, None, &Run::new(1)).unwrap();
            let h = dense_incidence(&profiles);
            let objects: Vec<usize> = profiles.expand(&(0..profiles.len()).collect::<Vec<_>>())
                .into_iter().flatten().collect();
            let s = |a: usize, b: usize| -> f64 {
                let dot: f64 = h.row(a).iter().zip(h.row(b)).map(|(x, y)| x * y).sum();
                dot / profiles.n_members() as f64
            };
            let mut sum = 0.0;
            for c in 0..k as u32 {
                let own: Vec<usize> =
                    objects.iter().copied().filter(|&a| consensus.labels[a] == c).collect();
                for &b in &objects {
                    let mean = own.iter().map(|&a| s(a, b)).sum::<f64>() / own.len() as f64;
                    sum += own.iter().map(|&a| (s(a, b) - mean).powi(2)).sum::<f64>();
                }
            }
            let told = consensus.convergence.objective.unwrap();
            prop_assert!((told - sum).abs() < 1e-9 * (1.0 + sum), "{told} and {sum}");
        }
    }
}
