//! What the ensemble itself says of the number of clusters, whatever method was used.
//!
//! Three rules look at the co-association of the profiles, or of a sample of them: the lifetimes of
//! average link (the cut that lives longest), the largest gap of the normalised spectrum, and the
//! share of the dominating eigenvalues. They err in different ways, so that their agreement is worth
//! something. The distribution of the co-associations shows how decided pairs are.

use crate::base::linkage::{Dense, Link, chain};
use crate::choose_k::{dominating, lifetime};
use crate::ensemble::sample;
use crate::ensemble::{CoAssociation, Profiles};
use crate::error::Result;
use crate::linalg::{Matrix, eigenvalues};
use crate::run::Run;
use rayon::prelude::*;

/// Profiles that are looked at in all their pairs.
const SAMPLE: usize = 600;
/// The largest number of clusters that is looked for, and numbers that are told of each curve.
const MOST: usize = 20;
/// The share of the trace that dominating eigenvalues exceed, as in spectral aggregation.
const EPSILON: f64 = 0.8;
/// Steps of the distribution of co-associations.
const STEPS: usize = 50;
/// Pairs with a co-association between these are undecided (Şenbabaoğlu et al. 2014).
const UNDECIDED: (f64, f64) = (0.1, 0.9);

/// Votes of several rules on the number of clusters, with the curves they look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Criteria {
    /// Lifetimes of 1, 2, ... clusters in the dendrogram of average link.
    pub lifetimes: Vec<f64>,
    /// The largest eigenvalues of the normalised co-association $D^{-1/2} C D^{-1/2}$, falling from 1.
    pub normalised: Vec<f64>,
    /// The shares that the largest eigenvalues of the co-association have in its trace, falling.
    pub shares: Vec<f64>,
    /// What each rule says; a rule that cannot decide says nothing.
    pub votes: Vec<KVote>,
    /// The share of pairs of different objects with a co-association of at most 0, 1/50, ..., 1.
    pub distribution: Vec<f64>,
    /// The share of pairs that are undecided: co-association above 0.1 and below 0.9 (PAC).
    pub undecided: f64,
    /// How many profiles were looked at, if not all.
    pub sampled: Option<usize>,
}

/// The number of clusters by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KVote {
    /// The rule.
    pub rule: &'static str,
    /// What it says.
    pub k: usize,
}

impl Criteria {
    /// Asks the rules about `profiles`.
    ///
    /// # Cost
    ///
    /// Time $O(m^2 (m + r))$ and memory $O(m^2)$ for $m$ profiles, at most 600 of them.
    ///
    /// # Errors
    ///
    /// If the run is cancelled or an eigenvalue cannot be found.
    pub fn new(profiles: &Profiles, run: &Run) -> Result<Self> {
        let some = sample(profiles, SAMPLE);
        let m = some.len();
        let co = CoAssociation::new(&some);
        let mut matrix = Matrix::zeros(m, m);
        run.install(|| {
            let rows = matrix.as_mut_slice().par_chunks_mut(m.max(1)).enumerate();
            rows.for_each(|(s, row)| co.row_into(s, 0..m, row));
        });
        run.check()?;
        let weights = some.weights();
        let lifetimes = lifetimes(&matrix, weights, run)?;
        let [normalised, shares] = spectra(&matrix, weights, run)?;
        let (distribution, undecided) = distribution(&matrix, weights);

        let mut votes = Vec::new();
        let most = MOST.min(m.saturating_sub(1));
        let mut vote = |rule, k: Option<usize>| votes.extend(k.map(|k| KVote { rule, k }));
        vote("longest lifetime", lifetime::longest(&lifetimes, 1..=most));
        vote("largest eigengap", largest_gap(&normalised));
        vote("dominating eigenvalues", dominating(&shares, 1.0, EPSILON).filter(|k| *k <= MOST));
        let first = |mut values: Vec<f64>| {
            values.truncate(MOST);
            values
        };
        Ok(Criteria {
            lifetimes: first(lifetimes),
            normalised: first(normalised),
            shares: first(shares),
            votes,
            distribution,
            undecided,
            sampled: (m < profiles.len()).then_some(m),
        })
    }
}

fn lifetimes(matrix: &Matrix, weights: &[f64], run: &Run) -> Result<Vec<f64>> {
    if weights.len() < 2 {
        return Ok(vec![1.0; weights.len()]);
    }
    let row = |s: usize, out: &mut [f64]| out.copy_from_slice(matrix.row(s));
    let joins = chain(Dense::new(weights, Link::Average, 1.0, row), run)?;
    let heights: Vec<f64> = joins.iter().map(|join| 1.0 - join.similarity).collect();
    Ok(lifetime::lifetimes(&heights))
}

/// The eigenvalues of the normalised co-association, and those of the plain one over its trace.
fn spectra(matrix: &Matrix, weights: &[f64], run: &Run) -> Result<[Vec<f64>; 2]> {
    let m = weights.len();
    let weighted = |scale: &[f64]| {
        eigenvalues(Matrix::from_fn(m, m, |s, t| scale[s] * matrix[(s, t)] * scale[t]), run)
    };
    let root: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let degree = |s: usize| matrix.row(s).iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
    let scale: Vec<f64> = (0..m).map(|s| root[s] / degree(s).sqrt()).collect();
    let trace: f64 = weights.iter().sum();
    let shares = weighted(&root)?.into_iter().map(|x| x / trace).collect();
    Ok([weighted(&scale)?, shares])
}

/// After how many eigenvalues, at most [`MOST`], the next is smaller by most.
fn largest_gap(values: &[f64]) -> Option<usize> {
    let gap = |k: usize| values[k - 1] - values.get(k).copied().unwrap_or(0.0).max(0.0);
    let candidates = 1..=MOST.min(values.len());
    candidates.reduce(|best, k| if gap(k) > gap(best) + 1e-9 { k } else { best })
}

/// The distribution of the co-associations over pairs of different objects, and the undecided share.
pub(super) fn distribution(matrix: &Matrix, weights: &[f64]) -> (Vec<f64>, f64) {
    let mut counts = vec![0.0; STEPS + 1];
    let (mut undecided, mut all) = (0.0, 0.0);
    for s in 0..weights.len() {
        for t in 0..=s {
            // Copies of one object are pairs too; with weights below 1 there are none.
            let pairs = if s == t {
                0.5 * weights[s] * (weights[s] - 1.0).max(0.0)
            } else {
                weights[s] * weights[t]
            };
            let value = matrix[(s, t)].clamp(0.0, 1.0);
            // A hair's breadth keeps fractions that are a step at that step.
            counts[((value * STEPS as f64 - 1e-9).ceil() as usize).min(STEPS)] += pairs;
            if value > UNDECIDED.0 && value < UNDECIDED.1 {
                undecided += pairs;
            }
            all += pairs;
        }
    }
    if all == 0.0 {
        return (vec![1.0; STEPS + 1], 0.0);
    }
    let mut sum = 0.0;
    for count in &mut counts {
        sum += *count;
        *count = (sum / all).min(1.0);
    }
    (counts, undecided / all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn unanimous_members_have_their_number() {
        let labels: [i64; 12] = std::array::from_fn(|i| i as i64 % 4);
        let found = Criteria::new(&profiles(&hard_ensemble(&[labels; 3])), &Run::new(0)).unwrap();
        let ks: Vec<usize> = found.votes.iter().map(|vote| vote.k).collect();
        assert!(ks.contains(&4) && found.votes.len() >= 2, "{:?}", found.votes);
        assert_eq!(found.undecided, 0.0);
        // 4 times 3 pairs of 66 are together.
        assert!((found.distribution[0] - 54.0 / 66.0).abs() < 1e-12);
        assert_eq!(found.distribution[STEPS], 1.0);
    }

    #[test]
    fn three_noisy_groups_are_three_for_all_rules() {
        // Members of three groups of 20, each with some objects in a wrong one.
        let member = |h: usize| -> [i64; 60] {
            std::array::from_fn(|i| {
                let wrong = (i * 7 + h * 11).is_multiple_of(13);
                ((i / 20 + usize::from(wrong)) % 3) as i64
            })
        };
        let members: Vec<[i64; 60]> = (0..15).map(member).collect();
        let found = Criteria::new(&profiles(&hard_ensemble(&members)), &Run::new(0)).unwrap();
        assert_eq!(found.votes.iter().map(|vote| vote.k).collect::<Vec<_>>(), [3, 3, 3]);
        assert!(found.undecided > 0.0);
    }

    proptest! {
        #[test]
        fn distributions_rise_to_one(ensemble in ensembles(Kinds::ALL, 10, 4)) {
            let found = Criteria::new(&profiles(&ensemble), &Run::new(0)).unwrap();
            prop_assert!(found.distribution.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!((found.distribution[STEPS] - 1.0).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&found.undecided));
            prop_assert!((found.normalised[0] - 1.0).abs() < 1e-9);
        }
    }
}
