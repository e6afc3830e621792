//! Exponentials, logarithms, powers and angles with the same bits on every machine.
//!
//! The methods of `f64` call the mathematical library of the operating system. Those of glibc, musl and
//! Windows round some results differently, and glibc takes another routine again on a processor that
//! multiplies and adds in one step: the last bit of `x.ln()` is not the same everywhere, and with a tie
//! neither are the labels. These are written in Rust with plain arithmetic alone, which IEEE 754 fixes.
//! Square roots and what is made of whole products (`sqrt`, `powi(2)`) are exact in `f64` already.
//!
//! Cost: `ln` and `exp` take twice as long as those of glibc (4.3 and 5.5 ns against 2.7), `pow` four times
//! (30 against 8), angles as long. Loops over many numbers use
//! [`exp_branchless`](crate::linalg::exp_branchless) and [`ln_branchless`](crate::linalg::ln_branchless), which
//! are faster than either.

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident = $of:ident($($x:ident),+);)+) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $name($($x: f64),+) -> f64 {
            libm::$of($($x),+)
        }
    )+};
}

functions! {
    /// $e^x$.
    exp = exp(x);
    /// $2^x$.
    exp2 = exp2(x);
    /// $\ln x$.
    ln = log(x);
    /// $\log_2 x$.
    log2 = log2(x);
    /// $x^y$.
    pow = pow(x, y);
    /// The sine of an angle in radians.
    sin = sin(x);
    /// The cosine of an angle in radians.
    cos = cos(x);
    /// The inverse of the hyperbolic cosine.
    acosh = acosh(x);
    /// $\sqrt{x^2 + y^2}$, which does not overflow on the way.
    hypot = hypot(x, y);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What one machine gave, and all others must give too.
    #[test]
    fn bits_are_the_same_on_every_machine() {
        let all = [
            exp(-0.3),
            exp(1.7),
            exp2(0.1),
            ln(0.3),
            ln(7.1),
            log2(0.7),
            pow(0.3, 1.7),
            sin(2.5),
            cos(5.1),
            acosh(1.5),
            hypot(0.3, 0.4),
        ];
        let bits = all.map(f64::to_bits);
        assert_eq!(
            bits,
            [
                0x3fe7_b4c8_69c3_7c05,
                0x4015_e552_770d_f8a6,
                0x3ff1_25fb_ee25_0664,
                0xbff3_4378_fcbd_a721,
                0x3fff_5c8c_5928_b0f9,
                0xbfe0_7762_2896_7d13,
                0x3fc0_8819_f76d_9f8d,
                0x3fe3_26af_0dcf_cab0,
                0x3fd8_30c9_8ee4_5c9c,
                0x3fee_cc2c_aec5_160a,
                0x3fe0_0000_0000_0000
            ]
        );
    }

    proptest! {
        #[test]
        fn they_are_near_those_of_the_system(x in 1e-9f64..50.0, y in -4.0f64..4.0) {
            let near = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b.abs().max(f64::MIN_POSITIVE);
            prop_assert!(near(exp(y * x), (y * x).exp()));
            prop_assert!(near(exp2(y), y.exp2()));
            prop_assert!(near(ln(x), x.ln()) && near(log2(x), x.log2()));
            prop_assert!(near(pow(x, y), x.powf(y)));
            prop_assert!((sin(x) - x.sin()).abs() < 1e-15 && (cos(x) - x.cos()).abs() < 1e-15);
            // That of Rust loses digits just above 1.
            prop_assert!(near(acosh(1.1 + x), (1.1 + x).acosh()));
            prop_assert!(near(hypot(x, y), x.hypot(y)));
        }
    }
}
