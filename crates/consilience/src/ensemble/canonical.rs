//! An order of profiles, members and clusters that does not depend on how the data were written
//! down.
//!
//! Methods break ties and draw random starts by position. If positions came from the file, a file
//! sorted by class would leak the classes into the answer, and shuffling rows would change it. So
//! a method is handed the ensemble in an order computed from its structure alone: every cluster
//! and profile gets a fingerprint that ignores names and positions (colour refinement: a cluster
//! is known by its weight and the profiles in it, a profile by its weight and its clusters, a
//! member by its clusters, repeated a few rounds), and everything is sorted by fingerprint. What
//! still ties is, but for exotic cases, truly interchangeable.

use crate::ensemble::profiles::{Profiles, mix};

/// Rounds of refinement. Each lets a fingerprint see one step further; ties left after three are
/// in practice symmetries.
const ROUNDS: usize = 3;

/// Profiles in canonical order, with the way back.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// The reordered profiles.
    pub profiles: Profiles,
    /// Which profile of the original stands at each place now.
    pub profile_at: Vec<u32>,
    /// Which member of the original stands at each place now.
    pub member_at: Vec<u32>,
    /// Which cluster of the original, counted through all members, stands at each place now.
    pub cluster_at: Vec<u32>,
}

impl Canonical {
    /// Reorders `profiles`. Time $O(u r)$ a round and a sort of the fingerprints.
    pub fn new(profiles: &Profiles) -> Self {
        let prints = Fingerprints::of(profiles);
        let sorted = |prints: &[u64], range: std::ops::Range<usize>| {
            let mut order: Vec<u32> = range.map(|i| i as u32).collect();
            order.sort_by_key(|&i| prints[i as usize]);
            order
        };
        let profile_at = sorted(&prints.profiles, 0..profiles.len());
        let member_at = sorted(&prints.members, 0..profiles.n_members());
        let cluster_at = member_at
            .iter()
            .flat_map(|&h| {
                sorted(&prints.clusters, profiles.members()[h as usize].clusters.clone())
            })
            .collect::<Vec<_>>();
        let profiles = profiles.reordered(&profile_at, &member_at, &cluster_at);
        Canonical { profiles, profile_at, member_at, cluster_at }
    }
}

struct Fingerprints {
    profiles: Vec<u64>,
    members: Vec<u64>,
    clusters: Vec<u64>,
}

impl Fingerprints {
    fn of(profiles: &Profiles) -> Self {
        let mut prints = Fingerprints {
            profiles: profiles.weights().iter().map(|w| mix(w.to_bits())).collect(),
            members: vec![0; profiles.n_members()],
            clusters: vec![0; profiles.n_clusters()],
        };
        for round in 1..=ROUNDS as u64 {
            // Sums of mixed values do not depend on the order of the summands.
            let mut clusters = vec![0u64; profiles.n_clusters()];
            for s in 0..profiles.len() {
                let print = prints.profiles[s];
                profiles.for_each_entry(s, |_, c, p| {
                    clusters[c] = clusters[c].wrapping_add(mix(print ^ mix(p.to_bits() ^ round)));
                });
            }
            prints.clusters = clusters.into_iter().map(mix).collect();
            for (print, member) in prints.members.iter_mut().zip(profiles.members()) {
                let sum = |sum: u64, c: usize| sum.wrapping_add(mix(prints.clusters[c]));
                *print = mix(member.clusters.clone().fold(round, sum));
            }
            for (s, print) in prints.profiles.iter_mut().enumerate() {
                let mut sum = 0u64;
                profiles.for_each_entry(s, |h, c, p| {
                    let seen = prints.clusters[c] ^ prints.members[h].rotate_left(17);
                    sum = sum.wrapping_add(mix(seen ^ mix(p.to_bits())));
                });
                *print = mix(*print ^ sum);
            }
        }
        prints
    }
}
