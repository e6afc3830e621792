//! Random numbers of clusters (RN), and the number of clusters of a member in general.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::generate::committee::Committee;
use crate::generate::scheme::{Scheme, SchemeInfo};
use crate::rng::Rng;

/// What there is to know about the scheme.
pub(super) const INFO: SchemeInfo = SchemeInfo {
    name: "random-k",
    title: "every member has another number of clusters, uniform in a range",
    make: || Scheme::RandomK,
};

/// How many clusters a member has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseK {
    /// This many.
    Exactly(usize),
    /// A number drawn uniformly from this range, both ends included.
    Between(usize, usize),
    /// What suits the scheme: with $k$ clusters wanted of the consensus, $k$, or for random-k a
    /// number in $2..2k$, for a committee $k$, $2k$, $k + 1$ and $k - 1$; with $k$ not known, $\sqrt n$ in
    /// place of $k$, or a number in $2..\sqrt n$, for a committee some numbers from 2 to 30.
    Auto {
        /// The number of clusters wanted of the consensus, if known.
        consensus: Option<usize>,
    },
}

impl BaseK {
    /// Fails if no member could have so many clusters.
    pub(super) fn check(self, scheme: &Scheme) -> Result<()> {
        match self {
            BaseK::Exactly(0) | BaseK::Auto { consensus: Some(0) } => {
                Err(Error::parameter("base-k", "at least 1", 0))
            }
            BaseK::Exactly(k) if *scheme == Scheme::RandomK => {
                Err(Error::parameter("base-k", "a range such as 2..10 for scheme `random-k`", k))
            }
            BaseK::Between(low, high) if low == 0 || low > high => Err(Error::parameter(
                "base-k",
                "a range from at least 1 upwards",
                format!("{low}..{high}"),
            )),
            _ => Ok(()),
        }
    }

    /// The range that the number of clusters of `n` objects is drawn from, both ends included.
    pub fn range(self, scheme: &Scheme, n: usize) -> (usize, usize) {
        if matches!(scheme, Scheme::Committee(_)) {
            return Committee::range(self, n);
        }
        let root = n.isqrt().max(2);
        let (low, high) = match (self, scheme) {
            (BaseK::Exactly(k), _) => return (k, k),
            (BaseK::Between(low, high), _) => return (low, high),
            (BaseK::Auto { consensus: Some(k) }, Scheme::RandomK) => (2, (2 * k).max(2)),
            (BaseK::Auto { consensus: None }, Scheme::RandomK) => (2, root),
            (BaseK::Auto { consensus }, _) => {
                (consensus.unwrap_or(root), consensus.unwrap_or(root))
            }
        };
        (low.min(n), high.min(n))
    }

    /// Draws the number of clusters of one member. A range of one number draws nothing.
    pub(super) fn draw(self, scheme: &Scheme, n: usize, rng: &mut Rng) -> usize {
        let (low, high) = self.range(scheme, n);
        if low == high { low } else { rng.between(low, high) }
    }
}

/// `"5"` or `"2..10"`.
impl std::str::FromStr for BaseK {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = match text.split_once("..") {
            None => text.parse().map(BaseK::Exactly),
            Some((low, high)) => low.parse().and_then(|low| {
                high.trim_start_matches('=').parse().map(|high| BaseK::Between(low, high))
            }),
        };
        parsed.map_err(|_| {
            Error::parameter("base-k", "a number such as 5 or a range such as 2..10", text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn numbers_and_ranges_are_read() {
        assert_eq!("5".parse(), Ok(BaseK::Exactly(5)));
        assert_eq!("2..10".parse(), Ok(BaseK::Between(2, 10)));
        assert_eq!("2..=10".parse(), Ok(BaseK::Between(2, 10)));
        for bad in ["", "x", "2..", "..3", "-1", "2.5"] {
            assert!(bad.parse::<BaseK>().is_err(), "{bad}");
        }
    }

    #[test]
    fn defaults_follow_the_scheme() {
        let known = BaseK::Auto { consensus: Some(3) };
        let unknown = BaseK::Auto { consensus: None };
        assert_eq!(known.range(&Scheme::RandomInit, 150), (3, 3));
        assert_eq!(known.range(&Scheme::RandomK, 150), (2, 6));
        assert_eq!(unknown.range(&Scheme::RandomInit, 150), (12, 12));
        assert_eq!(unknown.range(&Scheme::RandomK, 150), (2, 12));
        assert_eq!(unknown.range(&Scheme::RandomK, 1), (1, 1));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for bad in [
            BaseK::Exactly(0),
            BaseK::Between(0, 3),
            BaseK::Between(4, 3),
            BaseK::Auto { consensus: Some(0) },
        ] {
            assert!(bad.check(&Scheme::RandomInit).is_err(), "{bad:?}");
        }
        assert!(BaseK::Exactly(3).check(&Scheme::RandomK).is_err());
    }

    #[test]
    fn every_number_of_the_range_is_drawn() {
        let mut rng = Rng::new(0, Stream::Member(0));
        let range = BaseK::Between(2, 5);
        let drawn: std::collections::BTreeSet<_> =
            (0..100).map(|_| range.draw(&Scheme::RandomK, 150, &mut rng)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
    }
}
