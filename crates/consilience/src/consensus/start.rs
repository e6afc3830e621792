//! From a clustering of the objects to the profiles that iterative methods start from.

use rayon::prelude::*;

use crate::consensus::method::{ConsensusMethod, METHODS, MethodInfo};
use crate::ensemble::{NO_PROFILE, Profiles};
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// A clustering of the objects that a method starts from.
///
/// Profiles are never split, so within one the heaviest label counts, the smallest of equals. A
/// profile of which no object has a label takes the one that its clusters speak for: every member
/// gives the shares of the labels within the cluster that holds the profile, and the largest sum
/// wins. Where no cluster of it holds a label, that is the heaviest label of all. A start may have fewer
/// clusters than the method is asked for, but not more.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    labels: &'a [Option<u32>],
    weights: Option<&'a [f64]>,
}

impl<'a> Start<'a> {
    /// One label per object; all objects count alike.
    pub fn new(labels: &'a [Option<u32>]) -> Self {
        Start { labels, weights: None }
    }

    /// Lets objects count by their weights: those of the ensemble, one per object.
    #[must_use]
    pub fn weights(mut self, weights: Option<&'a [f64]>) -> Self {
        self.weights = weights;
        self
    }

    /// One cluster per profile, numbered from 0 without gaps in the order of the labels.
    pub(super) fn of_profiles(
        &self,
        profiles: &Profiles,
        method: &dyn ConsensusMethod,
    ) -> Result<Vec<u32>> {
        self.check(profiles, method.info())?;
        let own = self.heaviest(profiles);
        let mut known: Vec<u32> = own.iter().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        if let Some(k) = method.k().filter(|&k| k < known.len()) {
            return Err(Error::StartTooFine { clusters: known.len(), k });
        }
        if known.is_empty() {
            return Err(Error::Empty {
                what: "the start".to_owned(),
                hint: "it labels no object of the ensemble".to_owned(),
            });
        }
        let code = |label: u32| known.binary_search(&label).expect("a known label") as u32;
        let own: Vec<Option<u32>> = own.into_iter().map(|label| label.map(code)).collect();
        match own.iter().copied().collect() {
            Some(labels) => Ok(labels),
            None => Ok(filled_in(profiles, &own, known.len())),
        }
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

/// The labels of all profiles, from those that have one of `k`.
fn filled_in(profiles: &Profiles, own: &[Option<u32>], k: usize) -> Vec<u32> {
    let mut overall = vec![0.0; k];
    let mut shares = Matrix::zeros(profiles.n_clusters(), k);
    for (s, (label, &w)) in own.iter().zip(profiles.weights()).enumerate() {
        if let Some(l) = label.map(|label| label as usize) {
            overall[l] += w;
            profiles.for_each_entry(s, |_, c, p| shares[(c, l)] += w * p);
        }
    }
    for c in 0..shares.nrows() {
        let row = shares.row_mut(c);
        let sum: f64 = row.iter().sum();
        row.iter_mut().filter(|_| sum > 0.0).for_each(|share| *share /= sum);
    }
    // The first of equals.
    let largest = |values: &[f64]| {
        let first = |best: usize, l: usize| if values[l] > values[best] { l } else { best };
        (1..values.len()).fold(0, first)
    };
    let of_profile = |(s, label): (usize, &Option<u32>)| {
        label.unwrap_or_else(|| {
            let mut votes = vec![0.0; k];
            profiles.for_each_entry(s, |_, c, p| {
                votes.iter_mut().zip(shares.row(c)).for_each(|(vote, share)| *vote += p * share);
            });
            let heard = votes.iter().any(|&vote| vote > 0.0);
            largest(if heard { &votes } else { &overall }) as u32
        })
    };
    own.iter().enumerate().map(of_profile).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::Scec;
    use crate::run::Run;
    use crate::testing::{Kinds, ensembles, hard_ensemble};

    fn start(
        profiles: &Profiles,
        labels: &[Option<u32>],
        weights: Option<&[f64]>,
    ) -> Result<Vec<u32>> {
        Start::new(labels).weights(weights).of_profiles(profiles, &Scec::new(4))
    }

    fn heaviest(
        profiles: &Profiles,
        labels: &[Option<u32>],
        weights: Option<&[f64]>,
    ) -> Vec<Option<u32>> {
        Start::new(labels).weights(weights).heaviest(profiles)
    }

    #[test]
    fn a_start_of_more_clusters_than_asked_for_is_refused() {
        let profiles = Profiles::new(&hard_ensemble(&[[0, 1, 2, 3, 4]]), &Run::new(0)).unwrap();
        let labels = [9, 8, 7, 6, 5].map(Some);
        let refused = Err(Error::StartTooFine { clusters: 5, k: 4 });
        assert_eq!(start(&profiles, &labels, None), refused);
        let fewer = [9, 9, 7, 6, 5].map(Some);
        assert_eq!(start(&profiles, &fewer, None), Ok(vec![3, 3, 2, 1, 0]));
    }

    #[test]
    fn weights_decide_within_a_profile() {
        let profiles = Profiles::new(&hard_ensemble(&[[0, 0, 0, 1]]), &Run::new(0)).unwrap();
        let labels = [5, 5, 7, 0].map(Some);
        // Of the labels 0, 5 and 7, only those that some profile takes are numbered.
        assert_eq!(heaviest(&profiles, &labels, None), [Some(5), Some(0)]);
        assert_eq!(heaviest(&profiles, &labels, Some(&[1.0, 1.0, 3.0, 1.0])), [Some(7), Some(0)]);
        assert_eq!(heaviest(&profiles, &labels, Some(&[1.0, 1.0, 2.0, 1.0])), [Some(5), Some(0)]);
        assert_eq!(start(&profiles, &labels, None), Ok(vec![1, 0]));
    }

    #[test]
    fn a_profile_without_label_follows_those_it_stands_with() {
        // By heads, the last object has stood with label 1 twice and with 2 twice; but of its
        // first cluster label 2 is a third, and of its second all.
        let ensemble = hard_ensemble(&[[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 2, 3]]);
        let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
        let labels = [Some(1), Some(1), Some(2), None];
        assert_eq!(start(&profiles, &labels, None), Ok(vec![0, 0, 1, 1]));
    }

    #[test]
    fn a_profile_apart_from_all_labels_takes_the_heaviest() {
        let profiles =
            Profiles::new(&hard_ensemble(&[[0, 0, 1, 2], [0, 0, 1, 2]]), &Run::new(0)).unwrap();
        let labels = [Some(4), Some(4), Some(3), None];
        assert_eq!(start(&profiles, &labels, None), Ok(vec![1, 0, 1]));
        let weights = [1.0, 1.0, 1.0, 9.0];
        assert_eq!(start(&profiles, &labels, Some(&weights)), Ok(vec![1, 0, 1]));
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
            "the weights of the start has 1 entry, but the ensemble has 3"
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
