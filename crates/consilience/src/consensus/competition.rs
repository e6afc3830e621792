//! Meta-clusters compete for objects: the second half of methods that cluster the members' clusters.
//!
//! The association of an object with a meta-cluster is the mean of its memberships in the clusters
//! of that meta-cluster; the highest association wins, and its share in all is the strength.

use rayon::prelude::*;

use crate::consensus::outcome::{Consensus, NO_CLUSTER};
use crate::ensemble::Profiles;
use crate::linalg::Matrix;
use crate::rng::Stream;
use crate::run::Run;

/// Associations, all in [0, 1], that differ by less are equal.
const TIE: f64 = 1e-12;

/// The consensus of `profiles` whose clusters are in these meta-clusters, `k` in number, or in none
/// ([`NO_CLUSTER`]); ties are drawn, once a profile. A meta-cluster that wins nothing stays empty.
pub(super) fn compete(profiles: &Profiles, meta: &[u32], k: usize, run: &Run) -> Consensus {
    let membership = associations(profiles, meta, k);
    let labels = winners(&membership, run);
    let strength = |s: usize| membership[(s, labels[s] as usize)];
    let strength = (0..profiles.len()).map(strength).collect();
    let correspondence = |clusters: std::ops::Range<usize>| {
        let own = &meta[clusters];
        Matrix::from_fn(own.len(), k, |c, m| f64::from(u8::from(own[c] as usize == m)))
    };
    let members = profiles.members().iter();
    Consensus {
        strength,
        correspondences: Some(members.map(|m| correspondence(m.clusters.clone())).collect()),
        membership: Some(membership),
        ..Consensus::from_labels(labels, k)
    }
}

/// For every profile its associations with the meta-clusters, as shares of their sum.
fn associations(profiles: &Profiles, meta: &[u32], k: usize) -> Matrix {
    let mut counts = vec![0.0; k];
    let placed = || meta.iter().enumerate().filter(|(_, m)| **m != NO_CLUSTER);
    placed().for_each(|(_, &m)| counts[m as usize] += 1.0);
    let mut means = Matrix::zeros(meta.len(), k);
    for (c, &m) in placed() {
        means[(c, m as usize)] = 1.0 / counts[m as usize];
    }
    let mut associations = profiles.spread(&means);
    associations.as_mut_slice().par_chunks_exact_mut(k).with_min_len(1024).for_each(|row| {
        let sum: f64 = row.iter().sum();
        // An object may be in clusters of no meta-cluster only.
        row.iter_mut().for_each(|a| *a = if sum > 0.0 { *a / sum } else { 1.0 / k as f64 });
    });
    associations
}

/// The meta-cluster of highest association; one of equals at random.
fn winners(associations: &Matrix, run: &Run) -> Vec<u32> {
    let mut rng = run.rng(Stream::Ties);
    let winner = |row: &[f64]| {
        let most = row.iter().copied().fold(0.0, f64::max);
        let mut equal = (0..row.len()).filter(|&m| row[m] >= most - TIE);
        let first = equal.next().expect("a row has a largest entry");
        let others = equal.clone().count();
        if others == 0 {
            return first as u32;
        }
        match rng.below(others + 1) {
            0 => first as u32,
            place => equal.nth(place - 1).expect("so many are equal") as u32,
        }
    };
    associations.iter_rows().map(winner).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    proptest! {
        /// Associations are means of memberships, as shares of their sum.
        #[test]
        fn associations_are_means_of_memberships(
            ensemble in ensembles(Kinds::ALL, 12, 4), seed: u64
        ) {
            let profiles = profiles(&ensemble);
            let mut rng = Run::new(seed).rng(Stream::Data);
            let k = 3;
            let meta: Vec<u32> =
                (0..profiles.n_clusters()).map(|_| rng.below(k) as u32).collect();
            let h = dense_incidence(&profiles);
            let fast = associations(&profiles, &meta, k);
            for s in 0..profiles.len() {
                let mean = |m: usize| {
                    let own: Vec<f64> = (0..meta.len())
                        .filter(|&c| meta[c] as usize == m)
                        .map(|c| h[(s, c)])
                        .collect();
                    if own.is_empty() { 0.0 } else { own.iter().sum::<f64>() / own.len() as f64 }
                };
                let sum: f64 = (0..k).map(mean).sum();
                for m in 0..k {
                    prop_assert!((fast[(s, m)] - mean(m) / sum).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn ties_are_drawn_among_the_equal() {
        let rows = Matrix::from_fn(400, 3, |_, m| [0.4, 0.2, 0.4][m]);
        let labels = winners(&rows, &Run::new(1));
        let count = |m: u32| labels.iter().filter(|&&l| l == m).count();
        assert_eq!(count(1), 0);
        // 200 expected, standard deviation 10.
        assert!(count(0).abs_diff(200) < 50, "{}", count(0));
    }
}
