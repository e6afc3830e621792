//! Products with the incidence matrix $H$ of profiles and clusters, which is never built.
//!
//! $H$ is $u \times K$: entry $(s, c)$ is the membership of profile $s$ in cluster $c$, 1 or 0 for
//! hard members. The co-association matrix of the ensemble is $H W H^T / r$ over objects, so what
//! seems to need an $n \times n$ matrix needs only these products. For hard members they are group
//! sums and look-ups: nothing is multiplied by zeros and ones.
//!
//! All run in parallel over fixed chunks of profiles whose partial results are added in chunk
//! order: the same bits at any number of threads.

use rayon::prelude::*;

use crate::ensemble::profiles::Profiles;
use crate::linalg::Matrix;

/// Profiles in a chunk. Large enough that a chunk's $K \times c$ partial sums are cheap beside it.
const CHUNK: usize = 8192;

impl Profiles {
    /// $\sum_s a_s h_s x_s^T$, the $K \times c$ sums of the rows of `x` over every cluster, each row
    /// scaled by `scale[s]`. With `scale` the weights this is $H^T W X$.
    ///
    /// Cost: $O(u r c)$ time for hard members.
    pub fn group_sums(&self, x: &Matrix, scale: &[f64]) -> Matrix {
        assert_eq!((x.nrows(), scale.len()), (self.len(), self.len()), "one row a profile");
        let c = x.ncols();
        self.sum_over_chunks(self.n_clusters() * c, |s, sums| {
            let row = x.row(s);
            self.for_each_entry(s, |_, cluster, p| {
                let weight = scale[s] * p;
                let sums = &mut sums[cluster * c..(cluster + 1) * c];
                sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
            });
        })
        .into_matrix(self.n_clusters(), c)
    }

    /// $H Y$: for every profile the sum of the rows of `y` over the clusters it is in.
    ///
    /// Cost: $O(u r c)$ time for hard members.
    pub fn spread(&self, y: &Matrix) -> Matrix {
        assert_eq!(y.nrows(), self.n_clusters(), "one row a cluster");
        let c = y.ncols();
        let mut out = Matrix::zeros(self.len(), c);
        if c == 0 {
            return out;
        }
        out.as_mut_slice().par_chunks_mut(CHUNK * c).enumerate().for_each(|(chunk, rows)| {
            for (i, row) in rows.chunks_exact_mut(c).enumerate() {
                self.for_each_entry(chunk * CHUNK + i, |_, cluster, p| {
                    row.iter_mut().zip(y.row(cluster)).for_each(|(out, y)| *out += p * y);
                });
            }
        });
        out
    }

    /// $\sum_s a_s h_s h_s^T$, a $K \times K$ matrix. With `scale` the weights this is the Gram
    /// matrix $G = H^T W H$ of weighted cluster overlaps.
    ///
    /// Cost: $O(u r^2)$ time for hard members.
    pub fn gram(&self, scale: &[f64]) -> Matrix {
        assert_eq!(scale.len(), self.len(), "one scale a profile");
        let k = self.n_clusters();
        self.sum_over_chunks_with(
            k * k,
            || Vec::with_capacity(self.n_members()),
            |s, entries: &mut Vec<(usize, f64)>, sums| {
                entries.clear();
                self.for_each_entry(s, |_, cluster, p| entries.push((cluster, p)));
                for &(a, p) in entries.iter() {
                    let weight = scale[s] * p;
                    let sums = &mut sums[a * k..(a + 1) * k];
                    for &(b, q) in entries.iter() {
                        sums[b] += weight * q;
                    }
                }
            },
        )
        .into_matrix(k, k)
    }

    /// $H^T w$: the weight of every cluster.
    pub fn cluster_weights(&self) -> Vec<f64> {
        self.sum_over_chunks(self.n_clusters(), |s, sums| {
            let w = self.weights()[s];
            self.for_each_entry(s, |_, cluster, p| sums[cluster] += w * p);
        })
        .0
    }

    /// For every profile the number of members that label it.
    pub fn label_counts(&self) -> Vec<u32> {
        if !self.has_missing() {
            return vec![self.n_members() as u32; self.len()];
        }
        let count = |s| (0..self.n_members()).filter(|&h| self.is_labelled(s, h)).count() as u32;
        (0..self.len()).into_par_iter().map(count).collect()
    }

    /// Adds up `len` numbers over all profiles, `add(s, sums)` adding what profile `s` gives.
    pub(crate) fn sum_over_chunks(
        &self,
        len: usize,
        add: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Sums {
        self.sum_over_chunks_with(len, || (), |s, (), sums| add(s, sums))
    }

    /// [`sum_over_chunks`](Self::sum_over_chunks) with a scratch value for every chunk.
    fn sum_over_chunks_with<S>(
        &self,
        len: usize,
        scratch: impl Fn() -> S + Sync,
        add: impl Fn(usize, &mut S, &mut [f64]) + Sync,
    ) -> Sums {
        // A wave of chunks at a time bounds the memory of partial sums; its size is fixed, so the
        // order of additions is too.
        const WAVE: usize = 16;
        let n_chunks = self.len().div_ceil(CHUNK);
        let mut total = vec![0.0; len];
        for wave in (0..n_chunks).step_by(WAVE) {
            let partial: Vec<Vec<f64>> = (wave..(wave + WAVE).min(n_chunks))
                .into_par_iter()
                .map(|chunk| {
                    let mut sums = vec![0.0; len];
                    let mut scratch = scratch();
                    for s in chunk * CHUNK..((chunk + 1) * CHUNK).min(self.len()) {
                        add(s, &mut scratch, &mut sums);
                    }
                    sums
                })
                .collect();
            for sums in partial {
                total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
            }
        }
        Sums(total)
    }
}

/// Sums over all profiles.
pub(crate) struct Sums(pub(crate) Vec<f64>);

impl Sums {
    fn into_matrix(self, rows: usize, columns: usize) -> Matrix {
        Matrix::from_vec(rows, columns, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember, SoftMember};
    use crate::run::Run;

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
}
