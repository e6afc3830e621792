//! Which members to leave out, without knowing the truth: those that cut through neighbourhoods.
//!
//! A cluster $c$ is cut off by $1 - w_c / v_c$: of the pairs of a row and one of its nearest rows that
//! touch the cluster ($v_c$, both ends counted), those that do not stay within it. The mean over the
//! clusters of a member is its normalised cut. It is near 0 where clusters follow the gaps of the data,
//! whatever their shape, and large for a member that splits what belongs together, and for one giant
//! cluster with crumbs, since a crumb's nearest rows lie in the giant.
//!
//! Cuts grow with the number of clusters, so members are compared with those of the same number only. Two
//! rules, both fixed on the tuning half of `make accuracy`:
//!
//! * Where the data have gaps, a member that follows them is right and the others are not, however many
//!   they are. Whether it does is told by its *leak*, the cut of the [`CLOSE`] nearest rows, each counted
//!   by its affinity at the local scale, so that a sparse ring beside a dense one counts as a ring. If the
//!   least leak is at most [`TIGHT`], those that leak more than [twice](allowed) as much are left out.
//! * Where there are no gaps, the worse third by the cut is left out.

use serde::{Deserialize, Serialize};

use crate::base::Neighbours;
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
    /// The same of the closest rows, the closer counting more.
    pub leak: Option<f64>,
    /// Why it was left out, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Of members with as many clusters, one in this many is left out where there are no gaps.
const ONE_IN: usize = 3;

/// How many of the nearest rows the leak is of.
const CLOSE: usize = 5;

/// The leak up to which a member is taken to follow the gaps of the data.
const TIGHT: f64 = 0.02;

/// How much a member may leak where the least leak is `least`.
fn allowed(least: f64) -> f64 {
    2.0 * least + 0.002
}

/// The cut and the leak of a member with these labels.
pub(super) fn cut_and_leak(labels: &[u32], neighbours: &Neighbours) -> (f64, f64) {
    let all = cut(labels, |i| neighbours.of(i).0.iter().map(|&j| (j, 1)));
    // Whole numbers, so that the order of the rows does not show in the last digit.
    let whole = |affinity: f64| (affinity * f64::from(1 << 24)).round() as u64;
    let affine = |i| neighbours.affinities(i).take(CLOSE).map(|(j, a)| (j, whole(a)));
    (all, cut(labels, affine))
}

/// The normalised cut of `labels`, given the nearest rows of every row and what each counts. Rows without
/// a label do not count.
fn cut<I: Iterator<Item = (u32, u64)>>(labels: &[u32], neighbours: impl Fn(usize) -> I) -> f64 {
    let known = labels.iter().filter(|label| **label != NO_CLUSTER);
    let k = known.max().map_or(0, |most| *most as usize + 1);
    let (mut within, mut touching) = (vec![0_u64; k], vec![0_u64; k]);
    for (i, &own) in labels.iter().enumerate() {
        for (other, counts) in neighbours(i) {
            let other = labels[other as usize];
            if own == NO_CLUSTER || other == NO_CLUSTER {
                continue;
            }
            touching[own as usize] += counts;
            touching[other as usize] += counts;
            within[own as usize] += if own == other { 2 * counts } else { 0 };
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

/// Says of every member that is left out why. Equals stay together, so that the order of members does not
/// show.
pub(super) fn leave_out(seats: &mut [Seat]) {
    let mut numbers: Vec<usize> = seats.iter().map(|seat| seat.k).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for k in numbers {
        let mut alike: Vec<&mut Seat> = seats.iter_mut().filter(|seat| seat.k == k).collect();
        let rising = |of: fn(&Seat) -> Option<f64>| {
            let mut values: Vec<f64> = alike.iter().filter_map(|seat| of(seat)).collect();
            values.sort_unstable_by(f64::total_cmp);
            values
        };
        let (cuts, leaks) = (rising(|seat| seat.cut), rising(|seat| seat.leak));
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        if let Some(&least) = leaks.first().filter(|least| **least <= TIGHT) {
            for seat in &mut alike {
                let Some(leak) = seat.leak.filter(|leak| *leak > allowed(least)) else { continue };
                seat.left_out = Some(format!(
                    "parts rows that lie close: {} of what is close, another clustering in {k} only {}",
                    percent(leak),
                    percent(least)
                ));
            }
        } else if !cuts.is_empty() {
            let most = cuts[cuts.len() - 1 - cuts.len() / ONE_IN];
            for seat in &mut alike {
                let Some(cut) = seat.cut.filter(|cut| *cut > most) else { continue };
                seat.left_out = Some(format!(
                    "cuts off {} of the neighbourhoods of its clusters, the others of {k} clusters at most {}",
                    percent(cut),
                    percent(most)
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of three rows, each row with the other two of its group as neighbours.
    const NEAR: [[u32; 2]; 6] = [[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]];

    fn cut_of(labels: &[u32]) -> f64 {
        cut(labels, |i| NEAR[i].iter().map(|&j| (j, 1)))
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
    fn without_gaps_the_worse_third_of_as_many_clusters_is_left_out() {
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

    #[test]
    fn who_follows_the_gaps_outvotes_the_others() {
        let seat = |leak| Seat { k: 3, cut: Some(0.1), leak: Some(leak), ..Seat::default() };
        let mut seats: Vec<Seat> = [0.011, 0.001, 0.003, 0.02, 0.005].map(seat).into();
        leave_out(&mut seats);
        let out: Vec<bool> = seats.iter().map(|seat| seat.left_out.is_some()).collect();
        assert_eq!(out, [true, false, false, true, true]);
        let mut loose: Vec<Seat> = [0.021, 0.2, 0.1].map(seat).into();
        leave_out(&mut loose);
        assert!(loose.iter().all(|seat| seat.left_out.is_none()), "equal cuts, and no gaps");
    }

    /// A dense row of points beside a sparse one: the ten nearest of a sparse point are dense ones, the
    /// closest at its own scale are not.
    #[test]
    fn a_sparse_cluster_beside_a_dense_one_does_not_leak() {
        let dense = (0..200).map(|i| [f64::from(i) * 0.01, 0.0]);
        let sparse = (0..20).map(|i| [f64::from(i) * 0.1, 0.45]);
        let rows: Vec<f64> = dense.chain(sparse).flatten().collect();
        let data = crate::linalg::Matrix::from_vec(220, 2, rows);
        let neighbours = Neighbours::new(&data, 10, &crate::run::Run::new(0)).unwrap();
        let truth: Vec<u32> = (0..220).map(|i| u32::from(i >= 200)).collect();
        let halves: Vec<u32> = (0..220).map(|i| u32::from(i % 200 * 2 >= 200)).collect();
        let (right, wrong) =
            (cut_and_leak(&truth, &neighbours), cut_and_leak(&halves, &neighbours));
        assert!(right.1 < wrong.1, "{right:?} {wrong:?}");
        assert!(right.1 < TIGHT, "{right:?}");
    }
}
