//! Clusterings whose rows are spread over Parquet files, or stand in one: read without holding all
//! labels.
//!
//! Files pass by in waves of rows, and only the distinct label tuples stay ([`BlockMerge`]); a row keeps
//! four bytes, its weight and its identifier, if there are such. When the tuples become too many for
//! their share of the memory they go to disk ([`spill`]). What comes out is what
//! [`read_clusterings`](super::read_clusterings) makes of one file of all rows, to the last bit.

mod files;
mod spill;
mod stream;

use consilience::Run;
use consilience::ensemble::{
    BlockMerge, Code, Distinct, Ensemble, HardMember, Labels, Member, NO_PROFILE, Profiles,
};
use rayon::prelude::*;

pub use self::files::{RowFiles, row_files};
use self::spill::Spill;
use self::stream::Stream;
use super::ReadOptions;
use super::beside::read_weights;
use super::clusterings::{ClusteringTable, file_of, labelled, roles, without_label};
use super::columns::Named;
use super::error::{InputError, Place, Result};
use super::join::Objects;
use super::members::members;
use super::table::{Column, Ids, LabelColumn, Places, Role, Table};
use crate::spelling::{Setting, fewer_columns};

/// Labels in a wave: enough that the tuples pass through the caches seldom, and little memory.
const WAVE: usize = 1 << 24;
/// The share of the memory ceiling that tuples may take before they go to disk.
const SHARE: u64 = 4;

/// Clusterings that were read without keeping all labels.
#[derive(Debug)]
pub struct RowsTable {
    /// The objects' identifiers, if a column of them was named.
    pub ids: Option<Ids>,
    /// The clusterings, one object a distinct label tuple.
    pub tuples: Ensemble,
    /// The objects' weights, if they were given.
    pub weights: Option<Vec<f64>>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Whether tuples went to disk.
    pub spilled: bool,
    /// The tuple of every row, [`NO_PROFILE`] for none.
    map: Vec<u32>,
}

impl RowsTable {
    /// How many rows there are.
    pub fn n_objects(&self) -> usize {
        self.map.len()
    }

    /// The profiles of all rows, and what else was read.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn into_profiles(self, run: &Run) -> Result<(Profiles, RowsBeside)> {
        let RowsTable { ids, tuples, weights, mut map, .. } = self;
        let profiles = Profiles::new(&tuples, run)?;
        // Tuples that differ only by how a label is spelt are one profile.
        let of_tuple = profiles.map().to_vec();
        run.install(|| {
            map.par_iter_mut().for_each(|place| {
                *place = of_tuple.get(*place as usize).copied().unwrap_or(NO_PROFILE);
            });
        });
        let profiles = profiles.of_objects(map, weights.as_deref())?;
        Ok((profiles, RowsBeside { ids, tuples, weights }))
    }

    /// All labels of all rows, as reading one file of them would give.
    ///
    /// # Errors
    ///
    /// If they would take more than the memory ceiling.
    pub fn into_clusterings(self, run: &Run) -> Result<ClusteringTable> {
        fn expanded<C: Code>(codes: &[C], map: &[u32]) -> Vec<C> {
            let code = |&t: &u32| codes.get(t as usize).copied().unwrap_or(C::MISSING);
            map.par_iter().map(code).collect()
        }
        let RowsTable { ids, tuples, weights, warnings, map, .. } = self;
        let tuples: Vec<HardMember> = tuples.members().iter().map(Member::hardened).collect();
        let bytes = |member: &HardMember| match member.labels() {
            Labels::U8(_) => 1,
            Labels::U16(_) => 2,
            Labels::U32(_) => 4,
        };
        let per_row: u64 = tuples.iter().map(bytes).sum();
        run.ask_memory(
            &format!("all labels of {} rows", map.len()),
            per_row * map.len() as u64,
            &format!(
                "raise {}, or leave out what needs all labels (saved members, the report, several \
                 methods)",
                Setting::Memory
            ),
        )?;
        let member = |member: HardMember| -> Result<Member> {
            let labels = run.install(|| match member.labels() {
                Labels::U8(codes) => Labels::U8(expanded(codes, &map)),
                Labels::U16(codes) => Labels::U16(expanded(codes, &map)),
                Labels::U32(codes) => Labels::U32(expanded(codes, &map)),
            });
            let clusters = member.clusters().to_vec();
            Ok(HardMember::from_codes(member.name(), labels, clusters)?.into())
        };
        let members = tuples.into_iter().map(member).collect::<Result<_>>()?;
        Ok(ClusteringTable { ids, members, weights, truth: None, warnings })
    }
}

/// What was read beside the profiles.
#[derive(Debug)]
pub struct RowsBeside {
    /// The objects' identifiers.
    pub ids: Option<Ids>,
    /// The clusterings, one object a distinct label tuple.
    pub tuples: Ensemble,
    /// The objects' weights.
    pub weights: Option<Vec<f64>>,
}

/// Reads clusterings whose rows are in these files, in their order.
///
/// # Errors
///
/// As [`read_clusterings`](super::read_clusterings), if the files differ in their columns, or if
/// temporary files fail.
pub fn read_rows(files: &RowFiles, options: &ReadOptions, run: &Run) -> Result<RowsTable> {
    let room = run.memory_ceiling() / SHARE;
    read_within(files, options, room, WAVE, run)
}

/// The same, with this many bytes of tuples in memory and this many labels at a time.
fn read_within(
    files: &RowFiles,
    options: &ReadOptions,
    room: u64,
    wave: usize,
    run: &Run,
) -> Result<RowsTable> {
    let layout = Layout::new(files, options)?;
    let n = files.rows();
    if n == 0 {
        return Err(InputError::Empty { file: files.shown() });
    }
    let per_row = if layout.named.weights.is_some() { 12 } else { 4 };
    let what = format!("{} ({n} rows)", files.shown());
    run.ask_memory(&what, per_row * n as u64, &format!("raise {}", Setting::Memory))?;

    let mut streams = layout.streams(files, options);
    let mut merge = BlockMerge::new(layout.labels.len(), n);
    let mut spill: Option<Spill> = None;
    let wave = (wave / layout.labels.len()).max(1);
    while merge.n_objects() < n {
        run.tick("reading", merge.n_objects() as u64, Some(n as u64))?;
        let filled = run.install(|| {
            let filled = streams.par_iter_mut().map(|stream| stream.fill(wave, run));
            filled.collect::<Vec<Result<()>>>()
        });
        filled.into_iter().collect::<Result<()>>()?;
        let labels: Vec<&LabelColumn> = streams.iter().filter_map(Stream::labels).collect();
        let codes: Vec<&Labels> = labels.iter().map(|column| &column.labels).collect();
        let clusters: Vec<usize> = labels.iter().map(|column| column.names.list.len()).collect();
        merge.update(&codes, &clusters, run)?;
        streams.iter_mut().for_each(Stream::forget_labels);
        if let Some(spill) = &mut spill {
            merge.hand_out(|part, rows| spill.write(part, rows))?;
        }
        if merge.bytes() as u64 > room {
            merge.put_outside();
            let spill = spill.get_or_insert_with(Spill::default);
            merge.hand_out(|part, rows| spill.write(part, rows))?;
        }
    }
    let spilled = spill.is_some();
    let distinct = match spill {
        None => merge.finish(run)?,
        Some(mut spill) => {
            let words = merge.words();
            merge.finish_with(|part, take| spill.read(part, words, take, run), run)?
        }
    };
    layout.finish(files, streams, distinct, options, spilled, run)
}

/// What the columns of all files are.
struct Layout {
    names: Vec<String>,
    named: Named,
    roles: Vec<Role>,
    /// The columns of labels.
    labels: Vec<usize>,
}

impl Layout {
    fn new(files: &RowFiles, options: &ReadOptions) -> Result<Self> {
        let first = &files.list[0];
        let names = first.names();
        let roles = roles(&first.file, &names, options)?;
        let named = Named::in_clusterings(options, &names);
        let soft = |&j: &usize| named.is_data(j) && roles[j] == Role::Numbers;
        if let Some(soft) = (0..names.len()).find(soft) {
            return Err(InputError::Unsupported {
                file: first.file.clone(),
                problem: format!(
                    "column `{}` holds memberships, which are read from one file only",
                    names[soft]
                ),
                hint: format!(
                    "put the rows into one file, or leave it out with {}",
                    Setting::DropThis(&names[soft])
                ),
            });
        }
        let hard = |&j: &usize| named.is_data(j) && roles[j] == Role::Labels;
        let labels: Vec<usize> = (0..names.len()).filter(hard).collect();
        if labels.is_empty() {
            return Err(InputError::NoColumns { file: first.file.clone() });
        }
        files.list.iter().try_for_each(|file| file.check_columns(first))?;
        Ok(Layout { names, named, roles, labels })
    }

    /// A reader for every column that is read.
    fn streams<'a>(&self, files: &'a RowFiles, options: &'a ReadOptions) -> Vec<Stream<'a>> {
        let read = self.labels.iter().copied().chain(self.named.id).chain(self.named.weights);
        read.map(|j| Stream::new(files, &self.names[j], self.roles[j], options)).collect()
    }

    /// Gives the labels the meaning that they have in one file.
    fn finish(
        &self,
        files: &RowFiles,
        streams: Vec<Stream<'_>>,
        distinct: Distinct,
        options: &ReadOptions,
        spilled: bool,
        run: &Run,
    ) -> Result<RowsTable> {
        let Distinct { columns, map, first } = distinct;
        let (n, u) = (map.len(), first.len());
        let bytes: usize = columns.iter().map(Labels::bytes).sum();
        // The profiles are a second copy, and have weights.
        let needed = 2 * bytes as u64 + 16 * u as u64 + 4 * n as u64;
        let what = format!("{} ({u} distinct rows of {n})", files.shown());
        run.ask_memory(&what, needed, &fewer_columns())?;

        let mut roles = vec![Role::Skip; self.names.len()];
        self.labels.iter().for_each(|&j| roles[j] = Role::Labels);
        let first = first.into_iter().map(|row| row as usize).collect();
        let places = Places::Listed(first);
        let mut table = Table::new(&files.shown(), self.names.clone(), &roles, places);
        table.rows = n;
        let (mut ids, mut weights) = (None, None);
        let mut columns = columns.into_iter().zip(&self.labels);
        for stream in streams {
            match stream.column {
                Column::Labels(LabelColumn { names, .. }) => {
                    let (labels, &j) = columns.next().expect("a column of tuples a stream");
                    table.columns[j] = Column::Labels(LabelColumn { names, labels });
                }
                Column::Text(texts) => ids = Some(files.distinct_ids(texts, stream.name)?),
                Column::Number(_) => weights = Some(stream.numbers),
                Column::Skipped => {}
            }
        }
        options.missing.iter().for_each(|spelling| table.take_as_missing(spelling));
        let members = members(&mut table, &self.named, &files.stem(), options);
        let members = members.map_err(|error| files.located(error))?;
        let mut warnings = table.warnings;
        warnings.extend(unlabelled(&members, &map, ids.as_ref(), files));
        if let (Some(name), None) = (&options.weights, &weights) {
            let path = file_of(Setting::Weights, name, &self.names.iter().collect::<Vec<_>>())?;
            weights = Some(read_weights(&path, ids.as_ref(), n, options, run)?);
        }
        let tuples = Ensemble::new(members)?;
        Ok(RowsTable { ids, tuples, weights, warnings, spilled, map })
    }
}

/// Warns of rows that no clustering labels.
fn unlabelled(
    members: &[Member],
    map: &[u32],
    ids: Option<&Ids>,
    files: &RowFiles,
) -> Option<String> {
    let labelled = labelled(members);
    let blank = |&t: &u32| !labelled.get(t as usize).copied().unwrap_or(false);
    let first = map.iter().position(blank)?;
    let without = map.iter().filter(|t| blank(t)).count();
    let first = if let Some(ids) = ids {
        format!("`{}`", ids.get(first))
    } else {
        let (file, row) = files.place(first);
        format!("{file}, {}", Place::Row(row))
    };
    Some(without_label(without, map.len(), &first))
}

impl RowFiles {
    /// Identifiers of all rows, which must differ.
    fn distinct_ids(&self, ids: Ids, column: &str) -> Result<Ids> {
        let objects = Objects::new(ids).map_err(|(id, rows)| {
            let [(file, first), (other, second)] = rows.map(|row| self.place(row));
            let (first, second) = (Place::Row(first), Place::Row(second));
            let column = column.to_owned();
            if file == other {
                let file = file.to_owned();
                return InputError::DuplicateId { file, column, id, first, second };
            }
            let files = Box::new([file.to_owned(), other.to_owned()]);
            InputError::RepeatedId { column, id, files, rows: [first, second] }
        })?;
        Ok(objects.ids)
    }

    /// An error about a row of the whole table, told of the file that it stands in.
    fn located(&self, error: InputError) -> InputError {
        match error {
            InputError::MeantRun { place: Place::Row(row), column, value, .. } => {
                let (file, row) = self.place(row);
                let (file, place) = (file.to_owned(), Place::Row(row));
                InputError::MeantRun { file, place, column, value }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
