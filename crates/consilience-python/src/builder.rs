//! From Python's columns to an ensemble.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_pyarrow::FromPyArrow;
use consilience::Matrix;
use consilience::ensemble::{Ensemble, HardMember, Integer, LabelEncoder, Member, SoftMember};
use consilience::{Error, Run};
use numpy::ndarray::ArrayView1;
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use rayon::prelude::*;

use crate::arrow;
use crate::ensemble::{PyEnsemble, ids_of, nth};
use crate::error::to_python;
use crate::missing::Missing;

/// Collects the columns of an ensemble.
#[pyclass(module = "consilience._native")]
pub(crate) struct Builder {
    missing: Missing,
    /// Threads of our own: those that all of a process share are gone in a forked child.
    run: Run,
    members: Vec<Member>,
}

/// Runs `$body` with `$typed` bound to `$array` as an array of the integer type that it has;
/// `None` if it has none.
macro_rules! with_integers {
    ($array:expr, $kind:ident, $typed:ident => $body:expr) => {
        with_integers!(@ $array, $kind, $typed => $body, u8 i8 u16 i16 u32 i32 u64 i64)
    };
    (@ $array:expr, $kind:ident, $typed:ident => $body:expr, $($t:ty)*) => {
        'found: {
            $(if let Ok(array) = $array.cast::<$kind<$t>>() {
                let $typed = array.try_readonly()?;
                break 'found Some($body);
            })*
            None
        }
    };
}

#[pymethods]
impl Builder {
    #[new]
    fn new(missing: Missing) -> Self {
        Builder { missing, run: Run::new(0), members: Vec::new() }
    }

    /// Adds every column of an (n, r) array of integers as a member.
    fn add_table(&mut self, names: Vec<String>, labels: &Bound<'_, PyAny>) -> PyResult<()> {
        fn members<T: Integer + Element + TryFrom<i128>>(
            names: &[String],
            labels: &PyReadonlyArray2<'_, T>,
            missing: &Missing,
            run: &Run,
        ) -> Vec<Member> {
            let (view, missing) = (labels.as_array(), missing.of_type());
            let all = || {
                if let Some(rows) = view.as_slice() {
                    return encode_rows(names, rows, &missing);
                }
                let names = names.par_iter().enumerate();
                names.map(|(j, name)| integers(name, view.column(j), &missing).into()).collect()
            };
            labels.py().detach(|| run.install(all))
        }
        if labels.cast::<PyUntypedArray>()?.shape().get(1) != Some(&names.len()) {
            return Err(PyValueError::new_err("labels: one name a column is needed"));
        }
        let (missing, run) = (&self.missing, &self.run);
        let found =
            with_integers!(labels, PyArray2, typed => members(&names, &typed, missing, run));
        self.members.extend(found.ok_or_else(|| not_labels(labels))?);
        Ok(())
    }

    /// Adds a member from a 1-D array of integers; where `mask` is true there is no label.
    #[pyo3(signature = (name, labels, mask=None))]
    fn add_integers(
        &mut self,
        name: &str,
        labels: &Bound<'_, PyAny>,
        mask: Option<Vec<bool>>,
    ) -> PyResult<()> {
        let (missing, run) = (&self.missing, &self.run);
        let found = with_integers!(labels, PyArray1, typed => {
            let view = typed.as_array();
            let missing = missing.of_type();
            let encode = || match &mask {
                None => integers(name, view, &missing),
                Some(mask) => {
                    let gone = |i: usize, x| {
                        mask.get(i).copied().unwrap_or(false) || missing.contains(&x)
                    };
                    HardMember::from_integer_slice(name, &view.to_vec(), gone)
                }
            };
            labels.py().detach(|| run.install(encode))
        });
        self.members.push(found.ok_or_else(|| not_labels(labels))?.into());
        Ok(())
    }

    /// Adds a member from whole numbers that are stored as floats; NaN is missing.
    fn add_floats(&mut self, name: &str, labels: &Bound<'_, PyArray1<f64>>) -> PyResult<()> {
        let labels = labels.try_readonly()?;
        let values = labels.as_array().to_vec();
        let member = self.run.install(|| floats(name, &values, &self.missing));
        self.members.push(member.map_err(to_python)?.into());
        Ok(())
    }

    /// Adds a member from numbers into a list of names; a negative number is missing.
    fn add_codes(
        &mut self,
        name: &str,
        codes: &Bound<'_, PyArray1<i64>>,
        names: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        // Every name becomes a column of one label, so that all spellings of missing are known.
        let categories = self.objects(name, names)?;
        let texts: Vec<Option<&str>> = categories
            .labels()
            .iter()
            .map(|code| code.map(|code| categories.clusters()[code].as_str()))
            .collect();
        let mut encoder = LabelEncoder::new();
        for &code in codes.try_readonly()?.as_array() {
            let text = usize::try_from(code).ok().and_then(|code| texts.get(code)).copied();
            match text.flatten() {
                Some(text) => encoder.push_text(text),
                None => encoder.push_missing(),
            }
        }
        self.members.push(self.missing.finish(encoder, name).into());
        Ok(())
    }

    /// Adds a member from texts stored as rows of code points that end in zeros.
    fn add_texts(&mut self, name: &str, texts: &Bound<'_, PyArray2<u32>>) -> PyResult<()> {
        let mut encoder = LabelEncoder::new();
        let mut text = String::new();
        for (row, points) in texts.try_readonly()?.as_array().rows().into_iter().enumerate() {
            text.clear();
            let end = points.iter().rposition(|&point| point != 0).map_or(0, |last| last + 1);
            for &point in points.iter().take(end) {
                let letter = char::from_u32(point).ok_or_else(|| {
                    PyValueError::new_err(format!(
                        "labels: member `{name}`, row {row}: {point:#x} is no character"
                    ))
                })?;
                text.push(letter);
            }
            self.missing.push_text(&mut encoder, &text);
        }
        self.members.push(self.missing.finish(encoder, name).into());
        Ok(())
    }

    /// Adds a member from a sequence of Python objects: texts, or integers.
    fn add_objects(&mut self, name: &str, labels: &Bound<'_, PyAny>) -> PyResult<()> {
        let member = self.objects(name, labels)?;
        self.members.push(member.into());
        Ok(())
    }

    /// Adds a member from an (n, k) array of memberships.
    fn add_memberships(
        &mut self,
        name: &str,
        memberships: &Bound<'_, PyArray2<f64>>,
        clusters: Vec<String>,
    ) -> PyResult<()> {
        let matrix = to_matrix(&memberships.try_readonly()?);
        let member = SoftMember::new(name, matrix, clusters).map_err(to_python)?;
        self.members.push(member.into());
        Ok(())
    }

    /// Adds every column of an Arrow table as a member.
    fn add_stream(&mut self, table: &Bound<'_, PyAny>) -> PyResult<()> {
        self.members.extend(arrow::members(table, &self.missing, &self.run)?);
        Ok(())
    }

    /// Adds every column of a batch, which is a part of a table, as a member.
    fn add_batch(&mut self, names: Vec<String>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        let members = arrow::members_of_batch(&batch, &names, &self.missing)?;
        self.members.extend(members.into_iter().map(Member::from));
        Ok(())
    }

    /// The names of the members.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.members.iter().map(Member::name).collect()
    }

    /// A builder of these members, in this order; one may stand there several times.
    fn taken(&self, order: Vec<usize>) -> PyResult<Self> {
        let members = order.into_iter().map(|i| nth(&self.members, i).cloned());
        Ok(Builder::holding(members.collect::<PyResult<_>>()?))
    }

    /// The ensemble, its objects with these names if there are any; the builder is empty afterwards.
    #[pyo3(signature = (ids=None))]
    fn finish(&mut self, ids: Option<Vec<String>>) -> PyResult<PyEnsemble> {
        let ensemble = Ensemble::new(self.take_members()).map_err(to_python)?;
        let ids = ids.map(|ids| Arc::new(ids_of(ids.iter().map(String::as_str))));
        Ok(PyEnsemble::new(ensemble).with_ids(ids))
    }
}

impl Builder {
    /// A builder that holds these members.
    pub(crate) fn holding(members: Vec<Member>) -> Self {
        Builder { missing: Missing::default(), run: Run::new(0), members }
    }

    /// The members; the builder is empty afterwards.
    pub(crate) fn take_members(&mut self) -> Vec<Member> {
        std::mem::take(&mut self.members)
    }

    fn objects(&self, name: &str, labels: &Bound<'_, PyAny>) -> PyResult<HardMember> {
        #[derive(Clone, Copy, PartialEq)]
        enum Kind {
            Text,
            Integer,
        }
        let py = labels.py();
        let mut encoder = LabelEncoder::new();
        let mut kind: Option<(Kind, usize)> = None;
        let mut is = |found: Kind, row: usize| match kind {
            Some((first, at)) if first != found => Err(PyTypeError::new_err(format!(
                "labels: member `{name}`: row {at} is {}, but row {row} is {}: make them all one \
                 kind",
                if first == Kind::Text { "text" } else { "a number" },
                if found == Kind::Text { "text" } else { "a number" },
            ))),
            Some(_) => Ok(()),
            None => {
                kind = Some((found, row));
                Ok(())
            }
        };
        for (row, label) in labels.try_iter()?.enumerate() {
            let label = label?;
            if label.is_none() {
                encoder.push_missing();
            } else if let Ok(text) = label.cast::<PyString>() {
                let text = text.to_cow()?;
                if !text.is_empty() {
                    is(Kind::Text, row)?;
                }
                self.missing.push_text(&mut encoder, &text);
            } else if let Ok(integer) = label.extract::<i64>() {
                is(Kind::Integer, row)?;
                self.missing.push_integer(&mut encoder, integer);
            } else if label.is_instance_of::<PyInt>() {
                is(Kind::Integer, row)?;
                encoder.push_text(&label.str()?.to_cow()?);
            } else if is_no_value(&label)? {
                encoder.push_missing();
            } else if let Ok(number) = label.extract::<f64>() {
                if number.is_nan() {
                    encoder.push_missing();
                    continue;
                }
                is(Kind::Integer, row)?;
                let whole = whole(number).ok_or_else(|| to_python(not_whole(name, row, number)))?;
                self.missing.push_integer(&mut encoder, whole);
            } else {
                return Err(PyTypeError::new_err(format!(
                    "labels: member `{name}`, row {row}: a label must be text or an integer, got \
                     {}",
                    label.get_type().name()?
                )));
            }
            if row % (1 << 16) == 0 {
                py.check_signals()?;
            }
        }
        Ok(self.missing.finish(encoder, name))
    }
}

/// Members from the columns of a table that is stored row by row.
///
/// A column alone would read every line of memory for one or few numbers of it, so columns are copied
/// out some at a time, from rows that stay in the cache meanwhile.
fn encode_rows<T: Integer>(names: &[String], rows: &[T], missing: &[T]) -> Vec<Member> {
    /// Bytes a row that are copied at once: what memory a copy may take.
    const BYTES: usize = 32;
    /// Rows that stay in the cache.
    const ROWS: usize = 1024;
    let r = names.len();
    let together = r.div_ceil(rayon::current_num_threads()).min(BYTES / size_of::<T>()).max(1);
    let groups = names.par_chunks(together).enumerate();
    let encode = |(group, names): (usize, &[String])| -> Vec<Member> {
        let mut columns = vec![Vec::with_capacity(rows.len() / r); names.len()];
        for rows in rows.chunks(ROWS * r) {
            for (j, column) in (group * together..).zip(&mut columns) {
                column.extend(rows[j..].iter().step_by(r));
            }
        }
        let named = names.iter().zip(columns);
        let member = |(name, labels): (&String, Vec<T>)| {
            HardMember::from_integers_but(name.clone(), &labels, missing).into()
        };
        named.map(member).collect()
    };
    groups.flat_map_iter(encode).collect()
}

/// A member from a column of integers, read where it stands if it can be.
fn integers<T: Integer>(name: &str, labels: ArrayView1<'_, T>, missing: &[T]) -> HardMember {
    match labels.as_slice() {
        Some(labels) => HardMember::from_integers_but(name, labels, missing),
        None => HardMember::from_integers_but(name, &labels.to_vec(), missing),
    }
}

/// A member from whole numbers stored as floats.
pub(crate) fn floats(name: &str, values: &[f64], missing: &Missing) -> Result<HardMember, Error> {
    let as_integer = |(row, &value): (usize, &f64)| {
        if value.is_nan() {
            return Ok(0);
        }
        whole(value).ok_or_else(|| not_whole(name, row, value))
    };
    let labels: Vec<i64> = values.iter().enumerate().map(as_integer).collect::<Result<_, _>>()?;
    let missing: Vec<i64> = missing.of_type();
    let gone = |i: usize, label| values[i].is_nan() || missing.contains(&label);
    Ok(HardMember::from_integer_slice(name, &labels, gone))
}

/// The integer that `value` is, if it is one that floats tell apart from its neighbours.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 2f64.powi(53)).then_some(value as i64)
}

fn not_whole(member: &str, row: usize, value: f64) -> Error {
    Error::Value {
        what: format!("labels: member `{member}`"),
        row,
        column: None,
        problem: format!(
            "a label must be a whole number or text, got {value}; features are clustered by \
             ConsensusClustering or generate"
        ),
    }
}

/// Whether this is one of pandas' objects for "no value".
fn is_no_value(label: &Bound<'_, PyAny>) -> PyResult<bool> {
    let name = label.get_type().name()?;
    Ok(name == "NAType" || name == "NaTType")
}

fn not_labels(labels: &Bound<'_, PyAny>) -> PyErr {
    let kind = labels.getattr("dtype").and_then(|dtype| dtype.str().map(|s| s.to_string()));
    let kind = kind.unwrap_or_else(|_| "no array".to_owned());
    PyTypeError::new_err(format!("labels: an array of integers or text is needed, got {kind}"))
}

/// A copy in rows.
pub(crate) fn to_matrix(array: &PyReadonlyArray2<'_, f64>) -> Matrix {
    let view = array.as_array();
    Matrix::from_vec(view.nrows(), view.ncols(), view.iter().copied().collect())
}
