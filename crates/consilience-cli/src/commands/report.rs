//! `consilience report DIR|result.json -o FILE.html`: the page again from a saved result.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use consilience::consensus::{NO_CLUSTER, cluster_names, method, prepare};
use consilience::ensemble::{Ensemble, NO_PROFILE, Parted, Profiles};
use consilience::explain::Sentence;
use consilience_io::{Ids, ReadOptions, read_clusterings, read_consensus};
use consilience_report::data::Truth;
use consilience_report::{Explained, Names, Subject, paper};
use serde_json::{Value, json};

use super::Session;
use super::add::Base;
use super::combine::Combination;
use super::folder::WEIGHTS;
use super::parts::Parts;
use super::pipeline::correspondences;
use super::run::{consensus_inputs, described, file_name};
use crate::args::{Common, OutputArgs};
use crate::errors::{data, usage};
use crate::output::{self, named};
use consilience_io::{Target, write_text};

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
    /// The folder that `run`, `demo` or `combine --save` wrote, or its result.json
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

/// The page of `combine`, what it says first, and what `result.json` holds.
pub(super) struct Combined {
    pub(super) page: String,
    pub(super) record: Value,
    pub(super) verdict: Vec<Sentence>,
}

/// Explains what `combine` found if a page is wanted or somebody reads along on a terminal.
pub(super) fn of_combine(
    combination: &Combination<'_>,
    wanted: bool,
    session: &Session,
) -> anyhow::Result<Option<Combined>> {
    if !wanted && (session.json || !std::io::stderr().is_terminal()) {
        return Ok(None);
    }
    let Combination { found, ensemble, weights, ids, plan, .. } = *combination;
    let parts = Parts::of(found, weights);
    let clusters = cluster_names(ensemble, found.choice.info);
    let subject =
        Subject { criteria: plan.criteria(found), ..parts.subject(found, &clusters, ids, None) };
    let explained = subject.explain(plan.k_given(), &session.run)?;
    let (mut record, mut page) = (Value::Null, String::new());
    if wanted {
        record = self::record(combination, session)?;
        record["verdict"] = json!(explained.verdict);
        page = subject.page(&explained, &record, &session.run)?;
    }
    Ok(Some(Combined { page, record, verdict: explained.verdict }))
}

/// What `result.json` holds of a combination.
fn record(combination: &Combination<'_>, session: &Session) -> anyhow::Result<Value> {
    let Combination { args, consensus, base, earlier, id, plan, found, ensemble, .. } =
        *combination;
    let files = combination.files.iter();
    let mut inputs = files.map(|path| described(path)).collect::<Result<Vec<_>, _>>()?;
    inputs.extend(base.map(Base::described).transpose()?.into_iter().flatten());
    // A saved result that clusterings are added to is what clusters are called after.
    let earlier = earlier.filter(|_| consensus.align_to.is_some());
    inputs.extend(consensus_inputs(consensus, earlier)?);
    let mut weights = args.weights.clone();
    if let Some(path) = args.weights.as_deref().map(Path::new).filter(|path| path.is_file()) {
        let mut told = described(path)?;
        told["as"] = json!("weights");
        inputs.push(told);
        weights = Some(file_name(path));
    }
    let settings = consensus.settings.iter();
    let settings: serde_json::Map<String, Value> =
        settings.map(|setting| (setting.key.clone(), json!(setting.value))).collect();
    let members = ensemble.members().iter();
    let members = members.map(|m| json!({ "name": m.name(), "k": m.clusters().len() }));
    let mut record = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "command": {
            "name": "combine",
            "saved": args.outputs.save.is_some(),
            "method": consensus.method(),
            "k": consensus.k.told(),
            "set": settings,
            "add": base.map(Base::recorded),
            "init": consensus.init.as_deref().map(file_name),
            "align_to": earlier.map(|earlier| &earlier.recorded),
            "weights": weights,
            "id": args.reading.id,
            "drop": args.reading.drop,
            "missing": args.reading.missing,
            "no_header": args.reading.no_header,
            "rows": combination.rows,
        },
        "seed": session.run.seed(),
        "inputs": inputs,
        "data": {
            "n": found.profiles.n_objects(),
            "id": id,
            "weighted": combination.weights.is_some(),
        },
        "ensemble": { "size": ensemble.members().len(), "members": members.collect::<Vec<_>>() },
        "consensus": found.told(plan),
    });
    if let Some(told) = correspondences(found, ensemble) {
        record["correspondences"] = told;
    }
    Ok(record)
}

/// The names of objects as the page asks for them.
pub(super) fn names(ids: &Ids) -> Names<'_> {
    Box::new(|i| (i < ids.len()).then(|| ids.get(i)))
}

/// A result as `run`, `demo` and `combine --save` write it, read back.
pub(super) struct Saved {
    pub(super) record: Value,
    pub(super) ensemble: Ensemble,
    pub(super) profiles: Profiles,
    /// Of every member the names of its clusters.
    pub(super) clusters: Vec<Vec<String>>,
    /// The cluster of every profile by place, and how sure it is.
    pub(super) labels: Vec<u32>,
    pub(super) confidence: Vec<f64>,
    /// The number of every cluster, and its name where it has another.
    pub(super) numbers: Vec<u32>,
    pub(super) called: Vec<String>,
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
        let refused = |problem: &str| {
            data(format!(
                "{} {problem}: name a folder that `consilience run` or `combine --save` wrote, or its \
                 result.json",
                file.display()
            ))
        };
        let text = fs::read_to_string(&file)
            .map_err(|error| refused(&format!("cannot be read ({})", error.kind())))?;
        let record: Value = serde_json::from_str(&text).map_err(|_| refused("is no result"))?;
        if record["schema"] != 1 || !record["consensus"].is_object() {
            return Err(refused("is no result"));
        }
        Ok(record)
    }

    /// Reads a result.
    pub(super) fn read(path: &Path, session: &Session) -> anyhow::Result<Self> {
        let run = &session.run;
        let record = Self::record(path)?;
        let folder = Self::folder(path);
        let id = record["data"]["id"].as_str().map(str::to_owned);
        let weighted = record["data"]["weighted"] == true;
        let weights = weighted.then(|| folder.join(WEIGHTS).to_string_lossy().into_owned());
        let options = ReadOptions { id: id.clone(), weights, ..ReadOptions::default() };
        let table = read_clusterings(&[folder.join("ensemble.parquet")], &options, run)?;
        let mut ensemble = Ensemble::new(table.members)?;
        if let Some(weights) = table.weights {
            ensemble = ensemble.with_weights(weights)?;
        }
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
        let place = |number: u32| numbers.binary_search(&number).expect("among them") as u32;
        let places: Vec<u32> =
            consensus.clusters.iter().map(|number| number.map_or(NO_CLUSTER, place)).collect();
        // A balanced cut may have parted equal objects.
        let Parted { profiles, labels, .. } = profiles.parted(&places, ensemble.weights());
        let mut confidence = vec![0.0; profiles.len()];
        for (&s, &sure) in profiles.map().iter().zip(&consensus.confidence) {
            if s != NO_PROFILE && !sure.is_nan() {
                confidence[s as usize] = sure;
            }
        }
        let known = Self::cluster_names(&record["consensus"]["aligned"]);
        let name = |number: &u32| known.get(number).cloned().unwrap_or_else(|| number.to_string());
        let called = numbers.iter().map(name).collect();
        let ids = id.is_some().then_some(consensus.ids);
        let truth = serde_json::from_value(record["classes"].clone()).ok();
        Ok(Saved {
            record,
            ensemble,
            profiles,
            clusters,
            labels,
            confidence,
            numbers,
            called,
            ids,
            truth,
        })
    }

    /// The names of clusters by number, from the lists of both in a record.
    pub(super) fn cluster_names(lists: &Value) -> std::collections::BTreeMap<u32, String> {
        let list = |key: &str| lists[key].as_array().into_iter().flatten();
        let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
        let pairs = list("numbers").map(number).zip(list("names").map(Value::as_str));
        pairs.filter_map(|(number, name)| Some((number?, name?.to_owned()))).collect()
    }

    /// What a cluster is called: its number, and its name where that is another.
    pub(super) fn name_of(&self, place: usize) -> String {
        let number = self.numbers[place].to_string();
        match &self.called[place] {
            name if *name == number => number,
            name => format!("{number} ({})", named(name)),
        }
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            clusters: &self.clusters,
            profiles: &self.profiles,
            labels: &self.labels,
            confidence: &self.confidence,
            numbers: &self.numbers,
            called: Some(&self.called),
            names: self.ids.as_ref().map(names),
            truth: self.truth.clone(),
            criteria: None,
        }
    }

    pub(super) fn explain(&self, session: &Session) -> anyhow::Result<Explained> {
        // The draws of the result's own run, or the page would differ from its own.
        let run = session.run.with_seed(self.record["seed"].as_u64().unwrap_or(0));
        Ok(self.subject().explain(paper::k_given(&self.record), &run)?)
    }
}
