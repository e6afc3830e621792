//! How much the members of an ensemble differ.

use rayon::prelude::*;

use crate::ensemble::{Contingency, Profiles};
use crate::linalg::Matrix;
use crate::metrics::{Normalisation, adjusted_rand, nmi, variation_of_information};

/// Mean and spread of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Spread {
    /// How many numbers there are.
    pub count: usize,
    /// The mean; 0 of no numbers.
    pub mean: f64,
    /// The sample standard deviation; 0 of fewer than two.
    pub deviation: f64,
    /// The smallest; 0 of no numbers.
    pub min: f64,
    /// The largest; 0 of no numbers.
    pub max: f64,
}

impl Spread {
    /// The spread of these numbers.
    pub fn of(values: &[f64]) -> Self {
        if values.is_empty() {
            return Spread::default();
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let deviation = if count < 2 { 0.0 } else { (squares / (count - 1) as f64).sqrt() };
        Spread {
            count,
            mean,
            deviation,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Diversity over all pairs of members. Pairs that label no object in common are left out.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Diversity {
    /// $1 -$ NMI, geometric.
    pub nmi: Spread,
    /// $1 -$ adjusted Rand.
    pub ari: Spread,
    /// Variation of information, in nats.
    pub vi: Spread,
}

impl Diversity {
    /// The diversity of the members of `profiles`. Time $O(u r^2)$.
    pub fn of(profiles: &Profiles) -> Self {
        let distances = over_pairs(profiles, |table| {
            [
                1.0 - nmi(table, Normalisation::Geometric),
                1.0 - adjusted_rand(table),
                variation_of_information(table),
            ]
        });
        let spread = |measure: usize| {
            let values: Vec<f64> =
                distances.iter().flatten().map(|distance| distance[measure]).collect();
            Spread::of(&values)
        };
        Diversity { nmi: spread(0), ari: spread(1), vi: spread(2) }
    }
}

/// $\mathrm{div}(q)$ for every member: its mean [variation of
/// information](variation_of_information) to the others (equation (10) of the w-MI paper).
///
/// Members that share no labelled object with $q$ are left out of its mean; alone, $q$ has 0.
///
/// # Cost
///
/// Time $O(u r^2)$.
pub fn member_diversity(profiles: &Profiles) -> Vec<f64> {
    let distances = over_pairs(profiles, variation_of_information);
    let mut sums = vec![(0.0, 0u32); profiles.n_members()];
    for ((g, h), distance) in pairs(profiles.n_members()).zip(distances) {
        if let Some(distance) = distance {
            for q in [g, h] {
                sums[q].0 += distance;
                sums[q].1 += 1;
            }
        }
    }
    sums.into_iter().map(|(sum, n)| if n == 0 { 0.0 } else { sum / f64::from(n) }).collect()
}

/// Diversity of the members as seen from a consensus (Hadjitodorov, Kuncheva and Todorova 2006).
/// With $a_q$ the adjusted Rand index of member $q$ and the consensus:
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ConsensusDiversity {
    /// $D_1$, the mean of $1 - a_q$.
    pub d1: f64,
    /// $D_2$, the sample deviation of $1 - a_q$; 0 for one member.
    pub d2: f64,
    /// $D_3 = \frac12 (1 - D_1 + D_2)$.
    pub d3: f64,
    /// $D_4 = D_2 / D_1$; 0 where $D_1 = 0$, as then all members are the consensus.
    pub d4: f64,
}

impl ConsensusDiversity {
    /// The diversity of the members against a clustering of the profiles. Members that label
    /// nothing the consensus labels are left out.
    pub fn of(profiles: &Profiles, labels: &[u32]) -> Self {
        let distance = |q: usize| {
            let table = Contingency::of_consensus(profiles, labels, q);
            (!table.is_empty()).then(|| 1.0 - adjusted_rand(&table))
        };
        let distances: Vec<Option<f64>> =
            (0..profiles.n_members()).into_par_iter().map(distance).collect();
        let distances: Vec<f64> = distances.into_iter().flatten().collect();
        let Spread { mean: d1, deviation: d2, .. } = Spread::of(&distances);
        let d4 = if d1 == 0.0 { 0.0 } else { d2 / d1 };
        ConsensusDiversity { d1, d2, d3: 0.5 * (1.0 - d1 + d2), d4 }
    }
}

/// All pairs of different members, the smaller first.
fn pairs(r: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..r).flat_map(move |g| (g + 1..r).map(move |h| (g, h)))
}

/// `measure` of every pair's table, in the order of [`pairs`]; `None` where nothing is in common.
fn over_pairs<T: Send>(
    profiles: &Profiles,
    measure: impl Fn(&Contingency) -> T + Sync,
) -> Vec<Option<T>> {
    let (r, k) = (profiles.n_members(), profiles.n_clusters());
    let pairs: Vec<_> = pairs(r).collect();
    // All tables at once, unless they would be larger than what they are made from.
    let all = (k * k <= profiles.len() * r).then(|| profiles.gram(profiles.weights()));
    let of_pair = |(g, h): (usize, usize)| {
        let table = if let Some(all) = &all {
            let (g, h) = (&profiles.members()[g].clusters, &profiles.members()[h].clusters);
            let cell = |a, b| all[(g.start + a, h.start + b)];
            Contingency::from_matrix(&Matrix::from_fn(g.len(), h.len(), cell))
        } else {
            Contingency::of_members(profiles, g, h)
        };
        (!table.is_empty()).then(|| measure(&table))
    };
    pairs.into_par_iter().map(of_pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};
    use proptest::prelude::*;

    #[test]
    fn equal_members_have_none() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1], [5, 5, 2], [1, 1, 0]]));
        assert_eq!(member_diversity(&profiles), [0.0; 3]);
        let diversity = Diversity::of(&profiles);
        assert_eq!(diversity.vi, Spread { count: 3, ..Spread::default() });
        assert_eq!((diversity.nmi.max, diversity.ari.max), (0.0, 0.0));
        let against = ConsensusDiversity::of(&profiles, &[0, 1]);
        assert_eq!((against.d1, against.d2, against.d3, against.d4), (0.0, 0.0, 0.5, 0.0));
    }

    #[test]
    fn by_hand() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]]));
        // Independent halves: VI = 2 ln 2, ARI = -1/2, NMI = 0.
        let vi = 4f64.ln();
        let found = member_diversity(&profiles);
        for (found, expected) in found.iter().zip([vi / 2.0, vi / 2.0, vi]) {
            assert!((found - expected).abs() < 1e-15);
        }
        let diversity = Diversity::of(&profiles);
        assert!((diversity.vi.mean - vi * 2.0 / 3.0).abs() < 1e-15);
        assert!((diversity.ari.mean - 1.0).abs() < 1e-15);
        assert_eq!((diversity.ari.min, diversity.ari.max), (0.0, 1.5));
        let against = ConsensusDiversity::of(&profiles, &[0, 0, 1, 1]);
        assert_eq!(against.d1, 0.5);
        assert!((against.d2 - 0.75f64.sqrt()).abs() < 1e-15);
        assert!((against.d3 - 0.5 * (0.5 + against.d2)).abs() < 1e-15);
        assert!((against.d4 - 2.0 * against.d2).abs() < 1e-15);
    }

    #[test]
    fn spreads_by_hand() {
        let three = Spread::of(&[1.0, 2.0, 4.0]);
        assert_eq!((three.count, three.mean, three.min, three.max), (3, 7.0 / 3.0, 1.0, 4.0));
        assert!((three.deviation - (7.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(Spread::of(&[1.0, 3.0]).deviation, 2f64.sqrt());
        assert_eq!(Spread::of(&[5.0]).deviation, 0.0);
    }

    /// With many profiles and few clusters all tables come from one matrix of overlaps.
    #[test]
    fn tables_at_once_are_those_of_every_pair() {
        let label = |k: i64| (0..210).map(move |i| Some(i * i % 11 * i % k));
        let member = |k: i64| HardMember::from_integers(k.to_string(), label(k)).into();
        let profiles = profiles(&Ensemble::new([2, 3, 5, 7].map(member).into()).unwrap());
        let (r, k) = (profiles.n_members(), profiles.n_clusters());
        assert!(k * k <= profiles.len() * r, "{k} clusters, {} profiles", profiles.len());
        let found = over_pairs(&profiles, variation_of_information);
        for ((g, h), found) in pairs(r).zip(found) {
            let alone = variation_of_information(&Contingency::of_members(&profiles, g, h));
            assert!((found.unwrap() - alone).abs() < 1e-12, "{g} {h}");
        }
    }

    #[test]
    fn pairs_without_common_objects_are_left_out() {
        let a = HardMember::from_integers("a", [Some(0), Some(1), None]);
        let b = HardMember::from_integers("b", [None, None, Some(0)]);
        let profiles = profiles(&Ensemble::new(vec![a.into(), b.into()]).unwrap());
        assert_eq!(Diversity::of(&profiles).vi, Spread::default());
        assert_eq!(member_diversity(&profiles), [0.0, 0.0]);
    }

    proptest! {
        /// Profiles tell the same as the members themselves, soft and hard.
        #[test]
        fn profiles_do_not_show(ensemble in ensembles(Kinds::ALL, 10, 4)) {
            let members = ensemble.members();
            for (q, found) in member_diversity(&profiles(&ensemble)).into_iter().enumerate() {
                let others = (0..members.len()).filter(|&j| j != q);
                let distances: Vec<f64> = others
                    .map(|j| Contingency::new(&members[q], &members[j], ensemble.weights()).unwrap())
                    .filter(|table| !table.is_empty())
                    .map(|table| variation_of_information(&table))
                    .collect();
                let expected = Spread::of(&distances).mean;
                prop_assert!((found - expected).abs() < 1e-12);
            }
        }
    }
}
