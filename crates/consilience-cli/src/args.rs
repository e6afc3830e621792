//! The arguments: raw text in, checked values out.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use consilience::base::SCALINGS;
use consilience::data::DATA_SETS;
use consilience::generate::{BASES, BaseK, SCHEMES, Share};
use consilience::metrics::METRICS;

use crate::io::{Impute, ReadOptions};
use crate::memory::parse_size;
use crate::progress::When;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const COMMON: &str = "Common options";
const TABLES: &str = "Reading tables";
const CONSENSUS: &str = "Consensus";

/// Many clusterings of the same objects, combined into one
///
/// consilience takes several clusterings of the same objects, made by different algorithms, runs,
/// people or sites, and finds the one clustering they agree on most, and how sure it is of every
/// object.
#[derive(Debug, Parser)]
#[command(
    name = "consilience",
    version,
    styles = STYLES,
    max_term_width = 100,
    args_override_self = true,
    after_help = "Start with `consilience demo`; `consilience help COMMAND` teaches each command by examples.",
    after_long_help = "\
Examples:
  See the whole thing work, no files needed:
    consilience demo

  You have data (one row an object): cluster it many times and combine:
    consilience run flowers.csv --id name --k 3 -o flowers-consensus

  You have clusterings (one row an object, one column a clustering):
    consilience combine labels.csv --method scec --k 3 -o consensus.csv

  How well do they agree with what is known?
    consilience score consensus.csv --truth species.csv

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad input data, 4 refused for memory,
130 interrupted (no partial output is left)."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Seed of all random choices: same input, options and seed give the same bytes
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = COMMON)]
    pub seed: u64,

    /// Threads to use [default: all cores]; results do not depend on it
    #[arg(long, global = true, value_name = "N", help_heading = COMMON, value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Memory ceiling such as 8GiB [default: 80 % of what the machine or its cgroup has]
    ///
    /// What would need more is refused before it allocates (exit code 4), saying what it would need
    /// and which methods would fit. GB counts by 1000; GiB and a bare g by 1024.
    #[arg(long, global = true, value_name = "SIZE", help_heading = COMMON, value_parser = parse_size)]
    pub memory: Option<u64>,

    /// Print one line of JSON on stdout instead of text
    #[arg(long, global = true, help_heading = COMMON)]
    pub json: bool,

    /// When to show progress on stderr
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = COMMON)]
    pub progress: When,

    /// When to use colours; NO_COLOR is obeyed too
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = COMMON)]
    pub color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Generate(GenerateArgs),
    Combine(CombineArgs),
    Score(ScoreArgs),
    Methods(MethodsArgs),
    Reproduce(crate::commands::reproduce::ReproduceArgs),
    Completions(CompletionsArgs),
}

/// See the whole pipeline work on data that is inside the program
///
/// Clusters the data many times, combines the clusterings, compares the result with the known classes,
/// and writes a folder `consilience-demo` with everything `run` writes. No files are needed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  The flowers that everybody starts with:
    consilience demo

  Two interleaved half rings, which no single k-means can tell apart:
    consilience demo half-rings")]
pub(crate) struct DemoArgs {
    /// The data set
    #[arg(value_name = "NAME", default_value = "iris", value_parser = dataset_names())]
    pub name: String,

    /// The folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "consilience-demo",
          value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
}

/// Cluster data many times and combine the clusterings: data in, consensus out
///
/// One row an object; numeric columns are features. Writes to DIR: labels.csv (the consensus:
/// id,cluster,confidence), ensemble.parquet (the clusterings that were combined) and result.json
/// (everything about how it was found).
///
/// An interrupted run resumes: base clusterings already finished are kept and reused when the same
/// command is given again.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Three clusters, everything else as it comes:
    consilience run flowers.csv --k 3 -o flowers-consensus

  The number of clusters is not known, and the species, which is, is used only to score:
    consilience run flowers.csv --id name --truth species -o flowers-consensus

  Many features: every clustering sees a random half of them
    consilience run genes.parquet --scheme random-subspace --subspace 0.5 --size 100 --k 8 -o genes

  The setting of many papers: k-means from random starts on the features as they are
    consilience run iris.csv.gz --truth label --method scec --k 3 --scheme random-init \\
        --base-k 3 --size 20 --scale none -o iris")]
pub(crate) struct RunArgs {
    /// The data (.csv .tsv .parquet .npy .arrow, text also .gz; - is CSV on stdin)
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: PathBuf,

    /// The folder to write to
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Start over: do not reuse clusterings of an interrupted run
    #[arg(long)]
    pub fresh: bool,

    #[command(flatten)]
    pub ensemble: EnsembleArgs,

    #[command(flatten)]
    pub consensus: ConsensusArgs,

    /// The column of object weights; they count in the consensus, not in the base clusterings
    #[arg(long, value_name = "COL", help_heading = CONSENSUS)]
    pub weights: Option<String>,

    #[command(flatten)]
    pub reading: DataReading,
}

/// Only cluster data many times: make an ensemble, to be combined later
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Fifty k-means clusterings with random numbers of clusters:
    consilience generate flowers.csv --id name -o ensemble.parquet

  Fuzzy memberships, then combined:
    consilience generate flowers.csv --base fuzzy-kmeans --soft --base-k 3 --scheme random-init \\
        -o ensemble.parquet
    consilience combine ensemble.parquet --method scec --k 3")]
pub(crate) struct GenerateArgs {
    /// The data (.csv .tsv .parquet .npy .arrow, text also .gz; - is CSV on stdin)
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: PathBuf,

    /// Where the ensemble goes: one row an object, one column a clustering
    #[arg(short, long, value_name = "ENSEMBLE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    #[command(flatten)]
    pub ensemble: EnsembleArgs,

    #[command(flatten)]
    pub reading: DataReading,
}

/// How the clusterings to be combined are made.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Ensemble")]
pub(crate) struct EnsembleArgs {
    /// The number of clusterings
    #[arg(long, value_name = "R", default_value_t = 50, value_parser = at_least_one)]
    pub size: usize,

    /// What makes the clusterings differ
    #[arg(long, value_name = "SCHEME", default_value = "random-k", value_parser = scheme_names())]
    pub scheme: String,

    /// What makes each clustering
    #[arg(long, value_name = "BASE", default_value = "kmeans", value_parser = base_names())]
    pub base: String,

    /// Clusters of a clustering: a number, or a range to draw from
    ///
    /// By default, with --k K: K, or for random-k a number in 2..2K; without: the square root of the
    /// number of objects, or a number from 2 to it.
    #[arg(long, value_name = "K|A..B")]
    pub base_k: Option<BaseK>,

    /// Features that random-subspace draws, or dimensions of random-projection
    #[arg(long, value_name = "D|FRACTION")]
    pub subspace: Option<Share>,

    /// Objects that bootstrap and subsample draw
    #[arg(long, value_name = "N|FRACTION")]
    pub sample: Option<Share>,

    /// Leave objects that bootstrap and subsample did not draw without a label
    ///
    /// By default they are put in the nearest cluster.
    #[arg(long)]
    pub leave_out: bool,

    /// Make soft clusterings: memberships instead of labels
    #[arg(long)]
    pub soft: bool,

    /// How features are brought to one scale first
    #[arg(long, value_name = "HOW", default_value = "zscore", value_parser = scaling_names())]
    pub scale: String,
}

/// How tables of features are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = TABLES)]
pub(crate) struct DataReading {
    /// The column that identifies objects
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// The column of known classes; used only to score
    #[arg(long, value_name = "COL")]
    pub truth: Option<String>,

    /// Columns that are no features
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    pub drop: Vec<String>,

    /// Fill in missing values instead of refusing them
    #[arg(long, value_name = "HOW")]
    pub impute: Option<ImputeChoice>,

    /// A further spelling of a missing value
    #[arg(long, value_name = "TOKEN")]
    pub missing: Option<String>,

    /// The first row of text tables is data, not a header
    #[arg(long)]
    pub no_header: bool,
}

/// `--impute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImputeChoice {
    /// The mean of the column's other values
    Mean,
    /// The median of the column's other values
    Median,
}

impl DataReading {
    /// The options as the reader takes them.
    pub(crate) fn options(&self, weights: Option<&str>) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            truth: self.truth.clone(),
            weights: weights.map(str::to_owned),
            drop: self.drop.clone(),
            no_header: self.no_header,
            missing: self.missing.clone(),
            impute: self.impute.map(|impute| match impute {
                ImputeChoice::Mean => Impute::Mean,
                ImputeChoice::Median => Impute::Median,
            }),
        }
    }
}

/// Combine clusterings that you already have into one
///
/// One row an object, one column a clustering; labels are any text or integers, missing ones are
/// empty, NA, NaN or (among integers) -1. Columns named NAME:CLUSTER hold the memberships of a soft
/// clustering. Several files are joined on --id, or stand side by side.
///
/// The consensus is a table `id,cluster,confidence`: clusters are numbered from 0 by falling size, and
/// an object that no clustering labels gets an empty cluster. Without -o it goes to stdout.
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

  From a pipe, the summary as JSON:
    zcat labels.csv.gz | consilience combine - --method voting --set threshold=0.6 --json")]
pub(crate) struct CombineArgs {
    /// Tables of clusterings (.csv .tsv .parquet .npy .arrow, text also .gz; - is CSV on stdin)
    #[arg(required = true, value_name = "CLUSTERINGS", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub consensus: ConsensusArgs,

    /// Object weights: a column of the tables, or a file with one number a row
    #[arg(long, value_name = "COL|FILE", help_heading = CONSENSUS)]
    pub weights: Option<String>,

    #[command(flatten)]
    pub reading: LabelReading,

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

    /// Write the soft consensus, one row an object, one column a cluster
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
}

/// How the consensus is found.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = CONSENSUS)]
pub(crate) struct ConsensusArgs {
    /// The consensus method; `consilience methods` lists them
    #[arg(short, long, value_name = "NAME", default_value = "auto")]
    pub method: String,

    /// The number of clusters, or auto to let the method choose
    #[arg(short, long, value_name = "K|auto", default_value = "auto")]
    pub k: KChoice,

    /// Set a parameter of the method (repeatable); `consilience methods NAME` lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<Setting>,

    /// Start the iteration from this clustering instead of at random
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub init: Option<PathBuf>,
}

/// How tables of clusterings are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = TABLES)]
pub(crate) struct LabelReading {
    /// The column that identifies objects; several files are joined on it
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// A further spelling of a missing label
    #[arg(long, value_name = "TOKEN")]
    pub missing: Option<String>,

    /// Columns that are no clusterings
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    pub drop: Vec<String>,

    /// The first row of text tables is data, not a header
    #[arg(long)]
    pub no_header: bool,
}

impl LabelReading {
    /// The options as the reader takes them.
    pub(crate) fn options(&self, truth: Option<&str>, weights: Option<&str>) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            truth: truth.map(str::to_owned),
            weights: weights.map(str::to_owned),
            drop: self.drop.clone(),
            no_header: self.no_header,
            missing: self.missing.clone(),
            impute: None,
        }
    }
}

/// Measure how well clusterings agree, with known classes or with each other
///
/// With --truth, a row per clustering: nmi, ari, accuracy, error, vi, purity, pc_idx. Without, the
/// matrix of one measure between all pairs. On a terminal the result is an aligned table, in a file
/// or pipe it is CSV.
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
    /// Tables of clusterings (.csv .tsv .parquet .npy .arrow, text also .gz; - is CSV on stdin)
    #[arg(required = true, value_name = "CLUSTERINGS", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// The known classes: a column of the tables, or a file
    #[arg(long, value_name = "COL|FILE")]
    pub truth: Option<String>,

    /// The measure of the matrix; more columns than the usual with --truth
    #[arg(long, value_name = "NAME", value_parser = metric_names())]
    pub metric: Option<String>,

    /// Object weights: a column of the table, or a file with one number a row
    #[arg(long, value_name = "COL|FILE")]
    pub weights: Option<String>,

    #[command(flatten)]
    pub reading: LabelReading,
}

/// List the consensus methods, or show one with its parameters
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Which are there, and which choose the number of clusters?
    consilience methods

  The parameters of one, to be given as --set KEY=VALUE:
    consilience methods scec

  For programs:
    consilience methods --json")]
pub(crate) struct MethodsArgs {
    /// The method to show
    pub name: Option<String>,
}

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  consilience completions bash > ~/.local/share/bash-completion/completions/consilience
  consilience completions zsh > ~/.zfunc/_consilience
  consilience completions fish > ~/.config/fish/completions/consilience.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `--k K|auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KChoice(pub Option<usize>);

impl FromStr for KChoice {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(KChoice(None)),
            _ => match text.parse() {
                Ok(k) if k >= 1 => Ok(KChoice(Some(k))),
                _ => Err("give a whole number from 1 on, or `auto`".to_owned()),
            },
        }
    }
}

/// `--set KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub key: String,
    pub value: String,
}

impl FromStr for Setting {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Setting { key: key.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("write it as KEY=VALUE, such as threshold=0.6".to_owned()),
        }
    }
}

/// Names with their one-line descriptions, for the help and for mistyped ones.
fn names(named: impl IntoIterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    named.into_iter().map(|(name, help)| PossibleValue::new(name).help(help)).into()
}

fn scheme_names() -> PossibleValuesParser {
    names(SCHEMES.iter().map(|info| (info.name, info.title)))
}

fn base_names() -> PossibleValuesParser {
    names(BASES.iter().map(|info| (info.name, info.title)))
}

fn scaling_names() -> PossibleValuesParser {
    names(SCALINGS.iter().map(|(name, _, title)| (*name, *title)))
}

fn metric_names() -> PossibleValuesParser {
    names(METRICS.iter().map(|info| (info.name, info.title)))
}

fn dataset_names() -> PossibleValuesParser {
    names(DATA_SETS.iter().map(|info| (info.name, info.title)))
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("give a whole number from 1 on".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_of_clusters() {
        assert_eq!("auto".parse(), Ok(KChoice(None)));
        assert_eq!("3".parse(), Ok(KChoice(Some(3))));
        for bad in ["0", "-1", "2.5", "", "many"] {
            assert!(bad.parse::<KChoice>().is_err(), "{bad}");
        }
    }

    #[test]
    fn settings_are_pairs() {
        let setting: Setting = "threshold = 0.6".parse().unwrap();
        assert_eq!((setting.key.as_str(), setting.value.as_str()), ("threshold", "0.6"));
        for bad in ["threshold", "=0.6", "threshold="] {
            assert!(bad.parse::<Setting>().is_err(), "{bad}");
        }
    }
}
