//! Objects of several files brought together by their identifiers.

use consilience::Matrix;
use consilience::ensemble::{Code, HardMember, Labels, Member, SoftMember};
use hashbrown::HashTable;

use super::error::{InputError, Result};
use super::table::{Column, Ids, Table, hash};
use crate::spelling::Setting;

/// Identifiers and the objects they stand for, numbered by first appearance.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) ids: Ids,
    table: HashTable<u32>,
}

impl Objects {
    /// Objects with these identifiers, which must differ; otherwise the first that is repeated, with
    /// the rows of both.
    pub(super) fn new(ids: Ids) -> Result<Self, (String, [usize; 2])> {
        let mut table = HashTable::with_capacity(ids.len());
        for i in 0..ids.len() {
            let id = ids.get(i);
            let hash = hash(id.as_bytes());
            if let Some(&first) = table.find(hash, |&j: &u32| ids.get(j as usize) == id) {
                return Err((id.to_owned(), [first as usize, i]));
            }
            let rehash = |&j: &u32| self::hash(ids.get(j as usize).as_bytes());
            table.insert_unique(hash, i as u32, rehash);
        }
        Ok(Objects { ids, table })
    }

    /// The object with this identifier.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let found = self.table.find(hash(id.as_bytes()), |&j| self.ids.get(j as usize) == id);
        found.map(|&j| j as usize)
    }

    /// Adds the objects that are not there yet.
    pub(super) fn extend(&mut self, ids: &Ids) {
        for id in ids.iter() {
            if self.find(id).is_none() {
                let code = self.ids.len() as u32;
                self.ids.push(id);
                let ids = &self.ids;
                let rehash = |&j: &u32| hash(ids.get(j as usize).as_bytes());
                self.table.insert_unique(hash(id.as_bytes()), code, rehash);
            }
        }
    }

    /// For each of `objects` its row here, if it has one.
    pub(super) fn rows_of(&self, objects: &Ids) -> Rows {
        // Files made by one program list their objects in one order.
        if self.ids == *objects {
            return Rows::Same;
        }
        Rows::Found(objects.iter().map(|id| self.find(id)).collect())
    }
}

/// Which row of a file each object stands in.
pub(super) enum Rows {
    /// Object `i` stands in row `i`.
    Same,
    /// Object `i` stands in this row, if in any.
    Found(Vec<Option<usize>>),
}

impl Rows {
    /// The clustering of the objects from the clustering of the rows; clusters are numbered anew by
    /// first appearance, so that none is empty.
    pub(super) fn member(&self, member: &HardMember) -> Result<HardMember> {
        fn gather<C: Code>(codes: &[C], rows: &[Option<usize>], renumber: &mut Renumber) -> Vec<C> {
            let code = |row: &Option<usize>| row.and_then(|i| codes[i].index());
            rows.iter().map(|row| code(row).map_or(C::MISSING, |c| renumber.code(c))).collect()
        }
        let Rows::Found(rows) = self else { return Ok(member.clone()) };
        let mut renumber = Renumber { new: vec![None; member.clusters().len()], order: Vec::new() };
        let labels = match member.labels() {
            Labels::U8(codes) => Labels::U8(gather(codes, rows, &mut renumber)),
            Labels::U16(codes) => Labels::U16(gather(codes, rows, &mut renumber)),
            Labels::U32(codes) => Labels::U32(gather(codes, rows, &mut renumber)),
        };
        let clusters = renumber.order.iter().map(|&c| member.clusters()[c].clone()).collect();
        Ok(HardMember::from_codes(member.name(), labels, clusters)?)
    }

    /// The same for hard and soft clusterings of the rows of a file; there are `n` objects.
    pub(super) fn aligned(&self, member: Member, n: usize) -> Result<Member> {
        Ok(match (member, self) {
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

    /// The row of object `i`.
    pub(super) fn of(&self, i: usize) -> Option<usize> {
        match self {
            Rows::Same => Some(i),
            Rows::Found(rows) => rows[i],
        }
    }
}

/// Which row of a file each object stands in; without identifiers, rows and objects go in step.
pub(super) fn rows_of(objects: Option<&Objects>, ids: Option<&Ids>) -> Rows {
    match (objects, ids) {
        (Some(objects), Some(ids)) => objects.rows_of(ids),
        _ => Rows::Same,
    }
}

/// A column that tells all rows of a file apart, and so whether another file, read side by side
/// with it, goes in step.
pub(super) struct Witness {
    pub(super) file: String,
    pub(super) name: String,
    pub(super) values: Ids,
}

impl Witness {
    /// Refuses a file whose column of this name says that its rows are of other objects.
    pub(super) fn compare(&self, file: &str, values: &Ids) -> Result<()> {
        let sorted = |ids: &Ids| -> Vec<String> {
            let mut ids: Vec<String> = ids.iter().map(str::to_owned).collect();
            ids.sort_unstable();
            ids
        };
        if self.values == *values {
            return Ok(());
        }
        let ours = sorted(values);
        // Numbers of rows may be counted from 0 or 1; a column with repeated values tells nothing.
        let counted = self.values.are_row_numbers() && ours != sorted(&self.values);
        if counted || ours.windows(2).any(|pair| pair[0] == pair[1]) {
            return Ok(());
        }
        Err(self.in_other_order(file, &self.name))
    }

    /// The refusal of a file whose rows are of other objects, or in another order, by this column.
    pub(super) fn in_other_order(&self, file: &str, column: &str) -> InputError {
        InputError::Unsupported {
            file: file.to_owned(),
            problem: format!(
                "its rows are of other objects than those of {}, or in another order, by column `{column}`",
                self.file
            ),
            hint: format!("give {} to join the files", Setting::IdIs(&self.name)),
        }
    }
}

/// New numbers for clusters, by first appearance.
struct Renumber {
    new: Vec<Option<usize>>,
    order: Vec<usize>,
}

impl Renumber {
    fn code<C: Code>(&mut self, old: usize) -> C {
        let new = *self.new[old].get_or_insert_with(|| {
            self.order.push(old);
            self.order.len() - 1
        });
        C::from_index(new)
    }
}

impl Table {
    /// Takes the column of identifiers out of the table: none may be missing, all must differ.
    pub(super) fn take_objects(&mut self, column: usize) -> Result<Objects> {
        let Column::Text(ids) = std::mem::replace(&mut self.columns[column], Column::Skipped)
        else {
            panic!("column {column} was read as text");
        };
        let (file, name) = (|| self.file.clone(), || self.names[column].clone());
        if let Some(row) = ids.iter().position(str::is_empty) {
            return Err(InputError::MissingId {
                file: file(),
                place: self.place(row),
                column: name(),
            });
        }
        Objects::new(ids).map_err(|(id, rows)| {
            let [first, second] = rows.map(|row| self.place(row));
            InputError::DuplicateId { file: file(), column: name(), id, first, second }
        })
    }
}
