//! Distances of all pairs of clusters, for the links that need them.
//!
//! Only the triangle below the diagonal is kept, row by row.
//!
//! Two clusters that are each other's nearest merge in the end, whatever merges before: merging two others
//! never brings a third nearer to either. So all such pairs merge at once, in rounds, each of which writes the
//! triangle anew, smaller, in one pass on all threads. Where few pairs are left to merge at once (many rows
//! round one, ties), a round would cost more than it brings, and the nearest-neighbour [chain](super::linkage)
//! goes on. For it a cluster's distances are one stretch of memory for the clusters before it and scattered for
//! those after it, hence a merged cluster stays in the later of the two rows.
//!
//! # Cost
//!
//! Memory $4 n^2$ bytes. A round takes $O(m^2)$ for $m$ clusters and merges a fixed share of them, so that all
//! rounds take $O(n^2)$; afterwards a merge takes $O(n)$, and so does a look for the nearest.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::distinct_rows::DistinctRows;
use crate::base::linkage::{Join, Store};
use crate::error::Result;
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
    /// The nearest of every row, while all merge at once.
    near: Nearest,
    /// The row of every cluster.
    row: Vec<u32>,
    /// How many clusters there are.
    present: usize,
    /// The distance of a third cluster from two that merge.
    formula: F,
}

/// The clusters after a round, in the order of their first rows.
struct Parts {
    /// The row of each, the first of two that merge.
    first: Vec<u32>,
    weights: Vec<f64>,
    /// Those that merge, ascending: which part, its second row, and how far that is from the first.
    merged: Vec<(u32, u32, f64)>,
}

/// Rows of the triangle that a thread fills in one go.
const ROWS: usize = 16;

/// Rows of the triangle that are made anew before they are put in their place.
const TOGETHER: usize = 256;

/// A round merges at least one pair for so many clusters: it costs about as much as so many merges of the chain.
const CLUSTERS_PER_PAIR: usize = 16;

/// Numbers that stay in the nearest cache but one.
const NUMBERS: usize = 1 << 15;

/// Numbers that fit into a page of memory.
const NUMBERS_OF_A_PAGE: usize = 512;

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
    // Besides the triangle, the rows that a round makes before they are put in their place.
    4 * (n as u64).pow(2) + (n * (8 * d + 128 + 8 * TOGETHER.min(n))) as u64
}

impl<F: Fn(Triple) -> f64 + Sync> Distances<F> {
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
        // New pages cost several threads that ask for them at once four times what they cost one. Writing 0 where
        // 0 is could be left out by the compiler; to squares that are added, -0 is the same.
        values.iter_mut().step_by(NUMBERS_OF_A_PAGE).for_each(|first| *first = -0.0);
        let mut near = Nearest::of(u);
        in_rows(&mut values, 0..u, &mut near, |first, rows| {
            // Who looks for the nearest next is told that it is over.
            if run.check().is_ok() {
                fill(&columns, points, first, rows, |i, j, square| {
                    of_rows([weights[i], weights[j]], square)
                });
            }
        });
        Distances {
            values,
            at: (0..u as u32).collect(),
            weights,
            gone: vec![0.0; u],
            near,
            row: (0..u as u32).collect(),
            present: u,
            formula,
        }
    }

    /// Merges the clusters of these pairs of rows, of which no row is gone.
    fn round(&mut self, pairs: &[(u32, u32)], run: &Run) -> Result<()> {
        let parts = self.parts(pairs);
        let m = parts.first.len();
        let mut near = Nearest::of(m);
        let mut made = Vec::new();
        for first in (0..m).step_by(TOGETHER) {
            run.check()?;
            let last = (first + TOGETHER).min(m);
            made.resize(start(last) - start(first), 0.0);
            in_rows(&mut made, first..last, &mut near, |first, rows| {
                let mut room = vec![0.0; m];
                (first..).zip(rows).for_each(|(p, row)| self.row_after(&parts, p, row, &mut room));
            });
            // What is still to be read is in later rows of the old triangle, hence not overwritten.
            self.values[start(first)..start(last)].copy_from_slice(&made);
        }
        self.values.truncate(start(m));
        self.at = parts.first.iter().map(|&row| self.at[row as usize]).collect();
        self.weights = parts.weights;
        self.gone.truncate(m);
        for (row, &cluster) in self.at.iter().enumerate() {
            self.row[cluster as usize] = row as u32;
        }
        self.present = m;
        self.near = near;
        Ok(())
    }

    fn parts(&self, pairs: &[(u32, u32)]) -> Parts {
        let mut mate: Vec<Option<u32>> = vec![None; self.at.len()];
        let mut kept = vec![true; self.at.len()];
        for &(a, b) in pairs {
            mate[a as usize] = Some(b);
            kept[b as usize] = false;
        }
        let (mut weights, mut merged) = (vec![], vec![]);
        let first: Vec<u32> = (0..self.at.len() as u32).filter(|&a| kept[a as usize]).collect();
        for (part, &a) in first.iter().enumerate() {
            let mut weight = self.weights[a as usize];
            if let Some(b) = mate[a as usize] {
                weight += self.weights[b as usize];
                merged.push((part as u32, b, self.values[start(b as usize) + a as usize]));
            }
            weights.push(weight);
        }
        Parts { first, weights, merged }
    }

    /// The distances of part `p` from those before it. The earlier of two parts merges first, so that rounding
    /// does not depend on who asks.
    fn row_after(&self, parts: &Parts, p: usize, out: &mut [f64], room: &mut [f64]) {
        self.distances_of(parts, parts.first[p] as usize, out);
        let Ok(place) = parts.merged.binary_search_by_key(&(p as u32), |pair| pair.0) else {
            return;
        };
        let (_, b, between) = parts.merged[place];
        let room = &mut room[..p];
        self.distances_of(parts, b as usize, room);
        let [a, b] = [parts.first[p], b].map(|row| self.weights[row as usize]);
        vectorised(
            #[inline(always)]
            || {
                for ((x, &y), &c) in out.iter_mut().zip(&*room).zip(&parts.weights) {
                    *x = (self.formula)(Triple { weights: [a, b, c], to: [*x, y], between });
                }
            },
        );
    }

    /// The distances of the cluster of row `i` from the first parts, which all begin before that row.
    fn distances_of(&self, parts: &Parts, i: usize, out: &mut [f64]) {
        let row = &self.values[start(i)..][..i];
        out.iter_mut().zip(&parts.first).for_each(|(out, &a)| *out = row[a as usize]);
        for &(part, b, between) in &parts.merged {
            let Some(out) = out.get_mut(part as usize) else { break };
            let (a, b) = (parts.first[part as usize] as usize, b as usize);
            let y = if b < i { row[b] } else { self.values[start(b) + i] };
            let weights = [a, b, i].map(|row| self.weights[row]);
            *out = (self.formula)(Triple { weights, to: [*out, y], between });
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
            self.row[self.at[new] as usize] = new as u32;
        }
        self.values.truncate(start(present.len()));
        self.at.truncate(present.len());
        self.gone = vec![0.0; present.len()];
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

/// The nearest of every row among those seen so far, the first of equals.
struct Nearest {
    distance: Vec<f64>,
    row: Vec<u32>,
}

impl Nearest {
    /// Of `m` rows, none of which has seen another.
    fn of(m: usize) -> Self {
        Nearest { distance: vec![f64::INFINITY; m], row: vec![0; m] }
    }

    /// Takes the distances of row `i` from those before it into account.
    fn meet(&mut self, i: usize, distances: &[f64]) {
        /// So many are looked at together: hardly ever is one of them nearer.
        const FEW: usize = 16;
        let mut own = (f64::INFINITY, 0);
        vectorised(
            #[inline(always)]
            || {
                for first in (0..i).step_by(FEW) {
                    let range = first..(first + FEW).min(i);
                    let (new, old) = (&distances[range.clone()], &mut self.distance[range.clone()]);
                    let farther = |old: f64| if old > own.0 { old } else { own.0 };
                    let nearer = |(new, old): (&f64, &f64)| *new < farther(*old);
                    if new.iter().zip(&*old).fold(false, |any, pair| any | nearer(pair)) {
                        for (j, (&new, old)) in range.zip(new.iter().zip(old)) {
                            if new < *old {
                                *old = new;
                                self.row[j] = i as u32;
                            }
                            if new < own.0 {
                                own = (new, j as u32);
                            }
                        }
                    }
                }
            },
        );
        self.take(i, own.0, own.1);
    }

    /// Row `i` has another at this distance.
    fn take(&mut self, i: usize, distance: f64, row: u32) {
        if (distance, row) < (self.distance[i], self.row[i]) {
            (self.distance[i], self.row[i]) = (distance, row);
        }
    }

    fn join(mut self, other: &Nearest) -> Self {
        (0..self.row.len()).for_each(|i| self.take(i, other.distance[i], other.row[i]));
        self
    }
}

/// Makes some rows of the triangle, of which `values` has room for these alone: `make(first, rows)` is given a few
/// at a time. `near` learns of them; the outcome does not depend on how the rows are shared out.
fn in_rows(
    mut values: &mut [f64],
    range: Range<usize>,
    near: &mut Nearest,
    make: impl Fn(usize, &mut [&mut [f64]]) + Sync,
) {
    let (first, m) = (range.start, near.row.len());
    let mut rows = Vec::with_capacity(range.len());
    for i in range {
        let (row, rest) = values.split_at_mut(i);
        rows.push(row);
        values = rest;
    }
    let made = rows.par_chunks_mut(ROWS).enumerate().fold(
        || Nearest::of(m),
        |mut near, (chunk, rows)| {
            let first = first + chunk * ROWS;
            make(first, rows);
            (first..).zip(rows).for_each(|(i, row)| near.meet(i, row));
            near
        },
    );
    let before = std::mem::replace(near, Nearest::of(0));
    *near = made.reduce(|| Nearest::of(m), |a, b| a.join(&b)).join(&before);
}

impl<F: Fn(Triple) -> f64 + Sync> Store for Distances<F> {
    fn items(&self) -> usize {
        self.row.len()
    }

    fn at_once(&mut self, run: &Run) -> Result<Vec<Join>> {
        let mut joins = Vec::new();
        loop {
            let nearest = &self.near.row;
            let mutual = |&(a, b): &(u32, u32)| a < b && nearest[b as usize] == a;
            let pairs: Vec<_> = (0..).zip(nearest.iter().copied()).filter(mutual).collect();
            if pairs.is_empty() || pairs.len() * CLUSTERS_PER_PAIR < self.at.len() {
                self.near = Nearest::of(0);
                return Ok(joins);
            }
            joins.extend(pairs.iter().map(|&(a, b)| Join {
                a: self.at[a as usize],
                b: self.at[b as usize],
                similarity: -self.near.distance[a as usize],
            }));
            self.round(&pairs, run)?;
            run.tick("building the tree", joins.len() as u64, Some(self.items() as u64 - 1))?;
        }
    }

    fn nearest(&mut self, a: u32) -> (u32, f64) {
        let a = self.row[a as usize] as usize;
        let before = &self.values[start(a)..][..a];
        let least = vectorised(
            #[inline(always)]
            || least(before, &self.gone),
        );
        let is_it = |(x, gone): (&f64, &f64)| x + gone == least;
        let place = before.iter().zip(&self.gone).position(is_it).unwrap_or(0);
        let mut best = (least, place);
        let mut place = start(a + 1) + a;
        for other in a + 1..self.at.len() {
            let distance = self.values[place] + self.gone[other];
            if distance < best.0 {
                best = (distance, other);
            }
            place += other;
        }
        (self.at[best.1], -best.0)
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
        for c in kept + 1..self.at.len() {
            if self.gone[c] == 0.0 {
                let of_kept = place + kept - left;
                self.values[of_kept] = formula(c, self.values[place], self.values[of_kept]);
            }
            place += c;
        }
        self.weights[kept] = a_weight + b_weight;
        self.present -= 1;
        if self.present * 4 < self.at.len() * 3 && self.at.len() > 64 {
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
