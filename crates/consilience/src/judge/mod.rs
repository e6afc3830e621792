//! What a consensus is worth: how many clusters the members speak for, whether there are any, who
//! supports what, and the verdict in plain sentences.
//!
//! Everything here is computed on profiles or on a fixed sample of them, never on pairs of objects:
//! it takes seconds where the consensus took minutes. A [`Judgement`] is all of it about one
//! [`Partition`].

mod blocks;
mod confidence;
mod convergence;
mod criteria;
mod dendrogram;
mod eigengap;
mod evidence;
mod judgement;
mod members;
mod modes;
mod nearest;
mod number;
mod overview;
mod resampling;
mod scatter;
mod stability;
mod support;
mod tracking;
mod verdict;

use crate::ensemble::Profiles;

pub use blocks::{Bin, Blocks, cohesion, consensus_order};
pub use confidence::{Confidence, coverage, is_whole};
pub use convergence::voting_convergence;
pub use criteria::{KCriteria, KRule, coassociation};
pub use dendrogram::scipy_linkage;
pub use evidence::{Evidence, Structure};
pub use judgement::{Judgement, Known, Partition};
pub use members::{Camp, MemberAgreement};
pub use nearest::{Assignment, Nearest, Unknown};
pub(crate) use number::ROWS as NUMBER_ROWS;
pub use number::{Clarity, KEvidence, Number, Strength};
pub use overview::{Border, CONFIDENCE_BARS, ClusterFacts, Overview};
pub use resampling::KCurve;
pub use scatter::Scatter;
pub(crate) use stability::FEWEST;
pub use stability::{Interval, Stability};
pub use support::{Placement, Support, Vote};
pub use tracking::Tracking;
pub use verdict::{Sentence, Tone};

/// How many objects the profiles stand for: the rows, or the total of their weights where that is
/// more, since an object of weight 3 is as good as three.
fn objects(profiles: &Profiles) -> usize {
    profiles.n_objects().max(profiles.total_weight().round() as usize)
}
