//! The arguments of `resolve`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::labels::LabelReading;

/// Find which resolution to take, from clusterings at several
///
/// Clusterings are given at several levels, each with several seeds.
/// Of every level it is told how much its clusterings agree (element-centric similarity and inconsistency, each with an
/// interval from resampled clusterings, beside what shuffled labels would reach), how many clusters they have, and how much the level agrees with
/// the next. Levels are recommended whose clusterings agree more than those beside them and at least half of the way from chance to full
/// agreement; the answer may be that no level is stable.
///
/// DIR gets labels.csv (id, cluster and confidence at the recommended level, and a column per recommended level), levels.csv, the tree of how clusters
/// come apart as tree-nodes.csv, tree-edges.csv and tree.svg, and result.json. A cluster keeps its number from level
/// to level.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Leiden at ten resolutions with ten seeds each, in columns such as leiden_0.5_3:
    consilience resolve runs.parquet --levels 'leiden_{level}_{seed}' -o levels

  A table that tells the level of every column (column,level):
    consilience resolve runs.csv --id cell --levels levels-of-columns.csv -o levels

  The consensus at a level of your choice:
    consilience resolve runs.parquet --levels 'leiden_{level}_{seed}' --level 0.8 -o fine")]
pub(crate) struct ResolveArgs {
    /// Tables of clusterings (.csv .tsv .txt .parquet .npy .arrow, text also .gz; - is CSV on stdin)
    #[arg(required = true, value_name = "CLUSTERINGS", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Where names of columns have the level: a pattern such as leiden_{level}_{seed}, or a table column,level
    ///
    /// Another word in braces, or *, stands for anything. Columns that do not match are left out, and named. Levels that are numbers
    /// are ordered as such, others by the number of clusters.
    #[arg(long, value_name = "PATTERN|FILE")]
    pub levels: String,

    /// Take this level, whatever is recommended
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub level: Option<String>,

    /// The folder for the results
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Replace files of these names that are in the folder already
    #[arg(long)]
    pub force: bool,

    /// Object weights: a column of the tables, or a file with one number per row
    #[arg(long, value_name = "COL|FILE")]
    pub weights: Option<String>,

    #[command(flatten)]
    pub reading: LabelReading,
}
