//! The result that clusters are called after: `--align-to OLD_LABELS`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use consilience::pipeline::{Answer, Earlier, FileRecord};
use consilience_io::{
    Cells, Ids, InputError, OutputError, ReadOptions, Target, read_labels, write_table,
};

use super::files::{described_as, recorded};
use super::folder::{EARLIER, LABELS, RECORD, folder_of, record_of};
use crate::args::ConsensusArgs;
use crate::errors::usage;
use crate::output::counted;
use crate::session::Session;

/// An earlier result and the file that it was read from.
pub(super) struct EarlierFile {
    pub(super) path: PathBuf,
    pub(super) result: Earlier,
}

impl EarlierFile {
    /// Reads the labels that `--align-to` names: a table of labels, or a folder of results. Objects
    /// are matched by their identifiers, or by their rows if they have none.
    pub(super) fn read(
        path: Option<&Path>,
        ids: Option<&Ids>,
        n: usize,
        options: &ReadOptions,
        session: &Session,
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        let is_result = path.is_dir() || path.file_name().is_some_and(|name| name == RECORD);
        let path = if is_result { folder_of(path).join(LABELS) } else { path.to_owned() };
        let as_written = options.as_written();
        let options = if is_result { &as_written } else { options };
        let labels = match read_labels(&path, ids, n, options, &session.run) {
            Err(InputError::RowCounts { .. }) if ids.is_none() => {
                return Err(usage(format!(
                    "--align-to {} is of other objects: without identifiers (--id) it must have the \
                     same {}",
                    path.display(),
                    counted(n, "row")
                )));
            }
            read => read?.hardened(),
        };
        // Recorded with the folder it is in if that is what was named.
        let name = recorded(&path, is_result);
        let result = Earlier::new(name, &labels, &names_beside(&path));
        Ok(Some(EarlierFile { path, result }))
    }

    /// What identifies the file in a record.
    pub(super) fn described(&self) -> anyhow::Result<FileRecord> {
        let told = described_as(&self.path, "align_to")?;
        Ok(FileRecord { file: self.result.name.clone(), ..told })
    }
}

/// The names of clusters by number, where the labels lie beside a result that follows another.
fn names_beside(path: &Path) -> BTreeMap<u32, String> {
    let record = record_of(&path.with_file_name(RECORD)).unwrap_or_default();
    let aligned = record.consensus.aligned.unwrap_or_default();
    match path.file_name().and_then(|name| name.to_str()) {
        Some(EARLIER) => aligned.earlier.by_number(),
        Some(LABELS) => aligned.clusters.by_number(),
        _ => BTreeMap::new(),
    }
}

/// Writes the objects that moved since the earlier result, if there is one: `id,before,now`.
pub(super) fn write_moved(
    target: &Target,
    answer: &Answer,
    ids: Option<&Ids>,
    session: &Session,
) -> Result<(), OutputError> {
    let Some(aligned) = &answer.aligned else { return Ok(()) };
    let moved = || aligned.moved.iter();
    let ids: Ids = match ids {
        Some(ids) => moved().map(|m| ids.get(m.object)).collect(),
        None => moved().map(|m| m.object.to_string()).collect(),
    };
    let before = moved().map(|m| aligned.earlier.names[m.from as usize].clone());
    let now = moved().map(|m| answer.names[m.to as usize].clone());
    let columns = [
        ("id".to_owned(), Cells::Ids(&ids)),
        ("before".to_owned(), Cells::Text(before.collect())),
        ("now".to_owned(), Cells::Text(now.collect())),
    ];
    write_table(target, &columns, &session.run)
}

/// What the consensus step read, with what for.
pub(super) fn consensus_inputs(
    args: &ConsensusArgs,
    earlier: Option<&EarlierFile>,
) -> anyhow::Result<Vec<FileRecord>> {
    let init = args.init.as_deref().map(|init| described_as(init, "init"));
    let earlier = earlier.map(EarlierFile::described);
    init.into_iter().chain(earlier).collect()
}
