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

use crate::consensus::rce::clean::{self, Bounds};
use crate::consensus::rce::kernel::{DELTA, Entries, Stretch, TILE, is_frozen};
use crate::consensus::rce::pairs::Pairs;
use crate::error::Result;
use crate::linalg::{
    Eigen, Matrix, eigen, eigenvalues, products_of_parts_into, symmetric_product_into, vectorised,
};
use crate::run::Run;

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

impl<'a> Learner<'a> {
    /// Starts at the mean of the connective matrices.
    pub(super) fn new(pairs: &'a Pairs<'a>, penalties: Penalties) -> Self {
        Learner { pairs, penalties, consensus: start(pairs) }
    }

    /// One iteration of Algorithm 1: the objective *before* it, and the largest change of an entry.
    pub(super) fn step(&mut self, run: &Run) -> Result<(f64, f64)> {
        let (mut plus, minus, rank) = if self.penalties.rank > 0.0 {
            self.rank_term(run)?
        } else {
            let u = self.consensus.nrows();
            (Matrix::zeros(u, u), Matrix::zeros(u, u), 0.0)
        };
        run.check()?;
        let (data, change) = self.update_into(&mut plus, &minus, run)?;
        self.consensus = plus;
        Ok((data + rank, change))
    }

    /// The objective at the present consensus, with the best errors for it.
    pub(super) fn objective(&self, run: &Run) -> Result<f64> {
        let rank = if self.penalties.rank > 0.0 {
            self.rank_penalty(&eigenvalues(self.gram(), run)?)
        } else {
            0.0
        };
        let u = self.consensus.nrows();
        let (data, _) = self.update_into(&mut Matrix::zeros(u, u), &Matrix::zeros(u, u), run)?;
        Ok(data + rank)
    }

    /// $\lVert E^{(i)} \rVert_1$ of every member, and the number of object pairs it observes.
    pub(super) fn noise(&self, run: &Run) -> Result<(Vec<f64>, Vec<f64>)> {
        let (a, profiles) = (&self.consensus, self.pairs.profiles());
        let (u, r, weights) = (a.nrows(), profiles.n_members(), profiles.weights());
        let of_block = |block: usize| {
            run.check()?;
            let mut sums = vec![0.0; r];
            for s in block * TILE..u.min((block + 1) * TILE) {
                for t in (0..u).filter(|&t| !is_frozen(a[(s, t)])) {
                    let mean = f64::midpoint(a[(s, t)], a[(t, s)]);
                    let bounds = Bounds::new(mean, self.penalties.errors);
                    self.pairs.for_each_value(s, t, |h, value| {
                        sums[h] += weights[s] * weights[t] * clean::error(&bounds, value);
                    });
                }
            }
            Ok(sums)
        };
        let blocks = (0..u.div_ceil(TILE)).into_par_iter();
        let partial = blocks.map(of_block).collect::<Result<Vec<Vec<f64>>>>()?;
        let mut errors = vec![0.0; r];
        for sums in partial {
            errors.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
        }
        let labelled = |h: usize| {
            let weights = weights.iter().enumerate();
            weights.filter(|(s, _)| profiles.is_labelled(*s, h)).map(|(_, w)| w).sum::<f64>()
        };
        Ok((errors, (0..r).map(|h| labelled(h).powi(2)).collect()))
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
    /// $X X^T$; objects beyond one per profile add $\sqrt\mu$ each.
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
        let mut signed = Matrix::zeros(u, u);
        symmetric_product_into(&mut signed, vectors.as_faer().transpose(), vectors.as_faer());
        run.check()?;
        // This is -R. D, with the factor 2, is written over it but for the diagonal, which belongs
        // partly to D+ and partly to D-.
        let scale = 2.0 * self.penalties.rank;
        let rows = signed.as_mut_slice().par_chunks_exact_mut(u).enumerate();
        let diagonal: Vec<(f64, f64)> = rows
            .map(|(s, row)| {
                let own = row[s];
                row.iter_mut().zip(weights).for_each(|(x, w)| *x *= -scale * w);
                row[s] = 0.0;
                let one = weights[s].min(1.0);
                (scale * (top - one * own).max(0.0), scale * (weights[s] - one) * own)
            })
            .collect();
        let (mut plus, mut minus) = (vectors, Matrix::zeros(u, u));
        products_of_parts_into(&mut plus, &mut minus, &signed, &self.consensus);
        let rows = self.consensus.as_slice().par_chunks_exact(u).zip(diagonal);
        let parts = plus.as_mut_slice().par_chunks_exact_mut(u);
        parts.zip(minus.as_mut_slice().par_chunks_exact_mut(u)).zip(rows).for_each(
            |((plus, minus), (row, (own_plus, own_minus)))| {
                for ((plus, minus), x) in plus.iter_mut().zip(minus).zip(row) {
                    *plus += own_plus * x;
                    *minus += own_minus * x;
                }
            },
        );
        Ok((plus, minus, penalty))
    }

    /// Rule (11) for every contested entry: `next` holds $2 D^+ \tilde A$, over which the new entries
    /// are written, and `minus` $2 D^- \tilde A$. Returns the data part of the objective before, and
    /// the largest change.
    fn update_into(&self, next: &mut Matrix, minus: &Matrix, run: &Run) -> Result<(f64, f64)> {
        let u = self.consensus.nrows();
        let blocks = next.as_mut_slice().par_chunks_mut(TILE * u);
        let of_block = |(block, (next, minus))| {
            run.check()?;
            let mut rows = UpdateBlock { learner: self, first: block * TILE, next, minus };
            Ok(vectorised(
                #[inline(always)]
                || rows.update(),
            ))
        };
        let blocks = blocks.zip(minus.as_slice().par_chunks(TILE * u)).enumerate();
        let partial = blocks.map(of_block).collect::<Result<Vec<(f64, f64)>>>()?;
        let data = partial.iter().map(|(data, _)| data).sum();
        Ok((data, partial.iter().fold(0.0, |max, (_, change)| change.max(max))))
    }
}

/// [`Learner::update_into`] for the rows from `first` on, as many as a tile has.
struct UpdateBlock<'a> {
    learner: &'a Learner<'a>,
    first: usize,
    next: &'a mut [f64],
    minus: &'a [f64],
}

impl UpdateBlock<'_> {
    #[inline(always)]
    fn update(&mut self) -> (f64, f64) {
        let UpdateBlock { learner, first, next, minus } = self;
        let first = *first;
        let Learner { pairs, penalties: Penalties { errors: lambda1, .. }, consensus } = learner;
        let (u, weights) = (consensus.nrows(), pairs.profiles().weights());
        let height = TILE.min(u - first);
        let (mut data, mut change) = (0.0, 0.0_f64);
        let mut opposite = [[0.0; TILE]; TILE];
        let mut entries = Entries::NONE;
        let (mut plus_here, mut minus_here): (Stretch, Stretch) = ([0.0; TILE], [0.0; TILE]);
        for left in (0..u).step_by(TILE) {
            let width = TILE.min(u - left);
            for j in 0..width {
                let row = &consensus.row(left + j)[first..first + height];
                opposite.iter_mut().zip(row).for_each(|(column, x)| column[j] = *x);
            }
            entries.entry = [0.0; TILE];
            for i in 0..height {
                let s = first + i;
                let here = i * u + left..i * u + left + width;
                entries.entry[..width].copy_from_slice(&consensus.row(s)[left..left + width]);
                if entries.entry.iter().all(|&a| is_frozen(a)) {
                    next[here].copy_from_slice(&entries.entry[..width]);
                    continue;
                }
                entries.opposite = opposite[i];
                let Entries { agree, observed, .. } = &mut entries;
                pairs.votes_into(s, left, &mut agree[..width], &mut observed[..width]);
                let mut cleaned = entries.clean(*lambda1);
                if pairs.has_soft() {
                    for l in (0..width).filter(|&l| !is_frozen(entries.entry[l])) {
                        let values = pairs.soft_values(s, left + l);
                        cleaned.add_soft(l, entries.mean(l), *lambda1, values);
                    }
                }
                plus_here[..width].copy_from_slice(&next[here.clone()]);
                minus_here[..width].copy_from_slice(&minus[here.clone()]);
                let (terms, moved) =
                    entries.update(&cleaned, *lambda1, &mut plus_here, &minus_here);
                next[here].copy_from_slice(&plus_here[..width]);
                let terms = terms.iter().zip(&weights[left..left + width]);
                data += weights[s] * terms.map(|(term, w)| w * term).sum::<f64>();
                change = change.max(moved);
            }
        }
        (data, change)
    }
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
