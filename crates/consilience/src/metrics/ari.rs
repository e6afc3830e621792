//! Rand and adjusted Rand indices: agreement about pairs of objects.

use crate::ensemble::Contingency;

/// Numbers of pairs, with $\binom{x}{2} = x(x-1)/2$ for weights too: a weight is a multiplicity.
struct Pairs {
    /// Together in both, $\sum \binom{n_{cl}}{2}$.
    both: f64,
    /// Together in the first, $\sum \binom{n_c}{2}$.
    rows: f64,
    /// Together in the second, $\sum \binom{n_l}{2}$.
    columns: f64,
    /// All, $\binom{n}{2}$.
    all: f64,
}

impl Pairs {
    fn of(table: &Contingency) -> Self {
        let pairs = |x: f64| x * (x - 1.0) / 2.0;
        let sum = |weights: &[f64]| weights.iter().copied().map(pairs).sum();
        Pairs {
            both: table.cells().iter().map(|cell| pairs(cell.weight)).sum(),
            rows: sum(table.row_weights()),
            columns: sum(table.column_weights()),
            all: pairs(table.total()),
        }
    }
}

/// The share of pairs of objects that both clusterings put together or both keep apart (Rand 1971).
///
/// *Range* [0, 1]. *Symmetric.* Object weights are multiplicities: 2 counts as two objects, which
/// make a pair. For soft clusterings pairs are counted from the table of partial memberships.
///
/// *Degenerate cases.* A total weight of at most 1 has no pairs, so none is judged differently: 1. No
/// object labelled in both: 0.
pub(crate) fn rand(table: &Contingency) -> f64 {
    let Pairs { both, rows, columns, all } = Pairs::of(table);
    if table.is_empty() {
        0.0
    } else if all <= 0.0 {
        1.0
    } else {
        // Weights that are no whole numbers can carry the sums slightly out.
        ((all + 2.0 * both - rows - columns) / all).clamp(0.0, 1.0)
    }
}

/// The Rand index adjusted for chance (Hubert and Arabie 1985),
/// $$ \mathrm{ARI} = \frac{\sum \binom{n_{cl}}{2} - E}{\frac12 (A + B) - E}, \quad
///    A = \sum \tbinom{n_c}{2}, \; B = \sum \tbinom{n_l}{2}, \; E = A B / \tbinom{n}{2}. $$
///
/// *Range* [−½, 1], about 0 for unrelated clusterings; [−1, 1] with fractional weights or
/// memberships. *Symmetric.* Object weights are multiplicities.
///
/// *Degenerate cases.* Where nothing is left to chance, because both clusterings are one cluster or
/// both are all singletons, the denominator is 0 and they are equal: 1. One object: 1. One cluster
/// against singletons: 0. No object labelled in both: 0.
pub fn adjusted_rand(table: &Contingency) -> f64 {
    if table.is_empty() {
        return 0.0;
    }
    let Pairs { both, rows, columns, all } = Pairs::of(table);
    if all <= 0.0 {
        return 1.0;
    }
    // Numerator and denominator times `all`: products of counts are exact, and the denominator is
    // exactly 0 when it should be.
    let expected = rows * columns;
    let mean = f64::midpoint(rows, columns) * all;
    let range = mean - expected;
    // Weights with a fraction leave a rounding error where the exact range is 0.
    if range.abs() <= 1e-12 * mean.abs() {
        return 1.0;
    }
    ((both * all - expected) / range).clamp(-1.0, 1.0)
}

/// The geometric mean of two shares: of the pairs together in the one clustering those that are together in
/// the other, both ways (Fowlkes and Mallows 1983).
///
/// *Range* [0, 1]. *Symmetric.* Object weights are multiplicities.
///
/// *Degenerate cases.* No pair together in either, as between singletons: 1, since they are equal. In one
/// of them only: 0. No object labelled in both: 0.
pub fn fowlkes_mallows(table: &Contingency) -> f64 {
    let Pairs { both, rows, columns, .. } = Pairs::of(table);
    // Weights below 1 make less than no pair.
    if table.is_empty() {
        0.0
    } else if rows <= 0.0 || columns <= 0.0 {
        f64::from(u8::from(rows <= 0.0 && columns <= 0.0))
    } else {
        let both = both.max(0.0);
        ((both / rows).sqrt() * (both / columns).sqrt()).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(a: &[u32], b: &[u32]) -> Contingency {
        Contingency::of_labels(a, b, None).unwrap()
    }

    #[test]
    fn the_lowest_adjusted_rand_is_minus_one_half() {
        // Chacón and Rastrojo 2023: {12}{34} against {13}{24}.
        assert_eq!(adjusted_rand(&table(&[0, 0, 1, 1], &[0, 1, 0, 1])), -0.5);
    }

    #[test]
    fn trivial_clusterings() {
        let (one, single) = ([0; 5], [0, 1, 2, 3, 4]);
        assert_eq!(adjusted_rand(&table(&one, &one)), 1.0);
        assert_eq!(adjusted_rand(&table(&single, &single)), 1.0);
        assert_eq!(adjusted_rand(&table(&one, &single)), 0.0);
        assert_eq!((rand(&table(&one, &single)), rand(&table(&one, &one))), (0.0, 1.0));
        assert_eq!((rand(&table(&[0], &[3])), adjusted_rand(&table(&[0], &[3]))), (1.0, 1.0));
        let empty = Contingency::of_labels(&[Some(0)], &[None::<u32>], None).unwrap();
        assert_eq!((rand(&empty), adjusted_rand(&empty)), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn counting_pairs_one_by_one(labels in prop::collection::vec((0..4u32, 0..4u32), 2..20)) {
            let (a, b): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
            let n = a.len();
            let (mut both, mut rows, mut columns, mut all) = (0.0, 0.0, 0.0, 0.0);
            for i in 0..n {
                for j in 0..i {
                    let (in_a, in_b) = (a[i] == a[j], b[i] == b[j]);
                    both += f64::from(u8::from(in_a && in_b));
                    rows += f64::from(u8::from(in_a));
                    columns += f64::from(u8::from(in_b));
                    all += 1.0;
                }
            }
            let agree = all + 2.0 * both - rows - columns;
            prop_assert_eq!(rand(&table(&a, &b)), agree / all);
            let (expected, mean) = (rows * columns / all, 0.5 * (rows + columns));
            let slow = if mean == expected { 1.0 } else { (both - expected) / (mean - expected) };
            prop_assert!((adjusted_rand(&table(&a, &b)) - slow).abs() < 1e-13);
            let slow = if rows * columns > 0.0 { both / (rows * columns).sqrt() } else {
                f64::from(u8::from(rows + columns == 0.0))
            };
            prop_assert!((fowlkes_mallows(&table(&a, &b)) - slow).abs() < 1e-13);
        }
    }
}
