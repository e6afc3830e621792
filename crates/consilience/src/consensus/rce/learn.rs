//! Algorithm 1 on profiles: the consensus matrix and one iteration of its descent.
//!
//! Let $\tilde A = Z B Z^T$ be constant on profiles ($Z$ maps objects to profiles, $W$ holds their
//! weights) and $X = W^{1/2} B W^{1/2}$. On the span of $Z W^{-1/2}$, which is orthonormal,
//! $\tilde A \tilde A^T$ acts as $X X^T$, elsewhere as nought, so
//!
//! $$ S^{-1} = (\tilde A \tilde A^T + \mu I)^{-1/2} = Z R Z^T + \mu^{-1/2} I, \qquad
//!    R = W^{-1/2} [ (X X^T + \mu I)^{-1/2} - \mu^{-1/2} I ] W^{-1/2} . $$
//!
//! $R$ is negative semidefinite while $S^{-1}_{pp} > 0$: within a profile the entries off the diagonal
//! belong to $D^-$ and those on it to $D^+$,
//!
//! $$ (D^+ \tilde A)_{st} = \lambda_2 \Bigl[ \sum_{s' \ne s} w_{s'} R^+_{ss'} B_{s't} +
//!    (R_{ss} + \mu^{-1/2}) B_{st} \Bigr], \qquad
//!    (D^- \tilde A)_{st} = \lambda_2 \Bigl[ \sum_{s' \ne s} w_{s'} R^-_{ss'} B_{s't} -
//!    (w_s - 1) R_{ss} B_{st} \Bigr] , $$
//!
//! which depend on profiles only, and $\tilde A$ stays constant on them. A profile lighter than one
//! object keeps all of $w_s R_{ss} + \mu^{-1/2} > 0$ in $D^+$.

use rayon::prelude::*;

use crate::consensus::rce::clean::{self, Bounds, Cleaned};
use crate::consensus::rce::pairs::Pairs;
use crate::error::Result;
use crate::linalg::{Eigen, Matrix, eigen, eigenvalues, product_into, symmetric_product_into};
use crate::run::Run;

/// How near a contested entry may come to 0 and 1, where the next update would be undefined.
const DELTA: f64 = 1e-12;

/// Rows and columns of a tile; what is read across rows is then read by whole cache lines.
const TILE: usize = 32;

/// The weights of the terms of the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Penalties {
    /// $\lambda_1$, of the errors.
    pub(super) errors: f64,
    /// $\lambda_2$, of the rank.
    pub(super) rank: f64,
    /// $\mu$, the smoothing of the nuclear norm.
    pub(super) mu: f64,
}

/// The consensus matrix on its way.
pub(super) struct Learner<'a> {
    pairs: &'a Pairs<'a>,
    penalties: Penalties,
    /// $B$: the consensus between profiles. Entries that are exactly 0 or 1 are frozen.
    consensus: Matrix,
}

/// What one iteration came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The objective *before* the iteration.
    pub(super) objective: f64,
    /// The largest change of an entry.
    pub(super) change: f64,
}

impl<'a> Learner<'a> {
    /// Starts at the mean of the connective matrices.
    pub(super) fn new(pairs: &'a Pairs<'a>, penalties: Penalties) -> Self {
        Learner { pairs, penalties, consensus: start(pairs) }
    }

    /// One iteration of Algorithm 1.
    pub(super) fn step(&mut self, run: &Run) -> Result<Step> {
        let (plus, minus, rank) = if self.penalties.rank > 0.0 {
            self.rank_term(run)?
        } else {
            let u = self.consensus.nrows();
            (Matrix::zeros(u, u), Matrix::zeros(u, u), 0.0)
        };
        run.check()?;
        let (data, change) = self.update(plus, &minus);
        Ok(Step { objective: data + rank, change })
    }

    /// The objective at the present consensus, with the best errors for it.
    pub(super) fn objective(&self, run: &Run) -> Result<f64> {
        let rank = if self.penalties.rank > 0.0 {
            self.rank_penalty(&eigenvalues(self.gram(), run)?)
        } else {
            0.0
        };
        let data = self.sweep(|sum: &mut f64, s, t, a, mean| {
            let (log_a, log_rest) = (a.ln(), (1.0 - a).ln());
            *sum += self.weight(s, t) * self.data_term(&self.clean(s, t, mean), a, log_a, log_rest);
        });
        Ok(data.iter().sum::<f64>() + rank)
    }

    /// $\lVert E^{(i)} \rVert_1$ of every member, and the number of object pairs it observes.
    pub(super) fn noise(&self) -> (Vec<f64>, Vec<f64>) {
        let r = self.pairs.profiles().n_members();
        let partial = self.sweep(|sums: &mut Vec<f64>, s, t, _, mean| {
            sums.resize(r, 0.0);
            let bounds = Bounds::new(mean, self.penalties.errors);
            let weight = self.weight(s, t);
            self.pairs.for_each_value(s, t, |h, value| {
                sums[h] += weight * clean::error(&bounds, value);
            });
        });
        let mut errors = vec![0.0; r];
        for sums in partial {
            errors.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        let profiles = self.pairs.profiles();
        let labelled = |h: usize| {
            let weights = profiles.weights().iter().enumerate();
            weights.filter(|(s, _)| profiles.is_labelled(*s, h)).map(|(_, w)| w).sum::<f64>()
        };
        (errors, (0..r).map(|h| labelled(h).powi(2)).collect())
    }

    /// $B$.
    #[cfg(test)]
    pub(super) fn consensus(&self) -> &Matrix {
        &self.consensus
    }

    /// $(\tilde A + \tilde A^T) / 2$ between profiles.
    pub(super) fn into_affinity(self) -> Matrix {
        let a = self.consensus;
        Matrix::from_fn(a.nrows(), a.ncols(), |s, t| f64::midpoint(a[(s, t)], a[(t, s)]))
    }

    /// The number of object pairs in a pair of profiles.
    fn weight(&self, s: usize, t: usize) -> f64 {
        let weights = self.pairs.profiles().weights();
        weights[s] * weights[t]
    }

    /// The errors of all members at the pair (s, t), for the mean of its two entries.
    fn clean(&self, s: usize, t: usize, mean: f64) -> Cleaned {
        let bounds = Bounds::new(mean, self.penalties.errors);
        let (agree, observed) = self.pairs.votes(s, t);
        let mut cleaned = Cleaned::hard(&bounds, agree, observed);
        if self.pairs.has_soft() {
            cleaned.add_soft(&bounds, self.pairs.soft_values(s, t));
        }
        cleaned
    }

    fn data_term(&self, cleaned: &Cleaned, a: f64, log_a: f64, log_rest: f64) -> f64 {
        cleaned.divergence(a, log_a, log_rest) + self.penalties.errors * cleaned.error
    }

    /// $X X^T$.
    fn gram(&self) -> Matrix {
        let u = self.consensus.nrows();
        let roots = self.roots_of_weights();
        let mut scaled = self.consensus.clone();
        scaled.as_mut_slice().par_chunks_exact_mut(u).zip(&roots).for_each(|(row, a)| {
            row.iter_mut().zip(&roots).for_each(|(x, b)| *x *= a * b);
        });
        let mut gram = Matrix::zeros(u, u);
        symmetric_product_into(&mut gram, scaled.as_faer(), scaled.as_faer().transpose());
        gram
    }

    fn roots_of_weights(&self) -> Vec<f64> {
        self.pairs.profiles().weights().iter().map(|w| w.sqrt()).collect()
    }

    /// $2 \lambda_2 \operatorname{tr} (\tilde A \tilde A^T + \mu I)^{1/2}$ from the eigenvalues of
    /// $X X^T$; objects beyond one a profile add $\sqrt\mu$ each.
    fn rank_penalty(&self, values: &[f64]) -> f64 {
        let mu = self.penalties.mu;
        let others = self.pairs.profiles().total_weight() - values.len() as f64;
        let roots: f64 = values.iter().map(|value| (value.max(0.0) + mu).sqrt()).sum();
        2.0 * self.penalties.rank * (roots + others * mu.sqrt())
    }

    /// $2 D^+ \tilde A$, $2 D^- \tilde A$ and the rank term of the objective.
    fn rank_term(&self, run: &Run) -> Result<(Matrix, Matrix, f64)> {
        let u = self.consensus.nrows();
        let weights = self.pairs.profiles().weights();
        let Eigen { values, mut vectors } = eigen(self.gram(), <[f64]>::len, run)?;
        let penalty = self.rank_penalty(&values);
        // -R = Y^T Y with Y = diag(sqrt(mu^-1/2 - (value + mu)^-1/2)) V W^-1/2, V's rows the vectors.
        let top = 1.0 / self.penalties.mu.sqrt();
        let shrink: Vec<f64> = values
            .iter()
            .map(|value| (top - 1.0 / (value.max(0.0) + self.penalties.mu).sqrt()).max(0.0).sqrt())
            .collect();
        let roots = self.roots_of_weights();
        vectors.as_mut_slice().par_chunks_exact_mut(u).zip(&shrink).for_each(|(row, a)| {
            row.iter_mut().zip(&roots).for_each(|(x, b)| *x *= a / b);
        });
        run.check()?;
        let mut minus = Matrix::zeros(u, u);
        symmetric_product_into(&mut minus, vectors.as_faer().transpose(), vectors.as_faer());
        run.check()?;
        // `minus` is -R now; both parts of D, with the factor 2, are made of it.
        let mut plus = vectors;
        let scale = 2.0 * self.penalties.rank;
        let rows = plus.as_mut_slice().par_chunks_exact_mut(u);
        rows.zip(minus.as_mut_slice().par_chunks_exact_mut(u)).enumerate().for_each(
            |(s, (plus, minus))| {
                let own = minus[s];
                for ((plus, minus), w) in plus.iter_mut().zip(minus.iter_mut()).zip(weights) {
                    let r = -*minus;
                    *plus = scale * w * r.max(0.0);
                    *minus = scale * w * (-r).max(0.0);
                }
                let one = weights[s].min(1.0);
                plus[s] = scale * (top - one * own).max(0.0);
                minus[s] = scale * (weights[s] - one) * own;
            },
        );
        let mut out = Matrix::zeros(u, u);
        product_into(&mut out, plus.as_faer(), self.consensus.as_faer());
        run.check()?;
        product_into(&mut plus, minus.as_faer(), self.consensus.as_faer());
        Ok((out, plus, penalty))
    }

    /// Rule (11) for every contested entry, with $2 D^+ \tilde A$ and $2 D^- \tilde A$ given. Returns
    /// the data part of the objective before, and the largest change.
    fn update(&mut self, plus: Matrix, minus: &Matrix) -> (f64, f64) {
        let u = self.consensus.nrows();
        // New entries are written over those of D+ A, which each is read once.
        let mut next = plus;
        let blocks = next.as_mut_slice().par_chunks_mut(TILE * u);
        let partial: Vec<(f64, f64)> = blocks
            .zip(minus.as_slice().par_chunks(TILE * u))
            .enumerate()
            .map(|(block, (next, minus))| {
                let (mut data, mut change) = (0.0, 0.0_f64);
                for_each_entry(&self.consensus, block, |s, t, a, opposite| {
                    let at = (s - block * TILE) * u + t;
                    let place = &mut next[at];
                    if is_frozen(a) {
                        *place = a;
                        return;
                    }
                    let cleaned = self.clean(s, t, f64::midpoint(a, opposite));
                    let (log_a, log_rest) = (a.ln(), (1.0 - a).ln());
                    data += self.weight(s, t) * self.data_term(&cleaned, a, log_a, log_rest);
                    *place = updated(a, log_a - log_rest, &cleaned, *place, minus[at]);
                    change = change.max((*place - a).abs());
                });
                (data, change)
            })
            .collect();
        self.consensus = next;
        let data = partial.iter().map(|(data, _)| data).sum();
        (data, partial.iter().fold(0.0, |max, (_, change)| change.max(max)))
    }

    /// Folds `add(sum, s, t, entry, mean of entry and opposite)` over the contested entries, rows in
    /// fixed blocks.
    fn sweep<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, usize, usize, f64, f64) + Sync,
    ) -> Vec<T> {
        let blocks = self.consensus.nrows().div_ceil(TILE);
        let of_block = |block| {
            let mut sum = T::default();
            for_each_entry(&self.consensus, block, |s, t, a, opposite| {
                if !is_frozen(a) {
                    add(&mut sum, s, t, a, f64::midpoint(a, opposite));
                }
            });
            sum
        };
        (0..blocks).into_par_iter().map(of_block).collect()
    }
}

/// Whether the members are unanimous about a pair: they leave its entry at 0 or 1, and both updates
/// keep it there, since any other value costs infinitely much.
fn is_frozen(a: f64) -> bool {
    a == 0.0 || a == 1.0
}

/// Rule (11), multiplied through by `a`: `plus` and `minus` are $2 (D^\pm \tilde A)_{pq}$.
fn updated(a: f64, logit: f64, cleaned: &Cleaned, plus: f64, minus: f64) -> f64 {
    let m = cleaned.observed;
    let pull = 2.0 * m / (1.0 - a);
    let b = m * logit - pull;
    let g = pull + cleaned.c.max(0.0) + plus;
    let h = (-cleaned.c).max(0.0) + minus;
    if g <= 0.0 {
        // A pair that nobody observes and no other entry pulls at.
        return a;
    }
    // b <= 0: nothing cancels.
    let next = a * ((b * b + 4.0 * g * h).sqrt() - b) / (2.0 * g);
    next.clamp(DELTA, 1.0 - DELTA)
}

/// The mean connective matrix. Pairs that no member observes start at the mean over those observed,
/// without the diagonal.
fn start(pairs: &Pairs<'_>) -> Matrix {
    let (u, weights) = (pairs.profiles().len(), pairs.profiles().weights());
    let mut consensus = Matrix::zeros(u, u);
    const UNKNOWN: f64 = -1.0;
    let entry = |s: usize, t: usize| match pairs.mean(s, t) {
        None => UNKNOWN,
        Some(mean) if mean <= DELTA => 0.0,
        Some(mean) if mean >= 1.0 - DELTA => 1.0,
        Some(mean) => mean,
    };
    let rows = consensus.as_mut_slice().par_chunks_exact_mut(u.max(1)).enumerate();
    let known: Vec<(f64, f64)> = rows
        .map(|(s, row)| {
            let (mut sum, mut count) = (0.0, 0.0);
            for (t, a) in row.iter_mut().enumerate() {
                *a = entry(s, t);
                let others = if s == t { (weights[t] - 1.0).max(0.0) } else { weights[t] };
                if *a != UNKNOWN {
                    sum += weights[s] * others * *a;
                    count += weights[s] * others;
                }
            }
            (sum, count)
        })
        .collect();
    let (sum, count) = known.iter().fold((0.0, 0.0), |(a, b), (sum, n)| (a + sum, b + n));
    let mean = if count > 0.0 { sum / count } else { 0.5 }.clamp(DELTA, 1.0 - DELTA);
    let unknown = consensus.as_mut_slice().iter_mut().filter(|a| **a == UNKNOWN);
    unknown.for_each(|a| *a = mean);
    consensus
}

/// Calls `visit(s, t, entry, opposite entry)` for the rows of a block.
fn for_each_entry(a: &Matrix, block: usize, mut visit: impl FnMut(usize, usize, f64, f64)) {
    let u = a.nrows();
    let first = block * TILE;
    let height = TILE.min(u - first);
    let mut opposite = [[0.0; TILE]; TILE];
    for left in (0..u).step_by(TILE) {
        let width = TILE.min(u - left);
        for j in 0..width {
            let row = &a.row(left + j)[first..first + height];
            opposite.iter_mut().zip(row).for_each(|(column, x)| column[j] = *x);
        }
        for i in 0..height {
            let row = &a.row(first + i)[left..left + width];
            for (j, x) in row.iter().enumerate() {
                visit(first + i, left + j, *x, opposite[i][j]);
            }
        }
    }
}
