//! The components that a majority joins after the first member, the first two, and so on.
//!
//! One comparison of all pairs serves all prefixes: votes grow member by member anyway, so each
//! member's joins are noted as its votes come in, in sets of its own.

// Only what is inlined into the dispatched call is compiled for the vector unit.
#![allow(clippy::inline_always)]

use crate::ensemble::pairs::blocks::{
    Ballot, Blocks, Contents, Joins, LANES, Lane, by_workers, sorted_by_labels, with_lane,
};
use crate::ensemble::pairs::majority::Majority;
use crate::ensemble::profiles::Profiles;
use crate::error::Result;
use crate::run::Run;

/// The component of every profile after each member, by number of members less one.
///
/// Members count in the order they stand in. For hard profiles.
///
/// # Cost
///
/// Time $O(u^2 r)$, 64 pairs at once; memory $O(u r)$ for every thread.
pub(crate) fn components_of_prefixes(
    profiles: &Profiles,
    majority: Majority,
    run: &Run,
) -> Result<Vec<Vec<u32>>> {
    let (u, r) = (profiles.len(), profiles.n_members());
    let bytes = run.n_threads() * (u.div_ceil(LANES) * LANES) * r * 12;
    run.ask_memory("the convergence of majority voting", bytes as u64, "take fewer members")?;
    run.install(|| {
        let order = sorted_by_labels(profiles);
        let joins = with_lane!(profiles, L => {
            let blocks = Blocks::<L>::new(profiles, &order);
            if profiles.has_missing() {
                compare::<L, true>(&blocks, majority, run)?
            } else {
                compare::<L, false>(&blocks, majority, run)?
            }
        });
        Ok(joins.into_iter().map(|joins| joins.labels(&order).0).collect())
    })
}

/// Compares all blocks with each other; the joins of every prefix.
fn compare<L: Lane, const GAPS: bool>(
    blocks: &Blocks<L>,
    majority: Majority,
    run: &Run,
) -> Result<Vec<Joins>> {
    let (n_blocks, r) = (blocks.n_blocks(), blocks.n_members());
    let needed: Vec<L> = (1..=r as u32).map(|h| L::count(majority.needed(h) as usize)).collect();
    let contents = &Contents::new(blocks);
    let arch = pulp::Arch::new();
    let new = || vec![Joins::new(n_blocks * LANES); r];
    let visit = |joins: &mut Vec<Joins>, i: usize| {
        run.tick("following the votes", i as u64, Some(n_blocks as u64))?;
        let needed = &needed;
        arch.dispatch(Strip::<L, GAPS> { blocks, contents, majority, needed, i, joins });
        Ok(())
    };
    let merge = |a: Vec<Joins>, b: Vec<Joins>| -> Vec<Joins> {
        a.into_iter().zip(b).map(|(a, b)| a.merged_with(b)).collect()
    };
    by_workers(n_blocks, run.n_threads(), new, visit, merge)
}

/// Block `i`, to be compared with itself and all that follow.
struct Strip<'a, L, const GAPS: bool> {
    blocks: &'a Blocks<L>,
    contents: &'a Contents,
    majority: Majority,
    /// For every number of members less one: the votes that join, where all label both.
    needed: &'a [L],
    i: usize,
    joins: &'a mut [Joins],
}

impl<L: Lane, const GAPS: bool> pulp::WithSimd for Strip<'_, L, GAPS> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let r = self.blocks.n_members();
        let tuples = self.blocks.tuples(self.i);
        for j in self.i..self.blocks.n_blocks() {
            if !self.may_join(j) {
                continue;
            }
            let block = self.blocks.block(j);
            for (lane, tuple) in tuples.chunks_exact(r).enumerate() {
                let place = self.i * LANES + lane;
                let mut ballot = Ballot::<L, GAPS>::new();
                for (h, (&label, labels)) in tuple.iter().zip(block.chunks_exact(LANES)).enumerate()
                {
                    ballot.add(label, labels);
                    let joined = ballot.joined(self.majority, self.needed[h]);
                    self.joins[h].join(place, j * LANES, &joined);
                }
            }
        }
    }
}

impl<L: Lane, const GAPS: bool> Strip<'_, L, GAPS> {
    /// Whether some prefix may join a pair of this block and block `j`.
    #[inline(always)]
    fn may_join(&self, j: usize) -> bool {
        let (mut votes, mut both) = (0, 0);
        self.contents.common(self.i, j).any(|(may_vote, labels)| {
            votes += u32::from(may_vote);
            both += u32::from(labels);
            self.majority.joins(votes, both)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::pairs::agreement::agreement;
    use crate::ensemble::{Ensemble, LabelEncoder};
    use crate::testing::{Kinds, ensembles, profiles};

    /// The partition of the objects that have a label, clusters numbered by first appearance.
    fn partition(profiles: &Profiles, components: &[u32]) -> Vec<Option<usize>> {
        let mut encoder = LabelEncoder::new();
        for component in profiles.expand(components) {
            match component {
                Some(c) => encoder.push_integer(i64::from(c)),
                None => encoder.push_missing(),
            }
        }
        encoder.finish("").labels().iter().collect()
    }

    proptest! {
        /// Each prefix is the agreement of an ensemble of just these members.
        #[test]
        fn prefixes_are_ensembles_of_their_own(
            missing in ensembles(Kinds::HARD, 90, 6),
            complete in ensembles(Kinds::PLAIN, 90, 6),
            p in 0u32..3,
        ) {
            let majority = Majority::new(p, 3).unwrap();
            for ensemble in [missing, complete] {
                let whole = profiles(&ensemble);
                let run = Run::new(0).threads(2);
                let prefixes = components_of_prefixes(&whole, majority, &run).unwrap();
                prop_assert_eq!(prefixes.len(), ensemble.members().len());
                for (h, components) in prefixes.iter().enumerate() {
                    let members = ensemble.members()[..=h].to_vec();
                    let prefix = profiles(&Ensemble::new(members).unwrap());
                    let alone = agreement(&prefix, majority, &run).unwrap();
                    let expected = partition(&prefix, &alone.components);
                    let mut found = partition(&whole, components);
                    // Objects that none of these members labels are clusters of their own here.
                    for (found, expected) in found.iter_mut().zip(&expected) {
                        *found = found.filter(|_| expected.is_some());
                    }
                    let mut seen = Vec::new();
                    for found in found.iter_mut().flatten() {
                        *found = seen.iter().position(|s| s == found).unwrap_or_else(|| {
                            seen.push(*found);
                            seen.len() - 1
                        });
                    }
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
