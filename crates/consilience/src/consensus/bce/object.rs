//! The sweeps over one object.
//!
//! With $e_h = e^{\psi(\gamma_h)}$ and $b_{qh} = \beta_q[h, y_q]$, a sweep is two passes over the few rows of
//! $b$ that an object's labels pick: $\sigma_q = \sum_h b_{qh} e_h$ and
//! $\gamma_h \leftarrow \alpha_h + e_h \sum_q b_{qh} / \sigma_q$. So $\varphi_{qh} = b_{qh} e_h / \sigma_q$ need not be
//! written down, there is no logarithm in it, and $e$ may be on any scale: the largest is kept near 1,
//! lest all vanish where $\gamma$ is small.

use super::Model;
use super::gamma::{digamma, digamma_parts, ln_gamma};
use crate::ensemble::Profiles;
use crate::linalg::{exp_branchless, ln_branchless};

/// Clusters handled together; rows are padded to full lanes.
pub(super) const LANES: usize = 4;
pub(super) type Lane = [f64; LANES];

/// Room for the sweeps over one object.
pub(super) struct Object {
    k: usize,
    /// Lanes in a row.
    width: usize,
    /// How many members label it.
    labels: usize,
    /// $b$, one row a label; 0 beyond $k$.
    chances: Vec<Lane>,
    /// $\gamma$; 1 beyond $k$.
    gamma: Vec<Lane>,
    /// $z$ and $t$ of the last sweep, $\ln e = \ln z + t$, and $e$; $e$ is 0 beyond $k$.
    z: Vec<Lane>,
    t: Vec<Lane>,
    e: Vec<Lane>,
    /// $\alpha$; 1 beyond $k$.
    alpha: Vec<Lane>,
    /// $\sum_q \varphi_{qh}$.
    shares: Vec<Lane>,
    /// $\sigma$.
    sums: Vec<f64>,
}

impl Object {
    pub(super) fn new(r: usize, alpha: &[f64]) -> Self {
        let k = alpha.len();
        let width = k.div_ceil(LANES);
        let of = |fill: f64, lanes: usize| vec![[fill; LANES]; lanes];
        let mut padded = of(1.0, width);
        padded.as_flattened_mut()[..k].copy_from_slice(alpha);
        Object {
            k,
            width,
            labels: 0,
            chances: of(0.0, r * width),
            gamma: of(1.0, width),
            z: of(1.0, width),
            t: of(0.0, width),
            e: of(0.0, width),
            alpha: padded,
            shares: of(0.0, width),
            sums: vec![1.0; r],
        }
    }

    /// Looks up the chances of the labels of profile `s`, and starts from `gamma`.
    pub(super) fn read(&mut self, profiles: &Profiles, s: usize, model: &Model<'_>, gamma: &[f64]) {
        let (k, width) = (self.k, self.width);
        self.gamma.as_flattened_mut()[..k].copy_from_slice(gamma);
        self.labels = 0;
        if model.log_beta.is_none() {
            let (chances, labels) = (&mut self.chances, &mut self.labels);
            profiles.for_each_entry(s, |_, c, _| {
                let row = chances[*labels * width..][..width].as_flattened_mut();
                row[..k].copy_from_slice(model.beta.row(c));
                *labels += 1;
            });
            return;
        }
        for h in (0..profiles.n_members()).filter(|&h| profiles.is_labelled(s, h)) {
            let row = self.chances[self.labels * width..][..width].as_flattened_mut();
            let row = &mut row[..k];
            row.fill(0.0);
            profiles.for_each_entry_of(s, h, |c, p| {
                let logs = model.log_beta.expect("there are soft members").row(c);
                row.iter_mut().zip(logs).for_each(|(x, b)| *x += p * b);
            });
            row.iter_mut().for_each(|x| *x = x.exp());
            self.labels += 1;
        }
    }

    /// $\gamma$.
    pub(super) fn gamma(&self) -> &[f64] {
        &self.gamma.as_flattened()[..self.k]
    }

    /// One sweep; the largest change of $\gamma$.
    #[inline(always)]
    pub(super) fn sweep(&mut self) -> f64 {
        let width = self.width;
        let mut top = [f64::NEG_INFINITY; LANES];
        for b in 0..width {
            for l in 0..LANES {
                let (z, t) = digamma_parts(self.gamma[b][l]);
                (self.z[b][l], self.t[b][l]) = (z, t);
            }
        }
        // What is beyond k must not set the scale.
        for l in 0..LANES {
            for b in 0..width {
                let t = if b * LANES + l < self.k { self.t[b][l] } else { f64::NEG_INFINITY };
                top[l] = if t > top[l] { t } else { top[l] };
            }
        }
        let top = top.into_iter().fold(f64::NEG_INFINITY, f64::max);
        for b in 0..width {
            for l in 0..LANES {
                self.t[b][l] -= top;
                self.e[b][l] = self.z[b][l] * exp_branchless(self.t[b][l]);
            }
        }
        self.e.as_flattened_mut()[self.k..].fill(0.0);
        self.shares.fill([0.0; LANES]);
        let rows = self.chances.chunks_exact(width).zip(&mut self.sums);
        for (chances, sigma) in rows.take(self.labels) {
            let mut sums = [0.0; LANES];
            for (chance, e) in chances.iter().zip(&self.e) {
                for l in 0..LANES {
                    sums[l] += chance[l] * e[l];
                }
            }
            *sigma = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            let inverse = 1.0 / *sigma;
            for (share, chance) in self.shares.iter_mut().zip(chances) {
                for l in 0..LANES {
                    share[l] += chance[l] * inverse;
                }
            }
        }
        let mut change = [0.0; LANES];
        for b in 0..width {
            for l in 0..LANES {
                let share = self.shares[b][l] * self.e[b][l];
                let next = self.alpha[b][l] + share;
                let moved = (next - self.gamma[b][l]).abs();
                change[l] = if moved > change[l] { moved } else { change[l] };
                self.shares[b][l] = share;
                self.gamma[b][l] = next;
            }
        }
        change.into_iter().fold(0.0, f64::max)
    }

    /// The object's part of the bound after a sweep, but for the constant of $\alpha$.
    ///
    /// As $\ln \varphi_{qh} = \ln b_{qh} + \ln e_h - \ln \sigma_q$, what remains of $\sum_h
    /// \varphi_{qh} \ln (b_{qh} / \varphi_{qh})$ is $\ln \sigma_q - \sum_h \varphi_{qh} \ln e_h$.
    #[inline(always)]
    pub(super) fn bound(&self) -> f64 {
        let mut parts = [0.0; LANES];
        for b in 0..self.width {
            for l in 0..LANES {
                let spent = self.shares[b][l] * (ln_branchless(self.z[b][l]) + self.t[b][l]);
                parts[l] += ln_gamma(self.gamma[b][l]) - spent;
            }
        }
        // Beyond k, gamma is 1, its logarithm next to 0, and nothing is spent.
        let parts: f64 = parts.into_iter().sum();
        let evidence: f64 = self.sums[..self.labels].iter().map(|&sum| ln_branchless(sum)).sum();
        parts - ln_gamma(self.gamma().iter().sum()) + evidence
    }

    /// Adds `w` times $\psi(\gamma_h) - \psi(\sum \gamma)$ to `sums`.
    #[inline(always)]
    pub(super) fn add_log_theta(&self, w: f64, sums: &mut [Lane]) {
        let of_sum = digamma(self.gamma().iter().sum());
        for (sum, gamma) in sums.iter_mut().zip(&self.gamma) {
            for l in 0..LANES {
                sum[l] += w * (digamma(gamma[l]) - of_sum);
            }
        }
    }

    /// Adds `w` times $\varphi$ to the rows of the object's labels in `by_cluster`.
    #[inline(always)]
    pub(super) fn add_labels(
        &self,
        profiles: &Profiles,
        s: usize,
        w: f64,
        by_cluster: &mut [Lane],
    ) {
        let width = self.width;
        let mut label = 0;
        let mut last = usize::MAX;
        profiles.for_each_entry(s, |h, c, p| {
            // A soft member has several entries and one row of chances.
            if last != usize::MAX && h != last {
                label += 1;
            }
            last = h;
            let factor = w * p / self.sums[label];
            let chances = &self.chances[label * width..][..width];
            let row = by_cluster[c * width..][..width].iter_mut();
            for (sum, (chance, e)) in row.zip(chances.iter().zip(&self.e)) {
                for l in 0..LANES {
                    sum[l] += factor * (chance[l] * e[l]);
                }
            }
        });
    }
}
