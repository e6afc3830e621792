//! Clusterings of plain tables: what ensembles are made of and methods end with.

// A kernel is compiled for the machine's wide registers only where it is inlined into the closure
// that `pulp::Arch::dispatch` runs.
#![allow(clippy::inline_always)]

pub(crate) mod bilinear_link;
mod components;
pub(crate) mod correlation;
mod dendrogram;
mod density;
mod distance;
mod distances;
mod distinct_rows;
mod exact_sum;
mod fuzzy_kmeans;
mod fuzzy_lanes;
mod genie;
mod gmm;
mod hierarchy;
mod kdtree;
mod kmeans;
pub(crate) mod linkage;
mod macqueen;
mod minibatch;
mod neighbour_cut;
mod neighbours;
mod panels;
mod predict;
mod scale;
mod spanning_tree;
mod sparse_matrix;
mod spectral;
mod start;
mod stats;
mod table;
mod uspec;
mod ward;

pub(crate) use components::principal_components;
pub use dendrogram::Merge;
pub use density::DensityParams;
pub use fuzzy_kmeans::FuzzyKMeansParams;
pub(crate) use fuzzy_kmeans::{memberships, memberships_sparse};
pub(crate) use genie::GenieParams;
pub use gmm::{Covariance, GmmModel, GmmParams};
pub use hierarchy::{HierarchyParams, Linkage};
pub use kmeans::KMeansParams;
pub(crate) use kmeans::{KMeans, KMeansFit};
pub(crate) use kmeans::{Packed, at_most};
pub(crate) use macqueen::MacQueenParams;
pub(crate) use minibatch::MiniBatchParams;
pub(crate) use neighbour_cut::NeighbourCutParams;
pub(crate) use neighbour_cut::cut_at_every;
pub use neighbours::{NearestRow, Neighbours};
pub(crate) use predict::{nearest_centres, nearest_centres_sparse};
pub(crate) use scale::Scaler;
pub use scale::{SCALINGS, Scaling};
pub use spanning_tree::SpanningTree;
pub use sparse_matrix::SparseMatrix;
pub(crate) use spectral::{MAX_BUILT, cost_of_order, spectral_cost};
pub(crate) use spectral::{SpectralParams, spectrum};
pub use start::Start;
pub use table::{Float, Table};
pub(crate) use uspec::USpecParams;
pub use uspec::{Representatives, USpecEmbedding};
