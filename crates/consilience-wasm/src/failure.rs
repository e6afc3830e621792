//! What can go wrong, in the words of the command line but for the names of the settings.

use consilience::Asked as Part;
use consilience_io::{InputError, OutputError, Setting};

/// Why there is no consensus.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A setting of the page cannot be used.
    #[error("{0}")]
    Setting(String),
    /// The file cannot be used.
    #[error("{}", of_input(.0))]
    Input(#[from] InputError),
    /// The computation cannot be done.
    #[error("{}", .0.spelled(part))]
    Library(#[from] consilience::Error),
    /// The result cannot be written.
    #[error("{0}")]
    Output(#[from] OutputError),
}

fn of_input(error: &InputError) -> String {
    error.library().map_or_else(|| error.to_string(), |error| error.spelled(part))
}

fn part(asked: Part) -> &'static str {
    match asked {
        Part::Clusters => "the number of clusters",
        Part::Settings => "parameters",
        Part::Start => "a start",
        Part::Membership => "memberships",
        Part::Correspondences => "correspondences",
        Part::Dendrogram => "a dendrogram",
        Part::Edges => "edges",
        Part::Size => "the command line's --size",
        Part::Ceiling => "its --memory",
    }
}

/// How the page calls what a reader may be told.
pub(crate) fn spelled(setting: Setting<'_>) -> String {
    let name = match setting {
        Setting::Id => "the setting Identifiers",
        Setting::Truth => "Known classes",
        Setting::Drop => "Leave out",
        Setting::Cluster => "Features (setting The table holds)",
        Setting::Combine => "Clusterings (setting The table holds)",
        Setting::Memory => "the memory, which the command line has more of,",
        Setting::Weights => "--weights of the command line",
        Setting::DecimalComma => "a comma as Decimals",
        Setting::NoHeader => "--no-header on the command line",
        Setting::Impute => "--impute on the command line",
        Setting::Rows => "--rows on the command line",
        Setting::NoiseIsACluster => "--noise cluster on the command line",
        Setting::IdIs(column) => return format!("`{column}` as Identifiers"),
        Setting::MissingIs(word) => return format!("`{word}` as Missing values"),
        Setting::TruthIn(file) => return format!("--truth {file}:COLUMN on the command line"),
        Setting::DropThis(column) => return format!("`{column}` as Leave out"),
        Setting::DropThese(columns) => return format!("`{}` as Leave out", columns.join(",")),
    };
    name.to_owned()
}
