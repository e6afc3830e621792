//! Resampled objects: every member is fitted to other objects, drawn with replacement (bootstrap)
//! or without (subsample).

use serde::Serialize;

use crate::error::{Error, Result};
use crate::generate::scheme::{Scheme, SchemeInfo, Share, View};
use crate::rng::Rng;

/// What becomes of objects that a member did not draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unseen {
    /// They are labelled by the fitted model.
    Predict,
    /// They have no label in this member.
    Missing,
}

/// What there is to know about the bootstrap.
pub(super) const BOOTSTRAP: SchemeInfo = SchemeInfo {
    name: "bootstrap",
    title: "every member is fitted to as many objects as there are, drawn with replacement",
    make: || Scheme::Bootstrap { objects: Share::Fraction(1.0), unseen: Unseen::Predict },
};

/// What there is to know about subsampling.
pub(super) const SUBSAMPLE: SchemeInfo = SchemeInfo {
    name: "subsample",
    title: "every member is fitted to other objects, by default 80 % of them",
    make: || Scheme::Subsample { objects: Share::Fraction(0.8), unseen: Unseen::Predict },
};

/// Draws objects with replacement; listed in order, since a base clusterer is free to depend on it.
pub(super) fn with_replacement(share: Share, unseen: Unseen, n: usize, rng: &mut Rng) -> View {
    let mut rows: Vec<usize> = (0..share.of(n)).map(|_| rng.below(n)).collect();
    rows.sort_unstable();
    View { rows: Some(rows), unseen, ..View::whole() }
}

/// Draws objects without replacement.
pub(super) fn without_replacement(
    share: Share,
    unseen: Unseen,
    n: usize,
    rng: &mut Rng,
) -> Result<View> {
    let count = share.of(n);
    if count > n {
        let expected = format!("at most the number of objects, {n}");
        return Err(Error::parameter("objects", expected, count));
    }
    let mut rows = rng.distinct(n, count);
    rows.sort_unstable();
    Ok(View { rows: Some(rows), unseen, ..View::whole() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_bootstrap_repeats_and_a_subsample_does_not() {
        let mut rng = Rng::new(0, Stream::Member(0));
        let all = Share::Fraction(1.0);
        let drawn = with_replacement(all, Unseen::Predict, 1000, &mut rng).rows.unwrap();
        let mut distinct = drawn.clone();
        distinct.dedup();
        // 632 expected, standard deviation about 10.
        assert!(drawn.len() == 1000 && (580..690).contains(&distinct.len()));
        let drawn = without_replacement(all, Unseen::Predict, 1000, &mut rng).unwrap().rows;
        assert_eq!(drawn, Some((0..1000).collect()));
        assert!(without_replacement(Share::Count(4), Unseen::Predict, 3, &mut rng).is_err());
    }
}
