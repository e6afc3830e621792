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
//! $b_{ij}$ is a bilinear form of rows of $H$, so average link runs on sums over groups. $b_{ij} \le b_{ii} = 1$,
//! so equal objects merge first and the tree of profiles is that of objects.
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
//! Time $O(u r^2 + K^3 + u^2 r)$, memory $O(K^2 + u r)$; a $u \times u$ table is used where that is small.

use crate::base::bilinear_link::Bilinear;
use crate::base::linkage::chain;
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{at_least, params};
use crate::consensus::tree::{DENSE_UP_TO, average_link_of_table, cut_tree, table_cost};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::Matrix;
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
    time: "O(u^2 r + K^3)",
    memory: "O(K^2 + u r)",
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
        let vectors = 32 * (shape.u * (shape.r + 4)) as u64;
        let link = if shape.u <= DENSE_UP_TO { table_cost(shape) } else { vectors };
        (6 * square).max(square + link)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("walks among clusters", 0, None)?;
        let nearness = Nearness::new(profiles, self.steps, run)?;
        let weights = profiles.weights();
        let joins = if profiles.len() <= DENSE_UP_TO {
            average_link_of_table(weights, |s, out| nearness.row(s, out), run)?
        } else {
            let clusters = |s: usize| nearness.clusters(s);
            let form = |c: u32| nearness.near(c as usize);
            chain(Bilinear::new(weights, profiles.n_clusters(), clusters, form), run)?
        };
        Ok(cut_tree(profiles.len(), &joins, self.k, run))
    }
}

/// The enhanced co-association $b$.
struct Nearness<'a> {
    profiles: &'a Profiles,
    /// $z$ of all clusters.
    z: Matrix,
    /// The member of every cluster.
    member: Vec<usize>,
}

impl<'a> Nearness<'a> {
    fn new(profiles: &'a Profiles, steps: usize, run: &Run) -> Result<Self> {
        let z = profiles.walks_of_clusters(steps, run)?;
        let members = profiles.members().iter().enumerate();
        let member =
            members.flat_map(|(h, own)| std::iter::repeat_n(h, own.n_clusters())).collect();
        Ok(Nearness { profiles, z, member })
    }

    /// Where the clusters of the member of `c` begin, and how near they are to `c`.
    fn near(&self, c: usize) -> (usize, &[f64]) {
        let own = self.profiles.members()[self.member[c]].clusters.clone();
        (own.start, &self.z.row(c)[own])
    }

    /// Writes $b_{st}$ for all $t$.
    fn row(&self, s: usize, out: &mut [f64]) {
        let r = self.profiles.n_members() as f64;
        // What each cluster is to the one of its member that `s` is in: looked up once, added up for all.
        let mut near = vec![0.0; self.profiles.n_clusters()];
        self.profiles.for_each_entry(s, |_, c, _| {
            let (first, row) = self.near(c);
            near[first..][..row.len()].copy_from_slice(row);
        });
        self.profiles.for_each_row(0..out.len(), |t, clusters| {
            out[t] = clusters.iter().map(|&c| near[c as usize]).sum::<f64>() / r;
        });
    }

    /// The clusters of profile `s`, each with the root of its share in $b$.
    fn clusters(&self, s: usize) -> Vec<(u32, f64)> {
        let share = 1.0 / (self.profiles.n_members() as f64).sqrt();
        let mut clusters = Vec::new();
        self.profiles.for_each_entry(s, |_, c, _| clusters.push((c as u32, share)));
        clusters
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    proptest! {
        /// Sums over clusters say what the table says, and nobody is nearer to another than to its equals.
        #[test]
        fn form_and_table_agree(ensemble in ensembles(Kinds::HARD, 12, 5)) {
            let profiles = profiles(&ensemble);
            let nearness = Nearness::new(&profiles, 5, &Run::new(0).threads(1)).unwrap();
            let mut row = vec![0.0; profiles.len()];
            for s in 0..profiles.len() {
                nearness.row(s, &mut row);
                let mut image = vec![0.0; profiles.n_clusters()];
                for (c, x) in nearness.clusters(s) {
                    let (first, near) = nearness.near(c as usize);
                    image[first..].iter_mut().zip(near).for_each(|(sum, z)| *sum += x * z);
                }
                for t in 0..profiles.len() {
                    let other = nearness.clusters(t);
                    let sum: f64 = other.iter().map(|(c, x)| image[*c as usize] * x).sum();
                    prop_assert!((sum - row[t]).abs() < 1e-12, "{sum} {}", row[t]);
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
