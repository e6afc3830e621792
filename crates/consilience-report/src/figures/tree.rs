//! How clusters come apart from level to level: the tree of a resolution, after clustree.

use consilience::judge::Interval;
use consilience::pipeline::{LevelRecord, Node, ResolutionRecord};
use consilience::words::{count, counted, named};

use super::picture::{Item, Picture, Stroke, disc};
use super::theme::{CAPTION, SOFT, TICK, WORD, of_number, shade};
use super::{Body, Colour, Figure, Frame, MARGIN};

const ROW: f64 = 66.0;
/// Where the nodes begin: levels are told to their left.
const LEFT: f64 = 158.0;
const LARGEST: f64 = 22.0;
const SMALLEST: f64 = 2.5;
/// What a node takes from left to right.
const SPACE: f64 = 30.0;
const LEGEND: f64 = 50.0;
/// Lines of smaller shares are left out.
const FAINT: f64 = 0.02;
const BAND: Colour = Colour::hex(0xf2_f0_e6);
const WHITE: Colour = Colour::hex(0xff_ff_ff);

/// A node and where it stands.
struct Placed<'a> {
    node: &'a Node,
    x: f64,
    y: f64,
    radius: f64,
}

/// The tree of a resolution, as a figure: as wide as the frame, or as its nodes need.
#[must_use]
pub fn resolution(record: &ResolutionRecord, frame: &Frame) -> Figure {
    let on = |level: usize| record.tree.nodes.iter().filter(|node| node.level == level).count();
    let most = (0..record.levels.len()).map(on).max().unwrap_or(0);
    let needed = LEFT + SPACE * most as f64;
    let frame = Frame { width: frame.width.max((needed + 2.0 * MARGIN).min(2400.0)), ..*frame };
    let width = frame.width - 2.0 * MARGIN;
    let nodes = placed(record, width - LEFT);
    let mut picture = Picture::default();
    for (at, level) in record.levels.iter().enumerate() {
        row(&mut picture, level, at, width, record.chosen.as_ref() == Some(&level.level));
    }
    let find = |level: usize, cluster: u32| {
        nodes.iter().find(|p| p.node.level == level && p.node.cluster == cluster)
    };
    // Dark lines are not to be crossed by faint ones.
    let mut edges: Vec<_> =
        record.tree.edges.iter().filter(|edge| edge.in_proportion >= FAINT).collect();
    edges.sort_by(|a, b| a.in_proportion.total_cmp(&b.in_proportion));
    for edge in edges {
        if let Some((a, b)) = find(edge.level, edge.cluster).zip(find(edge.level + 1, edge.next)) {
            let wide = 0.75 + 2.25 * edge.out_proportion;
            picture.line([a.x, a.y], [b.x, b.y], dark(edge.in_proportion, wide));
        }
    }
    for Placed { node, x, y, radius } in &nodes {
        let rim = Stroke { colour: WHITE, width: 1.0, dashed: false };
        picture.items.push(Item::Path {
            segments: disc(*x, *y, *radius),
            fill: Some((of_number(node.cluster), 1.0)),
            stroke: Some(rim),
        });
        let number = node.cluster.to_string();
        if TICK.width(&number) < 1.6 * radius {
            let word = super::picture::Word { colour: WHITE, ..TICK };
            picture.text([*x, y + 3.0], number, word.middle());
        } else {
            picture.text([x + radius + 2.0, y + 3.0], number, TICK);
        }
    }
    let tall = ROW * record.levels.len() as f64;
    legend(&mut picture, &nodes, tall + 8.0);
    let caption = format!(
        "{} Rows are levels from coarse to fine ({}). The area of a circle is the size of a cluster, its colour and \
         number are the cluster's id, which it keeps from level to level. A line is as dark as the share of the lower \
         cluster that comes along it; shares below 2 % are not drawn. Beyond chance: how far clusterings of different seeds \
         are on the way from chance (0) to full agreement (1), with a 95 % interval.",
        sentence(&record.verdict),
        counted(record.n, "object")
    );
    let body = Body { picture, height: tall + LEGEND, legend: Vec::new(), caption };
    frame.framed("How clusters come apart from level to level", body)
}

fn sentence(verdict: &str) -> String {
    format!("{}.", verdict.trim_end_matches('.'))
}

/// A line as dark as a share.
fn dark(share: f64, width: f64) -> Stroke {
    Stroke { colour: shade(0.15 + 0.85 * share.clamp(0.0, 1.0)), width, dashed: false }
}

/// What is said of a level, to the left of its nodes.
fn row(picture: &mut Picture, level: &LevelRecord, at: usize, width: f64, chosen: bool) {
    let (top, middle) = (ROW * at as f64, ROW * (at as f64 + 0.5));
    let stands_out = level.recommended || chosen;
    if stands_out {
        picture.rect([0.0, top + 1.0, width, ROW - 2.0], BAND, 1.0);
    }
    let head = if stands_out { WORD.bold() } else { WORD };
    let inner = LEFT - 12.0;
    let name = head.fit(&format!("level {}", named(&level.level)), inner);
    picture.text([4.0, middle - 12.0], name, head);
    let range = match (level.counts.least, level.counts.most) {
        (least, most) if least == most => String::new(),
        (least, most) => format!(" ({least} to {most})"),
    };
    let clusters = format!("{}{range}", counted(level.clusters, "cluster"));
    picture.text([4.0, middle], TICK.fit(&clusters, inner), TICK);
    let agreed = match level.beyond_chance {
        Some(Interval { value, low, high }) => {
            format!("beyond chance {value:.2} ({low:.2} to {high:.2})")
        }
        None => "one clustering".to_owned(),
    };
    picture.text([4.0, middle + 11.0], TICK.fit(&agreed, inner), TICK);
    if stands_out {
        let word = if level.recommended { "recommended" } else { "chosen" };
        picture.text([4.0, middle + 23.0], word, TICK.bold());
    }
}

/// Nodes in their rows: below the clusters that they come from.
fn placed(record: &ResolutionRecord, width: f64) -> Vec<Placed<'_>> {
    let tree = &record.tree;
    let largest = tree.nodes.iter().map(|node| node.size).fold(f64::MIN_POSITIVE, f64::max);
    let mut all: Vec<Placed<'_>> = Vec::with_capacity(tree.nodes.len());
    for level in 0..record.levels.len() {
        let from = |node: &Node| {
            let into = tree.edges.iter().filter(|e| e.level + 1 == level && e.next == node.cluster);
            let above = |cluster: u32| {
                let above =
                    |p: &&Placed<'_>| p.node.level + 1 == level && p.node.cluster == cluster;
                all.iter().find(above).map_or(0.0, |p| p.x)
            };
            into.map(|e| e.in_proportion * above(e.cluster)).sum::<f64>()
        };
        let nodes = tree.nodes.iter().filter(|node| node.level == level);
        let mut own: Vec<(f64, &Node)> = nodes.map(|node| (from(node), node)).collect();
        // The cluster that keeps the id of the one above stands first below it.
        own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cluster.cmp(&b.1.cluster)));
        let k = own.len() as f64;
        all.extend(own.into_iter().enumerate().map(|(i, (_, node))| Placed {
            node,
            x: LEFT + width * (i as f64 + 0.5) / k,
            y: ROW * (level as f64 + 0.5),
            radius: (LARGEST * (node.size / largest).sqrt()).max(SMALLEST),
        }));
    }
    all
}

/// What sizes and lines mean.
fn legend(picture: &mut Picture, nodes: &[Placed<'_>], top: f64) {
    let largest = nodes.iter().map(|p| p.node.size).fold(0.0, f64::max);
    let (mut x, y) = (4.0, top + LARGEST);
    for share in [1.0, 0.25, 0.05] {
        let radius = (LARGEST * f64::sqrt(share)).max(SMALLEST);
        let grey = Some((SOFT, 0.6));
        picture.items.push(Item::Path {
            segments: disc(x + radius, y, radius),
            fill: grey,
            stroke: None,
        });
        let label = format!("{} objects", count((largest * share).round() as usize));
        let wide = CAPTION.width(&label);
        picture.text([x + 2.0 * radius + 4.0, y + 3.0], label, CAPTION);
        x += 2.0 * radius + wide + 18.0;
    }
    for (share, label) in [(0.1, "10 %"), (0.5, "50 %"), (1.0, "all of the lower cluster")] {
        picture.line([x, y], [x + 20.0, y], dark(share, 2.0));
        picture.text([x + 24.0, y + 3.0], label, CAPTION);
        x += 24.0 + CAPTION.width(label) + 14.0;
    }
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
    fn every_cluster_is_a_disc_and_every_share_a_line() {
        let found = record("2");
        let drawn = resolution(&found, &Frame::default());
        let paths = drawn.picture.items.iter().filter_map(|item| match item {
            Item::Path { segments, fill, stroke } => Some((segments.len(), fill, stroke)),
            _ => None,
        });
        let discs = paths.clone().filter(|(steps, fill, _)| *steps == 6 && fill.is_some());
        assert_eq!(discs.count(), 5 + 3, "five clusters, three in the legend");
        let lines =
            paths.filter(|(steps, fill, stroke)| *steps == 2 && fill.is_none() && stroke.is_some());
        assert_eq!(lines.count(), 3 + 3);
        assert!(drawn.caption.contains("8 objects"), "{}", drawn.caption);
        let said = |item: &Item| matches!(item, Item::Text { text, .. } if text == "recommended");
        assert!(drawn.picture.items.iter().any(said));
        assert_eq!(drawn, resolution(&found, &Frame::default()));
    }

    #[test]
    fn names_are_no_markup() {
        let svg = resolution(&record("<b>\u{1b}&"), &Frame::default()).picture.svg();
        assert!(svg.contains("&lt;b&gt;") && !svg.contains("<b>") && !svg.contains('\u{1b}'));
    }
}
