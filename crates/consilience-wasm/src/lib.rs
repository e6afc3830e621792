//! The page that computes: what a Web Worker calls, and what it is told.
//!
//! A file that was dropped on the page goes in as bytes, with the page's settings as JSON ([`Asked`]); a consensus,
//! its verdict, the report page and the tables come out as named bytes ([`Hearer`]). `job` is the way from the one to
//! the other and knows nothing of browsers; `boundary` is the only file that does, and the only one with
//! `unsafe` code.
//!
//! Everything runs on one thread. The page measures time, and ends the worker to cancel.

#![deny(unsafe_code)]

mod asked;
#[cfg(target_family = "wasm")]
mod boundary;
mod examples;
mod failure;
mod guess;
mod job;

pub use asked::Asked;
pub use examples::{EXAMPLES, Example};
pub use failure::Failure;
pub use job::{Hearer, run};
