//! Graphs that know nothing of ensembles.

mod adjacency;
mod balance;
mod bisection;
mod edges;
pub(crate) mod hypergraph;
pub(crate) mod louvain;
pub(crate) mod map_equation;
pub(crate) mod partition;
mod pin_counts;
pub(crate) mod planted;
mod union_find;

pub(crate) use adjacency::Adjacency;
pub(crate) use balance::Parts;
pub use edges::Edges;
pub(crate) use hypergraph::Hypergraph;
pub(crate) use partition::Graph;
pub(crate) use union_find::UnionFind;
