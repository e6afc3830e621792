//! The front door: any method on any ensemble, with the answer put in order.

use rayon::prelude::*;

use crate::consensus::method::{ChoosesK, ConsensusMethod, METHODS, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, NO_CLUSTER, Value};
use crate::consensus::settings::Settings;
use crate::consensus::start::Start;
use crate::ensemble::{Canonical, Ensemble, Member, NO_PROFILE, Profiles, Votes};
use crate::error::{Error, Result};
use crate::graph::Edges;
use crate::linalg::Matrix;
use crate::run::Run;

/// Rows of one unit of parallel work.
const CHUNK: usize = 4096;

/// Rows that are fetched together.
const BLOCK: usize = 128;

/// The profiles of `ensemble` as `method` wants them: hardened, with a warning, if it takes hard
/// labels only.
pub fn prepare(ensemble: &Ensemble, method: &MethodInfo, run: &Run) -> Result<Profiles> {
    if method.soft == OnSoft::Hardens && !ensemble.is_hard() {
        run.warn(&format!(
            "`{}` takes hard labels: of each soft membership the largest is used",
            method.name
        ));
        return Profiles::new(&ensemble.hardened(), run);
    }
    Profiles::new(ensemble, run)
}

/// The names of every member's clusters, by the codes that they have in the profiles of [`prepare`].
pub fn cluster_names(ensemble: &Ensemble, method: &MethodInfo) -> Vec<Vec<String>> {
    // A cluster that is nobody's largest is gone once a member is hardened.
    let names = |member: &Member| match (method.soft, member) {
        (OnSoft::Hardens, Member::Soft(_)) => member.hardened().clusters().to_vec(),
        _ => member.clusters().to_vec(),
    };
    ensemble.members().iter().map(names).collect()
}

/// Computes the consensus of `profiles` by `method`.
///
/// The method is handed the ensemble in [canonical order](Canonical), so the partition does not
/// depend on the order of objects, members or label names. Clusters of the answer are numbered
/// from 0 by falling weight, ties by first appearance; empty ones are dropped.
///
/// `start` is one label an *object*, from which iterative methods start; [`Start`] says what becomes
/// of it, and `combine_from` lets objects count by their weights.
///
/// # Errors
///
/// If the memory ceiling would be passed, if more clusters are asked for than there are profiles,
/// if the method cannot use this kind of input, or if the run is cancelled.
///
/// ```
/// use consilience::consensus::{combine, method, prepare, Settings};
/// use consilience::ensemble::{Ensemble, HardMember};
/// use consilience::Run;
///
/// let a = HardMember::from_integers("a", [0, 0, 0, 1, 1].map(Some));
/// let b = HardMember::from_integers("b", [1, 1, 1, 0, 0].map(Some));
/// let c = HardMember::from_integers("c", [1, 1, 0, 0, 0].map(Some));
/// let ensemble = Ensemble::new(vec![a.into(), b.into(), c.into()])?;
///
/// let run = Run::new(0);
/// let voting = method("voting")?;
/// let profiles = prepare(&ensemble, voting, &run)?;
/// let consensus = combine(&profiles, voting.with(None, &Settings::default())?.as_ref(), None, &run)?;
/// assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1].map(Some));
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn combine(
    profiles: &Profiles,
    method: &dyn ConsensusMethod,
    start: Option<&[Option<u32>]>,
    run: &Run,
) -> Result<Consensus> {
    combine_from(profiles, method, start.map(Start::new), run)
}

/// The same as [`combine`] from a start in which objects may have weights.
///
/// # Errors
///
/// As [`combine`], and if the start is of other objects or labels none.
pub(crate) fn combine_from(
    profiles: &Profiles,
    method: &dyn ConsensusMethod,
    start: Option<Start<'_>>,
    run: &Run,
) -> Result<Consensus> {
    check(profiles, method)?;
    let (info, shape) = (method.info(), Shape::of(profiles));
    if info.edges {
        return Err(Error::NeedsEdges { method: info.name });
    }
    let what = format!("`{}` on {} distinct objects", info.name, shape.u);
    run.ask_memory(&what, method.cost(&shape), &fitting(&shape, method.k(), run))?;
    let start =
        start.map(|start| run.install(|| start.of_profiles(profiles, method))).transpose()?;

    let canonical = run.install(|| Canonical::new(profiles));
    let start: Option<Vec<u32>> =
        start.map(|labels| canonical.profile_at.iter().map(|&s| labels[s as usize]).collect());
    let fitted = run.install(|| method.solve(&canonical.profiles, start.as_deref(), run))?;
    debug_assert_eq!(fitted.labels.len(), profiles.len());
    let consensus = run.install(|| {
        let from = inverse(&canonical.profile_at);
        number_by_weight(restore(fitted, profiles, &canonical, &from), profiles, &from)
    });
    Ok(strengthened(consensus, profiles, run))
}

/// Computes the consensus of `profiles` by a method that works on a network of the objects, with these edges.
///
/// Clusters of the answer are numbered as those of [`combine`].
///
/// # Errors
///
/// If the edges are of another number of objects, if the method needs none, and as [`combine`].
pub fn combine_on(
    profiles: &Profiles,
    edges: &Edges,
    method: &dyn ConsensusMethod,
    run: &Run,
) -> Result<Consensus> {
    check(profiles, method)?;
    let (what, by) = ("the network", "the ensemble");
    Error::unless_length(what, edges.n_objects(), by, profiles.n_objects())?;
    let what = format!("`{}` on {} edges", method.info().name, edges.len());
    let cost = method.cost_on(&Shape::of(profiles), edges.len() as u64);
    run.ask_memory(&what, cost, "raise the ceiling, or leave edges out")?;
    let fitted = run.install(|| method.solve_on(profiles, edges, run))?;
    let as_they_are: Vec<u32> = (0..profiles.len() as u32).collect();
    let consensus = run.install(|| number_by_weight(fitted, profiles, &as_they_are));
    Ok(strengthened(consensus, profiles, run))
}

/// The same consensus; where the method has no measure of how strongly it stands for labels, with that of the members.
fn strengthened(mut consensus: Consensus, profiles: &Profiles, run: &Run) -> Consensus {
    if consensus.strength.is_empty() {
        consensus.strength = match (&consensus.parted, &consensus.membership) {
            (Some(parted), _) => support_of_parted(profiles, parted, consensus.k),
            (None, Some(membership)) => own_memberships(membership, &consensus.labels),
            (None, None) => run.install(|| support(profiles, &consensus.labels, consensus.k)),
        };
    }
    consensus
}

/// Refuses what the method cannot use.
fn check(profiles: &Profiles, method: &dyn ConsensusMethod) -> Result<()> {
    let info = method.info();
    method.check()?;
    if profiles.is_empty() {
        return Err(Error::Empty {
            what: "the ensemble".to_owned(),
            hint: "no member labels any object".to_owned(),
        });
    }
    if info.soft == OnSoft::Hardens && !profiles.is_hard() {
        return Err(Error::Unsupported {
            method: info.name,
            what: "soft members".to_owned(),
            hint: "harden the ensemble first (`prepare` does)".to_owned(),
        });
    }
    if info.missing.is_none() && profiles.has_missing() {
        return Err(Error::Unsupported {
            method: info.name,
            what: "missing labels".to_owned(),
            hint: format!("methods that can: {}", names(|m| m.missing.is_some())),
        });
    }
    if let Some(k) = method.k().filter(|&k| k > profiles.len()) {
        return Err(Error::TooManyClusters { k, distinct: profiles.len() });
    }
    Ok(())
}

fn names(keep: impl Fn(&MethodInfo) -> bool) -> String {
    let names: Vec<_> = METHODS.iter().filter(|m| keep(m)).map(|m| m.name).collect();
    names.join(", ")
}

/// Which methods with default settings would stay below the memory ceiling.
fn fitting(shape: &Shape, k: Option<usize>, run: &Run) -> String {
    let fits = |info: &MethodInfo| {
        let k = if info.chooses_k == ChoosesK::Always { None } else { k.or(Some(2)) };
        let method = info.with(k, &Settings::default());
        !info.edges && method.is_ok_and(|m| m.cost(shape) <= run.memory_ceiling())
    };
    match names(fits) {
        none if none.is_empty() => "no method would fit: raise the ceiling".to_owned(),
        names => format!("these would fit: {names}"),
    }
}

/// Where each place of the original is found.
fn inverse(at: &[u32]) -> Vec<u32> {
    let mut from = vec![0; at.len()];
    at.iter().enumerate().for_each(|(i, &place)| from[place as usize] = i as u32);
    from
}

/// Puts what was told of the canonical order back into the order of `profiles`, where each is found at
/// `from`. All but the memberships: they are moved once, when clusters are numbered.
fn restore(
    fitted: Consensus,
    profiles: &Profiles,
    canonical: &Canonical,
    from: &[u32],
) -> Consensus {
    fn back<T: Clone + Send + Sync>(values: &[T], from: &[u32]) -> Vec<T> {
        if values.is_empty() {
            return Vec::new();
        }
        from.par_iter().with_min_len(CHUNK).map(|&i| values[i as usize].clone()).collect()
    }
    fn rows(matrix: &Matrix, from: &[u32]) -> Matrix {
        Matrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(from[i] as usize, j)])
    }
    let at = &canonical.profile_at;
    let correspondences = fitted.correspondences.map(|matrices| {
        let mut restored = vec![Matrix::zeros(0, 0); matrices.len()];
        for (i, (matrix, &h)) in matrices.iter().zip(&canonical.member_at).enumerate() {
            let first = profiles.members()[h as usize].clusters.start as u32;
            let clusters = canonical.profiles.members()[i].clusters.clone();
            let within: Vec<u32> =
                canonical.cluster_at[clusters].iter().map(|c| c - first).collect();
            restored[h as usize] = rows(matrix, &inverse(&within));
        }
        restored
    });
    let dendrogram = fitted.dendrogram.map(|merges| {
        let node = |id: u32| at.get(id as usize).copied().unwrap_or(id);
        merges
            .into_iter()
            .map(|m| crate::consensus::Merge { a: node(m.a), b: node(m.b), ..m })
            .collect()
    });
    let affinity = fitted.affinity.map(|a| {
        let mut restored = Matrix::zeros(a.nrows(), a.ncols());
        for (i, &s) in at.iter().enumerate() {
            for (j, &t) in at.iter().enumerate() {
                restored[(s as usize, t as usize)] = a[(i, j)];
            }
        }
        restored
    });
    let mut diagnostics = fitted.diagnostics;
    for value in diagnostics.values_mut() {
        if let Value::Members(values) = value {
            *values = back(values, &inverse(&canonical.member_at));
        }
    }
    Consensus {
        labels: back(&fitted.labels, from),
        strength: back(&fitted.strength, from),
        correspondences,
        dendrogram,
        affinity,
        diagnostics,
        ..fitted
    }
}

/// Numbers the clusters from 0 by falling weight, ties by first appearance; drops empty ones. The
/// memberships of each profile are found at `from`.
fn number_by_weight(mut consensus: Consensus, profiles: &Profiles, from: &[u32]) -> Consensus {
    let mut mass = vec![0.0; consensus.k];
    let mut order: Vec<u32> = Vec::new();
    let mut add = |label: u32, weight: f64| {
        if label != NO_CLUSTER {
            if mass[label as usize] == 0.0 {
                order.push(label);
            }
            mass[label as usize] += weight;
        }
    };
    if let Some(parted) = &consensus.parted {
        // The weight of a profile is shared evenly by its objects.
        let mut sizes = vec![0.0; profiles.len()];
        let own = |object: usize| profiles.map()[object] as usize;
        let labelled: Vec<usize> =
            (0..parted.len()).filter(|&i| profiles.map()[i] != NO_PROFILE).collect();
        labelled.iter().for_each(|&i| sizes[own(i)] += 1.0);
        labelled.iter().for_each(|&i| add(parted[i], profiles.weights()[own(i)] / sizes[own(i)]));
    } else {
        consensus.labels.iter().zip(profiles.weights()).for_each(|(&label, &w)| add(label, w));
    }
    order.sort_by(|&a, &b| mass[b as usize].total_cmp(&mass[a as usize]));
    let mut number = vec![NO_CLUSTER; consensus.k];
    for (new, &old) in order.iter().enumerate() {
        number[old as usize] = new as u32;
    }
    let rename = |label: &mut u32| {
        if *label != NO_CLUSTER {
            *label = number[*label as usize];
        }
    };
    consensus.labels.iter_mut().for_each(rename);
    consensus.parted.iter_mut().flatten().for_each(rename);
    // A column that wins no object may still hold some mass: rows are brought back to sum 1.
    consensus.membership =
        consensus.membership.map(|m| renumbered(m.nrows(), |i| m.row(from[i] as usize), &order));
    consensus.correspondences = consensus
        .correspondences
        .map(|all| all.iter().map(|s| renumbered(s.nrows(), |i| s.row(i), &order)).collect());
    consensus.k = order.len();
    consensus
}

/// These columns of the rows, in this order, with sum 1.
fn renumbered<'a>(rows: usize, row: impl Fn(usize) -> &'a [f64] + Sync, order: &[u32]) -> Matrix {
    let k = order.len();
    let mut numbered = Matrix::zeros(rows, k);
    if k == 0 {
        return numbered;
    }
    let blocks = numbered.as_mut_slice().par_chunks_mut(k * BLOCK).with_min_len(CHUNK / BLOCK);
    blocks.enumerate().for_each(|(block, numbered)| {
        // Rows lie anywhere: fetched by themselves, more of them are under way at a time.
        for (i, numbered) in numbered.chunks_exact_mut(k).enumerate() {
            let row = row(block * BLOCK + i);
            numbered.iter_mut().zip(order).for_each(|(x, &j)| *x = row[j as usize]);
        }
        for numbered in numbered.chunks_exact_mut(k) {
            let sum: f64 = numbered.iter().sum();
            let uniform = 1.0 / k as f64;
            numbered.iter_mut().for_each(|x| *x = if sum > 0.0 { *x / sum } else { uniform });
        }
    });
    numbered
}

/// The membership of each profile in its own cluster.
fn own_memberships(membership: &Matrix, labels: &[u32]) -> Vec<f64> {
    let own = |(row, &label): (&[f64], &u32)| row.get(label as usize).copied().unwrap_or(0.0);
    membership.iter_rows().zip(labels).map(own).map(|p| p.clamp(0.0, 1.0)).collect()
}

/// The members' [support](Votes::support_of) of each profile's label.
fn support(profiles: &Profiles, labels: &[u32], k: usize) -> Vec<f64> {
    Votes::new(profiles, labels, k).support_of_own(profiles, labels)
}

/// The same where the objects of a profile may have parted: the mean over its objects.
fn support_of_parted(profiles: &Profiles, parted: &[u32], k: usize) -> Vec<f64> {
    let mut parts: Vec<Vec<(u32, f64)>> = vec![Vec::new(); profiles.len()];
    for (&s, &label) in profiles.map().iter().zip(parted) {
        if s == NO_PROFILE || label == NO_CLUSTER {
            continue;
        }
        let own = &mut parts[s as usize];
        match own.iter_mut().find(|(part, _)| *part == label) {
            Some((_, count)) => *count += 1.0,
            None => own.push((label, 1.0)),
        }
    }
    for own in &mut parts {
        // Not by first appearance: sums must not depend on the order of the objects.
        own.sort_unstable_by_key(|&(label, _)| label);
        let all: f64 = own.iter().map(|(_, count)| count).sum();
        own.iter_mut().for_each(|(_, count)| *count /= all);
    }
    let mut mass = vec![0.0; profiles.n_clusters()];
    let mut shared = Matrix::zeros(profiles.n_clusters(), k);
    for (s, (own, &w)) in parts.iter().zip(profiles.weights()).enumerate() {
        profiles.for_each_entry(s, |_, c, p| {
            mass[c] += w * p;
            own.iter().for_each(|&(label, share)| shared[(c, label as usize)] += w * p * share);
        });
    }
    let support_of = |(s, own): (usize, &Vec<(u32, f64)>)| {
        let (mut sum, mut votes) = (0.0, 0.0);
        profiles.for_each_entry(s, |_, c, p| {
            let within = |&(label, share): &(u32, f64)| share * shared[(c, label as usize)];
            sum += p * own.iter().map(within).sum::<f64>() / mass[c];
            votes += p;
        });
        (sum / votes).clamp(0.0, 1.0)
    };
    parts.iter().enumerate().map(support_of).collect()
}
