//! Help, version and completions.

use tempfile::tempdir;

use crate::{assert_shown, run};

macro_rules! help_of {
    ($($name:ident: $arguments:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_shown!(run(tempdir().unwrap().path(), &$arguments));
        })*
    };
}

help_of! {
    help: ["--help"];
    short_help: ["-h"];
    help_align: ["align", "--help"];
    help_figure: ["figure", "--help"];
    help_combine: ["combine", "--help"];
    help_demo: ["demo", "--help"];
    help_run: ["run", "--help"];
    help_generate: ["generate", "--help"];
    help_resolve: ["resolve", "--help"];
    help_score: ["score", "--help"];
    help_methods: ["methods", "--help"];
    help_completions: ["completions", "--help"];
    version: ["--version"];
    no_command: [];
    unknown_command: ["combin"];
    unknown_option: ["combine", "labels.csv", "--methd", "scec"];
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run(tempdir().unwrap().path(), &["completions", shell]);
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{shell}");
        assert!(script.contains("consilience") && script.contains("combine"), "{shell}");
    }
}
