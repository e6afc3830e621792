//! The table of features that a base clusterer reads.

use crate::error::{Error, Result};
use crate::linalg::Matrix;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A feature value: `f32` or `f64`. Whatever is stored, all sums are `f64`.
pub trait Float: sealed::Sealed + Copy + PartialEq + Send + Sync + 'static {
    /// The value as `f64`, exactly.
    fn to_f64(self) -> f64;
}

impl Float for f32 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Float for f64 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// Squares of larger values would not be finite once summed.
pub(super) const LARGEST: f64 = 1e150;

/// A borrowed table of features, row by row; one row per object.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a, T = f64> {
    rows: usize,
    columns: usize,
    values: &'a [T],
}

impl<'a, T: Float> Table<'a, T> {
    /// A table over `values`, row by row.
    ///
    /// # Panics
    ///
    /// If `values` does not hold `rows * columns` numbers.
    pub fn new(rows: usize, columns: usize, values: &'a [T]) -> Self {
        assert_eq!(values.len(), rows * columns, "a {rows} x {columns} table");
        Table { rows, columns, values }
    }

    /// The number of rows.
    pub fn nrows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// All values, row by row.
    pub fn as_slice(&self) -> &'a [T] {
        self.values
    }

    /// These rows of it, one after the other; one may be chosen more than once.
    pub fn select_rows(&self, chosen: &[usize]) -> Vec<T> {
        chosen.iter().flat_map(|&i| self.row(i)).copied().collect()
    }

    /// These columns of it, row by row.
    pub fn select_columns(&self, chosen: &[usize]) -> Vec<T> {
        let values = self.values.chunks_exact(self.columns.max(1));
        values.flat_map(|row| chosen.iter().map(|&j| row[j])).collect()
    }

    /// The table as a matrix of `f64`.
    pub fn to_matrix(&self) -> Matrix {
        let values = self.values.iter().map(|x| x.to_f64()).collect();
        Matrix::from_vec(self.rows, self.columns, values)
    }

    /// Fails unless there is a row and a column and every value can be squared and summed.
    pub fn check(&self) -> Result<()> {
        if self.values.is_empty() {
            return Err(no_values(self.rows, self.columns));
        }
        let unusable = |x: &T| !x.to_f64().is_finite() || x.to_f64().abs() > LARGEST;
        match self.values.iter().position(unusable) {
            None => Ok(()),
            Some(at) => {
                let (row, column) = (at / self.columns, at % self.columns);
                Err(unusable_value(row, column, self.values[at].to_f64()))
            }
        }
    }
}

/// The error for a table without rows or columns.
pub(super) fn no_values(rows: usize, columns: usize) -> Error {
    Error::Empty {
        what: format!("the data ({rows} rows, {columns} columns)"),
        hint: "clustering needs at least one row and one column".to_owned(),
    }
}

/// The error for a value that cannot be squared and summed.
pub(super) fn unusable_value(row: usize, column: usize, value: f64) -> Error {
    Error::Value {
        what: "the data".to_owned(),
        row,
        column: Some(column.to_string()),
        problem: format!(
            "a feature must be a number of magnitude at most 1e150, got {value:e}{}",
            if value.is_nan() { ": fill in missing values, or leave the row out" } else { "" }
        ),
    }
}

impl<'a> From<&'a Matrix> for Table<'a> {
    fn from(matrix: &'a Matrix) -> Self {
        Table::new(matrix.nrows(), matrix.ncols(), matrix.as_slice())
    }
}

/// Sums of larger weights times the largest values would not be finite.
const LARGEST_WEIGHT: f64 = 1e100;

/// Fails unless there is one positive finite weight a row.
pub(super) fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    if weights.len() != rows {
        return Err(Error::Length {
            what: "the list of row weights".to_owned(),
            got: weights.len(),
            expected_by: "the data".to_owned(),
            expected: rows,
        });
    }
    match weights.iter().position(|&w| !(w > 0.0 && w <= LARGEST_WEIGHT)) {
        None => Ok(()),
        Some(row) => Err(Error::Value {
            what: "the row weights".to_owned(),
            row,
            column: None,
            problem: format!(
                "a weight must be a number > 0 and at most 1e100, got {}",
                weights[row]
            ),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_values_are_refused_with_row_and_column() {
        for bad in [f64::NAN, f64::INFINITY, 1e200] {
            let values = [0.0, 1.0, 2.0, 3.0, bad, 5.0];
            let refusal = Table::new(2, 3, &values).check().unwrap_err().to_string();
            assert!(refusal.starts_with("the data, row 1, column `1`: "), "{refusal}");
            assert_eq!(refusal.contains("fill in missing values"), bad.is_nan(), "{refusal}");
        }
        assert!(Table::new(1, 2, &[0.0f32, f32::NAN]).check().is_err());
    }

    #[test]
    fn tables_without_rows_or_columns_are_refused() {
        assert!(Table::<f64>::new(0, 3, &[]).check().is_err());
        assert!(Table::<f64>::new(3, 0, &[]).check().is_err());
    }

    #[test]
    fn weights_must_be_positive_and_one_a_row() {
        assert_eq!(check_weights(&[1.0, 0.5], 2), Ok(()));
        for bad in
            [vec![1.0], vec![1.0, 0.0], vec![1.0, -1.0], vec![f64::NAN, 1.0], vec![1e101, 1.0]]
        {
            assert!(check_weights(&bad, 2).is_err(), "{bad:?}");
        }
    }
}
