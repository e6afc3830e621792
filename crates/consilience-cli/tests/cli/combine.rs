//! `combine`: clusterings in, a consensus out.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::{assert_shown, consilience, run, shown, table};

/// Section 3 of the SCEC paper: a clustering, the same renamed, and a coarser one.
const SECTION_3: &str = "a,b,c\n1,3,1\n1,3,1\n2,1,1\n2,1,1\n3,2,2\n3,2,2\n";

/// Three of four members part {0,1,2} from {3,4}; the fourth would move object 2.
const VOTES: &str = "a,b,c,d\n1,x,7,p\n1,x,7,p\n1,x,7,q\n2,y,9,q\n2,y,9,q\n";

pub fn folder_with(name: &str, text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn files_are_joined_by_the_texts_that_tell_their_rows_apart() {
    let folder = folder_with("site-a.csv", "name,a\np,1\nq,1\nr,2\ns,2\n");
    fs::write(folder.path().join("site-b.csv"), "name,b\nr,1\ns,1\np,2\nq,2\n").unwrap();
    let words = ["combine", "site-a.csv", "site-b.csv", "--k", "2", "-o", "out.csv"];
    let output = run(folder.path(), &words);
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("column `name` has a value of its own in every row"));
    let out = read(folder.path(), "out.csv");
    // Both agree on {p, q} and {r, s}; by position they would agree on nothing.
    let cluster = |row: usize| out.lines().nth(row + 1).unwrap().split(',').nth(1).unwrap();
    assert!(out.starts_with("id,cluster,confidence\np,"), "{out}");
    assert!(cluster(0) == cluster(1) && cluster(2) == cluster(3) && cluster(0) != cluster(2));
    // What is left out is no identifier, and what other files lack neither.
    let dropped = run(folder.path(), &["combine", "site-a.csv", "--drop", "name"]);
    assert!(String::from_utf8(dropped.stdout).unwrap().contains("\n0,"));
    fs::write(folder.path().join("weights.csv"), "w\n1\n2\n3\n4\n").unwrap();
    let weighted = run(folder.path(), &["combine", "site-a.csv", "--weights", "weights.csv"]);
    assert!(weighted.status.success(), "{}", shown(&weighted));
}

#[test]
fn section_3_of_scec_gives_the_correspondences_of_the_paper() {
    let folder = folder_with("labels.csv", SECTION_3);
    let arguments = ["combine", "labels.csv", "--method", "scec", "--k", "3", "-o", "out.csv"];
    let output = run(folder.path(), &[&arguments[..], &["--correspondence", "c.csv"]].concat());
    assert_shown!(output);
    let consensus = read(folder.path(), "out.csv");
    let cluster = |row: usize| consensus.lines().nth(row + 1).unwrap().split(',').nth(1).unwrap();
    assert_eq!(cluster(0), cluster(1));
    assert_eq!(cluster(2), cluster(3));
    assert_eq!(cluster(4), cluster(5));
    // Clusters of b are those of a under other names: 3 -> 1, 1 -> 2, 2 -> 3, wholly.
    let table = read(folder.path(), "c.csv");
    assert_eq!(table.lines().next(), Some("clustering,cluster,consensus,weight"));
    let weight = |clustering: &str, label: &str, consensus: &str| -> f64 {
        let start = format!("{clustering},{label},{consensus},");
        table.lines().find_map(|line| line.strip_prefix(&start)).map_or(0.0, |w| w.parse().unwrap())
    };
    for (a, b, row) in [("1", "3", 0), ("2", "1", 2), ("3", "2", 4)] {
        assert!(weight("a", a, cluster(row)) > 0.9, "{table}");
        assert!(weight("b", b, cluster(row)) > 0.9, "{table}");
    }
    // The first cluster of c is shared by two clusters of the consensus, evenly by symmetry.
    let (first, second) = (weight("c", "1", cluster(0)), weight("c", "1", cluster(2)));
    assert!((first - 0.5).abs() < 0.1 && (second - 0.5).abs() < 0.1, "{table}");
    assert!(weight("c", "2", cluster(4)) > 0.9, "{table}");
}

#[test]
fn voting_gives_the_components_by_hand() {
    let folder = folder_with("votes.csv", VOTES);
    assert_shown!(run(folder.path(), &["combine", "votes.csv", "--method", "voting"]));
}

#[test]
fn auto_says_what_it_took_and_why() {
    let folder = folder_with("votes.csv", VOTES);
    let without_k = run(folder.path(), &["combine", "votes.csv", "-o", "a.csv"]);
    let text = String::from_utf8(without_k.stderr).unwrap();
    assert!(
        text.contains("method: lwea, because") && text.contains("number of clusters: "),
        "{text}"
    );
    let with_k = run(folder.path(), &["combine", "votes.csv", "--k", "2", "-o", "b.csv"]);
    let text = String::from_utf8(with_k.stderr).unwrap();
    assert!(
        text.contains("method: lwea, because") && !text.contains("number of clusters: "),
        "{text}"
    );
    let soft = ["combine", "votes.csv", "--k", "2", "-o", "c.csv", "--membership", "m.csv"];
    let text = String::from_utf8(run(folder.path(), &soft).stderr).unwrap();
    assert!(text.contains("method: scec, because it gives memberships"), "{text}");
}

#[test]
fn the_number_of_clusters_is_told_with_what_speaks_for_it() {
    let folder = folder_with("votes.csv", VOTES);
    let told = |k: &str| -> Value {
        let output = run(folder.path(), &["combine", "votes.csv", "--k", k, "--json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let json = told("2..3");
    let criteria = &json["k_criteria"];
    assert_eq!(criteria["range"], serde_json::json!([2, 3]));
    assert_eq!(json["k"], criteria["recommended"]);
    assert!(criteria["rules"].as_array().unwrap().len() >= 3, "{criteria}");
    assert!(criteria["evidence"]["verdict"].is_string());
    assert!(told("2").get("k_criteria").is_none());
}

/// The answer stands on top, although methods with more clusters agree more by themselves.
#[test]
fn answers_outside_of_a_range_do_not_lead() {
    let labels = crate::table("a,b,c,d", 60, |i| {
        let (group, fine) = (i / 20, i / 5);
        format!("{group},{},{fine},{}", (i + 3) / 20, (i + 2) / 6)
    });
    let folder = folder_with("labels.csv", &labels);
    let arguments = ["combine", "labels.csv", "--method", "best-member,lwea,hbgf", "--k", "2..4"];
    let output = run(folder.path(), &[&arguments[..], &["--json"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["leaderboard"]["methods"].as_array().unwrap();
    let of = |name: &str| rows.iter().find(|row| row["method"] == name).unwrap();
    let lead = of("best-member")["anmi"].as_f64() > rows[0]["anmi"].as_f64();
    assert!(of("best-member")["k"].as_u64() > Some(4) && lead, "{rows:?}");
    assert_eq!((&rows[0]["method"], &rows[0]["k"]), (&json["method"], &json["k"]));
    assert_eq!(rows[2]["method"], "best-member");
}

#[test]
fn one_of_a_kind_is_told_in_the_singular() {
    let rows = |i: usize| format!("o{i},{0},{0}", usize::from(i == 11));
    let folder = folder_with("labels.csv", &crate::table("id,a,b", 12, rows));
    fs::write(folder.path().join("one.csv"), "id,a,b\nq,x,y\n").unwrap();
    fs::write(folder.path().join("gap.csv"), "a,b\n1,1\n,\n2,2\n2,1\n").unwrap();
    let cases: [&[&str]; 8] = [
        &["combine", "labels.csv", "--id", "id", "--k", "1", "--save", "of-one-cluster"],
        &["combine", "labels.csv", "--id", "id", "--drop", "b", "--save", "of-one-clustering"],
        &["combine", "one.csv", "--id", "id", "--save", "of-one-object"],
        &["combine", "one.csv", "--id", "id", "--k", "2"],
        &["combine", "gap.csv"],
        &["combine", "labels.csv", "one.csv", "--id", "id"],
        &["combine", "labels.csv", "--id", "id", "-m", "scec", "--k", "1", "--init", "labels.csv"],
        &["check", "labels.csv", "one.csv"],
    ];
    let mut said = String::new();
    for arguments in cases {
        said += &crate::shown(&run(folder.path(), arguments));
    }
    for name in ["of-one-cluster", "of-one-clustering", "of-one-object"] {
        let page = read(folder.path(), &format!("{name}/report.html"));
        said += page.split("<script>").next().unwrap();
    }
    // A list may end with one object: 11, 1 objects.
    let said = said.replace(", 1 objects", "");
    for noun in ["cluster", "object", "clustering", "row", "group", "label", "distinct label tuple"]
    {
        let plural = format!(" 1 {noun}s");
        let at = said.find(&plural).or_else(|| said.find(&format!(">1 {noun}s")));
        let around =
            at.map(|at| said[at.saturating_sub(60)..].chars().take(100).collect::<String>());
        assert_eq!(around, None, "{noun}");
    }
}

#[test]
fn several_methods_are_a_leaderboard() {
    let folder = folder_with("votes.csv", VOTES);
    let arguments = ["combine", "votes.csv", "--method", "lwea,rce,voting", "--k", "2", "--json"];
    let files = ["--leaderboard", "board.csv", "--all-labels", "all.csv", "-o", "best.csv"];
    let output = run(folder.path(), &[&arguments[..], &files].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = json["leaderboard"]["methods"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["anmi"].is_number()), "{json}");
    assert_eq!(json["k"], 2);
    assert!(json["method_seconds"]["lwea"].is_number());
    let board = std::fs::read_to_string(folder.path().join("board.csv")).unwrap();
    assert!(board.starts_with("method,k,anmi,agreement,problem\n"), "{board}");
    let all = std::fs::read_to_string(folder.path().join("all.csv")).unwrap();
    assert!(["lwea", "rce", "voting"].iter().all(|name| all.contains(name)), "{all}");
}

/// A ceiling below what a method needs makes it a row with its reason; the others answer.
#[test]
fn a_method_that_is_refused_is_a_row_of_the_leaderboard() {
    let rows: Vec<_> = (0..400).map(|i| format!("{},{},{}\n", i % 20, i / 20, i % 7)).collect();
    let rows = rows.concat();
    let folder = folder_with("labels.csv", &format!("a,b,c\n{rows}"));
    let arguments = ["combine", "labels.csv", "--method", "rce,lwgp", "--k", "3", "--json"];
    let output = run(folder.path(), &[&arguments[..], &["--memory", "1MiB"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = |name: &str| {
        let rows = json["leaderboard"]["methods"].as_array().unwrap();
        rows.iter().find(|row| row["method"] == name).unwrap().clone()
    };
    assert!(row("rce")["problem"].as_str().unwrap().contains("memory"), "{json}");
    assert!(row("lwgp")["anmi"].is_number(), "{json}");
}

#[test]
fn json_is_one_line_with_the_documented_keys() {
    let folder = folder_with("labels.csv", SECTION_3);
    let arguments = ["combine", "labels.csv", "--method", "scec", "--k", "3", "--json"];
    let output = run(folder.path(), &[&arguments[..], &["--set", "restarts=3"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches('\n').count(), 1, "{text}");
    let json: Value = serde_json::from_str(&text).unwrap();
    let documented = [
        "schema",
        "n",
        "clusterings",
        "unique",
        "method",
        "params",
        "k",
        "sizes",
        "anmi",
        "objective",
        "trace",
        "stop",
        "seconds",
        "diagnostics",
    ];
    for key in documented {
        assert!(json.get(key).is_some(), "{key} is missing in {text}");
    }
    assert_eq!(json["schema"], 1);
    assert_eq!(
        (&json["n"], &json["clusterings"], &json["unique"]),
        (&6.into(), &3.into(), &3.into())
    );
    assert_eq!(json["sizes"], serde_json::json!([2, 2, 2]));
    assert_eq!(json["params"]["restarts"], 3);
    for key in ["read", "compress", "consensus", "write"] {
        assert!(json["seconds"][key].as_f64().unwrap() >= 0.0, "{key}");
    }
    assert!(fs::read_dir(folder.path()).unwrap().count() == 1, "nothing is written without -o");
}

#[test]
fn pipes_on_both_ends() {
    let folder = tempdir().unwrap();
    let mut child = consilience(folder.path())
        .args(["combine", "-", "--method", "voting", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(VOTES.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("id,cluster,confidence\n0,0,"), "{text}");
    assert_eq!(text.lines().count(), 6);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let labels = table("a,b", 200_000, |i| format!("{},{}", i % 3, i % 3));
    let folder = folder_with("labels.csv", &labels);
    let mut child = consilience(folder.path())
        .args(["combine", "labels.csv", "--method", "voting"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!text.contains("error"), "{text}");
}

#[test]
fn outputs_that_the_method_lacks_are_refused_before_reading() {
    let folder = tempdir().unwrap();
    for option in ["--membership", "--correspondence", "--dendrogram"] {
        let arguments = ["combine", "not-there.csv", "--method", "voting", option, "out.csv"];
        let output = run(folder.path(), &arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(&format!("`voting` has nothing for {option}")), "{text}");
    }
}

/// A folder may hold files of the user that are called like those of some results.
#[test]
fn saving_leaves_alone_what_is_of_no_result() {
    let folder = folder_with("members.csv", "a,b\n0,0\n0,0\n1,1\n1,1\n");
    let own = folder.path().join("leaderboard.csv");
    fs::write(&own, "mine").unwrap();
    let output = run(folder.path(), &["combine", "members.csv", "--k", "2", "--save", "."]);
    assert!(output.status.success());
    assert!(folder.path().join("result.json").exists());
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    // And what is read is not written to.
    let output = run(folder.path(), &["combine", "leaderboard.csv", "--k", "2", "--save", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
}

#[test]
fn rounded_memberships_are_taken_and_told_of() {
    let soft = crate::table("m:a,m:b,m:c,x", 12, |i| match i % 3 {
        0 => "0.3333,0.3333,0.3333,1".to_owned(),
        1 => "0.0001,0.5,0.5,1".to_owned(),
        _ => "0.25,0.25,0.5,2".to_owned(),
    });
    let folder = folder_with("soft.csv", &soft);
    let output = run(folder.path(), &["combine", "soft.csv", "--k", "2", "-o", "out.csv"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("8 of 12 rows of memberships sum to 1 only up to rounding"), "{said}");
    let checked = run(folder.path(), &["check", "soft.csv"]);
    assert!(!String::from_utf8_lossy(&checked.stdout).contains("do not sum to 1"));
    std::fs::write(folder.path().join("soft.csv"), soft.replace("0.25,0.25", "0.26,0.25")).unwrap();
    let output = run(folder.path(), &["combine", "soft.csv", "--k", "2"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("they sum to 1.01"), "{said}");
}

#[test]
fn a_join_tells_who_is_missing_where() {
    let folder = folder_with("a.csv", "name,a\np,1\nq,1\nr,2\n");
    fs::write(folder.path().join("b.csv"), "name,b\nr,x\np,y\ns,x\n").unwrap();
    let output = run(folder.path(), &["combine", "a.csv", "b.csv", "--id", "name", "--k", "2"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("a.csv: 1 of 4 objects is not in it"), "{said}");
    assert!(said.contains("b.csv: 1 of 4 objects is not in it and counts as missing there: `q`"));
}

#[test]
fn a_join_of_strangers_is_refused() {
    let folder = folder_with("a.csv", "id,a\n001,1\n002,1\n003,2\n");
    fs::write(folder.path().join("b.csv"), "id,b\n1,x\n2,x\n3,y\n").unwrap();
    let output = run(folder.path(), &["combine", "a.csv", "b.csv", "--id", "id", "--k", "2"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("b.csv: none of its 3 identifiers is in a.csv"), "{said}");
    assert!(said.contains("leading zeros"), "{said}");
}

#[test]
fn fewer_clusters_than_asked_for_are_told_of() {
    let labels = table("a,b,c", 30, |i| format!("{0},{0},{0}", i % 3));
    let folder = folder_with("labels.csv", &labels);
    let combine = ["combine", "labels.csv", "--method", "hierarchical", "--k", "3"];
    let said = shown(&run(folder.path(), &combine));
    let told = "warning: `hierarchical` made 1 cluster instead of the 3 asked for: it finds no more; \
                `lwea` makes as many as you say";
    assert!(said.starts_with("exit code: 0") && said.contains(told), "{said}");
    let said = shown(&run(folder.path(), &[&combine[..3], &["lwea", "--k", "3"]].concat()));
    assert!(said.contains("-> 3 clusters") && !said.contains("instead of"), "{said}");
}
