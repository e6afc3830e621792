//! Ensembles of clusterings and their profiles.

mod agreement;
mod blocks;
mod canonical;
mod certainty;
mod cluster_walks;
mod coassociation;
mod collection;
mod contingency;
mod disagreement;
mod encoder;
mod factor;
mod incidence;
mod joins;
mod labels;
mod member;
mod merge;
mod packing;
mod prefixes;
mod profiles;
mod recode;

pub use agreement::Majority;
pub(crate) use agreement::{agreement, agreement_cost};
pub use canonical::Canonical;
pub use coassociation::CoAssociation;
pub use collection::Ensemble;
pub use contingency::{Cell, Contingency};
pub use disagreement::Crowd;
pub use encoder::LabelEncoder;
pub use factor::Factor;
pub(crate) use labels::with_codes;
pub use labels::{Code, Labels};
pub(crate) use member::first_of_largest;
pub use member::{HardMember, MEMBERSHIP_TOLERANCE, Member, SoftMember, argmax};
pub(crate) use prefixes::components_of_prefixes;
pub use profiles::{MISSING, NO_PROFILE, ProfileMember, Profiles};
pub use recode::Integer;
