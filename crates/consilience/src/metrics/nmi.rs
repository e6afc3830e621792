//! Normalised mutual information.

use crate::ensemble::Contingency;
use crate::math;
use crate::metrics::Information;

/// What the mutual information $I$ of two clusterings is divided by.
///
/// $H_a, H_b$ are the entropies and $k_a, k_b$ the numbers of clusters (with objects that both
/// label).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalisation {
    /// $\sqrt{H_a H_b}$ (Strehl and Ghosh 2002).
    #[default]
    Geometric,
    /// $(H_a + H_b) / 2$; the V-measure.
    Arithmetic,
    /// $\max(H_a, H_b)$.
    Max,
    /// $\min(H_a, H_b)$.
    Min,
    /// $H_a + H_b - I$, the joint entropy.
    Joint,
    /// $\tfrac12 \ln(k_a k_b)$: what the entropies could be at most. For $k_a = k_b$ this is
    /// $\ln k$, equation (1) of the w-MI paper (Gao, Gu, Li and Liao 2007). Below 1 for two equal
    /// clusterings unless their clusters are of one size.
    LogK,
}

/// The mutual information of two clusterings over a [`Normalisation`].
///
/// *Range* [0, 1]. *Symmetric.* Two equal hard clusterings have 1 (but see
/// [`LogK`](Normalisation::LogK)); soft ones less, since their labels are uncertain.
///
/// *Degenerate cases.* Both clusterings a single cluster: 1. Only one of them: 0. No object labelled
/// in both: 0.
///
/// ```
/// use consilience::ensemble::Contingency;
/// use consilience::metrics::{Normalisation, nmi};
/// let table = Contingency::of_labels(&[0, 0, 1, 1u32], &[7, 7, 5, 5u32], None)?;
/// assert_eq!(nmi(&table, Normalisation::Geometric), 1.0);
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn nmi(table: &Contingency, normalisation: Normalisation) -> f64 {
    let Information { mutual, row_entropy: a, column_entropy: b } = Information::of(table);
    let scale = match normalisation {
        Normalisation::Geometric => (a * b).sqrt(),
        Normalisation::Arithmetic => f64::midpoint(a, b),
        Normalisation::Max => a.max(b),
        Normalisation::Min => a.min(b),
        Normalisation::Joint => a + b - mutual,
        Normalisation::LogK => {
            0.5 * (math::ln(table.n_rows().max(1) as f64)
                + math::ln(table.n_columns().max(1) as f64))
        }
    };
    if scale > 0.0 {
        (mutual / scale).clamp(0.0, 1.0)
    } else if !table.is_empty() && a == 0.0 && b == 0.0 {
        1.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Normalisation; 6] = [
        Normalisation::Geometric,
        Normalisation::Arithmetic,
        Normalisation::Max,
        Normalisation::Min,
        Normalisation::Joint,
        Normalisation::LogK,
    ];

    #[test]
    fn by_hand() {
        // Two clusters of two against a three and a one.
        let table = Contingency::of_labels(&[0, 0, 1, 1u32], &[0, 0, 0, 1u32], None).unwrap();
        let (h_a, h_b) = (2f64.ln(), 4f64.ln() - 0.75 * 3f64.ln());
        // p = 1/2, 1/4, 1/4.
        let mutual = 0.5 * (4f64 / 3.0).ln() + 0.25 * (2f64 / 3.0).ln() + 0.25 * 2f64.ln();
        let expected = [
            mutual / (h_a * h_b).sqrt(),
            2.0 * mutual / (h_a + h_b),
            mutual / h_a,
            mutual / h_b,
            mutual / (h_a + h_b - mutual),
            mutual / 2f64.ln(),
        ];
        for (normalisation, expected) in ALL.into_iter().zip(expected) {
            let found = nmi(&table, normalisation);
            assert!((found - expected).abs() < 1e-15, "{normalisation:?}: {found} {expected}");
        }
    }

    #[test]
    fn single_clusters_and_empty_overlaps() {
        let of = |a: &[Option<u32>], b: &[Option<u32>], normalisation| {
            nmi(&Contingency::of_labels(a, b, None).unwrap(), normalisation)
        };
        let (one, two) = ([Some(4); 3], [Some(0), Some(1), Some(1)]);
        for normalisation in ALL {
            assert_eq!(of(&one, &one, normalisation), 1.0);
            assert_eq!(of(&one, &two, normalisation), 0.0);
            assert_eq!(of(&two, &one, normalisation), 0.0);
            assert_eq!(of(&two, &[None; 3], normalisation), 0.0);
            assert_eq!(of(&[Some(1)], &[Some(0)], normalisation), 1.0);
        }
    }
}
