//! Which resolution: clusterings at several levels, each with several seeds, and what they say of the levels.
//!
//! People vary a resolution and a seed and hold hundreds of clusterings. Of every level it is told how much its seeds agree
//! ([`Stability`], with an interval), how many clusters they have, and how much its clustering agrees with that of the next
//! level. [Recommended](Resolution::recommended) are levels whose seeds agree more than those of the levels beside
//! them and clearly more than by chance; none may be. Clusters keep their ids from level to
//! level, and how they come apart is a [`Tree`].
//!
//! The clustering of a recommended level is the consensus of its members by the method that `auto` takes, with as many clusters as
//! the median of them has; how sure its labels are, the clusterings of all stable levels tell (`sure`). At the other levels, which only the tree shows, it is a vote of the members (`relabel-vote`).
//!
//! # Cost
//!
//! Level by level: equal objects are merged anew for each, since hundreds of clusterings together may tell nearly all
//! objects apart. Time $O(n r + \sum_l u_l s_l^2)$ for $s_l$ members of a level and $u_l$ different objects in it, memory
//! of the largest level and four bytes for every object and level.

mod choice;
mod fitted;
mod levels;
mod record;
mod sure;
#[cfg(test)]
mod tests;
mod tree;

use serde::{Deserialize, Serialize};

use crate::consensus::{auto, method};
use crate::ensemble::{Contingency, Ensemble, Member, Profiles};
use crate::error::{Error, Result};
use crate::judge::{FEWEST, Stability};
use crate::metrics::element_similarity;
use crate::run::Run;
use crate::words::{counted, listed, named};

use self::fitted::Fitted;
use self::levels::Group;
pub use self::levels::Levels;
pub use self::record::{LevelRecord, ResolutionRecord};
use self::sure::Sure;
use self::tree::continued;
pub use self::tree::{Edge, Node, Tree};

/// Levels that have a consensus at most: the recommended ones, and one that is asked for.
const CONSENSUS_AT: u64 = choice::MOST as u64 + 1;
/// The method of levels that only the tree shows.
const VOTE: &str = "relabel-vote";

/// What is to be resolved.
#[derive(Clone, Debug)]
pub struct Resolve {
    /// Which member was made at which level.
    pub levels: Levels,
    /// The level to take, whatever is recommended.
    pub level: Option<String>,
}

/// How many clusters the members of a level have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// The median.
    pub median: f64,
    /// The fewest.
    pub least: usize,
    /// The most.
    pub most: usize,
}

/// What is known of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// What it is called.
    pub name: String,
    /// How many members it has.
    pub members: usize,
    /// How many clusters they have.
    pub counts: Counts,
    /// How much they agree; `None` if there is one, or no two label an object in common.
    pub stability: Option<Stability>,
    /// The element-centric similarity of its clustering with that of the next level.
    pub next: Option<f64>,
    /// The method that its clustering is from.
    pub method: &'static str,
    /// The place in `ids` of the cluster of every object, or [`NO_CLUSTER`](crate::consensus::NO_CLUSTER).
    places: Vec<u32>,
    /// The id of every cluster, by falling size.
    pub ids: Vec<u32>,
    /// The weight of every cluster.
    sizes: Vec<f64>,
    /// How sure the label of every object is, at levels with a consensus.
    pub confidence: Option<Vec<f64>>,
    /// The share of the level's members that label every object, if some label is missing.
    pub coverage: Option<Vec<f64>>,
}

impl Level {
    /// The number of objects.
    pub fn n_objects(&self) -> usize {
        self.places.len()
    }

    /// The id of the cluster of object `i`.
    pub fn label(&self, i: usize) -> Option<u32> {
        self.ids.get(self.places[i] as usize).copied()
    }

    /// The ids of the clusters of all objects.
    pub fn labels(&self) -> Vec<Option<u32>> {
        (0..self.places.len()).map(|i| self.label(i)).collect()
    }
}

/// What clusterings at several levels say.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The levels, from coarse to fine.
    pub levels: Vec<Level>,
    /// The places of the recommended levels, the first choice first; none if no level is stable.
    pub recommended: Vec<usize>,
    /// The place of the level that was taken: the one asked for, or the first that is recommended.
    pub chosen: Option<usize>,
    /// How clusters come apart from level to level.
    pub tree: Tree,
}

impl Resolve {
    /// Resolves the levels of `ensemble`; of soft members the largest membership counts.
    ///
    /// # Errors
    ///
    /// If the levels are of other members, if no level has two of them, if the level that is asked for is not there, if
    /// memory does not suffice, or if the run is cancelled.
    pub fn of(&self, ensemble: &Ensemble, run: &Run) -> Result<Resolution> {
        let members = ensemble.members();
        if self.levels.last_member() >= members.len() {
            let (what, by) = ("the list of levels", "the ensemble");
            Error::unless_length(what, self.levels.last_member() + 1, by, members.len())?;
        }
        if !ensemble.is_hard() {
            run.warn("levels are told by hard labels: of each soft membership the largest is used");
        }
        let counts: Vec<usize> = members.iter().map(|m| m.clusters().len()).collect();
        let groups = self.levels.clone().coarse_first(|of| median(of.iter().map(|&m| counts[m])));
        let asked = self.asked(&groups)?;
        let single = groups.iter().filter(|group| group.members.len() < 2);
        let single: Vec<String> = single.map(|group| format!("`{}`", named(&group.name))).collect();
        if single.len() == groups.len() && asked.is_none() {
            return Err(Error::Empty {
                what: "the set of levels with two clusterings".to_owned(),
                hint: "how much seeds agree needs several clusterings at each level: run the \
                       clusterer with other seeds, or choose a level yourself"
                    .to_owned(),
            });
        } else if !single.is_empty() {
            let has = if single.len() == 1 { "level has" } else { "levels have" };
            run.warn(&format!(
                "{has} one clustering only, of which nothing can be told but its clusters: {}",
                listed(&single, 5)
            ));
        }
        let pairs = groups.iter().filter(|group| group.members.len() == 2);
        let pairs: Vec<String> = pairs.map(|group| format!("`{}`", named(&group.name))).collect();
        if !pairs.is_empty() {
            let has = if pairs.len() == 1 { "level has" } else { "levels have" };
            run.warn(&format!(
                "{has} two clusterings only, too few to tell how certain their agreement is, and cannot be recommended: {}",
                listed(&pairs, 5)
            ));
        }
        let n = ensemble.n_objects() as u64;
        let widest = groups.iter().map(|group| group.members.len()).max().unwrap_or(0) as u64;
        run.ask_memory(
            &format!("resolving {} levels of {n} objects", groups.len()),
            n * (4 * groups.len() as u64 + 8 * widest + 40 + CONSENSUS_AT * Sure::COST),
            "leave levels out, or give fewer clusterings at a time",
        )?;
        resolved(ensemble, groups, asked, run)
    }

    /// The place of the level that is asked for.
    fn asked(&self, groups: &[Group]) -> Result<Option<usize>> {
        let Some(name) = &self.level else { return Ok(None) };
        let value = |text: &str| text.trim().parse::<f64>().ok();
        let same = |group: &Group| {
            group.name == name.trim() || value(&group.name).is_some_and(|x| value(name) == Some(x))
        };
        let found = groups.iter().position(same);
        let known = groups.iter().map(|group| group.name.as_str());
        found.map(Some).ok_or_else(|| Error::unknown_name("level", name, known))
    }
}

/// The levels of `groups`, of which one may be asked for.
fn resolved(
    ensemble: &Ensemble,
    groups: Vec<Group>,
    asked: Option<usize>,
    run: &Run,
) -> Result<Resolution> {
    let (total, vote) = (groups.len() as u64, method(VOTE)?);
    let mut found = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        run.tick("levels", at as u64, Some(total))?;
        let profiles = profiles_of(ensemble, group, run)?;
        let stability = Stability::of(&profiles, at as u64, run)?;
        let fitted = Fitted::new(&profiles, vote, None, false, run)?;
        found.push((Counts::of(&profiles), stability, fitted));
    }
    let known = found.iter().map(|(counts, stability, _)| choice::Known {
        beyond: stability.filter(|s| !s.is_trivial()).map(|s| s.beyond_chance),
        clusters: counts.median,
    });
    let known: Vec<choice::Known> = known.collect();
    let recommended = choice::recommended(&known);
    let chosen = asked.or(recommended.first().copied());
    let more = asked.filter(|at| !recommended.contains(at));
    let with_consensus: Vec<usize> = recommended.iter().copied().chain(more).collect();
    for (done, &at) in with_consensus.iter().enumerate() {
        run.tick("consensus of levels", done as u64, None)?;
        let profiles = profiles_of(ensemble, &groups[at], run)?;
        // Of two middle numbers the larger, so that some member has as many.
        let k = (found[at].0.median.ceil() as usize).clamp(1, profiles.len());
        let info = auto(&profiles, k, run).info;
        found[at].2 = Fitted::new(&profiles, info, Some(k), true, run)?;
    }
    let stable: Vec<bool> = known.iter().map(choice::Known::is_stable).collect();
    let mut all_sure: Vec<(usize, Sure)> = with_consensus
        .iter()
        .map(|&at| (at, Sure::new(found[at].2.places.clone(), found[at].2.sizes.len())))
        .collect();
    for (at, group) in groups.iter().enumerate() {
        run.tick("confidence", at as u64, Some(total))?;
        let mut told = all_sure.iter_mut().filter(|(own, _)| stable[at] || *own == at).peekable();
        if told.peek().is_some() {
            let profiles = profiles_of(ensemble, group, run)?;
            told.try_for_each(|(_, sure)| sure.listen(&profiles, ensemble.weights(), run))?;
        }
    }
    for (at, sure) in all_sure {
        found[at].2.confidence = Some(sure.confidence(ensemble.weights()));
    }
    run.install(|| Resolution::assembled(groups, found, recommended, chosen, ensemble.weights()))
}

impl Resolution {
    fn assembled(
        groups: Vec<Group>,
        found: Vec<(Counts, Option<Stability>, Fitted)>,
        recommended: Vec<usize>,
        chosen: Option<usize>,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let mut levels: Vec<Level> = Vec::with_capacity(groups.len());
        let (mut tree, mut free) = (Tree::default(), 0);
        for (at, (group, (counts, stability, fitted))) in groups.into_iter().zip(found).enumerate()
        {
            let k = fitted.sizes.len();
            let sure = fitted.mean_confidence(weights);
            let ids = if let Some(before) = levels.last_mut() {
                let shared = Contingency::of_labels(&before.places, &fitted.places, weights)?;
                before.next = Some(element_similarity(&shared));
                let ids = continued(&before.ids, k, &shared, &mut free);
                let (above, below) =
                    ((&before.ids[..], &before.sizes[..]), (&ids[..], &fitted.sizes[..]));
                tree.add_edges(at - 1, above, below, &shared);
                ids
            } else {
                free = k as u32;
                (0..free).collect()
            };
            tree.nodes.extend((0..k).map(|j| Node {
                level: at,
                cluster: ids[j],
                size: fitted.sizes[j],
                recovery: fitted.recovery[j],
                confidence: sure.as_ref().map(|sure| sure[j]),
            }));
            let Fitted { method, places, sizes, confidence, coverage, .. } = fitted;
            let (name, members) = (group.name, group.members.len());
            levels.push(Level {
                name,
                members,
                counts,
                stability,
                next: None,
                method,
                places,
                ids,
                sizes,
                confidence,
                coverage,
            });
        }
        Ok(Resolution { levels, recommended, chosen, tree })
    }

    /// The level that was taken.
    pub fn chosen_level(&self) -> Option<&Level> {
        self.chosen.map(|at| &self.levels[at])
    }

    /// The names of the recommended levels, the first choice first.
    pub fn recommended_names(&self) -> Vec<String> {
        self.recommended.iter().map(|&at| self.levels[at].name.clone()).collect()
    }

    /// What is said of the choice, in a sentence.
    pub fn verdict(&self) -> String {
        let level = |at: usize| {
            let level = &self.levels[at];
            let agree = level.stability.map_or(0.0, |s| s.beyond_chance.value);
            let clusters = counted(level.ids.len(), "cluster");
            format!("{} ({clusters}, {agree:.2} beyond chance)", named(&level.name))
        };
        let Some((first, others)) = self.recommended.split_first() else {
            if self.levels.iter().all(|level| level.members < FEWEST) {
                return format!(
                    "No level can be called stable: that takes {FEWEST} clusterings of a level, and none has as many"
                );
            }
            return format!(
                "No level is stable: nowhere do clusterings of different seeds agree at least {} of the way from chance \
                 to full agreement",
                choice::STABLE
            );
        };
        let others: Vec<String> = others.iter().map(|&at| level(at)).collect();
        let others = match others.as_slice() {
            [] => String::new(),
            some => format!("; also stable: {}", some.join(", ")),
        };
        format!("Recommended level: {}{others}", level(*first))
    }
}

impl Counts {
    fn of(profiles: &Profiles) -> Self {
        let weights = profiles.cluster_weights();
        let of = |clusters: &std::ops::Range<usize>| {
            weights[clusters.clone()].iter().filter(|&&w| w > 0.0).count()
        };
        let counts: Vec<usize> = profiles.members().iter().map(|m| of(&m.clusters)).collect();
        Counts {
            median: median(counts.iter().copied()),
            least: counts.iter().copied().min().unwrap_or(0),
            most: counts.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The median of some numbers; 0 of none.
fn median(numbers: impl Iterator<Item = usize>) -> f64 {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    let at = |i: usize| numbers.get(i).map_or(0.0, |&x| x as f64);
    let half = numbers.len() / 2;
    if numbers.len() % 2 == 1 { at(half) } else { 0.5 * (at(half.saturating_sub(1)) + at(half)) }
}

/// The distinct objects of the members of a level.
fn profiles_of(ensemble: &Ensemble, group: &Group, run: &Run) -> Result<Profiles> {
    let hard = |&m: &usize| -> Member { ensemble.members()[m].hardened().into() };
    let mut own = Ensemble::new(group.members.iter().map(hard).collect())?;
    if let Some(weights) = ensemble.weights() {
        own = own.with_weights(weights.to_vec())?;
    }
    Profiles::new(&own, run)
}
