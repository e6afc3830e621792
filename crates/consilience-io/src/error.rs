//! What can be wrong with a file that is read: what, where, and what to do.

use crate::spelling::Setting;
use consilience::words::counted;
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
#[derive(Debug, PartialEq)]
// What a variant and its fields are is said by its message, in `parts`.
#[allow(missing_docs)]
pub enum InputError {
    Unreadable { file: String, problem: String },
    Directory { file: String },
    UnknownEnding { file: String },
    Damaged { file: String, problem: String },
    Unsupported { file: String, problem: String, hint: String },
    Empty { file: String },
    HeaderOnly { file: String },
    NoColumns { file: String },
    Ragged { file: String, line: usize, found: usize, expected: usize, separator: String },
    OpenQuote { file: String, line: usize },
    NotUtf8 { file: String, place: Place },
    NotANumber { file: String, place: Place, column: String, value: String, hint: String },
    TextColumns { file: String, count: usize, listed: String, hint: String },
    NotFinite { file: String, place: Place, column: String, value: f64 },
    TooLarge { file: String, place: Place, column: String, value: f64 },
    MissingValue { file: String, place: Place, column: String },
    AllMissing { file: String, column: String },
    NoSuchColumn { file: String, option: Setting<'static>, name: String, known: Vec<String> },
    DuplicateColumn { file: String, name: String, first: usize, second: usize },
    NothingToDrop { name: String, known: Vec<String> },
    NamedApart { file: String, column: String, other: String, named: Option<String> },
    MissingId { file: String, place: Place, column: String },
    DuplicateId { file: String, column: String, id: String, first: Place, second: Place },
    RepeatedId { column: String, id: String, files: Box<[String; 2]>, rows: [Place; 2] },
    Temporary { folder: String, problem: String },
    RowCounts { first: String, first_rows: usize, second: String, second_rows: usize },
    Unmatched { file: String, problem: String, count: usize, first: String, hint: String },
    Membership { file: String, place: Place, member: String, problem: String, hint: String },
    Weight { file: String, place: Place, column: String, value: f64 },
    ColumnOrFile { option: Setting<'static>, name: String, known: Vec<String> },
    MeantRun { file: String, place: Place, column: String, value: String },
    MeantCombine { file: String, evidence: String, hint: String },
    Library(consilience::Error),
}

/// What is wrong, and what to do about it.
impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = self.library() {
            return error.fmt(f);
        }
        let (problem, fix) = self.parts();
        write!(f, "{problem}; {fix}")
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.library().and_then(std::error::Error::source)
    }
}

impl From<consilience::Error> for InputError {
    fn from(error: consilience::Error) -> Self {
        InputError::Library(error)
    }
}

impl InputError {
    /// What is wrong, and what to do about it.
    pub fn parts(&self) -> (String, String) {
        const DIFFER: &str = "identifiers must differ";
        match self {
            InputError::Unreadable { file, problem } => (
                format!("{file} cannot be read: {problem}"),
                "check the path and its permissions".to_owned(),
            ),
            InputError::Directory { file } => {
                (format!("{file} is a directory, not a file"), "name a table inside it".to_owned())
            }
            InputError::UnknownEnding { file } => (
                format!("{file}: the ending does not say what kind of file this is"),
                format!("use {}", super::Format::ENDINGS),
            ),
            InputError::Damaged { file, problem } => {
                (format!("{file} is damaged: {problem}"), "make or copy the file again".to_owned())
            }
            InputError::Unsupported { file, problem, hint } => {
                (format!("{file}: {problem}"), hint.clone())
            }
            InputError::Empty { file } => {
                (format!("{file} is empty"), "it needs at least one row".to_owned())
            }
            InputError::HeaderOnly { file } => (
                format!("{file} has a header but no rows"),
                format!("if line 1 is data, give {}", Setting::NoHeader),
            ),
            InputError::NoColumns { file } => (
                format!("{file} has no columns left to read"),
                format!(
                    "all are named by {}, {}, {} or {}",
                    Setting::Id,
                    Setting::Truth,
                    Setting::Weights,
                    Setting::Drop
                ),
            ),
            InputError::Ragged { file, line, found, expected, separator } => (
                format!(
                    "{file}, line {line}: {}, but {expected} are expected",
                    counted(*found, "field")
                ),
                format!("mend the line, or quote cells that contain the separator {separator}"),
            ),
            InputError::OpenQuote { file, line } => (
                format!("{file}, line {line}: a quote opens here and never closes"),
                "close or remove it".to_owned(),
            ),
            InputError::NotUtf8 { file, place } => (
                format!("{file}, {place}: the bytes are not UTF-8 text"),
                "save the file as UTF-8".to_owned(),
            ),
            InputError::NotANumber { file, place, column, value, hint } => (
                format!("{file}, {place}, column `{column}`: `{value}` is not a number"),
                hint.clone(),
            ),
            InputError::TextColumns { file, count, listed, hint } => {
                let hold = if *count == 1 { "holds" } else { "hold" };
                (
                    format!("{file}: {} {hold} text: {listed}", counted(*count, "column")),
                    hint.clone(),
                )
            }
            InputError::NotFinite { file, place, column, value } => (
                format!("{file}, {place}, column `{column}`: {value} is not a finite number"),
                "correct or drop it".to_owned(),
            ),
            InputError::TooLarge { file, place, column, value } => (
                format!(
                    "{file}, {place}, column `{column}`: {value:e} is too large: a feature must be of \
                     magnitude at most 1e150"
                ),
                format!("correct it, or leave the column out with {}", Setting::DropThis(column)),
            ),
            InputError::MissingValue { file, place, column } => (
                format!("{file}, {place}, column `{column}`: the value is missing"),
                format!("fill it in, leave the row out, or give {}", Setting::Impute),
            ),
            InputError::AllMissing { file, column } => (
                format!("{file}, column `{column}`: every value is missing"),
                format!("leave it out with {}", Setting::DropThis(column)),
            ),
            InputError::NoSuchColumn { file, option, name, known } => {
                let known = listed(known);
                (format!("{file} has no column `{name}` ({option})"), format!("it has {known}"))
            }
            InputError::DuplicateColumn { file, name, first, second } => (
                format!("{file}: two columns are called `{name}` (the {first}. and the {second}.)"),
                "rename one".to_owned(),
            ),
            InputError::NothingToDrop { name, known } => (
                format!("column `{name}` ({}) is in none of the files", Setting::Drop),
                format!("they have {}", listed(known)),
            ),
            InputError::NamedApart { file, column, other, named } => {
                const THEN: &str = "rows then belong together in the order of the files";
                match named {
                    Some(named) => (
                        format!("{file} names its rows by `{column}`, {other} by `{named}`"),
                        format!(
                            "give these columns one name, and the files are joined on it, or leave both \
                             out with {}: {THEN}",
                            Setting::DropThese(&[column, named])
                        ),
                    ),
                    None => (
                        format!(
                            "{file} names its rows by `{column}`, {other} has nothing that does"
                        ),
                        format!(
                            "add such a column there, and the files are joined on it, or leave it out \
                             with {}: {THEN}",
                            Setting::DropThis(column)
                        ),
                    ),
                }
            }
            InputError::MissingId { file, place, column } => (
                format!("{file}, {place}, column `{column}`: the identifier is missing"),
                "every row needs one".to_owned(),
            ),
            InputError::DuplicateId { file, column, id, first, second } => (
                format!(
                    "{file}: `{id}` in column `{column}` stands in {first} and again in {second}"
                ),
                DIFFER.to_owned(),
            ),
            InputError::RepeatedId { column, id, files, rows } => (
                format!(
                    "`{id}` in column `{column}` stands in {}, {}, and again in {}, {}",
                    files[0], rows[0], files[1], rows[1]
                ),
                DIFFER.to_owned(),
            ),
            InputError::Temporary { folder, problem } => (
                format!("temporary files in {folder} fail: {problem}"),
                format!(
                    "make room there, name another folder by TMPDIR, or raise {}",
                    Setting::Memory
                ),
            ),
            InputError::RowCounts { first, first_rows, second, second_rows } => (
                format!(
                    "{first} has {}, but {second} has {second_rows}",
                    counted(*first_rows, "row")
                ),
                format!("name the column of identifiers ({}) to join them by it", Setting::Id),
            ),
            InputError::Unmatched { file, problem, count, first, hint } => (
                format!("{file}: {problem} for {count} of the objects, the first `{first}`"),
                hint.clone(),
            ),
            InputError::Membership { file, place, member, problem, hint } => {
                (format!("{file}, {place}, clustering `{member}`: {problem}"), hint.clone())
            }
            InputError::Weight { file, place, column, value } => (
                format!(
                    "{file}, {place}, column `{column}`: a weight must be a finite number > 0, got \
                     {value}"
                ),
                "correct it".to_owned(),
            ),
            InputError::ColumnOrFile { option, name, known } => (
                format!("`{name}` ({option}) is neither a column of the tables nor a file"),
                format!("the columns are {}", listed(known)),
            ),
            InputError::MeantRun { file, place, column, value } => (
                format!(
                    "{file}, {place}, column `{column}`: `{value}` is a measurement, not a cluster label"
                ),
                format!(
                    "if this is a table of features, {} was meant; if not, leave the column out with {}",
                    Setting::Cluster,
                    Setting::DropThis(column)
                ),
            ),
            InputError::MeantCombine { file, evidence, hint } => (
                format!("{file} holds clusterings, not features ({evidence})"),
                format!("{} was meant; {hint}", Setting::Combine),
            ),
            InputError::Library(error) => (error.to_string(), "mend the file".to_owned()),
        }
    }

    /// The library's error inside, if it is one: cancelling and memory have exit codes of their own.
    pub fn library(&self) -> Option<&consilience::Error> {
        match self {
            InputError::Library(error) => Some(error),
            _ => None,
        }
    }

    /// A file on which a reader gave up in a panic.
    pub fn contradictory(file: &str) -> Self {
        let problem = "its contents contradict one another".to_owned();
        InputError::Damaged { file: file.to_owned(), problem }
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
        // Known classes stand last in many tables.
        let last = names.last().map_or("", AsRef::as_ref);
        text.push(format!("and {} more, the last `{last}`", names.len() - SHOWN));
    }
    text.join(", ")
}
