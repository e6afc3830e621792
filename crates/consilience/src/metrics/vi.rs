//! Variation of information.

use crate::ensemble::Contingency;
use crate::metrics::Information;

/// $\mathrm{VI} = H_a + H_b - 2 I$, in nats (Meilă 2003): what one clustering does not tell about the
/// other, both ways.
///
/// *Range* $[0, \ln n]$ for hard clusterings of $n$ objects. *Symmetric*, and for hard clusterings a
/// metric: 0 only between equal ones. Soft clusterings differ even from themselves, by twice their
/// own uncertainty.
///
/// *Degenerate cases.* Two single clusters: 0. No object labelled in both: 0.
pub fn variation_of_information(table: &Contingency) -> f64 {
    let Information { mutual, row_entropy, column_entropy } = Information::of(table);
    // Not $H_a + H_b - 2I$ at once: each bracket is >= 0 and exactly 0 for equal clusterings.
    (row_entropy - mutual) + (column_entropy - mutual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_cluster_against_singletons_is_the_largest() {
        let singletons: Vec<u32> = (0..9).collect();
        let table = Contingency::of_labels(&[0u32; 9], &singletons, None).unwrap();
        assert!((variation_of_information(&table) - 9f64.ln()).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn the_triangle_inequality_holds(
            labels in prop::collection::vec((0..4u32, 0..4u32, 0..4u32), 1..20),
        ) {
            let of = |x: fn(&(u32, u32, u32)) -> u32, y: fn(&(u32, u32, u32)) -> u32| {
                let (x, y): (Vec<_>, Vec<_>) = labels.iter().map(|l| (x(l), y(l))).unzip();
                variation_of_information(&Contingency::of_labels(&x, &y, None).unwrap())
            };
            let (ab, bc, ac) = (of(|l| l.0, |l| l.1), of(|l| l.1, |l| l.2), of(|l| l.0, |l| l.2));
            prop_assert!(ac <= ab + bc + 1e-12);
        }
    }
}
