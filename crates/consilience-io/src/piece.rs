//! Pieces of a table, read apart from one another and joined in order.

use std::borrow::Cow;

use consilience::Run;
use hashbrown::HashTable;
use rayon::prelude::*;

use super::error::Result;
use super::table::{Column, Ids, MISSING, Role, Table};

/// Some rows of a table.
pub(super) struct Piece<'a> {
    pub(super) rows: usize,
    /// The columns of labels, in their order.
    pub(super) labels: Vec<Coded<'a>>,
    /// The columns of numbers, row by row.
    pub(super) numbers: Vec<f64>,
    /// The columns of text, in their order.
    pub(super) texts: Vec<Ids>,
}

/// Labels as codes of their own list of names.
#[derive(Default)]
pub(super) struct Coded<'a> {
    pub(super) names: Vec<Cow<'a, str>>,
    /// A code a row, [`MISSING`] for none.
    pub(super) codes: Vec<u32>,
}

/// How many columns have this role.
pub(super) fn count(roles: &[Role], role: Role) -> usize {
    roles.iter().filter(|&&r| r == role).count()
}

impl Table {
    /// Appends pieces in their order.
    pub(super) fn append(&mut self, pieces: &[Piece<'_>], run: &Run) -> Result<()> {
        // The place of each column among those of its kind.
        let (mut labels, mut texts) = (0, 0);
        let columns = self.columns.iter_mut().map(|column| {
            let counter =
                if matches!(column, Column::Labels(_)) { &mut labels } else { &mut texts };
            let place = *counter;
            *counter += usize::from(matches!(column, Column::Labels(_) | Column::Text(_)));
            (place, column)
        });
        let columns: Vec<(usize, &mut Column)> = columns.collect();
        columns.into_par_iter().for_each(|(place, column)| match column {
            Column::Labels(labels) => {
                for piece in pieces {
                    labels.append(&piece.labels[place].names, &piece.labels[place].codes);
                }
            }
            Column::Text(texts) => {
                pieces.iter().for_each(|piece| texts.append(&piece.texts[place]));
            }
            Column::Number(_) | Column::Skipped => {}
        });
        for piece in pieces {
            self.numbers.extend(&piece.numbers);
            self.rows += piece.rows;
        }
        self.ask_memory(run)
    }
}

/// Gives integers codes by first appearance.
pub(super) struct IntegerCoder {
    values: Vec<i64>,
    table: HashTable<u32>,
    codes: Vec<u32>,
    /// Integers met lately, with their codes: columns of labels have few different ones.
    recent: Box<[(i64, u32); RECENT]>,
}

const RECENT: usize = 256;

impl IntegerCoder {
    pub(super) fn with_capacity(rows: usize) -> Self {
        IntegerCoder {
            values: Vec::new(),
            table: HashTable::new(),
            codes: Vec::with_capacity(rows),
            recent: Box::new([(0, MISSING); RECENT]),
        }
    }

    /// Appends a row.
    #[inline]
    pub(super) fn push(&mut self, value: i64) {
        let slot = value as usize % RECENT;
        if self.recent[slot].0 != value || self.recent[slot].1 == MISSING {
            self.recent[slot] = (value, self.code(value));
        }
        self.codes.push(self.recent[slot].1);
    }

    /// Appends a row without a label.
    #[inline]
    pub(super) fn push_missing(&mut self) {
        self.codes.push(MISSING);
    }

    fn code(&mut self, value: i64) -> u32 {
        let hash = |value: i64| {
            let mixed = (value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 32)
        };
        let values = &self.values;
        if let Some(&code) = self.table.find(hash(value), |&c| values[c as usize] == value) {
            return code;
        }
        let code = values.len() as u32;
        self.values.push(value);
        let values = &self.values;
        self.table.insert_unique(hash(value), code, |&c| hash(values[c as usize]));
        code
    }

    /// The rows, integers named by `name`.
    pub(super) fn finish(self, name: impl Fn(i64) -> String) -> Coded<'static> {
        let names = self.values.into_iter().map(|value| name(value).into()).collect();
        Coded { names, codes: self.codes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_share_a_slot_keep_their_codes() {
        let mut coder = IntegerCoder::with_capacity(0);
        for value in [0, 256, 0, -256, i64::MIN, 256] {
            coder.push(value);
        }
        coder.push_missing();
        let coded = coder.finish(|value| value.to_string());
        assert_eq!(coded.codes, [0, 1, 0, 2, 3, 1, MISSING]);
        assert_eq!(coded.names, ["0", "256", "-256", "-9223372036854775808"]);
    }
}
