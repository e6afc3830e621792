//! `align`: clusters followed through time.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::{assert_shown, run, shown};

/// Twelve customers; in March a part of the first segment leaves, in April the last merges into another.
fn months(folder: &Path) {
    let table = |labels: &str| {
        let rows = labels.chars().enumerate().filter(|(_, label)| *label != '.');
        let rows = rows.map(|(i, label)| format!("c{i},{label},{}.5\n", i * 3));
        format!("customer,segment,spent\n{}", rows.collect::<String>())
    };
    for (name, labels) in [
        ("jan.csv", "000000111222"),
        ("feb.csv", "5555557773.3"),
        ("mar.csv", "222244000111"),
        ("apr.csv", "000033000111"),
    ] {
        fs::write(folder.join(name), table(labels)).unwrap();
    }
}

const ALIGN: [&str; 7] = [
    "align",
    "jan.csv:segment",
    "feb.csv:segment",
    "mar.csv:segment",
    "apr.csv:segment",
    "--id",
    "customer",
];

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn ids_persist_and_everything_is_told() {
    let folder = tempdir().unwrap();
    months(folder.path());
    let output = run(folder.path(), &[&ALIGN[..], &["-o", "out"]].concat());
    assert_shown!(output);
    let out = folder.path().join("out");
    let labels = lines(&out.join("labels.csv"));
    assert_eq!(labels[0], "customer,jan,feb,mar,apr");
    assert_eq!((&*labels[1], &*labels[5]), ("c0,0,0,0,0", "c4,0,0,3,3"));
    assert_eq!(labels[11], "c10,2,,2,2");
    let events = lines(&out.join("events.csv"));
    assert_eq!(events[0], "time,event,cluster,other,objects,share");
    assert_eq!(&events[1..], ["mar,split,3,0,2,1", "apr,merge,1,0,3,1"]);
    let moves = lines(&out.join("moves.csv"));
    assert_eq!(moves[0], "customer,from_time,to_time,from_cluster,to_cluster");
    assert_eq!(moves.len(), 1 + 5);
    assert!(moves.contains(&"c4,feb,mar,0,3".to_owned()), "{moves:?}");
    // An object that was away comes from where it was seen last.
    let flows = lines(&out.join("flows.csv"));
    assert!(flows.contains(&"jan,mar,2,2,1".to_owned()), "{flows:?}");
    assert!(lines(&out.join("clusters.csv")).contains(&"mar,0,2,4,4,0,0".to_owned()));
    let svg = fs::read_to_string(out.join("flow.svg")).unwrap();
    assert!(svg.contains(">Clusters through time</text>") && svg.contains(">apr</text>"), "{svg}");
    let record: Value = serde_json::from_slice(&fs::read(out.join("align.json")).unwrap()).unwrap();
    assert_eq!(record["times"], json!(["jan", "feb", "mar", "apr"]));
    assert_eq!(
        (&record["share"], &record["moves"], &record["n"]),
        (&0.5.into(), &5.into(), &12.into())
    );
    assert_eq!(record["events"][0]["other"], "0");
}

#[test]
fn one_table_with_a_column_per_time_and_json() {
    let folder = tempdir().unwrap();
    let rows = "id,may,june\na,x,p\nb,x,p\nc,y,q\nd,y,\n";
    fs::write(folder.path().join("t.csv"), rows).unwrap();
    let arguments = ["align", "t.csv", "--id", "id", "-o", "out", "--json", "--figure", "f.pdf"];
    let output = run(folder.path(), &arguments);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["ids"], &told["moves"]), (&json!(["x", "y"]), &0.into()));
    assert!(told["events"].as_array().unwrap().is_empty() && told["seed"] == 0, "{told}");
    assert!(fs::read(folder.path().join("f.pdf")).unwrap().starts_with(b"%PDF"));
    // Everything that is there is replaced only by --force.
    let again = run(folder.path(), &arguments[..6]);
    assert_eq!(again.status.code(), Some(2), "{}", shown(&again));
    assert!(run(folder.path(), &[&arguments[..6], &["--force"]].concat()).status.success());
}

#[test]
fn results_follow_each_other() {
    let folder = tempdir().unwrap();
    let table = |turn: usize| {
        crate::table("name,a,b,c", 30, |i| {
            let group = (i % 3 + turn) % 3;
            format!("p{i},{group},{group},{}", if i == 7 { 0 } else { group })
        })
    };
    for (name, turn) in [("one", 0), ("two", 1)] {
        let file = format!("{name}.csv");
        fs::write(folder.path().join(&file), table(turn)).unwrap();
        let combine = ["combine", &file, "--id", "name", "--k", "3", "--save", name];
        assert!(run(folder.path(), &combine).status.success());
    }
    let output = run(folder.path(), &["align", "one", "two/result.json", "-o", "out", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["times"], &told["moves"]), (&json!(["one", "two"]), &0.into()), "{told}");
    assert_eq!(lines(&folder.path().join("out/labels.csv"))[0], "id,one,two");
}

#[test]
fn what_cannot_be_followed_is_refused_and_leaves_nothing() {
    let folder = tempdir().unwrap();
    months(folder.path());
    fs::write(folder.path().join("short.csv"), "segment\n1\n2\n").unwrap();
    for (arguments, code, word) in [
        (&["align", "jan.csv:segment", "--id", "customer"][..], 2, "two times"),
        (
            &["align", "jan.csv:segment", "feb.csv:nothing", "--id", "customer"],
            3,
            "no column `nothing`",
        ),
        (&["align", "jan.csv", "feb.csv", "--id", "customer"], 3, "`spent`"),
        (&["align", "jan.csv:segment", "gone.csv", "--id", "customer"], 3, "gone.csv"),
        (&["align", "jan.csv:segment", "short.csv"], 3, "short.csv has nothing that does"),
        (&[&ALIGN[..], &["--share", "0"]].concat(), 2, "share"),
        (&[&ALIGN[..], &["--names", "a,b"]].concat(), 2, "4 different names"),
        (&[&ALIGN[..], &["--figure", "a.doc"]].concat(), 2, ".svg, .pdf or .png"),
    ] {
        let output = run(folder.path(), &[arguments, &["-o", "out"]].concat());
        assert_eq!(output.status.code(), Some(code), "{}", shown(&output));
        assert!(shown(&output).contains(word), "{word}: {}", shown(&output));
        assert!(!folder.path().join("out").exists());
    }
}

#[test]
fn noise_is_missing_and_said_aloud() {
    let folder = tempdir().unwrap();
    let table = "name,a,b,c\np,0,0,1\nq,0,0,1\nr,1,1,0\ns,1,-1,0\nt,-1,-1,-1\n";
    fs::write(folder.path().join("l.csv"), table).unwrap();
    let combine = ["combine", "l.csv", "--id", "name", "--k", "2"];
    let output = run(folder.path(), &combine);
    let said = shown(&output);
    assert!(said.contains("-1 is read as missing, as programs write noise"), "{said}");
    assert!(said.contains("in 3 of 3 clusterings") && said.contains("--noise cluster"), "{said}");
    assert!(said.contains("id,cluster,confidence,coverage"), "{said}");
    assert!(said.contains("\nt,,") && said.contains("s,1,"), "{said}");
    let kept = run(folder.path(), &[&combine[..], &["--noise", "cluster"]].concat());
    let said = shown(&kept);
    assert!(!said.contains("read as missing") && !said.contains("coverage"), "{said}");
    // The choice is part of the record, and is repeated.
    let save = [&combine[..], &["--noise", "cluster", "--save", "res"]].concat();
    assert!(run(folder.path(), &save).status.success());
    let again = run(folder.path(), &["replay", "res"]);
    assert!(again.status.success(), "{}", shown(&again));
}

#[test]
fn a_time_without_any_label_is_refused() {
    let folder = tempdir().unwrap();
    for rows in ["a,-1,-1\nb,-1,-1\n", "a,0,\nb,1,\n"] {
        fs::write(folder.path().join("t.csv"), format!("id,may,june\n{rows}")).unwrap();
        let output = run(folder.path(), &["align", "t.csv", "--id", "id", "-o", "out"]);
        assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
        let said = shown(&output);
        assert!(said.contains("every value is missing") && said.contains("--drop"), "{said}");
        assert!(!folder.path().join("out").exists());
    }
}

#[test]
fn memory_is_asked_for_the_moves_and_nothing_is_left() {
    let folder = tempdir().unwrap();
    // Half of the objects move, and every move tells two times by name.
    let rows = crate::table("id,a,b", 2_000, |i| format!("p{i},{},{}", i % 2, i / 2 % 2));
    fs::write(folder.path().join("t.csv"), rows).unwrap();
    let names = format!("{},b", "a".repeat(10_000));
    let arguments = ["align", "t.csv", "--id", "id", "--names", &names, "-o", "out"];
    let output = run(folder.path(), &[&arguments[..], &["--memory", "10MB"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", shown(&output));
    assert!(shown(&output).contains("the tables of 1,000 moves"), "{}", shown(&output));
    assert!(!folder.path().join("out").exists());
    let output = run(folder.path(), &[&arguments[..], &["--memory", "100MB"]].concat());
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(lines(&folder.path().join("out/moves.csv")).len(), 1 + 1_000);
}

#[test]
fn tables_without_common_objects_are_told() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("a.csv"), "who,x\np,0\nq,1\n").unwrap();
    fs::write(folder.path().join("b.csv"), "who,x\nr,0\ns,1\n").unwrap();
    let output = run(folder.path(), &["align", "a.csv", "b.csv", "--id", "who", "-o", "out"]);
    assert!(shown(&output).contains("`a` and `b` have no object in common"), "{}", shown(&output));
}
