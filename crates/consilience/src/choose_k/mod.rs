//! Rules that find the number of clusters.

mod eigenvalue;
pub mod lifetime;

pub use eigenvalue::{cumulative_shares, dominating};
