//! What Algorithm 1 asks of the ensemble: products with the members' matrices, never built.
//!
//! Write $S$ for all $S^{(h)}$ one below the other ($K \times k$), $o_x$ for the number of members
//! that have a say on profile $x$, and $T = \sum_x (w_x / o_x) h_x h_x^T$ with $h_x$ the row of
//! profile $x$ in all $M^{(h)}$ side by side. With $M$ by rule (6), what rule (10) needs of it is
//!
//! $$ G^{(h)} = (M^{(h)})^T W M, \qquad G = T S, $$
//!
//! so an iteration can run on the $K \times K$ matrix $T$ of overlaps between clusters and never
//! look at an object. Where $T$ is larger than the ensemble the same product is taken through the
//! profiles: spread $S$ to rows of $M$, sum them up again. Both give the same numbers.
//!
//! A missing label that counts as a uniform row is a correction of rank one to either product.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use rayon::prelude::*;

use super::OnMissing;
use super::update::{Rule, Scratch};
use crate::consensus::method::Shape;
use crate::ensemble::Profiles;
use crate::linalg::Matrix;

/// Profiles in a chunk of work.
const CHUNK: usize = 4096;

/// An ensemble and the constants of objective (3).
pub(super) struct Problem<'a> {
    profiles: &'a Profiles,
    pub(super) k: usize,
    alpha: f64,
    beta_k: f64,
    /// Whether a missing label counts as a uniform row, and some label is missing.
    fills: bool,
    /// $1 / o_x$, where it is not $1/r$ for all.
    inverse_votes: Option<Vec<f64>>,
    /// For every member the weight $m_h$ of the profiles filled in with uniform rows.
    filled: Vec<f64>,
    /// The diagonal of every $Q^{(h)} = (M^{(h)})^T W M^{(h)}$ without the filled-in rows.
    diagonal: Vec<f64>,
    /// The rest of $Q^{(h)}$, diagonal zero; `None` for hard members, where it vanishes.
    off_diagonal: Vec<Option<Matrix>>,
    /// $T$, unless the product through the profiles is cheaper.
    overlaps: Option<Matrix>,
}

/// Whether $T$ pays: a product with it costs $K^2$ a column, one through the profiles $2 u r$.
pub(super) fn overlaps_pay(shape: &Shape) -> bool {
    shape.total_clusters.saturating_mul(shape.total_clusters) <= 2 * shape.u * shape.r
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        profiles: &'a Profiles,
        k: usize,
        (alpha, beta): (f64, f64),
        missing: OnMissing,
        with_overlaps: bool,
    ) -> Self {
        let r = profiles.n_members();
        let fills = missing == OnMissing::Uniform && profiles.has_missing();
        let inverse_votes = (missing == OnMissing::Ignore && profiles.has_missing())
            .then(|| profiles.label_counts().iter().map(|&o| 1.0 / f64::from(o)).collect());
        let weights = profiles.weights();
        let total: f64 = profiles.total_weight();
        let masses = profiles.cluster_weights();
        let filled = profiles.members().iter().map(|member| {
            let labelled: f64 = masses[member.clusters.clone()].iter().sum();
            // Memberships sum to 1 up to rounding only: what is left over may be nothing but that.
            let missing = total - labelled;
            if fills && missing > 1e-12 * total { missing } else { 0.0 }
        });
        let filled = filled.collect();
        let (diagonal, off_diagonal) = squares(profiles, masses);
        let mut problem = Problem {
            profiles,
            k,
            alpha,
            beta_k: beta * k as f64,
            fills,
            inverse_votes,
            filled,
            diagonal,
            off_diagonal,
            overlaps: None,
        };
        if with_overlaps {
            let scale: Vec<f64> = match &problem.inverse_votes {
                Some(inverse) => weights.iter().zip(inverse).map(|(w, v)| w * v).collect(),
                None => weights.iter().map(|w| w / r as f64).collect(),
            };
            let mut overlaps = profiles.gram(&scale);
            if fills {
                problem.fill_overlaps(&mut overlaps, &scale);
            }
            problem.overlaps = Some(overlaps);
        }
        problem
    }

    /// Adds to $T$ what the filled-in rows contribute.
    ///
    /// The overlap of "missing in $h$" with cluster $c$ is the weight of $c$ less its overlaps with
    /// the clusters of $h$; each cluster of $h$ takes an equal share of it.
    fn fill_overlaps(&self, overlaps: &mut Matrix, scale: &[f64]) {
        let members = self.profiles.members();
        let total: f64 = scale.iter().sum();
        let masses: Vec<f64> =
            self.profiles.cluster_weights().iter().map(|m| m / members.len() as f64).collect();
        // Share of the overlap of "missing in h" with each cluster, and with "missing in g".
        let gap = Matrix::from_fn(members.len(), masses.len(), |h, c| {
            if self.filled[h] == 0.0 {
                return 0.0;
            }
            let clusters = members[h].clusters.clone();
            let shared: f64 = clusters.map(|i| overlaps[(i, c)]).sum();
            (masses[c] - shared).max(0.0) / members[h].n_clusters() as f64
        });
        let both = Matrix::from_fn(members.len(), members.len(), |h, g| {
            if self.filled[h] == 0.0 || self.filled[g] == 0.0 {
                return 0.0;
            }
            let (k_h, k_g) = (members[h].n_clusters() as f64, members[g].n_clusters() as f64);
            let labelled: f64 = members[h].clusters.clone().map(|c| masses[c]).sum();
            let only_h: f64 = members[g].clusters.clone().map(|c| gap[(h, c)] * k_h).sum();
            (total - labelled - only_h).max(0.0) / (k_h * k_g)
        });
        for (h, member) in members.iter().enumerate() {
            for i in member.clusters.clone() {
                for (g, other) in members.iter().enumerate() {
                    for c in other.clusters.clone() {
                        overlaps[(i, c)] += gap[(h, c)] + gap[(g, i)] + both[(h, g)];
                    }
                }
            }
        }
    }

    pub(super) fn profiles(&self) -> &Profiles {
        self.profiles
    }

    /// Rule (6): the rows of $M$ for these correspondences.
    pub(super) fn consensus(&self, s: &Matrix) -> Matrix {
        let mut m = if self.fills {
            self.profiles.spread(&self.centred(s))
        } else {
            self.profiles.spread(s)
        };
        let everywhere = self.sum_of_means(s);
        let constant = 1.0 / self.profiles.n_members() as f64;
        let k = self.k;
        m.as_mut_slice().par_chunks_mut(CHUNK * k).enumerate().for_each(|(chunk, rows)| {
            for (x, row) in rows.chunks_exact_mut(k).enumerate() {
                let votes = self.inverse_votes.as_ref();
                let inverse = votes.map_or(constant, |v| v[chunk * CHUNK + x]);
                row.iter_mut().zip(&everywhere).for_each(|(m, e)| *m = (*m + e) * inverse);
            }
        });
        m
    }

    /// $G = (M^{(h)})^T W M$ for all members, one below the other.
    pub(super) fn targets(&self, m: &Matrix) -> Matrix {
        let weights = self.profiles.weights();
        let mut g = self.profiles.group_sums(m, weights);
        if self.fills {
            let mut whole = vec![0.0; self.k];
            for (row, w) in m.iter_rows().zip(weights) {
                whole.iter_mut().zip(row).for_each(|(sum, m)| *sum += w * m);
            }
            for (member, &filled) in self.profiles.members().iter().zip(&self.filled) {
                if filled == 0.0 {
                    continue;
                }
                let mut missing = whole.clone();
                for i in member.clusters.clone() {
                    missing.iter_mut().zip(g.row(i)).for_each(|(left, g)| *left -= g);
                }
                let share = 1.0 / member.n_clusters() as f64;
                for i in member.clusters.clone() {
                    let row = g.row_mut(i).iter_mut().zip(&missing);
                    row.for_each(|(g, left)| *g += left.max(0.0) * share);
                }
            }
        }
        g
    }

    /// The targets of $M = M^{(h)} R$; a missing label counts as a uniform row, so that every object
    /// starts somewhere.
    pub(super) fn targets_of_member(&self, h: usize, r: &Matrix) -> Matrix {
        let clusters = self.profiles.members()[h].clusters.clone();
        if let (Some(overlaps), None) = (&self.overlaps, &self.inverse_votes) {
            // It is the M of rule (6) when h alone speaks, for all.
            let all = self.profiles.n_members() as f64;
            let mut s = Matrix::zeros(overlaps.nrows(), self.k);
            for (c, row) in clusters.zip(r.iter_rows()) {
                s.row_mut(c).iter_mut().zip(row).for_each(|(s, r)| *s = all * r);
            }
            return times(overlaps, &s);
        }
        let mean = column_means(r, 0..r.nrows());
        let mut m = Matrix::zeros(self.profiles.len(), self.k);
        for x in 0..self.profiles.len() {
            let row = m.row_mut(x);
            let mut labelled = false;
            self.profiles.for_each_entry_of(x, h, |c, p| {
                labelled = true;
                row.iter_mut().zip(r.row(c - clusters.start)).for_each(|(m, r)| *m += p * r);
            });
            if !labelled {
                row.copy_from_slice(&mean);
            }
        }
        self.targets(&m)
    }

    /// $S - \tfrac{1}{k_h} \mathbf{1} S$ member by member: a missing label then reads as zero.
    fn centred(&self, s: &Matrix) -> Matrix {
        let mut centred = s.clone();
        for member in self.profiles.members() {
            let mean = column_means(s, member.clusters.clone());
            for i in member.clusters.clone() {
                centred.row_mut(i).iter_mut().zip(&mean).for_each(|(s, mean)| *s -= mean);
            }
        }
        centred
    }

    /// What [`centred`](Self::centred) took away from every row of $M$; nothing if it is not used.
    fn sum_of_means(&self, s: &Matrix) -> Vec<f64> {
        let mut sum = vec![0.0; self.k];
        if self.fills {
            for member in self.profiles.members() {
                let mean = column_means(s, member.clusters.clone());
                sum.iter_mut().zip(mean).for_each(|(sum, mean)| *sum += mean);
            }
        }
        sum
    }

    /// Takes step (6) for the correspondences `s`, found from `previous`: the targets $G$ of the
    /// new $M$, and whether no entry of $M$ changed by `tol` or more.
    pub(super) fn advance(
        &self,
        previous: &Matrix,
        s: &Matrix,
        last: &mut Last,
        tol: f64,
    ) -> (Matrix, bool) {
        let Some(overlaps) = &self.overlaps else {
            let m = self.consensus(s);
            let settled = last.m.as_ref().is_some_and(|old| {
                let pairs = m.as_slice().par_iter().zip(old.as_slice());
                pairs.all(|(new, old)| (new - old).abs() < tol)
            });
            let g = self.targets(&m);
            last.m = Some(m);
            return (g, settled);
        };
        let g = times(overlaps, s);
        let settled = last.begun && self.has_settled(previous, s, last, tol);
        last.begun = true;
        (g, settled)
    }

    /// Whether no entry of $M$ changes by `tol` or more from correspondences `old` to `new`.
    ///
    /// $M$ is not at hand, so cheap answers are tried first: the entries of $M$ are means of entries
    /// of $S$, which bounds the change from above; and the profile that changed most when last
    /// all were looked at most often still does.
    fn has_settled(&self, old: &Matrix, new: &Matrix, last: &mut Last, tol: f64) -> bool {
        let change = Matrix::from_fn(old.nrows(), self.k, |i, j| new[(i, j)] - old[(i, j)]);
        if self.bound(&change) < tol {
            return true;
        }
        let everywhere = self.sum_of_means(&change);
        let change = if self.fills { self.centred(&change) } else { change };
        let constant = 1.0 / self.profiles.n_members() as f64;
        let most_of = |x: usize, row: &[f64]| {
            let inverse = self.inverse_votes.as_ref().map_or(constant, |v| v[x]);
            let changes = row.iter().zip(&everywhere).map(|(m, e)| (m + e).abs());
            changes.fold(0.0, f64::max) * inverse
        };
        let mut row = vec![0.0; self.k];
        self.profiles.for_each_entry(last.most_changed, |_, c, p| {
            row.iter_mut().zip(change.row(c)).for_each(|(m, s)| *m += p * s);
        });
        if most_of(last.most_changed, &row) >= tol {
            return false;
        }
        let of_chunks = self.profiles.fold_spread(&change, |most: &mut (f64, usize), x, row| {
            let change = most_of(x, row);
            if change > most.0 {
                *most = (change, x);
            }
        });
        let first_of_most = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
        let (most, x) = of_chunks.into_iter().fold((0.0, 0), first_of_most);
        last.most_changed = x;
        most < tol
    }

    /// No entry of $M$ changes by more than this when $S$ changes by `change`.
    fn bound(&self, change: &Matrix) -> f64 {
        let of_members = self.profiles.members().iter().map(|member| {
            let range = member.clusters.start * self.k..member.clusters.end * self.k;
            change.as_slice()[range].iter().fold(0.0, |most: f64, s| most.max(s.abs()))
        });
        // An object that few members label takes the mean over those few: no better than the worst.
        if self.inverse_votes.is_some() {
            of_members.fold(0.0, f64::max)
        } else {
            of_members.sum::<f64>() / self.profiles.n_members() as f64
        }
    }

    /// Objective (3) at correspondences `s` and their $M$ by rule (6), `g` being its targets.
    ///
    /// As $M$ is the mean, $\sum_h \lVert M - M^{(h)} S^{(h)} \rVert^2 = \sum_h \langle S^{(h)},
    /// Q^{(h)} S^{(h)} \rangle - \langle S, G \rangle$.
    pub(super) fn objective(&self, s: &Matrix, g: &Matrix) -> f64 {
        let mut f = 0.0;
        for (h, member) in self.profiles.members().iter().enumerate() {
            let clusters = member.clusters.clone();
            let mean = column_means(s, clusters.clone());
            f += self.filled[h] * mean.iter().map(|m| m * m).sum::<f64>();
            for (i, c) in clusters.clone().enumerate() {
                let row = s.row(c);
                let row_sum: f64 = row.iter().sum();
                f += self.beta_k * (row_sum - 1.0) * (row_sum - 1.0);
                for j in 0..self.k {
                    let away = row[j] - mean[j];
                    f +=
                        row[j] * (self.diagonal[c] * row[j] - g[(c, j)]) - self.alpha * away * away;
                }
                if let Some(q) = &self.off_diagonal[h] {
                    for (&q, other) in q.row(i).iter().zip(clusters.clone()) {
                        let product = row.iter().zip(s.row(other)).map(|(a, b)| a * b);
                        f += q * product.sum::<f64>();
                    }
                }
            }
        }
        f
    }

    /// Rule (10) on $S^{(h)}$, $M$ fixed, until no entry changes by `tol` or `max_iter` times.
    pub(super) fn improve(
        &self,
        h: usize,
        s: &mut Matrix,
        g: &Matrix,
        limits: (usize, f64),
        scratch: &mut Scratch,
    ) {
        let clusters = self.profiles.members()[h].clusters.clone();
        let range = clusters.start * self.k..clusters.end * self.k;
        let rule = Rule {
            alpha: self.alpha,
            beta_k: self.beta_k,
            diagonal: &self.diagonal[clusters],
            off_diagonal: self.off_diagonal[h].as_ref(),
            filled: self.filled[h],
        };
        let (s, g) = (&mut s.as_mut_slice()[range.clone()], &g.as_slice()[range]);
        rule.improve(s, g, limits, scratch);
    }
}

/// $T S$, on one thread: the starts run side by side, and the bits must not depend on threads.
fn times(overlaps: &Matrix, s: &Matrix) -> Matrix {
    let mut g = Matrix::zeros(s.nrows(), s.ncols());
    let into = MatMut::from_row_major_slice_mut(g.as_mut_slice(), s.nrows(), s.ncols());
    matmul(into, Accum::Replace, overlaps.as_faer(), s.as_faer(), 1.0, Par::Seq);
    g
}

/// What is remembered of the last iteration to tell whether $M$ has settled.
#[derive(Default)]
pub(super) struct Last {
    m: Option<Matrix>,
    begun: bool,
    most_changed: usize,
}

/// $\tfrac{1}{k_h} \mathbf{1} S$ over these rows of `s`.
fn column_means(s: &Matrix, rows: std::ops::Range<usize>) -> Vec<f64> {
    let count = rows.len() as f64;
    let mut mean = vec![0.0; s.ncols()];
    for i in rows {
        mean.iter_mut().zip(s.row(i)).for_each(|(mean, s)| *mean += s);
    }
    mean.iter_mut().for_each(|mean| *mean /= count);
    mean
}

/// The diagonal of $Q^{(h)}$ for all members, and the rest of it for soft ones; `masses` are the
/// weights of the clusters.
fn squares(profiles: &Profiles, masses: Vec<f64>) -> (Vec<f64>, Vec<Option<Matrix>>) {
    let mut diagonal = masses;
    let off_diagonal = profiles.members().iter().enumerate().map(|(h, member)| {
        let mut q = profiles.square(h, profiles.weights())?;
        for (i, c) in member.clusters.clone().enumerate() {
            diagonal[c] = std::mem::replace(&mut q[(i, i)], 0.0);
        }
        Some(q)
    });
    let off_diagonal = off_diagonal.collect();
    (diagonal, off_diagonal)
}
