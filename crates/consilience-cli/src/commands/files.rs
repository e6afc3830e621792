//! What a record says of the files that were read.

use std::path::{Path, PathBuf};
use std::{fs, io};

use consilience::pipeline::{FileRecord, GivenOptions};
use consilience_io::{Fingerprint, InputError};
use serde_json::Value;

use crate::errors::usage;

/// A file that was read: its name, and what tells whether it is still the same. Of a pipe nothing
/// is left to be told.
pub(super) fn described(path: &Path) -> anyhow::Result<FileRecord> {
    let gone = |error: io::Error| InputError::io(&path.display().to_string(), &error);
    if path == Path::new("-") || !fs::metadata(path).map_err(gone)?.is_file() {
        return Ok(FileRecord { file: file_name(path), ..FileRecord::default() });
    }
    Ok(recorded_as(path, Fingerprint::of(path).map_err(gone)?))
}

/// A file of which this is known.
pub(super) fn recorded_as(path: &Path, Fingerprint { bytes, xxh64 }: Fingerprint) -> FileRecord {
    let (bytes, xxh64) = (Some(bytes), Some(format!("{xxh64:016x}")));
    FileRecord { file: file_name(path), bytes, xxh64, ..FileRecord::default() }
}

/// The same for a file that was read as something else than the data.
pub(super) fn described_as(path: &Path, role: &str) -> anyhow::Result<FileRecord> {
    Ok(FileRecord { role: Some(role.to_owned()), ..described(path)? })
}

/// The name of a file without its folder: results are to be the same wherever they are made.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The name of a file, or of a file in a folder that was named.
pub(super) fn recorded(path: &Path, with_folder: bool) -> String {
    let parts: Vec<_> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let from = parts.len().saturating_sub(if with_folder { 2 } else { 1 });
    parts[from..].join("/")
}

/// Refuses to write over what is read, and over another file unless `force`.
pub(super) fn check_output(
    option: &str,
    path: &Path,
    inputs: &[PathBuf],
    force: bool,
) -> anyhow::Result<()> {
    refuse_input(option, path, inputs)?;
    // Pipes and devices are there to be written to.
    if path.is_file() && !force {
        return Err(usage(format!(
            "{option} {} is there already: give another name, or --force to replace it",
            path.display()
        )));
    }
    Ok(())
}

/// Refuses to write over what is read.
pub(super) fn refuse_input(option: &str, path: &Path, inputs: &[PathBuf]) -> anyhow::Result<()> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let output = real(path);
    let replaced = output.is_some() && inputs.iter().any(|input| real(input) == output);
    if path != Path::new("-") && replaced {
        return Err(usage(format!(
            "{option} {} would replace an input: give another name",
            path.display()
        )));
    }
    Ok(())
}

/// Options as a record has them.
pub(super) fn given(options: Value) -> GivenOptions {
    match options {
        Value::Object(options) => GivenOptions(options),
        _ => unreachable!("options are an object"),
    }
}
