//! The base clusterers that an ensemble can be made with.

use serde::Serialize;

use crate::base::{
    DensityParams, Float, FuzzyKMeansParams, GmmParams, HierarchyParams, KMeans, KMeansFit,
    KMeansParams, Linkage, MacQueenParams, MiniBatchParams, NeighbourCutParams, Packed, Start,
    Table, USpecParams,
};
use crate::error::{Error, Result};
use crate::generate::data::Data;
use crate::generate::model::{Fitted, NO_CLUSTER, needs_dense};
use crate::rng::Rng;
use crate::run::Run;

/// A base clusterer with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// Lloyd's k-means.
    KMeans(KMeansParams),
    /// Fuzzy k-means.
    FuzzyKMeans(FuzzyKMeansParams),
    /// MacQueen's one-pass k-means.
    MacQueen(MacQueenParams),
    /// Mini-batch k-means.
    MiniBatch(MiniBatchParams),
    /// Spectral clustering by way of representatives.
    USpec(USpecParams),
    /// A mixture of Gaussians.
    Gmm(GmmParams),
    /// Spectral clustering of the graph of nearest neighbours.
    Spectral(NeighbourCutParams),
    /// Hierarchical clustering: Genie, single, average and complete link, Ward.
    Hierarchy(HierarchyParams),
    /// Density clustering.
    Density(DensityParams),
}

/// What there is to know about a base clusterer.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BaseInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// The clusterer with k clusters and default parameters.
    #[serde(skip)]
    pub make: fn(usize) -> Base,
}

/// All base clusterers, by name.
pub static BASES: &[BaseInfo] = &[
    BaseInfo {
        name: "kmeans",
        title: "Lloyd's k-means from random rows, until no label changes",
        make: |k| Base::KMeans(KMeansParams::new(k).start(Start::Random).tol(0.0)),
    },
    BaseInfo {
        name: "fuzzy-kmeans",
        title: "fuzzy k-means (m = 2, 100 iterations)",
        make: |k| Base::FuzzyKMeans(FuzzyKMeansParams::new(k)),
    },
    BaseInfo {
        name: "macqueen",
        title: "MacQueen's k-means: one pass in random order, quick and diverse",
        make: |k| Base::MacQueen(MacQueenParams::new(k)),
    },
    BaseInfo {
        name: "minibatch-kmeans",
        title: "k-means that learns from 200 samples of 4096 rows: for very many rows",
        make: |k| Base::MiniBatch(MiniBatchParams::new(k)),
    },
    BaseInfo {
        name: "u-spec",
        title: "spectral clustering by way of representatives: clusters of any shape",
        // k-means that does not settle makes members differ, and is what the authors do.
        make: |k| Base::USpec(USpecParams::new(k).restarts(1).max_iter(5)),
    },
    BaseInfo {
        name: "gmm",
        title: "mixture of Gaussians: clusters of different sizes, stretched in any direction",
        make: |k| Base::Gmm(GmmParams::new(k)),
    },
    BaseInfo {
        name: "spectral",
        title: "spectral clustering of the graph of nearest neighbours: clusters of any shape, exact",
        make: |k| Base::Spectral(NeighbourCutParams::new(k)),
    },
    BaseInfo {
        name: "genie",
        title: "Genie: single link that lets no cluster stay tiny, for clusters of any shape",
        make: |k| Base::Hierarchy(HierarchyParams::new(Linkage::Genie { threshold: 0.3 }, k)),
    },
    BaseInfo {
        name: "single",
        title: "single link: merges the clusters of the two nearest rows",
        make: |k| Base::Hierarchy(HierarchyParams::new(Linkage::Single, k)),
    },
    BaseInfo {
        name: "average",
        title: "average link: merges the clusters whose rows are nearest on average",
        make: |k| Base::Hierarchy(HierarchyParams::new(Linkage::Average, k)),
    },
    BaseInfo {
        name: "complete",
        title: "complete link: merges the clusters whose farthest rows are nearest",
        make: |k| Base::Hierarchy(HierarchyParams::new(Linkage::Complete, k)),
    },
    BaseInfo {
        name: "ward",
        title: "Ward's method: merges the clusters that stay most compact",
        make: |k| Base::Hierarchy(HierarchyParams::new(Linkage::Ward, k)),
    },
    BaseInfo {
        name: "density",
        title: "density clustering (HDBSCAN*): finds the number of clusters; noise gets no label",
        make: |k| Base::Density(DensityParams::new(k)),
    },
];

/// The base clusterer of this name.
pub fn base(name: &str) -> Result<&'static BaseInfo> {
    let found = BASES.iter().find(|info| info.name == name);
    found.ok_or_else(|| Error::unknown_name("base clusterer", name, BASES.iter().map(|i| i.name)))
}

impl Base {
    /// The same clusterer with `k` clusters.
    #[must_use]
    pub fn k(self, k: usize) -> Base {
        match self {
            Base::KMeans(p) => Base::KMeans(p.k(k)),
            Base::FuzzyKMeans(p) => Base::FuzzyKMeans(p.k(k)),
            Base::MacQueen(p) => Base::MacQueen(p.k(k)),
            Base::MiniBatch(p) => Base::MiniBatch(p.k(k)),
            Base::USpec(p) => Base::USpec(p.k(k)),
            Base::Gmm(p) => Base::Gmm(p.k(k)),
            Base::Spectral(p) => Base::Spectral(p.k(k)),
            Base::Hierarchy(p) => Base::Hierarchy(p.k(k)),
            Base::Density(p) => Base::Density(p.k(k)),
        }
    }

    /// The same clusterer with `count` representatives, to `neighbours` of which an object is joined;
    /// `None` leaves a number as it is.
    ///
    /// # Errors
    ///
    /// If the clusterer has none and a number is given.
    pub fn representatives(self, count: Option<usize>, neighbours: Option<usize>) -> Result<Base> {
        match (self, count.or(neighbours)) {
            (base, None) => Ok(base),
            (Base::USpec(mut p), _) => {
                if let Some(count) = count {
                    p = p.representatives(count);
                }
                if let Some(neighbours) = neighbours {
                    p = p.neighbours(neighbours);
                }
                Ok(Base::USpec(p))
            }
            (_, Some(given)) => {
                let name = if count.is_some() { "representatives" } else { "neighbours" };
                let expected = "left out: only base clusterer `u-spec` has representatives";
                Err(Error::parameter(name, expected, given))
            }
        }
    }

    /// Fails if a parameter is out of range, whatever the data.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Base::KMeans(p) => p.clone().check().map(drop),
            Base::FuzzyKMeans(p) => p.clone().check().map(drop),
            Base::MacQueen(p) => p.clone().check().map(drop),
            Base::MiniBatch(p) => p.clone().check().map(drop),
            Base::USpec(p) => p.clone().check().map(drop),
            Base::Gmm(p) => p.clone().check().map(drop),
            Base::Spectral(p) => p.clone().check().map(drop),
            Base::Hierarchy(p) => p.clone().check().map(drop),
            Base::Density(p) => p.clone().check().map(drop),
        }
    }

    /// Whether it works on a [packed](Packed) table.
    pub(super) fn uses_packed(&self) -> bool {
        matches!(self, Base::KMeans(_))
    }

    /// Whether it works on sparse tables.
    pub(super) fn takes_sparse(&self) -> bool {
        matches!(self, Base::KMeans(_) | Base::MiniBatch(_))
    }

    /// Whether it labels rows that it did not learn from by the nearest one that it did.
    pub(super) fn labels_by_rows(&self) -> bool {
        matches!(self, Base::Hierarchy(_) | Base::Density(_) | Base::Spectral(_))
    }

    /// Whether all it needs of the rows is their spanning tree.
    pub(super) fn merges_along_tree(&self) -> bool {
        match self {
            Base::Hierarchy(p) => matches!(p.linkage_of(), Linkage::Genie { .. } | Linkage::Single),
            _ => false,
        }
    }

    /// Whether one set of start centres is given, which all members would share.
    pub(super) fn has_given_start(&self) -> bool {
        let start = match self {
            Base::KMeans(p) => p.start_of(),
            Base::MiniBatch(p) => p.start_of(),
            _ => return false,
        };
        matches!(start, Start::Given(_))
    }

    /// How many bytes one member of `n` rows and `d` columns takes while it is made, where that is so
    /// much that it limits how many are made at once.
    pub(super) fn cost(&self, n: usize, d: usize) -> u64 {
        match self {
            Base::USpec(p) => p.cost(n, d),
            Base::Gmm(p) => p.cost(n, d),
            Base::Spectral(p) => p.cost(n, d),
            Base::Hierarchy(p) => p.cost(n, d),
            Base::Density(p) => p.cost(n, d),
            Base::KMeans(_) | Base::FuzzyKMeans(_) | Base::MacQueen(_) | Base::MiniBatch(_) => 0,
        }
    }

    /// The name in [`BASES`].
    pub(super) fn name(&self) -> &'static str {
        match self {
            Base::KMeans(_) => "kmeans",
            Base::FuzzyKMeans(_) => "fuzzy-kmeans",
            Base::MacQueen(_) => "macqueen",
            Base::MiniBatch(_) => "minibatch-kmeans",
            Base::USpec(_) => "u-spec",
            Base::Gmm(_) => "gmm",
            Base::Spectral(_) => "spectral",
            Base::Hierarchy(p) => match p.linkage_of() {
                Linkage::Genie { .. } => "genie",
                Linkage::Single => "single",
                Linkage::Average => "average",
                Linkage::Complete => "complete",
                Linkage::Ward => "ward",
            },
            Base::Density(_) => "density",
        }
    }

    /// The clusterer, if it is k-means from one start: several such can go side by side.
    pub(super) fn single_kmeans(&self) -> Option<KMeans> {
        match self {
            Base::KMeans(p) => p.clone().check().ok().filter(|kmeans| kmeans.n_init() == 1),
            _ => None,
        }
    }

    /// Clusters what the member sees; `packed` is the same table, where it was packed before.
    pub(super) fn fit(
        &self,
        seen: Data<'_>,
        packed: Option<&Packed<'_>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<BaseFit> {
        match (self, seen) {
            (Base::KMeans(p), _) => {
                let kmeans = p.clone().check()?;
                let fit = match packed {
                    Some(packed) => kmeans.fit_packed(packed, run, rng),
                    None => kmeans.fit_packed(&seen.packed(run)?, run, rng),
                };
                fit.map(BaseFit::from)
            }
            (_, Data::Dense(data)) => self.fit_table(data.into(), run, rng),
            (_, Data::Single(data)) => self.fit_table(data, run, rng),
            (Base::MiniBatch(p), Data::Sparse(data)) => {
                let fit = p.clone().check()?.fit_sparse(data, run, rng)?;
                Ok(BaseFit { fitted: Fitted::centres(fit.centres), labels: fit.labels })
            }
            (_, Data::Sparse(_)) => Err(needs_dense(self.name())),
        }
    }

    /// Clusters a table by what does not work on packed ones.
    fn fit_table<T: Float>(&self, data: Table<'_, T>, run: &Run, rng: &mut Rng) -> Result<BaseFit> {
        let (fitted, labels) = match self {
            Base::KMeans(_) => unreachable!("it works on packed tables"),
            Base::FuzzyKMeans(p) => {
                let fit = p.clone().check()?.fit(data, run, rng)?;
                (Fitted::Centres { centres: fit.centres, fuzzifier: p.m_of() }, fit.labels)
            }
            Base::MacQueen(p) => {
                let fit = p.clone().check()?.fit(data, run, rng)?;
                (Fitted::centres(fit.centres), fit.labels)
            }
            Base::MiniBatch(p) => {
                let fit = p.clone().check()?.fit(data, run, rng)?;
                (Fitted::centres(fit.centres), fit.labels)
            }
            Base::USpec(p) => {
                let fit = p.clone().check()?.fit(data, run, rng)?;
                let (embedding, centres) = (fit.embedding, fit.centres);
                (Fitted::Embedded { embedding, centres, fuzzifier: 2.0 }, fit.labels)
            }
            Base::Gmm(p) => {
                let fit = p.clone().check()?.fit(data, run, rng)?;
                (Fitted::Mixture(fit.model), fit.labels)
            }
            Base::Spectral(p) => {
                let labels = p.clone().check()?.fit(data, run, rng)?.labels;
                (Fitted::nearest(data, &labels, run)?, labels)
            }
            Base::Hierarchy(p) => {
                let labels = p.clone().check()?.fit(data, run)?;
                (Fitted::nearest(data, &labels, run)?, labels)
            }
            Base::Density(p) => {
                let labels = p.clone().check()?.fit(data, run)?;
                // Nothing but noise is a table without clusters, which is to say of one: a member must
                // label something.
                let none = if labels.iter().any(Option::is_some) { NO_CLUSTER } else { 0 };
                let labels: Vec<u32> = labels.into_iter().map(|l| l.unwrap_or(none)).collect();
                (Fitted::nearest(data, &labels, run)?, labels)
            }
        };
        Ok(BaseFit { fitted, labels })
    }
}

/// What members need of a base clusterer's answer.
pub(super) struct BaseFit {
    /// What labels further rows.
    pub(super) fitted: Fitted,
    /// The cluster of every row, or [`NO_CLUSTER`].
    pub(super) labels: Vec<u32>,
}

impl From<KMeansFit> for BaseFit {
    fn from(fit: KMeansFit) -> Self {
        BaseFit { fitted: Fitted::centres(fit.centres), labels: fit.labels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn representatives_are_for_those_that_have_them() {
        let kmeans = || (BASES[0].make)(3);
        assert_eq!(kmeans().representatives(None, None), Ok(kmeans()));
        let refusal = kmeans().representatives(None, Some(3)).unwrap_err().to_string();
        assert!(refusal.contains("`neighbours`") && refusal.contains("u-spec"), "{refusal}");
        let uspec = Base::USpec(USpecParams::new(3)).representatives(Some(9), Some(2));
        let expected = USpecParams::new(3).representatives(9).neighbours(2);
        assert_eq!(uspec, Ok(Base::USpec(expected)));
    }

    #[test]
    fn clusterers_are_found_by_name() {
        for info in BASES {
            assert_eq!(base(info.name).unwrap().name, info.name);
            assert_eq!((info.make)(3).check(), Ok(()));
            assert!((info.make)(3).k(0).check().is_err());
        }
        assert_eq!(
            base("dbscan").unwrap_err().to_string(),
            "there is no base clusterer `dbscan`; there are kmeans, fuzzy-kmeans, macqueen, \
             minibatch-kmeans, u-spec, gmm, spectral, genie, single, average, complete, ward, \
             density"
        );
    }
}
