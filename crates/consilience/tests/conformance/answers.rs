//! The right answer where there is no doubt about it.

use std::collections::BTreeSet;

use consilience::consensus::MethodInfo;

use crate::sound::sound;
use crate::support::{Draft, partition, planted, rng, unanimous};
use crate::told::{Failure, by_appearance, fit, ks};

/// Sizes of clusters: unequal, but none so small that a rule for choosing k may leave it out.
const SIZES: [&[usize]; 4] = [&[12, 10, 8], &[9, 8, 7, 6], &[5, 5], &[7]];

fn returned(draft: &Draft, truth: &[i64], info: &'static MethodInfo) -> Result<(), Failure> {
    let clusters = truth.iter().collect::<BTreeSet<_>>().len();
    ks(info, clusters).into_iter().try_for_each(|k| returned_with(draft, truth, info, k))
}

fn returned_with(
    draft: &Draft,
    truth: &[i64],
    info: &'static MethodInfo,
    k: Option<usize>,
) -> Result<(), Failure> {
    let expected = by_appearance(&truth.iter().copied().map(Some).collect::<Vec<_>>());
    let fit = fit(draft, info, k)?;
    sound(&fit, info, k)?;
    if fit.groups() != expected {
        return Err(format!("k {k:?}: {:?} instead of {expected:?}", fit.groups()).into());
    }
    Ok(())
}

/// A unanimous ensemble is returned, hard or soft.
pub(crate) fn a_unanimous_ensemble_is_returned(info: &'static MethodInfo) -> Result<(), Failure> {
    for (seed, sizes) in SIZES.iter().enumerate() {
        let mut rng = rng(seed as u64);
        let truth = partition(sizes, &mut rng);
        let draft = unanimous(&truth, 4, &mut rng);
        returned(&draft, &truth, info)?;
        returned(&draft.softened(1.0, &mut rng), &truth, info)?;
    }
    Ok(())
}

/// One clustering with $k_1 = k$ comes back.
pub(crate) fn one_clustering_comes_back(info: &'static MethodInfo) -> Result<(), Failure> {
    for (seed, sizes) in SIZES.iter().enumerate() {
        let mut rng = rng(10 + seed as u64);
        let truth = partition(sizes, &mut rng);
        returned(&unanimous(&truth, 1, &mut rng), &truth, info)?;
    }
    Ok(())
}

/// Each member errs on a few objects of its own, so that every object is right in most members.
pub(crate) fn clear_structure_is_found(info: &'static MethodInfo) -> Result<(), Failure> {
    for seed in 0..4 {
        let mut rng = rng(20 + seed);
        let truth = partition(&[20, 18, 16], &mut rng);
        let draft = planted(&truth, 15, 0.06, &mut rng);
        returned(&draft, &truth, info)?;
        if info.missing.is_some() {
            returned(&draft.with_gaps(0.1, &mut rng), &truth, info)?;
        }
    }
    Ok(())
}

/// Ten clusters, told that they are ten: a start that leaves out one must not be the best that is tried.
/// Methods that always choose the number themselves have no such starts and are not asked.
pub(crate) fn none_of_many_clusters_is_missed(info: &'static MethodInfo) -> Result<(), Failure> {
    for seed in 0..4 {
        let mut rng = rng(30 + seed);
        let truth = partition(&[20, 19, 18, 17, 16, 15, 14, 13, 12, 11], &mut rng);
        let draft = planted(&truth, 12, 0.06, &mut rng);
        let mut told = ks(info, 10).into_iter().flatten();
        told.try_for_each(|k| returned_with(&draft, &truth, info, Some(k)))?;
    }
    Ok(())
}
