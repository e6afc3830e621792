//! What a result means and shows.

mod dendrogram;

pub use dendrogram::scipy_linkage;
