//! `consilience generate DATA -o ENSEMBLE`.

use std::path::Path;
use std::time::Instant;

use consilience::pipeline::EnsembleRecord;
use consilience_io::{Stage, Target, write_members};
use serde_json::json;

use super::files::check_output;
use super::{making, reading};
use crate::args::{Common, GenerateArgs};
use crate::errors::usage;
use crate::session::Session;
use crate::{output, signals};

pub(super) fn run(args: &GenerateArgs, common: &Common) -> anyhow::Result<()> {
    if let Some(k) = &args.k {
        return Err(usage(format!(
            "generate makes clusterings and no consensus: --base-k {k} says how many clusters each has, \
             and --k {k} goes with `consilience combine` of what is made, or with `consilience run`"
        )));
    }
    let recipe = making::recipe(&args.ensemble, None)?;
    check_output("-o", &args.output, std::slice::from_ref(&args.data), args.force)?;
    if common.json && args.output == Path::new("-") {
        return Err(usage("-o - and --json both go to stdout: give -o a file"));
    }
    let stage = Stage::default();
    let target = Target::table(&args.output)?.on(&stage);

    let session = Session::new(common);
    let clock = Instant::now();
    let mut options = args.reading.options(None);
    let table = reading::features(&args.data, &args.reading, &mut options, &session)?;
    let read = clock.elapsed().as_secs_f64();

    signals::computing();
    let clock = Instant::now();
    let (ensemble, seats) = recipe.ensemble(table.values.data(), &session.run)?;
    let generate = clock.elapsed().as_secs_f64();

    let clock = Instant::now();
    let ids = options.id.as_deref().zip(table.ids.as_ref());
    write_members(&target, ids, ensemble.members(), &session.run)?;
    session.run.check()?;
    stage.commit()?;
    let write = clock.elapsed().as_secs_f64();
    session.progress.clear();

    let n = ensemble.n_objects();
    if session.json {
        let members = EnsembleRecord {
            made: Some(recipe.record(n, &seats)),
            ..EnsembleRecord::of(&ensemble)
        };
        return output::json(&json!({
            "schema": 1,
            "n": n,
            "clusterings": ensemble.members().len(),
            "ensemble": members,
            "output": args.output,
            "seconds": { "read": read, "generate": generate, "write": write },
            "warnings": session.progress.warnings(),
        }));
    }
    output::note(&making::summary(
        &recipe,
        recipe.generator.base_k(n),
        &seats,
        table.values.is_sparse(),
    ));
    Ok(())
}
