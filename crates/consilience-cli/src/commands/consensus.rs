//! The consensus step that `combine`, `run` and `demo` share: checked before data are read,
//! computed, and told as text and JSON.

use std::time::Instant;

use consilience::choose_k::KCriteria;
use consilience::consensus::{
    Choice, ChoosesK, Clusters, Consensus, Leaderboard, METHODS, MethodInfo, Settings, Start, Stop,
    Value as Diagnostic, Wish, auto_by_wish, choose, choose_on, combine_from, leaderboard, method,
    prepare,
};
use consilience::ensemble::{Ensemble, Majority, Member, Profiles};
use consilience::explain::voting_convergence;
use serde_json::{Map, Value, json};

use super::align::Aligned;
use super::{Session, board};
use crate::args::ConsensusArgs;
use crate::errors::{data, usage};
use crate::output::{count, counted, listed};
use consilience_io::Cells;

/// Checked methods, ready to run.
pub(super) struct Plan {
    methods: Methods,
    clusters: Clusters,
    pub(super) settings: Settings,
}

/// What `--method` asks for.
enum Methods {
    /// What suits the ensemble.
    Auto,
    /// This one, and why `auto` took it.
    One(&'static MethodInfo, Option<&'static str>),
    /// All of these, side by side.
    Many(Vec<&'static MethodInfo>),
}

impl Plan {
    /// Checks everything about the method that can be checked without data.
    pub(super) fn new(args: &ConsensusArgs, wish: Wish) -> anyhow::Result<Self> {
        let clusters = args.k.0.clone();
        let k = clusters.exactly();
        if k == Some(0) {
            return Err(data(
                "--k asks for less than one cluster: give a number from 1 on, or auto",
            ));
        }
        for (i, setting) in args.settings.iter().enumerate() {
            if args.settings[..i].iter().any(|earlier| earlier.key == setting.key) {
                return Err(usage(format!("--set {} is given twice: keep one", setting.key)));
            }
        }
        let settings: Settings =
            args.settings.iter().map(|s| (s.key.as_str(), s.value.as_str())).collect();
        let wish = Wish { start: args.init.is_some(), ..wish };
        let methods = match args.method() {
            "auto" => match auto_by_wish(wish) {
                Some(found) => Methods::One(found.info, Some(found.reason)),
                None => Methods::Auto,
            },
            "all" => Methods::Many(METHODS.to_vec()),
            names if names.contains(',') => Methods::Many(several(names)?),
            name => Methods::One(method(name)?, None),
        };
        let plan = Plan { methods, clusters, settings };
        match &plan.methods {
            Methods::One(info, _) => plan.check_one(info, args)?,
            Methods::Many(_) if !args.settings.is_empty() || args.init.is_some() => {
                return Err(usage(
                    "--set and --init go with one method: name it, or leave them out".to_owned(),
                ));
            }
            _ => {}
        }
        Ok(plan)
    }

    fn check_one(&self, info: &'static MethodInfo, args: &ConsensusArgs) -> anyhow::Result<()> {
        if info.chooses_k == ChoosesK::Always && self.clusters != Clusters::Auto {
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
        let k = match info.chooses_k {
            ChoosesK::Never => self.clusters.exactly().or(Some(1)),
            _ => self.clusters.exactly(),
        };
        info.with(k, &self.settings)?;
        Ok(())
    }

    /// Whether the number of clusters was asked for.
    pub(super) fn k_given(&self) -> bool {
        self.clusters.exactly().is_some()
    }

    /// What was found to speak for which number of clusters, if that is about all numbers and the
    /// profiles of `found`.
    pub(super) fn criteria<'a>(&self, found: &'a Found) -> Option<&'a KCriteria> {
        let same = self.clusters == Clusters::Auto
            && found.profiles.is_hard()
            && found.consensus.parted.is_none();
        found.choice.criteria.as_ref().filter(|_| same)
    }

    /// Whether several methods are run side by side.
    pub(super) fn is_leaderboard(&self) -> bool {
        matches!(self.methods, Methods::Many(_))
    }

    /// The method, if it is known without data.
    pub(super) fn info(&self) -> Option<&'static MethodInfo> {
        match &self.methods {
            Methods::One(info, _) => Some(info),
            _ => None,
        }
    }

    /// The parameters of `info` that are in force: the defaults, overlaid by what was set.
    fn params(&self, info: &MethodInfo) -> Map<String, Value> {
        let in_force = info.in_force(&self.settings).into_iter();
        in_force.map(|(name, text)| (name.to_owned(), typed(&text))).collect()
    }

    /// Computes the consensus of `ensemble`.
    pub(super) fn compute(
        &self,
        ensemble: &Ensemble,
        start: Option<Start<'_>>,
        session: &Session,
    ) -> anyhow::Result<Found> {
        let run = &session.run;
        if let Methods::Many(methods) = &self.methods {
            let choice = choose(self.info(), &self.clusters, ensemble, run)?;
            return compare(methods, choice, ensemble, session);
        }
        if !ensemble.is_hard() {
            let choice = choose(self.info(), &self.clusters, ensemble, run)?;
            let clock = Instant::now();
            let profiles = prepare(ensemble, choice.info, run)?;
            let compress = clock.elapsed().as_secs_f64();
            return self.fit(choice, profiles, ensemble.weights(), start, compress, session);
        }
        let clock = Instant::now();
        let profiles = Profiles::new(ensemble, run)?;
        let compress = clock.elapsed().as_secs_f64();
        self.compute_on(profiles, ensemble.weights(), start, compress, session)
    }

    /// Computes the consensus of `profiles`, all of hard members, which it took `compress` seconds to
    /// make of objects with these weights.
    pub(super) fn compute_on(
        &self,
        profiles: Profiles,
        weights: Option<&[f64]>,
        start: Option<Start<'_>>,
        compress: f64,
        session: &Session,
    ) -> anyhow::Result<Found> {
        let choice = choose_on(self.info(), &self.clusters, &profiles, &session.run)?;
        self.fit(choice, profiles, weights, start, compress, session)
    }

    /// Runs the method that was chosen.
    fn fit(
        &self,
        mut choice: Choice,
        profiles: Profiles,
        weights: Option<&[f64]>,
        start: Option<Start<'_>>,
        compress: f64,
        session: &Session,
    ) -> anyhow::Result<Found> {
        let run = &session.run;
        if let Methods::One(_, reason) = &self.methods {
            choice.reason = *reason;
        }
        let clock = Instant::now();
        let method = choice.info.with(choice.k, &self.settings)?;
        let consensus = combine_from(&profiles, method.as_ref(), start, run)?;
        let anmi = run.install(|| consensus.anmi(&profiles, weights));
        let seconds = clock.elapsed().as_secs_f64();
        if consensus.convergence.stop == Stop::MaxIterations {
            run.warn(&format!(
                "`{0}` was stopped after {1} before it settled; `consilience methods {0}` tells \
                 which parameter allows more",
                choice.info.name,
                counted(consensus.convergence.iterations, "iteration"),
            ));
        }
        Ok(Found::new(choice, profiles, consensus, anmi, None, (compress, seconds)))
    }

    /// How the consensus settled as members came in; `None` if the method is not voting, of which
    /// alone this is known.
    pub(super) fn convergence(
        &self,
        ensemble: &Ensemble,
        truth: Option<&Member>,
        session: &Session,
    ) -> consilience::Result<Option<Diagnostic>> {
        if self.info().is_none_or(|info| info.name != "voting") {
            return Ok(None);
        }
        let threshold = self.settings.text("threshold").map(str::parse).transpose()?;
        let truth = truth.map(Member::hardened);
        let run = &session.run;
        let threshold = threshold.unwrap_or(Majority::HALF);
        run.install(|| voting_convergence(ensemble, threshold, truth.as_ref(), run)).map(Some)
    }
}

/// Computes the consensus by all of `methods`.
fn compare(
    methods: &[&'static MethodInfo],
    choice: Choice,
    ensemble: &Ensemble,
    session: &Session,
) -> anyhow::Result<Found> {
    let clock = Instant::now();
    let k = choice.k.unwrap_or(2);
    let board = leaderboard(ensemble, methods, k, &session.run)?;
    let Some(best) = board.best.clone() else {
        let problems = board.standings.iter().filter_map(|row| row.problem.as_deref());
        let first = problems.into_iter().next().unwrap_or("there are none");
        return Err(usage(format!("no method has an answer; the first says: {first}")));
    };
    let reason = "its answer agrees most with the clusterings among those with as many clusters \
                  as asked for";
    let choice = Choice { info: best.info, reason: Some(reason), ..choice };
    let seconds = (0.0, clock.elapsed().as_secs_f64());
    Ok(Found::new(choice, best.profiles, best.consensus, best.anmi, Some(board), seconds))
}

/// A consensus with what is told about it.
pub(super) struct Found {
    /// The method and the number of clusters, and why these.
    pub(super) choice: Choice,
    /// All methods, if several were run.
    pub(super) board: Option<Leaderboard>,
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
    fn new(
        choice: Choice,
        profiles: Profiles,
        consensus: Consensus,
        anmi: f64,
        board: Option<Leaderboard>,
        (compress, seconds): (f64, f64),
    ) -> Self {
        let labels = consensus.object_labels(&profiles);
        let mut sizes = vec![0; consensus.k];
        labels.iter().flatten().for_each(|&label| sizes[label as usize] += 1);
        let numbers: Vec<u32> = (0..consensus.k as u32).collect();
        Found {
            names: numbers.iter().map(u32::to_string).collect(),
            numbers,
            aligned: None,
            choice,
            board,
            profiles,
            consensus,
            labels,
            sizes,
            anmi,
            compress,
            seconds,
        }
    }

    /// How sure the cluster of every object is; empty where it has none.
    pub(super) fn confidence(&self) -> Cells<'_> {
        Cells::Sure {
            confidence: &self.consensus.confidence,
            map: self.profiles.map(),
            labels: &self.labels,
        }
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
            "method": self.choice.info.name,
            "params": plan.params(self.choice.info),
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
        if let Some(reason) = self.choice.reason {
            told.insert("reason".to_owned(), json!(reason));
        }
        if let Some(criteria) = &self.choice.criteria {
            told.insert("k_criteria".to_owned(), json!(criteria));
        }
        if let Some(board) = &self.board {
            told.insert("leaderboard".to_owned(), board::told(board));
        }
        told
    }

    /// What is told of the consensus in words.
    pub(super) fn summary(&self, plan: &Plan) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(|&size| count(size)).collect();
        let consensus = format!(
            "{}: {} ({} distinct) in {} -> {} of {} objects{}",
            self.choice.info.name,
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
        let way = if plan.is_leaderboard() { "the answer is that of" } else { "method auto took" };
        let chosen = self
            .choice
            .reason
            .map(|reason| format!("{way} {}, because {reason}", self.choice.info.name));
        let number = self.choice.criteria.as_ref().map(|criteria| {
            let other = criteria.runner_up.map_or(String::new(), |k| format!("; runner-up {k}"));
            format!("--k took {}, because {}{other}", criteria.recommended, criteria.reason)
        });
        let asked = self
            .choice
            .k
            .filter(|&k| k > self.consensus.k)
            .map(|k| format!("{} asked for; the others are empty", counted(k, "cluster")));
        let board = self.board.as_ref().map(board::shown);
        let aligned = self.aligned.as_ref().map(Aligned::summary);
        let lines =
            [board, chosen, number, Some(consensus), asked, aligned, Some(quality), self.settled()];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// The methods of a list of names, each once.
fn several(names: &str) -> anyhow::Result<Vec<&'static MethodInfo>> {
    let mut methods: Vec<&'static MethodInfo> = Vec::new();
    for name in names.split(',').map(str::trim) {
        let info = method(name)?;
        if methods.iter().any(|known| known.name == info.name) {
            return Err(usage(format!("--method names `{name}` twice: keep one")));
        }
        methods.push(info);
    }
    Ok(methods)
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
