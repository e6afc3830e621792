//! From a consensus to what its page shows. Nothing is computed by a method again.

use consilience::Matrix;
use consilience::consensus::NO_CLUSTER;
use consilience::ensemble::{Contingency, NO_PROFILE};
use consilience::judge::{
    Blocks, Judgement, KCurve, Overview, Partition, Scatter, Support, Tracking, consensus_order,
};
use consilience::pipeline::{AlignedRecord, BoardRecord, Record, Standing};
use consilience::words::{count, counted, named, percent};
use consilience::{Result, Run};
use serde_json::Value;

use crate::data as shown;
use crate::paper;

/// Bins of the consensus matrix, in about.
const BINS: usize = 150;
/// Clusters of which the support is told by themselves.
const CLUSTERS: usize = 60;
/// Members of which the flow is shown.
const FLOWS: usize = 24;
/// Objects in the table of doubtful ones.
const DOUBTFUL: usize = 60;
/// Numbers of clusters in a curve over them.
const NUMBERS: usize = 20;
/// In place of a share: it is not known.
const UNKNOWN: u32 = 9999;

/// What an object is called, if it has a name.
pub type Names<'a> = Box<dyn Fn(usize) -> Option<&'a str> + 'a>;

/// A consensus as its page sees it.
pub struct Subject<'a> {
    /// The consensus.
    pub partition: &'a Partition<'a>,
    /// Of every member the names of its clusters, by their codes in the profiles.
    pub clusters: &'a [Vec<String>],
    /// The names of the objects, which are numbered without.
    pub names: Option<Names<'a>>,
}

impl Subject<'_> {
    /// The page of the consensus, of what it is worth, and of how it was found.
    ///
    /// # Errors
    ///
    /// If memory does not suffice, or if the run is cancelled.
    pub fn page(&self, judgement: &Judgement, record: &Record, run: &Run) -> Result<String> {
        Ok(crate::page(self.report(judgement, record, run)?))
    }

    /// What the page and the figures show.
    ///
    /// # Errors
    ///
    /// As [`page`](Self::page).
    pub fn report(
        &self,
        judgement: &Judgement,
        record: &Record,
        run: &Run,
    ) -> Result<shown::Report> {
        let (overview, found) = (&judgement.overview, &record.consensus);
        let anmi = found.anmi.unwrap_or(f64::NAN);
        let classes = record.classes.clone().flatten();
        let profiles = &self.partition.profiles;
        let k = self.partition.numbers.len();
        let safe = overview.safe as f64 / overview.n.max(1) as f64;
        let fact = |name: &str, value: String| shown::Fact { name: name.to_owned(), value };
        let criteria = &overview.criteria;
        let mut facts = vec![
            fact("Objects", count(overview.n)),
            fact("Clusters", count(k)),
            fact("Clusterings combined", count(profiles.n_members())),
            fact("Agreement (ANMI)", format!("{anmi:.2}")),
            fact("Similarity of clusterings (ECS)", format!("{:.2}", overview.members.similarity)),
            fact("Inconsistency (IC)", format!("{:.2}", overview.members.inconsistency())),
        ];
        // With one cluster there is nothing to compare.
        if k > 1 {
            let compared = [("Safe objects", safe), ("Mean confidence", overview.confidence())];
            let compared = compared.map(|(name, share)| fact(name, percent(share)));
            facts.splice(3..3, compared);
        }
        if let Some((name, ours, _)) = classes.as_ref().and_then(|classes| classes.scores.first()) {
            facts.push(fact(
                &format!("{} with the classes", name.to_uppercase()),
                format!("{:.2}", ours.unwrap_or(f64::NAN)),
            ));
        }
        if overview.coverage < 1.0 - 1e-9 {
            facts.push(fact("Labels present", percent(overview.coverage)));
        }
        let moved = found.aligned.as_ref().map(moved);
        facts.extend(moved.as_ref().map(|moved| {
            fact("Moved since the earlier result", format!("{} of {}", moved.moved, moved.common))
        }));
        let mut notes = vec![format!(
            "Equal objects were merged: {} {} {}.",
            counted(overview.n, "object"),
            if overview.n == 1 { "has" } else { "have" },
            counted(found.unique, "distinct label tuple")
        )];
        let sampled = [
            ("The agreement of the clusterings", overview.members.sampled),
            ("What speaks for which number of clusters", criteria.sampled),
            ("The tracking plot", judgement.tracking.sampled),
        ];
        for (what, sampled) in sampled {
            notes.extend(sampled.map(|some| {
                format!(
                    "{what} was computed on a sample of {} of {} distinct objects.",
                    count(some),
                    count(profiles.len())
                )
            }));
        }
        let report = shown::Report {
            title: paper::title(record),
            subtitle: format!(
                "{} from {} of {}, by {}",
                counted(k, "cluster"),
                counted(profiles.n_members(), "clustering"),
                counted(overview.n, "object"),
                if found.method.is_empty() { "an unknown method" } else { &found.method },
            ),
            program: format!("consilience {}", record.version),
            verdict: judgement
                .verdict
                .iter()
                .map(|sentence| shown::Sentence {
                    about: sentence.about.to_string(),
                    tone: format!("{:?}", sentence.tone).to_lowercase(),
                    text: sentence.text.clone(),
                })
                .collect(),
            facts,
            n: overview.n,
            clusters: self.clusters(overview),
            matrix: Some(self.matrix(run)?),
            scatter: record.scatter.as_ref().map(|scatter| self.scatter(scatter)),
            flows: self.flows(overview),
            members: self.members(overview),
            number: shown::Number {
                k,
                recommended: criteria.recommended,
                votes: criteria.rules.iter().map(|rule| (rule.rule.to_string(), rule.k)).collect(),
                lifetimes: shown_of(&criteria.lifetimes),
                prominences: shown_of(&criteria.prominences),
                eigenvalues: shown_of(&criteria.eigenvalues),
                shares: shown_of(&criteria.shares),
                distribution: rounded(&criteria.pairs),
                undecided: rounded(&[criteria.undecided])[0],
            },
            resampled: resampled(&criteria.curves, judgement.tracking.ks.last(), k),
            tracking: tracking(&judgement.tracking, k),
            moved,
            trace: found.trace.iter().copied().flatten().collect(),
            doubtful: self.doubtful(overview),
            silent: overview.coverage < 1.0 - 1e-9,
            methods_compared: found.leaderboard.as_ref().map_or(Vec::new(), board),
            truth: classes,
            methods: shown::Methods {
                paragraph: paper::paragraph(record, (overview.safe, overview.n)),
                bibtex: paper::bibtex(record),
                command: paper::command_line(record),
                record: settings(record),
            },
            notes,
        };
        run.check()?;
        Ok(report)
    }

    fn clusters(&self, overview: &Overview) -> Vec<shown::Cluster> {
        let Partition { numbers, names, .. } = self.partition;
        let facts = overview.clusters.iter().zip(numbers.iter());
        facts
            .zip(names.iter())
            .map(|((facts, &number), name)| shown::Cluster {
                name: named(name),
                colour: number,
                objects: facts.objects,
                safe: facts.safe,
                confidence: thousandths(facts.confidence),
                histogram: facts.histogram.to_vec(),
                cohesion: facts.cohesion.map(thousandths),
                nearest: facts.nearest.map(|(other, value)| (other as usize, thousandths(value))),
            })
            .collect()
    }

    fn matrix(&self, run: &Run) -> Result<shown::Matrix> {
        // Where clusters are very many, the smaller ones share bins.
        let most = self.partition.numbers.len().min(CLUSTERS + 1);
        let place =
            |label: u32| if label == NO_CLUSTER { label } else { label.min(CLUSTERS as u32) };
        let labels: Vec<u32> = self.partition.labels.iter().map(|&label| place(label)).collect();
        let blocks =
            Blocks::new(&self.partition.profiles, &labels, &self.partition.confidence, BINS, run)?;
        let bins = blocks.bins.len();
        let support = Support::new(&self.partition.profiles, &labels, most);
        let mut sums = Matrix::zeros(bins, most);
        for (s, &bin) in blocks.bin_of.iter().enumerate() {
            let w = self.partition.profiles.weights()[s] / blocks.bins[bin as usize].weight;
            let row = sums.row_mut(bin as usize).iter_mut();
            row.zip(support.supports(s)).for_each(|(sum, x)| *sum += w * x);
        }
        let own = |cluster: u32| (cluster != NO_CLUSTER).then_some(cluster as usize);
        Ok(shown::Matrix {
            clusters: blocks.bins.iter().map(|bin| own(bin.cluster)).collect(),
            weights: blocks.bins.iter().map(|bin| rounded(&[bin.weight])[0]).collect(),
            confidence: blocks.bins.iter().map(|bin| thousandths(bin.confidence)).collect(),
            values: lower_half(bins, |a, b| blocks.values[(a, b)]),
            support: sums
                .iter_rows()
                .map(|row| row.iter().map(|x| thousandths(*x)).collect())
                .collect(),
        })
    }

    fn scatter(&self, scatter: &Scatter) -> shown::Scatter {
        let of = |object: usize| match self.partition.profiles.map()[object] {
            NO_PROFILE => (None, 0),
            s => {
                let label = self.partition.labels[s as usize];
                let sure = thousandths(self.partition.confidence[s as usize]);
                ((label != NO_CLUSTER).then_some(label as usize), sure)
            }
        };
        let objects = scatter.objects.iter().filter(|&&i| i < self.partition.profiles.n_objects());
        let (clusters, confidence) = objects.map(|&i| of(i)).unzip();
        shown::Scatter {
            axes: scatter.axes.clone(),
            aspect: scatter.aspect,
            places: scatter.places.clone(),
            outside: scatter.outside.clone(),
            clusters,
            confidence,
            names: scatter.objects.iter().map(|&i| self.object(i)).collect(),
        }
    }

    /// What an object is called.
    fn object(&self, i: usize) -> String {
        let name = self.names.as_ref().and_then(|names| names(i));
        name.map_or_else(|| format!("object {i}"), named)
    }

    fn flows(&self, overview: &Overview) -> Vec<shown::Flow> {
        let agreement = &overview.members.consensus;
        let r = agreement.len();
        let mut ranked: Vec<usize> = (0..r).collect();
        ranked.sort_by(|&g, &h| agreement[h].total_cmp(&agreement[g]).then(g.cmp(&h)));
        let most = r.min(FLOWS);
        let chosen = (0..most).map(|i| ranked[i * (r - 1) / (most - 1).max(1)]);
        chosen.map(|h| self.flow(h, agreement[h])).collect()
    }

    fn flow(&self, h: usize, agreement: f64) -> shown::Flow {
        let table = Contingency::of_consensus(&self.partition.profiles, &self.partition.labels, h);
        let weights = table.column_weights();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &c)| place[c] = at);
        let names = &self.clusters[h];
        shown::Flow {
            member: named(&self.partition.profiles.members()[h].name),
            agreement: thousandths(agreement),
            clusters: order.iter().map(|&c| named(&names[c])).collect(),
            cells: table
                .cells()
                .iter()
                .map(|cell| {
                    let weight = rounded(&[cell.weight])[0];
                    (place[cell.column as usize], cell.row as usize, weight)
                })
                .collect(),
        }
    }

    fn members(&self, overview: &Overview) -> shown::Members {
        let found = &overview.members;
        let mut camp_of = vec![0; found.consensus.len()];
        for (camp, members) in found.camps.iter().enumerate() {
            members.members.iter().for_each(|&h| camp_of[h] = camp);
        }
        let order = &found.order;
        let members = self.partition.profiles.members();
        shown::Members {
            names: order.iter().map(|&h| named(&members[h].name)).collect(),
            k: order.iter().map(|&h| members[h].n_clusters()).collect(),
            consensus: order.iter().map(|&h| thousandths(found.consensus[h])).collect(),
            dissents: order.iter().map(|h| found.dissenters.contains(h)).collect(),
            camps: order.iter().map(|&h| camp_of[h]).collect(),
            values: lower_half(order.len(), |a, b| found.pairs[(order[a], order[b])]),
            hidden: 0,
        }
    }

    fn doubtful(&self, overview: &Overview) -> Vec<shown::Doubtful> {
        let unsure = |s: &u32| {
            let choice = &overview.choices[*s as usize];
            choice.cluster != NO_CLUSTER && choice.second != NO_CLUSTER && !choice.is_safe()
        };
        let margin = |s: u32| overview.choices[s as usize].margin();
        let mut closest: Vec<u32> =
            consensus_order(&self.partition.labels, &self.partition.confidence)
                .into_iter()
                .filter(unsure)
                .collect();
        closest.sort_by(|&s, &t| margin(s).total_cmp(&margin(t)));
        closest.truncate(DOUBTFUL);
        let mut rank = vec![u32::MAX; self.partition.profiles.len()];
        (0..).zip(&closest).for_each(|(at, &s)| rank[s as usize] = at);
        let known =
            self.partition.profiles.map().iter().enumerate().filter(|(_, s)| **s != NO_PROFILE);
        let mut objects: Vec<(u32, usize)> =
            known.map(|(i, &s)| (rank[s as usize], i)).filter(|(at, _)| *at != u32::MAX).collect();
        objects.sort_unstable();
        objects.truncate(DOUBTFUL);
        let told = |(at, i): (u32, usize)| {
            let s = closest[at as usize] as usize;
            let choice = &overview.choices[s];
            shown::Doubtful {
                name: self.object(i),
                cluster: choice.cluster as usize,
                support: thousandths(choice.support),
                second: choice.second as usize,
                second_support: thousandths(choice.second_support),
                confidence: thousandths(self.partition.confidence[s]),
                coverage: thousandths(choice.votes / self.partition.profiles.n_members() as f64),
            }
        };
        objects.into_iter().map(told).collect()
    }
}

/// The methods that were compared, as rows of a table.
fn board(board: &BoardRecord) -> Vec<shown::Compared> {
    let value = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.3}"));
    let row = |row: &Standing| shown::Compared {
        method: row.method.to_string(),
        k: row.k.map_or(String::new(), count),
        anmi: value(row.anmi),
        agreement: value(row.agreement),
        problem: row.problem.clone().unwrap_or_default(),
    };
    board.methods.iter().map(row).collect()
}

/// The tracks of the objects through the numbers of clusters.
fn tracking(found: &Tracking, k: usize) -> shown::Tracking {
    let own = |&cluster: &u32| (cluster != NO_CLUSTER).then_some(cluster as usize);
    shown::Tracking {
        k,
        ks: found.ks.clone(),
        weights: rounded(&found.weights),
        consensus: found.consensus.iter().map(own).collect(),
        clusters: found.clusters.clone(),
    }
}

/// What stays of each number of clusters up to `most` when clusterings are left out.
fn resampled(curves: &[KCurve], most: Option<&usize>, k: usize) -> shown::Resampled {
    let curves: Vec<&KCurve> =
        curves.iter().filter(|curve| most.is_some_and(|most| curve.k <= *most)).collect();
    let shares = |curve: &&KCurve| curve.distribution.iter().map(|x| thousandths(*x)).collect();
    let values = |value: fn(&KCurve) -> f64| {
        rounded(&curves.iter().map(|curve| value(curve)).collect::<Vec<f64>>())
    };
    shown::Resampled {
        k,
        ks: curves.iter().map(|curve| curve.k).collect(),
        distributions: curves.iter().map(shares).collect(),
        stability: values(|curve| curve.stability),
        undecided: values(|curve| curve.undecided),
        areas: values(|curve| curve.area),
        deltas: values(|curve| curve.area_increase),
    }
}

/// The first numbers of a curve over the number of clusters.
fn shown_of(curve: &[f64]) -> Vec<f64> {
    rounded(&curve[..curve.len().min(NUMBERS)])
}

/// What moved since the earlier result.
fn moved(aligned: &AlignedRecord) -> shown::Moved {
    let names = |names: &[String]| names.iter().map(|name| named(name)).collect();
    let moves = aligned.moves.iter();
    shown::Moved {
        earlier: named(&aligned.to),
        common: count(aligned.common),
        moved: count(aligned.moved),
        moves: moves.map(|m| (named(&m.from), named(&m.to), count(m.objects))).collect(),
        new: names(&aligned.new),
        gone: names(&aligned.gone),
    }
}

/// Numbers to six decimals: what is beyond is rounding, which differs between a membership and the
/// same membership read back.
fn rounded(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|x| (1e6 * x).round() / 1e6).collect()
}

/// A share in whole thousandths.
fn thousandths(share: f64) -> u32 {
    if share.is_nan() { UNKNOWN } else { (1000.0 * share.clamp(0.0, 1.0)).round() as u32 }
}

/// The lower half of a symmetric matrix row by row, with the diagonal.
fn lower_half(n: usize, value: impl Fn(usize, usize) -> f64) -> Vec<u32> {
    let pairs = (0..n).flat_map(|a| (0..=a).map(move |b| (a, b)));
    pairs.map(|(a, b)| thousandths(value(a, b))).collect()
}

/// Options, seed, versions and checksums, as a flat list.
fn settings(record: &Record) -> Vec<shown::Fact> {
    let mut facts = Vec::new();
    let mut add = |name: String, value: &Value| {
        let text = match value {
            Value::Null => return,
            Value::String(text) => text.clone(),
            Value::Object(map) if map.is_empty() => return,
            Value::Array(list) if list.is_empty() => return,
            other => other.to_string(),
        };
        facts.push(shown::Fact { name, value: named(&text) });
    };
    add("version".to_owned(), &Value::from(record.version.as_str()));
    add("seed".to_owned(), &Value::from(record.seed));
    for input in &record.inputs {
        let sum = input.xxh64.as_deref().map_or(Value::Null, Value::from);
        add(format!("xxh64 of {}", named(&input.file)), &sum);
    }
    for (key, value) in &record.command.0 {
        add(key.replace('_', " "), value);
    }
    add("parameters of the method".to_owned(), &Value::Object(record.consensus.params.clone()));
    facts
}
