//! Edges between numbered objects, as users have them.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::error::{Error, Result};

/// The edges of a graph of objects `0..n`. Directions are no information, parallel edges add up, and an edge from an
/// object to itself, or of weight 0, says nothing.
///
/// ```
/// use consilience::Edges;
/// let edges = Edges::new(3, vec![[0, 1], [1, 2]], None)?;
/// assert_eq!((edges.n_objects(), edges.len()), (3, 2));
/// assert!(Edges::new(3, vec![[0, 3]], None).is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Edges {
    n: usize,
    pairs: Vec<[u32; 2]>,
    weights: Option<Vec<f64>>,
}

impl Edges {
    /// Edges between `n` objects, with weights if they have any.
    ///
    /// # Errors
    ///
    /// If there is no edge, if one ends at an object that there is not, or if the weights are not one finite number
    /// $\ge 0$ for every edge.
    pub fn new(n: usize, pairs: Vec<[u32; 2]>, weights: Option<Vec<f64>>) -> Result<Self> {
        if pairs.is_empty() {
            return Err(Error::Empty {
                what: "the list of edges".to_owned(),
                hint: "a graph needs at least one".to_owned(),
            });
        }
        let beyond = |pair: &[u32; 2]| pair.iter().any(|&end| end as usize >= n);
        if let Some(row) = pairs.iter().position(beyond) {
            let [a, b] = pairs[row];
            let problem = format!(
                "it links objects {a} and {b}, but there are {n}: their numbers go from 0 to {}",
                n.saturating_sub(1)
            );
            return Err(Error::value("the list of edges", row, problem));
        }
        if let Some(weights) = &weights {
            let (what, by) = ("the list of edge weights", "the list of edges");
            Error::unless_length(what, weights.len(), by, pairs.len())?;
            let bad = |w: &f64| !w.is_finite() || *w < 0.0;
            if let Some(row) = weights.iter().position(bad) {
                let problem = format!("a weight must be a number >= 0, got {}", weights[row]);
                return Err(Error::value("the list of edge weights", row, problem));
            }
        }
        Ok(Edges { n, pairs, weights })
    }

    /// The number of objects.
    pub fn n_objects(&self) -> usize {
        self.n
    }

    /// The number of edges.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are none, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The ends of every edge.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The weights of the edges, if they have any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The same graph with every edge that says something once, and weights of which the largest is 1, in single precision:
    /// units, halves of lists and the like leave no trace.
    pub(crate) fn simple(&self) -> Cow<'_, Self> {
        let key = |&[a, b]: &[u32; 2]| (u64::from(a.min(b)) << 32) | u64::from(a.max(b));
        if self.weights.is_none() {
            let mut keys: Vec<u64> = self.pairs.par_iter().map(key).collect();
            keys.par_sort_unstable();
            let once = keys.par_windows(2).all(|two| two[0] != two[1]);
            if once && self.pairs.par_iter().all(|[a, b]| a != b) {
                return Cow::Borrowed(self);
            }
        }
        let largest = |weights: &[f64]| weights.iter().copied().fold(0.0, f64::max);
        let most = self.weights.as_deref().map_or(1.0, largest);
        let says = (0..self.len()).filter(|&e| self.pairs[e][0] != self.pairs[e][1]);
        // Sums must not depend on the order of lines.
        let mut lines: Vec<(u64, f64)> = says
            .filter(|&e| self.weight(e) > 0.0)
            .map(|e| (key(&self.pairs[e]), self.weight(e) / most))
            .collect();
        lines.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let same = |a: &(u64, f64), b: &(u64, f64)| a.0 == b.0;
        let pair = |group: &[(u64, f64)]| [(group[0].0 >> 32) as u32, group[0].0 as u32];
        let pairs: Vec<[u32; 2]> = lines.chunk_by(same).map(pair).collect();
        let sum = |group: &[(u64, f64)]| group.iter().map(|line| line.1).sum();
        let mut weights: Vec<f64> = lines.chunk_by(same).map(sum).collect();
        let most = largest(&weights);
        for weight in &mut weights {
            *weight = f64::from(((*weight / most) as f32).max(f32::MIN_POSITIVE));
        }
        Cow::Owned(Edges { n: self.n, pairs, weights: Some(weights) })
    }

    /// The weight of an edge.
    pub(crate) fn weight(&self, edge: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[edge])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_edges_are_told_once_without_a_unit() {
        let told = |pairs: &[[u32; 2]], weights: Option<&[f64]>| {
            let edges = Edges::new(4, pairs.to_vec(), weights.map(<[f64]>::to_vec)).unwrap();
            let simple = edges.simple().into_owned();
            let weights = (0..simple.len()).map(|e| simple.weight(e)).collect::<Vec<_>>();
            (simple.pairs, weights)
        };
        assert_eq!(told(&[[1, 0], [2, 3]], None), (vec![[1, 0], [2, 3]], vec![1.0; 2]));
        let doubled = [[1, 0], [2, 3], [3, 2], [0, 1], [1, 1]];
        assert_eq!(told(&doubled, None), (vec![[0, 1], [2, 3]], vec![1.0; 2]));
        let plain = told(&doubled, Some(&[1.0, 0.3, 0.0, 1.0, 7.0]));
        assert_eq!(plain.1, [1.0, f64::from(0.15f32)]);
        for unit in [1e60, 1e-60, 1e300, 1e-300] {
            let scaled = [1.0, 0.3, 0.0, 1.0, 7.0].map(|w| w * unit);
            assert_eq!(told(&doubled, Some(&scaled)), plain);
        }
        assert_eq!(told(&[[1, 1]], None), (vec![], vec![]));
        assert_eq!(
            told(&[[1, 2], [0, 1]], Some(&[1.0, 1e-100])).1[0],
            f64::from(f32::MIN_POSITIVE)
        );
    }

    #[test]
    fn what_is_no_edge_is_refused() {
        let told =
            |pairs: Vec<[u32; 2]>, weights| Edges::new(2, pairs, weights).unwrap_err().to_string();
        assert!(told(vec![], None).contains("at least one"));
        assert!(told(vec![[0, 1], [2, 0]], None).contains("row 1: it links objects 2 and 0"));
        assert!(told(vec![[0, 1]], Some(vec![])).contains("0 entries"));
        assert!(told(vec![[0, 1]], Some(vec![f64::NAN])).contains("NaN"));
        assert!(told(vec![[0, 1]], Some(vec![-1.0])).contains("-1"));
    }
}
