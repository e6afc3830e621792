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
//! visit adds up a few contiguous rows, in vectors. Most visits of hard labels are decided
//! [without a logarithm](super::screen), and once most profiles are where they belong,
//! [at a glance](super::glance).

use super::drift::{Change, Drift, joining, staying};
use super::glance::{Glance, Omega};
use super::screen::{self, LANES, Lane, Masses};
use crate::ensemble::{Code, Profiles, tally, with_codes};
use crate::linalg::{vectorised, xlogx_branchless};

/// Visits whose profiles are looked up ahead, all at once: one after the other each would wait for
/// memory.
const AHEAD: usize = u32::BITS as usize;

/// What one profile adds to one row.
#[derive(Clone, Copy)]
struct Entry {
    /// Which row it is, and where its lanes begin.
    index: usize,
    row: usize,
    /// Its weight times its membership.
    delta: f64,
    /// The row's part in the cost: $-\omega_q$ for a cluster's row, $+\omega_q$ for a total's.
    factor: f64,
}

/// A clustering of the profiles on its way to more information.
pub(super) struct Reassignment<'a> {
    profiles: &'a Profiles,
    omega: &'a [f64],
    total_omega: f64,
    k: usize,
    /// Lanes in a row.
    width: usize,
    /// The rows of all clusters of members, then those of the totals: one a member if labels are
    /// missing, otherwise one for all.
    mass: Vec<Lane>,
    /// $f$ of the masses, kept unless visits are screened.
    f: Vec<Lane>,
    /// Buffers of screened visits, and the weight $\omega$ of all members, which is then the same.
    screen: Option<(screen::Scratch, f64)>,
    /// The least total of a cluster.
    lightest: f64,
    /// Whether weights are whole numbers, so that sums never round.
    whole: bool,
    labels: Vec<u32>,
    /// How many profiles each cluster has.
    sizes: Vec<usize>,
    /// Differences of cost up to this are ties.
    margin: f64,
    /// What tells profiles that stay from their labels, where all is whole, hard and labelled.
    glance: Option<Glance>,
    /// What spares visits that are not screened, once few profiles move.
    drift: Option<Drift>,
    /// The smallest weight, and one that few are above.
    light: f64,
    heavy: f64,
    /// Where the rows of every member begin in the table, and which cluster is its first.
    rows: Vec<usize>,
    firsts: Vec<usize>,
    /// Scratch of a visit.
    entries: Vec<Entry>,
    costs: Vec<Lane>,
}

/// Differences of $F$, relative to $\sum_q \omega_q$, that count as none: above what rounding makes
/// of sums of some hundred terms, below any difference that matters.
const MARGIN: f64 = 1e-12;

/// A pass that moves no more than one in so many profiles moves few: keeping account of what changes
/// pays from then on. Visits that are screened have less to spare.
const FEW: usize = 8;
const FEW_IF_SCREENED: usize = 32;

impl<'a> Reassignment<'a> {
    /// Starts at `labels`, all below `k`.
    pub(super) fn new(
        profiles: &'a Profiles,
        omega: &'a [f64],
        k: usize,
        labels: Vec<u32>,
    ) -> Self {
        let totals = if profiles.has_missing() { profiles.n_members() } else { 1 };
        let width = k.div_ceil(LANES);
        let total_omega = omega.iter().sum();
        let mut weights = profiles.weights().to_vec();
        let whole = profiles.total_weight() < (1u64 << 53) as f64
            && weights.iter().all(|w| w.fract() == 0.0);
        let most = weights.len() - 1 - weights.len() / 20;
        let (lighter, &mut heavy, _) = weights.select_nth_unstable_by(most, f64::total_cmp);
        let light = lighter.iter().copied().fold(heavy, f64::min);
        let screened = profiles.is_hard() && omega.iter().all(|&o| o == omega[0] && o > 0.0);
        let mut started = Reassignment {
            profiles,
            omega,
            total_omega,
            k,
            width,
            mass: vec![[0.0; LANES]; (profiles.n_clusters() + totals) * width],
            f: Vec::new(),
            screen: screened.then(|| (screen::Scratch::new(k), omega[0])),
            lightest: 0.0,
            whole,
            labels,
            sizes: vec![0; k],
            margin: MARGIN * profiles.total_weight() * total_omega,
            glance: None,
            drift: None,
            light,
            heavy,
            rows: profiles.members().iter().map(|m| m.clusters.start * width).collect(),
            firsts: profiles.members().iter().map(|m| m.clusters.start).collect(),
            entries: Vec::new(),
            costs: vec![[0.0; LANES]; width],
        };
        started.rebuild();
        started
    }

    /// Computes what every visit would cost, whether it needs to be known or not.
    #[cfg(test)]
    pub(super) fn without_screen(mut self) -> Self {
        self.screen = None;
        self.rebuild();
        self
    }

    /// What profile `s` costs in every cluster, but for what is the same in all.
    #[cfg(test)]
    pub(super) fn costs(&mut self, s: usize) -> Vec<f64> {
        self.read(s);
        self.price(self.labels[s] as usize);
        self.costs.as_flattened()[..self.k].to_vec()
    }

    /// The cluster that costs profile `s` least, and by how much at least, for a unit of weight; if
    /// that is certain without computing the costs.
    #[cfg(test)]
    pub(super) fn screened(&mut self, s: usize) -> Option<(usize, f64)> {
        self.look(s, self.labels[s] as usize)
    }

    /// Whether a visit of profile `s` would be left out.
    #[cfg(test)]
    pub(super) fn is_settled(&mut self, s: usize) -> bool {
        self.stays(s, self.labels[s] as usize)
    }

    /// Makes the table what it would be without the rounding of all moves.
    pub(super) fn forget_rounding(&mut self) {
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
                self.mass[entry.row + c / LANES][c % LANES] += entry.delta;
            }
        }
        self.find_lightest();
        if self.screen.is_none() {
            self.f.clear();
            self.f.extend(self.mass.iter().map(|lane| lane.map(xlogx_branchless)));
        }
    }

    #[inline(always)]
    fn find_lightest(&mut self) {
        let totals = self.mass[self.profiles.n_clusters() * self.width..].chunks_exact(self.width);
        self.lightest = f64::INFINITY;
        for row in totals {
            for &n in &row.as_flattened()[..self.k] {
                self.lightest = f64::min(self.lightest, n);
            }
        }
    }

    /// Told how many of all profiles a pass moved, spares from now on the visits that cannot change
    /// anything, if that pays.
    pub(super) fn after_pass(&mut self, moved: usize) {
        let glances = self.glance.is_some() || self.expect_few_moves();
        if moved <= self.labels.len() / FEW_IF_SCREENED {
            self.keep_leads();
        }
        if glances && self.screen.is_some() {
            return;
        }
        let few = if self.screen.is_some() { FEW_IF_SCREENED } else { FEW };
        if moved <= self.labels.len() / few {
            self.spare_visits();
        }
    }

    /// Decides from now on at a glance what can be decided so, if that pays; whether it does.
    pub(super) fn expect_few_moves(&mut self) -> bool {
        // With fewer profiles than clusters the tables cost more than they spare.
        self.labels.len() > self.profiles.n_clusters() && self.begin_to_glance()
    }

    /// Decides from now on at a glance what can be decided so; whether anything can.
    pub(super) fn begin_to_glance(&mut self) -> bool {
        if self.profiles.is_hard() && self.whole && !self.profiles.has_missing() {
            let members = self.profiles.members();
            let rows = members.iter().zip(self.omega);
            let rows = rows.flat_map(|(member, &omega)| vec![omega; member.n_clusters()]);
            let omega = Omega { of_row: rows.collect(), total: self.total_omega };
            let shape = (self.k, members.len());
            self.glance = Glance::new(shape, self.heavy, omega, &self.mass, self.width);
        }
        self.glance.is_some()
    }

    /// Remembers from now on by how much profiles that stay at a glance do so.
    pub(super) fn keep_leads(&mut self) {
        if let Some(glance) = &mut self.glance {
            glance.keep_leads(self.labels.len());
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
        let rows = || self.mass.chunks_exact(self.width).map(<[Lane]>::as_flattened);
        let information = |row: &[f64]| {
            row.iter().copied().map(xlogx_branchless).sum::<f64>()
                - xlogx_branchless(row.iter().sum::<f64>())
        };
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

    /// Leads are counted from the beginning of an epoch: of more epochs they last longer.
    pub(super) fn begin_epoch(&mut self) {
        if let Some(drift) = &mut self.drift {
            drift.begin_epoch();
        }
        if let Some(glance) = &mut self.glance {
            glance.begin_epoch();
        }
    }

    /// Visits these profiles in turn; gives the number of those that moved.
    pub(super) fn visit(&mut self, order: &[u32]) -> usize {
        vectorised(
            #[inline(always)]
            || {
                let mut moved = 0;
                for part in order.chunks(AHEAD) {
                    let before = moved;
                    let settled = self.look_up(part);
                    for (i, &s) in part.iter().enumerate() {
                        // Until something moves, what was settled is.
                        if moved > before || settled >> i & 1 == 0 {
                            moved += usize::from(self.visit_one(s as usize));
                        }
                    }
                }
                moved
            },
        )
    }

    /// Fetches from memory what visits of these profiles will read; of those that are now known to
    /// stay, which needs none of it, the bits are set.
    #[inline(always)]
    fn look_up(&self, part: &[u32]) -> u32 {
        let r = self.rows.len();
        let (mut touched, mut settled) = (0.0, 0);
        with_codes!(self.profiles.codes(), codes => {
            for (i, &s) in part.iter().enumerate() {
                let own = self.labels[s as usize] as usize;
                if self.is_known_to_stay(s as usize, own) {
                    settled |= 1 << i;
                    continue;
                }
                let first = codes.get(s as usize * r).and_then(|code| code.index()).unwrap_or(0);
                touched += self.profiles.weights()[s as usize] + (first + own) as f64;
            }
        });
        std::hint::black_box(touched);
        settled
    }

    /// Whether that profile `s`, in cluster `own`, stays follows from what was known of it.
    #[inline(always)]
    fn is_known_to_stay(&self, s: usize, own: usize) -> bool {
        let at_a_glance = match &self.glance {
            Some(glance) if self.lightest > 0.0 => glance.settles(s, own),
            _ => false,
        };
        at_a_glance
            || match &self.drift {
                Some(drift) => drift.settles(s, own),
                None => false,
            }
    }

    /// Whether profile `s`, in cluster `own`, surely stays.
    #[inline(always)]
    fn stays(&mut self, s: usize, own: usize) -> bool {
        if self.is_known_to_stay(s, own) {
            return true;
        }
        let Self { profiles, k, firsts, glance, lightest, .. } = self;
        match glance {
            Some(glance) if *lightest > 0.0 => {
                let w = profiles.weights()[s];
                with_codes!(profiles.codes(), codes => {
                    tally(*k * firsts.len());
                    let codes = &codes[s * firsts.len()..][..firsts.len()];
                    glance.stays(s, codes, firsts, (own, w))
                })
            }
            _ => false,
        }
    }

    /// Moves profile `s` to where it costs least, if that is less than where it is.
    #[inline(always)]
    fn visit_one(&mut self, s: usize) -> bool {
        let own = self.labels[s] as usize;
        if self.stays(s, own) {
            return false;
        }
        let (to, lead) = self.look(s, own).unwrap_or_else(
            #[inline(always)]
            || self.compute(s, own),
        );
        if to == own {
            let w = self.profiles.weights()[s];
            if let Some(drift) = self.drift.as_mut().filter(|_| w <= self.heavy) {
                drift.visited(s, lead);
            }
            return false;
        }
        self.read(s);
        let change = self.drift.is_some().then(|| self.change(own, to));
        if let (Some(drift), Some(change)) = (self.drift.as_mut(), change) {
            drift.moved(own, to, change);
            drift.forget(s);
        }
        self.shift(s, own, to);
        self.labels[s] = to as u32;
        true
    }

    /// The cluster that costs profile `s` least, if that is certain at a look.
    #[inline(always)]
    fn look(&mut self, s: usize, own: usize) -> Option<(usize, f64)> {
        let Self { profiles, k, mass, width, rows, screen, margin, lightest, .. } = self;
        let (scratch, omega) = screen.as_mut()?;
        tally(*k * rows.len());
        let totals = profiles.n_clusters() * *width;
        let masses = Masses { mass, width: *width, rows, totals, lightest: *lightest };
        let w = profiles.weights()[s];
        let margin = *margin / (*omega * w);
        let (to, lead) = with_codes!(profiles.codes(), codes => {
            let codes = &codes[s * rows.len()..][..rows.len()];
            if profiles.has_missing() {
                screen::best::<true, _>(&masses, codes, (own, w), margin, scratch)
            } else {
                screen::best::<false, _>(&masses, codes, (own, w), margin, scratch)
            }
        })?;
        Some((to, *omega * lead))
    }

    /// The cluster that profile `s` should be in, and by how much it is better off where it is than
    /// elsewhere for a unit of weight.
    #[inline(always)]
    fn compute(&mut self, s: usize, own: usize) -> (usize, f64) {
        self.read(s);
        tally(self.k * self.entries.len());
        self.price(own);
        let costs = &mut self.costs.as_flattened_mut()[..self.k];
        let stay = std::mem::replace(&mut costs[own], f64::INFINITY);
        let mut least = f64::INFINITY;
        for &cost in &*costs {
            least = if cost < least { cost } else { least };
        }
        let lead = (least - stay) / self.profiles.weights()[s];
        if least >= stay - self.margin {
            return (own, lead);
        }
        let tied = least + self.margin;
        let to = costs.iter().position(|&cost| cost <= tied).expect("the least is among them");
        (to, lead)
    }

    /// What profile `s` adds to which rows: clusters of members in order, each followed by the
    /// member's total where there is one.
    #[inline(always)]
    fn read(&mut self, s: usize) {
        let Self { profiles, omega, entries, firsts, width, .. } = self;
        let totals = profiles.n_clusters();
        let has_missing = profiles.has_missing();
        let delta = profiles.weights()[s];
        let entry = |index: usize, delta: f64, factor: f64| Entry {
            index,
            row: index * *width,
            delta,
            factor,
        };
        entries.clear();
        if profiles.is_hard() {
            with_codes!(profiles.codes(), codes => {
                let codes = &codes[s * firsts.len()..][..firsts.len()];
                for (h, ((code, first), omega)) in codes.iter().zip(&*firsts).zip(*omega).enumerate()
                {
                    if let Some(c) = code.index() {
                        entries.push(entry(first + c, delta, -omega));
                        if has_missing {
                            entries.push(entry(totals + h, delta, *omega));
                        }
                    }
                }
            });
        } else {
            for (h, (first, omega)) in firsts.iter().zip(*omega).enumerate() {
                let before = entries.len();
                if let Some(memberships) = profiles.memberships(s, h) {
                    for (c, p) in memberships.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                        entries.push(entry(first + c, delta * p, -omega));
                    }
                } else if let Some(c) = profiles.label(s, h) {
                    entries.push(entry(first + c, delta, -omega));
                }
                if has_missing && entries.len() > before {
                    entries.push(entry(totals + h, delta, *omega));
                }
            }
        }
        if !has_missing {
            entries.push(entry(totals, delta, self.total_omega));
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
                let mass = &self.mass[entry.row + b];
                // Without a screen all visits compute, and it pays to keep this.
                let f = match self.f.get(entry.row + b) {
                    Some(f) => *f,
                    None => each(mass, xlogx_branchless),
                };
                for l in 0..LANES {
                    let after = xlogx_branchless(plus(mass[l], sign[l] * entry.delta));
                    sums[l] += entry.factor * (after - f[l]);
                }
            }
            for l in 0..LANES {
                self.costs[b][l] = sign[l] * sums[l];
            }
        }
    }

    /// Moves profile `s`, which was read last.
    #[inline(always)]
    fn shift(&mut self, s: usize, from: usize, to: usize) {
        for entry in &self.entries {
            for (c, delta) in [(from, -entry.delta), (to, entry.delta)] {
                let at = entry.row + c / LANES;
                let mass = plus(self.mass[at][c % LANES], delta);
                self.mass[at][c % LANES] = mass;
                if let Some(f) = self.f.get_mut(at) {
                    f[c % LANES] = xlogx_branchless(mass);
                }
            }
        }
        self.sizes[to] += 1;
        self.sizes[from] -= 1;
        if self.sizes[from] == 0 {
            // Nothing is left, whatever rounding says.
            for at in (from / LANES..self.mass.len()).step_by(self.width) {
                self.mass[at][from % LANES] = 0.0;
                if let Some(f) = self.f.get_mut(at) {
                    f[from % LANES] = 0.0;
                }
            }
        }
        self.find_lightest();
        if let Some(glance) = &mut self.glance {
            // Without gaps the total comes last.
            let (total, clusters) = self.entries.split_last().expect("a total for all members");
            let by = [from, to].map(|c| {
                let mass = |row: usize| self.mass[row + c / LANES][c % LANES];
                let cells = clusters.iter().map(|entry| (entry.index, mass(entry.row)));
                glance.update(cells, c, mass(total.row))
            });
            glance.moved(s, from, to, by);
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
        let mass = |row: usize, c: usize| self.mass[row + c / LANES][c % LANES];
        let mut change = Change::default();
        let mut entries = &self.entries[..];
        let common = (!self.profiles.has_missing()).then(|| {
            let (total, rest) = entries.split_last().expect("a total for all members");
            entries = rest;
            *total
        });
        // What a total changes: joining `to`, joining `from`, staying in `to`, staying in `from`.
        let of_total = |total: &Entry| {
            let (v, at_to, at_from) = (total.delta, mass(total.row, to), mass(total.row, from));
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
                let v = entry.delta;
                let at_to = mass(entry.row, to);
                if member.is_hard() || at_to < v {
                    single += joining(at_to, v, self.light);
                } else {
                    shared = shared.max((v / at_to).ln_1p());
                }
                stay = stay.max(staying(mass(entry.row, from), v, self.heavy));
            }
            change.fall_to += omega * (single + shared - join_to).max(0.0);
            change.fall_from += omega * join_from.max(0.0);
            change.rise_to += omega * stay_to.max(0.0);
            change.rise_from += omega * (stay - stay_from).max(0.0);
        }
        change
    }
}

/// `mass + delta`. Taking away what was put in may leave less than nothing, by rounding.
#[inline(always)]
fn plus(mass: f64, delta: f64) -> f64 {
    (mass + delta).max(0.0)
}

#[inline(always)]
fn each(lane: &Lane, f: impl Fn(f64) -> f64) -> Lane {
    let mut out = [0.0; LANES];
    for l in 0..LANES {
        out[l] = f(lane[l]);
    }
    out
}
