//! The best of several restarts.

use rayon::prelude::*;

use crate::error::Result;
use crate::run::Run;

/// Restarts at a time: enough for the threads of most machines, and few enough that their fits are
/// small beside the data. A fixed number, so that memory does not depend on the machine.
const WAVE: usize = 4;

/// Scores that differ by no more than this share are equal.
const ROUNDING: f64 = 1e-12;

/// How many fits are held at once, the best so far included.
pub(crate) const FITS_HELD: u64 = WAVE as u64 + 1;

/// Runs `fit(i)` for every restart `i` and keeps the one with the largest `score`, the first of
/// those that only rounding tells apart; with the scores of all.
///
/// # Panics
///
/// If there are no restarts.
pub(crate) fn best_of_restarts<T: Send>(
    stage: &'static str,
    restarts: usize,
    run: &Run,
    fit: impl Fn(usize) -> Result<T> + Sync,
    score: impl Fn(&T) -> f64,
) -> Result<(T, Vec<f64>)> {
    let mut best: Option<T> = None;
    let mut scores: Vec<f64> = Vec::with_capacity(restarts);
    for wave in (0..restarts).step_by(WAVE) {
        run.tick(stage, wave as u64, Some(restarts as u64))?;
        let wave = (wave..restarts.min(wave + WAVE)).into_par_iter().with_max_len(1);
        for fit in wave.map(&fit).collect::<Result<Vec<T>>>()? {
            scores.push(score(&fit));
            let last = scores[scores.len() - 1];
            let beats = |so_far: f64| last > so_far + ROUNDING * so_far.abs();
            if best.as_ref().is_none_or(|best| beats(score(best))) {
                best = Some(fit);
            }
        }
    }
    Ok((best.expect("at least one restart"), scores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn the_first_of_the_best_is_kept_and_all_are_told() {
        let heights = [1.0, 5.0, 3.0, 2.0, 0.0, 5.0 + 1e-14, 4.0];
        let run = Run::new(0).threads(2);
        let fit = |i: usize| Ok((i, heights[i]));
        let (best, scores) = best_of_restarts("", 7, &run, fit, |fit| fit.1).unwrap();
        assert_eq!((best.0, scores.as_slice()), (1, heights.as_slice()));
    }

    #[test]
    fn a_failing_restart_fails_the_whole() {
        let fit = |i: usize| if i == 5 { Err(Error::Cancelled) } else { Ok(i) };
        let run = Run::new(0).threads(2);
        assert_eq!(best_of_restarts("", 6, &run, fit, |_| 0.0), Err(Error::Cancelled));
    }
}
