//! What makes the members differ.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::generate::base::Base;
use crate::generate::bootstrap::{self, Unseen};
use crate::generate::committee::{self, Committee};
use crate::generate::model::Features;
use crate::generate::{random_init, random_k, random_projection, random_subspace};
use crate::rng::Rng;

/// What makes the members differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Different random starts.
    RandomInit,
    /// Different numbers of clusters.
    RandomK,
    /// Different features, drawn without replacement.
    RandomSubspace {
        /// How many.
        features: Share,
    },
    /// Different objects, drawn with replacement.
    Bootstrap {
        /// How many.
        objects: Share,
        /// What becomes of the others.
        unseen: Unseen,
    },
    /// Different objects, drawn without replacement.
    Subsample {
        /// How many.
        objects: Share,
        /// What becomes of the others.
        unseen: Unseen,
    },
    /// Different random directions that the objects are projected on.
    RandomProjection {
        /// How many.
        dimensions: Share,
    },
    /// Different kinds of clusterers and numbers of clusters.
    Committee(Committee),
    /// A clusterer of its own for every member, given one by one.
    Given(Vec<Base>),
}

/// What there is to know about a scheme.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SchemeInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// What makes members differ, in one line.
    pub title: &'static str,
    /// The scheme with its defaults.
    #[serde(skip)]
    pub make: fn() -> Scheme,
}

/// All schemes that can be asked for by name.
pub static SCHEMES: &[SchemeInfo] = &[
    committee::INFO,
    random_init::INFO,
    random_k::INFO,
    random_subspace::INFO,
    bootstrap::BOOTSTRAP,
    bootstrap::SUBSAMPLE,
    random_projection::INFO,
];

/// The scheme of this name.
pub fn scheme(name: &str) -> Result<&'static SchemeInfo> {
    let found = SCHEMES.iter().find(|info| info.name == name);
    found.ok_or_else(|| Error::unknown_name("scheme", name, SCHEMES.iter().map(|i| i.name)))
}

/// A part of the features or objects: a number of them, or a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// This many.
    Count(usize),
    /// This fraction, in (0, 1], rounded down, but at least one.
    Fraction(f64),
}

impl Share {
    /// Fails if no table could have such a share.
    fn check(self, name: &str) -> Result<()> {
        match self {
            Share::Count(0) => Err(Error::parameter(name, "at least 1", 0)),
            Share::Fraction(f) if !(f > 0.0 && f <= 1.0) => {
                Err(Error::parameter(name, "a fraction above 0 and at most 1", f))
            }
            _ => Ok(()),
        }
    }

    /// How many of `total` that is.
    pub(super) fn of(self, total: usize) -> usize {
        match self {
            Share::Count(count) => count,
            Share::Fraction(f) => ((f * total as f64) as usize).max(1),
        }
    }
}

/// A whole number is a count, a number with a point a fraction.
impl std::str::FromStr for Share {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(count) = text.parse() {
            return Ok(Share::Count(count));
        }
        let fraction = text.parse().map(Share::Fraction);
        fraction.map_err(|_| {
            Error::parameter("share", "a count such as 8 or a fraction such as 0.5", text)
        })
    }
}

/// What of the data one member sees.
pub(super) struct View {
    /// The objects, in the order drawn; `None` for all.
    pub(super) rows: Option<Vec<usize>>,
    /// What is made of the features.
    pub(super) features: Features,
    /// What becomes of objects that were not drawn.
    pub(super) unseen: Unseen,
}

impl View {
    /// Everything.
    pub(super) fn whole() -> Self {
        View { rows: None, features: Features::All, unseen: Unseen::Predict }
    }
}

impl Scheme {
    /// The name in [`SCHEMES`]; `"given"` for given clusterers.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::RandomInit => random_init::INFO.name,
            Scheme::RandomK => random_k::INFO.name,
            Scheme::RandomSubspace { .. } => random_subspace::INFO.name,
            Scheme::Bootstrap { .. } => bootstrap::BOOTSTRAP.name,
            Scheme::Subsample { .. } => bootstrap::SUBSAMPLE.name,
            Scheme::RandomProjection { .. } => random_projection::INFO.name,
            Scheme::Committee(_) => committee::INFO.name,
            Scheme::Given(_) => "given",
        }
    }

    /// The same scheme with another share of features, objects or dimensions.
    ///
    /// # Errors
    ///
    /// If the scheme uses all of them.
    pub fn share(self, share: Share) -> Result<Self> {
        match self {
            Scheme::RandomSubspace { .. } => Ok(Scheme::RandomSubspace { features: share }),
            Scheme::RandomProjection { .. } => Ok(Scheme::RandomProjection { dimensions: share }),
            Scheme::Bootstrap { unseen, .. } => Ok(Scheme::Bootstrap { objects: share, unseen }),
            Scheme::Subsample { unseen, .. } => Ok(Scheme::Subsample { objects: share, unseen }),
            Scheme::RandomInit | Scheme::RandomK | Scheme::Committee(_) | Scheme::Given(_) => {
                Err(Error::parameter(
                    "share",
                    format!("left out: scheme `{}` uses all features and objects", self.name()),
                    format!("{share:?}"),
                ))
            }
        }
    }

    /// The same scheme with another fate of objects that were not drawn.
    ///
    /// # Errors
    ///
    /// If the scheme draws no objects.
    pub fn unseen(self, unseen: Unseen) -> Result<Self> {
        match self {
            Scheme::Bootstrap { objects, .. } => Ok(Scheme::Bootstrap { objects, unseen }),
            Scheme::Subsample { objects, .. } => Ok(Scheme::Subsample { objects, unseen }),
            _ => Err(Error::parameter(
                "unseen",
                format!("left out: scheme `{}` uses all objects", self.name()),
                format!("{unseen:?}"),
            )),
        }
    }

    /// Fails if a parameter is out of range, whatever the data.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Scheme::RandomInit | Scheme::RandomK => Ok(()),
            Scheme::Committee(committee) => committee.check(),
            Scheme::RandomSubspace { features } => features.check("subspace"),
            Scheme::RandomProjection { dimensions } => dimensions.check("dimensions"),
            Scheme::Bootstrap { objects, .. } | Scheme::Subsample { objects, .. } => {
                objects.check("objects")
            }
            Scheme::Given(bases) => bases.iter().try_for_each(Base::check),
        }
    }

    /// Whether every member sees the whole table of `n` rows.
    pub(super) fn sees_everything(&self, n: usize) -> bool {
        match self {
            Scheme::RandomInit | Scheme::RandomK | Scheme::Given(_) => true,
            Scheme::Committee(committee) => committee.learned_from(n) == n,
            _ => false,
        }
    }

    /// Draws what one member sees of `n` objects with `d` features.
    pub(super) fn draw(&self, n: usize, d: usize, rng: &mut Rng) -> Result<View> {
        match self {
            Scheme::RandomInit | Scheme::RandomK | Scheme::Given(_) => Ok(View::whole()),
            Scheme::Committee(_) => unreachable!("what is shared draws for it"),
            Scheme::RandomSubspace { features } => random_subspace::draw(*features, d, rng),
            Scheme::Bootstrap { objects, unseen } => {
                Ok(bootstrap::with_replacement(*objects, *unseen, n, rng))
            }
            Scheme::Subsample { objects, unseen } => {
                bootstrap::without_replacement(*objects, *unseen, n, rng)
            }
            Scheme::RandomProjection { dimensions } => {
                Ok(random_projection::draw(*dimensions, d, rng))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_found_by_name_and_valid() {
        for info in SCHEMES {
            assert_eq!(scheme(info.name).unwrap().name, info.name);
            let scheme = (info.make)();
            assert_eq!((scheme.name(), scheme.check()), (info.name, Ok(())));
        }
        assert!(scheme("random").unwrap_err().to_string().contains("random-init, random-k"));
    }

    #[test]
    fn shares_are_counts_or_fractions() {
        assert_eq!("8".parse(), Ok(Share::Count(8)));
        assert_eq!("0.5".parse(), Ok(Share::Fraction(0.5)));
        assert!("half".parse::<Share>().is_err());
        assert_eq!(Share::Fraction(0.5).of(617), 308);
        assert_eq!(Share::Fraction(0.1).of(4), 1);
        for bad in
            [Share::Count(0), Share::Fraction(0.0), Share::Fraction(1.5), Share::Fraction(f64::NAN)]
        {
            assert!(Scheme::RandomSubspace { features: bad }.check().is_err());
        }
    }

    #[test]
    fn a_share_is_refused_where_everything_is_used() {
        assert!(Scheme::RandomInit.share(Share::Count(3)).is_err());
        assert!(Scheme::RandomInit.unseen(Unseen::Missing).is_err());
        let subspace = (scheme("random-subspace").unwrap().make)();
        let wanted = Scheme::RandomSubspace { features: Share::Count(3) };
        assert_eq!(subspace.share(Share::Count(3)), Ok(wanted));
    }
}
