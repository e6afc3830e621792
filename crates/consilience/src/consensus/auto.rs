//! Which method `auto` stands for, and which number of clusters.
//!
//! The rule follows the published comparisons; in the table of `docs/comparison.md` it lies within
//! 0.01 of the best single method:
//!
//! * something is wanted that only some methods have (soft memberships, correspondences, a start) →
//!   [SCEC](crate::consensus::Scec), a tree → [LWEA](crate::consensus::Lwea);
//! * members are soft → [LWGP](crate::consensus::Lwgp), which uses memberships as they are;
//! * more than one label in ten is missing → [LWGP](crate::consensus::Lwgp): members that say nothing of
//!   a pair count against it in the tree. (Ten noisy copies of six clusters, 37 % of the labels missing:
//!   mean adjusted Rand index over five draws 0.93 against 0.79; k-means members of Iris, Wine, digits
//!   and blobs, half missing: the same within 0.02 but for Wine, 0.89 against 0.85.)
//! * at most [`FEW`] distinct objects, and the tree fits in memory → [LWEA](crate::consensus::Lwea);
//! * otherwise → [LWGP](crate::consensus::Lwgp), whose time grows with the number of distinct objects,
//!   not with its square.

use std::ops::RangeInclusive;

use crate::choose_k::KCriteria;
use crate::consensus::method::{ChoosesK, MethodInfo, Shape, method};
use crate::consensus::settings::Settings;
use crate::consensus::{lwea, lwgp, scec};
use crate::ensemble::{Ensemble, Profiles};
use crate::error::{Error, Result};
use crate::run::Run;

/// Distinct objects up to which the tree of all pairs takes seconds.
const FEW: usize = 10_000;

/// Missing labels, as a share of all, from which on pairs seen by few members mislead the tree.
const MANY_MISSING: f64 = 0.1;

/// What `auto` stands for, and why.
#[derive(Clone, Copy, Debug)]
pub struct AutoMethod {
    /// The method.
    pub info: &'static MethodInfo,
    /// Why this one, as a clause that follows "because".
    pub reason: &'static str,
}

/// What is wanted besides labels, which not all methods have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Memberships or correspondences.
    pub soft: bool,
    /// A start from a given clustering.
    pub start: bool,
    /// A tree of merges.
    pub tree: bool,
}

/// The method that `auto` stands for if something is wished for that decides it.
pub fn auto_by_wish(wish: Wish) -> Option<AutoMethod> {
    let scec = |reason| Some(AutoMethod { info: &scec::INFO, reason });
    match wish {
        Wish { soft: true, .. } => scec("it gives memberships and correspondences"),
        Wish { start: true, .. } => scec("it starts from a given clustering"),
        Wish { tree: true, .. } => {
            Some(AutoMethod { info: &lwea::INFO, reason: "it gives a tree of merges" })
        }
        _ => None,
    }
}

/// The method that `auto` stands for on these profiles for `k` clusters within the memory ceiling of
/// `run`.
pub fn auto(profiles: &Profiles, k: usize, run: &Run) -> AutoMethod {
    let missing = if profiles.has_missing() {
        let known: f64 = profiles.cluster_weights().iter().sum();
        1.0 - known / (profiles.n_members() as f64 * profiles.total_weight())
    } else {
        0.0
    };
    auto_by_shape(&Shape::of(profiles), missing, k, run)
}

/// The same, given which share of the labels is missing.
fn auto_by_shape(shape: &Shape, missing: f64, k: usize, run: &Run) -> AutoMethod {
    let lwgp = |reason| AutoMethod { info: &lwgp::INFO, reason };
    let tree = lwea::INFO.with(Some(k), &Settings::default());
    if shape.soft {
        lwgp("it uses soft clusterings as they are")
    } else if shape.u > FEW {
        lwgp(
            "there are more than 10,000 distinct objects, and its time grows with their number only",
        )
    } else if missing > MANY_MISSING {
        lwgp("more than one label in ten is missing, which misleads a tree")
    } else if tree.is_ok_and(|tree| tree.cost(shape) > run.memory_ceiling()) {
        lwgp("a tree of all distinct objects would not fit in memory")
    } else {
        let reason =
            "it was among the most accurate in comparisons, and the distinct objects are few";
        AutoMethod { info: &lwea::INFO, reason }
    }
}

/// How many clusters are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// As many as there are: the method's own choice where it is named and has one, otherwise what
    /// [`KCriteria`] recommend.
    #[default]
    Auto,
    /// This many.
    Exactly(usize),
    /// What [`KCriteria`] recommend in this range.
    Between(RangeInclusive<usize>),
}

impl Clusters {
    /// The number, if it is asked for.
    pub fn exactly(&self) -> Option<usize> {
        match self {
            Clusters::Exactly(k) => Some(*k),
            _ => None,
        }
    }
}

/// A method and a number of clusters for an ensemble.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The method.
    pub info: &'static MethodInfo,
    /// Why `auto` took it, as a clause that follows "because"; `None` if it was named.
    pub reason: Option<&'static str>,
    /// The number of clusters to ask the method for; `None` if it is to find it.
    pub k: Option<usize>,
    /// What speaks for which number, if it was looked for.
    pub criteria: Option<KCriteria>,
}

/// The method and the number of clusters for `ensemble`. Without `named` the method is `auto`.
///
/// # Errors
///
/// If the method finds the number of clusters by itself and a number or range is given, if the range
/// is empty, or if the run is cancelled.
pub fn choose(
    named: Option<&'static MethodInfo>,
    clusters: &Clusters,
    ensemble: &Ensemble,
    run: &Run,
) -> Result<Choice> {
    if let Some(choice) = without_data(named, clusters)? {
        return Ok(choice);
    }
    if ensemble.is_hard() {
        return choose_on(named, clusters, &Profiles::new(ensemble, run)?, run);
    }
    let (k, criteria) = match clusters {
        Clusters::Exactly(k) => (*k, None),
        looked_for => number(looked_for, &Profiles::new(&ensemble.hardened(), run)?, run)?,
    };
    let (info, reason) = if let Some(info) = named {
        (info, None)
    } else {
        let found = auto(&Profiles::new(ensemble, run)?, k, run);
        (found.info, Some(found.reason))
    };
    Ok(Choice { info, reason, k: Some(k), criteria })
}

/// The same as [`choose`] for an ensemble of hard members that is merged into `profiles` already.
///
/// # Errors
///
/// As [`choose`].
///
/// # Panics
///
/// If a member is soft.
pub fn choose_on(
    named: Option<&'static MethodInfo>,
    clusters: &Clusters,
    profiles: &Profiles,
    run: &Run,
) -> Result<Choice> {
    assert!(profiles.is_hard(), "soft members are hardened for one step and not for another");
    if let Some(choice) = without_data(named, clusters)? {
        return Ok(choice);
    }
    let (k, criteria) = number(clusters, profiles, run)?;
    let (info, reason) = if let Some(info) = named {
        (info, None)
    } else {
        let found = auto(profiles, k, run);
        (found.info, Some(found.reason))
    };
    Ok(Choice { info, reason, k: Some(k), criteria })
}

/// The choice, if no data are needed for it.
fn without_data(named: Option<&'static MethodInfo>, clusters: &Clusters) -> Result<Option<Choice>> {
    if let Clusters::Between(range) = clusters
        && (range.is_empty() || *range.start() == 0)
    {
        let got = format!("{}..{}", range.start(), range.end());
        return Err(Error::parameter("k", "a range from at least 1 upwards", got));
    }
    let Some(info) = named else { return Ok(None) };
    let own = match info.chooses_k {
        ChoosesK::Always => true,
        ChoosesK::UnlessGiven => *clusters == Clusters::Auto,
        ChoosesK::Never => false,
    };
    if own && *clusters != Clusters::Auto {
        return Err(Error::Unsupported {
            method: info.name,
            what: "a given number of clusters".to_owned(),
            hint: "it finds the number by itself".to_owned(),
        });
    }
    let k = if own { None } else { clusters.exactly() };
    let decided = own || k.is_some();
    Ok(decided.then_some(Choice { info, reason: None, k, criteria: None }))
}

/// The number of clusters that is asked for or recommended, and what speaks for it.
fn number(
    clusters: &Clusters,
    profiles: &Profiles,
    run: &Run,
) -> Result<(usize, Option<KCriteria>)> {
    let range = match clusters {
        Clusters::Exactly(k) => return Ok((*k, None)),
        Clusters::Between(range) => Some(range),
        Clusters::Auto => None,
    };
    let criteria = KCriteria::new(profiles, range, run)?;
    Ok((criteria.recommended, Some(criteria)))
}

/// The method of this name; `None` is `auto`.
///
/// # Errors
///
/// If there is no such method.
pub fn method_or_auto(name: &str) -> Result<Option<&'static MethodInfo>> {
    if name == "auto" { Ok(None) } else { method(name).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::HardMember;
    use crate::testing::{hard_ensemble, profiles};

    fn shape(u: usize) -> Shape {
        Shape { n: 4 * u, u, r: 20, total_clusters: 200, missing: false, soft: false }
    }

    #[test]
    fn the_choice_can_be_built_with_what_was_given() {
        for (u, soft) in [(1, false), (100, false), (100_000, false), (100, true)] {
            let found = auto_by_shape(&Shape { soft, ..shape(u) }, 0.0, 7, &Run::new(0));
            assert!(found.info.with(Some(7), &Settings::default()).is_ok(), "{u}");
        }
    }

    #[test]
    fn size_memory_and_softness_decide() {
        let name = |u, soft, memory| {
            let run = Run::new(0).memory(memory);
            auto_by_shape(&Shape { soft, ..shape(u) }, 0.0, 3, &run).info.name
        };
        assert_eq!(name(5000, false, u64::MAX), "lwea");
        assert_eq!(name(50_000, false, u64::MAX), "lwgp");
        assert_eq!(name(5000, true, u64::MAX), "lwgp");
        assert_eq!(name(5000, false, 1 << 20), "lwgp");
    }

    #[test]
    fn many_missing_labels_decide() {
        let member = |missing: usize| {
            let labels = (0..10).map(|i| (i >= missing).then_some(i as i64 % 2));
            HardMember::from_integers("m", labels).into()
        };
        let name = |missing| {
            let members = vec![member(0), member(missing)];
            auto(&profiles(&Ensemble::new(members).unwrap()), 2, &Run::new(0)).info.name
        };
        assert_eq!([name(0), name(2), name(3)], ["lwea", "lwea", "lwgp"]);
    }

    #[test]
    fn wishes_decide_first() {
        assert!(auto_by_wish(Wish::default()).is_none());
        let name = |wish| auto_by_wish(wish).map(|found| found.info.name);
        assert_eq!(name(Wish { soft: true, ..Wish::default() }), Some("scec"));
        assert_eq!(name(Wish { start: true, ..Wish::default() }), Some("scec"));
        assert_eq!(name(Wish { tree: true, ..Wish::default() }), Some("lwea"));
    }

    #[test]
    fn numbers_are_given_looked_for_or_left_to_the_method() {
        let ensemble = hard_ensemble(&[[0, 0, 1, 1, 2, 2]; 3]);
        let run = Run::new(0);
        let choose = |name: &str, clusters: Clusters| {
            choose(method_or_auto(name).unwrap(), &clusters, &ensemble, &run)
        };
        assert_eq!(choose("scec", Clusters::Exactly(2)).unwrap().k, Some(2));
        let found = choose("scec", Clusters::Auto).unwrap();
        assert_eq!(found.k, Some(3));
        assert_eq!(found.criteria.map(|criteria| criteria.recommended), Some(3));
        assert_eq!(choose("auto", Clusters::Between(1..=2)).unwrap().k, Some(2));
        assert_eq!(choose("sa", Clusters::Auto).unwrap().k, None);
        assert_eq!(choose("sa", Clusters::Between(2..=3)).unwrap().k, Some(3));
        assert_eq!(choose("voting", Clusters::Auto).unwrap().k, None);
        assert!(choose("voting", Clusters::Exactly(2)).is_err());
        assert!(choose("scec", Clusters::Between(0..=2)).is_err());
        assert_eq!(profiles(&ensemble).len(), 3);
    }
}
