//! Optimal assignment: which column to give each row so that the total is largest.
//!
//! Successive shortest augmenting paths with node potentials (Jonker and Volgenant 1987, in the
//! rectangular form of Crouse 2016), on the non-zero cells alone. The usual dense codes pad to a
//! square; matching a clustering of $10^6$ singletons with anything would then need $10^{12}$
//! cells, while its table has only $10^6$ that are not zero.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::linalg::Matrix;

/// No row or column.
const NONE: usize = usize::MAX;

/// The assignment of rows to columns, one to one, with the largest total over the positive
/// `cells` (row, column, value); what is not listed is 0. Gives each row's column; a row that
/// gets nothing positive has none.
///
/// Among equally good assignments the answer is fixed by the order of rows and columns. Exact for
/// whole-number values up to $2^{52}$, else up to rounding.
///
/// # Panics
///
/// If a cell is out of range, negative or not finite.
///
/// # Cost
///
/// With $m$ the shorter side and $z$ cells: time $O(m z \log z)$ at worst, usually near $O(z)$;
/// memory $O(z)$ and one word a row and column.
pub fn max_assignment(
    rows: usize,
    columns: usize,
    cells: impl IntoIterator<Item = (usize, usize, f64)>,
) -> Vec<Option<usize>> {
    let cells = cells.into_iter().filter(|&(i, j, value)| {
        assert!(i < rows && j < columns, "cell ({i}, {j}) outside {rows} x {columns}");
        assert!(value.is_finite() && value >= 0.0, "cell ({i}, {j}) is {value}");
        value > 0.0
    });
    // The search runs once a row, so rows should be the shorter side.
    if rows <= columns {
        let solved = Search::new(rows, columns, cells.collect()).solve();
        return solved.into_iter().map(|j| (j != NONE).then_some(j)).collect();
    }
    let turned = cells.map(|(i, j, value)| (j, i, value)).collect();
    let mut column_of = vec![None; rows];
    for (j, i) in Search::new(columns, rows, turned).solve().into_iter().enumerate() {
        if i != NONE {
            column_of[i] = Some(j);
        }
    }
    column_of
}

/// [`max_assignment`] of a dense matrix of values $\ge 0$, completed: rows and columns left over,
/// which could only add zeros, are paired in order until one side runs out.
pub fn max_assignment_dense(values: &Matrix) -> Vec<Option<usize>> {
    let (rows, columns) = (values.nrows(), values.ncols());
    let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j, values[(i, j)])));
    let mut column_of = max_assignment(rows, columns, cells);
    let mut taken = vec![false; columns];
    column_of.iter().flatten().for_each(|&j| taken[j] = true);
    let mut left = (0..columns).filter(|&j| !taken[j]);
    column_of.iter_mut().filter(|j| j.is_none()).for_each(|j| *j = left.next());
    column_of
}

/// A distance in the search, ordered by value, then by column.
#[derive(Clone, Copy, PartialEq)]
struct Reached(f64, usize);

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Minimises costs $c_{ij} = m_i - x_{ij} \ge 0$, $m_i$ being row $i$'s largest value. Every row may
/// also stay alone at cost $m_i$, as if it had a column of its own worth 0; so a complete
/// assignment always exists, and a row once left alone stays so.
struct Search {
    /// Cells of row `i`: `cells[first[i]..first[i + 1]]`, as (column, cost).
    first: Vec<usize>,
    cells: Vec<(usize, f64)>,
    /// $m_i$.
    alone: Vec<f64>,
    /// Potentials: reduced costs $c_{ij} - u_i - v_j$ are never negative.
    u: Vec<f64>,
    v: Vec<f64>,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    /// Of the search under way: distance to each column, the row it was reached from, whether it
    /// is settled.
    distance: Vec<f64>,
    from: Vec<usize>,
    settled: Vec<bool>,
}

impl Search {
    fn new(rows: usize, columns: usize, mut cells: Vec<(usize, usize, f64)>) -> Self {
        cells.sort_by_key(|&(i, j, _)| (i, j));
        let mut alone = vec![0.0f64; rows];
        let mut first = vec![0; rows + 1];
        for &(i, _, value) in &cells {
            alone[i] = alone[i].max(value);
            first[i + 1] += 1;
        }
        for i in 0..rows {
            first[i + 1] += first[i];
        }
        Search {
            first,
            cells: cells.into_iter().map(|(i, j, value)| (j, alone[i] - value)).collect(),
            alone,
            u: vec![0.0; rows],
            v: vec![0.0; columns],
            column_of: vec![NONE; rows],
            row_of: vec![NONE; columns],
            distance: vec![f64::INFINITY; columns],
            from: vec![NONE; columns],
            settled: vec![false; columns],
        }
    }

    fn solve(mut self) -> Vec<usize> {
        for i in 0..self.column_of.len() {
            self.assign(i);
        }
        self.column_of
    }

    /// Finds a place for row `start`, moving others along the cheapest alternating path.
    fn assign(&mut self, start: usize) {
        let mut heap = BinaryHeap::new();
        let mut touched = Vec::new();
        let mut done = Vec::new();
        // The row of the search tree that it would be cheapest to leave alone.
        let mut loner = (f64::INFINITY, NONE);
        let (mut i, mut reached) = (start, 0.0);
        let end = loop {
            let left_alone = reached + self.alone[i] - self.u[i];
            if left_alone < loner.0 {
                loner = (left_alone, i);
            }
            for &(j, cost) in &self.cells[self.first[i]..self.first[i + 1]] {
                let distance = reached + cost - self.u[i] - self.v[j];
                if !self.settled[j] && distance < self.distance[j] {
                    if self.from[j] == NONE {
                        touched.push(j);
                    }
                    self.distance[j] = distance;
                    self.from[j] = i;
                    heap.push(Reverse(Reached(distance, j)));
                }
            }
            // Entries that were bettered since they were pushed are passed over.
            let nearest = std::iter::from_fn(|| heap.pop())
                .find(|&Reverse(Reached(d, j))| !self.settled[j] && d == self.distance[j]);
            match nearest {
                Some(Reverse(Reached(d, j))) if d < loner.0 => {
                    self.settled[j] = true;
                    done.push(j);
                    reached = d;
                    if self.row_of[j] == NONE {
                        break j;
                    }
                    i = self.row_of[j];
                }
                _ => {
                    reached = loner.0;
                    break NONE;
                }
            }
        };

        // New potentials keep reduced costs >= 0 and make those along the path 0.
        self.u[start] += reached;
        for &j in &done {
            let slack = reached - self.distance[j];
            self.v[j] -= slack;
            if self.row_of[j] != NONE {
                self.u[self.row_of[j]] += slack;
            }
        }
        // The place that falls free passes down the path to `start`.
        let mut j = end;
        if end == NONE {
            j = std::mem::replace(&mut self.column_of[loner.1], NONE);
        }
        while j != NONE {
            let i = self.from[j];
            self.row_of[j] = i;
            j = std::mem::replace(&mut self.column_of[i], j);
        }
        for j in touched {
            self.distance[j] = f64::INFINITY;
            self.from[j] = NONE;
            self.settled[j] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(values: &Matrix, column_of: &[Option<usize>]) -> f64 {
        column_of.iter().enumerate().filter_map(|(i, j)| j.map(|j| values[(i, j)])).sum()
    }

    /// The best total over all one-to-one assignments, by trying them.
    fn by_trying(values: &Matrix, i: usize, taken: &mut Vec<bool>) -> f64 {
        if i == values.nrows() {
            return 0.0;
        }
        let mut best = by_trying(values, i + 1, taken);
        for j in 0..values.ncols() {
            if !taken[j] {
                taken[j] = true;
                best = best.max(values[(i, j)] + by_trying(values, i + 1, taken));
                taken[j] = false;
            }
        }
        best
    }

    fn assert_one_to_one(column_of: &[Option<usize>]) {
        let mut columns: Vec<_> = column_of.iter().flatten().collect();
        columns.sort_unstable();
        assert!(columns.windows(2).all(|pair| pair[0] != pair[1]), "{column_of:?}");
    }

    fn matrix(
        values: impl Strategy<Value = f64> + 'static,
        most: usize,
    ) -> impl Strategy<Value = Matrix> {
        let values = values.boxed();
        (1..=most, 1..=most).prop_flat_map(move |(rows, columns)| {
            proptest::collection::vec(values.clone(), rows * columns)
                .prop_map(move |values| Matrix::from_vec(rows, columns, values))
        })
    }

    #[test]
    fn greedy_would_be_wrong() {
        let values = Matrix::from_vec(2, 2, vec![9.0, 8.0, 8.0, 1.0]);
        assert_eq!(max_assignment_dense(&values), [Some(1), Some(0)]);
    }

    #[test]
    fn more_rows_than_columns_and_the_reverse() {
        let values = Matrix::from_vec(3, 1, vec![2.0, 7.0, 3.0]);
        assert_eq!(max_assignment_dense(&values), [None, Some(0), None]);
        let values = Matrix::from_vec(1, 3, vec![2.0, 7.0, 3.0]);
        assert_eq!(max_assignment_dense(&values), [Some(1)]);
    }

    #[test]
    fn zeros_are_left_out_or_completed_in_order() {
        assert_eq!(max_assignment(3, 2, [(1, 1, 5.0)]), [None, Some(1), None]);
        let values = Matrix::from_vec(3, 2, vec![0.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
        assert_eq!(max_assignment_dense(&values), [Some(0), Some(1), None]);
        assert_eq!(max_assignment(0, 4, []), []);
    }

    /// A million singletons against each other: the dense table would have $10^{12}$ cells.
    #[test]
    fn size_follows_the_cells_not_the_square() {
        let n = 1_000_000;
        let column_of = max_assignment(n, n, (0..n).map(|i| (i, n - 1 - i, 1.0)));
        assert!(column_of.iter().enumerate().all(|(i, &j)| j == Some(n - 1 - i)));
    }

    proptest! {
        #[test]
        fn small_whole_numbers_with_many_ties(values in matrix((0..4u8).prop_map(f64::from), 6)) {
            let column_of = max_assignment_dense(&values);
            assert_one_to_one(&column_of);
            let matched = column_of.iter().flatten().count();
            prop_assert_eq!(matched, values.nrows().min(values.ncols()));
            let mut taken = vec![false; values.ncols()];
            prop_assert_eq!(total(&values, &column_of), by_trying(&values, 0, &mut taken));
        }

        #[test]
        fn large_and_fractional_values(
            values in matrix(prop_oneof![Just(0.0), 0.0..1.0, 0.0..1e15], 6),
        ) {
            let column_of = max_assignment_dense(&values);
            assert_one_to_one(&column_of);
            let best = by_trying(&values, 0, &mut vec![false; values.ncols()]);
            // Potentials are sums of a few values: a few roundings of the largest.
            prop_assert!((total(&values, &column_of) - best).abs() <= 1e-13 * best);
        }

        /// Against an independent code, at sizes that cannot be tried out.
        #[test]
        fn agrees_with_lapjv(values in matrix((0..1000u16).prop_map(f64::from), 40)) {
            let side = values.nrows().max(values.ncols());
            let padded = lapjv::Matrix::from_shape_fn((side, side), |(i, j)| {
                if i < values.nrows() && j < values.ncols() { -values[(i, j)] } else { 0.0 }
            });
            let (column_of, _) = lapjv::lapjv(&padded).unwrap();
            let best = -lapjv::cost(&padded, &column_of);
            prop_assert_eq!(total(&values, &max_assignment_dense(&values)), best);
        }
    }
}
