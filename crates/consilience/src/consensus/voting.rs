//! Majority voting: objects that most members put together belong together.
//!
//! A. L. N. Fred. *Finding Consistent Clusters in Data Partitions.* MCS 2001.
//!
//! With $v_{ij}$ the number of members that give objects $i$ and $j$ the same label and $b_{ij}$ the
//! number that label both, $i$ and $j$ are joined when
//!
//! $$ q \, v_{ij} > p \, b_{ij}, \qquad p/q = 1/2 \text{ in the paper (Table 1, step 2)}; $$
//!
//! clusters are the connected components, and an object that is joined to none is one of its own.
//!
//! # Strength
//!
//! Whether an object stands with others or alone hangs on its closest companion: the object *with
//! another label tuple* with which it shares the largest part $\sigma = v/b$ of its votes. If
//! $\sigma$ is above the threshold, the two are in one cluster and the strength is $\sigma$; if
//! not, the object is left by itself and the strength is $1 - \sigma$. Objects with the same
//! tuple do not speak for each other: they would follow each other anywhere, and how many they are
//! is a matter of weights, which can be scaled at will.
//!
//! # Where we depart from the paper
//!
//! * *Counting.* The paper adds $1/R$ for every vote and compares with 0.5. In floating point half
//!   the votes then exceed one half for 86 of the 200 even $R \le 400$, among them 18, 50 and 100.
//!   We count in whole numbers.
//! * *Missing labels.* The paper has none; $b_{ij}$ takes the place of $R$. A pair that no member
//!   labels is not joined.
//!
//! # Cost
//!
//! Time $O(u^2 r)$, 64 pairs at once, less where blocks of profiles have few labels in common;
//! memory $O(u r)$. No pair is stored.

use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{Parameter, Range, params};
use crate::ensemble::{Majority, NO_PROFILE, Profiles, agreement, agreement_cost};
use crate::error::Result;
use crate::run::Run;

/// What there is to know about majority voting.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "voting",
    title: "majority voting: components of the graph of pairs that most members join",
    reference: "A. L. N. Fred. Finding Consistent Clusters in Data Partitions. MCS 2001.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    time: "O(u^2 r), 64 pairs at once",
    memory: "O(u r)",
    ..Voting::DECLARED
};

params! {
    /// [Majority voting](self): majority voting: components of the graph of pairs that most
    /// members join.
    pub struct Voting(): INFO {
        /// Two objects are joined when more than this share of the members that label both agree.
        threshold: Majority = Majority::HALF;
    }
}

impl Parameter for Majority {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn spell(&self) -> String {
        self.share().to_string()
    }

    fn values(_: &Range) -> String {
        "at least 0 and below 1, as a decimal or a fraction".to_owned()
    }
}

impl ConsensusMethod for Voting {
    fn cost(&self, shape: &Shape) -> u64 {
        agreement_cost(shape.u, shape.r, shape.total_clusters)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let found = agreement(profiles, self.threshold, run)?;
        let (mut profiles_in, mut objects_in) =
            (vec![0; found.n_components], vec![0; found.n_components]);
        found.components.iter().for_each(|&c| profiles_in[c as usize] += 1);
        for &s in profiles.map().iter().filter(|&&s| s != NO_PROFILE) {
            objects_in[found.components[s as usize] as usize] += 1;
        }
        let strength = |(&c, &share): (&u32, &f64)| {
            if profiles_in[c as usize] == 1 { 1.0 - share } else { share }
        };
        let strength = found.components.iter().zip(&found.closest).map(strength).collect();
        let singletons = objects_in.iter().filter(|&&objects| objects == 1).count();
        let mut consensus = Consensus::from_labels(found.components, found.n_components);
        consensus.strength = strength;
        consensus.diagnostics.push("components", Value::Integer(found.n_components as i64));
        consensus.diagnostics.push("singletons", Value::Integer(singletons as i64));
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::{Settings, combine};
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    fn vote(ensemble: &Ensemble, threshold: Majority) -> (Profiles, Consensus) {
        let profiles = profiles(ensemble);
        let voting = Voting::new().threshold(threshold);
        let consensus = combine(&profiles, &voting, None, &Run::new(0)).unwrap();
        (profiles, consensus)
    }

    fn clusters(ensemble: &Ensemble) -> Vec<u32> {
        let (profiles, consensus) = vote(ensemble, Majority::HALF);
        consensus.object_labels(&profiles).into_iter().flatten().collect()
    }

    /// Table 1 of the paper, pair by pair over the objects: the label of each object's cluster, and
    /// the votes, out of how many, that it shares with the closest object that has other labels.
    fn slow(ensemble: &Ensemble, threshold: Majority) -> (Vec<usize>, Vec<(u32, u32)>) {
        let n = ensemble.n_objects();
        let labels: Vec<Vec<Option<usize>>> = (0..n)
            .map(|i| ensemble.members().iter().map(|m| m.hardened().labels().get(i)).collect())
            .collect();
        let mut cluster: Vec<usize> = (0..n).collect();
        let mut closest = vec![(0, 1); n];
        for i in 0..n {
            for j in 0..n {
                let pairs = || labels[i].iter().zip(&labels[j]);
                let both = pairs().filter(|(a, b)| a.is_some() && b.is_some()).count() as u32;
                let votes = pairs().filter(|(a, b)| a.is_some() && a == b).count() as u32;
                if labels[i] != labels[j] && votes * closest[i].1 > closest[i].0 * both {
                    closest[i] = (votes, both);
                }
                if threshold.joins(votes, both) {
                    let (from, to) = (cluster[i], cluster[j]);
                    cluster.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
                }
            }
        }
        (cluster, closest)
    }

    #[test]
    fn components_by_hand() {
        // All three agree.
        let agreed = hard_ensemble(&[[1, 1, 2, 2, 3, 3], [7, 7, 5, 5, 6, 6], [0, 0, 1, 1, 2, 2]]);
        assert_eq!(clusters(&agreed), [0, 0, 1, 1, 2, 2]);
        // Two of three put 2 and 3 together with 4 and 5.
        let coarse = hard_ensemble(&[[1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 2, 2], [1, 1, 2, 2, 2, 2]]);
        assert_eq!(clusters(&coarse), [1, 1, 0, 0, 0, 0]);
        // A chain: 0-1 and 2-3 by all, 1-2 by two of three, never 0-3 by more than one.
        let chain = hard_ensemble(&[[1, 1, 1, 2], [1, 2, 2, 2], [1, 1, 2, 2]]);
        assert_eq!(clusters(&chain), [0, 0, 0, 0]);
        // One of two votes is no majority.
        let torn = hard_ensemble(&[[1, 1, 2, 2], [1, 2, 1, 2]]);
        assert_eq!(clusters(&torn), [0, 1, 2, 3]);
    }

    #[test]
    fn strength_is_the_share_on_the_side_of_the_decision() {
        let ensemble = hard_ensemble(&[[1, 1, 2], [1, 1, 1], [1, 1, 2], [1, 2, 3], [1, 1, 2]]);
        let (profiles, consensus) = vote(&ensemble, Majority::HALF);
        assert_eq!(consensus.object_labels(&profiles), [Some(0), Some(0), Some(1)]);
        // 0 and 1 share four of five votes; 2 shares one of five with each.
        assert_eq!(consensus.strength, [0.8, 0.8, 0.8]);
        assert_eq!(consensus.diagnostics.get("components"), Some(&Value::Integer(2)));
        assert_eq!(consensus.diagnostics.get("singletons"), Some(&Value::Integer(1)));
    }

    /// Adding 1/R as the paper does: where half the votes count as more than half.
    #[test]
    fn whole_numbers_are_right_where_sums_of_floats_are_not() {
        let float_errs = |r: u32| (0..r / 2).fold(0.0, |sum, _| sum + 1.0 / f64::from(r)) > 0.5;
        let wrong: Vec<u32> = (2..=400).step_by(2).filter(|&r| float_errs(r)).collect();
        assert_eq!((wrong.len(), wrong[0]), (86, 18));
        assert!(wrong.contains(&50) && wrong.contains(&100));
        for r in (2..=400).step_by(2) {
            assert!(!Majority::HALF.joins(r / 2, r) && Majority::HALF.joins(r / 2 + 1, r));
            assert_eq!(Majority::HALF.needed(r), r / 2 + 1);
        }
        // Two objects that nine of eighteen members put together, then ten of eighteen.
        for (together, k) in [(9, 2), (10, 1)] {
            let member = |h: i64| {
                HardMember::from_integers(
                    format!("m{h}"),
                    [Some(0), Some(i64::from(h >= together))],
                )
            };
            let ensemble = Ensemble::new((0..18).map(|h| member(h).into()).collect()).unwrap();
            assert_eq!(vote(&ensemble, Majority::HALF).1.k, k);
        }
    }

    #[test]
    fn a_pair_that_no_member_labels_is_not_joined() {
        let a = HardMember::from_integers("a", [Some(0), Some(0), None, None]);
        let b = HardMember::from_integers("b", [None, None, Some(0), Some(0)]);
        let ensemble = Ensemble::new(vec![a.into(), b.into()]).unwrap();
        assert_eq!(clusters(&ensemble), [0, 0, 1, 1]);
    }

    #[test]
    fn thresholds_are_read_exactly_or_refused() {
        let read = |text: &str| {
            let settings = Settings::from_iter([("threshold", text)]);
            INFO.with(None, &settings).map(|_| text.parse::<Majority>().unwrap())
        };
        assert_eq!(read("0.5"), Ok(Majority::HALF));
        assert_eq!(read(".50"), Ok(Majority::HALF));
        assert_eq!(read("7/14"), Ok(Majority::HALF));
        assert_eq!(read("0.333333333"), Majority::new(333_333_333, 1_000_000_000));
        assert_eq!(read("0"), Majority::new(0, 1));
        for bad in [
            "1",
            "1.0",
            "-0.5",
            "5e-1",
            "1/0",
            "0/0",
            "3/2",
            "x",
            "",
            ".",
            "NaN",
            "0,5",
            "0.1234567890123",
        ] {
            let error = read(bad).unwrap_err().to_string();
            assert!(
                error.starts_with("parameter `threshold` must be at least 0"),
                "{bad}: {error}"
            );
        }
    }

    proptest! {
        #[test]
        fn the_fast_version_is_the_slow_one(
            ensemble in ensembles(Kinds::HARD, 40, 8),
            complete in ensembles(Kinds::PLAIN, 40, 8),
            (p, q) in (0u32..6, 1u32..7),
        ) {
            let threshold = Majority::new(p % q, q).unwrap();
            for ensemble in [ensemble, complete] {
                let (cluster, closest) = slow(&ensemble, threshold);
                let (profiles, consensus) = vote(&ensemble, threshold);
                let labels = consensus.object_labels(&profiles);
                let strength = consensus.object_strength(&profiles);
                for i in 0..cluster.len() {
                    for j in 0..cluster.len() {
                        // An object without any label is in no cluster.
                        if let (Some(a), Some(b)) = (labels[i], labels[j]) {
                            prop_assert_eq!(a == b, cluster[i] == cluster[j]);
                        }
                    }
                    if let Some(strength) = strength[i] {
                        let (votes, both) = closest[i];
                        let share = f64::from(votes) / f64::from(both);
                        let joined = threshold.joins(votes, both);
                        prop_assert_eq!(strength, if joined { share } else { 1.0 - share });
                    }
                }
            }
        }
    }
}
