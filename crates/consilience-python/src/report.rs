//! What a result comes to in words, and its page.

use consilience::consensus::NO_CLUSTER;
use consilience::explain::Sentence;
use consilience::linalg::Matrix;
use consilience::{Error, Run};
use consilience_report::{Explained, Scatter, Subject};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::builder::to_matrix;
use crate::profiles::PyProfiles;
use crate::running::{Circumstances, compute};

/// A result as Python holds it.
#[derive(FromPyObject)]
pub(crate) struct Answer<'py> {
    #[pyo3(item)]
    profiles: Bound<'py, PyProfiles>,
    /// The cluster of every profile.
    #[pyo3(item)]
    profile_labels: PyReadonlyArray1<'py, i64>,
    /// How sure the cluster of every object is.
    #[pyo3(item)]
    confidence: PyReadonlyArray1<'py, f64>,
    #[pyo3(item)]
    n_clusters: usize,
    /// The number of clusters that was asked for.
    #[pyo3(item)]
    asked: Option<usize>,
    /// The names of the objects.
    #[pyo3(item)]
    ids: Option<Vec<String>>,
}

/// What of it the thread that works needs.
struct Told<'a> {
    profiles: &'a PyProfiles,
    labels: Vec<u32>,
    confidence: Vec<f64>,
    numbers: Vec<u32>,
    k_given: bool,
    ids: Option<&'a [String]>,
}

impl<'a> Told<'a> {
    fn new(answer: &'a Answer<'_>) -> PyResult<Self> {
        let profiles = answer.profiles.get();
        let k = answer.n_clusters as u32;
        let mut labels = profiles.labels(&answer.profile_labels)?;
        labels.iter_mut().filter(|label| **label >= k).for_each(|label| *label = NO_CLUSTER);
        let of_objects = answer.confidence.as_array();
        let map = profiles.profiles().map();
        if of_objects.len() != map.len() {
            return Err(PyValueError::new_err("one confidence an object is needed"));
        }
        // Equal objects are equally sure; one that a method left out counts 0.
        let mut confidence = vec![0.0; labels.len()];
        for (&s, &sure) in map.iter().zip(of_objects) {
            if let Some(place) = confidence.get_mut(s as usize) {
                *place = f64::max(*place, sure);
            }
        }
        Ok(Told {
            profiles,
            labels,
            confidence,
            numbers: (0..k).collect(),
            k_given: answer.asked.is_some(),
            ids: answer.ids.as_deref(),
        })
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            profiles: self.profiles.profiles(),
            clusters: self.profiles.cluster_names(),
            labels: &self.labels,
            confidence: &self.confidence,
            numbers: &self.numbers,
            called: None,
            names: self.ids.map(|ids| Box::new(|i: usize| ids.get(i).map(String::as_str)) as _),
            truth: None,
            criteria: None,
        }
    }

    fn explain(&self, run: &Run) -> consilience::Result<Explained> {
        self.subject().explain(self.k_given, run)
    }
}

/// The verdict on a result: for each sentence what it is about, how to take it, and itself.
#[pyfunction]
pub(crate) fn verdict(
    py: Python<'_>,
    answer: Answer<'_>,
    circumstances: Circumstances,
) -> PyResult<Vec<(String, String, String)>> {
    let told = Told::new(&answer)?;
    let (explained, _) = compute(py, &circumstances, |run| told.explain(run))?;
    let sentence =
        |s: Sentence| (s.about.to_owned(), format!("{:?}", s.tone).to_lowercase(), s.text);
    Ok(explained.verdict.into_iter().map(sentence).collect())
}

/// The page of a result; `record` is what `result.json` of the command line would hold, `features`
/// the objects' features with their names.
#[pyfunction]
#[pyo3(signature = (answer, record, features, circumstances))]
pub(crate) fn report(
    py: Python<'_>,
    answer: Answer<'_>,
    record: &str,
    features: Option<(PyReadonlyArray2<'_, f64>, Vec<String>)>,
    circumstances: Circumstances,
) -> PyResult<String> {
    let told = Told::new(&answer)?;
    let mut record: Value = serde_json::from_str(record)
        .map_err(|error| PyValueError::new_err(format!("the record is no JSON: {error}")))?;
    let features = features.map(|(values, names)| (to_matrix(&values), names));
    let (page, _) = compute(py, &circumstances, |run| {
        if let Some((values, names)) = &features {
            record["scatter"] = scatter(values, names, told.profiles, run)?.told();
        }
        told.subject().page(&told.explain(run)?, &record, run)
    })?;
    Ok(page)
}

fn scatter(
    values: &Matrix,
    names: &[String],
    profiles: &PyProfiles,
    run: &Run,
) -> consilience::Result<Scatter> {
    if values.nrows() != profiles.profiles().n_objects() {
        return Err(Error::Length {
            what: "X".to_owned(),
            got: values.nrows(),
            expected_by: "the result".to_owned(),
            expected: profiles.profiles().n_objects(),
        });
    }
    Scatter::new(values, names, |rows| Ok(rows.clone()), run)
}
