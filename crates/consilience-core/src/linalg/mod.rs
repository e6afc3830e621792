//! Numerics that know nothing of ensembles.

mod assignment;
mod chebyshev;
mod eigen;
mod lanczos;
pub mod lanes;
mod matrix;
mod parts;
mod product;
mod shrink;
mod simplex;
mod trajectories;
mod xlogx;

pub use crate::{by_lanes, unrolled};
pub use assignment::{max_assignment, max_assignment_dense};
pub use chebyshev::largest_filtered;
pub use eigen::{Eigen, eigen, eigenvalues};
pub use lanczos::largest;
pub use lanes::{exp_branchless, ln_branchless, vectorised, xlogx_branchless};
pub use matrix::Matrix;
pub use parts::products_of_parts_into;
pub use product::{mirror_lower, product, product_into, subtract_product, symmetric_product_into};
pub use shrink::shrink_singular_values;
pub use simplex::{minimise_on_simplex, project_to_simplex};
pub use trajectories::{symmetric_trajectory_cosines, trajectory_cosines};
pub use xlogx::{XLogXTable, xlogx};
