//! Profiles whose equal objects went different ways.

use std::collections::BTreeMap;

use super::{NO_PROFILE, Profiles};

/// Profiles parted so that all objects of one have the same label, and that label.
#[derive(Clone, Debug, PartialEq)]
pub struct Parted {
    /// The profiles; the parts of one stand side by side, by rising label.
    pub profiles: Profiles,
    /// The label of every part.
    pub labels: Vec<u32>,
    /// The profile that every part was taken from.
    pub origin: Vec<u32>,
}

impl Profiles {
    /// Parts profiles whose objects have different `labels` (one an object, any numbers), as balanced
    /// cuts make them. What is computed on the parts is then right about every object.
    ///
    /// The weight of a profile is shared by its parts as the objects' `weights` are, or by the number
    /// of objects without them. A profile that is not parted stays as it is, to the bit.
    ///
    /// # Panics
    ///
    /// If there is not one label, and weight, an object.
    #[must_use]
    pub fn parted(&self, labels: &[u32], weights: Option<&[f64]>) -> Parted {
        assert_eq!(labels.len(), self.n_objects(), "one label an object");
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let known = || {
            let pairs = self.map().iter().zip(labels).enumerate();
            pairs.filter(|(_, (s, _))| **s != NO_PROFILE).map(|(i, (&s, &l))| (i, s as usize, l))
        };
        let mut first: Vec<Option<u32>> = vec![None; self.len()];
        let mut is_parted = vec![false; self.len()];
        for (_, s, label) in known() {
            is_parted[s] |= *first[s].get_or_insert(label) != label;
        }
        // The mass of every part of those that are parted; few are.
        let mut mass = BTreeMap::<(usize, u32), f64>::new();
        for (i, s, label) in known().filter(|&(_, s, _)| is_parted[s]) {
            *mass.entry((s, label)).or_default() += weight(i);
        }
        let (mut origin, mut of_part, mut masses) = (Vec::new(), Vec::new(), Vec::new());
        let mut starts = Vec::with_capacity(self.len());
        for s in 0..self.len() {
            starts.push(origin.len());
            if is_parted[s] {
                let parts = || mass.range((s, 0)..=(s, u32::MAX));
                let all: f64 = parts().map(|(_, m)| m).sum();
                for (&(_, label), m) in parts() {
                    origin.push(s as u32);
                    of_part.push(label);
                    masses.push(self.weights[s] * (m / all));
                }
            } else {
                origin.push(s as u32);
                // A profile without objects belongs to nobody, and its label is not asked for.
                of_part.push(first[s].unwrap_or(u32::MAX));
                masses.push(self.weights[s]);
            }
        }
        let mut map = self.map().to_vec();
        for (i, s, label) in known() {
            let end = starts.get(s + 1).copied().unwrap_or(origin.len());
            let parts = &of_part[starts[s]..end];
            let at = parts.iter().position(|&part| part == label).expect("its own part");
            map[i] = (starts[s] + at) as u32;
        }
        let profiles = Profiles { objects: map.into(), ..self.selected(&origin, masses) };
        Parted { profiles, labels: of_part, origin }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        #[test]
        fn parts_have_their_objects_entries_and_weights(
            ensemble in ensembles(Kinds::ALL, 16, 3),
            picks in prop::collection::vec(0..3u32, 16),
        ) {
            let old = profiles(&ensemble);
            let labels = &picks[..ensemble.n_objects()];
            let found = old.parted(labels, ensemble.weights());
            let new = &found.profiles;
            let entries = |of: &Profiles, s: usize| {
                let mut list = Vec::new();
                of.for_each_entry(s, |h, c, p| list.push((h, c, p)));
                list
            };
            for (t, &s) in found.origin.iter().enumerate() {
                prop_assert_eq!(entries(new, t), entries(&old, s as usize));
                let own = |&i: &usize| new.map()[i] == t as u32;
                let objects: Vec<usize> = (0..labels.len()).filter(own).collect();
                prop_assert!(!objects.is_empty());
                prop_assert!(objects.iter().all(|&i| labels[i] == found.labels[t]));
                let weights = ensemble.weights().unwrap();
                let sum: f64 = objects.iter().map(|&i| weights[i]).sum();
                prop_assert!((sum - new.weights()[t]).abs() < 1e-9);
            }
            for (&s, &t) in old.map().iter().zip(new.map()) {
                prop_assert_eq!(found.origin.get(t as usize).copied().unwrap_or(NO_PROFILE), s);
            }
        }

        #[test]
        fn without_parts_nothing_changes(ensemble in ensembles(Kinds::ALL, 16, 3)) {
            let old = profiles(&ensemble);
            let labels: Vec<u32> =
                old.map().iter().map(|&s| if s == NO_PROFILE { 9 } else { s % 3 }).collect();
            let found = old.parted(&labels, None);
            prop_assert_eq!(&found.profiles, &old);
            let own: Vec<u32> = (0..old.len() as u32).collect();
            prop_assert_eq!(found.origin, own);
        }
    }
}
