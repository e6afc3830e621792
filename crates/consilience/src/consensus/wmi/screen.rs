//! Which cluster costs a profile least, told without a logarithm where that is certain.
//!
//! For a unit of weight, what a profile of weight $w$ pays for joining a cluster is $\sum_q
//! (\varphi(n^q_c) - \varphi(T_{cj}))$ with $\varphi(t) = (f(t + w) - f(t)) / w$: one more than the
//! mean of the logarithm between $t$ and $t + w$. With $m = t + w/2$ and $y = (w / 2m)^2 \le 1$,
//!
//! $$ \varphi(t) - 1 = \ln m - e(y), \qquad 0 \le e(y) = \sum_{i \ge 1} \frac{y^i}{2i (2i + 1)} \le
//!    \frac{y}{6} + \Bigl( \frac56 - \ln 2 \Bigr) y^2 . $$
//!
//! So but for the small $e$ the cost is the logarithm of a product, $-\ln R_c$ with $R_c = \prod_q
//! m_T / m_n$. It lies between $-\ln R_c - \sum_q e_n$ and $-\ln R_c + \sum_q e_T$: the cluster of the
//! largest product is the best if its upper bound is below the lower bounds of all others. What a
//! profile pays for staying has the same form with $m = t - w/2$, the masses being with it.

use crate::ensemble::Code;

/// Columns handled together; rows are padded to full lanes.
pub(super) const LANES: usize = 4;
pub(super) type Lane = [f64; LANES];

/// The most lanes of a row that are multiplied up together, so as to stay in registers.
const SLAB: usize = 4;

/// Below this a product may have lost bits. As no factor is above 1, one that once was below stays
/// there, and a product that is above has lost none.
const SMALLEST: f64 = 1e-280;

/// The masses that a visit looks at, in rows of `width` lanes with a column for every consensus
/// cluster.
#[derive(Clone, Copy)]
pub(super) struct Masses<'a> {
    pub(super) mass: &'a [Lane],
    pub(super) width: usize,
    /// Where the rows of every member begin.
    pub(super) rows: &'a [usize],
    /// Where the totals begin: a row for every member if labels are missing, otherwise one for all.
    pub(super) totals: usize,
    /// The least total of a cluster, of those that are in use.
    pub(super) lightest: f64,
}

/// Buffers of [`best`], a number for every cluster.
pub(super) struct Scratch {
    /// $w/2$, negative in the profile's own column.
    half: Vec<Lane>,
    /// 1, and 0 in columns that only fill up the last lane.
    used: Vec<Lane>,
    /// $1 / m_n$ where that is the same for all members, and 0 in columns not in use.
    inverse: Vec<Lane>,
    /// $R$.
    ratios: Vec<Lane>,
}

impl Scratch {
    pub(super) fn new(k: usize) -> Self {
        let zeros = vec![[0.0; LANES]; k.div_ceil(LANES)];
        let mut used = zeros.clone();
        used.as_flattened_mut()[..k].fill(1.0);
        Scratch { half: zeros.clone(), inverse: used.clone(), ratios: zeros, used }
    }
}

/// The cluster that costs the profile with these codes, of weight `w` and now in `own`, least, and
/// by how much for a unit of weight all others cost more at least; `None` unless that is above
/// `margin`.
#[inline(always)]
pub(super) fn best<const GAPS: bool, C: Code>(
    masses: &Masses,
    codes: &[C],
    (own, w): (usize, f64),
    margin: f64,
    scratch: &mut Scratch,
) -> Option<(usize, f64)> {
    /// $e(1)$, the largest.
    const MOST: f64 = 1.0 - std::f64::consts::LN_2;
    let Masses { mass, width, rows, totals, lightest } = *masses;
    // The profile's own cluster is left with no more than this.
    if lightest < 2.0 * w {
        return None;
    }
    let Scratch { half, used, inverse, ratios } = scratch;
    half.fill([0.5 * w; LANES]);
    half[own / LANES][own % LANES] = -0.5 * w;
    if !GAPS {
        let n = &mass[totals..totals + width];
        for (((inverse, n), half), used) in inverse.iter_mut().zip(n).zip(&*half).zip(&*used) {
            for l in 0..LANES {
                inverse[l] = used[l] / (n[l] + half[l]);
            }
        }
    }
    let mut at = 0;
    while at < width {
        let lanes = (width - at).min(SLAB);
        match lanes {
            1 => products::<1, GAPS, C>(masses, codes, half, inverse, at, ratios),
            2 => products::<2, GAPS, C>(masses, codes, half, inverse, at, ratios),
            3 => products::<3, GAPS, C>(masses, codes, half, inverse, at, ratios),
            _ => products::<SLAB, GAPS, C>(masses, codes, half, inverse, at, ratios),
        }
        at += lanes;
    }

    let stay = std::mem::replace(&mut ratios[own / LANES][own % LANES], 0.0);
    let (mut winner, mut first, mut second) = (own, stay, largest(ratios));
    if second > stay {
        let is_most = |&ratio: &f64| ratio == second;
        winner = ratios.as_flattened().iter().position(is_most).expect("the largest is among them");
        ratios[winner / LANES][winner % LANES] = 0.0;
        (first, second) = (second, largest(ratios).max(stay));
    }
    let ahead = (first / second.max(SMALLEST)).ln();
    // Every product has three roundings a member.
    let r = rows.len() as f64;
    let doubt = r * error(0.5 * w / (lightest - 0.5 * w)) + 1e-15 * (10.0 + r);
    // Whatever the masses of the winner are, this is certain.
    let lead = ahead - doubt - r * MOST;
    if lead > 0.5 * ahead && lead > margin {
        return Some((winner, lead));
    }
    let shift = half[winner / LANES][winner % LANES];
    let mut errors = 0.0;
    for (code, &row) in codes.iter().zip(rows) {
        if let Some(c) = code.index() {
            let t = mass[row + c * width + winner / LANES][winner % LANES];
            errors += error(0.5 * w / (t + shift));
        }
    }
    let lead = ahead - doubt - errors;
    (lead > margin).then_some((winner, lead))
}

/// The largest of all numbers, none of them below 0.
#[inline(always)]
fn largest(numbers: &[Lane]) -> f64 {
    let mut most = [0.0; LANES];
    for lane in numbers {
        for l in 0..LANES {
            most[l] = if lane[l] > most[l] { lane[l] } else { most[l] };
        }
    }
    most.into_iter().fold(0.0, f64::max)
}

/// A bound on $e(x^2)$.
#[inline(always)]
fn error(x: f64) -> f64 {
    const REST: f64 = 5.0 / 6.0 - std::f64::consts::LN_2;
    let y = x * x;
    y * (1.0 / 6.0 + REST * y)
}

/// $R$ in the columns of `B` lanes from `at`.
#[inline(always)]
fn products<const B: usize, const GAPS: bool, C: Code>(
    masses: &Masses,
    codes: &[C],
    half: &[Lane],
    inverse: &[Lane],
    at: usize,
    ratios: &mut [Lane],
) {
    let half: [Lane; B] = lanes(half, at);
    let inverse: [Lane; B] = lanes(inverse, at);
    let mut product = [[1.0; LANES]; B];
    for (h, (code, row)) in codes.iter().zip(masses.rows).enumerate() {
        let Some(c) = code.index() else { continue };
        let t: [Lane; B] = lanes(masses.mass, row + c * masses.width + at);
        if GAPS {
            let n: [Lane; B] = lanes(masses.mass, masses.totals + h * masses.width + at);
            for b in 0..B {
                for l in 0..LANES {
                    product[b][l] *= (t[b][l] + half[b][l]) / (n[b][l] + half[b][l]);
                }
            }
        } else {
            for b in 0..B {
                for l in 0..LANES {
                    product[b][l] *= (t[b][l] + half[b][l]) * inverse[b][l];
                }
            }
        }
    }
    if GAPS {
        for b in 0..B {
            for l in 0..LANES {
                // Here this is 1 or 0.
                product[b][l] *= inverse[b][l];
            }
        }
    }
    ratios[at..at + B].copy_from_slice(&product);
}

#[inline(always)]
fn lanes<const B: usize>(of: &[Lane], from: usize) -> [Lane; B] {
    of[from..from + B].try_into().expect("B lanes")
}
