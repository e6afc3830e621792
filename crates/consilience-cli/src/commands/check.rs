//! `consilience check FILE...`: what looks wrong before a run, each with what to do.

use consilience_io::{RawTable, ReadOptions, naming_column, read_raw};
use serde_json::json;

use super::suspicions::{Finding, across, of_table};
use crate::args::{CheckArgs, Common, Kind};
use crate::errors::data;
use crate::output;
use crate::session::Session;

pub(super) fn run(args: &CheckArgs, common: &Common) -> anyhow::Result<()> {
    let session = Session::new(common);
    let options = ReadOptions {
        id: args.id.clone(),
        missing: args.missing.clone(),
        decimal_comma: args.decimal.as_deref() == Some(","),
        drop: args.drop.clone(),
        no_header: args.no_header,
        ..ReadOptions::default()
    };
    let mut findings = Vec::new();
    let (mut tables, mut kinds, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for path in &args.files {
        match read_raw(path, &options, &session.run) {
            Ok(mut table) => {
                let names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
                let dropped: Vec<&str> = options.dropped(&names).collect();
                let unused = |name: &String| {
                    dropped.contains(&name.as_str()) || args.truth.as_ref() == Some(name)
                };
                table.columns.retain(|column| !unused(&column.name));
                let guessed =
                    naming_column(&table, &options).filter(|_| args.id.is_none() && table.named);
                let id = args.id.as_ref().or(guessed.as_ref()).map(String::as_str);
                let (kind, found) = of_table(&table, id, args.kind);
                ids.push(guessed);
                findings.extend(found);
                kinds.push(kind);
                tables.push(table);
            }
            // Cancelling and memory are nobody's mistake.
            Err(error) if error.library().is_some() => return Err(error.into()),
            Err(error) => findings.push(Finding::unreadable(path, &error)),
        }
    }
    findings.extend(across(&tables, args.id.as_deref()));
    session.progress.clear();
    let files = output::counted(args.files.len(), "file");
    if session.json {
        let told: Vec<_> = findings.iter().map(Finding::told).collect();
        let tables = tables.iter().zip(&kinds).map(|(table, kind)| {
            json!({ "file": table.file, "kind": kind.name(), "assumed": args.kind.is_none(), "rows": table.rows })
        });
        output::json(&json!({
            "schema": 1,
            "clean": told.is_empty(),
            "tables": tables.collect::<Vec<_>>(),
            "findings": told,
        }))?;
    } else {
        let assumed = tables.iter().zip(&kinds).filter(|_| args.kind.is_none());
        let mut lines: Vec<String> = assumed.map(|(table, kind)| taken_for(table, *kind)).collect();
        let named = tables.iter().zip(&ids).filter_map(|(table, id)| Some((table, id.as_ref()?)));
        lines.extend(named.map(|(table, id)| {
            format!("{}: column `{}` identifies the rows", table.file, output::named(id))
        }));
        lines.extend(findings.iter().map(Finding::shown));
        if findings.is_empty() {
            lines.push(format!("nothing looks wrong in {files}"));
        }
        output::text(&lines.join("\n"))?;
    }
    match findings.len() {
        0 => Ok(()),
        1 => Err(data(format!("1 thing looks wrong in {files}"))),
        some => Err(data(format!("{some} things look wrong in {files}"))),
    }
}

/// What a table was taken for, as nobody said it.
fn taken_for(table: &RawTable, kind: Kind) -> String {
    let other = match kind {
        Kind::Features => Kind::Clusterings,
        Kind::Clusterings => Kind::Features,
    };
    let rows = output::counted(table.rows, "row");
    let (file, kind, other) = (&table.file, kind.name(), other.name());
    format!("{file}: taken for a table of {kind}, {rows}; if it holds {other}, give --as {other}")
}
