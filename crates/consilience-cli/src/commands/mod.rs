//! The commands, one file each.

mod add;
mod align;
mod asked;
mod assign;
mod board;
mod check;
mod combine;
mod completions;
mod demo;
mod drawing;
mod earlier;
mod examples;
mod explain;
mod figure;
mod files;
mod folder;
mod generate;
mod making;
mod man;
mod methods;
mod reading;
mod replay;
mod report;
mod reproduce;
mod resolve;
mod run;
mod saved;
mod score;
mod source;
mod store;
mod suspicions;
mod tables;
mod terminal;
mod whole;

use crate::args::{Cli, Color, Command};

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    set_color(cli.common.color);
    let common = &cli.common;
    match cli.command {
        Command::Demo(args) => demo::run(&args, common),
        Command::Run(args) => run::run(&args.with_preset(), common),
        Command::Generate(args) => generate::run(&args, common),
        Command::Combine(args) => combine::run(&args, common),
        Command::Resolve(args) => resolve::run(&args, common),
        Command::Score(args) => score::run(&args, common),
        Command::Align(args) => align::run(&args, common),
        Command::Figure(args) => figure::run(&args, common),
        Command::Reproduce(args) => reproduce::run(&args, common),
        Command::Assign(args) => assign::run(&args, common),
        Command::Check(args) => check::run(&args, common),
        Command::Explain(args) => explain::run(&args, common),
        Command::Replay(args) => replay::run(&args, common),
        Command::Report(args) => report::run(&args, common),
        Command::Methods(args) => methods::run(&args, common.json),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

fn set_color(color: Color) {
    let choice = match color {
        // Also obeys NO_COLOR and CLICOLOR_FORCE.
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}
