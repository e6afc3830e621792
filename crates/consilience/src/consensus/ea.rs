//! EA: evidence accumulation, hierarchical clustering of the co-association matrix.
//!
//! A. L. N. Fred, A. K. Jain. *Data Clustering Using Evidence Accumulation.* ICPR 2002;
//! *Combining Multiple Clusterings Using Evidence Accumulation.* IEEE TPAMI 27(6), 2005.
//!
//! The distance of two objects is $1 - v_{ij} / b_{ij}$ with $v$ the members that put them together
//! and $b$ those that label both (1 if there is none). A tree is built by single or average link
//! (also complete and weighted link), and cut at a given number of clusters or at the one of
//! longest lifetime.
//!
//! # Where we depart from the papers
//!
//! * *Range.* One cluster is left out of the choice (`k_min = 2`): its lifetime is that of "no
//!   structure at all", and the published averages never fall below 2.
//! * *Ties.* Vote counts tie all the time and ties change the tree of average link. The pair whose
//!   first objects come first merges, in an order of objects that does not depend on the file, and
//!   equal fractions of votes compare equal: see `base::linkage`.
//! * *Soft members.* Co-association is the mean inner product of memberships, scaled to 1 on the
//!   diagonal.
//!
//! # Cost
//!
//! Equal objects have distance 0 and merge first under every link, so the tree over profiles with
//! their weights is exact above height 0. Single link: time $O(u^2 r)$, memory $O(u)$. Average and
//! weighted link of complete labels: the co-association is an inner product, so groups are kept as
//! vectors, time $O(u^2 r)$ and memory $O(u K)$; a $u \times u$ table is used where that is
//! small. Complete link, and missing labels under average or weighted link, need the table:
//! $8 u^2$ bytes.

use crate::base::linkage::{self, Dense, Factored, Join, Link};
use crate::consensus::lifetime;
use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Diagnostics, Value};
use crate::consensus::params::{at_least, params};
use crate::consensus::settings::Settings;
use crate::consensus::tree::{DENSE_UP_TO, cut_tree};
use crate::ensemble::{CoAssociation, Profiles};
use crate::error::Result;
use crate::run::Run;

/// How many lifetimes the diagnostics list.
const LIFETIMES_SHOWN: usize = 50;

const REFERENCE: &str = "A. L. N. Fred, A. K. Jain. Combining Multiple Clusterings Using Evidence \
                         Accumulation. IEEE TPAMI 27(6), 2005.";

const fn info(
    name: &'static str,
    title: &'static str,
    memory: &'static str,
    build: fn(Option<usize>, &Settings) -> Result<Box<dyn ConsensusMethod>>,
) -> MethodInfo {
    MethodInfo {
        name,
        title,
        reference: REFERENCE,
        chooses_k: ChoosesK::UnlessGiven,
        soft: OnSoft::Uses,
        missing: Some("a pair is judged by the members that label both"),
        takes_start: false,
        edges: false,
        offers: Offers::TREE,
        parameters: Ea::PARAMETERS,
        time: "O(u^2 r)",
        memory,
        build,
    }
}

/// What there is to know about evidence accumulation with single link.
pub(super) static SINGLE: MethodInfo = info(
    "ea-sl",
    "evidence accumulation: single link on the co-association, k by lifetime",
    "O(u)",
    |k, settings| Ea::of(EaLink::Single, k, settings),
);

/// What there is to know about evidence accumulation with average link.
pub(super) static AVERAGE: MethodInfo = info(
    "ea-al",
    "evidence accumulation: average link on the co-association, k by lifetime",
    "O(u K); 8 u^2 bytes with missing labels",
    |k, settings| Ea::of(EaLink::Average, k, settings),
);

/// What there is to know about evidence accumulation with complete link.
pub(super) static COMPLETE: MethodInfo = info(
    "ea-cl",
    "evidence accumulation: complete link on the co-association, k by lifetime",
    "8 u^2 bytes",
    |k, settings| Ea::of(EaLink::Complete, k, settings),
);

/// What there is to know about evidence accumulation with weighted link.
pub(super) static WEIGHTED: MethodInfo = info(
    "ea-wl",
    "evidence accumulation: weighted link (WPGMA) on the co-association, k by lifetime",
    "O(u K); 8 u^2 bytes with missing labels",
    |k, settings| Ea::of(EaLink::Weighted, k, settings),
);

/// How groups of objects are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EaLink {
    /// By their most similar objects.
    Single,
    /// By the mean over pairs of objects.
    Average,
    /// By their least similar objects.
    Complete,
    /// By the mean of the two groups that merged last.
    Weighted,
}

impl EaLink {
    fn info(self) -> &'static MethodInfo {
        match self {
            EaLink::Single => &SINGLE,
            EaLink::Average => &AVERAGE,
            EaLink::Complete => &COMPLETE,
            EaLink::Weighted => &WEIGHTED,
        }
    }
}

params! {
    /// [Evidence accumulation](self): the tree of a link on the co-association, cut where the lifetime is
    /// longest.
    pub struct Ea(k?; link: EaLink): |own| { own.link.info() } {
        /// The smallest number of clusters that the lifetime rule may choose.
        k_min: usize = 2, at_least(1.0);
    }
}

impl ConsensusMethod for Ea {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, r, clusters) = (shape.u as u64, shape.r as u64, shape.total_clusters as u64);
        let dense = 8 * u * u + 64 * u;
        let vectors = 16 * u * clusters + 4 * u * r + 128 * u;
        match self.link {
            EaLink::Single => 64 * u,
            EaLink::Complete => dense,
            _ if shape.missing => dense,
            _ => vectors.max(dense.min(8 * (DENSE_UP_TO * DENSE_UP_TO) as u64)),
        }
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let u = profiles.len();
        let joins = self.tree(profiles, run)?;
        let heights: Vec<f64> = joins.iter().map(|j| 1.0 - j.similarity).collect();
        let lifetimes = lifetime::lifetimes(&heights);
        // n objects make at most n - 1 clusters that are more than the objects themselves.
        let k_max = if profiles.total_weight() > u as f64 { u } else { u - 1 };
        let chosen = lifetime::longest(&lifetimes, self.k_min..=k_max);
        // Where nothing lives, nothing is told apart.
        let k = self.k.or(chosen).unwrap_or(1);
        let mut diagnostics = Diagnostics::default();
        let shown = LIFETIMES_SHOWN.min(u);
        diagnostics.push(
            "lifetimes",
            Value::Table(vec![
                ("k".to_owned(), (1..=shown).map(|k| k as f64).collect()),
                ("lifetime".to_owned(), lifetimes[..shown].to_vec()),
            ]),
        );
        if let Some(chosen) = chosen {
            diagnostics.push("lifetime_k", Value::Integer(chosen as i64));
        }
        Ok(Consensus { diagnostics, ..cut_tree(u, &joins, k, run) })
    }
}

impl Ea {
    fn tree(&self, profiles: &Profiles, run: &Run) -> Result<Vec<Join>> {
        let (u, w) = (profiles.len(), profiles.weights());
        let co = CoAssociation::new(profiles);
        let link = match self.link {
            EaLink::Single => {
                return linkage::single(u, |s, out| co.row_into(s, 0..u, out), run);
            }
            EaLink::Average => Link::Average,
            EaLink::Complete => Link::Complete,
            EaLink::Weighted => Link::Weighted,
        };
        // Votes are whole numbers; divided by r only at the end they compare exactly.
        let votes = if profiles.is_hard() && !profiles.has_missing() {
            profiles.n_members() as f64
        } else {
            1.0
        };
        if link == Link::Complete || profiles.has_missing() || u <= DENSE_UP_TO {
            let row = |s: usize, out: &mut [f64]| {
                co.row_into(s, 0..u, out);
                if votes != 1.0 {
                    out.iter_mut().for_each(|x| *x = (*x * votes).round());
                }
            };
            return linkage::chain(Dense::new(w, link, votes, row), run);
        }
        let entries = |s: usize| {
            let mut entries = Vec::new();
            profiles.for_each_entry(s, |_, c, p| entries.push((c as u32, p)));
            if !profiles.is_hard() {
                let norm = entries.iter().map(|(_, p)| p * p).sum::<f64>().sqrt();
                entries.iter_mut().for_each(|(_, p)| *p /= norm);
            }
            entries
        };
        let store = Factored::new(w, link, votes, profiles.n_clusters(), entries);
        linkage::chain(store, run)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    const LINKS: [EaLink; 4] =
        [EaLink::Single, EaLink::Average, EaLink::Complete, EaLink::Weighted];

    fn labels(members: &[[i64; 6]], params: &Ea) -> Vec<Option<u32>> {
        let profiles = profiles(&hard_ensemble(members));
        let consensus = combine(&profiles, params, None, &Run::new(0)).unwrap();
        consensus.object_labels(&profiles)
    }

    /// Three groups of two that two of three members tell apart: heights 0 (twice two equal
    /// objects), 1/3 and so on.
    #[test]
    fn lifetime_finds_the_groups() {
        let members = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1]];
        for link in LINKS {
            let found = labels(&members, &Ea::new(link));
            assert_eq!(found, [0, 0, 1, 1, 2, 2].map(Some), "{link:?}");
            let two = labels(&members, &Ea::new(link).k(2));
            assert_eq!(two, [1, 1, 0, 0, 0, 0].map(Some), "{link:?}");
        }
    }

    #[test]
    fn refuses_no_clusters() {
        assert!(Ea::new(EaLink::Single).k(0).check().is_err());
        assert!(Ea::new(EaLink::Single).k_min(0).check().is_err());
    }

    /// Average link of objects, one by one, straight from the definition.
    fn slow_heights(profiles: &Profiles) -> Vec<f64> {
        let co = CoAssociation::new(profiles);
        let objects: Vec<usize> = (0..profiles.len())
            .flat_map(|s| std::iter::repeat_n(s, profiles.weights()[s] as usize))
            .collect();
        let mut groups: Vec<Vec<usize>> = objects.iter().map(|&s| vec![s]).collect();
        let mut heights = Vec::new();
        while groups.len() > 1 {
            let distance = |x: usize, y: usize| {
                let pairs = groups[x].iter().flat_map(|&s| groups[y].iter().map(move |&t| (s, t)));
                let total: f64 = pairs.map(|(s, t)| 1.0 - co.get(s, t)).sum();
                total / (groups[x].len() * groups[y].len()) as f64
            };
            let pairs = (0..groups.len()).flat_map(|x| (x + 1..groups.len()).map(move |y| (x, y)));
            let (x, y) = pairs
                .reduce(|a, b| if distance(b.0, b.1) < distance(a.0, a.1) - 1e-12 { b } else { a })
                .unwrap();
            heights.push(distance(x, y));
            let moved = groups.remove(y);
            groups[x].extend(moved);
        }
        heights
    }

    proptest! {
        /// Profiles are exact: the tree of objects is n - u merges at height 0, then ours. Ties are
        /// broken alike in both: the first pair by first objects.
        #[test]
        fn objects_and_profiles_have_the_same_first_heights(
            ensemble in ensembles(Kinds { weights: false, soft: false, missing: false }, 10, 4),
        ) {
            let profiles = profiles(&ensemble);
            let ea = Ea::new(EaLink::Average);
            let joins = ea.tree(&profiles, &Run::new(0).threads(1)).unwrap();
            let slow = slow_heights(&profiles);
            let zeros = slow.len() - joins.len();
            prop_assert!(slow[..zeros].iter().all(|h| h.abs() < 1e-12));
            for (fast, slow) in joins.iter().zip(&slow[zeros..]) {
                prop_assert!((1.0 - fast.similarity - slow).abs() < 1e-12);
            }
        }

        #[test]
        fn lifetimes_sum_to_one(ensemble in ensembles(Kinds::ALL, 12, 4)) {
            let profiles = profiles(&ensemble);
            for link in LINKS {
                let ea = Ea::new(link);
                let consensus = ea.solve(&profiles, None, &Run::new(0).threads(1)).unwrap();
                let Some(Value::Table(columns)) = consensus.diagnostics.get("lifetimes") else {
                    panic!("lifetimes are told");
                };
                prop_assert!((columns[1].1.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                prop_assert_eq!(consensus.dendrogram.unwrap().len(), profiles.len() - 1);
            }
        }
    }
}
