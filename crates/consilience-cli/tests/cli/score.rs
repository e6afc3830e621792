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

/// Six objects in three groups, in this order; the first column is called as said.
fn listed(header: &str, order: [usize; 6], more: &str) -> String {
    let rows = order.map(|i| format!("p{i},{}{more}\n", i / 2));
    format!("{header}\n{}", rows.concat())
}

#[test]
fn shuffled_files_are_joined_or_refused() {
    let (order, other) = ([0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 4, 2]);
    let folder = folder_with("a.csv", &listed("id,cluster,confidence", order, ",1"));
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("b.csv", listed("id,cluster,confidence", other, ",1"));
    write("truth.csv", listed("id,kind", other, ""));
    write("wide.csv", listed("id,kind,x", other, ",7"));
    write("plain.csv", listed("id,a", order, ""));
    write("numbered.csv", "id,cluster,confidence\n1,0,1\n0,0,1\n3,1,1\n2,1,1\n".to_owned());
    write("four.csv", "id,cluster,confidence\n0,0,1\n1,0,1\n2,1,1\n3,1,1\n".to_owned());
    write("from-one.csv", "id,kind\n1,a\n2,a\n3,b\n4,b\n".to_owned());
    let score =
        |arguments: &[&str]| run(folder.path(), &[&["score", "--json"], arguments].concat());
    let json = |arguments: &[&str]| -> Value {
        let output = score(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", crate::shown(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(json(&["a.csv", "b.csv"])["matrix"][0][1], 1.0);
    assert_eq!(json(&["numbered.csv", "four.csv"])["matrix"][0][1], 1.0);
    for truth in ["truth.csv", "wide.csv:kind", "b.csv"] {
        assert_eq!(json(&["a.csv", "--truth", truth])["scores"][0]["nmi"], 1.0, "{truth}");
        // Texts that tell all rows apart are identifiers, whoever wrote them.
        assert_eq!(json(&["plain.csv", "--truth", truth])["scores"][0]["nmi"], 1.0, "{truth}");
    }
    // Rows that are counted from 0 here and from 1 there.
    assert_eq!(json(&["four.csv", "--truth", "from-one.csv"])["scores"][0]["nmi"], 1.0);
    // A consensus goes with identifiers of any name.
    assert_eq!(json(&["plain.csv", "b.csv"])["matrix"][0][1], 1.0);
    let arguments = ["four.csv", "--truth", "numbered.csv"];
    let output = score(&arguments);
    let said = crate::shown(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("in another order, by column `id`; give --id 'id' to join"), "{said}");
    assert!(score(&[&arguments[..], &["--id", "id"]].concat()).status.success());
}

#[test]
fn the_ensemble_of_a_result_knows_its_identifiers() {
    let folder = folder_with("labels.csv", &listed("name,a,b", [0, 1, 2, 3, 4, 5], ",0"));
    let save = ["combine", "labels.csv", "--id", "name", "--k", "3", "--save", "out"];
    assert!(run(folder.path(), &save).status.success());
    let cases: [(usize, &[&str]); 3] = [
        (2, &["out/ensemble.parquet"]),
        (3, &["out/ensemble.parquet", "out/labels.csv"]),
        (1, &["out/labels.csv", "--save", "again"]),
    ];
    for (clusterings, arguments) in cases {
        let combine = ["combine", "--k", "3", "-o", "c.csv", "--force", "--json"];
        let output = run(folder.path(), &[&combine[..], arguments].concat());
        assert!(output.status.success(), "{}", crate::shown(&output));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["clusterings"], clusterings, "{json}");
        let written = std::fs::read_to_string(folder.path().join("c.csv")).unwrap();
        assert!(written.contains("\np5,"), "{written}");
    }
    assert!(run(folder.path(), &["explain", "again", "p3"]).status.success());
    let output = run(folder.path(), &["score", "out/ensemble.parquet", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["clusterings"], serde_json::json!(["a", "b"]));
}

#[test]
fn minus_one_is_left_out_also_among_numbers_with_decimals() {
    let folder = folder_with("labels.csv", "noisy,truth\n1.0,a\n1.0,a\n2.0,b\n-1.0,b\n");
    let score = ["score", "labels.csv", "--truth", "truth", "--missing", "-1"];
    let output = run(folder.path(), &[&score[..], &["--json"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &json["scores"][0];
    assert_eq!((&row["ari"], &row["k"], &row["n"]), (&1.0.into(), &2.into(), &3.into()));
    // How many objects were compared is a column where it is not all.
    let said = String::from_utf8(run(folder.path(), &score).stdout).unwrap();
    assert!(said.starts_with("clustering,k,n,nmi,") && said.contains("\nnoisy,2,3,1,"), "{said}");
    let pairs = run(folder.path(), &["score", "labels.csv", "--missing", "-1"]);
    let said = String::from_utf8(pairs.stderr).unwrap();
    assert!(said.contains("both label: `noisy` and `truth` on 3 of 4 objects"), "{said}");
}

#[test]
fn identifiers_under_another_name_pair_the_rows() {
    let (order, other) = ([0, 1, 2, 3, 4, 5], [3, 0, 5, 1, 4, 2]);
    let folder = folder_with("a.csv", &listed("id,cluster,confidence", order, ",1"));
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("plain.csv", listed("patient,a", order, ""));
    write("shuffled.csv", listed("code,kind,x", other, ",1.5"));
    write("same.csv", listed("code,kind", order, ""));
    write(
        "twice.csv",
        "code,name,kind\np0,p0,0\np1,p1,0\np2,p3,1\np3,p2,1\np4,p4,2\np5,p5,2\n".to_owned(),
    );
    write("bare.csv", "kind\n0\n0\n1\n1\n2\n2\n".to_owned());
    write("numbers.csv", "patient,a\n1,0\n2,0\n3,1\n4,1\n".to_owned());
    write("ranks.csv", "id,rank,kind\n1,4,0\n2,3,0\n3,2,1\n4,1,1\n".to_owned());
    let score = |words: &str| {
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = run(folder.path(), &[&["score", "--json"], &words[..]].concat());
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), json)
    };
    // By the identifiers, and so it is said where their order is another.
    for (words, said) in [
        ("a.csv --truth shuffled.csv:kind", true),
        ("plain.csv --id patient --truth shuffled.csv:kind", true),
        ("plain.csv --truth shuffled.csv:kind", true),
        ("a.csv --truth same.csv:kind", false),
        ("a.csv --truth same.csv", false),
        ("a.csv --id code --truth twice.csv:kind", false),
    ] {
        let (code, json) = score(words);
        assert_eq!((code, &json["scores"][0]["nmi"]), (Some(0), &1.0.into()), "{words}: {json}");
        let warnings = json["warnings"].to_string();
        assert_eq!(warnings.contains("are paired by its column `code`"), said, "{words}: {json}");
        assert!(!warnings.contains("first row"), "{words}: {json}");
    }
    // By position only with a warning.
    for words in ["a.csv --truth bare.csv", "plain.csv --truth bare.csv"] {
        let (code, json) = score(words);
        let warnings = json["warnings"].to_string();
        assert!(
            code == Some(0) && warnings.contains("first row is taken for the first object"),
            "{json}"
        );
        assert!(warnings.contains("--id pairs them by a column"), "{json}");
    }
    // Never where it would be wrong, or is not clear.
    for (words, exit, problem) in [
        ("a.csv --truth twice.csv:kind", 3, "both `code` and `name` hold the identifiers"),
        ("plain.csv --id patient --truth bare.csv", 3, "bare.csv has no column `patient`"),
        // Numbers may be the same by chance.
        ("numbers.csv --id patient --truth ranks.csv:kind", 3, "ranks.csv has no column `patient`"),
    ] {
        let (code, json) = score(words);
        assert_eq!(code, Some(exit), "{words}: {json}");
        assert!(json["error"]["message"].as_str().unwrap().contains(problem), "{words}: {json}");
    }
}

#[test]
fn classes_of_strangers_are_refused_with_what_is_missing() {
    let order = [0, 1, 2, 3, 4, 5];
    let folder = folder_with("a.csv", &listed("id,cluster,confidence", order, ",1"));
    let strangers = listed("code,kind", order, "").replace("\np", "\nplant ");
    std::fs::write(folder.path().join("truth.csv"), strangers).unwrap();
    let output = run(folder.path(), &["score", "a.csv", "--truth", "truth.csv"]);
    let said = crate::shown(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains(
            "truth.csv: no column has the identifiers of the objects, such as `p0`, and one column of known \
             classes is expected, but it has 2; check that both files use the same identifiers; if their \
             rows go in step, say which one by --truth 'truth.csv:COLUMN'"
        ),
        "{said}"
    );
}

#[test]
fn a_column_in_the_place_of_a_file_is_understood() {
    let folder = folder_with("labels.csv", TABLE);
    let output = run(folder.path(), &["score", "labels.csv:good", "--truth", "truth"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("--drop leaves others out"), "{told}");
    assert_eq!(output.status.code(), Some(2));
}
