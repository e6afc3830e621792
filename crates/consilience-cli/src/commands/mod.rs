//! The commands, one file each.

mod add;
mod align;
pub(crate) mod assign;
mod board;
pub(crate) mod check;
mod combine;
mod completions;
mod consensus;
mod demo;
mod ensemble;
pub(crate) mod explain;
mod folder;
mod generate;
mod members;
mod methods;
mod parts;
mod pipeline;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduce;
mod run;
mod score;
mod source;
mod suspicions;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use consilience::{CancelFlag, Run};
use consilience_io::{
    FeatureTable, Guess, Ids, InputError, ReadOptions, read_features, read_labels,
};
use serde_json::{Map, Value, json};

use crate::args::{Cli, Color, Command, Common, DataReading};
use crate::errors::usage;
use crate::memory::default_ceiling;
use crate::progress::Progress;
use crate::signals;
use consilience_io::cleanup::Duty;

/// Runs the command that was asked for.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    set_color(cli.common.color);
    let common = &cli.common;
    match cli.command {
        Command::Demo(args) => demo::run(&args, common),
        Command::Run(args) => run::run(&args.with_preset(), common),
        Command::Generate(args) => generate::run(&args, common),
        Command::Combine(args) => combine::run(&args, common),
        Command::Score(args) => score::run(&args, common),
        Command::Reproduce(args) => reproduce::run(&args, common),
        Command::Assign(args) => assign::run(&args, common),
        Command::Check(args) => check::run(&args, common),
        Command::Explain(args) => explain::run(&args, common),
        Command::Replay(args) => replay::run(&args, common),
        Command::Report(args) => report::run(&args, common),
        Command::Methods(args) => methods::run(&args, common.json),
        Command::Completions(args) => completions::run(&args),
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

/// What the commands that compute have in common: the library's [`Run`] and who watches it.
struct Session {
    run: Run,
    progress: Arc<Progress>,
    json: bool,
    /// Takes the progress bar off the screen if the program ends at once.
    _duty: Duty,
}

impl Session {
    /// Sets up threads, memory ceiling, progress and Ctrl-C.
    fn new(common: &Common) -> Self {
        let cancel = CancelFlag::default();
        signals::listen(cancel.clone());
        let progress = Arc::new(Progress::new(common.progress));
        let run = Run::new(common.seed)
            .threads(common.threads.unwrap_or(0))
            .memory(common.memory.unwrap_or_else(default_ceiling))
            .observer(progress.clone())
            .cancel_flag(cancel);
        let shown = progress.clone();
        let duty = Duty::new(move || shown.clear());
        Session { run, progress, json: common.json, _duty: duty }
    }

    /// What is printed as JSON: the schema first, then `told`, then the warnings.
    fn finished(&self, told: Map<String, Value>) -> Value {
        let mut all = Map::new();
        all.insert("schema".to_owned(), json!(1));
        all.extend(told);
        all.insert("seed".to_owned(), json!(self.run.seed()));
        all.insert("warnings".to_owned(), json!(self.progress.warnings()));
        Value::Object(all)
    }
}

/// Reads a table of features. One that holds clusterings is refused, one that may hold them gives
/// rise to a warning, unless the user says that these are features.
fn read_data(
    path: &Path,
    reading: &DataReading,
    weights: Option<&str>,
    session: &Session,
) -> anyhow::Result<FeatureTable> {
    let table = read_features(path, &reading.options(weights), &session.run)?;
    match table.looks_like_clusterings().filter(|_| !reading.as_features) {
        Some(Guess { evidence, sure: true }) => {
            let hint = "if these are features, give --as-features";
            return Err(InputError::MeantCombine { file: table.file, evidence, hint }.into());
        }
        Some(Guess { evidence, sure: false }) => session.run.warn(&format!(
            "{}: {evidence}; if these are clusterings, `consilience combine` was meant, if they are \
             features, --as-features says so",
            table.file
        )),
        None => {}
    }
    table.warnings.iter().for_each(|warning| session.run.warn(warning));
    Ok(table)
}

/// The clustering that `--init` names, one label an object.
fn read_start(
    path: Option<&Path>,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    session: &Session,
) -> anyhow::Result<Option<Vec<Option<u32>>>> {
    let Some(path) = path else { return Ok(None) };
    let member = read_labels(path, ids, n, options, &session.run)?;
    let codes = member.hardened().labels().iter().map(|code| code.map(|c| c as u32)).collect();
    Ok(Some(codes))
}

/// Refuses to write over what is read.
fn check_output(option: &str, path: &Path, inputs: &[PathBuf]) -> anyhow::Result<()> {
    let same = |input: &PathBuf| matches!((fs::canonicalize(input), fs::canonicalize(path)), (Ok(a), Ok(b)) if a == b);
    if path != Path::new("-") && inputs.iter().any(same) {
        return Err(usage(format!(
            "{option} {} would replace an input: give another name",
            path.display()
        )));
    }
    Ok(())
}
