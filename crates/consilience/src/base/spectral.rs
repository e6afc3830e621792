//! Spectral clustering after Ng, Jordan and Weiss, of affinities between profiles.
//!
//! A. Y. Ng, M. I. Jordan, Y. Weiss. *On Spectral Clustering: Analysis and an Algorithm.* NIPS 2001.
//!
//! With $D$ the row sums of an affinity $A$, the eigenvectors of the $k$ largest eigenvalues of
//! $L = D^{-1/2} A D^{-1/2}$ are the columns of $X$; its rows, scaled to unit length, are clustered
//! by k-means.
//!
//! # On profiles
//!
//! Objects of one profile have equal rows in $A$, so a positive affinity has eigenvectors that are
//! constant on profiles, and the object-level problem shrinks to one of weighted profiles:
//! $W^{1/2} D^{-1/2} A D^{-1/2} W^{1/2}$ is $u \times u$ and has the same non-zero eigenvalues, and
//! where $A = F F^T$ with a [`Factor`], so does the $K \times K$ matrix $Y^T W Y$ with
//! $Y = D^{-1/2} F$. If $v$ is an eigenvector of the latter, $Y v / \sqrt\lambda$ is one of $L$. The
//! smallest of these matrices is used; none is built where even that would be large.
//!
//! # Decisions
//!
//! * *Ties.* If eigenvalue $k + 1$ equals eigenvalue $k$ (within 1e-9), all eigenvectors of that
//!   eigenvalue are taken: any choice among them would depend on rounding. This happens when the
//!   affinity has more than $k$ components.
//! * *Nothing.* Eigenvalues of nought (below 1e-9) carry no structure and are never used.
//! * *Starts.* Of more than 5,000 profiles k-means is started on a systematic sample of as many by
//!   weight, and goes on with all of them from the best of these starts alone: which start is the
//!   best shows on a sample as well, and ten runs over all rows would take most of the time.
//! * *Diagonal.* The paper sets $A_{ii} = 0$. Here the diagonal is kept unless `zero_diagonal` is
//!   asked for: an affinity made of clusterings is then positive semidefinite and no degree is 0.
//!   A zeroed diagonal takes each object's affinity with itself out, so $d_s$ loses $A_{ss}$ and
//!   $L$ loses $A_{ss} / d_s$ on the diagonal; contrasts within a profile have eigenvalue
//!   $-A_{ss}/d_s < 0$ and never come into play. An object of weight below 1 has no more than its
//!   weight to lose.

use rayon::prelude::*;

use crate::base::kmeans::at_most;
use crate::base::{KMeansParams, Start};
use crate::ensemble::{Factor, SAMPLE, drawn_by};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Matrix, eigen, eigenvalues, largest, product};
use crate::rng::Stream;
use crate::run::Run;
use crate::setters::setters;

/// Eigenvalues of $L$, all in [-1, 1], that differ by less are equal.
const TIE: f64 = 1e-9;

/// Up to which order of matrices things are done the direct way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// A matrix is decomposed as a whole; above, its leading eigenpairs are iterated.
    whole: usize,
    /// All eigenvalues of an affinity are computed.
    all_values: usize,
    /// A matrix is built at all; above, only products with the factor are formed.
    built: usize,
    /// All profiles take part in every start of k-means; above, a sample of so many.
    started: usize,
}

const LIMITS: Limits = Limits { whole: 1024, all_values: 2048, built: MAX_BUILT, started: SAMPLE };

/// The largest order of a matrix that is built from a [`Factor`].
pub(crate) const MAX_BUILT: usize = 4096;

/// How many bytes spectral clustering of `u` profiles with `n_clusters` clusters in all takes at its
/// peak, with the diagonal kept.
pub(crate) fn spectral_cost(u: usize, n_clusters: usize, k: usize) -> u64 {
    cost_of_order(u.min(n_clusters), u, k)
}

/// The same where the eigenproblem is of order `order`.
pub(crate) fn cost_of_order(order: usize, u: usize, k: usize) -> u64 {
    let (order, u, k) = (order as u64, u as u64, k.min(u) as u64);
    // The matrix, the eigenvectors and workspace of its decomposition, and partial sums; or the
    // bases of the iteration.
    let eigen = if order <= MAX_BUILT as u64 {
        8 * order * order
    } else {
        12 * (order + u) * (k + k / 4 + 12)
    };
    8 * (eigen + u * (3 * k + 8))
}

/// Parameters of [spectral clustering](self), not yet checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpectralParams {
    k: usize,
    restarts: usize,
    zero_diagonal: bool,
}

impl SpectralParams {
    /// `k` clusters, ten starts of k-means, the diagonal kept.
    pub(crate) fn new(k: usize) -> Self {
        SpectralParams { k, restarts: 10, zero_diagonal: false }
    }

    setters! {
        /// How many starts of k-means are tried, at least 1.
        restarts: usize,

        /// Whether an object's affinity with itself counts as nought.
        zero_diagonal: bool,
    }

    /// Proves the parameters valid, whatever the data.
    pub(crate) fn check(self) -> Result<Spectral> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        if self.restarts == 0 {
            return Err(Error::parameter("restarts", "at least 1", self.restarts));
        }
        Ok(Spectral { params: self, limits: LIMITS })
    }
}

/// Spectral clustering with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spectral {
    params: SpectralParams,
    limits: Limits,
}

/// The profiles as points whose nearness is their affinity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Embedding {
    /// The largest eigenvalues of $L$, from the first down; at least as many as were used.
    pub values: Vec<f64>,
    /// One row per profile, of unit length (or nought, where a profile has affinity with none), one
    /// column an eigenvector.
    pub rows: Matrix,
}

/// What spectral clustering produced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpectralFit {
    /// The cluster of every profile, below `k`.
    pub labels: Vec<u32>,
    /// How many clusters there are: fewer than asked for only if the embedding has fewer points.
    pub k: usize,
    /// The largest eigenvalues of $L$, from the first down.
    pub values: Vec<f64>,
}

impl Spectral {
    /// Clusters the profiles of `factor` by the affinity $F F^T$.
    ///
    /// # Cost
    ///
    /// For hard members $O(u r^2 + K^3)$ time and $O(K^2 + u k)$ memory where $K \le u$ and no
    /// zeroed diagonal is asked for; $u \times u$ matrices only for small $u$.
    pub(crate) fn fit_factor(&self, factor: &Factor<'_>, run: &Run) -> Result<SpectralFit> {
        let weights = factor.profiles().weights();
        self.cluster(weights, || self.embed_factor(factor, run), run)
    }

    /// Clusters profiles of these weights by a symmetric, non-negative $u \times u$ affinity, which
    /// is used up.
    ///
    /// # Cost
    ///
    /// $O(u^3)$ time at worst, three further $u \times u$ matrices.
    pub(crate) fn fit_affinity(
        &self,
        affinity: Matrix,
        weights: &[f64],
        run: &Run,
    ) -> Result<SpectralFit> {
        self.cluster(weights, || self.embed_affinity(affinity, weights, run), run)
    }

    /// Clusters profiles of these weights by an affinity $F F^T$ of which only two things are known:
    /// `gram`, $Y^T W Y$ with $Y = D^{-1/2} F$, which is used up, and `rows`, which multiplies $Y$ by
    /// what it is given.
    ///
    /// # Cost
    ///
    /// That of the leading eigenpairs of `gram`, of one call of `rows`, and of k-means.
    pub(crate) fn fit_through(
        &self,
        gram: Matrix,
        rows: impl FnOnce(&Matrix) -> Matrix,
        weights: &[f64],
        run: &Run,
    ) -> Result<SpectralFit> {
        let embed = || {
            let order = gram.nrows();
            let found = self.leading(gram, run)?;
            let turn = Matrix::from_fn(order, found.vectors.nrows(), |c, j| {
                found.vectors[(j, c)] / found.values[j].sqrt()
            });
            let rows = unit_rows(rows(&turn), weights);
            Ok(Embedding { values: found.values, rows })
        };
        self.cluster(weights, embed, run)
    }

    /// The embedding of [`fit_factor`](Self::fit_factor).
    pub(crate) fn embed_factor(&self, factor: &Factor<'_>, run: &Run) -> Result<Embedding> {
        let profiles = factor.profiles();
        let (u, n_clusters, weights) = (profiles.len(), profiles.n_clusters(), profiles.weights());
        let k = self.params.k;
        if self.params.zero_diagonal || u < n_clusters {
            if u <= self.limits.built {
                return self.embed_affinity(factor.affinity(), weights, run);
            }
            let (degrees, own) = self.degrees(factor.degrees(), &factor.diagonal(), weights);
            let scale = root_of_ratio(weights, &degrees);
            let apply = |x: &Matrix| {
                let image = factor.times(&factor.transposed_times(&scaled(x.clone(), &scale)));
                let mut image = scaled(image, &scale);
                for s in 0..u {
                    let row = image.row_mut(s).iter_mut().zip(x.row(s));
                    row.for_each(|(y, x)| *y -= own[s] * x);
                }
                image
            };
            let found = leading_of(u, k, apply, run)?;
            return Ok(from_profiles(&found, weights));
        }
        let degrees = factor.degrees();
        // A profile that has affinity with none counts for nothing and stands at the origin.
        let over = |w: f64, d: f64| if d > 0.0 { w / d } else { 0.0 };
        let scale: Vec<f64> = weights.iter().zip(&degrees).map(|(&w, &d)| over(w, d)).collect();
        let found = if n_clusters <= self.limits.built {
            self.leading(factor.gram(&scale), run)?
        } else {
            let apply = |x: &Matrix| factor.transposed_times(&scaled(factor.times(x), &scale));
            leading_of(n_clusters, k, apply, run)?
        };
        let roots: Vec<f64> = found.values.iter().map(|value| value.sqrt()).collect();
        let turn = Matrix::from_fn(n_clusters, found.vectors.nrows(), |c, j| {
            found.vectors[(j, c)] / roots[j]
        });
        let inverse_roots: Vec<f64> = degrees.iter().map(|d| over(1.0, d.sqrt())).collect();
        let rows = scaled(factor.times(&turn), &inverse_roots);
        Ok(Embedding { values: found.values, rows: unit_rows(rows, weights) })
    }

    /// The embedding of [`fit_affinity`](Self::fit_affinity).
    pub(crate) fn embed_affinity(
        &self,
        mut affinity: Matrix,
        weights: &[f64],
        run: &Run,
    ) -> Result<Embedding> {
        let u = weights.len();
        assert_eq!((affinity.nrows(), affinity.ncols()), (u, u), "one row and column per profile");
        let dot = |row: &[f64]| row.iter().zip(weights).map(|(a, w)| a * w).sum();
        let sums = affinity.as_slice().par_chunks_exact(u).map(dot).collect();
        let diagonal: Vec<f64> = (0..u).map(|s| affinity[(s, s)]).collect();
        let (degrees, own) = self.degrees(sums, &diagonal, weights);
        let scale = root_of_ratio(weights, &degrees);
        affinity.as_mut_slice().par_chunks_exact_mut(u).enumerate().for_each(|(s, row)| {
            row.iter_mut().zip(&scale).for_each(|(a, b)| *a *= scale[s] * b);
            row[s] -= own[s];
        });
        Ok(from_profiles(&self.leading(affinity, run)?, weights))
    }

    /// The leading eigenpairs of a symmetric matrix, ties included.
    pub(super) fn leading(&self, a: Matrix, run: &Run) -> Result<Eigen> {
        let k = self.params.k;
        // Far fewer pairs than the order, or the iteration has nothing to gain.
        if a.nrows() > self.limits.whole && k < a.nrows() / 32 {
            return leading_of(a.nrows(), k, |x| product(a.as_faer(), x.as_faer()), run);
        }
        let mut found = eigen(a, |values| used(values, k), run)?;
        found.values.truncate(found.vectors.nrows().max(k + 1));
        Ok(found)
    }

    /// The degrees, and what $L$ loses on its diagonal, from the row sums and diagonal of $A$.
    fn degrees(
        &self,
        mut sums: Vec<f64>,
        diagonal: &[f64],
        weights: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let mut own = vec![0.0; sums.len()];
        if self.params.zero_diagonal {
            for s in 0..sums.len() {
                let lost = diagonal[s] * weights[s].min(1.0);
                // What is left of a profile that has affinity with none but itself is rounding.
                let left = sums[s] - lost;
                sums[s] = if left > 1e-12 * sums[s] { left } else { 0.0 };
                own[s] = if sums[s] > 0.0 { lost / sums[s] } else { 0.0 };
            }
        }
        (sums, own)
    }

    fn cluster(
        &self,
        weights: &[f64],
        embed: impl FnOnce() -> Result<Embedding>,
        run: &Run,
    ) -> Result<SpectralFit> {
        let u = weights.len();
        if self.params.k >= u {
            return Ok(SpectralFit { labels: (0..u as u32).collect(), k: u, values: Vec::new() });
        }
        let Embedding { values, rows } = embed()?;
        let fit = |labels, k| SpectralFit { labels, k, values };
        if rows.ncols() == 0 {
            return Ok(fit(vec![0; weights.len()], 1));
        }
        let with = |k: usize| {
            let params = KMeansParams::new(k);
            let best = params.clone().n_init(self.params.restarts).check()?;
            let Some((some, own)) = drawn_by(weights, self.limits.started) else {
                return best.fit_weighted(&rows, weights, run, Stream::Inner);
            };
            let taken = |i: usize, j: usize| rows[(some[i] as usize, j)];
            let taken = Matrix::from_fn(some.len(), rows.ncols(), taken);
            match best.fit_weighted(&taken, &own, run, Stream::Inner) {
                Ok(found) => {
                    let on = params.start(Start::Given(found.centres)).check()?;
                    on.fit_weighted(&rows, weights, run, Stream::Inner)
                }
                // A sample may lack what all rows have.
                Err(Error::TooFewRows { .. }) => {
                    best.fit_weighted(&rows, weights, run, Stream::Inner)
                }
                Err(error) => Err(error),
            }
        };
        let (found, k) = at_most(self.params.k, with)?;
        Ok(fit(found.labels, k))
    }
}

/// The eigenvalues of the affinity $F F^T$ between *objects*, from the largest down, and their sum.
///
/// All that are not nought, if $\min(u, K) \le 2048$; otherwise the largest, so many that `enough`
/// is content with them.
pub(crate) fn spectrum(
    factor: &Factor<'_>,
    enough: impl Fn(&[f64], f64) -> bool,
    run: &Run,
) -> Result<(Vec<f64>, f64)> {
    spectrum_within(LIMITS, factor, enough, run)
}

fn spectrum_within(
    limits: Limits,
    factor: &Factor<'_>,
    enough: impl Fn(&[f64], f64) -> bool,
    run: &Run,
) -> Result<(Vec<f64>, f64)> {
    let profiles = factor.profiles();
    let (u, n_clusters, weights) = (profiles.len(), profiles.n_clusters(), profiles.weights());
    let trace: f64 = factor.diagonal().iter().zip(weights).map(|(a, w)| a * w).sum();
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let order = u.min(n_clusters);
    let built = || {
        if n_clusters <= u {
            return factor.gram(weights);
        }
        let mut affinity = factor.affinity();
        let rows = affinity.as_mut_slice().par_chunks_exact_mut(u).zip(&roots);
        rows.for_each(|(row, a)| row.iter_mut().zip(&roots).for_each(|(x, b)| *x *= a * b));
        affinity
    };
    let mut values = if order <= limits.all_values {
        eigenvalues(built(), run)?
    } else {
        let built = (order <= limits.built).then(built);
        let apply = |x: &Matrix| match &built {
            Some(matrix) => product(matrix.as_faer(), x.as_faer()),
            None if n_clusters <= u => factor.transposed_times(&scaled(factor.times(x), weights)),
            None => {
                let inner = factor.transposed_times(&scaled(x.clone(), &roots));
                scaled(factor.times(&inner), &roots)
            }
        };
        let mut count = 32;
        loop {
            let values = largest(order, count, apply, run)?.values;
            if count >= order || enough(&values, trace) {
                break values;
            }
            count *= 2;
        }
    };
    values.truncate(values.partition_point(|&value| value > 1e-12 * trace));
    Ok((values, trace))
}

/// How many of the eigenvectors with these values are used for `k` clusters.
fn used(values: &[f64], k: usize) -> usize {
    let positive = values.partition_point(|&value| value > TIE);
    match values.get(k - 1) {
        Some(kth) => positive.min(values.partition_point(|value| *value >= kth - TIE)),
        None => positive,
    }
}

/// The leading eigenpairs of an operator, ties included.
fn leading_of(n: usize, k: usize, apply: impl Fn(&Matrix) -> Matrix, run: &Run) -> Result<Eigen> {
    let mut count = k + 4;
    loop {
        let mut found = largest(n, count, &apply, run)?;
        let used = used(&found.values, k);
        if used < found.values.len() || count >= n {
            found.vectors = found.vectors.select_rows(&(0..used).collect::<Vec<_>>());
            return Ok(found);
        }
        count *= 2;
    }
}

/// The embedding from eigenvectors over profiles.
fn from_profiles(found: &Eigen, weights: &[f64]) -> Embedding {
    let vectors = &found.vectors;
    let rows = Matrix::from_fn(weights.len(), vectors.nrows(), |s, j| vectors[(j, s)]);
    let inverse_roots: Vec<f64> = weights.iter().map(|w| 1.0 / w.sqrt()).collect();
    let rows = unit_rows(scaled(rows, &inverse_roots), weights);
    Embedding { values: found.values.clone(), rows }
}

/// Rows to unit length. Rows of the object-level eigenvectors have squared lengths that sum to the
/// number of columns; one that is shorter than 1e-8 of the even share is rounding, and made 0.
pub(super) fn unit_rows(mut rows: Matrix, weights: &[f64]) -> Matrix {
    let columns = rows.ncols().max(1);
    let shortest = 1e-8 / weights.iter().sum::<f64>().sqrt();
    let chunks = rows.as_mut_slice().par_chunks_mut(columns).with_min_len(1024);
    chunks.for_each(|row| {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let factor = if length > shortest { 1.0 / length } else { 0.0 };
        row.iter_mut().for_each(|x| *x *= factor);
    });
    rows
}

/// $\sqrt{w / d}$; 0 where there is no degree.
fn root_of_ratio(weights: &[f64], degrees: &[f64]) -> Vec<f64> {
    let root = |(w, d): (&f64, &f64)| if *d > 0.0 { (w / d).sqrt() } else { 0.0 };
    weights.iter().zip(degrees).map(root).collect()
}

fn scaled(mut matrix: Matrix, scale: &[f64]) -> Matrix {
    let columns = matrix.ncols().max(1);
    let rows = matrix.as_mut_slice().par_chunks_mut(columns).zip(scale).with_min_len(1024);
    rows.for_each(|(row, a)| row.iter_mut().for_each(|x| *x *= a));
    matrix
}

#[cfg(test)]
mod tests;
