//! Files that stand beside the tables: a start, known classes, weights of the objects.

use std::path::Path;

use consilience::Run;
use consilience::ensemble::{HardMember, Member};

use super::clusterings::Part;
use super::columns::{self, Named, no_column};
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

/// The objects that a file beside the tables is about.
pub(super) struct Known<'a> {
    pub(super) ids: Option<&'a Ids>,
    pub(super) n: usize,
    pub(super) witnesses: &'a [Witness],
}

/// Reads known classes from a file: from this column, or from the only one. Also says by what rows and objects
/// were paired, where that is not as plain as a column of the name that was given.
pub(super) fn read_truth(
    path: &Path,
    column: Option<&str>,
    known: &Known<'_>,
    options: &ReadOptions,
    run: &Run,
) -> Result<(HardMember, Option<String>)> {
    let id = options.id.as_ref();
    let options = ReadOptions { id: None, truth: column.map(str::to_owned), ..beside(options) };
    let plan = One {
        id,
        known_ids: known.ids.is_some(),
        witnesses: known.witnesses,
        ..One::new(&options)
    };
    let mut table = read_table(path, &options, &plan, run)?;
    let mut named = plan.named(&table.names);
    for witness in known.witnesses {
        let place = table.names.iter().position(|name| *name == witness.name);
        if let Some(Column::Text(values)) = place.map(|place| &table.columns[place]) {
            witness.compare(&table.file, values)?;
        }
    }
    let mut objects = named.id.map(|column| table.take_objects(column)).transpose()?;
    let mut by = None;
    if objects.is_none() && (known.ids.is_some() || !known.witnesses.is_empty()) {
        let texts = Texts::read(path, &table, named.truth, &options, run)?;
        texts.refuse_other_order(known.witnesses)?;
        if let Some(ids) = known.ids
            && let Some((column, found)) = texts.identifying(ids)?
        {
            named.drop.push(column);
            (by, objects) = (Some(column), Some(found));
        }
    }
    let warning = match (known.ids, &objects, id) {
        (Some(ids), Some(objects), _) => by.filter(|_| objects.ids != *ids).map(|column| {
            format!(
                "{}: rows and objects are paired by its column `{}`, which holds their identifiers",
                table.file, table.names[column]
            )
        }),
        (Some(_), None, Some(id)) if !options.id_is_guessed => {
            return Err(no_column(Setting::Id, id, &table.file, &table.names));
        }
        (Some(_), None, _) => Some(format!(
            "{} has no column with the identifiers of the objects: its first row is taken for the first \
             object, and so on; {} pairs them by a column",
            table.file,
            Setting::Id
        )),
        (None, ..) => None,
    };
    let which = || format!("say which one by {}", Setting::TruthIn(&table.file));
    let column = match (named.truth, known.ids.filter(|_| objects.is_none())) {
        (Some(column), _) => column,
        (None, None) => only_column(&table, &named, "known classes", which())?,
        (None, Some(ids)) => {
            only_column(&table, &named, "known classes", which()).map_err(|error| match error {
                InputError::Unsupported { file, problem, hint } => InputError::Unsupported {
                    file,
                    problem: format!(
                        "no column has the identifiers of the objects, such as `{}`, and {problem}",
                        ids.get(0)
                    ),
                    hint: format!(
                        "check that both files use the same identifiers; if their rows go in step, {hint}"
                    ),
                },
                error => error,
            })?
        }
    };
    let truth = columns::labels(&mut table, column, &options)?;
    let rows = checked_rows(&table, objects.as_ref(), known.ids, known.n)?;
    Ok((rows.member(&truth)?, warning))
}

/// The columns of a file as text, to be compared with identifiers.
struct Texts {
    file: String,
    columns: Vec<(usize, String, Ids)>,
}

impl Texts {
    /// Reads all columns of a table but `truth`. Those that are no text, such as fractions in Parquet, are left out,
    /// and so is everything that cannot be read twice.
    fn read(
        path: &Path,
        table: &Table,
        truth: Option<usize>,
        options: &ReadOptions,
        run: &Run,
    ) -> Result<Self> {
        struct These<'a>(&'a [usize]);
        impl Plan for These<'_> {
            fn roles(&self, _file: &str, names: &[String]) -> Result<Vec<Role>> {
                let role = |j| if self.0.contains(&j) { Role::Text } else { Role::Skip };
                Ok((0..names.len()).map(role).collect())
            }
        }
        let others: Vec<usize> = (0..table.names.len()).filter(|j| Some(*j) != truth).collect();
        let mut columns = Vec::new();
        let mut take = |of: &[usize]| {
            let Ok(mut table) = read_table(path, options, &These(of), run) else { return false };
            for &j in of {
                if let Column::Text(ids) = std::mem::replace(&mut table.columns[j], Column::Skipped)
                {
                    columns.push((j, table.names[j].clone(), ids));
                }
            }
            true
        };
        // A file of one column has nothing but the classes.
        if table.names.len() > 1 && path.is_file() && !take(&others) {
            others.iter().for_each(|&j| {
                take(&[j]);
            });
        }
        run.check()?;
        Ok(Texts { file: table.file.clone(), columns })
    }

    /// The column that holds these identifiers, and perhaps more, or only some of them.
    fn identifying(self, ids: &Ids) -> Result<Option<(usize, Objects)>> {
        if !has_words(ids) {
            return Ok(None);
        }
        let mut found: Vec<(usize, String, Objects)> = Vec::new();
        for (column, name, values) in self.columns {
            let rows = values.len();
            // Identifiers differ.
            let Ok(objects) = Objects::new(values) else { continue };
            let common = ids.iter().filter(|id| objects.find(id).is_some()).count();
            if common > 0 && (common == ids.len() || common == rows) {
                found.push((column, name, objects));
            }
        }
        if let [(_, first, _), (_, second, _), ..] = found.as_slice() {
            return Err(InputError::Unsupported {
                file: self.file,
                problem: format!(
                    "both `{first}` and `{second}` hold the identifiers of the objects"
                ),
                hint: format!("say by {} which one pairs them", Setting::Id),
            });
        }
        Ok(found.pop().map(|(column, _, objects)| (column, objects)))
    }

    /// Refuses a file that has the values of a column that tells all rows apart, but in another order.
    fn refuse_other_order(&self, witnesses: &[Witness]) -> Result<()> {
        for witness in witnesses.iter().filter(|witness| has_words(&witness.values)) {
            let same = |(_, name, values): &&(usize, String, Ids)| {
                let Ok(objects) = Objects::new(values.clone()) else { return false };
                *name != witness.name
                    && *values != witness.values
                    && values.len() == witness.values.len()
                    && witness.values.iter().all(|id| objects.find(id).is_some())
            };
            if let Some((_, name, _)) = self.columns.iter().find(same) {
                return Err(witness.in_other_order(&self.file, name));
            }
        }
        Ok(())
    }
}

/// Whether these are not all numbers, which may stand in another column by chance.
fn has_words(ids: &Ids) -> bool {
    ids.iter().any(|id| id.parse::<f64>().is_err())
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
    /// The name of the column of identifiers, which may be called otherwise here, and whether they are known.
    id: Option<&'a String>,
    known_ids: bool,
    witnesses: &'a [Witness],
}

impl<'a> One<'a> {
    fn new(options: &'a ReadOptions) -> Self {
        One { options, id: None, known_ids: false, witnesses: &[] }
    }

    fn named(&self, names: &[String]) -> Named {
        let mut named = Named::in_clusterings(self.options, names);
        if self.known_ids && named.id.is_none() {
            // Without a name, those that this program wrote.
            let id = self.id.map_or("id", String::as_str);
            named.id = names.iter().position(|name| name == id);
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
