//! An experiment is data: which sets, ensembles and methods, what the paper printed.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// One table or figure of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// The name on the command line: number of the paper, table or figure.
    pub(crate) id: String,
    /// Whose figures these are.
    pub(crate) paper: String,
    /// Which table or figure, and what of.
    pub(crate) title: String,
    /// What a reader should know before comparing.
    pub(crate) notes: Vec<String>,
    /// The experiment that this one is another reading of: shown, but no evidence for statements.
    #[serde(default)]
    pub(crate) variant_of: Option<String>,
    /// How many runs the paper averages over.
    pub(crate) runs: usize,
    /// What is measured of every consensus.
    pub(crate) measures: Vec<String>,
    /// The methods.
    pub(crate) columns: Vec<Column>,
    /// How members are made, where a row does not say otherwise.
    pub(crate) ensemble: Members,
    /// The cells, row by row.
    pub(crate) rows: Vec<Row>,
}

/// A method under the name that the paper gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// A consensus method, or [`MEMBERS`].
    pub(crate) method: String,
    /// Parameters of the method.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, String>,
    /// Further parameters under [`Protocol::AsPrinted`].
    #[serde(default)]
    pub(crate) as_printed: BTreeMap<String, String>,
    /// Whether the method sees labels where the members are soft, though it could use those.
    #[serde(default)]
    pub(crate) hard: bool,
}

/// In place of a method: the mean over the members of the ensemble.
pub(crate) const MEMBERS: &str = "members";

/// How the members of an ensemble are made.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Members {
    pub(crate) scheme: String,
    pub(crate) base: String,
    /// Clusters of a member, as `--base-k` takes them.
    #[serde(default)]
    pub(crate) base_k: Option<String>,
    /// Features of a member, as `--subspace` takes them.
    #[serde(default)]
    pub(crate) subspace: Option<String>,
    #[serde(default)]
    pub(crate) soft: bool,
}

/// One row of a table: a data set and an ensemble on it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// The data set: the name of its file without ending.
    pub(crate) set: String,
    /// How many members.
    pub(crate) size: usize,
    /// The number of clusters asked for; without it the methods choose.
    pub(crate) k: Option<usize>,
    /// Clusters of a member, instead of the experiment's.
    #[serde(default)]
    pub(crate) base_k: Option<String>,
    /// By measure: what the paper printed, one figure a column. Not part of what is computed.
    #[serde(skip_serializing)]
    pub(crate) published: BTreeMap<String, Vec<Option<f64>>>,
}

/// How to read what the papers leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Protocol {
    /// As the paper did it, as far as can be told: rivals from one start where it gave them one
    AsPrinted,
    /// Every method with its defaults, restarts included
    Fair,
}

impl Protocol {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Protocol::AsPrinted => "as-printed",
            Protocol::Fair => "fair",
        }
    }
}

impl Column {
    /// The parameters of the method under `protocol`.
    pub(crate) fn settings(&self, protocol: Protocol) -> BTreeMap<String, String> {
        let mut settings = self.set.clone();
        if protocol == Protocol::AsPrinted {
            settings.extend(self.as_printed.clone());
        }
        settings
    }
}

impl Experiment {
    /// The protocols under which the experiment differs.
    pub(crate) fn protocols(&self) -> &'static [Protocol] {
        if self.columns.iter().any(|column| !column.as_printed.is_empty()) {
            &[Protocol::AsPrinted, Protocol::Fair]
        } else {
            &[Protocol::Fair]
        }
    }

    /// What the paper printed in a cell.
    pub(crate) fn published(&self, row: usize, column: usize, measure: &str) -> Option<f64> {
        self.rows[row].published.get(measure).and_then(|figures| figures[column])
    }

    /// A row in words.
    pub(crate) fn row_name(&self, row: usize) -> String {
        let Row { set, size, k, base_k, .. } = &self.rows[row];
        let k = k.map_or(String::new(), |k| format!(", k = {k}"));
        let members = match base_k {
            Some(base_k) if self.rows[row].k.is_none() => format!(" of {base_k} clusters"),
            _ => String::new(),
        };
        format!("{set}, r = {size}{members}{k}")
    }
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../experiments/", $name, ".json")))),*]
    };
}

/// The experiments inside the program, by name.
static EMBEDDED: &[(&str, &str)] = embedded![
    "000-t02", "000-t03", "000-t04", "000-t05", "000-t06", "000-t07", "000-t08", "000-t09",
    "000-t10", "000-t03b", "001-t1", "001-f1", "001-f2", "001-f3", "001-f4", "001-t2", "001-t3",
    "002-t1", "002-t1b", "002-f2", "003-f", "004-t2", "004-t2b", "004-f1",
];

/// All experiments.
pub(crate) fn experiments() -> anyhow::Result<Vec<Experiment>> {
    let read = |(name, text): &(&str, &str)| {
        serde_json::from_str(text).with_context(|| format!("experiment {name}"))
    };
    EMBEDDED.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use consilience::generate::{BaseK, Share, base, scheme};

    use super::*;
    use crate::reproduce::measure::Measure;

    #[test]
    fn every_experiment_is_complete() {
        for experiment in experiments().unwrap() {
            let id = &experiment.id;
            let (_, text) = EMBEDDED.iter().find(|(name, _)| name == id).unwrap();
            assert!(text.contains(&experiment.title));
            assert!(!experiment.rows.is_empty() && experiment.runs > 0, "{id}");
            if let Some(other) = &experiment.variant_of {
                assert!(EMBEDDED.iter().any(|(name, _)| name == other), "{id}");
            }
            scheme(&experiment.ensemble.scheme).unwrap();
            base(&experiment.ensemble.base).unwrap();
            if let Some(share) = &experiment.ensemble.subspace {
                share.parse::<Share>().unwrap();
            }
            for measure in &experiment.measures {
                measure.parse::<Measure>().unwrap();
            }
            for row in &experiment.rows {
                let base_k = row.base_k.as_ref().or(experiment.ensemble.base_k.as_ref());
                base_k.unwrap_or_else(|| panic!("{id}")).parse::<BaseK>().unwrap();
                for (measure, figures) in &row.published {
                    assert!(experiment.measures.contains(measure), "{id} {measure}");
                    assert_eq!(figures.len(), experiment.columns.len(), "{id}");
                }
            }
        }
    }

    /// The papers' own averages tell whether the figures were copied right.
    #[test]
    fn columns_average_to_what_is_printed() {
        let averages = [
            ("000-t05", "nmi", 0, 0.6795),
            ("000-t03", "nmi", 0, 0.7464),
            ("000-t07", "nmi", 4, 0.6680),
            ("000-t09", "nmi", 1, 0.6862),
            ("000-t10", "nmi", 5, 0.6979),
            ("002-t1", "pc_error", 0, 0.3784),
            ("002-t1", "pc_error", 3, 0.3372),
            ("002-t1", "k_sd", 3, 0.821),
        ];
        let all = experiments().unwrap();
        for (id, measure, column, printed) in averages {
            let experiment = all.iter().find(|e| e.id == id).unwrap();
            let rows = experiment.rows.len();
            let sum: f64 =
                (0..rows).map(|row| experiment.published(row, column, measure).unwrap()).sum();
            assert!((sum / rows as f64 - printed).abs() < 6e-4, "{id}: {}", sum / rows as f64);
        }
    }
}
