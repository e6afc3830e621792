//! What looks wrong with a table or an ensemble: said, not refused.

use std::collections::BTreeMap;

use crate::base::{Float, Table};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::generate::Data;
use crate::graph::UnionFind;
use crate::run::Run;
use crate::words::{listed, named};

/// Rows below which nothing is suspected: a handful of numbers may look like anything.
const FEWEST: usize = 10;

/// The most values that a column of classes has.
const CLASSES: f64 = 20.0;

/// Names that columns of known classes have; `y` is a coordinate as often.
const CLASS_NAMES: [&str; 13] = [
    "class",
    "classes",
    "label",
    "labels",
    "target",
    "truth",
    "cluster",
    "species",
    "diagnosis",
    "outcome",
    "group",
    "category",
    "type",
];

/// What one look at all rows tells of a column.
#[derive(Clone, Copy)]
struct Look {
    low: f64,
    high: f64,
    is_whole: bool,
    /// The same of copies.
    hash: u64,
}

/// Whether a column of this name with whole numbers of so many values at most may hold known classes.
pub fn may_be_classes(name: &str, values: f64) -> bool {
    values <= CLASSES && CLASS_NAMES.contains(&name.trim().to_lowercase().as_str())
}

/// Warns of columns that are hardly features: copies, row numbers, known classes. A column without a name is
/// called by its place, counted from 1.
///
/// # Errors
///
/// If the run is cancelled.
pub fn warn_of_columns(data: Data<'_>, names: &[String], run: &Run) -> Result<()> {
    let found = match data {
        Data::Dense(data) => of_columns(&Table::from(data), names, run)?,
        Data::Single(data) => of_columns(&data, names, run)?,
        // Whole columns of a sparse table are not at hand.
        Data::Sparse(_) => Vec::new(),
    };
    found.iter().for_each(|text| run.warn(text));
    Ok(())
}

fn of_columns<T: Float>(table: &Table<'_, T>, names: &[String], run: &Run) -> Result<Vec<String>> {
    let n = table.nrows();
    if n < FEWEST {
        return Ok(Vec::new());
    }
    let looks = look(table, run)?;
    let name = |j: usize| names.get(j).map_or_else(|| (j + 1).to_string(), |name| named(name));
    let quoted = |columns: &[usize]| {
        let names: Vec<String> = columns.iter().map(|&j| format!("`{}`", name(j))).collect();
        listed(&names, 5)
    };
    let column = |j: usize| (0..n).map(move |i| table.row(i)[j].to_f64());
    let (mut counting, mut classes) = (Vec::new(), Vec::new());
    let mut alike = BTreeMap::<u64, Vec<usize>>::new();
    for (j, look) in looks.iter().enumerate() {
        let span = look.high - look.low;
        // Constants are told of by whoever read them.
        if span == 0.0 {
            continue;
        }
        alike.entry(look.hash).or_default().push(j);
        if look.is_whole && span == (n - 1) as f64 && is_each_once(column(j), look.low, n) {
            counting.push(j);
        } else if look.is_whole && may_be_classes(&name(j), span + 1.0) {
            classes.push(j);
        }
    }
    let mut found = Vec::new();
    let used = |columns: &[usize]| match columns.len() {
        1 => "is used as a feature: leave it out if it is not one",
        _ => "are used as features: leave out those that are not",
    };
    if !counting.is_empty() {
        let counts = if counting.len() == 1 { "counts" } else { "count" };
        found.push(format!("{} {counts} the rows and {}", quoted(&counting), used(&counting)));
    }
    if !classes.is_empty() {
        found.push(format!("{} may hold known classes and {}", quoted(&classes), used(&classes)));
    }
    for columns in alike.values().filter(|columns| columns.len() > 1) {
        let same = |&j: &usize| (0..n).all(|i| table.row(i)[j] == table.row(i)[columns[0]]);
        let copies: Vec<usize> = columns.iter().copied().filter(same).collect();
        if copies.len() > 1 {
            let text = format!("{} are the same column", quoted(&copies));
            found.push(format!("{text}, which counts {} times", copies.len()));
        }
    }
    Ok(found)
}

/// Looks at every column, row by row.
fn look<T: Float>(table: &Table<'_, T>, run: &Run) -> Result<Vec<Look>> {
    let nothing = Look { low: f64::INFINITY, high: f64::NEG_INFINITY, is_whole: true, hash: 0 };
    let mut looks = vec![nothing; table.ncols()];
    for i in 0..table.nrows() {
        if i.is_multiple_of(1024) {
            run.check()?;
        }
        for (look, x) in looks.iter_mut().zip(table.row(i)) {
            let x = x.to_f64();
            (look.low, look.high) = (look.low.min(x), look.high.max(x));
            look.is_whole &= x.fract() == 0.0;
            // A product spreads low bits, a turn the high ones.
            let mixed = (look.hash ^ x.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            look.hash = mixed.rotate_left(29);
        }
    }
    Ok(looks)
}

/// Whether `n` whole numbers from `low` on stand there, each once.
fn is_each_once(values: impl Iterator<Item = f64>, low: f64, n: usize) -> bool {
    let mut seen = vec![false; n];
    values.into_iter().all(|x| {
        seen.get_mut((x - low) as usize).is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

/// Warns of members that say nothing (one cluster only, or every object in one of its own) and of those that no
/// object links to the others.
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
    for strangers in strangers(profiles) {
        let names = strangers.iter().map(|&p| format!("`{}`", named(&profiles.members()[p].name)));
        let (shares, its) =
            if strangers.len() == 1 { ("shares", "its") } else { ("share", "their") };
        run.warn(&format!(
            "{} {shares} no object with the other clusterings: which of {its} clusters go with which of \
             theirs is arbitrary",
            listed(&names.collect::<Vec<_>>(), 5)
        ));
    }
}

/// Groups of members without an object in common with those of other groups, besides the largest group.
fn strangers(profiles: &Profiles) -> Vec<Vec<usize>> {
    let r = profiles.n_members();
    let mut groups = UnionFind::new(r);
    for s in 0..profiles.len() {
        // Mostly the first object links all.
        if groups.n_sets() <= 1 {
            return Vec::new();
        }
        let mut first = None;
        profiles.for_each_entry(s, |p, _, _| {
            groups.union(*first.get_or_insert(p), p);
        });
    }
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); r];
    (0..r).for_each(|p| found[groups.find(p)].push(p));
    found.retain(|members| !members.is_empty());
    found.sort_by_key(|members| std::cmp::Reverse(members.len()));
    found.split_off(1.min(found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::linalg::Matrix;
    use crate::testing::profiles;

    fn told(columns: &[(&str, fn(usize) -> f64)]) -> Vec<String> {
        let data = Matrix::from_fn(30, columns.len(), |i, j| columns[j].1(i));
        let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        of_columns(&Table::from(&data), &names, &Run::new(0)).unwrap()
    }

    #[test]
    fn columns_that_are_no_features_are_named() {
        let width: fn(usize) -> f64 = |i| (i as f64).sin();
        assert_eq!(told(&[("width", width), ("depth", |i| (i as f64).cos())]), [""; 0]);
        let found = told(&[
            ("width", width),
            ("nr", |i| 7.0 + ((i * 7) % 30) as f64),
            ("Species", |i| (i % 3) as f64),
            ("again", width),
        ]);
        let starts = ["`nr` counts the rows", "`Species` may hold", "`width`, `again` are"];
        assert_eq!(found.len(), starts.len(), "{found:?}");
        for (text, start) in found.iter().zip(starts) {
            assert!(text.starts_with(start), "{text}");
        }
    }

    #[test]
    fn members_of_other_objects_are_strangers() {
        let member = |labels: [i64; 6]| {
            HardMember::from_integers("m", labels.map(|label| (label >= 0).then_some(label))).into()
        };
        let of = |members: &[[i64; 6]]| {
            strangers(&profiles(
                &Ensemble::new(members.iter().copied().map(member).collect()).unwrap(),
            ))
        };
        let (left, right) = ([0, 1, 1, -1, -1, -1], [-1, -1, -1, 0, 1, 1]);
        assert_eq!(of(&[left, right, right]), [[0]]);
        // Linked by a third.
        assert_eq!(of(&[left, [-1, -1, 0, 1, -1, -1], right]), [[0; 0]; 0]);
        assert_eq!(of(&[left]), [[0; 0]; 0]);
    }

    #[test]
    fn whole_numbers_alone_are_not_suspected() {
        assert_eq!(
            told(&[("age", |i| (20 + i % 17) as f64), ("visits", |i| (i * 2) as f64)]),
            [""; 0]
        );
    }
}
