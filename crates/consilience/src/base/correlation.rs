//! Correlation clustering: a clustering that disagrees little with the members of an ensemble,
//! pair by pair, with as many clusters as that takes.

use crate::ensemble::{Crowd, Profiles};
use crate::error::Result;
use crate::rng::Rng;
use crate::run::Run;

/// Clusters the profiles by pivots: an object drawn at random takes with it all that a majority of
/// the members that label both put together with it, until nobody is left.
///
/// Objects are drawn uniformly, so a profile with the probability of its weight. For hard members.
///
/// # Cost
///
/// Time $O(u k r)$ for $k$ clusters found.
pub(crate) fn pivot(profiles: &Profiles, rng: &mut Rng, run: &Run) -> Result<Vec<u32>> {
    let (u, weights) = (profiles.len(), profiles.weights());
    let mut labels = vec![0; u];
    let mut left: Vec<u32> = (0..u as u32).collect();
    let mut n_clusters = 0;
    while !left.is_empty() {
        run.check()?;
        let chosen = draw(&left, weights, rng);
        let mut crowd = Crowd::new(profiles);
        crowd.add(profiles, chosen as usize);
        // What one object adds by joining a cluster of one tells what the majority says.
        left.retain(|&s| {
            let joins = s == chosen || crowd.burden(profiles, s as usize) < 0.0;
            if joins {
                labels[s as usize] = n_clusters;
            }
            !joins
        });
        n_clusters += 1;
    }
    Ok(labels)
}

/// One of `left`, with probability proportional to its weight.
fn draw(left: &[u32], weights: &[f64], rng: &mut Rng) -> u32 {
    let total: f64 = left.iter().map(|&s| weights[s as usize]).sum();
    let mut rest = rng.unit() * total;
    for &s in left {
        rest -= weights[s as usize];
        if rest < 0.0 {
            return s;
        }
    }
    left[left.len() - 1]
}

/// Moves of less gain, in shares of all disagreements that an object could have, are rounding.
const GAIN: f64 = 1e-12;

/// Moves one profile after the other to the cluster, or to a new one, where it disagrees least with
/// the members, until a sweep moves nobody or `max_iter` sweeps are done. Clusters that lose all
/// are left out of the numbering.
///
/// Returns the labels, the number of sweeps, and whether the last one moved nobody. The
/// disagreement falls with every move. For hard members.
///
/// # Cost
///
/// Time $O(u k r)$ a sweep, memory $O(k K)$ with $k$ clusters.
pub(crate) fn local_search(
    profiles: &Profiles,
    labels: &[u32],
    max_iter: usize,
    run: &Run,
) -> Result<(Vec<u32>, usize, bool)> {
    let k = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let mut labels = labels.to_vec();
    let mut crowds = vec![Crowd::new(profiles); k];
    for (s, &label) in labels.iter().enumerate() {
        crowds[label as usize].add(profiles, s);
    }
    let slack = GAIN * profiles.total_weight() * profiles.n_members() as f64;
    for sweep in 1..=max_iter {
        let mut moved = false;
        for s in 0..labels.len() {
            if s % 64 == 0 {
                run.check()?;
            }
            let own = labels[s] as usize;
            crowds[own].remove(profiles, s);
            let stay = if crowds[own].is_empty() { 0.0 } else { crowds[own].burden(profiles, s) };
            let mut best = (stay - slack, own);
            for (c, crowd) in crowds.iter().enumerate() {
                if c != own && !crowd.is_empty() {
                    let burden = crowd.burden(profiles, s);
                    if burden < best.0 {
                        best = (burden, c);
                    }
                }
            }
            if best.0 > slack {
                // Better alone than in any company.
                let free = crowds.iter().position(Crowd::is_empty).unwrap_or(crowds.len());
                if free == crowds.len() {
                    crowds.push(Crowd::new(profiles));
                }
                best.1 = free;
            }
            crowds[best.1].add(profiles, s);
            // One who was alone and stays alone has not moved.
            moved |= best.1 != own && (stay != 0.0 || crowds[best.1].len() > 1);
            labels[s] = best.1 as u32;
        }
        if !moved {
            return Ok((labels, sweep, true));
        }
    }
    Ok((labels, max_iter, false))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::CoAssociation;
    use crate::rng::Stream;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        /// Every cluster has one member, its pivot, that a majority joins to all others, and later
        /// clusters hold nobody that the majority joins to it.
        #[test]
        fn clusters_are_what_pivots_take(ensemble in ensembles(Kinds::HARD, 12, 5), seed: u64) {
            let profiles = profiles(&ensemble);
            let run = Run::new(seed).threads(1);
            let labels = pivot(&profiles, &mut run.rng(Stream::Restart(0)), &run).unwrap();
            let co = CoAssociation::new(&profiles);
            let k = labels.iter().max().unwrap() + 1;
            for c in 0..k {
                let from: Vec<usize> = (0..labels.len()).filter(|&s| labels[s] >= c).collect();
                let takes = |p: usize, s: usize| s == p || co.get(p, s) > 0.5;
                let is_pivot = |&p: &usize| {
                    labels[p] == c && from.iter().all(|&s| takes(p, s) == (labels[s] == c))
                };
                prop_assert!(from.iter().any(is_pivot), "{labels:?}");
            }
        }

        /// From anywhere it ends where no single move, to another cluster or out, is of any gain.
        #[test]
        fn no_single_move_is_left(ensemble in ensembles(Kinds::HARD, 12, 5), k in 1..5u32) {
            let profiles = profiles(&ensemble);
            let u = profiles.len();
            let start: Vec<u32> = (0..u as u32).map(|s| s % k).collect();
            let run = Run::new(0).threads(1);
            let (labels, _, settled) = local_search(&profiles, &start, 1000, &run).unwrap();
            prop_assert!(settled);
            let least = profiles.disagreement(&labels);
            prop_assert!(least <= profiles.disagreement(&start) + 1e-9);
            let apart = labels.iter().max().unwrap() + 1;
            for s in 0..u {
                for to in 0..=apart {
                    let mut other = labels.clone();
                    other[s] = to;
                    prop_assert!(profiles.disagreement(&other) >= least - 1e-9);
                }
            }
        }
    }
}
