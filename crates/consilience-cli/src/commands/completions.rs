//! `consilience completions SHELL`.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs};
use crate::output;

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "consilience", &mut script);
    output::text(&String::from_utf8_lossy(&script))
}
