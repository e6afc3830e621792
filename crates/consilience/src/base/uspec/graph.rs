//! The bipartite graph of rows and representatives, and its cut.

use rayon::prelude::*;

use crate::base::distance::CHUNK;
use crate::base::spectral::SpectralParams;
use crate::base::table::{Float, Table};
use crate::base::uspec::representatives::Representatives;
use crate::error::Result;
use crate::linalg::Matrix;
use crate::math;
use crate::run::Run;

/// The edges from every row to its nearest representatives.
pub(super) struct Graph {
    /// Edges of a row.
    width: usize,
    /// The representatives of all rows.
    ids: Vec<u32>,
    /// The weights of the edges.
    weights: Vec<f64>,
    sigma: Option<f64>,
}

/// Rows of one part of the sums over all rows, at least.
const PART: usize = 1 << 16;

/// How many parts the sums over `n` rows have, each with a matrix of its own. It depends on nothing
/// else, so that sums have the same bits on any number of threads.
pub(super) fn parts(n: usize) -> usize {
    (n / PART).clamp(1, 8)
}

/// The weight of an edge to a representative at this squared distance. None is nought: a row far from
/// all representatives keeps its edges.
fn weight(square: f64, sigma: f64) -> f64 {
    if sigma > 0.0 {
        math::exp(-0.5 * (square.sqrt() / sigma).powi(2)).max(f64::EPSILON)
    } else {
        1.0
    }
}

/// Turns the squared distances of a row to its representatives into weights; without a kernel width the
/// row takes the mean of its own distances.
pub(super) fn weigh(squares: &mut [f64], sigma: Option<f64>) {
    let own = || squares.iter().map(|square| square.sqrt()).sum::<f64>() / squares.len() as f64;
    let sigma = sigma.unwrap_or_else(own);
    squares.iter_mut().for_each(|x| *x = weight(*x, sigma));
}

impl Graph {
    /// Joins every row of `data` to its nearest representatives, with one kernel width for all rows or
    /// with each row's own.
    pub(super) fn new<T: Float>(
        data: Table<'_, T>,
        representatives: &Representatives,
        own_widths: bool,
        run: &Run,
    ) -> Result<Self> {
        let (n, width) = (data.nrows(), representatives.neighbours());
        let groups = representatives.groups_of(data, run)?;
        let mut ids = vec![0; n * width];
        let mut weights = vec![0.0; n * width];
        let of_chunk = |(chunk, (ids, squares)): (usize, (&mut [u32], &mut [f64]))| {
            run.check()?;
            let rows = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
            let own = &groups[rows.clone()];
            representatives.nearest(rows.map(|i| data.row(i)), own, ids, squares);
            Ok(squares.iter().map(|square| square.sqrt()).sum::<f64>())
        };
        let chunks = ids.par_chunks_mut(CHUNK * width).zip(weights.par_chunks_mut(CHUNK * width));
        let sums: Vec<f64> = chunks.enumerate().map(of_chunk).collect::<Result<_>>()?;
        let sigma = (!own_widths).then(|| sums.iter().sum::<f64>() / (n * width) as f64);
        weights.par_chunks_mut(CHUNK * width).try_for_each(|weights| {
            run.check()?;
            weights.chunks_exact_mut(width).for_each(|weights| weigh(weights, sigma));
            Ok(())
        })?;
        Ok(Graph { width, ids, weights, sigma })
    }

    /// The mean distance of a row to its representatives; `None` if each row takes its own.
    pub(super) fn sigma(&self) -> Option<f64> {
        self.sigma
    }

    /// The edges of the rows of one chunk: representatives and weights.
    pub(super) fn chunk(&self, chunk: usize) -> impl Iterator<Item = (&[u32], &[f64])> {
        let first = chunk * CHUNK * self.width;
        let last = self.ids.len().min(first + CHUNK * self.width);
        let ids = self.ids[first..last].chunks_exact(self.width);
        ids.zip(self.weights[first..last].chunks_exact(self.width))
    }

    /// How many rows there are.
    pub(super) fn n_rows(&self) -> usize {
        self.ids.len() / self.width
    }

    /// The eigenvalues of the graph between the `p` representatives, from the largest down, and the
    /// coordinates of these for `k` clusters.
    pub(super) fn cut(&self, p: usize, k: usize, run: &Run) -> Result<(Vec<f64>, Matrix)> {
        let (mut gram, degrees) = self.between(p, run)?;
        // A representative of none has nothing to do with the others.
        let scale = |d: &f64| if *d > 0.0 { 1.0 / d.sqrt() } else { 0.0 };
        let scale: Vec<f64> = degrees.iter().map(scale).collect();
        for (row, a) in gram.as_mut_slice().chunks_exact_mut(p).zip(&scale) {
            row.iter_mut().zip(&scale).for_each(|(x, b)| *x *= a * b);
        }
        let found = SpectralParams::new(k).check()?.leading(gram, run)?;
        let coordinates = Matrix::from_fn(p, found.vectors.nrows(), |j, c| {
            scale[j] * found.vectors[(c, j)] / found.values[c].sqrt()
        });
        Ok((found.values, coordinates))
    }

    /// $B^T D_x^{-1} B$ and the sums of the columns of $B$.
    fn between(&self, p: usize, run: &Run) -> Result<(Matrix, Vec<f64>)> {
        let n = self.n_rows();
        let chunks = n.div_ceil(CHUNK);
        let part = chunks.div_ceil(parts(n));
        let of_part = |first: usize| {
            let mut gram = Matrix::zeros(p, p);
            let mut sums = vec![0.0; p];
            for chunk in first..chunks.min(first + part) {
                run.check()?;
                for (ids, weights) in self.chunk(chunk) {
                    let degree: f64 = weights.iter().sum();
                    for (&i, a) in ids.iter().zip(weights) {
                        sums[i as usize] += a;
                        let row = gram.row_mut(i as usize);
                        ids.iter()
                            .zip(weights)
                            .for_each(|(&j, b)| row[j as usize] += a * b / degree);
                    }
                }
            }
            Ok((gram, sums))
        };
        let parts = (0..chunks).step_by(part).collect::<Vec<_>>().into_par_iter().with_max_len(1);
        let mut parts = parts.map(of_part).collect::<Result<Vec<_>>>()?.into_iter();
        let (mut gram, mut sums) = parts.next().expect("a table has rows");
        for (other, more) in parts {
            gram.as_mut_slice().iter_mut().zip(other.as_slice()).for_each(|(x, y)| *x += y);
            sums.iter_mut().zip(more).for_each(|(x, y)| *x += y);
        }
        Ok((gram, sums))
    }
}
