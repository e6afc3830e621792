//! Fuzzy k-means (fuzzy c-means): every object belongs to every cluster to some degree.
//!
//! J. C. Bezdek. *Pattern Recognition with Fuzzy Objective Function Algorithms.* Plenum, 1981.
//!
//! Minimises, over centres $c_j$ and memberships $u_{ij} \ge 0$ whose rows sum to 1,
//!
//! $$ J = \sum_i \sum_j u_{ij}^m \lVert x_i - c_j \rVert^2, \qquad m > 1, $$
//!
//! by turns: $u_{ij} \propto \lVert x_i - c_j \rVert^{-2/(m-1)}$, and $c_j$ the mean of the rows
//! weighted by $u_{ij}^m$. $J$ never rises. An object that sits on a centre belongs to it alone (to
//! all centres at its place in equal parts).

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::{CHUNK, check_columns, squared_distance};
use crate::base::fuzzy_lanes::{LANES, Lanes};
use crate::base::sparse_matrix::SparseMatrix;
use crate::base::start::{Rows as _, centres_at, random_rows};
use crate::base::table::{Float, Table};
use crate::ensemble::argmax;
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};
use crate::math;
use crate::rng::Rng;
use crate::run::{Run, Stop};
use crate::setters::setters;

/// Parameters of fuzzy k-means, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FuzzyKMeansParams {
    k: usize,
    m: f64,
    max_iter: usize,
    tol: f64,
}

impl FuzzyKMeansParams {
    /// `k` clusters, $m = 2$, at most 100 iterations, tolerance 1e-6.
    pub fn new(k: usize) -> Self {
        FuzzyKMeansParams { k, m: 2.0, max_iter: 100, tol: 1e-6 }
    }

    setters! {
        /// The number of clusters, at least 1.
        k: usize,

        /// The fuzzifier $m > 1$: near 1 memberships are almost hard, large values make all equal.
        m: f64,

        /// The largest number of iterations, at least 1.
        max_iter: usize,

        /// Stops when no membership changes by more than this; 0 runs all iterations.
        tol: f64,
    }

    /// The fuzzifier, as set.
    pub(crate) fn m_of(&self) -> f64 {
        self.m
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<FuzzyKMeans> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        if !self.m.is_finite() || self.m <= 1.0 {
            return Err(Error::parameter("m", "finite and > 1", self.m));
        }
        if self.max_iter == 0 {
            return Err(Error::parameter("max_iter", "at least 1", self.max_iter));
        }
        if !self.tol.is_finite() || self.tol < 0.0 {
            return Err(Error::parameter("tol", "finite and >= 0", self.tol));
        }
        Ok(FuzzyKMeans(self))
    }
}

/// Fuzzy k-means with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FuzzyKMeans(FuzzyKMeansParams);

/// What one run of fuzzy k-means produced, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct FuzzyKMeansFit {
    /// The centres, one per row.
    pub centres: Matrix,
    /// The memberships, n × k, rows summing to 1.
    pub memberships: Matrix,
    /// The cluster of largest membership, the first of equals.
    pub labels: Vec<u32>,
    /// $J$ after every iteration.
    pub trace: Vec<f64>,
    /// How often the centres moved.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl FuzzyKMeans {
    /// Clusters the rows of `data` from random rows of different content, drawn from `rng`.
    ///
    /// # Cost
    ///
    /// Time $O(n k d)$ an iteration, memory $O(n k)$.
    pub fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<FuzzyKMeansFit> {
        let data = data.into();
        data.check()?;
        let mut centres = centres_at(&data, &random_rows(&data, None, self.0.k, rng)?);
        let mut groups = vec![[0.0; LANES]; data.nrows().div_ceil(LANES) * self.0.k];
        let (mut trace, mut iterations, mut stop) = (Vec::new(), 0, Stop::MaxIterations);
        run.install(|| {
            let mut turn = self.turn(&data, &centres, &mut groups, run)?;
            while iterations < self.0.max_iter {
                iterations += 1;
                move_centres(&turn.sums, &mut centres);
                turn = self.turn(&data, &centres, &mut groups, run)?;
                trace.push(turn.objective);
                if turn.change <= self.0.tol && self.0.tol > 0.0 {
                    stop = Stop::Converged;
                    break;
                }
            }
            Ok(())
        })?;
        let mut memberships = Matrix::zeros(data.nrows(), self.0.k);
        for i in 0..data.nrows() {
            let group = &groups[i / LANES * self.0.k..];
            let row = memberships.row_mut(i).iter_mut().zip(group);
            row.for_each(|(into, u)| *into = u[i % LANES]);
        }
        let labels = memberships.iter_rows().map(|row| argmax(row).unwrap_or(0) as u32).collect();
        Ok(FuzzyKMeansFit { centres, memberships, labels, trace, iterations, stop })
    }

    /// The memberships for these centres, group by group of rows, and what the next centres are made
    /// of.
    fn turn<T: Float>(
        &self,
        data: &Table<'_, T>,
        centres: &Matrix,
        groups: &mut [[f64; LANES]],
        run: &Run,
    ) -> Result<Turn> {
        let (k, m) = (self.0.k, self.0.m);
        let of_chunk = |(chunk, groups): (usize, &mut [[f64; LANES]])| {
            run.check()?;
            let mut turn =
                Turn { objective: 0.0, change: 0.0, sums: Matrix::zeros(k, data.ncols() + 1) };
            let mut lanes = Lanes::new(k, data.ncols());
            vectorised(
                #[inline(always)]
                || {
                    for (g, group) in groups.chunks_exact_mut(k).enumerate() {
                        let first = chunk * CHUNK + g * LANES;
                        lanes.load(data, first);
                        let shares = lanes.memberships(centres, m);
                        for share in &shares[..lanes.rows()] {
                            turn.objective += share;
                        }
                        turn.change = turn.change.max(lanes.keep(group));
                        lanes.add_to(&mut turn.sums, data, first, m);
                    }
                },
            );
            Ok(turn)
        };
        let turns: Vec<Turn> = groups
            .par_chunks_mut(CHUNK / LANES * k)
            .enumerate()
            .map(of_chunk)
            .collect::<Result<_>>()?;
        let sums = Matrix::zeros(k, data.ncols() + 1);
        let mut whole = Turn { objective: 0.0, change: 0.0, sums };
        for turn in turns {
            whole.objective += turn.objective;
            whole.change = whole.change.max(turn.change);
            let sums = whole.sums.as_mut_slice().iter_mut().zip(turn.sums.as_slice());
            sums.for_each(|(sum, part)| *sum += part);
        }
        Ok(whole)
    }
}

/// The centres for these sums of rows, the sums of weights in the last column.
fn move_centres(sums: &Matrix, centres: &mut Matrix) {
    let d = centres.ncols();
    for j in 0..centres.nrows() {
        let sums = sums.row(j);
        // Nobody belongs to a centre whose place all objects share with others; it stays.
        if sums[d] > 0.0 {
            for (centre, sum) in centres.row_mut(j).iter_mut().zip(sums) {
                *centre = sum / sums[d];
            }
        }
    }
}

struct Turn {
    objective: f64,
    /// The largest change of a membership.
    change: f64,
    /// For every cluster the sum of the rows weighted by $u_{ij}^m$, and the sum of the weights.
    sums: Matrix,
}

/// Writes the memberships of row `x` and returns its share of $J$.
#[inline(always)]
fn memberships_of<T: Float>(x: &[T], centres: &Matrix, m: f64, into: &mut [f64]) -> f64 {
    for (distance, centre) in into.iter_mut().zip(centres.iter_rows()) {
        *distance = squared_distance(x, centre);
    }
    memberships_at(into, m)
}

/// Makes memberships of the squared distances of a row and returns its share of $J$.
#[inline(always)]
pub(super) fn memberships_at(into: &mut [f64], m: f64) -> f64 {
    let least = into.iter().fold(f64::INFINITY, |least, distance| least.min(*distance));
    if least == 0.0 {
        let here = into.iter().filter(|&&distance| distance == 0.0).count() as f64;
        into.iter_mut().for_each(|u| *u = if *u == 0.0 { 1.0 / here } else { 0.0 });
        return 0.0;
    }
    // Ratios to the least distance are in (0, 1]: nothing overflows, however close the centre.
    let mut sum = 0.0;
    for u in into.iter_mut() {
        let ratio = least / *u;
        *u = if m == 2.0 { ratio } else { math::pow(ratio, 1.0 / (m - 1.0)) };
        sum += *u;
    }
    into.iter_mut().for_each(|u| *u /= sum);
    // u_j^(m-1) d_j is the same for all j, namely the nearest centre's least / sum^(m-1), so that
    // the row's share of J, the mean of it weighted by u, is that too.
    if m == 2.0 { least / sum } else { least / math::pow(sum, m - 1.0) }
}

/// The memberships of the rows of `data` in clusters with these centres, for fuzzifier `m`.
pub(crate) fn memberships<'a, T: Float>(
    data: impl Into<Table<'a, T>>,
    centres: &Matrix,
    m: f64,
    run: &Run,
) -> Result<Matrix> {
    let data = data.into();
    data.check()?;
    check_columns(data.ncols(), centres)?;
    let k = centres.nrows();
    in_chunks(data.nrows(), k, CHUNK, run, |first, memberships| {
        vectorised(
            #[inline(always)]
            || {
                for (i, row) in memberships.chunks_exact_mut(k).enumerate() {
                    memberships_of(data.row(first + i), centres, m, row);
                }
            },
        );
    })
}

/// The memberships of the rows of a sparse table, which are written out one by one.
pub(crate) fn memberships_sparse(
    data: &SparseMatrix,
    centres: &Matrix,
    m: f64,
    run: &Run,
) -> Result<Matrix> {
    data.check()?;
    check_columns(data.ncols(), centres)?;
    let k = centres.nrows();
    in_chunks(data.nrows(), k, ROWS, run, |first, memberships| {
        let mut written = vec![0.0; data.ncols()];
        for (i, row) in memberships.chunks_exact_mut(k).enumerate() {
            data.write(first + i, &mut written);
            vectorised(
                #[inline(always)]
                || memberships_of(&written, centres, m, row),
            );
        }
    })
}

/// An n × k matrix whose rows `write` fills in, a chunk at a time, told the first of them.
fn in_chunks(
    n: usize,
    k: usize,
    chunk: usize,
    run: &Run,
    write: impl Fn(usize, &mut [f64]) + Sync,
) -> Result<Matrix> {
    let mut matrix = Matrix::zeros(n, k);
    run.install(|| {
        let chunks = matrix.as_mut_slice().par_chunks_mut(chunk * k).enumerate();
        chunks.try_for_each(|(at, rows)| {
            run.check()?;
            write(at * chunk, rows);
            Ok(())
        })
    })?;
    Ok(matrix)
}

/// Rows of a sparse table between two looks at the cancel flag: each is as long as it is wide.
const ROWS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};
    use proptest::prelude::*;

    fn fit(params: FuzzyKMeansParams, values: &[f64], threads: usize) -> Result<FuzzyKMeansFit> {
        let run = Run::new(1).threads(threads);
        let data = Table::new(values.len(), 1, values);
        params.check()?.fit(data, &run, &mut run.rng(Stream::Member(0)))
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let two = || FuzzyKMeansParams::new(2);
        for (bad, name) in [
            (two().k(0), "`k`"),
            (two().m(1.0), "`m`"),
            (two().m(f64::NAN), "`m`"),
            (two().max_iter(0), "`max_iter`"),
            (two().tol(-1.0), "`tol`"),
        ] {
            let refusal = bad.check().unwrap_err().to_string();
            assert!(refusal.contains(name), "{refusal}");
        }
    }

    #[test]
    fn memberships_follow_the_formula() {
        let data = Matrix::from_vec(1, 1, vec![1.0]);
        let centres = Matrix::from_vec(3, 1, vec![0.0, 3.0, 4.0]);
        let run = Run::new(0);
        // Squared distances 1, 4, 9.
        let of = |m| memberships(&data, &centres, m, &run).unwrap().into_vec();
        let total = 1.0 + 1.0 / 4.0 + 1.0 / 9.0;
        for (u, expected) in of(2.0).iter().zip([1.0, 1.0 / 4.0, 1.0 / 9.0]) {
            assert!((u - expected / total).abs() < 1e-15);
        }
        let total = 1.0 + 1.0 / 2.0 + 1.0 / 3.0;
        for (u, expected) in of(3.0).iter().zip([1.0, 1.0 / 2.0, 1.0 / 3.0]) {
            assert!((u - expected / total).abs() < 1e-15);
        }
    }

    #[test]
    fn an_object_at_a_centre_belongs_to_it_alone() {
        let data = Matrix::from_vec(2, 1, vec![3.0, 5.0]);
        let centres = Matrix::from_vec(3, 1, vec![3.0, 5.0, 5.0]);
        let found = memberships(&data, &centres, 2.0, &Run::new(0)).unwrap();
        assert_eq!(found.as_slice(), [1.0, 0.0, 0.0, 0.0, 0.5, 0.5]);
    }

    #[test]
    fn one_cluster_one_row_and_constant_data() {
        let one = fit(FuzzyKMeansParams::new(1), &[4.0], 1).unwrap();
        assert_eq!((one.labels, one.centres[(0, 0)]), (vec![0], 4.0));
        let constant = fit(FuzzyKMeansParams::new(1), &[2.0; 4], 1).unwrap();
        assert_eq!((constant.trace[0], constant.stop), (0.0, Stop::Converged));
        let refused = fit(FuzzyKMeansParams::new(2), &[2.0; 4], 1);
        assert_eq!(refused, Err(Error::TooFewRows { k: 2, distinct: 1 }));
    }

    /// One row after the other, as one would write it down.
    fn plain(data: &Matrix, m: f64, centres: &Matrix, iterations: usize) -> (Matrix, Matrix) {
        let (k, d) = (centres.nrows(), centres.ncols());
        let (mut centres, mut u) = (centres.clone(), Matrix::zeros(data.nrows(), k));
        for iteration in 0..=iterations {
            for (i, x) in data.iter_rows().enumerate() {
                memberships_of(x, &centres, m, u.row_mut(i));
            }
            if iteration == iterations {
                break;
            }
            let mut sums = Matrix::zeros(k, d + 1);
            for (i, x) in data.iter_rows().enumerate() {
                for j in 0..k {
                    let weight =
                        if m == 2.0 { u[(i, j)] * u[(i, j)] } else { math::pow(u[(i, j)], m) };
                    let sums = sums.row_mut(j);
                    sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += weight * x);
                    sums[d] += weight;
                }
            }
            move_centres(&sums, &mut centres);
        }
        (centres, u)
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let values: Vec<f64> = (0..5000).map(|i| f64::from(i * 7919 % 1009)).collect();
        let on = |threads| fit(FuzzyKMeansParams::new(5), &values, threads).unwrap();
        assert_eq!(on(1), on(2));
    }

    proptest! {
        /// Rows in lanes are rows one by one, bit by bit. (All fit in one chunk, so that sums are
        /// added up in one order.)
        #[test]
        fn rows_side_by_side_are_rows_one_by_one(
            n in 1..40usize, d in 1..20usize, k in 1..6usize, square: bool, grid: bool, seed: u64,
        ) {
            let mut rng = Rng::new(seed, Stream::Data);
            let mut value = || if grid { rng.below(3) as f64 } else { rng.normal() };
            let data = Matrix::from_vec(n, d, (0..n * d).map(|_| value()).collect());
            let m = if square { 2.0 } else { 1.7 };
            let run = Run::new(seed).threads(1);
            let params = FuzzyKMeansParams::new(k).m(m).max_iter(4).tol(0.0).check().unwrap();
            let rng = || run.rng(Stream::Member(0));
            let Ok(fit) = params.fit(&data, &run, &mut rng()) else { return Ok(()) };
            let table = Table::from(&data);
            let start = random_rows(&table, None, k, &mut rng()).unwrap();
            let (centres, u) = plain(&data, m, &centres_at(&table, &start), 4);
            prop_assert_eq!(fit.centres, centres);
            prop_assert_eq!(fit.memberships, u);
        }

        #[test]
        fn the_objective_is_the_formula_and_never_rises(
            values in prop::collection::vec(-5.0..5.0f64, 6..40), k in 1..4usize, m in 1.2..4.0f64,
            square: bool,
        ) {
            let m = if square { 2.0 } else { m };
            let params = FuzzyKMeansParams::new(k).m(m).max_iter(20).tol(0.0);
            let found = fit(params, &values, 1).unwrap();
            prop_assert!(found.trace.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-9)));
            let mut objective = 0.0;
            for (x, row) in values.iter().zip(found.memberships.iter_rows()) {
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                for (u, c) in row.iter().zip(found.centres.as_slice()) {
                    objective += u.powf(m) * (x - c) * (x - c);
                }
            }
            let last = found.trace[19];
            prop_assert!((objective - last).abs() <= 1e-9 * last.max(1e-9), "{objective} {last}");
        }
    }
}
