//! Average link of similarities that are a bilinear form of few coordinates.

use rayon::prelude::*;

use crate::base::linkage::Store;
use crate::ensemble::tally;

/// Groups whose similarity is $g_A^T Z g_B / (w_A w_B)$ with $g_A = \sum_{i \in A} w_i x_i$ and a symmetric
/// $Z$: items have few coordinates that are not 0, but a coordinate is something to many others.
///
/// Memory $O(u r)$ for $r$ coordinates an item; a look for the nearest takes $O(u r)$ and what $Z g_A$ takes.
pub(crate) struct Bilinear<F> {
    /// Of every group, by its first item: the coordinates that are not 0, ascending.
    vectors: Vec<Vec<(u32, f64)>>,
    mass: Vec<f64>,
    groups: Vec<u32>,
    dimension: usize,
    form: F,
}

/// Below this many groups a look runs on one thread, and so many are a task.
const BLOCK: usize = 2048;

impl<'z, F: Fn(u32) -> (usize, &'z [f64]) + Sync> Bilinear<F> {
    /// The store of items with these `weights`; `vector(i)` lists the coordinates of item `i` that are not 0,
    /// ascending, and `form(c)` gives of row `c` of $Z$ the part that is not 0 and where it begins.
    pub(crate) fn new(
        weights: &[f64],
        dimension: usize,
        vector: impl Fn(usize) -> Vec<(u32, f64)>,
        form: F,
    ) -> Self {
        let scaled = |i: usize| {
            let mut vector = vector(i);
            vector.iter_mut().for_each(|(_, x)| *x *= weights[i]);
            vector
        };
        Bilinear {
            vectors: (0..weights.len()).map(scaled).collect(),
            mass: weights.to_vec(),
            groups: (0..weights.len() as u32).collect(),
            dimension,
            form,
        }
    }
}

impl<'z, F: Fn(u32) -> (usize, &'z [f64]) + Sync> Store for Bilinear<F> {
    fn items(&self) -> usize {
        self.mass.len()
    }

    fn nearest(&mut self, a: u32) -> (u32, f64) {
        let mut image = vec![0.0; self.dimension];
        for &(c, x) in &self.vectors[a as usize] {
            let (first, row) = (self.form)(c);
            tally(row.len());
            image[first..].iter_mut().zip(row).for_each(|(sum, z)| *sum += x * z);
        }
        let mass = self.mass[a as usize];
        let look = |groups: &[u32]| {
            let mut best = (u32::MAX, f64::NEG_INFINITY);
            for &b in groups.iter().filter(|&&b| b != a) {
                let vector = &self.vectors[b as usize];
                tally(vector.len());
                let total: f64 = vector.iter().map(|&(c, x)| x * image[c as usize]).sum();
                let similarity = total / (mass * self.mass[b as usize]);
                if similarity > best.1 {
                    best = (b, similarity);
                }
            }
            best
        };
        if self.groups.len() <= BLOCK {
            return look(&self.groups);
        }
        let found: Vec<_> = self.groups.par_chunks(BLOCK).map(look).collect();
        // The first of equals.
        let better = |x: (u32, f64), y: (u32, f64)| if y.1 > x.1 { y } else { x };
        found.into_iter().reduce(better).expect("there is another group")
    }

    fn merge(&mut self, a: u32, b: u32) {
        self.groups.retain(|&group| group != b);
        let right = std::mem::take(&mut self.vectors[b as usize]);
        let left = std::mem::take(&mut self.vectors[a as usize]);
        let mut both: Vec<(u32, f64)> = left.into_iter().chain(right).collect();
        both.sort_by_key(|&(c, _)| c);
        both.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        self.vectors[a as usize] = both;
        self.mass[a as usize] += self.mass[b as usize];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::linkage::{Dense, Link, chain};
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};
    use crate::run::Run;

    proptest! {
        /// The tree is that of the table of all pairs.
        #[test]
        fn a_form_says_what_a_table_says(u in 1..25usize, seed: u64) {
            let mut rng = Rng::new(seed, Stream::Data);
            let d = 6;
            let root = Matrix::from_fn(d, d, |i, j| ((i * 7 + j * 3 + seed as usize % 11) % 13) as f64);
            let dot = |i: usize, j: usize| root.row(i).iter().zip(root.row(j)).map(|(x, y)| x * y).sum();
            let z = Matrix::from_fn(d, d, dot);
            let weights: Vec<f64> = (0..u).map(|_| 0.5 + rng.unit()).collect();
            let vectors: Vec<Vec<(u32, f64)>> = (0..u)
                .map(|_| {
                    let mut chosen = rng.distinct(d, 2);
                    chosen.sort_unstable();
                    chosen.into_iter().map(|c| (c as u32, rng.unit())).collect()
                })
                .collect();
            let pair = |i: usize, j: usize| -> f64 {
                let both = vectors[i].iter().flat_map(|a| vectors[j].iter().map(move |b| (a, b)));
                both.map(|(a, b)| a.1 * b.1 * z[(a.0 as usize, b.0 as usize)]).sum()
            };
            let row = |i: usize, out: &mut [f64]| {
                out.iter_mut().enumerate().for_each(|(j, out)| *out = pair(i, j));
            };
            let run = Run::new(0).threads(1);
            let slow = chain(Dense::new(&weights, Link::Average, 1.0, row), &run).unwrap();
            let form = |c: u32| (0, z.row(c as usize));
            let store = Bilinear::new(&weights, d, |i| vectors[i].clone(), form);
            let fast = chain(store, &run).unwrap();
            for (x, y) in fast.iter().zip(&slow) {
                prop_assert_eq!((x.a, x.b), (y.a, y.b));
                prop_assert!((x.similarity - y.similarity).abs() < 1e-9 * (1.0 + y.similarity));
            }
        }
    }
}
