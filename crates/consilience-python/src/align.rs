//! Clusters followed through a sequence of clusterings.

use consilience::ensemble::Member;
use consilience::pipeline::{Step, Timeline};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use serde_json::json;

use crate::ensemble::PyEnsemble;
use crate::error::ConsilienceError;
use crate::running::{Circumstances, compute};

/// Whole numbers, one per object or move.
type Column<'py> = Bound<'py, PyArray1<i64>>;

/// Follows the clusters of the members of `times`: for each of them the place of every object's
/// cluster among the identifiers, -1 where it is away; who moved (object, from and to time, from and to
/// cluster); and the rest as JSON.
#[pyfunction]
pub(crate) fn align<'py>(
    py: Python<'py>,
    times: &PyEnsemble,
    share: f64,
    circumstances: Circumstances,
) -> PyResult<(Vec<Column<'py>>, Vec<Column<'py>>, String)> {
    let times = times.get()?;
    let (found, _) = compute(py, &circumstances, |run| {
        let members: Vec<_> = times.members().iter().map(Member::hardened).collect();
        let found = Timeline::new(&members, share, run)?;
        // Whole numbers of eight bytes: a label per object and time, five columns of moves.
        let labels: usize = found.labels.iter().map(Vec::len).sum();
        let bytes = 8 * labels + (5 * 8 + size_of::<Step>()) * found.moves();
        run.ask_memory("who moved when", bytes as u64, "take fewer clusterings, or objects")?;
        Ok(found)
    })?;
    let told = json!({
        "ids": found.ids,
        "clusters": found.clusters,
        "events": found.events,
        "flows": found.passages,
    });
    let steps: Vec<Step> = found.steps().collect();
    let column =
        |value: fn(&Step) -> i64| steps.iter().map(value).collect::<Vec<i64>>().into_pyarray(py);
    let moves = vec![
        column(|step| step.object as i64),
        column(|step| step.from_time as i64),
        column(|step| step.to_time as i64),
        column(|step| i64::from(step.from)),
        column(|step| i64::from(step.to)),
    ];
    let place = |label: &Option<u32>| label.map_or(-1, i64::from);
    let labels = found.labels.iter().map(|labels| labels.iter().map(place).collect::<Vec<i64>>());
    let labels = labels.map(|labels| labels.into_pyarray(py)).collect();
    let told =
        serde_json::to_string(&told).map_err(|e| ConsilienceError::new_err(e.to_string()))?;
    Ok((labels, moves, told))
}
