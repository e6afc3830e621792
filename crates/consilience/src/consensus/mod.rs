//! Consensus methods: many clusterings in, one out.
//!
//! A method is one file here and one line in [`METHODS`]. It sees [`Profiles`] and answers with a
//! [`Consensus`] about those profiles; [`combine`] is the front door that makes the answer
//! independent of the order of objects and members and numbers the clusters.

mod combine;
mod ea;
mod method;
mod outcome;
mod settings;
mod voting;
mod wmi;

pub use combine::{combine, prepare};
pub use ea::{Ea, EaLink, EaParams};
pub use method::{
    ChoosesK, ConsensusMethod, METHODS, MethodInfo, OnSoft, ParameterInfo, Shape, method,
};
pub use outcome::{Consensus, Convergence, Diagnostics, Merge, NO_CLUSTER, Stop, Value};
pub use settings::Settings;
pub use voting::{Voting, VotingParams};
pub use wmi::{Wmi, WmiOrder, WmiParams, WmiVariant};
