//! The two steps of EM, in one pass over the rows.

use rayon::prelude::*;

use crate::base::gmm::block::{BLOCK, Block};
use crate::base::gmm::model::{GmmModel, Spread, triangle};
use crate::base::stats::Stats;
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// A component with fewer rows than this has shrunk to one of them.
const COLLAPSED: f64 = 1.5;

/// A pivot of a covariance, as a share of the variance of its column, below which it is but rounding.
const PIVOT: f64 = 1e-12;

/// Rows of one part of the sums over all rows, at least.
const PART: usize = 1024;

/// How many parts the sums over `n` rows have. It depends on nothing else, so that sums have the same
/// bits on any number of threads.
fn parts(n: usize) -> usize {
    (n / PART).clamp(1, 32)
}

/// How many bytes EM takes beside the table.
pub(super) fn cost(n: usize, d: usize, k: usize, spread: Spread) -> u64 {
    let part = 8 * (k * spread.width(d)) as u64 + Block::cost(k, d);
    (parts(n) as u64 + 1) * part + 8 * (k * (d + spread.factor(d)) + 3 * triangle(d)) as u64
}

/// Some of the rows: the room to work on them, and their sums.
struct Part {
    block: Block,
    sums: Vec<f64>,
    log_likelihood: f64,
}

/// EM on a table, with all the room it needs.
pub(super) struct Em<'a, T> {
    data: &'a Table<'a, T>,
    spread: Spread,
    /// Whether the variances of a component are one number.
    round: bool,
    mean: Vec<f64>,
    variances: Vec<f64>,
    /// What is added to the sums of squares of a component of average size, column by column.
    ridge: Vec<f64>,
    /// The sums of products of all rows, if the covariance is tied.
    scatter: Vec<f64>,
    parts: Vec<Part>,
    sums: Vec<f64>,
    /// Room for one covariance.
    covariance: Vec<f64>,
}

impl<'a, T: Float> Em<'a, T> {
    /// Reads the table.
    pub(super) fn new(
        data: &'a Table<'a, T>,
        k: usize,
        spread: Spread,
        round: bool,
        share: f64,
        run: &Run,
    ) -> Result<Self> {
        let n = data.nrows() as f64;
        let mean = Stats::new(data, None, run)?.mean();
        let of_all = |spread| {
            let whole = GmmModel::at(Matrix::from_vec(1, mean.len(), mean.clone()), spread);
            let mut em = Em::with_room(data, 1, spread, run)?;
            em.sweep(&whole, Some(&vec![0; data.nrows()]), run)?;
            Ok(em.sums.split_off(1 + data.ncols()))
        };
        let squares = of_all(Spread::Diagonal)?;
        // A column that never changes tells nothing; any variance will do for it.
        let variance = |square: &f64| if *square > 0.0 { square / n } else { 1.0 };
        let variances: Vec<f64> = squares.iter().map(variance).collect();
        let scatter = if spread == Spread::Tied { of_all(Spread::Full)? } else { Vec::new() };
        let ridge = variances.iter().map(|v| share * v * n / k as f64).collect();
        let room = Em::with_room(data, k, spread, run)?;
        Ok(Em { round, mean, variances, ridge, scatter, ..room })
    }

    fn with_room(data: &'a Table<'a, T>, k: usize, spread: Spread, run: &Run) -> Result<Self> {
        let (n, d) = (data.nrows(), data.ncols());
        run.check()?;
        let sums = vec![0.0; k * spread.width(d)];
        let part = |_| Part { block: Block::new(k, d), sums: sums.clone(), log_likelihood: 0.0 };
        let parts = (0..parts(n)).map(part).collect();
        let none = Vec::new;
        Ok(Em {
            data,
            spread,
            round: false,
            mean: none(),
            variances: none(),
            ridge: none(),
            scatter: none(),
            parts,
            sums,
            covariance: vec![0.0; spread.factor(d)],
        })
    }

    /// A model at the means of the clusters of `labels`, with their covariances.
    pub(super) fn start(&mut self, k: usize, labels: &[u32], run: &Run) -> Result<GmmModel> {
        let means = Matrix::from_fn(k, self.mean.len(), |_, j| self.mean[j]);
        let mut model = GmmModel::at(means, self.spread);
        // Products around the means of the clusters keep more digits than around the mean of all.
        for _ in 0..2 {
            self.sweep(&model, Some(labels), run)?;
            self.maximise(&mut model);
        }
        Ok(model)
    }

    /// Sums over all rows by their memberships in `model`, or by `labels`; returns the log-likelihood
    /// of the model.
    pub(super) fn sweep(
        &mut self,
        model: &GmmModel,
        labels: Option<&[u32]>,
        run: &Run,
    ) -> Result<f64> {
        let (n, data) = (self.data.nrows(), self.data);
        let rows = n.div_ceil(self.parts.len());
        self.parts.par_iter_mut().enumerate().try_for_each(|(p, part)| {
            part.sums.fill(0.0);
            part.log_likelihood = 0.0;
            let end = n.min((p + 1) * rows);
            for first in (p * rows..end).step_by(BLOCK) {
                run.check()?;
                part.block.load(data, first, end);
                match labels {
                    Some(labels) => part.block.assign(&labels[first..first + part.block.rows()]),
                    None => part.log_likelihood += part.block.expect(model),
                }
                part.block.add_to(&mut part.sums, model);
            }
            Ok(())
        })?;
        self.sums.fill(0.0);
        for part in &self.parts {
            self.sums.iter_mut().zip(&part.sums).for_each(|(sum, part)| *sum += part);
        }
        Ok(self.parts.iter().map(|part| part.log_likelihood).sum())
    }

    /// Makes the model of the last sums, which were taken around the means of the model as it is.
    pub(super) fn maximise(&mut self, model: &mut GmmModel) {
        let (n, d) = (self.data.nrows() as f64, self.data.ncols());
        let (width, k) = (self.spread.width(d), model.k());
        for c in 0..k {
            let (first, products) = self.sums[c * width..][..width].split_at_mut(1 + d);
            let (count, beyond) = (first[0], &mut first[1..]);
            *model.weight_mut(c) = count / n;
            // A mean of next to nothing would be noise.
            if count < f64::EPSILON {
                continue;
            }
            beyond.iter_mut().for_each(|x| *x /= count);
            model.mean_mut(c).iter_mut().zip(&*beyond).for_each(|(mean, x)| *mean += x);
            match self.spread {
                Spread::Tied => {}
                Spread::Diagonal => {
                    for j in 0..d {
                        let square = products[j] - count * beyond[j] * beyond[j] + self.ridge[j];
                        self.covariance[j] = (square / count).max(PIVOT * self.variances[j]);
                    }
                    if self.round {
                        let mean = self.covariance.iter().sum::<f64>() / d as f64;
                        self.covariance.fill(mean);
                    }
                    let factor = model.factor_mut(c).iter_mut();
                    factor.zip(&self.covariance).for_each(|(u, v)| *u = 1.0 / v.sqrt());
                }
                Spread::Full => {
                    let mut at = 0;
                    for i in 0..d {
                        for j in 0..=i {
                            let product = products[at] - count * beyond[i] * beyond[j];
                            let ridge = if i == j { self.ridge[i] } else { 0.0 };
                            self.covariance[at] = (product + ridge) / count;
                            at += 1;
                        }
                    }
                    invert_root(&mut self.covariance, &self.variances, model.factor_mut(c));
                }
            }
        }
        if self.spread == Spread::Tied {
            self.tie(model);
        }
        model.settle();
    }

    /// The one covariance of all components: what of the scatter of all rows is not between means.
    fn tie(&mut self, model: &mut GmmModel) {
        let (n, d, k) = (self.data.nrows() as f64, self.data.ncols(), model.k() as f64);
        self.covariance.copy_from_slice(&self.scatter);
        for c in 0..model.k() {
            let count = model.weights()[c] * n;
            let beyond = |i: usize| model.means()[(c, i)] - self.mean[i];
            let mut at = 0;
            for i in 0..d {
                for j in 0..=i {
                    self.covariance[at] -= count * beyond(i) * beyond(j);
                    at += 1;
                }
            }
        }
        (0..d).for_each(|i| self.covariance[triangle(i + 1) - 1] += k * self.ridge[i]);
        self.covariance.iter_mut().for_each(|x| *x /= n);
        invert_root(&mut self.covariance, &self.variances, model.factor_mut(0));
    }

    /// What the ridge takes off the log-likelihood: $\tfrac12 \sum_c \operatorname{tr}(R
    /// \Sigma_c^{-1})$, as if rows of that scatter had been seen in every component.
    pub(super) fn penalty(&self, model: &GmmModel) -> f64 {
        let trace = |c: usize| -> f64 {
            let factor = model.factor(c);
            let square = |u: &f64, j: usize| self.ridge[j] * u * u;
            match self.spread {
                Spread::Diagonal => factor.iter().enumerate().map(|(j, u)| square(u, j)).sum(),
                Spread::Full | Spread::Tied => (0..model.dimensions())
                    .map(|i| {
                        let row = &factor[triangle(i)..triangle(i + 1)];
                        row.iter().enumerate().map(|(j, u)| square(u, j)).sum::<f64>()
                    })
                    .sum(),
            }
        };
        0.5 * (0..model.k()).map(trace).sum::<f64>()
    }

    /// The first component that has shrunk to a single row, if there are rows enough for all to have
    /// two.
    pub(super) fn collapsed(&self, model: &GmmModel) -> Option<usize> {
        let n = self.data.nrows() as f64;
        let small = |c: &usize| model.weights()[*c] * n < COLLAPSED;
        (0..model.k()).find(small).filter(|_| n >= 2.0 * model.k() as f64)
    }
}

/// Starts component `c` anew at row `x`: it takes half of the heaviest component and its shape.
pub(super) fn revive<T: Float>(model: &mut GmmModel, c: usize, x: &[T]) {
    let weights = model.weights();
    let heavier =
        |best: usize, next: usize| if weights[next] > weights[best] { next } else { best };
    let heaviest = (0..model.k()).reduce(heavier).expect("a mixture has components");
    let half = 0.5 * (weights[heaviest] + weights[c]);
    (*model.weight_mut(heaviest), *model.weight_mut(c)) = (half, half);
    let factor = model.factor(heaviest).to_vec();
    model.factor_mut(c).copy_from_slice(&factor);
    model.mean_mut(c).iter_mut().zip(x).for_each(|(mean, x)| *mean = x.to_f64());
    model.settle();
}

/// Writes $L^{-1}$ for $A = L L^T$, both lower triangles row by row. Pivots that are but rounding, of a
/// covariance that is singular, are raised to what rounding is.
fn invert_root(a: &mut [f64], variances: &[f64], into: &mut [f64]) {
    for (i, variance) in variances.iter().enumerate() {
        let (above, row) = a[..triangle(i + 1)].split_at_mut(triangle(i));
        for j in 0..i {
            let other = &above[triangle(j)..=triangle(j) + j];
            let known: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - known) / other[j];
        }
        let known: f64 = row[..i].iter().map(|x| x * x).sum();
        row[i] = (row[i] - known).max(PIVOT * variance).sqrt();
    }
    for i in 0..variances.len() {
        let row = &a[triangle(i)..triangle(i + 1)];
        let (above, inverse) = into[..triangle(i + 1)].split_at_mut(triangle(i));
        inverse.fill(0.0);
        for (m, x) in row[..i].iter().enumerate() {
            let other = &above[triangle(m)..=triangle(m) + m];
            inverse.iter_mut().zip(other).for_each(|(sum, y)| *sum -= x * y);
        }
        inverse[i] = 1.0;
        inverse.iter_mut().for_each(|x| *x /= row[i]);
    }
}
