//! Numerics that know nothing of ensembles.

mod matrix;

pub use matrix::Matrix;
