//! Profiles in chunks, for partitions that must be able to part equal objects.
//!
//! A balanced partition is one of objects: if two of three parts' worth of objects are equal, some
//! of them must part. So a heavy profile becomes several vertices of limited weight. Chunks of one
//! hundredth of a part are fine enough for any tolerance in use, and there are at most $u + 100 k$;
//! with chunks of single objects it would be the graph of all objects.

use crate::ensemble::profiles::{NO_PROFILE, Profiles};
use crate::rng::Rng;

/// Shares of a part that a chunk may weigh.
const PER_PART: f64 = 0.01;

/// Profiles cut into chunks of objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunks {
    /// The profile of every chunk, rising.
    pub(crate) profiles: Vec<u32>,
    /// The weight of every chunk.
    pub(crate) weights: Vec<f64>,
    /// How many objects every chunk has; 1 for a profile that came without objects.
    sizes: Vec<u32>,
}

impl Chunks {
    /// Cuts `profiles` for a partition in `k` parts. The objects of a profile share its weight
    /// evenly, and one object is never cut.
    pub(crate) fn new(profiles: &Profiles, k: usize) -> Self {
        let mut counts = vec![0u32; profiles.len()];
        for &s in profiles.map().iter().filter(|&&s| s != NO_PROFILE) {
            counts[s as usize] += 1;
        }
        let limit = PER_PART * profiles.total_weight() / k as f64;
        let mut chunks = Chunks { profiles: vec![], weights: vec![], sizes: vec![] };
        for (s, (&count, &weight)) in counts.iter().zip(profiles.weights()).enumerate() {
            let count = count.max(1);
            let each = weight / f64::from(count);
            // A little more, lest a limit that is just met be missed by rounding.
            let most = ((limit / each * (1.0 + 1e-9)) as u32).max(1);
            let parts = count.div_ceil(most);
            for i in 0..parts {
                let size = count / parts + u32::from(i < count % parts);
                chunks.profiles.push(s as u32);
                chunks.weights.push(each * f64::from(size));
                chunks.sizes.push(size);
            }
        }
        chunks
    }

    /// At most how many chunks there are of `u` profiles of `n` objects.
    pub(crate) fn most(n: usize, u: usize, k: usize) -> usize {
        n.max(u).min(u + k.saturating_mul((1.0 / PER_PART).ceil() as usize))
    }

    /// The number of chunks.
    pub(crate) fn len(&self) -> usize {
        self.profiles.len()
    }

    /// From the parts of the chunks, the heaviest part of every profile and, if some profile is in
    /// several parts, the part of every *object*, `nowhere` for those without profile. Which objects
    /// of a profile go where is drawn from `rng`: they are equal, so nothing else may tell.
    pub(crate) fn hand_out(
        &self,
        profiles: &Profiles,
        parts: &[u32],
        nowhere: u32,
        rng: &mut Rng,
    ) -> (Vec<u32>, Option<Vec<u32>>) {
        let mut labels = Vec::with_capacity(profiles.len());
        let mut parted = vec![false; profiles.len()];
        let mut first = 0;
        for s in 0..profiles.len() {
            let end =
                first + self.profiles[first..].iter().take_while(|&&p| p as usize == s).count();
            let own = &parts[first..end];
            parted[s] = own.iter().any(|&part| part != own[0]);
            let weight_of = |part: u32| -> u32 {
                own.iter()
                    .zip(&self.sizes[first..end])
                    .filter(|(p, _)| **p == part)
                    .map(|(_, n)| n)
                    .sum()
            };
            let mut heaviest = own[0];
            if parted[s] {
                for &part in own {
                    if weight_of(part) > weight_of(heaviest) {
                        heaviest = part;
                    }
                }
            }
            labels.push(heaviest);
            first = end;
        }
        if !parted.contains(&true) {
            return (labels, None);
        }
        let mut objects = vec![Vec::new(); profiles.len()];
        let mut of_objects = vec![nowhere; profiles.n_objects()];
        for (i, &s) in profiles.map().iter().enumerate() {
            if s == NO_PROFILE {
                continue;
            }
            if parted[s as usize] {
                objects[s as usize].push(i as u32);
            } else {
                of_objects[i] = labels[s as usize];
            }
        }
        let mut taken = vec![0; profiles.len()];
        for s in (0..profiles.len()).filter(|&s| parted[s]) {
            rng.shuffle(&mut objects[s]);
        }
        for ((&s, &size), &part) in self.profiles.iter().zip(&self.sizes).zip(parts) {
            let s = s as usize;
            if parted[s] {
                let next = taken[s] + size as usize;
                for &i in &objects[s][taken[s]..next] {
                    of_objects[i as usize] = part;
                }
                taken[s] = next;
            }
        }
        (labels, Some(of_objects))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::testing::{Kinds, ensembles, hard_ensemble, profiles};

    #[test]
    fn a_heavy_profile_becomes_chunks_of_a_hundredth_of_a_part() {
        let labels: [i64; 1000] = std::array::from_fn(|i| i64::from(i >= 900));
        let profiles = profiles(&hard_ensemble(&[labels]));
        let chunks = Chunks::new(&profiles, 2);
        // A part is 500 objects, a chunk at most 5.
        assert_eq!(chunks.len(), 200);
        assert!(chunks.weights.iter().all(|&w| w == 5.0));
        assert!(chunks.len() <= Chunks::most(1000, 2, 2));
    }

    proptest! {
        /// Every object gets the part of a chunk of its profile, in the numbers of the chunks.
        #[test]
        fn objects_are_handed_out_as_chunks_say(
            ensemble in ensembles(Kinds::ALL, 30, 2), k in 1..4usize, seed: u64
        ) {
            let profiles = profiles(&ensemble);
            let chunks = Chunks::new(&profiles, k);
            prop_assert!(chunks.len() <= Chunks::most(profiles.n_objects(), profiles.len(), k));
            prop_assert!(
                (chunks.weights.iter().sum::<f64>() - profiles.total_weight()).abs() < 1e-9
            );
            let mut rng = Rng::new(seed, Stream::Data);
            let parts: Vec<u32> = (0..chunks.len()).map(|_| rng.below(k) as u32).collect();
            let (labels, parted) = chunks.hand_out(&profiles, &parts, u32::MAX, &mut rng);
            let of_objects = parted.unwrap_or_else(|| {
                profiles.expand(&labels).into_iter().map(|l| l.unwrap_or(u32::MAX)).collect()
            });
            for s in 0..profiles.len() {
                let sizes: Vec<u32> = (0..k as u32)
                    .map(|p| {
                        let own = |c: &usize| chunks.profiles[*c] == s as u32 && parts[*c] == p;
                        (0..chunks.len()).filter(own).map(|c| chunks.sizes[c]).sum()
                    })
                    .collect();
                for (p, &size) in sizes.iter().enumerate() {
                    let given = of_objects
                        .iter()
                        .zip(profiles.map())
                        .filter(|(l, m)| **l == p as u32 && **m == s as u32)
                        .count();
                    prop_assert_eq!(given, size as usize);
                }
                prop_assert_eq!(sizes[labels[s] as usize], *sizes.iter().max().unwrap());
            }
            for (label, &s) in of_objects.iter().zip(profiles.map()) {
                prop_assert_eq!(*label == u32::MAX, s == NO_PROFILE);
            }
        }
    }
}
