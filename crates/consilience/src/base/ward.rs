//! Ward's distances between clusters, from nothing but their means and weights.
//!
//! $$ D(A, B) = \frac{2 w_A w_B}{w_A + w_B} \lVert m_A - m_B \rVert^2 $$
//!
//! is twice what the merge adds to the squared distances from the means. The means are in a k-d tree, of
//! which a look for the nearest passes over the parts whose boxes are too far for the lightest cluster in
//! them. Rounding keeps order: a bound is never above what is computed for a cluster of the part.
//!
//! # Cost
//!
//! Memory $O(n d)$. A look takes $O(n d)$ time at most, in few dimensions much less.

use rayon::prelude::*;

use crate::base::distinct_rows::DistinctRows;
use crate::base::kdtree::{Distances, KdTree, LEAF, Node, Visitor, any_within};
use crate::base::linkage::Store;
use crate::linalg::{Matrix, vectorised};

/// The name of no cluster.
const NONE: u32 = u32::MAX;

/// The weight at a place without a cluster: the lightest of a part is another one.
const GONE: f64 = 1e300;

/// Leaves that a thread looks at in one go, where all are looked at, hold about so many numbers.
const NUMBERS: usize = 1 << 16;

/// The means and weights of clusters.
pub(super) struct Means {
    tree: KdTree,
    /// The cluster at every place of the tree's leaves.
    at: Vec<u32>,
    /// The weight at every place.
    weights: Vec<f64>,
    /// The lightest below every node.
    lightest: Vec<f64>,
    /// The place of every cluster.
    place: Vec<u32>,
    present: usize,
}

impl Means {
    /// Every distinct row is a cluster. There is one.
    pub(super) fn new(rows: &DistinctRows) -> Self {
        let u = rows.len();
        let weights: Vec<f64> = (0..u).map(|u| rows.rows(u).len() as f64).collect();
        let names: Vec<u32> = (0..u as u32).collect();
        Self::of(&rows.values, &names, &weights, vec![0; u])
    }

    /// How many bytes the clusters of `n` rows take, besides those rows and a k-d tree of them.
    pub(super) fn cost(n: usize, d: usize) -> u64 {
        // When half of the clusters are gone, the others' means are copied and a tree made of them.
        (n * (4 * d + 40)) as u64 + KdTree::cost(n.div_ceil(2), d)
    }

    fn of(means: &Matrix, names: &[u32], weights: &[f64], mut place: Vec<u32>) -> Self {
        let tree = KdTree::new(means);
        let places = tree.n_leaves() * LEAF;
        let (mut at, mut weight_at) = (vec![NONE; places], vec![GONE; places]);
        for (to, &row) in tree.rows().iter().enumerate() {
            at[to] = names[row as usize];
            weight_at[to] = weights[row as usize];
            place[at[to] as usize] = to as u32;
        }
        let lightest = tree.of_nodes(|places| least(&weight_at[places]), f64::min);
        Means { tree, at, weights: weight_at, lightest, place, present: names.len() }
    }

    /// Leaves out the places of clusters that are gone.
    fn compact(&mut self) {
        let left: Vec<usize> = (0..self.at.len()).filter(|&p| self.at[p] != NONE).collect();
        let mut point = self.tree.room();
        let columns = self.tree.ncols();
        let means = left.iter().flat_map(|&place| {
            self.tree.point(place, &mut point);
            point[..columns].to_vec()
        });
        let means = Matrix::from_vec(left.len(), columns, means.collect());
        let names: Vec<u32> = left.iter().map(|&p| self.at[p]).collect();
        let weights: Vec<f64> = left.iter().map(|&p| self.weights[p]).collect();
        *self = Self::of(&means, &names, &weights, std::mem::take(&mut self.place));
    }

    /// Puts a cluster at a place, or none.
    fn put(&mut self, place: usize, name: u32, weight: f64, mean: &[f64]) {
        self.at[place] = name;
        self.weights[place] = weight;
        self.tree.put(place, mean);
        for node in self.tree.path(place).into_iter().rev() {
            self.lightest[node.index as usize] = match node.children() {
                Some((a, b)) => {
                    self.lightest[a.index as usize].min(self.lightest[b.index as usize])
                }
                None => least(&self.weights[node.places()]),
            };
        }
    }
}

/// The distance of two rows with these weights, given its square.
#[inline(always)]
pub(super) fn between_rows([a, b]: [f64; 2], square: f64) -> f64 {
    2.0 * a * b / (a + b) * square
}

fn least(weights: &[f64]) -> f64 {
    weights.iter().fold(GONE, |least, &w| least.min(w))
}

impl Store for Means {
    fn items(&self) -> usize {
        self.place.len()
    }

    fn nearest(&mut self, a: u32) -> (u32, f64) {
        let place = self.place[a as usize] as usize;
        let mut point = self.tree.room();
        self.tree.point(place, &mut point);
        let look =
            Look { means: self, own: a, weight: self.weights[place], found: (f64::INFINITY, NONE) };
        let (leaves, point) = (self.tree.n_leaves(), &point[..]);
        let found = if self.tree.is_worth_walking() {
            let mut look = look;
            vectorised(
                #[inline(always)]
                || self.tree.walk(point, &mut look),
            );
            look.found
        } else {
            let chunk = NUMBERS.div_ceil(LEAF * self.tree.ncols());
            let of_chunk = |i: usize| {
                let mut look = look;
                vectorised(
                    #[inline(always)]
                    || {
                        for leaf in i * chunk..((i + 1) * chunk).min(leaves) {
                            self.tree.show(leaf, point, &mut look);
                        }
                    },
                );
                look.found
            };
            let first = |x: (f64, u32), y: (f64, u32)| if y < x { y } else { x };
            let chunks = (0..leaves.div_ceil(chunk)).into_par_iter();
            chunks.map(of_chunk).reduce(|| look.found, first)
        };
        (found.1, -found.0)
    }

    fn merge(&mut self, a: u32, b: u32) {
        let [a_at, b_at] = [a, b].map(|group| self.place[group as usize] as usize);
        let (mut mean, mut other) = (self.tree.room(), self.tree.room());
        self.tree.point(a_at, &mut mean);
        self.tree.point(b_at, &mut other);
        let (w_a, w_b) = (self.weights[a_at], self.weights[b_at]);
        for (x, y) in mean.iter_mut().zip(&other) {
            *x = (w_a * *x + w_b * y) / (w_a + w_b);
        }
        other.fill(f64::INFINITY);
        self.put(a_at, a, w_a + w_b, &mean);
        self.put(b_at, NONE, GONE, &other);
        self.present -= 1;
        if self.present * 2 < self.at.len() && self.at.len() > 4 * LEAF {
            self.compact();
        }
    }
}

/// One cluster's look for its nearest.
#[derive(Clone, Copy)]
struct Look<'a> {
    means: &'a Means,
    own: u32,
    weight: f64,
    /// The distance of the nearest, and the first such cluster.
    found: (f64, u32),
}

impl Look<'_> {
    #[inline(always)]
    fn distance(&self, weight: f64, square: f64) -> f64 {
        between_rows([self.weight, weight], square)
    }
}

impl Visitor for Look<'_> {
    #[inline(always)]
    fn enters(&self, node: Node, gap: f64) -> bool {
        self.distance(self.means.lightest[node.index as usize], gap) <= self.found.0
    }

    #[inline(always)]
    fn leaf(&mut self, place: usize, squares: &Distances) {
        let at: &[u32; LEAF] = self.means.at[place..].first_chunk().expect("leaves are full");
        let weights: &Distances = self.means.weights[place..].first_chunk().expect("as above");
        let mut distances = [0.0; LEAF];
        for l in 0..LEAF {
            distances[l] = self.distance(weights[l], squares[l]);
        }
        if any_within(&distances, self.found.0) {
            for l in 0..LEAF {
                if (distances[l], at[l]) < self.found && at[l] != self.own {
                    self.found = (distances[l], at[l]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::table::Table;
    use crate::rng::{Rng, Stream};
    use crate::run::Run;

    proptest! {
        /// By walks and by looking at all, through merges and compaction, ties and all.
        #[test]
        fn the_nearest_is_that_of_the_definition(
            n in 2usize..200, wide: bool, grid: bool, seed: u64,
        ) {
            let (d, mut rng) = (if wide { 17 } else { 2 }, Rng::new(seed, Stream::Data));
            let values = (0..n * d).map(|_| if grid { rng.below(5) as f64 } else { rng.normal() });
            let values: Vec<f64> = values.collect();
            let run = Run::new(0).threads(1);
            let rows = DistinctRows::new(&Table::new(n, d, &values), &run).unwrap();
            let mut means = Means::new(&rows);
            let weight = |u: usize| rows.rows(u).len() as f64;
            let mut groups: Vec<(u32, f64, Vec<f64>)> = (0..rows.len())
                .map(|u| (u as u32, weight(u), rows.values.row(u).to_vec()))
                .collect();
            while groups.len() > 1 {
                let at = rng.below(groups.len());
                let (name, w, mean) = &groups[at];
                let distance = |(_, v, other): &(u32, f64, Vec<f64>)| {
                    let pairs = mean.iter().zip(other);
                    2.0 * w * v / (w + v) * pairs.fold(0.0, |s, (x, y)| s + (y - x) * (y - x))
                };
                let others = groups.iter().filter(|group| group.0 != *name);
                let nearest = others.map(|group| (distance(group), group.0));
                let (least, first) = nearest.min_by(|x, y| x.partial_cmp(y).unwrap()).unwrap();
                prop_assert_eq!(means.nearest(*name), (first, -least));
                let place = groups.iter().position(|group| group.0 == first).unwrap();
                let (b, v, other) = groups.remove(at.max(place));
                let (a, w, mean) = &mut groups[at.min(place)];
                for (x, y) in mean.iter_mut().zip(&other) {
                    *x = (*w * *x + v * y) / (*w + v);
                }
                *w += v;
                means.merge(*a, b);
            }
        }
    }
}
