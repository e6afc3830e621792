//! Tests of files that other programs write: arrays in other orders and types, Parquet and Arrow
//! with nulls, Parquet compressed in other ways.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use consilience::Matrix;
use consilience::Run;
use consilience::ensemble::Member;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::*;

fn run() -> Run {
    Run::new(0).threads(1)
}

/// An array with a header as NumPy writes it.
fn npy(descr: &str, fortran: bool, shape: [usize; 2], cells: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let [rows, columns] = shape;
    let header = format!(
        "{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({rows}, {columns}), }}\n"
    );
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), cells].concat()
}

/// Writes a file of this name and reads it as clusterings.
fn clusterings(name: &str, bytes: &[u8], options: &ReadOptions) -> ClusteringTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read_clusterings(&[path], options, &run()).unwrap()
}

/// The same as features; a refusal without the folder.
fn features(name: &str, bytes: &[u8]) -> Result<FeatureTable, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let place = format!("{}/", folder.path().display());
    read_features(&path, &ReadOptions::default(), &run())
        .map_err(|error| error.to_string().replace(&place, ""))
}

fn labels(member: &Member) -> Vec<Option<String>> {
    let hard = member.hardened();
    hard.labels().iter().map(|code| code.map(|c| hard.clusters()[c].clone())).collect()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<Option<String>> {
    words.map(|word| (!word.is_empty()).then(|| word.to_owned())).to_vec()
}

/// Three rows of two columns, row by row and column by column.
const BY_ROWS: [i32; 6] = [10, 20, 11, 21, -1, 20];
const BY_COLUMNS: [i32; 6] = [10, 11, -1, 20, 21, 20];

#[test]
fn arrays_that_stand_column_by_column_are_the_same_tables() {
    let bytes = |cells: [i32; 6]| cells.map(i32::to_le_bytes).concat();
    let by_rows = npy("<i4", false, [3, 2], &bytes(BY_ROWS));
    let by_columns = npy("<i4", true, [3, 2], &bytes(BY_COLUMNS));
    let table = clusterings("t.npy", &by_columns, &ReadOptions::default());
    assert_eq!(labels(&table.members[0]), words(["10", "11", ""]));
    assert_eq!(labels(&table.members[1]), words(["20", "21", "20"]));
    assert_eq!(table.members, clusterings("t.npy", &by_rows, &ReadOptions::default()).members);
    let (a, b) = (features("t.npy", &by_rows).unwrap(), features("t.npy", &by_columns).unwrap());
    assert_eq!(a.values, b.values);
    assert_eq!(a.values.into_dense().row(1), [11.0, 21.0]);
}

/// What was written in single precision is kept so, in all formats, and holds the same numbers.
#[test]
fn single_precision_is_not_widened() {
    let numbers = [0.5f32, -3.25, 1e-3, 7.0, 0.1, 2.0];
    let expected = Values::Single { columns: 2, values: numbers.to_vec() };
    let cells = numbers.map(f32::to_le_bytes).concat();
    let by_rows = features("t.npy", &npy("<f4", false, [3, 2], &cells)).unwrap();
    assert_eq!(by_rows.values, expected);
    let turned = [0, 2, 4, 1, 3, 5].map(|i| numbers[i].to_le_bytes()).concat();
    assert_eq!(features("t.npy", &npy("<f4", true, [3, 2], &turned)).unwrap().values, expected);
    let doubles = numbers.map(f64::from);
    let wide = npy("<f8", false, [3, 2], &doubles.map(f64::to_le_bytes).concat());
    let wide = features("t.npy", &wide).unwrap().values;
    assert!(matches!(wide, Values::Dense(_)));
    assert_eq!(by_rows.values.into_dense(), wide.into_dense());

    let single = |j: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values((0..3).map(|i| numbers[2 * i + j])))
    };
    let double: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.25, 1.0]));
    let parquet = |columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    };
    let singles = parquet(vec![("x", single(0)), ("y", single(1))]);
    assert_eq!(features("t.parquet", &singles).unwrap().values, expected);
    let mixed = parquet(vec![("x", single(0)), ("y", double)]);
    let mixed = features("t.parquet", &mixed).unwrap().values;
    assert_eq!(
        mixed,
        Values::Dense(Matrix::from_vec(
            3,
            2,
            vec![0.5, 0.5, 1e-3f32.into(), 0.25, 0.1f32.into(), 1.0]
        ))
    );
}

#[test]
fn what_single_precision_lacks_is_refused_or_filled_in() {
    let array =
        |x: f32| npy("<f4", false, [2, 2], &[1.0, x, 3.0, 4.5].map(f32::to_le_bytes).concat());
    assert_eq!(
        features("t.npy", &array(f32::INFINITY)).unwrap_err(),
        features(
            "t.npy",
            &npy(
                "<f8",
                false,
                [2, 2],
                &[1.0, f64::INFINITY, 3.0, 4.5].map(f64::to_le_bytes).concat()
            )
        )
        .unwrap_err()
    );
    assert!(features("t.npy", &array(f32::NAN)).unwrap_err().contains("missing"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    fs::write(&path, array(f32::NAN)).unwrap();
    let options = ReadOptions { impute: Some(Impute::Mean), ..ReadOptions::default() };
    let filled = read_features(&path, &options, &run()).unwrap().values;
    assert_eq!(filled, Values::Dense(Matrix::from_vec(2, 2, vec![1.0, 4.5, 3.0, 4.5])));
}

#[test]
fn arrays_with_the_highest_byte_first_are_the_same_tables() {
    let little = npy("<i4", false, [3, 2], &BY_ROWS.map(i32::to_le_bytes).concat());
    let big = npy(">i4", false, [3, 2], &BY_ROWS.map(i32::to_be_bytes).concat());
    let read = |bytes: &[u8]| clusterings("t.npy", bytes, &ReadOptions::default());
    assert_eq!(read(&big).members, read(&little).members);
    let numbers = [0.5, -3.25, 1e100, 7.0];
    let big = npy(">f8", false, [2, 2], &numbers.map(f64::to_be_bytes).concat());
    assert_eq!(features("t.npy", &big).unwrap().values.into_dense().as_slice(), numbers);
    let small = numbers.map(|x| x as f32).map(|x| if x.is_finite() { x } else { 2.5 });
    let big = npy(">f4", true, [2, 2], &small.map(f32::to_be_bytes).concat());
    assert_eq!(
        features("t.npy", &big).unwrap().values.into_dense().as_slice(),
        [0.5, 2.5, -3.25, 7.0]
    );
}

#[test]
fn arrays_of_text_hold_labels_but_no_features() {
    let cells = ["B", "x", "é", "", "B", "?"];
    let wide = |to_bytes: fn(u32) -> [u8; 4]| {
        let cell = |text: &str| {
            let mut units: Vec<u32> = text.chars().map(u32::from).collect();
            units.resize(3, 0);
            units.into_iter().flat_map(to_bytes).collect::<Vec<u8>>()
        };
        cells.iter().flat_map(|text| cell(text)).collect::<Vec<u8>>()
    };
    let narrow: Vec<u8> = cells
        .iter()
        .flat_map(|text| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(3, 0);
            bytes
        })
        .collect();
    let options = ReadOptions { missing: vec!["?".to_owned()], ..ReadOptions::default() };
    let arrays = [
        npy("<U3", false, [3, 2], &wide(u32::to_le_bytes)),
        npy(">U3", false, [3, 2], &wide(u32::to_be_bytes)),
        npy("|S3", false, [3, 2], &narrow),
    ];
    for array in &arrays {
        let table = clusterings("t.npy", array, &options);
        assert_eq!(labels(&table.members[0]), words(["B", "é", "B"]));
        assert_eq!(labels(&table.members[1]), words(["x", "", ""]));
        assert_eq!(
            features("t.npy", array).unwrap_err(),
            "t.npy holds clusterings, not features (2 of 2 columns are text from few values, such \
             as `B` in column `c0`); combining clusterings was meant; if there are features too, \
             name the other columns by id, truth or drop"
        );
    }
}

#[test]
fn a_spelling_of_missing_counts_in_every_format() {
    let options = ReadOptions { missing: vec!["99".to_owned()], ..ReadOptions::default() };
    let cells = [1i32, 99, 2, 1];
    let array = npy("<i4", false, [4, 1], &cells.map(i32::to_le_bytes).concat());
    let text = "c0\n1\n99\n2\n1\n";
    let batch = batch(vec![("c0", Arc::new(Int32Array::from(cells.to_vec())))]);
    let files = [
        ("t.npy", array),
        ("t.csv", text.as_bytes().to_vec()),
        ("t.parquet", parquet(&batch, Compression::UNCOMPRESSED)),
        ("t.arrow", arrow(&batch)),
    ];
    for (name, bytes) in files {
        let table = clusterings(name, &bytes, &options);
        assert_eq!(labels(&table.members[0]), words(["1", "", "2", "1"]), "{name}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let refused = read_features(&path, &options, &run()).unwrap_err().to_string();
        assert!(refused.contains("column `c0`: the value is missing"), "{name}: {refused}");
    }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn labels_with_nulls() -> RecordBatch {
    let integers = Int32Array::from(vec![Some(3), None, Some(3), Some(4)]);
    let texts = StringArray::from(vec![Some("T cell"), Some("B cell"), None, Some("T cell")]);
    let floats = Float64Array::from(vec![None, Some(1.0), Some(f64::NAN), Some(2.0)]);
    batch(vec![("i", Arc::new(integers)), ("t", Arc::new(texts)), ("f", Arc::new(floats))])
}

fn check_labels(table: &ClusteringTable) {
    assert_eq!(labels(&table.members[0]), words(["3", "", "3", "4"]));
    assert_eq!(labels(&table.members[1]), words(["T cell", "B cell", "", "T cell"]));
    assert_eq!(labels(&table.members[2]), words(["", "1", "", "2"]));
}

#[test]
fn nulls_are_missing_labels_whatever_the_compression() {
    let batch = labels_with_nulls();
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::GZIP(GzipLevel::default()),
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for compression in compressions {
        let bytes = parquet(&batch, compression);
        check_labels(&clusterings("t.parquet", &bytes, &ReadOptions::default()));
    }
    check_labels(&clusterings("t.arrow", &arrow(&batch), &ReadOptions::default()));
}

#[test]
fn nulls_among_features_are_refused_with_their_place() {
    let x = Float64Array::from(vec![Some(0.5), Some(1.5), Some(2.5)]);
    let y = Float64Array::from(vec![Some(4.0), Some(5.0), None]);
    let batch = batch(vec![("x", Arc::new(x)), ("y", Arc::new(y))]);
    let gzip = Compression::GZIP(GzipLevel::default());
    for (name, bytes) in [("t.parquet", parquet(&batch, gzip)), ("t.arrow", arrow(&batch))] {
        assert_eq!(
            features(name, &bytes).unwrap_err(),
            format!(
                "{name}, row 2 (counted from 0), column `y`: the value is missing; fill it in, \
                 leave the row out, or give impute"
            )
        );
    }
}

#[test]
fn a_compressed_file_that_is_cut_off_is_damaged() {
    let bytes = parquet(&labels_with_nulls(), Compression::GZIP(GzipLevel::default()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for len in 0..bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        assert!(refused(&path), "cut to {len} of {}", bytes.len());
    }
}

fn refused(path: &Path) -> bool {
    read_clusterings(&[path.to_owned()], &ReadOptions::default(), &run()).is_err()
}
