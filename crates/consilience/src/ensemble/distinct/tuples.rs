//! Distinct label tuples of objects that come in blocks: a state that can be updated, merged and asked.
//!
//! [`Profiles`](crate::ensemble::Profiles) wants all objects at once. Here blocks of them pass by, from
//! a folder of files or inside the workers of a cluster, and only distinct tuples are kept: how often
//! each was seen, and the exact sum of its weights. Whatever the split into blocks and the order of
//! merging, the same tuples, counts and sums come out; their order is that of first appearance.

use rayon::prelude::*;

use crate::ensemble::distinct::exact::ExactSum;
use crate::ensemble::distinct::packing::{Layout, Packing, hash_row};
use crate::ensemble::distinct::table::TupleTable;
use crate::ensemble::labels::coder::Numbering;
use crate::ensemble::labels::collection::check_weights;
use crate::ensemble::labels::member::HardMember;
use crate::ensemble::labels::{Code, Labels};
use crate::ensemble::profiles::{MISSING, NO_PROFILE, Profiles};
use crate::error::{Error, Result};
use crate::linalg::vectorised;
use crate::run::Run;

/// Objects whose tuples are packed together.
const TILE: usize = 1 << 10;

/// The distinct label tuples of blocks of objects.
///
/// ```
/// use consilience::Run;
/// use consilience::ensemble::{HardMember, Tuples};
/// let mut tuples = Tuples::new(2, false);
/// let block = |a, b| [HardMember::from_integers("a", a), HardMember::from_integers("b", b)];
/// tuples.update(&block([Some(0), Some(1)], [Some(5), None]), None, &Run::new(0))?;
/// let second = block([Some(1), Some(0)], [None, Some(5)]);
/// assert_eq!(tuples.update(&second, None, &Run::new(0))?, [1, 0]);
/// assert_eq!(tuples.counts(), [2, 2]);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tuples {
    /// The names of the clusters of every member.
    clusters: Vec<Numbering<String>>,
    layout: Layout,
    table: TupleTable,
    /// Exact sums of weights, if there are weights.
    sums: Option<Vec<ExactSum>>,
    /// How many objects had no label at all.
    unlabelled: u64,
}

impl Tuples {
    /// No tuples yet, of this many members. With `weighted` every block has weights.
    pub fn new(members: usize, weighted: bool) -> Self {
        Tuples {
            clusters: vec![Numbering::default(); members],
            layout: Layout::widest(members),
            table: TupleTable::default(),
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
    pub fn of_profiles(profiles: &Profiles, clusters: Vec<Vec<String>>) -> Result<Self> {
        if !profiles.is_hard() {
            return Err(Error::Unsupported {
                method: "tuples",
                what: "soft members".to_owned(),
                hint: "harden the ensemble first".to_owned(),
            });
        }
        let r = profiles.n_members();
        Error::unless_length("the list of clusters", clusters.len(), "the ensemble", r)?;
        let code = |i: usize| profiles.label(i / r, i % r).map_or(MISSING, |c| c as u32);
        Self::of_rows(clusters, &(0..profiles.len() * r).map(code).collect::<Vec<_>>())
    }

    /// These tuples, each counted once: the names of the clusters of every member, and one code per
    /// member, tuple by tuple.
    ///
    /// # Errors
    ///
    /// If a code has no name or the rows do not fit to the members.
    pub fn of_rows(clusters: Vec<Vec<String>>, rows: &[u32]) -> Result<Self> {
        let r = clusters.len();
        let mut tuples = Tuples::new(r, false);
        tuples.clusters = clusters.into_iter().map(Numbering::from_iter).collect();
        let mut columns = vec![Vec::with_capacity(rows.len() / r.max(1)); r];
        for (s, row) in rows.chunks(r.max(1)).enumerate() {
            let known = |(code, names): (&u32, &Numbering<String>)| {
                code.index().is_none_or(|code| code < names.values().len())
            };
            if row.len() != r || !row.iter().zip(&tuples.clusters).all(known) {
                let problem = "every code must have a name";
                return Err(Error::value("the list of tuples", s, problem));
            }
            columns.iter_mut().zip(row).for_each(|(column, &code)| column.push(code));
        }
        let columns: Vec<Labels> = columns.into_iter().map(Labels::U32).collect();
        tuples.count(&columns, None);
        Ok(tuples)
    }

    /// Takes in a block of objects, one member after the other, with labels numbered in any way.
    /// Returns the tuple of every object, [`NO_PROFILE`] where it has no label.
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
        let n = self.check(block)?;
        if self.sums.is_some() || weights.is_some() {
            let got = weights.map_or(0, <[f64]>::len);
            Error::unless_length("the list of object weights", got, "the block", n)?;
            check_weights(weights.unwrap_or_default())?;
        }
        run.check()?;
        let recoded = |(names, member): (&mut Numbering<String>, &HardMember)| {
            let codes: Vec<u32> = member.clusters().iter().map(|c| names.code(&**c)).collect();
            member.labels().renamed(names.values().len(), |c| Some(codes[c] as usize))
        };
        let columns: Vec<Labels> = self.clusters.iter_mut().zip(block).map(recoded).collect();
        Ok(self.count(&columns, weights))
    }

    /// Counts the tuples of objects with these labels; returns which they are.
    fn count(&mut self, columns: &[Labels], weights: Option<&[f64]>) -> Vec<u32> {
        let Tuples { layout, table, sums, unlabelled, .. } = self;
        let mut map = Vec::new();
        for_each_key(layout, columns, |i, key| {
            let Some(key) = key else {
                *unlabelled += 1;
                map.push(NO_PROFILE);
                return;
            };
            table.reserve(1);
            let number = table.len();
            // A tuple is shown first by itself: its number.
            let record = table.find_or_add(key, hash_row(key) as u32, number);
            record[key.len()] += 1;
            let number = record[key.len() + 1] as usize;
            map.push(number as u32);
            if let (Some(sums), Some(weights)) = (&mut *sums, weights) {
                sums.resize_with(table.len(), ExactSum::default);
                sums[number].add(weights[i]);
            }
        });
        map
    }

    /// The tuple of every object of a block, by number, [`NO_PROFILE`] for one without any known label.
    /// A label that is not known counts as missing. An object whose tuple is not known gets the
    /// closest one, where `weights` say which of several is the heaviest, or [`NO_PROFILE`] without
    /// weights.
    ///
    /// The distance is that between rows of $H$: a label that both tuples have costs nothing, one in
    /// which they differ 2, and one that only one of them has 1. Of several closest tuples the heaviest
    /// is taken, of equally heavy ones the first.
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
        self.check(block)?;
        let recoded = |(names, member): (&Numbering<String>, &HardMember)| {
            let code = |c: &String| names.get(&**c).map(|code| code as usize);
            let codes: Vec<_> = member.clusters().iter().map(code).collect();
            member.labels().renamed(names.values().len(), |c| codes[c])
        };
        let columns: Vec<Labels> = self.clusters.iter().zip(block).map(recoded).collect();
        // Tuples that are not known are numbered after those that are.
        let (u, mut strangers) = (self.len(), TupleTable::default());
        let mut map = Vec::new();
        for_each_key(&self.layout, &columns, |_, key| {
            let Some(key) = key else { return map.push(NO_PROFILE) };
            let tag = hash_row(key) as u32;
            let number = self.table.find(key, tag).unwrap_or_else(|| {
                strangers.reserve(1);
                let number = strangers.len();
                u + strangers.find_or_add(key, tag, number)[key.len() + 1] as usize
            });
            map.push(number as u32);
        });
        let closest = |(key, ..): (&[u64], u64, u32)| {
            run.check()?;
            Ok(weights.and_then(|weights| self.closest(key, weights)).unwrap_or(NO_PROFILE))
        };
        let keys: Vec<_> = strangers.rows(self.layout.width).collect();
        let closest: Vec<u32> =
            run.install(|| keys.into_par_iter().map(closest).collect::<Result<_>>())?;
        for place in map.iter_mut().filter(|place| **place != NO_PROFILE && **place as usize >= u) {
            *place = closest[*place as usize - u];
        }
        Ok(map)
    }

    /// The number of the closest tuple to one that is not among them. Each takes $O(u r)$, compared
    /// several labels at a time.
    fn closest(&self, key: &[u64], weights: &[f64]) -> Option<u32> {
        // The layout is the widest: a label is half a word, and one beyond the last is missing in all.
        let labels = |word: u64| [word as u32, (word >> 32) as u32];
        vectorised(
            #[inline(always)]
            || {
                let (mut best, mut least) = (None, u32::MAX);
                for (s, (row, ..)) in self.table.rows(key.len()).enumerate() {
                    let mut distance = 0;
                    for (&a, &b) in key.iter().zip(row) {
                        for (a, b) in labels(a).into_iter().zip(labels(b)) {
                            let different = u32::from(a != b);
                            distance += different & u32::from(a != 0);
                            distance += different & u32::from(b != 0);
                        }
                    }
                    let heavier = |t: usize| weights[s] > weights[t];
                    if distance < least || (distance == least && best.is_some_and(heavier)) {
                        (least, best) = (distance, Some(s));
                    }
                }
                best.map(|s| s as u32)
            },
        )
    }

    /// The number of objects of a block that fits.
    fn check(&self, block: &[HardMember]) -> Result<usize> {
        let r = self.clusters.len();
        Error::unless_length("the list of members", block.len(), "the block", r)?;
        let n = block.first().map_or(0, |member| member.labels().len());
        for member in block {
            let what = format!("member `{}`", member.name());
            Error::unless_length(what, member.labels().len(), "the block", n)?;
        }
        Ok(n)
    }

    /// The number of tuples.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How often each tuple was seen.
    pub fn counts(&self) -> Vec<u64> {
        self.table.rows(self.layout.width).map(|(_, count, _)| count).collect()
    }

    /// How many objects had no label at all.
    pub fn unlabelled(&self) -> u64 {
        self.unlabelled
    }

    /// The exact sums of the tuples' weights, if there are weights.
    pub fn sums(&self) -> Option<&[ExactSum]> {
        self.sums.as_deref()
    }

    /// The codes of member `h` in all tuples, [`MISSING`] for none.
    pub fn column(&self, h: usize) -> impl Iterator<Item = u32> {
        let code = move |row| self.layout.index(row, h).map_or(MISSING, |c| c as u32);
        self.table.rows(self.layout.width).map(move |(row, ..)| code(row))
    }

    /// The codes of all tuples, one after the other.
    pub fn rows(&self) -> Vec<u32> {
        let r = self.clusters.len();
        let mut rows = vec![MISSING; self.len() * r];
        for h in 0..r {
            rows.iter_mut().skip(h).step_by(r).zip(self.column(h)).for_each(|(to, c)| *to = c);
        }
        rows
    }

    /// The names of the clusters of member `h`, by code.
    pub fn clusters(&self, h: usize) -> &[String] {
        self.clusters[h].values()
    }

    /// Forgets the tuples, not the names of the clusters.
    pub fn clear(&mut self) {
        self.table = TupleTable::default();
        self.sums.iter_mut().for_each(Vec::clear);
        self.unlabelled = 0;
    }
}

/// Calls `visit(i, key)` with the words of the labels of every object `i` in turn, `None` without any.
fn for_each_key(layout: &Layout, columns: &[Labels], mut visit: impl FnMut(usize, Option<&[u64]>)) {
    let packing = Packing::of_columns(layout, columns);
    let n = columns.first().map_or(0, Labels::len);
    let (mut words, mut key) = (vec![0; TILE * packing.width], vec![0; packing.width]);
    for start in (0..n).step_by(TILE) {
        let len = TILE.min(n - start);
        let words = &mut words[..len * packing.width];
        packing.pack(start, len, words);
        for i in 0..len {
            key.iter_mut().zip(words[i..].iter().step_by(len)).for_each(|(to, &word)| *to = word);
            visit(start + i, key.iter().any(|&word| word != 0).then_some(&*key));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, Member};
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

    /// Sums of weights, each rounded once, or counts.
    fn weights_of(tuples: &Tuples) -> Vec<f64> {
        match tuples.sums() {
            Some(sums) => sums.iter().map(ExactSum::value).collect(),
            None => tuples.counts().iter().map(|&count| count as f64).collect(),
        }
    }

    fn labels(profiles: &Profiles) -> Vec<u32> {
        let r = profiles.n_members();
        let label = |i: usize| profiles.label(i / r, i % r).map_or(MISSING, |c| c as u32);
        (0..profiles.len() * r).map(label).collect()
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
            let mut tuples = Tuples::new(members.len(), weighted);
            let mut map = Vec::new();
            for cut in cuts.windows(2) {
                let rows: Vec<usize> = (cut[0]..cut[1]).collect();
                let own = weighted.then(|| &weights[cut[0]..cut[1]]);
                map.extend(tuples.update(&block(&members, &rows), own, &run).unwrap());
            }
            prop_assert_eq!(&map, profiles.map());
            prop_assert_eq!(weights_of(&tuples), profiles.weights());
            prop_assert_eq!(tuples.rows(), labels(&profiles));
            for (h, member) in members.iter().enumerate() {
                prop_assert_eq!(tuples.clusters(h), member.clusters());
            }
            let unlabelled = map.iter().filter(|&&s| s == NO_PROFILE).count() as u64;
            prop_assert_eq!(tuples.unlabelled(), unlabelled);
            prop_assert_eq!(tuples.counts().iter().sum::<u64>() + unlabelled, n as u64);

            let known = Tuples::of_profiles(&profiles, clusters(&members)).unwrap();
            prop_assert_eq!(known.find(&members, Some(profiles.weights()), &run).unwrap(), map);
        }
    }

    fn clusters(members: &[HardMember]) -> Vec<Vec<String>> {
        members.iter().map(|m| m.clusters().to_vec()).collect()
    }

    proptest! {
        #[test]
        fn the_closest_is_that_of_rows_of_h(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of(0u32..3), 3), 1..12),
            row in prop::collection::vec(prop::option::of(0u32..3), 3),
            weights in prop::collection::vec(1u8..4, 12),
        ) {
            let run = Run::new(0).threads(1);
            let mut rows = rows;
            rows.sort();
            rows.dedup();
            rows.retain(|row| row.iter().any(Option::is_some));
            let labels = |row: &[Option<u32>]| row.iter().map(|l| l.unwrap_or(MISSING)).collect();
            let all: Vec<Vec<u32>> = rows.iter().map(|row| labels(row)).collect();
            let names = vec![["0", "1", "2"].map(str::to_owned).to_vec(); 3];
            let known = Tuples::of_rows(names, &all.concat()).unwrap();
            let dense = |row: &[Option<u32>]| -> Vec<i32> {
                let cell = |c: u32| move |&label: &Option<u32>| i32::from(label == Some(c));
                (0..3).flat_map(|c| row.iter().map(cell(c))).collect()
            };
            let distance = |other: &Vec<Option<u32>>| -> i32 {
                dense(&row).iter().zip(dense(other)).map(|(a, b)| (a - b).pow(2)).sum()
            };
            let weights: Vec<f64> = weights[..rows.len()].iter().map(|&w| f64::from(w)).collect();
            let nearest = (0..rows.len()).min_by(|&s, &t| {
                let near = distance(&rows[s]).cmp(&distance(&rows[t]));
                near.then(weights[t].total_cmp(&weights[s]))
            });
            let nearest = nearest.filter(|_| row.iter().any(Option::is_some));
            let new = |l: &Option<u32>| HardMember::from_integers("", [l.map(i64::from)]);
            let block: Vec<HardMember> = row.iter().map(new).collect();
            let found = known.find(&block, Some(&weights), &run).unwrap();
            prop_assert_eq!(found, [nearest.map_or(NO_PROFILE, |s| s as u32)]);
        }
    }

    #[test]
    fn unknown_tuples_get_the_closest_and_unknown_labels_count_as_missing() {
        let run = Run::new(0).threads(1);
        let ensemble = crate::testing::hard_ensemble(&[[0, 1, 2], [0, 1, 2], [0, 1, 2]]);
        let profiles = Profiles::new(&ensemble, &run).unwrap();
        let known = Tuples::of_profiles(&profiles, clusters(&hard(&ensemble))).unwrap();
        assert_eq!(known.rows()[3..6], [1, 1, 1]);
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
        let fresh = |weighted| Tuples::new(1, weighted);
        assert!(fresh(false).update(&[a.clone(), a.clone()], None, &run).is_err());
        assert!(Tuples::new(2, false).update(&[a.clone(), b], None, &run).is_err());
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
        let mut tuples = Tuples::new(1, false);
        tuples.update(&block([7, 8]), None, &run).unwrap();
        tuples.clear();
        assert!(tuples.is_empty());
        tuples.update(&block([8, 9]), None, &run).unwrap();
        assert_eq!(tuples.rows(), [1, 2]);
        assert_eq!(tuples.clusters(0), ["7", "8", "9"]);
    }
}
