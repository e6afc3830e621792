//! `--align-to`: clusters that are called as in an earlier result.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::{run, shown, table};

/// Three groups of sizes 30, 20 and 10; the members agree but for noise.
fn labels(flip: usize) -> String {
    table("name,a,b,c", 60, |i| {
        let group = [0, 0, 0, 1, 1, 2][i % 6];
        let moved = if i < flip { (group + 1) % 3 } else { group };
        format!("p{i},{moved},{},{}", (moved + 1) % 3, if i % 11 == 0 { 0 } else { moved })
    })
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn json(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{}", shown(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

const COMBINE: [&str; 6] = ["combine", "--id", "name", "--k", "3", "labels.csv"];

#[test]
fn names_and_numbers_follow_an_earlier_table() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(0)).unwrap();
    // The earlier result calls the groups 7, 2 and 4, lists them backwards, and lacks some.
    let old = table("name,group", 50, |j| {
        let i = 59 - j;
        format!("p{i},{}", if i == 59 { 7 } else { [2, 2, 2, 7, 7, 4][i % 6] })
    });
    fs::write(folder.path().join("old.csv"), old).unwrap();
    let more = ["--align-to", "old.csv", "-o", "new.csv", "--json"];
    let told = json(&run(folder.path(), &[&COMBINE[..], &more].concat()));
    assert_eq!(told["sizes"], serde_json::json!([30, 10, 20]));
    let aligned = &told["aligned"];
    assert_eq!(aligned["numbers"], serde_json::json!([2, 4, 7]));
    assert_eq!((&aligned["common"], &aligned["moved"]), (&50.into(), &1.into()));
    assert_eq!(aligned["moves"][0], serde_json::json!({"from": "7", "to": "4", "objects": 1}));
    let new = lines(&folder.path().join("new.csv"));
    assert!(new[1].starts_with("p0,2,") && new[4].starts_with("p3,7,"), "{new:?}");
    assert_eq!(lines(&folder.path().join("new-moved.csv")), ["id,before,now", "p59,7,4"]);
    // A second result in the same folder has a list of its own, and it is told which.
    let more = ["--align-to", "old.csv", "-o", "newer.csv"];
    let output = run(folder.path(), &[&COMBINE[..], &more].concat());
    assert!(
        shown(&output).contains("who moved is listed in newer-moved.csv"),
        "{}",
        shown(&output)
    );
    assert_eq!(lines(&folder.path().join("newer-moved.csv")).len(), 2);
}

#[test]
fn groups_called_by_words_keep_their_words() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(0)).unwrap();
    let words = ["=cmd()", "<b>", "c"];
    let old = table("name,kind", 60, |i| format!("p{i},{}", words[[0, 0, 0, 1, 1, 1][i % 6]]));
    fs::write(folder.path().join("old.csv"), old).unwrap();
    let more = ["--align-to", "old.csv", "--save", "out", "--json"];
    let told = json(&run(folder.path(), &[&COMBINE[..], &more].concat()));
    // The third group is new: it gets a number that was not used.
    assert_eq!(told["aligned"]["names"], serde_json::json!(["=cmd()", "<b>", "2"]));
    assert_eq!(told["aligned"]["new"], serde_json::json!(["2"]));
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("<td dir=\"auto\">&lt;b&gt;</td>"));
    assert!(!page.contains("<b></"), "names are text");
    // A name that a spreadsheet would take for a formula stays a name.
    let explained = run(folder.path(), &["explain", "out", "p0"]);
    assert!(shown(&explained).contains("cluster 0 (=cmd())"), "{}", shown(&explained));
    // And names go on to the next result.
    let more = ["--align-to", "out", "-o", "again.csv", "--json"];
    let told = json(&run(folder.path(), &[&COMBINE[..], &more].concat()));
    assert_eq!(told["aligned"]["names"], serde_json::json!(["=cmd()", "<b>", "2"]));
    assert_eq!(told["aligned"]["moved"], 0);
    // Also when the earlier result is replaced, and that is repeated.
    let more = ["--align-to", "out", "--save", "out", "--set", "theta=0.5", "--json"];
    json(&run(folder.path(), &[&COMBINE[..], &more].concat()));
    let output = run(folder.path(), &["replay", "out"]);
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn tables_of_other_objects_are_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(0)).unwrap();
    fs::write(folder.path().join("old.csv"), "name,group\nq1,0\nq2,1\n").unwrap();
    let output = run(folder.path(), &[&COMBINE[..], &["--align-to", "old.csv"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    let without = ["combine", "labels.csv", "--drop", "name", "--k", "3", "--align-to", "old.csv"];
    fs::write(folder.path().join("old.csv"), "group\n0\n1\n").unwrap();
    let output = run(folder.path(), &without);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(shown(&output).contains("without identifiers"), "{}", shown(&output));
    let output = run(folder.path(), &[&COMBINE[..], &["--moved", "moved.csv"]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
}

#[test]
fn a_run_follows_the_last_one_in_its_place_and_can_be_repeated() {
    let folder = tempdir().unwrap();
    let data = |shift: f64| {
        table("name,x,y", 60, move |i| {
            let jitter = ((i * 37) % 20) as f64 / 40.0;
            let group = [0.0, 0.0, 0.0, 1.0, 1.0, 2.0][i % 6];
            let group = if i < 4 { group + shift } else { group };
            format!("p{i},{},{}", 3.0 * group + jitter, group - jitter)
        })
    };
    let options =
        ["run", "data.csv", "--id", "name", "--k", "3", "--size", "9", "-o", "out", "--json"];
    fs::write(folder.path().join("data.csv"), data(0.0)).unwrap();
    json(&run(folder.path(), &options));
    let before = lines(&folder.path().join("out/labels.csv"));

    fs::write(folder.path().join("data.csv"), data(1.0)).unwrap();
    let told = json(&run(folder.path(), &[&options[..], &["--align-to", "out"]].concat()));
    let moved = lines(&folder.path().join("out/moved.csv"));
    assert_eq!(told["aligned"]["moved"], moved.len() - 1);
    assert!(moved.len() > 1, "{moved:?}");
    let after = lines(&folder.path().join("out/labels.csv"));
    let cluster = |line: &String| line.split(',').nth(1).unwrap().to_owned();
    let changed: Vec<String> = before
        .iter()
        .zip(&after)
        .filter(|(old, new)| cluster(old) != cluster(new))
        .map(|(old, new)| {
            format!("{},{},{}", old.split(',').next().unwrap(), cluster(old), cluster(new))
        })
        .collect();
    assert_eq!(changed, moved[1..]);
    assert_eq!(told["files"].as_array().unwrap().len(), 6);

    // The page made again is the same, and so are all bits: what was aligned to is kept.
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("Since the earlier result"));
    assert!(run(folder.path(), &["report", "out", "-o", "again.html"]).status.success());
    assert!(page == fs::read_to_string(folder.path().join("again.html")).unwrap());
    let output = run(folder.path(), &["replay", "out"]);
    assert!(
        shown(&output).contains("byte by byte: labels.csv, ensemble.parquet, moved.csv"),
        "{}",
        shown(&output)
    );

    // A result that follows none has no list of what moved.
    json(&run(folder.path(), &[&options[..], &["--force"]].concat()));
    assert!(!folder.path().join("out/moved.csv").exists());
    assert!(!folder.path().join("out/earlier.csv").exists());
}

#[test]
fn memberships_and_correspondences_follow_too() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(0)).unwrap();
    let old = table("name,group", 60, |i| format!("p{i},{}", [5, 5, 5, 3, 3, 9][i % 6]));
    fs::write(folder.path().join("old.csv"), old).unwrap();
    let more = [
        "--method",
        "scec",
        "--align-to",
        "old.csv",
        "-o",
        "new.csv",
        "--membership",
        "soft.csv",
        "--correspondence",
        "goes.csv",
        "--moved",
        "went.csv",
    ];
    let output = run(folder.path(), &[&COMBINE[..], &more].concat());
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("called as in old.csv: 0 of 60 objects"), "{}", shown(&output));
    let soft = lines(&folder.path().join("soft.csv"));
    assert_eq!(soft[0], "id,consensus:3,consensus:5,consensus:9");
    let first: Vec<f64> = soft[1].split(',').skip(1).map(|x| x.parse().unwrap()).collect();
    assert!(first[1] > 0.5, "{first:?}");
    let goes = fs::read_to_string(folder.path().join("goes.csv")).unwrap();
    assert!(
        goes.lines().skip(1).all(|line| ["3", "5", "9"].contains(&line.split(',').nth(2).unwrap()))
    );
    assert_eq!(lines(&folder.path().join("went.csv")), ["id,before,now"]);
}

#[test]
fn a_result_with_identifiers_wants_them_of_the_table_too() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(0)).unwrap();
    let saved = run(folder.path(), &[&COMBINE[..], &["--save", "out"]].concat());
    assert!(saved.status.success(), "{}", shown(&saved));
    let without = ["combine", "labels.csv", "--drop", "name", "--k", "3"];
    for option in [["--align-to", "out"], ["--align-to", "out/labels.csv"]] {
        let output = run(folder.path(), &[&without[..], &option].concat());
        assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
        let fix = "but the objects of the table have none; name the table's column of them by --id";
        assert!(shown(&output).contains(fix), "{}", shown(&output));
    }
    // Objects that are known by their rows on both sides are matched by them.
    let saved = run(folder.path(), &[&without[..], &["--save", "plain"]].concat());
    assert!(saved.status.success(), "{}", shown(&saved));
    let more = ["--align-to", "plain", "-o", "new.csv", "--json"];
    assert_eq!(json(&run(folder.path(), &[&without[..], &more].concat()))["aligned"]["moved"], 0);
}
