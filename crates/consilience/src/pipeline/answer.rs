//! The answer: a consensus with all that is known of it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::consensus::Value as Diagnostic;
use crate::consensus::{Consensus, NO_CLUSTER, Settings};
use crate::ensemble::{Contingency, Ensemble, HardMember, Member, NO_PROFILE, Profiles};
use crate::error::Result;
use crate::judge::{Confidence, Judgement, Partition, Scatter, coverage};
use crate::metrics::{MetricInfo, metric};
use crate::pipeline::align::Aligned;
use crate::pipeline::choice::Choice;
use crate::pipeline::leaderboard::Leaderboard;
use crate::pipeline::record::{
    Classes, ConsensusRecord, CorrespondenceRecord, DataRecord, EnsembleRecord, Record,
    ScoresRecord,
};
use crate::run::Run;
use crate::words::named;

/// Correspondences with more numbers than this are left out of records.
const SMALL: usize = 10_000;

/// The measures that a clustering is compared with known classes by.
pub const SCORES: [&str; 7] = ["nmi", "ari", "accuracy", "error", "vi", "purity", "pc_idx"];

/// A consensus with what is known of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The method and the number of clusters, and why these.
    pub choice: Choice,
    /// The parameters that were set.
    pub settings: Settings,
    /// All methods, if several were run.
    pub board: Option<Leaderboard>,
    /// The members, if they were to be kept.
    pub ensemble: Option<Arc<Ensemble>>,
    /// The weights of the objects, where there is no ensemble that has them.
    pub(super) weights: Option<Vec<f64>>,
    /// What the method ran on.
    pub profiles: Profiles,
    /// The names of every member's clusters, by their codes in the profiles.
    pub clusters: Vec<Vec<String>>,
    /// What the method found.
    pub consensus: Consensus,
    /// How sure the label of every profile of the [`partition`](Self::partition) is.
    pub(super) confidence: Vec<f64>,
    /// The number of every cluster.
    pub numbers: Vec<u32>,
    /// What every cluster is called: its number, or the name that it had in an earlier result.
    pub names: Vec<String>,
    /// How many objects every cluster has.
    pub sizes: Vec<usize>,
    /// How it follows an earlier result.
    pub aligned: Option<Aligned>,
    /// The average normalised mutual information with the members.
    pub anmi: f64,
    /// How it compares with known classes.
    pub scores: Option<Scores>,
    /// Some of the objects in two dimensions.
    pub scatter: Option<Scatter>,
    /// What it is worth, if that was asked for.
    pub judgement: Option<Judgement>,
    /// What a record says of the members.
    pub members: EnsembleRecord,
    /// How many members came from an interrupted run.
    pub reused: usize,
    /// How long it took.
    pub seconds: Seconds,
}

/// Seconds spent on each step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seconds {
    /// Making members.
    pub generate: f64,
    /// Merging equal objects.
    pub compress: f64,
    /// The method.
    pub consensus: f64,
}

impl Answer {
    /// The answer with nothing but the consensus.
    pub(super) fn new(
        choice: Choice,
        settings: Settings,
        profiles: Profiles,
        consensus: Consensus,
        anmi: f64,
    ) -> Self {
        let mut sizes = vec![0; consensus.k];
        let labels = (0..profiles.n_objects()).filter_map(|i| consensus.object_label(&profiles, i));
        labels.for_each(|label| sizes[label as usize] += 1);
        let numbers: Vec<u32> = (0..consensus.k as u32).collect();
        Answer {
            choice,
            settings,
            board: None,
            ensemble: None,
            weights: None,
            profiles,
            clusters: Vec::new(),
            consensus,
            confidence: Vec::new(),
            names: numbers.iter().map(u32::to_string).collect(),
            numbers,
            sizes,
            aligned: None,
            anmi,
            scores: None,
            scatter: None,
            judgement: None,
            members: EnsembleRecord::default(),
            reused: 0,
            seconds: Seconds::default(),
        }
    }

    /// The same, and how sure every label is.
    pub(super) fn weighed(mut self, run: &Run) -> Result<Self> {
        let partition = self.partition();
        let (profiles, labels) = (&partition.profiles, &partition.labels);
        let confidence = Confidence::of_profiles(profiles, labels, self.consensus.k, run)?;
        self.confidence = confidence;
        Ok(self)
    }

    /// The weights of the objects.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref().or_else(|| self.ensemble.as_ref()?.weights())
    }

    /// The number of the cluster of object `i`, if it has one.
    pub fn label(&self, i: usize) -> Option<u32> {
        self.consensus.object_label(&self.profiles, i).map(|place| self.numbers[place as usize])
    }

    /// The number of the cluster of every object.
    pub fn labels(&self) -> Vec<Option<u32>> {
        (0..self.profiles.n_objects()).map(|i| self.label(i)).collect()
    }

    /// How many objects have no cluster.
    pub fn unassigned(&self) -> usize {
        self.profiles.n_objects() - self.sizes.iter().sum::<usize>()
    }

    /// How the consensus settled as members came in, where that was asked for.
    pub fn convergence(&self) -> Option<&[(String, Vec<f64>)]> {
        match self.consensus.diagnostics.get("convergence") {
            Some(Diagnostic::Table(columns)) => Some(columns),
            _ => None,
        }
    }

    /// The consensus as it is judged and shown.
    pub fn partition(&self) -> Partition<'_> {
        let consensus = &self.consensus;
        let (profiles, labels) = match &consensus.parted {
            Some(labels) => {
                let parted = self.profiles.parted(labels, self.weights());
                (Cow::Owned(parted.profiles), Cow::Owned(parted.labels))
            }
            None => (Cow::Borrowed(&self.profiles), Cow::Borrowed(consensus.labels.as_slice())),
        };
        let confidence = self.confidence.as_slice().into();
        let (numbers, names) = (self.numbers.as_slice().into(), self.names.as_slice().into());
        Partition { profiles, labels, confidence, numbers, names }
    }

    /// The share of the members that label every object; `None` if no label is missing.
    pub fn coverage(&self) -> Option<Vec<f64>> {
        let silent = self.profiles.has_missing() || self.profiles.map().contains(&NO_PROFILE);
        silent.then(|| {
            let of_profiles = coverage(&self.profiles);
            let of = |&s: &u32| of_profiles.get(s as usize).copied().unwrap_or(0.0);
            self.profiles.map().iter().map(of).collect()
        })
    }

    /// The mean confidence of the objects that have a cluster, and, where labels are missing, the mean
    /// coverage of all.
    fn mean_confidence(&self) -> (Option<f64>, Option<f64>) {
        let partition = self.partition();
        let weights = partition.profiles.weights();
        let assigned =
            || partition.labels.iter().zip(weights).map(|(&j, w)| f64::from(j != NO_CLUSTER) * w);
        let weight: f64 = assigned().sum();
        let sure: f64 = assigned().zip(partition.confidence.iter()).map(|(w, sure)| w * sure).sum();
        let mean =
            self.coverage().map(|coverage| coverage.iter().sum::<f64>() / coverage.len() as f64);
        (Some(sure / weight).filter(|x| x.is_finite()), mean)
    }

    /// The parameters of the method that were in force: the defaults, overlaid by what was set.
    pub fn params(&self) -> Map<String, Value> {
        let in_force = self.choice.info.in_force(&self.settings).into_iter();
        in_force.map(|(name, text)| (name.to_owned(), typed(&text))).collect()
    }

    /// What a record says of the consensus.
    pub fn consensus_record(&self) -> ConsensusRecord {
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        let convergence = &self.consensus.convergence;
        let diagnostics = serde_json::to_value(&self.consensus.diagnostics);
        let (confidence, coverage) = self.mean_confidence();
        ConsensusRecord {
            n: self.profiles.n_objects(),
            clusterings: self.profiles.n_members(),
            unique: self.profiles.len(),
            method: self.choice.info.name.to_owned(),
            params: self.params(),
            k: self.consensus.k,
            sizes: self.sizes.clone(),
            unassigned: self.unassigned(),
            anmi: finite(self.anmi),
            confidence,
            coverage,
            objective: convergence.objective.and_then(finite),
            trace: convergence.trace.iter().copied().map(finite).collect(),
            iterations: convergence.iterations,
            stop: Some(convergence.stop),
            diagnostics: match diagnostics {
                Ok(Value::Object(map)) => map,
                _ => Map::new(),
            },
            aligned: self.aligned.as_ref().map(|a| a.record(&self.numbers, &self.names)),
            reason: self.choice.reason.map(str::to_owned),
            number: self.choice.number.clone(),
            k_criteria: self.choice.criteria.clone(),
            leaderboard: self.board.as_ref().map(Leaderboard::record),
        }
    }

    /// The record of the answer, but for what the front door knows: command, files, identifiers.
    pub fn record(&self, run: &Run) -> Record {
        Record {
            data: DataRecord {
                n: self.profiles.n_objects(),
                weighted: self.weights().is_some(),
                ..DataRecord::default()
            },
            ensemble: self.members.clone(),
            consensus: self.consensus_record(),
            correspondences: self.correspondences(),
            scatter: self.scatter.clone(),
            verdict: self.judgement.as_ref().map(|judgement| judgement.verdict.clone()),
            ..Record::new(run.seed())
        }
    }

    /// What corresponds to what, where the method has it and it is small.
    fn correspondences(&self) -> Option<Vec<CorrespondenceRecord>> {
        let matrices = self.consensus.correspondences.as_ref()?;
        if self.profiles.n_clusters() * self.consensus.k > SMALL {
            return None;
        }
        let members = self.profiles.members().iter().zip(&self.clusters).zip(matrices);
        let record = members.map(|((member, clusters), shares)| CorrespondenceRecord {
            clustering: member.name.clone(),
            clusters: clusters.clone(),
            weights: shares.iter_rows().map(<[f64]>::to_vec).collect(),
        });
        Some(record.collect())
    }
}

/// A parameter's text as the JSON value it spells.
fn typed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// How a consensus compares with known classes.
#[derive(Clone, Debug)]
pub struct Scores {
    /// The classes.
    pub truth: Member,
    /// Objects by cluster (rows, by place) and class (columns).
    pub table: Vec<Vec<f64>>,
    /// One value for every measure of [`SCORES`].
    pub consensus: Vec<f64>,
    /// Their means over the members.
    pub members: Vec<f64>,
}

impl Scores {
    pub(super) fn new(answer: &Answer, truth: &Member) -> Result<Self> {
        let measures: Vec<&MetricInfo> =
            SCORES.iter().map(|name| metric(name)).collect::<Result<_>>()?;
        let weights = answer.weights();
        let labels = answer.labels().into_iter().map(|label| label.map(i64::from));
        let consensus = Member::from(HardMember::from_integers("consensus", labels));
        let of = |member: &Member| -> Result<(Contingency, Vec<f64>)> {
            let table = Contingency::new(member, truth, weights)?;
            let values = measures.iter().map(|measure| (measure.value)(&table)).collect();
            Ok((table, values))
        };
        let ensemble = answer.ensemble.iter().flat_map(|ensemble| ensemble.members());
        let mut members = vec![0.0; measures.len()];
        for member in ensemble {
            let (_, values) = of(member)?;
            members.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        members.iter_mut().for_each(|sum| *sum /= answer.profiles.n_members() as f64);
        let (found, values) = of(&consensus)?;
        let mut table = vec![vec![0.0; truth.clusters().len()]; answer.numbers.len()];
        for cell in found.cells() {
            // Clusters stand in the order of their first object; their names are their numbers.
            let number = consensus.clusters()[cell.row as usize].parse();
            let place = number.ok().and_then(|number| answer.numbers.binary_search(&number).ok());
            if let Some(row) = place.and_then(|place| table.get_mut(place)) {
                row[cell.column as usize] = cell.weight;
            }
        }
        Ok(Scores { truth: truth.clone(), table, consensus: values, members })
    }

    /// A measure of the consensus, and its mean over the members.
    pub fn value(&self, name: &str) -> Option<(f64, f64)> {
        let place = SCORES.iter().position(|score| *score == name)?;
        Some((self.consensus[place], self.members[place]))
    }

    /// What a record says of the measures.
    pub fn record(&self) -> ScoresRecord {
        let by_name = |values: &[f64]| -> Map<String, Value> {
            let pairs = SCORES.iter().zip(values);
            pairs.map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
        };
        ScoresRecord {
            truth: self.truth.name().to_owned(),
            classes: self.truth.clusters().len(),
            consensus: by_name(&self.consensus),
            members_mean: by_name(&self.members),
        }
    }

    /// What a record says of the classes.
    pub fn classes(&self) -> Classes {
        let finite = |x: f64| Some(x).filter(|x| x.is_finite());
        let pairs = SCORES.iter().zip(self.consensus.iter().zip(&self.members));
        Classes {
            name: named(self.truth.name()),
            classes: self.truth.clusters().iter().map(|class| named(class)).collect(),
            table: self.table.clone(),
            scores: pairs
                .map(|(name, (ours, mean))| ((*name).to_owned(), finite(*ours), finite(*mean)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_types() {
        assert_eq!(typed("0.5"), Value::from(0.5));
        assert_eq!(typed("20"), Value::from(20));
        assert_eq!(typed("true"), Value::from(true));
        assert_eq!(typed("n / k"), Value::from("n / k"));
        assert_eq!(typed("[1]"), Value::from("[1]"));
    }
}
