//! The data sets inside the library.

use consilience::Run;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::ensemble::matrix;
use crate::error::to_python;

/// A data set: features, classes, names of the features, names of the classes.
#[pyfunction]
pub(crate) fn data_set<'py>(
    py: Python<'py>,
    name: &str,
    seed: u64,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, Vec<String>, Vec<String>)> {
    let info = consilience::data::data_set(name).map_err(to_python)?;
    let set = (info.make)(&Run::new(seed).threads(1));
    let truth = set.truth.iter().map(|&class| i64::from(class)).collect();
    Ok((
        matrix(py, &set.features)?,
        PyArray1::from_vec(py, truth),
        set.feature_names,
        set.class_names,
    ))
}
