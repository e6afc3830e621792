use proptest::prelude::*;

use super::*;
use crate::consensus::combine;
use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

fn labels(members: &[[i64; 6]], params: VotingMergingParams) -> Vec<Option<u32>> {
    let profiles = profiles(&hard_ensemble(members));
    let consensus = combine(&profiles, &params.check().unwrap(), None, &Run::new(0)).unwrap();
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
        let params = VotingMergingParams::new().matching(matching).k(3);
        assert_eq!(labels(&members, params), [0, 0, 1, 1, 2, 2].map(Some));
    }
}

/// Two members halve the second group in different places: its halves share objects and merge.
#[test]
fn clusters_rarely_told_apart_are_merged() {
    let members = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 1, 2], [0, 0, 1, 2, 2, 1]];
    let expected = [1, 1, 0, 0, 0, 0].map(Some);
    assert_eq!(labels(&members, VotingMergingParams::new().k(2)), expected);
    // Each crosses over to the other by a quarter.
    let by_share = VotingMergingParams::new().threshold(0.2);
    assert_eq!(labels(&members, by_share), expected);
}

#[test]
fn refuses_what_is_out_of_range() {
    assert!(VotingMergingParams::new().k(0).check().is_err());
    assert!(VotingMergingParams::new().restarts(0).check().is_err());
    assert!(VotingMergingParams::new().threshold(f64::NAN).check().is_err());
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
        let method = VotingMergingParams::new().check().unwrap();
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
        let method = VotingMergingParams::new().check().unwrap();
        let consensus = method.fit(&profiles, None, &Run::new(0).threads(1)).unwrap();
        for row in consensus.membership.unwrap().iter_rows() {
            prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
