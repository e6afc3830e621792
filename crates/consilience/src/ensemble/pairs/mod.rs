//! What the members say about pairs of profiles: who is put together, by how many, and how near.

pub(crate) mod agreement;
pub(crate) mod coassociation;
pub(crate) mod disagreement;
mod elite;
mod joins;
pub(crate) mod lanes;
pub(crate) mod prefixes;
pub(crate) mod votes;
