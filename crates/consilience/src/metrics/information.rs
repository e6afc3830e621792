//! Entropies and mutual information of a table, in nats.

use crate::ensemble::Contingency;
use crate::linalg::xlogx;

/// The information in a table of two clusterings, in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Information {
    /// $I = \sum_{cl} \frac{n_{cl}}{n} \ln \frac{n\, n_{cl}}{n_c n_l}$.
    pub mutual: f64,
    /// $H_a$, the entropy of the first clustering.
    pub row_entropy: f64,
    /// $H_b$, the entropy of the second clustering.
    pub column_entropy: f64,
}

impl Information {
    /// The information in `table`; all 0 if it is empty.
    ///
    /// With $f(t) = t \ln t$, $n I = \sum f(n_{cl}) - \sum f(n_c) - \sum f(n_l) + f(n)$ and
    /// $n H_a = f(n) - \sum f(n_c)$: for two equal clusterings the same terms are added in the same
    /// order, so $I = H_a = H_b$ to the last bit. The theorem $0 \le I \le \min(H_a, H_b)$ is then
    /// enforced against rounding.
    pub(crate) fn of(table: &Contingency) -> Self {
        if table.is_empty() {
            return Information { mutual: 0.0, row_entropy: 0.0, column_entropy: 0.0 };
        }
        let n = table.total();
        let sum = |weights: &[f64]| weights.iter().copied().map(xlogx).sum::<f64>();
        let (rows, columns) = (sum(table.row_weights()), sum(table.column_weights()));
        let cells: f64 = table.cells().iter().map(|cell| xlogx(cell.weight)).sum();
        // One cluster has no entropy, however its weights were rounded.
        let entropy = |k: usize, sum: f64| {
            if k == 1 { 0.0 } else { ((xlogx(n) - sum) / n).max(0.0) }
        };
        let row_entropy = entropy(table.n_rows(), rows);
        let column_entropy = entropy(table.n_columns(), columns);
        let mutual = (cells - rows - columns + xlogx(n)) / n;
        let mutual = mutual.clamp(0.0, row_entropy.min(column_entropy));
        Information { mutual, row_entropy, column_entropy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_clusterings_share_nothing_and_equal_ones_everything() {
        let table = Contingency::of_labels(&[0, 0, 1, 1u32], &[0, 1, 0, 1u32], None).unwrap();
        let ln2 = std::f64::consts::LN_2;
        let Information { mutual, row_entropy, column_entropy } = Information::of(&table);
        assert!(mutual < 1e-15);
        assert!((row_entropy - ln2).abs() < 1e-15 && (column_entropy - ln2).abs() < 1e-15);
        let labels: Vec<u32> = (0..100).map(|i| i * i % 7).collect();
        let same = Information::of(&Contingency::of_labels(&labels, &labels, None).unwrap());
        assert_eq!((same.mutual, same.mutual), (same.row_entropy, same.column_entropy));
    }
}
