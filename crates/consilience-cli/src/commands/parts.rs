//! Profiles of a consensus where a balanced cut parted equal objects.

use consilience::ensemble::Parted;
use consilience_io::Ids;
use consilience_report::Subject;
use consilience_report::data::Truth;

use super::consensus::Found;
use super::report::names;

/// The profiles of a consensus with a row for each part of those that were parted, so that every
/// figure is about all objects.
pub(super) struct Parts(Option<(Parted, Vec<f64>)>);

impl Parts {
    /// The parts of what was found of objects with these weights.
    pub(super) fn of(found: &Found, weights: Option<&[f64]>) -> Self {
        Parts(found.consensus.parted.as_ref().map(|labels| {
            let parted = found.profiles.parted(labels, weights);
            let sure = &found.consensus.confidence;
            let sure = parted.origin.iter().map(|&s| sure[s as usize]).collect();
            (parted, sure)
        }))
    }

    /// What was found, as its page sees it; `clusters` names the clusters of the members.
    pub(super) fn subject<'a>(
        &'a self,
        found: &'a Found,
        clusters: &'a [Vec<String>],
        ids: Option<&'a Ids>,
        truth: Option<Truth>,
    ) -> Subject<'a> {
        let consensus = &found.consensus;
        let whole = (&found.profiles, &consensus.labels, &consensus.confidence);
        let parts = self.0.as_ref();
        let parts = parts.map(|(parted, sure)| (&parted.profiles, &parted.labels, sure));
        let (profiles, labels, confidence) = parts.unwrap_or(whole);
        Subject {
            profiles,
            clusters,
            labels,
            confidence,
            numbers: &found.numbers,
            called: Some(&found.names),
            names: ids.map(names),
            truth,
            criteria: None,
        }
    }
}
