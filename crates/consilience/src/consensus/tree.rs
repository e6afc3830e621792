//! What methods that end in a dendrogram share.

use crate::base::linkage::{self, Dense, Factored, Join, Link};
use crate::consensus::method::Shape;
use crate::consensus::outcome::{Consensus, Merge};
use crate::error::Result;
use crate::run::Run;

/// Up to this many profiles the table of all pairs is faster than vectors.
pub(super) const DENSE_UP_TO: usize = 2048;

/// How many bytes [`average_link`] holds with `nonzero` coordinates a profile.
pub(super) fn average_link_cost(shape: &Shape, nonzero: usize) -> u64 {
    let (u, clusters) = (shape.u as u64, shape.total_clusters as u64);
    let dense = table_cost(shape);
    let vectors = 16 * u * clusters + 4 * u * nonzero as u64 + 128 * u;
    vectors.max(dense.min(8 * (DENSE_UP_TO * DENSE_UP_TO) as u64))
}

/// How many bytes [`average_link_of_table`] holds.
pub(super) fn table_cost(shape: &Shape) -> u64 {
    let u = shape.u as u64;
    8 * u * u + 64 * u
}

/// The tree of average link over items with these `weights`; `row(i, out)` writes the similarities of
/// item `i` to all items.
pub(super) fn average_link_of_table(
    weights: &[f64],
    row: impl Fn(usize, &mut [f64]) + Sync,
    run: &Run,
) -> Result<Vec<Join>> {
    linkage::chain(Dense::new(weights, Link::Average, 1.0, row), run)
}

/// The tree of average link over items with these `weights`, whose similarities are inner products.
///
/// `row(i, out)` writes the similarities of item `i` to all items, `entries(i)` lists the non-zero
/// coordinates of its vector, out of `dimension`. Which of the two is asked depends on the number of
/// items: a table of all pairs where it is small, vectors of groups elsewhere.
pub(super) fn average_link(
    weights: &[f64],
    row: impl Fn(usize, &mut [f64]) + Sync,
    dimension: usize,
    entries: impl Fn(usize) -> Vec<(u32, f64)>,
    run: &Run,
) -> Result<Vec<Join>> {
    if weights.len() <= DENSE_UP_TO {
        return average_link_of_table(weights, row, run);
    }
    linkage::chain(Factored::new(weights, Link::Average, 1.0, dimension, entries), run)
}

/// The consensus of `u` profiles that cuts their tree into `k` clusters; heights are 1 less
/// similarities. Warns if merges tie at the cut.
pub(super) fn cut_tree(u: usize, joins: &[Join], k: usize, run: &Run) -> Consensus {
    if k > 1 && k < u && joins[u - k - 1].similarity <= joins[u - k].similarity {
        run.warn(&format!(
            "the tree has no cut into {k} clusters: merges tie there, and which comes last is \
             arbitrary"
        ));
    }
    Consensus {
        dendrogram: Some(dendrogram(u, joins)),
        ..Consensus::from_labels(linkage::cut(u, joins, k), k)
    }
}

/// Merges of groups named by first items → merges of nodes.
fn dendrogram(u: usize, joins: &[Join]) -> Vec<Merge> {
    let mut node: Vec<u32> = (0..u as u32).collect();
    let merge = |(i, join): (usize, &Join)| {
        let (a, b) = (node[join.a as usize], node[join.b as usize]);
        node[join.a as usize] = (u + i) as u32;
        Merge { a, b, height: 1.0 - join.similarity }
    };
    joins.iter().enumerate().map(merge).collect()
}
