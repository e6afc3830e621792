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
mod combine;
mod competition;
pub mod cspa;
pub mod ea;
pub mod ecpcs;
pub mod ecpcs_mc;
#[cfg(test)]
mod growth;
pub mod gwca;
pub mod hbgf;
pub mod hgpa;
pub mod kc;
pub mod kcc;
mod leaderboard;
pub mod local_search;
pub mod lwea;
pub mod lwgp;
pub mod mcla;
mod method;
pub mod mmec;
pub mod nmfc;
mod offers;
mod outcome;
pub mod pivot;
pub mod pta;
pub mod ptgp;
pub mod qmi;
pub mod rce;
pub mod relabel_vote;
pub mod rmsc;
pub mod robust_clusters;
pub mod sa;
pub mod scec;
pub mod sec;
mod settings;
mod start;
mod tree;
pub mod voting;
pub mod voting_merging;
pub mod wct;
pub mod wmi;

pub use anmi_greedy::{AnmiGreedy, AnmiGreedyParams};
pub use auto::{
    AutoMethod, Choice, Clusters, Wish, auto, auto_by_wish, choose, choose_on, method_or_auto,
};
pub use bce::{Bce, BceParams};
pub use best_member::BestMember;
pub use combine::{cluster_names, combine, combine_from, prepare};
pub use cspa::{Cspa, CspaParams};
pub use ea::{Ea, EaLink, EaParams};
pub use ecpcs::{EcpcsHc, EcpcsHcParams};
pub use ecpcs_mc::{EcpcsMc, EcpcsMcParams};
pub use gwca::{Divergence, Gwca, GwcaParams};
pub use hbgf::{Hbgf, HbgfParams, HbgfPartition};
pub use hgpa::{EdgeWeights, Hgpa, HgpaParams};
pub use kc::{Kc, KcParams};
pub use kcc::{Kcc, KccParams, Utility};
pub use leaderboard::{Best, Leaderboard, Standing, leaderboard};
pub use local_search::{LocalSearch, LocalSearchParams};
pub use lwea::{Lwea, LweaParams};
pub use lwgp::{Lwgp, LwgpParams};
pub use mcla::{Mcla, MclaParams};
pub use method::{
    ChoosesK, ConsensusMethod, METHODS, MethodInfo, OnSoft, ParameterInfo, Shape, method,
};
pub use mmec::{MissingLabels, Mmec, MmecParams};
pub use nmfc::{Nmfc, NmfcInit, NmfcParams};
pub use offers::Offers;
pub use outcome::{Consensus, Convergence, Diagnostics, Merge, NO_CLUSTER, Stop, Value};
pub use pivot::{Pivot, PivotParams};
pub use pta::{Pta, PtaParams};
pub use ptgp::{Ptgp, PtgpParams};
pub use qmi::{Qmi, QmiParams};
pub use rce::{Rce, RceParams};
pub use relabel_vote::{Reference, RelabelVote};
pub use rmsc::{Rmsc, RmscParams, Symmetry};
pub use robust_clusters::{RobustClusters, RobustClustersParams};
pub use sa::{Sa, SaParams};
pub use scec::{OnMissing, Scec, ScecParams, ScecStart};
pub use sec::{Sec, SecParams};
pub use settings::Settings;
pub use start::Start;
pub use voting::{Voting, VotingParams};
pub use voting_merging::{Matching, VotingMerging, VotingMergingParams};
pub use wct::{Wct, WctParams};
pub use wmi::{Wmi, WmiOrder, WmiParams, WmiVariant};
