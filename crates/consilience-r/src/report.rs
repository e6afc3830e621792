//! What a result comes to in words, and its page.

use std::borrow::Cow;

use consilience::consensus::NO_CLUSTER;
use consilience::ensemble::Profiles;
use consilience::judge::{Confidence, Judgement, Known, Number, Partition, Scatter, Sentence};
use consilience::pipeline::Record;
use consilience::{Error, Matrix, Run};
use consilience_report::Subject;
use extendr_api::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::given::Given;
use crate::job::{Telling, start};
use crate::profiles::{Held, labels};
use crate::told::list;

/// A result as R holds it.
struct Finding {
    held: Held,
    labels: Vec<u32>,
    k: usize,
    /// The number of clusters that was asked for.
    asked: Option<usize>,
    /// What the features say of the number of clusters.
    number: Option<Number>,
    /// The names of the objects.
    names: Option<Vec<String>>,
}

impl Finding {
    fn new(given: &Given) -> Outcome<Self> {
        let held = Held::new(given)?;
        let (labels, k) = labels(given, &held)?;
        let number = given.some_text("number")?.map(|text| serde_json::from_str(&text));
        let number = number.transpose().map_err(|error| damaged(&error))?;
        let asked = given.some_whole("asked")?.map(|k| k as usize);
        Ok(Finding { held, labels, k, asked, number, names: given.some_texts("names")? })
    }

    /// Calls `with` with the result judged.
    fn judged<T>(
        self,
        run: &Run,
        with: impl FnOnce(
            &Partition<'_>,
            &[Vec<String>],
            Option<&[String]>,
            &Judgement,
        ) -> consilience::Result<T>,
    ) -> consilience::Result<T> {
        let Finding { held, mut labels, k, asked, number, names } = self;
        let (profiles, clusters) = held.profiles(run)?;
        labels.iter_mut().filter(|label| **label >= k as u32).for_each(|label| *label = NO_CLUSTER);
        let confidence = Confidence::of_profiles(&profiles, &labels, k, run)?;
        let partition = Partition {
            profiles: Cow::Borrowed(&profiles),
            labels: labels.into(),
            confidence: confidence.into(),
            numbers: (0..k as u32).collect(),
            names: (1..=k).map(|number| number.to_string()).collect(),
        };
        let known = Known { asked, number: number.as_ref(), criteria: None };
        let judgement = Judgement::new(&partition, known, run)?;
        with(&partition, &clusters, names.as_deref(), &judgement)
    }
}

/// The verdict on a result: for each sentence what it is about, how to take it, and itself.
#[extendr]
fn verdict(args: List) -> Robj {
    start(&args, |given| {
        let result = Finding::new(given)?;
        Ok(move |run: &Run| {
            let sentences = result.judged(run, |_, _, _, judged| Ok(judged.verdict.clone()))?;
            Ok(Box::new(move || {
                let tone = |s: &Sentence| format!("{:?}", s.tone).to_lowercase();
                let about: Vec<String> = sentences.iter().map(|s| s.about.to_string()).collect();
                let tones: Vec<String> = sentences.iter().map(tone).collect();
                let texts: Vec<String> = sentences.into_iter().map(|s| s.text).collect();
                list([("about", about.into()), ("tone", tones.into()), ("text", texts.into())])
            }) as Telling)
        })
    })
}

/// The page of a result; `record` is what `result.json` of the command line would hold.
#[extendr]
fn page(args: List) -> Robj {
    start(&args, |given| {
        let result = Finding::new(given)?;
        let record = given.text("record")?;
        let mut record: Record = serde_json::from_str(&record).map_err(|error| damaged(&error))?;
        let features = given.some_matrix("features")?;
        let columns = given.some_texts("columns")?.unwrap_or_default();
        Ok(move |run: &Run| {
            let page = result.judged(run, |partition, clusters, names, judgement| {
                if let Some(values) = &features {
                    record.scatter = Some(scatter(values, &columns, &partition.profiles, run)?);
                }
                let subject = Subject {
                    partition,
                    clusters,
                    names: names
                        .map(|names| Box::new(|i: usize| names.get(i).map(String::as_str)) as _),
                };
                subject.page(judgement, &record, run)
            })?;
            Ok(Box::new(move || page.into()) as Telling)
        })
    })
}

fn scatter(
    values: &Matrix,
    names: &[String],
    profiles: &Profiles,
    run: &Run,
) -> consilience::Result<Scatter> {
    if values.nrows() != profiles.n_objects() {
        return Err(Error::Length {
            what: "`features`".to_owned(),
            got: values.nrows(),
            expected_by: "the result".to_owned(),
            expected: profiles.n_objects(),
        });
    }
    Scatter::new(values, names, |rows| Ok(rows.clone()), run)
}

/// A result that was changed since it was made.
fn damaged(error: &serde_json::Error) -> Failure {
    Failure::argument(format!("the result cannot be read: {error}"))
}

extendr_module! {
    mod report;
    fn verdict;
    fn page;
}
