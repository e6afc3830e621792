//! The order of objects and members and the names of clusters are no information.

use consilience::consensus::{MethodInfo, Shape};

use crate::support::{Draft, anything, partition, planted, rng};
use crate::symmetry::are_images;
use crate::told::{Failure, build, fit, ks};

/// Ensembles with structure: hard, with gaps, soft, weighted.
pub(crate) fn structured(info: &MethodInfo) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for seed in 0..3 {
        let mut rng = rng(100 + seed);
        let truth = partition(&[14, 11, 9], &mut rng);
        let hard = planted(&truth, 7, 0.2, &mut rng);
        let weights = (0..truth.len()).map(|_| rng.between(1, 5) as f64).collect();
        drafts.push(hard.clone().weighing(weights));
        if info.missing.is_some() {
            drafts.push(hard.clone().with_gaps(0.2, &mut rng));
        }
        drafts.push(hard.clone().softened(0.6, &mut rng));
        drafts.push(hard);
    }
    drafts
}

/// Ensembles without structure, proper ones only.
pub(crate) fn noise(info: &MethodInfo, first_seed: u64, count: usize) -> Vec<Draft> {
    let proper = |draft: &Draft| {
        draft.try_ensemble().is_ok_and(|e| info.missing.is_some() || e.n_missing() == 0)
    };
    let drafts = (first_seed..).map(|seed| anything(25, 7, &mut rng(seed)));
    drafts.filter(proper).take(count).collect()
}

/// An ensemble above every threshold: samples are drawn and work is split into chunks. Methods that hold
/// a matrix over all pairs get one whose matrix is modest. Of five clusters, with a share `noise` of all
/// labels drawn anew.
pub(crate) fn large(info: &'static MethodInfo, noise: f64) -> Draft {
    const MODEST: u64 = 64 << 20;
    let r = 9;
    let fits = |&n: &usize| {
        let shape = Shape { n, u: n, r, total_clusters: 5 * r, missing: false, soft: false };
        build(info, ks(info, 4)[0]).cost(&shape) <= MODEST
    };
    let n = [20_000, 1000, 400, 150].into_iter().find(fits).expect("150 objects take little");
    let mut rng = rng(200);
    let truth: Vec<i64> = (0..n).map(|_| rng.below(5) as i64).collect();
    planted(&truth, r, noise, &mut rng)
}

/// How many ensembles without structure each invariant sees.
const NOISE: usize = 60;

/// A number of clusters that the draft surely has.
pub(crate) fn some_k(draft: &Draft, info: &MethodInfo) -> Result<usize, Failure> {
    let ensemble = draft.ensemble();
    let profiles = consilience::consensus::prepare(&ensemble, info, &crate::told::run())?;
    Ok(profiles.len().min(3))
}

/// Rewrites each draft and asks that the same be told, or the image of it under a symmetry of the
/// ensemble.
fn unchanged(
    drafts: &[Draft],
    info: &'static MethodInfo,
    rewrite: impl Fn(&Draft, &mut consilience::Rng) -> (Draft, Vec<u32>, bool),
) -> Result<(), Failure> {
    for (place, draft) in drafts.iter().enumerate() {
        let (rewritten, order, named) = rewrite(draft, &mut rng(place as u64));
        for k in ks(info, some_k(draft, info)?) {
            let (fit_a, fit_b) = (fit(draft, info, k)?, fit(&rewritten, info, k)?);
            let (mut a, mut b) = (fit_a.told(), fit_b.told_of(&order));
            if !named {
                (a, b) = (a.nameless(), b.nameless());
            }
            let same = a.same_as(&b).or_else(|difference| {
                are_images(&fit_a, &fit_b).map_err(|e| format!("{difference}; no symmetry: {e}"))
            });
            same.map_err(|e| of_draft(draft, place, k, &e))?;
        }
    }
    Ok(())
}

/// A problem with the draft it comes from, if that can be read.
pub(crate) fn of_draft(draft: &Draft, place: usize, k: Option<usize>, problem: &str) -> String {
    if draft.n_objects() > 100 {
        let problem: String = problem.chars().take(200).collect();
        return format!("{} objects, k {k:?}: {problem}", draft.n_objects());
    }
    format!("draft {place}, k {k:?}: {problem}\n{draft:?}")
}

fn same_order(draft: &Draft) -> Vec<u32> {
    (0..draft.n_objects() as u32).collect()
}

fn rename(draft: &Draft, rng: &mut consilience::Rng) -> (Draft, Vec<u32>, bool) {
    (draft.renamed(rng), same_order(draft), false)
}

fn reorder_objects(draft: &Draft, rng: &mut consilience::Rng) -> (Draft, Vec<u32>, bool) {
    let order = rng.permutation(draft.n_objects());
    (draft.with_objects(&order), order, true)
}

fn reorder_members(draft: &Draft, rng: &mut consilience::Rng) -> (Draft, Vec<u32>, bool) {
    let order = rng.permutation(draft.members.len());
    (draft.with_members(&order), same_order(draft), true)
}

pub(crate) fn names_of_clusters_are_no_information(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&structured(info), info, rename)
}

pub(crate) fn order_of_objects_is_no_information(info: &'static MethodInfo) -> Result<(), Failure> {
    unchanged(&structured(info), info, reorder_objects)
}

pub(crate) fn order_of_members_is_no_information(info: &'static MethodInfo) -> Result<(), Failure> {
    unchanged(&structured(info), info, reorder_members)
}

pub(crate) fn names_of_clusters_are_no_information_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&noise(info, 1000, NOISE), info, rename)
}

pub(crate) fn order_of_objects_is_no_information_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&noise(info, 2000, NOISE), info, reorder_objects)
}

pub(crate) fn order_of_members_is_no_information_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&noise(info, 3000, NOISE), info, reorder_members)
}

/// All at once, where samples are drawn.
pub(crate) fn how_it_is_written_is_no_information_in_large_ensembles(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&[large(info, 0.4)], info, |draft, rng| {
        let members = rng.permutation(draft.members.len());
        let (draft, order, _) = reorder_objects(&draft.renamed(rng).with_members(&members), rng);
        (draft, order, false)
    })
}
