//! Times clusterers by trees on a table that another program wrote, for comparison with it.
//!
//! `trees_time WHAT DATA N D K THREADS FITS`: DATA is a file of little-endian `f64`, row by row, N x D. WHAT is
//!
//! * `genie`, `single`: all merges along the minimum spanning tree, cut at K clusters; its length is told,
//! * `average`, `complete`, `ward`: all merges, cut at K clusters; the sum of their heights is told,
//! * `density`: clusters of K rows at least, with K samples; noise has the label -1,
//! * `reach`: the spanning tree by mutual reachability with K samples,
//! * `neighbours`: the K nearest rows of every row; the sum of the distances to the last of them is told,
//! * `nearest`: for every row the nearest of the first K.
//!
//! Everything is done FITS times. Without arguments it makes a small table of its own. Prints one JSON
//! object. `benches/peers` calls it.

use std::time::Instant;

use consilience::base::{
    DensityParams, HierarchyParams, Linkage, NearestRow, Neighbours, SpanningTree,
};
use consilience::{Matrix, Result, Rng, Run, Stream};

/// The work, once: a sum to compare, and labels.
fn work(what: &str, data: &Matrix, k: usize, run: &Run) -> Result<(f64, Vec<i64>)> {
    let linkage = match what {
        "genie" => Linkage::Genie { threshold: 0.3 },
        "single" => Linkage::Single,
        "average" => Linkage::Average,
        "complete" => Linkage::Complete,
        "ward" => Linkage::Ward,
        _ => return work_besides(what, data, k, run),
    };
    let merges = HierarchyParams::new(linkage, k).check()?.merges(data, run)?;
    let labels = merges.cut(k)?.into_iter().map(i64::from).collect();
    Ok((merges.merges().iter().map(|merge| merge.height).sum(), labels))
}

fn work_besides(what: &str, data: &Matrix, k: usize, run: &Run) -> Result<(f64, Vec<i64>)> {
    let labels = match what {
        "density" => {
            let density = DensityParams::new(1).min_cluster_size(Some(k)).min_samples(Some(k));
            let labels = density.check()?.fit(data, run)?;
            labels.into_iter().map(|label| label.map_or(-1, i64::from)).collect()
        }
        "reach" => {
            let tree = SpanningTree::mutual_reachability(data, k, run)?;
            return Ok((tree.edges().iter().map(|edge| edge.length).sum(), vec![]));
        }
        "neighbours" => {
            let near = Neighbours::new(data, k, run)?;
            let last = |i: usize| near.of(i).1[k - 1].sqrt();
            return Ok(((0..data.nrows()).map(last).sum(), vec![]));
        }
        "nearest" => {
            let rows = data.select_rows(&(0..k).collect::<Vec<_>>());
            let nearest = NearestRow::new(&rows, run)?.of(data, run)?;
            nearest.into_iter().map(i64::from).collect()
        }
        other => panic!("`{other}` is none of those at the head of this file"),
    };
    Ok((0.0, labels))
}

#[allow(clippy::print_stdout)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, data, k, threads, fits) =
        if let [what, path, n, d, k, threads, fits] = &arguments[..] {
            let number = |text: &String| text.parse::<usize>().expect("a whole number");
            let bytes = std::fs::read(path).expect("the file can be read");
            let values = bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
            let data = Matrix::from_vec(number(n), number(d), values);
            (what.clone(), data, number(k), number(threads), number(fits))
        } else {
            let mut rng = Rng::new(0, Stream::Data);
            let values = (0..1000 * 4).map(|_| rng.normal()).collect();
            ("genie".to_owned(), Matrix::from_vec(1000, 4, values), 3, 0, 1)
        };
    let run = Run::new(0).threads(threads);
    let mut seconds = Vec::new();
    let mut found = (0.0, vec![]);
    for _ in 0..fits {
        let begin = Instant::now();
        found = work(&what, &data, k, &run).expect("usable data and parameters");
        seconds.push(begin.elapsed().as_secs_f64());
    }
    let answer = serde_json::json!({"seconds": seconds, "sum": found.0, "labels": found.1});
    println!("{answer}");
}
