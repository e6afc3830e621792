//! Threads, cancelling, memory.

use consilience::consensus::{MethodInfo, Settings, Shape, combine, prepare};
use consilience::{CancelFlag, Error, Run};

use crate::order::{brief, large, some_k, structured};
use crate::support::Draft;
use crate::told::{Failure, build, ks, run};

fn same_bits(
    draft: &Draft,
    info: &'static MethodInfo,
    k: Option<usize>,
    settings: &Settings,
) -> Result<(), Failure> {
    let consensus = |run: &Run| {
        let profiles = prepare(&draft.try_ensemble()?, info, run)?;
        combine(&profiles, info.with(k, settings)?.as_ref(), None, run)
    };
    // The debug form of a float is exact and tells -0 from 0.
    let bits = |threads| {
        let consensus = consensus(&Run::new(3).threads(threads));
        consensus.map(|c| format!("{c:?}"))
    };
    let one = bits(1)?;
    for threads in [2, 3] {
        let more = bits(threads)?;
        if let Some(at) = one.bytes().zip(more.bytes()).position(|(a, b)| a != b) {
            let excerpt =
                |text: &str| text[at.saturating_sub(60)..].chars().take(120).collect::<String>();
            return Err(format!(
                "k {k:?}, 1 and {threads} threads: ..{}.. and ..{}..",
                excerpt(&one),
                excerpt(&more)
            )
            .into());
        }
    }
    Ok(())
}

/// The same bits at 1, 2 and 3 threads.
pub(crate) fn threads_change_no_bit(info: &'static MethodInfo) -> Result<(), Failure> {
    for draft in structured(info) {
        for k in ks(info, some_k(&draft, info)?) {
            same_bits(&draft, info, k, &Settings::default())?;
        }
    }
    Ok(())
}

/// The same bits where the work is split into several chunks.
pub(crate) fn threads_change_no_bit_in_large_ensembles(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    // What depends on threads does so from the first iteration on.
    same_bits(&large(info, 0.4), info, ks(info, 4)[0], &Settings::from_iter(brief(info)))
}

/// A raised flag stops the front door, and the method itself.
pub(crate) fn a_raised_flag_stops_the_method(info: &'static MethodInfo) -> Result<(), Failure> {
    let flag = CancelFlag::default();
    flag.cancel();
    let stopped = run().cancel_flag(flag);
    for draft in structured(info) {
        let profiles = prepare(&draft.ensemble(), info, &run())?;
        for k in ks(info, 2) {
            let method = build(info, k);
            let answers = [
                combine(&profiles, method.as_ref(), None, &stopped),
                stopped.install(|| method.solve(&profiles, None, &stopped)),
            ];
            for answer in answers {
                if answer != Err(Error::Cancelled) {
                    return Err(format!("k {k:?}: went on to {answer:?}").into());
                }
            }
        }
    }
    Ok(())
}

/// A ceiling just below the declared cost refuses the method, one at the cost does not.
pub(crate) fn memory_is_refused_before_it_is_taken(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    for draft in structured(info) {
        let profiles = prepare(&draft.ensemble(), info, &run())?;
        for k in ks(info, 2) {
            let method = build(info, k);
            let cost = method.cost(&Shape::of(&profiles));
            if cost == 0 {
                return Err("claims to need no memory at all".into());
            }
            match combine(&profiles, method.as_ref(), None, &run().memory(cost - 1)) {
                Err(Error::Memory { needed, ceiling, what, .. })
                    if (needed, ceiling) == (cost, cost - 1)
                        && what.contains(method.info().name) => {}
                other => return Err(format!("k {k:?}, below the cost: {other:?}").into()),
            }
            combine(&profiles, method.as_ref(), None, &run().memory(cost))
                .map_err(|e| format!("k {k:?}, at the cost: {e}"))?;
        }
    }
    Ok(())
}
