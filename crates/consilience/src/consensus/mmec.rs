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
//!   are many members.
//! * *Starts on a sample.* Of more than 8,192 profiles restarts are run on a systematic sample of as many
//!   by weight, each until a step gains less than ten times `tol`, and only the best goes on with all,
//!   from tables mixed with a thousandth of the members' own shares lest a label that the sample lacks
//!   be impossible. Most of its steps look at the 8,192 heaviest profiles and take the sums of the
//!   others as they were (R. M. Neal, G. E. Hinton, 1998). Where these steps gain no more all are
//!   visited; it ends when the likelihood at a visit is hardly above that at the last one, by `tol`. So
//!   an iteration is then a visit to all, and the restarts' likelihoods are those of the sample.
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
//! | k-means, 2 to 6 clusters | 0.578 | 0.764 | 0.658 |
//! | k-means, 2 to 10 clusters | 0.578 | 0.747 | 0.477 |
//!
//! The published figures look like those of single starts, which vary a lot (standard deviations
//! here 0.08, 0.11 and 0.14). Which numbers of clusters the members of the second table had is not
//! certain: the text says 2 to 6, other columns of the table fit 2 to 10 better.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ steps a restart; memory $O(u k + K k)$.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::base::{FITS_HELD, best_of_restarts};
use crate::consensus::method::{
    ChoosesK, ConsensusMethod, MethodInfo, OnSoft, ParameterInfo, Shape,
};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Stop, Value};
use crate::ensemble::{Profiles, argmax, heaviest, sample};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, exp_branchless, ln_branchless, vectorised};
use crate::rng::Stream;
use crate::run::Run;
use crate::setters::setters;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// Numbers handled together.
const LANES: usize = 4;

/// Below this share of all weight a component has no opinion on a member: its row of the table is
/// uniform.
const NO_MASS: f64 = 1e-12;

/// All profiles take part in every restart and step; above, a sample of so many, and the heaviest.
const STARTED: usize = 8192;

/// On a sample restarts stop at so many times `tol`: what they find is but a start.
const SAMPLE_TOL: f64 = 10.0;

/// How much of the tables found on a sample is replaced by the shares of the members' clusters.
const SAMPLE_BLUR: f64 = 1e-3;

/// How much of an object's responsibility a given start leaves to the other components. Exact
/// zeros would make the start a fixed point.
const START_BLUR: f64 = 0.1;

/// What there is to know about MMEC.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "mmec",
    title: "mixture of multinomials over label tuples, by expectation maximisation",
    reference: "A. Topchy, A. K. Jain, W. Punch. A Mixture Model for Clustering Ensembles. SDM 2004.",
    chooses_k: ChoosesK::Never,
    soft: OnSoft::Uses,
    missing: Some("left out of the likelihood (or filled in by expectation: missing=expected)"),
    takes_start: true,
    parameters: &[
        ParameterInfo {
            name: "restarts",
            range: ">= 1",
            default: "10",
            help: "random starts; the one of highest likelihood wins",
        },
        ParameterInfo {
            name: "max_iter",
            range: ">= 1",
            default: "200",
            help: "largest number of steps a restart",
        },
        ParameterInfo {
            name: "tol",
            range: ">= 0",
            default: "1e-6",
            help: "stop when a step gains less than this, relative to the log-likelihood",
        },
        ParameterInfo {
            name: "missing",
            range: "observed or expected",
            default: "observed",
            help: "leave missing labels out of the sums, or fill them in by their expectation",
        },
    ],
    time: "O(t u r k) a restart",
    memory: "O(u k + K k)",
    build: |k, settings| {
        let k = k.ok_or(Error::NeedsK { method: "mmec" })?;
        let mut params = MmecParams::new(k);
        if let Some(restarts) = settings.integer("restarts")? {
            params = params.restarts(restarts);
        }
        if let Some(max_iter) = settings.integer("max_iter")? {
            params = params.max_iter(max_iter);
        }
        if let Some(tol) = settings.real("tol")? {
            params = params.tol(tol);
        }
        let words = [("observed", MissingLabels::Observed), ("expected", MissingLabels::Expected)];
        if let Some(missing) = settings.choice("missing", &words)? {
            params = params.missing(missing);
        }
        Ok(Box::new(params.check()?))
    },
};

/// What a step does with missing labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingLabels {
    /// Leaves them out of the sums.
    Observed,
    /// Fills them in by their expectation under the present tables, as the paper does.
    Expected,
}

/// Parameters of [MMEC](self), not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct MmecParams {
    k: usize,
    restarts: usize,
    max_iter: usize,
    tol: f64,
    missing: MissingLabels,
}

impl MmecParams {
    /// `k` components.
    pub fn new(k: usize) -> Self {
        MmecParams { k, restarts: 10, max_iter: 200, tol: 1e-6, missing: MissingLabels::Observed }
    }

    setters! {
        /// The number of random starts, at least 1; the highest likelihood wins.
        restarts: usize,

        /// The largest number of steps a restart, at least 1.
        max_iter: usize,

        /// The relative gain of log-likelihood, at least 0, below which a restart stops.
        tol: f64,

        /// What a step does with missing labels.
        missing: MissingLabels,
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<Mmec> {
        Error::unless_at_least_one([
            ("k", self.k),
            ("restarts", self.restarts),
            ("max_iter", self.max_iter),
        ])?;
        // `< 0.0` alone would let NaN through.
        if !self.tol.is_finite() || self.tol < 0.0 {
            return Err(Error::parameter("tol", "finite and >= 0", self.tol));
        }
        Ok(Mmec(self))
    }
}

/// MMEC with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Mmec(MmecParams);

impl ConsensusMethod for Mmec {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn k(&self) -> Option<usize> {
        Some(self.0.k)
    }

    fn cost(&self, shape: &Shape) -> u64 {
        // The responsibilities that every run starts from, and tables with their partial sums; the
        // heaviest profiles and the rest.
        let k = self.0.k as u64;
        8 * k * FITS_HELD * (shape.u as u64 + 20 * shape.total_clusters as u64) + shape.copy()
    }

    fn fit(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let alone = profiles.only_member_that_parts(self.0.k);
        let start = start.or(alone.as_deref());
        let restarts = if start.is_some() { 1 } else { self.0.restarts };
        let some = match start {
            Some(_) => Cow::Borrowed(profiles),
            None => sample(profiles, STARTED),
        };
        let on_sample = matches!(some, Cow::Owned(_));
        let tol = if on_sample { SAMPLE_TOL * self.0.tol } else { self.0.tol };
        let climb = |restart: usize| {
            let responsibilities = match start {
                Some(labels) => self.blurred(labels),
                None => self.drawn(some.len(), run, restart),
            };
            self.climb(&some, Mixture::of(&responsibilities, &some), tol, run)
        };
        let (mut best, likelihoods) =
            best_of_restarts("mixture model", restarts, run, climb, Fit::likelihood)?;
        if on_sample {
            let parts = heaviest(profiles, STARTED).map(|part| part.profiles);
            let mixture = best.mixture.blurred(profiles);
            best = self.climb_by_visits(profiles, mixture, &parts, run)?;
        }
        let membership = best.mixture.responsibilities(profiles);
        let winner = |row: &[f64]| argmax(row).expect("k >= 1");
        let labels = membership.iter_rows().map(|row| winner(row) as u32).collect();
        let confidence = membership.iter_rows().map(|row| row[winner(row)]).collect();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("mixing_weights", Value::List(best.mixture.alpha.clone()));
        diagnostics.push("restart_log_likelihoods", Value::List(likelihoods));
        Ok(Consensus {
            confidence,
            membership: Some(membership),
            convergence: Convergence {
                objective: Some(best.likelihood()),
                iterations: best.trace.len(),
                trace: best.trace,
                stop: best.stop,
            },
            diagnostics,
            ..Consensus::from_labels(labels, self.0.k)
        })
    }
}

/// A run of the iteration, whole.
struct Fit {
    mixture: Mixture,
    trace: Vec<f64>,
    stop: Stop,
}

impl Fit {
    fn likelihood(&self) -> f64 {
        *self.trace.last().expect("at least one step")
    }
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

impl Mmec {
    /// Random responsibilities: uniform numbers, rows brought to sum 1.
    fn drawn(&self, u: usize, run: &Run, restart: usize) -> Matrix {
        let mut rng = run.rng(Stream::Restart(restart as u64));
        let mut r = Matrix::from_vec(u, self.0.k, (0..u * self.0.k).map(|_| rng.unit()).collect());
        for s in 0..u {
            let sum: f64 = r.row(s).iter().sum();
            r.row_mut(s).iter_mut().for_each(|x| *x /= sum);
        }
        r
    }

    /// Responsibilities near a given clustering; labels past k share the last component.
    fn blurred(&self, labels: &[u32]) -> Matrix {
        let k = self.0.k;
        Matrix::from_fn(labels.len(), k, |s, m| {
            let own = (labels[s] as usize).min(k - 1) == m;
            START_BLUR / k as f64 + if own { 1.0 - START_BLUR } else { 0.0 }
        })
    }

    /// Steps from `mixture` on, until one gains less than `tol`.
    fn climb(&self, profiles: &Profiles, mut mixture: Mixture, tol: f64, run: &Run) -> Result<Fit> {
        let mut trace: Vec<f64> = Vec::new();
        let mut stop = Stop::MaxIterations;
        while trace.len() < self.0.max_iter {
            run.check()?;
            let expectation = mixture.expectation(profiles);
            let last = trace.last().copied();
            trace.push(expectation.likelihood);
            let gain = last.map_or(f64::INFINITY, |last| expectation.likelihood - last);
            if gain <= tol * expectation.likelihood.abs() {
                stop = Stop::Converged;
                break;
            }
            let old = (self.0.missing == MissingLabels::Expected).then_some(&mixture);
            mixture = Mixture::maximising(&expectation, profiles, old);
        }
        Ok(Fit { mixture, trace, stop })
    }
}

impl Mmec {
    /// Steps from `mixture` on, most of them over the `heaviest` profiles only: the sums of the others
    /// stay as they were when they were last visited. That is incremental expectation maximisation
    /// (R. M. Neal, G. E. Hinton, 1998): the likelihoods at the visits to all never fall.
    fn climb_by_visits(
        &self,
        profiles: &Profiles,
        mut mixture: Mixture,
        [heavy, light]: &[Profiles; 2],
        run: &Run,
    ) -> Result<Fit> {
        let mut trace: Vec<f64> = Vec::new();
        let mut steps = 0;
        let mut of_heavy = mixture.expectation(heavy);
        loop {
            let of_light = mixture.expectation(light);
            let likelihood = of_heavy.likelihood + of_light.likelihood;
            let least = self.0.tol * likelihood.abs();
            let gain = trace.last().map_or(f64::INFINITY, |last| likelihood - last);
            trace.push(likelihood);
            if gain <= least {
                return Ok(Fit { mixture, trace, stop: Stop::Converged });
            }
            if steps == self.0.max_iter {
                return Ok(Fit { mixture, trace, stop: Stop::MaxIterations });
            }
            let mut reached = f64::NEG_INFINITY;
            while steps < self.0.max_iter {
                steps += 1;
                run.check()?;
                let old = (self.0.missing == MissingLabels::Expected).then_some(&mixture);
                mixture = Mixture::maximising(&of_heavy.plus(&of_light), profiles, old);
                of_heavy = mixture.expectation(heavy);
                let height = of_heavy.likelihood + mixture.expected(&of_light);
                if height - reached <= least {
                    break;
                }
                reached = height;
            }
        }
    }
}

impl Expectation {
    fn plus(&self, other: &Expectation) -> Expectation {
        let sums = self.by_cluster.as_slice().iter().zip(other.by_cluster.as_slice());
        let (rows, columns) = (self.by_cluster.nrows(), self.by_cluster.ncols());
        let by_component = self.by_component.iter().zip(&other.by_component);
        Expectation {
            by_cluster: Matrix::from_vec(rows, columns, sums.map(|(a, b)| a + b).collect()),
            by_component: by_component.map(|(a, b)| a + b).collect(),
            likelihood: self.likelihood + other.likelihood,
        }
    }
}

impl Mixture {
    /// The expected logarithm of labels and components, given responsibilities by their sums.
    fn expected(&self, sums: &Expectation) -> f64 {
        let product = |(&sum, &log): (&f64, &f64)| if sum > 0.0 { sum * log } else { 0.0 };
        let labels = sums.by_cluster.as_slice().iter().zip(self.log_theta.as_slice());
        let components = sums.by_component.iter().zip(&self.log_alpha()).map(product).sum::<f64>();
        labels.map(product).sum::<f64>() + components
    }

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

    /// The model mixed with a little of the members' own shares: no label is impossible.
    fn blurred(&self, profiles: &Profiles) -> Self {
        let weights = profiles.cluster_weights();
        let mut log_theta = self.log_theta.clone();
        for member in profiles.members() {
            let known: f64 = weights[member.clusters.clone()].iter().sum();
            for c in member.clusters.clone() {
                let share = SAMPLE_BLUR * weights[c] / known;
                let row = log_theta.row_mut(c).iter_mut();
                row.for_each(|x| *x = ((1.0 - SAMPLE_BLUR) * x.exp() + share).ln());
            }
        }
        let even = SAMPLE_BLUR / self.alpha.len() as f64;
        let alpha = self.alpha.iter().map(|a| (1.0 - SAMPLE_BLUR) * a + even).collect();
        Mixture { alpha, log_theta }
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
                        _ if known <= NO_MASS * total => -(member.n_clusters() as f64).ln(),
                        None => (e.by_cluster[(c, m)] / known).ln(),
                        Some(old) => {
                            let filled = unknown * old.log_theta[(c, m)].exp();
                            ((e.by_cluster[(c, m)] + filled) / (known + unknown)).ln()
                        }
                    };
                }
            }
        }
        Mixture { alpha: e.by_component.iter().map(|a| a / total).collect(), log_theta }
    }

    fn log_alpha(&self) -> Vec<f64> {
        self.alpha.iter().map(|a| a.ln()).collect()
    }

    /// The expectation step and the sums that the maximisation step needs, in one pass.
    fn expectation(&self, profiles: &Profiles) -> Expectation {
        let (k, weights) = (self.alpha.len(), profiles.weights());
        // Components that there are not are impossible.
        let mut log_alpha = self.log_alpha();
        log_alpha.resize(k.next_multiple_of(LANES), f64::NEG_INFINITY);
        let (by_cluster, mut by_component) = profiles.answered_sums(
            &self.log_theta,
            &log_alpha,
            k + 1,
            #[inline(always)]
            |s, row, rest| {
                let (w, likelihood) = (weights[s], share_out(row));
                let (components, rest) = rest.split_at_mut(k);
                components.iter_mut().zip(&*row).for_each(|(sum, r)| *sum += w * r);
                rest[0] += w * likelihood;
                w
            },
        );
        let likelihood = by_component.pop().expect("the last is the likelihood");
        Expectation { by_cluster, by_component, likelihood }
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
/// responsibilities; the log-likelihood.
#[inline(always)]
fn share_out(row: &mut [f64]) -> f64 {
    let lanes = row.as_chunks_mut::<LANES>().0;
    let mut tops = [f64::NEG_INFINITY; LANES];
    for lane in &*lanes {
        for l in 0..LANES {
            tops[l] = if lane[l] > tops[l] { lane[l] } else { tops[l] };
        }
    }
    let top = tops[0].max(tops[1]).max(tops[2].max(tops[3]));
    let mut sums = [0.0; LANES];
    for lane in &mut *lanes {
        for l in 0..LANES {
            lane[l] = exp_branchless(lane[l] - top);
            sums[l] += lane[l];
        }
    }
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    let share = 1.0 / sum;
    lanes.iter_mut().for_each(|lane| lane.iter_mut().for_each(|x| *x *= share));
    top + ln_branchless(sum)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::ensemble::Ensemble;
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    fn fit(profiles: &Profiles, params: MmecParams) -> Consensus {
        params.check().unwrap().fit(profiles, None, &Run::new(1)).unwrap()
    }

    #[test]
    fn agreeing_members_are_returned() {
        let ensemble = hard_ensemble(&[[0, 0, 0, 1, 1, 2], [2, 2, 2, 0, 0, 1]]);
        let profiles = profiles(&ensemble);
        let method = MmecParams::new(3).check().unwrap();
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let labels: Vec<_> = profiles.expand(&consensus.labels).into_iter().flatten().collect();
        assert_eq!(labels, [0, 0, 0, 1, 1, 2]);
    }

    #[test]
    fn refuses_zero_and_nan() {
        let refused = |params: MmecParams| assert!(params.check().is_err());
        refused(MmecParams::new(0));
        refused(MmecParams::new(2).restarts(0));
        refused(MmecParams::new(2).max_iter(0));
        refused(MmecParams::new(2).tol(f64::NAN));
        refused(MmecParams::new(2).tol(-1.0));
    }

    /// One step straight from the equations, over the dense incidence matrix.
    fn slow_step(profiles: &Profiles, alpha: &[f64], theta: &Matrix) -> (Vec<f64>, Matrix, f64) {
        let h = dense_incidence(profiles);
        let (u, k, w) = (profiles.len(), alpha.len(), profiles.weights());
        let joint = |s: usize, m: usize| {
            let factors = (0..h.ncols()).map(|c| theta[(c, m)].powf(h[(s, c)]));
            alpha[m] * factors.product::<f64>()
        };
        let evidence = |s: usize| (0..k).map(|m| joint(s, m)).sum::<f64>();
        let r = Matrix::from_fn(u, k, |s, m| joint(s, m) / evidence(s));
        let total: f64 = w.iter().sum();
        let next_alpha =
            (0..k).map(|m| (0..u).map(|s| w[s] * r[(s, m)]).sum::<f64>() / total).collect();
        let mut next = Matrix::zeros(h.ncols(), k);
        for member in profiles.members() {
            for m in 0..k {
                let mass = |c: usize| (0..u).map(|s| w[s] * h[(s, c)] * r[(s, m)]).sum::<f64>();
                let known: f64 = member.clusters.clone().map(mass).sum();
                for c in member.clusters.clone() {
                    next[(c, m)] = mass(c) / known;
                }
            }
        }
        let likelihood = (0..u).map(|s| w[s] * evidence(s).ln()).sum();
        (next_alpha, next, likelihood)
    }

    proptest! {
        /// The theorem behind the method, also with missing labels, weights and soft members.
        #[test]
        fn the_likelihood_never_falls(
            ensemble in ensembles(Kinds::ALL, 20, 5), k in 1usize..4, expected: bool,
        ) {
            let missing = if expected { MissingLabels::Expected } else { MissingLabels::Observed };
            let params = MmecParams::new(k).restarts(2).tol(0.0).max_iter(50).missing(missing);
            let trace = fit(&profiles(&ensemble), params).convergence.trace;
            for pair in trace.windows(2) {
                // Rounding of sums of at most 20 terms of this size.
                prop_assert!(pair[1] >= pair[0] - 1e-12 * (1.0 + pair[0].abs()), "{trace:?}");
            }
        }

        /// Also where some steps leave out all but the heaviest profiles.
        #[test]
        fn the_likelihood_never_falls_from_visit_to_visit(
            ensemble in ensembles(Kinds::ALL, 20, 5), k in 1usize..4, expected: bool, heavy in 1usize..5,
        ) {
            let profiles = profiles(&ensemble);
            let missing = if expected { MissingLabels::Expected } else { MissingLabels::Observed };
            let mmec = MmecParams::new(k).tol(0.0).max_iter(50).missing(missing).check().unwrap();
            let run = Run::new(3).threads(1);
            let mixture = Mixture::of(&mmec.drawn(profiles.len(), &run, 0), &profiles);
            let parts = heaviest(&profiles, heavy).map(|part| part.profiles);
            let fit = mmec.climb_by_visits(&profiles, mixture.blurred(&profiles), &parts, &run);
            let trace = fit.unwrap().trace;
            for pair in trace.windows(2) {
                prop_assert!(pair[1] >= pair[0] - 1e-12 * (1.0 + pair[0].abs()), "{trace:?}");
            }
        }

        #[test]
        fn a_step_is_what_the_equations_say(ensemble in ensembles(Kinds::ALL, 15, 4), seed: u64) {
            let profiles = profiles(&ensemble);
            let mmec = MmecParams::new(2).check().unwrap();
            let r = mmec.drawn(profiles.len(), &Run::new(seed), 0);
            let mixture = Mixture::of(&r, &profiles);
            let theta = Matrix::from_fn(profiles.n_clusters(), 2, |c, m| mixture.log_theta[(c, m)].exp());
            let (alpha, next, likelihood) = slow_step(&profiles, &mixture.alpha, &theta);
            let e = mixture.expectation(&profiles);
            let fast = Mixture::maximising(&e, &profiles, None);
            prop_assert!((e.likelihood - likelihood).abs() < 1e-9 * (1.0 + likelihood.abs()));
            for m in 0..2 {
                prop_assert!((fast.alpha[m] - alpha[m]).abs() < 1e-9);
                for c in 0..profiles.n_clusters() {
                    prop_assert!((fast.log_theta[(c, m)].exp() - next[(c, m)]).abs() < 1e-9);
                }
            }
        }

        /// Merging equal objects is exact: doubled rows are doubled weights.
        #[test]
        fn weights_are_repetitions(ensemble in ensembles(Kinds { weights: false, ..Kinds::ALL }, 12, 4)) {
            let n = ensemble.n_objects();
            let doubled = ensemble.clone().with_weights(vec![2.0; n]).unwrap();
            let one = fit(&profiles(&ensemble), MmecParams::new(2));
            let two = fit(&profiles(&doubled), MmecParams::new(2));
            prop_assert_eq!(one.labels, two.labels);
            let (one, two) = (one.convergence.objective.unwrap(), two.convergence.objective.unwrap());
            prop_assert!((2.0 * one - two).abs() < 1e-9 * (1.0 + two.abs()));
        }
    }

    #[test]
    fn both_readings_of_missing_labels_end_at_the_same_likelihood() {
        let labels = [
            [Some(0), Some(0), None, Some(1), Some(1), Some(1)],
            [Some(0), None, Some(0), Some(1), None, Some(1)],
            [Some(1), Some(1), Some(1), Some(0), Some(0), None],
        ];
        let members = labels
            .iter()
            .map(|labels| crate::ensemble::HardMember::from_integers("m", *labels).into());
        let profiles = profiles(&Ensemble::new(members.collect()).unwrap());
        let end = |missing| {
            let params = MmecParams::new(2).tol(0.0).max_iter(2000).missing(missing);
            fit(&profiles, params).convergence.objective.unwrap()
        };
        let (observed, expected) = (end(MissingLabels::Observed), end(MissingLabels::Expected));
        assert!((observed - expected).abs() < 1e-6, "{observed} {expected}");
    }

    /// More profiles than take part in every restart: those of three clusters, labelled at random by
    /// one member in three.
    #[test]
    fn many_profiles_start_on_a_sample() {
        let mut rng = crate::rng::Rng::new(5, Stream::Data);
        let n = 12_000;
        let mut label = |i| if rng.below(3) == 0 { rng.below(5) as i64 } else { i as i64 % 3 };
        let member = |h: usize| {
            let labels: Vec<_> = (0..n).map(|i| Some(label(i))).collect();
            crate::ensemble::HardMember::from_integers(h.to_string(), labels).into()
        };
        let profiles = profiles(&Ensemble::new((0..12).map(member).collect()).unwrap());
        assert!(profiles.len() > STARTED);
        let method = MmecParams::new(3).restarts(4).check().unwrap();
        let on =
            |threads| combine(&profiles, &method, None, &Run::new(1).threads(threads)).unwrap();
        let found = on(2);
        assert_eq!(found, on(1));
        assert_eq!(found.convergence.stop, Stop::Converged);
        let labels = found.object_labels(&profiles);
        let right = (0..n).filter(|&i| labels[i] == labels[i % 3]).count();
        assert!(right > n * 95 / 100 && labels[0] != labels[1] && labels[1] != labels[2]);
    }
}
