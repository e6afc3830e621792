//! SEC: spectral ensemble clustering as weighted k-means.
//!
//! H. Liu, T. Liu, J. Wu, D. Tao, Y. Fu. *Spectral Ensemble Clustering.* KDD 2015.
//!
//! The normalised cut of the co-association matrix $S = H H^T$ in $k$ parts needs no eigenvectors
//! (Theorem 1): with the degrees $d_i = \sum_j w_j S_{ij}$ its objective is, but for a constant, that
//! of k-means
//!
//! $$ \min \sum_i w_i d_i \Big\lVert \frac{h_i}{d_i} - m_{y_i} \Big\rVert^2 $$
//!
//! of the rows $h_i / d_i$ with weights $w_i d_i$. A degree is the total size of the clusters that an
//! object is in. Distances are look-ups of $r$ numbers per centre, for $\lVert h_i \rVert$ does not
//! change.
//!
//! # Where we depart from the paper
//!
//! * *Starts* by greedy k-means++; the best of ten.
//! * *Missing labels* are nought in $h_i$: a label that is absent agrees with none, and the identity
//!   with the normalised cut of $H H^T$ holds as it stands.
//! * *Soft members.* $H$ holds memberships.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ iterations of all starts, memory $O(u k + K k)$.

use crate::consensus::driver::{Effort, SAMPLE};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{at_least, params};
use crate::consensus::row_kmeans::{RowKMeans, Rows};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::run::Run;

/// What there is to know about spectral ensemble clustering.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "sec",
    title: "spectral ensemble clustering: the normalised cut of the co-association matrix as weighted k-means",
    reference: "H. Liu, T. Liu, J. Wu, D. Tao, Y. Fu. Spectral Ensemble Clustering. KDD 2015.",
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    time: "O(t u r k)",
    memory: "O(u k + K k)",
    ..Sec::DECLARED
};

params! {
    /// [SEC](self): spectral ensemble clustering: the normalised cut of the co-association matrix
    /// as weighted k-means.
    pub struct Sec(k): INFO {
        /// Starts; the best is kept.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of iterations of a start.
        max_iter: usize = 100, at_least(1.0);
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
    }
}

impl ConsensusMethod for Sec {
    fn cost(&self, shape: &Shape) -> u64 {
        RowKMeans::cost(Rows::Normalised, shape.u, shape.total_clusters, self.k)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let k = self.k.min(profiles.len());
        let rows = RowKMeans::new(profiles, Rows::Normalised, k, None);
        rows.fit(self.sample, Effort::new(self.restarts, self.max_iter), run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::outcome::Stop;
    use crate::consensus::{Settings, combine, method};
    use crate::ensemble::{Ensemble, SoftMember};
    use crate::linalg::{Matrix, product};
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles, strehl_and_ghosh};

    #[test]
    fn seven_objects_of_strehl_and_ghosh_are_combined() {
        let profiles = profiles(&strehl_and_ghosh());
        let method = Sec::new(3);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 2, 2].map(Some));
    }

    proptest! {
        /// Theorem 1: k-means' objective is a constant less the normalised association
        /// $\sum_j \mathrm{assoc}(j, j) / \mathrm{deg}(j)$; and it never rises.
        #[test]
        fn the_objective_is_the_normalised_cut(
            ensemble in ensembles(Kinds::ALL, 12, 4), k in 1..5usize, seed: u64
        ) {
            let profiles = profiles(&ensemble);
            let (u, w) = (profiles.len(), profiles.weights());
            let sec = Sec::new(k).restarts(1);
            let found = sec.solve(&profiles, None, &Run::new(seed).threads(1)).unwrap();
            prop_assert_eq!(found.convergence.stop, Stop::Converged);
            let h = dense_incidence(&profiles);
            let s = product(h.as_faer(), h.as_faer().transpose());
            let degree = |i: usize| (0..u).map(|j| w[j] * s[(i, j)]).sum::<f64>();
            let mut cut: f64 = (0..u).map(|i| w[i] * s[(i, i)] / degree(i)).sum();
            for j in 0..k as u32 {
                let of = |i: &usize| found.labels[*i] == j;
                let within: f64 = (0..u)
                    .filter(of)
                    .flat_map(|a| (0..u).filter(of).map(move |b| (a, b)))
                    .map(|(a, b)| w[a] * w[b] * s[(a, b)])
                    .sum();
                let degree: f64 = (0..u).filter(of).map(|a| w[a] * degree(a)).sum();
                cut -= if degree > 0.0 { within / degree } else { 0.0 };
            }
            let objective = found.convergence.objective.unwrap();
            prop_assert!((objective - cut).abs() < 1e-9, "{objective} {cut}");
            for pair in found.convergence.trace.windows(2) {
                prop_assert!(pair[1] <= pair[0] + 1e-12, "{:?}", found.convergence.trace);
            }
        }
    }

    /// Two groups, whose rows differ by no more than rounding: a third cluster has nobody to take.
    #[test]
    fn rows_that_only_rounding_tells_apart_settle() {
        let share = |i: usize| (i % 2) as f64 + [1.0, -1.0][i % 2] * 1e-9 * i as f64;
        let member = |name: &str| {
            let columns =
                Matrix::from_fn(8, 2, |i, j| if j == 0 { 1.0 - share(i) } else { share(i) });
            SoftMember::new(name, columns, vec!["a".to_owned(), "b".to_owned()]).unwrap().into()
        };
        let ensemble = Ensemble::new(vec![member("m"), member("n")]).unwrap();
        let profiles = profiles(&ensemble);
        let method = Sec::new(3);
        let found = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(found.convergence.stop, Stop::Converged);
        let labels = found.object_labels(&profiles);
        assert!((0..8).all(|i| (labels[i] == labels[0]) == (i % 2 == 0)), "{labels:?}");
    }

    #[test]
    fn noughts_are_refused() {
        let build = |name: &str| {
            let settings = Settings::from_iter([(name, "0")]);
            method("sec").unwrap().with(Some(2), &settings).map(|_| ())
        };
        assert!(build("restarts").is_err());
        assert!(build("max_iter").is_err());
        assert!(Sec::new(0).check().is_err());
    }
}
