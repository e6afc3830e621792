//! The profiles that a consensus was computed on: what answers questions about it later.

use consilience::consensus::Merge;
use consilience::ensemble::{CoAssociation, Ensemble, Member, NO_PROFILE, Profiles, Votes};
use consilience::judge::{Nearest, scipy_linkage};
use consilience::{Matrix, Run};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::builder::Builder;
use crate::ensemble::{PyEnsemble, codes, matrix, member_of};
use crate::error::to_python;
use crate::running::{Circumstances, compute};

/// Clusters, profiles, confidence and coverage of new objects.
type Assigned<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The distinct label tuples of an ensemble.
#[pyclass(name = "Profiles", module = "consilience._native", frozen)]
pub(crate) struct PyProfiles {
    profiles: Profiles,
    /// Of every member the names of its clusters.
    clusters: Vec<Vec<String>>,
}

impl PyProfiles {
    pub(crate) fn new(profiles: Profiles, clusters: Vec<Vec<String>>) -> Self {
        PyProfiles { profiles, clusters }
    }

    pub(crate) fn profiles(&self) -> &Profiles {
        &self.profiles
    }

    /// Of every member the names of its clusters.
    pub(crate) fn cluster_names(&self) -> &[Vec<String>] {
        &self.clusters
    }

    fn checked(&self, profile: usize) -> PyResult<usize> {
        if profile < self.profiles.len() {
            return Ok(profile);
        }
        Err(PyIndexError::new_err(format!("there is no profile {profile}")))
    }

    /// The label of every profile, with the numbers that mean "none" beyond `k`.
    pub(crate) fn labels(&self, labels: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<u32>> {
        let labels: Vec<u32> =
            labels.as_array().iter().map(|&l| u32::try_from(l).unwrap_or(u32::MAX)).collect();
        if labels.len() == self.profiles.len() {
            return Ok(labels);
        }
        Err(PyValueError::new_err(format!(
            "{} labels for {} profiles",
            labels.len(),
            self.profiles.len()
        )))
    }
}

#[pymethods]
impl PyProfiles {
    /// The number of profiles.
    fn __len__(&self) -> usize {
        self.profiles.len()
    }

    /// The number of objects.
    #[getter]
    fn n_objects(&self) -> usize {
        self.profiles.n_objects()
    }

    /// The names of the members.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.profiles.members().iter().map(|m| m.name.clone()).collect()
    }

    /// The names of the clusters of every member.
    #[getter]
    fn clusters(&self) -> Vec<Vec<String>> {
        self.clusters.clone()
    }

    /// The profile of every object, -1 where it has none.
    #[getter]
    fn map<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let number = |&s: &u32| if s == NO_PROFILE { -1 } else { i64::from(s) };
        PyArray1::from_vec(py, self.profiles.map().iter().map(number).collect())
    }

    /// The same profiles as those of other objects: the profile of every object, -1 where it has none.
    fn mapped(&self, map: PyReadonlyArray1<'_, i64>) -> PyResult<Self> {
        let profile = |&s: &i64| u32::try_from(s).unwrap_or(NO_PROFILE);
        let map = map.as_array().iter().map(profile).collect();
        let profiles = self.profiles.clone().with_map(map).map_err(to_python)?;
        Ok(PyProfiles { profiles, clusters: self.clusters.clone() })
    }

    /// The weight of every profile.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.profiles.weights())
    }

    /// The co-associations of some profiles with all.
    fn coassociation<'py>(
        &self,
        py: Python<'py>,
        rows: Vec<usize>,
        circumstances: Circumstances,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.into_iter().map(|s| self.checked(s)).collect::<PyResult<Vec<_>>>()?;
        let co = |run: &Run| CoAssociation::new(&self.profiles).rows(&rows, run);
        matrix(py, &compute(py, &circumstances, co)?.0)
    }

    /// The dendrogram over objects from merges of profiles, in SciPy's layout.
    fn linkage<'py>(
        &self,
        py: Python<'py>,
        merges: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if merges.as_array().ncols() != 3 {
            return Err(PyValueError::new_err("merges have three columns: two nodes and a height"));
        }
        // What is no number of a node is none that there is.
        let node = |x: f64| if x >= 0.0 { x as u32 } else { u32::MAX };
        let merges: Vec<Merge> = merges
            .as_array()
            .rows()
            .into_iter()
            .map(|row| Merge { a: node(row[0]), b: node(row[1]), height: row[2] })
            .collect();
        let rows = py.detach(|| scipy_linkage(&self.profiles, &merges)).map_err(to_python)?;
        matrix(py, &rows)
    }

    /// The clusters of new objects, -1 where unknown.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        new: &Bound<'py, PyAny>,
        labels: PyReadonlyArray1<'py, i64>,
        n_clusters: usize,
        circumstances: Circumstances,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let labels = self.labels(&labels)?;
        let members = members_of(new)?;
        let (found, _) = compute(py, &circumstances, |run| {
            let nearest = Nearest::new(&self.profiles, &self.clusters, &labels, n_clusters)?;
            nearest.label(&members, run)
        })?;
        let found = found.into_iter().map(|label| label.map_or(-1, i64::from));
        Ok(PyArray1::from_vec(py, found.collect()))
    }

    /// Where new objects belong: their clusters, the profiles that have their label tuples (both -1
    /// where there is none), how sure their clusters are, and the share of the members that label them.
    fn assign<'py>(
        &self,
        py: Python<'py>,
        new: &Bound<'py, PyAny>,
        labels: PyReadonlyArray1<'py, i64>,
        n_clusters: usize,
        circumstances: Circumstances,
    ) -> PyResult<Assigned<'py>> {
        let labels = self.labels(&labels)?;
        let members = members_of(new)?;
        let (found, _) = compute(py, &circumstances, |run| {
            let nearest = Nearest::new(&self.profiles, &self.clusters, &labels, n_clusters)?;
            nearest.assign(&members, run)
        })?;
        let number = |place: Option<u32>| place.map_or(-1, i64::from);
        Ok((
            PyArray1::from_vec(py, found.iter().map(|it| number(it.cluster)).collect()),
            PyArray1::from_vec(py, found.iter().map(|it| number(it.profile)).collect()),
            PyArray1::from_vec(py, found.iter().map(|it| it.confidence).collect()),
            PyArray1::from_vec(py, found.iter().map(|it| it.coverage).collect()),
        ))
    }

    /// The members' support of every cluster for new objects, zeros where nothing is known.
    fn support<'py>(
        &self,
        py: Python<'py>,
        new: &Bound<'py, PyAny>,
        labels: PyReadonlyArray1<'py, i64>,
        n_clusters: usize,
        circumstances: Circumstances,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let labels = self.labels(&labels)?;
        let members = members_of(new)?;
        let (found, _) = compute(py, &circumstances, |run| {
            let nearest = Nearest::new(&self.profiles, &self.clusters, &labels, n_clusters)?;
            nearest.support(&members, run)
        })?;
        matrix(py, &found)
    }

    /// How the members vote about one profile: for each member its cluster, or None, and the shares
    /// of that cluster in the clusters of the consensus; then the support of each of those.
    fn votes(
        &self,
        profile: usize,
        labels: PyReadonlyArray1<'_, i64>,
        n_clusters: usize,
    ) -> PyResult<(Vec<(Option<String>, Vec<f64>)>, Vec<f64>)> {
        let s = self.checked(profile)?;
        let labels = self.labels(&labels)?;
        let votes = Votes::new(&self.profiles, &labels, n_clusters);
        let vote = |(h, names): (usize, &Vec<String>)| {
            let name = self.profiles.label(s, h).map(|c| names[c].clone());
            (name, votes.of_member(&self.profiles, s, h))
        };
        let of_members = self.clusters.iter().enumerate().map(vote).collect();
        Ok((of_members, votes.support(&self.profiles, s)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let make = slf.get_type().getattr("_from_state")?;
        (make, slf.get().state(slf.py())?).into_pyobject(slf.py())
    }

    /// Everything, as arrays: members, weights, map.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut members = Vec::new();
        for (h, (member, names)) in self.profiles.members().iter().zip(&self.clusters).enumerate() {
            let u = self.profiles.len();
            let values = if member.is_hard() {
                let labels = (0..u).map(|s| self.profiles.label(s, h)).collect::<Vec<_>>();
                let labels = consilience::ensemble::Labels::from_indices(
                    member.n_clusters(),
                    labels.into_iter(),
                );
                codes(py, &labels)
            } else {
                let row = |s: usize| self.profiles.memberships(s, h).unwrap_or_default().to_vec();
                let values = (0..u).flat_map(row).collect();
                matrix(py, &Matrix::from_vec(u, member.n_clusters(), values))?.into_any()
            };
            members.push((member.name.clone(), names.clone(), values));
        }
        let map = PyArray1::from_slice(py, self.profiles.map());
        (members, self.weights(py), map).into_pyobject(py)
    }

    /// The profiles that `state` told of.
    #[staticmethod]
    fn _from_state(
        py: Python<'_>,
        members: Vec<(String, Vec<String>, Bound<'_, PyAny>)>,
        weights: PyReadonlyArray1<'_, f64>,
        map: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Self> {
        let clusters = members.iter().map(|(_, clusters, _)| clusters.clone()).collect();
        let members = members
            .into_iter()
            .map(|(name, clusters, values)| member_of(name, clusters, &values).map_err(to_python));
        let members = members.collect::<PyResult<Vec<_>>>()?;
        let (weights, map) = (weights.as_array().to_vec(), map.as_array().to_vec());
        let rebuilt = py.detach(|| {
            let kept = Ensemble::new(members)?.with_weights(weights)?;
            Profiles::restored(&kept, map, &Run::new(0).threads(1))
        });
        rebuilt.map(|profiles| PyProfiles { profiles, clusters }).map_err(to_python)
    }
}

/// The members of an ensemble, or those collected by a builder.
fn members_of(new: &Bound<'_, PyAny>) -> PyResult<Vec<Member>> {
    if let Ok(ensemble) = new.cast::<PyEnsemble>() {
        return Ok(ensemble.get().get()?.members().to_vec());
    }
    Ok(new.cast::<Builder>()?.borrow_mut().take_members())
}
