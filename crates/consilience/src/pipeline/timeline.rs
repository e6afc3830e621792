//! Clusters followed through a sequence of clusterings: which go on, come, go, split and merge.
//!
//! The clusterings are of the same kind of objects at successive times; objects may come and go. For
//! every object the cluster of its *last appearance* is known, so that one who was away for a while
//! still tells where his cluster was. At each time the clusters are matched with the earlier ones so
//! that as many objects as possible stay (optimal assignment).
//!
//! # Thresholds
//!
//! All by one share $s$, [`SHARE`] unless another is given:
//!
//! * A cluster may *continue* an earlier one if they have in common at least $s$ of the objects of
//!   either, counted over objects that are labelled now and before. Of those pairs the best matching
//!   is taken, and the cluster has the identifier of the one that it continues.
//! * Otherwise it is *split* off an earlier cluster if at least $s$ of all its objects come from that
//!   one, and *born* if not. It gets an identifier that no cluster ever had.
//! * A cluster that nothing continues has *merged* into another if at least $s$ of all its objects
//!   are there, and is *gone* if not. Nobody else gets its identifier.
//! * A cluster *returns* if it continues one that was gone because its objects were away.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::ensemble::{Contingency, HardMember};
use crate::error::{Error, Result};
use crate::linalg::max_assignment;
use crate::run::Run;
use crate::words::counted;

/// The share of objects that makes one cluster the continuation, a part or the remains of another.
pub const SHARE: f64 = 0.5;

/// What happened to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A new cluster, of objects that come from many clusters or are new.
    Birth,
    /// A new cluster, most of which comes from one that goes on.
    Split,
    /// A cluster is there again after its objects were away.
    Return,
    /// A cluster is gone; most of it is in another one.
    Merge,
    /// A cluster is gone, its objects in many clusters or away.
    Death,
}

/// Something that happened to a cluster between two times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// The place of the time at which it is seen.
    pub time: usize,
    /// What happened.
    pub event: EventKind,
    /// The identifier of the cluster.
    pub cluster: String,
    /// The cluster that it comes from or goes to, of a split or merge.
    pub other: Option<String>,
    /// Of a split or merge the objects in both, otherwise the objects of the cluster.
    pub objects: usize,
    /// Of a split or merge the share of the cluster that these objects are.
    pub share: Option<f64>,
}

/// A cluster at one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterAt {
    /// The place of the time.
    pub time: usize,
    /// The identifier, which persists.
    pub cluster: String,
    /// What the cluster is called in the clustering of that time.
    pub label: String,
    /// How many objects it has.
    pub objects: usize,
    /// How many of them had the same cluster at their last appearance.
    pub stayed: usize,
    /// How many came from other clusters.
    pub moved_in: usize,
    /// How many were never seen before.
    pub new: usize,
}

/// Objects that went from one cluster to another, or stayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The place of the time at which they were seen last.
    pub from_time: usize,
    /// The place of the time at which they are seen next.
    pub to_time: usize,
    /// Where they were, by place in [`Timeline::ids`].
    pub from: usize,
    /// Where they are.
    pub to: usize,
    /// How many they are.
    pub objects: usize,
}

/// An object that changed its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The object.
    pub object: usize,
    /// The place of the time at which it was seen last.
    pub from_time: usize,
    /// The place of the time at which it is seen elsewhere.
    pub to_time: usize,
    /// Where it was, by place in [`Timeline::ids`].
    pub from: u32,
    /// Where it is.
    pub to: u32,
}

/// Clusters followed through time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// What the times are called.
    pub times: Vec<String>,
    /// The identifiers of all clusters that ever were, by first appearance, then by falling size.
    pub ids: Vec<String>,
    /// For every time the cluster of every object, by place in `ids`.
    pub labels: Vec<Vec<Option<u32>>>,
    /// The clusters at all times, by time and place in `ids`.
    pub clusters: Vec<ClusterAt>,
    /// What happened, by time.
    pub events: Vec<Event>,
    /// How many objects went where, by time and place.
    pub passages: Vec<Passage>,
    /// The share that the thresholds are.
    pub share: f64,
}

impl Timeline {
    /// Follows the clusters of `times`, which label the same objects in the same order; an object
    /// without a label is away.
    ///
    /// Identifiers are whole numbers if all labels are, those of the first clustering first;
    /// otherwise a new cluster is called by its own label, or by that and its time if another
    /// cluster was called so before.
    ///
    /// # Cost
    ///
    /// Time and memory $O(n)$ for each time, besides the matching of its clusters.
    ///
    /// # Errors
    ///
    /// If there are fewer than two clusterings, if they are of no or different numbers of objects, if
    /// `share` is not in (0, 1], if memory does not suffice, or if the run is cancelled.
    ///
    /// ```
    /// use consilience::Run;
    /// use consilience::ensemble::HardMember;
    /// use consilience::pipeline::{EventKind, SHARE, Timeline};
    /// let at = |name, labels: [i64; 5]| HardMember::from_integers(name, labels.map(Some));
    /// let months = [at("may", [0, 0, 0, 1, 1]), at("june", [5, 5, 7, 7, 7])];
    /// let found = Timeline::new(&months, SHARE, &Run::new(0))?;
    /// assert_eq!(found.labels[1], [0, 0, 1, 1, 1].map(Some));
    /// assert_eq!(found.steps().map(|step| step.object).collect::<Vec<_>>(), [2]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn new(times: &[HardMember], share: f64, run: &Run) -> Result<Timeline> {
        if times.len() < 2 {
            return Err(Error::parameter("clusterings", "at least two", times.len()));
        }
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::parameter("share", "above 0 and at most 1", share));
        }
        let n = times[0].labels().len();
        if n == 0 {
            return Err(Error::Empty {
                what: format!("member `{}`", times[0].name()),
                hint: "a clustering needs at least one object".to_owned(),
            });
        }
        let by_name = |at: &HardMember| format!("member `{}`", at.name());
        for at in times {
            Error::unless_length(by_name(at), at.labels().len(), by_name(&times[0]), n)?;
        }
        // The labels of all times; for one of them those at work, the last and when they were seen.
        let labels = n * (times.len() + 3);
        let bytes = size_of::<Option<u32>>() * labels + size_of::<usize>() * n;
        run.ask_memory(
            &format!("following {}", counted(n, "object")),
            bytes as u64,
            "take fewer clusterings, or objects",
        )?;
        let numbers = whole_numbers(times);
        let mut known = Known { last: vec![None; n], seen: vec![0; n], ids: Vec::new() };
        let mut found = Timeline {
            times: times.iter().map(|at| at.name().to_owned()).collect(),
            ids: Vec::new(),
            labels: Vec::with_capacity(times.len()),
            clusters: Vec::new(),
            events: Vec::new(),
            passages: Vec::new(),
            share,
        };
        let mut names = Names { numbers, used: BTreeSet::new(), free: 0 };
        for (time, at) in times.iter().enumerate() {
            run.check()?;
            found.add(time, at, &mut known, &mut names, run)?;
        }
        found.ids = known.ids.into_iter().map(|id| id.name).collect();
        Ok(found)
    }

    /// How many [`steps`](Self::steps) there are.
    #[must_use]
    pub fn moves(&self) -> usize {
        self.clusters.iter().map(|cluster| cluster.moved_in).sum()
    }

    /// The objects that changed their cluster, by object and time.
    pub fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let n = self.labels.first().map_or(0, Vec::len);
        (0..n).flat_map(move |object| {
            let mut last: Option<(usize, u32)> = None;
            self.labels.iter().enumerate().filter_map(move |(to_time, labels)| {
                let to = labels[object]?;
                let (from_time, from) = last.replace((to_time, to))?;
                (from != to).then_some(Step { object, from_time, to_time, from, to })
            })
        })
    }

    /// Takes in the clustering of the next time.
    fn add(
        &mut self,
        time: usize,
        at: &HardMember,
        known: &mut Known,
        names: &mut Names,
        run: &Run,
    ) -> Result<()> {
        let (order, labels) = by_size(at);
        run.check()?;
        let (k, before) = (order.len(), known.ids.len());
        let table = Contingency::of_labels(&labels, &known.last, None)?;
        let mut size = vec![0_usize; k];
        labels.iter().flatten().for_each(|&c| size[c as usize] += 1);
        let cells: Vec<(usize, usize, f64)> = table
            .cells()
            .iter()
            .map(|cell| (cell.row as usize, cell.column as usize, cell.weight))
            .collect();
        let (of_new, of_old) = (table.row_weights(), table.column_weights());
        let enough = |&(new, old, both): &(usize, usize, f64)| {
            both >= self.share * of_new[new] || both >= self.share * of_old[old]
        };
        let eligible = cells.iter().copied().filter(enough);
        run.check()?;
        let continues = max_assignment(k, before, eligible);

        // Identifiers, and what happened to clusters that are there now.
        let mut id_of = vec![0_u32; k];
        let mut here = vec![false; before];
        for (new, old) in continues.iter().enumerate() {
            run.check()?;
            let label = &at.clusters()[order[new]];
            if let Some(old) = *old {
                (id_of[new], here[old]) = (old as u32, true);
                if known.ids[old].alive + 1 < time {
                    self.events.push(Event {
                        time,
                        event: EventKind::Return,
                        cluster: known.ids[old].name.clone(),
                        other: None,
                        objects: size[new],
                        share: None,
                    });
                }
                known.ids[old].alive = time;
                continue;
            }
            id_of[new] = known.ids.len() as u32;
            let name = names.new_id(label, at.name(), time == 0);
            known.ids.push(Id { name: name.clone(), alive: time });
            if time == 0 {
                continue;
            }
            let most = cells.iter().filter(|cell| cell.0 == new);
            let most = most.max_by(|a, b| a.2.total_cmp(&b.2).then(b.1.cmp(&a.1)));
            let from = most.filter(|cell| cell.2 >= self.share * size[new] as f64);
            self.events.push(Event {
                time,
                event: if from.is_some() { EventKind::Split } else { EventKind::Birth },
                cluster: name,
                other: from.map(|cell| known.ids[cell.1].name.clone()),
                objects: from.map_or(size[new], |cell| cell.2 as usize),
                share: from.map(|cell| cell.2 / size[new] as f64),
            });
        }
        // Those that were there a moment ago and are not any more.
        if let Some(previous) = self.labels.last() {
            let mut was = vec![0_usize; before];
            previous.iter().flatten().for_each(|&c| was[c as usize] += 1);
            let went = Contingency::of_labels(previous, &labels, None)?;
            for old in (0..before).filter(|&old| was[old] > 0 && !here[old]) {
                run.check()?;
                let into = went.cells().iter().filter(|cell| cell.row as usize == old);
                let into =
                    into.max_by(|a, b| a.weight.total_cmp(&b.weight).then(b.column.cmp(&a.column)));
                let enough = self.share * was[old] as f64;
                let into = into.filter(|cell| cell.weight >= enough);
                let into = into.map(|cell| (cell.column as usize, cell.weight as usize));
                self.events.push(Event {
                    time,
                    event: if into.is_some() { EventKind::Merge } else { EventKind::Death },
                    cluster: known.ids[old].name.clone(),
                    other: into.map(|(new, _)| known.ids[id_of[new] as usize].name.clone()),
                    objects: into.map_or(was[old], |(_, w)| w),
                    share: into.map(|(_, w)| w as f64 / was[old] as f64),
                });
            }
        }
        // Who came from where.
        let labels: Vec<Option<u32>> =
            labels.iter().map(|label| label.map(|c| id_of[c as usize])).collect();
        let mut passages = BTreeMap::<(usize, u32, u32), usize>::new();
        let mut came = vec![(0, 0, 0); known.ids.len()];
        let before = known.last.iter_mut().zip(&mut known.seen);
        for (object, (now, (last, seen))) in labels.iter().zip(before).enumerate() {
            if object.is_multiple_of(1 << 16) {
                run.check()?;
            }
            let Some(now) = *now else { continue };
            let (stayed, moved, new) = &mut came[now as usize];
            match *last {
                Some(last) => {
                    *passages.entry((*seen, last, now)).or_default() += 1;
                    *(if last == now { stayed } else { moved }) += 1;
                }
                None => *new += 1,
            }
            (*last, *seen) = (Some(now), time);
        }
        let mut places: Vec<usize> = (0..k).collect();
        places.sort_by_key(|&new| id_of[new]);
        for new in places {
            let (stayed, moved_in, fresh) = came[id_of[new] as usize];
            self.clusters.push(ClusterAt {
                time,
                cluster: known.ids[id_of[new] as usize].name.clone(),
                label: at.clusters()[order[new]].clone(),
                objects: size[new],
                stayed,
                moved_in,
                new: fresh,
            });
        }
        self.passages.extend(passages.into_iter().map(|((from_time, from, to), objects)| {
            let (from, to) = (from as usize, to as usize);
            Passage { from_time, to_time: time, from, to, objects }
        }));
        self.labels.push(labels);
        Ok(())
    }
}

/// An identifier.
struct Id {
    name: String,
    /// The last time at which a cluster had it.
    alive: usize,
}

/// What is known of the times before.
struct Known {
    /// The cluster of every object when it was seen last.
    last: Vec<Option<u32>>,
    /// The time when that was.
    seen: Vec<usize>,
    ids: Vec<Id>,
}

/// How new clusters are called.
struct Names {
    /// Whether all labels are whole numbers.
    numbers: bool,
    used: BTreeSet<String>,
    /// The number above all that were given.
    free: u32,
}

impl Names {
    fn new_id(&mut self, label: &str, time: &str, first: bool) -> String {
        if self.numbers {
            let number = if first { label.parse().unwrap_or(self.free) } else { self.free };
            self.free = self.free.max(number + 1);
            return number.to_string();
        }
        let mut name = label.to_owned();
        for again in 1.. {
            if self.used.insert(name.clone()) {
                break;
            }
            name = if again == 1 { format!("{label} ({time})") } else { format!("{name}'") };
        }
        name
    }
}

/// Whether all labels are whole numbers that can be told apart, with room for more.
fn whole_numbers(times: &[HardMember]) -> bool {
    let of_one = |at: &HardMember| {
        let numbers = at.clusters().iter().map(|name| name.parse::<u32>().ok());
        let small: BTreeSet<u32> = numbers.flatten().filter(|x| *x < 1 << 31).collect();
        small.len() == at.clusters().len()
    };
    times.iter().all(of_one)
}

/// The clusters of a clustering that have objects, by falling size and then by name, so that the
/// order of rows tells nothing; and the labels in that order.
fn by_size(at: &HardMember) -> (Vec<usize>, Vec<Option<u32>>) {
    let names = at.clusters();
    let mut size = vec![0_usize; names.len()];
    at.labels().iter().flatten().for_each(|c| size[c] += 1);
    let mut order: Vec<usize> = (0..names.len()).filter(|&c| size[c] > 0).collect();
    let number = |c: usize| names[c].parse::<u64>().unwrap_or(u64::MAX);
    order.sort_by(|&a, &b| {
        let by_name = (number(a), &names[a]).cmp(&(number(b), &names[b]));
        size[b].cmp(&size[a]).then(by_name)
    });
    let mut place = vec![0; names.len()];
    order.iter().zip(0..).for_each(|(&c, at)| place[c] = at);
    (order, at.labels().iter().map(|label| label.map(|c| place[c])).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::LabelEncoder;

    fn at(name: &str, labels: &str) -> HardMember {
        // A letter per object; a dot is away.
        let label = |c: char| (c != '.').then(|| c.to_string());
        let labels: Vec<Option<String>> = labels.chars().map(label).collect();
        let mut encoder = LabelEncoder::default();
        for label in &labels {
            match label {
                Some(text) => encoder.push_text(text),
                None => encoder.push_missing(),
            }
        }
        encoder.finish(name)
    }

    fn followed(times: &[&str]) -> Timeline {
        let names = ["jan", "feb", "mar", "apr"];
        let times: Vec<_> =
            times.iter().zip(names).map(|(labels, name)| at(name, labels)).collect();
        Timeline::new(&times, SHARE, &Run::new(0)).unwrap()
    }

    fn told(found: &Timeline) -> Vec<(usize, EventKind, &str, Option<&str>, usize)> {
        let events = found.events.iter();
        events.map(|e| (e.time, e.event, &*e.cluster, e.other.as_deref(), e.objects)).collect()
    }

    fn line(found: &Timeline, time: usize) -> String {
        let name = |id: &Option<u32>| id.map_or(".", |id| found.ids[id as usize].as_str());
        found.labels[time].iter().map(name).collect()
    }

    #[test]
    fn renamed_clusters_keep_their_ids_and_nobody_moved() {
        let found = followed(&["aaabb", "xxxyy"]);
        assert_eq!(line(&found, 1), "aaabb");
        assert!(found.events.is_empty());
        assert_eq!(found.steps().count(), 0);
        assert_eq!(found.clusters[2].label, "x");
        assert_eq!((found.clusters[2].stayed, found.clusters[2].new), (3, 0));
    }

    #[test]
    fn a_part_that_leaves_is_split_off_and_later_merges() {
        let found = followed(&["aaaaaabb", "aaaaccbb", "aaaaaabb"]);
        use EventKind::{Merge, Split};
        assert_eq!(told(&found), [(1, Split, "c", Some("a"), 2), (2, Merge, "c", Some("a"), 2)]);
        assert_eq!(found.events[0].share, Some(1.0));
        let steps: Vec<_> = found.steps().map(|s| (s.object, s.from_time, s.to_time)).collect();
        assert_eq!(steps, [(4, 0, 1), (4, 1, 2), (5, 0, 1), (5, 1, 2)]);
    }

    #[test]
    fn births_and_deaths_of_objects_that_come_and_go() {
        let found = followed(&["aaabbb..", "aaa...cc", "aaa...cc"]);
        use EventKind::{Birth, Death};
        assert_eq!(told(&found), [(1, Birth, "c", None, 2), (1, Death, "b", None, 3)]);
        assert_eq!(found.clusters[3].new, 2);
    }

    #[test]
    fn the_last_appearance_counts_and_the_cluster_returns() {
        let found = followed(&["aaabbb", "ccc...", "dddeee"]);
        assert_eq!(line(&found, 2), "aaabbb");
        use EventKind::{Death, Return};
        assert_eq!(told(&found), [(1, Death, "b", None, 3), (2, Return, "b", None, 3)]);
        assert_eq!(found.steps().count(), 0);
        let long = found.passages.iter().find(|p| p.to_time == 2 && p.from == 1).unwrap();
        assert_eq!((long.from_time, long.objects), (0, 3));
    }

    #[test]
    fn an_id_is_not_used_for_another_cluster() {
        // b is gone; the b of March is of other objects.
        let found = followed(&["aaabbb...", "aaa......", "aaa...bbb"]);
        assert_eq!(line(&found, 2), "aaa...b (mar)b (mar)b (mar)");
        assert_eq!(found.ids, ["a", "b", "b (mar)"]);
        let numbers = |labels: [i64; 4]| labels.map(|x| (x >= 0).then_some(x));
        let times = [[0, 0, 7, 7], [0, 0, -1, -1], [0, 3, 3, -1]].map(numbers);
        let times = times.map(|labels| HardMember::from_integers("t", labels));
        let found = Timeline::new(&times, SHARE, &Run::new(0)).unwrap();
        assert_eq!(found.ids, ["0", "7"]);
    }

    #[test]
    fn a_crumb_does_not_carry_the_name() {
        // Of a's ten objects one is in x, which is mostly of b.
        let found = followed(&["aaaaaaaaaabbbb", "yyyyyyyyyxxxxx"]);
        assert_eq!(line(&found, 1), "aaaaaaaaabbbbb");
        // Thirds of everything: nothing continues.
        let found = followed(&["aaabbbccc", "xyzxyzxyz"]);
        assert_eq!(found.ids.len(), 6);
        assert_eq!(found.events.len(), 6);
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        let run = Run::new(0);
        assert!(Timeline::new(&[at("a", "xx")], SHARE, &run).is_err());
        assert!(Timeline::new(&[at("a", "xx"), at("b", "xxx")], SHARE, &run).is_err());
        assert!(Timeline::new(&[at("a", ""), at("b", "")], SHARE, &run).is_err());
        for share in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(Timeline::new(&[at("a", "x"), at("b", "x")], share, &run).is_err());
        }
    }

    #[test]
    fn memory_is_asked_for_all_times() {
        let times = vec![at("t", &"ab".repeat(500)); 20];
        let refused = Timeline::new(&times, SHARE, &Run::new(0).memory(150_000)).unwrap_err();
        assert!(matches!(refused, Error::Memory { .. }), "{refused}");
        assert!(Timeline::new(&times, SHARE, &Run::new(0).memory(250_000)).is_ok());
    }

    #[test]
    fn nobody_may_have_a_label() {
        let found = followed(&["...", "...", "aa."]);
        assert_eq!((found.ids.len(), found.clusters.len(), found.moves()), (1, 1, 0));
        let found = followed(&["...", "..."]);
        assert!(found.ids.is_empty() && found.events.is_empty() && found.passages.is_empty());
    }

    fn labels(n: usize) -> impl Strategy<Value = Vec<Option<i64>>> {
        prop::collection::vec(prop::option::weighted(0.8, 0..4_i64), n)
    }

    proptest! {
        /// Every object is counted once, every time; names of labels and the order of rows tell nothing.
        #[test]
        fn counts_add_up_and_order_is_no_information(
            all in (1..25_usize).prop_flat_map(|n| prop::collection::vec(labels(n), 2..5)),
            shift in 1..4_usize,
        ) {
            let times = |turn: usize| -> Vec<HardMember> {
                let turned = |labels: &Vec<Option<i64>>| {
                    let n = labels.len();
                    (0..n).map(|i| labels[(i + turn) % n]).collect::<Vec<_>>()
                };
                all.iter().map(|l| HardMember::from_integers("t", turned(l))).collect()
            };
            let found = Timeline::new(&times(0), SHARE, &Run::new(0)).unwrap();
            for (time, given) in all.iter().enumerate() {
                let here = || found.clusters.iter().filter(|c| c.time == time);
                let objects: usize = here().map(|c| c.objects).sum();
                prop_assert_eq!(objects, given.iter().flatten().count());
                prop_assert!(here().all(|c| c.objects == c.stayed + c.moved_in + c.new));
                let ids: BTreeSet<_> = here().map(|c| &c.cluster).collect();
                prop_assert_eq!(ids.len(), here().count());
                // The partition is that of the labels.
                for (a, b) in given.iter().zip(&found.labels[time]) {
                    for (c, d) in given.iter().zip(&found.labels[time]) {
                        prop_assert_eq!(a == c, b == d);
                    }
                }
            }
            let steps = found.steps().count();
            let moved: usize = found.clusters.iter().map(|c| c.moved_in).sum();
            prop_assert_eq!(steps, moved);
            prop_assert_eq!(steps, found.moves());
            let passed = found.passages.iter().filter(|p| p.from != p.to).map(|p| p.objects);
            prop_assert_eq!(steps, passed.sum::<usize>());
            let n = all[0].len();
            let turned = Timeline::new(&times(shift % n), SHARE, &Run::new(0)).unwrap();
            prop_assert_eq!(&turned.events, &found.events);
            prop_assert_eq!(&turned.clusters, &found.clusters);
        }
    }
}
