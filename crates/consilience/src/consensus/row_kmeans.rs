//! k-means on the rows of the incidence matrix $H$, or on those of the co-association matrix, with
//! neither built.
//!
//! Let $x_s$ be what is clustered: a row of $H$, plain, or with the mean of every labelled column
//! subtracted (a missing label is then 0, the mean), or divided by the degree $d_s$ of its profile, which
//! then counts $d_s$ times. Lengths are measured by $\lVert x \rVert^2 = x^T Q x$, with $Q = I$ or
//! $Q = G = H^T W H$: the squared distance of two rows of $H H^T$ over all objects is
//! $(h_s - h_t)^T G (h_s - h_t)$.
//!
//! A centre $m_c$ is a mean of rows, so its inner product with a row is a sum of one look-up per label
//! in the table $T = Q M$ ($K \times k$), and
//!
//! $$ \lVert x_s - m_c \rVert^2 = \lVert x_s \rVert^2 - 2 x_s^T T_c + m_c^T T_c. $$
//!
//! One iteration costs $O(u r k)$ and, for $Q = G$, one product of a $K \times K$ with a
//! $K \times k$ matrix. A profile of weight 3 counts as three objects.
//!
//! Starts are at profiles [far apart](far_apart), or by turns at such and at profiles drawn by weight: the
//! latter alone often leave one of many clusters without a start.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::consensus::driver::{Effort, STATES_HELD, Solver, Step, sample, solve};
use crate::consensus::outcome::Consensus;
use crate::consensus::seeds::{far_apart, seeds_held};
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::{Matrix, product};
use crate::rng::Stream;
use crate::run::Run;

/// Profiles of one unit of parallel work.
const CHUNK: usize = 4096;

/// A profile leaves its cluster for one that is nearer by more than this, relative to the squared
/// lengths involved: the rest is rounding, and would let equals change places for ever.
const ROUNDING: f64 = 1e-12;

/// The label of a profile before its first search.
const NONE: u32 = u32::MAX;

/// What is clustered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// The rows of $H$, columns minus their means, a missing label being the mean.
    Labels,
    /// The rows of $H H^T / r$, a missing label agreeing with none.
    Coassociation,
    /// The rows of $H$ divided by the degrees $H H^T w$, which they are weighted by.
    Normalised,
}

/// Where the starts of a mixture model are: random but for the last of several, which is near k-means of
/// the rows of $H$, because random ones often leave clusters together, or near a given clustering.
pub(crate) struct MixtureStarts<'a> {
    /// The profiles that starts are settled on, if not all.
    pub(crate) some: Option<Profiles>,
    pub(crate) restarts: usize,
    /// What the last one is near.
    near: Option<Cow<'a, [u32]>>,
}

impl<'a> MixtureStarts<'a> {
    /// So many starts with `k` components, or one if `given` says where.
    pub(crate) fn new(
        profiles: &Profiles,
        k: usize,
        (points, restarts): (usize, usize),
        given: Option<&'a [u32]>,
        run: &Run,
    ) -> Result<Self> {
        /// It is but a start: a few iterations will do.
        const MAX_ITER: usize = 50;
        let given = given.map(Cow::Borrowed);
        // A start at the only member that tells objects apart leaves nothing to look for.
        if let Some(near) = given.or_else(|| profiles.only_member_that_parts(k).map(Cow::Owned)) {
            return Ok(MixtureStarts { some: None, restarts: 1, near: Some(near) });
        }
        let some = sample(profiles, k, points);
        let mut near = None;
        if restarts > 1 || some.is_some() {
            let on = some.as_ref().unwrap_or(profiles);
            let rows = RowKMeans::new(on, Rows::Labels, k.min(on.len()), None);
            near =
                Some(Cow::Owned(solve(&rows, None, Effort::new(restarts, MAX_ITER), run)?.labels));
        }
        Ok(MixtureStarts { some, restarts, near })
    }

    /// The shares of every profile in `k` components near the clustering that restart `i` begins at, if it
    /// is not random. Exact zeros would make such a start a fixed point.
    pub(crate) fn shares(&self, k: usize, restart: usize) -> Option<Matrix> {
        /// How much of an object is left to the other components.
        const BLUR: f64 = 0.1;
        let labels = self.near.as_ref().filter(|_| restart + 1 == self.restarts)?;
        Some(Matrix::from_fn(labels.len(), k, |s, m| {
            BLUR / k as f64 + if labels[s] as usize == m { 1.0 - BLUR } else { 0.0 }
        }))
    }
}

/// The clustering of the rows of one ensemble.
pub(crate) struct RowKMeans<'a> {
    profiles: &'a Profiles,
    rows: Rows,
    k: usize,
    start: Option<&'a [u32]>,
    /// What every row counts.
    weights: Cow<'a, [f64]>,
    /// What is subtracted from the columns of $H$ where there is a label.
    means: Option<Vec<f64>>,
    /// What a row of $H$ is multiplied by, if not 1.
    scale: Option<Vec<f64>>,
    /// $Q$, if it is not the identity.
    metric: Option<Matrix>,
    /// $\lVert x_s \rVert^2$.
    squares: Vec<f64>,
}

/// The centres: $T$, and $m_c^T T_c$ of every cluster.
pub(crate) struct Centres {
    table: Matrix,
    squares: Vec<f64>,
}

/// The cluster of every profile, and its squared distance to the centre.
pub(crate) struct Assigned {
    labels: Vec<u32>,
    distances: Vec<f64>,
}

impl Solver for RowKMeans<'_> {
    type State = Assigned;
    const STAGE: &'static str = "k-means";

    fn start(&self, restart: usize, run: &Run) -> Result<Assigned> {
        let centres = match self.start {
            Some(labels) => self.centres(labels),
            None => self.drawn(run, restart)?,
        };
        self.nearest(&centres, run)
    }

    fn step(&self, state: &mut Assigned, run: &Run) -> Result<Step> {
        self.fill_empty(state);
        let moved = self.assign(&self.centres(&state.labels), state, run)?;
        let squares: f64 = self.weights.iter().zip(&state.distances).map(|(w, d)| w * d).sum();
        // The rows written down are those of r S.
        let r = self.profiles.n_members() as f64;
        let unit = if self.rows == Rows::Coassociation { r * r } else { 1.0 };
        Ok(Step::of_labels(squares / unit, moved / self.profiles.total_weight()))
    }

    fn extend(&self, some: &Self, state: Assigned, run: &Run) -> Result<Assigned> {
        self.nearest(&some.centres(&state.labels), run)
    }

    fn finish(&self, state: Assigned, _: &Run) -> Result<Consensus> {
        Ok(Consensus::from_labels(state.labels, self.k))
    }
}

impl<'a> RowKMeans<'a> {
    /// Bytes that are held for `k` clusters of `u` profiles in members of `n_clusters` clusters.
    pub(crate) fn cost(rows: Rows, u: usize, n_clusters: usize, k: usize) -> u64 {
        let (u, n_clusters, k) = (u as u64, n_clusters as u64, k as u64);
        let metric = if rows == Rows::Coassociation { n_clusters * n_clusters } else { n_clusters };
        // The metric once more for a sample; squares, scales and weights; what every fit holds of a
        // profile while it looks for seeds or iterates, and its centres with partial sums.
        let a_fit = u * seeds_held(k as usize) as u64 + 20 * n_clusters * k;
        8 * (2 * metric + 3 * u + STATES_HELD * a_fit)
    }

    /// Prepares to find `k` clusters, from `start` if it is given, all of whose labels are below `k`.
    pub(crate) fn new(
        profiles: &'a Profiles,
        rows: Rows,
        k: usize,
        start: Option<&'a [u32]>,
    ) -> Self {
        let (mut means, mut metric, mut scale) = (None, None, None);
        let mut weights = Cow::Borrowed(profiles.weights());
        match rows {
            Rows::Labels => means = Some(profiles.cluster_shares()),
            Rows::Coassociation => metric = Some(profiles.gram(profiles.weights())),
            Rows::Normalised => {
                let sizes = profiles.cluster_weights();
                let degrees = profiles.spread(&Matrix::from_vec(sizes.len(), 1, sizes)).into_vec();
                weights = degrees.iter().zip(profiles.weights()).map(|(d, w)| d * w).collect();
                scale = Some(degrees.into_iter().map(|d| 1.0 / d).collect::<Vec<f64>>());
            }
        }
        let square = |s: usize, entries: &mut Vec<(usize, f64)>| -> f64 {
            entries.clear();
            profiles.for_each_entry(s, |_, c, p| entries.push((c, p)));
            if let Some(q) = &metric {
                return quadratic_form(q, entries);
            }
            let Some(means) = &means else {
                let scale = scale.as_ref().map_or(1.0, |scale| scale[s]);
                return entries.iter().map(|&(_, p)| p * p).sum::<f64>() * scale * scale;
            };
            let own: f64 = entries.iter().map(|&(c, p)| p * (p - 2.0 * means[c])).sum();
            let labelled = (0..profiles.n_members()).filter(|&h| profiles.is_labelled(s, h));
            let of_means = |h: usize| {
                let means = &means[profiles.members()[h].clusters.clone()];
                means.iter().map(|mean| mean * mean).sum::<f64>()
            };
            own + labelled.map(of_means).sum::<f64>()
        };
        let room = || Vec::with_capacity(profiles.n_members());
        let each = (0..profiles.len()).into_par_iter().with_min_len(512);
        let squares = each.map_init(room, |entries, s| square(s, entries)).collect();
        RowKMeans { profiles, rows, k, start, weights, means, scale, metric, squares }
    }

    /// The best of several starts, on a sample of `points` first if there are more profiles, or the one
    /// that is given.
    pub(crate) fn fit(&self, points: usize, effort: Effort, run: &Run) -> Result<Consensus> {
        if self.start.is_some() {
            return solve(self, None, Effort { restarts: 1, ..effort }, run);
        }
        let some = sample(self.profiles, self.k, points);
        let of_some = some.as_ref().map(|some| RowKMeans::new(some, self.rows, self.k, None));
        solve(self, of_some.as_ref().zip(some.as_ref()), effort, run)
    }

    /// $\sum_s w_s \lVert x_s \rVert^2$: for centred rows the sum of squares with one cluster.
    pub(crate) fn total_square(&self) -> f64 {
        self.weights.iter().zip(&self.squares).map(|(w, x)| w * x).sum()
    }

    /// Centres at `k` profiles far apart, or at every second start, unless rows are normalised, drawn
    /// without replacement by weight.
    fn drawn(&self, run: &Run, restart: usize) -> Result<Centres> {
        let mut rng = run.rng(Stream::Restart(restart as u64));
        if self.rows == Rows::Normalised || !restart.is_multiple_of(2) {
            let distances = |rows: &[usize]| self.distances_to(rows, run);
            let seeds = far_apart(&self.weights, self.k, &mut rng, distances)?;
            return Ok(self.centres_at(&seeds));
        }
        let mut left = self.weights.to_vec();
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
            let scale = self.scale_of(s);
            self.profiles.for_each_entry(s, |_, cluster, p| sums[(cluster, c)] = p * scale);
        }
        self.means(sums, &vec![1.0; rows.len()])
    }

    #[inline(always)]
    fn scale_of(&self, s: usize) -> f64 {
        self.scale.as_ref().map_or(1.0, |scale| scale[s])
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
                let (own, scale) = (self.squares[s], self.scale_of(s));
                let distances = out.next().expect("as many as profiles");
                let all = distances.iter_mut().zip(products.iter().zip(&centres.squares));
                all.for_each(|(d, (product, square))| {
                    let far = own - 2.0 * product * scale + square;
                    *d = if far > ROUNDING * (own + square) { far } else { 0.0 };
                });
            });
            Ok(())
        })?;
        Ok(distances)
    }

    /// The means of the clusters; unlabelled profiles do not count.
    fn centres(&self, labels: &[u32]) -> Centres {
        let (profiles, k, counts) = (self.profiles, self.k, &self.weights);
        let (n_clusters, w) = (profiles.n_clusters(), profiles.weights());
        let sums = profiles.sum_over_ranges((n_clusters + 1) * k, |rows, sums| {
            let (sums, sizes) = sums.split_at_mut(n_clusters * k);
            if profiles.is_hard() {
                profiles.for_each_row(rows, |s, clusters| {
                    let c = labels[s] as usize;
                    if labels[s] != NONE {
                        clusters.iter().for_each(|&a| sums[a as usize * k + c] += w[s]);
                        sizes[c] += counts[s];
                    }
                });
                return;
            }
            for s in rows.filter(|&s| labels[s] != NONE) {
                let c = labels[s] as usize;
                profiles.for_each_entry(s, |_, cluster, p| sums[cluster * k + c] += w[s] * p);
                sizes[c] += counts[s];
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

    /// Every profile with its nearest centre.
    fn nearest(&self, centres: &Centres, run: &Run) -> Result<Assigned> {
        let u = self.profiles.len();
        let mut state = Assigned { labels: vec![NONE; u], distances: vec![0.0; u] };
        self.assign(centres, &mut state, run)?;
        Ok(state)
    }

    /// Puts every profile to its nearest centre and tells how far that is; the weight that moved.
    fn assign(&self, centres: &Centres, state: &mut Assigned, run: &Run) -> Result<f64> {
        let Assigned { labels, distances } = state;
        let chunks = labels.par_chunks_mut(CHUNK).zip(distances.par_chunks_mut(CHUNK)).enumerate();
        let of_chunk = |(chunk, (labels, distances)): (usize, (&mut [u32], &mut [f64]))| {
            run.check()?;
            let first = chunk * CHUNK;
            let mut moved = 0.0;
            let rows = first..first + labels.len();
            self.profiles.for_each_spread(rows, &centres.table, |s, products| {
                let (square, scale) = (self.squares[s], self.scale_of(s));
                let distance = |c: usize| square - 2.0 * products[c] * scale + centres.squares[c];
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
                if *label != best {
                    moved += self.profiles.weights()[s];
                }
                *label = best;
                distances[s - first] = distance(best as usize).max(0.0);
            });
            Ok(moved)
        };
        let moved: Vec<f64> = chunks.map(of_chunk).collect::<Result<_>>()?;
        Ok(moved.into_iter().sum())
    }

    /// Gives every empty cluster the profile farthest from its centre, as long as some are far.
    fn fill_empty(&self, Assigned { labels, distances }: &mut Assigned) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::outcome::{Convergence, Stop, Value};
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    /// What is clustered, as plain rows: labels minus means, or rows of $H H^T$ over the objects.
    fn dense_rows(profiles: &Profiles, rows: Rows) -> Vec<Vec<f64>> {
        let h = dense_incidence(profiles);
        let u = profiles.len();
        match rows {
            Rows::Labels => {
                let means = profiles.cluster_shares();
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
            Rows::Normalised => {
                let degree = |s: usize| -> f64 {
                    let dot =
                        |t: usize| h.row(s).iter().zip(h.row(t)).map(|(a, b)| a * b).sum::<f64>();
                    (0..u).map(|t| profiles.weights()[t] * dot(t)).sum()
                };
                (0..u).map(|s| h.row(s).iter().map(|x| x / degree(s)).collect()).collect()
            }
        }
    }

    fn square_sum(rows: &[Vec<f64>], w: &[f64], labels: &[u32], k: usize) -> f64 {
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

    fn any() -> impl Strategy<Value = Rows> {
        prop_oneof![Just(Rows::Labels), Just(Rows::Coassociation), Just(Rows::Normalised)]
    }

    proptest! {
        /// Distances by look-up are distances of the rows written out.
        #[test]
        fn distances_are_those_of_the_rows(
            ensemble in ensembles(Kinds::ALL, 12, 5), rows in any(), k in 1usize..4, seed: u64,
        ) {
            let profiles = profiles(&ensemble);
            let k = k.min(profiles.len());
            let run = Run::new(seed).threads(1);
            let kmeans = RowKMeans::new(&profiles, rows, k, None);
            let dense = dense_rows(&profiles, rows);
            let mut rng = run.rng(Stream::Data);
            let drawn: Vec<u32> =
                (0..profiles.len()).map(|s| if s < k { s } else { rng.below(k) } as u32).collect();
            let centres = kmeans.centres(&drawn);
            let Assigned { labels, distances } = kmeans.nearest(&centres, &run).unwrap();
            let w = &kmeans.weights;
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
            ensemble in ensembles(Kinds::ALL, 15, 5), rows in any(), k in 1usize..5, seed: u64,
        ) {
            let profiles = profiles(&ensemble);
            let k = k.min(profiles.len());
            let kmeans = RowKMeans::new(&profiles, rows, k, None);
            let fit = kmeans.fit(0, Effort::new(3, 100), &Run::new(seed).threads(1)).unwrap();
            let Convergence { objective, trace, stop, .. } = fit.convergence;
            prop_assert_eq!(stop, Stop::Converged);
            let r = profiles.n_members() as f64;
            let unit = if rows == Rows::Coassociation { r * r } else { 1.0 };
            let (scale, inertia) = (1.0 + kmeans.total_square(), unit * objective.unwrap());
            let Some(Value::List(ends)) = fit.diagnostics.get("restart_objectives") else { panic!() };
            // Of starts that only rounding tells apart the first is kept.
            prop_assert!(ends.iter().all(|&end| unit * end >= inertia - 1e-10 * scale));
            for pair in trace.windows(2) {
                prop_assert!(unit * pair[1] <= unit * pair[0] + 1e-10 * scale, "{trace:?}");
            }
            let sum = square_sum(&dense_rows(&profiles, rows), &kmeans.weights, &fit.labels, k);
            prop_assert!((sum - inertia).abs() < 1e-9 * scale);
        }
    }
}
