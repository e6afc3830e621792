//! The consensus of an ensemble, by object.

use crate::consensus::combine::{combine, prepare};
use crate::consensus::method::{ConsensusMethod, MethodInfo};
use crate::consensus::outcome::Consensus;
use crate::consensus::settings::Settings;
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

    /// How strongly the method stands for each object's label, from 0 to 1; `None` where it has none.
    pub fn strength(&self) -> Vec<Option<f64>> {
        self.consensus.object_strength(&self.profiles)
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

/// A method chosen by its name, with parameters as text: what command lines and other languages need.
#[derive(Clone, Debug)]
pub struct ByName {
    info: &'static MethodInfo,
    k: Option<usize>,
    settings: Settings,
}

impl MethodInfo {
    /// The method with `k` clusters.
    pub fn k(&'static self, k: usize) -> ByName {
        ByName { k: Some(k), ..self.by_name() }
    }

    /// The method with a parameter set.
    ///
    /// # Errors
    ///
    /// If it has no such parameter.
    pub fn set(&'static self, name: &str, value: &str) -> Result<ByName> {
        self.by_name().set(name, value)
    }

    /// The consensus of `ensemble` with the method's defaults.
    ///
    /// # Errors
    ///
    /// If the method must be told k, or cannot use such an ensemble.
    pub fn fit(&'static self, ensemble: &Ensemble) -> Result<Clustering> {
        self.by_name().fit(ensemble)
    }

    fn by_name(&'static self) -> ByName {
        ByName { info: self, k: None, settings: Settings::default() }
    }
}

impl ByName {
    /// Sets a parameter; its value is checked when the method is run.
    ///
    /// # Errors
    ///
    /// If the method has no such parameter.
    pub fn set(mut self, name: &str, value: &str) -> Result<Self> {
        self.info.knows(name)?;
        self.settings.set(name, value);
        Ok(self)
    }

    /// The consensus of `ensemble`, with seed 0 and all processors.
    ///
    /// # Errors
    ///
    /// If a parameter is out of range or the method cannot use such an ensemble.
    pub fn fit(&self, ensemble: &Ensemble) -> Result<Clustering> {
        self.fit_with(ensemble, &Run::new(0))
    }

    /// The same with a seed, threads and limits of one's own.
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit), and if the run is cancelled or would need too much memory.
    pub fn fit_with(&self, ensemble: &Ensemble, run: &Run) -> Result<Clustering> {
        Clustering::of(ensemble, self.info.with(self.k, &self.settings)?.as_ref(), run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::consensus::{Scec, Voting, method};
    use crate::testing::hard_ensemble;

    fn ensemble() -> Ensemble {
        hard_ensemble(&[[0, 0, 0, 1, 1], [1, 1, 1, 0, 0], [1, 1, 0, 0, 0]])
    }

    #[test]
    fn methods_by_type_and_by_name_are_the_same() {
        let by_type = Scec::new(2).alpha(0.5).restarts(2).fit(&ensemble()).unwrap();
        let by_name = method("scec").unwrap().k(2).set("alpha", "0.5").unwrap();
        let by_name = by_name.set("restarts", "2").unwrap().fit(&ensemble()).unwrap();
        assert_eq!(by_type.consensus(), by_name.consensus());
        assert_eq!(by_type.membership().unwrap().nrows(), 5);
        let voted = Voting::new().fit(&ensemble()).unwrap();
        assert_eq!(voted.labels(), [0, 0, 0, 1, 1].map(Some));
        assert_eq!(voted.labels(), method("voting").unwrap().fit(&ensemble()).unwrap().labels());
    }

    #[test]
    fn what_is_wrong_is_refused_before_any_work() {
        let scec = method("scec").unwrap();
        assert!(matches!(scec.set("alhpa", "1"), Err(Error::UnknownParameter { .. })));
        assert!(scec.k(2).set("alpha", "many").unwrap().fit(&ensemble()).is_err());
        assert!(Scec::new(2).alpha(-1.0).fit(&ensemble()).is_err());
        assert!(Scec::new(0).fit(&ensemble()).is_err());
        assert!(matches!(scec.fit(&ensemble()), Err(Error::NeedsK { .. })));
    }
}
