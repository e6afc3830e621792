//! RMSC: robust multi-view spectral clustering, of the members' transition matrices.
//!
//! R. Xia, Y. Pan, L. Du, J. Yin. *Robust Multi-View Spectral Clustering via Low-Rank and Sparse
//! Decomposition.* AAAI 2014; for ensembles as P. Zhou et al. (IJCAI 2015) use it.
//!
//! A member is a random walk: from an object to any in its cluster, $P_q = D_q^{-1} H_q H_q^T$. All
//! walks should be one walk $P$ of low rank but for sparse errors $E_q$,
//!
//! $$ \min \lVert P \rVert_* + \lambda \sum_q \lVert E_q \rVert_1 \quad \text{subject to} \quad
//!    P_q = P + E_q, \quad P \ge 0, \quad P \mathbf 1 = \mathbf 1, $$
//!
//! by an augmented Lagrangian with a copy $Q = P$ that carries the nuclear norm. A sweep sets
//!
//! * the rows of $P$ to the points of the simplex nearest to
//!   $[Q - Z / \mu + \sum_q (P_q - E_q - Y_q / \mu)] / (r + 1)$,
//! * $Q$ to $P + Z / \mu$ with its singular values less $1 / \mu$,
//! * $E_q$ to $P_q - P - Y_q / \mu$ less $\lambda / \mu$ in magnitude,
//! * $Y_q$ to $Y_q + \mu (P + E_q - P_q)$, $Z$ to $Z + \mu (P - Q)$, and $\mu$ to $\rho \mu$.
//!
//! In the end $P$ is made symmetric and clustered [spectrally](crate::base).
//!
//! # On profiles
//!
//! All matrices are constant on profiles if they start so, hence $u \times u$: rows are projected
//! with the weights, and singular values are those of $W^{1/2} (\cdot) W^{1/2}$. No $E_q$ is kept:
//! the new $Y_q$ is $\mu (P + Y_q / \mu - P_q)$ cut off at $\pm \lambda$, and $E_q$ follows from it.
//!
//! # Where we depart from the paper
//!
//! * *Start.* The authors draw $E_q$ at random; at 0 equal objects stay equal.
//! * *Schedule.* The authors' $\mu = 0.001$, $\rho = 1.9$ stops 3 to 5 % above the optimum; ours
//!   ($\mu = 0.01$, $\rho = 1.1$) within 0.02 %. `mu` and `rho` can be set to theirs.
//! * *Stop.* Both constraints are measured by the largest sum of magnitudes in a row over all
//!   objects, which does not fade as $n$ grows; the authors look at single entries of $P - Q$.
//! * *Symmetry.* $(P + P^T)/2$. The authors scale by the stationary distribution of $P$, which is not
//!   unique where members agree on clusters; `symmetry=stationary` does so with a jump to anywhere
//!   of probability 0.001.
//! * *Missing labels* (left open). An object that a member does not label stays where it is, or goes
//!   to its equals: to objects with just the same labels and gaps.
//!
//! # What to expect
//!
//! $\lambda$ weighs $r$ error terms against one nuclear norm, and errors are sums over pairs while
//! the nuclear norm is not: the same $\lambda$ asks for fewer errors as $r$ and $n$ grow.
//!
//! # Cost
//!
//! Time $O(u^3 + u^2 r)$ a sweep, some two hundred sweeps; memory $r + 12$ matrices of $u \times u$.
//! One decomposition cannot be interrupted.

use rayon::prelude::*;

use crate::base::SpectralParams;
use crate::consensus::driver::{Effort, Solver, Step, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{above, at_least, params, words};
use crate::ensemble::{MISSING, Profiles};
use crate::error::Result;
use crate::linalg::{Matrix, project_to_simplex, shrink_singular_values};
use crate::run::Run;

/// What there is to know about robust multi-view spectral clustering.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "rmsc",
    title: "robust multi-view spectral clustering: a low-rank random walk less each member's sparse errors",
    reference: "R. Xia, Y. Pan, L. Du, J. Yin. Robust Multi-View Spectral Clustering via Low-Rank and \
                Sparse Decomposition. AAAI 2014.",
    soft: OnSoft::Uses,
    missing: Some("where a member is silent, an object stays with its equals"),
    offers: Offers { affinity: true, ..Offers::LABELS },
    time: "O(t (u^3 + u^2 r))",
    memory: "O(u^2 r): r + 12 matrices of u x u",
    ..Rmsc::DECLARED
};

params! {
    /// [RMSC](self): robust multi-view spectral clustering: a low-rank random walk less each
    /// member's sparse errors.
    pub struct Rmsc(k): INFO {
        /// Weight of the members' errors against the rank.
        lambda: f64 = 0.05, above(0.0);
        /// First penalty of broken constraints (the authors': 0.001).
        mu: f64 = 0.01, above(0.0);
        /// Growth of the penalty; nearer to 1 is more exact and slower (the authors': 1.9).
        rho: f64 = 1.1, above(1.0);
        /// Largest number of sweeps.
        max_iter: usize = 300, at_least(1.0);
        /// Stop when the constraints hold up to this.
        tol: f64 = 1e-6, above(0.0);
        /// How the walk is made symmetric before the spectral clustering.
        symmetry: Symmetry = Symmetry::Mean;
        /// Starts of k-means in the final spectral clustering; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

/// The penalty grows no further than this.
const MAX_MU: f64 = 1e10;

/// The probability of a jump to anywhere that makes the stationary distribution unique.
const JUMP: f64 = 1e-3;

words! {
    /// How a walk is made symmetric.
    pub enum Symmetry {
        /// $(P + P^T) / 2$.
        Mean = "mean",
        /// $(\Pi^{1/2} P \Pi^{-1/2} + \Pi^{-1/2} P^T \Pi^{1/2}) / 2$ with the stationary distribution on
        /// the diagonal of $\Pi$.
        Stationary = "stationary",
    }
}

impl Rmsc {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }
}

impl ConsensusMethod for Rmsc {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, r) = (shape.u as u64, shape.r as u64);
        (r + 12) * 8 * u * u + 16 * u * r + 8 * u * shape.total_clusters as u64
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let effort = Effort { tol: self.tol, ..Effort::new(1, self.max_iter) };
        solve(&Learning { rmsc: self, profiles }, None, effort, run)
    }
}

/// The augmented Lagrangian method on certain profiles.
struct Learning<'a> {
    rmsc: &'a Rmsc,
    profiles: &'a Profiles,
}

/// The walk, the penalty of the next sweep, and how far the constraints were broken after each.
struct State<'a> {
    walk: Walk<'a>,
    mu: f64,
    residuals: Vec<f64>,
}

impl<'a> Solver for Learning<'a> {
    type State = State<'a>;
    const STAGE: &'static str = "learning the random walk";

    fn start(&self, _: usize, _: &Run) -> Result<State<'a>> {
        let walk = Walk::new(self.profiles, self.rmsc.lambda);
        Ok(State { walk, mu: self.rmsc.mu, residuals: Vec::new() })
    }

    fn step(&self, state: &mut State<'a>, run: &Run) -> Result<Step> {
        let (objective, residual) = state.walk.sweep(state.mu, run)?;
        state.residuals.push(residual);
        state.mu = (state.mu * self.rmsc.rho).min(MAX_MU);
        Ok(Step { objective, change: residual, moved: 1.0 })
    }

    fn finish(&self, state: State<'a>, run: &Run) -> Result<Consensus> {
        run.tick("spectral clustering", 0, None)?;
        let (noise, weights) = (state.walk.noise(), self.profiles.weights());
        let affinity = symmetric(&state.walk.p, weights, self.rmsc.symmetry);
        let fit = self.rmsc.spectral().check()?.fit_affinity(affinity.clone(), weights, run)?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        consensus.affinity = Some(affinity);
        consensus.diagnostics.push("noise", Value::Members(noise));
        consensus.diagnostics.push("residuals", Value::List(state.residuals));
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        Ok(consensus)
    }
}

/// The state of the augmented Lagrangian, over pairs of profiles.
struct Walk<'a> {
    members: Members<'a>,
    lambda: f64,
    p: Matrix,
    q: Matrix,
    z: Matrix,
    /// $\sum_q (P_q - E_q)$.
    explained: Matrix,
    /// $\sum_q Y_q$.
    y_sum: Matrix,
    /// Row by row of profiles, within that member by member.
    y: Vec<f64>,
    /// $\sum_{t} w_s w_t |E_q|_{st}$, one row per profile, one column per member.
    errors: Matrix,
}

impl<'a> Walk<'a> {
    /// All at nought, but for what the members say.
    fn new(profiles: &'a Profiles, lambda: f64) -> Self {
        let (u, r) = (profiles.len(), profiles.n_members());
        let members = Members::new(profiles);
        let mut explained = Matrix::zeros(u, u);
        let rows = explained.as_mut_slice().par_chunks_exact_mut(u).enumerate();
        rows.for_each_init(
            || vec![0.0; u],
            |own, (s, sum)| {
                for q in 0..r {
                    members.row(q, s, own);
                    sum.iter_mut().zip(&*own).for_each(|(sum, x)| *sum += x);
                }
            },
        );
        let zeros = || Matrix::zeros(u, u);
        Walk {
            members,
            lambda,
            p: zeros(),
            q: zeros(),
            z: zeros(),
            explained,
            y_sum: zeros(),
            y: vec![0.0; u * r * u],
            errors: Matrix::zeros(u, r),
        }
    }

    /// One sweep with penalty `mu`. Returns the objective and how far the constraints are broken.
    fn sweep(&mut self, mu: f64, run: &Run) -> Result<(f64, f64)> {
        self.project(mu);
        run.check()?;
        let nuclear = self.lower_rank(mu, run)?;
        run.check()?;
        let residual = self.separate(mu);
        let errors: f64 = self.errors.as_slice().iter().sum();
        Ok((nuclear + self.lambda * errors, residual))
    }

    /// $P$: rows on the simplex.
    fn project(&mut self, mu: f64) {
        let (u, r) = (self.p.nrows(), self.members.profiles.n_members());
        let weights = self.members.profiles.weights();
        let (q, z, explained, y_sum) = (&self.q, &self.z, &self.explained, &self.y_sum);
        let rows = self.p.as_mut_slice().par_chunks_exact_mut(u).enumerate();
        rows.for_each_init(Vec::new, |order, (s, row)| {
            let (q, z, explained, y) = (q.row(s), z.row(s), explained.row(s), y_sum.row(s));
            for t in 0..u {
                row[t] = (q[t] + explained[t] - (z[t] + y[t]) / mu) / (r + 1) as f64;
            }
            project_to_simplex(row, weights, order);
        });
    }

    /// $Q$: singular values less $1/\mu$. Returns their sum.
    fn lower_rank(&mut self, mu: f64, run: &Run) -> Result<f64> {
        let u = self.p.nrows();
        let roots: Vec<f64> =
            self.members.profiles.weights().iter().map(|weight| weight.sqrt()).collect();
        let mut x = self.p.clone();
        let rows = x.as_mut_slice().par_chunks_exact_mut(u).zip(self.z.as_slice().par_chunks(u));
        rows.zip(&roots).for_each(|((row, z), a)| {
            let row = row.iter_mut().zip(z).zip(&roots);
            row.for_each(|((x, z), b)| *x = a * b * (*x + z / mu));
        });
        let (mut low, nuclear) = shrink_singular_values(&x, 1.0 / mu, run)?;
        let rows = low.as_mut_slice().par_chunks_exact_mut(u).zip(&roots);
        rows.for_each(|(row, a)| row.iter_mut().zip(&roots).for_each(|(x, b)| *x /= a * b));
        self.q = low;
        Ok(nuclear)
    }

    /// $E_q$, $Y_q$ and $Z$. Returns how far the constraints are broken.
    fn separate(&mut self, mu: f64) -> f64 {
        let (u, r) = (self.p.nrows(), self.members.profiles.n_members());
        let (members, weights) = (&self.members, self.members.profiles.weights());
        let (p, q, lambda) = (&self.p, &self.q, self.lambda);
        let rows = self
            .y
            .par_chunks_exact_mut(r * u)
            .zip(self.explained.as_mut_slice().par_chunks_exact_mut(u))
            .zip(self.y_sum.as_mut_slice().par_chunks_exact_mut(u))
            .zip(self.z.as_mut_slice().par_chunks_exact_mut(u))
            .zip(self.errors.as_mut_slice().par_chunks_exact_mut(r))
            .enumerate();
        let residuals = rows.map_init(
            || vec![0.0; u],
            |own, (s, ((((y, explained), y_sum), z), errors))| {
                explained.fill(0.0);
                y_sum.fill(0.0);
                let (p, q) = (p.row(s), q.row(s));
                let mut worst = 0.0_f64;
                for (h, y) in y.chunks_exact_mut(u).enumerate() {
                    members.row(h, s, own);
                    let (mut broken, mut size) = (0.0, 0.0);
                    for t in 0..u {
                        let whole = own[t] - p[t] - y[t] / mu;
                        let next = (-mu * whole).clamp(-lambda, lambda);
                        let error = whole + next / mu;
                        // P_q - P - E_q is what Y_q moved by.
                        broken += weights[t] * (next - y[t]).abs();
                        size += weights[t] * error.abs();
                        explained[t] += own[t] - error;
                        y_sum[t] += next;
                        y[t] = next;
                    }
                    worst = worst.max(broken / mu);
                    errors[h] = weights[s] * size;
                }
                let mut broken = 0.0;
                for t in 0..u {
                    broken += weights[t] * (p[t] - q[t]).abs();
                    z[t] += mu * (p[t] - q[t]);
                }
                worst.max(broken)
            },
        );
        residuals.reduce(|| 0.0, f64::max)
    }

    /// $\lVert E_q \rVert_1$ of every member, over pairs of objects.
    fn noise(&self) -> Vec<f64> {
        (0..self.errors.ncols()).map(|q| self.errors.iter_rows().map(|row| row[q]).sum()).collect()
    }
}

/// The members' transition matrices, read off the labels.
struct Members<'a> {
    profiles: &'a Profiles,
    /// Of every hard member the cluster of every profile.
    labels: Vec<Option<Vec<u32>>>,
    /// Of every member the degree of every profile, 0 where it has no label.
    degrees: Vec<Vec<f64>>,
}

impl<'a> Members<'a> {
    fn new(profiles: &'a Profiles) -> Self {
        let sizes = profiles.cluster_weights();
        let of_all = |of: &dyn Fn(usize, usize) -> f64, h| {
            (0..profiles.len()).map(|s| of(s, h)).collect::<Vec<f64>>()
        };
        let degree = |s: usize, h: usize| {
            let mut sum = 0.0;
            profiles.for_each_entry_of(s, h, |c, p| sum += p * sizes[c]);
            sum
        };
        let label = |h: usize| {
            let code = |s| profiles.label(s, h).map_or(MISSING, |c| c as u32);
            profiles.members()[h].is_hard().then(|| (0..profiles.len()).map(code).collect())
        };
        let members = 0..profiles.n_members();
        Members {
            profiles,
            labels: members.clone().map(label).collect(),
            degrees: members.map(|h| of_all(&degree, h)).collect(),
        }
    }

    /// Writes row `s` of $P_h$ into `out`.
    fn row(&self, h: usize, s: usize, out: &mut [f64]) {
        let degree = self.degrees[h][s];
        if degree == 0.0 {
            out.fill(0.0);
            out[s] = 1.0 / self.profiles.weights()[s];
        } else if let Some(labels) = &self.labels[h] {
            let (own, share) = (labels[s], 1.0 / degree);
            let together = |label: u32| if label == own { share } else { 0.0 };
            out.iter_mut().zip(labels).for_each(|(x, &label)| *x = together(label));
        } else {
            let of = |t| self.profiles.memberships(t, h).expect("a soft member");
            let own = of(s);
            for (t, x) in out.iter_mut().enumerate() {
                *x = own.iter().zip(of(t)).map(|(a, b)| a * b).sum::<f64>() / degree;
            }
        }
    }
}

/// The walk `p` made symmetric.
fn symmetric(p: &Matrix, weights: &[f64], symmetry: Symmetry) -> Matrix {
    let u = weights.len();
    let scale = match symmetry {
        Symmetry::Mean => vec![1.0; u],
        Symmetry::Stationary => stationary(p, weights).iter().map(|x| x.sqrt()).collect(),
    };
    let entry = |s: usize, t: usize| scale[s] * p[(s, t)] / scale[t];
    Matrix::from_fn(u, u, |s, t| f64::midpoint(entry(s, t), entry(t, s)))
}

/// The stationary distribution of the walk `p` with jumps, as the probability of one object of each
/// profile.
fn stationary(p: &Matrix, weights: &[f64]) -> Vec<f64> {
    let even = 1.0 / weights.iter().sum::<f64>();
    let mut pi = vec![even; weights.len()];
    // The jumps make each step shrink the error by 1 - JUMP at least.
    for _ in 0..20_000 {
        let mut next = vec![JUMP * even; weights.len()];
        for (s, row) in p.iter_rows().enumerate() {
            let mass = (1.0 - JUMP) * weights[s] * pi[s];
            next.iter_mut().zip(row).for_each(|(x, p)| *x += mass * p);
        }
        let moved: f64 = (0..pi.len()).map(|s| weights[s] * (next[s] - pi[s]).abs()).sum();
        pi = next;
        if moved < 1e-13 {
            break;
        }
    }
    pi
}

#[cfg(test)]
mod tests;
