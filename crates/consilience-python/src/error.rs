//! From the library's errors to Python's.

use consilience::{Asked, Error};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    consilience,
    ConsilienceError,
    PyException,
    "A computation failed for a reason that lies neither in the arguments nor in the memory."
);

/// The Python exception that says what `error` says.
pub(crate) fn to_python(error: Error) -> PyErr {
    let message = match &error {
        // By the names that the arguments have.
        Error::Parameter { name, expected, got } if name == "base-k" => {
            format!("base_n_clusters must be {expected}, got {got}")
        }
        Error::NeedsK { .. } | Error::TooManyClusters { .. } => format!("n_clusters: {error}"),
        Error::TooFewRows { .. } => format!("base_n_clusters: {error}"),
        _ => error.spelled(argument),
    };
    match error {
        Error::Parameter { .. }
        | Error::UnknownParameter { .. }
        | Error::UnknownName { .. }
        | Error::NeedsK { .. }
        | Error::NeedsEdges { .. }
        | Error::Beyond { .. }
        | Error::OneMethodOnly { .. }
        | Error::NoAnswer { .. }
        | Error::TooManyClusters { .. }
        | Error::TooFewRows { .. }
        | Error::StartTooFine { .. }
        | Error::Empty { .. }
        | Error::Length { .. }
        | Error::Value { .. }
        | Error::MemberWithoutLabels { .. }
        | Error::Unsupported { .. } => PyValueError::new_err(message),
        Error::Memory { .. } => PyMemoryError::new_err(message),
        Error::Cancelled => PyKeyboardInterrupt::new_err(message),
        _ => ConsilienceError::new_err(message),
    }
}

/// The argument by which something is asked for.
fn argument(asked: Asked) -> &'static str {
    match asked {
        Asked::Clusters => "n_clusters",
        Asked::Settings => "params",
        Asked::Start => "init",
        Asked::Membership => "memberships",
        Asked::Correspondences => "correspondences",
        Asked::Dendrogram => "a tree of merges",
        Asked::Edges => "edges",
        Asked::Size => "n_members",
        Asked::Ceiling => "memory",
    }
}
