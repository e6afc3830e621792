//! NMFC beside the rules as they are printed, and by its properties.

use proptest::prelude::*;

use super::*;
use crate::consensus::combine;
use crate::ensemble::{Ensemble, HardMember};
use crate::rng::Rng;
use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

/// The rules as they are printed, with $S$ between profiles and $D$ a matrix. Objects of a
/// profile are summed over by its weight.
fn plain_step(s: &Matrix, w: &[f64], q: &mut Matrix, d: &mut Matrix) {
    let times = |a: &Matrix, b: &Matrix| product(a.as_faer(), b.as_faer());
    let weighted = |q: &Matrix| Matrix::from_fn(q.nrows(), q.ncols(), |i, j| w[i] * q[(i, j)]);
    let transposed_times = |a: &Matrix, b: &Matrix| product(a.as_faer().transpose(), b.as_faer());
    let n = times(&times(s, &weighted(q)), d);
    let below = times(q, &transposed_times(&weighted(q), &n));
    for i in 0..q.nrows() {
        for j in 0..q.ncols() {
            q[(i, j)] *= (n[(i, j)] / below[(i, j)]).sqrt();
        }
    }
    let above = transposed_times(&weighted(q), &times(s, &weighted(q)));
    let b = transposed_times(&weighted(q), q);
    let below = times(&times(&b, d), &b);
    for i in 0..d.nrows() {
        for j in 0..d.ncols() {
            d[(i, j)] *= (above[(i, j)] / below[(i, j)]).sqrt();
        }
    }
}

/// $Q$.
fn rows(state: &State, k: usize) -> Matrix {
    let stride = k.next_multiple_of(LANES);
    Matrix::from_fn(state.q.len() / stride, k, |s, j| state.q[s * stride + j])
}

fn coassociation(profiles: &Profiles, a: &[f64]) -> Matrix {
    let h = dense_incidence(profiles);
    Matrix::from_fn(profiles.len(), profiles.len(), |s, t| {
        let of = |(member, a): (&crate::ensemble::ProfileMember, &f64)| {
            a * member.clusters.clone().map(|c| h[(s, c)] * h[(t, c)]).sum::<f64>()
        };
        profiles.members().iter().zip(a).map(of).sum()
    })
}

proptest! {
    #[test]
    fn steps_are_those_of_the_printed_rules(ensemble in ensembles(Kinds::ALL, 12, 4)) {
        let profiles = profiles(&ensemble);
        let (u, k, w) = (profiles.len(), 3, profiles.weights());
        let params = Nmfc::new(k);
        let problem = Problem::new(&profiles, &params, None);
        let labels: Vec<u32> = (0..u as u32).map(|s| s % 3).collect();
        let mut state = problem.begun(&problem.blurred(&labels));
        let s = coassociation(&profiles, &state.a);
        let mut q = rows(&state, k);
        let mut d = Matrix::zeros(k, k);
        (0..k).for_each(|j| d[(j, j)] = state.d[j]);
        for _ in 0..10 {
            problem.apply_rules(&mut state);
            plain_step(&s, w, &mut q, &mut d);
            for (x, y) in rows(&state, k).as_slice().iter().zip(q.as_slice()) {
                prop_assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "{x} {y}");
            }
            for j in 0..k {
                prop_assert!((state.d[j] - d[(j, j)]).abs() < 1e-8 * (1.0 + d[(j, j)]));
            }
        }
        let mut expected = 0.0;
        for i in 0..u {
            for j in 0..u {
                let model: f64 = (0..k).map(|l| q[(i, l)] * d[(l, l)] * q[(j, l)]).sum();
                expected += w[i] * w[j] * (s[(i, j)] - model).powi(2);
            }
        }
        let found = problem.objective(&state);
        let scale = problem.square(&state.a);
        prop_assert!((found - expected).abs() < 1e-8 * (1.0 + scale), "{found} {expected}");
        let mut expected = 0.0;
        for i in 0..u {
            for j in 0..u {
                let together = f64::from(u8::from(labels[i] == labels[j]));
                expected += w[i] * w[j] * (s[(i, j)] - together).powi(2);
            }
        }
        let found = problem.misfit(&labels, &state.a);
        prop_assert!((found - expected).abs() < 1e-8 * (1.0 + expected), "{found} {expected}");
    }

    /// Learned weights lower the objective: they are its minimum over the simplex.
    #[test]
    fn weighing_never_raises_the_objective(ensemble in ensembles(Kinds::ALL, 12, 5)) {
        let profiles = profiles(&ensemble);
        let params = Nmfc::new(2);
        let problem = Problem::new(&profiles, &params, None);
        let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % 2).collect();
        let mut state = problem.begun(&problem.blurred(&labels));
        (0..5).for_each(|_| problem.apply_rules(&mut state));
        let before = problem.objective(&state);
        problem.weigh(&mut state);
        let after = problem.objective(&state);
        prop_assert!(after <= before + 1e-9 * (1.0 + problem.square(&state.a)));
        prop_assert!((state.a.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

/// Noisy copies of three clusters.
fn noisy(n: usize, noise: f64) -> Ensemble {
    let mut rng = Rng::new(5, Stream::Data);
    let mut label =
        |i| Some(if rng.unit() < noise { rng.below(3) as i64 } else { [0, 0, 0, 1, 1, 2][i % 6] });
    let member = |h| HardMember::from_integers(format!("{h}"), (0..n).map(&mut label)).into();
    Ensemble::new((0..10).map(member).collect()).unwrap()
}

#[test]
fn noisy_copies_of_a_clustering_give_it_back() {
    let profiles = profiles(&noisy(600, 0.15));
    for params in [
        Nmfc::new(3),
        Nmfc::new(3).weighted(true),
        Nmfc::new(3).init(NmfcInit::Random).max_iter(500),
    ] {
        let method = params.clone();
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let labels = consensus.object_labels(&profiles);
        let right = (0..600).filter(|&i| labels[i] == Some([0, 0, 0, 1, 1, 2][i % 6])).count();
        assert!(right >= 590, "{right} of 600 by {params:?}");
    }
}

proptest! {
    /// Where a row is settled the rule does not move it, and it is the least of its quadratic.
    #[test]
    fn settled_rows_are_left_alone(k in 1..9usize, seed in 0..1000u64) {
        let stride = k.next_multiple_of(LANES);
        let mut rng = Rng::new(seed, Stream::Data);
        // C = A^T A with few common parts, as that of clusters.
        let entries = (0..(k + 2) * k).map(|at| 0.2 * rng.unit() + if at / k == at % k { 2.0 } else { 0.0 });
        let a = Matrix::from_vec(k + 2, k, entries.collect());
        let c = padded(&product(a.as_faer().transpose(), a.as_faer()));
        let sums: Vec<f64> = (0..k).map(|_| rng.unit()).collect();
        let mut rest = vec![0.0; stride];
        let mut q = vec![0.0; stride];
        let inverse: Vec<f64> = (0..k).map(|j| 1.0 / c[j * stride + j]).collect();
        // Turns enough to see where they lead.
        for _ in 0..2 {
            rest[..k].copy_from_slice(&sums);
            settle(&mut q[..k], &mut rest, &c, &inverse, 8);
        }
        let largest = q.iter().fold(0.0, |a: f64, &b| a.max(b));
        for j in 0..k {
            let image: f64 = (0..k).map(|l| q[l] * c[l * stride + j]).sum();
            let faint = q[j] <= 1.001 * FAINT * largest;
            // The last turn changes each of k < 10 images by a thousandth of the largest sum at most.
            let short = sums[j] - image;
            prop_assert!(short < 1e-2 && (faint || short > -1e-2), "{j}: {short}");
        }
    }
}

#[test]
fn learned_weights_leave_the_dissenter_out() {
    let clear = [0, 0, 0, 1, 1, 1, 2, 2, 2];
    let odd = [0, 1, 2, 0, 1, 2, 0, 1, 2];
    let profiles = profiles(&hard_ensemble(&[clear, clear, odd, clear, clear]));
    let method = Nmfc::new(3).weighted(true);
    let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    let Some(Value::Members(a)) = consensus.diagnostics.get("weights") else {
        panic!("weights are told");
    };
    assert!(a[2] < 0.05 && [0, 1, 3, 4].iter().all(|&q| a[q] > 0.2), "{a:?}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let profiles = profiles(&noisy(3000, 0.5));
    for params in [Nmfc::new(4), Nmfc::new(4).init(NmfcInit::Random).max_iter(20)] {
        let on = |threads| {
            let method = params.clone().weighted(true);
            combine(&profiles, &method, None, &Run::new(3).threads(threads)).unwrap()
        };
        assert_eq!(on(1), on(2));
    }
}

#[test]
fn values_out_of_range_are_refused() {
    assert!(Nmfc::new(0).check().is_err());
    assert!(Nmfc::new(2).restarts(0).check().is_err());
    assert!(Nmfc::new(2).max_iter(0).check().is_err());
}

/// Clusters of 40 % down to 2 %, three labels in ten at random: k-means on $S$ splits the largest.
#[test]
fn clusters_of_unequal_size_are_found() {
    let (n, k) = (600, 8);
    let ends = [240, 360, 432, 492, 540, 570, 588, 600];
    let truth: Vec<u32> =
        (0..n).map(|i| ends.iter().position(|&end| i < end).unwrap() as u32).collect();
    let mut rng = Rng::new(3, Stream::Data);
    let member = |h: usize| {
        let noisy =
            |&own: &u32| Some(if rng.below(10) < 3 { rng.below(k) as i64 } else { i64::from(own) });
        HardMember::from_integers(h.to_string(), truth.iter().map(noisy).collect::<Vec<_>>()).into()
    };
    let profiles = profiles(&Ensemble::new((0..20).map(member).collect()).unwrap());
    let method = Nmfc::new(k);
    let run = Run::new(0);
    let found = combine(&profiles, &method, None, &run).unwrap();
    let start: Vec<Option<u32>> = truth.iter().copied().map(Some).collect();
    let from_truth = combine(&profiles, &method, Some(&start), &run).unwrap();
    let [found, best] = [found, from_truth].map(|c| c.convergence.objective.unwrap());
    assert!(found < 1.1 * best, "{found} {best}");
}
