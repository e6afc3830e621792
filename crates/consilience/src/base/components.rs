//! Principal components: the directions in which a table spreads most.

use crate::error::Result;
use crate::linalg::{Matrix, largest, product};
use crate::run::Run;

/// Rows in a chunk of sums, and in a chunk of products.
const CHUNK: usize = 8192;

/// The first principal components of a table of features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Components {
    /// The share of the variance that each explains; 0 of those that are more than there are.
    pub(crate) shares: Vec<f64>,
    /// The loadings, one row per component.
    pub(crate) loadings: Matrix,
    /// The scores, one row per object.
    pub(crate) scores: Matrix,
}

/// The first `count` principal components of `data`, one row per object.
///
/// # Cost
///
/// Time $O(n d)$ for every step of the iteration (or $O(n d^2)$ once where $d$ is small).
///
/// # Errors
///
/// If the iteration fails or the run is cancelled.
pub(crate) fn principal_components(data: &Matrix, count: usize, run: &Run) -> Result<Components> {
    let (n, d) = (data.nrows(), data.ncols());
    let mut means = vec![0.0; d];
    data.iter_rows().for_each(|row| means.iter_mut().zip(row).for_each(|(m, x)| *m += x));
    means.iter_mut().for_each(|mean| *mean /= n.max(1) as f64);
    let mut total = 0.0;
    let mut centred = data.clone();
    for i in 0..n {
        for (x, mean) in centred.row_mut(i).iter_mut().zip(&means) {
            *x -= mean;
            total += *x * *x;
        }
    }
    if total == 0.0 {
        let (loadings, scores) = (Matrix::zeros(count, d), Matrix::zeros(n, count));
        return Ok(Components { shares: vec![0.0; count], loadings, scores });
    }
    // Products over fixed chunks of rows, so that sums do not depend on the threads.
    let chunk = |first: usize| (first, CHUNK.min(n - first));
    let gram_times = |x: &Matrix| {
        let mut sum = Matrix::zeros(d, x.ncols());
        for (first, rows) in (0..n).step_by(CHUNK).map(chunk) {
            let part = centred.as_faer().subrows(first, rows);
            let image = product(part, x.as_faer());
            let back = product(part.transpose(), image.as_faer());
            sum.as_mut_slice().iter_mut().zip(back.as_slice()).for_each(|(s, b)| *s += b);
        }
        sum
    };
    let pairs = run.install(|| largest(d, count.min(d), gram_times, run))?;
    let mut loadings = Matrix::zeros(count, d);
    let mut shares = vec![0.0; count];
    for j in 0..pairs.vectors.nrows().min(count) {
        loadings.row_mut(j).copy_from_slice(pairs.vectors.row(j));
        shares[j] = (pairs.values[j] / total).clamp(0.0, 1.0);
    }
    let scores = run.install(|| product(centred.as_faer(), loadings.as_faer().transpose()));
    Ok(Components { shares, loadings, scores })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_tilted_line_is_one_component() {
        let data = Matrix::from_fn(50, 2, |i, j| i as f64 * [3.0, 4.0][j] + 7.0);
        let found = principal_components(&data, 2, &Run::new(0)).unwrap();
        assert!((found.shares[0] - 1.0).abs() < 1e-12 && found.shares[1] < 1e-12);
        assert!((found.loadings[(0, 0)] - 0.6).abs() < 1e-9);
        assert!((found.loadings[(0, 1)] - 0.8).abs() < 1e-9);
        let steps = (1..50).map(|i| found.scores[(i, 0)] - found.scores[(i - 1, 0)]);
        assert!(steps.into_iter().all(|step| (step - 5.0).abs() < 1e-9));
    }

    #[test]
    fn many_features_go_the_same_way() {
        // Two orthogonal directions of different variance among 300 features.
        let data = Matrix::from_fn(400, 300, |i, j| {
            let (a, b) = ((i as f64 * 0.7).sin() * 5.0, (i as f64 * 1.3).cos());
            match j {
                17 => a,
                200 => b,
                _ => 0.0,
            }
        });
        let found = principal_components(&data, 2, &Run::new(0)).unwrap();
        assert!(found.loadings[(0, 17)] > 0.99 && found.loadings[(1, 200)].abs() > 0.99);
        assert!((found.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    /// Where all directions are alike, any will do, but some must be found.
    #[test]
    fn noise_has_components_too() {
        let mut rng = Run::new(0).rng(Stream::Data);
        let data = Matrix::from_vec(300, 700, (0..300 * 700).map(|_| rng.normal()).collect());
        let found = principal_components(&data, 20, &Run::new(0)).unwrap();
        assert!(found.shares.iter().all(|share| *share > 1.0 / 700.0));
    }

    #[test]
    fn one_feature_or_none_that_varies() {
        let one = Matrix::from_fn(4, 1, |i, _| i as f64);
        let found = principal_components(&one, 2, &Run::new(0)).unwrap();
        assert_eq!(found.shares, [1.0, 0.0]);
        assert!(found.scores.iter_rows().all(|row| row[1] == 0.0));
        let constant = Matrix::from_fn(4, 3, |_, _| 2.0);
        let found = principal_components(&constant, 2, &Run::new(0)).unwrap();
        assert_eq!(found.shares, [0.0; 2]);
        assert_eq!(found.scores.as_slice().iter().sum::<f64>(), 0.0);
    }
}
