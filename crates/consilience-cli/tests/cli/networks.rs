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
    let (code, said) = told(&["--edges", "g.tsv", "--save", "dir"]);
    assert!(code == Some(2) && said.contains("--save"), "{said}");
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
