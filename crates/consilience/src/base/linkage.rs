//! Hierarchical clustering of weighted items by similarity.
//!
//! Average, weighted and complete link run the nearest-neighbour chain; single link runs Prim's
//! algorithm. Similarities of votes are full of ties, so the tie rule is part of the definition:
//! a group is known by its first item, and among pairs of equal similarity the one whose first
//! items come first merges. For the links here that order of pairs keeps the chain exact: merging
//! two groups never brings a third nearer than the nearer of the two was.
//!
//! Equal similarities must also *be* equal numbers. For average link the store keeps totals
//! $T(A, B) = \sum_{i \in A, j \in B} w_i w_j s_{ij}$ and the driver compares
//! $T(A, B) / (w_A w_B)$: with integral weights and votes both are exact, and one correctly rounded
//! division gives equal fractions equal quotients. Averaging averages would not.

use rayon::prelude::*;

use crate::ensemble::tally;
use crate::error::Result;
use crate::graph::UnionFind;
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;

/// How the similarity of two groups follows from that of their items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// The mean over pairs of items (UPGMA).
    Average,
    /// The mean of the two merged groups' similarities (WPGMA).
    Weighted,
    /// The least over pairs of items.
    Complete,
}

/// One merge of two groups, each named by its first item, at a similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Join {
    /// The first item of one group, and of the merged one.
    pub a: u32,
    /// The first item of the other group; `a < b`.
    pub b: u32,
    /// The similarity at which they merge.
    pub similarity: f64,
}

/// Where the chain gets similarities of groups from.
pub(crate) trait Store {
    /// How many items there are; at first each is a group.
    fn items(&self) -> usize;

    /// Merges that the store makes before it is asked for any, a group's own before it is merged on.
    fn at_once(&mut self, _: &Run) -> Result<Vec<Join>> {
        Ok(vec![])
    }

    /// The group most similar to `a`, the first of equals, and the similarity. There is another.
    fn nearest(&mut self, a: u32) -> (u32, f64);

    /// Merges group `b` into group `a`; `a < b`.
    fn merge(&mut self, a: u32, b: u32);
}

/// The merges of all groups in `store` into one, by falling similarity.
///
/// # Cost
///
/// At most $3u$ calls of [`Store::nearest`] and $u - 1$ of [`Store::merge`].
pub(crate) fn chain(mut store: impl Store, run: &Run) -> Result<Vec<Join>> {
    let u = store.items();
    let mut joins = store.at_once(run)?;
    let mut chain: Vec<u32> = Vec::new();
    let mut on_chain = vec![false; u];
    while joins.len() + 1 < u {
        run.check()?;
        if chain.is_empty() {
            // The group of the first item is always there.
            chain.push(0);
            on_chain[0] = true;
        }
        let tip = *chain.last().expect("just filled");
        let (next, similarity) = store.nearest(tip);
        if on_chain[next as usize] {
            // Similarities rise along the chain, so `next` stands before the tip. Where they are equal
            // but for rounding it may stand further back: a tie like any other.
            let place = chain.iter().rposition(|&group| group == next).expect("it is on the chain");
            chain.drain(place..).for_each(|group| on_chain[group as usize] = false);
            let (a, b) = (tip.min(next), tip.max(next));
            store.merge(a, b);
            joins.push(Join { a, b, similarity });
            if joins.len() % 64 == 0 {
                run.tick("building the tree", joins.len() as u64, Some(u as u64 - 1))?;
            }
        } else {
            chain.push(next);
            on_chain[next as usize] = true;
        }
    }
    Ok(in_order(joins))
}

/// The merges of single link over `u` items by Prim's algorithm; `row(i, out)` writes the
/// similarities of item `i` to all items. Needs $O(u)$ memory and $u$ rows.
pub(crate) fn single(u: usize, row: impl Fn(usize, &mut [f64]), run: &Run) -> Result<Vec<Join>> {
    // `best[j]` is the most similar item of the tree to item j outside it, the first of equals.
    let mut best: Vec<(f64, u32)> = vec![(f64::NEG_INFINITY, 0); u];
    let mut outside: Vec<bool> = vec![true; u];
    let mut edges = Vec::with_capacity(u.saturating_sub(1));
    let mut similarities = vec![0.0; u];
    let mut newest = 0;
    for step in 1..u {
        run.tick("spanning tree", step as u64, Some(u as u64))?;
        outside[newest] = false;
        row(newest, &mut similarities);
        let mut next: Option<usize> = None;
        for j in 0..u {
            if outside[j] {
                if similarities[j] > best[j].0 {
                    best[j] = (similarities[j], newest as u32);
                }
                if next.is_none_or(|n| best[j].0 > best[n].0) {
                    next = Some(j);
                }
            }
        }
        newest = next.expect("an item is left outside");
        let (similarity, from) = best[newest];
        edges.push(Join { a: from, b: newest as u32, similarity });
    }
    // The edges of the tree by falling similarity are the merges; groups are renamed by their
    // first items on the way.
    edges.sort_by(|x, y| y.similarity.total_cmp(&x.similarity));
    let mut sets = UnionFind::new(u);
    let mut first: Vec<u32> = (0..u as u32).collect();
    for edge in &mut edges {
        let (x, y) = (sets.find(edge.a as usize), sets.find(edge.b as usize));
        let (a, b) = (first[x].min(first[y]), first[x].max(first[y]));
        sets.union(x, y);
        first[sets.find(x)] = a;
        (edge.a, edge.b) = (a, b);
    }
    Ok(edges)
}

/// Merges by falling similarity. A group's own merges come before those of what it is merged into, and are
/// made at least as similar; in a chain that evens out rounding.
pub(crate) fn in_order(mut joins: Vec<Join>) -> Vec<Join> {
    let u = joins.len() + 1;
    let mut last: Vec<f64> = vec![f64::INFINITY; u];
    for join in &mut joins {
        let (a, b) = (join.a as usize, join.b as usize);
        join.similarity = join.similarity.min(last[a]).min(last[b]);
        last[a] = join.similarity;
    }
    joins.sort_by(|x, y| y.similarity.total_cmp(&x.similarity));
    joins
}

/// The groups after the first `u - k` merges, numbered by their first items.
pub(crate) fn cut(u: usize, joins: &[Join], k: usize) -> Vec<u32> {
    let mut sets = UnionFind::new(u);
    for join in &joins[..u - k] {
        sets.union(join.a as usize, join.b as usize);
    }
    sets.labels()
}

/// All similarities of groups, $u \times u$; for any link.
///
/// Memory $8 u^2$ bytes; a merge and a look for the nearest take $O(u)$.
#[derive(Clone, Debug)]
pub(crate) struct Dense {
    /// Totals for average link, similarities for the others.
    values: Matrix,
    mass: Vec<f64>,
    groups: Vec<u32>,
    link: Link,
    divisor: f64,
}

impl Dense {
    /// The store of items with these `weights`; `row(i, out)` writes the similarities of item `i` to
    /// all items, times `divisor` (so that votes can be given as whole numbers).
    pub(crate) fn new(
        weights: &[f64],
        link: Link,
        divisor: f64,
        row: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Self {
        let u = weights.len();
        let mut values = Matrix::zeros(u, u);
        if u > 0 {
            values.as_mut_slice().par_chunks_mut(u).enumerate().for_each(|(i, out)| {
                row(i, out);
                if link == Link::Average {
                    out.iter_mut().zip(weights).for_each(|(s, w)| *s *= weights[i] * w);
                }
            });
        }
        let mass = if link == Link::Average { weights.to_vec() } else { vec![1.0; u] };
        Dense { values, mass, groups: (0..u as u32).collect(), link, divisor }
    }
}

impl Store for Dense {
    fn items(&self) -> usize {
        self.mass.len()
    }

    fn nearest(&mut self, a: u32) -> (u32, f64) {
        let row = self.values.row(a as usize);
        let mass = self.mass[a as usize];
        tally(self.groups.len());
        let mut best = (u32::MAX, f64::NEG_INFINITY);
        for &b in &self.groups {
            if b != a {
                let similarity = row[b as usize] / (mass * self.mass[b as usize]);
                if similarity > best.1 {
                    best = (b, similarity);
                }
            }
        }
        (best.0, best.1 / self.divisor)
    }

    fn merge(&mut self, a: u32, b: u32) {
        self.groups.retain(|&g| g != b);
        let (a, b) = (a as usize, b as usize);
        for &c in &self.groups {
            let c = c as usize;
            let (x, y) = (self.values[(a, c)], self.values[(b, c)]);
            let merged = match self.link {
                Link::Average => x + y,
                Link::Weighted => f64::midpoint(x, y),
                Link::Complete => x.min(y),
            };
            self.values[(a, c)] = merged;
            self.values[(c, a)] = merged;
        }
        if self.link == Link::Average {
            self.mass[a] += self.mass[b];
        }
    }
}

/// Similarities that are inner products: group $A$ is the vector $g_A = \sum_{i \in A} w_i x_i$
/// (average link) or the running mean (weighted link), and $T(A, B) = g_A^T g_B$.
///
/// Memory $O(u K)$ instead of $O(u^2)$; a look for the nearest costs $O(u)$ for every coordinate
/// in which the group is not zero, which for label tuples is $r$ at first.
#[derive(Clone, Debug)]
pub(crate) struct Factored {
    /// One row a coordinate, one column a group: a look adds up whole rows.
    coordinates: Matrix,
    /// The group at each column, ascending; dead columns hold [`DEAD`].
    at: Vec<u32>,
    /// The column of each group.
    column: Vec<u32>,
    /// The coordinates in which each group is not zero.
    support: Vec<Vec<u32>>,
    /// $w_A$ of each column; 1 for weighted link.
    mass: Vec<f64>,
    groups: Vec<u32>,
    link: Link,
    divisor: f64,
}

const DEAD: u32 = u32::MAX;

/// Below this many additions a look for the nearest runs on one thread.
const SERIAL: usize = 200_000;

/// Columns a thread looks at in one go.
const BLOCK: usize = 2048;

impl Factored {
    /// The store of items with these `weights` and vectors of `dimension` coordinates;
    /// `entries(i)` lists the non-zero coordinates of item `i`. Similarities are inner products
    /// divided by `divisor`. Complete link is no inner product: only `Average` and `Weighted`.
    pub(crate) fn new(
        weights: &[f64],
        link: Link,
        divisor: f64,
        dimension: usize,
        entries: impl Fn(usize) -> Vec<(u32, f64)>,
    ) -> Self {
        debug_assert!(link != Link::Complete);
        let u = weights.len();
        let scale = |i: usize| if link == Link::Average { weights[i] } else { 1.0 };
        let mut coordinates = Matrix::zeros(dimension, u);
        let mut support = Vec::with_capacity(u);
        for i in 0..u {
            let entries = entries(i);
            for &(c, x) in &entries {
                coordinates[(c as usize, i)] = scale(i) * x;
            }
            support.push(entries.into_iter().map(|(c, _)| c).collect());
        }
        Factored {
            coordinates,
            at: (0..u as u32).collect(),
            column: (0..u as u32).collect(),
            support,
            mass: (0..u).map(scale).collect(),
            groups: (0..u as u32).collect(),
            link,
            divisor,
        }
    }

    /// The first column of largest similarity to group `a` among `first..first + totals.len()`.
    fn nearest_in(&self, a: u32, first: usize, totals: &mut [f64]) -> (u32, f64) {
        let own = self.column[a as usize] as usize;
        let range = first..first + totals.len();
        totals.fill(0.0);
        let (support, coordinates) = (&self.support[a as usize], &self.coordinates);
        tally(support.len() * totals.len());
        vectorised(
            #[inline(always)]
            || {
                for &c in support {
                    let row = coordinates.row(c as usize);
                    let x = row[own];
                    totals.iter_mut().zip(&row[range.clone()]).for_each(|(t, y)| *t += x * y);
                }
            },
        );
        let mut best = (DEAD, f64::NEG_INFINITY);
        for (j, &total) in range.zip(&*totals) {
            let similarity = total / (self.mass[own] * self.mass[j]);
            if similarity > best.1 && self.at[j] != DEAD && j != own {
                best = (self.at[j], similarity);
            }
        }
        best
    }

    /// Drops dead columns.
    fn compact(&mut self) {
        let alive: Vec<usize> = (0..self.at.len()).filter(|&j| self.at[j] != DEAD).collect();
        let old = std::mem::replace(&mut self.coordinates, Matrix::zeros(0, 0));
        self.coordinates = Matrix::from_fn(old.nrows(), alive.len(), |c, j| old[(c, alive[j])]);
        self.mass = alive.iter().map(|&j| self.mass[j]).collect();
        self.at = alive.iter().map(|&j| self.at[j]).collect();
        for (j, &group) in self.at.iter().enumerate() {
            self.column[group as usize] = j as u32;
        }
    }
}

impl Store for Factored {
    fn items(&self) -> usize {
        self.column.len()
    }

    fn nearest(&mut self, a: u32) -> (u32, f64) {
        let columns = self.at.len();
        let work = columns * self.support[a as usize].len();
        let blocks = columns.div_ceil(BLOCK);
        let look = |block: usize| {
            let first = block * BLOCK;
            let mut totals = [0.0; BLOCK];
            self.nearest_in(a, first, &mut totals[..BLOCK.min(columns - first)])
        };
        // The first of equals, in the order of the blocks.
        let better = |x: (u32, f64), y: (u32, f64)| if y.1 > x.1 { y } else { x };
        let none = (DEAD, f64::NEG_INFINITY);
        let (b, similarity) = if work < SERIAL {
            (0..blocks).map(look).fold(none, better)
        } else {
            let found: Vec<_> = (0..blocks).into_par_iter().map(look).collect();
            found.into_iter().fold(none, better)
        };
        (b, similarity / self.divisor)
    }

    fn merge(&mut self, a: u32, b: u32) {
        self.groups.retain(|&g| g != b);
        let (i, j) = (self.column[a as usize] as usize, self.column[b as usize] as usize);
        let from = std::mem::take(&mut self.support[b as usize]);
        let mut both: Vec<u32> = self.support[a as usize].iter().copied().chain(from).collect();
        both.sort_unstable();
        both.dedup();
        for &c in &both {
            let (x, y) = (self.coordinates[(c as usize, i)], self.coordinates[(c as usize, j)]);
            self.coordinates[(c as usize, i)] =
                if self.link == Link::Average { x + y } else { f64::midpoint(x, y) };
        }
        self.support[a as usize] = both;
        if self.link == Link::Average {
            self.mass[i] += self.mass[j];
        }
        self.at[j] = DEAD;
        if self.groups.len() * 2 < self.at.len() && self.at.len() > 64 {
            self.compact();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Groups of which each is a little more similar to the next one round than to the one before, as rounding
    /// can make it.
    struct Round(Vec<u32>);

    impl Store for Round {
        fn items(&self) -> usize {
            self.0.len()
        }

        fn nearest(&mut self, a: u32) -> (u32, f64) {
            let place = self.0.iter().position(|&group| group == a).expect("a present group");
            (self.0[(place + 1) % self.0.len()], 0.5)
        }

        fn merge(&mut self, _: u32, b: u32) {
            self.0.retain(|&group| group != b);
        }
    }

    #[test]
    fn a_chain_that_rounding_bends_into_a_ring_still_merges_every_group_once() {
        for u in 3..8 {
            let joins = chain(Round((0..u).collect()), &Run::new(0)).unwrap();
            let mut merged: Vec<u32> = joins.iter().map(|join| join.b).collect();
            merged.sort_unstable();
            assert_eq!(merged, (1..u).collect::<Vec<_>>());
            for k in 1..=u as usize {
                let labels = cut(u as usize, &joins, k);
                assert_eq!(labels.iter().max(), Some(&(k as u32 - 1)));
            }
        }
    }

    /// The definition: of all pairs the most similar, the first of equals by first items, merges.
    /// `None` is single link.
    fn greedy(weights: &[f64], link: Option<Link>, s: &Matrix) -> Vec<Join> {
        let mut groups: Vec<Vec<usize>> = (0..weights.len()).map(|i| vec![i]).collect();
        let mut joins = Vec::new();
        while groups.len() > 1 {
            let similarity = |x: usize, y: usize| {
                let pairs =
                    || groups[x].iter().flat_map(|&i| groups[y].iter().map(move |&j| (i, j)));
                let mass = |g: &[usize]| g.iter().map(|&i| weights[i]).sum::<f64>();
                match link {
                    None => pairs().map(|p| s[p]).fold(f64::NEG_INFINITY, f64::max),
                    Some(Link::Complete) => pairs().map(|p| s[p]).fold(f64::INFINITY, f64::min),
                    Some(Link::Average) => {
                        pairs().map(|(i, j)| weights[i] * weights[j] * s[(i, j)]).sum::<f64>()
                            / (mass(&groups[x]) * mass(&groups[y]))
                    }
                    Some(Link::Weighted) => unreachable!("no function of the items alone"),
                }
            };
            let mut best = (0, 1, f64::NEG_INFINITY);
            for x in 0..groups.len() {
                for y in x + 1..groups.len() {
                    if similarity(x, y) > best.2 {
                        best = (x, y, similarity(x, y));
                    }
                }
            }
            let (x, y, similarity) = best;
            joins.push(Join { a: groups[x][0] as u32, b: groups[y][0] as u32, similarity });
            let moved = groups.remove(y);
            groups[x].extend(moved);
        }
        joins
    }

    /// Weighted label tuples: many ties, exact arithmetic.
    fn tuples() -> impl Strategy<Value = (Vec<f64>, Vec<[u32; 4]>)> {
        (1usize..14).prop_flat_map(|u| {
            (
                prop::collection::vec((1u32..4).prop_map(f64::from), u),
                prop::collection::vec([0u32..3, 0..3, 0..3, 0..3], u),
            )
        })
    }

    fn votes(rows: &[[u32; 4]]) -> Matrix {
        Matrix::from_fn(rows.len(), rows.len(), |i, j| {
            (0..4).filter(|&q| rows[i][q] == rows[j][q]).count() as f64
        })
    }

    fn dense(weights: &[f64], s: &Matrix, link: Link) -> Dense {
        Dense::new(weights, link, 1.0, |i, out| out.copy_from_slice(s.row(i)))
    }

    fn factored(weights: &[f64], rows: &[[u32; 4]], link: Link) -> Factored {
        Factored::new(weights, link, 1.0, 12, |i| {
            (0..4).map(|q| (3 * q as u32 + rows[i][q], 1.0)).collect()
        })
    }

    fn heights(joins: &[Join]) -> Vec<f64> {
        joins.iter().map(|j| j.similarity).collect()
    }

    /// The partitions just before the similarity falls: those do not depend on the order in which
    /// equal merges are listed.
    fn levels(u: usize, joins: &[Join]) -> Vec<Vec<u32>> {
        let falls = |k: &usize| {
            let done = u - k;
            joins.get(done).is_none_or(|next| next.similarity < joins[done - 1].similarity)
        };
        (1..u).filter(falls).map(|k| cut(u, joins, k)).collect()
    }

    proptest! {
        /// With the tie rule the chain gives the greedy tree, ties and all.
        #[test]
        fn the_chain_is_the_greedy_tree((weights, rows) in tuples()) {
            let (u, s, run) = (rows.len(), votes(&rows), Run::new(0).threads(1));
            for link in [Link::Average, Link::Complete] {
                let fast = chain(dense(&weights, &s, link), &run).unwrap();
                let slow = greedy(&weights, Some(link), &s);
                prop_assert_eq!(heights(&fast), heights(&slow));
                prop_assert_eq!(levels(u, &fast), levels(u, &slow));
            }
            let fast = single(u, |i, out| out.copy_from_slice(s.row(i)), &run).unwrap();
            let slow = greedy(&weights, None, &s);
            prop_assert_eq!(heights(&fast), heights(&slow));
            prop_assert_eq!(levels(u, &fast), levels(u, &slow));
        }

        #[test]
        fn both_stores_build_the_same_tree((weights, rows) in tuples()) {
            let (s, run) = (votes(&rows), Run::new(0).threads(1));
            for link in [Link::Average, Link::Weighted] {
                let from_dense = chain(dense(&weights, &s, link), &run).unwrap();
                let from_factors = chain(factored(&weights, &rows, link), &run).unwrap();
                prop_assert_eq!(from_dense, from_factors);
            }
        }
    }

    #[test]
    fn many_items_pass_through_blocks_and_compaction() {
        let run = Run::new(0);
        let mut rng = run.rng(crate::rng::Stream::Data);
        let rows: Vec<[u32; 4]> =
            (0..5000).map(|_| [0; 4].map(|_: u32| rng.below(3) as u32)).collect();
        let weights = vec![1.0; rows.len()];
        let s = votes(&rows[..300]);
        let small = factored(&weights[..300], &rows[..300], Link::Average);
        let small_dense = dense(&weights[..300], &s, Link::Average);
        assert_eq!(chain(small, &run).unwrap(), chain(small_dense, &run).unwrap());
        let tree = |threads: usize| {
            let run = run.clone().threads(threads);
            run.install(|| chain(factored(&weights, &rows, Link::Average), &run)).unwrap()
        };
        assert_eq!(tree(1), tree(2));
    }
}
