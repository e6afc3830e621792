//! One Lloyd fit beside the straightforward version, on the same start for the same iterations.
//!
//! `cargo bench -p consilience --bench kmeans`. The same comparison with scikit-learn is
//! `benches/peers` at the root of the repository.

#![allow(missing_docs)]

use std::hint::black_box;

use consilience::Matrix;
use consilience::base::{KMeansParams, Start};
use consilience::{Rng, Run, Stream};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const ITERATIONS: usize = 20;

/// Overlapping clouds around `k` places.
fn clouds(n: usize, d: usize, k: usize, spread: f64) -> Matrix {
    let mut rng = Rng::new(1, Stream::Data);
    let places: Vec<f64> = (0..k * d).map(|_| spread * rng.normal()).collect();
    let mut values = Vec::with_capacity(n * d);
    for _ in 0..n {
        let place = rng.below(k);
        values.extend((0..d).map(|j| places[place * d + j] + rng.normal()));
    }
    Matrix::from_vec(n, d, values)
}

/// All distances and all sums in every iteration.
fn plain(data: &Matrix, start: &Matrix) -> Vec<usize> {
    let (k, d) = (start.nrows(), start.ncols());
    let nearest = |row: &[f64], centres: &Matrix| {
        let distance = |c: &[f64]| row.iter().zip(c).map(|(x, c)| (x - c) * (x - c)).sum::<f64>();
        let distances: Vec<f64> = centres.iter_rows().map(distance).collect();
        (0..k).fold(0, |best, j| if distances[j] < distances[best] { j } else { best })
    };
    let mut centres = start.clone();
    for _ in 0..ITERATIONS {
        let mut sums = Matrix::zeros(k, d);
        let mut counts = vec![0.0f64; k];
        for row in data.iter_rows() {
            let c = nearest(row, &centres);
            counts[c] += 1.0;
            sums.row_mut(c).iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        centres = Matrix::from_fn(k, d, |c, j| sums[(c, j)] / counts[c].max(1.0));
    }
    data.iter_rows().map(|row| nearest(row, &centres)).collect()
}

fn lloyd(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lloyd");
    group.sample_size(10);
    for (n, d, k, spread) in [(20_000, 16, 20, 0.7), (20_000, 2, 10, 3.0), (2_000, 617, 26, 0.12)] {
        let data = clouds(n, d, k, spread);
        let start = data.select_rows(&(0..k).collect::<Vec<_>>());
        let shape = format!("n{n}-d{d}-k{k}");
        group.bench_with_input(BenchmarkId::new("plain", &shape), &data, |b, data| {
            b.iter(|| plain(black_box(data), &start));
        });
        let params = KMeansParams::new(k).start(Start::Given(start.clone())).tol(0.0);
        let kmeans = params.max_iter(ITERATIONS).check().expect("valid parameters");
        let single: Vec<f32> = data.as_slice().iter().map(|&x| x as f32).collect();
        for threads in [1, 0] {
            let run = Run::new(0).threads(threads);
            let name = if threads == 1 { "ours-one-thread" } else { "ours" };
            group.bench_with_input(BenchmarkId::new(name, &shape), &data, |b, data| {
                b.iter(|| kmeans.fit(black_box(data), &run, Stream::Restart));
            });
        }
        let run = Run::new(0);
        let table = consilience::base::Table::new(n, d, &single);
        group.bench_with_input(BenchmarkId::new("ours-f32", &shape), &table, |b, table| {
            b.iter(|| kmeans.fit(black_box(*table), &run, Stream::Restart));
        });
    }
    group.finish();
}

criterion_group!(benches, lloyd);
criterion_main!(benches);
