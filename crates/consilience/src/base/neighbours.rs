//! Nearest rows: exact, by a k-d tree for few columns, by looking at all rows otherwise.

use rayon::prelude::*;

use crate::base::distance::check_columns;
use crate::base::distinct_rows::DistinctRows;
use crate::base::kdtree::{Distances, KdTree, Node, Visitor, any_within};
use crate::base::predict::nearest_centres;
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::vectorised;
use crate::math;
use crate::run::Run;

/// Points that are searched for together: as many as share a look at a leaf where all leaves are looked at.
const BLOCK: usize = 64;

/// The neighbour whose distance is a row's scale.
const SCALE: usize = 7;

/// The nearest other rows of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    k: usize,
    rows: Vec<u32>,
    squares: Vec<f64>,
}

impl Neighbours {
    /// The `k` nearest other rows of every row of `data`. Of rows equally far, those whose values come first
    /// when rows are sorted are taken; only equal rows are told apart by the order of the table.
    ///
    /// # Errors
    ///
    /// Unless `k` is at least 1 and below the number of rows.
    ///
    /// ```
    /// use consilience::base::Neighbours;
    /// use consilience::{Matrix, Run};
    /// let data = Matrix::from_vec(4, 1, vec![0.0, 5.0, 1.0, 7.0]);
    /// let neighbours = Neighbours::new(&data, 2, &Run::new(0))?;
    /// assert_eq!(neighbours.of(0), (&[2, 1][..], &[1.0, 25.0][..]));
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn new<'a, T: Float>(data: impl Into<Table<'a, T>>, k: usize, run: &Run) -> Result<Self> {
        let data = data.into();
        let n = data.nrows();
        if k == 0 || (k >= n && n > 0) {
            let expected = format!("between 1 and {}, one less than the rows", n.saturating_sub(1));
            return Err(Error::parameter("neighbours", expected, k));
        }
        let hint = "ask for fewer neighbours";
        run.ask_memory(&format!("{k} neighbours of {n} rows"), (24 * n * k) as u64, hint)?;
        let distinct = DistinctRows::new(&data, run)?;
        run.install(|| {
            let (mut rows, mut squares) = (vec![0; n * k], vec![0.0; n * k]);
            let tree = KdTree::new(&distinct.values);
            // One more than asked for: the row itself is the first.
            let near = nearest_distinct(&tree, k + 1, run)?;
            let width = near.len() / distinct.len();
            let mut of_row = vec![0; n];
            for u in 0..distinct.len() {
                distinct.rows(u).iter().for_each(|&row| of_row[row as usize] = u);
            }
            rows.par_chunks_mut(k).zip(squares.par_chunks_mut(k)).enumerate().for_each(
                |(i, (rows, squares))| {
                    let near = near[of_row[i] * width..][..width].iter();
                    let all = near.flat_map(|&(square, u)| {
                        distinct.rows(u as usize).iter().map(move |&row| (square, row))
                    });
                    let others = all.filter(|&(_, row)| row as usize != i);
                    for ((into, square), found) in rows.iter_mut().zip(squares).zip(others) {
                        (*square, *into) = found;
                    }
                },
            );
            Ok(Neighbours { k, rows, squares })
        })
    }

    /// The nearest rows of row `i`, nearest first, and their squared distances.
    pub fn of(&self, i: usize) -> (&[u32], &[f64]) {
        let range = i * self.k..(i + 1) * self.k;
        (&self.rows[range.clone()], &self.squares[range])
    }

    /// The nearest rows of row `i`, nearest first, and their affinities
    /// $\exp(-\lVert x_i - x_j \rVert^2 / \sigma_i \sigma_j)$, where $\sigma_i$ is the distance of row
    /// $i$ to its seventh neighbour: dense and sparse places count alike.
    pub(crate) fn affinities(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let scale = |i: usize| self.of(i).1[SCALE.min(self.k) - 1];
        let (rows, squares) = self.of(i);
        rows.iter().zip(squares).map(move |(&j, &square)| {
            // A product of roots, since a product of squares could be too large or too small.
            let scales = scale(i).sqrt() * scale(j as usize).sqrt();
            // Copies of a row are as near as can be, whatever the scale.
            (j, if square == 0.0 { 1.0 } else { math::exp(-square / scales) })
        })
    }

    /// How many of each row.
    pub fn k(&self) -> usize {
        self.k
    }
}

/// Rows of a table, ready to be found.
#[derive(Clone, Debug)]
pub struct NearestRow {
    distinct: DistinctRows,
    tree: KdTree,
}

impl NearestRow {
    /// The rows of `data`.
    pub fn new<'a, T: Float>(data: impl Into<Table<'a, T>>, run: &Run) -> Result<Self> {
        let distinct = DistinctRows::new(&data.into(), run)?;
        let tree = run.install(|| KdTree::new(&distinct.values));
        Ok(NearestRow { distinct, tree })
    }

    /// The nearest of the rows for every row of `data`. Of rows equally far, the one whose values come
    /// first when rows are sorted, and the first of equal rows.
    ///
    /// # Errors
    ///
    /// If `data` has another number of columns, or a value is not finite.
    pub fn of<'a, T: Float>(&self, data: impl Into<Table<'a, T>>, run: &Run) -> Result<Vec<u32>> {
        let data = data.into();
        data.check()?;
        check_columns(data.ncols(), &self.distinct.values)?;
        if !self.tree.is_worth_walking() {
            let found = nearest_centres(data, &self.distinct.values, run)?;
            return Ok(found.into_iter().map(|u| self.distinct.rows(u as usize)[0]).collect());
        }
        let mut rows = vec![0; data.nrows()];
        let blocks = |rows: &mut [u32]| {
            rows.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, rows)| {
                let write = |i: usize, point: &mut [f64]| {
                    let values = data.row(block * BLOCK + i).iter();
                    point.iter_mut().zip(values).for_each(|(to, from)| *to = from.to_f64());
                };
                let found = search(&self.tree, rows.len(), 1, run, write)?;
                for (row, nearest) in rows.iter_mut().zip(found) {
                    *row = self.distinct.rows(nearest.found[0].1 as usize)[0];
                }
                Ok(())
            })
        };
        run.install(|| blocks(&mut rows))?;
        Ok(rows)
    }
}

/// The squared distance of every distinct row to its `m`-th nearest row, itself and its equals included.
pub(super) fn core_squares(
    distinct: &DistinctRows,
    tree: &KdTree,
    m: usize,
    run: &Run,
) -> Result<Vec<f64>> {
    let near = nearest_distinct(tree, m, run)?;
    let width = m.min(tree.len());
    let core = near.par_chunks(width).map(|near| {
        let mut count = 0;
        let mut reaches = |u: u32| {
            count += distinct.rows(u as usize).len();
            count >= m
        };
        near.iter().find(|near| reaches(near.1)).expect("there are m rows").0
    });
    Ok(core.collect())
}

/// The nearest rows of the tree for every row of it, itself first, as squared distances and rows: `k` of
/// them, or all if there are fewer.
fn nearest_distinct(tree: &KdTree, k: usize, run: &Run) -> Result<Vec<(f64, u32)>> {
    let k = k.min(tree.len());
    let mut by_place = vec![(0.0, 0); tree.len() * k];
    // Rows side by side in the tree walk the same ways one after the other.
    by_place.par_chunks_mut(k * BLOCK).enumerate().try_for_each(|(block, near)| {
        let start = block * BLOCK;
        let all = search(tree, near.len() / k, k, run, |i, point| tree.point(start + i, point))?;
        for (near, found) in near.chunks_exact_mut(k).zip(all) {
            near.copy_from_slice(&found.found);
        }
        Ok(())
    })?;
    let mut near = vec![(0.0, 0); tree.len() * k];
    for (by_place, &row) in by_place.chunks_exact(k).zip(tree.rows()) {
        near[row as usize * k..][..k].copy_from_slice(by_place);
    }
    Ok(near)
}

/// The `k` nearest rows of the tree for each of `count` points, which `point` writes.
fn search<'a>(
    tree: &'a KdTree,
    count: usize,
    k: usize,
    run: &Run,
    point: impl Fn(usize, &mut [f64]),
) -> Result<Vec<Nearest<'a>>> {
    run.check()?;
    let mut all = vec![Nearest { rows: tree.rows(), k, found: Vec::with_capacity(k + 1) }; count];
    let room = tree.room();
    let mut points = room.repeat(count);
    let width = room.len();
    points.chunks_exact_mut(width).enumerate().for_each(|(i, room)| point(i, room));
    let looking = &mut all;
    vectorised(
        #[inline(always)]
        || {
            if tree.is_worth_walking() {
                for (point, nearest) in points.chunks_exact(width).zip(looking.iter_mut()) {
                    tree.walk(point, nearest);
                }
            } else {
                for leaf in 0..tree.n_leaves() {
                    for (point, nearest) in points.chunks_exact(width).zip(looking.iter_mut()) {
                        tree.show(leaf, point, nearest);
                    }
                }
            }
        },
    );
    Ok(all)
}

/// The nearest rows met so far, nearest first.
#[derive(Clone)]
struct Nearest<'a> {
    /// The row at every place of the tree.
    rows: &'a [u32],
    k: usize,
    found: Vec<(f64, u32)>,
}

impl Nearest<'_> {
    #[inline(always)]
    fn reach(&self) -> f64 {
        if self.found.len() < self.k { f64::INFINITY } else { self.found[self.k - 1].0 }
    }
}

impl Visitor for Nearest<'_> {
    #[inline(always)]
    fn enters(&self, _: Node, gap: f64) -> bool {
        gap <= self.reach()
    }

    #[inline(always)]
    fn leaf(&mut self, place: usize, distances: &Distances) {
        if !any_within(distances, self.reach()) {
            return;
        }
        for (&distance, &row) in distances.iter().zip(&self.rows[place..]) {
            if distance > self.reach() {
                continue;
            }
            let new = (distance, row);
            let at = self.found.partition_point(|old| *old < new);
            if at < self.k {
                self.found.truncate(self.k - 1);
                self.found.insert(at, new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};

    fn table(n: usize, d: usize, seed: u64, grid: bool) -> Matrix {
        let mut rng = Rng::new(seed, Stream::Data);
        let values = (0..n * d).map(|_| if grid { rng.below(3) as f64 } else { rng.normal() });
        Matrix::from_vec(n, d, values.collect())
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
    }

    proptest! {
        #[test]
        fn neighbours_are_those_of_a_sorted_list(
            n in 2usize..90, d in 1usize..24, seed: u64, grid: bool, k in 1usize..12,
        ) {
            let (data, k) = (table(n, d, seed, grid), k.min(n - 1));
            let neighbours = Neighbours::new(&data, k, &Run::new(0).threads(1)).unwrap();
            for i in 0..n {
                // By distance, then by values, then by place in the table.
                let mut all: Vec<(f64, &[f64], u32)> = (0..n)
                    .filter(|&j| j != i)
                    .map(|j| (distance(data.row(i), data.row(j)), data.row(j), j as u32))
                    .collect();
                all.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let (rows, squares): (Vec<u32>, Vec<f64>) =
                    all[..k].iter().map(|&(square, _, j)| (j, square)).unzip();
                prop_assert_eq!(neighbours.of(i), (&rows[..], &squares[..]));
            }
        }

        #[test]
        fn the_nearest_row_is_that_of_a_plain_search(
            n in 1usize..90, q in 1usize..70, d in 1usize..24, seed: u64, grid: bool,
        ) {
            let (data, queries) = (table(n, d, seed, grid), table(q, d, !seed, grid));
            let run = Run::new(0).threads(1);
            let found = NearestRow::new(&data, &run).unwrap().of(&queries, &run).unwrap();
            for (query, found) in queries.iter_rows().zip(found) {
                let nearest = data
                    .iter_rows()
                    .enumerate()
                    .map(|(i, row)| (distance(query, row), row, i as u32))
                    .min_by(|a, b| a.partial_cmp(b).unwrap());
                let (square, row, i) = nearest.unwrap();
                // All pairs are looked at by sums in another order, which rounding may tell apart.
                let close = distance(query, data.row(found as usize)) <= square * (1.0 + 1e-12);
                prop_assert!(found == i || d > 15 && close, "{row:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (data, run) = (table(5, 2, 0, false), Run::new(0));
        for k in [0, 5] {
            assert!(Neighbours::new(&data, k, &run).is_err());
        }
        let nearest = NearestRow::new(&data, &run).unwrap();
        assert!(nearest.of(&Matrix::zeros(2, 3), &run).is_err());
        assert!(nearest.of(&Matrix::from_vec(1, 2, vec![0.0, f64::NAN]), &run).is_err());
    }
}
