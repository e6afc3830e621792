//! A fitted member: what labels new objects.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::Serialize;

use crate::base::{
    Float, SparseMatrix, Table, USpecEmbedding, memberships, memberships_sparse, nearest_centres,
    nearest_centres_sparse,
};
use crate::error::{Error, Result};
use crate::generate::data::{Data, Seen};
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
    /// The table that the member sees. A projection is dense and in double precision.
    pub(super) fn of<'a>(&self, data: Data<'a>, run: &Run) -> Result<Seen<'a>> {
        Ok(match (self, data) {
            (Features::All, Data::Dense(data)) => Seen::Dense(Cow::Borrowed(data)),
            (Features::All, Data::Single(data)) => {
                Seen::Single { columns: data.ncols(), values: Cow::Borrowed(data.as_slice()) }
            }
            (Features::All, Data::Sparse(data)) => Seen::Sparse(Cow::Borrowed(data)),
            (Features::Subset(columns), Data::Dense(data)) => {
                let values = Table::from(data).select_columns(columns);
                Seen::Dense(Cow::Owned(Matrix::from_vec(data.nrows(), columns.len(), values)))
            }
            (Features::Subset(columns), Data::Single(data)) => {
                let values = Cow::Owned(data.select_columns(columns));
                Seen::Single { columns: columns.len(), values }
            }
            (Features::Subset(columns), Data::Sparse(data)) => {
                Seen::Sparse(Cow::Owned(data.select_columns(columns)))
            }
            (Features::Projection(directions), Data::Dense(data)) => {
                Seen::Dense(Cow::Owned(project(Table::from(data), directions, run)?))
            }
            (Features::Projection(directions), Data::Single(data)) => {
                Seen::Dense(Cow::Owned(project(data, directions, run)?))
            }
            (Features::Projection(directions), Data::Sparse(data)) => {
                Seen::Dense(Cow::Owned(project_sparse(data, directions, run)?))
            }
        })
    }
}

/// Rows of a projection between two looks at the cancel flag.
const ROWS: usize = 256;

/// The rows of `data` along the columns of `directions`.
fn project<T: Float>(data: Table<'_, T>, directions: &Matrix, run: &Run) -> Result<Matrix> {
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
                        let x = x.to_f64();
                        into.iter_mut().zip(direction).for_each(|(sum, p)| *sum += x * p);
                    }
                }
            },
        );
        Ok(())
    })?;
    Ok(projected)
}

/// The rows of a sparse table along the columns of `directions`.
fn project_sparse(data: &SparseMatrix, directions: &Matrix, run: &Run) -> Result<Matrix> {
    let dimensions = directions.ncols();
    let mut projected = Matrix::zeros(data.nrows(), dimensions);
    let chunks = projected.as_mut_slice().par_chunks_mut(ROWS * dimensions).enumerate();
    chunks.try_for_each(|(chunk, rows)| {
        run.check()?;
        for (i, into) in rows.chunks_exact_mut(dimensions).enumerate() {
            let (columns, values) = data.row(chunk * ROWS + i);
            for (&j, x) in columns.iter().zip(values) {
                let direction = directions.row(j as usize);
                into.iter_mut().zip(direction).for_each(|(sum, p)| *sum += x * p);
            }
        }
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
    /// The centres, one per row. Cluster `"j"` of the member is row `j`.
    pub centres: Matrix,
    /// The fuzzifier with which distances become memberships.
    pub fuzzifier: f64,
    /// How many features the table had that it was fitted to.
    pub n_features: usize,
}

impl Model {
    /// The cluster of every row: its nearest centre, the lowest index among equals.
    pub fn predict<'a>(&self, data: impl Into<Data<'a>>, run: &Run) -> Result<Vec<u32>> {
        let data = data.into();
        self.check(data)?;
        run.install(|| self.labels_of(self.features.of(data, run)?.data(), run))
    }

    /// The memberships of every row, n × k.
    pub fn memberships<'a>(&self, data: impl Into<Data<'a>>, run: &Run) -> Result<Matrix> {
        let data = data.into();
        self.check(data)?;
        run.install(|| self.memberships_of(self.features.of(data, run)?.data(), run))
    }

    /// The cluster of every row of a table that the member sees.
    pub(super) fn labels_of(&self, seen: Data<'_>, run: &Run) -> Result<Vec<u32>> {
        match seen {
            Data::Dense(seen) => self.labels_in(Table::from(seen), run),
            Data::Single(seen) => self.labels_in(seen, run),
            Data::Sparse(seen) if self.embedding.is_none() => {
                nearest_centres_sparse(seen, &self.centres, run)
            }
            Data::Sparse(_) => Err(needs_dense("embedded")),
        }
    }

    fn labels_in<T: Float>(&self, seen: Table<'_, T>, run: &Run) -> Result<Vec<u32>> {
        let Some(embedding) = &self.embedding else {
            return nearest_centres(seen, &self.centres, run);
        };
        let rows = embedding.of(seen, run)?;
        nearest_centres(Table::new(seen.nrows(), embedding.width(), &rows), &self.centres, run)
    }

    /// The memberships of every row of a table that the member sees.
    pub(super) fn memberships_of(&self, seen: Data<'_>, run: &Run) -> Result<Matrix> {
        match seen {
            Data::Dense(seen) => self.memberships_in(Table::from(seen), run),
            Data::Single(seen) => self.memberships_in(seen, run),
            Data::Sparse(seen) if self.embedding.is_none() => {
                memberships_sparse(seen, &self.centres, self.fuzzifier, run)
            }
            Data::Sparse(_) => Err(needs_dense("embedded")),
        }
    }

    fn memberships_in<T: Float>(&self, seen: Table<'_, T>, run: &Run) -> Result<Matrix> {
        let m = self.fuzzifier;
        let Some(embedding) = &self.embedding else {
            return memberships(seen, &self.centres, m, run);
        };
        let rows = embedding.of(seen, run)?;
        memberships(Table::new(seen.nrows(), embedding.width(), &rows), &self.centres, m, run)
    }

    fn check(&self, data: Data<'_>) -> Result<()> {
        data.check()?;
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

/// The error where only a dense table will do.
pub(super) fn needs_dense(what: &str) -> Error {
    Error::parameter(
        "base",
        "kmeans or minibatch-kmeans, which alone work on sparse tables, unless scheme \
         random-projection makes them dense",
        what,
    )
}
