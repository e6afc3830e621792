//! What is written: columns of cells that are made one at a time.
//!
//! A result about millions of objects is written without building a second copy of it, so a column
//! borrows what the computation left and says how a cell comes from it.

use std::borrow::Cow;
use std::ops::Range;

use crate::Ids;
use consilience::Matrix;
use consilience::ensemble::{HardMember, NO_PROFILE};

/// The cells of a column, one per row.
#[derive(Clone, Debug)]
pub enum Cells<'a> {
    /// The numbers of this many rows, from 0.
    Rows(usize),
    /// Identifiers.
    Ids(&'a Ids),
    /// Any text.
    Text(Cow<'a, [String]>),
    /// Integers.
    Integers(Cow<'a, [i64]>),
    /// Clusters by number; `None` is an empty cell.
    Clusters(&'a [Option<u32>]),
    /// Clusters by name; missing labels are empty cells.
    Labels(&'a HardMember),
    /// Numbers; NaN is an empty cell.
    Numbers(Cow<'a, [f64]>),
    /// A column of a matrix; NaN is an empty cell.
    Column(&'a Matrix, usize),
    /// A column of memberships: the row is empty where it is zero in all columns.
    Membership(&'a Matrix, usize),
    /// A column of a matrix about profiles, told of objects; the third part is the profile of
    /// every object, [`NO_PROFILE`] for an empty cell.
    Expanded(&'a Matrix, usize, &'a [u32]),
    /// How sure objects' labels are: of an object with a label what `confidence` says of its profile.
    Sure {
        /// How sure the label of every profile is.
        confidence: &'a [f64],
        /// The profile of every object.
        map: &'a [u32],
        /// The label of every object.
        labels: &'a [Option<u32>],
    },
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Empty,
    Text(&'a str),
    Integer(i64),
    Number(f64),
}

impl Cells<'_> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Cells::Rows(n) => *n,
            Cells::Ids(ids) => ids.len(),
            Cells::Text(cells) => cells.len(),
            Cells::Integers(cells) => cells.len(),
            Cells::Clusters(cells) => cells.len(),
            Cells::Labels(member) => member.labels().len(),
            Cells::Numbers(cells) => cells.len(),
            Cells::Column(matrix, _) | Cells::Membership(matrix, _) => matrix.nrows(),
            Cells::Expanded(_, _, map) | Cells::Sure { map, .. } => map.len(),
        }
    }

    /// The cell in row `i`.
    pub(super) fn get(&self, i: usize) -> Cell<'_> {
        let number = |x: f64| if x.is_nan() { Cell::Empty } else { Cell::Number(x) };
        match self {
            Cells::Rows(_) => Cell::Integer(i as i64),
            Cells::Ids(ids) => Cell::Text(ids.get(i)),
            Cells::Text(cells) => Cell::Text(&cells[i]),
            Cells::Integers(cells) => Cell::Integer(cells[i]),
            Cells::Clusters(cells) => cells[i].map_or(Cell::Empty, |c| Cell::Integer(c.into())),
            Cells::Labels(member) => match member.labels().get(i) {
                Some(c) => Cell::Text(&member.clusters()[c]),
                None => Cell::Empty,
            },
            Cells::Numbers(cells) => number(cells[i]),
            Cells::Column(matrix, j) => number(matrix[(i, *j)]),
            Cells::Membership(matrix, j) => {
                let row = matrix.row(i);
                if row.iter().all(|&m| m == 0.0) { Cell::Empty } else { number(row[*j]) }
            }
            Cells::Expanded(matrix, j, map) => match map[i] {
                NO_PROFILE => Cell::Empty,
                s => number(matrix[(s as usize, *j)]),
            },
            Cells::Sure { confidence, map, labels } => match (labels[i], map[i]) {
                (None, _) | (_, NO_PROFILE) => Cell::Empty,
                (Some(_), s) => number(confidence[s as usize]),
            },
        }
    }
}

/// A named column.
pub type NamedCells<'a> = (String, Cells<'a>);

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integers,
    Numbers,
}

impl Cells<'_> {
    /// What the column holds; labels that are all integers are integers.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Cells::Ids(_) | Cells::Text(_) => Kind::Text,
            Cells::Labels(member) => match names_as_integers(member) {
                Some(_) => Kind::Integers,
                None => Kind::Text,
            },
            Cells::Rows(_) | Cells::Integers(_) | Cells::Clusters(_) => Kind::Integers,
            Cells::Numbers(_)
            | Cells::Column(..)
            | Cells::Membership(..)
            | Cells::Expanded(..)
            | Cells::Sure { .. } => Kind::Numbers,
        }
    }

    /// Rows of a column of integers, `None` for empty cells.
    pub(super) fn integers(&self, rows: Range<usize>) -> Vec<Option<i64>> {
        if let Cells::Labels(member) = self {
            let names = names_as_integers(member).expect("asked of columns of integers only");
            return rows.map(|i| member.labels().get(i).map(|c| names[c])).collect();
        }
        // What there may be very many of, without asking cell by cell what it is.
        match self {
            Cells::Rows(_) => return rows.map(|i| Some(i as i64)).collect(),
            Cells::Clusters(cells) => {
                return cells[rows].iter().map(|cell| cell.map(i64::from)).collect();
            }
            _ => {}
        }
        let integer = |i| match self.get(i) {
            Cell::Integer(value) => Some(value),
            _ => None,
        };
        rows.map(integer).collect()
    }

    /// Rows of a column of integers or numbers, NaN for empty cells.
    pub(super) fn numbers(&self, rows: Range<usize>) -> Vec<f64> {
        if self.kind() == Kind::Integers {
            let integers = self.integers(rows).into_iter();
            return integers.map(|value| value.map_or(f64::NAN, |value| value as f64)).collect();
        }
        let number = |i| match self.get(i) {
            Cell::Number(value) => value,
            _ => f64::NAN,
        };
        rows.map(number).collect()
    }
}

/// The names of a member's clusters as integers, if every name is what its integer is written as.
fn names_as_integers(member: &HardMember) -> Option<Vec<i64>> {
    let integer = |name: &String| name.parse::<i64>().ok().filter(|i| i.to_string() == *name);
    member.clusters().iter().map(integer).collect()
}
