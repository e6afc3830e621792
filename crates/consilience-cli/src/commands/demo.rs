//! `consilience demo [NAME]`: the whole pipeline on data that is inside the program.

use std::fmt::Write as _;
use std::path::Path;

use clap::Parser;
use clap::builder::styling::Style;
use consilience::consensus::Wish;
use consilience::data::{DataSet, data_set};
use consilience::ensemble::{LabelEncoder, Member};
use serde_json::json;

use super::Session;
use super::consensus::Plan;
use super::ensemble::Recipe;
use super::pipeline::{self, Input, Outcome, Scores};
use super::score::COLUMNS;
use crate::args::{Common, ConsensusArgs, DemoArgs, EnsembleArgs};
use crate::output::{self, count};

/// How each data set is treated: options of `run`.
const TREATMENTS: [(&str, &str); 5] = [
    ("iris", "--method scec --k 3 --scale none"),
    ("half-rings", "--method voting"),
    ("three-rings", "--method ea-sl --k 3 --base-k 40..80"),
    ("cigar", "--method voting"),
    ("blobs", "--method scec --k 5"),
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
    let info = data_set(&args.name)?;
    let options = TREATMENTS.iter().find(|(name, _)| *name == info.name).map_or("", |(_, o)| o);
    let treatment = Treatment::parse_from(options.split_whitespace());
    let plan = Plan::new(&treatment.consensus, Wish::default())?;
    let recipe = Recipe::new(&treatment.ensemble, treatment.consensus.k.exactly())?;
    let dir = args.output.as_path();

    let session = Session::new(common);
    let data = (info.make)(&session.run);
    let input = Input {
        values: (&data.features).into(),
        features: &data.feature_names,
        ids: None,
        truth: Some(truth(&data)),
        weights: None,
        start: None,
        earlier: None,
        convergence: false,
        command: json!({ "name": "demo", "data": info.name, "options": options }),
        inputs: json!([]),
    };
    let outcome = pipeline::run(&input, &recipe, &plan, (dir, false), &session)?;
    session.progress.clear();
    if session.json {
        return output::json(&outcome.told(&recipe, &plan, (dir, 0.0), &session));
    }
    output::text(&told(info.title, &recipe, &plan, &outcome, dir, options)?)
}

/// The known classes by name.
fn truth(data: &DataSet) -> Member {
    let mut encoder = LabelEncoder::new();
    data.truth.iter().for_each(|&class| encoder.push_text(&data.class_names[class as usize]));
    encoder.finish("class").into()
}

fn told(
    title: &str,
    recipe: &Recipe,
    plan: &Plan,
    outcome: &Outcome,
    dir: &Path,
    options: &str,
) -> anyhow::Result<String> {
    let bold = Style::new().bold();
    let r = outcome.ensemble.members().len();
    let mut text = String::new();
    writeln!(text, "{bold}{}{bold:#}\n", capitalised(title))?;
    writeln!(text, "{bold}1. Many clusterings{bold:#}")?;
    writeln!(text, "{}", indented(&recipe.summary(&outcome.ensemble, false)))?;
    if let Some(resumed) = outcome.resumed() {
        writeln!(text, "   {resumed}")?;
    }
    writeln!(text, "\n{bold}2. One consensus{bold:#}")?;
    writeln!(text, "{}", indented(&outcome.found.summary(plan)))?;
    if let Some(scores) = &outcome.scores {
        writeln!(
            text,
            "\n{bold}3. Was it right?{bold:#} (the known classes were not used so far)\n"
        )?;
        writeln!(text, "{}\n", indented(&crossed(scores)))?;
        writeln!(text, "{}", indented(&judged(scores, outcome.found.labels.len())))?;
    }
    if let Some(pictures) = &outcome.pictures {
        writeln!(text, "\n{bold}The clusters{bold:#}\n{}", indented(pictures))?;
    }
    writeln!(text, "\n{bold}Verdict{bold:#}")?;
    writeln!(text, "{}", indented(&super::terminal::verdict(&outcome.verdict)))?;
    writeln!(text, "\n{bold}In the folder {}{bold:#}", dir.display())?;
    let contents = [
        ("labels.csv", "the cluster of every object, and how sure it is".to_owned()),
        ("ensemble.parquet", format!("the {r} clusterings")),
        ("result.json", "everything about how it was found".to_owned()),
        ("report.html", "all of it as a page with figures: open it in a browser".to_owned()),
    ];
    writeln!(text, "{}", indented(&output::facts(&contents)))?;
    writeln!(text, "\n{bold}Next{bold:#}")?;
    let run = format!("consilience run DATA.csv {options} -o results");
    let next = [
        (run.as_str(), "the same with your own data".to_owned()),
        ("consilience combine LABELS.csv", "combine clusterings that you already have".to_owned()),
        ("consilience methods", "other ways to combine".to_owned()),
    ];
    write!(text, "{}", indented(&output::facts(&next)))?;
    Ok(text)
}

/// Objects by cluster of the consensus (rows) and class (columns).
fn crossed(scores: &Scores) -> String {
    let classes = scores.truth.clusters();
    let mut rows: Vec<(usize, Vec<String>)> = scores
        .consensus_clusters
        .iter()
        .enumerate()
        .map(|(row, name)| {
            let mut cells = vec!["0".to_owned(); classes.len() + 1];
            cells[0] = format!("cluster {name}");
            for cell in scores.table.cells().iter().filter(|cell| cell.row as usize == row) {
                cells[1 + cell.column as usize] = format!("{}", cell.weight);
            }
            (name.parse().unwrap_or(usize::MAX), cells)
        })
        .collect();
    rows.sort();
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, cells)| cells).collect();
    let header: Vec<String> = std::iter::once(String::new()).chain(classes.to_vec()).collect();
    output::aligned(&header, &rows)
}

/// The score in a sentence.
fn judged(scores: &Scores, n: usize) -> String {
    let value = |values: &[f64], name: &str| {
        COLUMNS.iter().position(|column| *column == name).map_or(f64::NAN, |place| values[place])
    };
    let accuracy = value(&scores.consensus, "accuracy");
    format!(
        "{} of {} objects ({:.0} %) are in the cluster of their class\n\
         agreement with the classes (NMI): {:.3}; single clusterings reach {:.3} on average",
        count((accuracy * n as f64).round() as usize),
        count(n),
        100.0 * accuracy,
        value(&scores.consensus, "nmi"),
        value(&scores.members, "nmi"),
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
