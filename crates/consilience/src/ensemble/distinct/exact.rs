//! Sums that do not depend on the order of their terms.
//!
//! Weights of objects come in the order of a file, of a folder of files, or of whatever a cluster of
//! machines finished first. A sum of floats rounds at every step, so its last bits would tell that
//! order. Here a sum is kept as a few floats that do not overlap and whose total is exact (Shewchuk
//! 1997), and is rounded once, when it is asked for.

/// A sum of finite floats without any rounding.
///
/// ```
/// use consilience::ensemble::ExactSum;
/// let sum = |terms: [f64; 3]| terms.into_iter().collect::<ExactSum>().value();
/// assert_eq!(sum([1e16, 1.0, 1.0]), sum([1.0, 1.0, 1e16]));
/// assert_ne!(1e16 + 1.0 + 1.0, 1.0 + 1.0 + 1e16);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactSum {
    /// By rising magnitude; no two have bits of the same value.
    parts: Vec<f64>,
}

impl ExactSum {
    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        let mut high = term;
        let mut kept = 0;
        for i in 0..self.parts.len() {
            let part = self.parts[i];
            let (large, small) = if high.abs() < part.abs() { (part, high) } else { (high, part) };
            high = large + small;
            let low = small - (high - large);
            if low != 0.0 {
                self.parts[kept] = low;
                kept += 1;
            }
        }
        self.parts.truncate(kept);
        if !high.is_finite() {
            self.parts.clear();
        }
        if high != 0.0 {
            self.parts.push(high);
        }
    }

    /// Adds the terms of another sum.
    pub fn merge(&mut self, other: &ExactSum) {
        other.parts.iter().for_each(|&part| self.add(part));
    }

    /// Forgets all terms.
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    /// Floats whose exact total is the sum: added to another sum they are all its terms.
    pub fn parts(&self) -> &[f64] {
        &self.parts
    }

    /// The float nearest to the sum, the even one of two.
    pub fn value(&self) -> f64 {
        let mut parts = self.parts.iter().rev().copied();
        let Some(mut high) = parts.next() else { return 0.0 };
        let mut low = 0.0;
        for part in parts.by_ref() {
            let before = high;
            high = before + part;
            low = part - (high - before);
            if low != 0.0 {
                break;
            }
        }
        // Half-way cases were rounded without regard to what follows.
        if let Some(next) = parts.next()
            && ((low < 0.0 && next < 0.0) || (low > 0.0 && next > 0.0))
        {
            let twice = 2.0 * low;
            let other = high + twice;
            if other - high == twice {
                high = other;
            }
        }
        high
    }
}

impl FromIterator<f64> for ExactSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = ExactSum::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The slow, obvious version: whole multiples of a power of two so small that nothing is lost.
    fn by_integers(terms: &[(i64, u32)]) -> f64 {
        let total: i128 = terms.iter().map(|&(x, shift)| i128::from(x) << shift).sum();
        // The conversion rounds once.
        total as f64
    }

    fn float((x, shift): (i64, u32)) -> f64 {
        x as f64 * 2f64.powi(shift as i32)
    }

    proptest! {
        #[test]
        fn a_sum_is_rounded_once_whatever_the_order(
            terms in prop::collection::vec((-(1i64 << 53)..=1 << 53, 0u32..60), 0..40),
            split in any::<prop::sample::Index>(),
            rotate in any::<prop::sample::Index>(),
        ) {
            let expected = by_integers(&terms);
            let floats: Vec<f64> = terms.iter().copied().map(float).collect();
            let forward: ExactSum = floats.iter().copied().collect();
            prop_assert_eq!(forward.value(), expected);
            if !floats.is_empty() {
                let mut turned = floats.clone();
                turned.rotate_left(rotate.index(floats.len()));
                let (head, tail) = turned.split_at(split.index(floats.len()));
                let mut merged: ExactSum = tail.iter().rev().copied().collect();
                merged.merge(&head.iter().copied().collect());
                prop_assert_eq!(merged.value(), expected);
                let again: ExactSum = forward.parts().iter().rev().copied().collect();
                prop_assert_eq!(again.value(), expected);
            }
        }
    }

    #[test]
    fn half_way_cases_see_what_follows() {
        // 2^53 + 1 lies half-way; the last term decides, and alone the even one is taken.
        let sum = |terms: &[f64]| terms.iter().copied().collect::<ExactSum>().value();
        let half = 2f64.powi(53);
        assert_eq!(sum(&[half, 1.0]), half);
        assert_eq!(sum(&[half, 1.0, 2f64.powi(-60)]), half + 2.0);
        assert_eq!(sum(&[half, 1.0, -2f64.powi(-60)]), half);
        assert_eq!(sum(&[half + 2.0, 1.0]), half + 4.0);
    }

    #[test]
    fn nothing_sums_to_zero_and_too_much_to_infinity() {
        assert_eq!(ExactSum::default().value(), 0.0);
        let mut sum: ExactSum = [f64::MAX, f64::MAX, 1.0].into_iter().collect();
        assert_eq!(sum.value(), f64::INFINITY);
        sum.clear();
        assert_eq!(sum.value(), 0.0);
    }
}
