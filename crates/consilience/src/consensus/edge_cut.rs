//! Edge cut: communities of a network on which many community detections agree.
//!
//! *ECG* (V. Poulin, F. Théberge, Applied Network Science 4, 2019), *FastConsensus* (A. Tandon et al., Physical Review E 99, 2019) and
//! *FastEnsemble* (Y. Tabatabaee et al., PLOS Complex Systems 2, 2025) weigh an edge by the share $s_e$ of the members that put its ends into one
//! cluster, and go on with the weighted graph. So does this:
//!
//! 1. edges with $s_e < t$ are cut;
//! 2. the graph that is left, weighted ($s_e$ times the weight of the edge), is parted by the map equation, from single vertices on;
//! 3. from there vertices and parts move so that the graph itself, all edges without their weights, can be told in the fewest nats by its communities
//!    (the planted partition with degrees), if it then takes fewer than without communities. `search=map-equation` leaves this out; with `search=none` what the cut leaves connected is the answer;
//! 4. clusters that the graph does not hold together are taken apart, and parts smaller than `smallest` join the part that they are linked with most:
//!    every cluster is connected.
//!
//! # Where we depart from the papers
//!
//! They end with modularity or with the cut alone. Modularity merges communities that are small beside the graph, however sure
//! the members are of them; the map equation does not, but takes large sparse ones apart. A description length does neither; its search needs
//! a good start, and that is what the members give. They also tell much of who is where: telling that in step 3 counts only 0.8 of what it takes. On LFR graphs of 10,000 vertices (`benches/networks.py`) the mean ARI over $\mu$ = .1 to .5 is in
//! `docs/workflows.md`.
//!
//! # No communities
//!
//! Members find communities in random graphs too, but others each time. Fleiss' $\kappa$ of the members about which edges lie within
//! a cluster tells how much they agree beyond chance. Only edges of the 2-core count: every member keeps a vertex with its only neighbour. On
//! Erdős–Rényi, regular and scale-free random graphs it is low, the more so the more vertices $n$ the core has and the larger their degrees (of
//! harmonic mean $d$). If
//!
//! $$ \kappa < \min(0.8,\; 0.15 + 2 / d^2 + 2.5 / \sqrt{n}), $$
//!
//! the communities must prove themselves: told by those of step 3, the graph must take fewer nats than a random graph with its degrees, who
//! is where included to the full. If it does not, there are no communities: the answer are the connected components of the graph, and that is said.
//!
//! # Objects, not profiles
//!
//! Objects with equal labels need not be linked, so objects of one profile may part. Vertices are looked at, and ties decided, in an order
//! that follows from shares and weights of edges (colour refinement), not from the order of rows. Only between vertices that
//! refinement cannot tell apart, mostly because the graph is symmetric, the rows decide: of answers that are as good, which one is given.
//!
//! Parallel edges are one, edges of weight 0 and from a vertex to itself none, and the unit of weights does not matter.
//!
//! # Cost
//!
//! Where the members' agreement is unclear, step 3 is done whatever the search. Time $O(m (r + \log m + t))$ for $m$ edges and $t$ sweeps, memory of up to 60 bytes for an edge.

mod evidence;
mod order;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use rayon::prelude::*;

use crate::consensus::method::{ConsensusMethod, MethodInfo, Shape};
use crate::consensus::outcome::{Consensus, NO_CLUSTER, Value};
use crate::consensus::params::{at_least, params, words};
use crate::ensemble::{Linked, NO_PROFILE, Profiles};
use crate::error::{Error, Result};
use crate::graph::map_equation::{shortened, shortened_cost};
use crate::graph::planted::{saved, told_shorter, told_shorter_cost};
use crate::graph::{Adjacency, Edges, UnionFind};
use crate::run::Run;

use self::evidence::Evidence;
use self::order::by_neighbours;

/// What there is to know about the edge cut.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "edge-cut",
    title: "communities of a network: edges that the members agree on, parted so that the graph is told shortest; needs the edges",
    reference: "V. Poulin, F. Theberge. Ensemble Clustering for Graphs: Comparisons and Applications. Applied Network Science 4, \
                2019; M. Rosvall, C. T. Bergstrom. Maps of Random Walks on Complex Networks Reveal Community Structure. PNAS 105, 2008.",
    missing: Some("an edge is judged by the members that label both ends"),
    edges: true,
    time: "O(m (r + log m + t)) for m edges",
    memory: "up to 60 m + 200 n bytes",
    ..EdgeCut::DECLARED
};

params! {
    /// [Edge cut](self): communities of a network on which the members agree.
    pub struct EdgeCut(): INFO {
        /// The least share of members that must put the ends of an edge together for it not to be cut.
        threshold: Option<f64> = "0.2; without a search 0.9", at_least(0.0).at_most(1.0);
        /// What the parts that are left are made of.
        search: EdgeSearch = EdgeSearch::Planted;
        /// Parts of fewer objects join the part that they are linked with most.
        smallest: usize = 3, at_least(1.0);
    }
}

words! {
    /// How communities are found among the edges that are left.
    pub enum EdgeSearch {
        /// As `map-equation`; then vertices and parts move so that the graph itself, without the shares, can be told shortest by its communities.
        Planted = "planted",
        /// Vertices and parts move so that random walks on the weighted graph can be told shortest.
        MapEquation = "map-equation",
        /// Not at all: what the cut leaves connected are the communities.
        None = "none",
    }
}

impl EdgeSearch {
    /// Below which share edges are cut. Measured on LFR graphs: `docs/workflows.md`.
    fn threshold(self) -> f64 {
        match self {
            EdgeSearch::Planted | EdgeSearch::MapEquation => 0.2,
            EdgeSearch::None => 0.9,
        }
    }
}

/// Shares of single precision.
const ROUNDING: f64 = 1e-6;

/// What a nat of who is where costs where the members agree, who tell much of it. Between .75 and .9 it makes no difference on LFR graphs
/// with $\mu$ up to .4; nearer to 1, communities that are hard to see ($\mu$ = .5) are merged that the members tell apart.
const KNOWN: f64 = 0.8;

impl EdgeCut {
    fn of_graph(&self, profiles: &Profiles, edges: &Edges, run: &Run) -> Result<Consensus> {
        let n = edges.n_objects();
        run.tick("edges", 0, None)?;
        let edges = &*edges.simple();
        run.check()?;
        let linked = Linked::new(profiles, edges);
        run.check()?;
        let share = |edge: usize| f64::from(linked.shares[edge]);
        // Objects that no member labels have no place in any cluster.
        let counts = |edge: usize| !share(edge).is_nan();
        let order = by_neighbours(edges, &linked, run)?;
        let evidence = run.install(|| Evidence::new(profiles, edges, &linked));
        run.check()?;
        let found = |search: EdgeSearch, price: f64| {
            let threshold = self.threshold.unwrap_or(search.threshold()) - ROUNDING;
            searched(edges, &linked, &order, Wanted { search, threshold, price }, run)
        };
        let (mut labels, mut none) = (None, false);
        if !evidence.is_clear() {
            let (planted, saved) = found(EdgeSearch::Planted, 1.0)?;
            none = saved <= 0.0;
            labels = Some(planted).filter(|_| self.search == EdgeSearch::Planted);
        }
        let mut labels = match labels {
            _ if none => components(n, edges, counts),
            Some(labels) => labels,
            None => found(self.search, KNOWN)?.0,
        };
        run.check()?;
        if !none {
            labels = connected(n, edges, &labels, counts);
            let weight =
                |edge: usize| if counts(edge) { share(edge) * edges.weight(edge) } else { 0.0 };
            let mut rank = vec![0u32; n];
            (0..).zip(&order).for_each(|(at, &v)| rank[v as usize] = at);
            labels = joined(edges, labels, &rank, self.smallest, counts, weight, run)?;
        }
        let map = profiles.map();
        labels
            .iter_mut()
            .zip(map)
            .filter(|(_, s)| **s == NO_PROFILE)
            .for_each(|(l, _)| *l = NO_CLUSTER);
        let mut consensus = told(profiles, edges, &linked, labels);
        let diagnostics = &mut consensus.diagnostics;
        let within = linked.shares.iter().filter(|share| !share.is_nan());
        let mean =
            within.clone().map(|&s| f64::from(s)).sum::<f64>() / within.count().max(1) as f64;
        diagnostics.push("mean share", Value::Number(mean));
        if let Some(agreement) = evidence.agreement {
            diagnostics.push("agreement on edges", Value::Number(agreement));
            diagnostics.push("agreement on random graphs", Value::Number(evidence.line));
        }
        diagnostics
            .push("communities", Value::Text(if none { "none" } else { "found" }.to_owned()));
        if none {
            let why = match evidence.agreement {
                Some(agreement) if evidence.line < 1.0 => format!(
                    "the clusterings agree on the edges no more than they might on those of a random graph (kappa {agreement:.2}, \
                     at most {:.2} there), and communities do not describe the network more briefly",
                    evidence.line
                ),
                _ => "in a network so small, or with so few edges, they cannot be told from chance"
                    .to_owned(),
            };
            run.warn(&format!("no communities: {why}; the answer is what the edges connect"));
        }
        Ok(consensus)
    }
}

impl ConsensusMethod for EdgeCut {
    fn cost(&self, shape: &Shape) -> u64 {
        200 * shape.n as u64
    }

    fn solve(&self, _: &Profiles, _: Option<&[u32]>, _: &Run) -> Result<Consensus> {
        Err(Error::NeedsEdges { method: INFO.name })
    }

    fn cost_on(&self, shape: &Shape, edges: u64) -> u64 {
        let n = shape.n as u64;
        // Simple edges and shares; the search, or what small parts share.
        let search = 2 * Adjacency::cost(n, edges)
            + shortened_cost(n, edges).max(told_shorter_cost(n, edges));
        self.cost(shape) + 20 * edges + search.max(32 * edges)
    }

    fn solve_on(&self, profiles: &Profiles, edges: &Edges, run: &Run) -> Result<Consensus> {
        self.of_graph(profiles, edges, run)
    }
}

/// How communities are to be searched.
#[derive(Clone, Copy)]
struct Wanted {
    search: EdgeSearch,
    /// Below which share edges are cut.
    threshold: f64,
    /// What a nat of who is where costs.
    price: f64,
}

/// The communities of a search, and how many nats fewer the graph takes with them than without.
fn searched(
    edges: &Edges,
    linked: &Linked,
    order: &[u32],
    Wanted { search, threshold, price }: Wanted,
    run: &Run,
) -> Result<(Vec<u32>, f64)> {
    let n = edges.n_objects();
    let share = |edge: usize| f64::from(linked.shares[edge]);
    if search == EdgeSearch::None {
        return Ok((components(n, edges, |edge| share(edge) >= threshold), 0.0));
    }
    // Vertices that nothing links come after the others: where they are is not to be told.
    let mut linked_at_all = vec![false; n];
    for (edge, pair) in edges.pairs().iter().enumerate() {
        if !share(edge).is_nan() {
            pair.iter().for_each(|&end| linked_at_all[end as usize] = true);
        }
    }
    let in_order = |linked: bool| {
        let linked_at_all = &linked_at_all;
        order.iter().copied().filter(move |&v| linked_at_all[v as usize] == linked)
    };
    let mut place = vec![0u32; n];
    (0..).zip(in_order(true).chain(in_order(false))).for_each(|(at, v)| place[v as usize] = at);
    let vertices = in_order(true).count();
    let alone: Vec<u32> = (0..vertices as u32).collect();
    let graph = |weight: &dyn Fn(usize) -> f64| {
        run.check()?;
        let graph = Adjacency::new(vertices, |visit| {
            for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
                let weight = weight(edge);
                if weight > 0.0 {
                    visit(place[a as usize], place[b as usize], weight);
                }
            }
        });
        run.check()?;
        Ok::<_, Error>(graph.reordered(&alone))
    };
    let weight = |edge: usize| match share(edge) {
        share if share >= threshold => share * edges.weight(edge),
        _ => 0.0,
    };
    // Parts of what is left would hold vertices together that the search could not part.
    let mut found = shortened(&graph(&weight)?, alone.clone(), &alone, run)?;
    let mut fewer = 0.0;
    if search == EdgeSearch::Planted {
        // Every edge is one: were weights numbers of edges, a heavy one would prove a community of its ends.
        let graph = graph(&|edge| if share(edge).is_nan() { 0.0 } else { 1.0 })?;
        let told = told_shorter(&graph, found.clone(), price, run)?;
        fewer = saved(&graph, &told);
        // What tells nothing of communities has no say in which they are: the members know more of a small network.
        if fewer > 0.0 {
            found = told;
        }
    }
    // The others have numbers of their own, as their places are.
    let labels = place.into_iter().map(|at| found.get(at as usize).copied().unwrap_or(at));
    Ok((labels.collect(), fewer))
}

/// What the edges that `keep` keeps connect, numbered by first objects.
fn components(n: usize, edges: &Edges, keep: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut sets = UnionFind::new(n);
    for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
        if keep(edge) {
            sets.union(a as usize, b as usize);
        }
    }
    sets.labels()
}

/// The parts of clusters that the edges within them connect.
fn connected(n: usize, edges: &Edges, labels: &[u32], counts: impl Fn(usize) -> bool) -> Vec<u32> {
    components(n, edges, |edge| {
        let [a, b] = edges.pairs()[edge];
        counts(edge) && labels[a as usize] == labels[b as usize]
    })
}

/// The same parts, of which those of fewer than `smallest` objects have joined another along edges that count: the one that
/// they are linked with most, of equals the larger, then the one with the vertex of the least `rank`.
fn joined(
    edges: &Edges,
    mut labels: Vec<u32>,
    rank: &[u32],
    smallest: usize,
    counts: impl Fn(usize) -> bool,
    weight: impl Fn(usize) -> f64,
    run: &Run,
) -> Result<Vec<u32>> {
    loop {
        run.check()?;
        let k = labels.iter().max().map_or(0, |&most| most as usize + 1);
        let mut sizes = vec![0usize; k];
        let mut first = vec![u32::MAX; k];
        for (&label, &rank) in labels.iter().zip(rank) {
            sizes[label as usize] += 1;
            first[label as usize] = first[label as usize].min(rank);
        }
        let small = |label: u32| sizes[label as usize] < smallest;
        // What every small part shares with every other.
        let each = |visit: &mut dyn FnMut(u32, u32, usize)| {
            for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
                let (a, b) = (labels[a as usize], labels[b as usize]);
                if a != b && counts(edge) {
                    let both = [(a, b), (b, a)].into_iter().filter(|&(from, _)| small(from));
                    both.for_each(|(from, to)| visit(from, to, edge));
                }
            }
        };
        let mut several = 0;
        each(&mut |_, _, _| several += 1);
        if several == 0 {
            return Ok(labels);
        }
        let mut links: Vec<(u32, u32, f64)> = Vec::with_capacity(several);
        each(&mut |from, to, edge| links.push((from, to, weight(edge))));
        run.check()?;
        links.sort_unstable_by(|x, y| (x.0, x.1).cmp(&(y.0, y.1)).then(x.2.total_cmp(&y.2)));
        let mut sets = UnionFind::new(k);
        let mut at = 0;
        while at < links.len() {
            let from = links[at].0;
            let mut best: Option<(f64, usize, Reverse<u32>, u32)> = None;
            while at < links.len() && links[at].0 == from {
                let to = links[at].1;
                let mut sum = 0.0;
                while at < links.len() && (links[at].0, links[at].1) == (from, to) {
                    sum += links[at].2;
                    at += 1;
                }
                let found = (sum, sizes[to as usize], Reverse(first[to as usize]), to);
                if best.is_none_or(|best| found > best) {
                    best = Some(found);
                }
            }
            let (.., to) = best.expect("it has a link");
            sets.union(from as usize, to as usize);
        }
        let merged = sets.labels();
        labels.iter_mut().for_each(|label| *label = merged[*label as usize]);
    }
}

/// The consensus with these labels of the objects: of every profile that of most of its objects.
fn told(profiles: &Profiles, edges: &Edges, linked: &Linked, mut parted: Vec<u32>) -> Consensus {
    let k = number_but_none(&mut parted);
    // Which share of what every object is linked with stays in its cluster.
    let (mut own, mut all) = (vec![0.0; parted.len()], vec![0.0; parted.len()]);
    for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
        let share = f64::from(linked.shares[edge]);
        if a != b && share > 0.0 {
            let weight = share * edges.weight(edge);
            let [a, b] = [a as usize, b as usize];
            let stays = if parted[a] == parted[b] { weight } else { 0.0 };
            for end in [a, b] {
                own[end] += stays;
                all[end] += weight;
            }
        }
    }
    let mut objects: Vec<(u32, u32, u32)> = profiles
        .map()
        .iter()
        .zip(&parted)
        .zip(0..)
        .filter(|((s, _), _)| **s != NO_PROFILE)
        .map(|((&s, &label), i)| (s, label, i))
        .collect();
    objects.par_sort_unstable();
    let (mut labels, mut strength) = (vec![NO_CLUSTER; profiles.len()], vec![0.0; profiles.len()]);
    for group in objects.chunk_by(|a, b| a.0 == b.0) {
        let of_profile = group[0].0 as usize;
        let heaviest = group
            .chunk_by(|a, b| a.1 == b.1)
            .fold(&group[..0], |best, part| if part.len() > best.len() { part } else { best });
        labels[of_profile] = heaviest[0].1;
        let sure = |&(_, _, i): &(u32, u32, u32)| match all[i as usize] {
            0.0 => 1.0,
            all => (own[i as usize] / all).clamp(0.0, 1.0),
        };
        strength[of_profile] = group.iter().map(sure).sum::<f64>() / group.len() as f64;
    }
    Consensus { parted: Some(parted), strength, ..Consensus::from_labels(labels, k) }
}

/// Numbers labels from 0 by first appearance; how many there are.
fn number_but_none(labels: &mut [u32]) -> usize {
    let most =
        labels.iter().filter(|&&l| l != NO_CLUSTER).max().map_or(0, |&most| most as usize + 1);
    let (mut names, mut k) = (vec![NO_CLUSTER; most], 0);
    for label in labels.iter_mut().filter(|label| **label != NO_CLUSTER) {
        let name = &mut names[*label as usize];
        if *name == NO_CLUSTER {
            *name = k;
            k += 1;
        }
        *label = *name;
    }
    k as usize
}
