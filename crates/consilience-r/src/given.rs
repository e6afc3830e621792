//! What R gives: a list of arguments, taken apart with an error for whatever is not as it should be.
//!
//! The R part of the package coerces before it calls, so these errors are for our own mistakes.

use std::collections::BTreeMap;

use consilience::Matrix;
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};

/// The arguments of a routine by name.
pub(crate) struct Given(BTreeMap<String, Robj>);

impl Given {
    pub(crate) fn new(list: &List) -> Self {
        Given(list.iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// An argument that must be there.
    fn get(&self, name: &str) -> Outcome<&Robj> {
        self.some(name).ok_or_else(|| wrong(name, "given"))
    }

    /// An argument, unless it is `NULL` or left out.
    pub(crate) fn some(&self, name: &str) -> Option<&Robj> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, name: &str) -> Outcome<String> {
        self.get(name)?.as_str().map(str::to_owned).ok_or_else(|| wrong(name, "a text"))
    }

    pub(crate) fn some_text(&self, name: &str) -> Outcome<Option<String>> {
        self.some(name).map(|_| self.text(name)).transpose()
    }

    pub(crate) fn texts(&self, name: &str) -> Outcome<Vec<String>> {
        texts(self.get(name)?).ok_or_else(|| wrong(name, "texts"))
    }

    pub(crate) fn some_texts(&self, name: &str) -> Outcome<Option<Vec<String>>> {
        self.some(name).map(|_| self.texts(name)).transpose()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.some(name).and_then(Robj::as_bool).unwrap_or(false)
    }

    /// A whole number that is not negative; R has those beyond 2³¹ as doubles.
    pub(crate) fn whole(&self, name: &str) -> Outcome<u64> {
        let value = self.get(name)?;
        let number = value.as_real().or_else(|| value.as_integer().map(f64::from));
        let number = number.filter(|x| *x >= 0.0 && x.fract() == 0.0 && *x < 2f64.powi(63));
        number.map(|x| x as u64).ok_or_else(|| wrong(name, "a whole number"))
    }

    pub(crate) fn some_whole(&self, name: &str) -> Outcome<Option<u64>> {
        self.some(name).map(|_| self.whole(name)).transpose()
    }

    /// The smaller and the larger of two whole numbers.
    pub(crate) fn span(&self, name: &str) -> Outcome<Option<(usize, usize)>> {
        let Some(value) = self.some(name) else { return Ok(None) };
        match value.as_integer_slice() {
            Some(&[least, most]) if least >= 0 && most >= 0 => {
                Ok(Some((least as usize, most as usize)))
            }
            _ => Err(wrong(name, "two whole numbers")),
        }
    }

    pub(crate) fn integers(&self, name: &str) -> Outcome<&[i32]> {
        self.get(name)?.as_integer_slice().ok_or_else(|| wrong(name, "integers"))
    }

    pub(crate) fn numbers(&self, name: &str) -> Outcome<&[f64]> {
        self.get(name)?.as_real_slice().ok_or_else(|| wrong(name, "numbers"))
    }

    pub(crate) fn some_numbers(&self, name: &str) -> Outcome<Option<Vec<f64>>> {
        self.some(name).map(|_| self.numbers(name).map(<[f64]>::to_vec)).transpose()
    }

    pub(crate) fn matrix(&self, name: &str) -> Outcome<Matrix> {
        matrix(self.get(name)?).ok_or_else(|| wrong(name, "a matrix of numbers"))
    }

    pub(crate) fn some_matrix(&self, name: &str) -> Outcome<Option<Matrix>> {
        self.some(name).map(|_| self.matrix(name)).transpose()
    }

    /// A list of lists.
    pub(crate) fn lists(&self, name: &str) -> Outcome<Vec<Given>> {
        let list = self.get(name)?.as_list().ok_or_else(|| wrong(name, "a list"))?;
        let each = |item: Robj| item.as_list().map(|list| Given::new(&list));
        list.values().map(|item| each(item).ok_or_else(|| wrong(name, "lists"))).collect()
    }

    /// A list of matrices.
    pub(crate) fn matrices(&self, name: &str) -> Outcome<Vec<Matrix>> {
        let list = self.get(name)?.as_list().ok_or_else(|| wrong(name, "a list"))?;
        list.values().map(|item| matrix(&item).ok_or_else(|| wrong(name, "matrices"))).collect()
    }

    /// A list with names.
    pub(crate) fn list(&self, name: &str) -> Outcome<Given> {
        let list = self.get(name)?.as_list().ok_or_else(|| wrong(name, "a list"))?;
        Ok(Given::new(&list))
    }
}

fn wrong(name: &str, wanted: &str) -> Failure {
    Failure::argument(format!("`{name}` must be {wanted}"))
}

fn texts(value: &Robj) -> Option<Vec<String>> {
    value.as_str_iter().map(|texts| texts.map(str::to_owned).collect())
}

/// A matrix, which R stores by columns.
fn matrix(value: &Robj) -> Option<Matrix> {
    let values = value.as_real_slice()?;
    let shape = value.dim()?;
    let mut shape = shape.iter().map(|extent| extent.0 as usize);
    let (rows, columns) = (shape.next()?, shape.next()?);
    (rows * columns == values.len())
        .then(|| Matrix::from_fn(rows, columns, |i, j| values[j * rows + i]))
}

/// A place that R counts from 1; nothing where it says `NA`.
pub(crate) fn place(number: i32) -> Option<usize> {
    usize::try_from(number).ok()?.checked_sub(1)
}
