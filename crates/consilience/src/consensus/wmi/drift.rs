//! Which profiles cannot want to move, by how little has changed since they were last asked.
//!
//! At a visit a profile learns its *lead*: by how much a unit of its weight is better off where it is
//! than in the next best cluster. Every move after that lowers the cost of joining a cluster, and
//! raises the cost of staying in one, by no more than can be told from the move alone. While these
//! falls and rises add up to less than the lead, a visit would change nothing and is left out. This
//! is exact: the search goes the same way, move by move, as if all were visited.

/// Bounds on how costs have changed, and what every profile last knew.
pub(super) struct Drift {
    k: usize,
    /// Per cluster: how much joining has become cheaper at most, then how much staying has become
    /// dearer at most, for a unit of weight, since the beginning; then the largest falls of all moves,
    /// added up, which is a bound for every cluster and quickly compared.
    now: Vec<f64>,
    /// `now` at the beginning of every epoch.
    epochs: Vec<f64>,
    /// The lead and the epoch of every profile's last visit.
    known: Vec<(f64, u32)>,
}

/// No lead is known: the profile has to be visited.
const UNKNOWN: (f64, u32) = (f64::NEG_INFINITY, 0);

impl Drift {
    pub(super) fn new(k: usize, profiles: usize) -> Self {
        let now = vec![0.0; 2 * k + 1];
        Drift { k, epochs: now.clone(), now, known: vec![UNKNOWN; profiles] }
    }

    /// Begins a new epoch. Falls and rises count from the beginning of the epoch of a visit, so
    /// more epochs waste less.
    pub(super) fn begin_epoch(&mut self) {
        self.epochs.extend_from_slice(&self.now);
    }

    /// Notes what joining `to` and staying in `from` have changed by at most: for each the
    /// largest fall in the cost of joining and the largest rise in the cost of staying.
    pub(super) fn moved(&mut self, from: usize, to: usize, by: Change) {
        let (falls, rises) = self.now.split_at_mut(self.k);
        falls[to] += by.fall_to;
        falls[from] += by.fall_from;
        rises[to] += by.rise_to;
        rises[from] += by.rise_from;
        rises[self.k] += by.fall_to.max(by.fall_from);
    }

    /// Notes that profile `s` was visited.
    #[inline(always)]
    pub(super) fn visited(&mut self, s: usize, lead: f64) {
        self.known[s] = (lead, (self.epochs.len() / self.now.len() - 1) as u32);
    }

    /// Notes that what was known of profile `s` is void.
    #[inline(always)]
    pub(super) fn forget(&mut self, s: usize) {
        self.known[s] = UNKNOWN;
    }

    /// Whether profile `s`, in cluster `own`, cannot want to move.
    #[inline(always)]
    pub(super) fn settles(&self, s: usize, own: usize) -> bool {
        let (lead, epoch) = self.known[s];
        if lead <= 0.0 {
            return false;
        }
        let then = &self.epochs[epoch as usize * self.now.len()..][..self.now.len()];
        let rise = self.now[self.k + own] - then[self.k + own];
        let all = 2 * self.k;
        if rise + (self.now[all] - then[all]) < lead {
            return true;
        }
        let mut fall = 0.0f64;
        for (now, then) in self.now[..self.k].iter().zip(&then[..self.k]) {
            fall = fall.max(now - then);
        }
        rise + fall < lead
    }
}

/// What one move changes at most, for a unit of weight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    pub(super) fall_to: f64,
    pub(super) fall_from: f64,
    pub(super) rise_to: f64,
    pub(super) rise_from: f64,
}
