//! A weight is a number of equal objects, and only ratios of weights count.

use consilience::consensus::{MethodInfo, Settings};

use crate::order::{brief, noise, of_draft, sampled, some_k, structured};
use crate::support::{Draft, rng};
use crate::told::{Failure, fit, fit_with, ks};

fn scaled(draft: &Draft, factor: f64) -> Draft {
    let weights = draft.weights.clone().unwrap_or_else(|| vec![1.0; draft.n_objects()]);
    draft.clone().weighing(weights.into_iter().map(|w| w * factor).collect())
}

fn scaling(
    drafts: &[Draft],
    info: &'static MethodInfo,
    settings: &Settings,
) -> Result<(), Failure> {
    for (place, draft) in drafts.iter().enumerate() {
        for k in ks(info, some_k(draft, info)?) {
            let once = fit_with(draft, info, k, settings)?.told().unscaled();
            let twice = fit_with(&scaled(draft, 2.0), info, k, settings)?.told().unscaled();
            once.same_as(&twice).map_err(|e| of_draft(draft, place, k, &e))?;
        }
    }
    Ok(())
}

/// Doubling all weights changes nothing.
pub(crate) fn scaling_all_weights_changes_nothing(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    scaling(&structured(info), info, &Settings::default())
}

/// Doubling all weights changes nothing even where the answer hangs on a draw.
pub(crate) fn scaling_all_weights_changes_nothing_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    scaling(&noise(info, 4000, 40), info, &Settings::default())
}

/// Doubling all weights changes nothing where samples are drawn.
pub(crate) fn scaling_all_weights_changes_nothing_in_large_ensembles(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    scaling(&[sampled(info)], info, &Settings::from_iter(brief(info)))
}

/// Rows repeated and rows weighted are one ensemble, and the answer is the same, objective
/// included.
pub(crate) fn a_weight_is_a_number_of_equal_rows(info: &'static MethodInfo) -> Result<(), Failure> {
    let drafts = [structured(info), noise(info, 5000, 40)].concat();
    for (place, draft) in drafts.into_iter().enumerate() {
        let draft = Draft { weights: None, ..draft };
        let n = draft.n_objects();
        let mut rng = rng(place as u64);
        let times: Vec<usize> = (0..n).map(|_| rng.between(1, 4)).collect();
        // The originals first, so that copies can be cut off; the order says nothing anyway.
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rows.extend((0..n).flat_map(|i| vec![i as u32; times[i] - 1]));
        let repeated = draft.with_objects(&rows);
        let weighted = draft.clone().weighing(times.iter().map(|&t| t as f64).collect());
        for k in ks(info, some_k(&draft, info)?) {
            let mut of_rows = fit(&repeated, info, k)?.told();
            of_rows.groups.truncate(n);
            of_rows.strength.truncate(n);
            if let Some(membership) = &mut of_rows.membership {
                membership.truncate(n);
            }
            let of_weights = fit(&weighted, info, k)?.told();
            of_weights.same_as(&of_rows).map_err(|e| of_draft(&draft, place, k, &e))?;
        }
    }
    Ok(())
}
