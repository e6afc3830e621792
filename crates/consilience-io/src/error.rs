//! What can be wrong with a file that is read: what, where, and what to do.

use crate::spelling::Setting;
use std::fmt;
use std::io;
use std::path::Path;

/// The result of reading.
pub type Result<T, E = InputError> = std::result::Result<T, E>;

/// Where in a file something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1 as editors do.
    Line(usize),
    /// A row of a binary file, counted from 0 as the programs that wrote it do.
    Row(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row} (counted from 0)"),
        }
    }
}

/// Everything that can be wrong with the data a user gives.
///
/// [`Library`](Self::Library) also carries a raised cancel flag and a refusal for memory, which are
/// not the data's fault: see [`library`](Self::library).
#[derive(Debug, PartialEq, thiserror::Error)]
// What a variant and its fields are is said by its message.
#[allow(missing_docs)]
pub enum InputError {
    #[error("{file} cannot be read: {problem}; check the path and its permissions")]
    Unreadable { file: String, problem: String },

    #[error("{file} is a directory, not a file: name a table inside it")]
    Directory { file: String },

    #[error(
        "{file}: the ending does not say what kind of file this is; use {}",
        super::Format::ENDINGS
    )]
    UnknownEnding { file: String },

    #[error("{file} is damaged: {problem}; make or copy the file again")]
    Damaged { file: String, problem: String },

    #[error("{file}: {problem}; {hint}")]
    Unsupported { file: String, problem: String, hint: String },

    #[error("{file} is empty: it needs at least one row")]
    Empty { file: String },

    #[error("{file} has a header but no rows; if line 1 is data, give {}", Setting::NoHeader)]
    HeaderOnly { file: String },

    #[error(
        "{file} has no columns left to read: all are named by {}, {}, {} or {}",
        Setting::Id,
        Setting::Truth,
        Setting::Weights,
        Setting::Drop
    )]
    NoColumns { file: String },

    #[error(
        "{file}, line {line}: {found} field{}, but {expected} are expected; mend the line, or quote \
         cells that contain the separator {separator}",
        if *found == 1 { "" } else { "s" }
    )]
    Ragged { file: String, line: usize, found: usize, expected: usize, separator: String },

    #[error("{file}, line {line}: a quote opens here and never closes; close or remove it")]
    OpenQuote { file: String, line: usize },

    #[error("{file}, {place}: the bytes are not UTF-8 text; save the file as UTF-8")]
    NotUtf8 { file: String, place: Place },

    #[error("{file}, {place}, column `{column}`: `{value}` is not a number; {hint}")]
    NotANumber { file: String, place: Place, column: String, value: String, hint: String },

    #[error("{file}: {} columns hold text: {listed}; {hint}", count)]
    TextColumns { file: String, count: usize, listed: String, hint: String },

    #[error(
        "{file}, {place}, column `{column}`: {value} is not a finite number; correct or drop it"
    )]
    NotFinite { file: String, place: Place, column: String, value: f64 },

    #[error(
        "{file}, {place}, column `{column}`: {value:e} is too large: a feature must be of magnitude at \
         most 1e150; correct it, or leave the column out with {}",
        Setting::DropThis(column)
    )]
    TooLarge { file: String, place: Place, column: String, value: f64 },

    #[error(
        "{file}, {place}, column `{column}`: the value is missing; fill it in, leave the row out, \
         or give {}",
        Setting::Impute
    )]
    MissingValue { file: String, place: Place, column: String },

    #[error(
        "{file}, column `{column}`: every value is missing; leave it out with {}",
        Setting::DropThis(column)
    )]
    AllMissing { file: String, column: String },

    #[error("{file} has no column `{name}` ({option}); it has {known}")]
    NoSuchColumn { file: String, option: Setting<'static>, name: String, known: String },

    #[error("{file}: two columns are called `{name}` (the {first}. and the {second}.); rename one")]
    DuplicateColumn { file: String, name: String, first: usize, second: usize },

    #[error("column `{name}` ({}) is in none of the files; they have {known}", Setting::Drop)]
    NothingToDrop { name: String, known: String },

    #[error("{file}, {place}, column `{column}`: the identifier is missing; every row needs one")]
    MissingId { file: String, place: Place, column: String },

    #[error(
        "{file}: `{id}` in column `{column}` stands in {first} and again in {second}; identifiers must differ"
    )]
    DuplicateId { file: String, column: String, id: String, first: Place, second: Place },

    #[error(
        "`{id}` in column `{column}` stands in {}, {}, and again in {}, {}; identifiers must differ",
        files[0], rows[0], files[1], rows[1]
    )]
    RepeatedId { column: String, id: String, files: Box<[String; 2]>, rows: [Place; 2] },

    #[error(
        "temporary files in {folder} fail: {problem}; make room there, name another folder by TMPDIR, \
         or raise {}",
        Setting::Memory
    )]
    Temporary { folder: String, problem: String },

    #[error(
        "{first} has {first_rows} rows, but {second} has {second_rows}; name the column of \
         identifiers ({}) to join them by it",
        Setting::Id
    )]
    RowCounts { first: String, first_rows: usize, second: String, second_rows: usize },

    #[error("{file}: {problem} for {count} of the objects, the first `{first}`; {hint}")]
    Unmatched { file: String, problem: String, count: usize, first: String, hint: String },

    #[error("{file}, {place}, clustering `{member}`: {problem}")]
    Membership { file: String, place: Place, member: String, problem: String },

    #[error(
        "{file}, {place}, column `{column}`: a weight must be a finite number > 0, got {value}"
    )]
    Weight { file: String, place: Place, column: String, value: f64 },

    #[error(
        "`{name}` ({option}) is neither a column of the tables nor a file; the columns are {known}"
    )]
    ColumnOrFile { option: Setting<'static>, name: String, known: String },

    #[error(
        "{file}, {place}, column `{column}`: `{value}` is a measurement, not a cluster label; if \
         this is a table of features, {} was meant; if not, leave the column out \
         with {}",
        Setting::Cluster,
        Setting::DropThis(column)
    )]
    MeantRun { file: String, place: Place, column: String, value: String },

    #[error(
        "{file} holds clusterings, not features ({evidence}): {} was meant; {hint}",
        Setting::Combine
    )]
    MeantCombine { file: String, evidence: String, hint: String },

    #[error(transparent)]
    Library(#[from] consilience::Error),
}

impl InputError {
    /// The library's error inside, if it is one: cancelling and memory have exit codes of their own.
    pub fn library(&self) -> Option<&consilience::Error> {
        match self {
            InputError::Library(error) => Some(error),
            _ => None,
        }
    }

    /// An error of the operating system while `path` was opened or read.
    pub fn io(file: &str, error: &io::Error) -> Self {
        let file = file.to_owned();
        match error.kind() {
            io::ErrorKind::IsADirectory => InputError::Directory { file },
            // What the decompressors say of a file cut off or overwritten.
            io::ErrorKind::UnexpectedEof => InputError::Damaged {
                file,
                problem: "it ends in the middle (truncated)".to_owned(),
            },
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                InputError::Damaged { file, problem: error.to_string() }
            }
            _ => InputError::Unreadable { file, problem: describe(error) },
        }
    }
}

/// The message of an error of the operating system without its number.
pub fn describe(error: &io::Error) -> String {
    let message = error.to_string();
    let end = message.find(" (os error").unwrap_or(message.len());
    let mut text = message[..end].to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}

/// How a path is shown in messages.
pub(super) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The first names of a list, for messages.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 12;
    let mut text: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("`{}`", name.as_ref())).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}
