//! A sample of the profiles for what would need all pairs of them.

use std::borrow::Cow;

use crate::ensemble::profiles::Profiles;

/// With more profiles than this, the starts of iterative methods are settled on a sample of so many.
pub(crate) const SAMPLE: usize = 5000;

/// So many distinct profiles of a sample there must be for every cluster.
const A_CLUSTER: usize = 10;

/// At most `size` of the profiles, standing for all: the profiles themselves if there are no more.
///
/// Otherwise a systematic sample by weight: `size` points, evenly spaced over the weights laid end
/// to end, each choose the profile they fall on. A profile that several points fall on counts as
/// often, so every object has the same chance, and clusters are represented by their size. The
/// rule is fixed: the same profiles give the same sample.
pub(crate) fn sample(profiles: &Profiles, size: usize) -> Cow<'_, Profiles> {
    match drawn(profiles, size) {
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
    let size = size.max(2 * A_CLUSTER * k);
    drawn(profiles, size).filter(|(rows, _)| rows.len() >= A_CLUSTER * k)
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
        let even = profiles(&three_noisy_clusters(3000, 1));
        assert!(drawn_for(50, &even, 1000).is_some());
    }
}
