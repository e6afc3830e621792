//! Files that stand beside the tables: a start, known classes, weights of the objects.

use std::path::Path;

use consilience::Run;
use consilience::ensemble::{HardMember, Member};

use super::clusterings::Part;
use super::columns::{self, Named};
use super::error::{InputError, Result};
use super::join::{Objects, Rows, Witness, rows_of};
use super::members::label_role;
use super::table::{Column, Ids, Plan, Role, Table};
use super::{ReadOptions, read_table};
use crate::spelling::Setting;

/// Reads a single clustering of objects that are already known: by their identifiers, or by their
/// number if they have none.
///
/// The file may hold other columns if one is called `cluster`, as what this program writes does.
pub fn read_labels(
    path: &Path,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    run: &Run,
) -> Result<Member> {
    let options = beside(options);
    let mut part = Part::read(path, &options, &One::new(&options), run)?;
    if part.members.len() != 1 {
        return Err(InputError::Unsupported {
            file: part.table.file,
            problem: format!("one clustering is expected, but it holds {}", part.members.len()),
            hint: "keep one of them, or call its column `cluster`".to_owned(),
        });
    }
    if let (Some(objects), None) = (&part.objects, ids)
        && part.table.rows == n
        && !objects.ids.are_row_numbers()
    {
        return Err(InputError::Unsupported {
            file: part.table.file,
            problem: "it has identifiers, but the objects of the table have none".to_owned(),
            hint: format!("name the table's column of them by {}", Setting::Id),
        });
    }
    let rows = checked_rows(&part.table, part.objects.as_ref(), ids, n)?;
    rows.aligned(part.members.remove(0), n)
}

/// Reads known classes from a file: from this column, or from the only one.
pub(super) fn read_truth(
    path: &Path,
    column: Option<&str>,
    ids: Option<&Ids>,
    n: usize,
    witnesses: &[Witness],
    options: &ReadOptions,
    run: &Run,
) -> Result<HardMember> {
    let options = ReadOptions { truth: column.map(str::to_owned), ..beside(options) };
    // Identifiers that this program wrote, and so knows without being told.
    let own_ids = options.id.is_none() && ids.is_some();
    let plan = One { own_ids, witnesses, ..One::new(&options) };
    let mut table = read_table(path, &options, &plan, run)?;
    let named = plan.named(&table.names);
    for witness in witnesses {
        let place = table.names.iter().position(|name| *name == witness.name);
        if let Some(Column::Text(values)) = place.map(|place| &table.columns[place]) {
            witness.compare(&table.file, values)?;
        }
    }
    let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
    let which = || format!("say which one by {}", Setting::TruthIn(&table.file));
    let column = match named.truth {
        Some(column) => column,
        None => only_column(&table, &named, "known classes", which())?,
    };
    let truth = columns::labels(&mut table, column, &options)?;
    checked_rows(&table, objects.as_ref(), ids, n)?.member(&truth)
}

pub(super) fn read_weights(
    path: &Path,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    run: &Run,
) -> Result<Vec<f64>> {
    struct Weights<'a>(&'a ReadOptions);
    impl Plan for Weights<'_> {
        fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
            Ok(Named::demand(self.0, file, names)?.roles(names.len(), |_| Role::Numbers))
        }
    }
    let options = beside(options);
    let mut table = read_table(path, &options, &Weights(&options), run)?;
    let named = Named::find(&options, &table.names);
    let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
    let column = only_column(&table, &named, "weights", "keep one of them".to_owned())?;
    let values = columns::weights(&table, column)?;
    let rows = checked_rows(&table, objects.as_ref(), ids, n)?;
    let weights: Vec<f64> =
        (0..n).map(|i| rows.of(i).map_or(f64::NAN, |row| values[row])).collect();
    check_weights(&table.names[column], &weights, ids)?;
    Ok(weights)
}

/// Options for a file that stands beside the tables: its columns have other meanings.
fn beside(options: &ReadOptions) -> ReadOptions {
    ReadOptions { truth: None, weights: None, drop: Vec::new(), ..options.clone() }
}

/// A file of one clustering: the only column, or the one called `cluster`.
struct One<'a> {
    options: &'a ReadOptions,
    /// Whether a column `id` has the identifiers, though no option says so.
    own_ids: bool,
    witnesses: &'a [Witness],
}

impl<'a> One<'a> {
    fn new(options: &'a ReadOptions) -> Self {
        One { options, own_ids: false, witnesses: &[] }
    }

    fn named(&self, names: &[String]) -> Named {
        let mut named = Named::in_clusterings(self.options, names);
        if self.own_ids && named.id.is_none() {
            named.id = names.iter().position(|name| name == "id");
        }
        named
    }
}

impl Plan for One<'_> {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        Named::demand(self.options, file, names)?;
        let named = self.named(names);
        let cluster = names.iter().position(|name| name == "cluster");
        Ok(named.roles(names.len(), |j| match cluster {
            _ if self.witnesses.iter().any(|witness| witness.name == names[j]) => Role::Text,
            _ if named.truth.is_some() => Role::Skip,
            Some(cluster) if cluster != j => Role::Skip,
            _ => label_role(names, j),
        }))
    }
}

/// The one column of data of a file beside the tables.
fn only_column(table: &Table, named: &Named, what: &str, hint: String) -> Result<usize> {
    let is_data = |&j: &usize| {
        named.is_data(j) && matches!(table.columns[j], Column::Labels(_) | Column::Number(_))
    };
    let data: Vec<usize> = (0..table.names.len()).filter(is_data).collect();
    match *data {
        [column] => Ok(column),
        _ => Err(InputError::Unsupported {
            file: table.file.clone(),
            problem: format!("one column of {what} is expected, but it has {}", data.len()),
            hint,
        }),
    }
}

/// The same for a file that must cover objects already known.
fn checked_rows(
    table: &Table,
    objects: Option<&Objects>,
    ids: Option<&Ids>,
    n: usize,
) -> Result<Rows> {
    let rows = rows_of(objects, ids);
    match &rows {
        Rows::Same if table.rows != n => Err(InputError::RowCounts {
            first: "the table".to_owned(),
            first_rows: n,
            second: table.file.clone(),
            second_rows: table.rows,
        }),
        Rows::Found(found) if found.iter().all(Option::is_none) => Err(InputError::Unmatched {
            file: table.file.clone(),
            problem: "there is no row".to_owned(),
            count: n,
            first: ids.map_or("", |ids| ids.get(0)).to_owned(),
            hint: "check that both files use the same identifiers".to_owned(),
        }),
        _ => Ok(rows),
    }
}

/// After a join every object must have found a weight.
pub(super) fn check_weights(name: &str, weights: &[f64], ids: Option<&Ids>) -> Result<()> {
    let Some(first) = weights.iter().position(|w| w.is_nan()) else { return Ok(()) };
    Err(InputError::Unmatched {
        file: format!("weights `{name}`"),
        problem: "there is no weight".to_owned(),
        count: weights.iter().filter(|w| w.is_nan()).count(),
        first: ids.map_or_else(|| first.to_string(), |ids| ids.get(first).to_owned()),
        hint: "give every object a weight".to_owned(),
    })
}
