//! The exponential without branches.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_close(t: f64) {
        let (fast, exact) = (exp_branchless(t), t.exp());
        assert!((fast - exact).abs() <= 4.0 * f64::EPSILON * exact, "{t}: {fast} {exact}");
    }

    #[test]
    fn the_ends() {
        assert_eq!(exp_branchless(0.0).to_bits(), 1f64.to_bits());
        for t in [-708.0, -707.9, -1.0, 1e-300, 1.0, 708.9, 709.0] {
            assert_close(t);
        }
        assert_eq!(exp_branchless(-1e6).to_bits(), exp_branchless(-708.0).to_bits());
        assert_eq!(exp_branchless(1e6).to_bits(), exp_branchless(709.0).to_bits());
    }

    proptest! {
        #[test]
        fn it_agrees(t in prop_oneof![-708.0..709.0, -1.0..1.0]) {
            assert_close(t);
        }
    }
}
