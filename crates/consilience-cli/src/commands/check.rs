//! `consilience check FILE...`: what looks wrong before a run, each with what to do.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use consilience_io::{ReadOptions, read_raw};
use serde::Serialize;
use serde_json::json;

use super::Session;
use super::suspicions::{Finding, Kind, across, of_table};
use crate::args::Common;
use crate::errors::data;
use crate::output;

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
    /// The tables (.csv .tsv .parquet .npy .arrow, text also .gz)
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// What the tables hold [default: told by their columns]
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<KindChoice>,

    /// The column that identifies objects
    #[arg(long, value_name = "COL")]
    pub id: Option<String>,

    /// The column of known classes
    #[arg(long, value_name = "COL")]
    pub truth: Option<String>,

    /// Columns that are not used
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    pub drop: Vec<String>,

    /// A further spelling of a missing value
    #[arg(long, value_name = "TOKEN")]
    pub missing: Option<String>,

    /// The first row of text tables is data, not a header
    #[arg(long)]
    pub no_header: bool,
}

/// `--as`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindChoice {
    /// Features, for `run` and `generate`
    Features,
    /// Clusterings, for `combine` and `score`
    Clusterings,
}

pub(super) fn run(args: &CheckArgs, common: &Common) -> anyhow::Result<()> {
    let session = Session::new(common);
    let options = ReadOptions {
        id: args.id.clone(),
        missing: args.missing.clone(),
        no_header: args.no_header,
        ..ReadOptions::default()
    };
    let mut findings = Vec::new();
    let mut tables = Vec::new();
    for path in &args.files {
        match read_raw(path, &options, &session.run) {
            Ok(mut table) => {
                let unused =
                    |name: &String| args.drop.contains(name) || args.truth.as_ref() == Some(name);
                table.columns.retain(|column| !unused(&column.name));
                let kind = args.kind.map(|kind| match kind {
                    KindChoice::Features => Kind::Features,
                    KindChoice::Clusterings => Kind::Clusterings,
                });
                findings.extend(of_table(&table, args.id.as_deref(), kind));
                tables.push(table);
            }
            // Cancelling and memory are nobody's mistake.
            Err(error) if error.library().is_some() => return Err(error.into()),
            Err(error) => findings.push(Finding::unreadable(path, &error)),
        }
    }
    findings.extend(across(&tables, args.id.as_deref()));
    session.progress.clear();
    let files = output::counted(args.files.len(), "file");
    if session.json {
        let told: Vec<_> = findings.iter().map(Finding::told).collect();
        output::json(&json!({ "schema": 1, "clean": told.is_empty(), "findings": told }))?;
    } else if findings.is_empty() {
        output::text(&format!("nothing looks wrong in {files}"))?;
    } else {
        let lines: Vec<String> = findings.iter().map(Finding::shown).collect();
        output::text(&lines.join("\n"))?;
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err(data(format!("1 thing looks wrong in {files}"))),
        some => Err(data(format!("{some} things look wrong in {files}"))),
    }
}
