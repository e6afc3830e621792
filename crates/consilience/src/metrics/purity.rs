//! Purity.

use crate::ensemble::Contingency;

/// $\sum_c \max_l n_{cl} / n$: the share of objects that belong to the main class of their cluster,
/// rows being the clustering that is judged and columns the classes.
///
/// *Range* [0, 1]. *Not symmetric*: it grows with the number of clusters, and singletons are pure.
///
/// *Degenerate cases.* Both one cluster, or one object: 1. No object labelled in both: 0.
pub fn purity(table: &Contingency) -> f64 {
    if table.is_empty() {
        return 0.0;
    }
    let rows = table.cells().chunk_by(|a, b| a.row == b.row);
    let main: f64 = rows.map(|row| row.iter().map(|c| c.weight).fold(0.0, f64::max)).sum();
    (main / table.total()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singletons_are_pure_but_one_cluster_is_not() {
        let (fine, classes) = ([0, 1, 2, 3u32], [0, 0, 0, 1u32]);
        let table = Contingency::of_labels(&fine, &classes, None).unwrap();
        assert_eq!(purity(&table), 1.0);
        assert_eq!(purity(&table.transposed()), 0.5);
    }
}
