//! Whole files in, clusterings or a message out.

use std::fs;

use super::*;
use crate::read_labels;

/// Reads files of these names and contents.
fn read(files: &[(&str, &str)], options: &ReadOptions) -> Result<ClusteringTable, String> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        fs::write(path, text).unwrap();
    }
    let named = |name: &Option<String>| {
        let file = files.iter().position(|(file, _)| Some(*file) == name.as_deref());
        file.map(|i| paths[i].display().to_string()).or_else(|| name.clone())
    };
    let options = ReadOptions {
        truth: named(&options.truth),
        weights: named(&options.weights),
        ..options.clone()
    };
    let paths: Vec<PathBuf> = paths
        .into_iter()
        .filter(|path| {
            let name = Some(path.display().to_string());
            name != options.truth && name != options.weights
        })
        .collect();
    let run = Run::new(0).threads(1);
    let place = format!("{}/", folder.path().display());
    let mut table = read_clusterings(&paths, &options, &run)
        .map_err(|error| error.to_string().replace(&place, ""))?;
    for warning in &mut table.warnings {
        *warning = warning.replace(&place, "");
    }
    Ok(table)
}

fn member(table: &ClusteringTable, h: usize) -> (&str, Vec<Option<&str>>) {
    let Member::Hard(hard) = &table.members[h] else { panic!("member {h} is hard") };
    let labels = hard.labels().iter().map(|c| c.map(|c| &*hard.clusters()[c])).collect();
    (hard.name(), labels)
}

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn with_id() -> ReadOptions {
    ReadOptions { id: Some("id".to_owned()), ..plain() }
}

#[test]
fn columns_are_clusterings_and_missing_labels_have_many_spellings() {
    let text = "km,type\n1,T cell\n-1,NA\n2,\n1,?\nNaN,B cell\n";
    let options = ReadOptions { missing: vec!["?".to_owned()], ..plain() };
    let table = read(&[("a.csv", text)], &options).unwrap();
    assert_eq!(member(&table, 0), ("km", vec![Some("1"), None, Some("2"), Some("1"), None]));
    let types = vec![Some("T cell"), None, None, None, Some("B cell")];
    assert_eq!(member(&table, 1), ("type", types));
    assert_eq!(
        table.warnings.iter().map(|w| &w[..31]).collect::<Vec<_>>(),
        ["a.csv: -1 is read as missing, a", "1 of 5 objects has no label at "]
    );
}

#[test]
fn soft_and_hard_columns_stand_in_one_table() {
    let text = "f:0,h,f:1\n0.25,x,0.75\n,y,\n1,y,0\n";
    let table = read(&[("a.csv", text)], &plain()).unwrap();
    let Member::Soft(soft) = &table.members[0] else { panic!("the first is soft") };
    assert_eq!((soft.name(), soft.clusters()), ("f", &["0".to_owned(), "1".to_owned()][..]));
    assert_eq!(soft.memberships().as_slice(), [0.25, 0.75, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(member(&table, 1).0, "h");
}

#[test]
fn of_a_consensus_only_the_clusters_are_read() {
    let hard = "id,cluster,confidence\nx,0,0.75\ny,1,1\n";
    let soft = "id,consensus:0,consensus:1\nx,0.75,0.25\ny,0,1\n";
    let by_name = ReadOptions { id: Some("name".to_owned()), ..plain() };
    for options in [plain(), by_name] {
        let table = read(&[("a.csv", hard), ("b.csv", soft)], &options).unwrap();
        assert_eq!(member(&table, 0), ("cluster", vec![Some("0"), Some("1")]));
        assert_eq!((table.members.len(), table.members[1].name()), (2, "consensus"));
        assert_eq!(table.ids.unwrap().iter().collect::<Vec<_>>(), ["x", "y"]);
    }
}

#[test]
fn files_are_joined_on_the_identifier() {
    let files = [("a.csv", "id,km\nx,0\ny,1\n"), ("b.csv", "km,id\n7,y\n8,z\n")];
    let table = read(&files, &with_id()).unwrap();
    let ids = table.ids.as_ref().unwrap();
    assert_eq!(ids.iter().collect::<Vec<_>>(), ["x", "y", "z"]);
    assert_eq!(member(&table, 0), ("a/km", vec![Some("0"), Some("1"), None]));
    assert_eq!(member(&table, 1), ("b/km", vec![None, Some("7"), Some("8")]));
}

#[test]
fn files_without_identifier_stand_side_by_side() {
    let files = [("a.csv", "0\n1\n1\n"), ("b.tsv", "p\tq\n5\t6\n5\t7\n8\t6\n")];
    let table = read(&files, &plain()).unwrap();
    let names: Vec<&str> = table.members.iter().map(Member::name).collect();
    assert_eq!(names, ["a", "p", "q"]);
    assert_eq!(
        read(&[files[0], ("c.csv", "0\n1\n")], &plain()).unwrap_err(),
        "a.csv has 3 rows, but c.csv has 2; name the column of identifiers (id) to join them by it"
    );
}

#[test]
fn truth_and_weights_are_columns_or_files() {
    let options = ReadOptions {
        truth: Some("class".to_owned()),
        weights: Some("count".to_owned()),
        ..with_id()
    };
    let columns = [("a.csv", "id,km,class,count\nx,0,-1,2\ny,1,1,0.5\n")];
    let files = [
        ("a.csv", "id,km\nx,0\ny,1\n"),
        ("class", ""),
        ("t.csv", "id,cluster,confidence\ny,1,0.5\nx,-1,0.25\n"),
        ("w.csv", "id,n\ny,0.5\nx,2\n"),
    ];
    let in_files = ReadOptions {
        truth: Some("t.csv".to_owned()),
        weights: Some("w.csv".to_owned()),
        ..with_id()
    };
    let one = read(&columns, &options).unwrap();
    let two = read(&[files[0], files[2], files[3]], &in_files).unwrap();
    assert_eq!(one.weights, Some(vec![2.0, 0.5]));
    assert_eq!(two.weights, one.weights);
    let truth = one.truth.unwrap();
    assert_eq!(truth.clusters(), ["-1", "1"]);
    assert_eq!(two.truth.unwrap().clusters(), truth.clusters());
    let nowhere = ReadOptions { truth: Some("klass".to_owned()), ..with_id() };
    assert_eq!(
        read(&files[..1], &nowhere).unwrap_err(),
        "`klass` (truth) is neither a column of the tables nor a file; the columns are \
         `id`, `km`"
    );
}

#[test]
fn bad_tables_are_refused_with_the_place() {
    let many = [0, 1, 2, 3, 4].map(|i| format!("{}.5,{i}\n", i % 2)).concat();
    let cases = [
        ("", plain(), "a.csv is empty; it needs at least one row"),
        ("a,b\n", plain(), "a.csv has a header but no rows; if line 1 is data, give no_header"),
        (
            "a,b\n1,NA\n2,\n",
            plain(),
            "a.csv, column `b`: every value is missing; leave it out with drop `b`",
        ),
        (
            "a,b\n-1,1\n-1,2\n",
            plain(),
            "a.csv, column `a`: every value is missing; leave it out with drop `a`",
        ),
        (
            &*format!("x,b\n1,1\n{many}"),
            plain(),
            "a.csv, line 3, column `x`: `0.5` is a measurement, not a cluster label; if this is \
             a table of features, clustering features was meant; if not, leave the column out \
             with drop `x`",
        ),
        (
            "x;b\n1,5;1\n2,5;0\n1,5;1\n",
            plain(),
            "a.csv, line 2, column `x`: `1,5` is a measurement, not a cluster label; if this is \
             a table of features, clustering features was meant; if not, leave the column out \
             with drop `x`",
        ),
        (
            "f:0,f:1\n0.5,0.5\n-0.5,1.5\n",
            plain(),
            "a.csv, line 3, clustering `f`: the membership in cluster `0` is -0.5; it must be a \
             number >= 0",
        ),
        (
            "f:0,f:1\n0.5,0.5\n0.5,0.25\n",
            plain(),
            "a.csv, line 3, clustering `f`: memberships must sum to 1, they sum to 0.75; if \
             `f:0` is a column of labels, rename it without the colon",
        ),
        (
            "f:0,f:1\n0.5,0.5\n1,\n",
            plain(),
            "a.csv, line 3, clustering `f`: the membership in cluster `1` is missing; fill it \
             in, or empty all",
        ),
        (
            "f:0,f:1\n,\n,\n",
            plain(),
            "a.csv, column `f:0`: every value is missing; leave it out with drop `f:0`",
        ),
        (
            "f:0,f:1\n0.5,low\n",
            plain(),
            "a.csv, line 2, column `f:1`: `low` is not a number; correct it, or name the \
             column by id, truth or drop",
        ),
        (
            "id,a\nx,1\ny,2\nx,1\n",
            with_id(),
            "a.csv: `x` in column `id` stands in line 2 and again in line 4; identifiers must \
             differ",
        ),
        ("a,b\n1,2\n", with_id(), "a.csv has no column `id` (id); it has `a`, `b`"),
        (
            "a,a\n1,2\n",
            plain(),
            "a.csv: two columns are called `a` (the 1. and the 2.); rename one",
        ),
        (
            "a,b\n1,2\n",
            ReadOptions { drop: vec!["c".to_owned()], ..plain() },
            "a.csv has no column `c` (drop); it has `a`, `b`",
        ),
    ];
    for (text, options, message) in cases {
        assert_eq!(read(&[("a.csv", text)], &options).unwrap_err(), message, "{text:?}");
    }
}

#[test]
fn odd_columns_are_told_of() {
    let warnings = |text: &str| read(&[("a.csv", text)], &plain()).unwrap().warnings;
    assert_eq!(
        warnings("key,km\nw,1\nx,1\ny,2\nz,2\n"),
        ["a.csv, column `key`: every row has a label of its own, which looks like an \
          identifier; if it is one, give id `key` or drop `key`"]
    );
    let numbers: Vec<String> = (0..30).map(|i| format!("{},{}", i * i % 41, i % 3)).collect();
    assert_eq!(
        warnings(&format!("x,km\n{}\n", numbers.join("\n"))),
        ["a.csv, column `x`: 21 different labels in 30 rows look like measurements; if this is a \
          table of features, clustering features was meant; if not, drop `x` leaves it out"]
    );
    assert_eq!(
        warnings("s,t\n1,a\n-1,b\n"),
        ["a.csv, column `s`: -1 is read as missing, which leaves one cluster (`1`); if -1 is a \
          cluster, give noise `cluster`"]
    );
    // Said once for all clusterings of a file.
    assert_eq!(
        warnings("s,t,u\n1,a,0\n-1,b,1\n0,b,-1\n"),
        ["a.csv: -1 is read as missing, as programs write noise (HDBSCAN, BERTopic), in 2 of 3 \
          clusterings: `s`, `u`; if it is a cluster, give noise `cluster`"]
    );
    assert_eq!(
        warnings("s,t\n1,a\n,\n2,b\n,\n"),
        ["2 of 4 objects have no label at all and get none (the first: a.csv, line 3)"]
            .map(std::borrow::ToOwned::to_owned)
    );
}

#[test]
fn whole_numbers_are_labels_even_when_written_as_fractions() {
    let table = read(&[("a.csv", "s\n1.0\n-1.0\n2.0\n\n1\n")], &plain()).unwrap();
    assert_eq!(member(&table, 0).1, [Some("1"), None, Some("2"), None, Some("1")]);
    // Text beside them makes them text.
    let table = read(&[("a.csv", "s\n0.5\nhigh\n-1\n")], &plain()).unwrap();
    assert_eq!(member(&table, 0).1, [Some("0.5"), Some("high"), Some("-1")]);
}

#[test]
fn objects_without_weight_are_told_of_after_a_join() {
    let files = [("a.csv", "id,km,w\nx,0,1\n"), ("b.csv", "id,dm\nx,1\ny,1\n")];
    let options = ReadOptions { weights: Some("w".to_owned()), ..with_id() };
    assert_eq!(
        read(&files, &options).unwrap_err(),
        "weights `w`: there is no weight for 1 of the objects, the first `y`; give every \
         object a weight"
    );
}

#[test]
fn a_single_clustering_is_brought_into_the_order_of_the_objects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("start.csv");
    fs::write(&path, "id,cluster,confidence\nq,9,1\ny,1,0.5\nx,0,0.5\n").unwrap();
    let ids: Ids = ["x", "y", "z"].into_iter().collect();
    let run = Run::new(0).threads(1);
    let start = read_labels(&path, Some(&ids), 3, &with_id(), &run).unwrap().hardened();
    assert_eq!(start.labels().iter().collect::<Vec<_>>(), [Some(0), Some(1), None]);
    assert_eq!(start.clusters(), ["0", "1"]);
    let others: Ids = ["u", "v"].into_iter().collect();
    let error = read_labels(&path, Some(&others), 2, &with_id(), &run).unwrap_err();
    assert!(error.to_string().contains("there is no row for 2 of the objects"), "{error}");
    let error = read_labels(&path, None, 2, &plain(), &run).unwrap_err();
    assert!(matches!(error, InputError::RowCounts { .. }), "{error}");
}
