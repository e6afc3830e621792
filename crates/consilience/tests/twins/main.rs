//! Slow, obvious twins of the methods of the five papers: plain tables of labels, nested loops, and
//! nothing of the library but its answers, which must be the same.

mod information;
mod rce;
mod sa;
mod scec;
mod voting;

use consilience::consensus::{Consensus, Settings, combine, method};
use consilience::ensemble::{Ensemble, HardMember, Profiles};
use consilience::{Rng, Run, Stream};

/// Labels by object, then by member.
pub(crate) type Table = Vec<Vec<Option<usize>>>;

/// A square matrix.
pub(crate) type Square = Vec<Vec<f64>>;

/// Random labels out of `k`, about a share `gaps` missing, but none of the first and the last object.
pub(crate) fn random(seed: u64, n: usize, r: usize, k: usize, gaps: f64) -> Table {
    let mut rng = Rng::new(seed, Stream::Data);
    let mut label = |i: usize| {
        let (missing, label) = (rng.unit() < gaps, rng.below(k));
        (!missing || i == 0 || i + 1 == n).then_some(label)
    };
    let mut table: Table = (0..n).map(|i| (0..r).map(|_| label(i)).collect()).collect();
    // Nobody is without any label.
    table.iter_mut().enumerate().for_each(|(i, row)| row[i % r] = row[i % r].or(Some(0)));
    table
}

/// How many clusters member `h` has: the labels that occur.
pub(crate) fn clusters(table: &Table, h: usize) -> usize {
    let mut seen: Vec<usize> = table.iter().filter_map(|row| row[h]).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.len()
}

/// How many different rows there are.
pub(crate) fn distinct(table: &Table) -> usize {
    let mut rows = table.clone();
    rows.sort();
    rows.dedup();
    rows.len()
}

/// What the library makes of it: the labels and strengths of the objects, and all it says.
pub(crate) struct Answer {
    pub(crate) labels: Vec<usize>,
    pub(crate) strength: Vec<f64>,
    pub(crate) consensus: Consensus,
}

pub(crate) fn answer(
    name: &str,
    k: Option<usize>,
    settings: &[(&str, &str)],
    table: &Table,
    start: Option<&[u32]>,
) -> Answer {
    let run = Run::new(7).threads(1);
    let column = |h: usize| table.iter().map(move |row| row[h].map(|c| c as i64));
    let members = (0..table[0].len()).map(|h| HardMember::from_integers(h.to_string(), column(h)));
    let ensemble = Ensemble::new(members.map(Into::into).collect()).unwrap();
    let profiles = Profiles::new(&ensemble, &run).unwrap();
    let settings = settings.iter().copied().collect::<Settings>();
    let method = method(name).unwrap().with(k, &settings).unwrap();
    let start: Option<Vec<Option<u32>>> =
        start.map(|labels| labels.iter().copied().map(Some).collect());
    let consensus = combine(&profiles, method.as_ref(), start.as_deref(), &run).unwrap();
    let labels = consensus.object_labels(&profiles).into_iter();
    let labels = labels.map(|label| label.expect("everybody has a label") as usize).collect();
    let strength = consensus.object_strength(&profiles).into_iter().flatten().collect();
    Answer { labels, strength, consensus }
}

pub(crate) fn assert_close(what: &str, found: f64, expected: f64) {
    let scale = 1.0 + found.abs().max(expected.abs());
    assert!((found - expected).abs() <= 1e-9 * scale, "{what}: {found} instead of {expected}");
}

/// The groups of equal labels, numbered by first appearance.
pub(crate) fn groups(labels: &[usize]) -> Vec<usize> {
    let first = |label| labels.iter().position(|other| other == label).unwrap();
    labels.iter().map(first).collect()
}

/// Eigenvalues, falling, and eigenvectors of a symmetric matrix, by Jacobi's rotations.
pub(crate) fn eigen(mut a: Square) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut v: Square =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = theta.sin_cos();
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for i in 0..n {
                    (a[p][i], a[q][i]) = (c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]);
                }
                for row in &mut v {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    let vector = |&j: &usize| v.iter().map(|row| row[j]).collect();
    (order.iter().map(|&j| a[j][j]).collect(), order.iter().map(vector).collect())
}
