//! Many profiles: steps that look at the heaviest only, between visits to all.

use super::{Expectation, Fit, MissingLabels, Mixture, Mmec};
use crate::consensus::outcome::Stop;
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::linalg::Matrix;
use crate::run::Run;

/// How much of the tables found on a sample is replaced by the shares of the members' clusters.
const BLUR: f64 = 1e-3;

impl Mmec {
    /// Steps from `mixture` on, most of them over the `heaviest` profiles only: the sums of the others
    /// stay as they were when they were last visited. That is incremental expectation maximisation
    /// (R. M. Neal, G. E. Hinton, 1998): the likelihoods at the visits to all never fall.
    pub(super) fn climb_by_visits(
        &self,
        profiles: &Profiles,
        mut mixture: Mixture,
        [heavy, light]: &[Profiles; 2],
        run: &Run,
    ) -> Result<Fit> {
        let mut trace: Vec<f64> = Vec::new();
        let mut steps = 0;
        let mut of_heavy = mixture.expectation(heavy);
        loop {
            run.tick("visiting all", trace.len() as u64, None)?;
            let of_light = mixture.expectation(light);
            let likelihood = of_heavy.likelihood + of_light.likelihood;
            let least = self.tol * likelihood.abs();
            let gain = trace.last().map_or(f64::INFINITY, |last| likelihood - last);
            trace.push(likelihood);
            if gain <= least {
                return Ok(Fit { mixture, trace, stop: Stop::Converged });
            }
            if steps == self.max_iter {
                return Ok(Fit { mixture, trace, stop: Stop::MaxIterations });
            }
            let mut reached = f64::NEG_INFINITY;
            while steps < self.max_iter {
                steps += 1;
                run.check()?;
                let old = (self.missing == MissingLabels::Expected).then_some(&mixture);
                mixture = Mixture::maximising(&of_heavy.plus(&of_light), profiles, old);
                of_heavy = mixture.expectation(heavy);
                let height = of_heavy.likelihood + mixture.expected(&of_light);
                if height - reached <= least {
                    break;
                }
                reached = height;
            }
        }
    }
}

impl Expectation {
    fn plus(&self, other: &Expectation) -> Expectation {
        let sums = self.by_cluster.as_slice().iter().zip(other.by_cluster.as_slice());
        let (rows, columns) = (self.by_cluster.nrows(), self.by_cluster.ncols());
        let by_component = self.by_component.iter().zip(&other.by_component);
        Expectation {
            by_cluster: Matrix::from_vec(rows, columns, sums.map(|(a, b)| a + b).collect()),
            by_component: by_component.map(|(a, b)| a + b).collect(),
            likelihood: self.likelihood + other.likelihood,
        }
    }
}

impl Mixture {
    /// The model mixed with a little of the members' own shares: no label is impossible.
    pub(super) fn blurred(&self, profiles: &Profiles) -> Self {
        let mut log_theta = self.log_theta.clone();
        for (c, share) in profiles.cluster_shares().into_iter().enumerate() {
            let row = log_theta.row_mut(c).iter_mut();
            row.for_each(|x| *x = ((1.0 - BLUR) * x.exp() + BLUR * share).ln());
        }
        let even = BLUR / self.alpha.len() as f64;
        let alpha = self.alpha.iter().map(|a| (1.0 - BLUR) * a + even).collect();
        Mixture { alpha, log_theta }
    }

    /// The expected logarithm of labels and components, given responsibilities by their sums.
    fn expected(&self, sums: &Expectation) -> f64 {
        let product = |(&sum, &log): (&f64, &f64)| if sum > 0.0 { sum * log } else { 0.0 };
        let labels = sums.by_cluster.as_slice().iter().zip(self.log_theta.as_slice());
        let components = sums.by_component.iter().zip(&self.log_alpha()).map(product).sum::<f64>();
        labels.map(product).sum::<f64>() + components
    }
}
