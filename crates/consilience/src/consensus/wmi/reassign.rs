//! Sequential reassignment: every profile in turn goes to the cluster that keeps most information.
//!
//! With $f(t) = t \ln t$, $T_{cj}$ the weight of consensus cluster $c$ in cluster $j$ of a member and
//! $n^q_c$ the weight of $c$ that member $q$ labels,
//!
//! $$ n F = \sum_q \omega_q \Bigl( \sum_{c, j \in q} f(T_{cj}) - \sum_c f(n^q_c) - \sum_{j \in q} f(n_j) +
//!    f(n^q) \Bigr), $$
//!
//! so what a profile of weight $w$ and memberships $p_j$ costs in cluster $c$ is, but for what is the
//! same for all $c$,
//!
//! $$ \sum_q \omega_q \Bigl( f(n^q_c + w) - f(n^q_c) - \sum_{j \in q} \bigl( f(T_{cj} + w p_j) -
//!    f(T_{cj}) \bigr) \Bigr). $$
//!
//! All of it is one table with a row for every $j$ and every $n^q$ and a column for every $c$: a
//! visit adds up a few contiguous rows. $f$ at the present masses is kept beside them; of the
//! other values it is looked up where masses are whole numbers, and computed in vectors where not.

use super::drift::{Change, Drift};
use crate::ensemble::{Code, Profiles, with_codes};
use crate::linalg::{XLogXTable, xlogx, xlogx_branchless};

/// Columns handled together; rows are padded to full blocks.
const LANES: usize = 4;

/// A weight in the table: whole numbers, or floats.
pub(super) trait Mass: Copy + Send + Sync {
    /// What $f$ needs.
    type Function: Sync;
    const ZERO: Self;
    const ONE: Self;
    const MINUS_ONE: Self;
    /// Whether sums never round.
    const EXACT: bool;
    fn of(weight: f64) -> Self;
    fn weight(self) -> f64;
    /// `self + sign * delta`, not below 0.
    fn plus(self, sign: Self, delta: Self) -> Self;
    fn f(self, function: &Self::Function) -> f64;
}

impl Mass for u32 {
    type Function = XLogXTable;
    const ZERO: u32 = 0;
    const ONE: u32 = 1;
    const MINUS_ONE: u32 = u32::MAX;
    const EXACT: bool = true;

    fn of(weight: f64) -> u32 {
        weight as u32
    }

    fn weight(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn plus(self, sign: u32, delta: u32) -> u32 {
        // Exact modulo 2^32, and what is taken away was put in before.
        self.wrapping_add(sign.wrapping_mul(delta))
    }

    #[inline(always)]
    fn f(self, table: &XLogXTable) -> f64 {
        table.at(self)
    }
}

impl Mass for f64 {
    type Function = ();
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const MINUS_ONE: f64 = -1.0;
    const EXACT: bool = false;

    fn of(weight: f64) -> f64 {
        weight
    }

    fn weight(self) -> f64 {
        self
    }

    #[inline(always)]
    fn plus(self, sign: f64, delta: f64) -> f64 {
        // Taking away what was put in may leave less than nothing, by rounding.
        (self + sign * delta).max(0.0)
    }

    #[inline(always)]
    fn f(self, (): &()) -> f64 {
        xlogx_branchless(self)
    }
}

/// Some masses of a row, and $f$ of them.
#[derive(Clone, Copy)]
struct Block<M> {
    mass: [M; LANES],
    f: [f64; LANES],
}

impl<M: Mass> Block<M> {
    const EMPTY: Self = Block { mass: [M::ZERO; LANES], f: [0.0; LANES] };
}

/// What one profile adds to one row.
#[derive(Clone, Copy)]
struct Entry<M> {
    /// Where the row's blocks begin.
    row: usize,
    /// Its weight times its membership.
    delta: M,
    /// The row's part in the cost: $-\omega_q$ for a cluster's row, $+\omega_q$ for a total's.
    factor: f64,
}

/// A clustering of the profiles on its way to more information.
pub(super) struct Reassignment<'a, M: Mass> {
    profiles: &'a Profiles,
    function: &'a M::Function,
    omega: &'a [f64],
    total_omega: f64,
    k: usize,
    /// Blocks in a row.
    width: usize,
    /// The rows of all clusters of members, then those of the totals: one a member if labels are
    /// missing, otherwise one for all.
    blocks: Vec<Block<M>>,
    labels: Vec<u32>,
    /// How many profiles each cluster has.
    sizes: Vec<usize>,
    /// Differences of cost up to this are ties.
    margin: f64,
    /// What spares visits, once few profiles move.
    drift: Option<Drift>,
    /// The smallest weight, and one that few are above.
    light: f64,
    heavy: f64,
    /// Where the rows of every member begin among the blocks.
    rows: Vec<usize>,
    /// Scratch of a visit.
    entries: Vec<Entry<M>>,
    costs: Vec<[f64; LANES]>,
}

/// Differences of $F$, relative to $\sum_q \omega_q$, that count as none: above what rounding makes
/// of sums of some hundred terms, below any difference that matters.
const MARGIN: f64 = 1e-12;

impl<'a, M: Mass> Reassignment<'a, M> {
    /// Starts at `labels`, all below `k`.
    pub(super) fn new(
        profiles: &'a Profiles,
        function: &'a M::Function,
        omega: &'a [f64],
        k: usize,
        labels: Vec<u32>,
    ) -> Self {
        let totals = if profiles.has_missing() { profiles.n_members() } else { 1 };
        let width = k.div_ceil(LANES);
        let total_omega = omega.iter().sum();
        let mut weights = profiles.weights().to_vec();
        weights.sort_unstable_by(f64::total_cmp);
        let mut started = Reassignment {
            profiles,
            function,
            omega,
            total_omega,
            k,
            width,
            blocks: vec![Block::EMPTY; (profiles.n_clusters() + totals) * width],
            labels,
            sizes: vec![0; k],
            margin: MARGIN * profiles.total_weight() * total_omega,
            drift: None,
            light: weights[0],
            heavy: weights[weights.len() - 1 - weights.len() / 20],
            rows: profiles.members().iter().map(|m| m.clusters.start * width).collect(),
            entries: Vec::new(),
            costs: vec![[0.0; LANES]; width],
        };
        started.rebuild();
        started
    }

    /// What profile `s` costs in every cluster, but for what is the same in all.
    #[cfg(test)]
    pub(super) fn costs(&mut self, s: usize) -> Vec<f64> {
        self.read(s);
        self.price(self.labels[s] as usize);
        self.costs.as_flattened()[..self.k].to_vec()
    }

    /// Whether a visit of profile `s` would be left out.
    #[cfg(test)]
    pub(super) fn is_settled(&self, s: usize) -> bool {
        let own = self.labels[s] as usize;
        self.drift.as_ref().is_some_and(|drift| drift.settles(s, own))
    }

    /// Makes the table what it would be without the rounding of all moves.
    pub(super) fn forget_rounding(&mut self) {
        if !M::EXACT {
            self.rebuild();
        }
    }

    /// Adds up the table from the labels.
    fn rebuild(&mut self) {
        self.blocks.fill(Block::EMPTY);
        self.sizes.fill(0);
        for s in 0..self.labels.len() {
            let c = self.labels[s] as usize;
            self.sizes[c] += 1;
            self.read(s);
            for entry in &self.entries {
                let mass = &mut self.blocks[entry.row + c / LANES].mass[c % LANES];
                *mass = mass.plus(M::ONE, entry.delta);
            }
        }
        for block in &mut self.blocks {
            block.f = block.mass.map(|mass| mass.f(self.function));
        }
    }

    /// Spares from now on the visits that cannot change anything.
    pub(super) fn spare_visits(&mut self) {
        self.drift.get_or_insert_with(|| Drift::new(self.k, self.labels.len()));
    }

    /// The clustering.
    pub(super) fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The clustering, at the end.
    pub(super) fn into_labels(self) -> Vec<u32> {
        self.labels
    }

    /// About how many terms a visit adds up.
    pub(super) fn work(&self) -> usize {
        let hard = self.profiles.is_hard();
        let rows = if hard { 2 * self.omega.len() } else { self.profiles.n_clusters() };
        rows * self.width * LANES
    }

    /// $F$, from the table.
    pub(super) fn objective(&self) -> f64 {
        let rows = || self.blocks.chunks_exact(self.width);
        let mass =
            |row: &[Block<M>]| row.iter().flat_map(|b| b.mass).map(Mass::weight).sum::<f64>();
        let information =
            |row: &[Block<M>]| row.iter().flat_map(|b| b.f).sum::<f64>() - xlogx(mass(row));
        let members = self.profiles.members().iter().zip(self.omega);
        let clusters: f64 = members
            .map(|(member, omega)| {
                let rows = rows().skip(member.clusters.start).take(member.n_clusters());
                omega * rows.map(information).sum::<f64>()
            })
            .sum();
        let totals = rows().skip(self.profiles.n_clusters());
        let totals: f64 = if self.profiles.has_missing() {
            totals.zip(self.omega).map(|(row, omega)| omega * information(row)).sum()
        } else {
            totals.map(information).sum::<f64>() * self.total_omega
        };
        (clusters - totals) / self.profiles.total_weight()
    }

    /// Visits these profiles in turn; gives the number of those that moved.
    pub(super) fn visit(&mut self, order: &[u32]) -> usize {
        if let Some(drift) = &mut self.drift {
            drift.begin_epoch();
        }
        pulp::Arch::new().dispatch(Visit { reassignment: self, order })
    }

    /// Moves profile `s` to where it costs least, if that is less than where it is.
    #[inline(always)]
    fn visit_one(&mut self, s: usize) -> bool {
        let own = self.labels[s] as usize;
        if self.drift.as_ref().is_some_and(|drift| drift.settles(s, own)) {
            return false;
        }
        self.read(s);
        self.price(own);
        let costs = &mut self.costs.as_flattened_mut()[..self.k];
        let stay = std::mem::replace(&mut costs[own], f64::INFINITY);
        let mut least = f64::INFINITY;
        for &cost in &*costs {
            least = if cost < least { cost } else { least };
        }
        let w = self.profiles.weights()[s];
        if least >= stay - self.margin {
            if let Some(drift) = self.drift.as_mut().filter(|_| w <= self.heavy) {
                drift.visited(s, (least - stay) / w);
            }
            return false;
        }
        let tied = least + self.margin;
        let to = costs.iter().position(|&cost| cost <= tied).expect("the least is among them");
        let change = self.drift.is_some().then(|| self.change(own, to));
        if let (Some(drift), Some(change)) = (self.drift.as_mut(), change) {
            drift.moved(own, to, change);
            drift.forget(s);
        }
        self.shift(own, to);
        self.labels[s] = to as u32;
        true
    }

    /// What profile `s` adds to which rows: clusters of members in order, each followed by the
    /// member's total where there is one.
    #[inline(always)]
    fn read(&mut self, s: usize) {
        let Self { profiles, omega, entries, rows, width, .. } = self;
        let totals = profiles.n_clusters() * *width;
        let has_missing = profiles.has_missing();
        let w = profiles.weights()[s];
        let delta = M::of(w);
        entries.clear();
        if profiles.is_hard() {
            with_codes!(profiles.codes(), codes => {
                let codes = &codes[s * rows.len()..][..rows.len()];
                for (h, ((code, row), omega)) in codes.iter().zip(&*rows).zip(*omega).enumerate() {
                    if let Some(c) = code.index() {
                        let row = row + c * *width;
                        entries.push(Entry { row, delta, factor: -omega });
                        if has_missing {
                            let row = totals + h * *width;
                            entries.push(Entry { row, delta, factor: *omega });
                        }
                    }
                }
            });
        } else {
            for (h, (first, omega)) in rows.iter().zip(*omega).enumerate() {
                let row = |c: usize| first + c * *width;
                let before = entries.len();
                if let Some(memberships) = profiles.memberships(s, h) {
                    for (c, p) in memberships.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                        entries.push(Entry { row: row(c), delta: M::of(w * p), factor: -omega });
                    }
                } else if let Some(c) = profiles.label(s, h) {
                    entries.push(Entry { row: row(c), delta, factor: -omega });
                }
                if has_missing && entries.len() > before {
                    entries.push(Entry { row: totals + h * *width, delta, factor: *omega });
                }
            }
        }
        if !has_missing {
            entries.push(Entry { row: totals, delta, factor: self.total_omega });
        }
    }

    /// Writes into `costs` what the profile read last, now in cluster `own`, costs in every cluster.
    ///
    /// In its own cluster that is $f(T) - f(T - \delta)$: the same sum with both signs turned.
    #[inline(always)]
    fn price(&mut self, own: usize) {
        let Self { costs, entries, blocks, function, .. } = self;
        for (b, costs) in costs.iter_mut().enumerate() {
            if b == own / LANES {
                let mut sign = [M::ONE; LANES];
                sign[own % LANES] = M::MINUS_ONE;
                *costs = block_costs(entries, blocks, b, sign, function);
                costs[own % LANES] *= -1.0;
            } else {
                *costs = block_costs(entries, blocks, b, [M::ONE; LANES], function);
            }
        }
    }

    /// Moves the profile read last.
    fn shift(&mut self, from: usize, to: usize) {
        for entry in &self.entries {
            for (c, sign) in [(from, M::MINUS_ONE), (to, M::ONE)] {
                let block = &mut self.blocks[entry.row + c / LANES];
                let mass = block.mass[c % LANES].plus(sign, entry.delta);
                block.mass[c % LANES] = mass;
                block.f[c % LANES] = mass.f(self.function);
            }
        }
        self.sizes[to] += 1;
        self.sizes[from] -= 1;
        if self.sizes[from] == 0 {
            // Nothing is left, whatever rounding says.
            for row in self.blocks.chunks_exact_mut(self.width) {
                let block = &mut row[from / LANES];
                block.mass[from % LANES] = M::ZERO;
                block.f[from % LANES] = 0.0;
            }
        }
    }

    /// How much the move of the profile read last, of mass $v$, can change the costs of others of
    /// weight at most `heavy`, for a unit of weight.
    ///
    /// What others pay for joining is $\varphi_N(w) - \sum_j p_j \varphi_{T_j}(w p_j)$ a member, $\varphi_t(\delta) =
    /// (f(t + \delta) - f(t)) / \delta$, and for staying $\psi_N(w) - \sum_j p_j \psi_{T_j}(w p_j)$,
    /// $\psi_t(\delta) = (f(t) - f(t - \delta)) / \delta$. A larger $t$ makes $\varphi_t(\delta)$ larger, the less so
    /// the larger $\delta$ is, and $\psi_t(\delta)$ larger, the more so. So the change of either at any weight is
    /// bounded by that at the lightest or the heaviest.
    fn change(&self, from: usize, to: usize) -> Change {
        let mass = |row: usize, c: usize| self.blocks[row + c / LANES].mass[c % LANES].weight();
        let mut change = Change::default();
        let mut entries = &self.entries[..];
        let common = (!self.profiles.has_missing()).then(|| {
            let (total, rest) = entries.split_last().expect("a total for all members");
            entries = rest;
            *total
        });
        // What a total changes: joining `to`, joining `from`, staying in `to`, staying in `from`.
        let of_total = |total: &Entry<M>| {
            let (v, at_to, at_from) =
                (total.delta.weight(), mass(total.row, to), mass(total.row, from));
            let left = (at_from - v).max(0.0);
            [
                joining(at_to, v, self.heavy),
                joining(left, v, self.light),
                staying(at_to + v, v, self.heavy),
                if left > 0.0 { (at_from / left).ln() } else { 0.0 },
            ]
        };
        let of_all = common.as_ref().map(of_total);
        for (member, &omega) in self.profiles.members().iter().zip(self.omega) {
            let end = member.clusters.end * self.width;
            let own = entries.iter().take_while(|e| e.row < end).count();
            let (clusters, rest) = entries.split_at(own);
            entries = rest;
            if clusters.is_empty() {
                continue;
            }
            let [join_to, join_from, stay_to, stay_from] = of_all.unwrap_or_else(|| {
                let (total, rest) = entries.split_first().expect("a total for every member");
                entries = rest;
                of_total(total)
            });
            // Memberships add up to 1, so the largest logarithm bounds their mean; but those of
            // clusters that were nearly empty could be anything and are bounded one by one.
            let (mut single, mut shared, mut stay) = (0.0, 0.0f64, 0.0f64);
            for entry in clusters {
                let v = entry.delta.weight();
                let at_to = mass(entry.row, to);
                if member.is_hard() || at_to < v {
                    single += joining(at_to, v, self.light);
                } else {
                    shared = shared.max((v / at_to).ln_1p());
                }
                stay = stay.max(staying(mass(entry.row, from), v, self.heavy));
            }
            change.fall_to += omega * (single + shared - join_to).max(0.0);
            change.fall_from += omega * join_from;
            change.rise_to += omega * stay_to;
            change.rise_from += omega * (stay - stay_from).max(0.0);
        }
        change
    }
}

/// $\sum_e$ factor $(f(T \pm \delta) - f(T))$ over the entries, for one block of columns.
#[inline(always)]
fn block_costs<M: Mass>(
    entries: &[Entry<M>],
    blocks: &[Block<M>],
    b: usize,
    sign: [M; LANES],
    function: &M::Function,
) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for entry in entries {
        let block = &blocks[entry.row + b];
        for l in 0..LANES {
            let f = block.mass[l].plus(sign[l], entry.delta).f(function);
            sums[l] += entry.factor * (f - block.f[l]);
        }
    }
    sums
}

/// $\varphi_{t + v}(\delta) - \varphi_t(\delta)$.
fn joining(t: f64, v: f64, delta: f64) -> f64 {
    let f = xlogx_branchless;
    ((f(t + v + delta) - f(t + v)) - (f(t + delta) - f(t))) / delta
}

/// $\psi_t(\delta) - \psi_{t - v}(\delta)$ at the largest $\delta$ there can be beside $v$, at most `heavy`.
fn staying(t: f64, v: f64, heavy: f64) -> f64 {
    let f = xlogx_branchless;
    let left = t - v;
    // Less than this beside $v$ is what rounding left.
    if left <= 1e-9 * v {
        return 0.0;
    }
    let delta = heavy.min(left);
    ((f(t) - f(t - delta)) - (f(left) - f(left - delta))) / delta
}

/// [`Reassignment::visit`] as an operation to compile for every instruction set. (A closure that
/// borrows something to change would be reached by way of a call that is not inlined.)
struct Visit<'v, 'a, M: Mass> {
    reassignment: &'v mut Reassignment<'a, M>,
    order: &'v [u32],
}

impl<M: Mass> pulp::WithSimd for Visit<'_, '_, M> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> usize {
        let mut moved = 0;
        for &s in self.order {
            moved += usize::from(self.reassignment.visit_one(s as usize));
        }
        moved
    }
}
