//! Whether the members agree on the edges more than on those of a random graph.

use super::ROUNDING;
use crate::ensemble::{Linked, Profiles};
use crate::graph::Edges;

/// Who agrees as much as this is believed in networks of any size: where few vertices raise the line above it, a description length
/// has nothing to say either.
const ALIKE: f64 = 0.8;

/// What the members' agreement says of communities.
pub(super) struct Evidence {
    /// Fleiss' kappa on the edges of the 2-core, if there is something to compare.
    pub(super) agreement: Option<f64>,
    /// What members reach on random graphs, at most.
    pub(super) line: f64,
    /// Whether no member cuts an edge.
    uncut: bool,
}

impl Evidence {
    pub(super) fn new(profiles: &Profiles, edges: &Edges, linked: &Linked) -> Self {
        let counts = |edge: usize| !linked.shares[edge].is_nan();
        let core = two_core(edges, counts);
        let whole = (0..edges.len()).all(|edge| core[edge] || !counts(edge));
        let agreement = if whole {
            linked.agreement
        } else {
            Linked::among(profiles, edges, |edge| core[edge]).agreement
        };
        let cut = |&share: &f32| f64::from(share) < 1.0 - ROUNDING;
        Evidence { agreement, line: line(edges, &core), uncut: !linked.shares.iter().any(cut) }
    }

    /// Whether they agree more than on a random graph, or there is nothing to disagree on.
    pub(super) fn is_clear(&self) -> bool {
        self.uncut || self.agreement.is_some_and(|agreement| agreement >= self.line)
    }
}

/// Which edges that count are in the 2-core: without what is linked by one edge only, again and again.
///
/// Every member keeps the ends of other edges together, whatever it knows: they would feign agreement.
fn two_core(edges: &Edges, counts: impl Fn(usize) -> bool) -> Vec<bool> {
    let n = edges.n_objects();
    let mut left: Vec<bool> = (0..edges.len()).map(counts).collect();
    // Of every vertex how many edges are left, and all of these, exclusive-or: of one, which it is.
    let (mut degrees, mut which) = (vec![0u32; n], vec![0usize; n]);
    for (edge, pair) in edges.pairs().iter().enumerate().filter(|(edge, _)| left[*edge]) {
        for &end in pair {
            degrees[end as usize] += 1;
            which[end as usize] ^= edge;
        }
    }
    for v in 0..n {
        let mut v = v;
        while degrees[v] == 1 {
            let edge = which[v];
            left[edge] = false;
            let [a, b] = edges.pairs()[edge].map(|end| end as usize);
            for end in [a, b] {
                degrees[end] -= 1;
                which[end] ^= edge;
            }
            v = a + b - v;
        }
    }
    left
}

/// The agreement on the edges of the core that members reach on random graphs, at most.
///
/// On those of few edges it is high, and where few vertices have most of the edges it is that of the others: so the
/// harmonic mean of the degrees counts.
fn line(edges: &Edges, core: &[bool]) -> f64 {
    let mut degrees = vec![0u32; edges.n_objects()];
    let pairs = edges.pairs().iter().zip(core).filter(|(_, core)| **core);
    pairs.flat_map(|(pair, _)| pair).for_each(|&end| degrees[end as usize] += 1);
    let linked = degrees.iter().filter(|&&degree| degree > 0);
    let (n, inverse) =
        linked.fold((0.0f64, 0.0), |(n, sum), &d| (n + 1.0, sum + 1.0 / f64::from(d)));
    if n == 0.0 {
        return 1.0;
    }
    let inverse_degree = inverse / n;
    (0.15 + 2.0 * inverse_degree * inverse_degree + 2.5 / n.sqrt()).min(ALIKE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What is left after taking edges to vertices of one edge away for as long as there are any.
        #[test]
        fn the_core_is_what_is_left(ends in prop::collection::vec((0..12u32, 0..12u32), 1..24)) {
            let pairs = ends.iter().map(|&(a, b)| [a, b]).chain([[0, 1]]).collect();
            let edges = Edges::new(12, pairs, None).unwrap();
            let edges = edges.simple();
            let mut left = vec![true; edges.len()];
            loop {
                let degree = |v: u32| {
                    let of = edges.pairs().iter().zip(&left).filter(|(pair, left)| **left && pair.contains(&v));
                    of.count()
                };
                let stays: Vec<bool> = edges.pairs().iter().zip(&left).map(|(&[a, b], &left)| left && degree(a) > 1 && degree(b) > 1).collect();
                if stays == left {
                    break;
                }
                left = stays;
            }
            prop_assert_eq!(two_core(&edges, |_| true), left);
        }
    }

    #[test]
    fn the_line_is_that_of_the_degree_of_regular_graphs() {
        let n = 400u32;
        let ring = |step: u32| (0..n).map(move |v| [v, (v + step) % n]);
        let edges = Edges::new(n as usize, ring(1).chain(ring(7)).collect(), None).unwrap();
        let expected = 0.15 + 2.0 / 16.0 + 2.5 / 20.0;
        assert!((line(&edges, &two_core(&edges, |_| true)) - expected).abs() < 1e-12);
        // Who knows everybody does not make the others less alone.
        let hub =
            Edges::new(n as usize, ring(1).chain((2..n).map(|v| [0, v])).collect(), None).unwrap();
        assert!(line(&hub, &two_core(&hub, |_| true)) > 0.15 + 2.0 / 9.5 + 2.5 / 20.0);
        // A tree has no core, whoever agrees on it.
        let tree: Vec<[u32; 2]> = (1..n).map(|v| [v / 3, v]).collect();
        let tree = Edges::new(n as usize, tree, None).unwrap();
        assert_eq!(line(&tree, &two_core(&tree, |_| true)), 1.0);
    }
}
