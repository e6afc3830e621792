//! The native module behind the Python package `consilience`.
//!
//! Everything here is private to the package: its Python part turns what users give into columns
//! (`builder.rs`, `arrow.rs`), calls [`consensus`](consensus::consensus) and the other functions, and
//! dresses the arrays that come back. Computations run on a thread of their own without the
//! interpreter's lock, while the calling thread listens for Ctrl-C (`running.rs`).

#![forbid(unsafe_code)]
// Functions that Python calls own what was extracted from its objects, and have as many arguments as
// the call has.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

mod align;
mod arrow;
mod builder;
mod consensus;
mod data;
mod ensemble;
mod error;
mod features;
mod generate;
mod metrics;
mod missing;
mod profiles;
mod read;
mod report;
mod resolve;
mod running;
mod tuples;

use pyo3::prelude::*;

/// The native part of consilience.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    consilience_io::spell_by(read::spelled);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ConsilienceError", module.py().get_type::<error::ConsilienceError>())?;
    module.add_class::<builder::Builder>()?;
    module.add_class::<ensemble::PyEnsemble>()?;
    module.add_class::<generate::Models>()?;
    module.add_class::<profiles::PyProfiles>()?;
    module.add_class::<tuples::Lookup>()?;
    module.add_class::<tuples::TupleCounter>()?;
    module.add_function(wrap_pyfunction!(align::align, module)?)?;
    module.add_function(wrap_pyfunction!(consensus::check_request, module)?)?;
    module.add_function(wrap_pyfunction!(consensus::consensus, module)?)?;
    module.add_function(wrap_pyfunction!(consensus::methods, module)?)?;
    module.add_function(wrap_pyfunction!(consensus::number, module)?)?;
    module.add_function(wrap_pyfunction!(data::data_set, module)?)?;
    module.add_function(wrap_pyfunction!(generate::doubts_of_features, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::agreement, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::anmi, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::diversity, module)?)?;
    module.add_function(wrap_pyfunction!(metrics::element_centric, module)?)?;
    module.add_function(wrap_pyfunction!(read::read, module)?)?;
    module.add_function(wrap_pyfunction!(report::figures, module)?)?;
    module.add_function(wrap_pyfunction!(report::report, module)?)?;
    module.add_function(wrap_pyfunction!(report::verdict, module)?)?;
    module.add_function(wrap_pyfunction!(resolve::levels_of, module)?)?;
    module.add_function(wrap_pyfunction!(resolve::resolve, module)?)?;
    module.add_function(wrap_pyfunction!(tuples::exact_sums, module)?)
}
