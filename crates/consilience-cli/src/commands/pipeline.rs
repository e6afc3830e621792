//! Data → ensemble → consensus → a folder of results, as `run` and `demo` do it.

use std::fs;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use consilience::Run;
use consilience::base::{Float, Table};
use consilience::consensus::{Start, cluster_names};
use consilience::ensemble::{Contingency, Ensemble, HardMember, Member};
use consilience::explain::Sentence;
use consilience::generate::Data;
use consilience::linalg::Matrix;
use consilience::metrics::metric;
use consilience_io::Ids;
use consilience_report::data::Truth;
use consilience_report::{Scatter, Subject};
use serde_json::{Map, Value, json};

use super::align::Earlier;
use super::consensus::{Found, Plan};
use super::ensemble::Recipe;
use super::folder::{self, FILES, Tables};
use super::members::MemberStore;
use super::parts::Parts;
use super::score::{COLUMNS, scores};
use super::terminal;
use super::{Session, board};
use crate::errors::{Exit, exit_of};
use crate::output::{self, counted};
use crate::signals;
use consilience_io::cleanup::finish;
use consilience_io::{OutputError, Target, write_text};

/// Correspondences with more numbers than this are left out of `result.json`.
const SMALL: usize = 10_000;

/// What goes in.
pub(super) struct Input<'a> {
    /// The features, one row an object.
    pub(super) values: Data<'a>,
    /// Their names.
    pub(super) features: &'a [String],
    /// The identifiers, with the name of their column.
    pub(super) ids: Option<(&'a str, &'a Ids)>,
    /// The known classes.
    pub(super) truth: Option<Member>,
    /// The weights of the objects.
    pub(super) weights: Option<&'a [f64]>,
    /// From which clustering the consensus starts.
    pub(super) start: Option<Vec<Option<u32>>>,
    /// The result that the clusters are called after.
    pub(super) earlier: Option<Earlier>,
    /// Whether to tell how voting settled as members came in.
    pub(super) convergence: bool,
    /// The command and its options, for `result.json`.
    pub(super) command: Value,
    /// The files that were read, for `result.json`.
    pub(super) inputs: Value,
}

/// What came out.
pub(super) struct Outcome {
    pub(super) ensemble: Ensemble,
    pub(super) found: Found,
    /// How many members came from an interrupted run.
    pub(super) reused: usize,
    pub(super) scores: Option<Scores>,
    /// What it all means.
    pub(super) verdict: Vec<Sentence>,
    /// Small pictures, if somebody reads along on a terminal.
    pub(super) pictures: Option<String>,
    /// The files that were written.
    pub(super) files: Vec<&'static str>,
    /// Seconds spent on making the ensemble and on writing.
    pub(super) generate: f64,
    pub(super) write: f64,
}

/// How the result compares with the known classes.
pub(super) struct Scores {
    /// Clusters of the consensus by classes.
    pub(super) table: Contingency,
    /// The names of the rows of the table.
    pub(super) consensus_clusters: Vec<String>,
    pub(super) truth: Member,
    /// One value a measure of [`COLUMNS`].
    pub(super) consensus: Vec<f64>,
    /// The mean over the members of the ensemble.
    pub(super) members: Vec<f64>,
}

/// Runs the pipeline and writes the folder `dir`; nothing is left there if it fails, but for
/// finished members, which the next run takes up.
pub(super) fn run(
    input: &Input<'_>,
    recipe: &Recipe,
    plan: &Plan,
    (dir, fresh): (&Path, bool),
    session: &Session,
) -> anyhow::Result<Outcome> {
    signals::computing();
    fs::create_dir_all(dir).map_err(|error| OutputError::io(dir.display().to_string(), &error))?;
    let fingerprint = recipe.fingerprint(input.values, session.run.seed());
    let store = MemberStore::open(dir, fingerprint, fresh)?;
    let result = run_in(input, recipe, plan, dir, &store, session);
    match &result {
        Ok(_) => store.remove()?,
        // Members of data or options that cannot be used will not be asked for again.
        Err(error) if matches!(exit_of(error), Some(Exit::Data | Exit::Usage)) => {
            store.remove()?;
            let _ = fs::remove_dir(dir);
        }
        Err(_) => {
            session.progress.clear();
            store.abandon();
        }
    }
    result
}

fn run_in(
    input: &Input<'_>,
    recipe: &Recipe,
    plan: &Plan,
    dir: &Path,
    store: &MemberStore,
    session: &Session,
) -> anyhow::Result<Outcome> {
    let clock = Instant::now();
    let (mut ensemble, reused) = recipe.make(input.values, Some(store), session)?;
    if let Some(weights) = input.weights {
        ensemble = ensemble.with_weights(weights.to_vec())?;
    }
    let generate = clock.elapsed().as_secs_f64();
    let start = input.start.as_deref();
    let start = start.map(|labels| Start::new(labels).weights(ensemble.weights()));
    let mut found = plan.compute(&ensemble, start, session)?;
    if let Some(earlier) = &input.earlier {
        found = found.following(earlier)?;
    }
    let truth = input.truth.as_ref();
    if input.convergence
        && let Some(table) = plan.convergence(&ensemble, truth, session)?
    {
        found.consensus.diagnostics.push("convergence", table);
    }
    let scores = truth.map(|truth| Scores::new(&ensemble, &found, truth)).transpose()?;

    let clock = Instant::now();
    // Everything is written aside first, so that the folder holds the old results or the new ones.
    let aside = store.aside()?;
    let target =
        |name: &str| -> anyhow::Result<Target> { Ok(Target::new(aside.path().join(name))?) };
    let (ids, run) = (input.ids.map(|(_, ids)| ids), &session.run);
    let earlier = folder::kept(input.earlier.as_ref(), dir);
    let tables = Tables { found: &found, ensemble: &ensemble, ids: input.ids, earlier };
    tables.write(target, session)?;
    let mut told = told(input, recipe, plan, &ensemble, &found, scores.as_ref(), session);
    // Components would have to be computed of the table written out.
    let scatter = match input.values {
        Data::Dense(values) => Some(scatter(values.into(), input.features, recipe, run)?),
        Data::Single(values) => Some(scatter(values, input.features, recipe, run)?),
        Data::Sparse(_) => None,
    };
    if let Some(scatter) = scatter {
        told["scatter"] = scatter.told();
    }
    let parts = Parts::of(&found, ensemble.weights());
    let clusters = cluster_names(&ensemble, found.choice.info);
    let truth = scores.as_ref().map(|scores| scores.shown(&found.numbers));
    let subject =
        Subject { criteria: plan.criteria(&found), ..parts.subject(&found, &clusters, ids, truth) };
    let explained = subject.explain(plan.k_given(), run)?;
    told["verdict"] = json!(explained.verdict);
    told["classes"] = json!(subject.truth);
    write_text(&target(FILES[2])?, &format!("{told:#}\n"))?;
    write_text(&target(FILES[3])?, &subject.page(&explained, &told, run)?)?;
    let watched = !session.json && std::io::stdout().is_terminal();
    let pictures =
        watched.then(|| terminal::pictures(&subject, &explained, session)).transpose()?;
    drop(subject);
    let verdict = explained.verdict;
    run.check()?;
    let files = tables.files();
    finish(|| put_in_place(aside.path(), dir, &files))?;
    let write = clock.elapsed().as_secs_f64();
    Ok(Outcome { ensemble, found, reused, scores, verdict, pictures, files, generate, write })
}

/// Moves the files from `aside` to the folder of results; what earlier results had besides goes.
fn put_in_place(aside: &Path, dir: &Path, files: &[&str]) -> anyhow::Result<()> {
    let of_earlier = dir.join(FILES[2]).exists();
    for name in files {
        fs::rename(aside.join(name), dir.join(name))
            .with_context(|| format!("{} cannot be written", dir.join(name).display()))?;
    }
    if of_earlier {
        folder::remove_others(dir, files);
    }
    Ok(())
}

/// Some of the objects in two dimensions, in the scale that they were clustered in.
fn scatter<T: Float>(
    values: Table<'_, T>,
    features: &[String],
    recipe: &Recipe,
    run: &Run,
) -> anyhow::Result<Scatter> {
    let scaler = recipe.scaler(values)?;
    Ok(Scatter::new(values, features, |rows| scaler.apply(rows), run)?)
}

impl Scores {
    fn new(ensemble: &Ensemble, found: &Found, truth: &Member) -> consilience::Result<Self> {
        let measures = COLUMNS.iter().map(|name| metric(name)).collect::<Result<Vec<_>, _>>()?;
        let labels = found.labels.iter().map(|label| label.map(i64::from));
        let consensus = Member::from(HardMember::from_integers("consensus", labels));
        let table = Contingency::new(&consensus, truth, ensemble.weights())?;
        let mut members = vec![0.0; measures.len()];
        for member in ensemble.members() {
            let of_member = scores(member, truth, ensemble.weights(), &measures)?;
            members.iter_mut().zip(of_member).for_each(|(sum, score)| *sum += score);
        }
        members.iter_mut().for_each(|sum| *sum /= ensemble.members().len() as f64);
        Ok(Scores {
            consensus: measures.iter().map(|measure| (measure.value)(&table)).collect(),
            table,
            consensus_clusters: consensus.clusters().to_vec(),
            truth: truth.clone(),
            members,
        })
    }

    /// What is told of the scores in JSON.
    pub(super) fn told(&self) -> Value {
        let named = |values: &[f64]| -> Map<String, Value> {
            let named = COLUMNS.iter().zip(values);
            named.map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        json!({
            "truth": self.truth.name(),
            "classes": self.truth.clusters().len(),
            "consensus": named(&self.consensus),
            "members_mean": named(&self.members),
        })
    }

    /// What the page shows of the scores; `numbers` are those of the clusters.
    pub(super) fn shown(&self, numbers: &[u32]) -> Truth {
        let classes = self.truth.clusters();
        let mut table = vec![vec![0.0; classes.len()]; self.consensus_clusters.len()];
        for cell in self.table.cells() {
            // Clusters stand in the order of their first object; their names are their numbers.
            let name = &self.consensus_clusters[cell.row as usize];
            let place = name.parse().ok().and_then(|number| numbers.binary_search(&number).ok());
            if let Some(row) = place.and_then(|place| table.get_mut(place)) {
                row[cell.column as usize] = cell.weight;
            }
        }
        let measures = COLUMNS.iter().zip(self.consensus.iter().zip(&self.members));
        Truth {
            name: output::named(self.truth.name()),
            classes: classes.iter().map(|class| output::named(class)).collect(),
            table,
            scores: measures
                .map(|(name, (ours, mean))| ((*name).to_owned(), *ours, *mean))
                .collect(),
        }
    }

    /// What is told of the scores in words.
    pub(super) fn summary(&self) -> String {
        let shown = ["nmi", "ari", "accuracy"];
        let of = |values: &[f64]| {
            let place = |name: &str| COLUMNS.iter().position(|column| *column == name);
            let words = shown
                .iter()
                .filter_map(|name| place(name).map(|place| format!("{name} {:.4}", values[place])));
            words.collect::<Vec<_>>().join(", ")
        };
        format!(
            "against `{}`: {}\nsingle clusterings on average: {}",
            self.truth.name(),
            of(&self.consensus),
            of(&self.members)
        )
    }
}

/// The content of `result.json`: all that is needed to report or repeat the run. No times, threads
/// or paths, so that equal runs give equal bytes.
fn told(
    input: &Input<'_>,
    recipe: &Recipe,
    plan: &Plan,
    ensemble: &Ensemble,
    found: &Found,
    scores: Option<&Scores>,
    session: &Session,
) -> Value {
    let mut result = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "command": input.command,
        "seed": session.run.seed(),
        "inputs": input.inputs,
        "data": {
            "n": input.values.nrows(),
            "features": input.features,
            "id": input.ids.map(|(name, _)| name),
            "truth": input.truth.as_ref().map(Member::name),
            "weighted": input.weights.is_some(),
        },
        "ensemble": recipe.told(ensemble),
        "consensus": found.told(plan),
        "scores": scores.map(Scores::told),
    });
    if let Some(correspondences) = correspondences(found, ensemble) {
        result["correspondences"] = correspondences;
    }
    result
}

/// What corresponds to what, for `result.json`, where the method has it and it is small.
pub(super) fn correspondences(found: &Found, ensemble: &Ensemble) -> Option<Value> {
    let matrices = found.consensus.correspondences.as_ref()?;
    if found.profiles.n_clusters() * found.consensus.k > SMALL {
        return None;
    }
    let told = |(member, shares): (&Member, &Matrix)| {
        json!({
            "clustering": member.name(),
            "clusters": member.clusters(),
            "weights": shares.iter_rows().collect::<Vec<_>>(),
        })
    };
    Some(ensemble.members().iter().zip(matrices).map(told).collect())
}

impl Outcome {
    /// What is printed as JSON.
    pub(super) fn told(
        &self,
        recipe: &Recipe,
        plan: &Plan,
        (dir, read): (&Path, f64),
        session: &Session,
    ) -> Value {
        let mut told = self.found.told(plan);
        told.insert("ensemble".to_owned(), recipe.told(&self.ensemble));
        told.insert("reused".to_owned(), json!(self.reused));
        told.insert("scores".to_owned(), json!(self.scores.as_ref().map(Scores::told)));
        told.insert("verdict".to_owned(), json!(self.verdict));
        told.insert("output".to_owned(), json!(dir));
        told.insert("files".to_owned(), json!(self.files));
        let seconds = json!({
            "read": read,
            "generate": self.generate,
            "compress": self.found.compress,
            "consensus": self.found.seconds,
            "write": self.write,
        });
        told.insert("seconds".to_owned(), seconds);
        if let Some(board) = &self.found.board {
            told.insert("method_seconds".to_owned(), board::seconds(board));
        }
        session.finished(told)
    }

    /// How many clusterings of an interrupted run were reused, in words.
    pub(super) fn resumed(&self) -> Option<String> {
        (self.reused > 0).then(|| {
            format!(
                "{} of {} kept from an interrupted run (--fresh would start over)",
                output::count(self.reused),
                counted(self.ensemble.members().len(), "clustering")
            )
        })
    }
}
