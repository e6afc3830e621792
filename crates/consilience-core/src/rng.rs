//! Seeded random numbers in numbered streams.
//!
//! The generator is ChaCha8, whose output is fixed by its specification, and the few distributions
//! needed are written here: a library update can then never change a published result.
//! Every restart, member or draw of ties reads a stream of its own, so results depend neither on
//! the number of threads nor on the order in which work happens to finish.

use crate::math;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng};

/// Which of a run's streams of random numbers to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The making of ensemble member `i`.
    Member(u64),
    /// Restart `i` of an iterative method.
    Restart(u64),
    /// Restart `i` of an auxiliary step inside a method (k-means on an embedding, say).
    Inner(u64),
    /// The breaking of ties.
    Ties,
    /// A random order of objects, members or profiles.
    Order,
    /// Made-up data.
    Data,
}

impl Stream {
    /// The stream number: the kind in the upper sixteen bits, the index below.
    fn number(self) -> u64 {
        let (kind, index) = match self {
            Stream::Member(i) => (1, i),
            Stream::Restart(i) => (2, i),
            Stream::Inner(i) => (3, i),
            Stream::Ties => (4, 0),
            Stream::Order => (5, 0),
            Stream::Data => (6, 0),
        };
        (kind << 48) | index
    }
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream `stream` of the run with seed `seed`.
    pub fn new(seed: u64, stream: Stream) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream.number());
        Rng(rng)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform index in `0..n`, without bias (Lemire's multiply and reject).
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "no index below 0");
        let n = n as u64;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            let low = product as u64;
            // What is rejected is below $2^{64} \bmod n$, hence below n: the division is seldom made.
            if low >= n || low >= n.wrapping_neg() % n {
                return (product >> 64) as usize;
            }
        }
    }

    /// A uniform integer in `low..=high`.
    ///
    /// # Panics
    ///
    /// If `low > high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        assert!(low <= high, "empty range {low}..={high}");
        low + self.below(high - low + 1)
    }

    /// A standard normal number (Box and Muller; one of the pair is dropped so that the stream's
    /// position depends on the number of calls alone).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * math::ln(1.0 - self.unit())).sqrt();
        radius * math::cos(std::f64::consts::TAU * self.unit())
    }

    /// Shuffles in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// A random order of `0..n`.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        self.shuffle(&mut order);
        order
    }

    /// `count` distinct indices out of `0..n`, in the order drawn.
    ///
    /// # Panics
    ///
    /// If `count > n`.
    pub fn distinct(&mut self, n: usize, count: usize) -> Vec<usize> {
        assert!(count <= n, "{count} distinct indices below {n}");
        // Floyd's method needs a set; for the many small draws here a sparse Fisher–Yates
        // (only displaced positions are remembered) is as short and keeps the order drawn.
        let mut displaced = std::collections::BTreeMap::new();
        (0..count)
            .map(|i| {
                let j = self.between(i, n - 1);
                let chosen = displaced.get(&j).copied().unwrap_or(j);
                let at_i = displaced.get(&i).copied().unwrap_or(i);
                displaced.insert(j, at_i);
                chosen
            })
            .collect()
    }

    /// An index drawn with probability proportional to `weights` (non-negative, not all zero).
    ///
    /// If rounding leaves the draw past the end, the last index of positive weight is returned.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let total: f64 = weights.iter().sum();
        let mut left = self.unit() * total;
        let mut last = 0;
        for (i, &w) in weights.iter().enumerate() {
            if w > 0.0 {
                if left < w {
                    return i;
                }
                left -= w;
                last = i;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |stream| Rng::new(7, stream).bits();
        assert_eq!(draw(Stream::Member(1)), draw(Stream::Member(1)));
        assert_ne!(draw(Stream::Member(1)), draw(Stream::Member(2)));
        assert_ne!(draw(Stream::Member(1)), draw(Stream::Restart(1)));
    }

    /// The output is part of the public contract: same seed, same result, in every release.
    #[test]
    fn the_generator_never_changes() {
        let mut rng = Rng::new(0, Stream::Data);
        let drawn: Vec<usize> = (0..6).map(|_| rng.below(100)).collect();
        assert_eq!(drawn, GOLDEN);
    }
    const GOLDEN: [usize; 6] = [23, 60, 28, 43, 94, 28];

    #[test]
    fn distinct_draws_are_distinct_and_cover_everything() {
        let mut rng = Rng::new(3, Stream::Data);
        let mut all = rng.distinct(50, 50);
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
        assert!(rng.distinct(1_000_000, 5).iter().all(|&i| i < 1_000_000));
    }

    #[test]
    fn below_is_roughly_uniform() {
        let mut rng = Rng::new(1, Stream::Data);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        // 10,000 expected, standard deviation 93; five deviations.
        assert!(counts.iter().all(|&c| c.abs_diff(10_000) < 465), "{counts:?}");
    }

    #[test]
    fn weighted_never_draws_weight_zero() {
        let mut rng = Rng::new(2, Stream::Data);
        for _ in 0..1000 {
            assert_eq!(rng.weighted(&[0.0, 2.0, 0.0]), 1);
        }
    }
}
