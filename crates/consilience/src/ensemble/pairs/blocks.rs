//! Label tuples in blocks of 64, laid out for counting how many members agree on two profiles.
//!
//! A block is stored member by member: the 64 labels that one member gives stand side by side. One
//! profile is then compared with 64 others by comparing each of its labels with a whole run of
//! labels at once, and the votes grow in 64 lanes as narrow as the labels. Nothing is summed across
//! lanes and no tuple is read twice. Comparing $10^5$ tuples of 50 labels each with each other
//! takes seconds this way.
//!
//! Code that calls the counting functions does so inside `pulp::Arch::dispatch`, which compiles it
//! for the vector units that the machine turns out to have.

// Only what is inlined into the dispatched call is compiled for the vector unit.
#![allow(clippy::inline_always)]

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::ensemble::labels::Code;
use crate::ensemble::pairs::majority::Majority;
use crate::ensemble::profiles::{ProfileMember, Profiles};
use crate::error::Result;
use crate::graph::UnionFind;

/// Profiles in a block.
pub(super) const LANES: usize = 64;

/// One number per profile of a block.
pub(super) type Lanes<L> = [L; LANES];

/// A width that holds both label codes and counts of members.
pub(super) trait Lane: Code + Ord + Default + From<bool> + Into<u64> {
    /// Wide enough for products of two counts.
    type Product: Ord;

    /// The count `n`, which must fit.
    fn count(n: usize) -> Self;

    /// The sum, which must fit.
    fn plus(self, other: Self) -> Self;

    /// The product.
    fn times(self, other: Self) -> Self::Product;
}

macro_rules! impl_lane {
    ($($t:ty => $product:ty),*) => {$(
        impl Lane for $t {
            type Product = $product;

            #[inline(always)]
            fn count(n: usize) -> Self {
                debug_assert!(n <= Self::MAX as usize);
                n as $t
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> $product {
                <$product>::from(self) * <$product>::from(other)
            }
        }
    )*};
}
impl_lane!(u8 => u16, u16 => u32, u32 => u64);

/// Runs `$body` with the type `$lane` bound to the narrowest [`Lane`] that holds the labels of
/// `$profiles` and counts of its members.
macro_rules! with_lane {
    ($profiles:expr, $lane:ident => $body:expr) => {{
        let most = $crate::ensemble::pairs::blocks::most_in_a_lane($profiles);
        if most <= <u8 as $crate::ensemble::Code>::CAPACITY {
            type $lane = u8;
            $body
        } else if most <= <u16 as $crate::ensemble::Code>::CAPACITY {
            type $lane = u16;
            $body
        } else {
            type $lane = u32;
            $body
        }
    }};
}
pub(super) use with_lane;

/// The largest number that a lane must hold.
pub(super) fn most_in_a_lane(profiles: &Profiles) -> usize {
    let clusters = profiles.members().iter().map(ProfileMember::n_clusters);
    clusters.max().unwrap_or(0).max(profiles.n_members())
}

/// The label tuples of hard profiles in blocks.
#[derive(Clone, Debug)]
pub(super) struct Blocks<L> {
    n: usize,
    r: usize,
    /// Block by block, in a block member by member. Lanes after the last profile are missing.
    codes: Vec<L>,
}

impl<L: Lane> Blocks<L> {
    /// The profiles `order[0]`, `order[1]`, … of an ensemble of hard members.
    pub(super) fn new(profiles: &Profiles, order: &[u32]) -> Self {
        let (n, r) = (order.len(), profiles.n_members());
        let mut codes = vec![L::MISSING; n.div_ceil(LANES) * LANES * r];
        for (profiles_of_block, block) in
            order.chunks(LANES).zip(codes.chunks_exact_mut((LANES * r).max(1)))
        {
            for (lane, &s) in profiles_of_block.iter().enumerate() {
                for h in 0..r {
                    if let Some(c) = profiles.label(s as usize, h) {
                        block[h * LANES + lane] = L::from_index(c);
                    }
                }
            }
        }
        Blocks { n, r, codes }
    }

    /// How many profiles there are.
    pub(super) fn len(&self) -> usize {
        self.n
    }

    /// How many blocks there are.
    pub(super) fn n_blocks(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    /// How many members there are.
    pub(super) fn n_members(&self) -> usize {
        self.r
    }

    /// How many profiles block `b` holds: [`LANES`], or fewer in the last.
    pub(super) fn in_block(&self, b: usize) -> usize {
        LANES.min(self.n - b * LANES)
    }

    /// The labels of block `b`, member by member.
    pub(super) fn block(&self, b: usize) -> &[L] {
        &self.codes[b * LANES * self.r..(b + 1) * LANES * self.r]
    }

    /// The tuples of block `b`, profile by profile, without the empty lanes of the last block.
    pub(super) fn tuples(&self, b: usize) -> Vec<L> {
        let block = self.block(b);
        (0..self.in_block(b))
            .flat_map(|lane| (0..self.r).map(move |h| block[h * LANES + lane]))
            .collect()
    }
}

/// The votes of the members for one profile and each of a block; `GAPS` if labels are missing.
pub(super) struct Ballot<L, const GAPS: bool> {
    /// How many members give both the same label.
    pub(super) votes: Lanes<L>,
    /// Where labels are missing: how many label both.
    pub(super) both: Lanes<L>,
}

impl<L: Lane, const GAPS: bool> Ballot<L, GAPS> {
    /// Nobody has voted.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Ballot { votes: [L::default(); LANES], both: [L::default(); LANES] }
    }

    /// The votes of all members for `tuple` and each profile of `block`.
    #[inline(always)]
    pub(super) fn of(tuple: &[L], block: &[L]) -> Self {
        let mut ballot = Self::new();
        let votes = tuple.iter().zip(block.chunks_exact(LANES));
        votes.for_each(|(&label, labels)| ballot.add(label, labels));
        ballot
    }

    /// Adds the vote of a member that gives the one `label` and the others `labels`.
    #[inline(always)]
    pub(super) fn add(&mut self, label: L, labels: &[L]) {
        if GAPS && label == L::MISSING {
            return;
        }
        for (votes, &other) in self.votes.iter_mut().zip(labels) {
            *votes = votes.plus(L::from(other == label));
        }
        if GAPS {
            for (both, &other) in self.both.iter_mut().zip(labels) {
                *both = both.plus(L::from(other != L::MISSING));
            }
        }
    }

    /// Who is joined; `needed` votes do it where no label is missing.
    #[inline(always)]
    pub(super) fn joined(&self, majority: Majority, needed: L) -> Lanes<bool> {
        if GAPS {
            majority.joins_lanes(&self.votes, &self.both)
        } else {
            self.votes.map(|votes| votes >= needed)
        }
    }
}

/// Which labels occur in a block: enough to tell that two blocks have little in common.
///
/// Where profiles are sorted by their labels a block holds few labels of each member, and most
/// blocks have hardly a label in common with a given one: by the pigeonhole principle no pair of
/// them can then share many votes.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    r: usize,
    /// For every block and member: a bit for each label that occurs, labels counted modulo 64.
    present: Vec<u64>,
    /// For every block and member: whether all profiles have a label.
    complete: Vec<bool>,
}

impl Contents {
    /// What occurs in `blocks`.
    pub(super) fn new<L: Lane>(blocks: &Blocks<L>) -> Self {
        let (mut present, mut complete) = (Vec::new(), Vec::new());
        for b in 0..blocks.n_blocks() {
            for labels in blocks.block(b).chunks_exact(LANES) {
                let labels = labels[..blocks.in_block(b)].iter().map(|label| label.index());
                let bit = |set: u64, label: Option<usize>| set | label.map_or(0, |c| 1 << (c % 64));
                present.push(labels.clone().fold(0, bit));
                complete.push(labels.clone().all(|label| label.is_some()));
            }
        }
        Contents { r: blocks.n_members(), present, complete }
    }

    /// For each member in turn: whether it may vote for some pair of blocks `i` and `j`, and
    /// whether it surely labels both of every pair.
    #[inline(always)]
    pub(super) fn common(&self, i: usize, j: usize) -> impl Iterator<Item = (bool, bool)> {
        let of = |b: usize| b * self.r..(b + 1) * self.r;
        let may_vote =
            self.present[of(i)].iter().zip(&self.present[of(j)]).map(|(a, b)| a & b != 0);
        let labels = self.complete[of(i)].iter().zip(&self.complete[of(j)]).map(|(a, b)| *a && *b);
        may_vote.zip(labels)
    }
}

/// The profiles by their labels, the member with the most clusters counting first: neighbours share
/// many labels.
pub(super) fn sorted_by_labels(profiles: &Profiles) -> Vec<u32> {
    let mut members: Vec<usize> = (0..profiles.n_members()).collect();
    members.sort_by_key(|&h| std::cmp::Reverse(profiles.members()[h].n_clusters()));
    let mut order: Vec<u32> = (0..profiles.len() as u32).collect();
    order.par_sort_unstable_by(|&s, &t| {
        let label = |s: u32, h: usize| profiles.label(s as usize, h);
        let mut compared = members.iter().map(|&h| label(s, h).cmp(&label(t, h)));
        compared.find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
    order
}

/// Lets workers take the blocks as they come, each with a state of its own, and merges the states. Who
/// takes what differs from run to run; what comes of it must not.
pub(super) fn by_workers<T: Send>(
    n_blocks: usize,
    workers: usize,
    new: impl Fn() -> T + Sync,
    visit: impl Fn(&mut T, usize) -> Result<()> + Sync,
    merge: impl Fn(T, T) -> T,
) -> Result<T> {
    let next = AtomicUsize::new(0);
    let work = |_| {
        let mut state = new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n_blocks {
                return Ok(state);
            }
            visit(&mut state, i)?;
        }
    };
    let workers = (0..workers.min(n_blocks)).into_par_iter();
    let all = workers.map(work).collect::<Result<Vec<T>>>()?;
    Ok(all.into_iter().reduce(merge).expect("there is a worker"))
}

/// Disjoint sets of places, each with a root that it had some time ago.
///
/// Where clusters are large, nearly all pairs that ask to be joined are joined already. Comparing
/// old roots, 64 at once, tells so without looking at the sets. A root grows stale only when its
/// set is joined to a larger one, so places are brought up to date $O(\log u)$ times each.
#[derive(Clone, Debug)]
pub(super) struct Joins {
    sets: UnionFind,
    roots: Vec<u32>,
}

impl Joins {
    /// All places apart.
    pub(super) fn new(places: usize) -> Self {
        Joins { sets: UnionFind::new(places), roots: (0..places as u32).collect() }
    }

    /// Joins `place` with the marked lanes of the block that starts at place `first`.
    #[inline(always)]
    pub(super) fn join(&mut self, place: usize, first: usize, marked: &Lanes<bool>) {
        if !any(marked.iter().copied()) {
            return;
        }
        let own = self.roots[place];
        let roots = &self.roots[first..first + marked.len()];
        if any(marked.iter().zip(roots).map(|(&marked, root)| marked && *root != own)) {
            self.join_each(place, first, marked);
        }
    }

    #[cold]
    fn join_each(&mut self, place: usize, first: usize, marked: &Lanes<bool>) {
        for (lane, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
            if self.roots[place] != self.roots[first + lane] {
                self.sets.union(place, first + lane);
                let root = self.sets.find(place) as u32;
                self.roots[place] = root;
                self.roots[first + lane] = root;
            }
        }
    }

    /// The sets joined in either.
    pub(super) fn merged_with(mut self, mut other: Self) -> Self {
        for place in 0..self.roots.len() {
            self.sets.union(place, other.sets.find(place));
        }
        for place in 0..self.roots.len() {
            self.roots[place] = self.sets.find(place) as u32;
        }
        self
    }

    /// The sets of the things that stand at the places `order[0]`, `order[1]`, …, numbered from 0
    /// by their first thing, and how many there are.
    pub(super) fn labels(mut self, order: &[u32]) -> (Vec<u32>, usize) {
        let mut sets = UnionFind::new(order.len());
        for (place, &thing) in order.iter().enumerate() {
            sets.union(thing as usize, order[self.sets.find(place)] as usize);
        }
        (sets.labels(), sets.n_sets())
    }
}

/// Whether any is true, looking at all: a loop without exits is one that vectorises.
#[inline(always)]
fn any(lanes: impl Iterator<Item = bool>) -> bool {
    lanes.fold(false, |any, lane| any | lane)
}
