//! Small, degenerate and arbitrary ensembles.

use consilience::Error;
use consilience::consensus::{MethodInfo, prepare};

use crate::order::structured;
use crate::sound::sound;
use crate::support::{Column, Draft, Values, anything, partition, planted, rng};
use crate::told::{Failure, fit, ks, run, try_fit};

/// An object that no member labels has no cluster, and the others do not notice it.
pub(crate) fn objects_without_labels_stay_without(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    let mut rng = rng(400);
    let truth = partition(&[9, 8, 7], &mut rng);
    let hard = planted(&truth, 6, 0.15, &mut rng);
    for whole in [hard.clone(), hard.softened(0.6, &mut rng)] {
        let mut draft = whole.clone();
        for column in &mut draft.members {
            match &mut column.values {
                Values::Hard(labels) => labels.insert(5, None),
                Values::Soft(rows, names) => rows.insert(5, vec![0.0; names.len()]),
            }
        }
        for k in ks(info, 3) {
            let (with, without) = (fit(&draft, info, k)?, fit(&whole, info, k)?);
            sound(&with, info, k)?;
            let mut groups = with.groups();
            if groups.remove(5).is_some() {
                return Err(format!("k {k:?}: an object without labels has a cluster").into());
            }
            if groups != without.groups() {
                return Err(format!("k {k:?}: an object without labels changes the rest").into());
            }
        }
    }
    Ok(())
}

/// One object, or many objects that nobody tells apart, are one cluster.
pub(crate) fn one_object_is_one_cluster(info: &'static MethodInfo) -> Result<(), Failure> {
    for (n, r) in [(1, 1), (1, 3), (5, 1), (5, 3)] {
        let hard = Draft::hard((0..r).map(|_| vec![Some(4); n]));
        for draft in [hard.clone(), hard.softened(1.0, &mut rng(401))] {
            for k in ks(info, 1) {
                let fit = fit(&draft, info, k)?;
                sound(&fit, info, k)?;
                if fit.groups() != vec![Some(0); n] {
                    return Err(format!("n {n}, r {r}, k {k:?}: {:?}", fit.groups()).into());
                }
            }
        }
    }
    Ok(())
}

/// One cluster holds everything.
pub(crate) fn one_cluster_is_everything(info: &'static MethodInfo) -> Result<(), Failure> {
    for draft in structured(info) {
        for k in ks(info, 1) {
            let fit = fit(&draft, info, k)?;
            sound(&fit, info, k)?;
            if k.is_some() && fit.consensus.labels.iter().any(|&label| label != 0) {
                return Err("more than one cluster at k = 1".into());
            }
        }
    }
    Ok(())
}

fn n_profiles(draft: &Draft, info: &'static MethodInfo) -> Result<usize, Failure> {
    prepare(&draft.ensemble(), info, &run()).map(|p| p.len()).map_err(Failure::from)
}

pub(crate) fn as_many_clusters_as_profiles(info: &'static MethodInfo) -> Result<(), Failure> {
    for draft in structured(info) {
        for k in ks(info, n_profiles(&draft, info)?) {
            sound(&fit(&draft, info, k)?, info, k).map_err(|e| format!("k {k:?}: {e}"))?;
        }
    }
    Ok(())
}

pub(crate) fn more_clusters_than_profiles_are_refused(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    for draft in structured(info) {
        let u = n_profiles(&draft, info)?;
        for k in ks(info, u + 1).into_iter().flatten() {
            match try_fit(&draft, info, Some(k), &run()) {
                Err(Error::TooManyClusters { k: asked, distinct })
                    if (asked, distinct) == (k, u) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Err(format!("{k} clusters of {u} profiles").into()),
            }
        }
    }
    Ok(())
}

/// A member that puts everything in one cluster says nothing, and breaks nothing.
pub(crate) fn a_member_with_one_cluster_does_no_harm(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    for mut draft in structured(info) {
        let values = Values::Hard(vec![Some(0); draft.n_objects()]);
        draft.members.insert(2, Column { name: "flat".to_owned(), values });
        for k in ks(info, 3) {
            sound(&fit(&draft, info, k)?, info, k).map_err(|e| format!("k {k:?}: {e}"))?;
        }
    }
    Ok(())
}

/// Whatever the ensemble: a sound answer or a refusal that says why, never a panic.
pub(crate) fn anything_is_answered_or_refused(info: &'static MethodInfo) -> Result<(), Failure> {
    for seed in 0..300 {
        let mut rng = rng(10_000 + seed);
        let draft = anything(30, 8, &mut rng);
        let Ok(ensemble) = draft.try_ensemble() else {
            continue;
        };
        let profiles = prepare(&ensemble, info, &run())?;
        let said = |problem: String| format!("draft {seed}: {problem}\n{draft:?}");
        for k in ks(info, rng.between(1, profiles.len())) {
            match try_fit(&draft, info, k, &run()) {
                Ok(fit) => sound(&fit, info, k).map_err(|e| said(format!("k {k:?}: {e}")))?,
                Err(Error::Unsupported { .. })
                    if info.missing.is_none() && profiles.has_missing() => {}
                Err(error) => return Err(said(format!("k {k:?}: {error}")).into()),
            }
        }
    }
    Ok(())
}
