//! Consensus clustering: many clusterings of the same objects combined into one.

#![forbid(unsafe_code)]

pub mod base;
pub mod choose_k;
pub mod consensus;
pub mod data;
pub mod ensemble;
pub mod explain;
pub mod generate;
pub mod graph;
pub mod metrics;
mod setters;
#[cfg(test)]
mod testing;

pub use consilience_core::linalg;
use consilience_core::{error, rng, run};
pub use error::{Error, Result};
pub use rng::{Rng, Stream};
pub use run::{CancelFlag, Observer, Run, Silent, Stop};
