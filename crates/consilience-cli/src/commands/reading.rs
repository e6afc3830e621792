//! Tables as the commands read them: with their warnings said.

use std::path::Path;

use consilience::ensemble::Ensemble;
use consilience_io::{
    ClusteringTable, FeatureTable, Guess, Ids, InputError, ReadOptions, identify, read_features,
    read_labels,
};

use crate::args::DataReading;
use crate::session::Session;

/// Reads a table of features. One that holds clusterings is refused, one that may hold them gives
/// rise to a warning, unless the user says that these are features.
pub(super) fn features(
    path: &Path,
    reading: &DataReading,
    options: &mut ReadOptions,
    session: &Session,
) -> anyhow::Result<FeatureTable> {
    identify(&[path.to_owned()], options, &session.run)?;
    let table = read_features(path, options, &session.run)?;
    match table.looks_like_clusterings().filter(|_| !reading.as_features) {
        Some(Guess { evidence, sure: true }) => {
            let hint = "if these are features, give --as-features".to_owned();
            return Err(InputError::MeantCombine { file: table.file, evidence, hint }.into());
        }
        Some(Guess { evidence, sure: false }) => session.run.warn(&format!(
            "{}: {evidence}; if these are clusterings, `consilience combine` was meant, if they are \
             features, --as-features says so",
            table.file
        )),
        None => {}
    }
    table.warnings.iter().for_each(|warning| session.run.warn(warning));
    Ok(table)
}

/// The ensemble in a table of clusterings, whose warnings are said, and the identifiers.
pub(super) fn ensemble(
    table: ClusteringTable,
    session: &Session,
) -> anyhow::Result<(Ensemble, Option<Ids>)> {
    table.warnings.iter().for_each(|warning| session.run.warn(warning));
    let mut ensemble = Ensemble::new(table.members)?;
    if let Some(weights) = table.weights {
        ensemble = ensemble.with_weights(weights)?;
    }
    Ok((ensemble, table.ids))
}

/// The clustering that `--init` names, one label per object.
pub(super) fn start(
    path: Option<&Path>,
    ids: Option<&Ids>,
    n: usize,
    options: &ReadOptions,
    session: &Session,
) -> anyhow::Result<Option<Vec<Option<u32>>>> {
    let Some(path) = path else { return Ok(None) };
    let member = read_labels(path, ids, n, options, &session.run)?;
    let codes = member.hardened().labels().iter().map(|code| code.map(|c| c as u32)).collect();
    Ok(Some(codes))
}
