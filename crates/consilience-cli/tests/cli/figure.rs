//! `figure`: the figures of a saved result as files.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::{run, shown, table};

fn labels() -> String {
    table("name,a,b,c,d", 60, |i| {
        let group = [0, 0, 0, 1, 1, 2][i % 6];
        let odd = if i % 11 == 0 { (group + 1) % 3 } else { group };
        format!("p{i},{group},{},{odd},{}", (group + 1) % 3, if i % 7 == 0 { 0 } else { group })
    })
}

#[test]
fn every_figure_in_every_format() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels()).unwrap();
    let saved = ["combine", "labels.csv", "--id", "name", "--k", "3", "--save", "res"];
    assert!(run(folder.path(), &saved).status.success());
    let output = run(folder.path(), &["figure", "res", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> =
        told["figures"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"matrix") && names.contains(&"cdf"), "{names:?}");
    for name in &names {
        for (ending, start) in [("svg", &b"<svg "[..]), ("pdf", b"%PDF-1.7"), ("png", b"\x89PNG")] {
            let file = format!("{name}.{ending}");
            let output = run(folder.path(), &["figure", "res", name, "-o", &file, "--dpi", "72"]);
            assert!(output.status.success(), "{}", shown(&output));
            let bytes = fs::read(folder.path().join(&file)).unwrap();
            assert!(bytes.starts_with(start), "{file}");
            // The same bytes again.
            let again =
                ["figure", "res", name, "-o", &file, "--dpi", "72", "--force", "--threads", "1"];
            assert!(run(folder.path(), &again).status.success());
            assert_eq!(fs::read(folder.path().join(&file)).unwrap(), bytes, "{file}");
        }
    }
    let svg = fs::read_to_string(folder.path().join("matrix.svg")).unwrap();
    assert!(svg.contains(">Consensus matrix</text>") && svg.contains("cluster 2"), "{svg}");
    let told =
        run(folder.path(), &["figure", "res", "flow", "--member", "c", "-o", "c.svg", "--json"]);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert!(told["caption"].as_str().unwrap().contains("clusters of c (left)"), "{told}");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels()).unwrap();
    let saved = ["combine", "labels.csv", "--id", "name", "--k", "3", "--save", "res"];
    assert!(run(folder.path(), &saved).status.success());
    for (arguments, word) in [
        (&["figure", "res", "matrx", "-o", "a.pdf"][..], "did you mean `matrix`?"),
        (&["figure", "res", "matrix"], "-o matrix.pdf"),
        (&["figure", "res", "matrix", "-o", "a.jpg"], "use .svg, .pdf or .png"),
        (&["figure", "res", "scatter", "-o", "a.pdf"], "offers no figure `scatter`"),
        (&["figure", "res", "-o", "a.pdf"], "name of a figure"),
        (&["figure", "res", "flow", "--member", "z", "-o", "a.pdf"], "no flow from such"),
        (&["figure", "res", "k", "--member", "a", "-o", "a.pdf"], "other figures show all"),
        (&["figure", "res", "k", "--width", "1", "-o", "a.pdf"], "from 3 to 24"),
        (&["figure", "res", "k", "-o", "labels.csv"], "ending"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        assert!(shown(&output).contains(word), "{}", shown(&output));
    }
    assert!(!folder.path().join("a.pdf").exists());
    fs::write(folder.path().join("there.svg"), "mine").unwrap();
    let output = run(folder.path(), &["figure", "res", "k", "-o", "there.svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("there.svg")).unwrap(), "mine");
}
