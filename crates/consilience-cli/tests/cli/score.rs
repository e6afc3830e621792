//! `score`: agreement with known classes and between clusterings.

use serde_json::Value;
use tempfile::tempdir;

use crate::combine::folder_with;
use crate::{assert_shown, run};

const TABLE: &str = "good,bad,truth\n1,1,a\n1,2,a\n2,1,b\n2,2,b\n";

#[test]
fn against_a_column_of_the_table() {
    let folder = folder_with("labels.csv", TABLE);
    assert_shown!(run(folder.path(), &["score", "labels.csv", "--truth", "truth"]));
}

#[test]
fn against_a_file() {
    let folder = folder_with("labels.csv", "good\n1\n1\n2\n2\n");
    std::fs::write(folder.path().join("truth.csv"), "kind\na\na\nb\nb\n").unwrap();
    assert_shown!(run(folder.path(), &["score", "labels.csv", "--truth", "truth.csv", "--json"]));
}

#[test]
fn between_all_pairs() {
    let folder = folder_with("labels.csv", TABLE);
    assert_shown!(run(folder.path(), &["score", "labels.csv", "--metric", "ari"]));
    assert_shown!(run(folder.path(), &["score", "labels.csv", "--json"]));
}

#[test]
fn what_combine_writes_can_be_scored() {
    let folder = folder_with("labels.csv", "a,b\n1,x\n1,x\n2,y\n2,y\n");
    std::fs::write(folder.path().join("truth.csv"), "kind\np\np\nq\nq\n").unwrap();
    let combined = run(folder.path(), &["combine", "labels.csv", "-o", "consensus.csv"]);
    assert!(combined.status.success());
    let score = ["score", "consensus.csv", "--truth", "truth.csv", "--json"];
    let output = run(folder.path(), &score);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["scores"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["scores"][0]["nmi"], 1.0, "{json}");
}

#[test]
fn minus_one_is_a_cluster_unless_told() {
    let folder = folder_with("labels.csv", "noisy,truth\n1,a\n1,a\n2,b\n-1,b\n");
    let score = ["score", "labels.csv", "--truth", "truth", "--json"];
    let of = |more: &[&str]| -> Value {
        let output = run(folder.path(), &[&score[..], more].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    // scikit-learn: adjusted_rand_score([1, 1, 2, -1], ["a", "a", "b", "b"]).
    let ari = of(&[])["scores"][0]["ari"].as_f64().unwrap();
    assert!((ari - 4.0 / 7.0).abs() < 1e-12, "{ari}");
    assert_eq!(of(&["--missing", "-1"])["scores"][0]["ari"], 1.0);
}

#[test]
fn one_clustering_with_nothing_beside_it() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "a\n1\n2\n").unwrap();
    assert_shown!(run(folder.path(), &["score", "a.csv"]));
}

#[test]
fn several_measures_are_all_told() {
    let folder = folder_with("labels.csv", TABLE);
    let options = ["score", "labels.csv", "--metric", "ari", "--metric", "vi"];
    let said = String::from_utf8(run(folder.path(), &options).stdout).unwrap();
    assert!(said.starts_with("ari,good,bad,truth\n") && said.contains("\n\nvi,good,"), "{said}");
    let output = run(folder.path(), &[&options[..], &["--json"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["matrices"]["vi"][0][0], 0.0, "{json}");
    let more =
        ["score", "labels.csv", "--truth", "truth", "--metric", "rand", "--metric", "nmi-max"];
    let said = String::from_utf8(run(folder.path(), &more).stdout).unwrap();
    assert!(said.lines().next().unwrap().ends_with(",rand,nmi-max"), "{said}");
}

#[test]
fn one_column_of_a_file_can_be_the_truth() {
    let folder = folder_with("labels.csv", "good\n1\n1\n2\n2\n");
    let flowers = "x,y,species\n1.5,2,p\n1.6,2,p\n3.5,4,q\n3.6,4,q\n";
    std::fs::write(folder.path().join("flowers.csv"), flowers).unwrap();
    let refused = run(folder.path(), &["score", "labels.csv", "--truth", "flowers.csv"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("say which one by --truth 'flowers.csv:COLUMN'"), "{said}");
    let score = ["score", "labels.csv", "--truth", "flowers.csv:species", "--json"];
    let json: Value = serde_json::from_slice(&run(folder.path(), &score).stdout).unwrap();
    assert_eq!((&json["truth"], &json["scores"][0]["nmi"]), (&"species".into(), &1.0.into()));
    let refused = run(folder.path(), &["score", "labels.csv", "--truth", "flowers.csv:kind"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("flowers.csv has no column `kind`"), "{said}");
}

#[test]
fn measures_that_users_name() {
    let folder = folder_with("labels.csv", TABLE);
    let json = |options: &[&str]| -> Value {
        let output = run(folder.path(), &[&["score", "labels.csv", "--json"], options].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let asked = ["--metric", "ami", "--metric", "ecs", "--truth", "truth"];
    let told = json(&asked);
    assert_eq!((&told["scores"][0]["ami"], &told["scores"][0]["ecs"]), (&1.0.into(), &1.0.into()));
    assert_eq!(told["scores"][1]["ecs"], 0.5);
    // Two of three are equal; the third shares half with each: 9 / (5 + 4 / 2).
    let told = json(&["--metric", "ic"]);
    assert!((told["ic"].as_f64().unwrap() - 9.0 / 7.0).abs() < 1e-12, "{told}");
    assert_eq!(told["matrix"], Value::Null);
    let refused =
        run(folder.path(), &["score", "labels.csv", "--metric", "ic", "--truth", "truth"]);
    assert_eq!(refused.status.code(), Some(2));
}
