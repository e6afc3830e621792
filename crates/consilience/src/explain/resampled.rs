//! What stays when members are left out: the consensus distribution over the number of clusters.
//!
//! After Monti et al. (*Consensus Clustering*, 2003), with members in place of their resampled
//! objects: half of the members, drawn again and again, are combined by average link of their
//! co-association and cut into $k$ clusters. $M^{(k)}_{ij}$ is the share of draws in which $i$ and $j$
//! are together. If $k$ suits, pairs are together always or never: the distribution of $M^{(k)}$ has a
//! flat middle, its undecided share (PAC, Şenbabaoğlu et al. 2014) is small, and the area below it
//! grows little beyond $k$ (delta area).

use rayon::prelude::*;

use crate::base::linkage::{Dense, Link, chain, cut};
use crate::ensemble::Profiles;
use crate::ensemble::sample;
use crate::error::Result;
use crate::explain::criteria::distribution;
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Profiles of which all pairs are looked at.
const SAMPLE: usize = 300;
/// How often half of the members are drawn.
const DRAWS: u64 = 24;
/// In place of a label: there is none.
const UNLABELLED: u32 = u32::MAX;

/// The distribution of the resampled consensus for each number of clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resampled {
    /// The numbers of clusters, rising from 2.
    pub ks: Vec<usize>,
    /// For each the share of pairs that are together in at most 0, 1/50, ..., 1 of the draws.
    pub distributions: Vec<Vec<f64>>,
    /// For each the share of undecided pairs: together in more than 0.1 and less than 0.9 of the
    /// draws.
    pub undecided: Vec<f64>,
    /// For each the area below the distribution.
    pub areas: Vec<f64>,
    /// For 2 clusters the area, for more the relative change of the area from one less.
    pub deltas: Vec<f64>,
    /// How many profiles were looked at, if not all.
    pub sampled: Option<usize>,
}

impl Resampled {
    /// Resamples the members of `profiles` for 2 to `most` clusters. Soft memberships count by their
    /// largest. Nothing is told of fewer than four members or three profiles.
    ///
    /// The draws are fixed: the same profiles give the same answer.
    ///
    /// # Cost
    ///
    /// Time $O(m^2 r)$ and memory $O(m^2)$ for each of 24 draws and $m$ profiles, at most 300 of them.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn new(profiles: &Profiles, most: usize, run: &Run) -> Result<Self> {
        let some = sample(profiles, SAMPLE);
        let (m, r) = (some.len(), some.n_members());
        let ks: Vec<usize> = (2..=most.min(m.saturating_sub(1))).collect();
        if r < 4 || ks.is_empty() {
            return Ok(Resampled::default());
        }
        let label = |s: usize, h: usize| some.label(s, h).map_or(UNLABELLED, |c| c as u32);
        let labels: Vec<Vec<u32>> = (0..m).map(|s| (0..r).map(|h| label(s, h)).collect()).collect();
        let weights = some.weights();
        let draw = |i: u64| -> Result<Vec<Vec<u32>>> {
            run.check()?;
            let mut drawn = Rng::new(0, Stream::Inner(i)).distinct(r, r.div_ceil(2));
            drawn.sort_unstable();
            let row = |s: usize, out: &mut [f64]| {
                out.iter_mut().zip(&labels).for_each(|(x, t)| *x = together(&labels[s], t, &drawn));
            };
            let joins = chain(Dense::new(weights, Link::Average, 1.0, row), run)?;
            Ok(ks.iter().map(|&k| cut(m, &joins, k)).collect())
        };
        let draws: Vec<Vec<Vec<u32>>> =
            run.install(|| (0..DRAWS).into_par_iter().map(draw).collect::<Result<_>>())?;
        let of_k = |at: usize| {
            let shared = Matrix::from_fn(m, m, |s, t| {
                let together = draws.iter().filter(|cuts| cuts[at][s] == cuts[at][t]).count();
                together as f64 / DRAWS as f64
            });
            distribution(&shared, weights)
        };
        let found: Vec<(Vec<f64>, f64)> =
            run.install(|| (0..ks.len()).into_par_iter().map(of_k).collect());
        let area = |values: &Vec<f64>| {
            // The distribution is a staircase: each step holds up to the next.
            values[..values.len() - 1].iter().sum::<f64>() / (values.len() - 1) as f64
        };
        let areas: Vec<f64> = found.iter().map(|(values, _)| area(values)).collect();
        let delta = |i: usize| match i {
            0 => areas[0],
            _ if areas[i - 1] > 0.0 => (areas[i] - areas[i - 1]) / areas[i - 1],
            _ => 0.0,
        };
        Ok(Resampled {
            deltas: (0..ks.len()).map(delta).collect(),
            undecided: found.iter().map(|(_, undecided)| *undecided).collect(),
            distributions: found.into_iter().map(|(values, _)| values).collect(),
            areas,
            ks,
            sampled: (m < profiles.len()).then_some(m),
        })
    }
}

/// The share of the members `drawn` that put two profiles together, of those that label both.
fn together(one: &[u32], other: &[u32], drawn: &[usize]) -> f64 {
    let (mut same, mut both) = (0u32, 0u32);
    for &h in drawn {
        let known = u32::from(one[h] != UNLABELLED && other[h] != UNLABELLED);
        both += known;
        same += known & u32::from(one[h] == other[h]);
    }
    if both == 0 { 0.0 } else { f64::from(same) / f64::from(both) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn the_right_number_leaves_nothing_undecided() {
        // Three groups; each member errs about objects of its own.
        let member = |h: usize| -> [i64; 60] {
            std::array::from_fn(|i| {
                let wrong = (i * 7 + h * 11).is_multiple_of(13);
                ((i / 20 + usize::from(wrong)) % 3) as i64
            })
        };
        let members: Vec<[i64; 60]> = (0..16).map(member).collect();
        let found = Resampled::new(&profiles(&hard_ensemble(&members)), 6, &Run::new(0)).unwrap();
        assert_eq!(found.ks, [2, 3, 4, 5, 6]);
        let least = found.undecided.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(found.undecided[1] == least && least < 0.05, "{:?}", found.undecided);
        // Beyond three the area hardly grows.
        assert!(found.deltas[1] > 3.0 * found.deltas[2], "{:?}", found.deltas);
    }

    #[test]
    fn few_members_or_objects_tell_nothing() {
        let few = profiles(&hard_ensemble(&[[0, 0, 1, 1], [0, 1, 1, 2], [0, 1, 2, 3]]));
        assert_eq!(Resampled::new(&few, 6, &Run::new(0)).unwrap(), Resampled::default());
        let alike = profiles(&hard_ensemble(&[[0, 0, 1, 1]; 5]));
        assert_eq!(Resampled::new(&alike, 6, &Run::new(0)).unwrap(), Resampled::default());
    }

    proptest! {
        #[test]
        fn distributions_rise_to_one_and_areas_are_theirs(ensemble in ensembles(Kinds::ALL, 10, 6)) {
            let found = Resampled::new(&profiles(&ensemble), 5, &Run::new(0)).unwrap();
            for (values, area) in found.distributions.iter().zip(&found.areas) {
                prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
                prop_assert!((values[values.len() - 1] - 1.0).abs() < 1e-12);
                prop_assert!((0.0..=1.0).contains(area));
            }
            prop_assert!(found.undecided.iter().all(|x| (0.0..=1.0).contains(x)));
        }
    }
}
