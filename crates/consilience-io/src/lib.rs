//! Tables that are read and written: the one part of consilience that opens files of data, shared by
//! the command line and the Python package.
//!
//! A *format* (`text`, `npy`, `columnar`, and `market` for sparse features) turns bytes into a table: columns of label codes, numbers or
//! text, according to the role that each column's name gives it. A *meaning* (`features`,
//! `clusterings`, `beside`) hands out the roles and checks what came back. No step holds the cells of a
//! label column as strings. Clusterings in Parquet are also read without holding all labels (`rows`).
//!
//! Messages speak of options as the command line spells them: `--id`, `--drop`.

#![forbid(unsafe_code)]

mod arrays;
mod beside;
mod checksum;
pub mod cleanup;
mod clusterings;
mod columnar;
mod columns;
mod consensus;
mod cut;
mod dialect;
mod edges;
mod error;
mod features;
#[cfg(test)]
mod foreign;
mod guard;
mod guess;
mod identify;
mod join;
pub mod looks;
mod market;
mod members;
mod moves;
mod npy;
mod npy_header;
mod numbers;
mod parse;
mod piece;
mod raw;
mod rows;
mod sequence;
mod source;
mod spelling;
mod table;
mod text;
mod texts;
mod write;

use std::path::{Path, PathBuf};

pub use beside::read_labels;
pub use checksum::{Fingerprint, Xxh64};
pub use clusterings::{ClusteringTable, read_clusterings};
pub use consensus::{ConsensusTable, read_consensus};
pub use edges::{EdgeTable, read_edges};
pub use error::{InputError, Place, Result, describe};
pub use features::{FeatureTable, Values, read_features};
pub use guard::{hide_reader_panics, is_reader_at_work};
pub use guess::Guess;
pub use identify::{head, identify, looked_at, naming_column};
pub use members::rounding;
pub use moves::{FolderLock, recover, sweep};
pub use raw::{RawColumn, RawTable, read_raw, read_raw_column};
pub use rows::{RowFiles, RowsBeside, RowsTable, read_rows, row_files};
pub use sequence::{SequenceTable, Slice, read_sequence};
pub use source::Held;
pub use spelling::{Setting, Spelling, spell_by};
pub use table::Ids;
pub use write::{
    Cells, Memory, NamedCells, OutputError, Stage, Target, write_bytes, write_consensus,
    write_correspondences, write_edges, write_matrix, write_members, write_membership, write_table,
    write_text,
};

/// The kind of a file, told by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
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
    pub const ENDINGS: &'static str = ".csv, .tsv, .txt (also with .gz), .parquet, .npy or .arrow";

    /// The format of a path, if its ending is known; `-` is CSV.
    pub fn of(path: &Path) -> Option<Self> {
        if path == Path::new("-") {
            return Some(Format::Csv { gzip: false });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let (stem, gzip) = name.strip_suffix(".gz").map_or((&*name, false), |stem| (stem, true));
        match stem.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => Some(Format::Csv { gzip }),
            // Text of any name: what parts its cells is seen when it is read.
            Some("tsv" | "tab" | "txt") => Some(Format::Tsv { gzip }),
            Some("parquet") if !gzip => Some(Format::Parquet),
            Some("npy") if !gzip => Some(Format::Npy),
            Some("arrow") if !gzip => Some(Format::Arrow),
            _ => None,
        }
    }
}

/// What to put in place of missing feature values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impute {
    /// The mean of the column's other values.
    Mean,
    /// Their median.
    Median,
}

/// How tables are read; the fields are the command line's options of the same names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The column of identifiers.
    pub id: Option<String>,
    /// Whether nobody named it: [`identify`] found it, and files beside the tables need not have it.
    pub id_is_guessed: bool,
    /// The column of known classes; for clusterings also a file.
    pub truth: Option<String>,
    /// The column of object weights, or a file with them.
    pub weights: Option<String>,
    /// Columns to leave out: each a name, or several with commas between.
    pub drop: Vec<String>,
    /// Whether the first line of text is data.
    pub no_header: bool,
    /// Cells that mean "missing", besides the empty one, `NA` and `NaN`.
    pub missing: Vec<String>,
    /// Whether decimals in text are written with a comma: `1,5`.
    pub decimal_comma: bool,
    /// What to put in place of missing feature values; without it they are refused.
    pub impute: Option<Impute>,
    /// A table of clusterings of an earlier result: it is read as it was written, whatever is said of
    /// the others.
    pub saved: Option<PathBuf>,
    /// Whether a clustering may label no object, as one may that is asked about a few new ones.
    pub may_be_empty: bool,
    /// Whether `-1` is a cluster like any other: otherwise it is missing where all labels are integers.
    pub minus_one_is_a_label: bool,
    /// A file that is not on disk: its name means these bytes.
    pub held: Option<Held>,
}

impl ReadOptions {
    /// These options for a table that this program wrote.
    #[must_use]
    pub fn as_written(&self) -> Self {
        ReadOptions {
            drop: Vec::new(),
            no_header: false,
            missing: Vec::new(),
            decimal_comma: false,
            // What was missing is an empty cell there.
            minus_one_is_a_label: true,
            ..self.clone()
        }
    }

    /// The names of the columns to leave out of a table with these columns. A column may have a comma
    /// in its name, so what is the name of one is not taken apart.
    pub fn dropped<'a>(&'a self, names: &'a [String]) -> impl Iterator<Item = &'a str> {
        self.drop.iter().flat_map(move |given| {
            let whole = names.contains(given).then_some(given.as_str());
            let parts = given.split(',').map(str::trim).filter(move |_| whole.is_none());
            whole.into_iter().chain(parts)
        })
    }
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
        Some(Format::Npy) => npy::read(path, options, plan, run)?,
        Some(Format::Parquet) => columnar::read_parquet(path, options, plan, run)?,
        Some(Format::Arrow) => columnar::read_arrow(path, options, plan, run)?,
        None => {
            // Of a file that is not there, the ending does not matter.
            source::open(path, options)?;
            return Err(InputError::UnknownEnding { file: error::shown(path) });
        }
    };
    options.missing.iter().for_each(|spelling| table.take_as_missing(spelling));
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_comma_is_one_name() {
        let drop = ["weight, kg", "a, b"].map(str::to_owned).to_vec();
        let options = ReadOptions { drop, ..ReadOptions::default() };
        let names = ["a", "b", "weight, kg", "kg"].map(str::to_owned);
        assert_eq!(options.dropped(&names).collect::<Vec<_>>(), ["weight, kg", "a", "b"]);
    }

    #[test]
    fn the_ending_tells_the_format() {
        let of = |path: &str| Format::of(Path::new(path));
        assert_eq!(of("-"), Some(Format::Csv { gzip: false }));
        assert_eq!(of("a/b.CSV"), Some(Format::Csv { gzip: false }));
        assert_eq!(of("b.v2.tsv.gz"), Some(Format::Tsv { gzip: true }));
        assert_eq!(of("b.txt"), Some(Format::Tsv { gzip: false }));
        assert_eq!(of("b.TXT.gz"), Some(Format::Tsv { gzip: true }));
        assert_eq!(of("b.parquet"), Some(Format::Parquet));
        assert_eq!(of("b.npy"), Some(Format::Npy));
        assert_eq!(of("b.arrow"), Some(Format::Arrow));
        for unknown in ["b", "b.gz", "b.parquet.gz", "b.xlsx", ".csv/b"] {
            assert_eq!(of(unknown), None);
        }
    }
}
