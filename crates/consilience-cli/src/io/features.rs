//! Tables of features: what is to be clustered.

use std::path::Path;

use consilience::Run;
use consilience::ensemble::HardMember;
use consilience::linalg::Matrix;

use super::columns::{Named, labels, weights};
use super::error::{InputError, Result, listed};
use super::table::{Column, Ids, Plan, Role, Table};
use super::{Impute, ReadOptions, guess, read_table};

/// A table of features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeatureTable {
    /// The file, as messages show it.
    pub(crate) file: String,
    /// The objects' identifiers, if a column of them was named.
    pub(crate) ids: Option<Ids>,
    /// The features' names.
    pub(crate) columns: Vec<String>,
    /// The features, one row an object, all finite.
    pub(crate) values: Matrix,
    /// The known classes, if a column of them was named.
    pub(crate) truth: Option<HardMember>,
    /// The objects' weights, if a column of them was named.
    pub(crate) weights: Option<Vec<f64>>,
    /// What the user should know.
    pub(crate) warnings: Vec<String>,
}

impl FeatureTable {
    /// Why this is most likely a table of clusterings, given to the wrong command; `None` if
    /// nothing suggests it.
    pub(crate) fn looks_like_clusterings(&self) -> Option<String> {
        guess::clusterings(&self.columns, &self.values)
    }
}

/// Reads a table of features.
pub(crate) fn read_features(path: &Path, options: &ReadOptions, run: &Run) -> Result<FeatureTable> {
    let mut table = match read_table(path, options, &Features(options), run) {
        Err(error @ InputError::NotANumber { .. }) if path != Path::new("-") => {
            return Err(mostly_text(path, options, run).unwrap_or(error));
        }
        result => result?,
    };
    let file = table.file.clone();
    let mut warnings = std::mem::take(&mut table.warnings);
    let named = Named::find(options, &table.names);
    let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
    let truth = named.truth.map(|column| labels(&mut table, column)).transpose()?;
    let weights = named.weights.map(|column| weights(&table, column)).transpose()?;

    let is_feature =
        |&j: &usize| matches!(table.columns[j], Column::Number(_)) && named.weights != Some(j);
    let features: Vec<usize> = (0..table.names.len()).filter(is_feature).collect();
    let columns: Vec<String> = features.iter().map(|&j| table.names[j].clone()).collect();
    let mut values = match named.weights {
        None => Matrix::from_vec(table.rows, features.len(), std::mem::take(&mut table.numbers)),
        Some(_) => table.matrix(&features),
    };
    check_values(&table, &columns, &mut values, options.impute, &mut warnings)?;
    let constant = |&j: &usize| values.iter_rows().all(|row| row[j] == values[(0, j)]);
    let constant: Vec<usize> = (0..columns.len()).filter(constant).collect();
    if !constant.is_empty() {
        let names: Vec<&str> = constant.iter().map(|&j| &*columns[j]).collect();
        warnings.push(format!(
            "{file}: {} of {} features have the same value in every row and tell nothing: {}",
            constant.len(),
            columns.len(),
            listed(&names)
        ));
    }
    let ids = objects.map(|objects| objects.ids);
    Ok(FeatureTable { file, ids, columns, values, truth, weights, warnings })
}

struct Features<'a>(&'a ReadOptions);

impl Plan for Features<'_> {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        let roles = Named::demand(self.0, file, names)?.roles(names.len(), |_| Role::Numbers);
        if !roles.contains(&Role::Numbers) {
            return Err(InputError::NoColumns { file: file.to_owned() });
        }
        Ok(roles)
    }
}

/// Refuses or fills in what is not a finite number.
fn check_values(
    table: &Table,
    columns: &[String],
    values: &mut Matrix,
    impute: Option<Impute>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let file = || table.file.clone();
    let at = |position: usize| (position / columns.len(), position % columns.len());
    let odd = |test: fn(&f64) -> bool| values.as_slice().iter().position(test).map(at);
    if let Some((i, j)) = odd(|v| v.is_infinite()) {
        return Err(InputError::NotFinite {
            file: file(),
            place: table.place(i),
            column: columns[j].clone(),
            value: values[(i, j)],
        });
    }
    let Some((i, j)) = odd(|v| v.is_nan()) else { return Ok(()) };
    let Some(impute) = impute else {
        return Err(InputError::MissingValue {
            file: file(),
            place: table.place(i),
            column: columns[j].clone(),
        });
    };
    let mut filled = 0;
    for (j, column) in columns.iter().enumerate() {
        let mut known: Vec<f64> =
            values.iter_rows().map(|row| row[j]).filter(|v| !v.is_nan()).collect();
        if known.len() == values.nrows() {
            continue;
        }
        if known.is_empty() {
            return Err(InputError::AllMissing { file: file(), column: column.clone() });
        }
        filled += values.nrows() - known.len();
        let fill = match impute {
            Impute::Mean => mean(&known),
            Impute::Median => median(&mut known),
        };
        for i in 0..values.nrows() {
            if values[(i, j)].is_nan() {
                values[(i, j)] = fill;
            }
        }
    }
    let how = match impute {
        Impute::Mean => "mean",
        Impute::Median => "median",
    };
    warnings.push(format!(
        "{}: {filled} missing values were replaced by the {how} of their column",
        table.file
    ));
    Ok(())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// The better message for a table in which not one cell but most columns are text from few values:
/// clusterings given to the wrong command.
fn mostly_text(path: &Path, options: &ReadOptions, run: &Run) -> Option<InputError> {
    struct AllLabels<'a>(&'a ReadOptions);
    impl Plan for AllLabels<'_> {
        fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
            Ok(Named::demand(self.0, file, names)?.roles(names.len(), |_| Role::Labels))
        }
    }
    let table = read_table(path, options, &AllLabels(options), run).ok()?;
    let named = Named::find(options, &table.names);
    let columns = table.columns.iter().enumerate().filter(|&(j, _)| named.truth != Some(j));
    let columns = columns.filter_map(|(j, column)| match column {
        Column::Labels(labels) => Some((j, &labels.names.list)),
        _ => None,
    });
    let columns: Vec<(usize, &Vec<String>)> = columns.collect();
    let is_text = |names: &[String]| names.iter().any(|name| name.parse::<f64>().is_err());
    let text: Vec<_> = columns.iter().filter(|(_, names)| is_text(names)).collect();
    let few = columns.iter().all(|(_, names)| names.len() <= table.rows.div_ceil(2));
    let (j, names) = text.first()?;
    (few && 2 * text.len() > columns.len()).then(|| InputError::MeantCombine {
        file: table.file.clone(),
        evidence: format!(
            "{} of {} columns are text from few values, such as `{}` in column `{}`",
            text.len(),
            columns.len(),
            names.first().map_or("", String::as_str),
            table.names[*j]
        ),
    })
}
