//! The consensus matrix, ordered and binned: what a heatmap of any number of objects shows.
//!
//! Profiles are ordered by cluster and, within one, by falling confidence, and cut into bins. The
//! co-association of two bins is the mean over their pairs of objects. It needs no pair: with
//! $g_a = \sum_{s \in a} w_s h_s$ the sum of the incidence rows of bin $a$, the pairs of bins $a$ and
//! $b$ are put together by $g_a^T g_b$ of the $\sum_h m_{ah} m_{bh}$ judgements that members make on
//! them, $m_{ah}$ being the weight of the objects of $a$ that member $h$ labels. Where all members
//! label all objects this is exactly the mean of the co-associations; where labels are missing, it
//! counts every judgement once. Rows of soft members are scaled to unit co-association with
//! themselves, as [`CoAssociation`](crate::ensemble::CoAssociation) does.

use rayon::prelude::*;

use crate::consensus::NO_CLUSTER;
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// The ordered consensus matrix in bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// The bins, in the order of rows and columns.
    pub bins: Vec<Bin>,
    /// The mean co-association of the objects of two bins.
    pub values: Matrix,
    /// The bin of every profile.
    pub bin_of: Vec<u32>,
}

/// One bin of the ordered consensus matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// The cluster of its objects, or [`NO_CLUSTER`].
    pub cluster: u32,
    /// Their weight.
    pub weight: f64,
    /// Their mean confidence.
    pub confidence: f64,
}

/// Profiles by cluster (unassigned ones last), then by falling confidence, then by number.
pub fn consensus_order(labels: &[u32], confidence: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.par_sort_by(|&s, &t| {
        let (s, t) = (s as usize, t as usize);
        let by_confidence = || confidence[t].total_cmp(&confidence[s]);
        labels[s].cmp(&labels[t]).then_with(by_confidence).then(s.cmp(&t))
    });
    order
}

impl Blocks {
    /// The consensus matrix of `profiles` in about `size` bins: each cluster has at least one, and
    /// bins of one cluster have about equal weights, but for profiles heavier than a bin.
    ///
    /// # Cost
    ///
    /// Time $O(u r)$ and, for every cluster of a member, the square of the number of bins it
    /// reaches; memory $O(u)$ and the bins each cluster reaches.
    ///
    /// # Errors
    ///
    /// If memory does not suffice or the run is cancelled.
    pub fn new(
        profiles: &Profiles,
        labels: &[u32],
        confidence: &[f64],
        size: usize,
        run: &Run,
    ) -> Result<Self> {
        let order = consensus_order(labels, confidence);
        let target = profiles.total_weight() / size.max(1) as f64;
        let mut bin_of = vec![0; profiles.len()];
        let mut bins: Vec<Bin> = Vec::new();
        for &s in &order {
            let (s, w) = (s as usize, profiles.weights()[s as usize]);
            // Half of the profile must still fit, so that bins are right on average.
            let fits = |bin: &&mut Bin| bin.cluster == labels[s] && bin.weight + 0.5 * w <= target;
            match bins.last_mut().filter(fits) {
                Some(bin) => {
                    bin.confidence += w * confidence[s];
                    bin.weight += w;
                }
                None => {
                    bins.push(Bin { cluster: labels[s], weight: w, confidence: w * confidence[s] });
                }
            }
            bin_of[s] = bins.len() as u32 - 1;
        }
        bins.iter_mut().for_each(|bin| bin.confidence /= bin.weight);
        run.check()?;
        let values = between(profiles, &order, &bin_of, bins.len(), run)?;
        Ok(Blocks { bins, values, bin_of })
    }
}

/// The mean co-association within and between the clusters of a consensus, k × k.
///
/// # Errors
///
/// As for [`Blocks::new`].
pub(super) fn cohesion(profiles: &Profiles, labels: &[u32], k: usize, run: &Run) -> Result<Matrix> {
    let assigned: Vec<u32> =
        (0..labels.len() as u32).filter(|&s| labels[s as usize] != NO_CLUSTER).collect();
    let mut order = assigned;
    order.sort_by_key(|&s| labels[s as usize]);
    between(profiles, &order, labels, k, run)
}

/// The mean co-associations between groups; `order` lists the profiles group by group.
fn between(
    profiles: &Profiles,
    order: &[u32],
    group_of: &[u32],
    groups: usize,
    run: &Run,
) -> Result<Matrix> {
    let (r, w) = (profiles.n_members(), profiles.weights());
    // (cluster, group, sum), at most one for every cluster and group.
    let most = (order.len() * r).min(profiles.n_clusters() * groups) as u64;
    run.ask_memory("the ordered consensus matrix", 32 * most, "allow more")?;
    let mut sums: Vec<(u32, u32, f64)> = Vec::new();
    let mut labelled = Matrix::zeros(groups, r);
    let mut own = vec![0.0; profiles.n_clusters()];
    let mut touched = Vec::new();
    for group in order.chunk_by(|&s, &t| group_of[s as usize] == group_of[t as usize]) {
        run.check()?;
        let g = group_of[group[0] as usize];
        for &s in group {
            let s = s as usize;
            let scale = w[s] * self_scale(profiles, s);
            let mut last = usize::MAX;
            profiles.for_each_entry(s, |h, c, p| {
                if own[c] == 0.0 {
                    touched.push(c as u32);
                }
                own[c] += scale * p;
                if h != last {
                    labelled[(g as usize, h)] += w[s];
                    last = h;
                }
            });
        }
        touched.sort_unstable();
        for c in touched.drain(..) {
            sums.push((c, g, std::mem::take(&mut own[c as usize])));
        }
    }
    sums.par_sort_by_key(|&(c, g, _)| (c, g));
    let mut together = Matrix::zeros(groups, groups);
    for cluster in sums.chunk_by(|a, b| a.0 == b.0) {
        for &(_, a, x) in cluster {
            let row = together.row_mut(a as usize);
            cluster.iter().for_each(|&(_, b, y)| row[b as usize] += x * y);
        }
    }
    let value = |a: usize, b: usize| {
        let judged: f64 = labelled.row(a).iter().zip(labelled.row(b)).map(|(x, y)| x * y).sum();
        if judged > 0.0 { (together[(a, b)] / judged).clamp(0.0, 1.0) } else { 0.0 }
    };
    Ok(Matrix::from_fn(groups, groups, value))
}

/// What scales a profile's row to unit co-association with itself: 1 for hard members.
fn self_scale(profiles: &Profiles, s: usize) -> f64 {
    if profiles.is_hard() {
        return 1.0;
    }
    let (mut squares, mut members, mut last) = (0.0, 0.0, usize::MAX);
    profiles.for_each_entry(s, |h, _, p| {
        squares += p * p;
        if h != last {
            members += 1.0;
            last = h;
        }
    });
    if squares > 0.0 { f64::sqrt(members / squares) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::CoAssociation;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn unanimous_members_give_ones_and_zeros() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 1], [4, 4, 2, 2, 2]]));
        let blocks = Blocks::new(&profiles, &[1, 0], &[1.0, 1.0], 10, &Run::new(0)).unwrap();
        let weights: Vec<f64> = blocks.bins.iter().map(|bin| bin.weight).collect();
        assert_eq!(weights, [3.0, 2.0]);
        assert_eq!(blocks.values.as_slice(), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn bins_are_bounded_and_never_mix_clusters() {
        let labels: [i64; 300] = std::array::from_fn(|i| i as i64);
        let profiles = profiles(&hard_ensemble(&[labels]));
        let consensus: Vec<u32> = (0..300).map(|s| u32::from(s % 3 == 0)).collect();
        let confidence: Vec<f64> = (0..300).map(|s| 1.0 / (1.0 + f64::from(s))).collect();
        let blocks = Blocks::new(&profiles, &consensus, &confidence, 20, &Run::new(0)).unwrap();
        assert!(blocks.bins.len() <= 22, "{}", blocks.bins.len());
        assert!(blocks.bins.iter().all(|bin| bin.weight <= 15.5));
        assert_eq!(blocks.bins.iter().map(|bin| bin.weight).sum::<f64>(), 300.0);
        let falling = |pair: &[Bin]| {
            pair[0].cluster < pair[1].cluster || pair[0].confidence >= pair[1].confidence
        };
        assert!(blocks.bins.windows(2).all(falling));
    }

    proptest! {
        /// Bins of complete ensembles hold the means of the co-associations.
        #[test]
        fn values_are_means_over_pairs(
            ensemble in ensembles(Kinds { missing: false, ..Kinds::ALL }, 12, 4),
            k in 1..4u32,
            size in 1..8usize,
        ) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % k).collect();
            let confidence: Vec<f64> = labels.iter().map(|_| 1.0).collect();
            let blocks = Blocks::new(&profiles, &labels, &confidence, size, &Run::new(0)).unwrap();
            let bin_of = |s: usize| blocks.bin_of[s] as usize;
            let co = CoAssociation::new(&profiles);
            let n = blocks.bins.len();
            let mut means = Matrix::zeros(n, n);
            for s in 0..profiles.len() {
                for t in 0..profiles.len() {
                    let (a, b) = (bin_of(s), bin_of(t));
                    let pairs = profiles.weights()[s] * profiles.weights()[t];
                    means[(a, b)] += pairs * co.get(s, t)
                        / (blocks.bins[a].weight * blocks.bins[b].weight);
                }
            }
            for (found, expected) in blocks.values.as_slice().iter().zip(means.as_slice()) {
                prop_assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }

        #[test]
        fn values_are_shares_and_symmetric(ensemble in ensembles(Kinds::ALL, 12, 4)) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % 2).collect();
            let values = cohesion(&profiles, &labels, 2, &Run::new(0)).unwrap();
            prop_assert!(values.as_slice().iter().all(|x| (0.0..=1.0).contains(x)));
            prop_assert!((values[(0, 1)] - values[(1, 0)]).abs() < 1e-12);
        }
    }
}
