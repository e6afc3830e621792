//! NMFC: consensus by nonnegative matrix factorisation.
//!
//! T. Li, C. Ding, M. I. Jordan. *Solving Consensus and Semi-supervised Clustering Problems Using
//! Nonnegative Matrix Factorization.* ICDM 2007; with weights: T. Li, C. Ding. *Weighted Consensus
//! Clustering.* SDM 2008.
//!
//! The co-association matrix $S = \frac 1 r \sum_q A^{(q)}$ is to be the product of a soft
//! clustering with itself:
//!
//! $$ \min \lVert S - Q D Q^T \rVert^2, \qquad Q \ge 0 \; (n \times k), \quad Q^T Q = I, \quad
//!    D \ge 0 \text{ diagonal}, $$
//!
//! by the multiplicative rules
//!
//! $$ Q \leftarrow Q \circ \sqrt{\frac{S Q D}{Q Q^T S Q D}}, \qquad
//!    D \leftarrow D \circ \sqrt{\frac{Q^T S Q}{Q^T Q D Q^T Q}}. $$
//!
//! A diagonal $D$ stays diagonal and cancels in the first rule. An object belongs to the column in
//! which its entry of $Q$ is largest.
//!
//! `weighted` also learns a weight $a_q$ of every member, $S = \sum_q a_q A^{(q)}$ with $a$ on the
//! simplex: every twenty steps $a$ becomes the minimiser of $a^T \Gamma a - 2 f^T a$, where
//! $\Gamma_{st} = \lVert H_s^T W H_t \rVert^2$ and $f_q = \operatorname{tr}(D X_q^T X_q)$ with
//! $X_q = H_q^T W Q$.
//!
//! # On profiles
//!
//! Equal objects have equal rows in $Q$ as they start equal. With $X = H^T W Q$, one group sum,
//! $S Q = H X / r$ and $Q^T S Q = X^T X / r$; nothing of order $n^2$ or $u^2$ is formed.
//!
//! # The objective is not monotone
//!
//! The rule for $Q$ treats the constraint $Q^T Q = I$ by a multiplier that is exact only where the
//! constraint holds, and it never quite does. In two hundred steps from our start the objective rose
//! in more than half, by up to 4.5 % in one. So the trace may rise, and the computation stops when
//! labels have stood still for twenty steps.
//!
//! # Where we depart from the papers
//!
//! * *Start.* From k-means on the rows of $S$, or on those of $H$ if the objective is less there (the
//!   former splits large clusters): $Q$ is its indicator plus 0.05, columns scaled to unit length; an
//!   exact 0 would never move. The papers leave the start open. `init=random`
//!   starts at random instead and keeps the start whose partition $Y$ has the least
//!   $\lVert S - Y Y^T \rVert^2$; give it more iterations.
//! * *Starts on a sample.* Of more than 4,096 profiles (20 a cluster, if that is more; and unless a
//!   few have nearly all the weight) a systematic sample of as many by weight is clustered by k-means
//!   and followed until labels stand still or for seven eighths of `max_iter`; then all, until a step
//!   changes the labels of at most a thousandth of the objects or for an eighth of `max_iter`. A row of
//!   $Q$ begins about where the rule leaves it alone, given the sample's $X$ and $X^T X$, and once more
//!   given those of all. Not with `weighted`: weights would learn the sample's noise.
//! * *Missing labels.* An object that a member does not label is together with none there.
//!
//! # Cost
//!
//! Time $O(t u (r k + k^2))$ for $t$ steps and that of k-means on the rows of $S$, $O(u r^2 +
//! t' (u r k + K^2 k))$; memory $O(K^2 + u k + K k)$.

mod rule;

use rayon::prelude::*;

use self::rule::{LANES, TINY, add_square, apply_rule, padded, settle};
use crate::base::{Effort, FITS_HELD, RowKMeans, Rows, best_of_restarts};
use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Stop, Value};
use crate::consensus::params::{at_least, params, words};
use crate::ensemble::{MISSING, Profiles, argmax, drawn_for};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, minimise_on_simplex, product};
use crate::rng::Stream;
use crate::run::Run;

/// What there is to know about consensus by nonnegative matrix factorisation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "nmfc",
    title: "nonnegative matrix factorisation of the co-association matrix, with equal or learned weights of members",
    reference: "T. Li, C. Ding, M. I. Jordan. Solving Consensus and Semi-supervised Clustering Problems \
                Using Nonnegative Matrix Factorization. ICDM 2007. T. Li, C. Ding. Weighted Consensus \
                Clustering. SDM 2008.",
    chooses_k: ChoosesK::Never,
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    takes_start: true,
    offers: Offers::MEMBERSHIP,
    parameters: Nmfc::PARAMETERS,
    time: "O(u r^2 + t u (r k + k^2) + t' (u r k + K^2 k))",
    memory: "O(K^2 + u k + K k)",
    build: Nmfc::of,
};

params! {
    /// [NMFC](self): nonnegative matrix factorisation of the co-association matrix, with equal or
    /// learned weights of members.
    pub struct Nmfc(k): INFO {
        /// Learn a weight of every member.
        weighted: bool = false;
        /// Start from k-means on the rows of the co-association matrix (of labels if that fits
        /// better), or at random.
        init: NmfcInit = NmfcInit::ConsensusRows;
        /// Starts of that k-means, or random starts; the best is kept.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of steps; random starts want 500.
        max_iter: usize = 200, at_least(1.0);
    }
}

/// What an object's entry in another cluster than its own starts with, against 1 in its own.
const BLUR: f64 = 0.05;

/// All profiles take part in every step; above, first a sample of so many.
const STARTED: usize = 4096;

/// One step in so many is kept for all profiles.
const LAST: usize = 8;

/// Turns over the entries of a row that is to begin where the rule leaves it alone: given the sums of a
/// sample, then those over all.
const SETTLING: [usize; 2] = [1, 4];

/// The most iterations of the k-means at the start.
const ROUNDS: usize = 300;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 512;

words! {
    /// Where NMFC starts.
    pub enum NmfcInit {
        /// From k-means on the rows of the co-association matrix, or of those of labels if that fits better.
        ConsensusRows = "kc",
        /// At random.
        Random = "random",
    }
}

impl ConsensusMethod for Nmfc {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, all, k) = (shape.u as u64, shape.total_clusters as u64, self.k as u64);
        let start = match self.init {
            NmfcInit::ConsensusRows => {
                RowKMeans::cost(Rows::Coassociation, shape.u, shape.total_clusters, self.k)
            }
            NmfcInit::Random => 8 * FITS_HELD * (4 * u * k + 20 * all * k),
        };
        start + 8 * (all * all + 6 * u * k + 20 * all * k)
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let p = self;
        run.check()?;
        let problem = Problem::new(profiles, p.k);
        let won = match (start, p.init) {
            (Some(labels), _) => {
                check_start(labels, p.k)?;
                self.descend(&problem, &problem.blurred(labels), run)?
            }
            (None, NmfcInit::ConsensusRows) => match drawn_for(p.k, profiles, STARTED) {
                Some(part) if !p.weighted => self.descend_by_sample(&problem, part, run)?,
                _ => self.descend(&problem, &self.kmeans(&problem, run)?, run)?,
            },
            (None, NmfcInit::Random) => {
                let descend = |i: usize| {
                    let mut rng = run.rng(Stream::Restart(i as u64));
                    // An exact 0 would stay 0 for ever.
                    let drawn = (0..profiles.len() * p.k).map(|_| rng.unit() + 1e-3).collect();
                    let drawn = Matrix::from_vec(profiles.len(), p.k, drawn);
                    let found = self.descend(&problem, &drawn, run)?;
                    Ok((-problem.misfit(&found.labels, &found.state.a), found))
                };
                let of = |found: &(f64, Descent)| found.0;
                best_of_restarts("factorising", p.restarts, run, descend, of)?.0.1
            }
        };
        let membership = won.state.memberships(p.k);
        let mut consensus = Consensus::from_labels(won.labels, p.k);
        consensus.membership = Some(membership);
        consensus.convergence = Convergence {
            objective: won.trace.last().copied(),
            iterations: won.trace.len(),
            trace: won.trace,
            stop: won.stop,
        };
        consensus.diagnostics.push("weights", Value::Members(won.state.a));
        Ok(consensus)
    }
}

fn check_start(labels: &[u32], k: usize) -> Result<()> {
    match labels.iter().filter(|&&label| label != MISSING).max() {
        Some(&most) if most as usize >= k => Err(Error::Unsupported {
            method: INFO.name,
            what: format!("a start with {} clusters for k = {k}", most + 1),
            hint: "start from a clustering with at most k clusters".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// One start followed to its end.
struct Descent {
    state: State,
    labels: Vec<u32>,
    trace: Vec<f64>,
    stop: Stop,
}

impl Nmfc {
    /// $Q$ from k-means on the rows of $S$, or of $H$ if that fits $S$ better.
    fn kmeans(&self, problem: &Problem<'_>, run: &Run) -> Result<Matrix> {
        run.tick("k-means on the consensus matrix", 0, None)?;
        let (p, profiles) = (self, problem.profiles);
        let effort = Effort { restarts: p.restarts, max_iter: ROUNDS };
        let fitted = |rows: Rows| -> Result<(f64, Matrix)> {
            let kmeans = RowKMeans::new(profiles, rows, p.k.min(profiles.len()));
            let q = problem.blurred(&kmeans.fit(None, effort, run)?.0.labels);
            Ok((problem.objective(&problem.start(&q)), q))
        };
        let (of_matrix, of_labels) = (fitted(Rows::Coassociation)?, fitted(Rows::Labels)?);
        Ok(if of_labels.0 < of_matrix.0 { of_labels.1 } else { of_matrix.1 })
    }

    /// Follows `q` to its end.
    fn descend(&self, problem: &Problem<'_>, q: &Matrix, run: &Run) -> Result<Descent> {
        self.descend_for(problem, problem.start(q), self.max_iter, Still::ALL, run)
    }

    /// Starts and follows a sample, then all.
    fn descend_by_sample(
        &self,
        problem: &Problem<'_>,
        (rows, weights): (Vec<u32>, Vec<f64>),
        run: &Run,
    ) -> Result<Descent> {
        let (k, max_iter) = (self.k, self.max_iter);
        let some = problem.profiles.selected(&rows, weights);
        let of_some = Problem::new(&some, k);
        let q = self.kmeans(&of_some, run)?;
        let last = max_iter.div_ceil(LAST);
        let start = of_some.start(&q);
        let found = self.descend_for(&of_some, start, max_iter - last, Still::ALL, run)?;
        let start = problem.extended(found.state);
        let end = self.descend_for(problem, start, last, Still::NEARLY_ALL, run)?;
        let stop = if found.stop == Stop::Converged { end.stop } else { found.stop };
        Ok(Descent { stop, ..end })
    }

    /// Follows `state` until labels stand still, for at most `max_iter` steps.
    fn descend_for(
        &self,
        problem: &Problem<'_>,
        mut state: State,
        max_iter: usize,
        enough: Still,
        run: &Run,
    ) -> Result<Descent> {
        let (p, weights) = (self, problem.profiles.weights());
        let may_change = enough.share * problem.profiles.total_weight();
        let mut labels = state.labels(p.k);
        let mut trace = Vec::new();
        let (mut still, mut weighed) = (0, !p.weighted);
        for step in 1..=max_iter {
            run.tick("factorising", step as u64, Some(max_iter as u64))?;
            problem.step(&mut state);
            if p.weighted && step % enough.steps == 0 {
                weighed = problem.weigh(&mut state) < 1e-6;
            }
            trace.push(problem.objective(&state));
            let now = state.labels(p.k);
            let changed = now.iter().zip(&labels).zip(weights).filter(|((now, was), _)| now != was);
            let changed: f64 = changed.map(|(_, w)| w).sum();
            still = if changed <= may_change { still + 1 } else { 0 };
            labels = now;
            if still >= enough.steps && weighed {
                return Ok(Descent { state, labels, trace, stop: Stop::Converged });
            }
        }
        Ok(Descent { state, labels, trace, stop: Stop::MaxIterations })
    }
}

/// When labels have stood still for long enough.
#[derive(Clone, Copy, Debug)]
struct Still {
    /// For so many steps; after so many weights are learned anew.
    steps: usize,
    /// But for this share of the objects.
    share: f64,
}

impl Still {
    const ALL: Self = Still { steps: 20, share: 0.0 };
    /// Where a sample has gone before.
    const NEARLY_ALL: Self = Still { steps: 1, share: 1e-3 };
}

/// What a step changes.
struct State {
    /// $Q$, a row a profile, padded to whole lanes with zeros.
    q: Vec<f64>,
    /// The diagonal of $D$.
    d: Vec<f64>,
    /// The weights of the members.
    a: Vec<f64>,
    /// $X = H^T W Q$.
    x: Matrix,
    /// $Q^T W S W Q = X^T \operatorname{diag}(a) X$.
    c: Matrix,
    /// $B = Q^T W Q$.
    b: Matrix,
}

impl State {
    fn labels(&self, k: usize) -> Vec<u32> {
        let label = |row: &[f64]| argmax(&row[..k]).expect("k is at least 1") as u32;
        let rows = self.q.par_chunks_exact(k.next_multiple_of(LANES));
        rows.with_min_len(1024).map(label).collect()
    }

    /// $Q$ with rows of sum 1.
    fn memberships(&self, k: usize) -> Matrix {
        let stride = k.next_multiple_of(LANES);
        let mut memberships = Matrix::zeros(self.q.len() / stride, k);
        let rows = memberships.as_mut_slice().par_chunks_exact_mut(k).with_min_len(CHUNK);
        rows.zip(self.q.par_chunks_exact(stride)).for_each(|(shares, row)| {
            let sum: f64 = row[..k].iter().sum();
            let even = 1.0 / k as f64;
            for (share, x) in shares.iter_mut().zip(row) {
                *share = if sum > 0.0 { x / sum } else { even };
            }
        });
        memberships
    }
}

/// What is done to the rows of $Q$, given the table $\operatorname{diag}(a) X$ and the padded $C$.
#[derive(Clone, Copy, Debug)]
enum Rule<'a> {
    None,
    /// The rule of the papers.
    Printed {
        table: &'a Matrix,
        c: &'a [f64],
    },
    /// A few turns towards where that rule leaves a row alone.
    Settled {
        table: &'a Matrix,
        c: &'a [f64],
        inverse: &'a [f64],
        turns: usize,
    },
}

/// What a step only reads.
struct Problem<'a> {
    profiles: &'a Profiles,
    k: usize,
    /// $\Gamma$.
    gamma: Matrix,
}

impl<'a> Problem<'a> {
    fn new(profiles: &'a Profiles, k: usize) -> Self {
        let gamma = profiles.connective_products(&profiles.gram(profiles.weights()));
        Problem { profiles, k, gamma }
    }

    /// The indicator of `labels`, blurred, with columns of unit length.
    fn blurred(&self, labels: &[u32]) -> Matrix {
        let mut q = Matrix::zeros(labels.len(), self.k);
        let mut squares = vec![0.0; self.k];
        for (s, (&label, w)) in labels.iter().zip(self.profiles.weights()).enumerate() {
            for (j, x) in q.row_mut(s).iter_mut().enumerate() {
                *x = BLUR + f64::from(u8::from(label as usize == j));
                squares[j] += w * *x * *x;
            }
        }
        let lengths: Vec<f64> = squares.iter().map(|square| square.sqrt()).collect();
        for s in 0..labels.len() {
            q.row_mut(s).iter_mut().zip(&lengths).for_each(|(x, length)| *x /= length);
        }
        q
    }

    fn start(&self, q: &Matrix) -> State {
        let r = self.profiles.n_members();
        let a = vec![1.0 / r as f64; r];
        let empty = || Matrix::zeros(0, 0);
        let mut state = State { q: padded(q), d: vec![], a, x: empty(), c: empty(), b: empty() };
        self.refresh(&mut state, Rule::None);
        state.d = (0..self.k).map(|j| state.c[(j, j)]).collect();
        state
    }

    /// A state of all profiles from that of a sample: twice every row is brought near to where the rule
    /// for $Q$ would leave it alone, given the sums of the sample, then those over all.
    fn extended(&self, of_sample: State) -> State {
        let stride = self.k.next_multiple_of(LANES);
        let mut state = State { q: vec![0.0; self.profiles.len() * stride], ..of_sample };
        // A fresh page that is read before it is written costs a fault more, and stops all threads.
        state.q.par_chunks_mut(CHUNK * stride).for_each(|rows| rows.fill(0.0));
        for turns in SETTLING {
            let table = self.scaled(&state.x, &state.a);
            let c = padded(&state.c);
            let inverse: Vec<f64> =
                (0..self.k).map(|j| 1.0 / state.c[(j, j)].max(f64::MIN_POSITIVE)).collect();
            self.refresh(
                &mut state,
                Rule::Settled { table: &table, c: &c, inverse: &inverse, turns },
            );
        }
        state
    }

    /// $X$, $C$ and $B$ from $Q$, to which a rule is applied first.
    fn refresh(&self, state: &mut State, rule: Rule<'_>) {
        let (k, weights) = (self.k, self.profiles.weights());
        let stride = k.next_multiple_of(LANES);
        let none = Matrix::zeros(self.profiles.n_clusters(), k);
        let table = match rule {
            Rule::None => &none,
            Rule::Printed { table, .. } | Rule::Settled { table, .. } => table,
        };
        let (x, b) = self.profiles.answered_sums_with(
            (table, &vec![0.0; k]),
            &mut state.q,
            k * stride,
            #[inline(always)]
            |s, q, row, b| {
                match rule {
                    Rule::None => row.copy_from_slice(q),
                    Rule::Printed { c, .. } => apply_rule(q, row, c),
                    Rule::Settled { c, inverse, turns, .. } => {
                        settle(&mut q[..k], row, c, inverse, turns);
                        row.copy_from_slice(q);
                    }
                }
                add_square(b, weights[s], q);
                weights[s]
            },
        );
        state.x = x;
        let b = b.chunks_exact(stride).flat_map(|row| &row[..k]).copied().collect();
        state.b = Matrix::from_vec(k, k, b);
        self.reweigh(state);
    }

    /// $C$ from $X$ and $a$.
    fn reweigh(&self, state: &mut State) {
        let scaled = self.scaled(&state.x, &state.a);
        state.c = product(state.x.as_faer().transpose(), scaled.as_faer());
    }

    /// $\operatorname{diag}(a) X$, each cluster with its member's weight.
    fn scaled(&self, x: &Matrix, a: &[f64]) -> Matrix {
        let mut scaled = x.clone();
        for (member, a) in self.profiles.members().iter().zip(a) {
            for c in member.clusters.clone() {
                scaled.row_mut(c).iter_mut().for_each(|x| *x *= a);
            }
        }
        scaled
    }

    /// One application of both rules.
    fn step(&self, state: &mut State) {
        let k = self.k;
        let table = self.scaled(&state.x, &state.a);
        let c = padded(&state.c);
        self.refresh(state, Rule::Printed { table: &table, c: &c });
        let (b, d) = (&state.b, &state.d);
        let spread = |j: usize| (0..k).map(|l| b[(j, l)].powi(2) * d[l]).sum::<f64>();
        state.d = (0..k).map(|j| d[j] * (state.c[(j, j)] / (spread(j) + TINY)).sqrt()).collect();
    }

    /// The weights that suit the factors best; returns the largest change.
    fn weigh(&self, state: &mut State) -> f64 {
        let (x, d) = (&state.x, &state.d);
        let fit = |member: &crate::ensemble::ProfileMember| -> f64 {
            let of = |c: usize| x.row(c).iter().zip(d).map(|(x, d)| d * x * x).sum::<f64>();
            member.clusters.clone().map(of).sum()
        };
        let fits: Vec<f64> = self.profiles.members().iter().map(fit).collect();
        let mut next = state.a.clone();
        minimise_on_simplex(&self.gamma, &fits, &mut next);
        let change = next.iter().zip(&state.a).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        state.a = next;
        self.reweigh(state);
        change
    }

    /// $\lVert S \rVert^2 = a^T \Gamma a$.
    fn square(&self, a: &[f64]) -> f64 {
        let dot = |row: &[f64]| row.iter().zip(a).map(|(x, y)| x * y).sum::<f64>();
        self.gamma.iter_rows().zip(a).map(|(row, a)| a * dot(row)).sum()
    }

    /// $\lVert S - Q D Q^T \rVert^2$ over pairs of objects.
    fn objective(&self, state: &State) -> f64 {
        let (b, c, d) = (&state.b, &state.c, &state.d);
        let mut value = self.square(&state.a);
        for j in 0..self.k {
            value -= 2.0 * d[j] * c[(j, j)];
            value += (0..self.k).map(|l| d[j] * d[l] * b[(j, l)].powi(2)).sum::<f64>();
        }
        value
    }

    /// $\lVert S - Y Y^T \rVert^2$ of a hard clustering $Y$.
    fn misfit(&self, labels: &[u32], a: &[f64]) -> f64 {
        let y = Matrix::from_fn(labels.len(), self.k, |s, j| {
            f64::from(u8::from(labels[s] as usize == j))
        });
        let x = self.profiles.group_sums(&y, self.profiles.weights());
        let mut sizes = vec![0.0; self.k];
        for (&label, w) in labels.iter().zip(self.profiles.weights()) {
            sizes[label as usize] += w;
        }
        let mut value = self.square(a) + sizes.iter().map(|n| n * n).sum::<f64>();
        for (member, a) in self.profiles.members().iter().zip(a) {
            let of = |c: usize| x.row(c).iter().map(|x| x * x).sum::<f64>();
            value -= 2.0 * a * member.clusters.clone().map(of).sum::<f64>();
        }
        value
    }
}

#[cfg(test)]
mod tests;
