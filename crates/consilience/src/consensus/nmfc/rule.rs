//! The rule for one row of $Q$, in lanes, and where it leads.

use crate::linalg::Matrix;

/// After a sample a row of $Q$ ends with at least this share of its largest entry.
pub(super) const FAINT: f64 = 1e-4;

/// Keeps denominators from 0.
pub(super) const TINY: f64 = 1e-16;

/// Numbers handled together.
pub(super) const LANES: usize = 4;
type Lane = [f64; LANES];

/// The rows of a matrix, padded to whole lanes.
pub(super) fn padded(matrix: &Matrix) -> Vec<f64> {
    let stride = matrix.ncols().next_multiple_of(LANES);
    let mut rows = vec![0.0; matrix.nrows() * stride];
    for (padded, row) in rows.chunks_exact_mut(stride).zip(matrix.iter_rows()) {
        padded[..matrix.ncols()].copy_from_slice(row);
    }
    rows
}

/// Brings the row $q$ to where the rule leaves it alone, $(S Q)_j = (q C)_j$ or $q_j = 0$, by at most so many
/// `turns` of coordinate descent over its entries; such an end is the minimum of $\tfrac12 q C q^T -
/// q (S Q)^T$ over $q \ge 0$. The row of $S Q$ is given as `rest` and becomes what $q C$ leaves of it;
/// `inverse` holds $1 / C_{jj}$. An exact 0 would never move again, so entries end above a small share
/// of the largest.
#[inline(always)]
pub(super) fn settle(q: &mut [f64], rest: &mut [f64], c: &[f64], inverse: &[f64], turns: usize) {
    let (rest, c) = (rest.as_chunks_mut::<LANES>().0, c.as_chunks::<LANES>().0);
    let lanes = rest.len();
    let enough = 1e-3 * rest.as_flattened().iter().fold(0.0, |a: f64, &b| a.max(b));
    // The end has few entries that are not faint: the others begin at 0.
    let faint = 2.0 * FAINT * q.iter().fold(0.0, |a: f64, &b| a.max(b));
    for (x, row) in q.iter_mut().zip(c.chunks_exact(lanes)) {
        if *x <= faint {
            *x = 0.0;
        } else {
            add_scaled(rest, -*x, row);
        }
    }
    if faint == 0.0 {
        // The entry that alone gains most.
        let gain = |j: usize| rest.as_flattened()[j] * rest.as_flattened()[j] * inverse[j];
        let most = (1..q.len()).fold(0, |most, j| if gain(j) > gain(most) { j } else { most });
        q[most] = rest.as_flattened()[most] * inverse[most];
        add_scaled(rest, -q[most], &c[most * lanes..][..lanes]);
    }
    for _ in 0..turns {
        let mut largest = 0.0_f64;
        for (j, row) in c.chunks_exact(lanes).enumerate() {
            let change = (rest.as_flattened()[j] * inverse[j]).max(-q[j]);
            // Most entries are 0 and stay so.
            if change != 0.0 {
                q[j] += change;
                largest = largest.max((change * row.as_flattened()[j]).abs());
                add_scaled(rest, -change, row);
            }
        }
        if largest <= enough {
            break;
        }
    }
    let least = FAINT * q.iter().fold(TINY, |a, &b| a.max(b));
    q.iter_mut().for_each(|x| *x = x.max(least));
}

/// The rule for one row of $Q$, given its row of $S Q$ as `next`, which becomes the new row too. `c` is
/// padded.
#[inline(always)]
pub(super) fn apply_rule(q: &mut [f64], next: &mut [f64], c: &[f64]) {
    let (q, next) = (q.as_chunks_mut::<LANES>().0, next.as_chunks_mut::<LANES>().0);
    let c = c.as_chunks::<LANES>().0;
    match q.len() {
        1 => narrow_rule::<1>(q, next, c),
        2 => narrow_rule::<2>(q, next, c),
        3 => narrow_rule::<3>(q, next, c),
        4 => narrow_rule::<4>(q, next, c),
        5 => narrow_rule::<5>(q, next, c),
        _ => wide_rule(q, next, c),
    }
}

/// [`apply_rule`] for rows of `B` lanes, few enough to stay in registers.
#[inline(always)]
fn narrow_rule<const B: usize>(q: &mut [Lane], next: &mut [Lane], c: &[Lane]) {
    let own: [Lane; B] = (&*q).try_into().expect("B lanes");
    let mut row: [Lane; B] = (&*next).try_into().expect("B lanes");
    let mut image = [[TINY; LANES]; B];
    for (x, c) in own.as_flattened().iter().zip(c.as_chunks::<B>().0) {
        for (image, c) in image.iter_mut().zip(c) {
            for l in 0..LANES {
                image[l] += x * c[l];
            }
        }
    }
    for (row, (own, image)) in row.iter_mut().zip(own.iter().zip(&image)) {
        for l in 0..LANES {
            row[l] = own[l] * (row[l] / image[l]).sqrt();
        }
    }
    q.copy_from_slice(&row);
    next.copy_from_slice(&row);
}

/// [`apply_rule`] for rows of any length.
#[inline(always)]
fn wide_rule(q: &mut [Lane], next: &mut [Lane], c: &[Lane]) {
    let lanes = q.len();
    for (at, (next, own)) in next.iter_mut().zip(&*q).enumerate() {
        let mut image = [TINY; LANES];
        for (x, c) in q.as_flattened().iter().zip(c.chunks_exact(lanes)) {
            for l in 0..LANES {
                image[l] += x * c[at][l];
            }
        }
        for l in 0..LANES {
            next[l] = own[l] * (next[l] / image[l]).sqrt();
        }
    }
    q.copy_from_slice(next);
}

/// Adds `w` $q^T q$, whose rows are padded, to `sums`.
#[inline(always)]
pub(super) fn add_square(sums: &mut [f64], w: f64, q: &[f64]) {
    let (q, sums) = (q.as_chunks::<LANES>().0, sums.as_chunks_mut::<LANES>().0);
    match q.len() {
        1 => narrow_square::<1>(sums, w, q),
        2 => narrow_square::<2>(sums, w, q),
        3 => narrow_square::<3>(sums, w, q),
        4 => narrow_square::<4>(sums, w, q),
        5 => narrow_square::<5>(sums, w, q),
        lanes => {
            for (x, sums) in q.as_flattened().iter().zip(sums.chunks_exact_mut(lanes)) {
                add_scaled(sums, w * x, q);
            }
        }
    }
}

/// [`add_square`] for rows of `B` lanes.
#[inline(always)]
fn narrow_square<const B: usize>(sums: &mut [Lane], w: f64, q: &[Lane]) {
    let q: [Lane; B] = q.try_into().expect("B lanes");
    for (x, sums) in q.as_flattened().iter().zip(sums.as_chunks_mut::<B>().0) {
        // All are read before any is written: else numbers are added one by one.
        let mut next = *sums;
        add_scaled(&mut next, w * x, &q);
        *sums = next;
    }
}

/// Adds `x` times one row to another.
#[inline(always)]
fn add_scaled(sums: &mut [Lane], x: f64, row: &[Lane]) {
    for (sums, row) in sums.iter_mut().zip(row) {
        for l in 0..LANES {
            sums[l] += x * row[l];
        }
    }
}
