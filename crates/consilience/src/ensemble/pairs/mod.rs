//! What the members say about pairs of profiles: who is put together, by how many, and how near.

pub(crate) mod agreement;
mod blocks;
pub(crate) mod coassociation;
pub(crate) mod disagreement;
pub(crate) mod linked;
pub(crate) mod majority;
mod neighbours;
pub(crate) mod prefixes;
pub(crate) mod votes;
