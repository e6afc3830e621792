//! Consensus methods: many clusterings in, one out.
//!
//! A method is one file here and one line in [`METHODS`]. It sees [`Profiles`](crate::ensemble::Profiles) and answers with a
//! [`Consensus`] about those profiles; [`combine`] is the front door that makes the answer
//! independent of the order of objects and members and numbers the clusters.

pub mod anmi_greedy;
mod auto;
mod balanced;
pub mod bce;
pub mod best_member;
mod block_matrix;
mod certainty;
mod clustering;
mod combine;
mod competition;
pub mod cspa;
pub(crate) mod dominating;
mod driver;
pub mod ea;
pub mod ec_cms;
pub mod ecpcs;
pub mod ecpcs_mc;
pub mod edge_cut;
pub mod gwca;
pub mod hbgf;
pub mod hgpa;
pub mod hierarchical;
pub mod kc;
pub mod kcc;
pub(crate) mod lifetime;
pub mod local_search;
pub mod lwea;
pub mod lwgp;
pub mod mcla;
mod method;
pub mod mmec;
pub mod nmfc;
mod outcome;
mod params;
pub mod pivot;
pub mod pta;
pub mod ptgp;
pub mod qmi;
pub mod rce;
pub mod relabel_vote;
pub mod rmsc;
pub mod robust_clusters;
mod row_kmeans;
pub mod sa;
pub mod scec;
pub mod sdgca;
pub mod sec;
mod seeds;
mod settings;
mod start;
#[cfg(test)]
mod tests;
mod tree;
pub mod voting;
pub mod voting_merging;
pub mod wct;
pub mod wmi;

pub use anmi_greedy::AnmiGreedy;
pub(crate) use auto::{Wish, auto, auto_by_wish};
pub use bce::Bce;
pub use best_member::BestMember;
pub use certainty::Certainty;
pub use clustering::{ByName, Clustering};
pub(crate) use combine::combine_from;
pub use combine::combine;
#[doc(hidden)]
pub use combine::{cluster_names, combine_on, prepare};
pub use cspa::Cspa;
pub use ea::{Ea, EaLink};
pub use ec_cms::EcCms;
pub use ecpcs::EcpcsHc;
pub use ecpcs_mc::EcpcsMc;
pub use edge_cut::{EdgeCut, EdgeSearch};
pub use gwca::{Divergence, Gwca};
pub use hbgf::{Hbgf, HbgfPartition};
pub use hgpa::{EdgeWeights, Hgpa};
pub use hierarchical::Hierarchical;
pub use kc::Kc;
pub use kcc::{Kcc, Utility};
pub use local_search::LocalSearch;
pub use lwea::Lwea;
pub use lwgp::Lwgp;
pub use mcla::Mcla;
#[doc(hidden)]
pub use method::Declared;
pub use method::{
    ChoosesK, ConsensusMethod, METHODS, MethodInfo, Offers, OnSoft, Shape, method,
};
pub use mmec::{MissingLabels, Mmec};
pub use nmfc::{Nmfc, NmfcInit};
pub use outcome::{Consensus, Convergence, Diagnostics, Merge, NO_CLUSTER, Stop, Value};
pub use params::ParameterInfo;
pub use pivot::Pivot;
pub use pta::Pta;
pub use ptgp::Ptgp;
pub use qmi::Qmi;
pub use rce::{Lambda1, Rce};
pub use relabel_vote::{Reference, RelabelVote};
pub use rmsc::{Rmsc, Symmetry};
pub use robust_clusters::RobustClusters;
pub use sa::Sa;
pub use scec::{OnMissing, Scec, ScecStart};
pub use sdgca::Sdgca;
pub use sec::Sec;
pub use settings::Settings;
pub use start::Start;
pub use voting::Voting;
pub use voting_merging::{Matching, VotingMerging};
pub use wct::Wct;
pub use wmi::{Wmi, WmiOrder, WmiVariant};
