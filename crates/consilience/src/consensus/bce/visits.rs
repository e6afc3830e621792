//! Many profiles: steps that look at the heaviest only, between visits to all.
//!
//! The bound is a function of the model and of what is believed of every object. A step that leaves
//! the beliefs about the light profiles alone still raises it (incremental EM: R. M. Neal, G. E.
//! Hinton. *A View of the EM Algorithm that Justifies Incremental, Sparse, and Other Variants.*
//! 1998), and costs what the heavy ones cost.
//!
//! Such steps become short long before the end. So each goes beyond the model $\hat\beta$ that suits
//! the sums best, to $\beta (\hat\beta / \beta)^\eta$ brought to sum 1 and $\alpha (\hat\alpha /
//! \alpha)^\eta$, and $\eta$ grows while the bound rises. Where it falls, the step is taken back and
//! made with $\eta = 1$ (R. Salakhutdinov, S. Roweis. *Adaptive Overrelaxed Bound Optimization
//! Methods.* ICML 2003).

use super::alpha::ALPHA;
use super::{Bce, Fit, Model, State, Sums, normalise};
use crate::consensus::outcome::Stop;
use crate::ensemble::{Part, Profiles};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// Steps between visits to all profiles, at least: about as long as a visit.
const BETWEEN: usize = 6;

/// Sweeps end when no $\gamma_{ih}$ changes by more than this: more gain less than the next step.
const NEARLY_SETTLED: f64 = 1e-2;

/// How much $\eta$ grows after a step that gained, and how far.
const GROWTH: f64 = 1.5;
const LARGEST: f64 = 10.0;

/// How much of the tables found on a sample is replaced by the shares of the members' clusters: a
/// label that the sample lacks would stay next to impossible for many steps.
const BLUR: f64 = 0.01;

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
        let (mut steps, mut since) = (0, 0);
        let mut beyond = 1.0;
        let mut heavy_sums = sweep(heavy, &model, &mut of_heavy)?;
        let stop = loop {
            run.tick("visiting all", trace.len() as u64, None)?;
            let light_sums = sweep(light, &model, &mut of_light)?;
            let bound = heavy_sums.bound + light_sums.bound + self.prior(profiles, &model.beta);
            let least = self.0.tol * bound.abs();
            let gain = trace.last().map_or(f64::INFINITY, |last| bound - last);
            trace.push(bound);
            if gain <= least * since as f64 {
                break Stop::Converged;
            }
            if steps == self.0.max_iter {
                break Stop::MaxIterations;
            }
            since = 0;
            // The bound, but for what stays the same until the next visit.
            let height = |model: &Model, heavy: &Sums| {
                let others = model.expected(&light_sums, light.total_weight());
                heavy.bound + others + self.prior(profiles, &model.beta)
            };
            let mut reached = height(&model, &heavy_sums);
            while steps < self.0.max_iter {
                (steps, since) = (steps + 1, since + 1);
                let mut best = model.clone();
                self.improve(&mut best, &heavy_sums.plus(&light_sums), profiles);
                let mut next = model.beyond(&best, beyond, profiles);
                // The best model itself cannot do worse, and need not be taken back.
                let before = (beyond > 1.0).then(|| of_heavy.clone());
                let mut sums = sweep(heavy, &next, &mut of_heavy)?;
                let higher = height(&next, &sums) >= reached;
                match before {
                    Some(before) if !higher => {
                        (beyond, next, of_heavy) = (1.0, best, before);
                        sums = sweep(heavy, &next, &mut of_heavy)?;
                    }
                    _ => beyond = LARGEST.min(GROWTH * beyond),
                }
                (model, heavy_sums) = (next, sums);
                let gain = height(&model, &heavy_sums) - reached;
                reached += gain;
                if since >= BETWEEN && gain <= least {
                    break;
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

    /// The model as far beyond `best` as is said; 1 stops there.
    pub(super) fn beyond(&self, best: &Model, eta: f64, profiles: &Profiles) -> Self {
        if eta == 1.0 {
            return best.clone();
        }
        let farther = |from: &[f64], to: &[f64]| -> Vec<f64> {
            let entry = |(&a, &b): (&f64, &f64)| if a > 0.0 { a * (b / a).powf(eta) } else { b };
            from.iter().zip(to).map(entry).collect()
        };
        let (rows, k) = (self.beta.nrows(), self.beta.ncols());
        let beta = farther(self.beta.as_slice(), best.beta.as_slice());
        let mut beta = Matrix::from_vec(rows, k, beta);
        normalise(&mut beta, profiles);
        let alpha = farther(&self.alpha, &best.alpha);
        Model { alpha: alpha.iter().map(|a| a.clamp(*ALPHA.start(), *ALPHA.end())).collect(), beta }
    }

    /// What hangs on the model in the bound of objects of this weight, given their sums.
    fn expected(&self, sums: &Sums, weight: f64) -> f64 {
        let alpha = self.alpha.iter().zip(&sums.log_theta).map(|(a, sum)| a * sum).sum::<f64>();
        let pairs = self.beta.as_slice().iter().zip(sums.by_cluster.as_slice());
        weight * self.constant() + alpha + pairs.map(|(beta, sum)| sum * beta.ln()).sum::<f64>()
    }
}
