//! Scaling of columns before clustering.

use serde::Serialize;

use crate::base::sparse_matrix::SparseMatrix;
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// How columns are brought to one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Mean 0 and standard deviation 1.
    ZScore,
    /// Least value 0 and largest 1.
    MinMax,
    /// As they are.
    None,
}

/// All scalings, by the name that the command line uses, with what they do.
pub const SCALINGS: &[(&str, Scaling, &str)] = &[
    ("zscore", Scaling::ZScore, "columns get mean 0 and standard deviation 1"),
    ("minmax", Scaling::MinMax, "columns are stretched to [0, 1]"),
    ("none", Scaling::None, "columns stay as they are"),
];

impl std::str::FromStr for Scaling {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = SCALINGS.iter().find(|(n, _, _)| *n == name);
        let names = || SCALINGS.iter().map(|(n, _, _)| *n);
        found.map(|(_, s, _)| *s).ok_or_else(|| Error::unknown_name("scaling", name, names()))
    }
}

/// A scaling fitted to a table: $x_j \mapsto (x_j - \text{shift}_j) \cdot \text{factor}_j$.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Scaler {
    shift: Vec<f64>,
    factor: Vec<f64>,
}

impl Scaler {
    /// Fits `scaling` to the columns of `data`.
    ///
    /// # Errors
    ///
    /// If the table is empty or a value is not finite.
    pub(crate) fn fit<'a, T: Float>(
        data: impl Into<Table<'a, T>>,
        scaling: Scaling,
    ) -> Result<Self> {
        let data = data.into();
        data.check()?;
        let (n, d) = (data.nrows() as f64, data.ncols());
        let rows = || (0..data.nrows()).map(|i| data.row(i));
        let mut low: Vec<f64> = data.row(0).iter().map(|x| x.to_f64()).collect();
        let mut high = low.clone();
        let mut mean = vec![0.0; d];
        for row in rows() {
            for j in 0..d {
                let x = row[j].to_f64();
                low[j] = low[j].min(x);
                high[j] = high[j].max(x);
                mean[j] += x / n;
            }
        }
        let constant: Vec<usize> = (0..d).filter(|&j| low[j] == high[j]).collect();
        let (shift, mut factor) = match scaling {
            Scaling::None => (vec![0.0; d], vec![1.0; d]),
            Scaling::MinMax => {
                let factor = low.iter().zip(&high).map(|(l, h)| 1.0 / (h - l)).collect();
                (low, factor)
            }
            Scaling::ZScore => {
                let mut variance = vec![0.0; d];
                for row in rows() {
                    for j in 0..d {
                        let from_mean = row[j].to_f64() - mean[j];
                        variance[j] += from_mean * from_mean / n;
                    }
                }
                (mean, variance.iter().map(|v| 1.0 / v.sqrt()).collect())
            }
        };
        if scaling != Scaling::None {
            constant.iter().for_each(|&j| factor[j] = 0.0);
        }
        Ok(Scaler { shift, factor })
    }

    /// Fits `scaling` to the columns of a sparse table, without the shift: zeros are to stay zeros, and
    /// clusterings by distance do not depend on it.
    ///
    /// # Errors
    ///
    /// If the table is empty or a value is not finite.
    pub(crate) fn fit_sparse(data: &SparseMatrix, scaling: Scaling) -> Result<Self> {
        data.check()?;
        let (n, d) = (data.nrows(), data.ncols());
        let mut present = vec![0usize; d];
        let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
        let mut mean = vec![0.0; d];
        let each = |visit: &mut dyn FnMut(usize, f64)| {
            for i in 0..n {
                let (columns, values) = data.row(i);
                columns.iter().zip(values).for_each(|(&j, &x)| visit(j as usize, x));
            }
        };
        each(&mut |j, x| {
            present[j] += 1;
            low[j] = low[j].min(x);
            high[j] = high[j].max(x);
            mean[j] += x / n as f64;
        });
        for j in (0..d).filter(|&j| present[j] < n) {
            (low[j], high[j]) = (low[j].min(0.0), high[j].max(0.0));
        }
        let constant: Vec<usize> = (0..d).filter(|&j| low[j] == high[j]).collect();
        let mut factor: Vec<f64> = match scaling {
            Scaling::None => vec![1.0; d],
            Scaling::MinMax => low.iter().zip(&high).map(|(l, h)| 1.0 / (h - l)).collect(),
            Scaling::ZScore => {
                let absent = |j: usize| (n - present[j]) as f64 / n as f64;
                let mut variance: Vec<f64> =
                    (0..d).map(|j| absent(j) * mean[j] * mean[j]).collect();
                each(&mut |j, x| variance[j] += (x - mean[j]) * (x - mean[j]) / n as f64);
                variance.iter().map(|v| 1.0 / v.sqrt()).collect()
            }
        };
        if scaling != Scaling::None {
            constant.iter().for_each(|&j| factor[j] = 0.0);
        }
        Ok(Scaler { shift: vec![0.0; d], factor })
    }

    /// The scaled sparse table, not shifted.
    ///
    /// # Errors
    ///
    /// If `data` has another number of columns than the table the scaling was fitted to.
    pub(crate) fn apply_sparse(&self, data: &SparseMatrix) -> Result<SparseMatrix> {
        self.check_width(data.ncols())?;
        Ok(data.scaled(&self.factor))
    }

    /// The scaled table, in double precision: rounded to single it would be another.
    ///
    /// # Errors
    ///
    /// If `data` has another number of columns than the table the scaling was fitted to.
    pub(crate) fn apply<'a, T: Float>(&self, data: impl Into<Table<'a, T>>) -> Result<Matrix> {
        let data = data.into();
        self.check_width(data.ncols())?;
        let mut scaled = data.to_matrix();
        for row in scaled.as_mut_slice().chunks_exact_mut(self.shift.len()) {
            for ((x, shift), factor) in row.iter_mut().zip(&self.shift).zip(&self.factor) {
                *x = (*x - shift) * factor;
            }
        }
        Ok(scaled)
    }

    fn check_width(&self, columns: usize) -> Result<()> {
        if columns == self.shift.len() {
            return Ok(());
        }
        Err(Error::Length {
            what: "a row of the data".to_owned(),
            got: columns,
            expected_by: "the scaling".to_owned(),
            expected: self.shift.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(scaling: Scaling) -> Vec<f64> {
        let data = Matrix::from_vec(2, 3, vec![1.0, 0.1, -2.0, 3.0, 0.1, 6.0]);
        let scaler = Scaler::fit(&data, scaling).unwrap();
        scaler.apply(&data).unwrap().into_vec()
    }

    #[test]
    fn columns_are_scaled_and_constant_ones_become_zero() {
        assert_eq!(scaled(Scaling::ZScore), [-1.0, 0.0, -1.0, 1.0, 0.0, 1.0]);
        assert_eq!(scaled(Scaling::MinMax), [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(scaled(Scaling::None), [1.0, 0.1, -2.0, 3.0, 0.1, 6.0]);
    }

    #[test]
    fn names_are_read_and_others_refused() {
        assert_eq!("minmax".parse(), Ok(Scaling::MinMax));
        assert_eq!(
            "robust".parse::<Scaling>().unwrap_err().to_string(),
            "there is no scaling `robust`; there are zscore, minmax, none"
        );
    }

    #[test]
    fn a_table_of_another_width_is_refused() {
        let scaler = Scaler::fit(&Matrix::zeros(2, 3), Scaling::ZScore).unwrap();
        assert!(scaler.apply(&Matrix::zeros(2, 2)).is_err());
    }

    proptest::proptest! {
        /// Differences of rows, which are all that clusterings see, are those of the table written
        /// out, but for rounding.
        #[test]
        fn sparse_tables_are_scaled_alike_but_for_a_shift(
            values in proptest::collection::vec(
                proptest::prop_oneof![proptest::prelude::Just(0.0), -3.0..3.0], 12
            ),
        ) {
            let dense = Matrix::from_vec(4, 3, values);
            let sparse = SparseMatrix::from_dense(&dense);
            for (_, scaling, _) in SCALINGS {
                let scaler = Scaler::fit(&dense, *scaling).unwrap();
                let of_sparse = Scaler::fit_sparse(&sparse, *scaling).unwrap();
                let expected = scaler.apply(&dense).unwrap();
                let found = of_sparse.apply_sparse(&sparse).unwrap().to_dense();
                for i in 0..4 {
                    for j in 0..3 {
                        let expected = expected[(i, j)] - expected[(0, j)];
                        let found = found[(i, j)] - found[(0, j)];
                        proptest::prop_assert!((expected - found).abs() < 1e-9);
                    }
                }
            }
        }
    }
}
