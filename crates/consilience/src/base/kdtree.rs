//! A k-d tree: the points in a box, halved again and again across its longest side.
//!
//! Halves are counted in leaves of [`LEAF`] points, so that all leaves but the last are full and the tree
//! needs no pointers: with the nodes in the order of a walk from left to right, the left child of node
//! $i$ is $i + 1$ and the right child of a node with $l$ leaves on its left is $i + 2l$.
//!
//! The points of a leaf are stored coordinate by coordinate, so that one register holds one coordinate of
//! several points. A distance is a sum over coordinates in their order, in `f64`, without fused
//! operations: the same bits on every machine and in every search.

use std::ops::Range;

use rayon::prelude::*;

use crate::linalg::Matrix;

/// Points of a leaf.
pub(super) const LEAF: usize = 16;

/// Squared distances to the points of one leaf.
pub(super) type Distances = [f64; LEAF];

/// Coordinates of a box that are handled together.
const LANES: usize = 4;

/// The largest number of columns for which walking is quicker than looking at all points.
pub(super) const MAX_COLUMNS: usize = 15;

/// Subtrees of fewer leaves are built on one thread.
const SERIAL: usize = 64;

/// A k-d tree over the rows of a matrix. Points are known by their *place*, their position among the
/// leaves; equal matrices have equal trees.
#[derive(Clone, Debug)]
pub(super) struct KdTree {
    d: usize,
    /// The row of the matrix at every place.
    rows: Vec<u32>,
    /// Leaf by leaf, coordinate by coordinate. What fills up the last leaf is infinitely far away.
    values: Vec<f64>,
    /// The lower, then the upper corner of every node's box, padded with zeros to whole lanes.
    boxes: Vec<[f64; LANES]>,
}

/// A node of the tree and the leaves below it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub(super) index: u32,
    first: u32,
    leaves: u32,
}

impl Node {
    /// The places of its leaves, which may go beyond the last point.
    pub(super) fn places(self) -> Range<usize> {
        self.first as usize * LEAF..(self.first + self.leaves) as usize * LEAF
    }

    /// Both halves; a leaf has none.
    #[inline(always)]
    pub(super) fn children(self) -> Option<(Node, Node)> {
        let left = self.leaves / 2;
        let (index, first) = (self.index, self.first);
        (left > 0).then(|| {
            (
                Node { index: index + 1, first, leaves: left },
                Node { index: index + 2 * left, first: first + left, leaves: self.leaves - left },
            )
        })
    }
}

/// What a search makes of the tree.
pub(super) trait Visitor {
    /// Whether something in the node may matter, whose points are at least `gap` away, squared. What is too
    /// far once stays so.
    fn enters(&self, node: Node, gap: f64) -> bool;

    /// Hears the squared distances to the points of a leaf, the first of which is at `place`.
    fn leaf(&mut self, place: usize, distances: &Distances);
}

impl KdTree {
    /// How many bytes the tree of `n` points takes.
    pub(super) fn cost(n: usize, d: usize) -> u64 {
        let leaves = n.div_ceil(LEAF);
        (8 * leaves * LEAF * d + 4 * n + 64 * leaves * d.div_ceil(LANES) * 2) as u64
    }

    /// The tree over the rows of `points`, of which there is one at least.
    pub(super) fn new(points: &Matrix) -> Self {
        let (n, d) = (points.nrows(), points.ncols());
        let leaves = n.div_ceil(LEAF);
        let corner = d.div_ceil(LANES);
        let mut tree = KdTree {
            d,
            rows: (0..n as u32).collect(),
            values: vec![f64::INFINITY; leaves * LEAF * d],
            boxes: vec![[0.0; LANES]; (2 * leaves - 1) * 2 * corner],
        };
        split(points, &mut tree.rows, &mut tree.boxes, leaves);
        let (values, rows) = (&mut tree.values, &tree.rows);
        values.par_chunks_mut(LEAF * d).zip(rows.par_chunks(LEAF)).for_each(|(leaf, rows)| {
            for (l, &row) in rows.iter().enumerate() {
                for (f, &x) in points.row(row as usize).iter().enumerate() {
                    leaf[f * LEAF + l] = x;
                }
            }
        });
        tree
    }

    /// The number of coordinates.
    pub(super) fn ncols(&self) -> usize {
        self.d
    }

    /// The number of points.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row at every place.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The node of all points.
    pub(super) fn root(&self) -> Node {
        Node { index: 0, first: 0, leaves: self.n_leaves() as u32 }
    }

    /// Whether walks are quicker than looking at all leaves. In many dimensions nearly every box is near.
    pub(super) fn is_worth_walking(&self) -> bool {
        self.d <= MAX_COLUMNS
    }

    /// The number of leaves.
    pub(super) fn n_leaves(&self) -> usize {
        self.len().div_ceil(LEAF)
    }

    /// Shows `visitor` one leaf as seen from `point`. To be called inside `vectorised`.
    #[inline(always)]
    pub(super) fn show(&self, leaf: usize, point: &[f64], visitor: &mut impl Visitor) {
        visitor.leaf(leaf * LEAF, &self.distances(leaf, point));
    }

    /// Something of every node, from the points upwards: `leaf` makes it of a leaf's places, `join` of
    /// both children's.
    pub(super) fn of_nodes<V: Copy + Default>(
        &self,
        leaf: impl Fn(Range<usize>) -> V,
        join: impl Fn(V, V) -> V,
    ) -> Vec<V> {
        let mut all = vec![V::default(); 2 * self.n_leaves() - 1];
        let mut path = vec![(self.root(), false)];
        while let Some((node, seen)) = path.pop() {
            match node.children() {
                None => {
                    let Range { start, end } = node.places();
                    all[node.index as usize] = leaf(start..end.min(self.len()));
                }
                Some((a, b)) if seen => {
                    all[node.index as usize] = join(all[a.index as usize], all[b.index as usize]);
                }
                Some((a, b)) => path.extend([(node, true), (b, false), (a, false)]),
            }
        }
        all
    }

    /// Writes the point at `place` into `point`, padded as [`walk`](Self::walk) wants it.
    #[inline(always)]
    pub(super) fn point(&self, place: usize, point: &mut [f64]) {
        let leaf = &self.values[place / LEAF * LEAF * self.d..];
        for f in 0..self.d {
            point[f] = leaf[f * LEAF + place % LEAF];
        }
    }

    /// Puts a point at `place`, infinitely far away if there is to be none, and fits the boxes around it.
    pub(super) fn put(&mut self, place: usize, point: &[f64]) {
        let (leaf, d, side) = (place / LEAF * LEAF * self.d, self.d, self.room().len());
        for (f, &x) in point[..d].iter().enumerate() {
            self.values[leaf + f * LEAF + place % LEAF] = x;
        }
        let corner = |node: Node, f: usize| 2 * side * node.index as usize + f;
        for node in self.path(place).into_iter().rev() {
            let boxes = self.boxes.as_flattened_mut();
            for f in 0..d {
                let own = corner(node, f);
                (boxes[own], boxes[own + side]) = if let Some((a, b)) = node.children() {
                    let [a, b] = [a, b].map(|child| corner(child, f));
                    (boxes[a].min(boxes[b]), boxes[a + side].max(boxes[b + side]))
                } else {
                    let all = &self.values[leaf + f * LEAF..][..LEAF];
                    let high = all.iter().filter(|x| x.is_finite());
                    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
                    (least, high.copied().fold(f64::NEG_INFINITY, f64::max))
                };
            }
        }
    }

    /// The nodes that hold `place`, the root first.
    pub(super) fn path(&self, place: usize) -> Vec<Node> {
        let mut path = vec![self.root()];
        while let Some((a, b)) = path[path.len() - 1].children() {
            path.push(if place < b.places().start { a } else { b });
        }
        path
    }

    /// Room for a point, all zeros.
    pub(super) fn room(&self) -> Vec<f64> {
        vec![0.0; self.d.next_multiple_of(LANES)]
    }

    /// Shows `visitor` every leaf that may hold points within its reach of `point`, which is padded with
    /// zeros to whole lanes; near ones first. To be called inside `vectorised`.
    #[inline(always)]
    pub(super) fn walk(&self, point: &[f64], visitor: &mut impl Visitor) {
        // A tree of 2^32 points has fewer levels.
        let mut path = [(Node::default(), 0.0); 40];
        let mut depth = 0;
        let mut node = self.root();
        if !visitor.enters(node, self.gap(node, point)) {
            return;
        }
        loop {
            while let Some((a, b)) = node.children() {
                let (to_a, to_b) = (self.gap(a, point), self.gap(b, point));
                let (near, to_near, far, to_far) =
                    if to_a <= to_b { (a, to_a, b, to_b) } else { (b, to_b, a, to_a) };
                let enters_far = visitor.enters(far, to_far);
                if visitor.enters(near, to_near) {
                    if enters_far {
                        path[depth] = (far, to_far);
                        depth += 1;
                    }
                    node = near;
                } else if enters_far {
                    node = far;
                } else {
                    node.leaves = 0;
                    break;
                }
            }
            if node.leaves > 0 {
                self.show(node.first as usize, point, visitor);
            }
            loop {
                if depth == 0 {
                    return;
                }
                depth -= 1;
                let (next, gap) = path[depth];
                if visitor.enters(next, gap) {
                    node = next;
                    break;
                }
            }
        }
    }

    /// No more than the computed squared distance from `point` to any point of the node.
    #[inline(always)]
    fn gap(&self, node: Node, point: &[f64]) -> f64 {
        let lanes = point.len() / LANES;
        let corners = &self.boxes[node.index as usize * 2 * lanes..][..2 * lanes];
        let (low, high) = corners.split_at(lanes);
        let mut sums = [0.0; LANES];
        for ((low, high), x) in low.iter().zip(high).zip(point.as_chunks::<LANES>().0) {
            for l in 0..LANES {
                let gap = larger(larger(low[l] - x[l], x[l] - high[l]), 0.0);
                sums[l] += gap * gap;
            }
        }
        // Summed in another order than distances are: what rounding may add is taken off.
        let slack = 1.0 - (2 * self.d + 8) as f64 * f64::EPSILON;
        ((sums[0] + sums[1]) + (sums[2] + sums[3])) * slack
    }

    #[inline(always)]
    fn distances(&self, leaf: usize, point: &[f64]) -> Distances {
        let mut sums = [0.0; LEAF];
        let leaf = &self.values[leaf * LEAF * self.d..][..LEAF * self.d];
        for (values, &x) in leaf.as_chunks::<LEAF>().0.iter().zip(point) {
            for l in 0..LEAF {
                let difference = values[l] - x;
                sums[l] += difference * difference;
            }
        }
        sums
    }
}

/// Whether one of the distances is at most `reach`.
#[inline(always)]
pub(super) fn any_within(distances: &Distances, reach: f64) -> bool {
    let mut within = false;
    for l in 0..LEAF {
        within |= distances[l] <= reach;
    }
    within
}

/// The larger of two numbers, as one instruction.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Puts `rows` into the order of the leaves and fills in the boxes.
fn split(points: &Matrix, rows: &mut [u32], boxes: &mut [[f64; LANES]], leaves: usize) {
    let d = points.ncols();
    let lanes = d.div_ceil(LANES);
    let (own, below) = boxes.split_at_mut(2 * lanes);
    let (low, high) = own.split_at_mut(lanes);
    let (low, high) = (&mut low.as_flattened_mut()[..d], &mut high.as_flattened_mut()[..d]);
    low.copy_from_slice(points.row(rows[0] as usize));
    high.copy_from_slice(low);
    for &row in &*rows {
        for ((low, high), &x) in low.iter_mut().zip(&mut *high).zip(points.row(row as usize)) {
            *low = if x < *low { x } else { *low };
            *high = if x > *high { x } else { *high };
        }
    }
    if leaves == 1 {
        return;
    }
    let side = |f: &usize| high[*f] - low[*f];
    let widest = (0..d).max_by(|a, b| side(a).total_cmp(&side(b)).then(b.cmp(a)));
    let f = widest.expect("a table has columns");
    let on_left = leaves / 2;
    let key = |row: u32| points[(row as usize, f)];
    rows.select_nth_unstable_by(on_left * LEAF, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
    let (left, right) = rows.split_at_mut(on_left * LEAF);
    let (left_boxes, right_boxes) = below.split_at_mut((2 * on_left - 1) * 2 * lanes);
    let mut both = (
        || split(points, left, left_boxes, on_left),
        || split(points, right, right_boxes, leaves - on_left),
    );
    if leaves < SERIAL {
        both.0();
        both.1();
    } else {
        rayon::join(&mut both.0, &mut both.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};
    use proptest::prelude::*;

    struct All<'a> {
        tree: &'a KdTree,
        reach: f64,
        found: Vec<u32>,
    }

    impl Visitor for All<'_> {
        fn enters(&self, _: Node, gap: f64) -> bool {
            gap <= self.reach
        }
        fn leaf(&mut self, place: usize, distances: &Distances) {
            for (l, &distance) in distances.iter().enumerate() {
                if distance <= self.reach {
                    self.found.push(self.tree.rows()[place + l]);
                }
            }
        }
    }

    proptest! {
        /// All within a radius, and nothing is lost to rounding: distances are taken as computed.
        #[test]
        fn a_walk_finds_all_points_within_reach(
            n in 1usize..200, d in 1usize..10, seed: u64, grid: bool, pick: usize,
        ) {
            let mut rng = Rng::new(seed, Stream::Data);
            let values = (0..n * d).map(|_| if grid { rng.below(4) as f64 } else { rng.normal() });
            let points = Matrix::from_vec(n, d, values.collect());
            let tree = KdTree::new(&points);
            let distance = |a: usize, b: usize| {
                let pairs = points.row(a).iter().zip(points.row(b));
                pairs.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
            };
            let (at, to) = (pick % n, pick / 7 % n);
            let mut point = tree.room();
            point[..d].copy_from_slice(points.row(at));
            let mut all = All { tree: &tree, reach: distance(at, to), found: vec![] };
            tree.walk(&point, &mut all);
            all.found.sort_unstable();
            let expected = (0..n).filter(|&j| distance(at, j) <= all.reach);
            prop_assert_eq!(all.found, expected.map(|j| j as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn places_hold_their_rows_and_nodes_their_places() {
        let mut rng = Rng::new(0, Stream::Data);
        let points = Matrix::from_vec(1000, 3, (0..3000).map(|_| rng.unit()).collect());
        let tree = KdTree::new(&points);
        let mut point = tree.room();
        for (place, &row) in tree.rows().iter().enumerate() {
            tree.point(place, &mut point);
            assert_eq!(point[..3], *points.row(row as usize));
        }
        let counts = tree.of_nodes(|places| places.len(), |a, b| a + b);
        assert_eq!((counts[0], counts.len()), (1000, 125));
    }
}
