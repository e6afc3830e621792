//! `consilience combine CLUSTERINGS...`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use consilience::consensus::{Merge, Offers, Settings};
use consilience::ensemble::{CoAssociation, Ensemble, NO_PROFILE};
use consilience::explain::scipy_linkage;
use consilience::linalg::Matrix;
use consilience_io::{Ids, read_clusterings};
use rayon::prelude::*;
use serde_json::json;

use super::Session;
use super::consensus::{Found, Plan, names_or_none};
use super::report;
use crate::args::{CombineArgs, Common, OutputArgs};
use crate::errors::usage;
use crate::io::{
    Cells, Stage, Target, write_consensus, write_correspondences, write_matrix, write_membership,
    write_table, write_text,
};
use crate::{output, signals};

pub(super) fn run(args: &CombineArgs, common: &Common) -> anyhow::Result<()> {
    let plan = Plan::new(&args.consensus)?;
    let targets = Targets::new(&args.outputs, &args.files, &plan, common.json)?;
    let page = report::target(&args.outputs, &args.files)?;

    let session = Session::new(common);
    let clock = Instant::now();
    let options = args.reading.options(None, args.weights.as_deref());
    let table = read_clusterings(&args.files, &options, &session.run)?;
    table.warnings.iter().for_each(|warning| session.run.warn(warning));
    let mut ensemble = Ensemble::new(table.members)?;
    if let Some(weights) = table.weights {
        ensemble = ensemble.with_weights(weights)?;
    }
    let ids = table.ids.as_ref();
    let start = super::read_start(
        args.consensus.init.as_deref(),
        ids,
        ensemble.n_objects(),
        &options,
        &session,
    )?;
    let read = clock.elapsed().as_secs_f64();

    signals::computing();
    let found = plan.compute(&ensemble, start.as_deref(), &session)?;

    let clock = Instant::now();
    let wanted = page.is_some();
    let explained = report::of_combine(args, wanted, &plan, &found, &ensemble, ids, &session)?;
    targets.write(&found, &ensemble, ids, &session)?;
    if let (Some(target), Some(explained)) = (&page, &explained) {
        write_text(target, &explained.page)?;
    }
    let write = clock.elapsed().as_secs_f64();
    session.progress.clear();

    if session.json {
        let mut told = found.told(&plan);
        let seconds = json!({
            "read": read,
            "compress": found.compress,
            "consensus": found.seconds,
            "write": write,
        });
        told.insert("seconds".to_owned(), seconds);
        if let Some(explained) = &explained {
            told.insert("verdict".to_owned(), json!(explained.verdict));
        }
        return output::json(&session.finished(told));
    }
    output::note(&found.summary(&plan));
    if let Some(explained) = &explained {
        output::note(&super::terminal::verdict(&explained.verdict));
    }
    Ok(())
}

/// Who writes where, so that no two results go to one place.
struct Claims<'a> {
    inputs: &'a [PathBuf],
    taken: Vec<(&'static str, &'a Path)>,
    stage: Stage,
}

impl<'a> Claims<'a> {
    /// The target of an option, if it is given.
    fn target(
        &mut self,
        option: &'static str,
        path: Option<&'a Path>,
    ) -> anyhow::Result<Option<Target>> {
        let Some(path) = path else { return Ok(None) };
        super::check_output(option, path, self.inputs)?;
        if let Some((other, _)) = self.taken.iter().find(|(_, earlier)| *earlier == path) {
            let file = if is_stdout(path) { "stdout".into() } else { path.to_string_lossy() };
            return Err(usage(format!(
                "{option} and {other} both go to {file}: give another file"
            )));
        }
        self.taken.push((option, path));
        Ok(Some(Target::table(path)?.on(&self.stage)))
    }
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Where the results go; a value of this type is proof that they can go there and that the method
/// has them.
struct Targets {
    consensus: Option<Target>,
    membership: Option<Target>,
    correspondence: Option<Target>,
    coassociation: Option<Target>,
    dendrogram: Option<Target>,
    /// Files appear together, once all are complete.
    stage: Stage,
}

impl Targets {
    fn new(args: &OutputArgs, inputs: &[PathBuf], plan: &Plan, json: bool) -> anyhow::Result<Self> {
        let mut claims = Claims { inputs, taken: Vec::new(), stage: Stage::default() };
        if json {
            claims.taken.push(("--json", Path::new("-")));
        } else if args.output.is_none() {
            claims.taken.push(("the consensus", Path::new("-")));
        }
        let stdout = (args.output.is_none() && !json).then(Target::stdout);
        let targets = Targets {
            consensus: claims.target("-o", args.output.as_deref())?.or(stdout),
            membership: claims.target("--membership", args.membership.as_deref())?,
            correspondence: claims.target("--correspondence", args.correspondence.as_deref())?,
            coassociation: claims.target("--coassociation", args.coassociation.as_deref())?,
            dendrogram: claims.target("--dendrogram", args.dendrogram.as_deref())?,
            stage: claims.stage,
        };
        if let Some(path) = &args.coassociation {
            let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
            if ending != "npy" && ending != "parquet" {
                return Err(usage(format!(
                    "--coassociation {}: an n x n matrix is written as .npy or .parquet only",
                    path.display()
                )));
            }
        }
        targets.check_offers(plan)?;
        Ok(targets)
    }

    /// Refuses outputs that the method does not have.
    fn check_offers(&self, plan: &Plan) -> anyhow::Result<()> {
        type Has = fn(&Offers) -> bool;
        let offers = plan.offers()?;
        let check = |target: &Option<Target>, option: &str, has: Has| {
            if target.is_none() || has(&offers) {
                return Ok(());
            }
            let others = names_or_none(|info| {
                info.offers(&Settings::default()).is_ok_and(|offers| has(&offers))
            });
            Err(usage(format!(
                "method `{}` has nothing for {option}: leave it out, or take a method that has: \
                 {others}",
                plan.info.name,
            )))
        };
        check(&self.membership, "--membership", |offers| offers.membership)?;
        check(&self.correspondence, "--correspondence", |offers| offers.correspondences)?;
        check(&self.dendrogram, "--dendrogram", |offers| offers.dendrogram)
    }

    /// Writes everything; if that fails, all files are as they were before.
    fn write(
        &self,
        found: &Found,
        ensemble: &Ensemble,
        ids: Option<&Ids>,
        session: &Session,
    ) -> anyhow::Result<()> {
        let run = &session.run;
        let map = found.profiles.map();
        let consensus = &found.consensus;
        if let (Some(target), Some(membership)) = (&self.membership, &consensus.membership) {
            write_membership(target, ids, membership, map, run)?;
        }
        if let (Some(target), Some(matrices)) = (&self.correspondence, &consensus.correspondences) {
            write_correspondences(target, ensemble.members(), matrices, run)?;
        }
        if let (Some(target), Some(merges)) = (&self.dendrogram, &consensus.dendrogram) {
            write_matrix(target, &LINKAGE.map(str::to_owned), &linkage(found, merges), run)?;
        }
        if let Some(target) = &self.coassociation {
            write_coassociation(target, found, ids, session)?;
        }
        if let Some(target) = &self.consensus {
            write_consensus(target, ids, &found.labels, &found.confidence(), run)?;
        }
        run.check()?;
        Ok(self.stage.commit()?)
    }
}

/// The columns of a linkage matrix, as SciPy's documentation calls what they hold.
const LINKAGE: [&str; 4] = ["a", "b", "height", "size"];

/// The tree of merges over objects as SciPy's linkage rows.
fn linkage(found: &Found, merges: &[Merge]) -> Matrix {
    let rows = scipy_linkage(&found.profiles, merges);
    Matrix::from_vec(rows.len(), LINKAGE.len(), rows.concat())
}

/// Writes the n × n consensus matrix: the method's own where it learns one, otherwise the share of
/// clusterings that put two objects together.
fn write_coassociation(
    target: &Target,
    found: &Found,
    ids: Option<&Ids>,
    session: &Session,
) -> anyhow::Result<()> {
    let run = &session.run;
    let (profiles, map) = (&found.profiles, found.profiles.map());
    let (n, u) = (map.len(), profiles.len());
    run.ask_memory(
        &format!("the co-association matrix of {} objects", output::count(n)),
        8 * (n as u64).pow(2) + 8 * (u as u64).pow(2),
        "leave --coassociation out, or raise --memory",
    )?;
    let computed;
    let matrix = if let Some(learnt) = &found.consensus.affinity {
        learnt
    } else {
        let co = CoAssociation::new(profiles);
        let mut all = Matrix::zeros(u, u);
        run.install(|| {
            all.as_mut_slice().par_chunks_mut(u).enumerate().try_for_each(|(s, row)| {
                co.row_into(s, 0..u, row);
                run.check()
            })
        })?;
        computed = all;
        &computed
    };
    let unknown = vec![f64::NAN; n];
    let columns: Vec<_> = (0..n)
        .map(|j| {
            let name = ids.map_or_else(|| j.to_string(), |ids| ids.get(j).to_owned());
            let cells = match map[j] {
                NO_PROFILE => Cells::Numbers(unknown.as_slice().into()),
                s => Cells::Expanded(matrix, s as usize, map),
            };
            (name, cells)
        })
        .collect();
    Ok(write_table(target, &columns, run)?)
}
