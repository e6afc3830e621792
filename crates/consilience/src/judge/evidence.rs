//! Are there clusters at all?
//!
//! Members of one continuous cloud agree with each other far more than chance, because all of them
//! cut the same space: labels permuted within the members do not tell whether there are clusters,
//! only whether there is any common ground. So two comparisons are made.
//!
//! 1. *Common ground.* The mean NMI between members must exceed that of [`DRAWS`] ensembles with the
//!    labels of every member permuted.
//! 2. *Separation.* The members must part objects more clearly than those of [`DRAWS`] reference
//!    ensembles: k-means of points drawn uniformly from a cube, as many members with as many clusters,
//!    as many objects, labels missing as often. Two numbers are compared: the largest
//!    [prominence](super::modes) of a group must exceed all but one of theirs, or the largest gap of the
//!    bipartite spectrum must be 1.2 times the largest of theirs. The first finds groups with empty space between them, the
//!    second also those that touch.
//!
//! The dimension of the cube is not known from labels alone. Members agree the less the more
//! dimensions there are, so it is the largest of [`DIMENSIONS`] in which the members of many clusters
//! agree at least as much as those at hand, but for a standard deviation of the references'. Only those
//! of many clusters are asked, because their borders run inside of clusters, if there are any.
//!
//! Members without common ground tell that there is nothing to find. Members with common ground that part
//! objects no more clearly than the references tell nothing: they may have cut one cloud, or each may have
//! erred in its own way about clusters that are there. From labels alone these look alike, so that is
//! [not told](Structure::Untold).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::KMeansParams;
use crate::ensemble::{Contingency, Ensemble, HardMember, MISSING, Profiles};
use crate::error::Result;
use crate::judge::eigengap::{bipartite_eigenvalues, largest_gap};
use crate::judge::modes::prominences;
use crate::judge::objects;
use crate::linalg::Matrix;
use crate::metrics::{Normalisation, nmi};
use crate::rng::{Rng, Stream};
use crate::run::Run;

/// Ensembles of each kind that the one at hand is compared with.
const DRAWS: usize = 19;
/// Dimensions of the reference that are tried, falling.
const DIMENSIONS: [usize; 7] = [21, 13, 8, 5, 3, 2, 1];
/// References that are asked for their agreement in each dimension, if the first does not decide.
const DIMENSION_DRAWS: usize = 5;
/// Agreements nearer to each other than this do not decide alone.
const NEAR: f64 = 0.1;
/// Members that are looked at, at most.
const MEMBERS: usize = 30;
/// Objects a cluster, on average, that a member must have to be looked at.
const OBJECTS: usize = 5;
/// Fewer objects or members than these tell nothing: the gaps of a handful of members vary too much to
/// call clusters that most of them see none.
const FEWEST: (usize, usize) = (20, 10);
/// Values closer than this are equal.
const TIE: f64 = 1e-9;
/// The share of members, those of the most clusters, that tell the dimension.
const FINE: (usize, usize) = (1, 3);
/// By how much a gap must exceed those of the reference.
const CLEARLY: f64 = 1.2;
/// Eigenvalues between which gaps are looked for.
const GAPS: std::ops::RangeInclusive<usize> = 2..=20;
/// A group has at least this share of all weight, the surroundings of an object this.
const SMALLEST: f64 = 0.03;
const SURROUNDINGS: f64 = 0.01;

/// Whether there are clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Structure {
    /// Groups are set apart more than in the references.
    Clusters,
    /// The members have no common ground.
    NoClusters,
    /// Members alone cannot tell.
    Untold,
}

/// What speaks for clusters, and what it was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Whether there are clusters.
    pub verdict: Structure,
    /// The largest prominence of a group, in [0, 1]; of the members that were looked at.
    pub prominence: f64,
    /// The same of every reference ensemble, rising.
    pub reference: Vec<f64>,
    /// The largest gap of the bipartite spectrum after at least two eigenvalues.
    pub gap: f64,
    /// The same of every reference ensemble, rising.
    pub reference_gaps: Vec<f64>,
    /// The dimension of the reference.
    pub dimension: Option<usize>,
    /// The mean NMI between members.
    pub agreement: f64,
    /// The same of every ensemble with permuted labels, rising.
    pub permuted: Vec<f64>,
    /// The share of reference ensembles, this one counted in, with at least this prominence.
    pub p_value: f64,
    /// The same of the gap.
    pub gap_p_value: f64,
}

/// Labels, row by row, of some members, and how many clusters each has.
struct Tuples {
    rows: Vec<Vec<u32>>,
    clusters: Vec<usize>,
}

/// The evidence in profiles in canonical order.
///
/// Looks at all objects if there are at most `most`, otherwise at a systematic sample by weight.
///
/// # Cost
///
/// Some thirty runs of k-means a reference ensemble on as many points as objects are looked at; time
/// $O(m^2 (m + r))$ and memory $O(m^2)$ for each.
pub(super) fn evidence(profiles: &Profiles, most: usize, run: &Run) -> Result<Evidence> {
    let points = objects(profiles).min(most);
    let used = chosen(profiles, points);
    let mut found = Evidence {
        verdict: Structure::Untold,
        prominence: 0.0,
        reference: Vec::new(),
        gap: 0.0,
        reference_gaps: Vec::new(),
        dimension: None,
        agreement: 0.0,
        permuted: Vec::new(),
        p_value: 1.0,
        gap_p_value: 1.0,
    };
    if points < FEWEST.0 || used.len() < FEWEST.1 {
        return Ok(found);
    }
    let here = Tuples::of(profiles, points, &used);
    found.agreement = here.agreement()?;
    (found.prominence, found.gap) = here.separation(run)?;

    let permuted = |i: usize| {
        run.check()?;
        here.permuted(&mut run.rng(Stream::Restart(i as u64))).agreement()
    };
    found.permuted = rising((0..DRAWS).into_par_iter().map(permuted).collect::<Result<_>>()?);
    if found.permuted.iter().any(|&agreement| agreement >= found.agreement) {
        found.verdict = Structure::NoClusters;
        return Ok(found);
    }

    let gaps = here.gaps();
    let reference = |dimension: usize, draw: usize| {
        run.tick("looking for clusters", draw.min(DRAWS) as u64, Some(DRAWS as u64 + 1))?;
        Tuples::reference(points, dimension, &here.clusters, &gaps, draw as u64, run)
    };
    let agreement = here.fine().agreement()?;
    let agrees = |d: usize| -> Result<bool> {
        let of = |draw: usize| reference(d, draw)?.fine().agreement();
        let first = of(0)?;
        if (first - agreement).abs() > NEAR {
            return Ok(first > agreement);
        }
        // The one at hand may be a little above the mean as any of them may.
        let others = (1..DIMENSION_DRAWS).map(|i| of(DRAWS + i));
        let all: Vec<f64> = std::iter::once(Ok(first)).chain(others).collect::<Result<_>>()?;
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let variance = all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0);
        Ok(mean + variance.sqrt() >= agreement)
    };
    let mut dimension = DIMENSIONS[DIMENSIONS.len() - 1];
    for d in DIMENSIONS {
        if agrees(d)? {
            dimension = d;
            break;
        }
    }
    let separation = |draw: usize| reference(dimension, draw)?.separation(run);
    let draws: Vec<(f64, f64)> =
        (1..=DRAWS).into_par_iter().map(separation).collect::<Result<_>>()?;
    found.reference = rising(draws.iter().map(|draw| draw.0).collect());
    found.reference_gaps = rising(draws.iter().map(|draw| draw.1).collect());
    found.dimension = Some(dimension);
    // Prominences are fractions of votes: those that rounding alone makes different are equal.
    let reached = |values: &[f64], own: f64| values.iter().filter(|&&x| x >= own - TIE).count();
    let prominent = reached(&found.reference, found.prominence);
    let apart = reached(&found.reference_gaps, found.gap);
    found.p_value = (1 + prominent) as f64 / (DRAWS + 1) as f64;
    found.gap_p_value = (1 + apart) as f64 / (DRAWS + 1) as f64;
    if prominent <= 1 || found.gap > CLEARLY * found.reference_gaps[DRAWS - 1] {
        found.verdict = Structure::Clusters;
    }
    Ok(found)
}

/// All prominences of the groups, falling, by all members.
pub(super) fn all_prominences(similarity: &Matrix, weights: &[f64], run: &Run) -> Result<Vec<f64>> {
    prominences(similarity, weights, SMALLEST, SURROUNDINGS, run)
}

/// The members that are looked at: those of more than one and not too many clusters, and of these
/// at most [`MEMBERS`], evenly spaced.
fn chosen(profiles: &Profiles, points: usize) -> Vec<usize> {
    let sizes = profiles.cluster_weights();
    let clusters =
        |h: usize| profiles.members()[h].clusters.clone().filter(|&c| sizes[c] > 0.0).count();
    let fit: Vec<usize> = (0..profiles.n_members())
        .filter(|&h| (2..=points / OBJECTS).contains(&clusters(h)))
        .collect();
    let count = fit.len().min(MEMBERS);
    (0..count).map(|i| fit[i * fit.len() / count]).collect()
}

fn rising(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

impl Tuples {
    /// Of `points` objects, evenly spaced over the weights of the profiles laid end to end.
    fn of(profiles: &Profiles, points: usize, members: &[usize]) -> Self {
        let label = |s: usize, h: usize| profiles.label(s, h).map_or(MISSING, |c| c as u32);
        let step = profiles.total_weight() / points as f64;
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(points);
        let mut end = 0.0;
        for (s, weight) in profiles.weights().iter().enumerate() {
            end += weight;
            while rows.len() < points && (rows.len() as f64 + 0.5) * step < end {
                rows.push(members.iter().map(|&h| label(s, h)).collect());
            }
        }
        let distinct = |i: usize| {
            let mut labels: Vec<u32> = rows.iter().map(|row| row[i]).collect();
            labels.sort_unstable();
            labels.dedup();
            // A member that labels none of these cannot be imitated with fewer than one.
            labels.iter().filter(|&&label| label != MISSING).count().max(1)
        };
        let clusters = (0..members.len()).map(distinct).collect();
        Tuples { rows, clusters }
    }

    /// Of `points` drawn uniformly from a cube: k-means with these numbers of clusters, and labels
    /// missing with these shares.
    fn reference(
        points: usize,
        dimension: usize,
        clusters: &[usize],
        gaps: &[f64],
        draw: u64,
        run: &Run,
    ) -> Result<Self> {
        // A seed of its own, so that streams of restarts can be those of members.
        let own = run.with_seed(run.rng(Stream::Inner(draw)).bits() ^ dimension as u64);
        let mut rng = own.rng(Stream::Data);
        let cube = (0..points * dimension).map(|_| rng.unit()).collect();
        let cube = Matrix::from_vec(points, dimension, cube);
        let member = |h: usize| {
            let kmeans = KMeansParams::new(clusters[h]).max_iter(50).check()?;
            let fit = kmeans.fit(&cube, &own, |_| Stream::Member(h as u64))?;
            let mut rng = own.rng(Stream::Restart(h as u64));
            let seen = |label: u32| if rng.unit() < gaps[h] { MISSING } else { label };
            Ok(fit.labels.into_iter().map(seen).collect::<Vec<u32>>())
        };
        let members: Vec<Vec<u32>> =
            (0..clusters.len()).into_par_iter().map(member).collect::<Result<_>>()?;
        let rows = (0..points).map(|i| members.iter().map(|labels| labels[i]).collect()).collect();
        Ok(Tuples { rows, clusters: clusters.to_vec() })
    }

    /// The same members, each with its labels permuted.
    fn permuted(&self, rng: &mut Rng) -> Self {
        let mut rows = self.rows.clone();
        for h in 0..self.clusters.len() {
            let order = rng.permutation(rows.len());
            for (row, &from) in rows.iter_mut().zip(&order) {
                row[h] = self.rows[from as usize][h];
            }
        }
        Tuples { rows, clusters: self.clusters.clone() }
    }

    /// The share of labels that every member lacks.
    fn gaps(&self) -> Vec<f64> {
        let missing = |h: usize| self.rows.iter().filter(|row| row[h] == MISSING).count();
        (0..self.clusters.len()).map(|h| missing(h) as f64 / self.rows.len() as f64).collect()
    }

    /// The mean NMI between members.
    fn agreement(&self) -> Result<f64> {
        let r = self.clusters.len();
        let columns: Vec<Vec<Option<u32>>> = (0..r)
            .map(|h| self.rows.iter().map(|row| Some(row[h]).filter(|&c| c != MISSING)).collect())
            .collect();
        let pairs: Vec<(usize, usize)> = (0..r).flat_map(|h| (0..h).map(move |g| (g, h))).collect();
        let of_pair = |&(g, h): &(usize, usize)| {
            let table = Contingency::of_labels(&columns[g], &columns[h], None)?;
            Ok(nmi(&table, Normalisation::Geometric))
        };
        let all = pairs.par_iter().map(of_pair).collect::<Result<Vec<f64>>>()?;
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Only the members of the most clusters.
    fn fine(&self) -> Self {
        let mut order: Vec<usize> = (0..self.clusters.len()).collect();
        order.sort_by_key(|&h| std::cmp::Reverse(self.clusters[h]));
        order.truncate((order.len() * FINE.0 / FINE.1).max(2));
        let rows = self.rows.iter().map(|row| order.iter().map(|&h| row[h]).collect()).collect();
        Tuples { rows, clusters: order.iter().map(|&h| self.clusters[h]).collect() }
    }

    /// The largest prominence of a group, and the largest gap of the bipartite spectrum.
    fn separation(&self, run: &Run) -> Result<(f64, f64)> {
        let m = self.rows.len();
        let weights = vec![1.0; m];
        let mut similarity = Matrix::zeros(m, m);
        similarity.as_mut_slice().par_chunks_mut(m).zip(&self.rows).for_each(|(out, row)| {
            for (out, other) in out.iter_mut().zip(&self.rows) {
                *out = shared(row, other);
            }
        });
        let prominence = all_prominences(&similarity, &weights, run)?.first().copied();
        let values = bipartite_eigenvalues(&self.profiles(run)?, run)?;
        let gap = largest_gap(&values, GAPS);
        let value = |i: usize| values.get(i).copied().unwrap_or(0.0);
        let gap = gap.map_or(0.0, |k| value(k - 1) - value(k));
        Ok((prominence.unwrap_or(0.0), gap))
    }

    fn profiles(&self, run: &Run) -> Result<Profiles> {
        let member = |h: usize| {
            let labels = self.rows.iter().map(|row| Some(row[h]).filter(|&c| c != MISSING));
            HardMember::from_integers(h.to_string(), labels.map(|c| c.map(i64::from))).into()
        };
        let members = (0..self.clusters.len()).map(member).collect();
        Profiles::new(&Ensemble::new(members)?, run)
    }
}

/// The share of members that give both the same label, among those that label both.
pub(super) fn shared(a: &[u32], b: &[u32]) -> f64 {
    let (mut same, mut both) = (0u32, 0u32);
    for (&x, &y) in a.iter().zip(b) {
        let known = x != MISSING && y != MISSING;
        both += u32::from(known);
        same += u32::from(known && x == y);
    }
    if both == 0 { 0.0 } else { f64::from(same) / f64::from(both) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::KCriteria;
    use crate::testing::profiles;

    /// Members by k-means with 2 to 12 clusters of points on a line.
    fn of_line(points: &[f64]) -> Profiles {
        let data = Matrix::from_vec(points.len(), 1, points.to_vec());
        let member = |h: usize| {
            let kmeans = KMeansParams::new(2 + h % 11).check().unwrap();
            let fit = kmeans.fit(&data, &Run::new(h as u64), Stream::Restart).unwrap();
            let labels = fit.labels.iter().map(|&label| Some(i64::from(label)));
            HardMember::from_integers(format!("m{h}"), labels).into()
        };
        profiles(&Ensemble::new((0..22).map(member).collect()).unwrap())
    }

    fn verdict(profiles: &Profiles) -> Structure {
        let run = Run::new(0);
        evidence(profiles, 500, &run).unwrap().verdict
    }

    #[test]
    fn two_groups_are_clusters_and_a_line_is_not_told() {
        let mut rng = Rng::new(3, Stream::Data);
        let line: Vec<f64> = (0..150).map(|_| rng.unit()).collect();
        assert_eq!(verdict(&of_line(&line)), Structure::Untold);
        let parted: Vec<f64> =
            line.iter().enumerate().map(|(i, x)| x + 5.0 * (i % 2) as f64).collect();
        assert_eq!(verdict(&of_line(&parted)), Structure::Clusters);
    }

    /// Two sites with four objects in ten in common, and one label in five missing: five groups that
    /// every member sees, but no prominence.
    #[test]
    fn sites_with_gaps_are_not_said_to_have_no_clusters() {
        let mut rng = Rng::new(5, Stream::Data);
        let member = |h: usize| {
            let label = |i: usize| {
                let seen = if h < 6 { i < 350 } else { i >= 150 };
                let noisy = rng.below(10) == 0;
                let label = if noisy { rng.below(5) } else { i % 5 };
                (seen && rng.below(5) > 0).then_some(label as i64)
            };
            HardMember::from_integers(format!("m{h}"), (0..500).map(label).collect::<Vec<_>>())
                .into()
        };
        let ensemble = Ensemble::new((0..12).map(member).collect()).unwrap();
        let found = KCriteria::new(&profiles(&ensemble), None, &Run::new(0)).unwrap();
        assert_ne!(found.evidence.verdict, Structure::NoClusters);
        assert_eq!(found.recommended, 5);
    }

    #[test]
    fn members_without_common_ground_have_no_clusters() {
        let mut rng = Rng::new(4, Stream::Data);
        let mut member = |h: usize| {
            let labels: Vec<_> = (0..80).map(|_| Some(rng.below(3) as i64)).collect();
            HardMember::from_integers(format!("m{h}"), labels).into()
        };
        let noise = profiles(&Ensemble::new((0..10).map(&mut member).collect()).unwrap());
        assert_eq!(verdict(&noise), Structure::NoClusters);
    }

    #[test]
    fn few_objects_tell_nothing() {
        assert_eq!(
            verdict(&of_line(&[
                0.0, 1.0, 2.0, 10.0, 11.0, 12.0, 20.0, 21.0, 30.0, 31.0, 40.0, 41.0, 50.0
            ])),
            Structure::Untold
        );
    }
}
