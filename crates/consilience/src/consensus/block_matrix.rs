//! Matrices between all objects that are kept on pairs of profiles.
//!
//! What two objects are to each other depends on their label tuples only, except that an object is something
//! else to itself than to its equals. With $Z$ the $n \times u$ membership of objects in profiles, such
//! a matrix is $X = Z P Z^T + \operatorname{diag}(Z d)$. Sums, products and elementwise functions of such matrices are
//! such matrices, so methods that are written with $n \times n$ matrices run on $u \times u$ ones, exactly:
//!
//! $$ (P_1, d_1) (P_2, d_2) = (P_1 W P_2 + \operatorname{diag}(d_1) P_2 + P_1 \operatorname{diag}(d_2),\; d_1 d_2). $$

use crate::error::Result;
use crate::linalg::{Matrix, eigen, product, symmetric_product_into};
use crate::run::Run;

/// A matrix between objects, on profiles.
#[derive(Clone, Debug)]
pub(super) struct BlockMatrix {
    /// $P$: what an object of one profile is to another one of the same or another profile.
    pub(super) pairs: Matrix,
    /// $\operatorname{diag}(P) + d$: what an object is to itself.
    pub(super) own: Vec<f64>,
}

impl BlockMatrix {
    pub(super) fn zeros(u: usize) -> Self {
        BlockMatrix { pairs: Matrix::zeros(u, u), own: vec![0.0; u] }
    }

    /// The matrix in which an object is to itself what it is to its equals.
    pub(super) fn constant(pairs: Matrix) -> Self {
        let own = (0..pairs.nrows()).map(|s| pairs[(s, s)]).collect();
        BlockMatrix { pairs, own }
    }

    fn surplus(&self, s: usize) -> f64 {
        self.own[s] - self.pairs[(s, s)]
    }

    /// $X Y$; `weights` are those of the profiles.
    pub(super) fn times(&self, other: &BlockMatrix, weights: &[f64]) -> BlockMatrix {
        let u = weights.len();
        let mut weighted = other.pairs.clone();
        for (s, w) in weights.iter().enumerate() {
            weighted.row_mut(s).iter_mut().for_each(|x| *x *= w);
        }
        let mut pairs = product(self.pairs.as_faer(), weighted.as_faer());
        let surplus: Vec<f64> = (0..u).map(|t| other.surplus(t)).collect();
        let mut own = Vec::with_capacity(u);
        for s in 0..u {
            let d = self.surplus(s);
            let row = pairs.row_mut(s).iter_mut().zip(other.pairs.row(s)).zip(self.pairs.row(s));
            row.zip(&surplus).for_each(|(((x, below), left), more)| *x += d * below + left * more);
            own.push(pairs[(s, s)] + d * surplus[s]);
        }
        BlockMatrix { pairs, own }
    }

    /// $X^T$.
    pub(super) fn transposed(&self) -> BlockMatrix {
        let u = self.own.len();
        let pairs = Matrix::from_fn(u, u, |s, t| self.pairs[(t, s)]);
        BlockMatrix { pairs, own: self.own.clone() }
    }

    /// $(X + X^T) / 2$ in place.
    pub(super) fn symmetrise(&mut self) {
        for s in 0..self.own.len() {
            for t in 0..s {
                let mean = f64::midpoint(self.pairs[(s, t)], self.pairs[(t, s)]);
                self.pairs[(s, t)] = mean;
                self.pairs[(t, s)] = mean;
            }
        }
    }

    /// Every entry anew, from what it was and what stands at its place in `others`.
    pub(super) fn update<const N: usize>(
        &mut self,
        others: [&BlockMatrix; N],
        f: impl Fn(f64, [f64; N]) -> f64,
    ) {
        for (i, x) in self.pairs.as_mut_slice().iter_mut().enumerate() {
            *x = f(*x, others.map(|other| other.pairs.as_slice()[i]));
        }
        for (s, x) in self.own.iter_mut().enumerate() {
            *x = f(*x, others.map(|other| other.own[s]));
        }
    }

    /// The root of the sum of squares over all pairs of objects of $X - Y$.
    pub(super) fn distance(&self, other: &BlockMatrix, weights: &[f64]) -> f64 {
        let apart = |s: usize, t: usize| self.pairs[(s, t)] - other.pairs[(s, t)];
        root_of_squares(apart, |s| self.own[s] - other.own[s], weights)
    }

    /// The same of $X$.
    pub(super) fn norm(&self, weights: &[f64]) -> f64 {
        root_of_squares(|s, t| self.pairs[(s, t)], |s| self.own[s], weights)
    }
}

fn root_of_squares(
    pair: impl Fn(usize, usize) -> f64,
    own: impl Fn(usize) -> f64,
    weights: &[f64],
) -> f64 {
    let mut sum = 0.0;
    for (s, w) in weights.iter().enumerate() {
        let row: f64 = weights.iter().enumerate().map(|(t, v)| v * pair(s, t).powi(2)).sum();
        sum += w * (row - pair(s, s).powi(2) + own(s).powi(2));
    }
    // A weight below 1 has less than one pair of equals.
    sum.max(0.0).sqrt()
}

/// The Laplacian of a graph between objects whose edges depend on profiles only, and
/// $(2 L + 2 \mu I)^{-1}$ for any $\mu$ from one eigenproblem.
pub(super) struct Laplacian {
    roots: Vec<f64>,
    degrees: Vec<f64>,
    values: Vec<f64>,
    /// One eigenvector a row.
    vectors: Matrix,
}

impl Laplacian {
    /// Of the graph with edges where `similarity` is at least `from`; loops do not count.
    pub(super) fn new(similarity: &Matrix, from: f64, weights: &[f64], run: &Run) -> Result<Self> {
        let u = weights.len();
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let edge = |s: usize, t: usize| {
            if similarity[(s, t)] >= from { similarity[(s, t)] } else { 0.0 }
        };
        let degree = |s: usize| (0..u).map(|t| edge(s, t) * weights[t]).sum::<f64>();
        let degrees: Vec<f64> = (0..u).map(degree).collect();
        let own = |s: usize, t: usize| if s == t { degrees[s] } else { 0.0 };
        let inner = Matrix::from_fn(u, u, |s, t| own(s, t) - roots[s] * edge(s, t) * roots[t]);
        let found = eigen(inner, <[f64]>::len, run)?;
        Ok(Laplacian { roots, degrees, values: found.values, vectors: found.vectors })
    }

    /// $(2 L + 2 \mu I)^{-1}$.
    pub(super) fn inverse(&self, mu: f64) -> BlockMatrix {
        let u = self.roots.len();
        let mut scaled = self.vectors.clone();
        for (j, value) in self.values.iter().enumerate() {
            // The Laplacian has no negative eigenvalue but for rounding.
            let by = 1.0 / (2.0 * value.max(0.0) + 2.0 * mu);
            scaled.row_mut(j).iter_mut().for_each(|x| *x *= by);
        }
        let mut pairs = Matrix::zeros(u, u);
        let vectors = self.vectors.as_faer();
        symmetric_product_into(&mut pairs, vectors.transpose(), scaled.as_faer());
        let mut own = Vec::with_capacity(u);
        for s in 0..u {
            let alone = 1.0 / (2.0 * self.degrees[s] + 2.0 * mu);
            pairs[(s, s)] -= alone;
            let row = pairs.row_mut(s).iter_mut().zip(&self.roots);
            row.for_each(|(x, root)| *x /= root * self.roots[s]);
            own.push(pairs[(s, s)] + alone);
        }
        BlockMatrix { pairs, own }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{CoAssociation, NO_PROFILE, Profiles};
    use crate::testing::{Kinds, ensembles, profiles};

    /// The profile of every object that has one.
    pub(in crate::consensus) fn of_objects(profiles: &Profiles) -> Vec<usize> {
        let known = profiles.map().iter().filter(|&&s| s != NO_PROFILE);
        known.map(|&s| s as usize).collect()
    }

    /// The matrix between objects, written out.
    pub(in crate::consensus) fn written_out(x: &BlockMatrix, of: &[usize]) -> Matrix {
        Matrix::from_fn(of.len(), of.len(), |i, j| {
            if i == j { x.own[of[i]] } else { x.pairs[(of[i], of[j])] }
        })
    }

    /// The inverse by elimination.
    pub(in crate::consensus) fn slow_inverse(a: &Matrix) -> Matrix {
        let n = a.nrows();
        let mut left = a.clone();
        let mut right = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
        for p in 0..n {
            let size = |&i: &usize| left[(i, p)].abs();
            let best = (p..n).max_by(|a, b| size(a).total_cmp(&size(b))).expect("not empty");
            for j in 0..n {
                for m in [&mut left, &mut right] {
                    (m[(p, j)], m[(best, j)]) = (m[(best, j)], m[(p, j)]);
                }
            }
            let pivot = left[(p, p)];
            for j in 0..n {
                left[(p, j)] /= pivot;
                right[(p, j)] /= pivot;
            }
            for i in (0..n).filter(|&i| i != p) {
                let by = left[(i, p)];
                for j in 0..n {
                    left[(i, j)] -= by * left[(p, j)];
                    right[(i, j)] -= by * right[(p, j)];
                }
            }
        }
        right
    }

    /// $2 L + 2 \mu I$ of objects, from the definition.
    pub(in crate::consensus) fn slow_system(ca: &Matrix, from: f64, mu: f64) -> Matrix {
        let n = ca.nrows();
        let edge = |i: usize, j: usize| if i != j && ca[(i, j)] >= from { ca[(i, j)] } else { 0.0 };
        Matrix::from_fn(n, n, |i, j| {
            if i == j {
                2.0 * (0..n).map(|j| edge(i, j)).sum::<f64>() + 2.0 * mu
            } else {
                -2.0 * edge(i, j)
            }
        })
    }

    pub(in crate::consensus) fn far(a: &Matrix, b: &Matrix) -> f64 {
        let apart = a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).abs());
        apart.fold(0.0, f64::max)
    }

    proptest! {
        #[test]
        fn the_algebra_is_that_of_objects(
            ensemble in ensembles(Kinds { weights: false, ..Kinds::HARD }, 12, 4), seed: u64
        ) {
            let profiles = profiles(&ensemble);
            let (of, w) = (of_objects(&profiles), profiles.weights());
            let u = w.len();
            let mut rng = crate::rng::Rng::new(seed, crate::rng::Stream::Data);
            let mut drawn = || BlockMatrix {
                pairs: Matrix::from_vec(u, u, (0..u * u).map(|_| rng.unit()).collect()),
                own: (0..u).map(|_| rng.unit()).collect(),
            };
            let (x, y) = (drawn(), drawn());
            let (a, b) = (written_out(&x, &of), written_out(&y, &of));
            let both = product(a.as_faer(), b.as_faer());
            prop_assert!(far(&written_out(&x.times(&y, w), &of), &both) < 1e-9);
            let apart: f64 = a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).powi(2)).sum();
            prop_assert!((x.distance(&y, w) - apart.sqrt()).abs() < 1e-9);
            // The inverse, of a graph of votes.
            let ca = CoAssociation::new(&profiles).matrix(&Run::new(0)).unwrap();
            let laplacian = Laplacian::new(&ca, 0.6, w, &Run::new(0).threads(1)).unwrap();
            let slow = written_out(&BlockMatrix::constant(ca), &of);
            let slow = slow_inverse(&slow_system(&slow, 0.6, 0.7));
            prop_assert!(far(&written_out(&laplacian.inverse(0.7), &of), &slow) < 1e-9);
        }
    }
}
