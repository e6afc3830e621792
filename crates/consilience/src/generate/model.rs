//! A fitted member: what labels new objects.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Serialize, Serializer};

use crate::base::{
    Float, GmmModel, NearestRow, SparseMatrix, Table, USpecEmbedding, memberships,
    memberships_sparse, nearest_centres, nearest_centres_sparse,
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

/// The label of a row that is in no cluster.
pub const NO_CLUSTER: u32 = u32::MAX;

/// What labels rows as a fitted base clusterer does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitted {
    /// The nearest centre, the lowest index among equals.
    Centres {
        /// The centres, one per row.
        centres: Matrix,
        /// The fuzzifier with which distances become memberships.
        fuzzifier: f64,
    },
    /// The nearest centre in the coordinates that an embedding gives a row.
    Embedded {
        /// What gives features coordinates.
        embedding: USpecEmbedding,
        /// The centres, one per row.
        centres: Matrix,
        /// The fuzzifier with which distances become memberships.
        fuzzifier: f64,
    },
    /// The component of largest membership.
    Mixture(GmmModel),
    /// The cluster of the nearest row of those that were clustered.
    Nearest {
        /// The rows that were clustered, which several models may share.
        #[serde(serialize_with = "shared")]
        rows: Arc<KnownRows>,
        /// The cluster of each, or [`NO_CLUSTER`].
        labels: Vec<u32>,
    },
}

impl Fitted {
    /// Nearest centres, with the usual fuzzifier 2: hard clusterers have none of their own.
    pub(super) fn centres(centres: Matrix) -> Self {
        Fitted::Centres { centres, fuzzifier: 2.0 }
    }

    /// The rows of a table with their labels.
    pub(super) fn nearest<T: Float>(data: Table<'_, T>, labels: &[u32], run: &Run) -> Result<Self> {
        let rows = Arc::new(KnownRows::new(data.to_matrix(), run)?);
        Ok(Fitted::Nearest { rows, labels: labels.to_vec() })
    }

    /// The number of clusters.
    fn k(&self) -> usize {
        match self {
            Fitted::Centres { centres, .. } | Fitted::Embedded { centres, .. } => centres.nrows(),
            Fitted::Mixture(mixture) => mixture.k(),
            Fitted::Nearest { labels, .. } => {
                let last = labels.iter().filter(|&&cluster| cluster != NO_CLUSTER).max();
                last.map_or(0, |&last| last as usize + 1)
            }
        }
    }

    fn predict<T: Float>(&self, seen: Table<'_, T>, run: &Run) -> Result<Vec<u32>> {
        match self {
            Fitted::Centres { centres, .. } => nearest_centres(seen, centres, run),
            Fitted::Embedded { embedding, centres, .. } => {
                let rows = embedding.of(seen, run)?;
                nearest_centres(Table::new(seen.nrows(), embedding.width(), &rows), centres, run)
            }
            Fitted::Mixture(mixture) => mixture.predict(seen, run),
            Fitted::Nearest { rows, labels } => {
                let nearest = rows.nearest(seen, run)?;
                Ok(nearest.into_iter().map(|row| labels[row as usize]).collect())
            }
        }
    }

    fn memberships<T: Float>(&self, seen: Table<'_, T>, run: &Run) -> Result<Matrix> {
        match self {
            Fitted::Centres { centres, fuzzifier } => memberships(seen, centres, *fuzzifier, run),
            Fitted::Embedded { embedding, centres, fuzzifier } => {
                let rows = embedding.of(seen, run)?;
                let rows = Table::new(seen.nrows(), embedding.width(), &rows);
                memberships(rows, centres, *fuzzifier, run)
            }
            Fitted::Mixture(mixture) => mixture.memberships(seen, run),
            Fitted::Nearest { .. } => {
                // There are no degrees: a row is in its cluster or in none.
                let mut memberships = Matrix::zeros(seen.nrows(), self.k());
                for (i, label) in self.predict(seen, run)?.into_iter().enumerate() {
                    if label != NO_CLUSTER {
                        memberships[(i, label as usize)] = 1.0;
                    }
                }
                Ok(memberships)
            }
        }
    }
}

/// Shared rows are written like others.
fn shared<S: Serializer>(rows: &Arc<KnownRows>, to: S) -> std::result::Result<S::Ok, S::Error> {
    rows.as_ref().serialize(to)
}

/// Rows that clusterers learned from, ready to be found.
#[derive(Clone, Debug, Serialize)]
pub struct KnownRows {
    rows: Matrix,
    #[serde(skip)]
    find: NearestRow,
}

impl KnownRows {
    /// These rows.
    ///
    /// # Errors
    ///
    /// If there are none, or a value is not finite.
    pub fn new(rows: Matrix, run: &Run) -> Result<Self> {
        let find = NearestRow::new(&rows, run)?;
        Ok(KnownRows { rows, find })
    }

    /// The rows.
    pub fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// The nearest of them for every row of `data`.
    pub(super) fn nearest<T: Float>(&self, data: Table<'_, T>, run: &Run) -> Result<Vec<u32>> {
        self.find.of(data, run)
    }
}

/// How they are found follows from what they are.
impl PartialEq for KnownRows {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}

/// A fitted member: what it makes of the features, and how it labels what it sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Model {
    /// What it makes of the features.
    pub features: Features,
    /// What labels rows. Cluster `"j"` of the member is its centre or component `j`.
    pub fitted: Fitted,
    /// How many features the table had that it was fitted to.
    pub n_features: usize,
}

impl Model {
    /// The number of clusters.
    pub fn k(&self) -> usize {
        self.fitted.k()
    }

    /// The cluster of every row, or [`NO_CLUSTER`].
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
        match (seen, &self.fitted) {
            (Data::Dense(seen), fitted) => fitted.predict(Table::from(seen), run),
            (Data::Single(seen), fitted) => fitted.predict(seen, run),
            (Data::Sparse(seen), Fitted::Centres { centres, .. }) => {
                nearest_centres_sparse(seen, centres, run)
            }
            (Data::Sparse(_), _) => Err(needs_dense("one without centres")),
        }
    }

    /// The memberships of every row of a table that the member sees.
    pub(super) fn memberships_of(&self, seen: Data<'_>, run: &Run) -> Result<Matrix> {
        match (seen, &self.fitted) {
            (Data::Dense(seen), fitted) => fitted.memberships(Table::from(seen), run),
            (Data::Single(seen), fitted) => fitted.memberships(seen, run),
            (Data::Sparse(seen), Fitted::Centres { centres, fuzzifier }) => {
                memberships_sparse(seen, centres, *fuzzifier, run)
            }
            (Data::Sparse(_), _) => Err(needs_dense("one without centres")),
        }
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
