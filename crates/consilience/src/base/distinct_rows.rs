//! The distinct rows of a table, in an order that does not depend on the table's.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::base::kdtree::KdTree;
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// The distinct rows of a table, sorted by their first column, then the second, and so on.
///
/// Whatever is computed from [`values`](Self::values) alone, with ties broken by the place there, cannot
/// depend on the order of the table's rows.
#[derive(Clone, Debug)]
pub(super) struct DistinctRows {
    /// The distinct rows.
    pub(super) values: Matrix,
    /// The table's rows, equal ones side by side.
    order: Vec<u32>,
    /// Where in `order` the rows equal to each distinct row begin; one more at the end.
    starts: Vec<u32>,
}

impl DistinctRows {
    /// The distinct rows of `data`, which is checked. Memory is asked for a k-d tree of them as well.
    pub(super) fn new<T: Float>(data: &Table<'_, T>, run: &Run) -> Result<Self> {
        let (n, d) = (data.nrows(), data.ncols());
        let hint = "cluster a sample of the rows, or fewer columns";
        run.ask_memory(&format!("a tree of {n} rows and {d} columns"), Self::cost(n, d), hint)?;
        data.check()?;
        run.check()?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        let row = |i: u32| data.row(i as usize);
        run.install(|| {
            order.par_sort_unstable_by(|&i, &j| compare(row(i), row(j)).then(i.cmp(&j)));
        });
        run.check()?;
        let mut starts: Vec<u32> = (0..n as u32)
            .filter(|&at| {
                let at = at as usize;
                at == 0 || compare(row(order[at - 1]), row(order[at])) != Ordering::Equal
            })
            .collect();
        let mut values = Vec::with_capacity(starts.len() * d);
        for &start in &starts {
            // Adding 0 makes -0 the 0 that it equals.
            values.extend(row(order[start as usize]).iter().map(|x| x.to_f64() + 0.0));
        }
        let values = Matrix::from_vec(starts.len(), d, values);
        starts.push(n as u32);
        Ok(DistinctRows { values, order, starts })
    }

    /// How many bytes the rows of a table and a k-d tree of them take.
    pub(super) fn cost(n: usize, d: usize) -> u64 {
        8 * (n * (d + 2)) as u64 + KdTree::cost(n, d)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows the table has.
    pub(super) fn n_rows(&self) -> usize {
        self.order.len()
    }

    /// The table's rows that equal distinct row `u`, ascending.
    pub(super) fn rows(&self, u: usize) -> &[u32] {
        &self.order[self.starts[u] as usize..self.starts[u + 1] as usize]
    }

    /// The first row of each kind with every other that equals it.
    pub(super) fn equal_pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let kinds = (0..self.len()).map(|u| self.rows(u));
        kinds.flat_map(|rows| rows[1..].iter().map(|&row| (rows[0], row)))
    }
}

fn compare<T: Float>(a: &[T], b: &[T]) -> Ordering {
    let pairs = a.iter().zip(b);
    let unequal = pairs.map(|(a, b)| a.to_f64().partial_cmp(&b.to_f64()).expect("finite values"));
    unequal.into_iter().find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_one_and_the_order_is_their_own() {
        let values = [1.0, 2.0, 0.0, 5.0, 1.0, 2.0, -0.0, 5.0, 1.0, 1.0];
        let distinct = DistinctRows::new(&Table::new(5, 2, &values), &Run::new(0)).unwrap();
        assert_eq!(distinct.values.as_slice(), [0.0, 5.0, 1.0, 1.0, 1.0, 2.0]);
        assert_eq!((distinct.len(), distinct.n_rows()), (3, 5));
        assert_eq!([0, 1, 2].map(|u| distinct.rows(u)), [&[1, 3][..], &[4], &[0, 2]]);
    }

    #[test]
    fn memory_is_asked_for() {
        let (data, run) = (Matrix::zeros(9, 2), Run::new(0).memory(100));
        assert!(DistinctRows::new(&Table::from(&data), &run).is_err());
    }
}
