//! How much clusterings that were made in the same way, but for the seed, agree.
//!
//! The *stability* of some members is the mean element-centric similarity (ECS) of their pairs, their *inconsistency* is
//! scICE's $\mathrm{IC} = r / (1 + (r - 1) \overline{\mathrm{ECS}})$. Few large clusters agree easily, so that stabilities at
//! different numbers of clusters do not compare as they are. What they would be if labels were shuffled among the
//! objects is known in closed form, and
//!
//! $$ \frac{\overline{\mathrm{ECS}} - \mathrm{chance}}{1 - \mathrm{chance}} $$
//!
//! is what lies *beyond chance*: 0 for shuffled labels, 1 if all members are equal, and 0 by definition where all have
//! one cluster and nothing can be told.
//!
//! *Intervals* are those of the bootstrap over members (percentiles 2.5 and 97.5 of [`DRAWS`] draws with replacement).
//! A pair of a member with itself, which draws with replacement contain, says nothing and is left out. Intervals of three or four
//! members are narrower than they should be. Two members have one similarity, which says nothing of others: their
//! interval is all that is possible, 0 to 1.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ensemble::{Contingency, Profiles};
use crate::error::Result;
use crate::linalg::Matrix;
use crate::metrics::{ElementCentric, element_similarity_and_chance};
use crate::rng::Stream;
use crate::run::Run;

/// How many times members are drawn.
const DRAWS: usize = 1000;
/// What is left out at either end, of so many draws.
const TAIL: usize = DRAWS / 40;
/// Clusters of all members together up to which all overlaps are one table (128 MiB).
const FEW_CLUSTERS: usize = 4096;
/// Members from which on there is an interval.
pub(crate) const FEWEST: usize = 3;
/// As good as one cluster in every member.
const NOTHING_TO_TELL: f64 = 1.0 - 1e-9;

/// A figure with the interval that resampled members give it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The figure of all members.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of a rising function of the figure.
    fn rising(self, of: impl Fn(f64) -> f64) -> Self {
        Interval { value: of(self.value), low: of(self.low), high: of(self.high) }
    }

    /// The interval of a falling function of the figure.
    fn falling(self, of: impl Fn(f64) -> f64) -> Self {
        Interval { value: of(self.value), low: of(self.high), high: of(self.low) }
    }
}

/// How much members agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// The mean element-centric similarity of two members.
    pub similarity: Interval,
    /// The inconsistency: 1 if all are equal, the larger the less they agree.
    pub inconsistency: Interval,
    /// The mean similarity of members with clusters of the same sizes whose labels are shuffled.
    pub chance: f64,
    /// How far the similarity is on the way from chance to full agreement.
    pub beyond_chance: Interval,
}

impl Stability {
    /// That of the members of `profiles`, which draw from the numbered stream `stream`; `None` if no two of them
    /// label an object in common.
    ///
    /// # Errors
    ///
    /// If memory does not suffice, or the run is cancelled.
    ///
    /// # Cost
    ///
    /// Time $O(u r^2 + K^2)$ and memory $O(K^2)$ for few clusters, $O(u)$ a thread for many.
    pub fn of(profiles: &Profiles, stream: u64, run: &Run) -> Result<Option<Self>> {
        let r = profiles.n_members();
        let hint = "give fewer clusterings at a time";
        run.ask_memory("the agreement of clusterings", bytes(profiles, run), hint)?;
        let (similarity, chance) = run.install(|| agreement(profiles, run))?;
        // Without a common object there is nothing to agree on; with one, similarity is above 0.
        let pairs = (0..r).flat_map(|p| (0..p).map(move |q| (p, q)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|&pair| similarity[pair] > 0.0).collect();
        if pairs.is_empty() {
            return Ok(None);
        }
        let compared = (0..r).filter(|&p| pairs.iter().any(|&(a, b)| a == p || b == p)).count();
        let mean =
            |of: &Matrix| pairs.iter().map(|&pair| of[pair]).sum::<f64>() / pairs.len() as f64;
        let (value, chance) = (mean(&similarity), mean(&chance));
        let (low, high) = match compared {
            few if few < FEWEST => (0.0, 1.0),
            _ => resampled(&similarity, stream, run).unwrap_or((0.0, 1.0)),
        };
        // The mean may lie outside the percentiles where few members give few different draws.
        let similarity = Interval { value, low: low.min(value), high: high.max(value) };
        let r = r as f64;
        let beyond = |x: f64| match chance {
            all if all > NOTHING_TO_TELL => 0.0,
            chance => (x - chance) / (1.0 - chance),
        };
        Ok(Some(Stability {
            similarity,
            inconsistency: similarity.falling(|x| r / (1.0 + (r - 1.0) * x)),
            chance,
            beyond_chance: similarity.rising(beyond),
        }))
    }

    /// Whether nothing can be told, because all members have one cluster.
    pub fn is_trivial(&self) -> bool {
        self.chance > NOTHING_TO_TELL
    }
}

/// How many bytes [`agreement`] takes.
fn bytes(profiles: &Profiles, run: &Run) -> u64 {
    let (r, k) = (profiles.n_members() as u64, profiles.n_clusters() as u64);
    let tables = if k <= FEW_CLUSTERS as u64 {
        8 * k * (k + r) + 16 * profiles.len() as u64
    } else {
        40 * run.n_threads() as u64 * profiles.len() as u64
    };
    tables + 48 * r * r
}

/// The similarity of every two members, and that of shuffled labels.
fn agreement(profiles: &Profiles, run: &Run) -> Result<(Matrix, Matrix)> {
    let r = profiles.n_members();
    if profiles.n_clusters() <= FEW_CLUSTERS {
        let found = ElementCentric::of(profiles);
        let chance = Matrix::from_fn(r, r, |p, q| if q < p { found.chance(p, q) } else { 0.0 });
        return Ok((found.similarity, chance));
    }
    let pairs: Vec<(usize, usize)> = (0..r).flat_map(|p| (0..p).map(move |q| (p, q))).collect();
    let of_pair = |&(p, q): &(usize, usize)| {
        run.check()?;
        Ok(element_similarity_and_chance(&Contingency::of_members(profiles, p, q)))
    };
    let found: Vec<Option<(f64, f64)>> = pairs.par_iter().map(of_pair).collect::<Result<_>>()?;
    let (mut similarity, mut chance) = (Matrix::zeros(r, r), Matrix::zeros(r, r));
    for (&(p, q), found) in pairs.iter().zip(found) {
        // Without a common object both stay 0.
        let (alike, shuffled) = found.unwrap_or_default();
        (similarity[(p, q)], similarity[(q, p)], chance[(p, q)]) = (alike, alike, shuffled);
    }
    Ok((similarity, chance))
}

/// The ends of the interval of the mean similarity.
fn resampled(similarity: &Matrix, stream: u64, run: &Run) -> Option<(f64, f64)> {
    let r = similarity.nrows();
    let order = by_agreement(similarity);
    let mut rng = run.rng(Stream::Inner(stream));
    let mut means = Vec::with_capacity(DRAWS);
    let mut times = vec![0.0; r];
    for _ in 0..DRAWS {
        times.fill(0.0);
        (0..r).for_each(|_| times[order[rng.below(r)]] += 1.0);
        let drawn: Vec<usize> = order.iter().copied().filter(|&p| times[p] > 0.0).collect();
        let (mut sum, mut weight) = (0.0, 0.0);
        for (i, &p) in drawn.iter().enumerate() {
            for &q in &drawn[..i] {
                let pairs = if similarity[(p, q)] > 0.0 { times[p] * times[q] } else { 0.0 };
                sum += pairs * similarity[(p, q)];
                weight += pairs;
            }
        }
        means.extend((weight > 0.0).then(|| sum / weight));
    }
    means.sort_by(f64::total_cmp);
    // Draws of one member only are left out, and with them as much of the tails.
    let tail = TAIL * means.len() / DRAWS;
    Some((*means.get(tail)?, *means.get(means.len().checked_sub(1 + tail)?)?))
}

/// The members in an order that depends on what they agree on alone: the order that they are given in is no
/// information. Where some agree alike with all others in turn, one of them is put first, and what that says of the
/// rest is looked at again.
fn by_agreement(similarity: &Matrix) -> Vec<usize> {
    let r = similarity.nrows();
    // Sums taken in another order differ in their last bits.
    let coarse = |p: usize, q: usize| (similarity[(p, q)] * f64::from(1 << 30)).round() as i64;
    let mut rank = refined(&coarse, vec![0; r]);
    loop {
        let mut order: Vec<usize> = (0..r).collect();
        order.sort_by_key(|&p| rank[p]);
        let others = |p: usize, q: usize| (0..r).filter(move |&x| x != p && x != q);
        let twins = |p: usize, q: usize| others(p, q).all(|x| coarse(p, x) == coarse(q, x));
        // Whoever is first among members that nothing tells apart, the draws are the same.
        let tied =
            order.windows(2).find(|two| rank[two[0]] == rank[two[1]] && !twins(two[0], two[1]));
        let Some(&[first, _]) = tied else { return order };
        let own = rank[first];
        let others = rank.iter_mut().enumerate().filter(|(p, rank)| *p != first && **rank == own);
        others.for_each(|(_, rank)| *rank += 1);
        rank = refined(&coarse, rank);
    }
}

/// Ranks that also tell apart who agrees otherwise with members of other ranks.
fn refined(coarse: &impl Fn(usize, usize) -> i64, mut rank: Vec<usize>) -> Vec<usize> {
    let r = rank.len();
    loop {
        let key = |p: usize| {
            let mut others: Vec<(i64, usize)> =
                (0..r).filter(|&q| q != p).map(|q| (coarse(p, q), rank[q])).collect();
            others.sort_unstable();
            (rank[p], others)
        };
        let keys: Vec<_> = (0..r).map(key).collect();
        let mut sorted: Vec<_> = keys.iter().collect();
        sorted.sort_unstable();
        let finer: Vec<usize> =
            keys.iter().map(|key| sorted.partition_point(|other| *other < key)).collect();
        if finer == rank {
            return rank;
        }
        rank = finer;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ensemble::{Ensemble, HardMember};
    use crate::metrics::{element_similarity, element_similarity_of_shuffled};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    fn of(ensemble: &Ensemble) -> Option<Stability> {
        Stability::of(&profiles(ensemble), 3, &Run::new(1).threads(1)).unwrap()
    }

    #[test]
    fn equal_members_are_stable_and_have_no_doubt() {
        let found = of(&hard_ensemble(&[[0, 0, 1, 1, 2, 2]; 4])).unwrap();
        let one = Interval { value: 1.0, low: 1.0, high: 1.0 };
        assert_eq!((found.similarity, found.inconsistency, found.beyond_chance), (one, one, one));
        assert!(!found.is_trivial());
    }

    #[test]
    fn two_members_have_no_interval() {
        let found = of(&hard_ensemble(&[[0, 0, 1, 1, 2, 2]; 2])).unwrap();
        assert_eq!(found.similarity, Interval { value: 1.0, low: 0.0, high: 1.0 });
        assert_eq!(found.inconsistency, Interval { value: 1.0, low: 1.0, high: 2.0 });
        assert!(found.beyond_chance.low < 0.0);
        // A third that labels other objects does not count.
        let third = |labels| HardMember::from_integers("m", labels).into();
        let (a, b) = ([Some(0), Some(1), None], [None, None, Some(0)]);
        let apart = Ensemble::new(vec![third(a), third(a), third(b)]).unwrap();
        assert_eq!(of(&apart).unwrap().similarity.low, 0.0);
    }

    #[test]
    fn what_is_too_large_or_stopped_says_so() {
        let profiles = profiles(&hard_ensemble(&[[0, 0, 1, 1, 2, 2]; 4]));
        assert!(Stability::of(&profiles, 0, &Run::new(0).memory(64)).is_err());
        let flag = crate::run::CancelFlag::default();
        flag.cancel();
        let stopped = Run::new(0).cancel_flag(flag);
        let ensemble: Vec<Vec<i64>> = vec![(0..1500).collect(); 3];
        let member = |labels: &Vec<i64>| {
            HardMember::from_integers("m", labels.iter().map(|&l| Some(l)).collect::<Vec<_>>())
                .into()
        };
        let many = Ensemble::new(ensemble.iter().map(member).collect()).unwrap();
        let many = crate::testing::profiles(&many);
        assert_eq!(Stability::of(&many, 0, &stopped), Err(crate::Error::Cancelled));
    }

    #[test]
    fn one_cluster_says_nothing() {
        let found = of(&hard_ensemble(&[[0; 6]; 4])).unwrap();
        assert!(found.is_trivial());
        assert_eq!((found.similarity.value, found.beyond_chance.value), (1.0, 0.0));
    }

    #[test]
    fn members_of_other_objects_have_nothing_in_common() {
        let member = |labels: [Option<i64>; 2]| HardMember::from_integers("m", labels).into();
        let apart = Ensemble::new(vec![member([Some(0), None]), member([None, Some(0)])]).unwrap();
        assert_eq!(of(&apart), None);
        assert_eq!(of(&hard_ensemble(&[[0, 1, 1]])), None);
    }

    /// Labels drawn at random agree as shuffled ones do.
    #[test]
    fn noise_is_not_beyond_chance() {
        let mut rng = crate::Rng::new(5, Stream::Data);
        let member = |_| {
            let labels: Vec<Option<i64>> = (0..2000).map(|_| Some(rng.below(5) as i64)).collect();
            HardMember::from_integers("m", labels).into()
        };
        let found = of(&Ensemble::new((0..6).map(member).collect()).unwrap()).unwrap();
        assert!(found.beyond_chance.value.abs() < 0.01, "{found:?}");
        assert!(found.similarity.low < found.similarity.value);
    }

    /// Two pairs of members that can only be exchanged together.
    #[test]
    fn ties_among_members_do_not_depend_on_their_order() {
        const NONE: Option<i64> = None;
        let labels = [
            [Some(0), Some(0), Some(0)],
            [Some(0), Some(1), NONE],
            [Some(0), Some(0), NONE],
            [Some(0), Some(1), Some(1)],
            [Some(0), NONE, NONE],
        ];
        let turned = |turn: usize| {
            let mut labels = labels;
            labels.rotate_left(turn);
            let members = labels.map(|labels| HardMember::from_integers("m", labels).into());
            of(&Ensemble::new(members.to_vec()).unwrap()).unwrap().similarity
        };
        for turn in 1..5 {
            let (a, b) = (turned(0), turned(turn));
            assert!((a.low - b.low).abs() < 1e-9 && (a.high - b.high).abs() < 1e-9, "{a:?} {b:?}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_mean_over_pairs_and_order_is_no_information(
            ensemble in ensembles(Kinds::HARD, 14, 6), turn in 0..6usize,
        ) {
            let members = ensemble.members();
            let found = of(&ensemble);
            let table = |p: usize, q: usize| Contingency::new(&members[p], &members[q], ensemble.weights()).unwrap();
            let pairs = (0..members.len()).flat_map(|p| (0..p).map(move |q| (p, q)));
            let tables: Vec<Contingency> = pairs.map(|(p, q)| table(p, q)).filter(|t| !t.is_empty()).collect();
            prop_assert_eq!(found.is_none(), tables.is_empty());
            let Some(found) = found else { return Ok(()) };
            let mean = tables.iter().map(element_similarity).sum::<f64>() / tables.len() as f64;
            prop_assert!((found.similarity.value - mean).abs() < 1e-12);
            let shuffled = |t: &Contingency| element_similarity_of_shuffled(t.row_weights(), t.column_weights());
            let chance = tables.iter().map(shuffled).sum::<f64>() / tables.len() as f64;
            prop_assert!((found.chance - chance).abs() < 1e-12);
            prop_assert!(found.similarity.low <= found.similarity.value);
            prop_assert!(found.similarity.value <= found.similarity.high);

            let mut turned = members.to_vec();
            turned.rotate_left(turn % members.len());
            let mut turned = Ensemble::new(turned).unwrap();
            if let Some(weights) = ensemble.weights() {
                turned = turned.with_weights(weights.to_vec()).unwrap();
            }
            let again = of(&turned).unwrap();
            prop_assert!((again.similarity.low - found.similarity.low).abs() < 1e-9);
            prop_assert!((again.similarity.high - found.similarity.high).abs() < 1e-9);
        }
    }
}
