//! The order of objects and members and the names of clusters are no information.

use consilience::consensus::{MethodInfo, Settings, Shape};

use crate::support::{Draft, anything, partition, planted, rng};
use crate::symmetry::are_images;
use crate::told::{Failure, build, fit_with, ks};

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

/// An ensemble above every threshold: samples are drawn and work is split into chunks. Methods that
/// compare all pairs, or hold a matrix over them, draw no samples and get a modest one. Of five clusters, with a share `noise` of all
/// labels drawn anew.
pub(crate) fn large(info: &'static MethodInfo, noise: f64) -> Draft {
    const MODEST: u64 = 64 << 20;
    let r = 9;
    let compares_pairs = info.time.contains("u^2") || info.time.contains("n^2");
    let fits = |&n: &usize| {
        let shape = Shape { n, u: n, r, total_clusters: 5 * r, missing: false, soft: false };
        build(info, ks(info, 4)[0]).cost(&shape) <= MODEST && !(compares_pairs && n > 1000)
    };
    let n = [13_000, 1000, 400, 150].into_iter().find(fits).expect("150 objects take little");
    let mut rng = rng(200);
    let truth: Vec<i64> = (0..n).map(|_| rng.below(5) as i64).collect();
    planted(&truth, r, noise, &mut rng)
}

/// A [large](large) ensemble for methods that settle on a sample first, a modest one for the others: they do
/// nothing there that they would not do in a small one.
pub(crate) fn sampled(info: &'static MethodInfo) -> Draft {
    let draft = large(info, 0.4);
    let samples = info.parameters.iter().any(|parameter| parameter.name == "sample");
    if samples { draft } else { draft.with_objects(&(0..150).collect::<Vec<_>>()) }
}

/// Little effort, for methods that let it be chosen: what large ensembles can show shows at once.
pub(crate) fn brief(info: &MethodInfo) -> Vec<(&'static str, &'static str)> {
    let has = |name: &str| info.parameters.iter().any(|parameter| parameter.name == name);
    let efforts = [("max_iter", "2"), ("restarts", "2")];
    efforts.into_iter().filter(|(name, _)| has(name)).collect()
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
    settings: &Settings,
    rewrite: impl Fn(&Draft, &mut consilience::Rng) -> (Draft, Vec<u32>, bool),
) -> Result<(), Failure> {
    for (place, draft) in drafts.iter().enumerate() {
        let (rewritten, order, named) = rewrite(draft, &mut rng(place as u64));
        for k in ks(info, some_k(draft, info)?) {
            let fit = |draft| fit_with(draft, info, k, settings);
            let (fit_a, fit_b) = (fit(draft)?, fit(&rewritten)?);
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
    unchanged(&structured(info), info, &Settings::default(), rename)
}

pub(crate) fn order_of_objects_is_no_information(info: &'static MethodInfo) -> Result<(), Failure> {
    unchanged(&structured(info), info, &Settings::default(), reorder_objects)
}

pub(crate) fn order_of_members_is_no_information(info: &'static MethodInfo) -> Result<(), Failure> {
    unchanged(&structured(info), info, &Settings::default(), reorder_members)
}

pub(crate) fn names_of_clusters_are_no_information_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&noise(info, 1000, NOISE), info, &Settings::default(), rename)
}

pub(crate) fn order_of_objects_is_no_information_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&noise(info, 2000, NOISE), info, &Settings::default(), reorder_objects)
}

pub(crate) fn order_of_members_is_no_information_in_noise(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    unchanged(&noise(info, 3000, NOISE), info, &Settings::default(), reorder_members)
}

/// All at once, where samples are drawn.
pub(crate) fn how_it_is_written_is_no_information_in_large_ensembles(
    info: &'static MethodInfo,
) -> Result<(), Failure> {
    let settings = Settings::from_iter(brief(info));
    unchanged(&[sampled(info)], info, &settings, |draft, rng| {
        let members = rng.permutation(draft.members.len());
        let (draft, order, _) = reorder_objects(&draft.renamed(rng).with_members(&members), rng);
        (draft, order, false)
    })
}
