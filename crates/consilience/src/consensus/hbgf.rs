//! HBGF: the hybrid bipartite graph formulation.
//!
//! X. Z. Fern, C. E. Brodley. *Solving Cluster Ensemble Problems by Bipartite Graph Partitioning.*
//! ICML 2004.
//!
//! Objects and clusters of all members are the two sides of a graph; an object is joined to the
//! clusters it is in. The graph is parted in $k$, objects and clusters at once, and the parts of the
//! objects are the answer. By the normalised cut this asks for the $k$ leading singular pairs of
//!
//! $$ B = D_r^{-1/2} H D_c^{-1/2}, $$
//!
//! $D_r$ the numbers of labels of the objects and $D_c$ the weights of the clusters. The rows of the
//! left singular vectors, scaled to unit length, are clustered by k-means.
//!
//! # As a transfer cut
//!
//! The left singular vectors are the eigenvectors of $B B^T$ between objects, which come from those
//! of the $K \times K$ matrix $B^T B$ between clusters (Z. Li, X.-M. Wu, S.-F. Chang. *Segmentation
//! Using Superpixels: A Bipartite Graph Partitioning Approach.* CVPR 2012). So the graph of $n + K$
//! vertices is never built. $B B^T$ is also the normalised $H D_c^{-1} H^T$, the sum over members of
//! the matrices whose entry $(i, j)$ is one over the size of the cluster that $i$ and $j$ share.
//!
//! # By a balanced cut
//!
//! With `partition` set to `cut` the graph itself is cut in parts of about equal weight, as the paper
//! does with METIS. Clusters weigh nothing, so balance counts objects alone, and heavy profiles are
//! chunks that can part. This finds no clusters of unequal size.
//!
//! # Where we depart from the paper
//!
//! * *k-means runs on the objects.* The paper clusters the $K$ rows of the clusters along with them.
//!   Here only ratios of weights count: $n$ objects of weight 2 are $2n$ objects, against which a
//!   cluster cannot have a weight of its own. Among many objects the clusters hardly matter.
//! * *Starts.* Ten by k-means++; the paper takes one, of rows that are as orthogonal as can be.
//! * *Equal eigenvalues* at the end of the $k$ largest are all taken
//!   (see spectral clustering).
//!
//! # Cost
//!
//! Time $O(u r^2 + K^3 + u r k)$ and k-means on $u \times k$ rows; memory $O(K^2 + u k)$. By the
//! balanced cut $O(v r)$ edges of $v \le u + 100 k$ vertices.

use crate::base::{SpectralParams, spectral_cost};
use crate::consensus::balanced::of_chunks;
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params, words};
use crate::ensemble::{Chunks, Factor, Profiles};
use crate::error::Result;
use crate::graph::Graph;
use crate::run::Run;

/// What there is to know about the bipartite graph formulation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "hbgf",
    title: "hybrid bipartite graph formulation: objects and clusters parted together by the normalised cut",
    reference: "X. Z. Fern, C. E. Brodley. Solving Cluster Ensemble Problems by Bipartite Graph \
                Partitioning. ICML 2004.",
    soft: OnSoft::Uses,
    missing: Some("an object is joined to the clusters that it is known to be in"),
    time: "O(u r^2 + K^3 + u r k), and k-means on u rows of k numbers",
    memory: "O(K^2 + u k)",
    ..Hbgf::DECLARED
};

params! {
    /// [HBGF](self): hybrid bipartite graph formulation: objects and clusters parted together by
    /// the normalised cut.
    pub struct Hbgf(k): INFO {
        /// By the normalised cut, or into parts of equal weight.
        partition: HbgfPartition = HbgfPartition::Spectral;
        /// Starts of k-means on the embedding; the best is kept (spectral).
        restarts: usize = 10, at_least(1.0);
        /// How much heavier than the mean a part may be, as a share (cut).
        imbalance: f64 = 0.03, at_least(0.0);
    }
}

words! {
    /// How the bipartite graph is parted.
    pub enum HbgfPartition {
        /// By the normalised cut.
        Spectral = "spectral",
        /// Into parts of about equal weight.
        Cut = "cut",
    }
}

impl Hbgf {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }
}

impl ConsensusMethod for Hbgf {
    fn cost(&self, shape: &Shape) -> u64 {
        match self.partition {
            HbgfPartition::Spectral => spectral_cost(shape.u, shape.total_clusters, self.k),
            HbgfPartition::Cut => {
                let v = Chunks::most(shape.n, shape.u, self.k) as u64;
                // Memberships of soft members may join an object to every cluster.
                let degree = if shape.soft { shape.total_clusters } else { shape.r };
                let vertices = v + shape.total_clusters as u64;
                // An edge from both ends: in lists that grow by doubling, as whole numbers, in the
                // copy for METIS and in its coarser graphs.
                160 * v * degree as u64 + 8 * (shape.n as u64 + 32 * vertices)
            }
        }
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("bipartite cut", 0, Some(1))?;
        if self.partition == HbgfPartition::Cut {
            let chunks = Chunks::new(profiles, self.k);
            let graph = bipartite_graph(profiles, &chunks);
            let parts = graph.partition(self.k, self.imbalance, run)?;
            return Ok(of_chunks(INFO.name, profiles, &chunks, &parts, self.k, run));
        }
        let factor = Factor::bipartite(profiles, &vec![1.0; profiles.n_clusters()]);
        let fit = self.spectral().check()?.fit_factor(&factor, run)?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        run.tick("bipartite cut", 1, Some(1))?;
        Ok(consensus)
    }
}

/// The graph of chunks, which have their weights, and clusters, which have none.
fn bipartite_graph(profiles: &Profiles, chunks: &Chunks) -> Graph {
    let v = chunks.len();
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); v + profiles.n_clusters()];
    for (a, (&s, &w)) in chunks.profiles.iter().zip(&chunks.weights).enumerate() {
        profiles.for_each_entry(s as usize, |_, c, p| {
            rows[a].push(((v + c) as u32, w * p));
            rows[v + c].push((a as u32, w * p));
        });
    }
    let mut weights = chunks.weights.clone();
    weights.resize(rows.len(), 0.0);
    Graph::new(&weights, &rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::ensemble::Ensemble;
    use crate::linalg::{Matrix, eigen, product};
    use crate::testing::{
        Kinds, dense_incidence, ensembles, hard_ensemble, profiles, strehl_and_ghosh,
    };

    const WAYS: [HbgfPartition; 2] = [HbgfPartition::Spectral, HbgfPartition::Cut];

    fn hbgf(ensemble: &Ensemble, k: usize, way: HbgfPartition) -> Vec<Option<u32>> {
        let profiles = profiles(ensemble);
        let method = Hbgf::new(k).partition(way);
        combine(&profiles, &method, None, &Run::new(0)).unwrap().object_labels(&profiles)
    }

    /// The example of Strehl and Ghosh (2002, Table 1), whose fourth clustering has gaps.
    #[test]
    fn seven_objects_of_strehl_and_ghosh_are_combined() {
        let ensemble = strehl_and_ghosh();
        for way in WAYS {
            assert_eq!(hbgf(&ensemble, 3, way), [0, 0, 0, 1, 1, 2, 2].map(Some), "{way:?}");
        }
    }

    /// All members agree on 53 and 97: the normalised cut keeps that, the balanced one may not.
    #[test]
    fn only_the_balanced_cut_parts_equal_objects() {
        let labels: [i64; 150] = std::array::from_fn(|i| i64::from(i >= 53));
        let ensemble = hard_ensemble(&[labels; 9]);
        let larger = |way| hbgf(&ensemble, 2, way).iter().filter(|l| **l == Some(0)).count();
        assert_eq!(larger(HbgfPartition::Spectral), 97);
        assert!((75..=77).contains(&larger(HbgfPartition::Cut)));
    }

    proptest! {
        /// Whatever the ensemble, the balanced cut answers, with all the clusters asked for.
        #[test]
        fn the_balanced_cut_answers_anything(ensemble in ensembles(Kinds::ALL, 14, 4), k in 1..5usize) {
            let profiles = profiles(&ensemble);
            prop_assume!(k <= profiles.len());
            let method = Hbgf::new(k).partition(HbgfPartition::Cut);
            let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
            prop_assert_eq!(consensus.k, k);
        }

        /// The graph of objects and clusters itself: the normalised adjacency of its vertices has the
        /// singular values of $B$ as its positive eigenvalues.
        #[test]
        fn eigenvalues_are_those_of_the_bipartite_graph(
            ensemble in ensembles(Kinds::ALL, 10, 4), k in 1..4usize
        ) {
            let profiles = profiles(&ensemble);
            let (u, n_clusters, w) = (profiles.len(), profiles.n_clusters(), profiles.weights());
            prop_assume!(k < u);
            let h = dense_incidence(&profiles);
            let row = |s: usize| h.row(s).iter().sum::<f64>() * w[s];
            let column = |c: usize| (0..u).map(|s| w[s] * h[(s, c)]).sum::<f64>();
            let adjacency = Matrix::from_fn(u + n_clusters, u + n_clusters, |i, j| {
                let (s, c) = (i.min(j), i.max(j));
                if s >= u || c < u {
                    return 0.0;
                }
                w[s] * h[(s, c - u)] / (row(s) * column(c - u)).sqrt()
            });
            let slow = eigen(adjacency, |_| 0, &Run::new(0)).unwrap().values;
            let method = Hbgf::new(k);
            let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
            let Some(Value::List(fast)) = consensus.diagnostics.get("normalised eigenvalues") else {
                panic!("no eigenvalues");
            };
            for (sigma, lambda) in slow.iter().zip(fast).take(k) {
                prop_assert!((sigma.max(0.0).powi(2) - lambda).abs() < 1e-9, "{slow:?} {fast:?}");
            }
        }

        /// $H D_c^{-1} H^T$ has the numbers of labels as its degrees.
        #[test]
        fn degrees_of_the_transfer_cut_are_numbers_of_labels(
            ensemble in ensembles(Kinds::ALL, 12, 5)
        ) {
            let profiles = profiles(&ensemble);
            let factor = Factor::bipartite(&profiles, &vec![1.0; profiles.n_clusters()]);
            for (degree, count) in factor.degrees().iter().zip(profiles.label_counts()) {
                prop_assert!((degree - f64::from(count)).abs() < 1e-9);
            }
            let affinity = factor.affinity();
            let h = dense_incidence(&profiles);
            let sizes = profiles.cluster_weights();
            let scaled = Matrix::from_fn(h.nrows(), h.ncols(), |s, c| h[(s, c)] / sizes[c]);
            let slow = product(scaled.as_faer(), h.as_faer().transpose());
            for (a, b) in affinity.as_slice().iter().zip(slow.as_slice()) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let build = |name: &str, value: &str| {
            let settings = Settings::from_iter([(name, value)]);
            method("hbgf").unwrap().with(Some(2), &settings).map(|_| ())
        };
        assert!(build("restarts", "0").is_err());
        assert!(build("imbalance", "NaN").is_err());
        assert!(build("partition", "torn").is_err());
        assert_eq!(build("restarts", "3"), Ok(()));
        assert_eq!(build("partition", "cut"), Ok(()));
    }
}
