//! MCLA: the meta-clustering algorithm.
//!
//! A. Strehl, J. Ghosh. *Cluster Ensembles: A Knowledge Reuse Framework for Combining Multiple
//! Partitions.* Journal of Machine Learning Research 3, 2002, section 3.4.
//!
//! 1. *Meta-graph.* The $K$ clusters of all members are vertices, weighted by their size; between
//!    clusters $a$ and $b$ an edge has their Jaccard similarity
//!    $G_{ab} / (G_{aa} + G_{bb} - G_{ab})$, with $G = H^T W H$ the overlaps.
//! 2. *Cluster the clusters.* The meta-graph is cut in $k$ meta-clusters of about equal weight.
//! 3. *Collapse.* The association of an object with a meta-cluster is the mean of its memberships in
//!    the clusters of that meta-cluster.
//! 4. *Compete.* An object goes to the meta-cluster of highest association; its strength is the
//!    share of that association in all its associations.
//!
//! A meta-cluster may win no object, so there may be fewer than $k$ clusters, also where the members
//! have fewer than $k$ clusters together.
//!
//! # Where we depart from the paper
//!
//! * *Members of one cluster* tell nothing and take no part: a vertex as heavy as all objects would
//!   leave the others no balanced cut but a senseless one.
//! * *Ties* are drawn once a profile, not once an object: equal objects stay together.
//! * *Balance.* Meta-clusters may weigh 3 % more than the mean, or as much as the size of the largest
//!   cluster makes necessary. Many members that agree on clusters of very unequal size are still torn
//!   apart: this is the method's own nature. The imbalance is among the diagnostics.
//!
//! # Cost
//!
//! Time $O(u r^2 + K^2 + u r k)$ and the cut; memory $O(K^2 + u k)$.

use crate::consensus::balanced::report;
use crate::consensus::competition::compete;
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, NO_CLUSTER};
use crate::consensus::params::{at_least, params};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::graph::Graph;
use crate::run::Run;

/// What there is to know about meta-clustering.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "mcla",
    title: "meta-clustering: similar clusters of all members are joined, and then compete for the objects",
    reference: "A. Strehl, J. Ghosh. Cluster Ensembles: A Knowledge Reuse Framework for Combining \
                Multiple Partitions. JMLR 3, 2002.",
    soft: OnSoft::Uses,
    missing: Some("an absent label votes for no meta-cluster"),
    offers: Offers { correspondences: true, ..Offers::MEMBERSHIP },
    time: "O(u r^2 + K^2 + u r k), and the cut of a graph of K vertices",
    memory: "O(K^2 + u k)",
    ..Mcla::DECLARED
};

params! {
    /// [MCLA](self): meta-clustering: similar clusters of all members are joined, and then
    /// compete for the objects.
    pub struct Mcla(k): INFO {
        /// How much heavier than the mean a meta-cluster may be, as a share.
        imbalance: f64 = 0.03, at_least(0.0);
    }
}

impl ConsensusMethod for Mcla {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, all, k) = (shape.u as u64, shape.total_clusters as u64, self.k as u64);
        // The overlaps, the graph and its copy for METIS or as a hypergraph; associations.
        100 * all * all + 8 * (2 * u * k + 2 * all * k + 4 * u)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("meta-graph", 0, Some(3))?;
        let told = telling(profiles);
        let k = self.k.min(told.len());
        let graph = meta_graph(profiles, &told);
        run.tick("meta-clusters", 1, Some(3))?;
        let parts = graph.partition(k, self.imbalance, run)?;
        run.tick("competition", 2, Some(3))?;
        let mut meta = vec![NO_CLUSTER; profiles.n_clusters()];
        told.iter().zip(&parts.labels).for_each(|(&c, &label)| meta[c] = label);
        let mut consensus = compete(profiles, &meta, k, run);
        report(INFO.name, &mut consensus, &parts, run);
        run.tick("competition", 3, Some(3))?;
        Ok(consensus)
    }
}

/// The clusters of members that have more than one; all, if none has.
fn telling(profiles: &Profiles) -> Vec<usize> {
    let members = profiles.members().iter().filter(|member| member.n_clusters() > 1);
    let told: Vec<usize> = members.flat_map(|member| member.clusters.clone()).collect();
    if told.is_empty() { (0..profiles.n_clusters()).collect() } else { told }
}

/// The graph of these clusters with their Jaccard similarities.
fn meta_graph(profiles: &Profiles, clusters: &[usize]) -> Graph {
    let jaccard = Profiles::jaccard_of_clusters(profiles.gram(profiles.weights()));
    let row = |(i, &a): (usize, &usize)| {
        let row = clusters.iter().enumerate().map(|(j, &b)| (j, jaccard[(a, b)]));
        row.filter(|&(j, x)| j != i && x > 0.0).map(|(j, x)| (j as u32, x)).collect()
    };
    let rows: Vec<Vec<(u32, f64)>> = clusters.iter().enumerate().map(row).collect();
    let weights = profiles.cluster_weights();
    Graph::new(&clusters.iter().map(|&c| weights[c]).collect::<Vec<_>>(), &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::outcome::Value;
    use crate::consensus::{Settings, combine, method};
    use crate::ensemble::{Contingency, Ensemble, HardMember, Member};
    use crate::metrics::{Normalisation, nmi};
    use crate::rng::Stream;
    use crate::testing::{profiles, strehl_and_ghosh};

    fn mcla(ensemble: &Ensemble, k: usize) -> (Profiles, Consensus) {
        let profiles = profiles(ensemble);
        let method = Mcla::new(k);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        (profiles, consensus)
    }

    /// The example of the paper: the meta-clusters are $\{h_3, h_4, h_9\}$,
    /// $\{h_2, h_6, h_8, h_{10}\}$ and $\{h_1, h_5, h_7, h_{11}\}$ and the answer is
    /// $(2, 2, 2, 3, 3, 1, 1)$.
    #[test]
    fn seven_objects_of_the_paper_are_combined() {
        let (profiles, consensus) = mcla(&strehl_and_ghosh(), 3);
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 2, 2].map(Some));
        let of = consensus.correspondences.unwrap();
        let meta = |h: usize, c: usize| (0..3).find(|&m| of[h][(c, m)] == 1.0).unwrap();
        // Clusters in order of first appearance in their member.
        assert_eq!([meta(0, 2), meta(1, 2), meta(2, 2)], [2; 3]);
        assert_eq!([meta(0, 0), meta(1, 0), meta(2, 0)], [0; 3]);
        assert_eq!([meta(0, 1), meta(1, 1), meta(2, 1)], [1; 3]);
    }

    /// Eight clusters, a fifth of the labels at random. With clusters as heavy as all objects among the
    /// vertices the answer had next to nothing to do with them.
    #[test]
    fn members_of_one_cluster_spoil_nothing() {
        let (n, k) = (300, 8);
        let truth: Vec<u32> = (0..n).map(|i| i % k).collect();
        let mut rng = Run::new(1).rng(Stream::Data);
        let noisy = |h: u32| {
            let mut label = |&own: &u32| if rng.below(5) == 0 { rng.below(8) as u32 } else { own };
            let labels: Vec<_> = truth.iter().map(|own| Some(i64::from(label(own)))).collect();
            HardMember::from_integers(h.to_string(), labels).into()
        };
        let mut members: Vec<Member> = (0..10).map(noisy).collect();
        for constant in 0..3 {
            let all = HardMember::from_integers(format!("c{constant}"), vec![Some(0); n as usize]);
            members.push(all.into());
            let (profiles, consensus) = mcla(&Ensemble::new(members.clone()).unwrap(), k as usize);
            let labels = consensus.object_labels(&profiles);
            let labels: Vec<u32> = labels.into_iter().map(Option::unwrap).collect();
            let table = Contingency::of_labels(&truth, &labels, None).unwrap();
            assert!(nmi(&table, Normalisation::Geometric) > 0.9, "{constant}");
        }
    }

    #[test]
    fn fewer_clusters_in_all_than_asked_for_give_fewer() {
        let members = [[0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1, 2]];
        let (profiles, consensus) = mcla(&crate::testing::hard_ensemble(&members), 7);
        // Nine different objects, but only six clusters that could become meta-clusters.
        assert_eq!(profiles.len(), 9);
        assert!((2..=6).contains(&consensus.k), "{}", consensus.k);
        assert!(matches!(consensus.diagnostics.get("imbalance"), Some(Value::Number(_))));
    }

    #[test]
    fn an_imbalance_below_nought_is_refused() {
        let build = |value: &str| {
            let settings = Settings::from_iter([("imbalance", value)]);
            method("mcla").unwrap().with(Some(2), &settings).map(|_| ())
        };
        for bad in ["-0.1", "NaN", "inf"] {
            assert!(build(bad).is_err(), "{bad}");
        }
        assert_eq!(build("0"), Ok(()));
    }
}
