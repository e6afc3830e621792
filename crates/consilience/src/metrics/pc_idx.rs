//! Fred's partitions consistency index with its matching of clusters.

use std::cmp::Ordering;

use crate::ensemble::{Cell, Contingency};

/// Which clusters of two clusterings were matched, and how many objects agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    /// Matched pairs (cluster of the first, cluster of the second), in the order they were chosen.
    pub pairs: Vec<(usize, usize)>,
    /// For every cluster of the second clustering the number it gets: that of its partner in the
    /// first, or, if unmatched, the next free number, in order. A cluster without objects that both
    /// label counts as unmatched.
    pub renamed: Vec<usize>,
    /// The weight of the objects in matched clusters.
    pub shared: f64,
    /// The index: `shared` over the weight of all objects labelled in both.
    pub index: f64,
}

/// The partitions consistency index (Fred 2001): clusters are matched greedily, each time the two
/// with the largest Jaccard coefficient $n_{cl} / (n_c + n_l - n_{cl})$ among those still unmatched,
/// and the index is the share of objects in matched clusters.
///
/// Fractions are compared exactly where weights are whole numbers; ties go to the smallest cluster
/// of the first clustering, then of the second. Pairs without common objects are matched too, at
/// the end, so that $\min(k_a, k_b)$ pairs come out.
///
/// *Range* [0, 1], never above [`accuracy`](crate::metrics::accuracy), which matches optimally. *Not
/// quite symmetric*, nor free of the clusters' numbering: ties may fall otherwise, and matter.
///
/// *Degenerate cases.* Both one cluster, or one object: 1. No object labelled in both: 0.
///
/// # Cost
///
/// A sort of the non-zero cells.
///
/// ```
/// use consilience::ensemble::Contingency;
/// use consilience::metrics::pc_idx;
/// let table = Contingency::of_labels(&[0, 0, 0, 1, 1u32], &[1, 1, 0, 0, 0u32], None)?;
/// let matching = pc_idx(&table);
/// assert_eq!(matching.pairs, [(0, 1), (1, 0)]);
/// assert_eq!(matching.index, 4.0 / 5.0);
/// # Ok::<(), consilience::Error>(())
/// ```
pub fn pc_idx(table: &Contingency) -> Matching {
    let (rows, columns) = (table.row_weights(), table.column_weights());
    let union = |c: &Cell| rows[c.row as usize] + columns[c.column as usize] - c.weight;
    let whole =
        table.total() < 2f64.powi(53) && table.cells().iter().all(|c| c.weight.fract() == 0.0);
    // Products of two 53-bit numbers fit into 106 bits. Without whole numbers, one rounded
    // division each: equal fractions of equal numbers still compare equal.
    let compare = |a: &Cell, b: &Cell| -> Ordering {
        if whole {
            let left = a.weight as u128 * union(b) as u128;
            left.cmp(&(b.weight as u128 * union(a) as u128))
        } else {
            (a.weight / union(a)).total_cmp(&(b.weight / union(b)))
        }
    };
    let mut cells = table.cells().to_vec();
    // Stable: cells come sorted by row, then column.
    cells.sort_by(|a, b| compare(b, a));

    let mut column_of = vec![None; rows.len()];
    let mut row_of = vec![None; columns.len()];
    let mut pairs = Vec::new();
    let mut shared = 0.0;
    let mut join = |c: usize, l: usize, weight: f64| {
        if column_of[c].is_none() && row_of[l].is_none() {
            (column_of[c], row_of[l]) = (Some(l), Some(c));
            pairs.push((c, l));
            shared += weight;
        }
    };
    for cell in cells {
        join(cell.row as usize, cell.column as usize, cell.weight);
    }
    let left = |of: &[Option<usize>], weights: &[f64]| -> Vec<usize> {
        (0..of.len()).filter(|&c| of[c].is_none() && weights[c] > 0.0).collect()
    };
    for (c, l) in left(&column_of, rows).into_iter().zip(left(&row_of, columns)) {
        (column_of[c], row_of[l]) = (Some(l), Some(c));
        pairs.push((c, l));
    }
    let mut next = rows.len();
    let renamed = row_of.iter().map(|c| {
        c.unwrap_or_else(|| {
            next += 1;
            next - 1
        })
    });
    let index = if table.is_empty() { 0.0 } else { (shared / table.total()).min(1.0) };
    Matching { renamed: renamed.collect(), pairs, shared, index }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::metrics::accuracy;
    use proptest::prelude::*;

    /// Section 3 of the paper as written: again and again the largest fraction among the unmatched.
    fn slow(table: &Matrix) -> (Vec<(usize, usize)>, u64) {
        let at = |c: usize, l: usize| table[(c, l)] as u64;
        let row = |c| (0..table.ncols()).map(|l| at(c, l)).sum::<u64>();
        let column = |l| (0..table.nrows()).map(|c| at(c, l)).sum::<u64>();
        let mut rows: Vec<usize> = (0..table.nrows()).filter(|&c| row(c) > 0).collect();
        let mut columns: Vec<usize> = (0..table.ncols()).filter(|&l| column(l) > 0).collect();
        let (mut pairs, mut shared) = (Vec::new(), 0);
        while !rows.is_empty() && !columns.is_empty() {
            let (mut best, mut fraction) = ((rows[0], columns[0]), (0, 1));
            for &c in &rows {
                for &l in &columns {
                    let (num, den) = (at(c, l), row(c) + column(l) - at(c, l));
                    if num * fraction.1 > fraction.0 * den {
                        (best, fraction) = ((c, l), (num, den));
                    }
                }
            }
            shared += at(best.0, best.1);
            pairs.push(best);
            rows.retain(|&c| c != best.0);
            columns.retain(|&l| l != best.1);
        }
        (pairs, shared)
    }

    #[test]
    fn greedy_can_be_worse_than_the_best_matching() {
        // Jaccard 3/7 at (0, 0) against 2/5 and 2/5: the best matching takes the two.
        let table = Contingency::from_matrix(&Matrix::from_vec(2, 2, vec![3.0, 2.0, 2.0, 0.0]));
        let matching = pc_idx(&table);
        assert_eq!(matching.pairs, [(0, 0), (1, 1)]);
        assert_eq!((matching.index, accuracy(&table)), (3.0 / 7.0, 4.0 / 7.0));
    }

    /// (2^30 − 1) / 2^30 and 2^30 / (2^30 + 1) are one double.
    #[test]
    fn whole_numbers_are_compared_exactly() {
        let large = 2f64.powi(30);
        let cells = vec![large - 1.0, 1.0, 0.0, 0.0, 1.0, large];
        let table = Contingency::from_matrix(&Matrix::from_vec(2, 3, cells));
        assert_eq!(pc_idx(&table).pairs, [(1, 2), (0, 0)]);
    }

    #[test]
    fn unmatched_clusters_get_the_next_numbers() {
        let table = Contingency::of_labels(&[0, 0, 0, 0u32], &[2, 1, 0, 2u32], None).unwrap();
        let matching = pc_idx(&table);
        assert_eq!(matching.pairs, [(0, 2)]);
        assert_eq!(matching.renamed, [1, 2, 0]);
        assert_eq!(matching.shared, 2.0);
    }

    #[test]
    fn nothing_in_common_gives_nothing() {
        let empty = Contingency::of_labels(&[Some(0)], &[None::<u32>], None).unwrap();
        assert_eq!(pc_idx(&empty).index, 0.0);
    }

    proptest! {
        #[test]
        fn sorting_once_is_the_same_as_searching_again_and_again(
            (rows, columns, values) in (1..6usize, 1..6usize).prop_flat_map(|(rows, columns)| {
                let values = prop::collection::vec(0..4u8, rows * columns);
                (Just(rows), Just(columns), values)
            }),
        ) {
            let values = values.into_iter().map(f64::from).collect();
            let matrix = Matrix::from_vec(rows, columns, values);
            let table = Contingency::from_matrix(&matrix);
            let matching = pc_idx(&table);
            let (pairs, shared) = slow(&matrix);
            prop_assert_eq!(&matching.pairs, &pairs);
            prop_assert_eq!(matching.shared, shared as f64);
            prop_assert!(matching.index <= accuracy(&table));
            // Fractional weights take the other way of comparing; here they change no fraction.
            let halves = Matrix::from_fn(rows, columns, |c, l| 0.5 * matrix[(c, l)]);
            prop_assert_eq!(pc_idx(&Contingency::from_matrix(&halves)).pairs, pairs);
        }
    }
}
