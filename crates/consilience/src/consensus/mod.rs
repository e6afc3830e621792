//! Consensus methods: many clusterings in, one out.
//!
//! A method is one file here and one line in [`METHODS`]. It sees [`Profiles`](crate::ensemble::Profiles) and answers with a
//! [`Consensus`] about those profiles; [`combine`] is the front door that makes the answer
//! independent of the order of objects and members and numbers the clusters.

mod auto;
mod combine;
pub mod ea;
pub mod ecpcs;
pub mod gwca;
pub mod kcc;
pub mod local_search;
pub mod lwea;
mod method;
pub mod nmfc;
mod offers;
mod outcome;
pub mod pivot;
pub mod pta;
pub mod rce;
pub mod rmsc;
pub mod sa;
pub mod scec;
mod settings;
mod tree;
pub mod voting;
pub mod wct;
pub mod wmi;

pub use auto::{AutoMethod, auto};
pub use combine::{combine, prepare};
pub use ea::{Ea, EaLink, EaParams};
pub use ecpcs::{EcpcsHc, EcpcsHcParams};
pub use gwca::{Divergence, Gwca, GwcaParams};
pub use kcc::{Kcc, KccParams, Utility};
pub use local_search::{LocalSearch, LocalSearchParams};
pub use lwea::{Lwea, LweaParams};
pub use method::{
    ChoosesK, ConsensusMethod, METHODS, MethodInfo, OnSoft, ParameterInfo, Shape, method,
};
pub use nmfc::{Nmfc, NmfcInit, NmfcParams};
pub use offers::Offers;
pub use outcome::{Consensus, Convergence, Diagnostics, Merge, NO_CLUSTER, Stop, Value};
pub use pivot::{Pivot, PivotParams};
pub use pta::{Pta, PtaParams};
pub use rce::{Rce, RceParams};
pub use rmsc::{Rmsc, RmscParams, Symmetry};
pub use sa::{Sa, SaParams};
pub use scec::{OnMissing, Scec, ScecParams, ScecStart};
pub use settings::Settings;
pub use voting::{Voting, VotingParams};
pub use wct::{Wct, WctParams};
pub use wmi::{Wmi, WmiOrder, WmiParams, WmiVariant};
