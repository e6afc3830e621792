//! Graphs that know nothing of ensembles.

mod balance;
mod bisection;
pub(crate) mod hypergraph;
pub(crate) mod louvain;
pub(crate) mod partition;
mod pin_counts;
mod union_find;

pub(crate) use balance::Parts;
pub(crate) use hypergraph::Hypergraph;
pub(crate) use partition::Graph;
pub(crate) use union_find::UnionFind;
