//! `consilience align TABLE... -o DIR`: clusters followed through time.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use consilience::pipeline::{EventKind, Passage, Step, Timeline};
use consilience_io::{
    Cells, Ids, SequenceTable, Slice, Stage, Target, identify, read_sequence, write_table,
    write_text,
};
use consilience_report::figures::{self, Frame};
use serde_json::{Map, Value, json};

use super::drawing::Drawing;
use super::files::{check_output, described};
use super::folder::{LABELS, RECORD, Taken, folder_of, record_of};
use crate::args::{AlignArgs, Common};
use crate::errors::usage;
use crate::output::{self, count, counted, listed};
use crate::session::Session;
use crate::signals;

const FILES: [&str; 7] =
    [LABELS, "moves.csv", "events.csv", "clusters.csv", "flows.csv", "align.json", "flow.svg"];
/// Dots per inch of a figure as PNG.
const DPI: u16 = 300;

pub(super) fn run(args: &AlignArgs, common: &Common) -> anyhow::Result<()> {
    let slices = args.tables.iter().map(|table| slice(table)).collect::<Result<Vec<_>, _>>()?;
    let inputs: Vec<PathBuf> = slices.iter().map(|slice| slice.path.clone()).collect();
    let figure = args.figure.as_deref().map(Drawing::of).transpose()?;
    if let Some(path) = &args.figure {
        check_output("--figure", path, &inputs, args.force)?;
    }
    for name in FILES {
        check_output("-o", &args.output.join(name), &inputs, args.force)?;
    }
    let session = Session::new(common);
    let mut options = args.reading.options(None, None);
    identify(&inputs, &mut options, &session.run)?;
    let SequenceTable { ids, times, warnings } = read_sequence(&slices, &options, &session.run)?;
    warnings.iter().for_each(|warning| session.run.warn(warning));
    if times.len() < 2 {
        return Err(usage(format!(
            "{} holds one clustering only, and nothing to follow it to: give the tables of two times \
             or more",
            args.tables[0]
        )));
    }
    let names: Vec<String> = times.iter().map(|time| time.name().to_owned()).collect();
    let names = called(names, &slices, &args.names)?;
    let times: Vec<_> = times
        .into_iter()
        .zip(names)
        .map(|(time, name)| consilience::ensemble::Member::from(time).renamed(name).hardened())
        .collect();
    signals::computing();
    let found = Timeline::new(&times, args.share, &session.run)?;
    drop(times);
    for (labels, names) in found.labels.windows(2).zip(found.times.windows(2)) {
        let common = labels[0].iter().zip(&labels[1]).any(|(a, b)| a.is_some() && b.is_some());
        if !common {
            session.run.warn(&format!(
                "`{}` and `{}` have no object in common, so no cluster can be followed from one to the \
                 other: does --id name the column that identifies objects?",
                names[0], names[1]
            ));
        }
    }

    let folder = Taken::new(&args.output)?;
    let aside = folder.aside()?;
    let stage = Stage::default();
    let told = write(args, aside.path(), &slices, &found, ids.as_ref(), &session)?;
    if let (Some(drawing), Some(path)) = (figure, &args.figure) {
        let drawn = figures::timeline(&found, &Frame::default());
        drawing.write(&Target::new(path)?.on(&stage), &drawn, DPI, &session)?;
    }
    stage.folder(aside, &args.output, Vec::new());
    stage.commit()?;
    drop(folder);
    session.progress.clear();
    if session.json {
        return output::json(&session.finished(told));
    }
    output::text(&summary(&found))?;
    output::note(&format!("{} written: {}", args.output.display(), FILES.join(", ")));
    if let Some(path) = &args.figure {
        output::note(&format!("{} written", path.display()));
    }
    Ok(())
}

/// Where the clustering of one time is: a table, `FILE:COLUMN`, or a result.
fn slice(table: &str) -> anyhow::Result<Slice> {
    let path = Path::new(table);
    let is_record = path.file_name().is_some_and(|name| name == RECORD);
    if path.is_dir() || is_record {
        let folder = folder_of(path);
        // Says what is wrong with the folder if it is none of a result.
        record_of(path)?;
        let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        let slice = Slice::new(&folder.join(LABELS), None);
        let name = real.file_name().map_or(slice.name, |name| name.to_string_lossy().into_owned());
        return Ok(Slice { name, as_written: true, ..slice });
    }
    match table.rsplit_once(':') {
        Some((file, column)) if !path.exists() && Path::new(file).is_file() => {
            Ok(Slice::new(Path::new(file), Some(column)))
        }
        _ => Ok(Slice::new(path, None)),
    }
}

/// What the times are called: as the user says, or as tables and columns are, so that no two are alike.
fn called(names: Vec<String>, slices: &[Slice], given: &[String]) -> anyhow::Result<Vec<String>> {
    let distinct = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    if !given.is_empty() {
        if given.len() != names.len() || !distinct(given) {
            return Err(usage(format!(
                "--names must list {} different names, one per time; it lists {}",
                names.len(),
                listed(given, 8)
            )));
        }
        return Ok(given.to_vec());
    }
    if distinct(&names) {
        return Ok(names);
    }
    let columns: Vec<String> = slices.iter().filter_map(|slice| slice.column.clone()).collect();
    if columns.len() == names.len() && distinct(&columns) {
        return Ok(columns);
    }
    Ok(names.iter().zip(1..).map(|(name, at)| format!("{at} {name}")).collect())
}

/// Writes everything under temporary names, and gives what is told as JSON.
fn write(
    args: &AlignArgs,
    aside: &Path,
    slices: &[Slice],
    found: &Timeline,
    ids: Option<&Ids>,
    session: &Session,
) -> anyhow::Result<Map<String, Value>> {
    let run = &session.run;
    let target = |name: &str| -> anyhow::Result<Target> { Ok(Target::new(aside.join(name))?) };
    let text = |name: &str, cells: Vec<String>| (name.to_owned(), Cells::Text(cells.into()));
    let whole = |name: &str, cells: Vec<usize>| {
        let cells: Vec<i64> = cells.into_iter().map(|x| x as i64).collect();
        (name.to_owned(), Cells::Integers(cells.into()))
    };
    run.ask_memory(
        &format!("the tables of {}", counted(found.moves(), "move")),
        cost(found, ids),
        "give fewer tables, or raise --memory",
    )?;
    let time = |at: usize| found.times[at].clone();
    let id = |at: usize| found.ids[at].clone();

    // Labels: the identifiers by name, empty where an object is away.
    let n = found.labels[0].len();
    let key = args.reading.id.clone().unwrap_or_else(|| "id".to_owned());
    let aligned: Vec<_> = found
        .labels
        .iter()
        .zip(&found.times)
        .map(|(labels, time)| {
            let codes = labels.iter().map(|label| label.map(|c| c as usize));
            let codes = consilience::ensemble::Labels::from_indices(found.ids.len(), codes);
            consilience::ensemble::HardMember::from_codes(time, codes, found.ids.clone())
        })
        .collect::<Result<_, _>>()?;
    let mut columns = vec![(key.clone(), ids.map_or(Cells::Rows(n), Cells::Ids))];
    columns.extend(aligned.iter().map(|member: &consilience::ensemble::HardMember| {
        (member.name().to_owned(), Cells::Labels(member))
    }));
    write_table(&target(LABELS)?, &columns, run)?;

    let steps: Vec<_> = found.steps().collect();
    let object = |at: usize| match ids {
        Some(ids) => Cow::Borrowed(ids.get(at)),
        None => Cow::Owned(at.to_string()),
    };
    let moves: [(&str, Ids); 5] = [
        (&key, steps.iter().map(|s| object(s.object)).collect()),
        ("from_time", steps.iter().map(|s| &found.times[s.from_time]).collect()),
        ("to_time", steps.iter().map(|s| &found.times[s.to_time]).collect()),
        ("from_cluster", steps.iter().map(|s| &found.ids[s.from as usize]).collect()),
        ("to_cluster", steps.iter().map(|s| &found.ids[s.to as usize]).collect()),
    ];
    let columns = moves.each_ref().map(|(name, cells)| ((*name).to_owned(), Cells::Ids(cells)));
    write_table(&target("moves.csv")?, &columns, run)?;
    drop(moves);

    let events = &found.events;
    let other = |event: &consilience::pipeline::Event| event.other.clone().unwrap_or_default();
    let share = events.iter().map(|event| event.share.unwrap_or(f64::NAN)).collect::<Vec<_>>();
    let table = [
        text("time", events.iter().map(|event| time(event.time)).collect()),
        text("event", events.iter().map(|event| kind(event.event).to_owned()).collect()),
        text("cluster", events.iter().map(|event| event.cluster.clone()).collect()),
        text("other", events.iter().map(other).collect()),
        whole("objects", events.iter().map(|event| event.objects).collect()),
        ("share".to_owned(), Cells::Numbers(share.into())),
    ];
    write_table(&target("events.csv")?, &table, run)?;

    let clusters = &found.clusters;
    let table = [
        text("time", clusters.iter().map(|c| time(c.time)).collect()),
        text("cluster", clusters.iter().map(|c| c.cluster.clone()).collect()),
        text("label", clusters.iter().map(|c| c.label.clone()).collect()),
        whole("objects", clusters.iter().map(|c| c.objects).collect()),
        whole("stayed", clusters.iter().map(|c| c.stayed).collect()),
        whole("moved_in", clusters.iter().map(|c| c.moved_in).collect()),
        whole("new", clusters.iter().map(|c| c.new).collect()),
    ];
    write_table(&target("clusters.csv")?, &table, run)?;

    let flows = &found.passages;
    let table = [
        text("from_time", flows.iter().map(|p| time(p.from_time)).collect()),
        text("to_time", flows.iter().map(|p| time(p.to_time)).collect()),
        text("from_cluster", flows.iter().map(|p| id(p.from)).collect()),
        text("to_cluster", flows.iter().map(|p| id(p.to)).collect()),
        whole("objects", flows.iter().map(|p| p.objects).collect()),
    ];
    write_table(&target("flows.csv")?, &table, run)?;

    let drawn = figures::timeline(found, &Frame::default());
    Drawing::Svg.write(&target("flow.svg")?, &drawn, DPI, session)?;

    let mut told = told(found, steps.len());
    let mut record = told.clone();
    record.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    let inputs =
        slices.iter().map(|slice| described(&slice.path)).collect::<Result<Vec<_>, _>>()?;
    record.insert("inputs".to_owned(), json!(inputs));
    record.insert("caption".to_owned(), json!(drawn.caption));
    let record = serde_json::to_string_pretty(&session.finished(record))? + "\n";
    write_text(&target("align.json")?, &record)?;
    told.insert("output".to_owned(), json!(args.output));
    told.insert("files".to_owned(), json!(FILES));
    Ok(told)
}

/// How many bytes the tables that are written take: the labels, and of every move where it is from
/// and to, as text.
fn cost(found: &Timeline, ids: Option<&Ids>) -> u64 {
    let labels: usize = found.labels.iter().map(Vec::len).sum();
    let object = ids.map_or(8, |ids| ids.iter().map(str::len).max().unwrap_or(0));
    let text = |p: &Passage| {
        let times = found.times[p.from_time].len() + found.times[p.to_time].len();
        p.objects * (object + times + found.ids[p.from].len() + found.ids[p.to].len())
    };
    let text: usize = found.passages.iter().filter(|p| p.from != p.to).map(text).sum();
    // Text has an end each, and grows by doubling.
    let moves =
        found.moves() * size_of::<Step>() + 2 * (text + 5 * size_of::<usize>() * found.moves());
    (size_of::<u32>() * labels + moves) as u64
}

/// How an event is written.
fn kind(event: EventKind) -> &'static str {
    match event {
        EventKind::Birth => "birth",
        EventKind::Split => "split",
        EventKind::Return => "return",
        EventKind::Merge => "merge",
        EventKind::Death => "death",
    }
}

/// What is told of the clusters, with times by name.
fn told(found: &Timeline, moves: usize) -> Map<String, Value> {
    let named = |value: Value, times: &[&str]| {
        let Value::Object(mut map) = value else { return value };
        for key in times {
            if let Some(at) = map.get(*key).and_then(Value::as_u64) {
                map.insert((*key).to_owned(), json!(found.times[at as usize]));
            }
        }
        Value::Object(map)
    };
    let clusters: Vec<Value> = found.clusters.iter().map(|c| named(json!(c), &["time"])).collect();
    let events: Vec<Value> = found.events.iter().map(|e| named(json!(e), &["time"])).collect();
    let flow = |p: &Passage| {
        json!({
            "from_time": found.times[p.from_time],
            "to_time": found.times[p.to_time],
            "from_cluster": found.ids[p.from],
            "to_cluster": found.ids[p.to],
            "objects": p.objects,
        })
    };
    let told = json!({
        "n": found.labels[0].len(),
        "times": found.times,
        "ids": found.ids,
        "share": found.share,
        "moves": moves,
        "clusters": clusters,
        "events": events,
        "flows": found.passages.iter().map(flow).collect::<Vec<_>>(),
    });
    match told {
        Value::Object(told) => told,
        _ => unreachable!("it is an object"),
    }
}

/// A row per time, and what happened.
fn summary(found: &Timeline) -> String {
    let header =
        ["time", "objects", "clusters", "seen before", "moved", "events"].map(str::to_owned);
    let rows: Vec<Vec<String>> = (0..found.times.len())
        .map(|time| {
            let here = || found.clusters.iter().filter(|c| c.time == time);
            let sum = |of: fn(&consilience::pipeline::ClusterAt) -> usize| here().map(of).sum();
            let (objects, moved): (usize, usize) = (sum(|c| c.objects), sum(|c| c.moved_in));
            let stayed: usize = sum(|c| c.stayed);
            let events: Vec<String> = found
                .events
                .iter()
                .filter(|event| event.time == time)
                .map(|event| match &event.other {
                    Some(other) if event.event == EventKind::Split => {
                        format!("{} split off {other}", event.cluster)
                    }
                    Some(other) => format!("{} merged into {other}", event.cluster),
                    None => match event.event {
                        EventKind::Birth => format!("{} is new", event.cluster),
                        EventKind::Return => format!("{} is back", event.cluster),
                        _ => format!("{} is gone", event.cluster),
                    },
                })
                .collect();
            vec![
                output::named(&found.times[time]),
                count(objects),
                count(here().count()),
                count(stayed + moved),
                count(moved),
                output::named(&listed(&events, 6)),
            ]
        })
        .collect();
    let objects = counted(found.labels[0].len(), "object");
    let ids = counted(found.ids.len(), "cluster");
    format!("{}\n\n{objects}, {ids} in all", output::listing(&header, &rows))
}
