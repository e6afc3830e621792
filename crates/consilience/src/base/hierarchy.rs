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
//! found by the nearest-neighbour [chain](super::linkage) with the formula of Lance and Williams for
//! distances from a merged cluster. Equal rows are one from the start, with a weight. They are in sorted
//! order, so that ties do not depend on the order of the table.
//!
//! # Cost
//!
//! Average, complete, Ward: time $O(n^2 d)$, memory $4 n^2$ bytes.

use rayon::prelude::*;
use serde::Serialize;

use crate::base::dendrogram::{Dendrogram, Merge};
use crate::base::distinct_rows::DistinctRows;
use crate::base::genie::{GenieParams, single_link};
use crate::base::linkage::{Store, chain};
use crate::base::spanning_tree::SpanningTree;
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;
use crate::setters::setters;

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
        match self.linkage {
            Linkage::Genie { .. } | Linkage::Single => DistinctRows::cost(n, d),
            Linkage::Average | Linkage::Complete | Linkage::Ward => {
                DistinctRows::cost(n, d) + 4 * (n as u64).pow(2)
            }
        }
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
        match self.0.linkage {
            Linkage::Genie { threshold } => {
                let genie = GenieParams::default().threshold(threshold).check()?;
                genie.merges(&SpanningTree::new(data, run)?, run)
            }
            Linkage::Single => Ok(single_link(&SpanningTree::new(data, run)?)),
            Linkage::Average => self.by_chain(&data, run, average),
            Linkage::Complete => self.by_chain(&data, run, complete),
            Linkage::Ward => self.by_chain(&data, run, ward),
        }
    }

    fn by_chain<T: Float>(
        &self,
        data: &Table<'_, T>,
        run: &Run,
        formula: impl Fn(Triple) -> f64 + Send,
    ) -> Result<Dendrogram> {
        let n = data.nrows();
        let hint = "cluster a sample of the rows, or use `genie` or `single`, which need no distances of \
                    all pairs";
        let bytes = self.0.cost(n, data.ncols());
        run.ask_memory(&format!("the distances of {n} rows"), bytes, hint)?;
        let distinct = DistinctRows::new(data, run)?;
        let squared = self.0.linkage == Linkage::Ward;
        let joins = run.install(|| {
            let distances = Distances::new(&distinct, squared, formula);
            chain(distances, run)
        })?;
        let first = |u: u32| distinct.rows(u as usize)[0];
        let equal = distinct.equal_pairs().map(|(a, b)| Merge { a, b, height: 0.0 });
        let merges = equal.chain(joins.iter().map(|join| {
            let distance = -join.similarity;
            let height = if squared { distance.max(0.0).sqrt() } else { distance };
            Merge { a: first(join.a), b: first(join.b), height }
        }));
        Ok(Dendrogram::new(n, distinct.len(), merges.collect()))
    }
}

/// Two clusters that merge and a third: their weights and distances.
#[derive(Clone, Copy)]
struct Triple {
    /// Of the two that merge and of the third.
    weights: [f64; 3],
    /// The distances of the two from the third.
    to: [f64; 2],
    /// The distance between the two.
    between: f64,
}

#[inline(always)]
fn average(Triple { weights: [a, b, _], to: [x, y], .. }: Triple) -> f64 {
    (a * x + b * y) / (a + b)
}

#[inline(always)]
fn complete(Triple { to: [x, y], .. }: Triple) -> f64 {
    if x > y { x } else { y }
}

/// On squared distances.
#[inline(always)]
fn ward(Triple { weights: [a, b, c], to: [x, y], between }: Triple) -> f64 {
    ((a + c) * x + (b + c) * y - c * between) / (a + b + c)
}

/// The distances of all pairs of clusters, row by row below the diagonal. A cluster that is gone is
/// infinitely far from all; when half of them are, the others move together.
struct Distances<F> {
    values: Vec<f64>,
    /// The cluster of every row of the triangle, ascending.
    at: Vec<u32>,
    /// The row of every cluster.
    row: Vec<u32>,
    /// The weight of every row's cluster.
    weights: Vec<f64>,
    /// The present clusters, ascending.
    groups: Vec<u32>,
    formula: F,
}

/// Where row `i` of the triangle begins.
#[inline(always)]
fn start(i: usize) -> usize {
    i * i.wrapping_sub(1) / 2
}

impl<F: Fn(Triple) -> f64> Distances<F> {
    fn new(distinct: &DistinctRows, squared: bool, formula: F) -> Self {
        let u = distinct.len();
        let weights: Vec<f64> = (0..u).map(|u| distinct.rows(u).len() as f64).collect();
        let mut values = vec![0.0; start(u)];
        let mut rows = Vec::with_capacity(u);
        let mut left = &mut values[..];
        for i in 0..u {
            let (row, rest) = left.split_at_mut(i);
            rows.push(row);
            left = rest;
        }
        rows.into_par_iter().enumerate().for_each(|(i, row)| {
            fill(&distinct.values, i, row);
            for (distance, w) in row.iter_mut().zip(&weights) {
                // Ward's distance of two rows is their distance; equal rows weigh as one cluster.
                *distance = if squared {
                    2.0 * weights[i] * w / (weights[i] + w) * *distance
                } else {
                    distance.sqrt()
                };
            }
        });
        let all: Vec<u32> = (0..u as u32).collect();
        Distances { values, at: all.clone(), row: all.clone(), weights, groups: all, formula }
    }

    /// Moves the rows of present clusters together.
    fn compact(&mut self) {
        let present: Vec<usize> =
            self.groups.iter().map(|&group| self.row[group as usize] as usize).collect();
        for (new, &old) in present.iter().enumerate() {
            for (new_other, &old_other) in present[..new].iter().enumerate() {
                self.values[start(new) + new_other] = self.values[start(old) + old_other];
            }
        }
        self.values.truncate(start(present.len()));
        self.weights = present.iter().map(|&old| self.weights[old]).collect();
        self.at = self.groups.clone();
        for (new, &group) in self.at.iter().enumerate() {
            self.row[group as usize] = new as u32;
        }
    }
}

/// Squared distances from row `i` to those before it.
fn fill(points: &Matrix, i: usize, out: &mut [f64]) {
    let point = points.row(i);
    vectorised(
        #[inline(always)]
        || {
            for (j, out) in out.iter_mut().enumerate() {
                *out = crate::base::distance::squared_distance(points.row(j), point);
            }
        },
    );
}

impl<F: Fn(Triple) -> f64> Store for Distances<F> {
    fn groups(&self) -> &[u32] {
        &self.groups
    }

    fn nearest(&self, a: u32) -> (u32, f64) {
        let a = self.row[a as usize] as usize;
        let before = &self.values[start(a)..start(a) + a];
        let least = least(before);
        let mut best = (0, f64::INFINITY);
        if least < f64::INFINITY {
            best = (before.iter().position(|&x| x == least).expect("one of them"), least);
        }
        let mut place = start(a + 1) + a;
        for other in a + 1..self.at.len() {
            let distance = self.values[place];
            if distance < best.1 {
                best = (other, distance);
            }
            place += other;
        }
        (self.at[best.0], -best.1)
    }

    fn merge(&mut self, a: u32, b: u32) {
        self.groups.retain(|&group| group != b);
        let (a, b) = (self.row[a as usize] as usize, self.row[b as usize] as usize);
        let between = self.values[start(b) + a];
        let (weight_a, weight_b) = (self.weights[a], self.weights[b]);
        let place = |i: usize, j: usize| if i > j { start(i) + j } else { start(j) + i };
        for &group in &self.groups {
            let c = self.row[group as usize] as usize;
            if c != a {
                let (to_a, to_b) = (place(a, c), place(b, c));
                self.values[to_a] = (self.formula)(Triple {
                    weights: [weight_a, weight_b, self.weights[c]],
                    to: [self.values[to_a], self.values[to_b]],
                    between,
                });
                self.values[to_b] = f64::INFINITY;
            }
        }
        self.values[place(a, b)] = f64::INFINITY;
        self.weights[a] += weight_b;
        if self.groups.len() * 2 < self.at.len() && self.at.len() > 64 {
            self.compact();
        }
    }
}

/// The least of the numbers, infinity if there are none.
fn least(values: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 8];
    let (whole, rest) = values.as_chunks::<8>();
    vectorised(
        #[inline(always)]
        || {
            for values in whole {
                for l in 0..8 {
                    lanes[l] = if values[l] < lanes[l] { values[l] } else { lanes[l] };
                }
            }
        },
    );
    lanes.iter().chain(rest).fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
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

    proptest! {
        #[test]
        fn the_chain_is_the_greedy_tree(n in 1usize..26, d in 1usize..4, seed: u64) {
            let mut rng = Rng::new(seed, Stream::Data);
            let data = Matrix::from_vec(n, d, (0..n * d).map(|_| rng.normal()).collect());
            for linkage in BY_CHAIN {
                let hierarchy = HierarchyParams::new(linkage, 1).check().unwrap();
                let merges = hierarchy.merges(&data, &Run::new(0).threads(1)).unwrap();
                let (heights, levels) = greedy(linkage, &data);
                for (merge, height) in merges.merges().iter().zip(&heights) {
                    prop_assert!((merge.height - height).abs() < 1e-9 * (1.0 + height));
                }
                for groups in &levels {
                    let labels = merges.cut(groups.len()).unwrap();
                    for (label, group) in groups.iter().enumerate() {
                        prop_assert!(group.iter().all(|&i| labels[i] == label as u32));
                    }
                }
            }
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
        let data = Matrix::from_vec(500, 2, (0..1000).map(|_| rng.normal()).collect());
        for linkage in BY_CHAIN {
            let hierarchy = HierarchyParams::new(linkage, 1).check().unwrap();
            let merges = |threads| hierarchy.merges(&data, &Run::new(0).threads(threads)).unwrap();
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
        assert!(HierarchyParams::new(Linkage::Genie { threshold: 2.0 }, 2).check().is_err());
    }
}
