//! How often the ends of edges are together.

use rayon::prelude::*;

use crate::ensemble::labels::{Code, with_codes};
use crate::ensemble::profiles::tally::tally;
use crate::ensemble::profiles::{NO_PROFILE, Profiles};
use crate::graph::Edges;

/// Edges of one unit of parallel work.
const CHUNK: usize = 1 << 14;

/// What the members say of the edges of a graph of the objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// For every edge the share of the members that put its ends together among those that label both; NaN if none
    /// does.
    pub shares: Vec<f32>,
    /// How much more the members agree on which edges lie within a cluster than they would by chance (Fleiss' kappa),
    /// if there is something to compare.
    pub agreement: Option<f64>,
}

/// What is counted of some edges.
#[derive(Clone, Copy, Default)]
struct Sums {
    together: u64,
    both: u64,
    /// Pairs of members of which one puts the ends together and the other does not.
    divided: u64,
    pairs: u64,
}

impl Linked {
    /// What the members of `profiles`, all hard, say of `edges`. Edges from an object to itself do not count.
    ///
    /// # Panics
    ///
    /// If a member is soft, or the edges are of other objects.
    ///
    /// # Cost
    ///
    /// Time $O(m r)$, four bytes for every edge.
    pub fn new(profiles: &Profiles, edges: &Edges) -> Self {
        Self::among(profiles, edges, |_| true)
    }

    /// The same, the agreement being that on edges that are `counted`.
    pub(crate) fn among(
        profiles: &Profiles,
        edges: &Edges,
        counted: impl Fn(usize) -> bool + Sync,
    ) -> Self {
        assert!(profiles.is_hard(), "soft members put nothing together for certain");
        assert_eq!(profiles.n_objects(), edges.n_objects(), "edges of the same objects");
        let (r, map) = (profiles.n_members(), profiles.map());
        tally(edges.len() * r);
        let mut shares = vec![0.0f32; edges.len()];
        let sums: Vec<Sums> = with_codes!(profiles.codes(), codes => {
            let of = |pair: &[u32; 2]| -> (u32, u32) {
                let [s, t] = pair.map(|end| map[end as usize]);
                if s == NO_PROFILE || t == NO_PROFILE {
                    return (0, 0);
                }
                let [s, t] = [s, t].map(|s| &codes[s as usize * r..(s as usize + 1) * r]);
                if !profiles.has_missing() {
                    return (s.iter().zip(t).map(|(a, b)| u32::from(a == b)).sum(), r as u32);
                }
                let mut counts = (0, 0);
                for (a, b) in s.iter().zip(t) {
                    let both = a.index().is_some() && b.index().is_some();
                    counts.0 += u32::from(both && a == b);
                    counts.1 += u32::from(both);
                }
                counts
            };
            let chunks = shares.par_chunks_mut(CHUNK).zip(edges.pairs().par_chunks(CHUNK));
            chunks.enumerate().map(|(chunk, (shares, pairs))| {
                let mut sums = Sums::default();
                for ((share, pair), edge) in shares.iter_mut().zip(pairs).zip(chunk * CHUNK..) {
                    let (together, both) = of(pair);
                    *share = if both > 0 { together as f32 / both as f32 } else { f32::NAN };
                    if pair[0] != pair[1] && counted(edge) {
                        let (together, both) = (u64::from(together), u64::from(both));
                        sums.together += together;
                        sums.both += both;
                        sums.divided += together * (both - together);
                        sums.pairs += both * both.saturating_sub(1);
                    }
                }
                sums
            }).collect()
        });
        let sum = |of: fn(&Sums) -> u64| sums.iter().map(of).sum::<u64>() as f64;
        let within = sum(|s| s.together) / sum(|s| s.both);
        let divided = 2.0 * sum(|s| s.divided) / sum(|s| s.pairs);
        let agreement = 1.0 - divided / (2.0 * within * (1.0 - within));
        Linked { shares, agreement: agreement.is_finite().then_some(agreement) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, ensembles, profiles};

    proptest! {
        #[test]
        fn shares_and_agreement_are_those_of_single_labels(
            ensemble in ensembles(Kinds { soft: false, ..Kinds::ALL }, 10, 5),
            ends in prop::collection::vec((0..10u32, 0..10u32), 1..20),
        ) {
            let n = ensemble.n_objects() as u32;
            let pairs: Vec<[u32; 2]> = ends.iter().map(|&(a, b)| [a % n, b % n]).collect();
            let edges = Edges::new(n as usize, pairs.clone(), None).unwrap();
            let found = Linked::new(&profiles(&ensemble), &edges);
            let hard: Vec<_> = ensemble.members().iter().map(crate::ensemble::Member::hardened).collect();
            let votes = |[a, b]: [u32; 2]| -> Vec<bool> {
                let of = |end: u32, h: usize| hard[h].labels().get(end as usize);
                let both = (0..hard.len()).filter_map(|h| Some((of(a, h)?, of(b, h)?)));
                both.map(|(a, b)| a == b).collect()
            };
            let (mut alike, mut all, mut yes, mut asked) = (0.0, 0.0, 0.0, 0.0);
            for (&pair, &share) in pairs.iter().zip(&found.shares) {
                let votes = votes(pair);
                let together = votes.iter().filter(|&&vote| vote).count();
                prop_assert!(votes.is_empty() == share.is_nan());
                prop_assert!(votes.is_empty() || share == together as f32 / votes.len() as f32);
                if pair[0] != pair[1] {
                    yes += together as f64;
                    asked += votes.len() as f64;
                    for i in 0..votes.len() {
                        for j in (0..votes.len()).filter(|&j| j != i) {
                            alike += f64::from(votes[i] == votes[j]);
                            all += 1.0;
                        }
                    }
                }
            }
            let p = yes / asked;
            let chance = p * p + (1.0 - p) * (1.0 - p);
            let kappa = (alike / all - chance) / (1.0 - chance);
            match found.agreement {
                Some(agreement) => prop_assert!((agreement - kappa).abs() < 1e-9),
                None => prop_assert!(!kappa.is_finite()),
            }
        }
    }
}
