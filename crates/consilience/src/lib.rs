//! Consensus clustering: many clusterings of the same objects combined into one.

#![forbid(unsafe_code)]

pub mod base;
pub mod choose_k;
pub mod consensus;
pub mod data;
pub mod ensemble;
mod error;
pub mod explain;
pub mod generate;
pub mod graph;
pub mod linalg;
pub mod metrics;
mod rng;
mod run;
#[cfg(test)]
mod testing;

pub use error::{Error, Result};
pub use rng::{Rng, Stream};
pub use run::{CancelFlag, Observer, Run, Silent, Stop};
