//! Ensembles of clusterings and their profiles.

mod agreement;
mod blocks;
mod canonical;
mod certainty;
mod chunks;
mod closest;
mod cluster_walks;
mod coassociation;
mod collection;
mod contingency;
mod disagreement;
mod elite;
mod encoder;
mod exact;
mod factor;
mod incidence;
mod joins;
mod labels;
mod lanes;
mod member;
mod merge;
mod packing;
mod prefixes;
mod profiles;
mod recode;
mod sample;
mod stream;
mod tally;
mod tuples;
mod votes;

pub use agreement::Majority;
pub(crate) use agreement::{agreement, agreement_cost};
pub use canonical::Canonical;
pub use chunks::Chunks;
pub use closest::Closest;
pub use coassociation::CoAssociation;
pub use collection::Ensemble;
pub use contingency::{Cell, Contingency};
pub use disagreement::Crowd;
pub use encoder::LabelEncoder;
pub use exact::ExactSum;
pub use factor::Factor;
pub(crate) use incidence::FEW_CLUSTERS;
pub(crate) use labels::with_codes;
pub use labels::{Code, Labels};
pub(crate) use member::first_of_largest;
pub use member::{HardMember, MEMBERSHIP_TOLERANCE, Member, SoftMember, argmax};
pub(crate) use prefixes::components_of_prefixes;
pub use profiles::{MISSING, NO_PROFILE, Parted, ProfileMember, Profiles};
pub use recode::Integer;
pub(crate) use sample::{
    Part, drawn, drawn_by, drawn_for, heaviest, joined, points_for, sample, sample_for,
};
pub use stream::{BlockMerge, Distinct};
#[cfg(test)]
pub(crate) use tally::tallied;
pub(crate) use tally::tally;
pub use tuples::Tuples;
pub use votes::Votes;
