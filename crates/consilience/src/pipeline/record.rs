//! The record of an answer, which is `result.json`: all that is needed to report, repeat or follow a
//! result. No times, threads or places, so that equal runs give equal bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::consensus::Stop;
use crate::ensemble::Ensemble;
use crate::generate::Seat;
use crate::judge::{KCriteria, Number, Scatter, Sentence};
use crate::pipeline::leaderboard::Standing;

/// The version of the record.
const SCHEMA: u32 = 1;

/// What is recorded of an answer and of how it came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// What the result is called, where that is not told by its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
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
    /// The objects.
    pub data: DataRecord,
    /// The members.
    pub ensemble: EnsembleRecord,
    /// The consensus.
    pub consensus: ConsensusRecord,
    /// How it compares with known classes; the outer `None` where none can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Option<ScoresRecord>>,
    /// What corresponds to what, where the method has it and it is small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correspondences: Option<Vec<CorrespondenceRecord>>,
    /// Some of the objects in two dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scatter: Option<Scatter>,
    /// The verdict on the consensus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Vec<Sentence>>,
    /// The known classes by cluster; the outer `None` where none can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Option<Classes>>,
}

impl Record {
    /// A record with this seed, made by this version.
    pub fn new(seed: u64) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Record { schema: SCHEMA, version, seed, ..Record::default() }
    }

    /// The record in this text of JSON; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let record: Record = serde_json::from_str(text).ok()?;
        (record.schema == SCHEMA && !record.consensus.method.is_empty()).then_some(record)
    }

    /// The number of clusters that was asked for, if it was not to be found.
    pub fn k_asked(&self) -> Option<usize> {
        let in_options = || {
            let (_, after) = self.command.text("options")?.split_once("--k ")?;
            after.split_whitespace().next()?.parse().ok()
        };
        self.command.number("k").or_else(in_options)
    }
}

/// Options by name, as a front door spells them and in its order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GivenOptions(pub Map<String, Value>);

impl GivenOptions {
    /// The text of an option.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The whole number of an option.
    pub fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.0.get(name)?.as_u64()?).ok()
    }

    /// Whether a switch was given.
    pub fn is_on(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }

    /// The texts of an option that lists several.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        let given = match self.0.get(name) {
            Some(Value::Array(several)) => several.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        given.iter().filter_map(Value::as_str)
    }

    /// The parameters of the method that were set.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let set = self.0.get("set").and_then(Value::as_object).into_iter().flatten();
        set.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
    }
}

/// A file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRecord {
    /// Its name without folders: results are to be the same wherever they are made.
    pub file: String,
    /// How many bytes it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its checksum. Nothing is left of a pipe to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xxh64: Option<String>,
    /// What it was read as, if not as the data.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// The objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataRecord {
    /// How many there are.
    pub n: usize,
    /// The names of their features, where members were made of features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<String>>,
    /// The column of identifiers.
    pub id: Option<String>,
    /// The name of the known classes; the outer `None` where none can be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<Option<String>>,
    /// Whether they have weights.
    pub weighted: bool,
}

/// The members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnsembleRecord {
    /// How many there are.
    pub size: usize,
    /// How they were made, if they were.
    #[serde(flatten)]
    pub made: Option<MadeRecord>,
    /// Each of them.
    pub members: Vec<MemberRecord>,
}

impl EnsembleRecord {
    /// Of members that were given.
    pub fn of(ensemble: &Ensemble) -> Self {
        let members = ensemble.members().iter();
        let member =
            members.map(|m| MemberRecord { name: m.name().to_owned(), k: m.clusters().len() });
        EnsembleRecord { size: ensemble.members().len(), made: None, members: member.collect() }
    }
}

/// How members were made from features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MadeRecord {
    /// The scheme.
    pub scheme: String,
    /// The base clusterer.
    pub base: String,
    /// The smallest and largest number of clusters.
    #[serde(default)]
    pub base_k: Option<(usize, usize)>,
    /// The scaling of the features.
    #[serde(default)]
    pub scale: String,
    /// Whether members hold memberships.
    #[serde(default)]
    pub soft: bool,
    /// What a committee made, those included that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<Seat>,
    /// All parameters.
    #[serde(default)]
    pub recipe: Value,
}

/// One member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberRecord {
    /// Its name.
    pub name: String,
    /// How many clusters it has.
    pub k: usize,
}

/// The consensus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsensusRecord {
    /// Objects.
    pub n: usize,
    /// Members.
    pub clusterings: usize,
    /// Distinct objects.
    pub unique: usize,
    /// The method.
    pub method: String,
    /// Its parameters that were in force.
    pub params: Map<String, Value>,
    /// Clusters.
    pub k: usize,
    /// Objects of every cluster.
    pub sizes: Vec<usize>,
    /// Objects without a cluster.
    pub unassigned: usize,
    /// The average normalised mutual information with the members; `None` if it is not defined.
    pub anmi: Option<f64>,
    /// The mean confidence of the objects that have a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The mean share of the members that label an object, if labels are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// The final value of the method's objective.
    pub objective: Option<f64>,
    /// Its value after every iteration.
    pub trace: Vec<Option<f64>>,
    /// How many iterations there were.
    pub iterations: usize,
    /// Why the method stopped.
    pub stop: Option<Stop>,
    /// What else the method told.
    pub diagnostics: Map<String, Value>,
    /// How it follows an earlier result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aligned: Option<AlignedRecord>,
    /// Why this method was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many clusters the features speak for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
    /// What the members say of which number of clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k_criteria: Option<KCriteria>,
    /// All methods, if several were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<BoardRecord>,
}

/// Clusters by number and name, side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterNames {
    /// Their numbers.
    pub numbers: Vec<u32>,
    /// Their names.
    pub names: Vec<String>,
}

impl ClusterNames {
    /// The names by number.
    pub fn by_number(&self) -> BTreeMap<u32, String> {
        self.numbers.iter().copied().zip(self.names.iter().cloned()).collect()
    }
}

/// How a result follows an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlignedRecord {
    /// What the earlier result is called.
    pub to: String,
    /// Objects that both label.
    pub common: usize,
    /// How many of them moved.
    pub moved: usize,
    /// From which cluster to which, most first.
    pub moves: Vec<MoveRecord>,
    /// The present clusters.
    #[serde(flatten)]
    pub clusters: ClusterNames,
    /// The earlier clusters.
    pub earlier: ClusterNames,
    /// Clusters that continue none of the earlier ones.
    pub new: Vec<String>,
    /// Earlier clusters that none continues.
    pub gone: Vec<String>,
}

/// Objects that went from one cluster to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MoveRecord {
    /// The earlier cluster by name.
    pub from: String,
    /// The present one.
    pub to: String,
    /// How many.
    pub objects: usize,
}

/// Many methods side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoardRecord {
    /// One row for every method.
    pub methods: Vec<Standing>,
    /// How much the answers agree.
    pub between: Between,
}

/// The agreement of every answer with every other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Between {
    /// The methods that have an answer.
    pub methods: Vec<String>,
    /// The NMI of every pair.
    pub nmi: Vec<Vec<f64>>,
}

/// Measures against known classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScoresRecord {
    /// The name of the classes.
    pub truth: String,
    /// How many there are.
    pub classes: usize,
    /// Measures of the consensus by name.
    pub consensus: Map<String, Value>,
    /// Their means over the members.
    pub members_mean: Map<String, Value>,
}

/// What the clusters of one member correspond to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CorrespondenceRecord {
    /// The member.
    pub clustering: String,
    /// Its clusters.
    pub clusters: Vec<String>,
    /// For each its shares in the clusters of the consensus.
    pub weights: Vec<Vec<f64>>,
}

/// How a result compares with known classes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Classes {
    /// What the classes are called.
    pub name: String,
    /// Their names.
    pub classes: Vec<String>,
    /// Objects by cluster (rows, by place) and class (columns).
    pub table: Vec<Vec<f64>>,
    /// Measures: name, of the consensus, mean of the members.
    pub scores: Vec<(String, Option<f64>, Option<f64>)>,
}
