//! Many methods on one ensemble, side by side.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::consensus::{ChoosesK, Consensus, MethodInfo, Settings, combine_from};
use crate::ensemble::Contingency;
use crate::error::{Error, Result};
use crate::metrics::{Normalisation, nmi};
use crate::pipeline::pool::Pool;
use crate::pipeline::record::{Between, BoardRecord};
use crate::run::{Clock, Run};

/// What came of one method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// The method.
    pub method: Cow<'static, str>,
    /// The number of its clusters, if it has an answer.
    pub k: Option<usize>,
    /// The mean NMI of its answer with the members.
    pub anmi: Option<f64>,
    /// The mean NMI of its answer with those of the other methods.
    pub agreement: Option<f64>,
    /// Why it has no answer.
    pub problem: Option<String>,
    /// Seconds that it took, merging equal objects not counted.
    #[serde(skip)]
    pub seconds: f64,
    /// The cluster of every object, if it has an answer.
    #[serde(skip)]
    pub labels: Option<Vec<Option<u32>>>,
}

/// Many methods on one ensemble.
#[derive(Clone, Debug)]
pub struct Leaderboard {
    /// Those with as many clusters as were asked for first, since more clusters agree more by
    /// themselves; within both parts by falling ANMI. Those without an answer last, in the order asked for.
    pub standings: Vec<Standing>,
    /// The NMI of every answer with every other, in the order of the standings that have one.
    pub between: Vec<Vec<f64>>,
}

/// The answer that counts: the highest ANMI among those of as many clusters as were asked for, or
/// among all if there are none such.
pub(super) struct Best {
    pub(super) info: &'static MethodInfo,
    pub(super) consensus: Consensus,
    pub(super) anmi: f64,
}

/// Runs `methods` with default settings on the profiles of an ensemble, asked for `k` clusters where
/// they do not find the number by themselves.
///
/// A method that fails or is refused for memory is a standing with its problem.
pub(super) fn leaderboard(
    pool: &mut Pool,
    methods: &[&'static MethodInfo],
    k: usize,
    run: &Run,
) -> Result<(Leaderboard, Option<Best>)> {
    let mut standings: Vec<Standing> = Vec::new();
    let mut best: Option<(bool, Best)> = None;
    let weights = pool.weights().map(<[f64]>::to_vec);
    let total = Some(methods.len() as u64);
    for (done, &info) in methods.iter().enumerate() {
        run.tick("methods", done as u64, total)?;
        let profiles = pool.profiles_for(info, run)?;
        let clock = Clock::start();
        let asked = (info.chooses_k != ChoosesK::Always).then_some(k);
        let answer = info.with(asked, &Settings::default()).and_then(|method| {
            combine_from(profiles, method.as_ref(), None, &run.on_behalf_of(info.name))
        });
        let mut standing =
            Standing { method: info.name.into(), seconds: clock.seconds(), ..Standing::default() };
        match answer {
            Ok(consensus) => {
                let anmi = run.install(|| consensus.anmi(profiles, weights.as_deref()));
                standing.k = Some(consensus.k);
                standing.anmi = Some(anmi);
                standing.labels = Some(consensus.object_labels(profiles));
                let as_asked = consensus.k == k;
                let leads = best
                    .as_ref()
                    .is_none_or(|(before, leader)| (as_asked, anmi) > (*before, leader.anmi));
                if leads {
                    best = Some((as_asked, Best { info, consensus, anmi }));
                }
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => standing.problem = Some(error.to_string()),
        }
        standings.push(standing);
    }
    let height = |standing: &Standing| standing.anmi.unwrap_or(f64::NEG_INFINITY);
    let other = |standing: &Standing| standing.k.is_none_or(|found| found != k);
    standings.sort_by(|a, b| other(a).cmp(&other(b)).then_with(|| height(b).total_cmp(&height(a))));
    let between = run.install(|| between(&standings, weights.as_deref()))?;
    for (i, standing) in standings.iter_mut().take(between.len()).enumerate() {
        let others: Vec<f64> =
            (0..between.len()).filter(|&j| j != i).map(|j| between[i][j]).collect();
        let mean = others.iter().sum::<f64>() / others.len() as f64;
        standing.agreement = (!others.is_empty()).then_some(mean);
    }
    run.tick("methods", methods.len() as u64, total)?;
    Ok((Leaderboard { standings, between }, best.map(|(_, best)| best)))
}

impl Leaderboard {
    /// What a record says of it: no times, so that equal runs are recorded alike.
    pub fn record(&self) -> BoardRecord {
        let answered = self.standings.iter().filter(|row| row.labels.is_some());
        let methods = answered.map(|row| row.method.to_string()).collect();
        let bare = |row: &Standing| Standing { labels: None, ..row.clone() };
        BoardRecord {
            methods: self.standings.iter().map(bare).collect(),
            between: Between { methods, nmi: self.between.clone() },
        }
    }
}

/// The NMI between all answers.
fn between(standings: &[Standing], weights: Option<&[f64]>) -> Result<Vec<Vec<f64>>> {
    let answers: Vec<&[Option<u32>]> =
        standings.iter().filter_map(|standing| standing.labels.as_deref()).collect();
    let of = |i: usize| -> Result<Vec<f64>> {
        let with = |j: usize| {
            let table = Contingency::of_labels(answers[i], answers[j], weights)?;
            Ok(nmi(&table, Normalisation::Geometric))
        };
        (0..i).map(with).collect()
    };
    let lower: Vec<Vec<f64>> = (0..answers.len()).into_par_iter().map(of).collect::<Result<_>>()?;
    let entry = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => lower[i][j],
        std::cmp::Ordering::Less => lower[j][i],
    };
    Ok((0..answers.len()).map(|i| (0..answers.len()).map(|j| entry(i, j)).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::{METHODS, method};
    use crate::ensemble::Ensemble;
    use crate::testing::hard_ensemble;

    fn ensemble() -> Ensemble {
        hard_ensemble(&[
            [0, 0, 0, 1, 1, 1, 2, 2],
            [0, 0, 1, 1, 1, 1, 2, 2],
            [0, 0, 0, 1, 1, 2, 2, 2],
        ])
    }

    fn board(
        methods: &[&'static MethodInfo],
        k: usize,
        run: &Run,
    ) -> Result<(Leaderboard, Option<Best>)> {
        leaderboard(&mut Pool::of(ensemble()), methods, k, run)
    }

    #[test]
    fn all_methods_stand_in_order() {
        let (found, best) = board(METHODS, 3, &Run::new(0)).unwrap();
        assert_eq!(found.standings.len(), METHODS.len());
        let three = found.standings.iter().take_while(|s| s.k == Some(3)).count();
        let answered = found.standings.iter().filter_map(|s| s.k.zip(s.anmi));
        let (ks, heights): (Vec<usize>, Vec<f64>) = answered.unzip();
        assert!(ks[three..].iter().all(|&k| k != 3), "{ks:?}");
        for part in [&heights[..three], &heights[three..]] {
            assert!(part.windows(2).all(|pair| pair[0] >= pair[1]));
        }
        assert_eq!(found.between.len(), heights.len());
        let best = best.unwrap();
        assert_eq!(best.consensus.k, 3);
        assert_eq!(best.anmi, heights[0], "the answer stands on top");
    }

    #[test]
    fn a_refused_method_is_a_row_with_its_reason() {
        let methods = [method("rce").unwrap(), method("lwgp").unwrap()];
        let run = Run::new(0).memory(1200);
        let (found, _) = board(&methods, 3, &run).unwrap();
        let refused: Vec<_> = found.standings.iter().filter(|s| s.problem.is_some()).collect();
        assert!(!refused.is_empty());
        assert!(refused[0].problem.as_deref().unwrap().contains("memory"));
    }

    #[test]
    fn a_cancelled_run_is_no_row() {
        let flag = crate::CancelFlag::default();
        flag.cancel();
        let run = Run::new(0).cancel_flag(flag);
        let found = board(METHODS, 2, &run);
        assert!(matches!(found, Err(Error::Cancelled)));
    }
}
