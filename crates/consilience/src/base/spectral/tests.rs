//! Embeddings and clusterings against the dense matrix.

use proptest::prelude::*;

use super::*;
use crate::ensemble::{Ensemble, NO_PROFILE, Profiles};
use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

/// The slow way: every object with its weight, and $\Psi$ between them, entry by entry.
struct Explicit {
    psi: Matrix,
    weights: Vec<f64>,
    /// The profile of each object.
    own: Vec<usize>,
}

fn explicit(ensemble: &Ensemble, profiles: &Profiles) -> Explicit {
    let h = dense_incidence(profiles);
    let counts = profiles.label_counts();
    let labelled: Vec<usize> =
        (0..ensemble.n_objects()).filter(|&i| profiles.map()[i] != NO_PROFILE).collect();
    let own: Vec<usize> = labelled.iter().map(|&i| profiles.map()[i] as usize).collect();
    let entry = |i: usize, j: usize| {
        let (s, t) = (own[i], own[j]);
        let shared: f64 = h.row(s).iter().zip(h.row(t)).map(|(a, b)| a * b).sum();
        shared / (f64::from(counts[s]) * f64::from(counts[t])).sqrt()
    };
    let psi = Matrix::from_fn(own.len(), own.len(), entry);
    let weights = labelled.iter().map(|&i| ensemble.weights().map_or(1.0, |w| w[i])).collect();
    Explicit { psi, weights, own }
}

impl Explicit {
    /// The eigenvalues of $W^{1/2} \Psi W^{1/2}$.
    fn values(&self) -> Vec<f64> {
        let n = self.own.len();
        let w = &self.weights;
        let a = Matrix::from_fn(n, n, |i, j| self.psi[(i, j)] * (w[i] * w[j]).sqrt());
        eigenvalues(a, &Run::new(0)).unwrap()
    }

    /// Ng, Jordan and Weiss word by word: the gap after the eigenvalues used, and the inner
    /// products of the rows.
    fn embed(&self, k: usize, zero_diagonal: bool) -> (f64, Matrix) {
        let n = self.own.len();
        let w = &self.weights;
        let kept = |i: usize, j: usize| if i == j && zero_diagonal { 0.0 } else { 1.0 };
        let a = Matrix::from_fn(n, n, |i, j| kept(i, j) * self.psi[(i, j)]);
        let d: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[(i, j)] * w[j]).sum()).collect();
        let inverse = |i: usize| if d[i] > 1e-12 { 1.0 / d[i].sqrt() } else { 0.0 };
        let l = Matrix::from_fn(n, n, |i, j| {
            a[(i, j)] * inverse(i) * inverse(j) * (w[i] * w[j]).sqrt()
        });
        let found = eigen(l, <[f64]>::len, &Run::new(0)).unwrap();
        let used = used(&found.values, k);
        let gap = match used {
            0 => 1.0,
            _ => found.values[used - 1] - found.values.get(used).copied().unwrap_or(0.0).max(0.0),
        };
        let rows = Matrix::from_fn(n, used, |i, j| found.vectors[(j, i)] / w[i].sqrt());
        (gap, inner_products(&unit_rows(rows, w)))
    }
}

fn inner_products(rows: &Matrix) -> Matrix {
    product(rows.as_faer(), rows.as_faer().transpose())
}

fn expanded(rows: &Matrix, own: &[usize]) -> Matrix {
    inner_products(&rows.select_rows(own))
}

fn distance(a: &Matrix, b: &Matrix) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Every way of computing, however small the problem: dense, iterated, and without a matrix.
const WAYS: [Limits; 3] = [
    LIMITS,
    Limits { whole: 0, all_values: 0, ..LIMITS },
    Limits { whole: 0, all_values: 0, built: 0, ..LIMITS },
];

/// Three groups of 40 objects; every member has objects of its own in a wrong one.
fn three_groups() -> Profiles {
    let member = |h: usize| -> [i64; 120] {
        std::array::from_fn(|i| {
            let wrong = (i * 7 + h * 11).is_multiple_of(13);
            ((i / 40 + usize::from(wrong)) % 3) as i64
        })
    };
    profiles(&hard_ensemble(&(0..8).map(member).collect::<Vec<_>>()))
}

#[test]
fn starts_on_a_sample_find_the_clusters_of_all() {
    let profiles = three_groups();
    let factor =
        Factor::new(&profiles, vec![1.0; profiles.len()], vec![1.0; profiles.n_clusters()]);
    let mut spectral = SpectralParams::new(3).check().unwrap();
    let run = Run::new(0);
    let all = spectral.fit_factor(&factor, &run).unwrap();
    spectral.limits.started = 12;
    assert!(profiles.len() > 12);
    let some = spectral.fit_factor(&factor, &run).unwrap();
    let same = |labels: &[u32], s: usize, t: usize| labels[s] == labels[t];
    for s in 0..profiles.len() {
        for t in 0..s {
            assert_eq!(same(&all.labels, s, t), same(&some.labels, s, t), "{s} and {t}");
        }
    }
    // A sample of two has no three distinct rows: all are asked.
    spectral.limits.started = 2;
    assert_eq!(spectral.fit_factor(&factor, &run).unwrap().k, 3);
}

proptest! {
    #[test]
    fn eigenvalues_are_those_of_the_matrix_between_objects(
        ensemble in ensembles(Kinds::ALL, 14, 5)
    ) {
        let profiles = profiles(&ensemble);
        let slow = explicit(&ensemble, &profiles);
        let factor = Factor::coassociation(&profiles);
        let trace: f64 = slow.values().iter().sum();
        for limits in WAYS {
            let all = |values: &[f64], trace: f64| values.iter().sum::<f64>() > 0.999 * trace;
            let (values, sum) = spectrum_within(limits, &factor, all, &Run::new(0)).unwrap();
            prop_assert!((sum - trace).abs() < 1e-12 * trace);
            for (j, value) in slow.values().iter().enumerate() {
                let fast = values.get(j).copied().unwrap_or(0.0);
                prop_assert!((value - fast).abs() < 1e-11 * trace, "{j}: {value} {fast}");
            }
        }
    }

    #[test]
    fn embeddings_are_those_of_all_objects(
        ensemble in ensembles(Kinds::ALL, 14, 5), k in 1..5usize
    ) {
        let profiles = profiles(&ensemble);
        let slow = explicit(&ensemble, &profiles);
        let (gap, expected) = slow.embed(k, false);
        // Eigenvectors are determined to the rounding divided by the gap.
        prop_assume!(gap > 1e-3);
        for limits in WAYS {
            let spectral = Spectral { params: SpectralParams::new(k), limits };
            let factor = Factor::coassociation(&profiles);
            let rows = spectral.embed_factor(&factor, &Run::new(0)).unwrap().rows;
            prop_assert!(distance(&expanded(&rows, &slow.own), &expected) < 1e-7);
            let rows = spectral
                .embed_affinity(factor.affinity(), profiles.weights(), &Run::new(0))
                .unwrap()
                .rows;
            prop_assert!(distance(&expanded(&rows, &slow.own), &expected) < 1e-7);
        }
    }

    #[test]
    fn a_zeroed_diagonal_is_that_of_all_objects(
        ensemble in ensembles(Kinds { weights: false, ..Kinds::ALL }, 14, 5), k in 1..5usize
    ) {
        let profiles = profiles(&ensemble);
        let slow = explicit(&ensemble, &profiles);
        let (gap, expected) = slow.embed(k, true);
        prop_assume!(gap > 1e-3);
        for limits in WAYS {
            let params = SpectralParams::new(k).zero_diagonal(true);
            let factor = Factor::coassociation(&profiles);
            let spectral = Spectral { params, limits };
            let rows = spectral.embed_factor(&factor, &Run::new(0)).unwrap().rows;
            prop_assert!(distance(&expanded(&rows, &slow.own), &expected) < 1e-7);
        }
    }
}

#[test]
fn all_components_of_a_tie_are_kept_apart() {
    // Four components; two clusters are asked for, but the embedding must not depend on which
    // two of four equal eigenvectors rounding prefers.
    let ensemble = hard_ensemble(&[[0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 2, 3, 3]]);
    let profiles = profiles(&ensemble);
    let spectral = SpectralParams::new(2).check().unwrap();
    let factor = Factor::coassociation(&profiles);
    let rows = spectral.embed_factor(&factor, &Run::new(0)).unwrap().rows;
    assert_eq!(rows.ncols(), 4);
    let identity = Matrix::from_fn(4, 4, |i, j| f64::from(u8::from(i == j)));
    assert!(distance(&inner_products(&rows), &identity) < 1e-12);
}

#[test]
fn two_groups_with_a_bridge_are_parted() {
    let ensemble = hard_ensemble(&[
        [0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 2, 2, 2, 2],
    ]);
    let profiles = profiles(&ensemble);
    for zero in [false, true] {
        let spectral = SpectralParams::new(2).zero_diagonal(zero).check().unwrap();
        let fit = spectral.fit_factor(&Factor::coassociation(&profiles), &Run::new(1)).unwrap();
        let labels = profiles.expand(&fit.labels);
        assert_eq!(labels[4..], [labels[7]; 4]);
        assert_eq!(labels[0], labels[1]);
        assert_ne!(labels[0], labels[7]);
    }
}

#[test]
fn as_many_clusters_as_profiles_part_all() {
    let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1], [0, 1, 0, 1]]));
    let spectral = SpectralParams::new(9).check().unwrap();
    let fit = spectral.fit_factor(&Factor::coassociation(&profiles), &Run::new(0)).unwrap();
    assert_eq!((fit.labels, fit.k), (vec![0, 1, 2, 3], 4));
}

#[test]
fn objects_without_any_affinity_share_a_cluster() {
    // Without the diagonal nobody has anything in common with anybody.
    let profiles = profiles(&hard_ensemble(&[[0, 1, 2, 3]]));
    let spectral = SpectralParams::new(2).zero_diagonal(true).check().unwrap();
    let fit = spectral.fit_factor(&Factor::coassociation(&profiles), &Run::new(0)).unwrap();
    assert_eq!((fit.labels, fit.k), (vec![0; 4], 1));
}

#[test]
fn no_cluster_and_no_start_are_refused() {
    assert!(SpectralParams::new(0).check().is_err());
    assert!(SpectralParams::new(1).restarts(0).check().is_err());
}
