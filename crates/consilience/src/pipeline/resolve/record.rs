//! What is recorded of a resolution: `result.json`.

use serde::{Deserialize, Serialize};

use crate::judge::Interval;
use crate::pipeline::record::{FileRecord, GivenOptions};
use crate::pipeline::resolve::{Counts, Resolution, Tree};
use crate::run::Run;

/// The version of the record.
const SCHEMA: u32 = 1;

/// All that was found of the levels, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResolutionRecord {
    /// The version of the record: 1.
    pub schema: u32,
    /// The version of the program.
    pub version: String,
    /// What was asked for, as the front door spells it.
    pub command: GivenOptions,
    /// The seed.
    pub seed: u64,
    /// The files that were read.
    pub inputs: Vec<FileRecord>,
    /// The number of objects.
    pub n: usize,
    /// The levels, from coarse to fine.
    pub levels: Vec<LevelRecord>,
    /// The recommended levels, the first choice first; none if no level is stable.
    pub recommended: Vec<String>,
    /// The level that the labels are those of.
    pub chosen: Option<String>,
    /// The choice in a sentence.
    pub verdict: String,
    /// How clusters come apart from level to level.
    pub tree: Tree,
}

/// What was found of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelRecord {
    /// What it is called.
    pub level: String,
    /// How many members it has.
    pub members: usize,
    /// How many clusters its clustering has.
    pub clusters: usize,
    /// How many clusters its members have.
    pub counts: Counts,
    /// The mean element-centric similarity of its members.
    pub stability: Option<Interval>,
    /// Their inconsistency.
    pub inconsistency: Option<Interval>,
    /// The similarity that members with shuffled labels have.
    pub chance: Option<f64>,
    /// How far the similarity is on the way from chance to full agreement.
    pub beyond_chance: Option<Interval>,
    /// The similarity of its clustering with that of the next level.
    pub next: Option<f64>,
    /// Whether it is recommended.
    pub recommended: bool,
    /// The method that its clustering is from.
    pub method: String,
}

impl Resolution {
    /// What is recorded of it; the front door adds what it was asked.
    pub fn record(&self, run: &Run) -> ResolutionRecord {
        let level = |(at, level): (usize, &super::Level)| LevelRecord {
            level: level.name.clone(),
            members: level.members,
            clusters: level.ids.len(),
            counts: level.counts,
            stability: level.stability.map(|s| s.similarity),
            inconsistency: level.stability.map(|s| s.inconsistency),
            chance: level.stability.map(|s| s.chance),
            beyond_chance: level.stability.map(|s| s.beyond_chance),
            next: level.next,
            recommended: self.recommended.contains(&at),
            method: level.method.to_owned(),
        };
        ResolutionRecord {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: run.seed(),
            n: self.levels.first().map_or(0, |level| level.places.len()),
            levels: self.levels.iter().enumerate().map(level).collect(),
            recommended: self.recommended_names(),
            chosen: self.chosen_level().map(|level| level.name.clone()),
            verdict: self.verdict(),
            tree: self.tree.clone(),
            ..ResolutionRecord::default()
        }
    }
}
