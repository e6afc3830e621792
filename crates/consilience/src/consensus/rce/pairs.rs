//! What the members say about each pair of profiles: their connective matrices, summed where they
//! are hard, factored where they are soft.

use rayon::prelude::*;

use crate::ensemble::{Code, Profiles, tally, with_codes};
use crate::linalg::vectorised;

/// The connective matrices $A^{(i)}$ of an ensemble, over pairs of profiles.
pub(super) struct Pairs<'a> {
    profiles: &'a Profiles,
    u: usize,
    n_hard: usize,
    /// How many hard members put a pair together.
    agree: Vec<u16>,
    /// How many hard members label both; `None` if all always do.
    both: Option<Vec<u16>>,
    soft: Vec<SoftRows>,
}

/// The memberships of a soft member, one row per profile.
struct SoftRows {
    member: usize,
    k: usize,
    rows: Vec<f64>,
    labelled: Vec<bool>,
}

impl SoftRows {
    /// $A^{(i)}_{st}$, unless the member does not label both.
    fn value(&self, s: usize, t: usize) -> Option<f64> {
        let row = |s: usize| &self.rows[s * self.k..(s + 1) * self.k];
        let dot = || row(s).iter().zip(row(t)).map(|(a, b)| a * b).sum::<f64>();
        // Rows sum to 1 but for rounding; a probability does not exceed it.
        (self.labelled[s] && self.labelled[t]).then(|| dot().min(1.0))
    }
}

/// The most members for which votes are counted in 16 bits.
pub(super) const MAX_MEMBERS: usize = u16::MAX as usize;

impl<'a> Pairs<'a> {
    /// Counts the votes of at most [`MAX_MEMBERS`] members.
    ///
    /// Cost: $O(u^2 r)$ time; $2 u^2$ bytes, twice that where labels are missing.
    pub(super) fn new(profiles: &'a Profiles) -> Self {
        let u = profiles.len();
        let n_hard = profiles.members().iter().filter(|m| m.is_hard()).count();
        let mut agree = vec![0; u * u];
        let mut both = profiles.has_missing().then(|| vec![0; u * u]);
        if n_hard > 0 {
            with_codes!(profiles.codes(), codes => {
                count(codes, n_hard, &mut agree, are_equal);
                if let Some(both) = &mut both {
                    count(codes, n_hard, both, are_known);
                }
            });
        }
        let soft = profiles.members().iter().enumerate().filter(|(_, m)| !m.is_hard());
        let soft = soft.map(|(h, _)| soft_rows(profiles, h)).collect();
        Pairs { profiles, u, n_hard, agree, both, soft }
    }

    pub(super) fn profiles(&self) -> &'a Profiles {
        self.profiles
    }

    /// How many hard members put `s` and `t` together, and how many label both.
    pub(super) fn votes(&self, s: usize, t: usize) -> (f64, f64) {
        let at = s * self.u + t;
        let both = self.both.as_ref().map_or(self.n_hard as f64, |both| f64::from(both[at]));
        (f64::from(self.agree[at]), both)
    }

    /// [`votes`](Self::votes) of `s` and the profiles from `left` on, as many as there is room for.
    #[inline(always)]
    pub(super) fn votes_into(
        &self,
        s: usize,
        left: usize,
        agree: &mut [f64],
        observed: &mut [f64],
    ) {
        let at = s * self.u + left;
        agree.iter_mut().zip(&self.agree[at..]).for_each(|(x, &votes)| *x = f64::from(votes));
        match &self.both {
            Some(both) => {
                observed.iter_mut().zip(&both[at..]).for_each(|(x, &votes)| *x = f64::from(votes));
            }
            None => observed.fill(self.n_hard as f64),
        }
    }

    /// The connective values of the soft members that label both.
    pub(super) fn soft_values(&self, s: usize, t: usize) -> impl Iterator<Item = f64> {
        self.soft.iter().filter_map(move |rows| rows.value(s, t))
    }

    pub(super) fn has_soft(&self) -> bool {
        !self.soft.is_empty()
    }

    /// Calls `visit(h, value)` for the connective value of every member `h` that labels both.
    pub(super) fn for_each_value(&self, s: usize, t: usize, mut visit: impl FnMut(usize, f64)) {
        for (h, member) in self.profiles.members().iter().enumerate() {
            if member.is_hard()
                && let (Some(a), Some(b)) = (self.profiles.label(s, h), self.profiles.label(t, h))
            {
                visit(h, f64::from(u8::from(a == b)));
            }
        }
        for rows in &self.soft {
            if let Some(value) = rows.value(s, t) {
                visit(rows.member, value);
            }
        }
    }

    /// The mean of $A^{(i)}_{st}$ over the members that label both, if any does.
    pub(super) fn mean(&self, s: usize, t: usize) -> Option<f64> {
        let (mut sum, mut observed) = self.votes(s, t);
        for value in self.soft_values(s, t) {
            sum += value;
            observed += 1.0;
        }
        (observed > 0.0).then(|| sum / observed)
    }
}

/// For every pair of rows of `codes`, in how many columns `test` holds.
fn count<C: Code>(
    codes: &[C],
    columns: usize,
    counts: &mut [u16],
    test: impl Fn(C, C) -> bool + Sync,
) {
    let u = codes.len() / columns;
    counts.par_chunks_exact_mut(u).enumerate().for_each(|(s, out)| {
        let own = &codes[s * columns..(s + 1) * columns];
        tally(codes.len());
        vectorised(
            #[inline(always)]
            || {
                for (out, other) in out.iter_mut().zip(codes.chunks_exact(columns)) {
                    *out = own.iter().zip(other).map(|(&a, &b)| u16::from(test(a, b))).sum();
                }
            },
        );
    });
}

#[inline(always)]
fn are_equal<C: Code>(a: C, b: C) -> bool {
    a == b && a != C::MISSING
}

#[inline(always)]
fn are_known<C: Code>(a: C, b: C) -> bool {
    a != C::MISSING && b != C::MISSING
}

fn soft_rows(profiles: &Profiles, member: usize) -> SoftRows {
    let clusters = profiles.members()[member].clusters.clone();
    let (u, k) = (profiles.len(), clusters.len());
    let mut rows = vec![0.0; u * k];
    let mut labelled = vec![false; u];
    for s in 0..u {
        profiles.for_each_entry(s, |h, c, p| {
            if h == member {
                rows[s * k + c - clusters.start] = p;
                labelled[s] = true;
            }
        });
    }
    SoftRows { member, k, rows, labelled }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    proptest! {
        #[test]
        fn values_are_products_of_membership_rows(ensemble in ensembles(Kinds::ALL, 10, 5)) {
            let profiles = profiles(&ensemble);
            let pairs = Pairs::new(&profiles);
            let h = dense_incidence(&profiles);
            for s in 0..profiles.len() {
                for t in 0..profiles.len() {
                    let mut values = vec![None; profiles.n_members()];
                    pairs.for_each_value(s, t, |h, value| values[h] = Some(value));
                    let (mut agree, mut both, mut soft) = (0.0, 0.0, Vec::new());
                    for (i, member) in profiles.members().iter().enumerate() {
                        let observed = profiles.is_labelled(s, i) && profiles.is_labelled(t, i);
                        let clusters = member.clusters.clone();
                        let expected: f64 = clusters.map(|c| h[(s, c)] * h[(t, c)]).sum();
                        prop_assert_eq!(values[i], observed.then_some(expected.min(1.0)));
                        match values[i] {
                            Some(value) if member.is_hard() => {
                                agree += value;
                                both += 1.0;
                            }
                            Some(value) => soft.push(value),
                            None => {}
                        }
                    }
                    prop_assert_eq!(pairs.votes(s, t), (agree, both));
                    let (mut agreeing, mut observing) = ([0.0; 2], [0.0; 2]);
                    pairs.votes_into(s, t, &mut agreeing, &mut observing);
                    prop_assert_eq!((agreeing[0], observing[0]), (agree, both));
                    prop_assert_eq!(pairs.soft_values(s, t).collect::<Vec<_>>(), soft);
                }
            }
        }
    }
}
