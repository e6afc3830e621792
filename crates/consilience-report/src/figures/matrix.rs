//! Heatmaps: the consensus matrix, and how the clusterings agree.

use super::picture::{Colour, Item, Picture, Stroke};
use super::theme::{INK, LINE, NONE, SOFT, TICK, WEAK, paler, shade, thin};
use super::{Body, colour, key};
use crate::data::{Matrix, Report};

/// The longest side of an image in squares.
const FINEST: usize = 1200;

/// A symmetric matrix whose rows may have different widths.
struct Heatmap<'a> {
    widths: &'a [f64],
    value: &'a dyn Fn(usize, usize) -> Option<f64>,
    /// The colours of the strips along two sides.
    strip: &'a dyn Fn(usize) -> Colour,
    /// Rows before which a line is drawn.
    cuts: &'a [usize],
    /// Rows that are marked.
    marks: &'a [usize],
    /// What the scale is of.
    scale: &'a str,
}

impl Heatmap<'_> {
    /// Draws it this wide; how tall it is.
    fn draw(&self, picture: &mut Picture, width: f64) -> f64 {
        let n = self.widths.len();
        let mut ends = vec![0.0];
        for w in self.widths {
            ends.push(ends[ends.len() - 1] + w);
        }
        let total = ends[n].max(1e-300);
        // As many squares as it takes for the narrowest row to have one, within reason.
        let narrowest = self.widths.iter().copied().filter(|w| *w > 0.0).fold(total, f64::min);
        let squares = ((total / narrowest).ceil() as usize).clamp(n.max(1), FINEST.max(n));
        // Viewers smooth what they enlarge: with many squares that is not seen.
        let squares = squares * (FINEST / squares).max(1);
        let row_of: Vec<usize> = (0..squares)
            .map(|square| {
                let share = (square as f64 + 0.5) / squares as f64 * total;
                ends[1..].partition_point(|end| *end <= share).min(n - 1)
            })
            .collect();
        let shades: Vec<Vec<Colour>> = (0..n)
            .map(|i| {
                let of = |j: usize| (self.value)(i, j).map_or(Colour::hex(0xff_ff_ff), shade);
                let row: Vec<Colour> = (0..n).map(of).collect();
                row_of.iter().map(|&j| row[j]).collect()
            })
            .collect();
        let pixels = row_of.iter().flat_map(|&i| shades[i].iter().copied()).collect();
        let (band, left) = (9.0, 13.0);
        let side = (width - left - 74.0).min(430.0);
        picture.items.push(Item::Image {
            place: [left, left, side, side],
            columns: squares,
            pixels,
        });
        let mut from = 0;
        while from < n {
            let own = (self.strip)(from);
            let to = (from..n).find(|&i| (self.strip)(i) != own).unwrap_or(n);
            let (a, b) = (side * ends[from] / total, side * ends[to] / total);
            // A little longer, so that no gap shows; what comes next covers it.
            let b = if to < n { b + 0.5 } else { b };
            picture.rect([left + a, 0.0, b - a, band], own, 1.0);
            picture.rect([0.0, left + a, band, b - a], own, 1.0);
            from = to;
        }
        for &cut in self.cuts {
            let at = left + side * ends[cut] / total;
            let line = Stroke { colour: INK, width: 0.5, dashed: false };
            picture.line([at, left], [at, left + side], line);
            picture.line([left, at], [left + side, at], line);
        }
        for &row in self.marks {
            let at = left + side * f64::midpoint(ends[row], ends[row + 1]) / total;
            let x = left + side + 2.0;
            picture.polygon(&[[x, at], [x + 6.0, at - 3.5], [x + 6.0, at + 3.5]], WEAK, 1.0);
        }
        picture.frame([left, left, side, side], thin(LINE));
        // The scale.
        let (x, tall, steps) = (left + side + 22.0, (side * 0.5).min(160.0), 40);
        let pixels = (0..steps).rev().map(|i| shade((f64::from(i) + 0.5) / f64::from(steps)));
        let place = [x, left + 14.0, 10.0, tall];
        picture.items.push(Item::Image { place, columns: 1, pixels: pixels.collect() });
        picture.frame(place, thin(SOFT));
        for at in [0.0, 0.5, 1.0] {
            let y = left + 14.0 + tall * (1.0 - at);
            picture.text([x + 14.0, y + 3.0], format!("{at}"), TICK);
        }
        picture.text([x - 4.0, left + 5.0], self.scale, TICK);
        side + left
    }
}

/// An entry of the lower half of a symmetric matrix.
fn half(values: &[u32], i: usize, j: usize) -> u32 {
    let (low, high) = (i.min(j), i.max(j));
    values[high * (high + 1) / 2 + low]
}

/// Where the values change.
fn changes<T: PartialEq>(values: &[T]) -> Vec<usize> {
    (1..values.len()).filter(|&i| values[i] != values[i - 1]).collect()
}

pub(super) fn consensus(report: &Report, m: &Matrix, width: f64) -> Body {
    let mut picture = Picture::default();
    let cuts = changes(&m.clusters);
    let drawn = Heatmap {
        widths: &m.weights,
        value: &|i, j| Some(f64::from(half(&m.values, i, j)) / 1000.0),
        strip: &|i| m.clusters[i].map_or(NONE, |c| colour(report, c)),
        cuts: if cuts.len() <= 40 { &cuts } else { &[] },
        marks: &[],
        scale: "share together",
    };
    let height = drawn.draw(&mut picture, width);
    Body {
        picture,
        height,
        legend: key(report, &m.clusters),
        caption: "Share of the clusterings that put two objects together, objects in the order of \
                  their clusters and, within, of falling confidence; the strips are the clusters of \
                  the consensus."
            .to_owned(),
    }
}

pub(super) fn agreement(report: &Report, width: f64) -> Body {
    let m = &report.members;
    let value = |i: usize, j: usize| {
        let value = half(&m.values, i, j);
        (value <= 1000).then(|| f64::from(value) / 1000.0)
    };
    let several = m.camps.iter().any(|camp| *camp != m.camps[0]);
    let cuts = if several { changes(&m.camps) } else { Vec::new() };
    let marks: Vec<usize> = (0..m.names.len()).filter(|&i| m.dissents[i]).collect();
    let with = |i: usize| if m.consensus[i] > 1000 { 0 } else { m.consensus[i] };
    let mut picture = Picture::default();
    let drawn = Heatmap {
        widths: &vec![1.0; m.names.len()],
        value: &value,
        strip: &|i| shade(f64::from(with(i)) / 1000.0),
        cuts: &cuts,
        marks: &marks,
        scale: "NMI",
    };
    let height = drawn.draw(&mut picture, width);
    let mut caption = format!(
        "Agreement of {} clusterings with each other (normalised mutual information), alike ones side \
         by side; the strips are their agreement with the consensus.",
        m.names.len()
    );
    if !marks.is_empty() {
        let names: Vec<&str> = marks.iter().map(|&i| m.names[i].as_str()).collect();
        let listed = consilience::words::listed(&names, 5);
        caption = format!("{caption} Triangles: clusterings that dissent ({listed}).");
    }
    if several {
        caption += " Lines part groups of clusterings that agree among themselves.";
    }
    Body { picture, height, legend: Vec::new(), caption }
}

/// Support of every bin for every cluster, stacked, in the order of the matrix.
pub(super) fn items(report: &Report, m: &Matrix, width: f64) -> Body {
    let mut picture = Picture::default();
    let (left, top, h) = (34.0, 14.0, 170.0);
    let w = width - left - 4.0;
    let total: f64 = m.weights.iter().sum();
    for (at, label) in super::axes::percents() {
        picture.text([left - 4.0, top + h * (1.0 - at) + 3.0], label, TICK.end());
    }
    let mut x = left;
    for (i, support) in m.support.iter().enumerate() {
        let wide = w * m.weights[i] / total;
        // A little wider, so that no gap shows between bars; the next one covers it.
        let over = if i + 1 < m.support.len() { 0.5 } else { 0.0 };
        let own = m.clusters[i];
        let mut order: Vec<usize> = (0..support.len()).filter(|&j| support[j] > 0).collect();
        order.sort_by_key(|&j| (Some(j) != own, std::cmp::Reverse(support[j]), j));
        let mut y = top + h;
        for j in order {
            let tall = h * f64::from(support[j]) / 1000.0;
            y -= tall;
            let own_colour = colour(report, j);
            let fill = if Some(j) == own { own_colour } else { paler(own_colour) };
            picture.rect([x, y, wide + over, tall], fill, 1.0);
        }
        let strip = own.map_or(NONE, |c| colour(report, c));
        picture.rect([x, 0.0, wide + over, 8.0], strip, 1.0);
        x += wide;
    }
    let half = top + h / 2.0;
    let line = Stroke { colour: Colour::hex(0xff_ff_ff), width: 1.0, dashed: true };
    picture.line([left, half], [left + w, half], line);
    let below = "objects, in the order of the consensus matrix";
    picture.text([left + w / 2.0, top + h + 13.0], below, super::theme::WORD.middle());
    Body {
        picture,
        height: top + h + 18.0,
        legend: key(report, &m.clusters),
        caption: format!(
            "Item consensus: how much the clusterings support each cluster for each object (its own \
             cluster at the bottom; {} objects in {} bins).",
            consilience::words::count(report.n),
            m.weights.len()
        ),
    }
}
