//! Numerics that know nothing of ensembles.

mod assignment;
mod eigen;
mod exp;
mod lanczos;
mod matrix;
mod parts;
mod product;
mod shrink;
mod simplex;
mod trajectories;
mod vectorised;
mod xlogx;

pub use assignment::{max_assignment, max_assignment_dense};
pub use eigen::{Eigen, eigen, eigenvalues};
pub use exp::exp_branchless;
pub use lanczos::largest;
pub use matrix::Matrix;
pub use parts::products_of_parts_into;
pub use product::{mirror_lower, product, product_into, subtract_product, symmetric_product_into};
pub use shrink::shrink_singular_values;
pub use simplex::{minimise_on_simplex, project_to_simplex};
pub use trajectories::trajectory_cosines;
pub use vectorised::vectorised;
pub use xlogx::{XLogXTable, ln_branchless, xlogx, xlogx_branchless};
