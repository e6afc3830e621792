//! What a result comes to in words, and its page.

use std::borrow::Cow;

use consilience::Matrix;
use consilience::consensus::NO_CLUSTER;
use consilience::judge::{Confidence, Judgement, Known, Number, Partition, Scatter, Sentence};
use consilience::pipeline::Record;
use consilience::{Error, Run};
use consilience_report::Subject;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::builder::to_matrix;
use crate::error::ConsilienceError;
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
    /// The cluster of every object, where there are objects.
    #[pyo3(item, default)]
    labels: Option<PyReadonlyArray1<'py, i64>>,
    #[pyo3(item)]
    n_clusters: usize,
    /// The number of clusters that was asked for.
    #[pyo3(item)]
    asked: Option<usize>,
    /// What the features say of the number of clusters, as JSON.
    #[pyo3(item)]
    number: Option<String>,
    /// The names of the objects.
    #[pyo3(item)]
    ids: Option<Vec<String>>,
}

/// What of it the thread that works needs.
struct Told<'a> {
    profiles: &'a PyProfiles,
    partition: Partition<'a>,
    asked: Option<usize>,
    number: Option<Number>,
    ids: Option<&'a [String]>,
}

impl<'a> Told<'a> {
    fn new(answer: &'a Answer<'_>) -> PyResult<Self> {
        let profiles = answer.profiles.get();
        let k = answer.n_clusters as u32;
        let clusters = |labels: &PyReadonlyArray1<'_, i64>| -> Vec<u32> {
            let number = |&l: &i64| u32::try_from(l).ok().filter(|&l| l < k).unwrap_or(NO_CLUSTER);
            labels.as_array().iter().map(number).collect()
        };
        let mut labels = profiles.labels(&answer.profile_labels)?;
        labels.iter_mut().filter(|label| **label >= k).for_each(|label| *label = NO_CLUSTER);
        let mut of_profiles = Cow::Borrowed(profiles.profiles());
        // Balanced cuts and cuts of networks may part objects that all members label alike.
        let objects = answer.labels.as_ref().map(clusters);
        if let Some(objects) = objects.filter(|all| all.len() == of_profiles.n_objects()) {
            let parted = of_profiles.parted(&objects, None);
            if parted.profiles.len() > labels.len() {
                labels = parted.labels;
                of_profiles = Cow::Owned(parted.profiles);
            }
        }
        let partition = Partition {
            profiles: of_profiles,
            labels: labels.into(),
            confidence: Cow::Borrowed(&[]),
            numbers: (0..k).collect(),
            names: (0..k).map(|number| number.to_string()).collect(),
        };
        let number = answer.number.as_deref().map(serde_json::from_str).transpose();
        let number = number.map_err(|error| PyValueError::new_err(format!("number: {error}")))?;
        let (asked, ids) = (answer.asked, answer.ids.as_deref());
        Ok(Told { profiles, partition, asked, number, ids })
    }

    /// The same, with how sure every label is.
    fn weighed(mut self, run: &Run) -> consilience::Result<Self> {
        let Partition { profiles, labels, numbers, .. } = &self.partition;
        let confidence = Confidence::of_profiles(profiles, labels, numbers.len(), run)?;
        self.partition.confidence = confidence.into();
        Ok(self)
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            partition: &self.partition,
            clusters: self.profiles.cluster_names(),
            names: self.ids.map(|ids| Box::new(|i: usize| ids.get(i).map(String::as_str)) as _),
        }
    }

    fn judge(&self, run: &Run) -> consilience::Result<Judgement> {
        let known = Known { asked: self.asked, number: self.number.as_ref(), criteria: None };
        Judgement::new(&self.partition, known, run)
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
    let (judgement, _) = compute(py, &circumstances, |run| told.weighed(run)?.judge(run))?;
    let sentence =
        |s: Sentence| (s.about.into_owned(), format!("{:?}", s.tone).to_lowercase(), s.text);
    Ok(judgement.verdict.into_iter().map(sentence).collect())
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
    let mut record: Record = serde_json::from_str(record)
        .map_err(|error| PyValueError::new_err(format!("the record cannot be read: {error}")))?;
    let features = features.map(|(values, names)| (to_matrix(&values), names));
    let (page, _) = compute(py, &circumstances, |run| {
        let told = told.weighed(run)?;
        if let Some((values, names)) = &features {
            record.scatter = Some(scatter(values, names, told.profiles, run)?);
        }
        told.subject().page(&told.judge(run)?, &record, run)
    })?;
    Ok(page)
}

/// What the figures of a result show, as JSON.
#[pyfunction]
pub(crate) fn figures(
    py: Python<'_>,
    answer: Answer<'_>,
    circumstances: Circumstances,
) -> PyResult<String> {
    let told = Told::new(&answer)?;
    let (shown, _) = compute(py, &circumstances, |run| {
        let told = told.weighed(run)?;
        told.subject().report(&told.judge(run)?, &Record::new(run.seed()), run)
    })?;
    serde_json::to_string(&shown).map_err(|e| ConsilienceError::new_err(e.to_string()))
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
