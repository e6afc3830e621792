//! Robust clusters: groups that (nearly) all members agree on; the rest is left unassigned.
//!
//! P. Kellam, X. Liu, N. Martin, C. Orengo, S. Swift, A. Tucker. *Comparing, Contrasting and Combining
//! Clusters in Viral Gene Expression Data.* IDAMAP 2001.
//!
//! A robust cluster has at least two objects, and every pair of its objects is together in at least
//! a share `support` of the members that label both. With full support and complete labels the
//! robust clusters are exactly the profiles of weight two or more.
//!
//! # Where we depart
//!
//! Below full support the groups depend on the order in which objects are taken. We take profiles by
//! falling weight and put each into the first group with all of whose objects it agrees; the
//! original goes over pairs. Where labels are missing, a pair is judged by the members that label
//! both of its objects.
//!
//! # Cost
//!
//! Time $O(u)$ for full support of complete labels, $O(u^2 r)$ otherwise; memory $O(u)$.

use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Diagnostics, NO_CLUSTER, Value};
use crate::consensus::params::{above, params};
use crate::ensemble::{CoAssociation, Profiles};
use crate::error::Result;
use crate::run::Run;

/// Shares of votes closer than this to the support count as reaching it.
const ROUNDING: f64 = 1e-12;

/// What there is to know about robust clusters.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "robust-clusters",
    title: "groups that (nearly) all members agree on; the rest stays unassigned",
    reference: "P. Kellam et al. Comparing, Contrasting and Combining Clusters in Viral Gene \
                Expression Data. IDAMAP 2001.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    time: "O(u) for full support of complete labels, else O(u^2 r)",
    memory: "O(u)",
    ..RobustClusters::DECLARED
};

params! {
    /// [Robust clusters](self): groups that (nearly) all members agree on; the rest stays
    /// unassigned.
    pub struct RobustClusters(): INFO {
        /// The share of members that must put every two objects of a group together.
        support: f64 = 1.0, above(0.0).at_most(1.0);
    }
}

impl ConsensusMethod for RobustClusters {
    fn cost(&self, shape: &Shape) -> u64 {
        32 * shape.u as u64
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let groups = if self.support == 1.0 && !profiles.has_missing() {
            (0..profiles.len()).map(|s| vec![s]).collect()
        } else {
            self.greedy(profiles, run)?
        };
        let weight = |group: &[usize]| group.iter().map(|&s| profiles.weights()[s]).sum::<f64>();
        let mut labels = vec![NO_CLUSTER; profiles.len()];
        let mut k = 0;
        for group in groups.iter().filter(|group| weight(group) >= 2.0) {
            group.iter().for_each(|&s| labels[s] = k);
            k += 1;
        }
        let assigned: f64 = (0..labels.len())
            .filter(|&s| labels[s] != NO_CLUSTER)
            .map(|s| profiles.weights()[s])
            .sum();
        let mut diagnostics = Diagnostics::default();
        diagnostics.push("assigned_share", Value::Number(assigned / profiles.total_weight()));
        Ok(Consensus { diagnostics, ..Consensus::from_labels(labels, k as usize) })
    }
}

impl RobustClusters {
    fn greedy(&self, profiles: &Profiles, run: &Run) -> Result<Vec<Vec<usize>>> {
        let co = CoAssociation::new(profiles);
        let mut order: Vec<usize> = (0..profiles.len()).collect();
        order.sort_by(|&s, &t| profiles.weights()[t].total_cmp(&profiles.weights()[s]));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (done, s) in order.into_iter().enumerate() {
            run.tick("growing groups", done as u64, Some(profiles.len() as u64))?;
            let agrees = |t: &usize| co.get(s, *t) >= self.support - ROUNDING;
            match groups.iter_mut().find(|group| group.iter().all(agrees)) {
                Some(group) => group.push(s),
                None => groups.push(vec![s]),
            }
        }
        Ok(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::testing::{hard_ensemble, profiles};

    fn labels(members: &[[i64; 7]], support: f64) -> Vec<Option<u32>> {
        let profiles = profiles(&hard_ensemble(members));
        let method = RobustClusters::new().support(support);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        consensus.object_labels(&profiles)
    }

    #[test]
    fn full_support_keeps_the_repeated_tuples() {
        let members = [[0, 0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1, 1]];
        assert_eq!(
            labels(&members, 1.0),
            [Some(0), Some(0), Some(0), Some(1), Some(1), None, None]
        );
        // Two of three members put the last two together.
        let two_thirds = [Some(0), Some(0), Some(0), Some(1), Some(1), Some(2), Some(2)];
        assert_eq!(labels(&members, 2.0 / 3.0), two_thirds);
    }

    #[test]
    fn refuses_a_support_that_is_no_share() {
        for bad in [0.0, -0.5, 1.5, f64::NAN] {
            assert!(RobustClusters::new().support(bad).check().is_err());
        }
    }
}
