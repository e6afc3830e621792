//! Columns that are hardly features.

use consilience::pipeline::may_be_classes;
use consilience_io::looks::{identifies, is_distinct, is_id_name, is_numeric, number};
use consilience_io::{RawColumn, RawTable};

use super::{Finding, identifiers, quoted, twins};
use crate::output::{count, counted, listed, named};

/// What looks wrong with features.
pub(super) fn features(table: &RawTable, data: &[&RawColumn]) -> Vec<Finding> {
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
        && may_be_classes(name, high - low + 1.0)
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
fn whole(column: &RawColumn) -> Option<(f64, f64)> {
    let number = |value: &String| value.parse().ok().filter(|x: &f64| x.fract() == 0.0);
    let numbers = column.values.iter().map(number).collect::<Option<Vec<f64>>>()?;
    let first = *numbers.first()?;
    Some(numbers.iter().fold((first, first), |(low, high), &x| (low.min(x), high.max(x))))
}

/// Whether a column has the whole numbers from one to another, each once, in any order; a few must begin
/// with 0 or 1. Or whole numbers that all differ under a name that identifiers have.
fn is_counter(column: &RawColumn) -> bool {
    let n = column.cells.len();
    let Some((low, high)) = whole(column).filter(|_| is_distinct(column) && n >= 5) else {
        return false;
    };
    let begins = n >= 10 || low == 0.0 || low == 1.0;
    (begins && high - low == (n - 1) as f64) || is_id_name(&column.name)
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
