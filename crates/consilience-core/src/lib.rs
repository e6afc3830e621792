//! The ground floor of consilience: what can go wrong, seeded random streams, the circumstances of a
//! computation, and dense numerics that know nothing of ensembles.
//!
//! It is a crate of its own for one reason: the generic routines of the linear algebra library are
//! compiled here once, and not again with every edit of a consensus method. Users find everything
//! re-exported by the crate `consilience`.

#![forbid(unsafe_code)]

pub mod error;
pub mod linalg;
pub mod math;
pub mod rng;
pub mod run;
pub mod watch;

pub use error::{Asked, Error, Result};
pub use rng::{Rng, Stream};
pub use run::{CancelFlag, Observer, Run, Silent, Stop};
