//! Distinct label tuples of objects that come in blocks: a state that can be updated, merged and asked.
//!
//! [`Profiles`](crate::ensemble::Profiles) wants all objects at once. Here blocks of them pass by, from
//! a folder of files or inside the workers of a cluster, and only distinct tuples are kept: how often
//! each was seen, and the exact sum of its weights. Whatever the split into blocks and the order of
//! merging, the same tuples, counts and sums come out; their order is that of first appearance.

use std::collections::HashMap;

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::ensemble::distinct::closest::Closest;
use crate::ensemble::distinct::exact::ExactSum;
use crate::ensemble::distinct::merge;
use crate::ensemble::labels::Labels;
use crate::ensemble::labels::collection::Ensemble;
use crate::ensemble::labels::member::{HardMember, Member};
use crate::ensemble::profiles::{MISSING, NO_PROFILE, Profiles, mix};
use crate::error::{Error, Result};
use crate::run::Run;

/// One member as the tuples see it.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    /// The clusters by code, in order of first appearance.
    clusters: Vec<String>,
    codes: HashMap<String, u32>,
}

impl Column {
    fn new(name: String) -> Self {
        Column { name, clusters: Vec::new(), codes: HashMap::new() }
    }

    /// The code of a cluster, a new one if it was not there.
    fn code(&mut self, cluster: &str) -> u32 {
        if let Some(&code) = self.codes.get(cluster) {
            return code;
        }
        let code = self.clusters.len() as u32;
        self.clusters.push(cluster.to_owned());
        self.codes.insert(cluster.to_owned(), code);
        code
    }
}

/// The distinct label tuples of blocks of objects.
///
/// ```
/// use consilience::Run;
/// use consilience::ensemble::{HardMember, Tuples};
/// let mut tuples = Tuples::new(["a".to_owned(), "b".to_owned()], false);
/// let block = |a, b| [HardMember::from_integers("a", a), HardMember::from_integers("b", b)];
/// tuples.update(&block([Some(0), Some(1)], [Some(5), None]), None, &Run::new(0))?;
/// let second = block([Some(1), Some(0)], [None, Some(5)]);
/// assert_eq!(tuples.update(&second, None, &Run::new(0))?, [1, 0]);
/// assert_eq!(tuples.counts(), [2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tuples {
    columns: Vec<Column>,
    /// Codes, tuple by tuple, one for each member; [`MISSING`] where it has none.
    rows: Vec<u32>,
    /// Tuples by the hash of their codes.
    index: HashTable<u32>,
    counts: Vec<u64>,
    /// Exact sums of weights, if there are weights.
    sums: Option<Vec<ExactSum>>,
    /// How many objects had no label at all.
    unlabelled: u64,
}

impl Tuples {
    /// No tuples yet, of members with these names. With `weighted` every block has weights.
    pub fn new(members: impl IntoIterator<Item = String>, weighted: bool) -> Self {
        Tuples {
            columns: members.into_iter().map(Column::new).collect(),
            rows: Vec::new(),
            index: HashTable::new(),
            counts: Vec::new(),
            sums: weighted.then(Vec::new),
            unlabelled: 0,
        }
    }

    /// The tuples of `profiles`, numbered as they are, each counted once; `clusters` names the clusters
    /// of every member.
    ///
    /// # Errors
    ///
    /// If a member is soft or the names do not fit.
    pub fn of_profiles(profiles: &Profiles, clusters: &[Vec<String>]) -> Result<Self> {
        if !profiles.is_hard() {
            return Err(Error::Unsupported {
                method: "tuples",
                what: "soft members".to_owned(),
                hint: "harden the ensemble first".to_owned(),
            });
        }
        let r = profiles.n_members();
        if clusters.len() != r {
            return Err(Error::Length {
                what: "the list of clusters".to_owned(),
                got: clusters.len(),
                expected_by: "the ensemble".to_owned(),
                expected: r,
            });
        }
        let mut rows = vec![MISSING; profiles.len() * r];
        for (s, row) in rows.chunks_exact_mut(r).enumerate() {
            for (h, code) in row.iter_mut().enumerate() {
                *code = profiles.label(s, h).map_or(MISSING, |c| c as u32);
            }
        }
        let names = profiles.members().iter().map(|m| m.name.clone());
        Self::of_rows(names.zip(clusters.iter().cloned()), &rows)
    }

    /// These tuples, each counted once: the members with the names of their clusters, and one code a
    /// member, tuple by tuple.
    ///
    /// # Errors
    ///
    /// If a code has no name or the rows do not fit to the members.
    pub fn of_rows(
        members: impl IntoIterator<Item = (String, Vec<String>)>,
        rows: &[u32],
    ) -> Result<Self> {
        let mut tuples = Tuples::new([], false);
        for (name, clusters) in members {
            let mut column = Column::new(name);
            for cluster in &clusters {
                column.code(cluster);
            }
            tuples.columns.push(column);
        }
        let r = tuples.columns.len().max(1);
        for (s, row) in rows.chunks(r).enumerate() {
            let known = |(&code, column): (&u32, &Column)| {
                code == MISSING || (code as usize) < column.clusters.len()
            };
            if row.len() != tuples.columns.len() || !row.iter().zip(&tuples.columns).all(known) {
                return Err(Error::Value {
                    what: "the list of tuples".to_owned(),
                    row: s,
                    column: None,
                    problem: "every code must have a name".to_owned(),
                });
            }
            tuples.add(row, 1, &[]);
        }
        Ok(tuples)
    }

    /// Takes in a block of objects, given as members in the same order as those of [`new`](Self::new),
    /// with labels numbered in any way. Returns the tuple of every object, [`NO_PROFILE`] where it has
    /// no label.
    ///
    /// # Errors
    ///
    /// If members or weights are not as many as they should be, if a weight is not a number > 0, or
    /// if the run is cancelled.
    pub fn update(
        &mut self,
        block: &[HardMember],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Vec<u32>> {
        let n = self.check(block, weights)?;
        let (places, firsts) = distinct(block, n, run)?;
        let globals: Vec<Vec<u32>> = self
            .columns
            .iter_mut()
            .zip(block)
            .map(|(column, member)| member.clusters().iter().map(|c| column.code(c)).collect())
            .collect();
        let mut row = vec![MISSING; block.len()];
        let mut numbers = Vec::with_capacity(firsts.len());
        for &first in &firsts {
            row_of(block, &globals, first as usize, &mut row);
            numbers.push(self.add(&row, 0, &[]));
        }
        let mut map = places;
        for place in &mut map {
            match numbers.get(*place as usize) {
                Some(&number) => {
                    *place = number;
                    self.counts[number as usize] += 1;
                }
                None => self.unlabelled += 1,
            }
        }
        if let (Some(sums), Some(weights)) = (&mut self.sums, weights) {
            for (&place, &weight) in map.iter().zip(weights) {
                if place != NO_PROFILE {
                    sums[place as usize].add(weight);
                }
            }
        }
        Ok(map)
    }

    /// Adds a tuple given by the codes of its clusters, seen `count` times, with terms of the sum of
    /// its weights; returns its number.
    ///
    /// # Panics
    ///
    /// If there is not one code a member.
    pub fn add(&mut self, row: &[u32], count: u64, terms: &[f64]) -> u32 {
        let r = self.columns.len();
        assert_eq!(row.len(), r, "one code a member");
        let (rows, hash) = (&self.rows, hash(row));
        let of = |s: u32| &rows[s as usize * r..(s as usize + 1) * r];
        let number = if let Some(&number) = self.index.find(hash, |&s| of(s) == row) {
            number
        } else {
            let number = self.counts.len() as u32;
            self.index.insert_unique(hash, number, |&s| self::hash(of(s)));
            self.rows.extend_from_slice(row);
            self.counts.push(0);
            if let Some(sums) = &mut self.sums {
                sums.push(ExactSum::default());
            }
            number
        };
        self.counts[number as usize] += count;
        if let Some(sums) = &mut self.sums {
            terms.iter().for_each(|&term| sums[number as usize].add(term));
        }
        number
    }

    /// The tuple of every object of a block, by number, [`NO_PROFILE`] for one without any known label.
    /// A label that is not known counts as missing. An object whose tuple is not known gets the
    /// [closest](Closest) one, where `weights` say which of several is the heaviest, or
    /// [`NO_PROFILE`] without weights.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn find(
        &self,
        block: &[HardMember],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Vec<u32>> {
        let n = self.check(block, None)?;
        let (mut places, firsts) = distinct(block, n, run)?;
        let global = |(column, member): (&Column, &HardMember)| {
            let code = |name: &String| column.codes.get(name).copied().unwrap_or(MISSING);
            member.clusters().iter().map(code).collect()
        };
        let globals: Vec<Vec<u32>> = self.columns.iter().zip(block).map(global).collect();
        let r = block.len();
        let number = |&first: &u32| {
            let mut row = vec![MISSING; r];
            row_of(block, &globals, first as usize, &mut row);
            if row.iter().all(|&code| code == MISSING) {
                return Ok(NO_PROFILE);
            }
            let of = |s: u32| &self.rows[s as usize * r..(s as usize + 1) * r];
            if let Some(&s) = self.index.find(hash(&row), |&s| of(s) == row) {
                return Ok(s);
            }
            let Some(weights) = weights else { return Ok(NO_PROFILE) };
            run.check()?;
            Ok(Closest::new(&self.rows, r, weights).of(&row).unwrap_or(NO_PROFILE))
        };
        let numbers: Vec<u32> =
            run.install(|| firsts.par_iter().map(number).collect::<Result<_>>())?;
        for place in &mut places {
            *place = numbers.get(*place as usize).copied().unwrap_or(NO_PROFILE);
        }
        Ok(places)
    }

    /// The number of objects of a block that fits.
    fn check(&self, block: &[HardMember], weights: Option<&[f64]>) -> Result<usize> {
        let fits = |what: &str, got: usize, expected: usize| {
            let (what, expected_by) = (what.to_owned(), "the block".to_owned());
            let error = Error::Length { what, got, expected_by, expected };
            if got == expected { Ok(()) } else { Err(error) }
        };
        fits("the list of members", block.len(), self.columns.len())?;
        let n = block.first().map_or(0, |member| member.labels().len());
        for member in block {
            fits(&format!("member `{}`", member.name()), member.labels().len(), n)?;
        }
        if self.sums.is_some() && weights.is_none() && n > 0 {
            fits("the list of object weights", 0, n)?;
        }
        let Some(weights) = weights else { return Ok(n) };
        fits("the list of object weights", weights.len(), n)?;
        crate::ensemble::labels::collection::check_weights(weights)?;
        Ok(n)
    }

    /// The number of tuples.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How often each tuple was seen.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many objects had no label at all.
    pub fn unlabelled(&self) -> u64 {
        self.unlabelled
    }

    /// The exact sums of the tuples' weights, if there are weights.
    pub fn sums(&self) -> Option<&[ExactSum]> {
        self.sums.as_deref()
    }

    /// The weights of the tuples: sums of weights, each rounded once, or counts.
    pub fn weights(&self) -> Vec<f64> {
        match &self.sums {
            Some(sums) => sums.iter().map(ExactSum::value).collect(),
            None => self.counts.iter().map(|&count| count as f64).collect(),
        }
    }

    /// The codes of all tuples, one after the other.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The codes of tuple `s`, one a member, [`MISSING`] for none.
    pub fn row(&self, s: usize) -> &[u32] {
        let r = self.columns.len();
        &self.rows[s * r..(s + 1) * r]
    }

    /// The names of the clusters of member `h`, by code.
    pub fn clusters(&self, h: usize) -> &[String] {
        &self.columns[h].clusters
    }

    /// The members: one object a tuple.
    pub fn members(&self) -> Vec<HardMember> {
        let r = self.columns.len();
        let member = |(h, column): (usize, &Column)| {
            let codes = self.rows.iter().skip(h).step_by(r.max(1));
            let codes = codes.map(|&code| (code != MISSING).then_some(code as usize));
            let codes: Vec<_> = codes.collect();
            let labels = Labels::from_indices(column.clusters.len(), codes.into_iter());
            HardMember::from_parts(column.name.clone(), labels, column.clusters.clone())
        };
        self.columns.iter().enumerate().map(member).collect()
    }

    /// Forgets the tuples, not the names of the clusters.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.index.clear();
        self.counts.clear();
        self.sums.iter_mut().for_each(Vec::clear);
        self.unlabelled = 0;
    }
}

/// The codes of an object in terms of `globals`, the codes of the clusters of every member.
fn row_of(block: &[HardMember], globals: &[Vec<u32>], object: usize, row: &mut [u32]) {
    for ((code, member), global) in row.iter_mut().zip(block).zip(globals) {
        *code = member.labels().get(object).map_or(MISSING, |c| global[c]);
    }
}

/// Merges the equal objects of a block: for every object the number of its kind, [`NO_PROFILE`]
/// without labels, and for every kind the first object.
fn distinct(block: &[HardMember], n: usize, run: &Run) -> Result<(Vec<u32>, Vec<u32>)> {
    // A member may label nothing in this block.
    let labelled = block.iter().filter(|member| !member.clusters().is_empty());
    let members: Vec<Member> = labelled.map(|member| member.clone().into()).collect();
    if members.is_empty() || n == 0 {
        return Ok((vec![NO_PROFILE; n], Vec::new()));
    }
    let ensemble = Ensemble::new(members)?;
    let merged = run.install(|| merge(&ensemble, run))?;
    Ok((merged.map, merged.first))
}

fn hash(row: &[u32]) -> u64 {
    row.iter().fold(row.len() as u64, |hash, &code| mix(hash.rotate_left(5) ^ u64::from(code)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles};

    fn hard(ensemble: &Ensemble) -> Vec<HardMember> {
        ensemble.members().iter().map(Member::hardened).collect()
    }

    /// The objects `rows` of members, with names numbered anew.
    fn block(members: &[HardMember], rows: &[usize]) -> Vec<HardMember> {
        let member = |member: &HardMember| {
            let mut encoder = crate::ensemble::LabelEncoder::new();
            for &i in rows {
                match member.labels().get(i) {
                    Some(code) => encoder.push_text(&member.clusters()[code]),
                    None => encoder.push_missing(),
                }
            }
            encoder.finish(member.name())
        };
        members.iter().map(member).collect()
    }

    fn names(members: &[HardMember]) -> impl Iterator<Item = String> {
        members.iter().map(|m| m.name().to_owned())
    }

    proptest! {
        #[test]
        fn blocks_give_the_profiles_of_the_whole(
            ensemble in ensembles(Kinds::HARD, 40, 5),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
            weighted: bool,
        ) {
            let run = Run::new(0).threads(1);
            let n = ensemble.n_objects();
            let members = hard(&ensemble);
            let weights: Vec<f64> = (0..n).map(|i| 0.1 + 1.7 * i as f64).collect();
            let plain = Ensemble::new(members.iter().cloned().map(Into::into).collect()).unwrap();
            let whole = if weighted { plain.with_weights(weights.clone()).unwrap() } else { plain };
            let profiles = Profiles::new(&whole, &run).unwrap();

            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(n + 1)).collect();
            cuts.extend([0, n]);
            cuts.sort_unstable();
            let mut tuples = Tuples::new(names(&members), weighted);
            let mut map = Vec::new();
            for cut in cuts.windows(2) {
                let rows: Vec<usize> = (cut[0]..cut[1]).collect();
                let own = weighted.then(|| &weights[cut[0]..cut[1]]);
                map.extend(tuples.update(&block(&members, &rows), own, &run).unwrap());
            }
            prop_assert_eq!(&map, profiles.map());
            prop_assert_eq!(tuples.weights(), profiles.weights());
            prop_assert_eq!(tuples.members(), members_of(&profiles, &members));
            let unlabelled = map.iter().filter(|&&s| s == NO_PROFILE).count() as u64;
            prop_assert_eq!(tuples.unlabelled(), unlabelled);
            prop_assert_eq!(tuples.counts().iter().sum::<u64>() + unlabelled, n as u64);

            let known = Tuples::of_profiles(&profiles, &clusters(&members)).unwrap();
            prop_assert_eq!(known.find(&members, Some(profiles.weights()), &run).unwrap(), map);
        }
    }

    fn clusters(members: &[HardMember]) -> Vec<Vec<String>> {
        members.iter().map(|m| m.clusters().to_vec()).collect()
    }

    /// One object a profile, by the names of clusters.
    fn members_of(profiles: &Profiles, members: &[HardMember]) -> Vec<HardMember> {
        let member = |(h, member): (usize, &HardMember)| {
            let labels: Vec<_> = (0..profiles.len()).map(|s| profiles.label(s, h)).collect();
            let k = member.clusters().len();
            let labels = Labels::from_indices(k, labels.into_iter());
            HardMember::from_codes(member.name(), labels, member.clusters().to_vec()).unwrap()
        };
        members.iter().enumerate().map(member).collect()
    }

    #[test]
    fn unknown_tuples_get_the_closest_and_unknown_labels_count_as_missing() {
        let run = Run::new(0).threads(1);
        let rows = [[0, 0, 0], [1, 1, 1], [2, 2, 2]];
        let ensemble = crate::testing::hard_ensemble(&[[0, 1, 2], [0, 1, 2], [0, 1, 2]]);
        let profiles = Profiles::new(&ensemble, &run).unwrap();
        let known = Tuples::of_profiles(&profiles, &clusters(&hard(&ensemble))).unwrap();
        assert_eq!(known.row(1), rows[1]);
        let new = |labels: [Option<i64>; 3]| labels.map(|l| HardMember::from_integers("", [l]));
        let weights = [1.0, 1.0, 5.0];
        let find = |labels| known.find(&new(labels), Some(&weights), &run).unwrap()[0];
        assert_eq!(find([Some(1), Some(1), Some(0)]), 1);
        assert_eq!(find([Some(1), None, None]), 1);
        assert_eq!(find([Some(1), Some(77), Some(77)]), 1);
        assert_eq!(find([Some(0), Some(1), Some(2)]), 2, "the heaviest of equally close ones");
        assert_eq!(find([Some(77), None, Some(78)]), NO_PROFILE);
        let exact = |labels| known.find(&new(labels), None, &run).unwrap()[0];
        assert_eq!(exact([Some(0), Some(1), Some(2)]), NO_PROFILE, "close is not the same");
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let run = Run::new(0).threads(1);
        let a = HardMember::from_integers("a", [Some(0), Some(1)]);
        let b = HardMember::from_integers("b", [Some(0)]);
        let fresh = |weighted| Tuples::new(["a".to_owned()], weighted);
        assert!(fresh(false).update(&[a.clone(), a.clone()], None, &run).is_err());
        assert!(
            Tuples::new(["a", "b"].map(str::to_owned), false)
                .update(&[a.clone(), b], None, &run)
                .is_err()
        );
        let one = std::slice::from_ref(&a);
        assert!(fresh(true).update(one, None, &run).is_err());
        for bad in [&[1.0][..], &[1.0, 0.0], &[f64::NAN, 1.0], &[1.0, f64::INFINITY]] {
            assert!(fresh(true).update(one, Some(bad), &run).is_err());
        }
        assert_eq!(fresh(true).update(one, Some(&[0.5, 2.0]), &run).unwrap(), [0, 1]);
    }

    #[test]
    fn names_outlive_the_tuples() {
        let run = Run::new(0).threads(1);
        let block = |labels: [i64; 2]| [HardMember::from_integers("a", labels.map(Some))];
        let mut tuples = Tuples::new(["a".to_owned()], false);
        tuples.update(&block([7, 8]), None, &run).unwrap();
        tuples.clear();
        assert!(tuples.is_empty());
        tuples.update(&block([8, 9]), None, &run).unwrap();
        assert_eq!((tuples.row(0), tuples.row(1)), (&[1][..], &[2][..]));
        assert_eq!(tuples.clusters(0), ["7", "8", "9"]);
    }
}
