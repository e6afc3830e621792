//! Measures of agreement and diversity.

use consilience::Run;
use consilience::ensemble::{Contingency, Profiles};
use consilience::metrics::{Diversity, anmi_of_tables, metric};
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

/// A thread of our own: those that all of a process share are gone in a forked child.
fn alone() -> Run {
    Run::new(0).threads(1)
}
