//! Which members to leave out, without knowing the truth: those that cut through neighbourhoods.
//!
//! A cluster $c$ is cut off by $1 - w_c / v_c$: of the pairs of a row and one of its nearest rows that
//! touch the cluster ($v_c$, both ends counted), those that do not stay within it. The mean over the
//! clusters of a member is its normalised cut. It is near 0 where clusters follow the gaps of the data,
//! whatever their shape, and large for a member that splits what belongs together, and for one giant
//! cluster with crumbs, since a crumb's nearest rows lie in the giant.
//!
//! Cuts grow with the number of clusters, so members are compared with those of the same number only:
//! the worse third is left out.

use serde::{Deserialize, Serialize};

use crate::generate::model::NO_CLUSTER;

/// What became of a member that was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seat {
    /// Its name.
    pub name: String,
    /// The base clusterer.
    pub kind: String,
    /// The number of clusters that it was told.
    pub k: usize,
    /// How much it cuts neighbours apart, from 0 to 1; `None` where that cannot be told.
    pub cut: Option<f64>,
    /// Why it was left out, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Of members with as many clusters, one in this many is left out.
const ONE_IN: usize = 3;

/// The normalised cut of `labels`, given the nearest rows of every row. Rows without a label do not count.
pub(super) fn cut<'a>(labels: &[u32], neighbours: impl Fn(usize) -> &'a [u32]) -> f64 {
    let known = labels.iter().filter(|label| **label != NO_CLUSTER);
    let k = known.max().map_or(0, |most| *most as usize + 1);
    let (mut within, mut touching) = (vec![0_u64; k], vec![0_u64; k]);
    for (i, &own) in labels.iter().enumerate() {
        for &other in neighbours(i) {
            let other = labels[other as usize];
            if own == NO_CLUSTER || other == NO_CLUSTER {
                continue;
            }
            touching[own as usize] += 1;
            touching[other as usize] += 1;
            within[own as usize] += 2 * u64::from(own == other);
        }
    }
    let shares = within.iter().zip(&touching).filter(|(_, touching)| **touching > 0);
    let (sum, count) = shares.fold((0.0, 0), |(sum, count), (within, touching)| {
        (sum + 1.0 - *within as f64 / *touching as f64, count + 1)
    });
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Whether member `i` is not left out; where nothing is said of members, all are kept.
pub(crate) fn is_kept(seats: &[Seat], i: usize) -> bool {
    seats.get(i).is_none_or(|seat| seat.left_out.is_none())
}

/// Says of every member that cuts more than two thirds of those with as many clusters why it is left out.
/// Equals stay together, so that the order of members does not show.
pub(super) fn leave_out(seats: &mut [Seat]) {
    let mut numbers: Vec<usize> = seats.iter().map(|seat| seat.k).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for k in numbers {
        let alike = seats.iter().filter(|seat| seat.k == k);
        let mut cuts: Vec<f64> = alike.filter_map(|seat| seat.cut).collect();
        cuts.sort_unstable_by(f64::total_cmp);
        let Some(&most) = cuts.len().checked_sub(1 + cuts.len() / ONE_IN).map(|at| &cuts[at])
        else {
            continue;
        };
        for seat in seats.iter_mut().filter(|seat| seat.k == k) {
            let Some(cut) = seat.cut.filter(|cut| *cut > most) else { continue };
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            seat.left_out = Some(format!(
                "cuts off {} of the neighbourhoods of its clusters, the others of {k} clusters at most {}",
                percent(cut),
                percent(most)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of three rows, each row with the other two of its group as neighbours.
    const NEAR: [[u32; 2]; 6] = [[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]];

    fn cut_of(labels: &[u32]) -> f64 {
        cut(labels, |i| &NEAR[i])
    }

    #[test]
    fn following_the_gaps_cuts_nothing() {
        assert_eq!(cut_of(&[0, 0, 0, 1, 1, 1]), 0.0);
        assert_eq!(cut_of(&[0; 6]), 0.0);
        assert_eq!(cut_of(&[5, 5, 5, 1, 1, 1]), 0.0, "numbers without rows do not count");
        assert_eq!(cut_of(&[]), 0.0);
        assert_eq!(
            cut_of(&[NO_CLUSTER, 0, 0, 1, 1, NO_CLUSTER]),
            0.0,
            "nor do rows without a label"
        );
    }

    #[test]
    fn crumbs_and_splits_cut() {
        // The crumb is all cut; of the 20 ends in the giant 4 lead to it.
        let crumb = cut_of(&[0, 1, 1, 1, 1, 1]);
        assert!((crumb - f64::midpoint(1.0, 4.0 / 20.0)).abs() < 1e-12, "{crumb}");
        assert_eq!(cut_of(&[0, 1, 2, 3, 4, 5]), 1.0);
    }

    #[test]
    fn the_worse_third_of_as_many_clusters_is_left_out() {
        let seat = |k, cut| Seat { k, cut: Some(cut), ..Seat::default() };
        let mut seats = vec![seat(2, 0.1), seat(2, 0.3), seat(2, 0.2), seat(4, 0.9), seat(4, 0.8)];
        leave_out(&mut seats);
        let out: Vec<bool> = seats.iter().map(|seat| seat.left_out.is_some()).collect();
        assert_eq!(out, [false, true, false, false, false]);
        assert!(seats[1].left_out.as_ref().unwrap().contains("30.0 %"));
        let mut equal = vec![seat(2, 0.1); 6];
        leave_out(&mut equal);
        assert!(equal.iter().all(|seat| seat.left_out.is_none()));
    }
}
