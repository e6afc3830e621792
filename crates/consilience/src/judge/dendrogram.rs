//! A dendrogram of objects in the layout that SciPy reads.

use crate::consensus::Merge;
use crate::ensemble::{NO_PROFILE, Profiles};
use crate::error::{Error, Result};
use crate::linalg::Matrix;

/// The linkage matrix over all objects, rows `[a, b, height, size]` as `scipy.cluster.hierarchy`
/// has them: objects are nodes `0..n`, row `i` makes node `n + i`.
///
/// Equal objects merge first, at height 0. Objects that no member labels share nothing with
/// anything: they join last, at height 1.
///
/// # Errors
///
/// If a merge names a node that does not exist yet, or one that has merged already.
pub fn scipy_linkage(profiles: &Profiles, merges: &[Merge]) -> Result<Matrix> {
    let mut merged = vec![false; profiles.len() + merges.len()];
    for (row, merge) in merges.iter().enumerate() {
        for node in [merge.a as usize, merge.b as usize] {
            if node >= profiles.len() + row || std::mem::replace(&mut merged[node], true) {
                let problem = format!("node {node} does not exist, or has merged already");
                return Err(Error::value("the tree of merges", row, problem));
            }
        }
    }
    let n = profiles.n_objects();
    let mut rows = Vec::with_capacity(n.saturating_sub(1));
    let join = |rows: &mut Vec<[f64; 4]>, x: (usize, usize), y: (usize, usize), height: f64| {
        let (a, b) = (x.0.min(y.0), x.0.max(y.0));
        rows.push([a as f64, b as f64, height, (x.1 + y.1) as f64]);
        (n + rows.len() - 1, x.1 + y.1)
    };
    // The node and size of every profile, then of every merge.
    let mut nodes: Vec<Option<(usize, usize)>> = vec![None; profiles.len()];
    let mut alone = Vec::new();
    for (object, &profile) in profiles.map().iter().enumerate() {
        if profile == NO_PROFILE {
            alone.push((object, 1));
            continue;
        }
        let node = &mut nodes[profile as usize];
        *node = Some(match *node {
            Some(copies) => join(&mut rows, copies, (object, 1), 0.0),
            None => (object, 1),
        });
    }
    let mut nodes: Vec<(usize, usize)> = nodes.into_iter().flatten().collect();
    for merge in merges {
        let (x, y) = (nodes[merge.a as usize], nodes[merge.b as usize]);
        nodes.push(join(&mut rows, x, y, merge.height));
    }
    if let Some(&all) = nodes.last() {
        alone.into_iter().fold(all, |all, object| join(&mut rows, all, object, 1.0));
    }
    Ok(Matrix::from_vec(rows.len(), 4, rows.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{hard_ensemble, profiles};

    #[test]
    fn equal_objects_merge_first() {
        let profiles = profiles(&hard_ensemble(&[[0, 1, 0, 2], [0, 0, 0, 1]]));
        let merges = [Merge { a: 0, b: 1, height: 0.5 }, Merge { a: 3, b: 2, height: 1.0 }];
        let rows = scipy_linkage(&profiles, &merges).unwrap();
        let expected = [[0.0, 2.0, 0.0, 2.0], [1.0, 4.0, 0.5, 3.0], [3.0, 5.0, 1.0, 4.0]];
        assert_eq!(rows.into_vec(), expected.concat());
        for (wrong, row, node) in [([0, 3, 1, 2], 0, 3), ([0, 1, 1, 2], 1, 1), ([0, 0, 1, 2], 0, 0)]
        {
            let [a, b, c, d] = wrong;
            let merges = [Merge { a, b, height: 0.5 }, Merge { a: c, b: d, height: 1.0 }];
            let refusal = scipy_linkage(&profiles, &merges).unwrap_err().to_string();
            let words = format!(
                "the tree of merges, row {row}: node {node} does not exist, or has merged already"
            );
            assert_eq!(refusal, words);
        }
    }
}
