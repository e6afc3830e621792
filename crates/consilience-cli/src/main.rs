//! The command line of consilience: tables in, a consensus out.
//!
//! `main` maps errors to exit codes and nothing more. Raw arguments become checked ones in
//! [`args`], each command is one file in [`commands`]; files are read and written in `consilience-io`,
//! and everything that computes lives in the library.

mod args;
mod commands;
mod errors;
mod memory;
mod output;
mod progress;
mod reproduce;
mod session;
mod signals;
mod xxh64;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    consilience_io::hide_reader_panics();
    consilience_io::spell_by(args::spelled);
    match commands::run(args::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => errors::report(&error),
    }
}
