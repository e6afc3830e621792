//! Which levels are recommended.
//!
//! A level is *stable* if its seeds agree at least half of the way from chance to full agreement, and that with
//! certainty: the lower end of the interval counts. Where there is no structure, clusterings of different seeds stay below
//! that: Leiden on neighbours in a Gaussian cloud is at .07 to .40 at every resolution, on cells at .68 to 1.00
//! (`docs/workflows.md`). A level where all members have one cluster says nothing.
//!
//! Recommended are the *peaks*: stable levels of higher stability beyond chance than the stable ones beside them, the three highest
//! if there are more. Neighbours of equal stability are one peak, told by the one with most clusters. First comes the one
//! that tells most: of the peaks that are within 0.02 of the highest, or whose interval reaches it, the one with most clusters.

use crate::judge::Interval;

/// How far on the way from chance to full agreement the seeds of a stable level are.
pub(super) const STABLE: f64 = 0.5;
/// Levels that are recommended at most.
pub(super) const MOST: usize = 3;
/// Peaks that are lower by less are as good.
const NEARLY: f64 = 0.02;
/// Stabilities closer than this are equal.
const TIE: f64 = 1e-9;

/// What is known of a level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The stability beyond chance, unless the level says nothing.
    pub(super) beyond: Option<Interval>,
    /// The median number of clusters.
    pub(super) clusters: f64,
}

impl Known {
    /// Whether its seeds agree, and that with certainty.
    pub(super) fn is_stable(&self) -> bool {
        self.beyond.is_some_and(|beyond| beyond.low >= STABLE)
    }

    /// What is not stable hides nothing.
    fn height(&self) -> f64 {
        let stable = self.beyond.filter(|_| self.is_stable());
        stable.map_or(f64::NEG_INFINITY, |beyond| beyond.value)
    }
}

/// The places of the recommended levels, the first choice first.
pub(super) fn recommended(levels: &[Known]) -> Vec<usize> {
    let height = |at: usize| levels[at].height();
    let mut peaks = Vec::new();
    let mut start = 0;
    while start < levels.len() {
        let mut end = start + 1;
        while end < levels.len() && (height(end) - height(end - 1)).abs() < TIE {
            end += 1;
        }
        let lower = |beside: Option<usize>| beside.is_none_or(|at| height(at) < height(start));
        if lower(start.checked_sub(1)) && lower((end < levels.len()).then_some(end)) {
            let stable = (start..end).filter(|&at| levels[at].is_stable());
            // Of equals the first.
            peaks.extend(stable.reduce(|best, at| {
                if levels[at].clusters > levels[best].clusters { at } else { best }
            }));
        }
        start = end;
    }
    peaks.sort_by(|&a, &b| height(b).total_cmp(&height(a)));
    peaks.truncate(MOST);
    let Some(highest) = peaks.first().map(|&at| height(at)) else { return peaks };
    let reaches = |at: usize| {
        let beyond = levels[at].beyond;
        beyond.is_some_and(|b| b.high >= highest - TIE || b.value > highest - NEARLY)
    };
    let candidates = (0..peaks.len()).filter(|&i| reaches(peaks[i]));
    let first = candidates.reduce(|best, i| {
        if levels[peaks[i]].clusters > levels[peaks[best]].clusters { i } else { best }
    });
    if let Some(first) = first {
        peaks[..=first].rotate_right(1);
    }
    peaks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(levels: &[(f64, f64, f64)]) -> Vec<usize> {
        let known = |&(value, half, clusters): &(f64, f64, f64)| Known {
            beyond: Some(Interval { value, low: value - half, high: (value + half).min(1.0) }),
            clusters,
        };
        recommended(&levels.iter().map(known).collect::<Vec<_>>())
    }

    #[test]
    fn peaks_are_recommended_and_the_finest_of_the_best_comes_first() {
        let levels = [
            (1.0, 0.0, 5.0),
            (1.0, 0.0, 7.0),
            (1.0, 0.0, 7.0),
            (0.9, 0.02, 7.0),
            (0.985, 0.01, 9.0),
            (0.95, 0.02, 11.0),
            (0.97, 0.02, 12.0),
            (0.86, 0.02, 15.0),
        ];
        // 0.97 is too far from 1; 0.985 is as good, and has more clusters.
        assert_eq!(of(&levels), [4, 1, 6]);
        assert_eq!(of(&levels[..4]), [1]);
    }

    #[test]
    fn what_is_not_stable_is_not_recommended() {
        assert_eq!(of(&[(0.2, 0.1, 4.0), (0.4, 0.1, 9.0)]), [0; 0]);
        assert_eq!(of(&[(0.55, 0.1, 4.0)]), [0; 0], "the lower end counts");
        assert_eq!(of(&[]), [0; 0]);
    }

    #[test]
    fn what_is_not_stable_hides_no_neighbour() {
        assert_eq!(of(&[(0.9, 0.45, 4.0), (0.85, 0.05, 6.0)]), [1]);
        assert_eq!(of(&[(0.85, 0.05, 6.0), (0.9, 0.45, 4.0), (0.75, 0.05, 9.0)]), [0, 2]);
    }

    #[test]
    fn a_level_of_one_cluster_is_no_peak_and_hides_none() {
        let trivial = Known { beyond: None, clusters: 1.0 };
        let beyond = Some(Interval { value: 0.9, low: 0.8, high: 0.95 });
        let fine = Known { beyond, clusters: 4.0 };
        assert_eq!(recommended(&[trivial, fine, trivial]), [1]);
        assert_eq!(recommended(&[trivial]), [0; 0]);
    }

    #[test]
    fn three_peaks_are_enough() {
        let (peak, valley) = (|x| (x, 0.0, 3.0), (0.6, 0.0, 3.0));
        let levels = [peak(0.8), valley, peak(0.9), valley, peak(0.7), valley, peak(0.85)];
        assert_eq!(of(&levels), [2, 6, 0]);
    }
}
