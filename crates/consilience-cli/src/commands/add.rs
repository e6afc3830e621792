//! `combine --add RESULT`: more clusterings for a saved result, which is the start.

use std::path::{Path, PathBuf};

use consilience::consensus::{ChoosesK, method};
use consilience::ensemble::Member;
use consilience::pipeline::{Clusters, FileRecord, Record};

use super::files::{described_as, recorded};
use super::folder::{LABELS, MEMBERS, RECORD, WEIGHTS, folder_of, record_of};
use crate::args::{ConsensusArgs, KChoice, Setting};
use crate::errors::usage;
use crate::output::named;

/// The saved result that clusterings are added to.
pub(super) struct Base {
    folder: PathBuf,
    record: Record,
}

impl Base {
    /// Reads the record of a result.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        Ok(Base { record: record_of(path)?, folder: folder_of(path) })
    }

    /// The clusterings of the result.
    pub(super) fn ensemble(&self) -> PathBuf {
        self.folder.join(MEMBERS)
    }

    /// Its labels, from which iterative methods start and which clusters are called after.
    pub(super) fn labels(&self) -> PathBuf {
        self.folder.join(LABELS)
    }

    /// The weights of its objects, if it has any.
    pub(super) fn weights(&self) -> Option<String> {
        let file = self.folder.join(WEIGHTS).to_string_lossy().into_owned();
        self.record.data.weighted.then_some(file)
    }

    /// The column of identifiers.
    pub(super) fn id(&self) -> Option<String> {
        self.record.data.id.clone()
    }

    /// The options of the consensus with those of the result where the user said nothing; with the `edges` of a
    /// network those of a method that can use them.
    pub(super) fn completed(&self, args: &ConsensusArgs, edges: bool) -> ConsensusArgs {
        let Record { command, consensus, .. } = &self.record;
        let mut all = args.clone();
        let works_on_edges = method(&consensus.method).is_ok_and(|info| info.edges);
        if edges && all.method.is_none() && !works_on_edges {
            return all;
        }
        if all.method.is_none() {
            // The method that was taken, also where it was chosen for the user.
            all.method = Some(consensus.method.clone());
            if all.settings.is_empty() {
                let setting = |(key, value): (&str, &str)| Setting {
                    key: key.to_owned(),
                    value: value.to_owned(),
                };
                all.settings = command.settings().map(setting).collect();
            }
        }
        let chooses = method(all.method()).is_ok_and(|info| info.chooses_k == ChoosesK::Always);
        if all.k.0 == Clusters::Auto && !chooses {
            let asked = self.record.k_asked().map(Clusters::Exactly);
            all.k = KChoice(asked.unwrap_or(Clusters::Kept(consensus.k)));
        }
        all
    }

    /// Fails if a new clustering is called as one of the result.
    pub(super) fn check_names(&self, members: &[Member]) -> anyhow::Result<()> {
        let mut known = self.record.ensemble.members.iter().zip(members);
        match known.find(|(known, member)| known.name != member.name()) {
            None => Ok(()),
            Some((known, _)) => Err(usage(format!(
                "clustering `{}` is in the result already: rename the column, or take it out of \
                 the file",
                named(&known.name)
            ))),
        }
    }

    /// How the result is recorded.
    pub(super) fn recorded(&self) -> String {
        recorded(&self.folder.join(RECORD), true)
    }

    /// What identifies its files in a record.
    pub(super) fn described(&self) -> anyhow::Result<Vec<FileRecord>> {
        let mut files = vec![(RECORD, "add"), (MEMBERS, "part of add"), (LABELS, "part of add")];
        files.extend(self.record.data.weighted.then_some((WEIGHTS, "part of add")));
        let told = |(name, role): (&str, &str)| -> anyhow::Result<FileRecord> {
            let path = self.folder.join(name);
            Ok(FileRecord { file: recorded(&path, true), ..described_as(&path, role)? })
        };
        files.into_iter().map(told).collect()
    }
}
