//! Ensembles of clusterings and their profiles.

mod canonical;
mod coassociation;
mod collection;
mod contingency;
mod encoder;
mod incidence;
mod labels;
mod member;
mod merge;
mod packing;
mod profiles;
mod recode;

pub use canonical::Canonical;
pub use coassociation::CoAssociation;
pub use collection::Ensemble;
pub use contingency::{Cell, Contingency};
pub use encoder::LabelEncoder;
pub(crate) use labels::with_codes;
pub use labels::{Code, Labels};
pub use member::{HardMember, MEMBERSHIP_TOLERANCE, Member, SoftMember, argmax};
pub use profiles::{MISSING, NO_PROFILE, ProfileMember, Profiles};
pub use recode::Integer;
