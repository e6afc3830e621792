//! `consilience reproduce [TABLE...]`.

use std::collections::BTreeMap;
use std::time::Instant;

use consilience_io::{Stage, Target, write_text};
use serde_json::json;

use super::folder::Taken;
use crate::args::{Common, ReproduceArgs};
use crate::errors::usage;
use crate::output;
use crate::reproduce::{
    Experiment, JOURNAL, Journal, Protocol, Scope, Table, csv, experiments, judge, markdown, page,
    run_all, statements_markdown,
};
use crate::session::Session;
use crate::signals;

/// The files that are written.
const FILES: [&str; 4] = ["tables.md", "cells.csv", "result.json", "index.html"];

pub(super) fn run(args: &ReproduceArgs, common: &Common) -> anyhow::Result<()> {
    let chosen = chosen(args)?;
    if args.list {
        return list(&chosen, common.json);
    }
    if args.runs == Some(0) {
        return Err(usage("--runs 0 would measure nothing: at least 1"));
    }
    let both = [Protocol::AsPrinted, Protocol::Fair];
    let protocols: Vec<Protocol> =
        both.into_iter().filter(|p| args.protocol.is_none_or(|only| only == *p)).collect();
    let scope = Scope {
        experiments: &chosen,
        protocols: &protocols,
        runs: args.runs,
        data: args.data.as_deref(),
    };
    // What a folder with a journal holds is of an earlier command, which this one goes on from.
    let ours = args.output.join(JOURNAL).exists();
    let foreign = FILES.iter().map(|name| args.output.join(name)).find(|path| path.exists());
    if let Some(path) = foreign.filter(|_| !ours && !args.force) {
        return Err(usage(format!(
            "{} is there already, from something else: give another folder, or --force to replace it",
            path.display()
        )));
    }
    let session = Session::new(common);
    let clock = Instant::now();
    signals::computing();
    let _taken = Taken::new(&args.output)?;
    let journal = Journal::open(&args.output, args.fresh)?;
    let result =
        if args.finished { Ok(BTreeMap::new()) } else { run_all(&scope, &journal, &session.run) };
    session.progress.clear();
    let missing = result.inspect_err(|_| {
        output::note("finished cells are kept: the same command goes on from there");
    })?;
    for (set, reason) in &missing {
        output::note(&format!("left out: {set}: {reason}"));
    }

    let tables = Table::all(&scope, &journal, session.run.seed(), &missing);
    let judged = judge(&tables);
    let text = statements_markdown(&tables, &judged) + &markdown(&tables);
    let told: Vec<_> = tables.iter().map(Table::told).collect();
    let all = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "seed": session.run.seed(),
        "tables": told,
        "statements": judged,
        "left_out": missing,
    });
    let contents = [text.clone(), csv(&tables), format!("{all:#}\n"), page(&tables, &judged)];
    let stage = Stage::default();
    for (name, content) in FILES.iter().zip(&contents) {
        write_text(&Target::new(args.output.join(name))?.on(&stage), content)?;
    }
    stage.commit()?;
    if session.json {
        return output::json(&all);
    }
    let seconds = clock.elapsed().as_secs_f64();
    output::text(&format!(
        "{text}\n{} in {seconds:.0} s ({:.0} s of one thread in all); written to {}: {}",
        output::counted(tables.len(), "table"),
        journal.seconds(),
        args.output.display(),
        FILES.join(", ")
    ))
}

/// The experiments that were asked for, with the columns that were asked for.
fn chosen(args: &ReproduceArgs) -> anyhow::Result<Vec<Experiment>> {
    let mut all = experiments()?;
    for name in &args.tables {
        if !all.iter().any(|e| e.id.starts_with(name.as_str())) {
            return Err(usage(format!(
                "there is no table `{name}`: `consilience reproduce --list` names them"
            )));
        }
    }
    if !args.tables.is_empty() {
        // A whole name means that table alone, though others may begin alike.
        let wanted = |id: &str| {
            let exact = |name: &String| all_ids().any(|id| id == *name);
            args.tables
                .iter()
                .any(|name| if exact(name) { id == name } else { id.starts_with(name) })
        };
        all.retain(|e| wanted(&e.id));
    }
    if !args.methods.is_empty() {
        for experiment in &mut all {
            let keep: Vec<bool> =
                experiment.columns.iter().map(|c| args.methods.contains(&c.method)).collect();
            let mut kept = keep.iter();
            experiment.columns.retain(|_| *kept.next().expect("one a column"));
            for row in &mut experiment.rows {
                for figures in row.published.values_mut() {
                    let mut kept = keep.iter();
                    figures.retain(|_| *kept.next().expect("one a column"));
                }
            }
        }
        all.retain(|e| !e.columns.is_empty());
        if all.is_empty() {
            return Err(usage("none of these tables has a column of these methods"));
        }
    }
    if !args.sets.is_empty() {
        for experiment in &mut all {
            experiment.rows.retain(|row| args.sets.contains(&row.set));
        }
        all.retain(|e| !e.rows.is_empty());
        if all.is_empty() {
            return Err(usage("none of these tables has a row of these data sets"));
        }
    }
    Ok(all)
}

fn all_ids() -> impl Iterator<Item = String> {
    experiments().into_iter().flatten().map(|e| e.id)
}

fn list(all: &[Experiment], json: bool) -> anyhow::Result<()> {
    if json {
        let rows = all.iter().map(|e| {
            json!({ "id": e.id, "paper": e.paper, "title": e.title, "rows": e.rows.len(), "runs": e.runs })
        });
        return output::json(&json!({ "schema": 1, "tables": rows.collect::<Vec<_>>() }));
    }
    let header = ["table", "rows", "runs", "", ""].map(str::to_owned);
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|e| {
            let authors = e.paper.split(", ").next().unwrap_or_default().to_owned();
            vec![
                e.id.clone(),
                e.rows.len().to_string(),
                e.runs.to_string(),
                e.title.clone(),
                authors,
            ]
        })
        .collect();
    output::text(&output::listing(&header, &rows))
}
