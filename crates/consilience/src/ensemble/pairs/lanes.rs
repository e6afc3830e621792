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

use rayon::prelude::*;

use crate::ensemble::labels::Code;
use crate::ensemble::profiles::{ProfileMember, Profiles};

/// Profiles in a block.
pub(crate) const LANES: usize = 64;

/// One number a profile of a block.
pub(crate) type Lanes<L> = [L; LANES];

/// A width that holds both label codes and counts of members.
pub(crate) trait Lane: Code + Ord + Default + From<bool> + Into<u64> {
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
        let most = $crate::ensemble::pairs::lanes::most_in_a_lane($profiles);
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
pub(crate) use with_lane;

/// The largest number that a lane must hold.
pub(crate) fn most_in_a_lane(profiles: &Profiles) -> usize {
    let clusters = profiles.members().iter().map(ProfileMember::n_clusters);
    clusters.max().unwrap_or(0).max(profiles.n_members())
}

/// The label tuples of hard profiles in blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<L> {
    n: usize,
    r: usize,
    /// Block by block, in a block member by member. Lanes after the last profile are missing.
    codes: Vec<L>,
}

impl<L: Lane> Blocks<L> {
    /// The profiles `order[0]`, `order[1]`, … of an ensemble of hard members.
    pub(crate) fn new(profiles: &Profiles, order: &[u32]) -> Self {
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
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// How many blocks there are.
    pub(crate) fn n_blocks(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    /// How many members there are.
    pub(crate) fn n_members(&self) -> usize {
        self.r
    }

    /// How many profiles block `b` holds: [`LANES`], or fewer in the last.
    pub(crate) fn in_block(&self, b: usize) -> usize {
        LANES.min(self.n - b * LANES)
    }

    /// The labels of block `b`, member by member.
    pub(crate) fn block(&self, b: usize) -> &[L] {
        &self.codes[b * LANES * self.r..(b + 1) * LANES * self.r]
    }

    /// The tuples of block `b`, profile by profile, without the empty lanes of the last block.
    pub(crate) fn tuples(&self, b: usize) -> Vec<L> {
        let block = self.block(b);
        (0..self.in_block(b))
            .flat_map(|lane| (0..self.r).map(move |h| block[h * LANES + lane]))
            .collect()
    }
}

/// How many members give the complete `tuple` and each profile of `block` the same label.
#[inline(always)]
pub(crate) fn votes<L: Lane>(tuple: &[L], block: &[L]) -> Lanes<L> {
    let mut votes = [L::default(); LANES];
    for (&label, labels) in tuple.iter().zip(block.chunks_exact(LANES)) {
        add_equal(&mut votes, label, labels);
    }
    votes
}

/// How many members give `tuple` and each profile of `block` the same label, and how many label
/// both.
#[inline(always)]
pub(crate) fn votes_of_both<L: Lane>(tuple: &[L], block: &[L]) -> (Lanes<L>, Lanes<L>) {
    let (mut votes, mut both) = ([L::default(); LANES], [L::default(); LANES]);
    for (&label, labels) in tuple.iter().zip(block.chunks_exact(LANES)) {
        if label != L::MISSING {
            add_equal(&mut votes, label, labels);
            for (both, &other) in both.iter_mut().zip(labels) {
                *both = both.plus(L::from(other != L::MISSING));
            }
        }
    }
    (votes, both)
}

/// Adds one in every lane whose label is `label`.
#[inline(always)]
pub(crate) fn add_equal<L: Lane>(counts: &mut Lanes<L>, label: L, labels: &[L]) {
    for (count, &other) in counts.iter_mut().zip(labels) {
        *count = count.plus(L::from(other == label));
    }
}

/// Which labels occur in a block: enough to tell that two blocks have little in common.
///
/// Where profiles are sorted by their labels a block holds few labels of each member, and most
/// blocks have hardly a label in common with a given one: by the pigeonhole principle no pair of
/// them can then share many votes.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    r: usize,
    /// For every block and member: a bit for each label that occurs, labels counted modulo 64.
    present: Vec<u64>,
    /// For every block and member: whether all profiles have a label.
    complete: Vec<bool>,
}

impl Contents {
    /// What occurs in `blocks`.
    pub(crate) fn new<L: Lane>(blocks: &Blocks<L>) -> Self {
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
    pub(crate) fn common(&self, i: usize, j: usize) -> impl Iterator<Item = (bool, bool)> {
        let of = |b: usize| b * self.r..(b + 1) * self.r;
        let may_vote =
            self.present[of(i)].iter().zip(&self.present[of(j)]).map(|(a, b)| a & b != 0);
        let labels = self.complete[of(i)].iter().zip(&self.complete[of(j)]).map(|(a, b)| *a && *b);
        may_vote.zip(labels)
    }
}

/// The profiles by their labels, the member with the most clusters counting first: neighbours share
/// many labels.
pub(crate) fn sorted_by_labels(profiles: &Profiles) -> Vec<u32> {
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
