//! Hierarchical consensus with a null model: how many clusters, if any, and how they are nested.
//!
//! L. G. S. Jeub, O. Sporns, S. Fortunato. *Multiresolution Consensus Clustering in Networks.* Scientific Reports 8,
//! 2018. Made for many clusterings at many resolutions.
//!
//! Objects may be together by chance. Of a group of $N$ objects, a random other one shares the cluster of object $i$
//! in member $q$ with the chance $\mu_{iq} = (\lvert C^q_i \rvert - 1) / (N - 1)$; with how many of the $r$ members,
//! follows a Poisson binomial distribution, here the normal distribution with its mean and variance. Two objects
//! that are together in fewer members than the quantile $\alpha$ of that are apart for a reason:
//!
//! $$ p_i = \tfrac 1 r \Bigl( \sum_q \mu_{iq} + \Phi^{-1}(\alpha) \sqrt{\textstyle\sum_q \mu_{iq} (1 - \mu_{iq})} \Bigr),
//!    \qquad b_{ij} = a_{ij} - \min(p_i, p_j) $$
//!
//! with $a$ the co-association and $p$ kept within $[0, 1]$. If no $b_{ij}$ is negative, the group is one cluster. Otherwise
//! it is parted so that $\sum b_{ij}$ over pairs together is largest. That is a search from a random start; as many
//! searches as members are new members of which the same is asked, until all of them agree. The parts are groups in
//! their turn. Groups that are not parted are the clusters, and how the parts came about is the tree.
//!
//! # A given k
//!
//! The tree is cut into k clusters. It never has more clusters than the null model allows: if k is more, there are
//! fewer than k.
//!
//! # On profiles
//!
//! $p_i$ and $b_{ij}$ depend on label tuples only, and $b_{ij} > 0$ for equal objects: profiles are items that attract
//! each other with $w_s w_t b_{st}$, and move as wholes. What is maximised is the same number.
//!
//! # Where we depart from the paper
//!
//! * *Search.* Moves go to the group of largest gain, in random order, where the authors draw moves in proportion to
//!   their gains.
//! * *Heights* of the tree are 1 less the mean co-association between the groups merged, where there are more than two by
//!   average link; the authors take the mean within the merged group. A merge is never lower than those within its groups.
//! * *Weights.* A profile lighter than one object counts as one object.
//! * *Missing labels* (left open). A pair is judged by the members that label both, a chance by the objects that the
//!   member labels; what no member judges is neither together nor apart.
//!
//! # Cost
//!
//! Time $O(r (u^2 + t u^2))$ for $t$ sweeps of a search, memory of one $u \times u$ matrix and four thirds of another.

use std::borrow::Cow;

use rayon::prelude::*;
use statrs::function::erf::erfc_inv;

use crate::base::linkage::{Join, in_order};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Stop, Value};
use crate::consensus::params::{above, at_least, params};
use crate::consensus::tree::{average_link_of_table, cut_tree};
use crate::ensemble::{CoAssociation, Ensemble, HardMember, Profiles};
use crate::error::Result;
use crate::graph::louvain::{louvain, louvain_cost, number};
use crate::linalg::Matrix;
use crate::rng::Stream;
use crate::run::Run;

/// What there is to know about hierarchical consensus with a null model.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "hierarchical",
    title: "clusters of objects that are together more often than by chance, as a tree; finds k, and whether there are any",
    reference: "L. G. S. Jeub, O. Sporns, S. Fortunato. Multiresolution Consensus Clustering in Networks. \
                Scientific Reports 8, 2018.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    offers: Offers::TREE,
    time: "O(t u^2 r)",
    memory: "about 19 u^2 bytes",
    ..Hierarchical::DECLARED
};

params! {
    /// [Hierarchical consensus](self): clusters of objects that are together more often than by chance.
    pub struct Hierarchical(k?): INFO {
        /// The chance at which two objects of one cluster are taken to be apart; the larger, the more clusters.
        alpha: f64 = 0.05, above(0.0).below(1.0);
        /// Searches that must agree on how a group is parted.
        restarts: Option<usize> = "as many as members", at_least(1.0);
    }
}

/// Times that the searches of one group are compared at most; the best of the last ones is then taken.
const ROUNDS: usize = 100;

/// Searches at a time, each with matrices of its own.
const AT_ONCE: usize = 4;

/// Added to every $b_{ij}$, so that objects together exactly as often as expected stay together; a move must
/// gain more than half of it.
const TIE: f64 = 2e-10;

/// A group of profiles, and the places of the groups that it is parted into.
struct Group {
    rows: Vec<u32>,
    parent: usize,
    parts: Vec<usize>,
    /// Merges that make one of the parts, as if they were items.
    joins: Vec<Join>,
}

/// How a group is parted.
struct Split {
    /// Numbered by first profiles.
    labels: Vec<u32>,
    rounds: usize,
    settled: bool,
}

impl ConsensusMethod for Hierarchical {
    fn cost(&self, shape: &Shape) -> u64 {
        let u = shape.u as u64;
        let searches = self.restarts.unwrap_or(shape.r) as u64;
        8 * u * u + AT_ONCE as u64 * louvain_cost(u) + 16 * u * searches
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let u = profiles.len();
        let root = Group {
            rows: (0..u as u32).collect(),
            parent: 0,
            parts: Vec::new(),
            joins: Vec::new(),
        };
        let (mut groups, mut at) = (vec![root], 0);
        let (mut searches, mut rounds, mut settled) = (0, 0, true);
        while at < groups.len() {
            run.tick("parting groups", at as u64, None)?;
            let rows = &groups[at].rows;
            let weights = rows.iter().map(|&s| profiles.weights()[s as usize]).collect();
            let group = profiles.selected(rows, weights);
            let split = self.split(&group, &mut searches, run)?;
            rounds += split.rounds;
            settled &= split.settled;
            let parts = split.labels.iter().max().map_or(0, |&most| most as usize + 1);
            if parts > 1 {
                let mut rows = vec![Vec::new(); parts];
                groups[at]
                    .rows
                    .iter()
                    .zip(&split.labels)
                    .for_each(|(&s, &part)| rows[part as usize].push(s));
                groups[at].joins = link(&group, &split.labels, parts, run)?;
                groups[at].parts = (groups.len()..groups.len() + parts).collect();
                groups.extend(rows.into_iter().map(|rows| Group {
                    rows,
                    parent: at,
                    parts: Vec::new(),
                    joins: Vec::new(),
                }));
            }
            at += 1;
        }
        let leaves = groups.iter().filter(|group| group.parts.is_empty()).count();
        let k = self.k.unwrap_or(leaves);
        if u > 1 && by_chance(profiles, self.alpha).iter().all(|&p| p == 0.0) {
            run.warn(
                "one cluster: with so few clusterings of so many clusters, even objects that are never together may be \
                 apart by chance (a larger `alpha` parts more)",
            );
        }
        let mut consensus = cut_tree(u, &merges(&groups), k.min(leaves), run);
        consensus.convergence.iterations = rounds;
        consensus.convergence.stop = if settled { Stop::Converged } else { Stop::MaxIterations };
        consensus.diagnostics.push("found_k", Value::Integer(leaves as i64));
        consensus.diagnostics.push("groups", table(&groups, profiles.weights()));
        Ok(consensus)
    }
}

impl Hierarchical {
    /// How `group` is parted; `searches` were made before.
    fn split(&self, group: &Profiles, searches: &mut u64, run: &Run) -> Result<Split> {
        // Profiles that all searches put together are one from then on: `of[i]` is what profile i has become.
        let (mut on, mut of) = (Cow::Borrowed(group), (0..group.len()).collect::<Vec<_>>());
        let mut rounds = 0;
        loop {
            let attraction = attraction(&on, &by_chance(&on, self.alpha));
            if attraction.as_slice().iter().all(|&b| b > 0.0) {
                return Ok(Split { labels: vec![0; of.len()], rounds, settled: true });
            }
            rounds += 1;
            let lightest = on.weights().iter().fold(f64::INFINITY, |least, w| w.min(least));
            let wanted = self.restarts.unwrap_or(group.n_members());
            let mut ends: Vec<Vec<u32>> = Vec::with_capacity(wanted);
            while ends.len() < wanted {
                let some = AT_ONCE.min(wanted - ends.len()) as u64;
                let search = |i: u64| {
                    let mut rng = run.rng(Stream::Restart(*searches + i));
                    louvain(&attraction, TIE / 2.0 * lightest * lightest, &mut rng, run)
                };
                let next: Vec<_> = (0..some).into_par_iter().map(search).collect::<Result<_>>()?;
                ends.extend(next);
                *searches += some;
            }
            let settled = ends.iter().all(|labels| *labels == ends[0]);
            if settled || rounds == ROUNDS {
                let worth: Vec<f64> =
                    ends.iter().map(|labels| worth(&attraction, labels)).collect();
                let best =
                    (0..ends.len()).reduce(|best, i| if worth[i] > worth[best] { i } else { best });
                let labels = &ends[best.expect("at least one search")];
                let mut labels: Vec<u32> = of.iter().map(|&s| labels[s]).collect();
                number(&mut labels);
                return Ok(Split { labels, rounds, settled });
            }
            let member = |(i, labels): (usize, &Vec<u32>)| {
                HardMember::from_integers(i.to_string(), labels.iter().map(|&c| Some(i64::from(c))))
                    .into()
            };
            let agreed = Ensemble::new(ends.iter().enumerate().map(member).collect())?;
            let next = Profiles::new(&agreed.with_weights(on.weights().to_vec())?, run)?;
            of.iter_mut().for_each(|s| *s = next.map()[*s] as usize);
            on = Cow::Owned(next);
        }
    }
}

/// The share of members in which another object is together with each profile by chance, at the quantile `alpha`.
fn by_chance(profiles: &Profiles, alpha: f64) -> Vec<f64> {
    let deviations = -std::f64::consts::SQRT_2 * erfc_inv(2.0 * alpha);
    let sizes = profiles.cluster_weights();
    let of_member =
        |h: usize| -> f64 { sizes[profiles.members()[h].clusters.clone()].iter().sum() };
    let all: Vec<f64> = (0..profiles.n_members()).map(of_member).collect();
    let share = |s: usize| {
        let itself = profiles.weights()[s].min(1.0);
        let (mut mean, mut variance, mut known) = (0.0, 0.0, 0.0);
        profiles.for_each_entry(s, |h, c, _| {
            let others = all[h] - itself;
            let chance =
                if others > 0.0 { ((sizes[c] - itself) / others).clamp(0.0, 1.0) } else { 1.0 };
            mean += chance;
            variance += chance * (1.0 - chance);
            known += 1.0;
        });
        ((mean + deviations * variance.sqrt()) / known).clamp(0.0, 1.0)
    };
    (0..profiles.len()).into_par_iter().map(share).collect()
}

/// $w_s w_t b_{st}$ of all pairs of profiles.
fn attraction(profiles: &Profiles, by_chance: &[f64]) -> Matrix {
    let (u, weights) = (profiles.len(), profiles.weights());
    let together = CoAssociation::new(profiles);
    let is_judged = |s: usize, t: usize| {
        let mut members = 0..profiles.n_members();
        members.any(|h| profiles.is_labelled(s, h) && profiles.is_labelled(t, h))
    };
    let mut out = Matrix::zeros(u, u);
    out.as_mut_slice().par_chunks_mut(u).enumerate().for_each(|(s, row)| {
        together.row_into(s, 0..u, row);
        for (t, b) in row.iter_mut().enumerate() {
            if *b > 0.0 || !profiles.has_missing() || is_judged(s, t) {
                *b -= by_chance[s].min(by_chance[t]);
            }
            *b = (*b + TIE) * weights[s] * weights[t];
        }
    });
    out
}

/// What a partition is worth: the attraction of all pairs together.
fn worth(attraction: &Matrix, labels: &[u32]) -> f64 {
    let of_row = |(row, label): (&[f64], &u32)| -> f64 {
        row.iter().zip(labels).filter(|(_, other)| *other == label).map(|(b, _)| b).sum()
    };
    attraction.iter_rows().zip(labels).map(of_row).sum()
}

/// The merges of `parts` groups of profiles by average link.
fn link(profiles: &Profiles, labels: &[u32], parts: usize, run: &Run) -> Result<Vec<Join>> {
    let (u, weights) = (profiles.len(), profiles.weights());
    let together = CoAssociation::new(profiles);
    let (mut between, mut mass) = (Matrix::zeros(parts, parts), vec![0.0; parts]);
    let mut row = vec![0.0; u];
    for (s, &part) in labels.iter().enumerate() {
        together.row_into(s, 0..u, &mut row);
        mass[part as usize] += weights[s];
        let sums = between.row_mut(part as usize);
        for ((&other, a), w) in labels.iter().zip(&row).zip(weights) {
            sums[other as usize] += weights[s] * w * a;
        }
    }
    let mean = |i: usize, out: &mut [f64]| {
        out.iter_mut().enumerate().for_each(|(j, x)| *x = between[(i, j)] / (mass[i] * mass[j]));
    };
    average_link_of_table(&mass, mean, run)
}

/// The merges of all profiles: those of one cluster at height 0, then the groups'. Groups come before their parts.
fn merges(groups: &[Group]) -> Vec<Join> {
    let mut joins = Vec::new();
    for group in groups.iter().filter(|group| group.parts.is_empty()) {
        joins.extend(group.rows[1..].iter().map(|&b| Join {
            a: group.rows[0],
            b,
            similarity: 1.0,
        }));
    }
    for group in groups.iter().rev() {
        // Parts are numbered by their first profiles, and so named by the same places as their items.
        let first = |part: u32| groups[group.parts[part as usize]].rows[0];
        joins.extend(group.joins.iter().map(|join| Join {
            a: first(join.a),
            b: first(join.b),
            ..*join
        }));
    }
    in_order(joins)
}

/// Every group: the group that it is a part of, what it weighs, and its parts' mean co-association at the last merge.
fn table(groups: &[Group], weights: &[f64]) -> Value {
    let column = |name: &str, of: &dyn Fn(usize, &Group) -> f64| {
        (name.to_owned(), groups.iter().enumerate().map(|(i, group)| of(i, group)).collect())
    };
    Value::Table(vec![
        column("group", &|i, _| i as f64 + 1.0),
        column("part_of", &|i, group| if i == 0 { 0.0 } else { group.parent as f64 + 1.0 }),
        column("weight", &|_, group| group.rows.iter().map(|&s| weights[s as usize]).sum()),
        column("together", &|_, group| group.joins.last().map_or(1.0, |join| join.similarity)),
    ])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{ContinuousCDF as _, Normal};

    use super::*;
    use crate::consensus::block_matrix::tests::of_objects;
    use crate::consensus::combine;
    use crate::rng::Rng;
    use crate::testing::{Kinds, ensembles, profiles};

    /// $p$ and $b$ of single objects by the formulas, in the order of the objects.
    fn slow(profiles: &Profiles, alpha: f64) -> (Vec<f64>, Matrix) {
        let of = of_objects(profiles);
        let (n, r) = (of.len(), profiles.n_members());
        let label = |i: usize, h: usize| profiles.label(of[i], h);
        let p: Vec<f64> = (0..n)
            .map(|i| {
                let known: Vec<usize> = (0..r).filter(|&h| label(i, h).is_some()).collect();
                let chance = |&h: &usize| {
                    let others: Vec<usize> =
                        (0..n).filter(|&j| j != i && label(j, h).is_some()).collect();
                    let same = others.iter().filter(|&&j| label(j, h) == label(i, h)).count();
                    if others.is_empty() { 1.0 } else { same as f64 / others.len() as f64 }
                };
                let chances: Vec<f64> = known.iter().map(chance).collect();
                let sure = chances.iter().filter(|&&c| c == 1.0).count() as f64;
                let mean: f64 = chances.iter().filter(|&&c| c < 1.0).sum();
                let variance: f64 = chances.iter().map(|c| c * (1.0 - c)).sum();
                let quantile = if variance > 0.0 {
                    Normal::new(mean, variance.sqrt()).unwrap().inverse_cdf(alpha)
                } else {
                    mean
                };
                ((sure + quantile) / known.len() as f64).clamp(0.0, 1.0)
            })
            .collect();
        let b = Matrix::from_fn(n, n, |i, j| {
            let both: Vec<usize> =
                (0..r).filter(|&h| label(i, h).is_some() && label(j, h).is_some()).collect();
            let same = both.iter().filter(|&&h| label(i, h) == label(j, h)).count();
            if both.is_empty() {
                TIE
            } else {
                same as f64 / both.len() as f64 - p[i].min(p[j]) + TIE
            }
        });
        (p, b)
    }

    proptest! {
        /// What is computed on profiles is what single objects have, and so is what any partition is worth.
        #[test]
        fn profiles_stand_for_their_objects(
            ensemble in ensembles(Kinds { soft: false, missing: true, weights: false }, 14, 6),
            alpha in 0.01..0.9_f64,
            labels in prop::collection::vec(0..3_u32, 14),
        ) {
            let profiles = profiles(&ensemble);
            let of = of_objects(&profiles);
            let (p, b) = slow(&profiles, alpha);
            let fast = by_chance(&profiles, alpha);
            for (&s, p) in of.iter().zip(&p) {
                prop_assert!((fast[s] - p).abs() < 1e-9, "{} {p}", fast[s]);
            }
            let attraction = attraction(&profiles, &fast);
            let labels = &labels[..profiles.len()];
            let of_objects: Vec<u32> = of.iter().map(|&s| labels[s]).collect();
            prop_assert!((worth(&attraction, labels) - worth(&b, &of_objects)).abs() < 1e-9);
            for (i, &s) in of.iter().enumerate() {
                for (j, &t) in of.iter().enumerate() {
                    let weight = profiles.weights()[s] * profiles.weights()[t];
                    prop_assert!((attraction[(s, t)] / weight - b[(i, j)]).abs() < 1e-9);
                }
            }
        }
    }

    /// `n` objects; member `h` gives object `i` the label `of(h, i)`, or with the chance `noise` one of eight.
    fn planted(
        n: usize,
        members: usize,
        noise: f64,
        of: impl Fn(usize, usize) -> usize,
    ) -> Profiles {
        let mut rng = Rng::new(3, Stream::Data);
        let mut member = |h: usize| {
            let mut label = |i| if rng.unit() < noise { rng.below(8) } else { of(h, i) };
            let labels: Vec<_> = (0..n).map(|i| Some(label(i) as i64)).collect();
            HardMember::from_integers(h.to_string(), labels).into()
        };
        profiles(&Ensemble::new((0..members).map(&mut member).collect()).unwrap())
    }

    /// Eight groups of ten, two by two in four, these in two: each level is seen by a third of the members.
    #[test]
    fn planted_levels_are_the_tree() {
        let profiles = planted(80, 60, 0.1, |h, i| (i / 10) >> (h % 3));
        let found = |method: Hierarchical| {
            let consensus = combine(&profiles, &method, None, &Run::new(0).threads(1)).unwrap();
            assert_eq!(consensus.dendrogram.as_ref().map(Vec::len), Some(profiles.len() - 1));
            (consensus.k, consensus.object_labels(&profiles))
        };
        let expected = |size: usize| (0..80).map(|i| Some((i / size) as u32)).collect::<Vec<_>>();
        assert_eq!(found(Hierarchical::new()), (8, expected(10)));
        for (k, size) in [(8, 10), (4, 20), (2, 40), (1, 80)] {
            assert_eq!(found(Hierarchical::new().k(k)), (k, expected(size)));
        }
        assert_eq!(found(Hierarchical::new().k(20)), (8, expected(10)), "no more than there are");
    }

    #[test]
    fn noise_is_one_cluster() {
        for members in [5, 20, 60] {
            let profiles = planted(100, members, 1.0, |_, _| 0);
            let consensus =
                combine(&profiles, &Hierarchical::new(), None, &Run::new(0).threads(1)).unwrap();
            assert_eq!(consensus.k, 1, "{members}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(Hierarchical::new().k(0).check().is_err());
        assert!(Hierarchical::new().restarts(0).check().is_err());
        for bad in [0.0, 1.0, f64::NAN] {
            assert!(Hierarchical::new().alpha(bad).check().is_err());
        }
    }
}
