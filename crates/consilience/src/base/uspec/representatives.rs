//! Rows that stand for all, and the nearest of them.

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::squared_distance;
use crate::base::kmeans::{KMeansParams, Packed, at_most};
use crate::base::predict::nearest_centres;
use crate::base::start::{Start, centres_at};
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::rng::Rng;
use crate::run::Run;

/// How many rows are drawn for each representative.
pub(super) const CANDIDATES: usize = 10;

/// How many neighbours of its nearest representative an object looks at for each that it wants.
const LOOKED_AT: usize = 10;

/// Iterations of the k-means that makes the representatives, and of the one that groups them. They
/// need not settle.
const ITERATIONS: usize = 10;
const GROUP_ITERATIONS: usize = 20;

/// Representatives of a table, arranged so that those nearest to a row are found without a look at
/// all of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Representatives {
    rows: Matrix,
    neighbours: usize,
    centres: Matrix,
    /// The representatives of each group.
    #[serde(skip)]
    groups: Vec<Vec<u32>>,
    /// Every representative, and those nearest to it from the nearest on.
    #[serde(skip)]
    around: Vec<u32>,
}

impl Representatives {
    /// Draws rows of `data` and makes of them `count` representatives, or one of each different row if
    /// there are fewer.
    pub(super) fn choose<T: Float>(
        data: Table<'_, T>,
        count: usize,
        neighbours: usize,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<Self> {
        let n = data.nrows();
        let drawn = match CANDIDATES * count {
            few if few < n => rng.distinct(n, few),
            _ => (0..n).collect(),
        };
        let candidates = centres_at(&data, &drawn);
        let rows = centres_of(&candidates, count.min(n), ITERATIONS, run, rng)?;
        drop(candidates);
        let groups = rows.nrows().isqrt();
        let centres = centres_of(&rows, groups, GROUP_ITERATIONS, run, rng)?;
        Self::new(rows, &centres, neighbours, run)
    }

    /// Representatives `rows` in groups around `centres`; of a row, `neighbours` are asked for.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit, if a value is not finite, or if the run is cancelled.
    pub fn new(rows: Matrix, centres: &Matrix, neighbours: usize, run: &Run) -> Result<Self> {
        Table::from(&rows).check()?;
        let p = rows.nrows();
        let neighbours = neighbours.clamp(1, p);
        let of_rows = nearest_centres(&rows, centres, run)?;
        let mut groups = vec![Vec::new(); centres.nrows()];
        of_rows.iter().enumerate().for_each(|(j, &group)| groups[group as usize].push(j as u32));
        // A group of none would have no nearest representative to offer.
        let kept: Vec<usize> = (0..groups.len()).filter(|&g| !groups[g].is_empty()).collect();
        let centres = centres.select_rows(&kept);
        groups.retain(|group| !group.is_empty());
        let width = (LOOKED_AT * neighbours + 1).min(p);
        let mut around = vec![0; p * width];
        let of_one = |order: &mut Vec<(f64, u32)>, (i, around): (usize, &mut [u32])| {
            run.check()?;
            order.clear();
            vectorised(
                #[inline(always)]
                || {
                    for (j, row) in rows.iter_rows().enumerate() {
                        order.push((squared_distance(row, rows.row(i)), j as u32));
                    }
                },
            );
            let nearer = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            order.select_nth_unstable_by(width - 1, nearer);
            order[..width].sort_unstable_by(nearer);
            around.iter_mut().zip(&*order).for_each(|(to, from)| *to = from.1);
            Ok(())
        };
        run.install(|| {
            let each = around.par_chunks_exact_mut(width).enumerate();
            each.map_init(Vec::new, of_one).collect::<Result<()>>()
        })?;
        Ok(Representatives { rows, neighbours, centres, groups, around })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.nrows()
    }

    /// Whether there are none, which never is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The representatives, one per row.
    pub fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// The centres of their groups, one per row.
    pub fn centres(&self) -> &Matrix {
        &self.centres
    }

    /// How many neighbours a row has.
    pub fn neighbours(&self) -> usize {
        self.neighbours
    }

    /// The group that each row of `data` is nearest to.
    pub(super) fn groups_of<T: Float>(&self, data: Table<'_, T>, run: &Run) -> Result<Vec<u32>> {
        nearest_centres(data, &self.centres, run)
    }

    /// Finds the representatives nearest to each of `rows`, of which `groups` are the nearest groups,
    /// from the nearest on: which they are, and their squared distances.
    pub(super) fn nearest<'a, T: Float>(
        &self,
        rows: impl Iterator<Item = &'a [T]>,
        groups: &[u32],
        ids: &mut [u32],
        squares: &mut [f64],
    ) {
        let (wanted, width) = (self.neighbours, self.around.len() / self.len());
        let places = ids.chunks_exact_mut(wanted).zip(squares.chunks_exact_mut(wanted));
        let mut each = rows.zip(groups).zip(places);
        vectorised(
            #[inline(always)]
            || {
                for ((row, &group), (ids, squares)) in each.by_ref() {
                    let distance = |j: u32| squared_distance(row, self.rows.row(j as usize));
                    let mut nearest = (0, f64::INFINITY);
                    for &j in &self.groups[group as usize] {
                        let square = distance(j);
                        if square < nearest.1 {
                            nearest = (j as usize, square);
                        }
                    }
                    let around = &self.around[nearest.0 * width..(nearest.0 + 1) * width];
                    for (found, &j) in around.iter().enumerate() {
                        let square = distance(j);
                        let found = found.min(wanted);
                        let place = squares[..found].partition_point(|&other| other <= square);
                        if place < wanted {
                            let last = found.min(wanted - 1);
                            ids.copy_within(place..last, place + 1);
                            squares.copy_within(place..last, place + 1);
                            (ids[place], squares[place]) = (j, square);
                        }
                    }
                }
            },
        );
    }
}

/// The centres of `k` clusters, or of as many as there are different rows.
fn centres_of(
    rows: &Matrix,
    k: usize,
    iterations: usize,
    run: &Run,
    rng: &mut Rng,
) -> Result<Matrix> {
    let packed = Packed::new(rows, run)?;
    let params =
        |k| KMeansParams::new(k).start(Start::Random).max_iter(iterations).tol(0.0).check();
    Ok(at_most(k, |k| params(k)?.fit_packed(&packed, run, rng))?.0.centres)
}
