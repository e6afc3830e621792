//! Which method `auto` stands for.
//!
//! The rule reads nothing but what the user knows beforehand, so that the same command means the
//! same method on tomorrow's data:
//!
//! * the number of clusters is given → [SCEC](crate::consensus::Scec), which is linear in the number
//!   of profiles, uses soft and missing labels as they are, and tells what corresponds to what;
//! * it is not → [majority voting](crate::consensus::Voting), which finds it.

use crate::consensus::method::MethodInfo;
use crate::consensus::{scec, voting};

/// What `auto` stands for, and why.
#[derive(Clone, Copy, Debug)]
pub struct AutoMethod {
    /// The method.
    pub info: &'static MethodInfo,
    /// Why this one, as a clause that follows "because".
    pub reason: &'static str,
}

/// The method that `auto` stands for when `k` clusters are asked for.
pub fn auto(k: Option<usize>) -> AutoMethod {
    match k {
        Some(_) => AutoMethod { info: &scec::INFO, reason: "the number of clusters is given" },
        None => AutoMethod {
            info: &voting::INFO,
            reason: "the number of clusters is not given, and it finds one",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Settings;

    #[test]
    fn the_choice_can_be_built_with_what_was_given() {
        for k in [None, Some(1), Some(7)] {
            assert!(auto(k).info.with(k, &Settings::default()).is_ok(), "k = {k:?}");
        }
    }
}
