//! Dependencies inside the library point one way: each room may use only those before it.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms, from the ground up.
const ORDER: [&str; 17] = [
    "setters",
    "words",
    "math",
    "error",
    "rng",
    "run",
    "watch",
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

/// One file of a crate.
struct Source {
    /// Below `src`.
    path: PathBuf,
    /// The modules that lead to it.
    modules: Vec<String>,
    /// What ships: tests may look anywhere.
    text: String,
}

/// All files of the crate in this folder but those of tests.
fn sources(src: &Path) -> Vec<Source> {
    fn files(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the source folder can be read") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                files(&path, into);
            } else if path.extension().is_some_and(|e| e == "rs") {
                into.push(path);
            }
        }
    }
    let mut all = Vec::new();
    files(src, &mut all);
    let source = |file: PathBuf| {
        let path = file.strip_prefix(src).expect("below src").to_owned();
        let names = path.with_extension("");
        let names = names.iter().map(|name| name.to_str().expect("plain names").to_owned());
        let modules = names.filter(|name| name != "mod" && name != "lib").collect();
        let text = shipped(&fs::read_to_string(&file).expect("source is text"));
        Source { path, modules, text }
    };
    let is_test = |s: &Source| s.modules.iter().any(|name| name == "tests" || name == "testing");
    all.into_iter().map(source).filter(|source| !is_test(source)).collect()
}

/// A file without comments and without the items that are for tests only, wherever they stand.
fn shipped(text: &str) -> String {
    let mut shipped = String::new();
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut lines = code.filter(|line| !line.trim().is_empty());
    while let Some(line) = lines.next() {
        if line.trim() == "#![cfg(test)]" {
            return String::new();
        }
        if line.trim() != "#[cfg(test)]" {
            shipped.push_str(line);
            shipped.push('\n');
            continue;
        }
        // The item ends with a semicolon, or where its braces close.
        let (mut depth, mut opened) = (0, false);
        for line in lines.by_ref() {
            opened |= line.contains('{');
            depth += line.matches('{').count() as i64 - line.matches('}').count() as i64;
            if depth == 0 && (opened || line.trim_end().ends_with([';', ','])) {
                break;
            }
        }
    }
    shipped
}

/// Every path in `text` that starts with `start`, without it; groups are taken apart.
fn paths(text: &str, start: &str) -> Vec<String> {
    fn expand(tree: &str, before: &str, into: &mut Vec<String>) {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let end = tree.find(|c| !is_name(c)).unwrap_or(tree.len());
        let path = format!("{before}{}", &tree[..end]);
        let Some(group) = tree[end..].strip_prefix('{') else { return into.push(path) };
        let (mut depth, mut from) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    let item = group[from..at].trim();
                    if !item.is_empty() {
                        expand(item, &path, into);
                    }
                    from = at + 1;
                    if c == '}' {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
    let (mut found, mut done) = (Vec::new(), 0);
    for (at, _) in text.match_indices(start) {
        // `super::super::x` is one path, so is a group with `super::` in it; `my_crate::x` is not ours.
        let before = text[..at].chars().next_back();
        if at < done || before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let tree = &text[at + start.len()..];
        expand(tree, "", &mut found);
        let group = tree.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        if group.is_some_and(|group| tree[group..].starts_with('{')) {
            done = at + tree.find(';').unwrap_or(0);
        }
    }
    found
}

/// The paths that a file uses, each from the root of the crate.
fn used(source: &Source) -> Vec<String> {
    let mut all = paths(&source.text, "crate::");
    for path in paths(&source.text, "super::") {
        let mut above = source.modules.len() - 1;
        let mut rest = &*path;
        while let Some(below) = rest.strip_prefix("super::") {
            // Modules inside a file may step up to it.
            above = above.saturating_sub(1);
            rest = below;
        }
        all.push([&source.modules[..above].join("::"), rest].join("::"));
    }
    all
}

/// The rooms of the library, and the ground floor, which is a crate of its own.
fn backward(source: &Source) -> Vec<String> {
    let Some(room) = source.modules.first() else { return Vec::new() };
    let own = rank(room).unwrap_or_else(|| panic!("room `{room}` has no place in ORDER"));
    let first = |path: &String| path.split("::").find(|name| !name.is_empty()).and_then(rank);
    let upward = used(source).into_iter().filter(|path| first(path).is_some_and(|used| used > own));
    upward.map(|path| format!("{}: {path}", source.path.display())).collect()
}

#[test]
fn rooms_use_only_the_rooms_below_them() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = [library.join("src"), library.with_file_name("consilience-core").join("src")];
    let all: Vec<Source> = crates.iter().flat_map(|src| sources(src)).collect();
    assert!(all.len() > 50, "the sources were found");
    let backward: Vec<String> = all.iter().flat_map(backward).collect();
    assert!(backward.is_empty(), "backward arrows:\n{}", backward.join("\n"));
}

/// A method never imports another method: what two share moves down. A method is what has a row for
/// `METHODS`; too long for one file it is a folder, and all files in it are that method.
#[test]
fn methods_do_not_import_each_other() {
    let all = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let name = |source: &Source| match &source.modules[..] {
        [room, name, ..] if room == "consensus" => Some(name.clone()),
        _ => None,
    };
    let rows = all.iter().filter(|source| source.text.contains(": MethodInfo = MethodInfo {"));
    let methods: Vec<String> = rows.filter_map(name).collect();
    assert!(methods.len() > 20, "the methods were found");
    for source in &all {
        let Some(own) = name(source).filter(|own| methods.contains(own)) else { continue };
        for path in used(source) {
            let other = path.strip_prefix("consensus::").and_then(|path| path.split("::").next());
            let other = other.filter(|other| *other != own && methods.iter().any(|m| m == other));
            assert!(other.is_none(), "{}: {path}", source.path.display());
        }
    }
}

/// The mathematical library of the operating system rounds differently from one to the next: what ships calls
/// `math`, whose bits are the same everywhere.
#[test]
fn functions_of_the_operating_system_are_not_called() {
    const CALLS: [&str; 24] = [
        "exp(", "exp2(", "exp_m1(", "ln(", "ln_1p(", "log(", "log2(", "log10(", "powf(", "cbrt(",
        "hypot(", "sin(", "cos(", "tan(", "sin_cos(", "asin(", "acos(", "atan(", "atan2(", "sinh(",
        "cosh(", "tanh(", "asinh(", "acosh(",
    ];
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = [library.join("src"), library.with_file_name("consilience-core").join("src")];
    for source in crates.iter().flat_map(|src| sources(src)) {
        for line in source.text.lines() {
            let name = |call: &&str| call.trim_end_matches('(').to_owned();
            let called = |call: &&&str| {
                let methods = [format!(".{call}"), format!("f64::{}", name(call))];
                methods.iter().any(|method| line.contains(method))
            };
            let call = CALLS.iter().find(called);
            assert!(call.is_none(), "{}: {line}", source.path.display());
        }
    }
}

/// What the tests above must be able to see.
#[test]
fn imports_are_seen_wherever_they_stand() {
    let text = "
        use crate::a::B;
        #[cfg(test)]
        use crate::not_this::One;
        use crate::{
            c::{D, e::F}, // crate::nor::this
            g,
        };
        #[cfg(test)]
        mod tests { use crate::nor_that::X; fn f() { {} } }
        fn f() { my_crate::no(); crate::h::i(); super::super::j::k() }
    ";
    let modules = ["room", "file"].map(str::to_owned).to_vec();
    let source = Source { path: PathBuf::new(), modules, text: shipped(text) };
    let expected = ["a::B", "c::D", "c::e::F", "g", "h::i", "::j::k"];
    assert_eq!(used(&source), expected);
    let paths = paths("use super::{x::Y, super::z::{V, W}};", "super::");
    assert_eq!(paths, ["x::Y", "super::z::V", "super::z::W"]);
}
