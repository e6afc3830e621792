//! Lloyd's iteration from given centres.

use rayon::prelude::*;

use crate::base::distance::{CHUNK, inertia, nearest, squared_distance};
use crate::base::exact_sum::{ClusterSums, Quanta};
use crate::base::kmeans::KMeansFit;
use crate::base::table::{Float, Table};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::{Run, Stop};

/// What all fits to one table share.
pub(super) struct Problem<'a, T> {
    data: Table<'a, T>,
    weights: Option<&'a [f64]>,
    quanta: Quanta,
    /// The squared movement of all centres together at which to stop.
    tolerance: f64,
}

impl<'a, T: Float> Problem<'a, T> {
    pub(super) fn new(data: Table<'a, T>, weights: Option<&'a [f64]>, tol: f64) -> Self {
        let tolerance = if tol == 0.0 { 0.0 } else { tol * mean_variance(&data, weights) };
        Problem { data, weights, quanta: Quanta::new(&data, weights), tolerance }
    }

    /// Iterates from `centres`.
    pub(super) fn fit(&self, mut centres: Matrix, max_iter: usize, run: &Run) -> Result<KMeansFit> {
        let mut labels = vec![0; self.data.nrows()];
        self.assign(&centres, &mut labels, run)?;
        let (mut iterations, mut stop) = (0, Stop::MaxIterations);
        while iterations < max_iter {
            iterations += 1;
            let before = centres.clone();
            self.update(&mut centres, &mut labels);
            let changed = self.assign(&centres, &mut labels, run)?;
            let moves = before.iter_rows().zip(centres.iter_rows());
            let moved: f64 = moves.map(|(a, b)| squared_distance(a, b)).sum();
            if !changed || (self.tolerance > 0.0 && moved <= self.tolerance) {
                stop = Stop::Converged;
                break;
            }
        }
        let inertia = inertia(&self.data, self.weights, &centres, &labels);
        Ok(KMeansFit { centres, labels, inertia, iterations, stop })
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// Labels every row with its nearest centre; says whether a label changed.
    fn assign(&self, centres: &Matrix, labels: &mut [u32], run: &Run) -> Result<bool> {
        let of_chunk = |(chunk, labels): (usize, &mut [u32])| {
            run.check()?;
            let mut changed = false;
            pulp::Arch::new().dispatch(|| {
                for (i, label) in labels.iter_mut().enumerate() {
                    let (now, _) = nearest(self.data.row(chunk * CHUNK + i), centres);
                    changed |= now != *label;
                    *label = now;
                }
            });
            Ok(changed)
        };
        let changed: Vec<bool> =
            labels.par_chunks_mut(CHUNK).enumerate().map(of_chunk).collect::<Result<_>>()?;
        Ok(changed.contains(&true))
    }

    /// Moves every centre to the mean of its rows, after empty clusters were given a row.
    fn update(&self, centres: &mut Matrix, labels: &mut [u32]) {
        let (k, d) = (centres.nrows(), centres.ncols());
        let of_chunk = |(chunk, labels): (usize, &[u32])| {
            let mut sums = ClusterSums::zeros(k, d);
            for (i, &label) in labels.iter().enumerate() {
                let i = chunk * CHUNK + i;
                sums.add(label as usize, self.data.row(i), self.weight(i), &self.quanta);
            }
            sums
        };
        let partial: Vec<ClusterSums> =
            labels.par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let mut sums = ClusterSums::zeros(k, d);
        partial.iter().for_each(|p| sums.merge(p));
        self.repair(&mut sums, centres, labels);
        sums.means_into(centres);
    }

    /// Gives every empty cluster the row farthest from its centre, the first of equals, together
    /// with all rows of the same content: a weight must do what repeated rows do. Clusters whose
    /// rows are all alike give none away.
    fn repair(&self, sums: &mut ClusterSums, centres: &Matrix, labels: &mut [u32]) {
        for empty in 0..centres.nrows() {
            if sums.n_rows(empty) > 0 {
                continue;
            }
            let mixed = self.mixed_clusters(centres.nrows(), labels);
            let mut farthest = (0.0, None);
            for (i, &label) in
                labels.iter().enumerate().filter(|(_, label)| mixed[**label as usize])
            {
                let distance = squared_distance(self.data.row(i), centres.row(label as usize));
                if distance > farthest.0 {
                    farthest = (distance, Some(i));
                }
            }
            // No cluster is mixed: there are fewer distinct rows than clusters.
            let Some(chosen) = farthest.1 else { return };
            let (row, from) = (self.data.row(chosen), labels[chosen]);
            for (i, label) in labels.iter_mut().enumerate() {
                if *label == from && self.data.row(i) == row {
                    sums.shift(from as usize, empty, row, self.weight(i), &self.quanta);
                    *label = empty as u32;
                }
            }
        }
    }

    /// Which clusters have rows of different content.
    fn mixed_clusters(&self, k: usize, labels: &[u32]) -> Vec<bool> {
        let mut first = vec![None; k];
        let mut mixed = vec![false; k];
        for (i, &label) in labels.iter().enumerate() {
            let first = *first[label as usize].get_or_insert(i);
            mixed[label as usize] |= self.data.row(first) != self.data.row(i);
        }
        mixed
    }
}

/// The weighted variance of each column, averaged over the columns.
fn mean_variance<T: Float>(data: &Table<'_, T>, weights: Option<&[f64]>) -> f64 {
    let (n, d) = (data.nrows(), data.ncols());
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total: f64 = (0..n).map(weight).sum();
    let mut mean = vec![0.0; d];
    for i in 0..n {
        for (mean, x) in mean.iter_mut().zip(data.row(i)) {
            *mean += weight(i) * x.to_f64();
        }
    }
    mean.iter_mut().for_each(|m| *m /= total);
    let squares: f64 = (0..n).map(|i| weight(i) * squared_distance(data.row(i), &mean)).sum();
    squares / total / d as f64
}
