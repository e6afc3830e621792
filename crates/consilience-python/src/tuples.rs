//! Label tuples of tables that come in batches: what runs inside the workers of a cluster.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::{DataType, Field, Schema};
use consilience::Run;
use consilience::ensemble::{ExactSum, HardMember, MISSING, NO_PROFILE, Profiles, Tuples};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrow::members_of_batch;
use crate::ensemble::PyEnsemble;
use crate::error::{ConsilienceError, to_python};
use crate::missing::Missing;

/// A worker has one core.
fn alone() -> Run {
    Run::new(0).threads(1)
}

/// Counts the distinct label tuples of batches, and adds up their weights exactly.
#[pyclass(module = "consilience._native")]
pub(crate) struct TupleCounter {
    names: Vec<String>,
    missing: Missing,
    tuples: Tuples,
    run: Run,
}

#[pymethods]
impl TupleCounter {
    #[new]
    fn new(names: Vec<String>, weighted: bool, missing: Missing) -> Self {
        let tuples = Tuples::new(names.len(), weighted);
        TupleCounter { names, missing, tuples, run: alone() }
    }

    /// The number of tuples.
    fn __len__(&self) -> usize {
        self.tuples.len()
    }

    /// Takes in a batch of label columns.
    #[pyo3(signature = (batch, weights=None))]
    fn update(
        &mut self,
        batch: &Bound<'_, PyAny>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let py = batch.py();
        let members = self.read(batch)?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let (tuples, run) = (&mut self.tuples, &self.run);
        py.detach(|| tuples.update(&members, weights.as_deref(), run)).map_err(to_python)?;
        Ok(())
    }

    /// The tuples as a batch: the labels as text, how often each tuple was seen, and terms of the sum
    /// of its weights. The counter is empty afterwards.
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = py.detach(|| self.batch());
        self.tuples.clear();
        batch.map_err(|error| ConsilienceError::new_err(error.to_string()))?.to_pyarrow(py)
    }
}

impl TupleCounter {
    fn read(&self, batch: &Bound<'_, PyAny>) -> PyResult<Vec<HardMember>> {
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        if batch.num_columns() != self.names.len() {
            return Err(PyValueError::new_err("one column a member is needed"));
        }
        members_of_batch(&batch, &self.names, &self.missing)
    }

    fn batch(&self) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let tuples = &self.tuples;
        let (u, blank) = (tuples.len(), tuples.unlabelled());
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.names.len() + 2);
        let mut fields = Vec::with_capacity(self.names.len() + 2);
        for (h, name) in self.names.iter().enumerate() {
            let clusters = tuples.clusters(h);
            let mut column = StringBuilder::new();
            for code in tuples.column(h) {
                column.append_option((code != MISSING).then(|| &clusters[code as usize]));
            }
            // Objects without any label are a tuple of their own here, lest they get lost.
            if blank > 0 {
                column.append_null();
            }
            columns.push(Arc::new(column.finish()));
            fields.push(Field::new(name, DataType::Utf8, true));
        }
        let counts = tuples.counts().into_iter().chain((blank > 0).then_some(blank));
        let counts: Int64Array = counts.map(|count| count as i64).collect::<Vec<_>>().into();
        columns.push(Arc::new(counts));
        fields.push(Field::new("count", DataType::Int64, false));
        let mut terms = ListBuilder::new(Float64Builder::new());
        for s in 0..u {
            terms.values().append_slice(tuples.sums().map_or(&[][..], |sums| sums[s].parts()));
            terms.append(true);
        }
        if blank > 0 {
            terms.append(true);
        }
        let terms = terms.finish();
        fields.push(Field::new("terms", arrow_array::Array::data_type(&terms).clone(), false));
        columns.push(Arc::new(terms));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }
}

/// Sums of lists of numbers, each rounded once.
#[pyfunction]
pub(crate) fn exact_sums<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    ends: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let values = values.as_array().to_vec();
    let (mut start, mut sums) = (0, Vec::with_capacity(ends.as_array().len()));
    for &end in ends.as_array() {
        let end = end as usize;
        let terms = values.get(start..end);
        let terms = terms.ok_or_else(|| PyValueError::new_err("a list ends beyond the values"))?;
        sums.push(terms.iter().copied().collect::<ExactSum>().value());
        start = end;
    }
    Ok(PyArray1::from_vec(py, sums))
}

/// Finds the profiles of label tuples: their own, or the closest if there is none.
#[pyclass(module = "consilience._native", frozen)]
pub(crate) struct Lookup {
    names: Vec<String>,
    tuples: Tuples,
    weights: Vec<f64>,
    run: Run,
}

#[pymethods]
impl Lookup {
    /// Looks up the profiles of an ensemble.
    #[new]
    fn new(py: Python<'_>, ensemble: &PyEnsemble) -> PyResult<Self> {
        let ensemble = ensemble.get()?;
        let made = py.detach(|| {
            let run = alone();
            let profiles = Profiles::new(&ensemble, &run)?;
            let clusters: Vec<Vec<String>> =
                ensemble.members().iter().map(|m| m.clusters().to_vec()).collect();
            let names = ensemble.members().iter().map(|m| m.name().to_owned()).collect();
            let tuples = Tuples::of_profiles(&profiles, clusters)?;
            Ok(Lookup { names, tuples, weights: profiles.weights().to_vec(), run })
        });
        made.map_err(to_python)
    }

    /// The number of profiles.
    fn __len__(&self) -> usize {
        self.weights.len()
    }

    /// The profile of every row of a batch of label columns, or the closest one unless that is not
    /// wanted; -1 where there is none.
    #[pyo3(signature = (batch, missing, closest=true))]
    fn find<'py>(
        &self,
        batch: &Bound<'py, PyAny>,
        missing: Missing,
        closest: bool,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let py = batch.py();
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        if batch.num_columns() != self.names.len() {
            return Err(PyValueError::new_err("one column a member is needed"));
        }
        let members = members_of_batch(&batch, &self.names, &missing)?;
        let weights = closest.then_some(&*self.weights);
        let found = py.detach(|| self.tuples.find(&members, weights, &self.run));
        let number = |s: u32| if s == NO_PROFILE { -1 } else { i64::from(s) };
        let found = found.map_err(to_python)?.into_iter().map(number).collect();
        Ok(PyArray1::from_vec(py, found))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, own) = (slf.py(), slf.get());
        let clusters = (0..own.names.len()).map(|h| own.tuples.clusters(h).to_vec());
        let state = (
            own.names.clone(),
            clusters.collect::<Vec<_>>(),
            PyArray1::from_vec(py, own.tuples.rows()),
            PyArray1::from_slice(py, &own.weights),
        );
        (slf.get_type().getattr("_from_state")?, state).into_pyobject(py)
    }

    /// What `__reduce__` told of.
    #[staticmethod]
    fn _from_state(
        names: Vec<String>,
        clusters: Vec<Vec<String>>,
        rows: PyReadonlyArray1<'_, u32>,
        weights: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let tuples = Tuples::of_rows(clusters, &rows.as_array().to_vec()).map_err(to_python)?;
        let weights = weights.as_array().to_vec();
        if weights.len() != tuples.len() {
            return Err(PyValueError::new_err("one weight a tuple is needed"));
        }
        Ok(Lookup { names, tuples, weights, run: alone() })
    }
}
