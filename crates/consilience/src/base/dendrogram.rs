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

/// The merges of `n` rows into one cluster, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct Dendrogram {
    n: usize,
    merges: Vec<Merge>,
}

impl Dendrogram {
    pub(super) fn new(n: usize, merges: Vec<Merge>) -> Self {
        debug_assert_eq!(merges.len() + 1, n, "one merge fewer than rows");
        Dendrogram { n, merges }
    }

    /// The merges, the first one first.
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The cluster of every row when there are `k` clusters, numbered by their first rows.
    ///
    /// # Errors
    ///
    /// Unless `k` is at least 1 and at most the number of rows.
    pub fn cut(&self, k: usize) -> Result<Vec<u32>> {
        check_k(k, self.n)?;
        let mut sets = UnionFind::new(self.n);
        for merge in &self.merges[..self.n - k] {
            sets.union(merge.a as usize, merge.b as usize);
        }
        Ok(sets.labels())
    }
}

/// Fails unless `n` rows can make `k` clusters.
fn check_k(k: usize, n: usize) -> Result<()> {
    if (1..=n).contains(&k) {
        return Ok(());
    }
    Err(Error::parameter("k", format!("at least 1 and at most {n}, the number of rows"), k))
}
