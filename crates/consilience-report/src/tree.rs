//! The tree of how clusters come apart from level to level, as a vector graphic.
//!
//! Levels are rows, from coarse to fine; the area of a node is the size of its cluster, the opacity of a line the share of the
//! lower cluster that comes along it (clustree's in-proportion). Nothing is loaded from outside, and equal records give equal bytes.

use std::fmt::Write as _;

use consilience::judge::Interval;
use consilience::pipeline::{LevelRecord, Node, ResolutionRecord};
use consilience::words::{count, named};

/// What a figure is made of, in pixels.
const MARGIN: f64 = 24.0;
const ROW: f64 = 96.0;
const LABELS: f64 = 190.0;
const LARGEST: f64 = 30.0;
const SMALLEST: f64 = 3.5;
const HEAD: f64 = 84.0;
const FOOT: f64 = 150.0;
/// Lines of smaller shares are left out.
const FAINT: f64 = 0.02;
/// Colours that people with any kind of colour vision tell apart (Okabe and Ito), then lighter ones.
const COLOURS: [&str; 12] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#666666",
    "#5b4fa2", "#8fbf5f", "#a65628", "#7fc8c2",
];

/// A node and where it stands.
struct Placed<'a> {
    node: &'a Node,
    x: f64,
    y: f64,
    radius: f64,
}

/// The tree of a resolution as SVG, with title, legend and caption inside.
pub fn resolution_tree(record: &ResolutionRecord) -> String {
    let most = (0..record.levels.len())
        .map(|level| record.tree.nodes.iter().filter(|node| node.level == level).count())
        .max()
        .unwrap_or(0);
    let inner = (most as f64 * 44.0).clamp(460.0, 2400.0);
    let width = MARGIN + LABELS + inner + MARGIN;
    let height = HEAD + ROW * record.levels.len() as f64 + FOOT;
    let nodes = placed(record, MARGIN + LABELS, inner);
    let mut svg = String::new();
    let mut line = |text: &str| {
        svg.push_str(text);
        svg.push('\n');
    };
    line(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\" role=\"img\" aria-labelledby=\"title caption\">"
    ));
    line("<title id=\"title\">How clusters come apart from level to level</title>");
    line(&format!("<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>"));
    line(&text(MARGIN, 30.0, 17.0, "bold", "How clusters come apart from level to level"));
    for (i, part) in record.verdict.split("; ").enumerate() {
        line(&text(MARGIN, 50.0 + 16.0 * i as f64, 12.0, "normal", part));
    }
    for (at, level) in record.levels.iter().enumerate() {
        line(&row(level, at, width, record.chosen.as_ref() == Some(&level.level)));
    }
    line("<g stroke=\"#444\" stroke-linecap=\"round\">");
    for edge in record.tree.edges.iter().filter(|edge| edge.in_proportion >= FAINT) {
        let find = |level: usize, cluster: u32| {
            nodes.iter().find(|p| p.node.level == level && p.node.cluster == cluster)
        };
        let ends = find(edge.level, edge.cluster).zip(find(edge.level + 1, edge.next));
        if let Some((a, b)) = ends {
            line(&format!(
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke-width=\"{:.1}\" stroke-opacity=\"{:.2}\"/>",
                a.x,
                a.y,
                b.x,
                b.y,
                1.0 + 3.0 * edge.out_proportion,
                edge.in_proportion.clamp(0.05, 1.0)
            ));
        }
    }
    line("</g>");
    for Placed { node, x, y, radius } in &nodes {
        let colour = COLOURS[node.cluster as usize % COLOURS.len()];
        line(&format!(
            "<g><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\" stroke=\"#fff\" \
             stroke-width=\"1.5\"/>{}</g>",
            escaped(&format!(
                "level {}, cluster {}: {} objects, agreement with the clusterings {:.2}, confidence {:.2}",
                named(&record.levels[node.level].level),
                node.cluster,
                count(node.size.round() as usize),
                node.stability,
                node.confidence
            )),
            number(node, *x, *y, *radius)
        ));
    }
    line(&legend(record, &nodes, height - FOOT + 20.0));
    line("</svg>");
    svg
}

/// The number of a cluster: in its circle, or beside it where that is small.
fn number(node: &Node, x: f64, y: f64, radius: f64) -> String {
    let inside = radius >= 10.0;
    let (x, anchor, fill) =
        if inside { (x, "middle", "#fff") } else { (x + radius + 3.0, "start", "#222") };
    format!(
        "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"11\" fill=\"{fill}\">{}</text>",
        y + 4.0,
        node.cluster
    )
}

/// What is said of a level, to the left of its nodes.
fn row(level: &LevelRecord, at: usize, width: f64, chosen: bool) -> String {
    let middle = HEAD + ROW * (at as f64 + 0.5);
    let mut out = String::new();
    if level.recommended || chosen {
        let _ = write!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{ROW:.1}\" fill=\"#f2f0e6\"/>",
            MARGIN / 2.0,
            HEAD + ROW * at as f64,
            width - MARGIN
        );
    }
    let weight = if level.recommended || chosen { "bold" } else { "normal" };
    out += &text(MARGIN, middle - 14.0, 13.0, weight, &format!("level {}", named(&level.level)));
    let range = match (level.counts.least, level.counts.most) {
        (least, most) if least == most => String::new(),
        (least, most) => format!(" ({least} to {most})"),
    };
    let clusters = if level.clusters == 1 { "cluster" } else { "clusters" };
    out += &text(
        MARGIN,
        middle + 2.0,
        11.0,
        "normal",
        &format!("{} {clusters}{range}", level.clusters),
    );
    let agreed = match level.beyond_chance {
        Some(Interval { value, low, high }) => {
            format!("stability {value:.2} ({low:.2} to {high:.2})")
        }
        None => "one clustering".to_owned(),
    };
    out += &text(MARGIN, middle + 17.0, 11.0, "normal", &agreed);
    if level.recommended {
        out += &text(MARGIN, middle + 32.0, 11.0, "bold", "recommended");
    } else if chosen {
        out += &text(MARGIN, middle + 32.0, 11.0, "bold", "chosen");
    }
    out
}

/// Nodes in their rows: below the cluster that most of each comes from.
fn placed<'a>(record: &'a ResolutionRecord, left: f64, width: f64) -> Vec<Placed<'a>> {
    let tree = &record.tree;
    let largest = tree.nodes.iter().map(|node| node.size).fold(f64::MIN_POSITIVE, f64::max);
    let mut all: Vec<Placed<'a>> = Vec::with_capacity(tree.nodes.len());
    for level in 0..record.levels.len() {
        let mut own: Vec<(f64, &Node)> = tree
            .nodes
            .iter()
            .filter(|node| node.level == level)
            .map(|node| {
                let into =
                    tree.edges.iter().filter(|e| e.level + 1 == level && e.next == node.cluster);
                let from = into.map(|e| {
                    let above = all
                        .iter()
                        .find(|p| p.node.level + 1 == level && p.node.cluster == e.cluster);
                    e.in_proportion * above.map_or(0.0, |p| p.x)
                });
                (from.sum::<f64>(), node)
            })
            .collect();
        // The cluster that keeps the id of the one above stands first below it.
        own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cluster.cmp(&b.1.cluster)));
        let k = own.len() as f64;
        for (i, (_, node)) in own.into_iter().enumerate() {
            all.push(Placed {
                node,
                x: left + width * (i as f64 + 0.5) / k,
                y: HEAD + ROW * (level as f64 + 0.5),
                radius: (LARGEST * (node.size / largest).sqrt()).max(SMALLEST),
            });
        }
    }
    all
}

/// What sizes and lines mean, and the caption.
fn legend(record: &ResolutionRecord, nodes: &[Placed<'_>], top: f64) -> String {
    let mut out = String::new();
    let largest = nodes.iter().max_by(|a, b| a.node.size.total_cmp(&b.node.size));
    let mut x = MARGIN + 30.0;
    if let Some(largest) = largest {
        for share in [1.0, 0.25, 0.05] {
            let size = largest.node.size * share;
            let radius = (LARGEST * share.sqrt()).max(SMALLEST);
            let _ = write!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\" fill=\"#999\"/>",
                top + 30.0
            );
            let label = format!("{} objects", count(size.round() as usize));
            out += &text(x + radius + 6.0, top + 34.0, 11.0, "normal", &label);
            x += radius + 110.0;
        }
    }
    for (share, label) in [(0.1, "10 %"), (0.5, "50 %"), (1.0, "all of the lower cluster")] {
        let _ = write!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{0:.1}\" x2=\"{1:.1}\" y2=\"{0:.1}\" stroke=\"#444\" stroke-width=\"3\" stroke-opacity=\"{share}\"/>",
            top + 30.0,
            x + 28.0
        );
        out += &text(x + 34.0, top + 34.0, 11.0, "normal", label);
        x += 78.0;
    }
    let caption = [
        format!(
            "Rows are levels from coarse to fine ({} objects). The area of a circle is the size of a cluster, its colour and number the cluster's id,",
            count(record.n)
        ),
        "which a cluster keeps from level to level. A line is as dark as the share of the lower cluster that comes along it; shares below 2 % are not".to_owned(),
        "drawn. Stability: how far clusterings of different seeds are on the way from chance (0) to full agreement (1), with a 95 % interval.".to_owned(),
    ];
    let _ = write!(out, "<g id=\"caption\">");
    for (i, part) in caption.iter().enumerate() {
        out += &text(MARGIN, top + 82.0 + 15.0 * i as f64, 11.0, "normal", part);
    }
    out += "</g>";
    out
}

fn text(x: f64, y: f64, size: f64, weight: &str, text: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size:.0}\" font-weight=\"{weight}\">{}</text>",
        escaped(text)
    )
}

/// Text that is no markup, whatever it holds.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use consilience::Run;
    use consilience::ensemble::{Ensemble, HardMember};
    use consilience::pipeline::{Levels, Resolve};

    use super::*;

    fn record(name: &str) -> ResolutionRecord {
        let member = |labels: [i64; 8]| HardMember::from_integers("m", labels.map(Some)).into();
        let coarse = [0, 0, 0, 0, 1, 1, 1, 1];
        let fine = [0, 0, 0, 0, 1, 1, 2, 2];
        let members = [coarse, coarse, coarse, fine, fine, fine].map(member).to_vec();
        let ensemble = Ensemble::new(members).unwrap();
        let levels = Levels::of_members(&["1", "1", "1", name, name, name].map(Some)).unwrap();
        let run = Run::new(0);
        Resolve { levels, level: None }.of(&ensemble, &run).unwrap().record(&run)
    }

    #[test]
    fn every_cluster_is_a_circle_and_every_share_a_line() {
        let record = record("2");
        let svg = resolution_tree(&record);
        assert_eq!(svg.matches("<circle").count(), 5 + 3, "five clusters, three in the legend");
        assert_eq!(svg.matches("<line").count(), 3 + 3);
        assert!(svg.contains("cluster 2: 2 objects"), "{svg}");
        assert!(svg.contains("recommended") && svg.contains("id=\"caption\""));
        assert_eq!(svg, resolution_tree(&record), "equal records, equal bytes");
    }

    #[test]
    fn names_are_no_markup() {
        let svg = resolution_tree(&record("<script>&"));
        assert!(svg.contains("&lt;script&gt;&amp;") && !svg.contains("<script"));
    }
}
