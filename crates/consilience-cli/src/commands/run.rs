//! `consilience run DATA -o DIR`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Instant;

use consilience::consensus::Wish;
use consilience::ensemble::Member;
use consilience_io::InputError;
use serde_json::{Map, Value, json};

use super::align::Earlier;
use super::consensus::Plan;
use super::ensemble::Recipe;
use super::pipeline::{self, Input};
use super::{Session, read_data, read_start};
use crate::args::{Common, ConsensusArgs, RunArgs};
use crate::errors::usage;
use crate::output::{self, counted};
use crate::xxh64::Xxh64;

pub(super) fn run(args: &RunArgs, common: &Common) -> anyhow::Result<()> {
    let plan = Plan::new(&args.consensus, Wish::default())?;
    let recipe = Recipe::new(&args.ensemble, args.consensus.k.exactly())?;
    let dir = args.output.as_path();
    if dir.exists() && !dir.is_dir() {
        return Err(usage(format!("-o {} is a file: give a folder", dir.display())));
    }

    let session = Session::new(common);
    let clock = Instant::now();
    let options = args.reading.options(args.weights.as_deref());
    let table = read_data(&args.data, &args.reading, args.weights.as_deref(), &session)?;
    let ids = table.ids.as_ref();
    let n = table.values.data().nrows();
    let start = read_start(args.consensus.init.as_deref(), ids, n, &options, &session)?;
    let earlier = Earlier::read(args.consensus.align_to.as_deref(), ids, n, &options, &session)?;
    let mut inputs = vec![described(&args.data)?];
    inputs.extend(consensus_inputs(&args.consensus, earlier.as_ref())?);
    let read = clock.elapsed().as_secs_f64();

    let recorded = earlier.as_ref().map(|earlier| earlier.recorded.clone());
    let input = Input {
        values: table.values.data(),
        features: &table.columns,
        ids: args.reading.id.as_deref().zip(ids),
        truth: table.truth.clone().map(Member::from),
        weights: table.weights.as_deref(),
        start,
        earlier,
        convergence: args.preset().is_some(),
        command: command(args, recorded.as_deref()),
        inputs: inputs.into(),
    };
    let outcome = pipeline::run(&input, &recipe, &plan, (dir, args.fresh), &session)?;
    session.progress.clear();
    if session.json {
        return output::json(&outcome.told(&recipe, &plan, (dir, read), &session));
    }

    let mut lines = vec![
        (
            "data",
            format!(
                "{}, {} ({})",
                counted(n, "object"),
                counted(table.columns.len(), "feature"),
                table.file
            ),
        ),
        ("ensemble", recipe.summary(&outcome.ensemble, table.values.is_sparse())),
    ];
    lines.extend(outcome.resumed().map(|resumed| ("", resumed)));
    lines.push(("consensus", outcome.found.summary(&plan)));
    lines.extend(outcome.scores.as_ref().map(|scores| ("scores", scores.summary())));
    lines.extend(outcome.pictures.as_ref().map(|pictures| ("clusters", pictures.clone())));
    lines.push(("verdict", super::terminal::verdict(&outcome.verdict)));
    let written = outcome.files.iter().map(|name| dir.join(name).display().to_string());
    let written: Vec<String> = written.collect();
    lines.push(("written", written.join(", ")));
    output::text(&output::facts(&lines))
}

/// The command and its options, so that it can be given again.
fn command(args: &RunArgs, align_to: Option<&str>) -> Value {
    let settings = args.consensus.settings.iter();
    let settings: Map<String, Value> =
        settings.map(|setting| (setting.key.clone(), json!(setting.value))).collect();
    json!({
        "name": "run",
        "preset": args.preset,
        "method": args.consensus.method(),
        "k": args.consensus.k.told(),
        "set": settings,
        "init": args.consensus.init.as_deref().map(file_name),
        "align_to": align_to,
        "weights": args.weights,
        "size": args.ensemble.size(),
        "scheme": args.ensemble.scheme(),
        "base": args.ensemble.base(),
        "base_k": args.ensemble.base_k,
        "representatives": args.ensemble.representatives,
        "neighbours": args.ensemble.neighbours,
        "subspace": args.ensemble.subspace,
        "sample": args.ensemble.sample,
        "leave_out": args.ensemble.leave_out,
        "soft": args.ensemble.soft,
        "scale": args.ensemble.scale(),
        "id": args.reading.id,
        "truth": args.reading.truth,
        "drop": args.reading.drop,
        "as_features": args.reading.as_features,
        "impute": args.reading.impute.map(|impute| format!("{impute:?}").to_lowercase()),
        "missing": args.reading.missing,
        "no_header": args.reading.no_header,
    })
}

/// What the consensus step read, with what for.
pub(super) fn consensus_inputs(
    args: &ConsensusArgs,
    earlier: Option<&Earlier>,
) -> anyhow::Result<Vec<Value>> {
    let mut inputs = Vec::new();
    if let Some(init) = &args.init {
        let mut told = described(init)?;
        told["as"] = json!("init");
        inputs.push(told);
    }
    if let Some(earlier) = earlier {
        inputs.push(earlier.described()?);
    }
    Ok(inputs)
}

/// A file that was read: its name, and what tells whether it is still the same. Of a pipe nothing
/// is left to be told.
pub(super) fn described(path: &Path) -> anyhow::Result<Value> {
    let gone = |error: io::Error| InputError::io(&path.display().to_string(), &error);
    if path == Path::new("-") || !fs::metadata(path).map_err(gone)?.is_file() {
        return Ok(json!({ "file": file_name(path) }));
    }
    let mut file = File::open(path).map_err(gone)?;
    let mut hash = Xxh64::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let read = file.read(&mut buffer).map_err(gone)?;
        if read == 0 {
            break;
        }
        bytes += read;
        hash.update(&buffer[..read]);
    }
    Ok(json!({
        "file": file_name(path),
        "bytes": bytes,
        "xxh64": format!("{:016x}", hash.finish()),
    }))
}

/// The name of a file without its folder: results are to be the same wherever they are made.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
