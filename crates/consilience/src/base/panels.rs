//! Nearest centres by a blocked matrix product in single precision, exact all the same.
//!
//! With $h_j = \lVert c_j \rVert^2 / 2$, the nearest centre of $x$ is the one of least
//! $s_j = h_j - x \cdot c_j$, and the products of many rows with many centres are one matrix
//! product. It runs in `f32`: twice the speed of `f64`, half the memory traffic. What rounding can
//! do to $s_j$ is bounded by
//!
//! $$ |\hat s_j - s_j| \le (d + 8)\, 2^{-24} \lVert c_j \rVert (\lVert x \rVert + \lVert c_j \rVert), $$
//!
//! so a centre whose upper bound is below all others' lower bounds *is* the nearest. Where two
//! centres are too close to call, their distances are computed directly in `f64`. The answer is
//! that of the plain search, bit by bit; the machine's registers decide only how fast it comes.
//!
//! Rows are stored in panels of [`PANEL`] rows, feature by feature, so that one register holds one
//! feature of several rows: packed once, read in every iteration.

use pulp::{Simd, WithSimd};

use crate::base::distance::{nearest, squared_distance};
use crate::base::table::Float;
use crate::linalg::Matrix;

/// Rows of a panel: two registers of AVX2, one of AVX-512, four of NEON.
pub(super) const PANEL: usize = 16;

/// Centres farther out than the square root of this, in units of the frame, cannot be written in
/// `f32`; only centres given by the user can be. Searches among them are direct.
const MAX_SQUARE: f64 = (1u128 << 100) as f64;

/// The largest number of columns for which the bound above is used with its constant factor of
/// safety, $d\, 2^{-24} \ll 1$. Wider tables are searched directly.
const MAX_COLUMNS: usize = 1 << 17;

/// The coordinates that panels are written in: shifted by a point amid the data, because norms
/// enter the error bound, and scaled by a power of two, because `f32` must not overflow.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    shift: Vec<f64>,
    scale: f64,
}

impl Frame {
    /// A frame around `shift` for coordinates of magnitude at most `largest`.
    pub(super) fn new(shift: Vec<f64>, largest: f64) -> Self {
        let reach = shift.iter().fold(largest, |a, b| a.max(b.abs()));
        // The power of two next below 1 / (2 reach), or 1 if everything is 0.
        let exponent = (reach.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let scale = if reach > 0.0 { 2f64.powi((-exponent - 2).min(1000)) } else { 1.0 };
        Frame { shift, scale }
    }

    /// What one unit of the data is in the frame.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Writes up to [`PANEL`] rows into a panel and bounds on their norms into `norms`; `visit` is
    /// told the squared norm of each in turn.
    pub(super) fn pack<'a, T: Float>(
        &self,
        rows: impl Iterator<Item = &'a [T]>,
        panel: &mut [f32],
        norms: &mut [f32],
        mut visit: impl FnMut(f64),
    ) {
        for (l, row) in rows.enumerate() {
            let mut square = 0.0;
            for ((x, shift), panel) in row.iter().zip(&self.shift).zip(panel.as_chunks_mut().0) {
                let panel: &mut [f32; PANEL] = panel;
                let x = (x.to_f64() - shift) * self.scale;
                square += x * x;
                panel[l] = x as f32;
            }
            norms[l] = upward(square.sqrt());
            visit(square);
        }
    }
}

/// A norm in `f32`, not below what it was: enough is added to cover the rounding of the sum of
/// squares as well.
#[inline(always)]
fn upward(norm: f64) -> f32 {
    (norm * (1.0 + 1e-6)) as f32
}

/// Centres, packed for products with panels.
#[derive(Clone, Debug)]
pub(super) struct PackedCentres<'a> {
    centres: &'a Matrix,
    /// Blocks of a few centres, feature by feature.
    values: Vec<f32>,
    /// How many centres each block has.
    blocks: Vec<usize>,
    terms: Vec<Terms>,
    /// Whether the products are of no use.
    direct: bool,
}

/// What $s_j$ and its error bound take from centre $j$ besides the product.
#[derive(Clone, Copy, Debug)]
struct Terms {
    half_square: f32,
    /// The error bound is `slope` times the row's norm, plus `offset`.
    slope: f32,
    offset: f32,
}

impl<'a> PackedCentres<'a> {
    pub(super) fn new(centres: &'a Matrix, frame: &Frame) -> Self {
        let (k, d) = (centres.nrows(), centres.ncols());
        let count = k.div_ceil(widest_block());
        let blocks: Vec<usize> =
            (0..count).map(|b| k / count + usize::from(b < k % count)).collect();
        let mut values = vec![0.0; k * d];
        let mut terms = Vec::with_capacity(k);
        let mut direct = d > MAX_COLUMNS;
        let mut first = 0;
        for &width in &blocks {
            let block = &mut values[first * d..(first + width) * d];
            for j in 0..width {
                let mut square = 0.0;
                for (f, (x, shift)) in centres.row(first + j).iter().zip(&frame.shift).enumerate() {
                    let x = (x - shift) * frame.scale;
                    square += x * x;
                    block[f * width + j] = x as f32;
                }
                direct |= square > MAX_SQUARE;
                terms.push(Terms::new(square, d));
            }
            first += width;
        }
        PackedCentres { centres, values, blocks, terms, direct }
    }
}

impl Terms {
    fn new(square: f64, d: usize) -> Self {
        let norm = f64::from(upward(square.sqrt()));
        let d = (d + 8) as f64;
        // A twentieth on top covers what the bounds themselves lose to rounding.
        let slope = 1.05 * d * 2f64.powi(-24) * norm;
        // Besides the bound for normal numbers: what direct distances lose to rounding in f64, and
        // products below the smallest normal f32.
        let offset = slope * norm + d * (2f64.powi(-50) * square + 2f64.powi(-130));
        Terms { half_square: (square / 2.0) as f32, slope: slope as f32, offset: offset as f32 }
    }
}

/// What the search found out about the rows of one panel.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The centre with the least upper bound.
    index: [f32; PANEL],
    /// The least upper bound of any $s_j$.
    upper: [f32; PANEL],
    /// The second least lower bound of any $s_j$.
    lower: [f32; PANEL],
    /// By how much the distance to the nearest centre is below that to any other, in units of the
    /// frame; may be negative, and is a lower bound.
    pub(super) margin: [f32; PANEL],
}

/// A search for nearest centres, with the buffers it needs.
pub(super) struct Search<'a> {
    arch: pulp::Arch,
    centres: &'a PackedCentres<'a>,
    /// $s_j$ for every centre and row of the panel at hand.
    tile: Vec<f32>,
    found: Found,
}

impl<'a> Search<'a> {
    pub(super) fn new(centres: &'a PackedCentres<'a>) -> Self {
        let zeros = [0.0; PANEL];
        let found = Found { index: zeros, upper: zeros, lower: zeros, margin: zeros };
        let tile = vec![0.0; centres.terms.len() * PANEL];
        Search { arch: pulp::Arch::new(), centres, tile, found }
    }

    /// Finds the nearest centre of each of the first `rows` rows of a panel, of which `row(l)` is
    /// number `l`: `take(l, centre, margin)` hears of it.
    pub(super) fn panel<'r, T: Float>(
        &mut self,
        panel: &[f32],
        norms: &[f32],
        rows: usize,
        row: impl Fn(usize) -> &'r [T],
        mut take: impl FnMut(usize, u32, f32),
    ) {
        if self.centres.direct {
            for l in 0..rows {
                take(l, nearest(row(l), self.centres.centres).0, f32::NEG_INFINITY);
            }
            return;
        }
        let Search { arch, centres, tile, found } = self;
        arch.dispatch(Scan { panel, norms, centres, tile, found });
        for l in 0..rows {
            // Twice what a direct distance of the row may lose to rounding in f64, generously.
            let own = norms[l] * norms[l] * 1e-7;
            if self.found.lower[l] - self.found.upper[l] > own {
                take(l, self.found.index[l] as u32, self.found.margin[l]);
            } else {
                take(l, self.settle(l, norms[l], own, row(l)), f32::NEG_INFINITY);
            }
        }
    }

    /// The nearest among the centres that may be it, by direct distances.
    #[cold]
    fn settle<T: Float>(&self, l: usize, norm: f32, own: f32, row: &[T]) -> u32 {
        let limit = self.found.upper[l] + own;
        let mut best = (0, f64::INFINITY);
        for (j, terms) in self.centres.terms.iter().enumerate() {
            let error = terms.slope * norm + terms.offset;
            if self.tile[j * PANEL + l] - error <= limit {
                let distance = squared_distance(row, self.centres.centres.row(j));
                if distance < best.1 {
                    best = (j as u32, distance);
                }
            }
        }
        best.0
    }
}

/// One panel against all centres, compiled for the machine's registers.
struct Scan<'a> {
    panel: &'a [f32],
    norms: &'a [f32],
    centres: &'a PackedCentres<'a>,
    tile: &'a mut [f32],
    found: &'a mut Found,
}

impl WithSimd for Scan<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        products(simd, self.panel, self.centres, self.tile);
        compare(simd, self.norms, &self.centres.terms, self.tile, self.found);
    }
}

/// Centres of one block: as many as leave registers for two of rows and one of a centre.
fn widest_block() -> usize {
    struct Widest;
    impl WithSimd for Widest {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            match S::F32_LANES {
                16 => 12,
                8 => 6,
                4 => 4,
                _ => 1,
            }
        }
    }
    pulp::Arch::new().dispatch(Widest)
}

/// $s_j$ for all centres and the rows of one panel.
#[inline(always)]
fn products<S: Simd>(simd: S, panel: &[f32], centres: &PackedCentres<'_>, tile: &mut [f32]) {
    match S::F32_LANES {
        16 => all_blocks::<S, 1>(simd, panel, centres, tile),
        8 => all_blocks::<S, 2>(simd, panel, centres, tile),
        4 => all_blocks::<S, 4>(simd, panel, centres, tile),
        _ => all_blocks::<S, PANEL>(simd, panel, centres, tile),
    }
}

#[inline(always)]
fn all_blocks<S: Simd, const REGISTERS: usize>(
    simd: S,
    panel: &[f32],
    centres: &PackedCentres<'_>,
    tile: &mut [f32],
) {
    let d = centres.centres.ncols();
    let (mut values, mut terms, mut tile) = (&centres.values[..], &centres.terms[..], tile);
    for &width in &centres.blocks {
        let (block, rest) = values.split_at(width * d);
        let (own, other) = terms.split_at(width);
        let (out, left) = tile.split_at_mut(width * PANEL);
        (values, terms, tile) = (rest, other, left);
        macro_rules! widths {
            ($($width:literal)*) => {
                match width {
                    $($width => one_block::<S, REGISTERS, $width>(simd, panel, block, own, out),)*
                    _ => unreachable!("no block is wider"),
                }
            };
        }
        widths!(1 2 3 4 5 6 7 8 9 10 11 12);
    }
}

#[inline(always)]
fn one_block<S: Simd, const REGISTERS: usize, const WIDTH: usize>(
    simd: S,
    panel: &[f32],
    block: &[f32],
    terms: &[Terms],
    tile: &mut [f32],
) {
    let rows = S::as_simd_f32s(panel).0.as_chunks::<REGISTERS>().0;
    let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; WIDTH];
    for (x, c) in rows.iter().zip(block.as_chunks::<WIDTH>().0) {
        for j in 0..WIDTH {
            let c = simd.splat_f32s(c[j]);
            for i in 0..REGISTERS {
                sums[j][i] = simd.mul_add_e_f32s(x[i], c, sums[j][i]);
            }
        }
    }
    let tile = S::as_mut_simd_f32s(tile).0.as_chunks_mut::<REGISTERS>().0;
    for j in 0..WIDTH {
        let half = simd.splat_f32s(terms[j].half_square);
        for i in 0..REGISTERS {
            tile[j][i] = simd.sub_f32s(half, sums[j][i]);
        }
    }
}

/// The least upper and the second least lower bound of every row.
#[inline(always)]
fn compare<S: Simd>(simd: S, norms: &[f32], terms: &[Terms], tile: &[f32], found: &mut Found) {
    let norms = S::as_simd_f32s(norms).0;
    let registers = norms.len();
    let tile = S::as_simd_f32s(tile).0;
    let (index, _) = S::as_mut_simd_f32s(&mut found.index);
    let (upper, _) = S::as_mut_simd_f32s(&mut found.upper);
    let (lower, _) = S::as_mut_simd_f32s(&mut found.lower);
    let (margin, _) = S::as_mut_simd_f32s(&mut found.margin);
    let infinity = simd.splat_f32s(f32::INFINITY);
    let zero = simd.splat_f32s(0.0);
    let (two, more, less) =
        (simd.splat_f32s(2.0), simd.splat_f32s(1.0 + 1e-6), simd.splat_f32s(1.0 - 1e-6));
    // Norms were rounded up by a millionth; this takes it away again, and more.
    let least_square = simd.splat_f32s(1.0 - 4e-6);
    for i in 0..registers {
        let norm = norms[i];
        let (mut at, mut up, mut least, mut second) = (zero, infinity, infinity, infinity);
        for (j, (terms, s)) in terms.iter().zip(tile[i..].iter().step_by(registers)).enumerate() {
            let error = simd.mul_add_e_f32s(
                simd.splat_f32s(terms.slope),
                norm,
                simd.splat_f32s(terms.offset),
            );
            let high = simd.add_f32s(*s, error);
            let low = simd.sub_f32s(*s, error);
            at = simd.select_f32s(simd.less_than_f32s(high, up), simd.splat_f32s(j as f32), at);
            up = simd.min_f32s(up, high);
            second = simd.min_f32s(second, simd.max_f32s(low, least));
            least = simd.min_f32s(least, low);
        }
        (index[i], upper[i], lower[i]) = (at, up, second);
        // Squared distances are the row's square plus twice s; what that loses to rounding is a
        // few units in the last place of the square, and of the root.
        let square = simd.mul_f32s(norm, norm);
        let above = simd.mul_add_e_f32s(two, up, simd.mul_f32s(square, more));
        let below = simd.mul_add_e_f32s(two, second, simd.mul_f32s(square, least_square));
        let nearest = simd.mul_f32s(simd.sqrt_f32s(simd.max_f32s(above, zero)), more);
        let other = simd.mul_f32s(simd.sqrt_f32s(simd.max_f32s(below, zero)), less);
        margin[i] = simd.sub_f32s(other, nearest);
    }
}
