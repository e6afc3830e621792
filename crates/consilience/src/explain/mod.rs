//! What a result means and shows.
//!
//! Everything here is computed on profiles or on a fixed sample of them, never on pairs of objects:
//! it takes seconds where the consensus took minutes.

mod align;
mod blocks;
mod components;
mod convergence;
mod dendrogram;
mod members;
mod nearest;
mod overview;
mod support;
mod tracking;
mod verdict;

pub use align::Alignment;
pub use blocks::{Bin, Blocks, cohesion, consensus_order};
pub use components::{Components, principal_components};
pub use convergence::voting_convergence;
pub use dendrogram::scipy_linkage;
pub use members::{Camp, MemberAgreement};
pub use nearest::{Assignment, Nearest, Unknown};
pub use overview::{Border, CONFIDENCE_BARS, ClusterFacts, Overview};
pub use support::{Choice, Support, Vote};
pub use tracking::Tracking;
pub use verdict::{Circumstances, Sentence, Tone, verdict};
