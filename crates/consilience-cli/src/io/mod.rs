//! Tables in and out: the only part of the program that opens files of data.
//!
//! Reading goes in two steps. A *format* ([`text`], [`npy`], [`columnar`]) turns bytes into a
//! [`Table`](table::Table): columns of label codes, numbers or text, according to the role that
//! each column's name gives it. A *meaning* ([`features`], [`clusterings`], [`beside`]) hands out the
//! roles and checks what came back. No step holds the cells of a label column as strings.
//!
//! Writing is one step: a list of named columns goes to any format, first under a temporary name.

mod arrays;
mod beside;
mod cells;
mod clusterings;
mod columnar;
mod columns;
mod consensus;
mod cut;
mod dialect;
mod error;
mod features;
#[cfg(test)]
mod foreign;
mod guard;
mod guess;
mod join;
mod members;
mod npy;
mod npy_header;
mod parse;
mod piece;
mod raw;
#[cfg(test)]
mod round_trip;
mod source;
mod table;
mod target;
mod text;
mod write;
mod write_columnar;
mod write_npy;
mod write_text;

use std::path::Path;

pub(crate) use beside::read_labels;
pub(crate) use cells::Cells;
pub(crate) use clusterings::read_clusterings;
pub(crate) use consensus::read_consensus;
pub(crate) use error::InputError;
pub(crate) use features::{FeatureTable, read_features};
pub(crate) use guess::Guess;
pub(crate) use raw::{RawColumn, RawTable, read_raw};
pub(crate) use table::Ids;
pub(crate) use target::{OutputError, Stage, Target};
pub(crate) use write::{
    write_consensus, write_correspondences, write_matrix, write_members, write_membership,
    write_table, write_text,
};

/// The kind of a file, told by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text, cells separated by commas (when read: whatever is detected).
    Csv {
        /// Compressed by gzip.
        gzip: bool,
    },
    /// Text, cells separated by tabs (when read: whatever is detected).
    Tsv {
        /// Compressed by gzip.
        gzip: bool,
    },
    /// Apache Parquet.
    Parquet,
    /// One NumPy array.
    Npy,
    /// An Arrow IPC file.
    Arrow,
}

impl Format {
    /// The endings there are, for messages.
    pub(crate) const ENDINGS: &'static str =
        ".csv, .tsv, .csv.gz, .tsv.gz, .parquet, .npy or .arrow";

    /// The format of a path, if its ending is known; `-` is CSV.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        if path == Path::new("-") {
            return Some(Format::Csv { gzip: false });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let (stem, gzip) = name.strip_suffix(".gz").map_or((&*name, false), |stem| (stem, true));
        match stem.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => Some(Format::Csv { gzip }),
            Some("tsv") => Some(Format::Tsv { gzip }),
            Some("parquet") if !gzip => Some(Format::Parquet),
            Some("npy") if !gzip => Some(Format::Npy),
            Some("arrow") if !gzip => Some(Format::Arrow),
            _ => None,
        }
    }
}

/// What to put in place of missing feature values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Impute {
    /// The mean of the column's other values.
    Mean,
    /// Their median.
    Median,
}

/// How tables are read; the fields are the command line's options of the same names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadOptions {
    /// The column of identifiers.
    pub(crate) id: Option<String>,
    /// The column of known classes; for clusterings also a file.
    pub(crate) truth: Option<String>,
    /// The column of object weights, or a file with them.
    pub(crate) weights: Option<String>,
    /// Columns to leave out.
    pub(crate) drop: Vec<String>,
    /// Whether the first line of text is data.
    pub(crate) no_header: bool,
    /// A cell that means "missing", besides the empty one, `NA` and `NaN`.
    pub(crate) missing: Option<String>,
    /// What to put in place of missing feature values; without it they are refused.
    pub(crate) impute: Option<Impute>,
}

/// Reads a file of any kind.
fn read_table(
    path: &Path,
    options: &ReadOptions,
    plan: &dyn table::Plan,
    run: &consilience::Run,
) -> Result<table::Table, InputError> {
    let mut table = match Format::of(path) {
        Some(Format::Csv { gzip }) => return text::read(path, gzip, b',', options, plan, run),
        Some(Format::Tsv { gzip }) => return text::read(path, gzip, b'\t', options, plan, run),
        Some(Format::Npy) => npy::read(path, plan, run)?,
        Some(Format::Parquet) => columnar::read_parquet(path, options, plan, run)?,
        Some(Format::Arrow) => columnar::read_arrow(path, options, plan, run)?,
        None => return Err(InputError::UnknownEnding { file: error::shown(path) }),
    };
    if let Some(spelling) = &options.missing {
        table.take_as_missing(spelling);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        let of = |path: &str| Format::of(Path::new(path));
        assert_eq!(of("-"), Some(Format::Csv { gzip: false }));
        assert_eq!(of("a/b.CSV"), Some(Format::Csv { gzip: false }));
        assert_eq!(of("b.v2.tsv.gz"), Some(Format::Tsv { gzip: true }));
        assert_eq!(of("b.parquet"), Some(Format::Parquet));
        assert_eq!(of("b.npy"), Some(Format::Npy));
        assert_eq!(of("b.arrow"), Some(Format::Arrow));
        for unknown in ["b", "b.gz", "b.parquet.gz", "b.xlsx", ".csv/b"] {
            assert_eq!(of(unknown), None);
        }
    }
}
