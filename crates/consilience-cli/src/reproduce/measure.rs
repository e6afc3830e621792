//! What is measured of a consensus in the papers' tables.

use consilience::ensemble::{Contingency, Ensemble, HardMember, Member, Profiles};
use consilience::metrics::{MetricInfo, member_diversity, metric};

use crate::errors::usage;

/// A measure of the papers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measure {
    /// Agreement with the classes.
    Agreement(&'static MetricInfo),
    /// 1 - pc_idx.
    PcError,
    /// The number of clusters.
    Clusters,
    /// The deviation of the number of clusters over the runs.
    ClustersDeviation,
    /// The mean diversity of the members as a share of the largest possible, $2 \ln k$ for members
    /// of $k$ clusters, and its deviation over them.
    Diversity,
    DiversityDeviation,
}

impl std::str::FromStr for Measure {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        Ok(match name {
            "k" => Measure::Clusters,
            "k_sd" => Measure::ClustersDeviation,
            "pc_error" => Measure::PcError,
            "diversity" => Measure::Diversity,
            "diversity_sd" => Measure::DiversityDeviation,
            _ => Measure::Agreement(metric(name).map_err(|error| usage(error.to_string()))?),
        })
    }
}

impl Measure {
    /// Whether larger is better, worse, or neither.
    pub(crate) fn better(self) -> Option<bool> {
        match self {
            Measure::Agreement(info) => Some(info.higher_is_better),
            Measure::PcError => Some(false),
            _ => None,
        }
    }

    /// The value for one clustering; `None` where it is a matter of the ensemble.
    pub(crate) fn of_clustering(
        self,
        clustering: &Member,
        truth: &Member,
    ) -> consilience::Result<Option<f64>> {
        let clusters = || clustering.hardened().clusters().len() as f64;
        Ok(match self {
            Measure::Agreement(info) => {
                Some((info.value)(&Contingency::new(clustering, truth, None)?))
            }
            Measure::PcError => {
                let table = Contingency::new(clustering, truth, None)?;
                Some(1.0 - consilience::metrics::pc_idx(&table).index)
            }
            // The deviation is taken over the runs, when all are known.
            Measure::Clusters | Measure::ClustersDeviation => Some(clusters()),
            Measure::Diversity | Measure::DiversityDeviation => None,
        })
    }

    /// The value for the members of an ensemble: the mean of theirs.
    pub(crate) fn of_members(
        self,
        ensemble: &Ensemble,
        profiles: &Profiles,
        truth: &Member,
    ) -> consilience::Result<Option<f64>> {
        match self {
            Measure::Diversity | Measure::DiversityDeviation => {
                let clusters = ensemble.members().iter().map(|member| member.clusters().len());
                let most = 2.0 * (clusters.max().unwrap_or(1).max(2) as f64).ln();
                let all: Vec<f64> = member_diversity(profiles).iter().map(|d| d / most).collect();
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                if matches!(self, Measure::Diversity) {
                    return Ok(Some(mean));
                }
                Ok(Some(deviation(&all)))
            }
            _ => {
                let mut sum = 0.0;
                for member in ensemble.members() {
                    // The measures of the papers are about labels: the largest membership counts.
                    let hard = Member::from(member.hardened());
                    sum += self.of_clustering(&hard, truth)?.unwrap_or(f64::NAN);
                }
                Ok(Some(sum / ensemble.members().len() as f64))
            }
        }
    }
}

/// A consensus as a clustering that can be measured.
pub(crate) fn clustering(labels: &[Option<u32>]) -> Member {
    HardMember::from_integers("consensus", labels.iter().map(|label| label.map(i64::from))).into()
}

/// The sample deviation; 0 of a single value.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}
