//! What a method tells of an ensemble, in a form that does not depend on how it was written down.

use std::collections::BTreeMap;

use consilience::Run;
use consilience::consensus::{
    ChoosesK, Consensus, ConsensusMethod, MethodInfo, Settings, Value, combine, prepare,
};
use consilience::ensemble::{Ensemble, Profiles};

use crate::support::Draft;

/// How far two numbers that should be equal may be apart: sums taken in another order, no more.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// Why an invariant does not hold.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The answer breaks it. Only this can be exempt.
    Broken(String),
    /// There is no answer.
    Error(String),
}

impl From<String> for Failure {
    fn from(problem: String) -> Self {
        Failure::Broken(problem)
    }
}

impl From<&str> for Failure {
    fn from(problem: &str) -> Self {
        Failure::Broken(problem.to_owned())
    }
}

impl From<consilience::Error> for Failure {
    fn from(error: consilience::Error) -> Self {
        Failure::Error(error.to_string())
    }
}

/// One answer with what it is about.
pub(crate) struct Fit {
    pub(crate) ensemble: Ensemble,
    pub(crate) profiles: Profiles,
    pub(crate) consensus: Consensus,
}

/// The method with default settings.
pub(crate) fn build(info: &MethodInfo, k: Option<usize>) -> Box<dyn ConsensusMethod> {
    info.with(k, &Settings::default()).expect("k is in range and all settings are defaults")
}

/// What to tell a method so that it makes about `k` clusters: k, nothing, or each in turn.
pub(crate) fn ks(info: &MethodInfo, k: usize) -> Vec<Option<usize>> {
    match info.chooses_k {
        ChoosesK::Never => vec![Some(k)],
        ChoosesK::UnlessGiven => vec![Some(k), None],
        ChoosesK::Always => vec![None],
    }
}

/// The consensus of a draft.
pub(crate) fn try_fit(
    draft: &Draft,
    info: &MethodInfo,
    k: Option<usize>,
    run: &Run,
) -> consilience::Result<Fit> {
    let ensemble = draft.try_ensemble()?;
    let profiles = prepare(&ensemble, info, run)?;
    let consensus = combine(&profiles, build(info, k).as_ref(), None, run)?;
    Ok(Fit { ensemble, profiles, consensus })
}

/// The consensus of a draft that every method must answer.
pub(crate) fn fit(draft: &Draft, info: &MethodInfo, k: Option<usize>) -> Result<Fit, Failure> {
    try_fit(draft, info, k, &run()).map_err(|error| Failure::Error(format!("k {k:?}: {error}")))
}

/// [`fit`] with these settings.
pub(crate) fn fit_with(
    draft: &Draft,
    info: &MethodInfo,
    k: Option<usize>,
    settings: &Settings,
) -> Result<Fit, Failure> {
    let ensemble = draft.ensemble();
    let profiles = prepare(&ensemble, info, &run())?;
    let consensus = combine(&profiles, info.with(k, settings)?.as_ref(), None, &run())?;
    Ok(Fit { ensemble, profiles, consensus })
}

/// A seeded run on two threads.
pub(crate) fn run() -> Run {
    Run::new(7).threads(2)
}

impl Fit {
    /// The cluster of every object.
    pub(crate) fn labels(&self) -> Vec<Option<u32>> {
        self.consensus.object_labels(&self.profiles)
    }

    /// The partition of the objects, clusters numbered by first appearance.
    pub(crate) fn groups(&self) -> Vec<Option<usize>> {
        by_appearance(&self.labels())
    }

    /// All that was told, with what stands in place `i` reported of object `order[i]`.
    pub(crate) fn told_of(&self, order: &[u32]) -> Told {
        let back = |values: Vec<Option<f64>>| {
            let mut restored = vec![None; values.len()];
            values.into_iter().zip(order).for_each(|(v, &i)| restored[i as usize] = v);
            restored
        };
        let mut labels = vec![None; order.len()];
        self.labels().into_iter().zip(order).for_each(|(l, &i)| labels[i as usize] = l);
        if self.consensus.parted.is_some() {
            let mut own = vec![0; order.len()];
            self.profiles.map().iter().zip(order).for_each(|(&s, &i)| own[i as usize] = s);
            labels = whichever_of_equals(&labels, &own);
        }
        let groups = by_appearance(&labels);
        let mut group_of = vec![0; self.consensus.k];
        for (label, group) in labels.iter().zip(&groups) {
            if let (Some(label), Some(group)) = (label, group) {
                group_of[*label as usize] = *group;
            }
        }
        let by_group = |row: &[f64]| {
            let mut moved = vec![0.0; row.len()];
            row.iter().zip(&group_of).for_each(|(&p, &g)| moved[g] = p);
            moved
        };
        let names = self.ensemble.members();
        let membership = self.consensus.membership.as_ref().map(|matrix| {
            let rows: Vec<_> = matrix.iter_rows().map(by_group).collect();
            let rows = self.profiles.expand(&rows);
            let mut restored = vec![None; rows.len()];
            rows.into_iter().zip(order).for_each(|(row, &i)| restored[i as usize] = row);
            restored
        });
        let mut correspondences = BTreeMap::new();
        for (member, matrix) in names.iter().zip(self.consensus.correspondences.iter().flatten()) {
            for (cluster, row) in member.clusters().iter().zip(matrix.iter_rows()) {
                let key = (member.name().to_owned(), cluster.clone());
                correspondences.insert(key, by_group(row));
            }
        }
        let mut of_members = BTreeMap::new();
        for (diagnostic, value) in self.consensus.diagnostics.iter() {
            if let Value::Members(values) = value {
                for (member, &value) in names.iter().zip(values) {
                    of_members.insert((diagnostic, member.name().to_owned()), value);
                }
            }
        }
        Told {
            groups,
            strength: back(self.consensus.object_strength(&self.profiles)),
            membership,
            correspondences,
            of_members,
            objective: self.consensus.convergence.objective,
        }
    }

    /// All that was told, objects in the order they have.
    pub(crate) fn told(&self) -> Told {
        self.told_of(&(0..self.profiles.n_objects() as u32).collect::<Vec<_>>())
    }
}

/// All that was told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) groups: Vec<Option<usize>>,
    pub(crate) strength: Vec<Option<f64>>,
    pub(crate) membership: Option<Vec<Option<Vec<f64>>>>,
    /// By names of member and cluster.
    pub(crate) correspondences: BTreeMap<(String, String), Vec<f64>>,
    /// By diagnostic and name of member.
    pub(crate) of_members: BTreeMap<(&'static str, String), f64>,
    pub(crate) objective: Option<f64>,
}

impl Told {
    /// The same without what is scaled by the weights of the objects.
    #[must_use]
    pub(crate) fn unscaled(mut self) -> Self {
        self.objective = None;
        self.of_members.clear();
        self
    }

    /// The same without what is told by the names of clusters.
    #[must_use]
    pub(crate) fn nameless(mut self) -> Self {
        self.correspondences.clear();
        self
    }

    /// Whether another telling says the same.
    pub(crate) fn same_as(&self, other: &Told) -> Result<(), String> {
        if self.groups != other.groups {
            return Err(format!("partitions differ: {:?} and {:?}", self.groups, other.groups));
        }
        let flat = |rows: &Option<Vec<Option<Vec<f64>>>>| -> Vec<Option<f64>> {
            rows.iter().flatten().flatten().flatten().map(|&p| Some(p)).collect()
        };
        close("strength", &self.strength, &other.strength)?;
        close("membership", &flat(&self.membership), &flat(&other.membership))?;
        close("objective", &[self.objective], &[other.objective])?;
        if !self.correspondences.keys().eq(other.correspondences.keys()) {
            return Err("correspondences are of other clusters".to_owned());
        }
        let flat = |rows: &BTreeMap<_, Vec<f64>>| -> Vec<Option<f64>> {
            rows.values().flatten().map(|&p| Some(p)).collect()
        };
        close("correspondence", &flat(&self.correspondences), &flat(&other.correspondences))?;
        if !self.of_members.keys().eq(other.of_members.keys()) {
            return Err("diagnostics are of other members".to_owned());
        }
        let flat = |rows: &BTreeMap<_, f64>| -> Vec<Option<f64>> {
            rows.values().map(|&p| Some(p)).collect()
        };
        close("diagnostic of a member", &flat(&self.of_members), &flat(&other.of_members))
    }
}

fn close(what: &str, a: &[Option<f64>], b: &[Option<f64>]) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{what}: {} numbers and {}", a.len(), b.len()));
    }
    for (i, pair) in a.iter().zip(b).enumerate() {
        let same = match pair {
            (None, None) => true,
            (Some(x), Some(y)) => (x - y).abs() <= TOLERANCE * (1.0 + x.abs().max(y.abs())),
            _ => false,
        };
        if !same {
            return Err(format!("{what} {i}: {:?} and {:?}", pair.0, pair.1));
        }
    }
    Ok(())
}

/// The same numbers of objects of each profile in each cluster, handed out in an order that does not
/// depend on who of equal objects had which: balanced cuts may part them, and then draw.
pub(crate) fn whichever_of_equals(labels: &[Option<u32>], profiles: &[u32]) -> Vec<Option<u32>> {
    let own = by_appearance(&profiles.iter().copied().map(Some).collect::<Vec<_>>());
    let own: Vec<usize> = own.into_iter().flatten().collect();
    let n_profiles = own.iter().max().map_or(0, |&p| p + 1);
    let mut counts: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for (label, &p) in labels.iter().zip(&own) {
        counts.entry(*label).or_insert_with(|| vec![0; n_profiles])[p] += 1;
    }
    let mut clusters: Vec<(Vec<usize>, Option<u32>)> =
        counts.into_iter().map(|(label, counts)| (counts, label)).collect();
    clusters.sort();
    let give = |&p: &usize| {
        let (counts, label) =
            clusters.iter_mut().find(|(counts, _)| counts[p] > 0).expect("as many as objects");
        counts[p] -= 1;
        *label
    };
    own.iter().map(give).collect()
}

/// Numbers groups by first appearance.
pub(crate) fn by_appearance<T: PartialEq + Copy>(labels: &[Option<T>]) -> Vec<Option<usize>> {
    let mut seen: Vec<T> = Vec::new();
    let number = |label: T| {
        seen.iter().position(|&s| s == label).unwrap_or_else(|| {
            seen.push(label);
            seen.len() - 1
        })
    };
    let mut number = number;
    labels.iter().map(|label| label.map(&mut number)).collect()
}
