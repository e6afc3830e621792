//! `consilience demo [NAME]`: the whole pipeline on data that is inside the program.

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser;
use clap::builder::styling::Style;
use consilience::consensus::Offers;
use consilience::data::{DataSet, data_set};
use consilience::ensemble::{LabelEncoder, Member};
use consilience::pipeline::Scores;
use serde_json::json;

use super::files::given;
use super::whole::{Done, Job};
use super::{asked, examples, making};
use crate::args::{Common, ConsensusArgs, DEFAULT_DEMO, DemoArgs, EnsembleArgs};
use crate::output::{self, count};
use crate::session::Session;

/// How data sets are treated: options of `run`. Where none are named, the number of clusters is found.
const TREATMENTS: [(&str, &str); 4] = [
    ("iris", "--k 3 --scale none"),
    ("half-rings", "--k 2"),
    ("three-rings", "--k 3"),
    ("blobs", "--k 5"),
];

/// The options of `run` that a treatment may have.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Treatment {
    #[command(flatten)]
    ensemble: EnsembleArgs,
    #[command(flatten)]
    consensus: ConsensusArgs,
}

pub(super) fn run(args: &DemoArgs, common: &Common) -> anyhow::Result<()> {
    if args.tables {
        let session = Session::new(common);
        let dir = args.output.as_deref().unwrap_or(Path::new(""));
        let paths = examples::write(dir, args.force, &session.run)?;
        if session.json {
            return output::json(&json!({ "schema": 1, "files": paths }));
        }
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return output::text(&format!("written: {}", paths.join(", ")));
    }
    let info = data_set(&args.name)?;
    let options = TREATMENTS.iter().find(|(name, _)| *name == info.name).map_or("", |(_, o)| o);
    let treatment = Treatment::parse_from(options.split_whitespace());
    let request = asked::request(&treatment.consensus, Offers::default(), false)?;
    let recipe = making::recipe(&treatment.ensemble, treatment.consensus.k.exactly())?;
    // A second data set does not get in the way of the first.
    let own = match info.name {
        DEFAULT_DEMO => "consilience-demo".to_owned(),
        other => format!("consilience-demo-{other}"),
    };
    let dir = args.output.as_deref().unwrap_or(Path::new(&own));

    let session = Session::new(common);
    let data = (info.make)(&session.run);
    let job = Job {
        data: (&data.features).into(),
        features: &data.feature_names,
        ids: None,
        truth: Some(truth(&data)),
        weights: None,
        start: None,
        earlier: None,
        convergence: false,
        recipe,
        request,
        command: given(json!({ "name": "demo", "data": info.name, "options": options })),
        inputs: Vec::new(),
    };
    let done = job.run(dir, false, args.force, &session)?;
    session.progress.clear();
    if session.json {
        return output::json(&done.told(dir, 0.0, &session)?);
    }
    let members = making::summary(&job.recipe, done.base_k(), done.seats(), false);
    output::text(&shown(info.title, &members, &done, dir, options)?)
}

/// The known classes by name.
fn truth(data: &DataSet) -> Member {
    let mut encoder = LabelEncoder::new();
    data.truth.iter().for_each(|&class| encoder.push_text(&data.class_names[class as usize]));
    encoder.finish("class").into()
}

fn shown(
    title: &str,
    members: &str,
    done: &Done,
    dir: &Path,
    options: &str,
) -> anyhow::Result<String> {
    let bold = Style::new().bold();
    let mut text = String::new();
    writeln!(text, "{bold}{}{bold:#}\n", capitalised(title))?;
    writeln!(text, "{bold}1. Many clusterings{bold:#}")?;
    writeln!(text, "{}", indented(members))?;
    if let Some(resumed) = done.resumed() {
        writeln!(text, "   {resumed}")?;
    }
    writeln!(text, "\n{bold}2. One consensus{bold:#}")?;
    writeln!(text, "{}", indented(&asked::summary(&done.answer)))?;
    if let Some(scores) = &done.answer.scores {
        writeln!(
            text,
            "\n{bold}3. Was it right?{bold:#} (the known classes were not used so far)\n"
        )?;
        writeln!(text, "{}\n", indented(&crossed(scores, &done.answer.numbers)))?;
        writeln!(text, "{}", indented(&judged(scores, done.answer.profiles.n_objects())))?;
    }
    if let Some(pictures) = &done.pictures {
        writeln!(text, "\n{bold}The clusters{bold:#}\n{}", indented(pictures))?;
    }
    writeln!(text, "\n{bold}Verdict{bold:#}")?;
    writeln!(text, "{}", indented(&done.verdict()))?;
    writeln!(text, "\n{bold}In the folder {}{bold:#}", dir.display())?;
    let contents = [
        ("labels.csv", "the cluster of every object, and how sure it is".to_owned()),
        ("ensemble.parquet", format!("the {} clusterings", done.answer.members.size)),
        ("result.json", "everything about how it was found".to_owned()),
        ("report.html", "all of it as a page with figures: open it in a browser".to_owned()),
    ];
    writeln!(text, "{}", indented(&output::facts(&contents)))?;
    writeln!(text, "\n{bold}Next{bold:#}")?;
    let options = if options.is_empty() { String::new() } else { format!(" {options}") };
    let run = format!("consilience run DATA.csv{options} -o results");
    let next = [
        (run.as_str(), "the same with your own data".to_owned()),
        ("consilience combine LABELS.csv", "combine clusterings that you already have".to_owned()),
        ("consilience methods", "other ways to combine".to_owned()),
    ];
    write!(text, "{}", indented(&output::facts(&next)))?;
    Ok(text)
}

/// Objects by cluster of the consensus (rows) and class (columns).
fn crossed(scores: &Scores, numbers: &[u32]) -> String {
    let rows: Vec<Vec<String>> = numbers
        .iter()
        .zip(&scores.table)
        .map(|(number, counts)| {
            let name = format!("cluster {number}");
            std::iter::once(name).chain(counts.iter().map(f64::to_string)).collect()
        })
        .collect();
    let classes = scores.truth.clusters().to_vec();
    let header: Vec<String> = std::iter::once(String::new()).chain(classes).collect();
    output::aligned(&header, &rows)
}

/// The score in a sentence.
fn judged(scores: &Scores, n: usize) -> String {
    let value = |name: &str| scores.value(name).unwrap_or((f64::NAN, f64::NAN));
    let (accuracy, (ours, mean)) = (value("accuracy").0, value("nmi"));
    format!(
        "{} of {} objects ({:.0} %) are in the cluster of their class\n\
         agreement with the classes (NMI): {ours:.3}; single clusterings reach {mean:.3} on average",
        count((accuracy * n as f64).round() as usize),
        count(n),
        100.0 * accuracy,
    )
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn indented(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("   {line}")).collect();
    lines.join("\n")
}
