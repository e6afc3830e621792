//! What looks wrong with a table or an ensemble before anything is computed: said, not refused.

use std::collections::BTreeMap;

use crate::base::{Float, Table};
use crate::ensemble::Profiles;
use crate::generate::Data;
use crate::run::Run;
use crate::words::{listed, named};

/// Rows below which nothing is suspected: a handful of numbers may look like anything.
const FEWEST: usize = 10;

/// The most values that a column of classes has.
const CLASSES: usize = 20;

/// Names that columns of known classes have.
const CLASS_NAMES: [&str; 14] = [
    "class",
    "classes",
    "label",
    "labels",
    "target",
    "truth",
    "cluster",
    "species",
    "diagnosis",
    "y",
    "outcome",
    "group",
    "category",
    "type",
];

/// Warns of columns that are hardly features: constants, copies, row numbers, known classes.
pub(super) fn warn_of_columns(data: Data<'_>, names: &[String], run: &Run) {
    let found = match data {
        Data::Dense(data) => of_columns(&Table::from(data), names),
        Data::Single(data) => of_columns(&data, names),
        // Whole columns of a sparse table are not at hand.
        Data::Sparse(_) => Vec::new(),
    };
    found.iter().for_each(|text| run.warn(text));
}

fn of_columns<T: Float>(table: &Table<'_, T>, names: &[String]) -> Vec<String> {
    let (n, d) = (table.nrows(), table.ncols());
    if n < FEWEST {
        return Vec::new();
    }
    let name = |j: usize| names.get(j).map_or_else(|| (j + 1).to_string(), |name| named(name));
    let quoted = |columns: &[usize]| {
        let names: Vec<String> = columns.iter().map(|&j| format!("`{}`", name(j))).collect();
        listed(&names, 5)
    };
    let (mut constant, mut counting, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    let mut alike = BTreeMap::<u64, Vec<usize>>::new();
    for j in 0..d {
        let column = || (0..n).map(|i| table.row(i)[j].to_f64());
        let (low, high) = column()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low == high {
            constant.push(j);
            continue;
        }
        // Copies have the same sum of bits at the same places.
        let places = (0_u64..).zip(column()).map(|(i, x)| x.to_bits().wrapping_mul(2 * i + 1));
        alike.entry(places.fold(0, u64::wrapping_add)).or_default().push(j);
        if column().any(|x| x.fract() != 0.0) {
            continue;
        }
        if high - low == (n - 1) as f64 && is_each_once(column(), low, n) {
            counting.push(j);
        } else if CLASS_NAMES.contains(&name(j).trim().to_lowercase().as_str())
            && high - low < CLASSES as f64
        {
            classes.push(j);
        }
    }
    let mut found = Vec::new();
    let plural = |columns: &[usize], one: &'static str, many: &'static str| {
        if columns.len() == 1 { one } else { many }
    };
    if !counting.is_empty() {
        found.push(format!(
            "{} {} the rows and {} used as a feature: leave it out, or name it as the identifier",
            quoted(&counting),
            plural(&counting, "counts", "count"),
            plural(&counting, "is", "are"),
        ));
    }
    if !classes.is_empty() {
        found.push(format!(
            "{} may hold known classes and {} used as a feature: leave it out, or name it as the truth",
            quoted(&classes),
            plural(&classes, "is", "are"),
        ));
    }
    if !constant.is_empty() && constant.len() < d {
        let (has, tell) = (plural(&constant, "has", "have"), plural(&constant, "tells", "tell"));
        found.push(format!(
            "{} {has} the same value in every row and {tell} nothing",
            quoted(&constant)
        ));
    }
    for columns in alike.values().filter(|columns| columns.len() > 1) {
        let same = |&j: &usize| (0..n).all(|i| table.row(i)[j] == table.row(i)[columns[0]]);
        let copies: Vec<usize> = columns.iter().copied().filter(same).collect();
        if copies.len() > 1 {
            found.push(format!(
                "{} are the same column: it counts {} times",
                quoted(&copies),
                copies.len()
            ));
        }
    }
    found
}

/// Whether `n` whole numbers from `low` on stand there, each once.
fn is_each_once(values: impl Iterator<Item = f64>, low: f64, n: usize) -> bool {
    let mut seen = vec![false; n];
    values.into_iter().all(|x| {
        seen.get_mut((x - low) as usize).is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

/// Warns of members that say nothing: one cluster only, or every object in one of its own.
pub(super) fn warn_of_members(profiles: &Profiles, run: &Run) {
    let sizes = profiles.cluster_weights();
    let n = profiles.n_objects();
    let (mut constant, mut apart) = (Vec::new(), Vec::new());
    for member in profiles.members() {
        let clusters = member.clusters.clone().filter(|&c| sizes[c] > 0.0).count();
        let quoted = format!("`{}`", named(&member.name));
        if clusters == 1 {
            constant.push(quoted);
        } else if clusters == n && n >= FEWEST {
            apart.push(quoted);
        }
    }
    if !constant.is_empty() && constant.len() < profiles.n_members() {
        let (has, say) = if constant.len() == 1 { ("has", "says") } else { ("have", "say") };
        run.warn(&format!("{} {has} one cluster only and {say} nothing", listed(&constant, 5)));
    }
    if !apart.is_empty() {
        let puts = if apart.len() == 1 { "puts" } else { "put" };
        run.warn(&format!(
            "{} {puts} every object in a cluster of its own: an identifier read as a clustering?",
            listed(&apart, 5)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    fn told(columns: &[(&str, fn(usize) -> f64)]) -> Vec<String> {
        let data = Matrix::from_fn(30, columns.len(), |i, j| columns[j].1(i));
        let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        of_columns(&Table::from(&data), &names)
    }

    #[test]
    fn columns_that_are_no_features_are_named() {
        let width: fn(usize) -> f64 = |i| (i as f64).sin();
        assert_eq!(told(&[("width", width), ("depth", |i| (i as f64).cos())]), [""; 0]);
        let found = told(&[
            ("width", width),
            ("nr", |i| 7.0 + ((i * 7) % 30) as f64),
            ("Species", |i| (i % 3) as f64),
            ("site", |_| 4.0),
            ("again", width),
        ]);
        let starts = [
            "`nr` counts the rows",
            "`Species` may hold",
            "`site` has the same",
            "`width`, `again` are",
        ];
        assert_eq!(found.len(), starts.len(), "{found:?}");
        for (text, start) in found.iter().zip(starts) {
            assert!(text.starts_with(start), "{text}");
        }
    }

    #[test]
    fn whole_numbers_alone_are_not_suspected() {
        assert_eq!(
            told(&[("age", |i| (20 + i % 17) as f64), ("visits", |i| (i * 2) as f64)]),
            [""; 0]
        );
    }
}
