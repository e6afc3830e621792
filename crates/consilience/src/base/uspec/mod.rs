//! U-SPEC: ultra-scalable spectral clustering.
//!
//! D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh. *Ultra-Scalable Spectral Clustering and
//! Ensemble Clustering.* IEEE TKDE 32(6), 2020.
//!
//! Spectral clustering finds clusters of any shape, but asks for the affinities of all pairs. Here
//! every object is joined to a few of $p$ *representatives* only:
//!
//! 1. Of $10 p$ objects drawn at random, k-means makes $p$ centres: the representatives.
//! 2. Every object gets its $K$ nearest representatives, approximately: the representatives are
//!    grouped in $\lfloor \sqrt p \rfloor$ groups, and the object looks for the nearest group, for the
//!    nearest representative in it, and for the $K$ nearest among that one and its $10 K$ nearest.
//! 3. The edge to a representative at distance $\delta$ has weight
//!    $b = \exp(-\delta^2 / 2 \sigma^2)$, with $\sigma$ the mean of all $n K$ distances.
//! 4. The bipartite graph $B$ is cut by way of the representatives: with $D_x$ and $D_y$ the sums of
//!    its rows and columns, the $k$ leading eigenvectors $v$ of the $p \times p$ matrix
//!    $D_y^{-1/2} B^T D_x^{-1} B D_y^{-1/2}$, of eigenvalues $\lambda$, give the objects the
//!    coordinates $D_x^{-1} B D_y^{-1/2} v / \sqrt\lambda$. Rows of unit length, they are clustered by
//!    k-means.
//!
//! With members of U-SPEC that have other representatives and another $k$ each, joined by
//! [HBGF](mod@crate::consensus), this is the paper's U-SENC.
//!
//! The coordinates of an object follow from its own features once the representatives have theirs, so
//! new objects are placed as those of the fit are: see [`USpecEmbedding`].
//!
//! # Where we depart from the paper
//!
//! * *Equal eigenvalues* at the end of the $k$ largest are all taken
//!   (see [spectral clustering](crate::base::spectral)): where the graph has more than $k$ components,
//!   which of them to tell apart would otherwise be left to rounding.
//! * *Small tables.* A representative must stand for several rows, or every row is its own and the graph
//!   falls apart. Of fewer than $5 p$ rows there are $n / 5$ representatives (or $2 k$, if that is more),
//!   and $\sigma$ is for every row the mean of its own $K$ distances: with one width for all, rows far
//!   from the others hang on by next to nothing, and are what is cut off. (On the breast cancer data of
//!   569 rows the paper's choices give two clusters of 567 and 2.) From $5 p$ rows on, 5,000 by default,
//!   all is as in the paper.
//!
//! # Cost
//!
//! Time $O(n (\sqrt p + K) d)$ for the graph, $O(p^2 (d + K + p))$ for the representatives, and
//! k-means on $n$ rows of $k$ numbers. Memory $O(n (k + K) + p^2 + p d)$.

mod embedding;
mod graph;
mod representatives;

use serde::Serialize;

use crate::base::kmeans::{KMeansFit, KMeansParams, Packed, at_most};
use crate::base::table::{Float, Table};
use crate::base::uspec::graph::Graph;
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::rng::Rng;
use crate::run::Run;
use crate::setters::setters;

pub use embedding::USpecEmbedding;
pub use representatives::Representatives;

/// How many rows a representative stands for, at least.
const ROWS_EACH: usize = 5;

/// Parameters of U-SPEC, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct USpecParams {
    k: usize,
    representatives: usize,
    neighbours: usize,
    restarts: usize,
    max_iter: usize,
}

impl USpecParams {
    /// `k` clusters, 1000 representatives, of which an object is joined to 5; three starts of k-means
    /// of at most 100 iterations.
    pub fn new(k: usize) -> Self {
        USpecParams { k, representatives: 1000, neighbours: 5, restarts: 3, max_iter: 100 }
    }

    setters! {
        /// The number of clusters, at least 1.
        k: usize,

        /// How many representatives there are, at least 1 and at least $k$; no more than a fifth of the
        /// rows or twice $k$, and than there are different rows.
        representatives: usize,

        /// To how many representatives an object is joined, at least 1.
        neighbours: usize,

        /// How many starts of k-means are tried on the coordinates, at least 1.
        restarts: usize,

        /// The largest number of iterations of that k-means, at least 1.
        max_iter: usize,
    }

    /// Proves the parameters valid, whatever the data.
    pub(crate) fn check(self) -> Result<USpec> {
        let counts = [
            ("k", self.k),
            ("representatives", self.representatives),
            ("neighbours", self.neighbours),
            ("restarts", self.restarts),
            ("max_iter", self.max_iter),
        ];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(Error::parameter(name, "at least 1", 0));
        }
        if self.representatives < self.k {
            let expected = format!("at least the number of clusters, {}", self.k);
            return Err(Error::parameter("representatives", expected, self.representatives));
        }
        Ok(USpec(self))
    }

    /// How many representatives a table of `n` rows has, if so many rows differ.
    fn representatives_of(&self, n: usize) -> usize {
        self.representatives.min((n / ROWS_EACH).max(2 * self.k))
    }

    /// How many bytes a fit to `n` rows of `d` columns takes beside them.
    pub(crate) fn cost(&self, n: usize, d: usize) -> u64 {
        let p = self.representatives_of(n).min(n);
        let candidates = (representatives::CANDIDATES * p).min(n) * d * (8 + 4);
        // The matrix of the graph, its parts, and what its eigenvectors take.
        let square = 8 * p * p * (graph::parts(n) + 4);
        let row = 12 * self.neighbours.min(p) + 2 * 4 * self.k.min(p) + 24;
        (candidates + square + n * row) as u64
    }
}

/// U-SPEC with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct USpec(USpecParams);

/// What U-SPEC produced, whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct USpecFit {
    /// The cluster of every row. There are fewer than asked for only if the rows have fewer different
    /// coordinates.
    pub labels: Vec<u32>,
    /// The centres of the clusters in the coordinates of the embedding, one per row.
    pub centres: Matrix,
    /// What gives rows their coordinates.
    pub embedding: USpecEmbedding,
    /// The largest eigenvalues of the graph between representatives, from the first down.
    pub values: Vec<f64>,
}

impl USpec {
    /// Clusters the rows of `data`; all random draws come from `rng`.
    ///
    /// # Errors
    ///
    /// If a value is not finite, if there are fewer different rows than clusters, if it would not fit
    /// in memory, or if the run is cancelled.
    pub(crate) fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<USpecFit> {
        let data = data.into();
        data.check()?;
        let (n, d) = (data.nrows(), data.ncols());
        let hint = "use fewer representatives, or another base clusterer";
        run.ask_memory(&format!("u-spec on {n} rows"), self.0.cost(n, d), hint)?;
        run.install(|| self.fit_here(data, run, rng))
    }

    fn fit_here<T: Float>(&self, data: Table<'_, T>, run: &Run, rng: &mut Rng) -> Result<USpecFit> {
        let USpecParams { k, neighbours, .. } = self.0;
        let count = self.0.representatives_of(data.nrows());
        let chosen = Representatives::choose(data, count, neighbours, run, rng)?;
        if chosen.len() < k {
            return Err(Error::TooFewRows { k, distinct: chosen.len() });
        }
        let graph = Graph::new(data, &chosen, count < self.0.representatives, run)?;
        let (values, coordinates) = graph.cut(chosen.len(), k, run)?;
        let embedding = USpecEmbedding::new(chosen, graph.sigma(), coordinates);
        let rows = embedding.of_graph(&graph, run)?;
        drop(graph);
        let found = self.cluster(Table::new(data.nrows(), embedding.width(), &rows), run, rng)?;
        Ok(USpecFit { labels: found.labels, centres: found.centres, embedding, values })
    }

    fn cluster(&self, rows: Table<'_, f32>, run: &Run, rng: &mut Rng) -> Result<KMeansFit> {
        let packed = Packed::single(rows, run)?;
        let params =
            |k| KMeansParams::new(k).n_init(self.0.restarts).max_iter(self.0.max_iter).check();
        // Fewer where the graph is fewer than k components and nothing else.
        Ok(at_most(self.0.k, |k| params(k)?.fit_packed(&packed, run, rng))?.0)
    }
}

#[cfg(test)]
mod tests;
