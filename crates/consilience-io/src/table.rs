//! A table as read from a file, before anybody asks what it means.

use consilience::Matrix;
use consilience::Run;
use consilience::ensemble::{Code, HardMember, Labels};
use hashbrown::HashTable;

use super::checksum::Fingerprint;
use super::error::{InputError, Place, Result};
use super::numbers::Numbers;
use crate::spelling::fewer_columns;

/// What a column is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Text that is kept, one string a row: identifiers.
    Text,
    /// Labels of clusters or classes.
    Labels,
    /// Numbers; missing ones become NaN.
    Numbers,
    /// Not read.
    Skip,
}

/// What a reader of files asks of those who know what a table means.
pub(super) trait Plan: Sync {
    /// What each column is read as.
    fn roles(&self, file: &str, names: &[String]) -> Result<Vec<Role>>;

    /// Looks at a table of which a part was read; fails if reading on is of no use.
    fn inspect(&self, _table: &Table) -> Result<()> {
        Ok(())
    }
}

/// One column as read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Column {
    Text(Ids),
    Labels(LabelColumn),
    /// The place among the columns of [`Table::numbers`].
    Number(usize),
    Skipped,
}

/// A table as read from a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// The file, as messages show it.
    pub(super) file: String,
    /// The columns' names, all different.
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Column>,
    /// All columns of numbers, row by row.
    pub(super) numbers: Numbers,
    pub(super) rows: usize,
    pub(super) places: Places,
    /// Whether the names are the file's own, not ours.
    pub(super) named: bool,
    pub(super) warnings: Vec<String>,
    /// Of the file, if all of it passed by while it was read.
    pub(super) fingerprint: Option<Fingerprint>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(file: &str, names: Vec<String>, roles: &[Role], places: Places) -> Self {
        let mut width = 0;
        let columns = roles.iter().map(|role| match role {
            Role::Text => Column::Text(Ids::default()),
            Role::Labels => Column::Labels(LabelColumn::default()),
            Role::Numbers => {
                width += 1;
                Column::Number(width - 1)
            }
            Role::Skip => Column::Skipped,
        });
        let columns = columns.collect();
        Table {
            file: file.to_owned(),
            names,
            columns,
            numbers: Numbers::default(),
            rows: 0,
            places,
            named: true,
            warnings: Vec::new(),
            fingerprint: None,
        }
    }

    /// How many columns of numbers there are.
    pub(super) fn width(&self) -> usize {
        self.columns.iter().filter(|column| matches!(column, Column::Number(_))).count()
    }

    /// Where a row stands in the file.
    pub(super) fn place(&self, row: usize) -> Place {
        self.places.of(row)
    }

    /// Keeps the first `rows` rows; labels and text in the rest must be missing.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.numbers.truncate(rows * self.width());
        self.rows = rows;
        for column in &mut self.columns {
            match column {
                Column::Text(text) => text.truncate(rows),
                Column::Labels(labels) => labels.truncate(rows),
                Column::Number(_) | Column::Skipped => {}
            }
        }
    }

    /// Fails if the table is larger than the run may be.
    pub(super) fn ask_memory(&self, run: &Run) -> Result<()> {
        let columns = self.columns.iter().map(|column| match column {
            Column::Text(text) => text.bytes(),
            Column::Labels(labels) => labels.bytes(),
            Column::Number(_) | Column::Skipped => 0,
        });
        let bytes = columns.sum::<usize>() + self.numbers.bytes();
        let what = format!("{} (so far {} rows)", self.file, self.rows);
        run.ask_memory(&what, bytes as u64, &fewer_columns())?;
        Ok(())
    }

    /// Reads labels and numbers of this spelling as missing, where the file has numbers and not
    /// text.
    pub(super) fn take_as_missing(&mut self, spelling: &str) {
        for column in &mut self.columns {
            if let Column::Labels(labels) = column {
                labels.take_as_missing(spelling);
            }
        }
        if let Ok(value) = spelling.parse::<f64>() {
            self.numbers.take_as_missing(value);
        }
    }

    /// Takes a column of labels out of the table.
    pub(super) fn take_labels(&mut self, column: usize) -> LabelColumn {
        match std::mem::replace(&mut self.columns[column], Column::Skipped) {
            Column::Labels(labels) => labels,
            other => panic!("column {column} was read as labels, not {other:?}"),
        }
    }

    /// Copies columns of numbers out of the table.
    pub(super) fn matrix(&self, columns: &[usize]) -> Matrix {
        let place = |&column: &usize| match self.columns[column] {
            Column::Number(place) => place,
            _ => panic!("column {column} was read as numbers"),
        };
        let places: Vec<usize> = columns.iter().map(place).collect();
        let width = self.width();
        Matrix::from_fn(self.rows, places.len(), |i, j| self.numbers.get(i * width + places[j]))
    }

    /// Copies a column of numbers out of the table.
    pub(super) fn numbers_of(&self, column: usize) -> Vec<f64> {
        let Column::Number(place) = self.columns[column] else {
            panic!("column {column} was read as numbers");
        };
        (0..self.rows).map(|i| self.numbers.get(i * self.width() + place)).collect()
    }
}

/// Fails if two columns have one name.
pub(super) fn check_names(file: &str, names: &[String]) -> Result<()> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&j| &names[j]);
    let twice = order.windows(2).filter(|pair| names[pair[0]] == names[pair[1]]);
    match twice.min_by_key(|pair| pair[1]) {
        None => Ok(()),
        Some(pair) => Err(InputError::DuplicateColumn {
            file: file.to_owned(),
            name: names[pair[0]].clone(),
            first: pair[0] + 1,
            second: pair[1] + 1,
        }),
    }
}

/// From rows to places in the file.
///
/// In text, rows and lines go in step but for blank lines and line breaks inside quotes, so the
/// map is a list of the rows where the difference changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// The file has rows.
    Rows,
    /// The file has lines: from row `.0` on, row `i` stands in line `i - .0 + .1`.
    Lines(Vec<(usize, usize)>),
    /// These are rows of a larger table, by their number there.
    Listed(Vec<usize>),
}

impl Places {
    /// Where a row stands.
    pub(super) fn of(&self, row: usize) -> Place {
        match self {
            Places::Rows => Place::Row(row),
            Places::Listed(rows) => Place::Row(rows.get(row).copied().unwrap_or(row)),
            Places::Lines(jumps) => {
                let jump = jumps.partition_point(|&(from, _)| from <= row);
                let (from, line) = jumps[..jump].last().copied().unwrap_or((0, 1));
                Place::Line(row - from + line)
            }
        }
    }

    /// Says that `row` stands in `line`; rows come in order.
    pub(super) fn note(&mut self, row: usize, line: usize) {
        if let Places::Lines(jumps) = self {
            let expected = jumps.last().map(|&(from, at)| row - from + at);
            if expected != Some(line) {
                jumps.push((row, line));
            }
        }
    }
}

/// A column of strings in one piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    text: String,
    ends: Vec<usize>,
}

impl Ids {
    /// Appends a string.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string at `i`.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.text[start..self.ends[i]]
    }

    /// The strings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Whether they are 0, 1, 2, ..., as objects without identifiers are called in results.
    pub fn are_row_numbers(&self) -> bool {
        self.iter().enumerate().all(|(i, id)| id.parse() == Ok(i))
    }

    /// Appends all strings of another column.
    pub(super) fn append(&mut self, other: &Ids) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    /// Keeps the first `len` strings.
    pub(super) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// How many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Ids {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut ids = Ids::default();
        strings.into_iter().for_each(|id| ids.push(id.as_ref()));
        ids
    }
}

/// A column of labels: codes in order of first appearance, and the label of every code.
#[derive(Clone, Debug)]
pub(super) struct LabelColumn {
    pub(super) names: Names,
    pub(super) labels: Labels,
}

/// The code of a missing label among codes that are still to be merged.
pub(super) const MISSING: u32 = u32::MAX;

impl Default for LabelColumn {
    fn default() -> Self {
        LabelColumn { names: Names::default(), labels: Labels::with_capacity(0, 0) }
    }
}

impl PartialEq for LabelColumn {
    fn eq(&self, other: &Self) -> bool {
        self.names.list == other.names.list && self.labels == other.labels
    }
}

impl LabelColumn {
    /// Appends rows given as codes of a list of names of their own ([`MISSING`] for none).
    pub(super) fn append<S: AsRef<str>>(&mut self, names: &[S], codes: &[u32]) {
        fn extend<C: Code>(labels: &mut Vec<C>, global: &[u32], codes: &[u32]) {
            let mut table: Vec<C> = global.iter().map(|&c| C::from_index(c as usize)).collect();
            table.push(C::MISSING);
            let last = global.len();
            labels.extend(codes.iter().map(|&c| table[(c as usize).min(last)]));
        }
        let global: Vec<u32> = names.iter().map(|name| self.names.code(name.as_ref())).collect();
        self.widen();
        match &mut self.labels {
            Labels::U8(labels) => extend(labels, &global, codes),
            Labels::U16(labels) => extend(labels, &global, codes),
            Labels::U32(labels) => extend(labels, &global, codes),
        }
    }

    /// Makes the codes as wide as the names need.
    fn widen(&mut self) {
        let n = self.names.list.len();
        let fits = match &self.labels {
            Labels::U8(_) => n <= u8::CAPACITY,
            Labels::U16(_) => n <= u16::CAPACITY,
            Labels::U32(_) => true,
        };
        if !fits {
            let old = self.labels.iter().collect::<Vec<_>>();
            self.labels = Labels::from_indices(n, old.into_iter());
        }
    }

    /// Keeps the first `len` rows; the rest must be missing.
    pub(super) fn truncate(&mut self, len: usize) {
        match &mut self.labels {
            Labels::U8(labels) => labels.truncate(len),
            Labels::U16(labels) => labels.truncate(len),
            Labels::U32(labels) => labels.truncate(len),
        }
    }

    /// The first row with this code.
    pub(super) fn first_row(&self, code: usize) -> Option<usize> {
        self.labels.iter().position(|c| c == Some(code))
    }

    /// Gives the codes new meanings: code `c` becomes `to[c]` (`None` is missing), and the names
    /// become `names`.
    pub(super) fn rename(&mut self, to: &[Option<u32>], names: Vec<String>) {
        let renamed = self.labels.iter().map(|c| c.and_then(|c| to[c]).map(|c| c as usize));
        let renamed: Vec<_> = renamed.collect();
        self.labels = Labels::from_indices(names.len(), renamed.into_iter());
        self.names = names.into_iter().collect();
    }

    /// Makes the label of this name missing; returns whether there was one.
    pub(super) fn take_as_missing(&mut self, name: &str) -> bool {
        let names = &self.names.list;
        let Some(gone) = names.iter().position(|other| other == name) else { return false };
        let code = |c: usize| (c != gone).then(|| (c - usize::from(c > gone)) as u32);
        let to: Vec<Option<u32>> = (0..names.len()).map(code).collect();
        let mut names = names.clone();
        names.remove(gone);
        self.rename(&to, names);
        true
    }

    /// How many bytes of memory it takes, names aside.
    pub(super) fn bytes(&self) -> usize {
        self.labels.bytes()
    }

    /// The clustering.
    pub(super) fn finish(self, name: String) -> Result<HardMember> {
        Ok(HardMember::from_codes(name, self.labels, self.names.list)?)
    }
}

/// Different names, numbered by first appearance.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) list: Vec<String>,
    codes: HashTable<u32>,
}

impl Names {
    /// The code of a name, a new one if it was not there.
    pub(super) fn code(&mut self, name: &str) -> u32 {
        let list = &self.list;
        let hash = hash(name.as_bytes());
        if let Some(&code) = self.codes.find(hash, |&code| list[code as usize] == name) {
            return code;
        }
        let code = list.len() as u32;
        self.list.push(name.to_owned());
        let list = &self.list;
        let rehash = |&code: &u32| self::hash(list[code as usize].as_bytes());
        self.codes.insert_unique(hash, code, rehash);
        code
    }
}

impl FromIterator<String> for Names {
    fn from_iter<I: IntoIterator<Item = String>>(list: I) -> Self {
        let mut names = Names::default();
        for name in list {
            names.code(&name);
        }
        names
    }
}

/// A quick hash of short strings, eight bytes at a time; only speed depends on it, never a result.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = bytes.len() as u64;
    let mut step = |word: u64| {
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    };
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        step(u64::from_le_bytes(word.try_into().expect("chunks of eight")));
    }
    let mut rest = [0; 8];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    step(u64::from_le_bytes(rest));
    // The table reads the top seven bits and the bottom ones.
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_several_pieces_are_those_of_the_whole() {
        let mut column = LabelColumn::default();
        column.append(&["b", "a"], &[0, 1, MISSING, 0]);
        column.append(&["c", "b"], &[0, 0, 1]);
        assert_eq!(column.names.list, ["b", "a", "c"]);
        let codes: Vec<_> = column.labels.iter().collect();
        assert_eq!(codes, [Some(0), Some(1), None, Some(0), Some(2), Some(2), Some(0)]);
    }

    #[test]
    fn codes_widen_without_losing_what_was_there() {
        let mut column = LabelColumn::default();
        column.append(&["x"], &[0, MISSING]);
        let names: Vec<String> = (0..70_000).map(|i| i.to_string()).collect();
        for n in [300, 70_000] {
            let codes: Vec<u32> = (0..n as u32).collect();
            column.append(&names[..n], &codes);
        }
        assert!(matches!(column.labels, Labels::U32(_)));
        let expected: Vec<Option<usize>> =
            [Some(0), None].into_iter().chain((1..=300).map(Some)).collect();
        assert_eq!(column.labels.iter().take(302).collect::<Vec<_>>(), expected);
        assert_eq!(column.labels.get(302 + 69_999), Some(70_000));
    }

    #[test]
    fn places_follow_jumps_of_lines() {
        let mut places = Places::Lines(vec![]);
        for (row, line) in [(0, 2), (1, 3), (2, 7), (3, 8)] {
            places.note(row, line);
        }
        assert_eq!(places, Places::Lines(vec![(0, 2), (2, 7)]));
        let lines: Vec<_> = (0..5).map(|row| places.of(row)).collect();
        assert_eq!(lines, [2, 3, 7, 8, 9].map(Place::Line));
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let names = ["a", "b", "b", "a"].map(str::to_owned);
        assert_eq!(
            check_names("t.csv", &names).unwrap_err().to_string(),
            "t.csv: two columns are called `b` (the 2. and the 3.); rename one"
        );
    }

    #[test]
    fn identifiers_share_one_piece_of_memory() {
        let mut ids: Ids = ["ab", "", "c"].into_iter().collect();
        ids.append(&["d"].into_iter().collect());
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ab", "", "c", "d"]);
        ids.truncate(2);
        assert_eq!(ids.iter().collect::<Vec<_>>(), ["ab", ""]);
    }
}
