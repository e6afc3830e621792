//! Which profile every object has.

use std::sync::{Arc, OnceLock};

use super::NO_PROFILE;

/// The profile of every object, or [`NO_PROFILE`]. Where profiles were put in another order it is
/// written down when first asked for: there may be many objects, and few methods look at them.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    /// As it was before profiles moved.
    given: Arc<Vec<u32>>,
    /// Where each of the profiles then stands now, if they moved.
    places: Option<Vec<u32>>,
    moved: OnceLock<Vec<u32>>,
}

impl Objects {
    pub(super) fn len(&self) -> usize {
        self.given.len()
    }

    pub(super) fn as_slice(&self) -> &[u32] {
        let Some(places) = &self.places else { return &self.given };
        // Not in parallel: a thread that waits for others might be given work that asks for this.
        self.moved.get_or_init(|| self.given.iter().map(|&s| place(places, s)).collect())
    }

    /// The same objects after profile `s` has moved to `places[s]`.
    pub(super) fn moved(&self, places: Vec<u32>) -> Self {
        let places = match &self.places {
            Some(before) => before.iter().map(|&s| place(&places, s)).collect(),
            None => places,
        };
        Objects { given: self.given.clone(), places: Some(places), moved: OnceLock::new() }
    }
}

fn place(places: &[u32], s: u32) -> u32 {
    places.get(s as usize).copied().unwrap_or(NO_PROFILE)
}

impl From<Vec<u32>> for Objects {
    fn from(map: Vec<u32>) -> Self {
        Objects { given: Arc::new(map), places: None, moved: OnceLock::new() }
    }
}

impl PartialEq for Objects {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}
