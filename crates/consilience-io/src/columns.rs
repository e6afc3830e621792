//! What both kinds of tables have beside their data: identifiers, known classes, weights, columns
//! to leave out.

use consilience::ensemble::HardMember;

use super::ReadOptions;
use super::error::{InputError, Result};
use super::table::{LabelColumn, Role, Table};
use crate::spelling::Setting;

/// The columns that options name, by their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) id: Option<usize>,
    pub(super) truth: Option<usize>,
    pub(super) weights: Option<usize>,
    pub(super) drop: Vec<usize>,
}

impl Named {
    /// Finds those that are there.
    pub(super) fn find(options: &ReadOptions, names: &[String]) -> Self {
        let place = |name: &String| names.iter().position(|n| n == name);
        // Whatever the identifiers were called before, in a consensus they are called `id`.
        let id = |name: &String| place(name).or(is_consensus(names).then_some(0));
        Named {
            id: options.id.as_ref().and_then(id),
            truth: options.truth.as_ref().and_then(place),
            weights: options.weights.as_ref().and_then(place),
            drop: options
                .dropped(names)
                .filter_map(|name| names.iter().position(|n| n == name))
                .collect(),
        }
    }

    /// The same in a table of clusterings: identifiers that this program wrote need not be named.
    pub(super) fn in_clusterings(options: &ReadOptions, names: &[String]) -> Self {
        let mut named = Self::find(options, names);
        if options.id.is_none() && is_consensus(names) && !named.drop.contains(&0) {
            named.id = Some(0);
        }
        named
    }

    /// Finds them all, or says which is not there.
    pub(super) fn demand(options: &ReadOptions, file: &str, names: &[String]) -> Result<Self> {
        let asked = [
            (Setting::Id, &options.id),
            (Setting::Truth, &options.truth),
            (Setting::Weights, &options.weights),
        ];
        let asked = asked.into_iter().filter_map(|(option, name)| Some((option, name.as_deref()?)));
        let drop = options.dropped(names).map(|name| (Setting::Drop, name));
        for (option, name) in asked.chain(drop) {
            let renamed = option == Setting::Id && (options.id_is_guessed || is_consensus(names));
            if !names.iter().any(|n| n == name) && !renamed {
                return Err(no_column(option, name, file, names));
            }
        }
        Ok(Self::find(options, names))
    }

    /// The role of every column: its own for the named ones, `other` for the rest.
    pub(super) fn roles(&self, columns: usize, other: impl Fn(usize) -> Role) -> Vec<Role> {
        let role = |j: usize| {
            if self.id == Some(j) {
                Role::Text
            } else if self.truth == Some(j) {
                Role::Labels
            } else if self.weights == Some(j) {
                Role::Numbers
            } else if self.drop.contains(&j) {
                // What another option names is needed all the same.
                Role::Skip
            } else {
                other(j)
            }
        };
        (0..columns).map(role).collect()
    }

    /// Whether column `j` is data, not named by any option.
    pub(super) fn is_data(&self, j: usize) -> bool {
        self.id != Some(j)
            && self.truth != Some(j)
            && self.weights != Some(j)
            && !self.drop.contains(&j)
    }
}

/// The columns that this program writes a consensus with; the last only where labels are missing.
pub(super) const CONSENSUS: [&str; 4] = ["id", "cluster", "confidence", "coverage"];

/// Whether a table has the columns that this program writes a consensus with, hard or soft. Those of levels may follow.
pub(super) fn is_consensus(names: &[String]) -> bool {
    let Some((first, rest)) = names.split_first() else { return false };
    let last = rest.iter().rposition(|name| !name.starts_with("level_"));
    let rest = &rest[..last.map_or(0, |last| last + 1)];
    let soft = !rest.is_empty() && rest.iter().all(|name| name.starts_with("consensus:"));
    first == "id" && (soft || rest == &CONSENSUS[1..3] || rest == &CONSENSUS[1..])
}

/// The error that there is no column of this name.
pub(super) fn no_column(
    option: Setting<'static>,
    name: &str,
    file: &str,
    names: &[String],
) -> InputError {
    let (file, name) = (file.to_owned(), name.to_owned());
    InputError::NoSuchColumn { file, option, name, known: names.to_vec() }
}

/// Takes known classes out of a table. Unlike in a clustering, `-1` is a class like any other.
pub(super) fn labels(
    table: &mut Table,
    column: usize,
    options: &ReadOptions,
) -> Result<HardMember> {
    let mut labels = table.take_labels(column);
    if labels.names.list.is_empty() {
        let column = table.names[column].clone();
        return Err(InputError::AllMissing { file: table.file.clone(), column });
    }
    whole_numbers(&mut labels, &options.missing);
    labels.finish(table.names[column].clone())
}

/// Takes object weights out of a table.
pub(super) fn weights(table: &Table, column: usize) -> Result<Vec<f64>> {
    let weights = table.numbers_of(column);
    match weights.iter().position(|&w| !w.is_finite() || w <= 0.0) {
        None => Ok(weights),
        Some(row) => Err(InputError::Weight {
            file: table.file.clone(),
            place: table.place(row),
            column: table.names[column].clone(),
            value: weights[row],
        }),
    }
}

/// Writes whole numbers as whole numbers: `1.0`, `2.0` become `1`, `2` where all labels are such.
///
/// Data-frame libraries turn a column of integers with gaps into floating-point numbers, so `missing`
/// is looked for again among them.
pub(super) fn whole_numbers(labels: &mut LabelColumn, missing: &[String]) {
    let names = &labels.names.list;
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        return;
    }
    let whole = |name: &String| {
        let value: f64 = name.parse().ok()?;
        // Beyond 2^53 neighbouring integers share a floating-point number.
        (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
    };
    let Some(numbers) = names.iter().map(whole).collect::<Option<Vec<i64>>>() else { return };
    let mut renamed = super::table::Names::default();
    let to =
        numbers.iter().map(|number| Some(renamed.code(&number.to_string()))).collect::<Vec<_>>();
    labels.rename(&to, renamed.list);
    for spelling in missing {
        labels.take_as_missing(spelling);
    }
}
