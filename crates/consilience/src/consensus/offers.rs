//! Which of the optional parts of a [`Consensus`](crate::consensus::Consensus) a method fills in.

use serde::Serialize;

use crate::consensus::combine::{combine, prepare};
use crate::consensus::method::{ChoosesK, MethodInfo};
use crate::consensus::settings::Settings;
use crate::ensemble::{Ensemble, HardMember};
use crate::error::Result;
use crate::run::Run;

/// Which optional parts a method's answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Offers {
    /// A soft consensus.
    pub membership: bool,
    /// A correspondence for every member.
    pub correspondences: bool,
    /// A tree of merges.
    pub dendrogram: bool,
    /// A consensus matrix of its own.
    pub affinity: bool,
}

impl MethodInfo {
    /// What the method offers with these settings, found by asking it about six objects: a
    /// declaration could be forgotten or grow stale, an answer cannot.
    ///
    /// # Errors
    ///
    /// If the settings are refused.
    pub fn offers(&self, settings: &Settings) -> Result<Offers> {
        let members = [[0, 0, 1, 1, 2, 2], [2, 2, 0, 0, 1, 1], [0, 0, 0, 0, 1, 1]]
            .map(|labels| HardMember::from_integers("", labels.map(Some)).into());
        let run = Run::new(0).threads(1);
        let k = if self.chooses_k == ChoosesK::Always { None } else { Some(2) };
        let method = self.with(k, settings)?;
        let profiles = prepare(&Ensemble::new(members.to_vec())?, self, &run)?;
        let answer = combine(&profiles, method.as_ref(), None, &run)?;
        Ok(Offers {
            membership: answer.membership.is_some(),
            correspondences: answer.correspondences.is_some(),
            dendrogram: answer.dendrogram.is_some(),
            affinity: answer.affinity.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::consensus::{METHODS, method};

    use super::*;

    #[test]
    fn voting_offers_labels_and_nothing_else() {
        let offers = method("voting").unwrap().offers(&Settings::default());
        let nothing = Offers {
            membership: false,
            correspondences: false,
            dendrogram: false,
            affinity: false,
        };
        assert_eq!(offers, Ok(nothing));
    }

    #[test]
    fn every_method_answers_about_six_objects() {
        for info in METHODS {
            assert!(info.offers(&Settings::default()).is_ok(), "{}", info.name);
        }
    }

    #[test]
    fn refused_settings_are_refused_here_too() {
        let settings = Settings::from_iter([("threshold", "2")]);
        assert!(method("voting").unwrap().offers(&settings).is_err());
    }
}
