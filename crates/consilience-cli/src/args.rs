//! The arguments: raw text in, checked values out.

mod align;
mod check;
mod consensus;
mod data;
mod figure;
mod labels;
mod preset;
mod reproduce;
mod resolve;
mod results;
mod spelling;
mod values;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::align::AlignArgs;
pub(crate) use self::check::{CheckArgs, Kind};
pub(crate) use self::consensus::{ConsensusArgs, KChoice, Setting};
pub(crate) use self::data::{
    DEFAULT_DEMO, DataReading, DemoArgs, EnsembleArgs, GenerateArgs, RunArgs,
};
pub(crate) use self::figure::FigureArgs;
pub(crate) use self::labels::{CombineArgs, Noise, OutputArgs, ScoreArgs};
pub(crate) use self::reproduce::ReproduceArgs;
pub(crate) use self::resolve::ResolveArgs;
pub(crate) use self::results::{AssignArgs, ExplainArgs, ReplayArgs, ReportArgs};
pub(crate) use self::spelling::spelled;
pub(crate) use self::values::INCONSISTENCY;
use self::values::at_least_one;
use crate::memory::parse_size;
use crate::progress::When;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const COMMON: &str = "Common options";
const TABLES: &str = "Reading tables";

/// Many clusterings of the same objects, combined into one
///
/// consilience takes several clusterings of the same objects, made by different algorithms, runs,
/// people or sites, and finds the one clustering they agree on most, and how sure it is of every
/// object.
#[derive(Debug, Parser)]
#[command(
    name = "consilience",
    version,
    styles = STYLES,
    max_term_width = 100,
    args_override_self = true,
    after_help = "Start with `consilience demo`; `consilience help COMMAND` teaches each command by examples.",
    after_long_help = "\
Examples:
  See the whole thing work, no files needed:
    consilience demo

  You have data (one row per object): cluster it many times and combine:
    consilience run flowers.csv --id name --k 3 -o flowers-consensus

  You have clusterings (one row per object, one column per clustering):
    consilience combine labels.csv --method scec --k 3 -o consensus.csv

  How well do they agree with what is known?
    consilience score consensus.csv --truth species.csv

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad input data or a full disk, 4 refused for
memory, 130 interrupted (no partial output is left)."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Common {
    /// Seed of all random choices: same input, options and seed give the same bytes
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = COMMON)]
    pub seed: u64,

    /// Threads to use [default: all cores]; results do not depend on it
    #[arg(long, global = true, value_name = "N", help_heading = COMMON, value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Memory ceiling such as 8GiB [default: 80 % of what the machine or its cgroup has]
    ///
    /// What would need more is refused before it allocates (exit code 4), saying what it would need
    /// and which methods would fit. GB counts by 1000; GiB and a bare g by 1024.
    #[arg(long, global = true, value_name = "SIZE", help_heading = COMMON, value_parser = parse_size)]
    pub memory: Option<u64>,

    /// Print one line of JSON on stdout instead of text, also of errors
    #[arg(long, global = true, help_heading = COMMON)]
    pub json: bool,

    /// When to show progress on stderr
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = COMMON)]
    pub progress: When,

    /// When to use colours; NO_COLOR is obeyed too
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = COMMON)]
    pub color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Run(RunArgs),
    Generate(GenerateArgs),
    Combine(CombineArgs),
    Resolve(ResolveArgs),
    Assign(AssignArgs),
    Score(ScoreArgs),
    Align(AlignArgs),
    Check(CheckArgs),
    Report(ReportArgs),
    Figure(FigureArgs),
    Explain(ExplainArgs),
    Replay(ReplayArgs),
    Methods(MethodsArgs),
    Reproduce(ReproduceArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// List the consensus methods, or show one with its parameters
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Which are there, and which choose the number of clusters?
    consilience methods

  The parameters of one, to be given as --set KEY=VALUE:
    consilience methods scec

  For programs:
    consilience methods --json")]
pub(crate) struct MethodsArgs {
    /// The method to show
    pub name: Option<String>,
}

/// Print completions for a shell
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  consilience completions bash > ~/.local/share/bash-completion/completions/consilience
  consilience completions zsh > ~/.zfunc/_consilience
  consilience completions fish > ~/.config/fish/completions/consilience.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Write the manual pages
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  Where `man consilience` and `man consilience-run` find them:
    consilience man ~/.local/share/man/man1

  Only to look at:
    consilience man | man -l -")]
pub(crate) struct ManArgs {
    /// The folder for all pages [default: the page of the program on stdout]
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub dir: Option<std::path::PathBuf>,

    /// Replace pages that are there already
    #[arg(long)]
    pub force: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
