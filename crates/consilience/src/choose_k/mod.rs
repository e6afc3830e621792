//! Rules that find the number of clusters.

pub mod lifetime;
