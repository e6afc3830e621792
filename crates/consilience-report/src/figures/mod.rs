//! The page's figures as files for a paper: SVG, PDF and PNG, without a browser.
//!
//! A figure is drawn from the data of the page ([`Report`]) into one small model ([`Picture`]),
//! together with its title, legend and caption; the model is written in three formats.

mod axes;
mod clusters;
mod curves;
mod flow;
mod font;
mod matrix;
mod pdf;
mod picture;
mod png;
mod svg;
mod theme;
mod tree;

pub use flow::timeline;
pub use picture::Picture;
pub use tree::resolution;

use self::picture::{Colour, Item};
use self::theme::{CAPTION, TITLE, WORD, of_number};
use crate::data::Report;

/// White space around everything.
const MARGIN: f64 = 10.0;
/// Clusters in a legend.
const LEGEND: usize = 24;

/// A figure that a result may offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name that it is asked for by.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it shows.
    pub about: &'static str,
}

macro_rules! kinds {
    ($($name:ident $title:literal $about:literal)*) => {
        [$(Kind { name: stringify!($name), title: $title, about: $about }),*]
    };
}

/// All figures, in the order of the page.
pub static KINDS: [Kind; 11] = kinds! {
    matrix "Consensus matrix" "how often any two objects are together"
    sizes "Clusters and confidence" "the size of every cluster and how sure its objects are"
    scatter "Objects" "the objects in two dimensions (results of `run`)"
    items "Item consensus" "the support of every object for every cluster"
    agreement "Agreement of the clusterings" "how alike the clusterings are"
    flow "From a clustering to the consensus" "what became of the clusters of one clustering (--member)"
    k "Number of clusters" "what speaks for which number of clusters"
    cdf "Stability of each number of clusters" "CDF, delta area and stability when clusterings are left out"
    tracking "Clusters at each number" "which clusters come apart as their number grows"
    pairs "How decided pairs are" "the share of pairs that are together this often"
    trace "Objective" "the objective after every iteration"
};

/// How a figure is framed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The width in points; 504 is seven inches, two columns of most journals.
    pub width: f64,
    /// Whether it has a title.
    pub title: bool,
    /// Whether it has a caption.
    pub caption: bool,
}

impl Default for Frame {
    fn default() -> Self {
        Frame { width: 504.0, title: true, caption: true }
    }
}

/// A figure, and what a paper would say below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The drawing with what the frame asks for.
    pub picture: Picture,
    /// The title.
    pub title: String,
    /// The caption, whether it is in the drawing or not.
    pub caption: String,
}

impl Figure {
    /// Texts in it with letters that the font of PDF and PNG has not.
    pub fn unknown_letters(&self) -> impl Iterator<Item = &str> {
        let texts = self.picture.items.iter().filter_map(|item| match item {
            Item::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.filter(|text| !font::knows(text))
    }
}

/// What a figure draws before it is framed, from 0 down.
struct Body {
    picture: Picture,
    height: f64,
    legend: Vec<(Option<Colour>, String)>,
    caption: String,
}

/// The figures that a result offers.
pub fn offered(report: &Report) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| offers(report, kind.name))
}

fn offers(report: &Report, name: &str) -> bool {
    match name {
        "matrix" => report.matrix.is_some(),
        "items" => report.matrix.as_ref().is_some_and(|m| !m.support.is_empty()),
        "sizes" => !report.clusters.is_empty(),
        "scatter" => report.scatter.is_some(),
        "agreement" => report.members.names.len() > 1,
        "flow" => !report.flows.is_empty(),
        "k" => curves::has_number(report),
        "cdf" => report.resampled.ks.len() > 1,
        "tracking" => report.tracking.ks.len() > 1,
        "pairs" => report.number.distribution.len() > 1,
        "trace" => report.trace.len() > 1,
        _ => false,
    }
}

/// Draws the figure of this name; `None` if the result does not offer it. Of `flow`, `member` is the
/// clustering, or that with the best agreement.
#[must_use]
pub fn figure(report: &Report, name: &str, member: Option<&str>, frame: &Frame) -> Option<Figure> {
    if !offers(report, name) {
        return None;
    }
    let width = frame.width - 2.0 * MARGIN;
    let kind = KINDS.iter().find(|kind| kind.name == name)?;
    let body = match name {
        "matrix" => matrix::consensus(report, report.matrix.as_ref()?, width),
        "items" => matrix::items(report, report.matrix.as_ref()?, width),
        "sizes" => clusters::sizes(report, width),
        "scatter" => clusters::scatter(report, report.scatter.as_ref()?, width),
        "agreement" => matrix::agreement(report, width),
        "flow" => {
            let named = |flow: &&crate::data::Flow| member.is_none_or(|name| flow.member == name);
            flow::member(report, report.flows.iter().find(named)?, width)
        }
        "k" => curves::number(report, width),
        "cdf" => curves::resampled(report, width),
        "tracking" => clusters::tracking(report, width),
        "pairs" => curves::pairs(report, width),
        "trace" => curves::trace(report, width),
        _ => return None,
    };
    let data = format!("{}: {}.", report.title, report.subtitle);
    let body = Body { caption: format!("{} {data}", body.caption), ..body };
    Some(frame.framed(kind.title, body))
}

impl Frame {
    /// Puts title and legend above, the caption below.
    fn framed(&self, title: &str, body: Body) -> Figure {
        let Body { picture: mut drawing, height, legend, caption } = body;
        let inner = self.width - 2.0 * MARGIN;
        let mut picture =
            Picture { width: self.width, title: title.to_owned(), ..Picture::default() };
        let mut y = MARGIN;
        if self.title {
            picture.text([MARGIN, y + 10.0], TITLE.fit(title, inner), TITLE);
            y += 22.0;
        }
        if !legend.is_empty() {
            let mut x = MARGIN;
            for (colour, words) in &legend {
                let words = WORD.fit(words, inner - 12.0);
                let wide = WORD.width(&words) + 12.0;
                if x > MARGIN && x + wide > MARGIN + inner {
                    (x, y) = (MARGIN, y + 13.0);
                }
                if let Some(colour) = colour {
                    picture.rect([x, y + 1.0, 8.0, 8.0], *colour, 1.0);
                }
                picture.text([x + 11.0, y + 8.0], words, WORD);
                x += wide + 12.0;
            }
            y += 19.0;
        }
        drawing.moved([MARGIN, y]);
        picture.items.append(&mut drawing.items);
        y += height;
        if self.caption {
            y += 8.0;
            for line in CAPTION.lines(&caption, inner) {
                y += 11.5;
                picture.text([MARGIN, y], line, CAPTION);
            }
        }
        picture.height = y + MARGIN;
        Figure { picture, title: title.to_owned(), caption }
    }
}

/// The colour of a cluster, by place: that of its number.
fn colour(report: &Report, cluster: usize) -> Colour {
    report.clusters.get(cluster).map_or(theme::NONE, |cluster| of_number(cluster.colour))
}

/// What a cluster is called.
fn name(report: &Report, cluster: usize) -> String {
    report.clusters.get(cluster).map_or_else(String::new, |cluster| cluster.name.clone())
}

/// A legend of the clusters that are there.
fn key(report: &Report, there: &[Option<usize>]) -> Vec<(Option<Colour>, String)> {
    let shown = (0..report.clusters.len()).take(LEGEND);
    let mut key: Vec<(Option<Colour>, String)> =
        shown.map(|i| (Some(colour(report, i)), format!("cluster {}", name(report, i)))).collect();
    if report.clusters.len() > LEGEND {
        key.push((None, format!("and {} more", report.clusters.len() - LEGEND)));
    }
    if there.contains(&None) {
        key.push((Some(theme::NONE), "no cluster".to_owned()));
    }
    key
}

#[cfg(test)]
mod tests;
