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
//! * *Starts on a sample*, as for all methods here, go on with rows of $Q$ about where the rule leaves them
//!   alone, given the sample's $X$ and $X^T X$, and once more given those of all. Not with `weighted`:
//!   weights would learn the sample's noise.
//! * *Missing labels.* An object that a member does not label is together with none there.
//!
//! # Cost
//!
//! Time $O(t u (r k + k^2))$ for $t$ steps and that of k-means on the rows of $S$, $O(u r^2 +
//! t' (u r k + K^2 k))$; memory $O(K^2 + u k + K k)$.

// The rule for a row is compiled for the machine's wide registers only where it is inlined into the closure
// that `vectorised` runs.
#![allow(clippy::inline_always)]

use rayon::prelude::*;

use crate::consensus::driver::{Effort, SAMPLE, STATES_HELD, Solver, Step, sample, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params, words};
use crate::consensus::row_kmeans::{RowKMeans, Rows};
use crate::ensemble::{Profiles, argmax};
use crate::error::Result;
use crate::linalg::lanes::{LANES, Wide, add_scaled};
use crate::linalg::{Matrix, minimise_on_simplex, product, unrolled};
use crate::rng::Stream;
use crate::run::Run;

/// What there is to know about consensus by nonnegative matrix factorisation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "nmfc",
    title: "nonnegative matrix factorisation of the co-association matrix, with equal or learned weights of members",
    reference: "T. Li, C. Ding, M. I. Jordan. Solving Consensus and Semi-supervised Clustering Problems \
                Using Nonnegative Matrix Factorization. ICDM 2007. T. Li, C. Ding. Weighted Consensus \
                Clustering. SDM 2008.",
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    takes_start: true,
    offers: Offers::MEMBERSHIP,
    time: "O(u r^2 + t u (r k + k^2) + t' (u r k + K^2 k))",
    memory: "O(K^2 + u k + K k)",
    ..Nmfc::DECLARED
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
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
    }
}

/// What an object's entry in another cluster than its own starts with, against 1 in its own.
const BLUR: f64 = 0.05;

/// Labels must have stood still for so many steps; after so many, weights are learned anew.
const STILL: usize = 20;

/// Turns over the entries of a row that is to begin where the rule leaves it alone: given the sums of a
/// sample, then those over all.
const SETTLING: [usize; 2] = [1, 4];

/// The most iterations of the k-means at the start.
const ROUNDS: usize = 300;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 512;

/// After a sample a row of $Q$ ends with at least this share of its largest entry.
const FAINT: f64 = 1e-4;

/// Keeps denominators from 0.
const TINY: f64 = 1e-16;

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
            NmfcInit::Random => 8 * STATES_HELD * (4 * u * k + 20 * all * k),
        };
        start + 8 * (all * all + 6 * u * k + 20 * all * k)
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let p = self;
        run.check()?;
        let some =
            if start.is_some() || p.weighted { None } else { sample(profiles, p.k, p.sample) };
        let of_some = some.as_ref().map(|some| Problem::new(some, p, None));
        // The starts from k-means are those of k-means.
        let restarts = if start.is_some() || p.init != NmfcInit::Random { 1 } else { p.restarts };
        let effort = Effort::new(restarts, p.max_iter);
        let all = Problem::new(profiles, p, start);
        solve(&all, of_some.as_ref().zip(some.as_ref()), effort, run)
    }
}

/// What a step changes.
struct State {
    /// $Q$, a row per profile, padded to whole lanes with zeros.
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
    labels: Vec<u32>,
    steps: usize,
    /// Steps since a label or a weight changed.
    still: usize,
    weighed: bool,
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
    params: &'a Nmfc,
    k: usize,
    start: Option<&'a [u32]>,
    /// $\Gamma$.
    gamma: Matrix,
}

impl Solver for Problem<'_> {
    type State = State;
    const STAGE: &'static str = "factorising";

    fn start(&self, restart: usize, run: &Run) -> Result<State> {
        let q = match (self.start, self.params.init) {
            (Some(labels), _) => self.blurred(labels),
            (None, NmfcInit::ConsensusRows) => self.kmeans(run)?,
            (None, NmfcInit::Random) => {
                let (u, mut rng) = (self.profiles.len(), run.rng(Stream::Restart(restart as u64)));
                // An exact 0 would stay 0 for ever.
                Matrix::from_vec(u, self.k, (0..u * self.k).map(|_| rng.unit() + 1e-3).collect())
            }
        };
        Ok(self.begun(&q))
    }

    fn step(&self, state: &mut State, _: &Run) -> Result<Step> {
        self.apply_rules(state);
        state.steps += 1;
        if self.params.weighted && state.steps.is_multiple_of(STILL) {
            state.weighed = self.weigh(state) < 1e-6;
        }
        let now = state.labels(self.k);
        let pairs = now.iter().zip(&state.labels).zip(self.profiles.weights());
        let moved: f64 = pairs.filter(|((now, was), _)| now != was).map(|(_, w)| w).sum();
        state.labels = now;
        state.still = if moved > 0.0 { 0 } else { state.still + 1 };
        let settled = state.still >= STILL && state.weighed;
        let moved = moved / self.profiles.total_weight();
        let change = if settled { 0.0 } else { f64::INFINITY };
        Ok(Step { objective: self.objective(state), change, moved })
    }

    fn score(&self, state: &State, _: f64) -> f64 {
        -self.misfit(&state.labels, &state.a)
    }

    fn extend(&self, _: &Self, state: State, _: &Run) -> Result<State> {
        Ok(self.extended(state))
    }

    fn finish(&self, state: State, _: &Run) -> Result<Consensus> {
        let membership = state.memberships(self.k);
        let mut consensus = Consensus::from_labels(state.labels, self.k);
        consensus.membership = Some(membership);
        consensus.diagnostics.push("weights", Value::Members(state.a));
        Ok(consensus)
    }
}

impl<'a> Problem<'a> {
    fn new(profiles: &'a Profiles, params: &'a Nmfc, start: Option<&'a [u32]>) -> Self {
        let gamma = profiles.connective_products(&profiles.gram(profiles.weights()));
        Problem { profiles, params, k: params.k, start, gamma }
    }

    /// $Q$ from k-means on the rows of $S$, or of $H$ if that fits $S$ better.
    fn kmeans(&self, run: &Run) -> Result<Matrix> {
        let effort = Effort::new(self.params.restarts, ROUNDS);
        let fitted = |rows: Rows| -> Result<(f64, Matrix)> {
            let kmeans = RowKMeans::new(self.profiles, rows, self.k.min(self.profiles.len()), None);
            let q = self.blurred(&kmeans.fit(self.params.sample, effort, run)?.labels);
            Ok((self.objective(&self.begun(&q)), q))
        };
        let (of_matrix, of_labels) = (fitted(Rows::Coassociation)?, fitted(Rows::Labels)?);
        Ok(if of_labels.0 < of_matrix.0 { of_labels.1 } else { of_matrix.1 })
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

    /// The state at $Q$.
    fn begun(&self, q: &Matrix) -> State {
        let r = self.profiles.n_members();
        let empty = || Matrix::zeros(0, 0);
        let mut state = State {
            q: padded(q),
            d: vec![],
            a: vec![1.0 / r as f64; r],
            x: empty(),
            c: empty(),
            b: empty(),
            labels: vec![],
            steps: 0,
            still: 0,
            weighed: !self.params.weighted,
        };
        self.refresh(&mut state, Rule::None);
        state.d = (0..self.k).map(|j| state.c[(j, j)]).collect();
        state.labels = state.labels(self.k);
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
        state.labels = state.labels(self.k);
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
        let (x, b) = self.profiles.answered_sums(
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
    fn apply_rules(&self, state: &mut State) {
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

/// The rows of a matrix, padded to whole lanes.
fn padded(matrix: &Matrix) -> Vec<f64> {
    Wide::new(matrix).values.as_slice().to_vec()
}

/// Brings the row $q$ to where the rule leaves it alone, $(S Q)_j = (q C)_j$ or $q_j = 0$, by at most so many
/// `turns` of coordinate descent over its entries; such an end is the minimum of $\tfrac12 q C q^T -
/// q (S Q)^T$ over $q \ge 0$. The row of $S Q$ is given as `rest` and becomes what $q C$ leaves of it;
/// `inverse` holds $1 / C_{jj}$. An exact 0 would never move again, so entries end above a small share
/// of the largest.
#[inline(always)]
fn settle(q: &mut [f64], rest: &mut [f64], c: &[f64], inverse: &[f64], turns: usize) {
    let (rest, c) = (rest.as_chunks_mut::<LANES>().0, c.as_chunks::<LANES>().0);
    let lanes = rest.len();
    let enough = 1e-3 * rest.as_flattened().iter().fold(0.0, |a: f64, &b| a.max(b));
    // The end has few entries that are not faint: the others begin at 0.
    let faint = 2.0 * FAINT * q.iter().fold(0.0, |a: f64, &b| a.max(b));
    for (x, row) in q.iter_mut().zip(c.chunks_exact(lanes)) {
        if *x <= faint {
            *x = 0.0;
        } else {
            add_scaled(rest, -*x, row);
        }
    }
    if faint == 0.0 {
        // The entry that alone gains most.
        let gain = |j: usize| rest.as_flattened()[j] * rest.as_flattened()[j] * inverse[j];
        let most = (1..q.len()).fold(0, |most, j| if gain(j) > gain(most) { j } else { most });
        q[most] = rest.as_flattened()[most] * inverse[most];
        add_scaled(rest, -q[most], &c[most * lanes..][..lanes]);
    }
    for _ in 0..turns {
        let mut largest = 0.0_f64;
        for (j, row) in c.chunks_exact(lanes).enumerate() {
            let change = (rest.as_flattened()[j] * inverse[j]).max(-q[j]);
            // Most entries are 0 and stay so.
            if change != 0.0 {
                q[j] += change;
                largest = largest.max((change * row.as_flattened()[j]).abs());
                add_scaled(rest, -change, row);
            }
        }
        if largest <= enough {
            break;
        }
    }
    let least = FAINT * q.iter().fold(TINY, |a, &b| a.max(b));
    q.iter_mut().for_each(|x| *x = x.max(least));
}

/// The rule for one row of $Q$, given its row of $S Q$ as `next`, which becomes the new row too. `c` is
/// padded.
#[inline(always)]
fn apply_rule(q: &mut [f64], next: &mut [f64], c: &[f64]) {
    let (q, next) = (q.as_chunks_mut::<LANES>().0, next.as_chunks_mut::<LANES>().0);
    let (c, lanes) = (c.as_chunks::<LANES>().0, q.len());
    for (at, (next, own)) in next.iter_mut().zip(&*q).enumerate() {
        let mut image = [TINY; LANES];
        for (x, c) in q.as_flattened().iter().zip(c.chunks_exact(lanes)) {
            for l in 0..LANES {
                image[l] += x * c[at][l];
            }
        }
        for l in 0..LANES {
            next[l] = own[l] * (next[l] / image[l]).sqrt();
        }
    }
    q.copy_from_slice(next);
}

/// Adds `w` $q^T q$, whose rows are padded, to `sums`.
#[inline(always)]
fn add_square(sums: &mut [f64], w: f64, q: &[f64]) {
    let (q, sums) = (q.as_chunks::<LANES>().0, sums.as_chunks_mut::<LANES>().0);
    unrolled!(q.len(), width => {
        for (x, sums) in q.as_flattened().iter().zip(sums.chunks_exact_mut(width)) {
            add_scaled(sums, w * x, &q[..width]);
        }
    });
}

#[cfg(test)]
mod tests;
