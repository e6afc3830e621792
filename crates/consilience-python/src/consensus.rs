//! The consensus of an ensemble, as arrays.

use consilience::Edges;
use consilience::consensus::{Consensus, METHODS, NO_CLUSTER, Offers, Value};
use consilience::ensemble::Ensemble;
use consilience::pipeline::{Answer, Checked, Clusters, Input, Members, Methods, Request};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::ensemble::{PyEnsemble, matrix};
use crate::error::{ConsilienceError, to_python};
use crate::features::Features;
use crate::profiles::PyProfiles;
use crate::running::{Circumstances, compute, compute_apart};

/// The table of methods, as JSON.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<String> {
    py.detach(|| serde_json::to_string(METHODS))
        .map_err(|error| ConsilienceError::new_err(error.to_string()))
}

/// The consensus of `ensemble`; with `consume` the ensemble is given up as soon as its profiles are
/// known. `n_clusters` are the least and the largest number of clusters, `params` the settings of the
/// method, `init` the start as an ensemble of one member, `edges` the ends of those of a network, and their weights.
#[pyfunction]
#[pyo3(signature = (ensemble, consume, method, n_clusters, params, init, edges, circumstances))]
pub(crate) fn consensus<'py>(
    py: Python<'py>,
    ensemble: &PyEnsemble,
    consume: bool,
    method: &str,
    n_clusters: Option<(usize, usize)>,
    params: Vec<(String, String)>,
    init: Option<&PyEnsemble>,
    edges: Option<Network<'py>>,
    circumstances: Circumstances,
) -> PyResult<Bound<'py, PyDict>> {
    // What is wrong with the parameters is told before anything is computed.
    let request = request(method, n_clusters, params, init.is_some(), edges.is_some())?;
    let ensemble = if consume { ensemble.take()? } else { ensemble.get()? };
    let edges = edges.map(|given| network(&given, ensemble.n_objects())).transpose()?;
    let init = init.map(PyEnsemble::get).transpose()?;
    let work = move |run: &consilience::Run| {
        let start = init.as_deref().map(|init| run.install(|| start_labels(init)));
        let start = start.as_deref();
        let edges = edges.as_ref();
        let input = Input { keep: false, start, edges, ..Input::new(Members::Ensemble(ensemble)) };
        let answer = request.answer(input, run)?;
        // One object at a time: lists of options would take twice the memory.
        let label = |i: usize| answer.label(i).map_or(-1, i64::from);
        let labels: Vec<i64> = (0..answer.profiles.n_objects()).map(label).collect();
        let partition = run.install(|| answer.partition());
        let sure = |(&label, &s): (&i64, &u32)| match label {
            -1 => 0.0,
            _ => partition.confidence.get(s as usize).copied().unwrap_or(0.0),
        };
        let map = partition.profiles.map();
        let confidence: Vec<f64> = labels.iter().zip(map).map(sure).collect();
        drop(partition);
        let coverage = answer.coverage();
        Ok((answer, labels, confidence, coverage))
    };
    let ((answer, labels, confidence, coverage), warnings) =
        compute_apart(py, &circumstances, work)?;
    let told = arrays(py, answer)?;
    told.set_item("labels", PyArray1::from_vec(py, labels))?;
    told.set_item("confidence", PyArray1::from_vec(py, confidence))?;
    let coverage = coverage.map(|coverage| PyArray1::from_vec(py, coverage));
    told.set_item("coverage", coverage)?;
    told.set_item("warnings", warnings)?;
    Ok(told)
}

/// The ends of edges, one row for each, and their weights.
type Network<'py> = (PyReadonlyArray2<'py, i64>, Option<PyReadonlyArray1<'py, f64>>);

/// The network of `n` objects with these edges.
fn network((ends, weights): &Network<'_>, n: usize) -> PyResult<Edges> {
    let ends = ends.as_array();
    let end = |x: i64| u32::try_from(x).unwrap_or(u32::MAX);
    let pairs = ends.rows().into_iter().map(|row| [end(row[0]), end(row[1])]).collect();
    let weights = weights.as_ref().map(|weights| weights.as_array().to_vec());
    Edges::new(n, pairs, weights).map_err(to_python)
}

/// Fails if method, number of clusters and settings cannot be asked for, whatever the data.
#[pyfunction]
pub(crate) fn check_request(
    method: &str,
    n_clusters: Option<(usize, usize)>,
    params: Vec<(String, String)>,
    edges: bool,
) -> PyResult<()> {
    request(method, n_clusters, params, false, edges).map(drop)
}

/// What is asked for, checked.
fn request(
    method: &str,
    n_clusters: Option<(usize, usize)>,
    params: Vec<(String, String)>,
    start: bool,
    edges: bool,
) -> PyResult<Checked> {
    let request = Request {
        methods: Methods::named(method).map_err(to_python)?,
        clusters: match n_clusters {
            None => Clusters::Auto,
            Some((least, most)) if least == most => Clusters::Exactly(least),
            Some((least, most)) => Clusters::Between(least..=most),
        },
        settings: params.into_iter().collect(),
        wanted: Offers::default(),
        start,
        edges,
    };
    request.check().map_err(to_python)
}

/// How many clusters a table of features speaks for, as JSON, where that is to be found and can be.
#[pyfunction]
pub(crate) fn number(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    method: &str,
    n_clusters: Option<(usize, usize)>,
    params: Vec<(String, String)>,
    circumstances: Circumstances,
) -> PyResult<Option<String>> {
    let request = request(method, n_clusters, params, false, false)?;
    let table = Features::new(x)?;
    let (number, _) = compute(py, &circumstances, |run| request.number_in(table.data(), run))?;
    let told = number.as_ref().map(serde_json::to_string).transpose();
    told.map_err(|error| ConsilienceError::new_err(error.to_string()))
}

/// The labels of the only member.
fn start_labels(init: &Ensemble) -> Vec<Option<u32>> {
    let member = init.members()[0].hardened();
    member.labels().iter().map(|code| code.map(|code| code as u32)).collect()
}

/// The parameters that were in force, as text.
fn in_force<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    for (name, text) in answer.choice.info.in_force(&answer.settings) {
        params.set_item(name, text)?;
    }
    Ok(params)
}

/// The answer as arrays.
fn arrays(py: Python<'_>, found: Answer) -> PyResult<Bound<'_, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("method", found.choice.info.name)?;
    answer.set_item("reason", found.choice.reason)?;
    let not_told = |error: serde_json::Error| ConsilienceError::new_err(error.to_string());
    let number = found.choice.number.as_ref().map(serde_json::to_string).transpose();
    answer.set_item("number", number.map_err(not_told)?)?;
    let criteria = found.choice.criteria.as_ref().map(serde_json::to_string).transpose();
    answer.set_item("k_criteria", criteria.map_err(not_told)?)?;
    let board = found.board.as_ref().map(|board| serde_json::to_string(&board.record()));
    answer.set_item("leaderboard", board.transpose().map_err(not_told)?)?;
    answer.set_item("params", in_force(py, &found)?)?;
    let Answer { profiles, clusters, consensus, anmi, .. } = found;
    let of_profile = |&label: &u32| if label == NO_CLUSTER { -1 } else { i64::from(label) };
    let of_profiles = consensus.labels.iter().map(of_profile).collect();
    answer.set_item("profile_labels", PyArray1::from_vec(py, of_profiles))?;
    answer.set_item("n_clusters", consensus.k)?;
    answer.set_item("anmi", anmi)?;
    let membership = consensus.membership.as_ref().map(|m| matrix(py, m)).transpose()?;
    answer.set_item("profile_membership", membership)?;
    let correspondence = consensus
        .correspondences
        .as_ref()
        .map(|all| all.iter().map(|s| matrix(py, s)).collect::<PyResult<Vec<_>>>());
    answer.set_item("correspondence", correspondence.transpose()?)?;
    let merges = consensus.dendrogram.as_ref().map(|merges| {
        let rows = merges.iter().flat_map(|m| [f64::from(m.a), f64::from(m.b), m.height]);
        let rows = consilience::Matrix::from_vec(merges.len(), 3, rows.collect());
        matrix(py, &rows)
    });
    answer.set_item("merges", merges.transpose()?)?;
    let affinity = consensus.affinity.as_ref().map(|a| matrix(py, a)).transpose()?;
    answer.set_item("affinity", affinity)?;
    let convergence = &consensus.convergence;
    answer.set_item("objective", convergence.objective)?;
    answer.set_item("trace", PyArray1::from_slice(py, &convergence.trace))?;
    answer.set_item("iterations", convergence.iterations)?;
    let stop = serde_json::to_value(convergence.stop);
    answer.set_item("stop", stop.ok().as_ref().and_then(serde_json::Value::as_str))?;
    let diagnostics = PyDict::new(py);
    for (name, value) in consensus.diagnostics.iter() {
        diagnostics.set_item(name, diagnostic(py, value)?)?;
    }
    answer.set_item("diagnostics", diagnostics)?;
    answer.set_item("per_member", per_member(py, &consensus)?)?;
    answer.set_item("profiles", PyProfiles::new(profiles, clusters))?;
    Ok(answer)
}

fn diagnostic<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Integer(x) => x.into_pyobject(py)?.into_any(),
        Value::Number(x) => x.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::List(xs) | Value::Members(xs) => PyArray1::from_slice(py, xs).into_any(),
        Value::Table(columns) => {
            let table = PyDict::new(py);
            for (name, column) in columns {
                table.set_item(name, PyArray1::from_slice(py, column))?;
            }
            table.into_any()
        }
    })
}

/// The names of the diagnostics that hold one number a member.
fn per_member<'py>(py: Python<'py>, consensus: &Consensus) -> PyResult<Bound<'py, PyList>> {
    let is_per_member = |(_, value): &(&str, &Value)| matches!(value, Value::Members(_));
    let names = consensus.diagnostics.iter().filter(is_per_member).map(|(name, _)| name);
    PyList::new(py, names.collect::<Vec<_>>())
}
