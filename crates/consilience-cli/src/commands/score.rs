//! `consilience score CLUSTERINGS... [--truth COL|FILE]`.

use std::path::Path;

use consilience::ensemble::Profiles;
use consilience::ensemble::{Contingency, Ensemble, Member};
use consilience::metrics::{ElementCentric, MetricInfo, metric};
use consilience::pipeline::SCORES;
use consilience_io::{identify, read_clusterings};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::folder::name_saved_ids;
use super::reading;
use crate::args::{Common, INCONSISTENCY, Noise, ScoreArgs};
use crate::errors::usage;
use crate::output::counted;
use crate::session::Session;
use crate::{output, signals};

pub(super) fn run(args: &ScoreArgs, common: &Common) -> anyhow::Result<()> {
    if let Some((path, file, column)) = args.files.iter().find_map(|path| column_of(path)) {
        return Err(usage(format!(
            "there is no file {path}; if column `{column}` of {file} is meant: all columns of a table are compared, and \
             --drop leaves others out; with known classes, --truth {path} compares with that column"
        )));
    }
    let session = Session::new(common);
    let mut options = args.reading.options(args.truth.as_deref(), args.weights.as_deref());
    // What others say of the same labels can be compared only so; --noise missing leaves it out.
    options.minus_one_is_a_label = args.reading.noise != Some(Noise::Missing);
    name_saved_ids(&args.files, &mut options);
    identify(&args.files, &mut options, &session.run)?;
    let mut table = read_clusterings(&args.files, &options, &session.run)?;
    let truth = table.truth.take().map(Member::from);
    let (ensemble, _) = reading::ensemble(table, &session)?;
    signals::computing();
    match truth {
        Some(truth) => against_truth(args, &ensemble, &truth, &session),
        None => pairwise(args, &ensemble, &session),
    }
}

/// The file and column that someone may have meant by a path that does not exist.
fn column_of(path: &Path) -> Option<(&str, &str, &str)> {
    let text = path.to_str().filter(|_| !path.exists())?;
    let (file, column) = text.rsplit_once(':')?;
    Path::new(file).is_file().then_some((text, file, column))
}

/// A row per clustering.
fn against_truth(
    args: &ScoreArgs,
    ensemble: &Ensemble,
    truth: &Member,
    session: &Session,
) -> anyhow::Result<()> {
    if args.metric.iter().any(|name| name == INCONSISTENCY) {
        return Err(usage(
            "--metric ic tells how far clusterings agree among themselves, not with known classes: \
             leave --truth out",
        ));
    }
    let mut measures: Vec<&MetricInfo> =
        SCORES.iter().map(|name| metric(name)).collect::<Result<_, _>>()?;
    for name in &args.metric {
        if !measures.iter().any(|measure| measure.name == name) {
            measures.push(metric(name)?);
        }
    }
    let members = ensemble.members();
    let scores = session.run.install(|| {
        let members = members.par_iter();
        members
            .map(|m| scores(m, truth, ensemble.weights(), &measures))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let n = ensemble.n_objects();
    let compared: Vec<usize> = members.iter().map(|member| common(member, truth)).collect();
    let named = || members.iter().zip(&scores).zip(&compared);
    if session.json {
        let rows: Vec<Value> = named()
            .map(|((member, values), compared)| {
                let mut row = Map::new();
                row.insert("clustering".to_owned(), json!(member.name()));
                row.insert("k".to_owned(), json!(member.clusters().len()));
                row.insert("n".to_owned(), json!(compared));
                for (measure, value) in measures.iter().zip(values) {
                    row.insert(measure.name.to_owned(), json!(value));
                }
                Value::Object(row)
            })
            .collect();
        return output::json(&json!({
            "schema": 1,
            "n": n,
            "truth": truth.name(),
            "scores": rows,
            "warnings": session.progress.warnings(),
        }));
    }
    // Told only where it matters.
    let some_left_out = compared.iter().any(|&compared| compared < n);
    let header: Vec<String> = ["clustering", "k"]
        .into_iter()
        .chain(some_left_out.then_some("n"))
        .chain(measures.iter().map(|measure| measure.name))
        .map(str::to_owned)
        .collect();
    let names: Vec<String> = members.iter().map(|member| member.name().to_owned()).collect();
    let values: Vec<Vec<f64>> = named()
        .map(|((member, values), &compared)| {
            let k = std::iter::once(member.clusters().len() as f64);
            let n = some_left_out.then_some(compared as f64);
            k.chain(n).chain(values.iter().copied()).collect()
        })
        .collect();
    output::table(&header, &names, &values, &session.run)
}

/// How many objects both label: those that they are compared on.
fn common(a: &Member, b: &Member) -> usize {
    let (a, b) = (a.hardened(), b.hardened());
    a.labels().iter().zip(b.labels().iter()).filter(|(a, b)| a.is_some() && b.is_some()).count()
}

/// What the measures say of `member` when compared with `truth`.
fn scores(
    member: &Member,
    truth: &Member,
    weights: Option<&[f64]>,
    measures: &[&MetricInfo],
) -> consilience::Result<Vec<f64>> {
    let table = Contingency::new(member, truth, weights)?;
    Ok(measures.iter().map(|measure| (measure.value)(&table)).collect())
}

/// Each measure between all pairs.
fn pairwise(args: &ScoreArgs, ensemble: &Ensemble, session: &Session) -> anyhow::Result<()> {
    let members = ensemble.members();
    if members.len() < 2 {
        return Err(usage(
            "there is one clustering only, and nothing to compare it with: give --truth COL or \
             FILE, or a second clustering",
        ));
    }
    let of_pairs = args.metric.iter().filter(|name| *name != INCONSISTENCY);
    let mut measures: Vec<&MetricInfo> =
        of_pairs.map(|name| metric(name)).collect::<Result<_, _>>()?;
    let inconsistency = if measures.len() < args.metric.len() {
        let profiles = Profiles::new(ensemble, &session.run)?;
        Some(session.run.install(|| ElementCentric::of(&profiles).inconsistency()))
    } else {
        None
    };
    if args.metric.is_empty() {
        measures.push(metric("nmi")?);
    }
    let r = members.len();
    // Both (a, b) and (b, a): some measures are not symmetric.
    let values = session.run.install(|| {
        let pairs = (0..r * r).into_par_iter();
        let values = |pair: usize| -> consilience::Result<Vec<f64>> {
            session.run.check()?;
            scores(&members[pair / r], &members[pair % r], ensemble.weights(), &measures)
        };
        pairs.map(values).collect::<Result<Vec<_>, _>>()
    })?;
    let pairs = (0..r).flat_map(|a| (a + 1..r).map(move |b| (a, b)));
    let compared = pairs.map(|(a, b)| (common(&members[a], &members[b]), a, b));
    if let Some((fewest, a, b)) = compared.min()
        && fewest < ensemble.n_objects()
    {
        session.run.warn(&format!(
            "two clusterings are compared on the objects that both label: `{}` and `{}` on {} of {}",
            members[a].name(),
            members[b].name(),
            output::count(fewest),
            counted(ensemble.n_objects(), "object")
        ));
    }
    let matrix = |m: usize| -> Vec<Vec<f64>> {
        values.chunks(r).map(|row| row.iter().map(|of_pair| of_pair[m]).collect()).collect()
    };
    let names: Vec<String> = members.iter().map(|member| member.name().to_owned()).collect();
    if session.json {
        let mut told = json!({ "schema": 1, "n": ensemble.n_objects() });
        if let Some(first) = measures.first() {
            told["metric"] = json!(first.name);
        }
        told["clusterings"] = json!(names);
        if !measures.is_empty() {
            told["matrix"] = json!(matrix(0));
        }
        if let Some(value) = inconsistency {
            told[INCONSISTENCY] = json!(value);
        }
        told["warnings"] = json!(session.progress.warnings());
        if measures.len() > 1 {
            let all = measures.iter().enumerate();
            let all: Map<String, Value> =
                all.map(|(m, measure)| (measure.name.to_owned(), json!(matrix(m)))).collect();
            told["matrices"] = json!(all);
        }
        return output::json(&told);
    }
    if let Some(value) = inconsistency {
        output::text(&format!("ic {value:.4}"))?;
    }
    for (m, measure) in measures.iter().enumerate() {
        if m > 0 || inconsistency.is_some() {
            output::text("")?;
        }
        let header: Vec<String> =
            std::iter::once(measure.name.to_owned()).chain(names.iter().cloned()).collect();
        output::table(&header, &names, &matrix(m), &session.run)?;
    }
    Ok(())
}
