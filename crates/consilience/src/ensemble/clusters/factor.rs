//! Affinities of low rank that are never built.
//!
//! With $F = \operatorname{diag}(a) H \operatorname{diag}(b)$, a scaling of the rows and columns of
//! the [incidence matrix](crate::ensemble), the affinity $F F^T$ covers the co-association matrix
//! ($a = 1/\sqrt{r}$), its form for missing labels, and every weighted sum of the members'
//! connective matrices. What is asked of it (degrees, spectra, eigenvectors) can be had from the
//! $K \times K$ matrix $F^T W F$ or from products with $F$.

use rayon::prelude::*;

use crate::ensemble::profiles::Profiles;
use crate::linalg::{Matrix, mirror_lower};

/// The factor $F = \operatorname{diag}(a) H \operatorname{diag}(b)$ of an affinity $F F^T$ between
/// profiles.
#[derive(Clone, Debug)]
pub(crate) struct Factor<'a> {
    profiles: &'a Profiles,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl<'a> Factor<'a> {
    /// The factor with these scales, one a profile and one a cluster.
    ///
    /// # Panics
    ///
    /// If there are more or fewer.
    pub(crate) fn new(profiles: &'a Profiles, rows: Vec<f64>, columns: Vec<f64>) -> Self {
        assert_eq!(rows.len(), profiles.len(), "one scale a profile");
        assert_eq!(columns.len(), profiles.n_clusters(), "one scale a cluster");
        Factor { profiles, rows, columns }
    }

    /// The factor of the co-association matrix $\Psi = D_o^{-1/2} H H^T D_o^{-1/2}$, where $o_s$
    /// members label profile $s$.
    ///
    /// If all do, $\Psi$ is the mean of the members' connective matrices. Otherwise the cosine form
    /// keeps it positive semidefinite, of low rank, and for hard members with unit diagonal.
    pub(crate) fn coassociation(profiles: &'a Profiles) -> Self {
        let counts = profiles.label_counts();
        let rows = counts.iter().map(|&o| 1.0 / f64::from(o).sqrt()).collect();
        Factor::new(profiles, rows, vec![1.0; profiles.n_clusters()])
    }

    /// The factor of the *transfer cut*: objects and clusters are the sides of a bipartite graph
    /// with edges $H \operatorname{diag}(e)$, `edges` holding one $e_c > 0$ a cluster, and
    ///
    /// $$ F F^T = H \operatorname{diag}(e) D_c^{-1} \operatorname{diag}(e) H^T
    ///          = H \operatorname{diag}(e_c / \lvert c \rvert) H^T $$
    ///
    /// goes from objects to objects by way of the clusters, with $D_c$ the degrees and
    /// $\lvert c \rvert$ the weights of the clusters. An object keeps the degree it has in the
    /// bipartite graph, so the normalised cuts of both graphs have the same eigenvectors.
    pub(crate) fn bipartite(profiles: &'a Profiles, edges: &[f64]) -> Self {
        assert_eq!(edges.len(), profiles.n_clusters(), "one edge weight a cluster");
        let sizes = profiles.cluster_weights();
        let columns = edges.iter().zip(&sizes).map(|(e, size)| (e / size).sqrt()).collect();
        Factor::new(profiles, vec![1.0; profiles.len()], columns)
    }

    /// The profiles that the affinity is between.
    pub(crate) fn profiles(&self) -> &'a Profiles {
        self.profiles
    }

    /// The diagonal of $F F^T$.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        let of = |s: usize| {
            let mut sum = 0.0;
            self.profiles.for_each_entry(s, |_, c, p| sum += (self.columns[c] * p).powi(2));
            self.rows[s].powi(2) * sum
        };
        (0..self.profiles.len()).into_par_iter().map(of).collect()
    }

    /// The degrees $F F^T w$ of the objects of each profile, in $O(u r)$.
    pub(crate) fn degrees(&self) -> Vec<f64> {
        let weights = self.profiles.weights();
        self.times(&self.transposed_times(&Matrix::from_vec(weights.len(), 1, weights.to_vec())))
            .into_vec()
    }

    /// $F X$.
    pub(crate) fn times(&self, x: &Matrix) -> Matrix {
        let mut scaled = x.clone();
        scale_rows(&mut scaled, &self.columns);
        let mut out = self.profiles.spread(&scaled);
        scale_rows(&mut out, &self.rows);
        out
    }

    /// $F^T X$.
    pub(crate) fn transposed_times(&self, x: &Matrix) -> Matrix {
        let mut out = self.profiles.group_sums(x, &self.rows);
        scale_rows(&mut out, &self.columns);
        out
    }

    /// $F^T \operatorname{diag}(\text{scale}) F$, $K \times K$, in $O(u r^2)$.
    pub(crate) fn gram(&self, scale: &[f64]) -> Matrix {
        let scale: Vec<f64> = scale.iter().zip(&self.rows).map(|(w, a)| w * a * a).collect();
        let mut gram = self.profiles.gram(&scale);
        if self.columns.iter().any(|&b| b != 1.0) {
            for (i, b) in self.columns.iter().enumerate() {
                let row = gram.row_mut(i).iter_mut().zip(&self.columns);
                row.for_each(|(g, c)| *g *= b * c);
            }
        }
        gram
    }

    /// $F F^T$, $u \times u$, in $O(u^2 r)$.
    pub(crate) fn affinity(&self) -> Matrix {
        let u = self.profiles.len();
        let mut out = Matrix::zeros(u, u);
        let zeros = || vec![0.0; self.profiles.n_clusters()];
        out.as_mut_slice().par_chunks_mut(u.max(1)).enumerate().for_each_init(
            zeros,
            |own, (s, row)| {
                own.fill(0.0);
                self.profiles.for_each_entry(s, |_, c, p| {
                    own[c] = self.rows[s] * self.columns[c].powi(2) * p;
                });
                for (t, out) in row[..=s].iter_mut().enumerate() {
                    let mut sum = 0.0;
                    self.profiles.for_each_entry(t, |_, c, p| sum += own[c] * p);
                    *out = self.rows[t] * sum;
                }
            },
        );
        mirror_lower(&mut out);
        out
    }
}

fn scale_rows(matrix: &mut Matrix, scale: &[f64]) {
    let columns = matrix.ncols();
    if columns == 0 || scale.iter().all(|&a| a == 1.0) {
        return;
    }
    let rows = matrix.as_mut_slice().par_chunks_exact_mut(columns).zip(scale);
    rows.with_min_len(1024).for_each(|(row, a)| row.iter_mut().for_each(|x| *x *= a));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::product;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    fn close(a: &Matrix, b: &Matrix) -> bool {
        (a.nrows(), a.ncols()) == (b.nrows(), b.ncols())
            && a.as_slice().iter().zip(b.as_slice()).all(|(x, y)| (x - y).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn products_agree_with_the_dense_factor(ensemble in ensembles(Kinds::ALL, 12, 4)) {
            let profiles = profiles(&ensemble);
            let (u, k) = (profiles.len(), profiles.n_clusters());
            let a: Vec<f64> = (0..u).map(|s| 1.0 / (s as f64 + 1.0)).collect();
            let b: Vec<f64> = (0..k).map(|c| 0.5 + c as f64).collect();
            let factor = Factor::new(&profiles, a.clone(), b.clone());
            let h = dense_incidence(&profiles);
            let f = Matrix::from_fn(u, k, |s, c| a[s] * h[(s, c)] * b[c]);
            let w = profiles.weights();
            let wf = Matrix::from_fn(u, k, |s, c| w[s] * f[(s, c)]);
            let affinity = product(f.as_faer(), f.as_faer().transpose());
            prop_assert!(close(&factor.affinity(), &affinity));
            prop_assert!(close(&factor.gram(w), &product(f.as_faer().transpose(), wf.as_faer())));
            let x = Matrix::from_fn(u, 2, |s, j| (s + j) as f64);
            let y = Matrix::from_fn(k, 2, |c, j| (c * j) as f64);
            prop_assert!(close(&factor.times(&y), &product(f.as_faer(), y.as_faer())));
            prop_assert!(close(
                &factor.transposed_times(&x),
                &product(f.as_faer().transpose(), x.as_faer())
            ));
            for s in 0..u {
                let degree: f64 = (0..u).map(|t| affinity[(s, t)] * w[t]).sum();
                prop_assert!((factor.degrees()[s] - degree).abs() < 1e-12 * (1.0 + degree));
                prop_assert!((factor.diagonal()[s] - affinity[(s, s)]).abs() < 1e-12);
            }
        }
    }
}
