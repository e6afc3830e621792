//! Threads, cancelling, memory.

use consilience::consensus::{MethodInfo, Settings, Shape, combine, prepare};
use consilience::{CancelFlag, Error, Run};

use crate::order::{some_k, structured};
use crate::support::{Draft, rng};
use crate::told::{build, ks, run};

fn same_bits(
    draft: &Draft,
    info: &'static MethodInfo,
    k: Option<usize>,
    settings: &Settings,
) -> Result<(), String> {
    let consensus = |run: &Run| {
        let profiles = prepare(&draft.try_ensemble()?, info, run)?;
        combine(&profiles, info.with(k, settings)?.as_ref(), None, run)
    };
    // The debug form of a float is exact and tells -0 from 0.
    let bits = |threads| {
        let consensus = consensus(&Run::new(3).threads(threads));
        consensus.map(|c| format!("{c:?}")).map_err(|e| e.to_string())
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
            ));
        }
    }
    Ok(())
}

/// The same bits at 1, 2 and 3 threads.
pub(crate) fn threads_change_no_bit(info: &'static MethodInfo) -> Result<(), String> {
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
) -> Result<(), String> {
    // Methods that hold a matrix over all pairs get an ensemble whose matrix is modest.
    const MODEST: u64 = 64 << 20;
    let (n, r) = [20_000, 1000, 400, 150]
        .into_iter()
        .map(|n| (n, 9))
        .find(|&(n, r)| {
            let shape = Shape { n, u: n, r, total_clusters: 5 * r, missing: false, soft: false };
            build(info, ks(info, 4)[0]).cost(&shape) <= MODEST
        })
        .ok_or("needs more than 64 MiB for 150 objects")?;
    // What depends on threads does so from the first iteration on.
    let iterates = info.parameters.iter().any(|parameter| parameter.name == "max_iter");
    let settings = Settings::from_iter(iterates.then_some(("max_iter", "3")));
    let mut rng = rng(200);
    let truth: Vec<i64> = (0..n).map(|_| rng.below(5) as i64).collect();
    let draft = crate::support::planted(&truth, r, 0.4, &mut rng);
    same_bits(&draft, info, ks(info, 4)[0], &settings)
}

/// A raised flag stops the front door, and the method itself.
pub(crate) fn a_raised_flag_stops_the_method(info: &'static MethodInfo) -> Result<(), String> {
    let flag = CancelFlag::default();
    flag.cancel();
    let stopped = run().cancel_flag(flag);
    for draft in structured(info) {
        let profiles = prepare(&draft.ensemble(), info, &run()).map_err(|e| e.to_string())?;
        for k in ks(info, 2) {
            let method = build(info, k);
            let answers = [
                combine(&profiles, method.as_ref(), None, &stopped),
                stopped.install(|| method.solve(&profiles, None, &stopped)),
            ];
            for answer in answers {
                if answer != Err(Error::Cancelled) {
                    return Err(format!("k {k:?}: went on to {answer:?}"));
                }
            }
        }
    }
    Ok(())
}

/// A ceiling just below the declared cost refuses the method, one at the cost does not.
pub(crate) fn memory_is_refused_before_it_is_taken(
    info: &'static MethodInfo,
) -> Result<(), String> {
    for draft in structured(info) {
        let profiles = prepare(&draft.ensemble(), info, &run()).map_err(|e| e.to_string())?;
        for k in ks(info, 2) {
            let method = build(info, k);
            let cost = method.cost(&Shape::of(&profiles));
            if cost == 0 {
                return Err("claims to need no memory at all".to_owned());
            }
            match combine(&profiles, method.as_ref(), None, &run().memory(cost - 1)) {
                Err(Error::Memory { needed, ceiling, what, .. })
                    if (needed, ceiling) == (cost, cost - 1)
                        && what.contains(method.info().name) => {}
                other => return Err(format!("k {k:?}, below the cost: {other:?}")),
            }
            combine(&profiles, method.as_ref(), None, &run().memory(cost))
                .map_err(|e| format!("k {k:?}, at the cost: {e}"))?;
        }
    }
    Ok(())
}
