//! Labels for new objects: the consensus of the nearest profile.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::consensus::NO_CLUSTER;
use crate::ensemble::{Ensemble, Member, NO_PROFILE, Profiles, Votes};
use crate::error::{Error, Result};
use crate::judge::confidence::Confidence;
use crate::judge::support::Support;
use crate::linalg::Matrix;
use crate::run::Run;

/// Labels new objects that the same members have labelled.
///
/// A new object gets the cluster of the profile with the same label tuple. If its tuple is new, the
/// nearest profiles count: those with the smallest squared distance between rows of $H$, where a
/// label that both have costs nothing, one that differs 2, and one that only one of them has 1. Among
/// several nearest profiles the heaviest cluster wins, the lowest of equals. Labels that a member
/// never gave before count as missing.
#[derive(Clone, Debug)]
pub struct Nearest<'a> {
    profiles: &'a Profiles,
    /// Of every member the clusters, counted through all members, by name.
    clusters: Vec<HashMap<&'a str, u32>>,
    labels: &'a [u32],
    k: usize,
    /// The squared length of every row of $H$.
    lengths: Vec<f64>,
}

/// Where a new object belongs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assignment {
    /// Its cluster; `None` if no label of it is known or the nearest profiles have no cluster.
    pub cluster: Option<u32>,
    /// The profile that has its label tuple, if any; the first of the parts if that was parted.
    pub profile: Option<u32>,
    /// The members' support of its cluster, in [0, 1]; 0 where it has none.
    pub support: f64,
    /// How sure its cluster is; 0 where it has none.
    pub confidence: f64,
    /// The share of the members that give it a label that is known.
    pub coverage: f64,
}

impl Assignment {
    /// What is known of an object without a known label.
    const NOTHING: Assignment =
        Assignment { cluster: None, profile: None, support: 0.0, confidence: 0.0, coverage: 0.0 };
}

/// Labels that a member never gave to the objects of the ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The member.
    pub member: usize,
    /// The labels, in the order of the new member's clusters.
    pub labels: Vec<String>,
    /// How many new objects have one of them.
    pub objects: usize,
}

/// The known labels of a new object.
type Row = Vec<(u32, f64)>;

/// Whether a row is that of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Of none.
    Not,
    /// Of one.
    Once(u32),
    /// Of one that was parted; the first part.
    Parted(u32),
}

/// The distinct rows of new objects, and which one every object has ([`NO_PROFILE`] if none).
struct Rows {
    rows: Vec<Row>,
    of_object: Vec<u32>,
}

impl<'a> Nearest<'a> {
    /// `clusters` names the clusters of every member; `labels` is the consensus, one of `k` clusters
    /// or [`NO_CLUSTER`] a profile.
    ///
    /// # Errors
    ///
    /// If the lists do not fit to the profiles.
    pub fn new(
        profiles: &'a Profiles,
        clusters: &'a [Vec<String>],
        labels: &'a [u32],
        k: usize,
    ) -> Result<Self> {
        let fits = |what: &str, got: usize, expected: usize| {
            let (what, expected_by) = (what.to_owned(), "the ensemble".to_owned());
            if got == expected {
                Ok(())
            } else {
                Err(Error::Length { what, got, expected_by, expected })
            }
        };
        fits("the list of clusters", clusters.len(), profiles.n_members())?;
        fits("the consensus", labels.len(), profiles.len())?;
        let mut by_name = Vec::with_capacity(clusters.len());
        for (member, names) in profiles.members().iter().zip(clusters) {
            let what = format!("the list of clusters of member `{}`", member.name);
            fits(&what, names.len(), member.n_clusters())?;
            let numbered = names.iter().map(String::as_str).zip(member.clusters.start as u32..);
            by_name.push(numbered.collect());
        }
        let length = |s| {
            let mut sum = 0.0;
            profiles.for_each_entry(s, |_, _, p| sum += p * p);
            sum
        };
        let lengths = (0..profiles.len()).map(length).collect();
        Ok(Nearest { profiles, clusters: by_name, labels, k, lengths })
    }

    /// The clusters of new objects from their labels by the members, in the members' order; `None`
    /// where no label is known or the nearest profiles have no cluster.
    ///
    /// # Errors
    ///
    /// As [`assign`](Self::assign).
    pub fn label(&self, members: &[Member], run: &Run) -> Result<Vec<Option<u32>>> {
        Ok(self.assign(members, run)?.iter().map(|found| found.cluster).collect())
    }

    /// Where new objects belong, from their labels by the members, in the members' order.
    ///
    /// # Errors
    ///
    /// If the members are not as many or not of one length, or if the run is cancelled.
    ///
    /// # Cost
    ///
    /// $O(u r)$ for every tuple that is new; equal new objects are looked at once.
    pub fn assign(&self, members: &[Member], run: &Run) -> Result<Vec<Assignment>> {
        let Rows { rows, of_object } = self.rows(members, run)?;
        let known = self.known(&rows);
        let votes = Support::new(self.profiles, self.labels, self.k);
        let confidence = Confidence::new(self.profiles, self.labels, self.k);
        let assign = |count: &mut _, (row, known): (&Row, &Known)| {
            run.check()?;
            let own = |s: u32| Some(self.labels[s as usize]).filter(|&label| label != NO_CLUSTER);
            let (cluster, profile) = match *known {
                Known::Once(s) => (own(s), Some(s)),
                // Equal tuples are the nearest there can be.
                Known::Parted(s) => (self.search(row), Some(s)),
                Known::Not => (self.search(row), None),
            };
            let entries = |visit: &mut dyn FnMut(usize, f64)| {
                row.iter().for_each(|&(c, p)| visit(c as usize, p));
            };
            let own = cluster.unwrap_or(NO_CLUSTER);
            let placed = votes.placed(entries, own, count);
            let coverage = (placed.votes / self.profiles.n_members() as f64).min(1.0);
            let (support, confidence) = (placed.support, confidence.of(&placed));
            Ok(Assignment { cluster, profile, support, confidence, coverage })
        };
        let rows = rows.par_iter().zip(&known);
        let found: Vec<Assignment> =
            run.install(|| rows.map_init(|| votes.room(), assign).collect::<Result<_>>())?;
        let of = |&row: &u32| found.get(row as usize).copied().unwrap_or(Assignment::NOTHING);
        Ok(of_object.iter().map(of).collect())
    }

    /// The members' [support](Votes::support) of every cluster for new objects, m × k; a row of
    /// zeros where no label is known.
    ///
    /// # Errors
    ///
    /// As [`assign`](Self::assign).
    pub fn support(&self, members: &[Member], run: &Run) -> Result<Matrix> {
        let votes = Votes::new(self.profiles, self.labels, self.k);
        let shares: Vec<Vec<f64>> =
            (0..self.profiles.n_clusters()).map(|c| votes.share(c)).collect();
        let Rows { rows, of_object } = self.rows(members, run)?;
        let mut support = Matrix::zeros(of_object.len(), self.k);
        for (i, &row) in of_object.iter().enumerate() {
            let Some(row) = rows.get(row as usize) else { continue };
            let total: f64 = row.iter().map(|(_, p)| p).sum();
            for &(c, p) in row {
                let sums = support.row_mut(i).iter_mut().zip(&shares[c as usize]);
                sums.for_each(|(sum, share)| *sum += p * share / total);
            }
        }
        Ok(support)
    }

    /// Labels of new members that those of the ensemble never gave, member by member; they count as
    /// missing.
    ///
    /// # Panics
    ///
    /// If the members are more than those of the ensemble.
    pub fn unknown(&self, members: &[Member]) -> Vec<Unknown> {
        let of_member = |(h, member): (usize, &Member)| {
            let names = member.clusters().iter();
            let new: Vec<bool> =
                names.map(|name| !self.clusters[h].contains_key(name.as_str())).collect();
            let labels = member.clusters().iter().zip(&new).filter(|(_, new)| **new);
            let labels: Vec<String> = labels.map(|(name, _)| name.clone()).collect();
            if labels.is_empty() {
                return None;
            }
            let objects = match member {
                Member::Hard(hard) => hard.labels().iter().flatten().filter(|&c| new[c]).count(),
                Member::Soft(soft) => {
                    let has = |row: &&[f64]| row.iter().zip(&new).any(|(p, new)| *new && *p > 0.0);
                    soft.memberships().iter_rows().filter(has).count()
                }
            };
            Some(Unknown { member: h, labels, objects })
        };
        members.iter().enumerate().filter_map(of_member).collect()
    }

    /// The known labels of new objects, equal ones once.
    fn rows(&self, members: &[Member], run: &Run) -> Result<Rows> {
        if members.len() != self.clusters.len() {
            return Err(Error::Length {
                what: "the list of new clusterings".to_owned(),
                got: members.len(),
                expected_by: "the ensemble".to_owned(),
                expected: self.clusters.len(),
            });
        }
        let n = members.first().map_or(0, Member::n_objects);
        // Members that know none of the objects have nothing to say; an ensemble has none such.
        let mut of_cluster: Vec<Option<u32>> = Vec::new();
        let mut speaking = Vec::new();
        for (member, (fitted, by_name)) in
            members.iter().zip(self.profiles.members().iter().zip(&self.clusters))
        {
            if member.n_objects() != n {
                return Err(Error::Length {
                    what: format!("member `{}`", member.name()),
                    got: member.n_objects(),
                    expected_by: format!("member `{}`", members[0].name()),
                    expected: n,
                });
            }
            if member.clusters().is_empty() {
                continue;
            }
            // As the method took the largest of each membership, so is a new one taken.
            let hardened = fitted.is_hard() && !member.is_hard();
            let member = if hardened { Member::from(member.hardened()) } else { member.clone() };
            let known = |name: &String| by_name.get(name.as_str()).copied();
            of_cluster.extend(member.clusters().iter().map(known));
            speaking.push(member);
        }
        if n == 0 || speaking.is_empty() {
            return Ok(Rows { rows: Vec::new(), of_object: vec![NO_PROFILE; n] });
        }
        let new = Profiles::new(&Ensemble::new(speaking)?, run)?;
        let row = |s: usize| {
            let mut row = Row::new();
            new.for_each_entry(s, |_, c, p| row.extend(of_cluster[c].map(|c| (c, p))));
            // Members stand in the order of the ensemble, their clusters perhaps not.
            row.sort_unstable_by_key(|&(c, _)| c);
            row
        };
        let rows = run.install(|| (0..new.len()).into_par_iter().map(row).collect());
        Ok(Rows { rows, of_object: new.map().to_vec() })
    }

    /// The profiles with the same entries, for every row.
    fn known(&self, rows: &[Row]) -> Vec<Known> {
        // Memberships that were written and read back differ in their last bits.
        let told = |p: f64| (p * f64::from(1 << 30)).round() as u64;
        // Several rows may be equal once what is unknown is left out. Nothing iterates over the table.
        let mut first = HashMap::with_capacity(rows.len());
        let of_row: Vec<usize> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let key: Vec<(u32, u64)> = row.iter().map(|&(c, p)| (c, told(p))).collect();
                *first.entry(key).or_insert(i)
            })
            .collect();
        let mut known = vec![Known::Not; rows.len()];
        let mut key = Vec::new();
        for s in 0..self.profiles.len() {
            key.clear();
            self.profiles.for_each_entry(s, |_, c, p| key.push((c as u32, told(p))));
            if let Some(&i) = first.get(&key) {
                known[i] = match known[i] {
                    Known::Not => Known::Once(s as u32),
                    Known::Once(first) | Known::Parted(first) => Known::Parted(first),
                };
            }
        }
        of_row.into_iter().map(|i| known[i]).collect()
    }

    /// The cluster of the nearest profiles.
    fn search(&self, row: &Row) -> Option<u32> {
        if row.is_empty() {
            return None;
        }
        let mut entries = vec![0.0; self.profiles.n_clusters()];
        row.iter().for_each(|&(c, p)| entries[c as usize] = p);
        let mut least = f64::INFINITY;
        let mut weights = vec![0.0; self.k];
        for s in 0..self.profiles.len() {
            let mut product = 0.0;
            self.profiles.for_each_entry(s, |_, c, p| product += p * entries[c]);
            let distance = self.lengths[s] - 2.0 * product;
            if distance < least {
                least = distance;
                weights.fill(0.0);
            }
            if distance == least
                && let Some(weight) = weights.get_mut(self.labels[s] as usize)
            {
                *weight += self.profiles.weights()[s];
            }
        }
        let heaviest = crate::ensemble::argmax(&weights)?;
        (weights[heaviest] > 0.0).then_some(heaviest as u32)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    fn names(ensemble: &Ensemble) -> Vec<Vec<String>> {
        ensemble.members().iter().map(|m| m.clusters().to_vec()).collect()
    }

    fn hard(columns: &[&[Option<i64>]]) -> Vec<Member> {
        let member =
            |labels: &&[Option<i64>]| HardMember::from_integers("m", labels.iter().copied()).into();
        columns.iter().map(member).collect()
    }

    #[test]
    fn new_tuples_go_to_the_nearest_and_heaviest() {
        let columns: [&[Option<i64>]; 3] =
            [&[0, 0, 1, 1].map(Some), &[0, 0, 1, 1].map(Some), &[0, 0, 1, 2].map(Some)];
        let ensemble = Ensemble::new(hard(&columns)).unwrap();
        let (profiles, clusters) = (profiles(&ensemble), names(&ensemble));
        let nearest = Nearest::new(&profiles, &clusters, &[0, 1, 2], 3).unwrap();
        let new: [&[Option<i64>]; 3] = [
            &[Some(0), Some(1), Some(1), None, Some(9)],
            &[Some(0), Some(1), Some(1), None, None],
            &[Some(2), Some(0), Some(1), None, None],
        ];
        let labels = nearest.label(&hard(&new), &Run::new(0)).unwrap();
        // The second is as near to (1, 1, 1) as to (1, 1, 2): the lower of equally heavy clusters.
        assert_eq!(labels, [Some(0), Some(1), Some(1), None, None]);
        let found = nearest.assign(&hard(&new), &Run::new(0)).unwrap();
        let profiles: Vec<_> = found.iter().map(|one| one.profile).collect();
        assert_eq!(profiles, [None, None, Some(1), None, None]);
        // Of the second: clusters 1 of a and b are half in cluster 1 each, cluster 0 of c is not.
        assert_eq!((found[1].support, found[3].support), (1.0 / 3.0, 0.0));
        let unknown = nearest.unknown(&hard(&new));
        assert_eq!(unknown, [Unknown { member: 0, labels: vec!["9".to_owned()], objects: 1 }]);
    }

    #[test]
    fn of_a_parted_profile_the_heavier_part_counts() {
        let columns: [&[Option<i64>]; 1] = [&[0, 0, 0, 1].map(Some)];
        let ensemble = Ensemble::new(hard(&columns)).unwrap();
        let whole = profiles(&ensemble);
        let parted = whole.parted(&[1, 0, 0, 1], None);
        let clusters = names(&ensemble);
        let nearest = Nearest::new(&parted.profiles, &clusters, &parted.labels, 2).unwrap();
        let found = nearest.assign(&hard(&[&[Some(0), Some(1)]]), &Run::new(0)).unwrap();
        let told = |one: &Assignment| (one.cluster, one.profile);
        assert_eq!((told(&found[0]), told(&found[1])), ((Some(0), Some(0)), (Some(1), Some(2))));
        assert!((found[0].support - 2.0 / 3.0).abs() < 1e-15 && found[1].support == 1.0);
        assert!(found.iter().all(|one| one.confidence > 0.5 && one.coverage == 1.0));
    }

    #[test]
    fn memberships_are_hardened_where_the_members_were() {
        let soft = |rows: &[[f64; 2]]| -> Vec<Member> {
            let names = vec!["a".to_owned(), "b".to_owned()];
            let matrix = Matrix::from_vec(rows.len(), 2, rows.concat());
            vec![crate::ensemble::SoftMember::new("soft", matrix, names).unwrap().into()]
        };
        let ensemble = Ensemble::new(soft(&[[0.9, 0.1], [0.2, 0.8]])).unwrap().hardened();
        let (profiles, clusters) = (profiles(&ensemble), names(&ensemble));
        let nearest = Nearest::new(&profiles, &clusters, &[0, 1], 2).unwrap();
        let labels = nearest.label(&soft(&[[0.4, 0.6], [0.6, 0.4]]), &Run::new(0));
        assert_eq!(labels.unwrap(), [Some(1), Some(0)]);
    }

    #[test]
    fn members_must_be_the_same() {
        let ensemble = Ensemble::new(hard(&[&[Some(0), Some(1)]])).unwrap();
        let (profiles, clusters) = (profiles(&ensemble), names(&ensemble));
        let nearest = Nearest::new(&profiles, &clusters, &[0, 1], 2).unwrap();
        assert!(nearest.label(&[], &Run::new(0)).is_err());
        assert!(Nearest::new(&profiles, &clusters, &[0], 2).is_err());
        assert!(Nearest::new(&profiles, &[], &[0, 1], 2).is_err());
    }

    proptest! {
        #[test]
        fn the_objects_themselves_get_their_own_cluster(
            ensemble in ensembles(Kinds::ALL, 12, 4), k in 1..4u32,
        ) {
            let (profiles, clusters) = (profiles(&ensemble), names(&ensemble));
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % k).collect();
            let nearest = Nearest::new(&profiles, &clusters, &labels, k as usize).unwrap();
            let found = nearest.label(ensemble.members(), &Run::new(0)).unwrap();
            prop_assert_eq!(found, profiles.expand(&labels));
            let found = nearest.assign(ensemble.members(), &Run::new(0)).unwrap();
            prop_assert!(found.iter().zip(profiles.map()).all(|(one, &s)| one.profile.unwrap_or(NO_PROFILE) == s));
            prop_assert!(nearest.unknown(ensemble.members()).is_empty());

            let votes = Votes::new(&profiles, &labels, k as usize);
            let support = nearest.support(ensemble.members(), &Run::new(0)).unwrap();
            for (row, &s) in support.iter_rows().zip(profiles.map()) {
                let known = (s as usize) < profiles.len();
                let own = if known { votes.support(&profiles, s as usize) } else { vec![0.0; row.len()] };
                let differ = |(a, b): (&f64, f64)| (a - b).abs() > 1e-12;
                prop_assert!(!row.iter().zip(own).any(differ));
            }
        }

        #[test]
        fn as_found_by_distances_of_dense_rows(
            (known, new) in (2..9usize, 1..9usize, 1..4usize).prop_flat_map(|(n, m, r)| {
                let columns = |n| prop::collection::vec(
                    prop::collection::vec(prop::option::weighted(0.8, 0..3i64), n), r);
                (columns(n), columns(m))
            }),
            k in 1..4u32,
        ) {
            let known: Vec<&[Option<i64>]> = known.iter().map(Vec::as_slice).collect();
            let new: Vec<&[Option<i64>]> = new.iter().map(Vec::as_slice).collect();
            prop_assume!(known.iter().all(|column| column.iter().any(Option::is_some)));
            let ensemble = Ensemble::new(hard(&known)).unwrap();
            let (profiles, clusters) = (profiles(&ensemble), names(&ensemble));
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % k).collect();
            let nearest = Nearest::new(&profiles, &clusters, &labels, k as usize).unwrap();
            let found = nearest.label(&hard(&new), &Run::new(0)).unwrap();

            let h = dense_incidence(&profiles);
            for (i, found) in found.into_iter().enumerate() {
                let mut row = vec![0.0; profiles.n_clusters()];
                for (m, column) in new.iter().enumerate() {
                    let name = column[i].map(|label| label.to_string());
                    let cluster = clusters[m].iter().position(|c| Some(c) == name.as_ref());
                    if let Some(c) = cluster {
                        row[profiles.members()[m].clusters.start + c] = 1.0;
                    }
                }
                let distance = |s: usize| -> f64 {
                    h.row(s).iter().zip(&row).map(|(a, b)| (a - b) * (a - b)).sum()
                };
                let least = (0..profiles.len()).map(distance).fold(f64::INFINITY, f64::min);
                let mut weights = vec![0.0; k as usize];
                for s in (0..profiles.len()).filter(|&s| distance(s) == least) {
                    weights[labels[s] as usize] += profiles.weights()[s];
                }
                let heaviest = weights.iter().copied().fold(0.0, f64::max);
                let expected = weights.iter().position(|&w| w == heaviest).map(|j| j as u32);
                prop_assert_eq!(found, expected.filter(|_| row.contains(&1.0)));
            }
        }
    }
}
