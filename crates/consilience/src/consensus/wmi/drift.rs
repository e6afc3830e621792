//! Which profiles cannot want to move, by how little has changed since they were last asked.
//!
//! At a visit a profile learns its *lead*: by how much a unit of its weight is better off where it is
//! than in the next best cluster. Every move after that lowers the cost of joining a cluster, and
//! raises the cost of staying in one, by no more than can be told from the move alone. While these
//! falls and rises add up to less than the lead, a visit would change nothing and is left out. This
//! is exact: the search goes the same way, move by move, as if all were visited.

use crate::linalg::xlogx_branchless;

/// So many epochs are remembered; who was last visited earlier is visited again.
pub(super) const WINDOW: usize = 256;
type Window = [f64; WINDOW];

/// Bounds on how costs have changed, and what every profile last knew.
pub(super) struct Drift {
    /// Epochs begun.
    epoch: u32,
    /// Per cluster how much joining it has become cheaper at most, for a unit of weight, since the
    /// beginning, and what that was when the epochs of the window began.
    falls: Vec<(f64, Window)>,
    /// The same of how much staying has become dearer at most.
    rises: Vec<(f64, Window)>,
    /// The largest fall of any cluster since the beginning of every epoch.
    fall: Box<Window>,
    /// The lead, rounded down, and the epoch of every profile's last visit.
    known: Vec<(f32, u32)>,
}

/// No lead is known: the profile has to be visited.
const UNKNOWN: (f32, u32) = (f32::NEG_INFINITY, 0);

impl Drift {
    pub(super) fn new(k: usize, profiles: usize) -> Self {
        let column = vec![(0.0, [0.0; WINDOW]); k];
        Drift {
            epoch: 0,
            falls: column.clone(),
            rises: column,
            fall: Box::new([0.0; WINDOW]),
            known: vec![UNKNOWN; profiles],
        }
    }

    /// Begins a new epoch. Falls and rises count from the beginning of the epoch of a visit, so
    /// more epochs waste less.
    pub(super) fn begin_epoch(&mut self) {
        self.epoch += 1;
        let slot = self.epoch as usize % WINDOW;
        for (now, then) in self.falls.iter_mut().chain(&mut self.rises) {
            then[slot] = *now;
        }
        self.fall[slot] = 0.0;
    }

    /// Notes what joining `to` and staying in `from` have changed by at most: for each the
    /// largest fall in the cost of joining and the largest rise in the cost of staying.
    #[inline(always)]
    pub(super) fn moved(&mut self, from: usize, to: usize, by: Change) {
        self.rises[to].0 += by.rise_to;
        self.rises[from].0 += by.rise_from;
        for (c, fall) in [(to, by.fall_to), (from, by.fall_from)] {
            let (now, then) = &mut self.falls[c];
            *now += fall;
            for (most, then) in self.fall.iter_mut().zip(&*then) {
                let fall = *now - then;
                *most = if fall > *most { fall } else { *most };
            }
        }
    }

    /// Notes that profile `s` was visited.
    #[inline(always)]
    pub(super) fn visited(&mut self, s: usize, lead: f64) {
        // Shortened by more than rounding could lengthen it.
        self.known[s] = ((lead * (1.0 - 1e-6)) as f32, self.epoch);
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
        let slot = epoch as usize % WINDOW;
        let (now, then) = &self.rises[own];
        let changed = now - then[slot] + self.fall[slot];
        lead > 0.0 && changed < f64::from(lead) && ((self.epoch - epoch) as usize) < WINDOW
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

/// What a cluster of mass $t$ that gains $v$ asks more of somebody of mass $\delta$ who joins,
/// $\varphi_{t + v}(\delta) - \varphi_t(\delta)$ with $\varphi_t(\delta) = (f(t + \delta) - f(t)) / \delta$.
pub(super) fn joining(t: f64, v: f64, delta: f64) -> f64 {
    let f = xlogx_branchless;
    ((f(t + v + delta) - f(t + v)) - (f(t + delta) - f(t))) / delta
}

/// What a cluster of mass $t$ that loses $v$ asks more of who stays: $\psi_t(\delta) - \psi_{t -
/// v}(\delta)$ with $\psi_t(\delta) = (f(t) - f(t - \delta)) / \delta$, at the largest $\delta$ there can
/// be beside $v$, at most `heavy`.
pub(super) fn staying(t: f64, v: f64, heavy: f64) -> f64 {
    let f = xlogx_branchless;
    let left = t - v;
    // Less than this beside $v$ is what rounding left.
    if left <= 1e-9 * v {
        return 0.0;
    }
    let delta = heavy.min(left);
    ((f(t) - f(t - delta)) - (f(left) - f(left - delta))) / delta
}
