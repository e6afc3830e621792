//! Cluster numbers that follow an earlier result.

use std::collections::{BTreeMap, BTreeSet};

use crate::ensemble::{Contingency, HardMember};
use crate::error::Result;
use crate::linalg::max_assignment;
use crate::pipeline::answer::Answer;
use crate::pipeline::record::{AlignedRecord, ClusterNames, MoveRecord};

/// Moves from one cluster to another that a record lists.
const LISTED: usize = 50;

/// How the clusters of a new result correspond to those of an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// For every new cluster the old one it continues, if any.
    pub continues: Vec<Option<u32>>,
    /// For every new cluster its number: that of the old one it continues, or one that no old
    /// cluster had.
    pub number: Vec<u32>,
    /// Objects that both results label and whose cluster is not the continuation of their old one.
    pub moved: Vec<u32>,
}

impl Alignment {
    /// Matches `k` new clusters with `k_old` old ones so that as many objects as possible stay where
    /// they were (optimal assignment).
    ///
    /// # Errors
    ///
    /// If the two results are of different numbers of objects.
    ///
    /// ```
    /// use consilience::pipeline::Alignment;
    /// let old = [Some(0), Some(0), Some(1), Some(2), Some(2)];
    /// let new = [Some(2), Some(2), Some(0), Some(1), Some(0)];
    /// let found = Alignment::new(&new, 3, &old, 3)?;
    /// assert_eq!(found.number, [1, 2, 0]);
    /// assert_eq!(found.moved, [4]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    pub fn new(
        new: &[Option<u32>],
        k: usize,
        old: &[Option<u32>],
        k_old: usize,
    ) -> Result<Alignment> {
        let table = Contingency::of_labels(new, old, None)?;
        let cells = table.cells().iter().map(|c| (c.row as usize, c.column as usize, c.weight));
        let matched = max_assignment(k, k_old, cells);
        let continues: Vec<Option<u32>> =
            matched.into_iter().map(|old| old.map(|old| old as u32)).collect();
        let number = numbered(&continues, &(0..k_old as u32).collect::<Vec<u32>>());
        let moved = new.iter().zip(old).enumerate().filter_map(|(i, labels)| match labels {
            (Some(new), Some(old)) if continues[*new as usize] != Some(*old) => Some(i as u32),
            _ => None,
        });
        Ok(Alignment { moved: moved.collect(), continues, number })
    }

    /// For every new cluster its number where the old ones were called `old`: new clusters get
    /// numbers above all of those, so that no cluster is mistaken for one that is gone.
    ///
    /// ```
    /// use consilience::pipeline::Alignment;
    /// let found = Alignment::new(&[Some(0), Some(1), Some(2)], 3, &[Some(1), None, Some(0)], 2)?;
    /// assert_eq!(found.numbers(&[4, 7]), [7, 8, 4]);
    /// # Ok::<(), consilience::Error>(())
    /// ```
    #[must_use]
    pub fn numbers(&self, old: &[u32]) -> Vec<u32> {
        numbered(&self.continues, old)
    }
}

fn numbered(continues: &[Option<u32>], old: &[u32]) -> Vec<u32> {
    let mut free = old.iter().max().map_or(0, |most| most + 1)..;
    let number = |of: &Option<u32>| match of {
        Some(of) => old[*of as usize],
        None => free.next().expect("numbers do not end"),
    };
    continues.iter().map(number).collect()
}

/// The clusters of an earlier result.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// What the result is called.
    pub name: String,
    /// The earlier cluster of every object.
    labels: Vec<Option<u32>>,
    /// What the earlier clusters were called, and their numbers.
    clusters: ClusterNames,
}

impl Earlier {
    /// The result `name` with these labels of the objects; `known` are the names of its clusters by
    /// number where they have others than their labels.
    pub fn new(name: String, labels: &HardMember, known: &BTreeMap<u32, String>) -> Self {
        let clusters = labels.clusters();
        let parsed: Option<Vec<u32>> = clusters.iter().map(|name| name.parse().ok()).collect();
        // `1` and `01` are two clusters, but one number; and there must be room for new numbers.
        let fit = |numbers: &Vec<u32>| {
            let distinct: BTreeSet<_> =
                numbers.iter().filter(|number| **number < 1 << 31).collect();
            distinct.len() == clusters.len()
        };
        let numbers = parsed.filter(fit).unwrap_or_else(|| (0..clusters.len() as u32).collect());
        let called = |(number, name): (&u32, &String)| known.get(number).unwrap_or(name).clone();
        let names = numbers.iter().zip(clusters).map(called).collect();
        let labels = labels.labels().iter().map(|code| code.map(|c| c as u32)).collect();
        Earlier { name, labels, clusters: ClusterNames { numbers, names } }
    }
}

/// An object that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The object.
    pub object: usize,
    /// Its earlier cluster by place.
    pub from: u32,
    /// Its present cluster by place.
    pub to: u32,
}

/// How a consensus follows an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct Aligned {
    /// What the earlier result is called.
    pub to: String,
    /// How many objects both results label.
    pub common: usize,
    /// The objects that moved.
    pub moved: Vec<Move>,
    /// What the earlier clusters were called.
    pub earlier: ClusterNames,
    /// By place, whether each cluster continues an earlier one.
    continues: Vec<bool>,
    /// Earlier clusters that no cluster continues.
    gone: Vec<String>,
}

impl Answer {
    /// The same consensus with its clusters called as in an earlier result, and in that order.
    pub(super) fn following(self, earlier: &Earlier) -> Result<Answer> {
        let (k, labels) = (self.consensus.k, self.labels());
        let ClusterNames { numbers: old_numbers, names: old_names } = &earlier.clusters;
        let found = Alignment::new(&labels, k, &earlier.labels, old_names.len())?;
        let numbers = found.numbers(old_numbers);
        let mut order: Vec<u32> = (0..k as u32).collect();
        order.sort_by_key(|&cluster| numbers[cluster as usize]);
        let mut place = vec![0; k];
        order.iter().zip(0..).for_each(|(&cluster, at)| place[cluster as usize] = at);
        let moved = found.moved.iter().map(|&object| {
            let object = object as usize;
            let both = earlier.labels[object].zip(labels[object]);
            let (from, to) = both.expect("both label what moved");
            Move { object, from, to: place[to as usize] }
        });
        let both = labels.iter().zip(&earlier.labels);
        let gone = (0..old_names.len() as u32).filter(|old| !found.continues.contains(&Some(*old)));
        let ordered = || order.iter().map(|&cluster| cluster as usize);
        let aligned = Aligned {
            to: earlier.name.clone(),
            common: both.filter(|(new, old)| new.is_some() && old.is_some()).count(),
            moved: moved.collect(),
            earlier: earlier.clusters.clone(),
            continues: ordered().map(|cluster| found.continues[cluster].is_some()).collect(),
            gone: gone.map(|old| old_names[old as usize].clone()).collect(),
        };
        let name = |cluster: usize| match found.continues[cluster] {
            Some(old) => old_names[old as usize].clone(),
            None => numbers[cluster].to_string(),
        };
        Ok(Answer {
            sizes: ordered().map(|cluster| self.sizes[cluster]).collect(),
            numbers: ordered().map(|cluster| numbers[cluster]).collect(),
            names: ordered().map(name).collect(),
            consensus: self.consensus.reordered(&order),
            aligned: Some(aligned),
            ..self
        })
    }
}

impl Aligned {
    /// What a record says of it; the present clusters have these numbers and names.
    pub(super) fn record(&self, numbers: &[u32], names: &[String]) -> AlignedRecord {
        let mut counts = BTreeMap::<(u32, u32), usize>::new();
        self.moved.iter().for_each(|m| *counts.entry((m.from, m.to)).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, objects)| std::cmp::Reverse(*objects));
        let listed = counts.into_iter().take(LISTED).map(|((old, new), objects)| MoveRecord {
            from: self.earlier.names[old as usize].clone(),
            to: names[new as usize].clone(),
            objects,
        });
        let new = names.iter().zip(&self.continues).filter(|(_, old)| !**old);
        AlignedRecord {
            to: self.to.clone(),
            common: self.common,
            moved: self.moved.len(),
            moves: listed.collect(),
            clusters: ClusterNames { numbers: numbers.to_vec(), names: names.to_vec() },
            earlier: self.earlier.clone(),
            new: new.map(|(name, _)| name.clone()).collect(),
            gone: self.gone.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_cluster_gets_a_free_number() {
        let old = [0, 0, 1, 1].map(Some);
        let new = [1, 1, 2, 0].map(Some);
        let found = Alignment::new(&new, 3, &old, 2).unwrap();
        // Cluster 0 or 2 continues cluster 1; the other is new.
        assert_eq!(found.continues[1], Some(0));
        let mut numbers = found.number.clone();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(found.moved.len(), 1);
    }

    #[test]
    fn objects_of_one_result_only_have_not_moved() {
        let found = Alignment::new(&[Some(0), None], 1, &[None, Some(0)], 1).unwrap();
        assert_eq!(found.moved, Vec::<u32>::new());
        assert_eq!((found.continues[0], found.number[0]), (None, 1));
        assert!(Alignment::new(&[Some(0)], 1, &[], 0).is_err());
    }

    proptest! {
        /// Renumbering is undone, whatever it was.
        #[test]
        fn a_renumbered_result_has_not_moved(
            labels in prop::collection::vec(0..4u32, 1..20),
            shift in 0..4u32,
        ) {
            let old: Vec<Option<u32>> = labels.iter().map(|&l| Some(l)).collect();
            let new: Vec<Option<u32>> = labels.iter().map(|&l| Some((l + shift) % 4)).collect();
            let found = Alignment::new(&new, 4, &old, 4).unwrap();
            prop_assert_eq!(found.moved.len(), 0);
            for (new, old) in new.iter().zip(&labels) {
                prop_assert_eq!(found.number[new.unwrap() as usize], *old);
            }
            let mut numbers = found.number.clone();
            numbers.sort_unstable();
            numbers.dedup();
            prop_assert_eq!(numbers.len(), 4);
        }
    }
}
