//! `consilience run DATA -o DIR`.

use std::time::Instant;

use consilience::consensus::Offers;
use consilience::ensemble::Member;
use consilience::pipeline::GivenOptions;
use serde_json::json;

use super::earlier::{EarlierFile, consensus_inputs};
use super::files::{described, file_name, recorded_as};
use super::whole::Job;
use super::{asked, files, making, reading};
use crate::args::{Common, RunArgs};
use crate::errors::usage;
use crate::output::{self, counted};
use crate::session::Session;

pub(super) fn run(args: &RunArgs, common: &Common) -> anyhow::Result<()> {
    let request = asked::request(&args.consensus, Offers::default(), false)?;
    let recipe = making::recipe(&args.ensemble, args.consensus.k.exactly())?;
    let dir = args.output.as_path();
    if dir.exists() && !dir.is_dir() {
        return Err(usage(format!("-o {} is a file: give a folder", dir.display())));
    }

    let session = Session::new(common);
    let clock = Instant::now();
    let mut options = args.reading.options(args.weights.as_deref());
    let table = reading::features(&args.data, &args.reading, &mut options, &session)?;
    let ids = table.ids.as_ref();
    let n = table.values.data().nrows();
    let start = reading::start(args.consensus.init.as_deref(), ids, n, &options, &session)?;
    let align_to = args.consensus.align_to.as_deref();
    let earlier = EarlierFile::read(align_to, ids, n, &options, &session)?;
    // Tables that are read by parts, such as Parquet, are read once more for it.
    let mut inputs = vec![match table.fingerprint {
        Some(seen) => recorded_as(&args.data, seen),
        None => described(&args.data)?,
    }];
    inputs.extend(consensus_inputs(&args.consensus, earlier.as_ref())?);
    let read = clock.elapsed().as_secs_f64();

    let job = Job {
        data: table.values.data(),
        features: &table.columns,
        ids: options.id.as_deref().zip(ids),
        truth: table.truth.clone().map(Member::from),
        weights: table.weights.as_deref(),
        start,
        command: command(args, earlier.as_ref()),
        earlier,
        convergence: args.preset().is_some(),
        recipe,
        request,
        inputs,
    };
    let done = job.run(dir, args.fresh, args.force, &session)?;
    session.progress.clear();
    if session.json {
        return output::json(&done.told(dir, read, &session)?);
    }

    let features = counted(table.columns.len(), "feature");
    let mut lines = vec![
        ("data", format!("{}, {features} ({})", counted(n, "object"), table.file)),
        (
            "ensemble",
            making::summary(&job.recipe, done.base_k(), done.seats(), table.values.is_sparse()),
        ),
    ];
    lines.extend(done.resumed().map(|resumed| ("", resumed)));
    lines.push(("consensus", asked::summary(&done.answer)));
    if let Some(scores) = &done.answer.scores {
        let shown = ["nmi", "ari", "accuracy"].map(|name| (name, scores.value(name)));
        let of = |pick: fn((f64, f64)) -> f64| {
            let words = shown.iter().filter_map(|(name, value)| {
                value.map(|value| format!("{name} {:.4}", pick(value)))
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let text = format!(
            "against `{}`: {}\nsingle clusterings on average: {}",
            scores.truth.name(),
            of(|(ours, _)| ours),
            of(|(_, mean)| mean)
        );
        lines.push(("scores", text));
    }
    lines.extend(done.pictures.as_ref().map(|pictures| ("clusters", pictures.clone())));
    lines.push(("verdict", done.verdict()));
    let written = done.files.iter().map(|name| dir.join(name).display().to_string());
    lines.push(("written", written.collect::<Vec<_>>().join(", ")));
    output::text(&output::facts(&lines))
}

/// The command and its options, so that it can be given again.
fn command(args: &RunArgs, earlier: Option<&EarlierFile>) -> GivenOptions {
    let command = json!({
        "name": "run",
        "preset": args.preset,
        "method": args.consensus.method(),
        "k": args.consensus.k.told(),
        "set": asked::settings(&args.consensus),
        "init": args.consensus.init.as_deref().map(file_name),
        "align_to": earlier.map(|earlier| &earlier.result.name),
        "weights": args.weights,
        "size": args.ensemble.told_size(),
        "scheme": args.ensemble.scheme(),
        "kinds": args.ensemble.kinds,
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
        "decimal": args.reading.decimal,
        "no_header": args.reading.no_header,
    });
    files::given(command)
}
