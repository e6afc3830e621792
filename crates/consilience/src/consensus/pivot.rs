//! Pivot: correlation clustering by random pivots.
//!
//! N. Ailon, M. Charikar, A. Newman. *Aggregating Inconsistent Information: Ranking and Clustering.*
//! Journal of the ACM 55(5), 2008 (CC-Pivot).
//!
//! Sought is the clustering that disagrees least with the members, counted over pairs of objects: a
//! pair that a member puts together and the clustering does not, or the other way round. An object
//! drawn at random becomes a pivot and takes all with it that a majority of members puts together
//! with it; what is left is clustered in the same way. The number of clusters comes out.
//!
//! In the mean over the draws the disagreements are at most twice those of the best clustering, as the
//! shares of members that part two objects obey the triangle inequality. (The paper's bound of 11/7
//! is for the better of this and a member drawn at random.)
//! Several draws are tried and the one that disagrees least is kept.
//!
//! # On profiles
//!
//! Equal objects go together, for all members put them together. The first object of a random order
//! belongs to a profile with the probability of its weight.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels.* A pair is judged by the members that label both; one that nobody labels both
//!   of is kept apart.
//! * *Half the votes* are no majority.
//! * *Restarts.* The paper draws once.
//!
//! # Cost
//!
//! Time $O(u k r)$ a draw for $k$ clusters found, memory $O(u + K)$.

use rayon::prelude::*;

use crate::base::correlation;
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Stop, Value};
use crate::consensus::params::{at_least, params};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::rng::Stream;
use crate::run::Run;

/// What there is to know about clustering by pivots.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "pivot",
    title: "correlation clustering by random pivots: each takes with it what the majority puts together",
    reference: "N. Ailon, M. Charikar, A. Newman. Aggregating Inconsistent Information: Ranking and \
                Clustering. Journal of the ACM 55(5), 2008.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    time: "O(t u k r)",
    memory: "O(t u)",
    ..Pivot::DECLARED
};

params! {
    /// [Clustering by pivots](self): correlation clustering by random pivots: each takes with it
    /// what the majority puts together.
    pub struct Pivot(): INFO {
        /// How often pivots are drawn; what disagrees least is kept.
        restarts: usize = 10, at_least(1.0);
    }
}

impl ConsensusMethod for Pivot {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, starts) = (shape.u as u64, self.restarts as u64);
        starts * (16 * u + 16 * (shape.total_clusters + shape.r) as u64)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("pivots", 0, Some(self.restarts as u64))?;
        let draws = (0..self.restarts as u64).into_par_iter().map(|i| {
            let labels = correlation::pivot(profiles, &mut run.rng(Stream::Restart(i)), run)?;
            Ok((profiles.disagreement(&labels), labels))
        });
        let draws: Vec<(f64, Vec<u32>)> = draws.collect::<Result<_>>()?;
        let all: Vec<f64> = draws.iter().map(|(disagreement, _)| *disagreement).collect();
        let better = |best: (f64, Vec<u32>), next: (f64, Vec<u32>)| {
            if next.0 < best.0 { next } else { best }
        };
        let (disagreement, labels) = draws.into_iter().reduce(better).expect("at least one draw");
        let k = labels.iter().max().map_or(0, |&most| most as usize + 1);
        let mut consensus = Consensus::from_labels(labels, k);
        consensus.convergence = Convergence {
            objective: Some(disagreement),
            trace: Vec::new(),
            iterations: 0,
            stop: Stop::Done,
        };
        consensus.diagnostics.push("restart_objectives", Value::List(all));
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::testing::{hard_ensemble, profiles};

    #[test]
    fn the_majority_is_followed() {
        let members = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 0]];
        let profiles = profiles(&hard_ensemble(&members));
        let pivot = Pivot::new();
        let consensus = combine(&profiles, &pivot, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1].map(Some));
        // Object 2 with {0, 1}: the second member objects five times over pairs; object 5 with
        // {3, 4}: the third does.
        assert_eq!(consensus.convergence.objective, Some(10.0));
    }

    #[test]
    fn no_draws_are_refused() {
        assert!(Pivot::new().restarts(0).check().is_err());
    }
}
