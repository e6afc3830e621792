//! One self-contained page: every cell coloured by its distance from print, with its runs.

use std::fmt::Write as _;

use super::measure::Measure;
use super::statements::Judged;
use super::tables::{Cell, Table, shown};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --faint: #57606a }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #30363d; --faint: #9da7b3 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h2 { margin-top: 2.5rem } p.paper, li { color: var(--faint) } code { font-size: 13px }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right } th:first-child, td:first-child { text-align: left }
td small { color: var(--faint); display: block } svg { display: block; margin-left: auto }
.b1 { background: #2f81f722 } .b2 { background: #2f81f755 } .w1 { background: #d1242f22 } .w2 { background: #d1242f55 }
.key span { padding: .1rem .5rem; margin-right: .5rem }";

/// The whole page.
pub(crate) fn page(tables: &[Table<'_>], judged: &[Judged]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>The papers' experiments, run again</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>The papers' experiments, run again</h1>\n\
         <p>Every cell: our mean, the printed figure below it, and our runs as a box plot with the printed \
         figure as a line.</p>\n<p class=\"key\"><span class=\"b2\">better by over 0.03</span>\
         <span class=\"b1\">better by over 0.01</span><span class=\"w1\">worse by over 0.01</span>\
         <span class=\"w2\">worse by over 0.03</span></p>\n"
    );
    for table in tables {
        experiment(&mut html, table);
    }
    if !judged.is_empty() {
        statements(&mut html, judged);
    }
    html += "</body>\n</html>\n";
    html
}

fn experiment(html: &mut String, table: &Table<'_>) {
    let experiment = table.experiment;
    let (id, title) = (escaped(&experiment.id), escaped(&table.title()));
    let _ = writeln!(
        html,
        "<h2 id=\"{id}-{}\">{id}: {title}</h2>\n<p class=\"paper\">{}. {} runs a cell.</p>",
        table.protocol.name(),
        escaped(&experiment.paper),
        table.runs
    );
    html.push_str("<ul>\n");
    for note in &experiment.notes {
        let _ = writeln!(html, "<li>{}</li>", escaped(note));
    }
    for (column, failure) in table.failures() {
        let _ = writeln!(html, "<li>{}, in some run: {}</li>", escaped(&column), escaped(&failure));
    }
    let _ = writeln!(html, "</ul>\n<p><code>{}</code></p>", escaped(&table.command()));
    for (m, (name, measure)) in experiment.measures.iter().zip(table.measures()).enumerate() {
        let _ = write!(html, "<div class=\"wide\"><table>\n<tr><th>{}</th>", escaped(name));
        for column in &experiment.columns {
            let _ = write!(html, "<th>{}</th>", escaped(&column.name));
        }
        html.push_str("</tr>\n");
        for row in 0..experiment.rows.len() {
            let cells = (0..experiment.columns.len()).map(|c| table.cell(row, c, m));
            let (low, high) = range(cells.clone());
            let _ = write!(html, "<tr><td>{}</td>", escaped(&experiment.row_name(row)));
            for cell in cells {
                write_cell(html, cell, measure, low, high);
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</table></div>\n");
    }
}

/// What all values and printed figures of a row lie between.
fn range<'a>(cells: impl Iterator<Item = &'a Cell>) -> (f64, f64) {
    let values = cells.flat_map(|cell| cell.values.iter().copied().chain(cell.published));
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

fn write_cell(html: &mut String, cell: &Cell, measure: Measure, low: f64, high: f64) {
    let better = measure.better().zip(cell.ours).zip(cell.published);
    let class = better.map_or("", |((larger, ours), printed)| {
        match if larger { ours - printed } else { printed - ours } {
            d if d > 0.03 => "b2",
            d if d > 0.01 => "b1",
            d if d < -0.03 => "w2",
            d if d < -0.01 => "w1",
            _ => "",
        }
    });
    let _ = write!(
        html,
        "<td class=\"{class}\">{}<small>{}</small>",
        shown(cell.ours),
        cell.published.map_or("not printed".to_owned(), |p| format!("print {p:.4}"))
    );
    if cell.values.len() > 1 && high > low {
        box_plot(html, cell, |x| 2.0 + 76.0 * (x - low) / (high - low));
    }
    html.push_str("</td>");
}

/// Quartiles as a box, all runs as a line, the printed figure as a mark.
fn box_plot(html: &mut String, cell: &Cell, place: impl Fn(f64) -> f64) {
    let mut sorted = cell.values.clone();
    sorted.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let at = q * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        place(low + (high - low) * at.fract())
    };
    let (first, last) = (quantile(0.0), quantile(1.0));
    let (q1, median, q3) = (quantile(0.25), quantile(0.5), quantile(0.75));
    let _ = write!(
        html,
        "<svg width=\"80\" height=\"14\" role=\"img\" aria-label=\"{} runs from {:.4} to {:.4}\">\
         <g stroke=\"currentColor\" fill=\"none\"><path d=\"M{first:.1} 7H{q1:.1}M{q3:.1} 7H{last:.1}\
         M{median:.1} 3V11\"/><rect x=\"{q1:.1}\" y=\"3\" width=\"{:.1}\" height=\"8\"/></g>",
        sorted.len(),
        sorted[0],
        sorted[sorted.len() - 1],
        q3 - q1
    );
    if let Some(printed) = cell.published {
        let _ = write!(html, "<path d=\"M{:.1} 0V14\" stroke=\"#d1242f\"/>", place(printed));
    }
    html.push_str("</svg>");
}

fn statements(html: &mut String, judged: &[Judged]) {
    html.push_str(
        "<h2 id=\"statements\">The papers' statements, judged on these runs</h2>\n\
         <p class=\"paper\">One-sided paired t-tests over cells, level 0.05.</p>\n\
         <div class=\"wide\"><table>\n<tr><th>statement</th><th>protocol</th><th>cells</th>\
         <th>mean advantage</th><th>p</th><th>p of the printed cells</th><th></th></tr>\n",
    );
    for j in judged {
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:+.4}</td><td>{:.3}</td><td>{}</td>\
             <td class=\"{}\">{}</td></tr>",
            escaped(&j.claim),
            j.protocol.name(),
            j.cells,
            j.advantage,
            j.p,
            j.published_p.map_or("–".to_owned(), |p| format!("{p:.3}")),
            if j.holds { "b1" } else { "w1" },
            if j.holds { "holds" } else { "does not hold" }
        );
    }
    html.push_str("</table></div>\n");
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_only_texts() {
        assert_eq!(escaped("<b x='1'>&\""), "&lt;b x=&#39;1&#39;&gt;&amp;&quot;");
    }

    #[test]
    fn a_cell_is_coloured_by_its_distance_from_print() {
        let cell = |ours| Cell { published: Some(0.5), ours: Some(ours), ..Cell::default() };
        let drawn = |ours, measure: &str| {
            let mut html = String::new();
            write_cell(&mut html, &cell(ours), measure.parse().unwrap(), 0.0, 1.0);
            html
        };
        assert!(drawn(0.54, "nmi").contains("\"b2\"") && drawn(0.54, "error").contains("\"w2\""));
        assert!(drawn(0.48, "nmi").contains("\"w1\"") && drawn(0.505, "nmi").contains("\"\""));
        assert!(drawn(0.9, "k").contains("\"\""));
    }
}
