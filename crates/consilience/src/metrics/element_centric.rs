//! Element-centric similarity: agreement seen from every object.
//!
//! A. J. Gates, I. B. Wood, W. P. Hetrick, Y.-Y. Ahn. *Element-centric clustering comparison unifies
//! overlaps and hierarchy.* Scientific Reports 9, 2019.
//!
//! For hard clusterings the random walks of the paper have a closed form: object $i$, in cluster $a$ of
//! the one and $b$ of the other, has
//!
//! $$ \mathrm{ECS}_i = \frac{|a \cap b|}{\max(|a|, |b|)}, $$
//!
//! whatever the paper's damping, and the similarity is the mean over the objects. Sizes are counted over
//! the objects that both label. Among many clusterings, the consistency of an object is the mean of its
//! similarities over all pairs, and the inconsistency of the ensemble (scICE) is
//! $\mathrm{IC} = r^2 / \sum_{pq} S_{pq}$ with $S$ the similarities of all members with each other: 1 if
//! all are equal.
//!
//! What two clusterings would agree on if the labels of one were shuffled among its objects is known as well:
//! $|a \cap b|$ is hypergeometric, so that
//! $$ E[\mathrm{ECS}] = \frac 1 n \sum_{ab} \frac{\mu^2 + \sigma^2}{\max(|a|, |b|)}, \quad
//!    \mu = \frac{|a| |b|}{n}, \quad
//!    \sigma^2 = \frac{|a| |b| (n - |a|) (n - |b|)}{n^2 (n - 1)}. $$
//!
//! All of it comes from the overlaps $G = H^\top W H$ of clusters: $O(u r^2 + K^2)$ instead of a table of
//! objects for every pair.

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::{Contingency, Profiles};
use crate::linalg::Matrix;

/// Element-centric similarity of two clusterings, the mean over the objects.
///
/// *Range* [0, 1]. *Symmetric.* For soft clusterings overlaps are sums of products of memberships.
///
/// *Degenerate cases.* One cluster against singletons of $n$ objects: $1/n$. No object labelled in both: 0.
pub fn element_similarity(table: &Contingency) -> f64 {
    let (rows, columns) = (table.row_weights(), table.column_weights());
    let share = |cell: &crate::ensemble::Cell| {
        cell.weight * cell.weight / rows[cell.row as usize].max(columns[cell.column as usize])
    };
    let sum: f64 = table.cells().iter().map(share).sum();
    if table.is_empty() { 0.0 } else { (sum / table.total()).clamp(0.0, 1.0) }
}

/// The element-centric similarity of two clusterings and what it would be with shuffled labels; `None` if no object is
/// labelled in both.
pub(crate) fn element_similarity_and_chance(table: &Contingency) -> Option<(f64, f64)> {
    let shuffled = || element_similarity_of_shuffled(table.row_weights(), table.column_weights());
    (!table.is_empty()).then(|| (element_similarity(table), shuffled()))
}

/// The element-centric similarity that clusterings with clusters of these sizes have on average if the labels
/// of one are shuffled among its objects.
///
/// *Range* (0, 1]. *Symmetric.* Sizes may be sums of weights.
///
/// *Degenerate cases.* One cluster in each: 1. No objects, or weights of 1 in all at most: 1, for nothing can
/// be shuffled.
///
/// # Cost
///
/// Time $O(d_a d_b)$ for $d$ different sizes, of which there are fewer than $\sqrt{2n}$ among whole numbers.
pub(crate) fn element_similarity_of_shuffled(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (counted_sizes(a), counted_sizes(b));
    let n: f64 = a.iter().map(|(size, times)| size * times).sum();
    if n <= 1.0 || b.is_empty() {
        return 1.0;
    }
    let mut sum = 0.0;
    for &(a, times_a) in &a {
        for &(b, times_b) in &b {
            let mean = a * b / n;
            let variance = mean * (n - a).max(0.0) * (n - b).max(0.0) / (n * (n - 1.0));
            sum += times_a * times_b * (mean * mean + variance) / a.max(b);
        }
    }
    (sum / n).clamp(0.0, 1.0)
}

/// The sizes above 0, each once and rising, and how many there are of each.
fn counted_sizes(sizes: &[f64]) -> Vec<(f64, f64)> {
    let mut sizes: Vec<f64> = sizes.iter().copied().filter(|&size| size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    let mut counted: Vec<(f64, f64)> = Vec::new();
    for size in sizes {
        match counted.last_mut() {
            Some((last, times)) if *last == size => *times += 1.0,
            _ => counted.push((size, 1.0)),
        }
    }
    counted
}

/// Element-centric similarities of all members with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementCentric {
    /// The similarity of every two members; 0 where they label no object in common.
    pub similarity: Matrix,
    /// The consistency of every profile; `None` where fewer than two members label it.
    pub consistency: Vec<Option<f64>>,
    /// The size of every cluster (column) among the objects that each member (row) labels.
    sizes: Matrix,
    /// The clusters of every member.
    clusters: Vec<Range<usize>>,
}

impl ElementCentric {
    /// Those of the members of `profiles`.
    pub fn of(profiles: &Profiles) -> Self {
        let r = profiles.n_members();
        let mut shares = profiles.gram_above(profiles.weights());
        let sizes = sizes(profiles, &shares);
        // Every profile asks for all its pairs: shares are written down once, in place of the overlaps.
        let blocks = profiles.rows_of_members(&mut shares).into_par_iter().enumerate();
        let of_member = |(p, block)| shares_of(profiles, p, &sizes, block);
        let similarity: Vec<Vec<f64>> = blocks.with_max_len(1).map(of_member).collect();
        let consistency = (0..profiles.len()).into_par_iter().map_init(Vec::new, |entries, s| {
            entries.clear();
            profiles.for_each_entry(s, |p, a, h| entries.push((p, a, h)));
            let (mut sum, mut pairs) = (0.0, 0.0);
            for (i, &(p, a, h)) in entries.iter().enumerate() {
                let shares = shares.row(a);
                for &(_, b, g) in entries[i + 1..].iter().filter(|other| other.0 != p) {
                    sum += h * g * shares[b];
                    pairs += h * g;
                }
            }
            (pairs > 0.0).then(|| (sum / pairs).clamp(0.0, 1.0))
        });
        ElementCentric {
            consistency: consistency.collect(),
            similarity: Matrix::from_fn(r, r, |p, q| similarity[p.min(q)][p.abs_diff(q)]),
            clusters: profiles.members().iter().map(|member| member.clusters.clone()).collect(),
            sizes,
        }
    }

    /// The similarity that two members would have on average if the labels of one were shuffled among the
    /// objects that both label.
    pub fn chance(&self, p: usize, q: usize) -> f64 {
        let of = |own: usize, other: usize| &self.sizes.row(other)[self.clusters[own].clone()];
        element_similarity_of_shuffled(of(p, q), of(q, p))
    }

    /// The inconsistency of the members: 1 if all are equal, the larger the less they agree.
    pub fn inconsistency(&self) -> f64 {
        let r = self.similarity.nrows() as f64;
        r * r / self.similarity.as_slice().iter().sum::<f64>()
    }
}

/// The size of every cluster (column) among the objects that each member (row) labels, from overlaps of
/// members with themselves and later ones.
fn sizes(profiles: &Profiles, overlaps: &Matrix) -> Matrix {
    let mut sizes = Matrix::zeros(profiles.n_members(), profiles.n_clusters());
    for (p, own) in profiles.members().iter().enumerate() {
        for a in own.clusters.clone() {
            let row = overlaps.row(a);
            for (q, other) in profiles.members().iter().enumerate().skip(p) {
                sizes[(q, a)] = row[other.clusters.clone()].iter().sum();
            }
            let later = own.clusters.end..;
            let sums = sizes.row_mut(p)[later.clone()].iter_mut();
            sums.zip(&row[later]).for_each(|(sum, x)| *sum += x);
        }
    }
    sizes
}

/// Similarities of member `p` and all from it on; `block`, the overlaps of its clusters with theirs, become
/// shares of the larger of two clusters.
fn shares_of(profiles: &Profiles, p: usize, sizes: &Matrix, block: &mut [f64]) -> Vec<f64> {
    let (members, k) = (profiles.members(), profiles.n_clusters());
    let mut sums = vec![(0.0, 0.0); members.len() - p];
    for (a, row) in members[p].clusters.clone().zip(block.chunks_exact_mut(k)) {
        for ((q, member), (sum, all)) in (p..).zip(&members[p..]).zip(&mut sums) {
            let size = sizes[(q, a)];
            let others = &sizes.row(p)[member.clusters.clone()];
            for (x, &other) in row[member.clusters.clone()].iter_mut().zip(others) {
                let (overlap, largest) = (*x, size.max(other));
                *x = if largest > 0.0 { overlap / largest } else { 0.0 };
                *sum += overlap * *x;
            }
            *all += size;
        }
    }
    let mean = |(sum, all): (f64, f64)| if all > 0.0 { (sum / all).clamp(0.0, 1.0) } else { 0.0 };
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{Kinds, ensembles, profiles};

    fn of_labels(clusterings: &[&[i64]]) -> Profiles {
        let member = |labels: &&[i64]| {
            HardMember::from_integers("m", labels.iter().map(|&l| (l >= 0).then_some(l))).into()
        };
        profiles(&Ensemble::new(clusterings.iter().map(member).collect()).unwrap())
    }

    #[test]
    fn by_hand() {
        let table = Contingency::of_labels(&[0, 0, 0, 1u32], &[0, 0, 1, 1u32], None).unwrap();
        // 2/3, 2/3, 1/3 and 1/2.
        assert!((element_similarity(&table) - 13.0 / 24.0).abs() < 1e-15);
        let equal = ElementCentric::of(&of_labels(&[&[0, 0, 1], &[5, 5, 3], &[1, 1, 0]]));
        assert_eq!(equal.inconsistency(), 1.0);
        assert!(equal.consistency.iter().all(|&c| c == Some(1.0)));
        let halves = ElementCentric::of(&of_labels(&[&[0, 0, 0, 1], &[0, 0, 1, 1]]));
        assert!((halves.inconsistency() - 4.0 / (2.0 + 2.0 * 13.0 / 24.0)).abs() < 1e-15);
        let chance = element_similarity_of_shuffled(&[3.0, 1.0], &[2.0, 2.0]);
        assert_eq!(
            element_similarity_and_chance(&table),
            Some((element_similarity(&table), chance))
        );
        let empty = Contingency::of_labels(&[Some(0)], &[None::<u32>], None).unwrap();
        assert_eq!(element_similarity_and_chance(&empty), None);
        let gaps = ElementCentric::of(&of_labels(&[&[0, 0, -1], &[1, 1, 1]]));
        assert_eq!(gaps.similarity[(0, 1)], 1.0, "among those that both label");
        assert!(gaps.consistency.contains(&None), "the last has one label");
    }

    /// The paper's definition: walks among the objects of a cluster with damping, and the difference of
    /// where they lead.
    fn by_walks(a: &[i64], b: &[i64], damping: f64) -> f64 {
        let n = a.len();
        let walk = |labels: &[i64], i: usize| -> Vec<f64> {
            let size = labels.iter().filter(|&&l| l == labels[i]).count() as f64;
            let value = |j: usize| {
                let together = if labels[j] == labels[i] { damping / size } else { 0.0 };
                together + if i == j { 1.0 - damping } else { 0.0 }
            };
            (0..n).map(value).collect()
        };
        let of_object = |i: usize| {
            let (x, y) = (walk(a, i), walk(b, i));
            1.0 - x.iter().zip(&y).map(|(x, y)| (x - y).abs()).sum::<f64>() / (2.0 * damping)
        };
        (0..n).map(of_object).sum::<f64>() / n as f64
    }

    /// All orders of the labels of one clustering.
    fn over_all_orders(a: &[u32], b: &[u32]) -> f64 {
        fn each(b: &mut Vec<u32>, from: usize, visit: &mut dyn FnMut(&[u32])) {
            if from == b.len() {
                return visit(b);
            }
            for i in from..b.len() {
                b.swap(from, i);
                each(b, from + 1, visit);
                b.swap(from, i);
            }
        }
        let (mut sum, mut orders) = (0.0, 0.0);
        each(&mut b.to_vec(), 0, &mut |b| {
            sum += element_similarity(&Contingency::of_labels(a, b, None).unwrap());
            orders += 1.0;
        });
        sum / orders
    }

    #[test]
    fn shuffled_labels_agree_as_much_as_over_all_orders() {
        let cases: [(&[u32], &[u32]); 4] = [
            (&[0, 0, 0, 1, 1, 2], &[0, 0, 1, 1, 1, 1]),
            (&[0, 0, 0, 0, 0], &[0, 1, 1, 2, 2]),
            (&[0, 0, 0], &[0, 0, 0]),
            (&[0, 1, 2, 3], &[0, 1, 2, 3]),
        ];
        for (a, b) in cases {
            let signed = |labels: &[u32]| labels.iter().map(|&l| i64::from(l)).collect::<Vec<_>>();
            let found = ElementCentric::of(&of_labels(&[&signed(a), &signed(b)]));
            let slow = over_all_orders(a, b);
            assert!((found.chance(0, 1) - slow).abs() < 1e-12, "{a:?} {b:?}");
            assert!((found.chance(0, 1) - found.chance(1, 0)).abs() < 1e-12);
        }
        assert_eq!(element_similarity_of_shuffled(&[], &[]), 1.0);
        assert_eq!(element_similarity_of_shuffled(&[1.0], &[1.0]), 1.0);
    }

    proptest! {
        #[test]
        fn walks_give_the_same(
            labels in prop::collection::vec((0..4i64, 0..4i64), 1..25), damping in 0.1..0.99f64,
        ) {
            let (a, b): (Vec<i64>, Vec<i64>) = labels.into_iter().unzip();
            let found = ElementCentric::of(&of_labels(&[&a, &b]));
            prop_assert!((found.similarity[(0, 1)] - by_walks(&a, &b, damping)).abs() < 1e-12);
        }

        #[test]
        fn all_pairs_at_once_are_the_pairs_one_by_one(ensemble in ensembles(Kinds::ALL, 15, 5)) {
            let profiles = profiles(&ensemble);
            let found = ElementCentric::of(&profiles);
            let r = profiles.n_members();
            for p in 0..r {
                for q in 0..r {
                    let slow = element_similarity(&Contingency::of_members(&profiles, p, q));
                    prop_assert!((found.similarity[(p, q)] - slow).abs() < 1e-12);
                }
            }
        }

        /// Of soft members every pair of memberships counts by their product.
        #[test]
        fn consistency_weighs_memberships(ensemble in ensembles(Kinds::ALL, 10, 4)) {
            let profiles = profiles(&ensemble);
            let found = ElementCentric::of(&profiles);
            for (s, found) in found.consistency.iter().enumerate() {
                let (mut sum, mut all) = (0.0, 0.0);
                for (p, q) in (0..profiles.n_members()).flat_map(|q| (0..q).map(move |p| (p, q))) {
                    let table = Contingency::of_members(&profiles, p, q);
                    let first = |m: usize| profiles.members()[m].clusters.start;
                    profiles.for_each_entry_of(s, p, |a, g| profiles.for_each_entry_of(s, q, |b, h| {
                        let (a, b) = (a - first(p), b - first(q));
                        let cell = table.cells().iter().find(|c| (c.row as usize, c.column as usize) == (a, b));
                        let largest = table.row_weights()[a].max(table.column_weights()[b]);
                        sum += g * h * cell.map_or(0.0, |cell| cell.weight / largest);
                        all += g * h;
                    }));
                }
                if let Some(found) = found {
                    prop_assert!((found - sum / all).abs() < 1e-12, "{} {}", found, sum / all);
                } else {
                    prop_assert_eq!(all, 0.0);
                }
            }
        }

        #[test]
        fn consistency_is_the_mean_over_the_pairs_of_an_object(
            ensemble in ensembles(Kinds::HARD, 12, 5),
        ) {
            let profiles = profiles(&ensemble);
            let found = ElementCentric::of(&profiles);
            let r = profiles.n_members();
            let labels: Vec<Vec<Option<usize>>> = (0..profiles.len())
                .map(|s| {
                    let mut own = vec![None; r];
                    profiles.for_each_entry(s, |p, a, _| own[p] = Some(a));
                    own
                })
                .collect();
            let weight = |members: &[(usize, Option<usize>)], also: usize| -> f64 {
                let with = |s: &usize| {
                    members.iter().all(|&(p, a)| labels[*s][p] == a) && labels[*s][also].is_some()
                };
                (0..labels.len()).filter(with).map(|s| profiles.weights()[s]).sum()
            };
            for (s, own) in labels.iter().enumerate() {
                let pairs = (0..r).flat_map(|p| (0..p).map(move |q| (p, q)));
                let shares: Vec<f64> = pairs
                    .filter(|&(p, q)| own[p].is_some() && own[q].is_some())
                    .map(|(p, q)| {
                        let [a, b] = [(p, own[p]), (q, own[q])];
                        weight(&[a, b], p) / weight(&[a], q).max(weight(&[b], p))
                    })
                    .collect();
                let mean = shares.iter().sum::<f64>() / shares.len() as f64;
                match found.consistency[s] {
                    Some(consistency) => prop_assert!((consistency - mean).abs() < 1e-12),
                    None => prop_assert!(shares.is_empty()),
                }
            }
        }
    }
}
