//! All rules side by side, and the number of clusters that follows from them.
//!
//! *Clusters or none* is told by [evidence](super::evidence), as far as clusterings can tell. *How many* is the median of three rules
//! that err in different directions: the
//! longest lifetime in the tree of average link, the largest gap between prominences of groups, and the
//! largest gap in the spectrum of the bipartite graph. Where two of them agree the median is what they
//! say. The other rules are told and do not decide: dominating eigenvalues count the members' cells
//! rather than clusters, and resampling finds a coarse number as firm as a fine one.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::base::linkage::{Dense, Link, chain};
use crate::consensus::dominating::{cumulative_shares, dominating};
use crate::consensus::lifetime;
use crate::ensemble::{Canonical, CoAssociation, Profiles, sample};
use crate::error::{Error, Result};
use crate::judge::eigengap::{bipartite_eigenvalues, largest_gap};
use crate::judge::evidence::{Evidence, Structure, all_prominences, evidence};
use crate::judge::number::Clarity;
use crate::judge::objects;
use crate::judge::resampling::{
    KCurve, curves, end_of_growth, histogram, least_undecided, most_stable, undecided_share,
};
use crate::linalg::{Matrix, eigenvalues};
use crate::run::Run;
use crate::words::counted;

/// Profiles that are looked at in all their pairs.
const SAMPLE: usize = 500;
/// The largest number of clusters that is looked for if nobody says otherwise.
const MOST: usize = 40;
/// The share of the trace that dominating eigenvalues exceed, as in spectral aggregation.
const EPSILON: f64 = 0.8;

/// Votes of several rules on the number of clusters, with the curves they look at.
///
/// ```
/// use consilience::judge::KCriteria;
/// use consilience::ensemble::{Ensemble, HardMember, Profiles};
/// use consilience::Run;
///
/// let member = |name: &str, labels: [i64; 9]| HardMember::from_integers(name, labels.map(Some)).into();
/// let ensemble = Ensemble::new(vec![
///     member("a", [0, 0, 0, 1, 1, 1, 2, 2, 2]),
///     member("b", [0, 0, 0, 1, 1, 1, 2, 2, 3]),
///     member("c", [0, 0, 1, 2, 2, 2, 3, 3, 3]),
/// ])?;
/// let run = Run::new(0);
/// let criteria = KCriteria::new(&Profiles::new(&ensemble, &run)?, None, &run)?;
/// assert_eq!(criteria.recommended, 3);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KCriteria {
    /// The number of clusters that follows.
    pub recommended: usize,
    /// Whether it is known: clear where groups are set apart and two rules say the same.
    #[serde(default)]
    pub clarity: Clarity,
    /// The number that most of the other rules say.
    pub runner_up: Option<usize>,
    /// Why this number, as a clause that follows "because".
    pub reason: String,
    /// The smallest and the largest number that were allowed.
    pub range: (usize, usize),
    /// What every rule says; a rule that cannot decide says nothing.
    pub rules: Vec<KRule>,
    /// Whether there are clusters at all.
    pub evidence: Evidence,
    /// The prominences of the groups that end by meeting another, falling.
    pub prominences: Vec<f64>,
    /// Lifetimes of 1, 2, ... clusters in the tree of average link.
    pub lifetimes: Vec<f64>,
    /// The largest eigenvalues of the normalised bipartite graph, falling from 1.
    pub eigenvalues: Vec<f64>,
    /// The share of the trace of the co-association that the first, the first two, ... of its
    /// eigenvalues have.
    pub shares: Vec<f64>,
    /// What halves of the members say of 2, 3, ... clusters.
    pub curves: Vec<KCurve>,
    /// The share of pairs of different objects that at most 0, 1, ... of the members put together.
    pub pairs: Vec<f64>,
    /// The share of pairs that more than a tenth and less than nine tenths of the members put
    /// together.
    pub undecided: f64,
    /// How many profiles were looked at, if not all.
    pub sampled: Option<usize>,
}

/// The number of clusters by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KRule {
    /// The rule.
    pub rule: Cow<'static, str>,
    /// What it says.
    pub k: usize,
    /// Whether the recommendation is the median of this rule and the others that decide.
    pub decides: bool,
}

impl KCriteria {
    /// Asks the rules about `profiles`; `range` restricts the numbers that they may say. Without it
    /// they may say up to 40, and the evidence may say 1.
    ///
    /// All profiles are looked at if there are at most 500, otherwise a systematic sample by weight in
    /// [canonical order](Canonical): no random draw, and the order of objects or members does not
    /// matter.
    ///
    /// # Cost
    ///
    /// Time $O(m^2 (m + r))$ and memory $O(m^2)$ for $m \le 500$ profiles some forty times over, and
    /// what the canonical order of all takes.
    ///
    /// # Errors
    ///
    /// If the run is cancelled or an eigenvalue cannot be found.
    pub fn new(
        profiles: &Profiles,
        range: Option<&RangeInclusive<usize>>,
        run: &Run,
    ) -> Result<Self> {
        run.install(|| Self::found(profiles, range, run))
    }

    fn found(
        profiles: &Profiles,
        range: Option<&RangeInclusive<usize>>,
        run: &Run,
    ) -> Result<Self> {
        run.tick("number of clusters", 0, Some(4))?;
        let canonical = Canonical::new(profiles).profiles;
        let some = sample(&canonical, SAMPLE);
        let (m, weights) = (some.len(), some.weights());
        let matrix = CoAssociation::new(&some).matrix(run)?;
        let most = m.max(1);
        if let Some(range) = range
            && *range.start() > canonical.len().max(1)
        {
            return Err(Error::TooManyClusters { k: *range.start(), distinct: canonical.len() });
        }
        let (low, high) = match range {
            Some(range) => ((*range.start()).clamp(1, most), (*range.end()).clamp(1, most)),
            // All objects apart is no clustering.
            None if m == objects(profiles) => (1, MOST.min(m.saturating_sub(1)).max(1)),
            None => (1, MOST.min(m)),
        };
        // The rules of parts find at least two; that there are none is for the evidence to say.
        let parts = low.max(2)..=high;

        let similarities = |s: usize, out: &mut [f64]| out.copy_from_slice(matrix.row(s));
        let joins = chain(Dense::new(weights, Link::Average, 1.0, similarities), run)?;
        let heights: Vec<f64> = joins.iter().map(|join| 1.0 - join.similarity).collect();
        let lifetimes = lifetime::lifetimes(&heights);
        run.tick("number of clusters", 1, Some(4))?;
        let bipartite = if canonical.n_clusters() <= SAMPLE {
            bipartite_eigenvalues(&canonical, run)?
        } else {
            bipartite_eigenvalues(&some, run)?
        };
        let shares = shares(&matrix, weights, run)?;
        run.tick("number of clusters", 2, Some(4))?;
        let prominences = all_prominences(&matrix, weights, run)?;
        let curves = curves(&some, &joins, parts.clone(), run)?;
        run.tick("number of clusters", 3, Some(4))?;
        let evidence = evidence(&canonical, SAMPLE, run)?;
        let pairs = histogram(&some);

        // The i-th prominence is that of a further group: a gap after it speaks for i + 1.
        let groups: Vec<f64> = std::iter::once(1.0).chain(prominences.iter().copied()).collect();
        let mut rules = Vec::new();
        let mut say = |rule: &'static str, decides, k: Option<usize>| {
            rules.extend(k.map(|k| KRule { rule: rule.into(), k, decides }));
        };
        say("longest lifetime", true, lifetime::longest(&lifetimes, parts.clone()));
        say("gap of prominences", true, largest_gap(&groups, parts.clone()));
        say("gap of bipartite eigenvalues", true, largest_gap(&bipartite, parts.clone()));
        let inside = |k: &usize| range.is_none_or(|range| range.contains(k));
        say("dominating eigenvalues", false, dominating(&shares, 1.0, EPSILON).filter(inside));
        say("most stable halves", false, most_stable(&curves));
        say("fewest undecided pairs", false, least_undecided(&curves));
        say("end of growing area", false, end_of_growth(&curves));

        let none = evidence.verdict == Structure::NoClusters && low == 1;
        let (recommended, reason) = decide(&rules, none, (low, high));
        let agree = rules.iter().filter(|rule| rule.decides && rule.k == recommended).count() > 1;
        let clarity = match evidence.verdict {
            Structure::NoClusters => Clarity::None,
            Structure::Clusters if agree => Clarity::Clear,
            _ => Clarity::Unclear,
        };
        let runner_up = runner_up(&rules, recommended, m);
        run.tick("number of clusters", 4, Some(4))?;
        let first = |mut values: Vec<f64>| {
            values.truncate(MOST);
            values
        };
        Ok(KCriteria {
            recommended,
            clarity,
            runner_up,
            reason,
            range: (low, high),
            rules,
            evidence,
            prominences: first(prominences),
            lifetimes: first(lifetimes),
            eigenvalues: first(bipartite),
            shares: first(cumulative_shares(&shares, 1.0)),
            curves,
            undecided: undecided_share(&pairs),
            pairs,
            sampled: (m < profiles.len()).then_some(m),
        })
    }
}

/// The eigenvalues of the co-association between objects, over its trace; where labels are missing
/// some may be negative, and then over the sum of the others.
fn shares(matrix: &Matrix, weights: &[f64], run: &Run) -> Result<Vec<f64>> {
    let (m, trace) = (weights.len(), weights.iter().sum::<f64>());
    let root: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let scaled = Matrix::from_fn(m, m, |s, t| root[s] * matrix[(s, t)] * root[t]);
    let values = eigenvalues(scaled, run)?;
    let positive: f64 = values.iter().filter(|&&value| value > 0.0).sum();
    // Rounding alone does not make it another sum.
    let all = if positive > trace * (1.0 + 1e-9) { positive } else { trace };
    Ok(values.into_iter().map(|value| value / all).collect())
}

/// The number of clusters that follows from the rules, and why.
fn decide(rules: &[KRule], none: bool, (low, high): (usize, usize)) -> (usize, String) {
    if none {
        let reason = "the clusterings agree no more than shuffled labels do";
        return (1, reason.to_owned());
    }
    let mut deciding: Vec<&KRule> = rules.iter().filter(|rule| rule.decides).collect();
    deciding.sort_by_key(|rule| rule.k);
    let Some(middle) = deciding.get((deciding.len().max(1) - 1) / 2) else {
        return (low.max(1), format!("no rule finds another number from {low} to {high}"));
    };
    (middle.k, suggested(&deciding.iter().map(|rule| rule.k).collect::<Vec<_>>()))
}

/// What the tests suggest, as a clause: "three tests suggest 2, 2 and 4 clusters".
fn suggested(numbers: &[usize]) -> String {
    let tests = match numbers.len() {
        1 => "one test suggests",
        2 => "two tests suggest",
        _ => "three tests suggest",
    };
    match numbers {
        [first, rest @ ..] if rest.iter().all(|k| k == first) => {
            format!("{tests} {}", counted(*first, "cluster"))
        }
        [.., last] => {
            let others: Vec<String> =
                numbers[..numbers.len() - 1].iter().map(ToString::to_string).collect();
            format!("{tests} {} and {last} clusters", others.join(", "))
        }
        [] => String::new(),
    }
}

/// The number other than `recommended` that most rules say, the first of equals; not that of all
/// `m` profiles, which is no clustering.
fn runner_up(rules: &[KRule], recommended: usize, m: usize) -> Option<usize> {
    let votes = |k: usize| rules.iter().filter(|rule| rule.k == k).count();
    let others = rules.iter().map(|rule| rule.k).filter(|&k| k != recommended && k < m);
    others.reduce(|best, k| if votes(k) > votes(best) { k } else { best })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, HardMember, Member};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    fn criteria(ensemble: &Ensemble, range: Option<&RangeInclusive<usize>>) -> KCriteria {
        KCriteria::new(&profiles(ensemble), range, &Run::new(0)).unwrap()
    }

    /// Members of three groups of 20, each with some objects in a wrong one.
    fn three_groups() -> Ensemble {
        let member = |h: usize| -> [i64; 60] {
            std::array::from_fn(|i| {
                let wrong = (i * 7 + h * 11).is_multiple_of(13);
                ((i / 20 + usize::from(wrong)) % 3) as i64
            })
        };
        hard_ensemble(&(0..15).map(member).collect::<Vec<_>>())
    }

    /// An object of weight w says what w equal objects say.
    #[test]
    fn weights_count_as_repeated_rows() {
        let all = profiles(&three_groups());
        let tuples = Ensemble::new(
            (0..15)
                .map(|h| {
                    let labels = (0..all.len()).map(|s| all.label(s, h).map(|label| label as i64));
                    HardMember::from_integers("m", labels).into()
                })
                .collect(),
        )
        .unwrap();
        let weighted = tuples.with_weights(all.weights().to_vec()).unwrap();
        let (once, each) = (criteria(&weighted, None), criteria(&three_groups(), None));
        assert_eq!((once.recommended, once.range), (each.recommended, each.range));
    }

    /// Labels of `k` groups of objects, each wrong with this chance.
    fn planted(n: usize, k: usize, noise: f64, seed: u64) -> Ensemble {
        let mut rng = Run::new(seed).rng(crate::rng::Stream::Data);
        let mut member = |h: usize| {
            let labels = (0..n).map(|i| {
                let wrong = rng.unit() < noise;
                Some(if wrong { rng.below(k) } else { i % k } as i64)
            });
            HardMember::from_integers(format!("m{h}"), labels.collect::<Vec<_>>()).into()
        };
        Ensemble::new((0..20).map(&mut member).collect()).unwrap()
    }

    /// Noise hides groups; it does not make them come back once they are hidden.
    #[test]
    fn planted_groups_are_found_until_noise_hides_them() {
        for k in [2, 4] {
            for seed in 0..2 {
                let found = [0.1, 0.2, 0.3]
                    .map(|noise| criteria(&planted(600, k, noise, seed), None).recommended);
                assert_eq!(found, [k; 3], "seed {seed}");
                assert_eq!(criteria(&planted(600, k, 1.0, seed), None).clarity, Clarity::None);
            }
        }
    }

    #[test]
    fn suggestions_are_a_clause() {
        assert_eq!(suggested(&[3, 3, 3]), "three tests suggest 3 clusters");
        assert_eq!(suggested(&[2, 2, 4]), "three tests suggest 2, 2 and 4 clusters");
        assert_eq!(suggested(&[2, 5]), "two tests suggest 2 and 5 clusters");
        assert_eq!(suggested(&[2]), "one test suggests 2 clusters");
    }

    #[test]
    fn a_range_beyond_the_distinct_objects_is_refused() {
        let few = profiles(&hard_ensemble(&[[0, 0, 1, 2], [0, 0, 1, 2]]));
        let refused = KCriteria::new(&few, Some(&(5..=9)), &Run::new(0)).unwrap_err();
        assert_eq!(refused, Error::TooManyClusters { k: 5, distinct: 3 });
    }

    #[test]
    fn three_noisy_groups_are_three() {
        let found = criteria(&three_groups(), None);
        assert_eq!(found.recommended, 3, "{:?}", found.rules);
        assert_eq!(found.rules.iter().filter(|rule| rule.decides && rule.k == 3).count(), 3);
        // Some of the 60 objects have equal labels: there are 39 profiles.
        assert_eq!(found.range, (1, 39));
        assert_eq!(found.curves.first().map(|curve| curve.k), Some(2));
    }

    #[test]
    fn a_range_restricts_the_rules() {
        let found = criteria(&three_groups(), Some(&(4..=6)));
        assert!((4..=6).contains(&found.recommended));
        assert!(found.rules.iter().all(|rule| (4..=6).contains(&rule.k)), "{:?}", found.rules);
    }

    #[test]
    fn unanimous_members_have_their_number() {
        let labels: [i64; 40] = std::array::from_fn(|i| i as i64 % 4);
        let found = criteria(&hard_ensemble(&[labels; 6]), None);
        assert_eq!(found.recommended, 4, "{found:?}");
        // Of 780 pairs 4 times 45 are together.
        assert_eq!((found.undecided, found.pairs.len()), (0.0, 7));
        assert!((found.pairs[0] - 600.0 / 780.0).abs() < 1e-12, "{:?}", found.pairs);
    }

    proptest! {
        #[test]
        fn anything_gets_a_number(ensemble in ensembles(Kinds::ALL, 12, 4)) {
            let found = criteria(&ensemble, None);
            let u = profiles(&ensemble).len();
            prop_assert!((1..=u).contains(&found.recommended));
            prop_assert!(found.runner_up.is_none_or(|k| k != found.recommended && k < u));
            let distributions = found.curves.iter().map(|curve| &curve.distribution);
            for shares in distributions.chain([&found.pairs]) {
                prop_assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]));
                prop_assert!((shares[shares.len() - 1] - 1.0).abs() < 1e-12);
            }
            prop_assert!((0.0..=1.0).contains(&found.undecided));
        }

        /// The order of members and objects is no information.
        #[test]
        fn order_does_not_matter(ensemble in ensembles(Kinds::HARD, 12, 4)) {
            let turned: Vec<Member> = ensemble.members().iter().rev().cloned().collect();
            let turned = Ensemble::new(turned).unwrap();
            let turned = match ensemble.weights() {
                Some(weights) => turned.with_weights(weights.to_vec()).unwrap(),
                None => turned,
            };
            prop_assert_eq!(
                criteria(&ensemble, None).recommended,
                criteria(&turned, None).recommended
            );
        }
    }
}
