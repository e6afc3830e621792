//! `assign` and `combine --add`: new objects and new members for a saved result.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{run, shown, table};

/// Three groups by four members, of which two err here and there.
fn labels() -> String {
    table("name,a,b,c,d", 60, |i| {
        let group = i % 3;
        let (c, d) = ((group + usize::from(i % 7 == 0)) % 3, (group + usize::from(i % 5 == 0)) % 3);
        format!("p{i},a{group},b{group},c{c},d{d}")
    })
}

fn told(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{}", shown(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn saved(folder: &Path, more: &[&str]) {
    fs::write(folder.join("labels.csv"), labels()).unwrap();
    let options = ["combine", "labels.csv", "--id", "name", "--k", "3", "--save", "out", "--json"];
    told(&run(folder, &[&options[..], more].concat()));
}

#[test]
fn the_objects_themselves_get_what_they_have() {
    for more in [&[][..], &["--method", "ea-al"]] {
        let folder = tempdir().unwrap();
        saved(folder.path(), more);
        let output = run(folder.path(), &["assign", "out", "labels.csv", "-o", "again.csv"]);
        assert!(output.status.success(), "{}", shown(&output));
        let again = lines(&folder.path().join("again.csv"));
        assert_eq!(again[0], "id,cluster,confidence,match");
        for (line, known) in again.iter().zip(lines(&folder.path().join("out/labels.csv"))).skip(1)
        {
            assert_eq!(*line, known + ",exact", "{more:?}");
        }
    }
}

#[test]
fn new_tuples_go_to_the_nearest() {
    let folder = tempdir().unwrap();
    saved(folder.path(), &[]);
    // Columns in another order, one missing, one more; a label never seen; nothing known at all.
    let new = "name,d,other,b,a\n\
               q0,d0,x,b0,a0\n\
               q1,d1,x,b1,a0\n\
               q2,NA,x,b2,a2\n\
               q3,d9,y,NA,NA\n\
               q4,NA,y,NA,NA\n";
    fs::write(folder.path().join("new.csv"), new).unwrap();
    let output = run(folder.path(), &["assign", "out", "new.csv", "-o", "found.csv", "--json"]);
    let json = told(&output);
    assert_eq!(
        (&json["exact"], &json["nearest"], &json["none"]),
        (&0.into(), &3.into(), &2.into())
    );
    assert_eq!(json["missing"], json!(["c"]));
    assert_eq!(json["ignored"], json!(["other"]));
    assert_eq!(json["unknown"], json!([{"clustering": "d", "labels": ["d9"], "objects": 1}]));
    let cluster_of = |id: &str| -> String {
        let known = lines(&folder.path().join("out/labels.csv"));
        let line = known.iter().find(|line| line.starts_with(&format!("{id},"))).unwrap();
        line.split(',').nth(1).unwrap().to_owned()
    };
    let found = lines(&folder.path().join("found.csv"));
    assert!(found[1].starts_with(&format!("q0,{},", cluster_of("p3"))), "{found:?}");
    assert!(found[2].starts_with(&format!("q1,{},", cluster_of("p1"))), "{found:?}");
    assert!(found[3].starts_with(&format!("q2,{},", cluster_of("p2"))), "{found:?}");
    // One clustering is not there, and of the others not all labels.
    assert_eq!(found[0], "id,cluster,confidence,coverage,match");
    assert!(found[1].ends_with(",0.75,nearest") && found[3].ends_with(",0.5,nearest"), "{found:?}");
    assert_eq!(found[4..], ["q3,,,0,none", "q4,,,0,none"]);
    // The same in words, and from a pipe without identifiers.
    let output = run(folder.path(), &["assign", "out", "new.csv", "-o", "found.csv", "--force"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("clustering `d` never gave `d9` before: missing for 1 object"), "{said}");
    fs::write(folder.path().join("bare.csv"), "a,b,c,d\na1,b1,c1,d1\n").unwrap();
    let output = run(folder.path(), &["assign", "out", "bare.csv"]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = format!("id,cluster,confidence,match\n0,{},", cluster_of("p1"));
    assert!(table.starts_with(&expected) && table.ends_with(",exact\n"), "{table}");
}

#[test]
fn tables_without_the_clusterings_are_refused() {
    let folder = tempdir().unwrap();
    saved(folder.path(), &[]);
    fs::write(folder.path().join("new.csv"), "x,y\n1,2\n2,1\n").unwrap();
    let output = run(folder.path(), &["assign", "out", "new.csv"]);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    assert!(shown(&output).contains("these are `a`, `b`, `c`, `d`"), "{}", shown(&output));
}

#[test]
fn soft_members_are_assigned_too() {
    let folder = tempdir().unwrap();
    let soft = table("m:0,m:1,n:0,n:1", 20, |i| {
        let p = [0.9, 0.1, 0.8, 0.3][i % 4];
        format!("{p},{},{},{}", 1.0 - p, 1.0 - p, p)
    });
    fs::write(folder.path().join("soft.csv"), soft).unwrap();
    let options = ["combine", "soft.csv", "--method", "scec", "--k", "2", "--save", "out"];
    let output = run(folder.path(), &options);
    assert!(output.status.success(), "{}", shown(&output));
    let output = run(folder.path(), &["assign", "out", "soft.csv", "--json", "-o", "f.csv"]);
    assert_eq!(told(&output)["exact"], 20);
    // One of the two, and not one of its rows: the nearest by distance of memberships.
    fs::write(folder.path().join("new.csv"), "m:1,m:0\n0.05,0.95\n0.95,0.05\n").unwrap();
    let output =
        run(folder.path(), &["assign", "out", "new.csv", "--json", "-o", "f.csv", "--force"]);
    assert_eq!(told(&output)["nearest"], 2);
    let (known, found) =
        (lines(&folder.path().join("out/labels.csv")), lines(&folder.path().join("f.csv")));
    let cluster = |line: &String| line.split(',').nth(1).unwrap().to_owned();
    assert_eq!((cluster(&found[1]), cluster(&found[2])), (cluster(&known[1]), cluster(&known[2])));
}

#[test]
fn members_are_added_to_a_saved_result() {
    let folder = tempdir().unwrap();
    saved(folder.path(), &["--method", "scec", "--set", "restarts=2"]);
    let more = table("name,e,f", 60, |j| {
        let i = 59 - j;
        format!("p{i},{},{}", i % 3, (i + usize::from(i == 59)) % 3)
    });
    fs::write(folder.path().join("more.csv"), more).unwrap();
    let output =
        run(folder.path(), &["combine", "more.csv", "--add", "out", "--save", "more", "--json"]);
    let json = told(&output);
    assert_eq!(
        (&json["clusterings"], &json["method"], &json["k"]),
        (&6.into(), &"scec".into(), &3.into())
    );
    assert_eq!(json["params"]["restarts"], 2);
    assert_eq!(json["aligned"]["to"], "out/labels.csv");
    assert_eq!(json["aligned"]["moved"], 0);
    let without = |name: &str| -> Vec<String> {
        let known = lines(&folder.path().join(name));
        known.iter().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    };
    assert_eq!(without("more/labels.csv"), without("out/labels.csv"));
    // What was added to can be repeated, explained, and added to again.
    let output = run(folder.path(), &["replay", "more"]);
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(
        told(&run(folder.path(), &["explain", "more", "p5", "--json"]))["objects"][0]["votes"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    let again = run(folder.path(), &["combine", "more.csv", "--add", "more", "-o", "x.csv"]);
    assert_eq!(again.status.code(), Some(2), "{}", shown(&again));
    assert!(shown(&again).contains("clustering `e` is in the result already"), "{}", shown(&again));
    let fewer = table("name,g", 60, |i| format!("p{i},{}", i % 3));
    fs::write(folder.path().join("g.csv"), fewer).unwrap();
    let options = ["combine", "g.csv", "--add", "more", "--save", "more", "--json"];
    assert_eq!(told(&run(folder.path(), &options))["clusterings"], 7);
    assert!(folder.path().join("more/earlier.csv").exists());
}

#[test]
fn a_combination_is_saved_whole() {
    let folder = tempdir().unwrap();
    let weights = table("weight", 60, |i| (1.0 + (i % 4) as f64 / 3.0).to_string());
    fs::write(folder.path().join("w.csv"), weights).unwrap();
    fs::write(folder.path().join("labels.csv"), labels()).unwrap();
    let options = [
        "combine",
        "labels.csv",
        "--drop",
        "name",
        "--method",
        "scec",
        "--k",
        "3",
        "--weights",
        "w.csv",
        "--save",
        "out",
    ];
    let output = run(folder.path(), &options);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", shown(&output));
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(run(folder.path(), &["report", "out", "-o", "again.html"]).status.success());
    assert!(page == fs::read_to_string(folder.path().join("again.html")).unwrap());
    let output = run(folder.path(), &["replay", "out"]);
    assert!(output.status.success(), "{}", shown(&output));
    let numbers = |name: &str| -> Vec<f64> {
        lines(&folder.path().join(name))[1..].iter().map(|line| line.parse().unwrap()).collect()
    };
    assert_eq!(numbers("out/weights.csv"), numbers("w.csv"));
}

#[test]
fn features_are_refused_with_what_to_do() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), crate::run::groups(60)).unwrap();
    let options = ["--id", "name", "--drop", "kind", "--k", "3", "--size", "3", "-o", "out"];
    assert!(run(folder.path(), &[&["run", "data.csv"], &options[..]].concat()).status.success());
    // Whole numbers look like labels, and sparse tables are none that labels come in.
    let whole =
        table("x,y", 60, |i| format!("{},{}", i % 7 + 10 * (i / 30), i % 5 + 10 * (i / 30)));
    fs::write(folder.path().join("whole.csv"), whole).unwrap();
    fs::write(folder.path().join("new.mtx"), "%%MatrixMarket matrix coordinate real general\n")
        .unwrap();
    let options =
        ["run", "whole.csv", "--as-features", "--k", "2", "--size", "3", "-o", "of-whole"];
    assert!(run(folder.path(), &options).status.success());
    for (result, new) in
        [("out", "data.csv --drop kind"), ("of-whole", "whole.csv"), ("out", "new.mtx")]
    {
        let new: Vec<&str> = new.split_whitespace().collect();
        let refused = run(folder.path(), &[&["assign", result], &new[..]].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(3), "{said}");
        let align = format!("--align-to {result}`");
        assert!(said.contains("holds features") && said.contains(&align), "{said}");
    }
}

#[test]
fn what_was_chosen_stays_when_members_are_added() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels()).unwrap();
    let combine = ["combine", "labels.csv", "--id", "name", "--save", "out", "--json"];
    let before = told(&run(folder.path(), &combine));
    // With a third of the labels missing the method would be another, and so would the number.
    let cells = |i: usize| ["0", "1", "n/a"][i % 3].to_owned();
    let more =
        table("name,e,f,g,h,i,j", 60, |i| format!("p{i},{}", [(); 6].map(|()| cells(i)).join(",")));
    fs::write(folder.path().join("more.csv"), more).unwrap();
    let add = ["combine", "more.csv", "--add", "out", "--save", "more", "--json"];
    let after =
        told(&run(folder.path(), &[&add[..], &["--missing", "n/a", "--missing", "a0"]].concat()));
    assert_eq!((&after["method"], &after["k"]), (&before["method"], &before["k"]));
    // Clusters of the saved members that are called a0 are still there.
    let score =
        ["score", "more/ensemble.parquet", "--id", "name", "--truth", "labels.csv:a", "--json"];
    let scores = told(&run(folder.path(), &score));
    assert_eq!((&scores["scores"][0]["nmi"], &scores["scores"][0]["k"]), (&1.0.into(), &3.into()));
}

#[test]
fn identifiers_of_another_name_are_kept() {
    let folder = tempdir().unwrap();
    saved(folder.path(), &[]);
    let new = "code,a,b,c,d\nq0,a0,b0,c0,d0\nq1,a1,b1,c1,d1\nq2,a0,b0,c0,d0\nq3,a0,b0,c0,d0\n";
    fs::write(folder.path().join("new.csv"), new).unwrap();
    let output = run(folder.path(), &["assign", "out", "new.csv"]);
    let (table, said) = (String::from_utf8_lossy(&output.stdout), shown(&output));
    assert!(table.starts_with("id,cluster,confidence,match\nq0,"), "{said}");
    assert!(table.contains("\nq1,"), "{said}");
    assert!(said.contains("`code` has a value of its own in every row"), "{said}");
    assert!(!said.contains("left out"), "{said}");
    // A few values differ by chance.
    fs::write(folder.path().join("few.csv"), "site,a,b,c,d\nnorth,a0,b0,c0,d0\n").unwrap();
    let said = shown(&run(folder.path(), &["assign", "out", "few.csv"]));
    assert!(said.contains("\n0,") && said.contains("`site` is no clustering"), "{said}");
    // Two columns that might be it are none, and one that is left out is told of in the singular.
    let new = "x,code,site,a,b,c,d\n1,q0,s,a0,b0,c0,d0\n2,q1,s,a1,b1,c1,d1\n";
    fs::write(folder.path().join("new.csv"), new).unwrap();
    let said = shown(&run(folder.path(), &["assign", "out", "new.csv"]));
    assert!(
        said.contains("\n0,") && said.contains("`x`, `code`, `site` are no clusterings"),
        "{said}"
    );
    let said =
        shown(&run(folder.path(), &["assign", "out", "new.csv", "--id", "code", "--drop", "x"]));
    assert!(said.contains("\nq0,"), "{said}");
    assert!(said.contains("note: `site` is no clustering of the result and is left out"), "{said}");
}

#[test]
fn identifiers_of_new_objects_are_found_as_everywhere() {
    let folder = tempdir().unwrap();
    saved(folder.path(), &[]);
    // Numbers name rows only where they are called so.
    let numbers = |i: usize| format!("{},a0,b0,c0,d0", 100 + 7 * i);
    for (name, taken) in [("sample_id", true), ("income", false)] {
        fs::write(folder.path().join("new.csv"), table(&format!("{name},a,b,c,d"), 6, numbers))
            .unwrap();
        let said = shown(&run(folder.path(), &["assign", "out", "new.csv"]));
        assert_eq!(said.contains("\n107,"), taken, "{said}");
        assert_eq!(said.contains(&format!("`{name}` is no clustering")), !taken, "{said}");
    }
    // Several files are joined on it.
    let halves = [("left.csv", "sample_id,a,b"), ("right.csv", "sample_id,c,d")];
    for (i, (file, header)) in halves.into_iter().enumerate() {
        let label = ["a0,b0", "c0,d0"][i];
        let rows = |row: usize| {
            let row = if i == 0 { row } else { 5 - row };
            format!("{},{label}", 100 + 7 * row)
        };
        fs::write(folder.path().join(file), table(header, 6, rows)).unwrap();
    }
    let said = shown(&run(folder.path(), &["assign", "out", "left.csv", "right.csv"]));
    assert!(said.contains("6 objects: 6 with a known tuple") && said.contains("\n107,"), "{said}");
    // Also where the objects of the result have none.
    let combine = ["combine", "labels.csv", "--drop", "name", "--k", "3", "--save", "bare"];
    assert!(run(folder.path(), &combine).status.success());
    let said = shown(&run(folder.path(), &["assign", "bare", "left.csv", "right.csv"]));
    assert!(said.contains("\n107,"), "{said}");
}

#[test]
fn added_members_keep_a_number_that_nobody_asked_for() {
    for (asked, phrase) in [(&["--k", "3"][..], true), (&[], false)] {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("labels.csv"), labels()).unwrap();
        let combine = ["combine", "labels.csv", "--id", "name", "--save", "out", "--json"];
        assert_eq!(told(&run(folder.path(), &[&combine[..], asked].concat()))["k"], 3);
        let more = table("name,e", 60, |i| format!("p{i},{}", i % 3));
        fs::write(folder.path().join("more.csv"), more).unwrap();
        let add = ["combine", "more.csv", "--add", "out", "--save", "more"];
        let json = told(&run(folder.path(), &[&add[..], &["--json"]].concat()));
        assert_eq!(
            (&json["k"], json["verdict"].to_string().contains("asked for")),
            (&3.into(), phrase)
        );
        let said = shown(&run(folder.path(), &add));
        assert_eq!(
            said.contains("number of clusters: 3, as the earlier result found it"),
            !phrase,
            "{said}"
        );
        // The page that is made later says the same, and the run can be repeated.
        let json = told(&run(folder.path(), &["report", "more", "--json"]));
        assert_eq!(json["verdict"].to_string().contains("asked for"), phrase, "{json}");
        let page = fs::read_to_string(folder.path().join("more/report.html")).unwrap();
        assert_eq!(page.contains("was kept from the result"), !phrase);
        assert!(run(folder.path(), &["replay", "more"]).status.success());
    }
}
