//! How clusters come apart from level to level, after clustree (L. Zappia, A. Oshlack, GigaScience 7, 2018).

use serde::{Deserialize, Serialize};

use crate::ensemble::Contingency;
use crate::linalg::max_assignment;

/// The clusters of all levels, and which objects go from one to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// The clusters, level by level, by falling size.
    pub nodes: Vec<Node>,
    /// What goes from a level to the next.
    pub edges: Vec<Edge>,
}

/// A cluster of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The place of its level.
    pub level: usize,
    /// Its id: that of the cluster of the level before which it continues.
    pub cluster: u32,
    /// The weight of its objects: their number, where none is weighted.
    pub size: f64,
    /// How well the members of the level find it too: the mean element-centric similarity of its objects with them.
    pub recovery: f64,
    /// The mean confidence of its objects, at levels with a consensus.
    pub confidence: Option<f64>,
}

/// The objects that two clusters of neighbouring levels share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The place of the coarser level; the finer is the next.
    pub level: usize,
    /// The cluster there.
    pub cluster: u32,
    /// The cluster at the next level.
    pub next: u32,
    /// The weight of the objects.
    pub count: f64,
    /// Which share of the cluster at the next level they are.
    pub in_proportion: f64,
    /// Which share of the cluster at this level they are.
    pub out_proportion: f64,
}

/// The ids of `k` clusters of a level: of those of the level before (`ids`), matched so that as many objects as possible
/// keep theirs; new clusters get the next free ones in turn. `shared` has the clusters before in its rows.
pub(super) fn continued(ids: &[u32], k: usize, shared: &Contingency, free: &mut u32) -> Vec<u32> {
    let cells = shared.cells().iter().map(|c| (c.column as usize, c.row as usize, c.weight));
    let matched = max_assignment(k, ids.len(), cells);
    let mut next = || std::mem::replace(free, *free + 1);
    matched.into_iter().map(|before| before.map_or_else(&mut next, |at| ids[at])).collect()
}

impl Tree {
    /// Adds what clusters `before` and `now`, told by their ids, share.
    pub(super) fn add_edges(
        &mut self,
        level: usize,
        (before, sizes_before): (&[u32], &[f64]),
        (now, sizes_now): (&[u32], &[f64]),
        shared: &Contingency,
    ) {
        let edge = |cell: &crate::ensemble::Cell| {
            let (from, to) = (cell.row as usize, cell.column as usize);
            Edge {
                level,
                cluster: before[from],
                next: now[to],
                count: cell.weight,
                in_proportion: cell.weight / sizes_now[to],
                out_proportion: cell.weight / sizes_before[from],
            }
        };
        self.edges.extend(shared.cells().iter().map(edge));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_hands_its_id_to_its_larger_part() {
        // Ids 0 (five objects) and 1 (two); the first comes apart into three and two.
        let before = [0u32, 0, 0, 0, 0, 1, 1];
        let now = [1u32, 1, 1, 0, 0, 2, 2];
        let shared = Contingency::of_labels(&before, &now, None).unwrap();
        let mut free = 7;
        assert_eq!(continued(&[0, 1], 3, &shared, &mut free), [7, 0, 1]);
        assert_eq!(free, 8);
        let mut tree = Tree::default();
        tree.add_edges(0, (&[0, 1], &[5.0, 2.0]), (&[7, 0, 1], &[2.0, 3.0, 2.0]), &shared);
        let told: Vec<_> = tree.edges.iter().map(|e| (e.cluster, e.next, e.count)).collect();
        assert_eq!(told, [(0, 7, 2.0), (0, 0, 3.0), (1, 1, 2.0)]);
        assert_eq!((tree.edges[1].in_proportion, tree.edges[1].out_proportion), (1.0, 0.6));
    }
}
