//! `consilience resolve CLUSTERINGS... --levels PATTERN -o DIR`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use consilience::ensemble::Ensemble;
use consilience::judge::Interval;
use consilience::pipeline::{Edge, Levels, Node, Resolution, ResolutionRecord, Resolve};
use consilience::words::{count, counted, listed, named};
use consilience_io::{
    Cells, Ids, InputError, ReadOptions, Stage, Target, identify, read_clusterings, read_raw,
    write_table, write_text,
};
use consilience_report::figures::{Frame, resolution};
use serde_json::{Map, json};

use super::files::{check_output, described, described_as, file_name, given};
use super::folder::Taken;
use super::reading;
use crate::args::{Common, ResolveArgs};
use crate::errors::usage;
use crate::session::Session;
use crate::{output, signals};

/// What goes into the folder.
const LABELS: &str = "labels.csv";
const LEVELS: &str = "levels.csv";
const NODES: &str = "tree-nodes.csv";
const EDGES: &str = "tree-edges.csv";
const FIGURE: &str = "tree.svg";
const RECORD: &str = "result.json";
const FILES: [&str; 6] = [LABELS, LEVELS, NODES, EDGES, FIGURE, RECORD];

pub(super) fn run(args: &ResolveArgs, common: &Common) -> anyhow::Result<()> {
    check_folder(args)?;
    let session = Session::new(common);
    let clock = Instant::now();
    let mut options = args.reading.options(None, args.weights.as_deref());
    identify(&args.files, &mut options, &session.run)?;
    let table = read_clusterings(&args.files, &options, &session.run)?;
    let (ensemble, ids) = reading::ensemble(table, &session)?;
    let levels = levels(args, &ensemble, &session)?;
    let read = clock.elapsed().as_secs_f64();

    signals::computing();
    let clock = Instant::now();
    let resolve = Resolve { levels, level: args.level.clone() };
    let found = resolve.of(&ensemble, &session.run)?;
    drop(ensemble);
    let seconds = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let mut record = found.record(&session.run);
    describe(&mut record, args)?;
    write(&args.output, &found, ids.as_ref(), &record, &session)?;
    let write = clock.elapsed().as_secs_f64();
    session.progress.clear();
    if session.json {
        let mut told = Map::new();
        told.insert("n".to_owned(), json!(record.n));
        told.insert("levels".to_owned(), serde_json::to_value(&record.levels)?);
        told.insert("recommended".to_owned(), json!(record.recommended));
        told.insert("chosen".to_owned(), json!(record.chosen));
        told.insert("verdict".to_owned(), json!(record.verdict));
        told.insert("output".to_owned(), json!(args.output));
        let seconds = json!({ "read": read, "resolve": seconds, "write": write });
        told.insert("seconds".to_owned(), seconds);
        return output::json(&session.finished(told));
    }
    output::note(&summary(&record));
    output::note(&match &record.chosen {
        Some(level) => format!("{LABELS} has the clusters at level {}", named(level)),
        None => format!("{LABELS} has no clusters: take a level by --level"),
    });
    output::note(&format!("written to {}: {}", args.output.display(), FILES.join(", ")));
    Ok(())
}

/// Refuses a place that the results cannot go to.
fn check_folder(args: &ResolveArgs) -> anyhow::Result<()> {
    let dir = &args.output;
    if dir == Path::new("-") || (dir.exists() && !dir.is_dir()) {
        return Err(usage(format!("-o {} is no folder: give the name of one", dir.display())));
    }
    let others = args.weights.iter().chain([&args.levels]).map(PathBuf::from);
    let inputs: Vec<PathBuf> = args.files.iter().cloned().chain(others).collect();
    FILES.iter().try_for_each(|name| check_output("-o", &dir.join(name), &inputs, args.force))
}

/// The level of every clustering.
fn levels(args: &ResolveArgs, ensemble: &Ensemble, session: &Session) -> anyhow::Result<Levels> {
    let names: Vec<String> = ensemble.members().iter().map(|m| m.name().to_owned()).collect();
    let path = Path::new(&args.levels);
    let levels = if path.is_file() {
        from_table(path, &names, session)?
    } else if !args.levels.contains("{level}") {
        return Err(usage(format!(
            "--levels {} is neither a pattern with {{level}} in it, such as 'leiden_{{level}}_{{seed}}', nor a file",
            args.levels
        )));
    } else {
        Levels::by_pattern(&args.levels, &names)?
    };
    if !levels.left_out().is_empty() {
        let out: Vec<String> = levels
            .left_out()
            .iter()
            .map(|&member| format!("`{}`", named(&names[member])))
            .collect();
        let verb = if out.len() == 1 { "has no level and is" } else { "have no level and are" };
        session.run.warn(&format!("{} {verb} left out", listed(&out, 5)));
    }
    Ok(levels)
}

/// The levels that a table `column,level` tells.
fn from_table(path: &Path, names: &[String], session: &Session) -> anyhow::Result<Levels> {
    let table = read_raw(path, &ReadOptions::default(), &session.run)?;
    let refused = |problem: String| InputError::Unsupported {
        file: table.file.clone(),
        problem,
        hint: "give one row per clustering: the name of its column, and its level".to_owned(),
    };
    let find =
        |name: &str| table.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
    let ((Some(columns), Some(levels), _) | (_, _, [columns, levels])) =
        (find("column"), find("level"), table.columns.as_slice())
    else {
        return Err(refused("it has no columns `column` and `level`".to_owned()).into());
    };
    let mut of: Vec<Option<&str>> = vec![None; names.len()];
    for row in 0..table.rows {
        let Some(column) = columns.cell(row) else { continue };
        let Some(member) = names.iter().position(|name| name == column) else {
            let known: Vec<String> =
                names.iter().map(|name| format!("`{}`", named(name))).collect();
            let (column, known) = (named(column), listed(&known, 5));
            let problem = format!("there is no clustering `{column}`; there are {known}");
            return Err(refused(problem).into());
        };
        of[member] = levels.cell(row);
    }
    Ok(Levels::of_members(&of)?)
}

/// Adds to a record what the command line knows: the command and the files.
fn describe(record: &mut ResolutionRecord, args: &ResolveArgs) -> anyhow::Result<()> {
    let path = Path::new(&args.levels);
    let mut inputs =
        args.files.iter().map(|path| described(path)).collect::<Result<Vec<_>, _>>()?;
    let mut levels = args.levels.clone();
    if path.is_file() {
        inputs.push(described_as(path, "levels")?);
        levels = file_name(path);
    }
    let mut weights = args.weights.clone();
    if let Some(path) = args.weights.as_deref().map(Path::new).filter(|path| path.is_file()) {
        inputs.push(described_as(path, "weights")?);
        weights = Some(file_name(path));
    }
    record.inputs = inputs;
    record.command = given(json!({
        "name": "resolve",
        "levels": levels,
        "level": args.level,
        "weights": weights,
        "id": args.reading.id,
        "drop": args.reading.drop,
        "missing": args.reading.missing,
        "decimal": args.reading.decimal,
        "no_header": args.reading.no_header,
    }));
    Ok(())
}

/// Writes the folder; its files appear together.
fn write(
    dir: &Path,
    found: &Resolution,
    ids: Option<&Ids>,
    record: &ResolutionRecord,
    session: &Session,
) -> anyhow::Result<()> {
    let run = &session.run;
    let folder = Taken::new(dir)?;
    let aside = folder.aside()?;
    let target =
        |name: &str| -> anyhow::Result<Target> { Ok(Target::new(aside.path().join(name))?) };
    write_labels(&target(LABELS)?, found, ids, record.n, session)?;
    write_table(&target(LEVELS)?, &level_columns(record), run)?;
    let (nodes, edges) = (&record.tree.nodes, &record.tree.edges);
    let node =
        |of: fn(&Node) -> f64| Cells::Numbers(nodes.iter().map(of).collect::<Vec<_>>().into());
    let edge =
        |of: fn(&Edge) -> f64| Cells::Numbers(edges.iter().map(of).collect::<Vec<_>>().into());
    let level = |at: usize| record.levels[at].level.clone();
    let of_nodes = [
        ("level", Cells::Text(nodes.iter().map(|n| level(n.level)).collect::<Vec<_>>().into())),
        ("cluster", node(|n| f64::from(n.cluster))),
        ("size", node(|n| n.size)),
        ("recovery", node(|n| n.recovery)),
        ("confidence", node(|n| n.confidence.unwrap_or(f64::NAN))),
    ];
    let of_edges = [
        ("level", Cells::Text(edges.iter().map(|e| level(e.level)).collect::<Vec<_>>().into())),
        ("cluster", edge(|e| f64::from(e.cluster))),
        (
            "next_level",
            Cells::Text(edges.iter().map(|e| level(e.level + 1)).collect::<Vec<_>>().into()),
        ),
        ("next", edge(|e| f64::from(e.next))),
        ("count", edge(|e| e.count)),
        ("in_proportion", edge(|e| e.in_proportion)),
        ("out_proportion", edge(|e| e.out_proportion)),
    ];
    write_table(&target(NODES)?, &of_nodes.map(|(name, cells)| (name.to_owned(), cells)), run)?;
    write_table(&target(EDGES)?, &of_edges.map(|(name, cells)| (name.to_owned(), cells)), run)?;
    write_text(&target(FIGURE)?, &resolution(record, &Frame::default()).picture.svg())?;
    write_text(&target(RECORD)?, &format!("{}\n", serde_json::to_string_pretty(record)?))?;
    run.check()?;
    let stage = Stage::default();
    stage.folder(aside, dir, Vec::new());
    stage.commit()?;
    drop(folder);
    Ok(())
}

/// Writes the labels: of the level that was taken, and of every recommended one.
fn write_labels(
    target: &Target,
    found: &Resolution,
    ids: Option<&Ids>,
    n: usize,
    session: &Session,
) -> anyhow::Result<()> {
    let nothing = vec![None; n];
    let chosen = found.chosen_level();
    let labels = chosen.map_or(nothing, consilience::pipeline::Level::labels);
    let recommended: Vec<(String, Vec<Option<u32>>)> = found
        .recommended
        .iter()
        .map(|&at| &found.levels[at])
        .map(|level| (format!("level_{}", level.name), level.labels()))
        .collect();
    let unsure = vec![f64::NAN; n];
    let sure = chosen.and_then(|level| level.confidence.as_ref()).unwrap_or(&unsure);
    let mut columns = vec![
        ("id".to_owned(), ids.map_or(Cells::Rows(n), Cells::Ids)),
        ("cluster".to_owned(), Cells::Clusters(&labels)),
        ("confidence".to_owned(), Cells::Numbers(sure.into())),
    ];
    if let Some(coverage) = chosen.and_then(|level| level.coverage.as_ref()) {
        columns.push(("coverage".to_owned(), Cells::Numbers(coverage.into())));
    }
    for (name, labels) in &recommended {
        columns.push((name.clone(), Cells::Clusters(labels)));
    }
    Ok(write_table(target, &columns, &session.run)?)
}

/// The table of the levels.
fn level_columns(record: &ResolutionRecord) -> Vec<(String, Cells<'static>)> {
    let levels = &record.levels;
    let numbers = |values: Vec<f64>| Cells::Numbers(values.into());
    let integers = |values: Vec<usize>| {
        Cells::Integers(values.into_iter().map(|value| value as i64).collect::<Vec<_>>().into())
    };
    let text = |values: Vec<String>| Cells::Text(values.into());
    let mut columns = vec![
        ("level".to_owned(), text(levels.iter().map(|l| l.level.clone()).collect())),
        ("members".to_owned(), integers(levels.iter().map(|l| l.members).collect())),
        ("clusters".to_owned(), integers(levels.iter().map(|l| l.clusters).collect())),
        ("clusters_median".to_owned(), numbers(levels.iter().map(|l| l.counts.median).collect())),
        ("clusters_least".to_owned(), integers(levels.iter().map(|l| l.counts.least).collect())),
        ("clusters_most".to_owned(), integers(levels.iter().map(|l| l.counts.most).collect())),
    ];
    let mut interval =
        |name: &str, of: fn(&consilience::pipeline::LevelRecord) -> Option<Interval>| {
            let ends: [(&str, fn(Interval) -> f64); 3] =
                [("", |i| i.value), ("_low", |i| i.low), ("_high", |i| i.high)];
            for (suffix, end) in ends {
                let values = levels.iter().map(|l| of(l).map_or(f64::NAN, end)).collect();
                columns.push((format!("{name}{suffix}"), numbers(values)));
            }
        };
    interval("stability", |l| l.stability);
    interval("inconsistency", |l| l.inconsistency);
    interval("beyond_chance", |l| l.beyond_chance);
    let or_none = |x: Option<f64>| x.unwrap_or(f64::NAN);
    columns
        .push(("chance".to_owned(), numbers(levels.iter().map(|l| or_none(l.chance)).collect())));
    columns.push(("next".to_owned(), numbers(levels.iter().map(|l| or_none(l.next)).collect())));
    let yes = |yes: bool| if yes { "true" } else { "false" }.to_owned();
    columns.push((
        "recommended".to_owned(),
        text(levels.iter().map(|l| yes(l.recommended)).collect()),
    ));
    columns.push(("method".to_owned(), text(levels.iter().map(|l| l.method.clone()).collect())));
    columns
}

/// What was found, for people.
fn summary(record: &ResolutionRecord) -> String {
    let header =
        ["level", "clusterings", "clusters", "stability", "interval", "beyond chance", "next", ""];
    let rows: Vec<Vec<String>> = record
        .levels
        .iter()
        .map(|level| {
            let number = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"));
            let interval = level
                .stability
                .map_or_else(String::new, |s| format!("{:.3}..{:.3}", s.low, s.high));
            vec![
                named(&level.level),
                level.members.to_string(),
                level.clusters.to_string(),
                number(level.stability.map(|s| s.value)),
                interval,
                number(level.beyond_chance.map(|b| b.value)),
                number(level.next),
                if level.recommended { "recommended" } else { "" }.to_owned(),
            ]
        })
        .collect();
    let table = output::aligned(&header.map(str::to_owned), &rows);
    format!(
        "{} at {}\n\n{table}\n\n{}",
        counted(record.n, "object"),
        if record.levels.len() == 1 {
            "1 level".to_owned()
        } else {
            format!("{} levels", count(record.levels.len()))
        },
        record.verdict
    )
}
