//! What a result means and shows.

mod convergence;
mod dendrogram;

pub use convergence::voting_convergence;
pub use dendrogram::scipy_linkage;
