//! QMI: quadratic mutual information, which is k-means on the labels.
//!
//! A. Topchy, A. K. Jain, W. Punch. *Combining Multiple Weak Clusterings.* ICDM 2003.
//!
//! With the generalised entropy of degree two, the information that a consensus $C$ has about a
//! member $\pi_q$ is twice the category utility
//!
//! $$ U(C, \pi_q) = \sum_c p(c) \sum_l p(l \mid c)^2 - \sum_l p(l)^2, $$
//!
//! and $\sum_q U(C, \pi_q)$ is to be as large as possible. Let every object be a row of $K$ binary
//! columns, one per cluster of a member, minus their means. The sum of squares within the consensus
//! clusters is then
//!
//! $$ n \sum_q \Bigl( 1 - \sum_l p_q(l)^2 \Bigr) - n \sum_q U(C, \pi_q), $$
//!
//! so k-means on these rows maximises the utility.
//!
//! # Where we depart from the paper
//!
//! * *Restarts.* The authors keep the best of three by the sum of squares; the default here is ten.
//!   It matters: `docs/paper-figures.md` has both on Iris. Every second one is at profiles far apart
//!   (greedy k-means++), the others at profiles drawn by weight.
//! * *Missing labels.* The paper has none. A missing label is the mean of its columns, hence 0.
//! * *Soft members* give their memberships as columns.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ iterations per restart, a distance being $r$ look-ups; memory
//! $O(u \log k + K k)$.

use crate::consensus::driver::{Effort, SAMPLE};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params};
use crate::consensus::row_kmeans::{RowKMeans, Rows};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::run::Run;

/// What there is to know about QMI.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "qmi",
    title: "quadratic mutual information: k-means on the labels as binary columns",
    reference: "A. Topchy, A. K. Jain, W. Punch. Combining Multiple Weak Clusterings. ICDM 2003.",
    soft: OnSoft::Uses,
    missing: Some("a missing label counts as the mean of its columns"),
    takes_start: true,
    time: "O(t u r k) per restart",
    memory: "O(u log k + K k)",
    ..Qmi::DECLARED
};

params! {
    /// [QMI](self): quadratic mutual information: k-means on the labels as binary columns.
    pub struct Qmi(k): INFO {
        /// Starts, by turns at random objects and at objects far apart; the one of least squares
        /// within clusters wins.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of iterations of a start.
        max_iter: usize = 300, at_least(1.0);
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
    }
}

impl ConsensusMethod for Qmi {
    fn cost(&self, shape: &Shape) -> u64 {
        RowKMeans::cost(Rows::Labels, shape.u, shape.total_clusters, self.k)
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let rows = RowKMeans::new(profiles, Rows::Labels, self.k, start);
        let effort = Effort::new(self.restarts, self.max_iter);
        let mut consensus = rows.fit(self.sample, effort, run)?;
        let within = consensus.convergence.objective.expect("k-means has one");
        let utility = (rows.total_square() - within) / profiles.total_weight();
        consensus.diagnostics.push("category_utility", Value::Number(utility));
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::Contingency;
    use crate::testing::{Kinds, ensembles, profiles};

    /// $\sum_q U(C, \pi_q)$ straight from its definition.
    fn utility(profiles: &Profiles, labels: &[u32]) -> f64 {
        let of_member = |q: usize| {
            let table = Contingency::of_consensus(profiles, labels, q);
            let n = table.total();
            let within: f64 = table
                .cells()
                .iter()
                .map(|cell| cell.weight.powi(2) / (n * table.row_weights()[cell.row as usize]))
                .sum();
            within - table.column_weights().iter().map(|w| (w / n).powi(2)).sum::<f64>()
        };
        (0..profiles.n_members()).map(of_member).sum()
    }

    fn fit(profiles: &Profiles, k: usize, start: Option<&[u32]>) -> Consensus {
        Qmi::new(k).solve(profiles, start, &Run::new(1)).unwrap()
    }

    #[test]
    fn refuses_zero() {
        assert!(Qmi::new(0).check().is_err());
        assert!(Qmi::new(2).restarts(0).check().is_err());
        assert!(Qmi::new(2).max_iter(0).check().is_err());
    }

    proptest! {
        /// The identity that makes a k-means of the method.
        #[test]
        fn the_sum_of_squares_is_the_utility(
            ensemble in ensembles(Kinds { weights: true, ..Kinds::PLAIN }, 15, 5), k in 1usize..4,
        ) {
            let profiles = profiles(&ensemble);
            let k = k.min(profiles.len());
            let consensus = fit(&profiles, k, None);
            let told = match consensus.diagnostics.get("category_utility") {
                Some(Value::Number(told)) => *told,
                other => panic!("{other:?}"),
            };
            prop_assert!((told - utility(&profiles, &consensus.labels)).abs() < 1e-10);
        }

        #[test]
        fn a_start_is_improved_upon(
            ensemble in ensembles(Kinds { weights: true, ..Kinds::PLAIN }, 15, 5), seed in 0u32..100,
        ) {
            let profiles = profiles(&ensemble);
            let k = 2.min(profiles.len());
            let start: Vec<u32> =
                (0..profiles.len() as u32).map(|s| (s * 7 + seed) / 3 % k as u32).collect();
            let consensus = fit(&profiles, k, Some(&start));
            prop_assert!(utility(&profiles, &consensus.labels) > utility(&profiles, &start) - 1e-10);
        }
    }
}
