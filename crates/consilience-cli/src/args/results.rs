//! The arguments of the commands that take a saved result.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::labels::LabelReading;

/// Make the report page again from a saved result
///
/// One HTML file with the verdict, figures and a paragraph for a paper. It is complete in itself:
/// it can be mailed, archived and opened without a network. `run`, `demo` and `combine --save` write
/// it as report.html; this makes it again from what they saved, in the place of that page. Any other
/// file is replaced only with --force.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  From the folder that run wrote, into the same folder:
    consilience report flowers-consensus

  Under another name:
    consilience report flowers-consensus -o flowers.html")]
pub(crate) struct ReportArgs {
    /// The folder that `run`, `demo` or `combine --save` wrote, or its result.json
    #[arg(value_name = "RESULT", value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,

    /// Where the page goes [default: report.html in the folder]
    #[arg(short, long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Replace a file that is there already and is not the page of this result
    #[arg(long)]
    pub force: bool,
}

/// Tell why objects are in their clusters: who voted for what
///
/// For each object: its cluster, how much the clusterings support it, the second choice and the
/// margin between the two, and the vote of every clustering. A clustering's cluster votes for a
/// cluster of the consensus with the share of its objects that lie there.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  One flower, by its identifier in the column that --id named:
    consilience run flowers.csv --id name --truth species -o flowers-consensus
    consilience explain flowers-consensus f071

  Without identifiers, by the number of the row, from 0:
    consilience demo
    consilience explain consilience-demo 70 106

  Every vote, for programs:
    consilience explain consilience-demo 70 --json")]
pub(crate) struct ExplainArgs {
    /// The folder that `run`, `demo` or `combine --save` wrote, or its result.json
    #[arg(value_name = "RESULT", value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,

    /// The objects: identifiers, or numbers of rows from 0 if the result was made without --id
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

/// Repeat a saved run and compare: the same bits again, or what differs
///
/// Takes inputs (found by name, checked by checksum), options and seed from the record in
/// result.json, runs them again in a temporary folder, and compares the labels and clusterings byte
/// by byte.
///
/// Exit code 0 if everything is the same, 1 if a result differs, 3 if an input does.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Are these still the results that the paper has?
    consilience replay flowers-consensus

  The data have moved:
    consilience replay flowers-consensus --data archive/flowers.csv")]
pub(crate) struct ReplayArgs {
    /// The folder that `run`, `demo` or `combine --save` wrote, or its result.json
    #[arg(value_name = "RESULT", value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,

    /// Where an input is now, if it is neither here nor beside the result (repeatable)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub data: Vec<PathBuf>,
}

/// Find the clusters of new objects that the same clusterings have labelled
///
/// NEW is a table like that of the clusterings: one row per object, one column per clustering. Columns
/// are matched by name with those of the result; others are left out, and those that are not there
/// count as missing. An object with a known tuple of labels gets the cluster of that tuple; one with a new
/// tuple the cluster of the nearest tuples: those that differ from it in the fewest labels, where a
/// missing label counts half; of several the cluster with the largest weight, the lowest number of
/// equals. Labels that a clustering never gave before count as missing.
///
/// NEW holds labels, not features: a result keeps what its clusterings said, not what made them. For new
/// rows of features, put them into the data and use `run --align-to RESULT`; or use ConsensusClustering of
/// the Python package, whose `predict` takes features.
///
/// The result is a table `id,cluster,confidence,match`: match is `exact` or `nearest`, or `none` for
/// an object without any known label, which gets no cluster. The confidence of an exact one is that
/// of the saved result, that of a nearest one follows from its own votes. Where labels are missing, a
/// column `coverage` before the last tells what share of the clusterings label the object.
///
/// Identifiers are in the column that --id names, or the one that the result was made with. If NEW
/// has no such column, another one in which every row has a value of its own is taken.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Patients that came later, labelled by the same three sites:
    consilience combine site-a.csv site-b.csv site-c.csv --id patient --k 4 --save spring
    consilience assign spring june.csv -o june-clusters.csv

  How many are known, nearest, unknown?
    consilience assign spring june.csv -o june-clusters.csv --json")]
pub(crate) struct AssignArgs {
    /// The folder that `run`, `demo` or `combine --save` wrote, or its result.json
    #[arg(value_name = "RESULT", value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,

    /// Tables of the new objects' labels (.csv .tsv .txt .parquet .npy .arrow, text also .gz; - is stdin)
    #[arg(required = true, value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: LabelReading,

    /// Where the clusters go [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Replace the file if it is there already
    #[arg(long, help_heading = "Output")]
    pub force: bool,
}
