//! Majority voting (paper 003): components and strengths, pair by pair.

use crate::{Table, answer, assert_close, groups, random};

/// How many members put two objects together, and how many label both.
fn votes(table: &Table, i: usize, j: usize) -> (usize, usize) {
    let pairs =
        table[i].iter().zip(&table[j]).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
    pairs.fold((0, 0), |(votes, both), (a, b)| (votes + usize::from(a == b), both + 1))
}

#[test]
fn components_are_those_of_all_pairs() {
    for seed in 0..60 {
        let (n, r) = (14, 3 + seed as usize % 4);
        let table = random(200 + seed, n, r, 3, if seed % 2 == 0 { 0.0 } else { 0.25 });
        let found = answer("voting", None, &[], &table, None);
        // Labels spread along edges until nothing changes.
        let mut component: Vec<usize> = (0..n).collect();
        for _ in 0..n {
            for i in 0..n {
                for j in 0..n {
                    let (votes, both) = votes(&table, i, j);
                    if 2 * votes > both {
                        component[i] = component[i].min(component[j]);
                    }
                }
            }
        }
        assert_eq!(groups(&found.labels), groups(&component));
        for i in 0..n {
            let others = (0..n).filter(|&j| table[j] != table[i]);
            let share = |j: usize| match votes(&table, i, j) {
                (_, 0) => 0.0,
                (votes, both) => votes as f64 / both as f64,
            };
            let closest = others.map(share).fold(0.0, f64::max);
            let alone = (0..n).all(|j| component[j] != component[i] || table[j] == table[i]);
            let expected = if alone { 1.0 - closest } else { closest };
            assert_close("strength", found.strength[i], expected);
        }
    }
}
