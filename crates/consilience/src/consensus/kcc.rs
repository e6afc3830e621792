//! KCC: k-means-based consensus clustering.
//!
//! J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. *K-Means-Based Consensus Clustering: A Unified View.*
//! IEEE TKDE 27(1), 2015.
//!
//! A utility tells how much a clustering and a member have in common. For a convex $\mu$, with $y$ the
//! distribution of a member's labels within a cluster of the consensus, the weighted mean of
//! $\mu(y)$ over the clusters is such a utility, and to maximise its sum over the members is to run
//! k-means on the rows of $H$ with the distance that belongs to $\mu$: summed over members, for an
//! object with label $l$,
//!
//! | utility | $\mu(y)$ | distance |
//! |---|---|---|
//! | `category` | $\lVert y \rVert^2$ | $1 - 2 y_l + \lVert y \rVert^2$ |
//! | `entropy` | $\sum_l y_l \ln y_l$ | $- \ln y_l$ |
//! | `cosine` | $\lVert y \rVert$ | $1 - y_l / \lVert y \rVert$ |
//! | `lp` | $\lVert y \rVert_p$ | $1 - (y_l / \lVert y \rVert_p)^{p - 1}$ |
//!
//! Centres are means under all of them. `category` is Mirkin's category utility, `entropy` the mutual
//! information. `normalised` divides a member's utility by $|\mu|$ of its own distribution of labels.
//!
//! # On profiles
//!
//! A distance is a sum of $r$ looked-up numbers, so an iteration takes $O(u r k)$.
//!
//! # Where we depart from the paper
//!
//! * *Start.* As by greedy k-means++, in the number of labels that differ: a single object as a centre
//!   would be infinitely far from most others under `entropy`. The paper draws objects.
//! * *A cluster that lacks a label* is far from objects that have it, not infinitely
//!   ($y_l \ge 10^{-12}$ within the logarithm).
//! * *Missing labels*, as in the paper: a member's distribution within a cluster is that of the
//!   objects it labels, and distances are summed over the members that label the object. Where a
//!   member labels nothing of a cluster, its distribution over all objects stands in; the authors'
//!   program draws a label.
//! * *An empty cluster* takes the object farthest from its centre; the authors' program draws one.
//! * *Stopping.* When labels stay; the authors' program when the sum of distances hardly changes.
//!
//! # Cost
//!
//! Time $O(t u r k)$ a start, memory $O(u k + k K)$ per start.

use rayon::prelude::*;

use crate::consensus::driver::{Effort, SAMPLE, STATES_HELD, Solver, Step, sample, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{above, at_least, params, words};
use crate::consensus::seeds::far_apart;
use crate::ensemble::{Code, Profiles, tally, with_codes};
use crate::error::Result;
use crate::linalg::{Matrix, vectorised};
use crate::math;
use crate::rng::Stream;
use crate::run::Run;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// What there is to know about k-means-based consensus clustering.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "kcc",
    title: "k-means-based consensus: a utility shared with the members, maximised as k-means on their labels",
    reference: "J. Wu, H. Liu, H. Xiong, J. Cao, J. Chen. K-Means-Based Consensus Clustering: A Unified \
                View. IEEE TKDE 27(1), 2015.",
    soft: OnSoft::Hardens,
    missing: Some("distances are summed over the members that label an object"),
    time: "O(t u r k)",
    memory: "O(u k + k K) per start",
    ..Kcc::DECLARED
};

params! {
    /// [KCC](self): k-means-based consensus: a utility shared with the members, maximised as
    /// k-means on their labels.
    pub struct Kcc(k): INFO {
        /// What a clustering and a member have in common.
        utility: Utility = Utility::Entropy;
        /// The norm of the utility `lp`.
        p: f64 = 5.0, above(1.0);
        /// Divide each member's utility by that of its own labels.
        normalised: bool = false;
        /// Starts; the best is kept.
        restarts: usize = 10, at_least(1.0);
        /// Largest number of iterations of a start.
        max_iter: usize = 100, at_least(1.0);
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
    }
}

words! {
    /// What a clustering and a member have in common.
    pub enum Utility {
        /// Category utility: squared Euclidean distance.
        Category = "category",
        /// Mutual information: Kullback-Leibler divergence.
        Entropy = "entropy",
        /// Cosine distance.
        Cosine = "cosine",
        /// The $L_p$ norm's distance.
        Lp = "lp",
    }
}

impl Utility {
    /// $\mu$ of a distribution.
    fn value(self, y: &[f64], p: f64) -> f64 {
        match self {
            Utility::Category => y.iter().map(|y| y * y).sum(),
            Utility::Entropy => y.iter().filter(|&&y| y > 0.0).map(|&y| y * math::ln(y)).sum(),
            Utility::Cosine => y.iter().map(|y| y * y).sum::<f64>().sqrt(),
            Utility::Lp => math::pow(y.iter().map(|&y| math::pow(y, p)).sum(), 1.0 / p),
        }
    }

    /// The distance of an object with label `l` from the distribution $y$, whose $\mu$ is `value`.
    fn distance(self, y: &[f64], l: usize, value: f64, p: f64) -> f64 {
        match self {
            Utility::Category => 1.0 - 2.0 * y[l] + value,
            Utility::Entropy => -math::ln(y[l].max(1e-12)),
            Utility::Cosine => 1.0 - y[l] / value,
            Utility::Lp => 1.0 - math::pow(y[l] / value, p - 1.0),
        }
    }

    /// $\mu$ of certainty: the largest there is.
    fn largest(self) -> f64 {
        if self == Utility::Entropy { 0.0 } else { 1.0 }
    }
}

impl ConsensusMethod for Kcc {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, k, all) = (shape.u as u64, self.k as u64, shape.total_clusters as u64);
        // Distances and labels; counts, the partial counts of sixteen chunks, and the table.
        STATES_HELD * 8 * (u * (k + 4) + 20 * k * all) + 8 * u
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let some = sample(profiles, self.k, self.sample);
        let of_some = some.as_ref().map(|some| Problem::new(some, self));
        let effort = Effort::new(self.restarts, self.max_iter);
        solve(&Problem::new(profiles, self), of_some.as_ref().zip(some.as_ref()), effort, run)
    }
}

/// Labels, and how much of every cluster (row) of the consensus is in every member's clusters.
struct State {
    labels: Vec<u32>,
    counts: Matrix,
}

struct Problem<'a> {
    profiles: &'a Profiles,
    params: &'a Kcc,
    /// The distribution of every member's labels over all objects, member by member.
    whole: Vec<f64>,
    /// The weight of every member's utility.
    scale: Vec<f64>,
}

impl Solver for Problem<'_> {
    type State = State;
    const STAGE: &'static str = "k-means on labels";

    /// Seeds far apart in the number of labels that differ, and everybody with the nearest.
    fn start(&self, restart: usize, run: &Run) -> Result<State> {
        let (profiles, k) = (self.profiles, self.params.k.min(self.profiles.len()));
        let differences = |seeds: &[usize]| {
            run.check()?;
            Ok(self.differences(seeds))
        };
        let mut rng = run.rng(Stream::Restart(restart as u64));
        let seeds = far_apart(profiles.weights(), k, &mut rng, differences)?;
        let differences = self.differences(&seeds);
        let mut labels: Vec<u32> = differences
            .iter_rows()
            .map(|row| (1..k).fold(0, |near, c| if row[c] < row[near] { c } else { near }) as u32)
            .collect();
        seeds.iter().enumerate().for_each(|(c, &s)| labels[s] = c as u32);
        Ok(State { counts: self.counts(&labels), labels })
    }

    /// One of Lloyd's iterations; the objective is the mean distance of an object to its centre.
    fn step(&self, state: &mut State, _: &Run) -> Result<Step> {
        let next = self.assign(&state.labels, &self.distances(&state.counts));
        let pairs = next.iter().zip(&state.labels).zip(self.profiles.weights());
        let moved: f64 = pairs.filter(|((next, was), _)| next != was).map(|(_, w)| w).sum();
        *state = State { counts: self.counts(&next), labels: next };
        Ok(Step::of_labels(self.objective(&state.counts), moved / self.profiles.total_weight()))
    }

    fn extend(&self, _: &Self, state: State, _: &Run) -> Result<State> {
        let labels = self.assign(&vec![0; self.profiles.len()], &self.distances(&state.counts));
        Ok(State { counts: self.counts(&labels), labels })
    }

    fn finish(&self, state: State, _: &Run) -> Result<Consensus> {
        Ok(Consensus::from_labels(state.labels, self.params.k))
    }
}

impl<'a> Problem<'a> {
    fn new(profiles: &'a Profiles, params: &'a Kcc) -> Self {
        let mut whole = profiles.cluster_weights();
        let mut scale = Vec::with_capacity(profiles.n_members());
        for member in profiles.members() {
            let own = &mut whole[member.clusters.clone()];
            let mass: f64 = own.iter().sum();
            own.iter_mut().for_each(|x| *x /= mass);
            let value = params.utility.value(own, params.p).abs();
            // A member with one cluster has nothing to share.
            let inverse = if value > 0.0 { 1.0 / value } else { 0.0 };
            scale.push(if params.normalised { inverse } else { 1.0 });
        }
        Problem { profiles, params, whole, scale }
    }

    /// In how many labels every profile (row) differs from each of the `seeds`.
    fn differences(&self, seeds: &[usize]) -> Matrix {
        let (r, columns) = (self.profiles.n_members(), seeds.len());
        let mut differences = Matrix::zeros(self.profiles.len(), columns);
        let chunks = differences.as_mut_slice().par_chunks_mut(CHUNK * columns);
        with_codes!(self.profiles.codes(), codes => {
            let seeds: Vec<_> = seeds.iter().map(|&s| &codes[s * r..][..r]).collect();
            chunks.zip(codes.par_chunks(CHUNK * r)).for_each(|(differences, codes)| {
                count_differences(&seeds, codes, differences);
            });
        });
        differences
    }

    /// How much of every cluster (row) of the consensus is in every member's clusters.
    fn counts(&self, labels: &[u32]) -> Matrix {
        let (k, all, weights) =
            (self.params.k, self.profiles.n_clusters(), self.profiles.weights());
        let sums = self.profiles.sum_over_ranges(k * all, |rows, sums| {
            self.profiles.for_each_row(rows, |s, clusters| {
                let own = &mut sums[labels[s] as usize * all..][..all];
                clusters.iter().for_each(|&c| own[c as usize] += weights[s]);
            });
        });
        Matrix::from_vec(k, all, sums)
    }

    /// Calls `visit(cluster, member, mass, y)` for every cluster of the consensus with the
    /// distribution of every member's labels within it and the mass that it labels there.
    fn for_each_distribution(
        &self,
        counts: &Matrix,
        mut visit: impl FnMut(usize, usize, f64, &[f64]),
    ) {
        for (c, row) in counts.iter_rows().enumerate() {
            for (h, member) in self.profiles.members().iter().enumerate() {
                let own = &row[member.clusters.clone()];
                let mass: f64 = own.iter().sum();
                if mass > 0.0 {
                    let y: Vec<f64> = own.iter().map(|x| x / mass).collect();
                    visit(c, h, mass, &y);
                } else {
                    visit(c, h, 0.0, &self.whole[member.clusters.clone()]);
                }
            }
        }
    }

    /// The mean distance of an object to its centre.
    fn objective(&self, counts: &Matrix) -> f64 {
        let (utility, p) = (self.params.utility, self.params.p);
        let mut sum = 0.0;
        self.for_each_distribution(counts, |_, h, mass, y| {
            sum += self.scale[h] * mass * (utility.largest() - utility.value(y, p));
        });
        sum / self.profiles.total_weight()
    }

    /// The distances of all profiles (rows) to all centres.
    fn distances(&self, counts: &Matrix) -> Matrix {
        let (utility, p) = (self.params.utility, self.params.p);
        let mut table = Matrix::zeros(self.profiles.n_clusters(), self.params.k);
        self.for_each_distribution(counts, |c, h, _, y| {
            let value = utility.value(y, p);
            let first = self.profiles.members()[h].clusters.start;
            for l in 0..y.len() {
                table[(first + l, c)] = self.scale[h] * utility.distance(y, l, value, p);
            }
        });
        self.profiles.spread(&table)
    }

    /// Everybody to the nearest centre, the present one of equals; no cluster stays empty.
    fn assign(&self, labels: &[u32], distances: &Matrix) -> Vec<u32> {
        let nearest = |s: usize| {
            let row = distances.row(s);
            let own = labels[s];
            let bound = row[own as usize] - 1e-12 * (1.0 + row[own as usize].abs());
            let better = |best: (f64, u32), (c, &far): (usize, &f64)| {
                if far < best.0 { (far, c as u32) } else { best }
            };
            row.iter().enumerate().fold((bound, own), better).1
        };
        let mut next: Vec<u32> = (0..labels.len()).into_par_iter().map(nearest).collect();
        let mut sizes = vec![0usize; self.params.k];
        next.iter().for_each(|&c| sizes[c as usize] += 1);
        for c in 0..self.params.k {
            if sizes[c] == 0 {
                let far = |s: usize| distances[(s, next[s] as usize)];
                let movable = (0..next.len()).filter(|&s| sizes[next[s] as usize] > 1);
                let farthest = movable.reduce(|best, s| if far(s) > far(best) { s } else { best });
                let Some(s) = farthest else { break };
                sizes[next[s] as usize] -= 1;
                sizes[c] = 1;
                next[s] = c as u32;
            }
        }
        next
    }
}

/// How many labels of every row of `codes` differ from those of every seed; missing ones tell nothing.
fn count_differences<C: Code>(seeds: &[&[C]], codes: &[C], differences: &mut [f64]) {
    tally(codes.len() * seeds.len());
    vectorised(
        #[inline(always)]
        || {
            let rows = codes.chunks_exact(seeds[0].len());
            for (row, differences) in rows.zip(differences.chunks_exact_mut(seeds.len())) {
                for (seed, difference) in seeds.iter().zip(differences) {
                    let mut differ = 0;
                    for (&a, &b) in row.iter().zip(*seed) {
                        let told = a != b && a != C::MISSING && b != C::MISSING;
                        differ += u32::from(told);
                    }
                    *difference = f64::from(differ);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::combine;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    const UTILITIES: [Utility; 4] =
        [Utility::Category, Utility::Entropy, Utility::Cosine, Utility::Lp];

    proptest! {
        /// The objective, which is written in terms of $\mu$, is the mean distance to the centres.
        #[test]
        fn distances_belong_to_their_utilities(
            ensemble in ensembles(Kinds::HARD, 12, 4),
            normalised: bool,
        ) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % 3).collect();
            for utility in UTILITIES {
                let params = Kcc::new(3).utility(utility).normalised(normalised).p(3.0);
                let problem = Problem::new(&profiles, &params);
                let counts = problem.counts(&labels);
                let distances = problem.distances(&counts);
                let sum: f64 = (0..profiles.len())
                    .map(|s| profiles.weights()[s] * distances[(s, labels[s] as usize)])
                    .sum();
                let mean = sum / profiles.total_weight();
                let found = problem.objective(&counts);
                prop_assert!((found - mean).abs() < 1e-9 * (1.0 + mean), "{utility:?}");
            }
        }

        #[test]
        fn no_iteration_raises_the_objective(
            ensemble in ensembles(Kinds::HARD, 25, 5),
            k in 1..5usize,
            normalised: bool,
        ) {
            let profiles = profiles(&ensemble);
            let run = Run::new(0).threads(1);
            for utility in UTILITIES {
                let params =
                    Kcc::new(k.min(profiles.len())).utility(utility).normalised(normalised);
                let problem = Problem::new(&profiles, &params);
                let start = problem.start(0, &run).unwrap();
                let first = problem.objective(&start.counts);
                let trace = params.clone().restarts(1).solve(&profiles, None, &run).unwrap();
                let trace = [vec![first], trace.convergence.trace].concat();
                for pair in trace.windows(2) {
                    prop_assert!(pair[1] <= pair[0] + 1e-9, "{utility:?} {trace:?}");
                }
            }
        }

        /// Complete labels, mutual information: the objective is $\sum_q H(\pi_q | C)$.
        #[test]
        fn entropy_is_conditional_entropy(ensemble in ensembles(Kinds::PLAIN, 15, 4)) {
            let profiles = profiles(&ensemble);
            let labels: Vec<u32> = (0..profiles.len() as u32).map(|s| s % 2).collect();
            let params = Kcc::new(2);
            let problem = Problem::new(&profiles, &params);
            let n = profiles.total_weight();
            let mut expected = 0.0;
            for h in 0..profiles.n_members() {
                for c in 0..2 {
                    let inside = |s: &usize| labels[*s] == c;
                    let mass = |l: Option<usize>| -> f64 {
                        (0..profiles.len())
                            .filter(inside)
                            .filter(|&s| l.is_none() || profiles.label(s, h) == l)
                            .map(|s| profiles.weights()[s])
                            .sum()
                    };
                    for l in 0..profiles.members()[h].n_clusters() {
                        let joint = mass(Some(l));
                        if joint > 0.0 {
                            expected -= joint / n * (joint / mass(None)).ln();
                        }
                    }
                }
            }
            let found = problem.objective(&problem.counts(&labels));
            prop_assert!((found - expected).abs() < 1e-10);
        }
    }

    #[test]
    fn all_utilities_find_what_is_clear() {
        let members = [
            [0, 0, 0, 1, 1, 1, 2, 2, 2],
            [1, 1, 1, 2, 2, 2, 0, 0, 0],
            [0, 0, 1, 1, 1, 1, 2, 2, 2],
            [0, 0, 0, 1, 1, 2, 2, 2, 2],
        ];
        let profiles = profiles(&hard_ensemble(&members));
        for utility in UTILITIES {
            let kcc = Kcc::new(3).utility(utility);
            let consensus = combine(&profiles, &kcc, None, &Run::new(0)).unwrap();
            let expected = [0, 0, 0, 1, 1, 1, 2, 2, 2].map(Some);
            assert_eq!(consensus.object_labels(&profiles), expected, "{utility:?}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        assert!(Kcc::new(0).check().is_err());
        assert!(Kcc::new(2).restarts(0).check().is_err());
        assert!(Kcc::new(2).max_iter(0).check().is_err());
        for bad in [1.0, 0.0, f64::NAN, f64::INFINITY] {
            assert!(Kcc::new(2).p(bad).check().is_err());
        }
    }
}
