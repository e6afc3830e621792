//! A sample of the profiles for what would need all pairs of them.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::ensemble::profiles::Profiles;
use crate::linalg::Matrix;

/// Profiles in a chunk of parallel work.
const CHUNK: usize = 4096;

/// So many distinct profiles of a sample there must be for every cluster.
const A_CLUSTER: usize = 10;

/// At most `size` of the profiles, standing for all: the profiles themselves if there are no more.
///
/// Otherwise a systematic sample by weight: `size` points, evenly spaced over the weights laid end
/// to end, each choose the profile they fall on. A profile that several points fall on counts as
/// often, so every object has the same chance, and clusters are represented by their size. The
/// rule is fixed: the same profiles give the same sample.
pub(crate) fn sample(profiles: &Profiles, size: usize) -> Cow<'_, Profiles> {
    selected_or_all(profiles, drawn(profiles, size))
}

/// What [`drawn_for`] draws, as an ensemble; else all profiles.
pub(crate) fn sample_for(k: usize, profiles: &Profiles, size: usize) -> Cow<'_, Profiles> {
    selected_or_all(profiles, drawn_for(k, profiles, size))
}

fn selected_or_all(profiles: &Profiles, drawn: Option<(Vec<u32>, Vec<f64>)>) -> Cow<'_, Profiles> {
    match drawn {
        Some((rows, weights)) => Cow::Owned(profiles.selected(&rows, weights)),
        None => Cow::Borrowed(profiles),
    }
}

/// The profiles that [`sample`] draws and their weights; `None` if it takes all as they are.
pub(crate) fn drawn(profiles: &Profiles, size: usize) -> Option<(Vec<u32>, Vec<f64>)> {
    drawn_by(profiles.weights(), size)
}

/// What [`drawn`] gives for `size`, or more if `k` clusters need it. `None` also if the sample tells
/// too little of them: where a few profiles have nearly all the weight, few are drawn.
pub(crate) fn drawn_for(
    k: usize,
    profiles: &Profiles,
    size: usize,
) -> Option<(Vec<u32>, Vec<f64>)> {
    drawn(profiles, points_for(k, size)).filter(|(rows, _)| rows.len() >= A_CLUSTER * k)
}

/// How many points are drawn for `k` clusters where `size` are wanted.
pub(crate) fn points_for(k: usize, size: usize) -> usize {
    size.max(2 * A_CLUSTER * k)
}

/// What [`sample`] draws of profiles of these weights.
pub(crate) fn drawn_by(all: &[f64], size: usize) -> Option<(Vec<u32>, Vec<f64>)> {
    if all.len() <= size {
        return None;
    }
    let step = all.iter().sum::<f64>() / size as f64;
    let (mut rows, mut weights) = (Vec::new(), Vec::new());
    let (mut end, mut taken) = (0.0, 0);
    for (s, w) in all.iter().enumerate() {
        end += w;
        let mut hits = 0;
        while taken < size && (taken as f64 + 0.5) * step < end {
            hits += 1;
            taken += 1;
        }
        if hits > 0 {
            rows.push(s as u32);
            weights.push(f64::from(hits) * step);
        }
    }
    Some((rows, weights))
}

/// Some of the profiles, as an ensemble of their own, and which they are.
pub(crate) struct Part {
    pub(crate) rows: Vec<u32>,
    pub(crate) profiles: Profiles,
}

/// The `size` heaviest profiles and the rest, each in order; of equal weights the first count as the
/// heavier.
pub(crate) fn heaviest(profiles: &Profiles, size: usize) -> [Part; 2] {
    let all = profiles.weights();
    let mut rows: Vec<u32> = (0..all.len() as u32).collect();
    let size = size.min(all.len());
    if size > 0 {
        let weight = |s: u32| all[s as usize];
        rows.select_nth_unstable_by(size - 1, |&s, &t| {
            weight(t).total_cmp(&weight(s)).then(s.cmp(&t))
        });
    }
    let mut light = rows.split_off(size);
    let mut heavy = rows;
    heavy.sort_unstable();
    light.sort_unstable();
    [heavy, light].map(|rows| {
        let weights = rows.iter().map(|&s| all[s as usize]).collect();
        Part { profiles: profiles.selected(&rows, weights), rows }
    })
}

/// One matrix of the rows that go with each part, in the order of the profiles.
pub(crate) fn joined(parts: &[Part; 2], rows_of: [&Matrix; 2]) -> Matrix {
    let k = rows_of[0].ncols();
    let u = parts.iter().map(|part| part.rows.len()).sum();
    let mut all = Matrix::zeros(u, k);
    let chunks = all.as_mut_slice().par_chunks_mut(CHUNK * k).enumerate();
    chunks.for_each(|(chunk, rows)| {
        let first = chunk * CHUNK;
        let end = first + rows.len() / k;
        for (part, rows_of) in parts.iter().zip(rows_of) {
            let [from, to] =
                [first, end].map(|at| part.rows.partition_point(|&s| (s as usize) < at));
            for i in from..to {
                let at = part.rows[i] as usize - first;
                rows[at * k..][..k].copy_from_slice(rows_of.row(i));
            }
        }
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::testing::{profiles, three_noisy_clusters};

    #[test]
    fn profiles_are_drawn_by_their_weight() {
        // One profile of 60 objects and 40 of one.
        let labels = (0..100).map(|i: i64| Some(if i < 60 { 0 } else { i }));
        let member = HardMember::from_integers("m", labels);
        let all = profiles(&Ensemble::new(vec![member.into()]).unwrap());
        assert_eq!(all.len(), 41);
        let some = sample(&all, 10);
        assert_eq!(some.weights(), [60.0, 10.0, 10.0, 10.0, 10.0]);
        assert!(matches!(sample(&all, 41), Cow::Borrowed(_)));
    }

    /// Nearly all the weight on one of 2001 profiles: a sample would be that one and few others.
    #[test]
    fn a_sample_that_tells_too_little_is_not_taken() {
        let labels = (0..2001).map(|i: i64| Some(i));
        let weights = (0..2001).map(|i| if i == 0 { 1e7 } else { 1.0 }).collect();
        let member = HardMember::from_integers("m", labels);
        let ensemble = Ensemble::new(vec![member.into()]).unwrap().with_weights(weights).unwrap();
        let all = profiles(&ensemble);
        assert!(drawn(&all, 1000).is_some_and(|(rows, _)| rows.len() < 10));
        assert!(drawn_for(50, &all, 1000).is_none());
        assert!(matches!(sample_for(50, &all, 1000), Cow::Borrowed(_)));
        let even = profiles(&three_noisy_clusters(3000, 1));
        assert!(drawn_for(50, &even, 1000).is_some());
    }

    #[test]
    fn the_heaviest_are_taken_and_the_rest_kept() {
        // Clusters of 1, 2, 3, 1, 2 objects.
        let labels = [0, 1, 1, 2, 2, 2, 3, 4, 4].map(Some);
        let all =
            profiles(&Ensemble::new(vec![HardMember::from_integers("m", labels).into()]).unwrap());
        for size in 0..7 {
            let [heavy, light] = heaviest(&all, size);
            assert_eq!((heavy.rows.len(), light.rows.len()), (size.min(5), 5 - size.min(5)));
            assert_eq!(heavy.profiles.total_weight() + light.profiles.total_weight(), 9.0);
            assert!(heavy.rows.is_sorted() && light.rows.is_sorted());
            let [heavy_rows, light_rows] = [&heavy.rows, &light.rows].map(|rows| {
                Matrix::from_fn(rows.len(), 2, |i, j| f64::from(rows[i]) + j as f64 / 2.0)
            });
            let all = joined(&[heavy, light], [&heavy_rows, &light_rows]);
            assert_eq!(all, Matrix::from_fn(5, 2, |s, j| s as f64 + j as f64 / 2.0));
        }
        let [heavy, light] = heaviest(&all, 2);
        assert_eq!((heavy.rows, light.rows), (vec![1, 2], vec![0, 3, 4]));
        assert_eq!(
            (heavy.profiles.weights(), light.profiles.weights()),
            (&[2.0, 3.0][..], &[1.0, 1.0, 2.0][..])
        );
    }
}
