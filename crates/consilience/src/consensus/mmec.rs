//! MMEC: a mixture model over label tuples, fitted by expectation maximisation.
//!
//! A. Topchy, A. K. Jain, W. Punch. *A Mixture Model for Clustering Ensembles.* SDM 2004.
//!
//! The label tuple $y_i$ of an object is a draw from a mixture of $k$ products of multinomials,
//!
//! $$ p(y_i) = \sum_{m=1}^k \alpha_m \prod_{q \text{ labels } i} \theta_q[m, y_{iq}], $$
//!
//! and the consensus cluster of an object is its most probable component. One step computes the
//! responsibilities $R_{im} \propto \alpha_m \prod_q \theta_q[m, y_{iq}]$ and from them
//!
//! $$ \alpha_m = \frac{\sum_i w_i R_{im}}{\sum_i w_i}, \qquad
//!    \theta_q[m, l] = \frac{\sum_{i : y_{iq} = l} w_i R_{im}}{\sum_{i : q \text{ labels } i} w_i R_{im}}. $$
//!
//! The log-likelihood of the observed labels never falls.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels.* The paper fills them in by their expectation; leaving them out of the sums
//!   (`missing = observed`, the default) has the same fixed points and gets there in fewer steps.
//!   The paper's form is `missing = expected`.
//! * *Restarts.* The paper takes one run; the best of ten by likelihood is far better when there
//!   are many members. The last of several is not random but from k-means of the rows of labels: with
//!   many components random ones often leave two clusters together.
//! * *Starts on a sample*, as for all methods here, go on from tables mixed with a thousandth of the
//!   members' own shares, lest a label that the sample lacks be impossible.
//! * *Soft members* count fractionally: $\prod_q \prod_l \theta_q[m, l]^{p_{iql}}$.
//!
//! # Beside published figures
//!
//! B. Long, Z. Zhang, P. S. Yu (ICDM 2005) give NMI with the classes of Iris for 20 members and
//! $k = 3$. Means of 20 seeds here, by `scripts/paper_figures.py DATA --only rivals`:
//!
//! | members | published | best of ten | one start |
//! |---|---|---|---|
//! | k-means, three clusters | 0.726 | 0.748 | 0.723 |
//! | k-means, 2 to 6 clusters | 0.578 | 0.763 | 0.658 |
//! | k-means, 2 to 10 clusters | 0.578 | 0.778 | 0.477 |
//!
//! The published figures look like those of single starts, which vary a lot (standard deviations
//! here 0.08, 0.11 and 0.14). Which numbers of clusters the members of the second table had is not
//! certain: the text says 2 to 6, other columns of the table fit 2 to 10 better.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ steps per restart; memory $O(u (k + r) + K k)$.

use rayon::prelude::*;

use crate::consensus::driver::{Effort, SAMPLE, STATES_HELD, Solver, Step, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params, words};
use crate::consensus::row_kmeans::{MixtureStarts, RowKMeans, Rows};
use crate::ensemble::{Profiles, argmax};
use crate::error::Result;
use crate::linalg::lanes::{LANES, largest, total};
use crate::linalg::{Matrix, exp_branchless, ln_branchless, vectorised};
use crate::math;
use crate::rng::Stream;
use crate::run::Run;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// Below this share of all weight a component has no opinion on a member: its row of the table is
/// uniform.
const NO_MASS: f64 = 1e-12;

/// How much of the tables found on a sample is replaced by the shares of the members' clusters.
const BLUR: f64 = 1e-3;

/// What there is to know about MMEC.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "mmec",
    title: "mixture of multinomials over label tuples, by expectation maximisation",
    reference: "A. Topchy, A. K. Jain, W. Punch. A Mixture Model for Clustering Ensembles. SDM 2004.",
    soft: OnSoft::Uses,
    missing: Some("left out of the likelihood (or filled in by expectation: missing=expected)"),
    takes_start: true,
    offers: Offers::MEMBERSHIP,
    time: "O(t u r k) per restart",
    memory: "O(u (k + r) + K k)",
    ..Mmec::DECLARED
};

params! {
    /// [MMEC](self): mixture of multinomials over label tuples, by expectation maximisation.
    pub struct Mmec(k): INFO {
        /// Starts, random but for the last of several, which is that of k-means; the one of highest
        /// likelihood wins.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of steps of a start.
        max_iter: usize = 200, at_least(1.0);
        /// Stop when a step gains less than this, relative to the log-likelihood.
        tol: f64 = 1e-6, at_least(0.0);
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
        /// Leave missing labels out of the sums, or fill them in by their expectation.
        missing: MissingLabels = MissingLabels::Observed;
    }
}

words! {
    /// What a step does with missing labels.
    pub enum MissingLabels {
        /// Leaves them out of the sums.
        Observed = "observed",
        /// Fills them in by their expectation under the present tables, as the paper does.
        Expected = "expected",
    }
}

impl ConsensusMethod for Mmec {
    fn cost(&self, shape: &Shape) -> u64 {
        // The responsibilities that every run starts from, labels, and tables with their partial sums.
        let (u, k) = (shape.u as u64, self.k as u64);
        let fits = 8 * STATES_HELD * (u * (k + 1) + 20 * k * shape.total_clusters as u64);
        fits.max(RowKMeans::cost(Rows::Labels, shape.u, shape.total_clusters, self.k))
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let p = self;
        let starts = MixtureStarts::new(profiles, p.k, (p.sample, p.restarts), start, run)?;
        let on = |profiles| Problem { profiles, params: p, starts: &starts };
        let some = starts.some.as_ref().map(on);
        let effort = Effort { tol: p.tol, ..Effort::new(starts.restarts, p.max_iter) };
        solve(&on(profiles), some.as_ref().zip(starts.some.as_ref()), effort, run)
    }
}

/// The mixture of certain profiles.
struct Problem<'a> {
    profiles: &'a Profiles,
    params: &'a Mmec,
    starts: &'a MixtureStarts<'a>,
}

/// A mixture on its way.
struct State {
    mixture: Mixture,
    /// What the mixture makes of the profiles, once it has looked at them.
    expectation: Option<Expectation>,
    /// The most probable component of every profile.
    labels: Vec<f64>,
}

impl State {
    fn new(mixture: Mixture, profiles: &Profiles) -> Self {
        State { mixture, expectation: None, labels: vec![-1.0; profiles.len()] }
    }
}

impl Solver for Problem<'_> {
    type State = State;
    const STAGE: &'static str = "mixture model";

    fn start(&self, restart: usize, run: &Run) -> Result<State> {
        let (k, u) = (self.params.k, self.profiles.len());
        let shares = self.starts.shares(k, restart);
        let responsibilities = shares.unwrap_or_else(|| drawn(u, k, run, restart));
        Ok(State::new(Mixture::of(&responsibilities, self.profiles), self.profiles))
    }

    /// The maximisation step, unless it is the first, and the expectation step.
    fn step(&self, state: &mut State, _: &Run) -> Result<Step> {
        let mut last = f64::NEG_INFINITY;
        if let Some(e) = &state.expectation {
            let old = (self.params.missing == MissingLabels::Expected).then_some(&state.mixture);
            last = e.likelihood;
            state.mixture = Mixture::maximising(e, self.profiles, old);
        }
        let (e, moved) = state.mixture.expectation(self.profiles, &mut state.labels);
        let step = Step::of_gain(e.likelihood, last, moved / self.profiles.total_weight());
        state.expectation = Some(e);
        Ok(step)
    }

    fn score(&self, _: &State, likelihood: f64) -> f64 {
        likelihood
    }

    fn extend(&self, _: &Self, state: State, _: &Run) -> Result<State> {
        Ok(State::new(state.mixture.blurred(self.profiles), self.profiles))
    }

    fn finish(&self, state: State, _: &Run) -> Result<Consensus> {
        let membership = state.mixture.responsibilities(self.profiles);
        let winner = |row: &[f64]| argmax(row).expect("k >= 1");
        let labels = membership.iter_rows().map(|row| winner(row) as u32).collect();
        let mut consensus = Consensus::from_labels(labels, self.params.k);
        consensus.strength = membership.iter_rows().map(|row| row[winner(row)]).collect();
        consensus.membership = Some(membership);
        consensus.diagnostics.push("mixing_weights", Value::List(state.mixture.alpha));
        Ok(consensus)
    }
}

/// Random responsibilities: uniform numbers, rows brought to sum 1.
fn drawn(u: usize, k: usize, run: &Run, restart: usize) -> Matrix {
    let mut rng = run.rng(Stream::Restart(restart as u64));
    let mut r = Matrix::from_vec(u, k, (0..u * k).map(|_| rng.unit()).collect());
    for s in 0..u {
        let sum: f64 = r.row(s).iter().sum();
        r.row_mut(s).iter_mut().for_each(|x| *x /= sum);
    }
    r
}

/// The model: `alpha[m]`, and `log_theta[(c, m)]` for every cluster `c` of all members, so that a
/// label picks a contiguous row over the components.
#[derive(Clone, Debug)]
struct Mixture {
    alpha: Vec<f64>,
    log_theta: Matrix,
}

/// What the expectation step adds up: responsibilities over clusters ($K \times k$), over all
/// objects ($k$), and the log-likelihood.
struct Expectation {
    by_cluster: Matrix,
    by_component: Vec<f64>,
    likelihood: f64,
}

impl Mixture {
    /// The model that goes with these responsibilities.
    fn of(responsibilities: &Matrix, profiles: &Profiles) -> Self {
        let w = profiles.weights();
        let sum = |m: usize| (0..w.len()).map(|s| w[s] * responsibilities[(s, m)]).sum();
        let first = Expectation {
            by_cluster: profiles.group_sums(responsibilities, w),
            by_component: (0..responsibilities.ncols()).map(sum).collect(),
            likelihood: f64::NEG_INFINITY,
        };
        Mixture::maximising(&first, profiles, None)
    }

    /// The maximisation step. With `old` given, missing labels are filled in by expectation.
    fn maximising(e: &Expectation, profiles: &Profiles, old: Option<&Mixture>) -> Self {
        let k = e.by_component.len();
        let total: f64 = e.by_component.iter().sum();
        let mut log_theta = Matrix::zeros(profiles.n_clusters(), k);
        for member in profiles.members() {
            for m in 0..k {
                let known: f64 = member.clusters.clone().map(|c| e.by_cluster[(c, m)]).sum();
                let unknown = (e.by_component[m] - known).max(0.0);
                for c in member.clusters.clone() {
                    log_theta[(c, m)] = match old {
                        _ if known <= NO_MASS * total => -math::ln(member.n_clusters() as f64),
                        None => math::ln(e.by_cluster[(c, m)] / known),
                        Some(old) => {
                            let filled = unknown * math::exp(old.log_theta[(c, m)]);
                            math::ln((e.by_cluster[(c, m)] + filled) / (known + unknown))
                        }
                    };
                }
            }
        }
        Mixture { alpha: e.by_component.iter().map(|a| a / total).collect(), log_theta }
    }

    fn log_alpha(&self) -> Vec<f64> {
        self.alpha.iter().map(|&a| math::ln(a)).collect()
    }

    /// The expectation step and the sums that the maximisation step needs, in one pass; with the weight
    /// of the profiles that changed their most probable component.
    fn expectation(&self, profiles: &Profiles, labels: &mut [f64]) -> (Expectation, f64) {
        let (k, weights) = (self.alpha.len(), profiles.weights());
        // Components that there are not are impossible.
        let mut log_alpha = self.log_alpha();
        log_alpha.resize(k.next_multiple_of(LANES), f64::NEG_INFINITY);
        let (by_cluster, mut by_component) = profiles.answered_sums(
            (&self.log_theta, &log_alpha),
            labels,
            k + 2,
            #[inline(always)]
            |s, label, row, rest| {
                let (w, (likelihood, most)) = (weights[s], share_out(row));
                let (components, rest) = rest.split_at_mut(k);
                components.iter_mut().zip(&*row).for_each(|(sum, r)| *sum += w * r);
                rest[0] += w * likelihood;
                let winner = row.iter().position(|&r| r == most).unwrap_or(0) as f64;
                rest[1] += if label[0] == winner { 0.0 } else { w };
                label[0] = winner;
                w
            },
        );
        let moved = by_component.pop().expect("the last is what moved");
        let likelihood = by_component.pop().expect("the likelihood is before that");
        (Expectation { by_cluster, by_component, likelihood }, moved)
    }

    /// The model mixed with a little of the members' own shares: no label is impossible.
    fn blurred(&self, profiles: &Profiles) -> Self {
        let mut log_theta = self.log_theta.clone();
        for (c, share) in profiles.cluster_shares().into_iter().enumerate() {
            let row = log_theta.row_mut(c).iter_mut();
            row.for_each(|x| *x = math::ln((1.0 - BLUR) * math::exp(*x) + BLUR * share));
        }
        let even = BLUR / self.alpha.len() as f64;
        let alpha = self.alpha.iter().map(|a| (1.0 - BLUR) * a + even).collect();
        Mixture { alpha, log_theta }
    }

    fn responsibilities(&self, profiles: &Profiles) -> Matrix {
        let (k, log_alpha) = (self.alpha.len(), self.log_alpha());
        let stride = k.next_multiple_of(LANES);
        let mut r = Matrix::zeros(profiles.len(), k);
        r.as_mut_slice().par_chunks_mut(CHUNK * k).enumerate().for_each(|(chunk, rows)| {
            let first = chunk * CHUNK;
            let mut padded = vec![f64::NEG_INFINITY; stride];
            profiles.for_each_spread(first..first + rows.len() / k, &self.log_theta, |s, sums| {
                let logs = padded.iter_mut().zip(&log_alpha).zip(sums);
                logs.for_each(|((x, alpha), sum)| *x = alpha + sum);
                // The last row's shares are left there.
                padded[k..].fill(f64::NEG_INFINITY);
                vectorised(
                    #[inline(always)]
                    || share_out(&mut padded),
                );
                rows[(s - first) * k..][..k].copy_from_slice(&padded[..k]);
            });
        });
        r
    }
}

/// Turns logarithms of joint probabilities, padded to whole lanes with $-\infty$, into
/// responsibilities; the log-likelihood, and the largest responsibility.
#[inline(always)]
fn share_out(row: &mut [f64]) -> (f64, f64) {
    let lanes = row.as_chunks_mut::<LANES>().0;
    let top = largest(lanes);
    let mut sums = [0.0; LANES];
    for lane in &mut *lanes {
        for l in 0..LANES {
            lane[l] = exp_branchless(lane[l] - top);
            sums[l] += lane[l];
        }
    }
    let sum = total(sums);
    let share = 1.0 / sum;
    lanes.iter_mut().for_each(|lane| lane.iter_mut().for_each(|x| *x *= share));
    // The exponential of 0 is 1.
    (top + ln_branchless(sum), share)
}

#[cfg(test)]
mod tests;
