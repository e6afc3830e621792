//! What Lloyd's iteration asks of the rows that it clusters.

use crate::base::exact_sum::ClusterSums;
use crate::base::start::Rows;
use crate::linalg::Matrix;

/// The label of a row before its first search.
pub(super) const NONE: u32 = u32::MAX;

/// A row that changed its cluster.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub(super) row: usize,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Neighbouring rows of one fit.
pub(super) struct Lot<'a> {
    /// The first of them.
    pub(super) first: usize,
    pub(super) labels: &'a mut [u32],
    /// How large $C_a$ may grow before the row must be searched for again.
    pub(super) until: &'a mut [f64],
    /// $C_a$ for every label.
    pub(super) travelled: &'a [f64],
}

impl Lot<'_> {
    /// Whether a row need not be searched for.
    #[inline(always)]
    pub(super) fn stays(travelled: &[f64], label: u32, until: f64) -> bool {
        label != NONE && travelled[label as usize] < until
    }
}

/// Rows to be clustered, with their weights.
pub(super) trait Points: Sync {
    /// The rows alone.
    type Rows: Rows;
    /// Centres, made ready for many searches.
    type Packed<'c>: Sync + Send;

    /// The rows alone.
    fn rows(&self) -> &Self::Rows;

    /// The weights of the rows, if any.
    fn weights(&self) -> Option<&[f64]>;

    /// How many rows are searched at a time.
    fn lot(&self) -> usize;

    /// How many bytes a search of all rows reads.
    fn bytes(&self) -> usize;

    /// What one unit of the data is in the margins that searches tell.
    fn unit(&self) -> f64;

    /// The weighted variance of each column, averaged over the columns.
    fn variance(&self) -> f64;

    /// Makes centres ready.
    fn pack<'c>(&self, centres: &'c Matrix) -> Self::Packed<'c>;

    /// Labels the rows of `lot` with their nearest centres, skipping those that need no search, and
    /// tells which changed, in order.
    fn search(&self, centres: &Self::Packed<'_>, lot: &mut Lot<'_>) -> Vec<Move>;

    /// Puts row `i` into cluster `to`.
    fn add(&self, i: usize, to: usize, sums: &mut ClusterSums);

    /// Moves row `i` from cluster `from` to cluster `to`, another one.
    fn shift(&self, i: usize, from: usize, to: usize, sums: &mut ClusterSums);

    /// The squared distance of row `i` from a centre.
    fn distance(&self, i: usize, centre: &[f64]) -> f64;

    /// The weighted sum of squared distances from the centres of these labels.
    fn inertia(&self, centres: &Matrix, labels: &[u32]) -> f64;

    /// The weight of row `i`.
    #[inline(always)]
    fn weight(&self, i: usize) -> f64 {
        self.weights().map_or(1.0, |w| w[i])
    }
}
