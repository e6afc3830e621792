use proptest::prelude::*;

use super::*;
use crate::base::distance::squared_distance;
use crate::base::kmeans::KMeansParams;
use crate::ensemble::Contingency;
use crate::linalg::{eigen, product};
use crate::metrics::adjusted_rand;
use crate::rng::{Rng, Stream};
use crate::run::CancelFlag;

fn random(n: usize, d: usize, seed: u64) -> Matrix {
    let mut rng = Rng::new(seed, Stream::Data);
    Matrix::from_vec(n, d, (0..n * d).map(|_| rng.normal()).collect())
}

fn draws(seed: u64) -> Rng {
    Rng::new(seed, Stream::Member(0))
}

/// How well `labels` agree with the truth, where cluster `i % groups` is that of row `i`.
fn agreement(labels: &[u32], groups: u32) -> f64 {
    let truth: Vec<Option<u32>> = (0..labels.len() as u32).map(|i| Some(i % groups)).collect();
    let labels: Vec<Option<u32>> = labels.iter().map(|&c| Some(c)).collect();
    adjusted_rand(&Contingency::of_labels(&labels, &truth, None).unwrap())
}

/// Rings of radius 1 and 3 around one another, rows in turn.
fn rings(n: usize) -> Matrix {
    let mut rng = Rng::new(5, Stream::Data);
    let rows = (0..n).flat_map(|i| {
        let angle = std::f64::consts::TAU * rng.unit();
        let radius = [1.0, 3.0][i % 2] + 0.1 * rng.normal();
        [radius * angle.cos(), radius * angle.sin()]
    });
    Matrix::from_vec(n, 2, rows.collect())
}

/// Two half moons in one another, rows in turn.
fn moons(n: usize) -> Matrix {
    let mut rng = Rng::new(6, Stream::Data);
    let rows = (0..n).flat_map(|i| {
        let angle = std::f64::consts::PI * rng.unit();
        let (x, y) = (angle.cos() + 0.06 * rng.normal(), angle.sin() + 0.06 * rng.normal());
        if i % 2 == 0 { [x, y] } else { [1.0 - x, 0.5 - y] }
    });
    Matrix::from_vec(n, 2, rows.collect())
}

#[test]
fn clusters_of_any_shape_are_found_that_k_means_misses() {
    for data in [rings(1500), moons(1500)] {
        let run = Run::new(0);
        let uspec = USpecParams::new(2).representatives(150).check().unwrap();
        let found = agreement(&uspec.fit(&data, &run, &mut draws(1)).unwrap().labels, 2);
        let kmeans = KMeansParams::new(2).n_init(5).check().unwrap();
        let plain = agreement(&kmeans.fit(&data, &run, Stream::Restart).unwrap().labels, 2);
        assert!(found > 0.99, "{found}");
        assert!(plain < 0.6, "{plain}");
    }
}

/// Two groups of 150, and two rows far from both, which one kernel width for all would cut off.
#[test]
fn rows_far_from_all_are_no_clusters_of_small_tables() {
    let mut data = random(302, 8, 3);
    for i in 0..300 {
        data.row_mut(i)[0] += 6.0 * (i % 2) as f64;
    }
    (300..302).for_each(|i| data.row_mut(i)[1] += 25.0);
    let uspec = USpecParams::new(2).check().unwrap();
    for seed in 0..5 {
        let labels = uspec.fit(&data, &Run::new(0), &mut draws(seed)).unwrap().labels;
        assert!(agreement(&labels[..300], 2) > 0.9, "seed {seed}");
    }
}

/// The nearest representatives by looking at all.
fn all_nearest(row: &[f64], representatives: &Representatives) -> Vec<u32> {
    let mut order: Vec<u32> = (0..representatives.len() as u32).collect();
    let distance = |j: &u32| squared_distance(row, representatives.rows().row(*j as usize));
    order.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    order.truncate(representatives.neighbours());
    order
}

fn found(data: &Matrix, representatives: &Representatives) -> Vec<Vec<u32>> {
    let run = Run::new(0);
    let groups = representatives.groups_of(Table::from(data), &run).unwrap();
    let wanted = representatives.neighbours();
    let mut ids = vec![0; data.nrows() * wanted];
    let mut squares = vec![0.0; ids.len()];
    representatives.nearest(data.iter_rows(), &groups, &mut ids, &mut squares);
    for ((i, ids), squares) in ids.chunks(wanted).enumerate().zip(squares.chunks(wanted)) {
        let distance =
            |&j: &u32| squared_distance(data.row(i), representatives.rows().row(j as usize));
        assert_eq!(ids.iter().map(distance).collect::<Vec<_>>(), squares);
        assert!(squares.is_sorted());
    }
    ids.chunks(wanted).map(<[u32]>::to_vec).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With no more representatives than are looked at, the search is exact.
    #[test]
    fn few_representatives_are_searched_exactly(
        n in 1..80usize, p in 1..22usize, wanted in 2..4usize, seed: u64,
    ) {
        let data = random(n, 3, seed);
        let run = Run::new(0).threads(1);
        let table = Table::from(&data);
        let chosen = Representatives::choose(table, p, wanted, &run, &mut draws(seed)).unwrap();
        prop_assert_eq!(chosen.len(), p.min(n));
        for (row, found) in data.iter_rows().zip(found(&data, &chosen)) {
            prop_assert_eq!(found, all_nearest(row, &chosen));
        }
    }

    /// The transfer cut beside the normalised cut of the dense affinity $B D_y^{-1} B^T$ between rows:
    /// coordinates are determined but for a rotation, so inner products are compared.
    #[test]
    fn coordinates_are_those_of_the_dense_cut(
        n in 8..60usize, p in 4..20usize, k in 1..4usize, seed: u64,
    ) {
        let data = random(n, 2, seed);
        let run = Run::new(0).threads(1);
        let uspec = USpecParams::new(k).representatives(p).neighbours(3).check().unwrap();
        let fit = uspec.fit(&data, &run, &mut draws(seed)).unwrap();
        let chosen = fit.embedding.representatives();
        let nearest: Vec<Vec<u32>> = data.iter_rows().map(|row| all_nearest(row, chosen)).collect();
        let distance = |i: usize, j: usize| {
            squared_distance(data.row(i), chosen.rows().row(j)).sqrt()
        };
        let edges = nearest.iter().enumerate();
        let all = edges.flat_map(|(i, own)| own.iter().map(move |&j| (i, j as usize)));
        let all: Vec<(usize, usize)> = all.collect();
        let mean = |edges: &mut dyn Iterator<Item = &(usize, usize)>| {
            let distances: Vec<f64> = edges.map(|&(i, j)| distance(i, j)).collect();
            distances.iter().sum::<f64>() / distances.len() as f64
        };
        let of_all = mean(&mut all.iter());
        let sigma = |i: usize| match fit.embedding.sigma() {
            Some(_) => of_all,
            None => mean(&mut all.iter().filter(|edge| edge.0 == i)),
        };
        match fit.embedding.sigma() {
            Some(sigma) => prop_assert!((sigma - of_all).abs() < 1e-12 * sigma),
            // As many rows as there are for each representative.
            None => prop_assert!(n / 5 < p && 2 * k < p),
        }
        let mut b = Matrix::zeros(n, chosen.len());
        all.iter().for_each(|&(i, j)| {
            b.row_mut(i)[j] = (-distance(i, j).powi(2) / (2.0 * sigma(i).powi(2))).exp();
        });
        let columns: Vec<f64> = (0..chosen.len()).map(|j| (0..n).map(|i| b[(i, j)]).sum()).collect();
        let affinity = Matrix::from_fn(n, n, |i, l| {
            (0..chosen.len())
                .filter(|&j| columns[j] > 0.0)
                .map(|j| b[(i, j)] * b[(l, j)] / columns[j])
                .sum()
        });
        let degrees: Vec<f64> = affinity.iter_rows().map(|row| row.iter().sum()).collect();
        let normalised =
            Matrix::from_fn(n, n, |i, l| affinity[(i, l)] / (degrees[i] * degrees[l]).sqrt());
        let used = fit.embedding.width();
        let dense = eigen(normalised, |_| used, &run).unwrap();
        // Eigenvectors are determined to the rounding divided by the gap.
        prop_assume!(dense.values[used - 1] - dense.values.get(used).unwrap_or(&0.0) > 1e-3);
        for (a, b) in dense.values.iter().zip(&fit.values) {
            prop_assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        let mut rows = Matrix::from_fn(n, used, |i, c| dense.vectors[(c, i)]);
        for i in 0..n {
            let length = rows.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
            rows.row_mut(i).iter_mut().for_each(|x| *x /= length);
        }
        let fast = fit.embedding.of(&data, &run).unwrap();
        let fast = Matrix::from_vec(n, used, fast.into_iter().map(f64::from).collect());
        let inner = |rows: &Matrix| product(rows.as_faer(), rows.as_faer().transpose());
        let (fast, slow) = (inner(&fast), inner(&rows));
        for (x, y) in fast.as_slice().iter().zip(slow.as_slice()) {
            // Single precision, twice.
            prop_assert!((x - y).abs() < 1e-5, "{x} {y}");
        }
    }

    /// Small and degenerate tables: repeated rows, one row, more representatives than rows.
    #[test]
    fn small_tables_are_clustered_or_refused(
        n in 1..30usize, values in 1..5usize, k in 1..8usize, seed: u64,
    ) {
        let mut rng = Rng::new(seed, Stream::Data);
        let data = Matrix::from_vec(n, 1, (0..n).map(|_| rng.below(values) as f64).collect());
        let mut distinct = data.as_slice().to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let run = Run::new(0).threads(1);
        match USpecParams::new(k).check().unwrap().fit(&data, &run, &mut draws(seed)) {
            Ok(fit) => {
                prop_assert!(k <= distinct.len());
                prop_assert!(fit.labels.iter().all(|&c| (c as usize) < k));
                // Equal rows are never told apart.
                for i in 0..n {
                    for j in 0..i {
                        let same = data.row(i) == data.row(j);
                        prop_assert!(!same || fit.labels[i] == fit.labels[j]);
                    }
                }
            }
            Err(error) => {
                prop_assert!(k > distinct.len());
                prop_assert_eq!(error, Error::TooFewRows { k, distinct: distinct.len() });
            }
        }
    }
}

#[test]
fn most_neighbours_are_found_among_many_representatives() {
    let data = random(3000, 8, 4);
    let table = Table::from(&data);
    let chosen = Representatives::choose(table, 400, 5, &Run::new(0), &mut draws(0)).unwrap();
    let found = found(&data, &chosen);
    let right = |(row, found): (&[f64], &Vec<u32>)| {
        all_nearest(row, &chosen).iter().filter(|j| found.contains(j)).count()
    };
    let right: usize = data.iter_rows().zip(&found).map(right).sum();
    assert!(right as f64 > 0.7 * 15_000.0, "{right} of 15000");
}

#[test]
fn threads_do_not_change_a_bit_and_new_rows_are_placed_as_old_ones() {
    let data = rings(3000);
    let uspec = USpecParams::new(4).representatives(60).check().unwrap();
    let on = |threads| uspec.fit(&data, &Run::new(0).threads(threads), &mut draws(3)).unwrap();
    let fit = on(1);
    assert_eq!(fit, on(2));
    let run = Run::new(0);
    let rows = fit.embedding.of(&data, &run).unwrap();
    let rows = Table::new(3000, fit.embedding.width(), &rows);
    assert_eq!(crate::base::nearest_centres(rows, &fit.centres, &run), Ok(fit.labels));
}

#[test]
fn values_out_of_range_are_refused() {
    let fine = || USpecParams::new(3);
    for (bad, name) in [
        (USpecParams::new(0), "`k`"),
        (fine().representatives(0), "`representatives`"),
        (fine().representatives(2), "`representatives`"),
        (fine().neighbours(0), "`neighbours`"),
        (fine().restarts(0), "`restarts`"),
        (fine().max_iter(0), "`max_iter`"),
    ] {
        let refusal = bad.check().unwrap_err().to_string();
        assert!(refusal.contains(name), "{refusal}");
    }
}

#[test]
fn too_little_memory_and_a_raised_flag_stop_it() {
    let (data, uspec) = (rings(500), USpecParams::new(2).check().unwrap());
    let refusal = uspec.fit(&data, &Run::new(0).memory(1 << 18), &mut draws(0)).unwrap_err();
    assert!(matches!(refusal, Error::Memory { .. }), "{refusal}");
    let flag = CancelFlag::default();
    flag.cancel();
    let stopped = uspec.fit(&data, &Run::new(0).cancel_flag(flag), &mut draws(0));
    assert_eq!(stopped, Err(Error::Cancelled));
}
