//! `consilience man [DIR]`.

use std::fs;

use clap::CommandFactory as _;
use clap_mangen::Man;
use consilience_io::{OutputError, Target, write_text};

use super::files::check_output;
use crate::args::{Cli, ManArgs};
use crate::output;

pub(super) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let mut program = Cli::command();
    program.build();
    let Some(dir) = &args.dir else { return output::text(&page(program)?.1) };
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    let pages = std::iter::once(&program).chain(commands).cloned().map(page);
    let pages = pages.collect::<anyhow::Result<Vec<_>>>()?;
    for (name, _) in &pages {
        check_output("man:", &dir.join(name), &[], args.force)?;
    }
    fs::create_dir_all(dir).map_err(|error| OutputError::io(dir.display().to_string(), &error))?;
    for (name, text) in &pages {
        write_text(&Target::new(dir.join(name))?, text)?;
    }
    output::note(&format!("{} written to {}", output::counted(pages.len(), "page"), dir.display()));
    Ok(())
}

/// The name of the file of a command's page, and the page.
fn page(command: clap::Command) -> anyhow::Result<(String, String)> {
    let man = Man::new(command);
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok((man.get_filename(), String::from_utf8(text)?))
}
