//! Accuracy under the best matching of clusters, and the error rate.

use crate::ensemble::Contingency;
use crate::linalg::max_assignment;

/// The share of objects in matched clusters under the best one-to-one matching $\pi$ of clusters,
/// $\max_\pi \sum_c n_{c,\pi(c)} / n$.
///
/// *Range* [0, 1]. *Symmetric.* With different numbers of clusters some stay unmatched; their objects
/// count as errors.
///
/// *Degenerate cases.* Both one cluster, or one object: 1. No object labelled in both: 0.
pub fn accuracy(table: &Contingency) -> f64 {
    if table.is_empty() {
        return 0.0;
    }
    let (rows, columns) = (table.row_weights().len(), table.column_weights().len());
    let cells = || table.cells().iter().map(|c| (c.row as usize, c.column as usize, c.weight));
    let column_of = max_assignment(rows, columns, cells());
    let matched: f64 =
        cells().filter(|&(c, l, _)| column_of[c] == Some(l)).map(|(_, _, weight)| weight).sum();
    (matched / table.total()).min(1.0)
}

/// $1 -$ [`accuracy`]: the share of objects outside matched clusters.
///
/// *Range* [0, 1]. *Symmetric.* Equation (17) of the w-MI paper, read with one division by $n$ (it
/// prints two) and with clusters matched.
///
/// *Degenerate cases.* As [`accuracy`]; no object labelled in both: 1.
pub(crate) fn error_rate(table: &Contingency) -> f64 {
    1.0 - accuracy(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_is_one_to_one() {
        // Both clusters overlap most with class 0; only one may have it.
        let table = Contingency::of_labels(&[0, 0, 0, 1, 1u32], &[0, 0, 0, 0, 0u32], None).unwrap();
        assert_eq!((accuracy(&table), error_rate(&table)), (0.6, 0.4));
        let table =
            Contingency::of_labels(&[0, 0, 0, 1, 1, 1u32], &[0, 0, 1, 0, 0, 0u32], None).unwrap();
        assert_eq!(accuracy(&table), 4.0 / 6.0);
    }

    #[test]
    fn a_million_singletons_are_matched_with_few_clusters() {
        let n = 1_000_000;
        let singletons: Vec<u32> = (0..n).collect();
        let three: Vec<u32> = (0..n).map(|i| i % 3).collect();
        let table = Contingency::of_labels(&singletons, &three, None).unwrap();
        assert_eq!(accuracy(&table), 3.0 / f64::from(n));
    }
}
