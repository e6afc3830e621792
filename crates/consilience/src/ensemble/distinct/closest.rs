//! The closest of many label tuples.

use crate::ensemble::profiles::MISSING;
use crate::linalg::vectorised;

/// Finds the tuple closest to one that is not among them.
///
/// The distance is that between rows of $H$: a label that both tuples have costs nothing, one in
/// which they differ 2, and one that only one of them has 1. Of several closest tuples the heaviest is
/// taken, of equally heavy ones the first.
#[derive(Clone, Copy, Debug)]
pub struct Closest<'a> {
    rows: &'a [u32],
    r: usize,
    weights: &'a [f64],
}

impl<'a> Closest<'a> {
    /// Among `rows` of `r` codes each ([`MISSING`] for none), with these weights.
    ///
    /// # Panics
    ///
    /// If there is not one weight a row.
    pub fn new(rows: &'a [u32], r: usize, weights: &'a [f64]) -> Self {
        assert_eq!(rows.len(), r * weights.len(), "one weight a tuple");
        Closest { rows, r, weights }
    }

    /// The number of the closest tuple, `None` if there are none.
    ///
    /// # Cost
    ///
    /// $O(u r)$, compared several labels at a time.
    pub fn of(&self, row: &[u32]) -> Option<u32> {
        vectorised(
            #[inline(always)]
            || {
                let own = row.iter().filter(|&&code| code != MISSING).count() as u32;
                let mut best = None;
                let mut least = u32::MAX;
                for (s, other) in self.rows.chunks_exact(self.r).enumerate() {
                    let (mut same, mut labels) = (0, 0);
                    for (&a, &b) in row.iter().zip(other) {
                        let labelled = u32::from(b != MISSING);
                        labels += labelled;
                        same += labelled & u32::from(a == b);
                    }
                    let distance = own + labels - 2 * same;
                    let heavier = |t: usize| self.weights[s] > self.weights[t];
                    if distance < least || (distance == least && best.is_some_and(heavier)) {
                        (least, best) = (distance, Some(s));
                    }
                }
                best.map(|s| s as u32)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_closest_is_that_of_rows_of_h(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of(0u32..3), 4), 1..12),
            row in prop::collection::vec(prop::option::of(0u32..3), 4),
            weights in prop::collection::vec(1u8..4, 12),
        ) {
            let dense = |row: &[Option<u32>]| -> Vec<i32> {
                let cell = |c: u32| move |&label: &Option<u32>| i32::from(label == Some(c));
                (0..3).flat_map(|c| row.iter().map(cell(c))).collect()
            };
            let distance = |other: &Vec<Option<u32>>| -> i32 {
                dense(&row).iter().zip(dense(other)).map(|(a, b)| (a - b).pow(2)).sum()
            };
            let weights: Vec<f64> = weights[..rows.len()].iter().map(|&w| f64::from(w)).collect();
            let expected = (0..rows.len()).min_by(|&s, &t| {
                let near = distance(&rows[s]).cmp(&distance(&rows[t]));
                near.then(weights[t].total_cmp(&weights[s]))
            });
            let codes = |row: &[Option<u32>]| -> Vec<u32> {
                row.iter().map(|label| label.unwrap_or(MISSING)).collect()
            };
            let table: Vec<u32> = rows.iter().flat_map(|row| codes(row)).collect();
            let found = Closest::new(&table, 4, &weights).of(&codes(&row));
            prop_assert_eq!(found.map(|s| s as usize), expected);
        }
    }

    #[test]
    fn among_none_there_is_none() {
        assert_eq!(Closest::new(&[], 2, &[]).of(&[0, 1]), None);
    }
}
