//! The arguments of the commands that start from clusterings: `combine` and `score`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use consilience_io::ReadOptions;

use super::TABLES;
use super::consensus::{CONSENSUS, ConsensusArgs};
use super::values::metric_names;

/// Combine clusterings that you already have into one
///
/// One row per object, one column per clustering; labels are any text or integers, missing ones are
/// empty, NA, NaN or (among integers) -1. Columns named NAME:CLUSTER hold the memberships of a soft
/// clustering. Several files are joined on --id, or stand side by side.
///
/// A folder stands for the Parquet files in it, which hold rows of one table, as do files called
/// part-*.parquet and those that --rows is given for; so do Parquet files with the same columns that
/// differ in the number of rows or, with --id, have no object in common. The summary says so. Rows of
/// Parquet are read in pieces, and what does not fit into memory goes to disk.
///
/// The consensus is a table `id,cluster,confidence`: clusters are numbered from 0 by falling size, and
/// an object that no clustering labels gets an empty cluster. Confidence is how likely the object is of the
/// kind that prevails in its cluster. Where labels are missing, a column `coverage` tells what share of the
/// clusterings label the object. Without -o the table goes to stdout.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  The method is chosen for you, the number of clusters too:
    consilience combine labels.csv

  Three clusters by SCEC, with the soft memberships and what corresponds to what:
    consilience combine labels.csv --method scec --k 3 -o consensus.csv \\
        --membership membership.csv --correspondence correspondence.csv

  Clusterings of three sites, joined by patient; a patient unknown to a site is missing there:
    consilience combine site-a.csv site-b.parquet site-c.tsv.gz --id patient -o consensus.csv

  Rows of one table in the folder that Spark wrote, or in the files in it:
    consilience combine labels.parquet/ --id patient -o consensus.parquet
    consilience combine january.parquet february.parquet --rows -o consensus.parquet

  Everything in a folder; later, more clusterings of the same objects, from there on:
    consilience combine labels.csv --id patient --k 4 --save spring
    consilience combine more.csv --add spring --save summer

  All methods side by side, and their answers:
    consilience combine labels.csv --method all --k 3 --leaderboard methods.csv --all-labels all.csv

  Communities of a network, from many runs of Leiden or Louvain; the edges weighted, for Gephi:
    consilience combine runs.csv --id node --edges network.tsv -o communities.csv \\
        --edge-weights weighted.csv

  From a pipe, the summary as JSON:
    zcat labels.csv.gz | consilience combine - --method voting --set threshold=0.6 --json")]
pub(crate) struct CombineArgs {
    /// Tables of clusterings (.csv .tsv .txt .parquet .npy .arrow, text also .gz; - is CSV on stdin), or a
    /// folder of .parquet
    #[arg(required = true, value_name = "CLUSTERINGS", value_hint = ValueHint::AnyPath)]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub consensus: ConsensusArgs,

    /// Add the clusterings to those of a saved result, which is the start
    ///
    /// RESULT is a folder that run or --save wrote. Method, number of clusters and parameters are
    /// those of the result unless others are given; methods that take a start begin at its labels,
    /// and clusters are called as there (see --align-to). Identifiers and weights are those of the
    /// result.
    #[arg(long, value_name = "RESULT", value_hint = ValueHint::AnyPath, help_heading = CONSENSUS)]
    pub add: Option<PathBuf>,

    /// Object weights: a column of the tables, or a file with one number per row
    #[arg(long, value_name = "COL|FILE", help_heading = CONSENSUS)]
    pub weights: Option<String>,

    /// The edges of a network of the objects: two columns with the ends of each, a third with weights if need be
    ///
    /// Ends are identifiers where --id names a column of them, otherwise row numbers from 0. The method is then edge-cut, unless
    /// another is named that works on networks: communities that the clusterings agree on, each of them connected. If there
    /// are none, as in a random graph, that is said. A saved result does not hold the network: give it again with --add.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = CONSENSUS)]
    pub edges: Option<PathBuf>,

    #[command(flatten)]
    pub reading: LabelReading,

    /// The files, all Parquet with the same columns, hold rows of one table
    #[arg(long, help_heading = TABLES)]
    pub rows: bool,

    #[command(flatten)]
    pub outputs: OutputArgs,
}

/// The files that `combine` writes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Where the consensus goes [default: CSV on stdout]
    ///
    /// With --json the summary takes stdout, and the consensus is written only if this is given.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Write the soft consensus, one row per object, one column per cluster
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub membership: Option<PathBuf>,

    /// Write what corresponds to what: clustering,cluster,consensus,weight
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub correspondence: Option<PathBuf>,

    /// Write the n x n co-association matrix (.npy or .parquet)
    ///
    /// The matrix that the method learns where it has one, otherwise the share of clusterings that
    /// put two objects together.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub coassociation: Option<PathBuf>,

    /// Write the tree of merges, as rows of a SciPy linkage matrix
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub dendrogram: Option<PathBuf>,

    /// Write the edges with the share of clusterings that put their ends together: source,target,weight,share
    ///
    /// For Gephi, igraph and others: weight is the share times the weight that the edge was given, if it was.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "edges")]
    pub edge_weights: Option<PathBuf>,

    /// Write who moved since the earlier result [default: NAME-moved.csv beside -o NAME.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub moved: Option<PathBuf>,

    /// Save everything in a folder, as run does: for report, explain, assign, replay and --add
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub save: Option<PathBuf>,

    /// Replace files that are there already, and another result in the folder of --save
    #[arg(long)]
    pub force: bool,

    /// Write one row per method with its agreement (several methods)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub leaderboard: Option<PathBuf>,

    /// Write the answers of all methods, one column each (several methods)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub all_labels: Option<PathBuf>,

    /// Write a page with the verdict, figures and a paragraph for a paper
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,
}

/// How tables of clusterings are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = TABLES)]
pub(crate) struct LabelReading {
    /// The column that identifies objects; several files are joined on it
    ///
    /// By default the first column of a text table that has a text of its own in every row, or a whole number
    /// under a name such as `id` or `sample_id`. It is said which one was taken.
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// A further spelling of a missing label (repeatable: each time one, commas included)
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    pub missing: Vec<String>,

    /// What -1 is among integer labels: missing or cluster
    ///
    /// HDBSCAN, DBSCAN and BERTopic call objects -1 that they leave out as noise. Such objects count as not
    /// labelled by that clustering, which is said in a warning; `cluster` makes -1 a cluster like any
    /// other. [default: missing, of `score`: cluster]
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub noise: Option<Noise>,

    /// How decimals are written in text tables [default: .]
    #[arg(long, value_name = "SIGN", value_parser = [".", ","], hide_possible_values = true)]
    pub decimal: Option<String>,

    /// Columns that are no clusterings (repeatable; several with commas between)
    #[arg(long, value_name = "COL")]
    pub drop: Vec<String>,

    /// The first row of text tables is data, not a header
    #[arg(long)]
    pub no_header: bool,
}

/// What -1 is among integer labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Noise {
    /// No label
    Missing,
    /// A cluster like any other
    Cluster,
}

impl LabelReading {
    /// The options as the reader takes them.
    pub(crate) fn options(&self, truth: Option<&str>, weights: Option<&str>) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            id_is_guessed: false,
            truth: truth.map(str::to_owned),
            weights: weights.map(str::to_owned),
            drop: self.drop.clone(),
            no_header: self.no_header,
            missing: self.missing.clone(),
            decimal_comma: self.decimal.as_deref() == Some(","),
            impute: None,
            saved: None,
            may_be_empty: false,
            minus_one_is_a_label: self.noise == Some(Noise::Cluster),
            held: None,
        }
    }
}

/// Measure how well clusterings agree, with known classes or with each other
///
/// With --truth, a row per clustering: nmi, ari, accuracy, error, vi, purity, pc_idx. Without, the
/// matrix of one measure between all pairs. On a terminal the result is an aligned table, in a file
/// or pipe it is CSV.
///
/// -1 is a cluster like any other here, as in scikit-learn; --missing -1 leaves it out.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  How good is the consensus?
    consilience score consensus.csv --truth species.csv

  And each clustering of the ensemble? The truth is a column of the same table:
    consilience score labels.csv --truth species

  How alike are they?
    consilience score labels.csv --metric ari")]
pub(crate) struct ScoreArgs {
    /// Tables of clusterings (.csv .tsv .txt .parquet .npy .arrow, text also .gz; - is CSV on stdin)
    #[arg(required = true, value_name = "CLUSTERINGS", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// The known classes: a column of the tables, a file, or a column of a file
    #[arg(long, value_name = "COL|FILE|FILE:COL")]
    pub truth: Option<String>,

    /// The measure of the matrix; more columns than the usual with --truth (repeatable)
    #[arg(long, value_name = "NAME", value_parser = metric_names())]
    pub metric: Vec<String>,

    /// Object weights: a column of the table, or a file with one number per row
    #[arg(long, value_name = "COL|FILE")]
    pub weights: Option<String>,

    #[command(flatten)]
    pub reading: LabelReading,
}
