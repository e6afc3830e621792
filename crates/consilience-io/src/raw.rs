//! A table as it stands in a file, for looking at it before its columns mean anything.

use std::borrow::Cow;
use std::path::Path;

use consilience::Run;

use super::error::Result;
use super::parse::with_point;
use super::table::{Column, Plan, Role};
use super::{ReadOptions, read_table};

/// A table of which every cell is text.
#[derive(Clone, Debug, PartialEq)]
pub struct RawTable {
    /// The file, as messages show it.
    pub file: String,
    /// The columns.
    pub columns: Vec<RawColumn>,
    /// How many rows there are.
    pub rows: usize,
    /// Whether the names are the file's own, not ours.
    pub named: bool,
}

/// A column of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct RawColumn {
    /// Its name.
    pub name: String,
    /// The texts in it, each once, by first appearance.
    pub values: Vec<String>,
    /// For every row which of them stands there; `None` where nothing does.
    pub cells: Vec<Option<usize>>,
}

impl RawColumn {
    /// How many cells are missing.
    pub fn missing(&self) -> usize {
        self.cells.iter().filter(|cell| cell.is_none()).count()
    }

    /// The text in a row.
    pub fn cell(&self, row: usize) -> Option<&str> {
        self.cells[row].map(|value| self.values[value].as_str())
    }
}

/// Every column is text, or one of them alone is read.
struct AsText<'a> {
    only: Option<&'a str>,
}

impl Plan for AsText<'_> {
    fn roles(&self, _file: &str, names: &[String]) -> Result<Vec<Role>> {
        let wanted = |name: &String| self.only.is_none_or(|only| only == name);
        Ok(names.iter().map(|name| if wanted(name) { Role::Labels } else { Role::Skip }).collect())
    }
}

/// Reads a table of any kind as texts; decimals have a point, however they are written.
pub fn read_raw(path: &Path, options: &ReadOptions, run: &Run) -> Result<RawTable> {
    read(path, options, &AsText { only: None }, run)
}

/// Reads one column of a table as texts; `None` if there is no such column.
pub fn read_raw_column(
    path: &Path,
    name: &str,
    options: &ReadOptions,
    run: &Run,
) -> Result<Option<RawColumn>> {
    Ok(read(path, options, &AsText { only: Some(name) }, run)?.columns.pop())
}

fn read(path: &Path, options: &ReadOptions, plan: &AsText<'_>, run: &Run) -> Result<RawTable> {
    let mut table = read_table(path, options, plan, run)?;
    let mut columns = Vec::with_capacity(table.names.len());
    for j in 0..table.names.len() {
        if !matches!(table.columns[j], Column::Labels(_)) {
            continue;
        }
        let labels = table.take_labels(j);
        let mut values = labels.names.list.clone();
        if options.decimal_comma {
            values.iter_mut().for_each(|value| {
                let number = |point: &Cow<'_, str>| point.parse::<f64>().is_ok();
                if let Some(point) = with_point(value).filter(number) {
                    *value = point.into_owned();
                }
            });
        }
        let member = labels.finish(table.names[j].clone())?;
        let cells = member.labels().iter().collect();
        columns.push(RawColumn { name: table.names[j].clone(), values, cells });
    }
    Ok(RawTable { file: table.file, columns, rows: table.rows, named: table.named })
}
