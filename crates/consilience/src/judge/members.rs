//! How the members agree with each other and with the consensus: who dissents, and whether they
//! fall into camps.

use rayon::prelude::*;

use crate::base::linkage::{Dense, Link, chain, cut};
use crate::ensemble::sample;
use crate::ensemble::{Contingency, Profiles};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::metrics::{Normalisation, element_similarity, nmi};
use crate::run::Run;

/// Comparisons of two labels that are made at most; beyond, profiles are sampled.
const COMPARISONS: usize = 500_000_000;
/// A dissenter lies this many deviations below the others, as estimated by the median absolute
/// deviation from the median ...
const DEVIATIONS: f64 = 3.0;
/// ... and at least this far below, since members that agree almost wholly deviate by next to nothing.
const BELOW: f64 = 0.1;
/// Camps agree within themselves by at least this much more than with each other.
const APART: f64 = 0.2;
/// The least mean silhouette of members in camps; below 0.5 a structure is commonly called weak.
const SILHOUETTE: f64 = 0.5;
/// The most camps that are looked for.
const MOST_CAMPS: usize = 4;

/// How the members of an ensemble agree with each other and with a consensus.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberAgreement {
    /// NMI of every two members; NaN where they label no object in common.
    pub pairs: Matrix,
    /// NMI of every member with the consensus.
    pub consensus: Vec<f64>,
    /// An order of the members that puts similar ones side by side.
    pub order: Vec<usize>,
    /// Members that agree with the consensus much less than the others, by rising agreement.
    pub dissenters: Vec<usize>,
    /// The camps that the members fall into, the largest first; one if they do not.
    pub camps: Vec<Camp>,
    /// The mean element-centric similarity of two members; 1 of a member alone.
    pub similarity: f64,
    /// How many profiles the pairs were compared on, if not on all.
    pub sampled: Option<usize>,
}

/// Members that agree with each other more than with the rest.
///
/// Agreement here is the mutual information over the *smaller* entropy: a coarse clustering that
/// others only refine is of their camp. Otherwise members of few clusters would always make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Camp {
    /// Who, in the members' order.
    pub members: Vec<usize>,
    /// The mean agreement of its pairs of members; 1 for a camp of one.
    pub agreement: f64,
}

impl MemberAgreement {
    /// The agreement of the members of `profiles` with each other and with the consensus `labels`.
    ///
    /// # Cost
    ///
    /// Time $O(u r^2)$ up to a fixed number of comparisons; beyond, the pairs of members are
    /// compared on a sample of the profiles. Agreement with the consensus always counts all.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn new(profiles: &Profiles, labels: &[u32], run: &Run) -> Result<Self> {
        let r = profiles.n_members();
        let some = sample(profiles, (2 * COMPARISONS / (r * r).max(1)).max(1000));
        let pairs: Vec<(usize, usize)> =
            (0..r).flat_map(|g| (g + 1..r).map(move |h| (g, h))).collect();
        let agreement = |table: &Contingency, by: Normalisation| {
            if table.is_empty() { f64::NAN } else { nmi(table, by) }
        };
        let of_pair = |&(g, h): &(usize, usize)| {
            run.check()?;
            let table = Contingency::of_members(&some, g, h);
            let [geometric, at_best] =
                [Normalisation::Geometric, Normalisation::Min].map(|by| agreement(&table, by));
            Ok([geometric, at_best, element_similarity(&table)])
        };
        let of_member = |h: usize| {
            agreement(&Contingency::of_consensus(profiles, labels, h), Normalisation::Geometric)
        };
        let (values, consensus) = run.install(|| {
            let values = pairs.par_iter().map(of_pair).collect::<Result<Vec<[f64; 3]>>>();
            (values, (0..r).into_par_iter().map(of_member).collect::<Vec<f64>>())
        });
        let mut matrix = Matrix::from_fn(r, r, |g, h| if g == h { 1.0 } else { f64::NAN });
        let mut compatible = matrix.clone();
        let values = values?;
        let alike: f64 = values.iter().map(|[.., alike]| alike).sum();
        let similarity = if values.is_empty() { 1.0 } else { alike / values.len() as f64 };
        for ((g, h), [value, at_best, _]) in pairs.into_iter().zip(values) {
            matrix[(g, h)] = value;
            matrix[(h, g)] = value;
            compatible[(g, h)] = at_best;
            compatible[(h, g)] = at_best;
        }
        let parted = Tree::new(&compatible, run)?;
        let camps = parted.camps(&compatible);
        // Camps stand side by side; without camps, members of like number of clusters do.
        let tree = if camps.len() > 1 { parted } else { Tree::new(&matrix, run)? };
        Ok(MemberAgreement {
            dissenters: dissenters(&consensus),
            order: tree.order(),
            camps,
            pairs: matrix,
            consensus,
            similarity,
            sampled: (some.len() < profiles.len()).then_some(some.len()),
        })
    }

    /// The inconsistency of the members (scICE): 1 if all are equal, the larger the less they agree.
    pub fn inconsistency(&self) -> f64 {
        let r = self.pairs.nrows() as f64;
        r / (1.0 + (r - 1.0) * self.similarity)
    }
}

/// The median; NaN of no numbers.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Members whose agreement lies far below the others'. Of fewer than four none is outstanding.
fn dissenters(agreement: &[f64]) -> Vec<usize> {
    let known: Vec<f64> = agreement.iter().copied().filter(|x| !x.is_nan()).collect();
    if known.len() < 4 {
        return Vec::new();
    }
    let middle = median(&known);
    let spread: Vec<f64> = known.iter().map(|x| (x - middle).abs()).collect();
    // 1.4826 makes it the standard deviation of normal numbers.
    let limit = middle - (DEVIATIONS * 1.4826 * median(&spread)).max(BELOW);
    let mut far: Vec<usize> = (0..agreement.len()).filter(|&h| agreement[h] < limit).collect();
    far.sort_by(|&g, &h| agreement[g].total_cmp(&agreement[h]).then(g.cmp(&h)));
    far
}

/// The members merged by average link.
struct Tree {
    r: usize,
    joins: Vec<crate::base::linkage::Join>,
}

impl Tree {
    fn new(pairs: &Matrix, run: &Run) -> Result<Self> {
        let r = pairs.nrows();
        let row = |g: usize, out: &mut [f64]| {
            let known = pairs.row(g).iter().map(|x| if x.is_nan() { 0.0 } else { *x });
            out.iter_mut().zip(known).for_each(|(out, x)| *out = x);
        };
        let joins = if r < 2 {
            Vec::new()
        } else {
            chain(Dense::new(&vec![1.0; r], Link::Average, 1.0, row), run)?
        };
        Ok(Tree { r, joins })
    }

    /// The leaves from left to right: of two groups that merge, the one with the earlier first
    /// member stands left.
    fn order(&self) -> Vec<usize> {
        let mut groups: Vec<Vec<usize>> = (0..self.r).map(|h| vec![h]).collect();
        for join in &self.joins {
            let right = std::mem::take(&mut groups[join.b as usize]);
            groups[join.a as usize].extend(right);
        }
        groups.into_iter().next().unwrap_or_default()
    }

    /// The camps: the cut of the tree with the largest mean silhouette, if the camps it makes stand
    /// apart and all but single members are in them.
    fn camps(&self, pairs: &Matrix) -> Vec<Camp> {
        let all = || vec![camp((0..self.r).collect(), pairs)];
        if self.r < 4 {
            return all();
        }
        let mut best = (SILHOUETTE, None);
        for k in 2..=MOST_CAMPS.min(self.r / 2) {
            let groups = members_of(&cut(self.r, &self.joins, k), k);
            // A single member is a dissenter, not a camp.
            if groups.iter().any(|group| group.len() < 2) {
                continue;
            }
            let (silhouette, apart) = separation(&groups, pairs);
            if silhouette > best.0 && apart >= APART {
                best = (silhouette, Some(groups));
            }
        }
        let Some(groups) = best.1 else { return all() };
        let mut camps: Vec<Camp> = groups.into_iter().map(|group| camp(group, pairs)).collect();
        camps.sort_by_key(|camp| std::cmp::Reverse(camp.members.len()));
        camps
    }
}

fn members_of(group_of: &[u32], k: usize) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); k];
    group_of.iter().enumerate().for_each(|(h, &group)| groups[group as usize].push(h));
    groups
}

fn camp(members: Vec<usize>, pairs: &Matrix) -> Camp {
    let (mut sum, mut n) = (0.0, 0);
    for (i, &g) in members.iter().enumerate() {
        for &h in &members[i + 1..] {
            if !pairs[(g, h)].is_nan() {
                sum += pairs[(g, h)];
                n += 1;
            }
        }
    }
    Camp { members, agreement: if n == 0 { 1.0 } else { sum / f64::from(n) } }
}

/// The mean silhouette of the members in these groups, at distances 1 − NMI, and by how much they
/// agree more within their group than with the nearest other.
fn separation(groups: &[Vec<usize>], pairs: &Matrix) -> (f64, f64) {
    let mean = |g: usize, group: &[usize]| {
        let others = group.iter().filter(|&&h| h != g && !pairs[(g, h)].is_nan());
        let (sum, n) = others.fold((0.0, 0), |(sum, n), &h| (sum + 1.0 - pairs[(g, h)], n + 1));
        if n == 0 { 1.0 } else { sum / f64::from(n) }
    };
    let (mut silhouettes, mut apart, mut n) = (0.0, 0.0, 0);
    for (i, group) in groups.iter().enumerate() {
        for &g in group {
            let within = mean(g, group);
            let others = groups.iter().enumerate().filter(|(j, _)| *j != i);
            let nearest = others.map(|(_, other)| mean(g, other)).fold(f64::INFINITY, f64::min);
            let scale = within.max(nearest);
            silhouettes += if scale > 0.0 { (nearest - within) / scale } else { 0.0 };
            apart += nearest - within;
            n += 1;
        }
    }
    (silhouettes / f64::from(n), apart / f64::from(n))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metrics::ElementCentric;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    const HALVES: [i64; 8] = [0, 0, 0, 0, 1, 1, 1, 1];
    const PARITY: [i64; 8] = [0, 1, 0, 1, 0, 1, 0, 1];

    fn agreement(members: &[[i64; 8]]) -> MemberAgreement {
        let profiles = profiles(&hard_ensemble(members));
        // The consensus is the first member.
        let labels: Vec<u32> =
            (0..profiles.len()).map(|s| profiles.label(s, 0).unwrap() as u32).collect();
        MemberAgreement::new(&profiles, &labels, &Run::new(0)).unwrap()
    }

    #[test]
    fn one_against_many_dissents() {
        let found = agreement(&[HALVES, HALVES, PARITY, HALVES, HALVES]);
        assert_eq!(found.dissenters, [2]);
        assert_eq!(found.camps.len(), 1);
        assert_eq!(found.order, [0, 1, 3, 4, 2]);
        assert_eq!(found.consensus, [1.0, 1.0, 0.0, 1.0, 1.0]);
        assert_eq!(found.sampled, None);
    }

    #[test]
    fn two_views_are_two_camps() {
        let near = [0, 0, 0, 0, 1, 1, 1, 0];
        let found = agreement(&[HALVES, PARITY, HALVES, PARITY, near]);
        let camps: Vec<_> = found.camps.iter().map(|camp| camp.members.clone()).collect();
        assert_eq!(camps, [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(found.camps[1].agreement, 1.0);
        assert!(found.camps[0].agreement > 0.6 && found.camps[0].agreement < 1.0);
    }

    #[test]
    fn like_minded_members_are_one_camp_without_dissent() {
        // Each moves another object to the other half.
        let near = |moved: usize| -> [i64; 8] {
            std::array::from_fn(|i| if i == moved { 1 - HALVES[i] } else { HALVES[i] })
        };
        let found = agreement(&[0, 1, 2, 5, 6, 7].map(near));
        assert_eq!((found.camps.len(), found.dissenters.len()), (1, 0));
        assert_eq!(agreement(&[HALVES, PARITY]).camps.len(), 1);
    }

    #[test]
    fn a_coarser_view_is_no_camp() {
        let quarters = [0, 0, 1, 1, 2, 2, 3, 3];
        let found = agreement(&[HALVES, HALVES, HALVES, quarters, quarters, quarters]);
        assert_eq!(found.camps.len(), 1);
        assert!(found.pairs[(0, 3)] < 0.8);
    }

    proptest! {
        #[test]
        fn every_member_is_in_one_camp_and_once_in_the_order(
            ensemble in ensembles(Kinds::ALL, 12, 7)
        ) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % 2).collect();
            let found = MemberAgreement::new(&profiles, &labels, &Run::new(0)).unwrap();
            let all: Vec<usize> = (0..profiles.n_members()).collect();
            let mut in_camps: Vec<usize> =
                found.camps.iter().flat_map(|camp| camp.members.clone()).collect();
            in_camps.sort_unstable();
            prop_assert_eq!(&in_camps, &all);
            let alike = ElementCentric::of(&profiles);
            let inconsistent = found.inconsistency() - alike.inconsistency();
            prop_assert!(!profiles.is_hard() || inconsistent.abs() < 1e-9);
            let mut order = found.order.clone();
            order.sort_unstable();
            prop_assert_eq!(&order, &all);
        }
    }
}
