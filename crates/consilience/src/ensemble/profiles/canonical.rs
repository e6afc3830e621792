//! An order of profiles, members and clusters that does not depend on how the data were written
//! down.
//!
//! Methods break ties and draw random starts by position. If positions came from the file, a file
//! sorted by class would leak the classes into the answer, and shuffling rows would change it. So
//! a method is handed the ensemble in an order computed from its structure alone.
//!
//! Every profile gets a fingerprint that ignores names and positions, by colour refinement: a
//! cluster is known by the profiles in it, a member by its clusters, a profile by its share of the
//! weight and its clusters, in rounds until no more profiles are told apart. Those that still tie
//! are, but for exotic cases, interchangeable, yet not independently of each other: in the
//! ensemble of two crossing halves any of the four profiles may stand first, but then the one that
//! shares no cluster with it is determined. So one of a tie is singled out and the rounds go on,
//! until nothing ties. Clusters and members are then ordered by the places of their profiles.

use std::ops::Range;

use rayon::prelude::*;

use crate::ensemble::profiles::{Profiles, mix};

/// Entries of $H$ that telling profiles apart may visit. Enough to finish for every ensemble whose
/// answer could hang on it; a huge one with thousands of interchangeable profiles (an id column
/// among the members, say) keeps the rest of its ties in the given order rather than take minutes.
const BUDGET: usize = 20_000_000;

/// Rounds that any ensemble gets, however large: what ties after three of them is in practice
/// interchangeable.
const MIN_ROUNDS: usize = 3;

/// Profiles in a chunk of parallel work.
const CHUNK: usize = 1 << 13;

/// Profiles in canonical order, with the way back.
#[derive(Clone, Debug)]
pub struct Canonical {
    /// The reordered profiles.
    pub profiles: Profiles,
    /// Which profile of the original stands at each place now.
    pub profile_at: Vec<u32>,
    /// Which member of the original stands at each place now.
    pub member_at: Vec<u32>,
    /// Which cluster of the original, counted through all members, stands at each place now.
    pub cluster_at: Vec<u32>,
}

impl Canonical {
    /// Reorders `profiles`. Time $O(u r + u \log u)$ a round; most ensembles need two.
    pub fn new(profiles: &Profiles) -> Self {
        let mut prints = Fingerprints::new(profiles);
        // A round also sorts the prints, which costs about four more visits a profile.
        let mut rounds = MIN_ROUNDS + BUDGET / (profiles.len() * (profiles.n_members() + 4)).max(1);
        prints.refine(profiles, &mut rounds);
        while rounds > 0
            && let Some(s) = prints.first_tied()
        {
            prints.profiles[s] = mix(!prints.profiles[s]);
            prints.sort();
            prints.refine(profiles, &mut rounds);
        }
        let profile_at: Vec<u32> = prints.order.iter().map(|&(_, s)| s).collect();
        for (place, &s) in profile_at.iter().enumerate() {
            prints.profiles[s as usize] = mix(place as u64);
        }
        prints.see_profiles(profiles);
        let member_at = sorted(&prints.members, 0..profiles.n_members());
        let clusters_of =
            |&h: &u32| sorted(&prints.clusters, profiles.members()[h as usize].clusters.clone());
        let cluster_at = member_at.iter().flat_map(clusters_of).collect::<Vec<_>>();
        let profiles = profiles.reordered(&profile_at, &member_at, &cluster_at);
        Canonical { profiles, profile_at, member_at, cluster_at }
    }
}

/// `range` by rising fingerprint, ties as they stand.
fn sorted(prints: &[u64], range: Range<usize>) -> Vec<u32> {
    let mut order: Vec<u32> = range.map(|i| i as u32).collect();
    order.sort_by_key(|&i| prints[i as usize]);
    order
}

/// The mixed bits of a number in single precision: weights are sums over objects and memberships quotients
/// by sums over clusters, which taken in another order differ in the last bits.
///
/// Weights are mixed once and memberships twice, lest the print of weight 1 and that of membership 1
/// cancel where they meet.
fn rough(x: f64) -> u64 {
    mix(u64::from((x as f32).to_bits()))
}

struct Fingerprints {
    profiles: Vec<u64>,
    members: Vec<u64>,
    clusters: Vec<u64>,
    /// The profiles by rising fingerprint, ties as they stand, as of the last sort.
    order: Vec<(u64, u32)>,
}

impl Fingerprints {
    /// What can be told of a profile by its weight alone.
    ///
    /// Weights count as shares of the largest, so that doubling all changes nothing.
    fn new(profiles: &Profiles) -> Self {
        let largest = profiles.weights().iter().copied().fold(0.0, f64::max);
        let print = |&w: &f64| rough(w / largest);
        let mut prints = Fingerprints {
            profiles: profiles.weights().iter().map(print).collect(),
            members: vec![0; profiles.n_members()],
            clusters: vec![0; profiles.n_clusters()],
            order: Vec::new(),
        };
        prints.sort();
        prints
    }

    /// Refines until all profiles are told apart, a round tells no more apart, or no round is left.
    fn refine(&mut self, profiles: &Profiles, rounds: &mut usize) {
        let mut distinct = self.n_distinct();
        while *rounds > 0 {
            *rounds -= 1;
            self.see_profiles(profiles);
            self.see_clusters(profiles);
            self.sort();
            let before = std::mem::replace(&mut distinct, self.n_distinct());
            if distinct == profiles.len() || distinct <= before {
                break;
            }
        }
    }

    /// Clusters and members by the profiles in them. Sums of mixed values do not depend on the
    /// order of the summands, hence not on the splitting into parts either.
    fn see_profiles(&mut self, profiles: &Profiles) {
        let (u, k) = (profiles.len(), profiles.n_clusters());
        // Partial sums shall not take more memory than the labels do.
        let parts = (u * profiles.n_members() / (8 * k)).clamp(1, rayon::current_num_threads());
        let part_len = u.div_ceil(parts).max(CHUNK);
        let sums = self.profiles.par_chunks(part_len).enumerate().map(|(part, prints)| {
            let start = part * part_len;
            let mut sums = vec![0u64; k];
            if profiles.is_hard() {
                let one = mix(rough(1.0));
                profiles.for_each_row(start..start + prints.len(), |s, clusters| {
                    let seen = mix(prints[s - start] ^ one);
                    for &c in clusters {
                        sums[c as usize] = sums[c as usize].wrapping_add(seen);
                    }
                });
            } else {
                for (i, print) in prints.iter().enumerate() {
                    profiles.for_each_entry(start + i, |_, c, p| {
                        sums[c] = sums[c].wrapping_add(mix(print ^ mix(rough(p))));
                    });
                }
            }
            sums
        });
        let sums = sums.reduce_with(|mut sums, others| {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.wrapping_add(other));
            sums
        });
        self.clusters = sums.unwrap_or_else(|| vec![0; k]).into_iter().map(mix).collect();
        for (print, member) in self.members.iter_mut().zip(profiles.members()) {
            let sum = |sum: u64, c: usize| sum.wrapping_add(mix(self.clusters[c]));
            *print = mix(member.clusters.clone().fold(0, sum));
        }
    }

    /// Profiles by what they were and the clusters they are in.
    fn see_clusters(&mut self, profiles: &Profiles) {
        // What a profile sees of each cluster, but for its membership.
        let mut seen = self.clusters.clone();
        for (member, print) in profiles.members().iter().zip(&self.members) {
            seen[member.clusters.clone()].iter_mut().for_each(|c| *c ^= print.rotate_left(17));
        }
        let seen_whole: Vec<u64> = seen.iter().map(|c| mix(c ^ mix(rough(1.0)))).collect();
        // The rotation keeps a print from cancelling against an equal sum.
        let next = |print: u64, sum: u64| mix(print.rotate_left(31) ^ mix(sum));
        self.profiles.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, prints)| {
            let start = chunk * CHUNK;
            if profiles.is_hard() {
                profiles.for_each_row(start..start + prints.len(), |s, clusters| {
                    let add = |sum: u64, &c: &u32| sum.wrapping_add(seen_whole[c as usize]);
                    prints[s - start] = next(prints[s - start], clusters.iter().fold(0, add));
                });
                return;
            }
            for (i, print) in prints.iter_mut().enumerate() {
                let mut sum = 0u64;
                profiles.for_each_entry(start + i, |_, c, p| {
                    sum = sum.wrapping_add(mix(seen[c] ^ mix(rough(p))));
                });
                *print = next(*print, sum);
            }
        });
    }

    fn sort(&mut self) {
        let prints = self.profiles.par_iter().enumerate();
        prints.map(|(s, &print)| (print, s as u32)).collect_into_vec(&mut self.order);
        self.order.par_sort_unstable();
    }

    /// The number of distinct fingerprints, as of the last sort.
    fn n_distinct(&self) -> usize {
        let steps = self.order.par_windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        steps + usize::from(!self.order.is_empty())
    }

    /// The first profile of the tie with the smallest fingerprint, as of the last sort.
    fn first_tied(&self) -> Option<usize> {
        let tied = self.order.windows(2).find(|pair| pair[0].0 == pair[1].0);
        tied.map(|pair| pair[0].1 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, HardMember, Member, SoftMember};
    use crate::linalg::Matrix;
    use crate::rng::{Rng, Stream};
    use crate::run::Run;
    use proptest::prelude::*;

    fn canonical(columns: &[Vec<Option<i64>>], weights: &[f64]) -> Canonical {
        let member = |labels: &Vec<_>| HardMember::from_integers("", labels.clone()).into();
        let ensemble = Ensemble::new(columns.iter().map(member).collect()).unwrap();
        let ensemble = ensemble.with_weights(weights.to_vec()).unwrap();
        Canonical::new(&Profiles::new(&ensemble, &Run::new(0).threads(1)).unwrap())
    }

    /// All that a method can see.
    fn seen(canonical: &Canonical) -> (Vec<f64>, Vec<Vec<Option<usize>>>) {
        let profiles = &canonical.profiles;
        let row = |s| (0..profiles.n_members()).map(|h| profiles.label(s, h)).collect();
        (profiles.weights().to_vec(), (0..profiles.len()).map(row).collect())
    }

    fn shuffled(
        columns: &[Vec<Option<i64>>],
        weights: &[f64],
        rng: &mut Rng,
    ) -> (Vec<Vec<Option<i64>>>, Vec<f64>) {
        let objects = rng.permutation(weights.len());
        let members = rng.permutation(columns.len());
        let column = |&h: &u32| {
            let old = &columns[h as usize];
            let names = rng.permutation(10);
            let rename = |label: i64| i64::from(names[label as usize]);
            objects.iter().map(|&i| old[i as usize].map(rename)).collect()
        };
        let columns = members.iter().map(column).collect();
        (columns, objects.iter().map(|&i| weights[i as usize]).collect())
    }

    /// Full of symmetries: every profile can be carried to every other.
    #[test]
    fn crossing_partitions_are_put_in_one_order_whatever_the_file() {
        let digits = |f: fn(i64) -> i64| (0..27).map(|i| Some(f(i))).collect::<Vec<_>>();
        let columns = [digits(|i| i % 3), digits(|i| i / 3 % 3), digits(|i| i / 9)];
        let weights = [1.0; 27];
        let mut rng = Rng::new(1, Stream::Data);
        let reference = seen(&canonical(&columns, &weights));
        for _ in 0..20 {
            let (columns, weights) = shuffled(&columns, &weights, &mut rng);
            assert_eq!(seen(&canonical(&columns, &weights)), reference);
        }
    }

    /// Memberships are brought to sum 1, and the sum depends on the order of the clusters.
    #[test]
    fn the_last_bits_of_memberships_are_no_information() {
        let mut rng = Rng::new(2, Stream::Data);
        let drawn = Matrix::from_vec(40, 3, (0..120).map(|_| rng.unit()).collect());
        let member = |columns: [usize; 3]| {
            let row = |i: usize| columns.map(|j| drawn[(i, j)]);
            let rows = (0..40).flat_map(|i| row(i).map(|x| x / row(i).iter().sum::<f64>()));
            let names = columns.map(|j| j.to_string()).to_vec();
            SoftMember::new("", Matrix::from_vec(40, 3, rows.collect()), names).unwrap()
        };
        let order = |columns| {
            let ensemble = Ensemble::new(vec![member(columns).into()]).unwrap();
            Canonical::new(&Profiles::new(&ensemble, &Run::new(0)).unwrap()).profile_at
        };
        let (one, other) = (member([0, 1, 2]), member([2, 1, 0]));
        let differs = |i: usize| one.memberships()[(i, 0)] != other.memberships()[(i, 2)];
        assert!((0..40).any(differs), "a case that shows nothing");
        assert_eq!(order([0, 1, 2]), order([2, 1, 0]));
    }

    /// More ties than the budget lets one break, on an ensemble that has no preferred order.
    #[test]
    fn an_id_column_is_put_in_one_order_in_bounded_time() {
        let ids: Vec<Option<i64>> = (0..30_000).map(Some).collect();
        let canonical = canonical(&[ids], &vec![1.0; 30_000]);
        let (_, rows) = seen(&canonical);
        let mut codes: Vec<_> = rows.into_iter().map(|row| row[0]).collect();
        codes.sort_unstable();
        assert_eq!(codes, (0..30_000).map(Some).collect::<Vec<_>>());
    }

    /// Hard and mixed ensembles of several chunks.
    #[test]
    fn the_order_does_not_depend_on_threads() {
        let column = |h: u64| {
            let labels = (0..40_000u64).map(|i| mix(i ^ (h << 40)) % (3 + 90 * h));
            HardMember::from_integers("", labels.map(|c| (c != 2).then_some(c as i64)))
        };
        let drawn = (0..40_000u64).map(|i| (mix(i) % 5) as f64 / 4.0);
        let soft = Matrix::from_vec(40_000, 2, drawn.flat_map(|p| [p, 1.0 - p]).collect());
        let soft = SoftMember::new("", soft, vec!["a".into(), "b".into()]).unwrap();
        let hard: Vec<Member> = (0..6).map(|h| column(h).into()).collect();
        let mixed = hard[..4].iter().cloned().chain([soft.into()]).collect();
        for members in [hard, mixed] {
            let ensemble = Ensemble::new(members).unwrap();
            let profiles = Profiles::new(&ensemble, &Run::new(0)).unwrap();
            assert!(profiles.len() > CHUNK);
            let order = |threads| {
                let run = Run::new(0).threads(threads);
                let canonical = run.install(|| Canonical::new(&profiles));
                (
                    canonical.profiles,
                    canonical.profile_at,
                    canonical.member_at,
                    canonical.cluster_at,
                )
            };
            let one = order(1);
            assert_eq!(order(2), one);
            assert_eq!(order(5), one);
        }
    }

    proptest! {
        #[test]
        fn methods_see_the_same_ensemble_whatever_the_file(
            (n, r) in (1usize..14, 1usize..6),
            labels in proptest::collection::vec(proptest::option::weighted(0.9, 0i64..3), 14 * 6),
            weights in proptest::collection::vec(1u8..3, 14),
            seed: u64,
        ) {
            let columns: Vec<Vec<Option<i64>>> =
                (0..r).map(|h| labels[h * n..(h + 1) * n].to_vec()).collect();
            prop_assume!(columns.iter().all(|c| c.iter().any(Option::is_some)));
            let weights: Vec<f64> = weights[..n].iter().map(|&w| f64::from(w)).collect();
            let mut rng = Rng::new(seed, Stream::Data);
            let (other, other_weights) = shuffled(&columns, &weights, &mut rng);
            let one = seen(&canonical(&columns, &weights));
            prop_assert_eq!(&one, &seen(&canonical(&other, &other_weights)));

            let tripled: Vec<f64> = weights.iter().map(|w| 3.0 * w).collect();
            prop_assert_eq!(one.1, seen(&canonical(&columns, &tripled)).1);
        }
    }
}
