//! Ensembles as Python sees them.

use std::sync::{Arc, Mutex, PoisonError};

use consilience::Matrix;
use consilience::ensemble::{Ensemble, HardMember, LabelEncoder, Labels, Member, SoftMember};
use consilience_io::Ids;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::builder::{Builder, to_matrix};
use crate::error::to_python;

/// Many clusterings of the same objects.
///
/// Made by `consilience.generate`, `consilience.read` and `consilience.ensemble`; any function that
/// takes label tables takes ensembles as well.
#[pyclass(name = "Ensemble", module = "consilience", frozen)]
pub(crate) struct PyEnsemble {
    held: Mutex<Option<Arc<Ensemble>>>,
    ids: Option<Arc<Ids>>,
}

impl PyEnsemble {
    pub(crate) fn new(ensemble: Ensemble) -> Self {
        PyEnsemble { held: Mutex::new(Some(Arc::new(ensemble))), ids: None }
    }

    /// With these names of the objects.
    pub(crate) fn with_ids(mut self, ids: Option<Arc<Ids>>) -> Self {
        self.ids = ids;
        self
    }

    /// The ensemble.
    pub(crate) fn get(&self) -> PyResult<Arc<Ensemble>> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or_else(|| PyValueError::new_err("this ensemble was used up"))
    }

    /// The ensemble, which this object does not hold any longer.
    pub(crate) fn take(&self) -> PyResult<Arc<Ensemble>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.take().ok_or_else(|| PyValueError::new_err("this ensemble was used up"))
    }
}

#[pymethods]
impl PyEnsemble {
    /// The number of objects.
    #[getter]
    fn n_objects(&self) -> PyResult<usize> {
        Ok(self.get()?.n_objects())
    }

    /// The number of members.
    fn __len__(&self) -> PyResult<usize> {
        Ok(self.get()?.members().len())
    }

    fn __repr__(&self) -> PyResult<String> {
        let ensemble = self.get()?;
        let (n, r) = (ensemble.n_objects(), ensemble.members().len());
        Ok(format!("<consilience.Ensemble: {r} clusterings of {n} objects>"))
    }

    /// The names of the members.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        Ok(self.get()?.members().iter().map(|m| m.name().to_owned()).collect())
    }

    /// The names of the objects, or None.
    #[getter]
    fn ids(&self) -> Option<Vec<&str>> {
        self.ids.as_ref().map(|ids| ids.iter().collect())
    }

    /// Whether all members are hard.
    #[getter]
    fn is_hard(&self) -> PyResult<bool> {
        Ok(self.get()?.is_hard())
    }

    /// The object weights, or None.
    #[getter]
    fn sample_weight<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.get()?.weights().map(|weights| PyArray1::from_slice(py, weights)))
    }

    /// How many clusters each member has.
    #[getter]
    fn sizes(&self) -> PyResult<Vec<usize>> {
        Ok(self.get()?.members().iter().map(|member| member.clusters().len()).collect())
    }

    /// The clusters of a member, by name, in the order of their codes.
    fn clusters(&self, member: usize) -> PyResult<Vec<String>> {
        let ensemble = self.get()?;
        Ok(member_at(&ensemble, member)?.clusters().to_vec())
    }

    /// A member: its codes into `clusters(member)`, -1 where missing; or, if it is soft, its
    /// memberships, rows of zeros where missing.
    fn member<'py>(&self, py: Python<'py>, member: usize) -> PyResult<Bound<'py, PyAny>> {
        let ensemble = self.get()?;
        Ok(match member_at(&ensemble, member)? {
            Member::Hard(hard) => {
                let codes = hard.labels().iter().map(|code| code.map_or(-1, |code| code as i64));
                PyArray1::from_vec(py, codes.collect()).into_any()
            }
            Member::Soft(soft) => matrix(py, soft.memberships())?.into_any(),
        })
    }

    /// The same ensemble with these object weights.
    fn with_weights(&self, weights: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let ensemble = Ensemble::clone(&*self.get()?);
        let weights = weights.as_array().to_vec();
        let weighted = ensemble.with_weights(weights).map(PyEnsemble::new).map_err(to_python)?;
        Ok(weighted.with_ids(self.ids.clone()))
    }

    /// What the members say of some of the objects.
    #[pyo3(name = "_rows")]
    fn rows(&self, rows: Vec<usize>) -> PyResult<Builder> {
        let ensemble = self.get()?;
        if rows.iter().any(|&i| i >= ensemble.n_objects()) {
            return Err(PyIndexError::new_err("rows: there are not so many objects"));
        }
        let some = |member: &Member| rows_of(member, &rows).map_err(to_python);
        Ok(Builder::holding(ensemble.members().iter().map(some).collect::<PyResult<_>>()?))
    }

    /// These members, in this order; one may stand there several times.
    fn taken(&self, order: Vec<usize>) -> PyResult<Self> {
        let ensemble = self.get()?;
        let members = order.into_iter().map(|i| member_at(&ensemble, i).cloned());
        let taken = Ensemble::new(members.collect::<PyResult<_>>()?).map_err(to_python)?;
        let taken = match ensemble.weights() {
            Some(weights) => taken.with_weights(weights.to_vec()).map_err(to_python)?,
            None => taken,
        };
        Ok(PyEnsemble::new(taken).with_ids(self.ids.clone()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let ensemble = slf.get().get()?;
        let members = PyList::empty(py);
        for member in ensemble.members() {
            let values = match member {
                Member::Hard(hard) => codes(py, hard.labels()),
                Member::Soft(soft) => matrix(py, soft.memberships())?.into_any(),
            };
            members.append((member.name(), member.clusters(), values))?;
        }
        let weights = slf.get().sample_weight(py)?;
        let make = slf.get_type().getattr("_from_state")?;
        (make, (members, weights, slf.get().ids())).into_pyobject(py)
    }

    /// The ensemble that `__reduce__` told of.
    #[staticmethod]
    fn _from_state(
        members: Vec<(String, Vec<String>, Bound<'_, PyAny>)>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        ids: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let members = members
            .into_iter()
            .map(|(name, clusters, values)| member_of(name, clusters, &values).map_err(to_python));
        let ensemble = Ensemble::new(members.collect::<PyResult<_>>()?).map_err(to_python)?;
        let ensemble = match weights {
            Some(weights) => ensemble.with_weights(weights.as_array().to_vec()),
            None => Ok(ensemble),
        };
        let ensemble = ensemble.map(PyEnsemble::new).map_err(to_python)?;
        Ok(ensemble.with_ids(ids.map(|ids| Arc::new(ids_of(ids.iter().map(String::as_str))))))
    }
}

/// Names of objects in one piece.
pub(crate) fn ids_of<'a>(names: impl Iterator<Item = &'a str>) -> Ids {
    let mut ids = Ids::default();
    names.for_each(|name| ids.push(name));
    ids
}

/// What a member says of some objects; clusters with none of them are gone.
fn rows_of(member: &Member, rows: &[usize]) -> consilience::Result<Member> {
    match member {
        Member::Hard(hard) => {
            let mut encoder = LabelEncoder::new();
            for &i in rows {
                match hard.labels().get(i) {
                    Some(code) => encoder.push_text(&hard.clusters()[code]),
                    None => encoder.push_missing(),
                }
            }
            Ok(encoder.finish(hard.name()).into())
        }
        Member::Soft(soft) => {
            let all = soft.memberships();
            let values = rows.iter().flat_map(|&i| all.row(i).to_vec()).collect();
            let some = Matrix::from_vec(rows.len(), all.ncols(), values);
            SoftMember::new(soft.name(), some, soft.clusters().to_vec()).map(Member::from)
        }
    }
}

fn member_at(ensemble: &Ensemble, member: usize) -> PyResult<&Member> {
    nth(ensemble.members(), member)
}

/// One of several members.
pub(crate) fn nth(members: &[Member], member: usize) -> PyResult<&Member> {
    let r = members.len();
    let none = || PyIndexError::new_err(format!("there is no member {member}: there are {r}"));
    members.get(member).ok_or_else(none)
}

/// A member from what [`codes`] or [`matrix`] gave.
pub(crate) fn member_of(
    name: String,
    clusters: Vec<String>,
    values: &Bound<'_, PyAny>,
) -> consilience::Result<Member> {
    if let Ok(memberships) = values.extract::<PyReadonlyArray2<'_, f64>>() {
        return SoftMember::new(name, to_matrix(&memberships), clusters).map(Member::from);
    }
    let labels = if let Ok(codes) = values.extract::<PyReadonlyArray1<'_, u8>>() {
        Labels::U8(codes.as_array().to_vec())
    } else if let Ok(codes) = values.extract::<PyReadonlyArray1<'_, u16>>() {
        Labels::U16(codes.as_array().to_vec())
    } else if let Ok(codes) = values.extract::<PyReadonlyArray1<'_, u32>>() {
        Labels::U32(codes.as_array().to_vec())
    } else {
        return Err(consilience::Error::parameter("labels", "arrays of codes", "something else"));
    };
    HardMember::from_codes(name, labels, clusters).map(Member::from)
}

/// Codes as an array of their width.
pub(crate) fn codes<'py>(py: Python<'py>, labels: &Labels) -> Bound<'py, PyAny> {
    match labels {
        Labels::U8(codes) => PyArray1::from_slice(py, codes).into_any(),
        Labels::U16(codes) => PyArray1::from_slice(py, codes).into_any(),
        Labels::U32(codes) => PyArray1::from_slice(py, codes).into_any(),
    }
}

/// A matrix as an array.
pub(crate) fn matrix<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let shape = [matrix.nrows(), matrix.ncols()];
    PyArray1::from_slice(py, matrix.as_slice()).reshape(shape)
}
