//! Votes and merges beside their definitions.

use proptest::prelude::*;

use super::*;
use crate::consensus::combine;
use crate::ensemble::{Ensemble, HardMember};
use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

fn labels(members: &[[i64; 6]], params: &VotingMerging) -> Vec<Option<u32>> {
    let profiles = profiles(&hard_ensemble(members));
    let consensus = combine(&profiles, params, None, &Run::new(0)).unwrap();
    consensus.object_labels(&profiles)
}

/// Of every member the overlap of its columns with $D$ before it and the largest that any matching
/// has; the disagreement in the end.
fn as_printed(
    profiles: &Profiles,
    order: &[u32],
    names: &[usize],
    columns: usize,
) -> (Vec<f64>, Vec<f64>, f64) {
    let (u, w) = (profiles.len(), profiles.weights());
    let row = |s: usize, h: u32| {
        let mut row = vec![0.0; columns];
        for_each_label(profiles, s, h as usize, |c, p| row[names[c]] += p);
        row
    };
    let labels = |s: usize, h: u32| profiles.is_labelled(s, h as usize);
    let (mut d, mut votes) = (Matrix::zeros(u, columns), vec![0.0; u]);
    let (mut found, mut best) = (Vec::new(), Vec::new());
    for &h in order {
        let own = profiles.members()[h as usize].clusters.clone();
        let mut overlap = Matrix::zeros(own.len(), columns);
        for s in 0..u {
            for_each_label(profiles, s, h as usize, |c, p| {
                for j in 0..columns {
                    overlap[(c - own.start, j)] += w[s] * p * d[(s, j)];
                }
            });
        }
        found.push(own.clone().map(|c| overlap[(c - own.start, names[c])]).sum());
        let matching = max_assignment_dense(&overlap).into_iter().enumerate();
        best.push(matching.map(|(c, j)| overlap[(c, j.unwrap())]).sum());
        for s in (0..u).filter(|&s| labels(s, h)) {
            votes[s] += 1.0;
            for (x, own) in d.row_mut(s).iter_mut().zip(row(s, h)) {
                *x += (own - *x) / votes[s];
            }
        }
    }
    let square = |s: usize, h: u32| -> f64 {
        d.row(s).iter().zip(row(s, h)).map(|(d, own)| (d - own).powi(2)).sum()
    };
    let pairs = (0..u).flat_map(|s| order.iter().map(move |&h| (s, h)));
    let disagreement = pairs.filter(|&(s, h)| labels(s, h)).map(|(s, h)| w[s] * square(s, h)).sum();
    (found, best, disagreement)
}

#[test]
fn names_are_matched_and_votes_averaged() {
    let members = [[0, 0, 1, 1, 2, 2], [2, 2, 0, 0, 1, 1], [1, 1, 1, 0, 2, 2]];
    for matching in [Matching::Hungarian, Matching::Greedy] {
        let params = VotingMerging::new().matching(matching).k(3);
        assert_eq!(labels(&members, &params), [0, 0, 1, 1, 2, 2].map(Some));
    }
}

/// Two members halve the second group in different places: its halves share objects and merge.
#[test]
fn clusters_rarely_told_apart_are_merged() {
    let members = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 1, 2], [0, 0, 1, 2, 2, 1]];
    let expected = [1, 1, 0, 0, 0, 0].map(Some);
    assert_eq!(labels(&members, &VotingMerging::new().k(2)), expected);
    // Each crosses over to the other by a quarter.
    let by_share = VotingMerging::new().threshold(0.2);
    assert_eq!(labels(&members, &by_share), expected);
}

#[test]
fn refuses_what_is_out_of_range() {
    assert!(VotingMerging::new().k(0).check().is_err());
    assert!(VotingMerging::new().restarts(0).check().is_err());
    assert!(VotingMerging::new().threshold(f64::NAN).check().is_err());
}

/// Of many profiles, some labels missing, votes are counted chunk by chunk.
#[test]
fn votes_of_many_profiles_are_those_printed() {
    let mut rng = crate::rng::Rng::new(4, Stream::Data);
    let mut label = |i: usize| match rng.below(9) {
        0 => None,
        1..4 => Some(rng.below(5) as i64),
        _ => Some(i as i64 % 3),
    };
    let member = |h: usize| {
        let labels: Vec<_> = (0..15_000).map(&mut label).collect();
        HardMember::from_integers(h.to_string(), labels).into()
    };
    let profiles = profiles(&Ensemble::new((0..7).map(member).collect()).unwrap());
    assert!(profiles.len() > 2 * CHUNK && profiles.has_missing());
    let method = VotingMerging::new();
    let order: Vec<u32> = (0..7).rev().collect();
    let on = |threads| {
        let run = Run::new(0).threads(threads);
        run.install(|| method.vote(&profiles, &order, 5, &run)).unwrap()
    };
    let vote = on(2);
    let (found, best, disagreement) = as_printed(&profiles, &order, &vote.names, 5);
    for (found, best) in found.iter().zip(best) {
        assert!((found - best).abs() < 1e-9 * (1.0 + best), "{found} {best}");
    }
    assert!((vote.disagreement - disagreement).abs() < 1e-9 * disagreement);
    let alone = on(1);
    assert_eq!((alone.names, alone.disagreement), (vote.names, vote.disagreement));
}

/// Sums of the largest numbers there are must not overflow.
#[test]
fn huge_weights_are_weights_too() {
    let ensemble = hard_ensemble(&[[0, 0, 1], [1, 1, 0], [0, 0, 1]]);
    let ensemble = ensemble.with_weights(vec![1e307, 1e307, 1.0]).unwrap();
    let profiles = profiles(&ensemble);
    let method = VotingMerging::new().k(2);
    let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    assert_eq!(consensus.object_labels(&profiles), [0, 0, 1].map(Some));
    // All agree, but for what rounding leaves of twice 10^307.
    assert!(consensus.convergence.objective.is_some_and(|x| x < 1e-12 * 2e307));
}

/// Merging as it is described, on a table of memberships; and by how much the nearest of all
/// decisions was decided.
fn plain_merge(method: &VotingMerging, w: &[f64], mut d: Matrix) -> (Matrix, Vec<f64>, f64) {
    let (mut shares, mut margin) = (Vec::new(), f64::INFINITY);
    loop {
        let k = d.ncols();
        let mut size = vec![0.0; k];
        let mut crossing = Matrix::zeros(k, k);
        for (s, row) in d.iter_rows().enumerate() {
            let j = argmax(row).unwrap();
            size[j] += w[s];
            let mut sorted = row.to_vec();
            sorted.sort_by(f64::total_cmp);
            if k > 1 {
                margin = margin.min(sorted[k - 1] - sorted[k - 2]);
            }
            (0..k).for_each(|l| crossing[(j, l)] += w[s] * row[l]);
        }
        let pairs = (0..k).flat_map(|j| (j + 1..k).map(move |l| (j, l)));
        let mut all: Vec<(f64, usize, usize)> = pairs
            .filter(|&(j, l)| size[j] + size[l] > 0.0)
            .map(|(j, l)| ((crossing[(j, l)] + crossing[(l, j)]) / (size[j] + size[l]), j, l))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some(&(share, j, l)) = all.first() else { return (d, shares, margin) };
        let clusters = size.iter().filter(|&&n| n > 0.0).count();
        let enough = method.k.map_or(share <= method.threshold, |wanted| clusters <= wanted);
        if method.k.is_none() {
            margin = margin.min((share - method.threshold).abs());
        }
        if enough {
            return (d, shares, margin);
        }
        if let Some(second) = all.get(1) {
            margin = margin.min(share - second.0);
        }
        shares.push(share);
        d = Matrix::from_fn(d.nrows(), k - 1, |s, column| match column {
            column if column == j => d[(s, j)] + d[(s, l)],
            column if column < l => d[(s, column)],
            column => d[(s, column + 1)],
        });
    }
}

proptest! {
    /// Whether rows are made of labels or read from a table. Where a decision is near, rounding may
    /// decide it.
    #[test]
    fn merging_is_that_of_the_definition(
        ensemble in ensembles(Kinds::ALL, 12, 5),
        k in prop::option::of(1..4usize),
        threshold in 0.0..0.6f64,
    ) {
        let profiles = profiles(&ensemble);
        let run = Run::new(1).threads(1);
        let params = VotingMerging { k, ..VotingMerging::new().threshold(threshold) };
        let method = params;
        let finest = profiles.members().iter().map(ProfileMember::n_clusters).max().unwrap();
        let columns = finest.max(k.unwrap_or(1));
        let order: Vec<u32> = (0..profiles.n_members() as u32).collect();
        let mut names = method.vote(&profiles, &order, columns, &run).unwrap().names;
        let d = memberships(&profiles, &names, columns);
        let (expected, expected_shares, margin) = plain_merge(&method, profiles.weights(), d);
        let (left, shares) = method.merge(&profiles, &mut names, columns, &run).unwrap();
        if margin > 1e-9 {
            prop_assert_eq!(left, expected.ncols());
            for (x, y) in shares.iter().zip(&expected_shares) {
                prop_assert!((x - y).abs() < 1e-9);
            }
            let found = memberships(&profiles, &names, left);
            for (x, y) in found.as_slice().iter().zip(expected.as_slice()) {
                prop_assert!((x - y).abs() < 1e-12);
            }
        }
    }
}

proptest! {
    /// Whether from overlaps of clusters or object by object.
    #[test]
    fn every_member_is_matched_as_well_as_can_be(
        ensemble in ensembles(Kinds::ALL, 12, 5),
        seed in 0..50u64,
    ) {
        let profiles = profiles(&ensemble);
        let run = Run::new(seed).threads(1);
        let order = run.rng(Stream::Restart(0)).permutation(profiles.n_members());
        let columns = profiles.members().iter().map(ProfileMember::n_clusters).max().unwrap();
        let method = VotingMerging::new();
        let mut votes = vec![method.vote(&profiles, &order, columns, &run).unwrap()];
        if !profiles.has_missing() {
            let overlaps = profiles.gram(profiles.weights());
            let vote = method.vote_by_overlaps(&profiles, &overlaps, &order, columns, &run);
            votes.push(vote.unwrap());
        }
        for vote in votes {
            let (found, best, disagreement) = as_printed(&profiles, &order, &vote.names, columns);
            for (found, best) in found.iter().zip(best) {
                prop_assert!((found - best).abs() < 1e-9 * (1.0 + best));
            }
            prop_assert!((vote.disagreement - disagreement).abs() < 1e-9 * (1.0 + disagreement));
        }
    }

    #[test]
    fn memberships_stay_distributions(ensemble in ensembles(Kinds::ALL, 12, 5)) {
        let profiles = profiles(&ensemble);
        let method = VotingMerging::new();
        let consensus = method.solve(&profiles, None, &Run::new(0).threads(1)).unwrap();
        for row in consensus.membership.unwrap().iter_rows() {
            prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
