//! Graphs whose answers must not depend on how they are written.

use super::order::{colours, different};
use super::*;
use crate::ensemble::{Ensemble, HardMember};
use crate::rng::{Rng, Stream};
use crate::testing::profiles;

/// A small graph of groups with members that err.
struct Small {
    n: usize,
    pairs: Vec<[u32; 2]>,
    members: Vec<Vec<Option<i64>>>,
}

impl Small {
    fn new(rng: &mut Rng) -> Self {
        let n = 9 + rng.below(12);
        let group = |i: usize| i * 3 / n;
        let mut pairs = Vec::new();
        for a in 0..n {
            for b in 0..a {
                if rng.below(10) < if group(a) == group(b) { 5 } else { 1 } {
                    pairs.push([a as u32, b as u32]);
                }
            }
        }
        pairs.push([0, 1]);
        let mut label =
            |i: usize| Some(if rng.below(8) == 0 { rng.below(3) } else { group(i) } as i64);
        let members = (0..4).map(|_| (0..n).map(&mut label).collect()).collect();
        Small { n, pairs, members }
    }

    fn profiles(&self) -> Profiles {
        let member =
            |labels: &Vec<Option<i64>>| HardMember::from_integers("m", labels.clone()).into();
        profiles(&Ensemble::new(self.members.iter().map(member).collect()).unwrap())
    }

    fn labels(&self, method: &EdgeCut, weights: Option<Vec<f64>>) -> Vec<u32> {
        let edges = Edges::new(self.n, self.pairs.clone(), weights).unwrap();
        let found = method.of_graph(&self.profiles(), &edges, &Run::new(0).threads(1));
        found.unwrap().parted.unwrap()
    }

    /// Whether refinement tells all vertices apart.
    fn is_told(&self) -> bool {
        let edges = Edges::new(self.n, self.pairs.clone(), None).unwrap();
        let edges = edges.simple();
        let linked = Linked::new(&self.profiles(), &edges);
        different(&colours(&edges, &linked, &Run::new(0)).unwrap()) == self.n
    }

    /// The same with object `order[i]` at place `i`, and its edges backwards.
    fn reordered(&self, order: &[u32]) -> Self {
        let mut place = vec![0; self.n];
        order.iter().enumerate().for_each(|(at, &i)| place[i as usize] = at as u32);
        let pick = |labels: &Vec<Option<i64>>| order.iter().map(|&i| labels[i as usize]).collect();
        let pairs = self.pairs.iter().rev();
        Small {
            n: self.n,
            pairs: pairs.map(|&[a, b]| [place[b as usize], place[a as usize]]).collect(),
            members: self.members.iter().map(pick).collect(),
        }
    }
}

fn same(a: &[u32], b: &[u32]) -> bool {
    (0..a.len()).all(|i| (0..i).all(|j| (a[i] == a[j]) == (b[i] == b[j])))
}

#[test]
fn ties_do_not_depend_on_rows() {
    let mut rng = Rng::new(4, Stream::Data);
    let searches = [EdgeSearch::Planted, EdgeSearch::MapEquation, EdgeSearch::None];
    let (mut compared, mut several) = (0, 0);
    for _ in 0..600 {
        let small = Small::new(&mut rng);
        let order = rng.permutation(small.n);
        if !small.is_told() {
            continue;
        }
        for search in searches {
            let method = EdgeCut { search, ..EdgeCut::new() };
            let labels = small.labels(&method, None);
            let back: Vec<u32> = order.iter().map(|&i| labels[i as usize]).collect();
            assert!(same(&small.reordered(&order).labels(&method, None), &back), "{search:?}");
            compared += 1;
            several += usize::from(labels.iter().any(|&label| label > 1));
        }
    }
    assert!(compared > 400 && several > 20, "{compared} {several}");
}

#[test]
fn lines_twice_and_units_change_nothing() {
    let mut rng = Rng::new(5, Stream::Data);
    for _ in 0..100 {
        let mut small = Small::new(&mut rng);
        let mut pairs: Vec<[u32; 2]> =
            small.pairs.iter().map(|&[a, b]| [a.min(b), a.max(b)]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        small.pairs = pairs;
        let weights: Vec<f64> =
            small.pairs.iter().map(|_| (1 + rng.below(9)) as f64 / 7.0).collect();
        let method = EdgeCut::new();
        let (plain, weighted) =
            (small.labels(&method, None), small.labels(&method, Some(weights.clone())));
        for unit in [1e60, 1e-60] {
            let scaled = weights.iter().map(|w| w * unit).collect();
            assert_eq!(small.labels(&method, Some(scaled)), weighted);
        }
        let turned: Vec<[u32; 2]> = small.pairs.iter().map(|&[a, b]| [b, a]).collect();
        small.pairs.extend(turned);
        assert_eq!(small.labels(&method, None), plain);
        let mut doubled = [weights.clone(), weights].concat();
        assert_eq!(small.labels(&method, Some(doubled.clone())), weighted);
        // Nor do loops, and edges of weight 0.
        small.pairs.extend([[2, 2], [0, small.n as u32 - 1]]);
        doubled.extend([50.0, 0.0]);
        assert_eq!(small.labels(&method, Some(doubled)), weighted);
    }
}

fn communities(small: &Small) -> Option<Value> {
    let edges = Edges::new(small.n, small.pairs.clone(), None).unwrap();
    let found = EdgeCut::new().of_graph(&small.profiles(), &edges, &Run::new(0)).unwrap();
    found.diagnostics.get("communities").cloned()
}

#[test]
fn members_of_other_objects_do_not_disagree() {
    let n = 60;
    let half = |first: bool| {
        let label = |i: usize| ((i < n / 2) == first).then_some(i as i64 / 5);
        (0..n).map(label).collect::<Vec<_>>()
    };
    // A random graph, in which communities do not prove themselves.
    let mut rng = Rng::new(6, Stream::Data);
    let pairs = (0..180).map(|_| [rng.below(n) as u32, rng.below(n) as u32]).collect();
    let members = vec![half(true), half(true), half(false), half(false)];
    let small = Small { n, pairs, members };
    assert_eq!(communities(&small), Some(Value::Text("found".to_owned())));
    // Members that do disagree.
    let by = |of: i64| (0..n as i64).map(|i| Some((i * of + i / of) % 7)).collect();
    let small = Small { members: [3, 4, 5, 6].map(by).to_vec(), ..small };
    assert_eq!(communities(&small), Some(Value::Text("none".to_owned())));
}

/// A description length has nothing to say of six vertices; members that agree have.
#[test]
fn in_a_small_network_members_that_agree_are_believed() {
    let pairs = (0..6).map(|i| [i, (i + 1) % 6]).collect();
    let halves: Vec<Option<i64>> = (0..6).map(|i| Some(i / 3)).collect();
    let mut astray = halves.clone();
    astray[0] = Some(2);
    let ring = Small { n: 6, pairs, members: vec![halves.clone(), halves.clone(), halves, astray] };
    assert_eq!(ring.labels(&EdgeCut::new(), None), [0, 0, 0, 1, 1, 1]);
}

/// Stars in a tree grown by preferential attachment are the same to every member.
#[test]
fn a_tree_has_no_communities_whoever_agrees_on_it() {
    let (n, mut rng) = (300usize, Rng::new(8, Stream::Data));
    let mut ends = vec![0u32, 1];
    let mut pairs = vec![[0u32, 1]];
    let mut star = vec![0i64, 1];
    for v in 2..n as u32 {
        let to = ends[rng.below(ends.len())];
        pairs.push([to, v]);
        ends.extend([to, v]);
        // A star of its own now and then.
        star.push(if v % 20 == 0 { i64::from(v) } else { star[to as usize] });
    }
    let member: Vec<Option<i64>> = star.into_iter().map(Some).collect();
    let tree = Small { n, pairs, members: vec![member; 5] };
    assert_eq!(tree.labels(&EdgeCut::new(), None), vec![0; n]);
}

/// A heavy edge is no community of its ends.
#[test]
fn weights_alone_make_no_communities() {
    let mut rng = Rng::new(4, Stream::Data);
    let n = 300;
    let found = |pairs: Vec<[u32; 2]>, rng: &mut Rng| {
        // Most are light, some a hundred times as heavy.
        let weights = pairs.iter().map(|_| if rng.below(20) == 0 { 100.0 } else { 1.0 }).collect();
        let edges = Edges::new(n, pairs.clone(), Some(weights)).unwrap();
        let mut member = || (0..n).map(|_| Some(rng.below(9) as i64)).collect();
        let small = Small { n, members: (0..5).map(|_| member()).collect(), pairs };
        let found = EdgeCut::new().of_graph(&small.profiles(), &edges, &Run::new(0)).unwrap();
        found.diagnostics.get("communities").cloned()
    };
    let random = (0..900).map(|_| [rng.below(n) as u32, rng.below(n) as u32]).collect();
    assert_eq!(found(random, &mut rng), Some(Value::Text("none".to_owned())));
    let path = (1..n as u32).map(|v| [v - 1, v]).collect();
    assert_eq!(found(path, &mut rng), Some(Value::Text("none".to_owned())));
}

/// Where hardly an edge lies between communities, members that merge or split them do not agree on edges. They still
/// part the graph better than a random one can be parted.
#[test]
fn communities_far_apart_are_found_though_members_merge_and_split_them() {
    let (n, mut rng) = (120, Rng::new(3, Stream::Data));
    let graph = |within: usize, between: usize, rng: &mut Rng| {
        let mut pairs = Vec::new();
        for a in 0..n {
            for b in 0..a {
                if rng.below(100) < if a / 40 == b / 40 { within } else { between } {
                    pairs.push([a as u32, b as u32]);
                }
            }
        }
        pairs
    };
    let mut member = |h: usize| {
        let (chosen, merges) = (rng.below(3), h.is_multiple_of(2));
        let label = |i: usize| match i / 40 == chosen {
            true if merges => (chosen + 1) % 3,
            true if i.is_multiple_of(2) => 3,
            _ => i / 40,
        };
        (0..n).map(|i| Some(label(i) as i64)).collect()
    };
    let members: Vec<Vec<Option<i64>>> = (0..20).map(&mut member).collect();
    let planted: Vec<u32> = (0..n as u32).map(|i| i / 40).collect();
    let apart = Small { n, pairs: graph(30, 1, &mut rng), members };
    assert!(same(&apart.labels(&EdgeCut::new(), None), &planted));
    // Objects without edges make them no worse.
    let members = apart.members.iter().map(|labels| [&labels[..], &[Some(0); 400]].concat());
    let beside = Small { n: n + 400, pairs: apart.pairs.clone(), members: members.collect() };
    assert!(same(&beside.labels(&EdgeCut::new(), None)[..n], &planted));
    // Members that part a graph without communities, each in its own way.
    let mut member = |_| (0..n).map(|_| Some(rng.below(3) as i64)).collect();
    let members = (0..20).map(&mut member).collect();
    let none = Small { n, pairs: graph(11, 11, &mut rng), members };
    assert_eq!(none.labels(&EdgeCut::new(), None), vec![0; n]);
}
