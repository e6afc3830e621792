//! `run`, `generate` and `demo`: data in, a folder of results out; the same at any number of
//! threads, and after any interruption.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::tempdir;

use crate::{assert_shown, consilience, run, shown, table};

/// Three groups of rows around different points, from a small generator of our own.
pub fn groups(rows: usize) -> String {
    let mut state = 1u64;
    let mut noise = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut text = "name,x,y,z,kind\n".to_owned();
    for i in 0..rows {
        let group = i % 3;
        let (x, y, z) = (noise() + 2.0 * group as f64, noise() - 3.0 * group as f64, noise());
        writeln!(text, "row{i},{x},{y},{z},kind {group}").unwrap();
    }
    text
}

/// All files of a folder, hidden ones too.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap_or_default())
        })
        .collect()
}

/// The names of all files of a folder, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const RESULTS: [&str; 4] = ["ensemble.parquet", "labels.csv", "report.html", "result.json"];
const OPTIONS: [&str; 8] = ["--id", "name", "--truth", "kind", "--k", "3", "--size", "12"];

#[test]
fn run_tells_what_it_did() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(60)).unwrap();
    let output = run(folder.path(), &[&["run", "data.csv", "-o", "out"], &OPTIONS[..]].concat());
    assert_shown!(output);
    assert_eq!(names(&folder.path().join("out")), RESULTS);
    let labels = fs::read_to_string(folder.path().join("out/labels.csv")).unwrap();
    assert!(labels.starts_with("id,cluster,confidence\nrow0,"), "{labels}");
}

#[test]
fn threads_do_not_change_a_byte() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(300)).unwrap();
    let schemes = [
        "committee",
        "random-init",
        "random-k",
        "random-subspace",
        "bootstrap",
        "subsample",
        "random-projection",
    ];
    for scheme in schemes {
        for soft in [&[][..], &["--soft"]] {
            let with = |threads: &str, out: &str| {
                let own = [
                    "run",
                    "data.csv",
                    "-o",
                    out,
                    "--force",
                    "--scheme",
                    scheme,
                    "--threads",
                    threads,
                ];
                let output = run(folder.path(), &[&own, &OPTIONS[..], soft].concat());
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                contents(&folder.path().join(out))
            };
            let (one, two) = (with("1", "one"), with("2", "two"));
            assert!(one == two, "{scheme} {soft:?}");
        }
    }
}

#[test]
fn seeds_do() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(100)).unwrap();
    let with = |seed: &str, out: &str| {
        let own = ["run", "data.csv", "-o", out, "--seed", seed];
        assert!(run(folder.path(), &[&own, &OPTIONS[..]].concat()).status.success());
        fs::read(folder.path().join(out).join("ensemble.parquet")).unwrap()
    };
    assert!(with("1", "one") != with("2", "two"));
}

#[test]
fn json_has_scores_and_seconds_and_the_file_has_no_times() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(60)).unwrap();
    let own = ["run", "data.csv", "-o", "out", "--json"];
    let output = run(folder.path(), &[&own, &OPTIONS[..]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["k"], 3);
    assert_eq!(json["ensemble"]["scale"], "zscore");
    assert!(json["scores"]["consensus"]["nmi"].as_f64().unwrap() > 0.9);
    assert!(json["scores"]["members_mean"]["nmi"].as_f64().unwrap() > 0.3);
    assert!(json["seconds"]["generate"].is_number());
    let result = fs::read_to_string(folder.path().join("out/result.json")).unwrap();
    let stored: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(stored["consensus"]["sizes"], json["sizes"]);
    assert_eq!(stored["inputs"][0]["file"], "data.csv");
    assert_eq!(stored["inputs"][0]["xxh64"].as_str().unwrap().len(), 16);
    let folder_name = folder.path().to_str().unwrap();
    assert!(!result.contains("seconds") && !result.contains(folder_name));
}

/// Starts a long run and returns once `members` of its clusterings are on disk.
fn started(folder: &Path, arguments: &[&str], members: usize) -> std::process::Child {
    let child = consilience(folder).args(arguments).spawn().unwrap();
    let start = Instant::now();
    let finished = || {
        let entries = fs::read_dir(folder.join("out/.members")).into_iter().flatten();
        entries.flatten().filter(|e| e.path().extension().is_some_and(|e| e == "member")).count()
    };
    while finished() < members {
        assert!(start.elapsed() < Duration::from_mins(2), "no clusterings appear");
        sleep(Duration::from_millis(1));
    }
    child
}

/// Long enough to be caught in the middle.
/// Members of one kind, which are many and quick.
const LONG: [&str; 14] = [
    "--base",
    "kmeans",
    "--id",
    "name",
    "--truth",
    "kind",
    "--k",
    "3",
    "--size",
    "400",
    "--base-k",
    "20..40",
    "--threads",
    "2",
];

#[test]
fn a_killed_run_goes_on_to_the_same_result() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(3000)).unwrap();
    let arguments = [&["run", "data.csv", "-o", "out"], &LONG[..]].concat();
    let mut child = started(folder.path(), &arguments, 5);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(&folder.path().join("out")), [".members"], "caught in the middle");

    let output = run(folder.path(), &arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("kept from an interrupted run"), "{text}");
    let undisturbed = [&["run", "data.csv", "-o", "other"], &LONG[..]].concat();
    assert!(run(folder.path(), &undisturbed).status.success());
    let (resumed, other) =
        (contents(&folder.path().join("out")), contents(&folder.path().join("other")));
    assert_eq!(names(&folder.path().join("out")), RESULTS);
    assert!(resumed == other);
}

#[test]
fn ctrl_c_keeps_finished_clusterings_and_leaves_no_results() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(3000)).unwrap();
    let arguments = [&["run", "data.csv", "-o", "out"], &LONG[..]].concat();
    let mut child = started(folder.path(), &arguments, 5);
    interrupt(&child);
    let start = Instant::now();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(names(&folder.path().join("out")), [".members"]);

    // Another seed is another ensemble: what was kept is of no use.
    let other = [&arguments[..], &["--seed", "1", "--json", "--size", "3"]].concat();
    let json: Value =
        serde_json::from_slice(&run(folder.path(), &other[..]).stdout).unwrap_or_default();
    assert_eq!(json["reused"], 0);
}

#[test]
fn ctrl_c_leaves_nothing_of_generate_and_combine() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(20_000)).unwrap();
    let child = consilience(folder.path())
        .args([
            "generate",
            "data.csv",
            "--drop",
            "name,kind",
            "-o",
            "out.csv",
            "--base-k",
            "50..60",
            "--base",
            "kmeans",
        ])
        .args(["--size", "2000"])
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(1500));
    interrupt(&child);
    let status = { child }.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(names(folder.path()), ["data.csv"]);
}

pub fn interrupt(child: &std::process::Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

#[test]
fn fresh_starts_over() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(3000)).unwrap();
    let arguments = [&["run", "data.csv", "-o", "out"], &LONG[..]].concat();
    let mut child = started(folder.path(), &arguments, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let fresh = [&arguments[..], &["--fresh", "--json"]].concat();
    let json: Value = serde_json::from_slice(&run(folder.path(), &fresh).stdout).unwrap();
    assert_eq!(json["reused"], 0);
}

#[test]
fn an_ensemble_reads_back_the_same_from_every_format() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(90)).unwrap();
    for soft in [&[][..], &["--soft"]] {
        let mut answers = Vec::new();
        for file in ["e.csv", "e.csv.gz", "e.tsv", "e.tsv.gz", "e.parquet", "e.arrow"] {
            let own =
                ["generate", "data.csv", "--id", "name", "--drop", "kind", "--force", "-o", file];
            let made = run(folder.path(), &[&own, soft].concat());
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            let combine = ["combine", file, "--id", "name", "--method", "scec", "--k", "3"];
            answers.push(run(folder.path(), &combine).stdout);
        }
        assert!(answers[0].starts_with(b"id,cluster,confidence\nrow0,"));
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{soft:?}");
    }
}

#[test]
fn generate_says_where_k_goes() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(30)).unwrap();
    for k in [["--k", "3"], ["-k", "3"]] {
        let output =
            run(folder.path(), &[&["generate", "data.csv", "-o", "e.csv"], &k[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("--base-k 3") && said.contains("`consilience combine`"), "{said}");
    }
}

#[test]
fn run_says_what_makes_numbers_of_texts() {
    let folder = tempdir().unwrap();
    let rows = table("x;y", 30, |i| {
        format!("{},5;{}", i % 3, if i == 7 { "n/a".into() } else { i.to_string() })
    });
    fs::write(folder.path().join("data.csv"), rows).unwrap();
    let output = run(folder.path(), &["run", "data.csv", "--k", "3", "-o", "out"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let advice = "`x`, `y` are numbers with --decimal , and --missing 'n/a' and --impute mean";
    assert!(said.contains(advice), "{said}");
    let more = ["--decimal", ",", "--missing", "n/a", "--impute", "mean", "--size", "4"];
    let output =
        run(folder.path(), &[&["run", "data.csv", "--k", "3", "-o", "out"], &more[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn run_equals_generate_and_combine() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(120)).unwrap();
    let ensemble = ["--size", "10", "--scheme", "random-init", "--base-k", "4"];
    let tables = ["--id", "name", "--drop", "kind"];
    let step = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    step(&[&["run", "data.csv", "-o", "out", "--k", "3"], &ensemble[..], &tables].concat());
    step(&[&["generate", "data.csv", "-o", "e.parquet"], &ensemble[..], &tables].concat());
    step(&["combine", "e.parquet", "--id", "name", "--k", "3", "-o", "labels.csv"]);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("out/labels.csv") == read("labels.csv"));
}

#[test]
fn a_matrix_that_does_not_fit_is_refused() {
    let folder = tempdir().unwrap();
    let labels = table("a,b", 3000, |i| format!("{},{}", i % 7, i % 11));
    fs::write(folder.path().join("labels.csv"), labels).unwrap();
    let arguments = ["combine", "labels.csv", "--coassociation", "c.npy", "--memory", "20MB"];
    let output = run(folder.path(), &arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("co-association matrix of 3,000 objects would need"), "{text}");
    assert_eq!(names(folder.path()), ["labels.csv"]);
    assert!(output.stdout.is_empty());
}

#[test]
fn demo_runs_everywhere_without_files() {
    for name in ["iris", "half-rings", "three-rings", "cigar", "blobs"] {
        let folder = tempdir().unwrap();
        let output = run(folder.path(), &["demo", name, "-o", "demo"]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(names(&folder.path().join("demo")), RESULTS);
    }
}

#[test]
fn demo_finds_the_clouds() {
    assert_shown!(run(tempdir().unwrap().path(), &["demo"]));
}

/// Documents of three subjects by how often each of 40 words occurs in them: as MatrixMarket, as CSV
/// with all zeros, and the subjects.
fn documents(n: usize) -> (String, String, String) {
    let mut state = 7u64;
    let mut below = |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let (mut entries, mut csv, mut truth) = (Vec::new(), String::new(), "subject\n".to_owned());
    csv.push_str(&(1..=40).map(|j| j.to_string()).collect::<Vec<_>>().join(","));
    csv.push('\n');
    for i in 0..n {
        let mut counts = [0u64; 40];
        for _ in 0..30 {
            let word = if below(4) == 0 { below(40) } else { 13 * (i as u64 % 3) + below(13) };
            counts[word as usize] += 1;
        }
        let row: Vec<String> = counts.iter().map(u64::to_string).collect();
        writeln!(csv, "{}", row.join(",")).unwrap();
        writeln!(truth, "s{}", i % 3).unwrap();
        for (j, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            entries.push(format!("{} {} {count}\n", i + 1, j + 1));
        }
    }
    let head = "%%MatrixMarket matrix coordinate integer general\n% words by documents\n";
    let mtx = format!("{head}{n} 40 {}\n{}", entries.len(), entries.concat());
    (mtx, csv, truth)
}

/// The same numbers in four and in eight bytes.
#[test]
fn a_table_in_single_precision_gives_what_it_gives_in_double() {
    let folder = tempdir().unwrap();
    let text = groups(120);
    let cells = text.lines().skip(1).flat_map(|line| line.split(',').skip(1).take(3));
    let numbers: Vec<f32> = cells.map(|cell| cell.parse().unwrap()).collect();
    let write = |name: &str, kind: &str, cells: Vec<u8>| {
        let header =
            format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (120, 3), }}\n");
        let length = (header.len() as u16).to_le_bytes();
        let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &cells].concat();
        fs::write(folder.path().join(name), bytes).unwrap();
    };
    write("single.npy", "<f4", numbers.iter().flat_map(|x| x.to_le_bytes()).collect());
    write("double.npy", "<f8", numbers.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect());
    for scale in ["none", "zscore"] {
        for base in ["kmeans", "minibatch-kmeans", "fuzzy-kmeans"] {
            let of = |data: &str| {
                let out = folder.path().join("out");
                let arguments = ["run", data, "-o", "out", "--force", "--k", "3", "--size", "5"];
                let own = ["--scale", scale, "--base", base];
                let output = run(folder.path(), &[&arguments[..], &own].concat());
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                let mut files = contents(&out);
                let result: Value = serde_json::from_slice(&files["result.json"]).unwrap();
                let kept = ["labels.csv", "ensemble.parquet"].map(|name| files.remove(name));
                (kept, result["scatter"].clone())
            };
            let (single, double) = (of("single.npy"), of("double.npy"));
            assert!(single.1.is_object(), "{}", single.1);
            assert_eq!(single, double, "{scale} {base}");
        }
    }
}

#[test]
fn a_sparse_table_gives_what_its_numbers_written_out_give() {
    let folder = tempdir().unwrap();
    let (mtx, csv, truth) = documents(150);
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("words.mtx", &mtx);
    write("words.csv", &csv);
    write("truth.csv", &truth);
    let of = |data: &str, own: &[&str]| {
        let common = ["run", data, "-o", "out", "--force", "--k", "3", "--size", "10", "--json"];
        let output = run(folder.path(), &[&common, own].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut files = contents(&folder.path().join("out"));
        (told, ["labels.csv", "ensemble.parquet"].map(|name| files.remove(name).unwrap()))
    };
    for scheme in ["random-k", "random-subspace", "subsample", "random-projection"] {
        for scale in ["none", "minmax", "zscore"] {
            let options = ["--scheme", scheme, "--scale", scale];
            let (told, files) = of("words.mtx", &options);
            assert_eq!(told["n"], 150);
            // Without the shift other scalings round otherwise, which a projection carries on.
            if scale == "none" || scheme != "random-projection" {
                assert_eq!(files, of("words.csv", &options).1, "{scheme} {scale}");
            }
        }
    }
    let (told, _) = of("words.mtx", &["--truth", "truth.csv"]);
    assert!(told["scores"]["consensus"]["ari"].as_f64().unwrap() > 0.9, "{}", told["scores"]);
    let refused = run(folder.path(), &["run", "words.mtx", "-o", "no", "--base", "macqueen"]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && message.contains("sparse"), "{message}");
}

#[test]
fn other_results_and_foreign_files_are_not_replaced() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(60)).unwrap();
    let options = ["run", "data.csv", "--id", "name", "--drop", "kind", "--size", "3", "-o"];
    let with = |more: &[&str]| run(folder.path(), &[&options[..], more].concat());
    fs::create_dir(folder.path().join("notmine")).unwrap();
    fs::write(folder.path().join("notmine/labels.csv"), "mine").unwrap();
    let refused = with(&["notmine", "--k", "3"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("notmine/labels.csv is there already, from something else"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("notmine/labels.csv")).unwrap(), "mine");

    for more in [&["out", "--k", "3"][..], &["out", "--k", "3"], &["out", "--k", "2", "--force"]] {
        let output = with(more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let said = String::from_utf8_lossy(&with(&["out", "--k", "3"]).stderr).into_owned();
    assert!(said.contains("from an earlier result: give another folder, or --force"), "{said}");
    let saved =
        ["combine", "notmine/../out/ensemble.parquet", "--id", "name", "--k", "2", "--save"];
    let said = run(folder.path(), &[&saved[..], &["notmine"]].concat());
    assert_eq!(said.status.code(), Some(2), "{}", String::from_utf8_lossy(&said.stderr));
    for force in [&[][..], &[], &["--force"]] {
        let output = run(folder.path(), &[&saved[..], &["saved"], force].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What a committee made is combined later by the method that it was combined by at first.
#[test]
fn members_of_a_committee_are_combined_alike_by_run_and_combine() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(60)).unwrap();
    let data = ["data.csv", "--id", "name", "--drop", "kind", "--size", "6"];
    let told = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&run(folder.path(), arguments).stdout).unwrap()
    };
    let ran = told(&[&["run"], &data[..], &["--k", "3", "-o", "out", "--json"]].concat());
    let combine = ["--id", "name", "--k", "3", "--json", "-o", "again.csv"];
    let again = told(&[&["combine", "out/ensemble.parquet"], &combine[..]].concat());
    assert_eq!((&ran["method"], &again["method"]), (&"lwgp".into(), &"lwgp".into()));
    let labels = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(labels("out/labels.csv"), labels("again.csv"));
    let generate = [&["generate"], &data[..], &["-o", "members.csv"]].concat();
    assert!(run(folder.path(), &generate).status.success());
    let made = told(&["combine", "members.csv", "--id", "name", "--k", "3", "--json"]);
    assert_eq!(made["method"], "lwgp");
}

/// Files that only some results have are as much the user's as the others.
#[test]
fn files_that_only_some_results_have_are_not_replaced_either() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("data.csv"), groups(60)).unwrap();
    let options = ["run", "data.csv", "--id", "name", "--drop", "kind", "--size", "3", "-o", "out"];
    let with = |more: &[&str]| run(folder.path(), &[&options[..], more].concat());
    let own = |name: &str| fs::write(folder.path().join("out").join(name), "mine").unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    own("leaderboard.csv");
    let several = ["--k", "3", "--method", "hbgf,scec"];
    let said = String::from_utf8_lossy(&with(&several).stderr).into_owned();
    assert!(said.contains("out/leaderboard.csv is there already, from something else"), "{said}");
    // One that has no such file leaves it alone, also when it is made again or replaced.
    own("moved.csv");
    for more in [&["--k", "3"][..], &["--k", "3"], &["--k", "2", "--force"]] {
        let output = with(more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for name in ["leaderboard.csv", "moved.csv"] {
        assert_eq!(fs::read_to_string(folder.path().join("out").join(name)).unwrap(), "mine");
    }
    let said =
        String::from_utf8_lossy(&with(&["--k", "3", "--align-to", "out"]).stderr).into_owned();
    assert!(said.contains("out/moved.csv is there already, from something else"), "{said}");
    let output = with(&[&several[..], &["--force"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(with(&["--k", "2", "--force"]).status.success());
    let left = names(&folder.path().join("out"));
    assert!(!left.contains(&"leaderboard.csv".to_owned()), "that of the result before: {left:?}");
}

#[test]
fn every_data_set_of_the_demo_has_its_folder() {
    let folder = tempdir().unwrap();
    for arguments in [&["demo"][..], &["demo"], &["demo", "half-rings"]] {
        let output = run(folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let there = |name: &str| folder.path().join(name).join("result.json").exists();
    assert!(there("consilience-demo") && there("consilience-demo-half-rings"));
    let refused = run(folder.path(), &["demo", "half-rings", "-o", "consilience-demo"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_column_may_be_dropped_and_be_the_truth() {
    let folder = tempdir().unwrap();
    let row = |i: usize| format!("{},{},{}\n", i % 2 * 9, i, ["x", "y"][i % 2]);
    let text = "a,b,kind\n".to_owned() + &(0..30).map(row).collect::<String>();
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let words = ["run", "t.csv", "--k", "2", "--size", "4", "--kinds", "kmeans", "-o", "out"];
    let output = run(folder.path(), &[&words[..], &["--truth", "kind", "--drop", "kind"]].concat());
    assert!(output.status.success(), "{}", shown(&output));
}
