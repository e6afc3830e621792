//! From a clustering of the objects to the profiles that iterative methods start from.

use rayon::prelude::*;

use crate::consensus::method::{METHODS, MethodInfo};
use crate::ensemble::{NO_PROFILE, Profiles};
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// A clustering of the objects that a method starts from.
///
/// Profiles are never split, so within one the heaviest label counts, the smallest of equals. A
/// profile of which no object has a label takes the one that its clusters speak for: every member
/// gives the shares of the labels within the cluster that holds the profile, and the largest sum
/// wins. Where no cluster of it holds a label, that is the heaviest label of all.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    labels: &'a [Option<u32>],
    weights: Option<&'a [f64]>,
}

impl<'a> Start<'a> {
    /// One label an object, numbered from 0; all objects count alike.
    pub fn new(labels: &'a [Option<u32>]) -> Self {
        Start { labels, weights: None }
    }

    /// Lets objects count by their weights: those of the ensemble, one an object.
    #[must_use]
    pub fn weights(mut self, weights: Option<&'a [f64]>) -> Self {
        self.weights = weights;
        self
    }

    /// One label a profile.
    pub(super) fn of_profiles(&self, profiles: &Profiles, info: &MethodInfo) -> Result<Vec<u32>> {
        self.check(profiles, info)?;
        let own = self.heaviest(profiles);
        let mut known: Vec<u32> = own.iter().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        if known.is_empty() {
            return Err(Error::Empty {
                what: "the start".to_owned(),
                hint: "it labels no object of the ensemble".to_owned(),
            });
        }
        if let Some(labels) = own.iter().copied().collect() {
            return Ok(labels);
        }
        Ok(filled_in(profiles, &own, &known))
    }

    fn check(&self, profiles: &Profiles, info: &MethodInfo) -> Result<()> {
        if !info.takes_start {
            let can = METHODS.iter().filter(|m| m.takes_start).map(|m| m.name);
            return Err(Error::Unsupported {
                method: info.name,
                what: "a start".to_owned(),
                hint: format!("methods that can: {}", can.collect::<Vec<_>>().join(", ")),
            });
        }
        let lengths = [
            ("the start", Some(self.labels.len())),
            ("the weights of the start", self.weights.map(<[f64]>::len)),
        ];
        for (what, got) in lengths {
            if let Some(got) = got.filter(|&got| got != profiles.n_objects()) {
                return Err(Error::Length {
                    what: what.to_owned(),
                    got,
                    expected_by: "the ensemble".to_owned(),
                    expected: profiles.n_objects(),
                });
            }
        }
        Ok(())
    }

    /// The heaviest label of every profile, the smallest of equals.
    fn heaviest(&self, profiles: &Profiles) -> Vec<Option<u32>> {
        let place = |i: u32| {
            let label = self.labels[i as usize].expect("objects without label are left out");
            (profiles.map()[i as usize], label)
        };
        let is_labelled = |&i: &usize| self.labels[i].is_some() && profiles.map()[i] != NO_PROFILE;
        let mut objects: Vec<u32> =
            (0..self.labels.len()).filter(is_labelled).map(|i| i as u32).collect();
        // Stable: the weights of a group are added in the order of its objects.
        objects.par_sort_by_key(|&i| place(i));
        let mut best = vec![None; profiles.len()];
        let mut most = vec![0.0; profiles.len()];
        for group in objects.chunk_by(|&a, &b| place(a) == place(b)) {
            let (s, label) = place(group[0]);
            let weight: f64 = match self.weights {
                Some(weights) => group.iter().map(|&i| weights[i as usize]).sum(),
                None => group.len() as f64,
            };
            if weight > most[s as usize] {
                (best[s as usize], most[s as usize]) = (Some(label), weight);
            }
        }
        best
    }
}

/// The labels of all profiles, from those that have one.
fn filled_in(profiles: &Profiles, own: &[Option<u32>], known: &[u32]) -> Vec<u32> {
    let code = |label: u32| known.binary_search(&label).expect("a known label");
    let mut overall = vec![0.0; known.len()];
    let mut shares = Matrix::zeros(profiles.n_clusters(), known.len());
    for (s, (label, &w)) in own.iter().zip(profiles.weights()).enumerate() {
        if let Some(l) = label.map(code) {
            overall[l] += w;
            profiles.for_each_entry(s, |_, c, p| shares[(c, l)] += w * p);
        }
    }
    for c in 0..shares.nrows() {
        let row = shares.row_mut(c);
        let sum: f64 = row.iter().sum();
        row.iter_mut().filter(|_| sum > 0.0).for_each(|share| *share /= sum);
    }
    // The first of equals: `known` is sorted.
    let largest = |values: &[f64]| {
        let first = |best: usize, l: usize| if values[l] > values[best] { l } else { best };
        (1..values.len()).fold(0, first)
    };
    let of_profile = |(s, label): (usize, &Option<u32>)| {
        label.unwrap_or_else(|| {
            let mut votes = vec![0.0; known.len()];
            profiles.for_each_entry(s, |_, c, p| {
                votes.iter_mut().zip(shares.row(c)).for_each(|(vote, share)| *vote += p * share);
            });
            let heard = votes.iter().any(|&vote| vote > 0.0);
            known[largest(if heard { &votes } else { &overall })]
        })
    };
    own.iter().enumerate().map(of_profile).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::method;
    use crate::run::Run;
    use crate::testing::{Kinds, ensembles, hard_ensemble};

    fn start(
        profiles: &Profiles,
        labels: &[Option<u32>],
        weights: Option<&[f64]>,
    ) -> Result<Vec<u32>> {
        Start::new(labels).weights(weights).of_profiles(profiles, method("scec").unwrap())
    }

    #[test]
    fn weights_decide_within_a_profile() {
        let profiles = Profiles::new(&hard_ensemble(&[[0, 0, 0, 1]]), &Run::new(0)).unwrap();
        let labels = [5, 5, 7, 0].map(Some);
        assert_eq!(start(&profiles, &labels, None), Ok(vec![5, 0]));
        assert_eq!(start(&profiles, &labels, Some(&[1.0, 1.0, 3.0, 1.0])), Ok(vec![7, 0]));
        assert_eq!(start(&profiles, &labels, Some(&[1.0, 1.0, 2.0, 1.0])), Ok(vec![5, 0]));
    }

    #[test]
    fn a_profile_without_label_follows_those_it_stands_with() {
        // By heads, the last object has stood with label 1 twice and with 2 twice; but of its
        // first cluster label 2 is a third, and of its second all.
        let ensemble = hard_ensemble(&[[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3]]);
        let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
        let labels = [Some(1), Some(1), Some(2), None];
        assert_eq!(start(&profiles, &labels, None), Ok(vec![1, 1, 2, 2]));
    }

    #[test]
    fn a_profile_apart_from_all_labels_takes_the_heaviest() {
        let profiles =
            Profiles::new(&hard_ensemble(&[[0, 0, 1, 2], [0, 0, 1, 2]]), &Run::new(0)).unwrap();
        let labels = [Some(4), Some(4), Some(3), None];
        assert_eq!(start(&profiles, &labels, None), Ok(vec![4, 3, 4]));
        let weights = [1.0, 1.0, 1.0, 9.0];
        assert_eq!(start(&profiles, &labels, Some(&weights)), Ok(vec![4, 3, 4]));
    }

    #[test]
    fn starts_of_nothing_and_of_other_objects_are_refused() {
        let profiles = Profiles::new(&hard_ensemble(&[[0, 0, 1]]), &Run::new(0)).unwrap();
        let message = |labels: &[Option<u32>], weights: Option<&[f64]>| {
            start(&profiles, labels, weights).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[None; 3], None),
            "the start is empty: it labels no object of the ensemble"
        );
        assert_eq!(message(&[None; 2], None), "the start has 2 entries, but the ensemble has 3");
        assert_eq!(
            message(&[Some(0); 3], Some(&[1.0])),
            "the weights of the start has 1 entries, but the ensemble has 3"
        );
    }

    proptest! {
        /// Against votes counted profile by profile.
        #[test]
        fn the_heaviest_label_is_the_one_counted_slowly(
            ensemble in ensembles(Kinds::ALL, 12, 4),
            seeds in prop::collection::vec((prop::option::weighted(0.7, 0u32..4), 1u8..4), 12),
        ) {
            let n = ensemble.n_objects();
            let labels: Vec<_> = seeds[..n].iter().map(|seed| seed.0).collect();
            let weights: Vec<_> = seeds[..n].iter().map(|seed| f64::from(seed.1)).collect();
            let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
            let found = Start::new(&labels).weights(Some(&weights)).heaviest(&profiles);
            for (s, &found) in found.iter().enumerate() {
                let weight = |label: u32| -> f64 {
                    let own = |&i: &usize| profiles.map()[i] == s as u32 && labels[i] == Some(label);
                    (0..n).filter(own).map(|i| weights[i]).sum()
                };
                let mut slow = None;
                for label in 0..4 {
                    if weight(label) > slow.map_or(0.0, weight) {
                        slow = Some(label);
                    }
                }
                prop_assert_eq!(found, slow);
            }
        }
    }
}
