//! Disjoint sets.

/// Disjoint sets of `0..n` with union by size and path halving.
///
/// # Complexity
///
/// A sequence of $m$ operations takes $O(m \alpha(n))$ time.
#[derive(Clone, Debug)]
pub(crate) struct UnionFind {
    parent: Vec<u32>,
    size: Vec<u32>,
    n_sets: usize,
}

impl UnionFind {
    /// `n` sets of one element each.
    pub(crate) fn new(n: usize) -> Self {
        UnionFind { parent: (0..n as u32).collect(), size: vec![1; n], n_sets: n }
    }

    /// The representative of `x`'s set.
    pub(crate) fn find(&mut self, x: usize) -> usize {
        let mut x = x as u32;
        while self.parent[x as usize] != x {
            let grandparent = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = grandparent;
            x = grandparent;
        }
        x as usize
    }

    /// How many elements `x`'s set has.
    pub(crate) fn size(&mut self, x: usize) -> u32 {
        let root = self.find(x);
        self.size[root]
    }

    /// Joins the sets of `a` and `b`; whether they were apart.
    pub(crate) fn union(&mut self, a: usize, b: usize) -> bool {
        let (mut a, mut b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        if self.size[a] < self.size[b] {
            std::mem::swap(&mut a, &mut b);
        }
        self.parent[b] = a as u32;
        self.size[a] += self.size[b];
        self.n_sets -= 1;
        true
    }

    /// The number of sets.
    pub(crate) fn n_sets(&self) -> usize {
        self.n_sets
    }

    /// The set of every element, sets numbered from 0 in order of their first element.
    pub(crate) fn labels(&mut self) -> Vec<u32> {
        let n = self.parent.len();
        let mut number = vec![u32::MAX; n];
        let mut next = 0;
        (0..n)
            .map(|x| {
                let root = self.find(x);
                if number[root] == u32::MAX {
                    number[root] = next;
                    next += 1;
                }
                number[root]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_join_and_labels_follow_first_elements() {
        let mut sets = UnionFind::new(5);
        assert!(sets.union(3, 1));
        assert!(sets.union(4, 3));
        assert!(!sets.union(1, 4));
        assert_eq!((sets.n_sets(), sets.size(1), sets.size(0)), (3, 3, 1));
        assert_eq!(sets.labels(), [0, 1, 2, 1, 1]);
    }
}
