//! Genie, and single link: merges along the edges of the minimum spanning tree.
//!
//! M. Gagolewski, M. Bartoszuk, A. Cena. *Genie: A new, fast, and outlier-resistant hierarchical
//! clustering algorithm.* Information Sciences 363, 2016.
//!
//! Single link takes the edges by their length. Genie does so too, but while the sizes of the clusters are
//! too unequal, it takes the shortest edge that touches one of the smallest clusters. How unequal $m$
//! clusters of sizes $c_1, \ldots, c_m$ are is the Gini index
//!
//! $$ G = \frac{\sum_{i < j} |c_i - c_j|}{(m - 1)\, n}, $$
//!
//! 0 for equal sizes, near 1 for one giant and crumbs. Too unequal is above the threshold $g$; with
//! $g = 1$ Genie is single link.
//!
//! # Cost
//!
//! $O(n \log n)$ beside a pass over the edges for every size that the smallest cluster has in turn.

use serde::Serialize;

use crate::base::dendrogram::{Dendrogram, Merge};
use crate::base::spanning_tree::{Edge, SpanningTree};
use crate::error::{Error, Result};
use crate::graph::UnionFind;
use crate::run::Run;
use crate::setters::setters;

/// Parameters of Genie, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct GenieParams {
    threshold: f64,
}

impl Default for GenieParams {
    fn default() -> Self {
        GenieParams { threshold: 0.3 }
    }
}

impl GenieParams {
    setters! {
        /// The Gini index $g \in [0, 1]$ above which the smallest clusters merge first; 0.3 unless set.
        threshold: f64,
    }

    /// Proves the parameters valid, whatever the data.
    pub(crate) fn check(self) -> Result<Genie> {
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(Error::parameter("threshold", "between 0 and 1", self.threshold));
        }
        Ok(Genie(self))
    }
}

/// Genie with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Genie(GenieParams);

impl Genie {
    /// The merges, from the minimum spanning tree of the rows.
    pub(crate) fn merges(&self, tree: &SpanningTree, run: &Run) -> Result<Dendrogram> {
        let (n, edges) = (tree.n_rows(), tree.edges());
        let mut left = Left::new(edges.len());
        let mut sets = UnionFind::new(n);
        let mut sizes = Sizes::new(n);
        let mut merges = Vec::with_capacity(edges.len());
        // Edges before `from` touch no cluster of the size `smallest`.
        let (mut from, mut smallest) = (0, 0);
        while merges.len() < edges.len() {
            if merges.len() % 4096 == 0 {
                run.check()?;
            }
            let mut at = left.from(0);
            if sizes.gini() > self.0.threshold {
                if smallest != sizes.smallest {
                    (from, smallest) = (at, sizes.smallest);
                }
                at = left.from(from);
                let touches = |sets: &mut UnionFind, edge: Edge| {
                    sets.size(edge.a as usize) == smallest || sets.size(edge.b as usize) == smallest
                };
                while !touches(&mut sets, edges[at]) {
                    at = left.from(at + 1);
                }
                from = at;
            }
            let Edge { a, b, length } = edges[at];
            left.remove(at);
            sizes.merge(sets.size(a as usize), sets.size(b as usize));
            sets.union(a as usize, b as usize);
            merges.push(Merge { a, b, height: length });
        }
        Ok(Dendrogram::new(n, tree.n_distinct(), merges))
    }
}

/// The merges of single link, from the minimum spanning tree of the rows.
pub(super) fn single_link(tree: &SpanningTree) -> Dendrogram {
    let merge = |edge: &Edge| Merge { a: edge.a, b: edge.b, height: edge.length };
    let merges = tree.edges().iter().map(merge).collect();
    Dendrogram::new(tree.n_rows(), tree.n_distinct(), merges)
}

/// Edges that are left.
struct Left(Vec<u32>);

impl Left {
    fn new(n: usize) -> Self {
        Left((0..=n as u32).collect())
    }

    /// The first edge left from number `at` on.
    fn from(&mut self, at: usize) -> usize {
        let mut end = at;
        while self.0[end] as usize != end {
            end = self.0[end] as usize;
        }
        // Who comes this way again finds the end at once.
        let mut at = at;
        while at != end {
            at = std::mem::replace(&mut self.0[at], end as u32) as usize;
        }
        end
    }

    fn remove(&mut self, at: usize) {
        self.0[at] += 1;
    }
}

/// The sizes of all clusters, with their numbers and sums over prefixes (Fenwick's trees): a merge changes
/// $\sum_{i < j} |c_i - c_j|$ by what the three sizes differ from all others.
struct Sizes {
    /// How many clusters there are, and their sizes summed.
    all: (i64, i64),
    /// How many clusters there are of each size.
    count: Vec<i64>,
    prefixes: Vec<(i64, i64)>,
    differences: i64,
    smallest: u32,
}

impl Sizes {
    /// `n` clusters of size 1.
    fn new(n: usize) -> Self {
        let (count, prefixes) = (vec![0; n + 1], vec![(0, 0); n + 1]);
        let mut sizes = Sizes { all: (0, 0), count, prefixes, differences: 0, smallest: 1 };
        sizes.add(1, n as i64);
        sizes
    }

    fn gini(&self) -> f64 {
        let (clusters, rows) = self.all;
        self.differences as f64 / ((clusters - 1) as f64 * rows as f64)
    }

    /// Puts `times` clusters of one size in.
    fn add(&mut self, size: u32, times: i64) {
        self.count[size as usize] += times;
        let sum = times * i64::from(size);
        (self.all.0, self.all.1) = (self.all.0 + times, self.all.1 + sum);
        let mut at = size as usize;
        while let Some(prefix) = self.prefixes.get_mut(at) {
            (prefix.0, prefix.1) = (prefix.0 + times, prefix.1 + sum);
            at += at & at.wrapping_neg();
        }
    }

    /// $\sum_j |c - c_j|$ over all clusters.
    fn to_all(&self, size: u32) -> i64 {
        let (mut count, mut sum) = (0, 0);
        let mut at = size as usize;
        while at > 0 {
            (count, sum) = (count + self.prefixes[at].0, sum + self.prefixes[at].1);
            at &= at - 1;
        }
        let (size, (clusters, rows)) = (i64::from(size), self.all);
        (count * size - sum) + ((rows - sum) - (clusters - count) * size)
    }

    fn merge(&mut self, a: u32, b: u32) {
        for size in [a, b] {
            self.add(size, -1);
            self.differences -= self.to_all(size);
        }
        self.differences += self.to_all(a + b);
        self.add(a + b, 1);
        while self.count[self.smallest as usize] == 0 {
            self.smallest += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};

    /// Single link would cut off the last row first.
    #[test]
    fn small_clusters_merge_first() {
        let data = Matrix::from_vec(7, 1, vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 25.0]);
        let run = Run::new(0);
        let tree = SpanningTree::new(&data, &run).unwrap();
        let genie = GenieParams::default().threshold(0.2).check().unwrap();
        let labels = genie.merges(&tree, &run).unwrap().cut(2).unwrap();
        assert_eq!(labels, [0, 0, 0, 1, 1, 1, 1]);
    }

    fn tree(n: usize, d: usize, seed: u64) -> SpanningTree {
        let mut rng = Rng::new(seed, Stream::Data);
        let values = (0..n * d).map(|i| rng.normal() + (i / d % 3) as f64 * 2.0).collect();
        let data = Matrix::from_vec(n, d, values);
        SpanningTree::new(&data, &Run::new(0).threads(1)).unwrap()
    }

    /// The definition: sizes counted and edges looked through anew for every merge.
    fn plain(tree: &SpanningTree, threshold: f64) -> Vec<Merge> {
        let n = tree.n_rows();
        let mut cluster: Vec<usize> = (0..n).collect();
        let mut left = tree.edges().to_vec();
        let mut merges = Vec::new();
        while !left.is_empty() {
            let mut sizes = vec![0u32; n];
            cluster.iter().for_each(|&c| sizes[c] += 1);
            let present: Vec<u32> = sizes.iter().copied().filter(|&size| size > 0).collect();
            let differences: u32 =
                present.iter().flat_map(|a| present.iter().map(|b| a.abs_diff(*b))).sum();
            let gini = f64::from(differences / 2) / ((present.len() - 1) * n) as f64;
            let least = *present.iter().min().unwrap();
            let small = |row: u32| sizes[cluster[row as usize]] == least;
            let touches = |edge: &Edge| small(edge.a) || small(edge.b);
            let at = if gini > threshold { left.iter().position(touches) } else { Some(0) };
            let Edge { a, b, length } = left.remove(at.unwrap());
            let (to, from) = (cluster[a as usize], cluster[b as usize]);
            cluster.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
            merges.push(Merge { a, b, height: length });
        }
        merges
    }

    proptest! {
        #[test]
        fn the_merges_are_those_of_the_definition(
            n in 1usize..80, d in 1usize..4, seed: u64, tenths in 0u32..11,
        ) {
            let (tree, threshold) = (tree(n, d, seed), f64::from(tenths) / 10.0);
            let genie = GenieParams::default().threshold(threshold).check().unwrap();
            let merges = genie.merges(&tree, &Run::new(0)).unwrap();
            let expected = plain(&tree, threshold);
            prop_assert_eq!(merges.merges(), &expected[..]);
            if tenths == 10 {
                prop_assert_eq!(merges, single_link(&tree));
            }
        }
    }

    #[test]
    fn any_number_of_clusters_from_one_tree() {
        let tree = tree(30, 2, 0);
        let run = Run::new(0);
        let merges = GenieParams::default().check().unwrap().merges(&tree, &run).unwrap();
        for k in 1..=30 {
            let labels = merges.cut(k).unwrap();
            assert_eq!(labels.iter().max(), Some(&(k as u32 - 1)));
        }
        assert!(merges.cut(0).is_err());
        assert_eq!(merges.cut(31), Err(Error::TooFewRows { k: 31, distinct: 30 }));
    }

    #[test]
    fn thresholds_out_of_range_are_refused() {
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(GenieParams::default().threshold(bad).check().is_err());
        }
    }
}
