//! What can go wrong, said so that a user knows what to change.

use std::fmt::Display;

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What may be asked of a consensus method besides labels, and what else a message names that front doors
/// spell as their users write it: see [`Error::spelled`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A number of clusters.
    Clusters,
    /// Parameters.
    Settings,
    /// A clustering to start from.
    Start,
    /// A soft consensus.
    Membership,
    /// What corresponds to what.
    Correspondences,
    /// A tree of merges.
    Dendrogram,
    /// The edges of a network.
    Edges,
    /// How many clusterings are made.
    Size,
    /// The ceiling on memory.
    Ceiling,
}

impl Asked {
    /// What it is called in plain words.
    fn name(self) -> &'static str {
        match self {
            Asked::Clusters => "the number of clusters",
            Asked::Settings => "parameters",
            Asked::Start => "the start",
            Asked::Membership => "memberships",
            Asked::Correspondences => "correspondences",
            Asked::Dendrogram => "a tree of merges",
            Asked::Edges => "the edges of a network",
            Asked::Size => "how many clusterings are made",
            Asked::Ceiling => "the memory ceiling",
        }
    }
}

/// Everything that can go wrong in this crate.
///
/// Not converging is no error: it is an outcome, [`Stop::MaxIterations`](crate::Stop).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A parameter is out of its range, whatever the data.
    #[error("parameter `{name}` must be {expected}, got {got}")]
    Parameter {
        /// The parameter's name as `--set` and the documentation spell it.
        name: String,
        /// The range that would be right.
        expected: String,
        /// What was given.
        got: String,
    },

    /// A method has no parameter of this name.
    #[error("method `{method}` has no parameter `{name}`; it has {known}")]
    UnknownParameter {
        /// The method asked for.
        method: &'static str,
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },

    /// There is no method, scheme or measure of this name.
    #[error("there is no {what} `{name}`; there are {known}")]
    UnknownName {
        /// What was looked up: "method", "scheme", "measure".
        what: &'static str,
        /// The name that was given.
        name: String,
        /// The names there are.
        known: String,
    },

    /// A method that cannot choose the number of clusters was not told it.
    #[error("method `{method}` does not choose the number of clusters: give k")]
    NeedsK {
        /// The method asked for.
        method: &'static str,
    },

    /// A method that works on a network was not given one.
    #[error("{}", needs_edges(method, Asked::Edges.name()))]
    NeedsEdges {
        /// The method asked for.
        method: &'static str,
    },

    /// More clusters were asked for than there are distinguishable objects.
    #[error(
        "k = {k} clusters asked for, but the members tell only {} of objects apart: choose k between \
         1 and {distinct}",
        counted(*distinct, "group")
    )]
    TooManyClusters {
        /// The number asked for.
        k: usize,
        /// How many distinct objects (or label tuples) there are.
        distinct: usize,
    },

    /// More clusters were asked for than the data have distinct rows.
    #[error(
        "k = {k} clusters asked for, but the data have only {}: choose k between 1 and {distinct}",
        counted(*distinct, "distinct row")
    )]
    TooFewRows {
        /// The number asked for.
        k: usize,
        /// How many distinct rows there are.
        distinct: usize,
    },

    /// The clustering to start from has more clusters than the method was asked for.
    #[error(
        "the start has {clusters} clusters, but k = {k}: give a start of at most {}, or a larger k",
        counted(*k, "cluster")
    )]
    StartTooFine {
        /// The number of clusters of the start.
        clusters: usize,
        /// The number asked for.
        k: usize,
    },

    /// There is nothing to work on.
    #[error("{what} is empty: {hint}")]
    Empty {
        /// What is empty.
        what: String,
        /// What to do about it.
        hint: String,
    },

    /// Two things that must have one length do not.
    #[error(
        "{what} has {got} {}, but {expected_by} has {expected}",
        if *got == 1 { "entry" } else { "entries" }
    )]
    Length {
        /// What has the wrong length.
        what: String,
        /// Its length.
        got: usize,
        /// What sets the right length.
        expected_by: String,
        /// The right length.
        expected: usize,
    },

    /// A value in the data is not usable.
    #[error("{what}, row {row}{}: {problem}", column.as_ref().map_or(String::new(), |c| format!(", column `{c}`")))]
    Value {
        /// The table or member.
        what: String,
        /// The row, counted from 0.
        row: usize,
        /// The column or cluster, where there is one.
        column: Option<String>,
        /// What is wrong and what would be right.
        problem: String,
    },

    /// A member carries no label at all.
    #[error("member `{member}` labels no object: leave it out")]
    MemberWithoutLabels {
        /// The member's name.
        member: String,
    },

    /// A method does not do what is asked of it.
    #[error("{}", beyond(method, *asked, asked.name(), able))]
    Beyond {
        /// The method asked for.
        method: &'static str,
        /// What it does not do.
        asked: Asked,
        /// The methods that do; of those that are told the number of clusters, the one that is most like it.
        able: String,
    },

    /// What only one method can be asked for was asked of several.
    #[error("{} can be asked of one method only: name one", asked.name())]
    OneMethodOnly {
        /// What was asked for.
        asked: Asked,
    },

    /// None of several methods has an answer.
    #[error("no method has an answer; the first says: {first}")]
    NoAnswer {
        /// What the first says.
        first: String,
    },

    /// The method cannot take this kind of input.
    #[error("method `{method}` cannot use {what}: {hint}")]
    Unsupported {
        /// The method asked for.
        method: &'static str,
        /// The kind of input, e.g. "missing labels".
        what: String,
        /// What to do instead.
        hint: String,
    },

    /// The memory ceiling would be passed; nothing was allocated.
    #[error(
        "{what} would need {} of memory, but the ceiling is {}; {hint}",
        format_bytes(*needed), format_bytes(*ceiling)
    )]
    Memory {
        /// What asked for memory.
        what: String,
        /// How many bytes it would need.
        needed: u64,
        /// How many bytes it may have.
        ceiling: u64,
        /// What would fit.
        hint: String,
        /// What sets that: it is named where a front door spells the message.
        by: &'static [Asked],
    },

    /// A numerical routine gave up on this input.
    #[error("{what} failed: {problem}")]
    Numerical {
        /// The routine.
        what: &'static str,
        /// What it ran into.
        problem: String,
    },

    /// The caller raised the cancel flag.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// A refused parameter value.
    pub fn parameter(name: &str, expected: impl Into<String>, got: impl Display) -> Self {
        Self::Parameter { name: name.to_owned(), expected: expected.into(), got: got.to_string() }
    }

    /// The message with what was asked for as a front door spells it.
    pub fn spelled(&self, option: impl Fn(Asked) -> &'static str) -> String {
        match self {
            Self::Beyond { method, asked, able } => beyond(method, *asked, option(*asked), able),
            Self::OneMethodOnly { asked } => {
                format!("{} goes with one method: name it, or leave that out", option(*asked))
            }
            Self::NeedsEdges { method } => needs_edges(method, option(Asked::Edges)),
            Self::Memory { by, .. } if !by.is_empty() => {
                let options: Vec<&str> = by.iter().map(|&asked| option(asked)).collect();
                format!("{self} ({})", options.join(", "))
            }
            other => other.to_string(),
        }
    }

    /// Refuses the first of these named numbers that is 0.
    pub fn unless_at_least_one<'a>(
        named: impl IntoIterator<Item = (&'a str, usize)>,
    ) -> Result<()> {
        match named.into_iter().find(|(_, value)| *value == 0) {
            Some((name, value)) => Err(Self::parameter(name, "at least 1", value)),
            None => Ok(()),
        }
    }

    /// Refuses a length other than `expected`.
    pub fn unless_length(
        what: impl Into<String>,
        got: usize,
        expected_by: impl Into<String>,
        expected: usize,
    ) -> Result<()> {
        let (what, expected_by) = (what.into(), expected_by.into());
        let error = Self::Length { what, got, expected_by, expected };
        if got == expected { Ok(()) } else { Err(error) }
    }

    /// A row of a table or member with a value that is not usable.
    pub fn value(what: impl Into<String>, row: usize, problem: impl Into<String>) -> Self {
        Self::Value { what: what.into(), row, column: None, problem: problem.into() }
    }

    /// A lookup that found nothing; `known` lists what there is.
    pub fn unknown_name<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        Self::UnknownName { what, name: name.to_owned(), known }
    }
}

/// A method does not do what is asked, called `option` here; those in `able` do.
fn beyond(method: &str, asked: Asked, option: &str, able: &str) -> String {
    match asked {
        Asked::Clusters => format!(
            "method `{method}` finds the number of clusters by itself: leave {option} out to take as many as it \
             finds, or take `{able}`, which is like it and makes as many as you say; `auto` does, too"
        ),
        Asked::Start => format!(
            "method `{method}` does not start from a clustering: leave {option} out, or take a method that \
             does: {able}"
        ),
        Asked::Edges => format!(
            "method `{method}` does not work on a network: leave {option} out, or take a method that does: {able}"
        ),
        _ => format!(
            "method `{method}` has nothing for {option}: leave it out, or take a method that has: {able}"
        ),
    }
}

/// A method works on a network, whose edges are called `option` here.
fn needs_edges(method: &str, option: &str) -> String {
    format!(
        "method `{method}` works on a network of the objects: give {option}, or take another method"
    )
}

/// `1536` → `"1.5 KiB"`.
fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
/// `1 row`, `3 rows`.
fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
