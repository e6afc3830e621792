//! The lifetime of a number of clusters in a dendrogram (Fred and Jain 2002).
//!
//! With merge heights $h_1 \le \dots \le h_{n-1}$ over objects and $h_0 = 0$, a cut between
//! $h_{n-k}$ and $h_{n-k+1}$ gives $k$ clusters; its lifetime $l_k = h_{n-k+1} - h_{n-k}$ is the
//! width of that band of thresholds. The number of clusters is the one that lives longest, the
//! smaller of equals.

/// Lifetimes closer than this are equal. Heights are fractions of votes; rounding leaves far less.
const TIE: f64 = 1e-12;

/// The lifetimes of $1 \ldots u$ clusters, from the rising merge heights of `u` items that each
/// stand for one or more equal objects.
///
/// Equal objects merge at height 0 before all else, so the heights over `n` objects are these and
/// `n - u` zeros. One cluster lives up to height 1, the largest distance there is.
pub(crate) fn lifetimes(heights: &[f64]) -> Vec<f64> {
    let u = heights.len() + 1;
    let height = |i: usize| if i == 0 { 0.0 } else { heights[i - 1] };
    (1..=u)
        .map(|k| {
            let above = if k == 1 { 1.0 } else { height(u - k + 1) };
            above - height(u - k)
        })
        .collect()
}

/// The number of clusters in `range` that lives longest, the smaller of equals; `None` if none in
/// the range lives at all.
pub(crate) fn longest(lifetimes: &[f64], range: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let alive = (1..=lifetimes.len()).filter(|k| range.contains(k) && lifetimes[k - 1] > TIE);
    alive.reduce(|best, k| if lifetimes[k - 1] > lifetimes[best - 1] + TIE { k } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_the_bands_between_heights() {
        let all = lifetimes(&[0.1, 0.15, 0.7]);
        let expected = [0.3, 0.55, 0.05, 0.1];
        assert!(all.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{all:?}");
        assert_eq!(longest(&all, 2..=3), Some(2));
        assert_eq!(longest(&all, 3..=4), Some(4));
    }

    #[test]
    fn the_smaller_of_equal_lifetimes_wins() {
        assert_eq!(longest(&[0.2, 0.4, 0.4 + 1e-15], 2..=3), Some(2));
        assert_eq!(longest(&[1.0, 0.0], 2..=2), None);
    }
}
