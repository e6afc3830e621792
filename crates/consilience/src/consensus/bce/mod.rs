//! BCE: Bayesian cluster ensembles, by variational inference.
//!
//! H. Wang, H. Shan, A. Banerjee. *Bayesian Cluster Ensembles.* SIAM SDM 2009; Statistical Analysis
//! and Data Mining 4(1), 2011.
//!
//! Every object has a mixed membership $\theta_i \sim \mathrm{Dirichlet}(\alpha)$ in $k$ consensus
//! clusters; for each member $q$ a cluster $z_{iq} \sim \theta_i$ is drawn, and from it the label
//! $y_{iq} \sim \beta_q[z_{iq}, \cdot]$. The posterior is approximated by
//! $\mathrm{Dirichlet}(\gamma_i) \prod_q \varphi_{iq}$. A step improves every object,
//!
//! $$ \varphi_{iqh} \propto \beta_q[h, y_{iq}] \, e^{\psi(\gamma_{ih})}, \qquad
//!    \gamma_{ih} = \alpha_h + \sum_{q \text{ labels } i} \varphi_{iqh}, $$
//!
//! in several sweeps, and then the model: $\beta_q[h, l] \propto \epsilon + \sum_{i : y_{iq} = l} w_i
//! \varphi_{iqh}$, and $\alpha$ by Newton's method. The lower bound of the log evidence
//!
//! $$ \sum_i w_i \Bigl( \ln\Gamma(\textstyle\sum_h \alpha_h) - \sum_h \ln\Gamma(\alpha_h)
//!    - \ln\Gamma(\sum_h \gamma_{ih}) + \sum_h \ln\Gamma(\gamma_{ih})
//!    + \sum_{q, h} \varphi_{iqh} \ln \frac{\beta_q[h, y_{iq}]}{\varphi_{iqh}} \Bigr)
//!    + \epsilon \sum_{q, h, l} \ln \beta_q[h, l] $$
//!
//! never falls. (The terms with $\psi(\gamma_{ih}) - \psi(\sum \gamma_i)$ cancel where $\gamma$ is
//! as above; the last one belongs to the smoothing, which is a prior on $\beta$.)
//!
//! The answer is soft: the membership of an object is $\gamma_i / \sum_h \gamma_{ih}$.
//!
//! # Where we depart from the paper
//!
//! * *Sweeps.* An object's sweeps begin where those of the last step ended, and there are at most
//!   `sweeps` of them a step, five by default; the authors' program begins afresh each time. The bound
//!   rises with every sweep, so the steps have the same fixed points.
//! * *Stopping.* By the relative gain of the bound, 1e-6; the authors' program stops when parameters
//!   change by less than a hundredth.
//! * *Restarts.* Ten are begun; after 20 steps the one of highest bound goes on to the end. The last
//!   of several begins near k-means of the rows of labels, because random ones hardly move for long
//!   where labels are noisy.
//! * *Starts on a sample.* Of more than 2,048 profiles (20 a cluster, if that is more; and unless a
//!   few have nearly all the weight) restarts are run on a systematic sample of as many by weight,
//!   with at most two sweeps a step, and the one of highest bound after ten steps until
//!   a step gains less than a hundred times `tol`. It goes on with all, from tables $\beta$ mixed with a
//!   little of the members' own shares lest a label that the sample lacks stay next to impossible.
//!   Most of its steps look at the 4,096 heaviest profiles and leave $\gamma$ and $\varphi$ of the others
//!   as they were. After four to eight such steps all are visited, and after every two visits the model
//!   jumps ahead to where they seem to lead. Sweeps end when no $\gamma_{ih}$ changes by more than
//!   0.01; 30 are allowed where memberships begin even. Of more than 32,768 light profiles 16,384 (20 a
//!   cluster, if that is more), drawn by weight, stand for the rest at first. It ends when the steps
//!   since the last visit gained less than ten times `tol` each, or two hundred times where profiles had
//!   stood for others; the light ones then keep the memberships of that visit. So an iteration is a visit
//!   to all that was not taken back, or the steps after the last one, and the restarts' bounds are those
//!   of the sample.
//! * *Smoothing* $\epsilon$ counts in units of the mean weight of a distinct object, lest it depend
//!   on the scale of the weights.
//! * *One member.* With one label an object the data say nothing of how mixed memberships are; where
//!   only one member has more than one cluster, $\alpha$ stays 1.
//! * *Soft members* count fractionally: $\prod_l \beta_q[h, l]^{p_{iql}}$.
//!
//! # Cost
//!
//! Time $O(t s u r k)$ for $t$ steps of $s$ sweeps a restart; memory $O(u (k + r) + K k)$.

mod alpha;
mod gamma;
mod object;
mod visits;

use std::borrow::Cow;

use rayon::prelude::*;
use statrs::function::gamma::ln_gamma;

use self::alpha::improve_alpha;
use self::object::{LANES, Lane, Object};
use self::visits::THINNED;
use crate::base::{FITS_HELD, RowKMeans, Rows, best_of_restarts, grouped};
use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Stop, Value};
use crate::consensus::params::{above, at_least, params};
use crate::ensemble::{Profiles, argmax, heaviest, points_for, sample_for};
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Changes of $\gamma_{ih}$ up to this end the sweeps over an object. Rounding decides which sweep is the
/// last where a change is this small, so it must be far below what anyone looks at.
const SETTLED: f64 = 1e-11;

/// Steps after which only the best restart goes on.
const BEGINNING: usize = 20;

/// All profiles take part in every start and step; above, a sample of so many, ...
const STARTED: usize = 2048;

/// ... and then in most steps so many of the heaviest.
const HEAVY: usize = 4096;

/// Starts on a sample make at most so many sweeps a step, are judged after so many steps and stop at so
/// many times `tol`: what they find is but a start.
const SAMPLE_SWEEPS: usize = 2;
const SAMPLE_BEGINNING: usize = 10;
const SAMPLE_TOL: f64 = 100.0;

/// How much of an object a given start leaves to the other clusters.
const START_BLUR: f64 = 0.1;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 1024;

/// What there is to know about BCE.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "bce",
    title: "Bayesian cluster ensembles: mixed memberships by variational inference",
    reference: "H. Wang, H. Shan, A. Banerjee. Bayesian Cluster Ensembles. Statistical Analysis and \
                Data Mining 4(1), 2011.",
    chooses_k: ChoosesK::Never,
    soft: OnSoft::Uses,
    missing: Some("left out of the likelihood"),
    takes_start: true,
    offers: Offers::MEMBERSHIP,
    parameters: Bce::PARAMETERS,
    time: "O(t s u r k) a restart, s sweeps a step",
    memory: "O(u (k + r) + K k)",
    build: Bce::of,
};

params! {
    /// [BCE](self): Bayesian cluster ensembles: mixed memberships by variational inference.
    pub struct Bce(k): INFO {
        /// Starts, random but for the last of several, which is that of k-means; after 20 steps
        /// (ten of more than 2,048 distinct objects) the one of highest bound goes on.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of steps.
        max_iter: usize = 200, at_least(1.0);
        /// Stop when a step gains less than this, relative to the bound; ten times this of more
        /// than 2,048 distinct objects, two hundred times of more than 37,000.
        tol: f64 = 1e-6, at_least(0.0);
        /// Largest number of sweeps over an object within a step; of more than 2,048 distinct
        /// objects at least 30 in the first.
        sweeps: usize = 5, at_least(1.0);
        /// What is added to every count of labels, in mean weights of a distinct object.
        smoothing: f64 = 1e-6, above(0.0);
    }
}

impl ConsensusMethod for Bce {
    fn cost(&self, shape: &Shape) -> u64 {
        let k = self.k as u64;
        let a_fit = shape.u as u64 * k + 20 * shape.total_clusters as u64 * k;
        // Of many profiles the heaviest and the rest are copied.
        let fits = 8 * (FITS_HELD * a_fit + shape.u as u64 * k) + shape.copy();
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
        let quick = if on_sample { self.quick() } else { self.clone() };
        // Where labels are noisy, random starts are nearly alike for longer than they are followed.
        let by_kmeans = if restarts > 1 || on_sample {
            Some(grouped(&some, self.k, restarts, run)?)
        } else {
            None
        };
        let beginning = if on_sample { SAMPLE_BEGINNING } else { BEGINNING };
        let climb = |restart: usize| {
            let state = match (start, &by_kmeans) {
                (Some(labels), _) => self.started(profiles, labels),
                (None, Some(labels)) if restart == restarts - 1 => self.started(&some, labels),
                _ => self.drawn(&some, run.rng(Stream::Restart(restart as u64))),
            };
            quick.climb(&some, state, self.max_iter.min(beginning), run)
        };
        let (mut best, bounds) =
            best_of_restarts("Bayesian ensemble", restarts, run, climb, Fit::bound)?;
        let left = self.max_iter - best.trace.len();
        if best.stop == Stop::MaxIterations && left > 0 {
            let rest = quick.climb(&some, best.state, left, run)?;
            best.trace.extend(rest.trace);
            best = Fit { trace: best.trace, ..rest };
        }
        if on_sample {
            let model = best.state.model.blurred(profiles, some.len());
            let parts = heaviest(profiles, HEAVY);
            let thinned = points_for(self.k, THINNED);
            best = self.climb_by_visits(profiles, model, &parts, thinned, run)?;
        }
        let mut membership = best.state.gamma;
        let rows = membership.as_mut_slice().par_chunks_exact_mut(self.k).with_min_len(CHUNK);
        let (labels, confidence) = rows
            .map(|row| {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= sum);
                let winner = argmax(row).expect("k >= 1");
                (winner as u32, row[winner].min(1.0))
            })
            .unzip();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("alpha", Value::List(best.state.model.alpha));
        diagnostics.push("restart_bounds", Value::List(bounds));
        Ok(Consensus {
            confidence,
            membership: Some(membership),
            convergence: Convergence {
                objective: best.trace.last().copied(),
                iterations: best.trace.len(),
                trace: best.trace,
                stop: best.stop,
            },
            diagnostics,
            ..Consensus::from_labels(labels, self.k)
        })
    }
}

/// $\alpha$ and $\beta$.
#[derive(Clone, Debug)]
struct Model {
    alpha: Vec<f64>,
    /// A row over the $k$ clusters for every cluster of all members, so that a label picks a
    /// contiguous row.
    beta: Matrix,
}

/// Model and approximate posterior.
#[derive(Clone, Debug)]
struct State {
    model: Model,
    /// $\gamma$, one row a profile.
    gamma: Matrix,
}

/// A run of the iteration, whole.
struct Fit {
    state: State,
    trace: Vec<f64>,
    stop: Stop,
}

impl Fit {
    fn bound(&self) -> f64 {
        *self.trace.last().expect("at least one step")
    }
}

/// What the sweeps over all objects add up: $\varphi$ over the labels ($K \times k$),
/// $\sum_i w_i (\psi(\gamma_{ih}) - \psi(\sum \gamma_i))$, and the objects' part of the bound.
struct Sums {
    by_cluster: Matrix,
    log_theta: Vec<f64>,
    bound: f64,
}

/// When the sweeps over an object end.
#[derive(Clone, Copy)]
struct Until {
    /// After so many at the latest, ...
    sweeps: usize,
    /// ... or when no $\gamma_{ih}$ changes by more than this.
    settled: f64,
}

impl Bce {
    /// $\alpha = 1$, rows of $\beta$ drawn evenly from all distributions, $\gamma$ even.
    fn drawn(&self, profiles: &Profiles, mut rng: Rng) -> State {
        let k = self.k;
        let mut beta = Matrix::zeros(profiles.n_clusters(), k);
        for member in profiles.members() {
            for h in 0..k {
                // Exponential numbers brought to sum 1 are Dirichlet(1).
                let drawn: Vec<f64> =
                    member.clusters.clone().map(|_| -(1.0 - rng.unit()).ln() + 1e-12).collect();
                let sum: f64 = drawn.iter().sum();
                member.clusters.clone().zip(&drawn).for_each(|(c, x)| beta[(c, h)] = x / sum);
            }
        }
        let model = Model { alpha: vec![1.0; k], beta };
        State { gamma: model.even(profiles), model }
    }

    /// A state near a given clustering; labels past `k` share the last cluster.
    fn started(&self, profiles: &Profiles, labels: &[u32]) -> State {
        let k = self.k;
        let share = Matrix::from_fn(labels.len(), k, |s, h| {
            let own = (labels[s] as usize).min(k - 1) == h;
            START_BLUR / k as f64 + if own { 1.0 - START_BLUR } else { 0.0 }
        });
        let labelled = profiles.label_counts();
        let gamma =
            Matrix::from_fn(labels.len(), k, |s, h| 1.0 + f64::from(labelled[s]) * share[(s, h)]);
        let beta = self.beta(profiles, &profiles.group_sums(&share, profiles.weights()));
        State { model: Model { alpha: vec![1.0; k], beta }, gamma }
    }

    /// At most `max_iter` steps from `state`.
    fn climb(
        &self,
        profiles: &Profiles,
        mut state: State,
        max_iter: usize,
        run: &Run,
    ) -> Result<Fit> {
        let mut trace: Vec<f64> = Vec::new();
        let mut stop = Stop::MaxIterations;
        while trace.len() < max_iter {
            let until = Until { sweeps: self.sweeps, settled: SETTLED };
            let sums = self.sweep(profiles, &state.model, &mut state.gamma, until, run)?;
            let bound = sums.bound + self.prior(profiles, &state.model.beta);
            let gain = trace.last().map_or(f64::INFINITY, |last| bound - last);
            trace.push(bound);
            if gain <= self.tol * bound.abs() {
                stop = Stop::Converged;
                break;
            }
            self.improve(&mut state.model, &sums, profiles);
        }
        Ok(Fit { state, trace, stop })
    }

    /// For the starts on a sample, which need not be exact.
    fn quick(&self) -> Self {
        let sweeps = self.sweeps.min(SAMPLE_SWEEPS);
        Bce { sweeps, tol: SAMPLE_TOL * self.tol, ..self.clone() }
    }

    /// The model that suits these sums best; $\alpha$ a few steps nearer.
    fn improve(&self, model: &mut Model, sums: &Sums, profiles: &Profiles) {
        model.beta = self.beta(profiles, &sums.by_cluster);
        // One label an object says nothing of how mixed its membership is.
        let parting = profiles.members().iter().filter(|member| member.n_clusters() > 1);
        if parting.count() > 1 {
            let total = profiles.total_weight();
            let mean: Vec<f64> = sums.log_theta.iter().map(|sum| sum / total).collect();
            improve_alpha(&mut model.alpha, &mean);
        }
    }

    /// $\epsilon$.
    fn epsilon(&self, profiles: &Profiles) -> f64 {
        self.smoothing * profiles.total_weight() / profiles.len() as f64
    }

    /// What the smoothing adds to the bound.
    fn prior(&self, profiles: &Profiles, beta: &Matrix) -> f64 {
        self.epsilon(profiles) * beta.as_slice().iter().map(|b| b.ln()).sum::<f64>()
    }

    /// The tables $\beta$ that go with these sums of $\varphi$.
    fn beta(&self, profiles: &Profiles, by_cluster: &Matrix) -> Matrix {
        let smoothing = self.epsilon(profiles);
        let mut beta = Matrix::from_fn(by_cluster.nrows(), by_cluster.ncols(), |c, h| {
            by_cluster[(c, h)] + smoothing
        });
        normalise(&mut beta, profiles);
        beta
    }

    /// Sweeps over every object, and the sums that the model is made from.
    fn sweep(
        &self,
        profiles: &Profiles,
        model: &Model,
        gamma: &mut Matrix,
        until: Until,
        run: &Run,
    ) -> Result<Sums> {
        // Chunks at a time, so that partial sums do not pile up; their number is fixed.
        const WAVE: usize = 32;
        let (k, n_clusters) = (self.k, profiles.n_clusters());
        let sweeps = Sweeps::new(model, profiles.is_hard(), until);
        let mut total =
            Sums { by_cluster: Matrix::zeros(n_clusters, k), log_theta: vec![0.0; k], bound: 0.0 };
        for (wave, gamma) in gamma.as_mut_slice().chunks_mut(WAVE * CHUNK * k).enumerate() {
            run.check()?;
            let chunks = gamma.par_chunks_mut(CHUNK * k).enumerate();
            let partial: Vec<Sums> = chunks
                .map(|(chunk, gamma)| {
                    sweeps.sweep_chunk(profiles, (wave * WAVE + chunk) * CHUNK, gamma)
                })
                .collect();
            for sums in partial {
                let pairs = total.by_cluster.as_mut_slice().iter_mut();
                pairs.zip(sums.by_cluster.as_slice()).for_each(|(total, sum)| *total += sum);
                total.log_theta.iter_mut().zip(sums.log_theta).for_each(|(t, sum)| *t += sum);
                total.bound += sums.bound;
            }
        }
        total.bound += profiles.total_weight() * model.constant();
        Ok(total)
    }
}

/// Brings every member's entries in each column to sum 1.
fn normalise(beta: &mut Matrix, profiles: &Profiles) {
    for member in profiles.members() {
        for h in 0..beta.ncols() {
            let sum: f64 = member.clusters.clone().map(|c| beta[(c, h)]).sum();
            member.clusters.clone().for_each(|c| beta[(c, h)] /= sum);
        }
    }
}

impl Model {
    /// $\gamma$ with all labels spread evenly.
    fn even(&self, profiles: &Profiles) -> Matrix {
        let (k, labelled) = (self.alpha.len(), profiles.label_counts());
        let mut gamma = Matrix::zeros(profiles.len(), k);
        let rows = gamma.as_mut_slice().par_chunks_exact_mut(k).with_min_len(CHUNK);
        rows.zip(&labelled).for_each(|(row, &labels)| {
            let each = f64::from(labels) / k as f64;
            row.iter_mut().zip(&self.alpha).for_each(|(gamma, alpha)| *gamma = alpha + each);
        });
        gamma
    }

    /// The part of an object's bound that hangs on $\alpha$ alone.
    fn constant(&self) -> f64 {
        let alpha = &self.alpha;
        ln_gamma(alpha.iter().sum()) - alpha.iter().map(|&a| ln_gamma(a)).sum::<f64>()
    }
}

/// The model as the sweeps see it.
struct Sweeps<'a> {
    alpha: &'a [f64],
    /// $\beta$, or $\ln \beta$ where there are soft members; rows are padded to whole lanes.
    table: Vec<Lane>,
    until: Until,
}

impl<'a> Sweeps<'a> {
    fn new(model: &'a Model, hard: bool, until: Until) -> Self {
        let (k, width) = (model.alpha.len(), model.alpha.len().div_ceil(LANES));
        let mut table = vec![[0.0; LANES]; model.beta.nrows() * width];
        for (padded, row) in table.chunks_exact_mut(width).zip(model.beta.iter_rows()) {
            padded.as_flattened_mut()[..k].copy_from_slice(row);
            if !hard {
                padded.as_flattened_mut()[..k].iter_mut().for_each(|x| *x = x.ln());
            }
        }
        Sweeps { alpha: &model.alpha, table, until }
    }

    /// Sweeps over the profiles from `first` on, whose rows are `gamma`.
    fn sweep_chunk(&self, profiles: &Profiles, first: usize, gamma: &mut [f64]) -> Sums {
        let k = self.alpha.len();
        let width = k.div_ceil(LANES);
        let mut by_cluster = vec![[0.0; LANES]; profiles.n_clusters() * width];
        let mut log_theta = vec![[0.0; LANES]; width];
        let mut bound = 0.0;
        let mut object = Object::new(profiles.n_members(), self.alpha);
        vectorised(
            #[inline(always)]
            || {
                for (i, gamma) in gamma.chunks_exact_mut(k).enumerate() {
                    let (s, w) = (first + i, profiles.weights()[first + i]);
                    object.read(profiles, s, self, gamma);
                    for _ in 0..self.until.sweeps {
                        if object.sweep() <= self.until.settled {
                            break;
                        }
                    }
                    gamma.copy_from_slice(object.gamma());
                    bound += w * object.bound(w, &mut log_theta);
                    object.add_labels(profiles, s, w, &mut by_cluster);
                }
            },
        );
        let by_cluster = by_cluster.chunks_exact(width).flat_map(|row| &row.as_flattened()[..k]);
        let by_cluster = Matrix::from_vec(profiles.n_clusters(), k, by_cluster.copied().collect());
        let log_theta = log_theta.as_flattened()[..k].to_vec();
        Sums { by_cluster, log_theta, bound }
    }
}

#[cfg(test)]
mod tests;
