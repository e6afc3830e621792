//! SCEC (paper 000): the objective after every iteration from a given start.

use crate::{Table, answer, assert_close, clusters, distinct, random};

type Rows = Vec<Vec<f64>>;

/// $M^{(h)}$: a row of zeros and a one; uniform where the label is missing.
fn memberships(table: &Table, h: usize) -> Rows {
    let k_h = clusters(table, h);
    let mut names: Vec<usize> = table.iter().filter_map(|row| row[h]).collect();
    names.sort_unstable();
    names.dedup();
    let row = |label: Option<usize>| match label {
        Some(label) => names.iter().map(|&name| f64::from(u8::from(name == label))).collect(),
        None => vec![1.0 / k_h as f64; k_h],
    };
    table.iter().map(|labels| row(labels[h])).collect()
}

fn product(a: &Rows, b: &Rows) -> Rows {
    let entry = |row: &Vec<f64>, j: usize| (0..b.len()).map(|l| row[l] * b[l][j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn transposed(a: &Rows) -> Rows {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// The mean of a column of $S$.
fn mean(s: &Rows, j: usize) -> f64 {
    s.iter().map(|row| row[j]).sum::<f64>() / s.len() as f64
}

/// One application of rule (10).
fn improve(s: &mut Rows, q: &Rows, g: &Rows, alpha: f64, beta: f64) {
    let k = s[0].len();
    let (qs, old) = (product(q, s), s.clone());
    for i in 0..s.len() {
        let sum: f64 = old[i].iter().sum();
        for j in 0..k {
            let d = qs[i][j] - alpha * old[i][j] + alpha * mean(&old, j) + beta * k as f64 * sum;
            s[i][j] = old[i][j] * (g[i][j] + beta * k as f64) / d;
        }
    }
}

/// Equation (3).
fn objective(m: &Rows, members: &[Rows], s: &[Rows], alpha: f64, beta: f64) -> f64 {
    let mut f = 0.0;
    for (a, s) in members.iter().zip(s) {
        for (row, of_member) in m.iter().zip(product(a, s)) {
            f += row.iter().zip(of_member).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        }
        for row in s {
            for (j, x) in row.iter().enumerate() {
                f -= alpha * (x - mean(s, j)).powi(2);
            }
            f += beta * row.len() as f64 * (row.iter().sum::<f64>() - 1.0).powi(2);
        }
    }
    f
}

#[test]
fn the_objective_falls_as_it_does_by_the_book() {
    for seed in 0..40 {
        let (n, r, k) = (12, 4, 3);
        let gaps = if seed % 2 == 0 { 0.0 } else { 0.2 };
        let table = random(seed, n, r, 4, gaps);
        if distinct(&table) < k {
            continue;
        }
        let start: Vec<u32> = (0..n as u32).map(|i| (i * i + seed as u32) % k as u32).collect();
        // Equal objects start alike.
        let first = |i: usize| (0..n).find(|&j| table[j] == table[i]).unwrap();
        let start: Vec<u32> = (0..n).map(|i| start[first(i)]).collect();
        let settings =
            [("max_iter", "8"), ("tol", "0"), ("inner_max_iter", "5"), ("inner_tol", "0")];
        let found = answer("scec", Some(k), &settings, &table, Some(&start));

        let alpha = n as f64 / k as f64;
        let beta = 2.0 * alpha / k as f64;
        let members: Vec<Rows> = (0..r).map(|h| memberships(&table, h)).collect();
        let one_hot = |&c: &u32| (0..k as u32).map(|j| f64::from(u8::from(c == j))).collect();
        let mut m: Rows = start.iter().map(one_hot).collect();
        let mut s: Vec<Rows> =
            members.iter().map(|a| vec![vec![1.0 / k as f64; k]; a[0].len()]).collect();
        for &expected in &found.consensus.convergence.trace {
            for (a, s) in members.iter().zip(&mut s) {
                let (g, q) = (product(&transposed(a), &m), product(&transposed(a), a));
                (0..5).for_each(|_| improve(s, &q, &g, alpha, beta));
            }
            let parts: Vec<Rows> = members.iter().zip(&s).map(|(a, s)| product(a, s)).collect();
            let entry = |i: usize, j: usize| parts.iter().map(|p| p[i][j]).sum::<f64>() / r as f64;
            m = (0..n).map(|i| (0..k).map(|j| entry(i, j)).collect()).collect();
            assert_close("f", expected, objective(&m, &members, &s, alpha, beta));
        }
        assert_eq!(found.consensus.convergence.trace.len(), 8);
    }
}
