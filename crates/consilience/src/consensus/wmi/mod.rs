//! w-MI, f-MI and h-MI: the clustering that shares most information with the members.
//!
//! Y. Gao, S. Gu, J. Li, Z. Liao. *A Weighted Consensus Function Based on Information-theoretic
//! Principles to Combine "Soft" Clusterings.* IEEE GrC 2007. Equation numbers are the paper's.
//!
//! Among the hard clusterings $C$ into $k$ clusters, look for the one with the largest
//!
//! $$ F(C) = \sum_{q=1}^r \omega_q I(C; C_q) \tag{11} $$
//!
//! with $\omega_q = \mathrm{div}(q)$, the mean variation of information of member $q$ to the others
//! (10), for **w-MI**; $\omega_q = 1$ for **f-MI**; and $\omega_q = 1$ on memberships hardened to
//! labels for **h-MI**. Start at random; take each object out of its cluster and put it where (15)
//! $F$ becomes largest; repeat until nothing moves. The best of three starts counts.
//!
//! Weighting by diversity rewards what is unlike the rest, noise included: w-MI is better than f-MI
//! on some ensembles and worse on others.
//!
//! # Where we depart from the paper
//!
//! * *Printing errors.* (12) has a sum over $j$ outside a divergence that already is one; (14) holds
//!   with the cluster *without* the object in its second line; the criterion for the best start is
//!   (11), not (10).
//! * *Whole profiles move.* $F$ is convex in the share of a profile that lies in a cluster, so some
//!   best clustering splits none, and what no move of a profile improves, no move of an object
//!   does. The reverse is not true: it is the stronger search.
//! * *Starts on a sample.* With more than 5000 profiles the three starts search on a sample of so
//!   many points, drawn by weight, and only the best of them goes on with all profiles, from where
//!   the sample's clusters put them (parameter `sample`; 0 starts at random on all, as printed).
//!   `objectives` are then those of the sample.
//! * *Order.* Every pass visits the profiles in a new random order. A profile moves only if $F$ gains
//!   more than rounding could feign.
//! * *Equal members, one member.* All diversities are 0 and so would $F$ be: weights are then 1.
//! * *Missing labels* (the paper has none): a member tells nothing about objects it does not label,
//!   neither in $F$ nor in the diversities.
//!
//! An empty cluster costs nothing and is refilled by the first profile that costs something
//! elsewhere, so exactly $k$ clusters come out, unless fewer can be told apart.
//!
//! # Cost
//!
//! Time $O(u r k)$ a pass for hard members, mostly without a logarithm where all weigh the same, and
//! $O(u K k)$ for soft ones; usually three to thirty passes. Diversities $O(u r^2)$. Visits that cannot
//! change anything are left out or told by bounds; every start goes the same way, move by move, as if
//! all costs were computed.

mod drift;
mod glance;
mod reassign;
mod sample;
mod screen;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Convergence, Stop, Value};
use crate::consensus::params::{at_least, params, words};
use crate::consensus::settings::Settings;
use crate::ensemble::Profiles;
use crate::error::Result;
use crate::metrics::member_diversity;
use crate::rng::{Rng, Stream};
use crate::run::Run;
use reassign::Reassignment;
use sample::Sample;

const REFERENCE: &str = "Y. Gao, S. Gu, J. Li, Z. Liao. A Weighted Consensus Function Based on \
                         Information-theoretic Principles to Combine Soft Clusterings. GrC 2007.";

const fn info(
    name: &'static str,
    title: &'static str,
    soft: OnSoft,
    time: &'static str,
    build: fn(Option<usize>, &Settings) -> Result<Box<dyn ConsensusMethod>>,
) -> MethodInfo {
    MethodInfo {
        name,
        title,
        reference: REFERENCE,
        chooses_k: ChoosesK::Never,
        soft,
        missing: Some("a member tells nothing about objects it does not label"),
        takes_start: true,
        offers: Offers::LABELS,
        parameters: Wmi::PARAMETERS,
        time,
        memory: "O(u + K k)",
        build,
    }
}

/// What there is to know about w-MI.
pub(super) static W_MI: MethodInfo = info(
    "w-mi",
    "mutual information with the members, each weighted by its diversity",
    OnSoft::Uses,
    "O(t u K k + u K^2) soft, O(t u r k + u r^2) hard",
    |k, settings| Wmi::of(WmiVariant::Weighted, k, settings),
);

/// What there is to know about f-MI.
pub(super) static F_MI: MethodInfo = info(
    "f-mi",
    "mutual information with the members, memberships as they are",
    OnSoft::Uses,
    "O(t u K k + u K^2) soft, O(t u r k + u r^2) hard",
    |k, settings| Wmi::of(WmiVariant::Fuzzy, k, settings),
);

/// What there is to know about h-MI.
pub(super) static H_MI: MethodInfo = info(
    "h-mi",
    "mutual information with the members, hard labels",
    OnSoft::Hardens,
    "O(t u r k + u r^2)",
    |k, settings| Wmi::of(WmiVariant::Hard, k, settings),
);

/// Which of the three methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WmiVariant {
    /// w-MI: members weighted by their diversity.
    Weighted,
    /// f-MI: members as they are, soft ones by their memberships.
    Fuzzy,
    /// h-MI: members as hard labels.
    Hard,
}

impl WmiVariant {
    fn info(self) -> &'static MethodInfo {
        match self {
            WmiVariant::Weighted => &W_MI,
            WmiVariant::Fuzzy => &F_MI,
            WmiVariant::Hard => &H_MI,
        }
    }
}

words! {
    /// The order in which a pass visits the profiles.
    pub enum WmiOrder {
        /// A new random order every pass.
        Random = "random",
        /// As they stand.
        Index = "index",
    }
}

params! {
    /// [w-MI, f-MI and h-MI](self): mutual information with the members.
    pub struct Wmi(k; variant: WmiVariant): |own| { own.variant.info() } {
        /// Random starts; the one that ends with the largest objective counts.
        restarts: usize = 3, at_least(1.0);
        /// Passes over all objects after which to stop even if some still move.
        max_iter: usize = 100, at_least(1.0);
        /// The order in which a pass visits the objects.
        order: WmiOrder = WmiOrder::Random;
        /// With more distinct objects than this, starts are settled on so many; 0: on all.
        sample: usize = 5000, at_least(0.0);
    }
}

/// In so many parts a pass is accounted for.
const EPOCHS: usize = 32;

impl ConsensusMethod for Wmi {
    fn cost(&self, shape: &Shape) -> u64 {
        let rows = shape.total_clusters + shape.r;
        // Masses and what is kept of them; what changed; labels, order and what was last known of a
        // profile.
        let per_cluster = 32 * rows + 16 * (drift::WINDOW + 1);
        let per_restart = per_cluster * self.k.next_multiple_of(4) + 48 * shape.u;
        let overlaps = 8 * shape.total_clusters * shape.total_clusters;
        (self.restarts * per_restart + overlaps) as u64
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        run.tick("diversity of members", 0, None)?;
        let diversity = member_diversity(profiles);
        let omega = self.weights(&diversity);
        let sample = match start {
            None if self.sample > 0 => Sample::new(profiles, self.sample, self.k),
            _ => None,
        };
        let (End { labels, convergence }, objectives) = match sample {
            None => self.best_of(profiles, &omega, start, run)?,
            Some(sample) => {
                let (settled, objectives) = self.best_of(&sample.profiles, &omega, None, run)?;
                let start = sample.extend(profiles, &omega, &settled.labels, self.k);
                (self.best_of(profiles, &omega, Some(&start), run)?.0, objectives)
            }
        };
        let mut consensus = Consensus::from_labels(labels, self.k);
        consensus.convergence = convergence;
        consensus.diagnostics.push("diversity", Value::Members(diversity));
        consensus.diagnostics.push("weights", Value::Members(omega));
        consensus.diagnostics.push("objectives", Value::List(objectives));
        Ok(consensus)
    }
}

/// Where one start ended.
struct End {
    labels: Vec<u32>,
    convergence: Convergence,
}

impl End {
    fn objective(&self) -> f64 {
        self.convergence.objective.expect("there is an objective")
    }
}

impl Wmi {
    /// $\omega$.
    fn weights(&self, diversity: &[f64]) -> Vec<f64> {
        if self.variant == WmiVariant::Weighted && diversity.iter().any(|&d| d >= 1e-12) {
            diversity.to_vec()
        } else {
            vec![1.0; diversity.len()]
        }
    }

    /// The best end of all starts, and the objectives of all.
    fn best_of(
        &self,
        profiles: &Profiles,
        omega: &[f64],
        start: Option<&[u32]>,
        run: &Run,
    ) -> Result<(End, Vec<f64>)> {
        let mut ends = self.search(profiles, omega, start, run)?;
        let objectives: Vec<f64> = ends.iter().map(End::objective).collect();
        // Starts that end alike differ by rounding; the first of them counts.
        let best = objectives.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let alike = best - 1e-12 * omega.iter().sum::<f64>();
        let winner = objectives.iter().position(|&objective| objective >= alike);
        Ok((ends.swap_remove(winner.expect("the best is among them")), objectives))
    }

    /// Reassigns from all starts, in parallel: a pass of one, then a pass of the next, so that three
    /// starts keep two threads busy to the end.
    fn search(
        &self,
        profiles: &Profiles,
        omega: &[f64],
        start: Option<&[u32]>,
        run: &Run,
    ) -> Result<Vec<End>> {
        // A given start leaves nothing to draw but the order: once is enough.
        let restarts = if start.is_some() { 1 } else { self.restarts };
        let passes = AtomicU64::new(0);
        let tick = || run.tick("reassigning", passes.fetch_add(1, Ordering::Relaxed) + 1, None);
        let ends: Vec<OnceLock<Result<End>>> = (0..restarts).map(|_| OnceLock::new()).collect();
        rayon::scope_fifo(|scope| {
            for (restart, end) in ends.iter().enumerate() {
                let tick = &tick;
                scope.spawn_fifo(move |scope| {
                    let mut rng = run.rng(Stream::Restart(restart as u64));
                    let k = self.k;
                    let labels = match start {
                        Some(labels) => labels.iter().map(|label| label % k as u32).collect(),
                        None => (0..profiles.len()).map(|_| rng.below(k) as u32).collect(),
                    };
                    let mut reassignment = Reassignment::new(profiles, omega, k, labels);
                    if start.is_some() {
                        reassignment.expect_few_moves();
                    }
                    self.go_on(Search::new(reassignment, rng), end, scope, run, tick);
                });
            }
        });
        ends.into_iter().map(|end| end.into_inner().expect("every start ends")).collect()
    }

    /// One pass, and the others later.
    fn go_on<'a>(
        &'a self,
        mut search: Search<'a>,
        end: &'a OnceLock<Result<End>>,
        scope: &rayon::ScopeFifo<'a>,
        run: &'a Run,
        tick: &'a (impl Fn() -> Result<()> + Sync),
    ) {
        let done = search.pass(self, run).and_then(|done| tick().map(|()| done));
        match done {
            Ok(false) => {
                scope.spawn_fifo(move |scope| self.go_on(search, end, scope, run, tick));
            }
            done => {
                let told = end.set(done.map(|_| search.into_end()));
                debug_assert!(told.is_ok(), "a start ends once");
            }
        }
    }
}

/// One start on its way.
struct Search<'a> {
    reassignment: Reassignment<'a>,
    rng: Rng,
    order: Vec<u32>,
    trace: Vec<f64>,
    stop: Stop,
}

impl<'a> Search<'a> {
    fn new(reassignment: Reassignment<'a>, rng: Rng) -> Self {
        let order = (0..reassignment.labels().len() as u32).collect();
        Search { reassignment, rng, order, trace: Vec::new(), stop: Stop::MaxIterations }
    }

    /// Visits all profiles; whether it was the last time.
    fn pass(&mut self, params: &Wmi, run: &Run) -> Result<bool> {
        // Visits between two looks at the cancel flag: some ten million additions.
        let stride = (10_000_000 / self.reassignment.work().max(1)).max(1);
        if params.order == WmiOrder::Random {
            self.rng.shuffle(&mut self.order);
        }
        let mut moved = 0;
        for epoch in self.order.chunks(self.order.len().div_ceil(EPOCHS).max(1)) {
            self.reassignment.begin_epoch();
            for part in epoch.chunks(stride) {
                run.check()?;
                moved += self.reassignment.visit(part);
            }
        }
        self.reassignment.forget_rounding();
        self.trace.push(self.reassignment.objective());
        if moved == 0 {
            self.stop = Stop::Converged;
        } else {
            self.reassignment.after_pass(moved);
        }
        Ok(moved == 0 || self.trace.len() == params.max_iter)
    }

    fn into_end(self) -> End {
        let Search { reassignment, trace, stop, .. } = self;
        let convergence =
            Convergence { objective: trace.last().copied(), iterations: trace.len(), trace, stop };
        End { labels: reassignment.into_labels(), convergence }
    }
}

#[cfg(test)]
mod tests;
