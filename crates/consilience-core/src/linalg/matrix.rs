//! A dense matrix, stored row by row.

use faer::MatRef;
use serde::Serialize;

/// A dense matrix of `f64`, stored row by row.
///
/// Rows are objects or clusters throughout this crate, so a row is a contiguous slice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// A matrix from its values, row by row.
    ///
    /// # Panics
    ///
    /// If `values` does not hold `rows * columns` numbers.
    pub fn from_vec(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), rows * columns, "a {rows} x {columns} matrix");
        Matrix { rows, columns, values }
    }

    /// A matrix whose entry at `(i, j)` is `entry(i, j)`.
    pub fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        Matrix { rows, columns, values: values.map(|(i, j)| entry(i, j)).collect() }
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
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// Row `i`, to be written.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// The rows, from the first to the last.
    pub fn iter_rows(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.rows).map(|i| self.row(i))
    }

    /// All values, row by row.
    pub fn as_slice(&self) -> &[f64] {
        &self.values
    }

    /// All values, row by row, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The values, row by row, without the matrix.
    pub fn into_vec(self) -> Vec<f64> {
        self.values
    }

    /// A view for faer's routines.
    pub fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.columns)
    }

    /// The matrix with these rows of `self`, in this order.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        let values = rows.iter().flat_map(|&i| self.row(i)).copied().collect();
        Matrix { rows: rows.len(), columns: self.columns, values }
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(j < self.columns);
        &self.values[i * self.columns + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(j < self.columns);
        &mut self.values[i * self.columns + j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_contiguous_and_faer_sees_the_same_entries() {
        let m = Matrix::from_fn(2, 3, |i, j| (10 * i + j) as f64);
        assert_eq!(m.row(1), [10.0, 11.0, 12.0]);
        assert_eq!(m.as_faer()[(1, 2)], m[(1, 2)]);
        assert_eq!(m.select_rows(&[1, 1]).as_slice(), [10.0, 11.0, 12.0, 10.0, 11.0, 12.0]);
    }
}
