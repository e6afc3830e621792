//! The clustering of one level.

use crate::consensus::{MethodInfo, NO_CLUSTER, Settings, combine};
use crate::ensemble::{Contingency, NO_PROFILE, Profiles};
use crate::error::Result;
use crate::judge::coverage;
use crate::run::Run;

/// A clustering of the objects with what is known of its clusters, which stand by falling weight.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fitted {
    /// The method that it is from.
    pub(super) method: &'static str,
    /// The cluster of every object, or [`NO_CLUSTER`].
    pub(super) places: Vec<u32>,
    pub(super) sizes: Vec<f64>,
    /// How well the members find every cluster too: the mean element-centric similarity of its objects with them.
    pub(super) recovery: Vec<f64>,
    /// How sure the label of every object is, once that is known.
    pub(super) confidence: Option<Vec<f64>>,
    /// The share of the members that label every object, if that was asked for and some label is missing.
    pub(super) coverage: Option<Vec<f64>>,
}

impl Fitted {
    /// The clustering of `profiles` by a method, told `k` if it has to be; with the coverage of all objects if `objects`.
    pub(super) fn new(
        profiles: &Profiles,
        info: &'static MethodInfo,
        k: Option<usize>,
        objects: bool,
        run: &Run,
    ) -> Result<Self> {
        let method = info.with(k, &Settings::default())?;
        let consensus = combine(profiles, method.as_ref(), None, run)?;
        let (labels, k) = (&consensus.labels, consensus.k);
        let mut sizes = vec![0.0; k];
        for (&label, &w) in labels.iter().zip(profiles.weights()) {
            if label != NO_CLUSTER {
                sizes[label as usize] += w;
            }
        }
        let of_object = |s: &u32| labels.get(*s as usize).copied().unwrap_or(NO_CLUSTER);
        let places: Vec<u32> = profiles.map().iter().map(of_object).collect();
        let silent = profiles.has_missing() || profiles.map().contains(&NO_PROFILE);
        let coverage = (objects && silent).then(|| {
            let of_profiles = coverage(profiles);
            let of = |&s: &u32| of_profiles.get(s as usize).copied().unwrap_or(0.0);
            profiles.map().iter().map(of).collect()
        });
        Ok(Fitted {
            method: info.name,
            recovery: run.install(|| recovery(profiles, labels, k)),
            places,
            sizes,
            confidence: None,
            coverage,
        })
    }
}

impl Fitted {
    /// The mean confidence of the objects of every cluster, if it is known.
    pub(super) fn mean_confidence(&self, weights: Option<&[f64]>) -> Option<Vec<f64>> {
        let mut sums = vec![0.0; self.sizes.len()];
        for (i, (&sure, &place)) in self.confidence.as_ref()?.iter().zip(&self.places).enumerate() {
            if place != NO_CLUSTER {
                sums[place as usize] += sure * weights.map_or(1.0, |weights| weights[i]);
            }
        }
        Some(sums.iter().zip(&self.sizes).map(|(sum, size)| sum / size).collect())
    }
}

/// The mean element-centric similarity of the objects of every cluster of `labels` with the members that label them.
fn recovery(profiles: &Profiles, labels: &[u32], k: usize) -> Vec<f64> {
    let (mut sums, mut weights) = (vec![0.0; k], vec![0.0; k]);
    for h in 0..profiles.n_members() {
        let table = Contingency::of_consensus(profiles, labels, h);
        let (rows, columns) = (table.row_weights(), table.column_weights());
        for cell in table.cells() {
            let (row, column) = (cell.row as usize, cell.column as usize);
            sums[row] += cell.weight * cell.weight / rows[row].max(columns[column]);
            weights[row] += cell.weight;
        }
    }
    // A cluster that no member labels would have no object.
    sums.iter().zip(&weights).map(|(sum, w)| if *w > 0.0 { sum / w } else { 0.0 }).collect()
}
