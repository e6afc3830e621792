//! `combine` on rows of one table in many Parquet files: the answer of one file, byte by byte.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use tempfile::tempdir;

use crate::run;
use crate::run::names;

/// Numbers that look random and are always the same.
fn noise(i: usize, j: usize) -> usize {
    let mut x = (i as u64 * 31 + j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 31)) as usize >> 8
}

/// Three groups in six members with errors and gaps; integers, in the last member texts.
fn write(path: &Path, rows: std::ops::Range<usize>, wrong: usize) {
    let label = |i: usize, h: usize| {
        let group = if noise(i, h) % 100 < wrong { noise(i, h + 50) % 9 } else { i % 3 };
        (!noise(i, h + 20).is_multiple_of(17)).then_some(group)
    };
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    let ids = rows.clone().map(|i| Some(format!("o{i}"))).collect::<StringArray>();
    columns.push(("who".to_owned(), Arc::new(ids)));
    for h in 0..5 {
        let labels = rows.clone().map(|i| label(i, h).map(|c| c as i64 - 1));
        columns.push((format!("m{h}"), Arc::new(labels.collect::<Int64Array>())));
    }
    let texts = rows.clone().map(|i| label(i, 5).map(|c| ["x", "y", "1", "1.0"][c % 4]));
    columns.push(("m5".to_owned(), Arc::new(texts.collect::<StringArray>())));
    let weights = rows.map(|i| Some(0.1 + (noise(i, 99) % 1000) as f64 / 300.0));
    columns.push(("w".to_owned(), Arc::new(weights.collect::<Float64Array>())));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut out = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    out.write(&batch).unwrap();
    out.close().unwrap();
}

/// The table in one file, and in files of the folder `parts` that end at these rows.
fn split(folder: &Path, rows: usize, cuts: &[usize], wrong: usize) {
    write(&folder.join("whole.parquet"), 0..rows, wrong);
    let parts = folder.join("parts");
    let _ = fs::remove_dir_all(&parts);
    fs::create_dir(&parts).unwrap();
    fs::write(parts.join("_SUCCESS"), "").unwrap();
    let ends = cuts.iter().copied().chain([rows]);
    let mut start = 0;
    for (i, end) in ends.enumerate() {
        write(&parts.join(format!("part-{i:03}.parquet")), start..end, wrong);
        start = end;
    }
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn any_split_into_files_gives_the_bytes_of_one_file() {
    let folder = tempdir().unwrap();
    let at = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let options: [&[&str]; 4] = [
        &["--id", "who", "--weights", "w"],
        &["--id", "who", "--drop", "w", "--missing", "2"],
        &["--drop", "who,w", "--method", "lwgp", "--k", "3"],
        &["--drop", "who", "--weights", "w", "--method", "hbgf", "--k", "3"],
    ];
    let cuts: [&[usize]; 4] = [&[], &[0, 100], &[1, 1, 2, 150, 299], &[300]];
    for (cuts, options) in cuts.iter().zip(options) {
        split(folder.path(), 300, cuts, 20);
        for output in ["one.csv", "one.parquet"] {
            done(
                folder.path(),
                &[&["combine", "whole.parquet", "--force", "-o", output], options].concat(),
            );
        }
        for (threads, output) in [("1", "many.csv"), ("2", "many.parquet")] {
            let many = ["combine", "parts", "--force", "--threads", threads, "-o", output];
            let said = done(folder.path(), &[&many[..], options].concat());
            let files = cuts.len() + 1;
            let told =
                format!("{files} files read as rows of one table, because they are in a folder\n");
            assert_eq!(said.contains(&told), files > 1, "{said}");
        }
        assert_eq!(at("one.csv"), at("many.csv"), "{cuts:?} {options:?}");
        assert_eq!(at("one.parquet"), at("many.parquet"), "{cuts:?} {options:?}");
        // All labels at hand, which is another way through the program.
        let save = ["combine", "parts", "--save", "saved", "--force"];
        done(folder.path(), &[&save[..], options].concat());
        assert_eq!(at("one.csv"), at("saved/labels.csv"), "{cuts:?} {options:?}");
    }
}

#[test]
fn a_small_ceiling_sends_rows_to_disk_and_changes_nothing() {
    let folder = tempdir().unwrap();
    split(folder.path(), 20_000, &[7000, 13_000], 60);
    let drop = ["--drop", "who,w", "--method", "best-member"];
    done(
        folder.path(),
        &[&["combine", "whole.parquet", "--force", "-o", "one.csv"], &drop[..]].concat(),
    );
    let spill = ["combine", "parts", "--force", "-o", "many.csv", "--memory", "2MB", "--json"];
    let output = run(folder.path(), &[&spill[..], &drop].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["rows"]["on_disk"], true, "{told}");
    assert_eq!(told["rows"]["files"], 3);
    assert_eq!(told["rows"]["because"], "they are in a folder");
    let at = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(at("one.csv"), at("many.csv"));
    let refused = run(folder.path(), &["combine", "parts", "--drop", "who,w", "--memory", "100kB"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    // Before anything is read.
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("20000 rows and their clusters would need"), "{said}");
}

#[test]
fn what_files_are_to_one_another_is_said() {
    let folder = tempdir().unwrap();
    write(&folder.path().join("a.parquet"), 0..40, 20);
    write(&folder.path().join("b.parquet"), 40..100, 20);
    write(&folder.path().join("c.parquet"), 0..60, 20);
    let combine = |arguments: &[&str]| {
        let all = [&["combine", "--force", "-o", "out.csv", "--drop", "w"], arguments].concat();
        done(folder.path(), &all)
    };
    let lines = || fs::read_to_string(folder.path().join("out.csv")).unwrap().lines().count() - 1;
    let said = combine(&["a.parquet", "b.parquet", "--id", "who"]);
    assert!(
        said.contains("because they have the same columns and no identifier in common"),
        "{said}"
    );
    assert_eq!(lines(), 100);
    let said = combine(&["a.parquet", "b.parquet", "--drop", "who"]);
    assert!(said.contains("because they have the same columns and different numbers"), "{said}");
    assert_eq!(lines(), 100);
    // The same objects in both: more clusterings of them.
    let said = combine(&["a.parquet", "c.parquet", "--id", "who"]);
    assert!(said.contains("60 objects") && said.contains("in 12 clusterings"), "{said}");
    let said = combine(&["b.parquet", "c.parquet", "--drop", "who"]);
    assert!(said.contains("in 12 clusterings") && said.contains("give --rows"), "{said}");
    let said = combine(&["b.parquet", "c.parquet", "--drop", "who", "--rows"]);
    assert!(said.contains("because they are declared to be"), "{said}");
    assert_eq!(lines(), 120);
}

#[test]
fn rows_are_saved_repeated_and_explained_like_one_file() {
    let folder = tempdir().unwrap();
    split(folder.path(), 200, &[50, 120], 20);
    let combine = ["combine", "--id", "who", "--weights", "w", "--k", "3"];
    fn with<'a>(combine: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
        [combine, more].concat()
    }
    done(folder.path(), &with(&combine, &["parts", "--save", "many", "--report", "many.html"]));
    done(
        folder.path(),
        &with(&combine, &["whole.parquet", "--save", "one", "--report", "one.html"]),
    );
    for file in ["labels.csv", "ensemble.parquet", "weights.csv"] {
        let read = |dir: &str| fs::read(folder.path().join(dir).join(file)).unwrap();
        assert_eq!(read("many"), read("one"), "{file}");
    }
    let replay = ["replay", "many"];
    let data: Vec<String> = (0..3).map(|i| format!("parts/part-{i:03}.parquet")).collect();
    let data: Vec<&str> = data.iter().flat_map(|file| ["--data", file]).collect();
    let output = run(folder.path(), &[&replay[..], &data].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said =
        done(folder.path(), &with(&combine, &["parts", "--align-to", "one", "-o", "again.csv"]));
    assert!(said.contains("rows of one table"), "{said}");
    let started =
        ["parts", "--init", "one/labels.csv", "--method", "scec", "--force", "-o", "again.csv"];
    done(folder.path(), &with(&combine, &started));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = tempdir().unwrap();
    split(folder.path(), 60, &[20], 20);
    fs::write(folder.path().join("a.csv"), "a,b\n1,2\n1,2\n").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let refused = |code: i32, arguments: &[&str], message: &str| {
        let output = run(folder.path(), &[&["combine"], arguments].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(message), "{said}");
    };
    refused(
        3,
        &["a.csv", "whole.parquet", "--rows"],
        "a.csv: rows of one table are read from many",
    );
    refused(3, &["empty"], "empty: there are no .parquet files in this folder");
    let inside = ["parts", "--drop", "who,w", "-o", "parts/out.parquet"];
    refused(2, &inside, "would be taken for rows the next time");
    done(folder.path(), &["combine", "whole.parquet", "--drop", "who,w", "--save", "one"]);
    refused(2, &["parts", "--drop", "who,w", "--add", "one"], "--add goes with tables of more");
    let over = ["parts", "--drop", "who,w", "-o", "parts/part-000.parquet"];
    refused(2, &over, "");
    let twice = ["whole.parquet", "whole.parquet", "--rows", "--id", "who", "--drop", "w"];
    refused(3, &twice, "identifiers must differ");
    fs::write(folder.path().join("parts/part-001.parquet"), "PAR1 no more").unwrap();
    refused(3, &["parts", "--drop", "who,w", "-o", "out.csv"], "part-001.parquet is damaged");
    assert!(!names(folder.path()).contains(&"out.csv".to_owned()));
}
