//! Which method `auto` stands for.
//!
//! The rule follows the published comparisons; in the table of `docs/accuracy.md` it lies within
//! 0.01 of the best single method:
//!
//! * something is wanted that only some methods have (soft memberships, correspondences, a start) →
//!   [SCEC](crate::consensus::Scec), the edges of a network are given → [edge cut](crate::consensus::EdgeCut), a tree → [LWEA](crate::consensus::Lwea);
//! * members are soft → [LWGP](crate::consensus::Lwgp), which uses memberships as they are;
//! * more than one label in ten is missing → [LWGP](crate::consensus::Lwgp): pairs that few members
//!   label mislead the tree. (Ten noisy copies of six clusters, 37 % of the labels missing:
//!   mean adjusted Rand index over five draws 0.93 against 0.79; k-means members of Iris, Wine, digits
//!   and blobs, half missing: the same within 0.02 but for Wine, 0.89 against 0.85.)
//! * members are of several kinds, as the names that a committee gives tell → [LWGP](crate::consensus::Lwgp): on the tuning half of `make accuracy`
//!   mean ARI 0.878 against 0.868 of the tree, which follows single links through what some members cut;
//! * at most [`FEW`] distinct objects, and the tree fits in memory → [LWEA](crate::consensus::Lwea);
//! * otherwise → [LWGP](crate::consensus::Lwgp), whose time grows with the number of distinct objects,
//!   not with its square.

use std::collections::BTreeSet;

use crate::consensus::method::{MethodInfo, Shape};
use crate::consensus::settings::Settings;
use crate::consensus::{edge_cut, lwea, lwgp, scec};
use crate::ensemble::Profiles;
use crate::generate::base;
use crate::run::Run;

/// Distinct objects up to which the tree of all pairs takes seconds.
const FEW: usize = 10_000;

/// Missing labels, as a share of all, from which on pairs seen by few members mislead the tree.
const MANY_MISSING: f64 = 0.1;

/// What `auto` stands for, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AutoMethod {
    /// The method.
    pub info: &'static MethodInfo,
    /// Why this one, as a clause that follows "because".
    pub reason: &'static str,
}

/// What is wanted besides labels, which not all methods have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Memberships or correspondences.
    pub soft: bool,
    /// A start from a given clustering.
    pub start: bool,
    /// A tree of merges.
    pub tree: bool,
    /// The use of a network of the objects.
    pub edges: bool,
}

/// The method that `auto` stands for if something is wished for that decides it.
pub(crate) fn auto_by_wish(wish: Wish) -> Option<AutoMethod> {
    let scec = |reason| Some(AutoMethod { info: &scec::INFO, reason });
    match wish {
        Wish { edges: true, .. } => {
            Some(AutoMethod { info: &edge_cut::INFO, reason: "it uses the edges of the network" })
        }
        Wish { soft: true, .. } => scec("it gives memberships and correspondences"),
        Wish { start: true, .. } => scec("it starts from a given clustering"),
        Wish { tree: true, .. } => {
            Some(AutoMethod { info: &lwea::INFO, reason: "it gives a tree of merges" })
        }
        _ => None,
    }
}

/// Whether members are of several kinds. Names tell, as a committee gives them (`m07-gmm`): they are in
/// every table that it wrote, so that members combined later are combined as they were at first.
fn are_of_kinds<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    let kind = |name: &'a str| {
        let (number, kind) = name.strip_prefix('m')?.split_once('-')?;
        (number.parse::<usize>().is_ok() && base(kind).is_ok()).then_some(kind)
    };
    names.map(kind).collect::<Option<BTreeSet<_>>>().is_some_and(|kinds| kinds.len() > 1)
}

/// The method that `auto` stands for on these profiles for `k` clusters within the memory ceiling of
/// `run`.
pub(crate) fn auto(profiles: &Profiles, k: usize, run: &Run) -> AutoMethod {
    let missing = if profiles.has_missing() {
        let known: f64 = profiles.cluster_weights().iter().sum();
        1.0 - known / (profiles.n_members() as f64 * profiles.total_weight())
    } else {
        0.0
    };
    if are_of_kinds(profiles.members().iter().map(|member| member.name.as_str())) {
        let reason = "it was the most accurate in comparisons on clusterings of several kinds";
        return AutoMethod { info: &lwgp::INFO, reason };
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::profiles;

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
    fn the_names_of_a_committee_tell_its_kinds() {
        let of = |names: &[&str]| are_of_kinds(names.iter().copied());
        assert!(of(&["m01-genie", "m02-genie", "m03-spectral"]));
        assert!(!of(&["m01-genie", "m02-genie"]), "one kind");
        assert!(!of(&["m01-genie", "m02-gmm", "mine"]), "one of somebody else");
        assert!(!of(&["m01", "m02"]) && !of(&["monday-gmm", "m2-friday"]) && !of(&[]));
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
}
