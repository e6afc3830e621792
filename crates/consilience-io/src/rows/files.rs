//! Which files hold the rows of one table.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::Schema;
use consilience::Run;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;

use super::stream::Stream;
use crate::clusterings::roles;
use crate::columnar::{count_rows, parquet_metadata};
use crate::columns::Named;
use crate::error::{InputError, Result, listed, shown};
use crate::join::Objects;
use crate::source::open_file;
use crate::spelling::Setting;
use crate::table::{Column, Role, check_names};
use crate::{Format, ReadOptions};

/// Parquet files that hold the rows of one table, in their order.
#[derive(Debug)]
pub struct RowFiles {
    pub(super) list: Vec<RowFile>,
    because: &'static str,
}

/// One of them.
#[derive(Debug)]
pub(super) struct RowFile {
    pub(super) path: PathBuf,
    /// The file, as messages show it.
    pub(super) file: String,
    pub(super) schema: Arc<Schema>,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) rows: usize,
}

/// The files that hold the rows of one table, if that is what these paths mean; a single Parquet file
/// of labels is one too.
///
/// A folder stands for the Parquet files in it, by name. Files are rows of one table if `declared`, if
/// they are called as writers of many files call them (`part-*`), or if they have the same columns and
/// cannot be anything else: without identifiers their numbers of rows differ, so they do not stand side
/// by side; with identifiers no object is in two of them, so there is nothing to join.
///
/// # Errors
///
/// If what must be rows of one table is not Parquet, or cannot be read.
pub fn row_files(
    paths: &[PathBuf],
    declared: bool,
    options: &ReadOptions,
    run: &Run,
) -> Result<Option<RowFiles>> {
    let folder = paths.iter().any(|path| path.is_dir());
    let because = if declared {
        "they are declared to be"
    } else if folder {
        "they are in a folder"
    } else if paths.len() > 1 && paths.iter().all(|path| is_part(path)) {
        "they are called part-*"
    } else {
        return Ok(undeclared(paths, options, run));
    };
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(files_in(path)?);
        } else if Format::of(path) == Some(Format::Parquet) {
            files.push(path.clone());
        } else {
            return Err(InputError::Unsupported {
                file: shown(path),
                problem: "rows of one table are read from many files only if all are Parquet"
                    .to_owned(),
                hint: "write it as .parquet, or put the rows into one file".to_owned(),
            });
        }
    }
    let list = files.iter().map(|path| RowFile::open(path)).collect::<Result<_>>()?;
    Ok(Some(RowFiles { list, because }))
}

/// The files if they can be nothing but rows of one table. What cannot be read is not decided here.
fn undeclared(paths: &[PathBuf], options: &ReadOptions, run: &Run) -> Option<RowFiles> {
    if paths.iter().any(|path| Format::of(path) != Some(Format::Parquet)) {
        return None;
    }
    let list: Vec<RowFile> =
        paths.iter().map(|path| RowFile::open(path)).collect::<Result<_>>().ok()?;
    let (first, others) = list.split_first()?;
    let names = first.names();
    let roles = roles(&first.file, &names, options).ok()?;
    let named = Named::in_clusterings(options, &names);
    let soft = (0..names.len()).any(|j| named.is_data(j) && roles[j] == Role::Numbers);
    if soft || others.iter().any(|file| file.check_columns(first).is_err()) {
        return None;
    }
    let because = match named.id {
        _ if others.is_empty() => "it is one file",
        None if others.iter().all(|file| file.rows == first.rows) => {
            run.warn(&format!(
                "the files have the same columns and equally many rows: they are put side by side; if \
                 they hold rows of one table, give {}",
                Setting::Rows
            ));
            return None;
        }
        None => "they have the same columns and different numbers of rows",
        Some(_) => "they have the same columns and no identifier in common",
    };
    let files = RowFiles { list, because };
    let disjoint = match named.id {
        Some(id) if files.list.len() > 1 => files.ids_differ(&names[id], options, run),
        _ => true,
    };
    disjoint.then_some(files)
}

/// Whether a file is called as those are that hold a part of a table.
fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["part-", "part.", "part_"].iter().any(|start| name.starts_with(start))
        && Format::of(path) == Some(Format::Parquet)
}

/// The Parquet files of a folder by name. Names with a dot or an underscore in front are not data.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let io = |error: std::io::Error| InputError::io(&shown(folder), &error);
    let (mut files, mut folders) = (Vec::new(), 0);
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            folders += 1;
        } else if Format::of(&path) == Some(Format::Parquet) {
            files.push(path);
        }
    }
    files.sort();
    let unsupported = |problem: &str, hint: &str| InputError::Unsupported {
        file: shown(folder),
        problem: problem.to_owned(),
        hint: hint.to_owned(),
    };
    if folders > 0 && !files.is_empty() {
        // Half of a table would be worse than none.
        return Err(unsupported(
            "beside .parquet files there are folders in it, which are not looked into",
            "name the files themselves, or the folders one by one",
        ));
    }
    if files.is_empty() {
        return Err(unsupported(
            "there are no .parquet files in this folder",
            "name the folder that holds the files themselves",
        ));
    }
    Ok(files)
}

impl RowFiles {
    /// The files.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.list.iter().map(|file| file.path.clone()).collect()
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none, which never is.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Why they are taken for rows of one table, as a clause that follows "because".
    pub fn because(&self) -> &'static str {
        self.because
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.list.iter().map(|file| file.rows).sum()
    }

    /// The files, as messages show them.
    pub(super) fn shown(&self) -> String {
        let first = &self.list[0].file;
        match self.list.len() {
            1 => first.clone(),
            2 => format!("{first} and {}", self.list[1].file),
            n => format!("{first} and {} more files", n - 1),
        }
    }

    /// What a clustering without a name is called.
    pub(super) fn stem(&self) -> String {
        let name = self.list[0].path.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    }

    /// The file that a row of the whole table stands in, and its row there.
    pub(super) fn place(&self, row: usize) -> (&str, usize) {
        let mut row = row;
        for file in &self.list {
            if row < file.rows {
                return (&file.file, row);
            }
            row -= file.rows;
        }
        (&self.list[0].file, row)
    }

    /// Whether all identifiers can be read and differ from file to file.
    fn ids_differ(&self, column: &str, options: &ReadOptions, run: &Run) -> bool {
        let mut stream = Stream::new(self, column, Role::Text, options);
        if stream.fill(usize::MAX, run).is_err() {
            return false;
        }
        let Column::Text(ids) = stream.column else { return false };
        Objects::new(ids).is_ok()
    }
}

impl RowFile {
    fn open(path: &Path) -> Result<Self> {
        let file = shown(path);
        let source = open_file(path)?;
        let metadata = parquet_metadata(&file, &source)?;
        let schema = Arc::clone(metadata.schema());
        let rows = count_rows(&metadata);
        let opened = RowFile { path: path.to_owned(), file, schema, metadata, rows };
        let names = opened.names();
        if names.is_empty() {
            return Err(InputError::Empty { file: opened.file });
        }
        check_names(&opened.file, &names)?;
        Ok(opened)
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The place of a column.
    pub(super) fn place_of(&self, name: &str) -> Option<usize> {
        self.schema.fields().iter().position(|field| field.name() == name)
    }

    /// Refuses other columns than those of the first file; their order does not matter.
    pub(super) fn check_columns(&self, first: &RowFile) -> Result<()> {
        let lacks = |a: &RowFile, b: &RowFile| -> Vec<String> {
            b.names().into_iter().filter(|name| a.place_of(name).is_none()).collect()
        };
        let (missing, more) = (lacks(self, first), lacks(first, self));
        let problem = match (missing.is_empty(), more.is_empty()) {
            (true, true) => return Ok(()),
            (false, _) => format!("it has no column {}, but {} has", listed(&missing), first.file),
            (true, false) => {
                format!("it has a column {}, but {} has not", listed(&more), first.file)
            }
        };
        Err(InputError::Unsupported {
            file: self.file.clone(),
            problem,
            hint: "rows of one table have the same columns in every file".to_owned(),
        })
    }
}
