//! Best member: the clustering of the ensemble that agrees most with all.
//!
//! A. Strehl, J. Ghosh. *Cluster Ensembles: A Knowledge Reuse Framework for Combining Multiple
//! Partitions.* JMLR 3, 2002. The member of highest average normalised mutual information
//!
//! $$ \phi(C) = \frac{\sum_q n_q \mathrm{NMI}(C, C_q)}{\sum_q n_q} $$
//!
//! with the whole ensemble, itself included, is the answer. Every consensus should be at least as
//! good as this; it is a yardstick, and an honest choice when members differ in quality more than
//! in kind.
//!
//! # Where we depart
//!
//! Objects that the chosen member does not label are left unassigned.
//!
//! # Cost
//!
//! Time $O(u r^2)$, memory $O(u)$.

use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, NO_CLUSTER, Stop, Value};
use crate::consensus::params::params;
use crate::ensemble::{Profiles, first_of_largest};
use crate::error::Result;
use crate::metrics::anmi;
use crate::run::Run;

/// What there is to know about the best member.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "best-member",
    title: "the member of highest average NMI with all members",
    reference: "A. Strehl, J. Ghosh. Cluster Ensembles: A Knowledge Reuse Framework for Combining \
                Multiple Partitions. JMLR 3, 2002.",
    soft: OnSoft::Hardens,
    missing: Some(
        "agreement counts the objects labelled in both; what it does not label stays unassigned",
    ),
    time: "O(u r^2)",
    memory: "O(u)",
    ..BestMember::DECLARED
};

params! {
    /// The [best member](self). It has no parameters.
    pub struct BestMember(): INFO {}
}

impl ConsensusMethod for BestMember {
    fn cost(&self, shape: &Shape) -> u64 {
        8 * shape.u as u64 + 64 * shape.total_clusters as u64
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let r = profiles.n_members();
        let labels_of = |h: usize| -> Vec<u32> {
            let label = |s| profiles.label(s, h).map_or(NO_CLUSTER, |c| c as u32);
            (0..profiles.len()).map(label).collect()
        };
        let mut agreement = Vec::with_capacity(r);
        for h in 0..r {
            run.tick("scoring members", h as u64, Some(r as u64))?;
            agreement.push(anmi(profiles, &labels_of(h)));
        }
        let best = first_of_largest(&agreement).expect("an ensemble has members");
        let k = profiles.members()[best].n_clusters();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("member", Value::Text(profiles.members()[best].name.clone()));
        diagnostics.push("member_anmi", Value::Members(agreement.clone()));
        Ok(Consensus {
            convergence: Convergence {
                objective: Some(agreement[best]),
                stop: Stop::Done,
                ..Convergence::done()
            },
            diagnostics,
            ..Consensus::from_labels(labels_of(best), k)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::testing::{hard_ensemble, profiles};

    #[test]
    fn the_member_most_like_the_others_wins() {
        let members = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1]];
        let profiles = profiles(&hard_ensemble(&members));
        let consensus = combine(&profiles, &BestMember::new(), None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1].map(Some));
        let Some(Value::Members(anmi)) = consensus.diagnostics.get("member_anmi") else {
            panic!("agreement is told");
        };
        assert!(anmi[0] == anmi[1] && anmi[2] < anmi[0]);
    }
}
