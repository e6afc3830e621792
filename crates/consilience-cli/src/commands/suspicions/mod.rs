//! What makes a table look wrong. Every rule is a judgement: it names its evidence and a way out.

use std::path::Path;

use consilience_io::looks::{holds_features, identifies, is_distinct, is_number, is_numeric};
use consilience_io::{InputError, RawColumn, RawTable};
use serde_json::{Value, json};

mod clusterings;
mod features;
mod together;

use crate::args::Kind;
use crate::output::{count, listed, named};
pub(super) use together::across;

/// Something that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// A short name of the rule.
    pub(super) rule: &'static str,
    file: String,
    problem: String,
    fix: String,
}

impl Finding {
    fn new(rule: &'static str, table: &RawTable, problem: String, fix: impl Into<String>) -> Self {
        Finding { rule, file: table.file.clone(), problem, fix: fix.into() }
    }

    /// A file that cannot be read; the error says what to do.
    pub(super) fn unreadable(path: &Path, error: &InputError) -> Self {
        let (problem, fix) = error.parts();
        Finding { rule: "unreadable", file: path.display().to_string(), problem, fix }
    }

    pub(super) fn told(&self) -> Value {
        json!({ "rule": self.rule, "file": self.file, "problem": self.problem, "fix": self.fix })
    }

    pub(super) fn shown(&self) -> String {
        if self.problem.starts_with(&self.file) {
            return format!("{}\n  fix: {}", self.problem, self.fix);
        }
        format!("{}: {}\n  fix: {}", self.file, self.problem, self.fix)
    }
}

/// How a column is quoted in messages.
fn quoted(column: &RawColumn) -> String {
    format!("`{}`", named(&column.name))
}

/// What looks wrong with one table, which holds what is said, or else what its columns say.
pub(super) fn of_table(
    table: &RawTable,
    id: Option<&str>,
    kind: Option<Kind>,
) -> (Kind, Vec<Finding>) {
    let mut found = Vec::new();
    if let Some(id) = id {
        if let Some(column) = table.columns.iter().find(|column| column.name == id) {
            found.extend(identifiers(table, column, true));
        } else {
            let names: Vec<String> = table.columns.iter().map(|c| named(&c.name)).collect();
            found.push(Finding::new(
                "no-id",
                table,
                format!("there is no column `{}`", named(id)),
                format!("name one of these by --id: {}", listed(&names, 8)),
            ));
        }
    }
    let data: Vec<&RawColumn> =
        table.columns.iter().filter(|column| Some(column.name.as_str()) != id).collect();
    let features = || holds_features(&data, table.rows);
    let taken_for = || if features() { Kind::Features } else { Kind::Clusterings };
    let kind = kind.unwrap_or_else(taken_for);
    if let Some(transposed) = transposed(table, &data) {
        // A table on its side has every other mistake too.
        found.push(transposed);
        return (kind, found);
    }
    found.extend(headless(table, &data));
    // Numbers may be meant as identifiers too; of texts it is told below.
    let is_id = |c: &&&RawColumn| c.name.eq_ignore_ascii_case("id") && !identifies(c);
    if let Some(column) = data.iter().find(is_id).filter(|_| id.is_none()) {
        found.extend(identifiers(table, column, true));
    }
    match kind {
        Kind::Features => found.extend(features::features(table, &data)),
        Kind::Clusterings => found.extend(clusterings::clusterings(table, &data)),
    }
    (kind, found)
}

/// One row per object means more rows than columns, in nearly all data.
fn transposed(table: &RawTable, data: &[&RawColumn]) -> Option<Finding> {
    let (rows, columns) = (table.rows, data.len());
    if columns < 20 || columns <= 3 * rows {
        return None;
    }
    let names = data.first().is_some_and(|first| !is_numeric(first) && is_distinct(first));
    let numeric = data.iter().filter(|column| is_numeric(column)).count();
    (names || (rows < 20 && 10 * numeric >= 9 * columns)).then(|| {
        Finding::new(
            "transposed",
            table,
            format!(
                "{} rows and {} columns look like a table on its side: one row per object is expected",
                count(rows),
                count(columns)
            ),
            "write the table with rows and columns exchanged",
        )
    })
}

/// Headers that are values of their own columns are data.
fn headless(table: &RawTable, data: &[&RawColumn]) -> Option<Finding> {
    let header_is_value = |column: &&&RawColumn| column.values.contains(&column.name);
    let all_numbers = data.iter().all(|column| is_number(&column.name));
    let same = data.iter().filter(header_is_value).count();
    let suspicious = table.named && !data.is_empty() && (all_numbers || 2 * same > data.len());
    suspicious.then(|| {
        let names: Vec<String> = data.iter().map(|column| named(&column.name)).collect();
        Finding::new(
            "no-header",
            table,
            format!("the first line looks like data, not like names: {}", listed(&names, 4)),
            "give --no-header",
        )
    })
}

/// Identifiers that stand in several rows; unless it is `sure` that they are some, they seem to be.
fn identifiers(table: &RawTable, column: &RawColumn, sure: bool) -> Option<Finding> {
    let mut times = vec![0usize; column.values.len()];
    column.cells.iter().flatten().for_each(|&value| times[value] += 1);
    let twice: Vec<String> = (0..times.len())
        .filter(|&value| times[value] > 1)
        .map(|value| format!("`{}`", named(&column.values[value])))
        .collect();
    (!twice.is_empty()).then(|| {
        Finding::new(
            "duplicate-ids",
            table,
            format!(
                "column {} {}, but {} in several rows: {}",
                quoted(column),
                if sure { "identifies objects" } else { "seems to identify objects" },
                if twice.len() == 1 {
                    "one identifier stands".to_owned()
                } else {
                    format!("{} identifiers stand", count(twice.len()))
                },
                listed(&twice, 4)
            ),
            if sure {
                "make identifiers differ, or remove the rows that are there twice".to_owned()
            } else {
                format!(
                    "make them differ and give --id '{0}', or leave the column out with --drop '{0}'",
                    named(&column.name)
                )
            },
        )
    })
}

/// Columns that say the same as an earlier one.
fn twins(
    table: &RawTable,
    columns: &[&&RawColumn],
    rule: &'static str,
    same: impl Fn(&RawColumn, &RawColumn) -> bool,
) -> Option<Finding> {
    let mut pairs = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        if let Some(first) = columns[..i].iter().find(|earlier| same(earlier, column)) {
            pairs.push((*first, *column));
        }
    }
    let (first, second) = pairs.first()?;
    let more = if pairs.len() > 1 {
        format!(" ({} such pairs)", count(pairs.len()))
    } else {
        String::new()
    };
    let what = if rule == "duplicate-members" {
        "are the same clustering"
    } else {
        "hold the same values"
    };
    Some(Finding::new(
        rule,
        table,
        format!("columns {} and {} {what}{more}: they count twice", quoted(first), quoted(second)),
        format!("if that is not meant, leave one out with --drop '{}'", named(&second.name)),
    ))
}
