//! Confidence: how likely an object is with its like.
//!
//! Support says what the members vote; it does not say how often such votes are right. Confidence does: over the
//! suite of `benches/accuracy`, of the objects with confidence about $c$ a share of about $c$ are of the class that most
//! objects of their cluster are of. It is a logistic function of four things that are known without classes:
//!
//! * the *margin* of the support for the object's cluster over that for the second choice;
//! * *togetherness*: the object's mean co-association with its cluster. Members that divide the cluster
//!   vote for it all the same; here it shows;
//! * the *excess size* of the cluster, $\max(0, \ln(k n_j / n))$: a cluster of many times its share often holds several
//!   classes;
//! * *chance*, $1/k$.
//!
//! Silence counts: margin and togetherness are of the object's votes and one more that says nothing,
//! so an object with one vote is never as sure as one with ten alike. `coverage` stands beside it.
//!
//! # Where the numbers come from
//!
//! `python benches/accuracy/confidence.py --fit` on the tuning half; figures for both halves are in
//! `docs/accuracy.md`.
//!
//! Logarithms and exponentials are our own, which have the same bits on every machine: confidence is written with all its
//! digits.

use crate::consensus::NO_CLUSTER;
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::judge::support::{Placement, Support};
use crate::math;
use crate::run::Run;

/// A vote that says nothing, in votes.
const SILENT: f64 = 1.0;
/// What is added to both sides before the logarithm of odds is taken.
const ROOM: f64 = 0.02;
/// The least number of clusters that there is something to compare with.
const LEAST: usize = 2;
/// What the fit gave: a constant, then the weights of togetherness, margin, excess size and chance.
const FITTED: [f64; 5] = [-0.397, 0.723, 0.922, -1.775, 3.296];

/// What confidence depends on besides an object's own votes.
#[derive(Clone, Debug)]
pub struct Confidence {
    /// The part of the logarithm of odds that the objects of every cluster share.
    of_clusters: Vec<f64>,
}

impl Confidence {
    /// For the consensus `labels`, one per profile, of `k` clusters.
    pub fn new(profiles: &Profiles, labels: &[u32], k: usize) -> Self {
        let mut sizes = vec![0.0; k];
        let assigned = labels.iter().zip(profiles.weights()).filter(|(j, _)| **j != NO_CLUSTER);
        assigned.for_each(|(&j, w)| sizes[j as usize] += w);
        Confidence::of_sizes(&sizes)
    }

    /// For a consensus with clusters of these weights.
    pub(crate) fn of_sizes(sizes: &[f64]) -> Self {
        let k = sizes.len();
        let (all, many) = (sizes.iter().sum::<f64>(), k.max(LEAST) as f64);
        let [constant, .., size, chance] = FITTED;
        let shared = |own: f64| {
            let excess = math::ln(k as f64 * own / all).max(0.0);
            constant + size * excess + chance / many
        };
        Confidence { of_clusters: sizes.iter().map(|&own| shared(own)).collect() }
    }

    /// How sure it is that an object is with its like; 0 without a cluster.
    pub fn of(&self, choice: &Placement) -> f64 {
        self.told(choice.cluster, choice.margin(), choice.together, choice.votes)
    }

    /// The same of an object of `cluster` with such a margin and togetherness, after so many votes.
    pub(crate) fn told(&self, cluster: u32, margin: f64, together: f64, votes: f64) -> f64 {
        let Some(shared) = self.of_clusters.get(cluster as usize) else { return 0.0 };
        let heard = votes / (votes + SILENT);
        // Nobody can vote against the only cluster there is.
        let ahead = if self.of_clusters.len() < LEAST { 0.0 } else { margin };
        let [_, of_together, of_margin, ..] = FITTED;
        let odds = shared
            + of_together * log_odds(heard * together)
            + of_margin * log_odds(0.5 + 0.5 * heard * ahead);
        1.0 / (1.0 + math::exp(-odds))
    }

    /// The confidence of every profile of the consensus `labels` of `k` clusters.
    ///
    /// # Cost
    ///
    /// As [`Support::choices`].
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn of_profiles(
        profiles: &Profiles,
        labels: &[u32],
        k: usize,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let confidence = Confidence::new(profiles, labels, k);
        let choices = run.install(|| Support::new(profiles, labels, k)).choices(run)?;
        Ok(choices.iter().map(|choice| confidence.of(choice)).collect())
    }
}

fn log_odds(share: f64) -> f64 {
    math::ln((share + ROOM) / (1.0 - share + ROOM))
}

/// Whether nothing is missing: memberships add up to 1 but for rounding.
pub fn is_whole(coverage: f64) -> bool {
    coverage > 1.0 - 1e-9
}

/// The share of the members that label each profile.
pub(crate) fn coverage(profiles: &Profiles) -> Vec<f64> {
    let of = |s: usize| {
        let mut votes = 0.0;
        profiles.for_each_entry(s, |_, _, p| votes += p);
        (votes / profiles.n_members() as f64).min(1.0)
    };
    (0..profiles.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, HardMember, NO_PROFILE};
    use crate::testing::{hard_ensemble, profiles};

    /// Ten members of two groups; one object has so many labels only.
    fn with_one_of(votes: usize) -> (Profiles, Vec<u32>) {
        let label = |i: usize, h: usize| (i > 0 || h < votes).then_some((i % 2) as i64);
        let member = |h: usize| {
            HardMember::from_integers(format!("{h}"), (0..20).map(|i| label(i, h))).into()
        };
        let profiles = profiles(&Ensemble::new((0..10).map(member).collect()).unwrap());
        let object = |s: usize| profiles.map().iter().position(|&t| t as usize == s).unwrap();
        let labels = (0..profiles.len()).map(|s| (object(s) % 2) as u32).collect();
        (profiles, labels)
    }

    fn of(profiles: &Profiles, labels: &[u32], k: usize) -> Vec<f64> {
        Confidence::of_profiles(profiles, labels, k, &Run::new(0).threads(1)).unwrap()
    }

    #[test]
    fn silence_lowers_confidence_and_shows_in_coverage() {
        let mut before = 0.0;
        for votes in 1..=10 {
            let (profiles, labels) = with_one_of(votes);
            let own = profiles.map()[0] as usize;
            let sure = of(&profiles, &labels, 2)[own];
            assert!(sure > before, "{votes} votes: {sure}");
            assert!((coverage(&profiles)[own] - votes as f64 / 10.0).abs() < 1e-15);
            before = sure;
        }
        assert!(before > 0.97, "unanimous: {before}");
        let (profiles, labels) = with_one_of(1);
        let sure = of(&profiles, &labels, 2)[profiles.map()[0] as usize];
        assert!(sure < 0.92, "one vote of ten: {sure}");
    }

    /// Members divide a cluster that the consensus holds together: their support stays 1.
    #[test]
    fn a_cluster_that_members_divide_is_less_sure() {
        let halves = [0, 0, 0, 0, 1, 1, 2, 2];
        let profiles = profiles(&hard_ensemble(&[halves, halves, halves]));
        let labels: Vec<u32> = (0..profiles.len()).map(|s| u32::from(s > 0)).collect();
        let sure = of(&profiles, &labels, 2);
        let support = Support::new(&profiles, &labels, 2);
        assert_eq!((support.choice(0).support, support.choice(1).support), (1.0, 1.0));
        assert!(sure[0] > sure[1] + 0.02, "{sure:?}");
    }

    #[test]
    fn one_cluster_is_sure_only_if_members_see_one() {
        let sure = |member: [i64; 4]| {
            let profiles = profiles(&hard_ensemble(&[member; 10]));
            of(&profiles, &vec![0; profiles.len()], 1)[0]
        };
        let (one, four) = (sure([0; 4]), sure([0, 1, 2, 3]));
        assert!(one > 0.9 && four < 0.65, "{one} {four}");
    }

    #[test]
    fn votes_for_another_cluster_mean_doubt() {
        let profiles =
            profiles(&hard_ensemble(&[[0, 0, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]]));
        let own = profiles.map()[2] as usize;
        let mut labels: Vec<u32> = vec![0; profiles.len()];
        labels[profiles.map()[3] as usize] = 1;
        let with = of(&profiles, &labels, 2)[own];
        labels[own] = 1;
        let against = of(&profiles, &labels, 2)[own];
        assert!(with > against + 0.1, "{with} {against}");
    }

    proptest! {
        /// Weights are as good as rows, at any number of threads.
        #[test]
        fn weights_are_as_good_as_rows(
            rows in prop::collection::vec((prop::collection::vec(0..3i64, 4), 1..4usize), 2..9),
            k in 1..4u32,
        ) {
            // Every member labels something.
            let rows: Vec<_> = std::iter::once((vec![0; 4], 1)).chain(rows).collect();
            let column = |h: usize, copies: bool| {
                let times = |(row, n): &(Vec<i64>, usize)| vec![Some(row[h]).filter(|c| *c < 2); if copies { *n } else { 1 }];
                HardMember::from_integers(format!("{h}"), rows.iter().flat_map(times)).into()
            };
            let made = |copies: bool| Ensemble::new((0..4).map(|h| column(h, copies)).collect());
            let weights = rows.iter().map(|(_, n)| *n as f64).collect();
            let Ok(light) = made(false).unwrap().with_weights(weights) else { return Ok(()) };
            let sure = |ensemble: &Ensemble, threads: usize| {
                let run = Run::new(0).threads(threads);
                let profiles = Profiles::new(ensemble, &run).unwrap();
                let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % k).collect();
                let sure = Confidence::of_profiles(&profiles, &labels, k as usize, &run).unwrap();
                (profiles.map().to_vec(), sure)
            };
            let (map, of_weights) = sure(&light, 1);
            let (copies, of_rows) = sure(&made(true).unwrap(), 2);
            prop_assert_eq!(&of_rows, &sure(&made(true).unwrap(), 1).1);
            let mut at = 0;
            for (i, (_, n)) in rows.iter().enumerate() {
                if map[i] != NO_PROFILE {
                    let (a, b) = (of_weights[map[i] as usize], of_rows[copies[at] as usize]);
                    prop_assert!((a - b).abs() < 1e-12 && (0.0..=1.0).contains(&a), "{} {}", a, b);
                }
                at += n;
            }
        }
    }
}
