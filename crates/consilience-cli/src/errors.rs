//! From errors to exit codes and a line on stderr.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::builder::styling::{AnsiColor, Style};
use consilience::Asked;
use consilience_io::InputError;
use serde_json::json;
use strsim::osa_distance;

use crate::output::{self, named};
use consilience_io::OutputError;

/// How the program ends; scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Something outside of the user's arguments and data failed.
    Failed = 1,
    /// The command was not written as it should be.
    Usage = 2,
    /// The input data cannot be used, or there is no room for what comes of them.
    Data = 3,
    /// The memory ceiling would be passed.
    Refused = 4,
    /// The user pressed Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// What the number stands for.
    fn name(self) -> &'static str {
        match self {
            Exit::Failed => "failed",
            Exit::Usage => "usage",
            Exit::Data => "data",
            Exit::Refused => "memory",
            Exit::Interrupted => "interrupted",
        }
    }
}

/// An error that knows how the program should end because of it.
#[derive(Debug)]
pub(crate) struct Ending {
    exit: Exit,
    message: String,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Ending {}

/// The command was not written as it should be.
pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    Ending { exit: Exit::Usage, message: message.into() }.into()
}

/// What is asked for cannot be had of any data.
pub(crate) fn data(message: impl Into<String>) -> anyhow::Error {
    Ending { exit: Exit::Data, message: message.into() }.into()
}

/// What was asked for failed.
pub(crate) fn failed(message: impl Into<String>) -> anyhow::Error {
    Ending { exit: Exit::Failed, message: message.into() }.into()
}

/// What the parser of the command line said, without its usage and colours.
pub(crate) fn misunderstood(error: &clap::Error) -> anyhow::Error {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    usage(text.trim_start_matches("error: "))
}

/// Says what went wrong, with `json` also as the one line of stdout, and how the program ends.
pub(crate) fn report(error: &anyhow::Error, json: bool) -> ExitCode {
    let Some(exit) = exit_of(error) else {
        return ExitCode::SUCCESS;
    };
    let text = if exit == Exit::Interrupted {
        "interrupted".to_owned()
    } else {
        // A message that ends up in one line can be found again with grep; names in it must not
        // rewrite the terminal.
        let causes: Vec<String> = error.chain().map(worded).collect();
        named(&causes.join(": ").replace('\n', " "))
    };
    let meant = error.chain().find_map(suggestion);
    let meant = meant.map_or(String::new(), |name| format!("; did you mean `{}`?", named(&name)));
    if json && !output::has_told() {
        let told = json!({ "kind": exit.name(), "exit_code": exit as u8, "message": text.clone() + &meant });
        // The same is said on stderr.
        let _ = output::json(&json!({ "schema": 1, "error": told }));
    }
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    // Nobody is left to hear of it if stderr is gone too.
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {text}{meant}");
    ExitCode::from(exit as u8)
}

/// How the program ends because of `error`; `None` if it is no error: who reads our output may stop
/// reading (`consilience ... | head`).
pub(crate) fn exit_of(error: &anyhow::Error) -> Option<Exit> {
    for cause in error.chain() {
        if let Some(ending) = cause.downcast_ref::<Ending>() {
            return Some(ending.exit);
        }
        if let Some(error) = cause.downcast_ref::<consilience::Error>() {
            return Some(exit_of_library(error));
        }
        if let Some(error) = cause.downcast_ref::<InputError>() {
            return Some(error.library().map_or(Exit::Data, exit_of_library));
        }
        if let Some(error) = cause.downcast_ref::<OutputError>() {
            return Some(match error {
                OutputError::Library(error) => exit_of_library(error),
                OutputError::UnknownEnding { .. }
                | OutputError::Directory { .. }
                | OutputError::Unsupported { .. } => Exit::Usage,
                OutputError::Full { .. } => Exit::Data,
                OutputError::Failed { .. } => Exit::Failed,
            });
        }
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            match error.kind() {
                io::ErrorKind::BrokenPipe => return None,
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    return Some(Exit::Data);
                }
                _ => {}
            }
        }
    }
    Some(Exit::Failed)
}

fn exit_of_library(error: &consilience::Error) -> Exit {
    use consilience::Error;
    match error {
        Error::Parameter { .. }
        | Error::UnknownParameter { .. }
        | Error::UnknownName { .. }
        | Error::Beyond { .. }
        | Error::OneMethodOnly { .. }
        | Error::NoAnswer { .. }
        | Error::NeedsK { .. }
        | Error::NeedsEdges { .. } => Exit::Usage,
        Error::TooManyClusters { .. }
        | Error::StartTooFine { .. }
        | Error::TooFewRows { .. }
        | Error::Empty { .. }
        | Error::Length { .. }
        | Error::Value { .. }
        | Error::MemberWithoutLabels { .. }
        | Error::Unsupported { .. } => Exit::Data,
        Error::Memory { .. } => Exit::Refused,
        Error::Cancelled => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

/// What an error says, with options as they are written here.
fn worded(cause: &(dyn std::error::Error + 'static)) -> String {
    let option = |asked: Asked| match asked {
        Asked::Clusters => "--k",
        Asked::Settings => "--set",
        Asked::Start => "--init",
        Asked::Membership => "--membership",
        Asked::Correspondences => "--correspondence",
        Asked::Dendrogram => "--dendrogram",
        Asked::Edges => "--edges",
        Asked::Size => "--size",
        Asked::Ceiling => "--memory",
    };
    match cause.downcast_ref::<consilience::Error>() {
        Some(error) => error.spelled(option),
        None => cause.to_string(),
    }
}

/// What a mistyped name was probably meant to be.
fn suggestion(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    use consilience::Error;
    if let Some(
        InputError::NoSuchColumn { name, known, .. }
        | InputError::NothingToDrop { name, known }
        | InputError::ColumnOrFile { name, known, .. },
    ) = cause.downcast_ref()
    {
        return closest(name, known.iter().map(String::as_str)).map(str::to_owned);
    }
    let (Error::UnknownName { name, known, .. } | Error::UnknownParameter { name, known, .. }) =
        cause.downcast_ref()?
    else {
        return None;
    };
    closest(name, known.split(", ")).map(str::to_owned)
}

/// The known name nearest to `name`, if it is near: at most a third of its letters wrong.
pub(crate) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let (edits, best) = known
        .into_iter()
        .map(|candidate| (osa_distance(&name, &candidate.to_lowercase()), candidate))
        .min_by_key(|(edits, _)| *edits)?;
    let letters = name.chars().count();
    // Of a single letter any other is one edit away.
    (edits < letters && edits <= letters.max(3) / 3).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["scec", "voting", "rce"];
        assert_eq!(closest("votnig", known), Some("voting"));
        assert_eq!(closest("SCEC", known), Some("scec"));
        assert_eq!(closest("kmeans", known), None);
        assert_eq!(closest("x", ["c", "d"]), None);
        assert_eq!(closest("C", ["c", "d"]), Some("c"));
    }

    #[test]
    fn endings_of_errors() {
        use anyhow::Context as _;
        let cancelled = anyhow::Error::from(consilience::Error::Cancelled);
        assert_eq!(exit_of(&cancelled), Some(Exit::Interrupted));
        assert_eq!(exit_of(&usage("no")), Some(Exit::Usage));
        let empty = InputError::Empty { file: "a.csv".to_owned() };
        assert_eq!(exit_of(&anyhow::Error::from(empty).context("in a file")), Some(Exit::Data));
        let refused = consilience::Run::new(0).memory(1).ask_memory("a", 2, "").unwrap_err();
        let refused = anyhow::Error::from(InputError::Library(refused));
        assert_eq!(exit_of(&refused), Some(Exit::Refused));
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(exit_of(&anyhow::Error::from(pipe)), None);
        let disk: Result<(), _> = Err(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(exit_of(&disk.context("writing").unwrap_err()), Some(Exit::Data));
        let denied: Result<(), _> = Err(io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(exit_of(&denied.context("writing").unwrap_err()), Some(Exit::Failed));
    }
}
