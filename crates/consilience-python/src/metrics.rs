//! Measures of agreement and diversity.

use consilience::Run;
use consilience::ensemble::{Contingency, Profiles};
use consilience::metrics::{Diversity, ElementCentric, anmi_of_tables, metric};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::ensemble::PyEnsemble;
use crate::error::{ConsilienceError, to_python};
use crate::running::{Circumstances, compute};

/// A measure of agreement of the two members of `pair`.
#[pyfunction]
pub(crate) fn agreement(py: Python<'_>, name: &str, pair: &PyEnsemble) -> PyResult<f64> {
    let measure = metric(name).map_err(to_python)?;
    let pair = pair.get()?;
    let compare = || {
        let [a, b] = pair.members() else {
            return Err(consilience::Error::parameter("labels", "two", pair.members().len()));
        };
        Ok((measure.value)(&Contingency::new(a, b, pair.weights())?))
    };
    py.detach(|| alone().install(compare)).map_err(to_python)
}

/// The average normalised mutual information of the only member of `labels` with the members of
/// `ensemble`.
#[pyfunction]
pub(crate) fn anmi(py: Python<'_>, labels: &PyEnsemble, ensemble: &PyEnsemble) -> PyResult<f64> {
    let (labels, ensemble) = (labels.get()?, ensemble.get()?);
    let compare = || {
        let with = |member| Contingency::new(&labels.members()[0], member, ensemble.weights());
        let tables = ensemble.members().iter().map(with).collect::<Result<Vec<_>, _>>()?;
        Ok(anmi_of_tables(&tables))
    };
    py.detach(|| alone().install(compare)).map_err(to_python)
}

/// The diversity of an ensemble, as JSON.
#[pyfunction]
pub(crate) fn diversity(
    py: Python<'_>,
    ensemble: &PyEnsemble,
    circumstances: Circumstances,
) -> PyResult<String> {
    let ensemble = ensemble.get()?;
    let (diversity, _) = compute(py, &circumstances, |run| {
        let profiles = Profiles::new(&ensemble, run)?;
        Ok(run.install(|| Diversity::of(&profiles)))
    })?;
    serde_json::to_string(&diversity).map_err(|e| ConsilienceError::new_err(e.to_string()))
}

/// The element-centric consistency of every object, NaN where it has none, and the inconsistency of all.
#[pyfunction]
pub(crate) fn element_centric<'py>(
    py: Python<'py>,
    ensemble: &PyEnsemble,
    circumstances: Circumstances,
) -> PyResult<(Bound<'py, PyArray1<f64>>, f64)> {
    let ensemble = ensemble.get()?;
    let (found, _) = compute(py, &circumstances, |run| {
        let profiles = Profiles::new(&ensemble, run)?;
        let found = run.install(|| ElementCentric::of(&profiles));
        let of_objects = profiles.expand(&found.consistency).into_iter();
        let consistency: Vec<f64> = of_objects.map(|c| c.flatten().unwrap_or(f64::NAN)).collect();
        Ok((consistency, found.inconsistency()))
    })?;
    Ok((found.0.into_pyarray(py), found.1))
}

/// A thread of our own: those that all of a process share are gone in a forked child.
fn alone() -> Run {
    Run::new(0).threads(1)
}
