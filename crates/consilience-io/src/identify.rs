//! Which column identifies the objects, if nobody says.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use consilience::Run;

use super::columns::is_consensus;
use super::error::{InputError, Result, shown};
use super::looks::names_rows;
use super::raw::{RawTable, read_raw};
use super::source::{Held, open_text};
use super::spelling::Setting;
use super::{Format, ReadOptions};

/// So much of a text is looked at.
const HEAD: usize = 1 << 20;

/// Takes the column that names the rows for the identifiers, and says so, if none is named and all
/// tables have one, called the same. Tables of which only some have one, or that call it differently, are
/// refused: whose rows belong together is not known.
///
/// Of a long text the first MiB is looked at: identifiers that repeat below it are refused when they are
/// read. Standard input and tables that are no text are not looked at, and then nothing is guessed.
pub fn identify(paths: &[PathBuf], options: &mut ReadOptions, run: &Run) -> Result<()> {
    if options.id.is_some() || options.no_header {
        return Ok(());
    }
    let mut named: Option<(&Path, String)> = None;
    let mut unnamed: Option<&Path> = None;
    for path in paths {
        run.check()?;
        match (rows_of(path, options, run), &named) {
            (Rows::NotSeen, _) => return Ok(()),
            (Rows::Unnamed, _) => unnamed = unnamed.or(Some(path)),
            (Rows::Named(column), None) => named = Some((path, column)),
            (Rows::Named(column), Some((first, before))) if column != *before => {
                return Err(apart(first, before, path, Some(column)));
            }
            (Rows::Ours | Rows::Named(_), _) => {}
        }
    }
    let Some((first, column)) = named else { return Ok(()) };
    if let Some(unnamed) = unnamed {
        return Err(apart(first, &column, unnamed, None));
    }
    run.warn(&format!(
        "{}: column `{column}` has a value of its own in every row and is taken for the identifiers \
         of the objects; {} leaves it out, {} names another",
        shown(first),
        Setting::DropThis(&column),
        Setting::Id
    ));
    options.id_is_guessed = true;
    options.id = Some(column);
    Ok(())
}

fn apart(file: &Path, column: &str, other: &Path, named: Option<String>) -> InputError {
    InputError::NamedApart {
        file: shown(file),
        column: column.to_owned(),
        other: shown(other),
        named,
    }
}

/// What tells the rows of a table apart.
enum Rows {
    /// This was not looked at.
    NotSeen,
    /// Nothing.
    Unnamed,
    /// This column.
    Named(String),
    /// The column of a consensus that this program wrote, which goes with identifiers of any name.
    Ours,
}

/// What tells the rows of a file apart. What is wrong with a file is said when it is read.
fn rows_of(path: &Path, options: &ReadOptions, run: &Run) -> Rows {
    let Some(Format::Csv { .. } | Format::Tsv { .. }) = Format::of(path) else {
        return Rows::NotSeen;
    };
    if options.held.is_none() && !path.is_file() {
        return Rows::NotSeen;
    }
    match looked_at(path, options, run) {
        Err(_) => Rows::NotSeen,
        Ok(table) if is_ours(&table) => Rows::Ours,
        Ok(table) => naming_column(&table, options).map_or(Rows::Unnamed, Rows::Named),
    }
}

/// The table in a file, or its head if it is a long text.
pub fn looked_at(path: &Path, options: &ReadOptions, run: &Run) -> Result<RawTable> {
    match head(path, options) {
        Some(head) => {
            let options = ReadOptions { held: Some(head.clone()), ..options.clone() };
            read_raw(&head.name, &options, run)
        }
        None => read_raw(path, options, run),
    }
}

/// Whether this program wrote a table: its identifiers are known by its columns.
fn is_ours(table: &RawTable) -> bool {
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    is_consensus(&names)
}

/// The first column that names the rows, of those that nothing else is said of.
pub fn naming_column(table: &RawTable, options: &ReadOptions) -> Option<String> {
    if is_ours(table) {
        return None;
    }
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
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

    fn tried(files: &[&str], options: ReadOptions) -> Result<Option<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = |(i, text): (usize, &&str)| {
            let path = folder.path().join(format!("{i}.csv"));
            fs::write(&path, text).unwrap();
            path
        };
        let paths: Vec<PathBuf> = files.iter().enumerate().map(path).collect();
        let mut options = options;
        identify(&paths, &mut options, &Run::new(0).threads(1)).map(|()| options.id).map_err(
            |error| error.to_string().replace(&format!("{}/", folder.path().display()), ""),
        )
    }

    fn identified(files: &[&str], options: ReadOptions) -> Option<String> {
        tried(files, options).unwrap()
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
        let refused = |other: &str| tried(&[LABELS, other], none()).unwrap_err();
        assert_eq!(
            refused(&LABELS.replace("who", "name")),
            "0.csv names its rows by `who`, 1.csv by `name`; give these columns one name, and the files are \
             joined on it, or leave both out with drop `who`, `name`: rows then belong together in \
             the order of the files"
        );
        let plain = "a,b\n0,1\n0,0\n1,1\n1,0\n1,1\n";
        assert_eq!(
            refused(plain),
            "0.csv names its rows by `who`, 1.csv has nothing that does; add such a column there, and the \
             files are joined on it, or leave it out with drop `who`: rows then belong together in \
             the order of the files"
        );
        assert_eq!(identified(&[plain, plain], none()), None);
        let drop = ReadOptions { drop: vec!["who".to_owned()], ..none() };
        assert_eq!(identified(&[LABELS, plain], drop), None);
    }

    #[test]
    fn a_consensus_goes_with_identifiers_of_any_name() {
        let consensus = "id,cluster,confidence\nx,0,1\ny,0,1\nz,1,1\nu,1,1\nv,1,1\n";
        let none = ReadOptions::default;
        assert_eq!(identified(&[consensus, LABELS], none()).as_deref(), Some("who"));
        assert_eq!(identified(&[consensus, consensus], none()), None);
    }
}
