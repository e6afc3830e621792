//! Adjusted mutual information.

use std::collections::BTreeMap;

use crate::ensemble::Contingency;
use crate::math;
use crate::metrics::Information;

/// Mutual information corrected for chance (Vinh, Epps and Bailey 2010),
/// $$ \mathrm{AMI} = \frac{I - E}{\frac12 (H_a + H_b) - E}, $$
/// where $E$ is the mean of $I$ over all clusterings with clusters of these sizes.
///
/// *Range* [−1, 1], about 0 for unrelated clusterings. *Symmetric.* Object weights are multiplicities;
/// sizes that are no whole numbers are rounded for $E$.
///
/// *Degenerate cases.* Where nothing is left to chance, because both clusterings are one cluster or both
/// are all singletons: 1. One cluster, or singletons, against anything else: 0. No object labelled in
/// both: 0.
///
/// # Cost
///
/// $O(k_a k_b \sqrt n)$ where all sizes differ.
pub fn adjusted_mutual_information(table: &Contingency) -> f64 {
    if table.is_empty() {
        return 0.0;
    }
    let Information { mutual, row_entropy, column_entropy } = Information::of(table);
    let mean = f64::midpoint(row_entropy, column_entropy);
    let expected = expected_information(table);
    let range = mean - expected;
    if range <= 1e-12 * mean.max(1e-300) {
        return 1.0;
    }
    ((mutual - expected) / range).clamp(-1.0, 1.0)
}

/// The mean of $I$ over all clusterings with clusters of these sizes, in nats.
fn expected_information(table: &Contingency) -> f64 {
    let sizes = |weights: &[f64]| {
        let mut counts = BTreeMap::new();
        let used = weights.iter().filter(|w| **w > 0.0);
        used.for_each(|w| *counts.entry(w.round().max(1.0) as u64).or_insert(0.0) += 1.0);
        counts
    };
    let (rows, columns) = (sizes(table.row_weights()), sizes(table.column_weights()));
    let total =
        |counts: &BTreeMap<u64, f64>| counts.iter().map(|(&s, c)| s as f64 * c).sum::<f64>();
    let n = total(&rows).max(total(&columns));
    let each = rows.iter().flat_map(|(&a, r)| columns.iter().map(move |(&b, c)| (a, b, r * c)));
    each.map(|(a, b, times)| times * expected_term(a as f64, b as f64, n)).sum()
}

/// The mean of $\frac{x}{n} \ln \frac{n x}{a b}$ over the hypergeometric distribution of the number $x$ of
/// objects that a cluster of $a$ and one of $b$ share. Probabilities are relative to that of the mode, by
/// the ratios of neighbours, until they are nothing: no logarithm of a factorial loses digits.
fn expected_term(a: f64, b: f64, n: f64) -> f64 {
    const NOTHING: f64 = 1e-18;
    let (low, high) = ((a + b - n).max(0.0), a.min(b));
    let mode = ((a + 1.0) * (b + 1.0) / (n + 2.0)).floor().clamp(low, high);
    let up = |x: f64| (a - x) * (b - x) / ((x + 1.0) * (n - a - b + x + 1.0));
    let value = |x: f64| if x > 0.0 { x / n * math::ln(n * x / (a * b)) } else { 0.0 };
    let (mut sum, mut all) = (value(mode), 1.0);
    let (mut x, mut p) = (mode, 1.0);
    while x < high && p > NOTHING {
        p *= up(x);
        x += 1.0;
        (sum, all) = (sum + p * value(x), all + p);
    }
    (x, p) = (mode, 1.0);
    while x > low && p > NOTHING {
        x -= 1.0;
        p /= up(x);
        (sum, all) = (sum + p * value(x), all + p);
    }
    sum / all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Rng, Stream};

    fn table(a: &[u32], b: &[u32]) -> Contingency {
        Contingency::of_labels(a, b, None).unwrap()
    }

    /// All orders of a few labels, counted out.
    #[test]
    fn the_mean_is_that_of_all_permutations() {
        let (a, mut b) = ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]);
        let expected = expected_information(&table(&a, &b));
        let (mut sum, mut count) = (0.0, 0.0);
        permutations(&mut b, 0, &mut |b| {
            sum += Information::of(&table(&a, b)).mutual;
            count += 1.0;
        });
        assert_eq!(count, 720.0);
        assert!((sum / count - expected).abs() < 1e-14, "{} {expected}", sum / count);
    }

    fn permutations(labels: &mut [u32; 6], at: usize, visit: &mut impl FnMut(&[u32])) {
        if at == labels.len() {
            return visit(labels);
        }
        for other in at..labels.len() {
            labels.swap(at, other);
            permutations(labels, at + 1, visit);
            labels.swap(at, other);
        }
    }

    /// Logarithms of factorials lose digits with size, but nine are left.
    #[test]
    fn large_clusters_share_what_the_hypergeometric_distribution_says() {
        let mut factorial = vec![0.0];
        (1..=6000).for_each(|i| factorial.push(factorial[i - 1] + f64::from(i as u32).ln()));
        let choose = |n: usize, k: usize| factorial[n] - factorial[k] - factorial[n - k];
        for (a, b, n) in [(3000, 3000, 6000), (5000, 3500, 6000), (700, 20, 6000), (1, 4000, 4001)]
        {
            let by_the_book = |x: usize| {
                let chance = (choose(a, x) + choose(n - a, b - x) - choose(n, b)).exp();
                let (a, b, n, x) = (a as f64, b as f64, n as f64, x as f64);
                chance * x / n * (n * x / (a * b)).ln()
            };
            let shared = ((a + b).saturating_sub(n)).max(1)..=a.min(b);
            let slow: f64 = shared.map(by_the_book).sum();
            let found = expected_term(a as f64, b as f64, n as f64);
            assert!(
                (found - slow).abs() < 1e-9 * slow.abs().max(1e-3),
                "{a} {b} {n}: {found} {slow}"
            );
        }
    }

    /// Hardly any entropy is not none.
    #[test]
    fn two_odd_ones_in_a_thousand_million_do_not_agree() {
        let (a, b) = ([0, 0, 1u32], [0, 1, 0u32]);
        let table = Contingency::of_labels(&a, &b, Some(&[1e9, 1.0, 1.0])).unwrap();
        assert!(adjusted_mutual_information(&table).abs() < 1e-3);
    }

    #[test]
    fn singletons_tell_nothing_of_others() {
        let (single, halves): (Vec<u32>, Vec<u32>) = (0..8).map(|i| (i, i / 4)).unzip();
        assert!(adjusted_mutual_information(&table(&single, &halves)).abs() < 1e-12);
        assert_eq!(adjusted_mutual_information(&table(&single, &single)), 1.0);
        assert_eq!(adjusted_mutual_information(&table(&[0; 8], &single)), 0.0);
    }

    proptest! {
        /// Chance is near 0 where NMI is far above.
        #[test]
        fn unrelated_clusterings_have_none(seed: u64) {
            let mut rng = Rng::new(seed, Stream::Data);
            let mut labels = |k: usize| (0..400).map(|_| rng.below(k) as u32).collect::<Vec<_>>();
            let (a, b) = (labels(40), labels(40));
            prop_assert!(adjusted_mutual_information(&table(&a, &b)).abs() < 0.12);
        }
    }
}
