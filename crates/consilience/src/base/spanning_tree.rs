//! The minimum spanning tree of the rows of a table, by Euclidean distance or mutual reachability.
//!
//! Of all pairs of rows the tree keeps the $n - 1$ that join everything at the least total length. Genie,
//! single link and density clustering need nothing else of the distances.
//!
//! Mutual reachability (R. J. G. B. Campello, D. Moulavi, J. Sander. *Density-Based Clustering Based on
//! Hierarchical Density Estimates.* PAKDD 2013) is $\max(c_a, c_b, \lVert a - b \rVert)$, with the core
//! distance $c_a$ to the $m$-th nearest row, the row itself included. With $m = 1$ it is the distance.
//!
//! Pairs are ordered by length, then by distance, then by the places of both among the sorted distinct
//! rows. No two are equal in that order, so there is one tree, whatever finds it, and it does not depend
//! on the order of rows.
//!
//! # Cost
//!
//! Rows of few columns: Borůvka's algorithm on a k-d tree, about $O(n \log n)$ for data that lie in
//! clusters. Otherwise Prim's algorithm without a matrix of distances, $n^2 d / 2$ products. Memory $O(nd)$
//! either way.

mod boruvka;
mod prim;

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::base::distinct_rows::DistinctRows;
use crate::base::kdtree::KdTree;
use crate::base::neighbours::core_squares;
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::run::Run;

/// An edge between two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// One row.
    pub a: u32,
    /// The other.
    pub b: u32,
    /// How far apart they are.
    pub length: f64,
}

/// The minimum spanning tree of the rows of a table: `n - 1` edges, the shortest first.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanningTree {
    n: usize,
    distinct: usize,
    edges: Vec<Edge>,
}

impl SpanningTree {
    /// The tree by Euclidean distance.
    ///
    /// # Errors
    ///
    /// If the table is empty, a value is not finite, or memory does not suffice.
    ///
    /// ```
    /// use consilience::base::SpanningTree;
    /// use consilience::{Matrix, Run};
    /// let data = Matrix::from_vec(4, 1, vec![0.0, 5.0, 1.0, 7.0]);
    /// let tree = SpanningTree::new(&data, &Run::new(0))?;
    /// let lengths: Vec<f64> = tree.edges().iter().map(|edge| edge.length).collect();
    /// assert_eq!(lengths, [1.0, 2.0, 4.0]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn new<'a, T: Float>(data: impl Into<Table<'a, T>>, run: &Run) -> Result<Self> {
        Self::mutual_reachability(data, 1, run)
    }

    /// The tree by mutual reachability, with core distances to the `min_samples`-th nearest row, the row
    /// itself included.
    pub fn mutual_reachability<'a, T: Float>(
        data: impl Into<Table<'a, T>>,
        min_samples: usize,
        run: &Run,
    ) -> Result<Self> {
        let data = data.into();
        let n = data.nrows();
        if min_samples == 0 || (min_samples > n && n > 0) {
            let expected = format!("between 1 and the number of rows, {n}");
            return Err(Error::parameter("min_samples", expected, min_samples));
        }
        let distinct = DistinctRows::new(&data, run)?;
        run.install(|| Self::of_distinct(&distinct, min_samples, run))
    }

    fn of_distinct(distinct: &DistinctRows, min_samples: usize, run: &Run) -> Result<Self> {
        let tree = KdTree::new(&distinct.values);
        let core = match min_samples {
            1 => None,
            _ => Some(core_squares(distinct, &tree, min_samples, run)?),
        };
        let mut links = if tree.is_worth_walking() {
            boruvka::links(&tree, core.as_deref(), run)?
        } else {
            prim::links(&distinct.values, core.as_deref(), run)?
        };
        links.par_sort_unstable_by(Link::compare);
        let mut edges = Vec::with_capacity(distinct.n_rows() - 1);
        // Equal rows are joined to the first of them, at their core distance; such links come before all
        // others of their length.
        let mut equal: Vec<(f64, usize)> = (0..distinct.len())
            .filter(|&u| distinct.rows(u).len() > 1)
            .map(|u| (core.as_ref().map_or(0.0, |core| core[u]), u))
            .collect();
        equal.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut equal = equal.into_iter().peekable();
        let mut put_equal = |edges: &mut Vec<Edge>, limit: f64| {
            while let Some((square, u)) = equal.next_if(|(square, _)| *square <= limit) {
                let rows = distinct.rows(u);
                let length = square.sqrt();
                edges.extend(rows[1..].iter().map(|&b| Edge { a: rows[0], b, length }));
            }
        };
        for link in &links {
            put_equal(&mut edges, link.square);
            let first = |u: u32| distinct.rows(u as usize)[0];
            edges.push(Edge { a: first(link.a), b: first(link.b), length: link.square.sqrt() });
        }
        put_equal(&mut edges, f64::INFINITY);
        Ok(SpanningTree { n: distinct.n_rows(), distinct: distinct.len(), edges })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// How many of the rows differ.
    pub fn n_distinct(&self) -> usize {
        self.distinct
    }

    /// The edges, the shortest first.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// An edge between two distinct rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    /// Its squared length.
    square: f64,
    /// The squared distance, which differs from it by mutual reachability.
    distance: f64,
    /// The row that is first among the distinct ones.
    a: u32,
    /// The other.
    b: u32,
}

impl Link {
    const NONE: Link =
        Link { square: f64::INFINITY, distance: f64::INFINITY, a: u32::MAX, b: u32::MAX };

    fn new(square: f64, distance: f64, a: u32, b: u32) -> Self {
        Link { square, distance, a: a.min(b), b: a.max(b) }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let lengths = self.square.total_cmp(&other.square);
        let distances = || self.distance.total_cmp(&other.distance);
        lengths.then_with(distances).then_with(|| (self.a, self.b).cmp(&(other.a, other.b)))
    }

    fn is_before(&self, other: &Self) -> bool {
        self.compare(other).is_lt()
    }
}

#[cfg(test)]
mod tests;
