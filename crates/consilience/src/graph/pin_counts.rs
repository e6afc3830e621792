//! The cut of a hypergraph under moves of single vertices, and how concentrated its edges are.

use crate::graph::balance::Cut;
use crate::graph::hypergraph::Hypergraph;

/// How many vertices of every edge are in every part, and what they weigh.
pub(super) struct PinCounts<'a> {
    graph: &'a Hypergraph,
    k: usize,
    counts: Vec<u32>,
    /// Whole numbers.
    masses: Vec<f64>,
    /// Of every edge its weight over the square of its mass.
    scale: Vec<f64>,
    /// Room for the changes of concentration, one a part.
    changes: Vec<f64>,
}

/// Concentrations as whole numbers, so that equal ones are equal: edge weights add up to about $2^{20}$.
const FINE: f64 = (1u64 << 32) as f64;

impl<'a> PinCounts<'a> {
    pub(super) fn new(graph: &'a Hypergraph, labels: &[u32], k: usize) -> Self {
        let mut counts = vec![0; graph.n_edges() * k];
        let mut masses = vec![0.0; graph.n_edges() * k];
        let mut scale = Vec::with_capacity(graph.n_edges());
        for e in 0..graph.n_edges() {
            for &v in graph.pins(e) {
                let at = e * k + labels[v as usize] as usize;
                counts[at] += 1;
                masses[at] += graph.weights()[v as usize] as f64;
            }
            let mass: f64 = masses[e * k..(e + 1) * k].iter().sum();
            scale.push(graph.edge_weight(e) as f64 / mass.max(1.0).powi(2));
        }
        PinCounts { graph, k, counts, masses, scale, changes: vec![0.0; k] }
    }

    /// $\sum_e w_e \sum_p (m_{ep} / m_e)^2$ with $m_{ep}$ the weight of the vertices of edge $e$ in part $p$.
    pub(super) fn concentration(&self) -> i64 {
        let of =
            |(masses, scale): (&[f64], &f64)| scale * masses.iter().map(|m| m * m).sum::<f64>();
        let sum: f64 = self.masses.chunks_exact(self.k).zip(&self.scale).map(of).sum();
        (sum * FINE) as i64
    }
}

impl Cut for PinCounts<'_> {
    /// Among equal cuts, more concentrated edges are better.
    fn gains(&mut self, vertex: usize, labels: &[u32], gains: &mut [(i64, i64)]) {
        let (own, k) = (labels[vertex] as usize, self.k);
        let x = self.graph.weights()[vertex] as f64;
        gains.fill((0, 0));
        self.changes.fill(0.0);
        for &e in self.graph.edges(vertex) {
            let e = e as usize;
            let counts = &self.counts[e * k..(e + 1) * k];
            let masses = &self.masses[e * k..(e + 1) * k];
            let w = self.graph.edge_weight(e) as i64;
            let size = self.graph.pins(e).len() as u32;
            if counts[own] == size {
                gains.iter_mut().for_each(|gain| gain.0 -= w);
            } else if counts[own] == 1 {
                let whole = counts.iter().map(|&count| i64::from(count == size - 1));
                gains.iter_mut().zip(whole).for_each(|(gain, whole)| gain.0 += w * whole);
            }
            let (scale, rest) = (2.0 * x * self.scale[e], x - masses[own]);
            self.changes.iter_mut().zip(masses).for_each(|(sum, m)| *sum += scale * (m + rest));
        }
        gains.iter_mut().zip(&self.changes).for_each(|(gain, sum)| gain.1 = (sum * FINE) as i64);
    }

    fn moved(&mut self, vertex: usize, from: u32, to: u32) {
        let w = self.graph.weights()[vertex] as f64;
        for &e in self.graph.edges(vertex) {
            let first = e as usize * self.k;
            let (from, to) = (first + from as usize, first + to as usize);
            self.counts[from] -= 1;
            self.counts[to] += 1;
            self.masses[from] -= w;
            self.masses[to] += w;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::hypergraph::tests::hypergraphs;

    proptest! {
        /// What the refinement believes of gains is what counting afresh says.
        #[test]
        fn gains_are_differences(
            graph in hypergraphs(8, 7), labels: [u8; 8], vertex in 0..8usize
        ) {
            let k = 3;
            prop_assume!(vertex < graph.len());
            let mut labels: Vec<u32> =
                labels[..graph.len()].iter().map(|&l| u32::from(l) % 3).collect();
            let mut counts = PinCounts::new(&graph, &labels, k);
            let mut gains = vec![(0, 0); k];
            counts.gains(vertex, &labels, &mut gains);
            let (own, before) = (labels[vertex], graph.cut(&labels) as i64);
            let concentration = counts.concentration();
            for to in (0..k as u32).filter(|&p| p != own) {
                labels[vertex] = to;
                prop_assert_eq!(gains[to as usize].0, before - graph.cut(&labels) as i64);
                let then = PinCounts::new(&graph, &labels, k).concentration();
                // Sums of order 2^52, rounded.
                let error = gains[to as usize].1 - (then - concentration);
                prop_assert!(error.abs() <= 64, "{}", error);
            }
            counts.moved(vertex, own, labels[vertex]);
            let afresh = PinCounts::new(&graph, &labels, k);
            prop_assert_eq!(&counts.counts, &afresh.counts);
            prop_assert_eq!(&counts.masses, &afresh.masses);
        }
    }
}
