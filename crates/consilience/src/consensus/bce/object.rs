//! The sweeps over one object.
//!
//! With $e_h = e^{\psi(\gamma_h)}$ and $b_{qh} = \beta_q[h, y_q]$, a sweep is two passes over the few rows of
//! $b$ that an object's labels pick: $\sigma_q = \sum_h b_{qh} e_h$ and
//! $\gamma_h \leftarrow \alpha_h + e_h \sum_q b_{qh} / \sigma_q$. So $\varphi_{qh} = b_{qh} e_h / \sigma_q$ need not be
//! written down, there is no logarithm in it, and $e$ may be on any scale: the largest is kept near 1,
//! lest all vanish where $\gamma$ is small.

use super::Sweeps;
use super::gamma::{Parts, digamma, digamma_parts, ln_gamma, parts};
use crate::ensemble::{Profiles, tally};
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
    /// The clusters it is in, if all members are hard.
    clusters: Vec<u32>,
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
    /// $\sigma$ and $1 / \sigma$.
    sums: Vec<f64>,
    inverses: Vec<f64>,
    /// $\sum_h \gamma_h$ hangs on the number of labels alone: what goes with each number.
    totals: Vec<Total>,
}

/// Functions of $\sum_h \gamma_h$.
#[derive(Clone, Copy)]
struct Total {
    digamma: f64,
    ln_gamma: f64,
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
            clusters: vec![0; r],
            chances: of(0.0, r * width),
            gamma: of(1.0, width),
            z: of(1.0, width),
            t: of(0.0, width),
            e: of(0.0, width),
            alpha: padded,
            shares: of(0.0, width),
            sums: vec![1.0; r],
            inverses: vec![1.0; r],
            totals: (0..=r)
                .map(|labels| {
                    let total = alpha.iter().sum::<f64>() + labels as f64;
                    Total { digamma: digamma(total), ln_gamma: ln_gamma(total) }
                })
                .collect(),
        }
    }

    /// Looks up the chances of the labels of profile `s`, and starts from `gamma`.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        profiles: &Profiles,
        s: usize,
        model: &Sweeps<'_>,
        gamma: &[f64],
    ) {
        let (k, width) = (self.k, self.width);
        self.gamma.as_flattened_mut()[..k].copy_from_slice(gamma);
        self.labels = 0;
        if profiles.is_hard() {
            let (clusters, labels) = (&mut self.clusters, &mut self.labels);
            profiles.for_each_entry(s, |_, c, _| {
                clusters[*labels] = c as u32;
                *labels += 1;
            });
            match width {
                1 => self.look_up::<1>(&model.table),
                2 => self.look_up::<2>(&model.table),
                3 => self.look_up::<3>(&model.table),
                4 => self.look_up::<4>(&model.table),
                5 => self.look_up::<5>(&model.table),
                _ => {
                    let rows = self.chances.chunks_exact_mut(width).zip(&self.clusters);
                    for (row, &c) in rows.take(self.labels) {
                        row.copy_from_slice(&model.table[c as usize * width..][..width]);
                    }
                }
            }
            return;
        }
        for h in (0..profiles.n_members()).filter(|&h| profiles.is_labelled(s, h)) {
            let row = self.chances[self.labels * width..][..width].as_flattened_mut();
            let row = &mut row[..k];
            row.fill(0.0);
            profiles.for_each_entry_of(s, h, |c, p| {
                let logs = model.table[c * width..][..width].as_flattened();
                row.iter_mut().zip(logs).for_each(|(x, b)| *x += p * b);
            });
            row.iter_mut().for_each(|x| *x = x.exp());
            self.labels += 1;
        }
    }

    /// Copies the rows of the labels' clusters, of `B` lanes each.
    #[inline(always)]
    fn look_up<const B: usize>(&mut self, table: &[Lane]) {
        let table = table.as_chunks::<B>().0;
        let rows = self.chances.as_chunks_mut::<B>().0.iter_mut().zip(&self.clusters);
        for (row, &c) in rows.take(self.labels) {
            *row = table[c as usize];
        }
    }

    /// $\gamma$.
    pub(super) fn gamma(&self) -> &[f64] {
        &self.gamma.as_flattened()[..self.k]
    }

    /// One sweep; the largest change of $\gamma$.
    #[inline(always)]
    pub(super) fn sweep(&mut self) -> f64 {
        tally(self.k * self.labels);
        match self.width {
            1 => self.narrow_sweep::<1>(),
            2 => self.narrow_sweep::<2>(),
            3 => self.narrow_sweep::<3>(),
            4 => self.narrow_sweep::<4>(),
            5 => self.narrow_sweep::<5>(),
            _ => self.wide_sweep(),
        }
    }

    /// The same for rows of `B` lanes, few enough that all sums stay in registers. Additions are in the
    /// same order as in [`wide_sweep`](Self::wide_sweep).
    #[inline(always)]
    fn narrow_sweep<const B: usize>(&mut self) -> f64 {
        let Self { k, labels, chances, gamma, z, t, e, alpha, shares, sums, inverses, .. } = self;
        let alpha: &[Lane; B] = alpha[..].try_into().expect("B lanes");
        let gamma: &mut [Lane; B] = (&mut gamma[..]).try_into().expect("B lanes");
        let (mut zs, mut ts) = ([[0.0; LANES]; B], [[0.0; LANES]; B]);
        for b in 0..B {
            for l in 0..LANES {
                (zs[b][l], ts[b][l]) = digamma_parts(gamma[b][l]);
            }
        }
        let top = ts.as_flattened()[..*k].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut es = [[0.0; LANES]; B];
        for b in 0..B {
            for l in 0..LANES {
                ts[b][l] -= top;
                es[b][l] = zs[b][l] * exp_branchless(ts[b][l]);
            }
        }
        es.as_flattened_mut()[*k..].fill(0.0);

        let rows = &chances.as_chunks::<B>().0[..*labels];
        let (sums, inverses) = (&mut sums[..*labels], &mut inverses[..*labels]);
        for (row, sigma) in rows.iter().zip(&mut *sums) {
            let sums = products(row, &es);
            *sigma = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
        // A loop of their own, so that several divisions are one.
        for (inverse, sigma) in inverses.iter_mut().zip(&*sums) {
            *inverse = 1.0 / sigma;
        }
        let mut share = [[0.0; LANES]; B];
        for (row, inverse) in rows.iter().zip(&*inverses) {
            for b in 0..B {
                for l in 0..LANES {
                    share[b][l] += row[b][l] * inverse;
                }
            }
        }

        let mut change = [0.0; LANES];
        for b in 0..B {
            for l in 0..LANES {
                share[b][l] *= es[b][l];
                let next = alpha[b][l] + share[b][l];
                let moved = (next - gamma[b][l]).abs();
                change[l] = if moved > change[l] { moved } else { change[l] };
                gamma[b][l] = next;
            }
        }
        z.copy_from_slice(&zs);
        t.copy_from_slice(&ts);
        e.copy_from_slice(&es);
        shares.copy_from_slice(&share);
        change.into_iter().fold(0.0, f64::max)
    }

    /// [`sweep`](Self::sweep) for rows of any length.
    #[inline(always)]
    fn wide_sweep(&mut self) -> f64 {
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

    /// The object's part of the bound after a sweep, but for the constant of $\alpha$; adds `w` times
    /// $\psi(\gamma_h) - \psi(\sum \gamma)$ to `log_theta`.
    ///
    /// As $\ln \varphi_{qh} = \ln b_{qh} + \ln e_h - \ln \sigma_q$, what remains of $\sum_h
    /// \varphi_{qh} \ln (b_{qh} / \varphi_{qh})$ is $\ln \sigma_q - \sum_h \varphi_{qh} \ln e_h$.
    #[inline(always)]
    pub(super) fn bound(&self, w: f64, log_theta: &mut [Lane]) -> f64 {
        // The same code for all widths: known ones are unrolled.
        match self.width {
            1 => self.bound_of(1, w, log_theta),
            2 => self.bound_of(2, w, log_theta),
            3 => self.bound_of(3, w, log_theta),
            4 => self.bound_of(4, w, log_theta),
            5 => self.bound_of(5, w, log_theta),
            width => self.bound_of(width, w, log_theta),
        }
    }

    #[inline(always)]
    fn bound_of(&self, width: usize, w: f64, log_theta: &mut [Lane]) -> f64 {
        /// Lanes whose $P(\gamma)$ are multiplied before the logarithm: each is below $10^{41}$.
        const TOGETHER: usize = 4;
        let Total { digamma: of_total, ln_gamma: ln_gamma_of_total } = self.totals[self.labels];
        let (gamma, shares) = (&self.gamma[..width], &self.shares[..width]);
        let (z_before, t) = (&self.z[..width], &self.t[..width]);
        let log_theta = &mut log_theta[..width];
        let mut bounds = [0.0; LANES];
        for at in (0..width).step_by(TOGETHER) {
            let mut product = [1.0; LANES];
            for b in at..width.min(at + TOGETHER) {
                // Copies: what might overlap with the sums is not vectorised.
                let (gamma, share, before, t) = (gamma[b], shares[b], z_before[b], t[b]);
                let mut theta = log_theta[b];
                for l in 0..LANES {
                    let Parts { z, digamma, ln_gamma, rising } = parts(gamma[l]);
                    let ln_z = ln_branchless(z);
                    theta[l] += w * (ln_z + digamma - of_total);
                    let spent = share[l] * (ln_branchless(before[l]) + t[l]);
                    bounds[l] += (z - 0.5) * ln_z + ln_gamma - spent;
                    product[l] *= rising;
                }
                log_theta[b] = theta;
            }
            for l in 0..LANES {
                bounds[l] -= ln_branchless(product[l]);
            }
        }
        // Beyond k, gamma is 1, its logarithm next to 0, and nothing is spent.
        let bounds: f64 = bounds.into_iter().sum();
        bounds - ln_gamma_of_total + sum_of_logs(&self.sums[..self.labels])
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
        if profiles.is_hard() {
            match width {
                1 => self.add_rows::<1>(w, by_cluster),
                2 => self.add_rows::<2>(w, by_cluster),
                3 => self.add_rows::<3>(w, by_cluster),
                4 => self.add_rows::<4>(w, by_cluster),
                5 => self.add_rows::<5>(w, by_cluster),
                _ => {
                    for (label, &c) in self.clusters[..self.labels].iter().enumerate() {
                        let row = &mut by_cluster[c as usize * width..][..width];
                        let chances = &self.chances[label * width..][..width];
                        add_shares(row, w / self.sums[label], chances, &self.e);
                    }
                }
            }
            return;
        }
        let mut label = 0;
        let mut last = usize::MAX;
        profiles.for_each_entry(s, |h, c, p| {
            // A soft member has several entries and one row of chances.
            if last != usize::MAX && h != last {
                label += 1;
            }
            last = h;
            let chances = &self.chances[label * width..][..width];
            let row = &mut by_cluster[c * width..][..width];
            add_shares(row, w * p / self.sums[label], chances, &self.e);
        });
    }

    /// [`add_labels`](Self::add_labels) of hard members for rows of `B` lanes.
    #[inline(always)]
    fn add_rows<const B: usize>(&self, w: f64, by_cluster: &mut [Lane]) {
        let e: &[Lane; B] = self.e[..].try_into().expect("B lanes");
        let (by_cluster, chances) =
            (by_cluster.as_chunks_mut::<B>().0, self.chances.as_chunks::<B>().0);
        let labels = self.clusters.iter().zip(chances.iter().zip(&self.sums));
        for (&c, (chances, sum)) in labels.take(self.labels) {
            add_shares(&mut by_cluster[c as usize], w / sum, chances, e);
        }
    }
}

/// Adds `factor` times $b_h e_h$ to `sums`.
#[inline(always)]
fn add_shares(sums: &mut [Lane], factor: f64, chances: &[Lane], e: &[Lane]) {
    for (sum, (chance, e)) in sums.iter_mut().zip(chances.iter().zip(e)) {
        let mut next = *sum;
        for l in 0..LANES {
            next[l] += factor * (chance[l] * e[l]);
        }
        *sum = next;
    }
}

/// The sum of the logarithms: those of products, where none vanishes.
#[inline(always)]
fn sum_of_logs(values: &[f64]) -> f64 {
    /// Values multiplied in a lane before the logarithm.
    const TOGETHER: usize = 8;
    let mut sum = 0.0;
    for values in values.chunks(TOGETHER * LANES) {
        let (fours, rest) = values.as_chunks::<LANES>();
        let mut product = [1.0; LANES];
        for four in fours {
            for l in 0..LANES {
                product[l] *= four[l];
            }
        }
        for (product, x) in product.iter_mut().zip(rest) {
            *product *= x;
        }
        if product.iter().all(|product| (1e-300..1e300).contains(product)) {
            let mut logs = [0.0; LANES];
            for l in 0..LANES {
                logs[l] = ln_branchless(product[l]);
            }
            sum += (logs[0] + logs[1]) + (logs[2] + logs[3]);
        } else {
            sum += values.iter().map(|&x| ln_branchless(x)).sum::<f64>();
        }
    }
    sum
}

/// The products of two rows, added up over lanes.
#[inline(always)]
fn products<const B: usize>(a: &[Lane; B], b: &[Lane; B]) -> Lane {
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, whatever the numbers of clusters and of labels.
    #[test]
    fn narrow_and_wide_sweeps_are_the_same() {
        for k in 1..=20 {
            for labels in 1..10 {
                let alpha: Vec<f64> = (0..k).map(|h| 0.2 + 0.3 * h as f64).collect();
                let mut narrow = Object::new(labels, &alpha);
                narrow.labels = labels;
                narrow.gamma.as_flattened_mut()[..k].copy_from_slice(&alpha);
                for (i, row) in narrow.chances.chunks_exact_mut(narrow.width).enumerate() {
                    for (h, x) in row.as_flattened_mut()[..k].iter_mut().enumerate() {
                        *x = ((7 * i + 3 * h) % 11 + 1) as f64 / 12.0;
                    }
                }
                let mut wide = Object::new(labels, &alpha);
                wide.labels = labels;
                wide.gamma.clone_from(&narrow.gamma);
                wide.chances.clone_from(&narrow.chances);
                for _ in 0..4 {
                    assert_eq!(narrow.sweep().to_bits(), wide.wide_sweep().to_bits());
                    assert_eq!(narrow.gamma, wide.gamma);
                    assert_eq!((&narrow.sums, &narrow.shares), (&wide.sums, &wide.shares));
                    let bound =
                        |object: &Object| object.bound(1.0, &mut vec![[0.0; LANES]; object.width]);
                    assert_eq!(bound(&narrow).to_bits(), bound(&wide).to_bits());
                }
            }
        }
    }

    /// Whole chunks, what is left of one, and products that would vanish or overflow.
    #[test]
    fn logarithms_of_products_are_sums_of_logarithms() {
        for length in [0, 1, 3, 4, 31, 32, 33, 70] {
            for size in [1.0, 1e-3, 1e-60, 1e60] {
                let values: Vec<f64> =
                    (0..length).map(|i| size * (1.0 + 0.1 * f64::from(i))).collect();
                let sum: f64 = values.iter().map(|x| x.ln()).sum();
                assert!((sum_of_logs(&values) - sum).abs() <= 1e-12 * (1.0 + sum.abs()));
            }
        }
    }
}
