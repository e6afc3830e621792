//! What a folder of results holds, as `run`, `demo` and `combine --save` write it.

use std::fs;
use std::path::Path;

use consilience::ensemble::Ensemble;
use consilience_io::Ids;

use super::align::{EARLIER, Earlier, MOVED};
use super::consensus::Found;
use super::{Session, board};
use consilience_io::{Cells, Target, write_consensus, write_members, write_table, write_text};

/// The files that every result has.
pub(super) const FILES: [&str; 4] =
    ["labels.csv", "ensemble.parquet", "result.json", "report.html"];
/// The weights of the objects, where they have any.
pub(super) const WEIGHTS: &str = "weights.csv";
/// How the consensus settled, where that was asked for.
pub(super) const CONVERGENCE: &str = "convergence.csv";
/// The standings and the answers of all methods, where several were run.
const LEADERBOARD: [&str; 2] = ["leaderboard.csv", "leaderboard-labels.csv"];
/// The files that only some results have.
pub(super) const OPTIONAL: [&str; 6] =
    [WEIGHTS, CONVERGENCE, MOVED, EARLIER, LEADERBOARD[0], LEADERBOARD[1]];

/// The tables of a folder of results.
pub(super) struct Tables<'a> {
    pub(super) found: &'a Found,
    pub(super) ensemble: &'a Ensemble,
    /// The identifiers, with the name of their column.
    pub(super) ids: Option<(&'a str, &'a Ids)>,
    /// What the clusters were aligned to, if it is to be kept: it stands where the new labels go.
    pub(super) earlier: Option<&'a Earlier>,
}

impl Tables<'_> {
    /// All files of the folder, in the order they are written.
    pub(super) fn files(&self) -> Vec<&'static str> {
        let optional = [
            self.ensemble.weights().map(|_| WEIGHTS),
            self.found.convergence().map(|_| CONVERGENCE),
            self.found.aligned.as_ref().map(|_| MOVED),
            self.earlier.map(|_| EARLIER),
        ];
        let board = if self.found.board.is_some() { &LEADERBOARD[..] } else { &[] };
        FILES
            .into_iter()
            .chain(optional.into_iter().flatten())
            .chain(board.iter().copied())
            .collect()
    }

    /// Writes the tables, each to the target of its name.
    pub(super) fn write(
        &self,
        target: impl Fn(&str) -> anyhow::Result<Target>,
        session: &Session,
    ) -> anyhow::Result<()> {
        let run = &session.run;
        let ids = self.ids.map(|(_, ids)| ids);
        let found = self.found;
        write_consensus(&target(FILES[0])?, ids, &found.labels, found.confidence(), run)?;
        write_members(&target(FILES[1])?, self.ids, self.ensemble.members(), run)?;
        if let Some(weights) = self.ensemble.weights() {
            let ids = self.ids.map(|(name, ids)| (name.to_owned(), Cells::Ids(ids)));
            let weights = ("weight".to_owned(), Cells::Numbers(weights.into()));
            let columns: Vec<_> = ids.into_iter().chain([weights]).collect();
            write_table(&target(WEIGHTS)?, &columns, run)?;
        }
        if let Some(columns) = found.convergence() {
            let columns: Vec<_> = columns
                .iter()
                .map(|(name, values)| (name.clone(), Cells::Numbers(values.into())))
                .collect();
            write_table(&target(CONVERGENCE)?, &columns, run)?;
        }
        if let Some(aligned) = &found.aligned {
            aligned.write(&target(MOVED)?, found, ids, session)?;
        }
        if let Some(board) = &found.board {
            let [rows, answers] = LEADERBOARD;
            board::write(&target(rows)?, board, run)?;
            board::write_labels(&target(answers)?, board, ids, run)?;
        }
        if let Some(earlier) = self.earlier {
            write_text(&target(EARLIER)?, &fs::read_to_string(&earlier.path)?)?;
        }
        Ok(())
    }
}

/// Removes what an earlier result in the folder had and the new one, of these files, has not.
pub(super) fn remove_others(dir: &Path, files: &[&str]) {
    for name in OPTIONAL.iter().filter(|name| !files.contains(name)) {
        // Most folders have none.
        let _ = fs::remove_file(dir.join(name));
    }
}

/// The earlier labels if a result in `dir` would take their place.
pub(super) fn kept<'a>(earlier: Option<&'a Earlier>, dir: &Path) -> Option<&'a Earlier> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    earlier.filter(|earlier| {
        let path = real(&earlier.path);
        path.is_some() && [FILES[0], EARLIER].iter().any(|name| path == real(&dir.join(name)))
    })
}
