//! What a folder of results holds, as `run`, `demo` and `combine --save` write it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use consilience::pipeline::{Record, ResolutionRecord};
use consilience_io::cleanup::TemporaryFolder;
use consilience_io::{FolderLock, OutputError, ReadOptions, recover, sweep};

use crate::errors::{data, failed, usage};

/// The files that every result has.
pub(super) const FILES: [&str; 4] = [LABELS, MEMBERS, RECORD, PAGE];
pub(super) const LABELS: &str = "labels.csv";
pub(super) const MEMBERS: &str = "ensemble.parquet";
pub(super) const RECORD: &str = "result.json";
pub(super) const PAGE: &str = "report.html";
/// The members that are finished, while a run is not.
pub(super) const UNFINISHED: &str = ".members";
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
/// How folders begin that results are written in before they are moved to their places.
const ASIDE: &str = ".consilience-";
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
    let (file, text) = record_text(path)?;
    Record::parse(&text).ok_or_else(|| match levels_in(&text) {
        Some(_) => data(format!(
            "{} was written by `resolve`, whose results are tables and a figure: labels.csv has the clusters, \
             `consilience figure {} tree -o tree.pdf` draws the levels; for a page, `combine --save` the clusterings of one level",
            file.display(),
            folder_of(path).display()
        )),
        None => no_result(&file, "is no result"),
    })
}

/// The record of a result of `resolve`, if it is one.
pub(super) fn resolution_of(path: &Path) -> Option<ResolutionRecord> {
    levels_in(&record_text(path).ok()?.1)
}

fn levels_in(text: &str) -> Option<ResolutionRecord> {
    let record: ResolutionRecord = serde_json::from_str(text).ok()?;
    (!record.levels.is_empty()).then_some(record)
}

/// What stands in the record of a result, and which file that is.
fn record_text(path: &Path) -> anyhow::Result<(PathBuf, String)> {
    let folder = folder_of(path);
    let file = if path.is_dir() { path.join(RECORD) } else { path.to_owned() };
    recover(&folder).map_err(|error| OutputError::io(folder.display().to_string(), &error))?;
    if !file.exists() && file.with_file_name(UNFINISHED).is_dir() {
        return Err(data(format!(
            "the run in {} is unfinished: give the same command again, and it goes on",
            folder.display()
        )));
    }
    match fs::read_to_string(&file) {
        Ok(text) => Ok((file, text)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(no_result(&file, "does not exist"))
        }
        Err(error) => Err(no_result(&file, &format!("cannot be read ({})", error.kind()))),
    }
}

fn no_result(file: &Path, problem: &str) -> anyhow::Error {
    data(format!(
        "{} {problem}: name a folder that `consilience run` or `combine --save` wrote, or its \
         result.json",
        file.display()
    ))
}

/// Takes the column of identifiers from the record of a result whose ensemble is among the files,
/// unless the user says otherwise.
pub(super) fn name_saved_ids(files: &[PathBuf], options: &mut ReadOptions) {
    let ensembles = files.iter().filter(|path| path.file_name().is_some_and(|n| n == MEMBERS));
    let mut ids = ensembles.filter_map(|path| record_of(&folder_of(path)).ok()?.data.id);
    let found = ids.find(|id| !options.drop.contains(id));
    options.id = options.id.take().or(found);
}

/// A result that is about to be written, and which of the files that only some results have it may
/// have.
pub(super) struct Written {
    pub(super) weighted: bool,
    pub(super) convergence: bool,
    pub(super) aligned: bool,
    pub(super) board: bool,
}

impl Written {
    /// What a result had that was recorded.
    fn of(record: &Record) -> Self {
        let Record { data, consensus, .. } = record;
        Written {
            weighted: data.weighted,
            convergence: consensus.diagnostics.contains_key("convergence"),
            aligned: consensus.aligned.is_some(),
            board: consensus.leaderboard.is_some(),
        }
    }

    /// The names of its files.
    fn files(&self) -> Vec<&'static str> {
        let optional = [
            (self.weighted, &[WEIGHTS][..]),
            (self.convergence, &[CONVERGENCE]),
            (self.aligned, &[MOVED, EARLIER]),
            (self.board, &BOARD),
        ];
        let optional = optional.into_iter().filter(|(has, _)| *has).flat_map(|(_, names)| names);
        FILES.iter().chain(optional).copied().collect()
    }

    /// Refuses to write it over files that are in `dir` already: of an earlier result, unless that is
    /// the `same` or `followed` by this one, or of somebody else.
    pub(super) fn refuse_replacing(
        &self,
        dir: &Path,
        same: impl Fn(&Record) -> bool,
        followed: bool,
    ) -> anyhow::Result<()> {
        let earlier = record_of(dir).ok();
        let own = earlier.as_ref().map_or_else(Vec::new, |record| Written::of(record).files());
        let mut there = self.files().into_iter().filter(|name| dir.join(name).exists());
        let may = followed || earlier.as_ref().is_some_and(same);
        let Some(name) = there.find(|name| !(may && own.contains(name))) else { return Ok(()) };
        Err(usage(format!(
            "{} is there already, {}: give another folder, or --force to replace it",
            dir.join(name).display(),
            if own.contains(&name) { "from an earlier result" } else { "from something else" }
        )))
    }
}

/// The files of the result that is in the folder, if there is one.
fn files_in(dir: &Path) -> Vec<&'static str> {
    record_of(dir).map_or_else(|_| Vec::new(), |record| Written::of(&record).files())
}

/// The files of an earlier result in the folder that are not among those `now`.
pub(super) fn others_in(dir: &Path, now: &[&str]) -> Vec<String> {
    let before = files_in(dir).into_iter().filter(|name| !now.contains(name));
    // Not every result has the file of the one before it.
    before.filter(|name| dir.join(name).exists()).map(str::to_owned).collect()
}

/// A folder that results are written to, by this process alone. If there was none, and nothing was
/// written, there is none afterwards.
pub(super) struct Taken {
    dir: PathBuf,
    made: bool,
    _lock: FolderLock,
}

impl Taken {
    /// Makes the folder if need be; refused while another process writes to it.
    pub(super) fn new(dir: &Path) -> anyhow::Result<Self> {
        let made = !dir.exists();
        fs::create_dir_all(dir)
            .map_err(|error| OutputError::io(dir.display().to_string(), &error))?;
        let lock = FolderLock::take(dir).ok_or_else(|| {
            failed(format!(
                "another consilience is writing to {}: wait until it has ended, or give another folder",
                dir.display()
            ))
        })?;
        let failed = |error| OutputError::io(dir.display().to_string(), &error);
        recover(dir).map_err(failed)?;
        sweep(dir, ASIDE);
        Ok(Taken { dir: dir.to_owned(), made, _lock: lock })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.dir
    }

    /// A folder inside it to write results in before they are moved to their places.
    pub(super) fn aside(&self) -> anyhow::Result<TemporaryFolder> {
        let aside = TemporaryFolder::new(tempfile::Builder::new().prefix(ASIDE), &self.dir);
        Ok(aside.map_err(|error| OutputError::io(self.dir.display().to_string(), &error))?)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.made {
            // Refused by the system if anything is in it.
            let _ = fs::remove_dir(&self.dir);
        }
    }
}
