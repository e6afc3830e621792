//! Relabel and vote: names are matched to a reference, then every object takes its most frequent
//! name.
//!
//! S. Dudoit, J. Fridlyand. *Bagging to Improve the Accuracy of a Clustering Procedure.*
//! Bioinformatics 19(9), 2003 (BagClust1); the idea of a plurality over matched names is older.
//!
//! For every member the clusters are matched one to one with those of the reference so that they
//! share as many objects as possible (optimal assignment), and renamed; clusters left over cast no
//! vote. The label of an object is the name with most votes, its confidence that name's share of
//! the votes cast. An object that gets no vote keeps the reference's label.
//!
//! Two names, one procedure: `relabel-vote` takes as reference the member of highest mean NMI with
//! the others; `bagclust`, for members made on bootstrap samples that label only the objects drawn,
//! takes the member that labels most objects (the clustering of the whole data, if it is there). A
//! given start is the reference in both.
//!
//! # Where we depart
//!
//! Ties of votes go to the reference's name if it is among them, else to the first in an order that
//! does not depend on the data's; the papers draw at random. BagClust2 is average link on the
//! co-association: `ea-al`.
//!
//! # Cost
//!
//! Time $O(u r + r k^3)$ ($O(u r^2)$ to find the reference), memory $O(u k)$.

use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Diagnostics, NO_CLUSTER, Value};
use crate::ensemble::{Contingency, Profiles, argmax, first_of_largest};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, max_assignment};
use crate::metrics::{Normalisation, nmi};
use crate::run::Run;

const MISSING: &str =
    "members vote on the objects they label; overlaps count objects labelled in both";

/// What there is to know about relabelling and voting.
pub(super) static RELABEL_VOTE: MethodInfo = MethodInfo {
    name: "relabel-vote",
    title: "names matched to the most typical member, then a plurality vote",
    reference: "S. Dudoit, J. Fridlyand. Bagging to Improve the Accuracy of a Clustering Procedure. \
                Bioinformatics 19(9), 2003.",
    chooses_k: ChoosesK::Always,
    soft: OnSoft::Hardens,
    missing: Some(MISSING),
    takes_start: true,
    parameters: &[],
    time: "O(u r^2 + r k^3)",
    memory: "O(u k)",
    build: |_, _| Ok(Box::new(RelabelVote(Reference::MostTypical))),
};

/// What there is to know about BagClust1.
pub(super) static BAGCLUST: MethodInfo = MethodInfo {
    name: "bagclust",
    title: "BagClust1: bootstrap members matched to a clustering of all objects, then a plurality vote",
    time: "O(u r + r k^3)",
    build: |_, _| Ok(Box::new(RelabelVote(Reference::MostComplete))),
    ..RELABEL_VOTE
};

/// Which member gives the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The one of highest mean NMI with the others.
    MostTypical,
    /// The one that labels most objects, of several the most typical.
    MostComplete,
}

/// [Relabelling and voting](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelabelVote(pub Reference);

impl ConsensusMethod for RelabelVote {
    fn info(&self) -> &'static MethodInfo {
        match self.0 {
            Reference::MostTypical => &RELABEL_VOTE,
            Reference::MostComplete => &BAGCLUST,
        }
    }

    fn k(&self) -> Option<usize> {
        None
    }

    fn cost(&self, shape: &Shape) -> u64 {
        // The reference has no more clusters than all members together, and rarely more than the
        // average member.
        let k = shape.total_clusters as u64 / shape.r.max(1) as u64 + 1;
        8 * shape.u as u64 * (k + 2)
    }

    fn fit(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let mut diagnostics = Diagnostics::default();
        let reference: Vec<u32> = if let Some(start) = start {
            diagnostics.push("reference", Value::Text("the given start".to_owned()));
            start.to_vec()
        } else {
            let h = self.reference(profiles, run)?;
            let name = profiles.members()[h].name.clone();
            diagnostics.push("reference", Value::Text(name));
            let label = |s| profiles.label(s, h).map_or(NO_CLUSTER, |c| c as u32);
            (0..profiles.len()).map(label).collect()
        };
        let named = reference.iter().filter(|&&c| c != NO_CLUSTER).max();
        let k = named.map(|&c| c as usize + 1).ok_or_else(|| Error::Empty {
            what: "the reference".to_owned(),
            hint: "it must label some object".to_owned(),
        })?;
        let votes = votes(profiles, &reference, k, run)?;
        let mut labels = Vec::with_capacity(profiles.len());
        let mut confidence = Vec::with_capacity(profiles.len());
        for (row, &own) in votes.iter_rows().zip(&reference) {
            let cast: f64 = row.iter().sum();
            let first = argmax(row).expect("k >= 1");
            let own_wins = own != NO_CLUSTER && row[own as usize] == row[first];
            let label = if own_wins { own } else { first as u32 };
            labels.push(if cast == 0.0 { own } else { label });
            confidence.push(if cast == 0.0 { 0.0 } else { row[first] / cast });
        }
        Ok(Consensus { confidence, diagnostics, ..Consensus::from_labels(labels, k) })
    }
}

impl RelabelVote {
    fn reference(self, profiles: &Profiles, run: &Run) -> Result<usize> {
        let r = profiles.n_members();
        let labelled = |h: usize| -> f64 {
            let known = (0..profiles.len()).filter(|&s| profiles.is_labelled(s, h));
            known.map(|s| profiles.weights()[s]).sum()
        };
        let candidates: Vec<usize> = match self.0 {
            Reference::MostTypical => (0..r).collect(),
            Reference::MostComplete => {
                let labelled: Vec<f64> = (0..r).map(labelled).collect();
                let most = labelled.iter().copied().fold(0.0, f64::max);
                (0..r).filter(|&h| labelled[h] == most).collect()
            }
        };
        let mut sums = Vec::with_capacity(candidates.len());
        for &h in &candidates {
            run.tick("looking for a reference", h as u64, Some(r as u64))?;
            let others = (0..r).filter(|&q| q != h);
            let agreement =
                |q| nmi(&Contingency::of_members(profiles, h, q), Normalisation::Geometric);
            sums.push(others.map(agreement).sum::<f64>());
        }
        Ok(candidates[first_of_largest(&sums).expect("an ensemble has members")])
    }
}

/// How many members give each profile each name of the reference.
fn votes(profiles: &Profiles, reference: &[u32], k: usize, run: &Run) -> Result<Matrix> {
    let mut votes = Matrix::zeros(profiles.len(), k);
    for h in 0..profiles.n_members() {
        run.tick("matching and voting", h as u64, Some(profiles.n_members() as u64))?;
        let table = Contingency::of_consensus(profiles, reference, h);
        let cells =
            table.cells().iter().map(|cell| (cell.column as usize, cell.row as usize, cell.weight));
        let name = max_assignment(profiles.members()[h].n_clusters(), k, cells);
        for s in 0..profiles.len() {
            if let Some(name) = profiles.label(s, h).and_then(|c| name[c]) {
                votes[(s, name)] += 1.0;
            }
        }
    }
    Ok(votes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{hard_ensemble, profiles};

    #[test]
    fn the_majority_corrects_a_stray_member() {
        let members = [
            [0, 0, 0, 1, 1, 1, 2, 2, 2],
            [5, 5, 5, 3, 3, 3, 9, 9, 9],
            [1, 1, 0, 0, 0, 0, 2, 2, 2], // the third object strays
        ];
        let profiles = profiles(&hard_ensemble(&members));
        let method = RelabelVote(Reference::MostTypical);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let labels = consensus.object_labels(&profiles);
        assert_eq!(labels, [0, 0, 0, 1, 1, 1, 2, 2, 2].map(Some));
        let sure = consensus.object_confidence(&profiles);
        assert_eq!((sure[0], sure[2]), (Some(1.0), Some(2.0 / 3.0)));
    }

    #[test]
    fn bootstrap_members_vote_on_what_they_drew() {
        let whole = HardMember::from_integers("whole", [0, 0, 0, 1, 1, 1].map(Some));
        let a = HardMember::from_integers("a", [Some(7), Some(7), None, Some(8), None, Some(8)]);
        let b = HardMember::from_integers("b", [None, Some(1), Some(1), Some(1), Some(2), Some(2)]);
        let ensemble = Ensemble::new(vec![a.into(), whole.into(), b.into()]).unwrap();
        let profiles = profiles(&ensemble);
        let method = RelabelVote(Reference::MostComplete);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.diagnostics.get("reference"), Some(&Value::Text("whole".into())));
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1].map(Some));
    }

    #[test]
    fn a_given_start_gives_the_names() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 0], [0, 0, 1, 1]]));
        let method = RelabelVote(Reference::MostTypical);
        let start = [0, 0, 1, 1].map(Some);
        let consensus = combine(&profiles, &method, Some(&start), &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), start);
    }
}
