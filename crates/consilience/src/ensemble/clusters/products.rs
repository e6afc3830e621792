//! Products with the incidence matrix $H$.

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::clusters::CHUNK;
use crate::ensemble::labels::{Code, with_codes};
use crate::ensemble::profiles::Profiles;
use crate::ensemble::profiles::tally::tally;
use crate::linalg::lanes::{Aligned, LANES, Lane, Wide};
use crate::linalg::{Matrix, by_lanes, vectorised};

impl Profiles {
    /// $\sum_s a_s h_s x_s^T$, the $K \times c$ sums of the rows of `x` over every cluster, each row
    /// scaled by `scale[s]`. With `scale` the weights this is $H^T W X$.
    ///
    /// Cost: $O(u r c)$ time for hard members.
    ///
    /// # Panics
    ///
    /// If `x` or `scale` does not have one row per profile.
    pub(crate) fn group_sums(&self, x: &Matrix, scale: &[f64]) -> Matrix {
        assert_eq!((x.nrows(), scale.len()), (self.len(), self.len()), "one row per profile");
        let (k, c) = (self.n_clusters(), x.ncols());
        let stride = c.next_multiple_of(LANES).max(LANES);
        let sums = self.sum_over_ranges(k * stride, |rows, sums| {
            if !self.is_hard() {
                for s in rows {
                    self.for_each_entry(s, |_, cluster, p| {
                        let weight = scale[s] * p;
                        let sums = &mut sums[cluster * stride..(cluster + 1) * stride];
                        sums.iter_mut().zip(x.row(s)).for_each(|(sum, x)| *sum += weight * x);
                    });
                }
                return;
            }
            tally(rows.len() * self.n_members() * c);
            let (first, mut scaled) = (self.first_clusters(), vec![[0.0; LANES]; stride / LANES]);
            with_codes!(self.codes(), codes => vectorised(#[inline(always)] || {
                let sums = sums.as_chunks_mut::<LANES>().0;
                for s in rows.clone() {
                    let (row, weight) = (scaled.as_flattened_mut(), scale[s]);
                    row.iter_mut().zip(x.row(s)).for_each(|(y, x)| *y = weight * x);
                    let codes = &codes[s * first.len()..(s + 1) * first.len()];
                    by_lanes!(scaled.len(), add_to_clusters(codes, first, &scaled, sums));
                }
            }));
        });
        Matrix::from_fn(k, c, |i, j| sums[i * stride + j])
    }

    /// $H Y$: for every profile the sum of the rows of `y` over the clusters it is in.
    ///
    /// Cost: $O(u r c)$ time for hard members.
    ///
    /// # Panics
    ///
    /// If `y` does not have one row per cluster.
    pub(crate) fn spread(&self, y: &Matrix) -> Matrix {
        assert_eq!(y.nrows(), self.n_clusters(), "one row per cluster");
        let c = y.ncols();
        let mut out = Matrix::zeros(self.len(), c);
        if c == 0 {
            return out;
        }
        let y = Wide::new(y);
        out.as_mut_slice().par_chunks_mut(CHUNK * c).enumerate().for_each(|(chunk, out)| {
            let start = chunk * CHUNK;
            self.spread_rows(&y, start..start + out.len() / c, |s, row| {
                out[(s - start) * c..][..c].copy_from_slice(row);
            });
        });
        out
    }

    /// Calls `fold(value, s, row)` for every profile `s` and its row of $H Y$, which is not kept,
    /// starting from `T::default()` for every chunk; returns the chunks' values in order.
    ///
    /// # Panics
    ///
    /// If `y` does not have one row per cluster.
    pub(crate) fn fold_spread<T: Default + Send>(
        &self,
        y: &Matrix,
        fold: impl Fn(&mut T, usize, &[f64]) + Sync,
    ) -> Vec<T> {
        assert_eq!(y.nrows(), self.n_clusters(), "one row per cluster");
        let y = Wide::new(y);
        (0..self.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut value = T::default();
                let rows = chunk * CHUNK..((chunk + 1) * CHUNK).min(self.len());
                self.spread_rows(&y, rows, |s, row| fold(&mut value, s, row));
                value
            })
            .collect()
    }

    /// Calls `visit(s, row)` for the profiles `rows` and their rows of $H Y$.
    fn spread_rows(&self, y: &Wide, rows: Range<usize>, mut visit: impl FnMut(usize, &[f64])) {
        /// Rows worked out between visits.
        const ROWS: usize = 64;
        if !self.is_hard() {
            let mut sum = vec![0.0; y.columns];
            for s in rows {
                sum.fill(0.0);
                self.for_each_entry(s, |_, cluster, p| {
                    let row = y.row(cluster).as_flattened();
                    sum.iter_mut().zip(row).for_each(|(sum, y)| *sum += p * y);
                });
                visit(s, &sum);
            }
            return;
        }
        tally(rows.len() * self.n_members() * y.columns);
        let first = self.first_clusters();
        let mut sums = Aligned::zeros(ROWS * y.lanes * LANES);
        let (sums, y_lanes) = (sums.lanes_mut(), y.values.lanes());
        for start in rows.clone().step_by(ROWS) {
            let some = start..(start + ROWS).min(rows.end);
            with_codes!(self.codes(), codes => vectorised(#[inline(always)] || {
                let codes = codes[some.start * first.len()..].chunks_exact(first.len());
                for (codes, sums) in codes.zip(sums.chunks_exact_mut(y.lanes)).take(some.len()) {
                    sums.fill([0.0; LANES]);
                    by_lanes!(y.lanes, sum_of_clusters(codes, first, y_lanes, sums));
                }
            }));
            for (s, sums) in some.zip(sums.chunks_exact(y.lanes)) {
                visit(s, &sums.as_flattened()[..y.columns]);
            }
        }
    }

    /// What the two steps of a mixture model need, in one sweep: `answer(s, own, row, rest)` is given
    /// the row $b^T + (H Y)_s$ of every profile $s$, turns it into another, $a_s$, may change the
    /// profile's share of `own`, adds to the `n_rest` numbers of `rest` what it likes, and returns a
    /// weight $v_s$. The result is
    /// $\sum_s v_s h_s a_s^T$, $K \times c$, and `rest` over all profiles.
    ///
    /// Rows are padded to whole lanes of four, with what `b` has beyond $c$, else with zeros; what
    /// `answer` makes of the padding does not count. It is called in a [`vectorised`] loop and best
    /// `#[inline(always)]`.
    ///
    /// Cost: $O(u r c)$ time for hard members.
    ///
    /// # Panics
    ///
    /// If `y` does not have one row per cluster, or `b` not one number per column of `y`.
    pub(crate) fn answered_sums(
        &self,
        (y, b): (&Matrix, &[f64]),
        own: &mut [f64],
        n_rest: usize,
        answer: impl Fn(usize, &mut [f64], &mut [f64], &mut [f64]) -> f64 + Sync,
    ) -> (Matrix, Vec<f64>) {
        /// Rows answered between sweeps, so that both find them in the nearest cache.
        const ROWS: usize = 64;
        let (k, c) = (self.n_clusters(), y.ncols());
        assert!(y.nrows() == k && b.len() >= c, "one row per cluster, one number per column");
        let wide = Wide::new(y);
        let stride = wide.lanes * LANES;
        let mut padded = vec![0.0; stride];
        padded[..b.len()].copy_from_slice(b);
        let width = own.len() / self.len().max(1);
        // Small chunks, as few profiles are swept over often; their sums must stay cheap beside them.
        let chunk = (8 * k / self.n_members().max(1)).clamp(CHUNK / 8, CHUNK);
        let sums = self.sum_over_chunks_of(chunk, own, k * stride + n_rest, |rows, own, sums| {
            let (sums, rest) = sums.split_at_mut(k * stride);
            let own_of = |s: usize| (s - rows.start) * width..(s - rows.start + 1) * width;
            if !self.is_hard() {
                let mut row = vec![0.0; stride];
                for s in rows.clone() {
                    row.copy_from_slice(&padded);
                    self.for_each_entry(s, |_, cluster, p| {
                        row.iter_mut().zip(y.row(cluster)).for_each(|(x, y)| *x += p * y);
                    });
                    let weight = answer(s, &mut own[own_of(s)], &mut row, rest);
                    self.for_each_entry(s, |_, cluster, p| {
                        let sums = sums[cluster * stride..].iter_mut();
                        sums.zip(&row[..c]).for_each(|(sum, x)| *sum += weight * p * x);
                    });
                }
                return;
            }
            tally(2 * rows.len() * self.n_members() * c);
            let first = self.first_clusters();
            let sums = sums.as_chunks_mut::<LANES>().0;
            let mut answers = Aligned::zeros(ROWS * stride);
            let (answers, y_lanes) = (answers.lanes_mut(), wide.values.lanes());
            for start in rows.clone().step_by(ROWS) {
                let some = start..(start + ROWS).min(rows.end);
                for row in answers.chunks_exact_mut(wide.lanes) {
                    row.as_flattened_mut().copy_from_slice(&padded);
                }
                with_codes!(self.codes(), codes => vectorised(#[inline(always)] || {
                    let codes = codes[some.start * first.len()..].chunks_exact(first.len());
                    let rows = codes.zip(answers.chunks_exact_mut(wide.lanes)).take(some.len());
                    for (codes, row) in rows {
                        by_lanes!(wide.lanes, sum_of_clusters(codes, first, y_lanes, row));
                    }
                }));
                vectorised(
                    #[inline(always)]
                    || {
                        for (s, row) in some.clone().zip(answers.chunks_exact_mut(wide.lanes)) {
                            let row = row.as_flattened_mut();
                            let weight = answer(s, &mut own[own_of(s)], row, rest);
                            row.iter_mut().for_each(|x| *x *= weight);
                        }
                    },
                );
                with_codes!(self.codes(), codes => vectorised(#[inline(always)] || {
                    let codes = codes[some.start * first.len()..].chunks_exact(first.len());
                    let rows = codes.zip(answers.chunks_exact(wide.lanes)).take(some.len());
                    for (codes, row) in rows {
                        by_lanes!(wide.lanes, add_to_clusters(codes, first, row, sums));
                    }
                }));
            }
        });
        let by_cluster = Matrix::from_fn(k, c, |i, j| sums[i * stride + j]);
        (by_cluster, sums[k * stride..].to_vec())
    }

    /// Calls `visit(s, row)` for each of the profiles `rows` in turn with its row of $H Y$, which is
    /// not kept.
    ///
    /// # Panics
    ///
    /// If `y` does not have one row per cluster.
    pub(crate) fn for_each_spread(
        &self,
        rows: Range<usize>,
        y: &Matrix,
        visit: impl FnMut(usize, &[f64]),
    ) {
        assert_eq!(y.nrows(), self.n_clusters(), "one row per cluster");
        self.spread_rows(&Wide::new(y), rows, visit);
    }
}

/// Adds lanes `at..at + B` of `row` to those of the sums of all clusters with these codes.
#[inline(always)]
fn add_to_clusters<const B: usize, C: Code>(
    codes: &[C],
    first: &[u32],
    row: &[Lane],
    sums: &mut [Lane],
    at: usize,
) {
    let lanes = row.len();
    let row: [Lane; B] = row[at..at + B].try_into().expect("B lanes");
    for (code, &first) in codes.iter().zip(first) {
        if let Some(c) = code.index() {
            let from = (first as usize + c) * lanes + at;
            let sums: &mut [Lane; B] = (&mut sums[from..from + B]).try_into().expect("B lanes");
            // All are read before any is written: else numbers are added one by one.
            let mut next = *sums;
            for (next, row) in next.iter_mut().zip(&row) {
                next.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            *sums = next;
        }
    }
}

/// Adds to lanes `at..at + B` of `out` those of the rows of `y` over the clusters with these codes.
#[inline(always)]
fn sum_of_clusters<const B: usize, C: Code>(
    codes: &[C],
    first: &[u32],
    y: &[Lane],
    out: &mut [Lane],
    at: usize,
) {
    let lanes = out.len();
    let mut sums: [Lane; B] = out[at..at + B].try_into().expect("B lanes");
    for (code, &first) in codes.iter().zip(first) {
        if let Some(c) = code.index() {
            let from = (first as usize + c) * lanes + at;
            let y: &[Lane; B] = y[from..from + B].try_into().expect("B lanes");
            for (sums, y) in sums.iter_mut().zip(y) {
                sums.iter_mut().zip(y).for_each(|(sum, y)| *sum += y);
            }
        }
    }
    out[at..at + B].copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::profiles::mix;
    use crate::ensemble::{Ensemble, HardMember, SoftMember};
    use crate::run::Run;
    use crate::testing::{Kinds, dense_incidence, ensembles, profiles};

    /// A hard member with a missing label and a soft one; objects 0 and 3 are equal.
    fn mixed() -> Profiles {
        let hard = HardMember::from_integers("hard", [Some(0), Some(1), None, Some(0)]);
        let soft = Matrix::from_vec(4, 2, vec![0.5, 0.5, 1.0, 0.0, 0.25, 0.75, 0.5, 0.5]);
        let soft = SoftMember::new("soft", soft, vec!["a".into(), "b".into()]).unwrap();
        let ensemble = Ensemble::new(vec![hard.into(), soft.into()]).unwrap();
        Profiles::new(&ensemble, &Run::new(0)).unwrap()
    }

    #[test]
    fn products_agree_with_the_dense_matrix() {
        let profiles = mixed();
        assert_eq!(profiles.weights(), [2.0, 1.0, 1.0]);
        let h = [[1.0, 0.0, 0.5, 0.5], [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.25, 0.75]];
        let w = profiles.weights();
        let gram = Matrix::from_fn(4, 4, |a, b| (0..3).map(|s| w[s] * h[s][a] * h[s][b]).sum());
        assert_eq!(profiles.gram(w), gram);
        let x = Matrix::from_fn(3, 2, |s, j| (s * 2 + j) as f64);
        let sums = Matrix::from_fn(4, 2, |c, j| (0..3).map(|s| w[s] * h[s][c] * x[(s, j)]).sum());
        assert_eq!(profiles.group_sums(&x, w), sums);
        let y = Matrix::from_fn(4, 2, |c, j| (c + 10 * j) as f64);
        let spread = Matrix::from_fn(3, 2, |s, j| (0..4).map(|c| h[s][c] * y[(c, j)]).sum());
        assert_eq!(profiles.spread(&y), spread);
        assert_eq!(profiles.cluster_weights(), [2.0, 1.0, 2.25, 1.75]);
        assert_eq!(profiles.label_counts(), [2, 2, 1]);
    }

    proptest! {
        #[test]
        fn products_agree_with_the_dense_matrix_for_any_ensemble(
            ensemble in prop_oneof![ensembles(Kinds::PLAIN, 12, 5), ensembles(Kinds::ALL, 12, 5)],
            c in 0..10usize,
        ) {
            let profiles = profiles(&ensemble);
            let (u, k) = (profiles.len(), profiles.n_clusters());
            let h = dense_incidence(&profiles);
            let w = profiles.weights();
            let close = |a: &Matrix, entry: &dyn Fn(usize, usize) -> f64| {
                let index = |i: usize| (i / a.ncols(), i % a.ncols());
                let differs = |i: usize| (a[index(i)] - entry(index(i).0, index(i).1)).abs() > 1e-12;
                !(0..a.as_slice().len()).any(differs)
            };
            let sum = |count: usize, term: &dyn Fn(usize) -> f64| (0..count).map(term).sum::<f64>();
            let gram = profiles.gram(w);
            prop_assert!(close(&gram, &|a, b| sum(u, &|s| w[s] * h[(s, a)] * h[(s, b)])));
            let x = Matrix::from_fn(u, c, |s, j| ((3 * s + 7 * j) % 11) as f64 / 7.0);
            let sums = profiles.group_sums(&x, w);
            prop_assert_eq!((sums.nrows(), sums.ncols()), (k, c));
            prop_assert!(close(&sums, &|a, j| sum(u, &|s| w[s] * h[(s, a)] * x[(s, j)])));
            let y = Matrix::from_fn(k, c, |a, j| ((5 * a + 3 * j) % 13) as f64 / 11.0);
            prop_assert!(close(&profiles.spread(&y), &|s, j| sum(k, &|a| h[(s, a)] * y[(a, j)])));
            let folded = profiles.fold_spread(&y, |rows: &mut Vec<f64>, s, row| {
                assert_eq!(rows.len(), s * c, "profiles come in order");
                rows.extend(row);
            });
            prop_assert_eq!(folded.concat(), profiles.spread(&y).into_vec());
            for (m, member) in profiles.members().iter().enumerate() {
                let Some(square) = profiles.square(m, w) else {
                    prop_assert!(member.is_hard());
                    continue;
                };
                let first = member.clusters.start;
                prop_assert!(close(&square, &|a, b| gram[(first + a, first + b)]));
            }
            let (mut visited, spread) = (Matrix::zeros(u, c), profiles.spread(&y));
            profiles.for_each_spread(0..u, &y, |s, row| visited.row_mut(s).copy_from_slice(row));
            prop_assert!(close(&visited, &|s, j| spread[(s, j)]));
            let b: Vec<f64> = (0..c).map(|j| j as f64 / 3.0).collect();
            let (answered, rest) = profiles.answered_sums((&y, &b), &mut [], 1, |s, _, row, rest| {
                row.iter_mut().for_each(|x| *x *= *x);
                rest[0] += w[s];
                w[s]
            });
            let square = |s: usize, j: usize| (b[j] + spread[(s, j)]).powi(2);
            let expected = |a: usize, j: usize| sum(u, &|s| w[s] * h[(s, a)] * square(s, j));
            let scale = 1.0 + answered.as_slice().iter().fold(0.0, |a: f64, x| a.max(x.abs()));
            for (i, found) in answered.as_slice().iter().enumerate() {
                prop_assert!((found - expected(i / c, i % c)).abs() < 1e-12 * scale);
            }
            prop_assert!((rest[0] - w.iter().sum::<f64>()).abs() < 1e-12 * scale);
            let weights = Matrix::from_vec(k, 1, profiles.cluster_weights());
            prop_assert!(close(&weights, &|a, _| sum(u, &|s| w[s] * h[(s, a)])));
        }
    }

    /// Several chunks and all products: the same bits whatever the number of threads.
    #[test]
    fn products_do_not_depend_on_threads() {
        let column = |h: u64| {
            let labels = (0..40_000u64).map(|i| mix(i ^ (h << 40)) % (3 + 90 * h));
            HardMember::from_integers("", labels.map(|c| (c != 2).then_some(c as i64))).into()
        };
        let ensemble = Ensemble::new((0..6).map(column).collect()).unwrap();
        let profiles = profiles(&ensemble);
        assert!(profiles.len() > 2 * CHUNK && profiles.has_missing());
        let x = Matrix::from_fn(profiles.len(), 3, |s, j| mix((3 * s + j) as u64) as f64);
        let scale: Vec<f64> = x.iter_rows().map(|row| row[0] / 1e9).collect();
        let products = |threads| {
            Run::new(0).threads(threads).install(|| {
                let sums = profiles.group_sums(&x, &scale);
                let answered =
                    profiles.answered_sums((&sums, &[0.5; 3]), &mut [], 1, |s, _, row, rest| {
                        row.iter_mut().for_each(|x| *x = x.abs().sqrt());
                        rest[0] += row[1];
                        scale[s]
                    });
                let weights = profiles.cluster_weights();
                (profiles.spread(&sums), profiles.gram(&scale), weights, answered, sums)
            })
        };
        let one = products(1);
        assert_eq!(products(2), one);
        assert_eq!(products(5), one);
    }
}
