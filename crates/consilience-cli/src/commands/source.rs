//! What `combine` reads: tables side by side or joined, or the rows of one table.

use std::path::PathBuf;
use std::time::Instant;

use consilience::ensemble::{Ensemble, Member, Profiles};
use consilience::pipeline::Members;
use consilience_io::{
    Ids, ReadOptions, RowFiles, RowsBeside, identify, read_clusterings, read_rows, row_files,
};

use super::add::Base;
use super::folder::name_saved_ids;
use super::reading;
use crate::args::CombineArgs;
use crate::errors::usage;
use crate::session::Session;

/// Files with clusterings, and what they are to one another.
pub(super) struct Source {
    files: Vec<PathBuf>,
    /// The clusterings that these are added to.
    base: Option<PathBuf>,
    /// If they are rows of one table.
    rows: Option<RowFiles>,
}

/// What was read.
pub(super) struct Gathered {
    pub(super) ids: Option<Ids>,
    /// The number of objects.
    pub(super) n: usize,
    pub(super) members: Held,
    /// Seconds spent on merging equal objects alone.
    pub(super) merging: f64,
    /// Whether distinct rows went to disk meanwhile.
    pub(super) spilled: bool,
}

/// Members as they were read: whole, or with equal objects merged meanwhile.
// There is one in a run, and it is moved once.
#[allow(clippy::large_enum_variant)]
pub(super) enum Held {
    Whole(Ensemble),
    Merged { profiles: Profiles, tuples: Ensemble, weights: Option<Vec<f64>> },
}

impl Held {
    /// The members: of all objects, or of one object per distinct tuple.
    pub(super) fn members(&self) -> &[Member] {
        match self {
            Held::Whole(ensemble) => ensemble.members(),
            Held::Merged { tuples, .. } => tuples.members(),
        }
    }
}

impl From<Held> for Members<'_> {
    fn from(held: Held) -> Self {
        match held {
            Held::Whole(ensemble) => Members::Ensemble(ensemble.into()),
            Held::Merged { profiles, tuples, weights } => {
                Members::Merged { profiles, tuples, weights }
            }
        }
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
            options.saved = Some(base.ensemble());
            return Ok(Source {
                files: args.files.clone(),
                base: Some(base.ensemble()),
                rows: None,
            });
        }
        name_saved_ids(&args.files, options);
        let rows = row_files(&args.files, args.rows, options, &session.run)?;
        let files = rows.as_ref().map_or_else(|| args.files.clone(), RowFiles::paths);
        // Files of rows have the same columns.
        let looked_at = if rows.is_some() { &files[..files.len().min(1)] } else { &files };
        identify(looked_at, options, &session.run)?;
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
    ) -> anyhow::Result<Gathered> {
        let run = &session.run;
        let table = match &self.rows {
            Some(rows) if rows.len() > 1 || !all_labels => {
                // The tuple of every row, and the cluster that it gets in the end: refused now, not when all is read.
                let n = rows.rows() as u64;
                run.ask_memory(&format!("{n} rows and their clusters"), 12 * n, "raise --memory")?;
                let table = read_rows(rows, options, run)?;
                if !all_labels {
                    table.warnings.iter().for_each(|warning| run.warn(warning));
                    let (n, spilled) = (table.n_objects(), table.spilled);
                    let clock = Instant::now();
                    let (profiles, beside) = table.into_profiles(run)?;
                    let RowsBeside { ids, tuples, weights } = beside;
                    let merging = clock.elapsed().as_secs_f64();
                    let members = Held::Merged { profiles, tuples, weights };
                    return Ok(Gathered { ids, n, members, merging, spilled });
                }
                table.into_clusterings(run)?
            }
            _ => {
                let files: Vec<PathBuf> = self.base.iter().chain(&self.files).cloned().collect();
                read_clusterings(&files, options, run)?
            }
        };
        let (ensemble, ids) = reading::ensemble(table, session)?;
        let n = ensemble.n_objects();
        Ok(Gathered { ids, n, members: Held::Whole(ensemble), merging: 0.0, spilled: false })
    }
}
