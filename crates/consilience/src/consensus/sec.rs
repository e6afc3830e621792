//! SEC: spectral ensemble clustering as weighted k-means.
//!
//! H. Liu, T. Liu, J. Wu, D. Tao, Y. Fu. *Spectral Ensemble Clustering.* KDD 2015.
//!
//! The normalised cut of the co-association matrix $S = H H^T$ in $k$ parts needs no eigenvectors
//! (Theorem 1): with the degrees $d_i = \sum_j w_j S_{ij}$ its objective is, but for a constant, that
//! of k-means
//!
//! $$ \min \sum_i w_i d_i \Big\lVert \frac{h_i}{d_i} - m_{y_i} \Big\rVert^2 $$
//!
//! of the rows $h_i / d_i$ with weights $w_i d_i$. A degree is the total size of the clusters that an
//! object is in. Distances are look-ups of $r$ numbers a centre, for $\lVert h_i \rVert$ does not
//! change.
//!
//! # Where we depart from the paper
//!
//! * *Starts* by greedy k-means++; the best of ten.
//! * *Starts on a sample.* Of more than 10,000 profiles (20 a cluster, if that is more; and unless a
//!   few have nearly all the weight) starts are followed on a systematic sample of as many by weight,
//!   and the best goes on with all from its centres.
//! * *Missing labels* are nought in $h_i$: a label that is absent agrees with none, and the identity
//!   with the normalised cut of $H H^T$ holds as it stands.
//! * *Soft members.* $H$ holds memberships.
//!
//! # Cost
//!
//! Time $O(t u r k)$ for $t$ iterations of all starts, memory $O(u k + K k)$.

use rayon::prelude::*;

use crate::base::{FITS_HELD, best_of_restarts, far_apart};
use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Diagnostics, Stop, Value};
use crate::consensus::params::{at_least, params};
use crate::ensemble::{Profiles, drawn_for};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// All profiles take part in every start; above, a sample of so many.
const STARTED: usize = 10_000;

/// What rounding leaves of the squared distance to an equal row, relative to its squared length.
const ROUNDING: f64 = 1e-12;

/// What there is to know about spectral ensemble clustering.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "sec",
    title: "spectral ensemble clustering: the normalised cut of the co-association matrix as weighted k-means",
    reference: "H. Liu, T. Liu, J. Wu, D. Tao, Y. Fu. Spectral Ensemble Clustering. KDD 2015.",
    chooses_k: ChoosesK::Never,
    soft: OnSoft::Uses,
    missing: Some("an absent label agrees with none"),
    takes_start: false,
    offers: Offers::LABELS,
    parameters: Sec::PARAMETERS,
    time: "O(t u r k)",
    memory: "O(u k + K k)",
    build: Sec::of,
};

params! {
    /// [SEC](self): spectral ensemble clustering: the normalised cut of the co-association matrix
    /// as weighted k-means.
    pub struct Sec(k): INFO {
        /// Starts; the best is kept.
        restarts: usize = 10, at_least(1.0);
        /// The largest number of iterations of a start.
        max_iter: usize = 100, at_least(1.0);
    }
}

impl ConsensusMethod for Sec {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, all, k) = (shape.u as u64, shape.total_clusters as u64, self.k as u64);
        let partial_sums = u.div_ceil(8192) * all * k;
        8 * (3 * u + FITS_HELD * (u * (k + 4) + 6 * all * k + partial_sums))
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.check()?;
        let problem = Problem::new(profiles);
        let (best, ends) = match drawn_for(self.k, profiles, STARTED) {
            Some((rows, weights)) => {
                let some = profiles.selected(&rows, weights);
                let of_some = Problem::new(&some);
                let (best, ends) = self.best_of_starts(&of_some, run)?;
                let centres = of_some.centres(&best.labels, self.k);
                (problem.descend(centres, self.max_iter, run)?, ends)
            }
            None => self.best_of_starts(&problem, run)?,
        };
        let mut diagnostics = Diagnostics::default();
        let ends = ends.into_iter().map(|score| -score).collect();
        diagnostics.push("restart_sums_of_squares", Value::List(ends));
        Ok(Consensus {
            diagnostics,
            convergence: Convergence {
                objective: Some(best.objective()),
                iterations: best.trace.len() - 1,
                stop: best.stop,
                trace: best.trace,
            },
            ..Consensus::from_labels(best.labels, self.k)
        })
    }
}

impl Sec {
    /// The best of all starts, and the objectives of all.
    fn best_of_starts(&self, problem: &Problem<'_>, run: &Run) -> Result<(Fit, Vec<f64>)> {
        let fit = |i: usize| problem.fit(self.k, self.max_iter, i as u64, run);
        let score = |fit: &Fit| -fit.objective();
        best_of_restarts("weighted k-means", self.restarts, run, fit, score)
    }
}

/// One run of weighted k-means.
struct Fit {
    labels: Vec<u32>,
    /// The objective of the start and after every iteration.
    trace: Vec<f64>,
    stop: Stop,
}

impl Fit {
    fn objective(&self) -> f64 {
        *self.trace.last().expect("the start is there")
    }
}

/// The rows $h_s / d_s$ with their weights.
struct Problem<'a> {
    profiles: &'a Profiles,
    degrees: Vec<f64>,
    /// $\lVert h_s / d_s \rVert^2$.
    norms: Vec<f64>,
    /// $w_s d_s$.
    weights: Vec<f64>,
}

impl<'a> Problem<'a> {
    fn new(profiles: &'a Profiles) -> Self {
        let sizes = profiles.cluster_weights();
        let degrees = profiles.spread(&Matrix::from_vec(sizes.len(), 1, sizes)).into_vec();
        let norm = |(s, d): (usize, &f64)| {
            let mut sum = 0.0;
            profiles.for_each_entry(s, |_, _, p| sum += p * p);
            sum / (d * d)
        };
        let norms = degrees.iter().enumerate().map(norm).collect();
        let weights = degrees.iter().zip(profiles.weights()).map(|(d, w)| d * w).collect();
        Problem { profiles, degrees, norms, weights }
    }

    /// For every profile the nearest of these centres (columns), the lowest of equals, and the
    /// squared distance.
    fn nearest(&self, centres: &Matrix) -> (Vec<u32>, Vec<f64>) {
        let k = centres.ncols();
        let squares: Vec<f64> =
            (0..k).map(|j| (0..centres.nrows()).map(|c| centres[(c, j)].powi(2)).sum()).collect();
        let nearest = |s: usize, products: &[f64]| {
            let mut best = (0, f64::INFINITY);
            for (j, (product, square)) in products.iter().zip(&squares).enumerate() {
                let distance = self.norms[s] - 2.0 * product / self.degrees[s] + square;
                if distance < best.1 {
                    best = (j as u32, distance);
                }
            }
            (best.0, best.1.max(0.0))
        };
        let u = self.profiles.len();
        let (mut labels, mut distances) = (vec![0; u], vec![0.0; u]);
        let chunks = labels.par_chunks_mut(CHUNK).zip(distances.par_chunks_mut(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (labels, distances))| {
            let first = chunk * CHUNK;
            let rows = first..first + labels.len();
            self.profiles.for_each_spread(rows, centres, |s, products| {
                (labels[s - first], distances[s - first]) = nearest(s, products);
            });
        });
        (labels, distances)
    }

    /// The centres of these clusters, as columns; nought where a cluster is empty.
    fn centres(&self, labels: &[u32], k: usize) -> Matrix {
        let all = self.profiles.n_clusters();
        let own = self.profiles.weights();
        let sums = self.profiles.sum_over_ranges(all * k, |rows, sums| {
            if self.profiles.is_hard() {
                self.profiles.for_each_row(rows, |s, clusters| {
                    let label = labels[s] as usize;
                    clusters.iter().for_each(|&c| sums[c as usize * k + label] += own[s]);
                });
                return;
            }
            for s in rows {
                self.profiles.for_each_entry(s, |_, c, p| {
                    sums[c * k + labels[s] as usize] += own[s] * p;
                });
            }
        });
        let mut mass = vec![0.0; k];
        labels.iter().zip(&self.weights).for_each(|(&j, a)| mass[j as usize] += a);
        Matrix::from_fn(all, k, |c, j| if mass[j] > 0.0 { sums[c * k + j] / mass[j] } else { 0.0 })
    }

    fn objective(&self, distances: &[f64]) -> f64 {
        distances.iter().zip(&self.weights).map(|(d, a)| a * d).sum()
    }

    /// Centres at these rows, as columns.
    fn centres_at(&self, rows: &[usize]) -> Matrix {
        let mut centres = Matrix::zeros(self.profiles.n_clusters(), rows.len());
        for (j, &s) in rows.iter().enumerate() {
            self.profiles.for_each_entry(s, |_, c, p| centres[(c, j)] = p / self.degrees[s]);
        }
        centres
    }

    /// Centres at rows far from each other.
    fn start(&self, k: usize, rng: &mut Rng, run: &Run) -> Result<Matrix> {
        let distances = |rows: &[usize]| {
            run.check()?;
            let mut distances = self.profiles.spread(&self.centres_at(rows));
            let each = distances.as_mut_slice().par_chunks_exact_mut(rows.len()).enumerate();
            each.with_min_len(CHUNK).for_each(|(s, distances)| {
                for (x, &t) in distances.iter_mut().zip(rows) {
                    let distance = self.norms[s] - 2.0 * *x / self.degrees[s] + self.norms[t];
                    *x = if distance > ROUNDING * self.norms[s] { distance } else { 0.0 };
                }
            });
            Ok(distances)
        };
        let seeds = far_apart(&self.weights, k.min(self.profiles.len()), rng, distances)?;
        Ok(self.centres_at(&seeds))
    }

    fn fit(&self, k: usize, max_iter: usize, restart: u64, run: &Run) -> Result<Fit> {
        let start = self.start(k, &mut run.rng(Stream::Restart(restart)), run)?;
        self.descend(start, max_iter, run)
    }

    /// Lloyd's iteration from these centres.
    fn descend(&self, mut centres: Matrix, max_iter: usize, run: &Run) -> Result<Fit> {
        let k = centres.ncols();
        let (mut labels, mut distances) = self.nearest(&centres);
        let mut trace = vec![self.objective(&distances)];
        for _ in 0..max_iter {
            run.check()?;
            self.fill(&mut labels, &mut distances, k);
            centres = self.centres(&labels, k);
            let (next, to_centres) = self.nearest(&centres);
            let settled = next == labels;
            (labels, distances) = (next, to_centres);
            trace.push(self.objective(&distances));
            if settled {
                return Ok(Fit { labels, trace, stop: Stop::Converged });
            }
        }
        Ok(Fit { labels, trace, stop: Stop::MaxIterations })
    }

    /// Gives every empty cluster the row that costs most where it is, as long as some cost anything.
    fn fill(&self, labels: &mut [u32], distances: &mut [f64], k: usize) {
        let mut counts = vec![0usize; k];
        labels.iter().for_each(|&j| counts[j as usize] += 1);
        for empty in 0..k {
            if counts[empty] > 0 {
                continue;
            }
            let cost = |s: &usize| self.weights[*s] * distances[*s];
            let movable = (0..labels.len()).filter(|&s| {
                counts[labels[s] as usize] > 1 && distances[s] > ROUNDING * self.norms[s]
            });
            let Some(far) = movable.max_by(|a, b| cost(a).total_cmp(&cost(b))) else {
                return;
            };
            counts[labels[far] as usize] -= 1;
            counts[empty] = 1;
            labels[far] = empty as u32;
            distances[far] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::{Settings, combine, method};
    use crate::ensemble::{Ensemble, SoftMember};
    use crate::linalg::product;
    use crate::testing::{
        Kinds, dense_incidence, ensembles, profiles, strehl_and_ghosh, three_noisy_clusters,
    };

    #[test]
    fn seven_objects_of_strehl_and_ghosh_are_combined() {
        let profiles = profiles(&strehl_and_ghosh());
        let method = Sec::new(3);
        let consensus = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 2, 2].map(Some));
    }

    proptest! {
        /// Theorem 1: k-means' objective is a constant less the normalised association
        /// $\sum_j \mathrm{assoc}(j, j) / \mathrm{deg}(j)$.
        #[test]
        fn the_objective_is_the_normalised_cut(
            ensemble in ensembles(Kinds::ALL, 12, 4), seed: u64
        ) {
            let profiles = profiles(&ensemble);
            let (u, w, k) = (profiles.len(), profiles.weights(), 3);
            let problem = Problem::new(&profiles);
            let h = dense_incidence(&profiles);
            let s = product(h.as_faer(), h.as_faer().transpose());
            let mut rng = Run::new(seed).rng(Stream::Data);
            let labels: Vec<u32> = (0..u).map(|_| rng.below(k) as u32).collect();
            let centres = problem.centres(&labels, k);
            let mut objective = 0.0;
            for i in 0..u {
                let degree: f64 = (0..u).map(|j| w[j] * s[(i, j)]).sum();
                prop_assert!((degree - problem.degrees[i]).abs() < 1e-9);
                let away = |c: usize| h[(i, c)] / degree - centres[(c, labels[i] as usize)];
                let distance: f64 = (0..h.ncols()).map(|c| away(c).powi(2)).sum();
                objective += w[i] * degree * distance;
            }
            let mut right: f64 = (0..u).map(|i| w[i] * s[(i, i)] / problem.degrees[i]).sum();
            for j in 0..k as u32 {
                let of = |i: &usize| labels[*i] == j;
                let within: f64 = (0..u)
                    .filter(of)
                    .flat_map(|a| (0..u).filter(of).map(move |b| (a, b)))
                    .map(|(a, b)| w[a] * w[b] * s[(a, b)])
                    .sum();
                let degree: f64 = (0..u).filter(of).map(|a| problem.weights[a]).sum();
                right -= if degree > 0.0 { within / degree } else { 0.0 };
            }
            prop_assert!((objective - right).abs() < 1e-9, "{objective} {right}");
        }

        #[test]
        fn the_objective_never_rises(
            ensemble in ensembles(Kinds::ALL, 20, 5), k in 1..5usize, seed: u64
        ) {
            let profiles = profiles(&ensemble);
            let fit = Problem::new(&profiles).fit(k, 50, 0, &Run::new(seed).threads(1)).unwrap();
            for pair in fit.trace.windows(2) {
                prop_assert!(pair[1] <= pair[0] + 1e-12, "{:?}", fit.trace);
            }
        }
    }

    /// Two groups, whose rows differ by no more than rounding: a third cluster has nobody to take.
    #[test]
    fn rows_that_only_rounding_tells_apart_settle() {
        let share = |i: usize| (i % 2) as f64 + [1.0, -1.0][i % 2] * 1e-9 * i as f64;
        let member = |name: &str| {
            let columns =
                Matrix::from_fn(8, 2, |i, j| if j == 0 { 1.0 - share(i) } else { share(i) });
            SoftMember::new(name, columns, vec!["a".to_owned(), "b".to_owned()]).unwrap().into()
        };
        let ensemble = Ensemble::new(vec![member("m"), member("n")]).unwrap();
        let profiles = profiles(&ensemble);
        let method = Sec::new(3);
        let found = combine(&profiles, &method, None, &Run::new(0)).unwrap();
        assert_eq!(found.convergence.stop, Stop::Converged);
        let labels = found.object_labels(&profiles);
        assert!((0..8).all(|i| (labels[i] == labels[0]) == (i % 2 == 0)), "{labels:?}");
    }

    #[test]
    fn noughts_are_refused() {
        let build = |name: &str| {
            let settings = Settings::from_iter([(name, "0")]);
            method("sec").unwrap().with(Some(2), &settings).map(|_| ())
        };
        assert!(build("restarts").is_err());
        assert!(build("max_iter").is_err());
        assert!(Sec::new(0).check().is_err());
    }

    /// More profiles than take part in every start.
    #[test]
    fn many_profiles_start_on_a_sample() {
        let profiles = profiles(&three_noisy_clusters(15_000, 3));
        assert!(profiles.len() > STARTED);
        let method = Sec::new(3).restarts(4);
        let on =
            |threads| combine(&profiles, &method, None, &Run::new(1).threads(threads)).unwrap();
        let found = on(2);
        assert_eq!(found, on(1));
        // All profiles in every start fit hardly better.
        let run = Run::new(1);
        let (whole, _) = method.best_of_starts(&Problem::new(&profiles), &run).unwrap();
        let objective = found.convergence.objective.unwrap();
        assert!(objective < 1.001 * whole.objective(), "{objective} {}", whole.objective());
        assert!(found.convergence.iterations + 1 < whole.trace.len());
    }
}
