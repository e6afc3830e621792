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
//! * *Starts on a sample.* Of more than 8,192 profiles (20 a cluster, if that is more; and unless a
//!   few have nearly all the weight) restarts are run on a systematic sample of as many
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
//! | k-means, 2 to 6 clusters | 0.578 | 0.763 | 0.658 |
//! | k-means, 2 to 10 clusters | 0.578 | 0.778 | 0.477 |
//!
//! The published figures look like those of single starts, which vary a lot (standard deviations
//! here 0.08, 0.11 and 0.14). Which numbers of clusters the members of the second table had is not
//! certain: the text says 2 to 6, other columns of the table fit 2 to 10 better.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ steps a restart; memory $O(u (k + r) + K k)$.

mod visits;

use std::borrow::Cow;

use rayon::prelude::*;

use crate::base::{FITS_HELD, RowKMeans, Rows, best_of_restarts, grouped};
use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Stop, Value};
use crate::consensus::params::{at_least, params, words};
use crate::ensemble::{Profiles, argmax, heaviest, sample_for};
use crate::error::Result;
use crate::linalg::{Matrix, exp_branchless, ln_branchless, vectorised};
use crate::rng::Stream;
use crate::run::Run;

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
    offers: Offers::MEMBERSHIP,
    parameters: Mmec::PARAMETERS,
    time: "O(t u r k) a restart",
    memory: "O(u (k + r) + K k)",
    build: Mmec::of,
};

params! {
    /// [MMEC](self): mixture of multinomials over label tuples, by expectation maximisation.
    pub struct Mmec(k): INFO {
        /// Starts, random but for the last of several, which is that of k-means; the one of highest
        /// likelihood wins.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of steps a restart.
        max_iter: usize = 200, at_least(1.0);
        /// Stop when a step gains less than this, relative to the log-likelihood.
        tol: f64 = 1e-6, at_least(0.0);
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
        // The responsibilities that every run starts from, and tables with their partial sums; the
        // heaviest profiles and the rest.
        let k = self.k as u64;
        let fits =
            8 * k * FITS_HELD * (shape.u as u64 + 20 * shape.total_clusters as u64) + shape.copy();
        fits.max(RowKMeans::cost(Rows::Labels, shape.u, shape.total_clusters, self.k))
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let alone = profiles.only_member_that_parts(self.k);
        let start = start.or(alone.as_deref());
        let restarts = if start.is_some() { 1 } else { self.restarts };
        let some = match start {
            Some(_) => Cow::Borrowed(profiles),
            None => sample_for(self.k, profiles, STARTED),
        };
        let on_sample = matches!(some, Cow::Owned(_));
        let tol = if on_sample { SAMPLE_TOL * self.tol } else { self.tol };
        let by_kmeans = if restarts > 1 || on_sample {
            Some(grouped(&some, self.k, restarts, run)?)
        } else {
            None
        };
        let climb = |restart: usize| {
            let responsibilities = match (start, &by_kmeans) {
                (Some(labels), _) => self.blurred(labels),
                (None, Some(labels)) if restart == restarts - 1 => self.blurred(labels),
                _ => self.drawn(some.len(), run, restart),
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
            ..Consensus::from_labels(labels, self.k)
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
        let mut r = Matrix::from_vec(u, self.k, (0..u * self.k).map(|_| rng.unit()).collect());
        for s in 0..u {
            let sum: f64 = r.row(s).iter().sum();
            r.row_mut(s).iter_mut().for_each(|x| *x /= sum);
        }
        r
    }

    /// Responsibilities near a given clustering; labels past k share the last component.
    fn blurred(&self, labels: &[u32]) -> Matrix {
        let k = self.k;
        Matrix::from_fn(labels.len(), k, |s, m| {
            let own = (labels[s] as usize).min(k - 1) == m;
            START_BLUR / k as f64 + if own { 1.0 - START_BLUR } else { 0.0 }
        })
    }

    /// Steps from `mixture` on, until one gains less than `tol`.
    fn climb(&self, profiles: &Profiles, mut mixture: Mixture, tol: f64, run: &Run) -> Result<Fit> {
        let mut trace: Vec<f64> = Vec::new();
        let mut stop = Stop::MaxIterations;
        while trace.len() < self.max_iter {
            run.check()?;
            let expectation = mixture.expectation(profiles);
            let last = trace.last().copied();
            trace.push(expectation.likelihood);
            let gain = last.map_or(f64::INFINITY, |last| expectation.likelihood - last);
            if gain <= tol * expectation.likelihood.abs() {
                stop = Stop::Converged;
                break;
            }
            let old = (self.missing == MissingLabels::Expected).then_some(&mixture);
            mixture = Mixture::maximising(&expectation, profiles, old);
        }
        Ok(Fit { mixture, trace, stop })
    }
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
mod tests;
