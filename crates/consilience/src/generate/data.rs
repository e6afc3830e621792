//! The table that members are made from, dense or sparse.

use std::borrow::Cow;

use crate::base::{SparseMatrix, Table};
use crate::error::Result;
use crate::linalg::Matrix;

/// A table of features, one row an object.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// All numbers are stored.
    Dense(&'a Matrix),
    /// Only those that are not 0.
    Sparse(&'a SparseMatrix),
}

impl<'a> From<&'a Matrix> for Data<'a> {
    fn from(data: &'a Matrix) -> Self {
        Data::Dense(data)
    }
}

impl<'a> From<&'a SparseMatrix> for Data<'a> {
    fn from(data: &'a SparseMatrix) -> Self {
        Data::Sparse(data)
    }
}

impl Data<'_> {
    /// The number of objects.
    pub fn nrows(&self) -> usize {
        match self {
            Data::Dense(data) => data.nrows(),
            Data::Sparse(data) => data.nrows(),
        }
    }

    /// The number of features.
    pub fn ncols(&self) -> usize {
        match self {
            Data::Dense(data) => data.ncols(),
            Data::Sparse(data) => data.ncols(),
        }
    }

    /// How many bytes the table takes.
    pub fn bytes(&self) -> u64 {
        match self {
            Data::Dense(data) => 8 * (data.nrows() * data.ncols()) as u64,
            Data::Sparse(data) => (12 * data.n_entries() + 8 * data.nrows()) as u64,
        }
    }

    /// Fails unless there is a row and a column and every value can be squared and summed.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Data::Dense(data) => Table::from(*data).check(),
            Data::Sparse(data) => data.check(),
        }
    }
}

/// What a member sees of a table.
pub(super) enum Seen<'a> {
    Dense(Cow<'a, Matrix>),
    Sparse(Cow<'a, SparseMatrix>),
}

impl Seen<'_> {
    /// These rows of it alone.
    pub(super) fn rows(&self, chosen: &[usize]) -> Seen<'static> {
        match self {
            Seen::Dense(data) => Seen::Dense(Cow::Owned(data.select_rows(chosen))),
            Seen::Sparse(data) => Seen::Sparse(Cow::Owned(data.select_rows(chosen))),
        }
    }
}
