//! What a result means and shows.

mod convergence;
mod dendrogram;
mod nearest;

pub use convergence::voting_convergence;
pub use dendrogram::scipy_linkage;
pub use nearest::Nearest;
