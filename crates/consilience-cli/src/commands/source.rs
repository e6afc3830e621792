//! What `combine` reads: tables side by side or joined, or the rows of one table.

use std::path::PathBuf;
use std::time::Instant;

use consilience::ensemble::{Ensemble, Profiles};
use consilience_io::{
    ClusteringTable, Ids, ReadOptions, RowFiles, RowsBeside, read_clusterings, read_rows, row_files,
};

use super::Session;
use super::add::Base;
use crate::args::CombineArgs;
use crate::errors::usage;

/// Files with clusterings, and what they are to one another.
pub(super) struct Source {
    files: Vec<PathBuf>,
    /// The clusterings that these are added to.
    base: Option<PathBuf>,
    /// If they are rows of one table.
    rows: Option<RowFiles>,
}

/// What was read.
pub(super) struct Read {
    pub(super) ids: Option<Ids>,
    /// The members: of all objects, or, where there are profiles, of one object a distinct tuple.
    pub(super) ensemble: Ensemble,
    /// The weights of all objects, if the ensemble has them not.
    weights: Option<Vec<f64>>,
    /// The number of objects.
    pub(super) n: usize,
    /// The profiles, if they were made while reading, and the seconds that were spent on them alone.
    pub(super) profiles: Option<(Profiles, f64)>,
    /// Whether distinct rows went to disk meanwhile.
    pub(super) spilled: bool,
}

impl Read {
    /// The weights of all objects.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref().or(self.ensemble.weights())
    }
}

impl Source {
    /// The files of the command line. Of a result that clusterings are added to, the identifiers and
    /// weights are taken over.
    pub(super) fn new(
        args: &CombineArgs,
        base: Option<&Base>,
        options: &mut ReadOptions,
        session: &Session,
    ) -> anyhow::Result<Self> {
        if let Some(base) = base {
            if args.rows || args.files.iter().any(|path| path.is_dir()) {
                return Err(usage(
                    "--add goes with tables of more clusterings, not with rows of one table \
                     (--rows, a folder): put the rows into one file",
                ));
            }
            options.id = options.id.take().or_else(|| base.id());
            options.weights = options.weights.take().or_else(|| base.weights());
            return Ok(Source {
                files: args.files.clone(),
                base: Some(base.ensemble()),
                rows: None,
            });
        }
        let rows = row_files(&args.files, args.rows, options, &session.run)?;
        let files = rows.as_ref().map_or_else(|| args.files.clone(), RowFiles::paths);
        Ok(Source { files, base: None, rows })
    }

    /// The files; those of a folder if one was named.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Why several files are taken for rows of one table, if they are.
    pub(super) fn because(&self) -> Option<&'static str> {
        self.rows.as_ref().filter(|rows| rows.len() > 1).map(RowFiles::because)
    }

    /// Reads everything; with `all_labels` the labels of all objects.
    pub(super) fn read(
        &self,
        all_labels: bool,
        options: &ReadOptions,
        session: &Session,
    ) -> anyhow::Result<Read> {
        let run = &session.run;
        let table = match &self.rows {
            Some(rows) if rows.len() > 1 || !all_labels => {
                let table = read_rows(rows, options, run)?;
                if !all_labels {
                    table.warnings.iter().for_each(|warning| run.warn(warning));
                    let (n, spilled) = (table.n_objects(), table.spilled);
                    let clock = Instant::now();
                    let (profiles, beside) = table.into_profiles(run)?;
                    let RowsBeside { ids, tuples, weights } = beside;
                    let profiles = Some((profiles, clock.elapsed().as_secs_f64()));
                    return Ok(Read { ids, ensemble: tuples, weights, n, profiles, spilled });
                }
                table.into_clusterings(run)?
            }
            _ => {
                let files: Vec<PathBuf> = self.base.iter().chain(&self.files).cloned().collect();
                read_clusterings(&files, options, run)?
            }
        };
        table.warnings.iter().for_each(|warning| run.warn(warning));
        let ClusteringTable { ids, members, weights, .. } = table;
        let mut ensemble = Ensemble::new(members)?;
        if let Some(weights) = weights {
            ensemble = ensemble.with_weights(weights)?;
        }
        let n = ensemble.n_objects();
        Ok(Read { ids, ensemble, weights: None, n, profiles: None, spilled: false })
    }
}
