//! The files of a folder of results.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use consilience::ensemble::Ensemble;
use consilience::judge::Partition;
use consilience::pipeline::{Answer, Record};
use consilience_io::{Cells, Ids, Target, write_consensus, write_members, write_table, write_text};

use super::board;
use super::earlier::{EarlierFile, write_moved};
use super::folder::{
    BOARD, CONVERGENCE, EARLIER, FILES, LABELS, MEMBERS, MOVED, PAGE, RECORD, WEIGHTS,
};
use crate::session::Session;

/// What goes into a folder of results.
pub(super) struct Results<'a> {
    pub(super) answer: &'a Answer,
    pub(super) ensemble: &'a Ensemble,
    /// The identifiers, with the name of their column.
    pub(super) ids: Option<(&'a str, &'a Ids)>,
    /// What the clusters were aligned to, if it is to be kept: it stands where the new labels go.
    pub(super) earlier: Option<&'a EarlierFile>,
    pub(super) record: &'a Record,
    pub(super) page: &'a str,
}

impl Results<'_> {
    /// All files of the folder, in the order they are written.
    pub(super) fn files(&self) -> Vec<&'static str> {
        let optional = [
            self.answer.weights().map(|_| WEIGHTS),
            self.answer.convergence().map(|_| CONVERGENCE),
            self.answer.aligned.as_ref().map(|_| MOVED),
            self.earlier.map(|_| EARLIER),
        ];
        let board = if self.answer.board.is_some() { &BOARD[..] } else { &[] };
        FILES
            .into_iter()
            .chain(optional.into_iter().flatten())
            .chain(board.iter().copied())
            .collect()
    }

    /// Writes them, each to the target of its name.
    pub(super) fn write(
        &self,
        target: impl Fn(&str) -> anyhow::Result<Target>,
        session: &Session,
    ) -> anyhow::Result<()> {
        let (answer, run) = (self.answer, &session.run);
        let ids = self.ids.map(|(_, ids)| ids);
        write_labels(&target(LABELS)?, answer, ids, session)?;
        write_members(&target(MEMBERS)?, self.ids, self.ensemble.members(), run)?;
        if let Some(weights) = answer.weights() {
            let ids = self.ids.map(|(name, ids)| (name.to_owned(), Cells::Ids(ids)));
            let weights = ("weight".to_owned(), Cells::Numbers(weights.into()));
            let columns: Vec<_> = ids.into_iter().chain([weights]).collect();
            write_table(&target(WEIGHTS)?, &columns, run)?;
        }
        if let Some(columns) = answer.convergence() {
            let columns: Vec<_> = columns
                .iter()
                .map(|(name, values)| (name.clone(), Cells::Numbers(values.into())))
                .collect();
            write_table(&target(CONVERGENCE)?, &columns, run)?;
        }
        if answer.aligned.is_some() {
            write_moved(&target(MOVED)?, answer, ids, session)?;
        }
        if let Some(board) = &answer.board {
            let [rows, answers] = BOARD;
            board::write(&target(rows)?, board, run)?;
            board::write_labels(&target(answers)?, board, ids, run)?;
        }
        if let Some(earlier) = self.earlier {
            write_text(&target(EARLIER)?, &fs::read_to_string(&earlier.path)?)?;
        }
        write_text(&target(RECORD)?, &format!("{}\n", serde_json::to_string_pretty(self.record)?))?;
        Ok(write_text(&target(PAGE)?, self.page)?)
    }
}

/// Writes the consensus: `id,cluster,confidence`, and `coverage` where labels are missing.
pub(super) fn write_labels(
    target: &Target,
    answer: &Answer,
    ids: Option<&Ids>,
    session: &Session,
) -> anyhow::Result<()> {
    let labels = answer.labels();
    let Partition { profiles, confidence, .. } = session.run.install(|| answer.partition());
    let confidence = Cells::Sure { confidence: &confidence, map: profiles.map(), labels: &labels };
    let coverage = answer.coverage().map(Cow::Owned).map(Cells::Numbers);
    Ok(write_consensus(target, ids, &labels, confidence, coverage, &session.run)?)
}

/// The earlier labels if a result in `dir` would take their place.
pub(super) fn kept<'a>(earlier: Option<&'a EarlierFile>, dir: &Path) -> Option<&'a EarlierFile> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    earlier.filter(|earlier| {
        let path = real(&earlier.path);
        path.is_some() && [LABELS, EARLIER].iter().any(|name| path == real(&dir.join(name)))
    })
}
