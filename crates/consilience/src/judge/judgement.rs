//! All that is found out about a consensus once it is there.

use std::borrow::Cow;

use crate::ensemble::Profiles;
use crate::error::Result;
use crate::judge::criteria::KCriteria;
use crate::judge::number::Number;
use crate::judge::overview::Overview;
use crate::judge::tracking::Tracking;
use crate::judge::verdict::{Circumstances, Sentence, verdict};
use crate::run::Run;
use crate::words::named;

/// A consensus as it is judged and shown: a cluster for every profile.
///
/// Where a balanced cut parted equal objects, every part is a profile here, so that all figures are
/// about all objects.
#[derive(Clone, Debug)]
pub struct Partition<'a> {
    /// What was combined.
    pub profiles: Cow<'a, Profiles>,
    /// The cluster of every profile by place, or [`NO_CLUSTER`](crate::consensus::NO_CLUSTER).
    pub labels: Cow<'a, [u32]>,
    /// How sure each of these is.
    pub confidence: Cow<'a, [f64]>,
    /// The number of every cluster.
    pub numbers: Cow<'a, [u32]>,
    /// What every cluster is called: its number, or the name that it had in an earlier result.
    pub names: Cow<'a, [String]>,
}

/// What is known of a consensus before it is judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The number of clusters that was asked for, if it was.
    pub asked: Option<usize>,
    /// What the features say of the number, if there were any.
    pub number: Option<&'a Number>,
    /// What the same profiles say of all numbers of clusters; looked for if it is not known.
    pub criteria: Option<&'a KCriteria>,
}

/// What is known of a consensus besides itself.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Figures of the members and clusters.
    pub overview: Overview,
    /// Which clusters come apart at which number of clusters.
    pub tracking: Tracking,
    /// What they come to, in words.
    pub verdict: Vec<Sentence>,
}

impl Judgement {
    /// Judges a consensus, given what is known of it already.
    ///
    /// # Errors
    ///
    /// If memory does not suffice, or if the run is cancelled.
    pub fn new(partition: &Partition<'_>, known: Known<'_>, run: &Run) -> Result<Self> {
        let Partition { profiles, labels, confidence, names, .. } = partition;
        let (k, Known { asked, number, criteria }) = (names.len(), known);
        let overview = Overview::new(profiles, labels, confidence, k, criteria, run)?;
        let tracking = Tracking::new(profiles, labels, k, run)?;
        let clusters: Vec<String> = names.iter().map(|name| named(name)).collect();
        let members: Vec<String> = profiles.members().iter().map(|m| named(&m.name)).collect();
        let about = Circumstances { clusters: &clusters, members: &members, asked, number };
        let verdict = verdict(&overview, &about);
        Ok(Judgement { overview, tracking, verdict })
    }
}
