//! Data → answer → a folder of results, as `run` and `demo` do it.

use std::fs;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Instant;

use consilience::ensemble::Member;
use consilience::generate::{Data, Seat};
use consilience::pipeline::{
    Answer, Checked, FileRecord, GivenOptions, Input, Members, Recipe, Record, Scores,
};
use consilience_io::{Ids, Stage, Target};
use consilience_report::Subject;
use serde_json::{Value, json};

use super::earlier::EarlierFile;
use super::folder::{Taken, Written, others_in};
use super::saved::names;
use super::store::{MemberStore, fingerprint};
use super::tables::{Results, kept};
use super::{asked, board, terminal};
use crate::errors::{Exit, exit_of};
use crate::output::{self, counted};
use crate::session::Session;
use crate::signals;

/// What goes in.
pub(super) struct Job<'a> {
    /// The features, one row per object.
    pub(super) data: Data<'a>,
    /// Their names.
    pub(super) features: &'a [String],
    /// The identifiers, with the name of their column.
    pub(super) ids: Option<(&'a str, &'a Ids)>,
    /// The known classes.
    pub(super) truth: Option<Member>,
    /// The weights of the objects.
    pub(super) weights: Option<&'a [f64]>,
    /// From which clustering the consensus starts.
    pub(super) start: Option<Vec<Option<u32>>>,
    /// The result that the clusters are called after.
    pub(super) earlier: Option<EarlierFile>,
    /// Whether to tell how voting settled as members came in.
    pub(super) convergence: bool,
    pub(super) recipe: Recipe,
    pub(super) request: Checked,
    /// The command and its options.
    pub(super) command: GivenOptions,
    /// The files that were read.
    pub(super) inputs: Vec<FileRecord>,
}

/// What came out.
pub(super) struct Done {
    pub(super) answer: Answer,
    /// Small pictures, if somebody reads along on a terminal.
    pub(super) pictures: Option<String>,
    /// The files that were written.
    pub(super) files: Vec<&'static str>,
    /// Seconds spent on writing.
    write: f64,
}

impl Job<'_> {
    /// Does everything and writes the folder `dir`; nothing is left there if it fails, but for finished
    /// members, which the next run takes up unless it is to start `fresh`. Another result there is
    /// replaced only by `force`, or if it is what this one goes on from.
    pub(super) fn run(
        &self,
        dir: &Path,
        fresh: bool,
        force: bool,
        session: &Session,
    ) -> anyhow::Result<Done> {
        let same = |record: &Record| {
            let asked = (&self.command, &self.inputs, session.run.seed());
            (&record.command, &record.inputs, record.seed) == asked
        };
        let written = Written {
            weighted: self.weights.is_some(),
            convergence: self.convergence,
            aligned: self.earlier.is_some(),
            board: self.request.is_several(),
        };
        if !force {
            written.refuse_replacing(dir, same, kept(self.earlier.as_ref(), dir).is_some())?;
        }
        signals::computing();
        let taken = Taken::new(dir)?;
        let looked_for = self.request.looked_for();
        let fingerprint =
            fingerprint(&self.recipe, looked_for.as_deref(), self.data, session.run.seed());
        let store = MemberStore::open(dir, fingerprint, fresh)?;
        let result = self.run_in(dir, &store, session);
        match &result {
            Ok(_) => store.remove()?,
            // Members of data or options that cannot be used will not be asked for again.
            Err(error) if matches!(exit_of(error), Some(Exit::Data | Exit::Usage)) => {
                store.remove()?;
                let _ = fs::remove_dir(dir);
            }
            Err(_) => {
                session.progress.clear();
                store.abandon();
            }
        }
        drop(taken);
        result
    }

    fn run_in(&self, dir: &Path, store: &MemberStore, session: &Session) -> anyhow::Result<Done> {
        let run = &session.run;
        let members = Members::Features {
            data: self.data,
            names: self.features,
            weights: self.weights,
            recipe: &self.recipe,
            store: Some(store),
        };
        let input = Input {
            start: self.start.as_deref(),
            earlier: self.earlier.as_ref().map(|earlier| &earlier.result),
            truth: self.truth.as_ref(),
            convergence: self.convergence,
            judge: true,
            ..Input::new(members)
        };
        let answer = self.request.answer(input, run).map_err(|error| store.failure_or(error))?;
        asked::warn_of_outcome(&answer, session);
        let (Some(ensemble), Some(judgement)) = (&answer.ensemble, &answer.judgement) else {
            unreachable!("both were asked for");
        };

        let clock = Instant::now();
        let record = self.record(&answer, session);
        let partition = answer.partition();
        let (ids, clusters) = (self.ids.map(|(_, ids)| ids), &answer.clusters);
        let page = {
            let subject = Subject { partition: &partition, clusters, names: ids.map(names) };
            subject.page(judgement, &record, run)?
        };
        // Everything is written aside first, so that the folder holds the old results or the new ones.
        let aside = store.aside()?;
        let results = Results {
            answer: &answer,
            ensemble,
            ids: self.ids,
            earlier: kept(self.earlier.as_ref(), dir),
            record: &record,
            page: &page,
        };
        results.write(|name| Ok(Target::new(aside.path().join(name))?), session)?;
        let files = results.files();
        let stage = Stage::default();
        stage.folder(aside, dir, others_in(dir, &files));
        let watched = !session.json && std::io::stdout().is_terminal();
        let pictures =
            watched.then(|| terminal::pictures(&partition, judgement, session)).transpose()?;
        run.check()?;
        stage.commit()?;
        let write = clock.elapsed().as_secs_f64();
        drop(partition);
        Ok(Done { answer, pictures, files, write })
    }

    fn record(&self, answer: &Answer, session: &Session) -> Record {
        let mut record = answer.record(&session.run);
        record.command = self.command.clone();
        record.inputs.clone_from(&self.inputs);
        record.data.features = Some(self.features.to_vec());
        record.data.id = self.ids.map(|(name, _)| name.to_owned());
        record.data.truth = Some(self.truth.as_ref().map(|truth| truth.name().to_owned()));
        record.scores = Some(answer.scores.as_ref().map(Scores::record));
        record.classes = Some(answer.scores.as_ref().map(Scores::classes));
        record
    }
}

impl Done {
    /// What a committee made, if there was one.
    pub(super) fn seats(&self) -> &[Seat] {
        self.answer.members.made.as_ref().map_or(&[], |made| &made.seats)
    }

    /// The smallest and largest number of clusters that members were made with.
    pub(super) fn base_k(&self) -> (usize, usize) {
        self.answer.members.made.as_ref().and_then(|made| made.base_k).expect("they were made here")
    }

    /// What is printed as JSON; `read` seconds were spent on reading.
    pub(super) fn told(&self, dir: &Path, read: f64, session: &Session) -> anyhow::Result<Value> {
        let answer = &self.answer;
        let mut told = asked::told(answer)?;
        let mut add = |name: &str, value: Value| told.insert(name.to_owned(), value);
        add("ensemble", json!(answer.members));
        add("reused", json!(answer.reused));
        add("scores", json!(answer.scores.as_ref().map(Scores::record)));
        add("verdict", json!(answer.judgement.as_ref().map(|judgement| &judgement.verdict)));
        add("output", json!(dir));
        add("files", json!(self.files));
        add(
            "seconds",
            json!({
                "read": read,
                "generate": answer.seconds.generate,
                "compress": answer.seconds.compress,
                "consensus": answer.seconds.consensus,
                "write": self.write,
            }),
        );
        if let Some(board) = &answer.board {
            add("method_seconds", board::seconds(board));
        }
        Ok(session.finished(told))
    }

    /// The verdict in words.
    pub(super) fn verdict(&self) -> String {
        let judgement = self.answer.judgement.as_ref();
        judgement.map_or_else(String::new, |judgement| terminal::verdict(&judgement.verdict))
    }

    /// How many clusterings of an interrupted run were reused, in words.
    pub(super) fn resumed(&self) -> Option<String> {
        (self.answer.reused > 0).then(|| {
            format!(
                "{} of {} kept from an interrupted run (--fresh would start over)",
                output::count(self.answer.reused),
                counted(self.answer.members.size, "clustering")
            )
        })
    }
}
