//! The options of the consensus as a request, and the answer in words.

use consilience::consensus::{ChoosesK, Offers, Settings, Stop};
use consilience::judge::KCriteria;
use consilience::pipeline::{Answer, Checked, Methods, Request};
use serde_json::{Map, Value, json};

use super::board;
use crate::args::ConsensusArgs;
use crate::errors::usage;
use crate::output::{count, counted, listed};
use crate::session::Session;

/// The request of these options; `wanted` is what files were asked for besides labels.
pub(super) fn request(
    args: &ConsensusArgs,
    wanted: Offers,
    edges: bool,
) -> anyhow::Result<Checked> {
    let clusters = args.k.0.clone();
    if clusters.exactly() == Some(0) {
        return Err(usage("--k asks for less than one cluster: give a number from 1 on, or auto"));
    }
    for (i, setting) in args.settings.iter().enumerate() {
        if args.settings[..i].iter().any(|earlier| earlier.key == setting.key) {
            return Err(usage(format!("--set {} is given twice: keep one", setting.key)));
        }
    }
    let settings: Settings =
        args.settings.iter().map(|s| (s.key.as_str(), s.value.as_str())).collect();
    let methods = Methods::named(args.method())?;
    let start = args.init.is_some();
    Ok(Request { methods, clusters, settings, wanted, start, edges }.check()?)
}

/// The parameters that were set, as a record has them.
pub(super) fn settings(args: &ConsensusArgs) -> Map<String, Value> {
    args.settings.iter().map(|setting| (setting.key.clone(), json!(setting.value))).collect()
}

/// Warns of a method that was stopped before it settled, and of one that made fewer clusters than it was told.
pub(super) fn warn_of_outcome(answer: &Answer, session: &Session) {
    let (choice, convergence) = (&answer.choice, &answer.consensus.convergence);
    if let Some(k) = choice.k.filter(|&k| k > answer.consensus.k) {
        session.run.warn(&format!(
            "`{}` made {} instead of {}{}",
            choice.info.name,
            counted(answer.consensus.k, "cluster"),
            if choice.asked.is_some() { format!("the {k} asked for") } else { k.to_string() },
            if choice.info.chooses_k == ChoosesK::UnlessGiven {
                ": it finds no more; `lwea` makes as many as you say"
            } else {
                ": the others are empty"
            }
        ));
    }
    if convergence.stop == Stop::MaxIterations {
        session.run.warn(&format!(
            "`{0}` was stopped after {1} before it settled; `consilience methods {0}` tells which \
             parameter allows more",
            choice.info.name,
            counted(convergence.iterations, "iteration"),
        ));
    }
}

/// What is told of the consensus in JSON, in the order of the documentation.
pub(super) fn told(answer: &Answer) -> anyhow::Result<Map<String, Value>> {
    match serde_json::to_value(answer.consensus_record())? {
        Value::Object(told) => Ok(told),
        _ => unreachable!("a record is an object"),
    }
}

/// What is told of the consensus in words.
pub(super) fn summary(answer: &Answer) -> String {
    let sizes: Vec<String> = answer.sizes.iter().map(|&size| count(size)).collect();
    let (choice, profiles) = (&answer.choice, &answer.profiles);
    let consensus = format!(
        "{}: {} ({} distinct) in {} -> {} of {} {}{}",
        choice.info.name,
        counted(profiles.n_objects(), "object"),
        count(profiles.len()),
        counted(profiles.n_members(), "clustering"),
        counted(answer.consensus.k, "cluster"),
        listed(&sizes, 10),
        if answer.sizes == [1] { "object" } else { "objects" },
        match answer.unassigned() {
            0 => String::new(),
            some => format!(", {} without a cluster", counted(some, "object")),
        }
    );
    let convergence = &answer.consensus.convergence;
    let iterations = counted(convergence.iterations, "iteration");
    let quality = format!(
        "agreement with the clusterings (ANMI): {:.4}{}",
        answer.anmi,
        match convergence.stop {
            Stop::Done => String::new(),
            Stop::Converged => format!("; settled after {iterations}"),
            Stop::MaxIterations => format!("; stopped after {iterations}"),
        }
    );
    let way = if answer.board.is_some() { "the answer is that of" } else { "method:" };
    let chosen =
        choice.reason.map(|reason| format!("{way} {}, because {reason}", choice.info.name));
    let from_features = choice.number.as_ref().filter(|_| choice.asked.is_none());
    // The verdict, where there is one, tells why, unless it looked at other numbers.
    let judged = |criteria: &KCriteria| {
        let judgement = answer.judgement.as_ref();
        judgement.is_some_and(|judged| judged.overview.criteria.range == criteria.range)
    };
    let number = match (from_features, &choice.criteria) {
        (Some(number), _) if answer.judgement.is_some() => Some(format!(
            "number of clusters: {}, found in the features: see the verdict",
            number.k
        )),
        (None, Some(criteria)) if judged(criteria) => Some(format!(
            "number of clusters: {}, found in the clusterings: see the verdict",
            criteria.recommended
        )),
        (Some(number), _) => Some(format!("number of clusters: {}, {}", number.k, number.reason())),
        (None, Some(criteria)) => {
            let other = criteria.runner_up.map_or(String::new(), |k| format!("; runner-up {k}"));
            Some(format!(
                "number of clusters: {}, because {}{other}",
                criteria.recommended, criteria.reason
            ))
        }
        // Neither asked for nor looked for: clusterings were added to a result.
        (None, None) => {
            let kept = choice.k.filter(|_| choice.asked.is_none());
            kept.map(|k| format!("number of clusters: {k}, as the earlier result found it"))
        }
    };
    let aligned = answer.aligned.as_ref().map(|aligned| {
        format!(
            "clusters called as in {}: {} of {} in both moved to another cluster",
            aligned.to,
            count(aligned.moved.len()),
            counted(aligned.common, "object"),
        )
    });
    let board = answer.board.as_ref().map(board::shown);
    let settled = settled(answer);
    let lines = [board, chosen, number, Some(consensus), aligned, Some(quality), settled];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Since which member the consensus has been what it is, in words.
fn settled(answer: &Answer) -> Option<String> {
    let (_, index) = answer.convergence()?.iter().find(|(name, _)| name == "pc_idx")?;
    let changed = index.iter().rposition(|&index| index < 1.0).map_or(0, |last| last + 1);
    Some(if changed + 1 == index.len() {
        "still changed with the last clustering: more of them (--size) may settle it".to_owned()
    } else {
        format!("unchanged since clustering {} of {} (convergence.csv)", changed + 1, index.len())
    })
}
