//! `consilience report DIR|result.json -o FILE.html`: the page again from a saved result.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueHint};
use consilience::consensus::{NO_CLUSTER, cluster_names, method, prepare};
use consilience::ensemble::{Ensemble, NO_PROFILE, Profiles};
use consilience::explain::Sentence;
use consilience_io::{Ids, ReadOptions, read_clusterings, read_consensus};
use consilience_report::data::Truth;
use consilience_report::{Explained, Names, Subject, paper};
use serde_json::{Value, json};

use super::Session;
use super::consensus::{Found, Plan};
use super::run::{described, file_name};
use crate::args::{CombineArgs, Common, OutputArgs};
use crate::errors::usage;
use crate::io::{Target, write_text};
use crate::output;

/// Make the report page again from a saved result
///
/// One HTML file with the verdict, figures and a paragraph for a paper. It is complete in itself:
/// it can be mailed, archived and opened without a network. `run` and `demo` write it as
/// report.html; this makes it again from what they saved.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  From the folder that run wrote, into the same folder:
    consilience report flowers-consensus

  Under another name:
    consilience report flowers-consensus -o flowers.html")]
pub(crate) struct ReportArgs {
    /// The folder that `run` or `demo` wrote, or its result.json
    #[arg(value_name = "RESULT", value_hint = ValueHint::AnyPath)]
    pub result: PathBuf,

    /// Where the page goes [default: report.html in the folder]
    #[arg(short, long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

pub(super) fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<()> {
    let folder = Saved::folder(&args.result);
    let output = args.output.clone().unwrap_or_else(|| folder.join("report.html"));
    super::check_output("-o", &output, &[folder.join("result.json"), folder.join("labels.csv")])?;
    let target = Target::new(&output)?;
    let session = Session::new(common);
    let saved = Saved::read(&args.result, &session)?;
    let subject = saved.subject();
    let explained = saved.explain(&session)?;
    let page = subject.page(&explained, &saved.record, &session.run)?;
    write_text(&target, &page)?;
    session.progress.clear();
    if session.json {
        return output::json(&json!({
            "schema": 1,
            "output": output,
            "bytes": page.len(),
            "verdict": explained.verdict,
            "warnings": session.progress.warnings(),
        }));
    }
    output::note(&format!(
        "{} written\n{}",
        output.display(),
        super::terminal::verdict(&explained.verdict)
    ));
    Ok(())
}

/// Where the page of `combine` goes.
pub(super) fn target(outputs: &OutputArgs, inputs: &[PathBuf]) -> anyhow::Result<Option<Target>> {
    let Some(path) = &outputs.report else { return Ok(None) };
    super::check_output("--report", path, inputs)?;
    if path == Path::new("-") || outputs.output.as_ref() == Some(path) {
        return Err(usage("--report needs a file of its own, such as report.html"));
    }
    Ok(Some(Target::new(path)?))
}

/// The page of `combine`, and what it says first.
pub(super) struct Combined {
    pub(super) page: String,
    pub(super) verdict: Vec<Sentence>,
}

/// Explains what `combine` found if a page is wanted or somebody reads along on a terminal.
pub(super) fn of_combine(
    args: &CombineArgs,
    wanted: bool,
    plan: &Plan,
    found: &Found,
    ensemble: &Ensemble,
    ids: Option<&Ids>,
    session: &Session,
) -> anyhow::Result<Option<Combined>> {
    if !wanted && (session.json || !std::io::stderr().is_terminal()) {
        return Ok(None);
    }
    let numbers: Vec<u32> = (0..found.consensus.k as u32).collect();
    let clusters = cluster_names(ensemble, plan.info);
    let subject = Subject {
        clusters: &clusters,
        profiles: &found.profiles,
        labels: &found.consensus.labels,
        confidence: &found.consensus.confidence,
        numbers: &numbers,
        names: ids.map(names),
        truth: None,
    };
    let explained = subject.explain(plan.k_given(), &session.run)?;
    let page = if wanted {
        subject.page(&explained, &record(args, plan, found, session)?, &session.run)?
    } else {
        String::new()
    };
    Ok(Some(Combined { page, verdict: explained.verdict }))
}

/// What `result.json` would hold of a combination.
fn record(
    args: &CombineArgs,
    plan: &Plan,
    found: &Found,
    session: &Session,
) -> anyhow::Result<Value> {
    let files = args.files.iter().map(PathBuf::as_path).chain(args.consensus.init.as_deref());
    let inputs = files.map(described).collect::<anyhow::Result<Vec<Value>>>()?;
    let settings = args.consensus.settings.iter();
    let settings: serde_json::Map<String, Value> =
        settings.map(|setting| (setting.key.clone(), json!(setting.value))).collect();
    Ok(json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "command": {
            "name": "combine",
            "method": args.consensus.method(),
            "k": args.consensus.k.0,
            "set": settings,
            "init": args.consensus.init.as_deref().map(file_name),
            "weights": args.weights,
            "id": args.reading.id,
            "drop": args.reading.drop,
            "missing": args.reading.missing,
            "no_header": args.reading.no_header,
        },
        "seed": session.run.seed(),
        "inputs": inputs,
        "data": { "n": found.profiles.n_objects(), "id": args.reading.id },
        "consensus": found.told(plan),
    }))
}

/// The names of objects as the page asks for them.
pub(super) fn names(ids: &Ids) -> Names<'_> {
    Box::new(|i| (i < ids.len()).then(|| ids.get(i)))
}

/// A result as `run` and `demo` save it, read back.
pub(super) struct Saved {
    pub(super) record: Value,
    pub(super) ensemble: Ensemble,
    pub(super) profiles: Profiles,
    /// Of every member the names of its clusters.
    clusters: Vec<Vec<String>>,
    /// The cluster of every profile by place, and how sure it is.
    pub(super) labels: Vec<u32>,
    pub(super) confidence: Vec<f64>,
    /// The number of every cluster.
    pub(super) numbers: Vec<u32>,
    pub(super) ids: Option<Ids>,
    truth: Option<Truth>,
}

impl Saved {
    /// The folder of a result that is named by it or by its `result.json`.
    pub(super) fn folder(path: &Path) -> PathBuf {
        if path.is_dir() {
            return path.to_owned();
        }
        match path.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// The record of a result.
    pub(super) fn record(path: &Path) -> anyhow::Result<Value> {
        let file = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
        let text = fs::read_to_string(&file).with_context(|| {
            format!(
                "{} cannot be read: name a folder that `consilience run` wrote, or its result.json",
                file.display()
            )
        })?;
        let record: Value = serde_json::from_str(&text)
            .map_err(|error| usage(format!("{} is no result: {error}", file.display())))?;
        if record["schema"] != 1 || !record["consensus"].is_object() {
            return Err(usage(format!(
                "{} is no result of `consilience run`: give the folder it wrote",
                file.display()
            )));
        }
        Ok(record)
    }

    /// Reads a result.
    pub(super) fn read(path: &Path, session: &Session) -> anyhow::Result<Self> {
        let run = &session.run;
        let record = Self::record(path)?;
        let folder = Self::folder(path);
        if record["data"]["weighted"].as_bool() == Some(true) {
            return Err(usage(
                "the objects of this result had weights, which are not saved with it: what is told \
                 here would count objects instead; run it again, which writes the page too",
            ));
        }
        let id = record["data"]["id"].as_str().map(str::to_owned);
        let options = ReadOptions { id: id.clone(), ..ReadOptions::default() };
        let table = read_clusterings(&[folder.join("ensemble.parquet")], &options, run)?;
        let ensemble = Ensemble::new(table.members)?;
        let consensus = read_consensus(&folder.join("labels.csv"), run)?;
        if consensus.clusters.len() != ensemble.n_objects() {
            return Err(usage(format!(
                "labels.csv has {} objects, but ensemble.parquet has {}: the files in {} are not of \
                 one result",
                consensus.clusters.len(),
                ensemble.n_objects(),
                folder.display()
            )));
        }
        let name = record["consensus"]["method"].as_str().unwrap_or_default();
        let (profiles, clusters) = if let Ok(info) = method(name) {
            (prepare(&ensemble, info, run)?, cluster_names(&ensemble, info))
        } else {
            let clusters = ensemble.members().iter().map(|m| m.clusters().to_vec());
            (Profiles::new(&ensemble, run)?, clusters.collect())
        };
        let mut numbers: Vec<u32> = consensus.clusters.iter().flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut labels = vec![NO_CLUSTER; profiles.len()];
        let mut confidence = vec![0.0; profiles.len()];
        // Where a balanced cut parted equal objects, the larger part speaks for the profile.
        let mut votes = std::collections::BTreeMap::<(u32, u32), usize>::new();
        let mut most = vec![0; profiles.len()];
        for (i, &s) in profiles.map().iter().enumerate() {
            if s != NO_PROFILE {
                let place =
                    |number: u32| numbers.binary_search(&number).expect("among them") as u32;
                let label = consensus.clusters[i].map_or(NO_CLUSTER, place);
                let count = votes.entry((s, label)).or_default();
                *count += 1;
                if *count > most[s as usize] {
                    (most[s as usize], labels[s as usize]) = (*count, label);
                }
                confidence[s as usize] =
                    if consensus.confidence[i].is_nan() { 0.0 } else { consensus.confidence[i] };
            }
        }
        let ids = id.is_some().then_some(consensus.ids);
        let truth = serde_json::from_value(record["classes"].clone()).ok();
        Ok(Saved { record, ensemble, profiles, clusters, labels, confidence, numbers, ids, truth })
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            clusters: &self.clusters,
            profiles: &self.profiles,
            labels: &self.labels,
            confidence: &self.confidence,
            numbers: &self.numbers,
            names: self.ids.as_ref().map(names),
            truth: self.truth.clone(),
        }
    }

    pub(super) fn explain(&self, session: &Session) -> anyhow::Result<Explained> {
        Ok(self.subject().explain(paper::k_given(&self.record), &session.run)?)
    }
}
