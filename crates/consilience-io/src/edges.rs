//! The edges of a network: two columns that name objects, and perhaps one of weights.

use std::path::Path;

use consilience::words::{count, listed};
use consilience::{Edges, Run};

use super::error::{InputError, Place, Result};
use super::join::Objects;
use super::parse::with_point;
use super::spelling::Setting;
use super::table::{Ids, Places, Plan, Role, Table};
use super::{ReadOptions, read_table};

/// A network of the objects of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeTable {
    /// Its edges.
    pub edges: Edges,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Reads the edges of a network of `n` objects: the first two columns are their identifiers, or their row numbers from 0 if they
/// have none; the third, if it is the last or called `weight`, holds weights. The first line of a text that names two
/// objects is an edge, which is said; one that names none is a header.
pub fn read_edges(
    path: &Path,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    run: &Run,
) -> Result<EdgeTable> {
    // Nothing else that is said of tables of clusterings is said of this one.
    let options = ReadOptions {
        no_header: options.no_header,
        decimal_comma: options.decimal_comma,
        ..ReadOptions::default()
    };
    let plan = Columns { by_id: ids.is_some() };
    let mut table = read_table(path, &options, &plan, run).map_err(|error| match error {
        InputError::NotANumber { file, place, column, value, .. } => {
            let hint = match ids {
                Some(_) => "correct it, or leave the column out".to_owned(),
                None => format!(
                    "objects are named by their rows, from 0; if they have names, {} tells which column of the \
                     clusterings holds them",
                    Setting::Id
                ),
            };
            InputError::NotANumber { file, place, column, value, hint }
        }
        other => other,
    })?;
    let weights = weight_column(&table.names);
    let mut warnings = Vec::new();
    let others: Vec<&String> = table
        .names
        .iter()
        .enumerate()
        .filter(|(j, _)| *j > 1 && Some(*j) != weights)
        .map(|(_, n)| n)
        .collect();
    if !others.is_empty() {
        let names: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        warnings.push(format!(
            "{}: of its columns the first two are the ends of edges, and these are left out: {}",
            table.file,
            listed(&names, 5)
        ));
    }
    let first = first_line(&table, ids, n, options.decimal_comma)?;
    let mut pairs = match ids {
        Some(ids) => by_id(&mut table, ids)?,
        None => by_row(&table, n)?,
    };
    let mut weights = weights.map(|column| table.numbers_of(column));
    if let Some(row) =
        weights.as_ref().and_then(|w| w.iter().position(|w| !(w.is_finite() && *w >= 0.0)))
    {
        return Err(refused(&table, table.place(row), "its weight is no number >= 0"));
    }
    match first {
        Some((pair, weight)) => {
            pairs.insert(0, pair);
            if let Some(weights) = &mut weights {
                weights.insert(0, weight);
            }
            warnings.push(format!(
                "{}: the first line names two objects and was read as an edge",
                table.file
            ));
        }
        None => warnings.append(&mut table.warnings),
    }
    Ok(EdgeTable { edges: Edges::new(n, pairs, weights)?, warnings })
}

/// Two columns of ends and perhaps one of weights.
struct Columns {
    by_id: bool,
}

impl Plan for Columns {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        if names.len() < 2 {
            return Err(InputError::Unsupported {
                file: file.to_owned(),
                problem: "a network needs two columns, the ends of every edge".to_owned(),
                hint: "write one row per edge".to_owned(),
            });
        }
        let weights = weight_column(names);
        let role = |j: usize| match j {
            0 | 1 if self.by_id => Role::Labels,
            0 | 1 => Role::Numbers,
            j if Some(j) == weights => Role::Numbers,
            _ => Role::Skip,
        };
        Ok((0..names.len()).map(role).collect())
    }
}

/// The column of weights: one of that name, or the third if there is no fourth.
fn weight_column(names: &[String]) -> Option<usize> {
    let named = names.iter().skip(2).position(|name| name.eq_ignore_ascii_case("weight"));
    named.map(|at| at + 2).or((names.len() == 3).then_some(2))
}

/// The edge in what was taken for a header, if it is one.
fn first_line(
    table: &Table,
    ids: Option<&Ids>,
    n: usize,
    decimal_comma: bool,
) -> Result<Option<([u32; 2], f64)>> {
    // Files that are no text know their names.
    if !table.named || !matches!(table.places, Places::Lines(_)) {
        return Ok(None);
    }
    let end = |name: &String| match ids {
        Some(ids) => ids.iter().position(|id| id == name),
        None => name.trim().parse::<usize>().ok().filter(|&row| row < n),
    };
    let number = |text: &str| -> Option<f64> {
        let text = if decimal_comma { with_point(text)? } else { text.into() };
        text.parse().ok().filter(|w: &f64| w.is_finite() && *w >= 0.0)
    };
    let names = &table.names;
    let problem = match (end(&names[0]), end(&names[1])) {
        (None, None) => return Ok(None),
        (Some(a), Some(b)) => {
            let weight = weight_column(names).map(|j| number(names[j].trim()));
            if let Some(weight) = weight.unwrap_or(Some(1.0)) {
                return Ok(Some(([a as u32, b as u32], weight)));
            }
            "it names two objects, but its weight is no number >= 0".to_owned()
        }
        (known, _) => {
            let (own, other) = if known.is_some() { (0, 1) } else { (1, 0) };
            format!("`{}` is an object, but `{}` is none", names[own], names[other])
        }
    };
    Err(refused(table, Place::Line(1), &problem))
}

fn refused(table: &Table, place: Place, problem: &str) -> InputError {
    InputError::Unsupported {
        file: table.file.clone(),
        problem: format!("{place}: {problem}"),
        hint: "every row is an edge: two objects, and perhaps a weight".to_owned(),
    }
}

/// The ends by row numbers.
fn by_row(table: &Table, n: usize) -> Result<Vec<[u32; 2]>> {
    let width = table.width();
    let end = |row: usize, j: usize| {
        let x = table.numbers.get(row * width + j);
        (x >= 0.0 && x < n as f64 && x.fract() == 0.0).then_some(x as u32)
    };
    let pair = |row: usize| {
        let ends = end(row, 0).zip(end(row, 1));
        ends.map(|(a, b)| [a, b]).ok_or_else(|| {
            let problem = format!(
                "its ends must be row numbers from 0 to {}, since the objects have no identifiers",
                count(n.saturating_sub(1))
            );
            refused(table, table.place(row), &problem)
        })
    };
    (0..table.rows).map(pair).collect()
}

/// The ends by identifiers.
fn by_id(table: &mut Table, ids: &Ids) -> Result<Vec<[u32; 2]>> {
    let objects = Objects::new(ids.clone()).map_err(|(id, _)| InputError::Unsupported {
        file: table.file.clone(),
        problem: format!("two objects are called `{id}`"),
        hint: "identifiers must differ".to_owned(),
    })?;
    let mut ends: [Vec<Option<u32>>; 2] = Default::default();
    for (j, ends) in ends.iter_mut().enumerate() {
        let column = table.take_labels(j);
        let rows: Vec<Option<u32>> =
            column.names.list.iter().map(|id| objects.find(id).map(|row| row as u32)).collect();
        if let Some(stranger) = rows.iter().position(Option::is_none) {
            let row = column.labels.iter().position(|code| code == Some(stranger)).unwrap_or(0);
            let name = &column.names.list[stranger];
            let problem = format!("there is no object `{name}` in the table of clusterings");
            return Err(refused(table, table.place(row), &problem));
        }
        *ends = column.labels.iter().map(|code| code.and_then(|code| rows[code])).collect();
    }
    let [from, to] = ends;
    let pair = |(row, (a, b)): (usize, (&Option<u32>, &Option<u32>))| {
        let missing = || refused(table, table.place(row), "an end is missing");
        a.zip(*b).map(|(a, b)| [a, b]).ok_or_else(missing)
    };
    from.iter().zip(&to).enumerate().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cells, Target, write_table};

    fn read(text: &str, ids: Option<&[&str]>, n: usize) -> Result<EdgeTable> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.tsv");
        std::fs::write(&path, text).unwrap();
        let ids: Option<Ids> = ids.map(|ids| ids.iter().collect());
        read_edges(&path, ids.as_ref(), n, &ReadOptions::default(), &Run::new(0))
    }

    fn pairs(text: &str, ids: Option<&[&str]>, n: usize) -> Vec<[u32; 2]> {
        read(text, ids, n).unwrap().edges.pairs().to_vec()
    }

    #[test]
    fn rows_and_identifiers_with_and_without_header() {
        let expected = [[0, 1], [1, 2], [2, 0]];
        assert_eq!(pairs("0\t1\n1\t2\n2\t0\n", None, 3), expected);
        assert_eq!(pairs("source\ttarget\n0\t1\n1\t2\n2\t0\n", None, 3), expected);
        let ids: Option<&[&str]> = Some(&["x", "y", "z"]);
        assert_eq!(pairs("from\tto\nx\ty\ny\tz\nz\tx\n", ids, 3), expected);
        assert_eq!(pairs("x\ty\ny\tz\nz\tx\n", ids, 3), expected, "the first line is an edge");
    }

    #[test]
    fn the_third_column_is_a_weight() {
        let found = read("a\tb\tw\n0\t1\t0.5\n1\t2\t2\n", None, 3).unwrap();
        assert_eq!(found.edges.weights(), Some(&[0.5, 2.0][..]));
        let found = read("a\tb\tyear\tWeight\n0\t1\t1999\t3\n", None, 3).unwrap();
        assert_eq!(found.edges.weights(), Some(&[3.0][..]));
        assert!(found.warnings[0].contains("`year`"), "{:?}", found.warnings);
        assert_eq!(read("0\t1\t0.5\n1\t2\t2\n", None, 3).unwrap().edges.len(), 2);
    }

    #[test]
    fn only_the_first_line_of_a_text_may_be_an_edge() {
        let found = read("0\t2\n1\t2\n", None, 3).unwrap();
        assert_eq!(found.edges.pairs(), [[0, 2], [1, 2]]);
        // Names look like a header.
        let found = read("x\ty\ny\tx\n", Some(&["x", "y"]), 2).unwrap();
        assert_eq!(found.edges.pairs(), [[0, 1], [1, 0]]);
        assert!(
            found.warnings.iter().any(|w| w.contains("read as an edge")),
            "{:?}",
            found.warnings
        );
        assert!(read("a\tb\n1\t2\n", None, 3).unwrap().warnings.is_empty());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.csv");
        std::fs::write(&path, "x;y;0,5\ny;x;0,25\n").unwrap();
        let options = ReadOptions { decimal_comma: true, ..ReadOptions::default() };
        let ids: Ids = ["x", "y"].iter().collect();
        let found = read_edges(&path, Some(&ids), 2, &options, &Run::new(0)).unwrap();
        assert_eq!(found.edges.weights(), Some(&[0.5, 0.25][..]));

        let path = folder.path().join("g.parquet");
        let columns = [vec![0, 1], vec![1, 2]];
        let columns = [
            ("0".to_owned(), Cells::Integers((&columns[0]).into())),
            ("1".to_owned(), Cells::Integers((&columns[1]).into())),
        ];
        write_table(&Target::new(path.clone()).unwrap(), &columns, &Run::new(0)).unwrap();
        let found = read_edges(&path, None, 3, &ReadOptions::default(), &Run::new(0)).unwrap();
        assert_eq!(found.edges.pairs(), [[0, 1], [1, 2]]);
    }

    #[test]
    fn what_is_no_edge_is_named() {
        let told = |text, ids, n| read(text, ids, n).unwrap_err().to_string();
        assert!(told("0\t1\n1\t7\n", None, 3).contains("line 2"));
        assert!(told("0\t1\n1\t1.5\n", None, 3).contains("row numbers from 0 to 2"));
        assert!(told("a\tb\nx\ty\nx\tq\n", Some(&["x", "y"]), 2).contains("no object `q`"));
        assert!(told("a\tb\tw\n0\t1\t-2\n", None, 3).contains("weight"));
        assert!(told("x\tq\nx\ty\n", Some(&["x", "y"]), 2).contains("`q` is none"));
        assert!(told("0\t9\n0\t1\n", None, 3).contains("line 1"));
        assert!(told("0\tq\n0\t1\n", None, 3).contains("line 1: `0` is an object"));
        assert!(told("x\ty\tmuch\nx\ty\t1\n", Some(&["x", "y"]), 2).contains("its weight"));
        assert!(told("a\tb\nx\ty\n", None, 3).contains("objects are named by their rows"));
        assert!(told("a\n0\n", None, 3).contains("two columns"));
    }
}
