//! What fuzzing starts from and what it has found, run once each: so the targets of `fuzz/` compile with every change,
//! and what was mended stays so. `make fuzz` is the fuzzing itself.

// Another workspace's code, which has no lints of this one.
#[allow(clippy::pedantic, missing_docs, unreachable_pub)]
#[path = "../../../fuzz/src/targets.rs"]
#[allow(dead_code, reason = "what memory an input is granted, the fuzzer alone counts")]
mod targets;

use std::fs;
use std::path::Path;

#[test]
fn every_input_of_the_corpora_is_taken_or_refused() {
    consilience_io::hide_reader_panics();
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for target in targets::TARGETS {
        let folder = corpora.join(target.name);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{}", target.name);
        for file in files {
            let input = fs::read(&file).unwrap();
            let run = std::panic::catch_unwind(|| (target.run)(&input));
            assert!(run.is_ok(), "{} panics (message above)", file.display());
        }
    }
    assert!(targets::target("csv").is_some() && targets::target("none").is_none());
}
