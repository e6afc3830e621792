//! A figure of lines: one method each, over the sizes of the ensemble.

use std::fmt::Write as _;

use super::page::escaped;
use super::tables::Table;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// Where the lines are drawn: left, right, top, bottom.
const INNER: [f64; 4] = [52.0, 590.0, 14.0, 264.0];

/// Strong enough on white and on black.
const COLOURS: [&str; 8] =
    ["#d1242f", "#2f81f7", "#2da44e", "#bf8700", "#8957e5", "#e16f24", "#1b9aaa", "#808890"];

/// Rows of one set that differ by the size of the ensemble alone, three at least.
fn series(table: &Table<'_>) -> Vec<Vec<usize>> {
    let rows = &table.experiment.rows;
    let alike = |a: usize, b: usize| {
        (&rows[a].set, rows[a].k, &rows[a].base_k) == (&rows[b].set, rows[b].k, &rows[b].base_k)
    };
    let places: Vec<usize> = (0..rows.len()).collect();
    let runs = places.chunk_by(|&a, &b| alike(a, b) && rows[a].size < rows[b].size);
    runs.filter(|rows| rows.len() > 2).map(<[usize]>::to_vec).collect()
}

/// Draws the means of a measure over the sizes, one picture for every set that has them.
pub(super) fn charts(html: &mut String, table: &Table<'_>, measure: usize) {
    for rows in series(table) {
        let columns = 0..table.experiment.columns.len();
        let line = |c: usize| -> Vec<(f64, f64)> {
            let ours = |&row: &usize| table.cell(row, c, measure).ours;
            let point = |row: &usize| Some((table.experiment.rows[*row].size as f64, ours(row)?));
            rows.iter().filter_map(point).collect()
        };
        let lines: Vec<Vec<(f64, f64)>> = columns.map(line).collect();
        let values = lines.iter().flatten().map(|&(_, y)| y);
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(y), h.max(y)));
        if high > low {
            chart(html, table, measure, &rows, &lines, (low, high));
        }
    }
}

fn chart(
    html: &mut String,
    table: &Table<'_>,
    measure: usize,
    rows: &[usize],
    lines: &[Vec<(f64, f64)>],
    (low, high): (f64, f64),
) {
    let [left, right, top, bottom] = INNER;
    let size = |row: usize| table.experiment.rows[row].size as f64;
    let (first, last) = (size(rows[0]), size(rows[rows.len() - 1]));
    let x = |size: f64| left + (right - left) * (size - first) / (last - first);
    let y = |value: f64| bottom - (bottom - top) * (value - low) / (high - low);
    let name = &table.experiment.measures[measure];
    let set = &table.experiment.rows[rows[0]].set;
    let _ = write!(
        html,
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0} on {1} \
         over the number of members\"><g class=\"axis\"><path d=\"M{left} {top}V{bottom}H{right}\"/>",
        escaped(name),
        escaped(set)
    );
    for step in 0..=4 {
        let value = low + (high - low) * f64::from(step) / 4.0;
        let _ = write!(
            html,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.3}</text>",
            left - 6.0,
            y(value) + 4.0
        );
    }
    for &row in rows {
        let _ = write!(
            html,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(size(row)),
            bottom + 16.0,
            size(row)
        );
    }
    let _ = write!(
        html,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">members ({})</text></g>",
        f64::midpoint(left, right),
        bottom + 32.0,
        escaped(set)
    );
    for ((line, colour), label) in lines.iter().zip(COLOURS.iter().cycle()).zip(labels(lines, y)) {
        let points: Vec<String> =
            line.iter().map(|&(size, value)| format!("{:.1},{:.1}", x(size), y(value))).collect();
        let _ = write!(
            html,
            "<polyline points=\"{}\" stroke=\"{colour}\" fill=\"none\" stroke-width=\"2\"/>",
            points.join(" ")
        );
        let Some((column, at)) = label else { continue };
        let column = &table.experiment.columns[column].name;
        let _ = write!(
            html,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
            right + 8.0,
            at + 4.0,
            escaped(column)
        );
    }
    html.push_str("</svg>\n");
}

/// By line: its number, and a height for its name beside its end such that names stay apart.
fn labels(lines: &[Vec<(f64, f64)>], y: impl Fn(f64) -> f64) -> Vec<Option<(usize, f64)>> {
    const APART: f64 = 15.0;
    let mut ends: Vec<(usize, f64)> =
        lines.iter().enumerate().filter_map(|(i, line)| Some((i, y(line.last()?.1)))).collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    for i in 1..ends.len() {
        ends[i].1 = ends[i].1.max(ends[i - 1].1 + APART);
    }
    // What was pushed out below goes up again.
    let mut limit = HEIGHT - 8.0;
    for end in ends.iter_mut().rev() {
        end.1 = end.1.min(limit);
        limit = end.1 - APART;
    }
    let mut all = vec![None; lines.len()];
    ends.into_iter().for_each(|(i, at)| all[i] = Some((i, at)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart_and_inside() {
        let lines = vec![vec![(1.0, 250.0)]; 8];
        let mut at: Vec<f64> = labels(&lines, |v| v).into_iter().map(|l| l.unwrap().1).collect();
        at.sort_by(f64::total_cmp);
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= 15.0));
        assert!(at[0] > 0.0 && at[7] <= HEIGHT);
        assert!(labels(&[vec![]], |v| v)[0].is_none());
    }
}
