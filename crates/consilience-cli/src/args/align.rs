//! The arguments of `align`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::labels::LabelReading;

/// Follow clusters through time: ids that persist, and who moved when
///
/// Each TABLE is the clustering of one time, in the order given: a table of labels with one row per object,
/// one of its columns (FILE:COLUMN), or the folder of a result. One single table holds all times, a column
/// each. With --id, objects may come and go.
///
/// A cluster gets the identifier of the earlier cluster that it continues, found by matching clusters so that
/// as many objects as possible stay; an object that was away counts where it was seen last. The identifier of
/// a cluster that is gone is never used for another one.
///
/// All decisions rest on one share (--share, half by default):
///   continue  two clusters have in common at least this share of either's objects that are seen in both
///   split     a new cluster, at least this share of whose objects come from one that goes on
///   merge     a cluster that is gone, at least this share of whose objects are in another one now
/// New clusters that are no split are births, clusters gone without a merge deaths.
///
/// Writes to DIR:
///   labels.csv    the identifier of every object's cluster, one column per time
///   moves.csv     who moved when: object, from_time, to_time, from_cluster, to_cluster
///   events.csv    births, splits, returns, merges, deaths
///   clusters.csv  every cluster at every time: its label there, its size, who stayed, came, is new
///   flows.csv     how many objects went from where to where
///   align.json    all of it but the objects, for programs
///   flow.svg      the figure: clusters as bars, objects that go on as bands
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    after_long_help = "\
Examples:
  Customer segments of three months:
    consilience align jan.csv feb.csv mar.csv --id customer -o segments

  Columns of tables that hold more than labels:
    consilience align jan.csv:segment feb.csv:segment --id customer -o segments

  Results of this program; their clusters were numbered anew every time:
    consilience align results-may results-june results-july -o through-summer

  All months in one table, and the figure as PDF:
    consilience align months.csv --id customer -o segments --figure segments.pdf"
)]
pub(crate) struct AlignArgs {
    /// Tables of labels in the order of time (.csv .tsv .txt .parquet .npy .arrow), FILE:COLUMN, or folders of
    /// results
    #[arg(required = true, value_name = "TABLE", value_hint = ValueHint::AnyPath)]
    pub tables: Vec<String>,

    /// Where the files go
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// The share of objects that makes a cluster the continuation or a part of another
    #[arg(long, value_name = "SHARE", default_value_t = consilience::pipeline::SHARE)]
    pub share: f64,

    /// What the times are called, with commas between [default: the names of files or columns]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub names: Vec<String>,

    /// Write the figure to this file as well (.svg .pdf .png)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub figure: Option<PathBuf>,

    /// Replace files that are there already
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub reading: LabelReading,
}
