//! Rules that find the number of clusters.
//!
//! They look at the ensemble alone and err in different ways; [`KCriteria`] holds them side by side
//! and says which number it recommends.

mod criteria;
mod eigengap;
mod eigenvalue;
mod evidence;
pub mod lifetime;
mod modes;
mod resampling;

use crate::ensemble::Profiles;

pub use criteria::{KCriteria, KRule};
pub use eigengap::{bipartite_eigenvalues, largest_gap};
pub use eigenvalue::{cumulative_shares, dominating};
pub use evidence::{Evidence, Verdict};
pub use resampling::KCurve;

/// How many objects the profiles stand for: the rows, or the total of their weights where that is
/// more, since an object of weight 3 is as good as three.
fn objects(profiles: &Profiles) -> usize {
    profiles.n_objects().max(profiles.total_weight().round() as usize)
}
