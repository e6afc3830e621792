//! The consensus of an ensemble, as arrays.

use consilience::consensus::{
    Choice, ChoosesK, Clusters, Consensus, METHODS, MethodInfo, NO_CLUSTER, Settings, Start, Value,
    Wish, auto_by_wish, choose, cluster_names, combine_from, method_or_auto, prepare,
};
use consilience::ensemble::{Ensemble, Profiles};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::ensemble::{PyEnsemble, matrix};
use crate::error::{ConsilienceError, to_python};
use crate::profiles::PyProfiles;
use crate::running::{Circumstances, compute_apart};

/// The table of methods, as JSON.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<String> {
    py.detach(|| serde_json::to_string(METHODS))
        .map_err(|error| ConsilienceError::new_err(error.to_string()))
}

/// What the calling thread gets from the working one.
struct Found {
    choice: Choice,
    profiles: Profiles,
    clusters: Vec<Vec<String>>,
    consensus: Consensus,
    labels: Vec<i64>,
    confidence: Vec<f64>,
    anmi: f64,
}

/// The consensus of `ensemble`; with `consume` the ensemble is given up as soon as its profiles are
/// known. `params` are the settings of the method, `init` the start as an ensemble of one member.
#[pyfunction]
#[pyo3(signature = (ensemble, consume, method, n_clusters, params, init, circumstances))]
pub(crate) fn consensus<'py>(
    py: Python<'py>,
    ensemble: &PyEnsemble,
    consume: bool,
    method: &str,
    n_clusters: Option<usize>,
    params: Vec<(String, String)>,
    init: Option<&PyEnsemble>,
    circumstances: Circumstances,
) -> PyResult<Bound<'py, PyDict>> {
    let wish = Wish { start: init.is_some(), ..Wish::default() };
    let (named, by_wish) = asked(method, wish)?;
    let settings: Settings = params.into_iter().collect();
    if let Some(info) = named {
        // What is wrong with the parameters is told before anything is computed.
        let k = if info.chooses_k == ChoosesK::Never { n_clusters.or(Some(1)) } else { n_clusters };
        info.with(k, &settings).map_err(to_python)?;
    }
    let clusters = n_clusters.map_or(Clusters::Auto, Clusters::Exactly);
    let ensemble = if consume { ensemble.take()? } else { ensemble.get()? };
    let init = init.map(PyEnsemble::get).transpose()?;
    let in_work = settings.clone();
    let work = move |run: &consilience::Run| {
        let choice = choose(named, &clusters, &ensemble, run)?;
        let info = choice.info;
        let method = info.with(choice.k, &in_work)?;
        let clusters = run.install(|| cluster_names(&ensemble, info));
        let profiles = prepare(&ensemble, info, run)?;
        let start = init.as_deref().map(|init| run.install(|| start_labels(init)));
        let weights = ensemble.weights().map(<[f64]>::to_vec);
        drop(ensemble);
        let start = start.as_deref().map(|labels| Start::new(labels).weights(weights.as_deref()));
        let consensus = combine_from(&profiles, method.as_ref(), start, run)?;
        let anmi = run.install(|| consensus.anmi(&profiles, weights.as_deref()));
        // One object at a time: lists of options would take twice the memory.
        let label = |i: usize| consensus.object_label(&profiles, i).map_or(-1, i64::from);
        let labels: Vec<i64> = (0..profiles.n_objects()).map(label).collect();
        let sure = |(&label, &s): (&i64, &u32)| match label {
            -1 => 0.0,
            _ => consensus.confidence.get(s as usize).copied().unwrap_or(0.0),
        };
        let confidence = labels.iter().zip(profiles.map()).map(sure).collect();
        Ok(Found { choice, profiles, clusters, consensus, labels, confidence, anmi })
    };
    let (found, warnings) = compute_apart(py, &circumstances, work)?;
    let Choice { info, reason, criteria, .. } = found.choice.clone();
    let answer = told(py, found)?;
    answer.set_item("method", info.name)?;
    answer.set_item("reason", by_wish.or(reason))?;
    let criteria = criteria.map(|criteria| serde_json::to_string(&criteria)).transpose();
    let criteria = criteria.map_err(|error| ConsilienceError::new_err(error.to_string()))?;
    answer.set_item("k_criteria", criteria)?;
    answer.set_item("params", in_force(py, info, &settings)?)?;
    answer.set_item("warnings", warnings)?;
    Ok(answer)
}

/// The method of this name, `None` for what suits the ensemble, and why `auto` took it if that is
/// known already.
fn asked(name: &str, wish: Wish) -> PyResult<(Option<&'static MethodInfo>, Option<&'static str>)> {
    match auto_by_wish(wish).filter(|_| name == "auto") {
        Some(found) => Ok((Some(found.info), Some(found.reason))),
        None => Ok((method_or_auto(name).map_err(to_python)?, None)),
    }
}

/// The labels of the only member.
fn start_labels(init: &Ensemble) -> Vec<Option<u32>> {
    let member = init.members()[0].hardened();
    member.labels().iter().map(|code| code.map(|code| code as u32)).collect()
}

/// The parameters that are in force, as text: the defaults, overlaid by what was set.
fn in_force<'py>(
    py: Python<'py>,
    info: &MethodInfo,
    settings: &Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let params = PyDict::new(py);
    for (name, text) in info.in_force(settings) {
        params.set_item(name, text)?;
    }
    Ok(params)
}

/// The answer as arrays.
fn told(py: Python<'_>, found: Found) -> PyResult<Bound<'_, PyDict>> {
    let Found { profiles, clusters, consensus, labels, confidence, anmi, .. } = found;
    let answer = PyDict::new(py);
    answer.set_item("labels", PyArray1::from_vec(py, labels))?;
    answer.set_item("confidence", PyArray1::from_vec(py, confidence))?;
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
        let rows = consilience::linalg::Matrix::from_vec(merges.len(), 3, rows.collect());
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
