//! Profiles: the distinct label tuples of an ensemble, each once, with a weight.
//!
//! Objects with the same label tuple are interchangeable for every consensus method here, so a
//! method runs on the $u \le n$ distinct tuples with summed weights and its answer is expanded
//! back. This is exact, not an approximation. A missing label is part of the tuple; rows of soft
//! memberships merge when they are equal bit by bit.

pub(crate) mod canonical;
pub(crate) mod chunks;
pub(crate) mod moves;
pub(crate) mod sample;
pub(crate) mod tally;

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::distinct::{Merged, merge, summed_weights};
use crate::ensemble::labels::collection::{Ensemble, check_weights};
use crate::ensemble::labels::member::{Assignment, Member, argmax};
use crate::ensemble::labels::{Code, Labels, map_codes, with_codes};
use crate::ensemble::profiles::moves::Objects;
use crate::ensemble::profiles::tally::tally;
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::run::Run;

/// In a row of clusters: this member does not label the profile.
pub const MISSING: u32 = u32::MAX;

/// In the map from objects to profiles: no member labels the object, it has no profile.
pub const NO_PROFILE: u32 = u32::MAX;

/// One member as the profiles see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileMember {
    /// The member's name.
    pub name: String,
    /// Its clusters among all clusters of the ensemble: the columns of $H$ it owns.
    pub clusters: Range<usize>,
    /// Where its values stand.
    column: Column,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// Column of the label rows.
    Hard(usize),
    /// First column of the soft rows.
    Soft(usize),
}

impl ProfileMember {
    /// Members with these names, numbers of clusters and kinds (hard or not), one after the other.
    fn lay_out(members: impl Iterator<Item = (String, usize, bool)>) -> Vec<ProfileMember> {
        let (mut first, mut n_hard, mut n_soft) = (0, 0, 0);
        let lay_out = |(name, k_h, hard)| {
            let clusters = first..first + k_h;
            first += k_h;
            let column = if hard {
                n_hard += 1;
                Column::Hard(n_hard - 1)
            } else {
                n_soft += k_h;
                Column::Soft(n_soft - k_h)
            };
            ProfileMember { name, clusters, column }
        };
        members.map(lay_out).collect()
    }

    /// The number of its clusters, $k_h$.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Whether it has one label per object.
    pub fn is_hard(&self) -> bool {
        matches!(self.column, Column::Hard(_))
    }
}

/// The distinct label tuples of an ensemble with their weights, and the map from objects to them.
///
/// Profiles stand in order of first appearance. Clusters are numbered through all members: member
/// $h$ owns the columns `members()[h].clusters` of the $u \times K$ incidence matrix $H$.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    members: Vec<ProfileMember>,
    /// $u \times r_{hard}$ codes, row by row.
    hard: Labels,
    n_hard: usize,
    /// $u \times K_{soft}$ memberships.
    soft: Matrix,
    weights: Vec<f64>,
    objects: Objects,
    has_missing: bool,
    /// Of every hard member in turn its first cluster among all.
    first_clusters: Vec<u32>,
}

impl Profiles {
    /// Merges the equal label tuples of `ensemble`.
    ///
    /// # Cost
    ///
    /// Time $O(n r)$, memory $O(n + u r)$ beyond the ensemble.
    pub fn new(ensemble: &Ensemble, run: &Run) -> Result<Self> {
        check_objects(ensemble.n_objects())?;
        let shape = |m: &Member| (m.name().to_owned(), m.clusters().len(), m.is_hard());
        let members = ProfileMember::lay_out(ensemble.members().iter().map(shape));
        run.install(|| {
            let Merged { map, first, weights } = merge(ensemble, run)?;
            let (hard, soft) = gather(ensemble, &first);
            Ok(Profiles::assembled(members, hard, soft, weights, map.into()))
        })
    }

    fn assembled(
        members: Vec<ProfileMember>,
        hard: Labels,
        soft: Matrix,
        weights: Vec<f64>,
        objects: Objects,
    ) -> Self {
        let first_clusters: Vec<u32> =
            members.iter().filter(|m| m.is_hard()).map(|m| m.clusters.start as u32).collect();
        let (n_hard, has_missing) = (first_clusters.len(), false);
        let mut profiles =
            Profiles { members, hard, n_hard, soft, weights, objects, has_missing, first_clusters };
        profiles.has_missing = profiles.find_missing();
        profiles
    }

    /// Profiles that were kept as an ensemble of one object each, with the `map` from the objects that they stand for.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new) and [`with_map`](Self::with_map), and if two of them are the same.
    pub fn restored(kept: &Ensemble, map: Vec<u32>, run: &Run) -> Result<Self> {
        let profiles = Profiles::new(kept, run)?;
        let (what, by) = ("the stored table of profiles", "the list of distinct ones");
        Error::unless_length(what, kept.n_objects(), by, profiles.len())?;
        profiles.with_map(map)
    }

    /// The same profiles as those of other objects: `map` gives the profile of every object, or
    /// [`NO_PROFILE`]. With it, profiles that were stored one row each are put back into place.
    ///
    /// # Errors
    ///
    /// If `map` names a profile that there is not.
    pub fn with_map(self, map: Vec<u32>) -> Result<Self> {
        let known = |s: u32| s == NO_PROFILE || (s as usize) < self.len();
        if let Some(row) = map.iter().position(|&s| !known(s)) {
            let problem = format!("there are {} profiles, got number {}", self.len(), map[row]);
            return Err(Error::value("the map from objects to profiles", row, problem));
        }
        Ok(Profiles { objects: map.into(), ..self })
    }

    /// The same profiles as those of other objects, whose weights (all 1 if there are none) are added
    /// up; see [`with_map`](Self::with_map).
    ///
    /// # Errors
    ///
    /// As [`with_map`](Self::with_map), if the weights are not numbers > 0, one per object, and if no
    /// object has one of the profiles.
    pub fn of_objects(self, map: Vec<u32>, weights: Option<&[f64]>) -> Result<Self> {
        if let Some(weights) = weights {
            let (what, by) = ("the list of object weights", "the map from objects to profiles");
            Error::unless_length(what, weights.len(), by, map.len())?;
            check_weights(weights)?;
        }
        let profiles = self.with_map(map)?;
        let weights = summed_weights(profiles.map(), profiles.len(), weights);
        check_weights(&weights)?;
        Ok(Profiles { weights, ..profiles })
    }

    fn find_missing(&self) -> bool {
        fn missing<C: Code>(codes: &[C]) -> bool {
            codes.contains(&C::MISSING)
        }
        let hard = with_codes!(&self.hard, codes => codes.par_chunks(1 << 16).any(missing));
        let soft = |h| {
            let unlabelled = |s| !self.is_labelled(s, h);
            !self.members[h].is_hard() && (0..self.len()).into_par_iter().any(unlabelled)
        };
        hard || (0..self.members.len()).any(soft)
    }

    /// The number of profiles, $u$.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none: no object has any label.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The number of objects, $n$, counting those without any label.
    pub fn n_objects(&self) -> usize {
        self.objects.len()
    }

    /// The members.
    pub fn members(&self) -> &[ProfileMember] {
        &self.members
    }

    /// The number of members, $r$.
    pub fn n_members(&self) -> usize {
        self.members.len()
    }

    /// The number of clusters of all members together, $K = \sum_h k_h$.
    pub fn n_clusters(&self) -> usize {
        self.members.last().map_or(0, |m| m.clusters.end)
    }

    /// The weight of every profile.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The weight of all profiles together.
    pub(crate) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The profile of every object; [`NO_PROFILE`] where no member labels the object. Profiles in another
    /// order write it down when they are first asked, in $O(n)$.
    pub fn map(&self) -> &[u32] {
        self.objects.as_slice()
    }

    /// Whether all members are hard.
    pub fn is_hard(&self) -> bool {
        self.n_hard == self.members.len()
    }

    /// Whether some member does not label some profile.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// The label codes of the hard members, profile by profile, one for each hard member in turn.
    ///
    /// For kernels that compare whole tuples; others read [`clusters_into`](Self::clusters_into).
    pub(crate) fn codes(&self) -> &Labels {
        &self.hard
    }

    /// The first cluster, counted through all members, of every hard member in turn: with
    /// [`codes`](Self::codes) all that is needed to visit the labels in a loop of one's own.
    pub(crate) fn first_clusters(&self) -> &[u32] {
        &self.first_clusters
    }

    /// Writes into `row[h]` the cluster, counted through all members, that member `h` puts profile
    /// `s` in, or [`MISSING`]. For ensembles of hard members only.
    ///
    /// # Panics
    ///
    /// If a member is soft or `row` does not hold one entry per member.
    #[inline]
    pub(crate) fn clusters_into(&self, s: usize, row: &mut [u32]) {
        assert!(self.is_hard(), "soft members have no single cluster");
        assert_eq!(row.len(), self.n_hard, "one entry per member");
        tally(self.n_hard);
        with_codes!(&self.hard, codes => {
            let codes = &codes[s * self.n_hard..(s + 1) * self.n_hard];
            for ((out, code), first) in row.iter_mut().zip(codes).zip(&self.first_clusters) {
                *out = code.index().map_or(MISSING, |c| first + c as u32);
            }
        });
    }

    /// Calls `visit(s, clusters)` for each of the profiles `rows` in turn with the clusters, counted
    /// through all members, that it is in; members that do not label it are left out. For ensembles
    /// of hard members only.
    ///
    /// This is the fast way through many profiles: the width of the codes is looked up once.
    ///
    /// # Panics
    ///
    /// If a member is soft.
    #[inline]
    pub(crate) fn for_each_row(&self, rows: Range<usize>, mut visit: impl FnMut(usize, &[u32])) {
        assert!(self.is_hard(), "soft members have no single cluster");
        let r = self.n_hard;
        tally(rows.len() * r);
        let mut clusters = vec![0; r];
        with_codes!(&self.hard, codes => {
            let codes = &codes[rows.start * r..rows.end * r];
            if self.has_missing {
                for (s, codes) in rows.zip(codes.chunks_exact(r)) {
                    let mut len = 0;
                    for (&code, first) in codes.iter().zip(&self.first_clusters) {
                        // Written in any case and kept if there: no branch to guess wrong.
                        clusters[len] = first.wrapping_add(code.plus_one() as u32).wrapping_sub(1);
                        len += usize::from(code.index().is_some());
                    }
                    visit(s, &clusters[..len]);
                }
            } else {
                for (s, codes) in rows.zip(codes.chunks_exact(r)) {
                    let codes = codes.iter().zip(&self.first_clusters);
                    for (cluster, (code, first)) in clusters.iter_mut().zip(codes) {
                        *cluster = first + code.plus_one() as u32 - 1;
                    }
                    visit(s, &clusters);
                }
            }
        });
    }

    /// Calls `visit(h, cluster, membership)` for every non-zero entry of row `s` of $H$, members
    /// and clusters in order. Hard labels have membership 1.
    #[inline]
    pub fn for_each_entry(&self, s: usize, mut visit: impl FnMut(usize, usize, f64)) {
        if !self.is_hard() {
            for h in 0..self.members.len() {
                self.for_each_entry_of(s, h, |c, p| visit(h, c, p));
            }
            return;
        }
        tally(self.n_hard);
        with_codes!(&self.hard, codes => {
            let codes = &codes[s * self.n_hard..(s + 1) * self.n_hard];
            for (h, (code, &first)) in codes.iter().zip(&self.first_clusters).enumerate() {
                if let Some(c) = code.index() {
                    visit(h, first as usize + c, 1.0);
                }
            }
        });
    }

    /// Calls `visit(cluster, membership)` for every non-zero entry of row `s` of $H$ that belongs to
    /// member `h`, clusters (counted through all members) in order.
    #[inline]
    pub fn for_each_entry_of(&self, s: usize, h: usize, mut visit: impl FnMut(usize, f64)) {
        tally(1);
        let first = self.members[h].clusters.start;
        match self.value(s, h) {
            Assignment::Label(label) => label.into_iter().for_each(|c| visit(first + c, 1.0)),
            Assignment::Memberships(row) => {
                let entries = row.iter().enumerate().filter(|(_, p)| **p != 0.0);
                entries.for_each(|(c, &p)| visit(first + c, p));
            }
        }
    }

    /// What member `h` says about profile `s`.
    #[inline]
    pub(crate) fn value(&self, s: usize, h: usize) -> Assignment<'_> {
        match self.members[h].column {
            Column::Hard(column) => Assignment::Label(self.hard.get(s * self.n_hard + column)),
            Column::Soft(first) => {
                let end = first + self.members[h].n_clusters();
                Assignment::Memberships(&self.soft.row(s)[first..end])
            }
        }
    }

    /// The memberships of profile `s` in the clusters of member `h`, all 0 where missing; `None`
    /// if the member is hard.
    pub fn memberships(&self, s: usize, h: usize) -> Option<&[f64]> {
        match self.value(s, h) {
            Assignment::Label(_) => None,
            Assignment::Memberships(row) => Some(row),
        }
    }

    /// Whether member `h` labels profile `s`.
    #[inline]
    pub(crate) fn is_labelled(&self, s: usize, h: usize) -> bool {
        match self.value(s, h) {
            Assignment::Label(label) => label.is_some(),
            Assignment::Memberships(row) => row.iter().any(|&p| p != 0.0),
        }
    }

    /// The cluster of member `h`, counted from 0 within the member, that profile `s` belongs to
    /// most, the first of equals; `None` if missing.
    #[inline]
    pub fn label(&self, s: usize, h: usize) -> Option<usize> {
        tally(1);
        match self.value(s, h) {
            Assignment::Label(label) => label,
            Assignment::Memberships(row) => argmax(row).filter(|&c| row[c] > 0.0),
        }
    }

    /// The labels of the only member with more than one cluster, if there is just one such member, it
    /// has at most `k` clusters and labels every profile.
    ///
    /// One member alone does not identify a mixture model: all tables with its margins are equally
    /// likely. The member itself is one of the answers, and the one to start from.
    pub(crate) fn only_member_that_parts(&self, k: usize) -> Option<Vec<u32>> {
        let mut parting = (0..self.members.len()).filter(|&h| self.members[h].n_clusters() > 1);
        let (h, None) = (parting.next()?, parting.next()) else { return None };
        if self.members[h].n_clusters() > k {
            return None;
        }
        (0..self.len()).map(|s| self.label(s, h).map(|c| c as u32)).collect()
    }

    /// One value per profile → one value per object; `None` where the object has no profile.
    ///
    /// # Panics
    ///
    /// If `values` does not hold one value per profile.
    pub fn expand<T: Clone>(&self, values: &[T]) -> Vec<Option<T>> {
        assert_eq!(values.len(), self.len(), "one value per profile");
        self.map().iter().map(|&s| values.get(s as usize).cloned()).collect()
    }
}

/// Refuses more objects than a map from objects to profiles can tell apart.
pub(super) fn check_objects(n: usize) -> Result<()> {
    if n < NO_PROFILE as usize {
        return Ok(());
    }
    Err(Error::Unsupported {
        method: "profiles",
        what: format!("{n} objects"),
        hint: "at most 4,294,967,294 fit; merge equal rows first and give counts as weights"
            .to_owned(),
    })
}

/// Profiles whose rows are gathered at a time, column by column.
const GATHER: usize = 1024;

/// The codes of the hard members and the memberships of the soft ones, of the objects in `first`, row by
/// row.
fn gather(ensemble: &Ensemble, first: &[u32]) -> (Labels, Matrix) {
    fn codes<C: Code>(members: &[&Labels], first: &[u32]) -> Vec<C> {
        let r = members.len();
        // Zeros are memory that the threads below are the first to touch.
        let mut rows = vec![C::from_index(0); first.len() * r];
        let chunks = rows.par_chunks_mut((GATHER * r).max(1)).zip(first.par_chunks(GATHER));
        chunks.for_each(|(rows, first)| {
            for (column, labels) in members.iter().enumerate() {
                with_codes!(labels, codes => {
                    for (row, &i) in rows.chunks_exact_mut(r).zip(first) {
                        row[column] = codes[i as usize].convert();
                    }
                });
            }
        });
        rows
    }
    let (mut hard, mut widest, mut soft) = (Vec::new(), 0, Vec::new());
    for member in ensemble.members() {
        match member {
            Member::Hard(m) => {
                hard.push(m.labels());
                widest = widest.max(m.clusters().len());
            }
            Member::Soft(m) => soft.push(m.memberships()),
        }
    }
    let hard = map_codes!(Labels::with_capacity(widest, 0), _ => codes(&hard, first));
    let columns = soft.iter().map(|memberships| memberships.ncols()).sum();
    let mut rows = Matrix::zeros(first.len(), columns);
    let chunks = rows.as_mut_slice().par_chunks_mut(columns.max(1)).zip(first);
    chunks.with_min_len(GATHER).for_each(|(row, &i)| {
        let mut values = soft.iter().flat_map(|memberships| memberships.row(i as usize));
        row.fill_with(|| *values.next().expect("one value per column"));
    });
    (hard, rows)
}

/// A bijective mixing of 64 bits (the finisher of MurmurHash3).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        #[test]
        fn all_ways_through_the_rows_tell_the_same(
            ensemble in prop_oneof![ensembles(Kinds::PLAIN, 12, 5), ensembles(Kinds::HARD, 12, 5)],
        ) {
            let profiles = profiles(&ensemble);
            let r = profiles.n_members();
            let mut rows = Vec::new();
            profiles.for_each_row(0..profiles.len(), |s, clusters| rows.push((s, clusters.to_vec())));
            prop_assert_eq!(rows.len(), profiles.len());
            for (i, (s, clusters)) in rows.into_iter().enumerate() {
                prop_assert_eq!(s, i);
                let mut row = vec![0; r];
                profiles.clusters_into(s, &mut row);
                let labelled: Vec<u32> = row.iter().copied().filter(|&c| c != MISSING).collect();
                prop_assert_eq!(&clusters, &labelled);
                let mut entries = vec![MISSING; r];
                profiles.for_each_entry(s, |h, c, p| {
                    assert_eq!(p, 1.0);
                    entries[h] = c as u32;
                });
                prop_assert_eq!(&entries, &row);
                for (h, member) in profiles.members().iter().enumerate() {
                    let label = profiles.label(s, h).map(|c| (member.clusters.start + c) as u32);
                    prop_assert_eq!(label, Some(row[h]).filter(|&c| c != MISSING));
                    prop_assert_eq!(profiles.is_labelled(s, h), label.is_some());
                    let mut own = Vec::new();
                    profiles.for_each_entry_of(s, h, |c, _| own.push(c as u32));
                    prop_assert_eq!(own, Vec::from_iter(label));
                }
            }
        }
    }

    #[test]
    fn a_map_names_profiles_that_there_are() {
        let ensemble = crate::testing::hard_ensemble(&[[0, 1, 1]]);
        let objects = profiles(&ensemble);
        let two = profiles(&crate::testing::hard_ensemble(&[[0, 1]]));
        let mapped = two.clone().with_map(objects.map().to_vec()).unwrap();
        assert_eq!(mapped.expand(&[5, 7]), [Some(5), Some(7), Some(7)]);
        assert!(two.clone().with_map(vec![NO_PROFILE, 1]).is_ok());
        assert!(two.clone().with_map(vec![0, 2]).is_err());
        let weighed = two.clone().of_objects(vec![1, 0, 1], Some(&[0.5, 2.0, 1.0])).unwrap();
        assert_eq!((weighed.weights(), weighed.map()), (&[2.0, 1.5][..], &[1, 0, 1][..]));
        assert_eq!(two.clone().of_objects(vec![1, 0, 1], None).unwrap().weights(), [1.0, 2.0]);
        assert!(two.clone().of_objects(vec![1, 0], Some(&[0.5])).is_err());
        assert!(two.clone().of_objects(vec![1, 0], Some(&[0.5, 0.0])).is_err());
        assert!(two.of_objects(vec![1], None).is_err(), "nobody has the first profile");
    }

    #[test]
    #[should_panic(expected = "soft members have no single cluster")]
    fn rows_of_soft_members_are_refused() {
        let memberships = Matrix::from_vec(1, 2, vec![0.5, 0.5]);
        let clusters = vec!["a".to_owned(), "b".to_owned()];
        let soft = crate::ensemble::SoftMember::new("soft", memberships, clusters).unwrap();
        let ensemble = Ensemble::new(vec![soft.into()]).unwrap();
        profiles(&ensemble).for_each_row(0..1, |_, _| {});
    }
}
