//! How sure the labels of a level are: what the clusterings of all stable levels say of them.
//!
//! Seeds of one level often agree on every object, and then say nothing of single ones. Those of other levels do: an object that
//! leaves its cluster at a finer level, or comes to it with others at a coarser one, is less sure than one that stays with the same
//! objects all the way. So margin and togetherness ([`Confidence`]) are the means over the level itself and the levels that are stable, which
//! all count alike.

use crate::consensus::NO_CLUSTER;
use crate::ensemble::{NO_PROFILE, Profiles};
use crate::error::Result;
use crate::judge::{Confidence, Support};
use crate::run::Run;

/// What was heard of the labels of a level so far.
pub(super) struct Sure {
    labels: Vec<u32>,
    k: usize,
    heard: Vec<Heard>,
}

/// What was heard of an object: sums over levels.
#[derive(Clone, Copy, Default)]
struct Heard {
    levels: u32,
    margin: f32,
    together: f32,
    votes: f32,
}

impl Sure {
    /// Nothing yet of these labels, one per object, of `k` clusters.
    pub(super) fn new(labels: Vec<u32>, k: usize) -> Self {
        let heard = vec![Heard::default(); labels.len()];
        Sure { labels, k, heard }
    }

    /// How many bytes it takes for every object, while it listens.
    pub(super) const COST: u64 = 60;

    /// Listens to the members of a level.
    pub(super) fn listen(
        &mut self,
        profiles: &Profiles,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<()> {
        let parted = profiles.parted(&self.labels, weights);
        run.check()?;
        let support = run.install(|| Support::new(&parted.profiles, &parted.labels, self.k));
        let choices = support.choices(run)?;
        let objects = self.heard.iter_mut().zip(parted.profiles.map());
        for (heard, &s) in objects.filter(|(_, s)| **s != NO_PROFILE) {
            let choice = &choices[s as usize];
            heard.levels += 1;
            heard.margin += choice.margin() as f32;
            heard.together += choice.together as f32;
            heard.votes += choice.votes as f32;
        }
        Ok(())
    }

    /// How sure the label of every object is; 0 without one.
    pub(super) fn confidence(self, weights: Option<&[f64]>) -> Vec<f64> {
        let mut sizes = vec![0.0; self.k];
        for (i, &label) in self.labels.iter().enumerate().filter(|(_, label)| **label != NO_CLUSTER)
        {
            sizes[label as usize] += weights.map_or(1.0, |weights| weights[i]);
        }
        let confidence = Confidence::of_sizes(&sizes);
        let of = |(&label, heard): (&u32, &Heard)| {
            let mean = |sum: f32| f64::from(sum) / f64::from(heard.levels.max(1));
            confidence.told(label, mean(heard.margin), mean(heard.together), f64::from(heard.votes))
        };
        self.labels.iter().zip(&self.heard).map(of).collect()
    }
}
