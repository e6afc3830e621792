//! A fitted mixture: densities, labels and memberships of rows.

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::{CHUNK, check_columns};
use crate::base::gmm::Covariance;
use crate::base::gmm::block::{BLOCK, Block};
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::math;
use crate::run::Run;

/// What is kept of the covariances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Spread {
    /// A triangle for every component.
    Full,
    /// One triangle for all.
    Tied,
    /// A diagonal for every component.
    Diagonal,
}

impl Spread {
    /// How many numbers are summed for a component in `d` dimensions.
    pub(super) fn width(self, d: usize) -> usize {
        1 + d
            + match self {
                Spread::Full => triangle(d),
                Spread::Tied => 0,
                Spread::Diagonal => d,
            }
    }

    /// How many numbers a factor of a precision has.
    pub(super) fn factor(self, d: usize) -> usize {
        match self {
            Spread::Full | Spread::Tied => triangle(d),
            Spread::Diagonal => d,
        }
    }
}

/// The entries of a triangle with its diagonal.
pub(super) fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// A mixture of Gaussians.
///
/// Of every covariance $\Sigma = L L^T$ the factor $U = L^{-1}$ of the precision is kept: the density
/// needs $\lVert U (x - \mu) \rVert^2$.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GmmModel {
    spread: Spread,
    /// One row per component.
    means: Matrix,
    weights: Vec<f64>,
    /// The factors, one after the other, triangles row by row; one if it is tied.
    factors: Vec<f64>,
    /// For every component $\ln(\pi_c \lvert U_c \rvert / (2 \pi)^{d/2})$.
    constants: Vec<f64>,
}

impl GmmModel {
    /// A model of these means, its weights equal and its factors nought, to be filled in.
    pub(super) fn at(means: Matrix, spread: Spread) -> Self {
        let (k, d) = (means.nrows(), means.ncols());
        let count = if spread == Spread::Tied { 1 } else { k };
        GmmModel {
            spread,
            means,
            weights: vec![1.0 / k as f64; k],
            factors: vec![0.0; count * spread.factor(d)],
            constants: vec![0.0; k],
        }
    }

    /// The mixture of these components: covariances of a kind that is not [`Covariance::Auto`], the
    /// factors as [`factors`](Self::factors) tells them.
    ///
    /// # Errors
    ///
    /// If a list is not as long as the means make it.
    pub fn from_factors(
        covariance: Covariance,
        means: Matrix,
        weights: &[f64],
        factors: &[f64],
    ) -> Result<Self> {
        let mut model = GmmModel::at(means, covariance.spread());
        for (what, given, own) in
            [("weights", weights, &mut model.weights), ("factors", factors, &mut model.factors)]
        {
            if given.len() != own.len() {
                return Err(Error::Length {
                    what: format!("the list of {what}"),
                    got: given.len(),
                    expected_by: "the list of means".to_owned(),
                    expected: own.len(),
                });
            }
            own.copy_from_slice(given);
        }
        model.settle();
        Ok(model)
    }

    /// What the covariances are: full, tied or diagonal.
    pub fn covariance(&self) -> Covariance {
        match self.spread {
            Spread::Full => Covariance::Full,
            Spread::Tied => Covariance::Tied,
            Spread::Diagonal => Covariance::Diagonal,
        }
    }

    /// The factors $U$ of the precisions $\Sigma^{-1} = U^T U$, one after the other: lower triangles
    /// row by row, or diagonals.
    pub fn factors(&self) -> &[f64] {
        &self.factors
    }

    /// The number of components.
    pub fn k(&self) -> usize {
        self.means.nrows()
    }

    /// The number of features.
    pub fn dimensions(&self) -> usize {
        self.means.ncols()
    }

    /// The means, one per row.
    pub fn means(&self) -> &Matrix {
        &self.means
    }

    /// The share of every component in the rows; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    pub(super) fn spread(&self) -> Spread {
        self.spread
    }

    /// Where the factor of component `c` begins.
    fn place(&self, c: usize) -> usize {
        if self.spread == Spread::Tied { 0 } else { c * self.spread.factor(self.dimensions()) }
    }

    /// The mean of component `c`, the factor of its precision, and the constant of its density.
    pub(super) fn component(&self, c: usize) -> (&[f64], &[f64], f64) {
        (self.means.row(c), self.factor(c), self.constants[c])
    }

    pub(super) fn factor(&self, c: usize) -> &[f64] {
        &self.factors[self.place(c)..][..self.spread.factor(self.dimensions())]
    }

    pub(super) fn factor_mut(&mut self, c: usize) -> &mut [f64] {
        let (at, len) = (self.place(c), self.spread.factor(self.dimensions()));
        &mut self.factors[at..][..len]
    }

    pub(super) fn mean_mut(&mut self, c: usize) -> &mut [f64] {
        self.means.row_mut(c)
    }

    pub(super) fn weight_mut(&mut self, c: usize) -> &mut f64 {
        &mut self.weights[c]
    }

    /// Makes the constants anew from weights and factors.
    pub(super) fn settle(&mut self) {
        let d = self.dimensions();
        for c in 0..self.k() {
            let factor = self.factor(c);
            let diagonal = |i: usize| match self.spread {
                Spread::Full | Spread::Tied => factor[triangle(i + 1) - 1],
                Spread::Diagonal => factor[i],
            };
            let log_det: f64 = (0..d).map(|i| math::ln(diagonal(i))).sum();
            // A component that nobody belongs to has a weight of 0, and no density anywhere.
            let log_weight = math::ln(self.weights[c].max(f64::MIN_POSITIVE));
            self.constants[c] =
                log_weight + log_det - 0.5 * d as f64 * math::ln(std::f64::consts::TAU);
        }
    }

    /// The component of largest membership of every row, the first of equals.
    ///
    /// # Errors
    ///
    /// If the rows are of another width, or if the run is cancelled.
    pub fn predict<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
    ) -> Result<Vec<u32>> {
        let data = data.into();
        let mut labels = vec![0; data.nrows()];
        self.in_blocks(&data, &mut labels, 1, run, |block, labels| block.labels(self, labels))?;
        Ok(labels)
    }

    /// The memberships of every row, n × k, rows summing to 1.
    ///
    /// # Errors
    ///
    /// If the rows are of another width, or if the run is cancelled.
    pub fn memberships<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
    ) -> Result<Matrix> {
        let (data, k) = (data.into(), self.k());
        let mut memberships = Matrix::zeros(data.nrows(), k);
        self.in_blocks(&data, memberships.as_mut_slice(), k, run, |block, into| {
            block.expect(self);
            block.write(into);
        })?;
        Ok(memberships)
    }

    /// Fills in `width` values for every row, block by block.
    fn in_blocks<T: Float, V: Send>(
        &self,
        data: &Table<'_, T>,
        values: &mut [V],
        width: usize,
        run: &Run,
        write: impl Fn(&mut Block, &mut [V]) + Sync,
    ) -> Result<()> {
        check_columns(data.ncols(), &self.means)?;
        run.install(|| {
            let chunks = values.par_chunks_mut(CHUNK * width).enumerate();
            chunks.try_for_each(|(chunk, values)| {
                run.check()?;
                let mut block = Block::new(self.k(), data.ncols());
                for (b, values) in values.chunks_mut(BLOCK * width).enumerate() {
                    let first = chunk * CHUNK + b * BLOCK;
                    block.load(data, first, first + values.len() / width);
                    write(&mut block, values);
                }
                Ok(())
            })
        })
    }
}
