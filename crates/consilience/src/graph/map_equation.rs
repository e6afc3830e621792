//! Communities by the map equation: how shortly a random walk on a graph can be told.
//!
//! M. Rosvall, C. T. Bergstrom. *Maps of Random Walks on Complex Networks Reveal Community Structure.* PNAS 105, 2008.
//! With flow $p_i$ of vertex $i$ (its share of all edge weights), $P_m$ of module $m$, and $q_m$ what leaves it, a step of the walk takes
//!
//! $$ L = H\Bigl(\sum_m q_m\Bigr) - 2 \sum_m H(q_m) - \sum_i H(p_i) + \sum_m H(q_m + P_m), \qquad H(x) = x \log_2 x $$
//!
//! bits. Unlike modularity it does not merge communities that are small beside the graph.
//!
//! The search is that of Louvain from a given partition: vertices move to the neighbouring module that shortens $L$ most, a vertex
//! being looked at again when a neighbour has moved; then modules move as wholes; then vertices again, until nothing moves.

use std::collections::VecDeque;

use crate::error::Result;
use crate::graph::Adjacency;
use crate::graph::louvain::number;
use crate::math;
use crate::run::Run;

/// A move must gain more bits than this, times the flow of what moves.
const LEAST: f64 = 1e-10;
/// Rounds of vertices and modules in turn.
const ROUNDS: usize = 10;
/// How many times as many moves as vertices a sweep may take.
const PATIENCE: usize = 20;

fn plogp(x: f64) -> f64 {
    if x > 0.0 { x * math::log2(x) } else { 0.0 }
}

/// How many bytes [`shortened`] holds beyond its graph of so many vertices.
pub(crate) fn shortened_cost(vertices: u64, edges: u64) -> u64 {
    60 * vertices + Adjacency::cost(vertices, edges) / 2
}

/// The bits that a step of a random walk on the graph takes with these modules, numbered from 0.
#[cfg(test)]
fn bits(graph: &Adjacency, modules: &[u32]) -> f64 {
    let mut walk = Walk::new(graph, modules.to_vec());
    walk.flow.iter_mut().for_each(|p| *p = plogp(*p));
    walk.length() - walk.flow.iter().sum::<f64>()
}

/// Modules that the search finds from `modules` on, numbered from 0 without gaps; vertices are looked at in this `order`.
///
/// # Errors
///
/// If the run is cancelled.
///
/// # Complexity
///
/// Time $O(m)$ a sweep over vertices.
pub(crate) fn shortened(
    graph: &Adjacency,
    mut modules: Vec<u32>,
    order: &[u32],
    run: &Run,
) -> Result<Vec<u32>> {
    for round in 0..ROUNDS {
        let moved = Walk::new(graph, modules).settled(order, run)?;
        modules = moved.modules;
        let k = number(&mut modules);
        let merged = merged(graph, &mut modules, k, run)?;
        if !merged || round + 1 == ROUNDS {
            break;
        }
    }
    number(&mut modules);
    Ok(modules)
}

/// Moves modules as wholes, and those of them in turn; whether any moved.
fn merged(graph: &Adjacency, modules: &mut [u32], k: usize, run: &Run) -> Result<bool> {
    if k < 2 {
        return Ok(false);
    }
    let coarse = graph.merged(modules, k);
    let order: Vec<u32> = (0..k as u32).collect();
    let mut labels = Walk::new(&coarse, order.clone()).settled(&order, run)?.modules;
    let fewer = number(&mut labels);
    if fewer == k {
        return Ok(false);
    }
    merged(&coarse, &mut labels, fewer, run)?;
    modules.iter_mut().for_each(|module| *module = labels[*module as usize]);
    Ok(true)
}

/// A random walk and its modules.
struct Walk<'a> {
    graph: &'a Adjacency,
    /// What all edges weigh, twice.
    total: f64,
    modules: Vec<u32>,
    /// Of every vertex.
    flow: Vec<f64>,
    /// Of every module.
    inside: Vec<f64>,
    leaving: Vec<f64>,
    all_leaving: f64,
    /// Vertices of every module.
    sizes: Vec<u32>,
    /// A module without vertices, as long as there is one.
    empty: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Adjacency, modules: Vec<u32>) -> Self {
        let n = graph.len();
        let mut flow: Vec<f64> = (0..n).map(|v| graph.strength(v)).collect();
        let total: f64 = flow.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        flow.iter_mut().for_each(|p| *p /= total);
        let k = modules.iter().max().map_or(0, |&most| most as usize + 1).max(n);
        let (mut inside, mut leaving, mut sizes) = (vec![0.0; k], vec![0.0; k], vec![0; k]);
        for (v, &module) in modules.iter().enumerate() {
            let own = module as usize;
            inside[own] += flow[v];
            sizes[own] += 1;
            let out = graph.neighbours(v).filter(|&(other, _)| modules[other as usize] != module);
            leaving[own] += out.map(|(_, w)| w).sum::<f64>() / total;
        }
        let empty = (0..k as u32).filter(|&m| sizes[m as usize] == 0).collect();
        let all_leaving = leaving.iter().sum();
        Walk { graph, total, modules, flow, inside, leaving, all_leaving, sizes, empty }
    }

    #[cfg(test)]
    /// The bits of a step, but for those of the vertices, which do not change.
    fn length(&self) -> f64 {
        let of = |(&q, &p): (&f64, &f64)| plogp(q + p) - 2.0 * plogp(q);
        plogp(self.all_leaving) + self.leaving.iter().zip(&self.inside).map(of).sum::<f64>()
    }

    /// The same with vertices moved until none gains by it.
    fn settled(mut self, order: &[u32], run: &Run) -> Result<Self> {
        let n = self.modules.len();
        let mut queue: VecDeque<u32> = order.iter().copied().collect();
        let mut waiting = vec![true; n];
        let mut to = vec![0.0f64; self.inside.len()];
        let mut touched: Vec<u32> = Vec::new();
        let mut looks = 0usize;
        while let Some(v) = queue.pop_front() {
            looks += 1;
            if looks.is_multiple_of(1 << 14) {
                run.tick("communities", looks as u64, None)?;
            }
            waiting[v as usize] = false;
            if looks > PATIENCE * n + 1000 {
                break;
            }
            let moved = self.moved(v as usize, &mut to, &mut touched);
            if moved {
                let module = self.modules[v as usize];
                for (other, _) in self.graph.neighbours(v as usize) {
                    let other = other as usize;
                    if !waiting[other] && self.modules[other] != module {
                        waiting[other] = true;
                        queue.push_back(other as u32);
                    }
                }
            }
        }
        Ok(self)
    }

    /// Moves a vertex where it gains most; whether it moved.
    fn moved(&mut self, v: usize, to: &mut [f64], touched: &mut Vec<u32>) -> bool {
        let own = self.modules[v];
        let mut out = 0.0;
        for (other, weight) in self.graph.neighbours(v) {
            let module = self.modules[other as usize];
            if to[module as usize] == 0.0 {
                touched.push(module);
            }
            to[module as usize] += weight;
            out += weight;
        }
        let total = self.total;
        let (out, p) = (out / total, self.flow[v]);
        let a = own as usize;
        let (q_a, p_a) = (self.leaving[a], self.inside[a]);
        // What is left of its module without it.
        let alone = self.sizes[a] == 1;
        let (rest_q, rest_p) =
            if alone { (0.0, 0.0) } else { (q_a - out + 2.0 * to[a] / total, p_a - p) };
        let term = |q: f64, p: f64| plogp(q + p) - 2.0 * plogp(q);
        let without = term(rest_q, rest_p) - term(q_a, p_a);
        let mut best = (-LEAST * p, own, 0.0, 0.0);
        let mut look = |module: u32, q_b: f64, p_b: f64, shared: f64| {
            let (new_q, new_p) = (q_b + out - 2.0 * shared, p_b + p);
            let all = self.all_leaving + (rest_q - q_a) + (new_q - q_b);
            let gain = plogp(all) - plogp(self.all_leaving) + without + term(new_q, new_p)
                - term(q_b, p_b);
            if gain < best.0 {
                best = (gain, module, new_q, new_p);
            }
        };
        for &module in touched.iter().filter(|&&module| module != own) {
            let b = module as usize;
            look(module, self.leaving[b], self.inside[b], to[b] / total);
        }
        if let Some(&module) = self.empty.last().filter(|_| !alone) {
            look(module, 0.0, 0.0, 0.0);
        }
        touched.drain(..).for_each(|module| to[module as usize] = 0.0);
        let (_, module, new_q, new_p) = best;
        if module == own {
            return false;
        }
        let b = module as usize;
        self.all_leaving += (rest_q - q_a) + (new_q - self.leaving[b]);
        (self.leaving[a], self.inside[a]) = (rest_q, rest_p);
        (self.leaving[b], self.inside[b]) = (new_q, new_p);
        if self.sizes[b] == 0 {
            self.empty.pop();
        }
        self.sizes[b] += 1;
        self.sizes[a] -= 1;
        if alone {
            self.empty.push(own);
        }
        self.modules[v] = module;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(n: usize, edges: &[(u32, u32, f64)]) -> Adjacency {
        Adjacency::new(n, |visit| edges.iter().for_each(|&(a, b, w)| visit(a, b, w)))
    }

    /// The map equation term by term: the code book of the modules and that of every module.
    fn by_books(n: usize, edges: &[(u32, u32, f64)], modules: &[u32]) -> f64 {
        let total: f64 = edges.iter().map(|e| 2.0 * e.2).sum();
        let (mut flow, mut leaving) = (vec![0.0; n], vec![0.0; n]);
        for &(a, b, w) in edges {
            flow[a as usize] += w / total;
            flow[b as usize] += w / total;
            if modules[a as usize] != modules[b as usize] {
                leaving[modules[a as usize] as usize] += w / total;
                leaving[modules[b as usize] as usize] += w / total;
            }
        }
        let entropy = |shares: &[f64]| {
            let all: f64 = shares.iter().sum();
            -shares.iter().filter(|&&x| x > 0.0).map(|x| x * math::log2(x / all)).sum::<f64>()
        };
        let books = (0..n as u32).map(|module| {
            let own = (0..n).filter(|&v| modules[v] == module).map(|v| flow[v]);
            entropy(&own.chain([leaving[module as usize]]).collect::<Vec<_>>())
        });
        entropy(&leaving) + books.sum::<f64>()
    }

    #[test]
    fn two_cliques_are_two_modules() {
        let clique =
            |from: u32| (from..from + 5).flat_map(move |a| (from..a).map(move |b| (a, b, 1.0)));
        let edges: Vec<_> = clique(0).chain(clique(5)).chain([(4, 5, 1.0)]).collect();
        let graph = graph(10, &edges);
        let order: Vec<u32> = (0..10).collect();
        let planted = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
        let found = shortened(&graph, order.clone(), &order, &Run::new(0)).unwrap();
        assert_eq!(found, planted);
        // A start that is wrong about one vertex is mended.
        let found = shortened(&graph, vec![0, 0, 0, 0, 1, 1, 1, 1, 1, 1], &order, &Run::new(0));
        assert_eq!(found.unwrap(), planted);
        assert!(bits(&graph, &planted) < bits(&graph, &[0; 10]));
    }

    proptest! {
        #[test]
        fn bits_are_those_of_the_books_and_the_search_saves_some(
            edges in prop::collection::vec((0..8u32, 0..8u32, prop_oneof![Just(1.0), Just(2.0), Just(0.5)]), 1..30),
            modules in prop::collection::vec(0..8u32, 8),
        ) {
            let graph = graph(8, &edges);
            let before = bits(&graph, &modules);
            prop_assert!((before - by_books(8, &edges, &modules)).abs() < 1e-9);
            let order: Vec<u32> = (0..8).collect();
            let found = shortened(&graph, modules, &order, &Run::new(0)).unwrap();
            prop_assert!(bits(&graph, &found) <= before + 1e-9);
        }
    }
}
