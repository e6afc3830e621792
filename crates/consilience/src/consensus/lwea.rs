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
//! # On profiles
//!
//! Entropies come from the $K \times K$ overlaps of clusters. $a_{ij}$ is the inner product of rows
//! of $H$ with columns scaled by $\sqrt{\operatorname{ECI} / r}$, so average link runs on group sums.
//! An object is never nearer to another than to its equals, for $a_{ij}$ adds up over a part of what
//! $a_{ii}$ adds up over; so equal objects merge first, and the tree of profiles is that of objects.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels* (left open). An absent label agrees with none, and members that label nothing
//!   of a cluster have no say in its entropy.
//! * *Height* of a merge is $1 - a$; the merges of equal objects, at $1 - a_{ii}$, are not part of our
//!   tree. (The authors' program writes 1 on the diagonal of $a$, which average link never reads.)
//! * *Ties* are broken as in [evidence accumulation](crate::consensus::ea).
//!
//! # Cost
//!
//! Time $O(u r^2 + u^2 r)$, memory $O(K^2 + u K)$; a $u \times u$ table is used where that is small.

use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, params};
use crate::consensus::tree::{average_link, average_link_cost, cut_tree};
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
    missing: Some("an absent label agrees with none"),
    offers: Offers::TREE,
    time: "O(u^2 r)",
    memory: "O(K^2 + u K)",
    ..Lwea::DECLARED
};

params! {
    /// [LWEA](self): locally weighted evidence accumulation: average link, clusters weighted by
    /// their certainty.
    pub struct Lwea(k): INFO {
        /// How much uncertain clusters still count; the larger, the more.
        theta: f64 = 0.4, above(0.0);
    }
}

impl ConsensusMethod for Lwea {
    fn cost(&self, shape: &Shape) -> u64 {
        let gram = 8 * (shape.total_clusters as u64).pow(2);
        gram.max(average_link_cost(shape, shape.r))
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let evidence = Evidence::new(profiles, self.theta);
        let joins = average_link(
            profiles.weights(),
            |s, out| evidence.row(s, out),
            profiles.n_clusters(),
            |s| evidence.entries(s),
            run,
        )?;
        let mut consensus = cut_tree(profiles.len(), &joins, self.k, run);
        consensus.diagnostics.push("certainty", Value::Members(evidence.certainty()));
        Ok(consensus)
    }
}

/// The locally weighted co-association $a$.
struct Evidence<'a> {
    profiles: &'a Profiles,
    /// Of every cluster.
    eci: Vec<f64>,
}

impl<'a> Evidence<'a> {
    fn new(profiles: &'a Profiles, theta: f64) -> Self {
        let entropies = profiles.cluster_entropies(&profiles.gram(profiles.weights()));
        Evidence { profiles, eci: entropies.iter().map(|h| (-h / theta).exp()).collect() }
    }

    /// Writes $a_{st}$ for all $t$.
    fn row(&self, s: usize, out: &mut [f64]) {
        let r = self.profiles.n_members() as f64;
        let mut own = vec![0.0; self.eci.len()];
        self.profiles.for_each_entry(s, |_, c, _| own[c] = self.eci[c]);
        self.profiles.for_each_row(0..out.len(), |t, clusters| {
            out[t] = clusters.iter().map(|&c| own[c as usize]).sum::<f64>() / r;
        });
    }

    /// The vector of profile `s`, of which $a$ is the inner product.
    fn entries(&self, s: usize) -> Vec<(u32, f64)> {
        let r = self.profiles.n_members() as f64;
        let mut entries = Vec::new();
        self.profiles
            .for_each_entry(s, |_, c, _| entries.push((c as u32, (self.eci[c] / r).sqrt())));
        entries
    }

    /// Of every member the mean certainty of the clusters that its objects are in.
    fn certainty(&self) -> Vec<f64> {
        let sizes = self.profiles.cluster_weights();
        let of = |member: &ProfileMember| {
            let own = member.clusters.clone();
            let mass: f64 = sizes[own.clone()].iter().sum();
            own.map(|c| sizes[c] * self.eci[c]).sum::<f64>() / mass
        };
        self.profiles.members().iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    proptest! {
        /// From the definitions, object by object.
        #[test]
        fn evidence_is_weighted_by_certainty(ensemble in ensembles(Kinds::PLAIN, 10, 4)) {
            let profiles = profiles(&ensemble);
            let (n, u, r) = (profiles.n_objects(), profiles.len(), profiles.n_members());
            let own = |i: usize| profiles.map()[i] as usize;
            let label = |i: usize, q: usize| profiles.label(own(i), q);
            let eci = |i: usize, q: usize| {
                let inside: Vec<usize> = (0..n).filter(|&j| label(j, q) == label(i, q)).collect();
                let mut entropy = 0.0;
                for m in 0..r {
                    for c in 0..profiles.members()[m].n_clusters() {
                        let shared = inside.iter().filter(|&&j| label(j, m) == Some(c)).count();
                        let p = shared as f64 / inside.len() as f64;
                        entropy -= if p > 0.0 { p * p.log2() } else { 0.0 };
                    }
                }
                (-entropy / (0.4 * r as f64)).exp()
            };
            let evidence = Evidence::new(&profiles, 0.4);
            let mut row = vec![0.0; u];
            for i in 0..n {
                evidence.row(own(i), &mut row);
                for j in 0..n {
                    let agree = (0..r).filter(|&q| label(i, q) == label(j, q));
                    let expected = agree.map(|q| eci(i, q)).sum::<f64>() / r as f64;
                    prop_assert!((row[own(j)] - expected).abs() < 1e-12);
                }
            }
        }

        /// Vectors say what the table says, and nobody is nearer to another than to its equals.
        #[test]
        fn vectors_and_table_agree(ensemble in ensembles(Kinds::HARD, 12, 5)) {
            let profiles = profiles(&ensemble);
            let evidence = Evidence::new(&profiles, 0.4);
            let mut row = vec![0.0; profiles.len()];
            for s in 0..profiles.len() {
                evidence.row(s, &mut row);
                let mut own = vec![0.0; profiles.n_clusters()];
                evidence.entries(s).into_iter().for_each(|(c, x)| own[c as usize] = x);
                for t in 0..profiles.len() {
                    let other = evidence.entries(t);
                    let inner: f64 = other.iter().map(|(c, x)| own[*c as usize] * x).sum();
                    prop_assert!((inner - row[t]).abs() < 1e-14);
                    prop_assert!(row[t] <= row[s]);
                }
            }
        }
    }

    /// The clusters of the third member are divided by the others: it counts less.
    #[test]
    fn uncertain_members_are_told() {
        let members = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [0, 1, 1, 0, 0, 1]];
        let profiles = profiles(&hard_ensemble(&members));
        let lwea = Lwea::new(3);
        let consensus = combine(&profiles, &lwea, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 1, 1, 2, 2].map(Some));
        let Some(Value::Members(certainty)) = consensus.diagnostics.get("certainty") else {
            panic!("certainty is told");
        };
        assert!(certainty[0] > 2.0 * certainty[2], "{certainty:?}");
        assert_eq!(certainty[0], certainty[1]);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(Lwea::new(0).check().is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Lwea::new(2).theta(bad).check().is_err());
        }
    }
}
