//! Edges between numbered objects, as users have them.

use crate::error::{Error, Result};

/// The edges of a graph of objects `0..n`. Directions are no information, parallel edges add up, and an edge from an
/// object to itself says nothing.
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

    /// The weight of an edge.
    pub(crate) fn weight(&self, edge: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[edge])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
