use proptest::prelude::*;

use super::*;
use crate::linalg::Matrix;
use crate::rng::Rng;

const KINDS: [Covariance; 4] =
    [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];

/// `k` groups of rows at random places, of different shapes.
fn groups(n: usize, d: usize, k: usize, seed: u64) -> Matrix {
    let mut rng = Rng::new(seed, Stream::Data);
    let centres = Matrix::from_vec(k, d, (0..k * d).map(|_| 3.0 * rng.normal()).collect());
    let mut data = Matrix::zeros(n, d);
    for i in 0..n {
        let common = rng.normal();
        for j in 0..d {
            let own = (0.2 + (i % k) as f64) * rng.normal();
            data.row_mut(i)[j] = centres[(i % k, j)] + own + common;
        }
    }
    data
}

fn fit(params: GmmParams, data: &Matrix, threads: usize) -> Result<GmmFit> {
    let run = Run::new(1).threads(threads);
    params.check()?.fit(data, &run, &mut run.rng(Stream::Member(0)))
}

/// One M step and one E step as one would write them down, for full covariances and no ridge:
/// memberships in, memberships and log-likelihood out.
fn plain(data: &Matrix, r: &Matrix) -> (Matrix, f64) {
    let (n, d, k) = (data.nrows(), data.ncols(), r.ncols());
    let mut logs = Matrix::zeros(n, k);
    for c in 0..k {
        let count: f64 = (0..n).map(|i| r[(i, c)]).sum();
        let mean: Vec<f64> =
            (0..d).map(|j| (0..n).map(|i| r[(i, c)] * data[(i, j)]).sum::<f64>() / count).collect();
        let beyond = |i: usize, j: usize| data[(i, j)] - mean[j];
        let covariance = Matrix::from_fn(d, d, |a, b| {
            (0..n).map(|i| r[(i, c)] * beyond(i, a) * beyond(i, b)).sum::<f64>() / count
        });
        // Gauss and Jordan, without pivots: a covariance has good ones on its diagonal.
        let mut work = Matrix::from_fn(d, 2 * d, |a, b| match b {
            b if b < d => covariance[(a, b)],
            b => f64::from(u8::from(a + d == b)),
        });
        let mut determinant = 1.0;
        for p in 0..d {
            let pivot = work[(p, p)];
            determinant *= pivot;
            work.row_mut(p).iter_mut().for_each(|x| *x /= pivot);
            let row = work.row(p).to_vec();
            for a in (0..d).filter(|&a| a != p) {
                let factor = work[(a, p)];
                work.row_mut(a).iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            }
        }
        for i in 0..n {
            let mut square = 0.0;
            for a in 0..d {
                for b in 0..d {
                    square += beyond(i, a) * work[(a, d + b)] * beyond(i, b);
                }
            }
            let scale = (std::f64::consts::TAU.powi(d as i32) * determinant).sqrt();
            logs.row_mut(i)[c] = (count / n as f64 / scale).ln() - 0.5 * square;
        }
    }
    let mut likelihood = 0.0;
    for i in 0..n {
        let sum: f64 = logs.row(i).iter().map(|log| log.exp()).sum();
        likelihood += sum.ln();
        logs.row_mut(i).iter_mut().for_each(|log| *log = log.exp() / sum);
    }
    (logs, likelihood)
}

#[test]
fn parameters_out_of_range_are_refused() {
    let two = || GmmParams::new(2);
    for (bad, name) in [
        (two().k(0), "`k`"),
        (two().n_init(0), "`n_init`"),
        (two().max_iter(0), "`max_iter`"),
        (two().ridge(-1.0), "`ridge`"),
        (two().ridge(f64::NAN), "`ridge`"),
        (two().tol(f64::INFINITY), "`tol`"),
    ] {
        let refusal = bad.check().unwrap_err().to_string();
        assert!(refusal.contains(name), "{refusal}");
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let data = groups(5000, 3, 4, 0);
    for kind in KINDS {
        let on = |threads| fit(GmmParams::new(4).covariance(kind), &data, threads).unwrap();
        let one = on(1);
        assert_eq!(one, on(2));
        assert_eq!(one, on(7));
        let run = Run::new(0);
        let single: Vec<f32> = data.as_slice().iter().map(|&x| x as f32).collect();
        let single = Table::new(5000, 3, &single);
        let double = single.to_matrix();
        assert_eq!(one.model.predict(single, &run), one.model.predict(&double, &run));
    }
}

#[test]
fn the_order_of_the_rows_tells_nothing() {
    let data = groups(300, 3, 3, 2);
    let order: Vec<usize> = (0..300).map(|i| i * 7 % 300).collect();
    let (run, labels) = (Run::new(0), (0..300).map(|i| (i % 3) as u32).collect::<Vec<_>>());
    let gmm = GmmParams::new(3).check().unwrap();
    let fit = |data: &Matrix, labels: &[u32]| {
        gmm.fit_from(data, labels, &run, &mut run.rng(Stream::Member(0))).unwrap()
    };
    let (one, start) = (fit(&data, &labels), order.iter().map(|&i| labels[i]).collect::<Vec<_>>());
    let other = fit(&data.select_rows(&order), &start);
    assert_eq!(other.labels, order.iter().map(|&i| one.labels[i]).collect::<Vec<_>>());
    assert!((other.log_likelihood - one.log_likelihood).abs() < 1e-9 * one.log_likelihood.abs());
}

#[test]
fn labels_are_those_of_the_largest_membership() {
    let data = groups(400, 2, 3, 4);
    for kind in KINDS {
        let found = fit(GmmParams::new(3).covariance(kind), &data, 1).unwrap();
        let memberships = found.model.memberships(&data, &Run::new(0)).unwrap();
        for (row, &label) in memberships.iter_rows().zip(&found.labels) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(row.iter().all(|&r| r <= row[label as usize]));
        }
        let GmmFit { model, .. } = found;
        let (means, weights) = (model.means().clone(), model.weights().to_vec());
        let of_parts = |factors: &[f64]| {
            let (means, weights) = (means.clone(), weights.clone());
            GmmModel::from_factors(model.covariance(), means, &weights, factors)
        };
        assert_eq!(of_parts(model.factors()).unwrap(), model);
        assert!(of_parts(&[1.0]).is_err());
    }
    let narrow = fit(GmmParams::new(3), &data, 1).unwrap().model;
    assert!(narrow.predict(&Matrix::zeros(1, 3), &Run::new(0)).is_err());
}

#[test]
fn more_starts_are_never_less_likely() {
    let data = groups(200, 2, 5, 8);
    let score = |n_init| {
        let fit = fit(GmmParams::new(5).n_init(n_init), &data, 1).unwrap();
        *fit.trace.last().unwrap()
    };
    // The first of several starts is that of one.
    assert!(score(8) >= score(1));
}

#[test]
fn sizes_of_nothing_and_of_one() {
    let one = fit(GmmParams::new(1), &Matrix::zeros(1, 2), 1).unwrap();
    assert_eq!(one.labels, [0]);
    assert!(one.log_likelihood.is_finite());
    assert!(fit(GmmParams::new(1), &Matrix::zeros(0, 2), 1).is_err());
    let refused = fit(GmmParams::new(2), &Matrix::zeros(5, 1), 1);
    assert_eq!(refused, Err(Error::TooFewRows { k: 2, distinct: 1 }));
    // As many components as rows.
    let data = Matrix::from_vec(3, 1, vec![0.0, 5.0, 9.0]);
    let mut labels = fit(GmmParams::new(3), &data, 1).unwrap().labels;
    labels.sort_unstable();
    assert_eq!(labels, [0, 1, 2]);
}

/// Copies of few rows, a column that never changes, and one that follows another: singular
/// covariances all.
#[test]
fn singular_data_give_finite_answers() {
    let data = Matrix::from_fn(60, 4, |i, j| match j {
        0 => (i % 3) as f64,
        1 => 7.0,
        2 => 2.0 * (i % 3) as f64 + 1.0,
        _ => f64::from(u8::from(i < 30)),
    });
    for kind in KINDS {
        for ridge in [0.0, 1e-6, 1e-2] {
            for k in 1..=6 {
                let params = GmmParams::new(k).covariance(kind).ridge(ridge);
                let found = fit(params, &data, 1).unwrap();
                let memberships = found.model.memberships(&data, &Run::new(0)).unwrap();
                assert!(found.log_likelihood.is_finite(), "{kind:?}, {ridge}, {k}");
                assert!(memberships.as_slice().iter().all(|r| (0.0..=1.0).contains(r)));
            }
        }
    }
}

/// A component that starts at one row stays there, since nothing is as dense as a point.
#[test]
fn a_component_of_one_row_is_started_anew() {
    let (data, run) = (groups(200, 2, 2, 0), Run::new(0));
    let labels: Vec<u32> = (0..200).map(|i| if i == 17 { 2 } else { i % 2 }).collect();
    for kind in KINDS {
        let gmm = GmmParams::new(3).covariance(kind).check().unwrap();
        let found = gmm.fit_from(&data, &labels, &run, &mut run.rng(Stream::Member(0))).unwrap();
        let least = found.model.weights().iter().fold(1.0, |a: f64, &b| a.min(b));
        assert!(200.0 * least > 2.0, "{kind:?}: {:?}", found.model.weights());
    }
}

#[test]
fn units_of_features_change_nothing() {
    let data = groups(300, 3, 3, 5);
    let scaled = Matrix::from_fn(300, 3, |i, j| data[(i, j)] * [1.0, 1024.0, 1.0 / 4096.0][j]);
    let (run, start) = (Run::new(0), (0..300).map(|i| (i % 3) as u32).collect::<Vec<_>>());
    for kind in [Covariance::Full, Covariance::Tied, Covariance::Diagonal] {
        let gmm = GmmParams::new(3).covariance(kind).ridge(1e-2).check().unwrap();
        let labels = |data: &Matrix| {
            gmm.fit_from(data, &start, &run, &mut run.rng(Stream::Member(0))).unwrap().labels
        };
        assert_eq!(labels(&data), labels(&scaled), "{kind:?}");
    }
}

#[test]
fn full_covariances_are_for_those_who_have_the_rows() {
    let resolved = |n, d, k| Covariance::Auto.resolved(n, d, k);
    assert_eq!(resolved(178, 13, 3), Covariance::Full);
    assert_eq!(resolved(100, 300, 3), Covariance::Diagonal);
    assert_eq!(resolved(100, 2, 50), Covariance::Diagonal);
    let many = Matrix::from_fn(40, 300, |i, j| ((i * 31 + j * 17) % 23) as f64);
    assert!(fit(GmmParams::new(3), &many, 1).unwrap().log_likelihood.is_finite());
    let run = Run::new(0).memory(1 << 20);
    let full = GmmParams::new(3).covariance(Covariance::Full).check().unwrap();
    let refusal = full.fit(&many, &run, &mut run.rng(Stream::Member(0))).unwrap_err().to_string();
    assert!(refusal.contains("3 Gaussians in 300 dimensions"), "{refusal}");
}

proptest! {
    #[test]
    fn what_should_never_fall_never_falls(
        n in 20..150usize, d in 1..5usize, k in 1..6usize, seed: u64, kind in 0..4usize,
        ridge in prop_oneof![Just(1e-6), Just(1e-3), Just(0.1)],
    ) {
        let params = GmmParams::new(k).covariance(KINDS[kind]).ridge(ridge).tol(0.0).max_iter(30);
        let found = fit(params, &groups(n, d, k, seed), 1).unwrap();
        for pair in found.trace.windows(2) {
            // Once it has settled it moves by what sums of n terms round.
            prop_assert!(pair[1] >= pair[0] - 1e-10 * pair[0].abs().max(1.0), "{:?}", found.trace);
        }
    }

    #[test]
    fn one_iteration_is_that_of_the_formulas(n in 30..300usize, d in 1..4usize, seed: u64) {
        let (data, run) = (groups(n, d, 2, seed), Run::new(0));
        let labels: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let gmm = GmmParams::new(2).covariance(Covariance::Full).ridge(0.0).max_iter(1);
        let gmm = gmm.check().unwrap();
        let found = gmm.fit_from(&data, &labels, &run, &mut run.rng(Stream::Member(0))).unwrap();
        let hard = Matrix::from_fn(n, 2, |i, c| f64::from(u8::from(i % 2 == c)));
        let (first, before) = plain(&data, &hard);
        let (second, after) = plain(&data, &first);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * b.abs().max(1.0);
        prop_assert!(near(found.trace[0] * n as f64, before));
        prop_assert!(near(found.log_likelihood, after));
        let memberships = found.model.memberships(&data, &run).unwrap();
        let all = memberships.as_slice().iter().zip(second.as_slice());
        for (a, b) in all {
            prop_assert!((a - b).abs() < 1e-7);
        }
    }
}
