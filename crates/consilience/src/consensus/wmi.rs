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
//! * *Starts on a sample*, as for all methods here, go on with all profiles from where the sample's
//!   clusters put them (`sample=0` starts at random on all, as printed).
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
//! Time $O(u r k)$ per pass for hard members and $O(u K k)$ for soft ones; usually three to thirty passes.
//! Diversities $O(u r^2)$. Most visits that cannot change anything are told by a bound, without a
//! logarithm; every start goes the same way, move by move, as if all costs were computed.

// A visit is compiled for the machine's wide registers only where it is inlined into the closure that
// `vectorised` runs.
#![allow(clippy::inline_always)]

use crate::consensus::driver::{Effort, SAMPLE, STATES_HELD, Solver, Step, sample, solve};
use crate::consensus::method::{ChoosesK, ConsensusMethod, MethodInfo, Offers, OnSoft, Shape};
use crate::consensus::outcome::{Consensus, Value};
use crate::consensus::params::{at_least, params, words};
use crate::consensus::settings::Settings;
use crate::ensemble::{Profiles, tally};
use crate::error::Result;
use crate::linalg::lanes::{LANES, Lane, add_scaled};
use crate::linalg::{Matrix, ln_branchless, vectorised, xlogx_branchless};
use crate::math;
use crate::metrics::member_diversity;
use crate::rng::{Rng, Stream};
use crate::run::Run;

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
        edges: false,
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
        /// With more distinct objects than this, starts are settled on a sample of so many; 0: on all.
        sample: usize = SAMPLE, at_least(0.0);
    }
}

/// Differences of $F$, relative to $\sum_q \omega_q$, that count as none: above what rounding makes
/// of sums of some hundred terms, below any difference that matters.
const MARGIN: f64 = 1e-12;

/// A pass that moves no more than one in so many profiles moves few: bounds pay from then on.
const FEW: usize = 4;

/// Visits between two looks at the cancel flag.
const BETWEEN_CHECKS: usize = 4096;

impl ConsensusMethod for Wmi {
    fn cost(&self, shape: &Shape) -> u64 {
        let rows = (shape.total_clusters + shape.r) as u64;
        // Masses, what is kept of them and two bounds; labels and their order.
        let a_start = 32 * rows * self.k.next_multiple_of(LANES) as u64 + 8 * shape.u as u64;
        STATES_HELD * a_start + 8 * (shape.total_clusters * shape.total_clusters) as u64
    }

    fn solve(&self, profiles: &Profiles, start: Option<&[u32]>, run: &Run) -> Result<Consensus> {
        let p = self;
        run.tick("diversity of members", 0, None)?;
        let diversity = member_diversity(profiles);
        let omega = self.weights(&diversity);
        let some = if start.is_some() { None } else { sample(profiles, p.k, p.sample) };
        let on = |profiles| Problem { profiles, params: p, omega: &omega, start };
        let of_some = some.as_ref().map(on);
        // A given start leaves nothing to draw but the order: once is enough.
        let restarts = if start.is_some() { 1 } else { p.restarts };
        let effort = Effort::new(restarts, p.max_iter);
        let mut consensus = solve(&on(profiles), of_some.as_ref().zip(some.as_ref()), effort, run)?;
        consensus.diagnostics.push("diversity", Value::Members(diversity));
        consensus.diagnostics.push("weights", Value::Members(omega));
        Ok(consensus)
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
}

/// The search among the clusterings of certain profiles.
struct Problem<'a> {
    profiles: &'a Profiles,
    params: &'a Wmi,
    omega: &'a [f64],
    start: Option<&'a [u32]>,
}

/// One start on its way.
struct Search<'a> {
    reassignment: Reassignment<'a>,
    rng: Rng,
    order: Vec<u32>,
}

impl<'a> Solver for Problem<'a> {
    type State = Search<'a>;
    const STAGE: &'static str = "reassigning";

    fn start(&self, restart: usize, run: &Run) -> Result<Search<'a>> {
        let mut rng = run.rng(Stream::Restart(restart as u64));
        if let Some(labels) = self.start {
            return Ok(self.search_from(labels.to_vec(), rng));
        }
        let labels = (0..self.profiles.len()).map(|_| rng.below(self.params.k) as u32).collect();
        Ok(self.search(labels, rng))
    }

    /// Takes every profile in turn out of its cluster and puts it where $F$ becomes largest.
    fn step(&self, search: &mut Search<'a>, run: &Run) -> Result<Step> {
        let Search { reassignment, rng, order } = search;
        if self.params.order == WmiOrder::Random {
            rng.shuffle(order);
        }
        let mut moved = Moved::default();
        for part in order.chunks(BETWEEN_CHECKS) {
            run.check()?;
            reassignment.visit(part, &mut moved);
        }
        reassignment.forget_rounding();
        if moved.profiles <= order.len() / FEW {
            reassignment.expect_few_moves();
        }
        let share = moved.weight / self.profiles.total_weight();
        Ok(Step::of_labels(reassignment.objective(), share))
    }

    fn score(&self, _: &Search<'a>, objective: f64) -> f64 {
        objective
    }

    /// Of what $F$ could be, not of what it is: where the members tell nothing, $F$ is all rounding.
    fn margin(&self, _: f64) -> f64 {
        MARGIN * self.omega.iter().sum::<f64>()
    }

    /// Each goes where a profile of no weight would cost least,
    ///
    /// $$ \sum_q \omega_q \Bigl( \ln n^q_c - \sum_{j \in q} p_j \ln T_{cj} \Bigr), $$
    ///
    /// $T$ and $n$ being the sample's, and half a point more.
    fn extend(&self, some: &Self, search: Search<'a>, run: &Run) -> Result<Search<'a>> {
        let costs = some.costs_of_joining(&search.reassignment.labels);
        let of_chunks = self.profiles.fold_spread(&costs, |labels: &mut Vec<u32>, _, costs| {
            let nearer = |best: usize, c: usize| if costs[c] < costs[best] { c } else { best };
            labels.push((1..costs.len()).fold(0, nearer) as u32);
        });
        Ok(self.search_from(of_chunks.concat(), run.rng(Stream::Order)))
    }

    fn finish(&self, search: Search<'a>, _: &Run) -> Result<Consensus> {
        Ok(Consensus::from_labels(search.reassignment.labels, self.params.k))
    }
}

impl<'a> Problem<'a> {
    fn search(&self, labels: Vec<u32>, rng: Rng) -> Search<'a> {
        let order = (0..labels.len() as u32).collect();
        let reassignment = Reassignment::new(self.profiles, self.omega, self.params.k, labels);
        Search { reassignment, rng, order }
    }

    /// From labels that are mostly right.
    fn search_from(&self, labels: Vec<u32>, rng: Rng) -> Search<'a> {
        let mut search = self.search(labels, rng);
        search.reassignment.expect_few_moves();
        search
    }

    /// $\omega_q (\ln n^q_c - \ln T_{cj})$, a row for every cluster $j$ of a member and a column for
    /// every $c$.
    fn costs_of_joining(&self, labels: &[u32]) -> Matrix {
        /// Of a cluster that nobody is in, which would cost nothing.
        const EMPTY: f64 = 1e30;
        let (profiles, k) = (self.profiles, self.params.k);
        // Half a point of a sample.
        let half = 0.5 * profiles.total_weight() / profiles.len() as f64;
        let mut costs = Matrix::zeros(profiles.n_clusters(), k);
        let mut used = vec![false; k];
        for (s, &label) in labels.iter().enumerate() {
            let (c, weight) = (label as usize, profiles.weights()[s]);
            used[c] = true;
            profiles.for_each_entry(s, |_, j, p| costs[(j, c)] += weight * p);
        }
        for (member, omega) in profiles.members().iter().zip(self.omega) {
            for c in 0..k {
                let n: f64 = member.clusters.clone().map(|j| costs[(j, c)]).sum();
                for j in member.clusters.clone() {
                    let cost = omega * (math::ln(n + half) - math::ln(costs[(j, c)] + half));
                    costs[(j, c)] = if used[c] { cost } else { EMPTY };
                }
            }
        }
        costs
    }
}

/// What some visits moved.
#[derive(Clone, Copy, Debug, Default)]
struct Moved {
    profiles: usize,
    weight: f64,
}

/// A clustering of the profiles on its way to more information.
///
/// With $f(t) = t \ln t$, $T_{cj}$ the weight of consensus cluster $c$ in cluster $j$ of a member and
/// $n^q_c$ the weight of $c$ that member $q$ labels,
///
/// $$ n F = \sum_q \omega_q \Bigl( \sum_{c, j \in q} f(T_{cj}) - \sum_c f(n^q_c) - \sum_{j \in q} f(n_j) +
///    f(n^q) \Bigr), $$
///
/// so what a profile of weight $w$ and memberships $p_j$ costs in cluster $c$ is, but for what is the
/// same for all $c$,
///
/// $$ \sum_q \omega_q \Bigl( f(n^q_c + w) - f(n^q_c) - \sum_{j \in q} \bigl( f(T_{cj} + w p_j) -
///    f(T_{cj}) \bigr) \Bigr). $$
///
/// All of it is one table with a row for every $j$ and every $n^q$ and a column for every $c$: a visit adds
/// up a few contiguous rows, in vectors.
struct Reassignment<'a> {
    profiles: &'a Profiles,
    k: usize,
    /// Lanes in a row.
    width: usize,
    /// The rows of all clusters of members, then those of the totals: one per member if labels are
    /// missing, otherwise one for all.
    mass: Vec<Lane>,
    /// $f$ of the masses.
    f: Vec<Lane>,
    /// Every row's part in the cost: $-\omega_q$ for a cluster's row, $+\omega_q$ for a total's.
    factors: Vec<f64>,
    labels: Vec<u32>,
    /// How many profiles each cluster has.
    sizes: Vec<usize>,
    /// Differences of cost up to this are ties.
    margin: f64,
    /// Whether weights are whole numbers, so that sums never round.
    whole: bool,
    bounds: Option<Bounds>,
    /// What the profile at hand adds to which rows, and what it costs in every cluster.
    entries: Vec<Entry>,
    costs: Vec<Lane>,
}

/// What one profile adds to one row.
#[derive(Clone, Copy)]
struct Entry {
    row: usize,
    /// Its membership.
    share: f64,
    /// Its weight times its membership.
    delta: f64,
}

impl<'a> Reassignment<'a> {
    /// Starts at `labels`, all below `k`.
    fn new(profiles: &'a Profiles, omega: &[f64], k: usize, labels: Vec<u32>) -> Self {
        let total_omega: f64 = omega.iter().sum();
        let members = profiles.members().iter().zip(omega);
        let mut factors: Vec<f64> =
            members.flat_map(|(member, &omega)| vec![-omega; member.n_clusters()]).collect();
        let one = [total_omega];
        factors.extend(if profiles.has_missing() { omega } else { &one });
        let width = k.div_ceil(LANES);
        let table = vec![[0.0; LANES]; factors.len() * width];
        let weights = profiles.weights();
        let mut started = Reassignment {
            profiles,
            k,
            width,
            mass: table.clone(),
            f: table,
            factors,
            labels,
            sizes: vec![0; k],
            margin: MARGIN * profiles.total_weight() * total_omega,
            whole: profiles.total_weight() < (1u64 << 53) as f64
                && weights.iter().all(|w| w.fract() == 0.0),
            bounds: None,
            entries: Vec::new(),
            costs: vec![[0.0; LANES]; width],
        };
        started.rebuild();
        started
    }

    /// Makes the table what it would be without the rounding of all moves.
    fn forget_rounding(&mut self) {
        if !self.whole {
            self.rebuild();
        }
    }

    /// Adds up the table from the labels.
    fn rebuild(&mut self) {
        self.mass.fill([0.0; LANES]);
        self.sizes.fill(0);
        for s in 0..self.labels.len() {
            let c = self.labels[s] as usize;
            self.sizes[c] += 1;
            self.read(s);
            for entry in &self.entries {
                self.mass[entry.row * self.width + c / LANES][c % LANES] += entry.delta;
            }
        }
        self.f.clear();
        self.f.extend(self.mass.iter().map(|lane| lane.map(xlogx_branchless)));
        if self.bounds.take().is_some() {
            self.expect_few_moves();
        }
    }

    /// Tells from now on by bounds what can be told so.
    fn expect_few_moves(&mut self) {
        self.bounds.get_or_insert_with(|| {
            Bounds::new(self.profiles.weights(), &self.mass, &self.factors, self.width)
        });
    }

    /// $F$, from the table.
    fn objective(&self) -> f64 {
        let information = |row: &[Lane]| {
            let row = row.as_flattened();
            row.iter().copied().map(xlogx_branchless).sum::<f64>()
                - xlogx_branchless(row.iter().sum::<f64>())
        };
        let rows = self.mass.chunks_exact(self.width).zip(&self.factors);
        let sum: f64 = rows.map(|(row, factor)| factor * information(row)).sum();
        -sum / self.profiles.total_weight()
    }

    /// Visits these profiles in turn.
    fn visit(&mut self, order: &[u32], moved: &mut Moved) {
        vectorised(
            #[inline(always)]
            || {
                for &s in order {
                    let s = s as usize;
                    let own = self.labels[s] as usize;
                    self.read(s);
                    tally(self.k * self.entries.len());
                    if self.surely_stays(s, own) {
                        continue;
                    }
                    self.price(own);
                    let to = self.cheapest(own);
                    if to != own {
                        self.shift(own, to);
                        self.labels[s] = to as u32;
                        moved.profiles += 1;
                        moved.weight += self.profiles.weights()[s];
                    }
                }
            },
        );
    }

    /// Finds out what profile `s` adds to which rows.
    #[inline(always)]
    fn read(&mut self, s: usize) {
        let Self { profiles, entries, .. } = self;
        let (totals, w) = (profiles.n_clusters(), profiles.weights()[s]);
        let whole = |row: usize| Entry { row, share: 1.0, delta: w };
        entries.clear();
        let mut last = None;
        profiles.for_each_entry(
            s,
            #[inline(always)]
            |h, c, share| {
                entries.push(Entry { row: c, share, delta: w * share });
                if profiles.has_missing() && last != Some(h) {
                    entries.push(whole(totals + h));
                    last = Some(h);
                }
            },
        );
        if !profiles.has_missing() {
            entries.push(whole(totals));
        }
    }

    /// Writes into `costs` what the profile read last, now in cluster `own`, costs in every cluster.
    ///
    /// In its own cluster that is $f(T) - f(T - \delta)$: the same sum with both signs turned.
    #[inline(always)]
    fn price(&mut self, own: usize) {
        for b in 0..self.width {
            let mut sign = [1.0; LANES];
            if b == own / LANES {
                sign[own % LANES] = -1.0;
            }
            let mut sums = [0.0; LANES];
            for entry in &self.entries {
                let at = entry.row * self.width + b;
                let (mass, f, factor) = (self.mass[at], self.f[at], self.factors[entry.row]);
                for l in 0..LANES {
                    let after = xlogx_branchless(plus(mass[l], sign[l] * entry.delta));
                    sums[l] += factor * (after - f[l]);
                }
            }
            for l in 0..LANES {
                self.costs[b][l] = sign[l] * sums[l];
            }
        }
    }

    /// The cluster that costs least, which is `own` unless another costs less.
    #[inline(always)]
    fn cheapest(&mut self, own: usize) -> usize {
        let costs = &mut self.costs.as_flattened_mut()[..self.k];
        let stay = std::mem::replace(&mut costs[own], f64::INFINITY);
        let mut least = f64::INFINITY;
        for &cost in &*costs {
            least = if cost < least { cost } else { least };
        }
        if least >= stay - self.margin {
            return own;
        }
        let tied = least + self.margin;
        costs.iter().position(|&cost| cost <= tied).expect("the least is among them")
    }

    /// Moves the profile read last.
    #[inline(always)]
    fn shift(&mut self, from: usize, to: usize) {
        self.sizes[to] += 1;
        self.sizes[from] -= 1;
        for i in 0..self.entries.len() {
            let Entry { row, delta, .. } = self.entries[i];
            let put = |c: usize, delta: f64| {
                plus(self.mass[row * self.width + c / LANES][c % LANES], delta)
            };
            let masses = [(from, put(from, -delta)), (to, put(to, delta))];
            masses.into_iter().for_each(|(c, mass)| self.set(row, c, mass));
        }
        if self.sizes[from] == 0 {
            // Nothing is left, whatever rounding says.
            (0..self.factors.len()).for_each(|row| self.set(row, from, 0.0));
        }
    }

    #[inline(always)]
    fn set(&mut self, row: usize, c: usize, mass: f64) {
        let (at, l) = (row * self.width + c / LANES, c % LANES);
        self.mass[at][l] = mass;
        self.f[at][l] = xlogx_branchless(mass);
        if let Some(bounds) = &mut self.bounds {
            (bounds.joining[at][l], bounds.staying[at][l]) = bounds.of(mass, self.factors[row]);
        }
    }

    /// Whether the profile read last, `s` in cluster `own`, is known to stay.
    #[inline(always)]
    fn surely_stays(&mut self, s: usize, own: usize) -> bool {
        let Self { bounds: Some(bounds), entries, costs, width, k, .. } = self else {
            return false;
        };
        if self.profiles.weights()[s] > bounds.heavy {
            return false;
        }
        costs.fill([0.0; LANES]);
        let mut stay = 0.0;
        for entry in &*entries {
            let at = entry.row * *width;
            add_scaled(costs, entry.share, &bounds.joining[at..at + *width]);
            stay += entry.share * bounds.staying[at + own / LANES][own % LANES];
        }
        let gains = &mut costs.as_flattened_mut()[..*k];
        gains[own] = f64::NEG_INFINITY;
        let mut most = f64::NEG_INFINITY;
        for &gain in &*gains {
            most = if gain > most { gain } else { most };
        }
        stay > most + bounds.slack
    }
}

/// Bounds on what clusters are worth to profiles that are not too heavy.
///
/// For a unit of weight a profile of weight $w$ gains by joining a cluster $c$, but for what is the same for
/// all $c$, $\sum_q \omega_q ( \sum_j p_j \bar\ell(T_{cj}) - \bar\ell(n^q_c) )$ with $\bar\ell(t)$ the mean of
/// the logarithm between $t$ and $t + w p$, and where it is it has the same with the mean between $t - w p$
/// and $t$. Let $W \ge w$ be a weight that few profiles exceed. As the logarithm is concave and rises, the
/// former means are between $\ln t$ and $\ln (t + W/2)$, and the latter, with $x = \min(1, W / t)$, between
///
/// $$ \ln t - \sum_{i \ge 1} \frac{x^i}{i (i + 1)} \ge \ln t - \Bigl( \frac x2 + \frac{x^2}6 +
///    \frac{x^3}{12} + \frac{x^4}4 \Bigr) $$
///
/// and $\ln t$. None of that depends on the profile but for its labels, so it is kept in tables, and a move
/// changes two columns in the rows of its labels. A profile whose sum of the one, in all other clusters, is
/// below its sum of the other, in its own, stays: after the first passes nearly all of them.
struct Bounds {
    /// $W$.
    heavy: f64,
    /// More than what rounding makes of the sums.
    slack: f64,
    /// What joining is worth at most, in the rows and columns of the masses.
    joining: Vec<Lane>,
    /// What staying is worth at least.
    staying: Vec<Lane>,
}

impl Bounds {
    fn new(weights: &[f64], mass: &[Lane], factors: &[f64], width: usize) -> Self {
        let mut weights = weights.to_vec();
        let most = weights.len() - 1 - weights.len() / 20;
        let heavy = *weights.select_nth_unstable_by(most, f64::total_cmp).1;
        let slack = 1e-9 * factors.iter().map(|factor| factor.abs()).fold(0.0, f64::max);
        let table = vec![[0.0; LANES]; mass.len()];
        let mut bounds = Bounds { heavy, slack, joining: table.clone(), staying: table };
        for (at, lane) in mass.iter().enumerate() {
            for (l, &mass) in lane.iter().enumerate() {
                (bounds.joining[at][l], bounds.staying[at][l]) =
                    bounds.of(mass, factors[at / width]);
            }
        }
        bounds
    }

    /// What a cell of this mass is worth to who joins, at most, and to who stays, at least.
    #[inline(always)]
    fn of(&self, mass: f64, factor: f64) -> (f64, f64) {
        // The logarithm of 0 is some finite number here, far below all others.
        let log = ln_branchless(mass);
        if factor > 0.0 {
            return (-factor * log, -factor * log);
        }
        let x = (self.heavy / mass).min(1.0);
        let loss = x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 12.0 + x * 0.25)));
        (-factor * ln_branchless(mass + 0.5 * self.heavy), -factor * (log - loss))
    }
}

/// `mass + delta`. Taking away what was put in may leave less than nothing, by rounding.
#[inline(always)]
fn plus(mass: f64, delta: f64) -> f64 {
    (mass + delta).max(0.0)
}

#[cfg(test)]
mod tests;
