//! The arguments of `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Look for what is probably wrong with tables before they are used
///
/// Tells of transposed tables, identifiers read as features or labels, duplicate identifiers,
/// constant and duplicated columns, clusterings that are constant, all singletons or given twice,
/// files that do not belong together, and more, each with what to do about it. Nothing is changed.
///
/// Exit code 0 if nothing looks wrong, 3 if something does.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Before a run:
    consilience check flowers.csv --id name

  Clusterings of several sites, joined by patient:
    consilience check site-a.csv site-b.parquet --id patient && \\
        consilience combine site-a.csv site-b.parquet --id patient

  For programs:
    consilience check labels.csv --json")]
pub(crate) struct CheckArgs {
    /// The tables (.csv .tsv .txt .parquet .npy .arrow, text also .gz)
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// What the tables hold [default: told by their columns]
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<Kind>,

    /// The column that identifies objects
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// The column of known classes
    #[arg(long, value_name = "COL")]
    pub truth: Option<String>,

    /// Columns that are not used (repeatable; several with commas between)
    #[arg(long, value_name = "COL")]
    pub drop: Vec<String>,

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

/// `--as`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Features, for `run` and `generate`
    Features,
    /// Clusterings, for `combine` and `score`
    Clusterings,
}

impl Kind {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Features => "features",
            Kind::Clusterings => "clusterings",
        }
    }
}
