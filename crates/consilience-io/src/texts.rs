//! What to say of a table of features in which some cells are no numbers.

use std::fmt;
use std::path::Path;

use consilience::Run;
use consilience::words::{count, counted};

use super::columns::Named;
use super::error::{InputError, Result, listed};
use super::parse::with_point;
use super::table::{Column, Plan, Role};
use super::{ReadOptions, read_table};
use crate::spelling::{Setting, other_columns};

/// The better message for a table in which a cell is no number: clusterings given to the wrong command if
/// most columns are text from few values, and otherwise all columns to leave out, and what makes numbers of
/// others.
pub(super) fn more_text(
    path: &Path,
    options: &ReadOptions,
    found: InputError,
    run: &Run,
) -> InputError {
    struct AllLabels<'a>(&'a ReadOptions);
    impl Plan for AllLabels<'_> {
        fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
            Ok(Named::demand(self.0, file, names)?.roles(names.len(), |_| Role::Labels))
        }
    }
    let Ok(table) = read_table(path, options, &AllLabels(options), run) else { return found };
    let named = Named::find(options, &table.names);
    let columns = table.columns.iter().enumerate().filter(|&(j, _)| named.truth != Some(j));
    let columns = columns.filter_map(|(j, column)| match column {
        Column::Labels(labels) => Some((j, &labels.names.list)),
        _ => None,
    });
    let columns: Vec<(usize, &Vec<String>)> = columns.collect();
    let is_number = |name: &str| {
        let comma = if options.decimal_comma { with_point(name) } else { None };
        comma.as_deref().unwrap_or(name).parse::<f64>().is_ok()
    };
    let text = columns.iter().filter(|(_, names)| names.iter().any(|name| !is_number(name)));
    let (mended, text): (Vec<_>, Vec<_>) = text
        .copied()
        .map(|(j, names)| (j, names, Mending::of(names, is_number)))
        .partition(|(_, _, mending)| mending.is_some());
    let mending = Mending::all(mended.iter().filter_map(|(_, _, mending)| mending.as_ref()));
    let advice = mending.map(|mending| {
        let names: Vec<&str> = mended.iter().map(|(j, ..)| table.names[*j].as_str()).collect();
        let are = if names.len() == 1 { "is numbers" } else { "are numbers" };
        format!("{} {are} with {mending}", listed(&names))
    });
    let few = columns.iter().all(|(_, names)| names.len() <= table.rows.div_ceil(2));
    if !(few && 2 * text.len() > columns.len()) {
        // A column with some numbers is not left out for a word in it.
        let whole = text.iter().filter(|(_, names, _)| !names.iter().any(|name| is_number(name)));
        let whole: Vec<&str> = whole.map(|(j, ..)| table.names[*j].as_str()).collect();
        if whole.is_empty() || (whole.len() < 2 && advice.is_none()) {
            let mended = |name: &String| mended.iter().any(|(j, ..)| table.names[*j] == *name);
            return match (found, advice) {
                (InputError::NotANumber { file, place, column, value, .. }, Some(hint))
                    if mended(&column) =>
                {
                    InputError::NotANumber { file, place, column, value, hint }
                }
                (InputError::NotANumber { file, place, column, value, .. }, None)
                    if whole == [column.as_str()] =>
                {
                    let hint = format!(
                        "no value of the column is: leave it out with {}, or name it by {} or {}",
                        Setting::DropThis(&column),
                        Setting::Id,
                        Setting::Truth
                    );
                    InputError::NotANumber { file, place, column, value, hint }
                }
                (found, _) => found,
            };
        }
        return InputError::TextColumns {
            file: table.file.clone(),
            count: whole.len(),
            listed: listed(&whole),
            hint: format!(
                "leave {} out with {}, or name one by {} or {}{}",
                if whole.len() == 1 { "it" } else { "them" },
                Setting::DropThese(&whole),
                Setting::Id,
                Setting::Truth,
                advice.map_or(String::new(), |advice| format!("; {advice}"))
            ),
        };
    }
    let (j, names, _) = &text[0];
    InputError::MeantCombine {
        file: table.file.clone(),
        evidence: format!(
            "{} of {} {} text from few values, such as `{}` in column `{}`",
            count(text.len()),
            counted(columns.len(), "column"),
            if text.len() == 1 { "is" } else { "are" },
            names.first().map_or("", String::as_str),
            table.names[*j]
        ),
        hint: format!("if there are features too, name the other columns by {}", other_columns()),
    }
}

/// What makes numbers of a column of texts.
#[derive(Default)]
struct Mending {
    comma: bool,
    /// Texts that mean "missing".
    missing: Vec<String>,
}

impl Mending {
    /// How many words a column of numbers may have for "missing".
    const WORDS: usize = 3;

    /// What makes numbers of these texts, of which some are none; `None` if they are no numbers.
    fn of(texts: &[String], is_number: impl Fn(&str) -> bool) -> Option<Self> {
        let odd: Vec<&String> = texts.iter().filter(|text| !is_number(text)).collect();
        let with_comma = |text: &&String| {
            text.contains(',') && with_point(text).is_some_and(|x| x.parse::<f64>().is_ok())
        };
        let comma = odd.iter().any(with_comma);
        let missing: Vec<String> =
            odd.into_iter().filter(|text| !with_comma(text)).cloned().collect();
        let numbers = texts.len() - missing.len();
        (missing.len() <= Self::WORDS && numbers > 2 * missing.len())
            .then_some(Mending { comma, missing })
    }

    /// What makes numbers of several columns.
    fn all<'a>(columns: impl Iterator<Item = &'a Self>) -> Option<Self> {
        columns.fold(None, |all: Option<Self>, one| {
            let mut all = all.unwrap_or_default();
            all.comma |= one.comma;
            let new = one.missing.iter().filter(|token| !all.missing.contains(token));
            let new: Vec<String> = new.cloned().collect();
            all.missing.extend(new);
            Some(all)
        })
    }
}

impl fmt::Display for Mending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings = Vec::new();
        if self.comma {
            settings.push(Setting::DecimalComma.to_string());
        }
        settings.extend(self.missing.iter().map(|token| Setting::MissingIs(token).to_string()));
        if !self.missing.is_empty() {
            settings.push(Setting::Impute.to_string());
        }
        f.write_str(&settings.join(" and "))
    }
}
