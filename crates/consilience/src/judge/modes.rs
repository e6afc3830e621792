//! Groups that stand out from the paths between them.
//!
//! Co-association is read as a landscape: groups of objects that members keep together are its hills.
//! Objects are joined from the most similar pair down, as by single link, but two objects are no more
//! similar than either is to its own surroundings (*mutual reachability*: R. J. G. B. Campello, D.
//! Moulavi, J. Sander, PAKDD 2013), so that a few objects on the way make no bridge. A group is *born*
//! at the level $b$ where it reaches a least weight; where two groups meet at level $l$ the younger
//! ends, and its **prominence** is
//!
//! $$ p = 1 - l / b. $$
//!
//! Objects in one continuous cloud meet about as early as they gather, so that all prominences are
//! small, however the members cut it: every border of one member is inside a cell of another.
//! Between clusters there is no path that members do not cut, and the prominence is near 1.

use crate::base::linkage::single;
use crate::error::Result;
use crate::graph::UnionFind;
use crate::linalg::Matrix;
use crate::run::Run;

/// The prominences, falling, of the groups of at least the share `smallest` of all weight that end by
/// meeting another; the oldest group never ends and is not among them.
///
/// `similarity` is between items of these `weights`; an object's surroundings are the share
/// `surroundings` of all weight that is most similar to it.
///
/// # Cost
///
/// Time $O(m^2 \log m)$ for $m$ items, and one further $m \times m$ matrix.
pub(super) fn prominences(
    similarity: &Matrix,
    weights: &[f64],
    smallest: f64,
    surroundings: f64,
    run: &Run,
) -> Result<Vec<f64>> {
    let m = weights.len();
    let all: f64 = weights.iter().sum();
    let near: Vec<f64> =
        (0..m).map(|i| level_around(similarity.row(i), weights, surroundings * all)).collect();
    let row = |i: usize, out: &mut [f64]| {
        for (j, out) in out.iter_mut().enumerate() {
            *out = similarity[(i, j)].min(near[i]).min(near[j]);
        }
    };
    let joins = single(m, row, run)?;

    // An item that is heavy enough by itself is a group from its own level on.
    let least = smallest * all;
    let born =
        weights.iter().zip(&near).map(|(&w, &level)| (w >= least).then_some(level)).collect();
    let joins = joins.iter().map(|join| (join.a as usize, join.b as usize, join.similarity));
    Ok(of_joins(weights.to_vec(), born, least, joins))
}

/// The prominences, falling, of groups of at least the weight `least` in the tree of these joins, from the
/// highest level down. `mass` has the weights of the items, `born` the levels at which those are groups
/// that are so by themselves.
pub(super) fn of_joins(
    mut mass: Vec<f64>,
    mut born: Vec<Option<f64>>,
    least: f64,
    joins: impl Iterator<Item = (usize, usize, f64)>,
) -> Vec<f64> {
    let mut sets = UnionFind::new(mass.len());
    let mut found = Vec::new();
    for (a, b, level) in joins {
        let (a, b) = (sets.find(a), sets.find(b));
        let together = mass[a] + mass[b];
        let birth = match (born[a], born[b]) {
            (Some(x), Some(y)) => {
                let younger = x.min(y);
                found.push(if younger > 0.0 { 1.0 - level / younger } else { 0.0 });
                Some(x.max(y))
            }
            (Some(x), None) | (None, Some(x)) => Some(x),
            (None, None) => (together >= least).then_some(level),
        };
        sets.union(a, b);
        let root = sets.find(a);
        (mass[root], born[root]) = (together, birth);
    }
    found.sort_by(|x, y| y.total_cmp(x));
    found
}

/// The similarity down to which the items most similar to one have the weight `enough`; its own
/// weight counts.
fn level_around(similarities: &[f64], weights: &[f64], enough: f64) -> f64 {
    let mut order: Vec<(f64, f64)> =
        similarities.iter().copied().zip(weights.iter().copied()).collect();
    order.sort_by(|x, y| y.0.total_cmp(&x.0));
    let mut sum = 0.0;
    for (similarity, weight) in order {
        sum += weight;
        if sum >= enough {
            return similarity;
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(n: usize, similarity: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let matrix = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { similarity(i, j) });
        prominences(&matrix, &vec![1.0; n], 0.2, 0.1, &Run::new(0)).unwrap()
    }

    #[test]
    fn groups_that_nothing_joins_are_as_prominent_as_can_be() {
        let all = found(20, |i, j| if i / 10 == j / 10 { 0.8 } else { 0.0 });
        assert_eq!(all, [1.0]);
    }

    #[test]
    fn a_chain_has_no_prominent_group() {
        // Neighbours are alike, and the ends are not.
        let all = found(20, |i, j| 1.0 - 0.05 * i.abs_diff(j) as f64);
        assert!(all.iter().all(|&p| p < 0.1), "{all:?}");
    }

    #[test]
    fn a_single_object_between_groups_makes_no_bridge() {
        let all = found(21, |i, j| match (i.min(j), i.max(j)) {
            (_, 20) => 0.7,
            (a, b) if a / 10 == b / 10 => 0.8,
            _ => 0.1,
        });
        let without = found(20, |i, j| if i / 10 == j / 10 { 0.8 } else { 0.1 });
        assert!(all[0] <= without[0] && without[0] > 0.8, "{all:?} {without:?}");
    }

    #[test]
    fn heavy_items_are_groups_by_themselves() {
        let matrix = Matrix::from_fn(3, 3, |i, j| if i == j { 1.0 } else { 0.25 });
        let all = prominences(&matrix, &[5.0, 5.0, 5.0], 0.2, 0.1, &Run::new(0)).unwrap();
        assert_eq!(all, [0.75, 0.75]);
    }
}
