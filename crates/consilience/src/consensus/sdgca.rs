//! SDGCA: co-association guided by similarity and dissimilarity.
//!
//! X. Zhang, Y. Jia, M. Song, R. Wang. *Similarity and Dissimilarity Guided Co-association Matrix Construction for
//! Ensemble Clustering.* IEEE Transactions on Knowledge and Data Engineering, 2025.
//!
//! Two matrices are learned from what is sure and spread along a graph of high confidence: $S$, how alike two
//! objects are, from pairs that at least $\theta$ of the members put together, and $D$, how unlike, from pairs in
//! clusters that random walks tell apart. They pull the weighted co-association $N$ of
//! [LWEA](crate::consensus::lwea), scaled to a largest entry of 1, up or down:
//!
//! $$ W = \begin{cases} 1 - (1 - S + D)(1 - N) & S \ge D \\ (1 + S - D) N & S < D. \end{cases} $$
//!
//! With $L$ the Laplacian of the pairs with a co-association of at least $\eta$, $S$ and $D$ minimise
//! $\operatorname{tr}(S L S^T) + \operatorname{tr}(D L D^T) + \operatorname{tr}(S D)$ with
//! what is sure kept and entries between 0 and 1, by alternating directions with a growing penalty. The objects are clustered
//! by average link of $W$.
//!
//! As [EC-CMS](crate::consensus::ec_cms) it is for classes of unequal size.
//!
//! # On profiles
//!
//! All matrices between objects are kept on pairs of profiles (`block_matrix`): the answer is that of
//! the $n \times n$ matrices. The inverses for all penalties come from one eigenproblem.
//!
//! # Where we depart from the paper
//!
//! * *Parameters.* $\lambda = 0.06$, $\eta = 0.75$, $\theta = 0.65$, which the authors choose anew for every data set.
//! * *Missing labels* (left open). A pair is judged by the members that label both.
//! * *Equal objects* stay together, whatever $W$ says of them.
//!
//! # Cost
//!
//! Time $O(t u^3 + K^3)$ for $t$ iterations, memory of 18 matrices of $u \times u$.

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

/// What there is to know about similarity and dissimilarity guided co-association.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "sdgca",
    title: "co-association guided by pairs that are surely alike and surely unlike, then average link",
    reference: "X. Zhang, Y. Jia, M. Song, R. Wang. Similarity and Dissimilarity Guided Co-association \
                Matrix Construction for Ensemble Clustering. IEEE Transactions on Knowledge and Data \
                Engineering, 2025.",
    soft: OnSoft::Hardens,
    missing: Some("a pair is judged by the members that label both"),
    offers: Offers { affinity: true, ..Offers::TREE },
    time: "O(t u^3 + K^3)",
    memory: "18 matrices of u x u",
    ..Sdgca::DECLARED
};

params! {
    /// [SDGCA](self): co-association guided by pairs that are surely alike and surely unlike, then
    /// average link.
    pub struct Sdgca(k): INFO {
        /// How much uncertain clusters count in the co-association; the larger, the more.
        lambda: f64 = 0.06, above(0.0);
        /// The share of members that joins a pair in the graph along which all is spread.
        eta: f64 = 0.75, above(0.0).at_most(1.0);
        /// The share of members from which on a pair is alike.
        theta: f64 = 0.65, above(0.0).at_most(1.0);
        /// Largest number of iterations.
        max_iter: usize = 300, at_least(1.0);
        /// Stop when no matrix changes by more than this, and the constraints hold up to this.
        tol: f64 = 0.001, above(0.0);
    }
}

/// The length of walks between clusters, and the mean dissimilarity from which on a pair is unlike.
const STEPS: usize = 20;
const UNLIKE: f64 = 0.8;
/// The growth of the penalty, and where it ends.
const GROWTH: f64 = 1.1;
const MAX_MU: f64 = 1e6;

impl ConsensusMethod for Sdgca {
    fn cost(&self, shape: &Shape) -> u64 {
        let (u, clusters) = (shape.u as u64, shape.total_clusters as u64);
        8 * (18 * u * u + 6 * clusters * clusters)
    }

    fn solve(&self, profiles: &Profiles, _: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let effort = Effort { tol: self.tol, ..Effort::new(1, self.max_iter) };
        solve(&Guiding { own: self, profiles }, None, effort, run)
    }
}

/// The method on certain profiles.
struct Guiding<'a> {
    own: &'a Sdgca,
    profiles: &'a Profiles,
}

/// One of the two matrices that are learned, in the paper's letters.
struct Learned {
    x: BlockMatrix,
    f: BlockMatrix,
    y: BlockMatrix,
    /// What is known of it, 0 elsewhere.
    sure: BlockMatrix,
}

impl Learned {
    fn new(sure: BlockMatrix) -> Self {
        let zeros = || BlockMatrix::zeros(sure.own.len());
        Learned { x: zeros(), f: zeros(), y: zeros(), sure }
    }

    /// One update of the matrix and its copy within bounds; how far it moved, and how far the two are apart.
    fn update(
        &mut self,
        other: &BlockMatrix,
        mu: f64,
        inverse: &BlockMatrix,
        weights: &[f64],
    ) -> f64 {
        let mut right = other.transposed();
        right.update([&self.f, &self.y], |other, [f, y]| 2.0 * mu * f - other - y);
        let next = right.times(inverse, weights);
        let moved = self.x.distance(&next, weights);
        self.x = next;
        self.f.update([&self.x, &self.y, &self.sure], |_, [x, y, sure]| {
            if sure > 0.0 { sure } else { (x + y / (2.0 * mu)).clamp(0.0, 1.0) }
        });
        self.f.symmetrise();
        moved.max(self.x.distance(&self.f, weights))
    }

    fn raise(&mut self, mu: f64) {
        self.y.update([&self.x, &self.f], |y, [x, f]| y + mu * (x - f));
    }
}

struct State {
    /// The weighted co-association.
    n: BlockMatrix,
    laplacian: Laplacian,
    s: Learned,
    d: Learned,
    mu: f64,
}

impl Guiding<'_> {
    /// The weighted co-association, scaled to a largest entry of 1.
    fn weighted(&self) -> BlockMatrix {
        let u = self.profiles.len();
        let certainty = Certainty::Normalised.of_clusters(self.profiles, Some(self.own.lambda));
        let evidence = Evidence::new(self.profiles, certainty);
        let mut pairs = Matrix::zeros(u, u);
        (0..u).for_each(|s| evidence.row(s, pairs.row_mut(s)));
        let most = pairs.as_slice().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        pairs.as_mut_slice().iter_mut().for_each(|x| *x /= most);
        BlockMatrix { pairs, own: vec![1.0; u] }
    }

    /// How unlike surely unlike pairs are.
    fn unlike(&self, run: &Run) -> Result<BlockMatrix> {
        let (u, r) = (self.profiles.len(), self.profiles.n_members());
        let walks = self.profiles.walks_of_clusters(STEPS, run)?;
        let labels: Vec<Vec<Option<usize>>> = (0..u)
            .map(|s| {
                let mut row = vec![None; r];
                self.profiles.for_each_entry(s, |h, c, _| row[h] = Some(c));
                row
            })
            .collect();
        let pairs = Matrix::from_fn(u, u, |s, t| {
            let both = labels[s].iter().zip(&labels[t]).filter_map(|(a, b)| a.zip(*b));
            let (sum, count) = both
                .fold((0.0, 0.0), |(sum, count), (a, b)| (sum + 1.0 - walks[(a, b)], count + 1.0));
            if sum >= UNLIKE * count && count > 0.0 { sum / count } else { 0.0 }
        });
        Ok(BlockMatrix::constant(pairs))
    }
}

impl Solver for Guiding<'_> {
    type State = State;
    const STAGE: &'static str = "learning similarities and dissimilarities";

    fn start(&self, _: usize, run: &Run) -> Result<State> {
        let n = self.weighted();
        let together = BlockMatrix::constant(CoAssociation::new(self.profiles).matrix(run)?);
        let weights = self.profiles.weights();
        let laplacian = Laplacian::new(&together.pairs, self.own.eta, weights, run)?;
        let unlike = self.unlike(run)?;
        let mut alike = n.clone();
        alike.update([&together, &unlike], |n, [together, unlike]| {
            let sure = together >= self.own.theta && unlike == 0.0 && n > 0.0;
            if sure { 0.8 + n / 5.0 } else { 0.0 }
        });
        Ok(State { n, laplacian, s: Learned::new(alike), d: Learned::new(unlike), mu: 1.0 })
    }

    fn step(&self, state: &mut State, run: &Run) -> Result<Step> {
        let weights = self.profiles.weights();
        let State { laplacian, s, d, mu, .. } = state;
        let inverse = laplacian.inverse(*mu);
        let of_s = s.update(&d.x, *mu, &inverse, weights);
        run.check()?;
        let of_d = d.update(&s.x, *mu, &inverse, weights);
        s.raise(*mu);
        d.raise(*mu);
        *mu = (*mu * GROWTH).min(MAX_MU);
        let change = of_s.max(of_d);
        Ok(Step { objective: change, change, moved: 1.0 })
    }

    fn finish(&self, state: State, run: &Run) -> Result<Consensus> {
        let pairs = guided(state).pairs;
        let row = |s: usize, out: &mut [f64]| out.copy_from_slice(pairs.row(s));
        let joins = average_link_of_table(self.profiles.weights(), row, run)?;
        let consensus = cut_tree(self.profiles.len(), &joins, self.own.k, run);
        Ok(Consensus { affinity: Some(pairs), ..consensus })
    }
}

/// $W$ of a state that has settled.
fn guided(state: State) -> BlockMatrix {
    let State { mut n, s, d, .. } = state;
    let [s, d] = [s.x, d.x].map(|mut x| {
        x.update([], |x, []| x.clamp(0.0, 1.0));
        x.symmetrise();
        x
    });
    n.update(
        [&s, &d],
        |n, [s, d]| {
            if s >= d { 1.0 - (1.0 - s + d) * (1.0 - n) } else { (1.0 + s - d) * n }
        },
    );
    n
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

    /// $W$ between objects, by matrices of objects, after a number of iterations.
    fn slow(profiles: &Profiles, own: &Sdgca, iterations: usize) -> Matrix {
        let of = of_objects(profiles);
        let n = of.len();
        let mut evidence = slow_evidence(profiles, Certainty::Normalised, own.lambda);
        let most = evidence.as_slice().iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        evidence.as_mut_slice().iter_mut().for_each(|x| *x /= most);
        let weighted =
            Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { evidence[(of[i], of[j])] });
        let pairs = CoAssociation::new(profiles).matrix(&Run::new(0)).unwrap();
        let ca = Matrix::from_fn(n, n, |i, j| pairs[(of[i], of[j])]);
        let walks = profiles.walks_of_clusters(20, &Run::new(0).threads(1)).unwrap();
        let first = |h: usize| profiles.members()[h].clusters.start;
        let unlike = Matrix::from_fn(n, n, |i, j| {
            let clusters = |h: usize| {
                let (a, b) = (profiles.label(of[i], h)?, profiles.label(of[j], h)?);
                Some(1.0 - walks[(first(h) + a, first(h) + b)])
            };
            let apart: Vec<f64> = (0..profiles.n_members()).filter_map(clusters).collect();
            let mean = apart.iter().sum::<f64>() / apart.len() as f64;
            if mean >= 0.8 { mean } else { 0.0 }
        });
        let alike = Matrix::from_fn(n, n, |i, j| {
            let sure = ca[(i, j)] >= own.theta && unlike[(i, j)] == 0.0 && weighted[(i, j)] > 0.0;
            if sure { 0.8 + weighted[(i, j)] / 5.0 } else { 0.0 }
        });
        let mut mu = 1.0;
        let learned = |sure: &Matrix| {
            [Matrix::zeros(n, n), Matrix::zeros(n, n), Matrix::zeros(n, n), sure.clone()]
        };
        let (mut s, mut d) = (learned(&alike), learned(&unlike));
        for _ in 0..iterations {
            let inverse = slow_inverse(&slow_system(&ca, own.eta, mu));
            let update = |[x, f, y, sure]: &mut [Matrix; 4], other: &Matrix| {
                let right =
                    Matrix::from_fn(n, n, |i, j| 2.0 * mu * f[(i, j)] - other[(j, i)] - y[(i, j)]);
                *x = product(right.as_faer(), inverse.as_faer());
                let within = |i: usize, j: usize| {
                    if sure[(i, j)] > 0.0 {
                        sure[(i, j)]
                    } else {
                        (x[(i, j)] + y[(i, j)] / (2.0 * mu)).clamp(0.0, 1.0)
                    }
                };
                *f = Matrix::from_fn(n, n, |i, j| f64::midpoint(within(i, j), within(j, i)));
            };
            update(&mut s, &d[0]);
            update(&mut d, &s[0]);
            for [x, f, y, _] in [&mut s, &mut d] {
                let sums = y.as_mut_slice().iter_mut().zip(x.as_slice()).zip(f.as_slice());
                sums.for_each(|((y, x), f)| *y += mu * (x - f));
            }
            mu *= GROWTH;
        }
        let bounded = |x: &Matrix, i: usize, j: usize| {
            f64::midpoint(x[(i, j)].clamp(0.0, 1.0), x[(j, i)].clamp(0.0, 1.0))
        };
        Matrix::from_fn(n, n, |i, j| {
            let (s, d, n) = (bounded(&s[0], i, j), bounded(&d[0], i, j), weighted[(i, j)]);
            if s >= d { 1.0 - (1.0 - s + d) * (1.0 - n) } else { (1.0 + s - d) * n }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn profiles_say_what_objects_say(
            ensemble in ensembles(Kinds { weights: false, ..Kinds::HARD }, 10, 4)
        ) {
            let profiles = profiles(&ensemble);
            let own = Sdgca::new(1);
            let guiding = Guiding { own: &own, profiles: &profiles };
            let run = Run::new(0).threads(1);
            let mut state = guiding.start(0, &run).unwrap();
            for _ in 0..30 {
                guiding.step(&mut state, &run).unwrap();
            }
            let found = written_out(&guided(state), &of_objects(&profiles));
            let expected = slow(&profiles, &own, 30);
            prop_assert!(far(&found, &expected) < 1e-9, "{}", far(&found, &expected));
        }
    }

    #[test]
    fn sure_pairs_bring_others_together() {
        let members =
            [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2]];
        let profiles = profiles(&hard_ensemble(&members));
        let consensus = combine(&profiles, &Sdgca::new(2), None, &Run::new(0)).unwrap();
        assert_eq!(consensus.object_labels(&profiles), [0, 0, 0, 1, 1, 1].map(Some));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let build = |name: &str, value: &str| {
            let settings = Settings::from_iter([(name, value)]);
            method("sdgca").unwrap().with(Some(2), &settings).map(|_| ())
        };
        for (name, value) in
            [("lambda", "0"), ("eta", "1.1"), ("theta", "0"), ("tol", "-1"), ("max_iter", "0")]
        {
            assert!(build(name, value).is_err(), "{name} {value}");
        }
        assert_eq!(build("eta", "0.8"), Ok(()));
    }
}
