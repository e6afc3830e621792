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
use super::{Bce, Fit, Model, State, Sums, normalise};
use crate::consensus::outcome::Stop;
use crate::ensemble::{Part, Profiles};
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

/// How much of the tables found on a sample is replaced by the shares of the members' clusters: a
/// label that the sample lacks would stay next to impossible for many steps.
const BLUR: f64 = 1e-3;

/// Where a jump began.
struct Fallback {
    model: Model,
    of_heavy: Matrix,
    of_light: Matrix,
    /// What the steps since the last visit have gained: the least that a visit there would find.
    gained: f64,
}

impl Bce {
    /// Steps from `model` on, most of them over the heaviest profiles only: what belongs to the others
    /// stays as it was when they were last visited. The bounds at the visits to all never fall.
    pub(super) fn climb_by_visits(
        &self,
        profiles: &Profiles,
        mut model: Model,
        parts: &[Part; 2],
        run: &Run,
    ) -> Result<Fit> {
        let [heavy, light] = [&parts[0].profiles, &parts[1].profiles];
        let sweep = |profiles: &Profiles, model: &Model, gamma: &mut Matrix| {
            self.sweep(profiles, model, gamma, NEARLY_SETTLED, run)
        };
        let (mut of_heavy, mut of_light) = (model.even(heavy), model.even(light));
        let mut trace: Vec<f64> = Vec::new();
        // Models at the visits since the last jump, and where to go on if the jump was too far.
        let mut passed: Vec<Model> = Vec::new();
        let mut fallback: Option<Fallback> = None;
        let (mut steps, mut since) = (0, 0);
        let mut heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
        let stop = loop {
            run.tick("visiting all", trace.len() as u64, None)?;
            let light_sums = sweep(light, &model, &mut of_light)?;
            let bound = heavy_sums.bound + light_sums.bound + self.prior(profiles, &model.beta);
            let least = VISIT_TOL * self.0.tol * bound.abs();
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
            if steps == self.0.max_iter {
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
            while steps < self.0.max_iter {
                (steps, since) = (steps + 1, since + 1);
                self.improve(&mut model, &heavy_sums.plus(&light_sums), profiles);
                heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
                let gain = height(&model, &heavy_sums) - reached;
                reached += gain;
                if since >= *BETWEEN.end() || since >= *BETWEEN.start() && gain <= least {
                    break;
                }
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
                        gained: reached - visited,
                    });
                    heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
                }
            }
        };
        let mut gamma = Matrix::zeros(profiles.len(), self.0.k);
        for (part, rows) in parts.iter().zip([&of_heavy, &of_light]) {
            for (&s, row) in part.rows.iter().zip(rows.iter_rows()) {
                gamma.row_mut(s as usize).copy_from_slice(row);
            }
        }
        Ok(Fit { state: State { model, gamma }, trace, stop })
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
    /// The model with $\beta$ mixed with a little of the members' own shares.
    pub(super) fn blurred(&self, profiles: &Profiles) -> Self {
        let mut beta = self.beta.clone();
        for (c, share) in profiles.cluster_shares().into_iter().enumerate() {
            let row = beta.row_mut(c).iter_mut();
            row.for_each(|x| *x = (1.0 - BLUR) * *x + BLUR * share);
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
