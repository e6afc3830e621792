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
//! * *Restarts.* Ten are begun; after 20 steps, 10 on
//!   a sample, the one of highest bound goes on to the end. The last
//!   of several begins near k-means of the rows of labels, because random ones hardly move for long
//!   where labels are noisy.
//! * *Starts on a sample*, as for all methods here, go on from tables $\beta$ mixed with a little of the
//!   members' own shares, lest a label that the sample lacks stay next to impossible.
//! * *Smoothing* $\epsilon$ counts in units of the mean weight of a distinct object, lest it depend
//!   on the scale of the weights.
//! * *One member.* With one label per object the data say nothing of how mixed memberships are; where
//!   only one member has more than one cluster, $\alpha$ stays 1.
//! * *Soft members* count fractionally: $\prod_l \beta_q[h, l]^{p_{iql}}$.
//!
//! # Cost
//!
//! Time $O(t s u r k)$ for $t$ steps of $s$ sweeps per restart; memory $O(u (k + r) + K k)$.

// The sweeps over an object are compiled for the machine's wide registers only where they are inlined
// into the closure that `vectorised` runs.
#![allow(clippy::inline_always)]

use rayon::prelude::*;

use crate::consensus::driver::{Effort, SAMPLE, STATES_HELD, Solver, Step, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, at_least, params};
use crate::consensus::row_kmeans::{MixtureStarts, RowKMeans, Rows};
use crate::ensemble::{Profiles, argmax, tally};
use crate::error::Result;
use crate::linalg::lanes::{
    GammaParts, LANES, Lane, Wide, digamma_branchless, digamma_parts, dot, gamma_parts, largest,
    ln_gamma_branchless, total,
};
use crate::linalg::{Matrix, exp_branchless, ln_branchless, vectorised};
use crate::math;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Changes of $\gamma_{ih}$ up to this end the sweeps over an object. Rounding decides which sweep is the
/// last where a change is this small, so it must be far below what anyone looks at.
const SETTLED: f64 = 1e-11;

/// Steps after which only the best restart goes on.
const TRIAL: usize = 20;

/// The same on a sample, and the largest number of sweeps there: starts take most of the time where there
/// are many objects. At 10⁶ × 20 labels it is a third of what it is with the numbers for all, for a
/// bound that is as high.
const SAMPLE_TRIAL: usize = 10;
const SAMPLE_SWEEPS: usize = 2;

/// Tables found on a sample are mixed with the shares of the members' clusters, as if so many profiles
/// more had been drawn: a label that the sample lacks would stay next to impossible for many steps.
const BLUR: f64 = 2.0;

/// Where $\alpha_h$ may lie. Outside, the model hardly changes and its logarithms lose their digits.
const ALPHA: std::ops::RangeInclusive<f64> = 1e-6..=1e4;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 1024;

/// What there is to know about BCE.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "bce",
    title: "Bayesian cluster ensembles: mixed memberships by variational inference",
    reference: "H. Wang, H. Shan, A. Banerjee. Bayesian Cluster Ensembles. Statistical Analysis and \
                Data Mining 4(1), 2011.",
    soft: OnSoft::Uses,
    missing: Some("left out of the likelihood"),
    takes_start: true,
    offers: Offers::MEMBERSHIP,
    time: "O(t s u r k) per restart, s sweeps per step",
    memory: "O(u (k + r) + K k)",
    ..Bce::DECLARED
};

params! {
    /// [BCE](self): Bayesian cluster ensembles: mixed memberships by variational inference.
    pub struct Bce(k): INFO {
        /// Starts, random but for the last of several, which is that of k-means; after 20 steps,
        /// 10 on a sample, the one of highest bound goes on.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of steps of a start.
        max_iter: usize = 200, at_least(1.0);
        /// Stop when a step gains no more than this, relative to the bound.
        tol: f64 = 1e-6, at_least(0.0);
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
        /// Largest number of sweeps over an object within a step; on a sample at most 2.
        sweeps: usize = 5, at_least(1.0);
        /// What is added to every count of labels, in mean weights of a distinct object.
        smoothing: f64 = 1e-6, above(0.0);
    }
}

impl ConsensusMethod for Bce {
    fn cost(&self, shape: &Shape) -> u64 {
        let k = self.k as u64;
        let a_fit = shape.u as u64 * k + 20 * shape.total_clusters as u64 * k;
        let fits = 8 * STATES_HELD * a_fit;
        fits.max(RowKMeans::cost(Rows::Labels, shape.u, shape.total_clusters, self.k))
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let p = self;
        let starts = MixtureStarts::new(profiles, p.k, (p.sample, p.restarts), start, run)?;
        let on = |profiles, sweeps| Problem::new(profiles, p, &starts, sweeps);
        let some = starts.some.as_ref().map(|some| on(some, p.sweeps.min(SAMPLE_SWEEPS)));
        let trial = if some.is_some() { SAMPLE_TRIAL } else { TRIAL };
        let effort = Effort { tol: p.tol, trial, ..Effort::new(starts.restarts, p.max_iter) };
        solve(&on(profiles, p.sweeps), some.as_ref().zip(starts.some.as_ref()), effort, run)
    }
}

/// The model of certain profiles.
struct Problem<'a> {
    profiles: &'a Profiles,
    params: &'a Bce,
    starts: &'a MixtureStarts<'a>,
    /// $\epsilon$.
    smoothing: f64,
    /// The largest number of sweeps over an object.
    sweeps: usize,
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
    /// $\gamma$, one row per profile.
    gamma: Matrix,
    /// What the last sweeps came to.
    sums: Option<Sums>,
}

/// What the sweeps over all objects add up: $\varphi$ over the labels ($K \times k$),
/// $\sum_i w_i (\psi(\gamma_{ih}) - \psi(\sum \gamma_i))$, and the bound.
#[derive(Clone, Debug)]
struct Sums {
    by_cluster: Matrix,
    log_theta: Vec<f64>,
    bound: f64,
    /// The weight of the memberships that went to another cluster.
    moved: f64,
}

impl Solver for Problem<'_> {
    type State = State;
    const STAGE: &'static str = "Bayesian ensemble";

    fn start(&self, restart: usize, run: &Run) -> Result<State> {
        Ok(match self.starts.shares(self.params.k, restart) {
            Some(shares) => self.near(&shares),
            None => self.drawn(run.rng(Stream::Restart(restart as u64))),
        })
    }

    /// A better model, unless it is the first step, and sweeps over every object.
    fn step(&self, state: &mut State, _: &Run) -> Result<Step> {
        let last = state.sums.as_ref().map_or(f64::NEG_INFINITY, |sums| sums.bound);
        if let Some(sums) = &state.sums {
            self.improve(&mut state.model, sums);
        }
        let sums = self.sweep(&state.model, &mut state.gamma);
        let step = Step::of_gain(sums.bound, last, sums.moved / self.profiles.total_weight());
        state.sums = Some(sums);
        Ok(step)
    }

    fn score(&self, _: &State, bound: f64) -> f64 {
        bound
    }

    fn extend(&self, some: &Self, state: State, _: &Run) -> Result<State> {
        let Model { alpha, mut beta } = state.model;
        let blur = BLUR / (BLUR + some.profiles.len() as f64);
        for (c, share) in self.profiles.cluster_shares().into_iter().enumerate() {
            beta.row_mut(c).iter_mut().for_each(|x| *x = (1.0 - blur) * *x + blur * share);
        }
        Ok(self.even(Model { alpha, beta }))
    }

    fn finish(&self, state: State, _: &Run) -> Result<Consensus> {
        let (k, mut membership) = (self.params.k, state.gamma);
        let rows = membership.as_mut_slice().par_chunks_exact_mut(k).with_min_len(CHUNK);
        let (labels, strength) = rows
            .map(|row| {
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= sum);
                let winner = argmax(row).expect("k >= 1");
                (winner as u32, row[winner].min(1.0))
            })
            .unzip();
        let mut consensus = Consensus::from_labels(labels, k);
        (consensus.strength, consensus.membership) = (strength, Some(membership));
        consensus.diagnostics.push("alpha", Value::List(state.model.alpha));
        Ok(consensus)
    }
}

impl<'a> Problem<'a> {
    fn new(
        profiles: &'a Profiles,
        params: &'a Bce,
        starts: &'a MixtureStarts<'a>,
        sweeps: usize,
    ) -> Self {
        let smoothing = params.smoothing * profiles.total_weight() / profiles.len() as f64;
        Problem { profiles, params, starts, smoothing, sweeps }
    }

    /// $\alpha = 1$, rows of $\beta$ drawn evenly from all distributions, $\gamma$ even.
    fn drawn(&self, mut rng: Rng) -> State {
        let k = self.params.k;
        let mut beta = Matrix::zeros(self.profiles.n_clusters(), k);
        for member in self.profiles.members() {
            for h in 0..k {
                // Exponential numbers brought to sum 1 are Dirichlet(1).
                let drawn: Vec<f64> =
                    member.clusters.clone().map(|_| -math::ln(1.0 - rng.unit()) + 1e-12).collect();
                let sum: f64 = drawn.iter().sum();
                member.clusters.clone().zip(&drawn).for_each(|(c, x)| beta[(c, h)] = x / sum);
            }
        }
        self.even(Model { alpha: vec![1.0; k], beta })
    }

    /// The model, and $\gamma$ with all labels spread evenly.
    fn even(&self, model: Model) -> State {
        let (k, labelled) = (model.alpha.len(), self.profiles.label_counts());
        let mut gamma = Matrix::zeros(self.profiles.len(), k);
        let rows = gamma.as_mut_slice().par_chunks_exact_mut(k).with_min_len(CHUNK);
        rows.zip(&labelled).for_each(|(row, &labels)| {
            let each = f64::from(labels) / k as f64;
            row.iter_mut().zip(&model.alpha).for_each(|(gamma, alpha)| *gamma = alpha + each);
        });
        State { model, gamma, sums: None }
    }

    /// $\alpha = 1$, the labels of every object spread by these shares.
    fn near(&self, shares: &Matrix) -> State {
        let labelled = self.profiles.label_counts();
        let (u, k) = (shares.nrows(), shares.ncols());
        let gamma = Matrix::from_fn(u, k, |s, h| 1.0 + f64::from(labelled[s]) * shares[(s, h)]);
        let beta = self.beta(&self.profiles.group_sums(shares, self.profiles.weights()));
        State { model: Model { alpha: vec![1.0; k], beta }, gamma, sums: None }
    }

    /// The model that suits these sums best; $\alpha$ a few steps nearer.
    fn improve(&self, model: &mut Model, sums: &Sums) {
        model.beta = self.beta(&sums.by_cluster);
        // One label per object says nothing of how mixed its membership is.
        let parting = self.profiles.members().iter().filter(|member| member.n_clusters() > 1);
        if parting.count() > 1 {
            let total = self.profiles.total_weight();
            let mean: Vec<f64> = sums.log_theta.iter().map(|sum| sum / total).collect();
            improve_alpha(&mut model.alpha, &mean);
        }
    }

    /// The tables $\beta$ that go with these sums of $\varphi$.
    fn beta(&self, by_cluster: &Matrix) -> Matrix {
        let mut beta = by_cluster.clone();
        beta.as_mut_slice().iter_mut().for_each(|x| *x += self.smoothing);
        for member in self.profiles.members() {
            for h in 0..beta.ncols() {
                let sum: f64 = member.clusters.clone().map(|c| beta[(c, h)]).sum();
                member.clusters.clone().for_each(|c| beta[(c, h)] /= sum);
            }
        }
        beta
    }

    /// Sweeps over every object, and the sums that the next model is made from.
    fn sweep(&self, model: &Model, gamma: &mut Matrix) -> Sums {
        let (profiles, k) = (self.profiles, self.params.k);
        let n_clusters = profiles.n_clusters();
        let mut table = Wide::new(&model.beta);
        if !profiles.is_hard() {
            // Chances are then products of powers.
            table.values.as_mut_slice().iter_mut().for_each(|x| *x = math::ln(*x));
        }
        let stride = table.lanes * LANES;
        let len = (n_clusters + 1) * stride + 2;
        let sums =
            profiles.sum_over_chunks_of(CHUNK, gamma.as_mut_slice(), len, |rows, gamma, sums| {
                let mut object = Object::new(profiles, &model.alpha, &table);
                let (sums, rest) = sums.split_at_mut((n_clusters + 1) * stride);
                let (by_cluster, log_theta) =
                    sums.as_chunks_mut::<LANES>().0.split_at_mut(n_clusters * table.lanes);
                vectorised(
                    #[inline(always)]
                    || {
                        for (s, gamma) in rows.clone().zip(gamma.chunks_exact_mut(k)) {
                            let w = profiles.weights()[s];
                            object.read(s, gamma);
                            for _ in 0..self.sweeps {
                                if object.sweep() <= SETTLED {
                                    break;
                                }
                            }
                            let after = &object.gamma.as_flattened()[..k];
                            rest[1] += w * moved(gamma, after);
                            gamma.copy_from_slice(after);
                            rest[0] += w * object.bound(w, log_theta);
                            object.add_labels(s, w, by_cluster);
                        }
                    },
                );
            });
        let by_cluster = Matrix::from_fn(n_clusters, k, |c, h| sums[c * stride + h]);
        let constant = ln_gamma_branchless(model.alpha.iter().sum())
            - model.alpha.iter().map(|&a| ln_gamma_branchless(a)).sum::<f64>();
        let prior =
            self.smoothing * model.beta.as_slice().iter().map(|&b| math::ln(b)).sum::<f64>();
        Sums {
            by_cluster,
            log_theta: sums[n_clusters * stride..][..k].to_vec(),
            bound: sums[len - 2] + profiles.total_weight() * constant + prior,
            moved: sums[len - 1],
        }
    }
}

/// Room for the sweeps over one object.
///
/// With $e_h = e^{\psi(\gamma_h)}$ and $b_{qh} = \beta_q[h, y_q]$, a sweep is two passes over the few rows of
/// $b$ that an object's labels pick: $\sigma_q = \sum_h b_{qh} e_h$ and
/// $\gamma_h \leftarrow \alpha_h + e_h \sum_q b_{qh} / \sigma_q$. So $\varphi_{qh} = b_{qh} e_h / \sigma_q$ need not be
/// written down, there is no logarithm in it, and $e$ may be on any scale: the largest is kept near 1,
/// lest all vanish where $\gamma$ is small.
struct Object<'a> {
    profiles: &'a Profiles,
    k: usize,
    /// $\beta$, or $\ln \beta$ where there are soft members.
    table: &'a Wide,
    /// $b$ where there are soft members, one row per label; 0 beyond $k$.
    chances: Vec<Lane>,
    /// Where the row of every label begins, in the table or among the chances.
    rows: Vec<usize>,
    /// $\gamma$ and $\alpha$; 1 beyond $k$.
    gamma: Vec<Lane>,
    alpha: Vec<Lane>,
    /// $z$ and $t$ of the last sweep, $\ln e = \ln z + t$, and $e$; $e$ is 0 beyond $k$.
    z: Vec<Lane>,
    t: Vec<Lane>,
    e: Vec<Lane>,
    /// $\sum_q \varphi_{qh}$.
    shares: Vec<Lane>,
    /// $\sigma$ and $1 / \sigma$.
    sums: Vec<f64>,
    inverses: Vec<f64>,
    /// $\sum_h \gamma_h$ hangs on the number of labels alone: $\psi$ and $\ln\Gamma$ of it for each number.
    totals: Vec<(f64, f64)>,
}

impl<'a> Object<'a> {
    fn new(profiles: &'a Profiles, alpha: &[f64], table: &'a Wide) -> Self {
        let (k, r, width) = (alpha.len(), profiles.n_members(), table.lanes);
        let of = |fill: f64| vec![[fill; LANES]; width];
        let mut padded = of(1.0);
        padded.as_flattened_mut()[..k].copy_from_slice(alpha);
        let total = |labels: usize| alpha.iter().sum::<f64>() + labels as f64;
        let totals = (0..=r).map(total).map(|x| (digamma_branchless(x), ln_gamma_branchless(x)));
        Object {
            profiles,
            k,
            table,
            chances: vec![[0.0; LANES]; if profiles.is_hard() { 0 } else { r * width }],
            rows: Vec::with_capacity(r),
            gamma: of(1.0),
            alpha: padded,
            z: of(1.0),
            t: of(0.0),
            e: of(0.0),
            shares: of(0.0),
            sums: vec![1.0; r],
            inverses: vec![1.0; r],
            totals: totals.collect(),
        }
    }

    /// The rows of $b$.
    #[inline(always)]
    fn source(&self) -> &[Lane] {
        if self.chances.is_empty() { self.table.values.lanes() } else { &self.chances }
    }

    /// Looks up the chances of the labels of profile `s`, and starts from `gamma`.
    #[inline(always)]
    fn read(&mut self, s: usize, gamma: &[f64]) {
        let (profiles, width) = (self.profiles, self.table.lanes);
        self.gamma.as_flattened_mut()[..self.k].copy_from_slice(gamma);
        self.rows.clear();
        if self.chances.is_empty() {
            let rows = &mut self.rows;
            profiles.for_each_entry(s, |_, c, _| rows.push(c * width));
            return;
        }
        for h in (0..profiles.n_members()).filter(|&h| profiles.is_labelled(s, h)) {
            let at = self.rows.len() * width;
            let row = &mut self.chances[at..][..width].as_flattened_mut()[..self.k];
            row.fill(0.0);
            profiles.for_each_entry_of(s, h, |c, p| {
                let logs = self.table.row(c).as_flattened();
                row.iter_mut().zip(logs).for_each(|(x, b)| *x += p * b);
            });
            row.iter_mut().for_each(|x| *x = math::exp(*x));
            self.rows.push(at);
        }
    }

    /// One sweep; the largest change of $\gamma$.
    #[inline(always)]
    fn sweep(&mut self) -> f64 {
        let (k, width, labels) = (self.k, self.table.lanes, self.rows.len());
        tally(k * labels);
        let source =
            if self.chances.is_empty() { self.table.values.lanes() } else { &self.chances };
        let Self { rows, gamma, alpha, z, t, e, shares, sums, inverses, .. } = self;
        for (gamma, (z, t)) in gamma.iter().zip(z.iter_mut().zip(&mut *t)) {
            for l in 0..LANES {
                (z[l], t[l]) = digamma_parts(gamma[l]);
            }
        }
        // What is beyond k must not set the scale.
        t.as_flattened_mut()[k..].fill(f64::NEG_INFINITY);
        let top = largest(t);
        for ((t, z), e) in t.iter_mut().zip(z.iter()).zip(&mut *e) {
            for l in 0..LANES {
                t[l] -= top;
                e[l] = z[l] * exp_branchless(t[l]);
            }
        }
        t.as_flattened_mut()[k..].fill(0.0);
        e.as_flattened_mut()[k..].fill(0.0);
        let (sums, inverses) = (&mut sums[..labels], &mut inverses[..labels]);
        for (sigma, &row) in sums.iter_mut().zip(&*rows) {
            *sigma = dot(&source[row..][..width], e);
        }
        // A loop of their own, so that several divisions are one.
        for (inverse, sigma) in inverses.iter_mut().zip(&*sums) {
            *inverse = 1.0 / sigma;
        }
        let mut change = [0.0; LANES];
        for b in 0..width {
            let mut share = [0.0; LANES];
            for (&row, inverse) in rows.iter().zip(&*inverses) {
                let chance = &source[row + b];
                for l in 0..LANES {
                    share[l] += chance[l] * inverse;
                }
            }
            for l in 0..LANES {
                share[l] *= e[b][l];
                let next = alpha[b][l] + share[l];
                let moved = (next - gamma[b][l]).abs();
                change[l] = if moved > change[l] { moved } else { change[l] };
                gamma[b][l] = next;
            }
            shares[b] = share;
        }
        change.into_iter().fold(0.0, f64::max)
    }

    /// The object's part of the bound after a sweep, but for the constant of $\alpha$; adds `w` times
    /// $\psi(\gamma_h) - \psi(\sum \gamma)$ to `log_theta`.
    ///
    /// As $\ln \varphi_{qh} = \ln b_{qh} + \ln e_h - \ln \sigma_q$, what remains of $\sum_h
    /// \varphi_{qh} \ln (b_{qh} / \varphi_{qh})$ is $\ln \sigma_q - \sum_h \varphi_{qh} \ln e_h$.
    #[inline(always)]
    fn bound(&self, w: f64, log_theta: &mut [Lane]) -> f64 {
        /// Lanes whose $P(\gamma)$ are multiplied before the logarithm: each is below $10^{41}$.
        const TOGETHER: usize = 4;
        let width = self.table.lanes;
        let (digamma_of_total, ln_gamma_of_total) = self.totals[self.rows.len()];
        let mut bounds = [0.0; LANES];
        for at in (0..width).step_by(TOGETHER) {
            let mut product = [1.0; LANES];
            for b in at..width.min(at + TOGETHER) {
                // Copies: what might overlap with the sums is not vectorised.
                let (gamma, share, before, t) =
                    (self.gamma[b], self.shares[b], self.z[b], self.t[b]);
                let mut theta = log_theta[b];
                for l in 0..LANES {
                    let GammaParts { z, digamma, ln_gamma, rising } = gamma_parts(gamma[l]);
                    let ln_z = ln_branchless(z);
                    theta[l] += w * (ln_z + digamma - digamma_of_total);
                    let spent = share[l] * (ln_branchless(before[l]) + t[l]);
                    bounds[l] += (z - 0.5) * ln_z + ln_gamma - spent;
                    product[l] *= rising;
                }
                log_theta[b] = theta;
            }
            for l in 0..LANES {
                bounds[l] -= ln_branchless(product[l]);
            }
        }
        // Beyond k, gamma is 1, its logarithm next to 0, and nothing is spent.
        let bounds: f64 = bounds.into_iter().sum();
        bounds - ln_gamma_of_total + sum_of_logs(&self.sums[..self.rows.len()])
    }

    /// Adds `w` times $\varphi$ to the rows of the object's labels in `by_cluster`.
    #[inline(always)]
    fn add_labels(&self, s: usize, w: f64, by_cluster: &mut [Lane]) {
        let (width, source) = (self.table.lanes, self.source());
        let (mut label, mut last) = (0, None);
        self.profiles.for_each_entry(
            s,
            #[inline(always)]
            |h, c, p| {
                // A soft member has several entries and one row of chances.
                label += usize::from(last.is_some_and(|last| last != h));
                last = Some(h);
                let (chances, factor) =
                    (&source[self.rows[label]..][..width], w * p / self.sums[label]);
                let sums = by_cluster[c * width..][..width].iter_mut();
                for (sum, (chance, e)) in sums.zip(chances.iter().zip(&self.e)) {
                    let mut next = *sum;
                    for l in 0..LANES {
                        next[l] += factor * (chance[l] * e[l]);
                    }
                    *sum = next;
                }
            },
        );
    }
}

/// The share of an object's membership that goes to other clusters.
#[inline(always)]
fn moved(before: &[f64], after: &[f64]) -> f64 {
    let (of_before, of_after) = (before.iter().sum::<f64>(), after.iter().sum::<f64>());
    let change = |(x, y): (&f64, &f64)| (x / of_before - y / of_after).abs();
    0.5 * before.iter().zip(after).map(change).sum::<f64>()
}

/// The sum of the logarithms: those of products, where none vanishes.
#[inline(always)]
fn sum_of_logs(values: &[f64]) -> f64 {
    /// Values multiplied in a lane before the logarithm.
    const TOGETHER: usize = 8;
    let mut sum = 0.0;
    for values in values.chunks(TOGETHER * LANES) {
        let (fours, rest) = values.as_chunks::<LANES>();
        let mut product = [1.0; LANES];
        for four in fours {
            for l in 0..LANES {
                product[l] *= four[l];
            }
        }
        for (product, x) in product.iter_mut().zip(rest) {
            *product *= x;
        }
        if product.iter().all(|product| (1e-300..1e300).contains(product)) {
            let mut logs = [0.0; LANES];
            for l in 0..LANES {
                logs[l] = ln_branchless(product[l]);
            }
            sum += total(logs);
        } else {
            sum += values.iter().map(|&x| ln_branchless(x)).sum::<f64>();
        }
    }
    sum
}

/// What $\alpha$ should make large, for a unit of weight.
fn alpha_objective(alpha: &[f64], mean: &[f64]) -> f64 {
    let terms = alpha.iter().zip(mean).map(|(&a, s)| (a - 1.0) * s - ln_gamma_branchless(a));
    ln_gamma_branchless(alpha.iter().sum()) + terms.sum::<f64>()
}

/// A few steps of Newton's method for $\alpha$, given the mean of $\ln \theta$ over the objects; the
/// Hessian is diagonal but for a constant, so a step is $O(k)$.
fn improve_alpha(alpha: &mut Vec<f64>, mean: &[f64]) {
    const STEPS: usize = 20;
    const HALVINGS: usize = 30;
    // A Dirichlet distribution over one cluster has no shape.
    if alpha.len() < 2 {
        return;
    }
    let mut height = alpha_objective(alpha, mean);
    for _ in 0..STEPS {
        let sum: f64 = alpha.iter().sum();
        let (psi, z) = (digamma_branchless(sum), trigamma(sum));
        let g: Vec<f64> =
            alpha.iter().zip(mean).map(|(&a, s)| s + psi - digamma_branchless(a)).collect();
        let d: Vec<f64> = alpha.iter().map(|&a| -trigamma(a)).collect();
        let b = g.iter().zip(&d).map(|(g, d)| g / d).sum::<f64>()
            / (1.0 / z + d.iter().map(|d| 1.0 / d).sum::<f64>());
        let step: Vec<f64> = g.iter().zip(&d).map(|(g, d)| (g - b) / d).collect();
        let mut length = 1.0;
        let mut better = None;
        for _ in 0..HALVINGS {
            let next: Vec<f64> = alpha.iter().zip(&step).map(|(a, x)| a - length * x).collect();
            if next.iter().all(|a| ALPHA.contains(a)) {
                let reached = alpha_objective(&next, mean);
                // Near the top rounding decides which of two heights is larger.
                if reached >= height - 1e-13 * (1.0 + height.abs()) {
                    better = Some((next, reached));
                    break;
                }
            }
            length /= 2.0;
        }
        let Some((next, reached)) = better else { return };
        // By the step and not by the height, which is flat near the top: the last digits of alpha
        // would be left to chance.
        let settled = step.iter().zip(&*alpha).all(|(x, a)| x.abs() <= 1e-10 * a);
        (*alpha, height) = (next, reached);
        if settled {
            return;
        }
    }
}

/// $\psi'(x)$ for $x > 0$: the recurrence up to 10, then the asymptotic series.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    // Bernoulli numbers 1/6, -1/30, 1/42, -1/30, 5/66.
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + 1.0 / x + y / 2.0 + y / x * series
}

#[cfg(test)]
mod tests;
