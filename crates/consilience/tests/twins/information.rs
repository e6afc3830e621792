//! w-MI, f-MI and h-MI (paper 001): the objective of the answer, and that no move betters it.

use crate::{Answer, Table, answer, assert_close, distinct, random};

/// The share of objects with label `a` of one clustering and `b` of the other.
fn joint(x: &[usize], y: &[usize], a: usize, b: usize) -> f64 {
    let both = x.iter().zip(y).filter(|(x, y)| (**x, **y) == (a, b)).count();
    both as f64 / x.len() as f64
}

fn share(x: &[usize], a: usize) -> f64 {
    joint(x, x, a, a)
}

fn entropy(x: &[usize]) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    (0..10).map(|a| term(share(x, a))).sum()
}

/// $I(X; Y)$.
fn information(x: &[usize], y: &[usize]) -> f64 {
    let mut sum = 0.0;
    for (a, b) in (0..10).flat_map(|a| (0..10).map(move |b| (a, b))) {
        let p = joint(x, y, a, b);
        if p > 0.0 {
            sum += p * (p / (share(x, a) * share(y, b))).ln();
        }
    }
    sum
}

fn columns(table: &Table) -> Vec<Vec<usize>> {
    (0..table[0].len()).map(|h| table.iter().map(|row| row[h].unwrap()).collect()).collect()
}

/// The mean variation of information with the other members; all 1 where that tells nothing.
fn diversities(members: &[Vec<usize>]) -> Vec<f64> {
    let vi = |x: &Vec<usize>, y: &Vec<usize>| entropy(x) + entropy(y) - 2.0 * information(x, y);
    let of = |x: &Vec<usize>| {
        members.iter().map(|y| vi(x, y)).sum::<f64>() / (members.len() as f64 - 1.0)
    };
    members.iter().map(of).collect()
}

/// $F(C)$.
fn objective(labels: &[usize], members: &[Vec<usize>], omega: &[f64]) -> f64 {
    members.iter().zip(omega).map(|(member, w)| w * information(labels, member)).sum()
}

fn check(name: &str, table: &Table, k: usize, found: &Answer) {
    let members = columns(table);
    let omega = if name == "w-mi" { diversities(&members) } else { vec![1.0; members.len()] };
    let own = objective(&found.labels, &members, &omega);
    assert_close(name, found.consensus.convergence.objective.unwrap(), own);
    // All equal objects at a time, to any cluster.
    for row in table {
        for to in 0..k {
            let mut moved = found.labels.clone();
            for (label, other) in moved.iter_mut().zip(table) {
                *label = if other == row { to } else { *label };
            }
            let other = objective(&moved, &members, &omega);
            assert!(other <= own + 1e-9, "{name}: {row:?} to {to} gives {other}, not {own}");
        }
    }
}

#[test]
fn no_move_betters_the_information_that_is_shared() {
    for seed in 0..30 {
        let (n, r, k) = (12, 4, 3);
        let table = random(100 + seed, n, r, 3, 0.0);
        if distinct(&table) < k {
            continue;
        }
        for name in ["w-mi", "f-mi", "h-mi"] {
            check(name, &table, k, &answer(name, Some(k), &[], &table, None));
        }
    }
}
