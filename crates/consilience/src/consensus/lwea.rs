//! LWEA: locally weighted evidence accumulation.
//!
//! D. Huang, C.-D. Wang, J.-H. Lai. *Locally Weighted Ensemble Clustering.* IEEE Transactions on
//! Cybernetics 48(5), 2018.
//!
//! Not all clusters of a member are equally good. A cluster that the other members divide in many
//! ways is uncertain: with $H(C)$ the mean over members of the entropy, in bits, of their labels
//! within $C$, its *ensemble-driven cluster index* is
//!
//! $$ \operatorname{ECI}(C) = e^{- H(C) / \theta}. $$
//!
//! Evidence is accumulated with this weight, $a_{ij} = \frac 1 r \sum_q \operatorname{ECI}(C^q_i)
//! [C^q_i = C^q_j]$, and the objects are clustered by average link.
//!
//! # Certainty
//!
//! `certainty = normalised` divides the entropy by $\log_2 k_q$ of the member that the cluster belongs to, the most
//! that a member with so many clusters could disagree, with $\theta = 0.06$ (the first stage of SDGCA: *Similarity and
//! Dissimilarity Guided Co-association Matrix Construction for Ensemble Clustering*, IEEE TKDE 2025). It is no default:
//! on members with very different numbers of clusters the two differ by less than 0.01 (`docs/accuracy.md`), and where
//! all members have few clusters it is much sharper and worse (ten noisy copies of six clusters, a quarter of the labels
//! at random: mean ARI 0.92 against 0.99).
//!
//! # On profiles
//!
//! Entropies come from the $K \times K$ overlaps of clusters. $a_{ij}$ is the inner product of rows
//! of $H$ with columns scaled by $\sqrt{\operatorname{ECI} / r}$, so average link runs on group sums.
//! An object is never nearer to another than to its equals, for $a_{ij}$ adds up over a part of what
//! $a_{ii}$ adds up over; so equal objects merge first, and the tree of profiles is that of objects.
//!
//! # Where we depart from the papers
//!
//! * *Missing labels* (left open). A pair is judged by the members that label both, and members that label
//!   nothing of a cluster have no say in its entropy. Objects that no member tells apart stay together: their
//!   evidence may be less than that of an object of whom only the most certain labels are known.
//! * *Height* of a merge is $1 - a$, not $1 - a / \max a$, which scales all heights alike; the merges of equal
//!   objects, at $1 - a_{ii}$, are not part of our tree. (The authors' program writes 1 on the diagonal of
//!   $a$, which average link never reads.)
//! * *Ties* are broken as in [evidence accumulation](crate::consensus::ea).
//!
//! # Cost
//!
//! Time $O(u r^2 + u^2 r)$, memory $O(K^2 + u K)$; a $u \times u$ table is used where that is small, and where
//! labels are missing.

use crate::consensus::certainty::{Certainty, Evidence};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, params};
use crate::consensus::tree::{
    average_link, average_link_cost, average_link_of_table, cut_tree, table_cost,
};
use crate::ensemble::{ProfileMember, Profiles};
use crate::error::Result;
use crate::run::Run;

/// What there is to know about locally weighted evidence accumulation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "lwea",
    title: "locally weighted evidence accumulation: average link, clusters weighted by their certainty",
    reference: "D. Huang, C.-D. Wang, J.-H. Lai. Locally Weighted Ensemble Clustering. IEEE Transactions \
                on Cybernetics 48(5), 2018.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    offers: Offers::TREE,
    time: "O(u^2 r)",
    memory: "O(K^2 + u K); 8 u^2 bytes with missing labels",
    ..Lwea::DECLARED
};

params! {
    /// [LWEA](self): locally weighted evidence accumulation: average link, clusters weighted by
    /// their certainty.
    pub struct Lwea(k): INFO {
        /// Whether the entropy of a cluster is plain as in the paper, or seen in proportion to the number of clusters
        /// of its member.
        certainty: Certainty = Certainty::Plain;
        /// How much uncertain clusters still count; the larger, the more.
        theta: Option<f64> = "0.4; 0.06 if normalised", above(0.0);
    }
}

impl ConsensusMethod for Lwea {
    fn cost(&self, shape: &Shape) -> u64 {
        let gram = 8 * (shape.total_clusters as u64).pow(2);
        let link = average_link_cost(shape, shape.r);
        gram.max(if shape.missing { table_cost(shape) } else { link })
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let evidence = Evidence::new(profiles, self.certainty.of_clusters(profiles, self.theta));
        let row = |s: usize, out: &mut [f64]| evidence.row(s, out);
        let joins = if profiles.has_missing() {
            average_link_of_table(profiles.weights(), row, run)?
        } else {
            let entries = |s: usize| evidence.entries(s);
            average_link(profiles.weights(), row, profiles.n_clusters(), entries, run)?
        };
        let mut consensus = cut_tree(profiles.len(), &joins, self.k, run);
        let certainty = of_members(profiles, &evidence.certainty);
        consensus.diagnostics.push("certainty", Value::Members(certainty));
        Ok(consensus)
    }
}

/// Of every member the mean certainty of the clusters that its objects are in.
fn of_members(profiles: &Profiles, certainty: &[f64]) -> Vec<f64> {
    let sizes = profiles.cluster_weights();
    let of = |member: &ProfileMember| {
        let own = member.clusters.clone();
        let mass: f64 = sizes[own.clone()].iter().sum();
        own.map(|c| sizes[c] * certainty[c]).sum::<f64>() / mass
    };
    profiles.members().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::testing::{hard_ensemble, profiles};

    /// The clusters of the third member are divided by the others: it counts less.
    #[test]
    fn uncertain_members_are_told() {
        let members = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [0, 1, 1, 0, 0, 1]];
        let profiles = profiles(&hard_ensemble(&members));
        for certainty in [Certainty::Normalised, Certainty::Plain] {
            let lwea = Lwea::new(3).certainty(certainty);
            let consensus = combine(&profiles, &lwea, None, &Run::new(0)).unwrap();
            assert_eq!(consensus.object_labels(&profiles), [0, 0, 1, 1, 2, 2].map(Some));
            let Some(Value::Members(told)) = consensus.diagnostics.get("certainty") else {
                panic!("certainty is told");
            };
            assert!(told[0] > 2.0 * told[2], "{told:?}");
            assert_eq!(told[0], told[1]);
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(Lwea::new(0).check().is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Lwea::new(2).theta(bad).check().is_err());
        }
    }
}
