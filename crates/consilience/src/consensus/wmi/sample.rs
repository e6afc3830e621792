//! Many profiles: starts are settled on a sample of them, and the best goes on with all.
//!
//! Where profiles are many, most of them tell what others have told before. The points of a sample by
//! weight, counted, are an ensemble of their own, with an $F$ of its own; the start that ends best
//! there says where the other profiles begin. What follows is the same search as ever, from a
//! clustering that is mostly right instead of one that is random, and few passes over all profiles
//! are left to make.

use crate::ensemble::{Profiles, drawn_for, points_for};
use crate::linalg::Matrix;

/// Some of the profiles, standing for all.
pub(super) struct Sample {
    pub(super) profiles: Profiles,
    /// Which they are.
    rows: Vec<u32>,
}

impl Sample {
    /// `points`, or more if `k` clusters need it, drawn from the profiles by weight, each counted as 1;
    /// if they are fewer than the profiles and tell enough.
    pub(super) fn new(profiles: &Profiles, points: usize, k: usize) -> Option<Self> {
        let points = points_for(k, points);
        let (rows, weights) = drawn_for(k, profiles, points)?;
        // Whole numbers add up without rounding.
        let point = profiles.total_weight() / points as f64;
        let counts = weights.into_iter().map(|w| (w / point).round()).collect();
        Some(Sample { profiles: profiles.selected(&rows, counts), rows })
    }

    /// A clustering of all profiles after `labels`, one of the sample into `k` clusters: each goes
    /// where a profile of no weight would cost least,
    ///
    /// $$ \sum_q \omega_q \Bigl( \ln n^q_c - \sum_{j \in q} p_j \ln T_{cj} \Bigr), $$
    ///
    /// $T$ and $n$ being the sample's, and half a point more.
    pub(super) fn extend(
        &self,
        all: &Profiles,
        omega: &[f64],
        labels: &[u32],
        k: usize,
    ) -> Vec<u32> {
        let costs = self.costs(omega, labels, k);
        let of_chunks = all.fold_spread(&costs, |labels: &mut Vec<u32>, _, costs| {
            let (mut best, mut least) = (0, f64::INFINITY);
            for (c, &cost) in (0..).zip(costs) {
                if cost < least {
                    (best, least) = (c, cost);
                }
            }
            labels.push(best);
        });
        let mut extended = of_chunks.concat();
        for (&s, &label) in self.rows.iter().zip(labels) {
            extended[s as usize] = label;
        }
        extended
    }

    /// $\omega_q (\ln n^q_c - \ln T_{cj})$, a row for every cluster $j$ of a member and a column for
    /// every $c$.
    fn costs(&self, omega: &[f64], labels: &[u32], k: usize) -> Matrix {
        /// Of a cluster that nobody is in, which would cost nothing.
        const EMPTY: f64 = 1e30;
        let mut costs = Matrix::zeros(self.profiles.n_clusters(), k);
        let mut used = vec![false; k];
        for (s, &label) in labels.iter().enumerate() {
            let (c, weight) = (label as usize, self.profiles.weights()[s]);
            used[c] = true;
            self.profiles.for_each_entry(s, |_, j, p| costs[(j, c)] += weight * p);
        }
        for (member, omega) in self.profiles.members().iter().zip(omega) {
            for c in 0..k {
                let n: f64 = member.clusters.clone().map(|j| costs[(j, c)]).sum();
                for j in member.clusters.clone() {
                    let cost = omega * ((n + 0.5).ln() - (costs[(j, c)] + 0.5).ln());
                    costs[(j, c)] = if used[c] { cost } else { EMPTY };
                }
            }
        }
        costs
    }
}
