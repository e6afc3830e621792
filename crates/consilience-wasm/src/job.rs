//! From a file and settings to everything the page shows: `combine` and `run` of the command line, in memory.

use std::path::Path;

use bytes::Bytes;
use consilience::Run;
use consilience::ensemble::{Ensemble, Member};
use consilience::judge::Partition;
use consilience::pipeline::{Answer, FileRecord, GivenOptions, Input, Members, Record, Scores};
use consilience_io::{
    Cells, Ids, InputError, Memory, Setting, Target, Xxh64, read_clusterings, read_features,
    write_consensus, write_members,
};
use consilience_report::Subject;
use serde_json::{Value, json};

use crate::asked::Asked;
use crate::failure::Failure;
use crate::guess::{Guess, guess};

/// Hears what comes out: the page, by way of its worker.
pub trait Hearer {
    /// A part of the result: `answer` (JSON for the page), or a file by its name.
    fn hear(&self, name: &str, bytes: &[u8]);
}

/// Combines the clusterings in a file, or clusters its features and combines that.
pub fn run(asked: &Asked, bytes: Bytes, run: &Run, hearer: &dyn Hearer) -> Result<(), Failure> {
    consilience_io::spell_by(crate::failure::spelled);
    let seen = guess(asked, &bytes, run)?;
    let job = Job { asked, bytes, seen, run, hearer };
    if job.seen.features { job.features() } else { job.clusterings() }
}

struct Job<'a> {
    asked: &'a Asked,
    bytes: Bytes,
    seen: Guess,
    run: &'a Run,
    hearer: &'a dyn Hearer,
}

impl Job<'_> {
    /// As `consilience combine`.
    fn clusterings(&self) -> Result<(), Failure> {
        let (asked, run) = (self.asked, self.run);
        let request = asked.request()?;
        let mut options = asked.reading(self.bytes.clone());
        options.id.clone_from(&self.seen.id);
        options.truth = asked.truth().map(str::to_owned);
        // The reader would look for a file of this name, which a page cannot have.
        let known = &self.seen.columns;
        if let Some(name) = options.truth.clone().filter(|name| !known.contains(name)) {
            let (file, option, known) = (asked.name.clone(), Setting::Truth, known.clone());
            return Err(InputError::NoSuchColumn { file, option, name, known }.into());
        }
        let table = read_clusterings(&[asked.name.clone().into()], &options, run)?;
        table.warnings.iter().for_each(|warning| run.warn(warning));
        let ensemble = Ensemble::new(table.members)?;
        let ids = table.ids.as_ref();
        let truth = table.truth.map(Member::from);
        let members = Members::Ensemble(ensemble.into());
        let input = Input { truth: truth.as_ref(), judge: true, ..Input::new(members) };
        let answer = request.answer(input, run)?;
        let mut record = answer.record(run);
        record.data.id = ids.map(|_| options.id.clone().unwrap_or_else(|| "id".to_owned()));
        if let Some(truth) = &truth {
            record.data.truth = Some(Some(truth.name().to_owned()));
            record.scores = Some(answer.scores.as_ref().map(Scores::record));
            record.classes = Some(answer.scores.as_ref().map(Scores::classes));
        }
        record.command = given(json!({
            "name": "combine",
            "saved": false,
            "method": asked.method(),
            "k": asked.told_k()?,
            "set": {},
            "add": null,
            "init": null,
            "align_to": null,
            "weights": null,
            "id": options.id,
            "drop": asked.no_clusterings(),
            "missing": options.missing,
            "noise": null,
            "decimal": asked.decimal(),
            "no_header": false,
            "rows": false,
        }));
        self.finish(&answer, record, ids, "combine")
    }

    /// As `consilience run`.
    fn features(&self) -> Result<(), Failure> {
        let (asked, run) = (self.asked, self.run);
        let request = asked.request()?;
        let recipe = asked.recipe()?;
        let mut options = asked.reading(self.bytes.clone());
        options.id.clone_from(&self.seen.id);
        options.truth = asked.truth().map(str::to_owned);
        let table = read_features(Path::new(&asked.name), &options, run)?;
        if let Some(found) = table.looks_like_clusterings() {
            let hint = "choose Clusterings if that is so".to_owned();
            if found.sure && asked.kind != "features" {
                let (file, evidence) = (table.file, found.evidence);
                return Err(InputError::MeantCombine { file, evidence, hint }.into());
            }
            run.warn(&format!("{}: {}; {hint}", table.file, found.evidence));
        }
        table.warnings.iter().for_each(|warning| run.warn(warning));
        let truth = table.truth.clone().map(Member::from);
        let members = Members::Features {
            data: table.values.data(),
            names: &table.columns,
            weights: None,
            recipe: &recipe,
            store: None,
        };
        let input = Input { truth: truth.as_ref(), judge: true, ..Input::new(members) };
        let answer = request.answer(input, run)?;
        let ids = table.ids.as_ref();
        let mut record = answer.record(run);
        record.data.features = Some(table.columns.clone());
        record.data.id = options.id.clone().filter(|_| ids.is_some());
        record.data.truth = Some(truth.as_ref().map(|truth| truth.name().to_owned()));
        record.scores = Some(answer.scores.as_ref().map(Scores::record));
        record.classes = Some(answer.scores.as_ref().map(Scores::classes));
        record.command = given(json!({
            "name": "run",
            "preset": null,
            "method": asked.method(),
            "k": asked.told_k()?,
            "set": {},
            "init": null,
            "align_to": null,
            "weights": null,
            "size": null,
            "scheme": "committee",
            "kinds": [],
            "base": "kmeans",
            "base_k": null,
            "representatives": null,
            "neighbours": null,
            "subspace": null,
            "sample": null,
            "leave_out": false,
            "soft": false,
            "scale": "zscore",
            "id": options.id,
            "truth": options.truth,
            "drop": options.drop,
            "as_features": asked.kind == "features",
            "impute": null,
            "missing": options.missing,
            "decimal": asked.decimal(),
            "no_header": false,
        }));
        self.finish(&answer, record, ids, "run")
    }

    /// Hands out what came of it.
    fn finish(
        &self,
        answer: &Answer,
        mut record: Record,
        ids: Option<&Ids>,
        command: &str,
    ) -> Result<(), Failure> {
        let (run, hearer) = (self.run, self.hearer);
        record.inputs = vec![self.described()];
        let Some(judgement) = &answer.judgement else { unreachable!("it was asked for") };
        let partition = answer.partition();
        let names: Option<consilience_report::Names<'_>> = ids.map(|ids| {
            let name = move |i| (i < ids.len()).then(|| ids.get(i));
            Box::new(name) as consilience_report::Names<'_>
        });
        let subject = Subject { partition: &partition, clusters: &answer.clusters, names };
        let page = subject.page(judgement, &record, run)?;

        let memory = Memory::default();
        let labels = answer.labels();
        let Partition { profiles, confidence, .. } = &partition;
        let sure = Cells::Sure { confidence, map: profiles.map(), labels: &labels };
        let coverage = answer.coverage();
        let coverage = coverage.as_ref().map(|coverage| Cells::Numbers(coverage.into()));
        write_consensus(&Target::memory("labels.csv", &memory), ids, &labels, sure, coverage, run)?;
        hearer.hear("labels.csv", &memory.take());
        if let Some(ensemble) = answer.ensemble.as_ref().filter(|_| command == "run") {
            let id = record.data.id.as_deref().zip(ids);
            let target = Target::memory("clusterings.csv", &memory);
            write_members(&target, id, ensemble.members(), run)?;
            hearer.hear("clusterings.csv", &memory.take());
        }
        hearer.hear("result.json", format!("{}\n", pretty(&record)).as_bytes());
        hearer.hear("report.html", page.as_bytes());
        let told = json!({
            "kind": if command == "run" { "features" } else { "clusterings" },
            "file": self.asked.name,
            "objects": answer.profiles.n_objects(),
            "clusterings": answer.profiles.n_members(),
            "k": answer.consensus.k,
            "sizes": answer.sizes,
            "method": answer.choice.info.name,
            "id": record.data.id,
            "columns": self.seen.columns,
            "verdict": judgement.verdict,
            "command": self.asked.command(command, record.data.id.as_deref()),
        });
        hearer.hear("answer", told.to_string().as_bytes());
        Ok(())
    }

    fn described(&self) -> FileRecord {
        let mut sum = Xxh64::new();
        sum.update(&self.bytes);
        FileRecord {
            file: self.asked.name.clone(),
            bytes: Some(self.bytes.len() as u64),
            xxh64: Some(format!("{:016x}", sum.finish())),
            ..FileRecord::default()
        }
    }
}

fn given(options: Value) -> GivenOptions {
    match options {
        Value::Object(options) => GivenOptions(options),
        _ => unreachable!("options are an object"),
    }
}

fn pretty(record: &Record) -> String {
    serde_json::to_string_pretty(record).expect("a record is plain data")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Default)]
    struct Heard(RefCell<BTreeMap<String, String>>);

    impl Hearer for Heard {
        fn hear(&self, name: &str, bytes: &[u8]) {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.0.borrow_mut().insert(name.to_owned(), text);
        }
    }

    fn all(asked: &Asked, text: &str) -> Result<BTreeMap<String, String>, Failure> {
        let heard = Heard::default();
        run(asked, Bytes::from(text.to_owned()), &Run::new(0), &heard)?;
        Ok(heard.0.into_inner())
    }

    /// Three clusterings that agree on two groups, and classes that are something else.
    fn table() -> String {
        let row = |i: usize| {
            let (group, class) = (i / 12, ["x", "y", "z"][i % 3]);
            format!("o{i},{group},{},{},{class}\n", 1 - group, (i + 1) % 24 / 12)
        };
        "object,a,b,c,class\n".to_owned() + &(0..24).map(row).collect::<String>()
    }

    #[test]
    fn known_classes_are_compared_with_and_do_not_vote() {
        let asked = Asked { name: "t.csv".to_owned(), ..Asked::default() };
        let without = all(&Asked { drop: "class".to_owned(), ..asked.clone() }, &table()).unwrap();
        let with = all(&Asked { truth: "class".to_owned(), ..asked.clone() }, &table()).unwrap();
        assert_eq!(with["labels.csv"], without["labels.csv"]);
        let answer: Value = serde_json::from_str(&with["answer"]).unwrap();
        assert_eq!((&answer["clusterings"], &answer["k"]), (&json!(3), &json!(2)));
        assert!(answer["command"].as_str().unwrap().contains(" --drop class "));
        let record: Value = serde_json::from_str(&with["result.json"]).unwrap();
        assert_eq!(record["data"]["truth"], "class");
        assert_eq!(record["command"]["drop"], json!(["class"]));
        assert!(record["scores"].is_object());
        assert!(with["report.html"].contains("with the classes"));
        assert!(!without["report.html"].contains("with the classes"));
        // All four vote where nothing is said.
        let answer: Value =
            serde_json::from_str(&all(&asked, &table()).unwrap()["answer"]).unwrap();
        assert_eq!(answer["clusterings"], 4);
    }

    #[test]
    fn known_classes_are_a_column() {
        let asked =
            Asked { name: "t.csv".to_owned(), truth: "klass".to_owned(), ..Asked::default() };
        let refusal = all(&asked, &table()).unwrap_err().to_string();
        assert!(refusal.contains("klass") && refusal.contains("class"), "{refusal}");
        assert!(refusal.contains("Known classes"), "{refusal}");
    }
    #[test]
    fn decimals_may_have_commas() {
        let row = |i: usize| format!("p{i};{},{};{},5;-9\n", i % 2 * 10, i % 7, i % 2 * 20 + i % 5);
        let text = "who;x;y;z\n".to_owned() + &(0..40).map(row).collect::<String>();
        let asked = Asked { name: "t.csv".to_owned(), drop: "z".to_owned(), ..Asked::default() };
        let refusal = all(&asked, &text).unwrap_err().to_string();
        assert!(refusal.contains("a comma as Decimals"), "{refusal}");
        let found = all(&Asked { decimal: ",".to_owned(), ..asked }, &text).unwrap();
        let answer: Value = serde_json::from_str(&found["answer"]).unwrap();
        assert_eq!((&answer["kind"], &answer["k"]), (&json!("features"), &json!(2)));
        let command = answer["command"].as_str().unwrap();
        assert!(command.contains(" --drop z --decimal , "), "{command}");
        let record: Value = serde_json::from_str(&found["result.json"]).unwrap();
        assert_eq!(record["command"]["decimal"], ",");
    }

    #[test]
    fn missing_labels_may_be_called_anything() {
        let text = table().replace("o3,0,", "o3,-1,").replace(",x\n", ",-1\n");
        let told = |missing: &str| {
            let missing = missing.to_owned();
            let asked = Asked { name: "t.csv".to_owned(), missing, ..Asked::default() };
            let found = all(&asked, &text).unwrap();
            let members: Value = serde_json::from_str(&found["result.json"]).unwrap();
            (found["labels.csv"].lines().next().unwrap().to_owned(), members["command"].clone())
        };
        // Among words, -1 is a word.
        let (_, command) = told("");
        assert_eq!(command["missing"], json!([]));
        let (header, command) = told("-1");
        assert_eq!(command["missing"], json!(["-1"]));
        assert_eq!(header, "id,cluster,confidence,coverage");
    }
}
