//! A fitted member: what labels new objects.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::Serialize;

use crate::base::{Table, USpecEmbedding, memberships, nearest_centres};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;

/// What a member makes of the features.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// It takes them as they are.
    All,
    /// It takes these columns.
    Subset(Vec<usize>),
    /// It projects them on the columns of this matrix, one row a feature.
    Projection(Matrix),
}

impl Features {
    /// The table that the member sees.
    pub(super) fn of<'a>(&self, data: &'a Matrix, run: &Run) -> Result<Cow<'a, Matrix>> {
        Ok(match self {
            Features::All => Cow::Borrowed(data),
            Features::Subset(columns) => {
                let values = data.iter_rows().flat_map(|row| columns.iter().map(|&j| row[j]));
                let values = values.collect();
                Cow::Owned(Matrix::from_vec(data.nrows(), columns.len(), values))
            }
            Features::Projection(directions) => Cow::Owned(project(data, directions, run)?),
        })
    }
}

/// Rows of a projection between two looks at the cancel flag.
const ROWS: usize = 256;

/// The rows of `data` along the columns of `directions`.
fn project(data: &Matrix, directions: &Matrix, run: &Run) -> Result<Matrix> {
    let dimensions = directions.ncols();
    let mut projected = Matrix::zeros(data.nrows(), dimensions);
    let chunks = projected.as_mut_slice().par_chunks_mut(ROWS * dimensions).enumerate();
    chunks.try_for_each(|(chunk, rows)| {
        run.check()?;
        vectorised(
            #[inline(always)]
            || {
                for (i, into) in rows.chunks_exact_mut(dimensions).enumerate() {
                    for (x, direction) in
                        data.row(chunk * ROWS + i).iter().zip(directions.iter_rows())
                    {
                        into.iter_mut().zip(direction).for_each(|(sum, p)| *sum += x * p);
                    }
                }
            },
        );
        Ok(())
    })?;
    Ok(projected)
}

/// A fitted base clusterer: centres, in the features that the member saw or in coordinates that it
/// gives them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    /// What it makes of the features.
    pub features: Features,
    /// What gives the features coordinates, if the centres are in such.
    pub embedding: Option<USpecEmbedding>,
    /// The centres, one a row. Cluster `"j"` of the member is row `j`.
    pub centres: Matrix,
    /// The fuzzifier with which distances become memberships.
    pub fuzzifier: f64,
    /// How many features the table had that it was fitted to.
    pub n_features: usize,
}

impl Model {
    /// The cluster of every row: its nearest centre, the lowest index among equals.
    pub fn predict(&self, data: &Matrix, run: &Run) -> Result<Vec<u32>> {
        self.check(data)?;
        run.install(|| {
            let seen = self.features.of(data, run)?;
            self.labels_of(Table::from(&*seen), run)
        })
    }

    /// The memberships of every row, n × k.
    pub fn memberships(&self, data: &Matrix, run: &Run) -> Result<Matrix> {
        self.check(data)?;
        run.install(|| {
            let seen = self.features.of(data, run)?;
            self.memberships_of(Table::from(&*seen), run)
        })
    }

    /// The cluster of every row of a table that the member sees.
    pub(super) fn labels_of(&self, seen: Table<'_>, run: &Run) -> Result<Vec<u32>> {
        match &self.embedding {
            None => nearest_centres(seen, &self.centres, run),
            Some(embedding) => {
                let rows = embedding.of(seen, run)?;
                let rows = Table::new(seen.nrows(), embedding.width(), &rows);
                nearest_centres(rows, &self.centres, run)
            }
        }
    }

    /// The memberships of every row of a table that the member sees.
    pub(super) fn memberships_of(&self, seen: Table<'_>, run: &Run) -> Result<Matrix> {
        match &self.embedding {
            None => memberships(seen, &self.centres, self.fuzzifier, run),
            Some(embedding) => {
                let rows = embedding.of(seen, run)?;
                let rows = Table::new(seen.nrows(), embedding.width(), &rows);
                memberships(rows, &self.centres, self.fuzzifier, run)
            }
        }
    }

    fn check(&self, data: &Matrix) -> Result<()> {
        Table::from(data).check()?;
        if data.ncols() == self.n_features {
            return Ok(());
        }
        Err(Error::Length {
            what: "a row of the data".to_owned(),
            got: data.ncols(),
            expected_by: "a row of the table that the model was fitted to".to_owned(),
            expected: self.n_features,
        })
    }
}
