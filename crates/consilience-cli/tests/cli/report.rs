//! `report`, `explain` and `replay`: what can be made again from a saved result.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::{run, shown, table};

/// Three groups; objects 0 and 1 of each ten lie between two.
fn data() -> String {
    table("name,x,y", 60, |i| {
        let between = if i % 10 < 2 { 0.5 } else { 0.0 };
        let jitter = ((i * 37) % 20) as f64 / 25.0;
        format!(
            "p{i},{},{}",
            (i % 3) as f64 + between + jitter,
            (i % 3) as f64 * 0.7 + 1.0 - jitter
        )
    })
}

const OPTIONS: [&str; 8] = ["--id", "name", "--k", "3", "--size", "12", "-o", "out"];

#[test]
fn a_page_made_again_has_the_same_bytes() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), data()).unwrap();
    for more in [
        &[][..],
        &["--soft", "--base", "fuzzy-kmeans"],
        &["--truth", "y", "--method", "voting", "--k", "auto"],
        // Weights are saved.
        &["--weights", "y", "--method", "scec"],
        // Balanced cuts part equal objects.
        &["--method", "cspa", "--base-k", "2..3"],
        &["--method", "hgpa", "--base-k", "2..3", "--weights", "y"],
    ] {
        let output =
            run(folder.path(), &[&["run", "data.csv", "--force"], &OPTIONS[..], more].concat());
        assert!(output.status.success(), "{}", shown(&output));
        let first = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
        let output = run(folder.path(), &["report", "out", "-o", "again.html", "--force"]);
        assert!(output.status.success(), "{}", shown(&output));
        let again = fs::read_to_string(folder.path().join("again.html")).unwrap();
        assert!(first == again, "{more:?}");
        assert!(first.contains("Verdict") && first.len() < 1_000_000);
    }
}

#[test]
fn combine_writes_a_page_on_request() {
    let folder = tempdir().unwrap();
    let labels = table("a,b,c", 30, |i| format!("{},{},{}", i % 2, (i + 1) % 2, i % 3));
    fs::write(folder.path().join("labels.csv"), labels).unwrap();
    let output = run(
        folder.path(),
        &["combine", "labels.csv", "--k", "2", "-o", "c.csv", "--report", "page.html", "--json"],
    );
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["verdict"].as_array().unwrap().len() >= 3);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("consilience combine labels.csv --k 2 -o consensus.csv"));
    let refused = run(folder.path(), &["combine", "labels.csv", "--report", "labels.csv"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
}

#[test]
fn a_result_that_is_none_is_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("result.json"), "{}").unwrap();
    let output = run(folder.path(), &["report", "result.json"]);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    let output = run(folder.path(), &["report", "nowhere"]);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
}

#[test]
fn objects_are_explained() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), data()).unwrap();
    // A committee would leave some members out.
    let made = [&["run", "data.csv", "--scheme", "random-k"], &OPTIONS[..]].concat();
    assert!(run(folder.path(), &made).status.success());
    let output = run(folder.path(), &["explain", "out", "p0", "p7", "--json"]);
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let labels = fs::read_to_string(folder.path().join("out/labels.csv")).unwrap();
    for (object, id) in json["objects"].as_array().unwrap().iter().zip(["p0", "p7"]) {
        let line = labels.lines().find(|line| line.starts_with(&format!("{id},"))).unwrap();
        assert_eq!(object["cluster"].to_string(), line.split(',').nth(1).unwrap());
        assert_eq!(object["votes"].as_array().unwrap().len(), 12);
        let support = object["support"].as_f64().unwrap();
        let margin = support - object["second_support"].as_f64().unwrap();
        assert!((margin - object["margin"].as_f64().unwrap()).abs() < 1e-12);
        for vote in object["votes"].as_array().unwrap() {
            let shares = vote["votes"].as_array().unwrap().iter();
            let sum: f64 = shares.map(|share| share["share"].as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{vote}");
        }
    }
    let text = run(folder.path(), &["explain", "out", "p0"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("object p0: cluster ") && text.contains("margin"), "{text}");
    let unknown = run(folder.path(), &["explain", "out", "p00"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `p0`?"));
}

#[test]
fn a_run_can_be_repeated_to_the_byte() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), data()).unwrap();
    let more = [
        "--seed",
        "5",
        "--scheme",
        "bootstrap",
        "--sample",
        "0.8",
        "--set",
        "restarts=3",
        "--method",
        "scec",
    ];
    let output = run(folder.path(), &[&["run", "data.csv"], &OPTIONS[..], &more].concat());
    assert!(output.status.success(), "{}", shown(&output));
    let output = run(folder.path(), &["replay", "out"]);
    assert_eq!(
        shown(&output),
        "exit code: 0\n----- stdout -----\nthe same, byte by byte: labels.csv, ensemble.parquet\n----- stderr -----\n"
    );

    // A result that was changed is told.
    let labels = folder.path().join("out/labels.csv");
    let changed = fs::read_to_string(&labels).unwrap().replacen(",0,", ",1,", 1);
    fs::write(&labels, changed).unwrap();
    let output = run(folder.path(), &["replay", "out/result.json"]);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("labels.csv differs"));

    // And so are data that were changed or are gone.
    fs::write(folder.path().join("data.csv"), data() + "q,1,1\n").unwrap();
    let output = run(folder.path(), &["replay", "out"]);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    fs::remove_file(folder.path().join("data.csv")).unwrap();
    let output = run(folder.path(), &["replay", "out"]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
}

#[test]
fn a_demo_can_be_repeated() {
    let folder = tempdir().unwrap();
    assert!(run(folder.path(), &["demo"]).status.success());
    let output = run(folder.path(), &["replay", "consilience-demo", "--json"]);
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["same"], true);
}

#[test]
fn an_unfinished_run_is_told_from_no_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("out/.members")).unwrap();
    for arguments in [&["explain", "out", "p1"][..], &["report", "out"]] {
        let output = run(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("the run in out is unfinished: give the same command"), "{said}");
    }
}

#[test]
fn only_the_page_of_the_result_is_replaced() {
    let folder = tempdir().unwrap();
    let labels = table("a,b,c", 30, |i| format!("{},{},{}", i % 2, (i + 1) % 2, i % 3));
    fs::write(folder.path().join("labels.csv"), labels).unwrap();
    let save = ["combine", "labels.csv", "--k", "2", "--save", "out"];
    assert!(run(folder.path(), &save).status.success());
    let page = folder.path().join("out/report.html");
    let own = fs::read(&page).unwrap();
    assert!(run(folder.path(), &["report", "out"]).status.success());
    assert!(fs::read(&page).unwrap() == own);
    fs::write(&page, "<!DOCTYPE html><title>Minutes</title>").unwrap();
    let refused = run(folder.path(), &["report", "out"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("report.html is there already"), "{}", shown(&refused));
    assert!(fs::read_to_string(&page).unwrap().contains("Minutes"));
    assert!(run(folder.path(), &["report", "out", "--force"]).status.success());
    assert!(fs::read(&page).unwrap() == own);
}

#[test]
fn the_examples_of_explain_run_as_printed() {
    let folder = tempdir().unwrap();
    assert!(run(folder.path(), &["demo", "--tables"]).status.success());
    let help = String::from_utf8(run(folder.path(), &["explain", "--help"]).stdout).unwrap();
    let (_, examples) = help.split_once("Examples:").unwrap();
    let commands = examples.lines().filter_map(|line| line.trim().strip_prefix("consilience "));
    let mut explained = 0;
    for line in commands {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        explained += usize::from(words[0] == "explain");
        if words[0] == "run" {
            // It takes less time so.
            words.extend(["--size", "4"]);
        }
        let output = run(folder.path(), &words);
        assert!(output.status.success(), "{line}\n{}", shown(&output));
    }
    assert_eq!(explained, 3);
    let refused = shown(&run(folder.path(), &["explain", "flowers-consensus", "70"]));
    assert!(
        refused.contains("no object `70`: name one by its identifier, such as `f001`"),
        "{refused}"
    );
}
