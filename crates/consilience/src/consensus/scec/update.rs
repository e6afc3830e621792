//! Rule (10): the multiplicative update of one correspondence.

// The update of a row is compiled for the machine's wide registers only where it is inlined into
// the closure that `pulp::Arch::dispatch` runs.
#![allow(clippy::inline_always)]

use crate::linalg::lanes::{LANES, Lane, add_scaled, total};
use crate::linalg::{Matrix, vectorised};

/// What rule (10) knows of member $h$; $Q = (M^{(h)})^T W M^{(h)}$.
pub(super) struct Rule<'a> {
    pub(super) alpha: f64,
    /// $\beta k$.
    pub(super) beta_k: f64,
    /// The diagonal of $Q$ without the filled-in rows.
    pub(super) diagonal: &'a [f64],
    /// The rest of $Q$, if not zero.
    pub(super) off_diagonal: Option<&'a Matrix>,
    /// The weight of the filled-in rows, which add its $1 / k_h^2$ part to every entry of $Q$.
    pub(super) filled: f64,
}

/// Buffers of [`Rule::improve`]. Rows are padded to whole lanes while they are updated; an entry of the
/// padding is 0 and stays 0.
#[derive(Default)]
pub(super) struct Scratch {
    s: Vec<Lane>,
    /// $G + \beta k$.
    numerator: Vec<Lane>,
    /// The off-diagonal part of $Q S$.
    cross: Vec<Lane>,
    /// $\tfrac{1}{k_h} \mathbf{1} S$ before and after a step, and the largest change of a column.
    mean: Vec<Lane>,
    next_mean: Vec<Lane>,
    change: Vec<Lane>,
}

impl Rule<'_> {
    /// Updates `s` ($k_h \times k$), $M$ with targets `g` fixed, until no entry changes by `tol` or
    /// `max_iter` times.
    pub(super) fn improve(
        &self,
        s: &mut [f64],
        g: &[f64],
        (max_iter, tol): (usize, f64),
        scratch: &mut Scratch,
    ) {
        let k_h = self.diagonal.len();
        let k = s.len() / k_h;
        let lanes = k.div_ceil(LANES);
        scratch.resize(k_h, lanes);
        for (to, from) in scratch.s.chunks_exact_mut(lanes).zip(s.chunks_exact(k)) {
            to.as_flattened_mut()[..k].copy_from_slice(from);
        }
        for (to, from) in scratch.numerator.chunks_exact_mut(lanes).zip(g.chunks_exact(k)) {
            let to = to.as_flattened_mut().iter_mut();
            to.zip(from).for_each(|(to, g)| *to = g + self.beta_k);
        }
        scratch.next_mean.fill([0.0; LANES]);
        for row in scratch.s.chunks_exact(lanes) {
            for (sum, s) in scratch.next_mean.iter_mut().zip(row) {
                sum.iter_mut().zip(s).for_each(|(sum, s)| *sum += s);
            }
        }
        vectorised(
            #[inline(always)]
            || {
                for _ in 0..max_iter {
                    self.step(lanes, scratch);
                    if scratch.change.as_flattened().iter().all(|&change| change < tol) {
                        break;
                    }
                }
            },
        );
        for (to, from) in s.chunks_exact_mut(k).zip(scratch.s.chunks_exact(lanes)) {
            to.copy_from_slice(&from.as_flattened()[..k]);
        }
    }

    /// One update. Finds the column sums of $S$ in `next_mean` and leaves the new ones there.
    #[inline(always)]
    fn step(&self, lanes: usize, scratch: &mut Scratch) {
        let Scratch { s, numerator, cross, mean, next_mean, change } = scratch;
        if let Some(q) = self.off_diagonal {
            off_diagonal_product(q, s, lanes, cross);
        }
        let share = 1.0 / self.diagonal.len() as f64;
        let mean_weight = self.alpha + self.filled * share;
        for (mean, sum) in mean.iter_mut().zip(next_mean.iter()) {
            mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean = sum * share);
        }
        next_mean.fill([0.0; LANES]);
        change.fill([0.0; LANES]);
        let rows = s.chunks_exact_mut(lanes).zip(numerator.chunks_exact(lanes));
        for ((row, numerator), (&q, cross)) in
            rows.zip(self.diagonal.iter().zip(cross.chunks_exact(lanes)))
        {
            let mut parts = [0.0; LANES];
            for lane in row.iter() {
                parts.iter_mut().zip(lane).for_each(|(part, s)| *part += s);
            }
            let row_sum = total(parts);
            for lane in 0..lanes {
                for j in 0..LANES {
                    let old = row[lane][j];
                    // (9). The row is not zero and alpha < beta k, hence positive.
                    let d = (q - self.alpha) * old
                        + (cross[lane][j] + mean_weight * mean[lane][j])
                        + self.beta_k * row_sum;
                    let next = old * numerator[lane][j] / d;
                    change[lane][j] = change[lane][j].max((next - old).abs());
                    next_mean[lane][j] += next;
                    row[lane][j] = next;
                }
            }
        }
    }
}

/// $(Q - \operatorname{diag} Q) S$, the diagonal of `q` being zero.
#[inline(always)]
fn off_diagonal_product(q: &Matrix, s: &[Lane], lanes: usize, out: &mut [Lane]) {
    out.fill([0.0; LANES]);
    for (out, q) in out.chunks_exact_mut(lanes).zip(q.iter_rows()) {
        for (&q, s) in q.iter().zip(s.chunks_exact(lanes)) {
            add_scaled(out, q, s);
        }
    }
}

impl Scratch {
    /// Makes room for a member; what is added is zero, and so is all padding.
    fn resize(&mut self, k_h: usize, lanes: usize) {
        for buffer in [&mut self.s, &mut self.numerator, &mut self.cross] {
            buffer.clear();
            buffer.resize(k_h * lanes, [0.0; LANES]);
        }
        for buffer in [&mut self.mean, &mut self.next_mean, &mut self.change] {
            buffer.clear();
            buffer.resize(lanes, [0.0; LANES]);
        }
    }
}
