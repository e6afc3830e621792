//! The bound, its parts and what it finds.

use proptest::prelude::*;
use statrs::function::gamma::{digamma, ln_gamma};

use super::*;
use crate::consensus::combine;
use crate::ensemble::{Contingency, Ensemble, HardMember};
use crate::metrics::{Normalisation, nmi};
use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

#[test]
fn refuses_zero_and_nan() {
    let refused = |params: Bce| assert!(params.check().is_err());
    refused(Bce::new(0));
    refused(Bce::new(2).restarts(0));
    refused(Bce::new(2).max_iter(0));
    refused(Bce::new(2).sweeps(0));
    refused(Bce::new(2).tol(f64::NAN));
    refused(Bce::new(2).smoothing(0.0));
    refused(Bce::new(2).smoothing(f64::INFINITY));
}

#[test]
fn agreeing_members_are_returned() {
    let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 1, 1, 2], [2, 2, 2, 0, 0, 1]]));
    let method = Bce::new(3);
    let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 2].map(Some));
}

/// The bound as published, from $\gamma$, $\varphi$, $\alpha$ and $\beta$ over the dense incidence
/// matrix.
fn slow_bound(problem: &Problem<'_>, before: &Matrix, state: &State) -> f64 {
    let (profiles, k) = (problem.profiles, problem.params.k);
    let h_matrix = dense_incidence(profiles);
    let State { model: Model { alpha, beta }, gamma, .. } = state;
    let mut bound = 0.0;
    for s in 0..profiles.len() {
        let e: Vec<f64> =
            gamma.row(s).iter().map(|&g| digamma(g) - digamma(gamma.row(s).iter().sum())).collect();
        let mut own = ln_gamma(alpha.iter().sum()) - ln_gamma(gamma.row(s).iter().sum());
        for h in 0..k {
            own += (alpha[h] - 1.0) * e[h] - ln_gamma(alpha[h]);
            own += ln_gamma(gamma[(s, h)]) - (gamma[(s, h)] - 1.0) * e[h];
        }
        for (q, member) in profiles.members().iter().enumerate() {
            if !profiles.is_labelled(s, q) {
                continue;
            }
            let log_chance = |h: usize| -> f64 {
                member.clusters.clone().map(|c| h_matrix[(s, c)] * beta[(c, h)].ln()).sum()
            };
            let raw: Vec<f64> =
                (0..k).map(|h| (log_chance(h) + digamma(before[(s, h)])).exp()).collect();
            let sum: f64 = raw.iter().sum();
            for h in 0..k {
                let phi = raw[h] / sum;
                own += phi * (e[h] + log_chance(h) - phi.ln());
            }
        }
        bound += profiles.weights()[s] * own;
    }
    bound + prior(problem, beta)
}

/// What the smoothing adds to the bound.
fn prior(problem: &Problem<'_>, beta: &Matrix) -> f64 {
    problem.smoothing * beta.as_slice().iter().map(|b| b.ln()).sum::<f64>()
}

/// The model of all profiles, started at random.
fn with_problem<T>(bce: &Bce, profiles: &Profiles, work: impl FnOnce(&Problem<'_>) -> T) -> T {
    let run = Run::new(0).threads(1);
    let starts = MixtureStarts::new(profiles, bce.k, (0, 1), None, &run).unwrap();
    work(&Problem::new(profiles, bce, &starts, bce.sweeps))
}

proptest! {
    /// The theorem behind the method, also with missing labels, weights and soft members.
    #[test]
    fn the_bound_never_falls(
        ensemble in ensembles(Kinds::ALL, 15, 5), k in 1usize..4, sweeps in 1usize..5, seed: u64,
    ) {
        let params = Bce::new(k).restarts(2).tol(0.0).max_iter(30).sweeps(sweeps);
        let bce = params;
        let fit = bce.solve(&profiles(&ensemble), None, &Run::new(seed).threads(1)).unwrap();
        let trace = fit.convergence.trace;
        for pair in trace.windows(2) {
            // Rounding of gamma functions of arguments up to 1e4, whose logarithm is 1e5.
            prop_assert!(pair[1] >= pair[0] - 1e-9 * (1.0 + pair[0].abs()), "{trace:?}");
        }
    }

    #[test]
    fn the_bound_is_the_published_one(
        ensemble in ensembles(Kinds::ALL, 10, 4), k in 1usize..4, seed: u64,
    ) {
        let profiles = profiles(&ensemble);
        let bce = Bce::new(k).sweeps(1);
        let run = Run::new(seed).threads(1);
        let pairs = with_problem(&bce, &profiles, |problem| {
            let mut state = problem.drawn(run.rng(Stream::Data));
            [(); 3].map(|()| {
                let before = state.gamma.clone();
                let step = problem.step(&mut state, &run).unwrap();
                (step.objective, slow_bound(problem, &before, &state))
            })
        });
        for (bound, slow) in pairs {
            prop_assert!((bound - slow).abs() < 1e-9 * (1.0 + slow.abs()), "{bound} {slow}");
        }
    }

    /// On two objects of two members the evidence can be added up: the bound is below it.
    #[test]
    fn the_bound_is_below_the_evidence(ensemble in ensembles(Kinds::PLAIN, 3, 2), seed: u64) {
        let profiles = profiles(&ensemble);
        let bce = Bce::new(2);
        let run = Run::new(seed).threads(1);
        let (state, bound) = with_problem(&bce, &profiles, |problem| {
            let mut state = problem.drawn(run.rng(Stream::Data));
            let bound = problem.step(&mut state, &run).unwrap().objective;
            let prior = prior(problem, &state.model.beta);
            (state, bound - prior)
        });
        // With alpha = (1, 1), the chance of a tuple z with a ones and b twos among them is
        // the beta integral a! b! / (a + b + 1)!.
        let r = profiles.n_members();
        let factorial = |n: usize| (1..=n).product::<usize>() as f64;
        let mut evidence = 0.0;
        for s in 0..profiles.len() {
            let mut own = 0.0;
            for z in 0..1usize << r {
                let twos = z.count_ones() as usize;
                let mut chance =
                    factorial(r - twos) * factorial(twos) / factorial(r + 1);
                profiles.for_each_entry(s, |q, c, _| chance *= state.model.beta[(c, (z >> q) & 1)]);
                own += chance;
            }
            evidence += profiles.weights()[s] * own.ln();
        }
        prop_assert!(bound <= evidence + 1e-9, "{bound} above {evidence}");
    }
}

/// Three labels in five are noise: no random start leaves its plateau before it is judged.
#[test]
fn a_start_from_kmeans_finds_what_noise_hides() {
    let (n, k) = (4000, 8);
    let mut rng = crate::rng::Rng::new(1, Stream::Data);
    let member = |h: usize| {
        let labels =
            (0..n).map(|i| Some(if rng.below(5) < 3 { rng.below(k) } else { i % k } as i64));
        HardMember::from_integers(h.to_string(), labels.collect::<Vec<_>>()).into()
    };
    let ensemble = Ensemble::new((0..15).map(member).collect()).unwrap();
    let profiles = profiles(&ensemble);
    let method = Bce::new(k);
    let found = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    let truth: Vec<u32> = (0..n as u32).map(|i| i % k as u32).collect();
    let labels: Vec<u32> = found.object_labels(&profiles).into_iter().map(Option::unwrap).collect();
    let table = Contingency::of_labels(&truth, &labels, None).unwrap();
    // Others reach 0.9 on such labels, what a random start comes to is below 0.2.
    assert!(nmi(&table, Normalisation::Geometric) > 0.8);
}

#[test]
fn trigamma_of_known_places() {
    let pi2 = std::f64::consts::PI.powi(2);
    assert!((trigamma(1.0) - pi2 / 6.0).abs() < 1e-13);
    assert!((trigamma(0.5) - pi2 / 2.0).abs() < 1e-13);
    for x in [1e-6, 0.3, 2.5, 40.0, 1e4] {
        let recurrence = trigamma(x) - trigamma(x + 1.0);
        assert!((recurrence * x * x - 1.0).abs() < 1e-6, "{x}");
        let step = 1e-4 * x;
        let slope = (digamma(x + step) - digamma(x - step)) / (2.0 * step);
        assert!((slope / trigamma(x) - 1.0).abs() < 1e-6, "{x}");
    }
}

#[test]
fn alpha_of_known_means_is_found() {
    // E ln theta_h = psi(alpha_h) - psi(sum): the maximum is at that alpha.
    let truth = [0.3, 2.0, 5.0];
    let mean: Vec<f64> = truth.iter().map(|&a| digamma(a) - digamma(truth.iter().sum())).collect();
    let mut alpha = vec![1.0; 3];
    improve_alpha(&mut alpha, &mean);
    for (a, b) in alpha.iter().zip(truth) {
        assert!((a - b).abs() < 1e-5 * b, "{alpha:?}");
    }
}

/// Whole chunks, what is left of one, and products that would vanish or overflow.
#[test]
fn logarithms_of_products_are_sums_of_logarithms() {
    for length in [0, 1, 3, 4, 31, 32, 33, 70] {
        for size in [1.0, 1e-3, 1e-60, 1e60] {
            let values: Vec<f64> = (0..length).map(|i| size * (1.0 + 0.1 * f64::from(i))).collect();
            let sum: f64 = values.iter().map(|x| x.ln()).sum();
            assert!((sum_of_logs(&values) - sum).abs() <= 1e-12 * (1.0 + sum.abs()));
        }
    }
}
