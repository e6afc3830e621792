//! The consensus of an ensemble, by object.

use crate::consensus::combine::{combine, prepare};
use crate::consensus::method::ConsensusMethod;
use crate::consensus::outcome::Consensus;
use crate::ensemble::{Ensemble, Profiles};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// What `fit` answers: a [`Consensus`] together with the profiles that it is about.
#[derive(Clone, Debug)]
pub struct Clustering {
    profiles: Profiles,
    consensus: Consensus,
}

impl Clustering {
    pub(super) fn of(ensemble: &Ensemble, method: &dyn ConsensusMethod, run: &Run) -> Result<Self> {
        let profiles = prepare(ensemble, method.info(), run)?;
        let consensus = combine(&profiles, method, None, run)?;
        Ok(Clustering { profiles, consensus })
    }

    /// The number of clusters.
    pub fn k(&self) -> usize {
        self.consensus.k
    }

    /// The cluster of every object, numbered from 0 by falling size; `None` where no member labels the
    /// object or the method leaves it unassigned.
    pub fn labels(&self) -> Vec<Option<u32>> {
        self.consensus.object_labels(&self.profiles)
    }

    /// How sure each object's label is, from 0 to 1; `None` where it has none.
    pub fn confidence(&self) -> Vec<Option<f64>> {
        self.consensus.object_confidence(&self.profiles)
    }

    /// The soft consensus, one row per object, if the method has one; a row of zeros where no member
    /// labels the object.
    pub fn membership(&self) -> Option<Matrix> {
        let of_profiles = self.consensus.membership.as_ref()?;
        let map = self.profiles.map();
        Some(Matrix::from_fn(map.len(), of_profiles.ncols(), |i, j| {
            if (map[i] as usize) < of_profiles.nrows() {
                of_profiles[(map[i] as usize, j)]
            } else {
                0.0
            }
        }))
    }

    /// The average normalised mutual information with the members.
    pub fn anmi(&self) -> f64 {
        self.consensus.anmi(&self.profiles, None)
    }

    /// All that the method answered, by profile: objective, trace, why it stopped, diagnostics.
    pub fn consensus(&self) -> &Consensus {
        &self.consensus
    }

    /// The distinct objects that the method saw.
    pub fn profiles(&self) -> &Profiles {
        &self.profiles
    }
}
