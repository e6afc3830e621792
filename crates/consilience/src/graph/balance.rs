//! Balanced parts of weighted vertices: how heavy a part may be, and the last improvement of a
//! partition by moving single vertices.
//!
//! Whatever made the partition (METIS, our own bisections), it ends here: parts that are too heavy
//! give vertices away, then vertices move as long as that keeps the balance and lowers the cut, or
//! evens the parts at the same cut.

use crate::error::Result;
use crate::rng::Rng;
use crate::run::Run;

/// Passes of improvement; each must lower the cut, most graphs need two or three.
const MAX_PASSES: usize = 10;

/// What a balanced partitioner answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts {
    /// The part of every vertex, below k.
    pub labels: Vec<u32>,
    /// The share of all edge weight that is cut.
    pub cut: f64,
    /// The weight of the heaviest part as a multiple of the mean.
    pub imbalance: f64,
    /// The imbalance that was allowed.
    pub allowed: f64,
}

impl Parts {
    /// Whether the heaviest part is heavier than was allowed.
    pub(crate) fn violates_balance(&self) -> bool {
        self.imbalance > self.allowed + 1e-9
    }
}

/// How heavy each of `k` parts of the vertices may be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Balance {
    pub(super) k: usize,
    pub(super) total: u64,
    /// The largest weight of a part.
    pub(super) cap: u64,
}

impl Balance {
    /// Parts of at most $(1 + \epsilon) W / k$, or, where vertices are too heavy for that, of at most
    /// $W / k + (1 - 1/k) w_{max}$, which giving each vertex to the lightest part always keeps.
    pub(super) fn new(weights: &[u64], k: usize, tolerance: f64) -> Self {
        let total: u64 = weights.iter().sum();
        let heaviest = weights.iter().copied().max().unwrap_or(0);
        let mean = total as f64 / k as f64;
        let within = (1.0 + tolerance) * mean;
        let surely = mean + (1.0 - 1.0 / k as f64) * heaviest as f64;
        // Rounding must not take away a part that just fits.
        Balance { k, total, cap: (within.max(surely) + 1e-6).floor() as u64 }
    }

    /// The answer with these labels.
    pub(super) fn parts(
        &self,
        labels: Vec<u32>,
        weights: &[u64],
        cut: u64,
        all_edges: u64,
    ) -> Parts {
        let heaviest = of_parts(&labels, weights, self.k).into_iter().max().unwrap_or(0);
        let mean = (self.total as f64 / self.k as f64).max(f64::MIN_POSITIVE);
        Parts {
            labels,
            cut: if all_edges == 0 { 0.0 } else { cut as f64 / all_edges as f64 },
            imbalance: heaviest as f64 / mean,
            allowed: self.cap as f64 / mean,
        }
    }
}

fn of_parts(labels: &[u32], weights: &[u64], k: usize) -> Vec<u64> {
    let mut sums = vec![0; k];
    labels.iter().zip(weights).for_each(|(&part, w)| sums[part as usize] += w);
    sums
}

/// Whole numbers in proportion to `values`, with sum about `total`; what is positive stays so.
///
/// Partitioners count in whole numbers, so that gains are exact and ties are ties.
pub(super) fn whole(values: &[f64], total: f64) -> Vec<u64> {
    let sum: f64 = values.iter().sum();
    let scale = if sum > 0.0 { total / sum } else { 0.0 };
    let round = |&x: &f64| if x > 0.0 { ((x * scale).round() as u64).max(1) } else { 0 };
    values.iter().map(round).collect()
}

/// A cut that can tell what moving a vertex would change, and keeps up with moves.
pub(super) trait Cut {
    /// Writes for every part how much moving `vertex` there would lower the cut; the second number
    /// decides among equals. What stands at the vertex' own part is not read.
    fn gains(&mut self, vertex: usize, labels: &[u32], gains: &mut [(i64, i64)]);

    /// Says that `vertex` now moves.
    fn moved(&mut self, vertex: usize, from: u32, to: u32);
}

/// A partition under improvement.
pub(super) struct Refinement<'a, C> {
    pub(super) cut: C,
    pub(super) labels: Vec<u32>,
    weights: &'a [u64],
    balance: &'a Balance,
    sums: Vec<u64>,
    /// How many vertices that weigh something each part has: none may lose its last.
    counts: Vec<usize>,
}

impl<'a, C: Cut> Refinement<'a, C> {
    pub(super) fn new(cut: C, labels: Vec<u32>, weights: &'a [u64], balance: &'a Balance) -> Self {
        let sums = of_parts(&labels, weights, balance.k);
        let mut counts = vec![0; balance.k];
        for (&part, &w) in labels.iter().zip(weights) {
            counts[part as usize] += usize::from(w > 0);
        }
        Refinement { cut, labels, weights, balance, sums, counts }
    }

    /// Fills empty parts, brings heavy parts below the cap where it can, then lowers the cut.
    pub(super) fn run(&mut self, rng: &mut Rng, run: &Run) -> Result<()> {
        self.fill(rng);
        for _ in 0..3 {
            self.relieve(rng);
        }
        for _ in 0..MAX_PASSES {
            run.check()?;
            if self.pass(rng) == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The weight above the cap, of all parts.
    pub(super) fn excess(&self) -> u64 {
        self.sums.iter().map(|sum| sum.saturating_sub(self.balance.cap)).sum()
    }

    fn shift(&mut self, vertex: usize, to: u32) {
        let from = std::mem::replace(&mut self.labels[vertex], to);
        let w = self.weights[vertex];
        self.sums[from as usize] -= w;
        self.sums[to as usize] += w;
        self.counts[from as usize] -= usize::from(w > 0);
        self.counts[to as usize] += usize::from(w > 0);
        self.cut.moved(vertex, from, to);
    }

    /// Gives every empty part the vertex that costs least, from parts that have several.
    fn fill(&mut self, rng: &mut Rng) {
        let mut gains = vec![(0, 0); self.balance.k];
        while let Some(empty) = self.counts.iter().position(|&count| count == 0) {
            let mut best: Option<((i64, i64), usize)> = None;
            for v in rng.permutation(self.labels.len()) {
                let v = v as usize;
                if self.weights[v] == 0 || self.counts[self.labels[v] as usize] < 2 {
                    continue;
                }
                self.cut.gains(v, &self.labels, &mut gains);
                if best.is_none_or(|(gain, _)| gains[empty] > gain) {
                    best = Some((gains[empty], v));
                }
            }
            let Some((_, v)) = best else {
                return;
            };
            self.shift(v, empty as u32);
        }
    }

    /// Moves vertices out of parts that are too heavy, the cheapest first, into parts with room.
    fn relieve(&mut self, rng: &mut Rng) {
        let (k, cap) = (self.balance.k, self.balance.cap);
        for part in 0..k {
            if self.sums[part] <= cap {
                continue;
            }
            let mut gains = vec![(0, 0); k];
            let mut offers = Vec::new();
            for v in rng.permutation(self.labels.len()) {
                let v = v as usize;
                if self.labels[v] as usize != part || self.weights[v] == 0 {
                    continue;
                }
                self.cut.gains(v, &self.labels, &mut gains);
                let best = (0..k).filter(|&p| p != part).map(|p| gains[p]).max();
                offers.push((best, v));
            }
            offers.sort_by_key(|&(gain, _)| std::cmp::Reverse(gain));
            for (_, v) in offers {
                if self.sums[part] <= cap || self.counts[part] < 2 {
                    break;
                }
                self.cut.gains(v, &self.labels, &mut gains);
                let fits = |p: &usize| *p != part && self.sums[*p] + self.weights[v] <= cap;
                let lightest = |p: &usize| std::cmp::Reverse(self.sums[*p]);
                if let Some(to) = (0..k).filter(fits).max_by_key(|p| (gains[*p], lightest(p))) {
                    self.shift(v, to as u32);
                }
            }
        }
    }

    /// Visits all vertices once in a random order; how many moved.
    fn pass(&mut self, rng: &mut Rng) -> usize {
        let (k, cap) = (self.balance.k, self.balance.cap);
        let mut gains = vec![(0, 0); k];
        let mut moves = 0;
        for v in rng.permutation(self.labels.len()) {
            let v = v as usize;
            let (own, w) = (self.labels[v] as usize, self.weights[v]);
            if w > 0 && self.counts[own] < 2 {
                continue;
            }
            self.cut.gains(v, &self.labels, &mut gains);
            let fits = |p: &usize| *p != own && self.sums[*p] + w <= cap;
            let lightest = |p: usize| std::cmp::Reverse((self.sums[p], p));
            let best = (0..k).filter(fits).max_by_key(|&p| (gains[p], lightest(p)));
            // Of equal cuts the more even is better.
            let evens = |to: usize| gains[to] == (0, 0) && self.sums[own] > self.sums[to] + w;
            if let Some(to) = best
                && (gains[to] > (0, 0) || evens(to))
            {
                self.shift(v, to as u32);
                moves += 1;
            }
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cap_can_always_be_kept() {
        // Seven equal vertices in three parts: 3, 2, 2, although 5 % above the mean is 2.45.
        assert_eq!(Balance::new(&[1; 7], 3, 0.05).cap, 3);
        assert_eq!(Balance::new(&[1; 150], 3, 0.05).cap, 52);
        assert_eq!(Balance::new(&[10, 1, 1], 3, 0.0).cap, 10);
    }

    #[test]
    fn whole_numbers_keep_proportions_and_small_things() {
        assert_eq!(whole(&[1.0, 3.0, 0.0], 100.0), [25, 75, 0]);
        assert_eq!(whole(&[1e-9, 1.0], 100.0), [1, 100]);
        assert_eq!(whole(&[0.0], 100.0), [0]);
    }
}
