//! What a user can tell a reader, by the name that it has where the user sits.
//!
//! A message of this crate says what to do about a file, and that is mostly an option to give. The
//! command line, Python and other front doors spell options in ways of their own, so a message holds
//! a [`Setting`], and the front door tells once how it spells them.

use std::fmt;
use std::sync::OnceLock;

/// Something that a user can tell a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting<'a> {
    /// The column of identifiers.
    Id,
    /// `-1` is a cluster like any other.
    NoiseIsACluster,
    /// The column of identifiers is this one.
    IdIs(&'a str),
    /// The column of known classes.
    Truth,
    /// A column of this file, of known classes.
    TruthIn(&'a str),
    /// The column of weights.
    Weights,
    /// Columns to leave out.
    Drop,
    /// Leave out this column.
    DropThis(&'a str),
    /// Leave out these columns.
    DropThese(&'a [&'a str]),
    /// Decimals are written with a comma.
    DecimalComma,
    /// This spelling means a missing value.
    MissingIs(&'a str),
    /// The first line is data.
    NoHeader,
    /// What to put in place of missing values.
    Impute,
    /// The ceiling on memory.
    Memory,
    /// The files hold rows of one table.
    Rows,
    /// Clustering a table of features.
    Cluster,
    /// Combining a table of clusterings.
    Combine,
}

/// How a front door spells a setting.
pub type Spelling = fn(Setting<'_>) -> String;

static SPELLING: OnceLock<Spelling> = OnceLock::new();

/// Lets messages spell settings in this way from now on; the first to tell decides.
pub fn spell_by(spelling: Spelling) {
    SPELLING.get_or_init(|| spelling);
}

/// In words, for who uses this crate without a front door.
fn plainly(setting: Setting<'_>) -> String {
    let name = match setting {
        Setting::Id => "id",
        Setting::Truth => "truth",
        Setting::Weights => "weights",
        Setting::Drop => "drop",
        Setting::DecimalComma => "decimal_comma",
        Setting::NoHeader => "no_header",
        Setting::Impute => "impute",
        Setting::Memory => "the memory ceiling",
        Setting::Rows => "rows",
        Setting::Cluster => "clustering features",
        Setting::Combine => "combining clusterings",
        Setting::NoiseIsACluster => "noise `cluster`",
        Setting::IdIs(column) => return format!("id `{column}`"),
        Setting::MissingIs(token) => return format!("missing `{token}`"),
        Setting::TruthIn(file) => return format!("truth `{file}:COLUMN`"),
        Setting::DropThis(column) => return format!("drop `{column}`"),
        Setting::DropThese(columns) => return format!("drop `{}`", columns.join("`, `")),
    };
    name.to_owned()
}

impl fmt::Display for Setting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&SPELLING.get().copied().unwrap_or(plainly)(*self))
    }
}

/// What columns that hold no data can be named by.
pub(super) fn other_columns() -> String {
    format!("{}, {} or {}", Setting::Id, Setting::Truth, Setting::Drop)
}

/// What to do where memory does not suffice for a table.
pub(super) fn fewer_columns() -> String {
    format!("raise {} or read fewer columns ({})", Setting::Memory, Setting::Drop)
}
