//! All that is to be known of a consensus at a glance, computed on profiles.

use crate::consensus::NO_CLUSTER;
use crate::ensemble::{NO_PROFILE, Profiles};
use crate::error::Result;
use crate::judge::KCriteria;
use crate::judge::blocks::cohesion;
use crate::judge::members::MemberAgreement;
use crate::judge::support::{Placement, Support};
use crate::run::Run;

/// Clusters whose cohesion is computed: the largest.
const COHESIVE: usize = 200;
/// Bars of a histogram of confidences.
pub const CONFIDENCE_BARS: usize = 20;

/// What is to be known of a consensus.
#[derive(Clone, Debug)]
pub struct Overview {
    /// How every profile came to its cluster.
    pub choices: Vec<Placement>,
    /// The clusters, in the order of their numbers.
    pub clusters: Vec<ClusterFacts>,
    /// Borders between two clusters with objects that could belong to either, by falling number of
    /// these.
    pub borders: Vec<Border>,
    /// How many objects there are.
    pub n: usize,
    /// How many have a cluster.
    pub assigned: usize,
    /// How many of those are [safe](Placement::is_safe).
    pub safe: usize,
    /// The mean share of the members that label an object.
    pub coverage: f64,
    /// How many objects fewer than half of the members label.
    pub left_out: usize,
    /// How the members agree.
    pub members: MemberAgreement,
    /// What the ensemble says of the number of clusters.
    pub criteria: KCriteria,
}

/// What is to be known of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterFacts {
    /// How many objects it has.
    pub objects: usize,
    /// Their weight.
    pub weight: f64,
    /// Their mean confidence.
    pub confidence: f64,
    /// How many have a confidence in each twentieth of [0, 1].
    pub histogram: [usize; CONFIDENCE_BARS],
    /// How many are safe.
    pub safe: usize,
    /// The mean co-association of its pairs of objects; `None` beyond the 200 largest.
    pub cohesion: Option<f64>,
    /// The other cluster with the largest mean co-association, and that.
    pub nearest: Option<(u32, f64)>,
}

/// Two clusters and the objects that could belong to either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// The smaller number of the two.
    pub a: u32,
    /// The larger.
    pub b: u32,
    /// Objects in one of them that are not safe and have the other as second choice.
    pub objects: usize,
}

impl Overview {
    /// The mean confidence of the objects that have a cluster; NaN if none has.
    pub fn confidence(&self) -> f64 {
        let all: f64 = self.clusters.iter().map(|cluster| cluster.weight).sum();
        self.clusters.iter().map(|cluster| cluster.weight * cluster.confidence).sum::<f64>() / all
    }

    /// Looks at the consensus `labels` of `k` clusters, one label and confidence per profile. What speaks
    /// for which number of clusters is looked for unless these `criteria` of the same profiles are given.
    ///
    /// # Cost
    ///
    /// Time $O(u (r + k))$, and what [`MemberAgreement::new`] and [`KCriteria::new`] take.
    ///
    /// # Errors
    ///
    /// If memory does not suffice, or if the run is cancelled.
    pub fn new(
        profiles: &Profiles,
        labels: &[u32],
        confidence: &[f64],
        k: usize,
        criteria: Option<&KCriteria>,
        run: &Run,
    ) -> Result<Self> {
        run.tick("explaining", 0, Some(4))?;
        let choices = run.install(|| Support::new(profiles, labels, k)).choices(run)?;
        run.tick("explaining", 1, Some(4))?;
        let mut copies = vec![0; profiles.len()];
        let known = profiles.map().iter().filter(|&&s| s != NO_PROFILE);
        known.for_each(|&s| copies[s as usize] += 1);
        let clusters = clusters(profiles, &choices, confidence, &copies, k, run)?;
        run.tick("explaining", 2, Some(4))?;
        let members = MemberAgreement::new(profiles, labels, run)?;
        run.tick("explaining", 3, Some(4))?;
        let criteria = match criteria {
            Some(known) => known.clone(),
            None => KCriteria::new(profiles, None, run)?,
        };
        run.tick("explaining", 4, Some(4))?;
        let heard: Vec<f64> =
            choices.iter().map(|choice| choice.votes / profiles.n_members() as f64).collect();
        Ok(Overview {
            borders: borders(&choices, &copies),
            coverage: heard.iter().zip(&copies).map(|(x, &n)| x * n as f64).sum::<f64>()
                / profiles.n_objects().max(1) as f64,
            left_out: profiles.n_objects()
                - heard
                    .iter()
                    .zip(&copies)
                    .filter(|(x, _)| **x >= 0.5)
                    .map(|(_, n)| n)
                    .sum::<usize>(),
            n: profiles.n_objects(),
            assigned: clusters.iter().map(|cluster| cluster.objects).sum(),
            safe: clusters.iter().map(|cluster| cluster.safe).sum(),
            choices,
            clusters,
            members,
            criteria,
        })
    }
}

fn clusters(
    profiles: &Profiles,
    choices: &[Placement],
    confidence: &[f64],
    copies: &[usize],
    k: usize,
    run: &Run,
) -> Result<Vec<ClusterFacts>> {
    let empty = ClusterFacts {
        objects: 0,
        weight: 0.0,
        confidence: 0.0,
        histogram: [0; CONFIDENCE_BARS],
        safe: 0,
        cohesion: None,
        nearest: None,
    };
    let mut clusters = vec![empty; k];
    for (s, choice) in choices.iter().enumerate().filter(|(_, c)| c.cluster != NO_CLUSTER) {
        let cluster = &mut clusters[choice.cluster as usize];
        let (w, sure) = (profiles.weights()[s], confidence[s].clamp(0.0, 1.0));
        cluster.objects += copies[s];
        cluster.weight += w;
        cluster.confidence += w * sure;
        let bar = (sure * CONFIDENCE_BARS as f64) as usize;
        cluster.histogram[bar.min(CONFIDENCE_BARS - 1)] += copies[s];
        cluster.safe += if choice.is_safe() { copies[s] } else { 0 };
    }
    clusters.iter_mut().for_each(|c| c.confidence /= c.weight.max(f64::MIN_POSITIVE));
    let mut large: Vec<usize> = (0..k).collect();
    large.sort_by(|&a, &b| clusters[b].weight.total_cmp(&clusters[a].weight));
    large.truncate(COHESIVE);
    large.sort_unstable();
    let mut place = vec![NO_CLUSTER; k];
    large.iter().zip(0..).for_each(|(&cluster, at)| place[cluster] = at);
    let labels: Vec<u32> = choices
        .iter()
        .map(|choice| place.get(choice.cluster as usize).copied().unwrap_or(NO_CLUSTER))
        .collect();
    let values = cohesion(profiles, &labels, large.len(), run)?;
    for (a, &cluster) in large.iter().enumerate() {
        clusters[cluster].cohesion = Some(values[(a, a)]);
        let others = large.iter().enumerate().filter(|(b, _)| *b != a);
        let others = others.map(|(b, &other)| (other as u32, values[(a, b)]));
        clusters[cluster].nearest =
            others.reduce(|best, next| if next.1 > best.1 { next } else { best });
    }
    Ok(clusters)
}

fn borders(choices: &[Placement], copies: &[usize]) -> Vec<Border> {
    let mut found = std::collections::BTreeMap::<(u32, u32), usize>::new();
    for (choice, &objects) in choices.iter().zip(copies) {
        let (a, b) = (choice.cluster, choice.second);
        if a != NO_CLUSTER && b != NO_CLUSTER && !choice.is_safe() {
            *found.entry((a.min(b), a.max(b))).or_default() += objects;
        }
    }
    let mut borders: Vec<Border> =
        found.into_iter().map(|((a, b), objects)| Border { a, b, objects }).collect();
    borders.sort_by_key(|border| std::cmp::Reverse(border.objects));
    borders
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    /// Two clear groups and two objects that half of the members put in the other.
    pub(in crate::judge) fn doubtful() -> Overview {
        let with = |c: i64, d: i64| [0, 0, 0, 0, c, d, 1, 1, 1, 1];
        let members = [with(0, 1), with(1, 0), with(0, 1), with(1, 0), with(0, 0), with(1, 1)];
        let profiles = profiles(&hard_ensemble(&members));
        assert_eq!(profiles.len(), 4);
        let labels = [0, 0, 1, 1];
        Overview::new(&profiles, &labels, &[1.0, 0.5, 0.5, 1.0], 2, None, &Run::new(0)).unwrap()
    }

    #[test]
    fn a_doubtful_border_is_found() {
        let found = doubtful();
        assert_eq!((found.n, found.assigned, found.safe), (10, 10, 8));
        assert_eq!(found.borders, [Border { a: 0, b: 1, objects: 2 }]);
        assert_eq!((found.clusters[0].objects, found.clusters[0].safe), (5, 4));
        assert_eq!(found.clusters[0].confidence, 0.9);
        assert_eq!(found.clusters[0].histogram[10], 1);
        assert_eq!(found.clusters[0].histogram[19], 4);
        let (other, between) = found.clusters[0].nearest.unwrap();
        assert!(other == 1 && between < found.clusters[0].cohesion.unwrap());
    }

    /// What is given is taken, and looked for it is the same.
    #[test]
    fn known_criteria_are_not_looked_for_again() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2]]));
        let run = Run::new(3);
        let known = KCriteria::new(&profiles, None, &run).unwrap();
        let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % 2).collect();
        let sure = vec![1.0; profiles.len()];
        let with =
            |given| Overview::new(&profiles, &labels, &sure, 2, given, &run).unwrap().criteria;
        assert_eq!(with(None), known);
        let other = KCriteria { recommended: known.recommended + 1, ..known };
        assert_eq!(with(Some(&other)), other);
    }

    proptest! {
        #[test]
        fn objects_are_counted_once(ensemble in ensembles(Kinds::ALL, 14, 4), k in 1..4usize) {
            let profiles = profiles(&ensemble);
            let label = |s: usize| if s % 5 == 4 { NO_CLUSTER } else { (s % k) as u32 };
            let labels: Vec<u32> = (0..profiles.len()).map(label).collect();
            let sure = vec![0.7; profiles.len()];
            let found = Overview::new(&profiles, &labels, &sure, k, None, &Run::new(0)).unwrap();
            let assigned = profiles.map().iter().filter(|&&s| {
                labels.get(s as usize).is_some_and(|&label| label != NO_CLUSTER)
            });
            prop_assert_eq!(found.assigned, assigned.count());
            prop_assert!(found.safe <= found.assigned && found.assigned <= found.n);
            let unsafe_ones: usize = found.borders.iter().map(|border| border.objects).sum();
            prop_assert_eq!(found.assigned - found.safe, unsafe_ones);
        }
    }
}
