//! `consilience replay RESULT`: the same bits again from a saved result's record, or what differs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use consilience::pipeline::FileRecord;
use consilience_report::paper;
use serde_json::json;

use super::files::described;
use super::folder::{EARLIER, LABELS, MEMBERS, MOVED, folder_of, record_of};
use crate::args::{Common, ReplayArgs};
use crate::errors::{data, failed, usage};
use crate::output;

/// What is compared of every result.
const COMPARED: [&str; 2] = [LABELS, MEMBERS];

pub(super) fn run(args: &ReplayArgs, common: &Common) -> anyhow::Result<()> {
    let (record, folder) = (record_of(&args.result)?, folder_of(&args.result));
    let mut paths = Vec::new();
    for input in &record.inputs {
        paths.push((input.file.clone(), found(input, &folder, &args.data)?));
    }
    let mut differences = Vec::new();
    let ours = env!("CARGO_PKG_VERSION");
    if record.version != ours {
        differences
            .push(format!("the result was made by version {:?}, this is {ours}", record.version));
    }
    let scratch = tempfile::tempdir().context("a temporary folder cannot be made")?;
    let mut arguments = paper::arguments(&record);
    // Files are recorded by name alone: they are read from where they were found.
    for argument in arguments.iter_mut().skip(1) {
        if let Some(at) = paths.iter().position(|(name, _)| name == argument) {
            *argument = paths.remove(at).1.display().to_string();
        }
    }
    let program = std::env::current_exe().context("the program cannot find itself")?;
    let mut command = Command::new(program);
    let output = if record.command.text("name") == Some("combine") { "--save" } else { "-o" };
    command.args(&arguments).arg(output).arg(scratch.path()).arg("--json");
    if let Some(threads) = common.threads {
        command.arg("--threads").arg(threads.to_string());
    }
    let done = command.output().context("the program cannot start itself")?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(failed(format!(
            "the run cannot be repeated: {}",
            said.trim().trim_start_matches("error: ")
        )));
    }
    let mut compared = COMPARED.to_vec();
    compared.extend(record.consensus.aligned.is_some().then_some(MOVED));
    for &name in &compared {
        let (before, now) = (folder.join(name), scratch.path().join(name));
        let before =
            fs::read(&before).with_context(|| format!("{} cannot be read", before.display()))?;
        if fs::read(now)? != before {
            differences.push(format!("{name} differs"));
        }
    }
    let different = differences.iter().any(|difference| difference.ends_with("differs"));
    let command = paper::command_line(&record);
    if common.json {
        output::json(&json!({
            "schema": 1, "same": !different, "differences": differences, "command": command,
        }))?;
    } else if different {
        output::text(&format!("{}\ncommand: {command}", differences.join("\n")))?;
    } else {
        let same = format!("the same, byte by byte: {}", compared.join(", "));
        differences.insert(0, same);
        output::text(&differences.join("; "))?;
    }
    if different { Err(failed("the result could not be repeated".to_owned())) } else { Ok(()) }
}

/// Where an input of the record is now; its checksum must be the same.
fn found(input: &FileRecord, folder: &Path, given: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let name = input.file.as_str();
    if name == "-" {
        return Err(usage("the data came from standard input, of which nothing is kept"));
    }
    let mut places: Vec<PathBuf> = given.to_vec();
    places.push(PathBuf::from(name));
    places.push(folder.join(name));
    places.extend(folder.parent().map(|parent| parent.join(name)));
    if input.role.as_deref() == Some("align_to") {
        places.push(folder.join(EARLIER));
    }
    let mut other = None;
    for place in places.into_iter().filter(|place| place.is_file()) {
        if described(&place)?.xxh64 == input.xxh64 {
            return Ok(place);
        }
        other.get_or_insert(place);
    }
    Err(match other {
        Some(place) => data(format!(
            "{} is not what the result was made from: its checksum is another; give the right file by --data",
            place.display()
        )),
        None => usage(format!("`{name}` is not here: say where it is by --data FILE")),
    })
}
