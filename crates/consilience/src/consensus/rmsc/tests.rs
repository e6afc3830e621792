//! RMSC beside the algorithm as it is printed, and by its properties.

use proptest::prelude::*;

use super::*;
use crate::consensus::combine;
use crate::consensus::outcome::Stop;
use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

/// The algorithm as it is printed, over objects, with every matrix kept.
struct Plain {
    given: Vec<Matrix>,
    p: Matrix,
    q: Matrix,
    z: Matrix,
    e: Vec<Matrix>,
    y: Vec<Matrix>,
}

impl Plain {
    fn new(profiles: &Profiles, own: &[usize]) -> Self {
        let n = own.len();
        let h = dense_incidence(profiles);
        let walk = |member: &crate::ensemble::ProfileMember| {
            let together = |i: usize, j: usize| -> f64 {
                member.clusters.clone().map(|c| h[(own[i], c)] * h[(own[j], c)]).sum()
            };
            Matrix::from_fn(n, n, |i, j| {
                let degree: f64 = (0..n).map(|l| together(i, l)).sum();
                if degree > 0.0 {
                    together(i, j) / degree
                } else {
                    let equals = own.iter().filter(|&&s| s == own[i]).count();
                    if own[i] == own[j] { 1.0 / equals as f64 } else { 0.0 }
                }
            })
        };
        let given: Vec<Matrix> = profiles.members().iter().map(walk).collect();
        let zeros = || Matrix::zeros(n, n);
        let all = || given.iter().map(|_| zeros()).collect::<Vec<_>>();
        Plain { p: zeros(), q: zeros(), z: zeros(), e: all(), y: all(), given }
    }

    fn sweep(&mut self, mu: f64, lambda: f64) -> f64 {
        let (n, r) = (self.p.nrows(), self.given.len());
        let ones = vec![1.0; n];
        for i in 0..n {
            for j in 0..n {
                let each =
                    |q: usize| self.given[q][(i, j)] - self.e[q][(i, j)] - self.y[q][(i, j)] / mu;
                let sum: f64 = (0..r).map(each).sum();
                self.p[(i, j)] = (self.q[(i, j)] - self.z[(i, j)] / mu + sum) / (r + 1) as f64;
            }
            project_to_simplex(self.p.row_mut(i), &ones, &mut Vec::new());
        }
        let x = Matrix::from_fn(n, n, |i, j| self.p[(i, j)] + self.z[(i, j)] / mu);
        self.q = shrink_singular_values(&x, 1.0 / mu, &Run::new(0)).unwrap().0;
        let mut worst = 0.0_f64;
        for q in 0..r {
            for i in 0..n {
                let mut broken = 0.0;
                for j in 0..n {
                    let at = (i, j);
                    let whole = self.given[q][at] - self.p[at] - self.y[q][at] / mu;
                    let kept = (whole.abs() - lambda / mu).max(0.0);
                    self.e[q][at] = kept.copysign(whole);
                    let gap = self.p[at] + self.e[q][at] - self.given[q][at];
                    self.y[q][at] += mu * gap;
                    broken += gap.abs();
                }
                worst = worst.max(broken);
            }
        }
        for i in 0..n {
            let mut broken = 0.0;
            for j in 0..n {
                let gap = self.p[(i, j)] - self.q[(i, j)];
                self.z[(i, j)] += mu * gap;
                broken += gap.abs();
            }
            worst = worst.max(broken);
        }
        worst
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// On profiles it is what it is on objects, sweep by sweep, and $P$ stays a random walk.
    #[test]
    fn profiles_give_the_walk_of_all_objects(
        ensemble in ensembles(Kinds { weights: false, ..Kinds::ALL }, 9, 3),
    ) {
        let profiles = profiles(&ensemble);
        let own: Vec<usize> =
            profiles.map().iter().map(|&s| s as usize).filter(|&s| s < profiles.len()).collect();
        let (lambda, run) = (0.05, Run::new(0).threads(1));
        let mut plain = Plain::new(&profiles, &own);
        let mut walk = Walk::new(&profiles, lambda);
        let mut mu = 0.05;
        for _ in 0..25 {
            let slow = plain.sweep(mu, lambda);
            let (_, fast) = walk.sweep(mu, &run).unwrap();
            prop_assert!((slow - fast).abs() < 1e-6, "{slow} {fast}");
            for i in 0..own.len() {
                for j in 0..own.len() {
                    let (x, y) = (plain.p[(i, j)], walk.p[(own[i], own[j])]);
                    prop_assert!((x - y).abs() < 1e-6, "{x} {y}");
                }
            }
            for row in walk.p.iter_rows() {
                let sum: f64 = row.iter().zip(profiles.weights()).map(|(p, w)| p * w).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12 && row.iter().all(|&p| p >= 0.0));
            }
            mu *= 1.4;
        }
    }

    #[test]
    fn constraints_come_to_hold(ensemble in ensembles(Kinds::ALL, 10, 4)) {
        let profiles = profiles(&ensemble);
        let method = Rmsc::new(1);
        let consensus = combine(&profiles, &method, None, &Run::new(0).threads(1)).unwrap();
        prop_assert_eq!(consensus.convergence.stop, Stop::Converged);
        let Some(Value::List(residuals)) = consensus.diagnostics.get("residuals") else {
            panic!("residuals are told");
        };
        prop_assert!(residuals[residuals.len() - 1] < 1e-6);
    }
}

fn noise(consensus: &Consensus) -> Vec<f64> {
    match consensus.diagnostics.get("noise") {
        Some(Value::Members(noise)) => noise.clone(),
        other => panic!("{other:?}"),
    }
}

/// Two clusters that four members see and a fifth does not: the walk is the four's, and the
/// errors are the fifth's.
#[test]
fn errors_are_put_on_the_dissenter() {
    let clear = [0, 0, 0, 1, 1, 1];
    let profiles = profiles(&hard_ensemble(&[clear, clear, [0, 1, 0, 1, 0, 1], clear, clear]));
    for symmetry in [Symmetry::Mean, Symmetry::Stationary] {
        let method = Rmsc::new(2).symmetry(symmetry);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let noise = noise(&consensus);
        assert!([0, 1, 3, 4].iter().all(|&q| noise[q] < 0.1 * noise[2]), "{noise:?}");
        assert_eq!(consensus.object_labels(&profiles), clear.map(|c| Some(c as u32)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Twice the objects halve the entries of the walk and double the sum of errors: with half
    /// the lambda it is the same problem, sweep by sweep.
    #[test]
    fn lambda_counts_with_the_number_of_objects(ensemble in ensembles(Kinds::ALL, 10, 4)) {
        let weights = |factor: f64| {
            let own = ensemble.weights().expect("this kind has weights");
            own.iter().map(|w| w * factor).collect::<Vec<_>>()
        };
        let (once, twice) = (
            profiles(&ensemble.clone().with_weights(weights(1.0)).unwrap()),
            profiles(&ensemble.clone().with_weights(weights(2.0)).unwrap()),
        );
        let (mut a, mut b) = (Walk::new(&once, 0.05), Walk::new(&twice, 0.025));
        let run = Run::new(0).threads(1);
        let mut mu = 0.05;
        for _ in 0..20 {
            let (x, y) = (a.sweep(mu, &run).unwrap(), b.sweep(mu, &run).unwrap());
            prop_assert!((x.0 - y.0).abs() < 1e-7 && (x.1 - y.1).abs() < 1e-7);
            for (x, y) in a.p.as_slice().iter().zip(b.p.as_slice()) {
                prop_assert!((x - 2.0 * y).abs() < 1e-7);
            }
            mu *= 1.4;
        }
    }
}

#[test]
fn the_stationary_distribution_stands_still() {
    let p = Matrix::from_vec(2, 2, vec![0.4, 0.1, 0.2, 0.3]);
    let weights = [2.0, 2.0];
    let pi = stationary(&p, &weights);
    assert!((2.0 * (pi[0] + pi[1]) - 1.0).abs() < 1e-12);
    let after = (1.0 - JUMP) * 2.0 * (pi[0] * 0.4 + pi[1] * 0.2) + JUMP / 4.0;
    assert!((after - pi[0]).abs() < 1e-12);
}

#[test]
fn values_out_of_range_are_refused() {
    let refused = |params: Rmsc| params.check().is_err();
    assert!(refused(Rmsc::new(0)));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Rmsc::new(2).lambda(bad)));
        assert!(refused(Rmsc::new(2).mu(bad)));
        assert!(refused(Rmsc::new(2).tol(bad)));
        assert!(refused(Rmsc::new(2).rho(bad)));
    }
    assert!(refused(Rmsc::new(2).rho(1.0)));
    assert!(refused(Rmsc::new(2).max_iter(0)));
    assert!(refused(Rmsc::new(2).restarts(0)));
}
