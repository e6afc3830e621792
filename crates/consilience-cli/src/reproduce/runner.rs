//! Computes the cells of experiments: in parallel, each with a seed of its own, and resumable.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use consilience::consensus::{ChoosesK, Settings, combine, method, prepare};
use consilience::ensemble::{Ensemble, Profiles};
use consilience::generate::{GenerateParams, Scheme, base, scheme};
use consilience::{Error, Run, Silent};
use consilience_io::Xxh64;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::experiment::{Column, Experiment, MEMBERS, Protocol};
use super::measure::{Measure, clustering};
use super::sets::{Set, load};

/// What is to be computed.
pub(crate) struct Scope<'a> {
    pub(crate) experiments: &'a [Experiment],
    pub(crate) protocols: &'a [Protocol],
    /// Runs of every cell; without it as many as the paper's.
    pub(crate) runs: Option<usize>,
    pub(crate) data: Option<&'a Path>,
}

/// One run of one row: an ensemble, and every method on it, under every protocol.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) row: usize,
    pub(crate) repeat: usize,
}

/// A method as one job needs it: two protocols often mean the same.
struct Wanted<'a> {
    column: &'a Column,
    settings: Settings,
    key: String,
}

/// What one method came to in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// By measure.
    pub(crate) values: Vec<Option<f64>>,
    /// Why there are no values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    /// Time of the method, and of the ensemble if the method was the first on it.
    pub(crate) seconds: f64,
}

/// The file of finished runs in a folder.
pub(crate) const JOURNAL: &str = "cells.jsonl";

/// Finished runs of methods, also those of earlier commands, in a file that only grows.
pub(crate) struct Journal {
    done: Mutex<BTreeMap<String, Done>>,
    file: Mutex<File>,
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
struct Line {
    cell: String,
    #[serde(flatten)]
    done: Done,
}

impl Journal {
    /// Opens the journal in `folder`, with what is in it unless `fresh`.
    pub(crate) fn open(folder: &Path, fresh: bool) -> anyhow::Result<Self> {
        let path = folder.join(JOURNAL);
        let shown = path.display().to_string();
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be created", folder.display()))?;
        let mut done = BTreeMap::new();
        if !fresh && let Ok(text) = fs::read_to_string(&path) {
            // The last line of an interrupted run may be half written: it is computed again.
            let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
            done.extend(lines.map(|line| (line.cell, line.done)));
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("{shown} cannot be written"))?;
        if fresh {
            file.set_len(0).with_context(|| format!("{shown} cannot be written"))?;
        } else if file.metadata().is_ok_and(|meta| meta.len() > 0) {
            // Whatever stands last, the next entry begins on a line of its own.
            writeln!(file).with_context(|| format!("{shown} cannot be written"))?;
        }
        Ok(Journal { done: Mutex::new(done), file: Mutex::new(file) })
    }

    /// What came of a method in a run, if it is finished.
    pub(crate) fn get(&self, key: &str) -> Option<Done> {
        self.done.lock().expect("no worker panics").get(key).cloned()
    }

    /// What all that is finished took, one thread each.
    pub(crate) fn seconds(&self) -> f64 {
        self.done.lock().expect("no worker panics").values().map(|done| done.seconds).sum()
    }

    /// Keeps what came of a method. A failure is known until the program ends: the next time there
    /// may be more memory, or a whole file.
    fn put(&self, key: &str, done: &Done) -> anyhow::Result<()> {
        self.done.lock().expect("no worker panics").insert(key.to_owned(), done.clone());
        if done.failure.is_some() {
            return Ok(());
        }
        let line = serde_json::to_string(&Line { cell: key.to_owned(), done: done.clone() })?;
        let mut file = self.file.lock().expect("no worker panics");
        writeln!(file, "{line}")
            .and_then(|()| file.flush())
            .context("cells.jsonl cannot be written")
    }
}

impl<'a> Scope<'a> {
    /// The protocols under which `experiment` is to be computed.
    pub(crate) fn protocols_of(&self, experiment: &Experiment) -> Vec<Protocol> {
        let both = experiment.protocols();
        let wanted = |p: &&Protocol| both.len() == 1 || self.protocols.contains(p);
        both.iter().filter(wanted).copied().collect()
    }

    /// All jobs, in the order of the tables; those on one set follow each other.
    fn jobs(&self) -> Vec<Job<'a>> {
        let mut jobs = Vec::new();
        for experiment in self.experiments {
            let mut rows: Vec<usize> = (0..experiment.rows.len()).collect();
            let first = |row: usize| {
                experiment.rows.iter().position(|other| other.set == experiment.rows[row].set)
            };
            rows.sort_by_key(|&row| first(row));
            for row in rows {
                let repeats = 0..self.runs.unwrap_or(experiment.runs);
                jobs.extend(repeats.map(|repeat| Job { experiment, row, repeat }));
            }
        }
        jobs
    }
}

impl<'a> Job<'a> {
    fn set(&self) -> &'a str {
        &self.experiment.rows[self.row].set
    }

    /// Tells a method in this run from all others, also from those of changed experiments, another
    /// version, or another place of the data.
    pub(crate) fn key(
        &self,
        column: &Column,
        protocol: Protocol,
        seed: u64,
        inside: bool,
    ) -> String {
        let Job { experiment, row, repeat } = self;
        let mut all = vec![json!([
            env!("CARGO_PKG_VERSION"),
            seed,
            inside,
            experiment.ensemble,
            experiment.rows[*row],
            experiment.measures,
            column.method,
            column.settings(protocol),
        ])];
        all.extend(column.hard.then(|| json!("hard")));
        let mut hash = Xxh64::new();
        all.iter().for_each(|part| hash.update(part.to_string().as_bytes()));
        let set = self.set();
        format!("{}/{set}/{repeat}/{}/{:016x}", experiment.id, column.method, hash.finish())
    }

    /// The methods that `journal` does not have.
    fn open(&self, scope: &Scope<'_>, journal: &Journal, seed: u64) -> Vec<Wanted<'a>> {
        let mut open: Vec<Wanted<'a>> = Vec::new();
        for protocol in scope.protocols_of(self.experiment) {
            for column in &self.experiment.columns {
                let key = self.key(column, protocol, seed, scope.data.is_none());
                if journal.get(&key).is_none() && open.iter().all(|wanted| wanted.key != key) {
                    let settings = Settings::from_iter(column.settings(protocol));
                    open.push(Wanted { column, settings, key });
                }
            }
        }
        open
    }

    /// The seed of the ensemble: the same under both protocols, so that they differ by the methods
    /// alone.
    fn seed(&self, seed: u64) -> u64 {
        let row = json!(self.experiment.rows[self.row]);
        let mut hash = Xxh64::new();
        hash.update(format!("{seed}/{}/{row}/{}", self.experiment.id, self.repeat).as_bytes());
        hash.finish()
    }

    /// Makes the ensemble and measures the methods of `wanted` on it.
    fn compute(
        &self,
        set: &Set,
        wanted: &[Wanted<'_>],
        run: &Run,
        mut finished: impl FnMut(&str, &Done) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let measures: Vec<Measure> = self
            .experiment
            .measures
            .iter()
            .map(|name| name.parse().expect("experiments are tested to be complete"))
            .collect();
        let failed = |error: Error| -> anyhow::Result<Done> {
            match error {
                Error::Cancelled => Err(error.into()),
                _ => Ok(Done {
                    values: vec![None; measures.len()],
                    failure: Some(error.to_string()),
                    seconds: 0.0,
                }),
            }
        };
        let mut clock = Instant::now();
        let made = self.ensemble(set, run).and_then(|e| Ok((Profiles::new(&e, run)?, e)));
        let (profiles, ensemble) = match made {
            Ok(made) => made,
            Err(error) => {
                let done = failed(error)?;
                return wanted.iter().try_for_each(|wanted| finished(&wanted.key, &done));
            }
        };
        let hardened = ensemble.hardened();
        for Wanted { column, settings, key } in wanted {
            let measured: consilience::Result<Vec<_>> = if column.method == MEMBERS {
                let of = |m: &Measure| m.of_members(&ensemble, &profiles, &set.truth);
                measures.iter().map(of).collect()
            } else {
                let members = if column.hard { &hardened } else { &ensemble };
                self.labels(&column.method, settings, members, run).and_then(|labels| {
                    let found = clustering(&labels);
                    let of = |m: &Measure| m.of_clustering(&found, &set.truth);
                    measures.iter().map(of).collect()
                })
            };
            let done = match measured {
                Ok(values) => {
                    Done { values, failure: None, seconds: clock.elapsed().as_secs_f64() }
                }
                Err(error) => failed(error)?,
            };
            clock = Instant::now();
            finished(key, &done)?;
        }
        Ok(())
    }

    fn ensemble(&self, set: &Set, run: &Run) -> consilience::Result<Ensemble> {
        let members = &self.experiment.ensemble;
        let row = &self.experiment.rows[self.row];
        let mut scheme: Scheme = (scheme(&members.scheme)?.make)();
        if let Some(share) = &members.subspace {
            scheme = scheme.share(share.parse()?)?;
        }
        let base_k = row.base_k.as_ref().or(members.base_k.as_ref());
        let base_k = base_k.expect("experiments are tested to be complete").parse()?;
        let generator = GenerateParams::new(scheme, (base(&members.base)?.make)(1))
            .k(base_k)
            .size(row.size)
            .soft(members.soft)
            .check()?;
        Ok(generator.ensemble(&set.values, run)?.ensemble)
    }

    fn labels(
        &self,
        name: &str,
        settings: &Settings,
        ensemble: &Ensemble,
        run: &Run,
    ) -> consilience::Result<Vec<Option<u32>>> {
        let info = method(name)?;
        let k = self.experiment.rows[self.row].k.filter(|_| info.chooses_k != ChoosesK::Always);
        let method = info.with(k, settings)?;
        let profiles = prepare(ensemble, info, run)?;
        let consensus = combine(&profiles, method.as_ref(), None, run)?;
        Ok(consensus.object_labels(&profiles))
    }
}

/// Computes all jobs of `scope` that `journal` does not have. A set that cannot be read is told of
/// in the answer, by its name, and its rows stay empty.
pub(crate) fn run_all(
    scope: &Scope<'_>,
    journal: &Journal,
    run: &Run,
) -> anyhow::Result<BTreeMap<String, String>> {
    let jobs = scope.jobs();
    let mut missing = BTreeMap::new();
    let mut loaded: Option<(&str, Set)> = None;
    let done = AtomicUsize::new(0);
    let tick = |more: usize| {
        let done = done.fetch_add(more, Ordering::Relaxed) + more;
        run.tick("runs", done as u64, Some(jobs.len() as u64))
    };
    // Jobs of one set at a time: only one set need be in memory.
    for here in jobs.chunk_by(|a, b| a.set() == b.set()) {
        let open = here.iter().map(|job| (job, job.open(scope, journal, run.seed())));
        let todo: Vec<_> = open.filter(|(_, wanted)| !wanted.is_empty()).collect();
        tick(here.len() - todo.len())?;
        if todo.is_empty() {
            continue;
        }
        let name = here[0].set();
        if loaded.as_ref().is_none_or(|(other, _)| *other != name) && !missing.contains_key(name) {
            loaded = None;
            match load(name, scope.data, run) {
                Ok(set) => loaded = Some((name, set)),
                Err(error) => drop(missing.insert(name.to_owned(), format!("{error:#}"))),
            }
        }
        match &loaded {
            Some((other, set)) if *other == name => in_parallel(&todo, set, journal, run, &tick)?,
            _ => tick(todo.len())?,
        }
    }
    Ok(missing)
}

/// One worker a thread, each with one job at a time: jobs are many, and hold little that way.
fn in_parallel(
    jobs: &[(&Job<'_>, Vec<Wanted<'_>>)],
    set: &Set,
    journal: &Journal,
    run: &Run,
    tick: &(impl Fn(usize) -> consilience::Result<()> + Sync),
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let worker = || -> anyhow::Result<()> {
        let own = run.clone().threads(1).observer(Arc::new(Silent));
        while let Some((job, wanted)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let own = own.with_seed(job.seed(run.seed()));
            job.compute(set, wanted, &own, |key, done| journal.put(key, done))?;
            tick(1)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..run.n_threads()).map(|_| scope.spawn(worker)).collect();
        // An error of one lets the others finish their job; all that is done is in the journal.
        workers
            .into_iter()
            .map(|w| w.join().expect("no worker panics"))
            .collect::<Result<Vec<_>, _>>()
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::experiments;

    fn small() -> Vec<Experiment> {
        let mut all = experiments().unwrap();
        all.retain(|e| e.id == "000-t02" || e.id == "002-t1b");
        all.iter_mut().for_each(|e| e.rows.truncate(2));
        all
    }

    #[test]
    fn an_interrupted_run_goes_on_to_the_same_figures() {
        let experiments = small();
        let protocols = [Protocol::Fair];
        let scope =
            Scope { experiments: &experiments, protocols: &protocols, runs: Some(2), data: None };
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(0);
        let figures = |journal: &Journal| -> Vec<Done> {
            let jobs = scope.jobs();
            let of_job = |job: &Job<'_>| -> Vec<Done> {
                let key = |column| job.key(column, Protocol::Fair, 0, true);
                let columns = job.experiment.columns.iter();
                columns.map(|column| journal.get(&key(column)).unwrap()).collect()
            };
            let done = jobs.iter().flat_map(of_job);
            done.map(|done| Done { seconds: 0.0, ..done }).collect()
        };
        let journal = Journal::open(folder.path(), false).unwrap();
        assert!(run_all(&scope, &journal, &run).unwrap().is_empty());
        let whole = figures(&journal);
        assert_eq!(whole.len(), 2 * (2 * 6 + 4));
        drop(journal);

        // Half a journal, its last line torn.
        let path = folder.path().join("cells.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() * 3 / 5]).unwrap();
        let journal = Journal::open(folder.path(), false).unwrap();
        run_all(&scope, &journal, &Run::new(0).threads(1)).unwrap();
        assert_eq!(figures(&journal), whole);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_left_out() {
        let experiments = small();
        let folder = tempfile::tempdir().unwrap();
        let scope = Scope {
            experiments: &experiments,
            protocols: &[Protocol::Fair],
            runs: Some(1),
            data: Some(folder.path()),
        };
        let journal = Journal::open(&folder.path().join("out"), false).unwrap();
        let missing = run_all(&scope, &journal, &Run::new(0)).unwrap();
        assert_eq!(missing.len(), 1);
        assert!(missing["iris"].contains("iris.csv.gz"), "{missing:?}");
    }

    #[test]
    fn protocols_share_what_they_have_in_common() {
        let experiments = small();
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), false).unwrap();
        let both = [Protocol::AsPrinted, Protocol::Fair];
        let scope =
            Scope { experiments: &experiments, protocols: &both, runs: Some(1), data: None };
        let open = scope.jobs()[0].open(&scope, &journal, 0);
        // Of six columns two differ by their restarts.
        let names: Vec<&str> = open.iter().map(|wanted| wanted.column.method.as_str()).collect();
        assert_eq!(names, ["scec", "cspa", "mcla", "qmi", "mmec", "members", "qmi", "mmec"]);
        let first = &open[0];
        let done = Done { values: vec![Some(0.5)], failure: None, seconds: 0.0 };
        journal.put(&first.key, &done).unwrap();
        assert_eq!(scope.jobs()[0].open(&scope, &journal, 0).len(), 7);
    }

    #[test]
    fn a_hard_column_sees_labels() {
        let mut experiment = experiments().unwrap().into_iter().find(|e| e.id == "001-f1").unwrap();
        experiment.rows.truncate(1);
        "iris".clone_into(&mut experiment.rows[0].set);
        experiment.ensemble.subspace = Some("2".to_owned());
        experiment.columns.retain(|column| column.method == "mcla");
        assert!(experiment.columns[0].hard);
        let mut soft = experiment.columns[0].clone();
        soft.hard = false;
        experiment.columns.push(soft);
        let experiments = [experiment];
        let protocols = [Protocol::Fair];
        let scope =
            Scope { experiments: &experiments, protocols: &protocols, runs: Some(1), data: None };
        let job = scope.jobs()[0];
        let key = |column: &Column| job.key(column, Protocol::Fair, 0, true);
        let [hard, soft] = [0, 1].map(|c| &experiments[0].columns[c]);
        assert_ne!(key(hard), key(soft));

        let run = Run::new(0).threads(1).with_seed(job.seed(0));
        let set = load("iris", None, &run).unwrap();
        let ensemble = job.ensemble(&set, &run).unwrap();
        assert!(!ensemble.is_hard());
        let of_labels =
            job.labels("mcla", &Settings::default(), &ensemble.hardened(), &run).unwrap();
        let error = "error".parse::<Measure>().unwrap();
        let expected = error.of_clustering(&clustering(&of_labels), &set.truth).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path(), false).unwrap();
        run_all(&scope, &journal, &Run::new(0)).unwrap();
        assert_eq!(journal.get(&key(hard)).unwrap().values, [expected]);
    }
}
