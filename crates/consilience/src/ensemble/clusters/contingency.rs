//! How much weight two clusterings put where: the table every measure of agreement starts from.

use rayon::prelude::*;

use crate::ensemble::labels::collection::check_each_weight;
use crate::ensemble::labels::member::{Assignment, Member};
use crate::ensemble::labels::{Code, with_codes};
use crate::ensemble::profiles::Profiles;
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// The weighted table $n_{cl}$ of two clusterings: the weight of the objects that are in cluster
/// $c$ of the one (rows) and $l$ of the other (columns), over the objects that both label.
///
/// Soft memberships count in part: $n_{cl} = \sum_x w_x\, p(c \mid x)\, p(l \mid x)$. Only cells
/// that are not zero are kept, so two clusterings of $n$ singletons take $n$ cells, not $n^2$.
///
/// ```
/// use consilience::ensemble::Contingency;
/// let table = Contingency::of_labels(&[0, 0, 1, 1u32], &[0, 0, 0, 1u32], None)?;
/// assert_eq!(table.row_weights(), [2.0, 2.0]);
/// assert_eq!(table.column_weights(), [3.0, 1.0]);
/// assert_eq!(table.cells().len(), 3);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Contingency {
    cells: Vec<Cell>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    total: f64,
}

/// One cell of a [`Contingency`] table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The cluster of the first clustering.
    pub row: u32,
    /// The cluster of the second clustering.
    pub column: u32,
    /// The weight in both, above 0.
    pub weight: f64,
}

/// Cells up to which a dense table is made whatever the number of objects, and objects in a chunk.
const CHUNK: usize = 1 << 16;

impl Contingency {
    /// The table of two members, with object weights if given.
    ///
    /// # Errors
    ///
    /// If the members cover different numbers of objects, or the weights are not one number
    /// $\ge 0$ per object.
    pub fn new(a: &Member, b: &Member, weights: Option<&[f64]>) -> Result<Self> {
        let n = a.n_objects();
        check_length(&format!("member `{}`", b.name()), b.n_objects(), n)?;
        check_weights(weights, n)?;
        let size = (a.clusters().len(), b.clusters().len());
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        if let (Member::Hard(a), Member::Hard(b)) = (a, b) {
            return Ok(with_codes!(a.labels(), a => with_codes!(b.labels(), b => {
                count(n, size, |i| Some((a[i].index()?, b[i].index()?, weight(i))))
            })));
        }
        Ok(tabulated(n, size, |i| (a.value(i), b.value(i), weight(i))))
    }

    /// The table of two lists of labels, numbered from 0, one per object; see [`Code`] for how a
    /// missing one is written. Memory grows with the largest label.
    ///
    /// # Errors
    ///
    /// If the lists differ in length, or the weights are not one number $\ge 0$ per object.
    pub fn of_labels<A: Code, B: Code>(a: &[A], b: &[B], weights: Option<&[f64]>) -> Result<Self> {
        check_length("the second list of labels", b.len(), a.len())?;
        check_weights(weights, a.len())?;
        let k = (n_clusters(a), n_clusters(b));
        Ok(count(a.len(), k, |i| {
            Some((a[i].index()?, b[i].index()?, weights.map_or(1.0, |w| w[i])))
        }))
    }

    /// The table of a clustering of the profiles (rows) and member `h` (columns).
    ///
    /// # Panics
    ///
    /// If there is not one label per profile.
    pub fn of_consensus(profiles: &Profiles, labels: &[u32], h: usize) -> Self {
        assert_eq!(labels.len(), profiles.len(), "one label per profile");
        let size = (n_clusters(labels), profiles.members()[h].n_clusters());
        let w = profiles.weights();
        if profiles.members()[h].is_hard() {
            let cell = |s: usize| Some((labels[s].index()?, profiles.label(s, h)?, w[s]));
            return count(labels.len(), size, cell);
        }
        let label = |s: usize| Assignment::Label(labels[s].index());
        tabulated(labels.len(), size, |s| (label(s), profiles.value(s, h), w[s]))
    }

    /// The table of members `g` (rows) and `h` (columns) of an ensemble.
    pub fn of_members(profiles: &Profiles, g: usize, h: usize) -> Self {
        let (u, w, members) = (profiles.len(), profiles.weights(), profiles.members());
        let size = (members[g].n_clusters(), members[h].n_clusters());
        if members[g].is_hard() && members[h].is_hard() {
            return count(u, size, |s| Some((profiles.label(s, g)?, profiles.label(s, h)?, w[s])));
        }
        tabulated(u, size, |s| (profiles.value(s, g), profiles.value(s, h), w[s]))
    }

    /// The table with these values, all $\ge 0$.
    pub(crate) fn from_matrix(values: &Matrix) -> Self {
        let cell = |(i, &weight): (usize, &f64)| Cell {
            row: (i / values.ncols()) as u32,
            column: (i % values.ncols()) as u32,
            weight,
        };
        let cells = values.as_slice().iter().enumerate().map(cell).filter(|c| c.weight > 0.0);
        Self::from_cells(cells.collect(), values.nrows(), values.ncols())
    }

    /// From cells sorted by row and column.
    fn from_cells(cells: Vec<Cell>, rows: usize, columns: usize) -> Self {
        let (mut rows, mut columns) = (vec![0.0; rows], vec![0.0; columns]);
        for cell in &cells {
            rows[cell.row as usize] += cell.weight;
            columns[cell.column as usize] += cell.weight;
        }
        let total = rows.iter().sum();
        Contingency { cells, rows, columns, total }
    }

    /// The cells that are not zero, sorted by row, then column.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// $n_c$: the weight of every cluster of the first clustering; 0 if no object of it is labelled
    /// in the second.
    pub fn row_weights(&self) -> &[f64] {
        &self.rows
    }

    /// $n_l$: the weight of every cluster of the second clustering.
    pub fn column_weights(&self) -> &[f64] {
        &self.columns
    }

    /// $n$: the weight of all objects that both clusterings label.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Whether no object is labelled in both.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many clusters of the first clustering have an object that the second labels.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.iter().filter(|&&w| w > 0.0).count()
    }

    /// How many clusters of the second clustering have an object that the first labels.
    pub(crate) fn n_columns(&self) -> usize {
        self.columns.iter().filter(|&&w| w > 0.0).count()
    }

    /// The table with first and second exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut cells: Vec<Cell> =
            self.cells.iter().map(|c| Cell { row: c.column, column: c.row, ..*c }).collect();
        cells.sort_by_key(|c| (c.row, c.column));
        Self::from_cells(cells, self.columns.len(), self.rows.len())
    }
}

/// One more than the largest label.
fn n_clusters<C: Code>(labels: &[C]) -> usize {
    labels.iter().filter_map(|c| c.index()).max().map_or(0, |most| most + 1)
}

fn check_length(what: &str, got: usize, expected: usize) -> Result<()> {
    Error::unless_length(what, got, "the first clustering", expected)
}

fn check_weights(weights: Option<&[f64]>, n: usize) -> Result<()> {
    let Some(weights) = weights else { return Ok(()) };
    check_length("the list of object weights", weights.len(), n)?;
    check_each_weight(weights, |w| w >= 0.0, ">= 0")
}

/// The table of `n` objects of which `of(i)` says what both clusterings make of them, and the weight;
/// they are not both hard.
fn tabulated<'a>(
    n: usize,
    (rows, columns): (usize, usize),
    of: impl Fn(usize) -> (Assignment<'a>, Assignment<'a>, f64) + Sync,
) -> Contingency {
    add_up(n, (rows, columns), |i, table| match of(i) {
        (Assignment::Label(Some(c)), Assignment::Memberships(b), weight) => {
            add_row(&mut table[c * columns..], b, weight);
        }
        (Assignment::Memberships(a), Assignment::Label(Some(l)), weight) => {
            let cells = table[l..].iter_mut().step_by(columns).zip(a);
            cells.for_each(|(cell, p)| *cell += weight * p);
        }
        (Assignment::Memberships(a), Assignment::Memberships(b), weight) => {
            for (cells, &p) in table.chunks_exact_mut(columns).zip(a).filter(|(_, p)| **p != 0.0) {
                add_row(cells, b, weight * p);
            }
        }
        (Assignment::Label(_), _, _) | (_, Assignment::Label(_), _) => {}
    })
}

/// Adds `weight` times `memberships` to the front of `cells`.
fn add_row(cells: &mut [f64], memberships: &[f64], weight: f64) {
    cells.iter_mut().zip(memberships).for_each(|(cell, p)| *cell += weight * p);
}

/// The table of `n` objects of which `cell(i)` says row, column and weight.
fn count(
    n: usize,
    (rows, columns): (usize, usize),
    cell: impl Fn(usize) -> Option<(usize, usize, f64)> + Sync,
) -> Contingency {
    if rows.saturating_mul(columns) <= n.max(CHUNK) {
        return add_up(n, (rows, columns), |i, table| {
            if let Some((c, l, weight)) = cell(i) {
                table[c * columns + l] += weight;
            }
        });
    }
    // More possible cells than objects: sort the pairs that occur. The sort is stable, so weights
    // are added in the order of the objects.
    let pair = |i| cell(i).map(|(c, l, weight)| ((c as u64) << 32 | l as u64, weight));
    let mut pairs: Vec<(u64, f64)> = (0..n).into_par_iter().filter_map(pair).collect();
    pairs.par_sort_by_key(|&(key, _)| key);
    let cells = pairs.chunk_by(|a, b| a.0 == b.0).filter_map(|equal| {
        let weight = equal.iter().map(|&(_, weight)| weight).sum();
        let (row, column) = ((equal[0].0 >> 32) as u32, equal[0].0 as u32);
        (weight > 0.0).then_some(Cell { row, column, weight })
    });
    Contingency::from_cells(cells.collect(), rows, columns)
}

/// The table to which `add(i, table)` adds what object `i` gives, over fixed chunks of objects
/// whose tables are added in order: the same bits at any number of threads.
fn add_up(
    n: usize,
    (rows, columns): (usize, usize),
    add: impl Fn(usize, &mut [f64]) + Sync,
) -> Contingency {
    let size = rows * columns;
    if size == 0 {
        return Contingency::from_cells(Vec::new(), rows, columns);
    }
    // A chunk is never smaller than its table, so all tables together are never larger than n.
    let chunk = CHUNK.max(size);
    let chunk_table = |first: usize| {
        let mut table = vec![0.0; size];
        (first..(first + chunk).min(n)).for_each(|i| add(i, &mut table));
        table
    };
    let starts: Vec<usize> = (0..n).step_by(chunk).collect();
    let tables: Vec<Vec<f64>> = starts.into_par_iter().map(chunk_table).collect();
    let mut sum = vec![0.0; size];
    for table in tables {
        sum.iter_mut().zip(table).for_each(|(sum, x)| *sum += x);
    }
    Contingency::from_matrix(&Matrix::from_vec(rows, columns, sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{HardMember, SoftMember};
    use crate::run::Run;
    use crate::testing::{Kinds, ensembles, profiles};
    use proptest::prelude::*;

    /// Row `i` of a member's membership matrix.
    fn row(member: &Member, i: usize) -> Vec<f64> {
        match member {
            Member::Soft(m) => m.memberships().row(i).to_vec(),
            Member::Hard(m) => {
                let code = m.labels().get(i);
                (0..m.clusters().len()).map(|c| f64::from(u8::from(code == Some(c)))).collect()
            }
        }
    }

    fn dense(table: &Contingency) -> Matrix {
        let mut m = Matrix::zeros(table.row_weights().len(), table.column_weights().len());
        for cell in table.cells() {
            m[(cell.row as usize, cell.column as usize)] = cell.weight;
        }
        m
    }

    fn close(a: &Matrix, b: &Matrix) -> bool {
        (a.nrows(), a.ncols()) == (b.nrows(), b.ncols())
            && a.as_slice().iter().zip(b.as_slice()).all(|(a, b)| (a - b).abs() <= 1e-12)
    }

    proptest! {
        /// Members, profiles and $A^T \operatorname{diag}(w) B$ spelled out give one table.
        #[test]
        fn all_ways_give_the_same_table(ensemble in ensembles(Kinds::ALL, 12, 3)) {
            let profiles = profiles(&ensemble);
            for (g, a) in ensemble.members().iter().enumerate() {
                for (h, b) in ensemble.members().iter().enumerate() {
                    let (k_a, k_b) = (a.clusters().len(), b.clusters().len());
                    let w = |i: usize| ensemble.weights().map_or(1.0, |w| w[i]);
                    let expected = Matrix::from_fn(k_a, k_b, |c, l| {
                        (0..ensemble.n_objects()).map(|i| w(i) * row(a, i)[c] * row(b, i)[l]).sum()
                    });
                    let table = Contingency::new(a, b, ensemble.weights()).unwrap();
                    prop_assert!(close(&dense(&table), &expected), "{table:?} {expected:?}");
                    let of_members = Contingency::of_members(&profiles, g, h);
                    prop_assert!(close(&dense(&of_members), &expected));
                    if a.is_hard() {
                        let label = |s| profiles.label(s, g).map_or(u32::MAX, |c| c as u32);
                        let labels: Vec<u32> = (0..profiles.len()).map(label).collect();
                        let of_consensus = Contingency::of_consensus(&profiles, &labels, h);
                        prop_assert!(close(&dense(&of_consensus), &expected));
                    }
                    prop_assert_eq!(table.transposed().transposed(), table);
                }
            }
        }

        /// Few and many possible cells are counted in two ways.
        #[test]
        fn sorting_pairs_and_filling_a_table_agree(
            labels in prop::collection::vec((0..9u32, 0..9u32), 1..40),
        ) {
            // Spread over 300 x 300 > CHUNK possible cells.
            let (a, b): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
            let spread = |x: &[u32]| x.iter().map(|x| x * 37).chain([299]).collect::<Vec<u32>>();
            let sorted = Contingency::of_labels(&spread(&a), &spread(&b), None).unwrap();
            let filled = Contingency::of_labels(&a, &b, None).unwrap();
            let cells: Vec<_> =
                filled.cells().iter().map(|c| (c.row * 37, c.column * 37, c.weight)).collect();
            let found: Vec<_> =
                sorted.cells().iter().map(|c| (c.row, c.column, c.weight)).collect();
            prop_assert_eq!(&found[..cells.len()], &cells[..]);
            prop_assert_eq!(&found[cells.len()..], &[(299, 299, 1.0)]);
        }
    }

    #[test]
    fn objects_that_one_side_does_not_label_are_left_out() {
        let (a, b) = ([Some(0), None, Some(1)], [Some(0), Some(0), None::<u32>]);
        let table = Contingency::of_labels(&a, &b, None).unwrap();
        assert_eq!(table.cells(), [Cell { row: 0, column: 0, weight: 1.0 }]);
        assert_eq!((table.n_rows(), table.row_weights().len()), (1, 2));
        let empty = Contingency::of_labels(&[Some(3)], &[None::<u32>], None).unwrap();
        assert!(empty.is_empty() && empty.total() == 0.0);
        let nobody = Matrix::zeros(2, 1);
        let nobody = SoftMember::new("nobody", nobody, vec!["x".into()]).unwrap().into();
        assert!(Contingency::new(&nobody, &nobody, None).unwrap().is_empty());
    }

    #[test]
    fn a_million_singletons_take_a_million_cells() {
        let labels: Vec<u32> = (0..1_000_000).collect();
        let reversed: Vec<u32> = labels.iter().rev().copied().collect();
        let table = Contingency::of_labels(&labels, &reversed, None).unwrap();
        assert_eq!((table.cells().len(), table.total()), (1_000_000, 1e6));
    }

    /// Several chunks, weights whose sums round: threads must not show.
    #[test]
    fn the_same_bits_at_any_number_of_threads() {
        let n = 3 * CHUNK + 17;
        let weights: Vec<f64> = (0..n).map(|i| 1.0 / (1 + i % 97) as f64).collect();
        let a = HardMember::from_integers("a", (0..n as i64).map(|i| Some(i * 7 % 5)));
        let b = Matrix::from_fn(n, 2, |i, j| [0.1, 0.9][(i / 3 + j) % 2]);
        let b = SoftMember::new("b", b, vec!["x".into(), "y".into()]).unwrap();
        let (a, b) = (Member::from(a), Member::from(b));
        let table = |threads| {
            let table = || Contingency::new(&a, &b, Some(&weights)).unwrap();
            Run::new(0).threads(threads).install(table)
        };
        assert_eq!(table(1), table(3));
    }

    #[test]
    fn wrong_lengths_and_weights_are_refused() {
        let labels = |a: &[u32], b: &[u32], w: Option<&[f64]>| {
            Contingency::of_labels(a, b, w).map_err(|e| e.to_string())
        };
        assert_eq!(
            labels(&[0, 1], &[0], None).unwrap_err(),
            "the second list of labels has 1 entry, but the first clustering has 2"
        );
        assert!(labels(&[0], &[0], Some(&[1.0, 2.0])).is_err());
        assert!(labels(&[0], &[0], Some(&[-1.0])).is_err());
        assert!(labels(&[0], &[0], Some(&[f64::NAN])).is_err());
        assert!(labels(&[0], &[0], Some(&[0.0])).unwrap().is_empty());
    }
}
