//! `resolve`: which resolution to take.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::combine::folder_with;
use crate::{run, shown, table};

/// Two levels that hold, one of noise; a column that is no clustering of a level.
fn runs() -> TempDir {
    let mut header = vec!["cell".to_owned()];
    for level in ["0.1", "0.5", "2"] {
        header.extend((0..5).map(|seed| format!("leiden_{level}_{seed}")));
    }
    header.push("batch".to_owned());
    let row = |i: usize| {
        let group = if i < 30 {
            0
        } else if i < 45 {
            1
        } else {
            2
        };
        let mut cells = vec![format!("c{i:02}")];
        cells.extend((0..5).map(|_| group.min(1).to_string()));
        cells.extend((0..5).map(|_| group.to_string()));
        // Digits of a number that has no pattern.
        cells.extend((1..6).map(|seed| ((i * i * 7919 * seed + i * 104_729) / 13 % 5).to_string()));
        cells.push((i % 2).to_string());
        cells.join(",")
    };
    folder_with("runs.csv", &table(&header.join(","), 60, row))
}

const PATTERN: [&str; 6] =
    ["resolve", "runs.csv", "--id", "cell", "--levels", "leiden_{level}_{seed}"];

#[test]
fn everything_is_in_the_folder() {
    let folder = runs();
    let output = run(folder.path(), &[&PATTERN[..], &["-o", "levels"]].concat());
    assert!(output.status.success(), "{}", shown(&output));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`batch` has no level and is left out"), "{said}");
    assert!(said.contains("Recommended level: 0.5 (3 clusters"), "{said}");
    assert!(said.contains("labels.csv has the clusters at level 0.5"), "{said}");
    assert!(output.stdout.is_empty());
    let page = shown(&run(folder.path(), &["report", "levels"]));
    assert!(page.contains("was written by `resolve`"), "{page}");
    let read = |name: &str| fs::read_to_string(folder.path().join("levels").join(name)).unwrap();
    let labels = read("labels.csv");
    let mut lines = labels.lines();
    assert_eq!(lines.next(), Some("id,cluster,confidence,level_0.5"));
    let cluster = |line: &str| line.split(',').nth(1).unwrap().to_owned();
    let clusters: Vec<String> = lines.map(cluster).collect();
    assert_eq!((clusters[0].as_str(), clusters[59].as_str()), ("0", "2"));
    let levels = read("levels.csv");
    assert!(levels.starts_with("level,members,clusters,clusters_median,"), "{levels}");
    assert_eq!(levels.lines().count(), 4);
    assert!(
        read("tree-nodes.csv").starts_with("level,cluster,size,recovery,confidence\n0.1,0,30,1,")
    );
    let edges = read("tree-edges.csv");
    assert!(
        edges.starts_with("level,cluster,next_level,next,count,in_proportion,out_proportion\n")
    );
    assert!(edges.contains("\n0.1,1,0.5,2,15,1,0.5\n"), "{edges}");
    assert!(read("tree.svg").starts_with("<svg "));
    let record: Value = serde_json::from_str(&read("result.json")).unwrap();
    assert_eq!((&record["schema"], &record["recommended"][0]), (&1.into(), &"0.5".into()));
    assert_eq!(record["command"]["name"], "resolve");

    // What is there is not replaced; with --force it is, by the same bytes.
    let again = run(folder.path(), &[&PATTERN[..], &["-o", "levels"]].concat());
    assert_eq!(again.status.code(), Some(2), "{}", shown(&again));
    let before = read("result.json") + &labels;
    let forced = &["-o", "levels", "--force", "--threads", "1"];
    assert!(run(folder.path(), &[&PATTERN[..], forced].concat()).status.success());
    assert_eq!(read("result.json") + &read("labels.csv"), before);
}

#[test]
fn a_table_of_levels_and_json() {
    let folder = runs();
    let mut lines = vec!["column,level".to_owned()];
    for level in ["0.1", "0.5"] {
        lines.extend((0..5).map(|seed| format!("leiden_{level}_{seed},{level}")));
    }
    fs::write(folder.path().join("of.csv"), lines.join("\n") + "\n").unwrap();
    let arguments =
        ["resolve", "runs.csv", "--id", "cell", "--levels", "of.csv", "-o", "out", "--json"];
    let output = run(folder.path(), &arguments);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["schema"], &told["n"]), (&1.into(), &60.into()));
    assert_eq!(told["levels"].as_array().unwrap().len(), 2);
    assert_eq!(told["recommended"][0], "0.5");
    assert_eq!(told["levels"][1]["stability"]["low"], 1.0);
    assert!(told["warnings"][0].as_str().unwrap().contains("left out"), "{told}");
}

#[test]
fn what_cannot_be_resolved_is_said() {
    let folder = runs();
    let told = |more: &[&str]| {
        let output = run(folder.path(), &[&["resolve", "runs.csv", "--id", "cell"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = told(&["--levels", "leiden_{seed}", "-o", "out"]);
    assert!(code == Some(2) && said.contains("neither a pattern with {level}"), "{said}");
    let (code, said) = told(&["--levels", "louvain_{level}", "-o", "out"]);
    assert!(code == Some(3) && said.contains("`leiden_0.1_0`"), "{code:?} {said}");
    let (_, said) = told(&["--levels", "leiden_{level}_{seed}", "--level", "7", "-o", "out"]);
    assert!(said.contains("there is no level `7`; there are 0.1, 0.5, 2"), "{said}");
    let (code, said) = told(&["--levels", "leiden_{level}_{seed}", "-o", "runs.csv"]);
    assert!(code == Some(2) && said.contains("is no folder"), "{said}");
    assert!(!folder.path().join("out").exists(), "nothing is left");
}

#[test]
fn what_is_read_is_not_replaced() {
    let folder = runs();
    let path = folder.path().join("levels.csv");
    let of = "column,level\nleiden_0.1_0,1\nleiden_0.1_1,1\nleiden_0.1_2,1\n";
    fs::write(&path, of).unwrap();
    let weights: String = (0..61).map(|i| if i == 0 { "w\n" } else { "1\n" }).collect();
    fs::write(folder.path().join("labels.csv"), &weights).unwrap();
    let common = ["resolve", "runs.csv", "--id", "cell", "-o", ".", "--force"];
    let pattern = "leiden_{level}_{seed}";
    for more in [&["--levels", "levels.csv"][..], &["--levels", pattern, "--weights", "labels.csv"]]
    {
        let output = run(folder.path(), &[&common[..], more].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2), "{said}");
        assert!(said.contains("would replace an input"), "{said}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), of);
}

#[test]
fn noise_has_no_level_to_recommend() {
    let row = |i: usize| {
        let digit = |seed: usize| ((i * i * 7919 * seed + i * 104_729) / 13 % 4).to_string();
        (1..7).map(digit).collect::<Vec<_>>().join(",")
    };
    let folder = folder_with("noise.csv", &table("a_1_1,a_1_2,a_1_3,a_2_1,a_2_2,a_2_3", 200, row));
    let arguments = ["resolve", "noise.csv", "--levels", "a_{level}_{seed}", "-o", "out"];
    let output = run(folder.path(), &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("No level is stable"), "{said}");
    let labels = fs::read_to_string(folder.path().join("out/labels.csv")).unwrap();
    assert!(labels.starts_with("id,cluster,confidence\n0,,\n"), "{labels}");
}

#[test]
fn the_tree_is_a_figure_like_others() {
    let folder = runs();
    run(folder.path(), &[&PATTERN[..], &["-o", "levels"]].concat());
    let told = shown(&run(folder.path(), &["figure", "levels"]));
    assert!(told.contains("tree") && !told.contains("matrix"), "{told}");
    for (name, start) in
        [("tree.pdf", &b"%PDF"[..]), ("tree.png", b"\x89PNG"), ("tree.svg", b"<svg")]
    {
        let output = run(folder.path(), &["figure", "levels", "tree", "-o", name]);
        assert!(output.status.success(), "{}", shown(&output));
        assert!(fs::read(folder.path().join(name)).unwrap().starts_with(start), "{name}");
    }
    let refused = run(folder.path(), &["figure", "levels", "matrix", "-o", "m.svg"]);
    assert!(shown(&refused).contains("it offers tree"), "{}", shown(&refused));
}
