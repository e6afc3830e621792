//! Numerics that know nothing of ensembles.

mod eigen;
mod lanczos;
mod matrix;
mod product;

pub use eigen::{Eigen, eigen, eigenvalues};
pub use lanczos::largest;
pub use matrix::Matrix;
pub use product::{mirror_lower, product, product_into, subtract_product, symmetric_product_into};
