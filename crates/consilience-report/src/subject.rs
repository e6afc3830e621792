//! From a consensus to what its page shows. Nothing is computed by a method again.

use consilience::choose_k::{KCriteria, KCurve};
use consilience::consensus::NO_CLUSTER;
use consilience::ensemble::{Contingency, NO_PROFILE, Profiles};
use consilience::explain::{
    Blocks, Circumstances, Overview, Sentence, Support, Tracking, consensus_order, verdict,
};
use consilience::linalg::Matrix;
use consilience::{Result, Run};
use serde_json::Value;

use crate::data as shown;
use crate::paper;
use crate::scatter::Scatter;
use crate::words::{count, named};

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
    /// What it was computed on.
    pub profiles: &'a Profiles,
    /// Of every member the names of its clusters, as `consilience::consensus::cluster_names` gives
    /// them.
    pub clusters: &'a [Vec<String>],
    /// The cluster of every profile by place.
    pub labels: &'a [u32],
    /// How sure it is.
    pub confidence: &'a [f64],
    /// The number that every cluster is called by.
    pub numbers: &'a [u32],
    /// What every cluster is called where that is not its number.
    pub called: Option<&'a [String]>,
    /// The names of the objects, which are numbered without.
    pub names: Option<Names<'a>>,
    /// The known classes by cluster (rows, by place) and class.
    pub truth: Option<shown::Truth>,
    /// What speaks for which number of clusters, if it was looked for among all numbers before.
    pub criteria: Option<&'a KCriteria>,
}

/// What is known of a consensus besides itself.
pub struct Explained {
    /// Figures of the members and clusters.
    pub overview: Overview,
    tracking: Tracking,
    clusters: Vec<String>,
    /// What they come to, in words.
    pub verdict: Vec<Sentence>,
}

impl Subject<'_> {
    /// Finds out what is to be known of the consensus.
    pub fn explain(&self, k_given: bool, run: &Run) -> Result<Explained> {
        let k = self.numbers.len();
        let Subject { profiles, labels, confidence, criteria, .. } = *self;
        let overview = Overview::new(profiles, labels, confidence, k, criteria, run)?;
        let tracking = Tracking::new(self.profiles, self.labels, k, run)?;
        let clusters: Vec<String> = match self.called {
            Some(called) => called.iter().map(|name| named(name)).collect(),
            None => self.numbers.iter().map(u32::to_string).collect(),
        };
        let members: Vec<String> =
            self.profiles.members().iter().map(|member| named(&member.name)).collect();
        let about = Circumstances { clusters: &clusters, members: &members, k_given };
        let verdict = verdict(&overview, &about);
        Ok(Explained { overview, tracking, clusters, verdict })
    }

    /// The page of the consensus; `record` is what `result.json` holds.
    pub fn page(&self, explained: &Explained, record: &Value, run: &Run) -> Result<String> {
        let overview = &explained.overview;
        let anmi = record["consensus"]["anmi"].as_f64().unwrap_or(f64::NAN);
        let k = self.numbers.len();
        let safe = overview.safe as f64 / overview.n.max(1) as f64;
        let fact = |name: &str, value: String| shown::Fact { name: name.to_owned(), value };
        let criteria = &overview.criteria;
        let mut facts = vec![
            fact("Objects", count(overview.n)),
            fact("Clusters", count(k)),
            fact("Clusterings combined", count(self.profiles.n_members())),
            fact("Safe objects", format!("{:.0} %", 100.0 * safe)),
            fact("Agreement (ANMI)", format!("{anmi:.2}")),
        ];
        if let Some((name, ours, _)) = self.truth.as_ref().and_then(|truth| truth.scores.first()) {
            facts.push(fact(
                &format!("{} with the classes", name.to_uppercase()),
                format!("{ours:.2}"),
            ));
        }
        let moved = moved(&record["consensus"]["aligned"]);
        facts.extend(moved.as_ref().map(|moved| {
            fact("Moved since the earlier result", format!("{} of {}", moved.moved, moved.common))
        }));
        let distinct = record["consensus"]["unique"].as_u64().map_or(0, |unique| unique as usize);
        let mut notes = vec![format!(
            "Equal objects were merged: {} objects have {} distinct label tuples.",
            count(overview.n),
            count(distinct)
        )];
        let sampled = [
            ("The agreement of the clusterings", overview.members.sampled),
            ("What speaks for which number of clusters", criteria.sampled),
            ("The tracking plot", explained.tracking.sampled),
        ];
        for (what, sampled) in sampled {
            notes.extend(sampled.map(|some| {
                format!(
                    "{what} was computed on a sample of {} of {} distinct objects.",
                    count(some),
                    count(self.profiles.len())
                )
            }));
        }
        let scatter = Scatter::stored(&record["scatter"]);
        let report = shown::Report {
            title: paper::title(record),
            subtitle: format!(
                "{} clusters from {} clusterings of {} objects, by {}",
                count(k),
                count(self.profiles.n_members()),
                count(overview.n),
                record["consensus"]["method"].as_str().unwrap_or("an unknown method"),
            ),
            program: format!("consilience {}", record["version"].as_str().unwrap_or_default()),
            verdict: explained
                .verdict
                .iter()
                .map(|sentence| shown::Sentence {
                    about: sentence.about.to_owned(),
                    tone: format!("{:?}", sentence.tone).to_lowercase(),
                    text: sentence.text.clone(),
                })
                .collect(),
            facts,
            n: overview.n,
            clusters: self.clusters(explained),
            matrix: Some(self.matrix(run)?),
            scatter: scatter.map(|scatter| self.scatter(&scatter)),
            flows: self.flows(overview),
            members: self.members(overview),
            number: shown::Number {
                k,
                recommended: criteria.recommended,
                votes: criteria.rules.iter().map(|rule| (rule.rule.to_owned(), rule.k)).collect(),
                lifetimes: shown_of(&criteria.lifetimes),
                prominences: shown_of(&criteria.prominences),
                eigenvalues: shown_of(&criteria.eigenvalues),
                shares: shown_of(&criteria.shares),
                distribution: rounded(&criteria.pairs),
                undecided: rounded(&[criteria.undecided])[0],
            },
            resampled: resampled(&criteria.curves, explained.tracking.ks.last(), k),
            tracking: tracking(&explained.tracking, k),
            moved,
            trace: record["consensus"]["trace"]
                .as_array()
                .map_or_else(Vec::new, |trace| trace.iter().filter_map(Value::as_f64).collect()),
            doubtful: self.doubtful(overview),
            truth: self.truth.clone(),
            methods: shown::Methods {
                paragraph: paper::paragraph(record, (overview.safe, overview.n)),
                bibtex: paper::bibtex(record),
                command: paper::command_line(record),
                record: settings(record),
            },
            notes,
        };
        run.check()?;
        Ok(crate::page(report))
    }

    fn clusters(&self, explained: &Explained) -> Vec<shown::Cluster> {
        let facts = explained.overview.clusters.iter().zip(self.numbers);
        facts
            .zip(&explained.clusters)
            .map(|((facts, &number), name)| shown::Cluster {
                name: name.clone(),
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
        let most = self.numbers.len().min(CLUSTERS + 1);
        let place =
            |label: u32| if label == NO_CLUSTER { label } else { label.min(CLUSTERS as u32) };
        let labels: Vec<u32> = self.labels.iter().map(|&label| place(label)).collect();
        let blocks = Blocks::new(self.profiles, &labels, self.confidence, BINS, run)?;
        let bins = blocks.bins.len();
        let support = Support::new(self.profiles, &labels, most);
        let mut sums = Matrix::zeros(bins, most);
        for (s, &bin) in blocks.bin_of.iter().enumerate() {
            let w = self.profiles.weights()[s] / blocks.bins[bin as usize].weight;
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
        let of = |object: usize| match self.profiles.map()[object] {
            NO_PROFILE => (None, 0),
            s => {
                let label = self.labels[s as usize];
                let sure = thousandths(self.confidence[s as usize]);
                ((label != NO_CLUSTER).then_some(label as usize), sure)
            }
        };
        let objects = scatter.objects.iter().filter(|&&i| i < self.profiles.n_objects());
        let (clusters, confidence) = objects.map(|&i| of(i)).unzip();
        shown::Scatter {
            axes: scatter.axes.clone(),
            aspect: scatter.aspect,
            places: scatter.places.clone(),
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
        let table = Contingency::of_consensus(self.profiles, self.labels, h);
        let weights = table.column_weights();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &c)| place[c] = at);
        let names = &self.clusters[h];
        shown::Flow {
            member: named(&self.profiles.members()[h].name),
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
        let members = self.profiles.members();
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
            consensus_order(self.labels, self.confidence).into_iter().filter(unsure).collect();
        closest.sort_by(|&s, &t| margin(s).total_cmp(&margin(t)));
        closest.truncate(DOUBTFUL);
        let mut rank = vec![u32::MAX; self.profiles.len()];
        (0..).zip(&closest).for_each(|(at, &s)| rank[s as usize] = at);
        let known = self.profiles.map().iter().enumerate().filter(|(_, s)| **s != NO_PROFILE);
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
                confidence: thousandths(self.confidence[s]),
            }
        };
        objects.into_iter().map(told).collect()
    }
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

/// What moved since the earlier result, as the record tells it.
fn moved(aligned: &Value) -> Option<shown::Moved> {
    let number = |value: &Value| count(value.as_u64().unwrap_or(0) as usize);
    let text = |value: &Value| named(value.as_str().unwrap_or_default());
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(text).collect()
    };
    let moves = aligned["moves"].as_array()?.iter();
    Some(shown::Moved {
        earlier: text(&aligned["to"]),
        common: number(&aligned["common"]),
        moved: number(&aligned["moved"]),
        moves: moves.map(|m| (text(&m["from"]), text(&m["to"]), number(&m["objects"]))).collect(),
        new: texts(&aligned["new"]),
        gone: texts(&aligned["gone"]),
    })
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
fn settings(record: &Value) -> Vec<shown::Fact> {
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
    add("version".to_owned(), &record["version"]);
    add("seed".to_owned(), &record["seed"]);
    for input in record["inputs"].as_array().into_iter().flatten() {
        let name = input["file"].as_str().unwrap_or_default();
        add(format!("xxh64 of {}", named(name)), &input["xxh64"]);
    }
    for (key, value) in record["command"].as_object().into_iter().flatten() {
        add(key.replace('_', " "), value);
    }
    add("parameters of the method".to_owned(), &record["consensus"]["params"]);
    facts
}
