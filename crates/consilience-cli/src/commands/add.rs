//! `combine --add RESULT`: more clusterings for a saved result, which is the start.

use std::path::{Path, PathBuf};

use consilience::consensus::{ChoosesK, Clusters, method};
use consilience::ensemble::Member;
use consilience_report::paper;
use serde_json::{Value, json};

use super::align::recorded;
use super::folder::{FILES, WEIGHTS};
use super::report::Saved;
use super::run::described;
use crate::args::{ConsensusArgs, KChoice, Setting};
use crate::errors::usage;
use crate::output::named;

/// The saved result that clusterings are added to.
pub(super) struct Base {
    folder: PathBuf,
    record: Value,
}

impl Base {
    /// Reads the record of a result.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        Ok(Base { record: Saved::record(path)?, folder: Saved::folder(path) })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The clusterings of the result.
    pub(super) fn ensemble(&self) -> PathBuf {
        self.file(FILES[1])
    }

    /// Its labels, from which iterative methods start and which clusters are called after.
    pub(super) fn labels(&self) -> PathBuf {
        self.file(FILES[0])
    }

    /// The weights of its objects, if it has any.
    pub(super) fn weights(&self) -> Option<String> {
        let weighted = self.record["data"]["weighted"] == true;
        weighted.then(|| self.file(WEIGHTS).to_string_lossy().into_owned())
    }

    /// The column of identifiers.
    pub(super) fn id(&self) -> Option<String> {
        self.record["data"]["id"].as_str().map(str::to_owned)
    }

    /// The options of the consensus with those of the result where the user said nothing.
    pub(super) fn completed(&self, args: &ConsensusArgs) -> ConsensusArgs {
        let (command, consensus) = (&self.record["command"], &self.record["consensus"]);
        let mut all = args.clone();
        if all.method.is_none() {
            let name = command["method"].as_str().or(consensus["method"].as_str());
            all.method = name.map(str::to_owned);
            if all.settings.is_empty() {
                let set = command["set"].as_object().into_iter().flatten();
                let setting = |(key, value): (&String, &Value)| Setting {
                    key: key.clone(),
                    value: value.as_str().unwrap_or_default().to_owned(),
                };
                all.settings = set.map(setting).collect();
            }
        }
        let k = command["k"].as_u64().or(consensus["k"].as_u64()).map(|k| k as usize);
        let chooses = method(all.method()).is_ok_and(|info| info.chooses_k == ChoosesK::Always);
        if let Some(k) = k
            && all.k.0 == Clusters::Auto
            && paper::k_given(&self.record)
            && !chooses
        {
            all.k = KChoice(Clusters::Exactly(k));
        }
        all
    }

    /// Fails if a new clustering is called as one of the result.
    pub(super) fn check_names(&self, members: &[Member]) -> anyhow::Result<()> {
        let known = self.record["ensemble"]["members"].as_array().into_iter().flatten();
        let mut known = known.filter_map(|member| member["name"].as_str()).zip(members);
        match known.find(|(name, member)| *name != member.name()) {
            None => Ok(()),
            Some((name, _)) => Err(usage(format!(
                "clustering `{}` is in the result already: rename the column, or take it out of \
                 the file",
                named(name)
            ))),
        }
    }

    /// How the result is recorded.
    pub(super) fn recorded(&self) -> String {
        recorded(&self.file(FILES[2]), true)
    }

    /// What identifies its files in a record.
    pub(super) fn described(&self) -> anyhow::Result<Vec<Value>> {
        let mut files = vec![FILES[2], FILES[1], FILES[0]];
        files.extend(self.weights().map(|_| WEIGHTS));
        let told = |name: &str| -> anyhow::Result<Value> {
            let path = self.file(name);
            let mut told = described(&path)?;
            told["file"] = json!(recorded(&path, true));
            told["as"] = json!(if name == FILES[2] { "add" } else { "part of add" });
            Ok(told)
        };
        files.into_iter().map(told).collect()
    }
}
