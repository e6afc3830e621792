//! Rows far apart to start k-means on labels from.

use rayon::prelude::*;

use crate::error::Result;
use crate::linalg::Matrix;
use crate::math;
use crate::rng::Rng;

/// Rows of one unit of parallel work.
const CHUNK: usize = 4096;

/// `k` different rows, the first drawn by weight and every next one by weight times the squared distance
/// to the nearest before it; of $2 + \ln k$ that are drawn so, the one that leaves the least such mass
/// is taken (greedy k-means++: D. Arthur, S. Vassilvitskii. *k-means++: The Advantages of Careful
/// Seeding.* SODA 2007).
///
/// `distances` gives a column of squared distances to each of the rows that it is asked for. Labels
/// leave rows of one cluster nearly as far apart as those of two, so a single draw often misses a
/// cluster.
///
/// Cost: $k$ calls of `distances` for $2 + \ln k$ rows each.
pub(crate) fn far_apart(
    weights: &[f64],
    k: usize,
    rng: &mut Rng,
    distances: impl Fn(&[usize]) -> Result<Matrix>,
) -> Result<Vec<usize>> {
    let candidates = candidates(k);
    let mut seeds: Vec<usize> = Vec::with_capacity(k);
    let mut nearest = vec![f64::INFINITY; weights.len()];
    let mut mass = weights.to_vec();
    while seeds.len() < k {
        if mass.iter().all(|&mass| mass == 0.0) {
            // Where all are at no distance from seeds, any that is none will do.
            mass.copy_from_slice(weights);
            seeds.iter().for_each(|&s| mass[s] = 0.0);
        }
        let draws = if seeds.is_empty() { 1 } else { candidates };
        let mut tried: Vec<usize> = (0..draws).map(|_| rng.weighted(&mass)).collect();
        tried.sort_unstable();
        tried.dedup();
        let to_tried = distances(&tried)?;
        let best = least_mass(&to_tried, &nearest, weights);
        seeds.push(tried[best]);
        for (s, near) in nearest.iter_mut().enumerate() {
            *near = near.min(to_tried[(s, best)].max(0.0));
            mass[s] = weights[s] * *near;
        }
        seeds.iter().for_each(|&s| mass[s] = 0.0);
    }
    Ok(seeds)
}

/// How many rows are drawn for every seed but the first.
fn candidates(k: usize) -> usize {
    2 + math::ln(k.max(1) as f64) as usize
}

/// At most how many numbers [`far_apart`] holds for every row.
pub(crate) fn seeds_held(k: usize) -> usize {
    2 + candidates(k)
}

/// The column that would leave the least weight times distance; the first of equals.
fn least_mass(to_tried: &Matrix, nearest: &[f64], weights: &[f64]) -> usize {
    let columns = to_tried.ncols();
    let chunks = to_tried.as_slice().par_chunks(CHUNK * columns).enumerate();
    let partial: Vec<Vec<f64>> = chunks
        .map(|(chunk, rows)| {
            let mut sums = vec![0.0; columns];
            let rows = rows.chunks_exact(columns).zip(&nearest[chunk * CHUNK..]);
            for ((row, near), w) in rows.zip(&weights[chunk * CHUNK..]) {
                sums.iter_mut().zip(row).for_each(|(sum, far)| *sum += w * near.min(far.max(0.0)));
            }
            sums
        })
        .collect();
    let left = |column: usize| partial.iter().map(|sums| sums[column]).sum::<f64>();
    let masses: Vec<f64> = (0..columns).map(left).collect();
    (1..columns).fold(0, |best, column| if masses[column] < masses[best] { column } else { best })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Stream;

    fn drawn(points: &[f64], weights: &[f64], k: usize, seed: u64) -> Vec<usize> {
        let distances = |tried: &[usize]| {
            let far = |s: usize, j: usize| (points[s] - points[tried[j]]).powi(2);
            Ok(Matrix::from_fn(points.len(), tried.len(), far))
        };
        far_apart(weights, k, &mut crate::rng::Rng::new(seed, Stream::Data), distances).unwrap()
    }

    /// Four clusters on a line, one of them small: each has its seed.
    #[test]
    fn every_cluster_gets_a_seed() {
        let points: Vec<f64> =
            (0..400).map(|i| f64::from(10 * (i % 40).min(3)) + 0.001 * f64::from(i)).collect();
        for seed in 0..50 {
            let seeds = drawn(&points, &vec![1.0; 400], 4, seed);
            let mut places: Vec<i32> = seeds.iter().map(|&s| (points[s] / 10.0) as i32).collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3], "{seeds:?}");
        }
    }

    proptest! {
        /// Also where rows are equal.
        #[test]
        fn seeds_are_different_rows(
            points in prop::collection::vec(0u8..4, 1..12), k in 1usize..12, seed: u64,
        ) {
            let points: Vec<f64> = points.into_iter().map(f64::from).collect();
            let k = k.min(points.len());
            let weights: Vec<f64> = (0..points.len()).map(|s| 1.0 + s as f64).collect();
            let mut seeds = drawn(&points, &weights, k, seed);
            let mut distinct = points.clone();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup();
            // As many different points as there are come first.
            let mut first: Vec<f64> = seeds.iter().take(distinct.len()).map(|&s| points[s]).collect();
            first.sort_by(f64::total_cmp);
            first.dedup();
            prop_assert_eq!(first.len(), k.min(distinct.len()));
            seeds.sort_unstable();
            seeds.dedup();
            prop_assert_eq!(seeds.len(), k);
        }
    }
}
