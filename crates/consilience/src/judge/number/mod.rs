//! How many clusters features speak for.
//!
//! Two kinds of evidence that have nothing in common, each compared with [references](references) without
//! clusters:
//!
//! * the *step* at $k$: by how much the $(k-1)$-th [gap](gaps) between groups is deeper than the next,
//!   $\ln (p_{k-1} / p_k)$, where the gap exceeds those of all references;
//! * the *agreement* of different [kinds of clusterers](agreement) at $k$ beyond the mean of the references.
//!
//! Their weighted sum is the score of $k$, and the highest score wins. *Whether* there are clusters is told
//! by the deepest gap: clearly deeper than in any reference, and there are; clearly less deep, and kinds
//! agree no more than in references, and there are none. In between there is no clear number.
//!
//! Groups that gaps set off are nested: the group with the shallowest gap is part of the one that it meets.
//! A smaller number with a strong step of its own is therefore another *level*: larger groups that stand
//! further apart still.
//!
//! Weights and
//! limits were chosen on the tuning half of `make accuracy` and on noise; `docs/comparison.md` has what came
//! of them on the judging half.

mod agreement;
mod gaps;
mod references;

use std::ops::RangeInclusive;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::linalg::Matrix;
use crate::math;
use crate::rng::Stream;
use crate::run::Run;
use crate::words::counted;

use agreement::agreement;
use gaps::prominences;
use references::Axes;

/// Rows of a sample that gaps are looked for in, and kinds of clusterers compared on at most.
pub(crate) const ROWS: usize = 2000;
const ROWS_TO_AGREE: usize = 500;
/// Rows below which nothing can be told.
const FEWEST: usize = 30;
/// The largest number of clusters that is looked for, and the rows that each must have on average.
const MOST: usize = 30;
const ROWS_EACH: usize = 10;
/// References for gaps and for agreement.
const REFERENCES: (usize, usize) = (10, 6);
/// What agreement weighs beside steps.
const AGREEMENT: f64 = 0.5;
/// Without a deep gap agreement decides alone, and only for so many clusters: how far it exceeds that of
/// references wavers by as much at any number, and many numbers would have many chances.
const ALONE: usize = 10;
/// Gaps below this share of the references' deepest are all alike: none.
const FLOOR: f64 = 0.3;
/// References of many axes have hardly any gaps; a gap below this is none either.
const SHALLOW: f64 = 0.03;
/// Deeper than the references' deepest gap by this factor there are clusters; less deep there are none.
const CLUSTERS: f64 = 1.15;
const NONE: f64 = 0.85;
/// Deeper than this by the same factor, gaps tell of clusters even if different kinds of clusterers do not agree on them,
/// as on clusters that few kinds can see.
const DEEP: f64 = 2.0;
/// Standard deviations above the references from which on agreement forbids to say that there are none.
const AGREED: f64 = 2.3;
/// Scores from which on a number has weak, moderate and strong support.
const STRENGTHS: [f64; 3] = [0.15, 0.35, 0.7];
/// A number is clear if the next best score is at most this share of its own.
const CLEARLY: f64 = 0.7;

/// Whether the number of clusters is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clarity {
    /// There are clusters, and one number stands out.
    Clear,
    /// There may be clusters, but no number stands out.
    #[default]
    Unclear,
    /// There are no clusters: one is all there is.
    None,
}

/// How much speaks for a number of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Hardly anything.
    None,
    /// Little.
    Weak,
    /// Enough to consider it.
    Moderate,
    /// Much.
    Strong,
}

/// What speaks for one number of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KEvidence {
    /// The number.
    pub k: usize,
    /// By how much the last gap that it needs is deeper than the next, as a logarithm.
    pub step: f64,
    /// The agreement of kinds of clusterers, an adjusted Rand index.
    pub agreement: f64,
    /// The mean of the same over references without clusters.
    pub reference: f64,
    /// Both taken together.
    pub score: f64,
    /// The score in a word.
    pub strength: Strength,
}

/// How many clusters features speak for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The number with the best score; 1 if there are no clusters.
    pub k: usize,
    /// Whether it is known.
    pub clarity: Clarity,
    /// The deepest gap, in units of the deepest in any reference.
    pub depth: f64,
    /// By how many standard deviations the agreement of kinds exceeds that of references, at most.
    pub agreed: f64,
    /// What speaks for 2, 3, ... clusters.
    pub evidence: Vec<KEvidence>,
    /// Smaller numbers of groups that these clusters lie in, ascending, where the data are nested.
    #[serde(default)]
    pub levels: Vec<usize>,
    /// How many rows were looked at, if not all.
    pub sampled: Option<usize>,
}

impl Number {
    /// The number of clusters of `rows`, a sample of at most 2,000 where there are more; `range`
    /// restricts it. `None` if there are too few rows to tell.
    ///
    /// # Cost
    ///
    /// Eleven spanning trees of at most 2,000 rows, and seven times some clusterers on at most 500 rows for
    /// every number of clusters up to 30.
    ///
    /// # Errors
    ///
    /// If the run is cancelled.
    pub fn new(
        rows: &Matrix,
        range: Option<&RangeInclusive<usize>>,
        run: &Run,
    ) -> Result<Option<Self>> {
        run.install(|| Self::found(rows, range, run))
    }

    fn found(
        rows: &Matrix,
        range: Option<&RangeInclusive<usize>>,
        run: &Run,
    ) -> Result<Option<Self>> {
        let (n, axes) = (rows.nrows(), Axes::new(rows, run)?);
        let fewer = some_of(&axes.rows, ROWS_TO_AGREE, run);
        let m = fewer.nrows();
        let ks = 2..=MOST.min(m / ROWS_EACH).min(distinct(&fewer).saturating_sub(1));
        if n < FEWEST || ks.is_empty() {
            return Ok(None);
        }
        let (of_gaps, of_agreement) = REFERENCES;
        let total = Some((of_gaps + of_agreement + 2) as u64);
        let tick = |done: usize| run.tick("number of clusters", done as u64, total);
        tick(0)?;
        let drawn = |i: usize, rows: usize| {
            axes.reference(i, rows, &mut run.rng(Stream::Restart(i as u64)))
        };
        let table = |i: usize| if i == 0 { axes.rows.clone() } else { drawn(i - 1, n) };
        let found: Vec<Vec<f64>> = (0..=of_gaps)
            .into_par_iter()
            .map(|i| run.check().and_then(|()| prominences(&table(i), run)))
            .collect::<Result<_>>()?;
        tick(of_gaps + 1)?;
        let table = |i: usize| if i == 0 { fewer.clone() } else { drawn(i - 1, m) };
        let agreements: Vec<Vec<f64>> = (0..=of_agreement)
            .into_par_iter()
            .map(|i| agreement(&table(i), &ks, run))
            .collect::<Result<_>>()?;
        tick(of_gaps + of_agreement + 2)?;
        Ok(Some(Number::of(&found, &agreements, range)))
    }

    /// The number, given the gaps and the agreements from two clusters on of the table and of references.
    fn of(
        gaps: &[Vec<f64>],
        agreements: &[Vec<f64>],
        range: Option<&RangeInclusive<usize>>,
    ) -> Self {
        let deepest =
            gaps[1..].iter().filter_map(|gaps| gaps.first()).copied().fold(SHALLOW, f64::max);
        let own = |i: usize| gaps[0].get(i).copied().unwrap_or(0.0);
        let depth = own(0) / deepest;
        let references = (agreements.len() - 1) as f64;
        let mean = |i: usize| agreements[1..].iter().map(|a| a[i]).sum::<f64>() / references;
        let count = agreements[0].len();
        let variance = |i: usize| {
            let mean = mean(i);
            agreements[1..].iter().map(|a| (a[i] - mean) * (a[i] - mean)).sum::<f64>() / references
        };
        let typical = (0..count).map(variance).sum::<f64>() / count as f64;
        let excess = |i: usize| {
            let spread = variance(i).max(typical).sqrt().max(f64::MIN_POSITIVE);
            (agreements[0][i] - mean(i)) / spread
        };
        let agreed = (0..count).map(excess).fold(f64::NEG_INFINITY, f64::max);
        // Gaps fall, so that none is deep if the first is not.
        let gapless = own(0) <= deepest;
        let evidence: Vec<KEvidence> = (0..count)
            .map(|i| {
                let floor = FLOOR * deepest;
                let deep = own(i) > deepest;
                let step = if deep { math::ln(own(i) / own(i + 1).max(floor)) } else { 0.0 };
                let (agreement, reference) = (agreements[0][i], mean(i));
                let alone = if gapless && i + 2 > ALONE { 0.0 } else { AGREEMENT };
                let score = step + alone * (agreement - reference);
                KEvidence { k: i + 2, step, agreement, reference, score, strength: strength(score) }
            })
            .collect();
        let allowed = |k: usize| range.is_none_or(|range| range.contains(&k));
        let mut ranked: Vec<&KEvidence> = evidence.iter().filter(|e| allowed(e.k)).collect();
        // Of equals the smaller number.
        ranked.sort_by(|x, y| y.score.total_cmp(&x.score).then(x.k.cmp(&y.k)));
        let none = depth < NONE && agreed < AGREED && allowed(1);
        let stands_out = match ranked[..] {
            [best, next, ..] => next.score <= CLEARLY * best.score,
            _ => true,
        };
        let supported = ranked.first().is_some_and(|best| {
            best.strength >= Strength::Moderate && (depth > DEEP || best.agreement > best.reference)
        });
        let (k, clarity) = match ranked.first() {
            _ if none => (1, Clarity::None),
            Some(best) if depth > CLUSTERS && supported && stands_out => (best.k, Clarity::Clear),
            Some(best) => (best.k, Clarity::Unclear),
            None => (range.map_or(1, |range| *range.start()), Clarity::Unclear),
        };
        let coarser = evidence.iter().filter(|e| e.k < k && strength(e.step) == Strength::Strong);
        let levels = coarser.map(|e| e.k).collect();
        Number { k, clarity, depth, agreed, evidence, levels, sampled: None }
    }

    /// The same, if the rows were drawn from `all`.
    pub(crate) fn of_rows(self, all: usize) -> Self {
        Number { sampled: Some(ROWS).filter(|&rows| rows < all), ..self }
    }

    /// What speaks for `k` clusters, if that was looked at.
    pub fn at(&self, k: usize) -> Option<&KEvidence> {
        self.evidence.iter().find(|evidence| evidence.k == k)
    }

    /// Why this number, as a clause.
    pub fn reason(&self) -> String {
        let gap = match self.depth {
            depth if depth > CLUSTERS => "there are deeper gaps than in data without clusters",
            depth if depth < NONE => "there are no deeper gaps than in data without clusters",
            _ => "gaps are about as deep as in data without clusters",
        };
        let Some(at) = self.at(self.k) else { return gap.to_owned() };
        let (and, more) =
            if at.agreement > at.reference { ("and", "more") } else { ("but", "no more") };
        let kinds = format!(
            "with {} different kinds of clusterers agree {more} than on such data ({:.2} against {:.2})",
            counted(self.k, "cluster"),
            at.agreement,
            at.reference
        );
        match self.clarity {
            Clarity::Clear => format!("{gap}, {and} {kinds}"),
            Clarity::Unclear => format!("{gap}; {kinds}; no number stands out"),
            Clarity::None => gap.to_owned(),
        }
    }

    /// The numbers that have at least moderate support, the best first.
    pub fn plausible(&self) -> Vec<usize> {
        let mut some: Vec<&KEvidence> =
            self.evidence.iter().filter(|e| e.strength >= Strength::Moderate).collect();
        some.sort_by(|x, y| y.score.total_cmp(&x.score).then(x.k.cmp(&y.k)));
        some.iter().map(|evidence| evidence.k).collect()
    }
}

fn strength(score: f64) -> Strength {
    match STRENGTHS.iter().filter(|least| score >= **least).count() {
        0 => Strength::None,
        1 => Strength::Weak,
        2 => Strength::Moderate,
        _ => Strength::Strong,
    }
}

/// All rows, or as many as `most` of them, drawn.
fn some_of(rows: &Matrix, most: usize, run: &Run) -> Matrix {
    let n = rows.nrows();
    if n <= most {
        return rows.clone();
    }
    let mut chosen = run.rng(Stream::Inner(1)).distinct(n, most);
    chosen.sort_unstable();
    Matrix::from_fn(most, rows.ncols(), |i, j| rows[(chosen[i], j)])
}

/// How many rows differ.
fn distinct(rows: &Matrix) -> usize {
    let mut all: Vec<&[f64]> = rows.iter_rows().collect();
    all.sort_by(|x, y| x.partial_cmp(y).expect("no value is missing"));
    all.dedup();
    all.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Points around centres, as many each.
    fn around(centres: &[[f64; 2]], each: usize, rng: &mut Rng) -> Matrix {
        let values = (0..each * centres.len()).flat_map(|i| {
            let centre = centres[i % centres.len()];
            [centre[0] + rng.normal(), centre[1] + rng.normal()]
        });
        Matrix::from_vec(each * centres.len(), 2, values.collect())
    }

    fn found(rows: &Matrix, seed: u64) -> Number {
        Number::new(rows, None, &Run::new(seed)).unwrap().expect("rows enough")
    }

    #[test]
    fn separated_groups_have_their_number_whatever_the_seed() {
        let mut rng = Run::new(1).rng(Stream::Data);
        for centres in [&[[0.0, 0.0], [7.0, 0.0]][..], &[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]] {
            let rows = around(centres, 100, &mut rng);
            for seed in 0..3 {
                let found = found(&rows, seed);
                assert_eq!((found.k, found.clarity), (centres.len(), Clarity::Clear), "{found:?}");
            }
        }
    }

    #[test]
    fn noise_is_not_said_to_have_clusters() {
        let mut rng = Run::new(2).rng(Stream::Data);
        for draw in 0..4 {
            let cloud = around(&[[0.0, 0.0]], 200, &mut rng);
            let even = Matrix::from_vec(200, 2, (0..400).map(|_| rng.unit()).collect());
            for rows in [cloud, even] {
                assert_ne!(found(&rows, draw).clarity, Clarity::Clear);
            }
        }
    }

    #[test]
    fn a_range_restricts_and_few_rows_tell_nothing() {
        let mut rng = Run::new(3).rng(Stream::Data);
        let rows = around(&[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 50, &mut rng);
        let run = Run::new(0);
        let within = Number::new(&rows, Some(&(4..=6)), &run).unwrap().unwrap();
        assert!((4..=6).contains(&within.k), "{within:?}");
        assert_ne!(within.clarity, Clarity::Clear, "three are clear, not these");
        assert_eq!(Number::new(&Matrix::zeros(100, 2), None, &run), Ok(None));
        assert_eq!(Number::new(&around(&[[0.0, 0.0]], 20, &mut rng), None, &run), Ok(None));
    }

    #[test]
    fn groups_of_clusters_are_a_level() {
        let mut rng = Run::new(5).rng(Stream::Data);
        let pairs = [[0.0, 0.0], [8.0, 0.0], [0.0, 90.0], [8.0, 90.0], [90.0, 0.0], [98.0, 0.0]];
        let nested = found(&around(&pairs, 60, &mut rng), 0);
        assert_eq!((nested.k, &nested.levels[..]), (6, &[3][..]), "{nested:?}");
        let apart = found(&around(&[[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 100, &mut rng), 0);
        assert_eq!((apart.k, &apart.levels[..]), (3, &[][..]), "{apart:?}");
    }

    #[test]
    fn threads_do_not_show() {
        let mut rng = Run::new(4).rng(Stream::Data);
        let rows = around(&[[0.0, 0.0], [5.0, 0.0]], 60, &mut rng);
        let with = |threads| Number::new(&rows, None, &Run::new(0).threads(threads)).unwrap();
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn the_deepest_step_wins_and_little_is_no_evidence() {
        let flat = || vec![vec![0.2; 5]; 3];
        let of = |own: &[f64]| Number::of(&[own.to_vec(), vec![0.5], vec![0.4]], &flat(), None);
        let three = of(&[2.0, 1.8, 0.4, 0.3]);
        assert_eq!((three.k, three.clarity), (3, Clarity::Clear));
        assert_eq!(three.plausible(), [3]);
        let shallow = of(&[0.7, 0.1]);
        assert_eq!((shallow.k, shallow.clarity), (2, Clarity::Unclear), "no kinds agree on it");
        assert_eq!(of(&[0.3, 0.2]).clarity, Clarity::None);
        assert_eq!(of(&[0.5, 0.2]).clarity, Clarity::Unclear);
        assert_eq!(of(&[]).k, 1);
    }
}
