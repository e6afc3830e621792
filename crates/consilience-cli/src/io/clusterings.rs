//! Tables of clusterings: what is to be combined.

use std::path::{Path, PathBuf};

use consilience::Run;
use consilience::ensemble::{Code, HardMember, Labels, MEMBERSHIP_TOLERANCE, Member, SoftMember};
use consilience::linalg::Matrix;

use super::columns::{self, Named, is_consensus, no_column, whole_numbers};
use super::error::{InputError, Result, listed};
use super::join::{Objects, Rows};
use super::table::{Column, Ids, LabelColumn, Plan, Role, Table};
use super::{Format, ReadOptions, read_table};

/// Clusterings of the same objects, from one file or several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClusteringTable {
    /// The objects' identifiers, if a column of them was named.
    pub(crate) ids: Option<Ids>,
    /// The clusterings, in the order of the files and their columns.
    pub(crate) members: Vec<Member>,
    /// The objects' weights, if they were given.
    pub(crate) weights: Option<Vec<f64>>,
    /// The known classes, if they were given.
    pub(crate) truth: Option<HardMember>,
    /// What the user should know.
    pub(crate) warnings: Vec<String>,
}

/// Reads clusterings from one file or several.
///
/// Several files are joined on `options.id`, or stand side by side if there is none.
pub(crate) fn read_clusterings(
    paths: &[PathBuf],
    options: &ReadOptions,
    run: &Run,
) -> Result<ClusteringTable> {
    let plan = Clusterings { options, several: paths.len() > 1 };
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        parts.push(Part::read(path, options, &plan, run)?);
    }
    check_drop(options, &parts)?;

    let mut objects = None;
    if options.id.is_some() {
        let mut all = Objects::default();
        parts.iter().for_each(|part| {
            all.extend(&part.objects.as_ref().expect("every file has the identifiers").ids);
        });
        objects = Some(all);
    } else if let Some(odd) = parts.iter().find(|part| part.table.rows != parts[0].table.rows) {
        return Err(InputError::RowCounts {
            first: parts[0].table.file.clone(),
            first_rows: parts[0].table.rows,
            second: odd.table.file.clone(),
            second_rows: odd.table.rows,
        });
    }
    let ids = objects.map(|objects| objects.ids);
    let n = ids.as_ref().map_or_else(|| parts.first().map_or(0, |p| p.table.rows), Ids::len);

    let mut warnings = Vec::new();
    let mut members = Vec::new();
    let (mut truth, mut weights) = (None, None);
    for part in &mut parts {
        warnings.append(&mut part.table.warnings);
        let rows = rows_of(part.objects.as_ref(), ids.as_ref());
        for member in std::mem::take(&mut part.members) {
            members.push((part.stem.clone(), aligned(member, &rows, n)?));
        }
        if let Some(labels) = part.truth.take()
            && truth.is_none()
        {
            truth = Some(rows.member(&labels)?);
        }
        if let Some(values) = part.weights.take() {
            let weights = weights.get_or_insert_with(|| vec![f64::NAN; n]);
            for (i, weight) in weights.iter_mut().enumerate() {
                if let Some(row) = rows.of(i)
                    && weight.is_nan()
                {
                    *weight = values[row];
                }
            }
        }
    }
    let known: Vec<&String> = parts.iter().flat_map(|part| &part.table.names).collect();
    let file_of = |option: &'static str, name: &String| {
        let path = PathBuf::from(name);
        if path.exists() {
            return Ok(path);
        }
        Err(InputError::ColumnOrFile { option, name: name.clone(), known: listed(&known) })
    };
    if let Some(name) = &options.truth
        && truth.is_none()
    {
        let path = file_of("--truth", name)?;
        truth = Some(read_truth(&path, ids.as_ref(), n, options, run)?);
    }
    if let Some(name) = &options.weights {
        match &weights {
            None => {
                let path = file_of("--weights", name)?;
                weights = Some(read_weights(&path, ids.as_ref(), n, options, run)?);
            }
            Some(weights) => check_weights(name, weights, ids.as_ref())?,
        }
    }
    let members = distinct_names(members);
    warn_unlabelled(&members, ids.as_ref(), &parts, &mut warnings);
    Ok(ClusteringTable { ids, members, weights, truth, warnings })
}

/// Reads a single clustering of objects that are already known: by their identifiers, or by their
/// number if they have none.
///
/// The file may hold other columns if one is called `cluster`, as what this program writes does.
pub(crate) fn read_labels(
    path: &Path,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    run: &Run,
) -> Result<Member> {
    let options = beside(options);
    let mut part = Part::read(path, &options, &One(&options), run)?;
    if part.members.len() != 1 {
        return Err(InputError::Unsupported {
            file: part.table.file,
            problem: format!("one clustering is expected, but it holds {}", part.members.len()),
            hint: "keep one of them, or call its column `cluster`".to_owned(),
        });
    }
    let rows = checked_rows(&part.table, part.objects.as_ref(), ids, n)?;
    aligned(part.members.remove(0), &rows, n)
}

/// Options for a file that stands beside the tables: its columns have other meanings.
fn beside(options: &ReadOptions) -> ReadOptions {
    ReadOptions { truth: None, weights: None, drop: Vec::new(), ..options.clone() }
}

/// One file of clusterings.
struct Part {
    table: Table,
    stem: String,
    objects: Option<Objects>,
    members: Vec<Member>,
    truth: Option<HardMember>,
    weights: Option<Vec<f64>>,
}

impl Part {
    fn read(path: &Path, options: &ReadOptions, plan: &dyn Plan, run: &Run) -> Result<Self> {
        let read = read_table(path, options, plan, run);
        let stem = path.file_name().map_or("stdin".into(), |name| name.to_string_lossy());
        let stem = stem.split('.').next().unwrap_or_default().to_owned();
        if let (Err(InputError::MeantRun { .. }), Some(Format::Npy)) = (&read, Format::of(path))
            && let Some(part) = Self::read_memberships(path, options, &stem, run)
        {
            return Ok(part);
        }
        let mut table = read?;
        let named = Named::find(options, &table.names);
        let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
        let truth = named.truth.map(|column| columns::labels(&mut table, column)).transpose()?;
        let weights = named.weights.map(|column| columns::weights(&table, column)).transpose()?;
        let members = members(&mut table, &named, &stem)?;
        Ok(Part { table, stem, objects, members, truth, weights })
    }

    /// An array has no names of the form `NAME:CLUSTER`: it is one soft clustering if its rows say
    /// so.
    fn read_memberships(path: &Path, options: &ReadOptions, stem: &str, run: &Run) -> Option<Part> {
        let mut table = read_table(path, options, &Memberships, run).ok()?;
        let columns: Vec<usize> = (0..table.names.len()).collect();
        for (j, name) in table.names.iter_mut().enumerate() {
            *name = format!("{stem}:{j}");
        }
        let member = soft_member(&table, &columns, stem).ok()?;
        let members = vec![member.into()];
        Some(Part {
            table,
            stem: stem.to_owned(),
            objects: None,
            members,
            truth: None,
            weights: None,
        })
    }
}

/// A file of memberships without names for them.
struct Memberships;

impl Plan for Memberships {
    fn roles(&self, _file: &str, names: &[String]) -> Result<Vec<Role>> {
        Ok(vec![Role::Numbers; names.len()])
    }
}

/// A file of which every column is a clustering, unless options name it.
struct Clusterings<'a> {
    options: &'a ReadOptions,
    several: bool,
}

impl Plan for Clusterings<'_> {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        let named = Named::find(self.options, names);
        if let (Some(id), None) = (&self.options.id, named.id) {
            return Err(no_column("--id", id, file, names));
        }
        if !self.several
            && let Some(name) = self.options.drop.iter().find(|name| !names.contains(name))
        {
            return Err(no_column("--drop", name, file, names));
        }
        if !(0..names.len()).any(|j| named.is_data(j)) {
            return Err(InputError::NoColumns { file: file.to_owned() });
        }
        Ok(named.roles(names.len(), |j| label_role(names, j)))
    }

    fn inspect(&self, table: &Table) -> Result<()> {
        let named = Named::find(self.options, &table.names);
        for (j, column) in table.columns.iter().enumerate() {
            if let Column::Labels(labels) = column
                && named.is_data(j)
            {
                refuse_measurements(table, j, labels)?;
            }
        }
        Ok(())
    }
}

/// A file of one clustering: the only column, or the one called `cluster`.
struct One<'a>(&'a ReadOptions);

impl Plan for One<'_> {
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>> {
        let named = Named::demand(self.0, file, names)?;
        let cluster = names.iter().position(|name| name == "cluster");
        Ok(named.roles(names.len(), |j| match cluster {
            Some(cluster) if cluster != j => Role::Skip,
            _ => label_role(names, j),
        }))
    }
}

/// The role of a column that no option names.
fn label_role(names: &[String], j: usize) -> Role {
    if is_consensus(names) && ["id", "confidence"].contains(&&*names[j]) {
        return Role::Skip;
    }
    if soft_name(&names[j]).is_some() { Role::Numbers } else { Role::Labels }
}

/// `NAME:CLUSTER`, the name of a column of memberships.
///
/// The last colon counts, so that clusterings may be called `run:1`; a blank after it makes it
/// prose, such as `Unnamed: 0`.
pub(super) fn soft_name(column: &str) -> Option<(&str, &str)> {
    let (name, cluster) = column.rsplit_once(':')?;
    (!name.is_empty() && !cluster.is_empty() && !cluster.starts_with(' '))
        .then_some((name, cluster))
}

/// Refuses a column in which all labels are numbers and some are not whole.
fn refuse_measurements(table: &Table, j: usize, labels: &LabelColumn) -> Result<()> {
    // The labels met first tell enough, and a column of measurements has very many.
    const ENOUGH: usize = 1000;
    let names = &labels.names.list[..labels.names.list.len().min(ENOUGH)];
    let mut measured = None;
    for (code, name) in names.iter().enumerate() {
        match name.parse::<f64>() {
            Err(_) => return Ok(()),
            Ok(value) if value.fract() != 0.0 => {
                measured.get_or_insert(code);
            }
            Ok(_) => {}
        }
    }
    let Some(code) = measured else { return Ok(()) };
    Err(InputError::MeantRun {
        file: table.file.clone(),
        place: table.place(labels.first_row(code).unwrap_or(0)),
        column: table.names[j].clone(),
        value: names[code].clone(),
    })
}

/// The clusterings of a table, in the order of their first columns.
fn members(table: &mut Table, named: &Named, stem: &str) -> Result<Vec<Member>> {
    let data: Vec<usize> = (0..table.names.len())
        .filter(|&j| named.is_data(j) && table.columns[j] != Column::Skipped)
        .collect();
    let mut members = Vec::new();
    let mut done: Vec<String> = Vec::new();
    for &j in &data {
        // A file without names that holds one clustering is best called by its own name.
        let only = data.len() == 1 && !table.named;
        let name = if only { stem.to_owned() } else { table.names[j].clone() };
        if matches!(table.columns[j], Column::Labels(_)) {
            members.push(hard_member(table, j, name)?.into());
            continue;
        }
        let (member, _) = soft_name(&table.names[j]).expect("numbers are memberships");
        if done.iter().any(|name| name == member) {
            continue;
        }
        let member = member.to_owned();
        let of_member = |&j: &usize| {
            matches!(table.columns[j], Column::Number(_))
                && soft_name(&table.names[j]).is_some_and(|(name, _)| name == member)
        };
        let columns: Vec<usize> = data.iter().copied().filter(of_member).collect();
        members.push(soft_member(table, &columns, &member)?.into());
        done.push(member);
    }
    Ok(members)
}

fn hard_member(table: &mut Table, j: usize, name: String) -> Result<HardMember> {
    let mut labels = table.take_labels(j);
    refuse_measurements(table, j, &labels)?;
    whole_numbers(&mut labels);
    let column = &table.names[j];
    if minus_one_is_missing(&mut labels) && labels.names.list.len() == 1 {
        table.warnings.push(format!(
            "{}, column `{column}`: -1 is read as missing, which leaves one cluster (`{}`); if -1 \
             is a cluster, rename it",
            table.file, labels.names.list[0]
        ));
    }
    let distinct = labels.names.list.len();
    if distinct == 0 {
        return Err(InputError::AllMissing { file: table.file.clone(), column: column.clone() });
    }
    if distinct == table.rows && distinct > 3 {
        table.warnings.push(format!(
            "{}, column `{column}`: every row has a label of its own, which looks like an \
             identifier; if it is one, give --id '{column}' or --drop '{column}'",
            table.file
        ));
    }
    labels.finish(name)
}

/// Reads `-1` as missing if all labels are integers; returns whether there was any.
fn minus_one_is_missing(labels: &mut LabelColumn) -> bool {
    let names = &labels.names.list;
    let Some(gone) = names.iter().position(|name| name == "-1") else { return false };
    if !names.iter().all(|name| name.parse::<i64>().is_ok()) {
        return false;
    }
    let to: Vec<Option<u32>> =
        (0..names.len()).map(|c| (c != gone).then(|| (c - usize::from(c > gone)) as u32)).collect();
    let mut names = names.clone();
    names.remove(gone);
    labels.rename(&to, names);
    true
}

fn soft_member(table: &Table, columns: &[usize], name: &str) -> Result<SoftMember> {
    let mut memberships = table.matrix(columns);
    let clusters: Vec<String> = columns
        .iter()
        .map(|&j| soft_name(&table.names[j]).map_or("", |(_, cluster)| cluster).to_owned())
        .collect();
    check_memberships(table, name, &clusters, &mut memberships)?;
    if memberships.as_slice().iter().all(|&m| m == 0.0) {
        let column = format!("{name}:{}", clusters[0]);
        return Err(InputError::AllMissing { file: table.file.clone(), column });
    }
    Ok(SoftMember::new(name, memberships, clusters)?)
}

/// Refuses rows that are no memberships; rows without any value become zeros, which is missing.
fn check_memberships(
    table: &Table,
    member: &str,
    clusters: &[String],
    memberships: &mut Matrix,
) -> Result<()> {
    for i in 0..memberships.nrows() {
        let row = memberships.row_mut(i);
        if row.iter().all(|m| m.is_nan()) {
            row.fill(0.0);
            continue;
        }
        let odd = row.iter().position(|&m| !m.is_finite() || m < 0.0);
        let sum: f64 = row.iter().sum();
        let problem = if let Some(j) = odd {
            let cluster = &clusters[j];
            if row[j].is_nan() {
                format!(
                    "the membership in cluster `{cluster}` is missing; fill it in, or empty all"
                )
            } else {
                format!(
                    "the membership in cluster `{cluster}` must be a number >= 0, got {}",
                    row[j]
                )
            }
        } else if (sum - 1.0).abs() > MEMBERSHIP_TOLERANCE {
            format!(
                "memberships must sum to 1, they sum to {sum}; if `{member}:{}` is a column of \
                 labels, rename it without the colon",
                clusters[0]
            )
        } else {
            continue;
        };
        return Err(InputError::Membership {
            file: table.file.clone(),
            place: table.place(i),
            member: member.to_owned(),
            problem,
        });
    }
    Ok(())
}

fn aligned(member: Member, rows: &Rows, n: usize) -> Result<Member> {
    Ok(match (member, rows) {
        (member, Rows::Same) => member,
        (Member::Hard(hard), rows) => rows.member(&hard)?.into(),
        (Member::Soft(soft), rows) => {
            let old = soft.memberships();
            let new =
                Matrix::from_fn(n, old.ncols(), |i, j| rows.of(i).map_or(0.0, |i| old[(i, j)]));
            SoftMember::new(soft.name(), new, soft.clusters().to_vec())?.into()
        }
    })
}

fn read_truth(
    path: &Path,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    run: &Run,
) -> Result<HardMember> {
    let options = beside(options);
    let mut table = read_table(path, &options, &One(&options), run)?;
    let named = Named::find(&options, &table.names);
    let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
    let column = only_column(&table, &named, "known classes")?;
    let truth = columns::labels(&mut table, column)?;
    checked_rows(&table, objects.as_ref(), ids, n)?.member(&truth)
}

fn read_weights(
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
    let column = only_column(&table, &named, "weights")?;
    let values = columns::weights(&table, column)?;
    let rows = checked_rows(&table, objects.as_ref(), ids, n)?;
    let weights: Vec<f64> =
        (0..n).map(|i| rows.of(i).map_or(f64::NAN, |row| values[row])).collect();
    check_weights(&table.names[column], &weights, ids)?;
    Ok(weights)
}

/// The one column of data of a file beside the tables.
fn only_column(table: &Table, named: &Named, what: &str) -> Result<usize> {
    let is_data = |&j: &usize| named.is_data(j) && table.columns[j] != Column::Skipped;
    let data: Vec<usize> = (0..table.names.len()).filter(is_data).collect();
    match *data {
        [column] => Ok(column),
        _ => Err(InputError::Unsupported {
            file: table.file.clone(),
            problem: format!("one column of {what} is expected, but it has {}", data.len()),
            hint: "keep one of them".to_owned(),
        }),
    }
}

/// Which row of a file each object stands in; without identifiers, rows and objects go in step.
fn rows_of(objects: Option<&Objects>, ids: Option<&Ids>) -> Rows {
    match (objects, ids) {
        (Some(objects), Some(ids)) => objects.rows_of(ids),
        _ => Rows::Same,
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
fn check_weights(name: &str, weights: &[f64], ids: Option<&Ids>) -> Result<()> {
    let Some(first) = weights.iter().position(|w| w.is_nan()) else { return Ok(()) };
    Err(InputError::Unmatched {
        file: format!("weights `{name}`"),
        problem: "there is no weight".to_owned(),
        count: weights.iter().filter(|w| w.is_nan()).count(),
        first: ids.map_or_else(|| first.to_string(), |ids| ids.get(first).to_owned()),
        hint: "give every object a weight".to_owned(),
    })
}

/// Every column to leave out must be in some file.
fn check_drop(options: &ReadOptions, parts: &[Part]) -> Result<()> {
    let known: Vec<&String> = parts.iter().flat_map(|part| &part.table.names).collect();
    match options.drop.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(InputError::NothingToDrop { name: name.clone(), known: listed(&known) }),
    }
}

/// Clusterings of one name, from several files, get the name of their file before their own.
fn distinct_names(members: Vec<(String, Member)>) -> Vec<Member> {
    let repeated = |names: &[String]| -> Vec<bool> {
        names.iter().map(|name| names.iter().filter(|n| *n == name).count() > 1).collect()
    };
    let mut names: Vec<String> = members.iter().map(|(_, m)| m.name().to_owned()).collect();
    for (i, again) in repeated(&names).into_iter().enumerate() {
        if again {
            names[i] = format!("{}/{}", members[i].0, names[i]);
        }
    }
    // Files of one name in different folders.
    for (i, again) in repeated(&names).into_iter().enumerate() {
        if again {
            names[i] = format!("{}#{}", names[i], i + 1);
        }
    }
    members.into_iter().zip(names).map(|((_, member), name)| member.renamed(name)).collect()
}

/// Warns of objects that no clustering labels.
fn warn_unlabelled(
    members: &[Member],
    ids: Option<&Ids>,
    parts: &[Part],
    warnings: &mut Vec<String>,
) {
    let n = members.first().map_or(0, Member::n_objects);
    let mut labelled = vec![false; n];
    fn mark<C: Code>(codes: &[C], labelled: &mut [bool]) {
        labelled.iter_mut().zip(codes).for_each(|(l, code)| *l |= *code != C::MISSING);
    }
    for member in members {
        match member {
            Member::Hard(hard) => match hard.labels() {
                Labels::U8(codes) => mark(codes, &mut labelled),
                Labels::U16(codes) => mark(codes, &mut labelled),
                Labels::U32(codes) => mark(codes, &mut labelled),
            },
            Member::Soft(soft) => {
                let rows = soft.memberships().iter_rows();
                labelled
                    .iter_mut()
                    .zip(rows)
                    .for_each(|(l, row)| *l |= row.iter().any(|&m| m > 0.0));
            }
        }
    }
    let Some(first) = labelled.iter().position(|&l| !l) else { return };
    let count = labelled.iter().filter(|&&l| !l).count();
    let first = match ids {
        Some(ids) => format!("`{}`", ids.get(first)),
        None => format!("{}, {}", parts[0].table.file, parts[0].table.place(first)),
    };
    warnings.push(format!(
        "{count} of {n} objects have no label at all and get none (the first: {first})"
    ));
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Reads files of these names and contents.
    fn read(files: &[(&str, &str)], options: &ReadOptions) -> Result<ClusteringTable, String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
        for (path, (_, text)) in paths.iter().zip(files) {
            fs::write(path, text).unwrap();
        }
        let named = |name: &Option<String>| {
            let file = files.iter().position(|(file, _)| Some(*file) == name.as_deref());
            file.map(|i| paths[i].display().to_string()).or_else(|| name.clone())
        };
        let options = ReadOptions {
            truth: named(&options.truth),
            weights: named(&options.weights),
            ..options.clone()
        };
        let paths: Vec<PathBuf> = paths
            .into_iter()
            .filter(|path| {
                let name = Some(path.display().to_string());
                name != options.truth && name != options.weights
            })
            .collect();
        let run = Run::new(0).threads(1);
        let place = format!("{}/", folder.path().display());
        let mut table = read_clusterings(&paths, &options, &run)
            .map_err(|error| error.to_string().replace(&place, ""))?;
        for warning in &mut table.warnings {
            *warning = warning.replace(&place, "");
        }
        Ok(table)
    }

    fn member(table: &ClusteringTable, h: usize) -> (&str, Vec<Option<&str>>) {
        let Member::Hard(hard) = &table.members[h] else { panic!("member {h} is hard") };
        let labels = hard.labels().iter().map(|c| c.map(|c| &*hard.clusters()[c])).collect();
        (hard.name(), labels)
    }

    fn plain() -> ReadOptions {
        ReadOptions::default()
    }

    fn with_id() -> ReadOptions {
        ReadOptions { id: Some("id".to_owned()), ..plain() }
    }

    #[test]
    fn columns_are_clusterings_and_missing_labels_have_many_spellings() {
        let text = "km,type\n1,T cell\n-1,NA\n2,\n1,?\nNaN,B cell\n";
        let options = ReadOptions { missing: Some("?".to_owned()), ..plain() };
        let table = read(&[("a.csv", text)], &options).unwrap();
        assert_eq!(member(&table, 0), ("km", vec![Some("1"), None, Some("2"), Some("1"), None]));
        let types = vec![Some("T cell"), None, None, None, Some("B cell")];
        assert_eq!(member(&table, 1), ("type", types));
        assert_eq!(
            table.warnings.iter().map(|w| &w[..31]).collect::<Vec<_>>(),
            ["1 of 5 objects have no label at"]
        );
    }

    #[test]
    fn soft_and_hard_columns_stand_in_one_table() {
        let text = "f:0,h,f:1\n0.25,x,0.75\n,y,\n1,y,0\n";
        let table = read(&[("a.csv", text)], &plain()).unwrap();
        let Member::Soft(soft) = &table.members[0] else { panic!("the first is soft") };
        assert_eq!((soft.name(), soft.clusters()), ("f", &["0".to_owned(), "1".to_owned()][..]));
        assert_eq!(soft.memberships().as_slice(), [0.25, 0.75, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(member(&table, 1).0, "h");
    }

    #[test]
    fn of_a_consensus_only_the_clusters_are_read() {
        let hard = "id,cluster,confidence\nx,0,0.75\ny,1,1\n";
        let soft = "id,consensus:0,consensus:1\nx,0.75,0.25\ny,0,1\n";
        let by_name = ReadOptions { id: Some("name".to_owned()), ..plain() };
        for options in [plain(), by_name] {
            let table = read(&[("a.csv", hard), ("b.csv", soft)], &options).unwrap();
            assert_eq!(member(&table, 0), ("cluster", vec![Some("0"), Some("1")]));
            assert_eq!((table.members.len(), table.members[1].name()), (2, "consensus"));
            assert_eq!(table.ids.is_some(), options.id.is_some());
        }
    }

    #[test]
    fn files_are_joined_on_the_identifier() {
        let files = [("a.csv", "id,km\nx,0\ny,1\n"), ("b.csv", "km,id\n7,y\n8,z\n")];
        let table = read(&files, &with_id()).unwrap();
        let ids = table.ids.as_ref().unwrap();
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["x", "y", "z"]);
        assert_eq!(member(&table, 0), ("a/km", vec![Some("0"), Some("1"), None]));
        assert_eq!(member(&table, 1), ("b/km", vec![None, Some("7"), Some("8")]));
    }

    #[test]
    fn files_without_identifier_stand_side_by_side() {
        let files = [("a.csv", "0\n1\n1\n"), ("b.tsv", "p\tq\n5\t6\n5\t7\n8\t6\n")];
        let table = read(&files, &plain()).unwrap();
        let names: Vec<&str> = table.members.iter().map(Member::name).collect();
        assert_eq!(names, ["a", "p", "q"]);
        assert_eq!(
            read(&[files[0], ("c.csv", "0\n1\n")], &plain()).unwrap_err(),
            "a.csv has 3 rows, but c.csv has 2; give --id COLUMN to join them by an identifier"
        );
    }

    #[test]
    fn truth_and_weights_are_columns_or_files() {
        let options = ReadOptions {
            truth: Some("class".to_owned()),
            weights: Some("count".to_owned()),
            ..with_id()
        };
        let columns = [("a.csv", "id,km,class,count\nx,0,-1,2\ny,1,1,0.5\n")];
        let files = [
            ("a.csv", "id,km\nx,0\ny,1\n"),
            ("class", ""),
            ("t.csv", "id,cluster,confidence\ny,1,0.5\nx,-1,0.25\n"),
            ("w.csv", "id,n\ny,0.5\nx,2\n"),
        ];
        let in_files = ReadOptions {
            truth: Some("t.csv".to_owned()),
            weights: Some("w.csv".to_owned()),
            ..with_id()
        };
        let one = read(&columns, &options).unwrap();
        let two = read(&[files[0], files[2], files[3]], &in_files).unwrap();
        assert_eq!(one.weights, Some(vec![2.0, 0.5]));
        assert_eq!(two.weights, one.weights);
        let truth = one.truth.unwrap();
        assert_eq!(truth.clusters(), ["-1", "1"]);
        assert_eq!(two.truth.unwrap().clusters(), truth.clusters());
        let nowhere = ReadOptions { truth: Some("klass".to_owned()), ..with_id() };
        assert_eq!(
            read(&files[..1], &nowhere).unwrap_err(),
            "`klass` (--truth) is neither a column of the tables nor a file; the columns are \
             `id`, `km`"
        );
    }

    #[test]
    fn bad_tables_are_refused_with_the_place() {
        let many = [0, 1, 2, 3, 4].map(|i| format!("{}.5,{i}\n", i % 2)).concat();
        let cases = [
            ("", plain(), "a.csv is empty: it needs at least one row"),
            (
                "a,b\n",
                plain(),
                "a.csv has a header but no rows; if line 1 is data, give --no-header",
            ),
            (
                "a,b\n1,NA\n2,\n",
                plain(),
                "a.csv, column `b`: every value is missing; leave it out with --drop 'b'",
            ),
            (
                "a,b\n-1,1\n-1,2\n",
                plain(),
                "a.csv, column `a`: every value is missing; leave it out with --drop 'a'",
            ),
            (
                &*format!("x,b\n1,1\n{many}"),
                plain(),
                "a.csv, line 3, column `x`: `0.5` is a measurement, not a cluster label; if this is \
                 a table of features, `consilience run` was meant; if not, leave the column out \
                 with --drop 'x'",
            ),
            (
                "f:0,f:1\n0.5,0.5\n-0.5,1.5\n",
                plain(),
                "a.csv, line 3, clustering `f`: the membership in cluster `0` must be a number >= \
                 0, got -0.5",
            ),
            (
                "f:0,f:1\n0.5,0.5\n0.5,0.25\n",
                plain(),
                "a.csv, line 3, clustering `f`: memberships must sum to 1, they sum to 0.75; if \
                 `f:0` is a column of labels, rename it without the colon",
            ),
            (
                "f:0,f:1\n0.5,0.5\n1,\n",
                plain(),
                "a.csv, line 3, clustering `f`: the membership in cluster `1` is missing; fill it \
                 in, or empty all",
            ),
            (
                "f:0,f:1\n,\n,\n",
                plain(),
                "a.csv, column `f:0`: every value is missing; leave it out with --drop 'f:0'",
            ),
            (
                "f:0,f:1\n0.5,low\n",
                plain(),
                "a.csv, line 2, column `f:1`: `low` is not a number; correct it, or name the \
                 column by --id, --truth or --drop",
            ),
            (
                "id,a\nx,1\ny,2\nx,1\n",
                with_id(),
                "a.csv: `x` in column `id` stands in line 2 and again in line 4; identifiers must \
                 differ",
            ),
            ("a,b\n1,2\n", with_id(), "a.csv has no column `id` (--id); it has `a`, `b`"),
            (
                "a,a\n1,2\n",
                plain(),
                "a.csv: two columns are called `a` (the 1. and the 2.); rename one",
            ),
            (
                "a,b\n1,2\n",
                ReadOptions { drop: vec!["c".to_owned()], ..plain() },
                "a.csv has no column `c` (--drop); it has `a`, `b`",
            ),
        ];
        for (text, options, message) in cases {
            assert_eq!(read(&[("a.csv", text)], &options).unwrap_err(), message, "{text:?}");
        }
    }

    #[test]
    fn odd_columns_are_told_of() {
        let warnings = |text: &str| read(&[("a.csv", text)], &plain()).unwrap().warnings;
        assert_eq!(
            warnings("key,km\nw,1\nx,1\ny,2\nz,2\n"),
            ["a.csv, column `key`: every row has a label of its own, which looks like an \
              identifier; if it is one, give --id 'key' or --drop 'key'"]
        );
        assert_eq!(
            warnings("s,t\n1,a\n-1,b\n"),
            [
                "a.csv, column `s`: -1 is read as missing, which leaves one cluster (`1`); if -1 is a \
              cluster, rename it"
            ]
        );
        assert_eq!(
            warnings("s,t\n1,a\n,\n2,b\n,\n"),
            ["2 of 4 objects have no label at all and get none (the first: a.csv, line 3)"]
                .map(std::borrow::ToOwned::to_owned)
        );
    }

    #[test]
    fn whole_numbers_are_labels_even_when_written_as_fractions() {
        let table = read(&[("a.csv", "s\n1.0\n-1.0\n2.0\n\n1\n")], &plain()).unwrap();
        assert_eq!(member(&table, 0).1, [Some("1"), None, Some("2"), None, Some("1")]);
        // Text beside them makes them text.
        let table = read(&[("a.csv", "s\n0.5\nhigh\n-1\n")], &plain()).unwrap();
        assert_eq!(member(&table, 0).1, [Some("0.5"), Some("high"), Some("-1")]);
    }

    #[test]
    fn objects_without_weight_are_told_of_after_a_join() {
        let files = [("a.csv", "id,km,w\nx,0,1\n"), ("b.csv", "id,dm\ny,1\n")];
        let options = ReadOptions { weights: Some("w".to_owned()), ..with_id() };
        assert_eq!(
            read(&files, &options).unwrap_err(),
            "weights `w`: there is no weight for 1 of the objects, the first `y`; give every \
             object a weight"
        );
    }

    #[test]
    fn a_single_clustering_is_brought_into_the_order_of_the_objects() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("start.csv");
        fs::write(&path, "id,cluster,confidence\nq,9,1\ny,1,0.5\nx,0,0.5\n").unwrap();
        let ids: Ids = ["x", "y", "z"].into_iter().collect();
        let run = Run::new(0).threads(1);
        let start = read_labels(&path, Some(&ids), 3, &with_id(), &run).unwrap().hardened();
        assert_eq!(start.labels().iter().collect::<Vec<_>>(), [Some(0), Some(1), None]);
        assert_eq!(start.clusters(), ["0", "1"]);
        let others: Ids = ["u", "v"].into_iter().collect();
        let error = read_labels(&path, Some(&others), 2, &with_id(), &run).unwrap_err();
        assert!(error.to_string().contains("there is no row for 2 of the objects"), "{error}");
        let error = read_labels(&path, None, 2, &plain(), &run).unwrap_err();
        assert!(matches!(error, InputError::RowCounts { .. }), "{error}");
    }
}
