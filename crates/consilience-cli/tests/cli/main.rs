//! The program as its users meet it: real processes, real files, exit codes and exact output.

#![allow(missing_docs, unreachable_pub, clippy::missing_panics_doc)]

mod align;
mod assign;
mod bad_input;
mod check;
mod combine;
mod figure;
mod files;
mod help;
mod hostile;
mod interrupt;
mod methods;
mod networks;
mod preset;
mod readme;
mod report;
mod reproduce;
mod resolve;
mod rows;
mod run;
mod score;
mod through_time;

use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;

/// The program, in an empty folder of its own, with nothing inherited that changes its output.
pub fn consilience(folder: &Path) -> Command {
    let mut command = Command::new(cargo_bin!("consilience"));
    command.current_dir(folder);
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command
}

/// A table of this header and the rows that `row` makes of their numbers.
pub fn table(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    let lines: Vec<String> = std::iter::once(header.to_owned()).chain((0..rows).map(row)).collect();
    lines.join("\n") + "\n"
}

/// Runs the program with these arguments.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    consilience(folder).args(arguments).output().expect("the program starts")
}

/// Exit code, stdout and stderr in one text for a snapshot.
pub fn shown(output: &Output) -> String {
    format!(
        "exit code: {}\n----- stdout -----\n{}----- stderr -----\n{}",
        output.status.code().map_or("none".to_owned(), |code| code.to_string()),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    )
}

/// Compares a run of the program with its snapshot, times and versions filtered.
#[macro_export]
macro_rules! assert_shown {
    ($output:expr) => {
        insta::with_settings!({
            filters => [
                (r#""(read|compress|consensus|write|generate)":[0-9.e-]+"#, r#""$1":[seconds]"#),
                (r"\b0\.1\.0\b", "[version]"),
            ],
            omit_expression => true,
        }, {
            insta::assert_snapshot!($crate::shown(&$output));
        })
    };
}
