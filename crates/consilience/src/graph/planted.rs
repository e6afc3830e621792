//! Communities by description length: how shortly a graph can be told by its communities.
//!
//! The planted partition with degrees (B. Karrer, M. E. J. Newman. *Stochastic Blockmodels and Community Structure in Networks.* Physical
//! Review E 83, 2011; L. Zhang, T. P. Peixoto. *Statistical Inference of Assortative Community Structures.* Physical Review Research
//! 2, 2020): of the $m$ edges a share $\lambda$ lies within communities. An edge leads to a vertex in proportion to its degree, one within a
//! community among the vertices of that community. Told so, a graph with $e_c$ edges, degrees of $K_c$ and $n_c$ vertices in community $c$
//! takes
//!
//! $$ D = \sum_c e_c \ln \frac{K_c}{2m} - e \ln \lambda - (m - e) \ln (1 - \lambda) + \sum_c n_c \ln \frac{n}{n_c}, \qquad e = \sum_c e_c $$
//!
//! more nats than the same graph without communities; the last sum tells who is where. So communities are there if $D < 0$, and
//! one that is taken apart without need costs more than it saves: the map equation splits sparse large ones, modularity merges small ones.
//!
//! The search is that of Louvain from a given partition, with $\lambda$ that of the partition before. If something is known beforehand of
//! who is where, telling it takes less: the search weighs the last sum by a *price*.

use std::collections::VecDeque;

use crate::error::Result;
use crate::graph::Adjacency;
use crate::graph::louvain::number;
use crate::math;
use crate::run::Run;

/// A move must save more nats than this.
const LEAST: f64 = 1e-9;
/// Rounds of vertices and communities in turn, at most: from a good start the second or third changes nothing any more.
const ROUNDS: usize = 10;
/// How many times as many moves as vertices a sweep may take: far more than were ever seen, so that it ends whatever rounding does.
const PATIENCE: usize = 20;
/// The share of edges within communities is at least this, and at most as far from 1: else the first move would be held to be certain.
const CERTAIN: f64 = 0.01;

/// How many bytes [`told_shorter`] holds beyond its graph of so many vertices.
pub(crate) fn told_shorter_cost(vertices: u64, edges: u64) -> u64 {
    100 * vertices + Adjacency::cost(vertices, edges) / 2
}

/// How many nats fewer the graph takes with these communities, numbered from 0, than without any: $-D$.
///
/// Weights count as numbers of edges.
pub(crate) fn saved(graph: &Adjacency, communities: &[u32]) -> f64 {
    let terms = Terms { odds: 0.0, price: 1.0 };
    let told = Told::new(graph, vec![1.0; graph.len()], communities.to_vec(), terms);
    let inside: f64 = told.inside.iter().sum();
    let (within, out) = (inside / told.edges, 1.0 - inside / told.edges);
    let entropy = |share: f64| if share > 0.0 { share * math::ln(share) } else { 0.0 };
    told.edges * (entropy(within) + entropy(out)) - told.nats.iter().sum::<f64>()
}

/// Communities that the search finds from `communities` on, numbered from 0 without gaps; vertices are looked at in turn. Weights
/// count as numbers of edges, a nat of who is where costs the `price`.
///
/// # Errors
///
/// If the run is cancelled.
///
/// # Complexity
///
/// Time $O(m)$ a sweep over vertices.
pub(crate) fn told_shorter(
    graph: &Adjacency,
    mut communities: Vec<u32>,
    price: f64,
    run: &Run,
) -> Result<Vec<u32>> {
    let sizes = vec![1.0; graph.len()];
    number(&mut communities);
    for _ in 0..ROUNDS {
        let before = communities.clone();
        let terms = Terms { odds: odds(graph, &communities), price };
        communities = Told::new(graph, sizes.clone(), communities, terms).settled(run)?.communities;
        let k = number(&mut communities);
        merged(graph, &sizes, &mut communities, k, terms, run)?;
        number(&mut communities);
        if communities == before {
            break;
        }
    }
    Ok(communities)
}

/// $\ln \lambda / (1 - \lambda)$ of a partition.
fn odds(graph: &Adjacency, communities: &[u32]) -> f64 {
    let (mut within, mut all) = (0.0, 0.0);
    for (v, &own) in communities.iter().enumerate() {
        for (other, weight) in graph.neighbours(v) {
            all += weight;
            within += if communities[other as usize] == own { weight } else { 0.0 };
        }
    }
    let within = (within / all.max(f64::MIN_POSITIVE)).clamp(CERTAIN, 1.0 - CERTAIN);
    math::ln(within / (1.0 - within))
}

/// Moves communities as wholes, and those of them in turn.
fn merged(
    graph: &Adjacency,
    sizes: &[f64],
    communities: &mut [u32],
    k: usize,
    terms: Terms,
    run: &Run,
) -> Result<()> {
    if k < 2 {
        return Ok(());
    }
    let coarse = graph.merged(communities, k);
    let mut own = vec![0.0; k];
    communities.iter().zip(sizes).for_each(|(&c, size)| own[c as usize] += size);
    let alone = (0..k as u32).collect();
    let mut labels = Told::new(&coarse, own.clone(), alone, terms).settled(run)?.communities;
    let fewer = number(&mut labels);
    if fewer < k {
        merged(&coarse, &own, &mut labels, fewer, terms, run)?;
        communities.iter_mut().for_each(|c| *c = labels[*c as usize]);
    }
    Ok(())
}

/// What a search holds on to.
#[derive(Clone, Copy)]
struct Terms {
    /// $\ln \lambda / (1 - \lambda)$.
    odds: f64,
    /// What a nat of who is where costs.
    price: f64,
}

/// A graph told by its communities.
struct Told<'a> {
    graph: &'a Adjacency,
    terms: Terms,
    /// The weight of all edges.
    edges: f64,
    /// The number of vertices that are told.
    all: f64,
    /// Degree and size of every vertex.
    degrees: Vec<f64>,
    sizes: Vec<f64>,
    communities: Vec<u32>,
    /// Of every community: edges within, degrees, size, and the nats that these take.
    inside: Vec<f64>,
    degree: Vec<f64>,
    size: Vec<f64>,
    nats: Vec<f64>,
    /// Communities without vertices.
    empty: Vec<u32>,
}

impl<'a> Told<'a> {
    fn new(graph: &'a Adjacency, sizes: Vec<f64>, communities: Vec<u32>, terms: Terms) -> Self {
        let n = graph.len();
        let degrees: Vec<f64> = (0..n).map(|v| graph.strength(v)).collect();
        let edges = 0.5 * degrees.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let k = communities.iter().max().map_or(0, |&most| most as usize + 1).max(n);
        let (mut inside, mut degree, mut size) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
        for (v, &own) in communities.iter().enumerate() {
            let c = own as usize;
            degree[c] += degrees[v];
            size[c] += sizes[v];
            let same = graph.neighbours(v).filter(|&(other, _)| communities[other as usize] == own);
            inside[c] += graph.loop_of(v) + 0.5 * same.map(|(_, w)| w).sum::<f64>();
        }
        let empty = (0..k as u32).filter(|&c| size[c as usize] == 0.0).collect();
        let all = sizes.iter().sum();
        let nats = vec![0.0; k];
        let mut told = Told {
            graph,
            terms,
            edges,
            all,
            degrees,
            sizes,
            communities,
            inside,
            degree,
            size,
            nats,
            empty,
        };
        told.nats = (0..k).map(|c| told.of(told.inside[c], told.degree[c], told.size[c])).collect();
        told
    }

    /// The nats of a community.
    fn of(&self, inside: f64, degree: f64, size: f64) -> f64 {
        let Terms { odds, price } = self.terms;
        let who = if size > 0.0 { -price * size * math::ln(size / self.all) } else { 0.0 };
        if inside <= 0.0 || degree <= 0.0 {
            return who;
        }
        who + inside * (math::ln(degree / (2.0 * self.edges)) - odds)
    }

    /// The same with vertices moved until none saves anything by it.
    fn settled(mut self, run: &Run) -> Result<Self> {
        let n = self.communities.len();
        let mut queue: VecDeque<u32> = (0..n as u32).collect();
        let mut waiting = vec![true; n];
        let mut to = vec![0.0f64; self.inside.len()];
        let mut touched: Vec<u32> = Vec::new();
        let mut looks = 0usize;
        while let Some(v) = queue.pop_front() {
            looks += 1;
            if looks.is_multiple_of(1 << 14) {
                run.tick("communities", looks as u64, None)?;
            }
            if looks > PATIENCE * n + 1000 {
                break;
            }
            waiting[v as usize] = false;
            if self.moved(v as usize, &mut to, &mut touched) {
                let own = self.communities[v as usize];
                for (other, _) in self.graph.neighbours(v as usize) {
                    let other = other as usize;
                    if !waiting[other] && self.communities[other] != own {
                        waiting[other] = true;
                        queue.push_back(other as u32);
                    }
                }
            }
        }
        Ok(self)
    }

    /// Moves a vertex where it saves most; whether it moved.
    fn moved(&mut self, v: usize, to: &mut [f64], touched: &mut Vec<u32>) -> bool {
        let own = self.communities[v];
        let a = own as usize;
        for (other, weight) in self.graph.neighbours(v) {
            let c = self.communities[other as usize];
            if to[c as usize] == 0.0 {
                touched.push(c);
            }
            to[c as usize] += weight;
        }
        if touched.iter().all(|&c| c == own) {
            // With all its neighbours it stays.
            touched.drain(..).for_each(|c| to[c as usize] = 0.0);
            return false;
        }
        let (loops, degree, size) = (self.graph.loop_of(v), self.degrees[v], self.sizes[v]);
        let alone = self.size[a] <= size;
        let rest = if alone {
            [0.0; 3]
        } else {
            [self.inside[a] - to[a] - loops, self.degree[a] - degree, self.size[a] - size]
        };
        let rest_nats = self.of(rest[0], rest[1], rest[2]);
        let without = rest_nats - self.nats[a];
        let mut best = (-LEAST, own, [0.0; 3], 0.0);
        let others = touched.iter().copied().filter(|&c| c != own);
        for community in others.chain(self.empty.last().copied().filter(|_| !alone)) {
            let c = community as usize;
            let joined =
                [self.inside[c] + to[c] + loops, self.degree[c] + degree, self.size[c] + size];
            let nats = self.of(joined[0], joined[1], joined[2]);
            let change = without + nats - self.nats[c];
            if change < best.0 {
                best = (change, community, joined, nats);
            }
        }
        touched.drain(..).for_each(|c| to[c as usize] = 0.0);
        let (_, community, joined, nats) = best;
        if community == own {
            return false;
        }
        let b = community as usize;
        if self.size[b] == 0.0 {
            self.empty.pop();
        }
        [self.inside[b], self.degree[b], self.size[b]] = joined;
        [self.inside[a], self.degree[a], self.size[a]] = rest;
        (self.nats[a], self.nats[b]) = (rest_nats, nats);
        if alone {
            self.empty.push(own);
        }
        self.communities[v] = community;
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

    /// The formula of the module, edge by edge and vertex by vertex.
    fn by_edges(n: usize, edges: &[(u32, u32, f64)], communities: &[u32]) -> f64 {
        let m: f64 = edges.iter().map(|e| e.2).sum();
        let of = |v: u32| communities[v as usize];
        let degree = |c: u32| {
            let ends = edges.iter().flat_map(|&(a, b, w)| [(a, w), (b, w)]);
            ends.filter(|&(v, _)| of(v) == c).map(|(_, w)| w).sum::<f64>()
        };
        let within: f64 = edges.iter().filter(|e| of(e.0) == of(e.1)).map(|e| e.2).sum::<f64>() / m;
        let edge = |&(a, b, w): &(u32, u32, f64)| {
            w * if of(a) == of(b) {
                math::ln(degree(of(a)) / (2.0 * m)) - math::ln(within)
            } else {
                -math::ln(1.0 - within)
            }
        };
        let size = |c: u32| communities.iter().filter(|&&x| x == c).count() as f64;
        let who = |&c: &u32| math::ln(n as f64 / size(c));
        edges.iter().map(edge).sum::<f64>() + communities.iter().map(who).sum::<f64>()
    }

    fn cliques(k: u32, of: u32) -> Vec<(u32, u32, f64)> {
        let clique = |c: u32| {
            let own = c * of..(c + 1) * of;
            own.clone().flat_map(move |a| (c * of..a).map(move |b| (a, b, 1.0)))
        };
        let chain = (1..k).map(|c| (c * of - 1, c * of, 1.0));
        (0..k).flat_map(clique).chain(chain).collect()
    }

    #[test]
    fn cliques_are_communities_and_what_was_taken_apart_is_mended() {
        let graph = graph(40, &cliques(4, 10));
        let planted: Vec<u32> = (0..40).map(|v| v / 10).collect();
        let halves: Vec<u32> = (0..40).map(|v| v / 5).collect();
        assert_eq!(told_shorter(&graph, halves.clone(), 1.0, &Run::new(0)).unwrap(), planted);
        assert!(saved(&graph, &planted) > saved(&graph, &halves));
        assert!(saved(&graph, &planted) > 0.0);
        assert!(saved(&graph, &[0; 40]).abs() < 1e-12, "one community tells nothing");
    }

    proptest! {
        #[test]
        fn nats_are_those_of_the_edges(
            edges in prop::collection::vec((0..8u32, 0..8u32, prop_oneof![Just(1.0), Just(2.0), Just(0.5)]), 1..30),
            communities in prop::collection::vec(0..8u32, 8),
        ) {
            let found = saved(&graph(8, &edges), &communities);
            prop_assert!((found + by_edges(8, &edges, &communities)).abs() < 1e-9);
        }

        /// With the odds held, what moves never takes more nats, and they are kept up to date.
        #[test]
        fn settling_saves_nats(
            edges in prop::collection::vec((0..8u32, 0..8u32, prop_oneof![Just(1.0), Just(2.0), Just(0.5)]), 1..30),
            communities in prop::collection::vec(0..8u32, 8),
            odds in -1.0..3.0f64,
            price in 0.5..1.0f64,
        ) {
            let graph = graph(8, &edges);
            let new = |of: Vec<u32>| Told::new(&graph, vec![1.0; 8], of, Terms { odds, price });
            let before: f64 = new(communities.clone()).nats.iter().sum();
            let settled = new(communities).settled(&Run::new(0)).unwrap();
            let kept: f64 = settled.nats.iter().sum();
            let anew: f64 = new(settled.communities).nats.iter().sum();
            prop_assert!((kept - anew).abs() < 1e-9 && kept <= before + 1e-9);
        }
    }
}
