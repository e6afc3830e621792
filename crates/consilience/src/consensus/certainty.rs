//! How certain clusters are, and evidence that is weighted by it: what the locally weighted methods share.
//!
//! With $H(c)$ the mean over members of the entropy, in bits, of their labels within cluster $c$, its certainty is
//!
//! $$ e^{-H(c) / \theta} \text{ (plain)}, \qquad
//!    e^{-H(c) / (\theta \log_2 \max(k_q, 2))} \text{ (normalised)} $$
//!
//! for a cluster of a member with $k_q$ clusters. Large clusters are divided in more ways than small ones; the
//! normalised form makes up for it, so that members with few clusters still count.

use crate::consensus::params::words;
use crate::ensemble::Profiles;
use crate::math;

words! {
    /// How the entropy of a cluster becomes its weight.
    pub enum Certainty {
        /// In proportion to the entropy that a member with so many clusters could have.
        Normalised = "normalised",
        /// As it is.
        Plain = "plain",
    }
}

impl Certainty {
    /// The usual $\theta$.
    pub(super) fn theta(self) -> f64 {
        match self {
            Certainty::Normalised => 0.06,
            Certainty::Plain => 0.4,
        }
    }

    /// The certainty of every cluster, from the [Gram matrix](Profiles::gram) of overlaps.
    pub(super) fn of_clusters(self, profiles: &Profiles, theta: Option<f64>) -> Vec<f64> {
        let theta = theta.unwrap_or_else(|| self.theta());
        let mut entropies = profiles.cluster_entropies(&profiles.gram(profiles.weights()));
        for member in profiles.members() {
            let scale = match self {
                Certainty::Normalised => theta * math::log2(member.n_clusters().max(2) as f64),
                Certainty::Plain => theta,
            };
            entropies[member.clusters.clone()].iter_mut().for_each(|h| *h = math::exp(-*h / scale));
        }
        entropies
    }
}

/// The weighted co-association of profiles: the mean, over the members that label both, of the certainty
/// of the cluster that they share.
pub(super) struct Evidence<'a> {
    profiles: &'a Profiles,
    /// Of every cluster.
    pub(super) certainty: Vec<f64>,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(profiles: &'a Profiles, certainty: Vec<f64>) -> Self {
        Evidence { profiles, certainty }
    }

    /// Writes the evidence for profile `s` with each other.
    pub(super) fn row(&self, s: usize, out: &mut [f64]) {
        let r = self.profiles.n_members();
        let mut own = vec![0.0; self.certainty.len()];
        let mut labelled = vec![false; self.certainty.len()];
        self.profiles.for_each_entry(s, |h, c, _| {
            own[c] = self.certainty[c];
            labelled[self.profiles.members()[h].clusters.clone()].fill(true);
        });
        let complete = !self.profiles.has_missing();
        self.profiles.for_each_row(0..out.len(), |t, clusters| {
            let sum: f64 = clusters.iter().map(|&c| own[c as usize]).sum();
            let both = if complete {
                r
            } else {
                clusters.iter().filter(|&&c| labelled[c as usize]).count()
            };
            out[t] = if both == 0 { 0.0 } else { sum / both as f64 };
        });
    }

    /// The vector of profile `s`, of which the evidence is the inner product where no label is missing.
    pub(super) fn entries(&self, s: usize) -> Vec<(u32, f64)> {
        let r = self.profiles.n_members() as f64;
        let mut entries = Vec::new();
        self.profiles
            .for_each_entry(s, |_, c, _| entries.push((c as u32, (self.certainty[c] / r).sqrt())));
        entries
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::Matrix;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    const BOTH: [Certainty; 2] = [Certainty::Normalised, Certainty::Plain];

    /// The evidence for all pairs of profiles from the definitions, label by label.
    pub(in crate::consensus) fn slow_evidence(
        profiles: &Profiles,
        certainty: Certainty,
        theta: f64,
    ) -> Matrix {
        let (u, r, w) = (profiles.len(), profiles.n_members(), profiles.weights());
        let known = |s: usize, q: usize| profiles.label(s, q).is_some();
        let of_cluster = |q: usize, c: Option<usize>| {
            let inside = || (0..u).filter(|&s| profiles.label(s, q) == c);
            let (mut entropy, mut asked) = (0.0, 0.0);
            for m in 0..r {
                let all: f64 = inside().filter(|&s| known(s, m)).map(|s| w[s]).sum();
                asked += f64::from(u8::from(all > 0.0));
                for d in 0..profiles.members()[m].n_clusters() {
                    let shared = inside().filter(|&s| profiles.label(s, m) == Some(d));
                    let p = shared.map(|s| w[s]).sum::<f64>() / all;
                    entropy -= if p > 0.0 { p * math::log2(p) } else { 0.0 };
                }
            }
            let most = match certainty {
                Certainty::Normalised => {
                    math::log2(profiles.members()[q].n_clusters().max(2) as f64)
                }
                Certainty::Plain => 1.0,
            };
            math::exp(-entropy / (asked * theta * most))
        };
        Matrix::from_fn(u, u, |s, t| {
            let both: Vec<usize> = (0..r).filter(|&q| known(s, q) && known(t, q)).collect();
            let agree = both.iter().filter(|&&q| profiles.label(s, q) == profiles.label(t, q));
            let sum: f64 = agree.map(|&q| of_cluster(q, profiles.label(s, q))).sum();
            if both.is_empty() { 0.0 } else { sum / both.len() as f64 }
        })
    }

    proptest! {
        #[test]
        fn evidence_is_weighted_by_certainty(ensemble in ensembles(Kinds::HARD, 10, 4)) {
            let profiles = profiles(&ensemble);
            let mut row = vec![0.0; profiles.len()];
            for certainty in BOTH {
                let slow = slow_evidence(&profiles, certainty, certainty.theta());
                let fast = Evidence::new(&profiles, certainty.of_clusters(&profiles, None));
                for s in 0..profiles.len() {
                    fast.row(s, &mut row);
                    for (x, expected) in row.iter().zip(slow.row(s)) {
                        prop_assert!((x - expected).abs() < 1e-9);
                    }
                }
            }
        }

        /// Where nothing is missing, vectors say what the table says, and nobody is nearer to another than to
        /// its equals.
        #[test]
        fn vectors_and_table_agree(ensemble in ensembles(Kinds { missing: false, ..Kinds::HARD }, 12, 5)) {
            let profiles = profiles(&ensemble);
            let evidence = Evidence::new(&profiles, Certainty::Normalised.of_clusters(&profiles, None));
            let mut row = vec![0.0; profiles.len()];
            for s in 0..profiles.len() {
                evidence.row(s, &mut row);
                let mut own = vec![0.0; profiles.n_clusters()];
                evidence.entries(s).into_iter().for_each(|(c, x)| own[c as usize] = x);
                for t in 0..profiles.len() {
                    let other = evidence.entries(t);
                    let inner: f64 = other.iter().map(|(c, x)| own[*c as usize] * x).sum();
                    prop_assert!((inner - row[t]).abs() < 1e-14);
                    prop_assert!(row[t] <= row[s]);
                }
            }
        }
    }

    /// The first member's first cluster is halved by the other, one bit by one of two; of a member with two
    /// clusters that is as much as can be, so both certainties are the same.
    #[test]
    fn certainties_follow_the_formulas() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]]));
        let plain = Certainty::Plain.of_clusters(&profiles, None);
        assert_eq!(plain, [math::exp(-0.5 / 0.4), 1.0, 1.0, 1.0, 1.0]);
        let normalised = Certainty::Normalised.of_clusters(&profiles, Some(0.4));
        assert_eq!(normalised, plain);
        // One cluster alone counts as two.
        let single = self::profiles(&hard_ensemble(&[[0, 0, 0, 0], [0, 0, 1, 1]]));
        assert_eq!(Certainty::Normalised.of_clusters(&single, Some(0.5))[0], math::exp(-1.0));
    }
}
