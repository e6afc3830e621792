//! Hierarchical clustering of the rows of a table.
//!
//! Single link and [Genie](super::Genie) follow the minimum spanning tree. The others merge the two
//! clusters that are nearest by
//!
//! * average link: the mean distance of their rows,
//! * complete link: the largest distance of their rows,
//! * Ward (J. H. Ward, *Journal of the American Statistical Association* 58, 1963): how much the merge adds
//!   to the squared distances from the means of clusters; heights are the square roots of twice that,
//!
//! found by the nearest-neighbour [chain](super::linkage): for Ward mostly with the [means](super::ward) of
//! clusters, for the others with the [distances](super::distances) of all pairs, where most clusters merge many
//! at once before the chain begins. Equal rows are one from the
//! start, with a weight. They are in sorted order, so that ties do not depend on the order of the table.
//!
//! # Cost
//!
//! Average, complete: time $O(n^2 d)$, memory $4 n^2$ bytes. Ward: time $O(n^2 d)$ at most, in few columns much
//! less; memory $O(n d)$. In many columns it takes the distances of all pairs too, where memory suffices.

use serde::Serialize;

use crate::base::dendrogram::{Dendrogram, Merge};
use crate::base::distances::{self, Distances, average, complete, euclidean, ward};
use crate::base::distinct_rows::DistinctRows;
use crate::base::genie::{GenieParams, single_link};
use crate::base::kdtree::MAX_COLUMNS;
use crate::base::linkage::{Store, chain};
use crate::base::spanning_tree::SpanningTree;
use crate::base::table::{Float, Table};
use crate::base::ward::{Means, between_rows};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::setters::setters;

/// Rows up to which Ward takes the distances of all pairs, if there are too many columns for a k-d tree: 1.6 GB.
const MATRIX_UP_TO: usize = 20_000;

/// Which clusters merge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Linkage {
    /// Along the shortest edge of the spanning tree, but the smallest clusters first while the Gini index of
    /// the sizes is above the threshold.
    Genie {
        /// Between 0 and 1.
        threshold: f64,
    },
    /// Those of the nearest two rows.
    Single,
    /// Those whose rows are nearest on average.
    Average,
    /// Those whose farthest rows are nearest.
    Complete,
    /// Those that add least to the squared distances from the means.
    Ward,
}

/// Parameters of hierarchical clustering, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HierarchyParams {
    linkage: Linkage,
    k: usize,
}

impl HierarchyParams {
    /// `k` clusters.
    pub fn new(linkage: Linkage, k: usize) -> Self {
        HierarchyParams { linkage, k }
    }

    setters! {
        /// The number of clusters, at least 1.
        k: usize,
    }

    /// The linkage, as set.
    pub(crate) fn linkage_of(&self) -> Linkage {
        self.linkage
    }

    /// How many bytes `n` rows of `d` columns take.
    pub(crate) fn cost(&self, n: usize, d: usize) -> u64 {
        let besides = match self.linkage {
            Linkage::Genie { .. } | Linkage::Single => 0,
            Linkage::Average | Linkage::Complete => distances::cost(n, d),
            Linkage::Ward => Means::cost(n, d),
        };
        DistinctRows::cost(n, d) + besides
    }

    /// Proves the parameters valid, whatever the data.
    pub fn check(self) -> Result<Hierarchy> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        if let Linkage::Genie { threshold } = self.linkage {
            GenieParams::default().threshold(threshold).check()?;
        }
        Ok(Hierarchy(self))
    }
}

/// Hierarchical clustering with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hierarchy(HierarchyParams);

impl Hierarchy {
    /// The cluster of every row.
    ///
    /// # Errors
    ///
    /// If there are fewer distinct rows than clusters, a value is not finite, or memory does not suffice.
    pub fn fit<'a, T: Float>(&self, data: impl Into<Table<'a, T>>, run: &Run) -> Result<Vec<u32>> {
        self.merges(data, run)?.cut(self.0.k)
    }

    /// The cluster of every row, given their spanning tree, which is all that Genie and single link need.
    ///
    /// # Panics
    ///
    /// If the linkage needs more.
    pub(crate) fn fit_along(&self, tree: &SpanningTree, run: &Run) -> Result<Vec<u32>> {
        let merges = match self.0.linkage {
            Linkage::Genie { threshold } => {
                GenieParams::default().threshold(threshold).check()?.merges(tree, run)?
            }
            Linkage::Single => single_link(tree),
            other => panic!("{other:?} does not follow the spanning tree"),
        };
        merges.cut(self.0.k)
    }

    /// All merges: every number of clusters from one fit.
    ///
    /// ```
    /// use consilience::base::{HierarchyParams, Linkage};
    /// use consilience::{Matrix, Run};
    /// let data = Matrix::from_vec(5, 1, vec![0.0, 1.0, 5.0, 6.0, 20.0]);
    /// let merges = HierarchyParams::new(Linkage::Ward, 1).check()?.merges(&data, &Run::new(0))?;
    /// assert_eq!(merges.cut(2)?, [0, 0, 0, 0, 1]);
    /// assert_eq!(merges.cut(3)?, [0, 0, 1, 1, 2]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn merges<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
    ) -> Result<Dendrogram> {
        let data = data.into();
        let (n, d) = (data.nrows(), data.ncols());
        match self.0.linkage {
            Linkage::Genie { threshold } => {
                let genie = GenieParams::default().threshold(threshold).check()?;
                genie.merges(&SpanningTree::new(data, run)?, run)
            }
            Linkage::Single => Ok(single_link(&SpanningTree::new(data, run)?)),
            Linkage::Average => {
                self.by_chain(&data, run, |rows| Distances::new(rows, euclidean, average, run))
            }
            Linkage::Complete => {
                self.by_chain(&data, run, |rows| Distances::new(rows, euclidean, complete, run))
            }
            // In many columns every mean is about as far as another, and would be looked at each time.
            Linkage::Ward if d > MAX_COLUMNS && fits_matrix(n, d, run) => {
                self.by_chain(&data, run, |rows| Distances::new(rows, between_rows, ward, run))
            }
            Linkage::Ward => self.by_chain(&data, run, Means::new),
        }
    }

    fn by_chain<T: Float, S: Store>(
        &self,
        data: &Table<'_, T>,
        run: &Run,
        store: impl FnOnce(&DistinctRows) -> S + Send,
    ) -> Result<Dendrogram> {
        let n = data.nrows();
        let hint = "cluster a sample of the rows, or use `genie`, `single` or `ward`, which need no \
                    distances of all pairs";
        let bytes = self.0.cost(n, data.ncols());
        run.ask_memory(&format!("the distances of {n} rows"), bytes, hint)?;
        let distinct = DistinctRows::new(data, run)?;
        let joins = run.install(|| chain(store(&distinct), run))?;
        let first = |u: u32| distinct.rows(u as usize)[0];
        let equal = distinct.equal_pairs().map(|(a, b)| Merge { a, b, height: 0.0 });
        let merges = equal.chain(joins.iter().map(|join| {
            let distance = -join.similarity;
            let squared = self.0.linkage == Linkage::Ward;
            let height = if squared { distance.sqrt() } else { distance };
            Merge { a: first(join.a), b: first(join.b), height }
        }));
        Ok(Dendrogram::new(n, distinct.len(), merges.collect()))
    }
}

/// Whether Ward may take the distances of all pairs.
fn fits_matrix(n: usize, d: usize, run: &Run) -> bool {
    let bytes = DistinctRows::cost(n, d) + distances::cost(n, d);
    n <= MATRIX_UP_TO && run.ask_memory("", bytes, "").is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};

    const BY_CHAIN: [Linkage; 3] = [Linkage::Average, Linkage::Complete, Linkage::Ward];

    /// The distance of two clusters by definition.
    fn distance(linkage: Linkage, data: &Matrix, x: &[usize], y: &[usize]) -> f64 {
        let square =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
        let pairs = || x.iter().flat_map(|&i| y.iter().map(move |&j| (i, j)));
        let all = pairs().map(|(i, j)| square(data.row(i), data.row(j)).sqrt());
        let mean = |rows: &[usize]| -> Vec<f64> {
            let sum = |f: usize| rows.iter().map(|&i| data[(i, f)]).sum::<f64>();
            (0..data.ncols()).map(|f| sum(f) / rows.len() as f64).collect()
        };
        let (a, b) = (x.len() as f64, y.len() as f64);
        match linkage {
            Linkage::Average => all.sum::<f64>() / (a * b),
            Linkage::Complete => all.fold(0.0, f64::max),
            _ => (2.0 * a * b / (a + b) * square(&mean(x), &mean(y))).sqrt(),
        }
    }

    /// The definition: of all pairs of clusters the nearest merges.
    fn greedy(linkage: Linkage, data: &Matrix) -> (Vec<f64>, Vec<Vec<Vec<usize>>>) {
        let mut groups: Vec<Vec<usize>> = (0..data.nrows()).map(|i| vec![i]).collect();
        let (mut heights, mut levels) = (vec![], vec![groups.clone()]);
        while groups.len() > 1 {
            let pairs = (0..groups.len()).flat_map(|x| (x + 1..groups.len()).map(move |y| (x, y)));
            let of = |&(x, y): &(usize, usize)| distance(linkage, data, &groups[x], &groups[y]);
            let (x, y) = pairs.min_by(|p, q| of(p).total_cmp(&of(q))).unwrap();
            heights.push(of(&(x, y)));
            let moved = groups.remove(y);
            groups[x].extend(moved);
            groups[x].sort_unstable();
            levels.push(groups.clone());
        }
        (heights, levels)
    }

    fn assert_greedy(linkage: Linkage, data: &Matrix) {
        let hierarchy = HierarchyParams::new(linkage, 1).check().unwrap();
        let merges = hierarchy.merges(data, &Run::new(0).threads(1)).unwrap();
        let (heights, levels) = greedy(linkage, data);
        for (merge, height) in merges.merges().iter().zip(&heights) {
            assert!((merge.height - height).abs() < 1e-9 * (1.0 + height));
        }
        for groups in &levels {
            let labels = merges.cut(groups.len()).unwrap();
            for (label, group) in groups.iter().enumerate() {
                assert!(group.iter().all(|&i| labels[i] == label as u32));
            }
        }
    }

    /// Rows of which the nearest is the one before: only the first two are each other's, so that hardly
    /// anything merges at once and the chain does the work.
    fn widening(n: usize, d: usize, seed: u64) {
        let mut rng = Rng::new(seed, Stream::Data);
        let places: Vec<f64> = (0..n).map(|i| 1.5f64.powi(i as i32) + 0.1 * rng.unit()).collect();
        let order = rng.permutation(n);
        let place = |i: usize| places[order[i] as usize];
        let data = Matrix::from_fn(n, d, |i, f| if f == 0 { place(i) } else { 0.0 });
        BY_CHAIN.into_iter().for_each(|linkage| assert_greedy(linkage, &data));
    }

    #[test]
    fn rows_of_merged_clusters_are_left_out_in_time() {
        widening(100, MAX_COLUMNS + 1, 0);
    }

    proptest! {
        #[test]
        fn the_chain_is_the_greedy_tree(n in 1usize..26, few in 1usize..4, many: bool, seed: u64) {
            // Ward has another way in many columns.
            let d = if many { MAX_COLUMNS + few } else { few };
            let mut rng = Rng::new(seed, Stream::Data);
            let data = Matrix::from_vec(n, d, (0..n * d).map(|_| rng.normal()).collect());
            for linkage in BY_CHAIN {
                assert_greedy(linkage, &data);
            }
        }

        #[test]
        fn so_it_is_where_few_merge_at_once(n in 20usize..40, many: bool, seed: u64) {
            widening(n, if many { MAX_COLUMNS + 1 } else { 1 }, seed);
        }

        /// A row given twice is a row of weight two: heights are those of the plain definition.
        #[test]
        fn equal_rows_weigh_what_they_should(seed: u64, n in 2usize..9) {
            let mut rng = Rng::new(seed, Stream::Data);
            let mut data: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            (0..n).for_each(|i| data.push(data[i / 2]));
            let data = Matrix::from_vec(2 * n, 1, data);
            for linkage in BY_CHAIN {
                let hierarchy = HierarchyParams::new(linkage, 1).check().unwrap();
                let merges = hierarchy.merges(&data, &Run::new(0).threads(1)).unwrap();
                let (heights, _) = greedy(linkage, &data);
                for (merge, height) in merges.merges().iter().zip(&heights) {
                    prop_assert!((merge.height - height).abs() < 1e-9 * (1.0 + height));
                }
            }
        }

        #[test]
        fn the_order_of_rows_is_not_read(seed: u64, n in 1usize..60, k in 1usize..6) {
            let mut rng = Rng::new(seed, Stream::Data);
            // A small grid: nothing but ties.
            let data = Matrix::from_vec(n, 2, (0..2 * n).map(|_| rng.below(6) as f64).collect());
            let order: Vec<usize> = rng.permutation(n).into_iter().map(|i| i as usize).collect();
            let shuffled = data.select_rows(&order);
            let genie = Linkage::Genie { threshold: 0.3 };
            for linkage in BY_CHAIN.into_iter().chain([Linkage::Single, genie]) {
                let hierarchy = HierarchyParams::new(linkage, k).check().unwrap();
                let fit = |data: &Matrix| hierarchy.fit(data, &Run::new(0).threads(1));
                match (fit(&data), fit(&shuffled)) {
                    (Ok(labels), Ok(moved)) => {
                        for (i, &a) in order.iter().enumerate() {
                            for (j, &b) in order.iter().enumerate() {
                                prop_assert_eq!(labels[a] == labels[b], moved[i] == moved[j]);
                            }
                        }
                    }
                    (labels, moved) => prop_assert_eq!(labels, moved),
                }
            }
        }
    }

    #[test]
    fn many_rows_pass_through_compaction_and_threads_do_not_show() {
        let mut rng = Rng::new(3, Stream::Data);
        let mut table =
            |d: usize| Matrix::from_vec(500, d, (0..500 * d).map(|_| rng.normal()).collect());
        let tables = [table(2), table(MAX_COLUMNS + 1)];
        for (linkage, data) in
            BY_CHAIN.iter().flat_map(|&link| tables.iter().map(move |t| (link, t)))
        {
            let hierarchy = HierarchyParams::new(linkage, 1).check().unwrap();
            let merges = |threads| hierarchy.merges(data, &Run::new(0).threads(threads)).unwrap();
            assert_eq!(merges(1), merges(2));
            assert!(merges(1).merges().is_sorted_by_key(|merge| merge.height));
            let labels = merges(1).cut(400).unwrap();
            assert_eq!(labels.iter().max(), Some(&399));
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let data = Matrix::from_vec(4, 1, vec![0.0, 1.0, 1.0, 2.0]);
        for linkage in BY_CHAIN.into_iter().chain([Linkage::Single]) {
            assert!(HierarchyParams::new(linkage, 0).check().is_err());
            let hierarchy = HierarchyParams::new(linkage, 4).check().unwrap();
            let refused = hierarchy.fit(&data, &Run::new(0));
            assert_eq!(refused, Err(Error::TooFewRows { k: 4, distinct: 3 }));
            assert!(hierarchy.fit(&data, &Run::new(0).memory(40)).is_err());
        }
        // The distances of all pairs are 36 MB; Ward does without.
        let (many, run) =
            (Matrix::from_fn(3000, 2, |i, f| (i * (f + 7)) as f64), Run::new(0).memory(2_000_000));
        for (linkage, fits) in [(Linkage::Average, false), (Linkage::Ward, true)] {
            let hierarchy = HierarchyParams::new(linkage, 2).check().unwrap();
            assert_eq!(hierarchy.fit(&many, &run).is_ok(), fits);
        }
        assert!(HierarchyParams::new(Linkage::Genie { threshold: 2.0 }, 2).check().is_err());
    }
}
