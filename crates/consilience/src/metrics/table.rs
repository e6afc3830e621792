//! The table of all measures of agreement.

use crate::ensemble::Contingency;
use crate::error::{Error, Result};
use crate::metrics::nmi::Normalisation as By;
use crate::metrics::{
    accuracy, adjusted_mutual_information, adjusted_rand, completeness, element_similarity,
    error_rate, fowlkes_mallows, homogeneity, nmi, pc_idx, purity, rand, variation_of_information,
};

/// What there is to know about a measure of agreement between two clusterings.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct MetricInfo {
    /// The name on the command line and in tables.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The smallest and largest value for hard clusterings with whole-number weights.
    pub range: (f64, f64),
    /// What a hard clustering has with itself; `None` if that depends on the clustering.
    pub identity: Option<f64>,
    /// Whether exchanging the two clusterings changes nothing.
    pub symmetric: bool,
    /// Whether renumbering the clusters changes nothing.
    pub name_free: bool,
    /// Whether larger values mean more agreement.
    pub higher_is_better: bool,
    /// The measure; rows are the clustering that is judged, columns what it is compared with.
    #[serde(skip)]
    pub value: fn(&Contingency) -> f64,
}

/// A symmetric similarity in [0, 1] that is 1 for equal clusterings.
const SIMILARITY: MetricInfo = MetricInfo {
    name: "",
    title: "",
    range: (0.0, 1.0),
    identity: Some(1.0),
    symmetric: true,
    name_free: true,
    higher_is_better: true,
    value: |_| 0.0,
};

/// All measures of agreement, by name.
pub static METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "nmi",
        title: "normalised mutual information, over the geometric mean of the entropies",
        value: |table| nmi(table, By::Geometric),
        ..SIMILARITY
    },
    MetricInfo {
        name: "nmi-arith",
        title: "normalised mutual information, over the arithmetic mean of the entropies",
        value: |table| nmi(table, By::Arithmetic),
        ..SIMILARITY
    },
    MetricInfo {
        name: "nmi-max",
        title: "normalised mutual information, over the larger entropy",
        value: |table| nmi(table, By::Max),
        ..SIMILARITY
    },
    MetricInfo {
        name: "nmi-min",
        title: "normalised mutual information, over the smaller entropy",
        value: |table| nmi(table, By::Min),
        ..SIMILARITY
    },
    MetricInfo {
        name: "nmi-joint",
        title: "normalised mutual information, over the joint entropy",
        value: |table| nmi(table, By::Joint),
        ..SIMILARITY
    },
    MetricInfo {
        name: "nmi-log-k",
        title: "mutual information over half the logarithm of the product of the cluster numbers",
        identity: None,
        value: |table| nmi(table, By::LogK),
        ..SIMILARITY
    },
    MetricInfo {
        name: "ari",
        title: "adjusted Rand index: agreement about pairs, corrected for chance",
        range: (-0.5, 1.0),
        value: adjusted_rand,
        ..SIMILARITY
    },
    MetricInfo {
        name: "rand",
        title: "Rand index: share of pairs judged alike",
        value: rand,
        ..SIMILARITY
    },
    MetricInfo {
        name: "ami",
        title: "adjusted mutual information: mutual information, corrected for chance",
        range: (-1.0, 1.0),
        value: adjusted_mutual_information,
        ..SIMILARITY
    },
    MetricInfo {
        name: "fmi",
        title: "Fowlkes-Mallows index: geometric mean of precision and recall of pairs",
        value: fowlkes_mallows,
        ..SIMILARITY
    },
    MetricInfo {
        name: "homogeneity",
        title: "how far every cluster holds one class only",
        symmetric: false,
        value: homogeneity,
        ..SIMILARITY
    },
    MetricInfo {
        name: "completeness",
        title: "how far every class is in one cluster only",
        symmetric: false,
        value: completeness,
        ..SIMILARITY
    },
    MetricInfo {
        name: "v_measure",
        title: "harmonic mean of homogeneity and completeness; the same as nmi-arith",
        value: |table| nmi(table, By::Arithmetic),
        ..SIMILARITY
    },
    MetricInfo {
        name: "ecs",
        title: "element-centric similarity: how far every object has the same companions",
        value: element_similarity,
        ..SIMILARITY
    },
    MetricInfo {
        name: "accuracy",
        title: "share of objects in matched clusters, best one-to-one matching",
        value: accuracy,
        ..SIMILARITY
    },
    MetricInfo {
        name: "error",
        title: "error rate: 1 - accuracy",
        identity: Some(0.0),
        higher_is_better: false,
        value: error_rate,
        ..SIMILARITY
    },
    MetricInfo {
        name: "pc_idx",
        title: "Fred's consistency index: share of objects in greedily matched clusters",
        symmetric: false,
        name_free: false,
        value: |table| pc_idx(table).index,
        ..SIMILARITY
    },
    MetricInfo {
        name: "purity",
        title: "share of objects that belong to the main class of their cluster",
        symmetric: false,
        value: purity,
        ..SIMILARITY
    },
    MetricInfo {
        name: "vi",
        title: "variation of information, in nats",
        range: (0.0, f64::INFINITY),
        identity: Some(0.0),
        higher_is_better: false,
        value: variation_of_information,
        ..SIMILARITY
    },
];

/// The measure of this name.
pub fn metric(name: &str) -> Result<&'static MetricInfo> {
    let found = METRICS.iter().find(|info| info.name == name);
    found.ok_or_else(|| Error::unknown_name("measure", name, METRICS.iter().map(|i| i.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kinds, ensembles};
    use proptest::prelude::*;

    type Label = Option<u32>;

    fn table(a: &[Label], b: &[Label]) -> Contingency {
        Contingency::of_labels(a, b, None).unwrap()
    }

    /// Rounding of sums of a few dozen terms of size one.
    const CLOSE: f64 = 1e-12;

    /// Two clusterings with some labels missing, and a multiplicity for every object.
    fn labelled() -> impl Strategy<Value = (Vec<Label>, Vec<Label>, Vec<u8>)> {
        let label = || prop::option::weighted(0.9, 0..5u32);
        prop::collection::vec((label(), label(), 1..4u8), 1..25).prop_map(|objects| {
            let (labels, multiplicities): (Vec<_>, Vec<_>) =
                objects.into_iter().map(|(a, b, m)| ((a, b), m)).unzip();
            let (a, b) = labels.into_iter().unzip();
            (a, b, multiplicities)
        })
    }

    #[test]
    fn names_are_found_and_different() {
        for info in METRICS {
            assert_eq!(metric(info.name).unwrap().title, info.title);
        }
        let error = metric("f1").unwrap_err().to_string();
        assert!(error.starts_with("there is no measure `f1`; there are nmi, "), "{error}");
    }

    #[test]
    fn degenerate_tables_have_values() {
        let one = |n: usize| vec![Some(0); n];
        let singletons = |n: u32| (0..n).map(Some).collect::<Vec<_>>();
        let empty = table(&[Some(0), None], &[None, Some(0)]);
        for info in METRICS {
            for n in [1, 2, 7u32] {
                let (one, single) = (one(n as usize), singletons(n));
                for (a, b) in [(&one, &one), (&one, &single), (&single, &one), (&single, &single)] {
                    let value = (info.value)(&table(a, b));
                    let range = info.range.0..=info.range.1;
                    assert!(range.contains(&value), "{} {n}: {value}", info.name);
                }
                for equal in [table(&one, &one), table(&single, &single)] {
                    let expected = info.identity.unwrap_or(1.0);
                    assert!(((info.value)(&equal) - expected).abs() < CLOSE, "{} {n}", info.name);
                }
            }
            let expected = match info.name {
                "error" => 1.0,
                _ => 0.0,
            };
            assert_eq!((info.value)(&empty), expected, "{} of nothing in common", info.name);
        }
    }

    proptest! {
        #[test]
        fn values_are_in_range_and_symmetric_where_claimed((a, b, _) in labelled()) {
            let (ab, ba) = (table(&a, &b), table(&b, &a));
            for info in METRICS {
                let value = (info.value)(&ab);
                prop_assert!(info.range.0 <= value && value <= info.range.1, "{} {value}", info.name);
                if info.symmetric {
                    prop_assert!((value - (info.value)(&ba)).abs() < CLOSE, "{}", info.name);
                }
            }
        }

        #[test]
        fn a_clustering_agrees_with_itself((a, _, _) in labelled()) {
            let same = table(&a, &a);
            prop_assume!(!same.is_empty());
            for info in METRICS {
                if let Some(identity) = info.identity {
                    prop_assert_eq!((info.value)(&same), identity, "{}", info.name);
                }
            }
        }

        #[test]
        fn names_of_clusters_do_not_matter(
            (a, b, _) in labelled(),
            names in Just((0..5u32).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let renamed: Vec<Label> = a.iter().map(|c| c.map(|c| names[c as usize])).collect();
            let (before, after) = (table(&a, &b), table(&renamed, &b));
            for info in METRICS.iter().filter(|info| info.name_free) {
                let change = (info.value)(&before) - (info.value)(&after);
                prop_assert!(change.abs() < CLOSE, "{} changes by {change}", info.name);
            }
        }

        #[test]
        fn a_weight_is_a_multiplicity((a, b, multiplicities) in labelled()) {
            let repeat = |labels: &[Label]| -> Vec<Label> {
                let copies = |(&c, &m): (&Label, &u8)| std::iter::repeat_n(c, m.into());
                labels.iter().zip(&multiplicities).flat_map(copies).collect()
            };
            let weights: Vec<f64> = multiplicities.iter().map(|&m| f64::from(m)).collect();
            let weighted = Contingency::of_labels(&a, &b, Some(&weights)).unwrap();
            let repeated = table(&repeat(&a), &repeat(&b));
            prop_assert_eq!(&weighted, &repeated);
            for info in METRICS {
                prop_assert_eq!((info.value)(&weighted), (info.value)(&repeated), "{}", info.name);
            }
        }

        /// Soft members and fractional weights: nothing is promised but a finite number, and what
        /// is a share stays one.
        #[test]
        fn soft_and_fractional_tables_have_values(ensemble in ensembles(Kinds::ALL, 8, 2)) {
            let members = ensemble.members();
            let last = &members[members.len() - 1];
            let table = Contingency::new(&members[0], last, ensemble.weights()).unwrap();
            for info in METRICS {
                let value = (info.value)(&table);
                let low = if info.name == "ari" { -1.0 } else { info.range.0 };
                prop_assert!(low <= value && value <= info.range.1, "{} {value}", info.name);
            }
        }
    }
}
