//! The table that members are made from, dense or sparse.

use std::borrow::Cow;

use crate::base::{Packed, SparseMatrix, Table};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// A table of features, one row per object.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// All numbers are stored.
    Dense(&'a Matrix),
    /// All numbers are stored, in single precision. Members are those of the same numbers in double
    /// precision, which all sums are in.
    Single(Table<'a, f32>),
    /// Only those that are not 0.
    Sparse(&'a SparseMatrix),
}

impl<'a> From<&'a Matrix> for Data<'a> {
    fn from(data: &'a Matrix) -> Self {
        Data::Dense(data)
    }
}

impl<'a> From<Table<'a, f32>> for Data<'a> {
    fn from(data: Table<'a, f32>) -> Self {
        Data::Single(data)
    }
}

impl<'a> From<&'a SparseMatrix> for Data<'a> {
    fn from(data: &'a SparseMatrix) -> Self {
        Data::Sparse(data)
    }
}

impl<'a> Data<'a> {
    /// The number of objects.
    pub fn nrows(&self) -> usize {
        match self {
            Data::Dense(data) => data.nrows(),
            Data::Single(data) => data.nrows(),
            Data::Sparse(data) => data.nrows(),
        }
    }

    /// The number of features.
    pub fn ncols(&self) -> usize {
        match self {
            Data::Dense(data) => data.ncols(),
            Data::Single(data) => data.ncols(),
            Data::Sparse(data) => data.ncols(),
        }
    }

    /// How many bytes the table takes.
    pub fn bytes(&self) -> u64 {
        match self {
            Data::Dense(data) => 8 * (data.nrows() * data.ncols()) as u64,
            Data::Single(data) => size_of_val(data.as_slice()) as u64,
            Data::Sparse(data) => (12 * data.n_entries() + 8 * data.nrows()) as u64,
        }
    }

    /// Fails unless there is a row and a column and every value can be squared and summed.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Data::Dense(data) => Table::from(*data).check(),
            Data::Single(data) => data.check(),
            Data::Sparse(data) => data.check(),
        }
    }

    /// The table packed for k-means.
    pub(super) fn packed(self, run: &Run) -> Result<Packed<'a>> {
        match self {
            Data::Dense(data) => Packed::new(data, run),
            Data::Single(data) => Packed::single(data, run),
            Data::Sparse(data) => Packed::sparse(data),
        }
    }
}

/// What a member sees of a table.
pub(super) enum Seen<'a> {
    Dense(Cow<'a, Matrix>),
    Single { columns: usize, values: Cow<'a, [f32]> },
    Sparse(Cow<'a, SparseMatrix>),
}

impl Seen<'_> {
    /// The table.
    pub(super) fn data(&self) -> Data<'_> {
        match self {
            Seen::Dense(data) => Data::Dense(data),
            Seen::Single { columns, values } => {
                Data::Single(Table::new(values.len() / columns, *columns, values))
            }
            Seen::Sparse(data) => Data::Sparse(data),
        }
    }

    /// These rows of it alone.
    pub(super) fn rows(&self, chosen: &[usize]) -> Seen<'static> {
        match self.data() {
            Data::Dense(data) => Seen::Dense(Cow::Owned(data.select_rows(chosen))),
            Data::Single(data) => {
                Seen::Single { columns: data.ncols(), values: Cow::Owned(data.select_rows(chosen)) }
            }
            Data::Sparse(data) => Seen::Sparse(Cow::Owned(data.select_rows(chosen))),
        }
    }
}
