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
//! columns, one a cluster of a member, minus their means. The sum of squares within the consensus
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
//! * *Starts on a sample.* Of more than 10,000 profiles k-means is started on a systematic sample of as
//!   many by weight, and the best start goes on with all.
//! * *Missing labels.* The paper has none. A missing label is the mean of its columns, hence 0.
//! * *Soft members* give their memberships as columns.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ iterations a restart, a distance being $r$ look-ups; memory
//! $O(u \log k + K k)$.

use crate::base::{Effort, RowKMeans, Rows};
use crate::consensus::method::{
    ChoosesK, ConsensusMethod, MethodInfo, OnSoft, ParameterInfo, Shape,
};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Value};
use crate::ensemble::Profiles;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::setters::setters;

/// What there is to know about QMI.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "qmi",
    title: "quadratic mutual information: k-means on the labels as binary columns",
    reference: "A. Topchy, A. K. Jain, W. Punch. Combining Multiple Weak Clusterings. ICDM 2003.",
    chooses_k: ChoosesK::Never,
    soft: OnSoft::Uses,
    missing: Some("a missing label counts as the mean of its columns"),
    takes_start: true,
    parameters: &[
        ParameterInfo {
            name: "restarts",
            range: ">= 1",
            default: "10",
            help: "starts, by turns at random objects and at objects far apart; the one of least squares \
                   within clusters wins",
        },
        ParameterInfo {
            name: "max_iter",
            range: ">= 1",
            default: "300",
            help: "largest number of iterations a restart",
        },
    ],
    time: "O(t u r k) a restart",
    memory: "O(u log k + K k)",
    build: |k, settings| {
        let mut params = QmiParams::new(k.ok_or(Error::NeedsK { method: "qmi" })?);
        if let Some(restarts) = settings.integer("restarts")? {
            params = params.restarts(restarts);
        }
        if let Some(max_iter) = settings.integer("max_iter")? {
            params = params.max_iter(max_iter);
        }
        Ok(Box::new(params.check()?))
    },
};

/// Parameters of [QMI](self), not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct QmiParams {
    k: usize,
    restarts: usize,
    max_iter: usize,
}

impl QmiParams {
    /// `k` clusters, the best of ten starts.
    pub fn new(k: usize) -> Self {
        QmiParams { k, restarts: 10, max_iter: 300 }
    }

    setters! {
        /// The number of starts, at least 1; the least sum of squares wins.
        restarts: usize,

        /// The largest number of iterations a restart, at least 1.
        max_iter: usize,
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<Qmi> {
        Error::unless_at_least_one([
            ("k", self.k),
            ("restarts", self.restarts),
            ("max_iter", self.max_iter),
        ])?;
        Ok(Qmi(self))
    }
}

/// QMI with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Qmi(QmiParams);

impl ConsensusMethod for Qmi {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn k(&self) -> Option<usize> {
        Some(self.0.k)
    }

    fn cost(&self, shape: &Shape) -> u64 {
        RowKMeans::cost(Rows::Labels, shape.u, shape.total_clusters, self.0.k)
    }

    fn fit(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let rows = RowKMeans::new(profiles, Rows::Labels, self.0.k);
        let effort = Effort { restarts: self.0.restarts, max_iter: self.0.max_iter };
        let (fit, ends) = rows.fit(start, effort, run)?;
        let utility = (rows.total_square() - fit.inertia()) / profiles.total_weight();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("category_utility", Value::Number(utility));
        diagnostics.push("restart_sums_of_squares", Value::List(ends));
        Ok(Consensus {
            convergence: Convergence {
                objective: Some(fit.inertia()),
                iterations: fit.trace.len(),
                trace: fit.trace,
                stop: fit.stop,
            },
            diagnostics,
            ..Consensus::from_labels(fit.labels, self.0.k)
        })
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
        QmiParams::new(k).check().unwrap().fit(profiles, start, &Run::new(1)).unwrap()
    }

    #[test]
    fn refuses_zero() {
        assert!(QmiParams::new(0).check().is_err());
        assert!(QmiParams::new(2).restarts(0).check().is_err());
        assert!(QmiParams::new(2).max_iter(0).check().is_err());
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
