//! `consilience report DIR|result.json -o FILE.html`: the page again from a saved result.

use std::fs;

use consilience_io::{Target, write_text};
use consilience_report::is_page;
use serde_json::json;

use super::files::check_output;
use super::folder::{LABELS, PAGE, RECORD, folder_of};
use super::saved::Saved;
use super::terminal;
use crate::args::{Common, ReportArgs};
use crate::output;
use crate::session::Session;

pub(super) fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<()> {
    let folder = folder_of(&args.result);
    let own = folder.join(PAGE);
    let output = args.output.clone().unwrap_or_else(|| own.clone());
    // The page of the result may be made anew; what else may lie there under its name is somebody's.
    let is_ours = || fs::read(&own).is_ok_and(|bytes| is_page(&bytes));
    let force = args.force || output == own && is_ours();
    check_output("-o", &output, &[folder.join(RECORD), folder.join(LABELS)], force)?;
    let target = Target::new(&output)?;
    let session = Session::new(common);
    let saved = Saved::read(&args.result, &session)?;
    let judgement = saved.judge(&session)?;
    let page = saved.subject().page(&judgement, &saved.record, &session.run)?;
    write_text(&target, &page)?;
    session.progress.clear();
    if session.json {
        return output::json(&json!({
            "schema": 1,
            "output": output,
            "bytes": page.len(),
            "verdict": judgement.verdict,
            "warnings": session.progress.warnings(),
        }));
    }
    let verdict = terminal::verdict(&judgement.verdict);
    output::note(&format!("{} written\n{verdict}", output.display()));
    Ok(())
}
