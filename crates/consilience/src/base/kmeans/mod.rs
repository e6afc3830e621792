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

mod dense;
mod lloyd;
mod points;
mod sparse;

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::check_columns;
use crate::base::kmeans::dense::Dense;
use crate::base::kmeans::lloyd::{Limits, fit, fit_all};
use crate::base::kmeans::points::Points;
use crate::base::kmeans::sparse::Sparse;
pub(super) use crate::base::kmeans::sparse::nearest_of_sparse;
use crate::base::sparse_matrix::SparseMatrix;
use crate::base::start::{Rows as _, Start, centres_at, plus_plus, random_rows};
use crate::base::table::{Float, Table, check_weights};
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};
use crate::run::{Run, Stop};
use crate::setters::setters;

/// Parameters of k-means, not yet checked.
///
/// ```
/// use consilience::base::KMeansParams;
/// use consilience::Matrix;
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

    setters! {
        /// The number of clusters, at least 1.
        k: usize,

        /// Where the centres start.
        start: Start,

        /// How many starts are tried, at least 1; the fit of least inertia wins.
        n_init: usize,

        /// The largest number of iterations, at least 1.
        max_iter: usize,

        /// Stops when the squared movement of all centres together is at most `tol` times the mean
        /// variance of the columns; 0 goes on until no label changes.
        tol: f64,
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
                let expected = format!("{} centres, one per cluster", self.k);
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
    /// The centres, one per row.
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

    /// Whether it ends by the same rules as `other`.
    pub(crate) fn ends_like(&self, other: &KMeans) -> bool {
        (self.0.max_iter, self.0.tol) == (other.0.max_iter, other.0.tol)
    }

    /// How many starts are tried.
    pub(crate) fn n_init(&self) -> usize {
        self.0.n_init
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

    /// Clusters the rows of a sparse table, all of weight 1, without writing out its zeros. Restart
    /// `i` draws from `streams(i)`.
    ///
    /// Labels and centres are, bit by bit, those of [`fit`](Self::fit) on the table written out, but
    /// for `tol`, which compares with a variance that is summed in another order.
    ///
    /// # Cost
    ///
    /// Time $O(z k)$ an iteration for $z$ numbers that are not 0, and $O(d k)$ for the centres, which
    /// are dense. A start by k-means++ takes $O(n d k)$.
    pub fn fit_sparse(
        &self,
        data: &SparseMatrix,
        run: &Run,
        streams: impl Fn(u64) -> Stream,
    ) -> Result<KMeansFit> {
        let rngs = self.rngs(run, streams);
        run.install(|| self.best_of(&Sparse::new(data)?, run, rngs))
    }

    /// Clusters a table that was packed before, all random draws coming from `rng`.
    pub(crate) fn fit_packed(
        &self,
        packed: &Packed<'_>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<KMeansFit> {
        let seed = rng.bits();
        let rngs = (0..self.0.n_init as u64).map(|i| Rng::new(seed, Stream::Restart(i)));
        let rngs = rngs.collect();
        run.install(|| match packed {
            Packed::Dense(points) => self.best_of(&**points, run, rngs),
            Packed::Single(points) => self.best_of(&**points, run, rngs),
            Packed::Sparse(points) => self.best_of(&**points, run, rngs),
        })
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
        run.install(|| self.best_of(&Dense::new(data, weights, run)?, run, rngs))
    }

    fn limits(&self) -> Limits {
        Limits { max_iter: self.0.max_iter, tol: self.0.tol }
    }

    /// The best fit of one start a generator.
    fn best_of<P: Points>(&self, points: &P, run: &Run, rngs: Vec<Rng>) -> Result<KMeansFit> {
        let fit = |mut rng: Rng| {
            let centres = self.starting_centres(points, &mut rng, run)?;
            fit(points, centres, self.limits(), run)
        };
        let fits: Vec<KMeansFit> = rngs.into_par_iter().map(fit).collect::<Result<_>>()?;
        let better = |best: KMeansFit, next: KMeansFit| {
            if next.inertia < best.inertia { next } else { best }
        };
        Ok(fits.into_iter().reduce(better).expect("n_init is at least 1"))
    }

    fn starting_centres<P: Points>(&self, points: &P, rng: &mut Rng, run: &Run) -> Result<Matrix> {
        let (k, rows, weights) = (self.0.k, points.rows(), points.weights());
        if k > rows.nrows() {
            // Says how many rows differ, which no start needs to know.
            random_rows(rows, None, k, &mut Rng::new(0, Stream::Ties))?;
        }
        match &self.0.start {
            Start::Given(centres) => {
                check_columns(rows.ncols(), centres)?;
                Ok(centres.clone())
            }
            Start::Random => Ok(centres_at(rows, &random_rows(rows, weights, k, rng)?)),
            Start::PlusPlus => Ok(centres_at(rows, &plus_plus(rows, weights, k, rng, run)?)),
        }
    }
}

/// What `fit` makes of `k` clusters, or of as many as there are distinct rows if they are fewer; with
/// their number.
pub(crate) fn at_most<T>(k: usize, mut fit: impl FnMut(usize) -> Result<T>) -> Result<(T, usize)> {
    match fit(k) {
        Err(Error::TooFewRows { distinct, .. }) => Ok((fit(distinct)?, distinct)),
        found => Ok((found?, k)),
    }
}

/// A table read and packed once, for many fits; all rows have weight 1.
pub(crate) enum Packed<'a> {
    Dense(Box<Dense<'a, f64>>),
    Single(Box<Dense<'a, f32>>),
    Sparse(Box<Sparse<'a>>),
}

impl<'a> Packed<'a> {
    /// Packs `data`.
    pub(crate) fn new(data: impl Into<Table<'a>>, run: &Run) -> Result<Self> {
        let data = data.into();
        run.install(|| Dense::new(data, None, run)).map(|points| Packed::Dense(Box::new(points)))
    }

    /// Packs a table in single precision.
    pub(crate) fn single(data: Table<'a, f32>, run: &Run) -> Result<Self> {
        run.install(|| Dense::new(data, None, run)).map(|points| Packed::Single(Box::new(points)))
    }

    /// Reads a sparse table.
    pub(crate) fn sparse(data: &'a SparseMatrix) -> Result<Self> {
        Ok(Packed::Sparse(Box::new(Sparse::new(data)?)))
    }

    /// Whether fits side by side are worth while: one fit after the other would fetch the rows from
    /// memory again and again.
    pub(crate) fn is_large(&self) -> bool {
        let bytes = match self {
            Packed::Dense(points) => points.bytes(),
            Packed::Single(points) => points.bytes(),
            Packed::Sparse(points) => points.bytes(),
        };
        bytes > CACHE
    }

    /// What each of `fits` makes of its generator, as [`KMeans::fit_packed`] does it, several side by
    /// side; `finish` takes what comes out. They may differ in the number of clusters only, and have
    /// one start each.
    pub(crate) fn fit_all<U: Send, E: Send + From<Error>>(
        &self,
        fits: Vec<(KMeans, Rng)>,
        run: &Run,
        finish: impl Fn(usize, KMeansFit) -> std::result::Result<U, E> + Sync,
    ) -> std::result::Result<Vec<U>, E> {
        match self {
            Packed::Dense(points) => side_by_side(&**points, fits, run, finish),
            Packed::Single(points) => side_by_side(&**points, fits, run, finish),
            Packed::Sparse(points) => side_by_side(&**points, fits, run, finish),
        }
    }
}

/// Tables of more bytes do not stay in the cache of a core.
const CACHE: usize = 1 << 20;

fn side_by_side<P: Points, U: Send, E: Send + From<Error>>(
    points: &P,
    fits: Vec<(KMeans, Rng)>,
    run: &Run,
    finish: impl Fn(usize, KMeansFit) -> std::result::Result<U, E> + Sync,
) -> std::result::Result<Vec<U>, E> {
    let Some(limits) = fits.first().map(|(kmeans, _)| kmeans.limits()) else {
        return Ok(Vec::new());
    };
    let start = |(kmeans, mut rng): (KMeans, Rng)| {
        let mut rng = Rng::new(rng.bits(), Stream::Restart(0));
        kmeans.starting_centres(points, &mut rng, run)
    };
    run.install(|| {
        let starts = fits.into_par_iter().map(start).collect::<Result<_>>()?;
        fit_all(points, starts, limits, run, &finish)
    })
}

#[cfg(test)]
mod tests;
