//! The consensus step that `combine`, `run` and `demo` share: checked before data are read,
//! computed, and told as text and JSON.

use std::time::Instant;

use consilience::consensus::{
    ChoosesK, Consensus, ConsensusMethod, METHODS, MethodInfo, Offers, Settings, Start, Stop,
    Value as Diagnostic, auto, combine_from, method, prepare,
};
use consilience::ensemble::{Ensemble, Majority, Member, Profiles};
use consilience::explain::voting_convergence;
use consilience::metrics::anmi;
use serde_json::{Map, Value, json};

use super::Session;
use super::align::Aligned;
use crate::args::ConsensusArgs;
use crate::errors::{data, usage};
use crate::output::{count, counted, listed};

/// A checked method, ready to run.
pub(super) struct Plan {
    pub(super) info: &'static MethodInfo,
    pub(super) settings: Settings,
    method: Box<dyn ConsensusMethod>,
    /// Why `auto` took this method.
    reason: Option<&'static str>,
}

impl Plan {
    /// Checks everything about the method that can be checked without data.
    pub(super) fn new(args: &ConsensusArgs) -> anyhow::Result<Self> {
        let k = args.k.0;
        if k == Some(0) {
            return Err(data(
                "--k asks for less than one cluster: give a number from 1 on, or auto",
            ));
        }
        let (info, reason) = if args.method() == "auto" {
            let choice = auto(k);
            (choice.info, Some(choice.reason))
        } else {
            (method(args.method())?, None)
        };
        for (i, setting) in args.settings.iter().enumerate() {
            if args.settings[..i].iter().any(|earlier| earlier.key == setting.key) {
                return Err(usage(format!("--set {} is given twice: keep one", setting.key)));
            }
        }
        if info.chooses_k == ChoosesK::Never && k.is_none() {
            return Err(usage(format!(
                "method `{}` does not choose the number of clusters: give --k K, or take a method \
                 that chooses it: {}",
                info.name,
                names_or_none(|m| m.chooses_k != ChoosesK::Never)
            )));
        }
        if info.chooses_k == ChoosesK::Always && k.is_some() {
            return Err(usage(format!(
                "method `{}` finds the number of clusters by itself: leave --k out, or take a \
                 method that accepts it: {}",
                info.name,
                names_or_none(|m| m.chooses_k != ChoosesK::Always)
            )));
        }
        if args.init.is_some() && !info.takes_start {
            return Err(usage(format!(
                "method `{}` does not start from a clustering: leave --init out, or take a method \
                 that does: {}",
                info.name,
                names_or_none(|m| m.takes_start)
            )));
        }
        let settings = args.settings.iter().map(|s| (s.key.as_str(), s.value.as_str())).collect();
        let method = info.with(k, &settings)?;
        Ok(Plan { info, settings, method, reason })
    }

    /// Whether the number of clusters was asked for.
    pub(super) fn k_given(&self) -> bool {
        self.method.k().is_some()
    }

    /// Which optional parts the answer will have.
    pub(super) fn offers(&self) -> consilience::Result<Offers> {
        self.info.offers(&self.settings)
    }

    /// The parameters that are in force: the defaults, overlaid by what was set.
    pub(super) fn params(&self) -> Map<String, Value> {
        let value = |p: &consilience::consensus::ParameterInfo| {
            let text = self.settings.text(p.name).unwrap_or(p.default);
            (p.name.to_owned(), typed(text))
        };
        self.info.parameters.iter().map(value).collect()
    }

    /// Computes the consensus of `ensemble`.
    pub(super) fn compute(
        &self,
        ensemble: &Ensemble,
        start: Option<&[Option<u32>]>,
        session: &Session,
    ) -> anyhow::Result<Found> {
        let run = &session.run;
        let clock = Instant::now();
        let profiles = prepare(ensemble, self.info, run)?;
        let compress = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let start = start.map(|labels| Start::new(labels).weights(ensemble.weights()));
        let consensus = combine_from(&profiles, self.method.as_ref(), start, run)?;
        let anmi = run.install(|| anmi(&profiles, &consensus.labels));
        let seconds = clock.elapsed().as_secs_f64();
        if consensus.convergence.stop == Stop::MaxIterations {
            run.warn(&format!(
                "`{}` was stopped after {} before it settled; `consilience methods {}` tells which \
                 parameter allows more",
                self.info.name,
                counted(consensus.convergence.iterations, "iteration"),
                self.info.name
            ));
        }
        let labels = consensus.object_labels(&profiles);
        let mut sizes = vec![0; consensus.k];
        labels.iter().flatten().for_each(|&label| sizes[label as usize] += 1);
        let numbers: Vec<u32> = (0..consensus.k as u32).collect();
        Ok(Found {
            names: numbers.iter().map(u32::to_string).collect(),
            numbers,
            aligned: None,
            profiles,
            consensus,
            labels,
            sizes,
            anmi,
            compress,
            seconds,
        })
    }

    /// How the consensus settled as members came in; `None` if the method is not voting, of which
    /// alone this is known.
    pub(super) fn convergence(
        &self,
        ensemble: &Ensemble,
        truth: Option<&Member>,
        session: &Session,
    ) -> consilience::Result<Option<Diagnostic>> {
        if self.info.name != "voting" {
            return Ok(None);
        }
        let threshold = self.settings.text("threshold").map(str::parse).transpose()?;
        let truth = truth.map(Member::hardened);
        let run = &session.run;
        let threshold = threshold.unwrap_or(Majority::HALF);
        run.install(|| voting_convergence(ensemble, threshold, truth.as_ref(), run)).map(Some)
    }
}

/// A consensus with what is told about it.
pub(super) struct Found {
    pub(super) profiles: Profiles,
    pub(super) consensus: Consensus,
    /// What every cluster is called: its number, and its name where an earlier result has one.
    pub(super) numbers: Vec<u32>,
    pub(super) names: Vec<String>,
    /// How it follows an earlier result.
    pub(super) aligned: Option<Aligned>,
    /// The number of every object's cluster.
    pub(super) labels: Vec<Option<u32>>,
    /// How many objects every cluster has.
    pub(super) sizes: Vec<usize>,
    pub(super) anmi: f64,
    /// Seconds spent on merging equal objects.
    pub(super) compress: f64,
    /// Seconds spent on the method.
    pub(super) seconds: f64,
}

impl Found {
    /// How sure the cluster of every object is; NaN where it has none.
    pub(super) fn confidence(&self) -> Vec<f64> {
        let confidence = self.consensus.object_confidence(&self.profiles);
        confidence.into_iter().map(|c| c.unwrap_or(f64::NAN)).collect()
    }

    /// How many objects have no cluster.
    pub(super) fn unassigned(&self) -> usize {
        self.labels.len() - self.sizes.iter().sum::<usize>()
    }

    /// How the consensus settled as members came in, where that was asked for.
    pub(super) fn convergence(&self) -> Option<&[(String, Vec<f64>)]> {
        match self.consensus.diagnostics.get("convergence") {
            Some(Diagnostic::Table(columns)) => Some(columns),
            _ => None,
        }
    }

    /// Since which member the consensus has been what it is, in words.
    fn settled(&self) -> Option<String> {
        let (_, index) = self.convergence()?.iter().find(|(name, _)| name == "pc_idx")?;
        let changed = index.iter().rposition(|&index| index < 1.0).map_or(0, |last| last + 1);
        Some(if changed + 1 == index.len() {
            "still changed with the last clustering: more of them (--size) may settle it".to_owned()
        } else {
            format!(
                "unchanged since clustering {} of {} (convergence.csv)",
                changed + 1,
                index.len()
            )
        })
    }

    /// What is told of the consensus in JSON, in the order of the documentation.
    pub(super) fn told(&self, plan: &Plan) -> Map<String, Value> {
        let convergence = &self.consensus.convergence;
        let told = json!({
            "n": self.profiles.n_objects(),
            "clusterings": self.profiles.n_members(),
            "unique": self.profiles.len(),
            "method": plan.info.name,
            "params": plan.params(),
            "k": self.consensus.k,
            "sizes": self.sizes,
            "unassigned": self.unassigned(),
            "anmi": self.anmi,
            "objective": convergence.objective,
            "trace": convergence.trace,
            "iterations": convergence.iterations,
            "stop": convergence.stop,
            "diagnostics": self.consensus.diagnostics,
        });
        let Value::Object(mut told) = told else { unreachable!("an object was written") };
        if let Some(aligned) = &self.aligned {
            told.insert("aligned".to_owned(), aligned.told(self));
        }
        told
    }

    /// What is told of the consensus in words.
    pub(super) fn summary(&self, plan: &Plan) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|&size| count(size)).collect();
        let consensus = format!(
            "{}: {} ({} distinct) in {} -> {} of {} objects{}",
            plan.info.name,
            counted(self.profiles.n_objects(), "object"),
            count(self.profiles.len()),
            counted(self.profiles.n_members(), "clustering"),
            counted(self.consensus.k, "cluster"),
            listed(&sizes, 10),
            match self.unassigned() {
                0 => String::new(),
                some => format!(", {} without a cluster", counted(some, "object")),
            }
        );
        let convergence = &self.consensus.convergence;
        let iterations = counted(convergence.iterations, "iteration");
        let quality = format!(
            "agreement with the clusterings (ANMI): {:.4}{}",
            self.anmi,
            match convergence.stop {
                Stop::Done => String::new(),
                Stop::Converged => format!("; settled after {iterations}"),
                Stop::MaxIterations => format!("; stopped after {iterations}"),
            }
        );
        let chosen = plan
            .reason
            .map(|reason| format!("method auto took {}, because {reason}", plan.info.name));
        let asked = plan
            .method
            .k()
            .filter(|&k| k > self.consensus.k)
            .map(|k| format!("{} asked for; the others are empty", counted(k, "cluster")));
        let aligned = self.aligned.as_ref().map(Aligned::summary);
        let lines = [chosen, Some(consensus), asked, aligned, Some(quality), self.settled()];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// The names of the methods that `keep` keeps, for messages.
pub(super) fn names_or_none(keep: impl Fn(&MethodInfo) -> bool) -> String {
    let names: Vec<_> = METHODS.iter().filter(|info| keep(info)).map(|info| info.name).collect();
    if names.is_empty() { "there is none yet".to_owned() } else { names.join(", ") }
}

/// A parameter's text as the JSON value it spells.
fn typed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_types() {
        assert_eq!(typed("0.5"), json!(0.5));
        assert_eq!(typed("20"), json!(20));
        assert_eq!(typed("true"), json!(true));
        assert_eq!(typed("n / k"), json!("n / k"));
        assert_eq!(typed("[1]"), json!("[1]"));
    }
}
