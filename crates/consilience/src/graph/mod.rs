//! Graphs that know nothing of ensembles.

mod balance;
mod bisection;
pub mod hypergraph;
pub mod partition;
mod union_find;

pub use balance::Parts;
pub use hypergraph::Hypergraph;
pub use partition::Graph;
pub use union_find::UnionFind;
