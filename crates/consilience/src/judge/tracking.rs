//! Which cluster every object has at each number of clusters.
//!
//! After the tracking plot of Wilkerson and Hayes (*ConsensusClusterPlus*, 2010): the co-association
//! is cut by average link into 2, 3, ... clusters, whatever method found the consensus, so that one
//! sees which clusters stay together, which come apart, and when. Cuts of one tree are nested, hence
//! profiles go few different ways: each way, a *track*, is kept once, with the weight of its objects.

use std::borrow::Cow;

use crate::base::linkage::{Dense, Link, chain, cut};
use crate::ensemble::drawn;
use crate::ensemble::{CoAssociation, Profiles};
use crate::error::Result;
use crate::linalg::max_assignment;
use crate::run::Run;

/// Profiles of which all pairs are looked at.
const SAMPLE: usize = 600;
/// Numbers of clusters go up to this at least, and to three more than the consensus has, but not
/// beyond the latter.
const FEWEST: usize = 10;
const MOST: usize = 20;

/// The ways of the objects through the numbers of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracking {
    /// The numbers of clusters, rising from 2.
    pub ks: Vec<usize>,
    /// The weight of every track. Tracks stand by cluster of the consensus, then by their clusters
    /// at the rising numbers.
    pub weights: Vec<f64>,
    /// The cluster of the consensus that every track is in, or
    /// [`NO_CLUSTER`](crate::consensus::NO_CLUSTER).
    pub consensus: Vec<u32>,
    /// For every number of clusters the cluster of every track. Numbers below the consensus' number
    /// of clusters are the clusters of it that they correspond to; a cluster that splits hands its
    /// number down to its heavier part.
    pub clusters: Vec<Vec<u32>>,
    /// How many profiles were looked at, if not all.
    pub sampled: Option<usize>,
}

impl Tracking {
    /// Tracks `profiles`, of which the consensus is `labels`, one per profile, of `k` clusters.
    ///
    /// # Cost
    ///
    /// Time $O(m^2 r)$ and memory $O(m^2)$ for $m$ profiles, at most 600 of them.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn new(profiles: &Profiles, labels: &[u32], k: usize, run: &Run) -> Result<Self> {
        let (some, own) = match drawn(profiles, SAMPLE) {
            None => (Cow::Borrowed(profiles), labels.to_vec()),
            Some((rows, weights)) => {
                let own = rows.iter().map(|&s| labels[s as usize]).collect();
                (Cow::Owned(profiles.selected(&rows, weights)), own)
            }
        };
        let (m, weights) = (some.len(), some.weights());
        let most = FEWEST.max(k + 3).min(MOST).min(m);
        let ks: Vec<usize> = (2..=most).collect();
        let co = CoAssociation::new(&some);
        let row = |s: usize, out: &mut [f64]| co.row_into(s, 0..m, out);
        let joins = run.install(|| chain(Dense::new(weights, Link::Average, 1.0, row), run))?;
        let cuts: Vec<Vec<u32>> = ks.iter().map(|&k| cut(m, &joins, k)).collect();
        let cuts = numbered(cuts, &ks, &own, k, weights);

        let way = |s: usize| -> Vec<u32> {
            std::iter::once(own[s]).chain(cuts.iter().map(|cut| cut[s])).collect()
        };
        let mut tracks = std::collections::BTreeMap::<Vec<u32>, f64>::new();
        (0..m).for_each(|s| *tracks.entry(way(s)).or_default() += weights[s]);
        Ok(Tracking {
            weights: tracks.values().copied().collect(),
            consensus: tracks.keys().map(|way| way[0]).collect(),
            clusters: (1..=ks.len()).map(|at| tracks.keys().map(|way| way[at]).collect()).collect(),
            ks,
            sampled: (m < profiles.len()).then_some(m),
        })
    }
}

/// Numbers for the clusters of nested cuts: at the consensus' number of clusters those of the
/// consensus, elsewhere handed up and down from there.
fn numbered(
    cuts: Vec<Vec<u32>>,
    ks: &[usize],
    own: &[u32],
    k: usize,
    weights: &[f64],
) -> Vec<Vec<u32>> {
    let Some(start) = ks.iter().rposition(|&at| at <= k).or(ks.first().map(|_| 0)) else {
        return cuts;
    };
    let mut free = k as u32..;
    let mut next = || free.next().expect("numbers do not end");
    let shared = own.iter().zip(&cuts[start]).zip(weights);
    let cells = shared.filter(|((own, _), _)| (**own as usize) < k);
    let cells = cells.map(|((&own, &cluster), &w)| (cluster as usize, own as usize, w));
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); ks.len()];
    numbers[start] = max_assignment(ks[start], k, cells)
        .into_iter()
        .map(|own| own.map_or_else(&mut next, |own| own as u32))
        .collect();
    let mass: Vec<Vec<f64>> = cuts
        .iter()
        .zip(ks)
        .map(|(cut, &k)| {
            let mut mass = vec![0.0; k];
            cut.iter().zip(weights).for_each(|(&c, w)| mass[c as usize] += w);
            mass
        })
        .collect();
    // The parts at `at + 1` of every cluster at `at`, the heaviest first.
    let parts = |at: usize| {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); ks[at]];
        for (&whole, &part) in cuts[at].iter().zip(&cuts[at + 1]) {
            let own = &mut parts[whole as usize];
            if !own.contains(&(part as usize)) {
                own.push(part as usize);
            }
        }
        for own in &mut parts {
            own.sort_by(|&a, &b| mass[at + 1][b].total_cmp(&mass[at + 1][a]));
        }
        parts
    };
    for at in start..ks.len() - 1 {
        numbers[at + 1] = vec![0; ks[at + 1]];
        for (whole, own) in parts(at).into_iter().enumerate() {
            for (i, part) in own.into_iter().enumerate() {
                numbers[at + 1][part] = if i == 0 { numbers[at][whole] } else { next() };
            }
        }
    }
    for at in (0..start).rev() {
        numbers[at] = parts(at).iter().map(|own| numbers[at + 1][own[0]]).collect();
    }
    let renamed = |(cut, numbers): (Vec<u32>, &Vec<u32>)| -> Vec<u32> {
        cut.into_iter().map(|c| numbers[c as usize]).collect()
    };
    cuts.into_iter().zip(&numbers).map(renamed).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn groups_keep_their_numbers_and_split_in_turn() {
        // Groups of 4, 3 and 2; one member in three puts the last two together.
        let fine = [0, 0, 0, 0, 1, 1, 1, 2, 2];
        let coarse = [0, 0, 0, 0, 1, 1, 1, 1, 1];
        let profiles = profiles(&hard_ensemble(&[fine, fine, coarse]));
        let found = Tracking::new(&profiles, &[2, 0, 1], 3, &Run::new(0)).unwrap();
        assert_eq!(found.ks, [2, 3]);
        assert_eq!(found.consensus, [0, 1, 2]);
        assert_eq!(found.weights, [3.0, 2.0, 4.0]);
        // Of the last two the heavier hands its number down.
        assert_eq!(found.clusters, [vec![0, 0, 2], vec![0, 1, 2]]);
        assert_eq!(found.sampled, None);
    }

    #[test]
    fn one_object_has_no_track_to_follow() {
        let found =
            Tracking::new(&profiles(&hard_ensemble(&[[0], [1]])), &[0], 1, &Run::new(0)).unwrap();
        assert_eq!((found.ks.len(), found.weights), (0, vec![1.0]));
    }

    proptest! {
        #[test]
        fn cuts_have_their_number_of_clusters_and_are_nested(
            ensemble in ensembles(Kinds::ALL, 14, 4), k in 1..5usize,
        ) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len()).map(|s| (s % k) as u32).collect();
            let found = Tracking::new(&profiles, &labels, k, &Run::new(0)).unwrap();
            let sum: f64 = found.weights.iter().sum();
            prop_assert!((sum - profiles.total_weight()).abs() < 1e-9);
            for (row, &k) in found.clusters.iter().zip(&found.ks) {
                let mut distinct = row.clone();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(distinct.len(), k);
            }
            for pair in found.clusters.windows(2) {
                for (a, b) in (0..sum as usize).zip(1..).filter(|(_, b)| *b < found.weights.len()) {
                    prop_assert!(pair[1][a] != pair[1][b] || pair[0][a] == pair[0][b]);
                }
            }
        }
    }
}
