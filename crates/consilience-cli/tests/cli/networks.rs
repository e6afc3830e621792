//! `combine --edges`: communities of a network.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::combine::folder_with;
use crate::{run, shown, table};

/// Three groups of twelve who know each other, with a few who know others; clusterings err now and then.
fn network() -> TempDir {
    let row = |i: usize| {
        let label = |h: usize| if (i + 5 * h).is_multiple_of(11) { (i + h) % 3 } else { i / 12 };
        let labels: Vec<String> = (0..5).map(|h| label(h).to_string()).collect();
        format!("p{i},{}", labels.join(","))
    };
    let folder = folder_with("runs.csv", &table("node,a,b,c,d,e", 36, row));
    let mut edges = Vec::new();
    for a in 0..36 {
        for b in 0..a {
            if (a / 12 == b / 12 && (a * b) % 3 != 1) || a == b + 12 && a % 6 == 0 {
                edges.push(format!("p{a}\tp{b}"));
            }
        }
    }
    fs::write(folder.path().join("g.tsv"), edges.join("\n") + "\n").unwrap();
    folder
}

#[test]
fn communities_are_found_and_edges_are_weighted() {
    let folder = network();
    let arguments =
        ["combine", "runs.csv", "--id", "node", "--edges", "g.tsv", "--edge-weights", "w.csv"];
    let output = run(folder.path(), &[&arguments[..], &["-o", "out.csv", "--json"]].concat());
    assert!(output.status.success(), "{}", shown(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["method"], &told["k"]), (&"edge-cut".into(), &3.into()), "{told}");
    assert_eq!(told["diagnostics"]["communities"], "found");
    assert_eq!(told["sizes"], serde_json::json!([12, 12, 12]));
    let weights = fs::read_to_string(folder.path().join("w.csv")).unwrap();
    let edges = fs::read_to_string(folder.path().join("g.tsv")).unwrap();
    assert!(weights.starts_with("source,target,weight,share\np1,p0,"), "{weights}");
    assert_eq!(
        weights.lines().count(),
        edges.lines().count() + 1,
        "the first line is an edge, too"
    );
    let share = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert!(weights.lines().skip(1).all(|line| (0.0..=1.0).contains(&share(line))));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = network();
    let told = |more: &[&str]| {
        let output = run(folder.path(), &[&["combine", "runs.csv", "--id", "node"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = told(&["--method", "edge-cut"]);
    assert!(code == Some(2) && said.contains("--edges"), "{code:?} {said}");
    let (code, said) = told(&["--method", "voting", "--edges", "g.tsv"]);
    assert!(code == Some(2) && said.contains("edge-cut"), "{said}");
    let (code, said) = told(&["--edges", "g.tsv", "--k", "3"]);
    assert!(code == Some(2) && said.contains("leave --k out"), "{said}");
    let (code, said) = told(&["--edges", "g.tsv", "--set", "threshold=2"]);
    assert!(code == Some(2) && said.contains("threshold"), "{said}");
    let (code, _) = told(&["--edge-weights", "w.csv"]);
    assert_eq!(code, Some(2));
    fs::write(folder.path().join("bad.tsv"), "a\tb\np1\tp2\np1\tq9\n").unwrap();
    let (code, said) = told(&["--edges", "bad.tsv"]);
    assert!(code == Some(3) && said.contains("no object `q9`"), "{said}");
    assert!(!folder.path().join("w.csv").exists());
}

#[test]
fn communities_are_saved_read_back_and_made_again() {
    let folder = network();
    let at = folder.path();
    let text = |file: &str| fs::read_to_string(at.join(file)).unwrap();
    let combine = ["combine", "runs.csv", "--id", "node", "--edges", "g.tsv"];
    let saved = run(at, &[&combine[..], &["--save", "results", "-o", "out.csv"]].concat());
    assert!(saved.status.success(), "{}", shown(&saved));
    assert_eq!(text("results/labels.csv"), text("out.csv"));
    let record: Value = serde_json::from_str(&text("results/result.json")).unwrap();
    assert_eq!(record["command"]["edges"], "g.tsv", "{record}");
    let of_edges = |input: &&Value| input["as"] == "edges";
    let inputs = record["inputs"].as_array().unwrap();
    assert_eq!(inputs.iter().find(of_edges).unwrap()["file"], "g.tsv");
    // The result is one like any other: a page, a figure, an explanation, new objects.
    let page = text("results/report.html");
    assert!(page.contains("--edges g.tsv"), "the command can be typed again");
    let explained = run(at, &["explain", "results", "p3"]);
    assert!(explained.status.success(), "{}", shown(&explained));
    let drawn = run(at, &["figure", "results", "matrix", "-o", "m.svg"]);
    assert!(drawn.status.success(), "{}", shown(&drawn));
    fs::write(at.join("new.csv"), "node,a,b,c,d,e\nq1,0,0,0,0,0\n").unwrap();
    let assigned = run(at, &["assign", "results", "new.csv", "-o", "assigned.csv"]);
    assert!(assigned.status.success(), "{}", shown(&assigned));
    let replayed = run(at, &["replay", "results"]);
    assert!(replayed.status.success(), "{}", shown(&replayed));
    // Without its network it cannot be made again.
    fs::rename(at.join("g.tsv"), at.join("other.tsv")).unwrap();
    let replayed = shown(&run(at, &["replay", "results"]));
    assert!(replayed.contains("`g.tsv` is not here"), "{replayed}");
}

#[test]
fn clusterings_are_added_to_saved_communities() {
    let folder = network();
    let at = folder.path();
    let combine = ["combine", "runs.csv", "--id", "node"];
    assert!(
        run(at, &[&combine[..], &["--edges", "g.tsv", "--save", "one"]].concat()).status.success()
    );
    fs::write(
        at.join("more.csv"),
        table("node,f,g", 36, |i| format!("p{i},{},{}", i / 12, (i + 1) / 13)),
    )
    .unwrap();
    let add =
        |more: &[&str]| run(at, &[&["combine", "more.csv", "--json", "--add"], more].concat());
    let without = add(&["one", "--save", "two"]);
    assert_eq!(without.status.code(), Some(2), "{}", shown(&without));
    assert!(shown(&without).contains("--edges"), "{}", shown(&without));
    let with = add(&["one", "--edges", "g.tsv", "--save", "two"]);
    assert!(with.status.success(), "{}", shown(&with));
    let told: Value = serde_json::from_slice(&with.stdout).unwrap();
    assert_eq!((&told["method"], &told["clusterings"]), (&"edge-cut".into(), &7.into()), "{told}");
    // To clusterings that were combined without a network, one may be given later.
    assert!(
        run(at, &[&combine[..], &["--method", "lwea", "--k", "2", "--save", "plain"]].concat())
            .status
            .success()
    );
    let later = add(&["plain", "--edges", "g.tsv", "--save", "three"]);
    assert!(later.status.success(), "{}", shown(&later));
    let told: Value = serde_json::from_slice(&later.stdout).unwrap();
    assert_eq!((&told["method"], &told["k"]), (&"edge-cut".into(), &3.into()), "{told}");
}
