//! The mixture beside its equations, and by its properties.

use proptest::prelude::*;

use super::*;
use crate::consensus::combine;
use crate::ensemble::Ensemble;
use crate::testing::{
    Kinds, dense_incidence, ensembles, hard_ensemble, profiles, three_noisy_clusters,
};

fn fit(profiles: &Profiles, params: &Mmec) -> Consensus {
    params.solve(profiles, None, &Run::new(1)).unwrap()
}

#[test]
fn agreeing_members_are_returned() {
    let ensemble = hard_ensemble(&[[0, 0, 0, 1, 1, 2], [2, 2, 2, 0, 0, 1]]);
    let profiles = profiles(&ensemble);
    let method = Mmec::new(3);
    let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    let labels: Vec<_> = profiles.expand(&consensus.labels).into_iter().flatten().collect();
    assert_eq!(labels, [0, 0, 0, 1, 1, 2]);
}

#[test]
fn refuses_zero_and_nan() {
    let refused = |params: Mmec| assert!(params.check().is_err());
    refused(Mmec::new(0));
    refused(Mmec::new(2).restarts(0));
    refused(Mmec::new(2).max_iter(0));
    refused(Mmec::new(2).tol(f64::NAN));
    refused(Mmec::new(2).tol(-1.0));
}

/// One step straight from the equations, over the dense incidence matrix.
fn slow_step(profiles: &Profiles, alpha: &[f64], theta: &Matrix) -> (Vec<f64>, Matrix, f64) {
    let h = dense_incidence(profiles);
    let (u, k, w) = (profiles.len(), alpha.len(), profiles.weights());
    let joint = |s: usize, m: usize| {
        let factors = (0..h.ncols()).map(|c| theta[(c, m)].powf(h[(s, c)]));
        alpha[m] * factors.product::<f64>()
    };
    let evidence = |s: usize| (0..k).map(|m| joint(s, m)).sum::<f64>();
    let r = Matrix::from_fn(u, k, |s, m| joint(s, m) / evidence(s));
    let total: f64 = w.iter().sum();
    let next_alpha =
        (0..k).map(|m| (0..u).map(|s| w[s] * r[(s, m)]).sum::<f64>() / total).collect();
    let mut next = Matrix::zeros(h.ncols(), k);
    for member in profiles.members() {
        for m in 0..k {
            let mass = |c: usize| (0..u).map(|s| w[s] * h[(s, c)] * r[(s, m)]).sum::<f64>();
            let known: f64 = member.clusters.clone().map(mass).sum();
            for c in member.clusters.clone() {
                next[(c, m)] = mass(c) / known;
            }
        }
    }
    let likelihood = (0..u).map(|s| w[s] * evidence(s).ln()).sum();
    (next_alpha, next, likelihood)
}

proptest! {
    /// The theorem behind the method, also with missing labels, weights and soft members.
    #[test]
    fn the_likelihood_never_falls(
        ensemble in ensembles(Kinds::ALL, 20, 5), k in 1usize..4, expected: bool,
    ) {
        let missing = if expected { MissingLabels::Expected } else { MissingLabels::Observed };
        let params = Mmec::new(k).restarts(2).tol(0.0).max_iter(50).missing(missing);
        let trace = fit(&profiles(&ensemble), &params).convergence.trace;
        for pair in trace.windows(2) {
            // Rounding of sums of at most 20 terms of this size.
            prop_assert!(pair[1] >= pair[0] - 1e-12 * (1.0 + pair[0].abs()), "{trace:?}");
        }
    }

    #[test]
    fn a_step_is_what_the_equations_say(ensemble in ensembles(Kinds::ALL, 15, 4), seed: u64) {
        let profiles = profiles(&ensemble);
        let r = drawn(profiles.len(), 2, &Run::new(seed), 0);
        let mixture = Mixture::of(&r, &profiles);
        let theta = Matrix::from_fn(profiles.n_clusters(), 2, |c, m| mixture.log_theta[(c, m)].exp());
        let (alpha, next, likelihood) = slow_step(&profiles, &mixture.alpha, &theta);
        let mut labels = vec![-1.0; profiles.len()];
        let (e, moved) = mixture.expectation(&profiles, &mut labels);
        prop_assert_eq!(moved, profiles.total_weight());
        let r = mixture.responsibilities(&profiles);
        for (row, &label) in r.iter_rows().zip(&labels) {
            prop_assert!(row.iter().all(|&x| x <= row[label as usize] + 1e-12));
        }
        let fast = Mixture::maximising(&e, &profiles, None);
        prop_assert!((e.likelihood - likelihood).abs() < 1e-9 * (1.0 + likelihood.abs()));
        for m in 0..2 {
            prop_assert!((fast.alpha[m] - alpha[m]).abs() < 1e-9);
            for c in 0..profiles.n_clusters() {
                prop_assert!((fast.log_theta[(c, m)].exp() - next[(c, m)]).abs() < 1e-9);
            }
        }
    }

    /// Merging equal objects is exact: doubled rows are doubled weights.
    #[test]
    fn weights_are_repetitions(ensemble in ensembles(Kinds { weights: false, ..Kinds::ALL }, 12, 4)) {
        let n = ensemble.n_objects();
        let doubled = ensemble.clone().with_weights(vec![2.0; n]).unwrap();
        let one = fit(&profiles(&ensemble), &Mmec::new(2));
        let two = fit(&profiles(&doubled), &Mmec::new(2));
        prop_assert_eq!(one.labels, two.labels);
        let (one, two) = (one.convergence.objective.unwrap(), two.convergence.objective.unwrap());
        prop_assert!((2.0 * one - two).abs() < 1e-9 * (1.0 + two.abs()));
    }
}

#[test]
fn both_readings_of_missing_labels_end_at_the_same_likelihood() {
    let labels = [
        [Some(0), Some(0), None, Some(1), Some(1), Some(1)],
        [Some(0), None, Some(0), Some(1), None, Some(1)],
        [Some(1), Some(1), Some(1), Some(0), Some(0), None],
    ];
    let members =
        labels.iter().map(|labels| crate::ensemble::HardMember::from_integers("m", *labels).into());
    let profiles = profiles(&Ensemble::new(members.collect()).unwrap());
    let end = |missing| {
        let params = Mmec::new(2).tol(0.0).max_iter(2000).missing(missing);
        fit(&profiles, &params).convergence.objective.unwrap()
    };
    let (observed, expected) = (end(MissingLabels::Observed), end(MissingLabels::Expected));
    assert!((observed - expected).abs() < 1e-6, "{observed} {expected}");
}

/// Also where the components do not fill whole lanes.
#[test]
fn strength_is_the_membership_of_the_own_cluster() {
    for k in 1..10 {
        let profiles = profiles(&three_noisy_clusters(300, 5));
        let method = Mmec::new(k);
        let found = method.solve(&profiles, None, &Run::new(0)).unwrap();
        let membership = found.membership.unwrap();
        for (s, row) in membership.iter_rows().enumerate() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "k {k}: {row:?}");
            assert_eq!(found.strength[s], row[found.labels[s] as usize]);
        }
    }
}
