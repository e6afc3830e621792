//! Times base clusterers on a table and a start that another program wrote, for comparison with it.
//!
//! `kmeans_time WHAT DATA START N D K COUNT FITS`: DATA and START are files of little-endian `f64`, row
//! by row, N x D and K x D. WHAT is
//!
//! * `kmeans`: Lloyd's iteration from the start, COUNT times at most; `kmeans32`: on the data in `f32`,
//! * `fuzzy`: COUNT iterations of fuzzy k-means from random rows,
//! * `full`, `tied`, `diagonal`, `spherical`: COUNT iterations of EM for a mixture of Gaussians with such
//!   covariances, from the rows nearest to each row of the start,
//! * `members`: COUNT members by k-means from random rows, each to its end, of K / 2, K / 2 + 1, ... clusters.
//!
//! Everything is done FITS times. Without arguments it makes a small table of its own. Prints one JSON
//! object. `benches/peers` calls it.

use std::time::Instant;

use consilience::Matrix;
use consilience::base::{Covariance, FuzzyKMeansParams, GmmParams, KMeansParams, Start, Table};
use consilience::generate::{Base, GenerateParams};
use consilience::{Result, Rng, Run, Stream};

fn read(path: &str, rows: usize, columns: usize) -> Matrix {
    let bytes = std::fs::read(path).expect("the file can be read");
    let values = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    Matrix::from_vec(rows, columns, values)
}

struct Problem {
    what: String,
    data: Matrix,
    /// The data in single precision, if that is what is worked on.
    single: Vec<f32>,
    start: Matrix,
    count: usize,
    fits: usize,
}

impl Problem {
    fn read(arguments: &[String]) -> Self {
        let [what, data, start, n, d, k, count, fits] = arguments else {
            panic!("usage: kmeans_time WHAT DATA START N D K COUNT FITS");
        };
        let number = |text: &String| text.parse::<usize>().expect("a whole number");
        let data = read(data, number(n), number(d));
        let single = if what == "kmeans32" { &data } else { &Matrix::zeros(0, 0) };
        Problem {
            what: what.clone(),
            single: single.as_slice().iter().map(|&x| x as f32).collect(),
            data,
            start: read(start, number(k), number(d)),
            count: number(count),
            fits: number(fits),
        }
    }

    /// Without arguments: a small table without clusters.
    fn noise() -> Self {
        let mut rng = Rng::new(0, Stream::Data);
        let values = (0..1000 * 8).map(|_| rng.normal()).collect();
        let data = Matrix::from_vec(1000, 8, values);
        let start = data.select_rows(&rng.distinct(1000, 10));
        Problem { what: "kmeans".to_owned(), data, single: vec![], start, count: 20, fits: 3 }
    }

    /// The nearest row of the start for every row.
    fn nearest(&self) -> Vec<u32> {
        let square =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum() };
        let of_row = |row: &[f64]| {
            let squares = self.start.iter_rows().map(|start| square(row, start));
            let least = squares.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            least.map_or(0, |(j, _)| j as u32)
        };
        self.data.iter_rows().map(of_row).collect()
    }

    /// The work, once: what was minimised, and the number of iterations where there is one.
    fn work(&self, run: &Run) -> Result<(f64, Option<usize>)> {
        let (k, count) = (self.start.nrows(), self.count);
        match &*self.what {
            "kmeans" | "kmeans32" => {
                let start = Start::Given(self.start.clone());
                let params = KMeansParams::new(k).start(start).tol(0.0).max_iter(count);
                let kmeans = params.check()?;
                let fit = if self.single.is_empty() {
                    kmeans.fit(&self.data, run, Stream::Restart)?
                } else {
                    let data = Table::new(self.data.nrows(), self.data.ncols(), &self.single);
                    kmeans.fit(data, run, Stream::Restart)?
                };
                Ok((fit.inertia, Some(fit.iterations)))
            }
            "fuzzy" => {
                let params = FuzzyKMeansParams::new(k).max_iter(count).tol(0.0);
                let fit = params.check()?.fit(&self.data, run, &mut run.rng(Stream::Data))?;
                Ok((fit.trace.last().copied().unwrap_or(f64::NAN), Some(fit.iterations)))
            }
            "full" | "tied" | "diagonal" | "spherical" => {
                let covariance = match &*self.what {
                    "full" => Covariance::Full,
                    "tied" => Covariance::Tied,
                    "diagonal" => Covariance::Diagonal,
                    _ => Covariance::Spherical,
                };
                let params = GmmParams::new(k).covariance(covariance).max_iter(count).tol(0.0);
                let (labels, gmm) = (self.nearest(), params.ridge(0.0).check()?);
                let fit = gmm.fit_from(&self.data, &labels, run, &mut run.rng(Stream::Data))?;
                Ok((fit.log_likelihood, Some(fit.iterations)))
            }
            "members" => {
                let base = |i: usize| {
                    let params = KMeansParams::new(k / 2 + i).start(Start::Random).tol(0.0);
                    Base::KMeans(params)
                };
                let generator = GenerateParams::given((0..count).map(base).collect()).check()?;
                let models = generator.ensemble(&self.data, run)?.models;
                Ok((models.len() as f64, None))
            }
            other => panic!(
                "`{other}` is not one of kmeans, kmeans32, fuzzy, full, tied, diagonal, spherical, members"
            ),
        }
    }
}

#[allow(clippy::print_stdout)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let problem = if arguments.is_empty() { Problem::noise() } else { Problem::read(&arguments) };
    let run = Run::new(0);
    let timed = |_| {
        let begin = Instant::now();
        let done = problem.work(&run).expect("usable data and parameters");
        (begin.elapsed().as_secs_f64(), done)
    };
    let results: Vec<_> = (0..problem.fits).map(timed).collect();
    let seconds: Vec<f64> = results.iter().map(|(seconds, _)| *seconds).collect();
    let (objective, iterations) = results[0].1;
    let answer = serde_json::json!({
        "seconds": seconds,
        "objective": objective,
        "iterations": iterations,
    });
    println!("{answer}");
}
