//! A block of rows, one lane each: densities, memberships, and the sums that the next model is made of.

use crate::base::gmm::model::{GmmModel, Spread};
use crate::base::table::{Float, Table};
use crate::linalg::{exp_branchless, ln_branchless, vectorised};

/// Rows handled together: enough to fill several wide registers.
const LANES: usize = 16;
const GROUPS: usize = 8;
/// Rows of a block.
pub(super) const BLOCK: usize = LANES * GROUPS;

/// One number for every row of a block.
type Column = [[f64; LANES]; GROUPS];
const ZERO: Column = [[0.0; LANES]; GROUPS];

/// A block of rows with the room to work on them.
pub(super) struct Block {
    /// How many rows are filled; the others repeat the first.
    rows: usize,
    /// The features.
    x: Vec<Column>,
    /// The features less the mean of a component.
    y: Vec<Column>,
    /// For every component the logarithms of its weighted density, then memberships.
    shares: Vec<Column>,
}

impl Block {
    pub(super) fn new(k: usize, d: usize) -> Self {
        Block { rows: 0, x: vec![ZERO; d], y: vec![ZERO; d], shares: vec![ZERO; k] }
    }

    /// The bytes of a block.
    pub(super) fn cost(k: usize, d: usize) -> u64 {
        (size_of::<Column>() * (k + 2 * d)) as u64
    }

    /// Takes the rows from `first` on, up to `end`.
    pub(super) fn load<T: Float>(&mut self, data: &Table<'_, T>, first: usize, end: usize) {
        self.rows = BLOCK.min(end - first);
        for i in 0..BLOCK {
            let row = data.row(first + if i < self.rows { i } else { 0 });
            for (x, value) in self.x.iter_mut().zip(row) {
                x[i / LANES][i % LANES] = value.to_f64();
            }
        }
    }

    /// How many rows are filled.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Gives every row to the component of its label alone.
    pub(super) fn assign(&mut self, labels: &[u32]) {
        self.shares.fill(ZERO);
        for (i, &label) in labels.iter().enumerate() {
            self.shares[label as usize][i / LANES][i % LANES] = 1.0;
        }
    }

    /// The logarithms of the weighted densities of every component.
    fn densities(&mut self, model: &GmmModel) {
        for c in 0..model.k() {
            let (mean, factor, constant) = model.component(c);
            vectorised(
                #[inline(always)]
                || {
                    shift(&mut self.y, &self.x, mean);
                    let squares = match model.spread() {
                        Spread::Full | Spread::Tied => triangular(&self.y, factor),
                        Spread::Diagonal => diagonal(&self.y, factor),
                    };
                    each(&mut self.shares[c], &squares, |log, square| {
                        *log = constant - 0.5 * square;
                    });
                },
            );
        }
    }

    /// Finds the memberships of all rows and returns the sum of the logarithms of their densities.
    pub(super) fn expect(&mut self, model: &GmmModel) -> f64 {
        self.densities(model);
        let mut logs = ZERO;
        vectorised(
            #[inline(always)]
            || normalise(&mut self.shares, &mut logs),
        );
        // Rows that only fill up the block belong to nobody.
        for share in &mut self.shares {
            share.as_flattened_mut()[self.rows..].fill(0.0);
        }
        logs.as_flattened()[..self.rows].iter().sum()
    }

    /// The component of largest membership of every row, the first of equals.
    pub(super) fn labels(&mut self, model: &GmmModel, into: &mut [u32]) {
        self.densities(model);
        for (i, label) in into.iter_mut().enumerate() {
            let mut best = f64::NEG_INFINITY;
            for (c, share) in self.shares.iter().enumerate() {
                let log = share[i / LANES][i % LANES];
                if log > best {
                    (best, *label) = (log, c as u32);
                }
            }
        }
    }

    /// Writes the memberships of the rows, row by row.
    pub(super) fn write(&self, into: &mut [f64]) {
        for (i, row) in into.chunks_exact_mut(self.shares.len()).enumerate() {
            let shares = self.shares.iter().map(|share| share[i / LANES][i % LANES]);
            row.iter_mut().zip(shares).for_each(|(into, share)| *into = share);
        }
    }

    /// Adds the rows, by membership, to the sums of every component: of memberships, of what is beyond
    /// the component's mean, and of the products of that, as many as `spread` needs.
    pub(super) fn add_to(&mut self, sums: &mut [f64], model: &GmmModel) {
        let (d, spread) = (self.x.len(), model.spread());
        let each = sums.chunks_exact_mut(spread.width(d));
        for ((c, sums), share) in each.enumerate().zip(&self.shares) {
            let mean = model.means().row(c);
            vectorised(
                #[inline(always)]
                || {
                    shift(&mut self.y, &self.x, mean);
                    let (first, products) = sums.split_at_mut(1 + d);
                    first[0] += total(share);
                    let mut products = products.iter_mut();
                    for (i, y) in self.y.iter().enumerate() {
                        let mut shared = *share;
                        self::each(&mut shared, y, |share, y| *share *= y);
                        first[1 + i] += total(&shared);
                        let others = match spread {
                            Spread::Full => &self.y[..=i],
                            Spread::Diagonal => &self.y[i..=i],
                            Spread::Tied => &[],
                        };
                        for (other, sum) in others.iter().zip(&mut products) {
                            *sum += dot(&shared, other);
                        }
                    }
                },
            );
        }
    }
}

/// Calls `act` on every number of a column with its fellow.
#[inline(always)]
fn each(a: &mut Column, b: &Column, act: impl Fn(&mut f64, f64)) {
    for (a, b) in a.iter_mut().zip(b) {
        for l in 0..LANES {
            act(&mut a[l], b[l]);
        }
    }
}

/// Writes the rows less `mean`.
#[inline(always)]
fn shift(y: &mut [Column], x: &[Column], mean: &[f64]) {
    for ((y, x), mean) in y.iter_mut().zip(x).zip(mean) {
        each(y, x, |y, x| *y = x - mean);
    }
}

/// $\lVert U y \rVert^2$ for a lower triangular $U$, row after row.
#[inline(always)]
fn triangular(y: &[Column], factor: &[f64]) -> Column {
    let mut squares = ZERO;
    for (g, squares) in squares.iter_mut().enumerate() {
        let mut rest = factor;
        for i in 0..y.len() {
            let (row, next) = rest.split_at(i + 1);
            rest = next;
            let mut sum = [0.0; LANES];
            for (u, y) in row.iter().zip(y) {
                for l in 0..LANES {
                    sum[l] += u * y[g][l];
                }
            }
            for l in 0..LANES {
                squares[l] += sum[l] * sum[l];
            }
        }
    }
    squares
}

/// The same for a diagonal $U$.
#[inline(always)]
fn diagonal(y: &[Column], factor: &[f64]) -> Column {
    let mut squares = ZERO;
    for (y, u) in y.iter().zip(factor) {
        each(&mut squares, y, |square, y| *square += (u * y) * (u * y));
    }
    squares
}

/// Turns logarithms of weighted densities into memberships, and writes the logarithms of the sums.
#[inline(always)]
fn normalise(shares: &mut [Column], logs: &mut Column) {
    let mut top = shares[0];
    for share in &shares[1..] {
        each(&mut top, share, |top, share| *top = if share > *top { share } else { *top });
    }
    let mut sums = ZERO;
    for share in shares.iter_mut() {
        each(share, &top, |share, top| *share = exp_branchless(*share - top));
        each(&mut sums, share, |sum, share| *sum += share);
    }
    *logs = top;
    each(logs, &sums, |log, sum| *log += ln_branchless(sum));
    for share in shares {
        each(share, &sums, |share, sum| *share /= sum);
    }
}

/// The sum of a column.
#[inline(always)]
fn total(column: &Column) -> f64 {
    let mut sums = [0.0; LANES];
    for group in column {
        for l in 0..LANES {
            sums[l] += group[l];
        }
    }
    folded(sums)
}

/// The inner product of two columns.
#[inline(always)]
fn dot(a: &Column, b: &Column) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    folded(sums)
}

/// The sum of the lanes, halves onto halves.
#[inline(always)]
fn folded(mut sums: [f64; LANES]) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}
