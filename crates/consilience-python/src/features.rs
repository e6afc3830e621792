//! Tables of features as Python gives them: arrays, or compressed rows.

use consilience::Matrix;
use consilience::base::{Float, SparseMatrix, Table};
use consilience::generate::Data;
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::builder::to_matrix;
use crate::error::to_python;

/// A table, in the precision that Python has it in.
pub(crate) enum Features {
    Dense(Matrix),
    Single { rows: usize, columns: usize, values: Vec<f32> },
    Sparse(SparseMatrix),
}

/// Shape, row starts, columns and values of what is not 0.
type Compressed<'py> =
    ((usize, usize), PyReadonlyArray1<'py, i64>, Bound<'py, PyAny>, Bound<'py, PyAny>);

impl Features {
    /// A copy of an array of `float64` or `float32`, or of compressed rows of such numbers.
    pub(crate) fn new(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(x) = x.extract::<PyReadonlyArray2<'_, f64>>() {
            return Ok(Features::Dense(to_matrix(&x)));
        }
        if let Ok(x) = x.extract::<PyReadonlyArray2<'_, f32>>() {
            let view = x.as_array();
            let values = view.iter().copied().collect();
            return Ok(Features::Single { rows: view.nrows(), columns: view.ncols(), values });
        }
        let (shape, starts, at, values): Compressed<'_> = x.extract().map_err(|_| {
            PyTypeError::new_err("a table is an array of floats or a tuple of compressed rows")
        })?;
        let starts = starts.as_array().iter().map(|&start| index(start)).collect::<Vec<_>>();
        if starts.len() != shape.0 + 1 {
            return Err(PyValueError::new_err("indptr needs one entry a row and one more"));
        }
        if let Ok(values) = values.extract::<PyReadonlyArray1<'_, f64>>() {
            return compressed(shape.1, &starts, &at, &values);
        }
        compressed(shape.1, &starts, &at, &values.extract::<PyReadonlyArray1<'_, f32>>()?)
    }

    /// The table that ensembles are made from.
    pub(crate) fn data(&self) -> Data<'_> {
        match self {
            Features::Dense(data) => data.into(),
            Features::Single { rows, columns, values } => {
                Table::new(*rows, *columns, values).into()
            }
            Features::Sparse(data) => data.into(),
        }
    }
}

/// A sparse table, its columns given in 32 or 64 bits.
fn compressed<T: Float + Element>(
    columns: usize,
    starts: &[usize],
    at: &Bound<'_, PyAny>,
    values: &PyReadonlyArray1<'_, T>,
) -> PyResult<Features> {
    let values = values.as_slice()?;
    let differ = || PyValueError::new_err("indices and data differ in length");
    let table = if let Ok(at) = at.extract::<PyReadonlyArray1<'_, i32>>() {
        let at = Some(at.as_slice()?).filter(|at| at.len() == values.len()).ok_or_else(differ)?;
        SparseMatrix::from_rows(columns, starts, |e| index(at[e].into()), values)
    } else {
        let at = at.extract::<PyReadonlyArray1<'_, i64>>()?;
        let at = Some(at.as_slice()?).filter(|at| at.len() == values.len()).ok_or_else(differ)?;
        SparseMatrix::from_rows(columns, starts, |e| index(at[e]), values)
    };
    table.map(Features::Sparse).map_err(to_python)
}

/// A place; what is negative is beyond any end.
fn index(i: i64) -> usize {
    usize::try_from(i).unwrap_or(usize::MAX)
}
