//! Disjoint sets of places in blocks, joined a block at a time.

// Only what is inlined into the dispatched call is compiled for the vector unit.
#![allow(clippy::inline_always)]

use crate::ensemble::pairs::lanes::Lanes;
use crate::graph::UnionFind;

/// Disjoint sets of places, each with a root that it had some time ago.
///
/// Where clusters are large, nearly all pairs that ask to be joined are joined already. Comparing
/// old roots, 64 at once, tells so without looking at the sets. A root grows stale only when its
/// set is joined to a larger one, so places are brought up to date $O(\log u)$ times each.
#[derive(Clone, Debug)]
pub(crate) struct Joins {
    sets: UnionFind,
    roots: Vec<u32>,
}

impl Joins {
    /// All places apart.
    pub(crate) fn new(places: usize) -> Self {
        Joins { sets: UnionFind::new(places), roots: (0..places as u32).collect() }
    }

    /// Joins `place` with the marked lanes of the block that starts at place `first`.
    #[inline(always)]
    pub(crate) fn join(&mut self, place: usize, first: usize, marked: &Lanes<bool>) {
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
    pub(crate) fn merged_with(mut self, mut other: Self) -> Self {
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
    pub(crate) fn labels(mut self, order: &[u32]) -> (Vec<u32>, usize) {
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
