//! Groups of items that attract each other: the Louvain search on a matrix of attractions of either sign.
//!
//! V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre. *Fast Unfolding of Communities in Large Networks.*
//! Journal of Statistical Mechanics, 2008. Sought is the partition of largest $\sum_{i, j \text{ together}} a_{ij}$:
//! one item after the other, in a random order, moves to the group that attracts it most, or away from all; then
//! groups move as wholes; then single items again, until nothing moves.

use crate::error::Result;
use crate::linalg::Matrix;
use crate::rng::Rng;
use crate::run::Run;

/// Sweeps after which a search ends that rounding keeps moving.
const SWEEPS: usize = 1000;

/// Groups are moved as wholes once there are at most `1 / COARSER` as many as items: what their matrices hold
/// together is then less than half of the first.
const COARSER: usize = 2;

/// How many bytes [`louvain`] holds beyond its matrix of `n` items.
pub(crate) fn louvain_cost(n: u64) -> u64 {
    8 * (n * n / 3 + 6 * n)
}

/// The groups that the search finds, numbered by their first items. `attraction` is symmetric, its diagonal
/// has no effect; a move must gain more than `least`, and more than rounding.
///
/// # Cost
///
/// Time $O(n^2)$ a sweep.
pub(crate) fn louvain(
    attraction: &Matrix,
    least: f64,
    rng: &mut Rng,
    run: &Run,
) -> Result<Vec<u32>> {
    let n = attraction.nrows();
    let mut labels: Vec<u32> = (0..n as u32).collect();
    loop {
        moves(attraction, least, &mut labels, rng, run)?;
        let groups = number(&mut labels);
        if groups < 2 || groups * COARSER > n {
            return Ok(labels);
        }
        let together = louvain(&summed(attraction, &labels, groups), least, rng, run)?;
        labels.iter_mut().for_each(|label| *label = together[*label as usize]);
        if number(&mut labels) == groups {
            return Ok(labels);
        }
    }
}

/// Moves single items until none gains by it.
fn moves(
    attraction: &Matrix,
    least: f64,
    labels: &mut [u32],
    rng: &mut Rng,
    run: &Run,
) -> Result<()> {
    let n = labels.len();
    let mut sizes = vec![0_u32; n];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    let order = rng.permutation(n);
    let mut pull = vec![0.0; n];
    for _ in 0..SWEEPS {
        let mut moved = false;
        for (i, &item) in order.iter().enumerate() {
            if i % 64 == 0 {
                run.check()?;
            }
            let (item, row) = (item as usize, attraction.row(item as usize));
            let own = labels[item] as usize;
            pull.fill(0.0);
            let mut all = 0.0;
            for (&label, &x) in labels.iter().zip(row) {
                pull[label as usize] += x;
                all += x.abs();
            }
            pull[own] -= row[item];
            let (stay, slack) = (pull[own], least.max(1e-14 * all));
            let mut best = (stay + slack, own);
            let others = sizes.iter().zip(&pull).enumerate();
            for (group, (_, &x)) in others.filter(|(_, (size, _))| **size > 0) {
                if group != own && x > best.0 {
                    best = (x, group);
                }
            }
            if best.0 < 0.0 && sizes[own] > 1 {
                // Better alone than in any company.
                best.1 = sizes.iter().position(|&size| size == 0).expect("two are in one group");
            }
            if best.1 != own {
                sizes[own] -= 1;
                sizes[best.1] += 1;
                labels[item] = best.1 as u32;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    Ok(())
}

/// Numbers groups by their first items, and counts them.
pub(crate) fn number(labels: &mut [u32]) -> usize {
    let most = labels.iter().max().map_or(0, |&most| most as usize + 1);
    let mut names = vec![u32::MAX; most];
    let mut groups = 0;
    for label in labels {
        let name = &mut names[*label as usize];
        if *name == u32::MAX {
            *name = groups;
            groups += 1;
        }
        *label = *name;
    }
    groups as usize
}

/// The attraction between groups.
fn summed(attraction: &Matrix, labels: &[u32], groups: usize) -> Matrix {
    let mut out = Matrix::zeros(groups, groups);
    for (&label, row) in labels.iter().zip(attraction.iter_rows()) {
        let out = out.row_mut(label as usize);
        labels.iter().zip(row).for_each(|(&other, x)| out[other as usize] += x);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Stream;

    fn worth(attraction: &Matrix, labels: &[u32]) -> f64 {
        let n = labels.len();
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| labels[i] == labels[j]).map(|at| attraction[at]).sum()
    }

    fn found(attraction: &Matrix, seed: u64) -> Vec<u32> {
        let run = Run::new(seed).threads(1);
        louvain(attraction, 0.0, &mut run.rng(Stream::Restart(0)), &run).unwrap()
    }

    proptest! {
        /// No move of a single item is of any gain, and apart from each other items are worth no more.
        #[test]
        fn no_single_move_is_left(values in prop::collection::vec(-8..8i32, 45), seed: u64) {
            let n = 10_usize;
            let attraction = Matrix::from_fn(n, n, |i, j| {
                let (i, j) = (i.min(j), i.max(j));
                if i == j { 3.0 } else { f64::from(values[j * (j - 1) / 2 + i]) }
            });
            let labels = found(&attraction, seed);
            prop_assert!(worth(&attraction, &labels) >= 0.0);
            for item in 0..n {
                for group in 0..n as u32 {
                    let mut other = labels.clone();
                    other[item] = group;
                    prop_assert!(worth(&attraction, &other) <= worth(&attraction, &labels));
                }
            }
        }

        /// Groups within which all attract and between which all repel are found.
        #[test]
        fn clear_groups_are_found(groups in prop::collection::vec(0..5u32, 1..40), seed: u64) {
            let n = groups.len();
            let sign = |i: usize, j: usize| if groups[i] == groups[j] { 0.5 } else { -1.0 };
            let mut expected = groups.clone();
            number(&mut expected);
            prop_assert_eq!(found(&Matrix::from_fn(n, n, sign), seed), expected);
        }
    }

    #[test]
    fn groups_are_numbered_by_their_first_items() {
        let mut labels = [4, 4, 1, 7, 1];
        assert_eq!(number(&mut labels), 3);
        assert_eq!(labels, [0, 0, 1, 2, 1]);
    }
}
