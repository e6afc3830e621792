//! Spectral clustering of a table: the normalised cut of its graph of nearest neighbours.
//!
//! U. von Luxburg. *A Tutorial on Spectral Clustering.* Statistics and Computing 17(4), 2007; local
//! scales: L. Zelnik-Manor, P. Perona. *Self-Tuning Spectral Clustering.* NIPS 2004.
//!
//! Rows $i$ and $j$ are joined if either is among the $K$ nearest of the other, with affinity
//! $\exp(-\lVert x_i - x_j \rVert^2 / \sigma_i \sigma_j)$, where $\sigma_i$ is the distance of row $i$
//! to its seventh neighbour: dense and sparse places count alike. The $k$ leading eigenvectors of
//! $D^{-1/2} A D^{-1/2}$ give the rows coordinates, which are scaled to unit length and clustered by
//! k-means.
//!
//! # Decisions
//!
//! * *Order of rows.* All is done on the distinct rows in sorted order, so that not even the draws of
//!   k-means can tell in which order the table has them. A row that is there $w$ times has weight $w$,
//!   which is exact: copies of a row have the same affinities and the same coordinates.
//! * *Components.* A graph of more than $k$ components has as many eigenvectors of eigenvalue 1, and
//!   which of them to use would be left to rounding. Its components are then joined along the minimum
//!   spanning tree of the rows by weak edges, the shorter the stronger.
//! * *New rows* get the cluster of the nearest row.
//!
//! # Cost
//!
//! Exact neighbours, some hundreds of products with a matrix of at most $2 n K$ entries, and k-means on
//! $n$ rows of $k$ numbers. Memory $O(n (K + k))$.

use std::ops::RangeInclusive;

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distinct_rows::DistinctRows;
use crate::base::kmeans::at_most;
use crate::base::neighbours::Neighbours;
use crate::base::spanning_tree::SpanningTree;
use crate::base::spectral::unit_rows;
use crate::base::table::{Float, Table};
use crate::base::{KMeansParams, distance::CHUNK};
use crate::error::{Error, Result};
use crate::graph::UnionFind;
use crate::linalg::{Eigen, Matrix, largest_filtered};
use crate::math;
use crate::rng::{Rng, Stream};
use crate::run::Run;
use crate::setters::setters;

/// Parameters of the normalised cut of a graph of neighbours, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeighbourCutParams {
    k: usize,
    neighbours: usize,
    restarts: usize,
}

impl NeighbourCutParams {
    /// `k` clusters, ten neighbours, ten starts of k-means.
    pub fn new(k: usize) -> Self {
        NeighbourCutParams { k, neighbours: 10, restarts: 10 }
    }

    setters! {
        /// The number of clusters, at least 1.
        k: usize,

        /// How many neighbours a row is joined to, at least 1; fewer if there are fewer rows.
        neighbours: usize,

        /// How many starts of k-means are tried on the coordinates, at least 1.
        restarts: usize,
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<NeighbourCut> {
        let counts = [("k", self.k), ("neighbours", self.neighbours), ("restarts", self.restarts)];
        match counts.iter().find(|(_, count)| *count == 0) {
            Some((name, _)) => Err(Error::parameter(name, "at least 1", 0)),
            None => Ok(NeighbourCut(self)),
        }
    }

    /// How many bytes a fit to `n` rows of `d` columns takes beside them.
    pub(crate) fn cost(&self, n: usize, d: usize) -> u64 {
        let vectors = 8 * 8 * (self.k + self.k / 4 + 8);
        (n * (24 * d + 24 * 3 * self.neighbours.min(n) + vectors)) as u64
    }
}

/// The normalised cut of a graph of neighbours with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NeighbourCut(NeighbourCutParams);

/// What the cut produced, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourCutFit {
    /// The cluster of every row. There are fewer than asked for only if the rows have fewer different
    /// coordinates.
    pub labels: Vec<u32>,
    /// The largest eigenvalues, from the first down.
    pub values: Vec<f64>,
}

impl NeighbourCut {
    /// Clusters the rows of `data`; all random draws come from `rng`.
    ///
    /// # Errors
    ///
    /// If a value is not finite, if there are fewer different rows than clusters, if it would not fit
    /// in memory, or if the run is cancelled.
    pub fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<NeighbourCutFit> {
        let data = data.into();
        let (n, d, k) = (data.nrows(), data.ncols(), self.0.k);
        let hint = "cluster a sample of the rows, or use another base clusterer";
        run.ask_memory(&format!("spectral clustering of {n} rows"), self.0.cost(n, d), hint)?;
        let distinct = DistinctRows::new(&data, run)?;
        let u = distinct.len();
        if k > u {
            return Err(Error::TooFewRows { k, distinct: u });
        }
        let (of_distinct, values) = match k {
            1 => (vec![0; u], Vec::new()),
            _ if k == u => ((0..u as u32).collect(), Vec::new()),
            _ => run.install(|| self.cut(&distinct, run, rng))?,
        };
        let mut labels = vec![0; n];
        for (of_kind, label) in of_distinct.into_iter().enumerate() {
            distinct.rows(of_kind).iter().for_each(|&row| labels[row as usize] = label);
        }
        Ok(NeighbourCutFit { labels, values })
    }

    /// The clusters of distinct rows, and the eigenvalues.
    fn cut(
        &self,
        distinct: &DistinctRows,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let (k, u) = (self.0.k, distinct.len());
        let weights: Vec<f64> = (0..u).map(|i| distinct.rows(i).len() as f64).collect();
        let edges = edges(&distinct.values, self.0.neighbours.min(u - 1), k, run)?;
        let found = eigenvectors(&edges, &weights, k, run)?;
        let labels = by_kmeans(&found, k, &weights, self.0.restarts, run, rng)?;
        Ok((labels, found.values))
    }
}

/// The clusters of the rows of `data` for every number in `ks`, all from one set of eigenvectors of the
/// graph of `neighbours` nearest rows, whose components are joined.
pub(crate) fn cut_at_every<'a, T: Float>(
    data: impl Into<Table<'a, T>>,
    neighbours: usize,
    restarts: usize,
    ks: RangeInclusive<usize>,
    run: &Run,
    rng: &mut Rng,
) -> Result<Vec<Vec<u32>>> {
    let data = data.into();
    let distinct = DistinctRows::new(&data, run)?;
    let u = distinct.len();
    let weights: Vec<f64> = (0..u).map(|i| distinct.rows(i).len() as f64).collect();
    let edges = edges(&distinct.values, neighbours.min(u - 1), 1, run)?;
    let found = eigenvectors(&edges, &weights, *ks.end(), run)?;
    let of_k = |k: usize| {
        let of_distinct = by_kmeans(&found, k, &weights, restarts, run, rng)?;
        let mut labels = vec![0; data.nrows()];
        for (of_kind, label) in of_distinct.into_iter().enumerate() {
            distinct.rows(of_kind).iter().for_each(|&row| labels[row as usize] = label);
        }
        Ok(labels)
    };
    ks.map(of_k).collect()
}

/// The `count` leading eigenvectors of the graph with these edges.
fn eigenvectors(
    edges: &[(u32, u32, f64)],
    weights: &[f64],
    count: usize,
    run: &Run,
) -> Result<Eigen> {
    let graph = Graph::new(edges, weights);
    largest_filtered(weights.len(), count, |x| graph.times(x), run)
}

/// Clusters rows by the first `k` eigenvectors.
fn by_kmeans(
    found: &Eigen,
    k: usize,
    weights: &[f64],
    restarts: usize,
    run: &Run,
    rng: &mut Rng,
) -> Result<Vec<u32>> {
    let columns = k.min(found.vectors.nrows());
    let rows =
        Matrix::from_fn(weights.len(), columns, |i, j| found.vectors[(j, i)] / weights[i].sqrt());
    let rows = unit_rows(rows, weights);
    let run_here = run.with_seed(rng.bits());
    let with = |k: usize| {
        let kmeans = KMeansParams::new(k).n_init(restarts).check()?;
        kmeans.fit_weighted(&rows, weights, &run_here, Stream::Restart)
    };
    Ok(at_most(k, with)?.0.labels)
}

/// The edges of the graph, each once, with their affinities.
fn edges(rows: &Matrix, neighbours: usize, k: usize, run: &Run) -> Result<Vec<(u32, u32, f64)>> {
    let u = rows.nrows();
    let near = Neighbours::new(rows, neighbours, run)?;
    let mut edges = Vec::with_capacity(u * neighbours);
    let mut sets = UnionFind::new(u);
    for i in 0..u {
        for (j, affinity) in near.affinities(i) {
            // Of two that are neighbours of each other, the first tells.
            if i < j as usize || !near.of(j as usize).0.contains(&(i as u32)) {
                edges.push((i as u32, j, affinity.max(f64::EPSILON)));
                sets.union(i, j as usize);
            }
        }
    }
    if sets.n_sets() > k {
        let tree = SpanningTree::new(rows, run)?;
        let bridges = tree.edges().iter().filter(|e| sets.union(e.a as usize, e.b as usize));
        let mut shortest = None;
        for bridge in bridges {
            let ratio = *shortest.get_or_insert(bridge.length) / bridge.length;
            edges.push((bridge.a, bridge.b, math::exp(-1.0) * ratio * ratio));
        }
    }
    Ok(edges)
}

/// $W^{1/2} D^{-1/2} A D^{-1/2} W^{1/2}$, row by row.
struct Graph {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Graph {
    fn new(edges: &[(u32, u32, f64)], weights: &[f64]) -> Self {
        let u = weights.len();
        // Copies of a row have affinity 1 with each other.
        let mut degrees: Vec<f64> = weights.iter().map(|w| w - 1.0).collect();
        // Every row has an entry on the diagonal.
        let mut counts = vec![1; u];
        for &(i, j, affinity) in edges {
            for (i, j) in [(i as usize, j as usize), (j as usize, i as usize)] {
                degrees[i] += affinity * weights[j];
                counts[i] += 1;
            }
        }
        let mut starts = vec![0; u + 1];
        (0..u).for_each(|i| starts[i + 1] = starts[i] + counts[i]);
        let roots: Vec<f64> = weights.iter().zip(&degrees).map(|(w, d)| (w / d).sqrt()).collect();
        let mut next = starts.clone();
        let mut columns = vec![0; starts[u]];
        let mut values = vec![0.0; starts[u]];
        let mut put = |i: usize, j: usize, value: f64| {
            (columns[next[i]], values[next[i]]) = (j as u32, value);
            next[i] += 1;
        };
        (0..u).for_each(|i| put(i, i, (weights[i] - 1.0) / degrees[i]));
        for &(i, j, affinity) in edges {
            let (i, j) = (i as usize, j as usize);
            let value = roots[i] * affinity * roots[j];
            put(i, j, value);
            put(j, i, value);
        }
        Graph { starts, columns, values }
    }

    /// The product with the columns of `x`.
    fn times(&self, x: &Matrix) -> Matrix {
        let width = x.ncols();
        let mut image = Matrix::zeros(x.nrows(), width);
        let chunks = image.as_mut_slice().par_chunks_mut(CHUNK * width).enumerate();
        chunks.for_each(|(chunk, rows)| {
            for (i, into) in rows.chunks_exact_mut(width).enumerate() {
                let i = chunk * CHUNK + i;
                for at in self.starts[i]..self.starts[i + 1] {
                    let from = x.row(self.columns[at] as usize);
                    let value = self.values[at];
                    into.iter_mut().zip(from).for_each(|(y, x)| *y += value * x);
                }
            }
        });
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Which no k-means tells apart.
    #[test]
    fn a_disc_inside_a_ring_is_a_cluster() {
        let point = |i: usize, j: usize| {
            let (angle, radius) = (i as f64 * 0.1, if i < 63 { 5.0 } else { 0.5 });
            radius * if j == 0 { angle.cos() } else { angle.sin() }
        };
        let run = Run::new(0);
        let cut = NeighbourCutParams::new(2).check().unwrap();
        let data = Matrix::from_fn(126, 2, point);
        let labels = cut.fit(&data, &run, &mut run.rng(Stream::Member(0))).unwrap().labels;
        assert!(labels[..63].iter().all(|&c| c == labels[0]));
        assert!(labels[63..].iter().all(|&c| c == 1 - labels[0]));
    }

    /// Rings inside each other, or points that cluster nowhere.
    fn points(n: usize, rings: usize, seed: u64) -> Matrix {
        let mut rng = crate::rng::Rng::new(seed, Stream::Data);
        let mut data = Matrix::zeros(n, 2);
        for i in 0..n {
            let (angle, radius) = (std::f64::consts::TAU * rng.unit(), (1 + i % rings) as f64);
            let place = [radius * angle.cos(), radius * angle.sin()];
            data.row_mut(i).iter_mut().zip(place).for_each(|(x, y)| *x = y + 0.05 * rng.normal());
        }
        data
    }

    fn fit(params: NeighbourCutParams, data: &Matrix, threads: usize) -> Result<NeighbourCutFit> {
        let run = Run::new(1).threads(threads);
        params.check()?.fit(data, &run, &mut run.rng(Stream::Member(0)))
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let two = || NeighbourCutParams::new(2);
        for (bad, name) in [
            (two().k(0), "`k`"),
            (two().neighbours(0), "`neighbours`"),
            (two().restarts(0), "`restarts`"),
        ] {
            let refusal = bad.check().unwrap_err().to_string();
            assert!(refusal.contains(name), "{refusal}");
        }
        let refused = fit(two(), &Matrix::zeros(4, 1), 1);
        assert_eq!(refused, Err(Error::TooFewRows { k: 2, distinct: 1 }));
        assert_eq!(fit(two().k(1), &Matrix::zeros(4, 1), 1).unwrap().labels, [0; 4]);
    }

    #[test]
    fn rings_are_told_apart_on_any_number_of_threads() {
        let data = points(1500, 3, 0);
        let found = fit(NeighbourCutParams::new(3), &data, 1).unwrap();
        for (i, label) in found.labels.iter().enumerate() {
            assert_eq!(*label, found.labels[i % 3], "row {i}");
        }
        assert_eq!(found, fit(NeighbourCutParams::new(3), &data, 2).unwrap());
        assert_eq!(found, fit(NeighbourCutParams::new(3), &data, 7).unwrap());
    }

    /// Six far groups, of which two are asked for: three and three, since that cuts the volume in halves.
    #[test]
    fn more_components_than_clusters_are_joined() {
        let mut rng = crate::rng::Rng::new(0, Stream::Data);
        let place = |i: usize| (i % 6) as f64 * 100.0 + if i % 6 > 2 { 500.0 } else { 0.0 };
        let data = Matrix::from_vec(180, 1, (0..180).map(|i| place(i) + rng.unit()).collect());
        let found = fit(NeighbourCutParams::new(2), &data, 1).unwrap();
        for (i, label) in found.labels.iter().enumerate() {
            assert_eq!(*label == found.labels[0], i % 6 < 3, "row {i}");
        }
    }

    /// The matrix written out and decomposed as a whole.
    fn plain_values(data: &Matrix, neighbours: usize, k: usize) -> Vec<f64> {
        let n = data.nrows();
        let square = |i: usize, j: usize| -> f64 {
            data.row(i).iter().zip(data.row(j)).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let near: Vec<Vec<usize>> = (0..n)
            .map(|i| {
                let mut others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
                others.sort_by(|&a, &b| square(i, a).total_cmp(&square(i, b)));
                others.truncate(neighbours);
                others
            })
            .collect();
        let scale = |i: usize| square(i, near[i][7.min(neighbours) - 1]).sqrt();
        let affinity = Matrix::from_fn(n, n, |i, j| {
            let joined = near[i].contains(&j) || near[j].contains(&i);
            if joined { (-square(i, j) / (scale(i) * scale(j))).exp() } else { 0.0 }
        });
        let degrees: Vec<f64> = affinity.iter_rows().map(|row| row.iter().sum()).collect();
        let l = Matrix::from_fn(n, n, |i, j| affinity[(i, j)] / (degrees[i] * degrees[j]).sqrt());
        let mut values = crate::linalg::eigenvalues(l, &Run::new(0)).unwrap();
        values.truncate(k);
        values
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn eigenvalues_are_those_of_the_matrix_written_out(
            n in 60..150usize, rings in 1..4usize, seed: u64, neighbours in 3..12usize,
        ) {
            let data = points(n, rings, seed);
            let found = fit(NeighbourCutParams::new(4).neighbours(neighbours), &data, 1).unwrap();
            let expected = plain_values(&data, neighbours, 4);
            // Of more components than clusters the graph is another one.
            if expected[3] < 1.0 - 1e-9 {
                for (a, b) in found.values.iter().zip(&expected) {
                    prop_assert!((a - b).abs() < 1e-9, "{:?} {expected:?}", found.values);
                }
            }
        }

        #[test]
        fn the_order_of_the_rows_tells_nothing(n in 20..120usize, seed: u64, copies in 0..10usize) {
            let mut data = points(n, 2, seed);
            for i in 0..copies {
                let row = data.row(0).to_vec();
                data.row_mut(i).copy_from_slice(&row);
            }
            let mut rng = crate::rng::Rng::new(seed, Stream::Order);
            let order: Vec<usize> = rng.permutation(n).into_iter().map(|i| i as usize).collect();
            let one = fit(NeighbourCutParams::new(3), &data, 1).unwrap();
            let other = fit(NeighbourCutParams::new(3), &data.select_rows(&order), 1).unwrap();
            prop_assert_eq!(&one.values, &other.values);
            prop_assert_eq!(other.labels, order.iter().map(|&i| one.labels[i]).collect::<Vec<_>>());
        }
    }
}
