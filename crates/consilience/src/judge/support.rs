//! Who voted for what: the members' support of every profile's cluster, and the second choice.
//!
//! Cluster $c$ of a member votes for consensus cluster $j$ with the share $n_{cj} / n_c$ of its
//! objects that lie in $j$; a profile's support for $j$ is the mean of its clusters' votes over the
//! members that label it (weighted by membership where soft). Supports of a profile sum to 1 if
//! every object has a consensus cluster.

use rayon::prelude::*;

use crate::consensus::NO_CLUSTER;
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::run::Run;

/// The votes of the members' clusters for the clusters of a consensus.
#[derive(Clone, Debug)]
pub struct Support<'a> {
    profiles: &'a Profiles,
    labels: &'a [u32],
    k: usize,
    /// Where the votes of every member's cluster start.
    starts: Vec<usize>,
    /// Consensus clusters and shares, cluster by cluster; shares above 0 only.
    shares: Vec<(u32, f64)>,
    /// Beside each share that of the consensus cluster, as far as the member labels it, that lies in
    /// the member's cluster.
    returns: Vec<f64>,
}

/// How a profile came to its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Its cluster, or [`NO_CLUSTER`].
    pub cluster: u32,
    /// The members' support for it, in [0, 1].
    pub support: f64,
    /// The cluster with the most support among the others, the first of equals; [`NO_CLUSTER`] if
    /// nobody votes for another.
    pub second: u32,
    /// The support for that.
    pub second_support: f64,
    /// The mean share of its cluster that the members put together with it: its mean co-association
    /// with the objects of its cluster.
    pub together: f64,
    /// How many members label it.
    pub votes: f64,
}

impl Placement {
    /// How much more support the cluster has than the second choice; negative where the method
    /// decided against the votes.
    pub fn margin(&self) -> f64 {
        self.support - self.second_support
    }

    /// Whether the cluster has at least twice the support of the second choice. The rule is a ratio
    /// because members of few clusters spread their votes whatever the object.
    pub fn is_safe(&self) -> bool {
        self.cluster != NO_CLUSTER && self.support >= 2.0 * self.second_support
    }
}

/// Room for counting the votes of one object.
#[derive(Clone, Debug)]
pub(super) struct Count {
    /// For every consensus cluster; 0 between two objects.
    votes: Vec<f64>,
    /// Those that have votes, so that the others need not be looked at: there may be as many as objects.
    voted_for: Vec<u32>,
}

/// The vote of one member on one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// The member.
    pub member: usize,
    /// The cluster, counted within the member, that it puts the profile in (the largest membership
    /// where soft).
    pub cluster: usize,
    /// The consensus clusters it thereby votes for, by falling share.
    pub shares: Vec<(u32, f64)>,
}

impl<'a> Support<'a> {
    /// The votes for the consensus `labels`, one per profile, of `k` clusters.
    ///
    /// # Cost
    ///
    /// Time $O(u r)$ plus sorting the cells that are not zero.
    pub fn new(profiles: &'a Profiles, labels: &'a [u32], k: usize) -> Self {
        assert_eq!(labels.len(), profiles.len(), "one label per profile");
        let of_member = |h: usize| {
            let table = crate::ensemble::Contingency::of_consensus(profiles, labels, h);
            let mut labelled = vec![0.0; k];
            table.cells().iter().for_each(|cell| labelled[cell.row as usize] += cell.weight);
            let within = |row: u32, weight: f64| weight / labelled[row as usize];
            let mut cells: Vec<_> = (table.cells().iter())
                .map(|cell| (cell.column, cell.row, cell.weight, within(cell.row, cell.weight)))
                .collect();
            cells.sort_by_key(|&(cluster, consensus, ..)| (cluster, consensus));
            cells
        };
        let tables: Vec<_> = (0..profiles.n_members()).into_par_iter().map(of_member).collect();
        let mass = profiles.cluster_weights();
        let (mut starts, mut shares, mut returns) =
            (Vec::with_capacity(mass.len() + 1), Vec::new(), Vec::new());
        for (member, cells) in profiles.members().iter().zip(&tables) {
            let mut cells = cells.iter().peekable();
            for c in member.clusters.clone() {
                starts.push(shares.len());
                let own = (c - member.clusters.start) as u32;
                while let Some((_, j, weight, within)) = cells.next_if(|cell| cell.0 == own) {
                    shares.push((*j, weight / mass[c]));
                    returns.push(*within);
                }
            }
        }
        starts.push(shares.len());
        Support { profiles, labels, k, starts, shares, returns }
    }

    /// The shares of a member's cluster, counted through all members, that go to each consensus
    /// cluster.
    fn shares(&self, cluster: usize) -> &[(u32, f64)] {
        &self.shares[self.starts[cluster]..self.starts[cluster + 1]]
    }

    /// Room for [`placed`](Self::placed).
    pub(super) fn room(&self) -> Count {
        Count { votes: vec![0.0; self.k], voted_for: Vec::new() }
    }

    /// How profile `s` came to its cluster.
    pub fn choice(&self, s: usize) -> Placement {
        self.choice_with(s, &mut self.room())
    }

    fn choice_with(&self, s: usize, count: &mut Count) -> Placement {
        let entries = |visit: &mut dyn FnMut(usize, f64)| {
            self.profiles.for_each_entry(s, |_, c, p| visit(c, p));
        };
        self.placed(entries, self.labels[s], count)
    }

    /// How an object with these clusters, counted through all members, stands to `cluster`.
    pub(super) fn placed(
        &self,
        entries: impl FnOnce(&mut dyn FnMut(usize, f64)),
        cluster: u32,
        count: &mut Count,
    ) -> Placement {
        let (mut votes, mut own, mut together) = (0.0, 0.0, 0.0);
        entries(&mut |c, p| {
            votes += p;
            let places = self.starts[c]..self.starts[c + 1];
            for (&(j, share), &within) in
                self.shares[places.clone()].iter().zip(&self.returns[places])
            {
                if j == cluster {
                    own += p * share;
                    together += p * within;
                } else {
                    let sum = &mut count.votes[j as usize];
                    if *sum == 0.0 {
                        count.voted_for.push(j);
                    }
                    *sum += p * share;
                }
            }
        });
        let mean = |sum: f64| if votes > 0.0 { sum / votes } else { 0.0 };
        let (mut second, mut most) = (NO_CLUSTER, 0.0);
        for j in count.voted_for.drain(..) {
            let sum = std::mem::take(&mut count.votes[j as usize]);
            if sum > most || (sum == most && j < second) {
                (second, most) = (j, sum);
            }
        }
        Placement {
            cluster,
            support: mean(own).min(1.0),
            second,
            second_support: mean(most),
            together: mean(together).min(1.0),
            votes,
        }
    }

    /// How every profile came to its cluster. Time $O(u r)$ where the members' clusters lie in few clusters
    /// of the consensus.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn choices(&self, run: &Run) -> Result<Vec<Placement>> {
        let choice = |count: &mut Count, &s: &u32| {
            run.check()?;
            Ok(self.choice_with(s as usize, count))
        };
        // Profiles of one cluster mostly lie in the same clusters of the members: one after the other
        // they find the shares of these in the cache.
        let mut order: Vec<u32> = (0..self.labels.len() as u32).collect();
        let found: Vec<Placement> = run.install(|| {
            order.par_sort_by_key(|&s| self.labels[s as usize]);
            order.par_iter().map_init(|| self.room(), choice).collect::<Result<_>>()
        })?;
        let mut choices = found.clone();
        order.iter().zip(found).for_each(|(&s, placement)| choices[s as usize] = placement);
        Ok(choices)
    }

    /// The support of profile `s` for every consensus cluster.
    pub fn supports(&self, s: usize) -> Vec<f64> {
        let (mut support, mut votes) = (vec![0.0; self.k], 0.0);
        self.profiles.for_each_entry(s, |_, c, p| {
            votes += p;
            self.shares(c).iter().for_each(|&(j, share)| support[j as usize] += p * share);
        });
        if votes > 0.0 {
            support.iter_mut().for_each(|x| *x /= votes);
        }
        support
    }

    /// The votes on profile `s` of the members that label it.
    pub fn votes(&self, s: usize) -> Vec<Vote> {
        let vote = |member: usize| {
            let cluster = self.profiles.label(s, member)?;
            let mut shares = Vec::new();
            let mut add = |c: usize, p: f64| {
                for &(j, share) in self.shares(c) {
                    match shares.iter_mut().find(|(known, _): &&mut (u32, f64)| *known == j) {
                        Some((_, sum)) => *sum += p * share,
                        None => shares.push((j, p * share)),
                    }
                }
            };
            self.profiles.for_each_entry_of(s, member, &mut add);
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            Some(Vote { member, cluster, shares })
        };
        (0..self.profiles.n_members()).filter_map(vote).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    #[test]
    fn by_hand() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 1], [0, 0, 1, 1], [5, 5, 5, 5]]));
        // Profiles: {0, 1}, {2}, {3}; the consensus puts object 2 with 0 and 1.
        let support = Support::new(&profiles, &[0, 0, 1], 2);
        let choice = support.choice(1);
        // Votes of 1, of 1/2 each way, and of 3/4 against 1/4.
        assert_eq!((choice.support, choice.second, choice.second_support), (0.75, 1, 0.25));
        assert!(choice.is_safe());
        // With it are all of its cluster, one of three, and all.
        assert!((choice.together - 7.0 / 9.0).abs() < 1e-15 && choice.votes == 3.0);
        let votes = support.votes(1);
        assert_eq!(votes[0], Vote { member: 0, cluster: 0, shares: vec![(0, 1.0)] });
        assert_eq!(votes[1], Vote { member: 1, cluster: 1, shares: vec![(0, 0.5), (1, 0.5)] });
    }

    #[test]
    fn without_other_votes_there_is_no_second_choice() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1], [1, 1, 0]]));
        let choice = Support::new(&profiles, &[0, 1], 2).choice(0);
        let expected = Placement {
            cluster: 0,
            support: 1.0,
            second: NO_CLUSTER,
            second_support: 0.0,
            together: 1.0,
            votes: 2.0,
        };
        assert_eq!(choice, expected);
    }

    proptest! {
        /// The definition with dense matrices.
        #[test]
        fn supports_are_mean_shares(ensemble in ensembles(Kinds::ALL, 12, 4), k in 1..4usize) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len()).map(|s| (s % k) as u32).collect();
            let h = dense_incidence(&profiles);
            let support = Support::new(&profiles, &labels, k);
            let choices = support.choices(&Run::new(0).threads(1)).unwrap();
            for s in 0..profiles.len() {
                let mut expected = vec![0.0; k];
                for c in 0..profiles.n_clusters() {
                    let mass: f64 = (0..profiles.len()).map(|t| h[(t, c)] * profiles.weights()[t]).sum();
                    for t in 0..profiles.len() {
                        let share = h[(t, c)] * profiles.weights()[t] / mass;
                        expected[labels[t] as usize] += h[(s, c)] * share;
                    }
                }
                let votes: f64 = h.row(s).iter().sum();
                for (found, expected) in support.supports(s).iter().zip(&expected) {
                    prop_assert!((found - expected / votes).abs() < 1e-12);
                }
                let sum: f64 = support.supports(s).iter().sum();
                prop_assert!((sum - 1.0).abs() < 1e-12);
                prop_assert_eq!(choices[s], support.choice(s));
                prop_assert!(choices[s].second != labels[s]);
            }
        }
    }
}
