//! The co-association of two profiles: the share of members that put them together.
//!
//! Single entries and rows are computed when asked for; the $u \times u$ matrix is built only by
//! those that truly need it. Missing labels are read as `known`: a pair is judged by the members
//! that label both, and is 0 where there is none.

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::labels::{Code, with_codes};
use crate::ensemble::profiles::Profiles;
use crate::ensemble::profiles::tally::tally;
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::run::Run;

/// Co-associations of the profiles of an ensemble.
///
/// For hard members entry $(s, t)$ is $v_{st} / b_{st}$ with $v$ the members that give both the same
/// label and $b$ those that label both. For soft members it is the mean of the inner products of
/// their memberships, scaled so that every profile has co-association 1 with itself (otherwise an
/// object would look far from its own copies).
#[derive(Clone, Debug)]
pub struct CoAssociation<'a> {
    profiles: &'a Profiles,
    /// Of profiles with soft members: $1 / \sqrt{C_{ss}}$ of the unscaled co-association.
    scale: Option<Vec<f64>>,
}

impl<'a> CoAssociation<'a> {
    /// The co-associations of `profiles`.
    pub fn new(profiles: &'a Profiles) -> Self {
        let mut co = CoAssociation { profiles, scale: None };
        if !profiles.is_hard() {
            let own = |s: usize| co.soft(s, s);
            co.scale = Some((0..profiles.len()).map(|s| 1.0 / own(s).sqrt()).collect());
        }
        co
    }

    /// The co-association of profiles `s` and `t`.
    pub fn get(&self, s: usize, t: usize) -> f64 {
        let mut out = [0.0];
        self.row_into(s, t..t + 1, &mut out);
        out[0]
    }

    /// The co-associations of these profiles with all, one row each.
    ///
    /// # Cost
    ///
    /// Time $O(m u r)$ and memory $8 m u$ bytes for $m$ rows, which is not asked for here.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn rows(&self, rows: &[usize], run: &Run) -> Result<Matrix> {
        let u = self.profiles.len();
        let mut all = Matrix::zeros(rows.len(), u);
        run.install(|| {
            let chunks = all.as_mut_slice().par_chunks_mut(u.max(1)).zip(rows);
            chunks.try_for_each(|(row, &s)| {
                self.row_into(s, 0..u, row);
                run.check()
            })
        })?;
        Ok(all)
    }

    /// The co-association of every two profiles; see [`rows`](Self::rows).
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn matrix(&self, run: &Run) -> Result<Matrix> {
        self.rows(&(0..self.profiles.len()).collect::<Vec<_>>(), run)
    }

    /// Writes the co-associations of `s` with the profiles `range` into `out`.
    ///
    /// # Panics
    ///
    /// If `out` does not hold one number a profile of `range`.
    pub fn row_into(&self, s: usize, range: Range<usize>, out: &mut [f64]) {
        assert_eq!(range.len(), out.len(), "one number a profile");
        if let Some(scale) = &self.scale {
            for (t, out) in range.zip(out) {
                *out = self.soft(s, t) * scale[s] * scale[t];
            }
            return;
        }
        tally(out.len() * self.profiles.n_members());
        let (r, complete) = (self.profiles.n_members(), !self.profiles.has_missing());
        with_codes!(self.profiles.codes(), codes => {
            let row = &codes[s * r..(s + 1) * r];
            let others = codes[range.start * r..range.end * r].chunks_exact(r);
            vectorised(#[inline(always)] || {
                if complete {
                    for (other, out) in others.clone().zip(&mut *out) {
                        *out = f64::from(agreements(row, other)) / r as f64;
                    }
                } else {
                    for (other, out) in others.clone().zip(&mut *out) {
                        let (agree, both) = known_agreements(row, other);
                        *out = if both == 0 { 0.0 } else { f64::from(agree) / f64::from(both) };
                    }
                }
            });
        });
    }

    /// The mean inner product of the memberships over the members that label both, unscaled.
    fn soft(&self, s: usize, t: usize) -> f64 {
        let profiles = self.profiles;
        let (mut sum, mut both) = (0.0, 0.0);
        let mut a = vec![0.0; profiles.n_clusters()];
        profiles.for_each_entry(s, |_, c, p| a[c] = p);
        profiles.for_each_entry(t, |_, c, p| sum += a[c] * p);
        for h in 0..profiles.n_members() {
            both += f64::from(u8::from(profiles.is_labelled(s, h) && profiles.is_labelled(t, h)));
        }
        if both == 0.0 { 0.0 } else { sum / both }
    }
}

/// In how many places two complete tuples agree.
#[inline(always)]
fn agreements<C: Code>(a: &[C], b: &[C]) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a == b)).sum()
}

/// In how many places two tuples agree, and how many places both have.
#[inline(always)]
fn known_agreements<C: Code>(a: &[C], b: &[C]) -> (u32, u32) {
    let (mut agree, mut both) = (0, 0);
    for (&a, &b) in a.iter().zip(b) {
        let known = a != C::MISSING && b != C::MISSING;
        both += u32::from(known);
        agree += u32::from(known && a == b);
    }
    (agree, both)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, hard_ensemble, profiles};

    #[test]
    fn share_of_members_that_agree() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1], [0, 1, 1], [5, 5, 5]]));
        let co = CoAssociation::new(&profiles);
        assert_eq!((co.get(0, 1), co.get(0, 2), co.get(1, 1)), (2.0 / 3.0, 1.0 / 3.0, 1.0));
    }

    proptest! {
        #[test]
        fn entries_are_scaled_means_over_members_that_label_both(
            ensemble in ensembles(Kinds::ALL, 12, 5),
        ) {
            let profiles = profiles(&ensemble);
            let co = CoAssociation::new(&profiles);
            let h = dense_incidence(&profiles);
            let mean = |s: usize, t: usize| {
                let labelled = |m: &usize| profiles.is_labelled(s, *m) && profiles.is_labelled(t, *m);
                let both = (0..profiles.n_members()).filter(labelled).count();
                let sum: f64 = h.row(s).iter().zip(h.row(t)).map(|(a, b)| a * b).sum();
                if both == 0 { 0.0 } else { sum / both as f64 }
            };
            for s in 0..profiles.len() {
                for t in 0..profiles.len() {
                    let expected = mean(s, t) / (mean(s, s) * mean(t, t)).sqrt();
                    prop_assert!((co.get(s, t) - expected).abs() < 1e-14);
                }
            }
        }
    }
}
