//! k-means: Lloyd's iteration, weighted, exact, with restarts.
//!
//! S. P. Lloyd. *Least squares quantization in PCM.* IEEE Trans. Inf. Theory 28(2), 1982.
//!
//! Finds centres $c_1, \dots, c_k$ and labels $y_i$ that (locally) minimise the inertia
//!
//! $$ \sum_i w_i \lVert x_i - c_{y_i} \rVert^2 $$
//!
//! by turns: every row goes to its nearest centre (the lowest index among equals), every centre to
//! the weighted mean of its rows. An empty cluster takes the row farthest from its centre, so that
//! there are always $k$ clusters.
//!
//! A row of weight 3 counts as three equal rows: on the profiles of an ensemble the result is that
//! on all objects.

mod lloyd;

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::check_columns;
use crate::base::kmeans::lloyd::Problem;
use crate::base::start::{Start, centres_at, plus_plus, random_rows};
use crate::base::table::{Float, Table, check_weights};
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};
use crate::run::{Run, Stop};

/// Parameters of [k-means](self), not yet checked.
///
/// ```
/// use consilience::base::KMeansParams;
/// use consilience::linalg::Matrix;
/// use consilience::{Run, Stream};
///
/// let data = Matrix::from_vec(4, 1, vec![0.0, 1.0, 10.0, 11.0]);
/// let kmeans = KMeansParams::new(2).n_init(10).check()?;
/// let fit = kmeans.fit(&data, &Run::new(0), Stream::Restart)?;
/// assert_eq!(fit.inertia, 1.0);
/// assert_eq!(fit.labels[0], fit.labels[1]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KMeansParams {
    k: usize,
    start: Start,
    n_init: usize,
    max_iter: usize,
    tol: f64,
}

impl KMeansParams {
    /// `k` clusters, one start by k-means++, at most 300 iterations, tolerance 1e-4.
    pub fn new(k: usize) -> Self {
        KMeansParams { k, start: Start::PlusPlus, n_init: 1, max_iter: 300, tol: 1e-4 }
    }

    /// The number of clusters, at least 1.
    #[must_use]
    pub fn k(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Where the centres start.
    #[must_use]
    pub fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// How many starts are tried, at least 1; the fit of least inertia wins.
    #[must_use]
    pub fn n_init(mut self, n_init: usize) -> Self {
        self.n_init = n_init;
        self
    }

    /// The largest number of iterations, at least 1.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// Stops when the squared movement of all centres together is at most `tol` times the mean
    /// variance of the columns; 0 goes on until no label changes.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = tol;
        self
    }

    /// Where the centres start, as set.
    pub(crate) fn start_of(&self) -> &Start {
        &self.start
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<KMeans> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        if self.n_init == 0 {
            return Err(Error::parameter("n_init", "at least 1", self.n_init));
        }
        if self.max_iter == 0 {
            return Err(Error::parameter("max_iter", "at least 1", self.max_iter));
        }
        if !self.tol.is_finite() || self.tol < 0.0 {
            return Err(Error::parameter("tol", "finite and >= 0", self.tol));
        }
        if let Start::Given(centres) = &self.start {
            if centres.nrows() != self.k {
                let expected = format!("{} centres, one a cluster", self.k);
                return Err(Error::parameter("start", expected, centres.nrows()));
            }
            Table::from(centres).check()?;
            if self.n_init > 1 {
                let expected = "1 with given centres: all starts would be the same";
                return Err(Error::parameter("n_init", expected, self.n_init));
            }
        }
        Ok(KMeans(self))
    }
}

/// k-means with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KMeans(KMeansParams);

/// What one run of k-means produced, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansFit {
    /// The centres, one a row.
    pub centres: Matrix,
    /// The nearest centre of every row.
    pub labels: Vec<u32>,
    /// The weighted sum of squared distances to the nearest centre.
    pub inertia: f64,
    /// How often the centres moved.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl KMeans {
    /// The number of clusters.
    pub fn k(&self) -> usize {
        self.0.k
    }

    /// Clusters the rows of `data`, all of weight 1. Restart `i` draws from `streams(i)`.
    pub fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        streams: impl Fn(u64) -> Stream,
    ) -> Result<KMeansFit> {
        self.fit_with(data, None, run, self.rngs(run, streams))
    }

    /// Clusters the rows of `data`, which count as often as `weights` says. Restart `i` draws from
    /// `streams(i)`; methods pass [`Stream::Inner`].
    pub fn fit_weighted<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        weights: &[f64],
        run: &Run,
        streams: impl Fn(u64) -> Stream,
    ) -> Result<KMeansFit> {
        self.fit_with(data, Some(weights), run, self.rngs(run, streams))
    }

    /// Clusters a table that was packed before, all random draws coming from `rng`.
    pub(crate) fn fit_packed<T: Float>(
        &self,
        packed: &Packed<'_, T>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<KMeansFit> {
        let seed = rng.bits();
        let rngs = (0..self.0.n_init as u64).map(|i| Rng::new(seed, Stream::Restart(i)));
        run.install(|| self.best_of(&packed.0, run, rngs.collect()))
    }

    fn rngs(&self, run: &Run, streams: impl Fn(u64) -> Stream) -> Vec<Rng> {
        (0..self.0.n_init as u64).map(|i| run.rng(streams(i))).collect()
    }

    fn fit_with<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        weights: Option<&[f64]>,
        run: &Run,
        rngs: Vec<Rng>,
    ) -> Result<KMeansFit> {
        let data = data.into();
        if let Some(weights) = weights {
            check_weights(weights, data.nrows())?;
        }
        run.install(|| self.best_of(&Problem::new(data, weights, run)?, run, rngs))
    }

    /// The best fit of one start a generator.
    fn best_of<T: Float>(
        &self,
        problem: &Problem<'_, T>,
        run: &Run,
        rngs: Vec<Rng>,
    ) -> Result<KMeansFit> {
        if self.0.k > problem.data().nrows() {
            // Says how many rows differ, which no start needs to know.
            random_rows(problem.data(), None, self.0.k, &mut Rng::new(0, Stream::Ties))?;
        }
        let fit = |mut rng: Rng| {
            let centres = self.starting_centres(problem, &mut rng, run)?;
            problem.fit(centres, self.0.max_iter, self.0.tol, run)
        };
        let fits: Vec<KMeansFit> = rngs.into_par_iter().map(fit).collect::<Result<_>>()?;
        let better = |best: KMeansFit, next: KMeansFit| {
            if next.inertia < best.inertia { next } else { best }
        };
        Ok(fits.into_iter().reduce(better).expect("n_init is at least 1"))
    }

    fn starting_centres<T: Float>(
        &self,
        problem: &Problem<'_, T>,
        rng: &mut Rng,
        run: &Run,
    ) -> Result<Matrix> {
        let (k, data, weights) = (self.0.k, problem.data(), problem.weights());
        match &self.0.start {
            Start::Given(centres) => {
                check_columns(data, centres)?;
                Ok(centres.clone())
            }
            Start::Random => Ok(centres_at(data, &random_rows(data, weights, k, rng)?)),
            Start::PlusPlus => Ok(centres_at(data, &plus_plus(data, weights, k, rng, run)?)),
        }
    }
}

/// A table read and packed once, for many fits.
pub(crate) struct Packed<'a, T>(Problem<'a, T>);

impl<'a, T: Float> Packed<'a, T> {
    /// Packs `data`, whose rows all have weight 1.
    pub(crate) fn new(data: impl Into<Table<'a, T>>, run: &Run) -> Result<Self> {
        let data = data.into();
        run.install(|| Problem::new(data, None, run)).map(Packed)
    }
}

#[cfg(test)]
mod tests;
