//! Tables of clusterings: what is to be combined.

use std::path::{Path, PathBuf};

use consilience::Run;
use consilience::ensemble::{Code, HardMember, Labels, Member};
use consilience::words::{count, counted};

use super::beside::{Known, check_weights, read_truth, read_weights};
use super::columns::{self, Named, no_column};
use super::error::{InputError, Result, listed};
use super::join::{Objects, Rows, Witness, rows_of};
use super::members::{label_role, members, refuse_measurements, soft_member};
use super::table::{Column, Ids, Plan, Role, Table};
use super::{Format, ReadOptions, read_table};
use crate::spelling::Setting;

/// Clusterings of the same objects, from one file or several.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusteringTable {
    /// The objects' identifiers, if a column of them was named.
    pub ids: Option<Ids>,
    /// The clusterings, in the order of the files and their columns.
    pub members: Vec<Member>,
    /// The objects' weights, if they were given.
    pub weights: Option<Vec<f64>>,
    /// The known classes, if they were given.
    pub truth: Option<HardMember>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Reads clusterings from one file or several.
///
/// Several files are joined on `options.id`, or stand side by side if there is none.
pub fn read_clusterings(
    paths: &[PathBuf],
    options: &ReadOptions,
    run: &Run,
) -> Result<ClusteringTable> {
    let as_written = options.as_written();
    let mut parts = Vec::with_capacity(paths.len());
    for path in paths {
        let saved = options.saved.as_ref() == Some(path);
        let options = if saved { &as_written } else { options };
        let plan = Clusterings { options, several: paths.len() > 1 };
        parts.push(Part::read(path, options, &plan, run)?);
    }
    check_drop(options, &parts)?;

    let mut objects = None;
    let all_have = parts.iter().all(|part| part.objects.is_some());
    // A consensus of objects without identifiers numbers them, which says nothing but their order.
    let numbered = |part: &Part| part.objects.as_ref().is_some_and(|o| o.ids.are_row_numbers());
    if all_have && (options.id.is_some() || !parts.iter().all(numbered)) {
        refuse_strangers(&parts)?;
        let mut all = Objects::default();
        parts.iter().filter_map(|part| part.objects.as_ref()).for_each(|o| all.extend(&o.ids));
        objects = Some(all);
    } else if let Some(odd) = parts.iter().find(|part| part.table.rows != parts[0].table.rows) {
        return Err(InputError::RowCounts {
            first: parts[0].table.file.clone(),
            first_rows: parts[0].table.rows,
            second: odd.table.file.clone(),
            second_rows: odd.table.rows,
        });
    }
    let witnesses: Vec<Witness> = match &objects {
        Some(_) => Vec::new(),
        None => parts.iter().flat_map(Part::witnesses).collect(),
    };
    for (i, witness) in witnesses.iter().enumerate() {
        let mut earlier = witnesses[..i].iter();
        if let Some(earlier) = earlier.find(|earlier| earlier.name == witness.name) {
            earlier.compare(&witness.file, &witness.values)?;
        }
    }
    let ids = objects.map(|objects| objects.ids);
    let n = ids.as_ref().map_or_else(|| parts.first().map_or(0, |p| p.table.rows), Ids::len);

    let mut warnings = Vec::new();
    let mut members = Vec::new();
    let (mut truth, mut weights) = (None, None);
    for part in &mut parts {
        warnings.append(&mut part.table.warnings);
        let rows = rows_of(part.objects.as_ref(), ids.as_ref());
        warnings.extend(ids.as_ref().and_then(|ids| absent(&part.table.file, &rows, ids)));
        for member in std::mem::take(&mut part.members) {
            members.push((part.stem.clone(), rows.aligned(member, n)?));
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
    if let Some(name) = &options.truth
        && truth.is_none()
    {
        let (path, column) = match file_and_column(name) {
            Some((path, column)) => (path, Some(column)),
            None => (file_of(Setting::Truth, name, &known)?, None),
        };
        let known = Known { ids: ids.as_ref(), n, witnesses: &witnesses };
        let (found, warning) = read_truth(&path, column, &known, options, run)?;
        truth = Some(found);
        warnings.extend(warning);
    }
    if let Some(name) = &options.weights {
        match &weights {
            None => {
                let path = file_of(Setting::Weights, name, &known)?;
                weights = Some(read_weights(&path, ids.as_ref(), n, options, run)?);
            }
            Some(weights) => check_weights(name, weights, ids.as_ref())?,
        }
    }
    let members = distinct_names(members);
    warn_unlabelled(&members, ids.as_ref(), &parts, &mut warnings);
    Ok(ClusteringTable { ids, members, weights, truth, warnings })
}

/// Refuses to join a file that has no object in common with any other.
fn refuse_strangers(parts: &[Part]) -> Result<()> {
    let known = |part: &Part, id: &str| part.objects.as_ref().is_some_and(|o| o.find(id).is_some());
    for (i, part) in parts.iter().enumerate().skip(1) {
        let mut others = parts[..i].iter().chain(&parts[i + 1..]);
        let ids = part.objects.as_ref().map(|objects| &objects.ids);
        let shares = |other: &Part| ids.is_some_and(|ids| ids.iter().any(|id| known(other, id)));
        if !others.any(shares) {
            return Err(InputError::Unsupported {
                file: part.table.file.clone(),
                problem: format!(
                    "none of its {} is in {}",
                    counted(part.table.rows, "identifier"),
                    if parts.len() == 2 { &parts[0].table.file } else { "another file" }
                ),
                hint: "check that the files identify objects in the same way (spaces, prefixes, \
                       leading zeros)"
                    .to_owned(),
            });
        }
    }
    Ok(())
}

/// Says which objects a file has not.
fn absent(file: &str, rows: &Rows, ids: &Ids) -> Option<String> {
    let absent: Vec<&str> =
        (0..ids.len()).filter(|&i| rows.of(i).is_none()).map(|i| ids.get(i)).collect();
    (!absent.is_empty()).then(|| {
        format!(
            "{file}: {} of {} {} missing there: {}",
            count(absent.len()),
            counted(ids.len(), "object"),
            if absent.len() == 1 {
                "is not in it and counts as"
            } else {
                "are not in it and count as"
            },
            listed(&absent)
        )
    })
}

/// The file that an option names, as it is none of the columns that are known.
pub(super) fn file_of(option: Setting<'static>, name: &str, known: &[&String]) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    if path.exists() {
        return Ok(path);
    }
    let known = known.iter().map(|&name| name.clone()).collect();
    Err(InputError::ColumnOrFile { option, name: name.to_owned(), known })
}

/// A file and one of its columns, written `FILE:COLUMN`; `None` if it is not that.
pub(super) fn file_and_column(name: &str) -> Option<(PathBuf, &str)> {
    let (file, column) = name.rsplit_once(':')?;
    (!Path::new(name).exists() && Path::new(file).is_file()).then(|| (file.into(), column))
}

/// The roles of the columns of the only table there is.
pub(super) fn roles(file: &str, names: &[String], options: &ReadOptions) -> Result<Vec<Role>> {
    Clusterings { options, several: false }.roles(file, names)
}

/// One file of clusterings.
pub(super) struct Part {
    pub(super) table: Table,
    stem: String,
    pub(super) objects: Option<Objects>,
    pub(super) members: Vec<Member>,
    truth: Option<HardMember>,
    weights: Option<Vec<f64>>,
}

impl Part {
    pub(super) fn read(
        path: &Path,
        options: &ReadOptions,
        plan: &dyn Plan,
        run: &Run,
    ) -> Result<Self> {
        let read = read_table(path, options, plan, run);
        let stem = path.file_name().map_or("stdin".into(), |name| name.to_string_lossy());
        let stem = stem.split('.').next().unwrap_or_default().to_owned();
        if let (Err(InputError::MeantRun { .. }), Some(Format::Npy)) = (&read, Format::of(path))
            && let Some(part) = Self::read_memberships(path, options, &stem, run)
        {
            return Ok(part);
        }
        let mut table = read?;
        let named = Named::in_clusterings(options, &table.names);
        let objects = named.id.map(|column| table.take_objects(column)).transpose()?;
        let truth = named.truth.map(|column| columns::labels(&mut table, column, options));
        let truth = truth.transpose()?;
        let weights = named.weights.map(|column| columns::weights(&table, column)).transpose()?;
        let members = members(&mut table, &named, &stem, options)?;
        Ok(Part { table, stem, objects, members, truth, weights })
    }

    /// The columns that tell all rows apart.
    fn witnesses(&self) -> impl Iterator<Item = Witness> {
        let of = |name: &str, values| Witness {
            file: self.table.file.clone(),
            name: name.to_owned(),
            values,
        };
        let tells_apart = |member: &&Member| {
            matches!(member, Member::Hard(_))
                && member.clusters().len() == member.n_objects()
                && member.n_objects() > 3
        };
        let members = self.members.iter().filter(tells_apart);
        // Clusters are in the order of the rows where each row has its own.
        let members = members.map(move |m| of(m.name(), m.clusters().iter().collect()));
        self.objects.iter().map(move |objects| of("id", objects.ids.clone())).chain(members)
    }

    /// An array has no names of the form `NAME:CLUSTER`: it is one soft clustering if its rows say
    /// so.
    fn read_memberships(path: &Path, options: &ReadOptions, stem: &str, run: &Run) -> Option<Part> {
        let mut table = read_table(path, options, &Memberships, run).ok()?;
        let columns: Vec<usize> = (0..table.names.len()).collect();
        for (j, name) in table.names.iter_mut().enumerate() {
            *name = format!("{stem}:{j}");
        }
        let member = soft_member(&mut table, &columns, stem).ok()?;
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
        let named = Named::in_clusterings(self.options, names);
        if let (Some(id), None) = (&self.options.id, named.id) {
            return Err(no_column(Setting::Id, id, file, names));
        }
        if !self.several
            && let Some(name) =
                self.options.dropped(names).find(|name| !names.iter().any(|n| n == name))
        {
            return Err(no_column(Setting::Drop, name, file, names));
        }
        if !(0..names.len()).any(|j| named.is_data(j)) {
            return Err(InputError::NoColumns { file: file.to_owned() });
        }
        Ok(named.roles(names.len(), |j| label_role(names, j)))
    }

    fn inspect(&self, table: &Table) -> Result<()> {
        let named = Named::in_clusterings(self.options, &table.names);
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

/// Every column to leave out must be in some file.
fn check_drop(options: &ReadOptions, parts: &[Part]) -> Result<()> {
    let known: Vec<String> = parts.iter().flat_map(|part| part.table.names.clone()).collect();
    match options.dropped(&known).find(|name| !known.iter().any(|n| n == name)) {
        None => Ok(()),
        Some(name) => {
            Err(InputError::NothingToDrop { name: name.to_owned(), known: known.clone() })
        }
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

/// Which objects some clustering labels.
pub(super) fn labelled(members: &[Member]) -> Vec<bool> {
    fn mark<C: Code>(codes: &[C], labelled: &mut [bool]) {
        labelled.iter_mut().zip(codes).for_each(|(l, code)| *l |= *code != C::MISSING);
    }
    let mut labelled = vec![false; members.first().map_or(0, Member::n_objects)];
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
    labelled
}

/// What is said of objects without any label.
pub(super) fn without_label(without: usize, n: usize, first: &str) -> String {
    let has =
        if without == 1 { "has no label at all and gets" } else { "have no label at all and get" };
    format!("{} of {} {has} none (the first: {first})", count(without), counted(n, "object"))
}

/// Warns of objects that no clustering labels.
fn warn_unlabelled(
    members: &[Member],
    ids: Option<&Ids>,
    parts: &[Part],
    warnings: &mut Vec<String>,
) {
    let labelled = labelled(members);
    let n = labelled.len();
    let Some(first) = labelled.iter().position(|&l| !l) else { return };
    let without = labelled.iter().filter(|&&l| !l).count();
    let first = match ids {
        Some(ids) => format!("`{}`", ids.get(first)),
        None => format!("{}, {}", parts[0].table.file, parts[0].table.place(first)),
    };
    warnings.push(without_label(without, n, &first));
}

#[cfg(test)]
mod tests;
