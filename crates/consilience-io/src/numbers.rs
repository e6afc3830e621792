//! The numbers of a table, in the precision that the file has them in: what was written in four
//! bytes a number takes no more when it is read.

use super::error::Result;

/// Numbers, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Double(Vec::new())
    }
}

impl Numbers {
    /// None yet, with room for `count`.
    pub(super) fn with_capacity(count: usize, single: bool) -> Self {
        if single {
            Numbers::Single(Vec::with_capacity(count))
        } else {
            Numbers::Double(Vec::with_capacity(count))
        }
    }

    /// This many zeros.
    pub(super) fn zeros(count: usize, single: bool) -> Self {
        if single { Numbers::Single(vec![0.0; count]) } else { Numbers::Double(vec![0.0; count]) }
    }

    /// How many bytes a number takes.
    pub(super) fn size(single: bool) -> usize {
        if single { size_of::<f32>() } else { size_of::<f64>() }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Numbers::Double(numbers) => numbers.len(),
            Numbers::Single(numbers) => numbers.len(),
        }
    }

    /// How many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.len() * Numbers::size(matches!(self, Numbers::Single(_)))
    }

    /// The number at a place.
    pub(super) fn get(&self, at: usize) -> f64 {
        match self {
            Numbers::Double(numbers) => numbers[at],
            Numbers::Single(numbers) => f64::from(numbers[at]),
        }
    }

    /// Sets the number at a place; what single precision is kept in must have come from it.
    pub(super) fn set(&mut self, at: usize, number: f64) {
        match self {
            Numbers::Double(numbers) => numbers[at] = number,
            Numbers::Single(numbers) => numbers[at] = number as f32,
        }
    }

    pub(super) fn truncate(&mut self, count: usize) {
        match self {
            Numbers::Double(numbers) => numbers.truncate(count),
            Numbers::Single(numbers) => numbers.truncate(count),
        }
    }

    pub(super) fn extend(&mut self, more: &[f64]) {
        match self {
            Numbers::Double(numbers) => numbers.extend_from_slice(more),
            Numbers::Single(numbers) => numbers.extend(more.iter().map(|&x| x as f32)),
        }
    }

    /// Adds what `write` puts to the end.
    pub(super) fn extend_by(
        &mut self,
        write: impl FnOnce(&mut Vec<f64>) -> Result<()>,
    ) -> Result<()> {
        if let Numbers::Double(numbers) = self {
            return write(numbers);
        }
        let mut more = Vec::new();
        write(&mut more)?;
        self.extend(&more);
        Ok(())
    }

    /// Makes those missing that have this value.
    pub(super) fn take_as_missing(&mut self, value: f64) {
        match self {
            Numbers::Double(numbers) => {
                numbers.iter_mut().filter(|x| **x == value).for_each(|x| *x = f64::NAN);
            }
            Numbers::Single(numbers) => {
                let same = numbers.iter_mut().filter(|x| f64::from(**x) == value);
                same.for_each(|x| *x = f32::NAN);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_precisions_hold_the_same() {
        for single in [false, true] {
            let mut numbers = Numbers::with_capacity(4, single);
            numbers.extend(&[1.0, 2.5]);
            let write = |to: &mut Vec<f64>| {
                to.extend([-9.0, 4.0]);
                Ok(())
            };
            numbers.extend_by(write).unwrap();
            numbers.set(3, 0.5);
            numbers.take_as_missing(-9.0);
            assert!(numbers.get(2).is_nan());
            assert_eq!([0, 1, 3].map(|i| numbers.get(i)), [1.0, 2.5, 0.5]);
            numbers.truncate(2);
            assert_eq!((numbers.len(), numbers.bytes()), (2, if single { 8 } else { 16 }));
            assert_eq!(Numbers::zeros(1, single).get(0), 0.0);
        }
    }
}
