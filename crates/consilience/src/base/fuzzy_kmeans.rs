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
use crate::base::start::{centres_at, random_rows};
use crate::base::table::{Float, Table};
use crate::ensemble::argmax;
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};
use crate::rng::Rng;
use crate::run::{Run, Stop};

/// Parameters of [fuzzy k-means](self), not yet checked.
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

    /// The number of clusters, at least 1.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// The fuzzifier $m > 1$: near 1 memberships are almost hard, large values make all equal.
    #[must_use]
    pub fn m(mut self, m: f64) -> Self {
        self.m = m;
        self
    }

    /// The largest number of iterations, at least 1.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// Stops when no membership changes by more than this; 0 runs all iterations.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
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
    /// The centres, one a row.
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
    /// The number of clusters.
    pub fn k(&self) -> usize {
        self.0.k
    }

    /// The fuzzifier.
    pub fn m(&self) -> f64 {
        self.0.m
    }

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
        let mut memberships = Matrix::zeros(data.nrows(), self.0.k);
        let (mut trace, mut iterations, mut stop) = (Vec::new(), 0, Stop::MaxIterations);
        run.install(|| {
            self.turn(&data, &centres, &mut memberships, run)?;
            while iterations < self.0.max_iter {
                iterations += 1;
                self.move_centres(&data, &memberships, &mut centres, run)?;
                let turn = self.turn(&data, &centres, &mut memberships, run)?;
                trace.push(turn.objective);
                if turn.change <= self.0.tol && self.0.tol > 0.0 {
                    stop = Stop::Converged;
                    break;
                }
            }
            Ok(())
        })?;
        let labels = memberships.iter_rows().map(|row| argmax(row).unwrap_or(0) as u32).collect();
        Ok(FuzzyKMeansFit { centres, memberships, labels, trace, iterations, stop })
    }

    /// The memberships for these centres.
    fn turn<T: Float>(
        &self,
        data: &Table<'_, T>,
        centres: &Matrix,
        memberships: &mut Matrix,
        run: &Run,
    ) -> Result<Turn> {
        let (k, m) = (self.0.k, self.0.m);
        let of_chunk = |(chunk, rows): (usize, &mut [f64])| {
            run.check()?;
            let mut turn = Turn { objective: 0.0, change: 0.0 };
            let mut next = vec![0.0; k];
            vectorised(
                #[inline(always)]
                || {
                    for (i, row) in rows.chunks_exact_mut(k).enumerate() {
                        let x = data.row(chunk * CHUNK + i);
                        turn.objective += memberships_of(x, centres, m, &mut next);
                        for (old, &new) in row.iter_mut().zip(&next) {
                            turn.change = f64::max(turn.change, (new - *old).abs());
                            *old = new;
                        }
                    }
                },
            );
            Ok(turn)
        };
        let turns: Vec<Turn> = memberships
            .as_mut_slice()
            .par_chunks_mut(CHUNK * k)
            .enumerate()
            .map(of_chunk)
            .collect::<Result<_>>()?;
        let mut whole = Turn { objective: 0.0, change: 0.0 };
        for turn in turns {
            whole.objective += turn.objective;
            whole.change = whole.change.max(turn.change);
        }
        Ok(whole)
    }

    /// The centres for these memberships.
    fn move_centres<T: Float>(
        &self,
        data: &Table<'_, T>,
        memberships: &Matrix,
        centres: &mut Matrix,
        run: &Run,
    ) -> Result<()> {
        let (k, d, m) = (self.0.k, data.ncols(), self.0.m);
        let of_chunk = |(chunk, rows): (usize, &[f64])| {
            run.check()?;
            // Sums of the rows, and in the last column of the weights.
            let mut sums = Matrix::zeros(k, d + 1);
            vectorised(
                #[inline(always)]
                || {
                    for (i, row) in rows.chunks_exact(k).enumerate() {
                        let x = data.row(chunk * CHUNK + i);
                        for (j, &u) in row.iter().enumerate() {
                            let weight = if m == 2.0 { u * u } else { u.powf(m) };
                            let sums = sums.row_mut(j);
                            for (sum, x) in sums.iter_mut().zip(x) {
                                *sum += weight * x.to_f64();
                            }
                            sums[d] += weight;
                        }
                    }
                },
            );
            Ok(sums)
        };
        let chunks = memberships.as_slice().par_chunks(CHUNK * k).enumerate();
        let partial: Vec<Matrix> = chunks.map(of_chunk).collect::<Result<_>>()?;
        let mut sums = Matrix::zeros(k, d + 1);
        for part in &partial {
            for (sum, part) in sums.as_mut_slice().iter_mut().zip(part.as_slice()) {
                *sum += part;
            }
        }
        for j in 0..k {
            let sums = sums.row(j);
            // Nobody belongs to a centre whose place all objects share with others; it stays.
            if sums[d] > 0.0 {
                for (centre, sum) in centres.row_mut(j).iter_mut().zip(sums) {
                    *centre = sum / sums[d];
                }
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Turn {
    objective: f64,
    /// The largest change of a membership.
    change: f64,
}

/// Writes the memberships of row `x` and returns its share of $J$.
#[inline(always)]
fn memberships_of<T: Float>(x: &[T], centres: &Matrix, m: f64, into: &mut [f64]) -> f64 {
    let mut least = f64::INFINITY;
    for (distance, centre) in into.iter_mut().zip(centres.iter_rows()) {
        *distance = squared_distance(x, centre);
        least = least.min(*distance);
    }
    if least == 0.0 {
        let here = into.iter().filter(|&&distance| distance == 0.0).count() as f64;
        into.iter_mut().for_each(|u| *u = if *u == 0.0 { 1.0 / here } else { 0.0 });
        return 0.0;
    }
    // Ratios to the least distance are in (0, 1]: nothing overflows, however close the centre.
    let mut sum = 0.0;
    for u in into.iter_mut() {
        let ratio = least / *u;
        *u = if m == 2.0 { ratio } else { ratio.powf(1.0 / (m - 1.0)) };
        sum += *u;
    }
    into.iter_mut().for_each(|u| *u /= sum);
    // u_j^(m-1) d_j is the same for all j, namely the nearest centre's least / sum^(m-1), so that
    // the row's share of J, the mean of it weighted by u, is that too.
    if m == 2.0 { least / sum } else { least / sum.powf(m - 1.0) }
}

/// The memberships of the rows of `data` in clusters with these centres, for fuzzifier `m`.
pub fn memberships<'a, T: Float>(
    data: impl Into<Table<'a, T>>,
    centres: &Matrix,
    m: f64,
    run: &Run,
) -> Result<Matrix> {
    let data = data.into();
    data.check()?;
    check_columns(&data, centres)?;
    let k = centres.nrows();
    let mut memberships = Matrix::zeros(data.nrows(), k);
    let of_chunk = |(chunk, rows): (usize, &mut [f64])| {
        run.check()?;
        vectorised(
            #[inline(always)]
            || {
                for (i, row) in rows.chunks_exact_mut(k).enumerate() {
                    memberships_of(data.row(chunk * CHUNK + i), centres, m, row);
                }
            },
        );
        Ok(())
    };
    run.install(|| {
        memberships.as_mut_slice().par_chunks_mut(CHUNK * k).enumerate().try_for_each(of_chunk)
    })?;
    Ok(memberships)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
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

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let values: Vec<f64> = (0..5000).map(|i| f64::from(i * 7919 % 1009)).collect();
        let on = |threads| fit(FuzzyKMeansParams::new(5), &values, threads).unwrap();
        assert_eq!(on(1), on(2));
    }

    proptest! {
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
