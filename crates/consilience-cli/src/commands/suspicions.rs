//! What makes a table look wrong. Every rule is a judgement: it names its evidence and a way out.

use std::collections::BTreeSet;
use std::path::Path;

use consilience::pipeline::may_be_classes;
use consilience_io::{InputError, RawColumn, RawTable, rounding};
use serde_json::{Value, json};

use crate::args::Kind;
use crate::output::{count, counted, listed, named};

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

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The number that a text is, also one whose decimals are written with a comma.
fn number(text: &str) -> Option<f64> {
    let point = text.replacen(',', ".", 1);
    text.parse().or_else(|_| point.parse()).ok().filter(|x: &f64| !x.is_nan())
}

/// Whether most values are meant as numbers, whatever else is wrong with them.
fn is_numberlike(column: &RawColumn) -> bool {
    let numbers = column.values.iter().filter(|value| number(value).is_some()).count();
    numbers > 0 && 2 * numbers >= column.values.len()
}

/// Whether all values are numbers.
fn is_numeric(column: &RawColumn) -> bool {
    !column.values.is_empty() && column.values.iter().all(|value| is_number(value))
}

/// Whether some value is a number that is not whole.
fn is_measured(column: &RawColumn) -> bool {
    let fraction = |value: &String| value.parse::<f64>().is_ok_and(|x| x.fract() != 0.0);
    is_numeric(column) && column.values.iter().any(fraction)
}

/// Whether a name is one that identifiers have.
fn is_id_name(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "id",
        "ids",
        "index",
        "key",
        "name",
        "sample",
        "sample_id",
        "object",
        "row",
        "barcode",
        "cell",
        "patient",
        "gene",
        "unnamed: 0",
    ];
    let name = name.trim().to_lowercase();
    NAMES.contains(&name.as_str())
        || name.ends_with("_id")
        || name.ends_with(" id")
        || name.is_empty()
}

/// Whether every row has a value of its own.
fn is_distinct(column: &RawColumn) -> bool {
    column.values.len() == column.cells.len() && column.missing() == 0
}

/// Whether texts tell rows apart, most of them at least.
fn identifies(column: &RawColumn) -> bool {
    let (values, labelled) = (column.values.len(), column.cells.len() - column.missing());
    let most =
        if is_id_name(&column.name) { 3 * values >= labelled } else { 2 * values > labelled };
    !is_numberlike(column) && (is_distinct(column) || (labelled >= 5 && most))
}

/// What a table probably holds.
fn kind_of(columns: &[&RawColumn], rows: usize) -> Kind {
    let soft = columns.iter().any(|column| column.name.contains(':') && is_numeric(column));
    let fraction = |value: &String| number(value).is_some_and(|x| x.fract() != 0.0);
    let many = |column: &RawColumn| {
        column.values.iter().any(fraction) || column.values.len() > rows.div_ceil(2)
    };
    let measured = columns.iter().filter(|column| is_numberlike(column) && many(column)).count();
    // What identifies rows is neither.
    let others = columns.iter().filter(|column| !identifies(column)).count();
    if !soft && measured > 0 && 2 * measured >= others { Kind::Features } else { Kind::Clusterings }
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
    let kind = kind.unwrap_or_else(|| kind_of(&data, table.rows));
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
        Kind::Features => found.extend(features(table, &data)),
        Kind::Clusterings => found.extend(clusterings(table, &data)),
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

fn features(table: &RawTable, data: &[&RawColumn]) -> Vec<Finding> {
    let mut found = Vec::new();
    for column in data {
        found.extend(feature(table, column));
    }
    let numeric: Vec<&&RawColumn> = data.iter().filter(|column| is_numeric(column)).collect();
    found.extend(twins(table, &numeric, "duplicate-columns", |a, b| {
        a.cells == b.cells && a.values == b.values
    }));
    found
}

fn feature(table: &RawTable, column: &RawColumn) -> Option<Finding> {
    let name = &column.name;
    let drop = format!("leave it out with --drop '{}'", named(name));
    if column.values.is_empty() {
        return Some(Finding::new(
            "all-missing",
            table,
            format!("column {} is empty", quoted(column)),
            drop,
        ));
    }
    if column.values.iter().all(|value| number(value).is_none()) {
        if identifies(column) && !is_distinct(column) {
            return identifiers(table, column, false);
        }
        let (problem, fix) = if is_distinct(column) {
            (
                "has a different text in every row: an identifier?",
                format!("give --id '{}'", named(name)),
            )
        } else {
            (
                "is text from few values: known classes?",
                format!("give --truth '{0}' to score by it, or --drop '{0}'", named(name)),
            )
        };
        let problem = format!("column {} {problem}", quoted(column));
        return Some(Finding::new("text-column", table, problem, fix));
    }
    if let Some(wrong) = no_numbers(table, column) {
        return Some(wrong);
    }
    if column.values.len() == 1 {
        let problem = format!("column {} has the same value in every row", quoted(column));
        return Some(Finding::new("constant-column", table, problem, drop));
    }
    if is_counter(column) {
        let problem =
            format!("column {} counts the rows: an identifier read as a feature", quoted(column));
        let fix = format!("give --id '{0}', or --drop '{0}'", named(name));
        return Some(Finding::new("id-as-feature", table, problem, fix));
    }
    if let Some((low, high)) = whole(column)
        && may_be_classes(name, (high - low) as f64 + 1.0)
    {
        let problem = format!("column {} may hold known classes", quoted(column));
        let fix = format!("give --truth '{0}' to score by it, or --drop '{0}'", named(name));
        return Some(Finding::new("class-as-feature", table, problem, fix));
    }
    if let Some((token, times)) = placeholder(column) {
        return Some(Finding::new(
            "placeholder",
            table,
            format!(
                "{} cells of column {} are {token}, far from all others: a missing value?",
                count(times),
                quoted(column)
            ),
            format!("if so, give --missing {token} and --impute mean"),
        ));
    }
    (column.missing() > 0).then(|| {
        Finding::new(
            "missing-values",
            table,
            format!(
                "{} of {} of column {} {} missing",
                count(column.missing()),
                counted(table.rows, "cell"),
                quoted(column),
                if column.missing() == 1 { "is" } else { "are" }
            ),
            "fill them in, or give --impute mean or --impute median",
        )
    })
}

/// Values among numbers that are none, or none to compute with.
fn no_numbers(table: &RawTable, column: &RawColumn) -> Option<Finding> {
    let name = quoted(column);
    // Squares of larger ones are no numbers.
    let fits = |value: &&String| value.parse::<f64>().is_ok_and(|x| x.abs() <= 1e150);
    let odd: Vec<&String> = column.values.iter().filter(|value| !fits(value)).collect();
    let first = *odd.first()?;
    let comma = odd.iter().filter(|value| value.contains(',') && number(value).is_some());
    if 2 * comma.count() >= odd.len() {
        let problem =
            format!("column {name} has decimals with a comma, such as `{}`", named(first));
        return Some(Finding::new("decimal-comma", table, problem, "give --decimal ,"));
    }
    let listed_odd: Vec<String> = odd.iter().map(|value| format!("`{}`", named(value))).collect();
    let (rule, problem) = if odd.iter().all(|value| number(value).is_some()) {
        ("not-finite", "has values that are infinite or above 1e150")
    } else {
        ("not-a-number", "is numbers but for some values")
    };
    let missing: Vec<String> =
        odd.iter().take(4).map(|value| format!("--missing '{}'", named(value))).collect();
    Some(Finding::new(
        rule,
        table,
        format!("column {name} {problem}: {}", listed(&listed_odd, 4)),
        format!(
            "correct them, or, if they stand for missing values, give {} --impute mean",
            missing.join(" ")
        ),
    ))
}

/// The least and the largest of a column of whole numbers.
fn whole(column: &RawColumn) -> Option<(i128, i128)> {
    let numbers = column.values.iter().map(|value| value.parse::<i64>().ok().map(i128::from));
    let numbers = numbers.collect::<Option<Vec<i128>>>()?;
    Some((*numbers.iter().min()?, *numbers.iter().max()?))
}

/// Whether a column has the whole numbers from one to another, each once, in any order; a few must begin
/// with 0 or 1. Or whole numbers that all differ under a name that identifiers have.
fn is_counter(column: &RawColumn) -> bool {
    let n = column.cells.len();
    let Some((low, high)) = whole(column).filter(|_| is_distinct(column) && n >= 5) else {
        return false;
    };
    let begins = n >= 10 || (0..=1).contains(&low);
    (begins && high - low == n as i128 - 1) || is_id_name(&column.name)
}

/// A value such as -999 or 9999 that stands in several rows and far outside of all others.
fn placeholder(column: &RawColumn) -> Option<(String, usize)> {
    let mut numbers: Vec<(f64, usize)> = column
        .values
        .iter()
        .enumerate()
        .filter_map(|(i, value)| Some((value.parse().ok()?, i)))
        .collect();
    if numbers.len() < 4 {
        return None;
    }
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = numbers.len() - 1;
    let nines = |text: &str| {
        let digits = text.trim_start_matches('-');
        let digits = digits.strip_suffix(".0").unwrap_or(digits);
        digits.len() >= 2 && digits.chars().all(|c| c == '9')
    };
    for (end, from, to) in [(0, 1, last), (last, 0, last - 1)] {
        let (value, at) = numbers[end];
        let spread = numbers[to].0 - numbers[from].0;
        let gap = (value - numbers[if end == 0 { from } else { to }].0).abs();
        let times = column.cells.iter().filter(|cell| **cell == Some(at)).count();
        if nines(&column.values[at]) && gap > 3.0 * spread && times >= 2 {
            return Some((column.values[at].clone(), times));
        }
    }
    None
}

fn clusterings(table: &RawTable, data: &[&RawColumn]) -> Vec<Finding> {
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
            ("singletons", "every object is a cluster of its own, which says nothing", drop)
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
        return Some(Finding::new("measurements", table, problem, drop));
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

/// What looks wrong with tables that are to be used together.
pub(super) fn across(tables: &[RawTable], id: Option<&str>) -> Vec<Finding> {
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
