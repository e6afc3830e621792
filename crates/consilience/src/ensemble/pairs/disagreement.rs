//! How much a clustering disagrees with the members, pair by pair.
//!
//! A pair of objects that a member labels both counts 1 if the member puts it together and the
//! clustering does not, or the other way round. With $v_{ij}$ the members that put a pair together
//! and $b_{ij}$ those that label both, the total is $\sum_{i<j} v_{ij} + \sum_{i<j \text{ together}}
//! (b_{ij} - 2 v_{ij})$: what matters of a cluster is how many objects it has of each cluster of each
//! member, so one object is judged against a whole cluster in $O(r)$.

use rayon::prelude::*;

use crate::ensemble::profiles::Profiles;

/// The objects of one cluster of a clustering, counted by the members' clusters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crowd {
    /// The weight in every cluster of every member.
    shared: Vec<f64>,
    /// The weight that every member labels.
    labelled: Vec<f64>,
    /// How many profiles it has.
    profiles: usize,
}

impl Crowd {
    /// Nobody.
    pub(crate) fn new(profiles: &Profiles) -> Self {
        Crowd {
            shared: vec![0.0; profiles.n_clusters()],
            labelled: vec![0.0; profiles.n_members()],
            profiles: 0,
        }
    }

    /// How many profiles are in it.
    pub(crate) fn len(&self) -> usize {
        self.profiles
    }

    /// Whether nobody is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.profiles == 0
    }

    /// Lets profile `s` in.
    pub(crate) fn add(&mut self, profiles: &Profiles, s: usize) {
        self.change(profiles, s, profiles.weights()[s]);
        self.profiles += 1;
    }

    /// Lets profile `s`, which is in it, out.
    pub(crate) fn remove(&mut self, profiles: &Profiles, s: usize) {
        self.change(profiles, s, -profiles.weights()[s]);
        self.profiles -= 1;
    }

    fn change(&mut self, profiles: &Profiles, s: usize, weight: f64) {
        profiles.for_each_entry(s, |h, c, _| {
            self.shared[c] += weight;
            self.labelled[h] += weight;
        });
    }

    /// $\sum_{j} w_j (b_{sj} - 2 v_{sj})$ over those in it: what an object of profile `s` adds to
    /// the disagreement by joining. Below 0 most members would have it join. For hard members.
    pub(crate) fn burden(&self, profiles: &Profiles, s: usize) -> f64 {
        let mut sum = 0.0;
        profiles.for_each_entry(s, |h, c, _| sum += self.labelled[h] - 2.0 * self.shared[c]);
        sum
    }
}

impl Profiles {
    /// The disagreements of the clustering `labels` of the profiles with all members, summed over
    /// unordered pairs of objects. For hard members.
    ///
    /// # Cost
    ///
    /// Time $O(u r)$, memory $O(K k)$.
    pub(crate) fn disagreement(&self, labels: &[u32]) -> f64 {
        assert_eq!(labels.len(), self.len(), "one label a profile");
        let k = labels.iter().max().map_or(0, |&most| most as usize + 1);
        let mut inside: Vec<Vec<u32>> = vec![Vec::new(); k];
        labels.iter().enumerate().for_each(|(s, &l)| inside[l as usize].push(s as u32));
        // Each sum runs over ordered pairs, an object with itself among them: half of it is over
        // unordered pairs and each object once, which is v = b = 1 a label.
        let of = |inside: &Vec<u32>| -> f64 {
            let mut crowd = Crowd::new(self);
            inside.iter().for_each(|&s| crowd.add(self, s as usize));
            let square = |list: &[f64]| list.iter().map(|x| x * x).sum::<f64>();
            square(&crowd.labelled) - 2.0 * square(&crowd.shared)
        };
        let parts: Vec<f64> = inside.par_iter().map(of).collect();
        let together: f64 = self.cluster_weights().iter().map(|x| x * x).sum();
        0.5 * (together + parts.iter().sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        #[test]
        fn disagreements_are_counted_pair_by_pair(ensemble in ensembles(Kinds::HARD, 12, 4)) {
            let profiles = profiles(&ensemble);
            let (u, w) = (profiles.len(), profiles.weights());
            let labels: Vec<u32> = (0..u as u32).map(|s| s % 3).collect();
            let cost = |s: usize, t: usize, together: bool| -> f64 {
                let of = |h: usize| match (profiles.label(s, h), profiles.label(t, h)) {
                    (Some(a), Some(b)) => f64::from(u8::from((a == b) != together)),
                    _ => 0.0,
                };
                (0..profiles.n_members()).map(of).sum()
            };
            let mut expected = 0.0;
            for s in 0..u {
                for t in 0..s {
                    expected += w[s] * w[t] * cost(s, t, labels[s] == labels[t]);
                }
            }
            let found = profiles.disagreement(&labels);
            prop_assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");

            let mut crowd = Crowd::new(&profiles);
            (1..u).for_each(|s| crowd.add(&profiles, s));
            let joins: f64 =
                (1..u).map(|t| w[t] * (cost(0, t, true) - cost(0, t, false))).sum();
            prop_assert!((crowd.burden(&profiles, 0) - joins).abs() < 1e-9);
            (1..u).for_each(|s| crowd.remove(&profiles, s));
            prop_assert!(crowd.is_empty() && crowd.burden(&profiles, 0).abs() < 1e-9);
        }
    }
}
