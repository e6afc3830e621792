//! Charts: what speaks for which number of clusters, how decided pairs are, the objective.

use super::Body;
use super::axes::{Area, Bars, axes, curve, heights, panel, percents};
use super::picture::Picture;
use super::theme::{ACCENT, CAUTION, WORD, shade};
use crate::data::Report;

/// The panels on the number of clusters: what it is called, whose rule it is, the values.
fn panels(report: &Report) -> Vec<(&'static str, &'static str, Vec<f64>)> {
    let number = &report.number;
    let prominences = [1.0].into_iter().chain(number.prominences.iter().copied());
    let prominences = prominences.take(number.lifetimes.len()).collect();
    let panels = vec![
        ("Lifetimes", "longest lifetime", number.lifetimes.clone()),
        ("Prominences of groups", "gap of prominences", prominences),
        ("Eigenvalues", "gap of bipartite eigenvalues", number.eigenvalues.clone()),
        ("Cumulated shares", "dominating eigenvalues", number.shares.clone()),
    ];
    panels.into_iter().filter(|(.., values)| values.len() > 1).collect()
}

/// How many panels stand side by side: two, unless their names would be cut.
fn across(width: f64) -> usize {
    if width < 360.0 { 1 } else { 2 }
}

pub(super) fn has_number(report: &Report) -> bool {
    !panels(report).is_empty()
}

pub(super) fn number(report: &Report, width: f64) -> Body {
    let mut picture = Picture::default();
    let (across, tall) = (across(width), 156.0);
    let panels = panels(report);
    for (p, (name, rule, values)) in panels.iter().enumerate() {
        let said = report.number.votes.iter().find(|(name, _)| name == rule).map(|(_, k)| *k);
        let ks: Vec<usize> = (1..=values.len()).collect();
        Bars { name, ks: &ks, values, chosen: report.number.k, said }
            .draw(&mut picture, panel(p, across, width, tall));
    }
    Body {
        picture,
        height: tall * panels.len().div_ceil(across) as f64,
        legend: vec![
            (Some(ACCENT), format!("the result, k = {}", report.number.k)),
            (Some(CAUTION), "what the rule says (triangle)".to_owned()),
        ],
        caption: "What speaks for which number of clusters: how long each number lasts in the tree of \
                  the clusterings, how far groups stand out, the eigenvalues of the graph of objects and \
                  clusters, and the share of the co-association that the largest ones explain."
            .to_owned(),
    }
}

/// Consensus distributions, delta area, undecided pairs, agreement of the draws.
pub(super) fn resampled(report: &Report, width: f64) -> Body {
    let s = &report.resampled;
    let mut picture = Picture::default();
    let (across, tall) = (across(width), 170.0);
    let first = panel(0, across, width, tall);
    let xs = [0.0, 0.5, 1.0].map(|at| (at, format!("{at}"))).to_vec();
    axes(
        &mut picture,
        first,
        "Consensus distribution (CDF)",
        "share of the draws",
        &xs,
        &percents(),
    );
    let chosen = s.ks.iter().position(|k| *k == s.k);
    let others = (0..s.ks.len()).filter(|i| Some(*i) != chosen);
    for i in others.chain(chosen) {
        let values: Vec<f64> = s.distributions[i].iter().map(|v| f64::from(*v) / 1000.0).collect();
        let (colour, wide) = if Some(i) == chosen {
            (ACCENT, 2.25)
        } else {
            (shade(0.3 + 0.5 * i as f64 / s.ks.len() as f64), 0.9)
        };
        curve(&mut picture, first, &values, (0.0, 1.0), colour, wide);
    }
    let ends = [s.ks.first(), s.ks.last()].map(|k| k.copied().unwrap_or(0));
    let bold = if chosen.is_some() { format!(", {} bold", s.k) } else { String::new() };
    let told = format!("k = {} to {}{bold}", ends[0], ends[1]);
    picture.text([first.x + first.w - 3.0, first.y + first.h - 5.0], told, WORD.end());
    let bars = [
        ("Growth of the area (delta area)", &s.deltas),
        ("Undecided pairs", &s.undecided),
        ("Agreement of the draws (ARI)", &s.stability),
    ];
    for (p, (name, values)) in bars.into_iter().enumerate() {
        Bars { name, ks: &s.ks, values, chosen: s.k, said: None }
            .draw(&mut picture, panel(p + 1, across, width, tall));
    }
    Body {
        picture,
        height: tall * 4_usize.div_ceil(across) as f64,
        legend: vec![(Some(ACCENT), format!("the result, k = {}", s.k))],
        caption: "Stability of each number of clusters when clusterings are left out at random: how \
                  often pairs are together (after Monti et al. 2003), how much the area below grows with \
                  one cluster more (for the first, the area itself), the share of pairs that are neither \
                  mostly together nor mostly apart, and the agreement of the draws with all clusterings."
            .to_owned(),
    }
}

pub(super) fn pairs(report: &Report, width: f64) -> Body {
    let mut picture = Picture::default();
    let area = Area { x: 36.0, y: 6.0, w: width - 52.0, h: 170.0 };
    let middle = [area.x + 0.1 * area.w, area.y, 0.8 * area.w, area.h];
    picture.rect(middle, CAUTION, 0.1);
    let xs = [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format!("{at}"))).to_vec();
    let below = "share of clusterings that put a pair together";
    axes(&mut picture, area, "", below, &xs, &percents());
    let undecided = consilience::words::percent(report.number.undecided);
    let told = format!("undecided: {undecided} of the pairs");
    picture.text([area.x + area.w / 2.0, area.y + 14.0], told, WORD.middle());
    curve(&mut picture, area, &report.number.distribution, (0.0, 1.0), ACCENT, 2.0);
    Body {
        picture,
        height: area.y + area.h + 30.0,
        legend: Vec::new(),
        caption: "Share of all pairs of objects that at most this share of the clusterings put together. \
                  The flatter the middle, the more decided the clusterings are."
            .to_owned(),
    }
}

pub(super) fn trace(report: &Report, width: f64) -> Body {
    let values = &report.trace;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut picture = Picture::default();
    let area = Area { x: 60.0, y: 6.0, w: width - 76.0, h: 150.0 };
    let last = values.len() - 1;
    let mut places = vec![0, last / 2, last];
    places.dedup();
    let xs = places.iter().map(|&i| (i as f64 / last as f64, (i + 1).to_string())).collect();
    axes(&mut picture, area, "", "iteration", &xs, &heights(low, high));
    curve(&mut picture, area, values, (low, high), ACCENT, 2.0);
    Body {
        picture,
        height: area.y + area.h + 30.0,
        legend: Vec::new(),
        caption: "The objective of the method after every iteration.".to_owned(),
    }
}
