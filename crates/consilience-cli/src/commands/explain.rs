//! `consilience explain RESULT ID...`: who voted for what, the second choice, the margin.

use std::fmt::Write as _;

use consilience::consensus::NO_CLUSTER;
use consilience::ensemble::NO_PROFILE;
use consilience::judge::{Partition, Placement, Support, Vote};
use serde_json::{Value, json};

use super::saved::Saved;
use crate::args::{Common, ExplainArgs};
use crate::errors::{closest, usage};
use crate::output::{self, counted, named};
use crate::session::Session;

/// Votes that are listed for one object.
const LISTED: usize = 20;

pub(super) fn run(args: &ExplainArgs, common: &Common) -> anyhow::Result<()> {
    let session = Session::new(common);
    let saved = Saved::read(&args.result, &session)?;
    let objects =
        args.ids.iter().map(|id| find(&saved, id)).collect::<anyhow::Result<Vec<usize>>>()?;
    let Partition { profiles, labels, numbers, .. } = &saved.partition;
    let support = session.run.install(|| Support::new(profiles, labels, numbers.len()));
    session.progress.clear();
    let told =
        args.ids.iter().zip(objects).map(|(id, object)| Ballot::new(&saved, &support, id, object));
    if session.json {
        let told: Vec<Value> = told.map(|told| told.json()).collect();
        return output::json(&json!({ "schema": 1, "objects": told }));
    }
    let texts = told.map(|told| told.text()).collect::<Result<Vec<String>, _>>()?;
    output::text(&texts.join("\n"))
}

/// The object of an identifier.
fn find(saved: &Saved, id: &str) -> anyhow::Result<usize> {
    let n = saved.partition.profiles.n_objects();
    if let Some(ids) = &saved.ids {
        if let Some(object) = ids.iter().position(|known| known == id) {
            return Ok(object);
        }
        let hint = match closest(id, ids.iter().take(100_000)) {
            Some(near) => format!("; did you mean `{}`?", named(near)),
            None => format!(": name one by its identifier, such as `{}`", named(ids.get(0))),
        };
        return Err(usage(format!("there is no object `{}`{hint}", named(id))));
    }
    match id.parse() {
        Ok(object) if object < n => Ok(object),
        _ => Err(usage(format!(
            "there is no object `{}`: the result has no identifiers, give numbers of rows from 0 to {}",
            named(id),
            n - 1
        ))),
    }
}

/// What is told of an object.
struct Ballot<'a> {
    saved: &'a Saved,
    id: &'a str,
    /// `None` if no clustering labels it.
    known: Option<Known>,
}

struct Known {
    choice: Placement,
    confidence: f64,
    supports: Vec<f64>,
    votes: Vec<Vote>,
}

impl<'a> Ballot<'a> {
    fn new(saved: &'a Saved, support: &Support<'_>, id: &'a str, object: usize) -> Self {
        let profile = saved.partition.profiles.map()[object];
        let known = (profile != NO_PROFILE).then(|| {
            let s = profile as usize;
            Known {
                choice: support.choice(s),
                confidence: saved.partition.confidence[s],
                supports: support.supports(s),
                votes: support.votes(s),
            }
        });
        Ballot { saved, id, known }
    }

    /// The number of the cluster at a place.
    fn number(&self, place: u32) -> Option<u32> {
        self.saved.partition.numbers.get(place as usize).copied()
    }

    /// The same with its name.
    fn called(&self, place: u32) -> Option<String> {
        self.number(place).map(|_| self.saved.name_of(place as usize))
    }

    fn json(&self) -> Value {
        let Some(known) = &self.known else {
            return json!({ "id": self.id, "cluster": null, "coverage": 0.0, "votes": [] });
        };
        let members = self.saved.ensemble.members();
        let votes: Vec<Value> = known
            .votes
            .iter()
            .map(|vote| {
                let shares: Vec<Value> = vote
                    .shares
                    .iter()
                    .map(|&(place, share)| json!({ "cluster": self.number(place), "share": share }))
                    .collect();
                json!({
                    "clustering": members[vote.member].name(),
                    "its_cluster": members[vote.member].clusters()[vote.cluster],
                    "votes": shares,
                })
            })
            .collect();
        json!({
            "id": self.id,
            "cluster": self.number(known.choice.cluster),
            "confidence": known.confidence,
            "coverage": known.choice.votes / members.len() as f64,
            "support": known.choice.support,
            "second": self.number(known.choice.second),
            "second_support": known.choice.second_support,
            "margin": known.choice.margin(),
            "safe": known.choice.is_safe(),
            "votes": votes,
        })
    }

    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        let id = named(self.id);
        let Some(known) = &self.known else {
            writeln!(text, "object {id}: no clustering labels it, so it has no cluster")?;
            return Ok(text);
        };
        let choice = &known.choice;
        match self.called(choice.cluster) {
            Some(cluster) => writeln!(
                text,
                "object {id}: cluster {cluster}, confidence {:.2}, {}",
                known.confidence,
                if choice.is_safe() { "safe" } else { "not safe" }
            )?,
            None => writeln!(text, "object {id}: the method left it without a cluster")?,
        }
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let mut ranked: Vec<(usize, f64)> =
            known.supports.iter().copied().enumerate().filter(|(_, x)| *x >= 0.005).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let supports: Vec<String> = ranked
            .iter()
            .take(5)
            .map(|&(place, x)| format!("cluster {} {}", self.saved.name_of(place), percent(x)))
            .collect();
        writeln!(text, "  support   {}", supports.join(", "))?;
        if choice.cluster != NO_CLUSTER {
            match self.called(choice.second) {
                Some(second) if choice.margin() >= 0.0 => writeln!(
                    text,
                    "  margin    {} ahead of the second choice, cluster {second}",
                    percent(choice.margin())
                )?,
                Some(second) => writeln!(
                    text,
                    "  margin    {} behind cluster {second}: the method looks at all objects together, \
                     not at each by itself",
                    percent(-choice.margin())
                )?,
                None => writeln!(text, "  margin    no clustering votes for another cluster")?,
            }
        }
        let members = self.saved.ensemble.members();
        let silent = members.len() - known.votes.len();
        if silent > 0 {
            writeln!(
                text,
                "  missing   {} of {} do not label it",
                silent,
                counted(members.len(), "clustering")
            )?;
        }
        let mut votes: Vec<&Vote> = known.votes.iter().collect();
        // The votes against come first: they are what one asks about.
        let own = |vote: &Vote| {
            vote.shares.iter().find(|(j, _)| *j == choice.cluster).map_or(0.0, |s| s.1)
        };
        votes.sort_by(|a, b| own(a).total_cmp(&own(b)).then(a.member.cmp(&b.member)));
        let rows: Vec<Vec<String>> = votes
            .iter()
            .take(LISTED)
            .map(|vote| {
                let shares: Vec<String> = vote
                    .shares
                    .iter()
                    .take(3)
                    .map(|&(j, share)| {
                        format!("{} {}", self.saved.name_of(j as usize), percent(share))
                    })
                    .collect();
                let member = &members[vote.member];
                vec![
                    named(member.name()),
                    named(&member.clusters()[vote.cluster]),
                    shares.join(", "),
                ]
            })
            .collect();
        let header = ["clustering", "its cluster", "votes for cluster"].map(str::to_owned);
        for line in output::listing(&header, &rows).lines() {
            writeln!(text, "  {line}")?;
        }
        if votes.len() > LISTED {
            writeln!(text, "  ... ({} more; --json has all)", votes.len() - LISTED)?;
        }
        Ok(text)
    }
}
