//! Some of the profiles, as an ensemble of their own.

use crate::ensemble::labels::{Labels, with_codes};
use crate::ensemble::profiles::Profiles;

impl Profiles {
    /// The profiles `rows` with these weights, as an ensemble of one object a profile.
    ///
    /// Members keep all their clusters; some may be empty.
    pub(crate) fn selected(&self, rows: &[u32], weights: Vec<f64>) -> Profiles {
        assert_eq!(rows.len(), weights.len(), "one weight a profile");
        fn codes<C: Copy>(codes: &[C], rows: &[u32], r: usize) -> Vec<C> {
            let mut selected = Vec::with_capacity(rows.len() * r);
            for &s in rows {
                selected.extend_from_slice(&codes[s as usize * r..(s as usize + 1) * r]);
            }
            selected
        }
        let hard = match &self.hard {
            Labels::U8(all) => Labels::U8(codes(all, rows, self.n_hard)),
            Labels::U16(all) => Labels::U16(codes(all, rows, self.n_hard)),
            Labels::U32(all) => Labels::U32(codes(all, rows, self.n_hard)),
        };
        debug_assert_eq!(with_codes!(&hard, codes => codes.len()), rows.len() * self.n_hard);
        let places: Vec<usize> = rows.iter().map(|&s| s as usize).collect();
        let mut selected = Profiles {
            members: self.members.clone(),
            hard,
            n_hard: self.n_hard,
            soft: self.soft.select_rows(&places),
            weights,
            objects: (0..rows.len() as u32).collect::<Vec<_>>().into(),
            has_missing: false,
            first_clusters: self.first_clusters.clone(),
        };
        selected.has_missing = selected.find_missing();
        selected
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::testing::{Kinds, ensembles, profiles};

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
                let entries = |of: &super::Profiles, s: usize| {
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
}
