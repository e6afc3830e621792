//! Homogeneity and completeness, whose harmonic mean is the V-measure.

use crate::ensemble::Contingency;
use crate::metrics::Information;

/// $I / H_b$: how far every cluster holds one class only (Rosenberg and Hirschberg 2007). Rows are the
/// clusters, columns the classes.
///
/// *Range* [0, 1]. *Degenerate cases.* One class: 1. No object labelled in both: 0.
pub fn homogeneity(table: &Contingency) -> f64 {
    let Information { mutual, column_entropy, .. } = Information::of(table);
    match column_entropy {
        _ if table.is_empty() => 0.0,
        0.0 => 1.0,
        entropy => (mutual / entropy).clamp(0.0, 1.0),
    }
}

/// $I / H_a$: how far every class is in one cluster only; the [homogeneity] the other way round.
pub fn completeness(table: &Contingency) -> f64 {
    homogeneity(&table.transposed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Normalisation, nmi};

    #[test]
    fn finer_clusters_are_homogeneous_and_coarser_ones_complete() {
        let (fine, coarse) = ([0, 1, 2, 3u32], [0, 0, 1, 1u32]);
        let table = Contingency::of_labels(&fine, &coarse, None).unwrap();
        assert_eq!((homogeneity(&table), completeness(&table)), (1.0, 0.5));
        // The V-measure is NMI over the arithmetic mean.
        let harmonic = 2.0 * 0.5 / 1.5;
        assert!((nmi(&table, Normalisation::Arithmetic) - harmonic).abs() < 1e-15);
    }
}
