//! The errors of a stretch of pairs and rule (11) for its entries, in vectors.
//!
//! Nearly all the time of an iteration beyond its matrix products would go into six logarithms and
//! three roots an entry, one after the other. Here an operation is done for a whole stretch before
//! the next, without branches, so that it compiles to wide registers.

use crate::consensus::rce::clean::{Bounds, Cleaned};
use crate::linalg::ln_branchless as ln;

/// Entries of a stretch, and rows of a tile: what is read across rows is then read by whole cache
/// lines.
pub(super) const TILE: usize = 32;

/// One number per entry.
pub(super) type Stretch = [f64; TILE];

/// How near a contested entry may come to 0 and 1, where the next update would be undefined.
pub(super) const DELTA: f64 = 1e-12;

/// Whether the members are unanimous about a pair: they leave its entry at 0 or 1, and both updates
/// keep it there, since any other value costs infinitely much.
#[inline(always)]
pub(super) fn is_frozen(a: f64) -> bool {
    a == 0.0 || a == 1.0
}

/// A stretch of entries with all that one iteration needs of them. Frozen entries do not count;
/// those beyond the end of a row are 0, hence frozen.
pub(super) struct Entries {
    /// $\tilde A_{pq}$.
    pub(super) entry: Stretch,
    /// $\tilde A_{qp}$.
    pub(super) opposite: Stretch,
    /// How many hard members put the pair together.
    pub(super) agree: Stretch,
    /// How many hard members label both.
    pub(super) observed: Stretch,
}

impl Entries {
    /// No entries.
    pub(super) const NONE: Self = Entries {
        entry: [0.0; TILE],
        opposite: [0.0; TILE],
        agree: [0.0; TILE],
        observed: [0.0; TILE],
    };

    /// The entry, or something harmless where it is frozen.
    #[inline(always)]
    fn contested(&self, l: usize) -> f64 {
        if is_frozen(self.entry[l]) { 0.5 } else { self.entry[l] }
    }

    /// The mean of entry and opposite, or something harmless where it is frozen.
    #[inline(always)]
    pub(super) fn mean(&self, l: usize) -> f64 {
        let mean = 0.5 * (self.entry[l] + self.opposite[l]);
        if is_frozen(self.entry[l]) { 0.5 } else { mean }
    }

    /// What the hard members say, cleaned of their errors (Theorem 3).
    #[inline(always)]
    pub(super) fn clean(&self, lambda1: f64) -> CleanedStretch {
        let mut cleaned = CleanedStretch {
            observed: self.observed,
            c: [0.0; TILE],
            log_rest: [0.0; TILE],
            error: [0.0; TILE],
        };
        for l in 0..TILE {
            let bounds = Bounds::new(self.mean(l), lambda1);
            let (agree, differ) = (self.agree[l], self.observed[l] - self.agree[l]);
            let (above_high, above_low) = (ln(bounds.above_high), ln(bounds.above_low));
            cleaned.c[l] =
                agree * (above_high - ln(bounds.high)) + differ * (above_low - ln(bounds.low));
            cleaned.log_rest[l] = agree * above_high + differ * above_low;
            cleaned.error[l] = agree * bounds.above_high + differ * bounds.low;
        }
        cleaned
    }

    /// Rule (11), multiplied through by $\tilde A_{pq}$. `next` and `minus` hold $2 (D^+ \tilde A)_{pq}$ and
    /// $2 (D^- \tilde A)_{pq}$; the new entries are written over the former. Returns what each entry
    /// adds to the data part of the objective before, and the largest change of an entry.
    #[inline(always)]
    pub(super) fn update(
        &self,
        cleaned: &CleanedStretch,
        lambda1: f64,
        next: &mut Stretch,
        minus: &Stretch,
    ) -> (Stretch, f64) {
        let mut data = [0.0; TILE];
        let mut changes = [0.0; TILE];
        for l in 0..TILE {
            let a = self.contested(l);
            let (m, c) = (cleaned.observed[l], cleaned.c[l]);
            let (log_a, log_rest) = (ln(a), ln(1.0 - a));
            let divergence = m * (a * log_a + (1.0 - a) * log_rest) + a * c - cleaned.log_rest[l];
            let pull = 2.0 * m / (1.0 - a);
            let b = m * (log_a - log_rest) - pull;
            let g = pull + c.max(0.0) + next[l];
            let h = (-c).max(0.0) + minus[l];
            // b <= 0: nothing cancels. Where g is 0, nobody observes the pair and no other entry
            // pulls at it: it stays.
            let moved = a * ((b * b + 4.0 * g * h).sqrt() - b) / (2.0 * g);
            let moved = if g > 0.0 { moved.clamp(DELTA, 1.0 - DELTA) } else { a };
            let frozen = is_frozen(self.entry[l]);
            data[l] = if frozen { 0.0 } else { divergence + lambda1 * cleaned.error[l] };
            next[l] = if frozen { self.entry[l] } else { moved };
            changes[l] = (next[l] - self.entry[l]).abs();
        }
        (data, changes.into_iter().fold(0.0, f64::max))
    }
}

/// [`Cleaned`] for every pair of a stretch.
pub(super) struct CleanedStretch {
    observed: Stretch,
    c: Stretch,
    log_rest: Stretch,
    error: Stretch,
}

impl CleanedStretch {
    /// Adds soft members to pair `l`, with mean consensus `mean`.
    pub(super) fn add_soft(
        &mut self,
        l: usize,
        mean: f64,
        lambda1: f64,
        values: impl Iterator<Item = f64>,
    ) {
        let mut pair = Cleaned {
            observed: self.observed[l],
            c: self.c[l],
            log_rest: self.log_rest[l],
            error: self.error[l],
        };
        pair.add_soft(&Bounds::new(mean, lambda1), values);
        self.observed[l] = pair.observed;
        self.c[l] = pair.c;
        self.log_rest[l] = pair.log_rest;
        self.error[l] = pair.error;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stretch(values: &[f64]) -> Stretch {
        std::array::from_fn(|l| values[l % values.len()])
    }

    proptest! {
        /// Sums over members are those of one member after the other, and the entry is that of the
        /// rule as it is printed.
        #[test]
        fn lanes_are_what_the_formulas_say(
            a in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 1e-6..0.999_999f64], 1..40),
            b in prop::collection::vec(1e-6..0.999_999f64, 1..40),
            lambda in 0.01..10.0f64,
            soft in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0], 0..40),
            (agree, differ) in (0..5u8, 0..5u8),
            (plus, minus) in (0.0..9.0f64, 0.0..9.0f64),
        ) {
            let (agree, differ) = (f64::from(agree), f64::from(differ));
            let entries = Entries {
                entry: stretch(&a),
                opposite: stretch(&b),
                agree: [agree; TILE],
                observed: [agree + differ; TILE],
            };
            let mut cleaned = entries.clean(lambda);
            for l in 0..TILE {
                cleaned.add_soft(l, entries.mean(l), lambda, soft.iter().copied());
            }
            let mut next = [plus; TILE];
            let (data, change) = entries.update(&cleaned, lambda, &mut next, &[minus; TILE]);
            let mut largest = 0.0f64;
            for l in 0..TILE {
                let a = entries.entry[l];
                if is_frozen(a) {
                    prop_assert_eq!((next[l], data[l]), (a, 0.0));
                    continue;
                }
                let bounds = Bounds::new(f64::midpoint(a, entries.opposite[l]), lambda);
                let hard = std::iter::repeat_n(1.0, agree as usize)
                    .chain(std::iter::repeat_n(0.0, differ as usize));
                let (mut c, mut expected, mut m) = (0.0, 0.0, 0.0);
                for value in hard.chain(soft.iter().copied()) {
                    let y = value.max(bounds.low).min(bounds.high);
                    c += ((1.0 - y) / y).ln();
                    expected += a * (a / y).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - y)).ln();
                    expected += lambda * (value - y).abs();
                    m += 1.0;
                }
                prop_assert!((data[l] - expected).abs() < 1e-9 * (1.0 + m), "{} {expected}", data[l]);
                let g = 2.0 * m / a + 2.0 * m / (1.0 - a) + (c.max(0.0) + plus) / a;
                let b = m * a.ln() - 2.0 * m / (1.0 - a) - m * (1.0 - a).ln();
                let h = ((-c).max(0.0) + minus) * a;
                let root = if g > 0.0 { (-b + (b * b + 4.0 * g * h).sqrt()) / (2.0 * g) } else { a };
                let root = root.clamp(DELTA, 1.0 - DELTA);
                prop_assert!((next[l] - root).abs() < 1e-9, "{} {root}", next[l]);
                largest = largest.max((next[l] - a).abs());
            }
            prop_assert_eq!(change, largest);
        }
    }
}
