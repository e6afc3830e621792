//! `consilience figure RESULT [NAME -o FILE]`: a figure of a saved result as PDF, SVG or PNG.

use anyhow::Context as _;
use consilience_io::Target;
use consilience_report::Report;
use consilience_report::figures::{Figure, Frame, KINDS, Kind, figure, offered, resolution};
use serde_json::json;

use super::drawing::Drawing;
use super::files::check_output;
use super::folder::{LABELS, RECORD, folder_of, resolution_of};
use super::saved::Saved;
use crate::args::{Common, FigureArgs};
use crate::errors::{closest, usage};
use crate::output::{self, listed, named};
use crate::session::Session;

/// The figure of results of `resolve`.
static TREE: Kind = Kind {
    name: "tree",
    title: "How clusters come apart from level to level",
    about: "how clusters come apart from level to level (results of `resolve`)",
};

pub(super) fn run(args: &FigureArgs, common: &Common) -> anyhow::Result<()> {
    let Some(name) = &args.name else {
        if args.output.is_some() {
            return Err(usage(
                "-o needs the name of a figure before it: without one, they are listed",
            ));
        }
        let session = Session::new(common);
        let kinds = match resolution_of(&args.result) {
            Some(_) => vec![&TREE],
            None => offered(&report(args, &session)?).collect(),
        };
        return list(&kinds, &session);
    };
    let names = || KINDS.iter().chain([&TREE]).map(|kind| kind.name);
    if !names().any(|known| known == name) {
        let names: Vec<&str> = names().collect();
        let meant = closest(name, names.iter().copied());
        let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
        return Err(usage(format!(
            "there is no figure `{}`; there are {}{meant}",
            named(name),
            listed(&names, names.len())
        )));
    }
    if args.member.is_some() && name != "flow" {
        return Err(usage(
            "--member says what `flow` starts from: other figures show all clusterings",
        ));
    }
    let Some(path) = &args.output else {
        return Err(usage(format!(
            "say where the figure goes: -o {name}.pdf, {name}.svg or {name}.png"
        )));
    };
    let drawing = Drawing::of(path)?;
    let folder = folder_of(&args.result);
    check_output("-o", path, &[folder.join(RECORD), folder.join(LABELS)], args.force)?;
    let target = Target::new(path)?;
    let session = Session::new(common);
    let drawn = drawn(args, name, &session)?;
    let bytes = drawing.write(&target, &drawn, args.dpi, &session)?;
    session.progress.clear();
    if session.json {
        return output::json(&json!({
            "schema": 1,
            "figure": name,
            "output": path,
            "bytes": bytes,
            "title": drawn.title,
            "caption": drawn.caption,
            "warnings": session.progress.warnings(),
        }));
    }
    output::note(&format!("{} written\n{}: {}", path.display(), drawn.title, drawn.caption));
    Ok(())
}

/// The figure of this name.
fn drawn(args: &FigureArgs, name: &str, session: &Session) -> anyhow::Result<Figure> {
    let frame = Frame { width: 72.0 * args.width, title: !args.bare, caption: !args.bare };
    match resolution_of(&args.result) {
        Some(record) if name == TREE.name => return Ok(resolution(&record, &frame)),
        Some(_) => {
            return Err(usage(format!(
                "a result of `resolve` offers no figure `{name}`; it offers {}",
                TREE.name
            )));
        }
        None => {}
    }
    let report = report(args, session)?;
    figure(&report, name, args.member.as_deref(), &frame)
        .ok_or_else(|| not_offered(&report, name, args.member.as_deref()))
}

/// What the figures are drawn from.
fn report(args: &FigureArgs, session: &Session) -> anyhow::Result<Report> {
    let saved = Saved::read(&args.result, session)?;
    let judgement = saved.judge(session)?;
    let report = saved.subject().report(&judgement, &saved.record, &session.run);
    report.context("the figures cannot be drawn")
}

/// Why there is no such figure.
fn not_offered(report: &Report, name: &str, member: Option<&str>) -> anyhow::Error {
    if let Some(member) = member {
        let members: Vec<&str> = report.flows.iter().map(|flow| flow.member.as_str()).collect();
        return usage(format!(
            "--member {}: there is no flow from such a clustering; there is from {}",
            named(member),
            listed(&members, 8)
        ));
    }
    let names: Vec<&str> = offered(report).map(|kind| kind.name).collect();
    usage(format!(
        "this result offers no figure `{name}`; it offers {}",
        listed(&names, names.len())
    ))
}

fn list(kinds: &[&Kind], session: &Session) -> anyhow::Result<()> {
    session.progress.clear();
    if session.json {
        let told: Vec<_> = kinds
            .iter()
            .map(|kind| json!({ "name": kind.name, "title": kind.title, "about": kind.about }))
            .collect();
        return output::json(&json!({
            "schema": 1, "figures": told, "warnings": session.progress.warnings(),
        }));
    }
    let rows: Vec<Vec<String>> =
        kinds.iter().map(|kind| [kind.name, kind.about].map(str::to_owned).to_vec()).collect();
    output::text(&output::listing(&["figure", "what it shows"].map(str::to_owned), &rows))
}
