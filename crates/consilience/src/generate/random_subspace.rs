//! Random subspaces (RS): every member sees other features, drawn without replacement.

use crate::error::{Error, Result};
use crate::generate::model::Features;
use crate::generate::scheme::{Scheme, SchemeInfo, Share, View};
use crate::rng::Rng;

/// What there is to know about the scheme.
pub(super) const INFO: SchemeInfo = SchemeInfo {
    name: "random-subspace",
    title: "every member sees other features, by default half of them",
    make: || Scheme::RandomSubspace { features: Share::Fraction(0.5) },
};

/// Draws the features of one member, kept in the table's order.
pub(super) fn draw(share: Share, d: usize, rng: &mut Rng) -> Result<View> {
    let count = share.of(d);
    if count > d {
        let expected = format!("at most the number of features, {d}");
        return Err(Error::parameter("subspace", expected, count));
    }
    let mut features = rng.distinct(d, count);
    features.sort_unstable();
    Ok(View { features: Features::Subset(features), ..View::whole() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn features_are_distinct_and_in_order() {
        let mut rng = Rng::new(0, Stream::Member(0));
        let Features::Subset(drawn) = draw(Share::Count(3), 5, &mut rng).unwrap().features else {
            panic!("a subset");
        };
        assert!(drawn.len() == 3 && drawn.windows(2).all(|w| w[0] < w[1]) && drawn[2] < 5);
        assert!(draw(Share::Count(6), 5, &mut rng).is_err());
    }
}
