//! Two parts of a hypergraph by the passes of Fiduccia and Mattheyses.
//!
//! C. M. Fiduccia, R. M. Mattheyses. *A Linear-Time Heuristic for Improving Network Partitions.* DAC
//! 1982. A pass moves every vertex at most once, always the one whose move lowers the cut most (or
//! raises it least) and keeps the balance, and then goes back to the best moment of the pass. So no
//! pass makes things worse, and it can climb out of a local minimum.

use std::collections::BinaryHeap;

use crate::graph::hypergraph::Hypergraph;
use crate::rng::Rng;

/// How heavy the two sides may be and how many vertices they need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sides {
    pub(super) caps: [u64; 2],
    /// The weight that side 0 should have.
    pub(super) target: u64,
    pub(super) at_least: [usize; 2],
}

/// How good a bisection is: the weight above the caps first, then the weight of the edges cut.
pub(super) type Cost = (u64, u64);

/// Two sides of a hypergraph under improvement.
#[derive(Clone, Debug)]
pub(super) struct Bisection<'a> {
    graph: &'a Hypergraph,
    limits: Sides,
    pub(super) side: Vec<bool>,
    weight: [u64; 2],
    count: [usize; 2],
    /// Of every edge the number of its pins on each side.
    pins: Vec<[u32; 2]>,
    cut: u64,
}

impl<'a> Bisection<'a> {
    pub(super) fn new(graph: &'a Hypergraph, limits: Sides, side: Vec<bool>) -> Self {
        let (mut weight, mut count) = ([0; 2], [0; 2]);
        for (&s, w) in side.iter().zip(graph.weights()) {
            weight[usize::from(s)] += w;
            count[usize::from(s)] += 1;
        }
        let mut cut = 0;
        let pins: Vec<[u32; 2]> = (0..graph.n_edges())
            .map(|e| {
                let mut pins = [0; 2];
                graph.pins(e).iter().for_each(|&v| pins[usize::from(side[v as usize])] += 1);
                cut += if pins[0] > 0 && pins[1] > 0 { graph.edge_weight(e) } else { 0 };
                pins
            })
            .collect();
        Bisection { graph, limits, side, weight, count, pins, cut }
    }

    /// Grows side 0 from a random vertex, the best gain next, until it has its weight.
    pub(super) fn grown(graph: &'a Hypergraph, limits: Sides, rng: &mut Rng) -> Self {
        let n = graph.len();
        let mut bisection = Bisection::new(graph, limits, vec![true; n]);
        let mut heap = Queue::new(&bisection, rng);
        let mut next = Some(rng.below(n));
        while let Some(v) = next {
            let w = graph.weights()[v];
            let enough = bisection.count[0] >= limits.at_least[0];
            // The last vertex is taken if that comes nearer to the target.
            let over = bisection.weight[0] + w > limits.target + w / 2;
            if bisection.count[1] <= limits.at_least[1] || (enough && over) {
                break;
            }
            heap.lock(v);
            bisection.shift(v, |b, v| heap.changed(b, v));
            next = heap.best(&bisection, |_, _| true);
        }
        bisection
    }

    pub(super) fn cost(&self) -> Cost {
        let over = |s: usize| self.weight[s].saturating_sub(self.limits.caps[s]);
        (over(0) + over(1), self.cut)
    }

    /// How much moving `v` lowers the cut.
    fn gain(&self, v: usize) -> i64 {
        let from = usize::from(self.side[v]);
        let mut gain = 0;
        for &e in self.graph.edges(v) {
            let pins = self.pins[e as usize];
            let w = self.graph.edge_weight(e as usize) as i64;
            match (pins[from], pins[1 - from]) {
                (1, 0) => {}
                (1, _) => gain += w,
                (_, 0) => gain -= w,
                _ => {}
            }
        }
        gain
    }

    /// Moves `v` to the other side, telling `changed` of vertices whose gain may be another now.
    fn shift(&mut self, v: usize, mut changed: impl FnMut(&Self, usize)) {
        self.cut = (self.cut as i64 - self.gain(v)) as u64;
        let from = usize::from(self.side[v]);
        let w = self.graph.weights()[v];
        self.side[v] = !self.side[v];
        self.weight[from] -= w;
        self.weight[1 - from] += w;
        self.count[from] -= 1;
        self.count[1 - from] += 1;
        for &e in self.graph.edges(v) {
            let pins = &mut self.pins[e as usize];
            pins[from] -= 1;
            pins[1 - from] += 1;
        }
        for &e in self.graph.edges(v) {
            let pins = self.pins[e as usize];
            // Gains hang on whether a side has no, one or more pins of the edge.
            if pins[from] <= 1 || pins[1 - from] <= 2 {
                for &p in self.graph.pins(e as usize) {
                    changed(self, p as usize);
                }
            }
        }
    }

    /// Whether moving `v` keeps the caps, or at least brings the sides nearer to them.
    fn allows(&self, v: usize) -> bool {
        let from = usize::from(self.side[v]);
        let w = self.graph.weights()[v];
        if self.count[from] <= self.limits.at_least[from] {
            return false;
        }
        let over = |weight: u64, s: usize| weight.saturating_sub(self.limits.caps[s]);
        let now = over(self.weight[from], from) + over(self.weight[1 - from], 1 - from);
        let then = over(self.weight[from] - w, from) + over(self.weight[1 - from] + w, 1 - from);
        then == 0 || then < now
    }

    /// Passes until one does not help; the costs after each, never rising.
    pub(super) fn improve(&mut self, rng: &mut Rng) -> Vec<Cost> {
        let mut costs = vec![self.cost()];
        loop {
            self.pass(rng);
            let cost = self.cost();
            let helped = cost < *costs.last().expect("one is there from the start");
            costs.push(cost);
            if !helped || costs.len() > 20 {
                return costs;
            }
        }
    }

    fn pass(&mut self, rng: &mut Rng) {
        let patience = 50 + self.graph.len() / 20;
        let mut heap = Queue::new(self, rng);
        let (mut best, mut kept) = (self.cost(), 0);
        let mut moves: Vec<usize> = Vec::new();
        while moves.len() < kept + patience
            && let Some(v) = heap.best(self, Bisection::allows)
        {
            heap.lock(v);
            self.shift(v, |b, v| heap.changed(b, v));
            moves.push(v);
            if self.cost() < best {
                (best, kept) = (self.cost(), moves.len());
            }
        }
        for &v in moves[kept..].iter().rev() {
            self.shift(v, |_, _| {});
        }
    }
}

/// The free vertices of each side by gain, ties at random.
struct Queue {
    heaps: [BinaryHeap<(i64, u32, u32)>; 2],
    /// The gain under which a vertex stands in its heap, while it is free; entries that say
    /// otherwise are old.
    gains: Vec<Option<i64>>,
    ties: Vec<u32>,
}

/// How many vertices that may not move are looked past on each side: a heavy one at the top must
/// not hide a light one, but a search through all would make the pass quadratic.
const LOOK_PAST: usize = 16;

impl Queue {
    fn new(bisection: &Bisection<'_>, rng: &mut Rng) -> Self {
        let n = bisection.graph.len();
        let ties = rng.permutation(n);
        let mut queue = Queue { heaps: Default::default(), gains: vec![Some(0); n], ties };
        let mut entries = [Vec::new(), Vec::new()];
        for v in 0..n {
            let gain = bisection.gain(v);
            queue.gains[v] = Some(gain);
            entries[usize::from(bisection.side[v])].push((gain, queue.ties[v], v as u32));
        }
        queue.heaps = entries.map(BinaryHeap::from);
        queue
    }

    fn changed(&mut self, bisection: &Bisection<'_>, v: usize) {
        if let Some(old) = self.gains[v] {
            let gain = bisection.gain(v);
            if gain != old {
                self.gains[v] = Some(gain);
                self.heaps[usize::from(bisection.side[v])].push((gain, self.ties[v], v as u32));
            }
        }
    }

    fn lock(&mut self, v: usize) {
        self.gains[v] = None;
    }

    /// The best free vertex that `allowed` lets move.
    fn best<'g>(
        &mut self,
        bisection: &Bisection<'g>,
        allowed: impl Fn(&Bisection<'g>, usize) -> bool,
    ) -> Option<usize> {
        let mut best = None;
        for heap in &mut self.heaps {
            let mut aside = Vec::new();
            while aside.len() < LOOK_PAST
                && let Some(entry) = heap.pop()
            {
                let v = entry.2 as usize;
                if self.gains[v] != Some(entry.0) {
                    continue;
                }
                aside.push(entry);
                if allowed(bisection, v) {
                    best = best.max(Some(entry));
                    break;
                }
            }
            heap.extend(aside);
        }
        best.map(|(_, _, v)| v as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::hypergraph::tests::hypergraphs;
    use crate::rng::{Rng, Stream};

    fn limits(graph: &Hypergraph) -> Sides {
        let total: u64 = graph.weights().iter().sum();
        let heaviest = graph.weights().iter().copied().max().unwrap_or(0);
        let cap = total / 2 + heaviest;
        Sides { caps: [cap; 2], target: total / 2, at_least: [1, 1] }
    }

    proptest! {
        /// The cut that is kept up to date is the cut counted afresh, and no pass makes it worse.
        #[test]
        fn passes_never_make_it_worse(graph in hypergraphs(12, 8), seed: u64, sides: [bool; 12]) {
            let mut rng = Rng::new(seed, Stream::Ties);
            let side = sides[..graph.len()].to_vec();
            let mut bisection = Bisection::new(&graph, limits(&graph), side);
            let costs = bisection.improve(&mut rng);
            prop_assert!(costs.windows(2).all(|pair| pair[1] <= pair[0]), "{costs:?}");
            let afresh = Bisection::new(&graph, limits(&graph), bisection.side.clone());
            prop_assert_eq!(afresh.cost(), bisection.cost());
            prop_assert_eq!(&afresh.pins, &bisection.pins);
        }

        #[test]
        fn grown_sides_have_their_least_number(graph in hypergraphs(12, 8), seed: u64) {
            prop_assume!(graph.len() > 1);
            let bisection =
                Bisection::grown(&graph, limits(&graph), &mut Rng::new(seed, Stream::Ties));
            prop_assert!(bisection.count[0] >= 1 && bisection.count[1] >= 1);
        }
    }
}
