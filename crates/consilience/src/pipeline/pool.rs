//! The ensemble of an answer with its profiles, each kind of which is made once.

use std::sync::Arc;

use crate::consensus::{MethodInfo, OnSoft};
use crate::ensemble::{Ensemble, Profiles};
use crate::error::Result;
use crate::pipeline::record::EnsembleRecord;
use crate::run::{Clock, Run};

/// An ensemble and its profiles: as the members are, and of soft members also hardened.
pub(super) struct Pool {
    pub(super) ensemble: Arc<Ensemble>,
    /// The weights of all objects, if the ensemble has them not.
    own_weights: Option<Vec<f64>>,
    as_given: Option<Merged>,
    hardened: Option<Merged>,
    /// Whether hardening was warned of.
    warned: bool,
    /// Seconds spent on merging equal objects.
    pub(super) seconds: f64,
}

/// Profiles with the names of every member's clusters, by their codes.
struct Merged {
    profiles: Profiles,
    clusters: Vec<Vec<String>>,
}

impl Merged {
    fn new(ensemble: &Ensemble, run: &Run) -> Result<Self> {
        Ok(Merged { profiles: Profiles::new(ensemble, run)?, clusters: names(ensemble) })
    }
}

/// The names of every member's clusters.
fn names(ensemble: &Ensemble) -> Vec<Vec<String>> {
    ensemble.members().iter().map(|member| member.clusters().to_vec()).collect()
}

impl Pool {
    pub(super) fn of(ensemble: impl Into<Arc<Ensemble>>) -> Self {
        Pool {
            ensemble: ensemble.into(),
            own_weights: None,
            as_given: None,
            hardened: None,
            warned: false,
            seconds: 0.0,
        }
    }

    /// Of hard members that are merged already; `tuples` has one object for every profile, `weights`
    /// are those of all objects.
    pub(super) fn merged(profiles: Profiles, tuples: Ensemble, weights: Option<Vec<f64>>) -> Self {
        let clusters = names(&tuples);
        let as_given = Some(Merged { profiles, clusters });
        Pool { own_weights: weights, as_given, ..Self::of(tuples) }
    }

    /// The weights of all objects.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.own_weights.as_deref().or(self.ensemble.weights())
    }

    /// Whether the profiles for a method are hardened ones of soft members.
    fn hardens(&self, info: &MethodInfo) -> bool {
        info.soft == OnSoft::Hardens && !self.ensemble.is_hard()
    }

    /// The profiles, hardened if that is asked for and members are soft.
    pub(super) fn profiles(&mut self, hard: bool, run: &Run) -> Result<&Profiles> {
        let hardens = hard && !self.ensemble.is_hard();
        let kind = if hardens { &mut self.hardened } else { &mut self.as_given };
        let merged = if let Some(merged) = kind {
            merged
        } else {
            let clock = Clock::start();
            let merged = if hardens {
                Merged::new(&self.ensemble.hardened(), run)?
            } else {
                Merged::new(&self.ensemble, run)?
            };
            self.seconds += clock.seconds();
            kind.insert(merged)
        };
        Ok(&merged.profiles)
    }

    /// The profiles as a method wants them: hardened, with a warning, if it takes hard labels only.
    pub(super) fn profiles_for(&mut self, info: &MethodInfo, run: &Run) -> Result<&Profiles> {
        let hardens = self.hardens(info);
        if hardens && !std::mem::replace(&mut self.warned, true) {
            run.warn(&format!(
                "`{}` takes hard labels: of each soft membership the largest is used",
                info.name
            ));
        }
        self.profiles(hardens, run)
    }

    /// The profiles that a method ran or is to run on; the other kind is given up, and so is the
    /// ensemble unless it is to be kept.
    pub(super) fn narrowed(mut self, info: &MethodInfo, keep: bool, run: &Run) -> Result<Narrowed> {
        self.profiles_for(info, run)?;
        let merged = if self.hardens(info) { self.hardened } else { self.as_given };
        let Merged { profiles, clusters } = merged.expect("just made");
        let members = EnsembleRecord::of(&self.ensemble);
        let mut weights = self.own_weights;
        let ensemble = if keep {
            Some(self.ensemble)
        } else {
            weights = weights.or_else(|| self.ensemble.weights().map(<[f64]>::to_vec));
            None
        };
        Ok(Narrowed { profiles, clusters, ensemble, weights, members, seconds: self.seconds })
    }
}

/// What is left of a pool once the method is known.
pub(super) struct Narrowed {
    pub(super) profiles: Profiles,
    /// The names of every member's clusters, by their codes in the profiles.
    pub(super) clusters: Vec<Vec<String>>,
    pub(super) ensemble: Option<Arc<Ensemble>>,
    /// The weights of all objects, if there is no ensemble that has them.
    pub(super) weights: Option<Vec<f64>>,
    pub(super) members: EnsembleRecord,
    pub(super) seconds: f64,
}

impl Narrowed {
    /// The weights of all objects.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref().or_else(|| self.ensemble.as_ref()?.weights())
    }
}
