//! What is said on stdout and stderr, and how numbers and tables look there.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{CellAlignment, Table, presets};
use consilience::Run;
use serde_json::Value;

pub(crate) use consilience::words::{count, counted, listed, named};

use consilience_io::{Cells, Target, write_table};

/// Whether the line of JSON has been printed.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Prints `json` as the one line that is the whole of stdout.
pub(crate) fn json(json: &Value) -> anyhow::Result<()> {
    TOLD.store(true, Ordering::Relaxed);
    text(&json.to_string())
}

/// Whether [`json`] has been called: what else there is to say goes to stderr only.
pub(crate) fn has_told() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// Prints `text` and a line end to stdout.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n'))?;
    Ok(out.flush()?)
}

/// Says something to the user, on stderr.
pub(crate) fn note(text: &str) {
    // Whoever closed stderr does not want to hear.
    let _ = writeln!(anstream::stderr(), "{}", text.trim_end_matches('\n'));
}

/// A table on stdout: one row a name, one column a header. Aligned and rounded for people on a
/// terminal, CSV with all digits for programs otherwise.
pub(crate) fn table(
    header: &[String],
    names: &[String],
    values: &[Vec<f64>],
    run: &Run,
) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        // Columns of whole numbers are counts.
        let shown = |(j, value): (usize, &f64)| {
            let whole = values.iter().all(|row| row[j].fract() == 0.0 && row[j].abs() > 1.0);
            if whole { format!("{value}") } else { format!("{value:.4}") }
        };
        let rows = names.iter().zip(values).map(|(name, row)| {
            std::iter::once(name.clone()).chain(row.iter().enumerate().map(shown)).collect()
        });
        return text(&aligned(header, &rows.collect::<Vec<_>>()));
    }
    let mut columns = vec![(header[0].clone(), Cells::Text(names.into()))];
    for (j, name) in header.iter().enumerate().skip(1) {
        let column: Vec<f64> = values.iter().map(|row| row[j - 1]).collect();
        columns.push((name.clone(), Cells::Numbers(column.into())));
    }
    Ok(write_table(&Target::stdout(), &columns, run)?)
}

/// A table of numbers for people: the first column to the left, the others to the right.
pub(crate) fn aligned(header: &[String], rows: &[Vec<String>]) -> String {
    columns(header, rows, CellAlignment::Right)
}

/// A table of words for people: all columns to the left.
pub(crate) fn listing(header: &[String], rows: &[Vec<String>]) -> String {
    columns(header, rows, CellAlignment::Left)
}

fn columns(header: &[String], rows: &[Vec<String>], alignment: CellAlignment) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for (j, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if j > 0 {
            column.set_cell_alignment(alignment);
        }
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Facts under their names, the names in a column of their own:
///
/// ```text
/// data       150 objects, 4 features
/// consensus  3 clusters
///            of 62, 50, 38 objects
/// ```
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, fact) in facts {
        for (i, line) in fact.lines().enumerate() {
            let name = if i == 0 { name } else { "" };
            lines.push(format!("{name:<width$}  {line}"));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_numbers_to_the_right() {
        let header = ["name", "nmi"].map(str::to_owned);
        let rows = [["a", "0.5"], ["long name", "1"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&header, &rows), "name       nmi\na          0.5\nlong name    1");
    }
}
