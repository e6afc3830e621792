//! Whom the members vote for: how their clusters are spread over the clusters of one clustering.

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::labels::{Code, with_codes};
use crate::ensemble::profiles::Profiles;
use crate::ensemble::profiles::tally::tally;
use crate::linalg::Matrix;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// How the clusters of all members are spread over the clusters of one clustering of the profiles.
///
/// An object's cluster in member $h$ votes for each cluster of the clustering by the share of its
/// objects that lie there.
///
/// ```
/// use consilience::Run;
/// use consilience::ensemble::{Ensemble, HardMember, Profiles, Votes};
/// let a = HardMember::from_integers("a", [0, 0, 0, 1].map(Some));
/// let b = HardMember::from_integers("b", [0, 0, 1, 1].map(Some));
/// let ensemble = Ensemble::new(vec![a.into(), b.into()])?;
/// let profiles = Profiles::new(&ensemble, &Run::new(0))?;
/// let votes = Votes::new(&profiles, &[0, 0, 1], 2);
/// // The third object: all of a's cluster 0 is in cluster 0, half of b's cluster 1.
/// assert_eq!(votes.share(3), [0.5, 0.5]);
/// assert_eq!(votes.support(&profiles, 1), [0.75, 0.25]);
/// assert_eq!(votes.of_member(&profiles, 1, 1), [0.5, 0.5]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Votes {
    /// The weight of every cluster of the members.
    mass: Vec<f64>,
    /// The weight that it shares with every cluster of the clustering.
    shared: Matrix,
}

impl Votes {
    /// The votes for the clustering `labels` of the profiles into `k` clusters; a label of `k` or
    /// above means none.
    ///
    /// # Panics
    ///
    /// If there is not one label a profile.
    pub fn new(profiles: &Profiles, labels: &[u32], k: usize) -> Self {
        assert_eq!(labels.len(), profiles.len(), "one label a profile");
        let mut mass = vec![0.0; profiles.n_clusters()];
        let mut shared = Matrix::zeros(profiles.n_clusters(), k);
        // Some members a task: whatever their number, every sum is over all profiles in turn.
        let together = profiles.n_members().div_ceil(rayon::current_num_threads()).max(1);
        let mut tasks = Vec::new();
        let (mut rest_mass, mut rest_shared) = (&mut mass[..], shared.as_mut_slice());
        for (task, members) in profiles.members().chunks(together).enumerate() {
            let clusters = members[0].clusters.start..members[members.len() - 1].clusters.end;
            let (own_mass, others_mass) = rest_mass.split_at_mut(clusters.len());
            let (own_shared, others_shared) = rest_shared.split_at_mut(clusters.len() * k);
            let members = task * together..task * together + members.len();
            tasks.push((members, clusters.start, own_mass, own_shared));
            (rest_mass, rest_shared) = (others_mass, others_shared);
        }
        tasks.into_par_iter().for_each(|(members, first, mass, shared)| {
            for_each_entry_of(profiles, members, |s, c, p| {
                let (c, label, weight) = (c - first, labels[s] as usize, profiles.weights()[s] * p);
                mass[c] += weight;
                if label < k {
                    shared[c * k + label] += weight;
                }
            });
        });
        Votes { mass, shared }
    }

    /// The share of cluster `c`, counted through all members, in every cluster of the clustering.
    pub fn share(&self, c: usize) -> Vec<f64> {
        self.shared.row(c).iter().map(|shared| shared / self.mass[c]).collect()
    }

    /// The share of cluster `c`, counted through all members, in one cluster of the clustering.
    pub(crate) fn share_of(&self, c: usize, label: usize) -> f64 {
        self.shared[(c, label)] / self.mass[c]
    }

    /// What member `h` says of profile `s`: the share of its cluster there in every cluster of the clustering,
    /// weighted by membership where soft; zeros where it does not label it.
    pub fn of_member(&self, profiles: &Profiles, s: usize, h: usize) -> Vec<f64> {
        let mut shares = vec![0.0; self.shared.ncols()];
        profiles.for_each_entry_of(s, h, |c, p| {
            shares.iter_mut().zip(self.share(c)).for_each(|(sum, share)| *sum += p * share);
        });
        shares
    }

    /// The support of profile `s` for every cluster: the members' votes, averaged over those that
    /// label it (weighted by membership where soft).
    pub fn support(&self, profiles: &Profiles, s: usize) -> Vec<f64> {
        (0..self.shared.ncols()).map(|label| self.support_of(profiles, s, label)).collect()
    }

    /// The support of profile `s` for one cluster, in [0, 1].
    pub(crate) fn support_of(&self, profiles: &Profiles, s: usize, label: usize) -> f64 {
        let (mut sum, mut votes) = (0.0, 0.0);
        profiles.for_each_entry(s, |_, c, p| {
            sum += p * self.shared[(c, label)] / self.mass[c];
            votes += p;
        });
        (sum / votes).clamp(0.0, 1.0)
    }

    /// [`support_of`](Self::support_of) every profile for its own cluster in `labels`; 0 where that
    /// is `k` or above.
    ///
    /// # Panics
    ///
    /// If there is not one label a profile.
    pub(crate) fn support_of_own(&self, profiles: &Profiles, labels: &[u32]) -> Vec<f64> {
        assert_eq!(labels.len(), profiles.len(), "one label a profile");
        let k = self.shared.ncols();
        if !profiles.is_hard() {
            let support = |(s, &label): (usize, &u32)| match label as usize {
                label if label < k => self.support_of(profiles, s, label),
                _ => 0.0,
            };
            return labels.par_iter().enumerate().with_min_len(CHUNK).map(support).collect();
        }
        let shares = Matrix::from_fn(self.mass.len(), k, |c, label| self.share_of(c, label));
        let mut support = vec![0.0; labels.len()];
        support.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, support)| {
            let start = chunk * CHUNK;
            profiles.for_each_row(start..start + support.len(), |s, clusters| {
                let label = labels[s] as usize;
                if label < k {
                    let sum: f64 = clusters
                        .iter()
                        .map(|&c| shares[(c as usize, label)])
                        .fold(0.0, |a, b| a + b);
                    support[s - start] = (sum / clusters.len() as f64).clamp(0.0, 1.0);
                }
            });
        });
        support
    }
}

/// Calls `visit(s, cluster, membership)` for every non-zero entry of the rows of $H$ that belongs to
/// one of these members, profiles in order.
fn for_each_entry_of(
    profiles: &Profiles,
    members: Range<usize>,
    mut visit: impl FnMut(usize, usize, f64),
) {
    if !profiles.is_hard() {
        for s in 0..profiles.len() {
            members.clone().for_each(|h| profiles.for_each_entry_of(s, h, |c, p| visit(s, c, p)));
        }
        return;
    }
    tally(profiles.len() * members.len());
    let first = &profiles.first_clusters()[members.clone()];
    with_codes!(profiles.codes(), codes => {
        for (s, codes) in codes.chunks_exact(profiles.n_members()).enumerate() {
            for (code, first) in codes[members.clone()].iter().zip(first) {
                if let Some(c) = code.index() {
                    visit(s, *first as usize + c, 1.0);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::Run;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        /// One entry after the other, bit by bit, at any number of threads.
        #[test]
        fn votes_are_counted_by_the_book(
            ensemble in prop_oneof![ensembles(Kinds::PLAIN, 14, 6), ensembles(Kinds::ALL, 14, 6)],
            k in 1..4u32,
        ) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| (5 * s + s / 3) % (k + 1)).collect();
            let mut mass = vec![0.0; profiles.n_clusters()];
            let mut shared = Matrix::zeros(profiles.n_clusters(), k as usize);
            for (s, (&label, &w)) in labels.iter().zip(profiles.weights()).enumerate() {
                profiles.for_each_entry(s, |_, c, p| {
                    mass[c] += w * p;
                    if label < k {
                        shared[(c, label as usize)] += w * p;
                    }
                });
            }
            for threads in [1, 2, 3] {
                let run = Run::new(0).threads(threads);
                let votes = run.install(|| Votes::new(&profiles, &labels, k as usize));
                prop_assert_eq!(&votes.mass, &mass);
                prop_assert_eq!(&votes.shared, &shared);
                let support = run.install(|| votes.support_of_own(&profiles, &labels));
                for (s, &label) in labels.iter().enumerate() {
                    let one = if label < k {
                        votes.support_of(&profiles, s, label as usize)
                    } else {
                        0.0
                    };
                    prop_assert_eq!(support[s], one);
                }
            }
        }
    }
}
