//! Borůvka's algorithm on a k-d tree.
//!
//! In every round each part of the forest takes the first of the edges that leave it. A row looks for its
//! nearest row of another part; boxes that are wholly of its own part are passed over, and so are boxes
//! farther away than what any row of the part has found. What a row finds, or that there was nothing
//! within reach, remains a bound in later rounds, since parts only grow: most rows inside a part never
//! look again.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::Link;
use crate::base::kdtree::{Distances, KdTree, LEAF, Node, Visitor, any_within};
use crate::error::Result;
use crate::graph::UnionFind;
use crate::linalg::vectorised;
use crate::run::Run;

/// Rows of one unit of parallel work.
const CHUNK: usize = 256;

/// No row, or a node of several parts.
const NONE: u32 = u32::MAX;

/// What is known about the edges from one row to other parts: the first of them, or only that all are
/// longer than `link.square` or as long.
#[derive(Clone, Copy)]
struct Known {
    link: Link,
    to: u32,
}

/// The tree's edges in no order; `core` has squared core distances by row.
pub(super) fn links(tree: &KdTree, core: Option<&[f64]>, run: &Run) -> Result<Vec<Link>> {
    let n = tree.len();
    let core = core.map(|core| Cores::new(tree, core));
    let nothing = Link { square: 0.0, ..Link::NONE };
    let mut known = vec![Known { link: nothing, to: NONE }; n];
    let mut parts = UnionFind::new(n);
    let mut links = Vec::with_capacity(n - 1);
    while parts.n_sets() > 1 {
        run.tick("spanning tree", links.len() as u64, Some(n as u64 - 1))?;
        let part = parts.labels();
        let of_leaf = |places: std::ops::Range<usize>| {
            let first = part[places.start];
            if part[places].iter().all(|&p| p == first) { first } else { NONE }
        };
        let round = Round {
            tree,
            core: core.as_ref(),
            of_node: tree.of_nodes(of_leaf, |a, b| if a == b { a } else { NONE }),
            // Squares are not negative, so that their bits are in their order.
            reach: (0..parts.n_sets()).map(|_| AtomicU64::new(f64::INFINITY.to_bits())).collect(),
            part: &part,
        };
        known.par_iter_mut().zip(&part).for_each(|(known, &own)| {
            if known.to != NONE && part[known.to as usize] != own {
                round.reach(own).fetch_min(known.link.square.to_bits(), Ordering::Relaxed);
            } else {
                known.to = NONE;
            }
        });
        known.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, known)| {
            run.check()?;
            round.look(chunk * CHUNK, known);
            Ok(())
        })?;
        let mut first = vec![(Link::NONE, NONE, NONE); parts.n_sets()];
        for (place, (known, &own)) in known.iter().zip(&part).enumerate() {
            let best = &mut first[own as usize];
            if known.to != NONE && known.link.is_before(&best.0) {
                *best = (known.link, place as u32, known.to);
            }
        }
        // Two parts may have taken the same edge.
        let new = first.into_iter().filter(|(_, a, b)| parts.union(*a as usize, *b as usize));
        links.extend(new.map(|(link, ..)| link));
    }
    Ok(links)
}

/// Squared core distances, by place, and the least of every node.
struct Cores {
    of_place: Vec<f64>,
    of_node: Vec<f64>,
}

impl Cores {
    fn new(tree: &KdTree, of_row: &[f64]) -> Self {
        let of_place: Vec<f64> = tree.rows().iter().map(|&row| of_row[row as usize]).collect();
        let least = |places: std::ops::Range<usize>| {
            of_place[places].iter().fold(f64::INFINITY, |a, &b| a.min(b))
        };
        let of_node = tree.of_nodes(least, f64::min);
        Cores { of_place, of_node }
    }
}

/// One round: all that rows need to look.
struct Round<'a> {
    tree: &'a KdTree,
    core: Option<&'a Cores>,
    /// The part of every place.
    part: &'a [u32],
    /// The part of every node, [`NONE`] if there are several.
    of_node: Vec<u32>,
    /// The square of the shortest edge found from each part.
    reach: Vec<AtomicU64>,
}

impl Round<'_> {
    fn reach(&self, part: u32) -> &AtomicU64 {
        &self.reach[part as usize]
    }

    /// The rows from place `start` on look for their nearest of another part, unless that is known.
    ///
    /// Which of them find the reach of their part shortened already depends on the threads, but the
    /// first edge of a part is never out of reach.
    fn look(&self, start: usize, known: &mut [Known]) {
        let mut point = self.tree.room();
        let point = &mut point;
        vectorised(
            #[inline(always)]
            || {
                for (place, known) in (start..).zip(known.iter_mut()) {
                    let reach = self.reach(self.part[place]);
                    let within = f64::from_bits(reach.load(Ordering::Relaxed));
                    if known.to != NONE || known.link.square > within {
                        continue;
                    }
                    let core = self.core.map_or(0.0, |core| core.of_place[place]);
                    if core > within {
                        known.link.square = core;
                        continue;
                    }
                    self.tree.point(place, point);
                    let nothing = Link { square: within, ..Link::NONE };
                    let mut look = Look {
                        round: self,
                        part: self.part[place],
                        row: self.tree.rows()[place],
                        core,
                        found: Known { link: nothing, to: NONE },
                    };
                    self.tree.walk(point, &mut look);
                    *known = look.found;
                    if known.to != NONE {
                        reach.fetch_min(known.link.square.to_bits(), Ordering::Relaxed);
                    }
                }
            },
        );
    }
}

/// One row's look for its nearest of another part.
struct Look<'a> {
    round: &'a Round<'a>,
    part: u32,
    row: u32,
    core: f64,
    found: Known,
}

impl Look<'_> {
    #[inline(always)]
    fn reach(&self) -> f64 {
        self.found.link.square
    }
}

impl Visitor for Look<'_> {
    #[inline(always)]
    fn enters(&self, node: Node, gap: f64) -> bool {
        let node = node.index as usize;
        gap <= self.reach()
            && self.round.of_node[node] != self.part
            && self.round.core.is_none_or(|core| core.of_node[node] <= self.reach())
    }

    #[inline(always)]
    fn leaf(&mut self, place: usize, distances: &Distances) {
        if !any_within(distances, self.reach()) {
            return;
        }
        for l in 0..LEAF.min(self.round.part.len() - place) {
            let distance = distances[l];
            if distance > self.reach() || self.round.part[place + l] == self.part {
                continue;
            }
            let core = self.round.core.map_or(0.0, |core| core.of_place[place + l]);
            let square = distance.max(core).max(self.core);
            if square <= self.reach() {
                let other = self.round.tree.rows()[place + l];
                let link = Link::new(square, distance, self.row, other);
                if link.is_before(&self.found.link) {
                    self.found = Known { link, to: (place + l) as u32 };
                }
            }
        }
    }
}
