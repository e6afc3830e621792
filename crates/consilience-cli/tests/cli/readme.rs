//! The README as a new user follows it: every command, in an empty folder, as printed.

use std::fs;
use std::path::Path;

use tempfile::tempdir;

use crate::run;

#[test]
fn its_commands_run_as_printed() {
    let readme =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let folder = tempdir().unwrap();
    let printed = readme.lines().filter_map(|line| line.strip_prefix("$ consilience "));
    let mut commands = 0;
    for line in printed {
        let mut words: Vec<&str> =
            line.split_whitespace().take_while(|word| *word != "#").collect();
        match words[0] {
            // The table takes minutes.
            "reproduce" => words.push("--list"),
            // With fewer clusterings it takes less time, and is the same command otherwise.
            "run" => words.extend(["--size", "4"]),
            _ => {}
        }
        let output = run(folder.path(), &words);
        assert!(output.status.success(), "{line}\n{}", crate::shown(&output));
        commands += 1;
    }
    assert!(commands > 20, "{commands}");
    let refused = run(folder.path(), &["demo", "--tables"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("flowers.csv is there already") && said.contains("--force"), "{said}");
    assert!(run(folder.path(), &["demo", "--tables", "--force"]).status.success());
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = tempdir().unwrap();
    assert!(run(folder.path(), &["man", "man1"]).status.success());
    let page = fs::read_to_string(folder.path().join("man1/consilience-run.1")).unwrap();
    assert!(page.contains(".TH consilience-run 1") && page.contains("\\-\\-truth"), "{page}");
    assert!(folder.path().join("man1/consilience.1").exists());
    let help = String::from_utf8(run(folder.path(), &["help"]).stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| line.starts_with("  ")) {
        let name = line.split_whitespace().next().unwrap();
        let path = folder.path().join(format!("man1/consilience-{name}.1"));
        assert!(name == "help" || path.exists(), "{name}");
    }
    assert_eq!(run(folder.path(), &["man", "man1"]).status.code(), Some(2), "they are there");
    let shown = run(folder.path(), &["man"]).stdout;
    assert_eq!(shown, fs::read(folder.path().join("man1/consilience.1")).unwrap());
}

/// `scripts/release-check` knows all places; these are not read by cargo.
#[test]
fn the_version_is_the_same_wherever_it_is_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let version = env!("CARGO_PKG_VERSION");
    for (file, line) in [
        ("CITATION.cff", format!("version: {version}")),
        ("recipe/recipe.yaml", format!("  version: \"{version}\"")),
        ("crates/consilience-r/package/DESCRIPTION", format!("Version: {version}")),
    ] {
        let text = fs::read_to_string(root.join(file)).expect("the file is there");
        assert!(text.lines().any(|l| l == line), "{file} has no line `{line}`");
    }
}
