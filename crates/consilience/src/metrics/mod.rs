//! Measures of agreement between clusterings, of diversity within an ensemble, and of whether a
//! difference between methods is more than chance.
//!
//! All measures of agreement are functions of a [contingency table][table], hence weighted, and taken
//! over the objects that both clusterings label. [`METRICS`] lists them: the command line's
//! scores, the documentation and the tests of their common properties come from that table.
//!
//! # Degenerate cases
//!
//! No measure is ever NaN. Where *no object is labelled in both* there is no evidence of agreement:
//! all similarities are 0, the error rate is 1, and the variation of information, which has no
//! largest value to give, is 0 like every sum over nothing. [`Contingency::is_empty`][empty] tells
//! the case apart; the averages of [`anmi`] and [`Diversity`] leave such pairs out. The other
//! cases (one cluster, all singletons, one object) are told with each measure.
//!
//! [table]: crate::ensemble::Contingency
//! [empty]: crate::ensemble::Contingency::is_empty

mod accuracy;
mod ami;
mod anmi;
mod ari;
mod diversity;
mod element_centric;
mod homogeneity;
mod information;
mod nmi;
mod pc_idx;
mod purity;
mod table;
mod ttest;
mod vi;

pub use accuracy::accuracy;
pub(crate) use accuracy::error_rate;
pub use ami::adjusted_mutual_information;
pub use anmi::{anmi, anmi_of_tables};
pub(crate) use ari::rand;
pub use ari::{adjusted_rand, fowlkes_mallows};
pub use diversity::{ConsensusDiversity, Diversity, Spread, member_diversity};
pub(crate) use element_centric::element_similarity_and_chance;
#[cfg(test)]
pub(crate) use element_centric::element_similarity_of_shuffled;
pub use element_centric::{ElementCentric, element_similarity};
pub use homogeneity::{completeness, homogeneity};
pub(crate) use information::Information;
pub use nmi::{Normalisation, nmi};
pub use pc_idx::{Matching, pc_idx};
pub use purity::purity;
pub use table::{METRICS, MetricInfo, metric};
pub use ttest::{TTest, paired_t_test};
pub use vi::variation_of_information;
