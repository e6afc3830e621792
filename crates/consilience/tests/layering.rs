//! Dependencies inside the library point one way: each room may use only those before it.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, from the ground up.
const ORDER: [&str; 15] = [
    "setters",
    "words",
    "error",
    "rng",
    "run",
    "linalg",
    "data",
    "graph",
    "ensemble",
    "metrics",
    "base",
    "generate",
    "consensus",
    "judge",
    "pipeline",
];

fn rank(room: &str) -> Option<usize> {
    ORDER.iter().position(|&r| r == room)
}

fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// The part of a file that ships: tests may look anywhere.
fn shipped(text: &str) -> impl Iterator<Item = &str> {
    let is_test = |line: &str| line == "#[cfg(test)]" || line == "#![cfg(test)]";
    text.lines()
        .take_while(move |line| !is_test(line))
        .filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn rooms_use_only_the_rooms_below_them() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut backward = Vec::new();
    // The ground floor is a crate of its own.
    for src in [library.join("src"), library.with_file_name("consilience-core").join("src")] {
        let mut files = Vec::new();
        rust_files(&src, &mut files);
        for file in &files {
            let relative = file.strip_prefix(&src).expect("below src");
            let room = relative.components().next().expect("a first part").as_os_str();
            let room = room.to_str().expect("plain names").trim_end_matches(".rs");
            if room == "lib" || room == "testing" {
                continue;
            }
            let own = rank(room).unwrap_or_else(|| panic!("room `{room}` has no place in ORDER"));
            let text = fs::read_to_string(file).expect("source is text");
            for line in shipped(&text) {
                for used in line.split("crate::").skip(1) {
                    let used: String =
                        used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                    if rank(&used).is_some_and(|used| used > own) {
                        backward.push(format!("{}: {}", relative.display(), line.trim()));
                    }
                }
            }
        }
    }
    assert!(backward.is_empty(), "backward arrows:\n{}", backward.join("\n"));
}

/// A method never imports another method: what two share moves down.
#[test]
fn methods_do_not_import_each_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/consensus");
    let scaffold = [
        "mod",
        "method",
        "combine",
        "outcome",
        "settings",
        "start",
        "tree",
        "balanced",
        "competition",
    ];
    let mut files = Vec::new();
    rust_files(&folder, &mut files);
    // A method too long for one file is a folder: all files in it are that method.
    let name = |p: &Path| {
        let below = p.strip_prefix(&folder).expect("below consensus");
        let first = below.components().next().expect("a name").as_os_str();
        first.to_str().expect("plain names").trim_end_matches(".rs").to_owned()
    };
    let methods: Vec<String> =
        files.iter().map(|f| name(f)).filter(|n| !scaffold.contains(&n.as_str())).collect();
    for file in files.iter().filter(|f| methods.contains(&name(f))) {
        let text = fs::read_to_string(file).expect("source is text");
        for line in shipped(&text) {
            for other in methods.iter().filter(|m| **m != name(file)) {
                for path in [format!("consensus::{other}::"), format!("super::{other}::")] {
                    assert!(!line.contains(&path), "{} imports {other}: {line}", file.display());
                }
            }
        }
    }
}
