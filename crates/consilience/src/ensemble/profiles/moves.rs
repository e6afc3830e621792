//! Profiles in another order, some of them, and profiles that are parted.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::ensemble::labels::{Code, map_codes};
use crate::ensemble::profiles::{Column, NO_PROFILE, ProfileMember, Profiles};
use crate::linalg::Matrix;

/// Profiles in a chunk of parallel work.
const CHUNK: usize = 1 << 13;

/// Profiles that are fetched together.
const BLOCK: usize = 128;

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
    /// The same ensemble written down in another order: `profile_at[i]`, `member_at[i]` and
    /// `cluster_at[i]` say which of the present profiles, members and clusters (counted through all
    /// members, those of one member together) stand at place `i` afterwards.
    pub(crate) fn reordered(
        &self,
        profile_at: &[u32],
        member_at: &[u32],
        cluster_at: &[u32],
    ) -> Profiles {
        let old = |h: &u32| &self.members[*h as usize];
        let members = ProfileMember::lay_out(
            member_at.iter().map(old).map(|m| (m.name.clone(), m.n_clusters(), m.is_hard())),
        );
        // For every hard column to be: the present column, and the new code of each code.
        let cluster_place = inverse(cluster_at);
        let mut columns = Vec::with_capacity(self.n_hard);
        // For every soft column to be: the present one.
        let mut soft_columns = Vec::with_capacity(self.soft.ncols());
        for (old, new) in member_at.iter().map(old).zip(&members) {
            match old.column {
                Column::Hard(column) => {
                    let places = &cluster_place[old.clusters.clone()];
                    let codes = places.iter().map(|&c| c as usize - new.clusters.start);
                    columns.push((column, codes.collect()));
                }
                Column::Soft(first) => {
                    let clusters = &cluster_at[new.clusters.clone()];
                    let within = |&c: &u32| first + c as usize - old.clusters.start;
                    soft_columns.extend(clusters.iter().map(within));
                }
            }
        }
        let hard = map_codes!(&self.hard, codes => recoded(codes, &columns, profile_at));
        let mut soft = Matrix::zeros(self.len(), soft_columns.len());
        let rows = soft.as_mut_slice().par_chunks_mut(soft_columns.len().max(1));
        rows.with_min_len(CHUNK).zip(profile_at).for_each(|(row, &s)| {
            let old = self.soft.row(s as usize);
            row.iter_mut().zip(&soft_columns).for_each(|(p, &j)| *p = old[j]);
        });
        let weights = profile_at.par_iter().map(|&s| self.weights[s as usize]).collect();
        let objects = self.objects.moved(inverse(profile_at));
        Profiles::assembled(members, hard, soft, weights, objects)
    }

    /// The profiles `rows` with these weights, as an ensemble of one object per profile.
    ///
    /// Members keep all their clusters; some may be empty.
    pub(crate) fn selected(&self, rows: &[u32], weights: Vec<f64>) -> Profiles {
        assert_eq!(rows.len(), weights.len(), "one weight per profile");
        fn codes<C: Copy>(codes: &[C], rows: &[u32], r: usize) -> Vec<C> {
            let mut selected = Vec::with_capacity(rows.len() * r);
            for &s in rows {
                selected.extend_from_slice(&codes[s as usize * r..(s as usize + 1) * r]);
            }
            selected
        }
        let hard = map_codes!(&self.hard, all => codes(all, rows, self.n_hard));
        let places: Vec<usize> = rows.iter().map(|&s| s as usize).collect();
        let soft = self.soft.select_rows(&places);
        let objects = (0..rows.len() as u32).collect::<Vec<_>>().into();
        Profiles::assembled(self.members.clone(), hard, soft, weights, objects)
    }

    /// Parts profiles whose objects have different `labels` (one per object, any numbers), as balanced
    /// cuts make them. What is computed on the parts is then right about every object.
    ///
    /// The weight of a profile is shared by its parts as the objects' `weights` are, or by the number
    /// of objects without them. A profile that is not parted stays as it is, to the bit.
    ///
    /// # Panics
    ///
    /// If there is not one label, and weight, per object.
    #[must_use]
    pub fn parted(&self, labels: &[u32], weights: Option<&[f64]>) -> Parted {
        assert_eq!(labels.len(), self.n_objects(), "one label per object");
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
        // The mass of every part of those that are parted, added up in the order of the objects.
        let parts = known().filter(|&(_, s, _)| is_parted[s]);
        let mut parts: Vec<(u32, u32, u32)> =
            parts.map(|(i, s, label)| (s as u32, label, i as u32)).collect();
        parts.par_sort_unstable();
        let mass: Vec<(u32, u32, f64)> = parts
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .map(|part| {
                (part[0].0, part[0].1, part.iter().map(|&(.., i)| weight(i as usize)).sum())
            })
            .collect();
        drop(parts);
        let mut mass = mass.chunk_by(|a, b| a.0 == b.0);
        let (mut origin, mut of_part, mut masses) = (Vec::new(), Vec::new(), Vec::new());
        let mut starts = Vec::with_capacity(self.len());
        for s in 0..self.len() {
            starts.push(origin.len());
            if is_parted[s] {
                let parts = mass.next().expect("profiles in turn");
                let all: f64 = parts.iter().map(|(.., m)| m).sum();
                for &(_, label, m) in parts {
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

/// The rows `rows` of `codes` with other columns: for each which one it was, and the new code of
/// each of its codes.
fn recoded<C: Code>(codes: &[C], columns: &[(usize, Vec<usize>)], rows: &[u32]) -> Vec<C> {
    let r = columns.len();
    if r == 0 {
        return Vec::new();
    }
    // The first new code is that of a missing label.
    let with_missing = |renamed: &[usize]| -> Vec<C> {
        let renamed = renamed.iter().map(|&c| C::from_index(c));
        std::iter::once(C::MISSING).chain(renamed).collect()
    };
    let columns: Vec<(usize, Vec<C>)> =
        columns.iter().map(|(column, renamed)| (*column, with_missing(renamed))).collect();
    let mut new = vec![C::MISSING; codes.len()];
    new.par_chunks_mut(r * BLOCK)
        .zip(rows.par_chunks(BLOCK))
        .with_min_len(CHUNK / BLOCK)
        .for_each_init(
            || vec![C::MISSING; r * BLOCK],
            |olds, (new, rows)| {
                // Rows lie anywhere: fetched by themselves, more of them are under way at a time.
                for (old, &s) in olds.chunks_exact_mut(r).zip(rows) {
                    old.copy_from_slice(&codes[s as usize * r..][..r]);
                }
                for (new, old) in new.chunks_exact_mut(r).zip(olds.chunks_exact(r)) {
                    for (new, (column, renamed)) in new.iter_mut().zip(&columns) {
                        *new = renamed[old[*column].plus_one() as usize];
                    }
                }
            },
        );
    new
}

/// The inverse of a permutation.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    place
}

/// The profile of every object, or [`NO_PROFILE`]. Where profiles were put in another order it is
/// written down when first asked for: there may be many objects, and few methods look at them.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    /// As it was before profiles moved.
    given: Arc<Vec<u32>>,
    /// Where each of the profiles then stands now, if they moved.
    places: Option<Vec<u32>>,
    moved: OnceLock<Vec<u32>>,
}

impl Objects {
    pub(super) fn len(&self) -> usize {
        self.given.len()
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        let Some(places) = &self.places else { return &self.given };
        // Not in parallel: a thread that waits for others might be given work that asks for this.
        self.moved.get_or_init(|| self.given.iter().map(|&s| place(places, s)).collect())
    }

    /// The same objects after profile `s` has moved to `places[s]`.
    pub(super) fn moved(&self, places: Vec<u32>) -> Self {
        let places = match &self.places {
            Some(before) => before.iter().map(|&s| place(&places, s)).collect(),
            None => places,
        };
        Objects { given: self.given.clone(), places: Some(places), moved: OnceLock::new() }
    }
}

fn place(places: &[u32], s: u32) -> u32 {
    places.get(s as usize).copied().unwrap_or(NO_PROFILE)
}

impl From<Vec<u32>> for Objects {
    fn from(map: Vec<u32>) -> Self {
        Objects { given: Arc::new(map), places: None, moved: OnceLock::new() }
    }
}

impl PartialEq for Objects {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::testing::{Kinds, ensembles, profiles};

    /// Permutations of profiles, members and clusters, those of one member together.
    fn draw(profiles: &Profiles, seed: u64) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut rng = Rng::new(seed, Stream::Data);
        let member_at = rng.permutation(profiles.n_members());
        let clusters = |&h: &u32| {
            let clusters = profiles.members()[h as usize].clusters.clone();
            let within = rng.permutation(clusters.len());
            within.into_iter().map(move |c| clusters.start as u32 + c)
        };
        let cluster_at = member_at.iter().flat_map(clusters).collect();
        (rng.permutation(profiles.len()), member_at, cluster_at)
    }

    proptest! {
        #[test]
        fn every_entry_weight_and_object_moves_with_its_profile(
            ensemble in ensembles(Kinds::ALL, 20, 6),
            seed: u64,
        ) {
            let old = profiles(&ensemble);
            let (profile_at, member_at, cluster_at) = draw(&old, seed);
            let new = old.reordered(&profile_at, &member_at, &cluster_at);
            for (i, &s) in profile_at.iter().enumerate() {
                prop_assert_eq!(new.weights()[i], old.weights()[s as usize]);
                let mut entries = Vec::new();
                new.for_each_entry(i, |h, c, p| entries.push((member_at[h], cluster_at[c], p)));
                entries.sort_by_key(|&(_, c, _)| c);
                let mut expected = Vec::new();
                old.for_each_entry(s as usize, |h, c, p| expected.push((h as u32, c as u32, p)));
                prop_assert_eq!(entries, expected);
            }
            for (&new, &old) in new.map().iter().zip(old.map()) {
                let back = profile_at.get(new as usize).copied().unwrap_or(NO_PROFILE);
                prop_assert_eq!(back, old);
            }
        }

        #[test]
        fn the_inverse_order_restores_the_profiles(
            ensemble in ensembles(Kinds::ALL, 20, 6),
            seed: u64,
        ) {
            let old = profiles(&ensemble);
            let (profile_at, member_at, cluster_at) = draw(&old, seed);
            let new = old.reordered(&profile_at, &member_at, &cluster_at);
            let back =
                new.reordered(&inverse(&profile_at), &inverse(&member_at), &inverse(&cluster_at));
            prop_assert_eq!(back, old);
        }
    }

    proptest! {
        #[test]
        fn entries_and_weights_are_those_of_the_chosen_profiles(
            ensemble in ensembles(Kinds::ALL, 12, 4),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        ) {
            let all = profiles(&ensemble);
            let rows: Vec<u32> = picks.iter().map(|pick| pick.index(all.len()) as u32).collect();
            let weights: Vec<f64> = (0..rows.len()).map(|i| 1.0 + i as f64).collect();
            let some = all.selected(&rows, weights.clone());
            prop_assert_eq!(some.weights(), &weights);
            prop_assert_eq!(some.len(), rows.len());
            for (i, &s) in rows.iter().enumerate() {
                let entries = |of: &Profiles, s: usize| {
                    let mut list = Vec::new();
                    of.for_each_entry(s, |h, c, p| list.push((h, c, p)));
                    list
                };
                prop_assert_eq!(entries(&some, i), entries(&all, s as usize));
            }
            let missing = (0..some.len())
                .any(|i| (0..some.n_members()).any(|h| !some.is_labelled(i, h)));
            prop_assert_eq!(some.has_missing(), missing);
        }
    }

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
