//! SA (paper 002): eigenvalues of the mean affinity, the number of clusters, and the best partition of
//! the spectral embedding among all.

use consilience::consensus::Value;

use crate::{Square, Table, answer, assert_close, distinct, eigen, random};

/// The mean of the members' affinities; with gaps its cosine form.
fn affinity(table: &Table) -> Square {
    let n = table.len();
    let known = |i: usize| table[i].iter().flatten().count() as f64;
    let together = |i: usize, j: usize| {
        table[i].iter().zip(&table[j]).filter(|(a, b)| a.is_some() && a == b).count() as f64
    };
    let entry = |i: usize, j: usize| together(i, j) / (known(i) * known(j)).sqrt();
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

/// The rows of the `k` leading eigenvectors of $D^{-1/2} \Psi D^{-1/2}$, each of length 1, and the gap
/// behind them.
fn embedding(psi: &Square, k: usize) -> (Square, f64) {
    let n = psi.len();
    let degree = |i: usize| psi[i].iter().sum::<f64>();
    let entry = |i: usize, j: usize| psi[i][j] / (degree(i) * degree(j)).sqrt();
    let (values, vectors) = eigen((0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect());
    let row = |i: usize| {
        let row: Vec<f64> = vectors[..k].iter().map(|v| v[i]).collect();
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.into_iter().map(|x| x / length).collect()
    };
    ((0..n).map(row).collect(), values[k - 1] - values[k])
}

/// The sum of squared distances to the means of the clusters.
fn spread(rows: &Square, labels: &[usize]) -> f64 {
    let mut sum = 0.0;
    for c in 0..rows.len() {
        let own: Vec<&Vec<f64>> =
            rows.iter().zip(labels).filter(|(_, l)| **l == c).map(|(row, _)| row).collect();
        for j in 0..rows[0].len() {
            let mean = own.iter().map(|row| row[j]).sum::<f64>() / own.len().max(1) as f64;
            sum += own.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>();
        }
    }
    sum
}

#[test]
fn the_answer_is_the_best_partition_of_the_embedding() {
    for seed in 0..30 {
        let (n, k) = (8, 2 + seed as usize % 2);
        let table = random(400 + seed, n, 5, 3, if seed % 3 == 0 { 0.2 } else { 0.0 });
        if distinct(&table) <= k {
            continue;
        }
        let psi = affinity(&table);
        let found = answer("sa", Some(k), &[], &table, None);
        let (expected, _) = eigen(psi.clone());
        let Some(Value::List(values)) = found.consensus.diagnostics.get("eigenvalues") else {
            panic!("no eigenvalues")
        };
        values.iter().zip(&expected).for_each(|(x, y)| assert_close("eigenvalue", *x, *y));
        let shares = (1..=n).find(|&s| expected[..s].iter().sum::<f64>() > (0.8 + 1e-9) * n as f64);
        let dominating = found.consensus.diagnostics.get("dominating eigenvalues");
        assert_eq!(dominating, Some(&Value::Integer(shares.unwrap() as i64)));

        let (rows, gap) = embedding(&psi, k);
        if gap < 1e-6 {
            continue;
        }
        let all = (0..k.pow(n as u32)).map(|code| {
            let labels: Vec<usize> = (0..n).map(|i| code / k.pow(i as u32) % k).collect();
            spread(&rows, &labels)
        });
        let best = all.fold(f64::INFINITY, f64::min);
        assert_close("spread", spread(&rows, &found.labels), best);
    }
}
