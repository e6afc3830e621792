//! ECPCS-MC: meta-clustering by enhanced co-association, from the propagation of similarities
//! between clusters.
//!
//! D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh. *Enhanced Ensemble Clustering via Fast
//! Propagation of Cluster-Wise Similarities.* IEEE Trans. Systems, Man, and Cybernetics: Systems
//! 51(1), 2021.
//!
//! 1. The $K$ clusters of all members are vertices, with the Jaccard similarity between two as edge.
//! 2. A walker at a cluster goes to another with a probability in proportion to the edge. From every
//!    cluster $i$ it takes $T$ steps; its *trajectory* $Z_i$ is the row of the $T$ distributions of
//!    where it is after 1, 2, … steps.
//! 3. Clusters are similar as their trajectories are, by the cosine of $Z_i$ and $Z_j$. So clusters
//!    that share no object may be similar by way of others.
//! 4. The clusters are parted in $k$ meta-clusters by the normalised cut of these similarities, and
//!    objects go to the meta-cluster with which their mean membership is highest.
//!
//! # Where we depart from the paper
//!
//! * *A cluster without neighbours* (no other member labels its objects) cannot be walked from; it is
//!   similar to itself alone.
//! * *Ties* in the last step are drawn, once a profile.
//! * *Normalised cut* by spectral clustering after Ng, Jordan and Weiss.
//!
//! # Cost
//!
//! Time $O(u r^2 + K^3 + u r k)$, memory $O(K^2 + u k)$.

use crate::base::SpectralParams;
use crate::consensus::competition::compete;
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::run::Run;

/// What there is to know about meta-clustering by propagated similarities.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "ecpcs-mc",
    title: "meta-clustering by propagated similarities: clusters that random walks find alike are joined, and compete for the objects",
    reference: "D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh. Enhanced Ensemble Clustering via \
                Fast Propagation of Cluster-Wise Similarities. IEEE Trans. SMC: Systems 51(1), 2021.",
    soft: OnSoft::Uses,
    missing: Some("an absent label votes for no meta-cluster"),
    offers: Offers { correspondences: true, ..Offers::MEMBERSHIP },
    time: "O(u r^2 + K^3 + u r k)",
    memory: "O(K^2 + u k)",
    ..EcpcsMc::DECLARED
};

params! {
    /// [ECPCS-MC](self): meta-clustering by propagated similarities: clusters that random walks
    /// find alike are joined, and compete for the objects.
    pub struct EcpcsMc(k): INFO {
        /// The length of the random walks between clusters.
        steps: usize = 20, at_least(1.0);
        /// Starts of k-means on the embedding of the clusters; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

impl EcpcsMc {
    fn spectral(&self, k: usize) -> SpectralParams {
        SpectralParams::new(k).restarts(self.restarts)
    }
}

impl ConsensusMethod for EcpcsMc {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, all, k) = (shape.u as u64, shape.total_clusters as u64, self.k as u64);
        8 * (9 * all * all + all * (3 * k + 8) + u * (2 * k + 4))
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let n_clusters = profiles.n_clusters();
        let k = self.k.min(n_clusters);
        run.tick("random walks", 0, None)?;
        let similarity = profiles.walks_of_clusters(self.steps, run)?;
        run.tick("meta-clusters", 0, Some(1))?;
        let spectral = self.spectral(k).check()?;
        let fit = spectral.fit_affinity(similarity, &vec![1.0; n_clusters], run)?;
        let mut consensus = compete(profiles, &fit.labels, fit.k, run);
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        run.tick("meta-clusters", 1, Some(1))?;
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::testing::{hard_ensemble, profiles};

    /// The halves of a cluster share no object, but other members join them.
    #[test]
    fn clusters_without_common_objects_may_be_alike() {
        // The third member keeps walks from going to and fro between the other two.
        let members =
            [[0, 0, 1, 1, 2, 2, 2, 2], [0, 0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 1, 1, 1, 1]];
        let profiles = profiles(&hard_ensemble(&members));
        let jaccard = Profiles::jaccard_of_clusters(profiles.gram(profiles.weights()));
        assert_eq!(jaccard[(0, 1)], 0.0);
        let alike = profiles.walks_of_clusters(20, &Run::new(0)).unwrap();
        assert!(alike[(0, 1)] > 0.999 && alike[(0, 2)] < 1e-12, "{alike:?}");
        let method = EcpcsMc::new(2);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let labels = consensus.object_labels(&profiles);
        assert_eq!(labels, [0, 0, 0, 0, 1, 1, 1, 1].map(Some));
    }

    #[test]
    fn walks_without_steps_are_refused() {
        let build = |name: &str, value: &str| {
            let settings = Settings::from_iter([(name, value)]);
            method("ecpcs-mc").unwrap().with(Some(2), &settings).map(|_| ())
        };
        assert!(build("steps", "0").is_err());
        assert!(build("restarts", "0").is_err());
        assert_eq!(build("steps", "3"), Ok(()));
    }
}
