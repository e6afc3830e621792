//! Greedy search for the clustering of highest average NMI with the members.
//!
//! A. Strehl, J. Ghosh. *Cluster Ensembles: A Knowledge Reuse Framework for Combining Multiple
//! Partitions.* JMLR 3, 2002, section 3.1: from the best member (or a given start), every object in
//! turn moves to the cluster that raises
//!
//! $$ \phi(C) = \frac{\sum_q n_q \mathrm{NMI}_q(C)}{\sum_q n_q} $$
//!
//! most, until a sweep changes nothing. NMI is the geometric one over the $n_q$ objects that member
//! $q$ labels, 0 where either side is a single cluster.
//!
//! With $f(x) = x \ln x$, moving weight $w$ touches two cells and two sums a member, so a candidate
//! costs $O(r)$ instead of $O(n r)$.
//!
//! # Where we depart
//!
//! Whole profiles move, never one of several equal objects. The best clustering over all partitions
//! may split a profile, so this is a search over those that do not.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ sweeps; memory $O(u r + K k)$.

use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Stop};
use crate::consensus::params::{at_least, params};
use crate::ensemble::{MISSING, Profiles};
use crate::error::Result;
use crate::linalg::{Matrix, xlogx};
use crate::metrics::anmi;
use crate::rng::Stream;
use crate::run::Run;

/// A move must raise the objective by more than this.
const MARGIN: f64 = 1e-12;

/// What there is to know about the greedy search.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "anmi-greedy",
    title: "greedy one-element moves that raise the average NMI with the members",
    reference: "A. Strehl, J. Ghosh. Cluster Ensembles: A Knowledge Reuse Framework for Combining \
                Multiple Partitions. JMLR 3, 2002.",
    soft: OnSoft::Hardens,
    missing: Some("each member counts the objects it labels"),
    takes_start: true,
    time: "O(t u r k)",
    memory: "O(u r + K k)",
    ..AnmiGreedy::DECLARED
};

params! {
    /// [The greedy search](self): greedy one-element moves that raise the average NMI with the
    /// members.
    pub struct AnmiGreedy(k?): INFO {
        /// Largest number of sweeps over all objects.
        max_iter: usize = 100, at_least(1.0);
    }
}

impl ConsensusMethod for AnmiGreedy {
    fn cost(&self, shape: &Shape) -> u64 {
        let k = self.k.unwrap_or(shape.total_clusters / shape.r.max(1) + 1) as u64;
        shape.u as u64 * (4 * shape.r as u64 + 16) + 16 * k * shape.total_clusters as u64
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let (labels, k) = self.start(profiles, start, run)?;
        let mut search = Search::new(profiles, labels, k);
        let mut trace = vec![search.anmi()];
        let mut stop = Stop::MaxIterations;
        let mut rng = run.rng(Stream::Order);
        for sweep in 0..self.max_iter {
            run.tick("greedy search", sweep as u64, None)?;
            let mut moved = false;
            for (i, s) in rng.permutation(profiles.len()).into_iter().enumerate() {
                if i % 4096 == 0 {
                    run.check()?;
                }
                moved |= search.improve(s as usize);
            }
            trace.push(search.anmi());
            if !moved {
                stop = Stop::Converged;
                break;
            }
        }
        Ok(Consensus {
            convergence: Convergence {
                objective: trace.last().copied(),
                iterations: trace.len() - 1,
                trace,
                stop,
            },
            ..Consensus::from_labels(search.labels, k)
        })
    }
}

impl AnmiGreedy {
    /// Where to start, and how many clusters there may be.
    fn start(
        &self,
        profiles: &Profiles,
        start: Option<&[u32]>,
        run: &Run,
    ) -> Result<(Vec<u32>, usize)> {
        let u = profiles.len();
        if let Some(start) = start {
            let own = start.iter().max().map_or(1, |&c| c as usize + 1);
            let k = self.k.unwrap_or(own);
            return Ok((start.iter().map(|&c| c.min(k as u32 - 1)).collect(), k));
        }
        // An object that the member does not label starts in its first cluster, and moves.
        let labels_of = |h: usize| -> Vec<u32> {
            (0..u).map(|s| profiles.label(s, h).unwrap_or(0) as u32).collect()
        };
        let size = |h: usize| profiles.members()[h].n_clusters();
        let mut best: Option<(f64, Vec<u32>, usize)> = None;
        for h in 0..profiles.n_members() {
            run.check()?;
            if self.k.is_none_or(|k| size(h) <= k) {
                let labels = labels_of(h);
                let agreement = anmi(profiles, &labels);
                if best.as_ref().is_none_or(|(most, ..)| agreement > *most + MARGIN) {
                    best = Some((agreement, labels, size(h)));
                }
            }
        }
        Ok(match (best, self.k) {
            (Some((_, labels, own)), k) => (labels, k.unwrap_or(own)),
            (None, k) => {
                // All members are finer than asked for.
                let k = k.expect("without k every member will do");
                let mut rng = run.rng(Stream::Restart(0));
                ((0..u).map(|_| rng.below(k) as u32).collect(), k)
            }
        })
    }
}

/// The state of the search: overlaps of the present clustering with all members.
struct Search {
    k: usize,
    labels: Vec<u32>,
    weights: Vec<f64>,
    /// The cluster of every profile in every member, u × r.
    rows: Vec<u32>,
    r: usize,
    /// $n_{cl}$: rows are the members' clusters, columns ours.
    overlap: Matrix,
    /// $n_c$ among the objects that member q labels, r × k.
    size: Matrix,
    /// Per member: $n_q$, $n_q H(C_q)$, $n_q H(C)$ and $n_q I$.
    n: Vec<f64>,
    own_entropy: Vec<f64>,
    entropy: Vec<f64>,
    mutual: Vec<f64>,
}

impl Search {
    fn new(profiles: &Profiles, labels: Vec<u32>, k: usize) -> Self {
        let (u, r) = (profiles.len(), profiles.n_members());
        let mut rows = vec![0; u * r];
        for s in 0..u {
            profiles.clusters_into(s, &mut rows[s * r..(s + 1) * r]);
        }
        let mut overlap = Matrix::zeros(profiles.n_clusters(), k);
        let mut size = Matrix::zeros(r, k);
        for s in 0..u {
            for (q, &c) in
                rows[s * r..(s + 1) * r].iter().enumerate().filter(|(_, c)| **c != MISSING)
            {
                overlap[(c as usize, labels[s] as usize)] += profiles.weights()[s];
                size[(q, labels[s] as usize)] += profiles.weights()[s];
            }
        }
        let sum = |row: &[f64]| row.iter().map(|&x| xlogx(x)).sum::<f64>();
        let mut search = Search {
            k,
            labels,
            weights: profiles.weights().to_vec(),
            rows,
            r,
            n: Vec::new(),
            own_entropy: Vec::new(),
            entropy: Vec::new(),
            mutual: Vec::new(),
            overlap,
            size,
        };
        for (q, member) in profiles.members().iter().enumerate() {
            let n: f64 = search.size.row(q).iter().sum();
            let own: f64 =
                member.clusters.clone().map(|c| xlogx(search.overlap.row(c).iter().sum())).sum();
            let cells: f64 = member.clusters.clone().map(|c| sum(search.overlap.row(c))).sum();
            let sizes = sum(search.size.row(q));
            search.n.push(n);
            search.own_entropy.push(xlogx(n) - own);
            search.entropy.push(xlogx(n) - sizes);
            search.mutual.push(cells - sizes - own + xlogx(n));
        }
        search
    }

    /// $n_q \mathrm{NMI}_q$ from $n_q I$, $n_q H(C)$, $n_q H(C_q)$.
    fn score(&self, q: usize, mutual: f64, entropy: f64) -> f64 {
        // Entropies of one cluster are sums that cancel: what is left is rounding.
        let nothing = 1e-12 * xlogx(self.n[q]).abs().max(1.0);
        if entropy <= nothing || self.own_entropy[q] <= nothing {
            return 0.0;
        }
        self.n[q] * mutual / (entropy * self.own_entropy[q]).sqrt()
    }

    fn anmi(&self) -> f64 {
        let sum: f64 = (0..self.r).map(|q| self.score(q, self.mutual[q], self.entropy[q])).sum();
        sum / self.n.iter().sum::<f64>()
    }

    /// What moving profile `s` to cluster `to` adds to $n_q H(C)$ and $n_q I$ of member `q`.
    fn change(&self, s: usize, q: usize, c: u32, to: usize) -> (f64, f64) {
        let (w, from) = (self.weights[s], self.labels[s] as usize);
        let shift = |row: &[f64]| {
            xlogx((row[from] - w).max(0.0)) - xlogx(row[from]) + xlogx(row[to] + w) - xlogx(row[to])
        };
        let sizes = shift(self.size.row(q));
        (-sizes, shift(self.overlap.row(c as usize)) - sizes)
    }

    /// Moves profile `s` where it raises the objective most; whether it moved.
    fn improve(&mut self, s: usize) -> bool {
        let from = self.labels[s] as usize;
        let row: Vec<u32> = self.rows[s * self.r..(s + 1) * self.r].to_vec();
        let known = || row.iter().enumerate().filter(|(_, c)| **c != MISSING);
        let gain = |to: usize| -> f64 {
            known()
                .map(|(q, &c)| {
                    let (entropy, mutual) = self.change(s, q, c, to);
                    self.score(q, self.mutual[q] + mutual, self.entropy[q] + entropy)
                        - self.score(q, self.mutual[q], self.entropy[q])
                })
                .sum()
        };
        let margin = MARGIN * self.n.iter().sum::<f64>();
        let mut best = (from, 0.0);
        for to in (0..self.k).filter(|&to| to != from) {
            let gain = gain(to);
            if gain > best.1 + margin {
                best = (to, gain);
            }
        }
        let to = best.0;
        if to == from {
            return false;
        }
        let w = self.weights[s];
        let changes: Vec<_> = known().map(|(q, &c)| (q, c, self.change(s, q, c, to))).collect();
        for (q, c, (entropy, mutual)) in changes {
            self.entropy[q] += entropy;
            self.mutual[q] += mutual;
            for (table, row) in [(&mut self.overlap, c as usize), (&mut self.size, q)] {
                table[(row, from)] = (table[(row, from)] - w).max(0.0);
                table[(row, to)] += w;
            }
        }
        self.labels[s] = to as u32;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn refuses_nothing_to_do() {
        assert!(AnmiGreedy::new().k(0).check().is_err());
        assert!(AnmiGreedy::new().max_iter(0).check().is_err());
    }

    #[test]
    fn the_search_corrects_the_best_member() {
        let members = [
            [0, 0, 0, 1, 1, 1, 1, 1, 0],
            [0, 0, 0, 1, 1, 1, 0, 0, 0],
            [0, 0, 0, 0, 1, 1, 0, 0, 0],
            [1, 0, 0, 1, 1, 1, 0, 0, 0],
        ];
        let profiles = profiles(&hard_ensemble(&members));
        let method = AnmiGreedy::new().k(2);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        let expected = [0, 0, 0, 1, 1, 1, 0, 0, 0].map(Some);
        assert_eq!(consensus.object_labels(&profiles), expected);
    }

    proptest! {
        /// Increments equal recomputation, and no sweep lowers the objective.
        #[test]
        fn the_objective_is_the_anmi_and_never_falls(
            ensemble in ensembles(Kinds::HARD, 15, 5), k in 1usize..4,
        ) {
            let profiles = profiles(&ensemble);
            let greedy = AnmiGreedy::new().k(k);
            let run = Run::new(3).threads(1);
            let consensus = greedy.solve(&profiles, None, &run).unwrap();
            let told = consensus.convergence.objective.unwrap();
            prop_assert!((told - anmi(&profiles, &consensus.labels)).abs() < 1e-9);
            for pair in consensus.convergence.trace.windows(2) {
                prop_assert!(pair[1] >= pair[0] - 1e-12);
            }
        }
    }
}
