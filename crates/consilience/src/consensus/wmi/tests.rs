use proptest::prelude::*;

use super::*;
use crate::consensus::outcome::{Convergence, Stop};
use crate::consensus::{Settings, combine};
use crate::ensemble::{Contingency, Ensemble, HardMember};
use crate::metrics::Information;
use crate::rng::Rng;
use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

/// (11) with $I$ by the book: over the objects a member labels, which are $n^q$ of $n$.
fn objective(profiles: &Profiles, omega: &[f64], labels: &[u32]) -> f64 {
    let n = profiles.total_weight();
    let of_member = |(q, omega): (usize, &f64)| {
        let table = Contingency::of_consensus(profiles, labels, q);
        omega * Information::of(&table).mutual * table.total() / n
    };
    omega.iter().enumerate().map(of_member).sum()
}

/// (12), with (13), for member $q$ on complete data: $(p(x) + p(c))$ times the Jensen–Shannon
/// divergence of $p(\cdot \mid x)$ and $p(\cdot \mid c)$.
fn merging_cost(
    h: &Matrix,
    weights: &[f64],
    q: &std::ops::Range<usize>,
    c: &[usize],
    x: usize,
) -> f64 {
    let n: f64 = weights.iter().sum();
    let p = |s: &[usize]| s.iter().map(|&s| weights[s]).sum::<f64>() / n;
    let given =
        |s: &[usize], j: usize| s.iter().map(|&s| weights[s] * h[(s, j)]).sum::<f64>() / (n * p(s));
    if c.is_empty() {
        return 0.0;
    }
    let (p_x, p_c) = (p(&[x]), p(c));
    let (pi_x, pi_c) = (p_x / (p_x + p_c), p_c / (p_x + p_c));
    let kl = |a: f64, mean: f64| if a > 0.0 { a * (a / mean).ln() } else { 0.0 };
    let js = |j: usize| {
        let (at_x, at_c) = (given(&[x], j), given(c, j));
        let mean = pi_x * at_x + pi_c * at_c;
        pi_x * kl(at_x, mean) + pi_c * kl(at_c, mean)
    };
    (p_x + p_c) * q.clone().map(js).sum::<f64>()
}

fn omega(r: usize) -> Vec<f64> {
    (0..r).map(|q| 1.0 + 0.5 * q as f64).collect()
}

fn labels(u: usize, k: usize, draw: u64) -> Vec<u32> {
    let mut rng = Rng::new(draw, Stream::Data);
    (0..u).map(|_| rng.below(k) as u32).collect()
}

impl Reassignment<'_> {
    /// What profile `s` costs in every cluster, but for what is the same in all.
    fn costs_of(&mut self, s: usize) -> Vec<f64> {
        self.read(s);
        self.price(self.labels[s] as usize);
        self.costs.as_flattened()[..self.k].to_vec()
    }

    /// Whether a visit of profile `s` would end before its costs are computed.
    fn is_settled(&mut self, s: usize) -> bool {
        self.read(s);
        self.surely_stays(s, self.labels[s] as usize)
    }

    /// The number of profiles that visits move.
    fn moved_by(&mut self, order: &[u32]) -> usize {
        let mut moved = Moved::default();
        self.visit(order, &mut moved);
        moved.profiles
    }
}

/// The labels after every pass.
fn passes(profiles: &Profiles, omega: &[f64], k: usize, draw: u64, bounded: bool) -> Vec<Vec<u32>> {
    let start = labels(profiles.len(), k, draw);
    let mut search = Reassignment::new(profiles, omega, k, start);
    if bounded {
        search.expect_few_moves();
    }
    let mut rng = Rng::new(draw, Stream::Order);
    (0..12)
        .map(|_| {
            search.moved_by(&rng.permutation(profiles.len()));
            search.labels.clone()
        })
        .collect()
}

fn fit(method: &Wmi, ensemble: &Ensemble, seed: u64) -> Consensus {
    let profiles = profiles(ensemble);
    let run = Run::new(seed);
    method.solve(&profiles, None, &run).expect("an answer")
}

/// 600 objects around four centres: members err on some of them, each in its own way.
fn noisy(seed: u64, weights: bool) -> Profiles {
    let mut rng = Rng::new(seed, Stream::Data);
    let truth: Vec<usize> = (0..600).map(|_| rng.below(4)).collect();
    let members = (0..8).map(|h| {
        let split = rng.between(1, 3);
        let label = |c: usize, rng: &mut Rng| {
            let c = if rng.unit() < 0.25 { rng.below(4) } else { c };
            Some((c * split + rng.below(split)) as i64)
        };
        let labels: Vec<_> = truth.iter().map(|&c| label(c, &mut rng)).collect();
        HardMember::from_integers(h.to_string(), labels).into()
    });
    let mut ensemble = Ensemble::new(members.collect()).expect("members of one length");
    if weights {
        let weights = (0..600).map(|_| 0.25 + 4.0 * rng.unit() * rng.unit()).collect();
        ensemble = ensemble.with_weights(weights).expect("positive weights");
    }
    profiles(&ensemble)
}

proptest! {
    /// (14): what a move changes is what recomputing tells; hard, soft, missing, weighted.
    #[test]
    fn costs_are_differences_of_the_objective(
        ensemble in ensembles(Kinds::ALL, 9, 3), k in 1..6usize, draw: u64,
    ) {
        let profiles = profiles(&ensemble);
        let (n, omega) = (profiles.total_weight(), omega(profiles.n_members()));
        let mut labels = labels(profiles.len(), k, draw);
        let mut search = Reassignment::new(&profiles, &omega, k, labels.clone());
        let before = objective(&profiles, &omega, &labels);
        prop_assert!((search.objective() - before).abs() < 1e-12);
        for s in 0..profiles.len() {
            let own = labels[s] as usize;
            let costs = search.costs_of(s);
            for c in 0..k {
                labels[s] = c as u32;
                let change = objective(&profiles, &omega, &labels) - before;
                prop_assert!((n * change - (costs[own] - costs[c])).abs() < 1e-11);
            }
            labels[s] = own as u32;
        }
    }

    /// Who is known to stay without computing the costs stays; hard, soft, missing, weighted.
    #[test]
    fn bounds_agree_with_the_costs(
        ensemble in ensembles(Kinds::ALL, 30, 4), k in 1..20usize, draw: u64,
    ) {
        let profiles = profiles(&ensemble);
        let omega = omega(profiles.n_members());
        let labels = labels(profiles.len(), k, draw);
        let mut search = Reassignment::new(&profiles, &omega, k, labels.clone());
        search.expect_few_moves();
        for s in 0..profiles.len() {
            if search.is_settled(s) {
                let costs = search.costs_of(s);
                prop_assert!(costs.iter().all(|&cost| cost >= costs[labels[s] as usize]));
            }
        }
    }

    /// The paper's (12) and (13), on complete data.
    #[test]
    fn costs_are_the_papers_divergences(
        ensemble in ensembles(Kinds { missing: false, ..Kinds::ALL }, 8, 3), k in 1..5usize, draw: u64,
    ) {
        let profiles = profiles(&ensemble);
        let (n, omega) = (profiles.total_weight(), omega(profiles.n_members()));
        let labels = labels(profiles.len(), k, draw);
        let h = dense_incidence(&profiles);
        let mut search = Reassignment::new(&profiles, &omega, k, labels.clone());
        for x in 0..profiles.len() {
            let d_f = |c: usize| {
                let others = (0..profiles.len()).filter(|&s| s != x && labels[s] as usize == c);
                let c: Vec<usize> = others.collect();
                let members = profiles.members().iter().zip(&omega);
                let cost = |(member, omega): (&crate::ensemble::ProfileMember, &f64)| {
                    omega * merging_cost(&h, profiles.weights(), &member.clusters, &c, x)
                };
                members.map(cost).sum::<f64>()
            };
            let costs = search.costs_of(x);
            for c in 0..k {
                prop_assert!(d_f(c) >= -1e-12);
                prop_assert!((n * (d_f(c) - d_f(0)) - (costs[c] - costs[0])).abs() < 1e-11);
            }
        }
    }

    /// The costs not computed are those that would change nothing.
    #[test]
    fn bounds_change_no_move(ensemble in ensembles(Kinds::ALL, 25, 4), k in 1..6usize, draw: u64) {
        let profiles = profiles(&ensemble);
        for omega in [omega(profiles.n_members()), vec![1.0; profiles.n_members()]] {
            let [all, bounded] =
                [false, true].map(|bounded| passes(&profiles, &omega, k, draw, bounded));
            prop_assert_eq!(all, bounded);
        }
    }

    #[test]
    fn the_objective_never_falls_and_the_end_is_a_local_optimum(
        ensemble in ensembles(Kinds::ALL, 14, 4), k in 1..5usize, seed: u64,
    ) {
        let profiles = profiles(&ensemble);
        prop_assume!(k <= profiles.len());
        for variant in [WmiVariant::Weighted, WmiVariant::Fuzzy] {
            let method = Wmi::new(variant, k);
            let consensus = fit(&method, &ensemble, seed);
            let Convergence { objective: end, trace, stop, .. } = &consensus.convergence;
            prop_assert_eq!(*stop, Stop::Converged);
            prop_assert!(trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{trace:?}");
            let omega = method.weights(&member_diversity(&profiles));
            let end = end.unwrap();
            let mut labels = consensus.labels.clone();
            prop_assert!((objective(&profiles, &omega, &labels) - end).abs() < 1e-12);
            for s in 0..profiles.len() {
                let own = labels[s];
                for c in 0..k as u32 {
                    labels[s] = c;
                    prop_assert!(objective(&profiles, &omega, &labels) <= end + 1e-10);
                }
                labels[s] = own;
            }
        }
    }

    /// Trying all clusterings of the *objects*: none is better than the best without a split
    /// profile, and with some restarts that one is found.
    #[test]
    fn the_best_of_all_clusterings_is_found(
        ensemble in ensembles(Kinds::PLAIN, 6, 3), k in 1..4usize, seed: u64,
    ) {
        let merged = profiles(&ensemble);
        prop_assume!(k <= merged.len());
        let n = ensemble.n_objects();
        let omega = vec![1.0; ensemble.members().len()];
        let code = |q: usize, i: usize| {
            merged.label(merged.map()[i] as usize, q).expect("complete labels") as u32
        };
        let of_objects = |labels: &[u32]| {
            let of_member = |q: usize| {
                let codes: Vec<u32> = (0..n).map(|i| code(q, i)).collect();
                Information::of(&Contingency::of_labels(labels, &codes, None).unwrap()).mutual
            };
            (0..omega.len()).map(of_member).sum::<f64>()
        };
        let best = (0..k.pow(n as u32))
            .map(|i| {
                let labels: Vec<u32> = (0..n).map(|o| (i / k.pow(o as u32) % k) as u32).collect();
                of_objects(&labels)
            })
            .fold(0.0, f64::max);
        let method = Wmi::new(WmiVariant::Hard, k).restarts(20);
        let found = fit(&method, &ensemble, seed).convergence.objective.unwrap();
        prop_assert!((found - best).abs() < 1e-12, "{found} instead of {best}");
    }

    /// Complete labels: an empty cluster is always worth filling.
    #[test]
    fn exactly_k_clusters_come_out(
        ensemble in ensembles(Kinds::PLAIN, 15, 4), k in 1..8usize, seed: u64,
    ) {
        let u = profiles(&ensemble).len();
        prop_assume!(k <= u);
        let method = Wmi::new(WmiVariant::Hard, k);
        let mut labels = fit(&method, &ensemble, seed).labels;
        labels.sort_unstable();
        labels.dedup();
        prop_assert_eq!(labels.len(), k);
    }
}

/// Ensembles large enough for bounds to tell: whole numbers, and weights.
#[test]
fn bounds_change_no_move_in_large_ensembles() {
    for seed in 0..4 {
        for (profiles, k) in [(noisy(seed, false), 4), (noisy(seed, true), 5)] {
            for omega in [omega(profiles.n_members()), vec![1.0; profiles.n_members()]] {
                let [all, bounded] =
                    [false, true].map(|bounded| passes(&profiles, &omega, k, seed, bounded));
                assert_eq!(all, bounded);
            }
        }
    }
}

/// Nearly all that stay are told by bounds, also after moves.
#[test]
fn late_visits_need_no_logarithm() {
    for weighted in [false, true] {
        let profiles = noisy(1, weighted);
        let omega = omega(profiles.n_members());
        let mut search = Reassignment::new(&profiles, &omega, 4, labels(profiles.len(), 4, 1));
        search.expect_few_moves();
        let order: Vec<u32> = (0..profiles.len() as u32).collect();
        while search.moved_by(&order) > 0 {}
        let told = order.iter().filter(|&&s| search.is_settled(s as usize)).count();
        assert!(told > profiles.len() / 2, "{told} of {}", profiles.len());
    }
}

#[test]
fn a_start_is_gone_on_from() {
    let ensemble = hard_ensemble(&[[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]);
    let profiles = profiles(&ensemble);
    let method = Wmi::new(WmiVariant::Hard, 2);
    let start: Vec<Option<u32>> = [0, 0, 0, 1, 1, 1].map(Some).to_vec();
    let consensus = combine(&profiles, &method, Some(&start), &Run::new(0)).unwrap();
    let labels: Vec<u32> = consensus.object_labels(&profiles).into_iter().flatten().collect();
    assert_eq!(labels, [0, 0, 0, 1, 1, 1]);
    assert_eq!(consensus.convergence.iterations, 1);
}

#[test]
fn weights_are_diversities_unless_there_is_none() {
    let differ = hard_ensemble(&[[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]);
    let weights = |variant, ensemble: &Ensemble| {
        let consensus = fit(&Wmi::new(variant, 2), ensemble, 0);
        match consensus.diagnostics.get("weights") {
            Some(Value::Members(weights)) => weights.clone(),
            other => panic!("weights are {other:?}"),
        }
    };
    let vi = 4f64.ln();
    for (found, expected) in
        weights(WmiVariant::Weighted, &differ).iter().zip([vi / 2.0, vi / 2.0, vi])
    {
        assert!((found - expected).abs() < 1e-15);
    }
    assert_eq!(weights(WmiVariant::Fuzzy, &differ), [1.0; 3]);
    let equal = hard_ensemble(&[[0, 0, 1, 1], [1, 1, 0, 0]]);
    assert_eq!(weights(WmiVariant::Weighted, &equal), [1.0; 2]);
    assert_eq!(weights(WmiVariant::Weighted, &hard_ensemble(&[[0, 0, 1, 1]])), [1.0]);
}

#[test]
fn nothing_to_do_is_refused() {
    let params = || Wmi::new(WmiVariant::Hard, 2);
    assert!(Wmi::new(WmiVariant::Hard, 0).check().is_err());
    assert!(params().restarts(0).check().is_err());
    assert!(params().max_iter(0).check().is_err());
    let settings = Settings::from_iter([("order", "sorted")]);
    let error = H_MI.with(Some(2), &settings).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "parameter `order` must be random or index, got sorted");
}

/// Every profile goes where its labels are most common in the sample.
#[test]
fn a_sample_says_where_the_others_begin() {
    let (k, run) = (4, Run::new(1).threads(1));
    let params = Wmi::new(WmiVariant::Weighted, k);
    for weighted in [false, true] {
        let all = noisy(1, weighted);
        let omega = omega(all.n_members());
        let some = sample(&all, k, 100).expect("many profiles");
        let on = |profiles| Problem { profiles, params: &params, omega: &omega, start: None };
        let (of_all, of_some) = (on(&all), on(&some));
        let extended = |labels: &[u32]| {
            let search = of_some.search(labels.to_vec(), run.rng(Stream::Data));
            of_all.extend(&of_some, search, &run).unwrap().reassignment.labels
        };
        let chosen = labels(some.len(), k, 1);
        // Nobody begins where nobody of the sample is.
        let in_two: Vec<u32> = chosen.iter().map(|label| label % 2).collect();
        assert!(extended(&in_two).iter().all(|&label| label < 2));
        let half = 0.5 * some.total_weight() / some.len() as f64;
        let mass = |q: usize, j: Option<usize>, c: usize| -> f64 {
            let inside = |s: &usize| {
                let label = some.label(*s, q);
                chosen[*s] as usize == c && label.is_some() && (j.is_none() || label == j)
            };
            (0..chosen.len()).filter(inside).map(|s| some.weights()[s]).sum::<f64>() + half
        };
        for (s, label) in extended(&chosen).into_iter().enumerate() {
            let cost = |c: usize| -> f64 {
                let of_member = |(q, omega): (usize, &f64)| {
                    omega * (mass(q, None, c) / mass(q, all.label(s, q), c)).ln()
                };
                omega.iter().enumerate().map(of_member).sum()
            };
            let costs: Vec<f64> = (0..k).map(cost).collect();
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(costs[label as usize] <= least + 1e-12);
        }
    }
}

/// Below a thousand objects, what starts on a sample ends where no move of a profile improves it.
#[test]
fn a_start_on_a_sample_ends_in_a_local_optimum_of_all() {
    for seed in 0..3 {
        let profiles = noisy(seed, false);
        let params = || Wmi::new(WmiVariant::Fuzzy, 4).sample(100);
        let run = Run::new(seed);
        let consensus = params().solve(&profiles, None, &run).unwrap();
        assert_eq!(consensus.diagnostics.get("still_moving"), Some(&Value::Number(0.0)));
        let Convergence { objective: end, trace, stop, .. } = &consensus.convergence;
        assert_eq!(*stop, Stop::Converged);
        assert!(trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{trace:?}");
        let omega = vec![1.0; profiles.n_members()];
        let end = end.unwrap();
        assert!((objective(&profiles, &omega, &consensus.labels) - end).abs() < 1e-12);
        let mut search = Reassignment::new(&profiles, &omega, 4, consensus.labels.clone());
        for s in 0..profiles.len() {
            let costs = search.costs_of(s);
            let own = costs[consensus.labels[s] as usize];
            assert!(costs.iter().all(|cost| own <= cost + 1e-8 * profiles.total_weight()));
        }
        // Not worse than random starts on all, but for luck.
        let all = params().sample(0).solve(&profiles, None, &run).unwrap();
        assert!(end > 0.98 * all.convergence.objective.unwrap());
    }
}

#[test]
fn given_starts_are_not_sampled() {
    let profiles = noisy(1, false);
    let start = labels(profiles.len(), 4, 2);
    let fit = |sample: usize| {
        let method = Wmi::new(WmiVariant::Hard, 4).sample(sample);
        method.solve(&profiles, Some(&start), &Run::new(1)).unwrap()
    };
    assert_eq!(fit(0).labels, fit(100).labels);
}
