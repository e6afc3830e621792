//! What each method promises, and from which invariants it is exempt, with the reason.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use consilience::consensus::{ConsensusMethod, METHODS, MethodInfo, Settings, method};

use crate::told::Failure;

/// What a method promises about the number of clusters when told k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Always k, as k is at most the number of profiles.
    Exactly,
    /// At most k: some may end up empty.
    AtMost,
    /// It is never told.
    Own,
}

/// The row of one method, or of one of its [`VARIANTS`].
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) k: Promise,
    /// Invariants it does not keep, each with the reason.
    pub(crate) exempt: &'static [(&'static str, &'static str)],
}

/// The lifetime rule leaves out n clusters of n objects, and a weight counts as so many objects.
const LIFETIME_COUNTS_OBJECTS: &[(&str, &str)] = &[(
    "scaling_all_weights_changes_nothing_in_noise",
    "n objects that share nothing are not n clusters, but n pairs of equal objects are",
)];

/// A robust cluster has at least two objects, all of whom all members put together.
const ROBUST_CLUSTERS: &[(&str, &str)] = &[
    ("clear_structure_is_found", "one member that errs on an object keeps it out of its group"),
    ("one_object_is_one_cluster", "one object is no group: a robust cluster has two or more"),
    (
        "scaling_all_weights_changes_nothing",
        "a weight counts as so many objects, and two equal objects are a group where one is none",
    ),
    (
        "scaling_all_weights_changes_nothing_in_noise",
        "a weight counts as so many objects, and two equal objects are a group where one is none",
    ),
    (
        "scaling_all_weights_changes_nothing_in_large_ensembles",
        "a weight counts as so many objects, and two equal objects are a group where one is none",
    ),
];

/// Balanced cuts make parts of equal weight, whatever the members say.
const BALANCED: &[(&str, &str)] = &[
    ("a_unanimous_ensemble_is_returned", "unequal clusters are evened out: that is the method"),
    ("one_clustering_comes_back", "unequal clusters are evened out: that is the method"),
    ("clear_structure_is_found", "unequal clusters are evened out: that is the method"),
    ("none_of_many_clusters_is_missed", "unequal clusters are evened out: that is the method"),
    (
        "a_weight_is_a_number_of_equal_rows",
        "equal rows can be parted, one row of their weight cannot",
    ),
];

/// A null model needs clusterings enough.
const FEW_MAY_BE_CHANCE: &[(&str, &str)] = &[
    ("a_unanimous_ensemble_is_returned", "what a handful of members agree on may be chance"),
    ("one_clustering_comes_back", "one clustering alone may be chance"),
    ("none_of_many_clusters_is_missed", "ten clusters in ten members may be chance"),
];

/// The Laplacian grows with the objects, what is added to its diagonal does not.
const MORE_NEIGHBOURS: &str = "twice the objects are twice the neighbours along which what is sure is spread, \
                               against the same weight of an object's own evidence";

static ROWS: &[Row] = &[
    Row { name: "anmi-greedy", k: Promise::AtMost, exempt: &[] },
    Row { name: "bagclust", k: Promise::Own, exempt: &[] },
    Row { name: "bce", k: Promise::AtMost, exempt: &[] },
    Row {
        name: "best-member",
        k: Promise::Own,
        exempt: &[(
            "clear_structure_is_found",
            "it answers with one member as it stands: what that does not label stays unassigned",
        )],
    },
    Row { name: "cspa", k: Promise::Exactly, exempt: BALANCED },
    Row { name: "ecpcs-mc", k: Promise::AtMost, exempt: &[] },
    Row { name: "hbgf", k: Promise::AtMost, exempt: &[] },
    Row { name: "hbgf partition=cut", k: Promise::Exactly, exempt: BALANCED },
    Row { name: "hgpa", k: Promise::Exactly, exempt: BALANCED },
    Row { name: "hierarchical", k: Promise::AtMost, exempt: FEW_MAY_BE_CHANCE },
    Row { name: "lwgp", k: Promise::AtMost, exempt: &[] },
    Row { name: "mcla", k: Promise::AtMost, exempt: &[] },
    Row { name: "sec", k: Promise::AtMost, exempt: &[] },
    Row { name: "ea-al", k: Promise::Exactly, exempt: LIFETIME_COUNTS_OBJECTS },
    Row { name: "ea-cl", k: Promise::Exactly, exempt: &[] },
    Row { name: "ea-sl", k: Promise::Exactly, exempt: LIFETIME_COUNTS_OBJECTS },
    Row { name: "ea-wl", k: Promise::Exactly, exempt: LIFETIME_COUNTS_OBJECTS },
    Row {
        name: "ec-cms",
        k: Promise::Exactly,
        exempt: &[("scaling_all_weights_changes_nothing_in_noise", MORE_NEIGHBOURS)],
    },
    Row { name: "ecpcs-hc", k: Promise::Exactly, exempt: &[] },
    Row { name: "gwca", k: Promise::AtMost, exempt: &[] },
    Row { name: "kcc", k: Promise::AtMost, exempt: &[] },
    Row { name: "local-search", k: Promise::Own, exempt: &[] },
    Row { name: "lwea", k: Promise::Exactly, exempt: &[] },
    Row { name: "nmfc", k: Promise::AtMost, exempt: &[] },
    Row { name: "pivot", k: Promise::Own, exempt: &[] },
    Row { name: "pta", k: Promise::Exactly, exempt: &[] },
    Row { name: "ptgp", k: Promise::AtMost, exempt: &[] },
    Row { name: "wct", k: Promise::AtMost, exempt: &[] },
    Row {
        name: "rmsc",
        k: Promise::AtMost,
        exempt: &[(
            "scaling_all_weights_changes_nothing_in_noise",
            "twice the objects double the sum of errors, not the nuclear norm: lambda counts twice \
             (shown by `lambda_counts_with_the_number_of_objects` beside the method)",
        )],
    },
    Row { name: "kc", k: Promise::AtMost, exempt: &[] },
    Row { name: "mmec", k: Promise::AtMost, exempt: &[] },
    Row { name: "qmi", k: Promise::AtMost, exempt: &[] },
    Row {
        name: "rce",
        k: Promise::AtMost,
        exempt: &[(
            "scaling_all_weights_changes_nothing_in_noise",
            "its objective adds up pairs, which grow with the square of the weights, and singular \
             values, which grow with the weights: lambda2 follows by default, but mu = 0.001 \
             would have to be fourfold (`doubling_all_weights_halves_lambda2` beside the method), \
             and which part of D counts as negative depends on how many objects a profile has",
        )],
    },
    Row { name: "relabel-vote", k: Promise::Own, exempt: &[] },
    Row { name: "robust-clusters", k: Promise::Own, exempt: ROBUST_CLUSTERS },
    Row { name: "sa", k: Promise::AtMost, exempt: &[] },
    Row { name: "scec", k: Promise::AtMost, exempt: &[] },
    Row {
        name: "sdgca",
        k: Promise::Exactly,
        exempt: &[
            ("scaling_all_weights_changes_nothing", MORE_NEIGHBOURS),
            ("scaling_all_weights_changes_nothing_in_noise", MORE_NEIGHBOURS),
        ],
    },
    Row { name: "f-mi", k: Promise::AtMost, exempt: &[] },
    Row { name: "h-mi", k: Promise::AtMost, exempt: &[] },
    Row { name: "voting", k: Promise::Own, exempt: &[] },
    Row { name: "voting-merging", k: Promise::AtMost, exempt: &[] },
    Row { name: "w-mi", k: Promise::AtMost, exempt: &[] },
];

/// A setting under which a method is another one and keeps other invariants: a name, the method, what
/// is set, and the method with that set.
static VARIANTS: &[(&str, &str, &str, Build)] =
    &[("hbgf partition=cut", "hbgf", "partition", |k, settings| {
        let given = settings.names().filter_map(|name| Some((name, settings.text(name)?)));
        let settings = given.chain([("partition", "cut")]).collect();
        method("hbgf")?.with(k, &settings)
    })];

type Build = fn(Option<usize>, &Settings) -> consilience::Result<Box<dyn ConsensusMethod>>;

/// All methods, and their variants as if they were methods.
pub(crate) fn methods() -> &'static [&'static MethodInfo] {
    static ALL: LazyLock<Vec<&'static MethodInfo>> = LazyLock::new(|| {
        let variant = |&(name, of, set, build): &(&'static str, &str, &str, Build)| {
            let info = *method(of).expect("a variant is one of a method");
            let left = info.parameters.iter().copied().filter(|parameter| parameter.name != set);
            let parameters = Vec::leak(left.collect());
            &*Box::leak(Box::new(MethodInfo { name, parameters, build, ..info }))
        };
        // Those that work on a network have invariants of their own: `networks.rs`.
        let on_labels = METHODS.iter().copied().filter(|info| !info.edges);
        on_labels.chain(VARIANTS.iter().map(variant)).collect()
    });
    &ALL
}

/// Methods that may leave an object without a cluster although some member labels it.
static LEAVE_UNASSIGNED: &[&str] = &["bagclust", "best-member", "relabel-vote", "robust-clusters"];

/// Whether this method may leave an object without a cluster although some member labels it.
pub(crate) fn leaves_unassigned(name: &str) -> bool {
    LEAVE_UNASSIGNED.contains(&name)
}

/// The row of this method.
pub(crate) fn row(name: &str) -> &'static Row {
    let row = ROWS.iter().find(|row| row.name == name);
    row.unwrap_or_else(|| panic!("method `{name}` has no row in the conformance table"))
}

/// Runs one invariant over all methods and variants. An exempt method must answer, and the answer must
/// break the invariant: neither an error nor a panic is an exemption.
pub(crate) fn hold(invariant: &str, check: fn(&'static MethodInfo) -> Result<(), Failure>) {
    let mut failures = Vec::new();
    for &info in methods() {
        let outcome = catch_unwind(AssertUnwindSafe(|| check(info)))
            .unwrap_or_else(|_| Err(Failure::Error("panicked (message above)".to_owned())));
        let exempt = row(info.name).exempt.iter().any(|(name, _)| *name == invariant);
        match (outcome, exempt) {
            (Ok(()), false) | (Err(Failure::Broken(_)), true) => {}
            (Err(Failure::Broken(problem) | Failure::Error(problem)), _) => {
                failures.push(format!("{}: {problem}", info.name));
            }
            (Ok(()), true) => {
                failures.push(format!("{}: exempt, but holds: strike the exemption", info.name));
            }
        }
    }
    assert!(failures.is_empty(), "{invariant}:\n  {}", failures.join("\n  "));
}

/// The table has one row a method, and its exemptions name invariants that exist.
pub(crate) fn check(invariants: &[&str]) {
    let sorted = |names: Vec<&'static str>| {
        let mut names = names;
        names.sort_unstable();
        names
    };
    let methods = sorted(methods().iter().map(|info| info.name).collect());
    assert_eq!(sorted(ROWS.iter().map(|row| row.name).collect()), methods);
    for row in ROWS {
        for (i, (invariant, reason)) in row.exempt.iter().enumerate() {
            assert!(invariants.contains(invariant), "{}: no invariant `{invariant}`", row.name);
            assert!(reason.len() > 10, "{}: `{invariant}` needs a reason", row.name);
            assert!(
                row.exempt[..i].iter().all(|(other, _)| other != invariant),
                "{}: `{invariant}` twice",
                row.name
            );
        }
    }
}
