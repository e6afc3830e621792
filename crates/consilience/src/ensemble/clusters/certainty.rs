//! How certain the ensemble is about each of its clusters.

use crate::ensemble::profiles::Profiles;
use crate::linalg::Matrix;

impl Profiles {
    /// For every cluster the mean, over the members, of the entropy in bits of that member's labels
    /// within the cluster, from the [Gram matrix](Self::gram) $G = H^T W H$.
    ///
    /// $$ H(C) = \frac 1 r \sum_m \Bigl( - \sum_l p_l \log_2 p_l \Bigr), \qquad
    ///    p_l = \frac{|C \cap C^m_l|}{\sum_l |C \cap C^m_l|} $$
    ///
    /// It is 0 for a cluster that no member divides. Members that label nothing of a cluster have no
    /// say about it.
    ///
    /// # Panics
    ///
    /// If `gram` is not $K \times K$.
    pub fn cluster_entropies(&self, gram: &Matrix) -> Vec<f64> {
        let k = self.n_clusters();
        assert_eq!((gram.nrows(), gram.ncols()), (k, k), "one row and column a cluster");
        let of = |row: &[f64]| {
            let (mut sum, mut asked) = (0.0, 0.0);
            for member in self.members() {
                let shared = &row[member.clusters.clone()];
                let whole: f64 = shared.iter().sum();
                if whole > 0.0 {
                    let parts = shared.iter().filter(|&&x| x > 0.0).map(|x| x / whole);
                    sum -= parts.map(|p| p * p.log2()).sum::<f64>();
                    asked += 1.0;
                }
            }
            // -0.0 is no entropy.
            if asked == 0.0 { 0.0 } else { (sum / asked).max(0.0) }
        };
        gram.iter_rows().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{hard_ensemble, profiles};

    #[test]
    fn clusters_that_others_divide_are_uncertain() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]]));
        let entropies = profiles.cluster_entropies(&profiles.gram(profiles.weights()));
        // The first cluster of the first member is halved by the other: one bit, by one of two.
        assert_eq!(entropies, [0.5, 0.0, 0.0, 0.0, 0.0]);
    }
}
