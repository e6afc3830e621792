//! The command line of consilience: tables in, a consensus out.
//!
//! `main` maps errors to exit codes and nothing more. Raw arguments become checked ones in
//! [`args`], each command is one file in [`commands`]; files are read and written in `consilience-io`,
//! and everything that computes lives in the library.

mod allocator;
mod args;
mod commands;
mod errors;
mod memory;
mod output;
mod progress;
mod reproduce;
mod session;
mod signals;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: allocator::OrLeave = allocator::OrLeave;

fn main() -> ExitCode {
    consilience_io::hide_reader_panics();
    consilience_io::spell_by(args::spelled);
    // Also where the command cannot be understood, which then says so as JSON.
    let json = std::env::args_os().take_while(|word| word != "--").any(|word| word == "--json");
    let done = match args::Cli::try_parse() {
        Ok(cli) => commands::run(cli),
        Err(error) if json && error.use_stderr() => Err(errors::misunderstood(&error)),
        Err(error) => error.exit(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => errors::report(&error, json),
    }
}
