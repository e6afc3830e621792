use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array};
use consilience::CancelFlag;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use tempfile::tempdir;

use super::*;
use crate::read_clusterings;

fn run() -> Run {
    Run::new(0).threads(2)
}

/// Labels of four members and a weight.
type Row = ([Option<u8>; 4], f64);

const TEXTS: [&str; 4] = ["x", "1", "1.0", "-1"];

/// Columns of a file: bytes, integers with -1, numbers as data frames write integers with gaps, text.
fn columns(rows: &[Row], first: usize) -> Vec<(&'static str, ArrayRef)> {
    let of = |h: usize| rows.iter().map(move |(labels, _)| labels[h]);
    let bytes: UInt8Array = of(0).collect();
    let integers: Int64Array = of(1).map(|l| l.map(|l| i64::from(l) - 1)).collect();
    let numbers: Float64Array = of(2).map(|l| l.map(|l| f64::from(l) - 1.0)).collect();
    let texts: StringArray = of(3).map(|l| l.map(|l| TEXTS[l as usize])).collect();
    let weights: Float64Array = rows.iter().map(|&(_, weight)| Some(weight)).collect();
    let ids: StringArray = (first..first + rows.len()).map(|i| Some(format!("row {i}"))).collect();
    vec![
        ("a", Arc::new(bytes)),
        ("b", Arc::new(integers)),
        ("c", Arc::new(numbers)),
        ("d", Arc::new(texts)),
        ("w", Arc::new(weights)),
        ("id", Arc::new(ids)),
    ]
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    // Row groups that end in the middle of everything.
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
    let mut out =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), Some(properties))
            .unwrap();
    out.write(&batch).unwrap();
    out.close().unwrap();
}

fn options(weighted: bool, ids: bool) -> ReadOptions {
    let mut options = ReadOptions::default();
    let named = |used: bool, name: &str| used.then(|| name.to_owned());
    options.weights = named(weighted, "w");
    options.id = named(ids, "id");
    options.drop.extend(named(!weighted, "w"));
    options.drop.extend(named(!ids, "id"));
    options
}

fn files(paths: &[PathBuf]) -> RowFiles {
    row_files(paths, true, &ReadOptions::default(), &run()).unwrap().unwrap()
}

fn refused(paths: &[PathBuf], options: &ReadOptions) -> String {
    let read = row_files(paths, true, options, &run())
        .and_then(|files| read_rows(&files.unwrap(), options, &run()));
    let folder = format!("{}/", paths[0].parent().unwrap().display());
    read.unwrap_err().to_string().replace(&folder, "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// In memory and on disk, in waves of a few rows and at once.
    #[test]
    fn many_files_are_read_as_one(
        rows in prop::collection::vec(
            (prop::array::uniform4(prop::option::weighted(0.85, 0u8..4)), 0.1f64..3.0), 4..90),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        weighted: bool,
        ids: bool,
        missing in prop_oneof![Just(vec![]), Just(vec!["2".to_owned()]), Just(vec!["x".to_owned(), "2".to_owned()])],
        room in prop_oneof![Just(u64::MAX), Just(0), 100u64..4000],
        wave in prop_oneof![Just(WAVE), 1usize..40],
    ) {
        let folder = tempdir().unwrap();
        let whole = folder.path().join("whole.parquet");
        write(&whole, columns(&rows, 0));
        let options = ReadOptions { missing, ..options(weighted, ids) };
        let expected = read_clusterings(std::slice::from_ref(&whole), &options, &run());

        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).collect();
        cuts.extend([0, rows.len()]);
        cuts.sort_unstable();
        let mut parts = Vec::new();
        for (i, cut) in cuts.windows(2).enumerate() {
            let path = folder.path().join(format!("{i}.parquet"));
            let mut columns = columns(&rows[cut[0]..cut[1]], cut[0]);
            // The first file says in which order the columns stand.
            if i > 0 {
                columns.rotate_left(i % 3);
            }
            write(&path, columns);
            parts.push(path);
        }
        for paths in [parts, vec![whole]] {
            let read = read_within(&files(&paths), &options, room, wave, &run());
            let (Ok(expected), Ok(read)) = (&expected, read) else {
                prop_assert!(expected.is_err());
                continue;
            };
            if paths[0].ends_with("whole.parquet") {
                prop_assert_eq!(&read.warnings, &expected.warnings);
            }
            let mut ensemble = Ensemble::new(expected.members.clone()).unwrap();
            if let Some(weights) = &expected.weights {
                ensemble = ensemble.with_weights(weights.clone()).unwrap();
            }
            let again = read_within(&files(&paths), &options, room, wave, &run()).unwrap();
            let (profiles, beside) = again.into_profiles(&run()).unwrap();
            prop_assert_eq!(profiles, Profiles::new(&ensemble, &run()).unwrap());
            let names = |m: &[Member]| m.iter().map(|m| m.clusters().to_vec()).collect::<Vec<_>>();
            prop_assert_eq!(names(beside.tuples.members()), names(&expected.members));
            let all = read.into_clusterings(&run()).unwrap();
            prop_assert_eq!(&all.members, &expected.members);
            prop_assert_eq!(&all.ids, &expected.ids);
            prop_assert_eq!(&all.weights, &expected.weights);
        }
    }
}

const FOUR: [Option<u8>; 4] = [Some(1), Some(2), Some(3), Some(0)];

#[test]
fn which_files_hold_rows_of_one_table() {
    let folder = tempdir().unwrap();
    let make = |name: &str, rows: usize, first: usize| {
        let path = folder.path().join(name);
        write(&path, columns(&vec![(FOUR, 1.0); rows], first));
        path
    };
    let parts = [make("part-0.parquet", 2, 0), make("part-1.parquet", 2, 2)];
    let others = [make("_a.parquet", 2, 0), make(".b.parquet", 3, 2)];
    std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    let because = |paths: &[PathBuf], declared: bool, ids: bool| {
        let found = row_files(paths, declared, &options(false, ids), &run()).unwrap();
        found.map(|files| (files.len(), files.because()))
    };
    let whole = [folder.path().to_owned()];
    assert_eq!(because(&whole, false, false), Some((2, "they are in a folder")));
    assert_eq!(because(&parts, false, false), Some((2, "they are called part-*")));
    assert_eq!(because(&parts[..1], false, false), Some((1, "it is one file")));
    assert_eq!(because(&others, true, false), Some((2, "they are declared to be")));
    let same = "they have the same columns and";
    let rows = Some(format!("{same} different numbers of rows"));
    let told = |found: Option<(usize, &str)>| found.map(|(_, because)| because.to_owned());
    assert_eq!(told(because(&others, false, false)), rows);
    let disjoint = Some(format!("{same} no identifier in common"));
    assert_eq!(told(because(&others, false, true)), disjoint);
    // The same objects twice are joined, and as many rows stand side by side.
    let twice = [others[0].clone(), parts[0].clone()];
    assert_eq!(because(&twice, false, true), None);
    assert_eq!(because(&twice, false, false), None);
    let text = [PathBuf::from("part-0.csv"), PathBuf::from("part-1.csv")];
    assert_eq!(because(&text, false, false), None);
    assert!(refused(&text, &ReadOptions::default()).contains("only if all are Parquet"));

    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let refused = |path: &Path| {
        let read = row_files(&[path.to_owned()], false, &ReadOptions::default(), &run());
        read.unwrap_err().to_string()
    };
    assert!(refused(&inner).contains("no .parquet files in this folder"));
    assert!(refused(folder.path()).contains("there are folders in it"));
}

#[test]
fn what_is_wrong_is_told_with_file_row_and_column() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let good = at("good.parquet");
    write(&good, columns(&[(FOUR, 1.0), (FOUR, 2.0)], 0));
    let with = |name: &str, change: &dyn Fn(&mut Vec<(&'static str, ArrayRef)>)| {
        let mut columns = columns(&[(FOUR, 1.0), (FOUR, 2.0)], 2);
        change(&mut columns);
        write(&at(name), columns);
        vec![good.clone(), at(name)]
    };
    let ids = options(true, true);
    let weight = with("weight.parquet", &|c| {
        c[4].1 = Arc::new(Float64Array::from(vec![1.0, -1.0]));
    });
    let said = refused(&weight, &ids);
    let place = "weight.parquet, row 1 (counted from 0), column `w`: a weight must be";
    assert!(said.starts_with(place), "{said}");
    let gap = with("gap.parquet", &|c| {
        c[5].1 = Arc::new(StringArray::from(vec![None, Some("x")]));
    });
    let said = refused(&gap, &ids);
    let place = "gap.parquet, row 0 (counted from 0), column `id`: the identifier is missing";
    assert!(said.starts_with(place), "{said}");
    let again = with("again.parquet", &|c| {
        c[5].1 = Arc::new(StringArray::from(vec!["new", "row 1"]));
    });
    assert_eq!(
        refused(&again, &ids),
        "`row 1` in column `id` stands in good.parquet, row 1 (counted from 0), and again in \
         again.parquet, row 1 (counted from 0); identifiers must differ"
    );
    let measured = with("measured.parquet", &|c| {
        c[0].1 = Arc::new(Float64Array::from(vec![1.0, 2.5]));
    });
    let said = refused(&measured, &ids);
    let place = "measured.parquet, row 1 (counted from 0), column `a`: `2.5` is a measurement";
    assert!(said.starts_with(place), "{said}");
    let spelt = with("spelt.parquet", &|c| {
        c[0].1 = Arc::new(StringArray::from(vec!["1", "2.5"]));
    });
    let said = refused(&spelt, &ids);
    let place = "spelt.parquet, row 1 (counted from 0), column `a`: `2.5` is a measurement";
    assert!(said.starts_with(place), "{said}");
    let kind = with("kind.parquet", &|c| {
        c[1].1 = Arc::new(arrow_array::TimestampSecondArray::from(vec![1, 2]));
    });
    let said = refused(&kind, &ids);
    assert!(said.starts_with("kind.parquet: column `b` is of type Timestamp"), "{said}");
    let fewer = with("fewer.parquet", &|c| drop(c.remove(2)));
    let said = refused(&fewer, &ids);
    assert!(
        said.starts_with("fewer.parquet: it has no column `c`, but good.parquet has"),
        "{said}"
    );
    let more = with("more.parquet", &|c| c.push(("e", c[0].1.clone())));
    let said = refused(&more, &ids);
    assert!(
        said.starts_with("more.parquet: it has a column `e`, but good.parquet has not"),
        "{said}"
    );
    let soft = with("soft.parquet", &|c| c[2].0 = "f:0");
    let said = refused(&soft[1..], &ids);
    assert!(said.starts_with("soft.parquet: column `f:0` holds memberships"), "{said}");
    let who = ReadOptions { id: Some("who".to_owned()), ..ids.clone() };
    assert!(refused(&weight, &who).starts_with("good.parquet has no column `who` (id)"));
    let heavy = ReadOptions { weights: Some("heavy".to_owned()), ..options(false, true) };
    assert!(refused(&weight, &heavy).starts_with("`heavy` (weights) is neither a column"));
}

#[test]
fn damaged_and_empty_files() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (good, cut, blank) = (at("good.parquet"), at("cut.parquet"), at("blank.parquet"));
    let none = at("none.parquet");
    write(&good, columns(&[(FOUR, 1.0); 20], 0));
    write(&blank, columns(&[], 0));
    let bytes = std::fs::read(&good).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(&none, "").unwrap();
    let options = options(false, true);
    let said = refused(&[good.clone(), cut], &options);
    assert!(said.starts_with("cut.parquet is damaged"), "{said}");
    let said = refused(&[good.clone(), none], &options);
    assert!(said.starts_with("none.parquet is damaged"), "{said}");
    // Pages that are overwritten, behind a footer that is whole.
    let mut broken = bytes.clone();
    broken[4..bytes.len() / 3].fill(0xff);
    let torn = at("torn.parquet");
    std::fs::write(&torn, broken).unwrap();
    let said = refused(&[good.clone(), torn], &options);
    assert!(said.starts_with("torn.parquet is damaged"), "{said}");
    assert_eq!(
        refused(std::slice::from_ref(&blank), &options),
        "blank.parquet is empty; it needs at least one row"
    );
    let read = read_rows(&files(&[blank, good]), &options, &run()).unwrap();
    assert_eq!((read.n_objects(), read.tuples.n_objects()), (20, 1));
}

#[test]
fn memory_is_asked_for_and_cancelling_is_heard() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let rows: Vec<Row> =
        (0..200).map(|i| ([Some(i % 4), Some(i % 3), Some(i % 2), None], 1.0)).collect();
    write(&path, columns(&rows, 0));
    let (files, options) = (files(&[path]), ReadOptions::default());
    let options =
        ReadOptions { drop: vec!["d".to_owned(), "w".to_owned(), "id".to_owned()], ..options };
    let little = Run::new(0).memory(100);
    let said = read_rows(&files, &options, &little).unwrap_err().to_string();
    assert!(said.contains("a.parquet (200 rows) would need 800 B of memory"), "{said}");
    let read = read_within(&files, &options, 0, 1, &run()).unwrap();
    assert!(read.spilled && !read_rows(&files, &options, &run()).unwrap().spilled);
    let tight = Run::new(0).memory(900);
    let read = read_within(&files, &options, u64::MAX, WAVE, &tight).map(|_| ());
    assert!(read.unwrap_err().to_string().contains("12 distinct rows of 200"));
    let flag = CancelFlag::default();
    flag.cancel();
    let cancelled = read_rows(&files, &options, &run().cancel_flag(flag)).unwrap_err();
    assert_eq!(cancelled.library(), Some(&consilience::Error::Cancelled));
}
