//! Why something cannot be had, as R raises it.

use consilience::{Asked, Error};
use extendr_api::prelude::*;

/// What went wrong: which kind of condition, and what it says.
pub(crate) struct Failure {
    kind: &'static str,
    message: String,
}

/// The result of anything that may fail.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// An argument cannot be used.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Failure { kind: "argument", message: message.into() }
    }

    /// A promise of our own was broken.
    pub(crate) fn internal(message: &str) -> Self {
        let message = format!("internal error, please report it: {message}");
        Failure { kind: "internal", message }
    }

    /// As R gets it: a list that is told from all others by its class.
    pub(crate) fn told(self) -> Robj {
        let list = List::from_pairs([
            ("kind", Robj::from(self.kind)),
            ("message", Robj::from(self.message)),
        ]);
        let mut told = Robj::from(list);
        // Setting the class of a list that was just made cannot fail.
        let _ = told.set_class(["consilience_failure"]);
        told
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Memory { .. } => "memory",
            Error::Cancelled => "cancelled",
            Error::Numerical { .. } => "numerical",
            _ => "argument",
        };
        let message = match error {
            // R counts rows from 1.
            Error::Value { what, row, column, problem } => {
                Error::Value { what, row: row + 1, column, problem }.to_string()
            }
            Error::Parameter { name, expected, got } => {
                let name = name.replace("base-k", "base_k");
                format!("`{name}` must be {expected}, got {got}")
            }
            Error::TooFewRows { .. } => format!("`base_k`: {error}"),
            other => other.spelled(argument),
        };
        Failure { kind, message }
    }
}

/// The argument by which something is asked for.
fn argument(asked: Asked) -> &'static str {
    match asked {
        Asked::Clusters => "k",
        Asked::Settings => "a parameter",
        Asked::Start => "init",
        Asked::Membership => "memberships",
        Asked::Correspondences => "correspondences",
        Asked::Dendrogram => "a tree of merges",
        Asked::Edges => "edges",
        Asked::Size => "size",
        Asked::Ceiling => "memory",
    }
}
