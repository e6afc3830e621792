//! Columns that are hardly clusterings, and memberships that cannot be some.

use std::collections::BTreeSet;

use consilience_io::looks::{identifies, is_distinct, is_id_name, is_measured, is_numeric};
use consilience_io::{RawColumn, RawTable, rounding};

use super::{Finding, identifiers, quoted, twins};
use crate::output::{count, counted, listed, named};

/// What looks wrong with clusterings.
pub(super) fn clusterings(table: &RawTable, data: &[&RawColumn]) -> Vec<Finding> {
    let mut found = Vec::new();
    let (soft, hard): (Vec<&RawColumn>, Vec<&RawColumn>) =
        data.iter().partition(|column| column.name.contains(':') && is_numeric(column));
    for column in &hard {
        found.extend(clustering(table, column));
    }
    found.extend(spelled_missing(table, &hard));
    let members: Vec<&&RawColumn> =
        hard.iter().filter(|c| c.values.len() > 1 && !is_distinct(c)).collect();
    // Codes are numbered by first appearance: equal partitions have equal codes.
    found.extend(twins(table, &members, "duplicate-members", |a, b| a.cells == b.cells));
    found.extend(memberships(table, &soft));
    found
}

fn clustering(table: &RawTable, column: &RawColumn) -> Option<Finding> {
    let drop = format!("leave it out with --drop '{}'", named(&column.name));
    let meant_run = || {
        format!(
            "if this is a table of features, `consilience run` takes it, and --as features checks it; if not, {drop}"
        )
    };
    let labelled = table.rows - column.missing();
    if labelled == 0 {
        let problem = format!("column {} has no label at all", quoted(column));
        return Some(Finding::new("all-missing", table, problem, drop));
    }
    if table.rows >= 5 && column.values.len() == labelled && labelled > 1 {
        let text = !is_numeric(column) || is_id_name(&column.name);
        let (rule, problem, fix) = if text {
            (
                "id-as-label",
                "an identifier read as a clustering?",
                format!("give --id '{0}', or --drop '{0}'", named(&column.name)),
            )
        } else {
            ("singletons", "every object is a cluster of its own, which says nothing", meant_run())
        };
        let problem =
            format!("in column {} no two objects share a label: {problem}", quoted(column));
        return Some(Finding::new(rule, table, problem, fix));
    }
    if identifies(column) {
        return identifiers(table, column, false);
    }
    if column.values.len() == 1 {
        let problem = format!(
            "column {} puts all objects into one cluster, which says nothing",
            quoted(column)
        );
        return Some(Finding::new("constant-member", table, problem, drop));
    }
    if is_measured(column) {
        let problem = format!(
            "column {} has measurements, not labels, such as {}",
            quoted(column),
            named(&column.values[0])
        );
        return Some(Finding::new("measurements", table, problem, meant_run()));
    }
    (2 * column.missing() > table.rows).then(|| {
        Finding::new(
            "mostly-missing",
            table,
            format!(
                "column {} labels only {} of {}",
                quoted(column),
                count(labelled),
                counted(table.rows, "object")
            ),
            format!("check that it belongs to these objects, or {drop}"),
        )
    })
}

/// Labels that are words for "missing", each with the columns that it stands in.
fn spelled_missing(table: &RawTable, hard: &[&RawColumn]) -> Vec<Finding> {
    const WORDS: [&str; 11] =
        ["n/a", "#n/a", "n.a.", "null", "nil", "none", "missing", "?", "-", "--", "."];
    let means = |value: &&String| WORDS.contains(&value.trim().to_lowercase().as_str());
    let values: BTreeSet<&String> =
        hard.iter().flat_map(|column| column.values.iter().filter(means)).collect();
    let found = values.into_iter().map(|value| {
        let with = hard.iter().filter(|column| column.values.contains(value));
        let columns: Vec<String> = with.map(|column| quoted(column)).collect();
        Finding::new(
            "missing-as-label",
            table,
            format!(
                "`{}` is a label in {} {}: a missing label?",
                named(value),
                if columns.len() == 1 { "column" } else { "columns" },
                listed(&columns, 4)
            ),
            format!("if so, give --missing '{}'", named(value)),
        )
    });
    found.collect()
}

/// Rows of memberships that are negative or do not sum to 1.
fn memberships(table: &RawTable, soft: &[&RawColumn]) -> Vec<Finding> {
    let member = |column: &RawColumn| {
        column.name.rsplit_once(':').map_or(String::new(), |(m, _)| m.to_owned())
    };
    let members: BTreeSet<String> = soft.iter().map(|column| member(column)).collect();
    let mut found = Vec::new();
    for name in members {
        let columns: Vec<_> = soft.iter().filter(|column| member(column) == name).collect();
        let sum = |row: usize| -> f64 {
            columns.iter().filter_map(|c| c.cell(row)?.parse::<f64>().ok()).sum()
        };
        let values = columns.iter().flat_map(|c| c.values.iter().filter_map(|v| v.parse().ok()));
        let slack = rounding(&values.collect::<Vec<f64>>(), columns.len()) * (1.0 + 1e-6);
        let wrong = (0..table.rows).filter(|&row| {
            let sum = sum(row);
            sum != 0.0 && (sum - 1.0).abs() > slack
        });
        let wrong: Vec<usize> = wrong.collect();
        let negative = columns.iter().find_map(|column| {
            let of = |row: &usize| column.cell(*row).and_then(|cell| cell.parse::<f64>().ok());
            let row = (0..table.rows).find(|row| of(row).is_some_and(|x| x < 0.0))?;
            Some((row, column, column.cell(row)?))
        });
        if let Some((row, column, value)) = negative {
            found.push(Finding::new(
                "memberships",
                table,
                format!(
                    "column {} has a negative membership, {} in row {row} (counted from 0)",
                    quoted(column),
                    named(value)
                ),
                "correct it: memberships are between 0 and 1",
            ));
        } else if let Some(&first) = wrong.first() {
            found.push(Finding::new(
                "memberships",
                table,
                format!(
                    "in {} the memberships of clustering `{}` do not sum to 1; the first, row {first} \
                     (counted from 0), sums to {:.4}",
                    counted(wrong.len(), "row"),
                    named(&name),
                    sum(first)
                ),
                "divide each row by its sum, or mend what is missing",
            ));
        }
    }
    found
}
