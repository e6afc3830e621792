//! LWGP: locally weighted graph partitioning.
//!
//! D. Huang, C.-D. Wang, J.-H. Lai. *Locally Weighted Ensemble Clustering.* IEEE Trans. Cybernetics
//! 48(5), 2018. Equation numbers are the paper's.
//!
//! A cluster whose objects the other members scatter is trusted less. With $H(c)$ the entropy of the
//! labels that the members give to the objects of cluster $c$, summed over the $r$ members, the
//! *ensemble-driven cluster index* is
//!
//! $$ \mathrm{ECI}(c) = e^{-H(c) / (\theta r)}. \tag{8} $$
//!
//! Objects and clusters are the sides of a bipartite graph; an object is joined to its clusters by
//! edges of weight $\mathrm{ECI}(c)$, and the graph is parted in $k$ by the normalised cut. As in
//! [HBGF](crate::consensus::hbgf) this is a transfer cut: a
//! $K \times K$ eigenproblem.
//!
//! # Certainty
//!
//! `certainty = normalised` divides the entropy by $\log_2 k_q$ of the member that the cluster belongs to, with
//! $\theta = 0.06$, as in [LWEA](crate::consensus::lwea). It was no better on the pools of `make labels`
//! (`docs/accuracy.md`), and worse on committees, which have few clusters in all members.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels* (the paper has none) are left out of entropies.
//! * *Soft members.* Overlaps of clusters are sums of products of memberships.
//! * *Eigenvectors* are of equal length before rows are scaled to unit length, as for the normalised
//!   cut; the authors' program leaves them shorter by the roots of their eigenvalues.
//! * *Starts* of k-means: ten; the authors' program has three.
//!
//! # Cost
//!
//! Time $O(u r^2 + K^3 + u r k)$ and k-means on $u \times k$ rows; memory $O(K^2 + u k)$.

use crate::base::{SpectralParams, spectral_cost};
use crate::consensus::certainty::Certainty;
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, at_least, params};
use crate::ensemble::{Factor, Profiles};
use crate::error::Result;
use crate::run::Run;

/// What there is to know about locally weighted graph partitioning.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "lwgp",
    title: "locally weighted graph partitioning: objects and clusters parted together, uncertain clusters counting less",
    reference: "D. Huang, C.-D. Wang, J.-H. Lai. Locally Weighted Ensemble Clustering. IEEE Trans. \
                Cybernetics 48(5), 2018.",
    soft: OnSoft::Uses,
    missing: Some(
        "an object is joined to the clusters it is known to be in; entropies are of known labels",
    ),
    time: "O(u r^2 + K^3 + u r k), and k-means on u rows of k numbers",
    memory: "O(K^2 + u k)",
    ..Lwgp::DECLARED
};

params! {
    /// [LWGP](self): locally weighted graph partitioning: objects and clusters parted together,
    /// uncertain clusters counting less.
    pub struct Lwgp(k): INFO {
        /// Whether the entropy of a cluster is plain as in the paper, or seen in proportion to the number of clusters
        /// of its member.
        certainty: Certainty = Certainty::Plain;
        /// The larger, the less the uncertainty of a cluster counts.
        theta: Option<f64> = "0.4; 0.06 if normalised", above(0.0);
        /// Starts of k-means on the embedding; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

impl Lwgp {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }

    /// The index (8) of every cluster, or its normalised form.
    ///
    /// A very small theta makes all indices underflow but those of clusters that are certain; they stay
    /// above nought, so that every object keeps an edge.
    fn cluster_index(&self, profiles: &Profiles) -> Vec<f64> {
        let index = self.certainty.of_clusters(profiles, self.theta);
        index.into_iter().map(|index| index.max(1e-100)).collect()
    }
}

impl ConsensusMethod for Lwgp {
    fn cost(&self, shape: &Shape) -> u64 {
        let overlaps = (shape.total_clusters as u64).pow(2);
        spectral_cost(shape.u, shape.total_clusters, self.k) + 8 * overlaps
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("uncertainty of clusters", 0, Some(2))?;
        let index = self.cluster_index(profiles);
        run.tick("bipartite cut", 1, Some(2))?;
        let factor = Factor::bipartite(profiles, &index);
        let fit = self.spectral().check()?.fit_factor(&factor, run)?;
        let mean = |h: usize| {
            let clusters = profiles.members()[h].clusters.clone();
            index[clusters.clone()].iter().sum::<f64>() / clusters.len() as f64
        };
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        let means = (0..profiles.n_members()).map(mean).collect();
        consensus.diagnostics.push("mean cluster index", Value::Members(means));
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        run.tick("bipartite cut", 2, Some(2))?;
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles, strehl_and_ghosh};

    #[test]
    fn seven_objects_of_strehl_and_ghosh_are_combined() {
        let profiles = profiles(&strehl_and_ghosh());
        let method = Lwgp::new(3);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 2, 2].map(Some));
    }

    proptest! {
        /// Equation (8) from the definitions, object by object.
        #[test]
        fn indices_follow_the_definitions(ensemble in ensembles(Kinds::PLAIN, 12, 4)) {
            let profiles = profiles(&ensemble);
            let h = dense_incidence(&profiles);
            let (w, r) = (profiles.weights(), profiles.n_members());
            let index = Lwgp::new(2).cluster_index(&profiles);
            for c in 0..profiles.n_clusters() {
                let size: f64 = (0..h.nrows()).map(|s| w[s] * h[(s, c)]).sum();
                let mut entropy = 0.0;
                for d in 0..profiles.n_clusters() {
                    let both: f64 = (0..h.nrows()).map(|s| w[s] * h[(s, c)] * h[(s, d)]).sum();
                    if both > 0.0 {
                        entropy -= both / size * (both / size).log2();
                    }
                }
                let right = (-entropy / (0.4 * r as f64)).exp();
                prop_assert!((index[c] - right).abs() < 1e-12);
            }
        }

        /// With a large theta all clusters count the same: HBGF.
        #[test]
        fn without_weights_the_degrees_are_numbers_of_labels(
            ensemble in ensembles(Kinds::HARD, 12, 4)
        ) {
            let profiles = profiles(&ensemble);
            let factor = Factor::bipartite(&profiles, &Lwgp::new(2).theta(1e12).cluster_index(&profiles));
            for (degree, count) in factor.degrees().iter().zip(profiles.label_counts()) {
                prop_assert!((degree - f64::from(count)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let build = |name: &str, value: &str| {
            let settings = Settings::from_iter([(name, value)]);
            method("lwgp").unwrap().with(Some(2), &settings).map(|_| ())
        };
        for bad in ["0", "-1", "NaN", "inf"] {
            assert!(build("theta", bad).is_err(), "{bad}");
        }
        assert!(build("restarts", "0").is_err());
        assert_eq!(build("theta", "0.1"), Ok(()));
    }
}
