//! Places and pipes that fail: nothing half-written, the right exit code, a reason.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use tempfile::tempdir;

use crate::run::{groups, names};
use crate::{consilience, run, table};

fn labels(rows: usize) -> String {
    table("a,b", rows, |i| format!("{},{}", i % 3, i % 2))
}

/// Nobody, not even root, makes files in `/sys`.
#[cfg(target_os = "linux")]
#[test]
fn a_place_without_permission_is_refused_before_anything_is_computed() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(30)).unwrap();
    fs::write(folder.path().join("data.csv"), groups(30)).unwrap();
    let cases: [&[&str]; 3] = [
        &["combine", "labels.csv", "-o", "/sys/out.csv"],
        &["generate", "data.csv", "--drop", "name,kind", "-o", "/sys/out.parquet"],
        &["run", "data.csv", "--drop", "name,kind", "-o", "/sys/out"],
    ];
    for arguments in cases {
        let output = run(folder.path(), arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.starts_with("error: /sys/out"), "{text}");
        let reasons = ["permission denied", "operation not permitted"];
        assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
        assert!(text.contains("check the folder"), "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_another_process_writes_to_is_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(30)).unwrap();
    fs::write(folder.path().join("data.csv"), groups(30)).unwrap();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let other = fs::File::open(&out).unwrap();
    other.lock().unwrap();
    let cases: [&[&str]; 2] = [
        &["combine", "labels.csv", "--k", "2", "--save", "out"],
        &["run", "data.csv", "--drop", "name,kind", "--k", "3", "-o", "out"],
    ];
    for arguments in cases {
        let output = run(folder.path(), arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("another consilience is writing to out"), "{text}");
        assert!(names(&out).is_empty());
    }
    drop(other);
    assert!(run(folder.path(), cases[0]).status.success());
}

#[test]
fn who_reads_a_result_finishes_what_was_cut_short() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(30)).unwrap();
    for (k, dir) in [("2", "old"), ("3", "new")] {
        let save = run(folder.path(), &["combine", "labels.csv", "--k", k, "--save", dir]);
        assert!(save.status.success());
    }
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    // As if the program had been killed after the second of four files.
    let complete = old.join(".complete");
    fs::create_dir(&complete).unwrap();
    fs::write(complete.join(".gone"), "").unwrap();
    for (i, name) in names(&new).iter().enumerate() {
        let to = if i < 2 { old.join(name) } else { complete.join(name) };
        fs::copy(new.join(name), to).unwrap();
    }
    assert!(run(folder.path(), &["explain", "old", "0"]).status.success());
    assert_eq!(names(&old), names(&new));
    for name in names(&new) {
        assert_eq!(
            fs::read(old.join(&name)).unwrap(),
            fs::read(new.join(&name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn files_that_are_there_are_replaced_only_by_force() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(30)).unwrap();
    fs::write(folder.path().join("data.csv"), groups(30)).unwrap();
    let save = run(folder.path(), &["combine", "labels.csv", "--k", "2", "--save", "saved"]);
    assert!(save.status.success());
    fs::create_dir(folder.path().join("own")).unwrap();
    let combine = ["combine", "labels.csv", "--method", "scec", "--k", "2"];
    let several = ["combine", "labels.csv", "--method", "scec,hbgf", "--k", "2", "-o", "-"];
    let cases: [(&[&str], &[&str], &str); 13] = [
        (&combine, &["-o", "own/mine.csv"], "own/mine.csv"),
        (&combine, &["--membership", "own/mine.csv"], "own/mine.csv"),
        (&combine, &["--correspondence", "own/mine.csv"], "own/mine.csv"),
        (&combine, &["--coassociation", "own/mine.npy"], "own/mine.npy"),
        (&combine, &["--report", "own/mine.html"], "own/mine.html"),
        (
            &combine[..2],
            &["--method", "lwea", "--k", "2", "--dendrogram", "own/mine.csv"],
            "own/mine.csv",
        ),
        (&combine, &["--align-to", "saved", "-o", "own/new.csv"], "own/new-moved.csv"),
        (&several, &["--leaderboard", "own/mine.csv"], "own/mine.csv"),
        (&several, &["--all-labels", "own/mine.csv"], "own/mine.csv"),
        (
            &["generate", "data.csv", "--drop", "name,kind", "--size", "2"],
            &["-o", "own/mine.csv"],
            "own/mine.csv",
        ),
        (&["assign", "saved", "labels.csv"], &["-o", "own/mine.csv"], "own/mine.csv"),
        (&["report", "saved"], &["-o", "own/mine.html"], "own/mine.html"),
        (
            &["reproduce", "000-t02", "--runs", "1", "--methods", "scec"],
            &["-o", "own"],
            "own/tables.md",
        ),
    ];
    for (command, output, replaced) in cases {
        let path = folder.path().join(replaced);
        fs::write(&path, "mine").unwrap();
        let arguments = [command, output].concat();
        let refused = run(folder.path(), &arguments);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(&format!("{replaced} is there already")), "{said}");
        assert!(said.contains("--force"), "{said}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine", "{arguments:?}");
        let forced = run(folder.path(), &[&arguments[..], &["--force"]].concat());
        assert!(forced.status.success(), "{}", String::from_utf8_lossy(&forced.stderr));
        assert_ne!(fs::read(&path).unwrap(), b"mine", "{arguments:?}");
        fs::remove_file(&path).unwrap();
    }
    // The page of a result is made again without further ado.
    assert!(run(folder.path(), &["report", "saved"]).status.success());
}

/// Linux has a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_of() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), labels(30)).unwrap();
    let output = run(folder.path(), &["combine", "labels.csv", "-o", "out.csv"]);
    assert!(output.status.success());
    fs::remove_file(folder.path().join("out.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full.csv")).unwrap();
    let arguments = [
        "combine",
        "labels.csv",
        "--method",
        "voting",
        "-o",
        "full.csv",
        "--coassociation",
        "c.npy",
    ];
    let output = run(folder.path(), &arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(
        text.starts_with("error: full.csv cannot be written: no space left on device"),
        "{text}"
    );
    assert_eq!(names(folder.path()), ["full.csv", "labels.csv"], "all files or none");

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status =
        consilience(folder.path()).args(["combine", "labels.csv"]).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn whoever_reads_only_the_head_is_no_error() {
    let folder = tempdir().unwrap();
    // More than a pipe holds, so that writing goes on after the reader has gone.
    fs::write(folder.path().join("labels.csv"), labels(100_000)).unwrap();
    for arguments in [&["combine", "labels.csv"][..], &["combine", "labels.csv", "-o", "-"]] {
        let mut child = consilience(folder.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut head = [0; 22];
        child.stdout.take().unwrap().read_exact(&mut head).unwrap();
        assert_eq!(&head, b"id,cluster,confidence\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("error"), "{said}");
    }
}

#[test]
fn a_reader_that_has_gone_before_anything_was_said_is_no_error() {
    let folder = tempdir().unwrap();
    for arguments in
        [&["methods"][..], &["--help"], &["completions", "bash"], &["methods", "--json"]]
    {
        let mut child = consilience(folder.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The data is read before its checksum is taken for `result.json`; in between it may go.
#[cfg(unix)]
#[test]
fn an_input_that_vanishes_is_told_of() {
    let folder = tempdir().unwrap();
    let pipe = folder.path().join("data.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let child = consilience(folder.path())
        .args(["run", "data.csv", "--drop", "name,kind", "-o", "out", "--k", "3", "--size", "3"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Opening waits for the program to read; once it does, the name can go.
    let mut writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    fs::remove_file(&pipe).unwrap();
    std::io::Write::write_all(&mut writer, groups(60).as_bytes()).unwrap();
    drop(writer);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.starts_with("error: data.csv cannot be read"), "{text}");
    assert!(names(folder.path()).is_empty());
}
