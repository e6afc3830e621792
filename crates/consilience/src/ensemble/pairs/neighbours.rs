//! Random walks among the profiles that have most in common.

use rayon::prelude::*;

use crate::ensemble::CoAssociation;
use crate::ensemble::profiles::Profiles;
use crate::linalg::Matrix;

/// Neighbours and steps are no more than this unless asked for, as in the authors' program.
const MOST: f64 = 20.0;

impl Profiles {
    /// How many elite neighbours a profile has, and how far walks among them go, unless said: half the
    /// root of the number of profiles, at most 20, as Huang, Lai and Wang (2016) set both.
    pub(crate) fn usual_walk(&self) -> usize {
        ((self.len() as f64).sqrt() / 2.0).clamp(1.0, MOST) as usize
    }

    /// The random walk among elite neighbours, $u \times u$: rows sum to 1, or to 0 where there is no
    /// neighbour.
    ///
    /// Two profiles are linked if one is among the `neighbours` nearest of the other by co-association
    /// $a$, ties included; the walk goes from $s$ to $t$ with probability proportional to
    /// $w_t a_{st}$.
    ///
    /// # Cost
    ///
    /// Time $O(u^2 (r + \log u))$, memory of one $u \times u$ matrix.
    ///
    /// # Panics
    ///
    /// If `neighbours` is 0.
    pub(crate) fn elite_walk(&self, neighbours: usize) -> Matrix {
        let (u, weights) = (self.len(), self.weights());
        let co = CoAssociation::new(self);
        let mut links = Matrix::zeros(u, u);
        // What a link must have to be among the nearest of either end.
        let thresholds: Vec<f64> = links
            .as_mut_slice()
            .par_chunks_exact_mut(u)
            .enumerate()
            .map_init(Vec::new, |sorted, (s, row)| {
                co.row_into(s, 0..u, row);
                row[s] = 0.0;
                sorted.clear();
                sorted.extend_from_slice(row);
                sorted.sort_unstable_by(|x: &f64, y| y.total_cmp(x));
                sorted[neighbours.min(u) - 1]
            })
            .collect();
        links.as_mut_slice().par_chunks_exact_mut(u).enumerate().for_each(|(s, row)| {
            for (t, x) in row.iter_mut().enumerate() {
                // Shares of votes are the same number from both ends.
                let elite = *x >= thresholds[s] || *x >= thresholds[t];
                *x = if elite { *x * weights[t] } else { 0.0 };
            }
            let sum: f64 = row.iter().sum();
            if sum > 0.0 {
                row.iter_mut().for_each(|x| *x /= sum);
            }
        });
        links
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        /// From the definition: the $K$ nearest with ties, from either end.
        #[test]
        fn walks_go_to_elite_neighbours(
            ensemble in ensembles(Kinds::HARD, 14, 5),
            neighbours in 1..6usize,
        ) {
            let profiles = profiles(&ensemble);
            let (u, w) = (profiles.len(), profiles.weights());
            let co = CoAssociation::new(&profiles);
            let among = |s: usize, t: usize| {
                let nearer = |v: &usize| *v != s && co.get(s, *v) > co.get(s, t);
                (0..u).filter(nearer).count() < neighbours
            };
            let link = |s: usize, t: usize| {
                let kept = s != t && (among(s, t) || among(t, s));
                if kept { co.get(s, t) } else { 0.0 }
            };
            let walk = profiles.elite_walk(neighbours);
            for s in 0..u {
                let sum: f64 = (0..u).map(|t| w[t] * link(s, t)).sum();
                for t in 0..u {
                    let expected = if sum > 0.0 { w[t] * link(s, t) / sum } else { 0.0 };
                    prop_assert!((walk[(s, t)] - expected).abs() < 1e-12);
                }
            }
        }
    }
}
