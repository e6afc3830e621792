//! Which labels mean "no label".

use consilience::ensemble::{HardMember, LabelEncoder};
use pyo3::prelude::*;

/// The labels that mean "no label", besides `None`, NaN and the empty text.
#[derive(Clone, Default, FromPyObject)]
pub(crate) struct Missing {
    /// Among integers.
    #[pyo3(item)]
    integers: Vec<i128>,
    /// Among texts.
    #[pyo3(item)]
    texts: Vec<String>,
}

impl Missing {
    /// Those that a column of this type can hold.
    pub(crate) fn of_type<T: TryFrom<i128>>(&self) -> Vec<T> {
        self.integers.iter().filter_map(|&x| T::try_from(x).ok()).collect()
    }

    /// Those among texts only.
    pub(crate) fn of_texts(&self) -> Missing {
        Missing { integers: Vec::new(), texts: self.texts.clone() }
    }

    /// Appends a label given as text.
    pub(crate) fn push_text(&self, encoder: &mut LabelEncoder, text: &str) {
        if text.is_empty() || self.texts.iter().any(|missing| missing == text) {
            encoder.push_missing();
        } else {
            encoder.push_text(text);
        }
    }

    /// Appends a label given as an integer.
    pub(crate) fn push_integer(&self, encoder: &mut LabelEncoder, label: i64) {
        if self.integers.contains(&i128::from(label)) {
            encoder.push_missing();
        } else {
            encoder.push_integer(label);
        }
    }

    /// The member; texts that all spell integers are read as integers where −1 is concerned, as on
    /// the command line.
    pub(crate) fn finish(&self, encoder: LabelEncoder, name: &str) -> HardMember {
        if self.integers.contains(&-1) {
            encoder.finish_with_minus_one_missing(name)
        } else {
            encoder.finish(name)
        }
    }
}
