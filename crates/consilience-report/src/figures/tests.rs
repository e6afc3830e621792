//! Figures of small results: what is in them, and that nothing is cut or covered.

use std::collections::BTreeSet;

use consilience::Run;
use consilience::ensemble::{Ensemble, HardMember};
use consilience::pipeline::{Clusters, Input, Methods, Record, Request, SHARE, Timeline};

use super::font::width_of;
use super::picture::{Anchor, Segment};
use super::*;
use crate::Subject;

/// Three groups of 30, 20 and 10 objects; of 12 clusterings two dissent.
fn report(k: usize, prefix: &str) -> Report {
    let n = 60_usize;
    let group = |i: usize| [0, 0, 0, 1, 1, 2][i % 6];
    let member = |h: usize| {
        let label = |i: usize| {
            let moved = (i * 7 + h * 11).is_multiple_of(13);
            let of = if h > 9 { i / 20 } else { group(i) };
            Some((if moved { (of + 1) % 3 } else { of }) as i64)
        };
        HardMember::from_integers(format!("{prefix} {h}"), (0..n).map(label)).into()
    };
    let ensemble = Ensemble::new((0..12).map(member).collect()).unwrap();
    let request = Request {
        methods: Methods::named("scec").unwrap(),
        clusters: Clusters::Exactly(k),
        ..Request::default()
    };
    let run = Run::new(0);
    let input = Input { judge: true, ..Input::ensemble(ensemble) };
    let answer = request.check().unwrap().answer(input, &run).unwrap();
    let partition = answer.partition();
    let subject = Subject { partition: &partition, clusters: &answer.clusters, names: None };
    let judgement = answer.judgement.as_ref().unwrap();
    let mut report = subject.report(judgement, &Record::new(0), &run).unwrap();
    report.title = "flowers <of> spring".to_owned();
    report
}

fn texts(figure: &Figure) -> Vec<(&str, [f64; 4])> {
    let place = |item: &'_ Item| match item {
        Item::Text { at: [x, y], text, size, font, anchor, upright: false, .. } => {
            let w = width_of(text, *font, *size);
            let x = match anchor {
                Anchor::Start => *x,
                Anchor::Middle => x - w / 2.0,
                Anchor::End => x - w,
            };
            Some([x, y - 0.72 * size, w, 0.72 * size])
        }
        _ => None,
    };
    let items = figure.picture.items.iter();
    items
        .filter_map(|item| match item {
            Item::Text { text, .. } => Some((text.as_str(), place(item)?)),
            _ => None,
        })
        .collect()
}

/// Every text lies on the page, and none on another.
fn assert_legible(name: &str, figure: &Figure) {
    let (w, h) = (figure.picture.width, figure.picture.height);
    let texts = texts(figure);
    for (i, (text, [x, y, tw, th])) in texts.iter().enumerate() {
        let inside = *x >= 0.0 && *y >= 0.0 && x + tw <= w && y + th <= h;
        assert!(inside, "{name}: `{text}` is cut: {x} {y} {tw} {th} of {w} {h}");
        for (other, [ox, oy, ow, oh]) in &texts[..i] {
            let apart = x + tw <= *ox || ox + ow <= *x || y + th <= *oy || oy + oh <= *y;
            assert!(apart, "{name}: `{text}` covers `{other}`");
        }
    }
}

#[test]
fn every_figure_is_legible_at_every_width() {
    for (k, prefix) in [(3, "member"), (9, "a clustering with quite a long name")] {
        let report = report(k, prefix);
        let names: Vec<&str> = offered(&report).map(|kind| kind.name).collect();
        for must in ["matrix", "sizes", "items", "agreement", "flow", "k", "cdf", "tracking"] {
            assert!(names.contains(&must), "{must} is not among {names:?}");
        }
        for name in names {
            for width in [3.5 * 72.0, 504.0, 900.0] {
                let frame = Frame { width, ..Frame::default() };
                let drawn = figure(&report, name, None, &frame).unwrap();
                assert_legible(name, &drawn);
                assert!(drawn.caption.contains("flowers <of> spring"), "{}", drawn.caption);
                assert!(!drawn.picture.svg().contains("<of>"), "{name}");
            }
        }
    }
}

#[test]
fn figures_hold_the_data_of_the_page() {
    let report = report(3, "member");
    let frame = Frame::default();
    let of = |name: &str| figure(&report, name, None, &frame).unwrap();
    // The matrix: one image whose squares are the shades of the values, and a legend.
    let drawn = of("matrix");
    let image = drawn.picture.items.iter().find_map(|item| match item {
        Item::Image { columns, pixels, .. } => Some((*columns, pixels)),
        _ => None,
    });
    let (columns, pixels) = image.unwrap();
    assert_eq!(pixels.len(), columns * columns);
    let values: BTreeSet<[u8; 3]> = report
        .matrix
        .as_ref()
        .unwrap()
        .values
        .iter()
        .map(|v| theme::shade(f64::from(*v) / 1000.0).0)
        .collect();
    let shown: BTreeSet<[u8; 3]> = pixels.iter().map(|pixel| pixel.0).collect();
    assert_eq!(shown, values);
    let words: Vec<&str> = texts(&drawn).iter().map(|(text, _)| *text).collect();
    assert!(words.contains(&"Consensus matrix") && words.contains(&"cluster 0"), "{words:?}");
    // Sizes: the number of objects of every cluster.
    let drawn = of("sizes");
    let words: Vec<&str> = texts(&drawn).iter().map(|(text, _)| *text).collect();
    for cluster in &report.clusters {
        assert!(words.contains(&cluster.objects.to_string().as_str()), "{words:?}");
    }
    // The flow: as many bands as pairs of clusters share objects.
    let drawn = figure(&report, "flow", Some("member 3"), &frame).unwrap();
    let bands = drawn.picture.items.iter().filter(
        |item| matches!(item, Item::Path { fill: Some((_, opacity)), .. } if *opacity == 0.45),
    );
    let cells = &report.flows.iter().find(|flow| flow.member == "member 3").unwrap().cells;
    assert_eq!(bands.count(), cells.len());
    assert!(figure(&report, "flow", Some("nobody"), &frame).is_none());
    assert!(figure(&report, "scatter", None, &frame).is_none());
    let bare = Frame { title: false, caption: false, ..frame };
    let bare = figure(&report, "matrix", None, &bare).unwrap();
    assert!(texts(&bare).iter().all(|(text, _)| *text != "Consensus matrix"));
    assert!(bare.caption.contains("Share of the clusterings"));
}

#[test]
fn a_sequence_flows_in_bands_of_the_right_height() {
    let at = |name: &str, labels: [i64; 12]| {
        HardMember::from_integers(name, labels.map(|x| (x >= 0).then_some(x)))
    };
    let times = [
        at("a month with a long name", [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, -1]),
        at("second", [0, 0, 0, 3, 3, 3, 1, 1, 1, -1, -1, 2]),
        at("third", [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]),
    ];
    let found = Timeline::new(&times, SHARE, &Run::new(0)).unwrap();
    for width in [3.5 * 72.0, 504.0] {
        let drawn = timeline(&found, &Frame { width, ..Frame::default() });
        assert_legible("timeline", &drawn);
        let next = found.passages.iter().filter(|p| p.from_time + 1 == p.to_time).count();
        let bands = drawn.picture.items.iter().filter(
            |item| matches!(item, Item::Path { fill: Some((_, opacity)), .. } if *opacity == 0.45),
        );
        assert_eq!(bands.count(), next);
    }
}

#[test]
fn a_sequence_of_many_clusters_or_none_stays_on_the_page() {
    let many = |step: usize| (0..400).map(move |i| Some((i * step % 100) as i64));
    let none = || (0..400).map(|_| None);
    let named = |name: &str, labels: Vec<Option<i64>>| HardMember::from_integers(name, labels);
    for times in [
        [named("a", many(1).collect()), named("b", many(3).collect())],
        [named("a", none().collect()), named("b", many(1).collect())],
        [named("a", none().collect()), named("b", none().collect())],
    ] {
        let found = Timeline::new(&times, SHARE, &Run::new(0)).unwrap();
        for width in [3.5 * 72.0, 504.0] {
            let drawn = timeline(&found, &Frame { width, caption: false, ..Frame::default() });
            assert_legible("timeline", &drawn);
            let tall = drawn.picture.height;
            for item in &drawn.picture.items {
                let Item::Path { segments, .. } = item else { continue };
                let inside = segments.iter().all(|segment| match *segment {
                    Segment::Move(_, y) | Segment::Line(_, y) | Segment::Curve(_, _, [_, y]) => {
                        y <= tall
                    }
                    Segment::Close => true,
                });
                assert!(inside, "{} below {tall}: {segments:?}", found.ids.len());
            }
        }
    }
}

#[test]
fn letters_that_the_font_has_not_are_told() {
    let mut report = report(3, "member");
    let frame = Frame::default();
    let drawn = figure(&report, "sizes", None, &frame).unwrap();
    assert_eq!(drawn.unknown_letters().count(), 0);
    report.clusters[0].name = "\u{7c7b}".to_owned();
    let drawn = figure(&report, "sizes", None, &frame).unwrap();
    assert_eq!(drawn.unknown_letters().next(), Some("\u{7c7b}"));
}
