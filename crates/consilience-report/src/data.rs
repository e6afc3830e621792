//! What a page shows, as plain data. Shares and agreements are whole thousandths, so that the page
//! stays small and its bytes do not depend on how numbers are printed.

use consilience::pipeline::Classes;
use serde::{Deserialize, Serialize};

/// All that a page shows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Report {
    /// What the data are called.
    pub title: String,
    /// One line on what was done.
    pub subtitle: String,
    /// The program and its version.
    pub program: String,
    /// The verdict, sentence by sentence.
    pub verdict: Vec<Sentence>,
    /// Numbers to be seen first.
    pub facts: Vec<Fact>,
    /// How many objects there are.
    pub n: usize,
    /// The clusters, by their place in the result.
    pub clusters: Vec<Cluster>,
    /// The ordered consensus matrix.
    pub matrix: Option<Matrix>,
    /// The objects in two dimensions.
    pub scatter: Option<Scatter>,
    /// From members' clusters to the consensus.
    pub flows: Vec<Flow>,
    /// How the members agree.
    pub members: Members,
    /// What is said of the number of clusters.
    pub number: Number,
    /// What stays of each number of clusters when clusterings are left out.
    pub resampled: Resampled,
    /// The cluster of every object at each number of clusters.
    pub tracking: Tracking,
    /// What moved since an earlier result.
    pub moved: Option<Moved>,
    /// The objective after every iteration.
    pub trace: Vec<f64>,
    /// The objects that are least safe.
    pub doubtful: Vec<Doubtful>,
    /// Whether labels are missing.
    pub silent: bool,
    /// The methods that were compared, the best first.
    pub methods_compared: Vec<Compared>,
    /// How the result compares with known classes.
    pub truth: Option<Classes>,
    /// How it was made.
    pub methods: Methods,
    /// Remarks on how figures were made.
    pub notes: Vec<String>,
}

/// A sentence of the verdict.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Sentence {
    /// What it is about.
    pub about: String,
    /// `good`, `caution` or `weak`.
    pub tone: String,
    /// The sentence.
    pub text: String,
}

/// A number with its name.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The number, as text.
    pub value: String,
}

/// A cluster of the consensus.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Which colour it has: the same number, the same colour on every page.
    pub colour: u32,
    /// How many objects it has.
    pub objects: usize,
    /// How many of them are safe.
    pub safe: usize,
    /// Their mean confidence, in thousandths.
    pub confidence: u32,
    /// How many have a confidence in each of equal parts of [0, 1].
    pub histogram: Vec<usize>,
    /// The mean co-association of its pairs, in thousandths.
    pub cohesion: Option<u32>,
    /// The nearest other cluster by place, and the co-association with it in thousandths.
    pub nearest: Option<(usize, u32)>,
}

/// The ordered consensus matrix in bins.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Matrix {
    /// The cluster of every bin, by place; `None` for objects without one.
    pub clusters: Vec<Option<usize>>,
    /// The weight of every bin.
    pub weights: Vec<f64>,
    /// The mean confidence of every bin, in thousandths.
    pub confidence: Vec<u32>,
    /// The lower half row by row with the diagonal, in thousandths.
    pub values: Vec<u32>,
    /// For every bin its support for each cluster, in thousandths.
    pub support: Vec<Vec<u32>>,
}

/// Objects in two dimensions.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Scatter {
    /// What the axes are.
    pub axes: [String; 2],
    /// How long the second axis is by the measure of the first, in thousandths.
    pub aspect: u32,
    /// Of every object that is shown: its place along both axes in ten-thousandths.
    pub places: Vec<[u32; 2]>,
    /// Which of them lie far off, and stand at the edge instead.
    pub outside: Vec<usize>,
    /// Its cluster by place.
    pub clusters: Vec<Option<usize>>,
    /// Its confidence in thousandths.
    pub confidence: Vec<u32>,
    /// Its name.
    pub names: Vec<String>,
}

/// From the clusters of a member to those of the consensus.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Flow {
    /// The member.
    pub member: String,
    /// Its agreement with the consensus (NMI) in thousandths.
    pub agreement: u32,
    /// The names of its clusters.
    pub clusters: Vec<String>,
    /// Its cluster, the cluster of the consensus (both by place), and the weight in both.
    pub cells: Vec<(usize, usize, f64)>,
}

/// How the members agree with each other and with the consensus.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Members {
    /// Their names, in the order of rows and columns.
    pub names: Vec<String>,
    /// How many clusters each has.
    pub k: Vec<usize>,
    /// The agreement of each with the consensus (NMI) in thousandths.
    pub consensus: Vec<u32>,
    /// Whether each dissents.
    pub dissents: Vec<bool>,
    /// Which camp each is in.
    pub camps: Vec<usize>,
    /// The agreement of pairs, the lower half row by row with the diagonal, in thousandths.
    pub values: Vec<u32>,
    /// How many more members there are than are shown.
    pub hidden: usize,
}

/// What is said of the number of clusters.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Number {
    /// The number of clusters of the result.
    pub k: usize,
    /// The number that follows from the rules.
    pub recommended: usize,
    /// What each rule says.
    pub votes: Vec<(String, usize)>,
    /// Lifetimes of 1, 2, ... clusters.
    pub lifetimes: Vec<f64>,
    /// Prominences of the groups beyond the first.
    pub prominences: Vec<f64>,
    /// Eigenvalues of the normalised bipartite graph.
    pub eigenvalues: Vec<f64>,
    /// Cumulated shares of the eigenvalues of the co-association in its trace.
    pub shares: Vec<f64>,
    /// The share of pairs that at most 0, 1, ... of the clusterings put together.
    pub distribution: Vec<f64>,
    /// The share of undecided pairs.
    pub undecided: f64,
}

/// What stays of each number of clusters when clusterings are left out.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Resampled {
    /// The number of clusters of the result.
    pub k: usize,
    /// The numbers of clusters.
    pub ks: Vec<usize>,
    /// For each the share of pairs that are together in at most this share of the draws, from 0 to 1
    /// in equal steps, in thousandths.
    pub distributions: Vec<Vec<u32>>,
    /// For each how well the draws agree with all (adjusted Rand index).
    pub stability: Vec<f64>,
    /// For each the share of undecided pairs.
    pub undecided: Vec<f64>,
    /// For each the area below the distribution.
    pub areas: Vec<f64>,
    /// For each how much larger that is than with one cluster less.
    pub deltas: Vec<f64>,
}

/// The ways of the objects through the numbers of clusters.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Tracking {
    /// The number of clusters of the result.
    pub k: usize,
    /// The numbers of clusters.
    pub ks: Vec<usize>,
    /// The weight of every group of objects that go the same way.
    pub weights: Vec<f64>,
    /// Its cluster in the result, by place.
    pub consensus: Vec<Option<usize>>,
    /// For every number of clusters its cluster: below `k` a place in the result, above a number of
    /// its own.
    pub clusters: Vec<Vec<u32>>,
}

/// What moved since an earlier result.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Moved {
    /// What the earlier result is called.
    pub earlier: String,
    /// How many objects both have, as text.
    pub common: String,
    /// How many of them moved.
    pub moved: String,
    /// From which cluster to which, and how many, most first.
    pub moves: Vec<(String, String, String)>,
    /// Clusters that continue none of the earlier ones.
    pub new: Vec<String>,
    /// Earlier clusters that none continues.
    pub gone: Vec<String>,
}

/// An object that is not safe.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Doubtful {
    /// Its name.
    pub name: String,
    /// Its cluster by place.
    pub cluster: usize,
    /// The support for that, in thousandths.
    pub support: u32,
    /// The second choice by place.
    pub second: usize,
    /// The support for that, in thousandths.
    pub second_support: u32,
    /// Its confidence, in thousandths.
    pub confidence: u32,
    /// The share of the clusterings that label it, in thousandths.
    pub coverage: u32,
}

/// A method among others.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Compared {
    /// Its name.
    pub method: String,
    /// How many clusters it found, as text; empty without an answer.
    pub k: String,
    /// The agreement with the clusterings.
    pub anmi: String,
    /// The agreement with the other methods.
    pub agreement: String,
    /// Why it has no answer.
    pub problem: String,
}

/// How the result was made.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Methods {
    /// A paragraph for a paper.
    pub paragraph: String,
    /// References for a bibliography.
    pub bibtex: String,
    /// The exact command.
    pub command: String,
    /// Settings, seeds, versions, checksums.
    pub record: Vec<Fact>,
}
