//! Mixtures of Gaussians, fitted by EM.
//!
//! A. P. Dempster, N. M. Laird, D. B. Rubin. *Maximum Likelihood from Incomplete Data via the EM
//! Algorithm.* Journal of the Royal Statistical Society B 39(1), 1977.
//!
//! The density of a row is $p(x) = \sum_c \pi_c \, N(x; \mu_c, \Sigma_c)$. By turns, every row gets
//! memberships $r_{ic} \propto \pi_c \, N(x_i; \mu_c, \Sigma_c)$, and every component the share, the
//! mean and the covariance of the rows weighted by them.
//!
//! # Decisions
//!
//! * *Ridge.* The likelihood of a component that shrinks to a point is infinite. As Fraley and Raftery
//!   (2007) do, each component is taken to have seen, besides its rows, some scatter $R$: the variances
//!   of the columns of the whole table, times `ridge`, times the rows of an average component. So
//!   $\Sigma_c = (S_c + R) / \sum_i r_{ic}$, and what never falls is
//!   $\sum_i \ln p(x_i) - \tfrac12 \sum_c \operatorname{tr}(R \Sigma_c^{-1})$. Being a share of the
//!   variance of each column, it does not change with the units of the features.
//! * *Collapse.* A component that is left with a single row is started anew, at a row drawn at random
//!   and with half of the heaviest component, as often in one fit as there are components.
//! * *Digits.* Sums are taken around the present mean of each component, not around 0: what is
//!   subtracted afterwards is the square of one step, not of the distance to the origin.
//!
//! # Cost
//!
//! Time $O(n k d^2)$ an iteration with full or tied covariances, $O(n k d)$ with others. Memory beside
//! the table and the labels: $O(k d^2)$ or $O(k d)$, some thirty times.

mod block;
mod em;
mod model;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::base::KMeansParams;
use crate::base::gmm::em::{Em, cost, revive};
pub use crate::base::gmm::model::GmmModel;
use crate::base::gmm::model::Spread;
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::rng::{Rng, Stream};
use crate::run::{Run, Stop};
use crate::setters::setters;

/// What the covariances of the components may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// Full where there are rows enough for it, otherwise diagonal.
    Auto,
    /// Any, one for each component.
    Full,
    /// Any, one for all components.
    Tied,
    /// Axes along the features, one for each component.
    Diagonal,
    /// Balls, one size for each component.
    Spherical,
}

/// The rows, for each number that a full covariance has to fit in one column, that an average component
/// must have for [`Covariance::Auto`] to be full.
const ROWS_PER_DIMENSION: usize = 4;

impl Covariance {
    /// What [`Covariance::Auto`] is for `n` rows, `d` columns and `k` components.
    fn resolved(self, n: usize, d: usize, k: usize) -> Covariance {
        match self {
            Covariance::Auto if n / k >= ROWS_PER_DIMENSION * d => Covariance::Full,
            Covariance::Auto => Covariance::Diagonal,
            other => other,
        }
    }

    fn spread(self) -> Spread {
        match self {
            Covariance::Full => Spread::Full,
            Covariance::Tied => Spread::Tied,
            Covariance::Auto | Covariance::Diagonal | Covariance::Spherical => Spread::Diagonal,
        }
    }
}

/// Parameters of a mixture of Gaussians, not yet checked.
///
/// ```
/// use consilience::base::GmmParams;
/// use consilience::{Matrix, Run, Stream};
///
/// let data = Matrix::from_vec(6, 1, vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
/// let run = Run::new(0);
/// let fit = GmmParams::new(2).check()?.fit(&data, &run, &mut run.rng(Stream::Member(0)))?;
/// assert_eq!(fit.labels[0], fit.labels[2]);
/// assert_ne!(fit.labels[2], fit.labels[3]);
/// let sure = fit.model.memberships(&data, &run)?[(0, fit.labels[0] as usize)];
/// assert!(sure > 0.999);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GmmParams {
    k: usize,
    covariance: Covariance,
    ridge: f64,
    n_init: usize,
    max_iter: usize,
    tol: f64,
}

impl GmmParams {
    /// `k` components, covariances as the rows allow, one start by k-means, a ridge of 1e-6, at most
    /// 100 iterations, tolerance 1e-3.
    pub fn new(k: usize) -> Self {
        let covariance = Covariance::Auto;
        GmmParams { k, covariance, ridge: 1e-6, n_init: 1, max_iter: 100, tol: 1e-3 }
    }

    setters! {
        /// The number of components, at least 1.
        k: usize,

        /// What the covariances may be.
        covariance: Covariance,

        /// The share of the variance of each column that is added to the variances of a component of
        /// average size; at least 0.
        ridge: f64,

        /// How many starts are tried, at least 1; the most likely fit wins.
        n_init: usize,

        /// The largest number of iterations, at least 1.
        max_iter: usize,

        /// Stops when an iteration raises the mean log-likelihood of a row by less than this; 0 runs all
        /// iterations.
        tol: f64,
    }

    /// How many bytes a fit to `n` rows and `d` columns takes beside the table.
    pub(crate) fn cost(&self, n: usize, d: usize) -> u64 {
        let spread = self.covariance.resolved(n, d, self.k.max(1)).spread();
        4 * n as u64 + cost(n, d, self.k, spread)
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<Gmm> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        if self.n_init == 0 {
            return Err(Error::parameter("n_init", "at least 1", self.n_init));
        }
        if self.max_iter == 0 {
            return Err(Error::parameter("max_iter", "at least 1", self.max_iter));
        }
        for (name, value) in [("ridge", self.ridge), ("tol", self.tol)] {
            if !value.is_finite() || value < 0.0 {
                return Err(Error::parameter(name, "finite and >= 0", value));
            }
        }
        Ok(Gmm(self))
    }
}

/// A mixture of Gaussians with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gmm(GmmParams);

/// What one fit of a mixture produced, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct GmmFit {
    /// The mixture; it tells the memberships of any rows.
    pub model: GmmModel,
    /// The component of largest membership of every row, the first of equals.
    pub labels: Vec<u32>,
    /// $\sum_i \ln p(x_i)$.
    pub log_likelihood: f64,
    /// What never falls, the log-likelihood less the price of the ridge, divided by the number of rows:
    /// at the start, or where a component was last started anew, and after every iteration since.
    pub trace: Vec<f64>,
    /// How often the model moved.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl Gmm {
    /// The number of components.
    pub fn k(&self) -> usize {
        self.0.k
    }

    /// Fits the mixture to the rows of `data` from clusters of k-means, all random draws coming from
    /// `rng`.
    ///
    /// # Errors
    ///
    /// If fewer than `k` rows differ, if the memory ceiling is too low, or if the run is cancelled.
    pub fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<GmmFit> {
        let data = data.into();
        let kmeans = KMeansParams::new(self.0.k).check()?;
        let mut best: Option<GmmFit> = None;
        for _ in 0..self.0.n_init {
            let start = kmeans.fit(data, &run.with_seed(rng.bits()), Stream::Restart)?;
            let next = self.fit_from(data, &start.labels, run, rng)?;
            let score = |fit: &GmmFit| fit.trace.last().copied();
            if best.as_ref().is_none_or(|best| score(&next) > score(best)) {
                best = Some(next);
            }
        }
        Ok(best.expect("n_init is at least 1"))
    }

    /// Fits the mixture from the clusters that `labels`, all below `k`, make of the rows. Nothing is
    /// drawn from `rng` unless a component collapses.
    ///
    /// # Errors
    ///
    /// If there is not one label for every row, if the memory ceiling is too low, or if the run is
    /// cancelled.
    ///
    /// # Panics
    ///
    /// If a label is not below `k`.
    pub fn fit_from<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        labels: &[u32],
        run: &Run,
        rng: &mut Rng,
    ) -> Result<GmmFit> {
        let data = data.into();
        let (n, d, k) = (data.nrows(), data.ncols(), self.0.k);
        if labels.len() != n {
            return Err(Error::Length {
                what: "the list of labels to start from".to_owned(),
                got: labels.len(),
                expected_by: "the data".to_owned(),
                expected: n,
            });
        }
        let what = format!("a mixture of {k} Gaussians in {d} dimensions");
        run.ask_memory(&what, self.0.cost(n, d), "choose diagonal covariances")?;
        run.install(|| self.iterate(&data, labels, run, rng))
    }

    fn iterate<T: Float>(
        &self,
        data: &Table<'_, T>,
        labels: &[u32],
        run: &Run,
        rng: &mut Rng,
    ) -> Result<GmmFit> {
        let (n, k) = (data.nrows(), self.0.k);
        let covariance = self.0.covariance.resolved(n, data.ncols(), k);
        let round = covariance == Covariance::Spherical;
        let mut em = Em::new(data, k, covariance.spread(), round, self.0.ridge, run)?;
        let mut model = em.start(k, labels, run)?;
        let (mut trace, mut iterations, mut revivals) = (Vec::new(), 0, k);
        let (log_likelihood, stop) = loop {
            if revivals > 0
                && let Some(c) = em.collapsed(&model)
            {
                revivals -= 1;
                revive(&mut model, c, data.row(rng.below(n)));
                trace.clear();
                continue;
            }
            let log_likelihood = em.sweep(&model, None, run)?;
            let score = (log_likelihood - em.penalty(&model)) / n as f64;
            let before = trace.last().copied();
            trace.push(score);
            if self.0.tol > 0.0 && before.is_some_and(|before| score - before < self.0.tol) {
                break (log_likelihood, Stop::Converged);
            }
            if iterations == self.0.max_iter {
                break (log_likelihood, Stop::MaxIterations);
            }
            em.maximise(&mut model);
            iterations += 1;
        };
        let labels = model.predict(*data, run)?;
        Ok(GmmFit { model, labels, log_likelihood, trace, iterations, stop })
    }
}
