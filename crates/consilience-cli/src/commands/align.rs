//! Clusters that are called as in an earlier result: `--align-to OLD_LABELS`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use consilience::explain::Alignment;
use consilience_io::{Ids, InputError, ReadOptions, read_labels};
use serde_json::{Value, json};

use super::Session;
use super::consensus::Found;
use super::folder::FILES;
use super::report::Saved;
use super::run::described;
use crate::errors::usage;
use crate::output::{count, counted};
use consilience_io::{Cells, OutputError, Target, write_table};

/// The list of objects that moved, in a folder of results.
pub(super) const MOVED: &str = "moved.csv";
/// The earlier labels, kept where the new ones take their place.
pub(super) const EARLIER: &str = "earlier.csv";
/// Moves from one cluster to another that are told by themselves.
const TOLD: usize = 50;

/// The clusters of an earlier result.
pub(super) struct Earlier {
    /// The file that was read.
    pub(super) path: PathBuf,
    /// How it is recorded: with the folder it is in if that is what was named.
    pub(super) recorded: String,
    /// The earlier cluster of every object.
    labels: Vec<Option<u32>>,
    /// What the earlier clusters were called, and their numbers.
    names: Vec<String>,
    numbers: Vec<u32>,
}

impl Earlier {
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
        let is_result = path.is_dir() || path.file_name().is_some_and(|name| name == "result.json");
        let path = if is_result { Saved::folder(path).join(FILES[0]) } else { path.to_owned() };
        let member = match read_labels(&path, ids, n, options, &session.run) {
            Err(InputError::RowCounts { .. }) if ids.is_none() => {
                return Err(usage(format!(
                    "--align-to {} is of other objects: without identifiers (--id) it must have the \
                     same {} rows",
                    path.display(),
                    count(n)
                )));
            }
            read => read?.hardened(),
        };
        let clusters = member.clusters();
        let parsed: Option<Vec<u32>> = clusters.iter().map(|name| name.parse().ok()).collect();
        // `1` and `01` are two clusters, but one number; and there must be room for new numbers.
        let fit = |numbers: &Vec<u32>| {
            let distinct: BTreeSet<_> =
                numbers.iter().filter(|number| **number < 1 << 31).collect();
            distinct.len() == clusters.len()
        };
        let parsed = parsed.filter(fit);
        let numbers = parsed.unwrap_or_else(|| (0..clusters.len() as u32).collect());
        let known = names_beside(&path);
        let name = |(number, name): (&u32, &String)| {
            known.get(number).cloned().unwrap_or_else(|| name.clone())
        };
        let names = numbers.iter().zip(clusters).map(name).collect();
        let labels = member.labels().iter().map(|code| code.map(|c| c as u32)).collect();
        let recorded = recorded(&path, is_result);
        Ok(Some(Earlier { path, recorded, labels, names, numbers }))
    }

    /// What identifies the file in a record.
    pub(super) fn described(&self) -> anyhow::Result<Value> {
        let mut told = described(&self.path)?;
        told["file"] = json!(self.recorded);
        told["as"] = json!("align_to");
        Ok(told)
    }
}

/// The names of clusters by number, where the labels lie beside a result that follows another.
fn names_beside(path: &Path) -> BTreeMap<u32, String> {
    let record = Saved::record(&path.with_file_name(FILES[2])).unwrap_or_default();
    let aligned = &record["consensus"]["aligned"];
    match path.file_name().and_then(|name| name.to_str()) {
        Some(EARLIER) => Saved::cluster_names(&aligned["earlier"]),
        Some(name) if name == FILES[0] => Saved::cluster_names(aligned),
        _ => BTreeMap::new(),
    }
}

/// The name of a file, or of a file in a folder that was named.
pub(super) fn recorded(path: &Path, with_folder: bool) -> String {
    let parts: Vec<_> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let from = parts.len().saturating_sub(if with_folder { 2 } else { 1 });
    parts[from..].join("/")
}

/// How a consensus follows an earlier one.
pub(super) struct Aligned {
    to: String,
    /// Objects that both results label.
    common: usize,
    /// The objects that moved, with their earlier cluster and the place of their present one.
    moved: Vec<(usize, u32, u32)>,
    /// What the earlier clusters were called.
    earlier: Vec<String>,
    earlier_numbers: Vec<u32>,
    /// By place, whether each cluster continues an earlier one.
    continues: Vec<bool>,
    /// Earlier clusters that no cluster continues.
    gone: Vec<String>,
}

impl Found {
    /// The same consensus with its clusters called as in an earlier result, and in that order.
    pub(super) fn following(self, earlier: &Earlier) -> consilience::Result<Found> {
        let k = self.consensus.k;
        let found = Alignment::new(&self.labels, k, &earlier.labels, earlier.names.len())?;
        let numbers = found.numbers(&earlier.numbers);
        let mut order: Vec<u32> = (0..k as u32).collect();
        order.sort_by_key(|&cluster| numbers[cluster as usize]);
        let by_place = |cluster: &u32| *cluster as usize;
        let name = |cluster: usize| match found.continues[cluster] {
            Some(old) => earlier.names[old as usize].clone(),
            None => numbers[cluster].to_string(),
        };
        let mut place = vec![0; k];
        order.iter().zip(0..).for_each(|(&cluster, at)| place[cluster as usize] = at);
        let move_of = |&object: &u32| {
            let i = object as usize;
            let (old, new) = (earlier.labels[i], self.labels[i]);
            let (old, new) = old.zip(new).expect("both label what moved");
            (i, old, place[new as usize])
        };
        let both = self.labels.iter().zip(&earlier.labels);
        let gone =
            (0..earlier.names.len() as u32).filter(|old| !found.continues.contains(&Some(*old)));
        let aligned = Aligned {
            to: earlier.recorded.clone(),
            common: both.filter(|(new, old)| new.is_some() && old.is_some()).count(),
            moved: found.moved.iter().map(move_of).collect(),
            earlier: earlier.names.clone(),
            earlier_numbers: earlier.numbers.clone(),
            continues: order.iter().map(|c| found.continues[by_place(c)].is_some()).collect(),
            gone: gone.map(|old| earlier.names[old as usize].clone()).collect(),
        };
        Ok(Found {
            labels: self.labels.iter().map(|label| label.map(|c| numbers[c as usize])).collect(),
            sizes: order.iter().map(|c| self.sizes[by_place(c)]).collect(),
            numbers: order.iter().map(|c| numbers[by_place(c)]).collect(),
            names: order.iter().map(|c| name(by_place(c))).collect(),
            consensus: self.consensus.reordered(&order),
            aligned: Some(aligned),
            ..self
        })
    }
}

impl Aligned {
    /// How often objects went from one cluster to another, most often first.
    fn moves(&self, names: &[String]) -> Vec<Value> {
        let mut counts = BTreeMap::<(u32, u32), usize>::new();
        self.moved.iter().for_each(|&(_, old, new)| *counts.entry((old, new)).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, objects)| std::cmp::Reverse(*objects));
        let told = |((old, new), objects): ((u32, u32), usize)| {
            json!({
                "from": self.earlier[old as usize],
                "to": names[new as usize],
                "objects": objects,
            })
        };
        counts.into_iter().take(TOLD).map(told).collect()
    }

    /// What is told of it in JSON.
    pub(super) fn told(&self, found: &Found) -> Value {
        let new = found.names.iter().zip(&self.continues).filter(|(_, old)| !**old);
        json!({
            "to": self.to,
            "common": self.common,
            "moved": self.moved.len(),
            "moves": self.moves(&found.names),
            "numbers": found.numbers,
            "names": found.names,
            "earlier": { "numbers": self.earlier_numbers, "names": self.earlier },
            "new": new.map(|(name, _)| name).collect::<Vec<_>>(),
            "gone": self.gone,
        })
    }

    /// What is told of it in words.
    pub(super) fn summary(&self) -> String {
        format!(
            "clusters called as in {}: {} of {} in both moved to another cluster",
            self.to,
            count(self.moved.len()),
            counted(self.common, "object"),
        )
    }

    /// Writes the objects that moved: `id,before,now`.
    pub(super) fn write(
        &self,
        target: &Target,
        found: &Found,
        ids: Option<&Ids>,
        session: &Session,
    ) -> Result<(), OutputError> {
        let ids: Ids = match ids {
            Some(ids) => self.moved.iter().map(|&(i, ..)| ids.get(i)).collect(),
            None => self.moved.iter().map(|&(i, ..)| i.to_string()).collect(),
        };
        let before = self.moved.iter().map(|&(_, old, _)| self.earlier[old as usize].clone());
        let now = self.moved.iter().map(|&(.., new)| found.names[new as usize].clone());
        let columns = [
            ("id".to_owned(), Cells::Ids(&ids)),
            ("before".to_owned(), Cells::Text(before.collect())),
            ("now".to_owned(), Cells::Text(now.collect())),
        ];
        write_table(target, &columns, &session.run)
    }
}
