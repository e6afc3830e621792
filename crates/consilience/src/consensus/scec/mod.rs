//! SCEC: soft correspondence ensemble clustering.
//!
//! B. Long, Z. Zhang, P. S. Yu. *Combining Multiple Clusterings by Soft Correspondence.*
//! ICDM 2005. Equation numbers are the paper's.
//!
//! Finds a consensus $M$ ($n \times k$) and correspondences $S^{(h)}$ ($k_h \times k$), all
//! non-negative, that minimise
//!
//! $$ f = \sum_{h=1}^r \lVert M - M^{(h)} S^{(h)} \rVert^2
//!      - \alpha \lVert S^{(h)} - \tfrac{1}{k_h} \mathbf{1} S^{(h)} \rVert^2
//!      + \beta \lVert S^{(h)} \mathbf{1} - \mathbf{1} \rVert^2 \tag{3} $$
//!
//! by alternating rule (10) for every $S^{(h)}$ with rule (6) for $M$ (Algorithm 1). A row of
//! $S^{(h)}$, brought to sum 1, says which share of a cluster of member $h$ goes to each cluster of
//! the consensus.
//!
//! # What alpha and beta do
//!
//! $\alpha$ sets the resolution: larger keeps more of the $k$ clusters alive, and with $\alpha = 0$ all
//! melt into one. Its natural scale is the size of a cluster, $n / k$, the default. $\beta$ only
//! holds the rows of $S^{(h)}$ near sum 1. Results are flat for $\alpha$ in $[0.5, 2]\, n / k$ and
//! $\beta$ in $[1.2, 5]\, \alpha / k$. The paper gives values for neither.
//!
//! # Where we depart from the paper
//!
//! * *Range.* $0 \le \alpha < \beta k$ is required. Otherwise $f$ is unbounded below, and $D$ of (9) can
//!   be negative, which the proof of Theorem 5.1 tacitly excludes. With it, $D > 0$ and $f$ never
//!   rises; the paper's $\epsilon$ in the denominator is then not needed.
//! * *Start.* The paper starts $M$ at a member, which has $k$ columns only if $k_h = k$. We draw among
//!   those, no member twice; when there are no more, we start at $M^{(h)} R$ for a random $h$ and a
//!   random row-stochastic $R$. $S^{(h)}$ starts uniform by default, the paper draws it. Of several
//!   starts the lowest $f$ wins.
//! * *Missing labels* are uniform rows of $M^{(h)}$, as in the paper, or left out of both sums on
//!   demand ([`OnMissing::Ignore`]): rule (6) is then the mean over the members that label the object.
//! * *Weights* of objects multiply their terms of the first norm; $n$ is the total weight.
//!
//! # Cost
//!
//! Let $K = \sum_h k_h$. Group sums take the place of products with zeros and ones, and where it
//! pays, as it does for all large data, a whole iteration runs on the $K \times K$ matrix of overlaps
//! between clusters, built once in $O(u r^2)$: then time is $O(K^2 k)$ an iteration, whatever $u$, else
//! $O(u r k)$. Memory is $O(u k + K k)$, and $K^2 \le 2 u r$ numbers for the overlaps.
//!
//! # Patents
//!
//! SCEC is reported to be covered by the US patents 8,195,734 and 8,499,022. Their status was not
//! verified, and this note is not legal advice.

mod problem;
mod update;

use crate::consensus::driver::{Effort, STATES_HELD, Solver, Step, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, at_least, params, words};
use crate::ensemble::{MISSING, Profiles};
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::math;
use crate::rng::{Rng, Stream};
use crate::run::Run;
use problem::{Last, Problem, overlaps_pay};
use update::Scratch;

/// What there is to know about SCEC.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "scec",
    title: "soft correspondence: a soft consensus and each member's correspondence with it",
    reference: "B. Long, Z. Zhang, P. S. Yu. Combining Multiple Clusterings by Soft \
                Correspondence. ICDM 2005.",
    soft: OnSoft::Uses,
    missing: Some("uniform over the member's clusters (as in the paper), or ignored"),
    takes_start: true,
    offers: Offers { correspondences: true, ..Offers::MEMBERSHIP },
    time: "O(u r^2 + t K^2 k) or O(t u r k), whichever is less",
    memory: "O(u k + K k), and at most 2 u r numbers more",
    ..Scec::DECLARED
};

params! {
    /// [SCEC](self): soft correspondence: a soft consensus and each member's correspondence with
    /// it.
    pub struct Scec(k): INFO {
        /// Resolution: larger keeps more of the k clusters apart.
        alpha: Option<f64> = "n / k", at_least(0.0);
        /// How strictly the rows of the correspondences are held to sum 1.
        beta: Option<f64> = "2 n / k^2, or 2 alpha / k where that is more", above(0.0);
        /// A missing label is spread over the member's clusters, or its member is left out.
        missing: OnMissing = OnMissing::Uniform;
        /// Starts, of which the one with the lowest objective wins.
        restarts: usize = 5, at_least(1.0);
        /// How the correspondences start.
        init: ScecStart = ScecStart::Uniform;
        /// Iterations of the consensus at most.
        max_iter: usize = 200, at_least(1.0);
        /// Stop when no entry of the consensus changes by this much.
        tol: f64 = 1e-4, at_least(0.0);
        /// Updates of a correspondence in an iteration at most.
        inner_max_iter: usize = 10, at_least(1.0);
        /// Stop updating a correspondence when no entry changes by this much.
        inner_tol: f64 = 1e-5, at_least(0.0);
    } where |own| match (own.alpha, own.beta) {
        (Some(alpha), Some(beta)) => check_rule(alpha, beta, own.k),
        _ => Ok(()),
    }
}

words! {
    /// What SCEC takes a missing label for.
    pub enum OnMissing {
        /// Membership in all clusters of the member alike, as in the paper.
        Uniform = "uniform",
        /// Nothing: the member has no say on the object.
        Ignore = "ignore",
    }
}

words! {
    /// How SCEC's correspondences start.
    pub enum ScecStart {
        /// All entries alike.
        Uniform = "uniform",
        /// Drawn, as in the paper.
        Random = "random",
    }
}

/// The rule that keeps the objective bounded and falling.
const RULE: &str = "above alpha / k (the rule is 0 <= alpha < beta k)";

fn check_rule(alpha: f64, beta: f64, k: usize) -> Result<()> {
    if alpha < beta * k as f64 {
        return Ok(());
    }
    Err(Error::parameter("beta", RULE, format!("beta = {beta} with alpha = {alpha}, k = {k}")))
}

/// Objectives closer than this, times $n r$, are called equal and the first start wins: stopping
/// short of the limit leaves them about this uncertain, and the first starts are members.
const SAME_OBJECTIVE: f64 = 1e-5;

impl Scec {
    /// $\alpha$ and $\beta$ for objects of total weight `n`.
    fn weights_for(&self, n: f64) -> Result<(f64, f64)> {
        let k = self.k as f64;
        let alpha = self.alpha.unwrap_or(n / k);
        // A larger alpha takes beta with it; a small beta does not take alpha down, because alpha is
        // the resolution and should be changed by nobody but the user.
        let beta = self.beta.unwrap_or(2.0 * alpha.max(n / k) / k);
        check_rule(alpha, beta, self.k)?;
        Ok((alpha, beta))
    }
}

/// One start on its way.
struct State {
    /// All $S^{(h)}$, one below the other.
    s: Matrix,
    /// The targets $G$.
    g: Matrix,
    last: Last,
    scratch: Scratch,
}

/// The descent on certain profiles.
struct Descent<'a> {
    scec: &'a Scec,
    problem: Problem<'a>,
    start: Option<&'a [u32]>,
    /// The members with $k$ clusters, in random order.
    with_k: Vec<usize>,
}

impl<'a> Descent<'a> {
    fn new(scec: &'a Scec, problem: Problem<'a>, start: Option<&'a [u32]>, run: &Run) -> Self {
        let members = problem.profiles().members().iter().enumerate();
        let mut with_k: Vec<usize> =
            members.filter(|(_, member)| member.n_clusters() == scec.k).map(|(h, _)| h).collect();
        run.rng(Stream::Order).shuffle(&mut with_k);
        Descent { scec, problem, start, with_k }
    }

    /// The targets $G$ that $M^0$ gives.
    fn targets(&self, restart: usize, run: &Run) -> Matrix {
        let (k, members) = (self.scec.k, self.problem.profiles().members());
        if let Some(labels) = self.start {
            return self.problem.targets(&start_from_labels(labels, k));
        }
        if let Some(&h) = self.with_k.get(restart) {
            let identity = Matrix::from_fn(k, k, |i, j| f64::from(u8::from(i == j)));
            return self.problem.targets_of_member(h, &identity);
        }
        let mut rng = run.rng(Stream::Restart(restart as u64));
        let h = rng.below(members.len());
        let r = stochastic(members[h].n_clusters(), k, &mut rng);
        self.problem.targets_of_member(h, &r)
    }
}

impl Solver for Descent<'_> {
    type State = State;
    const STAGE: &'static str = "soft correspondences";

    fn start(&self, restart: usize, run: &Run) -> Result<State> {
        let (rows, k) = (self.problem.profiles().n_clusters(), self.scec.k);
        let s = match self.scec.init {
            ScecStart::Uniform => Matrix::from_fn(rows, k, |_, _| 1.0 / k as f64),
            ScecStart::Random => stochastic(rows, k, &mut run.rng(Stream::Inner(restart as u64))),
        };
        let g = self.targets(restart, run);
        Ok(State { s, g, last: Last::default(), scratch: Scratch::default() })
    }

    /// One iteration of Algorithm 1.
    fn step(&self, State { s, g, last, scratch }: &mut State, _: &Run) -> Result<Step> {
        let (p, problem) = (self.scec, &self.problem);
        let previous = s.clone();
        for h in 0..problem.profiles().n_members() {
            problem.improve(h, s, g, (p.inner_max_iter, p.inner_tol), scratch);
        }
        let settled;
        (*g, settled) = problem.advance(&previous, s, last, p.tol);
        let change = if settled { 0.0 } else { f64::INFINITY };
        Ok(Step { objective: problem.objective(s, g), change, moved: 1.0 })
    }

    fn margin(&self, _: f64) -> f64 {
        let profiles = self.problem.profiles();
        SAME_OBJECTIVE * profiles.total_weight() * profiles.n_members() as f64
    }

    fn finish(&self, state: State, _: &Run) -> Result<Consensus> {
        let (profiles, k) = (self.problem.profiles(), self.scec.k);
        let mut membership = self.problem.consensus(&state.s);
        normalise_rows(&mut membership);
        let labels: Vec<u32> =
            membership.iter_rows().map(|row| first_of_largest(row) as u32).collect();
        let correspondences = profiles.members().iter().map(|member| {
            let mut s = state.s.select_rows(&member.clusters.clone().collect::<Vec<_>>());
            normalise_rows(&mut s);
            s
        });
        let mut wins = vec![false; k];
        labels.iter().for_each(|&label| wins[label as usize] = true);
        let effective = wins.iter().filter(|&&won| won).count();
        let soft = soft_count(&membership, profiles.weights());
        let mut consensus = Consensus::from_labels(labels, k);
        consensus.correspondences = Some(correspondences.collect());
        consensus.membership = Some(membership);
        consensus.diagnostics.push("effective_clusters", Value::Integer(effective as i64));
        consensus.diagnostics.push("soft_effective_clusters", Value::Number(soft));
        Ok(consensus)
    }
}

impl ConsensusMethod for Scec {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, k, all) = (shape.u as u64, self.k as u64, shape.total_clusters as u64);
        let starts = STATES_HELD.min(self.restarts as u64);
        let (per_start, overlaps) = if overlaps_pay(shape) {
            // Partial sums of up to sixteen chunks of profiles stand beside the overlaps.
            (4 * all * k, 17 * all * all)
        } else {
            (4 * all * k + 2 * u * k, 0)
        };
        8 * (2 * u * k + 2 * u + starts * per_start + overlaps)
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let (alpha, beta) = self.weights_for(profiles.total_weight())?;
        let with_overlaps = overlaps_pay(&Shape::of(profiles));
        let problem = Problem::new(profiles, self.k, (alpha, beta), self.missing, with_overlaps);
        // The same start again is of no use unless the correspondences start elsewhere.
        let once = start.is_some() && self.init == ScecStart::Uniform;
        let restarts = if once { 1 } else { self.restarts };
        let effort = Effort { tol: self.tol, ..Effort::new(restarts, self.max_iter) };
        let mut consensus = solve(&Descent::new(self, problem, start, run), None, effort, run)?;
        if !consensus.convergence.objective.is_some_and(f64::is_finite) {
            return Err(Error::Numerical {
                what: "scec",
                problem: "the objective overflows: choose smaller alpha and beta".to_owned(),
            });
        }
        consensus.diagnostics.push("alpha", Value::Number(alpha));
        consensus.diagnostics.push("beta", Value::Number(beta));
        Ok(consensus)
    }
}

/// $M$ as given by labels; uniform where there is none.
fn start_from_labels(labels: &[u32], k: usize) -> Matrix {
    Matrix::from_fn(labels.len(), k, |x, j| match labels[x] {
        MISSING => 1.0 / k as f64,
        label => f64::from(u8::from(label as usize == j)),
    })
}

/// A random matrix with positive entries and rows of sum 1. An entry 0 would stay 0 for ever.
fn stochastic(rows: usize, columns: usize, rng: &mut Rng) -> Matrix {
    let drawn = (0..rows * columns).map(|_| rng.unit() + 1e-3).collect();
    let mut matrix = Matrix::from_vec(rows, columns, drawn);
    normalise_rows(&mut matrix);
    matrix
}

fn normalise_rows(matrix: &mut Matrix) {
    let uniform = 1.0 / matrix.ncols() as f64;
    for i in 0..matrix.nrows() {
        let row = matrix.row_mut(i);
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|x| *x = if sum > 0.0 { *x / sum } else { uniform });
    }
}

/// The first index whose value is largest up to rounding: true ties must not be broken by it.
fn first_of_largest(row: &[f64]) -> usize {
    let largest = row.iter().copied().fold(0.0, f64::max);
    row.iter().position(|&x| x >= largest - 1e-12).expect("the largest is one of them")
}

/// The exponential of the entropy of the clusters' shares: how many clusters of one size would be
/// as diverse.
fn soft_count(membership: &Matrix, weights: &[f64]) -> f64 {
    let mut mass = vec![0.0; membership.ncols()];
    for (row, w) in membership.iter_rows().zip(weights) {
        mass.iter_mut().zip(row).for_each(|(mass, m)| *mass += w * m);
    }
    let total: f64 = mass.iter().sum();
    let shares = mass.iter().map(|m| m / total).filter(|&p| p > 0.0);
    math::exp(shares.map(|p| -p * math::ln(p)).sum())
}

#[cfg(test)]
mod tests;
