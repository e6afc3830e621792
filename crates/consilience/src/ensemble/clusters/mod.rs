//! The incidence matrix $H$ of profiles and clusters, which is never built, and what comes of it.
//!
//! $H$ is $u \times K$: entry $(s, c)$ is the membership of profile $s$ in cluster $c$, 1 or 0 for
//! hard members. The co-association matrix of the ensemble is $H W H^T / r$ over objects, so what
//! seems to need an $n \times n$ matrix needs only sums over profiles (here), products with $H$
//! (`products`), the $K \times K$ overlaps of clusters (`gram`), a scaled $H$ as the factor of an
//! affinity (`factor`), or the table of two clusterings (`contingency`). For hard members these are
//! group sums and look-ups: nothing is multiplied by zeros and ones.
//!
//! All run in parallel, either over parts of the result or over fixed chunks of profiles whose
//! partial results are added in chunk order: the same bits at any number of threads.

pub(crate) mod contingency;
pub(crate) mod factor;
mod gram;
mod products;

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::profiles::Profiles;
use crate::linalg::lanes::Aligned;

/// Profiles in a chunk. Large enough that a chunk's $K \times c$ partial sums are cheap beside it.
const CHUNK: usize = 8192;

/// The overlaps of so many clusters in all may be kept by who could do without: 128 MiB.
pub(crate) const FEW_CLUSTERS: usize = 4096;

impl Profiles {
    /// The share of every cluster in what its member labels.
    pub(crate) fn cluster_shares(&self) -> Vec<f64> {
        let mut shares = self.cluster_weights();
        for member in self.members() {
            let own = &mut shares[member.clusters.clone()];
            let known: f64 = own.iter().sum();
            own.iter_mut().for_each(|share| *share /= known);
        }
        shares
    }

    /// $H^T w$: the weight of every cluster.
    pub(crate) fn cluster_weights(&self) -> Vec<f64> {
        let weights = self.weights();
        self.sum_over_ranges(self.n_clusters(), |rows, sums| {
            if self.is_hard() {
                self.for_each_row(rows, |s, clusters| {
                    clusters.iter().for_each(|&cluster| sums[cluster as usize] += weights[s]);
                });
                return;
            }
            for s in rows {
                self.for_each_entry(s, |_, cluster, p| sums[cluster] += weights[s] * p);
            }
        })
    }

    /// For every profile the number of members that label it.
    pub(crate) fn label_counts(&self) -> Vec<u32> {
        if !self.has_missing() {
            return vec![self.n_members() as u32; self.len()];
        }
        let count = |s| (0..self.n_members()).filter(|&h| self.is_labelled(s, h)).count() as u32;
        (0..self.len()).into_par_iter().map(count).collect()
    }

    /// Adds up `len` numbers over all profiles, `add(rows, sums)` adding what the profiles `rows`
    /// give.
    pub(crate) fn sum_over_ranges(
        &self,
        len: usize,
        add: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        self.sum_over_chunks_of(CHUNK, &mut [], len, |rows, _, sums| add(rows, sums))
    }

    /// [`sum_over_ranges`](Self::sum_over_ranges) of `size` profiles, with the profiles' shares of
    /// `own`: `add(rows, own, sums)`.
    pub(crate) fn sum_over_chunks_of(
        &self,
        size: usize,
        own: &mut [f64],
        len: usize,
        add: impl Fn(Range<usize>, &mut [f64], &mut [f64]) + Sync,
    ) -> Vec<f64> {
        // A wave of chunks at a time bounds the memory of partial sums; its size is fixed, so the
        // order of additions is too.
        const WAVE: usize = 16;
        let width = own.len() / self.len().max(1);
        let (mut pieces, mut left) = (Vec::new(), own);
        for start in (0..self.len()).step_by(size) {
            let rows = start..(start + size).min(self.len());
            let (piece, others) = left.split_at_mut(rows.len() * width);
            pieces.push((rows, piece));
            left = others;
        }
        let mut total = vec![0.0; len];
        for wave in pieces.chunks_mut(WAVE) {
            let partial: Vec<Aligned> = wave
                .par_iter_mut()
                .map(|(rows, own)| {
                    let mut sums = Aligned::zeros(len);
                    add(rows.clone(), own, sums.as_mut_slice());
                    sums
                })
                .collect();
            for sums in partial {
                total.iter_mut().zip(sums.as_slice()).for_each(|(total, sum)| *total += sum);
            }
        }
        total
    }
}
