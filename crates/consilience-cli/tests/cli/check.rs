//! `check`: planted mistakes are found, each with a fix; clean files are left in peace.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::{run, shown, table};

/// Three groups of plants with an identifier; `cell` may spoil cells by row and column.
fn plants(cell: impl Fn(usize, usize) -> Option<String>) -> String {
    table("plant,length,width,height", 60, |i| {
        let own = [
            format!("plant-{i}"),
            format!("{}", (i % 3) as f64 * 2.0 + 0.01 * ((i * 37) % 50) as f64),
            format!("{}", (i % 3) as f64 * 3.0 + 0.013 * ((i * 53) % 70) as f64),
            format!("{}", 0.017 * ((i * 29) % 60) as f64),
        ];
        let cells: Vec<String> =
            own.into_iter().enumerate().map(|(j, own)| cell(i, j).unwrap_or(own)).collect();
        cells.join(",")
    })
}

/// Five clusterings of three groups; `cell` may spoil cells by row and column.
fn labels(cell: impl Fn(usize, usize) -> Option<String>) -> String {
    table("object,a,b,c,d,e", 40, |i| {
        let mut row = cell(i, 0).unwrap_or_else(|| format!("object-{i}"));
        for j in 1..6 {
            let own = ((i % 3) + usize::from((i * 7 + j * 11) % 13 == 0)) % 3;
            write!(row, ",{}", cell(i, j).unwrap_or_else(|| format!("g{own}"))).unwrap();
        }
        row
    })
}

fn nothing(_: usize, _: usize) -> Option<String> {
    None
}

/// Column `column` of the table holds what `make` makes of the row.
fn column(
    column: usize,
    make: impl Fn(usize) -> String,
) -> impl Fn(usize, usize) -> Option<String> {
    move |i, j| (j == column).then(|| make(i))
}

fn transposed(text: &str) -> String {
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let lines: Vec<String> = (0..rows[0].len())
        .map(|j| rows.iter().map(|row| row[j]).collect::<Vec<_>>().join(","))
        .collect();
    lines.join("\n") + "\n"
}

/// The rules that speak up on these files.
fn rules(folder: &Path, files: &[String], options: &[&str]) -> (Option<i32>, Vec<String>) {
    let names: Vec<String> = (0..files.len()).map(|i| format!("t{i}.csv")).collect();
    for (name, text) in names.iter().zip(files) {
        fs::write(folder.join(name), text).unwrap();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let output = run(folder, &[&["check", "--json"], &names[..], options].concat());
    // One line: that something looks wrong is told by `clean` and the exit code.
    let json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", shown(&output)));
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(json["clean"], findings.is_empty());
    for finding in findings {
        assert!(finding["fix"].as_str().unwrap().len() > 5, "{finding}");
    }
    let rules = findings.iter().map(|f| f["rule"].as_str().unwrap().to_owned()).collect();
    (output.status.code(), rules)
}

#[test]
fn planted_mistakes_are_found() {
    let id = &["--id", "plant"][..];
    let object = &["--id", "object"][..];
    let text = |text: &str| text.to_owned();
    let cases: Vec<(&str, Vec<String>, &[&str])> = vec![
        ("transposed", vec![transposed(&plants(nothing))], &[]),
        ("id-as-feature", vec![plants(column(1, |i| i.to_string()))], id),
        // In any order and from any number on.
        ("id-as-feature", vec![plants(column(1, |i| (1000 - i).to_string()))], id),
        (
            "class-as-feature",
            vec![table("width,Species", 30, |i| format!("{}.5,{}.0", (i * i) % 17, i % 3))],
            &[],
        ),
        ("text-column", vec![plants(column(3, |i| format!("kind {}", i % 3)))], id),
        ("duplicate-ids", vec![plants(column(0, |i| format!("plant-{}", i / 2)))], id),
        ("constant-column", vec![plants(column(2, |_| text("7")))], id),
        (
            "duplicate-columns",
            vec![plants(|i, j| {
                (j == 2).then(|| plants_cell(i)).or((j == 1).then(|| plants_cell(i)))
            })],
            id,
        ),
        ("missing-values", vec![plants(|i, j| (i == 7 && j == 2).then(String::new))], id),
        ("not-a-number", vec![plants(|i, j| (i == 9 && j == 1).then(|| text("unknown")))], id),
        ("not-a-number", vec![plants(|i, j| (i == 9 && j == 1).then(|| text("n/a")))], id),
        ("decimal-comma", vec![plants(|i, j| (j == 2).then(|| format!("\"{i},5\"")))], id),
        ("not-finite", vec![plants(|i, j| (i % 20 == 7 && j == 1).then(|| text("inf")))], id),
        ("not-finite", vec![plants(|i, j| (i == 7 && j == 1).then(|| text("1e308")))], id),
        ("duplicate-ids", vec![plants(|i, j| (i == 7 && j == 0).then(|| text("plant-3")))], &[]),
        ("duplicate-ids", vec![labels(|i, j| (i == 7 && j == 0).then(|| text("object-3")))], &[]),
        ("missing-as-label", vec![labels(|i, j| (i == 7 && j == 3).then(|| text("n/a")))], object),
        ("placeholder", vec![plants(|i, j| (i % 20 == 3 && j == 1).then(|| text("-999")))], id),
        // The first column that names the rows is taken for their identifiers, a second one is not.
        ("id-as-label", vec![labels(column(3, |i| format!("case {i}")))], &[]),
        (
            "duplicate-members",
            vec![labels(|i, j| (j == 2 || j == 4).then(|| format!("{j}-{}", i % 4)))],
            object,
        ),
        ("constant-member", vec![labels(column(3, |_| text("all")))], object),
        ("singletons", vec![labels(column(3, |i| (1000 - 7 * i).to_string()))], object),
        ("mostly-missing", vec![labels(|i, j| (j == 5 && i > 9).then(String::new))], object),
        (
            "no-header",
            vec![table("x2,y0,z1", 30, |i| format!("x{},y{},z{}", i % 3, (i + 1) % 3, i % 2))],
            &[],
        ),
        (
            "row-counts",
            vec![labels(nothing), labels(nothing).lines().take(30).collect::<Vec<_>>().join("\n")],
            &["--drop", "object"],
        ),
        ("other-order", vec![labels(nothing), reversed(&labels(nothing))], &[]),
        (
            "few-common-ids",
            vec![labels(nothing), labels(column(0, |i| format!("OBJECT {i}")))],
            object,
        ),
        ("unreadable", vec![plants(nothing) + "plant-60,1,2\n"], id),
        (
            "memberships",
            vec![table("object,m:a,m:b", 12, |i| format!("o{i},0.{},0.5", 1 + i % 5))],
            object,
        ),
        (
            "memberships",
            vec![table("object,m:a,m:b", 12, |i| format!("o{i},-0.{0},1.{0}", 1 + i % 5))],
            object,
        ),
    ];
    let folder = tempdir().unwrap();
    for (rule, files, options) in &cases {
        let (code, found) = rules(folder.path(), files, options);
        assert_eq!(code, Some(3), "{rule}: {found:?}");
        assert!(found.iter().any(|r| r == rule), "{rule}: {found:?}\n{}", files[0]);
    }
    assert!(cases.len() >= 15);
    // A column of texts that tell all rows apart is what `run` takes for the identifiers.
    assert_eq!(rules(folder.path(), &[plants(nothing)], &[]), (Some(0), Vec::new()));
}

/// One cell of a feature, the same in every column that uses it.
fn plants_cell(i: usize) -> String {
    format!("{}", (i % 3) as f64 * 2.0 + 0.01 * ((i * 37) % 50) as f64)
}

/// The rows after the header from the last to the first.
fn reversed(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    lines.join("\n") + "\n"
}

#[test]
fn clean_files_are_left_in_peace() {
    let folder = tempdir().unwrap();
    let clean: Vec<(Vec<String>, &[&str])> = vec![
        (vec![plants(nothing)], &["--id", "plant"]),
        (vec![plants(nothing)], &["--drop", "plant"]),
        (vec![labels(nothing)], &["--id", "object"]),
        (vec![labels(nothing), reversed(&labels(nothing))], &["--id", "object"]),
        (vec![labels(|i, j| (j == 5 && i < 9).then(|| "NA".to_owned()))], &["--id", "object"]),
        (
            vec![table("object,m:a,m:b", 12, |i| format!("o{i},0.{},0.{}", 1 + i % 5, 9 - i % 5))],
            &["--id", "object"],
        ),
    ];
    for (files, options) in clean {
        let (code, found) = rules(folder.path(), &files, options);
        assert_eq!((code, found), (Some(0), Vec::new()), "{}", files[0]);
    }
}

/// Six rows of two features and a name, in which one thing is wrong.
#[test]
fn the_fault_itself_is_named_and_nothing_else() {
    let folder = tempdir().unwrap();
    let cases = [
        (
            "name,x,y\na,1.5,2\nb,2.5,3\na,3.5,4\nc,1,2\nd,4,4.5\ne,5,6.5\n",
            "",
            "duplicate-ids",
            "--id 'name'",
        ),
        (
            "name;x;y\na;1,5;2\nb;2,5;3\nc;3,5;4\nd;1,25;2\ne;4,5;4\nf;5,5;6\n",
            "--id name",
            "decimal-comma",
            "--decimal ,",
        ),
        (
            "name,x,y\na,1.5,2\nb,inf,3\nc,3.5,4\nd,1,2\ne,4,4.5\nf,5,6.5\n",
            "--id name",
            "not-finite",
            "--missing 'inf'",
        ),
        (
            "name,x,y\na,1.5,2\nb,n/a,3\nc,3.5,4\nd,-,2\ne,4,4.5\nf,5,6.5\n",
            "--id name",
            "not-a-number",
            "--missing 'n/a' --missing '-'",
        ),
        (
            "name;x;y\na;1,5;2\nb;<0,5;3\nc;3,5;4\nd;1,25;2\ne;4,5;4\nf;5,5;6\n",
            "--id name --decimal ,",
            "not-a-number",
            "--missing '<0,5'",
        ),
    ];
    for (text, options, rule, fix) in cases {
        fs::write(folder.path().join("t.csv"), text).unwrap();
        let options: Vec<&str> = options.split_whitespace().collect();
        let check = |more: &[&str]| {
            let output =
                run(folder.path(), &[&["check", "t.csv", "--json"], &options[..], more].concat());
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        let told = check(&[]);
        assert_eq!(told["tables"][0]["kind"], "features", "{told}");
        assert_eq!(told["findings"].as_array().unwrap().len(), 1, "{told}");
        assert_eq!(told["findings"][0]["rule"], rule, "{told}");
        assert!(told["findings"][0]["fix"].as_str().unwrap().contains(fix), "{told}");
        if rule == "decimal-comma" {
            assert_eq!(check(&["--decimal", ","])["clean"], true);
        }
    }
}

/// Whole numbers look like labels; the column that does not is no mistake of the table.
#[test]
fn features_taken_for_clusterings_are_led_to_run() {
    let folder = tempdir().unwrap();
    let spends =
        [|i: usize| format!("{}.25", 100 + 7 * i), |i: usize| format!("{}.5", 100 + i % 9)];
    for spend in spends {
        let customers = table("customer_id,age,visits,spend", 100, |i| {
            format!("{},{},{},{}", 1000 + i, 20 + i % 40, i % 12, spend(i))
        });
        fs::write(folder.path().join("customers.csv"), customers).unwrap();
        let said = shown(&run(folder.path(), &["check", "customers.csv"]));
        assert!(
            said.contains(
                "if this is a table of features, `consilience run` takes it, and --as features checks it; \
                 if not, leave it out with --drop 'spend'"
            ),
            "{said}"
        );
        let again = run(folder.path(), &["check", "customers.csv", "--as", "features"]);
        assert!(again.status.success(), "{}", shown(&again));
    }
}

#[test]
fn findings_are_told_with_their_fix() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("p.csv"), plants(column(2, |_| "7".to_owned()))).unwrap();
    let output = run(folder.path(), &["check", "p.csv", "--id", "plant"]);
    assert_eq!(
        shown(&output),
        "exit code: 3\n----- stdout -----\np.csv: taken for a table of features, 60 rows; if it holds \
         clusterings, give --as clusterings\np.csv: column `width` has the same value in every row\n  fix: \
         leave it out with --drop 'width'\n----- stderr -----\nerror: 1 thing looks wrong in 1 file\n"
    );
}
