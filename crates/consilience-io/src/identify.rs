//! Which column identifies the objects, if nobody says.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use consilience::Run;

use super::columns::is_consensus;
use super::error::Result;
use super::looks::names_rows;
use super::raw::{RawTable, read_raw};
use super::source::{Held, open_text};
use super::spelling::Setting;
use super::{Format, ReadOptions};

/// So much of a text is looked at.
const HEAD: usize = 1 << 20;

/// Takes the column that names the rows for the identifiers, and says so, if none is named and all
/// tables have one, called the same. Where they do not, nothing is guessed.
///
/// Of a long text the first MiB is looked at: identifiers that repeat below it are refused when they are
/// read. Standard input and tables that are no text are not looked at.
pub fn identify(paths: &[PathBuf], options: &mut ReadOptions, run: &Run) -> Result<()> {
    if options.id.is_some() || options.no_header {
        return Ok(());
    }
    let mut found: Option<String> = None;
    for path in paths {
        run.check()?;
        let Some(column) = in_table(path, options, run) else { return Ok(()) };
        if found.as_ref().is_some_and(|found| *found != column) {
            return Ok(());
        }
        found = Some(column);
    }
    if let (Some(column), Some(first)) = (&found, paths.first()) {
        run.warn(&format!(
            "{}: column `{column}` has a value of its own in every row and is taken for the identifiers \
             of the objects; {} leaves it out, {} names another",
            super::error::shown(first),
            Setting::DropThis(column),
            Setting::Id
        ));
    }
    options.id_is_guessed = found.is_some();
    options.id = found;
    Ok(())
}

/// The column of a file that names its rows. What is wrong with a file is said when it is read.
fn in_table(path: &Path, options: &ReadOptions, run: &Run) -> Option<String> {
    let (Format::Csv { .. } | Format::Tsv { .. }) = Format::of(path)? else { return None };
    if options.held.is_none() && !path.is_file() {
        return None;
    }
    let head = head(path, options);
    let table = match &head {
        Some(head) => {
            let options = ReadOptions { held: Some(head.clone()), ..options.clone() };
            read_raw(&head.name, &options, run)
        }
        None => read_raw(path, options, run),
    };
    naming_column(&table.ok()?, options)
}

/// The first column that names the rows, of those that nothing else is said of.
pub fn naming_column(table: &RawTable, options: &ReadOptions) -> Option<String> {
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    // What this program wrote is known by its columns.
    if is_consensus(&names) {
        return None;
    }
    let told = [options.truth.as_deref(), options.weights.as_deref()];
    let unused: Vec<&str> = options.dropped(&names).chain(told.into_iter().flatten()).collect();
    let mut used = table.columns.iter().filter(|column| !unused.contains(&column.name.as_str()));
    used.find(|column| names_rows(column)).map(|column| column.name.clone())
}

/// The first lines of a long text, decompressed; `None` if the file is short, of another kind, or has no
/// such lines.
pub fn head(path: &Path, options: &ReadOptions) -> Option<Held> {
    let (Format::Csv { gzip } | Format::Tsv { gzip }) = Format::of(path)? else { return None };
    let mut text = Vec::new();
    let source = open_text(path, gzip, options).ok()?.text;
    // What is wrong with it is said when all of it is read.
    let read = source.take(HEAD as u64 + 1).read_to_end(&mut text);
    read.ok().filter(|&length| length > HEAD)?;
    let end = text.iter().rposition(|&byte| byte == b'\n')? + 1;
    text.truncate(end);
    let name = if gzip { path.with_extension("") } else { path.to_owned() };
    Some(Held { name, bytes: text.into() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn identified(files: &[&str], options: ReadOptions) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = |(i, text): (usize, &&str)| {
            let path = folder.path().join(format!("{i}.csv"));
            fs::write(&path, text).unwrap();
            path
        };
        let paths: Vec<PathBuf> = files.iter().enumerate().map(path).collect();
        let mut options = options;
        identify(&paths, &mut options, &Run::new(0).threads(1)).unwrap();
        options.id
    }

    const LABELS: &str = "who,a,b\nx,0,1\ny,0,1\nz,1,0\nu,1,0\nv,1,1\n";

    #[test]
    fn texts_that_tell_all_rows_apart_name_them() {
        let none = ReadOptions::default;
        assert_eq!(identified(&[LABELS], none()).as_deref(), Some("who"));
        assert_eq!(identified(&[&LABELS.replace("y,", "x,")], none()), None);
        // Two or three rows differ by chance.
        assert_eq!(identified(&["who,a\nx,0\ny,1\nz,1\n"], none()), None);
        let drop = ReadOptions { drop: vec!["who".to_owned()], ..none() };
        assert_eq!(identified(&[LABELS], drop), None);
        let truth = ReadOptions { truth: Some("who".to_owned()), ..none() };
        assert_eq!(identified(&[LABELS], truth), None);
        let told = ReadOptions { id: Some("a".to_owned()), ..none() };
        assert_eq!(identified(&[LABELS], told).as_deref(), Some("a"));
    }

    #[test]
    fn numbers_name_rows_only_if_they_are_called_so() {
        let numbers = |name: &str| format!("{name},a\n11,0\n15,1\n12,1\n19,0\n");
        let found = |name: &str| identified(&[&numbers(name)], ReadOptions::default());
        assert_eq!(found("patient_id").as_deref(), Some("patient_id"));
        assert_eq!(found("ID").as_deref(), Some("ID"));
        assert_eq!(found("income"), None);
        // Measurements are no identifiers, whatever they are called.
        let measured = numbers("id").replace("12,", "12.5,");
        assert_eq!(identified(&[&measured], ReadOptions::default()), None);
    }

    #[test]
    fn all_files_must_agree() {
        let none = ReadOptions::default;
        assert_eq!(identified(&[LABELS, LABELS], none()).as_deref(), Some("who"));
        assert_eq!(identified(&[LABELS, &LABELS.replace("who", "name")], none()), None);
        assert_eq!(identified(&[LABELS, "a,b\n0,1\n0,0\n1,1\n1,0\n1,1\n"], none()), None);
    }
}
