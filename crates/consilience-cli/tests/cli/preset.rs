//! `run --preset`: voting-k-means by the statements of its paper, U-SENC on shapes it is made for.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::{consilience, run};

/// Two half rings of 200 points, the second upside down and shifted into the first.
fn half_rings() -> String {
    let mut state = 7u64;
    let mut noise = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let point = |i: usize| {
        let angle = std::f64::consts::PI * (i % 200) as f64 / 199.0;
        let (x, y) = (angle.cos() + 0.1 * noise(), angle.sin() + 0.1 * noise());
        if i < 200 { format!("{x},{y},up\n") } else { format!("{},{},down\n", 1.0 - x, 0.5 - y) }
    };
    "x,y,ring\n".to_owned() + &(0..400).map(point).collect::<String>()
}

fn json(folder: &Path, options: &str) -> Value {
    preset(folder, "voting-k-means", options)
}

fn preset(folder: &Path, name: &str, options: &str) -> Value {
    let mut command = consilience(folder);
    command.args(["run", "data.csv", "-o", "out", "--json", "--preset", name]);
    let output = command.args(options.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A column of the table of convergence.
fn column<'a>(json: &'a Value, name: &str) -> &'a [Value] {
    let table = json["diagnostics"]["convergence"].as_array().expect("a table");
    let column = table.iter().find(|column| column[0] == name);
    column.unwrap_or_else(|| panic!("no column {name}"))[1].as_array().unwrap()
}

#[test]
fn half_rings_are_found_whole_and_convergence_is_told() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    let json = json(folder.path(), "--truth ring --base-k 20");
    assert_eq!(json["k"], 2);
    assert_eq!(json["scores"]["consensus"]["accuracy"], 1.0);
    assert_eq!(json["method"], "voting");
    assert_eq!(json["ensemble"]["base"], "macqueen");
    assert_eq!(json["ensemble"]["scheme"], "random-init");
    assert_eq!(json["ensemble"]["scale"], "none");
    assert_eq!(column(&json, "members").len(), 50);
    assert_eq!(column(&json, "clusters")[49], 2.0);
    assert_eq!(column(&json, "pc_idx")[49], 1.0);
    assert_eq!(column(&json, "pc_idx_truth")[49], 1.0);

    let table = fs::read_to_string(folder.path().join("out/convergence.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "members,clusters,pc_idx,pc_idx_truth");
    assert_eq!((lines.len(), lines[50]), (51, "50,2,1,1"));
    let stored = fs::read_to_string(folder.path().join("out/result.json")).unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored["consensus"]["diagnostics"], json["diagnostics"]);
    assert_eq!(stored["command"]["preset"], "voting-k-means");
}

#[test]
fn the_number_of_clusters_is_the_root_of_the_number_of_objects() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    let json = json(folder.path(), "--truth ring --size 5");
    assert_eq!(json["ensemble"]["base_k"], serde_json::json!([20, 20]));
    assert_eq!(column(&json, "members").len(), 5);
}

#[test]
fn another_method_has_no_convergence_and_takes_the_earlier_table_away() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    json(folder.path(), "--truth ring --size 5");
    assert!(folder.path().join("out/convergence.csv").exists());
    let json = json(folder.path(), "--truth ring --size 5 --method ea-al --k 2 --force");
    assert_eq!(json["method"], "ea-al");
    assert_eq!(json["ensemble"]["base_k"], serde_json::json!([20, 20]));
    assert_eq!(json["diagnostics"]["convergence"], Value::Null);
    assert!(!folder.path().join("out/convergence.csv").exists());
}

#[test]
fn the_summary_tells_since_when_nothing_changes() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    let own = ["run", "data.csv", "-o", "out", "--truth", "ring"];
    let output = run(folder.path(), &[&own[..], &["--preset", "voting-k-means"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("unchanged since clustering"), "{text}");
    assert!(text.contains("convergence.csv"), "{text}");
}

#[test]
fn a_misspelt_preset_is_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    let output = run(folder.path(), &["run", "data.csv", "-o", "out", "--preset", "voting-kmeans"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("voting-k-means"), "{text}");
}

#[test]
fn u_senc_finds_half_rings_whole_and_can_be_repeated() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    let options = "--truth ring --k 2 --size 5 --base-k 8..16 --representatives 100 --neighbours 4";
    let json = preset(folder.path(), "u-senc", options);
    assert_eq!(json["scores"]["consensus"]["accuracy"], 1.0);
    assert_eq!((&json["method"], &json["ensemble"]["base"]), (&"hbgf".into(), &"u-spec".into()));
    let recipe = &json["ensemble"]["recipe"]["base"]["u-spec"];
    assert_eq!((&recipe["representatives"], &recipe["neighbours"]), (&100.into(), &4.into()));
    let output = run(folder.path(), &["replay", "out"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn representatives_of_another_clusterer_are_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), half_rings()).unwrap();
    let options = ["run", "data.csv", "-o", "out", "--k", "2", "--representatives", "50"];
    let output = run(folder.path(), &options);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("only base clusterer `u-spec` has representatives"), "{text}");
}
