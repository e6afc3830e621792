//! `methods`: the table of methods for people and programs.

use consilience::consensus::METHODS;
use serde_json::Value;
use tempfile::tempdir;

use crate::{assert_shown, run};

#[test]
fn one_method() {
    assert_shown!(run(tempdir().unwrap().path(), &["methods", "voting"]));
}

#[test]
fn a_misspelt_method() {
    let output = run(tempdir().unwrap().path(), &["methods", "votnig"]);
    assert_eq!(output.status.code(), Some(2));
    let names: Vec<_> = METHODS.iter().map(|info| info.name).collect();
    let told = format!(
        "error: there is no method `votnig`; there are {}; did you mean `voting`?\n",
        names.join(", ")
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
}

#[test]
fn the_list_names_every_method_and_nothing_twice() {
    let folder = tempdir().unwrap();
    let json = run(folder.path(), &["methods", "--json"]).stdout;
    let text = String::from_utf8(run(folder.path(), &["methods"]).stdout).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let methods = json["methods"].as_array().unwrap();
    assert!(methods.len() > 1);
    for method in methods {
        let name = method["name"].as_str().unwrap();
        let rows = text.lines().filter(|line| line.split_whitespace().next() == Some(name));
        assert_eq!(rows.count(), 1, "{name}");
    }
}

#[test]
fn json_is_one_line_with_the_documented_keys() {
    let output = run(tempdir().unwrap().path(), &["methods", "scec", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.matches('\n').count(), 1);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["schema"], 1);
    let method = &json["methods"][0];
    let keys: Vec<_> = method.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "name",
            "title",
            "reference",
            "chooses_k",
            "soft",
            "missing",
            "takes_start",
            "needs_edges",
            "parameters",
            "time",
            "memory",
            "gives"
        ]
    );
    assert_eq!(method["gives"]["membership"], true);
}
