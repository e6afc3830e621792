//! Ctrl-C where nobody looks at the flag, and while files are written.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::tempdir;

use crate::run::{groups, interrupt, names};
use crate::{consilience, table};

/// Waits until `seen` holds; a program that ends before that was not caught in the middle.
fn wait_until(child: &mut Child, what: &str, mut seen: impl FnMut() -> bool) {
    let start = Instant::now();
    while !seen() {
        assert!(child.try_wait().unwrap().is_none(), "ended before {what}");
        assert!(start.elapsed() < Duration::from_mins(3), "waited too long for {what}");
        sleep(Duration::from_millis(2));
    }
}

/// Labels that tell all rows apart, by the Chinese remainder theorem.
fn distinct_rows(rows: usize) -> String {
    table("a,b,c,d", rows, |i| [7, 11, 13, 17].map(|prime| (i % prime).to_string()).join(","))
}

/// `rce` on this many distinct rows is in its eigendecompositions, many seconds each, nearly all the
/// time, and does not look at the flag there.
const ROWS: usize = 3000;

#[test]
fn an_eigendecomposition_does_not_hold_up_ctrl_c() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("labels.csv"), distinct_rows(ROWS)).unwrap();
    let mut child = consilience(folder.path())
        .args(["combine", "labels.csv", "--method", "rce", "--k", "5", "-o", "out.csv"])
        .args(["--progress", "always"])
        .stderr(fs::File::create(folder.path().join("stderr")).unwrap())
        .spawn()
        .unwrap();
    let stderr = || fs::read_to_string(folder.path().join("stderr")).unwrap();
    wait_until(&mut child, "rce", || stderr().contains("learning"));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(stderr().ends_with("error: interrupted\n"), "{}", stderr());
    assert_eq!(names(folder.path()), ["labels.csv", "stderr"]);
}

fn has_temporary_file(folder: &Path) -> bool {
    names(folder).iter().any(|name| {
        name.starts_with(".consilience-")
            && fs::metadata(folder.join(name)).is_ok_and(|meta| meta.len() > 0)
    })
}

/// Writes a matrix of some hundred megabytes and returns when that is under way.
fn writing(folder: &Path) -> Child {
    let labels = table("a,b", 6000, |i| format!("{},{}", i % 7, i % 11));
    fs::write(folder.join("labels.csv"), labels).unwrap();
    let mut child = consilience(folder)
        .args(["combine", "labels.csv", "-o", "out.csv", "--coassociation", "matrix.npy"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(&mut child, "the file", || has_temporary_file(folder));
    child
}

#[test]
fn ctrl_c_while_writing_leaves_nothing() {
    let folder = tempdir().unwrap();
    let mut child = writing(folder.path());
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(folder.path()), ["labels.csv"]);
}

#[test]
fn a_second_ctrl_c_while_writing_leaves_nothing_either() {
    let folder = tempdir().unwrap();
    let mut child = writing(folder.path());
    interrupt(&child);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names(folder.path()), ["labels.csv"]);
}

#[test]
fn members_are_kept_when_the_consensus_is_cut_short() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(ROWS)).unwrap();
    let mut child = consilience(folder.path())
        .args([
            "run",
            "data.csv",
            "--drop",
            "name,kind",
            "-o",
            "out",
            "--method",
            "rce",
            "--k",
            "3",
        ])
        .args(["--base", "kmeans", "--size", "10", "--base-k", "30..60", "--progress", "always"])
        .stderr(fs::File::create(folder.path().join("stderr")).unwrap())
        .spawn()
        .unwrap();
    let stderr = || fs::read_to_string(folder.path().join("stderr")).unwrap();
    wait_until(&mut child, "rce", || stderr().contains("learning"));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = stderr();
    assert!(said.contains("10 clusterings finished and kept"), "{said}");
    assert_eq!(names(&folder.path().join("out")), [".members"]);
    let members = names(&folder.path().join("out/.members"));
    assert_eq!(members.len(), 10, "{members:?}");
    assert!(members.iter().all(|name| name.ends_with(".member")), "{members:?}");
}
