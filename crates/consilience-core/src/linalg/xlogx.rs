//! $f(t) = t \ln t$, the term that entropies and mutual informations are sums of.

use rayon::prelude::*;

/// $t \ln t$, with $f(0) = 0$.
pub fn xlogx(t: f64) -> f64 {
    if t > 0.0 { t * t.ln() } else { 0.0 }
}

/// $t \ln t$ for $t \ge 0$ without branches, so that loops over it vectorise; within a few roundings
/// of [`xlogx`].
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

/// $f(t) = t \ln t$ at the whole numbers $0 \ldots n$: a logarithm less in every inner loop over
/// counts.
#[derive(Clone, Debug)]
pub struct XLogXTable(Vec<f64>);

impl XLogXTable {
    /// The table up to and including `n`.
    pub fn up_to(n: usize) -> Self {
        XLogXTable((0..=n).into_par_iter().map(|t| xlogx(t as f64)).collect())
    }

    /// $f(t)$.
    ///
    /// # Panics
    ///
    /// If `t` is above the table's end.
    #[inline(always)]
    pub fn at(&self, t: u32) -> f64 {
        self.0[t as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table_holds_the_function_bit_by_bit() {
        let table = XLogXTable::up_to(1000);
        for t in 0..=1000 {
            assert_eq!(table.at(t).to_bits(), xlogx(f64::from(t)).to_bits());
        }
        assert_eq!((xlogx(0.0), xlogx(1.0)), (0.0, 0.0));
    }

    /// The errors of s, of the sum and of the product: some four units in the last place.
    fn assert_close(t: f64) {
        let (fast, exact) = (xlogx_branchless(t), xlogx(t));
        assert!((fast - exact).abs() <= 4.0 * f64::EPSILON * exact.abs(), "{t}: {fast} {exact}");
    }

    #[test]
    fn branchless_at_the_edges() {
        assert_eq!((xlogx_branchless(0.0), xlogx_branchless(1.0)), (0.0, 0.0));
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for t in [half, half.next_down(), half.next_up(), 1f64.next_up(), 1f64.next_down()] {
            assert_close(t);
            assert_close(2.0 * t);
        }
        assert_close(f64::MIN_POSITIVE);
        assert_close(1e300);
    }

    proptest! {
        #[test]
        fn branchless_agrees(t in prop_oneof![0.0..2.0, 0.0..1e9, 1e-12..1e-9]) {
            assert_close(t);
        }
    }
}
