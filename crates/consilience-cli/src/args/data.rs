//! The arguments of the commands that start from data: `demo`, `run` and `generate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use consilience::generate::{BaseK, Share};
use consilience_io::{Impute, ReadOptions};

use super::TABLES;
use super::consensus::{CONSENSUS, ConsensusArgs};
use super::values::{
    at_least_one, base_names, dataset_names, preset_names, scaling_names, scheme_names,
};

/// The data set of the demonstration unless another is named.
pub(crate) const DEFAULT_DEMO: &str = "cigar";

/// See the whole pipeline work on data that is inside the program
///
/// Clusters the data many times, combines the clusterings, compares the result with the known classes,
/// and writes a folder with everything `run` writes. No files are needed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Two long and two small clouds; how many there are is found:
    consilience demo

  The flowers that everybody starts with:
    consilience demo iris

  Two interleaved half rings, which no single k-means can tell apart:
    consilience demo half-rings

  Tables to try everything else with:
    consilience demo --tables")]
pub(crate) struct DemoArgs {
    /// The data set
    #[arg(value_name = "NAME", default_value = DEFAULT_DEMO, value_parser = dataset_names())]
    pub name: String,

    /// The folder to write to [default: consilience-demo, for another data set consilience-demo-NAME]
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,

    /// Only write tables for the commands in the README: flowers.csv, rings.csv, labels.csv and others
    ///
    /// They go to the folder that -o names [default: this one].
    #[arg(long, conflicts_with = "name")]
    pub tables: bool,

    /// Replace another result, or other files of the same names, in the folder
    #[arg(long)]
    pub force: bool,
}

/// Cluster data many times and combine the clusterings: data in, consensus out
///
/// One row per object; numeric columns are features. Writes to DIR: labels.csv (the consensus:
/// id,cluster,confidence), ensemble.parquet (the clusterings that were combined), result.json
/// (everything about how it was found) and report.html (all of it as a page with figures).
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
        --base-k 3 --size 20 --scale none -o iris

  Clusters of any shape, their number not known: many small clusters joined by a majority of votes
    consilience run rings.csv --preset voting-k-means --base-k 20 -o rings

  Clusters of any shape among many objects: U-SENC
    consilience run big.parquet --preset u-senc --k 10 -o big")]
pub(crate) struct RunArgs {
    /// The data (.csv .tsv .txt .parquet .npy .arrow .mtx, text also .gz; - is CSV on stdin)
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: PathBuf,

    /// The folder to write to
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Sets defaults for the options below, as in a paper; an option you give yourself wins
    ///
    /// voting-k-means also tells how the number of clusters settles as clusterings come in: in
    /// result.json and in convergence.csv (members,clusters,pc_idx).
    #[arg(long, value_name = "NAME", value_parser = preset_names())]
    pub preset: Option<String>,

    /// Start over: do not reuse clusterings of an interrupted run
    #[arg(long)]
    pub fresh: bool,

    /// Replace another result, or other files of the same names, in DIR
    #[arg(long)]
    pub force: bool,

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
  A committee of several kinds of clusterers:
    consilience generate flowers.csv --id name -o ensemble.parquet

  Fifty k-means clusterings with random numbers of clusters:
    consilience generate flowers.csv --id name --base kmeans -o ensemble.parquet

  Fuzzy memberships, then combined:
    consilience generate flowers.csv --base fuzzy-kmeans --soft --base-k 3 --scheme random-init \\
        -o ensemble.parquet
    consilience combine ensemble.parquet --method scec --k 3")]
pub(crate) struct GenerateArgs {
    /// The data (.csv .tsv .txt .parquet .npy .arrow .mtx, text also .gz; - is CSV on stdin)
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: PathBuf,

    /// Where the ensemble goes: one row per object, one column per clustering
    #[arg(short, long, value_name = "ENSEMBLE", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// Replace the file if it is there already
    #[arg(long)]
    pub force: bool,

    /// Of `run` and `combine`: told what to give instead.
    #[arg(short, long, value_name = "K", hide = true)]
    pub k: Option<String>,

    #[command(flatten)]
    pub ensemble: EnsembleArgs,

    #[command(flatten)]
    pub reading: DataReading,
}

/// How the clusterings to be combined are made.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Ensemble")]
pub(crate) struct EnsembleArgs {
    /// The number of clusterings [default: 50; of a committee 32, or 48 if it knows no K (see --base-k)]
    #[arg(long, value_name = "R", value_parser = at_least_one)]
    pub size: Option<usize>,

    /// What makes the clusterings differ [default: committee, or random-k with --base]
    #[arg(long, value_name = "SCHEME", value_parser = scheme_names())]
    pub scheme: Option<String>,

    /// The kinds of clusterers in the committee [default: genie,spectral,gmm,kmeans]
    ///
    /// Any of those that --base knows. Each makes several clusterings; those that cut through more
    /// neighbourhoods than most others are left out.
    #[arg(long, value_name = "BASE,...", value_delimiter = ',', value_parser = base_names(),
          conflicts_with_all = ["base", "representatives", "neighbours"])]
    pub kinds: Vec<String>,

    /// What makes each clustering, if one kind is to make all [default: kmeans]
    ///
    /// kmeans reads the data once an iteration. For more than ten million objects try
    /// minibatch-kmeans, which learns from samples and reads them twice.
    #[arg(long, value_name = "BASE", value_parser = base_names())]
    pub base: Option<String>,

    /// Clusters of a clustering: a number, or a range to draw from
    ///
    /// By default it depends on K, the number that --k gives or, without --k, `run` finds in the features
    /// before it makes clusterings: a committee takes K, 2K, K+1 and K-1, random-k draws from 2..2K, the
    /// other schemes take K. Where nobody knows K, which is so in `generate` and with a method that
    /// finds the number by itself, a committee takes six numbers from 2 to the square root of the number
    /// of objects, at most 30; random-k draws from 2 to that root, and the other schemes take the root.
    #[arg(long, value_name = "K|A..B")]
    pub base_k: Option<BaseK>,

    /// Representatives of u-spec [default: 1000, at most a fifth of the objects]
    #[arg(long, value_name = "P", value_parser = at_least_one)]
    pub representatives: Option<usize>,

    /// Representatives that u-spec joins an object to [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub neighbours: Option<usize>,

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

    /// How features are brought to one scale first [default: zscore]
    #[arg(long, value_name = "HOW", value_parser = scaling_names())]
    pub scale: Option<String>,
}

/// The defaults stand here and not with the options, so that a preset can tell what was said.
impl EnsembleArgs {
    pub(crate) fn size(&self) -> usize {
        self.size.unwrap_or(50)
    }

    /// The number as it was given, or the default of all schemes but the committee, which has its own.
    pub(crate) fn told_size(&self) -> Option<usize> {
        self.size.or_else(|| (self.scheme() != "committee").then(|| self.size()))
    }

    pub(crate) fn scheme(&self) -> &str {
        let one_kind = self.base.is_some() || self.representatives.or(self.neighbours).is_some();
        self.scheme.as_deref().unwrap_or(if one_kind { "random-k" } else { "committee" })
    }

    pub(crate) fn base(&self) -> &str {
        self.base.as_deref().unwrap_or("kmeans")
    }

    pub(crate) fn scale(&self) -> &str {
        self.scale.as_deref().unwrap_or("zscore")
    }
}

/// How tables of features are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = TABLES)]
pub(crate) struct DataReading {
    /// The column that identifies objects
    ///
    /// By default the first column of a text table that has a text of its own in every row, or a whole number
    /// under a name such as `id` or `sample_id`. It is said which one was taken.
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// The column of known classes; used only to score
    #[arg(long, value_name = "COL")]
    pub truth: Option<String>,

    /// Columns that are no features (repeatable; several with commas between)
    #[arg(long, value_name = "COL")]
    pub drop: Vec<String>,

    /// The numbers are features, however much they look like clusterings
    #[arg(long)]
    pub as_features: bool,

    /// Fill in missing values instead of refusing them
    #[arg(long, value_name = "HOW")]
    pub impute: Option<ImputeChoice>,

    /// A further spelling of a missing value (repeatable: each time one, commas included)
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    pub missing: Vec<String>,

    /// How decimals are written in text tables [default: .]
    #[arg(long, value_name = "SIGN", value_parser = [".", ","], hide_possible_values = true)]
    pub decimal: Option<String>,

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
            id_is_guessed: false,
            truth: self.truth.clone(),
            weights: weights.map(str::to_owned),
            drop: self.drop.clone(),
            no_header: self.no_header,
            missing: self.missing.clone(),
            decimal_comma: self.decimal.as_deref() == Some(","),
            impute: self.impute.map(|impute| match impute {
                ImputeChoice::Mean => Impute::Mean,
                ImputeChoice::Median => Impute::Median,
            }),
            saved: None,
            may_be_empty: false,
            minus_one_is_a_label: false,
            held: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use consilience::generate::{BaseK, Committee};

    use crate::args::Cli;

    /// What the help says of the committee is what the committee does.
    #[test]
    fn the_help_knows_the_sizes_of_a_committee() {
        let size = |consensus| Committee::default().size(BaseK::Auto { consensus });
        let mut cli = Cli::command();
        let help = cli.find_subcommand_mut("run").unwrap().render_long_help().to_string();
        let told = format!("of a committee {}, or {} if it knows no K", size(Some(3)), size(None));
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&told), "{told}");
    }
}
