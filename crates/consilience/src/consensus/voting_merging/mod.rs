//! Voting and merging: members vote one after another on soft memberships, then clusters that are
//! rarely told apart are merged.
//!
//! E. Dimitriadou, A. Weingessel, K. Hornik. *Voting-Merging: An Ensemble Method for Clustering.*
//! ICANN 2001; with optimal matching as B. Fischer, J. M. Buhmann. *Bagging for Path-Based
//! Clustering.* IEEE TPAMI 25(11), 2003.
//!
//! *Voting.* $D^{(1)} = H_1$; for $b = 2 \ldots r$ the columns of $H_b$ are permuted to maximise
//! $\mathrm{tr}(D^{(b-1)T} W H_b \Pi)$ and averaged in,
//!
//! $$ D^{(b)} = \tfrac{b-1}{b} D^{(b-1)} + \tfrac1b H_b \Pi_b. $$
//!
//! *Merging.* With $x \in j$ the objects whose largest membership is in column $j$, columns are added
//! together, those with the largest
//!
//! $$ s(j, l) = \Bigl( \sum_{x \in j} D_{xl} + \sum_{x \in l} D_{xj} \Bigr) \Big/ (|j| + |l|) $$
//!
//! first, until $k$ clusters remain or, without $k$, until $s$ falls below `threshold`.
//!
//! # Where we depart
//!
//! The measure $s$ is our formulation of the first paper's neighbourhood of clusters. The result
//! depends on the order of the members, so several random orders are tried and the one with the
//! least $\sum_b \lVert D - H_b \Pi_b \rVert^2$ is kept. A member that does not label an object
//! leaves its memberships alone.
//!
//! # Cost
//!
//! With $k$ the largest number of clusters of a member: where every member labels every object and is
//! hard, the votes need only the overlaps of clusters, $O(u r^2)$ once and $O(K^2 + r k^3)$ an order;
//! otherwise, or above 4,096 clusters in all, an order takes $O(u r k + r k^3)$. Merging takes $O(u
//! (r + k))$ a column, or $O(u k)$ where members are many or soft. Memory $O(u k + K^2)$.

use std::ops::Range;

use rayon::prelude::*;

use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Stop, Value};
use crate::consensus::params::{at_least, params, words};
use crate::ensemble::{FEW_CLUSTERS, ProfileMember, Profiles, argmax};
use crate::error::Result;
use crate::linalg::{Matrix, max_assignment_dense};
use crate::math;
use crate::rng::Stream;
use crate::run::Run;

/// What there is to know about voting and merging.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "voting-merging",
    title: "members vote in turn on soft memberships; clusters rarely told apart are merged",
    reference: "E. Dimitriadou, A. Weingessel, K. Hornik. Voting-Merging: An Ensemble Method for \
                Clustering. ICANN 2001.",
    soft: OnSoft::Uses,
    missing: Some("a member votes on the objects it labels"),
    offers: Offers::MEMBERSHIP,
    time: "O(u r^2 + u k^2), and O(K^2 + r k^3) a restart; with missing labels O(u r k + r k^3)",
    memory: "O(u k + K^2)",
    ..VotingMerging::DECLARED
};

params! {
    /// [Voting and merging](self): members vote in turn on soft memberships; clusters rarely told
    /// apart are merged.
    pub struct VotingMerging(k?): INFO {
        /// Match clusters by optimal assignment, or largest overlap first.
        matching: Matching = Matching::Hungarian;
        /// Random orders of the members; the one of least disagreement wins.
        restarts: usize = 5, at_least(1.0);
        /// Without k, clusters are merged while they share more than this.
        threshold: f64 = 0.25, at_least(0.0).at_most(1.0);
    }
}

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

words! {
    /// How a member's clusters are matched with the columns so far.
    pub enum Matching {
        /// By optimal assignment.
        Hungarian = "hungarian",
        /// The largest overlap first.
        Greedy = "greedy",
    }
}

impl ConsensusMethod for VotingMerging {
    fn cost(&self, shape: &Shape) -> u64 {
        // With missing labels a table of votes, and the memberships; a member has hardly more clusters
        // than a few times the mean.
        let columns = (4 * shape.total_clusters / shape.r.max(1)).max(self.k.unwrap_or(1)) as u64;
        let overlaps = shape.total_clusters.min(FEW_CLUSTERS).pow(2) as u64;
        16 * shape.u as u64 * (columns + 1) + 8 * overlaps
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let finest = profiles.members().iter().map(ProfileMember::n_clusters).max().unwrap_or(1);
        let columns = finest.max(self.k.unwrap_or(1));
        let overlaps = self.takes_overlaps(profiles).then(|| {
            // By a power of two, lest sums of huge weights overflow: no bit of any other changes.
            let scale = math::exp2(-math::log2(profiles.total_weight()).floor());
            let weights: Vec<f64> = profiles.weights().iter().map(|w| scale * w).collect();
            (profiles.gram(&weights), scale)
        });
        let mut best: Option<Vote> = None;
        let mut disagreements = Vec::with_capacity(self.restarts);
        for restart in 0..self.restarts {
            let order = run.rng(Stream::Restart(restart as u64)).permutation(profiles.n_members());
            let vote = match &overlaps {
                Some((overlaps, scale)) => {
                    let vote = self.vote_by_overlaps(profiles, overlaps, &order, columns, run);
                    vote.map(|vote| Vote { disagreement: vote.disagreement / scale, ..vote })
                }
                None => self.vote(profiles, &order, columns, run),
            }?;
            disagreements.push(vote.disagreement);
            if best.as_ref().is_none_or(|best| vote.disagreement < best.disagreement) {
                best = Some(vote);
            }
        }
        let Vote { disagreement, mut names } = best.expect("at least one order");
        let (k, shares) = self.merge(profiles, &mut names, columns, run)?;
        let membership = memberships(profiles, &names, k);
        let winner = |row: &[f64]| {
            let j = argmax(row).expect("k >= 1");
            (j as u32, row[j].min(1.0))
        };
        let (labels, strength) =
            membership.as_slice().par_chunks_exact(k).with_min_len(CHUNK).map(winner).unzip();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("disagreements", Value::List(disagreements));
        diagnostics.push("merged_at", Value::List(shares));
        Ok(Consensus {
            strength,
            membership: Some(membership),
            convergence: Convergence {
                objective: Some(disagreement),
                stop: Stop::Done,
                ..Convergence::done()
            },
            diagnostics,
            ..Consensus::from_labels(labels, k)
        })
    }
}

/// What the members agreed on in one order.
struct Vote {
    /// $\sum_b \lVert D - H_b \Pi_b \rVert^2$.
    disagreement: f64,
    /// $\Pi$: the column of every cluster, counted through all members.
    names: Vec<usize>,
}

impl VotingMerging {
    /// Whether overlaps of clusters tell all that is needed of an order, for less than the objects do.
    fn takes_overlaps(&self, profiles: &Profiles) -> bool {
        let cheap = profiles.is_hard() || profiles.n_members() <= 2 * self.restarts;
        cheap && !profiles.has_missing() && profiles.n_clusters() <= FEW_CLUSTERS
    }

    /// The vote in this order, from the overlaps $G = H^T W H$ of clusters alone; nothing is missing.
    ///
    /// $b D^{(b)} = \sum_{a \le b} H_a \Pi_a$, so its overlap with a cluster is a sum of entries of
    /// $G$, and $\sum_b \lVert D - H_b \Pi_b \rVert^2 = \sum_b \lVert H_b \rVert^2 - r \lVert D
    /// \rVert^2$.
    fn vote_by_overlaps(
        &self,
        profiles: &Profiles,
        overlaps: &Matrix,
        order: &[u32],
        columns: usize,
        run: &Run,
    ) -> Result<Vote> {
        let mut with_columns = Matrix::zeros(overlaps.nrows(), columns);
        let mut names = vec![0; overlaps.nrows()];
        for (b, &h) in order.iter().enumerate() {
            run.tick("voting", b as u64, Some(order.len() as u64))?;
            let own = profiles.members()[h as usize].clusters.clone();
            let so_far = with_columns.as_slice()[own.start * columns..own.end * columns].to_vec();
            let matched = self.matched(&Matrix::from_vec(own.len(), columns, so_far));
            for (c, name) in own.zip(matched) {
                names[c] = name;
                for (row, overlap) in overlaps.row(c).iter().enumerate() {
                    with_columns[(row, name)] += overlap;
                }
            }
        }
        let squares: f64 = (0..names.len()).map(|c| overlaps[(c, c)]).sum();
        let within: f64 = names.iter().enumerate().map(|(c, &name)| with_columns[(c, name)]).sum();
        let disagreement = (squares - within / order.len() as f64).max(0.0);
        Ok(Vote { disagreement, names })
    }

    /// The vote in this order, object by object.
    fn vote(&self, profiles: &Profiles, order: &[u32], columns: usize, run: &Run) -> Result<Vote> {
        let weights = profiles.weights();
        // The numerators of a row of D, and how many have voted.
        let mut rows = vec![0.0; profiles.len() * (columns + 1)];
        let mut names = vec![0; profiles.n_clusters()];
        let mut last = None;
        for (b, &h) in order.iter().enumerate() {
            run.tick("voting", b as u64, Some(order.len() as u64))?;
            let own = profiles.members()[h as usize].clusters.clone();
            // The last member's votes are counted on the way.
            let add = |chunk: Range<usize>, rows: &mut [f64], overlap: &mut [f64]| {
                for (s, row) in chunk.zip(rows.chunks_exact_mut(columns + 1)) {
                    if let Some(last) = last {
                        for_each_label(profiles, s, last, |c, p| {
                            row[names[c]] += p;
                            row[columns] += p;
                        });
                    }
                    if row[columns] > 0.0 {
                        for_each_label(profiles, s, h as usize, |c, p| {
                            let scale = weights[s] * p / row[columns];
                            let overlap = overlap[(c - own.start) * columns..].iter_mut();
                            let sums = &row[..columns];
                            overlap.zip(sums).for_each(|(overlap, sum)| *overlap += scale * sum);
                        });
                    }
                }
            };
            let overlap = profiles.sum_over_chunks_of(CHUNK, &mut rows, own.len() * columns, add);
            let matched = self.matched(&Matrix::from_vec(own.len(), columns, overlap));
            names[own].copy_from_slice(&matched);
            last = Some(h as usize);
        }
        run.check()?;
        Ok(Vote { disagreement: disagreement(profiles, &names, columns), names })
    }

    /// The column of every cluster of a member, from their overlaps.
    fn matched(&self, overlap: &Matrix) -> Vec<usize> {
        let complete = |name: Vec<Option<usize>>| -> Vec<usize> {
            let fits = "no member has more clusters than there are columns";
            name.into_iter().map(|column| column.expect(fits)).collect()
        };
        match self.matching {
            Matching::Hungarian => complete(max_assignment_dense(overlap)),
            Matching::Greedy => {
                let mut cells: Vec<(usize, usize)> = (0..overlap.nrows())
                    .flat_map(|c| (0..overlap.ncols()).map(move |j| (c, j)))
                    .collect();
                // Stable: ties stay in the order of clusters and columns.
                cells.sort_by(|&x, &y| overlap[y].total_cmp(&overlap[x]));
                let mut name = vec![None; overlap.nrows()];
                let mut taken = vec![false; overlap.ncols()];
                for (c, j) in cells {
                    if name[c].is_none() && !taken[j] {
                        name[c] = Some(j);
                        taken[j] = true;
                    }
                }
                complete(name)
            }
        }
    }

    /// Merges columns: clusters get new names. Returns how many columns are left and the shares at
    /// which columns merged.
    fn merge(
        &self,
        profiles: &Profiles,
        names: &mut [usize],
        columns: usize,
        run: &Run,
    ) -> Result<(usize, Vec<f64>)> {
        // Where a column went.
        let mut place: Vec<usize> = (0..columns).collect();
        // Of few labels an object, reading them again costs no more than reading a table of D would.
        let reads_labels = profiles.is_hard() && profiles.n_members() <= 4 * columns;
        let d = (!reads_labels).then(|| memberships(profiles, names, columns));
        let mut left = place.clone();
        let mut shares = Vec::new();
        loop {
            run.check()?;
            let Crossing { size, between } = match &d {
                None => {
                    let placed: Vec<usize> = names.iter().map(|&name| place[name]).collect();
                    let write = |s: usize, row: &mut [f64]| {
                        write_memberships(profiles, s, &placed, row);
                    };
                    Crossing::new(profiles, columns, write)
                }
                Some(d) => Crossing::new(profiles, columns, |s, row| {
                    row.fill(0.0);
                    d.row(s).iter().zip(&place).for_each(|(x, &j)| row[j] += x);
                }),
            };
            let clusters = left.iter().filter(|&&j| size[j] > 0.0).count();
            let pairs = |(at, &j): (usize, &usize)| -> Vec<_> {
                left[at + 1..].iter().map(|&l| (j, l)).collect()
            };
            let share = |&(j, l): &(usize, usize)| {
                (between[(j, l)] + between[(l, j)]) / (size[j] + size[l])
            };
            let most = left
                .iter()
                .enumerate()
                .flat_map(pairs)
                .filter(|&(j, l)| size[j] + size[l] > 0.0)
                .map(|pair| (pair, share(&pair)))
                .reduce(|best, next| if next.1 > best.1 { next } else { best });
            let next = most.filter(|&(_, share)| match self.k {
                Some(wanted) => clusters > wanted,
                None => share > self.threshold,
            });
            let Some(((j, l), share)) = next else { break };
            shares.push(share);
            left.retain(|&column| column != l);
            place.iter_mut().filter(|place| **place == l).for_each(|place| *place = j);
        }
        for name in names {
            *name = left.binary_search(&place[*name]).expect("a column that is left");
        }
        Ok((left.len(), shares))
    }
}

/// How much objects belong to columns other than their own.
struct Crossing {
    /// The weight of the objects whose column this is.
    size: Vec<f64>,
    /// What the objects of column j (row) have in column l.
    between: Matrix,
}

impl Crossing {
    /// Of the $D$ whose rows `write` writes.
    fn new(profiles: &Profiles, columns: usize, write: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        // A last column for the size.
        let width = columns + 1;
        let sums = profiles.sum_over_ranges(columns * width, |rows, sums| {
            let mut row = vec![0.0; columns];
            for s in rows {
                write(s, &mut row);
                let own = argmax(&row).expect("at least one column");
                let (w, own) = (profiles.weights()[s], &mut sums[own * width..][..width]);
                own[columns] += w;
                own.iter_mut().zip(&row).for_each(|(sum, x)| *sum += w * *x);
            }
        });
        let sums = Matrix::from_vec(columns, width, sums);
        let size = sums.iter_rows().map(|row| row[columns]).collect();
        Crossing { size, between: Matrix::from_fn(columns, columns, |j, l| sums[(j, l)]) }
    }
}

/// $D$ from the columns of all clusters.
fn memberships(profiles: &Profiles, names: &[usize], columns: usize) -> Matrix {
    let mut d = Matrix::zeros(profiles.len(), columns);
    d.as_mut_slice().par_chunks_mut(CHUNK * columns).enumerate().for_each(|(chunk, rows)| {
        for (i, row) in rows.chunks_exact_mut(columns).enumerate() {
            write_memberships(profiles, chunk * CHUNK + i, names, row);
        }
    });
    d
}

/// A row of $D$: the mean over the members that label the profile.
fn write_memberships(profiles: &Profiles, s: usize, names: &[usize], row: &mut [f64]) {
    row.fill(0.0);
    let votes = add_votes(profiles, s, names, row);
    if votes > 0.0 {
        row.iter_mut().for_each(|x| *x /= votes);
    }
}

/// $\sum_b \lVert D - H_b \Pi_b \rVert^2 = \sum_b \lVert H_b \rVert^2 - \sum_s w_s v_s \lVert D_s
/// \rVert^2$ where $v_s$ members label $s$.
fn disagreement(profiles: &Profiles, names: &[usize], columns: usize) -> f64 {
    let sums = profiles.sum_over_ranges(1, |rows, sums| {
        let mut row = vec![0.0; columns];
        for s in rows {
            row.fill(0.0);
            let votes = add_votes(profiles, s, names, &mut row);
            let mut squares = 0.0;
            profiles.for_each_entry(s, |_, _, p| squares += p * p);
            if votes > 0.0 {
                let agreeing = row.iter().map(|x| x * x).sum::<f64>() / votes;
                sums[0] += profiles.weights()[s] * (squares - agreeing);
            }
        }
    });
    sums[0].max(0.0)
}

/// Adds what all members say of profile `s` to their columns; how many say something.
fn add_votes(profiles: &Profiles, s: usize, names: &[usize], row: &mut [f64]) -> f64 {
    let mut votes = 0.0;
    profiles.for_each_entry(s, |_, c, p| {
        row[names[c]] += p;
        votes += p;
    });
    votes
}

/// Calls `visit(cluster, membership)` for what member `h` says of profile `s`, clusters counted
/// through all members.
fn for_each_label(profiles: &Profiles, s: usize, h: usize, mut visit: impl FnMut(usize, f64)) {
    let member = &profiles.members()[h];
    if member.is_hard() {
        if let Some(c) = profiles.label(s, h) {
            visit(member.clusters.start + c, 1.0);
        }
    } else if let Some(row) = profiles.memberships(s, h) {
        let entries = member.clusters.clone().zip(row).filter(|(_, p)| **p > 0.0);
        entries.for_each(|(c, &p)| visit(c, p));
    }
}

#[cfg(test)]
mod tests;
