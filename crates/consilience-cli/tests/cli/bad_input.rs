//! Bad input: a clear error, the right exit code, and nothing written.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::tempdir;

use crate::{run, shown, table};

/// Files of the folder that every case runs in.
fn prepare(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("empty.csv", "");
    write("header.csv", "a,b\n");
    write("ragged.csv", "a,b\n1,2\n1\n");
    write("text.csv", "x,y\n1,2\n3,tall\n5,6\n");
    write("texts.csv", "x,y,z,place,note\n1.5,2,1,here,a\n3.5,4,2,up,b\n5.5,6,3,down,c\n");
    write("comma.csv", "x;y\n1,5;2\n3,5;4\n");
    write("large.csv", "x,y\n1,2\n3,1e308\n5,6\n");
    let sparse = "%%MatrixMarket matrix coordinate real general\n4 2 3\n1 1 1\n3 2 1e308\n4 1 3\n";
    write("large.mtx", sparse);
    write("constant.csv", "x,y\n1.5,2\n1.5,2\n1.5,2\n");
    write("nan.csv", "x,y\n1,2\n3,\n5,6\n");
    write("infinite.csv", "x,y\n1,2\n3,inf\n5,6\n");
    write("missing-column.csv", "a,b\n1,\n2,\n");
    write("labels.csv", "a,b\n1,1\n1,2\n2,2\n");
    write("longer.csv", "c\n1\n1\n2\n2\n");
    write("ids.csv", "name,a\nx,1\ny,1\nx,2\n");
    write("negative.csv", "m:0,m:1\n0.5,0.5\n-0.5,1.5\n");
    write("sum.csv", "m:0,m:1\n0.5,0.5\n0.5,0.4\n");
    write("features.csv", "x,y\n1.5,2.25\n3.5,4\n5.25,6\n");
    let clusterings = table("a,b,c", 60, |i| format!("{},{},{}", i / 20, i / 20, i / 15));
    write("clusterings.csv", &clusterings);
    fs::write(folder.join("cut.csv.gz"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b]).unwrap();
    fs::write(folder.join("cut.parquet"), b"PAR1 and then nothing").unwrap();
    // The head of a page claims a list of which every entry lies beyond the end of the file.
    fs::write(folder.join("page.parquet"), include_bytes!("damaged-page.parquet")).unwrap();
    write("data.xlsx", "1,2\n");
    write("plain.csv.gz", "a,b\n1,2\n1,1\n");
    write("empty.csv.gz", "");
}

/// Arguments, exit code, and what stderr must say.
const CASES: &[(&str, i32, &[&str])] = &[
    ("combine empty.csv", 3, &["empty.csv is empty"]),
    ("combine header.csv", 3, &["header.csv", "no rows", "--no-header"]),
    ("combine ragged.csv", 3, &["ragged.csv, line 3", "1 field,", "2 are expected"]),
    (
        "combine missing-column.csv",
        3,
        &["missing-column.csv", "`b`", "every value is missing", "--drop"],
    ),
    ("combine labels.csv longer.csv", 3, &["labels.csv has 3 rows", "longer.csv has 4", "--id"]),
    ("combine ids.csv --id name", 3, &["ids.csv", "`x`", "line 2", "line 4"]),
    ("combine ids.csv --id nobody", 3, &["ids.csv has no column `nobody`", "--id"]),
    ("combine negative.csv", 3, &["negative.csv, line 3", "`m`", ">= 0"]),
    ("combine sum.csv", 3, &["sum.csv, line 3", "`m`", "sum to 0.9"]),
    ("combine features.csv", 3, &["features.csv", "`x`", "`consilience run` was meant"]),
    ("combine cut.csv.gz", 3, &["cut.csv.gz", "damaged"]),
    ("combine cut.parquet", 3, &["cut.parquet", "damaged"]),
    ("combine not-there.csv", 3, &["not-there.csv cannot be read", "no such file"]),
    ("combine data.xlsx", 3, &["data.xlsx", ".csv"]),
    ("combine labels.csv --method scec --k 9", 3, &["k = 9", "between 1 and 3"]),
    ("combine labels.csv --method scec --k 0", 2, &["--k", "from 1 on"]),
    ("combine labels.csv --method scec --k -2", 2, &["--k", "from 1 on"]),
    ("run features.csv -o out --k 0", 2, &["--k", "from 1 on"]),
    ("combine labels.csv --method scec --k many", 2, &["--k", "from 1 on"]),
    ("combine plain.csv.gz", 3, &["plain.csv.gz", "not compressed by gzip"]),
    ("combine empty.csv.gz", 3, &["empty.csv.gz is empty"]),
    ("combine labels.csv --method scec --k 5..4", 2, &["--k", "a range such as 2..10"]),
    ("combine labels.csv --method scec,scec --k 2", 2, &["`scec` twice"]),
    ("combine labels.csv --method all --k 2 --set a=1", 2, &["--set", "one method"]),
    ("combine labels.csv --k 2 --all-labels a.csv", 2, &["--all-labels", "--method all"]),
    ("combine labels.csv --method voting --k 2", 2, &["`voting` finds", "leave --k out", "`lwea`"]),
    ("combine labels.csv --method best-member --k 2", 2, &["leave --k out", "`anmi-greedy`"]),
    ("combine labels.csv --method relabel-vote --k 2", 2, &["leave --k out", "`voting-merging`"]),
    ("combine labels.csv --method scce --k 2", 2, &["no method `scce`", "did you mean `scec`?"]),
    (
        "combine labels.csv --method voting --set treshold=0.6",
        2,
        &["no parameter `treshold`", "did you mean `threshold`?"],
    ),
    ("combine labels.csv --method voting --set threshold=2", 2, &["`threshold` must be", "got 2"]),
    (
        "combine labels.csv --method voting --set threshold=half",
        2,
        &["`threshold` must be at least 0 and below 1", "half"],
    ),
    ("combine labels.csv --set threshold", 2, &["KEY=VALUE"]),
    (
        "combine labels.csv --set threshold=0.5 --set threshold=0.6",
        2,
        &["threshold is given twice"],
    ),
    (
        "combine labels.csv --method voting --init labels.csv",
        2,
        &["`voting` does not start from a clustering", "scec"],
    ),
    ("combine labels.csv -o labels.csv", 2, &["-o labels.csv would replace an input"]),
    ("combine labels.csv -o no/out.csv", 1, &["no/out.csv cannot be written", "no folder"]),
    ("combine labels.csv -o out.doc", 2, &["out.doc", "ending", ".csv"]),
    ("combine labels.csv -o - --json", 2, &["-o and --json both go to stdout"]),
    ("combine empty.csv --json", 3, &["empty.csv is empty"]),
    ("combine labels.csv --method scce --k 2 --json", 2, &["did you mean `scec`?"]),
    ("combine labels.csv --memory 1B --json", 4, &["memory"]),
    ("combine labels.csv --k many --json", 2, &["'many'", "a range such as 2..10"]),
    ("combine labels.csv --methd scec --json", 2, &["'--methd'", "'--method'"]),
    ("combine labels.csv --coassociation c.csv", 2, &["c.csv", ".npy or .parquet"]),
    ("combine labels.csv --memory lots", 2, &["--memory", "8GiB"]),
    ("combine labels.csv --threads 0", 2, &["--threads", "from 1 on"]),
    (
        "combine labels.csv --weights nobody",
        3,
        &["`nobody` (--weights)", "neither a column", "`a`, `b`"],
    ),
    ("combine", 2, &["CLUSTERINGS"]),
    (
        "run text.csv -o out --k 2",
        3,
        &["text.csv, line 3, column `y`", "`tall` is not a number", "--drop"],
    ),
    (
        "run texts.csv -o out --k 2",
        3,
        &["2 columns hold text: `place`, `note`", "--drop 'place,note'", "--id"],
    ),
    ("run comma.csv -o out --k 2", 3, &["numbers with --decimal ,"]),
    ("run nan.csv -o out --k 2", 3, &["nan.csv, line 3, column `y`", "missing", "--impute"]),
    ("run infinite.csv -o out --k 2", 3, &["infinite.csv, line 3, column `y`", "finite"]),
    ("run large.csv -o out --k 2", 3, &["large.csv, line 3, column `y`: 1e308 is too large"]),
    ("run large.mtx -o out --k 2 --base kmeans", 3, &["row 2, column `1`", "got 1e308"]),
    ("run constant.csv -o out", 3, &["constant.csv: every feature has the same value", "nothing"]),
    ("combine labels.csv --k 2 --align-to nosuch", 3, &["nosuch cannot be read: no such file"]),
    ("run empty.csv -o out --k 2", 3, &["empty.csv is empty"]),
    ("run header.csv -o out --k 2", 3, &["header.csv", "no rows"]),
    (
        "run clusterings.csv -o out --k 2",
        3,
        &["clusterings.csv", "`consilience combine` was meant", "--as-features"],
    ),
    ("run features.csv -o features.csv --k 2", 2, &["features.csv is a file", "folder"]),
    ("run features.csv --k 2", 2, &["--output"]),
    ("run features.csv -o out --scheme random-int", 2, &["random-int", "random-init"]),
    ("run features.csv -o out --base-k two", 2, &["--base-k", "2..10"]),
    (
        "run features.csv -o out --scheme random-init --subspace 2",
        2,
        &["--subspace", "random-subspace"],
    ),
    ("run features.csv -o out --leave-out", 2, &["--leave-out", "bootstrap"]),
    ("run features.csv -o out --truth nobody", 3, &["no column `nobody`", "--truth"]),
    ("run features.csv -o out --k 4", 3, &["k = 4"]),
    ("run page.parquet -o out --k 2", 3, &["page.parquet is damaged", "copy the file again"]),
    ("generate text.csv -o out.csv", 3, &["text.csv, line 3, column `y`"]),
    ("generate features.csv -o out", 2, &["out", "ending"]),
    ("score labels.csv --truth nobody", 3, &["`nobody` (--truth)", "neither a column"]),
    ("score longer.csv", 2, &["one clustering only", "--truth"]),
    ("score labels.csv --metric nim", 2, &["nim", "nmi"]),
    ("methods nobody", 2, &["no method `nobody`"]),
    ("demo irsi", 2, &["irsi", "iris"]),
];

#[test]
fn every_case_is_refused_with_its_reason_and_nothing_is_written() {
    let folder = tempdir().unwrap();
    prepare(folder.path());
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let mut failures = Vec::new();
    for (arguments, code, reasons) in CASES {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let output = run(folder.path(), &arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut expect = |what: String, holds: bool| {
            if !holds {
                failures.push(format!("{}: {what}\n    {text}", arguments.join(" ")));
            }
        };
        let got = output.status.code();
        expect(format!("exit code {got:?}, not {code}"), got == Some(*code));
        expect("no `error:`".to_owned(), text.starts_with("error: "));
        expect("a backtrace".to_owned(), !text.contains("panicked"));
        if arguments.contains(&"--json") {
            let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let said = format!("error: {}\n", told["error"]["message"].as_str().unwrap_or(""));
            expect(format!("another error on stdout: {told}"), said == text);
            expect("another code".to_owned(), told["error"]["exit_code"] == *code);
        } else {
            expect("something on stdout".to_owned(), output.stdout.is_empty());
        }
        for reason in *reasons {
            expect(format!("`{reason}` is not said"), text.contains(reason));
        }
        expect(format!("files left: {:?}", names()), names() == before);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn misspelt_columns_and_options_are_guessed() {
    let folder = crate::combine::folder_with(
        "labels.csv",
        "patient,north,south\np1,a,1\np2,b,2\np3,a,1\np4,b,2\n",
    );
    fs::write(folder.path().join("truth.csv"), "patient,kind\np1,x\np2,y\np3,x\np4,y\n").unwrap();
    fs::write(folder.path().join("data.csv"), "name,x,y\na,1.5,2\nb,2.5,3\n").unwrap();
    for (words, meant) in [
        ("combine labels.csv --id patint", "patient"),
        ("combine labels.csv --id patient --drop nort", "north"),
        ("combine labels.csv labels.csv --id patient --drop nort", "north"),
        ("combine labels.csv --id patient --weights sout", "south"),
        ("score labels.csv --id patient --truth nrth", "north"),
        ("score labels.csv --id patient --truth truth.csv:kid", "kind"),
        ("run data.csv --id nme -o out", "name"),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = run(folder.path(), &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert!(said.ends_with(&format!("; did you mean `{meant}`?\n")), "{words:?}: {said}");
    }
    for (words, meant) in [
        ("run data.csv -o out --clusters 3", "--k"),
        ("combine labels.csv --n-clusters=3", "--k"),
        ("combine labels.csv --weight w", "--weights"),
    ] {
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = run(folder.path(), &words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("a similar argument exists: '{meant}'")), "{said}");
    }
}

#[test]
fn a_refusal_of_memory_names_what_to_change() {
    let folder = tempdir().unwrap();
    let points = crate::table("x,y", 2000, |i| format!("{}.5,{}.25", i % 7, i % 11));
    fs::write(folder.path().join("points.csv"), points).unwrap();
    let many = ["--k", "3", "--base", "kmeans", "--size", "100000", "--memory", "100MB"];
    let output = run(folder.path(), &[&["run", "points.csv", "-o", "out"], &many[..]].concat());
    let said = shown(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("make fewer clusterings, or raise the ceiling (--size, --memory)"),
        "{said}"
    );
}

/// What the estimates leave out is counted where it is allocated.
#[test]
fn the_ceiling_of_memory_is_kept_while_reading() {
    let folder = tempdir().unwrap();
    // Seven million rows, of which the checks want a hundred megabytes.
    fs::write(folder.path().join("rows.csv"), "a,b\n".to_owned() + &"1,2\n2,1\n".repeat(3_500_000))
        .unwrap();
    let output = run(folder.path(), &["check", "rows.csv", "--memory", "10MB"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("--memory does not allow"), "{told}");
    let output = run(folder.path(), &["check", "rows.csv", "--memory", "1GB"]);
    assert!(!shown(&output).contains("memory"), "{}", shown(&output));
}
