//! The whole way: a [`Request`] in, an [`Answer`] out.
//!
//! Features or an ensemble go in as an [`Input`]. Members are made where there are none yet
//! ([`Recipe`]), equal objects are merged once, the method and the number of clusters are chosen, the
//! method runs, clusters are called as in an [`Earlier`] result, and the consensus is judged. A front
//! door translates its users' words into a request, and shows the answer or its [`Record`]; it
//! orchestrates nothing by itself.
//!
//! ```
//! use consilience::Run;
//! use consilience::ensemble::{Ensemble, HardMember};
//! use consilience::pipeline::{Clusters, Input, Methods, Request};
//!
//! let member = |labels: [i64; 6]| HardMember::from_integers("", labels.map(Some)).into();
//! let ensemble = Ensemble::new(vec![
//!     member([0, 0, 0, 1, 1, 1]),
//!     member([1, 1, 1, 0, 0, 0]),
//!     member([0, 0, 1, 1, 1, 1]),
//! ])?;
//! let request = Request {
//!     methods: Methods::named("voting")?,
//!     clusters: Clusters::Auto,
//!     ..Request::default()
//! };
//! let answer = request.check()?.answer(Input::ensemble(ensemble), &Run::new(0))?;
//! assert_eq!(answer.labels(), [0, 0, 0, 1, 1, 1].map(Some));
//! # Ok::<(), consilience::Error>(())
//! ```

mod align;
mod answer;
mod choice;
mod input;
mod leaderboard;
mod looks;
mod pool;
mod recipe;
mod record;
mod request;
mod resolve;
mod timeline;

#[doc(hidden)]
pub use align::Move;
pub use align::{Aligned, Alignment, Earlier};
pub use answer::{Answer, Scores};
#[doc(hidden)]
pub use answer::{SCORES, Seconds};
pub use choice::{Choice, Clusters, Methods};
pub use input::{Input, Members};
pub use leaderboard::{Leaderboard, Standing};
#[doc(hidden)]
pub use looks::{may_be_classes, warn_of_columns};
pub use recipe::{Recipe, Store};
pub use record::Record;
#[doc(hidden)]
pub use record::{
    AlignedRecord, BoardRecord, Classes, ClusterNames, ConsensusRecord, CorrespondenceRecord,
    DataRecord, EnsembleRecord, FileRecord, GivenOptions, MadeRecord, MemberRecord, MoveRecord,
    ScoresRecord,
};
pub use request::{Checked, Request};
#[doc(hidden)]
pub use resolve::{Counts, Edge, LevelRecord, Node, ResolutionRecord};
pub use resolve::{Level, Levels, Resolution, Resolve, Tree};
pub use timeline::Timeline;
#[doc(hidden)]
pub use timeline::{ClusterAt, Event, EventKind, Passage, SHARE, Step};
