//! Loops over wide registers: the one place for their width, for rows padded to it, for code that is
//! compiled anew for every number of lanes, and for functions without branches.
//!
//! Nothing is fused, and sums are taken in an order that does not depend on the machine: the same bits
//! everywhere.

// A kernel is compiled for the machine's wide registers only where it is inlined into the closure that
// `vectorised` runs.
#![allow(clippy::inline_always)]

use pulp::{Arch, Simd, WithSimd};

use crate::linalg::Matrix;

/// Calls `work` compiled for the widest registers this machine has.
///
/// Safe loops over slices become vector instructions, if all they call is inlined: mark the closure
/// itself `#[inline(always)]`, and the functions in it. (`pulp::Arch::dispatch` takes closures too,
/// but calls those that change what they captured by way of a function that is not inlined, and so
/// is compiled for the narrowest registers there are.) Nothing is fused or reordered: the result
/// has the same bits on every machine.
///
/// ```
/// use consilience_core::linalg::vectorised;
/// let (x, mut sums) = ([1.0, 2.0, 3.0], [0.5; 3]);
/// vectorised(
///     #[inline(always)]
///     || sums.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x),
/// );
/// assert_eq!(sums, [1.5, 2.5, 3.5]);
/// ```
#[inline(always)]
pub fn vectorised<R>(work: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Work(work))
}

struct Work<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Work<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}

/// Numbers handled together.
pub const LANES: usize = 4;

/// Numbers handled together.
pub type Lane = [f64; LANES];

/// The sum of a lane.
#[inline(always)]
pub fn total(lane: Lane) -> f64 {
    (lane[0] + lane[1]) + (lane[2] + lane[3])
}

/// The inner product of two rows.
#[inline(always)]
pub fn dot(a: &[Lane], b: &[Lane]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    total(sums)
}

/// Adds `x` times one row to another.
#[inline(always)]
pub fn add_scaled(sums: &mut [Lane], x: f64, row: &[Lane]) {
    for (sum, row) in sums.iter_mut().zip(row) {
        // All are read before any is written: else numbers are added one by one.
        let mut next = *sum;
        for l in 0..LANES {
            next[l] += x * row[l];
        }
        *sum = next;
    }
}

/// The largest number of a row.
#[inline(always)]
pub fn largest(row: &[Lane]) -> f64 {
    let mut tops = [f64::NEG_INFINITY; LANES];
    for lane in row {
        for l in 0..LANES {
            tops[l] = if lane[l] > tops[l] { lane[l] } else { tops[l] };
        }
    }
    tops[0].max(tops[1]).max(tops[2].max(tops[3]))
}

/// Calls `$kernel::<B, _>($args, at)` for the lanes `at..at + B` of rows that are `$lanes` lanes long: up
/// to eight of them stay in registers.
#[macro_export]
macro_rules! by_lanes {
    ($lanes:expr, $kernel:ident($($args:expr),*)) => {
        let mut at = 0;
        while at < $lanes {
            match $lanes - at {
                1 => $kernel::<1, _>($($args,)* at),
                2 => $kernel::<2, _>($($args,)* at),
                3 => $kernel::<3, _>($($args,)* at),
                4 => $kernel::<4, _>($($args,)* at),
                5 => $kernel::<5, _>($($args,)* at),
                6 => $kernel::<6, _>($($args,)* at),
                7 => $kernel::<7, _>($($args,)* at),
                _ => $kernel::<8, _>($($args,)* at),
            }
            at += ($lanes - at).min(8);
        }
    };
}

/// Evaluates `$work` with `$width` the number `$lanes`, in a copy of its own for each of the smallest
/// numbers, in which loops over so many lanes are unrolled.
#[macro_export]
macro_rules! unrolled {
    ($lanes:expr, $width:ident => $work:expr) => {
        match $lanes {
            1 => {
                let $width = 1;
                $work
            }
            2 => {
                let $width = 2;
                $work
            }
            3 => {
                let $width = 3;
                $work
            }
            4 => {
                let $width = 4;
                $work
            }
            5 => {
                let $width = 5;
                $work
            }
            $width => $work,
        }
    };
}

/// Numbers that begin where a line of the cache does: no lane lies across two.
#[derive(Clone, Debug)]
pub struct Aligned {
    room: Vec<f64>,
    start: usize,
}

impl Aligned {
    /// Numbers in a line.
    const LINE: usize = 8;

    /// So many zeros.
    pub fn zeros(len: usize) -> Self {
        let room = vec![0.0; len + Self::LINE];
        let start = room.as_ptr().align_offset(Self::LINE * size_of::<f64>()).min(Self::LINE);
        Aligned { room, start }
    }

    fn len(&self) -> usize {
        self.room.len() - Self::LINE
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[f64] {
        &self.room[self.start..][..self.len()]
    }

    /// The numbers, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        let len = self.len();
        &mut self.room[self.start..][..len]
    }

    /// The numbers in whole lanes.
    pub fn lanes(&self) -> &[Lane] {
        self.as_slice().as_chunks().0
    }

    /// The numbers in whole lanes, to be written.
    pub fn lanes_mut(&mut self) -> &mut [Lane] {
        self.as_mut_slice().as_chunks_mut().0
    }
}

/// The rows of a matrix, each padded to whole lanes.
#[derive(Clone, Debug)]
pub struct Wide {
    /// The columns of the matrix.
    pub columns: usize,
    /// The lanes of a row.
    pub lanes: usize,
    /// The rows, one after the other.
    pub values: Aligned,
}

impl Wide {
    /// The rows of `matrix`, padded with zeros.
    pub fn new(matrix: &Matrix) -> Self {
        let (columns, lanes) = (matrix.ncols(), matrix.ncols().div_ceil(LANES).max(1));
        let mut values = Aligned::zeros(matrix.nrows() * lanes * LANES);
        let padded = values.as_mut_slice().chunks_exact_mut(lanes * LANES);
        for (padded, row) in padded.zip(matrix.iter_rows()) {
            padded[..columns].copy_from_slice(row);
        }
        Wide { columns, lanes, values }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[Lane] {
        &self.values.lanes()[i * self.lanes..][..self.lanes]
    }
}

/// $e^t$ without branches, so that loops over it vectorise; within a few roundings. Below -708, where
/// the result would lose bits, it is that of -708; above 709 it is that of 709. Multiplications and
/// additions are not fused, so all machines give the same bits.
///
/// With $t = n \ln 2 + s$, $\lvert s \rvert \le \tfrac12 \ln 2$: $e^t = 2^n (1 + s + s^2/2 + \ldots)$;
/// thirteen powers reach the last bit.
#[inline(always)]
pub fn exp_branchless(t: f64) -> f64 {
    // Adding and subtracting this rounds to the nearest whole number, which its low bits then hold.
    const ROUNDER: f64 = (3u64 << 51) as f64;
    const LN_2_HIGH: f64 = f64::from_bits(std::f64::consts::LN_2.to_bits() & !0xffff_ffff);
    const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;
    const MANTISSA: u32 = 52;

    let t = t.clamp(-708.0, 709.0);
    let shifted = t * std::f64::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let s = (t - n * LN_2_HIGH) - n * LN_2_LOW;
    let mut sum = 1.0 / 6_227_020_800.0;
    for power in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        sum = sum * s + 1.0 / power;
    }
    let scale = shifted.to_bits().wrapping_add(1023) << MANTISSA;
    sum * f64::from_bits(scale)
}

/// $t \ln t$ for $t \ge 0$ without branches, so that loops over it vectorise; within a few roundings
/// of [`xlogx`](crate::linalg::xlogx).
#[inline(always)]
pub fn xlogx_branchless(t: f64) -> f64 {
    // The logarithm of 0 is finite here, and the product 0.
    t * ln_branchless(t)
}

/// $\ln t$ for normal $t > 0$ without branches, so that loops over it vectorise; within a few roundings.
/// Multiplications and additions are not fused, so all machines give the same bits. Of 0 it makes some
/// finite number.
///
/// With $t = 2^e m$, $m \in [\sqrt{1/2}, \sqrt 2)$ and $s = (m - 1) / (m + 1)$:
/// $\ln t = e \ln 2 + 2 (s + s^3 / 3 + s^5 / 5 + \ldots)$; as $s^2 < 0.0295$, eleven terms reach
/// the last bit.
#[inline(always)]
pub fn ln_branchless(t: f64) -> f64 {
    const MANTISSA: u32 = 52;
    const ONE: u64 = 1.0f64.to_bits();
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    // The upper part has trailing zeros enough for the product with any exponent to be exact.
    const LN_2_HIGH: f64 = f64::from_bits(std::f64::consts::LN_2.to_bits() & !0xffff_ffff);
    const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;
    // As an integer below 2^52 the exponent becomes a float by way of its bits: there is no
    // vector instruction for that conversion before AVX-512.
    const TWO_52: u64 = ((1u64 << 52) as f64).to_bits();

    const INVERSE_ODD: [f64; 10] = [
        1.0 / 3.0,
        1.0 / 5.0,
        1.0 / 7.0,
        1.0 / 9.0,
        1.0 / 11.0,
        1.0 / 13.0,
        1.0 / 15.0,
        1.0 / 17.0,
        1.0 / 19.0,
        1.0 / 21.0,
    ];

    let bits = t.to_bits();
    let exponent = bits.wrapping_sub(SQRT_HALF).wrapping_add(ONE) >> MANTISSA;
    let m = f64::from_bits(bits.wrapping_sub(exponent << MANTISSA).wrapping_add(ONE));
    let e = f64::from_bits(exponent | TWO_52) - (f64::from_bits(TWO_52) + 1023.0);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let tail = z * INVERSE_ODD.iter().rev().fold(0.0, |tail, inverse| inverse + z * tail);
    let small = 2.0 * s;
    e * LN_2_HIGH + (small + (small * tail + e * LN_2_LOW))
}

/// $\psi(x)$ without branches, for $0 < x < 10^{20}$, as $\ln z + t$: gives $z$ and $t$.
///
/// $\psi$ and $\ln\Gamma$ have asymptotic series that are exact to the last digits from 10 on. With
/// $z = x + 10$ and $P(x) = x (x + 1) \cdots (x + 9)$,
///
/// $$ \psi(x) = \psi(z) - \frac{P'(x)}{P(x)}, \qquad \ln\Gamma(x) = \ln\Gamma(z) - \ln P(x), $$
///
/// and as $(x + i)(x + 9 - i) = y + i (9 - i)$ with $y = x^2 + 9 x$, $P$ has degree 5 in $y$. Nothing in
/// $P'/P$ cancels.
#[inline(always)]
pub fn digamma_parts(x: f64) -> (f64, f64) {
    let z = x + 10.0;
    let (p, slope) = rising(x);
    let inverse = 1.0 / z;
    let q = inverse * inverse;
    let series = q
        * (1.0 / 12.0
            - q * (1.0 / 120.0
                - q * (1.0 / 252.0
                    - q * (1.0 / 240.0 - q * (1.0 / 132.0 - q * (691.0 / 32_760.0))))));
    (z, -(slope / p) - (0.5 * inverse + series))
}

/// $\psi(x) = \ln z + t$ and $\ln\Gamma(x) = (z - \tfrac12) \ln z + g - \ln P(x)$ with one $z$.
#[derive(Clone, Copy, Debug)]
pub struct GammaParts {
    /// $z$.
    pub z: f64,
    /// $t$.
    pub digamma: f64,
    /// $g$.
    pub ln_gamma: f64,
    /// $P(x)$.
    pub rising: f64,
}

/// The parts of $\psi(x)$ and $\ln\Gamma(x)$.
#[inline(always)]
pub fn gamma_parts(x: f64) -> GammaParts {
    const HALF_LN_TAU: f64 = 0.918_938_533_204_672_7;
    let (z, digamma) = digamma_parts(x);
    let inverse = 1.0 / z;
    let q = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - q * (1.0 / 360.0
                - q * (1.0 / 1260.0
                    - q * (1.0 / 1680.0 - q * (1.0 / 1188.0 - q * (691.0 / 360_360.0))))));
    GammaParts { z, digamma, ln_gamma: series + HALF_LN_TAU - z, rising: rising(x).0 }
}

/// $\psi(x)$.
#[inline(always)]
pub fn digamma_branchless(x: f64) -> f64 {
    let (z, t) = digamma_parts(x);
    ln_branchless(z) + t
}

/// $\ln\Gamma(x)$.
#[inline(always)]
pub fn ln_gamma_branchless(x: f64) -> f64 {
    let GammaParts { z, ln_gamma, rising, .. } = gamma_parts(x);
    (z - 0.5) * ln_branchless(z) + ln_gamma - ln_branchless(rising)
}

/// $P(x)$ and $P'(x)$.
#[inline(always)]
fn rising(x: f64) -> (f64, f64) {
    let y = x * (x + 9.0);
    let p = y * ((((y + 60.0) * y + 1308.0) * y + 12_176.0) * y + 40_320.0);
    let by_y = (((5.0 * y + 240.0) * y + 3924.0) * y + 24_352.0) * y + 40_320.0;
    (p, by_y * (2.0 * x + 9.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::xlogx;
    use proptest::prelude::*;

    #[test]
    fn kernels_do_what_they_say() {
        let (a, b) = ([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], [[2.0; 4], [-1.0; 4]]);
        assert_eq!((dot(&a, &b), largest(&a), largest(&b)), (-6.0, 8.0, 2.0));
        let mut sums = b;
        add_scaled(&mut sums, 2.0, &a);
        assert_eq!(sums, [[4.0, 6.0, 8.0, 10.0], [9.0, 11.0, 13.0, 15.0]]);
        for lanes in 1..9 {
            let row = vec![[1.0; LANES]; 9];
            let sum: f64 = unrolled!(lanes, width => dot(&row[..width], &row[..width]));
            assert_eq!(sum, (lanes * LANES) as f64);
        }
    }

    #[test]
    fn rows_are_padded_with_zeros() {
        let wide = Wide::new(&Matrix::from_fn(3, 5, |i, j| (10 * i + j) as f64));
        assert_eq!((wide.columns, wide.lanes), (5, 2));
        assert_eq!(wide.row(1), [[10.0, 11.0, 12.0, 13.0], [14.0, 0.0, 0.0, 0.0]]);
    }

    fn assert_exp(t: f64) {
        let (fast, exact) = (exp_branchless(t), t.exp());
        assert!((fast - exact).abs() <= 4.0 * f64::EPSILON * exact, "{t}: {fast} {exact}");
    }

    #[test]
    fn the_exponential_at_its_ends() {
        assert_eq!(exp_branchless(0.0).to_bits(), 1f64.to_bits());
        for t in [-708.0, -707.9, -1.0, 1e-300, 1.0, 708.9, 709.0] {
            assert_exp(t);
        }
        assert_eq!(exp_branchless(-1e6).to_bits(), exp_branchless(-708.0).to_bits());
        assert_eq!(exp_branchless(1e6).to_bits(), exp_branchless(709.0).to_bits());
    }

    /// The errors of s, of the sum and of the product: some four units in the last place.
    fn assert_xlogx(t: f64) {
        let (fast, exact) = (xlogx_branchless(t), xlogx(t));
        assert!((fast - exact).abs() <= 4.0 * f64::EPSILON * exact.abs(), "{t}: {fast} {exact}");
    }

    #[test]
    fn the_logarithm_at_the_edges() {
        assert_eq!((xlogx_branchless(0.0), xlogx_branchless(1.0)), (0.0, 0.0));
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for t in [half, half.next_down(), half.next_up(), 1f64.next_up(), 1f64.next_down()] {
            assert_xlogx(t);
            assert_xlogx(2.0 * t);
        }
        assert_xlogx(f64::MIN_POSITIVE);
        assert_xlogx(1e300);
    }

    #[test]
    fn gamma_functions_at_known_places() {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let (digamma, ln_gamma) = (digamma_branchless, ln_gamma_branchless);
        assert!((digamma(1.0) + EULER).abs() < 1e-14);
        assert!((digamma(0.5) + EULER + 4f64.ln()).abs() < 1e-14);
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn the_exponential_agrees(t in prop_oneof![-708.0..709.0, -1.0..1.0]) {
            assert_exp(t);
        }

        #[test]
        fn the_logarithm_agrees(t in prop_oneof![0.0..2.0, 0.0..1e9, 1e-12..1e-9]) {
            assert_xlogx(t);
        }

        /// $\psi(x + 1) = \psi(x) + 1/x$ and $\Gamma(x + 1) = x \Gamma(x)$.
        #[test]
        fn gamma_functions_climb_as_they_should(x in 1e-3..100.0f64) {
            let climb = digamma_branchless(x + 1.0) - digamma_branchless(x);
            prop_assert!((climb * x - 1.0).abs() < 1e-12 * (1.0 + x * 10.0));
            let climb = ln_gamma_branchless(x + 1.0) - ln_gamma_branchless(x);
            prop_assert!((climb - x.ln()).abs() < 1e-12 * (1.0 + x * x.ln().abs()));
        }
    }
}
