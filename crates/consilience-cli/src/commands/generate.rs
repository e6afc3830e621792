//! `consilience generate DATA -o ENSEMBLE`.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::ensemble::Recipe;
use super::{Session, check_output, read_data};
use crate::args::{Common, GenerateArgs};
use crate::errors::usage;
use crate::{output, signals};
use consilience_io::{Stage, Target, write_members};

pub(super) fn run(args: &GenerateArgs, common: &Common) -> anyhow::Result<()> {
    let recipe = Recipe::new(&args.ensemble, None)?;
    check_output("-o", &args.output, std::slice::from_ref(&args.data))?;
    if common.json && args.output == Path::new("-") {
        return Err(usage("-o - and --json both go to stdout: give -o a file"));
    }
    let stage = Stage::default();
    let target = Target::table(&args.output)?.on(&stage);

    let session = Session::new(common);
    let clock = Instant::now();
    let table = read_data(&args.data, &args.reading, None, &session)?;
    let read = clock.elapsed().as_secs_f64();

    signals::computing();
    let clock = Instant::now();
    let (ensemble, _) = recipe.make(table.values.data(), None, &session)?;
    let generate = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let ids = args.reading.id.as_deref().zip(table.ids.as_ref());
    write_members(&target, ids, ensemble.members(), &session.run)?;
    session.run.check()?;
    stage.commit()?;
    let write = clock.elapsed().as_secs_f64();
    session.progress.clear();

    if session.json {
        return output::json(&json!({
            "schema": 1,
            "n": ensemble.n_objects(),
            "clusterings": ensemble.members().len(),
            "ensemble": recipe.told(&ensemble),
            "output": args.output,
            "seconds": { "read": read, "generate": generate, "write": write },
            "warnings": session.progress.warnings(),
        }));
    }
    output::note(&recipe.summary(&ensemble, table.values.is_sparse()));
    Ok(())
}
