//! Consensus clustering: many clusterings of the same objects, combined into one.
//!
//! Say three people, three runs or three programs grouped the same five objects. Names of groups mean
//! nothing across clusterings; what counts is who is together with whom:
//!
//! ```
//! use consilience::{Ensemble, Run, Scec, Voting, method};
//!
//! let ensemble = Ensemble::from_labels([[0, 0, 0, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])?;
//!
//! // Objects that most clusterings put together belong together.
//! let answer = Voting::new().fit(&ensemble)?;
//! assert_eq!(answer.labels(), [0, 0, 0, 1, 1].map(Some));
//! // One of three clusterings puts the third object elsewhere.
//! assert_eq!(answer.strength()[2], Some(2.0 / 3.0));
//!
//! // A method with parameters, a seed, and a soft consensus.
//! let answer = Scec::new(2).restarts(3).fit_with(&ensemble, &Run::new(7))?;
//! assert_eq!(answer.membership().unwrap().ncols(), 2);
//!
//! // The same by name, as command lines and other languages choose it.
//! let named = method("scec")?.k(2).set("restarts", "3")?.fit_with(&ensemble, &Run::new(7))?;
//! assert_eq!(named.labels(), answer.labels());
//! # Ok::<(), consilience::Error>(())
//! ```
//!
//! # The tour
//!
//! * **Clusterings in**: an [`Ensemble`] of members, hard or soft, complete or with
//!   gaps, with weights of the objects if need be. [`generate`] makes one from data: many runs of a
//!   [base clusterer](generate::BASES) that differ by a scheme.
//! * **Equal objects once**: objects that all members label alike are interchangeable, so each distinct
//!   label tuple is kept once with a weight, a *profile* ([`Profiles`]). That is
//!   exact, and it is why ten million objects take seconds.
//! * **Methods**: [`METHODS`] lists them all with their parameters, costs and
//!   references; each has a struct of its name ([`Scec`], [`Sa`],
//!   [`Lwea`] and so on), whose module has its equations and says where we depart from
//!   its paper.
//! * **How many clusters**: some methods find the number themselves; for the others there are
//!   [criteria](judge::KCriteria).
//! * **What it is worth**: [`judge`] tells who is in doubt and why, which members disagree, and sums up.
//! * **The whole way**: [`pipeline`] goes from features or members to an answer that is judged and can
//!   be recorded, as the command line and Python do.
//! * **How good**: [`metrics`] compares clusterings with each other and with known classes.
//!
//! Everything is repeatable: the same input, parameters and seed give the same bits on any number of
//! threads, and the order of objects, members and names does not matter. [`Run`] carries the seed, the
//! threads, a ceiling on memory, progress and a flag to cancel.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod base;
pub mod consensus;
#[doc(hidden)]
pub mod data;
#[doc(hidden)]
pub mod ensemble;
pub mod generate;
mod graph;
pub mod judge;
pub mod metrics;
pub mod pipeline;
mod setters;
#[cfg(test)]
mod testing;
#[doc(hidden)]
pub mod words;

pub use base::{Float, Scaling, SparseMatrix, Table};
pub use consensus::{
    AnmiGreedy, Bce, BestMember, ByName, Clustering, Consensus, ConsensusMethod, Cspa, Ea, EcCms,
    EcpcsHc, EcpcsMc, EdgeCut, Gwca, Hbgf, Hgpa, Hierarchical, Kc, Kcc, LocalSearch, Lwea, Lwgp,
    METHODS, Mcla, MethodInfo, Mmec, Nmfc, Pivot, Pta, Ptgp, Qmi, Rce, RelabelVote, Rmsc,
    RobustClusters, Sa, Scec, Sdgca, Sec, Voting, VotingMerging, Wct, Wmi, method,
};
#[doc(hidden)]
pub use consilience_core::watch;
use consilience_core::{error, linalg, math, rng, run};
pub use data::{DATA_SETS, DataSet, DataSetInfo, data_set};
pub use ensemble::{CoAssociation, Ensemble, HardMember, Labels, Member, Profiles, SoftMember};
pub use error::{Asked, Error, Result};
pub use graph::Edges;
pub use linalg::Matrix;
pub use rng::{Rng, Stream};
pub use run::{CancelFlag, Observer, Run, Silent, Stop};
