//! The clusters: sizes and confidence, objects in two dimensions, tracks through numbers of clusters.

use consilience::words::count;

use super::picture::{Colour, Item, Picture, Stroke, disc};
use super::theme::{CAUTION, INK, LINE, NONE, TICK, WORD, of_hue, thin};
use super::{Body, colour, key, name};
use crate::data::{Report, Scatter};

/// How many clusters are shown by themselves.
const MOST: usize = 40;

pub(super) fn sizes(report: &Report, width: f64) -> Body {
    let mut picture = Picture::default();
    let clusters = &report.clusters[..report.clusters.len().min(MOST)];
    let largest = clusters.iter().map(|c| c.objects).max().unwrap_or(1).max(1) as f64;
    let row = if clusters.len() > 12 { 20.0 } else { 30.0 };
    let bar = row / 2.0;
    let longest = (0..clusters.len()).map(|i| WORD.bold().width(&name(report, i)));
    let label = longest.fold(30.0, f64::max).min(110.0) + 8.0;
    let right = (0.26 * width).min(130.0);
    let words = WORD.width(&count(largest as usize));
    let bars = width - label - right - words - 26.0;
    let at = width - right;
    let narrow = width < 300.0;
    picture.text([label, 8.0], if narrow { "objects" } else { "objects (dark: safe)" }, TICK);
    picture.text([at, 8.0], if narrow { "confidence" } else { "confidence, 0 to 1" }, TICK);
    for (i, cluster) in clusters.iter().enumerate() {
        let y = 14.0 + i as f64 * row;
        let fill = colour(report, i);
        let full = bars * cluster.objects as f64 / largest;
        let base = y + 4.0 + 0.75 * bar;
        let shown = WORD.bold().fit(&name(report, i), label - 8.0);
        picture.text([label - 6.0, base], shown, WORD.bold().end());
        picture.rect([label, y + 4.0, full.max(0.75), bar], fill, 0.35);
        let safe = bars * cluster.safe as f64 / largest;
        picture.rect([label, y + 4.0, safe, bar], fill, 1.0);
        picture.text([label + full + 5.0, base], count(cluster.objects), WORD);
        let most = cluster.histogram.iter().copied().max().unwrap_or(1).max(1) as f64;
        let step = right / cluster.histogram.len().max(1) as f64;
        let floor = y + row - 5.0;
        for (b, &n) in cluster.histogram.iter().enumerate().filter(|(_, n)| **n > 0) {
            let tall = ((row - 9.0) * n as f64 / most).max(1.0);
            let x = at + b as f64 * step + 0.4;
            picture.rect([x, floor - tall, (step - 0.8).max(0.5), tall], fill, 1.0);
        }
        picture.line([at, floor], [width, floor], thin(LINE));
        let mean = at + right * f64::from(cluster.confidence) / 1000.0;
        picture.line([mean, y + 2.0], [mean, floor + 2.0], Stroke { dashed: true, ..thin(INK) });
    }
    let mut caption =
        "Objects in each cluster, those whose cluster is safe in full colour, and how \
                       confidence is spread within it (dashed: the mean)."
            .to_owned();
    if clusters.len() < report.clusters.len() {
        let more = report.clusters.len() - clusters.len();
        caption = format!("{caption} {} smaller clusters are not shown.", count(more));
    }
    Body { picture, height: 16.0 + row * clusters.len() as f64, legend: Vec::new(), caption }
}

/// Circle, square, triangle, diamond: shapes tell clusters apart without colours.
fn shape(kind: u32, [x, y]: [f64; 2], s: f64) -> Vec<super::picture::Segment> {
    use super::picture::Segment::{Close, Line, Move};
    let polygon = |points: &[[f64; 2]]| {
        let first = Move(x + s * points[0][0], y + s * points[0][1]);
        let others = points[1..].iter().map(|p| Line(x + s * p[0], y + s * p[1]));
        [first].into_iter().chain(others).chain([Close]).collect()
    };
    match kind {
        1 => polygon(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
        2 => polygon(&[[0.0, -1.2], [1.15, 0.9], [-1.15, 0.9]]),
        3 => polygon(&[[0.0, -1.35], [1.35, 0.0], [0.0, 1.35], [-1.35, 0.0]]),
        _ => disc(x, y, s),
    }
}

pub(super) fn scatter(report: &Report, s: &Scatter, width: f64) -> Body {
    let mut picture = Picture::default();
    let top = 2.0;
    let tall = |left: f64| {
        let w = width - left - 4.0;
        (w, (w * (f64::from(s.aspect) / 1000.0).clamp(0.62, 1.0)).min(420.0))
    };
    // What the axis upwards is does not always fit into one line.
    let split = s.axes[1].rfind(", ").filter(|_| WORD.width(&s.axes[1]) > tall(18.0).1);
    let upwards: Vec<&str> = match split {
        Some(at) => vec![&s.axes[1][..=at], &s.axes[1][at + 2..]],
        None => vec![&s.axes[1]],
    };
    let left = 18.0 + 11.0 * (upwards.len() - 1) as f64;
    let (w, h) = tall(left);
    picture.frame([left, top, w, h], thin(LINE));
    let radius = match s.places.len() {
        0..=300 => 2.8,
        301..=1200 => 2.2,
        _ => 1.6,
    };
    // Unsure objects are drawn last and light, so that they are seen.
    let mut order: Vec<usize> = (0..s.clusters.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(s.confidence[i]));
    for i in order {
        let [u, v] = s.places[i].map(|x| 0.02 + 0.96 * f64::from(x) / 10_000.0);
        let at = [left + w * u, top + h * (1.0 - v)];
        let kind = s.clusters[i].map_or(0, |c| report.clusters[c].colour % 4);
        let own = s.clusters[i].map_or(NONE, |c| colour(report, c));
        let far = s.outside.contains(&i);
        let opacity = 0.2 + 0.75 * f64::from(s.confidence[i]) / 1000.0;
        picture.items.push(Item::Path {
            segments: shape(kind, at, radius),
            fill: (!far).then_some((own, opacity)),
            stroke: Some(Stroke { colour: own, width: 0.6, dashed: false }),
        });
    }
    picture.text([left + w / 2.0, top + h + 13.0], WORD.fit(&s.axes[0], w), WORD.middle());
    for (line, text) in upwards.iter().rev().enumerate() {
        let x = left - 7.0 - 11.0 * line as f64;
        picture.upright([x, top + h / 2.0], WORD.fit(text, h), WORD.middle());
    }
    let shown = if s.clusters.len() < report.n {
        format!("{} of {} objects", count(s.clusters.len()), count(report.n))
    } else {
        format!("{} objects", count(report.n))
    };
    let outside = if s.outside.is_empty() { "" } else { " Hollow: far off, put at the edge." };
    Body {
        picture,
        height: top + h + 18.0,
        legend: key(report, &s.clusters),
        caption: format!(
            "{shown} along two axes, coloured by cluster; the paler, the less sure.{outside}"
        ),
    }
}

/// The colour of a cluster of a cut: that of the result where it corresponds to one.
fn of_track(report: &Report, cluster: u32) -> Colour {
    let place = cluster as usize;
    if place < report.tracking.k && place < report.clusters.len() {
        return colour(report, place);
    }
    of_hue((f64::from(cluster) * 137.508 + 60.0) % 360.0, 0.38, 0.52)
}

pub(super) fn tracking(report: &Report, width: f64) -> Body {
    let t = &report.tracking;
    let mut picture = Picture::default();
    let (left, right, row) = (66.0, 16.0, 15.0);
    let w = width - left - right;
    let total: f64 = t.weights.iter().sum();
    let own: Vec<Colour> =
        t.consensus.iter().map(|c| c.map_or(NONE, |c| colour(report, c))).collect();
    let mut bands = vec![("this result".to_owned(), own, None)];
    for (k, clusters) in t.ks.iter().zip(&t.clusters) {
        let colours = clusters.iter().map(|c| of_track(report, *c)).collect();
        bands.push((format!("k = {k}"), colours, Some((*k, clusters))));
    }
    for (r, (label, colours, cut)) in bands.iter().enumerate() {
        let y = r as f64 * row + if r > 0 { 7.0 } else { 0.0 };
        let chosen = cut.is_none_or(|(k, _)| k == t.k);
        let word = if chosen { WORD.bold() } else { WORD };
        picture.text([left - 6.0, y + 10.5], label, word.end());
        // Neighbours in one cluster make one bar.
        let same = |i: usize, j: usize| match cut {
            Some((_, clusters)) => clusters[i] == clusters[j],
            None => t.consensus[i] == t.consensus[j],
        };
        let (mut i, mut sum, mut x) = (0, 0.0, left);
        while i < colours.len() {
            let mut j = i;
            while j < colours.len() && same(i, j) {
                sum += t.weights[j];
                j += 1;
            }
            let end = left + w * sum / total;
            picture.rect([x, y + 1.0, (end - x).max(0.3), row - 2.5], colours[i], 1.0);
            if x > left && end - x > 1.2 {
                let white = thin(Colour::hex(0xff_ff_ff));
                picture.line([x, y + 1.0], [x, y + row - 1.5], white);
            }
            (i, x) = (j, end);
        }
        if r > 0 && chosen {
            picture.frame(
                [left - 1.0, y, w + 2.0, row - 0.5],
                Stroke { colour: INK, width: 1.5, dashed: false },
            );
            let (x, y) = (width - right + 4.0, y + row / 2.0);
            picture.polygon(&[[x, y], [x + 7.0, y - 4.5], [x + 7.0, y + 4.5]], CAUTION, 1.0);
        }
    }
    let height = bands.len() as f64 * row + 7.0 + 16.0;
    let below = "objects, by cluster of this result";
    picture.text([left + w / 2.0, height - 4.0], below, WORD.middle());
    Body {
        picture,
        height,
        legend: key(report, &t.consensus),
        caption: "The cluster of every object at each number of clusters (the co-association cut by \
                  average link); colours are those of this result's clusters, others are parts that it \
                  does not tell apart."
            .to_owned(),
    }
}
