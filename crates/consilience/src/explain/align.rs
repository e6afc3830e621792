//! Cluster numbers that follow an earlier result.

use crate::ensemble::Contingency;
use crate::error::Result;
use crate::linalg::max_assignment;

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
    /// use consilience::explain::Alignment;
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
    /// use consilience::explain::Alignment;
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
