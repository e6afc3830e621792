//! Tests over all formats: what is written is read back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use consilience::Matrix;
use consilience::Run;
use consilience::ensemble::{HardMember, LabelEncoder, Member, SoftMember};
use proptest::prelude::*;

use super::*;
use crate::{ClusteringTable, ReadOptions, read_clusterings, read_features, read_labels};

const NAMED: [&str; 7] = ["csv", "tsv", "csv.gz", "tsv.gz", "parquet", "arrow", "CSV"];

fn run() -> Run {
    static RUN: LazyLock<Run> = LazyLock::new(|| Run::new(0).threads(2));
    RUN.clone()
}

fn write_and_read(members: &[Member], ids: Option<&Ids>, ending: &str) -> ClusteringTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("t.{ending}"));
    let target = Target::table(&path).unwrap();
    write_members(&target, ids.map(|ids| ("id", ids)), members, &run()).unwrap();
    let options = ReadOptions { id: ids.map(|_| "id".to_owned()), ..ReadOptions::default() };
    read_clusterings(&[path], &options, &run()).unwrap()
}

/// A label: an integer, or text that takes some care.
fn label() -> impl Strategy<Value = String> {
    prop_oneof![(0i64..300).prop_map(|i| i.to_string()), "[a-z][ -~é\n]{0,9}[!-~]"]
}

fn member(name: String, labels: &[Option<String>]) -> Option<Member> {
    let mut encoder = LabelEncoder::new();
    for label in labels {
        match label {
            Some(label) => encoder.push_text(label),
            None => encoder.push_missing(),
        }
    }
    let member = encoder.finish(name);
    (!member.clusters().is_empty()).then(|| member.into())
}

fn table(label: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = Vec<Member>> {
    (1usize..30, 1usize..5)
        .prop_flat_map(move |(n, r)| {
            let column = prop::collection::vec(prop::option::weighted(0.8, label.clone()), n);
            prop::collection::vec(column, r)
        })
        .prop_map(|columns| {
            let columns = columns.iter().enumerate();
            columns.filter_map(|(h, labels)| member(format!("m {h}"), labels)).collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn labels_of_any_text_are_read_back_as_written(members in table(label().boxed())) {
        prop_assume!(!members.is_empty());
        for ending in NAMED {
            let read = write_and_read(&members, None, ending);
            prop_assert_eq!(&read.members, &members, "{}", ending);
        }
    }

    #[test]
    fn integer_labels_are_read_back_from_arrays(
        members in table((0i64..70_000).prop_map(|i| i.to_string()).boxed())
    ) {
        prop_assume!(!members.is_empty());
        let read = write_and_read(&members, None, "npy");
        for (read, member) in read.members.iter().zip(&members) {
            prop_assert_eq!(&read.clone().renamed(member.name()), member);
        }
    }

    #[test]
    fn memberships_are_read_back_in_all_formats(
        rows in prop::collection::vec(prop::option::weighted(0.9, prop::array::uniform3(1u8..9)), 1..20)
    ) {
        prop_assume!(rows.iter().any(Option::is_some));
        let mut memberships = Matrix::zeros(rows.len(), 3);
        for (i, row) in rows.iter().enumerate() {
            let row = row.unwrap_or_default().map(f64::from);
            let sum: f64 = row.iter().sum();
            (0..3).for_each(|j| memberships[(i, j)] = row[j] / sum.max(1.0));
        }
        let clusters = ["0", "1", "2"].map(str::to_owned).to_vec();
        let soft = SoftMember::new("t", memberships, clusters).unwrap();
        let hard = member("h".to_owned(), &vec![Some("x".to_owned()); rows.len()]).unwrap();
        for ending in NAMED {
            let read = write_and_read(&[soft.clone().into(), hard.clone()], None, ending);
            prop_assert!(close(&read.members[0], &soft), "{}", ending);
            prop_assert_eq!(&read.members[1], &hard, "{}", ending);
        }
        let read = write_and_read(&[soft.clone().into()], None, "npy");
        prop_assert!(close(&read.members[0], &soft));
    }
}

/// Equal but for the last digit, which normalising a second time may change.
fn close(member: &Member, soft: &SoftMember) -> bool {
    let Member::Soft(read) = member else { return false };
    let (a, b) = (read.memberships().as_slice(), soft.memberships().as_slice());
    read.name() == soft.name()
        && read.clusters() == soft.clusters()
        && a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15)
}

#[test]
fn identifiers_of_any_text_are_read_back() {
    let ids: Ids = ["a,b", "say \"hi\"", "two\nlines", " blank ", "7"].into_iter().collect();
    let members = [HardMember::from_integers("m", [1, 1, 2, 2, 1].map(Some)).into()];
    for ending in NAMED {
        let read = write_and_read(&members, Some(&ids), ending);
        assert_eq!(read.ids.as_ref(), Some(&ids), "{ending}");
        assert_eq!(read.members, members, "{ending}");
    }
}

#[test]
fn features_are_read_back_bit_by_bit() {
    let values: Vec<f64> =
        (0..60).map(|i| (f64::from(i) * 0.7).sin() * 10f64.powi(i - 30)).collect();
    let matrix = Matrix::from_vec(20, 3, values);
    let names = ["a", "b", "c"].map(str::to_owned);
    let folder = tempfile::tempdir().unwrap();
    for ending in NAMED.into_iter().chain(["npy"]) {
        let path = folder.path().join(format!("t.{ending}"));
        write_matrix(&Target::table(&path).unwrap(), &names, &matrix, &run()).unwrap();
        let read = read_features(&path, &ReadOptions::default(), &run()).unwrap();
        assert_eq!(read.values.into_dense(), matrix, "{ending}");
    }
}

/// The bytes of every format, written twice.
#[test]
fn the_same_table_is_always_the_same_file() {
    let labels = ["x", "y"].map(|label| Some(label.to_owned()));
    let members = [member("m".to_owned(), &labels).unwrap()];
    let folder = tempfile::tempdir().unwrap();
    for ending in NAMED {
        let write = |name: &str, threads: usize| {
            let path = folder.path().join(format!("{name}.{ending}"));
            let run = Run::new(0).threads(threads);
            write_members(&Target::table(&path).unwrap(), None, &members, &run).unwrap();
            fs::read(path).unwrap()
        };
        assert_eq!(write("a", 1), write("b", 2), "{ending}");
    }
}

#[test]
fn the_consensus_has_three_columns_and_an_empty_cell_for_no_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let ids: Ids = ["a", "b"].into_iter().collect();
    let (clusters, confidence) = ([Some(1), None], [0.75, f64::NAN]);
    let write = |name: &str, ids: Option<&Ids>| {
        let target = Target::table(path(name)).unwrap();
        let confidence = Cells::Numbers(confidence.as_slice().into());
        let coverage = name.starts_with("silent").then(|| Cells::Numbers(vec![0.5, 0.0].into()));
        write_consensus(&target, ids, &clusters, confidence, coverage, &run()).unwrap();
    };
    write("c.csv", Some(&ids));
    assert_eq!(
        fs::read_to_string(path("c.csv")).unwrap(),
        "id,cluster,confidence\na,1,0.75\nb,,\n"
    );
    write("c.tsv", None);
    assert_eq!(
        fs::read_to_string(path("c.tsv")).unwrap(),
        "id\tcluster\tconfidence\n0\t1\t0.75\n1\t\t\n"
    );
    write("silent.csv", Some(&ids));
    assert_eq!(
        fs::read_to_string(path("silent.csv")).unwrap(),
        "id,cluster,confidence,coverage\na,1,0.75,0.5\nb,,,0\n"
    );
    write("c.npy", None);
    assert!(fs::read(path("c.npy")).unwrap().ends_with(&[1, 255]));
    for (name, ids) in [("c.csv", Some(&ids)), ("silent.csv", Some(&ids)), ("c.npy", None)] {
        let member = read_labels(&path(name), ids, 2, &ReadOptions::default(), &run()).unwrap();
        assert_eq!(member.hardened().labels().iter().collect::<Vec<_>>(), [Some(0), None]);
    }
}

#[test]
fn other_results_have_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let target = Target::table(&path).unwrap();
    let text = || fs::read_to_string(&path).unwrap();
    let membership = Matrix::from_vec(1, 2, vec![0.25, 0.75]);
    write_membership(&target, None, &membership, &[0, 1], &[0, u32::MAX, 0], &run()).unwrap();
    assert_eq!(text(), "id,consensus:0,consensus:1\n0,0.25,0.75\n1,,\n2,0.25,0.75\n");
    let member: Member = HardMember::from_integers("m", [7, 8].map(Some)).into();
    let shares = Matrix::from_vec(2, 2, vec![1.0, 0.0, 0.5, 0.5]);
    write_correspondences(&target, &[member], &[shares], &[0, 1, 2], &run()).unwrap();
    assert_eq!(text(), "clustering,cluster,consensus,weight\nm,7,0,1\nm,8,0,0.5\nm,8,1,0.5\n");
    write_text(&target, "{}\n").unwrap();
    assert_eq!(text(), "{}\n");
}

/// Files of all formats, small enough to break in every place.
fn small_files(folder: &Path) -> Vec<PathBuf> {
    let labels = ["x", "y", "x"].map(|label| Some(label.to_owned()));
    let text = member("m".to_owned(), &labels).unwrap();
    let integers: Member = HardMember::from_integers("i", [1, 2, 2].map(Some)).into();
    let mut paths = Vec::new();
    for ending in ["csv.gz", "parquet", "arrow", "npy"] {
        let path = folder.join(format!("t.{ending}"));
        let members = if ending == "npy" {
            vec![integers.clone()]
        } else {
            vec![text.clone(), integers.clone()]
        };
        write_members(&Target::table(&path).unwrap(), None, &members, &run()).unwrap();
        paths.push(path);
    }
    paths
}

#[test]
fn a_truncated_file_is_an_error_wherever_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    for path in small_files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        for len in 0..bytes.len() {
            fs::write(&path, &bytes[..len]).unwrap();
            let read =
                read_clusterings(std::slice::from_ref(&path), &ReadOptions::default(), &run());
            assert!(read.is_err(), "{} cut to {len} of {}", path.display(), bytes.len());
        }
    }
}

#[test]
fn a_damaged_file_never_brings_the_program_down() {
    let folder = tempfile::tempdir().unwrap();
    for path in small_files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        for i in 0..bytes.len() {
            for flip in [0x01, 0xff] {
                let mut damaged = bytes.clone();
                damaged[i] ^= flip;
                fs::write(&path, &damaged).unwrap();
                // An error, or another table: only a panic or an endless read would be wrong.
                let _ =
                    read_clusterings(std::slice::from_ref(&path), &ReadOptions::default(), &run());
            }
        }
    }
}
