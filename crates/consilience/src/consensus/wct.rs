//! WCT: link-based cluster ensemble by weighted connected triples.
//!
//! N. Iam-On, T. Boongoen, S. Garrett, C. Price. *A Link-Based Approach to the Cluster Ensemble
//! Problem.* IEEE TPAMI 33(12), 2011 (LCE).
//!
//! The table $H$ of objects and clusters is full of zeros, and all zeros are alike, whether an object
//! just misses a cluster or has nothing to do with it. LCE fills them. Clusters are joined by their
//! Jaccard similarity $w$; two clusters of one member, which share no object, are similar if they
//! have neighbours in common,
//!
//! $$ \operatorname{WCT}(x, y) = \sum_z \min(w_{xz}, w_{yz}), \qquad
//!    \operatorname{sim}(x, y) = \frac{\operatorname{WCT}(x, y)}{\max \operatorname{WCT}} \cdot
//!    \text{decay}, $$
//!
//! and an object's association with a cluster is 1 for its own and the similarity to its own for the
//! others of that member: $R = H T$ with $T$ block diagonal, ones on the diagonal. The bipartite graph
//! with weights $R$ is parted [spectrally](crate::base).
//!
//! # As a transfer cut
//!
//! With $d = R \mathbf 1$ and $c = R^T w$ the eigenvectors over objects come from those of the
//! $K \times K$ matrix $D_c^{-1/2} T^T [H^T W D_d^{-1} H] T D_c^{-1/2}$. $R$ is never built.
//!
//! # Where we depart from the paper
//!
//! * *Largest triple.* The maximum is over pairs of clusters of one member, the pairs that are used,
//!   as in the authors' program; the paper says any two clusters.
//! * *k-means runs on the objects*; the paper clusters the rows of the clusters along with them, which
//!   have no weight that could be compared with objects'.
//! * *Missing labels* (left open). An object that a member does not label is associated with none of
//!   its clusters.
//! * *Soft members* (left open). $R = H T$ with memberships in $H$; two clusters may then share
//!   objects, and are similar by their triples alone.
//!
//! # Cost
//!
//! Time $O(u r^2 + K^3 + u r k)$ and k-means on $u \times k$ rows; memory $O(K^2 + u k)$.

use rayon::prelude::*;

use crate::base::SpectralParams;
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::{Matrix, product};
use crate::run::Run;

/// What there is to know about weighted connected triples.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "wct",
    title: "link-based cluster ensemble: associations filled in by weighted connected triples, parted spectrally",
    reference: "N. Iam-On, T. Boongoen, S. Garrett, C. Price. A Link-Based Approach to the Cluster \
                Ensemble Problem. IEEE TPAMI 33(12), 2011.",
    soft: OnSoft::Uses,
    missing: Some("an absent label is associated with no cluster"),
    time: "O(u r^2 + K^3 + u r k), and k-means on u rows of k numbers",
    memory: "O(K^2 + u k)",
    ..Wct::DECLARED
};

params! {
    /// [WCT](self): link-based cluster ensemble: associations filled in by weighted connected
    /// triples, parted spectrally.
    pub struct Wct(k): INFO {
        /// The largest association of an object with a cluster that is not its own.
        decay: f64 = 0.9, at_least(0.0).at_most(1.0);
        /// Starts of k-means on the embedding; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

impl Wct {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }
}

impl ConsensusMethod for Wct {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, k) = (shape.u as u64, self.k.min(shape.u) as u64);
        let all = shape.total_clusters as u64;
        8 * (10 * all * all + u * (3 * k + 8))
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("connected triples", 0, None)?;
        let weights = profiles.weights();
        let jaccard = Profiles::jaccard_of_clusters(profiles.gram(weights));
        let t = associations(profiles, &jaccard, self.decay);
        drop(jaccard);
        run.tick("bipartite cut", 0, None)?;
        let graph = Bipartite::new(profiles, t);
        let fit = self.spectral().check()?.fit_through(
            graph.gram(),
            |turn| graph.rows(turn),
            weights,
            run,
        )?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        Ok(consensus)
    }
}

/// $T$: the association of an object that is in a cluster (row) with all clusters of that member.
fn associations(profiles: &Profiles, jaccard: &Matrix, decay: f64) -> Matrix {
    let n_clusters = profiles.n_clusters();
    let triples = |x: usize, y: usize| -> f64 {
        let shared = jaccard.row(x).iter().zip(jaccard.row(y)).enumerate();
        let through = shared.filter(|(z, _)| *z != x && *z != y);
        through.map(|(_, (a, b))| a.min(*b)).sum()
    };
    let rows: Vec<Vec<f64>> = profiles
        .members()
        .par_iter()
        .flat_map_iter(|member| {
            let own = member.clusters.clone();
            own.clone().map(move |x| (x, own.clone()))
        })
        .map(|(x, own)| {
            let mut row = vec![0.0; n_clusters];
            own.filter(|&y| y != x).for_each(|y| row[y] = triples(x, y));
            row
        })
        .collect();
    let mut t = Matrix::from_vec(n_clusters, n_clusters, rows.concat());
    let most = t.as_slice().iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        t.as_mut_slice().iter_mut().for_each(|x| *x *= decay / most);
    }
    (0..n_clusters).for_each(|c| t[(c, c)] = 1.0);
    t
}

/// The bipartite graph of objects and clusters with weights $R = H T$.
struct Bipartite<'a> {
    profiles: &'a Profiles,
    /// $T D_c^{-1/2}$.
    scaled: Matrix,
    /// $d = R \mathbf 1$.
    degrees: Vec<f64>,
}

impl<'a> Bipartite<'a> {
    fn new(profiles: &'a Profiles, t: Matrix) -> Self {
        let n_clusters = profiles.n_clusters();
        let sums = t.iter_rows().map(|row| row.iter().sum()).collect();
        let degrees = profiles.spread(&Matrix::from_vec(n_clusters, 1, sums)).into_vec();
        let mut columns = vec![0.0; n_clusters];
        for (size, row) in profiles.cluster_weights().iter().zip(t.iter_rows()) {
            columns.iter_mut().zip(row).for_each(|(sum, x)| *sum += size * x);
        }
        let mut scaled = t;
        for c in 0..n_clusters {
            let row = scaled.row_mut(c).iter_mut().zip(&columns);
            row.for_each(|(x, column)| *x /= column.sqrt());
        }
        Bipartite { profiles, scaled, degrees }
    }

    /// The matrix between clusters whose eigenvectors are sought.
    fn gram(&self) -> Matrix {
        let over = |(w, d): (&f64, &f64)| w / d;
        let scale: Vec<f64> = self.profiles.weights().iter().zip(&self.degrees).map(over).collect();
        let inner = self.profiles.gram(&scale);
        let half = product(inner.as_faer(), self.scaled.as_faer());
        product(self.scaled.as_faer().transpose(), half.as_faer())
    }

    /// Rows over the profiles from columns over the clusters.
    fn rows(&self, turn: &Matrix) -> Matrix {
        let mut rows = self.profiles.spread(&product(self.scaled.as_faer(), turn.as_faer()));
        let columns = rows.ncols().max(1);
        let chunks = rows.as_mut_slice().par_chunks_mut(columns).zip(&self.degrees);
        chunks.with_min_len(1024).for_each(|(row, d)| {
            let root = d.sqrt();
            row.iter_mut().for_each(|x| *x /= root);
        });
        rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::linalg::eigenvalues;
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    fn t_of(profiles: &Profiles, decay: f64) -> Matrix {
        let jaccard = Profiles::jaccard_of_clusters(profiles.gram(profiles.weights()));
        associations(profiles, &jaccard, decay)
    }

    /// Clusters 0 and 1 of the first member both overlap with cluster 0 of the second; cluster 2
    /// overlaps with none of their neighbours.
    #[test]
    fn clusters_with_common_neighbours_are_associated() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 2]]));
        let t = t_of(&profiles, 0.9);
        // The only triple, and so the largest, is 0 - {0, 1, 2} - 1: min(2/3, 1/4).
        assert!((t[(0, 1)] - 0.9).abs() < 1e-15 && t[(0, 1)] == t[(1, 0)]);
        assert_eq!((t[(0, 2)], t[(1, 2)], t[(2, 2)]), (0.0, 0.0, 1.0));
        // Clusters 0 and 1 of the second member both overlap with cluster 1 of the first: the same.
        assert!((t[(3, 4)] - 0.9).abs() < 1e-15);
    }

    proptest! {
        /// The eigenvalues between clusters are those of the normalised graph of all objects and
        /// clusters, squared.
        #[test]
        fn the_transfer_cut_is_that_of_the_graph(ensemble in ensembles(Kinds::ALL, 10, 4)) {
            let profiles = profiles(&ensemble);
            let (u, k, w) = (profiles.len(), profiles.n_clusters(), profiles.weights());
            let t = t_of(&profiles, 0.9);
            let r = product(dense_incidence(&profiles).as_faer(), t.as_faer());
            let rows: Vec<f64> = r.iter_rows().map(|row| row.iter().sum()).collect();
            let columns: Vec<f64> =
                (0..k).map(|c| (0..u).map(|s| w[s] * r[(s, c)]).sum()).collect();
            let full = Matrix::from_fn(u + k, u + k, |i, j| {
                let (s, c) = (i.min(j), i.max(j));
                if s >= u || c < u {
                    return 0.0;
                }
                let c = c - u;
                w[s].sqrt() * r[(s, c)] / (rows[s] * columns[c]).sqrt()
            });
            let run = Run::new(0).threads(1);
            let of_graph = eigenvalues(full, &run).unwrap();
            let found = eigenvalues(Bipartite::new(&profiles, t).gram(), &run).unwrap();
            prop_assert!((found[0] - 1.0).abs() < 1e-10);
            for (x, y) in found.iter().zip(&of_graph).take(u.min(k)) {
                prop_assert!((x - y * y).abs() < 1e-9, "{x} {y}");
            }
        }
    }

    #[test]
    fn what_is_clear_is_found() {
        let members =
            [[0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 2, 2, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let wct = Wct::new(3);
        let consensus = combine(&profiles, &wct, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1, 2, 2].map(Some));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(Wct::new(0).check().is_err());
        assert!(Wct::new(2).restarts(0).check().is_err());
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(Wct::new(2).decay(bad).check().is_err());
        }
    }
}
