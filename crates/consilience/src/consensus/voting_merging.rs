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
//! Time $O(u r k + r k^3)$ an order, memory $O(u k)$, with $k$ the largest number of clusters of a
//! member.

use crate::consensus::method::{
    ChoosesK, ConsensusMethod, MethodInfo, OnSoft, ParameterInfo, Shape,
};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Stop, Value};
use crate::ensemble::{ProfileMember, Profiles, argmax};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, max_assignment_dense};
use crate::rng::Stream;
use crate::run::Run;
use crate::setters::setters;

/// What there is to know about voting and merging.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "voting-merging",
    title: "members vote in turn on soft memberships; clusters rarely told apart are merged",
    reference: "E. Dimitriadou, A. Weingessel, K. Hornik. Voting-Merging: An Ensemble Method for \
                Clustering. ICANN 2001.",
    chooses_k: ChoosesK::UnlessGiven,
    soft: OnSoft::Uses,
    missing: Some("a member votes on the objects it labels"),
    takes_start: false,
    parameters: &[
        ParameterInfo {
            name: "matching",
            range: "hungarian or greedy",
            default: "hungarian",
            help: "match clusters by optimal assignment, or largest overlap first",
        },
        ParameterInfo {
            name: "restarts",
            range: ">= 1",
            default: "5",
            help: "random orders of the members; the one of least disagreement wins",
        },
        ParameterInfo {
            name: "threshold",
            range: "0 <= threshold <= 1",
            default: "0.25",
            help: "without k, clusters are merged while they share more than this",
        },
    ],
    time: "O(u r k + r k^3) a restart",
    memory: "O(u k)",
    build: |k, settings| {
        let mut params = VotingMergingParams::new();
        if let Some(k) = k {
            params = params.k(k);
        }
        let words = [("hungarian", Matching::Hungarian), ("greedy", Matching::Greedy)];
        if let Some(matching) = settings.choice("matching", &words)? {
            params = params.matching(matching);
        }
        if let Some(restarts) = settings.integer("restarts")? {
            params = params.restarts(restarts);
        }
        if let Some(threshold) = settings.real("threshold")? {
            params = params.threshold(threshold);
        }
        Ok(Box::new(params.check()?))
    },
};

/// How a member's clusters are matched with the columns so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// By optimal assignment.
    Hungarian,
    /// The largest overlap first.
    Greedy,
}

/// Parameters of [voting and merging](self), not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub struct VotingMergingParams {
    k: Option<usize>,
    matching: Matching,
    restarts: usize,
    threshold: f64,
}

impl Default for VotingMergingParams {
    fn default() -> Self {
        Self::new()
    }
}

impl VotingMergingParams {
    /// Merges by threshold 1/4 after the best of five orders.
    pub fn new() -> Self {
        VotingMergingParams { k: None, matching: Matching::Hungarian, restarts: 5, threshold: 0.25 }
    }

    /// Merges until `k` clusters remain, at least 1, whatever the threshold.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = Some(k);
        self
    }

    setters! {
        /// How clusters are matched.
        matching: Matching,

        /// How many orders of the members are tried, at least 1.
        restarts: usize,

        /// Without `k`: the share, in [0, 1], above which two clusters are merged.
        threshold: f64,
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<VotingMerging> {
        if self.k == Some(0) {
            return Err(Error::parameter("k", "at least 1", 0));
        }
        if self.restarts == 0 {
            return Err(Error::parameter("restarts", "at least 1", 0));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(Error::parameter("threshold", "in [0, 1]", self.threshold));
        }
        Ok(VotingMerging(self))
    }
}

/// Voting and merging with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct VotingMerging(VotingMergingParams);

impl ConsensusMethod for VotingMerging {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn k(&self) -> Option<usize> {
        self.0.k
    }

    fn cost(&self, shape: &Shape) -> u64 {
        // Two tables of memberships; a member has hardly more clusters than a few times the mean.
        let columns = (4 * shape.total_clusters / shape.r.max(1)).max(self.0.k.unwrap_or(1)) as u64;
        16 * shape.u as u64 * (columns + 1)
    }

    fn fit(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let mut best: Option<(f64, Matrix)> = None;
        let mut disagreements = Vec::with_capacity(self.0.restarts);
        for restart in 0..self.0.restarts {
            let order = run.rng(Stream::Restart(restart as u64)).permutation(profiles.n_members());
            let (disagreement, votes) = self.vote(profiles, &order, run)?;
            disagreements.push(disagreement);
            if best.as_ref().is_none_or(|(least, _)| disagreement < *least) {
                best = Some((disagreement, votes));
            }
        }
        let (disagreement, votes) = best.expect("at least one order");
        let (membership, shares) = self.merge(profiles, votes, run)?;
        let winner = |row: &[f64]| argmax(row).expect("k >= 1");
        let labels = membership.iter_rows().map(|row| winner(row) as u32).collect();
        let confidence = membership.iter_rows().map(|row| row[winner(row)].min(1.0)).collect();
        let k = membership.ncols();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("disagreements", Value::List(disagreements));
        diagnostics.push("merged_at", Value::List(shares));
        Ok(Consensus {
            confidence,
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

impl VotingMerging {
    /// The votes of the members in this order: $\sum_b \lVert D - H_b \Pi_b \rVert^2$ and $D$.
    fn vote(&self, profiles: &Profiles, order: &[u32], run: &Run) -> Result<(f64, Matrix)> {
        let (u, w) = (profiles.len(), profiles.weights());
        let finest = profiles.members().iter().map(ProfileMember::n_clusters).max().unwrap_or(1);
        let columns = finest.max(self.0.k.unwrap_or(1));
        let mut d = Matrix::zeros(u, columns);
        let mut votes = vec![0.0; u];
        let mut matched: Vec<Vec<usize>> = Vec::with_capacity(order.len());
        for (b, &h) in order.iter().enumerate() {
            run.tick("voting", b as u64, Some(order.len() as u64))?;
            let k_h = profiles.members()[h as usize].n_clusters();
            let mut overlap = Matrix::zeros(k_h, columns);
            for s in 0..u {
                for_each_label(profiles, s, h as usize, |c, p| {
                    let row = overlap.row_mut(c);
                    row.iter_mut().zip(d.row(s)).for_each(|(sum, d)| *sum += w[s] * p * d);
                });
            }
            let name = self.matching(&overlap);
            for s in 0..u {
                if profiles.is_labelled(s, h as usize) {
                    let old = votes[s] / (votes[s] + 1.0);
                    votes[s] += 1.0;
                    d.row_mut(s).iter_mut().for_each(|x| *x *= old);
                    for_each_label(profiles, s, h as usize, |c, p| d[(s, name[c])] += p / votes[s]);
                }
            }
            matched.push(name);
        }
        let mut disagreement = 0.0;
        let mut own = vec![0.0; columns];
        for (name, &h) in matched.iter().zip(order) {
            run.check()?;
            for s in (0..u).filter(|&s| profiles.is_labelled(s, h as usize)) {
                own.fill(0.0);
                for_each_label(profiles, s, h as usize, |c, p| own[name[c]] = p);
                let square = d.row(s).iter().zip(&own).map(|(d, o)| (d - o) * (d - o));
                disagreement += w[s] * square.sum::<f64>();
            }
        }
        Ok((disagreement, d))
    }

    /// The column of every cluster of a member, from their overlaps.
    fn matching(&self, overlap: &Matrix) -> Vec<usize> {
        let complete = |name: Vec<Option<usize>>| -> Vec<usize> {
            let fits = "no member has more clusters than there are columns";
            name.into_iter().map(|column| column.expect(fits)).collect()
        };
        match self.0.matching {
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

    /// Merges columns; the memberships that remain and the shares at which columns merged.
    fn merge(&self, profiles: &Profiles, mut d: Matrix, run: &Run) -> Result<(Matrix, Vec<f64>)> {
        let w = profiles.weights();
        let mut shares = Vec::new();
        loop {
            run.check()?;
            let k = d.ncols();
            let mut size = vec![0.0; k];
            // `crossing[(j, l)]`: what the objects of column j have in column l.
            let mut crossing = Matrix::zeros(k, k);
            for (s, row) in d.iter_rows().enumerate() {
                let j = argmax(row).expect("at least one column");
                size[j] += w[s];
                crossing.row_mut(j).iter_mut().zip(row).for_each(|(sum, x)| *sum += w[s] * x);
            }
            let clusters = size.iter().filter(|&&n| n > 0.0).count();
            let pairs = (0..k).flat_map(|j| (j + 1..k).map(move |l| (j, l)));
            let share = |&(j, l): &(usize, usize)| {
                (crossing[(j, l)] + crossing[(l, j)]) / (size[j] + size[l])
            };
            let most = pairs
                .filter(|&(j, l)| size[j] + size[l] > 0.0)
                .map(|pair| (pair, share(&pair)))
                .reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some(((j, l), share)) = most else { return Ok((d, shares)) };
            let enough = match self.0.k {
                Some(wanted) => clusters <= wanted,
                None => share <= self.0.threshold,
            };
            if enough {
                return Ok((d, shares));
            }
            shares.push(share);
            d = Matrix::from_fn(d.nrows(), k - 1, |s, column| match column {
                column if column == j => d[(s, j)] + d[(s, l)],
                column if column < l => d[(s, column)],
                column => d[(s, column + 1)],
            });
        }
    }
}

/// Calls `visit(cluster, membership)` for what member `h` says of profile `s`, clusters counted
/// within the member.
fn for_each_label(profiles: &Profiles, s: usize, h: usize, mut visit: impl FnMut(usize, f64)) {
    if profiles.members()[h].is_hard() {
        if let Some(c) = profiles.label(s, h) {
            visit(c, 1.0);
        }
    } else if let Some(row) = profiles.memberships(s, h) {
        row.iter().enumerate().filter(|(_, p)| **p > 0.0).for_each(|(c, &p)| visit(c, p));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    fn labels(members: &[[i64; 6]], params: VotingMergingParams) -> Vec<Option<u32>> {
        let profiles = profiles(&hard_ensemble(members));
        let consensus = combine(&profiles, &params.check().unwrap(), None, &Run::new(0)).unwrap();
        consensus.object_labels(&profiles)
    }

    #[test]
    fn names_are_matched_and_votes_averaged() {
        let members = [[0, 0, 1, 1, 2, 2], [2, 2, 0, 0, 1, 1], [1, 1, 1, 0, 2, 2]];
        for matching in [Matching::Hungarian, Matching::Greedy] {
            let params = VotingMergingParams::new().matching(matching).k(3);
            assert_eq!(labels(&members, params), [0, 0, 1, 1, 2, 2].map(Some));
        }
    }

    /// Two members halve the second group in different places: its halves share objects and merge.
    #[test]
    fn clusters_rarely_told_apart_are_merged() {
        let members = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 1, 2], [0, 0, 1, 2, 2, 1]];
        let expected = [1, 1, 0, 0, 0, 0].map(Some);
        assert_eq!(labels(&members, VotingMergingParams::new().k(2)), expected);
        // Each crosses over to the other by a quarter.
        let by_share = VotingMergingParams::new().threshold(0.2);
        assert_eq!(labels(&members, by_share), expected);
    }

    #[test]
    fn refuses_what_is_out_of_range() {
        assert!(VotingMergingParams::new().k(0).check().is_err());
        assert!(VotingMergingParams::new().restarts(0).check().is_err());
        assert!(VotingMergingParams::new().threshold(f64::NAN).check().is_err());
    }

    proptest! {
        #[test]
        fn memberships_stay_distributions(ensemble in ensembles(Kinds::ALL, 12, 5)) {
            let profiles = profiles(&ensemble);
            let method = VotingMergingParams::new().check().unwrap();
            let consensus = method.fit(&profiles, None, &Run::new(0).threads(1)).unwrap();
            for row in consensus.membership.unwrap().iter_rows() {
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}
