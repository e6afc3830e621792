//! PTGP: probability trajectory based graph partitioning.
//!
//! D. Huang, J.-H. Lai, C.-D. Wang. *Robust Ensemble Clustering Using Probability Trajectories.* IEEE
//! TKDE 28(5), 2016.
//!
//! Microclusters, the groups of objects that no member tells apart, are similar as the random walks
//! among their elite neighbours are: see [PTA](crate::consensus::pta), which joins them by average
//! link. Here microclusters and the clusters of all members are the two sides of a graph. The edge
//! between microcluster $i$ and cluster $C$ is the mean similarity
//!
//! $$ b_{iC} = \frac{1}{\lvert C \rvert} \sum_{j \in C} \operatorname{PTS}(i, j) $$
//!
//! over the microclusters of $C$, whether or not $i$ is one of them. The graph is parted by the
//! normalised cut, microclusters by way of clusters.
//!
//! # On profiles
//!
//! Microclusters are profiles; each is one vertex, whatever its weight, as in the paper.
//!
//! # As a transfer cut
//!
//! With $D_x$ and $D_y$ the sums of the rows and columns of $B$ the eigenvectors over microclusters
//! come from those of the $K \times K$ matrix $D_y^{-1/2} B^T D_x^{-1} B D_y^{-1/2}$.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels* (left open). A pair is judged by the members that label both.
//! * *A microcluster without neighbours* is similar to itself alone, and so keeps edges to its own
//!   clusters; in the authors' program it is similar to none.
//! * *Equal eigenvalues* at the end of the $k$ largest are all taken
//!   (see spectral clustering), and k-means has ten starts, not three.
//!
//! # Cost
//!
//! Time $O(u^2 r + t u^3 + u K^2 + K^3)$; memory six $u \times u$ matrices, two $u \times K$, and those
//! of an eigenproblem of order $K$.

use rayon::prelude::*;

use crate::base::{SpectralParams, cost_of_order};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::{Matrix, product, symmetric_product_into, trajectory_cosines};
use crate::run::Run;

/// What there is to know about partitioning by probability trajectories.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "ptgp",
    title: "probability trajectories: groups of equal objects and clusters parted together by the normalised cut",
    reference: "D. Huang, J.-H. Lai, C.-D. Wang. Robust Ensemble Clustering Using Probability \
                Trajectories. IEEE TKDE 28(5), 2016.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    time: "O(u^2 r + t u^3 + u K^2 + K^3)",
    memory: "O(u^2 + K^2): six matrices of u x u",
    ..Ptgp::DECLARED
};

params! {
    /// [PTGP](self): probability trajectories: groups of equal objects and clusters parted
    /// together by the normalised cut.
    pub struct Ptgp(k): INFO {
        /// How many elite neighbours a group of equal objects has, but for ties.
        neighbours: Option<usize> = "half the root of the number of profiles, at most 20", at_least(1.0);
        /// How far the random walks go.
        steps: Option<usize> = "half the root of the number of profiles, at most 20", at_least(1.0);
        /// Starts of k-means on the embedding; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

impl Ptgp {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }
}

impl ConsensusMethod for Ptgp {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, all) = (shape.u as u64, shape.total_clusters as u64);
        let spectral = cost_of_order(shape.total_clusters, shape.u, self.k);
        8 * (6 * u * u + 2 * u * all + 8 * u) + spectral
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("probability trajectories", 0, Some(2))?;
        let u = profiles.len();
        let usual = profiles.usual_walk();
        let neighbours = self.neighbours.unwrap_or(usual);
        let steps = self.steps.unwrap_or(usual);
        let similarity = trajectory_cosines(&profiles.elite_walk(neighbours), steps, run)?;
        let edges = edges(profiles, &similarity);
        drop(similarity);
        run.tick("bipartite cut", 1, Some(2))?;
        let spectral = self.spectral().check()?;
        let scaled = scaled(edges);
        let mut gram = Matrix::zeros(scaled.ncols(), scaled.ncols());
        symmetric_product_into(&mut gram, scaled.as_faer().transpose(), scaled.as_faer());
        let rows = |turn: &Matrix| product(scaled.as_faer(), turn.as_faer());
        // Every microcluster counts once.
        let fit = spectral.fit_through(gram, rows, &vec![1.0; u], run)?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        consensus.diagnostics.push("neighbours", Value::Integer(neighbours as i64));
        consensus.diagnostics.push("steps", Value::Integer(steps as i64));
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        run.tick("bipartite cut", 2, Some(2))?;
        Ok(consensus)
    }
}

/// $B$: the mean similarity of every profile, a row each, with every cluster.
fn edges(profiles: &Profiles, similarity: &Matrix) -> Matrix {
    let (u, n_clusters) = (profiles.len(), profiles.n_clusters());
    let mut sizes = vec![0.0; n_clusters];
    (0..u).for_each(|t| profiles.for_each_entry(t, |_, c, _| sizes[c] += 1.0));
    let mut edges = Matrix::zeros(u, n_clusters);
    edges.as_mut_slice().par_chunks_exact_mut(n_clusters).enumerate().for_each(|(s, row)| {
        for (t, x) in similarity.row(s).iter().enumerate().filter(|(_, x)| **x > 0.0) {
            profiles.for_each_entry(t, |_, c, _| row[c] += x);
        }
        row.iter_mut().zip(&sizes).for_each(|(x, size)| *x /= size);
    });
    edges
}

/// $D_x^{-1/2} B D_y^{-1/2}$ from $B$. Every profile has an edge: it is similar to itself.
fn scaled(mut edges: Matrix) -> Matrix {
    let mut columns = vec![0.0; edges.ncols()];
    for row in edges.iter_rows() {
        columns.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    for s in 0..edges.nrows() {
        let row = edges.row_mut(s);
        let sum: f64 = row.iter().sum();
        row.iter_mut().zip(&columns).for_each(|(x, column)| *x /= (column * sum).sqrt());
    }
    edges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    proptest! {
        /// The mean over the microclusters of a cluster, and the scaling, word by word.
        #[test]
        fn edges_are_mean_similarities(ensemble in ensembles(Kinds::HARD, 12, 4)) {
            let profiles = profiles(&ensemble);
            let (h, u) = (dense_incidence(&profiles), profiles.len());
            let walk = profiles.elite_walk(2);
            let similarity = trajectory_cosines(&walk, 3, &Run::new(0).threads(1)).unwrap();
            let b = Matrix::from_fn(u, h.ncols(), |s, c| {
                let inside = (0..u).filter(|&t| h[(t, c)] > 0.0);
                let sum: f64 = inside.clone().map(|t| similarity[(s, t)]).sum();
                sum / inside.count() as f64
            });
            let edges = edges(&profiles, &similarity);
            for c in 0..h.ncols() {
                for s in 0..u {
                    prop_assert!((edges[(s, c)] - b[(s, c)]).abs() < 1e-12);
                }
            }
            let scaled = scaled(edges);
            for c in 0..h.ncols() {
                let column: f64 = (0..u).map(|s| b[(s, c)]).sum();
                for s in 0..u {
                    let row: f64 = b.row(s).iter().sum();
                    let expected = b[(s, c)] / (row * column).sqrt();
                    prop_assert!((scaled[(s, c)] - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn what_is_clear_is_found() {
        let members =
            [[0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 2, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let ptgp = Ptgp::new(3);
        let consensus = combine(&profiles, &ptgp, None, &Run::new(0)).unwrap();
        let labels = consensus.object_labels(&profiles);
        assert!(labels[0] == labels[1] && labels[3] == labels[4] && labels[6] == labels[7]);
        assert!(labels[0] != labels[6] && labels[3] != labels[6]);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let build = |name: &str, value: &str| {
            let settings = Settings::from_iter([(name, value)]);
            method("ptgp").unwrap().with(Some(2), &settings).map(|_| ())
        };
        for name in ["neighbours", "steps", "restarts"] {
            assert!(build(name, "0").is_err(), "{name}");
            assert_eq!(build(name, "3"), Ok(()));
        }
        assert!(Ptgp::new(0).check().is_err());
    }
}
