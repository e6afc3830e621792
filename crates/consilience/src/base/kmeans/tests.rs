//! Tests of k-means as a whole.

use super::*;
use crate::rng::Rng;
use proptest::prelude::*;

fn column(values: &[f64]) -> Matrix {
    Matrix::from_vec(values.len(), 1, values.to_vec())
}

fn given(centres: &[f64]) -> KMeansParams {
    KMeansParams::new(centres.len()).start(Start::Given(column(centres))).tol(0.0)
}

fn fit(params: KMeansParams, data: &Matrix) -> KMeansFit {
    params.check().unwrap().fit(data, &Run::new(0), Stream::Restart).unwrap()
}

#[test]
fn parameters_out_of_range_are_refused() {
    let two = || KMeansParams::new(2);
    let wide = Start::Given(Matrix::zeros(3, 1));
    let nan = Start::Given(column(&[0.0, f64::NAN]));
    let once = Start::Given(column(&[0.0, 1.0]));
    for (bad, name) in [
        (KMeansParams::new(0), "`k`"),
        (two().n_init(0), "`n_init`"),
        (two().max_iter(0), "`max_iter`"),
        (two().tol(-1.0), "`tol`"),
        (two().tol(f64::NAN), "`tol`"),
        (two().start(wide), "`start`"),
        (two().start(nan), "row 1, column `0`"),
        (two().start(once).n_init(2), "`n_init`"),
    ] {
        let refusal = bad.check().unwrap_err().to_string();
        assert!(refusal.contains(name), "{refusal}");
    }
}

#[test]
fn an_empty_cluster_takes_the_farthest_row() {
    // The third centre is nearest to nothing; 10 is the row farthest from its centre.
    let data = column(&[0.0, 1.0, 2.0, 10.0]);
    let found = fit(given(&[0.0, 3.0, 100.0]), &data);
    assert_eq!(found.labels[3], 2);
    assert_eq!(found.centres[(2, 0)], 10.0);
    let mut sizes = [0; 3];
    found.labels.iter().for_each(|&c| sizes[c as usize] += 1);
    assert!(!sizes.contains(&0));
}

#[test]
fn ties_go_to_the_lowest_index() {
    let found = fit(given(&[0.0, 2.0]).max_iter(1), &column(&[0.0, 1.0, 2.0]));
    assert_eq!(found.labels[..2], [0, 0]);
}

#[test]
fn as_many_clusters_as_rows() {
    let data = column(&[3.0, 1.0, 2.0]);
    for start in [Start::Random, Start::PlusPlus] {
        let found = fit(KMeansParams::new(3).start(start), &data);
        assert_eq!(found.inertia, 0.0);
        let mut labels = found.labels;
        labels.sort_unstable();
        assert_eq!(labels, [0, 1, 2]);
    }
}

#[test]
fn more_clusters_than_distinct_rows_are_refused() {
    let data = column(&[1.0, 1.0, 2.0, 2.0]);
    for start in [Start::Random, Start::PlusPlus] {
        let kmeans = KMeansParams::new(3).start(start).check().unwrap();
        let refused = kmeans.fit(&data, &Run::new(0), Stream::Restart);
        assert_eq!(refused, Err(Error::TooFewRows { k: 3, distinct: 2 }));
    }
    let kmeans = given(&[0.0, 1.0, 2.0, 3.0, 4.0]).check().unwrap();
    let refused = kmeans.fit(&data, &Run::new(0), Stream::Restart);
    assert_eq!(refused, Err(Error::TooFewRows { k: 5, distinct: 2 }));
}

#[test]
fn one_row_and_constant_data_make_one_cluster() {
    let one = fit(KMeansParams::new(1), &Matrix::from_vec(1, 2, vec![4.0, -1.0]));
    assert_eq!((one.labels, one.inertia), (vec![0], 0.0));
    assert_eq!(one.centres.as_slice(), [4.0, -1.0]);
    let constant = fit(KMeansParams::new(1), &column(&[7.0; 5]));
    assert_eq!((constant.inertia, constant.stop), (0.0, Stop::Converged));
}

#[test]
fn unusable_values_are_refused() {
    let kmeans = KMeansParams::new(1).check().unwrap();
    let data = Matrix::from_vec(2, 2, vec![0.0, 1.0, f64::INFINITY, 3.0]);
    let refusal = kmeans.fit(&data, &Run::new(0), Stream::Restart).unwrap_err().to_string();
    assert!(refusal.starts_with("the data, row 1, column `0`"), "{refusal}");
}

#[test]
fn a_raised_flag_stops_it() {
    let flag = crate::CancelFlag::default();
    flag.cancel();
    let run = Run::new(0).cancel_flag(flag);
    let kmeans = KMeansParams::new(1).check().unwrap();
    assert_eq!(kmeans.fit(&column(&[0.0, 1.0]), &run, Stream::Restart), Err(Error::Cancelled));
}

#[test]
fn max_iter_stops_it() {
    let data = column(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let found = fit(given(&[0.0, 1.0]).max_iter(1), &data);
    assert_eq!((found.iterations, found.stop), (1, Stop::MaxIterations));
    assert_eq!(fit(given(&[0.0, 1.0]), &data).stop, Stop::Converged);
}

/// Points around `k` far-off places.
fn separated(n: usize, d: usize, k: usize, seed: u64) -> Matrix {
    let mut rng = Rng::new(seed, Stream::Data);
    let places: Vec<f64> = (0..k * d).map(|_| 100.0 * rng.normal()).collect();
    let values = (0..n * d).map(|i| places[(i / d % k) * d + i % d] + rng.normal()).collect();
    Matrix::from_vec(n, d, values)
}

#[test]
fn single_precision_gives_the_same_partition_of_separated_data() {
    let data = separated(3000, 5, 4, 1);
    let single: Vec<f32> = data.as_slice().iter().map(|&x| x as f32).collect();
    let kmeans = KMeansParams::new(4).n_init(3).check().unwrap();
    let double = kmeans.fit(&data, &Run::new(0), Stream::Restart).unwrap();
    let table = Table::new(3000, 5, &single);
    let single = kmeans.fit(table, &Run::new(0), Stream::Restart).unwrap();
    assert_eq!(single.labels, double.labels);
}

/// Sums and distances are taken of the values as `f64`, so the type they are stored in is nothing.
#[test]
fn single_precision_values_give_the_same_bits_as_their_doubles() {
    let single: Vec<f32> = separated(700, 9, 3, 5).as_slice().iter().map(|&x| x as f32).collect();
    let double = single.iter().map(|&x| f64::from(x)).collect();
    let kmeans = KMeansParams::new(12).check().unwrap();
    let run = Run::new(0);
    let of_single = kmeans.fit(Table::new(700, 9, &single), &run, Stream::Restart);
    assert_eq!(of_single, kmeans.fit(&Matrix::from_vec(700, 9, double), &run, Stream::Restart));
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let data = separated(5000, 3, 7, 2);
    let kmeans = KMeansParams::new(9).n_init(3).check().unwrap();
    let on = |threads| kmeans.fit(&data, &Run::new(3).threads(threads), Stream::Restart).unwrap();
    assert_eq!(on(1), on(2));
}

/// Rows of few values, so that ties, copies and empty clusters are common.
fn rows(n: std::ops::Range<usize>) -> impl Strategy<Value = Matrix> {
    (1..4usize, n).prop_flat_map(|(d, n)| {
        prop::collection::vec(-3..=3i32, n * d).prop_map(move |values| {
            Matrix::from_vec(n, d, values.into_iter().map(f64::from).collect())
        })
    })
}

/// Lloyd's iteration as one would write it down: all distances and all sums every time.
fn plain(data: &Matrix, weights: &[f64], start: &Matrix, max_iter: usize) -> KMeansFit {
    use crate::base::distance::{inertia, nearest, squared_distance};
    use crate::base::exact_sum::{ClusterSums, Quanta};
    use crate::base::stats::Stats;

    let table = Table::from(data);
    let stats = Stats::new(&table, Some(weights), &Run::new(0).threads(1)).unwrap();
    let quanta = Quanta::new(&stats, data.nrows());
    let (n, k) = (data.nrows(), start.nrows());
    let mut centres = start.clone();
    let assign = |centres: &Matrix| -> Vec<u32> {
        data.iter_rows().map(|row| nearest(row, centres).0).collect()
    };
    let mut labels = assign(&centres);
    let (mut iterations, mut stop) = (0, Stop::MaxIterations);
    while iterations < max_iter {
        iterations += 1;
        for empty in 0..k as u32 {
            if labels.contains(&empty) {
                continue;
            }
            let alike =
                |i: usize| (0..n).all(|j| labels[j] != labels[i] || data.row(j) == data.row(i));
            let mut farthest = (0.0, None);
            for i in (0..n).filter(|&i| !alike(i)) {
                let distance = squared_distance(data.row(i), centres.row(labels[i] as usize));
                if distance > farthest.0 {
                    farthest = (distance, Some(i));
                }
            }
            let Some(i) = farthest.1 else { break };
            let from = labels[i];
            for j in (0..n).filter(|&j| data.row(j) == data.row(i)) {
                if labels[j] == from {
                    labels[j] = empty;
                }
            }
        }
        let mut sums = ClusterSums::zeros(k, data.ncols());
        for i in 0..n {
            sums.add(labels[i] as usize, data.row(i), weights[i], &quanta);
        }
        sums.means_into(&mut centres);
        let next = assign(&centres);
        let same = next == labels;
        labels = next;
        if same {
            stop = Stop::Converged;
            break;
        }
    }
    let inertia = inertia(&table, Some(weights), &centres, &labels);
    KMeansFit { centres, labels, inertia, iterations, stop }
}

/// Tables of all kinds: on a grid, in clouds, without clusters, far from the origin, with a stray row.
fn tables() -> impl Strategy<Value = Matrix> {
    let shape = (1..200usize, 1..12usize, 0..4u32, any::<u64>());
    (shape, prop_oneof![Just(0.0), Just(1e5), Just(-1e10)], any::<bool>()).prop_map(
        |((n, d, kind, seed), offset, stray)| {
            let mut rng = Rng::new(seed, Stream::Data);
            let values = (0..n * d).map(|i| {
                offset
                    + match kind {
                        0 => rng.below(3) as f64,
                        1 => rng.normal(),
                        2 => 10.0 * (i / d % 5 * (i % d + 1) % 7) as f64 + rng.normal(),
                        _ => rng.unit() * 1e-7,
                    }
            });
            let mut values: Vec<f64> = values.collect();
            if stray {
                values[rng.below(n * d)] *= 1e6;
            }
            Matrix::from_vec(n, d, values)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn nothing_that_is_skipped_matters(
        data in tables(),
        k in 1..30usize,
        outside in prop_oneof![Just(0.0), Just(1e8), Just(1e100)],
        weighted: bool,
        max_iter in 1..40usize,
        seed: u64,
    ) {
        let mut rng = Rng::new(seed, Stream::Member(0));
        let (n, d) = (data.nrows(), data.ncols());
        let k = k.min(n);
        let mut start = data.select_rows(&rng.distinct(n, k));
        if outside > 0.0 {
            start.row_mut(rng.below(k))[rng.below(d)] += outside;
        }
        let weights: Vec<f64> =
            (0..n).map(|_| if weighted { 0.1 + 3.0 * rng.unit() } else { 1.0 }).collect();
        let params = KMeansParams::new(k).start(Start::Given(start.clone())).tol(0.0);
        let kmeans = params.max_iter(max_iter).check().unwrap();
        let fast = kmeans.fit_weighted(&data, &weights, &Run::new(0).threads(1), Stream::Inner);
        prop_assert_eq!(fast.unwrap(), plain(&data, &weights, &start, max_iter));
    }
}

proptest! {
    #[test]
    fn the_objective_never_rises(data in rows(1..40), k in 1..6usize, seed: u64) {
        let mut rng = Rng::new(seed, Stream::Data);
        let k = k.min(data.nrows());
        let start = data.select_rows(&rng.distinct(data.nrows(), k));
        let mut last = f64::INFINITY;
        for max_iter in 1..6 {
            let params = KMeansParams::new(k).start(Start::Given(start.clone()));
            let found = fit(params.tol(0.0).max_iter(max_iter), &data);
            prop_assert!(found.inertia <= last * (1.0 + 1e-12));
            last = found.inertia;
        }
    }

    #[test]
    fn a_weight_is_a_number_of_equal_rows(
        data in rows(2..30),
        k in 1..5usize,
        counts in prop::collection::vec(1..5usize, 30),
    ) {
        let n = data.nrows();
        let k = k.min(n);
        let repeated: Vec<usize> =
            (0..n).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
        let weights: Vec<f64> = counts[..n].iter().map(|&c| c as f64).collect();
        let start = Start::Given(data.select_rows(&(0..k).collect::<Vec<_>>()));
        let kmeans = KMeansParams::new(k).start(start).tol(0.0).check().unwrap();
        let run = Run::new(0);
        let weighted = kmeans.fit_weighted(&data, &weights, &run, Stream::Inner).unwrap();
        let all = kmeans.fit(&data.select_rows(&repeated), &run, Stream::Inner).unwrap();
        for (r, &i) in repeated.iter().enumerate() {
            prop_assert_eq!(all.labels[r], weighted.labels[i]);
        }
        for (a, b) in all.centres.as_slice().iter().zip(weighted.centres.as_slice()) {
            prop_assert!((a - b).abs() < 1e-12);
        }
    }
}

/// Tables with many zeros: counts on a grid, so that ties are common, or numbers of all sizes.
fn mostly_zeros() -> impl Strategy<Value = Matrix> {
    (1..80usize, 1..30usize, 0..3u32, any::<u64>()).prop_map(|(n, d, kind, seed)| {
        let mut rng = Rng::new(seed, Stream::Data);
        let values = (0..n * d).map(|_| match (rng.below(4), kind) {
            (0, 0) => (1 + rng.below(3)) as f64,
            (0, 1) => rng.normal(),
            (0, _) => rng.normal() * 10f64.powi(rng.below(300) as i32 - 170),
            _ => 0.0,
        });
        Matrix::from_vec(n, d, values.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn zeros_need_not_be_written(
        data in mostly_zeros(), k in 1..12usize, seed: u64, spread: bool, threads in 1..3usize,
    ) {
        let start = if spread { Start::PlusPlus } else { Start::Random };
        let kmeans = KMeansParams::new(k).start(start).tol(0.0).n_init(2).check().unwrap();
        let run = Run::new(seed).threads(threads);
        let sparse = kmeans.fit_sparse(&SparseMatrix::from_dense(&data), &run, Stream::Restart);
        let dense = kmeans.fit(&data, &run, Stream::Restart);
        match (sparse, dense) {
            (Ok(sparse), Ok(dense)) => {
                // Which of two starts is better can hang on the rounding of the inertia.
                let scale = data.as_slice().iter().map(|x| x * x).sum::<f64>();
                prop_assert!((sparse.inertia - dense.inertia).abs() <= 1e-12 * scale);
                if sparse.labels == dense.labels {
                    prop_assert_eq!(sparse.centres, dense.centres);
                    prop_assert_eq!(sparse.iterations, dense.iterations);
                } else {
                    let once = KMeansParams::new(k).start(Start::Given(sparse.centres.clone()));
                    let once = once.tol(0.0).check().unwrap();
                    let again = once.fit(&data, &run, Stream::Restart).unwrap();
                    prop_assert_eq!(sparse.labels, again.labels);
                }
            }
            (sparse, dense) => prop_assert_eq!(sparse, dense),
        }
    }

    #[test]
    fn the_nearest_centres_of_sparse_rows_are_those_of_dense_ones(
        data in mostly_zeros(), k in 1..12usize, seed: u64,
    ) {
        let mut rng = Rng::new(seed, Stream::Data);
        let chosen: Vec<usize> = (0..k).map(|_| rng.below(data.nrows())).collect();
        let mut centres = data.select_rows(&chosen);
        centres.as_mut_slice().iter_mut().filter(|_| rng.below(3) == 0).for_each(|x| *x /= 3.0);
        let run = Run::new(0).threads(1);
        let sparse = SparseMatrix::from_dense(&data);
        let found = crate::base::nearest_centres_sparse(&sparse, &centres, &run);
        prop_assert_eq!(found, crate::base::nearest_centres(&data, &centres, &run));
    }
}

#[test]
fn unusable_sparse_tables_are_refused_as_dense_ones_are() {
    let kmeans = KMeansParams::new(1).check().unwrap();
    for bad in [f64::NAN, f64::INFINITY, -1e200] {
        let data = Matrix::from_vec(2, 2, vec![0.0, 1.0, 0.0, bad]);
        let sparse = SparseMatrix::from_dense(&data);
        let refused = kmeans.fit_sparse(&sparse, &Run::new(0), Stream::Restart).unwrap_err();
        let expected = kmeans.fit(&data, &Run::new(0), Stream::Restart).unwrap_err();
        assert_eq!(refused.to_string(), expected.to_string());
    }
    let empty = SparseMatrix::from_dense(&Matrix::zeros(0, 3));
    assert!(kmeans.fit_sparse(&empty, &Run::new(0), Stream::Restart).is_err());
    // Only zeros, but rows and columns.
    let zeros = SparseMatrix::from_dense(&Matrix::zeros(3, 2));
    assert_eq!(kmeans.fit_sparse(&zeros, &Run::new(0), Stream::Restart).unwrap().inertia, 0.0);
}
