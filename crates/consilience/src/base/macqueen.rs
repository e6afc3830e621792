//! MacQueen's k-means: one pass over the rows in random order.
//!
//! J. MacQueen. *Some methods for classification and analysis of multivariate observations.* 5th
//! Berkeley Symposium, 1967.
//!
//! Centres start at $k$ rows of different content, each counted once. Then every row is presented
//! once, in random order: its nearest centre $c$ moves by $(x - \mu_c) / n_c$ after $n_c$ grew by
//! one. At the end every row goes to its nearest centre; a centre that is nearest to none leaves
//! no cluster. Less settled than Lloyd's iteration, hence more diverse: the base clusterer of
//! voting-k-means (Fred 2001).

use serde::Serialize;

use crate::base::distance::nearest;
use crate::base::predict::{CentreFit, nearest_centres};
use crate::base::start::{centres_at, random_rows};
use crate::base::table::{Float, Table};
use crate::error::{Error, Result};
use crate::linalg::vectorised;
use crate::rng::Rng;
use crate::run::Run;
use crate::setters::setters;

/// Parameters of MacQueen's k-means, not yet checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MacQueenParams {
    k: usize,
}

impl MacQueenParams {
    /// At most `k` clusters.
    pub fn new(k: usize) -> Self {
        MacQueenParams { k }
    }

    setters! {
        /// The number of centres, at least 1.
        k: usize,
    }

    /// Proves the parameters valid, whatever the data.
    pub(crate) fn check(self) -> Result<MacQueen> {
        if self.k == 0 {
            return Err(Error::parameter("k", "at least 1", self.k));
        }
        Ok(MacQueen(self))
    }
}

/// MacQueen's k-means with checked parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MacQueen(MacQueenParams);

/// Presentations between two looks at the cancel flag.
const BETWEEN_CHECKS: usize = 1024;

impl MacQueen {
    /// Clusters the rows of `data`; starts and order are drawn from `rng`.
    ///
    /// # Cost
    ///
    /// Time $O(n k d)$. The pass itself runs on one thread: each step depends on the last.
    pub(crate) fn fit<'a, T: Float>(
        &self,
        data: impl Into<Table<'a, T>>,
        run: &Run,
        rng: &mut Rng,
    ) -> Result<CentreFit> {
        let data = data.into();
        data.check()?;
        let mut centres = centres_at(&data, &random_rows(&data, None, self.0.k, rng)?);
        let mut counts = vec![1.0; self.0.k];
        let order = rng.permutation(data.nrows());
        for rows in order.chunks(BETWEEN_CHECKS) {
            run.check()?;
            vectorised(
                #[inline(always)]
                || {
                    for &i in rows {
                        let row = data.row(i as usize);
                        let c = nearest(row, &centres).0 as usize;
                        counts[c] += 1.0;
                        for (mean, x) in centres.row_mut(c).iter_mut().zip(row) {
                            *mean += (x.to_f64() - *mean) / counts[c];
                        }
                    }
                },
            );
        }
        let labels = nearest_centres(data, &centres, run)?;
        Ok(CentreFit { centres, labels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn fit(k: usize, values: &[f64], seed: u64) -> Result<CentreFit> {
        let run = Run::new(seed);
        let data = Table::new(values.len(), 1, values);
        MacQueenParams::new(k).check()?.fit(data, &run, &mut run.rng(Stream::Member(0)))
    }

    #[test]
    fn one_centre_is_the_mean_with_its_start_counted_twice() {
        let found = fit(1, &[0.0, 3.0, 6.0], 4).unwrap();
        // (9 + start) / 4 with the start one of the rows.
        let possible = [9.0 / 4.0, 12.0 / 4.0, 15.0 / 4.0];
        assert!(possible.iter().any(|p| (found.centres[(0, 0)] - p).abs() < 1e-12));
    }

    #[test]
    fn separated_rows_are_separated() {
        let values = [0.0, 0.1, 0.2, 50.0, 50.1, 50.2];
        // A start with both centres in one group can end badly; over many seeds most do not.
        let good = (0..100).filter(|&seed| {
            let labels = fit(2, &values, seed).unwrap().labels;
            labels[..3].iter().all(|&c| c == labels[0])
                && labels[3..].iter().all(|&c| c != labels[0])
        });
        assert!(good.count() > 50);
    }

    #[test]
    fn no_cluster_too_many_clusters_and_bad_values_are_refused() {
        assert!(MacQueenParams::new(0).check().is_err());
        assert_eq!(fit(3, &[1.0, 1.0, 2.0], 0), Err(Error::TooFewRows { k: 3, distinct: 2 }));
        assert!(fit(1, &[f64::NAN], 0).is_err());
    }

    #[test]
    fn the_same_seed_gives_the_same_bits() {
        let values: Vec<f64> = (0..500).map(|i| f64::from(i * i % 97)).collect();
        assert_eq!(fit(7, &values, 3), fit(7, &values, 3));
    }
}
