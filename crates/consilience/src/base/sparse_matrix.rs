//! A sparse matrix, stored row by row.

use crate::base::stats::Stats;
use crate::base::table::Float;
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// A matrix of `f64` of which only the entries are stored that are not 0, row by row.
///
/// ```
/// use consilience::base::SparseMatrix;
/// // Entries at one place are added up, as in MatrixMarket files.
/// let entries = vec![(1, 2, 5.0), (0, 1, 3.0), (1, 0, 1.0), (1, 2, 2.0)];
/// let matrix = SparseMatrix::from_entries(2, 3, entries);
/// assert_eq!(matrix.row(1), (&[0, 2][..], &[1.0, 7.0][..]));
/// assert_eq!(matrix.to_dense().as_slice(), [0.0, 3.0, 0.0, 1.0, 0.0, 7.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    columns: usize,
    /// Where each row starts among the entries, and where the last ends.
    starts: Vec<usize>,
    /// The columns of the entries, ascending in each row.
    at: Vec<u32>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// A matrix from its entries (row, column, value), in any order. Those at one place are added up
    /// in their order; what is 0 is left out.
    ///
    /// # Panics
    ///
    /// If an entry is outside the matrix.
    pub fn from_entries(rows: usize, columns: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        // Stable, so that what is added up is added in the order given.
        entries.sort_by_key(|&(i, j, _)| (i, j));
        let mut matrix = SparseMatrix::empty(columns);
        let mut rest = &entries[..];
        for i in 0..rows {
            let own = rest.partition_point(|&(row, _, _)| row as usize <= i);
            let (row, after) = rest.split_at(own);
            rest = after;
            for place in row.chunk_by(|a, b| a.1 == b.1) {
                matrix.push(place[0].1, place.iter().map(|&(_, _, x)| x).sum());
            }
            matrix.end_row();
        }
        assert!(rest.is_empty(), "an entry below the last of {rows} rows");
        matrix
    }

    /// A matrix from compressed rows: the entries of row `i` are those from `starts[i]` up to
    /// `starts[i + 1]`, entry `e` in column `at(e)`. They need not be in order; those at one place are
    /// added up in their order, and what is 0 is left out.
    ///
    /// # Errors
    ///
    /// If the starts do not fit the entries, or an entry is outside the matrix.
    pub fn from_rows<T: Float>(
        columns: usize,
        starts: &[usize],
        at: impl Fn(usize) -> usize,
        values: &[T],
    ) -> Result<Self> {
        let ends = (starts.first(), starts.last()) == (Some(&0), Some(&values.len()));
        if !ends || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            let expected = format!("numbers that ascend from 0 to {}", values.len());
            return Err(Error::parameter("indptr", expected, "others"));
        }
        if columns > u32::MAX as usize {
            return Err(Error::parameter("columns", "fewer than 2^32", columns));
        }
        let mut matrix = SparseMatrix::empty(columns);
        matrix.starts.reserve_exact(starts.len() - 1);
        matrix.at.reserve_exact(values.len());
        matrix.values.reserve_exact(values.len());
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (i, pair) in starts.windows(2).enumerate() {
            for e in pair[0]..pair[1] {
                let column = at(e);
                if column >= columns {
                    return Err(Error::Value {
                        what: "the data".to_owned(),
                        row: i,
                        column: Some(column.to_string()),
                        problem: format!("there are {columns} columns, counted from 0"),
                    });
                }
                row.push((column as u32, values[e].to_f64()));
            }
            if row.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                // Stable, so that what is added up is added in the order given.
                row.sort_by_key(|&(column, _)| column);
            }
            for place in row.chunk_by(|a, b| a.0 == b.0) {
                matrix.push(place[0].0, place.iter().map(|&(_, x)| x).sum());
            }
            row.clear();
            matrix.end_row();
        }
        Ok(matrix)
    }

    /// The entries of a dense matrix that are not 0.
    pub fn from_dense(dense: &Matrix) -> Self {
        let mut matrix = SparseMatrix::empty(dense.ncols());
        for row in dense.iter_rows() {
            row.iter().enumerate().for_each(|(j, &x)| matrix.push(j as u32, x));
            matrix.end_row();
        }
        matrix
    }

    /// A matrix without rows.
    fn empty(columns: usize) -> Self {
        SparseMatrix { columns, starts: vec![0], at: Vec::new(), values: Vec::new() }
    }

    /// Puts an entry to the end of the last row.
    fn push(&mut self, column: u32, value: f64) {
        assert!((column as usize) < self.columns, "column {column} of {}", self.columns);
        if value != 0.0 {
            self.at.push(column);
            self.values.push(value);
        }
    }

    fn end_row(&mut self) {
        self.starts.push(self.at.len());
    }

    /// The number of rows.
    pub fn nrows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn ncols(&self) -> usize {
        self.columns
    }

    /// How many entries are not 0.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// The columns and values of the entries of row `i` that are not 0, by ascending column.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let own = self.starts[i]..self.starts[i + 1];
        (&self.at[own.clone()], &self.values[own])
    }

    /// The values that are not 0, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Fails unless there is a row and a column and every value can be squared and summed.
    pub fn check(&self) -> Result<()> {
        Stats::sparse(self).map(drop)
    }

    /// The rows `chosen`, in that order; one may be chosen more than once.
    #[must_use]
    pub fn select_rows(&self, chosen: &[usize]) -> Self {
        let mut matrix = SparseMatrix::empty(self.columns);
        for &i in chosen {
            let (columns, values) = self.row(i);
            matrix.at.extend(columns);
            matrix.values.extend(values);
            matrix.end_row();
        }
        matrix
    }

    /// The columns `chosen`, which differ, in that order.
    #[must_use]
    pub fn select_columns(&self, chosen: &[usize]) -> Self {
        let mut place = vec![None; self.columns];
        chosen.iter().enumerate().for_each(|(to, &j)| place[j] = Some(to as u32));
        let mut matrix = SparseMatrix::empty(chosen.len());
        let mut row = Vec::new();
        for i in 0..self.nrows() {
            let (columns, values) = self.row(i);
            let kept = columns.iter().zip(values);
            row.extend(kept.filter_map(|(&j, &x)| Some((place[j as usize]?, x))));
            row.sort_unstable_by_key(|&(j, _)| j);
            row.drain(..).for_each(|(j, x)| matrix.push(j, x));
            matrix.end_row();
        }
        matrix
    }

    /// The matrix with every column multiplied by its factor.
    #[must_use]
    pub fn scaled(&self, factors: &[f64]) -> Self {
        assert_eq!(factors.len(), self.columns, "one factor a column");
        let mut scaled = SparseMatrix::empty(self.columns);
        for i in 0..self.nrows() {
            let (columns, values) = self.row(i);
            for (&j, x) in columns.iter().zip(values) {
                scaled.push(j, x * factors[j as usize]);
            }
            scaled.end_row();
        }
        scaled
    }

    /// The matrix written out.
    pub fn to_dense(&self) -> Matrix {
        let mut dense = Matrix::zeros(self.nrows(), self.columns);
        for i in 0..self.nrows() {
            let (columns, values) = self.row(i);
            let row = dense.row_mut(i);
            columns.iter().zip(values).for_each(|(&j, &x)| row[j as usize] = x);
        }
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};
    use proptest::prelude::*;

    fn matrices() -> impl Strategy<Value = Matrix> {
        (0..6usize, 1..6usize).prop_flat_map(|(n, d)| {
            let value = prop_oneof![3 => Just(0.0), 2 => -2.0..2.0];
            prop::collection::vec(value, n * d).prop_map(move |v| Matrix::from_vec(n, d, v))
        })
    }

    proptest! {
        #[test]
        fn what_is_done_to_it_is_what_is_done_to_it_written_out(
            dense in matrices(), rows in prop::collection::vec(0..100usize, 0..8), reverse: bool,
            factor in prop_oneof![Just(0.0), Just(1.0), Just(3.0)],
        ) {
            let sparse = SparseMatrix::from_dense(&dense);
            prop_assert_eq!(&sparse.to_dense(), &dense);
            prop_assert!(sparse.values().iter().all(|&x| x != 0.0));
            if dense.nrows() > 0 {
                let rows: Vec<usize> = rows.iter().map(|i| i % dense.nrows()).collect();
                prop_assert_eq!(sparse.select_rows(&rows).to_dense(), dense.select_rows(&rows));
            }
            let mut columns: Vec<usize> = (0..dense.ncols()).skip(1).collect();
            if reverse {
                columns.reverse();
            }
            let selected = Matrix::from_fn(dense.nrows(), columns.len(), |i, j| dense[(i, columns[j])]);
            prop_assert_eq!(sparse.select_columns(&columns), SparseMatrix::from_dense(&selected));
            let factors: Vec<f64> = (0..dense.ncols()).map(|j| factor + (j % 2) as f64).collect();
            let scaled = Matrix::from_fn(dense.nrows(), dense.ncols(), |i, j| {
                dense[(i, j)] * factors[j]
            });
            prop_assert_eq!(sparse.scaled(&factors), SparseMatrix::from_dense(&scaled));
        }

        #[test]
        fn entries_may_come_in_any_order(dense in matrices(), seed: u64) {
            let mut entries = Vec::new();
            for i in 0..dense.nrows() {
                (0..dense.ncols()).for_each(|j| entries.push((i as u32, j as u32, dense[(i, j)])));
            }
            Rng::new(seed, Stream::Data).shuffle(&mut entries);
            let made = SparseMatrix::from_entries(dense.nrows(), dense.ncols(), entries);
            prop_assert_eq!(made, SparseMatrix::from_dense(&dense));
        }
    }

    /// Rows out of order, an entry in two parts, and zeros that are stored.
    #[test]
    fn compressed_rows_are_read_as_they_come() {
        let at = [2, 0, 2, 1, 1];
        let values = [5.0f32, 1.0, 2.0, 0.0, 3.0];
        let made = SparseMatrix::from_rows(3, &[0, 4, 4, 5], |e| at[e], &values).unwrap();
        let expected = vec![(0, 0, 1.0), (0, 2, 7.0), (2, 1, 3.0)];
        assert_eq!(made, SparseMatrix::from_entries(3, 3, expected));
        for starts in [&[][..], &[0, 4], &[1, 5], &[0, 5, 4, 5]] {
            let refused = SparseMatrix::from_rows(3, starts, |e| at[e], &values);
            assert!(refused.unwrap_err().to_string().contains("`indptr`"));
        }
        let refused = SparseMatrix::from_rows(2, &[0, 5], |e| at[e], &values).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the data, row 0, column `2`: there are 2 columns, counted from 0"
        );
    }

    #[test]
    #[should_panic(expected = "below the last")]
    fn entries_outside_are_refused() {
        SparseMatrix::from_entries(1, 1, vec![(1, 0, 1.0)]);
    }
}
