//! From data to HTML.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, context};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::data::Report;
use crate::limit::limited;

const TEMPLATE: &str = include_str!("../templates/page.html");
const STYLE: &str = include_str!("../assets/style.css");
/// One script in one scope, from files of one subject each.
const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("../assets/base.js"),
    include_str!("../assets/frame.js"),
    include_str!("../assets/matrix.js"),
    include_str!("../assets/clusters.js"),
    include_str!("../assets/members.js"),
    include_str!("../assets/curves.js"),
    include_str!("../assets/tracking.js"),
    include_str!("../assets/main.js"),
    "})();\n"
);

/// The page of a report.
///
/// ```
/// use consilience_report::{Report, page};
/// let report = Report { title: "Flowers <3".to_owned(), ..Report::default() };
/// let html = page(report);
/// assert!(html.contains("Flowers &lt;3") && !html.contains("Flowers <3"));
/// ```
pub fn page(report: Report) -> String {
    let report = limited(report);
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual syntax"));
    environment.add_template("page", TEMPLATE).expect("the template is sound");
    let template = environment.get_template("page").expect("just added");
    let page = template.render(context! {
        report => Value::from(Serde(&report)),
        cells => Value::from(Serde(classes(&report))),
        doubtful => Value::from(Serde(doubtful(&report))),
        scores => Value::from(Serde(scores(&report))),
        json => Value::from_safe_string(embedded(&report)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        style_hash => hash(STYLE),
        script_hash => hash(SCRIPT),
    });
    page.expect("the template uses only what it is given")
}

/// Whether a file is a page that [`page`](fn@page) made, of whatever result.
///
/// ```
/// use consilience_report::{Report, is_page, page};
/// assert!(is_page(page(Report::default()).as_bytes()));
/// assert!(!is_page(b"<!DOCTYPE html><title>Minutes</title>"));
/// ```
pub fn is_page(bytes: &[u8]) -> bool {
    // The title stands before the style sheet.
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
    head.starts_with("<!DOCTYPE html>") && head.contains(" · consensus report</title>")
}

/// Rows of the table of clusters and classes.
fn classes(report: &Report) -> Vec<serde_json::Value> {
    let table = report.truth.as_ref().map_or(&[][..], |truth| &truth.table);
    let rows = table.iter().zip(&report.clusters);
    rows.map(|(row, cluster)| {
        let cells: Vec<String> = row.iter().map(f64::to_string).collect();
        json!({ "name": cluster.name, "cells": cells })
    })
    .collect()
}

/// Rows of the table of doubtful objects.
fn doubtful(report: &Report) -> Vec<serde_json::Value> {
    let name = |place: usize| report.clusters.get(place).map_or("", |cluster| &cluster.name);
    let row = |object: &crate::data::Doubtful| {
        json!({
            "name": object.name,
            "cluster": name(object.cluster),
            "support": percent(object.support),
            "second": name(object.second),
            "second_support": percent(object.second_support),
            "confidence": percent(object.confidence),
            "coverage": percent(object.coverage),
            "against": object.support < object.second_support,
        })
    };
    report.doubtful.iter().map(row).collect()
}

/// Rows of the table of scores.
fn scores(report: &Report) -> Vec<serde_json::Value> {
    let scores = report.truth.as_ref().map_or(&[][..], |truth| &truth.scores);
    let shown = |value: &Option<f64>| format!("{:.3}", value.unwrap_or(f64::NAN));
    let row = |(name, ours, mean): &(String, Option<f64>, Option<f64>)| json!({ "name": name, "ours": shown(ours), "mean": shown(mean) });
    scores.iter().map(row).collect()
}

/// Thousandths as percents.
fn percent(thousandths: u32) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// The hash of a script or style sheet as a Content-Security-Policy names it.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// The data as JSON that may stand inside a `script` element: nothing in it can end the element or
/// begin a comment.
fn embedded(report: &Report) -> String {
    let json = serde_json::to_string(report).expect("plain data");
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            _ => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use consilience::pipeline::Classes;

    use super::*;
    use crate::data::{
        Cluster, Compared, Doubtful, Fact, Flow, Matrix, Members, Methods, Moved, Number,
    };
    use crate::data::{Resampled, Scatter, Sentence, Tracking};

    /// A report in which every text is `name` and every list has `many` entries.
    fn full(name: &str, many: usize) -> Report {
        let text = || name.to_owned();
        let half = many * (many + 1) / 2;
        let cluster = |i: usize| Cluster {
            name: text(),
            colour: i as u32,
            objects: 123_456,
            safe: 100_000,
            confidence: 777,
            histogram: vec![12_345; 20],
            cohesion: Some(900),
            nearest: Some((0, 100)),
        };
        let flow = || Flow {
            member: text(),
            agreement: 512,
            clusters: vec![text(); many],
            cells: (0..many).flat_map(|i| (0..many).map(move |j| (i, j, 1234.5))).collect(),
        };
        Report {
            title: text(),
            subtitle: text(),
            program: "consilience".to_owned(),
            verdict: vec![Sentence { about: text(), tone: "weak".to_owned(), text: text() }; 6],
            facts: vec![Fact { name: text(), value: "1".to_owned() }; 5],
            n: 1_000_000,
            clusters: (0..many).map(cluster).collect(),
            matrix: Some(Matrix {
                clusters: (0..many).map(Some).collect(),
                weights: vec![6666.666; many],
                confidence: vec![999; many],
                values: vec![555; half],
                support: vec![vec![123; many]; many],
            }),
            scatter: Some(Scatter {
                axes: [text(), text()],
                aspect: 800,
                places: vec![[9999, 9999]; 20 * many],
                outside: vec![0],
                clusters: vec![Some(0); 20 * many],
                confidence: vec![999; 20 * many],
                names: vec![text(); 20 * many],
            }),
            flows: (0..many).map(|_| flow()).collect(),
            members: Members {
                names: vec![text(); many],
                k: vec![100; many],
                consensus: vec![500; many],
                dissents: vec![false; many],
                camps: vec![0; many],
                values: vec![500; half],
                hidden: 0,
            },
            number: Number {
                k: 3,
                recommended: 3,
                votes: vec![("longest lifetime".to_owned(), 3)],
                lifetimes: vec![0.123_456_789_012_345; 20],
                prominences: vec![0.123_456_789_012_345; 20],
                eigenvalues: vec![0.123_456_789_012_345; 20],
                shares: vec![0.123_456_789_012_345; 20],
                distribution: vec![0.123_456_789_012_345; 51],
                undecided: 0.25,
            },
            resampled: Resampled {
                k: 3,
                ks: (2..=20).collect(),
                distributions: vec![vec![555; 51]; 19],
                stability: vec![0.123_456; 19],
                undecided: vec![0.123_456; 19],
                areas: vec![0.123_456; 19],
                deltas: vec![0.123_456; 19],
            },
            tracking: Tracking {
                k: 3,
                ks: (2..=20).collect(),
                weights: vec![6666.666; 4 * many],
                consensus: vec![Some(0); 4 * many],
                clusters: vec![vec![12; 4 * many]; 19],
            },
            moved: Some(Moved {
                earlier: text(),
                common: "1,000,000".to_owned(),
                moved: "500,000".to_owned(),
                moves: vec![(text(), text(), "1,000".to_owned()); many],
                new: vec![text(); many],
                gone: vec![text(); many],
            }),
            trace: vec![-1.234_567_890_123_4; 10 * many],
            doubtful: vec![Doubtful { name: text(), ..Doubtful::default() }; many],
            silent: true,
            methods_compared: vec![Compared { problem: text(), ..Compared::default() }; many],
            truth: Some(Classes {
                name: text(),
                classes: vec![text(); many],
                table: vec![vec![12_345.0; many]; many],
                scores: vec![(text(), Some(0.5), Some(0.4)); 7],
            }),
            methods: Methods {
                paragraph: text(),
                bibtex: text(),
                command: text(),
                record: vec![Fact { name: "option".to_owned(), value: text() }; 30],
            },
            notes: vec![text()],
        }
    }

    #[test]
    fn equal_data_give_equal_bytes() {
        assert_eq!(page(full("a", 5)), page(full("a", 5)));
    }

    #[test]
    fn a_page_stays_below_a_megabyte_whatever_it_is_about() {
        let html = page(full(&"long 🧬 <name> ".repeat(700), 400));
        assert!(html.len() < 1_000_000, "{}", html.len());
        let html = page(full("x", 150));
        assert!(html.len() < 1_000_000, "{}", html.len());
    }

    #[test]
    fn what_users_wrote_is_never_markup() {
        for hostile in [
            "<script>alert(1)</script>",
            "</script><script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "<!--<script>",
            "{{ 7 * 7 }}",
            "' onmouseover='alert(1)",
            "\u{2028}\u{202e}=cmd()",
        ] {
            let html = page(full(hostile, 4));
            let scripts = html.matches("<script").count();
            assert_eq!(scripts, 2, "{hostile}");
            assert_eq!(html.matches("</script").count(), 2, "{hostile}");
            assert!(!html.contains("<img") && !html.contains("<!--"), "{hostile}");
            assert!(!html.contains(">49<"), "{hostile}");
        }
    }

    #[test]
    fn the_policy_names_the_script_and_the_style() {
        let html = page(Report::default());
        let between = |start: &str, end: &str| {
            let from = html.find(start).expect(start) + start.len();
            &html[from..from + html[from..].find(end).expect(end)]
        };
        let policy = between("Security-Policy\" content=\"", "\"");
        // Attributes are escaped; the hashes must still be read as they are.
        let policy = policy.replace("&#x2f;", "/").replace("&#x27;", "'");
        assert!(policy.contains(&hash(between("<style>", "</style>"))), "{policy}");
        assert!(policy.contains(&hash(between("<script>", "</script>"))), "{policy}");
        assert!(policy.starts_with("default-src 'none'"));
        assert!(!policy.contains("unsafe"));
    }

    #[test]
    fn nothing_is_asked_from_elsewhere() {
        let html = page(full("name", 4));
        // The name of the drawing language is the only address, and it is never fetched.
        let addresses = html.matches("http://").count() + html.matches("https://").count();
        assert_eq!(addresses, html.matches("http://www.w3.org/2000/svg").count());
    }
}
