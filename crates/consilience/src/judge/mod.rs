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

#[doc(hidden)]
pub use blocks::{Bin, Blocks, consensus_order};
pub use confidence::Confidence;
pub(crate) use confidence::coverage;
#[doc(hidden)]
pub use confidence::is_whole;
#[doc(hidden)]
pub use convergence::voting_convergence;
pub use criteria::{KCriteria, KRule};
#[doc(hidden)]
pub use dendrogram::scipy_linkage;
pub use evidence::{Evidence, Structure};
pub use judgement::{Judgement, Known, Partition};
pub use members::{Camp, MemberAgreement};
#[doc(hidden)]
pub use nearest::Unknown;
pub use nearest::{Assignment, Nearest};
pub(crate) use number::ROWS as NUMBER_ROWS;
pub use number::{Clarity, KEvidence, Number, Strength};
#[doc(hidden)]
pub use overview::{Border, CONFIDENCE_BARS, ClusterFacts, Overview};
#[doc(hidden)]
pub use resampling::KCurve;
#[doc(hidden)]
pub use scatter::Scatter;
pub(crate) use stability::FEWEST;
pub use stability::{Interval, Stability};
#[doc(hidden)]
pub use support::{Placement, Support, Vote};
#[doc(hidden)]
pub use tracking::Tracking;
pub use verdict::{Sentence, Tone};

/// How many objects the profiles stand for: the rows, or the total of their weights where that is
/// more, since an object of weight 3 is as good as three.
fn objects(profiles: &Profiles) -> usize {
    profiles.n_objects().max(profiles.total_weight().round() as usize)
}
