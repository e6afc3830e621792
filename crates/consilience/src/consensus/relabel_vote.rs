//! Relabel and vote: names are matched to a reference, then every object takes its most frequent
//! name.
//!
//! S. Dudoit, J. Fridlyand. *Bagging to Improve the Accuracy of a Clustering Procedure.*
//! Bioinformatics 19(9), 2003 (BagClust1); the idea of a plurality over matched names is older.
//!
//! For every member the clusters are matched one to one with those of the reference so that they
//! share as many objects as possible (optimal assignment), and renamed; clusters left over cast no
//! vote. The label of an object is the name with most votes, its strength that name's share of
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
//! Time $O(u (r + k) + r k^3)$ ($O(u r^2)$ to find the most typical member), memory $O(u + K^2)$.

use rayon::prelude::*;

use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Diagnostics, NO_CLUSTER, Value};
use crate::consensus::params::params;
use crate::ensemble::{Contingency, FEW_CLUSTERS, Profiles, first_of_largest};
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
    edges: false,
    offers: Offers::LABELS,
    parameters: RelabelVote::PARAMETERS,
    time: "O(u (r^2 + k) + r k^3)",
    memory: "O(u + K^2)",
    build: |k, settings| RelabelVote::of(Reference::MostTypical, k, settings),
};

/// What there is to know about BagClust1.
pub(super) static BAGCLUST: MethodInfo = MethodInfo {
    name: "bagclust",
    title: "BagClust1: bootstrap members matched to a clustering of all objects, then a plurality vote",
    time: "O(u (r + k) + r k^3)",
    build: |k, settings| RelabelVote::of(Reference::MostComplete, k, settings),
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

params! {
    /// [Relabelling and voting](self): names matched to a reference, then a plurality vote.
    pub struct RelabelVote(reference: Reference): |own| {
        match own.reference {
            Reference::MostTypical => &RELABEL_VOTE,
            Reference::MostComplete => &BAGCLUST,
        }
    } {}
}

impl ConsensusMethod for RelabelVote {
    fn cost(&self, shape: &Shape) -> u64 {
        let overlaps = shape.total_clusters.min(FEW_CLUSTERS).pow(2).min(shape.u * shape.r) as u64;
        // A table of more cells than objects is made by sorting pairs of labels.
        8 * overlaps + 40 * shape.u as u64
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let mut diagnostics = Diagnostics::default();
        let mut tables = Tables::new(profiles);
        let reference = if let Some(start) = start {
            diagnostics.push("reference", Value::Text("the given start".to_owned()));
            Names::Given(start)
        } else {
            let h = self.find_reference(&mut tables, run)?;
            let name = profiles.members()[h].name.clone();
            diagnostics.push("reference", Value::Text(name));
            Names::Member(h)
        };
        let own: Vec<u32> = match reference {
            Names::Given(labels) => labels.to_vec(),
            Names::Member(h) => {
                let label = |s| profiles.label(s, h).map_or(NO_CLUSTER, |c| c as u32);
                (0..profiles.len()).into_par_iter().map(label).collect()
            }
        };
        let named = own.par_iter().filter(|&&c| c != NO_CLUSTER).max();
        let k = named.map(|&c| c as usize + 1).ok_or_else(|| Error::Empty {
            what: "the reference".to_owned(),
            hint: "it must label some object".to_owned(),
        })?;
        let names = matched(&tables, &reference, k, run)?;
        let (labels, strength) = plurality(profiles, &own, &names, k);
        Ok(Consensus { strength, diagnostics, ..Consensus::from_labels(labels, k) })
    }
}

/// What gives the names.
enum Names<'a> {
    Given(&'a [u32]),
    Member(usize),
}

impl RelabelVote {
    fn find_reference(&self, tables: &mut Tables<'_>, run: &Run) -> Result<usize> {
        let profiles = tables.profiles;
        let r = profiles.n_members();
        let labelled = |h: usize| -> f64 {
            let known = (0..profiles.len()).filter(|&s| profiles.is_labelled(s, h));
            known.map(|s| profiles.weights()[s]).sum()
        };
        let candidates: Vec<usize> = match self.reference {
            Reference::MostTypical => (0..r).collect(),
            Reference::MostComplete => {
                let labelled: Vec<f64> = (0..r).map(labelled).collect();
                let most = labelled.iter().copied().fold(0.0, f64::max);
                (0..r).filter(|&h| labelled[h] == most).collect()
            }
        };
        if let [only] = candidates[..] {
            return Ok(only);
        }
        if 2 * candidates.len() > r {
            tables.count_overlaps();
        }
        let mut sums = Vec::with_capacity(candidates.len());
        for &h in &candidates {
            run.tick("looking for a reference", h as u64, Some(r as u64))?;
            let others = (0..r).filter(|&q| q != h);
            let agreement = |q| nmi(&tables.of(h, q), Normalisation::Geometric);
            sums.push(others.map(agreement).sum::<f64>());
        }
        Ok(candidates[first_of_largest(&sums).expect("an ensemble has members")])
    }
}

/// Tables of pairs of members.
struct Tables<'a> {
    profiles: &'a Profiles,
    /// The weights of all clusters' overlaps, if most tables are asked for.
    overlaps: Option<Matrix>,
}

impl<'a> Tables<'a> {
    fn new(profiles: &'a Profiles) -> Self {
        Tables { profiles, overlaps: None }
    }

    /// For tables of all pairs: one pass instead of one a pair, unless it would take more memory than
    /// there are labels.
    fn count_overlaps(&mut self) {
        let n_clusters = self.profiles.n_clusters();
        let labels = self.profiles.len() * self.profiles.n_members();
        if n_clusters <= FEW_CLUSTERS && n_clusters * n_clusters <= labels {
            self.overlaps = Some(self.profiles.gram(self.profiles.weights()));
        }
    }

    /// The table of members `g` (rows) and `h` (columns).
    fn of(&self, g: usize, h: usize) -> Contingency {
        let Some(overlaps) = &self.overlaps else {
            return Contingency::of_members(self.profiles, g, h);
        };
        let [g, h] = [g, h].map(|h| self.profiles.members()[h].clusters.clone());
        let block = Matrix::from_fn(g.len(), h.len(), |a, b| overlaps[(g.start + a, h.start + b)]);
        Contingency::from_matrix(&block)
    }
}

/// The name of the reference that goes with every cluster of all members; [`NO_CLUSTER`] if none.
fn matched(tables: &Tables<'_>, reference: &Names<'_>, k: usize, run: &Run) -> Result<Vec<u32>> {
    let profiles = tables.profiles;
    let mut names = Vec::with_capacity(profiles.n_clusters());
    for (h, member) in profiles.members().iter().enumerate() {
        run.tick("matching", h as u64, Some(profiles.n_members() as u64))?;
        let table = match reference {
            Names::Given(labels) => Contingency::of_consensus(profiles, labels, h),
            Names::Member(reference) => tables.of(*reference, h),
        };
        let cells =
            table.cells().iter().map(|cell| (cell.column as usize, cell.row as usize, cell.weight));
        let matched = max_assignment(member.n_clusters(), k, cells);
        names.extend(matched.into_iter().map(|name| name.map_or(NO_CLUSTER, |name| name as u32)));
    }
    Ok(names)
}

/// The name with most votes, and its share of them, for every profile; `own` are the reference's.
fn plurality(profiles: &Profiles, own: &[u32], names: &[u32], k: usize) -> (Vec<u32>, Vec<f64>) {
    const CHUNK: usize = 4096;
    let (mut labels, mut strength) = (vec![0; own.len()], vec![0.0; own.len()]);
    let chunks = labels.par_chunks_mut(CHUNK).zip(strength.par_chunks_mut(CHUNK));
    chunks.enumerate().for_each(|(chunk, (labels, strength))| {
        let first = chunk * CHUNK;
        // The last takes what names nobody.
        let mut votes = vec![0u32; k + 1];
        profiles.for_each_row(first..first + labels.len(), |s, clusters| {
            votes.fill(0);
            for &cluster in clusters {
                votes[(names[cluster as usize] as usize).min(k)] += 1;
            }
            let cast: u32 = votes[..k].iter().sum();
            let most = (1..k).fold(0, |most, h| if votes[h] > votes[most] { h } else { most });
            let own = own[s];
            let own_wins = own != NO_CLUSTER && votes[own as usize] == votes[most];
            let label = if cast == 0 || own_wins { own } else { most as u32 };
            let share = if cast == 0 { 0.0 } else { f64::from(votes[most]) / f64::from(cast) };
            (labels[s - first], strength[s - first]) = (label, share);
        });
    });
    (labels, strength)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::combine;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};
    use proptest::prelude::*;

    #[test]
    fn the_majority_corrects_a_stray_member() {
        let members = [
            [0, 0, 0, 1, 1, 1, 2, 2, 2],
            [5, 5, 5, 3, 3, 3, 9, 9, 9],
            [1, 1, 0, 0, 0, 0, 2, 2, 2], // the third object strays
        ];
        let profiles = profiles(&hard_ensemble(&members));
        let method = RelabelVote::new(Reference::MostTypical);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let labels = consensus.object_labels(&profiles);
        assert_eq!(labels, [0, 0, 0, 1, 1, 1, 2, 2, 2].map(Some));
        let sure = consensus.object_strength(&profiles);
        assert_eq!((sure[0], sure[2]), (Some(1.0), Some(2.0 / 3.0)));
    }

    #[test]
    fn bootstrap_members_vote_on_what_they_drew() {
        let whole = HardMember::from_integers("whole", [0, 0, 0, 1, 1, 1].map(Some));
        let a = HardMember::from_integers("a", [Some(7), Some(7), None, Some(8), None, Some(8)]);
        let b = HardMember::from_integers("b", [None, Some(1), Some(1), Some(1), Some(2), Some(2)]);
        let ensemble = Ensemble::new(vec![a.into(), whole.into(), b.into()]).unwrap();
        let profiles = profiles(&ensemble);
        let method = RelabelVote::new(Reference::MostComplete);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.diagnostics.get("reference"), Some(&Value::Text("whole".into())));
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1].map(Some));
    }

    #[test]
    fn a_given_start_gives_the_names() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 0], [0, 0, 1, 1]]));
        let method = RelabelVote::new(Reference::MostTypical);
        let start = [0, 0, 1, 1].map(Some);
        let consensus = combine(&profiles, &method, Some(&start), &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), start);
    }

    proptest! {
        /// One pass over all clusters' overlaps gives the tables that are counted pair by pair.
        #[test]
        fn overlaps_hold_the_tables_of_all_pairs(ensemble in ensembles(Kinds::HARD, 30, 5)) {
            let profiles = profiles(&ensemble);
            let overlaps = Some(profiles.gram(profiles.weights()));
            let tables = Tables { profiles: &profiles, overlaps };
            for g in 0..profiles.n_members() {
                for h in 0..profiles.n_members() {
                    let counted = Contingency::of_members(&profiles, g, h);
                    let found = tables.of(g, h);
                    let cells = |table: &Contingency| -> Vec<(u32, u32)> {
                        table.cells().iter().map(|cell| (cell.row, cell.column)).collect()
                    };
                    prop_assert_eq!(cells(&found), cells(&counted));
                    for (a, b) in found.cells().iter().zip(counted.cells()) {
                        prop_assert!((a.weight - b.weight).abs() <= 1e-12 * b.weight);
                    }
                }
            }
        }
    }
}
