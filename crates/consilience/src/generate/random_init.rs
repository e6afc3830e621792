//! Random starts (RI): the same clusterer on the same table, started elsewhere.
//!
//! Members differ as far as the clusterer has several local optima: little on clear clusters.

use crate::generate::scheme::{Scheme, SchemeInfo};

/// What there is to know about the scheme.
pub(super) const INFO: SchemeInfo = SchemeInfo {
    name: "random-init",
    title: "every member starts from other random rows",
    make: || Scheme::RandomInit,
};
