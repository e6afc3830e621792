use proptest::prelude::*;

use super::*;
use crate::consensus::outcome::Stop;
use crate::consensus::{Settings, combine, method};
use crate::ensemble::{Ensemble, HardMember, NO_PROFILE};
use crate::linalg::{Eigen, Matrix, eigen};
use crate::rng::{Rng, Stream};
use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

/// The paper's Algorithm 1 as printed, on all pairs of objects, with every $E^{(i)}$ kept; only what
/// the printed formulas leave undefined (unanimous and unobserved pairs) is as documented.
struct Slow {
    penalties: Penalties,
    /// $A^{(i)}$; NaN where member i does not label both.
    connective: Vec<Matrix>,
    errors: Vec<Matrix>,
    consensus: Matrix,
    /// The profile of each object.
    own: Vec<usize>,
}

impl Slow {
    fn new(profiles: &Profiles, penalties: Penalties) -> Self {
        let h = dense_incidence(profiles);
        let own: Vec<usize> =
            profiles.map().iter().filter(|&&s| s != NO_PROFILE).map(|&s| s as usize).collect();
        let n = own.len();
        let of_member = |i: usize| {
            let clusters = profiles.members()[i].clusters.clone();
            Matrix::from_fn(n, n, |p, q| {
                let (s, t) = (own[p], own[q]);
                if profiles.is_labelled(s, i) && profiles.is_labelled(t, i) {
                    clusters.clone().map(|c| h[(s, c)] * h[(t, c)]).sum()
                } else {
                    f64::NAN
                }
            })
        };
        let connective: Vec<Matrix> = (0..profiles.n_members()).map(of_member).collect();
        let mean = |p: usize, q: usize| {
            let seen: Vec<f64> =
                connective.iter().map(|a| a[(p, q)]).filter(|a| !a.is_nan()).collect();
            (!seen.is_empty()).then(|| seen.iter().sum::<f64>() / seen.len() as f64)
        };
        let pairs = (0..n).flat_map(|p| (0..n).map(move |q| (p, q))).filter(|(p, q)| p != q);
        let observed: Vec<f64> = pairs.filter_map(|(p, q)| mean(p, q)).collect();
        let unknown = observed.iter().sum::<f64>() / observed.len() as f64;
        let unknown = if unknown.is_nan() { 0.5 } else { unknown }.clamp(1e-12, 1.0 - 1e-12);
        let consensus = Matrix::from_fn(n, n, |p, q| mean(p, q).unwrap_or(unknown));
        let errors = vec![Matrix::zeros(n, n); connective.len()];
        Slow { penalties, connective, errors, consensus, own }
    }

    fn contested(&self, p: usize, q: usize) -> bool {
        self.consensus[(p, q)] > 0.0 && self.consensus[(p, q)] < 1.0
    }

    /// Theorem 3.
    fn update_errors(&mut self) {
        let n = self.own.len();
        let lambda = self.penalties.errors;
        for i in 0..self.connective.len() {
            for (p, q) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
                let c = self.connective[i][(p, q)];
                if c.is_nan() || !self.contested(p, q) {
                    continue;
                }
                let (a, b) = (self.consensus[(p, q)], self.consensus[(q, p)]);
                let root = ((lambda + 1.0).powi(2) - 2.0 * lambda * (a + b)).sqrt();
                let x1 = (2.0 * lambda * c - lambda - 1.0 + root) / (2.0 * lambda);
                let root = ((1.0 - lambda).powi(2) + 2.0 * lambda * (a + b)).sqrt();
                let x2 = (lambda - 2.0 * lambda * c - 1.0 + root) / (-2.0 * lambda);
                let (x1, x2) = (x1.min(0.0), x2.max(0.0));
                let f = |x: f64| {
                    let value = -(a + b) * (c - x).ln() - (2.0 - a - b) * (1.0 - c + x).ln();
                    let value = value + 2.0 * lambda * x.abs();
                    if value.is_nan() { f64::INFINITY } else { value }
                };
                self.errors[i][(p, q)] = if f(x1) <= f(x2) { x1 } else { x2 };
            }
        }
    }

    fn spectrum(&self) -> Eigen {
        let n = self.own.len();
        let a = &self.consensus;
        let square = Matrix::from_fn(n, n, |p, q| (0..n).map(|r| a[(p, r)] * a[(q, r)]).sum());
        eigen(square, <[f64]>::len, &Run::new(0)).unwrap()
    }

    /// (6), the definition of C and D, and (11).
    fn update_consensus(&mut self) {
        let n = self.own.len();
        let Eigen { values, vectors } = self.spectrum();
        let d = Matrix::from_fn(n, n, |p, q| {
            let term = |j: usize| {
                vectors[(j, p)] * vectors[(j, q)] / (values[j].max(0.0) + self.penalties.mu).sqrt()
            };
            self.penalties.rank * (0..n).map(term).sum::<f64>()
        });
        let a = self.consensus.clone();
        for (p, q) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
            if !self.contested(p, q) {
                continue;
            }
            let (mut m, mut c) = (0.0, 0.0);
            for (connective, errors) in self.connective.iter().zip(&self.errors) {
                let y = connective[(p, q)] - errors[(p, q)];
                if !y.is_nan() {
                    m += 1.0;
                    c += ((1.0 - y) / y).ln();
                }
            }
            let plus: f64 = (0..n).map(|r| d[(p, r)].max(0.0) * a[(r, q)]).sum();
            let minus: f64 = (0..n).map(|r| (-d[(p, r)]).max(0.0) * a[(r, q)]).sum();
            let a = a[(p, q)];
            let g = 2.0 * m / a + 2.0 * m / (1.0 - a) + c.max(0.0) / a + 2.0 * plus / a;
            let b = m * a.ln() - 2.0 * m / (1.0 - a) - m * (1.0 - a).ln();
            let h = (-c).max(0.0) * a + 2.0 * minus * a;
            if g == 0.0 {
                continue; // nobody observes the pair, and there is no low-rank term
            }
            let next = (-b + (b * b + 4.0 * g * h).sqrt()) / (2.0 * g);
            self.consensus[(p, q)] = next.clamp(1e-12, 1.0 - 1e-12);
        }
    }

    /// $J$, by its definition.
    fn objective(&self) -> f64 {
        let n = self.own.len();
        let kl = |a: f64, y: f64| {
            let part = |a: f64, y: f64| if a == 0.0 { 0.0 } else { a * (a / y).ln() };
            part(a, y) + part(1.0 - a, 1.0 - y)
        };
        let mut sum = 0.0;
        for (connective, errors) in self.connective.iter().zip(&self.errors) {
            for (p, q) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
                if !connective[(p, q)].is_nan() {
                    let y = connective[(p, q)] - errors[(p, q)];
                    sum += kl(self.consensus[(p, q)], y);
                    sum += self.penalties.errors * errors[(p, q)].abs();
                }
            }
        }
        let root = |value: &f64| (value.max(0.0) + self.penalties.mu).sqrt();
        sum + 2.0 * self.penalties.rank * self.spectrum().values.iter().map(root).sum::<f64>()
    }

    fn noise(&self, i: usize) -> f64 {
        self.errors[i].as_slice().iter().map(|x| x.abs()).sum()
    }
}

fn penalties() -> impl Strategy<Value = Penalties> {
    let power = |low: f64, high: f64| (low..high).prop_map(|e| 10f64.powf(e));
    // Below 0.1 the paper's own formulas for the errors cancel.
    (power(-1.0, 2.0), prop_oneof![Just(0.0), power(-2.0, 2.0)])
        .prop_map(|(errors, rank)| Penalties { errors, rank, mu: 0.001 })
}

const UNWEIGHTED: Kinds = Kinds { weights: false, ..Kinds::ALL };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// On profiles it is what it is on all objects: the matrix, the objective and the noise.
    #[test]
    fn profiles_give_what_objects_give(
        ensemble in ensembles(UNWEIGHTED, 10, 5), penalties in penalties()
    ) {
        let profiles = profiles(&ensemble);
        let pairs = Pairs::new(&profiles);
        let mut fast = Learner::new(&pairs, penalties);
        let mut slow = Slow::new(&profiles, penalties);
        let run = Run::new(0);
        for _ in 0..4 {
            slow.update_errors();
            let expected = slow.objective();
            let objective = fast.objective(&run).unwrap();
            prop_assert!((objective - expected).abs() < 1e-9 * (1.0 + expected.abs()));
            let (noise, _) = fast.noise(&run).unwrap();
            for (i, noise) in noise.iter().enumerate() {
                prop_assert!((noise - slow.noise(i)).abs() < 1e-9 * (1.0 + noise));
            }
            slow.update_consensus();
            let (objective, _) = fast.step(&run).unwrap();
            prop_assert!((objective - expected).abs() < 1e-9 * (1.0 + expected.abs()));
            for (p, &s) in slow.own.iter().enumerate() {
                for (q, &t) in slow.own.iter().enumerate() {
                    let (x, y) = (fast.consensus()[(s, t)], slow.consensus[(p, q)]);
                    prop_assert!((x - y).abs() < 1e-9, "({}, {}): {} {}", p, q, x, y);
                }
            }
        }
    }

    /// Theorem 2 and the closed form of the errors: the objective never rises, over the paper's grid.
    #[test]
    fn the_objective_never_rises(
        ensemble in ensembles(Kinds::ALL, 12, 6),
        (e, f) in (-4..=4i32, -4..=4i32),
    ) {
        let profiles = profiles(&ensemble);
        let pairs = Pairs::new(&profiles);
        let penalties = Penalties { errors: 10f64.powi(e), rank: 10f64.powi(f), mu: 0.001 };
        let mut learner = Learner::new(&pairs, penalties);
        let mut last = f64::INFINITY;
        for _ in 0..8 {
            let objective = learner.step(&Run::new(0)).unwrap().0;
            // Rounding of sums whose terms are far larger than the descent.
            prop_assert!(objective <= last + 1e-11 * (1.0 + objective.abs()), "{last} {objective}");
            last = objective;
        }
    }
}

/// The same ensemble with all weights doubled.
fn doubled(ensemble: &Ensemble) -> Ensemble {
    let n = ensemble.n_objects();
    let weights = ensemble.weights().map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
    ensemble.clone().with_weights(weights.iter().map(|w| 2.0 * w).collect()).unwrap()
}

proptest! {
    /// $J$ adds up pairs, which grow with the square of the weights, and singular values, which grow
    /// with the weights: twice every object is half of $\lambda_2$, in the paper already. Without the
    /// rank term nothing changes.
    #[test]
    fn doubling_all_weights_halves_lambda2(
        ensemble in ensembles(Kinds { missing: false, ..Kinds::ALL }, 12, 6),
        penalties in penalties(),
    ) {
        let (once, twice) = (profiles(&ensemble), profiles(&doubled(&ensemble)));
        let (pairs, pairs_of_twice) = (Pairs::new(&once), Pairs::new(&twice));
        let run = Run::new(0);
        let at_start = Learner::new(&pairs, penalties).objective(&run).unwrap();
        let Penalties { errors, rank, mu } = penalties;
        let other = Penalties { errors, rank: 2.0 * rank, mu: 4.0 * mu };
        let found = Learner::new(&pairs_of_twice, other).objective(&run).unwrap();
        let expected = 4.0 * (at_start + 2.0 * rank * once.total_weight() * mu.sqrt());
        prop_assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");

        let penalties = Penalties { rank: 0.0, ..penalties };
        let mut a = Learner::new(&pairs, penalties);
        let mut b = Learner::new(&pairs_of_twice, penalties);
        for _ in 0..4 {
            a.step(&run).unwrap();
            b.step(&run).unwrap();
        }
        prop_assert_eq!(a.consensus(), b.consensus());
    }
}

/// Two objects that three of five members put together: without the low-rank term the vote of 0.6
/// is sharpened to a fixed point that depends on lambda1 alone; below lambda1 = 1, a vote of 0.8 goes
/// all the way.
#[test]
fn votes_are_sharpened() {
    let limit = |members: &[[i64; 2]], lambda1: f64| {
        let profiles = profiles(&hard_ensemble(members));
        let method =
            Rce::new(2).lambda1(Lambda1::Value(lambda1)).lambda2(0.0).tol(1e-12).max_iter(50_000);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.convergence.stop, Stop::Converged);
        consensus.affinity.unwrap()[(0, 1)]
    };
    let three_of_five = [[0, 0], [0, 0], [0, 0], [0, 1], [0, 1]];
    for (lambda1, expected) in [(1.0, 0.777), (2.0, 0.745), (10.0, 0.804), (100.0, 0.914)] {
        let found = limit(&three_of_five, lambda1);
        assert!((found - expected).abs() < 6e-4, "{lambda1}: {found}");
    }
    let four_of_five = [[0, 0], [0, 0], [0, 0], [0, 0], [0, 1]];
    assert!(limit(&four_of_five, 0.5) > 1.0 - 1e-6);
}

#[test]
fn unanimous_members_are_returned_without_noise() {
    let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 2], [1, 1, 0, 0, 5]]));
    let method = Rce::new(3);
    let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
    assert_eq!(consensus.object_labels(&profiles), [0, 0, 1, 1, 2].map(Some));
    let identity = Matrix::from_fn(3, 3, |s, t| f64::from(u8::from(s == t)));
    assert_eq!(consensus.affinity, Some(identity));
    assert_eq!(consensus.convergence.stop, Stop::Converged);
    assert_eq!(consensus.convergence.iterations, 1);
    assert_eq!(consensus.diagnostics.get("noise"), Some(&Value::Members(vec![0.0, 0.0])));
}

/// Eight members of three clusters with some noise, the last a random one.
fn with_a_bad_member(n: usize) -> Ensemble {
    let mut rng = Rng::new(1, Stream::Data);
    let member = |h: usize| {
        let noise = if h == 7 { 1.0 } else { 0.1 };
        let labels = (0..n)
            .map(|i| Some(if rng.unit() < noise { rng.below(3) as i64 } else { i as i64 % 3 }));
        HardMember::from_integers(format!("{h}"), labels.collect::<Vec<_>>()).into()
    };
    Ensemble::new((0..8).map(member).collect()).unwrap()
}

#[test]
fn the_noisy_member_is_named_and_overruled() {
    let profiles = profiles(&with_a_bad_member(150));
    for params in [Rce::new(3), Rce::new(3).lambda2(1.0)] {
        let consensus = combine(&profiles, &params, None, &Run::new(0)).unwrap();
        let Some(Value::Members(noise)) = consensus.diagnostics.get("noise") else {
            panic!("no noise is told");
        };
        assert!(noise[..7].iter().all(|&good| good < 0.7 * noise[7]), "{noise:?}");
        let labels = consensus.object_labels(&profiles);
        let wrong = (3..150).filter(|&i| labels[i] != labels[i % 3]).count();
        assert!(wrong <= 1, "{wrong} objects are wrong");
        // The rank term, of which little changes, is rounded to so much.
        let falls = |x: &f64, y: &f64| *y <= x + 1e-11 * x.abs();
        assert!(consensus.convergence.trace.is_sorted_by(falls));
        assert_eq!(consensus.convergence.trace.len(), consensus.convergence.iterations);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let profiles = profiles(&with_a_bad_member(400));
    assert!(profiles.len() > 100, "more than one block of rows");
    let on = |threads| {
        let method = Rce::new(3).max_iter(5);
        combine(&profiles, &method, None, &Run::new(2).threads(threads)).unwrap()
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn tuning_keeps_the_labels_that_share_most_with_the_members() {
    let profiles = profiles(&with_a_bad_member(60));
    let with = |params: Rce| combine(&profiles, &params, None, &Run::new(0)).unwrap();
    let tuned = with(Rce::new(4).max_iter(20).lambda1(Lambda1::Grid));
    let most = GRID
        .iter()
        .map(|&lambda1| with(Rce::new(4).max_iter(20).lambda1(Lambda1::Value(lambda1))))
        .map(|consensus| anmi(&profiles, &consensus.labels))
        .fold(0.0, f64::max);
    assert!((anmi(&profiles, &tuned.labels) - most).abs() < 1e-12);
    let Some(Value::Number(lambda1)) = tuned.diagnostics.get("lambda1") else {
        panic!("the choice is not told");
    };
    assert!(GRID.contains(lambda1));
}

#[test]
fn too_little_memory_is_refused_with_alternatives() {
    let profiles = profiles(&with_a_bad_member(400));
    let method = Rce::new(3);
    let u = profiles.len() as u64;
    let run = Run::new(0).memory(5 * 8 * u * u);
    let refusal = combine(&profiles, &method, None, &run).unwrap_err().to_string();
    assert!(refusal.starts_with("`rce` on ") && refusal.contains("sa"), "{refusal}");
}

#[test]
fn values_out_of_range_are_refused() {
    let build = |name: &str, value: &str| {
        method("rce").unwrap().with(Some(2), &Settings::from_iter([(name, value)])).map(|_| ())
    };
    for name in ["lambda1", "mu"] {
        for bad in ["0", "-1", "NaN", "inf", "text"] {
            assert!(build(name, bad).is_err(), "{name} = {bad}");
        }
    }
    for name in ["lambda2", "tol"] {
        assert!(build(name, "-1").is_err() && build(name, "NaN").is_err());
        assert_eq!(build(name, "0"), Ok(()));
    }
    assert!(build("max_iter", "0").is_err() && build("restarts", "0").is_err());
    assert_eq!(build("lambda1", "grid"), Ok(()));
    assert_eq!(build("lambda2", "auto"), Ok(()));
    assert!(matches!(
        method("rce").unwrap().with(None, &Settings::default()).map(|_| ()),
        Err(Error::NeedsK { .. })
    ));
}
