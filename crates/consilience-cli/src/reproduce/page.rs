//! One self-contained page: every cell coloured by its distance from print, with its runs.

use std::fmt::Write as _;

use super::chart::charts;
use super::measure::Measure;
use super::statements::{Judged, TESTS_LEGEND, Tests, Verdict, paired_tests};
use super::tables::{Cell, Table, shown};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --faint: #57606a; --mark: #a40e26 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #30363d; --faint: #a9b4c0; --mark: #ff8182 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h2 { margin: 3rem 0 .5rem; scroll-margin-top: 1rem } p.paper, li, small { color: var(--faint) } code { font-size: 13px } a { color: inherit }
.wide { overflow-x: auto; margin: 1rem 0 } table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; white-space: nowrap }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper) }
.words td { text-align: left; white-space: normal } .words th { text-align: left } .words td:nth-child(2) { text-align: right }
td small { display: block } td svg { display: block; margin: .1rem 0 0 auto } tr.sum td { font-weight: 600; border-bottom-width: 2px }
.b1 { background: #2f81f71f } .b2 { background: #2f81f74d } .b3 { background: #2f81f780 }
.w1 { background: #d1242f1a } .w2 { background: #d1242f40 } .w3 { background: #d1242f70 }
.key span { padding: .1rem .5rem; margin-right: .5rem; white-space: nowrap } .box { stroke: currentColor; fill: none } .mark { stroke: var(--mark); stroke-width: 2 }
.chart { width: 100%; max-width: 52rem; display: block } .chart text { font-size: 12px } .axis text { fill: var(--faint) } .axis path { stroke: var(--line); fill: none }";

/// Distances from print at which a colour deepens.
const STEPS: [f64; 3] = [0.01, 0.03, 0.06];

/// The whole page.
pub(crate) fn page(tables: &[Table<'_>], judged: &[Judged]) -> String {
    let [low, middle, high] = STEPS;
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>The papers' experiments, run again</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>The papers' experiments, run again</h1>\n\
         <p>Every cell: the mean of our runs, below it the printed figure, and the runs as a box plot (whiskers from \
         least to most, one scale a row) with the printed figure as a coloured line. <code>DIR</code> in a command is \
         the folder with the data sets.</p>\n<p class=\"key\">Better than print by over <span class=\"b1\">{low}</span>\
         <span class=\"b2\">{middle}</span><span class=\"b3\">{high}</span> worse by over <span class=\"w1\">{low}</span>\
         <span class=\"w2\">{middle}</span><span class=\"w3\">{high}</span></p>\n"
    );
    contents(&mut html, tables, judged);
    if !judged.is_empty() {
        statements(&mut html, judged);
        paired_tests(tables).iter().for_each(|tests| t_tests(&mut html, tests));
    }
    for table in tables {
        experiment(&mut html, table);
    }
    html += "</body>\n</html>\n";
    html
}

/// All tables by name, those of two protocols once.
fn contents(html: &mut String, tables: &[Table<'_>], judged: &[Judged]) {
    html.push_str("<ul>\n");
    if !judged.is_empty() {
        html.push_str("<li><a href=\"#statements\">The papers' statements</a></li>\n");
    }
    for same in tables.chunk_by(|a, b| a.experiment.id == b.experiment.id) {
        let (id, title) = (escaped(&same[0].experiment.id), escaped(&same[0].experiment.title));
        let _ = write!(html, "<li>{id}: {title}");
        for table in same {
            let protocol = table.protocol.name();
            let name = if same[0].experiment.protocols().len() > 1 { protocol } else { "results" };
            let _ = write!(html, " · <a href=\"#{id}-{protocol}\">{name}</a>");
        }
        html.push_str("</li>\n");
    }
    html.push_str("</ul>\n");
}

fn experiment(html: &mut String, table: &Table<'_>) {
    let experiment = table.experiment;
    let (id, title) = (escaped(&experiment.id), escaped(&table.title()));
    let _ = writeln!(
        html,
        "<h2 id=\"{id}-{}\">{id}: {title}</h2>\n<p class=\"paper\">{}. {}</p>",
        table.protocol.name(),
        escaped(&experiment.paper),
        table.amount()
    );
    let notes = table.notes();
    if !notes.is_empty() {
        html.push_str("<ul>\n");
        for note in notes {
            let _ = writeln!(html, "<li>{}</li>", escaped(&note));
        }
        html.push_str("</ul>\n");
    }
    let _ = writeln!(html, "<p><code>{}</code></p>", escaped(&table.command()));
    for (m, measure) in table.measures().into_iter().enumerate() {
        charts(html, table, m);
        if table.transposed() {
            transposed(html, table, m, measure);
        } else {
            upright(html, table, m, measure);
        }
    }
}

/// A row of the table for every row of the experiment.
fn upright(html: &mut String, table: &Table<'_>, m: usize, measure: Measure) {
    let experiment = table.experiment;
    let columns = experiment.columns.len();
    let names = experiment.columns.iter().map(|column| column.name.as_str());
    head(html, &experiment.measures[m], names);
    for row in 0..experiment.rows.len() {
        let cells = (0..columns).map(|c| table.cell(row, c, m));
        let range = range(cells.clone());
        let _ = write!(html, "<tr><td>{}</td>", escaped(&experiment.row_name(row)));
        cells.for_each(|cell| write_cell(html, cell, table.runs, measure, range));
        html.push_str("</tr>\n");
    }
    if experiment.rows.len() > 1 {
        html.push_str("<tr class=\"sum\"><td>mean</td>");
        for c in 0..columns {
            let ours = shown(table.mean(c, m, false));
            let _ = write!(html, "<td>{ours}{}</td>", printed(table.mean(c, m, true)));
        }
        html.push_str("</tr>\n");
        if (0..columns).any(|c| table.distance(c, m).is_some()) {
            html.push_str("<tr class=\"sum\"><td>mean distance from print</td>");
            for c in 0..columns {
                let _ = write!(html, "<td>{}</td>", shown(table.distance(c, m)));
            }
            html.push_str("</tr>\n");
        }
    }
    html.push_str("</table></div>\n");
}

/// A row of the table for every column of the experiment.
fn transposed(html: &mut String, table: &Table<'_>, m: usize, measure: Measure) {
    let experiment = table.experiment;
    let rows = 0..experiment.rows.len();
    let names: Vec<String> = rows.clone().map(|row| experiment.row_name(row)).collect();
    head(html, &experiment.measures[m], names.iter().map(String::as_str));
    let columns = 0..experiment.columns.len();
    let ranges = rows.map(|row| range(columns.clone().map(move |c| table.cell(row, c, m))));
    let ranges: Vec<(f64, f64)> = ranges.collect();
    for (c, column) in experiment.columns.iter().enumerate() {
        let _ = write!(html, "<tr><td>{}</td>", escaped(&column.name));
        for (row, &range) in ranges.iter().enumerate() {
            write_cell(html, table.cell(row, c, m), table.runs, measure, range);
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
}

fn head<'a>(html: &mut String, measure: &str, names: impl Iterator<Item = &'a str>) {
    let _ = write!(html, "<div class=\"wide\"><table>\n<tr><th>{}</th>", escaped(measure));
    for name in names {
        let _ = write!(html, "<th>{}</th>", escaped(name));
    }
    html.push_str("</tr>\n");
}

/// The printed figure as a line of its own.
fn printed(figure: Option<f64>) -> String {
    figure.map_or(String::new(), |figure| format!("<small>print {figure:.4}</small>"))
}

/// What all values and printed figures of a row lie between.
fn range<'a>(cells: impl Iterator<Item = &'a Cell>) -> (f64, f64) {
    let values = cells.flat_map(|cell| cell.values.iter().copied().chain(cell.published));
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

fn write_cell(
    html: &mut String,
    cell: &Cell,
    runs: usize,
    measure: Measure,
    (low, high): (f64, f64),
) {
    let better = measure.better().zip(cell.ours).zip(cell.published);
    let class = better.map_or(String::new(), |((larger, ours), printed)| {
        let gain = if larger { ours - printed } else { printed - ours };
        let depth = STEPS.iter().filter(|step| gain.abs() > **step).count();
        let side = if gain > 0.0 { "b" } else { "w" };
        if depth > 0 { format!(" class=\"{side}{depth}\"") } else { String::new() }
    });
    let fewer = Some(cell.values.len()).filter(|n| (1..runs).contains(n));
    let fewer = fewer.map_or(String::new(), |n| format!(" [{n}]"));
    let _ = write!(html, "<td{class}>{}{fewer}{}", shown(cell.ours), printed(cell.published));
    if cell.values.len() > 1 && high > low {
        box_plot(html, cell, |x| 2.0 + 86.0 * (x - low) / (high - low));
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
        "<svg width=\"90\" height=\"14\" role=\"img\" aria-label=\"{} runs from {:.4} to {:.4}\">\
         <g class=\"box\"><path d=\"M{first:.1} 7H{q1:.1}M{q3:.1} 7H{last:.1}\
         M{median:.1} 3V11\"/><rect x=\"{q1:.1}\" y=\"3\" width=\"{:.1}\" height=\"8\"/></g>",
        sorted.len(),
        sorted[0],
        sorted[sorted.len() - 1],
        q3 - q1
    );
    if let Some(printed) = cell.published {
        let _ = write!(html, "<path class=\"mark\" d=\"M{:.1} 0V14\"/>", place(printed));
    }
    html.push_str("</svg>");
}

fn statements(html: &mut String, judged: &[Judged]) {
    html.push_str(
        "<h2 id=\"statements\">The papers' statements, judged on these runs</h2>\n\
         <p class=\"paper\">One-sided paired t-tests over cells, level 0.05. Below: the mean advantage, and in how many \
         single cells the same test over the runs finds the one better (+) and worse (−).</p>\n<div class=\"wide\"><table class=\"words\">\n<tr><th>statement</th>\
         <th>p of the printed cells</th><th>as printed</th><th>fair</th></tr>\n",
    );
    for Judged { claim, published_p, as_printed, fair } in judged {
        let printed = published_p.map_or("–".to_owned(), |p| format!("{p:.3}"));
        let _ = write!(html, "<tr><td>{}</td><td>{printed}</td>", escaped(claim));
        for verdict in [as_printed, fair] {
            let class = match verdict {
                Some(Verdict { holds: true, .. }) => "b1",
                Some(_) => "w1",
                None => "",
            };
            let told = verdict.as_ref().map_or("–".to_owned(), |verdict| {
                let told = verdict.told().replace('<', "&lt;");
                format!("{told}<small>{}</small>", verdict.detail())
            });
            let _ = write!(html, "<td class=\"{class}\">{told}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
}

/// Table 11 of paper 000.
fn t_tests(html: &mut String, Tests { title, columns, rows }: &Tests) {
    let _ = writeln!(html, "<h2>{}</h2>\n<p class=\"paper\">{TESTS_LEGEND}</p>", escaped(title));
    head(html, "p", columns.iter().map(String::as_str));
    for (name, row) in columns.iter().zip(rows) {
        let _ = write!(html, "<tr><td>{}</td>", escaped(name));
        for cell in row {
            let told = cell.as_ref().map_or("–".to_owned(), |cell| cell.join(" / "));
            let _ = write!(html, "<td>{told}</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
}

pub(super) fn escaped(text: &str) -> String {
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
            write_cell(&mut html, &cell(ours), 1, measure.parse().unwrap(), (0.0, 1.0));
            html
        };
        assert!(drawn(0.54, "nmi").contains("\"b2\"") && drawn(0.54, "error").contains("\"w2\""));
        assert!(drawn(0.48, "nmi").contains("\"w1\"") && drawn(0.9, "nmi").contains("\"b3\""));
        assert!(!drawn(0.505, "nmi").contains("class") && !drawn(0.9, "k").contains("class"));
    }
}
