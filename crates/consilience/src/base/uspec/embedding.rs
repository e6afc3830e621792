//! From features to coordinates.

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::{CHUNK, check_columns};
use crate::base::table::{Float, Table};
use crate::base::uspec::graph::{Graph, weigh};
use crate::base::uspec::representatives::Representatives;
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// What gives a row of features its coordinates: it stands at the weighted mean of its nearest
/// representatives, on the unit sphere.
///
/// Coordinates are single precision: they are most of what a fit holds, and differ by far more for
/// reasons of chance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct USpecEmbedding {
    representatives: Representatives,
    sigma: Option<f64>,
    coordinates: Matrix,
}

impl USpecEmbedding {
    /// The embedding with the kernel width `sigma`, or with each row's own, and these coordinates, a row per representative.
    ///
    /// # Panics
    ///
    /// If there are more or fewer rows, or no column.
    pub fn new(representatives: Representatives, sigma: Option<f64>, coordinates: Matrix) -> Self {
        assert_eq!(coordinates.nrows(), representatives.len(), "a row per representative");
        assert!(coordinates.ncols() > 0, "one coordinate at least");
        USpecEmbedding { representatives, sigma, coordinates }
    }

    /// The representatives.
    pub fn representatives(&self) -> &Representatives {
        &self.representatives
    }

    /// The width of the kernel; `None` if each row takes its own.
    pub fn sigma(&self) -> Option<f64> {
        self.sigma
    }

    /// The coordinates of the representatives, one per row.
    pub fn coordinates(&self) -> &Matrix {
        &self.coordinates
    }

    /// How many coordinates there are.
    pub fn width(&self) -> usize {
        self.coordinates.ncols()
    }

    /// The coordinates of the rows of `data`, row by row.
    ///
    /// # Errors
    ///
    /// If `data` has another number of columns than the representatives, or if the run is cancelled.
    pub fn of<'a, T: Float>(&self, data: impl Into<Table<'a, T>>, run: &Run) -> Result<Vec<f32>> {
        let data = data.into();
        check_columns(data.ncols(), self.representatives.rows())?;
        let (n, wanted) = (data.nrows(), self.representatives.neighbours());
        run.install(|| {
            let groups = self.representatives.groups_of(data, run)?;
            self.fill(n, |chunk, take| {
                run.check()?;
                let rows = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
                let own = &groups[rows.clone()];
                let mut ids = vec![0; rows.len() * wanted];
                let mut weights = vec![0.0; rows.len() * wanted];
                self.representatives.nearest(
                    rows.map(|i| data.row(i)),
                    own,
                    &mut ids,
                    &mut weights,
                );
                weights.chunks_exact_mut(wanted).for_each(|weights| weigh(weights, self.sigma));
                let edges = ids.chunks_exact(wanted).zip(weights.chunks_exact(wanted));
                edges.for_each(|(ids, weights)| take(ids, weights));
                Ok(())
            })
        })
    }

    /// The coordinates of the rows of `graph`.
    pub(super) fn of_graph(&self, graph: &Graph, run: &Run) -> Result<Vec<f32>> {
        self.fill(graph.n_rows(), |chunk, take| {
            run.check()?;
            graph.chunk(chunk).for_each(|(ids, weights)| take(ids, weights));
            Ok(())
        })
    }

    /// The coordinates of `n` rows; `edges` tells of the rows of a chunk, one after the other.
    fn fill(
        &self,
        n: usize,
        edges: impl Fn(usize, &mut dyn FnMut(&[u32], &[f64])) -> Result<()> + Sync,
    ) -> Result<Vec<f32>> {
        let width = self.width();
        let mut coordinates = vec![0.0; n * width];
        coordinates.par_chunks_mut(CHUNK * width).enumerate().try_for_each(|(chunk, into)| {
            let mut sum = vec![0.0; width];
            let mut into = into.chunks_exact_mut(width);
            edges(chunk, &mut |ids, weights| {
                let into = into.next().expect("no more rows than places");
                self.place(ids, weights, &mut sum, into);
            })
        })?;
        Ok(coordinates)
    }

    /// Where a row with these edges stands.
    fn place(&self, ids: &[u32], weights: &[f64], sum: &mut [f64], into: &mut [f32]) {
        sum.fill(0.0);
        for (&j, b) in ids.iter().zip(weights) {
            let own = self.coordinates.row(j as usize);
            sum.iter_mut().zip(own).for_each(|(sum, x)| *sum += b * x);
        }
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            into.iter_mut().zip(sum).for_each(|(into, x)| *into = (*x / length) as f32);
        }
    }
}
