use proptest::prelude::*;

use super::*;
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};

/// Rows on a grid, which are full of ties and duplicates, or anywhere.
fn rows() -> impl Strategy<Value = Matrix> {
    (1usize..120, 1usize..20, any::<u64>(), any::<bool>()).prop_map(|(n, d, seed, grid)| {
        let mut rng = Rng::new(seed, Stream::Data);
        let values = (0..n * d).map(|_| if grid { rng.below(3) as f64 } else { rng.normal() });
        Matrix::from_vec(n, d, values.collect())
    })
}

/// The definition: of all pairs, in order, those that join what is apart.
fn kruskal(distinct: &DistinctRows, m: usize) -> Vec<Link> {
    let values = &distinct.values;
    let distance = |a: usize, b: usize| {
        let pairs = values.row(a).iter().zip(values.row(b));
        pairs.fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
    };
    let u = distinct.len();
    let core = |a: usize| {
        let all = (0..u).flat_map(|b| vec![distance(a, b); distinct.rows(b).len()]);
        let mut all: Vec<f64> = all.collect();
        all.sort_by(f64::total_cmp);
        all[m - 1]
    };
    let cores: Vec<f64> = (0..u).map(core).collect();
    let pairs = (0..u).flat_map(|a| (a + 1..u).map(move |b| (a, b)));
    let mut links: Vec<Link> = pairs
        .map(|(a, b)| {
            let distance = distance(a, b);
            Link::new(distance.max(cores[a]).max(cores[b]), distance, a as u32, b as u32)
        })
        .collect();
    links.sort_by(Link::compare);
    let mut sets = crate::graph::UnionFind::new(u);
    links.retain(|link| sets.union(link.a as usize, link.b as usize));
    links
}

fn total(tree: &SpanningTree) -> f64 {
    tree.edges().iter().map(|edge| edge.length).sum()
}

proptest! {
    /// Both algorithms find the one tree there is, whatever the number of columns.
    #[test]
    fn all_ways_lead_to_the_same_tree(data in rows(), m in 1usize..6) {
        let run = Run::new(0).threads(1);
        let m = m.min(data.nrows());
        let distinct = DistinctRows::new(&Table::from(&data), &run).unwrap();
        let expected = kruskal(&distinct, m);
        let tree = KdTree::new(&distinct.values);
        let core = (m > 1).then(|| core_squares(&distinct, &tree, m, &run).unwrap());
        let mut by_walks = boruvka::links(&tree, core.as_deref(), &run).unwrap();
        let mut by_pairs = prim::links(&distinct.values, core.as_deref(), &run).unwrap();
        by_walks.sort_by(Link::compare);
        by_pairs.sort_by(Link::compare);
        prop_assert_eq!(&by_walks, &expected);
        prop_assert_eq!(&by_pairs, &expected);
        let whole = SpanningTree::mutual_reachability(&data, m, &run).unwrap();
        prop_assert_eq!(whole.edges().len(), data.nrows() - 1);
        prop_assert!(whole.edges().is_sorted_by_key(|edge| edge.length));
    }

    #[test]
    fn the_order_of_rows_is_not_read(data in rows(), m in 1usize..4, seed: u64) {
        let run = Run::new(0).threads(1);
        let m = m.min(data.nrows());
        let order = Rng::new(seed, Stream::Data).permutation(data.nrows());
        let order: Vec<usize> = order.into_iter().map(|i| i as usize).collect();
        let shuffled = data.select_rows(&order);
        let tree = SpanningTree::mutual_reachability(&data, m, &run).unwrap();
        let other = SpanningTree::mutual_reachability(&shuffled, m, &run).unwrap();
        for (edge, moved) in tree.edges().iter().zip(other.edges()) {
            prop_assert_eq!(edge.length, moved.length);
            prop_assert_eq!(data.row(edge.a as usize), shuffled.row(moved.a as usize));
            prop_assert_eq!(data.row(edge.b as usize), shuffled.row(moved.b as usize));
        }
    }
}

#[test]
fn threads_and_precision_do_not_show() {
    let mut rng = Rng::new(1, Stream::Data);
    for (n, d) in [(1200, 3), (700, 190)] {
        let single: Vec<f32> = (0..n * d).map(|_| rng.normal() as f32).collect();
        let single = Table::new(n, d, &single);
        let tree =
            |threads: usize| SpanningTree::new(single, &Run::new(0).threads(threads)).unwrap();
        let one = tree(1);
        assert_eq!(one, tree(2));
        assert_eq!(one, tree(7));
        assert_eq!(one, SpanningTree::new(&single.to_matrix(), &Run::new(0)).unwrap());
    }
}

#[test]
fn equal_rows_are_joined_at_no_length() {
    let data = Matrix::zeros(5000, 2);
    let tree = SpanningTree::new(&data, &Run::new(0)).unwrap();
    assert_eq!((tree.edges().len(), tree.n_rows(), total(&tree)), (4999, 5000, 0.0));
}

#[test]
fn what_cannot_be_is_refused() {
    let data = Matrix::zeros(3, 2);
    for m in [0, 4] {
        let refusal = SpanningTree::mutual_reachability(&data, m, &Run::new(0)).unwrap_err();
        assert!(refusal.to_string().contains("`min_samples`"), "{refusal}");
    }
    assert!(SpanningTree::new(&Matrix::zeros(0, 2), &Run::new(0)).is_err());
    assert!(SpanningTree::new(&data, &Run::new(0).memory(10)).is_err());
    let flag = crate::CancelFlag::default();
    flag.cancel();
    let run = Run::new(0).cancel_flag(flag);
    assert_eq!(SpanningTree::new(&data, &run).unwrap_err(), Error::Cancelled);
}
