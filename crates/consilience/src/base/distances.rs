//! Distances of all pairs of clusters, for the links that need them.
//!
//! Only the triangle below the diagonal is kept, row by row, so that a cluster's distances are one stretch of
//! memory for the clusters before it and scattered for those after it. Hence
//!
//! * a merged cluster stays in the later of the two rows,
//! * the nearest of every row is found while the triangle is filled, that of a merged cluster while its
//!   distances are, and either holds until it merges itself: merging two others never brings them nearer,
//! * for the same reason, a cluster whose nearest was farther than what is found already is not looked at.
//!
//! # Cost
//!
//! Memory $4 n^2$ bytes; a merge takes $O(n)$, and so does a look that is not spared.

use rayon::prelude::*;

use crate::base::distinct_rows::DistinctRows;
use crate::base::linkage::Store;
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;

/// The distances of all pairs of clusters. Rows whose clusters are gone are left out when a quarter are.
pub(super) struct Distances<F> {
    values: Vec<f64>,
    /// The cluster of every row of the triangle.
    at: Vec<u32>,
    /// The weight of every row's cluster.
    weights: Vec<f64>,
    /// Added to distances from a row's cluster: 0, or infinity if it is gone.
    gone: Vec<f64>,
    /// The nearest of every row's cluster when it was looked for.
    near: Vec<Near>,
    /// The row of every cluster.
    row: Vec<u32>,
    /// After how many merges every cluster was last changed.
    changed: Vec<u32>,
    merges: u32,
    /// The distance of a third cluster from two that merge.
    formula: F,
}

/// A nearest cluster.
#[derive(Clone, Copy, Debug)]
struct Near {
    distance: f64,
    cluster: u32,
    /// After how many merges this was so.
    when: u32,
}

/// Rows of the triangle that a thread fills in one go.
const ROWS: usize = 16;

/// Numbers that stay in the nearest cache but one.
const NUMBERS: usize = 1 << 15;

/// Points that are handled together at least, however many coordinates they have.
const LEAST_TOGETHER: usize = 64;

/// Where row `i` of the triangle begins.
#[inline(always)]
fn start(i: usize) -> usize {
    i * i.wrapping_sub(1) / 2
}

/// Two clusters that merge and a third: their weights and distances.
#[derive(Clone, Copy)]
pub(super) struct Triple {
    /// Of the two that merge and of the third.
    weights: [f64; 3],
    /// The distances of the two from the third.
    to: [f64; 2],
    /// The distance between the two.
    between: f64,
}

/// Average link.
#[inline(always)]
pub(super) fn average(Triple { weights: [a, b, _], to: [x, y], .. }: Triple) -> f64 {
    (a * x + b * y) / (a + b)
}

/// Complete link.
#[inline(always)]
pub(super) fn complete(Triple { to: [x, y], .. }: Triple) -> f64 {
    if x > y { x } else { y }
}

/// Ward, by the formula of Lance and Williams.
#[inline(always)]
pub(super) fn ward(Triple { weights: [a, b, c], to: [x, y], between }: Triple) -> f64 {
    ((a + c) * x + (b + c) * y - c * between) / (a + b + c)
}

/// The Euclidean distance of two rows, given its square.
#[inline(always)]
pub(super) fn euclidean(_: [f64; 2], square: f64) -> f64 {
    square.sqrt()
}

/// How many bytes the distances of `n` rows take, besides the distinct ones.
pub(super) fn cost(n: usize, d: usize) -> u64 {
    4 * (n as u64).pow(2) + (n * (8 * d + 128)) as u64
}

impl<F: Fn(Triple) -> f64> Distances<F> {
    /// The distances of the rows, each a cluster; `of_rows` makes them of weights and squares.
    pub(super) fn new(
        distinct: &DistinctRows,
        of_rows: impl Fn([f64; 2], f64) -> f64 + Sync,
        formula: F,
        run: &Run,
    ) -> Self {
        let u = distinct.len();
        let weights: Vec<f64> = (0..u).map(|u| distinct.rows(u).len() as f64).collect();
        let points = &distinct.values;
        let columns = Matrix::from_fn(points.ncols(), u, |f, i| points[(i, f)]);
        let mut values = vec![0.0; start(u)];
        let mut rows = Vec::with_capacity(u);
        let mut left = &mut values[..];
        for i in 0..u {
            let (row, rest) = left.split_at_mut(i);
            rows.push(row);
            left = rest;
        }
        // The nearest of those before and after each; the first of equals, however the rows are shared out.
        let nearest = rows
            .par_chunks_mut(ROWS)
            .enumerate()
            .fold(
                || vec![(f64::INFINITY, 0); u],
                |mut near: Vec<(f64, u32)>, (chunk, rows)| {
                    // Who looks for the nearest next is told that it is over.
                    if run.check().is_ok() {
                        let first = chunk * ROWS;
                        fill(&columns, points, first, rows, |i, j, square| {
                            of_rows([weights[i], weights[j]], square)
                        });
                        let rows = rows.iter().enumerate();
                        rows.for_each(|(i, row)| meet(&mut near, first + i, row));
                    }
                    near
                },
            )
            .reduce_with(|mut a, b| {
                for (a, b) in a.iter_mut().zip(b) {
                    *a = if b < *a { b } else { *a };
                }
                a
            });
        let near = nearest.into_iter().flatten();
        Distances {
            values,
            at: (0..u as u32).collect(),
            weights,
            gone: vec![0.0; u],
            near: near.map(|(distance, cluster)| Near { distance, cluster, when: 0 }).collect(),
            row: (0..u as u32).collect(),
            changed: vec![0; u],
            merges: 0,
            formula,
        }
    }

    /// Moves the rows of present clusters together.
    fn compact(&mut self) {
        let present: Vec<usize> = (0..self.at.len()).filter(|&i| self.gone[i] == 0.0).collect();
        for (new, &old) in present.iter().enumerate() {
            for (new_other, &old_other) in present[..new].iter().enumerate() {
                self.values[start(new) + new_other] = self.values[start(old) + old_other];
            }
            self.at[new] = self.at[old];
            self.weights[new] = self.weights[old];
            self.near[new] = self.near[old];
            self.row[self.at[new] as usize] = new as u32;
        }
        self.values.truncate(start(present.len()));
        self.at.truncate(present.len());
        self.gone = vec![0.0; present.len()];
    }

    /// The nearest of row `a`'s cluster among those before and, given the nearest of these, those after it.
    fn look(&self, a: usize, after: impl FnOnce((f64, usize)) -> (f64, usize)) -> Near {
        let before = &self.values[start(a)..][..a];
        let least = vectorised(
            #[inline(always)]
            || least(before, &self.gone),
        );
        let is_it = |(x, gone): (&f64, &f64)| x + gone == least;
        let place = before.iter().zip(&self.gone).position(is_it).unwrap_or(0);
        let (distance, row) = after((least, place));
        Near { distance, cluster: self.at[row], when: self.merges }
    }
}

/// Distances from some points, the first of which is `first`, to all before each; `columns` are the points
/// again, coordinate by coordinate. `of` makes them of two numbers of points and the square.
fn fill(
    columns: &Matrix,
    points: &Matrix,
    first: usize,
    rows: &mut [&mut [f64]],
    of: impl Fn(usize, usize, f64) -> f64,
) {
    // So many others stay in the cache while some points pass by.
    let together = (NUMBERS / points.ncols()).max(LEAST_TOGETHER);
    let last = first + rows.len();
    vectorised(
        #[inline(always)]
        || {
            for start in (0..last).step_by(together) {
                for (i, row) in (first..).zip(&mut *rows) {
                    let end = (start + together).min(i);
                    let Some(out) = row.get_mut(start..end) else { continue };
                    for (column, &x) in columns.iter_rows().zip(points.row(i)) {
                        for (out, y) in out.iter_mut().zip(&column[start..end]) {
                            *out += (x - y) * (x - y);
                        }
                    }
                    for (j, out) in (start..).zip(out) {
                        *out = of(i, j, *out);
                    }
                }
            }
        },
    );
}

/// Takes the distances of item `i` from those before it into account.
fn meet(near: &mut [(f64, u32)], i: usize, distances: &[f64]) {
    let mut own = (f64::INFINITY, 0);
    for (j, (&distance, near)) in distances.iter().zip(&mut *near).enumerate() {
        if distance < own.0 {
            own = (distance, j as u32);
        }
        if distance < near.0 {
            *near = (distance, i as u32);
        }
    }
    near[i] = if own < near[i] { own } else { near[i] };
}

impl<F: Fn(Triple) -> f64> Store for Distances<F> {
    fn items(&self) -> usize {
        self.row.len()
    }

    fn nearest(&mut self, a: u32) -> (u32, f64) {
        let a = self.row[a as usize] as usize;
        let near = self.near[a];
        if self.changed[near.cluster as usize] > near.when {
            self.near[a] = self.look(a, |mut best| {
                let mut place = start(a + 1) + a;
                for other in a + 1..self.at.len() {
                    // Averages of what is no nearer may be so by their rounding.
                    let least = self.near[other].distance * (1.0 - 1e-12) + self.gone[other];
                    if least < best.0 && self.values[place] < best.0 {
                        best = (self.values[place], other);
                    }
                    place += other;
                }
                best
            });
        }
        (self.near[a].cluster, -self.near[a].distance)
    }

    fn merge(&mut self, a: u32, b: u32) {
        let [a_at, b_at] = [a, b].map(|cluster| self.row[cluster as usize] as usize);
        let (left, kept) = (a_at.min(b_at), a_at.max(b_at));
        let [a_weight, b_weight] = [left, kept].map(|row| self.weights[row]);
        let (between, others) = (self.values[start(kept) + left], &self.weights);
        let formula = |c: usize, x: f64, y: f64| {
            (self.formula)(Triple { weights: [a_weight, b_weight, others[c]], to: [x, y], between })
        };
        self.gone[left] = f64::INFINITY;
        self.at[kept] = a;
        self.row[a as usize] = kept as u32;
        self.merges += 1;
        self.changed[a as usize] = self.merges;
        self.changed[b as usize] = self.merges;

        let (before, after) = self.values.split_at_mut(start(kept));
        let row = &mut after[..kept];
        vectorised(
            #[inline(always)]
            || {
                for (c, (y, &x)) in row.iter_mut().zip(&before[start(left)..][..left]).enumerate() {
                    *y = formula(c, x, *y);
                }
            },
        );
        let mut place = start(left + 1) + left;
        for (c, y) in row.iter_mut().enumerate().skip(left + 1) {
            if self.gone[c] == 0.0 {
                *y = formula(c, before[place], *y);
            }
            place += c;
        }
        place += kept;
        let mut best = (f64::INFINITY, 0);
        for c in kept + 1..self.at.len() {
            if self.gone[c] == 0.0 {
                let of_kept = place + kept - left;
                let distance = formula(c, self.values[place], self.values[of_kept]);
                self.values[of_kept] = distance;
                if distance < best.0 {
                    best = (distance, c);
                }
            }
            place += c;
        }
        self.weights[kept] = a_weight + b_weight;
        self.near[kept] = self.look(kept, |found| if best.0 < found.0 { best } else { found });
        let present = self.items() - self.merges as usize;
        if present * 4 < self.at.len() * 3 && self.at.len() > 64 {
            self.compact();
        }
    }
}

/// The least of the first numbers with what is added to each, infinity if there are none.
#[inline(always)]
fn least(values: &[f64], added: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 8];
    let (whole, rest) = values.as_chunks::<8>();
    let (whole_added, rest_added) = added[..values.len()].as_chunks::<8>();
    for (values, added) in whole.iter().zip(whole_added) {
        for l in 0..8 {
            let x = values[l] + added[l];
            lanes[l] = if x < lanes[l] { x } else { lanes[l] };
        }
    }
    let rest = rest.iter().zip(rest_added).map(|(x, added)| x + added);
    lanes.into_iter().chain(rest).fold(f64::INFINITY, |a, b| if b < a { b } else { a })
}
