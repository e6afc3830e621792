//! Ensembles of clusterings and their profiles.
//!
//! * `labels`: members of an ensemble, and how labels become narrow codes;
//! * `distinct`: merging equal label tuples, of a whole ensemble or block by block;
//! * `profiles`: the distinct tuples with their weights, in any order, whole or sampled;
//! * `clusters`: products with the incidence matrix of profiles and clusters, and what comes of them;
//! * `pairs`: what the members say about pairs of profiles.

mod clusters;
mod distinct;
mod labels;
mod pairs;
mod profiles;

pub(crate) use clusters::FEW_CLUSTERS;
pub use clusters::contingency::{Cell, Contingency};
pub(crate) use clusters::factor::Factor;
pub use distinct::blocks::{BlockMerge, Distinct};
pub use distinct::exact::ExactSum;
pub use distinct::tuples::Tuples;
pub use labels::coder::{Integer, LabelEncoder};
pub use labels::collection::Ensemble;
pub use labels::member::{HardMember, MEMBERSHIP_TOLERANCE, Member, SoftMember};
pub(crate) use labels::member::{argmax, first_of_largest};
pub(crate) use labels::with_codes;
pub use labels::{Code, Labels};
pub(crate) use pairs::agreement::{agreement, agreement_cost};
pub use pairs::coassociation::CoAssociation;
pub(crate) use pairs::disagreement::Crowd;
pub use pairs::linked::Linked;
pub use pairs::majority::Majority;
pub(crate) use pairs::prefixes::components_of_prefixes;
pub use pairs::votes::Votes;
pub(crate) use profiles::ProfileMember;
pub use profiles::canonical::Canonical;
pub(crate) use profiles::chunks::Chunks;
pub use profiles::moves::Parted;
pub(crate) use profiles::sample::{SAMPLE, drawn, drawn_by, drawn_for, sample};
#[cfg(test)]
pub(crate) use profiles::tally::tallied;
pub(crate) use profiles::tally::tally;
pub use profiles::{MISSING, NO_PROFILE, Profiles};
