//! RCE: robust clustering ensemble.
//!
//! P. Zhou, L. Du, H. Wang, L. Shi, Y.-D. Shen. *Learning a Robust Consensus Matrix for Clustering
//! Ensemble via Kullback-Leibler Divergence Minimization.* IJCAI 2015. Equation numbers are the
//! paper's.
//!
//! Every member is taken as a *noisy* statement about which objects belong together: its connective
//! matrix $A^{(i)}$ less a symmetric, sparse error $E^{(i)}$ should be near a consensus matrix
//! $\tilde A$ of low rank. With KL the divergence of Bernoulli variables,
//!
//! $$ J = \sum_i \sum_{pq} \mathrm{KL}(\tilde A_{pq} \Vert A^{(i)}_{pq} - E^{(i)}_{pq})
//!      + \lambda_1 \sum_i \lVert E^{(i)} \rVert_1
//!      + 2 \lambda_2 \operatorname{tr} (\tilde A \tilde A^T + \mu I)^{1/2} \tag{3, 4} $$
//!
//! is descended by turns (Algorithm 1): the errors in closed form (Theorem 3), $S^{-1} = (\tilde A
//! \tilde A^T + \mu I)^{-1/2}$ by an eigendecomposition (6), and $\tilde A$ by the multiplicative
//! rule (11). In the end $(\tilde A + \tilde A^T)/2$ is clustered [spectrally](crate::base).
//!
//! The errors tell which members are noisy, and are reported.
//!
//! # On profiles
//!
//! $\tilde A$ stays constant on profiles, so matrices are $u \times u$. No error matrix is kept: with
//! hard members the errors of a pair take two values, which depend on $\tilde A$ and the votes alone;
//! with soft members they are made as they are needed.
//!
//! # Where we depart from the paper
//!
//! * *Unanimous pairs.* Where all members say 0 or all say 1, $\tilde A$ starts there and both updates
//!   keep it there, but the printed formulas divide by zero. Such entries are frozen; this is the
//!   limit of Algorithm 1.
//! * *Clipping.* (11) cuts $\tilde A$ off at 1, where the next step is undefined; we keep contested
//!   entries in $[10^{-12}, 1 - 10^{-12}]$.
//! * *The factor.* Lemma 1 has a factor ½ that (4) drops. We keep Algorithm 1, so $\lambda_2$ is half
//!   the weight of the nuclear norm, and report the $J$ that descends.
//! * *Missing labels* (left open by the paper). A pair is judged by the members that label both; one
//!   that none observes starts at the mean of the others and moves with the low-rank term only.
//! * *Soft members.* $A^{(i)} = M^{(i)} M^{(i)T}$, the diagonal included.
//! * *Parameters.* The paper tunes $\lambda_1, \lambda_2$ against the true classes and has no
//!   defaults; ours are 1 and $10\, r n / k$. `lambda1=grid` tries $10^{-2}, 10^{-1}, 1, 10, 10^2$ and
//!   keeps the clustering that shares most information with the members (the average normalised
//!   mutual information of Strehl and Ghosh), which needs no classes.
//!
//! # What to expect
//!
//! $\lambda_1$ sharpens votes: towards 0 the consensus becomes the majority's. The errors are not
//! sparse for hard members: a contested pair always has some, for the divergence from an exact 0 or 1
//! is infinite. $\lambda_2$ matters from about $r n / k$ on, and slows the descent: at the default
//! $\tilde A$ settles near the shares of votes, and the errors are measured against those. With a small
//! $\lambda_2$ the descent runs to its end, votes are sharpened to nearly 0 and 1, and on data of the
//! paper the clustering becomes worse than that of the plain co-association, whatever $\lambda_1$
//! (JAFFE, ten ensembles of 20 members: accuracy 0.82 at $\lambda_2 = 1$, 0.86 by default and for the
//! co-association). The paper's own figures, tuned on the classes, are higher.
//!
//! # Cost
//!
//! Time $O(u^3)$ an iteration for hard members, one eigendecomposition and two matrix products and
//! little else, and $O(u^2 K)$ more for soft ones; memory five to six $u \times u$ matrices. One
//! decomposition cannot be interrupted; cancelling is noticed between the steps of an iteration.

mod clean;
mod kernel;
mod learn;
mod pairs;

use crate::base::SpectralParams;
use crate::consensus::driver::{Effort, Solver, Step, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{Parameter, Range, above, at_least, params};
use crate::consensus::rce::learn::{Learner, Penalties};
use crate::consensus::rce::pairs::{MAX_MEMBERS, Pairs};
use crate::ensemble::Profiles;
use crate::error::{Error, Result};
use crate::metrics::anmi;
use crate::run::Run;

/// What there is to know about the robust clustering ensemble.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "rce",
    title: "robust clustering ensemble: a low-rank consensus matrix cleaned of each member's errors",
    reference: "P. Zhou, L. Du, H. Wang, L. Shi, Y.-D. Shen. Learning a Robust Consensus Matrix for \
                Clustering Ensemble via Kullback-Leibler Divergence Minimization. IJCAI 2015.",
    soft: OnSoft::Uses,
    missing: Some("a pair is judged by the members that label both"),
    offers: Offers { affinity: true, ..Offers::LABELS },
    time: "O(t u^3 + u^2 r), soft members O(t u^2 K) more",
    memory: "O(u^2): six matrices of u x u",
    ..Rce::DECLARED
};

params! {
    /// [RCE](self): robust clustering ensemble: a low-rank consensus matrix cleaned of each
    /// member's errors.
    pub struct Rce(k): INFO {
        /// Weight of the members' errors; towards 0 the majority decides. `grid` tries 0.01 to 100
        /// and keeps the labels that share most information with the members.
        lambda1: Lambda1 = Lambda1::Value(1.0), above(0.0);
        /// Weight of the low-rank term; small values sharpen the votes to nearly 0 and 1.
        lambda2: Option<f64> = "10 r n / k", at_least(0.0);
        /// Smoothing of the low-rank term.
        mu: f64 = 0.001, above(0.0);
        /// Largest number of iterations.
        max_iter: usize = 200, at_least(1.0);
        /// Stop when no entry of the consensus matrix changes by as much.
        tol: f64 = 1e-3, at_least(0.0);
        /// Starts of k-means in the final spectral clustering; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

/// The values of $\lambda_1$ that are tried when it is to be tuned.
const GRID: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// The default $\lambda_2$ in units of $r n / k$. An entry of $S^{-1} \tilde A$ is about one over the size
/// of a cluster, so against $r$ members the low-rank term begins to count at one such unit; ten leave
/// no doubt that it does.
const RANK_SCALE: f64 = 10.0;

/// The weight $\lambda_1$ of the members' errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lambda1 {
    /// This one.
    Value(f64),
    /// Whichever of 0.01 to 100, by powers of ten, gives the clustering that shares most information
    /// with the members.
    Grid,
}

impl Parameter for Lambda1 {
    fn parse(text: &str) -> Option<Self> {
        if text == "grid" { Some(Lambda1::Grid) } else { f64::parse(text).map(Lambda1::Value) }
    }

    fn spell(&self) -> String {
        self.number().map_or_else(|| "grid".to_owned(), |value| value.spell())
    }

    fn values(range: &Range) -> String {
        format!("{range}, or grid")
    }

    fn number(&self) -> Option<f64> {
        match self {
            Lambda1::Value(value) => Some(*value),
            Lambda1::Grid => None,
        }
    }
}

impl Rce {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }
}

impl ConsensusMethod for Rce {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, n_clusters) = (shape.u as u64, shape.total_clusters as u64);
        // Six matrices, votes in 16 bits, and memberships should members be soft. Trying several
        // lambda1 keeps the best consensus matrix meanwhile.
        let kept = u64::from(self.lambda1 == Lambda1::Grid);
        (6 + kept) * 8 * u * u + 4 * u * u + 8 * u * n_clusters
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        if profiles.n_members() > MAX_MEMBERS {
            return Err(Error::Unsupported {
                method: INFO.name,
                what: format!("{} members", profiles.n_members()),
                hint: format!("it counts votes of at most {MAX_MEMBERS}"),
            });
        }
        let pairs = Pairs::new(profiles);
        let Lambda1::Value(lambda1) = self.lambda1 else {
            return self.tune(&pairs, run);
        };
        let mut consensus = self.learn(&pairs, lambda1, run)?;
        consensus.diagnostics.push("lambda1", Value::Number(lambda1));
        Ok(consensus)
    }
}

impl Rce {
    /// Algorithm 1 and the final clustering.
    fn learn(&self, pairs: &Pairs<'_>, lambda1: f64, run: &Run) -> Result<Consensus> {
        let p = self;
        let profiles = pairs.profiles();
        let scale = profiles.n_members() as f64 * profiles.total_weight() / p.k as f64;
        let rank = p.lambda2.unwrap_or(RANK_SCALE * scale);
        let penalties = Penalties { errors: lambda1, rank, mu: p.mu };
        let effort = Effort { tol: p.tol, ..Effort::new(1, p.max_iter) };
        let mut consensus = solve(&Learning { rce: p, pairs, penalties }, None, effort, run)?;
        // An iteration finds out what the one before came to.
        let convergence = &mut consensus.convergence;
        convergence.trace.remove(0);
        convergence.trace.extend(convergence.objective);
        Ok(consensus)
    }

    /// The consensus with the $\lambda_1$ of [`GRID`] whose labels share most information with the
    /// members; the first of equals.
    fn tune(&self, pairs: &Pairs<'_>, run: &Run) -> Result<Consensus> {
        let mut best: Option<(f64, f64, Consensus)> = None;
        let mut shared = Vec::with_capacity(GRID.len());
        for lambda1 in GRID {
            let consensus = self.learn(pairs, lambda1, run)?;
            let information = anmi(pairs.profiles(), &consensus.labels);
            shared.push(information);
            if best.as_ref().is_none_or(|(most, ..)| information > *most) {
                best = Some((information, lambda1, consensus));
            }
        }
        let (_, lambda1, mut consensus) = best.expect("the grid is not empty");
        consensus.diagnostics.push("lambda1", Value::Number(lambda1));
        consensus.diagnostics.push(
            "grid",
            Value::Table(vec![("lambda1".to_owned(), GRID.to_vec()), ("anmi".to_owned(), shared)]),
        );
        Ok(consensus)
    }
}

/// Algorithm 1 with certain penalties.
struct Learning<'a> {
    rce: &'a Rce,
    pairs: &'a Pairs<'a>,
    penalties: Penalties,
}

impl<'a> Solver for Learning<'a> {
    type State = Learner<'a>;
    const STAGE: &'static str = "learning the consensus matrix";

    fn start(&self, _: usize, _: &Run) -> Result<Learner<'a>> {
        Ok(Learner::new(self.pairs, self.penalties))
    }

    fn step(&self, learner: &mut Learner<'a>, run: &Run) -> Result<Step> {
        let (objective, change) = learner.step(run)?;
        Ok(Step { objective, change, moved: 1.0 })
    }

    fn finish(&self, learner: Learner<'a>, run: &Run) -> Result<Consensus> {
        let objective = learner.objective(run)?;
        let (errors, observed) = learner.noise(run)?;
        run.tick("spectral clustering", 0, None)?;
        let affinity = learner.into_affinity();
        let weights = self.pairs.profiles().weights();
        let fit = self.rce.spectral().check()?.fit_affinity(affinity.clone(), weights, run)?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        consensus.affinity = Some(affinity);
        consensus.convergence.objective = Some(objective);
        let mean = errors.iter().zip(&observed).map(|(error, pairs)| error / pairs).collect();
        let diagnostics = &mut consensus.diagnostics;
        diagnostics.push("lambda2", Value::Number(self.penalties.rank));
        diagnostics.push("noise", Value::Members(errors));
        diagnostics.push("noise per pair", Value::Members(mean));
        diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests;
