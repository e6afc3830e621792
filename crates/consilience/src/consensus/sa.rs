//! SA: spectral aggregation.
//!
//! X. Wang, C. Yang, J. Zhou. *Spectral Aggregation for Clustering Ensemble.* ICPR 2008. Equation
//! numbers are the paper's.
//!
//! The co-association matrix is the mean of the members' 0-1 affinity matrices,
//!
//! $$ \Psi = \frac 1 r \sum_{h=1}^r A^{(h)}, \qquad A^{(h)}_{ij} = 1 \text{ iff } i \text{ and } j
//! \text{ are in one cluster of member } h. \tag{1, 2} $$
//!
//! As many clusters are sought as there are dominating eigenvalues of $\Psi$ (3),
//! and the objects are clustered [spectrally](crate::base) with $\Psi$ as affinity.
//!
//! # Without the matrix
//!
//! $\Psi = B B^T$ for a scaled incidence matrix $B$, so its non-zero eigenvalues are those of the
//! $K \times K$ Gram matrix $B^T B$, and its normalised eigenvectors come from another such matrix.
//! Nothing of order $n$ or $u$ squared is built unless $u < K$.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels* (the paper has none). With $o_i$ members that label object $i$,
//!   $\Psi = D_o^{-1/2} H H^T D_o^{-1/2}$, which is (2) when nothing is missing and stays positive
//!   semidefinite with unit diagonal.
//! * *Soft members.* $A^{(h)} = M^{(h)} M^{(h)T}$. The paper's observations, that eigenvalues are
//!   cluster sizes, then hold no more, and the trace falls below $n$.
//! * *Equality in (3)* is decided with a margin of 1e-9 for rounding: five equal clusters are five.
//! * *Diagonal.* Ng, Jordan and Weiss zero the diagonal of the affinity, the paper's $\Psi$ has ones
//!   there; it is kept unless `zero_diagonal` is set.
//!
//! # A warning
//!
//! The number of clusters found summarises the ensemble. Members with many clusters make it large:
//! on Iris ten k-means members with 2 to 5 clusters give 3.2 on average, with 2 to 8 clusters 4.4.
//!
//! # Cost
//!
//! Time $O(u r^2 + K^3 + u r k)$ and k-means on $u \times k$ rows; memory $O(K^2 + u k)$.

use crate::base::{SpectralParams, cost_of_order, spectral_cost, spectrum};
use crate::consensus::dominating::{cumulative_shares, dominating};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, at_least, params};
use crate::ensemble::{Factor, Profiles};
use crate::error::Result;
use crate::run::Run;

/// What there is to know about spectral aggregation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "sa",
    title: "spectral aggregation: spectral clustering of the co-association matrix, with k from its eigenvalues",
    reference: "X. Wang, C. Yang, J. Zhou. Spectral Aggregation for Clustering Ensemble. ICPR 2008.",
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none; affinities are scaled as cosines"),
    time: "O(u r^2 + K^3 + u r k), and k-means on u rows of k numbers",
    memory: "O(K^2 + u k)",
    ..Sa::DECLARED
};

params! {
    /// [Spectral aggregation](self): spectral aggregation: spectral clustering of the co-
    /// association matrix, with k from its eigenvalues.
    pub struct Sa(k?): INFO {
        /// K is the number of largest eigenvalues that together exceed this share of all.
        epsilon: f64 = 0.8, above(0.0).below(1.0);
        /// Starts of k-means on the embedding; the best is kept.
        restarts: usize = 10, at_least(1.0);
        /// Leave out an object's affinity with itself, as Ng, Jordan and Weiss do.
        zero_diagonal: bool = false;
    }
}

impl Sa {
    fn spectral(&self, k: usize) -> SpectralParams {
        SpectralParams::new(k).restarts(self.restarts).zero_diagonal(self.zero_diagonal)
    }
}

impl ConsensusMethod for Sa {
    fn cost(&self, shape: &Shape) -> u64 {
        // Where the number of clusters is not known it is seldom above this.
        let k = self.k.unwrap_or(32);
        if self.zero_diagonal {
            return cost_of_order(shape.u, shape.u, k);
        }
        spectral_cost(shape.u, shape.total_clusters, k)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let factor = Factor::coassociation(profiles);
        run.tick("eigenvalues", 0, Some(3))?;
        let enough = |values: &[f64], trace: f64| {
            self.k.map_or(dominating(values, trace, self.epsilon).is_some(), |k| values.len() >= k)
        };
        let (values, trace) = spectrum(&factor, enough, run)?;
        // An epsilon so near to 1 that rounding hides the last eigenvalues takes them all.
        let found = dominating(&values, trace, self.epsilon).unwrap_or(values.len());
        let k = self.k.unwrap_or(found);

        run.tick("spectral clustering", 1, Some(3))?;
        let fit = self.spectral(k).check()?.fit_factor(&factor, run)?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        let diagnostics = &mut consensus.diagnostics;
        diagnostics.push("dominating eigenvalues", Value::Integer(found as i64));
        diagnostics.push("epsilon", Value::Number(self.epsilon));
        diagnostics.push("cumulative shares", Value::List(cumulative_shares(&values, trace)));
        diagnostics.push("eigenvalues", Value::List(values));
        diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        run.tick("spectral clustering", 3, Some(3))?;
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::ensemble::{Ensemble, HardMember};
    use crate::rng::{Rng, Stream};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    fn sa(profiles: &Profiles, k: Option<usize>) -> Consensus {
        let method = Sa { k, ..Sa::new() };
        combine(profiles, &method, None, &Run::new(0)).unwrap()
    }

    fn list(consensus: &Consensus, name: &str) -> Vec<f64> {
        match consensus.diagnostics.get(name) {
            Some(Value::List(values)) => values.clone(),
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Clustering 1 of the paper's Figure 1: "three eigenvalues are 2, 3 and 2".
    #[test]
    fn figure_1_has_its_cluster_sizes_as_eigenvalues() {
        let profiles = profiles(&hard_ensemble(&[[1, 1, 2, 2, 2, 3, 3]]));
        let consensus = sa(&profiles, None);
        let values = list(&consensus, "eigenvalues");
        let expected = [3.0, 2.0, 2.0];
        assert_eq!(values.len(), 3);
        assert!(values.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{values:?}");
        assert_eq!(consensus.k, 3);
    }

    proptest! {
        /// Observations 1 and 2: the eigenvalues of one clustering are the sizes of its clusters,
        /// and there are as many.
        #[test]
        fn eigenvalues_of_one_clustering_are_its_cluster_sizes(
            ensemble in ensembles(Kinds::PLAIN, 20, 1)
        ) {
            let profiles = profiles(&ensemble);
            let mut sizes = profiles.cluster_weights();
            sizes.sort_by(|x, y| y.total_cmp(x));
            let values = list(&sa(&profiles, None), "eigenvalues");
            prop_assert_eq!(values.len(), sizes.len());
            for (value, size) in values.iter().zip(&sizes) {
                prop_assert!((value - size).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn five_equal_clusters_are_five() {
        let labels: [i64; 15] = std::array::from_fn(|i| i as i64 % 5);
        let consensus = sa(&profiles(&hard_ensemble(&[labels; 4])), None);
        assert_eq!(consensus.k, 5);
        let shares = list(&consensus, "cumulative shares");
        assert!((shares[3] - 0.8).abs() < 1e-12 && (shares[4] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_given_k_is_kept_and_the_eigenvalues_still_say_theirs() {
        let labels: [i64; 12] = std::array::from_fn(|i| i as i64 % 4);
        let consensus = sa(&profiles(&hard_ensemble(&[labels; 3])), Some(2));
        assert_eq!(consensus.k, 2);
        assert_eq!(consensus.diagnostics.get("dominating eigenvalues"), Some(&Value::Integer(4)));
    }

    /// Ten noisy copies of three clusters of different sizes.
    fn noisy(n: usize, noise: f64) -> Ensemble {
        let mut rng = Rng::new(5, Stream::Data);
        let truth = |i: usize| [0, 0, 0, 1, 1, 2][i % 6];
        let mut label = |i| Some(if rng.unit() < noise { rng.below(3) as i64 } else { truth(i) });
        let member = |h| HardMember::from_integers(format!("{h}"), (0..n).map(&mut label)).into();
        Ensemble::new((0..10).map(member).collect()).unwrap()
    }

    #[test]
    fn noisy_copies_of_a_clustering_give_it_back() {
        let ensemble = noisy(600, 0.15);
        let profiles = profiles(&ensemble);
        let consensus = sa(&profiles, Some(3));
        let labels = consensus.object_labels(&profiles);
        let right = (0..600).filter(|&i| labels[i] == Some([0, 0, 0, 1, 1, 2][i % 6])).count();
        // A plain majority of ten such votes errs on about one object in a thousand.
        assert!(right >= 596, "{right} of 600");
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let profiles = profiles(&noisy(3000, 0.5));
        assert!(profiles.len() > 1500);
        let on = |threads| {
            let method = Sa::new();
            combine(&profiles, &method, None, &Run::new(3).threads(threads)).unwrap()
        };
        assert_eq!(on(1), on(2));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let build = |name: &str, value: &str| {
            method("sa").unwrap().with(None, &Settings::from_iter([(name, value)])).map(|_| ())
        };
        for bad in ["0", "1", "-0.5", "NaN", "text"] {
            assert!(build("epsilon", bad).is_err(), "{bad}");
        }
        assert!(build("restarts", "0").is_err());
        assert!(build("zero_diagonal", "perhaps").is_err());
        assert_eq!(build("epsilon", "0.9"), Ok(()));
        assert_eq!(build("zero_diagonal", "true"), Ok(()));
    }
}
