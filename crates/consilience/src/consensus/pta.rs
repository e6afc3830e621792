//! PTA: probability trajectory accumulation.
//!
//! D. Huang, J.-H. Lai, C.-D. Wang. *Robust Ensemble Clustering Using Probability Trajectories.* IEEE
//! TKDE 28(5), 2016.
//!
//! Weak evidence is left out and strong evidence passed on. Microclusters, the groups of objects that
//! no member tells apart, are the vertices of a graph; of each only the links to its *elite
//! neighbours* are kept, those that share as many members with it as its $K$-th nearest. A random walk
//! goes from microcluster $i$ to $j$ with probability proportional to $|j| \, a_{ij}$, $a$ the
//! co-association. The *probability trajectory* of a microcluster is where walks of $1, 2, \dots, t$
//! steps from it end; two are as similar as the cosine of their trajectories. Average link of these
//! similarities gives the clusters.
//!
//! # On profiles
//!
//! Microclusters are profiles.
//!
//! # Where we depart from the paper
//!
//! * *Missing labels* (left open). A pair is judged by the members that label both.
//! * *A microcluster without neighbours* is similar to none but itself; the paper's cosine is
//!   undefined.
//! * *Ties* among neighbours are kept all, and merges that tie are ordered as in
//!   [evidence accumulation](crate::consensus::ea).
//!
//! # Cost
//!
//! Time $O(u^2 r + t u^3)$, memory six $u \times u$ matrices.

use crate::base::linkage::{self, Dense, Link};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params};
use crate::consensus::tree::cut_tree;
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::trajectory_cosines;
use crate::run::Run;

/// What there is to know about probability trajectory accumulation.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "pta",
    title: "probability trajectories: average link by random walks among elite neighbours",
    reference: "D. Huang, J.-H. Lai, C.-D. Wang. Robust Ensemble Clustering Using Probability \
                Trajectories. IEEE TKDE 28(5), 2016.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    offers: Offers::TREE,
    time: "O(u^2 r + t u^3)",
    memory: "O(u^2): six matrices of u x u",
    ..Pta::DECLARED
};

params! {
    /// [PTA](self): probability trajectories: average link by random walks among elite
    /// neighbours.
    pub struct Pta(k): INFO {
        /// How many elite neighbours a group of equal objects has, but for ties.
        neighbours: Option<usize> = "half the root of the number of profiles, at most 20", at_least(1.0);
        /// How far the random walks go.
        steps: Option<usize> = "half the root of the number of profiles, at most 20", at_least(1.0);
    }
}

impl ConsensusMethod for Pta {
    fn cost(&self, shape: &Shape) -> u64 {
        let u = shape.u as u64;
        6 * 8 * u * u + 64 * u
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("probability trajectories", 0, None)?;
        let u = profiles.len();
        let usual = profiles.usual_walk();
        let neighbours = self.neighbours.unwrap_or(usual);
        let steps = self.steps.unwrap_or(usual);
        let walk = profiles.elite_walk(neighbours);
        let similarity = trajectory_cosines(&walk, steps, run)?;
        drop(walk);
        // Groups are compared by the mean over microclusters, whatever their sizes.
        let row = |s: usize, out: &mut [f64]| out.copy_from_slice(similarity.row(s));
        let joins = linkage::chain(Dense::new(&vec![1.0; u], Link::Average, 1.0, row), run)?;
        let mut consensus = cut_tree(u, &joins, self.k, run);
        consensus.diagnostics.push("neighbours", Value::Integer(neighbours as i64));
        consensus.diagnostics.push("steps", Value::Integer(steps as i64));
        Ok(consensus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::testing::{hard_ensemble, profiles};

    #[test]
    fn what_is_clear_is_found() {
        let members =
            [[0, 0, 0, 1, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 2, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let pta = Pta::new(3);
        let consensus = combine(&profiles, &pta, None, &Run::new(0)).unwrap();
        let labels = consensus.object_labels(&profiles);
        assert!(labels[0] == labels[1] && labels[3] == labels[4] && labels[6] == labels[7]);
        assert!(labels[0] != labels[6] && labels[3] != labels[6]);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(Pta::new(0).check().is_err());
        assert!(Pta::new(2).steps(0).check().is_err());
        assert!(Pta::new(2).neighbours(0).check().is_err());
    }
}
