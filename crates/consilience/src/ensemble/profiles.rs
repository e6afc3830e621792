//! Profiles: the distinct label tuples of an ensemble, each once, with a weight.
//!
//! Objects with the same label tuple are interchangeable for every consensus method here, so a
//! method runs on the $u \le n$ distinct tuples with summed weights and its answer is expanded
//! back. This is exact, not an approximation. A missing label is part of the tuple; rows of soft
//! memberships merge when they are equal bit by bit.

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::collection::Ensemble;
use crate::ensemble::labels::{Code, Labels, with_codes};
use crate::ensemble::member::{Member, argmax};
use crate::ensemble::merge::{Merged, merge};
use crate::error::{Error, Result};
use crate::linalg::Matrix;
use crate::run::Run;

/// In a row of clusters: this member does not label the profile.
pub const MISSING: u32 = u32::MAX;

/// In the map from objects to profiles: no member labels the object, it has no profile.
pub const NO_PROFILE: u32 = u32::MAX;

/// Profiles whose rows are gathered at a time, column by column.
const GATHER: usize = 1024;

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
    /// The number of its clusters, $k_h$.
    pub fn n_clusters(&self) -> usize {
        self.clusters.len()
    }

    /// Whether it has one label an object.
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
    map: Vec<u32>,
    has_missing: bool,
}

impl Profiles {
    /// Merges the equal label tuples of `ensemble`.
    ///
    /// # Cost
    ///
    /// Time $O(n r)$, memory $O(n + u r)$ beyond the ensemble.
    pub fn new(ensemble: &Ensemble, run: &Run) -> Result<Self> {
        let n = ensemble.n_objects();
        if n >= NO_PROFILE as usize {
            return Err(Error::Unsupported {
                method: "profiles",
                what: format!("{n} objects"),
                hint:
                    "at most 4,294,967,294 fit; merge equal rows first and give counts as weights"
                        .to_owned(),
            });
        }
        let mut first = 0;
        let (mut n_hard, mut n_soft) = (0, 0);
        let mut members = Vec::with_capacity(ensemble.members().len());
        for member in ensemble.members() {
            let k_h = member.clusters().len();
            let column = match member {
                Member::Hard(_) => {
                    n_hard += 1;
                    Column::Hard(n_hard - 1)
                }
                Member::Soft(_) => {
                    n_soft += k_h;
                    Column::Soft(n_soft - k_h)
                }
            };
            let clusters = first..first + k_h;
            first += k_h;
            members.push(ProfileMember { name: member.name().to_owned(), clusters, column });
        }
        let widest = ensemble.members().iter().filter(|m| m.is_hard());
        let widest = widest.map(|m| m.clusters().len()).max().unwrap_or(0);
        run.install(|| {
            let Merged { map, first, weights } = merge(ensemble, run)?;
            let hard = match Labels::with_capacity(widest, 0) {
                Labels::U8(_) => Labels::U8(gather(ensemble, &first, n_hard)),
                Labels::U16(_) => Labels::U16(gather(ensemble, &first, n_hard)),
                Labels::U32(_) => Labels::U32(gather(ensemble, &first, n_hard)),
            };
            let soft = gather_soft(ensemble, &first, n_soft);
            let mut profiles =
                Profiles { members, hard, n_hard, soft, weights, map, has_missing: false };
            profiles.has_missing = profiles.find_missing();
            Ok(profiles)
        })
    }

    fn find_missing(&self) -> bool {
        with_codes!(&self.hard, codes => codes.par_chunks(1 << 16).any(|codes| {
            codes.iter().any(|code| code.index().is_none())
        })) || self.members.iter().any(|member| match member.column {
            Column::Hard(_) => false,
            Column::Soft(first) => {
                let columns = first..first + member.n_clusters();
                self.soft.iter_rows().any(|row| row[columns.clone()].iter().all(|&p| p == 0.0))
            }
        })
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
        self.map.len()
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
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The profile of every object; [`NO_PROFILE`] where no member labels the object.
    pub fn map(&self) -> &[u32] {
        &self.map
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
    pub fn codes(&self) -> &Labels {
        &self.hard
    }

    /// Writes into `row[h]` the cluster, counted through all members, that member `h` puts profile
    /// `s` in, or [`MISSING`]. For ensembles of hard members only.
    ///
    /// # Panics
    ///
    /// If a member is soft or `row` does not hold one entry a member.
    pub fn clusters_into(&self, s: usize, row: &mut [u32]) {
        assert!(self.is_hard(), "soft members have no single cluster");
        assert_eq!(row.len(), self.n_hard, "one entry a member");
        with_codes!(&self.hard, codes => {
            let codes = &codes[s * self.n_hard..(s + 1) * self.n_hard];
            for ((out, &code), member) in row.iter_mut().zip(codes).zip(&self.members) {
                *out = code.index().map_or(MISSING, |c| (member.clusters.start + c) as u32);
            }
        });
    }

    /// Calls `visit(h, cluster, membership)` for every non-zero entry of row `s` of $H$, members
    /// and clusters in order. Hard labels have membership 1.
    pub fn for_each_entry(&self, s: usize, mut visit: impl FnMut(usize, usize, f64)) {
        for h in 0..self.members.len() {
            self.for_each_entry_of(s, h, |c, p| visit(h, c, p));
        }
    }

    /// Calls `visit(cluster, membership)` for every non-zero entry of row `s` of $H$ that belongs to
    /// member `h`, clusters (counted through all members) in order.
    #[inline]
    pub fn for_each_entry_of(&self, s: usize, h: usize, mut visit: impl FnMut(usize, f64)) {
        let member = &self.members[h];
        match member.column {
            Column::Hard(column) => {
                if let Some(c) = self.hard.get(s * self.n_hard + column) {
                    visit(member.clusters.start + c, 1.0);
                }
            }
            Column::Soft(first) => {
                let row = &self.soft.row(s)[first..first + member.n_clusters()];
                for (c, &p) in row.iter().enumerate() {
                    if p != 0.0 {
                        visit(member.clusters.start + c, p);
                    }
                }
            }
        }
    }

    /// The memberships of profile `s` in the clusters of member `h`, all 0 where missing; `None`
    /// if the member is hard.
    pub fn memberships(&self, s: usize, h: usize) -> Option<&[f64]> {
        match self.members[h].column {
            Column::Hard(_) => None,
            Column::Soft(first) => {
                Some(&self.soft.row(s)[first..first + self.members[h].n_clusters()])
            }
        }
    }

    /// Whether member `h` labels profile `s`.
    pub fn is_labelled(&self, s: usize, h: usize) -> bool {
        match self.members[h].column {
            Column::Hard(column) => self.hard.get(s * self.n_hard + column).is_some(),
            Column::Soft(first) => {
                let row = &self.soft.row(s)[first..first + self.members[h].n_clusters()];
                row.iter().any(|&p| p != 0.0)
            }
        }
    }

    /// The cluster of member `h`, counted from 0 within the member, that profile `s` belongs to
    /// most, the first of equals; `None` if missing.
    pub fn label(&self, s: usize, h: usize) -> Option<usize> {
        match self.members[h].column {
            Column::Hard(column) => self.hard.get(s * self.n_hard + column),
            Column::Soft(first) => {
                let row = &self.soft.row(s)[first..first + self.members[h].n_clusters()];
                argmax(row).filter(|&c| row[c] > 0.0)
            }
        }
    }

    /// The same ensemble written down in another order: `profile_at[i]`, `member_at[i]` and
    /// `cluster_at[i]` say which of the present profiles, members and clusters (counted through all
    /// members, those of one member together) stand at place `i` afterwards.
    pub(crate) fn reordered(
        &self,
        profile_at: &[u32],
        member_at: &[u32],
        cluster_at: &[u32],
    ) -> Profiles {
        let profile_place = inverse(profile_at);
        let cluster_place = inverse(cluster_at);
        let (mut n_hard, mut n_soft, mut first) = (0, 0, 0);
        let members: Vec<ProfileMember> = member_at
            .iter()
            .map(|&h| {
                let old = &self.members[h as usize];
                let k_h = old.n_clusters();
                let column = match old.column {
                    Column::Hard(_) => {
                        n_hard += 1;
                        Column::Hard(n_hard - 1)
                    }
                    Column::Soft(_) => {
                        n_soft += k_h;
                        Column::Soft(n_soft - k_h)
                    }
                };
                first += k_h;
                ProfileMember { name: old.name.clone(), clusters: first - k_h..first, column }
            })
            .collect();

        fn codes<C: Code>(
            old: &[C],
            renamed: &[(usize, Vec<usize>)],
            profile_at: &[u32],
        ) -> Vec<C> {
            let n_hard = renamed.len();
            let mut new = Vec::with_capacity(old.len());
            for &s in profile_at {
                let row = &old[s as usize * n_hard..(s as usize + 1) * n_hard];
                new.extend(renamed.iter().map(|(column, rename)| {
                    row[*column].index().map_or(C::MISSING, |c| C::from_index(rename[c]))
                }));
            }
            new
        }
        // For every hard column to be: the present column, and the new code of each code.
        let renamed: Vec<(usize, Vec<usize>)> = member_at
            .iter()
            .zip(&members)
            .filter_map(|(&h, new)| match self.members[h as usize].column {
                Column::Hard(column) => {
                    let old = self.members[h as usize].clusters.clone();
                    let rename = old.map(|c| cluster_place[c] as usize - new.clusters.start);
                    Some((column, rename.collect()))
                }
                Column::Soft(_) => None,
            })
            .collect();
        let hard = match &self.hard {
            Labels::U8(old) => Labels::U8(codes(old, &renamed, profile_at)),
            Labels::U16(old) => Labels::U16(codes(old, &renamed, profile_at)),
            Labels::U32(old) => Labels::U32(codes(old, &renamed, profile_at)),
        };

        // For every soft column to be: the present one.
        let mut soft_at = vec![0; self.soft.ncols()];
        for (&h, new) in member_at.iter().zip(&members) {
            let old = &self.members[h as usize];
            if let (Column::Soft(from), Column::Soft(to)) = (old.column, new.column) {
                for j in 0..new.n_clusters() {
                    let c = cluster_at[new.clusters.start + j] as usize;
                    soft_at[to + j] = from + c - old.clusters.start;
                }
            }
        }
        let soft = Matrix::from_fn(self.len(), soft_at.len(), |i, j| {
            self.soft[(profile_at[i] as usize, soft_at[j])]
        });
        let map = |&s: &u32| {
            if s == NO_PROFILE { s } else { profile_place[s as usize] }
        };
        Profiles {
            members,
            hard,
            n_hard: self.n_hard,
            soft,
            weights: profile_at.iter().map(|&s| self.weights[s as usize]).collect(),
            map: self.map.iter().map(map).collect(),
            has_missing: self.has_missing,
        }
    }

    /// One value a profile → one value an object; `None` where the object has no profile.
    pub fn expand<T: Clone>(&self, values: &[T]) -> Vec<Option<T>> {
        assert_eq!(values.len(), self.len(), "one value a profile");
        self.map.iter().map(|&s| values.get(s as usize).cloned()).collect()
    }
}

/// The codes of the hard members of the objects in `first`, row by row.
fn gather<C: Code>(ensemble: &Ensemble, first: &[u32], n_hard: usize) -> Vec<C> {
    let mut rows = vec![C::MISSING; first.len() * n_hard];
    if n_hard > 0 {
        rows.par_chunks_mut(GATHER * n_hard).zip(first.par_chunks(GATHER)).for_each(
            |(rows, first)| {
                let hard = ensemble.members().iter().filter_map(|member| match member {
                    Member::Hard(m) => Some(m.labels()),
                    Member::Soft(_) => None,
                });
                for (column, labels) in hard.enumerate() {
                    with_codes!(labels, codes => {
                        for (row, &i) in rows.chunks_exact_mut(n_hard).zip(first) {
                            row[column] = codes[i as usize].convert();
                        }
                    });
                }
            },
        );
    }
    rows
}

/// The memberships of the soft members of the objects in `first`, row by row.
fn gather_soft(ensemble: &Ensemble, first: &[u32], n_soft: usize) -> Matrix {
    let mut rows = vec![0.0; first.len() * n_soft];
    if n_soft > 0 {
        rows.par_chunks_mut(GATHER * n_soft).zip(first.par_chunks(GATHER)).for_each(
            |(rows, first)| {
                for (row, &i) in rows.chunks_exact_mut(n_soft).zip(first) {
                    let mut rest = row;
                    for member in ensemble.members() {
                        if let Member::Soft(m) = member {
                            let memberships = m.memberships().row(i as usize);
                            let (own, others) = rest.split_at_mut(memberships.len());
                            own.copy_from_slice(memberships);
                            rest = others;
                        }
                    }
                }
            },
        );
    }
    Matrix::from_vec(first.len(), n_soft, rows)
}

/// The inverse of a permutation.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    place
}

/// A bijective mixing of 64 bits (the finisher of MurmurHash3).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
