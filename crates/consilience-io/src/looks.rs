//! What the columns of a table look like: identifiers, measurements, labels. Judgements by eye, shared by those
//! who tell what looks wrong and those who have to choose when nobody told them.

use super::raw::RawColumn;

/// Whether a text is a finite number.
pub fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The number that a text is, also one whose decimals are written with a comma.
pub fn number(text: &str) -> Option<f64> {
    let point = text.replacen(',', ".", 1);
    text.parse().or_else(|_| point.parse()).ok().filter(|x: &f64| !x.is_nan())
}

/// Whether most values are meant as numbers, whatever else is wrong with them.
pub fn is_numberlike(column: &RawColumn) -> bool {
    let numbers = column.values.iter().filter(|value| number(value).is_some()).count();
    numbers > 0 && 2 * numbers >= column.values.len()
}

/// Whether all values are numbers.
pub fn is_numeric(column: &RawColumn) -> bool {
    !column.values.is_empty() && column.values.iter().all(|value| is_number(value))
}

/// Whether some value is a number that is not whole.
pub fn is_measured(column: &RawColumn) -> bool {
    let fraction = |value: &String| value.parse::<f64>().is_ok_and(|x| x.fract() != 0.0);
    is_numeric(column) && column.values.iter().any(fraction)
}

/// Whether a name is one that identifiers have.
pub fn is_id_name(name: &str) -> bool {
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
pub fn is_distinct(column: &RawColumn) -> bool {
    column.values.len() == column.cells.len() && column.missing() == 0
}

/// Whether texts tell rows apart, most of them at least.
pub fn identifies(column: &RawColumn) -> bool {
    let (values, labelled) = (column.values.len(), column.cells.len() - column.missing());
    let most =
        if is_id_name(&column.name) { 3 * values >= labelled } else { 2 * values > labelled };
    !is_numberlike(column) && (is_distinct(column) || (labelled >= 5 && most))
}

/// Whether a column is taken for the identifiers of the rows if nobody names one: texts, or numbers
/// under a name that identifiers have, of which every row has its own.
pub fn names_rows(column: &RawColumn) -> bool {
    // A few values may well differ.
    const ENOUGH: usize = 4;
    let whole = |value: &String| value.parse::<i64>().is_ok();
    let numbers = || is_id_name(&column.name) && column.values.iter().all(whole);
    column.cells.len() >= ENOUGH && is_distinct(column) && (identifies(column) || numbers())
}

/// Whether a table probably holds features, and not clusterings.
pub fn holds_features(columns: &[&RawColumn], rows: usize) -> bool {
    let soft = columns.iter().any(|column| column.name.contains(':') && is_numeric(column));
    let fraction = |value: &String| number(value).is_some_and(|x| x.fract() != 0.0);
    let many = |column: &RawColumn| {
        column.values.iter().any(fraction) || column.values.len() > rows.div_ceil(2)
    };
    let measured = columns.iter().filter(|column| is_numberlike(column) && many(column)).count();
    // What identifies rows is neither.
    let others = columns.iter().filter(|column| !identifies(column)).count();
    !soft && measured > 0 && 2 * measured >= others
}
