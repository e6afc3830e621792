//! Ensembles from a table of features: a base clusterer run many times, made to differ by a scheme.
//!
//! [`GenerateParams`] say how, [`Generator::ensemble`] makes all members in parallel, and
//! [`Generator::on`] makes them one by one: member `i` reads the random stream
//! [`Stream::Member(i)`](crate::Stream::Member) and nothing else, so members can be made in any
//! order, on any number of threads, and one by one after an interruption.

mod base;
mod bootstrap;
mod committee;
mod cuts;
mod data;
mod generator;
mod model;
mod random_init;
mod random_k;
mod random_projection;
mod random_subspace;
mod scheme;
mod shared;

pub use base::{BASES, Base, BaseInfo, base};
#[doc(hidden)]
pub use bootstrap::Unseen;
pub use committee::Committee;
#[doc(hidden)]
pub use cuts::Seat;
pub(crate) use cuts::is_kept;
pub use data::Data;
pub use generator::{GenerateParams, Generated, GeneratedMember, Generator, GeneratorOn};
#[doc(hidden)]
pub use model::{Features, Fitted, KnownRows, Model, NO_CLUSTER};
pub use random_k::BaseK;
pub use scheme::{SCHEMES, Scheme, SchemeInfo, Share, scheme};
