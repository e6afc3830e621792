//! The neighbours of every vertex.

/// A weighted graph without direction: the neighbours of every vertex, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adjacency {
    starts: Vec<usize>,
    ends: Vec<u32>,
    weights: Vec<f32>,
    /// What every vertex is linked to itself with, counted once.
    loops: Vec<f64>,
}

impl Adjacency {
    /// How many bytes a graph takes.
    pub(crate) fn cost(vertices: u64, edges: u64) -> u64 {
        16 * vertices + 16 * edges
    }

    /// The graph of `n` vertices with the edges that `each` tells; edges of weight 0 are left out.
    pub(crate) fn new(n: usize, each: impl Fn(&mut dyn FnMut(u32, u32, f64))) -> Self {
        let (mut starts, mut loops) = (vec![0usize; n + 1], vec![0.0; n]);
        each(&mut |a, b, weight| {
            if a == b {
                loops[a as usize] += weight;
            } else if weight > 0.0 {
                starts[a as usize + 1] += 1;
                starts[b as usize + 1] += 1;
            }
        });
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let (mut ends, mut weights) = (vec![0; starts[n]], vec![0.0f32; starts[n]]);
        each(&mut |a, b, weight| {
            if a != b && weight > 0.0 {
                for (from, to) in [(a, b), (b, a)] {
                    let at = &mut next[from as usize];
                    (ends[*at], weights[*at]) = (to, weight as f32);
                    *at += 1;
                }
            }
        });
        Adjacency { starts, ends, weights, loops }
    }

    /// The number of vertices.
    pub(crate) fn len(&self) -> usize {
        self.loops.len()
    }

    /// The neighbours of a vertex and the weights of the edges to them.
    pub(crate) fn neighbours(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let own = self.starts[vertex]..self.starts[vertex + 1];
        self.ends[own.clone()].iter().copied().zip(self.weights[own].iter().map(|&w| f64::from(w)))
    }

    /// What a vertex is linked to itself with, counted once.
    pub(crate) fn loop_of(&self, vertex: usize) -> f64 {
        self.loops[vertex]
    }

    /// The weight of all edges of a vertex, twice that of the one to itself.
    pub(crate) fn strength(&self, vertex: usize) -> f64 {
        2.0 * self.loops[vertex] + self.neighbours(vertex).map(|(_, w)| w).sum::<f64>()
    }

    /// The same graph with its vertices in this order, and their neighbours in turn: equal graphs become equal.
    pub(crate) fn reordered(&self, order: &[u32]) -> Self {
        let n = self.len();
        let mut starts = Vec::with_capacity(n + 1);
        starts.push(0);
        let mut place = vec![0u32; n];
        for (at, &vertex) in order.iter().enumerate() {
            let v = vertex as usize;
            place[v] = at as u32;
            starts.push(starts[at] + self.starts[v + 1] - self.starts[v]);
        }
        let mut next = starts.clone();
        let (mut ends, mut weights) = (vec![0; self.ends.len()], vec![0.0f32; self.ends.len()]);
        for (at, &vertex) in order.iter().enumerate() {
            for (other, weight) in self.neighbours(vertex as usize) {
                let to = &mut next[place[other as usize] as usize];
                (ends[*to], weights[*to]) = (at as u32, weight as f32);
                *to += 1;
            }
        }
        let loops = order.iter().map(|&vertex| self.loops[vertex as usize]).collect();
        Adjacency { starts, ends, weights, loops }
    }

    /// The same graph with the vertices of each of `k` groups made one.
    pub(crate) fn merged(&self, groups: &[u32], k: usize) -> Self {
        let mut members: Vec<u32> = (0..self.len() as u32).collect();
        members.sort_by_key(|&vertex| groups[vertex as usize]);
        let mut loops = vec![0.0; k];
        let (mut starts, mut ends, mut weights) =
            (Vec::with_capacity(k + 1), Vec::new(), Vec::new());
        let mut sums = vec![0.0f64; k];
        let mut touched: Vec<u32> = Vec::new();
        let mut at = 0;
        for (group, own) in loops.iter_mut().enumerate() {
            starts.push(ends.len());
            while let Some(&vertex) =
                members.get(at).filter(|&&v| groups[v as usize] as usize == group)
            {
                *own += self.loops[vertex as usize];
                for (other, weight) in self.neighbours(vertex as usize) {
                    let other = groups[other as usize];
                    if other as usize == group {
                        // Met from either end.
                        *own += 0.5 * weight;
                    } else {
                        if sums[other as usize] == 0.0 {
                            touched.push(other);
                        }
                        sums[other as usize] += weight;
                    }
                }
                at += 1;
            }
            touched.sort_unstable();
            for other in touched.drain(..) {
                ends.push(other);
                weights.push(std::mem::take(&mut sums[other as usize]) as f32);
            }
        }
        starts.push(ends.len());
        Adjacency { starts, ends, weights, loops }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_loops_and_merging() {
        let edges = [(0, 1, 1.0), (1, 2, 2.0), (2, 2, 0.5), (0, 3, 0.0), (2, 3, 4.0)];
        let graph = Adjacency::new(4, |visit| edges.iter().for_each(|&(a, b, w)| visit(a, b, w)));
        assert_eq!(graph.neighbours(2).collect::<Vec<_>>(), [(1, 2.0), (3, 4.0)]);
        assert_eq!((graph.strength(0), graph.strength(2)), (1.0, 7.0));
        let turned = graph.reordered(&[3, 1, 0, 2]);
        assert_eq!(turned.neighbours(3).collect::<Vec<_>>(), [(0, 4.0), (1, 2.0)]);
        assert_eq!((turned.strength(2), turned.strength(3)), (1.0, 7.0));
        let merged = graph.merged(&[0, 0, 1, 1], 2);
        assert_eq!(merged.neighbours(0).collect::<Vec<_>>(), [(1, 2.0)]);
        assert_eq!((merged.strength(0), merged.strength(1)), (4.0, 11.0));
        let total = |graph: &Adjacency| (0..graph.len()).map(|v| graph.strength(v)).sum::<f64>();
        assert_eq!(total(&graph), total(&merged));
    }
}
