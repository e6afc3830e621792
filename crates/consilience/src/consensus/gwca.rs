//! GWCA: generalised weighted cluster aggregation.
//!
//! F. Wang, X. Wang, T. Li. *Generalized Cluster Aggregation.* IJCAI 2009.
//!
//! A consensus matrix $M$ should be near the members' connective matrices $A^{(q)} = H_q H_q^T$, and
//! nearer to those that deserve it: with $d_\phi$ a Bregman divergence,
//!
//! $$ f(a, M) = \sum_q a_q \sum_{ij} d_\phi(A^{(q)}_{ij}, M_{ij}) + \lambda \lVert a \rVert^2,
//!    \qquad a \ge 0, \quad \sum_q a_q = 1 $$
//!
//! is descended by turns. For every $\phi$ the best $M$ is $\sum_q a_q A^{(q)}$, and the best $a$ is
//! the projection of $-e / (2 \lambda)$ on the simplex with $e_q = \sum_{ij} d_\phi(A^{(q)}_{ij},
//! M_{ij})$; neither step raises $f$. In the end $M$ is clustered [spectrally](crate::base).
//!
//! The weights tell which members the others bear out, and are reported.
//!
//! # Without the matrix
//!
//! $M$ is never built. For the Euclidean divergence $e = \operatorname{diag} \Gamma - 2 \Gamma a +
//! a^T \Gamma a$ with the $r \times r$ matrix $\Gamma_{st} = \lVert H_s^T W H_t \rVert^2$; for the
//! others, $e_q = \sum_{ij} \phi(A^{(q)}_{ij}) + \sum_{ij} [\phi'(M_{ij}) M_{ij} - \phi(M_{ij})] -
//! \sum_{ij} \phi'(M_{ij}) A^{(q)}_{ij}$ is added up over pairs of profiles as they are visited. The
//! spectral step takes $M$ as $F F^T$ with $F = H \operatorname{diag}(\sqrt{a})$.
//!
//! # Where we depart from the paper
//!
//! We know its abstract and introduction only, so some of this may be a difference and some not.
//!
//! * *Order of arguments.* $M$ is the second argument: the KL divergence from an exact 0 or 1 would
//!   be infinite the other way round. For the Euclidean divergence both orders agree.
//! * *Penalty.* $\lambda \lVert a \rVert^2$ with $\lambda = \text{strength} \cdot r \bar e / 2$, where
//!   $\bar e$ is the mean divergence at equal weights. With strength 1 a member's weight is, to first
//!   order, $(2 - e_q / \bar e) / r$. A small strength keeps the one best member, a large one prefers
//!   none.
//! * *Missing labels.* An object that a member does not label is together with none there, so a
//!   member with many gaps is far from the others and counts less.
//! * *Sums* are means over pairs of objects, so that they do not grow with $n$.
//!
//! # Cost
//!
//! Euclidean: time $O(u r^2 + K^2 + t r^2)$ and memory $O(K^2)$; otherwise time $O(t u^2 r)$. Then
//! the spectral step, as in [`sa`](crate::consensus::sa).

use rayon::prelude::*;

use crate::base::{MAX_BUILT, SpectralParams};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Stop, Value};
use crate::consensus::params::{above, at_least, params, words};
use crate::ensemble::{Factor, Profiles};
use crate::error::Result;
use crate::linalg::{Matrix, project_to_simplex};
use crate::math;
use crate::run::Run;

/// What there is to know about generalised weighted cluster aggregation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "gwca",
    title: "generalised weighted cluster aggregation: members weighted by their nearness to the consensus matrix",
    reference: "F. Wang, X. Wang, T. Li. Generalized Cluster Aggregation. IJCAI 2009.",
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    time: "O(u r^2 + K^3 + u r k); O(t u^2 r) more for kl and exponential",
    memory: "O(K^2 + u k)",
    ..Gwca::DECLARED
};

params! {
    /// [GWCA](self): generalised weighted cluster aggregation: members weighted by their nearness
    /// to the consensus matrix.
    pub struct Gwca(k): INFO {
        /// How far a member is from the consensus matrix; all but euclidean look at all pairs of
        /// profiles.
        divergence: Divergence = Divergence::Euclidean;
        /// How much equal weights are preferred; towards 0 the best member decides alone.
        strength: f64 = 1.0, above(0.0);
        /// Largest number of rounds.
        max_iter: usize = 50, at_least(1.0);
        /// Stop when no weight changes by as much.
        tol: f64 = 1e-10, at_least(0.0);
        /// Starts of k-means in the final spectral clustering; the best is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

words! {
    /// A Bregman divergence $d_\phi(x, y) = \phi(x) - \phi(y) - \phi'(y) (x - y)$ of numbers in [0, 1].
    pub enum Divergence {
        /// $\phi(x) = x^2$: the squared difference.
        Euclidean = "euclidean",
        /// $\phi(x) = x \ln x - x$: Kullback and Leibler's, for numbers that need not sum to 1.
        KullbackLeibler = "kl",
        /// $\phi(x) = e^x$.
        Exponential = "exponential",
    }
}

impl Divergence {
    fn phi(self, x: f64) -> f64 {
        match self {
            Divergence::Euclidean => x * x,
            Divergence::KullbackLeibler if x == 0.0 => 0.0,
            Divergence::KullbackLeibler => x * math::ln(x) - x,
            Divergence::Exponential => math::exp(x),
        }
    }

    fn slope(self, x: f64) -> f64 {
        match self {
            Divergence::Euclidean => 2.0 * x,
            // A pair that only members of weight 0 put together: very far, not infinitely.
            Divergence::KullbackLeibler => math::ln(x.max(f64::MIN_POSITIVE)),
            Divergence::Exponential => math::exp(x),
        }
    }
}

impl Gwca {
    fn spectral(&self) -> SpectralParams {
        SpectralParams::new(self.k).restarts(self.restarts)
    }
}

impl ConsensusMethod for Gwca {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, k) = (shape.u as u64, self.k.min(shape.u) as u64);
        let all = shape.total_clusters as u64;
        let gram = if self.divergence == Divergence::Euclidean { all * all } else { 0 };
        let order = u.min(all);
        // The matrix of the spectral step, its eigenvectors and workspace; or the bases of the
        // iteration.
        let spectral = if order <= MAX_BUILT as u64 {
            8 * order * order
        } else {
            12 * (order + u) * (k + k / 4 + 12)
        };
        8 * (gram.max(spectral) + u * (3 * k + 8))
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let (weights, divergences, convergence) = self.weigh(profiles, run)?;
        run.tick("spectral clustering", 0, None)?;
        let mut columns = Vec::with_capacity(profiles.n_clusters());
        for (member, a) in profiles.members().iter().zip(&weights) {
            columns.resize(member.clusters.end, a.sqrt());
        }
        let factor = Factor::new(profiles, vec![1.0; profiles.len()], columns);
        let fit = self.spectral().check()?.fit_factor(&factor, run)?;
        let mut consensus = Consensus::from_labels(fit.labels, fit.k);
        consensus.convergence = convergence;
        consensus.diagnostics.push("weights", Value::Members(weights));
        consensus.diagnostics.push("divergence", Value::Members(divergences));
        consensus.diagnostics.push("normalised eigenvalues", Value::List(fit.values));
        Ok(consensus)
    }
}

impl Gwca {
    /// The weights of the members, their divergences from the consensus matrix, and how the descent
    /// went.
    fn weigh(&self, profiles: &Profiles, run: &Run) -> Result<(Vec<f64>, Vec<f64>, Convergence)> {
        let p = self;
        let r = profiles.n_members();
        run.check()?;
        let measure = Measure::new(profiles, p.divergence, run)?;
        let mut a = vec![1.0 / r as f64; r];
        let mut e = measure.divergences(&a, run)?;
        let mean = e.iter().sum::<f64>() / r as f64;
        let lambda = p.strength * r as f64 * mean / 2.0;
        let objective = |a: &[f64], e: &[f64]| -> f64 {
            a.iter().zip(e).map(|(a, e)| a * e + lambda * a * a).sum()
        };
        let mut trace = vec![objective(&a, &e)];
        let (mut iterations, mut stop) = (0, Stop::MaxIterations);
        if lambda == 0.0 {
            // The members agree in all: equal weights are as good as any.
            stop = Stop::Converged;
        }
        let (ones, mut order) = (vec![1.0; r], Vec::new());
        while iterations < p.max_iter && stop != Stop::Converged {
            run.tick("weighing the members", iterations as u64, Some(p.max_iter as u64))?;
            let mut next: Vec<f64> = e.iter().map(|e| -e / (2.0 * lambda)).collect();
            project_to_simplex(&mut next, &ones, &mut order);
            let change = next.iter().zip(&a).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            a = next;
            e = measure.divergences(&a, run)?;
            trace.push(objective(&a, &e));
            iterations += 1;
            if change <= p.tol {
                stop = Stop::Converged;
            }
        }
        let objective = trace.last().copied();
        Ok((a, e, Convergence { objective, trace, iterations, stop }))
    }
}

/// What is needed to tell how far the members are from their weighted mean.
enum Measure<'a> {
    /// $\Gamma$, divided by the number of pairs.
    Euclidean(Matrix),
    Pairs {
        profiles: &'a Profiles,
        divergence: Divergence,
        /// The mean of $\phi(A^{(q)}_{ij})$.
        own: Vec<f64>,
    },
}

/// Rows of pairs that are added up in one go.
const ROWS: usize = 64;

impl<'a> Measure<'a> {
    fn new(profiles: &'a Profiles, divergence: Divergence, run: &Run) -> Result<Self> {
        let pairs = profiles.total_weight().powi(2);
        if divergence == Divergence::Euclidean {
            let mut gamma = profiles.connective_products(&profiles.gram(profiles.weights()));
            gamma.as_mut_slice().iter_mut().for_each(|x| *x /= pairs);
            return Ok(Measure::Euclidean(gamma));
        }
        let own = over_pairs(profiles, run, profiles.n_members(), |values, w, sums| {
            values.iter().zip(sums).for_each(|(&x, sum)| *sum += w * divergence.phi(x));
        })?;
        Ok(Measure::Pairs { profiles, divergence, own })
    }

    /// The mean over pairs of $d_\phi(A^{(q)}_{ij}, M_{ij})$ for every member, with $M = \sum_q a_q
    /// A^{(q)}$.
    fn divergences(&self, a: &[f64], run: &Run) -> Result<Vec<f64>> {
        let r = a.len();
        // Rounding must not make a member nearer than near.
        let e: Vec<f64> = match self {
            Measure::Euclidean(gamma) => {
                let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                let image: Vec<f64> = gamma.iter_rows().map(|row| dot(row, a)).collect();
                let whole = dot(a, &image);
                (0..r).map(|q| (gamma[(q, q)] - 2.0 * image[q] + whole).max(0.0)).collect()
            }
            Measure::Pairs { profiles, divergence, own } => {
                let sums = over_pairs(profiles, run, r + 1, |values, w, sums| {
                    let m: f64 = values.iter().zip(a).map(|(x, a)| x * a).sum();
                    let slope = divergence.slope(m);
                    let (common, each) = sums.split_last_mut().expect("one more than members");
                    *common += w * (slope * m - divergence.phi(m));
                    let scaled = w * slope;
                    each.iter_mut().zip(values).for_each(|(sum, x)| *sum += scaled * x);
                })?;
                (0..r).map(|q| (own[q] + sums[r] - sums[q]).max(0.0)).collect()
            }
        };
        // What rounding leaves of members that agree in all is nothing.
        let largest = e.iter().copied().fold(0.0, f64::max);
        Ok(if largest < 1e-14 { vec![0.0; r] } else { e })
    }
}

/// Adds up `len` numbers over all pairs of objects and divides by the number of pairs;
/// `add(values, w, sums)` adds what a pair of profiles gives that counts for `w` pairs of objects
/// and where member $q$ has $A^{(q)}_{ij}$ = `values[q]`.
fn over_pairs(
    profiles: &Profiles,
    run: &Run,
    len: usize,
    add: impl Fn(&[f64], f64, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    let (u, r, weights) = (profiles.len(), profiles.n_members(), profiles.weights());
    let chunk = |chunk: usize| {
        run.check()?;
        let mut sums = vec![0.0; len];
        let mut values = vec![0.0; r];
        let mut row = vec![0.0; profiles.n_clusters()];
        for s in chunk * ROWS..((chunk + 1) * ROWS).min(u) {
            profiles.for_each_entry(s, |_, c, p| row[c] = p);
            for t in 0..=s {
                values.fill(0.0);
                profiles.for_each_entry(t, |q, c, p| values[q] += row[c] * p);
                let times = if s == t { 1.0 } else { 2.0 };
                add(&values, times * weights[s] * weights[t], &mut sums);
            }
            profiles.for_each_entry(s, |_, c, _| row[c] = 0.0);
        }
        Ok(sums)
    };
    let parts: Vec<Vec<f64>> =
        (0..u.div_ceil(ROWS)).into_par_iter().map(chunk).collect::<Result<_>>()?;
    let mut total = vec![0.0; len];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, sum)| *total += sum);
    }
    let pairs = profiles.total_weight().powi(2);
    total.iter_mut().for_each(|x| *x /= pairs);
    Ok(total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    const DIVERGENCES: [Divergence; 3] =
        [Divergence::Euclidean, Divergence::KullbackLeibler, Divergence::Exponential];

    fn gwca(divergence: Divergence) -> Gwca {
        Gwca::new(1).divergence(divergence)
    }

    fn weights(consensus: &Consensus) -> Vec<f64> {
        match consensus.diagnostics.get("weights") {
            Some(Value::Members(weights)) => weights.clone(),
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        /// Straight from the definition: all pairs, the divergence as it is written.
        #[test]
        fn divergences_are_means_over_pairs(ensemble in ensembles(Kinds::ALL, 10, 4)) {
            let profiles = profiles(&ensemble);
            let (u, r, w) = (profiles.len(), profiles.n_members(), profiles.weights());
            let a: Vec<f64> = (1..=r).map(|q| (2 * q) as f64 / (r * (r + 1)) as f64).collect();
            let h = dense_incidence(&profiles);
            let connective = |q: usize, s: usize, t: usize| -> f64 {
                profiles.members()[q].clusters.clone().map(|c| h[(s, c)] * h[(t, c)]).sum()
            };
            for divergence in DIVERGENCES {
                let d = |x: f64, y: f64| match divergence {
                    Divergence::Euclidean => (x - y) * (x - y),
                    Divergence::KullbackLeibler if x == 0.0 => y,
                    Divergence::KullbackLeibler => x * (x / y).ln() - x + y,
                    Divergence::Exponential => x.exp() - y.exp() * (1.0 + x - y),
                };
                let run = Run::new(0).threads(1);
                let measure = Measure::new(&profiles, divergence, &run).unwrap();
                let found = measure.divergences(&a, &run).unwrap();
                for q in 0..r {
                    let mut sum = 0.0;
                    for s in 0..u {
                        for t in 0..u {
                            let m: f64 = (0..r).map(|q| a[q] * connective(q, s, t)).sum();
                            sum += w[s] * w[t] * d(connective(q, s, t), m);
                        }
                    }
                    let mean = sum / profiles.total_weight().powi(2);
                    prop_assert!((found[q] - mean).abs() < 1e-12, "{divergence:?}");
                }
            }
        }

        #[test]
        fn no_step_raises_the_objective(
            ensemble in ensembles(Kinds::ALL, 14, 6),
            strength in prop::sample::select(vec![0.01, 0.3, 1.0, 5.0]),
        ) {
            let profiles = profiles(&ensemble);
            for divergence in DIVERGENCES {
                let method =
                    Gwca::new(1).divergence(divergence).strength(strength);
                let (a, _, went) = method.weigh(&profiles, &Run::new(0).threads(1)).unwrap();
                prop_assert!((a.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                prop_assert!(a.iter().all(|&a| a >= 0.0));
                let scale = went.trace[0].abs() + 1e-12;
                for pair in went.trace.windows(2) {
                    prop_assert!(pair[1] <= pair[0] + 1e-12 * scale, "{:?}", went.trace);
                }
            }
        }
    }

    /// Four members agree, the fifth does not.
    #[test]
    fn the_dissenter_counts_least() {
        let clear = [0, 0, 0, 1, 1, 1, 2, 2, 2];
        let odd = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        let profiles = profiles(&hard_ensemble(&[clear, clear, odd, clear, clear]));
        for divergence in DIVERGENCES {
            let method = Gwca::new(3).divergence(divergence);
            let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
            let a = weights(&consensus);
            assert!([0, 1, 3, 4].iter().all(|&q| a[q] > 2.0 * a[2]), "{divergence:?} {a:?}");
            let labels: Vec<_> = consensus.object_labels(&profiles);
            assert!((0..9).all(|i| labels[i] == labels[i / 3 * 3]), "{labels:?}");
        }
    }

    #[test]
    fn strength_goes_from_the_best_member_to_no_preference() {
        let members = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1]];
        let profiles = profiles(&hard_ensemble(&members));
        let at = |strength: f64| {
            let method = Gwca::new(2).strength(strength);
            method.weigh(&profiles, &Run::new(0)).unwrap().0
        };
        assert!(at(1e-3).iter().any(|&a| a > 0.999));
        assert!(at(1e6).iter().all(|a| (a - 1.0 / 3.0).abs() < 1e-3));
    }

    #[test]
    fn members_that_agree_in_all_have_equal_weights() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 2, 2], [2, 2, 0, 0, 1, 1]]));
        for divergence in DIVERGENCES {
            let (a, e, went) = gwca(divergence).weigh(&profiles, &Run::new(0)).unwrap();
            assert_eq!((a, e), (vec![0.5; 2], vec![0.0; 2]));
            assert_eq!((went.stop, went.iterations), (Stop::Converged, 0));
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let check = |params: Gwca| params.check().is_err();
        assert!(check(Gwca::new(0)));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(check(Gwca::new(2).strength(bad)));
        }
        assert!(check(Gwca::new(2).tol(f64::NAN)));
        assert!(check(Gwca::new(2).max_iter(0)));
        assert!(check(Gwca::new(2).restarts(0)));
    }
}
