//! From the library's errors to Python's.

use consilience::Error;
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
    let message = match error {
        // By the names that the arguments have.
        Error::NeedsK { .. } | Error::TooManyClusters { .. } => format!("n_clusters: {error}"),
        Error::TooFewRows { .. } => format!("base_n_clusters: {error}"),
        _ => error.to_string(),
    };
    match error {
        Error::Parameter { .. }
        | Error::UnknownParameter { .. }
        | Error::UnknownName { .. }
        | Error::NeedsK { .. }
        | Error::Beyond { .. }
        | Error::OneMethodOnly { .. }
        | Error::NoAnswer { .. }
        | Error::TooManyClusters { .. }
        | Error::TooFewRows { .. }
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
