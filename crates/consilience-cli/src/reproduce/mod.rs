//! The papers' experiments, run again and printed beside the published figures.
//!
//! An experiment is data; one runner computes them all, cell by cell, and keeps a journal so that an
//! interrupted run goes on where it stopped. Tables put the figures side by side, statements judge
//! the papers' claims with their own test, and the page shows both.

mod chart;
pub(crate) mod experiment;
mod measure;
mod page;
pub(crate) mod runner;
mod sets;
mod statements;
pub(crate) mod tables;

pub(crate) use experiment::{Experiment, Protocol, experiments};
pub(crate) use page::page;
pub(crate) use runner::{JOURNAL, Journal, Scope, run_all};
pub(crate) use statements::{judge, statements_markdown};
pub(crate) use tables::{Table, csv, markdown};
