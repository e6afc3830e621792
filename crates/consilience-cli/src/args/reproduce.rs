//! The arguments of `reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::reproduce::Protocol;

/// Run the papers' experiments again, beside the published figures
///
/// Every table and figure of the five papers that this program is built on: ensembles made as the paper
/// says, every method on them, our mean beside what is printed, and the papers' statements judged with
/// their own test. Interrupted, it goes on where it stopped when the same command is given again.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  What there is:
    consilience reproduce --list

  One table, with what is inside the program:
    consilience reproduce 000-t02 -o reproduced

  Everything, from a folder of data sets (NAME.csv.gz with a column `label`):
    consilience reproduce --data data -o reproduced")]
pub(crate) struct ReproduceArgs {
    /// Tables and figures by name, or the start of it (000, 002-t1) [default: all]
    #[arg(value_name = "TABLE")]
    pub(crate) tables: Vec<String>,

    /// Name the tables and figures, and compute nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// The folder with the data sets [default: only those inside the program]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Runs of every cell [default: as many as the paper's]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<usize>,

    /// Only these columns, by method, as in scec,cspa
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,

    /// Only the rows of these data sets, as in iris,glass
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,

    /// How to read what the papers leave open [default: both]
    #[arg(long, value_name = "PROTOCOL")]
    pub(crate) protocol: Option<Protocol>,

    /// The folder to write to
    #[arg(short, long, value_name = "DIR", default_value = "consilience-reproduced",
          value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Replace files of the same names in the folder that are of something else
    #[arg(long)]
    pub(crate) force: bool,

    /// Start over instead of going on from an interrupted run
    #[arg(long)]
    pub(crate) fresh: bool,

    /// Compute nothing: write the tables of what earlier runs have finished
    #[arg(long, conflicts_with = "fresh")]
    pub(crate) finished: bool,
}
