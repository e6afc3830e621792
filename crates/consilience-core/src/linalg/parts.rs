//! The positive and the negative part of a matrix, each times another matrix, for the price of one
//! product.
//!
//! Every entry of $A$ belongs to one part, so half of the multiplications of the two plain products
//! are by nought. Rows of $A$ are taken three at a time and their columns sorted by the three signs.
//! Within a class of equal signs each row adds to one of its two sums only, as in a plain product;
//! these stay in registers.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::linalg::Matrix;

/// Rows of $A$ in a group. With [`VECTORS`] there are as many sums as fit 16 registers, beside three
/// entries of $A$ and one vector of $B$.
const ROWS: usize = 3;
/// Signs of the entries of a group in one column.
const CLASSES: usize = 1 << ROWS;
/// Vectors of $B$ in a row of a panel, where they hold four numbers.
const VECTORS: usize = 4;
/// Columns of $B$ in a panel.
const WIDTH: usize = 16;
/// Rows of $B$ in a panel, which takes 64 KiB: it stays in the second-level cache while the
/// [groups](GROUPS) pass over it.
const DEPTH: usize = 512;
/// Groups of a block; their entries take half of a second-level cache of 1 MiB.
const GROUPS: usize = 32;

/// A row of a panel, or of sums: two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([f64; WIDTH]);

impl Line {
    const ZERO: Self = Line([0.0; WIDTH]);
}

/// The sums of a group over a panel's columns, those of the positive part first.
type Tile = [[Line; ROWS]; 2];

/// Writes $\max(A, 0) B$ into `plus` and $\max(-A, 0) B$ into `minus`.
///
/// # Panics
///
/// If the shapes do not fit.
pub fn products_of_parts_into(plus: &mut Matrix, minus: &mut Matrix, a: &Matrix, b: &Matrix) {
    let (inner, columns) = (b.nrows(), b.ncols());
    assert_eq!(a.ncols(), inner, "as many columns of A as rows of B");
    for out in [&*plus, &*minus] {
        assert_eq!((out.nrows(), out.ncols()), (a.nrows(), columns), "products of their shape");
    }
    if columns == 0 || inner == 0 {
        [plus, minus].into_iter().for_each(|out| out.as_mut_slice().fill(0.0));
        return;
    }
    let panels = Panels::new(b);
    let height = ROWS * GROUPS;
    let blocks = a.as_slice().par_chunks(height * inner);
    let plus = plus.as_mut_slice().par_chunks_mut(height * columns);
    let minus = minus.as_mut_slice().par_chunks_mut(height * columns);
    blocks.zip(plus.zip(minus)).for_each_init(
        || Block::new(&panels),
        |block, (a, (plus, minus))| {
            block.multiply(a);
            block.write_part(0, plus);
            block.write_part(1, minus);
        },
    );
}

/// $B$ cut into panels, each in one piece: first by rows, then by columns.
struct Panels {
    lines: Vec<Line>,
    inner: usize,
    columns: usize,
}

impl Panels {
    fn new(b: &Matrix) -> Self {
        let (inner, columns) = (b.nrows(), b.ncols());
        let across = columns.div_ceil(WIDTH);
        let mut lines = vec![Line::ZERO; inner.div_ceil(DEPTH) * across * DEPTH];
        let layers = lines.par_chunks_mut(across * DEPTH);
        layers.zip(b.as_slice().par_chunks(DEPTH * columns)).for_each(|(lines, rows)| {
            for (j, row) in rows.chunks_exact(columns).enumerate() {
                for (panel, part) in lines.chunks_exact_mut(DEPTH).zip(row.chunks(WIDTH)) {
                    panel[j].0[..part.len()].copy_from_slice(part);
                }
            }
        });
        Panels { lines, inner, columns }
    }

    fn across(&self) -> usize {
        self.columns.div_ceil(WIDTH)
    }
}

/// Rows of $A$ at work, and their products.
struct Block<'a> {
    panels: &'a Panels,
    groups: Vec<Group>,
    /// [`GROUPS`] a panel.
    tiles: Vec<Tile>,
    /// The panel at hand: read in order while copied, in the order of signs after.
    panel: Box<[Line; DEPTH]>,
}

impl<'a> Block<'a> {
    fn new(panels: &'a Panels) -> Self {
        let panel = vec![Line::ZERO; DEPTH].into_boxed_slice();
        Block {
            panels,
            groups: (0..GROUPS).map(|_| Group::new()).collect(),
            tiles: vec![[[Line::ZERO; ROWS]; 2]; panels.across() * GROUPS],
            panel: panel.try_into().expect("as many lines"),
        }
    }

    /// The products of these rows of $A$, at most as many as the groups have.
    fn multiply(&mut self, rows: &[f64]) {
        let inner = self.panels.inner;
        self.tiles.fill([[Line::ZERO; ROWS]; 2]);
        for (layer, lines) in self.panels.lines.chunks(self.panels.across() * DEPTH).enumerate() {
            let columns = layer * DEPTH..inner.min((layer + 1) * DEPTH);
            for (group, rows) in self.groups.iter_mut().zip(rows.chunks(ROWS * inner)) {
                let mut parts = rows.chunks_exact(inner).map(|row| &row[columns.clone()]);
                // Rows that are lacking are empty.
                group.sort(std::array::from_fn(|_| parts.next().unwrap_or(&[])));
            }
            Arch::new().dispatch(Layer {
                groups: &self.groups[..rows.len().div_ceil(ROWS * inner)],
                lines,
                tiles: &mut self.tiles,
                panel: &mut self.panel,
            });
        }
    }

    /// Writes the products of one part row by row.
    fn write_part(&self, part: usize, out: &mut [f64]) {
        for (i, row) in out.chunks_exact_mut(self.panels.columns).enumerate() {
            let tiles = self.tiles.chunks_exact(GROUPS).map(|tiles| &tiles[i / ROWS]);
            for (out, tile) in row.chunks_mut(WIDTH).zip(tiles) {
                out.copy_from_slice(&tile[part][i % ROWS].0[..out.len()]);
            }
        }
    }
}

/// Entries of a group of rows, by their signs.
struct Group {
    /// Where a class begins.
    first: [usize; CLASSES + 1],
    /// Which row of the panel meets the entries.
    at: Vec<u32>,
    /// Absolute values.
    entries: Vec<[f64; ROWS]>,
}

impl Group {
    fn new() -> Self {
        Group { first: [0; CLASSES + 1], at: vec![0; DEPTH], entries: vec![[0.0; ROWS]; DEPTH] }
    }

    /// Takes up the entries of these rows; what a row lacks is nought.
    fn sort(&mut self, rows: [&[f64]; ROWS]) {
        let entries = |j: usize| rows.map(|row| row.get(j).copied().unwrap_or(0.0));
        let class = |entries: [f64; ROWS]| {
            entries.iter().rev().fold(0, |class, x| 2 * class + usize::from(*x < 0.0))
        };
        let mut first = [0; CLASSES + 1];
        for j in 0..rows[0].len() {
            first[class(entries(j)) + 1] += 1;
        }
        for c in 0..CLASSES {
            first[c + 1] += first[c];
        }
        let mut next = first;
        for j in 0..rows[0].len() {
            let entries = entries(j);
            let next = &mut next[class(entries)];
            self.at[*next] = j as u32;
            self.entries[*next] = entries.map(f64::abs);
            *next += 1;
        }
        self.first = first;
    }
}

/// Groups to be multiplied by the panels of one layer of $B$.
struct Layer<'a> {
    groups: &'a [Group],
    lines: &'a [Line],
    tiles: &'a mut [Tile],
    panel: &'a mut [Line; DEPTH],
}

impl WithSimd for Layer<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Layer { groups, lines, tiles, panel } = self;
        for (lines, tiles) in lines.chunks_exact(DEPTH).zip(tiles.chunks_exact_mut(GROUPS)) {
            panel.copy_from_slice(lines);
            for (group, tile) in groups.iter().zip(tiles) {
                for class in 0..CLASSES {
                    let range = group.first[class]..group.first[class + 1];
                    if range.is_empty() {
                        continue;
                    }
                    let (at, entries) = (&group.at[range.clone()], &group.entries[range]);
                    if S::F64_LANES * VECTORS <= WIDTH {
                        add_class::<S, VECTORS>(simd, tile, class, at, entries, panel);
                    } else {
                        add_class::<S, { VECTORS / 2 }>(simd, tile, class, at, entries, panel);
                    }
                }
            }
        }
    }
}

/// Adds what the entries of one class come to, `V` vectors of columns at a time.
#[inline(always)]
fn add_class<S: Simd, const V: usize>(
    simd: S,
    tile: &mut Tile,
    class: usize,
    at: &[u32],
    entries: &[[f64; ROWS]],
    panel: &[Line; DEPTH],
) {
    let part = |row: usize| class >> row & 1;
    for from in (0..WIDTH / S::F64_LANES).step_by(V) {
        let mut sums = [[simd.splat_f64s(0.0); V]; ROWS];
        for (row, sums) in sums.iter_mut().enumerate() {
            let line = S::as_simd_f64s(&tile[part(row)][row].0).0;
            sums.copy_from_slice(&line[from..from + V]);
        }
        for (&j, entries) in at.iter().zip(entries) {
            let line = S::as_simd_f64s(&panel[j as usize % DEPTH].0).0;
            let line: &[S::f64s; V] = line[from..from + V].try_into().expect("V vectors");
            // One vector of B at a time: more would not leave a register for every sum.
            for l in 0..V {
                for row in 0..ROWS {
                    let entry = simd.splat_f64s(entries[row]);
                    sums[row][l] = simd.mul_add_e_f64s(entry, line[l], sums[row][l]);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            let line = S::as_mut_simd_f64s(&mut tile[part(row)][row].0).0;
            line[from..from + V].copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::product;
    use crate::rng::{Rng, Stream};
    use crate::run::Run;

    /// A fifth of the entries is nought.
    fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
        let mut rng = Rng::new(seed, Stream::Data);
        let entry = |_| if rng.unit() < 0.2 { 0.0 } else { rng.normal() };
        Matrix::from_vec(rows, columns, (0..rows * columns).map(entry).collect())
    }

    fn parts(a: &Matrix, b: &Matrix) -> [Matrix; 2] {
        let mut out = [(); 2].map(|()| random(a.nrows(), b.ncols(), 9));
        let [plus, minus] = &mut out;
        products_of_parts_into(plus, minus, a, b);
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn they_are_the_products_of_the_parts(
            (n, inner, m) in (1..200usize, prop_oneof![0..20usize, 500..530usize], 0..40usize),
            seed in 0..100u64,
        ) {
            let (a, b) = (random(n, inner, seed), random(inner, m, seed + 1));
            for (sign, found) in [1.0, -1.0].into_iter().zip(parts(&a, &b)) {
                let part = Matrix::from_fn(n, inner, |i, j| (sign * a[(i, j)]).max(0.0));
                let expected = product(part.as_faer(), b.as_faer());
                let pairs = found.as_slice().iter().zip(expected.as_slice());
                // At most 530 terms of size 10, each rounded twice on either side.
                for (x, y) in pairs {
                    prop_assert!((x - y).abs() < 1e-11, "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let (a, b) = (random(300, 600, 6), random(600, 70, 7));
        let on = |threads| Run::new(0).threads(threads).install(|| parts(&a, &b));
        assert_eq!(on(1), on(2));
    }
}
