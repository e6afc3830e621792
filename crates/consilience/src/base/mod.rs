//! Clusterings of plain tables: what ensembles are made of and methods end with.

// A kernel is compiled for the machine's wide registers only where it is inlined into the closure
// that `pulp::Arch::dispatch` runs.
#![allow(clippy::inline_always)]

pub mod correlation;
mod distance;
mod exact_sum;
pub mod fuzzy_kmeans;
mod fuzzy_lanes;
pub mod kmeans;
pub mod linkage;
pub mod macqueen;
pub mod minibatch;
mod panels;
mod predict;
mod scale;
mod sparse_matrix;
pub mod spectral;
mod start;
mod stats;
mod table;
pub mod uspec;

pub use fuzzy_kmeans::{
    FuzzyKMeans, FuzzyKMeansFit, FuzzyKMeansParams, memberships, memberships_sparse,
};
pub(crate) use kmeans::Packed;
pub use kmeans::{KMeans, KMeansFit, KMeansParams};
pub use macqueen::{MacQueen, MacQueenParams};
pub use minibatch::{MiniBatch, MiniBatchParams};
pub use predict::{CentreFit, nearest_centres, nearest_centres_sparse};
pub use scale::{SCALINGS, Scaler, Scaling};
pub use sparse_matrix::SparseMatrix;
pub use spectral::{Embedding, Spectral, SpectralFit, SpectralParams, spectrum};
pub(crate) use spectral::{MAX_BUILT, cost_of_order, spectral_cost};
pub use start::Start;
pub use table::{Float, Table};
pub use uspec::{Representatives, USpec, USpecEmbedding, USpecFit, USpecParams};
