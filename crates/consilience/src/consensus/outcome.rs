//! What a consensus method answers: one value, whole.

use serde::Serialize;

use crate::ensemble::Profiles;
use crate::linalg::Matrix;
use crate::metrics::anmi;
pub use crate::run::Stop;

/// In the labels of a consensus: the method leaves this profile unassigned.
pub const NO_CLUSTER: u32 = u32::MAX;

/// The consensus of an ensemble, about its profiles.
///
/// [`object_labels`](Self::object_labels) and
/// [`object_strength`](Self::object_strength) say the same of the objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Consensus {
    /// The cluster of every profile, or [`NO_CLUSTER`]; after
    /// [`combine`](crate::consensus::combine) numbered from 0 by falling weight.
    pub labels: Vec<u32>,
    /// The cluster of every *object* where the method may part equal objects, as balanced cuts must;
    /// `labels` then holds the heaviest part of each profile.
    pub parted: Option<Vec<u32>>,
    /// The number of clusters.
    pub k: usize,
    /// How strongly the method itself stands for the label of each profile, in [0, 1]. One that has no
    /// measure of its own leaves this empty and [`combine`](crate::consensus::combine) fills in the
    /// profile's membership in its cluster, or where there is no soft consensus the members' support.
    /// How likely the label is right is another question: [`Confidence`](crate::judge::Confidence).
    pub strength: Vec<f64>,
    /// The soft consensus, u × k, rows summing to 1.
    pub membership: Option<Matrix>,
    /// For every member a k_h × k matrix: the share of its cluster i that goes to cluster j.
    pub correspondences: Option<Vec<Matrix>>,
    /// The tree of merges over the profiles.
    pub dendrogram: Option<Vec<Merge>>,
    /// The consensus matrix over the profiles, u × u, where the method learns one of its own.
    pub affinity: Option<Matrix>,
    /// How the computation went.
    pub convergence: Convergence,
    /// What else the method can tell.
    pub diagnostics: Diagnostics,
}

/// How an iterative computation went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// The final value of the method's objective, where it has one.
    pub objective: Option<f64>,
    /// The objective after every iteration of the run that won.
    pub trace: Vec<f64>,
    /// How many iterations the run that won took.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl Convergence {
    /// The convergence of a method that does not iterate.
    pub fn done() -> Self {
        Convergence { objective: None, trace: Vec::new(), iterations: 0, stop: Stop::Done }
    }
}

/// One merge of a dendrogram: profiles are numbered from 0, the merge at place `i` makes node u + i.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Merge {
    /// One node.
    pub a: u32,
    /// The other node.
    pub b: u32,
    /// The height at which they merge.
    pub height: f64,
}

/// What a method tells besides its answer: named values in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(Vec<(&'static str, Value)>);

/// A diagnostic value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A word or sentence.
    Text(String),
    /// Numbers in an order of their own (eigenvalues, say).
    List(Vec<f64>),
    /// One number a member, in the members' order.
    Members(Vec<f64>),
    /// A table, column by column.
    Table(Vec<(String, Vec<f64>)>),
}

impl Diagnostics {
    /// Appends a value under a name, which must be new.
    pub fn push(&mut self, name: &'static str, value: Value) {
        debug_assert!(self.get(name).is_none(), "diagnostic `{name}` twice");
        self.0.push((name, value));
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Names and values, in the order they were told.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The values, to be rewritten.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

impl Serialize for Diagnostics {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Consensus {
    /// A consensus that is nothing but labels, numbered `0..k`.
    pub fn from_labels(labels: Vec<u32>, k: usize) -> Self {
        Consensus {
            labels,
            parted: None,
            k,
            strength: Vec::new(),
            membership: None,
            correspondences: None,
            dendrogram: None,
            affinity: None,
            convergence: Convergence::done(),
            diagnostics: Diagnostics::default(),
        }
    }

    /// The same consensus with its clusters in another order: cluster `i` is to be what is now
    /// cluster `order[i]`.
    ///
    /// # Panics
    ///
    /// If `order` does not name every cluster once.
    #[must_use]
    pub fn reordered(self, order: &[u32]) -> Self {
        let mut place = vec![NO_CLUSTER; self.k];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        assert!(order.len() == self.k && !place.contains(&NO_CLUSTER), "every cluster once");
        let moved = |label: u32| place.get(label as usize).copied().unwrap_or(NO_CLUSTER);
        let moved = |labels: Vec<u32>| -> Vec<u32> { labels.into_iter().map(moved).collect() };
        let columns = |matrix: Matrix| {
            Matrix::from_fn(matrix.nrows(), order.len(), |i, j| matrix[(i, order[j] as usize)])
        };
        Consensus {
            labels: moved(self.labels),
            parted: self.parted.map(moved),
            membership: self.membership.map(columns),
            correspondences: self
                .correspondences
                .map(|matrices| matrices.into_iter().map(columns).collect()),
            ..self
        }
    }

    /// The cluster of every object; `None` where no member labels the object or the method leaves
    /// it unassigned.
    pub fn object_labels(&self, profiles: &Profiles) -> Vec<Option<u32>> {
        (0..profiles.n_objects()).map(|i| self.object_label(profiles, i)).collect()
    }

    /// The cluster of object `i`, as [`object_labels`](Self::object_labels) has it.
    pub fn object_label(&self, profiles: &Profiles, i: usize) -> Option<u32> {
        let label = match &self.parted {
            Some(labels) => labels.get(i),
            None => profiles.map().get(i).and_then(|&s| self.labels.get(s as usize)),
        };
        label.copied().filter(|&label| label != NO_CLUSTER)
    }

    /// The average normalised mutual information with the members, over objects where equal ones
    /// were parted; `weights` are those of the objects.
    pub fn anmi(&self, profiles: &Profiles, weights: Option<&[f64]>) -> f64 {
        match &self.parted {
            Some(labels) => {
                let parted = profiles.parted(labels, weights);
                anmi(&parted.profiles, &parted.labels)
            }
            None => anmi(profiles, &self.labels),
        }
    }

    /// How strongly the method stands for each object's label, in [0, 1]; `None` where it has none.
    pub fn object_strength(&self, profiles: &Profiles) -> Vec<Option<f64>> {
        let sure = profiles.expand(&self.strength);
        let labels = self.object_labels(profiles);
        sure.into_iter().zip(labels).map(|(c, label)| label.and(c)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Contingency, HardMember};
    use crate::metrics::anmi_of_tables;
    use crate::testing::{hard_ensemble, profiles};

    /// Equal objects in two clusters agree less with the members than the heavier part alone would.
    #[test]
    fn the_agreement_of_parted_objects_is_that_of_objects() {
        let ensemble = hard_ensemble(&[[0, 0, 0, 1], [0, 0, 0, 1]]);
        let profiles = profiles(&ensemble);
        let whole = Consensus::from_labels(vec![0, 1], 2);
        assert_eq!(whole.anmi(&profiles, None), 1.0);
        let parted = Consensus { parted: Some(vec![0, 0, 1, 1]), ..whole };
        let labels = HardMember::from_integers("parted", [0, 0, 1, 1].map(Some)).into();
        let table = |member| Contingency::new(&labels, member, None).unwrap();
        let tables: Vec<_> = ensemble.members().iter().map(table).collect();
        let told = parted.anmi(&profiles, None);
        assert!((told - anmi_of_tables(&tables)).abs() < 1e-12 && told < 0.9, "{told}");
    }

    #[test]
    fn clusters_change_places_with_all_that_is_theirs() {
        let old = Consensus {
            parted: Some(vec![2, 0, NO_CLUSTER]),
            membership: Some(Matrix::from_vec(1, 3, vec![0.5, 0.3, 0.2])),
            correspondences: Some(vec![Matrix::from_vec(1, 3, vec![0.6, 0.4, 0.0])]),
            ..Consensus::from_labels(vec![0, 1, 2, NO_CLUSTER], 3)
        };
        let new = old.reordered(&[2, 0, 1]);
        assert_eq!(new.labels, [1, 2, 0, NO_CLUSTER]);
        assert_eq!(new.parted, Some(vec![0, 1, NO_CLUSTER]));
        assert_eq!(new.membership.unwrap().row(0), [0.2, 0.5, 0.3]);
        assert_eq!(new.correspondences.unwrap()[0].row(0), [0.0, 0.6, 0.4]);
    }
}
