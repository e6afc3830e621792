//! Every method that works on a network against the same invariants.

use consilience::consensus::{
    Consensus, METHODS, MethodInfo, Settings, Value, combine, combine_on, prepare,
};
use consilience::ensemble::{Ensemble, HardMember, Profiles};
use consilience::pipeline::{Input, Methods, Request};
use consilience::{CancelFlag, Edges, Error, Rng, Run, Stream};

/// The methods that need edges; the others are in the table.
fn methods() -> impl Iterator<Item = &'static MethodInfo> {
    METHODS.iter().copied().filter(|info| info.edges)
}

/// A network of communities of `size` objects each, and members that err.
struct Network {
    n: usize,
    pairs: Vec<[u32; 2]>,
    members: Vec<Vec<Option<i64>>>,
    truth: Vec<usize>,
}

/// `k` communities in which everybody knows every other with the chance `inside`, others with `outside`, in percent of a percent.
fn planted(k: usize, size: usize, inside: usize, outside: usize, seed: u64) -> Network {
    let n = k * size;
    let mut rng = Rng::new(seed, Stream::Data);
    let truth: Vec<usize> = (0..n).map(|i| i % k).collect();
    let mut pairs = Vec::new();
    for a in 0..n {
        for b in 0..a {
            let chance = if truth[a] == truth[b] { inside } else { outside };
            if rng.below(10_000) < chance {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    let member = |_| {
        let mut label = |i: usize| if rng.below(10) == 0 { rng.below(k) } else { truth[i] };
        (0..n).map(|i| Some(label(i) as i64)).collect()
    };
    let members = (0..10).map(member).collect();
    Network { n, pairs, members, truth }
}

impl Network {
    fn ensemble(&self) -> Ensemble {
        let member = |(h, labels): (usize, &Vec<Option<i64>>)| {
            HardMember::from_integers(format!("m{h}"), labels.clone()).into()
        };
        Ensemble::new(self.members.iter().enumerate().map(member).collect()).unwrap()
    }

    fn edges(&self) -> Edges {
        Edges::new(self.n, self.pairs.clone(), None).unwrap()
    }

    fn solved(&self, info: &'static MethodInfo, run: &Run) -> (Profiles, Consensus) {
        let profiles = prepare(&self.ensemble(), info, run).unwrap();
        let method = info.with(None, &Settings::default()).unwrap();
        let found = combine_on(&profiles, &self.edges(), method.as_ref(), run).unwrap();
        (profiles, found)
    }

    fn labels(&self, info: &'static MethodInfo, run: &Run) -> Vec<Option<u32>> {
        let (profiles, found) = self.solved(info, run);
        found.object_labels(&profiles)
    }

    /// The same with object `order[i]` at place `i`.
    fn reordered(&self, order: &[u32]) -> Network {
        let mut place = vec![0; self.n];
        order.iter().enumerate().for_each(|(at, &i)| place[i as usize] = at as u32);
        let pick = |labels: &Vec<Option<i64>>| order.iter().map(|&i| labels[i as usize]).collect();
        Network {
            n: self.n,
            pairs: self.pairs.iter().map(|pair| pair.map(|end| place[end as usize])).collect(),
            members: self.members.iter().map(pick).collect(),
            truth: order.iter().map(|&i| self.truth[i as usize]).collect(),
        }
    }
}

/// Whether two labellings are the same partition.
fn same<A: PartialEq, B: PartialEq>(a: &[A], b: &[B]) -> bool {
    (0..a.len()).all(|i| (0..i).all(|j| (a[i] == a[j]) == (b[i] == b[j])))
}

fn run() -> Run {
    Run::new(7).threads(2)
}

#[test]
fn planted_communities_are_found_and_connected() {
    for info in methods() {
        let network = planted(4, 40, 3000, 200, 1);
        let labels = network.labels(info, &run());
        assert!(same(&labels, &network.truth), "{}", info.name);
        // Two communities without an edge between them, which every member calls one.
        let apart =
            Network { members: vec![vec![Some(0); network.n]; 4], ..planted(2, 30, 3000, 0, 2) };
        let apart = Network { members: vec![vec![Some(0); apart.n]; 4], ..apart };
        assert!(same(&apart.labels(info, &run()), &apart.truth), "{}: connected", info.name);
    }
}

#[test]
fn how_it_is_written_is_no_information() {
    for info in methods() {
        let network = planted(5, 30, 2000, 250, 3);
        let labels = network.labels(info, &run());
        let order = Rng::new(5, Stream::Data).permutation(network.n);
        let turned = network.reordered(&order).labels(info, &run());
        let back: Vec<_> = order.iter().map(|&i| labels[i as usize]).collect();
        assert!(same(&turned, &back), "{}: order of objects", info.name);

        let mut pairs: Vec<[u32; 2]> = network.pairs.iter().map(|&[a, b]| [b, a]).collect();
        pairs.reverse();
        let mut members = network.members.clone();
        members.rotate_left(3);
        for labels in &mut members {
            labels.iter_mut().flatten().for_each(|label| *label = 100 - 7 * *label);
        }
        let written = Network { pairs, members, truth: network.truth.clone(), ..network };
        assert!(
            same(&written.labels(info, &run()), &labels),
            "{}: edges, members, names",
            info.name
        );
    }
}

#[test]
fn threads_change_no_bit() {
    for info in methods() {
        let network = planted(6, 60, 1500, 150, 4);
        let one = network.solved(info, &Run::new(1).threads(1)).1;
        assert_eq!(one, network.solved(info, &Run::new(1).threads(5)).1, "{}", info.name);
    }
}

#[test]
fn random_graphs_have_no_communities() {
    for info in methods() {
        let mut network = planted(1, 400, 500, 0, 5);
        let mut rng = Rng::new(9, Stream::Data);
        let noise = |_| (0..400).map(|_| Some(rng.below(6) as i64)).collect();
        network.members = (0..10).map(noise).collect();
        let found = network.solved(info, &run()).1;
        assert_eq!(found.diagnostics.get("communities"), Some(&Value::Text("none".to_owned())));
        assert_eq!(found.k, 1, "{}: the graph is connected", info.name);
    }
}

#[test]
fn missing_labels_leave_objects_out() {
    for info in methods() {
        let mut network = planted(3, 30, 3000, 100, 6);
        network.members.iter_mut().for_each(|labels| labels[4] = None);
        network.members[0][7] = None;
        let labels = network.labels(info, &run());
        assert_eq!(labels.iter().filter(|label| label.is_none()).count(), 1);
        assert_eq!(labels[4], None, "{}", info.name);
    }
}

#[test]
fn without_edges_and_with_others_they_refuse_kindly() {
    for info in methods() {
        let network = planted(2, 10, 5000, 100, 7);
        let profiles = prepare(&network.ensemble(), info, &run()).unwrap();
        let method = info.with(None, &Settings::default()).unwrap();
        let alone = combine(&profiles, method.as_ref(), None, &run());
        assert_eq!(alone.unwrap_err(), Error::NeedsEdges { method: info.name });
        let other = Edges::new(3, vec![[0, 1]], None).unwrap();
        let told = combine_on(&profiles, &other, method.as_ref(), &run()).unwrap_err().to_string();
        assert!(told.contains('3') && told.contains("20"), "{told}");
        let small = run().memory(1 << 10);
        let refused = combine_on(&profiles, &network.edges(), method.as_ref(), &small);
        assert!(matches!(refused, Err(Error::Memory { .. })), "{}", info.name);
        let flag = CancelFlag::default();
        flag.cancel();
        let cancelled = run().cancel_flag(flag);
        let stopped = combine_on(&profiles, &network.edges(), method.as_ref(), &cancelled);
        assert_eq!(stopped.unwrap_err(), Error::Cancelled, "{}", info.name);
    }
}

#[test]
fn the_pipeline_takes_edges_to_the_method_that_uses_them() {
    let network = planted(3, 40, 3000, 100, 8);
    let edges = network.edges();
    let input = || Input { edges: Some(&edges), ..Input::ensemble(network.ensemble()) };
    let checked = Request { edges: true, ..Request::default() }.check().unwrap();
    let answer = checked.answer(input(), &run()).unwrap();
    assert_eq!(answer.choice.info.name, "edge-cut");
    assert!(same(&answer.labels(), &network.truth));
    let named = |name: &str, edges| {
        let methods = Methods::named(name).unwrap();
        Request { methods, edges, ..Request::default() }
            .check()
            .err()
            .map(|error| error.to_string())
    };
    assert!(named("edge-cut", false).unwrap().contains("network"));
    assert!(named("voting", true).unwrap().contains("edge-cut"));
    assert!(named("voting,edge-cut", false).unwrap().contains("one method"));
    assert_eq!(named("all", false), None);
}
