//! A result that was saved, read back.

use std::borrow::Cow;
use std::path::Path;

use consilience::consensus::{NO_CLUSTER, cluster_names, method, prepare};
use consilience::ensemble::{Ensemble, Parted, Profiles};
use consilience::judge::{Confidence, Judgement, Known, Partition};
use consilience::pipeline::Record;
use consilience_io::{Ids, ReadOptions, read_clusterings, read_consensus};
use consilience_report::{Names, Subject};

use super::folder::{LABELS, MEMBERS, WEIGHTS, folder_of, record_of};
use crate::errors::usage;
use crate::output::{counted, named};
use crate::session::Session;

/// A saved result.
pub(super) struct Saved {
    pub(super) record: Record,
    pub(super) ensemble: Ensemble,
    /// The names of every member's clusters.
    pub(super) clusters: Vec<Vec<String>>,
    pub(super) partition: Partition<'static>,
    pub(super) ids: Option<Ids>,
}

impl Saved {
    /// Reads a result.
    pub(super) fn read(path: &Path, session: &Session) -> anyhow::Result<Self> {
        let run = &session.run;
        let (record, folder) = (record_of(path)?, folder_of(path));
        let id = record.data.id.clone();
        let weights = folder.join(WEIGHTS).to_string_lossy().into_owned();
        let weights = record.data.weighted.then_some(weights);
        let options =
            ReadOptions { id: id.clone(), weights, ..ReadOptions::default() }.as_written();
        let table = read_clusterings(&[folder.join(MEMBERS)], &options, run)?;
        let mut ensemble = Ensemble::new(table.members)?;
        if let Some(weights) = table.weights {
            ensemble = ensemble.with_weights(weights)?;
        }
        let consensus = read_consensus(&folder.join(LABELS), run)?;
        if consensus.clusters.len() != ensemble.n_objects() {
            return Err(usage(format!(
                "{LABELS} has {}, but {MEMBERS} has {}: the files in {} are not of one result",
                counted(consensus.clusters.len(), "object"),
                ensemble.n_objects(),
                folder.display()
            )));
        }
        let (profiles, clusters) = if let Ok(info) = method(&record.consensus.method) {
            (prepare(&ensemble, info, run)?, cluster_names(&ensemble, info))
        } else {
            let clusters = ensemble.members().iter().map(|m| m.clusters().to_vec());
            (Profiles::new(&ensemble, run)?, clusters.collect())
        };
        let mut numbers: Vec<u32> = consensus.clusters.iter().flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let place = |number: u32| numbers.binary_search(&number).expect("among them") as u32;
        let places: Vec<u32> =
            consensus.clusters.iter().map(|number| number.map_or(NO_CLUSTER, place)).collect();
        // A balanced cut may have parted equal objects.
        let Parted { profiles, labels, .. } = profiles.parted(&places, ensemble.weights());
        // Not read from the table: results saved by earlier versions hold the members' support there.
        let confidence = Confidence::of_profiles(&profiles, &labels, numbers.len(), run)?;
        let known = record.consensus.aligned.as_ref().map(|aligned| aligned.clusters.by_number());
        let known = known.unwrap_or_default();
        let name = |number: &u32| known.get(number).cloned().unwrap_or_else(|| number.to_string());
        let partition = Partition {
            names: numbers.iter().map(name).collect(),
            profiles: Cow::Owned(profiles),
            labels: labels.into(),
            confidence: confidence.into(),
            numbers: numbers.into(),
        };
        let ids = id.is_some().then_some(consensus.ids);
        Ok(Saved { record, ensemble, clusters, partition, ids })
    }

    /// What a cluster is called: its number, and its name where that is another.
    pub(super) fn name_of(&self, place: usize) -> String {
        let number = self.partition.numbers[place].to_string();
        match &self.partition.names[place] {
            name if *name == number => number,
            name => format!("{number} ({})", named(name)),
        }
    }

    /// The result as its page sees it.
    pub(super) fn subject(&self) -> Subject<'_> {
        let names = self.ids.as_ref().map(names);
        Subject { partition: &self.partition, clusters: &self.clusters, names }
    }

    /// What the result is worth.
    pub(super) fn judge(&self, session: &Session) -> anyhow::Result<Judgement> {
        // The draws of the result's own run, or the page would differ from its own.
        let run = session.run.with_seed(self.record.seed);
        let number = self.record.consensus.number.as_ref();
        let known = Known { asked: self.record.k_asked(), number, criteria: None };
        Ok(Judgement::new(&self.partition, known, &run)?)
    }
}

/// The names of objects as a page asks for them.
pub(super) fn names(ids: &Ids) -> Names<'_> {
    Box::new(|i| (i < ids.len()).then(|| ids.get(i)))
}
