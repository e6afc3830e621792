//! Tables of labels from files.

use std::path::PathBuf;
use std::sync::Arc;

use consilience::ensemble::Ensemble;
use consilience_io::{InputError, ReadOptions, Setting, read_clusterings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::ensemble::PyEnsemble;
use crate::running::{Circumstances, compute};

/// How tables are read, as Python gives it.
#[derive(FromPyObject)]
pub(crate) struct Options {
    #[pyo3(item)]
    id: Option<String>,
    #[pyo3(item)]
    weights: Option<String>,
    #[pyo3(item)]
    drop: Vec<String>,
    #[pyo3(item)]
    header: bool,
    #[pyo3(item)]
    missing: Option<String>,
    /// Whether -1 is a cluster like any other.
    #[pyo3(item)]
    noise_is_a_cluster: bool,
}

/// What a reader can be told, as arguments of Python's functions.
pub(crate) fn spelled(setting: Setting<'_>) -> String {
    let argument = match setting {
        Setting::Id => "id",
        Setting::Truth => "truth",
        Setting::Weights => "weights",
        Setting::Drop => "drop",
        Setting::DecimalComma => "pandas.read_csv(..., decimal=',')",
        Setting::NoHeader => "header=False",
        Setting::Impute => "impute",
        Setting::Memory => "memory",
        Setting::Rows => "rows",
        Setting::Cluster => "consilience.generate",
        Setting::Combine => "consilience.consensus",
        Setting::NoiseIsACluster => "noise='cluster'",
        Setting::MissingIs(token) => return format!("missing='{token}'"),
        Setting::TruthIn(file) => return format!("truth='{file}:COLUMN'"),
        Setting::IdIs(column) => return format!("id='{column}'"),
        Setting::DropThis(column) => return format!("drop=['{column}']"),
        Setting::DropThese(columns) => return format!("drop={columns:?}"),
    };
    argument.to_owned()
}

/// Reads tables of labels as the command line does; also gives what is to be warned of.
#[pyfunction]
pub(crate) fn read(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: Options,
    circumstances: Circumstances,
) -> PyResult<(PyEnsemble, Vec<String>)> {
    let options = ReadOptions {
        id: options.id,
        id_is_guessed: false,
        weights: options.weights,
        drop: options.drop,
        no_header: !options.header,
        missing: options.missing.into_iter().collect(),
        minus_one_is_a_label: options.noise_is_a_cluster,
        ..ReadOptions::default()
    };
    // What is wrong with a file is an answer; only what is wrong with the run is an error here.
    let (found, _) = compute(py, &circumstances, |run| {
        let table = match read_clusterings(&paths, &options, run) {
            Err(InputError::Library(error)) => return Err(error),
            Err(wrong) => return Ok(Err(wrong.to_string())),
            Ok(table) => table,
        };
        let ensemble = Ensemble::new(table.members)?;
        let ensemble = match table.weights {
            Some(weights) => ensemble.with_weights(weights)?,
            None => ensemble,
        };
        Ok(Ok((ensemble, table.ids, table.warnings)))
    })?;
    let (ensemble, ids, warnings) = found.map_err(PyValueError::new_err)?;
    Ok((PyEnsemble::new(ensemble).with_ids(ids.map(Arc::new)), warnings))
}
