//! The native routines behind the R package `consilience`.
//!
//! Everything here is private to the package: its R part turns what users give into members (codes
//! with the names of clusters, or memberships), calls these routines, and dresses the plain vectors,
//! matrices and lists that come back. Nothing that R holds points into Rust but running work: results
//! can be saved and loaded as any R object.
//!
//! Every routine takes one list and gives either a [job](job::Job), which R waits for, or the
//! [reason](failure::Failure) why there is none. R raises the error, so that no jump of R's crosses a
//! Rust frame.

// Without R there is nothing to bind to.
#![cfg(feature = "r")]
// Routines that R calls own what was made of its objects.
#![allow(clippy::needless_pass_by_value)]
// What registers them with R, and what takes arguments from it, is written by macros.
#![allow(missing_docs, clippy::used_underscore_binding)]

mod agreement;
mod consensus;
mod data;
mod failure;
mod generate;
mod given;
mod job;
mod members;
mod models;
mod profiles;
mod report;
mod resolve;
mod told;

use extendr_api::prelude::*;

extendr_module! {
    mod consilience;
    use agreement;
    use consensus;
    use data;
    use generate;
    use job;
    use profiles;
    use report;
    use resolve;
}
