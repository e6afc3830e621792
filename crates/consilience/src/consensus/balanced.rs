//! What methods that cut into balanced parts have in common: from the parts to an answer, and a
//! word where the balance could not be kept.

use crate::consensus::outcome::{Consensus, NO_CLUSTER, Value};
use crate::ensemble::{Chunks, Profiles};
use crate::graph::Parts;
use crate::rng::Stream;
use crate::run::Run;

/// The consensus whose chunks are parted so; the objects of a profile may part.
pub(super) fn of_chunks(
    method: &str,
    profiles: &Profiles,
    chunks: &Chunks,
    parts: &Parts,
    k: usize,
    run: &Run,
) -> Consensus {
    let of_chunks = &parts.labels[..chunks.len()];
    let (labels, parted) =
        chunks.hand_out(profiles, of_chunks, NO_CLUSTER, &mut run.rng(Stream::Ties));
    let mut consensus = Consensus::from_labels(labels, k);
    consensus.parted = parted;
    report(method, &mut consensus, parts, run);
    consensus
}

/// Tells how much was cut and how even the parts are; warns if they are less even than allowed.
pub(super) fn report(method: &str, consensus: &mut Consensus, parts: &Parts, run: &Run) {
    let diagnostics = &mut consensus.diagnostics;
    diagnostics.push("cut", Value::Number(parts.cut));
    diagnostics.push("imbalance", Value::Number(parts.imbalance));
    diagnostics.push("allowed imbalance", Value::Number(parts.allowed));
    if parts.violates_balance() {
        run.warn(&format!(
            "`{method}`: the heaviest part has {:.3} times the mean weight, {:.3} were allowed",
            parts.imbalance, parts.allowed
        ));
    }
}
