//! Which profiles a majority of members puts together, and how close each is to its closest.
//!
//! Every profile is compared with every other, a block of 64 at a time ([`Blocks`]); joined pairs go
//! into disjoint sets and are forgotten, so memory stays $O(u r)$. Two things save comparisons:
//!
//! * *Pigeonhole.* Profiles are sorted by their labels, so a block holds few labels of each member.
//!   Members whose labels in two blocks have nothing in common vote for no pair of them; when too
//!   few are left to join a pair or to better anybody's closest, the two blocks are passed over.
//!   This is what makes large ensembles of fine clusterings feasible.
//! * *Sets.* Lanes that are in the same set already are masked out by their roots before any pair
//!   is looked at one by one.

// Only what is inlined into the dispatched call is compiled for the vector unit.
#![allow(clippy::inline_always)]

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ensemble::labels::Code;
use crate::ensemble::pairs::blocks::{
    Ballot, Blocks, Contents, Joins, LANES, Lane, Lanes, by_workers, sorted_by_labels, with_lane,
};
use crate::ensemble::pairs::majority::Majority;
use crate::ensemble::profiles::Profiles;
use crate::ensemble::profiles::tally::tally;
use crate::error::Result;
use crate::run::Run;

/// What the votes of all pairs amount to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Agreement {
    /// The component of every profile in the graph of joined pairs, numbered by first profile.
    pub(crate) components: Vec<u32>,
    /// How many components there are.
    pub(crate) n_components: usize,
    /// The largest share of votes that each profile has with another one; 0 where no member puts it
    /// together with any.
    pub(crate) closest: Vec<f64>,
}

/// Workers that compare at the same time, each with its own sets.
const MAX_WORKERS: usize = 32;

/// How many bytes [`agreement`] holds at its peak.
pub(crate) fn agreement_cost(u: usize, r: usize, total_clusters: usize) -> u64 {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
    let most = (total_clusters.saturating_sub(r) + 1).max(r); // clusters of one member, or members
    let lane = if most <= u8::CAPACITY { 1 } else { 4 };
    let padded = u.div_ceil(LANES) * LANES;
    let label_sets = padded / LANES * r * 9;
    (padded * (r * lane + workers * (12 + 2 * lane) + 16) + label_sets) as u64
}

/// Joins the profiles that `majority` puts together. For hard profiles.
pub(crate) fn agreement(profiles: &Profiles, majority: Majority, run: &Run) -> Result<Agreement> {
    let order = sorted_by_labels(profiles);
    let found = with_lane!(profiles, L => {
        let blocks = Blocks::<L>::new(profiles, &order);
        if profiles.has_missing() {
            Search::<L, true>::new(blocks, majority).run(run)?
        } else {
            Search::<L, false>::new(blocks, majority).run(run)?
        }
    });
    let mut closest = vec![0.0; profiles.len()];
    order.iter().zip(&found.closest).for_each(|(&s, &share)| closest[s as usize] = share);
    let (components, n_components) = found.joins.labels(&order);
    Ok(Agreement { components, n_components, closest })
}

/// The comparison of all pairs; `GAPS` if labels are missing.
struct Search<L, const GAPS: bool> {
    blocks: Blocks<L>,
    majority: Majority,
    r: usize,
    contents: Contents,
}

/// What a worker has found so far, by places in the blocks.
#[derive(Clone)]
struct Found<L> {
    joins: Joins,
    /// The closest's votes, and of how many.
    votes: Vec<L>,
    both: Vec<L>,
}

/// What all workers have found, by places in the blocks.
struct Outcome {
    joins: Joins,
    closest: Vec<f64>,
}

impl<L: Lane, const GAPS: bool> Search<L, GAPS> {
    fn new(blocks: Blocks<L>, majority: Majority) -> Self {
        let (r, contents) = (blocks.n_members(), Contents::new(&blocks));
        Search { blocks, majority, r, contents }
    }

    fn run(&self, run: &Run) -> Result<Outcome> {
        let n_blocks = self.blocks.n_blocks();
        let places = n_blocks * LANES;
        // A share of 0: out of all where all label both, else out of 1.
        let out_of = L::count(if GAPS { 1 } else { self.r });
        let start = Found {
            joins: Joins::new(places),
            votes: vec![L::default(); places],
            both: vec![out_of; places],
        };
        // Neighbours first: what is close to them sets the mark that lets others be passed over.
        let near = |i: usize| i..(i + 2).min(n_blocks);
        let far = |i: usize| (i + 2).min(n_blocks)..n_blocks;
        let start = self.compare(&start, near, run)?;
        let found = self.compare(&start, far, run)?;
        let share = |i: usize| found.votes[i].into() as f64 / found.both[i].into() as f64;
        let closest = (0..self.blocks.len()).map(share).collect();
        Ok(Outcome { joins: found.joins, closest })
    }

    /// Compares every block `i` with the blocks `partners(i)`, starting from what is known.
    fn compare(
        &self,
        known: &Found<L>,
        partners: impl Fn(usize) -> Range<usize> + Sync,
        run: &Run,
    ) -> Result<Found<L>> {
        let n_blocks = self.blocks.n_blocks();
        let total = (0..n_blocks).map(|i| partners(i).len() as u64).sum();
        let done = AtomicU64::new(0);
        let arch = pulp::Arch::new();
        let new = || {
            let weakest: Vec<_> = (0..n_blocks).map(|b| self.weakest(known, b)).collect();
            (known.clone(), weakest)
        };
        let visit = |(found, weakest): &mut (Found<L>, Vec<(u64, u64)>), i: usize| {
            let compared = done.fetch_add(partners(i).len() as u64, Ordering::Relaxed);
            run.tick("comparing profiles", compared, Some(total))?;
            arch.dispatch(Strip { search: self, i, partners: partners(i), found, weakest });
            Ok(())
        };
        let workers = run.n_threads().min(MAX_WORKERS);
        let merged = by_workers(n_blocks, workers, new, visit, |a, b| (a.0.merged_with(b.0), a.1))?;
        Ok(merged.0)
    }

    /// Compares block `i` with `partners`.
    #[inline(always)]
    fn compare_block(
        &self,
        i: usize,
        partners: Range<usize>,
        found: &mut Found<L>,
        weakest: &mut [(u64, u64)],
    ) {
        let tuples = self.blocks.tuples(i);
        let out_of = L::count(if GAPS { 1 } else { self.r });
        let mut row_votes = [[L::default(); LANES]; LANES];
        let mut row_both = [[out_of; LANES]; LANES];
        let needed = L::count(self.majority.needed(self.r as u32) as usize);
        for j in partners {
            if self.can_pass_over(i, j, weakest) {
                continue;
            }
            tally(LANES * LANES * self.r);
            let block = self.blocks.block(j);
            let places = j * LANES..(j + 1) * LANES;
            let mut best_votes = lanes(&found.votes[places.clone()]);
            let mut best_both = lanes(&found.both[places.clone()]);
            for (lane, tuple) in tuples.chunks_exact(self.r).enumerate() {
                let mut ballot = Ballot::<L, GAPS>::of(tuple, block);
                if i == j {
                    // Nobody is its own companion.
                    ballot.votes[lane] = L::default();
                }
                let Ballot { votes, both } = &ballot;
                if GAPS {
                    keep_best(&mut best_votes, &mut best_both, votes, both);
                    keep_best(&mut row_votes[lane], &mut row_both[lane], votes, both);
                } else {
                    keep_most(&mut best_votes, votes);
                    keep_most(&mut row_votes[lane], votes);
                }
                let joined = ballot.joined(self.majority, needed);
                found.joins.join(i * LANES + lane, places.start, &joined);
            }
            found.votes[places.clone()].copy_from_slice(&best_votes);
            found.both[places].copy_from_slice(&best_both);
            weakest[j] = self.weakest(found, j);
        }
        for (lane, (votes, both)) in row_votes.iter().zip(&row_both).enumerate() {
            for (&votes, &both) in votes.iter().zip(both) {
                found.offer(i * LANES + lane, votes, both);
            }
        }
        weakest[i] = self.weakest(found, i);
    }

    /// Whether no pair of blocks `i` and `j` can be joined or be closer than what both have.
    #[inline(always)]
    fn can_pass_over(&self, i: usize, j: usize, weakest: &[(u64, u64)]) -> bool {
        let (mut votes, mut both) = (0, 0);
        for (may_vote, labels) in self.contents.common(i, j) {
            votes += u64::from(may_vote);
            both += u64::from(labels);
        }
        let no_closer = |(v, b): (u64, u64)| votes * b <= v * both;
        !self.majority.joins(votes as u32, both as u32)
            && no_closer(weakest[i])
            && no_closer(weakest[j])
    }

    /// The smallest share that a profile of block `b` has with its closest so far.
    fn weakest(&self, found: &Found<L>, b: usize) -> (u64, u64) {
        let places = b * LANES..b * LANES + self.blocks.in_block(b);
        if !GAPS {
            let least = found.votes[places].iter().copied().min();
            return (least.expect("a block holds profiles").into(), self.r as u64);
        }
        places.map(|i| (found.votes[i].into(), found.both[i].into())).fold(
            (1, 1),
            |(v, b): (u64, u64), (w, c): (u64, u64)| if w * b < v * c { (w, c) } else { (v, b) },
        )
    }
}

/// One block to be compared with others. A closure would not be compiled for the vector unit: only
/// what is sure to be inlined is.
struct Strip<'a, L, const GAPS: bool> {
    search: &'a Search<L, GAPS>,
    i: usize,
    partners: Range<usize>,
    found: &'a mut Found<L>,
    weakest: &'a mut [(u64, u64)],
}

impl<L: Lane, const GAPS: bool> pulp::WithSimd for Strip<'_, L, GAPS> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.search.compare_block(self.i, self.partners, self.found, self.weakest);
    }
}

impl<L: Lane> Found<L> {
    /// Takes `votes` of `both` for the closest of `place` if it is closer.
    fn offer(&mut self, place: usize, votes: L, both: L) {
        if votes.times(self.both[place]) > self.votes[place].times(both) {
            (self.votes[place], self.both[place]) = (votes, both);
        }
    }

    fn merged_with(mut self, other: Self) -> Self {
        self.joins = self.joins.merged_with(other.joins);
        for (place, (votes, both)) in other.votes.into_iter().zip(other.both).enumerate() {
            self.offer(place, votes, both);
        }
        self
    }
}

#[inline(always)]
fn lanes<T: Copy>(values: &[T]) -> Lanes<T> {
    values.try_into().expect("a block's worth of values")
}

/// The larger in every lane.
#[inline(always)]
fn keep_most<L: Lane>(best: &mut Lanes<L>, votes: &Lanes<L>) {
    for (best, &votes) in best.iter_mut().zip(votes) {
        *best = (*best).max(votes);
    }
}

/// The larger share in every lane.
#[inline(always)]
fn keep_best<L: Lane>(
    best_votes: &mut Lanes<L>,
    best_both: &mut Lanes<L>,
    votes: &Lanes<L>,
    both: &Lanes<L>,
) {
    for c in 0..LANES {
        let better = votes[c].times(best_both[c]) > best_votes[c].times(both[c]);
        best_votes[c] = if better { votes[c] } else { best_votes[c] };
        best_both[c] = if better { both[c] } else { best_both[c] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::graph::UnionFind;
    use crate::rng::{Rng, Stream};

    /// All pairs, one label after the other.
    fn slow(profiles: &Profiles, majority: Majority) -> Agreement {
        let u = profiles.len();
        let mut sets = UnionFind::new(u);
        let mut closest = vec![0.0f64; u];
        for s in 0..u {
            for t in (0..u).filter(|&t| t != s) {
                let pair = (0..profiles.n_members())
                    .filter_map(|h| Some((profiles.label(s, h)?, profiles.label(t, h)?)));
                let (votes, both) =
                    pair.fold((0, 0), |(v, b), (x, y)| (v + u32::from(x == y), b + 1));
                if both > 0 {
                    closest[s] = closest[s].max(f64::from(votes) / f64::from(both));
                }
                if majority.joins(votes, both) {
                    sets.union(s, t);
                }
            }
        }
        Agreement { components: sets.labels(), n_components: sets.n_sets(), closest }
    }

    /// `n` objects along a line that every member cuts into about `k` pieces at places of its own,
    /// shuffled; a share `noise` of labels is drawn anew and a share `gaps` is missing.
    fn cuts(n: usize, r: usize, k: usize, noise: f64, gaps: f64, rng: &mut Rng) -> Profiles {
        let order = rng.permutation(n);
        let member = |h: usize| {
            let shift = rng.below(n);
            let labels: Vec<Option<i64>> = (0..n)
                .map(|i| {
                    let label = (order[i] as usize + shift) * k / n;
                    let label = if rng.unit() < noise { rng.below(k) } else { label };
                    (i == 0 || rng.unit() >= gaps).then_some(label as i64)
                })
                .collect();
            HardMember::from_integers(format!("m{h}"), labels).into()
        };
        let members: Vec<_> = (0..r).map(member).collect();
        Profiles::new(&Ensemble::new(members).unwrap(), &Run::new(0)).unwrap()
    }

    /// Several blocks, passed over or not, at every width of lane, with gaps and without.
    #[test]
    fn blocks_find_what_pairs_find() {
        let mut rng = Rng::new(5, Stream::Data);
        // n, r, k: lanes are narrow, wide by members, wide by clusters.
        let shapes = [(500, 7, 5), (500, 12, 40), (300, 9, 100), (200, 300, 6), (400, 5, 300)];
        for (n, r, k) in shapes {
            for (noise, gaps) in [(0.0, 0.0), (0.3, 0.0), (1.0, 0.0), (0.0, 0.3), (0.3, 0.1)] {
                let profiles = cuts(n, r, k, noise, gaps, &mut rng);
                for majority in
                    [Majority::HALF, Majority::new(0, 1).unwrap(), Majority::new(4, 5).unwrap()]
                {
                    let expected = slow(&profiles, majority);
                    for threads in [1, 2, 3] {
                        let run = Run::new(0).threads(threads);
                        let found = run.install(|| agreement(&profiles, majority, &run)).unwrap();
                        assert_eq!(found, expected, "{n} {r} {k} {noise} {gaps} {majority:?}");
                    }
                }
            }
        }
    }

    /// The test above would mean little if no block were ever passed over.
    #[test]
    fn blocks_far_apart_are_passed_over() {
        let profiles = cuts(20_000, 151, 12, 0.0, 0.0, &mut Rng::new(6, Stream::Data));
        let order = sorted_by_labels(&profiles);
        let search = Search::<u8, false>::new(Blocks::new(&profiles, &order), Majority::HALF);
        let n_blocks = search.blocks.n_blocks();
        let settled = vec![(76, 151); n_blocks];
        let passed =
            |i: usize| (0..n_blocks).filter(|&j| search.can_pass_over(i, j, &settled)).count();
        let passed: usize = (0..n_blocks).map(passed).sum();
        assert!(10 * passed > 7 * n_blocks * n_blocks, "{passed} of {}", n_blocks * n_blocks);
    }
}
