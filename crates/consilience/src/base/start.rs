//! Rows to start from: random ones, or spread out (k-means++).

use std::cmp::Ordering;

use rayon::prelude::*;
use serde::Serialize;

use crate::base::distance::{CHUNK, squared_distance};
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::{Matrix, vectorised};
use crate::rng::Rng;
use crate::run::Run;

/// Where the centres start.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// At distinct rows, drawn without replacement with probability proportional to weight.
    Random,
    /// At rows far from each other: each is drawn with probability proportional to weight times
    /// squared distance to the nearest of those drawn before (k-means++: Arthur and Vassilvitskii
    /// 2007).
    PlusPlus,
    /// At these centres.
    Given(Matrix),
}

/// Rows, however they are stored.
pub(super) trait Rows: Sync {
    /// The number of rows.
    fn nrows(&self) -> usize;

    /// The number of columns.
    fn ncols(&self) -> usize;

    /// Whether rows `a` and `b` have the same content.
    fn same(&self, a: usize, b: usize) -> bool;

    /// Some order of the contents of rows `a` and `b`.
    fn order(&self, a: usize, b: usize) -> Ordering;

    /// Writes row `i` out.
    fn write(&self, i: usize, into: &mut [f64]);

    /// The squared distances of rows from `first` on from `point`.
    fn distances(&self, first: usize, point: &[f64], into: &mut [f64]);
}

impl<T: Float> Rows for Table<'_, T> {
    fn nrows(&self) -> usize {
        Table::nrows(self)
    }

    fn ncols(&self) -> usize {
        Table::ncols(self)
    }

    fn same(&self, a: usize, b: usize) -> bool {
        self.row(a) == self.row(b)
    }

    fn order(&self, a: usize, b: usize) -> Ordering {
        // Adding 0 makes one zero of the two that `total_cmp` tells apart.
        let entries = |i: usize| self.row(i).iter().map(|x| x.to_f64() + 0.0);
        let mut pairs = entries(a).zip(entries(b)).map(|(a, b)| a.total_cmp(&b));
        pairs.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn write(&self, i: usize, into: &mut [f64]) {
        into.iter_mut().zip(self.row(i)).for_each(|(into, x)| *into = x.to_f64());
    }

    fn distances(&self, first: usize, point: &[f64], into: &mut [f64]) {
        vectorised(
            #[inline(always)]
            || {
                for (i, distance) in into.iter_mut().enumerate() {
                    *distance = squared_distance(self.row(first + i), point);
                }
            },
        );
    }
}

/// `k` rows of different content, drawn one after the other with probability proportional to
/// weight among the rows that differ from all drawn before.
pub(super) fn random_rows(
    data: &impl Rows,
    weights: Option<&[f64]>,
    k: usize,
    rng: &mut Rng,
) -> Result<Vec<usize>> {
    let n = data.nrows();
    if k > n {
        return Err(Error::TooFewRows { k, distinct: distinct_rows(data).len() });
    }
    let draw = WeightedIndex::new(n, weights);
    let mut chosen: Vec<usize> = Vec::with_capacity(k);
    // A draw that repeats a row is drawn again, which leaves the law of the next new row as it
    // should be. Where few rows differ this could go on for long, so the patience is limited.
    let mut patience = 20 * k + 100;
    while chosen.len() < k {
        let i = draw.draw(rng);
        if chosen.iter().all(|&c| !data.same(c, i)) {
            chosen.push(i);
            continue;
        }
        patience -= 1;
        if patience == 0 {
            return random_distinct(data, weights, k, rng, chosen);
        }
    }
    Ok(chosen)
}

/// Draws the rest of [`random_rows`] from the groups of equal rows.
fn random_distinct(
    data: &impl Rows,
    weights: Option<&[f64]>,
    k: usize,
    rng: &mut Rng,
    mut chosen: Vec<usize>,
) -> Result<Vec<usize>> {
    let groups = distinct_rows(data);
    if groups.len() < k {
        return Err(Error::TooFewRows { k, distinct: groups.len() });
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut mass: Vec<f64> = groups.iter().map(|g| g.iter().map(|&i| weight(i)).sum()).collect();
    for (group, mass) in groups.iter().zip(&mut mass) {
        if chosen.iter().any(|&c| data.same(c, group[0])) {
            *mass = 0.0;
        }
    }
    while chosen.len() < k {
        let group = rng.weighted(&mass);
        mass[group] = 0.0;
        chosen.push(groups[group][0]);
    }
    Ok(chosen)
}

/// The rows by content, groups in order of first appearance.
fn distinct_rows(data: &impl Rows) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..data.nrows()).collect();
    order.sort_by(|&a, &b| data.order(a, b));
    let same = |&a: &usize, &b: &usize| data.same(a, b);
    let mut groups: Vec<Vec<usize>> = order.chunk_by(same).map(<[usize]>::to_vec).collect();
    groups.sort_by_key(|g| g[0]);
    groups
}

/// Draws indices with probability proportional to weight, in time $O(\log n)$.
struct WeightedIndex {
    n: usize,
    /// Sums of the weights up to and including each index; empty if all are equal.
    cumulated: Vec<f64>,
}

impl WeightedIndex {
    fn new(n: usize, weights: Option<&[f64]>) -> Self {
        let mut sum = 0.0;
        let cumulate = |w: &f64| {
            sum += w;
            sum
        };
        let cumulated = weights.unwrap_or_default().iter().map(cumulate).collect();
        WeightedIndex { n, cumulated }
    }

    fn draw(&self, rng: &mut Rng) -> usize {
        match self.cumulated.last() {
            None => rng.below(self.n),
            Some(total) => {
                let at = rng.unit() * total;
                self.cumulated.partition_point(|&sum| sum <= at).min(self.n - 1)
            }
        }
    }
}

/// `k` rows by k-means++.
pub(super) fn plus_plus(
    data: &impl Rows,
    weights: Option<&[f64]>,
    k: usize,
    rng: &mut Rng,
    run: &Run,
) -> Result<Vec<usize>> {
    let n = data.nrows();
    if k > n {
        return Err(Error::TooFewRows { k, distinct: distinct_rows(data).len() });
    }
    let mut chosen = vec![WeightedIndex::new(n, weights).draw(rng)];
    // Weight times squared distance to the nearest chosen row.
    let mut mass = vec![f64::INFINITY; n];
    let mut last = vec![0.0; data.ncols()];
    while chosen.len() < k {
        data.write(chosen[chosen.len() - 1], &mut last);
        let update = |(chunk, mass): (usize, &mut [f64])| {
            run.check()?;
            let first = chunk * CHUNK;
            let mut distances = [0.0; CHUNK];
            let distances = &mut distances[..mass.len()];
            data.distances(first, &last, distances);
            let mut sum = 0.0;
            for (i, (mass, distance)) in mass.iter_mut().zip(distances).enumerate() {
                *mass = mass.min(weights.map_or(1.0, |w| w[first + i]) * *distance);
                sum += *mass;
            }
            Ok(sum)
        };
        let sums: Vec<f64> =
            mass.par_chunks_mut(CHUNK).enumerate().map(update).collect::<Result<_>>()?;
        if sums.iter().all(|&s| s == 0.0) {
            return Err(Error::TooFewRows { k, distinct: chosen.len() });
        }
        let chunk = rng.weighted(&sums);
        let within = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
        chosen.push(chunk * CHUNK + rng.weighted(&mass[within]));
    }
    Ok(chosen)
}

/// The rows `chosen` as centres.
pub(super) fn centres_at(data: &impl Rows, chosen: &[usize]) -> Matrix {
    let mut centres = Matrix::zeros(chosen.len(), data.ncols());
    for (c, &i) in chosen.iter().enumerate() {
        data.write(i, centres.row_mut(c));
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn table(values: &[f64]) -> Table<'_> {
        Table::new(values.len(), 1, values)
    }

    #[test]
    fn starts_differ_in_content_even_among_many_copies() {
        let mut values = vec![0.0; 10_000];
        values[17] = 1.0;
        values[9_000] = 2.0;
        let data = table(&values);
        let rng = || Rng::new(5, Stream::Data);
        for chosen in [
            random_rows(&data, None, 3, &mut rng()).unwrap(),
            plus_plus(&data, None, 3, &mut rng(), &Run::new(0)).unwrap(),
        ] {
            let mut content: Vec<f64> = chosen.iter().map(|&i| values[i]).collect();
            content.sort_by(f64::total_cmp);
            assert_eq!(content, [0.0, 1.0, 2.0]);
        }
        let refused = Err(Error::TooFewRows { k: 4, distinct: 3 });
        assert_eq!(random_rows(&data, None, 4, &mut rng()), refused);
        assert_eq!(plus_plus(&data, None, 4, &mut rng(), &Run::new(0)), refused);
    }

    #[test]
    fn rows_are_drawn_by_weight() {
        let values = [0.0, 1.0, 2.0, 3.0];
        let weights = [1.0, 2.0, 3.0, 4.0];
        let mut rng = Rng::new(1, Stream::Data);
        let mut first = [0u32; 4];
        for _ in 0..10_000 {
            let chosen = random_rows(&table(&values), Some(&weights), 2, &mut rng).unwrap();
            assert_ne!(chosen[0], chosen[1]);
            first[chosen[0]] += 1;
        }
        for (count, weight) in first.iter().zip(weights) {
            // Five standard deviations of a binomial count.
            assert!((f64::from(*count) - 1000.0 * weight).abs() < 250.0, "{first:?}");
        }
    }

    #[test]
    fn more_starts_than_rows_are_refused() {
        let mut rng = Rng::new(0, Stream::Data);
        let refused = random_rows(&table(&[1.0, 1.0]), None, 3, &mut rng).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "k = 3 clusters asked for, but the data have only 1 distinct row: choose k between 1 \
             and 1"
        );
    }
}
