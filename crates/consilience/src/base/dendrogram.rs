//! A tree of merges: all numbers of clusters from one fit.

use crate::error::{Error, Result};
use crate::graph::UnionFind;

/// One merge of the clusters that two rows are in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merge {
    /// A row of one cluster.
    pub a: u32,
    /// A row of the other.
    pub b: u32,
    /// The distance of the two clusters, as the clusterer takes it. It may fall from one merge to the next.
    pub height: f64,
}

/// The merges of `n` rows into one cluster, in their order; those of equal rows come first.
#[derive(Clone, Debug, PartialEq)]
pub struct Dendrogram {
    n: usize,
    distinct: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    /// The merges of `n` rows, of which `distinct` differ.
    pub(super) fn new(n: usize, distinct: usize, merges: Vec<Merge>) -> Self {
        debug_assert_eq!(merges.len() + 1, n, "one merge fewer than rows");
        Dendrogram { n, distinct, merges }
    }

    /// The merges, the first one first.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The cluster of every row when there are `k` clusters, numbered by their first rows.
    ///
    /// # Errors
    ///
    /// If `k` is 0, or there are fewer distinct rows: equal ones are never told apart.
    pub fn cut(&self, k: usize) -> Result<Vec<u32>> {
        if k == 0 {
            return Err(Error::parameter("k", "at least 1", k));
        }
        if k > self.distinct {
            return Err(Error::TooFewRows { k, distinct: self.distinct });
        }
        let mut sets = UnionFind::new(self.n);
        for merge in &self.merges[..self.n - k] {
            sets.union(merge.a as usize, merge.b as usize);
        }
        Ok(sets.labels())
    }
}
