//! Graphs that know nothing of ensembles.

mod union_find;

pub use union_find::UnionFind;
