//! ECPCS-HC: enhanced co-association by propagated similarities of clusters.
//!
//! D. Huang, C.-D. Wang, H. Peng, J.-H. Lai, C.-K. Kwoh. *Enhanced Ensemble Clustering via Fast
//! Propagation of Cluster-Wise Similarities.* IEEE Transactions on Systems, Man, and Cybernetics:
//! Systems 51(1), 2021.
//!
//! Evidence accumulation counts whether two objects share a cluster; two clusters that are nearly
//! the same count as little as two that have nothing to do with each other. Here clusters are
//! compared by random walks of $t$ steps among all
//! clusters of the ensemble, and two objects are as near as the clusters that they are in:
//!
//! $$ b_{ij} = \frac 1 r \sum_q z(C^q_i, C^q_j), \qquad z(C, C) = 1. $$
//!
//! The objects are clustered by average link of $b$.
//!
//! # On profiles
//!
//! $z$ is a matrix of cosines, $z = L L^T$ within each member, so $b_{ij}$ is an inner product of
//! rows of $L$ and average link runs on group sums. $b_{ij} \le b_{ii}$, so equal objects merge first
//! and the tree of profiles is that of objects.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels* (left open). An absent label is near to none.
//! * *Clusters that overlap with no other*, as in an ensemble of one member, are near to none but
//!   themselves; the paper's cosine is undefined.
//! * *Ties* are broken as in [evidence accumulation](crate::consensus::ea).
//!
//! # Cost
//!
//! Time $O(u r^2 + K^3 + u^2 K)$, memory $O(K^2 + u K)$; a $u \times u$ table is used where that is
//! small, in time $O(u^2 r)$.

use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{at_least, params};
use crate::consensus::tree::{average_link, average_link_cost, cut_tree};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::{Matrix, eigen};
use crate::run::Run;

/// What there is to know about enhanced co-association with average link.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "ecpcs-hc",
    title: "average link where clusters count as near by random walks among all clusters",
    reference: "D. Huang, C.-D. Wang, H. Peng, J.-H. Lai, C.-K. Kwoh. Enhanced Ensemble Clustering via \
                Fast Propagation of Cluster-Wise Similarities. IEEE Transactions on Systems, Man, and \
                Cybernetics: Systems 51(1), 2021.",
    soft: OnSoft::Hardens,
    missing: Some("an absent label is near to none"),
    offers: Offers::TREE,
    time: "O(u^2 K + K^3)",
    memory: "O(K^2 + u K)",
    ..EcpcsHc::DECLARED
};

params! {
    /// [ECPCS-HC](self): average link where clusters count as near by random walks among all
    /// clusters.
    pub struct EcpcsHc(k): INFO {
        /// How far the random walks go.
        steps: usize = 20, at_least(1.0);
    }
}

impl ConsensusMethod for EcpcsHc {
    fn cost(&self, shape: &Shape) -> u64 {
        let square = 8 * (shape.total_clusters as u64).pow(2);
        (6 * square).max(square + average_link_cost(shape, shape.total_clusters))
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("walks among clusters", 0, None)?;
        let nearness = Nearness::new(profiles, self.steps, run)?;
        let joins = average_link(
            profiles.weights(),
            |s, out| nearness.row(s, out),
            profiles.n_clusters(),
            |s| nearness.entries(s),
            run,
        )?;
        Ok(cut_tree(profiles.len(), &joins, self.k, run))
    }
}

/// The enhanced co-association $b$.
struct Nearness<'a> {
    profiles: &'a Profiles,
    /// $z$ of all clusters.
    z: Matrix,
    /// Of every member $L$, one row a cluster of its own.
    factors: Vec<Matrix>,
}

impl<'a> Nearness<'a> {
    fn new(profiles: &'a Profiles, steps: usize, run: &Run) -> Result<Self> {
        let z = profiles.walks_of_clusters(steps, run)?;
        let mut factors = Vec::with_capacity(profiles.n_members());
        for member in profiles.members() {
            let (first, k) = (member.clusters.start, member.n_clusters());
            let block = Matrix::from_fn(k, k, |a, b| z[(first + a, first + b)]);
            let found = eigen(block, <[f64]>::len, run)?;
            let root = |j: usize| found.values[j].max(0.0).sqrt();
            factors.push(Matrix::from_fn(k, k, |a, j| root(j) * found.vectors[(j, a)]));
        }
        Ok(Nearness { profiles, z, factors })
    }

    /// Writes $b_{st}$ for all $t$.
    fn row(&self, s: usize, out: &mut [f64]) {
        let r = self.profiles.n_members() as f64;
        // What each cluster is to the one of its member that `s` is in: looked up once, added up for all.
        let mut near = vec![0.0; self.profiles.n_clusters()];
        self.profiles.for_each_entry(s, |h, own, _| {
            let clusters = self.profiles.members()[h].clusters.clone();
            near[clusters.clone()].copy_from_slice(&self.z.row(own)[clusters]);
        });
        self.profiles.for_each_row(0..out.len(), |t, clusters| {
            out[t] = clusters.iter().map(|&c| near[c as usize]).sum::<f64>() / r;
        });
    }

    /// The vector of profile `s`, of which $b$ is the inner product.
    fn entries(&self, s: usize) -> Vec<(u32, f64)> {
        let scale = (self.profiles.n_members() as f64).sqrt();
        let mut entries = Vec::new();
        self.profiles.for_each_entry(s, |h, c, _| {
            let first = self.profiles.members()[h].clusters.start;
            let row = self.factors[h].row(c - first).iter().enumerate();
            entries.extend(row.map(|(j, x)| ((first + j) as u32, x / scale)));
        });
        entries
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    proptest! {
        /// Vectors say what the table says, and nobody is nearer to another than to its equals.
        #[test]
        fn vectors_and_table_agree(ensemble in ensembles(Kinds::HARD, 12, 5)) {
            let profiles = profiles(&ensemble);
            let nearness = Nearness::new(&profiles, 5, &Run::new(0).threads(1)).unwrap();
            let mut row = vec![0.0; profiles.len()];
            for s in 0..profiles.len() {
                nearness.row(s, &mut row);
                let mut own = vec![0.0; profiles.n_clusters()];
                nearness.entries(s).into_iter().for_each(|(c, x)| own[c as usize] = x);
                for t in 0..profiles.len() {
                    let other = nearness.entries(t);
                    let inner: f64 = other.iter().map(|(c, x)| own[*c as usize] * x).sum();
                    prop_assert!((inner - row[t]).abs() < 1e-12, "{inner} {}", row[t]);
                    prop_assert!(row[t] <= row[s] + 1e-15);
                }
            }
        }
    }

    /// Nobody ever puts 0 and 3 together, but two members see their clusters run into each other;
    /// 6 is apart for all.
    #[test]
    fn clusters_that_share_objects_are_near() {
        let members = [[0, 0, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let nearness = Nearness::new(&profiles, 20, &Run::new(0)).unwrap();
        let mut row = vec![0.0; profiles.len()];
        let own = |i: usize| profiles.map()[i] as usize;
        nearness.row(own(0), &mut row);
        assert!(row[own(3)] > 0.1 && row[own(6)] < 1e-12, "{row:?}");
        let method = EcpcsHc::new(2);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 0, 0, 1, 1].map(Some));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(EcpcsHc::new(0).check().is_err());
        assert!(EcpcsHc::new(2).steps(0).check().is_err());
    }
}
