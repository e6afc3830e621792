//! The Gram matrix $G = H^T W H$, the overlaps of all clusters, and what it tells about them.

use rayon::prelude::*;

use crate::ensemble::labels::{Code, with_codes};
use crate::ensemble::profiles::tally::tally;
use crate::ensemble::profiles::{ProfileMember, Profiles};
use crate::error::Result;
use crate::linalg::{Matrix, symmetric_trajectory_cosines};
use crate::math;
use crate::run::Run;

impl Profiles {
    /// $\sum_s a_s h_s h_s^T$, a $K \times K$ matrix. With `scale` the weights this is the Gram
    /// matrix $G = H^T W H$ of weighted cluster overlaps.
    ///
    /// Cost: $O(u r^2)$ time for hard members.
    ///
    /// # Panics
    ///
    /// If `scale` does not have one number per profile.
    pub(crate) fn gram(&self, scale: &[f64]) -> Matrix {
        /// Rows and columns that are copied together: in both places they stay in the cache.
        const TILE: usize = 32;
        let mut gram = self.gram_above(scale);
        let k = gram.nrows();
        for first in (0..k).step_by(TILE) {
            for a in first..k {
                for b in first..(first + TILE).min(a) {
                    gram[(a, b)] = gram[(b, a)];
                }
            }
        }
        gram
    }

    /// The [Gram matrix](Self::gram) of every member with itself and all later ones, otherwise 0.
    ///
    /// # Panics
    ///
    /// If `scale` does not have one number per profile.
    pub(crate) fn gram_above(&self, scale: &[f64]) -> Matrix {
        assert_eq!(scale.len(), self.len(), "one scale per profile");
        let k = self.n_clusters();
        let mut gram = Matrix::zeros(k, k);
        // The rows of one member's clusters are a task: nothing needs to be added up afterwards, and
        // the part of the matrix that is written at random stays small. A member's own block is
        // written whole, also where members are soft.
        let blocks = self.rows_of_members(&mut gram).into_par_iter().enumerate();
        blocks.with_max_len(1).for_each(|(h, block)| {
            if self.is_hard() {
                let first = self.first_clusters();
                with_codes!(self.codes(), codes => hard_gram(codes, first, h, scale, block, k));
                return;
            }
            let own = self.members()[h].clusters.clone();
            let mut entries = Vec::new();
            for s in 0..self.len() {
                entries.clear();
                self.for_each_entry(s, |l, cluster, p| {
                    if l >= h {
                        entries.push((cluster, p));
                    }
                });
                for &(a, p) in entries.iter().take_while(|(a, _)| own.contains(a)) {
                    let sums = &mut block[(a - own.start) * k..][..k];
                    for &(b, q) in &entries {
                        sums[b] += scale[s] * p * q;
                    }
                }
            }
        });
        gram
    }

    /// The rows of a matrix of clusters, by member.
    pub(crate) fn rows_of_members<'a>(&self, clusters: &'a mut Matrix) -> Vec<&'a mut [f64]> {
        let columns = clusters.ncols();
        let mut rest = clusters.as_mut_slice();
        let block = |member: &ProfileMember| {
            let (block, others) =
                std::mem::take(&mut rest).split_at_mut(member.n_clusters() * columns);
            rest = others;
            block
        };
        self.members().iter().map(block).collect()
    }

    /// $\Gamma_{st} = \lVert H_s^T W H_t \rVert^2$, $r \times r$, from the [Gram matrix](Self::gram)
    /// $G = H^T W H$: the inner products, over pairs of objects, of the members' connective matrices
    /// $H_s H_s^T$.
    ///
    /// # Panics
    ///
    /// If `gram` is not $K \times K$.
    pub(crate) fn connective_products(&self, gram: &Matrix) -> Matrix {
        let k = self.n_clusters();
        assert_eq!((gram.nrows(), gram.ncols()), (k, k), "one row and column per cluster");
        let members = self.members();
        Matrix::from_fn(members.len(), members.len(), |s, t| {
            let columns = members[t].clusters.clone();
            let square = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>();
            members[s].clusters.clone().map(|c| square(&gram.row(c)[columns.clone()])).sum()
        })
    }

    /// $\sum_s a_s m_s m_s^T$ with $m_s$ the memberships of profile $s$ in the clusters of the soft
    /// member `h`: a block on the diagonal of [`gram`](Self::gram). `None` if the member is hard,
    /// where the block is diagonal.
    pub(crate) fn square(&self, h: usize, scale: &[f64]) -> Option<Matrix> {
        let member = &self.members()[h];
        if member.is_hard() {
            return None;
        }
        let (first, k) = (member.clusters.start, member.n_clusters());
        let sums = self.sum_over_ranges(k * k, |rows, sums| {
            for s in rows {
                self.for_each_entry_of(s, h, |a, p| {
                    let sums = &mut sums[(a - first) * k..][..k];
                    let weight = scale[s] * p;
                    self.for_each_entry_of(s, h, |b, q| sums[b - first] += weight * q);
                });
            }
        });
        Some(Matrix::from_vec(k, k, sums))
    }

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
    pub(crate) fn cluster_entropies(&self, gram: &Matrix) -> Vec<f64> {
        let k = self.n_clusters();
        assert_eq!((gram.nrows(), gram.ncols()), (k, k), "one row and column per cluster");
        let of = |row: &[f64]| {
            let (mut sum, mut asked) = (0.0, 0.0);
            for member in self.members() {
                let shared = &row[member.clusters.clone()];
                let whole: f64 = shared.iter().sum();
                if whole > 0.0 {
                    let parts = shared.iter().filter(|&&x| x > 0.0).map(|x| x / whole);
                    sum -= parts.map(|p| p * math::log2(p)).sum::<f64>();
                    asked += 1.0;
                }
            }
            // -0.0 is no entropy.
            if asked == 0.0 { 0.0 } else { (sum / asked).max(0.0) }
        };
        gram.iter_rows().map(of).collect()
    }

    /// The Jaccard similarities $|C \cap C'| / |C \cup C'|$ of all clusters, $K \times K$, from the
    /// [Gram matrix](Self::gram), which is used up. For soft members the extended form
    /// $G_{ij} / (G_{ii} + G_{jj} - G_{ij})$.
    pub(crate) fn jaccard_of_clusters(gram: Matrix) -> Matrix {
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
    /// Time $O(u r^2 + K^3)$, memory of five $K \times K$ matrices.
    pub(crate) fn walks_of_clusters(&self, steps: usize, run: &Run) -> Result<Matrix> {
        let mut similarity = Self::jaccard_of_clusters(self.gram(self.weights()));
        (0..self.n_clusters()).for_each(|c| similarity[(c, c)] = 0.0);
        symmetric_trajectory_cosines(similarity, steps, run)
    }
}

/// Adds to `block`, the rows of the Gram matrix that belong to member `h`, the overlaps with this
/// and all later members.
fn hard_gram<C: Code>(
    codes: &[C],
    first: &[u32],
    h: usize,
    scale: &[f64],
    block: &mut [f64],
    k: usize,
) {
    tally(scale.len() * (first.len() - h));
    for (row, &scale) in codes.chunks_exact(first.len()).zip(scale) {
        if let Some(a) = row[h].index() {
            let sums = &mut block[a * k..(a + 1) * k];
            for (code, &first) in row[h..].iter().zip(&first[h..]) {
                if let Some(b) = code.index() {
                    sums[first as usize + b] += scale;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::trajectory_cosines;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn clusters_that_others_divide_are_uncertain() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]]));
        let entropies = profiles.cluster_entropies(&profiles.gram(profiles.weights()));
        // The first cluster of the first member is halved by the other: one bit, by one of two.
        assert_eq!(entropies, [0.5, 0.0, 0.0, 0.0, 0.0]);
    }

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
            // Cosines amplify the rounding of short trajectories.
            for (x, y) in found.as_slice().iter().zip(expected.as_slice()) {
                prop_assert!((x - y).abs() < 1e-9);
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
