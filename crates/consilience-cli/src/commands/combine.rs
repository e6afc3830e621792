//! `consilience combine CLUSTERINGS...`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use consilience::consensus::{Merge, Offers, Start, Wish};
use consilience::ensemble::{CoAssociation, Ensemble, NO_PROFILE};
use consilience::explain::scipy_linkage;
use consilience::linalg::Matrix;
use consilience_io::{Format, Ids};
use rayon::prelude::*;
use serde_json::json;

use super::add::Base;
use super::align::{Earlier, MOVED};
use super::consensus::{Found, Plan, names_or_none};
use super::folder::{self, FILES, OPTIONAL, Tables, kept};
use super::report;
use super::source::Source;
use super::{Session, board};
use crate::args::{CombineArgs, Common, ConsensusArgs, OutputArgs};
use crate::errors::usage;
use crate::{output, signals};
use consilience_io::{
    Cells, OutputError, Stage, Target, write_consensus, write_correspondences, write_matrix,
    write_membership, write_table, write_text,
};

pub(super) fn run(args: &CombineArgs, common: &Common) -> anyhow::Result<()> {
    let base = args.add.as_deref().map(Base::read).transpose()?;
    let consensus = match &base {
        Some(base) => base.completed(&args.consensus),
        None => args.consensus.clone(),
    };
    let outputs = &args.outputs;
    let wish = Wish {
        soft: outputs.membership.is_some() || outputs.correspondence.is_some(),
        tree: outputs.dendrogram.is_some(),
        ..Wish::default()
    };
    let plan = Plan::new(&consensus, wish)?;
    let follows = base.is_some() || consensus.align_to.is_some();
    let session = Session::new(common);
    let mut options = args.reading.options(None, args.weights.as_deref());
    let source = Source::new(args, base.as_ref(), &mut options, &session)?;
    let inputs = source.files();
    refuse_among_rows(args)?;
    let targets = Targets::new(&args.outputs, inputs, &plan, common.json, follows)?;
    let page = report::target(&args.outputs, inputs)?;

    let clock = Instant::now();
    let all_labels = args.outputs.save.is_some() || plan.is_leaderboard();
    let mut read = source.read(all_labels, &options, &session)?;
    let merged = read.profiles.take();
    let (ids, weights, n) = (read.ids.as_ref(), read.weights(), read.n);
    if let Some(base) = &base {
        base.check_names(read.ensemble.members())?;
    }
    let saved = base.as_ref().map(Base::labels);
    let init = consensus.init.as_deref();
    let init =
        init.or(saved.as_deref().filter(|_| plan.info().is_some_and(|info| info.takes_start)));
    let start = super::read_start(init, ids, n, &options, &session)?;
    let align_to = consensus.align_to.as_deref().or(args.add.as_deref());
    let earlier = Earlier::read(align_to, ids, n, &options, &session)?;
    let merging = merged.as_ref().map_or(0.0, |(_, seconds)| *seconds);
    let seconds = clock.elapsed().as_secs_f64() - merging;

    signals::computing();
    let start = start.as_deref().map(|labels| Start::new(labels).weights(weights));
    let mut found = match merged {
        Some((profiles, compress)) => plan.compute_on(profiles, weights, start, compress, &session),
        None => plan.compute(&read.ensemble, start, &session),
    }?;
    if let Some(earlier) = &earlier {
        found = found.following(earlier)?;
    }

    let clock = Instant::now();
    let combination = Combination {
        args,
        consensus: &consensus,
        base: base.as_ref(),
        earlier: earlier.as_ref(),
        id: options.id.as_deref(),
        ids,
        plan: &plan,
        found: &found,
        files: inputs,
        rows: source.because().is_some(),
        ensemble: &read.ensemble,
        weights,
    };
    let wanted = page.is_some() || args.outputs.save.is_some();
    let explained = report::of_combine(&combination, wanted, &session)?;
    let saved = match &explained {
        Some(explained) => targets.save(&combination, explained, &session)?,
        None => Vec::new(),
    };
    // Only an earlier result is cleared away: other files in the folder are the user's.
    let earlier_result = args.outputs.save.as_ref().filter(|dir| dir.join(FILES[2]).exists());
    targets.write(&found, &read.ensemble, ids, &session)?;
    if let Some(dir) = earlier_result {
        folder::remove_others(dir, &saved);
    }
    if let (Some(target), Some(explained)) = (&page, &explained) {
        write_text(target, &explained.page)?;
    }
    let write = clock.elapsed().as_secs_f64();
    session.progress.clear();

    if session.json {
        let mut told = found.told(&plan);
        let seconds = json!({
            "read": seconds,
            "compress": found.compress,
            "consensus": found.seconds,
            "write": write,
        });
        told.insert("seconds".to_owned(), seconds);
        if let Some(because) = source.because() {
            let rows =
                json!({ "files": inputs.len(), "because": because, "on_disk": read.spilled });
            told.insert("rows".to_owned(), rows);
        }
        if let Some(board) = &found.board {
            told.insert("method_seconds".to_owned(), board::seconds(board));
        }
        if let Some(explained) = &explained {
            told.insert("verdict".to_owned(), json!(explained.verdict));
        }
        if let Some(dir) = &args.outputs.save {
            told.insert("output".to_owned(), json!(dir));
        }
        return output::json(&session.finished(told));
    }
    if let Some(because) = source.because() {
        let disk = if read.spilled { "; distinct rows went through temporary files" } else { "" };
        let files = output::counted(inputs.len(), "file");
        output::note(&format!("{files} read as rows of one table, because {because}{disk}"));
    }
    output::note(&found.summary(&plan));
    if let Some(explained) = &explained {
        output::note(&super::terminal::verdict(&explained.verdict));
    }
    Ok(())
}

/// A combination with all that it came from.
pub(super) struct Combination<'a> {
    pub(super) args: &'a CombineArgs,
    /// The options of the consensus, with those of a saved result.
    pub(super) consensus: &'a ConsensusArgs,
    pub(super) base: Option<&'a Base>,
    pub(super) earlier: Option<&'a Earlier>,
    /// The column of identifiers.
    pub(super) id: Option<&'a str>,
    pub(super) ids: Option<&'a Ids>,
    pub(super) plan: &'a Plan,
    pub(super) found: &'a Found,
    /// The files that were read, and whether they are rows of one table.
    pub(super) files: &'a [PathBuf],
    pub(super) rows: bool,
    /// The members: of all objects, or of one object a distinct label tuple.
    pub(super) ensemble: &'a Ensemble,
    /// The weights of all objects.
    pub(super) weights: Option<&'a [f64]>,
}

/// Refuses to write a table where the next reading of the same folder would take it for rows.
fn refuse_among_rows(args: &CombineArgs) -> anyhow::Result<()> {
    let Some(output) = args.outputs.output.as_deref() else { return Ok(()) };
    let folder = output.parent().filter(|folder| *folder != Path::new(""));
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok();
    let read = |path: &PathBuf| path.is_dir() && fs::canonicalize(path).ok() == folder;
    if Format::of(output) == Some(Format::Parquet) && args.files.iter().any(read) {
        return Err(usage(format!(
            "-o {} is in the folder that is read, where it would be taken for rows the next time: \
             give another place",
            output.display()
        )));
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
    moved: Option<Target>,
    /// The folder that everything is saved in.
    folder: Option<PathBuf>,
    leaderboard: Option<Target>,
    all_labels: Option<Target>,
    /// Files appear together, once all are complete.
    stage: Stage,
}

impl Targets {
    /// `follows` says whether there is an earlier result that objects may have moved since.
    fn new(
        args: &OutputArgs,
        inputs: &[PathBuf],
        plan: &Plan,
        json: bool,
        follows: bool,
    ) -> anyhow::Result<Self> {
        if args.moved.is_some() && !follows {
            return Err(usage("--moved needs --align-to or --add: nothing to have moved from"));
        }
        let file = args.output.as_deref().filter(|path| !is_stdout(path) && args.save.is_none());
        let beside = file.filter(|_| follows).map(|path| path.with_file_name(MOVED));
        let moved = args.moved.as_deref().or(beside.as_deref());
        if let Some(dir) = &args.save {
            if dir.exists() && !dir.is_dir() {
                return Err(usage(format!("--save {} is a file: give a folder", dir.display())));
            }
            for name in FILES.iter().chain(&OPTIONAL) {
                super::check_output("--save", &dir.join(name), inputs)?;
            }
        }
        let mut claims = Claims { inputs, taken: Vec::new(), stage: Stage::default() };
        let printed = args.output.is_none() && args.save.is_none() && !json;
        if json {
            claims.taken.push(("--json", Path::new("-")));
        } else if printed {
            claims.taken.push(("the consensus", Path::new("-")));
        }
        let stdout = printed.then(Target::stdout);
        let targets = Targets {
            consensus: claims.target("-o", args.output.as_deref())?.or(stdout),
            membership: claims.target("--membership", args.membership.as_deref())?,
            correspondence: claims.target("--correspondence", args.correspondence.as_deref())?,
            coassociation: claims.target("--coassociation", args.coassociation.as_deref())?,
            dendrogram: claims.target("--dendrogram", args.dendrogram.as_deref())?,
            moved: claims.target("--moved", moved)?,
            folder: args.save.clone(),
            leaderboard: claims.target("--leaderboard", args.leaderboard.as_deref())?,
            all_labels: claims.target("--all-labels", args.all_labels.as_deref())?,
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
        let several = plan.is_leaderboard();
        for (option, target) in
            [("--leaderboard", &self.leaderboard), ("--all-labels", &self.all_labels)]
        {
            if target.is_some() && !several {
                return Err(usage(format!(
                    "{option} goes with several methods: give --method all, or a list of names"
                )));
            }
        }
        let Some(info) = plan.info() else {
            let own = [&self.membership, &self.correspondence, &self.dendrogram];
            if several && own.iter().any(|target| target.is_some()) {
                return Err(usage(
                    "--membership, --correspondence and --dendrogram go with one method: name it"
                        .to_owned(),
                ));
            }
            return Ok(());
        };
        let check = |target: &Option<Target>, option: &str, has: Has| {
            if target.is_none() || has(&info.offers) {
                return Ok(());
            }
            let others = names_or_none(|info| has(&info.offers));
            Err(usage(format!(
                "method `{}` has nothing for {option}: leave it out, or take a method that has: \
                 {others}",
                info.name,
            )))
        };
        check(&self.membership, "--membership", |offers| offers.membership)?;
        check(&self.correspondence, "--correspondence", |offers| offers.correspondences)?;
        check(&self.dendrogram, "--dendrogram", |offers| offers.dendrogram)
    }

    /// Writes the folder that everything is saved in, if one was named, and tells its files. They
    /// appear with the rest.
    fn save(
        &self,
        combination: &Combination<'_>,
        explained: &report::Combined,
        session: &Session,
    ) -> anyhow::Result<Vec<&'static str>> {
        let Some(dir) = &self.folder else { return Ok(Vec::new()) };
        fs::create_dir_all(dir)
            .map_err(|error| OutputError::io(dir.display().to_string(), &error))?;
        let target = |name: &str| -> anyhow::Result<Target> {
            Ok(Target::new(dir.join(name))?.on(&self.stage))
        };
        let Combination { found, ensemble, id, ids, earlier, .. } = *combination;
        let tables = Tables { found, ensemble, ids: id.zip(ids), earlier: kept(earlier, dir) };
        tables.write(target, session)?;
        write_text(&target(FILES[2])?, &format!("{:#}\n", explained.record))?;
        write_text(&target(FILES[3])?, &explained.page)?;
        Ok(tables.files())
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
        let numbers = &found.numbers;
        if let (Some(target), Some(membership)) = (&self.membership, &consensus.membership) {
            write_membership(target, ids, membership, numbers, map, run)?;
        }
        if let (Some(target), Some(matrices)) = (&self.correspondence, &consensus.correspondences) {
            write_correspondences(target, ensemble.members(), matrices, numbers, run)?;
        }
        if let (Some(target), Some(aligned)) = (&self.moved, &found.aligned) {
            aligned.write(target, found, ids, session)?;
        }
        if let (Some(target), Some(merges)) = (&self.dendrogram, &consensus.dendrogram) {
            write_matrix(target, &LINKAGE.map(str::to_owned), &linkage(found, merges), run)?;
        }
        if let Some(target) = &self.coassociation {
            write_coassociation(target, found, ids, session)?;
        }
        if let Some(board) = &found.board {
            if let Some(target) = &self.leaderboard {
                board::write(target, board, run)?;
            }
            if let Some(target) = &self.all_labels {
                board::write_labels(target, board, ids, run)?;
            }
        }
        if let Some(target) = &self.consensus {
            write_consensus(target, ids, &found.labels, found.confidence(), run)?;
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
