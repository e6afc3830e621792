//! `reproduce`: the papers' tables with and without data, and after an interruption.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::tempdir;

use crate::run::{interrupt, names};
use crate::{assert_shown, consilience, run, table};

const FILES: [&str; 5] = ["cells.csv", "cells.jsonl", "index.html", "result.json", "tables.md"];

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_list_names_every_table() {
    let folder = tempdir().unwrap();
    assert_shown!(run(folder.path(), &["reproduce", "--list"]));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_unknown_table_is_refused() {
    let folder = tempdir().unwrap();
    assert_shown!(run(folder.path(), &["reproduce", "005", "-o", "out"]));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn choices_that_leave_nothing_are_refused() {
    let folder = tempdir().unwrap();
    for (choice, complaint) in [
        (["--methods", "rce"], "column of these methods"),
        (["--sets", "wine"], "row of these data sets"),
        (["--runs", "0"], "at least 1"),
    ] {
        let output = run(folder.path(), &[&["reproduce", "000-t02"], &choice[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(complaint), "{stderr}");
    }
}

#[test]
fn without_data_what_is_inside_is_run_and_the_rest_is_told() {
    let folder = tempdir().unwrap();
    let arguments = ["reproduce", "002-f2", "001-t1", "--runs", "1", "-o", "out"];
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    for set in ["wine", "glass", "ionosphere", "spambase", "image_train", "optdigits_train"] {
        let told =
            format!("left out: {set}: not inside the program: name a folder with it by --data");
        assert!(stderr.contains(&told), "{stderr}");
    }
    assert!(!stderr.contains("iris"), "{stderr}");
    assert_eq!(names(&folder.path().join("out")), FILES);
    let tables = text(&folder.path().join("out/tables.md"));
    assert!(tables.contains("| wine, r = 1, k = 3 | – (0.3140) |"), "{tables}");
    assert!(tables.contains("- Left out: optdigits_train: not inside"), "{tables}");
    let iris = tables.lines().find(|line| line.starts_with("| iris")).unwrap();
    assert!(iris.contains(".0000 (3.0000)"), "{iris}");
}

/// A file of a data set as the papers' folder has them.
fn write_set(folder: &Path, name: &str, content: &str) {
    let file = File::create(folder.join(format!("{name}.csv.gz"))).unwrap();
    let mut packed = GzEncoder::new(file, Compression::fast());
    packed.write_all(content.as_bytes()).unwrap();
    packed.finish().unwrap();
}

#[test]
fn a_missing_or_damaged_file_is_one_row_left_out() {
    let folder = tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    write_set(&data, "wine", &table("f1,f2,label", 30, |i| format!("{},{},{}", i % 3, i, i % 3)));
    write_set(&data, "glass", "f1,f2,label\n1,2,0\n1,broken\n");
    fs::write(data.join("ionosphere.csv.gz"), "this was never packed").unwrap();
    let arguments = ["reproduce", "001-t1", "--data", "data", "--runs", "1", "-o", "out"];
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told: Value = serde_json::from_str(&text(&folder.path().join("out/result.json"))).unwrap();
    let left_out = told["left_out"].as_object().unwrap();
    let reasons: Vec<_> = left_out.iter().map(|(set, why)| (set.as_str(), why.as_str())).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    for (set, why) in reasons {
        let named = why.unwrap().contains(&format!("{set}.csv.gz"));
        assert!(named && ["glass", "ionosphere", "spambase"].contains(&set), "{set}: {why:?}");
    }
    let rows = told["tables"][0]["rows"].as_array().unwrap();
    let values = |row: &Value| row["columns"][0]["cells"]["error"]["values"].clone();
    let counts: Vec<_> = rows.iter().map(|row| values(row).as_array().unwrap().len()).collect();
    assert_eq!(counts, [1, 0, 0, 0]);

    // Whole, but too short for six clusters; and nothing of the failure is kept.
    write_set(&data, "glass", "f1,f2,label\n1,2,0\n1,3,1\n");
    let output = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let tables = text(&folder.path().join("out/tables.md"));
    assert!(tables.contains("- fuzzy k-means, in some run: "), "{tables}");
    assert_eq!(text(&folder.path().join("out/cells.jsonl")).trim().lines().count(), 1);
}

/// Enough runs that an interruption comes in the middle.
const LONG: [&str; 6] = ["reproduce", "000-t03", "002-t1b", "--runs", "12", "-o"];

#[test]
fn interrupted_and_resumed_the_tables_are_the_same() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert!(run(folder.path(), &[&LONG[..], &["whole"]].concat()).status.success());

    let mut child = consilience(folder.path())
        .args(LONG)
        .args(["parts", "--threads", "1"])
        .stdout(Stdio::null())
        .stderr(File::create(path("stderr")).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let cells = || fs::read_to_string(path("parts/cells.jsonl")).map_or(0, |t| t.lines().count());
    while cells() < 40 {
        assert!(child.try_wait().unwrap().is_none(), "ended too soon");
        assert!(start.elapsed() < Duration::from_mins(3), "waited too long");
        sleep(Duration::from_millis(2));
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130), "{}", text(&path("stderr")));
    assert!(text(&path("stderr")).contains("finished cells are kept"));
    assert_eq!(names(&path("parts")), ["cells.jsonl"]);

    // What is there is shown without computing; then the rest.
    let finished = [&LONG[..], &["parts", "--finished"]].concat();
    assert!(run(folder.path(), &finished).status.success());
    let half = text(&path("parts/tables.md"));
    assert!(half.contains("Not run: "), "{half}");
    let kept = cells();
    assert!(run(folder.path(), &[&LONG[..], &["parts"]].concat()).status.success());
    assert!(cells() > kept);
    for file in ["tables.md", "cells.csv", "index.html", "result.json"] {
        let whole = text(&path("whole").join(file));
        assert_eq!(text(&path("parts").join(file)), whole, "{file}");
    }
}
