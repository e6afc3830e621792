//! Agreement of clusterers that have little in common: the second kind of evidence.
//!
//! Where there are $k$ clusters, clusterers of different kinds find the same $k$; at other numbers each
//! splits or joins in its own way. Kinds are trees along gaps (Genie at three thresholds), spectral
//! clustering of the nearest rows, centres (k-means and Ward), and mixtures of Gaussians. The agreement at
//! $k$ is the mean of the three highest of the six agreements between two kinds, each the mean adjusted
//! Rand index of their clusterings: a kind that is blind for the shape at hand does not count.
//!
//! Kinds agree about one elongated cloud as well; [references](super::references) tell how much.

use std::ops::RangeInclusive;

use crate::base::{
    GenieParams, GmmParams, HierarchyParams, KMeansParams, Linkage, SpanningTree, at_most,
    cut_at_every,
};
use crate::ensemble::Contingency;
use crate::error::Result;
use crate::linalg::Matrix;
use crate::metrics::adjusted_rand;
use crate::rng::Stream;
use crate::run::Run;

/// Agreements between kinds that count, the highest.
const COUNTED: usize = 3;
/// Neighbours of the graph of nearest rows.
const NEIGHBOURS: usize = 10;
/// Starts of k-means, on the rows and on the spectral coordinates.
const STARTS: (usize, usize) = (5, 3);

/// Clusterings by one clusterer, one for every number of clusters.
type EveryNumber = Vec<Vec<u32>>;

/// The agreement of kinds of clusterers at every number of clusters in `ks`, which starts at 2 or above and
/// ends below the number of different rows.
pub(super) fn agreement(rows: &Matrix, ks: &RangeInclusive<usize>, run: &Run) -> Result<Vec<f64>> {
    let kinds = kinds(rows, ks, run)?;
    let at = |i: usize| {
        run.check()?;
        let mut between = Vec::new();
        for (first, a) in kinds.iter().enumerate() {
            for b in &kinds[..first] {
                let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (&x[i], &y[i])));
                let (mut sum, mut count) = (0.0, 0.0);
                for (x, y) in pairs {
                    sum += adjusted_rand(&Contingency::of_labels(x, y, None)?);
                    count += 1.0;
                }
                between.push(sum / count);
            }
        }
        between.sort_by(|x, y| y.total_cmp(x));
        Ok(between[..COUNTED].iter().sum::<f64>() / COUNTED as f64)
    };
    (0..ks.clone().count()).map(at).collect()
}

/// The clusterings of every kind, which may have several clusterers.
fn kinds(rows: &Matrix, ks: &RangeInclusive<usize>, run: &Run) -> Result<[Vec<EveryNumber>; 4]> {
    let tree = SpanningTree::new(rows, run)?;
    let along = |threshold: f64| -> Result<EveryNumber> {
        let merges = GenieParams::default().threshold(threshold).check()?.merges(&tree, run)?;
        ks.clone().map(|k| merges.cut(k)).collect()
    };
    let genie = [0.3, 0.5, 0.7].map(along).into_iter().collect::<Result<Vec<_>>>()?;
    let mut rng = run.rng(Stream::Inner(0));
    let spectral = cut_at_every(rows, NEIGHBOURS, STARTS.1, ks.clone(), run, &mut rng)?;
    let (mut centres, mut mixtures) = (Vec::new(), Vec::new());
    for k in ks.clone() {
        run.check()?;
        let with = |k: usize| {
            let kmeans = KMeansParams::new(k).n_init(STARTS.0).check()?;
            kmeans.fit(rows, run, Stream::Restart)
        };
        let (fit, k) = at_most(k, with)?;
        let mixture = GmmParams::new(k).check()?.fit_from(rows, &fit.labels, run, &mut rng)?;
        centres.push(fit.labels);
        mixtures.push(mixture.labels);
    }
    let merges = HierarchyParams::new(Linkage::Ward, 1).check()?.merges(rows, run)?;
    let ward = ks.clone().map(|k| merges.cut(k)).collect::<Result<_>>()?;
    Ok([genie, vec![spectral], vec![centres, ward], vec![mixtures]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three groups of 40 points on small circles.
    #[test]
    fn kinds_agree_at_the_number_of_groups() {
        let point = |i: usize, j: usize| {
            let (group, angle) = ((i / 40) as f64, (i % 40) as f64);
            let radius = 0.2 + 0.8 * (angle * 0.618).fract();
            10.0 * group * (if j == 0 { 1.0 } else { group })
                + radius * if j == 0 { angle.cos() } else { angle.sin() }
        };
        let rows = Matrix::from_fn(120, 2, point);
        let found = agreement(&rows, &(2..=6), &Run::new(0)).unwrap();
        assert_eq!(found[1], 1.0, "{found:?}");
        assert!(found[2..].iter().all(|x| *x < 1.0), "{found:?}");
    }
}
