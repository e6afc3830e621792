//! How many terms are added up over labels: what the time of methods is made of, counted in tests.
//!
//! Every way to the labels of profiles counts here: a label that is read is a term, and so is every
//! number that is added to a sum for it. A thread counts for itself, so that tests side by side do
//! not count for each other: what runs on one thread can be counted. Outside of tests this is
//! nothing.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static TERMS: Cell<u64> = const { Cell::new(0) };
}

/// Counts so many terms.
#[inline(always)]
#[cfg_attr(not(test), allow(unused_variables))]
pub(crate) fn tally(terms: usize) {
    #[cfg(test)]
    TERMS.set(TERMS.get() + terms as u64);
}

/// The terms that this thread has counted since it was last asked.
#[cfg(test)]
pub(crate) fn tallied() -> u64 {
    TERMS.replace(0)
}
