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
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::experiment::{Column, Experiment, MEMBERS, Protocol};
use super::measure::{Measure, clustering};
use super::sets::{Set, load};
use crate::xxh64::Xxh64;

/// What is to be computed.
pub(crate) struct Scope<'a> {
    pub(crate) experiments: &'a [Experiment],
    pub(crate) protocols: &'a [Protocol],
    /// Runs of every cell; without it as many as the paper's.
    pub(crate) runs: Option<usize>,
    pub(crate) data: Option<&'a Path>,
}

/// One run of one row: an ensemble, and every method on it.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) protocol: Protocol,
    pub(crate) row: usize,
    pub(crate) repeat: usize,
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    /// By column and measure.
    pub(crate) values: Vec<Vec<Option<f64>>>,
    /// By column: why there are no values.
    pub(crate) failures: Vec<Option<String>>,
    pub(crate) seconds: f64,
}

/// Finished jobs, also those of earlier runs, in a file that only grows.
pub(crate) struct Journal {
    done: Mutex<BTreeMap<String, Done>>,
    file: Mutex<File>,
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
struct Line {
    job: String,
    #[serde(flatten)]
    done: Done,
}

impl Journal {
    /// Opens the journal in `folder`, with what is in it unless `fresh`.
    pub(crate) fn open(folder: &Path, fresh: bool) -> anyhow::Result<Self> {
        let path = folder.join("cells.jsonl");
        let shown = path.display().to_string();
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be created", folder.display()))?;
        let mut done = BTreeMap::new();
        if !fresh && let Ok(text) = fs::read_to_string(&path) {
            // The last line of an interrupted run may be half written: it is computed again.
            let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
            done.extend(lines.map(|line| (line.job, line.done)));
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

    /// What came of a job, if it is finished.
    pub(crate) fn get(&self, key: &str) -> Option<Done> {
        self.done.lock().expect("no worker panics").get(key).cloned()
    }

    fn put(&self, key: &str, done: &Done) -> anyhow::Result<()> {
        let line = serde_json::to_string(&Line { job: key.to_owned(), done: done.clone() })?;
        let mut file = self.file.lock().expect("no worker panics");
        writeln!(file, "{line}")
            .and_then(|()| file.flush())
            .context("cells.jsonl cannot be written")?;
        self.done.lock().expect("no worker panics").insert(key.to_owned(), done.clone());
        Ok(())
    }
}

impl<'a> Scope<'a> {
    /// All jobs, in the order of the tables.
    pub(crate) fn jobs(&self) -> Vec<Job<'a>> {
        let mut jobs = Vec::new();
        for experiment in self.experiments {
            let both = experiment.protocols();
            for &protocol in both.iter().filter(|p| both.len() == 1 || self.protocols.contains(p)) {
                for row in 0..experiment.rows.len() {
                    let repeats = 0..self.runs.unwrap_or(experiment.runs);
                    jobs.extend(repeats.map(|repeat| Job { experiment, protocol, row, repeat }));
                }
            }
        }
        jobs
    }
}

impl Job<'_> {
    /// Tells the job from all others, also from those of changed experiments or another version.
    pub(crate) fn key(&self, seed: u64, inside: bool) -> String {
        let Job { experiment, protocol, row, repeat } = self;
        let columns: Vec<_> =
            experiment.columns.iter().map(|c| (c, c.settings(*protocol))).collect();
        let all = json!([
            env!("CARGO_PKG_VERSION"),
            seed,
            inside,
            experiment.ensemble,
            experiment.rows[*row],
            experiment.measures,
            columns,
        ]);
        let mut hash = Xxh64::new();
        hash.update(all.to_string().as_bytes());
        format!("{}/{}/{row}/{repeat}/{:016x}", experiment.id, protocol.name(), hash.finish())
    }

    /// The seed of the ensemble: the same under both protocols, so that they differ by the methods
    /// alone.
    fn seed(&self, seed: u64) -> u64 {
        let mut hash = Xxh64::new();
        let place = format!("{seed}/{}/{}/{}", self.experiment.id, self.row, self.repeat);
        hash.update(place.as_bytes());
        hash.finish()
    }

    /// Makes the ensemble and measures every method on it.
    fn compute(&self, set: &Set, run: &Run) -> consilience::Result<Done> {
        let clock = Instant::now();
        let measures: Vec<Measure> = self
            .experiment
            .measures
            .iter()
            .map(|name| name.parse().expect("experiments are tested to be complete"))
            .collect();
        let ensemble = self.ensemble(set, run)?;
        let profiles = Profiles::new(&ensemble, run)?;
        let columns = &self.experiment.columns;
        let (mut values, mut failures) = (Vec::new(), Vec::new());
        for column in columns {
            let measured = if column.method == MEMBERS {
                let of = |m: &Measure| m.of_members(&ensemble, &profiles, &set.truth);
                measures.iter().map(of).collect::<Result<Vec<_>, _>>()
            } else {
                self.labels(column, &ensemble, run).and_then(|labels| {
                    let found = clustering(&labels);
                    let of = |m: &Measure| m.of_clustering(&found, &set.truth);
                    measures.iter().map(of).collect()
                })
            };
            match measured {
                Ok(measured) => {
                    values.push(measured);
                    failures.push(None);
                }
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) => {
                    values.push(vec![None; measures.len()]);
                    failures.push(Some(error.to_string()));
                }
            }
        }
        Ok(Done { values, failures, seconds: clock.elapsed().as_secs_f64() })
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
        Ok(generator.ensemble(&set.values, run)?.0)
    }

    fn labels(
        &self,
        column: &Column,
        ensemble: &Ensemble,
        run: &Run,
    ) -> consilience::Result<Vec<Option<u32>>> {
        let info = method(&column.method)?;
        let k = self.experiment.rows[self.row].k.filter(|_| info.chooses_k != ChoosesK::Always);
        let method = info.with(k, &Settings::from_iter(column.settings(self.protocol)))?;
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
    let inside = scope.data.is_none();
    let jobs = scope.jobs();
    let mut missing = BTreeMap::new();
    let mut sets: BTreeMap<&str, Arc<Set>> = BTreeMap::new();
    let done = AtomicUsize::new(0);
    let total = jobs.len();
    let tick = |more: usize| {
        let done = done.fetch_add(more, Ordering::Relaxed) + more;
        run.tick("cells", done as u64, Some(total as u64))
    };
    let mut first = 0;
    while first < jobs.len() {
        // Jobs of one set at a time: only one set need be in memory.
        let set = jobs[first].experiment.rows[jobs[first].row].set.as_str();
        let same = |job: &Job<'_>| job.experiment.rows[job.row].set == set;
        let here: Vec<Job<'_>> =
            jobs[first..].iter().take_while(|job| same(job)).copied().collect();
        first += here.len();
        let open = |job: &&Job<'_>| journal.get(&job.key(run.seed(), inside)).is_none();
        let todo: Vec<&Job<'_>> = here.iter().filter(open).collect();
        tick(here.len() - todo.len())?;
        if todo.is_empty() {
            continue;
        }
        sets.retain(|name, _| *name == set);
        if missing.contains_key(set) {
            tick(todo.len())?;
            continue;
        }
        if !sets.contains_key(set) {
            match load(set, scope.data, run) {
                Ok(loaded) => drop(sets.insert(set, Arc::new(loaded))),
                Err(error) => {
                    missing.insert(set.to_owned(), format!("{error:#}"));
                    tick(todo.len())?;
                    continue;
                }
            }
        }
        in_parallel(&todo, &sets[set], journal, run, inside, &tick)?;
    }
    Ok(missing)
}

/// One worker a thread, each with one job at a time: jobs are many, and hold little that way.
fn in_parallel(
    jobs: &[&Job<'_>],
    set: &Set,
    journal: &Journal,
    run: &Run,
    inside: bool,
    tick: &(impl Fn(usize) -> consilience::Result<()> + Sync),
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let worker = || -> anyhow::Result<()> {
        let own = run.clone().threads(1).observer(Arc::new(Silent));
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = job.compute(set, &own.with_seed(job.seed(run.seed())))?;
            journal.put(&job.key(run.seed(), inside), &done)?;
            tick(1)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..run.n_threads()).map(|_| scope.spawn(worker)).collect();
        // An error of one lets the others finish their job; all jobs before it are in the journal.
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
            let done = jobs.iter().map(|job| journal.get(&job.key(0, true)).unwrap());
            done.map(|done| Done { seconds: 0.0, ..done }).collect()
        };
        let journal = Journal::open(folder.path(), false).unwrap();
        assert!(run_all(&scope, &journal, &run).unwrap().is_empty());
        let whole = figures(&journal);
        assert_eq!(whole.len(), 6);
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
}
