//! The committee: members of several kinds, each with several numbers of clusters.
//!
//! A consensus can be no better than what its members know, and members of one kind share its blind spots:
//! k-means sees no rings, a tree no overlapping Gaussians. So several kinds of clusterers vote, more than
//! half of them able to see any shape, each at the number of clusters wanted, around it and at twice as
//! many. Which kinds, how many of each and which numbers was measured (`docs/accuracy.md`).
//!
//! A member that cuts through more neighbourhoods than most others of as many clusters is
//! [left out](crate::generate::cuts).

use serde::Serialize;

use crate::base::{HierarchyParams, KMeansParams, Linkage, NeighbourCutParams};
use crate::error::{Error, Result};
use crate::generate::base::{Base, BaseInfo, base};
use crate::generate::random_k::BaseK;
use crate::generate::scheme::{Scheme, SchemeInfo};
use crate::math;
use crate::setters::setters;

/// What there is to know about the scheme.
pub(super) const INFO: SchemeInfo = SchemeInfo {
    name: "committee",
    title: "clusterers of several kinds, each with several numbers of clusters",
    make: || Scheme::Committee(Committee::default()),
};

/// The kinds of a committee, unless others are named.
const KINDS: [&str; 4] = ["genie", "spectral", "gmm", "kmeans"];

/// The most clusters of a member where the number wanted is not known.
const MOST: usize = 30;

/// How many numbers of clusters each clusterer has in turn: with the number wanted known, and without.
const NUMBERS: (usize, usize) = (4, 6);

/// Who sits in a committee, and how much they read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Committee {
    kinds: Vec<&'static str>,
    rows: usize,
}

impl Default for Committee {
    fn default() -> Self {
        Committee { kinds: KINDS.to_vec(), rows: 10_000 }
    }
}

impl Committee {
    /// A committee of these kinds of [base clusterers](crate::generate::BASES), by name.
    ///
    /// # Errors
    ///
    /// If there are none, or one is unknown or named twice.
    pub fn of<'a>(kinds: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut found: Vec<&'static str> = Vec::new();
        for name in kinds {
            let BaseInfo { name, .. } = base(name)?;
            if found.contains(name) {
                return Err(Error::parameter("kinds", "different ones", format!("`{name}` twice")));
            }
            found.push(name);
        }
        if found.is_empty() {
            return Err(Error::parameter("kinds", "at least one base clusterer", "none"));
        }
        Ok(Committee { kinds: found, ..Committee::default() })
    }

    setters! {
        /// How many rows a member learns from at most; 10,000 unless set. The others get the cluster of the
        /// nearest of these, or the one that the model of the member gives them.
        rows: usize,
    }

    /// How many of `n` rows a member learns from.
    pub(super) fn learned_from(&self, n: usize) -> usize {
        n.min(self.rows)
    }

    /// Fails if it could read nothing.
    pub(super) fn check(&self) -> Result<()> {
        match self.rows {
            0 => Err(Error::parameter("rows", "at least 1", 0)),
            _ => Ok(()),
        }
    }

    /// The kinds, by name.
    pub fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }

    /// How many members it has unless told otherwise: every clusterer with every number of clusters once.
    pub fn size(&self, k: BaseK) -> usize {
        self.voices().len() * numbers(k)
    }

    /// The clusterers, those of a kind one after the other.
    fn voices(&self) -> Vec<Base> {
        self.kinds.iter().flat_map(|kind| voices(kind)).collect()
    }

    /// The clusterer of member `i` of `n` objects, and the number of clusters that it is told. Of a
    /// `sparse` table only those sit that can read it, if there are any.
    pub(super) fn seat(&self, i: usize, k: BaseK, n: usize, sparse: bool) -> (Base, usize) {
        let mut voices = self.voices();
        if sparse && voices.iter().any(Base::takes_sparse) {
            voices.retain(Base::takes_sparse);
        }
        let ks = spread(k, n);
        let (round, voice) = (i / voices.len(), i % voices.len());
        // Where no number is more telling than the others, also the first few members have different ones.
        let first = if matches!(k, BaseK::Auto { consensus: Some(_) }) { 0 } else { voice };
        let k = ks[(first + round) % ks.len()];
        (voices.swap_remove(voice).k(k), k)
    }

    /// The smallest and the largest number of clusters of a member of `n` objects.
    pub(super) fn range(k: BaseK, n: usize) -> (usize, usize) {
        let ks = spread(k, n);
        let ends = (ks.iter().min(), ks.iter().max());
        (*ends.0.expect("some numbers"), *ends.1.expect("some numbers"))
    }
}

/// The clusterers of a kind; their numbers of clusters are set later.
fn voices(kind: &str) -> Vec<Base> {
    let genie = |threshold| Base::Hierarchy(HierarchyParams::new(Linkage::Genie { threshold }, 1));
    match kind {
        // From balanced clusters to whatever the gaps say.
        "genie" => [0.3, 0.5, 0.7].map(genie).into(),
        "spectral" => {
            [10, 20].map(|m| Base::Spectral(NeighbourCutParams::new(1).neighbours(m))).into()
        }
        // They differ in their starts.
        "gmm" => vec![(base("gmm").expect("listed").make)(1); 2],
        "kmeans" => vec![Base::KMeans(KMeansParams::new(1))],
        other => vec![(base(other).expect("checked").make)(1)],
    }
}

/// How many numbers of clusters there are.
fn numbers(k: BaseK) -> usize {
    match k {
        BaseK::Auto { consensus: Some(_) } => NUMBERS.0,
        BaseK::Auto { consensus: None } | BaseK::Between(..) => NUMBERS.1,
        BaseK::Exactly(_) => 1,
    }
}

/// The numbers of clusters of members of `n` objects, the most telling first.
fn spread(k: BaseK, n: usize) -> Vec<usize> {
    let most = n.isqrt().clamp(2, MOST);
    let ks = match k {
        BaseK::Auto { consensus: Some(k) } => {
            // Members of one cluster say nothing.
            let k = k.max(2);
            vec![k, 2 * k, k + 1, (k - 1).max(2)]
        }
        BaseK::Auto { consensus: None } => geometric(2, most, NUMBERS.1),
        BaseK::Between(low, high) => geometric(low, high, NUMBERS.1),
        BaseK::Exactly(k) => vec![k],
    };
    ks.into_iter().map(|k| k.min(n)).collect()
}

/// `count` whole numbers from `low` to `high` that grow by about the same factor.
fn geometric(low: usize, high: usize, count: usize) -> Vec<usize> {
    let factor = math::pow(high as f64 / low as f64, 1.0 / (count - 1) as f64);
    let mut last = low - 1;
    let step = |i: usize| {
        last = ((low as f64 * factor.powi(i as i32)).round() as usize).max(last + 1).min(high);
        last
    };
    (0..count).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_name() {
        assert_eq!(Committee::of(KINDS), Ok(Committee::default()));
        assert_eq!(Committee::of(["gmm"]).unwrap().kinds(), ["gmm"]);
        for bad in [vec![], vec!["dbscan"], vec!["gmm", "kmeans", "gmm"]] {
            assert!(Committee::of(bad.iter().copied()).is_err(), "{bad:?}");
        }
        for kind in KINDS {
            assert!(!voices(kind).is_empty());
            assert!(voices(kind).iter().all(|voice| voice.name() == kind));
        }
    }

    #[test]
    fn at_least_half_of_the_members_see_any_shape() {
        let names: Vec<_> = Committee::default().voices().iter().map(Base::name).collect();
        let seeing = names.iter().filter(|name| ["genie", "spectral"].contains(name)).count();
        assert!(2 * seeing >= names.len(), "{names:?}");
    }

    #[test]
    fn numbers_are_at_the_one_wanted_and_around_it() {
        let known = |k, n| spread(BaseK::Auto { consensus: Some(k) }, n);
        assert_eq!(known(5, 1000), [5, 10, 6, 4]);
        assert_eq!(known(2, 1000), [2, 4, 3, 2]);
        assert_eq!(known(1, 1000), [2, 4, 3, 2]);
        assert_eq!(known(5, 6), [5, 6, 6, 4]);
        assert_eq!(known(2, 1), [1; 4]);
    }

    #[test]
    fn numbers_are_spread_where_none_is_wanted() {
        let unknown = |n| spread(BaseK::Auto { consensus: None }, n);
        assert_eq!(unknown(1_000_000), [2, 3, 6, 10, 17, 30]);
        assert_eq!(unknown(150), [2, 3, 4, 6, 8, 12]);
        assert_eq!(unknown(10), [2, 3, 3, 3, 3, 3]);
        assert_eq!(spread(BaseK::Between(20, 22), 100), [20, 21, 22, 22, 22, 22]);
        assert_eq!(Committee::range(BaseK::Between(20, 60), 1000), (20, 60));
    }

    #[test]
    fn every_clusterer_has_every_number_once() {
        let committee = Committee::default();
        let k = BaseK::Auto { consensus: Some(5) };
        let seats: Vec<Base> =
            (0..committee.size(k)).map(|i| committee.seat(i, k, 1000, false).0).collect();
        let voices = committee.voices();
        assert_eq!(seats.len(), 4 * voices.len());
        for voice in &voices {
            for k in [4, 5, 6, 10] {
                let wanted = voice.clone().k(k);
                let alike = voices.iter().filter(|other| *other == voice).count();
                assert_eq!(seats.iter().filter(|seat| **seat == wanted).count(), alike);
            }
        }
        // Those that come beyond begin again.
        assert_eq!(committee.seat(seats.len(), k, 1000, false).0, seats[0]);
    }

    #[test]
    fn a_few_members_have_different_numbers_where_none_is_wanted() {
        let committee = Committee::default();
        let number = |i, k| committee.seat(i, k, 1000, false).1;
        let unknown = BaseK::Auto { consensus: None };
        assert_eq!([0, 1, 2, 3].map(|i| number(i, unknown)), [2, 3, 6, 10]);
        // All of them get all numbers in the end.
        let voices = committee.voices().len();
        let mut of_one: Vec<usize> =
            (0..6).map(|round| number(1 + round * voices, unknown)).collect();
        of_one.sort_unstable();
        assert_eq!(of_one, [2, 3, 6, 10, 17, 30]);
        let known = BaseK::Auto { consensus: Some(5) };
        assert!((0..voices).all(|i| number(i, known) == 5));
    }

    #[test]
    fn sparse_tables_are_for_those_that_read_them() {
        let k = BaseK::Auto { consensus: Some(5) };
        let committee = Committee::default();
        assert!((0..8).all(|i| committee.seat(i, k, 100, true).0.name() == "kmeans"));
        assert_eq!(Committee::of(["gmm"]).unwrap().seat(0, k, 100, true).0.name(), "gmm");
    }
}
