//! Many profiles: steps that look at the heaviest only, between visits to all.
//!
//! The bound is a function of the model and of what is believed of every object. A step that leaves
//! the beliefs about the light profiles alone still raises it (incremental EM: R. M. Neal, G. E.
//! Hinton. *A View of the EM Algorithm that Justifies Incremental, Sparse, and Other Variants.*
//! 1998), and costs what the heavy ones cost.
//!
//! Where clusters overlap it is the visits that bring the model forward, slowly. So after every two
//! the model jumps ahead to where they seem to lead, and back if that lowers the bound (R. Varadhan,
//! C. Roland. *Simple and Globally Convergent Methods for Accelerating the Convergence of Any EM
//! Algorithm.* Scandinavian Journal of Statistics 35, 2008).

use super::alpha::ALPHA;
use super::{Bce, Fit, Model, State, Sums, Until, normalise};
use crate::consensus::outcome::Stop;
use crate::ensemble::{Part, Profiles, joined, sample};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// Steps between visits to all profiles, at least and at most: about as long as a visit.
const BETWEEN: std::ops::RangeInclusive<usize> = 4..=8;

/// Visits end when the steps since the last gained less than so many times `tol` each: local optima
/// differ by far more than what is left, and labels hardly change any more.
const VISIT_TOL: f64 = 10.0;

/// Sweeps end when no $\gamma_{ih}$ changes by more than this: more gain less than the next step.
const NEARLY_SETTLED: f64 = 1e-2;

/// How far a jump goes: in steps, and for any entry in units of its logarithm.
const LARGEST: f64 = 16.0;
pub(super) const FARTHEST: f64 = 2.0;

/// Tables found on a sample are mixed with the shares of the members' clusters, as if so many profiles
/// more had been drawn: a label that the sample lacks would stay next to impossible for many steps.
const BLUR: f64 = 2.0;

/// Of more than twice as many light profiles so many stand for the others at first.
pub(super) const THINNED: usize = 16_384;

/// After that visits end at so many times the gain: what is left is what chance put into the drawing.
/// At 10⁷ objects, 639,143 of them distinct, a second visit raised the bound by 7e-5 of itself.
const THINNED_TOL: f64 = 20.0;

/// Profiles whose memberships begin even are swept at least so often, unless they settle before.
const FIRST_SWEEPS: usize = 30;

/// Where a jump began.
struct Fallback {
    model: Model,
    of_heavy: Matrix,
    of_light: Matrix,
    /// What the steps since the last visit have gained: the least that a visit there would find.
    gained: f64,
}

/// When visits end.
#[derive(Clone, Copy)]
struct Limits {
    /// The largest number of steps.
    max_iter: usize,
    /// The relative gain of a step.
    tol: f64,
}

/// What visits came to.
struct Visited {
    model: Model,
    of_heavy: Matrix,
    of_light: Matrix,
    steps: usize,
    /// The bound at every visit, and at the end if that was later.
    trace: Vec<f64>,
    stop: Stop,
}

impl Bce {
    /// Steps from `model` on, most of them over the heaviest profiles only: what belongs to the others
    /// stays as it was when they were last visited. The bounds never fall.
    ///
    /// Where there are more than twice as many light profiles as `thinned`, so many of them stand for
    /// the rest until that has settled.
    pub(super) fn climb_by_visits(
        &self,
        profiles: &Profiles,
        mut model: Model,
        parts: &[Part; 2],
        thinned: usize,
        run: &Run,
    ) -> Result<Fit> {
        let [heavy, light] = [&parts[0].profiles, &parts[1].profiles];
        let mut of_heavy = model.even(heavy);
        let mut limits = Limits { max_iter: self.max_iter, tol: VISIT_TOL * self.tol };
        if light.len().div_ceil(2) > thinned {
            let some = sample(light, thinned);
            let found = self.visit(profiles, model, of_heavy, [heavy, &some], limits, run)?;
            model = found.model.blurred(profiles, heavy.len() + some.len());
            of_heavy = found.of_heavy;
            limits.max_iter -= found.steps;
            limits.tol *= THINNED_TOL;
        }
        let found = self.visit(profiles, model, of_heavy, [heavy, light], limits, run)?;
        let gamma = joined(parts, [&found.of_heavy, &found.of_light]);
        let Visited { model, trace, stop, .. } = found;
        Ok(Fit { state: State { model, gamma }, trace, stop })
    }

    /// The same over these profiles, all of them, with what is believed of the heavy ones.
    fn visit(
        &self,
        profiles: &Profiles,
        mut model: Model,
        mut of_heavy: Matrix,
        [heavy, light]: [&Profiles; 2],
        limits: Limits,
        run: &Run,
    ) -> Result<Visited> {
        let [first, again] = [self.sweeps.max(FIRST_SWEEPS), self.sweeps]
            .map(|sweeps| Until { sweeps, settled: NEARLY_SETTLED });
        let sweep = |profiles: &Profiles, model: &Model, gamma: &mut Matrix| {
            self.sweep(profiles, model, gamma, again, run)
        };
        let mut of_light = model.even(light);
        let mut trace: Vec<f64> = Vec::new();
        // Models at the visits since the last jump, and where to go on if the jump was too far.
        let mut passed: Vec<Model> = Vec::new();
        let mut fallback: Option<Fallback> = None;
        let (mut steps, mut since) = (0, 0);
        let mut heavy_sums = self.sweep(heavy, &model, &mut of_heavy, first, run)?;
        let stop = loop {
            run.tick("visiting light profiles", trace.len() as u64, None)?;
            let until = if trace.is_empty() { first } else { again };
            let light_sums = self.sweep(light, &model, &mut of_light, until, run)?;
            let bound = heavy_sums.bound + light_sums.bound + self.prior(profiles, &model.beta);
            let least = limits.tol * bound.abs();
            let gain = trace.last().map_or(f64::INFINITY, |last| bound - last);
            // Not by the gain alone: the steps before the jump have gained too.
            if let Some(before) = fallback.take()
                && (gain.is_nan() || gain < before.gained)
            {
                (model, of_heavy, of_light) = (before.model, before.of_heavy, before.of_light);
                heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
                continue;
            }
            trace.push(bound);
            if gain <= least * since as f64 {
                break Stop::Converged;
            }
            if steps == limits.max_iter {
                break Stop::MaxIterations;
            }
            passed.push(model.clone());
            since = 0;
            // The bound, but for what stays the same until the next visit.
            let height = |model: &Model, heavy: &Sums| {
                let others = model.expected(&light_sums, light.total_weight());
                heavy.bound + others + self.prior(profiles, &model.beta)
            };
            let visited = height(&model, &heavy_sums);
            let mut reached = visited;
            while steps < limits.max_iter {
                (steps, since) = (steps + 1, since + 1);
                self.improve(&mut model, &heavy_sums.plus(&light_sums), profiles);
                heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
                let gain = height(&model, &heavy_sums) - reached;
                reached += gain;
                if since >= *BETWEEN.end() || since >= *BETWEEN.start() && gain <= least {
                    break;
                }
            }
            let gained = reached - visited;
            if gained <= least * since as f64 {
                trace.push(bound + gained);
                break Stop::Converged;
            }
            if let [first, second] = &passed[..] {
                let counts = heavy_sums.plus(&light_sums).by_cluster;
                let ahead = Model::ahead([first, second, &model], &counts, profiles);
                passed.clear();
                if let Some(ahead) = ahead {
                    fallback = Some(Fallback {
                        model: std::mem::replace(&mut model, ahead),
                        of_heavy: of_heavy.clone(),
                        of_light: of_light.clone(),
                        gained,
                    });
                    heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
                }
            }
        };
        Ok(Visited { model, of_heavy, of_light, steps, trace, stop })
    }
}

impl Sums {
    fn plus(&self, other: &Sums) -> Sums {
        let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>();
        let (rows, columns) = (self.by_cluster.nrows(), self.by_cluster.ncols());
        let by_cluster = add(self.by_cluster.as_slice(), other.by_cluster.as_slice());
        Sums {
            by_cluster: Matrix::from_vec(rows, columns, by_cluster),
            log_theta: add(&self.log_theta, &other.log_theta),
            bound: self.bound + other.bound,
        }
    }
}

impl Model {
    /// The model with $\beta$, found with `drawn` profiles, mixed with a little of the members' own shares.
    pub(super) fn blurred(&self, profiles: &Profiles, drawn: usize) -> Self {
        let blur = BLUR / (BLUR + drawn as f64);
        let mut beta = self.beta.clone();
        for (c, share) in profiles.cluster_shares().into_iter().enumerate() {
            let row = beta.row_mut(c).iter_mut();
            row.for_each(|x| *x = (1.0 - blur) * *x + blur * share);
        }
        Model { alpha: self.alpha.clone(), beta }
    }

    /// Where three models, each made from the one before, seem to be heading; `None` if not ahead.
    ///
    /// With $x_0, x_1, x_2$ their logarithms, $r = x_1 - x_0$, $v = (x_2 - x_1) - r$ and $\eta = \lVert r
    /// \rVert / \lVert v \rVert$ it is $x_0 + 2 \eta r + \eta^2 v$; where every step is $\rho$ times the one
    /// before, that is the limit. Lengths are those of $\ln \beta$ alone, each entry counted by how many
    /// labels it is to explain.
    pub(super) fn ahead(
        [first, second, third]: [&Model; 3],
        counts: &Matrix,
        profiles: &Profiles,
    ) -> Option<Self> {
        let logs = |model: &Model| -> Vec<f64> {
            model.beta.as_slice().iter().chain(&model.alpha).map(|x| x.ln()).collect()
        };
        let [start, middle, end] = [first, second, third].map(logs);
        let step = |i: usize| middle[i] - start[i];
        let bend = |i: usize| (end[i] - middle[i]) - step(i);
        let length = |of: &dyn Fn(usize) -> f64| -> f64 {
            let squares = counts.as_slice().iter().enumerate().map(|(i, n)| n * of(i) * of(i));
            squares.sum::<f64>().sqrt()
        };
        let eta = length(&step) / length(&bend);
        // Also where nothing moved: 0 / 0 is no number.
        if eta.is_nan() || eta <= 1.0 {
            return None;
        }
        let eta = eta.min(LARGEST);
        let mut next = third.clone();
        let entries = next.beta.as_mut_slice().iter_mut().chain(&mut next.alpha);
        for (i, x) in entries.enumerate() {
            let ahead = start[i] + 2.0 * eta * step(i) + eta * eta * bend(i);
            *x *= (ahead - end[i]).clamp(-FARTHEST, FARTHEST).exp();
        }
        normalise(&mut next.beta, profiles);
        next.alpha.iter_mut().for_each(|a| *a = a.clamp(*ALPHA.start(), *ALPHA.end()));
        Some(next)
    }

    /// What hangs on the model in the bound of objects of this weight, given their sums.
    fn expected(&self, sums: &Sums, weight: f64) -> f64 {
        let alpha = self.alpha.iter().zip(&sums.log_theta).map(|(a, sum)| a * sum).sum::<f64>();
        let pairs = self.beta.as_slice().iter().zip(sums.by_cluster.as_slice());
        weight * self.constant() + alpha + pairs.map(|(beta, sum)| sum * beta.ln()).sum::<f64>()
    }
}
