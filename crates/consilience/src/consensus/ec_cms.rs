//! EC-CMS: ensemble clustering by co-association matrix self-enhancement.
//!
//! Y. Jia, S. Tao, R. Wang, Y. Wang. *Ensemble Clustering via Co-Association Matrix Self-Enhancement.* IEEE
//! Transactions on Neural Networks and Learning Systems, 2023.
//!
//! Where most members agree, the co-association is trusted; elsewhere it is noise. Pairs with a
//! co-association of at least $\alpha$ make a graph of high confidence with the Laplacian $\Phi$, and what
//! they say is spread along it to the weighted co-association $A$ of [LWEA](crate::consensus::lwea),
//! less an error $E$ where nothing is sure:
//!
//! $$ \min_{C, E} \operatorname{tr}(C^T \Phi C) + \tfrac{\lambda}{2} \lVert E \rVert^2
//!    \quad \text{with } A = C + E,\; E = 0 \text{ where pairs are sure},\; 0 \le C = C^T \le 1. $$
//!
//! Solved by the alternating direction method of multipliers; objects are clustered by average link of $C$.
//!
//! Much better than others where classes are of unequal size, and worse elsewhere, where all runs together in
//! one large cluster (`docs/accuracy.md`).
//!
//! # On profiles
//!
//! All matrices between objects are kept on pairs of profiles (`block_matrix`): the answer is that of
//! the $n \times n$ matrices.
//!
//! # Where we depart from the paper
//!
//! * *Parameters.* $\alpha = 0.75$ and $\lambda = 0.1$, which the authors choose anew for every data set.
//! * *Missing labels* (left open). A pair is judged by the members that label both.
//! * *Equal objects* stay together, whatever $C$ says of them.
//!
//! # Cost
//!
//! Time $O(t u^3)$ for $t$ iterations, memory of 14 matrices of $u \times u$.

use crate::consensus::block_matrix::{BlockMatrix, Laplacian};
use crate::consensus::certainty::{Certainty, Evidence};
use crate::consensus::driver::{Effort, Solver, Step, solve};
use crate::consensus::method::{ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::Consensus;
use crate::consensus::params::{above, at_least, params};
use crate::consensus::tree::{average_link_of_table, cut_tree};
use crate::ensemble::{CoAssociation, Profiles};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// What there is to know about co-association matrix self-enhancement.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "ec-cms",
    title: "self-enhanced co-association: what most members agree on is spread to all pairs, then average link",
    reference: "Y. Jia, S. Tao, R. Wang, Y. Wang. Ensemble Clustering via Co-Association Matrix \
                Self-Enhancement. IEEE Transactions on Neural Networks and Learning Systems, 2023.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    offers: Offers { affinity: true, ..Offers::TREE },
    time: "O(t u^3)",
    memory: "14 matrices of u x u",
    ..EcCms::DECLARED
};

params! {
    /// [EC-CMS](self): self-enhanced co-association: what most members agree on is spread to all
    /// pairs, then average link.
    pub struct EcCms(k): INFO {
        /// The share of members that make a pair sure.
        alpha: f64 = 0.75, above(0.0).at_most(1.0);
        /// Weight of the errors: the larger, the less may be changed where pairs are not sure.
        lambda: f64 = 0.1, above(0.0);
        /// How much uncertain clusters count in the co-association; the larger, the more.
        theta: f64 = 0.4, above(0.0);
        /// Largest number of iterations.
        max_iter: usize = 100, at_least(1.0);
        /// Stop when no matrix changes by more than this share of itself.
        tol: f64 = 0.01, above(0.0);
    }
}

impl ConsensusMethod for EcCms {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, clusters) = (shape.u as u64, shape.total_clusters as u64);
        8 * (14 * u * u + clusters * clusters)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let effort = Effort { tol: self.tol, ..Effort::new(1, self.max_iter) };
        solve(&Enhancing { own: self, profiles }, None, effort, run)
    }
}

/// The method on certain profiles.
struct Enhancing<'a> {
    own: &'a EcCms,
    profiles: &'a Profiles,
}

/// The matrices in the paper's letters, and the inverse of $2 \Phi + 2 I$.
struct State {
    a: BlockMatrix,
    sure: Matrix,
    inverse: BlockMatrix,
    c: BlockMatrix,
    e: BlockMatrix,
    f: BlockMatrix,
    y1: BlockMatrix,
    y2: BlockMatrix,
}

impl Solver for Enhancing<'_> {
    type State = State;
    const STAGE: &'static str = "enhancing the co-association";

    fn start(&self, _: usize, run: &Run) -> Result<State> {
        let (u, weights) = (self.profiles.len(), self.profiles.weights());
        let certainty = Certainty::Plain.of_clusters(self.profiles, Some(self.own.theta));
        let evidence = Evidence::new(self.profiles, certainty);
        let mut pairs = Matrix::zeros(u, u);
        (0..u).for_each(|s| evidence.row(s, pairs.row_mut(s)));
        let a = BlockMatrix { pairs, own: vec![1.0; u] };
        let sure = CoAssociation::new(self.profiles).matrix(run)?;
        let inverse = Laplacian::new(&sure, self.own.alpha, weights, run)?.inverse(1.0);
        let zeros = || BlockMatrix::zeros(u);
        let y1 = a.clone();
        Ok(State { a, sure, inverse, c: zeros(), e: zeros(), f: zeros(), y1, y2: zeros() })
    }

    fn step(&self, state: &mut State, _: &Run) -> Result<Step> {
        let weights = self.profiles.weights();
        let State { a, sure, inverse, c, e, f, y1, y2 } = state;
        let mut right = a.clone();
        right.update([e, y1, f, y2], |a, [e, y1, f, y2]| a - e + y1 + f - y2);
        let next_c = inverse.times(&right, weights);
        let mut next_e = a.clone();
        let share = 1.0 / (self.own.lambda + 1.0);
        next_e.update([&next_c, y1], |a, [c, y1]| (a - c + y1) * share);
        let sure = sure.as_slice().iter().map(|&ca| ca >= self.own.alpha);
        let errors = next_e.pairs.as_mut_slice().iter_mut().zip(sure);
        errors.filter(|(_, sure)| *sure).for_each(|(e, _)| *e = 0.0);
        let mut next_f = next_c.clone();
        next_f.update([y2], |c, [y2]| c + y2);
        next_f.symmetrise();
        next_f.update([], |f, []| f.clamp(0.0, 1.0));
        y1.update([a, &next_c, &next_e], |y, [a, c, e]| y + a - c - e);
        y2.update([&next_c, &next_f], |y, [c, f]| y + c - f);
        let mut change = 0.0_f64;
        for (old, new) in [(c, next_c), (e, next_e), (f, next_f)] {
            let size = old.norm(weights).max(new.norm(weights));
            if size > 0.0 {
                change = change.max(old.distance(&new, weights) / size);
            }
            *old = new;
        }
        Ok(Step { objective: change, change, moved: 1.0 })
    }

    fn finish(&self, state: State, run: &Run) -> Result<Consensus> {
        let mut c = state.c;
        c.symmetrise();
        let row = |s: usize, out: &mut [f64]| out.copy_from_slice(c.pairs.row(s));
        let joins = average_link_of_table(self.profiles.weights(), row, run)?;
        let consensus = cut_tree(self.profiles.len(), &joins, self.own.k, run);
        Ok(Consensus { affinity: Some(c.pairs), ..consensus })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::consensus::block_matrix::tests::{
        far, of_objects, slow_inverse, slow_system, written_out,
    };
    use crate::consensus::certainty::tests::slow_evidence;
    use crate::consensus::{Settings, combine, method};
    use crate::linalg::product;
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    /// $C$ between objects, by matrices of objects.
    fn slow(profiles: &Profiles, own: &EcCms) -> Matrix {
        let of = of_objects(profiles);
        let n = of.len();
        let evidence = slow_evidence(profiles, Certainty::Plain, own.theta);
        let pairs = CoAssociation::new(profiles).matrix(&Run::new(0)).unwrap();
        let ca = Matrix::from_fn(n, n, |i, j| pairs[(of[i], of[j])]);
        let a = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { evidence[(of[i], of[j])] });
        let inverse = slow_inverse(&slow_system(&ca, own.alpha, 1.0));
        let zeros = || Matrix::zeros(n, n);
        let (mut c, mut e, mut f, mut y1, mut y2) = (zeros(), zeros(), zeros(), a.clone(), zeros());
        for _ in 0..own.max_iter {
            let right = Matrix::from_fn(n, n, |i, j| {
                a[(i, j)] - e[(i, j)] + y1[(i, j)] + f[(i, j)] - y2[(i, j)]
            });
            let next = product(inverse.as_faer(), right.as_faer());
            let next_e = Matrix::from_fn(n, n, |i, j| {
                let sure = i != j && ca[(i, j)] >= own.alpha;
                if sure {
                    0.0
                } else {
                    (a[(i, j)] - next[(i, j)] + y1[(i, j)]) / (own.lambda + 1.0)
                }
            });
            let next_f = Matrix::from_fn(n, n, |i, j| {
                let sum = next[(i, j)] + y2[(i, j)] + next[(j, i)] + y2[(j, i)];
                (sum / 2.0).clamp(0.0, 1.0)
            });
            for i in 0..n {
                for j in 0..n {
                    y1[(i, j)] += a[(i, j)] - next[(i, j)] - next_e[(i, j)];
                    y2[(i, j)] += next[(i, j)] - next_f[(i, j)];
                }
            }
            let norm = |x: &Matrix, y: &Matrix| {
                let apart = x.as_slice().iter().zip(y.as_slice());
                apart.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
            };
            let none = zeros();
            let change = |old: &Matrix, new: &Matrix| {
                let size = norm(old, &none).max(norm(new, &none));
                if size > 0.0 { norm(old, new) / size } else { 0.0 }
            };
            let most = change(&c, &next).max(change(&e, &next_e)).max(change(&f, &next_f));
            (c, e, f) = (next, next_e, next_f);
            if most <= own.tol {
                break;
            }
        }
        Matrix::from_fn(n, n, |i, j| f64::midpoint(c[(i, j)], c[(j, i)]))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn profiles_say_what_objects_say(
            ensemble in ensembles(Kinds { weights: false, ..Kinds::HARD }, 12, 4)
        ) {
            let profiles = profiles(&ensemble);
            let own = EcCms::new(1);
            let enhancing = Enhancing { own: &own, profiles: &profiles };
            let run = Run::new(0).threads(1);
            let mut state = enhancing.start(0, &run).unwrap();
            for _ in 0..own.max_iter {
                if enhancing.step(&mut state, &run).unwrap().change <= own.tol {
                    break;
                }
            }
            state.c.symmetrise();
            let found = written_out(&state.c, &of_objects(&profiles));
            prop_assert!(far(&found, &slow(&profiles, &own)) < 1e-9);
        }
    }

    #[test]
    fn sure_pairs_bring_others_together() {
        let members =
            [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let consensus = combine(&profiles, &EcCms::new(2), None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1].map(Some));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let build = |name: &str, value: &str| {
            let settings = Settings::from_iter([(name, value)]);
            method("ec-cms").unwrap().with(Some(2), &settings).map(|_| ())
        };
        let bad =
            [("alpha", "0"), ("alpha", "1.1"), ("lambda", "0"), ("theta", "-1"), ("max_iter", "0")];
        for (name, value) in bad {
            assert!(build(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(build("alpha", "0.8"), Ok(()));
    }
}
