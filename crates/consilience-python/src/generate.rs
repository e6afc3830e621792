//! Ensembles from tables of features.

use std::sync::Arc;

use consilience::Run;
use consilience::base::{Covariance, GmmModel, Representatives, USpecEmbedding};
use consilience::ensemble::{Ensemble, HardMember, Member};
use consilience::generate::{
    BaseK, Committee, Features, Fitted, GenerateParams, KnownRows, Model, NO_CLUSTER, Scheme, base,
    scheme,
};
use consilience::pipeline::warn_of_columns;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::builder::to_matrix;
use crate::ensemble::{PyEnsemble, matrix};
use crate::error::to_python;
use crate::features as given;
use crate::running::{Circumstances, compute};

/// How an ensemble is made, as Python gives it.
#[derive(FromPyObject)]
pub(crate) struct Recipe {
    #[pyo3(item)]
    n_members: Option<usize>,
    /// The kinds of clusterers in a committee, unless the default ones.
    #[pyo3(item)]
    kinds: Option<Vec<String>>,
    #[pyo3(item)]
    scheme: String,
    #[pyo3(item)]
    base: String,
    /// The smallest and largest number of clusters of a member.
    #[pyo3(item)]
    base_n_clusters: Option<(usize, usize)>,
    /// The number of clusters that is wanted of the consensus.
    #[pyo3(item)]
    n_clusters: Option<usize>,
    #[pyo3(item)]
    soft: bool,
}

/// Makes an ensemble from a table of features, and the models that label new objects.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    recipe: Recipe,
    circumstances: Circumstances,
) -> PyResult<(PyEnsemble, Models)> {
    let table = given::Features::new(x)?;
    let (made, _) = compute(py, &circumstances, |run| {
        let scheme = (scheme(&recipe.scheme)?.make)();
        let base_k = match recipe.base_n_clusters {
            Some((low, high)) if low == high => BaseK::Exactly(low),
            Some((low, high)) => BaseK::Between(low, high),
            None => BaseK::Auto { consensus: recipe.n_clusters },
        };
        let params = match (scheme, &recipe.kinds) {
            (Scheme::Committee(committee), None) => GenerateParams::committee(committee, base_k),
            (Scheme::Committee(_), Some(kinds)) => {
                let kinds = kinds.iter().map(String::as_str);
                GenerateParams::committee(Committee::of(kinds)?, base_k)
            }
            (scheme, _) => GenerateParams::new(scheme, (base(&recipe.base)?.make)(1)).k(base_k),
        };
        let params = match recipe.n_members {
            Some(size) => params.size(size),
            None => params,
        };
        params.soft(recipe.soft).check()?.ensemble(table.data(), run)
    })?;
    let seats = serde_json::to_string(&made.seats);
    let seats = seats.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let models = Models { models: made.models, soft: recipe.soft, seats };
    Ok((PyEnsemble::new(made.ensemble), models))
}

/// What looks wrong with the columns of a table of features.
#[pyfunction]
pub(crate) fn doubts_of_features(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    names: Vec<String>,
    circumstances: Circumstances,
) -> PyResult<Vec<String>> {
    let table = given::Features::new(x)?;
    Ok(compute(py, &circumstances, |run| warn_of_columns(table.data(), &names, run))?.1)
}

/// An embedding as it is pickled: representatives, centres of their groups, neighbours, kernel width,
/// coordinates.
type EmbeddingState<'py> = (
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    usize,
    Option<f64>,
    PyReadonlyArray2<'py, f64>,
);

/// What labels rows as it is pickled, told apart by what it is made of.
#[derive(FromPyObject)]
enum FittedState<'py> {
    /// Rows and their clusters.
    Nearest(PyReadonlyArray2<'py, f64>, PyReadonlyArray1<'py, u32>),
    /// Centres, fuzzifier.
    Centres(PyReadonlyArray2<'py, f64>, f64),
    /// Embedding, centres, fuzzifier.
    Embedded(EmbeddingState<'py>, PyReadonlyArray2<'py, f64>, f64),
    /// Kind of covariances, means, weights, factors of precisions.
    Mixture(
        String,
        PyReadonlyArray2<'py, f64>,
        PyReadonlyArray1<'py, f64>,
        PyReadonlyArray1<'py, f64>,
    ),
}

/// A model as it is pickled: features, what labels rows, number of features.
type ModelState<'py> = (Bound<'py, PyAny>, FittedState<'py>, usize);

/// What was pickled, for tables of `width` columns.
fn fitted(state: FittedState<'_>, width: usize) -> PyResult<Fitted> {
    let fits = |centres: &PyReadonlyArray2<'_, f64>, width: usize| {
        let centres = to_matrix(centres);
        if centres.ncols() != width || centres.nrows() == 0 {
            return Err(PyValueError::new_err("the centres do not fit to the features"));
        }
        Ok(centres)
    };
    Ok(match state {
        FittedState::Nearest(rows, labels) => {
            let (rows, labels) = (fits(&rows, width)?, labels.as_array().to_vec());
            if labels.len() != rows.nrows() {
                return Err(PyValueError::new_err("every row needs a cluster"));
            }
            let rows = KnownRows::new(rows, &Run::new(0)).map_err(to_python)?;
            Fitted::Nearest { rows: Arc::new(rows), labels }
        }
        FittedState::Centres(centres, fuzzifier) => {
            Fitted::Centres { centres: fits(&centres, width)?, fuzzifier }
        }
        FittedState::Embedded(state, centres, fuzzifier) => {
            let embedding = embedding(state, width)?;
            let centres = fits(&centres, embedding.width())?;
            Fitted::Embedded { embedding, centres, fuzzifier }
        }
        FittedState::Mixture(kind, means, weights, factors) => {
            let kinds = [Covariance::Full, Covariance::Tied, Covariance::Diagonal];
            let kind = kinds.into_iter().find(|known| format!("{known:?}") == kind);
            let kind =
                kind.ok_or_else(|| PyValueError::new_err("an unknown kind of covariance"))?;
            let list = |values: PyReadonlyArray1<'_, f64>| values.as_array().to_vec();
            let means = fits(&means, width)?;
            let model = GmmModel::from_factors(kind, means, &list(weights), &list(factors));
            Fitted::Mixture(model.map_err(to_python)?)
        }
    })
}

/// The embedding that was pickled, for tables of `width` columns.
fn embedding(state: EmbeddingState<'_>, width: usize) -> PyResult<USpecEmbedding> {
    let (rows, centres, neighbours, sigma, coordinates) = state;
    let (rows, coordinates) = (to_matrix(&rows), to_matrix(&coordinates));
    let fits = rows.ncols() == width && rows.nrows() == coordinates.nrows();
    if !fits || coordinates.ncols() == 0 {
        return Err(PyValueError::new_err("the representatives do not fit to the features"));
    }
    let chosen = Representatives::new(rows, &to_matrix(&centres), neighbours, &Run::new(0));
    Ok(USpecEmbedding::new(chosen.map_err(to_python)?, sigma, coordinates))
}

/// The fitted models of an ensemble's members.
#[pyclass(module = "consilience._native", frozen)]
pub(crate) struct Models {
    models: Vec<Model>,
    soft: bool,
    /// What a committee made, those included that were left out, as JSON.
    seats: String,
}

#[pymethods]
impl Models {
    /// What a committee made, those included that were left out, as JSON.
    #[getter]
    fn seats(&self) -> &str {
        &self.seats
    }

    /// How many there are.
    fn __len__(&self) -> usize {
        self.models.len()
    }

    /// The ensemble of new objects.
    fn predict(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        circumstances: Circumstances,
    ) -> PyResult<PyEnsemble> {
        let table = given::Features::new(x)?;
        let (ensemble, _) = compute(py, &circumstances, |run| {
            let member = |(i, model): (usize, &Model)| {
                let name = i.to_string();
                if self.soft {
                    let memberships = model.memberships(table.data(), run)?;
                    let clusters = (0..memberships.ncols()).map(|j| j.to_string()).collect();
                    let soft = consilience::ensemble::SoftMember::new(name, memberships, clusters);
                    return soft.map(Member::from);
                }
                let labels = model.predict(table.data(), run)?;
                Ok(HardMember::from_integer_slice(name, &labels, |_, label| label == NO_CLUSTER)
                    .into())
            };
            let members = self.models.iter().enumerate().map(member);
            Ensemble::new(members.collect::<consilience::Result<_>>()?)
        })?;
        Ok(PyEnsemble::new(ensemble))
    }

    /// The clusters of new objects by number, an array for every model; -1 for none.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'_, PyAny>,
        circumstances: Circumstances,
    ) -> PyResult<Vec<Bound<'py, PyArray1<i32>>>> {
        let table = given::Features::new(x)?;
        let (labels, _) = compute(py, &circumstances, |run| {
            let label = |model: &Model| {
                let labels = model.predict(table.data(), run)?;
                Ok(labels.into_iter().map(|label| label as i32).collect::<Vec<_>>())
            };
            self.models.iter().map(label).collect::<consilience::Result<Vec<_>>>()
        })?;
        Ok(labels.into_iter().map(|labels| PyArray1::from_vec(py, labels)).collect())
    }

    /// How many features they were fitted to.
    #[getter]
    fn n_features(&self) -> usize {
        self.models.first().map_or(0, |model| model.n_features)
    }

    /// These models and then others.
    fn joined(&self, others: &Models) -> Models {
        let models = self.models.iter().chain(&others.models).cloned().collect();
        Models { models, soft: self.soft, seats: "[]".to_owned() }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let mut models = Vec::new();
        for model in &slf.get().models {
            let features = match &model.features {
                Features::All => py.None().into_bound(py),
                Features::Subset(columns) => {
                    let columns = columns.iter().map(|&j| j as u64).collect();
                    PyArray1::from_vec(py, columns).into_any()
                }
                Features::Projection(directions) => matrix(py, directions)?.into_any(),
            };
            let list = |values: &[f64]| PyArray1::from_slice(py, values);
            let fitted = match &model.fitted {
                Fitted::Centres { centres, fuzzifier } => {
                    (matrix(py, centres)?, *fuzzifier).into_pyobject(py)?
                }
                Fitted::Embedded { embedding, centres, fuzzifier } => {
                    let chosen = embedding.representatives();
                    let state = (
                        matrix(py, chosen.rows())?,
                        matrix(py, chosen.centres())?,
                        chosen.neighbours(),
                        embedding.sigma(),
                        matrix(py, embedding.coordinates())?,
                    );
                    (state, matrix(py, centres)?, *fuzzifier).into_pyobject(py)?
                }
                Fitted::Nearest { rows, labels } => {
                    (matrix(py, rows.rows())?, PyArray1::from_slice(py, labels))
                        .into_pyobject(py)?
                }
                Fitted::Mixture(mixture) => (
                    format!("{:?}", mixture.covariance()),
                    matrix(py, mixture.means())?,
                    list(mixture.weights()),
                    list(mixture.factors()),
                )
                    .into_pyobject(py)?,
            };
            models.push((features, fitted, model.n_features));
        }
        let make = slf.get_type().getattr("_from_state")?;
        (make, (models, slf.get().soft)).into_pyobject(py)
    }

    /// The models that `__reduce__` told of.
    #[staticmethod]
    fn _from_state(models: Vec<ModelState<'_>>, soft: bool) -> PyResult<Self> {
        let model = |(features, state, n_features): ModelState<'_>| {
            let (features, width) = if features.is_none() {
                (Features::All, n_features)
            } else if let Ok(columns) = features.extract::<PyReadonlyArray1<'_, u64>>() {
                let columns: Vec<usize> = columns.as_array().iter().map(|&j| j as usize).collect();
                if columns.iter().any(|&j| j >= n_features) {
                    return Err(PyValueError::new_err("a model names a feature beyond the last"));
                }
                let width = columns.len();
                (Features::Subset(columns), width)
            } else {
                let directions = to_matrix(&features.extract()?);
                if directions.nrows() != n_features {
                    return Err(PyValueError::new_err("a projection needs one row a feature"));
                }
                let width = directions.ncols();
                (Features::Projection(directions), width)
            };
            Ok(Model { features, fitted: fitted(state, width)?, n_features })
        };
        let models = models.into_iter().map(model).collect::<PyResult<_>>()?;
        Ok(Models { models, soft, seats: "[]".to_owned() })
    }
}
