//! The report page: one self-contained HTML file.
//!
//! A [`Subject`] and its record are gathered into plain [`data`], from which [`page`](fn@page) makes the
//! file. That is a pure function: equal data give equal bytes. The page asks for nothing from
//! outside, and its Content-Security-Policy forbids that it could; only the one script and the one
//! style sheet whose hashes it names may run. What users wrote (names, labels, paths) reaches the
//! page as escaped text or inside a block of JSON, never as markup.

#![forbid(unsafe_code)]

mod bibtex;
pub mod data;
pub mod figures;
mod limit;
mod page;
pub mod paper;
mod subject;

pub use data::Report;
pub use page::{is_page, page};
pub use subject::{Names, Subject};
