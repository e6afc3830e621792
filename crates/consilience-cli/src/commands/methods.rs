//! `consilience methods [NAME]`: the library's table of methods, for people and programs.

use std::fmt::Write as _;

use clap::builder::styling::Style;
use consilience::consensus::{ChoosesK, METHODS, MethodInfo, Offers, OnSoft, method};
use serde_json::json;

use crate::args::MethodsArgs;
use crate::output;

pub(super) fn run(args: &MethodsArgs, as_json: bool) -> anyhow::Result<()> {
    let one = args.name.as_deref().map(method).transpose()?;
    if as_json {
        let asked = one.as_slice();
        let asked = if asked.is_empty() { METHODS } else { asked };
        return output::json(&json!({ "schema": 1, "methods": asked }));
    }
    match one {
        Some(info) => output::text(&page(info)?),
        None => output::text(&list()),
    }
}

fn list() -> String {
    let rows: Vec<_> = METHODS
        .iter()
        .map(|info| {
            let yes_no = |yes| if yes { "yes" } else { "-" }.to_owned();
            vec![
                info.name.to_owned(),
                chooses_k(info).to_owned(),
                yes_no(info.soft == OnSoft::Uses),
                yes_no(info.missing.is_some()),
                info.title.to_owned(),
            ]
        })
        .collect();
    let header = ["method", "chooses k", "soft", "missing", ""].map(str::to_owned);
    let mut text = output::listing(&header, &rows);
    text += "\n\nchooses k: whether it finds the number of clusters by itself; \
             soft: uses memberships (others take the largest);\n\
             missing: accepts missing labels. \
             `consilience methods NAME` shows parameters and cost.";
    text
}

fn chooses_k(info: &MethodInfo) -> &'static str {
    match info.chooses_k {
        ChoosesK::Never => "no",
        ChoosesK::UnlessGiven => "unless given",
        ChoosesK::Always => "always",
    }
}

fn page(info: &MethodInfo) -> anyhow::Result<String> {
    let bold = Style::new().bold();
    let mut text = String::new();
    writeln!(text, "{bold}{}{bold:#}  {}\n", info.name, info.title)?;
    writeln!(text, "{}\n", info.reference)?;
    let number = match info.chooses_k {
        ChoosesK::Never => "as given (--k K), else what the clusterings speak for",
        ChoosesK::UnlessGiven => "found by the method unless given (--k K)",
        ChoosesK::Always => "always found by the method",
    };
    let soft = match info.soft {
        OnSoft::Uses => "memberships are used",
        OnSoft::Hardens => "of each membership row the largest is used, with a warning",
    };
    let facts = [
        ("number of clusters", number.to_owned()),
        ("soft clusterings", soft.to_owned()),
        ("missing labels", info.missing.unwrap_or("refused").to_owned()),
        ("--init", if info.takes_start { "accepted" } else { "not accepted" }.to_owned()),
        (
            "--edges",
            if info.edges { "needed: it works on a network" } else { "not used" }.to_owned(),
        ),
        ("also writes", also_writes(info.offers)),
        ("time", info.time.to_owned()),
        ("memory", info.memory.to_owned()),
    ];
    for (name, fact) in facts {
        writeln!(text, "{name:<20}{fact}")?;
    }
    writeln!(text, "\n{bold}Parameters{bold:#} (--set NAME=VALUE)")?;
    if info.parameters.is_empty() {
        writeln!(text, "  none")?;
    }
    for parameter in info.parameters {
        writeln!(
            text,
            "  {bold}{}{bold:#}: {} [default: {}]\n      {}",
            parameter.name,
            parameter.range(),
            parameter.default(),
            parameter.help
        )?;
    }
    writeln!(
        text,
        "\nu distinct label tuples (at most as many as objects), r clusterings, k clusters, \
         K clusters of all\nclusterings together, t iterations."
    )?;
    Ok(text)
}

fn also_writes(offers: Offers) -> String {
    let mut words = Vec::new();
    if offers.membership {
        words.push("--membership");
    }
    if offers.correspondences {
        words.push("--correspondence");
    }
    if offers.dendrogram {
        words.push("--dendrogram");
    }
    words.push(if offers.affinity {
        "--coassociation (the matrix it learns)"
    } else {
        "--coassociation"
    });
    words.join(", ")
}
