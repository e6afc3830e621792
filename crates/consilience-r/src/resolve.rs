//! Which resolution: clusterings at several levels.

use consilience::Run;
use consilience::pipeline::{Level, Levels, Resolve};
use extendr_api::prelude::*;

use crate::failure::Outcome;
use crate::given::Given;
use crate::job::{Telling, start};
use crate::members::{ensemble, members};
use crate::told::{json, list, or_null, places};

/// The levels of the members: those given, or what a pattern finds in their names.
fn levels(given: &Given, names: &[String]) -> Outcome<Levels> {
    if let Some(pattern) = given.some_text("pattern")? {
        return Ok(Levels::by_pattern(&pattern, names)?);
    }
    // R leaves out members without a level before it calls.
    let of: Vec<Option<String>> = given.texts("levels")?.into_iter().map(Some).collect();
    Ok(Levels::of_members(&of)?)
}

/// What the levels of the members say: the record, the id of the cluster of every object at every level, and
/// of levels with a consensus confidence and coverage.
#[extendr]
fn resolution(args: List) -> Robj {
    start(&args, |given| {
        let ensemble = ensemble(members(given, "members")?, given.some_numbers("weights")?)?;
        let names: Vec<String> = ensemble.members().iter().map(|m| m.name().to_owned()).collect();
        let levels = levels(given, &names)?;
        let left_out: Vec<String> = levels.left_out().iter().map(|&m| names[m].clone()).collect();
        let resolve = Resolve { levels, level: given.some_text("level")? };
        Ok(move |run: &Run| {
            let found = resolve.of(&ensemble, run)?;
            let record = serde_json::to_value(found.record(run)).unwrap_or_default();
            Ok(Box::new(move || {
                let labels = |level: &Level| {
                    let ids = (0..level.n_objects()).map(|i| level.label(i));
                    places(ids.map(|id| id.map(|id| id as usize)))
                };
                let all = |of: fn(&Level) -> Option<&Vec<f64>>| -> Robj {
                    let each = found.levels.iter().map(|level| or_null(of(level), Robj::from));
                    List::from_values(each).into()
                };
                let numbers = |at: &[usize]| places(at.iter().map(|&at| Some(at)));
                list([
                    ("record", json(&record)),
                    ("recommended", numbers(&found.recommended)),
                    ("chosen", or_null(found.chosen, |at| numbers(&[at]))),
                    ("labels", List::from_values(found.levels.iter().map(labels)).into()),
                    ("confidence", all(|level| level.confidence.as_ref())),
                    ("coverage", all(|level| level.coverage.as_ref())),
                    ("left_out", left_out.into()),
                ])
            }) as Telling)
        })
    })
}

extendr_module! {
    mod resolve;
    fn resolution;
}
