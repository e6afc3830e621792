//! `consilience combine CLUSTERINGS...`.

use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use consilience::Edges;
use consilience::consensus::Offers;
use consilience::ensemble::{CoAssociation, Linked, NO_PROFILE};
use consilience::judge::scipy_linkage;
use consilience::pipeline::{Answer, Checked, Input, Record};
use consilience_io::{
    Cells, Format, Ids, Stage, Target, read_edges, write_correspondences, write_edges,
    write_matrix, write_membership, write_table, write_text,
};
use consilience_report::Subject;
use serde_json::json;

use super::add::Base;
use super::earlier::{EarlierFile, consensus_inputs, write_moved};
use super::files::{check_output, described, described_as, file_name, given, refuse_input};
use super::folder::{FILES, MOVED, OPTIONAL, Taken, Written, others_in};
use super::saved::names;
use super::source::Source;
use super::tables::{Results, kept, write_labels};
use super::{asked, board, reading, terminal};
use crate::args::{CombineArgs, Common, ConsensusArgs, OutputArgs};
use crate::errors::usage;
use crate::session::Session;
use crate::{output, signals};

pub(super) fn run(args: &CombineArgs, common: &Common) -> anyhow::Result<()> {
    let outputs = &args.outputs;
    // Before anything is read: with --add it may be the folder that is read.
    let folder = outputs.save.as_deref().filter(|dir| !dir.is_file());
    let folder = folder.map(Taken::new).transpose()?;
    let base = args.add.as_deref().map(Base::read).transpose()?;
    let consensus = match &base {
        Some(base) => base.completed(&args.consensus, args.edges.is_some()),
        None => args.consensus.clone(),
    };
    let wanted = Offers {
        membership: outputs.membership.is_some(),
        correspondences: outputs.correspondence.is_some(),
        dendrogram: outputs.dendrogram.is_some(),
        ..Offers::default()
    };
    let request = asked::request(&consensus, wanted, args.edges.is_some())?;
    let follows = base.is_some() || consensus.align_to.is_some();
    let session = Session::new(common);
    let mut options = args.reading.options(None, args.weights.as_deref());
    let source = Source::new(args, base.as_ref(), &mut options, &session)?;
    let files = source.files();
    refuse_among_rows(args)?;
    let inputs: Vec<PathBuf> = files.iter().chain(&args.edges).cloned().collect();
    let targets = Targets::new(outputs, &inputs, &request, common.json, follows)?;

    let clock = Instant::now();
    let all_labels = outputs.save.is_some() || request.is_several();
    let read = source.read(all_labels, &options, &session)?;
    let (ids, n) = (read.ids.as_ref(), read.n);
    if let Some(base) = &base {
        base.check_names(read.members.members())?;
    }
    let saved = base.as_ref().map(Base::labels);
    let takes_start = request.info().is_some_and(|info| info.takes_start);
    let init = consensus.init.as_deref().or(saved.as_deref().filter(|_| takes_start));
    let of_start = if consensus.init.is_some() { options.clone() } else { options.as_written() };
    let start = reading::start(init, ids, n, &of_start, &session)?;
    let align_to = consensus.align_to.as_deref().or(args.add.as_deref());
    let earlier = EarlierFile::read(align_to, ids, n, &options, &session)?;
    let edges = args.edges.as_deref().map(|path| read_edges(path, ids, n, &options, &session.run));
    let edges = edges.transpose()?;
    edges.iter().flat_map(|edges| &edges.warnings).for_each(|warning| session.run.warn(warning));
    let edges = edges.map(|table| table.edges);
    let seconds = clock.elapsed().as_secs_f64() - read.merging;

    let wanted = targets.page.is_some() || outputs.save.is_some();
    let mut asked_for = Record::new(session.run.seed());
    if wanted {
        let rows = source.because().is_some();
        describe(&mut asked_for, args, &consensus, base.as_ref(), earlier.as_ref(), files, rows)?;
    }
    if let Some(dir) = &outputs.save {
        let same = |record: &Record| {
            let asked = (&asked_for.command, &asked_for.inputs, asked_for.seed);
            (&record.command, &record.inputs, record.seed) == asked
        };
        let written = Written {
            weighted: options.weights.is_some(),
            convergence: false,
            aligned: earlier.is_some(),
            board: request.is_several(),
        };
        if !outputs.force {
            written.refuse_replacing(dir, same, kept(earlier.as_ref(), dir).is_some())?;
        }
    }

    signals::computing();
    let watched = !session.json && std::io::stderr().is_terminal();
    let input = Input {
        start: start.as_deref(),
        edges: edges.as_ref(),
        earlier: earlier.as_ref().map(|earlier| &earlier.result),
        judge: wanted || watched,
        ..Input::new(read.members.into())
    };
    let answer = request.answer(input, &session.run)?;
    asked::warn_of_outcome(&answer, &session);

    let clock = Instant::now();
    let mut page = String::new();
    if wanted {
        let mut record = answer.record(&session.run);
        // Identifiers that were found without being named are those of a consensus.
        let id = ids.map(|_| options.id.clone().unwrap_or_else(|| "id".to_owned()));
        record.data.id.clone_from(&id);
        record.command = asked_for.command;
        record.inputs = asked_for.inputs;
        page = made_page(&answer, &record, ids, &session)?;
        if let (Some(folder), Some(ensemble)) = (&folder, &answer.ensemble) {
            let results = Results {
                answer: &answer,
                ensemble,
                ids: id.as_deref().zip(ids),
                earlier: kept(earlier.as_ref(), folder.path()),
                record: &record,
                page: &page,
            };
            let aside = folder.aside()?;
            results.write(|name| Ok(Target::new(aside.path().join(name))?), &session)?;
            // Only an earlier result is cleared away: other files in the folder are the user's.
            let gone = others_in(folder.path(), &results.files());
            targets.stage.folder(aside, folder.path(), gone);
        }
    }
    targets.write(&answer, ids, edges.as_ref(), &page, &session)?;
    drop(folder);
    let write = clock.elapsed().as_secs_f64();
    session.progress.clear();

    if session.json {
        let mut told = asked::told(&answer)?;
        let seconds = json!({
            "read": seconds,
            "compress": answer.seconds.compress + read.merging,
            "consensus": answer.seconds.consensus,
            "write": write,
        });
        told.insert("seconds".to_owned(), seconds);
        if let Some(because) = source.because() {
            let rows = json!({ "files": files.len(), "because": because, "on_disk": read.spilled });
            told.insert("rows".to_owned(), rows);
        }
        if let Some(board) = &answer.board {
            told.insert("method_seconds".to_owned(), board::seconds(board));
        }
        if let Some(judgement) = &answer.judgement {
            told.insert("verdict".to_owned(), json!(judgement.verdict));
        }
        if let Some(dir) = &outputs.save {
            told.insert("output".to_owned(), json!(dir));
        }
        return output::json(&session.finished(told));
    }
    if let Some(because) = source.because() {
        let disk = if read.spilled { "; distinct rows went through temporary files" } else { "" };
        let files = output::counted(files.len(), "file");
        output::note(&format!("{files} read as rows of one table, because {because}{disk}"));
    }
    output::note(&asked::summary(&answer));
    if let Some(moved) = targets.moved.as_ref().filter(|_| outputs.moved.is_none()) {
        output::note(&format!("who moved is listed in {}", moved.shown()));
    }
    if let Some(judgement) = &answer.judgement {
        output::note(&terminal::verdict(&judgement.verdict));
    }
    Ok(())
}

/// Adds to a record what the command line knows: the command and the files.
fn describe(
    record: &mut Record,
    args: &CombineArgs,
    consensus: &ConsensusArgs,
    base: Option<&Base>,
    earlier: Option<&EarlierFile>,
    files: &[PathBuf],
    rows: bool,
) -> anyhow::Result<()> {
    let mut inputs = files.iter().map(|path| described(path)).collect::<Result<Vec<_>, _>>()?;
    inputs.extend(base.map(Base::described).transpose()?.into_iter().flatten());
    // A saved result that clusterings are added to is what clusters are called after.
    let earlier = earlier.filter(|_| consensus.align_to.is_some());
    inputs.extend(consensus_inputs(consensus, earlier)?);
    let mut weights = args.weights.clone();
    if let Some(path) = args.weights.as_deref().map(Path::new).filter(|path| path.is_file()) {
        inputs.push(described_as(path, "weights")?);
        weights = Some(file_name(path));
    }
    if let Some(path) = &args.edges {
        inputs.push(described_as(path, "edges")?);
    }
    record.inputs = inputs;
    record.command = given(json!({
        "name": "combine",
        "saved": args.outputs.save.is_some(),
        "method": consensus.method(),
        "k": consensus.k.told(),
        "set": asked::settings(consensus),
        "add": base.map(Base::recorded),
        "init": consensus.init.as_deref().map(file_name),
        "align_to": earlier.map(|earlier| &earlier.result.name),
        "weights": weights,
        "id": args.reading.id,
        "drop": args.reading.drop,
        "missing": args.reading.missing,
        "noise": args.reading.noise,
        "decimal": args.reading.decimal,
        "no_header": args.reading.no_header,
        "rows": rows,
    }));
    if let Some(path) = &args.edges {
        record.command.0.insert("edges".to_owned(), json!(file_name(path)));
    }
    Ok(())
}

/// The page of an answer that was judged.
fn made_page(
    answer: &Answer,
    record: &Record,
    ids: Option<&Ids>,
    session: &Session,
) -> anyhow::Result<String> {
    let Some(judgement) = &answer.judgement else { unreachable!("it was asked for") };
    let partition = answer.partition();
    let subject =
        Subject { partition: &partition, clusters: &answer.clusters, names: ids.map(names) };
    Ok(subject.page(judgement, record, &session.run)?)
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
    force: bool,
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
        check_output(option, path, self.inputs, self.force)?;
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

/// Where the results go; a value of this type is proof that they can go there.
struct Targets {
    consensus: Option<Target>,
    membership: Option<Target>,
    correspondence: Option<Target>,
    coassociation: Option<Target>,
    dendrogram: Option<Target>,
    moved: Option<Target>,
    edge_weights: Option<Target>,
    leaderboard: Option<Target>,
    all_labels: Option<Target>,
    page: Option<Target>,
    /// Files appear together, once all are complete.
    stage: Stage,
}

impl Targets {
    /// `follows` says whether there is an earlier result that objects may have moved since.
    fn new(
        args: &OutputArgs,
        inputs: &[PathBuf],
        request: &Checked,
        json: bool,
        follows: bool,
    ) -> anyhow::Result<Self> {
        if args.moved.is_some() && !follows {
            return Err(usage("--moved needs --align-to or --add: nothing to have moved from"));
        }
        let file = args.output.as_deref().filter(|path| !is_stdout(path) && args.save.is_none());
        // Each result has a list of its own, also of several in one folder.
        let beside = file.filter(|_| follows).map(|path| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{stem}-{MOVED}"))
        });
        let moved = args.moved.as_deref().or(beside.as_deref());
        if let Some(dir) = &args.save {
            if dir.exists() && !dir.is_dir() {
                return Err(usage(format!("--save {} is a file: give a folder", dir.display())));
            }
            for name in FILES.iter().chain(&OPTIONAL) {
                refuse_input("--save", &dir.join(name), inputs)?;
            }
        }
        let (taken, stage) = (Vec::new(), Stage::default());
        let mut claims = Claims { inputs, force: args.force, taken, stage };
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
            edge_weights: claims.target("--edge-weights", args.edge_weights.as_deref())?,
            leaderboard: claims.target("--leaderboard", args.leaderboard.as_deref())?,
            all_labels: claims.target("--all-labels", args.all_labels.as_deref())?,
            page: page_target(args, inputs)?.map(|page| page.on(&claims.stage)),
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
        for (option, target) in
            [("--leaderboard", &targets.leaderboard), ("--all-labels", &targets.all_labels)]
        {
            if target.is_some() && !request.is_several() {
                return Err(usage(format!(
                    "{option} goes with several methods: give --method all, or a list of names"
                )));
            }
        }
        Ok(targets)
    }

    /// Writes everything; if that fails, all files are as they were before.
    fn write(
        &self,
        answer: &Answer,
        ids: Option<&Ids>,
        edges: Option<&Edges>,
        page: &str,
        session: &Session,
    ) -> anyhow::Result<()> {
        let (consensus, numbers, run) = (&answer.consensus, &answer.numbers, &session.run);
        if let (Some(target), Some(membership)) = (&self.membership, &consensus.membership) {
            write_membership(target, ids, membership, numbers, answer.profiles.map(), run)?;
        }
        if let (Some(target), Some(matrices), Some(ensemble)) =
            (&self.correspondence, &consensus.correspondences, &answer.ensemble)
        {
            write_correspondences(target, ensemble.members(), matrices, numbers, run)?;
        }
        if let (Some(target), Some(edges)) = (&self.edge_weights, edges) {
            let linked = run.install(|| Linked::new(&answer.profiles, edges));
            write_edges(target, ids, edges, &linked, run)?;
        }
        if let Some(target) = &self.moved {
            write_moved(target, answer, ids, session)?;
        }
        if let (Some(target), Some(merges)) = (&self.dendrogram, &consensus.dendrogram) {
            let rows = scipy_linkage(&answer.profiles, merges)?;
            write_matrix(target, &LINKAGE.map(str::to_owned), &rows, run)?;
        }
        if let Some(target) = &self.coassociation {
            write_coassociation(target, answer, ids, session)?;
        }
        if let Some(board) = &answer.board {
            if let Some(target) = &self.leaderboard {
                board::write(target, board, run)?;
            }
            if let Some(target) = &self.all_labels {
                board::write_labels(target, board, ids, run)?;
            }
        }
        if let Some(target) = &self.page {
            write_text(target, page)?;
        }
        if let Some(target) = &self.consensus {
            write_labels(target, answer, ids, session)?;
        }
        run.check()?;
        Ok(self.stage.commit()?)
    }
}

/// Where the page goes.
fn page_target(outputs: &OutputArgs, inputs: &[PathBuf]) -> anyhow::Result<Option<Target>> {
    let Some(path) = &outputs.report else { return Ok(None) };
    check_output("--report", path, inputs, outputs.force)?;
    if is_stdout(path) || outputs.output.as_ref() == Some(path) {
        return Err(usage("--report needs a file of its own, such as report.html"));
    }
    Ok(Some(Target::new(path)?))
}

/// The columns of a linkage matrix, as SciPy's documentation calls what they hold.
const LINKAGE: [&str; 4] = ["a", "b", "height", "size"];

/// Writes the n × n consensus matrix: the method's own where it learns one, otherwise the share of
/// clusterings that put two objects together.
fn write_coassociation(
    target: &Target,
    answer: &Answer,
    ids: Option<&Ids>,
    session: &Session,
) -> anyhow::Result<()> {
    let run = &session.run;
    let (profiles, map) = (&answer.profiles, answer.profiles.map());
    let (n, u) = (map.len(), profiles.len());
    run.ask_memory(
        &format!("the co-association matrix of {}", output::counted(n, "object")),
        8 * (n as u64).pow(2) + 8 * (u as u64).pow(2),
        "leave --coassociation out, or raise --memory",
    )?;
    let computed;
    let matrix = if let Some(learnt) = &answer.consensus.affinity {
        learnt
    } else {
        computed = CoAssociation::new(profiles).matrix(run)?;
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
