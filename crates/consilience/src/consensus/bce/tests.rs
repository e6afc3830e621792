//! The bound, its parts and what it finds.

use proptest::prelude::*;
use statrs::function::gamma::digamma;

use super::visits::FARTHEST;
use super::*;
use crate::consensus::combine;
use crate::ensemble::{Contingency, Ensemble, HardMember};
use crate::metrics::{Normalisation, nmi};
use crate::testing::{
    Kinds, dense_incidence, ensembles, hard_ensemble, profiles, three_noisy_clusters,
};

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
fn slow_bound(bce: &Bce, profiles: &Profiles, before: &Matrix, state: &State) -> f64 {
    let h_matrix = dense_incidence(profiles);
    let k = bce.k;
    let State { model: Model { alpha, beta }, gamma } = state;
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
    bound + bce.prior(profiles, beta)
}

fn until(bce: &Bce) -> Until {
    Until { sweeps: bce.sweeps, settled: SETTLED }
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

    /// Also where some steps leave out all but the heaviest profiles.
    #[test]
    fn the_bound_never_falls_from_visit_to_visit(
        ensemble in ensembles(Kinds::ALL, 15, 5), k in 1usize..4, heavy in 1usize..5,
        thinned in 1usize..8, seed: u64,
    ) {
        let profiles = profiles(&ensemble);
        let bce = Bce::new(k).tol(0.0).max_iter(30);
        let run = Run::new(seed).threads(1);
        let model = bce.drawn(&profiles, run.rng(Stream::Data)).model.blurred(&profiles, 100);
        let parts = heaviest(&profiles, heavy);
        let fit = bce.climb_by_visits(&profiles, model, &parts, thinned, &run).unwrap();
        let State { model, mut gamma } = fit.state;
        let mut trace = fit.trace;
        // What is told of the end is no more than what all profiles say of the model there.
        let sums = bce.sweep(&profiles, &model, &mut gamma, until(&bce), &run).unwrap();
        trace.push(sums.bound + bce.prior(&profiles, &model.beta));
        for pair in trace.windows(2) {
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
        let mut state = bce.drawn(&profiles, run.rng(Stream::Data));
        for _ in 0..3 {
            let before = state.gamma.clone();
            let sums = bce.sweep(&profiles, &state.model, &mut state.gamma, until(&bce), &run).unwrap();
            let told = sums.bound + bce.prior(&profiles, &state.model.beta);
            let slow = slow_bound(&bce, &profiles, &before, &state);
            prop_assert!((told - slow).abs() < 1e-9 * (1.0 + slow.abs()), "{told} {slow}");
            bce.improve(&mut state.model, &sums, &profiles);
        }
    }

    /// On two objects of two members the evidence can be added up: the bound is below it.
    #[test]
    fn the_bound_is_below_the_evidence(ensemble in ensembles(Kinds::PLAIN, 3, 2), seed: u64) {
        let profiles = profiles(&ensemble);
        let bce = Bce::new(2);
        let run = Run::new(seed).threads(1);
        let mut state = bce.drawn(&profiles, run.rng(Stream::Data));
        let sums = bce.sweep(&profiles, &state.model, &mut state.gamma, until(&bce), &run).unwrap();
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
        prop_assert!(sums.bound <= evidence + 1e-9, "{} above {evidence}", sums.bound);
    }
}

/// More profiles than take part in every step.
#[test]
fn many_profiles_start_on_a_sample() {
    let n = 6000;
    let profiles = profiles(&three_noisy_clusters(n, 5));
    assert!(profiles.len() > HEAVY);
    let method = Bce::new(3).restarts(3);
    let on = |threads| combine(&profiles, &method, None, &Run::new(1).threads(threads)).unwrap();
    let found = on(2);
    assert_eq!(found, on(1));
    let labels = found.object_labels(&profiles);
    let right = (0..n).filter(|&i| labels[i] == labels[i % 3]).count();
    assert!(right > n * 9 / 10 && labels[0] != labels[1] && labels[1] != labels[2], "{right}");
    // All profiles in every step come hardly higher, in more steps over all of them.
    let run = Run::new(1);
    let start = method.drawn(&profiles, run.rng(Stream::Restart(0)));
    let whole = method.climb(&profiles, start, method.max_iter, &run).unwrap();
    assert!(found.convergence.iterations < whole.trace.len());
    let bound = found.convergence.objective.unwrap();
    assert!(bound > whole.bound() - 1e-3 * whole.bound().abs(), "{bound} {}", whole.bound());
}

/// A few of the light profiles in place of all, and then all.
#[test]
fn profiles_that_stand_for_others_lead_to_the_same_model() {
    let profiles = profiles(&three_noisy_clusters(6000, 5));
    let method = Bce::new(3);
    let run = Run::new(1);
    let parts = heaviest(&profiles, 500);
    let climb = |thinned: usize| {
        let model = method.drawn(&profiles, run.rng(Stream::Restart(0))).model;
        method.climb_by_visits(&profiles, model, &parts, thinned, &run).unwrap()
    };
    let [few, all] = [2000, usize::MAX].map(climb);
    assert!(few.trace.len() < all.trace.len(), "{} {}", few.trace.len(), all.trace.len());
    assert!(few.trace[0] > all.trace[0]);
    assert!(
        few.bound() > all.bound() - 1e-3 * all.bound().abs(),
        "{} {}",
        few.bound(),
        all.bound()
    );
    // Every one has its own row.
    let winners = |fit: &Fit| fit.state.gamma.iter_rows().map(argmax).collect::<Vec<_>>();
    let same = winners(&few).iter().zip(winners(&all)).filter(|(a, b)| **a == *b).count();
    assert!(same > profiles.len() * 9 / 10, "{same} of {}", profiles.len());
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
    assert!(profiles.len() > STARTED);
    let method = Bce::new(k);
    let found = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    let truth: Vec<u32> = (0..n as u32).map(|i| i % k as u32).collect();
    let labels: Vec<u32> = found.object_labels(&profiles).into_iter().map(Option::unwrap).collect();
    let table = Contingency::of_labels(&truth, &labels, None).unwrap();
    // Others reach 0.9 on such labels, what a random start comes to is below 0.2.
    assert!(nmi(&table, Normalisation::Geometric) > 0.8);
}

/// Steps that shrink by the same factor are summed up at once.
#[test]
fn a_jump_finds_the_limit_of_even_steps() {
    let profiles = profiles(&three_noisy_clusters(300, 5));
    let method = Bce::new(3);
    let run = Run::new(1);
    let mut state = method.drawn(&profiles, run.rng(Stream::Restart(0)));
    let limit = state.model.clone();
    let sums = method.sweep(&profiles, &limit, &mut state.gamma, until(&method), &run).unwrap();
    // Logarithms that approach the limit's.
    let at = |way: f64| {
        let mut model = limit.clone();
        model.alpha.iter_mut().for_each(|a| *a *= (0.3 * way).exp());
        for member in profiles.members() {
            for (c, sign) in member.clusters.clone().zip([1.0, -1.0]) {
                model.beta.row_mut(c).iter_mut().for_each(|b| *b *= (0.01 * way * sign).exp());
            }
        }
        model
    };
    let counts = &sums.by_cluster;
    let jump = |models: [f64; 3]| {
        let [a, b, c] = models.map(at);
        Model::ahead([&a, &b, &c], counts, &profiles)
    };
    let found = jump([1.0, 0.8, 0.64]).unwrap();
    let pairs = |model: &Model| -> Vec<f64> {
        model.beta.as_slice().iter().chain(&model.alpha).copied().collect()
    };
    for (a, b) in pairs(&found).iter().zip(pairs(&limit)) {
        assert!((a / b).ln().abs() < 1e-9, "{a} {b}");
    }
    // Even steps lead no farther than can be answered for.
    let far = jump([1.0, 0.9, 0.8]).unwrap();
    let end = at(0.8);
    assert!(far.alpha.iter().zip(&end.alpha).all(|(a, b)| (a / b).ln() > -FARTHEST - 1e-9));
    // Steps there and back lead nowhere, and none are no step.
    assert!(jump([1.0, 0.0, 1.0]).is_none());
    assert!(jump([0.0, 0.0, 0.0]).is_none());
}
