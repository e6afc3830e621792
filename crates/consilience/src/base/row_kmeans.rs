//! k-means on the rows of the incidence matrix $H$, or on those of the co-association matrix, with
//! neither built.
//!
//! Let $x_s$ be what is clustered: a row of $H$, plain or with the mean of every labelled column
//! subtracted (a missing label is then 0, the mean). Lengths are measured by
//! $\lVert x \rVert^2 = x^T Q x$, with $Q = I$ or $Q = G = H^T W H$: the squared distance of two rows
//! of $H H^T$ over all objects is $(h_s - h_t)^T G (h_s - h_t)$.
//!
//! A centre $m_c$ is a mean of rows, so its inner product with a row is a sum of one look-up a label
//! in the table $T = Q M$ ($K \times k$), and
//!
//! $$ \lVert x_s - m_c \rVert^2 = \lVert x_s \rVert^2 - 2 x_s^T T_c + m_c^T T_c. $$
//!
//! One iteration costs $O(u r k)$ and, for $Q = G$, one product of a $K \times K$ with a
//! $K \times k$ matrix. A profile of weight 3 counts as three objects.
//!
//! Starts are by turns at profiles drawn by weight and at profiles [far apart](far_apart): the former
//! alone often leave one of many clusters without a start.
//!
//! Of more than 10,000 profiles (20 a cluster, if that is more; and unless a few have nearly all the
//! weight) starts are run on a systematic sample of as many by weight, with the distances of all, and the best goes on with all: which start is best shows on a sample as well.

use rayon::prelude::*;

use crate::base::restarts::{FITS_HELD, best_of_restarts};
use crate::base::seeds::{far_apart, seeds_held};
use crate::ensemble::{Profiles, drawn_for};
use crate::error::Result;
use crate::linalg::{Matrix, product};
use crate::rng::Stream;
use crate::run::{Run, Stop};

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// A profile leaves its cluster for one that is nearer by more than this, relative to the squared
/// lengths involved: the rest is rounding, and would let equals change places for ever.
const ROUNDING: f64 = 1e-12;

/// All profiles take part in every start; above, a sample of so many, and the best goes on with all.
const STARTED: usize = 10_000;

/// The label of a profile before its first search.
const NONE: u32 = u32::MAX;

/// What is clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// The rows of $H$, columns minus their means, a missing label being the mean.
    Labels,
    /// The rows of $H H^T$, a missing label agreeing with none.
    Coassociation,
}

/// How often and how long to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) restarts: usize,
    pub(crate) max_iter: usize,
}

/// What k-means found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowFit {
    /// The cluster of every profile.
    pub(crate) labels: Vec<u32>,
    /// The weighted sum of squared distances to the centres after every iteration; never rises.
    pub(crate) trace: Vec<f64>,
    /// Why it stopped.
    pub(crate) stop: Stop,
}

impl RowFit {
    /// The sum of squares at the end.
    pub(crate) fn inertia(&self) -> f64 {
        *self.trace.last().expect("at least one iteration")
    }
}

/// Labels by k-means of the rows of $H$, for methods to start from: a few iterations will do.
pub(crate) fn grouped(
    profiles: &Profiles,
    k: usize,
    restarts: usize,
    run: &Run,
) -> Result<Vec<u32>> {
    const MAX_ITER: usize = 50;
    let rows = RowKMeans::new(profiles, Rows::Labels, k.min(profiles.len()));
    Ok(rows.fit(None, Effort { restarts, max_iter: MAX_ITER }, run)?.0.labels)
}

/// The clustering of the rows of one ensemble.
pub(crate) struct RowKMeans<'a> {
    profiles: &'a Profiles,
    k: usize,
    /// What is subtracted from the columns of $H$ where there is a label.
    means: Option<Vec<f64>>,
    /// $Q$, if it is not the identity.
    metric: Option<Matrix>,
    /// $\lVert x_s \rVert^2$.
    squares: Vec<f64>,
}

/// The centres: $T$, and $m_c^T T_c$ of every cluster.
struct Centres {
    table: Matrix,
    squares: Vec<f64>,
}

impl<'a> RowKMeans<'a> {
    /// Bytes that are held for `k` clusters of `u` profiles in members of `n_clusters` clusters.
    pub(crate) fn cost(rows: Rows, u: usize, n_clusters: usize, k: usize) -> u64 {
        let (u, n_clusters, k) = (u as u64, n_clusters as u64, k as u64);
        let metric = if rows == Rows::Coassociation { n_clusters * n_clusters } else { n_clusters };
        // The metric once more for a sample, what every fit holds of a profile while it looks for seeds
        // or iterates, and its centres with partial sums.
        let a_fit = u * seeds_held(k as usize) as u64 + 20 * n_clusters * k;
        8 * (2 * metric + u + FITS_HELD * a_fit)
    }

    /// Prepares to find `k` clusters.
    pub(crate) fn new(profiles: &'a Profiles, rows: Rows, k: usize) -> Self {
        let (means, metric) = match rows {
            Rows::Labels => (Some(column_means(profiles)), None),
            Rows::Coassociation => (None, Some(profiles.gram(profiles.weights()))),
        };
        let square = |s: usize, entries: &mut Vec<(usize, f64)>| -> f64 {
            entries.clear();
            profiles.for_each_entry(s, |_, c, p| entries.push((c, p)));
            if let Some(q) = &metric {
                return quadratic_form(q, entries);
            }
            let mean = |c: usize| means.as_ref().map_or(0.0, |means| means[c]);
            let own: f64 = entries.iter().map(|&(c, p)| p * (p - 2.0 * mean(c))).sum();
            let labelled = (0..profiles.n_members()).filter(|&h| profiles.is_labelled(s, h));
            let mut rest = 0.0;
            for h in labelled {
                rest +=
                    profiles.members()[h].clusters.clone().map(|c| mean(c).powi(2)).sum::<f64>();
            }
            own + rest
        };
        let room = || Vec::with_capacity(profiles.n_members());
        let rows = (0..profiles.len()).into_par_iter().with_min_len(512);
        let squares = rows.map_init(room, |entries, s| square(s, entries)).collect();
        RowKMeans { profiles, k, means, metric, squares }
    }

    /// $\sum_s w_s \lVert x_s \rVert^2$: for centred rows the sum of squares with one cluster.
    pub(crate) fn total_square(&self) -> f64 {
        self.profiles.weights().iter().zip(&self.squares).map(|(w, x)| w * x).sum()
    }

    /// The best of several starts at drawn profiles, or the one from `start`; with the
    /// sums of squares that all ended at, on a sample if there are many profiles.
    pub(crate) fn fit(
        &self,
        start: Option<&[u32]>,
        effort: Effort,
        run: &Run,
    ) -> Result<(RowFit, Vec<f64>)> {
        if start.is_none()
            && let Some((rows, weights)) = drawn_for(self.k, self.profiles, STARTED)
        {
            let some = self.profiles.selected(&rows, weights);
            let some = self.of_some(&some, &rows);
            let (best, scores) = some.fit_all(None, effort, run)?;
            let fit = self.iterate(&some.centres(&best.labels), effort.max_iter, run)?;
            return Ok((fit, scores));
        }
        self.fit_all(start, effort, run)
    }

    /// [`fit`](Self::fit) with all profiles from the beginning.
    fn fit_all(
        &self,
        start: Option<&[u32]>,
        effort: Effort,
        run: &Run,
    ) -> Result<(RowFit, Vec<f64>)> {
        let restarts = if start.is_some() { 1 } else { effort.restarts };
        let fit = |restart: usize| {
            let centres = match start {
                Some(labels) => {
                    let last = self.k as u32 - 1;
                    self.centres(&labels.iter().map(|&c| c.min(last)).collect::<Vec<_>>())
                }
                None => self.drawn(run, restart)?,
            };
            self.iterate(&centres, effort.max_iter, run)
        };
        let (best, scores) = best_of_restarts("k-means", restarts, run, fit, |fit| -fit.inertia())?;
        Ok((best, scores.into_iter().map(|score| -score).collect()))
    }

    /// The clustering of some of the rows with weights of their own, distances as here.
    fn of_some<'b>(&self, profiles: &'b Profiles, rows: &[u32]) -> RowKMeans<'b> {
        RowKMeans {
            profiles,
            k: self.k,
            means: self.means.clone(),
            metric: self.metric.clone(),
            squares: rows.iter().map(|&s| self.squares[s as usize]).collect(),
        }
    }

    /// Centres at `k` profiles, drawn without replacement by weight, or far apart at every second start.
    fn drawn(&self, run: &Run, restart: usize) -> Result<Centres> {
        let mut rng = run.rng(Stream::Restart(restart as u64));
        if !restart.is_multiple_of(2) {
            let distances = |rows: &[usize]| self.distances_to(rows, run);
            let seeds = far_apart(self.profiles.weights(), self.k, &mut rng, distances)?;
            return Ok(self.centres_at(&seeds));
        }
        let mut left = self.profiles.weights().to_vec();
        let by_weight = |_| {
            let s = rng.weighted(&left);
            left[s] = 0.0;
            s
        };
        Ok(self.centres_at(&(0..self.k).map(by_weight).collect::<Vec<_>>()))
    }

    /// Centres at these profiles, all different.
    fn centres_at(&self, rows: &[usize]) -> Centres {
        let mut sums = Matrix::zeros(self.profiles.n_clusters(), rows.len());
        for (c, &s) in rows.iter().enumerate() {
            self.profiles.for_each_entry(s, |_, cluster, p| sums[(cluster, c)] = p);
        }
        self.means(sums, &vec![1.0; rows.len()])
    }

    /// The squared distances of all rows to these, one column each.
    fn distances_to(&self, rows: &[usize], run: &Run) -> Result<Matrix> {
        let centres = self.centres_at(rows);
        let mut distances = Matrix::zeros(self.profiles.len(), rows.len());
        let chunks = distances.as_mut_slice().par_chunks_mut(CHUNK * rows.len()).enumerate();
        chunks.try_for_each(|(chunk, out)| {
            run.check()?;
            let mut out = out.chunks_exact_mut(rows.len());
            let first = chunk * CHUNK;
            let some = first..first + out.len();
            self.profiles.for_each_spread(some, &centres.table, |s, products| {
                let distances = out.next().expect("as many as profiles");
                let all = distances.iter_mut().zip(products.iter().zip(&centres.squares));
                all.for_each(|(d, (product, square))| {
                    let far = self.squares[s] - 2.0 * product + square;
                    *d = if far > ROUNDING * (self.squares[s] + square) { far } else { 0.0 };
                });
            });
            Ok(())
        })?;
        Ok(distances)
    }

    /// The means of the clusters; unlabelled profiles do not count.
    fn centres(&self, labels: &[u32]) -> Centres {
        let (profiles, k) = (self.profiles, self.k);
        let (n_clusters, w) = (profiles.n_clusters(), profiles.weights());
        let sums = profiles.sum_over_ranges((n_clusters + 1) * k, |rows, sums| {
            let (sums, sizes) = sums.split_at_mut(n_clusters * k);
            if profiles.is_hard() {
                profiles.for_each_row(rows, |s, clusters| {
                    let c = labels[s] as usize;
                    if labels[s] != NONE {
                        clusters.iter().for_each(|&a| sums[a as usize * k + c] += w[s]);
                        sizes[c] += w[s];
                    }
                });
                return;
            }
            for s in rows.filter(|&s| labels[s] != NONE) {
                let c = labels[s] as usize;
                profiles.for_each_entry(s, |_, cluster, p| sums[cluster * k + c] += w[s] * p);
                sizes[c] += w[s];
            }
        });
        let (sums, sizes) = sums.split_at(n_clusters * k);
        self.means(Matrix::from_vec(n_clusters, k, sums.to_vec()), sizes)
    }

    /// Centres from the sums of the plain rows of $H$ in each cluster; that of an empty one is 0.
    fn means(&self, mut centres: Matrix, sizes: &[f64]) -> Centres {
        let (profiles, k) = (self.profiles, sizes.len());
        for member in profiles.members() {
            for c in 0..k {
                let known: f64 = member.clusters.clone().map(|a| centres[(a, c)]).sum();
                for a in member.clusters.clone() {
                    let mean = self.means.as_ref().map_or(0.0, |means| means[a]);
                    let sum = centres[(a, c)] - mean * known;
                    centres[(a, c)] = if sizes[c] > 0.0 { sum / sizes[c] } else { 0.0 };
                }
            }
        }
        let mut table = match &self.metric {
            Some(metric) => product(metric.as_faer(), centres.as_faer()),
            None => centres.clone(),
        };
        let mut squares = vec![0.0; k];
        for (m, t) in centres.iter_rows().zip(table.iter_rows()) {
            squares.iter_mut().zip(m.iter().zip(t)).for_each(|(sum, (m, t))| *sum += m * t);
        }
        if let Some(means) = &self.means {
            // A row is a label minus the means of its member: take their product off beforehand.
            for member in profiles.members() {
                for c in 0..k {
                    let of_means: f64 =
                        member.clusters.clone().map(|a| means[a] * table[(a, c)]).sum();
                    member.clusters.clone().for_each(|a| table[(a, c)] -= of_means);
                }
            }
        }
        Centres { table, squares }
    }

    fn iterate(&self, start: &Centres, max_iter: usize, run: &Run) -> Result<RowFit> {
        let u = self.profiles.len();
        let (mut labels, mut distances) = (vec![NONE; u], vec![0.0; u]);
        self.assign(start, &mut labels, &mut distances, run)?;
        let mut trace = Vec::new();
        let mut stop = Stop::MaxIterations;
        while trace.len() < max_iter {
            self.fill_empty(&mut labels, &mut distances);
            let centres = self.centres(&labels);
            let changed = self.assign(&centres, &mut labels, &mut distances, run)?;
            trace.push(self.profiles.weights().iter().zip(&distances).map(|(w, d)| w * d).sum());
            if !changed {
                stop = Stop::Converged;
                break;
            }
        }
        Ok(RowFit { labels, trace, stop })
    }

    /// Puts every profile to its nearest centre and tells how far that is; whether any moved.
    fn assign(
        &self,
        centres: &Centres,
        labels: &mut [u32],
        distances: &mut [f64],
        run: &Run,
    ) -> Result<bool> {
        let chunks = labels.par_chunks_mut(CHUNK).zip(distances.par_chunks_mut(CHUNK)).enumerate();
        let moved = |(chunk, (labels, distances)): (usize, (&mut [u32], &mut [f64]))| {
            run.check()?;
            let first = chunk * CHUNK;
            let mut changed = false;
            let rows = first..first + labels.len();
            self.profiles.for_each_spread(rows, &centres.table, |s, products| {
                let square = self.squares[s];
                let distance = |c: usize| square - 2.0 * products[c] + centres.squares[c];
                let label = &mut labels[s - first];
                let (mut best, mut nearest) = match *label {
                    NONE => (NONE, f64::INFINITY),
                    own => {
                        let own_distance = distance(own as usize);
                        let scale = square + centres.squares[own as usize];
                        (own, own_distance - ROUNDING * scale)
                    }
                };
                for c in 0..self.k {
                    if distance(c) < nearest {
                        (best, nearest) = (c as u32, distance(c));
                    }
                }
                changed |= *label != best;
                *label = best;
                distances[s - first] = distance(best as usize).max(0.0);
            });
            Ok(changed)
        };
        let changed: Vec<bool> = chunks.map(moved).collect::<Result<_>>()?;
        Ok(changed.into_iter().any(|changed| changed))
    }

    /// Gives every empty cluster the profile farthest from its centre, as long as some are far.
    fn fill_empty(&self, labels: &mut [u32], distances: &mut [f64]) {
        let mut sizes = vec![0usize; self.k];
        labels.iter().for_each(|&c| sizes[c as usize] += 1);
        while let Some(empty) = sizes.iter().position(|&size| size == 0) {
            let far = |s: &usize| {
                sizes[labels[*s] as usize] > 1 && distances[*s] > ROUNDING * self.squares[*s]
            };
            let farther = |a: usize, b: usize| if distances[b] > distances[a] { b } else { a };
            let Some(s) = (0..labels.len()).filter(far).reduce(farther) else { return };
            sizes[labels[s] as usize] -= 1;
            sizes[empty] += 1;
            labels[s] = empty as u32;
            distances[s] = 0.0;
        }
    }
}

/// $h^T Q h$ for the vector $h$ with these entries.
///
/// The sums of four rows go on side by side, as each addition waits for the one before; none of them
/// is in another order for that.
fn quadratic_form(q: &Matrix, entries: &[(usize, f64)]) -> f64 {
    let (fours, rest) = entries.as_chunks::<4>();
    let mut total = 0.0;
    for four in fours {
        let rows = four.map(|(c, _)| q.row(c));
        let mut sums = [0.0; 4];
        for &(d, o) in entries {
            for i in 0..4 {
                sums[i] += four[i].1 * o * rows[i][d];
            }
        }
        total = sums.iter().fold(total, |total, sum| total + sum);
    }
    for &(c, p) in rest {
        let row = q.row(c);
        total += entries.iter().fold(0.0, |sum, &(d, o)| sum + p * o * row[d]);
    }
    total
}

/// The mean of every column of $H$ over the objects that its member labels.
fn column_means(profiles: &Profiles) -> Vec<f64> {
    let mut means = profiles.cluster_weights();
    for member in profiles.members() {
        let known: f64 = means[member.clusters.clone()].iter().sum();
        means[member.clusters.clone()].iter_mut().for_each(|mean| *mean /= known);
    }
    means
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles, three_noisy_clusters};

    /// What is clustered, as plain rows: labels minus means, or rows of $H H^T$ over the objects.
    fn dense_rows(profiles: &Profiles, rows: Rows) -> Vec<Vec<f64>> {
        let h = dense_incidence(profiles);
        let u = profiles.len();
        match rows {
            Rows::Labels => {
                let means = column_means(profiles);
                let entry = |s: usize, member: usize, c: usize| {
                    if profiles.is_labelled(s, member) { h[(s, c)] - means[c] } else { 0.0 }
                };
                let row = |s: usize| {
                    let blocks = profiles.members().iter().enumerate();
                    blocks
                        .flat_map(|(l, m)| m.clusters.clone().map(move |c| (l, c)))
                        .map(|(l, c)| entry(s, l, c))
                        .collect()
                };
                (0..u).map(row).collect()
            }
            Rows::Coassociation => {
                let dot = |s: usize, t: usize| -> f64 {
                    h.row(s).iter().zip(h.row(t)).map(|(a, b)| a * b).sum()
                };
                // A profile of weight w stands for w columns.
                let root = |t: usize| profiles.weights()[t].sqrt();
                (0..u).map(|s| (0..u).map(|t| dot(s, t) * root(t)).collect()).collect()
            }
        }
    }

    fn square_sum(rows: &[Vec<f64>], profiles: &Profiles, labels: &[u32], k: usize) -> f64 {
        let w = profiles.weights();
        let mut sum = 0.0;
        for c in 0..k as u32 {
            let own: Vec<usize> = (0..rows.len()).filter(|&s| labels[s] == c).collect();
            let size: f64 = own.iter().map(|&s| w[s]).sum();
            for j in 0..rows[0].len() {
                let mean = own.iter().map(|&s| w[s] * rows[s][j]).sum::<f64>() / size;
                sum += own.iter().map(|&s| w[s] * (rows[s][j] - mean).powi(2)).sum::<f64>();
            }
        }
        sum
    }

    fn either() -> impl Strategy<Value = Rows> {
        prop_oneof![Just(Rows::Labels), Just(Rows::Coassociation)]
    }

    proptest! {
        /// Distances by look-up are distances of the rows written out.
        #[test]
        fn distances_are_those_of_the_rows(
            ensemble in ensembles(Kinds::ALL, 12, 5), rows in either(), k in 1usize..4, seed: u64,
        ) {
            let profiles = profiles(&ensemble);
            let k = k.min(profiles.len());
            let run = Run::new(seed).threads(1);
            let kmeans = RowKMeans::new(&profiles, rows, k);
            let mut labels = vec![NONE; profiles.len()];
            let mut distances = vec![0.0; profiles.len()];
            let dense = dense_rows(&profiles, rows);
            let mut rng = run.rng(Stream::Data);
            let drawn: Vec<u32> =
                (0..profiles.len()).map(|s| if s < k { s } else { rng.below(k) } as u32).collect();
            let centres = kmeans.centres(&drawn);
            kmeans.assign(&centres, &mut labels, &mut distances, &run).unwrap();
            let w = profiles.weights();
            for (s, x) in dense.iter().enumerate() {
                let to = |c: u32| -> f64 {
                    let own: Vec<usize> = (0..drawn.len()).filter(|&t| drawn[t] == c).collect();
                    let size: f64 = own.iter().map(|&t| w[t]).sum();
                    let mean = |j: usize| own.iter().map(|&t| w[t] * dense[t][j]).sum::<f64>() / size;
                    (0..x.len()).map(|j| (x[j] - mean(j)).powi(2)).sum()
                };
                let scale = 1.0 + x.iter().map(|x| x * x).sum::<f64>();
                prop_assert!((distances[s] - to(labels[s])).abs() < 1e-10 * scale);
                for c in 0..k as u32 {
                    prop_assert!(distances[s] <= to(c) + 1e-10 * scale);
                }
            }
            // Those to single rows too.
            let seeds: Vec<usize> = (0..k).collect();
            let to_seeds = kmeans.distances_to(&seeds, &run).unwrap();
            for (s, x) in dense.iter().enumerate() {
                for (j, y) in dense[..k].iter().enumerate() {
                    let far: f64 = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum();
                    let scale = 1.0 + x.iter().chain(y).map(|x| x * x).sum::<f64>();
                    prop_assert!((to_seeds[(s, j)] - far).abs() < 1e-10 * scale);
                }
            }
        }

        /// What is told at the end is the sum of squares of the labels, and it never rose.
        #[test]
        fn the_sum_of_squares_never_rises(
            ensemble in ensembles(Kinds::ALL, 15, 5), rows in either(), k in 1usize..5, seed: u64,
        ) {
            let profiles = profiles(&ensemble);
            let k = k.min(profiles.len());
            let kmeans = RowKMeans::new(&profiles, rows, k);
            let effort = Effort { restarts: 3, max_iter: 100 };
            let (fit, ends) = kmeans.fit(None, effort, &Run::new(seed).threads(1)).unwrap();
            prop_assert_eq!(fit.stop, Stop::Converged);
            let scale = 1.0 + kmeans.total_square();
            // Of starts that only rounding tells apart the first is kept.
            prop_assert!(ends.iter().all(|&end| end >= fit.inertia() - 1e-10 * scale));
            for pair in fit.trace.windows(2) {
                prop_assert!(pair[1] <= pair[0] + 1e-10 * scale, "{:?}", fit.trace);
            }
            let told = square_sum(&dense_rows(&profiles, rows), &profiles, &fit.labels, k);
            prop_assert!((told - fit.inertia()).abs() < 1e-9 * scale);
        }
    }

    /// More profiles than take part in every start: three clusters, a third of the labels at random.
    #[test]
    fn many_profiles_start_on_a_sample() {
        let n = 15_000;
        let profiles = profiles(&three_noisy_clusters(n, 2));
        assert!(profiles.len() > STARTED);
        let effort = Effort { restarts: 3, max_iter: 100 };
        for rows in [Rows::Labels, Rows::Coassociation] {
            let kmeans = RowKMeans::new(&profiles, rows, 3);
            let on = |threads| {
                let run = Run::new(1).threads(threads);
                run.install(|| kmeans.fit(None, effort, &run)).unwrap()
            };
            let (fit, ends) = on(2);
            assert_eq!((&fit, &ends), (&on(1).0, &on(1).1));
            assert_eq!((fit.stop, ends.len()), (Stop::Converged, 3));
            assert!(fit.trace.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)));
            // The sample's sums of squares are near those of all.
            let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((fit.inertia() / least - 1.0).abs() < 0.05, "{} {least}", fit.inertia());
        }
    }
}
