//! What is said on stdout and stderr, and how numbers and tables look there.

use std::io::{IsTerminal as _, Write as _};

use comfy_table::{CellAlignment, Table, presets};
use consilience::Run;
use serde_json::Value;

use crate::io::{Cells, Target, write_table};

/// Prints `json` as the one line that is the whole of stdout.
pub(crate) fn json(json: &Value) -> anyhow::Result<()> {
    text(&json.to_string())
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

/// `1234567` → `1,234,567`.
pub(crate) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A name that users wrote, fit to be printed: control characters and those that turn the direction
/// of text are spelled out, so that none can rewrite a terminal or a sentence.
pub(crate) fn named(name: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_control() || turns(letter) {
            text.extend(letter.escape_unicode());
        } else {
            text.push(letter);
        }
    }
    text
}

/// `1 cluster`, `3 clusters`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// At most the first `most` of `items`, then how many more there are.
pub(crate) fn listed<T: ToString>(items: &[T], most: usize) -> String {
    let mut words: Vec<_> = items.iter().take(most).map(T::to_string).collect();
    if items.len() > most {
        words.push(format!("... ({} more)", count(items.len() - most)));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        assert_eq!(counted(1, "cluster"), "1 cluster");
        assert_eq!(counted(2000, "cluster"), "2,000 clusters");
    }

    #[test]
    fn names_cannot_rewrite_the_terminal() {
        assert_eq!(named("plain \u{5d0} 🧬 =cmd()"), "plain \u{5d0} 🧬 =cmd()");
        assert_eq!(named("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\u{a}c");
        assert_eq!(named("x\u{202e}y"), "x\\u{202e}y");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(listed(&[5, 4], 3), "5, 4");
        assert_eq!(listed(&[5, 4, 3, 2, 1], 3), "5, 4, 3, ... (2 more)");
    }

    #[test]
    fn tables_align_numbers_to_the_right() {
        let header = ["name", "nmi"].map(str::to_owned);
        let rows = [["a", "0.5"], ["long name", "1"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&header, &rows), "name       nmi\na          0.5\nlong name    1");
    }
}
