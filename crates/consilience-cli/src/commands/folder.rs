//! What a folder of results holds, as `run`, `demo` and `combine --save` write it.

use std::fs;
use std::path::{Path, PathBuf};

use consilience::pipeline::Record;

use crate::errors::{data, usage};

/// The files that every result has.
pub(super) const FILES: [&str; 4] = [LABELS, MEMBERS, RECORD, PAGE];
pub(super) const LABELS: &str = "labels.csv";
pub(super) const MEMBERS: &str = "ensemble.parquet";
pub(super) const RECORD: &str = "result.json";
pub(super) const PAGE: &str = "report.html";
/// The weights of the objects, where they have any.
pub(super) const WEIGHTS: &str = "weights.csv";
/// How the consensus settled, where that was asked for.
pub(super) const CONVERGENCE: &str = "convergence.csv";
/// The list of objects that moved since an earlier result.
pub(super) const MOVED: &str = "moved.csv";
/// The earlier labels, kept where the new ones take their place.
pub(super) const EARLIER: &str = "earlier.csv";
/// The standings and the answers of all methods, where several were run.
pub(super) const BOARD: [&str; 2] = ["leaderboard.csv", "leaderboard-labels.csv"];
/// The files that only some results have.
pub(super) const OPTIONAL: [&str; 6] = [WEIGHTS, CONVERGENCE, MOVED, EARLIER, BOARD[0], BOARD[1]];

/// The folder of a result that is named by it or by its `result.json`.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The record of a result.
pub(super) fn record_of(path: &Path) -> anyhow::Result<Record> {
    let file = if path.is_dir() { path.join(RECORD) } else { path.to_owned() };
    let refused = |problem: &str| {
        data(format!(
            "{} {problem}: name a folder that `consilience run` or `combine --save` wrote, or its \
             result.json",
            file.display()
        ))
    };
    let text = fs::read_to_string(&file)
        .map_err(|error| refused(&format!("cannot be read ({})", error.kind())))?;
    Record::parse(&text).ok_or_else(|| refused("is no result"))
}

/// Refuses to write over files that are in `dir` already: of an earlier result or of somebody else.
/// The `same` result may be made again.
pub(super) fn refuse_replacing(
    dir: &Path,
    same: impl Fn(&Record) -> bool,
    force: bool,
) -> anyhow::Result<()> {
    let mut paths = FILES.iter().map(|name| dir.join(name));
    let Some(path) = paths.find(|path| path.exists()).filter(|_| !force) else { return Ok(()) };
    match record_of(dir) {
        Ok(record) if same(&record) => Ok(()),
        earlier => Err(usage(format!(
            "{} is there already, {}: give another folder, or --force to replace it",
            path.display(),
            if earlier.is_ok() { "from an earlier result" } else { "from something else" }
        ))),
    }
}

/// Removes what an earlier result in the folder had and the new one, of these files, has not.
pub(super) fn remove_others(dir: &Path, files: &[&str]) {
    for name in OPTIONAL.iter().filter(|name| !files.contains(name)) {
        // Most folders have none.
        let _ = fs::remove_file(dir.join(name));
    }
}
