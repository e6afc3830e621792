//! What is fuzzed: everything that reads what others wrote, and the methods.
//!
//! Each target takes any bytes and panics if something is wrong; [`Target::grant`] tells how much memory they may
//! take. The targets are compiled, and their corpora run through them, by `crates/consilience-wasm/tests/corpus.rs` as well:
//! a crate of the main workspace that has readers, methods and page behind it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use bytes::Bytes;
use clap::Parser;
use consilience::consensus::{ChoosesK, METHODS, Settings, combine, prepare};
use consilience::ensemble::{Ensemble, HardMember, Member, SoftMember};
use consilience::pipeline::Record;
use consilience::{Matrix, Run};
use consilience_io::{
    ClusteringTable, Held, Impute, Memory, ReadOptions, Slice, identify, read_clusterings,
    read_edges, read_features, read_labels, read_raw, read_rows, read_sequence, row_files,
    write_members,
};
use consilience_wasm::{Asked, Hearer};

#[allow(dead_code, reason = "the command line uses the rest")]
#[path = "../../crates/consilience-cli/src/args/consensus.rs"]
mod consensus_arguments;
#[allow(dead_code, unreachable_pub, reason = "the command line uses the rest")]
#[path = "../../crates/consilience-cli/src/memory.rs"]
mod memory;

/// One of the things that are fuzzed.
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// Tries an input.
    pub run: fn(&[u8]),
    /// How many bytes of memory an input may take.
    pub grant: fn(&[u8]) -> usize,
}

/// Memory that any input may take: blocks, tables, threads' own.
const SOME: usize = 32 << 20;
/// What a byte of text, packed or not, may take besides.
const TIMES: usize = 200;
/// The ceiling that readers are told: formats that pack may hold millions of rows in a few bytes, and ask it first.
const CEILING: u64 = 256 << 20;

/// All targets.
pub const TARGETS: [Target; 14] = [
    Target { name: "csv", run: |input| table("t.csv", input), grant: by_size },
    Target { name: "tsv", run: |input| table("t.tsv", input), grant: by_size },
    Target { name: "gzip", run: |input| table("t.csv.gz", input), grant: by_size },
    Target { name: "npy", run: |input| table("t.npy", input), grant: by_size },
    Target { name: "market", run: |input| table("t.mtx", input), grant: by_ceiling },
    Target { name: "parquet", run: |input| table("t.parquet", input), grant: by_ceiling },
    Target { name: "arrow", run: |input| table("t.arrow", input), grant: by_ceiling },
    Target { name: "memberships", run: memberships, grant: by_size },
    Target { name: "edges", run: edges, grant: by_size },
    Target { name: "rows", run: rows, grant: by_ceiling },
    Target { name: "record", run: record, grant: by_size },
    Target { name: "arguments", run: arguments, grant: by_size },
    Target { name: "methods", run: methods, grant: by_ceiling },
    Target { name: "job", run: job, grant: by_ceiling },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn by_size(input: &[u8]) -> usize {
    SOME + TIMES * input.len().max(unpacked(input.get(2..).unwrap_or_default()))
}

fn by_ceiling(_: &[u8]) -> usize {
    CEILING as usize / 10 * 11 + (64 << 20)
}

/// How many bytes come out of gzip; 0 if none do.
fn unpacked(input: &[u8]) -> usize {
    let mut out = flate2::read::MultiGzDecoder::new(input);
    // What comes before the damage counts as well.
    let (mut buffer, mut all) = ([0; 1 << 14], 0);
    while let Ok(more @ 1..) = std::io::Read::read(&mut out, &mut buffer) {
        all += more;
    }
    all
}

fn run() -> Run {
    static RUN: LazyLock<Run> = LazyLock::new(|| Run::new(0).threads(1).memory(CEILING));
    RUN.clone()
}

/// How a table is read, told by the bits of a byte.
fn options(bits: u8, name: &str, bytes: &[u8]) -> ReadOptions {
    let on = |bit: u8| bits & 1 << bit != 0;
    ReadOptions {
        id: on(0).then(|| "id".to_owned()),
        truth: on(1).then(|| "class".to_owned()),
        weights: on(2).then(|| "w".to_owned()),
        no_header: on(3),
        decimal_comma: on(4),
        impute: on(5).then_some(Impute::Mean),
        missing: if on(6) { vec!["-".to_owned(), "0".to_owned()] } else { Vec::new() },
        drop: if on(7) { vec!["a,b".to_owned()] } else { Vec::new() },
        held: Some(Held { name: name.into(), bytes: Bytes::copy_from_slice(bytes) }),
        ..ReadOptions::default()
    }
}

/// A table in a file of this name, as one of the things a table can be. Two bytes tell what and how.
fn table(name: &str, input: &[u8]) {
    let [bits, what, bytes @ ..] = input else { return };
    let (run, path) = (run(), Path::new(name));
    let mut options = options(*bits, name, bytes);
    match what % 7 {
        0 | 1 => {
            if let Ok(table) = read_clusterings(&[path.to_owned()], &options, &run) {
                sound(&table, &run);
            }
        }
        2 => {
            if let Ok(table) = read_features(path, &options, &run) {
                let data = table.values.data();
                let n = data.nrows();
                assert!(table.ids.as_ref().is_none_or(|ids| ids.len() == n));
                assert!(table.truth.as_ref().is_none_or(|truth| truth.labels().len() == n));
                assert!(table.weights.as_ref().is_none_or(|weights| weights.len() == n));
                table.looks_like_clusterings();
                // Few claims may stand for a table that fills the memory.
                if n.saturating_mul(table.columns.len()) < 1 << 16 {
                    let dense = table.values.into_dense();
                    assert!(dense.as_slice().iter().all(|x| x.is_finite()));
                }
            }
        }
        3 => {
            if let Ok(table) = read_raw(path, &options, &run) {
                for column in &table.columns {
                    assert_eq!(column.cells.len(), table.rows);
                    for row in 0..table.rows {
                        let value = column.cell(row);
                        assert!(value.is_none_or(|text| column.values.iter().any(|v| v == text)));
                    }
                }
            }
        }
        4 => drop(read_labels(path, None, 6, &options, &run)),
        5 => drop(read_sequence(&[Slice::new(path, None)], &options, &run)),
        _ => drop(identify(&[path.to_owned()], &mut options, &run)),
    }
}

/// What was read holds together, and is read back as it is written.
fn sound(table: &ClusteringTable, run: &Run) {
    let ClusteringTable { ids, members, weights, truth, .. } = table;
    let n = members.first().map_or(0, Member::n_objects);
    assert!(members.iter().all(|member| member.n_objects() == n));
    assert!(ids.as_ref().is_none_or(|ids| ids.len() == n));
    assert!(weights.as_ref().is_none_or(|weights| weights.len() == n));
    assert!(truth.as_ref().is_none_or(|truth| truth.labels().len() == n));
    if let Some(weights) = weights {
        assert!(weights.iter().all(|w| w.is_finite() && *w >= 0.0));
    }
    let clusters: usize = members.iter().map(|member| member.clusters().len()).sum();
    // Names that are repeated, or that columns of this program have, tell other things when they are read again.
    let mut names: Vec<&str> = members.iter().map(Member::name).collect();
    names.sort_unstable();
    names.dedup();
    let plain = |name: &&str| {
        !name.is_empty()
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric())
            && !["id", "cluster", "confidence", "coverage", "class", "w", "nan", "na", "inf"]
                .contains(&name.to_ascii_lowercase().as_str())
    };
    let hard = members.iter().all(Member::is_hard);
    if n.saturating_mul(members.len()) > 1 << 14
        || clusters > 1 << 12
        || names.len() != members.len()
        || !names.iter().all(plain)
        || !hard
    {
        return;
    }
    let memory = Memory::default();
    let file = consilience_io::Target::memory("back.parquet", &memory);
    write_members(&file, None, members, run).expect("memory takes all");
    let held = Some(Held { name: "back.parquet".into(), bytes: memory.take().into() });
    let options = ReadOptions { held, ..ReadOptions::default() }.as_written();
    let again = read_clusterings(&["back.parquet".into()], &options, run);
    match again {
        Ok(again) => assert_eq!(&again.members, members),
        Err(error) => panic!("what was written is not read: {error}"),
    }
}

/// A table of memberships: the same as text, with the columns named in the first line of the corpus.
fn memberships(input: &[u8]) {
    let [bits, bytes @ ..] = input else { return };
    let options = options(bits & 0b0111_1111, "t.csv", bytes);
    if let Ok(table) = read_clusterings(&["t.csv".into()], &options, &run()) {
        for member in &table.members {
            if let Member::Soft(soft) = member {
                for row in soft.memberships().iter_rows() {
                    let sum: f64 = row.iter().sum();
                    assert!(row.iter().all(|x| (0.0..=1.0).contains(x)), "{row:?}");
                    assert!(sum == 0.0 || (sum - 1.0).abs() < 1e-9, "{row:?}");
                }
            }
            assert_eq!(member.hardened().labels().len(), member.n_objects());
        }
    }
}

/// Edges of 20 objects, which have names or none.
fn edges(input: &[u8]) {
    let [bits, bytes @ ..] = input else { return };
    let name = if bits & 1 == 0 { "e.csv" } else { "e.tsv" };
    // What is held is not handed on to edges: they are read from a file.
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a small file");
    let options = ReadOptions {
        no_header: bits & 2 != 0,
        decimal_comma: bits & 4 != 0,
        ..ReadOptions::default()
    };
    let ids = (0..20).map(|i| i.to_string()).collect::<Vec<_>>();
    let ids = ids.iter().map(String::as_str).collect();
    let ids = (bits & 8 != 0).then_some(&ids);
    if let Ok(table) = read_edges(&path, ids, 20, &options, &run()) {
        assert_eq!(table.edges.n_objects(), 20);
    }
}

/// Clusterings in a Parquet file, row by row.
fn rows(input: &[u8]) {
    let [bits, bytes @ ..] = input else { return };
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path: PathBuf = folder.path().join("t.parquet");
    std::fs::write(&path, bytes).expect("a small file");
    let options = ReadOptions { held: None, ..options(bits & 0b1000_0101, "", &[]) };
    let run = run();
    let Ok(Some(files)) = row_files(std::slice::from_ref(&path), true, &options, &run) else {
        return;
    };
    let (by_rows, whole) = (
        read_rows(&files, &options, &run).and_then(|table| table.into_clusterings(&run)),
        read_clusterings(&[path], &options, &run),
    );
    if let (Ok(by_rows), Ok(whole)) = (by_rows, whole) {
        assert_eq!(by_rows.members, whole.members);
        assert_eq!(by_rows.ids, whole.ids);
        assert_eq!(by_rows.weights, whole.weights);
    }
}

/// The record of a result, which is read back as it is written.
fn record(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Some(record) = Record::parse(text) else { return };
    record.k_asked();
    record.command.settings().for_each(drop);
    record.command.list("drop").for_each(drop);
    let written = serde_json::to_string(&record).expect("a record is plain data");
    let again = Record::parse(&written).expect("what was written is read");
    assert_eq!(serde_json::to_string(&again).expect("a record is plain data"), written);
}

/// Words of a command line: about the consensus, sizes, and settings of methods.
fn arguments(input: &[u8]) {
    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        consensus: consensus_arguments::ConsensusArgs,
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    let words: Vec<&str> = text.split('\n').collect();
    words.iter().for_each(|word| drop(memory::parse_size(word)));
    let Ok(Words { consensus }) = Words::try_parse_from([""].iter().chain(&words)) else { return };
    consensus.k.told();
    let k = consensus.k.exactly();
    let set = consensus.settings.iter().map(|one| (one.key.as_str(), one.value.as_str()));
    let settings = Settings::from_iter(set);
    for info in METHODS {
        let asked_for = consensus.method() == info.name || consensus.method() == "all";
        if asked_for && let Ok(method) = info.with(k, &settings) {
            method.check().expect("it was checked when it was built");
            info.in_force(&settings);
        }
    }
}

/// A method on an ensemble: what it answers holds together.
fn methods(input: &[u8]) {
    let [which, k, flags, n, r, labels @ ..] = input else { return };
    let info = METHODS[*which as usize % METHODS.len()];
    if info.edges || labels.is_empty() {
        return;
    }
    let (n, r) = (*n as usize % 40 + 1, *r as usize % 6 + 1);
    let at = |i: usize| labels[i % labels.len()].wrapping_add((i / labels.len()) as u8);
    let label = |h: usize, i: usize| match at(h * n + i) % 16 {
        15 => None,
        label => Some(i64::from(label)),
    };
    let member = |h: usize| -> Option<Member> {
        if flags & 1 << (h % 4) == 0 || h < 2 {
            let hard = HardMember::from_integers(format!("m{h}"), (0..n).map(|i| label(h, i)));
            return (!hard.clusters().is_empty()).then(|| hard.into());
        }
        let row = |i: usize, j: usize| f64::from(at(h * n + i).wrapping_mul(j as u8 * 7 + 1) % 8);
        let sums: Vec<f64> = (0..n).map(|i| (0..3).map(|j| row(i, j)).sum()).collect();
        let matrix = Matrix::from_fn(n, 3, |i, j| row(i, j) / sums[i].max(1.0));
        let clusters = ["a", "b", "c"].map(str::to_owned).to_vec();
        SoftMember::new(format!("m{h}"), matrix, clusters).ok().map(Member::from)
    };
    let members: Vec<Member> = (0..r).filter_map(member).collect();
    let Ok(mut ensemble) = Ensemble::new(members) else { return };
    if flags & 16 != 0 {
        let weights = (0..n).map(|i| [0.1, 1.0, 2.5, 1e9][at(i) as usize % 4]).collect();
        let Ok(weighted) = ensemble.with_weights(weights) else { return };
        ensemble = weighted;
    }
    let k = match (info.chooses_k, flags & 32) {
        (ChoosesK::Always, _) | (ChoosesK::UnlessGiven, 0) => None,
        _ => Some(*k as usize % (n + 2)),
    };
    let run = run();
    let Ok(method) = info.with(k, &Settings::default()) else { return };
    let Ok(profiles) = prepare(&ensemble, info, &run) else { return };
    let Ok(answer) = combine(&profiles, method.as_ref(), None, &run) else { return };
    let labels = answer.object_labels(&profiles);
    assert_eq!(labels.len(), n);
    assert!(labels.iter().flatten().all(|&c| (c as usize) < answer.k), "{}", info.name);
    assert!(k.is_none_or(|k| answer.k <= k), "{}: {} clusters of {k:?}", info.name, answer.k);
    for strength in answer.object_strength(&profiles).into_iter().flatten() {
        assert!((0.0..=1.0).contains(&strength), "{}: strength {strength}", info.name);
    }
    for row in answer.membership.iter().flat_map(Matrix::iter_rows) {
        let sum: f64 = row.iter().sum();
        assert!((sum - 1.0).abs() < 1e-6, "{}: memberships {row:?}", info.name);
        assert!(row.iter().all(|p| *p >= 0.0), "{}: memberships {row:?}", info.name);
    }
}

/// The way from a file to all results, the report page among them.
fn job(input: &[u8]) {
    #[derive(Default)]
    struct Heard(RefCell<BTreeMap<String, Vec<u8>>>);
    impl Hearer for Heard {
        fn hear(&self, name: &str, bytes: &[u8]) {
            self.0.borrow_mut().insert(name.to_owned(), bytes.to_vec());
        }
    }
    let [bits, method, bytes @ ..] = input else { return };
    let on = |bit: u8| bits & 1 << bit != 0;
    let words = ["", "voting", "lwea", "scec", "best-member", "all", "kcc,sa", "wct"];
    let asked = Asked {
        name: ["t.csv", "t.tsv", "t.parquet", "t.mtx"][usize::from(bits & 3)].to_owned(),
        kind: ["", "clusterings", "features", "clusterings"][usize::from(bits >> 2 & 3)].to_owned(),
        k: if on(4) { "2".to_owned() } else { String::new() },
        method: words[*method as usize % words.len()].to_owned(),
        id: if on(5) { "none".to_owned() } else { String::new() },
        truth: if on(6) { "class".to_owned() } else { String::new() },
        drop: if on(7) { "a".to_owned() } else { String::new() },
        ..Asked::default()
    };
    let heard = Heard::default();
    // A small ceiling: what is tried are the ways, not the size.
    let run = run().memory(32 << 20);
    if consilience_wasm::run(&asked, Bytes::copy_from_slice(bytes), &run, &heard).is_err() {
        return;
    }
    let heard = heard.0.into_inner();
    let text = |name: &str| std::str::from_utf8(&heard[name]).expect("text");
    assert!(Record::parse(text("result.json")).is_some());
    let page = text("report.html");
    // Scripts of its own, and no other: whatever is in the table is text.
    let count = |what: &str| page.matches(what).count();
    static SCRIPTS: LazyLock<std::sync::Mutex<Option<usize>>> = LazyLock::new(Default::default);
    let mut scripts = SCRIPTS.lock().expect("nobody panics with it");
    let now = count("<script");
    assert_eq!(*scripts.get_or_insert(now), now, "a script in the page that is not its own");
}
