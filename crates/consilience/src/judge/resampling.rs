//! How firm every number of clusters is when half of the members are left out.
//!
//! For each of [`HALVES`] random halves of the members the tree of average link on their
//! co-association is cut at every $k$. That gives as many clusterings for every $k$, and what
//! S. Monti, P. Tamayo, J. Mesirov and T. Golub (*Consensus Clustering: A Resampling-Based Method for
//! Class Discovery.* Machine Learning 52, 2003) say of clusterings of resampled objects is said of
//! them: their consensus index of a pair is the share of halves that put it together, and its
//! distribution over pairs is a step from 0 to 1 if all halves agree.
//!
//! * the *undecided share* (PAC: Y. Şenbabaoğlu, G. Michailidis, J. Z. Li, Scientific Reports 2014) is
//!   the share of pairs with an index above 0.1 and below 0.9;
//! * the *area* $A(k)$ under the distribution grows while further clusters are real;
//!   $\Delta(2) = A(2)$ and $\Delta(k) = A(k) / A(k - 1) - 1$ tell by how much;
//! * the *stability* is the mean adjusted Rand index of the halves' clusterings with that of all
//!   members.
//!
//! Pairs are never kept: halves are members, equal tuples of halves are merged as in any ensemble, and
//! only a histogram over pairs of tuples is filled.

use std::ops::RangeInclusive;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::linkage::{Dense, Join, Link, chain, cut};
use crate::ensemble::{CoAssociation, Contingency, Ensemble, HardMember, MISSING, Profiles};
use crate::error::Result;
use crate::judge::evidence::shared;
use crate::metrics::adjusted_rand;
use crate::rng::Stream;
use crate::run::Run;

/// How many halves of the members are drawn.
pub(super) const HALVES: usize = 20;
/// Pairs with a consensus index between these are undecided.
const UNDECIDED: (f64, f64) = (0.1, 0.9);
/// An increase of the area below this is none.
const NO_INCREASE: f64 = 0.05;
/// Shares and indices closer than this are equal.
const TIE: f64 = 1e-9;

/// What the halves of the members say of one number of clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KCurve {
    /// The number of clusters.
    pub k: usize,
    /// The mean adjusted Rand index of the halves' clusterings with that of all members.
    pub stability: f64,
    /// The share of pairs whose consensus index is above 0.1 and below 0.9 (PAC).
    pub undecided: f64,
    /// The area under the distribution of the consensus index.
    pub area: f64,
    /// By how much the area has grown from one cluster fewer, relative to it; of 2 the area itself.
    pub area_increase: f64,
    /// The distribution of the consensus index: the share of pairs with an index of at most 0, 1/20,
    /// 2/20, ..., 1 (fewer steps where a half of the members labels none of the objects).
    pub distribution: Vec<f64>,
}

/// The curves of every number of clusters in `range`, which starts at 2 or above; none if there are
/// fewer than two members. `joins` is the tree of all members over the same profiles.
///
/// # Cost
///
/// Time $O(m^2 (r + k))$ for $m$ profiles and each half; memory $O(m^2)$ for each that is at work.
pub(super) fn curves(
    profiles: &Profiles,
    joins: &[Join],
    range: RangeInclusive<usize>,
    run: &Run,
) -> Result<Vec<KCurve>> {
    let (m, r) = (profiles.len(), profiles.n_members());
    let ks: Vec<usize> = range.filter(|&k| (2..=m).contains(&k)).collect();
    if r < 2 || ks.is_empty() {
        return Ok(Vec::new());
    }
    let label = |s: usize, h: usize| profiles.label(s, h).map_or(MISSING, |c| c as u32);
    let halves = (0..HALVES).into_par_iter().map(|i| {
        let mut chosen = run.rng(Stream::Inner(i as u64)).distinct(r, r.div_ceil(2));
        chosen.sort_unstable();
        let tuple = |s: usize| chosen.iter().map(|&h| label(s, h)).collect();
        let (labelled, tuples): (Vec<usize>, Vec<Vec<u32>>) = (0..m)
            .map(|s| (s, tuple(s)))
            .filter(|(_, tuple): &(_, Vec<u32>)| tuple.iter().any(|&label| label != MISSING))
            .unzip();
        cuts(profiles.weights(), &labelled, &tuples, &ks, run)
    });
    let mut halves: Vec<Vec<Vec<u32>>> = halves.collect::<Result<_>>()?;
    // A half that labels none of the profiles says nothing.
    halves.retain(|half| !half.is_empty());
    if halves.is_empty() {
        return Ok(Vec::new());
    }
    let of_k = |(i, &k): (usize, &usize)| {
        run.check()?;
        let cuts: Vec<&[u32]> = halves.iter().map(|half| half[i].as_slice()).collect();
        curve(profiles.weights(), &cut(m, joins, k), &cuts, k, run)
    };
    let mut curves: Vec<KCurve> = ks.par_iter().enumerate().map(of_k).collect::<Result<_>>()?;
    for i in 0..curves.len() {
        let before = if i == 0 { 0.0 } else { curves[i - 1].area };
        let area = curves[i].area;
        curves[i].area_increase = if before > 0.0 { area / before - 1.0 } else { area };
    }
    Ok(curves)
}

/// The clusters of all profiles for every number in `ks`, by the labels that some members give the
/// profiles in `labelled`; nothing if there are none. The others have no cluster: each would be one of its own in the
/// tree.
fn cuts(
    weights: &[f64],
    labelled: &[usize],
    tuples: &[Vec<u32>],
    ks: &[usize],
    run: &Run,
) -> Result<Vec<Vec<u32>>> {
    if labelled.is_empty() {
        return Ok(Vec::new());
    }
    let row = |s: usize, out: &mut [f64]| {
        out.iter_mut().zip(tuples).for_each(|(out, other)| *out = shared(&tuples[s], other));
    };
    let of_labelled: Vec<f64> = labelled.iter().map(|&s| weights[s]).collect();
    let joins = chain(Dense::new(&of_labelled, Link::Average, 1.0, row), run)?;
    let of_k = |&k: &usize| {
        let mut labels = vec![MISSING; weights.len()];
        let found = cut(labelled.len(), &joins, k.min(labelled.len()));
        labelled.iter().zip(found).for_each(|(&s, label)| labels[s] = label);
        labels
    };
    Ok(ks.iter().map(of_k).collect())
}

/// The curve of one number of clusters, but for the increase of its area.
fn curve(weights: &[f64], all: &[u32], halves: &[&[u32]], k: usize, run: &Run) -> Result<KCurve> {
    let mut stability = 0.0;
    for half in halves {
        stability += adjusted_rand(&Contingency::of_labels(all, half, Some(weights))?);
    }
    let member = |(i, half): (usize, &&[u32])| {
        let labels = half.iter().map(|&label| (label != MISSING).then_some(i64::from(label)));
        HardMember::from_integers(i.to_string(), labels).into()
    };
    let members = halves.iter().enumerate().map(member).collect();
    let ensemble = Ensemble::new(members)?.with_weights(weights.to_vec())?;
    let distribution = histogram(&Profiles::new(&ensemble, run)?);
    let steps = halves.len();
    Ok(KCurve {
        k,
        stability: stability / steps as f64,
        undecided: undecided_share(&distribution),
        area: distribution[..steps].iter().sum::<f64>() / steps as f64,
        area_increase: 0.0,
        distribution,
    })
}

/// The share of pairs that are undecided by their distribution over equal steps of the index.
pub(super) fn undecided_share(distribution: &[f64]) -> f64 {
    let steps = distribution.len() - 1;
    let index = |i: usize| i as f64 / steps as f64;
    let share = |i: usize| distribution[i] - if i == 0 { 0.0 } else { distribution[i - 1] };
    let undecided = |i: &usize| index(*i) > UNDECIDED.0 + TIE && index(*i) < UNDECIDED.1 - TIE;
    (0..=steps).filter(undecided).map(share).sum()
}

/// The share of pairs of different objects that at most 0, 1, ... of the members put together; of
/// memberships and missing labels that part of the members which the co-association is.
pub(super) fn histogram(profiles: &Profiles) -> Vec<f64> {
    let (u, r, weights) = (profiles.len(), profiles.n_members(), profiles.weights());
    let co = CoAssociation::new(profiles);
    let mut counts = vec![0.0; r + 1];
    let mut row = vec![0.0; u];
    for s in 0..u {
        co.row_into(s, 0..s, &mut row[..s]);
        for (t, index) in row[..s].iter().enumerate() {
            // A hair's breadth keeps fractions that are a step at that step.
            counts[((index * r as f64 - TIE).ceil() as usize).min(r)] += weights[s] * weights[t];
        }
        // Copies of one object are pairs too; with weights below 1 there are none.
        counts[r] += 0.5 * weights[s] * (weights[s] - 1.0).max(0.0);
    }
    let all: f64 = counts.iter().sum();
    if all == 0.0 {
        return vec![1.0; r + 1];
    }
    let mut sum = 0.0;
    counts
        .iter()
        .map(|count| {
            sum += count;
            (sum / all).min(1.0)
        })
        .collect()
}

/// The number of clusters with the best value, the smaller of equals.
fn best(curves: &[KCurve], value: impl Fn(&KCurve) -> f64) -> Option<usize> {
    let better = |a: &&KCurve, b: &&KCurve| value(b) > value(a) + TIE;
    curves.iter().reduce(|a, b| if better(&a, &b) { b } else { a }).map(|curve| curve.k)
}

/// The number of clusters with the smallest undecided share.
pub(super) fn least_undecided(curves: &[KCurve]) -> Option<usize> {
    best(curves, |curve| -curve.undecided)
}

/// The number of clusters of greatest stability.
pub(super) fn most_stable(curves: &[KCurve]) -> Option<usize> {
    best(curves, |curve| curve.stability)
}

/// The last number of clusters before the area stops to grow.
pub(super) fn end_of_growth(curves: &[KCurve]) -> Option<usize> {
    let grows = curves.iter().take_while(|curve| curve.area_increase >= NO_INCREASE);
    grows.last().or(curves.first()).map(|curve| curve.k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, profiles};

    fn groups(cuts: &[&[u32]], k: usize) -> KCurve {
        curve(&vec![1.0; cuts[0].len()], cuts[0], cuts, k, &Run::new(0)).unwrap()
    }

    #[test]
    fn halves_that_agree_leave_no_pair_undecided() {
        let found = groups(&[&[0, 0, 0, 1, 1][..]; 20], 2);
        assert_eq!((found.stability, found.undecided), (1.0, 0.0));
        // Six of ten pairs are apart: the distribution stands at 0.6 until it steps to 1.
        assert!((found.area - 0.6).abs() < 1e-12, "{}", found.area);
        assert_eq!(found.distribution[20], 1.0);
    }

    #[test]
    fn halves_that_differ_leave_pairs_undecided() {
        let found = groups(&[&[0, 0, 1, 1][..], &[0, 1, 0, 1], &[0, 0, 1, 1], &[0, 1, 0, 1]], 2);
        // Only the pairs of opposite corners are decided: never together.
        assert!((found.undecided - 4.0 / 6.0).abs() < 1e-12);
        assert!(found.stability < 1.0);
    }

    /// With three members to a half some objects have no label in it; they are no clusters.
    #[test]
    fn missing_labels_do_not_make_the_right_number_unstable() {
        let mut rng = crate::Rng::new(1, Stream::Data);
        let mut member = |_| {
            let mut label = |i: usize| match rng.below(10) {
                0..3 => None,
                3 => Some(rng.below(6) as i64),
                _ => Some(i as i64 % 6),
            };
            HardMember::from_integers("m", (0..300).map(&mut label).collect::<Vec<_>>()).into()
        };
        let all = profiles(&Ensemble::new((0..6).map(&mut member).collect()).unwrap());
        let found = crate::judge::KCriteria::new(&all, None, &Run::new(0)).unwrap();
        let six = found.curves.iter().find(|curve| curve.k == 6).unwrap();
        assert!(six.stability > 0.7, "{}", six.stability);
        assert!(found.shares.iter().all(|&share| share < 1.0 + 1e-9), "{:?}", found.shares);
    }

    /// Halves are of one member; of 501 profiles 500 are looked at, and the second member labels one of all.
    #[test]
    fn halves_without_labels_say_nothing() {
        let run = Run::new(0);
        assert_eq!(cuts(&[1.0; 3], &[], &[], &[2], &run).unwrap(), Vec::<Vec<u32>>::new());
        for alone in [0, 137, 500] {
            let member = |own: bool| {
                let label = |i: i64| ((i == alone) != own).then_some(i);
                HardMember::from_integers("m", (0..501).map(label)).into()
            };
            let all = profiles(&Ensemble::new(vec![member(true), member(false)]).unwrap());
            crate::judge::KCriteria::new(&all, Some(&(2..=4)), &run).unwrap();
        }
    }

    #[test]
    fn growth_ends_where_the_area_no_longer_increases() {
        let curve = |k: usize, area_increase: f64| KCurve {
            k,
            stability: 0.0,
            undecided: 0.0,
            area: 0.0,
            area_increase,
            distribution: Vec::new(),
        };
        let found = [curve(2, 0.5), curve(3, 0.3), curve(4, 0.01), curve(5, 0.2)];
        assert_eq!(end_of_growth(&found), Some(3));
        assert_eq!(end_of_growth(&[]), None);
    }

    proptest! {
        /// Histograms over merged tuples are those over pairs of objects.
        #[test]
        fn histograms_are_those_of_objects(ensemble in ensembles(Kinds::PLAIN, 10, 4)) {
            let all = profiles(&ensemble);
            let r = all.n_members();
            let mut counts = vec![0.0; r + 1];
            let n = all.n_objects();
            for i in 0..n {
                for j in 0..i {
                    let of = |i: usize, h: usize| all.label(all.map()[i] as usize, h);
                    counts[(0..r).filter(|&h| of(i, h) == of(j, h)).count()] += 1.0;
                }
            }
            let pairs = (n * (n - 1) / 2) as f64;
            let mut sum = 0.0;
            for (found, count) in histogram(&all).iter().zip(&counts) {
                sum += count;
                prop_assert!(pairs == 0.0 || (found - sum / pairs).abs() < 1e-12);
            }
        }
    }
}
