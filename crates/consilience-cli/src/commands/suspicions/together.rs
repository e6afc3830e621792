//! Tables that hardly fit together.

use std::collections::BTreeSet;

use consilience_io::looks::{is_distinct, is_id_name, is_numeric};
use consilience_io::{RawColumn, RawTable};

use super::{Finding, quoted};
use crate::output::{count, counted, named};

/// What looks wrong with tables that are to be used together.
pub(in crate::commands) fn across(tables: &[RawTable], id: Option<&str>) -> Vec<Finding> {
    let Some((first, others)) = tables.split_first() else { return Vec::new() };
    others.iter().filter_map(|other| together(first, other, id)).collect()
}

fn together(first: &RawTable, other: &RawTable, id: Option<&str>) -> Option<Finding> {
    fn column<'a>(table: &'a RawTable, name: &str) -> Option<&'a RawColumn> {
        table.columns.iter().find(|column| column.name == name)
    }
    let set = |column: &RawColumn| column.values.iter().cloned().collect::<BTreeSet<_>>();
    if let Some(id) = id {
        let (a, b) = (set(column(first, id)?), set(column(other, id)?));
        let common = a.intersection(&b).count();
        return (2 * common < a.len().min(b.len())).then(|| {
            Finding::new(
                "few-common-ids",
                other,
                format!(
                    "only {} of its {} identifiers are in {} too",
                    count(common),
                    count(b.len()),
                    first.file
                ),
                "check that both identify objects in the same way (spaces, prefixes, leading zeros)",
            )
        });
    }
    if first.rows != other.rows {
        return Some(Finding::new(
            "row-counts",
            other,
            format!(
                "it has {}, but {} has {}",
                counted(other.rows, "row"),
                first.file,
                count(first.rows)
            ),
            "give --id COLUMN to join the files by an identifier",
        ));
    }
    // Identifiers of the same objects in another order.
    let shared =
        first.columns.iter().filter(|c| is_distinct(c) && (is_id_name(&c.name) || !is_numeric(c)));
    let mut pairs = shared.filter_map(|a| Some((a, column(other, &a.name)?)));
    let (a, _) = pairs
        .find(|(a, b)| set(a) == set(b) && (0..first.rows).any(|row| a.cell(row) != b.cell(row)))?;
    Some(Finding::new(
        "other-order",
        other,
        format!(
            "its rows stand in another order than those of {} (by column {})",
            first.file,
            quoted(a)
        ),
        format!("give --id '{}' to join the files by it", named(&a.name)),
    ))
}
