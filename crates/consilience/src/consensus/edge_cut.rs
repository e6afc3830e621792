//! Edge cut: communities of a network on which many community detections agree.
//!
//! *ECG* (V. Poulin, F. Théberge, Applied Network Science 4, 2019), *FastConsensus* (A. Tandon et al., Physical Review E 99, 2019) and
//! *FastEnsemble* (Y. Tabatabaee et al., PLOS Complex Systems 2, 2025) weigh an edge by the share $s_e$ of the members that put its ends into one
//! cluster, and go on with the weighted graph. So does this:
//!
//! 1. edges with $s_e < t$ are cut;
//! 2. the graph that is left, weighted ($s_e$ times the weight of the edge), is parted by the map equation, from single vertices on; or
//!    what is still connected is the answer (`search=none`);
//! 3. clusters that the graph does not hold together are taken apart, and parts smaller than `smallest` join the part that they are linked with most:
//!    every cluster is connected.
//!
//! # Where we depart from the papers
//!
//! They end with modularity or with the cut alone. Modularity merges communities that are small beside the graph, however sure
//! the members are of them; the map equation does not. On LFR graphs of 10,000 vertices (`benches/networks.py`) the mean ARI over $\mu$ = .1 to .5 is in
//! `docs/workflows.md`.
//!
//! # No communities
//!
//! Members find communities in random graphs too, but others each time. Fleiss' $\kappa$ of the members about which edges lie within
//! a cluster tells how much they agree beyond chance. On Erdős–Rényi, regular and scale-free random graphs it is low, the more so the more
//! vertices $n$ and the larger the mean degree $d$; if
//!
//! $$ \kappa < 0.15 + 2 / d^2 + 2.5 / \sqrt{n}, $$
//!
//! and if the members are less than half of the way from chance to full agreement on all pairs of objects (element-centric similarity; where hardly an
//! edge lies between communities, $\kappa$ only sees single errors), there are no communities: the answer are the connected components of the graph, and that is said.
//!
//! # Objects, not profiles
//!
//! Objects with equal labels need not be linked, so objects of one profile may part. Vertices are looked at in an order that
//! follows from shares and weights of edges (colour refinement), not from the order of rows.
//!
//! # Cost
//!
//! Time $O(m (r + t))$ for $m$ edges and $t$ sweeps, memory of about 30 bytes for an edge.

use rayon::prelude::*;

use crate::consensus::method::{ConsensusMethod, MethodInfo, Shape};
use crate::consensus::outcome::{Consensus, NO_CLUSTER, Value};
use crate::consensus::params::{at_least, params, words};
use crate::ensemble::{Contingency, Linked, NO_PROFILE, Profiles};
use crate::error::{Error, Result};
use crate::graph::map_equation::{shortened, shortened_cost};
use crate::graph::{Adjacency, Edges, UnionFind};
use crate::metrics::{element_similarity, element_similarity_of_shuffled};
use crate::run::Run;

/// What there is to know about the edge cut.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "edge-cut",
    title: "communities of a network: edges that the members agree on, parted by the map equation; needs the edges",
    reference: "V. Poulin, F. Theberge. Ensemble Clustering for Graphs: Comparisons and Applications. Applied Network Science 4, \
                2019; M. Rosvall, C. T. Bergstrom. Maps of Random Walks on Complex Networks Reveal Community Structure. PNAS 105, 2008.",
    missing: Some("an edge is judged by the members that label both ends"),
    edges: true,
    time: "O(m (r + t)) for m edges",
    memory: "about 30 m + 100 n bytes",
    ..EdgeCut::DECLARED
};

params! {
    /// [Edge cut](self): communities of a network on which the members agree.
    pub struct EdgeCut(): INFO {
        /// The least share of members that must put the ends of an edge together for it not to be cut.
        threshold: Option<f64> = "0.2; without a search 0.9", at_least(0.0).at_most(1.0);
        /// What the parts that are left are made of.
        search: EdgeSearch = EdgeSearch::MapEquation;
        /// Parts of fewer objects join the part that they are linked with most.
        smallest: usize = 3, at_least(1.0);
    }
}

words! {
    /// How communities are found among the edges that are left.
    pub enum EdgeSearch {
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
            EdgeSearch::MapEquation => 0.2,
            EdgeSearch::None => 0.9,
        }
    }
}

/// Shares of single precision.
const ROUNDING: f64 = 1e-6;

impl EdgeCut {
    fn of_graph(&self, profiles: &Profiles, edges: &Edges, run: &Run) -> Result<Consensus> {
        let n = edges.n_objects();
        run.tick("edges", 0, None)?;
        let linked = Linked::new(profiles, edges);
        run.check()?;
        let share = |edge: usize| f64::from(linked.shares[edge]);
        // Objects that no member labels have no place in any cluster.
        let counts = |edge: usize| !share(edge).is_nan();
        let none = is_random(profiles, edges, &linked, run)?;
        let mut labels = if none {
            components(n, edges, counts)
        } else {
            let threshold = self.threshold.unwrap_or(self.search.threshold()) - ROUNDING;
            let left = |edge: usize| share(edge) >= threshold;
            match self.search {
                EdgeSearch::None => components(n, edges, left),
                EdgeSearch::MapEquation => {
                    let graph = Adjacency::new(n, |visit| {
                        for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
                            if left(edge) && a != b {
                                visit(a, b, share(edge) * edges.weight(edge));
                            }
                        }
                    });
                    run.check()?;
                    let order = by_neighbours(&graph);
                    let graph = graph.reordered(&order);
                    run.check()?;
                    // Parts of what is left would hold vertices together that the search could not part.
                    let alone: Vec<u32> = (0..n as u32).collect();
                    let found = shortened(&graph, alone.clone(), &alone, run)?;
                    let mut labels = alone;
                    order.iter().zip(found).for_each(|(&v, label)| labels[v as usize] = label);
                    labels
                }
            }
        };
        run.check()?;
        if !none {
            labels = connected(n, edges, &labels, counts);
            let weight =
                |edge: usize| if counts(edge) { share(edge) * edges.weight(edge) } else { 0.0 };
            labels = joined(edges, labels, self.smallest, counts, weight);
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
        if let Some(agreement) = linked.agreement {
            diagnostics.push("agreement on edges", Value::Number(agreement));
            diagnostics.push("agreement on random graphs", Value::Number(random_agreement(edges)));
        }
        diagnostics
            .push("communities", Value::Text(if none { "none" } else { "found" }.to_owned()));
        if none {
            let agreement = linked.agreement.unwrap_or(0.0);
            run.warn(&format!(
                "no communities: the clusterings agree on the edges no more than on those of a random graph (kappa {agreement:.2}, \
                 communities have above {:.2}); the answer is what the edges connect",
                random_agreement(edges)
            ));
        }
        Ok(consensus)
    }
}

impl ConsensusMethod for EdgeCut {
    fn cost(&self, shape: &Shape) -> u64 {
        100 * shape.n as u64
    }

    fn solve(&self, _: &Profiles, _: Option<&[u32]>, _: &Run) -> Result<Consensus> {
        Err(Error::NeedsEdges { method: INFO.name })
    }

    fn cost_on(&self, shape: &Shape, edges: u64) -> u64 {
        let n = shape.n as u64;
        self.cost(shape) + 4 * edges + 2 * Adjacency::cost(n, edges) + shortened_cost(n, edges)
    }

    fn solve_on(&self, profiles: &Profiles, edges: &Edges, run: &Run) -> Result<Consensus> {
        self.of_graph(profiles, edges, run)
    }
}

/// The agreement on edges that members reach on random graphs, at most.
fn random_agreement(edges: &Edges) -> f64 {
    let mut linked = vec![false; edges.n_objects()];
    edges.pairs().iter().flatten().for_each(|&end| linked[end as usize] = true);
    let n = linked.iter().filter(|&&linked| linked).count().max(1) as f64;
    let degree = 2.0 * edges.len() as f64 / n;
    0.15 + 2.0 / (degree * degree) + 2.5 / n.sqrt()
}

/// How far members are on the way from chance to full agreement on which objects are together, from which on they do not
/// cut at random.
const SAME: f64 = 0.5;

/// Whether the members agree on the edges no more than on those of a random graph, and on all pairs of objects hardly more.
/// Members that put all ends together have nothing to disagree on.
fn is_random(profiles: &Profiles, edges: &Edges, linked: &Linked, run: &Run) -> Result<bool> {
    if linked.agreement.is_none_or(|found| found >= random_agreement(edges)) {
        return Ok(false);
    }
    run.check()?;
    let r = profiles.n_members();
    let pairs: Vec<(usize, usize)> = (0..r).flat_map(|p| (0..p).map(move |q| (p, q))).collect();
    let of = |&(p, q): &(usize, usize)| {
        let table = Contingency::of_members(profiles, p, q);
        let (rows, columns) = (table.row_weights(), table.column_weights());
        [element_similarity(&table), element_similarity_of_shuffled(rows, columns)]
    };
    let found: Vec<[f64; 2]> = pairs.par_iter().map(of).collect();
    let mean = |j: usize| found.iter().map(|pair| pair[j]).sum::<f64>() / found.len() as f64;
    let (similarity, chance) = (mean(0), mean(1));
    Ok(chance >= 1.0 || (similarity - chance) / (1.0 - chance) < SAME)
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
/// they are linked with most, of equals the larger.
fn joined(
    edges: &Edges,
    mut labels: Vec<u32>,
    smallest: usize,
    counts: impl Fn(usize) -> bool,
    weight: impl Fn(usize) -> f64,
) -> Vec<u32> {
    loop {
        let k = labels.iter().max().map_or(0, |&most| most as usize + 1);
        let mut sizes = vec![0usize; k];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let small = |label: u32| sizes[label as usize] < smallest;
        // What every small part shares with every other.
        let mut links: Vec<(u32, u32, f64)> = Vec::new();
        for (edge, &[a, b]) in edges.pairs().iter().enumerate() {
            let (a, b) = (labels[a as usize], labels[b as usize]);
            if a != b && counts(edge) {
                for (from, to) in [(a, b), (b, a)] {
                    if small(from) {
                        links.push((from, to, weight(edge)));
                    }
                }
            }
        }
        if links.is_empty() {
            return labels;
        }
        links.sort_by(|x, y| (x.0, x.1).cmp(&(y.0, y.1)).then(x.2.total_cmp(&y.2)));
        let mut sets = UnionFind::new(k);
        let mut at = 0;
        while at < links.len() {
            let from = links[at].0;
            let mut best: Option<(f64, usize, u32)> = None;
            while at < links.len() && links[at].0 == from {
                let to = links[at].1;
                let mut sum = 0.0;
                while at < links.len() && (links[at].0, links[at].1) == (from, to) {
                    sum += links[at].2;
                    at += 1;
                }
                let found = (sum, sizes[to as usize], to);
                if best.is_none_or(|best| (found.0, found.1) > (best.0, best.1)) {
                    best = Some(found);
                }
            }
            let (_, _, to) = best.expect("it has a link");
            sets.union(from as usize, to as usize);
        }
        let merged = sets.labels();
        labels.iter_mut().for_each(|label| *label = merged[*label as usize]);
    }
}

/// Vertices in an order that their edges tell: by colours that are refined by those of their neighbours.
fn by_neighbours(graph: &Adjacency) -> Vec<u32> {
    const ROUNDS: usize = 3;
    let mix = |x: u64| {
        let x = (x ^ (x >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    };
    let n = graph.len();
    let mut colours = vec![1u64; n];
    for _ in 0..ROUNDS {
        let refined = |v: usize| {
            let of = |(other, weight): (u32, f64)| mix(colours[other as usize] ^ weight.to_bits());
            let sum = graph.neighbours(v).map(of).fold(0u64, u64::wrapping_add);
            mix(colours[v].wrapping_add(sum))
        };
        colours = (0..n).into_par_iter().with_min_len(1024).map(refined).collect();
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.par_sort_by_key(|&v| colours[v as usize]);
    order
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
