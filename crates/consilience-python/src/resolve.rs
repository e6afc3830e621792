//! Which resolution: clusterings at several levels.

use consilience::Run;
use consilience::pipeline::{Level, Levels, Resolve};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::ensemble::PyEnsemble;
use crate::error::{ConsilienceError, to_python};
use crate::running::{Circumstances, compute_apart};

/// The level of every name that a pattern matches.
#[pyfunction]
pub(crate) fn levels_of(pattern: &str, names: Vec<String>) -> PyResult<Vec<Option<String>>> {
    let levels = Levels::by_pattern(pattern, &names).map_err(to_python)?;
    Ok((0..names.len()).map(|member| levels.of(member).map(str::to_owned)).collect())
}

/// What the levels of the members say: the record as JSON, the cluster of every object at every level (-1 for none), and of levels
/// with a consensus confidence and coverage.
#[pyfunction]
pub(crate) fn resolve<'py>(
    py: Python<'py>,
    ensemble: &PyEnsemble,
    levels: Vec<Option<String>>,
    level: Option<String>,
    circumstances: Circumstances,
) -> PyResult<Bound<'py, PyDict>> {
    let resolve = Resolve { levels: Levels::of_members(&levels).map_err(to_python)?, level };
    let ensemble = ensemble.get()?;
    let work = move |run: &Run| {
        let found = resolve.of(&ensemble, run)?;
        let record = found.record(run);
        Ok((found, record))
    };
    let ((found, record), warnings) = compute_apart(py, &circumstances, work)?;
    let record = serde_json::to_string(&record)
        .map_err(|error| ConsilienceError::new_err(error.to_string()))?;
    let told = PyDict::new(py);
    told.set_item("record", record)?;
    told.set_item("recommended", found.recommended.clone())?;
    told.set_item("chosen", found.chosen)?;
    let label = |level: &Level, i: usize| level.label(i).map_or(-1, i64::from);
    let labels = found.levels.iter().map(|level| {
        PyArray1::from_vec(py, (0..level.n_objects()).map(|i| label(level, i) as i32).collect())
    });
    told.set_item("labels", labels.collect::<Vec<_>>())?;
    let arrays = |of: fn(&Level) -> Option<&Vec<f64>>| -> Vec<Option<Bound<'py, PyArray1<f64>>>> {
        found
            .levels
            .iter()
            .map(|level| of(level).map(|all| PyArray1::from_slice(py, all)))
            .collect()
    };
    told.set_item("confidence", arrays(|level| level.confidence.as_ref()))?;
    told.set_item("coverage", arrays(|level| level.coverage.as_ref()))?;
    told.set_item("warnings", warnings)?;
    Ok(told)
}
