//! Times k-means on a table and a start that another program wrote, for comparison with it.
//!
//! `kmeans_time DATA START N D K ITERATIONS FITS`: DATA and START are files of little-endian `f64`,
//! row by row, N x D and K x D. Without arguments it makes a small table of its own. Prints one JSON object. `benches/peers` calls it.

use std::time::Instant;

use consilience::base::{KMeansParams, Start};
use consilience::linalg::Matrix;
use consilience::{Rng, Run, Stream};

fn read(path: &str, rows: usize, columns: usize) -> Matrix {
    let bytes = std::fs::read(path).expect("the file can be read");
    let values = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    Matrix::from_vec(rows, columns, values)
}

struct Problem {
    data: Matrix,
    start: Matrix,
    iterations: usize,
    fits: usize,
}

impl Problem {
    fn read(arguments: &[String]) -> Self {
        let [data, start, n, d, k, iterations, fits] = arguments else {
            panic!("usage: kmeans_time DATA START N D K ITERATIONS FITS");
        };
        let number = |text: &String| text.parse::<usize>().expect("a whole number");
        Problem {
            data: read(data, number(n), number(d)),
            start: read(start, number(k), number(d)),
            iterations: number(iterations),
            fits: number(fits),
        }
    }

    /// Without arguments: a small table without clusters.
    fn noise() -> Self {
        let mut rng = Rng::new(0, Stream::Data);
        let values = (0..1000 * 8).map(|_| rng.normal()).collect();
        let data = Matrix::from_vec(1000, 8, values);
        let start = data.select_rows(&rng.distinct(1000, 10));
        Problem { data, start, iterations: 20, fits: 3 }
    }
}

#[allow(clippy::print_stdout)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let problem = if arguments.is_empty() { Problem::noise() } else { Problem::read(&arguments) };
    let Problem { data, start, iterations, fits } = problem;
    let params = KMeansParams::new(start.nrows()).start(Start::Given(start)).tol(0.0);
    let kmeans = params.max_iter(iterations).check().expect("valid parameters");
    let run = Run::new(0);
    let timed = || {
        let begin = Instant::now();
        let fit = kmeans.fit(&data, &run, Stream::Restart).expect("usable data");
        (begin.elapsed().as_secs_f64(), fit)
    };
    let results: Vec<_> = (0..fits).map(|_| timed()).collect();
    let seconds: Vec<f64> = results.iter().map(|(seconds, _)| *seconds).collect();
    let fit = &results[0].1;
    let answer = serde_json::json!({
        "seconds": seconds,
        "inertia": fit.inertia,
        "iterations": fit.iterations,
    });
    println!("{answer}");
}
