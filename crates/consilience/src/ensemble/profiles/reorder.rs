//! Profiles written down in another order.

use rayon::prelude::*;

use super::{Column, ProfileMember, Profiles};
use crate::ensemble::labels::{Code, Labels};
use crate::linalg::Matrix;

/// Profiles in a chunk of parallel work.
const CHUNK: usize = 1 << 13;

/// Profiles that are fetched together.
const BLOCK: usize = 128;

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
        let hard = match &self.hard {
            Labels::U8(codes) => Labels::U8(recoded(codes, &columns, profile_at)),
            Labels::U16(codes) => Labels::U16(recoded(codes, &columns, profile_at)),
            Labels::U32(codes) => Labels::U32(recoded(codes, &columns, profile_at)),
        };

        let n_soft = soft_columns.len();
        let mut soft = Matrix::zeros(self.len(), n_soft);
        if n_soft > 0 {
            let rows = soft.as_mut_slice().par_chunks_mut(n_soft).with_min_len(CHUNK);
            rows.zip(profile_at).for_each(|(row, &s)| {
                let old = self.soft.row(s as usize);
                row.iter_mut().zip(&soft_columns).for_each(|(p, &j)| *p = old[j]);
            });
        }

        Profiles {
            first_clusters: ProfileMember::first_clusters(&members),
            members,
            hard,
            n_hard: self.n_hard,
            soft,
            weights: profile_at.par_iter().map(|&s| self.weights[s as usize]).collect(),
            objects: self.objects.moved(inverse(profile_at)),
            has_missing: self.has_missing,
        }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::NO_PROFILE;
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
}
