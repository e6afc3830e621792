//! Local search: correlation clustering by moves of one object.
//!
//! A. Gionis, H. Mannila, P. Tsaparas. *Clustering Aggregation.* ACM Transactions on Knowledge
//! Discovery from Data 1(1), 2007 (LocalSearch); N. Cordner, G. Kollios. *An Evaluation of Pivot and
//! Local Search for Correlation Clustering*, 2021.
//!
//! Sought is the clustering that disagrees least with the members, counted over pairs of objects: a
//! pair that a member puts together and the clustering does not, or the other way round. One object
//! after the other moves to the cluster where it disagrees least, or to one of its own, until nobody
//! moves. The number of clusters comes out.
//!
//! # On profiles
//!
//! Equal objects move together: all members put them together, so parting them only adds
//! disagreements. What a move changes is told by counts, how many objects of a cluster are in each
//! cluster of each member, in $O(r)$.
//!
//! # Where we depart from the papers
//!
//! * *Starts.* From the member that disagrees least with all, and from [pivots](crate::consensus::pivot),
//!   which Cordner and Kollios find the best of starts. The end that disagrees least is kept.
//! * *Missing labels.* A pair is judged by the members that label both.
//!
//! # Cost
//!
//! Time $O(t u k r)$ for $t$ sweeps with $k$ clusters, memory $O(k K)$ a start.

use rayon::prelude::*;

use crate::base::correlation;
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Stop, Value};
use crate::consensus::params::{at_least, params};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::rng::Stream;
use crate::run::Run;

/// What there is to know about local search.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "local-search",
    title: "correlation clustering by moves of one object at a time to where it disagrees least",
    reference: "A. Gionis, H. Mannila, P. Tsaparas. Clustering Aggregation. ACM Transactions on \
                Knowledge Discovery from Data 1(1), 2007.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    takes_start: true,
    time: "O(t u k r)",
    memory: "O(u + k K)",
    ..LocalSearch::DECLARED
};

params! {
    /// [Local search](self): correlation clustering by moves of one object at a time to where it
    /// disagrees least.
    pub struct LocalSearch(): INFO {
        /// Starts: the best member, then random pivots; what disagrees least is kept.
        restarts: usize = 5, at_least(1.0);
        /// Largest number of sweeps over all objects.
        max_iter: usize = 100, at_least(1.0);
    }
}

/// Where one start ended.
struct End {
    disagreement: f64,
    labels: Vec<u32>,
    sweeps: usize,
    settled: bool,
}

impl ConsensusMethod for LocalSearch {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, starts) = (shape.u as u64, self.restarts as u64);
        // How many clusters there will be is not known; far more than members have would be odd.
        let clusters = (4 * shape.total_clusters / shape.r.max(1) + 16).min(shape.u) as u64;
        starts * (24 * u + clusters * (8 * (shape.total_clusters + shape.r) as u64 + 64))
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("local search", 0, Some(self.restarts as u64))?;
        let search = |i: usize| {
            let from = match start {
                Some(labels) => labels.to_vec(),
                None if i == 0 => best_member(profiles),
                None => correlation::pivot(profiles, &mut run.rng(Stream::Restart(i as u64)), run)?,
            };
            let (labels, sweeps, settled) =
                correlation::local_search(profiles, &from, self.max_iter, run)?;
            Ok(End { disagreement: profiles.disagreement(&labels), labels, sweeps, settled })
        };
        // From one given start there is one way.
        let starts = if start.is_some() { 1 } else { self.restarts };
        let ends: Vec<End> = (0..starts).into_par_iter().map(search).collect::<Result<_>>()?;
        let all: Vec<f64> = ends.iter().map(|end| end.disagreement).collect();
        // Sums over pairs that differ by rounding are equal.
        let better = |best: End, next: End| {
            if next.disagreement < best.disagreement * (1.0 - 1e-12) { next } else { best }
        };
        let won = ends.into_iter().reduce(better).expect("at least one start");
        let k = won.labels.iter().max().map_or(0, |&most| most as usize + 1);
        let mut consensus = Consensus::from_labels(won.labels, k);
        consensus.convergence = Convergence {
            objective: Some(won.disagreement),
            trace: Vec::new(),
            iterations: won.sweeps,
            stop: if won.settled { Stop::Converged } else { Stop::MaxIterations },
        };
        consensus.diagnostics.push("restart_objectives", Value::List(all));
        Ok(consensus)
    }
}

/// The labels of the member that disagrees least with all; what it does not label is a cluster.
fn best_member(profiles: &Profiles) -> Vec<u32> {
    let labels_of = |h: usize| -> Vec<u32> {
        let silent = profiles.members()[h].n_clusters();
        let label = |s| profiles.label(s, h).unwrap_or(silent) as u32;
        (0..profiles.len()).map(label).collect()
    };
    let all: Vec<f64> = (0..profiles.n_members())
        .into_par_iter()
        .map(|h| profiles.disagreement(&labels_of(h)))
        .collect();
    let best = (0..all.len()).reduce(|best, h| if all[h] < all[best] { h } else { best });
    labels_of(best.expect("an ensemble has members"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    proptest! {
        /// Nothing disagrees less: all clusterings of few objects are tried.
        #[test]
        fn small_ensembles_are_solved(ensemble in ensembles(Kinds::PLAIN, 6, 5)) {
            let profiles = profiles(&ensemble);
            let method = LocalSearch::new().restarts(40);
            let found = combine(&profiles, &method, None, &Run::new(0).threads(1)).unwrap();
            let u = profiles.len() as u32;
            let mut least = f64::INFINITY;
            for code in 0..u.pow(u) {
                let labels: Vec<u32> = (0..u).map(|s| code / u.pow(s) % u).collect();
                least = least.min(profiles.disagreement(&labels));
            }
            prop_assert_eq!(found.convergence.objective, Some(least));
        }
    }

    #[test]
    fn the_best_member_is_the_most_agreeable() {
        let members = [[0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let labels = profiles.expand(&best_member(&profiles));
        assert_eq!(labels[0], labels[2]);
        assert_ne!(labels[0], labels[3]);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(LocalSearch::new().restarts(0).check().is_err());
        assert!(LocalSearch::new().max_iter(0).check().is_err());
    }
}
