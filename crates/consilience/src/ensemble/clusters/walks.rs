//! Similarity of clusters by the objects they share, and by random walks among them.

use crate::ensemble::profiles::Profiles;
use crate::error::Result;
use crate::linalg::{Matrix, trajectory_cosines};
use crate::run::Run;

impl Profiles {
    /// The Jaccard similarities $|C \cap C'| / |C \cup C'|$ of all clusters, $K \times K$, from the
    /// [Gram matrix](Self::gram), which is used up. For soft members the extended form
    /// $G_{ij} / (G_{ii} + G_{jj} - G_{ij})$.
    pub fn jaccard_of_clusters(gram: Matrix) -> Matrix {
        let sizes: Vec<f64> = (0..gram.nrows()).map(|c| gram[(c, c)]).collect();
        let mut jaccard = gram;
        for (c, size) in sizes.iter().enumerate() {
            for (x, other) in jaccard.row_mut(c).iter_mut().zip(&sizes) {
                let union = size + other - *x;
                *x = if union > 0.0 { *x / union } else { 0.0 };
            }
        }
        jaccard
    }

    /// How alike the random walks from two clusters are, $K \times K$.
    ///
    /// A walk goes from a cluster to another with probability proportional to their
    /// [Jaccard similarity](Self::jaccard_of_clusters). With $P$ the transition matrix, the
    /// trajectory of a cluster is its rows of $P, P^2, \dots, P^t$ one after the other; entry
    /// $(c, c')$ is the cosine of two trajectories. A cluster that overlaps with no other is like
    /// none but itself.
    ///
    /// # Cost
    ///
    /// Time $O(u r^2 + t K^3)$, memory of five $K \times K$ matrices.
    pub fn walks_of_clusters(&self, steps: usize, run: &Run) -> Result<Matrix> {
        let k = self.n_clusters();
        let mut walk = Self::jaccard_of_clusters(self.gram(self.weights()));
        for c in 0..k {
            let row = walk.row_mut(c);
            row[c] = 0.0;
            let sum: f64 = row.iter().sum();
            if sum > 0.0 {
                row.iter_mut().for_each(|x| *x /= sum);
            }
        }
        trajectory_cosines(&walk, steps, run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    proptest! {
        /// The walk written out cluster by cluster.
        #[test]
        fn walks_go_by_jaccard_similarity(ensemble in ensembles(Kinds::HARD, 12, 4)) {
            let profiles = profiles(&ensemble);
            let k = profiles.n_clusters();
            let jaccard = Profiles::jaccard_of_clusters(profiles.gram(profiles.weights()));
            let walk = Matrix::from_fn(k, k, |a, b| {
                let sum: f64 = (0..k).filter(|&c| c != a).map(|c| jaccard[(a, c)]).sum();
                if a == b || sum == 0.0 { 0.0 } else { jaccard[(a, b)] / sum }
            });
            let run = Run::new(0).threads(1);
            let found = profiles.walks_of_clusters(4, &run).unwrap();
            let expected = trajectory_cosines(&walk, 4, &run).unwrap();
            for (x, y) in found.as_slice().iter().zip(expected.as_slice()) {
                prop_assert!((x - y).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn jaccard_is_shared_over_all() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 1], [0, 0, 1, 1]]));
        let jaccard = Profiles::jaccard_of_clusters(profiles.gram(profiles.weights()));
        assert_eq!(jaccard.row(0), [1.0, 0.0, 2.0 / 3.0, 0.25]);
    }
}
