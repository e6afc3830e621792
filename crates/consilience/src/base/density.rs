//! Clusters as regions of density, found at all densities at once; rows in between are noise.
//!
//! R. J. G. B. Campello, D. Moulavi, J. Sander. *Density-Based Clustering Based on Hierarchical Density
//! Estimates.* PAKDD 2013 (HDBSCAN\*).
//!
//! The minimum spanning tree by mutual reachability is taken apart from its longest edge down. Where a
//! cluster falls into two parts of at least $s$ rows (`min_cluster_size`), these are clusters of their own;
//! smaller parts are rows that leave it. A cluster that is born at the level $\lambda_0$ (one over the
//! length of an edge) and whose rows leave it at levels $\lambda_i$ has the stability (or excess of mass)
//! $\sum_i (\lambda_i - \lambda_0)$. Of a cluster and the clusters inside it those are taken that are more
//! stable in sum, with all rows that leave them. All rows together are no cluster, and who leaves them is
//! noise.
//!
//! # Where we depart from the paper
//!
//! Edges of equal length are taken by distance (see [`SpanningTree`]), so that the order of rows does not
//! decide.
//!
//! # Cost
//!
//! That of the spanning tree and of the `min_samples` nearest rows of every row; the rest is $O(n)$.

use serde::Serialize;

use crate::base::distinct_rows::DistinctRows;
use crate::base::spanning_tree::SpanningTree;
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::graph::UnionFind;
use crate::run::Run;
use crate::setters::setters;

/// Parameters of density clustering, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DensityParams {
    k: usize,
    min_cluster_size: Option<usize>,
    min_samples: Option<usize>,
}

impl DensityParams {
    /// The number of clusters is found; `k` says how fine to look for them: a cluster has at least
    /// $n / (5 k)$ rows, and at least 5.
    pub fn new(k: usize) -> Self {
        DensityParams { k, min_cluster_size: None, min_samples: None }
    }

    setters! {
        /// How fine to look, at least 1; of no effect if the size is set.
        k: usize,

        /// How many rows a cluster has at least, 2 or more; `None` goes by `k`.
        min_cluster_size: Option<usize>,

        /// The core distance of a row is that to its so many-th nearest row, itself included; `None` is the
        /// least size of a cluster, but at most 10.
        min_samples: Option<usize>,
    }

    /// How many bytes `n` rows of `d` columns take.
    pub(crate) fn cost(&self, n: usize, d: usize) -> u64 {
        let samples = Density(self.clone()).sizes(n).1;
        DistinctRows::cost(n, d) + (32 * n * samples) as u64
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<Density> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        match (self.min_cluster_size, self.min_samples) {
            (Some(size @ 0..2), _) => Err(Error::parameter("min_cluster_size", "at least 2", size)),
            (_, Some(0)) => Err(Error::parameter("min_samples", "at least 1", 0)),
            _ => Ok(Density(self)),
        }
    }
}

/// Density clustering with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Density(DensityParams);

impl Density {
    /// The cluster of every row, numbered by their first rows; `None` is noise.
    ///
    /// # Errors
    ///
    /// If the table is empty, a value is not finite, or there are fewer rows than `min_samples`, if set.
    ///
    /// ```
    /// use consilience::base::DensityParams;
    /// use consilience::{Matrix, Run};
    /// let data = Matrix::from_vec(7, 1, vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 30.0]);
    /// let density = DensityParams::new(2).min_cluster_size(Some(3)).min_samples(Some(2)).check()?;
    /// let labels = density.fit(&data, &Run::new(0))?;
    /// assert_eq!(labels, [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1), None]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
    ) -> Result<Vec<Option<u32>>> {
        let data = data.into();
        let (size, samples) = self.sizes(data.nrows());
        Ok(labels(&SpanningTree::mutual_reachability(data, samples, run)?, size))
    }

    /// The least size of a cluster and the number of samples for `n` rows.
    fn sizes(&self, n: usize) -> (usize, usize) {
        let DensityParams { k, min_cluster_size, min_samples } = self.0;
        let size = min_cluster_size.unwrap_or((n / (5 * k.max(1))).max(5));
        (size, min_samples.unwrap_or(size.min(10).min(n.max(1))))
    }
}

/// A cluster of the condensed tree.
struct Cluster {
    parent: usize,
    birth: f64,
    stability: f64,
    /// The stability of the clusters inside, as far as they are taken.
    inside: f64,
}

impl Cluster {
    /// `rows` leave at level `lambda`.
    fn leave(&mut self, rows: u32, lambda: f64) {
        // Levels of equal rows are infinite; who leaves at birth adds nothing.
        if lambda > self.birth {
            self.stability += f64::from(rows) * (lambda - self.birth);
        }
    }
}

/// The clusters of at least `min_size` rows.
fn labels(tree: &SpanningTree, min_size: usize) -> Vec<Option<u32>> {
    let n = tree.n_rows();
    let merges = Merges::new(tree);
    let all = Cluster { parent: 0, birth: 0.0, stability: 0.0, inside: 0.0 };
    let mut clusters = vec![all];
    // The smallest cluster that every row is in.
    let mut own = vec![0; n];
    let mut path = vec![(merges.root(), 0)];
    while let Some((node, cluster)) = path.pop() {
        let Some((parts, length)) = merges.parts(node) else {
            own[node] = cluster;
            continue;
        };
        let lambda = 1.0 / length;
        let is_large = |node: usize| merges.size(node) as usize >= min_size;
        let is_split = parts.iter().all(|&part| is_large(part));
        for part in parts {
            let mut to = cluster;
            if is_split || !is_large(part) {
                clusters[cluster].leave(merges.size(part), lambda);
            }
            if is_split {
                to = clusters.len();
                clusters.push(Cluster {
                    parent: cluster,
                    birth: lambda,
                    stability: 0.0,
                    inside: 0.0,
                });
            }
            if is_large(part) {
                path.push((part, to));
            } else {
                merges.each_row(part, |row| own[row] = cluster);
            }
        }
    }
    let mut is_taken = vec![false; clusters.len()];
    for c in (1..clusters.len()).rev() {
        let Cluster { parent, stability, inside, .. } = clusters[c];
        is_taken[c] = inside <= stability;
        clusters[parent].inside += stability.max(inside);
    }
    // The outermost taken cluster around each; parents come before their children.
    let mut around: Vec<Option<usize>> = vec![None; clusters.len()];
    for c in 1..clusters.len() {
        around[c] = around[clusters[c].parent].or(is_taken[c].then_some(c));
    }
    let mut numbers = vec![None; clusters.len()];
    let mut next = 0;
    let number = |cluster: usize| {
        let number = *numbers[cluster].get_or_insert(next);
        next = next.max(number + 1);
        number
    };
    let mut number = number;
    own.into_iter().map(|cluster| around[cluster].map(&mut number)).collect()
}

/// The merges along a spanning tree. Node `i < n` is row `i`, node `n + i` what merge `i` makes.
struct Merges<'a> {
    tree: &'a SpanningTree,
    parts: Vec<[u32; 2]>,
    sizes: Vec<u32>,
}

impl<'a> Merges<'a> {
    fn new(tree: &'a SpanningTree) -> Self {
        let n = tree.n_rows();
        let mut sets = UnionFind::new(n);
        // The node of every set's representative.
        let mut node: Vec<u32> = (0..n as u32).collect();
        let (mut parts, mut sizes) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (i, edge) in tree.edges().iter().enumerate() {
            let (a, b) = (sets.find(edge.a as usize), sets.find(edge.b as usize));
            parts.push([node[a], node[b]]);
            sets.union(a, b);
            sizes.push(sets.size(a));
            node[sets.find(a)] = (n + i) as u32;
        }
        Merges { tree, parts, sizes }
    }

    fn root(&self) -> usize {
        2 * (self.tree.n_rows() - 1)
    }

    /// What a merge joined, and at what length; a row is no merge.
    fn parts(&self, node: usize) -> Option<([usize; 2], f64)> {
        let merge = node.checked_sub(self.tree.n_rows())?;
        Some((self.parts[merge].map(|part| part as usize), self.tree.edges()[merge].length))
    }

    fn size(&self, node: usize) -> u32 {
        node.checked_sub(self.tree.n_rows()).map_or(1, |merge| self.sizes[merge])
    }

    fn each_row(&self, node: usize, mut visit: impl FnMut(usize)) {
        let mut path = vec![node];
        while let Some(node) = path.pop() {
            match self.parts(node) {
                Some((parts, _)) => path.extend(parts),
                None => visit(node),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};

    fn fit(data: &Matrix, size: usize, samples: usize) -> Vec<Option<u32>> {
        let params = DensityParams::new(1).min_cluster_size(Some(size)).min_samples(Some(samples));
        params.check().unwrap().fit(data, &Run::new(0)).unwrap()
    }

    #[test]
    fn groups_are_found_and_what_lies_far_off_is_noise() {
        let mut rng = Rng::new(0, Stream::Data);
        let values = (0..600).map(|i| rng.normal() + f64::from(i / 200) * 30.0);
        let mut values: Vec<f64> = values.collect();
        values.extend([-90.0, -90.0, 150.0, 150.0]);
        let labels = fit(&Matrix::from_vec(302, 2, values), 20, 5);
        assert_eq!(labels[300..], [None, None]);
        for group in 0..3 {
            let of_group = &labels[group * 100..(group + 1) * 100];
            let inside = of_group.iter().filter(|label| **label == Some(group as u32)).count();
            assert!(inside > 90, "{of_group:?}");
        }
    }

    #[test]
    fn equal_rows_do_no_harm() {
        let data = Matrix::from_fn(40, 2, |i, _| (i / 20 * 5) as f64);
        let labels = fit(&data, 5, 5);
        assert_eq!(labels, (0..40).map(|i| Some(i / 20)).collect::<Vec<_>>());
        assert_eq!(fit(&Matrix::zeros(9, 1), 3, 2), [None; 9]);
    }

    #[test]
    fn few_rows_are_noise() {
        assert_eq!(fit(&Matrix::zeros(1, 1), 5, 1), [None]);
        assert_eq!(fit(&Matrix::from_fn(3, 1, |i, _| i as f64), 5, 2), [None; 3]);
        let by_k = DensityParams::new(3).check().unwrap();
        assert_eq!(by_k.fit(&Matrix::zeros(2, 1), &Run::new(0)), Ok(vec![None; 2]));
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for (bad, name) in [
            (DensityParams::new(0), "`k`"),
            (DensityParams::new(1).min_cluster_size(Some(1)), "`min_cluster_size`"),
            (DensityParams::new(1).min_samples(Some(0)), "`min_samples`"),
        ] {
            let refusal = bad.check().unwrap_err().to_string();
            assert!(refusal.contains(name), "{refusal}");
        }
    }
}
