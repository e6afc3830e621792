//! Balanced partitions of graphs.
//!
//! With the feature `metis` (on by default) by METIS's multilevel recursive bisection: G. Karypis,
//! V. Kumar. *A Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs.* SIAM J.
//! Sci. Comput. 20(1), 1998. Without it, and for graphs so small or so uneven that METIS might leave
//! parts empty, by our own [hypergraph partitioner](super::hypergraph), to which an edge is a
//! hyperedge of two vertices. Either way single vertices then move until balance and cut can be
//! bettered no more: METIS itself may exceed the imbalance it is given.
//!
//! METIS draws from the C library's one generator, seeded at every call; calls therefore wait for
//! each other, or two at a time would disturb each other's draws. It cannot be cancelled half way.

use crate::error::Result;
use crate::graph::balance::{Balance, Cut, Parts, Refinement, whole};
use crate::graph::hypergraph::Hypergraph;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// The sums of vertex and edge weights as whole numbers: as fine as 32 bits allow.
const VERTEX_TOTAL: f64 = 1e8;
const EDGE_TOTAL: f64 = 1e9;

/// An undirected graph with weights on vertices and edges, as compressed rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Graph {
    weights: Vec<u64>,
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    edges: Vec<u32>,
}

impl Graph {
    /// The graph whose vertex `v` has weight `weights[v]` and the neighbours `row(v)`, each with the
    /// weight of the edge. Rows are to be symmetric and without the vertex itself.
    ///
    /// Weights become whole numbers in proportion, edges that come to nought vanish.
    pub(crate) fn new(weights: &[f64], rows: &[Vec<(u32, f64)>]) -> Self {
        let sum: f64 = rows.iter().flatten().map(|&(_, e)| e).sum();
        let scale = if sum > 0.0 { EDGE_TOTAL / sum } else { 0.0 };
        let mut graph = Graph {
            weights: whole(weights, VERTEX_TOTAL),
            starts: vec![0],
            neighbours: Vec::new(),
            edges: Vec::new(),
        };
        for row in rows {
            for &(v, e) in row {
                let e = (e * scale).round() as u32;
                if e > 0 {
                    graph.neighbours.push(v);
                    graph.edges.push(e);
                }
            }
            graph.starts.push(graph.neighbours.len());
        }
        graph
    }

    /// The number of vertices.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    fn row(&self, v: usize) -> impl Iterator<Item = (usize, u32)> {
        let range = self.starts[v]..self.starts[v + 1];
        let neighbours = self.neighbours[range.clone()].iter().map(|&u| u as usize);
        neighbours.zip(self.edges[range].iter().copied())
    }

    /// Parts the vertices in `k`, each of at most $(1 + \epsilon)$ times the mean weight with
    /// $\epsilon$ the `tolerance`, or what the heaviest vertex makes necessary, cutting edges of
    /// little weight. No part is empty if as many vertices weigh something.
    pub(crate) fn partition(&self, k: usize, tolerance: f64, run: &Run) -> Result<Parts> {
        run.check()?;
        let balance = Balance::new(&self.weights, k, tolerance);
        let mut rng = run.rng(Stream::Order);
        let mut best: Option<(u64, Vec<u32>)> = None;
        for labels in self.drafts(&balance, tolerance, &mut rng, run)? {
            let mut refinement =
                Refinement::new(Connections(self), labels, &self.weights, &balance);
            refinement.run(&mut rng, run)?;
            let cut = self.cut(&refinement.labels);
            if best.as_ref().is_none_or(|(least, _)| cut < *least) {
                best = Some((cut, refinement.labels));
            }
        }
        let (cut, labels) = best.expect("there is a draft");
        let all = self.edges.iter().map(|&e| u64::from(e)).sum::<u64>() / 2;
        Ok(balance.parts(labels, &self.weights, cut, all))
    }

    /// Partitions to be improved.
    #[cfg(feature = "metis")]
    fn drafts(
        &self,
        balance: &Balance,
        tolerance: f64,
        rng: &mut Rng,
        run: &Run,
    ) -> Result<Vec<Vec<u32>>> {
        let heaviest = self.weights.iter().copied().max().unwrap_or(0);
        let even = heaviest * 2 * balance.k as u64 <= balance.total;
        let weighty = self.weights.iter().filter(|&&w| w > 0).count();
        if balance.k > 1 && weighty >= 8 * balance.k && even && !self.edges.is_empty() {
            return Ok(vec![by_metis::partition(self, balance, rng)?]);
        }
        Ok(vec![self.as_hypergraph().partition(balance.k, tolerance, run)?.labels])
    }

    #[cfg(not(feature = "metis"))]
    fn drafts(
        &self,
        balance: &Balance,
        tolerance: f64,
        _: &mut Rng,
        run: &Run,
    ) -> Result<Vec<Vec<u32>>> {
        Ok(vec![self.as_hypergraph().partition(balance.k, tolerance, run)?.labels])
    }

    fn as_hypergraph(&self) -> Hypergraph {
        let weights: Vec<f64> = self.weights.iter().map(|&w| w as f64).collect();
        let up = |v: usize| self.row(v).filter(move |(u, _)| *u > v).map(move |(u, e)| (v, u, e));
        let edges: Vec<(f64, Vec<u32>)> = (0..self.len())
            .flat_map(up)
            .map(|(v, u, e)| (f64::from(e), vec![v as u32, u as u32]))
            .collect();
        Hypergraph::new(&weights, &edges)
    }

    /// The weight of the edges between vertices of different labels.
    fn cut(&self, labels: &[u32]) -> u64 {
        let across = |v: usize| self.row(v).filter(move |(u, _)| labels[v] != labels[*u]);
        (0..self.len()).flat_map(across).map(|(_, e)| u64::from(e)).sum::<u64>() / 2
    }
}

/// The cut of a graph, which needs nothing kept up to date.
struct Connections<'a>(&'a Graph);

impl Cut for Connections<'_> {
    fn gains(&mut self, vertex: usize, labels: &[u32], gains: &mut [(i64, i64)]) {
        gains.fill((0, 0));
        for (u, e) in self.0.row(vertex) {
            gains[labels[u] as usize].0 += i64::from(e);
        }
        let own = gains[labels[vertex] as usize].0;
        // Edges are rounded to whole numbers, each by at most a half: a gain of no more is none.
        let rounding = (self.0.starts[vertex + 1] - self.0.starts[vertex]) as i64 / 2;
        gains.iter_mut().for_each(|gain| {
            gain.0 -= own;
            if gain.0.abs() <= rounding {
                gain.0 = 0;
            }
        });
    }

    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}

#[cfg(feature = "metis")]
mod by_metis {
    use std::sync::{Mutex, PoisonError};

    use super::{Balance, Graph, Rng};
    use crate::error::{Error, Result};

    /// Held while METIS works: see the module's documentation.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    const WHAT: &str = "graph partitioning by METIS";

    pub(super) fn partition(graph: &Graph, balance: &Balance, rng: &mut Rng) -> Result<Vec<u32>> {
        let failed = |problem: String| Error::Numerical { what: WHAT, problem };
        let index = |x: usize| {
            metis::Idx::try_from(x).map_err(|_| failed("the graph has too many edges".to_owned()))
        };
        let starts: Vec<_> = graph.starts.iter().map(|&s| index(s)).collect::<Result<_>>()?;
        let neighbours: Vec<_> = graph.neighbours.iter().map(|&v| v as metis::Idx).collect();
        let edges: Vec<_> = graph.edges.iter().map(|&e| e as metis::Idx).collect();
        let weights: Vec<_> = graph.weights.iter().map(|&w| w as metis::Idx).collect();
        // Bisections of bisections multiply their tolerances.
        let levels = f64::from(usize::BITS - (balance.k - 1).leading_zeros());
        let allowed = balance.cap as f64 * balance.k as f64 / balance.total as f64;
        let tolerance = [crate::math::pow(allowed, 1.0 / levels).max(1.001) as metis::Real];
        let mut labels = vec![0; graph.len()];
        let seed = metis::option::Seed((rng.bits() >> 33) as metis::Idx);
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        metis::Graph::new(1, index(balance.k)?, &starts, &neighbours)
            .map_err(|error| failed(error.to_string()))?
            .set_vwgt(&weights)
            .set_adjwgt(&edges)
            .set_ubvec(&tolerance)
            .set_option(seed)
            .part_recursive(&mut labels)
            .map_err(|error| failed(error.to_string()))?;
        drop(alone);
        Ok(labels.into_iter().map(|part| part as u32).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Rng;

    /// `groups` cliques of `size` vertices, each joined to the next by a light edge.
    fn cliques(groups: usize, size: usize) -> Graph {
        let n = groups * size;
        let row = |v: usize| {
            let mut row: Vec<(u32, f64)> = (0..n)
                .filter(|&u| u != v && u / size == v / size)
                .map(|u| (u as u32, 1.0))
                .collect();
            if v.is_multiple_of(size) {
                row.push((((v + size) % n) as u32, 0.1));
                row.push((((v + n - size) % n) as u32, 0.1));
            }
            row
        };
        Graph::new(&vec![1.0; n], &(0..n).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn cliques_are_found() {
        for groups in [3, 4, 7] {
            let parts = cliques(groups, 12).partition(groups, 0.03, &Run::new(1)).unwrap();
            for group in parts.labels.chunks(12) {
                assert_eq!(group, vec![group[0]; 12]);
            }
            assert!((parts.imbalance - 1.0).abs() < 1e-6 && parts.cut < 0.02, "{parts:?}");
        }
    }

    #[test]
    fn a_seed_gives_one_answer_whoever_else_is_at_work() {
        let graph = cliques(40, 9);
        let once = graph.partition(5, 0.03, &Run::new(3)).unwrap();
        std::thread::scope(|scope| {
            let again = || graph.partition(5, 0.03, &Run::new(3)).unwrap();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(again)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), once);
            }
        });
    }

    proptest! {
        #[test]
        fn parts_are_balanced_and_not_empty(
            n in 1..60usize, k in 1..6usize, density in 0.0..1.0, seed: u64, unequal: bool
        ) {
            prop_assume!(k <= n);
            let mut rng = Rng::new(seed, Stream::Data);
            let mut rows = vec![Vec::new(); n];
            for v in 0..n {
                for u in 0..v {
                    if rng.unit() < density {
                        let e = rng.unit() + 0.01;
                        rows[v].push((u as u32, e));
                        rows[u].push((v as u32, e));
                    }
                }
            }
            let weights: Vec<f64> =
                (0..n).map(|_| if unequal { rng.between(1, 5) as f64 } else { 1.0 }).collect();
            let graph = Graph::new(&weights, &rows);
            let parts = graph.partition(k, 0.03, &Run::new(seed).threads(1)).unwrap();
            prop_assert!((0..k as u32).all(|p| parts.labels.contains(&p)));
            // Moving single vertices does not always find room where vertices differ much.
            if !unequal {
                prop_assert!(!parts.violates_balance(), "{:?}", parts);
            }
            let mut connections = vec![(0, 0); k];
            let mut labels = parts.labels.clone();
            Connections(&graph).gains(0, &labels, &mut connections);
            let (own, before) = (labels[0] as usize, graph.cut(&labels) as i64);
            for to in (0..k).filter(|&p| p != own) {
                labels[0] = to as u32;
                // What rounding alone can make counts as nothing.
                let difference = connections[to].0 - (before - graph.cut(&labels) as i64);
                prop_assert!(difference.abs() <= n as i64, "{}", difference);
            }
        }
    }
}
