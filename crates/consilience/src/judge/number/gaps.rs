//! Gaps between groups of rows: the first kind of evidence.
//!
//! Distances by mutual reachability (R. J. G. B. Campello, D. Moulavi, J. Sander, PAKDD 2013) make a
//! landscape of density. A group is born at the distance $b$ at which it reaches a least size, and ends at
//! the distance $l$ at which it meets an older one; its **prominence** is $\ln (l / b)$: how much sparser
//! the way to the next group is than the group. That holds for groups of any shape and density. Rows of
//! one cloud have prominences too, by chance; [references](super::references) tell how large.

use crate::base::SpanningTree;
use crate::error::Result;
use crate::judge::modes::of_joins;
use crate::linalg::Matrix;
use crate::math;
use crate::run::Run;

/// The row, counted from itself, whose distance is the scale of a row's surroundings.
const SURROUNDINGS: usize = 6;
/// A group has at least this share of the rows, and at least [`FEWEST`].
const SMALLEST: f64 = 0.02;
const FEWEST: usize = 5;
/// Groups of rows closer than this share of the median distance of different rows are as if they were so far apart: copies
/// of a row are no group that is infinitely dense.
const CLOSEST: f64 = 0.25;

/// The prominences of the groups of rows, falling; the oldest group never ends and is not among them.
///
/// # Cost
///
/// That of a spanning tree.
pub(super) fn prominences(rows: &Matrix, run: &Run) -> Result<Vec<f64>> {
    let n = rows.nrows();
    let tree = SpanningTree::mutual_reachability(rows, SURROUNDINGS.min(n), run)?;
    let edges = tree.edges();
    let apart = &edges[edges.partition_point(|edge| edge.length == 0.0)..];
    let Some(middle) = apart.get(apart.len() / 2) else { return Ok(Vec::new()) };
    let closest = CLOSEST * middle.length;
    let joins = edges.iter().map(|edge| {
        // The landscape is one of similarities.
        (edge.a as usize, edge.b as usize, 1.0 / edge.length.max(closest))
    });
    let least = (SMALLEST * n as f64).floor().max(FEWEST as f64);
    let found = of_joins(vec![1.0; n], vec![None; n], least, joins);
    Ok(found.into_iter().map(|p| -math::ln(1.0 - p)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    fn cloud(rng: &mut Rng, centres: &[[f64; 2]], each: usize) -> Matrix {
        let values = centres.iter().flat_map(|c| (0..each).map(move |_| c));
        let values = values.flat_map(|c| [c[0] + rng.normal(), c[1] + rng.normal()]).collect();
        Matrix::from_vec(each * centres.len(), 2, values)
    }

    #[test]
    fn groups_apart_are_prominent_and_parts_of_one_are_not() {
        let run = Run::new(0);
        let mut rng = run.rng(Stream::Data);
        let three = cloud(&mut rng, &[[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]], 100);
        let found = prominences(&three, &run).unwrap();
        assert!(found[1] > 1.5 && found.get(2).is_none_or(|&p| p < 1.0), "{found:?}");
        let one = cloud(&mut rng, &[[0.0, 0.0]], 300);
        assert!(prominences(&one, &run).unwrap().first().is_none_or(|&p| p < 1.2));
    }

    #[test]
    fn copies_are_no_gaps() {
        let run = Run::new(0);
        // Each whole number ten times.
        let grid = Matrix::from_fn(300, 1, |i, _| (i / 10) as f64);
        let found = prominences(&grid, &run).unwrap();
        assert!(found.iter().all(|p| p.is_finite() && *p < 2.0), "{found:?}");
        assert_eq!(prominences(&Matrix::zeros(30, 2), &run).unwrap(), [0.0; 0]);
        assert_eq!(prominences(&Matrix::zeros(1, 2), &run).unwrap(), [0.0; 0]);
    }
}
